//! A keyboard layout: which keys type a character, which key has a name.

use xkeysym::Keysym;

use crate::act::{KeyCode, Loan, Stroke};

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
    ("insert", Keysym::Insert),
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

/// The Lock modifier, which Caps Lock sets.
const LOCK: u8 = 1 << 1;

/// A layout as the X keyboard extension describes it.
#[derive(Default)]
pub(super) struct Keymap {
    /// The keycode of the first of `keys`.
    pub(super) first: u8,
    pub(super) keys: Vec<Key>,
    pub(super) types: Vec<KeyType>,
    /// The real modifiers each key sets.
    pub(super) modifiers: Vec<(KeyCode, u8)>,
}

/// What is on one key.
#[derive(Default)]
pub(super) struct Key {
    /// How many groups there are, and what a group beyond them means, as the protocol packs it.
    pub(super) group_info: u8,
    /// The type of each group.
    pub(super) types: [u8; 4],
    /// How many levels a group takes in `symbols`.
    pub(super) width: usize,
    /// The symbols of the first group, then those of the next.
    pub(super) symbols: Vec<Keysym>,
}

/// Which modifiers lead to which level.
#[derive(Default)]
pub(super) struct KeyType {
    /// The modifiers it looks at.
    pub(super) mask: u8,
    /// Of those exactly these, the level they lead to, and which of them act on the symbol too.
    /// What is not listed leads to level 0.
    pub(super) entries: Vec<(u8, u8, u8)>,
}

/// The state the keyboard is in.
#[derive(Clone, Copy, Default)]
pub(super) struct State {
    /// The active group, from 0.
    pub(super) group: usize,
    /// The real modifiers in effect: locks, and what is held.
    pub(super) modifiers: u8,
}

impl State {
    pub(super) const fn caps_lock(self) -> bool {
        self.modifiers & LOCK != 0
    }
}

impl Keymap {
    /// The key with a name of the action contract.
    pub(super) fn named(&self, name: &str, state: State) -> Option<KeyCode> {
        let listed = NAMES.iter().filter(|(known, _)| *known == name).map(|(_, symbol)| *symbol);
        let mut letters = name.chars();
        let letter = letters.next().filter(|first| {
            letters.next().is_none() && (first.is_ascii_lowercase() || first.is_ascii_digit())
        });
        let mut symbols = listed.chain(letter.map(Keysym::from_char));
        symbols.find_map(|symbol| self.key_with(symbol, state.group))
    }

    /// A name for a key, for messages.
    pub(super) fn name(&self, code: KeyCode, state: State) -> String {
        let key = self.keys().find(|(known, _)| *known == code).map(|(_, key)| key);
        let Some(symbol) = key.and_then(|key| key.group(state.group).first().copied()) else {
            return number(code);
        };
        if let Some((name, _)) = NAMES.iter().find(|(_, named)| *named == symbol) {
            return (*name).to_owned();
        }
        match (typed(symbol), symbol.name().filter(|_| symbol != Keysym::NoSymbol)) {
            (Some(letter), _) => letter.to_string(),
            (None, Some(name)) => name.trim_start_matches("XK_").to_lowercase(),
            (None, None) => number(code),
        }
    }

    /// The strokes that type `character`: one, or a dead key and then the space bar. `None` when
    /// the layout has it on no key. What is locked, such as Caps Lock, is reckoned with.
    pub(super) fn strokes(&self, character: char, state: State) -> Option<Vec<Stroke>> {
        if let Some(symbol) = control(character) {
            let key = self.key_with(symbol, state.group)?;
            return Some(vec![Stroke { modifiers: Vec::new(), key }]);
        }
        if let Some(stroke) = self.stroke(state, |symbol| typed(symbol) == Some(character)) {
            return Some(vec![stroke]);
        }
        let (_, dead) = DEAD_KEYS.iter().find(|(stands_for, _)| *stands_for == character)?;
        let dead = self.stroke(state, |symbol| symbol == *dead)?;
        let space = self.stroke(state, |symbol| symbol == Keysym::space)?;
        Some(vec![dead, space])
    }

