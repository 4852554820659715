//! A keyboard layout: which keys type a character, which key has a name.

use xkeysym::Keysym;

use crate::act::{KeyCode, Stroke};

/// The columns of the core keyboard mapping that hold the four levels (plain, shift, AltGr, both)
/// of the first and of the second group.
const COLUMNS: [[usize; 4]; 2] = [[0, 1, 4, 5], [2, 3, 6, 7]];

/// The first and last key of the number pad. Its digits depend on the Num Lock, so text never
/// goes through it.
const KEYPAD: std::ops::RangeInclusive<u32> = 0xff80..=0xffbd;

/// The names of the action contract; a letter or digit is its own name. Where a key exists twice
/// the left one comes first.
const NAMES: &[(&str, Keysym)] = &[
    ("return", Keysym::Return),
    ("tab", Keysym::Tab),
    ("escape", Keysym::Escape),
    ("space", Keysym::space),
    ("backspace", Keysym::BackSpace),
    ("delete", Keysym::Delete),
    ("left", Keysym::Left),
    ("right", Keysym::Right),
    ("up", Keysym::Up),
    ("down", Keysym::Down),
    ("home", Keysym::Home),
    ("end", Keysym::End),
    ("pageup", Keysym::Prior),
    ("pagedown", Keysym::Next),
    ("f1", Keysym::F1),
    ("f2", Keysym::F2),
    ("f3", Keysym::F3),
    ("f4", Keysym::F4),
    ("f5", Keysym::F5),
    ("f6", Keysym::F6),
    ("f7", Keysym::F7),
    ("f8", Keysym::F8),
    ("f9", Keysym::F9),
    ("f10", Keysym::F10),
    ("f11", Keysym::F11),
    ("f12", Keysym::F12),
    ("ctrl", Keysym::Control_L),
    ("ctrl", Keysym::Control_R),
    ("shift", Keysym::Shift_L),
    ("shift", Keysym::Shift_R),
    ("alt", Keysym::Alt_L),
    ("alt", Keysym::Alt_R),
    ("super", Keysym::Super_L),
    ("super", Keysym::Super_R),
    ("win", Keysym::Super_L),
];

/// Characters some layouts have only as a dead key, which waits for the letter to put an accent
/// on; the space bar makes it stand alone. Those that programs disagree about are left out.
const DEAD_KEYS: &[(char, Keysym)] =
    &[('^', Keysym::dead_circumflex), ('`', Keysym::dead_grave), ('~', Keysym::dead_tilde)];

/// The symbols of every key.
pub(super) struct Keymap {
    first: u8,
    width: usize,
    symbols: Vec<Keysym>,
}

impl Keymap {
    /// From the core mapping: `width` symbols a key, beginning with keycode `first`.
    pub(super) fn new(first: u8, width: u8, symbols: &[u32]) -> Self {
        let symbols = symbols.iter().copied().map(Keysym::new).collect();
        Self { first, width: usize::from(width).max(1), symbols }
    }

    /// The key with a name of the action contract.
    pub(super) fn named(&self, name: &str) -> Option<KeyCode> {
        let listed = NAMES.iter().filter(|(known, _)| *known == name).map(|(_, symbol)| *symbol);
        let mut letters = name.chars();
        let letter = letters.next().filter(|first| {
            letters.next().is_none() && (first.is_ascii_lowercase() || first.is_ascii_digit())
        });
        listed.chain(letter.map(Keysym::from_char)).find_map(|symbol| self.key(symbol))
    }

    /// A name for a key, for messages.
    pub(super) fn name(&self, code: KeyCode) -> String {
        let symbol = self.rows().find(|(known, _)| *known == code).map(|(_, row)| row[0]);
        let Some(symbol) = symbol.filter(|symbol| *symbol != Keysym::NoSymbol) else {
            return number(code);
        };
        if let Some((name, _)) = NAMES.iter().find(|(_, named)| *named == symbol) {
            return (*name).to_owned();
        }
        match (typed(symbol), symbol.name()) {
            (Some(letter), _) => letter.to_string(),
            (None, Some(name)) => name.trim_start_matches("XK_").to_lowercase(),
            (None, None) => number(code),
        }
    }

