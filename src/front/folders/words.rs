//! A report in a few lines for a terminal, and by which rows to look at first.

use std::cmp::Ordering;
use std::path::Path;

use crate::error::Shown;
use crate::front::wire::compare::{Report, Row, Totals};
use crate::golden::folders::{PairVerdict, spelled_path};

use super::accept::accepted_by;

/// The most rows that get a line.
const MAX_LISTED: usize = 10;

/// One line of totals, the worst rows, what to know beside them, and where the report is. No line
/// break at the end.
pub(crate) fn words(report: &Report, out: Option<&Path>) -> String {
    let rows = worst_first(report);
    let mut lines = vec![summary(&report.totals)];
    lines.extend(rows.iter().take(MAX_LISTED).map(|row| line(row)));
    if let Some(more) = rows.len().checked_sub(MAX_LISTED).filter(|more| *more > 0) {
        lines.push(format!("  and {more} more"));
    }
    lines.extend(report.remarks.iter().cloned());
    if let Some(out) = out {
        let out = spelled_path(out);
        let page = format!("{out}/index.html");
        let command = accepted_by(report).map(str::to_owned);
        let command = command.unwrap_or_else(|| format!("seechange accept {} PATHS", Shown(&out)));
        lines.push(match rows.is_empty() {
            true => format!("Report: {}", Shown(&page)),
            false => {
                format!("Report: {}; what is right becomes golden with: {command}", Shown(&page))
            }
        });
    }
    lines.join("\n")
}

/// `12 pairs: 9 same, 2 changed, 1 added (allowed 1)`.
pub(crate) fn summary(totals: &Totals) -> String {
    let counts = [
        (totals.same, "same"),
        (totals.changed, "changed"),
        (totals.resized, "of another size"),
        (totals.added, "added"),
        (totals.removed, "removed"),
        (totals.unreadable, "unreadable"),
    ];
    let told: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let pairs = if totals.pairs == 1 { "pair" } else { "pairs" };
    let mut line = format!("{} {pairs}", totals.pairs);
    if !told.is_empty() {
        line = format!("{line}: {}", told.join(", "));
    }
    if totals.allowed > 0 {
        line = format!("{line}; {} of them allowed", totals.allowed);
    }
    if totals.skipped > 0 {
        line = format!("{line}; {} skipped by a rule", totals.skipped);
    }
    line
}

/// The rows that are not `same`: those that fail before those that are allowed, what cannot be read
/// first, then by how much changed.
pub(crate) fn worst_first(report: &Report) -> Vec<&Row> {
    let mut rows: Vec<&Row> =
        report.rows.iter().filter(|row| row.verdict != PairVerdict::Same).collect();
    rows.sort_by(|one, other| {
        let by_kind = rank(one).cmp(&rank(other));
        let by_change = ratio(other).partial_cmp(&ratio(one)).unwrap_or(Ordering::Equal);
        by_kind.then(by_change).then(one.number.cmp(&other.number))
    });
    rows
}

const fn rank(row: &Row) -> (bool, u8) {
    let kind = match row.verdict {
        PairVerdict::Unreadable => 0,
        PairVerdict::Changed => 1,
        PairVerdict::Resized => 2,
        PairVerdict::Removed => 3,
        PairVerdict::Added => 4,
        PairVerdict::Same => 5,
    };
    (row.allowed, kind)
}

fn ratio(row: &Row) -> f64 {
    row.diff.as_ref().and_then(|diff| diff["changed_ratio"].as_f64()).unwrap_or_default()
}

fn line(row: &Row) -> String {
    let allowed = if row.allowed { " (allowed)" } else { "" };
    let (path, sentence) = (Shown(&row.path), Shown(&row.sentence));
    format!("  {:<10} {path}: {sentence}{allowed}", row.verdict.name())
}
