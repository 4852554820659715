//! The summary of a step on GitHub: Markdown that shows names as they are.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use crate::error::{Error, Result, Shown};
use crate::front::wire::compare::{Report, Row};

use super::words::{summary, worst_first};

/// What a step may write: 1 MiB, of which some is left for what others add.
const MAX_BYTES: usize = (1 << 20) - (16 << 10);

/// Adds a heading with the totals and a table of the rows that are not the same, worst first, to
/// the file at `path`.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn add_summary(report: &Report, path: &Path) -> Result<()> {
    let there = fs::metadata(path).map_or(0, |metadata| metadata.len());
    let room = MAX_BYTES.saturating_sub(usize::try_from(there).unwrap_or(usize::MAX));
    let text = markdown(report, room);
    let opened = OpenOptions::new().append(true).create(true).open(path);
    opened
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| Error::io(format!("{}: cannot be written", path.display()), error))
}

/// At most `room` bytes.
fn markdown(report: &Report, room: usize) -> String {
    let rows = worst_first(report);
    let mut text = format!("### {}\n\n", Literal(&summary(&report.totals)));
    if !rows.is_empty() {
        text += "| | picture | what |\n|---|---|---|\n";
    }
    for (at, row) in rows.iter().enumerate() {
        let line = line(row);
        // Room for the last line, which says how many are left out.
        if text.len() + line.len() + 100 > room {
            text += &format!("\nand {} more\n", rows.len() - at);
            break;
        }
        text += &line;
    }
    text.push('\n');
    if text.len() > room { String::new() } else { text }
}

fn line(row: &Row) -> String {
    let allowed = if row.allowed { " (allowed)" } else { "" };
    format!(
        "| {}{allowed} | <code>{}</code> | {} |\n",
        row.verdict.name(),
        Literal(&Shown(&row.path).to_string()),
        Literal(&Shown(&row.sentence).to_string())
    )
}

/// Text in which nothing is markup: every sign that could be is written as its number.
struct Literal<'a>(&'a str);

impl fmt::Display for Literal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| match letter {
            ' ' | '.' | ',' | '/' | '%' | ';' => fmt::Write::write_char(f, letter),
            letter if letter.is_ascii_alphanumeric() || !letter.is_ascii() => {
                fmt::Write::write_char(f, letter)
            }
            letter => write!(f, "&#{};", u32::from(letter)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::wire::compare::Files;
    use crate::golden::folders::PairVerdict;

    fn report(paths: &[&str]) -> Report {
        let row = |(index, path): (usize, &&str)| Row {
            number: index + 1,
            path: (*path).to_owned(),
            path_bytes: None,
            verdict: PairVerdict::Added,
            allowed: index > 0,
            identical_bytes: false,
            sentence: "There is no golden picture.".to_owned(),
            error: None,
            rule: None,
            diff: None,
            files: Files::default(),
            diff_picture: None,
            golden_sha256: None,
        };
        let rows = paths.iter().enumerate().map(row).collect();
        Report::new("a".to_owned(), "b".to_owned(), serde_json::Value::Null, rows)
    }

    #[test]
    fn names_are_shown_and_never_markup() {
        let text = markdown(&report(&["a|b<img src=x>.png", "x`\n[l](h).png"]), MAX_BYTES);
        assert_eq!(
            text,
            "### 2 pairs&#58; 2 added; 1 of them allowed\n\n| | picture | what |\n|---|---|---|\n\
             | added | <code>a&#124;b&#60;img src&#61;x&#62;.png</code> | There is no golden picture. |\n\
             | added (allowed) | <code>x&#96;&#92;n&#91;l&#93;&#40;h&#41;.png</code> | There is no golden picture. |\n\n"
        );
    }

    #[test]
    fn there_is_never_more_than_room_for() {
        let report = report(&["a.png"; 50]);
        for room in [0, 10, 200, 400, 1000, 10_000] {
            let text = markdown(&report, room);
            assert!(text.len() <= room, "{} of {room}", text.len());
            let listed = text.matches("<code>").count();
            assert!(
                text.is_empty()
                    || listed == 50
                    || text.contains(&format!("and {} more", 50 - listed))
            );
        }
        assert_eq!(markdown(&report, 10_000).matches("<code>").count(), 50);
    }
}
