//! What the executor holds down, released on every way out.

use std::time::Duration;

use crate::clock::{Cancel, Clock};
use crate::error::{Error, Result};
use crate::geometry::Point;

use super::driver::{Button, Clipboard, Driver, Focus, Held, InputEvent, KeyCode, Loan};
use super::element::ElementRef;
use super::receipt::HeldAfter;
use super::refusal::Refusal;

/// How long a key or button may still be told as down after its release was taken, and how often it
/// is asked for meanwhile.
const LATE_RELEASE: Duration = Duration::from_secs(1);
const LATE_GLANCE: Duration = Duration::from_millis(20);

/// The only way events reach a driver: it writes down what it presses and lets go of it when it is
/// finished or dropped, also by a panic.
pub(super) struct Ledger<'d> {
    driver: &'d mut dyn Driver,
    /// In the order pressed.
    held: Vec<Pressed>,
    /// Whatever it has pressed, once each.
    was_pressed: Vec<Pressed>,
    pressed: usize,
    released: usize,
    /// Whether a key may be lent.
    is_lending: bool,
    /// Whether a text may be on the clipboard.
    is_offering: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pressed {
    Key(KeyCode),
    Button(Button),
}

/// How an action ended for the keys and buttons it pressed.
pub(super) struct Closed {
    /// Presses that were accepted.
    pub(super) pressed: usize,
    /// Releases that were accepted, planned ones and those of the cleanup.
    pub(super) released: usize,
    /// What is still held, and by whose account.
    pub(super) held_after: HeldAfter,
    /// What became of the clipboard, if a text was put there.
    pub(super) clipboard: Option<Clipboard>,
}

impl Closed {
    /// Whether the input system itself says that nothing is down.
    pub(super) fn is_clean(&self) -> bool {
        self.held_after.verified && self.held_after.is_empty()
    }
}

impl<'d> Ledger<'d> {
    pub(super) fn new(driver: &'d mut dyn Driver) -> Self {
        Self {
            driver,
            held: Vec::new(),
            was_pressed: Vec::new(),
            pressed: 0,
            released: 0,
            is_lending: false,
            is_offering: false,
        }
    }

    /// Sends one event. A press is written down before it is sent: one that the input system
    /// answered with an error may have arrived all the same.
    pub(super) fn send(&mut self, event: InputEvent) -> Result<()> {
        let pressed = match event {
            InputEvent::Key { code, down } => Some((Pressed::Key(code), down)),
            InputEvent::Button { button, down } => Some((Pressed::Button(button), down)),
            InputEvent::Move(_) | InputEvent::Wheel(_) => None,
        };
        if let Some((what, true)) = pressed {
            self.held.push(what);
            if !self.was_pressed.contains(&what) {
                self.was_pressed.push(what);
            }
        }
        self.driver.send(event)?;
        match pressed {
            Some((_, true)) => self.pressed += 1,
            Some((what, false)) => self.strike_off(what),
            None => {}
        }
        Ok(())
    }

    /// Lends keys. As with a press, what ended in an error may have been lent all the same.
    pub(super) fn lend(&mut self, loans: &[Loan]) -> Result<()> {
        self.is_lending = true;
        self.driver.lend_keys(loans)
    }

    /// Why an element would not get what is pressed at a pixel now.
    pub(super) fn confirm(&mut self, element: &ElementRef, at: Point) -> Result<Option<Refusal>> {
        self.driver.document().map_or(Ok(None), |document| document.confirm(element, at))
    }

    /// Puts a text on the clipboard; what ended in an error may be there all the same.
    pub(super) fn offer(&mut self, text: &str) -> Result<()> {
        self.is_offering = true;
        self.driver.offer_text(text)
    }

    /// Waits until the text is taken, at most until `until`; says whether it is.
    pub(super) fn is_taken(&mut self, until: Duration) -> Result<bool> {
        self.driver.text_taken(until)
    }

    /// Who gets the keys now.
    pub(super) fn focus(&mut self) -> Result<Option<Focus>> {
        self.driver.focus()
    }

