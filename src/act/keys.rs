//! The names of keys and modifiers, with the spellings people use.

use std::fmt;
use std::str::FromStr;

use super::refusal::{Refusal, RefusalKind, quoted};

/// A key that can be pressed on its own, by its name in the action contract.
///
/// A letter is the physical key: `A` and `a` are the same one, and neither holds shift.
///
/// ```
/// use seechange::act::Key;
/// for spelling in ["return", "Enter", "RETURN"] {
///     assert_eq!(spelling.parse::<Key>()?.name(), "return");
/// }
/// # Ok::<(), seechange::act::Refusal>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(&'static str);

const CHARACTERS: &str = "abcdefghijklmnopqrstuvwxyz0123456789";

/// Names of the contract, each with other spellings after [`normal`].
const NAMED: [(&str, &[&str]); 26] = [
    ("return", &["enter"]),
    ("tab", &[]),
    ("escape", &["esc"]),
    ("space", &["spacebar", " "]),
    ("backspace", &["bksp"]),
    ("delete", &["del"]),
    ("up", &["arrowup", "uparrow"]),
    ("down", &["arrowdown", "downarrow"]),
    ("left", &["arrowleft", "leftarrow"]),
    ("right", &["arrowright", "rightarrow"]),
    ("home", &[]),
    ("end", &[]),
    ("pageup", &["pgup", "prior"]),
    ("pagedown", &["pgdn", "pgdown", "next"]),
    ("f1", &[]),
    ("f2", &[]),
    ("f3", &[]),
    ("f4", &[]),
    ("f5", &[]),
    ("f6", &[]),
    ("f7", &[]),
    ("f8", &[]),
    ("f9", &[]),
    ("f10", &[]),
    ("f11", &[]),
    ("f12", &[]),
];

impl Key {
    /// The key `a`, for select-all.
    pub(super) const A: Self = Self("a");
    /// What a line break in a text presses.
    pub(super) const RETURN: Self = Self("return");
    /// What a tab in a text presses.
    pub(super) const TAB: Self = Self("tab");
    /// What pastes, with shift. No action presses it by name.
    pub(super) const INSERT: Self = Self("insert");

    /// The name in the action contract, in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl FromStr for Key {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let word = normal(text);
        if let Some(at) = CHARACTERS.find(&word).filter(|_| word.len() == 1) {
            return Ok(Self(&CHARACTERS[at..=at]));
        }
        let named = NAMED.iter().find(|(name, others)| *name == word || others.contains(&&*word));
        match named {
            Some((name, _)) => Ok(Self(name)),
            None if text.parse::<Modifier>().is_ok() => Err(Refusal::bad_value(format!(
                "{} is a modifier, not a key: put it before the key or in modifiers",
                quoted(text)
            ))),
            None => Err(Refusal::new(
                RefusalKind::BadValue,
                format!(
                    "there is no key {}: use a letter, a digit, return, tab, escape, space, \
                     backspace, delete, up, down, left, right, home, end, pageup, pagedown or \
                     f1 to f12; type_text types anything else",
                    quoted(text)
                ),
            )),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A key that is held while another one or a button is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modifier {
    /// Control.
    Ctrl,
    /// Shift.
    Shift,
    /// Alt (Option).
    Alt,
    /// Super (Windows, Command).
    Super,
}

impl Modifier {
    /// The name in the action contract: `ctrl`, `shift`, `alt` or `super`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ctrl => "ctrl",
            Self::Shift => "shift",
            Self::Alt => "alt",
            Self::Super => "super",
        }
    }
}

impl FromStr for Modifier {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        match normal(text).as_str() {
            "ctrl" | "control" | "ctl" | "controll" | "controlr" => Ok(Self::Ctrl),
            "shift" | "shiftl" | "shiftr" => Ok(Self::Shift),
            "alt" | "option" | "opt" | "altl" => Ok(Self::Alt),
            "super" | "win" | "windows" | "cmd" | "command" | "meta" | "superl" => Ok(Self::Super),
            _ => Err(Refusal::bad_value(format!(
                "there is no modifier {}: use ctrl, shift, alt or super",
                quoted(text)
            ))),
        }
    }
}

/// Modifiers in the order they are pressed, each at most once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Modifiers(Vec<Modifier>);

impl Modifiers {
    /// No modifier.
    #[must_use]
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Modifiers pressed in this order and released in reverse.
    ///
    /// # Errors
    /// When one stands there twice.
    pub fn new(modifiers: impl IntoIterator<Item = Modifier>) -> Result<Self, Refusal> {
        let mut unique = Vec::new();
        for modifier in modifiers {
            if unique.contains(&modifier) {
                let name = modifier.name();
                return Err(Refusal::bad_value(format!("the modifier {name} stands there twice")));
            }
            unique.push(modifier);
        }
        Ok(Self(unique))
    }

    /// One modifier.
    #[must_use]
    pub fn one(modifier: Modifier) -> Self {
        Self(vec![modifier])
    }

    /// The modifiers in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Modifier] {
        &self.0
    }
}

/// Lower case, without the signs that part words: `Page_Down` is `pagedown`.
fn normal(text: &str) -> String {
    if text == " " {
        return text.to_owned();
    }
    text.chars().filter(|c| !"_- ".contains(*c)).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_spellings_are_one_key() {
        for (spellings, name) in [
            (&["return", "Enter", "ENTER", "Return"][..], "return"),
            (&["esc", "Escape", "Esc"], "escape"),
            (&["ArrowDown", "down", "Down", "arrow_down"], "down"),
            (&["PageUp", "page_up", "Page-Up", "pgup", "Prior"], "pageup"),
            (&[" ", "Space", "spacebar"], "space"),
            (&["A", "a"], "a"),
            (&["7"], "7"),
            (&["F12"], "f12"),
        ] {
            for spelling in spellings {
                assert_eq!(spelling.parse::<Key>().unwrap().name(), name, "{spelling}");
            }
        }
        for spelling in ["Ctrl", "Control", "control_l", "CTRL"] {
            assert_eq!(spelling.parse::<Modifier>().unwrap(), Modifier::Ctrl, "{spelling}");
        }
        for spelling in ["win", "cmd", "Command", "Meta", "super"] {
            assert_eq!(spelling.parse::<Modifier>().unwrap(), Modifier::Super, "{spelling}");
        }
    }

    #[test]
    fn what_is_no_key_says_what_is() {
        for (text, part) in [
            ("", "there is no key ''"),
            ("f13", "there is no key 'f13': use a letter"),
            ("é", "there is no key of 1 characters"),
            ("ab", "there is no key 'ab'"),
            ("ctrl", "'ctrl' is a modifier, not a key"),
            ("my secret, typed as a key", "there is no key of 25 characters"),
        ] {
            let message = text.parse::<Key>().unwrap_err().to_string();
            assert!(message.starts_with(part), "{message}");
        }
    }
}
