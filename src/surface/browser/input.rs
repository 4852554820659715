//! Pointer and keys, put in through the DevTools protocol.

use std::time::Duration;

use serde_json::{Value, json};

use crate::act::{Button, Document, Driver, Held, InputEvent, KeyCode, Stroke, Wheel};
use crate::error::{Error, Result};
use crate::geometry::Point;

use super::Page;
use super::keys::{self, Means};
use super::link::Stop;

/// How long the page may take to accept an event: its scripts handle it first.
const SEND_PATIENCE: Duration = Duration::from_secs(5);

/// Presses at one place that follow each other this soon are a double or a triple click.
const CLICK_INTERVAL: Duration = Duration::from_millis(500);

/// How far a detent of the wheel scrolls, in CSS pixels.
const DETENT_PX: i32 = 100;

/// What is held, and where the pointer is: a browser knows no pointer but the one it is told of.
#[derive(Default)]
pub(super) struct Input {
    at: Point,
    buttons: Vec<Button>,
    keys: Vec<KeyCode>,
    /// Releases that wait for a dialog to be handled.
    pending: Vec<InputEvent>,
    last_press: Option<Press>,
}

/// A press of a button, to count clicks by.
#[derive(Clone, Copy)]
struct Press {
    at: Point,
    button: Button,
    when: Duration,
    count: u32,
}

impl Input {
    fn modifiers(&self) -> u32 {
        let bits = self.keys.iter().filter_map(|code| match keys::meaning(*code) {
            Some(Means::Key(key)) => Some(key.modifier),
            _ => None,
        });
        bits.fold(0, |all, bit| all | bit)
    }

    fn button_bits(&self) -> u32 {
        self.buttons.iter().map(|button| bit(*button)).sum()
    }

    /// Writes down what the event does.
    fn note(&mut self, event: InputEvent) {
        match event {
            InputEvent::Move(point) => self.at = point,
            InputEvent::Button { button, down } => note(&mut self.buttons, button, down),
            InputEvent::Key { code, down } => note(&mut self.keys, code, down),
            InputEvent::Wheel(_) => {}
        }
    }

    /// The how manieth click a press at `when` is.
    fn count(&mut self, button: Button, when: Duration) -> u32 {
        let at = self.at;
        let follows = |last: &Press| {
            last.at == at
                && last.button == button
                && when.saturating_sub(last.when) < CLICK_INTERVAL
        };
        let count = self.last_press.filter(follows).map_or(1, |last| last.count + 1);
        self.last_press = Some(Press { at, button, when, count });
        count
    }
}

fn note<T: PartialEq>(held: &mut Vec<T>, what: T, down: bool) {
    held.retain(|each| *each != what);
    if down {
        held.push(what);
    }
}

const fn bit(button: Button) -> u32 {
    match button {
        Button::Left => 1,
        Button::Right => 2,
        Button::Middle => 4,
    }
}

const fn is_release(event: InputEvent) -> bool {
    matches!(event, InputEvent::Button { down: false, .. } | InputEvent::Key { down: false, .. })
}

impl Page {
    /// Sends the releases that a dialog had kept back.
    pub(super) fn release_pending(&mut self) -> Result<()> {
        self.link.catch_up();
        while let Some(event) = self.input.pending.first().copied() {
            if self.link.dialog().is_some() {
                // They wait for that one too.
                return Ok(());
            }
            self.send(event)?;
            self.input.pending.retain(|each| *each != event);
        }
        Ok(())
    }

    /// Lets go of everything; nobody is there any more to be told of trouble.
    pub(super) fn release_all(&mut self) {
        let buttons = self.input.buttons.clone().into_iter();
        let events = buttons.map(|button| InputEvent::Button { button, down: false });
        let keys = self.input.keys.clone().into_iter();
        let events = events.chain(keys.map(|code| InputEvent::Key { code, down: false }));
        for event in events.collect::<Vec<_>>() {
            drop(self.send(event));
        }
    }

    /// Hands one event to the page.
    pub(super) fn dispatch(&mut self, method: &str, params: &Value) -> Result<()> {
        let give_up = self.clock.now() + SEND_PATIENCE;
        match self.link.call(method, params, give_up) {
            // The page took the event and asks something: it answers once that is handled.
            Ok(_) | Err(Stop::Dialog(_)) => Ok(()),
            Err(stop) => Err(stop.into_error("the input may or may not have arrived")),
        }
    }

    fn mouse(&self, kind: &str, button: &str, clicks: u32) -> Value {
        json!({
            "type": kind,
            "x": self.css(self.input.at.x),
            "y": self.css(self.input.at.y),
            "button": button,
            "buttons": self.input.button_bits(),
            "clickCount": clicks,
            "modifiers": self.input.modifiers(),
            "pointerType": "mouse",
        })
    }

    /// The middle of a device pixel in CSS pixels.
    pub(super) fn css(&self, pixel: u32) -> f64 {
        (f64::from(pixel) + 0.5) / f64::from(self.geometry.scale)
    }

    fn press(&mut self, button: Button, down: bool) -> Result<()> {
        let clicks = match down {
            true => {
                let now = self.clock.now();
                self.input.count(button, now)
            }
            false => self.input.last_press.map_or(1, |last| last.count),
        };
        let kind = if down { "mousePressed" } else { "mouseReleased" };
        let event = self.mouse(kind, button.name(), clicks);
        self.dispatch("Input.dispatchMouseEvent", &event)
    }

