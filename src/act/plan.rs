//! Every event of an action, worked out before the first is sent.

use std::collections::HashMap;
use std::time::Duration;

use crate::geometry::Point;

use super::action::{Action, Drag, Hold, Path, Text};
use super::driver::{Button, Driver, Focus, InputEvent, KeyCode, Loan, Stroke, Wheel};
use super::element::ElementRef;
use super::keys::{Key, Modifier, Modifiers};
use super::observation::{ImagePoint, Observation};
use super::refusal::{Refusal, RefusalKind, Stop};

/// From the pointer's arrival to the press: programs that react to hovering get to see it.
const BEFORE_PRESS: Duration = Duration::from_millis(10);
/// From a button's press to its release.
const BUTTON_HOLD: Duration = Duration::from_millis(20);
/// From one click to the next of the same action; double-click limits are 250 ms and more.
const BETWEEN_CLICKS: Duration = Duration::from_millis(40);
/// From a key's press to its release.
const KEY_HOLD: Duration = Duration::from_millis(10);
/// From one wheel detent to the next.
const BETWEEN_DETENTS: Duration = Duration::from_millis(10);

/// More keys than any keyboard has to lend at a time.
const MOST_LOANS: usize = 256;

/// One event and how long to wait before it, counted from the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Planned {
    pub(super) wait: Duration,
    pub(super) event: InputEvent,
    /// A key of its own, a chord or a character begins here: it is asked who gets the keys.
    pub(super) asks_focus: bool,
}

/// Keys that are lent before an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lending {
    /// The number of the event in its step.
    pub(super) before: usize,
    pub(super) loans: Vec<Loan>,
}

/// What is sent without a stop and cleaned up after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PlannedStep {
    /// Before it begins.
    pub(super) wait: Duration,
    pub(super) events: Vec<Planned>,
    /// Where it presses, turns the wheel or lets go, in frame pixels: what was chosen by its look.
    pub(super) targets: Vec<Point>,
    /// In the order of the events.
    pub(super) lendings: Vec<Lending>,
    /// The element that must get what is pressed first: it is asked once the pointer is there.
    pub(super) aim: Option<ElementRef>,
    /// Put on the clipboard before the first event, taken from there after the last.
    pub(super) paste: Option<Text>,
}

impl PlannedStep {
    /// How long the waits between its events are together.
    pub(super) fn duration(&self) -> Duration {
        self.events.iter().map(|planned| planned.wait).sum()
    }

    /// How many events there are, of which the taking of a text from the clipboard is one.
    pub(super) fn count(&self) -> usize {
        self.events.len() + usize::from(self.paste.is_some())
    }

    /// The keys to be lent before the event of that number.
    pub(super) fn loans_before(&self, event: usize) -> Option<&[Loan]> {
        let lending = self.lendings.binary_search_by_key(&event, |lending| lending.before).ok()?;
        Some(&self.lendings[lending].loans)
    }
}

/// One action: its steps, of which there is one unless it is a sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) steps: Vec<PlannedStep>,
    /// Where the action aims last, in frame pixels.
    pub(super) input_point: Option<Point>,
}

impl Plan {
    /// How much time it asks for: the waits before its steps and between its events.
    pub(super) fn requested(&self) -> Duration {
        self.steps.iter().map(|step| step.wait + step.duration()).sum()
    }

    /// The same, of which the first press must reach this element.
    pub(super) fn aimed(mut self, element: ElementRef) -> Self {
        if let Some(step) = self.steps.first_mut() {
            step.aim = Some(element);
        }
        self
    }

    /// Where the pointer is left, if it is moved at all.
    pub(super) fn pointer(&self) -> Option<Point> {
        let events = self.steps.iter().flat_map(|step| &step.events);
        events.rev().find_map(|planned| match planned.event {
            InputEvent::Move(point) => Some(point),
            _ => None,
        })
    }

    /// How many events there are.
    pub(super) fn count(&self) -> usize {
        self.steps.iter().map(PlannedStep::count).sum()
    }
}

/// Works out the events of `action`; points are those of `observation`.
pub(super) fn plan(
    action: &Action,
    observation: &Observation,
    driver: &mut dyn Driver,
) -> Result<Plan, Stop> {
    let mut planner = Planner {
        observation,
        driver,
        events: Vec::new(),
        targets: Vec::new(),
        lendings: Vec::new(),
        paste: None,
        input_point: None,
        may_have_focus: false,
        strokes: HashMap::new(),
    };
    let steps = match action {
        Action::Sequence(steps) => (1..)
            .zip(steps)
            .map(|(nth, step)| {
                let planned = planner.step(&step.action, step.wait);
                planned.map_err(|stop| stop.context("step", nth))
            })
            .collect::<Result<_, _>>()?,
        action => vec![planner.step(action, Duration::ZERO)?],
    };
    Ok(Plan { steps, input_point: planner.input_point })
}

