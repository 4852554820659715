//! Events through XTEST, each followed by one round trip that makes sure the server took it.

use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ConnectionExt as _, KEY_PRESS_EVENT,
    KEY_RELEASE_EVENT, KeyButMask, MOTION_NOTIFY_EVENT, QueryPointerReply,
};
use x11rb::protocol::xtest::ConnectionExt as _;

use crate::act::{Button, Held, KeyCode, Wheel};
use crate::error::Error;

use super::keymap::Keymap;
use super::link::{Link, Trouble};

/// Where a pointer's state keeps the number of the keyboard group.
const GROUP_SHIFT: u16 = 13;

/// The motion detail that means absolute coordinates.
const ABSOLUTE: u8 = 0;

/// The keyboard layout, read again only when the server says it changed.
#[derive(Default)]
pub(super) struct Keyboard {
    map: Option<Keymap>,
}

/// The layout, and which part of it is in force.
pub(super) struct Layout<'a> {
    pub(super) map: &'a Keymap,
    /// The active group, from 0.
    pub(super) group: usize,
    pub(super) caps_lock: bool,
}

impl Keyboard {
    /// The layout as it is now. The round trip for the locks also brings every notice of change
    /// the server has sent before.
    pub(super) fn layout(&mut self, link: &Link) -> Result<Layout<'_>, Trouble> {
        let state = pointer(link)?.mask;
        while let Some(event) = link.conn.poll_for_event()? {
            if matches!(event, Event::MappingNotify(_)) {
                self.map = None;
            }
        }
        let map = match self.map.take() {
            Some(map) => map,
            None => read(link)?,
        };
        let group = usize::from(u16::from(state) >> GROUP_SHIFT & 3);
        Ok(Layout { map: self.map.insert(map), group, caps_lock: state.contains(KeyButMask::LOCK) })
    }
}

fn read(link: &Link) -> Result<Keymap, Trouble> {
    let (first, last) = (link.conn.setup().min_keycode, link.conn.setup().max_keycode);
    let count = last.saturating_sub(first).saturating_add(1);
    let reply = link.reply(link.conn.get_keyboard_mapping(first, count)?)?;
    Ok(Keymap::new(first, reply.keysyms_per_keycode, &reply.keysyms))
}

/// The pointer's place and the state of buttons and locks.
pub(super) fn pointer(link: &Link) -> Result<QueryPointerReply, Trouble> {
    link.reply(link.conn.query_pointer(link.root())?)
}

/// What is down by the server's account.
pub(super) fn held(link: &Link) -> Result<Held, Trouble> {
    let keys = link.conn.query_keymap()?;
    let pointer = link.conn.query_pointer(link.root())?;
    let keys = pressed(&link.reply(keys)?.keys);
    let mask = link.reply(pointer)?.mask;
    let buttons = [
        (KeyButMask::BUTTON1, Button::Left),
        (KeyButMask::BUTTON2, Button::Middle),
        (KeyButMask::BUTTON3, Button::Right),
    ];
    let down = buttons.into_iter().filter(|(bit, _)| mask.contains(*bit));
    Ok(Held { keys, buttons: down.map(|(_, button)| button).collect() })
}

/// The keycodes whose bit is set: bit `n` of byte `m` stands for keycode `8 * m + n`.
fn pressed(bits: &[u8; 32]) -> Vec<KeyCode> {
    let is_down = |code: &u32| bits[*code as usize / 8] >> (code % 8) & 1 == 1;
    (0..=u8::MAX.into()).filter(is_down).map(KeyCode).collect()
}

pub(super) fn move_to(link: &Link, x: i16, y: i16) -> Result<(), Trouble> {
    send(link, MOTION_NOTIFY_EVENT, ABSOLUTE, (x, y))
}

pub(super) fn button(link: &Link, button: Button, down: bool) -> Result<(), Trouble> {
    let number = match button {
        Button::Left => 1,
        Button::Middle => 2,
        Button::Right => 3,
    };
    send(link, if down { BUTTON_PRESS_EVENT } else { BUTTON_RELEASE_EVENT }, number, (0, 0))
}

pub(super) fn key(link: &Link, code: KeyCode, down: bool) -> Result<(), Trouble> {
    let number = u8::try_from(code.0)
        .map_err(|_| Error::usage(format!("keycode {} is past the 255 X11 has", code.0)))?;
    send(link, if down { KEY_PRESS_EVENT } else { KEY_RELEASE_EVENT }, number, (0, 0))
}

/// One detent is a press and a release of a button of its own.
pub(super) fn wheel(link: &Link, wheel: Wheel) -> Result<(), Trouble> {
    let number = match wheel {
        Wheel::Up => 4,
        Wheel::Down => 5,
        Wheel::Left => 6,
        Wheel::Right => 7,
    };
    send(link, BUTTON_PRESS_EVENT, number, (0, 0))?;
    send(link, BUTTON_RELEASE_EVENT, number, (0, 0))
}

fn send(link: &Link, kind: u8, detail: u8, (x, y): (i16, i16)) -> Result<(), Trouble> {
    let now = x11rb::CURRENT_TIME;
    link.check(link.conn.xtest_fake_input(kind, detail, now, link.root(), x, y, 0)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bit_is_a_keycode() {
        let mut bits = [0; 32];
        (bits[0], bits[4], bits[31]) = (1, 0b10_0001, 0x80);
        assert_eq!(pressed(&bits), [0, 32, 37, 255].map(KeyCode));
    }
}
