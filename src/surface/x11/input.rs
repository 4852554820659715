//! Events through XTEST, each followed by one round trip that makes sure the server took it.

use x11rb::cookie::VoidCookie;
use x11rb::protocol::xkb::{
    self, ConnectionExt as _, EventType, KeySymMap, MapPart, SelectEventsAux, VMod,
};
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ConnectionExt as _, KEY_PRESS_EVENT,
    KEY_RELEASE_EVENT, KeyButMask, MOTION_NOTIFY_EVENT, ModMask, QueryPointerReply,
};
use x11rb::protocol::xtest::ConnectionExt as _;

use xkeysym::Keysym;

use crate::act::{Button, Held, InputEvent, KeyCode, Wheel};
use crate::error::Error;

use super::keymap::{Key, KeyType, Keymap, State};
use super::link::{Connection, Link, Trouble};

/// The keyboard that all the others feed.
const KEYBOARD: u16 = 0x100;

/// The motion detail that means absolute coordinates.
const ABSOLUTE: u8 = 0;

const ELSEWHERE: &str = "the pointer stays on another screen of the display: act on that one";

/// The keyboard layout, read again only when the server says it changed.
#[derive(Default)]
pub(super) struct Keyboard {
    map: Option<Keymap>,
    is_listening: bool,
}

impl Keyboard {
    /// The layout as it was last read.
    pub(super) const fn known(&self) -> Option<&Keymap> {
        self.map.as_ref()
    }

    /// The layout and the state as they are now. The round trip for the state also brings every
    /// notice of change the server has sent before.
    pub(super) fn layout(&mut self, link: &Link) -> Result<(&Keymap, State), Trouble> {
        if !self.is_listening {
            listen(link)?;
            self.is_listening = true;
        }
        let state = link.reply(link.conn.xkb_get_state(KEYBOARD)?)?;
        link.receive()?;
        if link.take_new_layout() {
            self.map = None;
        }
        let map = match self.map.take() {
            Some(map) => map,
            None => read(link)?,
        };
        let group = u8::from(state.group).into();
        let state = State { group, modifiers: bits(state.mods) };
        Ok((self.map.insert(map), state))
    }
}

/// Asks to be told when the layout changes.
fn listen(link: &Link) -> Result<(), Trouble> {
    let missing = "this display has no XKEYBOARD extension, which typing needs";
    if !link.has(xkb::X11_EXTENSION_NAME)? {
        return Err(Error::surface(missing).into());
    }
    if !link.reply(link.conn.xkb_use_extension(1, 0)?)?.supported {
        return Err(Error::surface(missing).into());
    }
    let events = EventType::NEW_KEYBOARD_NOTIFY | EventType::MAP_NOTIFY;
    let none = EventType::from(0_u16);
    let details = SelectEventsAux::new();
    let asked = link.conn.xkb_select_events(KEYBOARD, none, events, parts(), parts(), &details)?;
    link.check(asked)
}

fn read(link: &Link) -> Result<Keymap, Trouble> {
    let none = MapPart::from(0_u16);
    let (k, n) = (0, 0);
    let asked = link.conn.xkb_get_map(
        KEYBOARD,
        parts(),
        none,
        k,
        n,
        k,
        n,
        k,
        n,
        k,
        n,
        VMod::from(0_u16),
        k,
        n,
        k,
        n,
        k,
        n,
    )?;
    let reply = link.reply(asked)?;
    let map = reply.map;
    let modifiers = map.modmap_rtrn.unwrap_or_default().into_iter();
    Ok(Keymap {
        first: reply.first_key_sym,
        keys: map.syms_rtrn.unwrap_or_default().into_iter().map(key_from).collect(),
        types: map.types_rtrn.unwrap_or_default().into_iter().map(type_from).collect(),
        modifiers: modifiers.map(|each| (KeyCode(each.keycode.into()), bits(each.mods))).collect(),
    })
}

fn key_from(key: KeySymMap) -> Key {
    Key {
        group_info: key.group_info,
        types: key.kt_index,
        width: key.width.into(),
        symbols: key.syms.into_iter().map(Keysym::new).collect(),
    }
}

fn type_from(kind: xkb::KeyType) -> KeyType {
    let kept = kind.preserve.iter().map(|each| bits(each.mask)).chain(std::iter::repeat(0));
    let entries = kind.map.iter().zip(kept).filter(|(entry, _)| entry.active);
    KeyType {
        mask: bits(kind.mods_mask),
        entries: entries.map(|(entry, kept)| (bits(entry.mods_mask), entry.level, kept)).collect(),
    }
}

/// The parts of a layout that are read.
fn parts() -> MapPart {
    MapPart::KEY_TYPES | MapPart::KEY_SYMS | MapPart::MODIFIER_MAP
}

