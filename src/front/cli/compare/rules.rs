//! Rules by path, from a TOML file.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use globset::{GlobBuilder, GlobMatcher};
use serde::de::{Deserialize, Deserializer, Error as _};

use crate::diff::{Antialiasing, Tolerance};
use crate::error::{Error, Result};
use crate::frame::read_file;
use crate::geometry::Rect;
use crate::golden::folders::PairVerdict;
use crate::report::Preset;

use super::super::args::CompareArgs;
use super::{FoldersArgs, Way, allowed};

/// The largest file that is read: 1 MiB.
const MAX_BYTES: u64 = 1 << 20;

/// The rules of a file in their order. All that match a path are in force, and where two say
/// something different the later one wins.
pub(super) struct Rules {
    rules: Vec<Rule>,
    text: String,
}

struct Rule {
    matchers: Vec<GlobMatcher>,
    table: Table,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<Table>,
}

/// One `[[rule]]`.
#[derive(Clone, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(deserialize_with = "globs")]
    path: Vec<String>,
    #[serde(default, deserialize_with = "parsed")]
    preset: Option<Preset>,
    #[serde(default, deserialize_with = "parsed")]
    tolerance: Option<Tolerance>,
    #[serde(default, deserialize_with = "parsed")]
    antialiasing: Option<Antialiasing>,
    max_changed_pixels: Option<u64>,
    common_part: Option<bool>,
    #[serde(default, deserialize_with = "all_parsed")]
    region: Vec<Rect>,
    #[serde(default, deserialize_with = "all_parsed")]
    ignore: Vec<Rect>,
    mask: Option<PathBuf>,
    skip: Option<bool>,
    #[serde(default, deserialize_with = "verdicts")]
    allow: Vec<PairVerdict>,
}

#[derive(serde::Deserialize)]
#[serde(untagged, expecting = "a glob or a list of globs")]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl Rules {
    /// No rules without a file.
    ///
    /// # Errors
    /// When the file cannot be read or understood; the message says in which line.
    pub(super) fn read(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self { rules: Vec::new(), text: String::new() }) };
        let read = || {
            let text = String::from_utf8(read_file(path, MAX_BYTES)?)
                .map_err(|error| Error::file("is no text (UTF-8)").with_source(error))?;
            Self::parse(text, path.parent().unwrap_or(Path::new("")))
        };
        read().map_err(|error| error.context(path.display()))
    }

    fn parse(text: String, folder: &Path) -> Result<Self> {
        let file: File = toml::from_str(&text).map_err(|error| wrong(&text, &error))?;
        let rule = |mut table: Table| -> Result<Rule> {
            let matchers = table.path.iter().map(|glob| matcher(glob)).collect::<Result<_>>()?;
            table.mask = table.mask.map(|mask| folder.join(mask));
            Ok(Rule { matchers, table })
        };
        let rules = file.rule.into_iter().map(rule).collect::<Result<_>>()?;
        Ok(Self { rules, text })
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.rules.len()
    }

    /// The text they were read from.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Those that match a path, in their order.
    pub(super) fn matching(&self, path: &Path) -> Vec<usize> {
        let matches = |rule: &Rule| rule.matchers.iter().any(|glob| glob.is_match(path));
        (0..self.rules.len()).filter(|&at| matches(&self.rules[at])).collect()
    }

    pub(super) fn skips(&self, rules: &[usize]) -> bool {
        self.tables(rules).filter_map(|table| table.skip).next_back().unwrap_or_default()
    }

    /// How pairs are compared for which `rules` are in force.
    pub(super) fn way(&self, rules: &[usize], args: &FoldersArgs) -> Result<Way> {
        let (mut compare, mut common_part) = (args.compare.clone(), args.common_part);
        let mut allowed = args.allow.clone();
        for table in self.tables(rules) {
            table.apply(&mut compare);
            common_part = table.common_part.unwrap_or(common_part);
            allowed.extend(&table.allow);
        }
        let globs: Vec<&str> =
            self.tables(rules).flat_map(|table| &table.path).map(String::as_str).collect();
        let globs = (!globs.is_empty()).then(|| globs.join(", "));
        let options = compare.options(Preset::Golden)?.common_part(common_part);
        Ok(Way { options, globs, allowed })
    }

    /// The globs of every rule that matched nothing.
    pub(super) fn unused(&self, is_used: &[bool]) -> Vec<String> {
        let unused = self.rules.iter().zip(is_used).filter(|(_, is_used)| !**is_used);
        unused.map(|(rule, _)| rule.table.path.join(", ")).collect()
    }

    fn tables(&self, rules: &[usize]) -> impl DoubleEndedIterator<Item = &Table> {
        rules.iter().map(|&at| &self.rules[at].table)
    }
}

impl Table {
    fn apply(&self, compare: &mut CompareArgs) {
        if self.preset.is_some() {
            // A preset is a set of rules: those the command or a rule before asked for go.
            (compare.preset, compare.tolerance, compare.antialiasing) = (self.preset, None, None);
        }
        compare.tolerance = self.tolerance.or(compare.tolerance);
        compare.antialiasing = self.antialiasing.or(compare.antialiasing);
        compare.max_changed_pixels = self.max_changed_pixels.unwrap_or(compare.max_changed_pixels);
        compare.region.extend(&self.region);
        compare.ignore.extend(&self.ignore);
        if self.mask.is_some() {
            compare.mask.clone_from(&self.mask);
        }
    }
}

fn matcher(glob: &str) -> Result<GlobMatcher> {
    let built = GlobBuilder::new(glob).literal_separator(true).backslash_escape(true).build();
    built.map(|glob| glob.compile_matcher()).map_err(|error| {
        Error::usage(format!("path '{glob}' is no glob: {}", error.kind())).with_source(error)
    })
}

/// The parser's message in one line, with the line it is about.
fn wrong(text: &str, error: &toml::de::Error) -> Error {
    let message = error.message().replace('\n', " ");
    let line =
        error.span().map(|span| 1 + text[..span.start.min(text.len())].matches('\n').count());
    Error::usage(match line {
        Some(line) => format!("line {line}: {message}"),
        None => message,
    })
}

/// At least one, and none that is empty: such a rule would match nothing.
fn globs<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let globs = match OneOrMore::deserialize(from)? {
        OneOrMore::One(glob) => vec![glob],
        OneOrMore::More(globs) => globs,
    };
    match globs.is_empty() || globs.iter().any(String::is_empty) {
        true => Err(D::Error::custom("path is empty: ** is every picture")),
        false => Ok(globs),
    }
}

fn parsed<'de, D: Deserializer<'de>, T>(from: D) -> Result<Option<T>, D::Error>
where
    T: FromStr,
    T::Err: Display,
{
    String::deserialize(from)?.parse().map(Some).map_err(D::Error::custom)
}

fn all_parsed<'de, D: Deserializer<'de>, T>(from: D) -> Result<Vec<T>, D::Error>
where
    T: FromStr,
    T::Err: Display,
{
    let texts = Vec::<String>::deserialize(from)?;
    texts.iter().map(|text| text.parse().map_err(D::Error::custom)).collect()
}

fn verdicts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PairVerdict>, D::Error> {
    let texts = Vec::<String>::deserialize(from)?;
    texts.iter().map(|text| allowed(text).map_err(D::Error::custom)).collect()
}
