//! The keyboard of the simulated application: a US layout.

use crate::act::KeyCode;

/// One key: its name, and what it types alone and with shift.
struct Key {
    name: &'static str,
    types: Option<(char, char)>,
}

const fn named(name: &'static str) -> Key {
    Key { name, types: None }
}

const fn typing(name: &'static str, plain: char, shifted: char) -> Key {
    Key { name, types: Some((plain, shifted)) }
}

/// A key's code is its place in this list.
#[rustfmt::skip]
const KEYS: &[Key] = &[
    named("shift"), named("ctrl"), named("alt"), named("super"),
    named("escape"), named("backspace"), named("delete"),
    named("up"), named("down"), named("left"), named("right"),
    named("home"), named("end"), named("pageup"), named("pagedown"),
    named("f1"), named("f2"), named("f3"), named("f4"), named("f5"), named("f6"),
    named("f7"), named("f8"), named("f9"), named("f10"), named("f11"), named("f12"),
    typing("return", '\n', '\n'), typing("tab", '\t', '\t'), typing("space", ' ', ' '),
    typing("a", 'a', 'A'), typing("b", 'b', 'B'), typing("c", 'c', 'C'), typing("d", 'd', 'D'),
    typing("e", 'e', 'E'), typing("f", 'f', 'F'), typing("g", 'g', 'G'), typing("h", 'h', 'H'),
    typing("i", 'i', 'I'), typing("j", 'j', 'J'), typing("k", 'k', 'K'), typing("l", 'l', 'L'),
    typing("m", 'm', 'M'), typing("n", 'n', 'N'), typing("o", 'o', 'O'), typing("p", 'p', 'P'),
    typing("q", 'q', 'Q'), typing("r", 'r', 'R'), typing("s", 's', 'S'), typing("t", 't', 'T'),
    typing("u", 'u', 'U'), typing("v", 'v', 'V'), typing("w", 'w', 'W'), typing("x", 'x', 'X'),
    typing("y", 'y', 'Y'), typing("z", 'z', 'Z'),
    typing("1", '1', '!'), typing("2", '2', '@'), typing("3", '3', '#'), typing("4", '4', '$'),
    typing("5", '5', '%'), typing("6", '6', '^'), typing("7", '7', '&'), typing("8", '8', '*'),
    typing("9", '9', '('), typing("0", '0', ')'),
    typing("grave", '`', '~'), typing("minus", '-', '_'), typing("equal", '=', '+'),
    typing("bracketleft", '[', '{'), typing("bracketright", ']', '}'),
    typing("backslash", '\\', '|'), typing("semicolon", ';', ':'), typing("apostrophe", '\'', '"'),
    typing("comma", ',', '<'), typing("period", '.', '>'), typing("slash", '/', '?'),
];

pub(super) const SHIFT: &str = "shift";
pub(super) const CTRL: &str = "ctrl";

/// The key with that name.
pub(super) fn named_key(name: &str) -> Option<KeyCode> {
    find(|key| key.name == name)
}

/// The name of a key of this keyboard.
pub(super) fn name_of(code: KeyCode) -> Option<&'static str> {
    key(code).map(|key| key.name)
}

/// What a key types.
pub(super) fn typed(code: KeyCode, shift: bool) -> Option<char> {
    key(code)?.types.map(|(plain, shifted)| if shift { shifted } else { plain })
}

/// The key that types `character`, and whether it needs shift.
pub(super) fn key_typing(character: char) -> Option<(KeyCode, bool)> {
    let plain = find(|key| key.types.is_some_and(|(plain, _)| plain == character));
    let shifted = || find(|key| key.types.is_some_and(|(_, shifted)| shifted == character));
    plain.map(|code| (code, false)).or_else(|| Some((shifted()?, true)))
}

fn key(code: KeyCode) -> Option<&'static Key> {
    KEYS.get(usize::try_from(code.0).ok()?)
}

fn find(is_it: impl Fn(&Key) -> bool) -> Option<KeyCode> {
    let at = KEYS.iter().position(is_it)?;
    u32::try_from(at).ok().map(KeyCode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ascii_character_has_one_stroke_that_types_it() {
        for character in (' '..='~').chain(['\n', '\t']) {
            let (code, shift) = key_typing(character).unwrap();
            assert_eq!(typed(code, shift), Some(character));
        }
        for character in ['é', '✓', '\0'] {
            assert_eq!(key_typing(character), None, "{character}");
        }
    }

    #[test]
    fn names_lead_to_keys_and_back() {
        let names = KEYS.iter().map(|key| key.name);
        for name in names.clone() {
            assert_eq!(named_key(name).and_then(name_of), Some(name));
        }
        let letters = ('a'..='z').chain('0'..='9').map(String::from);
        let functions = (1..=12).map(|number| format!("f{number}"));
        for name in letters.chain(functions) {
            assert!(named_key(&name).is_some(), "{name}");
        }
        assert_eq!((named_key("A"), named_key("hyper"), name_of(KeyCode(999))), (None, None, None));
    }
}
