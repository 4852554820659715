//! `seechange.compare/1`: written, and read back to be merged and accepted.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::golden::folders::{PairVerdict, Shard};

const SCHEMA: &str = "seechange.compare/1";

/// Two folders compared.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    schema: String,
    /// The folder of the golden pictures, as it was called.
    pub(crate) base: String,
    /// The folder of the actual pictures, as it was called.
    pub(crate) actual: String,
    /// The part of the pairs this is of.
    pub(crate) shard: Option<ShardOf>,
    /// What the command was asked to do.
    pub(crate) options: Value,
    pub(crate) elapsed_ms: u64,
    pub(crate) totals: Totals,
    /// What a reader should know beside the rows.
    #[serde(default)]
    pub(crate) remarks: Vec<String>,
    /// The globs of rules that match no path, of all parts of the comparison.
    #[serde(default)]
    pub(crate) unused_rules: Vec<String>,
    /// In the order of their paths.
    pub(crate) rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShardOf {
    pub(crate) index: u32,
    pub(crate) count: u32,
}

/// How many rows there are of each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Totals {
    pub(crate) pairs: u64,
    pub(crate) same: u64,
    pub(crate) changed: u64,
    pub(crate) resized: u64,
    pub(crate) added: u64,
    pub(crate) removed: u64,
    pub(crate) unreadable: u64,
    /// Those that are not `same` and allowed.
    pub(crate) allowed: u64,
    /// Those that are neither `same` nor allowed.
    pub(crate) failing: u64,
    /// Pairs that a rule left out; they have no row.
    #[serde(default)]
    pub(crate) skipped: u64,
}

/// One pair.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) number: usize,
    pub(crate) path: String,
    /// The bytes of the path in hexadecimal, where it is no text: `path` spells them `\xff`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) path_bytes: Option<String>,
    #[serde(serialize_with = "write_verdict", deserialize_with = "read_verdict")]
    pub(crate) verdict: PairVerdict,
    pub(crate) allowed: bool,
    pub(crate) identical_bytes: bool,
    pub(crate) sentence: String,
    pub(crate) error: Option<RowError>,
    /// The globs of the rules in force.
    pub(crate) rule: Option<String>,
    /// `seechange.diff/1`.
    pub(crate) diff: Option<Value>,
    pub(crate) files: Files,
    pub(crate) diff_picture: Option<String>,
    /// What the golden file held when it was compared, whatever that was; none where there is none
    /// or it could not be read.
    #[serde(default)]
    pub(crate) golden_sha256: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RowError {
    /// `before` or `actual`.
    pub(crate) side: String,
    pub(crate) kind: String,
    pub(crate) message: String,
}

/// The copies in the folder of the report.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Files {
    pub(crate) before: Option<FileCopy>,
    pub(crate) actual: Option<FileCopy>,
}

/// A file as it was, and a picture of it that browsers show.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FileCopy {
    pub(crate) path: String,
    pub(crate) shown: String,
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl Report {
    pub(crate) fn new(base: String, actual: String, options: Value, rows: Vec<Row>) -> Self {
        let schema = SCHEMA.to_owned();
        let totals = Totals::of(&rows);
        Self {
            schema,
            base,
            actual,
            shard: None,
            options,
            elapsed_ms: 0,
            totals,
            remarks: Vec::new(),
            unused_rules: Vec::new(),
            rows,
        }
    }

    /// # Errors
    /// When `text` is no report of this schema; the message says why.
    pub(crate) fn read(text: &[u8]) -> Result<Self> {
        let wrong = |error: serde_json::Error| {
            Error::file(format!("is no report of `seechange compare`: {error}"))
        };
        let value: Value = serde_json::from_slice(text).map_err(wrong)?;
        let schema = value["schema"].as_str().unwrap_or("none");
        if schema != SCHEMA {
            return Err(Error::file(format!(
                "is no report of `seechange compare`: its schema is {schema:.60}, not {SCHEMA}"
            )));
        }
        serde_json::from_value(value).map_err(wrong)
    }

    pub(crate) fn json(&self) -> Value {
        // Strings and numbers: there is nothing that cannot be written.
        serde_json::to_value(self).unwrap_or_default()
    }

    /// 0 when no row fails, 2 when one that does cannot be read, otherwise 1.
    pub(crate) fn exit_code(&self) -> u8 {
        let failing = || self.rows.iter().filter(|row| row.is_failing());
        let is_trouble = failing().any(|row| row.verdict == PairVerdict::Unreadable);
        if is_trouble { 2 } else { u8::from(failing().next().is_some()) }
    }
}

impl Row {
    /// Whether it makes the command fail.
    pub(crate) fn is_failing(&self) -> bool {
        self.verdict != PairVerdict::Same && !self.allowed
    }
}

impl Totals {
    fn of(rows: &[Row]) -> Self {
        let mut totals = Self::default();
        for row in rows {
            totals.pairs += 1;
            *totals.count_mut(row.verdict) += 1;
            totals.failing += u64::from(row.is_failing());
            totals.allowed += u64::from(row.verdict != PairVerdict::Same && row.allowed);
        }
        totals
    }

    fn count_mut(&mut self, verdict: PairVerdict) -> &mut u64 {
        match verdict {
            PairVerdict::Same => &mut self.same,
            PairVerdict::Changed => &mut self.changed,
            PairVerdict::Resized => &mut self.resized,
            PairVerdict::Added => &mut self.added,
            PairVerdict::Removed => &mut self.removed,
            PairVerdict::Unreadable => &mut self.unreadable,
        }
    }
}

impl From<Shard> for ShardOf {
    fn from(shard: Shard) -> Self {
        Self { index: shard.index(), count: shard.count() }
    }
}

fn write_verdict<S: Serializer>(verdict: &PairVerdict, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(verdict.name())
}

fn read_verdict<'de, D: Deserializer<'de>>(from: D) -> Result<PairVerdict, D::Error> {
    String::deserialize(from)?.parse().map_err(D::Error::custom)
}
