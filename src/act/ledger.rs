//! What the executor holds down, released on every way out.

use crate::error::Result;

use super::driver::{Button, Driver, Held, InputEvent, KeyCode};
use super::receipt::HeldAfter;

/// The only way events reach a driver: it writes down what it presses and lets go of it when it is
/// finished or dropped, also by a panic.
pub(super) struct Ledger<'d> {
    driver: &'d mut dyn Driver,
    /// In the order pressed.
    held: Vec<Pressed>,
    pressed: usize,
    released: usize,
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
}

impl Closed {
    /// Whether the input system itself says that nothing is down.
    pub(super) fn is_clean(&self) -> bool {
        self.held_after.verified && self.held_after.is_empty()
    }
}

impl<'d> Ledger<'d> {
    pub(super) fn new(driver: &'d mut dyn Driver) -> Self {
        Self { driver, held: Vec::new(), pressed: 0, released: 0 }
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
        }
        self.driver.send(event)?;
        match pressed {
            Some((_, true)) => self.pressed += 1,
            Some((what, false)) => self.strike_off(what),
            None => {}
        }
        Ok(())
    }

    /// Lets go of everything still held, the last first, then asks the input system what is down.
    pub(super) fn close(mut self) -> Closed {
        self.release_all();
        let held_after = self.ask();
        // What could not be released is told; trying again unseen would make that untrue.
        self.held.clear();
        Closed { pressed: self.pressed, released: self.released, held_after }
    }

    /// One attempt each; a release that fails stays in the ledger.
    fn release_all(&mut self) {
        for what in self.held.clone().into_iter().rev() {
            if self.driver.send(what.release()).is_ok() {
                self.strike_off(what);
            }
        }
    }

    fn strike_off(&mut self, what: Pressed) {
        self.released += 1;
        if let Some(at) = self.held.iter().rposition(|held| *held == what) {
            self.held.remove(at);
        }
    }

    /// The input system's account, or this ledger's own where there is no answer.
    fn ask(&mut self) -> HeldAfter {
        let (held, verified) = match self.driver.held() {
            Ok(held) => (held, true),
            Err(_) => (self.own_account(), false),
        };
        HeldAfter {
            keys: held.keys.iter().map(|&code| self.driver.key_name(code)).collect(),
            buttons: held.buttons,
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
