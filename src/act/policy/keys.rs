//! Chords, and patterns for them.

use std::fmt;
use std::str::FromStr;

use super::super::action::{Action, Text};
use super::super::keys::{Key, Modifier, Modifiers};
use super::super::refusal::Refusal;

/// Keys that are down together: some modifiers and a key, or modifiers alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chord {
    modifiers: Vec<Modifier>,
    key: Option<Key>,
    /// By an action that names keys, not as part of a text or around a click.
    pub(super) is_pressed_by_name: bool,
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let modifiers = self.modifiers.iter().map(|modifier| modifier.name());
        let names: Vec<&str> = modifiers.chain(self.key.map(Key::name)).collect();
        f.write_str(&names.join("+"))
    }
}

/// The chords an action presses, those of the actions inside it left out.
pub(super) fn chords(action: &Action) -> Vec<Chord> {
    match action {
        Action::Key { key, modifiers } | Action::Hotkey { key, modifiers } => {
            vec![Chord::named(modifiers, Some(*key))]
        }
        Action::SelectAll => vec![Chord::named(&Modifiers::one(Modifier::Ctrl), Some(Key::A))],
        Action::Hold(hold) if hold.keys.is_empty() => vec![Chord::named(&hold.modifiers, None)],
        Action::Hold(hold) => {
            hold.keys.iter().map(|&key| Chord::named(&hold.modifiers, Some(key))).collect()
        }
        Action::TypeText { text, .. } => typed(text),
        Action::Paste { text } => pasted(text),
        Action::Click { modifiers, .. }
        | Action::RightClick { modifiers, .. }
        | Action::DoubleClick { modifiers, .. } => around(modifiers),
        Action::Drag(drag) => around(&drag.modifiers),
        Action::Element(asked) => asked.modifiers().map(around).unwrap_or_default(),
        _ => Vec::new(),
    }
}

impl Chord {
    fn named(modifiers: &Modifiers, key: Option<Key>) -> Self {
        Self { modifiers: modifiers.as_slice().to_vec(), key, is_pressed_by_name: true }
    }
}

/// The keys of a text that do more than write a letter.
fn typed(text: &Text) -> Vec<Chord> {
    let has = |letters: &[char]| text.as_str().contains(letters);
    let keys = [(Key::RETURN, has(&['\n', '\r'])), (Key::TAB, has(&['\t']))];
    let keys = keys.into_iter().filter(|(_, is_typed)| *is_typed);
    let chord = |(key, _)| Chord { modifiers: vec![], key: Some(key), is_pressed_by_name: false };
    keys.map(chord).collect()
}

/// A program takes a line break that is pasted much as one that is typed.
fn pasted(text: &Text) -> Vec<Chord> {
    let paste = Chord {
        modifiers: vec![Modifier::Shift],
        key: Some(Key::INSERT),
        is_pressed_by_name: false,
    };
    std::iter::once(paste).chain(typed(text)).collect()
}

fn around(modifiers: &Modifiers) -> Vec<Chord> {
    let modifiers = modifiers.as_slice().to_vec();
    let is_some = !modifiers.is_empty();
    is_some
        .then_some(Chord { modifiers, key: None, is_pressed_by_name: false })
        .into_iter()
        .collect()
}

/// A pattern for chords: modifiers, then a key or `*` for any key and for none, joined by `+`.
///
/// ```
/// use seechange::act::KeyPattern;
/// for text in ["alt+f4", "ctrl+alt+delete", "super+*", "F1", "*"] {
///     text.parse::<KeyPattern>()?;
/// }
/// assert!("f4+alt".parse::<KeyPattern>().is_err());
/// # Ok::<(), seechange::act::Refusal>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPattern {
    modifiers: Modifiers,
    /// `None` for any.
    key: Option<Key>,
}

impl KeyPattern {
    /// Whether `chord` is one of it and holds nothing else.
    pub(super) fn is(&self, chord: &Chord) -> bool {
        self.is_part_of(chord) && self.modifiers.as_slice().len() == chord.modifiers.len()
    }

    /// Whether `chord` is one of it, whatever other modifiers it holds.
    pub(super) fn is_part_of(&self, chord: &Chord) -> bool {
        let mut wanted = self.modifiers.as_slice().iter();
        let has_key = self.key.is_none() || self.key == chord.key;
        has_key && wanted.all(|modifier| chord.modifiers.contains(modifier))
    }
}

impl FromStr for KeyPattern {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let mut words: Vec<&str> = text.split('+').map(str::trim).collect();
        let key = match words.pop() {
            Some("*") => None,
            Some("insert") => Some(Key::INSERT),
            Some(word) => Some(word.parse()?),
            None => None,
        };
        let modifiers = words.into_iter().map(str::parse).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { modifiers: Modifiers::new(modifiers)?, key })
    }
}

impl fmt::Display for KeyPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for modifier in self.modifiers.as_slice() {
            write!(f, "{}+", modifier.name())?;
        }
        f.write_str(self.key.map_or("*", Key::name))
    }
}
