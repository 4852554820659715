//! A click on an element, checked until just before the press: what cannot be clicked is refused
//! with the reason, and nothing is ever pressed that is not the element.

use std::time::Duration;

use serde_json::{Value, json};

use crate::act::{Button, Driver as _, InputEvent, Refusal, RefusalKind};
use crate::error::{Result, Shown};
use crate::geometry::Point;

use super::link::Stop;
use super::{ASK_PATIENCE, Dialog, Element, Elements, Page};

/// From one try to the next, and from the pointer's arrival to the press.
const TRY_INTERVAL: Duration = Duration::from_millis(30);

/// How long a button stays down.
const BUTTON_HOLD: Duration = Duration::from_millis(20);

/// How a click on an element ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Click {
    /// The page accepted press and release.
    Sent {
        /// Where, in frame pixels.
        at: Point,
        /// The dialog it opened. When the press opened it, the release is done once it is handled.
        dialog: Option<Dialog>,
    },
    /// Nothing was pressed; says why, and what to try.
    Refused(Refusal),
}

/// How filling a field ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fill {
    /// What was in the field was replaced.
    Sent,
    /// Nothing was typed; says why, and what to try.
    Refused(Refusal),
}

/// What came of one try.
pub(super) enum Try<T> {
    Done(T),
    /// It may be otherwise in a moment.
    NotNow(Refusal),
    Never(Refusal),
}

impl<T> Try<T> {
    /// Why it was not done, however it may be in a moment.
    pub(super) fn no(self) -> Option<Refusal> {
        match self {
            Self::Done(_) => None,
            Self::NotNow(refusal) | Self::Never(refusal) => Some(refusal),
        }
    }
}

impl Page {
    /// Clicks the middle of an element, or where it is covered there another place of it.
    ///
    /// It is scrolled into view, and must be visible, at rest for two frames, enabled, called as in
    /// `elements`, and must itself get what is pressed, also after the pointer has arrived. What is
    /// not so is tried again for as long as `patience`, then refused. A reference that is not of the
    /// page's last snapshot is always refused.
    ///
    /// # Errors
    /// When a dialog is open, the page is busy or gone, or it cannot be told whether the click
    /// arrived.
    pub fn click(
        &mut self,
        elements: &Elements,
        reference: &str,
        patience: Duration,
    ) -> Result<Click> {
        self.point_at(elements, reference, patience, Self::try_click)
    }

    /// Moves the pointer onto an element, with the checks of [`Self::click`].
    ///
    /// # Errors
    /// As [`Self::click`].
    pub fn hover(
        &mut self,
        elements: &Elements,
        reference: &str,
        patience: Duration,
    ) -> Result<Click> {
        self.point_at(elements, reference, patience, Self::arrive)
    }

    fn point_at(
        &mut self,
        elements: &Elements,
        reference: &str,
        patience: Duration,
        once: impl Fn(&mut Self, &Element) -> Result<Try<Point>>,
    ) -> Result<Click> {
        let tried = self.try_until(elements, reference, patience, once)?;
        Ok(match tried {
            Ok(at) => Click::Sent { at, dialog: self.dialog().cloned() },
            Err(refusal) => Click::Refused(refusal),
        })
    }

    /// Replaces what is in an input, a textarea or an editable element by `text`, in one piece; of
    /// a select, chooses the option of that name.
    ///
    /// # Errors
    /// As [`Self::click`].
    pub fn fill(&mut self, elements: &Elements, reference: &str, text: &str) -> Result<Fill> {
        let once = |page: &mut Self, element: &Element| page.try_fill(element, text);
        let tried = self.try_until(elements, reference, Duration::ZERO, once)?;
        Ok(tried.map_or_else(Fill::Refused, |()| Fill::Sent))
    }