struct Planner<'p> {
    observation: &'p Observation,
    driver: &'p mut dyn Driver,
    events: Vec<Planned>,
    targets: Vec<Point>,
    lendings: Vec<Lending>,
    paste: Option<Text>,
    input_point: Option<Point>,
    /// The surface has the keyboard's focus, or something before may give it the focus.
    may_have_focus: bool,
    /// Characters looked up before: what types them, `None` where the layout has no key.
    strokes: HashMap<char, Option<Vec<Stroke>>>,
}

impl Planner<'_> {
    fn step(&mut self, action: &Action, wait: Duration) -> Result<PlannedStep, Stop> {
        self.action(action)?;
        Ok(PlannedStep {
            wait,
            events: std::mem::take(&mut self.events),
            targets: std::mem::take(&mut self.targets),
            lendings: std::mem::take(&mut self.lendings),
            aim: None,
            paste: self.paste.take(),
        })
    }

    fn action(&mut self, action: &Action) -> Result<(), Stop> {
        match action {
            Action::Observe
            | Action::Wait { .. }
            | Action::WaitFor(_)
            | Action::Sequence(_)
            | Action::Dialog { .. }
            | Action::Navigate { .. }
            | Action::Tab(_) => Ok(()),
            // Only what was resolved to a point is ever planned.
            Action::Element(_) => Err(Refusal::new(
                RefusalKind::Unsupported,
                "an element is acted on by itself, not inside another action: give a point",
            )
            .into()),
            Action::Click { at, button, count, modifiers } => {
                self.click(*at, *button, *count, modifiers)
            }
            Action::RightClick { at, modifiers } => self.click(*at, Button::Right, 1, modifiers),
            Action::DoubleClick { at, modifiers } => self.click(*at, Button::Left, 2, modifiers),
            Action::Hover { at } => self.move_to(*at).map(drop),
            Action::Drag(drag) => self.drag(drag),
            Action::DragAlong(path) => self.drag_along(path),
            Action::Hold(hold) => self.hold(hold),
            Action::Scroll { at, delta_x, delta_y } => self.scroll(*at, *delta_x, *delta_y),
            Action::Key { key, modifiers } | Action::Hotkey { key, modifiers } => {
                self.chord(*key, modifiers)
            }
            Action::SelectAll => self.chord(Key::A, &Modifiers::one(Modifier::Ctrl)),
            Action::TypeText { text, delay } => self.text(text.as_str(), *delay),
            Action::Paste { text } => self.paste(text),
        }
    }

    fn click(
        &mut self,
        at: ImagePoint,
        button: Button,
        count: u32,
        modifiers: &Modifiers,
    ) -> Result<(), Stop> {
        let point = self.move_to(at)?;
        self.targets.push(point);
        let held = self.press_modifiers(modifiers)?;
        for nth in 0..count {
            let wait = if nth == 0 { BEFORE_PRESS } else { BETWEEN_CLICKS };
            self.push(wait, InputEvent::Button { button, down: true });
            self.push(BUTTON_HOLD, InputEvent::Button { button, down: false });
        }
        self.release_keys(&held);
        Ok(())
    }

    fn drag(&mut self, drag: &Drag) -> Result<(), Stop> {
        let from = self.target(drag.from)?;
        let to = self.target(drag.to)?;
        self.targets.extend([from, to]);
        let moves: Vec<Point> =
            (1..=drag.steps).map(|step| between(from, to, step, drag.steps)).collect();
        self.push(Duration::ZERO, InputEvent::Move(from));
        let held = self.press_modifiers(&drag.modifiers)?;
        self.pull(drag.button, &moves, drag.duration);
        self.release_keys(&held);
        Ok(())
    }

    fn drag_along(&mut self, path: &Path) -> Result<(), Stop> {
        let from = self.target(path.from)?;
        let points = path.via.iter().chain([&path.to]);
        let moves = points.map(|point| self.target(*point)).collect::<Result<Vec<_>, _>>()?;
        self.targets.extend([from].iter().chain(moves.last()));
        self.push(Duration::ZERO, InputEvent::Move(from));
        self.pull(Button::Left, &moves, path.duration);
        Ok(())
    }

    /// Presses where the pointer is, moves through all points, releases at the last.
    fn pull(&mut self, button: Button, moves: &[Point], duration: Duration) {
        self.push(BEFORE_PRESS, InputEvent::Button { button, down: true });
        let pace = duration / u32::try_from(moves.len()).unwrap_or(u32::MAX).max(1);
        for (nth, &point) in moves.iter().enumerate() {
            let wait = if nth == 0 { pace.max(BUTTON_HOLD) } else { pace };
            self.push(wait, InputEvent::Move(point));
        }
        self.push(BUTTON_HOLD, InputEvent::Button { button, down: false });
        self.input_point = moves.last().copied();
    }

    /// Keys down, the pointer's actions, and what is left of the time before the keys come up.
    fn hold(&mut self, hold: &Hold) -> Result<(), Stop> {
        self.check_focus()?;
        let mut held = self.press_modifiers(&hold.modifiers)?;
        for key in &hold.keys {
            let code = self.key_named(key.name())?;
            self.push(Duration::ZERO, InputEvent::Key { code, down: true });
            held.push(code);
        }
        for (nth, action) in (1..).zip(&hold.actions) {
            self.action(action).map_err(|stop| stop.context("action", nth))?;
        }
        let spent: Duration = self.events.iter().map(|planned| planned.wait).sum();
        let first_up = self.events.len();
        self.release_keys(&held);
        self.events[0].asks_focus = true;
        self.events[first_up].wait = hold.duration.saturating_sub(spent);
        Ok(())
    }

    fn scroll(&mut self, at: ImagePoint, delta_x: i32, delta_y: i32) -> Result<(), Stop> {
        let point = self.move_to(at)?;
        self.targets.push(point);
        let vertical = if delta_y < 0 { Wheel::Up } else { Wheel::Down };
        let horizontal = if delta_x < 0 { Wheel::Left } else { Wheel::Right };
        for (wheel, detents) in [(vertical, delta_y), (horizontal, delta_x)] {
            for _ in 0..detents.unsigned_abs() {
                self.push(BETWEEN_DETENTS, InputEvent::Wheel(wheel));
            }
        }
        Ok(())
    }

    fn chord(&mut self, key: Key, modifiers: &Modifiers) -> Result<(), Stop> {
        self.check_focus()?;
        let code = self.key_named(key.name())?;
        let first = self.events.len();
        let held = self.press_modifiers(modifiers)?;
        self.push(Duration::ZERO, InputEvent::Key { code, down: true });
        self.push(KEY_HOLD, InputEvent::Key { code, down: false });
        self.release_keys(&held);
        self.events[first].asks_focus = true;
        Ok(())
    }

    /// Each character takes `delay`, part of which its key is down.
    fn text(&mut self, text: &str, delay: Duration) -> Result<(), Stop> {
        self.check_focus()?;
        let hold = KEY_HOLD.min(delay / 2);
        let mut lent: HashMap<char, Vec<Stroke>> = HashMap::new();
        for (nth, (at, character)) in text.char_indices().enumerate() {
            let strokes = match self.strokes_for(character)? {
                Some(strokes) => strokes,
                None if lent.contains_key(&character) => lent[&character].clone(),
                None => {
                    lent = self.lend(&text[at..], nth + 1)?;
                    lent[&character].clone()
                }
            };
            let first = self.events.len();
            let mut wait = if nth == 0 { Duration::ZERO } else { delay - hold };
            for stroke in &strokes {
                self.stroke(stroke, wait, hold);
                wait = Duration::ZERO;
            }
            self.events[first].asks_focus = true;
        }
        Ok(())
    }

    /// Shift+insert pastes in editors, browsers and terminals alike; ctrl+v means something else to a
    /// terminal. A text has the same characters as one that is typed.
    fn paste(&mut self, text: &Text) -> Result<(), Stop> {
        if !self.driver.has_clipboard() {
            let message = "this surface has no clipboard to paste from: use method keys";
            return Err(Refusal::new(RefusalKind::Unsupported, message).into());
        }
        let is_odd = |character: char| character.is_control() && !['\n', '\t'].contains(&character);
        let mut characters = (1..).zip(text.as_str().chars());
        if let Some((nth, odd)) = characters.find(|(_, character)| is_odd(*character)) {
            return Err(no_key(odd, nth).into());
        }
        self.chord(Key::INSERT, &Modifiers::one(Modifier::Shift))?;
        self.paste = Some(text.clone());
        Ok(())
    }

    /// Lends keys to the characters that `rest` of the text begins with and the layout lacks, as
    /// many as there are keys to spare; gives their strokes.
    fn lend(&mut self, rest: &str, nth: usize) -> Result<HashMap<char, Vec<Stroke>>, Stop> {
        let mut missing = Vec::new();
        for character in rest.chars() {
            if !missing.contains(&character) && self.strokes_for(character)?.is_none() {
                missing.push(character);
            }
            if missing.len() == MOST_LOANS {
                break;
            }
        }
        let loans = self.driver.loans(&missing)?;
        if loans.is_empty() {
            return Err(no_key(missing[0], nth).into());
        }
        let strokes = loans.iter().map(|loan| (loan.character, vec![loan.stroke.clone()]));
        let strokes = strokes.collect();
        self.lendings.push(Lending { before: self.events.len(), loans });
        Ok(strokes)
    }

    fn stroke(&mut self, stroke: &Stroke, wait: Duration, hold: Duration) {
        let presses = stroke.modifiers.iter().chain([&stroke.key]);
        for (nth, &code) in presses.enumerate() {
            let wait = if nth == 0 { wait } else { Duration::ZERO };
            self.push(wait, InputEvent::Key { code, down: true });
        }
        self.push(hold, InputEvent::Key { code: stroke.key, down: false });
        self.release_keys(&stroke.modifiers);
    }

    fn strokes_for(&mut self, character: char) -> Result<Option<Vec<Stroke>>, Stop> {
        if let Some(strokes) = self.strokes.get(&character) {
            return Ok(strokes.clone());
        }
        let strokes = self.driver.strokes_for(character)?;
        self.strokes.insert(character, strokes.clone());
        Ok(strokes)
    }

    /// Keys go to whoever has the focus, wherever the pointer is. An action before, such as a
    /// click, may give it to the surface: then it is asked only when the keys are sent.
    fn check_focus(&mut self) -> Result<(), Stop> {
        if self.may_have_focus {
            return Ok(());
        }
        match self.driver.focus()? {
            Some(focus) if !focus.is_surface => Err(elsewhere(&focus).into()),
            _ => {
                self.may_have_focus = true;
                Ok(())
            }
        }
    }

    /// The pixel a point of the image stands for, where input would reach the surface.
    fn target(&mut self, at: ImagePoint) -> Result<Point, Stop> {
        let point = self.observation.locate(at)?;
        match self.driver.obstacle(point)? {
            None => {
                self.may_have_focus = true;
                Ok(point)
            }
            Some(why) => {
                let message = format!("point {point} cannot be reached: {why}");
                Err(Refusal::new(RefusalKind::Covered, message).into())
            }
        }
    }

    fn move_to(&mut self, at: ImagePoint) -> Result<Point, Stop> {
        let point = self.target(at)?;
        self.push(Duration::ZERO, InputEvent::Move(point));
        self.input_point = Some(point);
        Ok(point)
    }

    fn press_modifiers(&mut self, modifiers: &Modifiers) -> Result<Vec<KeyCode>, Stop> {
        let mut codes = Vec::new();
        for modifier in modifiers.as_slice() {
            let code = self.key_named(modifier.name())?;
            self.push(Duration::ZERO, InputEvent::Key { code, down: true });
            codes.push(code);
        }
        Ok(codes)
    }

    fn release_keys(&mut self, codes: &[KeyCode]) {
        for &code in codes.iter().rev() {
            self.push(Duration::ZERO, InputEvent::Key { code, down: false });
        }
    }

    fn key_named(&mut self, name: &str) -> Result<KeyCode, Stop> {
        self.driver.key_named(name)?.ok_or_else(|| {
            let message = format!("this keyboard has no key {name}; nothing was pressed");
            Stop::Refused(Refusal::new(RefusalKind::NoSuchKey, message))
        })
    }

    fn push(&mut self, wait: Duration, event: InputEvent) {
        self.events.push(Planned { wait, event, asks_focus: false });
    }
}