/// The eight real modifiers; the protocol has no others in a mask.
fn bits(mask: ModMask) -> u8 {
    u16::from(mask).to_le_bytes()[0]
}

/// The pointer's place and the state of buttons and locks.
pub(super) fn pointer(link: &Link) -> Result<QueryPointerReply, Trouble> {
    link.reply(link.conn.query_pointer(link.root())?)
}

/// Its place in pixels of the screen, if it is on this one.
pub(super) fn place_of(pointer: &QueryPointerReply) -> Option<(i32, i32)> {
    pointer.same_screen.then(|| (pointer.root_x.into(), pointer.root_y.into()))
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
    if link.has_other_screens() {
        come_to_screen(link, (x, y))?;
    }
    send(link, MOTION_NOTIFY_EVENT, ABSOLUTE, (x, y))?;
    match link.has_other_screens() && !pointer(link)?.same_screen {
        true => Err(Error::surface(ELSEWHERE).into()),
        false => Ok(()),
    }
}

/// Makes sure the pointer is on this screen of the display: XTEST moves it on the one it is on,
/// whatever root window it is told.
pub(super) fn come_to_screen(link: &Link, (x, y): (i16, i16)) -> Result<(), Trouble> {
    if pointer(link)?.same_screen {
        return Ok(());
    }
    let none = x11rb::NONE;
    link.check(link.conn.warp_pointer(none, link.root(), 0, 0, 0, 0, x, y)?)?;
    match pointer(link)?.same_screen {
        true => Ok(()),
        false => Err(Error::surface(ELSEWHERE).into()),
    }
}

/// The buttons pressed here, by the number each was pressed with: the user may swap them meanwhile,
/// and a display that does not answer cannot be asked.
#[derive(Default)]
pub(super) struct Buttons(Vec<(Button, u8)>);

impl Buttons {
    pub(super) fn press(&mut self, link: &Link, button: Button) -> Result<(), Trouble> {
        let number = number_of(link, button)?;
        self.0.retain(|(known, _)| *known != button);
        self.0.push((button, number));
        send(link, BUTTON_PRESS_EVENT, number, (0, 0))
    }

    pub(super) fn release(&mut self, link: &Link, button: Button) -> Result<(), Trouble> {
        let number = match self.number(button) {
            Some(number) => number,
            None => number_of(link, button)?,
        };
        send(link, BUTTON_RELEASE_EVENT, number, (0, 0))?;
        self.0.retain(|(known, _)| *known != button);
        Ok(())
    }

    fn number(&self, button: Button) -> Option<u8> {
        self.0.iter().find(|(known, _)| *known == button).map(|(_, number)| *number)
    }
}

fn number_of(link: &Link, button: Button) -> Result<u8, Trouble> {
    let number = match button {
        Button::Left => 1,
        Button::Middle => 2,
        Button::Right => 3,
    };
    physical(link, number)
}

/// Leaves the release of what was pressed here with a display that does not answer.
pub(super) fn leave_release(
    link: &Link,
    buttons: &Buttons,
    event: InputEvent,
) -> Result<(), Trouble> {
    let (kind, detail) = match event {
        InputEvent::Button { button, down: false } => {
            (BUTTON_RELEASE_EVENT, buttons.number(button))
        }
        InputEvent::Key { code, down: false } => (KEY_RELEASE_EVENT, u8::try_from(code.0).ok()),
        _ => return Ok(()),
    };
    match detail {
        Some(detail) => link.leave(fake(link, kind, detail, (0, 0))?),
        None => Ok(()),
    }
}

/// The button that programs see as `number`: a left-handed user has them swapped.
fn physical(link: &Link, number: u8) -> Result<u8, Trouble> {
    let map = link.reply(link.conn.get_pointer_mapping()?)?.map;
    let found = (1..=u8::MAX).zip(map).find(|(_, means)| *means == number);
    found.map(|(physical, _)| physical).ok_or_else(|| {
        Error::surface(format!("the pointer has no button {number}: see xmodmap -pp")).into()
    })
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
    let physical = physical(link, number)?;
    // Both go out before either is waited for: nobody would let go after a press without answer.
    let press = fake(link, BUTTON_PRESS_EVENT, physical, (0, 0))?;
    let release = fake(link, BUTTON_RELEASE_EVENT, physical, (0, 0))?;
    link.check(release)?;
    link.check(press)
}

fn send(link: &Link, kind: u8, detail: u8, (x, y): (i16, i16)) -> Result<(), Trouble> {
    link.check(fake(link, kind, detail, (x, y))?)
}

fn fake(
    link: &Link,
    kind: u8,
    detail: u8,
    (x, y): (i16, i16),
) -> Result<VoidCookie<'_, Connection>, Trouble> {
    let now = x11rb::CURRENT_TIME;
    Ok(link.conn.xtest_fake_input(kind, detail, now, link.root(), x, y, 0)?)
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
