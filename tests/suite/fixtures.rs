//! Picture pairs with a known right answer, all judged by one preset.

use std::fs;
use std::path::Path;

use seechange::frame;
use seechange::report::{DiffOptions, Preset, compare};

use crate::shared;

struct Row {
    pair: String,
    before: String,
    after: String,
    arguments: String,
    expect: String,
}

fn rows(folder: &Path) -> Vec<Row> {
    let text = fs::read_to_string(folder.join("manifest.tsv")).unwrap();
    let row = |line: &str| {
        let cells: Vec<String> = line.split('\t').map(str::to_owned).collect();
        let [pair, before, after, arguments, expect, ..] = <[String; 7]>::try_from(cells).unwrap();
        Row { pair, before, after, arguments, expect }
    };
    text.lines().skip(1).map(row).collect()
}

fn preset(arguments: &str) -> Preset {
    match arguments {
        "" => Preset::Golden,
        other => other.strip_prefix("--preset ").unwrap().parse().unwrap(),
    }
}

/// The verdicts that are not what the row expects.
fn wrong(folder: &Path, rows: &[Row]) -> Vec<String> {
    let answer = |row: &Row| {
        let before = frame::read(&folder.join(&row.before)).unwrap();
        let after = frame::read(&folder.join(&row.after)).unwrap();
        let options = DiffOptions::preset(preset(&row.arguments));
        compare(before.as_ref(), after.as_ref(), &options).unwrap().verdict.name()
    };
    rows.iter()
        .map(|row| (row, answer(row)))
        .filter(|(row, verdict)| row.expect != "any" && row.expect != *verdict)
        .map(|(row, verdict)| format!("{}: {verdict}, not {}", row.pair, row.expect))
        .collect()
}

#[test]
fn every_pair_gets_its_right_answer() {
    let Some(fixtures) = shared::folder("fixtures") else { return };
    let mut all_wrong = Vec::new();
    for family in
        ["bugs", "looks-same", "kompari", "odiff", "pixelmatch", "playwright", "textchange"]
    {
        let folder = fixtures.join(family);
        let rows = rows(&folder);
        let wrong = wrong(&folder, &rows);
        println!("{family}: {}/{} right", rows.len() - wrong.len(), rows.len());
        all_wrong.extend(wrong);
    }
    assert!(all_wrong.is_empty(), "{all_wrong:#?}");
}
