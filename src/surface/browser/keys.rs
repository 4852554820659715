//! The keys of a US keyboard as the DevTools protocol names them.
//!
//! Codes are places in [`KEYS`]; a character that is on none of them has a code of its own above
//! [`TEXT`] and is put in as text.

use crate::act::{KeyCode, Stroke};

/// One key.
pub(super) struct Key {
    /// As in the action contract, or the character it types.
    pub(super) name: &'static str,
    /// The place on the keyboard, DOM `code`.
    pub(super) code: &'static str,
    /// DOM `key`.
    pub(super) key: &'static str,
    /// DOM `key` while shift is held.
    pub(super) shifted: &'static str,
    /// The key's number on Windows, DOM `keyCode`.
    pub(super) number: u32,
    /// Its bit among the modifiers of the protocol; 0 for other keys.
    pub(super) modifier: u32,
}

impl Key {
    /// What it types, nothing where it types nothing.
    pub(super) fn text(&self, shift: bool) -> &'static str {
        match self.name {
            "return" => "\r",
            _ if self.key.chars().count() > 1 => "",
            _ if shift => self.shifted,
            _ => self.key,
        }
    }
}

/// The bits of the modifiers.
pub(super) const ALT: u32 = 1;
pub(super) const CTRL: u32 = 2;
pub(super) const SUPER: u32 = 4;
pub(super) const SHIFT: u32 = 8;

/// Codes from here on are characters.
const TEXT: u32 = 1 << 24;

const fn key(name: &'static str, code: &'static str, shifted: &'static str, number: u32) -> Key {
    Key { name, code, key: name, shifted, number, modifier: 0 }
}

const fn named(name: &'static str, code: &'static str, number: u32) -> Key {
    Key { name, code, key: code, shifted: code, number, modifier: 0 }
}

const fn holds(
    name: &'static str,
    code: &'static str,
    key: &'static str,
    number: u32,
    modifier: u32,
) -> Key {
    Key { name, code, key, shifted: key, number, modifier }
}

#[rustfmt::skip]
const KEYS: [Key; 78] = [
    key("a", "KeyA", "A", 65), key("b", "KeyB", "B", 66), key("c", "KeyC", "C", 67),
    key("d", "KeyD", "D", 68), key("e", "KeyE", "E", 69), key("f", "KeyF", "F", 70),
    key("g", "KeyG", "G", 71), key("h", "KeyH", "H", 72), key("i", "KeyI", "I", 73),
    key("j", "KeyJ", "J", 74), key("k", "KeyK", "K", 75), key("l", "KeyL", "L", 76),
    key("m", "KeyM", "M", 77), key("n", "KeyN", "N", 78), key("o", "KeyO", "O", 79),
    key("p", "KeyP", "P", 80), key("q", "KeyQ", "Q", 81), key("r", "KeyR", "R", 82),
    key("s", "KeyS", "S", 83), key("t", "KeyT", "T", 84), key("u", "KeyU", "U", 85),
    key("v", "KeyV", "V", 86), key("w", "KeyW", "W", 87), key("x", "KeyX", "X", 88),
    key("y", "KeyY", "Y", 89), key("z", "KeyZ", "Z", 90),
    key("0", "Digit0", ")", 48), key("1", "Digit1", "!", 49), key("2", "Digit2", "@", 50),
    key("3", "Digit3", "#", 51), key("4", "Digit4", "$", 52), key("5", "Digit5", "%", 53),
    key("6", "Digit6", "^", 54), key("7", "Digit7", "&", 55), key("8", "Digit8", "*", 56),
    key("9", "Digit9", "(", 57),
    key("-", "Minus", "_", 189), key("=", "Equal", "+", 187), key("[", "BracketLeft", "{", 219),
    key("]", "BracketRight", "}", 221), key("\\", "Backslash", "|", 220),
    key(";", "Semicolon", ":", 186), key("'", "Quote", "\"", 222), key("`", "Backquote", "~", 192),
    key(",", "Comma", "<", 188), key(".", "Period", ">", 190), key("/", "Slash", "?", 191),
    Key { name: "space", code: "Space", key: " ", shifted: " ", number: 32, modifier: 0 },
    named("return", "Enter", 13), named("tab", "Tab", 9), named("escape", "Escape", 27),
    named("backspace", "Backspace", 8), named("delete", "Delete", 46), named("up", "ArrowUp", 38),
    named("down", "ArrowDown", 40), named("left", "ArrowLeft", 37), named("right", "ArrowRight", 39),
    named("home", "Home", 36), named("end", "End", 35), named("pageup", "PageUp", 33),
    named("pagedown", "PageDown", 34),
    named("f1", "F1", 112), named("f2", "F2", 113), named("f3", "F3", 114), named("f4", "F4", 115),
    named("f5", "F5", 116), named("f6", "F6", 117), named("f7", "F7", 118), named("f8", "F8", 119),
    named("f9", "F9", 120), named("f10", "F10", 121), named("f11", "F11", 122),
    named("f12", "F12", 123),
    holds("ctrl", "ControlLeft", "Control", 17, CTRL), holds("shift", "ShiftLeft", "Shift", 16, SHIFT),
    holds("alt", "AltLeft", "Alt", 18, ALT), holds("super", "MetaLeft", "Meta", 91, SUPER),
    named("insert", "Insert", 45),
];