    pub(super) fn try_fill(&mut self, element: &Element, text: &str) -> Result<Try<()>> {
        let answer = self.ask_of("focus", element, &[])?;
        if answer["why"] == "set" {
            let answer = self.ask_of("set", element, &[json!(text)])?;
            return Ok(refusal(&answer, element).unwrap_or(Try::Done(())));
        }
        if let Some(no) = refusal(&answer, element) {
            return Ok(no);
        }
        match text.is_empty() {
            true => {
                let delete = self.key_named("delete")?.into_iter();
                for event in
                    delete.flat_map(|code| [true, false].map(|down| InputEvent::Key { code, down }))
                {
                    self.send(event)?;
                }
            }
            false => self.dispatch("Input.insertText", &json!({"text": text}))?,
        }
        Ok(Try::Done(()))
    }

    /// Scrolls until an element is in the middle of the page, as far as that goes.
    ///
    /// # Errors
    /// When a dialog is open or the page is busy or gone.
    pub fn scroll_to(&mut self, elements: &Elements, reference: &str) -> Result<Option<Refusal>> {
        let tried = self.try_until(elements, reference, Duration::ZERO, Self::try_scroll)?;
        Ok(tried.err())
    }

    pub(super) fn try_scroll(&mut self, element: &Element) -> Result<Try<()>> {
        let answer = self.ask_of("scroll", element, &[])?;
        Ok(refusal(&answer, element).unwrap_or(Try::Done(())))
    }

    fn try_until<T>(
        &mut self,
        elements: &Elements,
        reference: &str,
        patience: Duration,
        once: impl Fn(&mut Self, &Element) -> Result<Try<T>>,
    ) -> Result<Result<T, Refusal>> {
        match self.current(elements, reference) {
            Ok(element) => self.try_element(element, patience, once),
            Err(refusal) => Ok(Err(refusal)),
        }
    }

    pub(super) fn try_element<T>(
        &mut self,
        element: &Element,
        patience: Duration,
        once: impl Fn(&mut Self, &Element) -> Result<Try<T>>,
    ) -> Result<Result<T, Refusal>> {
        let give_up = self.clock.now() + patience;
        loop {
            match once(self, element)? {
                Try::Done(done) => return Ok(Ok(done)),
                Try::Never(refusal) => return Ok(Err(refusal)),
                Try::NotNow(refusal) if self.clock.now() >= give_up => return Ok(Err(refusal)),
                Try::NotNow(_) => self.clock.sleep(TRY_INTERVAL),
            }
        }
    }

    /// The element, if it is of the last snapshot: an old reference never means a neighbour.
    fn current<'e>(&self, elements: &'e Elements, reference: &str) -> Result<&'e Element, Refusal> {
        let stale = |message| Refusal::new(RefusalKind::StaleObservation, message);
        if elements.snapshot != self.snapshots {
            return Err(stale(format!(
                "{} is of snapshot {} and the last one is {}: take the reference from that",
                Shown(reference),
                elements.snapshot,
                self.snapshots
            )));
        }
        elements.get(reference).map_err(|error| stale(error.to_string()))
    }

    fn try_click(&mut self, element: &Element) -> Result<Try<Point>> {
        let at = match self.arrive(element)? {
            Try::Done(at) => at,
            no => return Ok(no),
        };
        let button = Button::Left;
        self.send(InputEvent::Button { button, down: true })?;
        self.clock.sleep(BUTTON_HOLD);
        let released = self.send(InputEvent::Button { button, down: false });
        match released {
            // The press opened it; the release waits until it is handled.
            Err(_) if self.dialog().is_some() => Ok(Try::Done(at)),
            released => released.map(|()| Try::Done(at)),
        }
    }

    /// Moves the pointer to where the element can be pressed, and makes sure that it still can.
    fn arrive(&mut self, element: &Element) -> Result<Try<Point>> {
        let at = match self.try_aim(element)? {
            Try::Done(at) => at,
            no => return Ok(no),
        };
        self.send(InputEvent::Move(at))?;
        self.try_confirm(element, at)
    }

    /// Where the element can be pressed once it is in view.
    pub(super) fn try_aim(&mut self, element: &Element) -> Result<Try<Point>> {
        let answer = self.ask_of("approach", element, &[])?;
        Ok(match refusal(&answer, element) {
            Some(no) => no,
            None => Try::Done(self.pixel(&answer)),
        })
    }

    /// Whether it still can be pressed there.
    pub(super) fn try_confirm(&mut self, element: &Element, at: Point) -> Result<Try<Point>> {
        let exact = [json!(self.css(at.x)), json!(self.css(at.y))];
        let answer = self.ask_of("confirm", element, &exact)?;
        Ok(refusal(&answer, element).unwrap_or(Try::Done(at)))
    }

    pub(super) fn ask_of(
        &mut self,
        question: &str,
        element: &Element,
        more: &[Value],
    ) -> Result<Value> {
        let mut asked = vec![json!(self.snapshots), json!(element.number - 1), json!(element.name)];
        asked.extend_from_slice(more);
        let give_up = self.clock.now() + ASK_PATIENCE;
        let answer = self.world.call(&mut self.link, question, &asked, give_up);
        answer.map_err(|stop: Stop| {
            stop.into_error(&format!("{} cannot be acted on", element.reference))
        })
    }

    /// The frame pixel of a point in CSS pixels.
    #[expect(clippy::cast_possible_truncation, reason = "inside the frame")]
    #[expect(clippy::cast_sign_loss, reason = "inside the frame")]
    fn pixel(&self, answer: &Value) -> Point {
        let along = |name: &str, edge: u32| {
            let exact = answer[name].as_f64().unwrap_or_default() * f64::from(self.geometry.scale);
            exact.clamp(0.0, f64::from(edge - 1)) as u32
        };
        let size = self.geometry.size;
        Point::new(along("x", size.width()), along("y", size.height()))
    }
}