    /// The strokes that type `character` in group `group` (from 0): one, or a dead key and then
    /// the space bar. `None` when the layout has it on no key.
    ///
    /// A lit Caps Lock is accounted for: it swaps the case of keys that bear a letter.
    pub(super) fn strokes(
        &self,
        character: char,
        group: usize,
        caps_lock: bool,
    ) -> Option<Vec<Stroke>> {
        if let Some(symbol) = control(character) {
            return Some(vec![Stroke { modifiers: Vec::new(), key: self.key(symbol)? }]);
        }
        let columns = COLUMNS.get(group)?;
        let types_it = |symbol| typed(symbol) == Some(character);
        if let Some(stroke) = self.stroke(types_it, columns, caps_lock) {
            return Some(vec![stroke]);
        }
        let (_, dead) = DEAD_KEYS.iter().find(|(stands_for, _)| *stands_for == character)?;
        let dead = self.stroke(|symbol| symbol == *dead, columns, caps_lock)?;
        let space = self.stroke(|symbol| symbol == Keysym::space, columns, caps_lock)?;
        Some(vec![dead, space])
    }

    /// The keys that bring forth a symbol, with as few modifiers as can be.
    fn stroke(
        &self,
        is_it: impl Fn(Keysym) -> bool,
        columns: &[usize; 4],
        caps_lock: bool,
    ) -> Option<Stroke> {
        let (level, key, row) = (0..columns.len()).find_map(|level| {
            let has_it =
                |row: &[Keysym]| row.get(columns[level]).is_some_and(|&symbol| is_it(symbol));
            let (key, row) = self.rows().find(|(_, row)| has_it(row))?;
            Some((level, key, row))
        })?;
        let swapped = caps_lock && follows_caps_lock(row, columns, level);
        let mut modifiers = Vec::new();
        if level >= 2 {
            modifiers.push(self.key(Keysym::ISO_Level3_Shift)?);
        }
        if (level % 2 == 1) != swapped {
            modifiers.push(self.named("shift")?);
        }
        Some(Stroke { modifiers, key })
    }

    /// The key that bears a symbol, best without a modifier.
    fn key(&self, symbol: Keysym) -> Option<KeyCode> {
        (0..self.width).find_map(|column| {
            self.rows().find(|(_, row)| row[column] == symbol).map(|(code, _)| code)
        })
    }

    fn rows(&self) -> impl Iterator<Item = (KeyCode, &[Keysym])> {
        let codes = (u32::from(self.first)..).map(KeyCode);
        codes.zip(self.symbols.chunks_exact(self.width))
    }
}

/// What a key without a name is called.
pub(super) fn number(code: KeyCode) -> String {
    format!("key {}", code.0)
}

/// Characters that are keys, not symbols.
fn control(character: char) -> Option<Keysym> {
    match character {
        '\n' => Some(Keysym::Return),
        '\t' => Some(Keysym::Tab),
        _ => None,
    }
}

fn at(row: &[Keysym], column: usize) -> Option<char> {
    row.get(column).copied().and_then(typed)
}

/// The character a symbol types; none for those that only name a key.
fn typed(symbol: Keysym) -> Option<char> {
    let on_keypad = KEYPAD.contains(&symbol.raw());
    symbol.key_char().filter(|character| !on_keypad && !character.is_control())
}