    /// What is down by the input system's account and not by this ledger's, in words: somebody else
    /// presses it. `None` when nothing is.
    pub(super) fn pressed_by_others(&mut self) -> Result<Option<String>> {
        let mut held = self.driver.held()?;
        held.keys.retain(|&code| !self.held.contains(&Pressed::Key(code)));
        held.buttons.retain(|&button| !self.held.contains(&Pressed::Button(button)));
        Ok((!held.is_empty()).then(|| self.told(&held, true).in_words()))
    }

    /// Whether something this step pressed and let go of is still down: a program, such as a window
    /// manager, can keep the input frozen for a moment.
    fn is_late(&self, held: &Held) -> bool {
        let is_own = |what| self.was_pressed.contains(&what);
        held.keys.iter().any(|&code| is_own(Pressed::Key(code)))
            || held.buttons.iter().any(|&button| is_own(Pressed::Button(button)))
    }

    /// Lets go of everything still held, the last first, takes back what was lent, then asks the
    /// input system what is down.
    pub(super) fn close(mut self, clock: &Clock) -> Closed {
        self.release_all();
        self.take_back();
        let clipboard = self.put_back();
        let held_after = self.ask(clock);
        // What could not be undone is told; trying again unseen would make that untrue.
        self.held.clear();
        self.is_lending = false;
        Closed { pressed: self.pressed, released: self.released, held_after, clipboard }
    }

    /// One attempt each; a release that fails stays in the ledger.
    fn release_all(&mut self) {
        for what in self.held.clone().into_iter().rev() {
            if self.driver.send(what.release()).is_ok() {
                self.strike_off(what);
            }
        }
    }

    /// One attempt.
    fn take_back(&mut self) {
        if self.is_lending && self.driver.return_keys().is_ok() {
            self.is_lending = false;
        }
    }

    /// One attempt.
    fn put_back(&mut self) -> Option<Clipboard> {
        if !std::mem::take(&mut self.is_offering) {
            return None;
        }
        let failed = |error: Error| Clipboard { restored: false, note: Some(error.to_string()) };
        Some(self.driver.restore_clipboard().unwrap_or_else(failed))
    }

    fn strike_off(&mut self, what: Pressed) {
        self.released += 1;
        if let Some(at) = self.held.iter().rposition(|held| *held == what) {
            self.held.remove(at);
        }
    }

    /// The input system's account, or this ledger's own where there is no answer.
    fn ask(&mut self, clock: &Clock) -> HeldAfter {
        let give_up = clock.now() + LATE_RELEASE;
        loop {
            let Ok(held) = self.driver.held() else {
                let own = self.own_account();
                return self.told(&own, false);
            };
            // What could not be let go of does not come up by waiting.
            let may_come_up = self.held.is_empty() && self.is_late(&held);
            if !may_come_up || clock.now() >= give_up {
                return self.told(&held, true);
            }
            clock.sleep_until(clock.now() + LATE_GLANCE, &Cancel::never());
        }
    }

    fn told(&mut self, held: &Held, verified: bool) -> HeldAfter {
        HeldAfter {
            keys: held.keys.iter().map(|&code| self.driver.key_name(code)).collect(),
            buttons: held.buttons.clone(),
            is_lending: self.is_lending,
            verified,
        }
    }

    fn own_account(&self) -> Held {
        let mut held = Held::default();
        for what in &self.held {
            match what {
                Pressed::Key(code) => held.keys.push(*code),
                Pressed::Button(button) => held.buttons.push(*button),
            }
        }
        held
    }
}

impl Drop for Ledger<'_> {
    fn drop(&mut self) {
        self.release_all();
        self.take_back();
        self.put_back();
    }
}

impl Pressed {
    const fn release(self) -> InputEvent {
        match self {
            Self::Key(code) => InputEvent::Key { code, down: false },
            Self::Button(button) => InputEvent::Button { button, down: false },
        }
    }
}
