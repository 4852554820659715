//! Conditions as words: `appears done.png --hold 200ms`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, ValueEnum};

use crate::error::{Error, Result};
use crate::front::duration::parse_duration;
use crate::front::pictures::{keep_inputs, read_input};
use crate::geometry::Rect;
use crate::report::{DiffOptions, Preset};
use crate::wait::Condition;

use super::args::CompareArgs;
use super::output::one_line;

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Name {
    /// Nothing moves any more; a blinking caret is no motion.
    Stable,
    /// Something differs from the first look and stays so.
    Changed,
    /// The surface, or the region, looks like PNG.
    Matches,
    /// PNG is seen anywhere in scope.
    Appears,
    /// PNG is seen nowhere in scope.
    Gone,
}

impl Name {
    /// The condition of this name with its defaults.
    ///
    /// # Errors
    /// When the picture cannot be read, or `out` would replace it.
    pub(super) fn condition(
        self,
        picture: Option<&PathBuf>,
        out: Option<&Path>,
    ) -> Result<Condition> {
        Ok(match (self, picture) {
            (Self::Stable, None) => Condition::stable(),
            (Self::Changed, None) => Condition::changed(),
            (Self::Matches, Some(path)) => Condition::matches(read_input(out, path)?),
            (Self::Appears, Some(path)) => Condition::appears(read_input(out, path)?),
            (Self::Gone, Some(path)) => Condition::gone(read_input(out, path)?),
            (Self::Stable | Self::Changed, Some(path)) => {
                return Err(Error::usage(format!(
                    "the picture {} is one too many: stable and changed take none",
                    path.display()
                )));
            }
            (Self::Matches | Self::Appears | Self::Gone, None) => {
                return Err(Error::usage(
                    "matches, appears and gone need a picture, such as `appears done.png`",
                ));
            }
        })
    }
}

/// One of several conditions, with what it has of its own; the rest is that of the command.
#[derive(Debug, Parser)]
#[command(name = "--any", no_binary_name = true, disable_help_flag = true)]
struct AnyWords {
    #[arg(value_enum, value_name = "CONDITION")]
    condition: Name,
    #[arg(value_name = "PNG")]
    picture: Option<PathBuf>,
    #[command(flatten)]
    own: OwnArgs,
}

#[derive(Debug, Args)]
struct OwnArgs {
    #[arg(long, allow_hyphen_values = true)]
    region: Vec<Rect>,
    #[arg(long, allow_hyphen_values = true)]
    ignore: Vec<Rect>,
    #[arg(long)]
    mask: Option<PathBuf>,
    #[arg(long, value_parser = parse_duration, allow_hyphen_values = true)]
    timeout: Option<Duration>,
    #[arg(long, value_parser = parse_duration, allow_hyphen_values = true)]
    hold: Option<Duration>,
    #[arg(long, allow_hyphen_values = true)]
    captures: Option<u32>,
    #[arg(long)]
    require_seen: bool,
    #[arg(long)]
    ignore_periodic: bool,
}

/// The condition that `words`, the value of one `--any`, mean. `set` gives it what the command
/// says for all; its own words go before. A scope of its own takes the place of the command's.
pub(super) fn from_words(
    words: &str,
    compare: &CompareArgs,
    out: Option<&Path>,
    set: impl Fn(Condition) -> Condition,
) -> Result<Condition> {
    let told = |error: Error| error.context(format!("--any '{words}'"));
    read(words, compare, out, set).map_err(told)
}

fn read(
    words: &str,
    compare: &CompareArgs,
    out: Option<&Path>,
    set: impl Fn(Condition) -> Condition,
) -> Result<Condition> {
    let parsed = AnyWords::try_parse_from(split(words)?)
        .map_err(|error| Error::usage(one_line(&error.render().to_string())))?;
    let AnyWords { condition, picture, own } = parsed;
    let mut condition = set(condition.condition(picture.as_ref(), out)?).label(words.trim());
    if let Some(diff) = own.diff(compare, out)? {
        condition = condition.diff(diff);
    }
    if let Some(timeout) = own.timeout {
        condition = condition.timeout(timeout);
    }
    if let Some(hold) = own.hold {
        condition = condition.hold(hold);
    }
    if let Some(captures) = own.captures {
        condition = condition.captures(captures);
    }
    if own.require_seen {
        condition = condition.require_seen(true);
    }
    if own.ignore_periodic {
        condition = condition.ignore_periodic(true);
    }
    Ok(condition)
}

impl OwnArgs {
    /// How frames are compared where the condition has a scope of its own.
    fn diff(&self, compare: &CompareArgs, out: Option<&Path>) -> Result<Option<DiffOptions>> {
        keep_inputs(out, self.mask.as_deref())?;
        if self.region.is_empty() && self.ignore.is_empty() && self.mask.is_none() {
            return Ok(None);
        }
        let own = CompareArgs {
            region: self.region.clone(),
            ignore: self.ignore.clone(),
            mask: self.mask.clone(),
            ..compare.clone()
        };
        own.options(Preset::Live).map(Some)
    }
}

/// Words as in a shell: apart by blanks, which quotes and a backslash keep together.
fn split(text: &str) -> Result<Vec<String>> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (letter, Some(open)) if letter == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            ('\\', None | Some('"')) => {
                let kept = letters.next().ok_or_else(|| unfinished("a backslash"))?;
                word.get_or_insert_default().push(kept);
            }
            (blank, None) if blank.is_whitespace() => words.extend(word.take()),
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    if quote.is_some() { Err(unfinished("an open quote")) } else { Ok(words) }
}

fn unfinished(what: &str) -> Error {
    Error::usage(format!("the words end in {what}: close it, or put it in quotes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_in_a_shell() {
        for (text, words) in [
            ("", &[][..]),
            ("  changed ", &["changed"]),
            ("appears done.png", &["appears", "done.png"]),
            ("appears 'all done.png' --hold 2s", &["appears", "all done.png", "--hold", "2s"]),
            (r#"gone "a \"b\".png""#, &["gone", r#"a "b".png"#]),
            (r"gone a\ b.png", &["gone", "a b.png"]),
            (r"gone 'a\b.png'", &["gone", r"a\b.png"]),
            ("gone a'b'\"c\"", &["gone", "abc"]),
            ("gone ''", &["gone", ""]),
        ] {
            assert_eq!(split(text).unwrap(), words, "{text}");
        }
        for text in ["gone 'a", "gone \"a", "gone a\\"] {
            assert!(split(text).unwrap_err().to_string().contains("the words end in"), "{text}");
        }
    }
}
