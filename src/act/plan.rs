//! Every event of an action, worked out before the first is sent.

use std::collections::HashMap;
use std::time::Duration;

use crate::error::Error;
use crate::geometry::Point;

use super::action::{Action, Drag, Hold, Path};
use super::driver::{Button, Driver, InputEvent, KeyCode, Stroke, Wheel};
use super::keys::{Key, Modifier, Modifiers};
use super::observation::{ImagePoint, Observation};
use super::refusal::{Refusal, RefusalKind};

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

/// One event and how long to wait before it, counted from the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Planned {
    pub(super) wait: Duration,
    pub(super) event: InputEvent,
}

/// What is sent without a stop and cleaned up after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PlannedStep {
    /// Before it begins.
    pub(super) wait: Duration,
    pub(super) events: Vec<Planned>,
}

impl PlannedStep {
    /// How long the waits between its events are together.
    pub(super) fn duration(&self) -> Duration {
        self.events.iter().map(|planned| planned.wait).sum()
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
    /// How many events there are.
    pub(super) fn count(&self) -> usize {
        self.steps.iter().map(|step| step.events.len()).sum()
    }
}

/// Why there is no plan: the action cannot be carried out, or the input system did not answer.
pub(super) enum NoPlan {
    Refused(Refusal),
    Trouble(Error),
}

impl NoPlan {
    /// The same for one part of an action.
    fn context(self, part: &str, number: usize) -> Self {
        match self {
            Self::Refused(refusal) => Self::Refused(refusal.context(part, number)),
            Self::Trouble(error) => Self::Trouble(error),
        }
    }
}

impl From<Refusal> for NoPlan {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Error> for NoPlan {
    fn from(error: Error) -> Self {
        Self::Trouble(error)
    }
}

/// Works out the events of `action`; points are those of `observation`.
pub(super) fn plan(
    action: &Action,
    observation: &Observation,
    driver: &mut dyn Driver,
) -> Result<Plan, NoPlan> {
    let mut planner = Planner {
        observation,
        driver,
        events: Vec::new(),
        input_point: None,
        strokes: HashMap::new(),
    };
    let steps = match action {
        Action::Sequence(steps) => (1..)
            .zip(steps)
            .map(|(nth, step)| {
                let planned = planner.step(&step.action, step.wait);
                planned.map_err(|no_plan| no_plan.context("step", nth))
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
    input_point: Option<Point>,
    /// Characters looked up before.
    strokes: HashMap<char, Vec<Stroke>>,
}

impl Planner<'_> {
    fn step(&mut self, action: &Action, wait: Duration) -> Result<PlannedStep, NoPlan> {
        self.action(action)?;
        Ok(PlannedStep { wait, events: std::mem::take(&mut self.events) })
    }

    fn action(&mut self, action: &Action) -> Result<(), NoPlan> {
        match action {
            Action::Observe | Action::Wait { .. } | Action::WaitFor(_) | Action::Sequence(_) => {
                Ok(())
            }
            Action::Click { at, button, count, modifiers } => {
                self.click(*at, *button, *count, modifiers)
            }
            Action::RightClick { at, modifiers } => self.click(*at, Button::Right, 1, modifiers),
            Action::DoubleClick { at, modifiers } => self.click(*at, Button::Left, 2, modifiers),
            Action::Hover { at } => self.move_to(*at),
            Action::Drag(drag) => self.drag(drag),
            Action::DragAlong(path) => self.drag_along(path),
            Action::Hold(hold) => self.hold(hold),
            Action::Scroll { at, delta_x, delta_y } => self.scroll(*at, *delta_x, *delta_y),
            Action::Key { key, modifiers } | Action::Hotkey { key, modifiers } => {
                self.chord(*key, modifiers)
            }
            Action::SelectAll => self.chord(Key::A, &Modifiers::one(Modifier::Ctrl)),
            Action::TypeText { text, delay } => self.text(text.as_str(), *delay),
        }
    }

    fn click(
        &mut self,
        at: ImagePoint,
        button: Button,
        count: u32,
        modifiers: &Modifiers,
    ) -> Result<(), NoPlan> {
        self.move_to(at)?;
        let held = self.press_modifiers(modifiers)?;
        for nth in 0..count {
            let wait = if nth == 0 { BEFORE_PRESS } else { BETWEEN_CLICKS };
            self.push(wait, InputEvent::Button { button, down: true });
            self.push(BUTTON_HOLD, InputEvent::Button { button, down: false });
        }
        self.release_keys(&held);
        Ok(())
    }

    fn drag(&mut self, drag: &Drag) -> Result<(), NoPlan> {
        let from = self.target(drag.from)?;
        let to = self.target(drag.to)?;
        let moves: Vec<Point> =
            (1..=drag.steps).map(|step| between(from, to, step, drag.steps)).collect();
        self.push(Duration::ZERO, InputEvent::Move(from));
        let held = self.press_modifiers(&drag.modifiers)?;
        self.pull(drag.button, &moves, drag.duration);
        self.release_keys(&held);
        Ok(())
    }

    fn drag_along(&mut self, path: &Path) -> Result<(), NoPlan> {
        let from = self.target(path.from)?;
        let points = path.via.iter().chain([&path.to]);
        let moves =
            points.map(|point| self.observation.locate(*point)).collect::<Result<Vec<_>, _>>()?;
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
    fn hold(&mut self, hold: &Hold) -> Result<(), NoPlan> {
        let mut held = self.press_modifiers(&hold.modifiers)?;
        for key in &hold.keys {
            let code = self.key_named(key.name())?;
            self.push(Duration::ZERO, InputEvent::Key { code, down: true });
            held.push(code);
        }
        for (nth, action) in (1..).zip(&hold.actions) {
            self.action(action).map_err(|no_plan| no_plan.context("action", nth))?;
        }
        let spent: Duration = self.events.iter().map(|planned| planned.wait).sum();
        let first_up = self.events.len();
        self.release_keys(&held);
        self.events[first_up].wait = hold.duration.saturating_sub(spent);
        Ok(())
    }

    fn scroll(&mut self, at: ImagePoint, delta_x: i32, delta_y: i32) -> Result<(), NoPlan> {
        self.move_to(at)?;
        let vertical = if delta_y < 0 { Wheel::Up } else { Wheel::Down };
        let horizontal = if delta_x < 0 { Wheel::Left } else { Wheel::Right };
        for (wheel, detents) in [(vertical, delta_y), (horizontal, delta_x)] {
            for _ in 0..detents.unsigned_abs() {
                self.push(BETWEEN_DETENTS, InputEvent::Wheel(wheel));
            }
        }
        Ok(())
    }

    fn chord(&mut self, key: Key, modifiers: &Modifiers) -> Result<(), NoPlan> {
        let code = self.key_named(key.name())?;
        let held = self.press_modifiers(modifiers)?;
        self.push(Duration::ZERO, InputEvent::Key { code, down: true });
        self.push(KEY_HOLD, InputEvent::Key { code, down: false });
        self.release_keys(&held);
        Ok(())
    }

    /// Each character takes `delay`, part of which its key is down.
    fn text(&mut self, text: &str, delay: Duration) -> Result<(), NoPlan> {
        let hold = KEY_HOLD.min(delay / 2);
        for (nth, character) in text.chars().enumerate() {
            let strokes = match self.strokes.get(&character) {
                Some(strokes) => strokes.clone(),
                None => self.strokes_for(character, nth + 1)?,
            };
            let mut wait = if nth == 0 { Duration::ZERO } else { delay - hold };
            for stroke in &strokes {
                self.stroke(stroke, wait, hold);
                wait = Duration::ZERO;
            }
        }
        Ok(())
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

    /// The message names the character by number and code point, never the text around it.
    fn strokes_for(&mut self, character: char, nth: usize) -> Result<Vec<Stroke>, NoPlan> {
        if let Some(strokes) = self.driver.strokes_for(character)? {
            self.strokes.insert(character, strokes.clone());
            return Ok(strokes);
        }
        let code = u32::from(character);
        Err(NoPlan::Refused(Refusal::new(
            RefusalKind::NoSuchKey,
            format!(
                "character {nth} of the text (U+{code:04X}) has no key on this keyboard layout; \
                 nothing was typed"
            ),
        )))
    }

    /// The pixel a point of the image stands for, where input would reach the surface.
    fn target(&mut self, at: ImagePoint) -> Result<Point, NoPlan> {
        let point = self.observation.locate(at)?;
        match self.driver.obstacle(point)? {
            None => Ok(point),
            Some(why) => {
                let message = format!("point {point} cannot be reached: {why}");
                Err(Refusal::new(RefusalKind::Covered, message).into())
            }
        }
    }

    fn move_to(&mut self, at: ImagePoint) -> Result<(), NoPlan> {
        let point = self.target(at)?;
        self.push(Duration::ZERO, InputEvent::Move(point));
        self.input_point = Some(point);
        Ok(())
    }

    fn press_modifiers(&mut self, modifiers: &Modifiers) -> Result<Vec<KeyCode>, NoPlan> {
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

    fn key_named(&mut self, name: &str) -> Result<KeyCode, NoPlan> {
        self.driver.key_named(name)?.ok_or_else(|| {
            let message = format!("this keyboard has no key {name}; nothing was pressed");
            NoPlan::Refused(Refusal::new(RefusalKind::NoSuchKey, message))
        })
    }

    fn push(&mut self, wait: Duration, event: InputEvent) {
        self.events.push(Planned { wait, event });
    }
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
