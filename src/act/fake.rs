//! A surface for tests: records every event, shows it, and can go wrong at any of them.

use std::time::Duration;

use crate::clock::{Cancel, Clock};
use crate::error::{Error, Result};
use crate::frame::{Frame, PixelFormat};
use crate::geometry::{Point, Rect, Size};
use crate::wait::{Capture, Geometry, Source};

use super::driver::{Button, Driver, Held, InputEvent, KeyCode, Stroke};

/// What goes wrong.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// The event is not accepted.
    Refuses,
    /// The event arrives and the answer is an error.
    LosesTheAnswer,
    /// The call takes a minute and then succeeds.
    HangsAndAccepts,
    /// The call takes a minute and then fails.
    HangsAndFails,
    /// This call and every later one fails.
    Dies,
    /// From this call on no release is accepted.
    Sticks,
    /// The call panics.
    Panics,
    /// The event arrives, and then the action is cancelled.
    Cancels(Cancel),
}

/// A surface that turns black where something is pressed.
pub(crate) struct Fake {
    pub(crate) clock: Clock,
    pub(crate) geometry: Geometry,
    pub(crate) held: Held,
    /// Events that arrived.
    pub(crate) events: Vec<InputEvent>,
    /// What goes wrong, and at which event from now on (the first is 0).
    pub(crate) fault: Option<(usize, Fault)>,
    /// When what is held now comes up.
    pub(crate) lifted_at: Option<Duration>,
    /// Characters that have no key.
    pub(crate) untypable: &'static str,
    pub(crate) captures: u64,
    /// How long the call takes for every fourth event.
    pub(crate) every_fourth_takes: Duration,
    /// Happens once the first frame has been captured.
    pub(crate) after_first_look: fn(&mut Self),
    dead: bool,
    stuck: bool,
    pointer: Point,
    frame: Frame,
}

pub(crate) const CTRL: KeyCode = KeyCode(1001);
pub(crate) const SHIFT: KeyCode = KeyCode(1002);

impl Fake {
    pub(crate) fn new(width: u32, height: u32) -> Self {
        let size = Size::new(width, height).unwrap();
        Self {
            clock: Clock::simulated(),
            geometry: Geometry { size, scale: 1.0, origin: (0, 0) },
            held: Held::default(),
            events: Vec::new(),
            fault: None,
            lifted_at: None,
            untypable: "",
            captures: 0,
            every_fourth_takes: Duration::ZERO,
            after_first_look: |_| {},
            dead: false,
            stuck: false,
            pointer: Point::default(),
            frame: Frame::filled(size, PixelFormat::Bgrx, [255; 4]),
        }
    }

    /// Somebody else's click.
    pub(crate) fn click(&mut self, x: u32, y: u32) {
        self.pointer = Point::new(x, y);
        self.draw();
    }

    /// Which fault is due with this event.
    fn due(&mut self) -> Option<Fault> {
        let (after, fault) = self.fault.take()?;
        if after == 0 {
            return Some(fault);
        }
        self.fault = Some((after - 1, fault));
        None
    }

    fn arrive(&mut self, event: InputEvent) {
        self.events.push(event);
        if self.events.len().is_multiple_of(4) {
            self.clock.sleep(self.every_fourth_takes);
        }
        match event {
            InputEvent::Move(point) => self.pointer = point,
            InputEvent::Button { button, down } => {
                hold(&mut self.held.buttons, button, down);
                self.draw();
            }
            InputEvent::Key { code, down } => hold(&mut self.held.keys, code, down),
            InputEvent::Wheel(_) => self.draw(),
        }
    }

    /// A black box of up to 12 by 12 pixels around the pointer.
    fn draw(&mut self) {
        let size = self.geometry.size;
        let at = Rect::new(self.pointer.x, self.pointer.y, 1, 1).unwrap().grown(6, size);
        let width = size.width();
        for y in at.y()..at.bottom() {
            let row = (y * width) as usize * 4;
            let (left, right) = (row + at.x() as usize * 4, row + at.right() as usize * 4);
            self.frame.data_mut()[left..right].fill(0);
        }
    }
}

