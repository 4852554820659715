//! `junit.xml`: what CI systems show beside the other tests.

use std::fmt::Write as _;

use crate::front::wire::compare::{Report, Row};
use crate::golden::folders::PairVerdict;

/// One test case a row: a failing one has a failure, one that cannot be read an error, and what is
/// allowed is told as output.
pub(crate) fn junit(report: &Report) -> String {
    let totals = &report.totals;
    let errors = report.rows.iter().filter(|row| is_error(row)).count() as u64;
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{errors}\" time=\"{}.{:03}\"",
        totals.pairs,
        totals.failing - errors,
        report.elapsed_ms / 1000,
        report.elapsed_ms % 1000
    );
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    xml += &format!("<testsuites name=\"seechange compare\" {counts}>\n");
    xml += &format!("  <testsuite name=\"{}\" {counts}>\n", Escaped(&report.actual));
    report.rows.iter().for_each(|row| case(&mut xml, row));
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

fn is_error(row: &Row) -> bool {
    row.is_failing() && row.verdict == PairVerdict::Unreadable
}

fn case(xml: &mut String, row: &Row) {
    let (folder, name) = row.path.rsplit_once('/').unwrap_or((".", &row.path));
    let opening =
        format!("    <testcase classname=\"{}\" name=\"{}\"", Escaped(folder), Escaped(name));
    let (verdict, sentence) = (row.verdict.name(), Escaped(&row.sentence));
    let inside = match (row.is_failing(), row.verdict) {
        (true, _) => {
            let tag = if is_error(row) { "error" } else { "failure" };
            format!(
                "<{tag} type=\"{verdict}\" message=\"{sentence}\">{}</{tag}>",
                Escaped(&details(row))
            )
        }
        (false, PairVerdict::Same) => {
            xml.push_str(&opening);
            xml.push_str("/>\n");
            return;
        }
        (false, _) => format!("<system-out>{verdict} (allowed): {sentence}</system-out>"),
    };
    *xml += &format!("{opening}>{inside}</testcase>\n");
}

/// All sentences of the comparison, and where its pictures lie.
fn details(row: &Row) -> String {
    let told = row.diff.as_ref().and_then(|diff| diff["sentence"].as_str());
    let files = [&row.files.before, &row.files.actual].into_iter().flatten();
    let paths = files.map(|file| file.path.as_str()).chain(row.diff_picture.as_deref());
    let lines = [told.unwrap_or(&row.sentence)].into_iter().chain(paths);
    lines.collect::<Vec<_>>().join("\n")
}

/// Text in an element or an attribute; what XML has no way to write is `U+FFFD`.
struct Escaped<'a>(&'a str);

impl std::fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.chars().try_for_each(|letter| match letter {
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '&' => f.write_str("&amp;"),
            '"' => f.write_str("&quot;"),
            '\'' => f.write_str("&apos;"),
            '\n' => f.write_str("&#10;"),
            '\r' => f.write_str("&#13;"),
            '\t' => f.write_str("&#9;"),
            letter if is_in_xml(letter) => f.write_char(letter),
            _ => f.write_char(char::REPLACEMENT_CHARACTER),
        })
    }
}

/// The characters of XML 1.0, section 2.2, but for those that are discouraged.
fn is_in_xml(letter: char) -> bool {
    !letter.is_control()
        && !matches!(letter, '\u{fdd0}'..='\u{fdef}')
        && letter as u32 & 0xFFFE != 0xFFFE
}