    /// The keys that mean nothing and could be lent to `characters`, one each, as far as they reach
    /// and up to a character that no key can type.
    pub(super) fn loans(&self, characters: &[char], state: State) -> Vec<Loan> {
        let typable = characters.iter().take_while(|character| !character.is_control());
        let loan = |(&character, key)| {
            let modifiers = self.shift_against_lock(character, state)?;
            Some(Loan { character, stroke: Stroke { modifiers, key } })
        };
        typable.zip(self.spare()).map_while(loan).collect()
    }

    /// Caps Lock turns a small letter into its capital, and shift turns that back.
    fn shift_against_lock(&self, character: char, state: State) -> Option<Vec<KeyCode>> {
        let symbol = Keysym::from_char(character);
        if !state.caps_lock() || capital(symbol) == symbol {
            return Some(Vec::new());
        }
        Some(vec![self.key_with(Keysym::Shift_L, state.group)?])
    }

    /// Keys without a symbol, those with the most neighbours of the kind first: neighbours change
    /// their meaning in one request.
    fn spare(&self) -> Vec<KeyCode> {
        let is_spare = |(code, key): &(KeyCode, &Key)| {
            key.symbols.iter().all(|symbol| *symbol == Keysym::NoSymbol)
                && !self.modifiers.iter().any(|(known, bits)| known == code && *bits != 0)
        };
        let spare: Vec<KeyCode> = self.keys().filter(is_spare).map(|(code, _)| code).collect();
        let mut runs: Vec<&[KeyCode]> = spare.chunk_by(|one, next| one.0 + 1 == next.0).collect();
        runs.sort_by_key(|run| std::cmp::Reverse(run.len()));
        runs.concat()
    }

    /// The keys that bring forth a symbol, with as few modifiers as can be.
    fn stroke(&self, state: State, is_it: impl Fn(Keysym) -> bool) -> Option<Stroke> {
        self.chords(state.group).into_iter().find_map(|(modifiers, bits)| {
            let bits = bits | state.modifiers;
            let brings = |key: &Key| self.symbol(key, state.group, bits).is_some_and(&is_it);
            let (key, _) = self.keys().find(|(_, key)| brings(key))?;
            Some(Stroke { modifiers, key })
        })
    }

    /// The ways to choose a level, the shortest first, and the modifiers each sets.
    fn chords(&self, group: usize) -> Vec<(Vec<KeyCode>, u8)> {
        let shifts = [Keysym::Shift_L, Keysym::ISO_Level3_Shift, Keysym::ISO_Level5_Shift];
        let mut chords = vec![(Vec::new(), 0)];
        for symbol in shifts {
            let key = self.key_with(symbol, group);
            let bits = key.and_then(|key| self.modifiers.iter().find(|(known, _)| *known == key));
            let Some(&(key, bits)) = bits else { continue };
            for (keys, set) in chords.clone() {
                chords.push((keys.into_iter().chain([key]).collect(), set | bits));
            }
        }
        chords.sort_by_key(|(keys, _)| keys.len());
        chords
    }

    /// What a key brings forth when `modifiers` are in effect.
    fn symbol(&self, key: &Key, group: usize, modifiers: u8) -> Option<Keysym> {
        let group = key.effective(group)?;
        let kind = self.types.get(usize::from(key.types[group]))?;
        let set = modifiers & kind.mask;
        let entry = kind.entries.iter().find(|(mods, ..)| *mods == set);
        let &(_, level, kept) = entry.unwrap_or(&(0, 0, 0));
        let symbol = *key.levels(group).get(usize::from(level))?;
        // A Lock the type does not use itself makes capitals.
        let is_used = kind.mask & LOCK & !kept != 0;
        Some(if modifiers & LOCK != 0 && !is_used { capital(symbol) } else { symbol })
    }

    /// The key that bears a symbol: in this group with as few modifiers as can be, else anywhere.
    fn key_with(&self, symbol: Keysym, group: usize) -> Option<KeyCode> {
        let levels = 0..self.keys.iter().map(|key| key.width).max().unwrap_or(0);
        let here = levels.clone().find_map(|level| {
            self.keys().find(|(_, key)| key.group(group).get(level) == Some(&symbol))
        });
        let anywhere = || self.keys().find(|(_, key)| key.symbols.contains(&symbol));
        here.or_else(anywhere).map(|(code, _)| code)
    }

