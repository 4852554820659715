//! The reports of all parts of a comparison, as one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::frame::read_bytes;
use crate::front::wire::compare::{Report, Row};

use super::ReportFolder;
use super::accept::bytes_of_row;
use super::out::is_own;

/// A report and the folder its pictures are in.
pub(crate) type Part = (PathBuf, Report);

/// Joins the parts, whose pictures are copied into `folder`: the report of the comparison as it
/// would have been in one.
///
/// # Errors
/// When parts are missing or there twice, when they were not compared by the same options, or when
/// a picture cannot be copied.
pub(crate) fn merge(parts: &[Part], folder: &ReportFolder) -> Result<Report> {
    let Some((_, first)) = parts.first() else {
        return Err(Error::usage("there is no report to merge"));
    };
    check_shards(parts)?;
    for (place, part) in parts {
        refuse_other_options(place, &part.options, &first.options)?;
        refuse_other(place, "BASE", &part.base, &first.base)?;
        refuse_other(place, "ACTUAL", &part.actual, &first.actual)?;
    }
    let mut rows: Vec<(Vec<u8>, &Path, &Row)> = parts
        .iter()
        .flat_map(|(place, part)| {
            part.rows.iter().map(|row| (bytes_of_row(row), place.as_path(), row))
        })
        .collect();
    rows.sort_by(|one, other| one.0.cmp(&other.0));
    if let Some(two) = rows.windows(2).find(|two| two[0].0 == two[1].0) {
        return Err(Error::file(format!("{}: is in more than one report", two[0].2.path)));
    }
    let rows = (1..).zip(rows).map(|(number, (_, place, row))| copied(row, number, place, folder));
    let rows = rows.collect::<Result<Vec<Row>>>()?;
    let mut report =
        Report::new(first.base.clone(), first.actual.clone(), first.options.clone(), rows);
    report.totals.skipped = parts.iter().map(|(_, part)| part.totals.skipped).sum();
    report.elapsed_ms = parts.iter().map(|(_, part)| part.elapsed_ms).max().unwrap_or_default();
    report.unused_rules = first.unused_rules.clone();
    report.remarks = first.remarks.clone();
    let more = parts.iter().flat_map(|(_, part)| &part.remarks);
    for remark in more {
        if !report.remarks.contains(remark) {
            report.remarks.push(remark.clone());
        }
    }
    Ok(report)
}

fn check_shards(parts: &[Part]) -> Result<()> {
    let mut seen = BTreeSet::new();
    let mut counts = BTreeSet::new();
    for (place, part) in parts {
        let shard = part.shard.ok_or_else(|| {
            Error::usage(format!("{}: is the report of no shard", place.display()))
        })?;
        counts.insert(shard.count);
        if !seen.insert(shard.index) {
            let (index, count) = (shard.index, shard.count);
            return Err(Error::usage(format!("shard {index}/{count} is there more than once")));
        }
    }
    let Some(&count) = counts.first().filter(|_| counts.len() == 1) else {
        let counts: Vec<String> = counts.iter().map(ToString::to_string).collect();
        return Err(Error::usage(format!("the shards are of {} parts", counts.join(" and of "))));
    };
    let missing: Vec<String> = (1..=count.min(MOST_PARTS))
        .filter(|index| !seen.contains(index))
        .map(|index| format!("{index}/{count}"))
        .collect();
    match missing.as_slice() {
        [] => Ok(()),
        [one] => Err(Error::usage(format!("shard {one} is missing"))),
        some => Err(Error::usage(format!("shards {} are missing", some.join(", ")))),
    }
}

/// A report from elsewhere may claim any count; this many may be missing by name.
const MOST_PARTS: u32 = 10_000;

fn refuse_other<T: PartialEq + std::fmt::Display>(
    place: &Path,
    what: &str,
    this: &T,
    first: &T,
) -> Result<()> {
    if this == first {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{}: was compared with other {what} than the first report: {this:.300}, not {first:.300}",
        place.display()
    )))
}

/// Names the options that are others, with both values.
fn refuse_other_options(place: &Path, this: &Value, first: &Value) -> Result<()> {
    let keys = |options: &Value| {
        options.as_object().into_iter().flat_map(|map| map.keys()).cloned().collect::<Vec<_>>()
    };
    let all: BTreeSet<String> = [keys(this), keys(first)].concat().into_iter().collect();
    let others: Vec<String> = all
        .iter()
        .filter(|&key| this.get(key) != first.get(key))
        .map(|key| format!("{key} {:.100}, not {:.100}", told(&this[key]), told(&first[key])))
        .collect();
    match others.is_empty() {
        true => Ok(()),
        false => Err(Error::usage(format!(
            "{}: was compared with other options than the first report: {}",
            place.display(),
            others.join("; ")
        ))),
    }
}

fn told(value: &Value) -> String {
    if value.is_null() { "none".to_owned() } else { value.to_string() }
}

/// The row under its new number, with its files copied.
fn copied(row: &Row, number: usize, from: &Path, folder: &ReportFolder) -> Result<Row> {
    let mut row = Row { number, ..row.clone() };
    let mut known: Vec<(String, String)> = Vec::new();
    let mut copy = |path: &mut String| -> Result<()> {
        if let Some((_, new)) = known.iter().find(|(old, _)| old == path) {
            path.clone_from(new);
            return Ok(());
        }
        let new = copy_file(path, number, from, folder)?;
        known.push((std::mem::replace(path, new.clone()), new));
        Ok(())
    };
    for file in [&mut row.files.before, &mut row.files.actual].into_iter().flatten() {
        copy(&mut file.path)?;
        copy(&mut file.shown)?;
    }
    row.diff_picture.as_mut().map_or(Ok(()), &mut copy)?;
    let pictures = row.diff.as_mut().and_then(|diff| diff["pictures"].as_array_mut());
    for picture in pictures.into_iter().flatten() {
        if let Some(Value::String(path)) = picture.get_mut("path") {
            copy(path)?;
        }
    }
    Ok(row)
}

fn copy_file(path: &str, number: usize, from: &Path, folder: &ReportFolder) -> Result<String> {
    let file = from.join(path);
    let is_file = file.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    let name = path.rsplit('/').next().unwrap_or_default();
    if !is_own(path) || !is_file {
        let from = from.display();
        return Err(Error::file(format!("{path:.200}: is no picture in the report {from}")));
    }
    let bytes = read_bytes(&file).map_err(|error| error.context(file.display()))?;
    // What cannot be written is told when the report is finished.
    Ok(folder.add(number, name, &bytes).unwrap_or_default())
}