const fn is_release(event: InputEvent) -> bool {
    matches!(event, InputEvent::Button { down: false, .. } | InputEvent::Key { down: false, .. })
}

fn hold<T: PartialEq>(held: &mut Vec<T>, what: T, down: bool) {
    held.retain(|other| *other != what);
    if down {
        held.push(what);
    }
}

impl Source for Fake {
    fn geometry(&mut self) -> Result<Geometry> {
        Ok(self.geometry)
    }

    fn capture(&mut self, _: Option<Rect>, _: Duration, frame: &mut Frame) -> Result<Capture> {
        frame.copy_from(self.frame.as_ref());
        self.captures += 1;
        if self.captures == 1 {
            (self.after_first_look)(self);
        }
        Ok(Capture::Taken { id: self.captures })
    }
}

impl Driver for Fake {
    fn route(&self) -> &'static str {
        "fake"
    }

    fn held(&mut self) -> Result<Held> {
        if self.dead {
            return Err(Error::surface("the display is gone"));
        }
        if self.lifted_at.is_some_and(|lifted_at| self.clock.now() >= lifted_at) {
            self.held = Held::default();
            self.lifted_at = None;
        }
        Ok(self.held.clone())
    }

    fn key_named(&mut self, name: &str) -> Result<Option<KeyCode>> {
        Ok(match name {
            "ctrl" => Some(CTRL),
            "shift" => Some(SHIFT),
            "alt" => Some(KeyCode(1003)),
            "super" => None,
            _ => Some(KeyCode(name.bytes().map(u32::from).sum())),
        })
    }

    fn key_name(&mut self, code: KeyCode) -> String {
        match code {
            CTRL => "ctrl".to_owned(),
            SHIFT => "shift".to_owned(),
            KeyCode(number) => format!("key {number}"),
        }
    }

    fn strokes_for(&mut self, character: char) -> Result<Option<Vec<Stroke>>> {
        if self.untypable.contains(character) {
            return Ok(None);
        }
        let modifiers = if character.is_ascii_uppercase() { vec![SHIFT] } else { Vec::new() };
        let key = KeyCode(character.to_ascii_lowercase().into());
        Ok(Some(vec![Stroke { modifiers, key }]))
    }

    fn send(&mut self, event: InputEvent) -> Result<()> {
        if self.dead {
            return Err(Error::surface("the display is gone"));
        }
        let fault = self.due();
        self.stuck |= matches!(fault, Some(Fault::Sticks));
        if self.stuck && is_release(event) {
            return Err(Error::surface("the event was not accepted"));
        }
        let minute = Duration::from_secs(60);
        match fault {
            None | Some(Fault::Sticks) => self.arrive(event),
            Some(Fault::Refuses) => return Err(Error::surface("the event was not accepted")),
            Some(Fault::LosesTheAnswer) => {
                self.arrive(event);
                return Err(Error::surface("no answer came"));
            }
            Some(Fault::HangsAndAccepts) => {
                self.clock.sleep(minute);
                self.arrive(event);
            }
            Some(Fault::HangsAndFails) => {
                self.clock.sleep(minute);
                return Err(Error::surface("no answer came within 60 s"));
            }
            Some(Fault::Dies) => {
                self.dead = true;
                return Err(Error::surface("the display is gone"));
            }
            Some(Fault::Panics) => panic!("the driver is broken"),
            Some(Fault::Cancels(cancel)) => {
                self.arrive(event);
                cancel.cancel();
            }
        }
        Ok(())
    }
}

/// Whether every press among `events` is followed by its release.
pub(crate) fn is_balanced(events: &[InputEvent]) -> bool {
    let mut held: Vec<(Option<Button>, Option<KeyCode>)> = Vec::new();
    for event in events {
        match *event {
            InputEvent::Button { button, down } => hold(&mut held, (Some(button), None), down),
            InputEvent::Key { code, down } => hold(&mut held, (None, Some(code)), down),
            InputEvent::Move(_) | InputEvent::Wheel(_) => {}
        }
    }
    held.is_empty()
}