    fn keys(&self) -> impl Iterator<Item = (KeyCode, &Key)> {
        (u32::from(self.first)..).map(KeyCode).zip(&self.keys)
    }
}

impl Key {
    /// The symbols of a group, by level; of the one that stands in when there is no such group.
    fn group(&self, group: usize) -> &[Keysym] {
        self.effective(group).map_or(&[], |group| self.levels(group))
    }

    fn levels(&self, group: usize) -> &[Keysym] {
        let start = group * self.width;
        self.symbols.get(start..start + self.width).unwrap_or_default()
    }

    /// The group in use when `group` is active, `None` for a key without any.
    fn effective(&self, group: usize) -> Option<usize> {
        let count = usize::from(self.group_info & 0x0f).min(self.types.len());
        if group < count || count == 0 {
            return Some(group).filter(|group| *group < count);
        }
        let redirect = usize::from(self.group_info >> 4 & 3);
        Some(match self.group_info & 0xc0 {
            0x40 => count - 1,
            0x80 if redirect < count => redirect,
            0x80 => 0,
            _ => group % count,
        })
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

/// The character a symbol types; none for those that only name a key.
fn typed(symbol: Keysym) -> Option<char> {
    let on_keypad = KEYPAD.contains(&symbol.raw());
    symbol.key_char().filter(|character| !on_keypad && !character.is_control())
}

pub(super) fn capital(symbol: Keysym) -> Keysym {
    let mut upper = typed(symbol).into_iter().flat_map(char::to_uppercase);
    match (upper.next(), upper.next()) {
        (Some(upper), None) => Keysym::from_char(upper),
        _ => symbol,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHIFT: u8 = 1;
    const LEVEL3: u8 = 1 << 7;

    /// Some keys as `setxkbmap de,us` maps them, and the modifiers.
    fn german() -> Keymap {
        use Keysym as K;
        let keys = vec![
            key(SEMIALPHABETIC, &[K::q, K::Q, K::at, K::Greek_OMEGA], &[K::q, K::Q]),
            key(FOUR, &[K::_7, K::slash, K::braceleft, K::NoSymbol], &[K::_7, K::ampersand]),
            key(FOUR_ALPHABETIC, &[K::a, K::A, K::ae, K::AE], &[K::a, K::A]),
            key(ONE, &[K::KP_1], &[]),
            key(ONE, &[K::Return], &[]),
            key(ONE, &[K::Shift_L], &[]),
            key(ONE, &[K::ISO_Level3_Shift], &[]),
            key(ONE, &[K::Control_R], &[]),
            key(ONE, &[K::Linefeed], &[]),
            key(ONE, &[K::space], &[]),
            key(TWO, &[K::dead_acute, K::dead_grave], &[K::equal, K::plus]),
            key(SEMIALPHABETIC, &[K::i, K::I, K::rightarrow, K::idotless], &[K::i, K::I]),
            Key::default(),
        ];
        let modifiers = vec![(KeyCode(15), SHIFT), (KeyCode(16), LEVEL3)];
        Keymap { first: 10, keys, types: types(), modifiers }
    }

    const ONE: u8 = 0;
    const TWO: u8 = 1;
    const ALPHABETIC: u8 = 2;
    const FOUR: u8 = 3;
    const FOUR_ALPHABETIC: u8 = 4;
    const SEMIALPHABETIC: u8 = 5;

    /// The types of xkeyboard-config, Alt and the like left out.
    fn types() -> Vec<KeyType> {
        let both = SHIFT | LEVEL3;
        let kind = |mask, entries: &[(u8, u8, u8)]| KeyType { mask, entries: entries.to_vec() };
        vec![
            kind(0, &[]),
            kind(SHIFT, &[(SHIFT, 1, 0)]),
            kind(SHIFT | LOCK, &[(SHIFT, 1, 0), (LOCK, 1, 0)]),
            kind(both, &[(SHIFT, 1, 0), (LEVEL3, 2, 0), (both, 3, 0)]),
            kind(
                both | LOCK,
                &[
                    (SHIFT, 1, 0),
                    (LOCK, 1, 0),
                    (LEVEL3, 2, 0),
                    (both, 3, 0),
                    (LOCK | LEVEL3, 3, 0),
                    (LOCK | both, 2, 0),
                ],
            ),
            kind(
                both | LOCK,
                &[
                    (SHIFT, 1, 0),
                    (LOCK, 1, 0),
                    (LEVEL3, 2, 0),
                    (both, 3, 0),
                    (LOCK | LEVEL3, 2, LOCK),
                    (LOCK | both, 3, LOCK),
                ],
            ),
        ]
    }

    /// A key with a German group of some type and, where it has letters, an American one.
    fn key(german: u8, first: &[Keysym], second: &[Keysym]) -> Key {
        let width = first.len();
        let second = second.iter().copied().chain(std::iter::repeat(Keysym::NoSymbol)).take(width);
        let groups = if second.clone().all(|symbol| symbol == Keysym::NoSymbol) { 1 } else { 2 };
        let american = if german == FOUR || german == TWO { TWO } else { ALPHABETIC };
        let symbols = first.iter().copied().chain(second).collect();
        Key { group_info: groups, types: [german, american, 0, 0], width, symbols }
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
            ('æ', true, Some(vec![SHIFT, ALTGR, 12])),
            ('Æ', false, Some(vec![SHIFT, ALTGR, 12])),
            ('Ω', false, Some(vec![SHIFT, ALTGR, 10])),
            ('`', false, Some(vec![SHIFT, 20, 19])),
            ('^', false, None),
            ('´', false, None),
            ('ı', false, Some(vec![SHIFT, ALTGR, 21])),
            ('ı', true, None),
            ('\n', false, Some(vec![14])),
            ('\t', false, None),
            ('1', false, None),
            ('\r', false, None),
            ('é', false, None),
        ] {
            let modifiers = if caps_lock { LOCK } else { 0 };
            let strokes = german().strokes(character, State { group: 0, modifiers });
            let pressed = strokes.map(|strokes| {
                let keys = strokes
                    .into_iter()
                    .flat_map(|stroke| stroke.modifiers.into_iter().chain([stroke.key]));
                keys.map(|code| code.0).collect::<Vec<_>>()
            });
            assert_eq!(pressed, keys, "{character:?} caps lock {caps_lock}");
        }
        for (group, character, key) in [
            (1, 'q', Some(10)),
            (1, '@', None),
            (1, '&', Some(11)),
            (2, '/', Some(11)),
            (3, '&', Some(11)),
        ] {
            let strokes = german().strokes(character, State { group, modifiers: 0 });
            let last = strokes.map(|strokes| strokes[0].key.0);
            assert_eq!(last, key, "{character} in group {group}");
        }
    }

    #[test]
    fn keys_that_mean_nothing_are_lent_to_what_the_layout_lacks() {
        let map = german();
        let locked = State { group: 0, modifiers: LOCK };
        let shift = vec![KeyCode(15)];
        for (characters, state, loans) in [
            (&['ж', '你'][..], State::default(), vec![('ж', vec![])]),
            (&['ж'], locked, vec![('ж', shift)]),
            (&['Ж'], locked, vec![('Ж', vec![])]),
            (&['你'], locked, vec![('你', vec![])]),
            (&['\u{7}', 'ж'], State::default(), vec![]),
        ] {
            let stroke = |modifiers| Stroke { modifiers, key: KeyCode(22) };
            let loans: Vec<Loan> = loans
                .into_iter()
                .map(|(character, modifiers)| Loan { character, stroke: stroke(modifiers) })
                .collect();
            assert_eq!(map.loans(characters, state), loans, "{characters:?}");
        }
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
            assert_eq!(map.named(name, State::default()), code.map(KeyCode), "{name}");
            if let Some(code) = code {
                assert_eq!(map.name(KeyCode(code), State::default()), back);
            }
        }
        assert_eq!(map.name(KeyCode(16), State::default()), "iso_level3_shift");
        assert_eq!(map.name(KeyCode(99), State::default()), "key 99");
    }
}
