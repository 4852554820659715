//! Every event of an action, worked out before the first is sent.

use std::collections::HashMap;
use std::time::Duration;

use crate::error::Error;
use crate::geometry::Point;

use super::action::{Action, Drag, ImagePoint};
use super::driver::{Button, Driver, InputEvent, KeyCode, Stroke, Wheel};
use super::keys::{Key, Modifier, Modifiers};
use super::observation::Observation;
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

/// The events of one action, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) events: Vec<Planned>,
    /// Where the action aims, in frame pixels.
    pub(super) input_point: Option<Point>,
}

impl Plan {
    /// How long its waits are together.
    pub(super) fn duration(&self) -> Duration {
        self.events.iter().map(|planned| planned.wait).sum()
    }
}

/// Why there is no plan: the action cannot be carried out, or the input system did not answer.
pub(super) enum NoPlan {
    Refused(Refusal),
    Trouble(Error),
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
    let mut planner = Planner { observation, driver, plan: Plan::default() };
    planner.action(action)?;
    Ok(planner.plan)
}

struct Planner<'p> {
    observation: &'p Observation,
    driver: &'p mut dyn Driver,
    plan: Plan,
}

impl Planner<'_> {
    fn action(&mut self, action: &Action) -> Result<(), NoPlan> {
        match action {
            Action::Observe | Action::Wait { .. } => Ok(()),
            Action::Click { at, button, count, modifiers } => {
                self.click(*at, *button, *count, modifiers)
            }
            Action::RightClick { at, modifiers } => self.click(*at, Button::Right, 1, modifiers),
            Action::DoubleClick { at, modifiers } => self.click(*at, Button::Left, 2, modifiers),
            Action::Hover { at } => self.move_to(*at),
            Action::Drag(drag) => self.drag(drag),
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
        let from = self.observation.locate(drag.from)?;
        let to = self.observation.locate(drag.to)?;
        self.push(Duration::ZERO, InputEvent::Move(from));
        let held = self.press_modifiers(&drag.modifiers)?;
        self.push(BEFORE_PRESS, InputEvent::Button { button: drag.button, down: true });
        let pace = drag.duration / drag.steps;
        for step in 1..=drag.steps {
            let wait = if step == 1 { pace.max(BUTTON_HOLD) } else { pace };
            self.push(wait, InputEvent::Move(between(from, to, step, drag.steps)));
        }
        self.push(BUTTON_HOLD, InputEvent::Button { button: drag.button, down: false });
        self.release_keys(&held);
        self.plan.input_point = Some(to);
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
        let mut known = HashMap::new();
        for (nth, character) in text.chars().enumerate() {
            if !known.contains_key(&character) {
                known.insert(character, self.stroke_for(character, nth + 1)?);
            }
            let wait = if nth == 0 { Duration::ZERO } else { delay - hold };
            self.stroke(&known[&character], wait, hold);
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
    fn stroke_for(&mut self, character: char, nth: usize) -> Result<Stroke, NoPlan> {
        if let Some(stroke) = self.driver.stroke_for(character)? {
            return Ok(stroke);
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

    fn move_to(&mut self, at: ImagePoint) -> Result<(), NoPlan> {
        let point = self.observation.locate(at)?;
        self.push(Duration::ZERO, InputEvent::Move(point));
        self.plan.input_point = Some(point);
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
        self.plan.events.push(Planned { wait, event });
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