/// Caps Lock swaps a level with its neighbour where both are the two cases of one letter, and
/// only on keys whose plain levels are a letter too: the automatic key types of XKB.
fn follows_caps_lock(row: &[Keysym], columns: &[usize; 4], level: usize) -> bool {
    let pair = level / 2 * 2;
    [0, pair].into_iter().all(|first| {
        let lower = at(row, columns[first]);
        let upper = at(row, columns[first + 1]);
        match (lower, upper) {
            (Some(lower), Some(upper)) => lower != upper && lower.to_uppercase().eq([upper]),
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five keys as `setxkbmap de` maps them, and the modifiers.
    fn german() -> Keymap {
        let keys: [[Keysym; 6]; 11] = [
            row(&[Keysym::q, Keysym::Q, Keysym::q, Keysym::Q, Keysym::at, Keysym::Greek_OMEGA]),
            row(&[Keysym::_7, Keysym::slash, Keysym::_7, Keysym::slash, Keysym::braceleft]),
            row(&[Keysym::a, Keysym::A, Keysym::a, Keysym::A, Keysym::ae, Keysym::AE]),
            row(&[Keysym::KP_1]),
            row(&[Keysym::Return]),
            row(&[Keysym::Shift_L]),
            row(&[Keysym::ISO_Level3_Shift]),
            row(&[Keysym::Control_R]),
            row(&[Keysym::Linefeed]),
            row(&[Keysym::space]),
            row(&[Keysym::dead_acute, Keysym::dead_grave]),
        ];
        Keymap::new(10, 6, &keys.concat().iter().map(|symbol| symbol.raw()).collect::<Vec<_>>())
    }

    fn row(symbols: &[Keysym]) -> [Keysym; 6] {
        std::array::from_fn(|column| symbols.get(column).copied().unwrap_or(Keysym::NoSymbol))
    }

    #[test]
    fn characters_take_the_keys_of_their_level() {
        const SHIFT: u32 = 15;
        const ALTGR: u32 = 16;
        for (character, caps_lock, keys) in [
            ('q', false, Some(vec![10])),
            ('Q', false, Some(vec![SHIFT, 10])),
            ('q', true, Some(vec![SHIFT, 10])),
            ('Q', true, Some(vec![10])),
            ('7', true, Some(vec![11])),
            ('/', true, Some(vec![SHIFT, 11])),
            ('@', false, Some(vec![ALTGR, 10])),
            ('@', true, Some(vec![ALTGR, 10])),
            ('æ', true, Some(vec![ALTGR, SHIFT, 12])),
            ('Æ', false, Some(vec![ALTGR, SHIFT, 12])),
            ('Ω', false, Some(vec![ALTGR, SHIFT, 10])),
            ('`', false, Some(vec![SHIFT, 20, 19])),
            ('^', false, None),
            ('´', false, None),
            ('\n', false, Some(vec![14])),
            ('\t', false, None),
            ('1', false, None),
            ('\r', false, None),
            ('é', false, None),
        ] {
            let strokes = german().strokes(character, 0, caps_lock);
            let pressed = strokes.map(|strokes| {
                let keys = strokes
                    .into_iter()
                    .flat_map(|stroke| stroke.modifiers.into_iter().chain([stroke.key]));
                keys.map(|code| code.0).collect::<Vec<_>>()
            });
            assert_eq!(pressed, keys, "{character:?} caps lock {caps_lock}");
        }
        assert!(german().strokes('q', 1, false).is_some());
        assert!(german().strokes('q', 2, false).is_none());
    }

    #[test]
    fn keys_have_names_both_ways() {
        let map = german();
        for (name, code, back) in [
            ("a", Some(12), "a"),
            ("7", Some(11), "7"),
            ("return", Some(14), "return"),
            ("shift", Some(15), "shift"),
            ("ctrl", Some(17), "ctrl"),
            ("f5", None, ""),
            ("A", None, ""),
            ("", None, ""),
        ] {
            assert_eq!(map.named(name), code.map(KeyCode), "{name}");
            if let Some(code) = code {
                assert_eq!(map.name(KeyCode(code)), back);
            }
        }
        assert_eq!(map.name(KeyCode(16)), "iso_level3_shift");
        assert_eq!(map.name(KeyCode(99)), "key 99");
    }
}