/// The message names the character by number and code point, never the text around it.
fn no_key(character: char, nth: usize) -> Refusal {
    let code = u32::from(character);
    let why = match character.is_control() {
        true => "is a control character: of those a text has line breaks and tabs alone",
        false => "has no key on this keyboard layout, and none can be lent to it",
    };
    let message = format!("character {nth} of the text (U+{code:04X}) {why}; nothing was typed");
    Refusal::new(RefusalKind::NoSuchKey, message)
}

/// The keys would go to somebody else.
pub(super) fn elsewhere(focus: &Focus) -> Refusal {
    Refusal::new(
        RefusalKind::NotFocused,
        format!(
            "the keyboard focus is on {}, not on the surface: click into it first; nothing was sent",
            focus.name
        ),
    )
}

/// The point `step / steps` of the way, to the nearest pixel.
fn between(from: Point, to: Point, step: u32, steps: u32) -> Point {
    let along = |from: u32, to: u32| {
        let way = u64::from(to.abs_diff(from)) * u64::from(step);
        let done = (way + u64::from(steps / 2)) / u64::from(steps);
        let done = u32::try_from(done).unwrap_or(to.abs_diff(from));
        if to < from { from - done } else { from + done }
    };
    Point::new(along(from.x, to.x), along(from.y, to.y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_way_starts_after_the_source_and_ends_on_the_destination() {
        let (from, to) = (Point::new(10, 200), Point::new(20, 190));
        let way: Vec<Point> = (1..=4).map(|step| between(from, to, step, 4)).collect();
        let expected = [(13, 197), (15, 195), (18, 192), (20, 190)];
        assert_eq!(way, expected.map(|(x, y)| Point::new(x, y)));
        assert_eq!(between(from, from, 1, 1), from);
    }
}