    fn wheel(&mut self, wheel: Wheel) -> Result<()> {
        let (x, y) = match wheel {
            Wheel::Up => (0, -DETENT_PX),
            Wheel::Down => (0, DETENT_PX),
            Wheel::Left => (-DETENT_PX, 0),
            Wheel::Right => (DETENT_PX, 0),
        };
        let mut event = self.mouse("mouseWheel", "none", 0);
        (event["deltaX"], event["deltaY"]) = (json!(x), json!(y));
        self.dispatch("Input.dispatchMouseEvent", &event)
    }

    fn type_key(&mut self, code: KeyCode, down: bool) -> Result<()> {
        match keys::meaning(code) {
            Some(Means::Text(text)) if down => {
                self.dispatch("Input.insertText", &json!({"text": text.to_string()}))
            }
            // Text is put in whole: there is nothing to let go of.
            Some(Means::Text(_)) => Ok(()),
            Some(Means::Key(key)) => {
                let event = self.key_event(key, down);
                self.dispatch("Input.dispatchKeyEvent", &event)
            }
            None => Err(Error::usage(format!("there is no key {}", code.0))),
        }
    }

    fn key_event(&self, key: &keys::Key, down: bool) -> Value {
        let modifiers = self.input.modifiers();
        let shift = modifiers & keys::SHIFT != 0;
        // With these a key is a command, whatever it would type.
        let is_command = modifiers & (keys::CTRL | keys::ALT | keys::SUPER) != 0;
        let text = if down && !is_command { key.text(shift) } else { "" };
        let kind = match (down, text.is_empty()) {
            (false, _) => "keyUp",
            (true, true) => "rawKeyDown",
            (true, false) => "keyDown",
        };
        json!({
            "type": kind,
            "code": key.code,
            "key": if shift { key.shifted } else { key.key },
            "windowsVirtualKeyCode": key.number,
            "modifiers": modifiers,
            "text": text,
            "unmodifiedText": text,
        })
    }
}

impl Driver for Page {
    fn route(&self) -> &'static str {
        "devtools"
    }

    /// What was pressed here and not let go of: a browser has no account of its own.
    fn held(&mut self) -> Result<Held> {
        self.link.catch_up();
        if let Some(error) = self.link.gone() {
            return Err(error);
        }
        match self.link.dialog() {
            Some(dialog) if !self.input.pending.is_empty() => {
                Err(Error::surface(dialog.in_the_way()))
            }
            _ => Ok(Held { keys: self.input.keys.clone(), buttons: self.input.buttons.clone() }),
        }
    }

    fn document(&mut self) -> Option<&mut dyn Document> {
        Some(self)
    }

    fn key_named(&mut self, name: &str) -> Result<Option<KeyCode>> {
        Ok(keys::named_key(name))
    }

    fn key_name(&mut self, code: KeyCode) -> String {
        match keys::meaning(code) {
            Some(Means::Key(key)) => key.name.to_owned(),
            Some(Means::Text(_)) => "a character".to_owned(),
            None => format!("key {}", code.0),
        }
    }

    fn strokes_for(&mut self, character: char) -> Result<Option<Vec<Stroke>>> {
        Ok(keys::strokes(character))
    }

    /// While a dialog is open nothing is sent; a release is kept for when it is handled.
    fn send(&mut self, event: InputEvent) -> Result<()> {
        self.link.catch_up();
        if let Some(dialog) = self.link.dialog() {
            let error = Error::surface(dialog.in_the_way());
            if is_release(event) && !self.input.pending.contains(&event) {
                self.input.pending.push(event);
            }
            return Err(error);
        }
        if let InputEvent::Move(_) | InputEvent::Button { down: true, .. } = event {
            self.input.note(event);
        } else if let InputEvent::Key { code, .. } = event
            && matches!(keys::meaning(code), Some(Means::Key(_)))
        {
            // A modifier counts for its own press, and no more for its release.
            self.input.note(event);
        }
        let sent = match event {
            InputEvent::Move(_) => {
                let held = self.input.buttons.last().map_or("none", |button| button.name());
                let event = self.mouse("mouseMoved", held, 0);
                self.dispatch("Input.dispatchMouseEvent", &event)
            }
            InputEvent::Button { button, down } => {
                if !down {
                    self.input.note(event);
                }
                self.press(button, down)
            }
            InputEvent::Key { code, down } => self.type_key(code, down),
            InputEvent::Wheel(wheel) => self.wheel(wheel),
        };
        if let (Err(_), InputEvent::Button { button, down: false }) = (&sent, event) {
            // It may still be down.
            self.input.note(InputEvent::Button { button, down: true });
        }
        sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presses_at_one_place_in_time_are_counted() {
        let mut input = Input::default();
        let ms = Duration::from_millis;
        for (button, at, x, count) in [
            (Button::Left, 0, 5, 1),
            (Button::Left, 100, 5, 2),
            (Button::Left, 599, 5, 3),
            (Button::Left, 1099, 5, 1),
            (Button::Right, 1100, 5, 1),
            (Button::Right, 1200, 6, 1),
        ] {
            input.note(InputEvent::Move(Point::new(x, 0)));
            assert_eq!(input.count(button, ms(at)), count, "at {at} ms");
        }
    }

    #[test]
    fn modifiers_are_those_that_are_down() {
        let mut input = Input::default();
        let code = |name| keys::named_key(name).unwrap();
        for (name, down, bits) in
            [("ctrl", true, 2), ("a", true, 2), ("shift", true, 10), ("ctrl", false, 8)]
        {
            input.note(InputEvent::Key { code: code(name), down });
            assert_eq!(input.modifiers(), bits, "{name} {down}");
        }
        assert_eq!(input.keys, [code("a"), code("shift")]);
    }
}