/// What a code stands for.
pub(super) enum Means {
    Key(&'static Key),
    Text(char),
}

pub(super) fn meaning(code: KeyCode) -> Option<Means> {
    match code.0.checked_sub(TEXT) {
        Some(character) => char::from_u32(character).map(Means::Text),
        None => KEYS.get(usize::try_from(code.0).ok()?).map(Means::Key),
    }
}

/// The key of that name.
pub(super) fn named_key(name: &str) -> Option<KeyCode> {
    code_where(|key| key.name == name)
}

/// How a character is typed: by its key where it has one, else put in as text. Line breaks and tabs
/// are keys; other control characters are none.
pub(super) fn strokes(character: char) -> Option<Vec<Stroke>> {
    let mut buffer = [0; 4];
    let text: &str = character.encode_utf8(&mut buffer);
    let stroke = |modifiers, key| Some(vec![Stroke { modifiers, key }]);
    match character {
        '\n' | '\r' => return stroke(vec![], named_key("return")?),
        '\t' => return stroke(vec![], named_key("tab")?),
        _ if character.is_control() => return None,
        _ => {}
    }
    if let Some(code) = code_where(|key| key.key == text) {
        return stroke(vec![], code);
    }
    match code_where(|key| key.shifted == text) {
        Some(code) => stroke(vec![named_key("shift")?], code),
        None => stroke(vec![], KeyCode(TEXT + u32::from(character))),
    }
}

fn code_where(fits: impl Fn(&Key) -> bool) -> Option<KeyCode> {
    u32::try_from(KEYS.iter().position(fits)?).ok().map(KeyCode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_has_its_key_or_is_text() {
        let typed = |character: char| -> Option<String> {
            let strokes = strokes(character)?;
            let shift = !strokes[0].modifiers.is_empty();
            Some(match meaning(strokes[0].key)? {
                Means::Key(key) => format!("{} {:?}", key.code, key.text(shift)),
                Means::Text(text) => format!("text {text:?}"),
            })
        };
        for (character, expected) in [
            ('a', Some("KeyA \"a\"")),
            ('Z', Some("KeyZ \"Z\"")),
            ('"', Some("Quote \"\\\"\"")),
            (' ', Some("Space \" \"")),
            ('\n', Some("Enter \"\\r\"")),
            ('\t', Some("Tab \"\"")),
            ('ß', Some("text 'ß'")),
            ('漢', Some("text '漢'")),
            ('🙂', Some("text '🙂'")),
            ('\u{7}', None),
        ] {
            assert_eq!(typed(character).as_deref(), expected, "{character:?}");
        }
    }

    #[test]
    fn every_printable_ascii_character_has_a_key() {
        for character in ' '..='~' {
            let strokes = strokes(character).unwrap();
            assert!(matches!(meaning(strokes[0].key), Some(Means::Key(_))), "{character}");
        }
    }
}