/// What the page said of the element, where that is no.
pub(super) fn refusal<T>(answer: &Value, element: &Element) -> Option<Try<T>> {
    let why = answer["why"].as_str()?;
    let line = element.label();
    let cover = Shown(answer["cover"].as_str().unwrap_or("something")).to_string();
    let covered = |message| Refusal::new(RefusalKind::Covered, message);
    let changed = |message| Refusal::new(RefusalKind::StaleObservation, message);
    let cannot = |message| Refusal::new(RefusalKind::NotReady, message);
    Some(match why {
        "covered" => Try::NotNow(covered(format!(
            "{line} is covered by {cover}: close or move that, or act on it instead"
        ))),
        "moving" => Try::NotNow(cannot(format!(
            "{line} is moving: wait until the page is stable, then take fresh elements"
        ))),
        "disabled" => Try::NotNow(cannot(format!(
            "{line} is disabled: fill in what it waits for, or wait until it is enabled"
        ))),
        "hidden" => Try::NotNow(cannot(format!(
            "{line} is not visible: open what holds it first, then take fresh elements"
        ))),
        "outside" => Try::NotNow(cannot(format!(
            "{line} cannot be scrolled into view: scroll what holds it, then take fresh elements"
        ))),
        "renamed" => Try::Never(changed(format!(
            "{line} is now called \"{}\": take fresh elements and choose again",
            Shown(answer["now"].as_str().unwrap_or_default())
        ))),
        "unfocused" => Try::Never(cannot(format!(
            "{line} does not take the keyboard focus: click it, then type"
        ))),
        "options" => {
            let options = answer["options"].as_array().map(Vec::as_slice).unwrap_or_default();
            let options = options.iter().filter_map(Value::as_str);
            let options: Vec<String> = options.map(|each| format!("\"{}\"", Shown(each))).collect();
            Try::Never(cannot(format!("{line} has no such option: it has {}", options.join(", "))))
        }
        "unset" => Try::Never(cannot(format!(
            "{line} does not take that: a {} is written as HTML has it, such as 2026-12-31, 13:30, \
             #ff0000 or 50",
            Shown(answer["type"].as_str().unwrap_or("field"))
        ))),
        "nolink" => Try::Never(Refusal::new(
            RefusalKind::ReadOnly,
            format!(
                "this session is read-only and follows links over http or https alone: {line} is \
                 none"
            ),
        )),
        "untypable" => Try::Never(cannot(format!(
            "{line} takes no text: choose a field that is not readonly, or click it"
        ))),
        _ => Try::Never(changed(format!(
            "{line} is not in the page any more: take fresh elements and choose again"
        ))),
    })
}
