//! Window titles by pattern.

use std::fmt;

/// A pattern for a whole title: `*` stands for any run of characters, `?` for one; upper and lower
/// case are one.
///
/// ```
/// use seechange::act::Glob;
/// let glob = Glob::new("*notes*");
/// assert!(glob.matches("My Notes - Editor") && !glob.matches("Mail"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// The pattern of a text.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    /// Whether all of `title` is such a one.
    #[must_use]
    pub fn matches(&self, title: &str) -> bool {
        let lower = |text: &str| text.to_lowercase().chars().collect::<Vec<_>>();
        matches(&lower(&self.0), &lower(title))
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Goes back to the last `*` alone: the time is at most the product of the lengths.
fn matches(pattern: &[char], title: &[char]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star = None;
    while t < title.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&letter) if letter == '?' || letter == title[t] => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((at, from)) = star else { return false };
                (p, t) = (at + 1, from + 1);
                star = Some((at, t));
            }
        }
    }
    pattern[p..].iter().all(|&letter| letter == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, title, does) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "anything", true),
            ("notes", "Notes", true),
            ("notes", "notes.txt", false),
            ("notes*", "notes.txt", true),
            ("*.txt", "a.txt.txt", true),
            ("*a*b*c", "xaxxbxcxc", true),
            ("*a*b*c", "xaxxcxb", false),
            ("n?tes", "nötes", true),
            ("n?tes", "ntes", false),
            ("**a", "ba", true),
            ("ÉTÉ*", "été 1", true),
        ] {
            assert_eq!(Glob::new(pattern).matches(title), does, "{pattern} {title}");
        }
        let slow = Glob::new(format!("{}b", "a*".repeat(50)));
        assert!(!slow.matches(&"a".repeat(2000)));
    }
}
