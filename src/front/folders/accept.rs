//! Actual pictures that become golden: from the report of a comparison, or from what tests left
//! beside their golden pictures.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::frame::{PictureFile, read_bytes, read_file};
use crate::front::wire::compare::{Report, Row};
use crate::golden::folders::{
    GoldenFolder, Name, PairVerdict, has_picture_name, replace_file, take_place,
};

use super::out::is_own;
use super::sha256;

/// The largest report that is read: 1 GiB.
const MAX_REPORT_BYTES: u64 = 1 << 30;

/// How far accepting may go.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Leave {
    /// Say what would be done, and do nothing.
    pub(crate) dry_run: bool,
    /// Also replace a golden picture that is no longer the one that was compared.
    pub(crate) force: bool,
    /// Delete golden pictures that have no actual one.
    pub(crate) delete_removed: bool,
}

/// What became of one golden picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub(crate) path: String,
    pub(crate) result: Outcome,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The actual picture stands in the place of the golden one.
    Replaced,
    /// There was no golden picture.
    Added,
    /// The golden picture is gone.
    Deleted,
    /// It is what was to become golden already.
    Already,
    /// Nothing was done, for this reason.
    Refused(String),
    /// It could not be done; the golden picture is as it was.
    Failed(String),
}

impl Outcome {
    /// `replaced`, `added`, `deleted`, `already`, `refused` or `failed`.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Replaced => "replaced",
            Self::Added => "added",
            Self::Deleted => "deleted",
            Self::Already => "already",
            Self::Refused(_) => "refused",
            Self::Failed(_) => "failed",
        }
    }

    /// Why nothing was done.
    pub(crate) fn reason(&self) -> Option<&str> {
        match self {
            Self::Refused(reason) | Self::Failed(reason) => Some(reason),
            _ => None,
        }
    }

    fn failed(what: &str, error: io::Error) -> Self {
        Self::Failed(Error::io(what, error).to_string())
    }
}

/// The command that accepts in the place of ours, where another tool keeps its golden pictures
/// elsewhere than beside what it leaves.
pub(crate) fn accepted_by(report: &Report) -> Option<&'static str> {
    let is_playwright = report.options["layout"] == "playwright";
    is_playwright.then_some("npx playwright test --update-snapshots")
}

/// The report in `place`, which is its folder or the file itself; `None` when it is a folder
/// without one.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn read_report(place: &Path) -> Result<Option<(PathBuf, Report)>> {
    let is_folder = place.is_dir();
    let path = if is_folder { place.join("report.json") } else { place.to_owned() };
    if is_folder && path.symlink_metadata().is_err() {
        return Ok(None);
    }
    let named = |error: Error| error.context(path.display());
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let text = read_file(&path, MAX_REPORT_BYTES).map_err(named)?;
    Ok(Some((folder, Report::read(&text).map_err(named)?)))
}

/// What a row is called, unless that is no name a picture below a folder can have.
pub(crate) fn name_of(row: &Row) -> Option<Name> {
    let path = match &row.path_bytes {
        Some(hex) => path_of_bytes(&bytes_of_hex(hex)?)?,
        None => PathBuf::from(&row.path),
    };
    // What lies elsewhere once it is put together is none, and neither is `a//b`.
    let name = Name::new(&path).filter(|_| has_picture_name(&path))?;
    (row.path_bytes.is_some() || name.text() == row.path).then_some(name)
}

/// What the path of a row is in bytes, be it a name or not.
pub(super) fn bytes_of_row(row: &Row) -> Vec<u8> {
    let bytes = row.path_bytes.as_deref().and_then(bytes_of_hex);
    bytes.unwrap_or_else(|| row.path.clone().into_bytes())
}

fn bytes_of_hex(hex: &str) -> Option<Vec<u8>> {
    let pairs = hex.as_bytes().chunks(2);
    pairs.map(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok()).collect()
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere bytes may be no path")]
fn path_of_bytes(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn path_of_bytes(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

/// Makes the actual picture of `row` golden: the copy in `folder`, the report's.
pub(crate) fn accept_row(
    row: &Row,
    folder: &Path,
    golden: &GoldenFolder,
    leave: Leave,
) -> Accepted {
    let result = match name_of(row) {
        None => Outcome::Refused("this is no path below the golden folder".to_owned()),
        Some(name) => accept_named(row, &name, folder, golden, leave),
    };
    Accepted { path: row.path.clone(), result }
}

fn accept_named(
    row: &Row,
    name: &Name,
    folder: &Path,
    golden: &GoldenFolder,
    leave: Leave,
) -> Outcome {
    let place = match golden.place(name) {
        Ok(place) => place,
        Err(error) => return Outcome::Refused(error.to_string()),
    };
    let there = place.exists().then(|| read_bytes(&place)).transpose();
    let there = match there {
        Ok(bytes) => bytes.map(|bytes| sha256(&bytes)),
        Err(error) => return Outcome::Failed(format!("the golden picture {error}")),
    };
    let is_as_compared = leave.force || there == row.golden_sha256;
    match (row.verdict, &row.files.actual) {
        (PairVerdict::Same, _) => Outcome::Already,
        (PairVerdict::Removed, _) => delete(&place, there.is_some(), is_as_compared, leave),
        (_, None) => Outcome::Refused("the report has no copy of the actual picture".to_owned()),
        (_, Some(copy)) if there.as_ref() == Some(&copy.sha256) => Outcome::Already,
        (..) if !is_as_compared => not_as_compared(),
        (_, Some(copy)) => match actual(folder, &copy.path, &copy.sha256) {
            Err(error) => Outcome::Refused(error.to_string()),
            Ok(_) if leave.dry_run => replaced(there.is_some()),
            Ok(bytes) => match replace_file(&place, &bytes) {
                Ok(()) => replaced(there.is_some()),
                Err(error) => Outcome::failed("the golden picture cannot be written", error),
            },
        },
    }
}

const fn replaced(was_there: bool) -> Outcome {
    if was_there { Outcome::Replaced } else { Outcome::Added }
}

fn not_as_compared() -> Outcome {
    Outcome::Refused(
        "the golden picture is no longer the one that was compared: compare again, or give --force"
            .to_owned(),
    )
}

fn delete(place: &Path, is_there: bool, is_as_compared: bool, leave: Leave) -> Outcome {
    if !is_there {
        return Outcome::Already;
    }
    if !leave.delete_removed {
        return Outcome::Refused(
            "there is no actual picture: give --delete-removed to delete the golden one".to_owned(),
        );
    }
    if !is_as_compared {
        return not_as_compared();
    }
    let deleted = if leave.dry_run { Ok(()) } else { fs::remove_file(place) };
    deleted.map_or_else(
        |error| Outcome::failed("the golden picture cannot be deleted", error),
        |()| Outcome::Deleted,
    )
}

/// The report's own copy, when it is what was compared and a picture.
fn actual(folder: &Path, path: &str, expected: &str) -> Result<Vec<u8>> {
    let copy = folder.join(path);
    let is_file = copy.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    if !is_own(path) || !is_file {
        return Err(Error::file(format!("{path:.200}: is no copy in the folder of the report")));
    }
    let named = |error: Error| error.context(path);
    let bytes = read_bytes(&copy).map_err(named)?;
    PictureFile::open(&bytes).and_then(|file| file.size()).map_err(named)?;
    match sha256(&bytes) == expected {
        true => Ok(bytes),
        false => Err(Error::file(format!("{path}: is no longer the picture that was compared"))),
    }
}

/// What a test that failed left beside its golden picture.
const NEW: &str = ".new.png";
const DIFF: &str = ".diff.png";

/// The golden pictures below `golden` beside which a test left a `NAME.new.png`.
///
/// # Errors
/// When the folder cannot be looked into.
pub(crate) fn left_by_tests(golden: &GoldenFolder) -> Result<HashMap<Name, Name>> {
    let is_new = |path: &Path| path.to_str().is_some_and(|path| path.ends_with(NEW));
    let found = golden
        .files(&is_new)
        .map_err(|error| Error::io("the golden folder cannot be looked into", error))?;
    let golden_of = |new: Name| {
        let text = new.text();
        let name = Name::new(Path::new(&format!("{}.png", text.strip_suffix(NEW)?)))?;
        Some((name, new))
    };
    Ok(found.into_iter().filter_map(golden_of).collect())
}

/// Makes the picture a test left golden, and removes the one of what differed.
pub(crate) fn accept_left(
    name: &Name,
    new: &Name,
    golden: &GoldenFolder,
    leave: Leave,
) -> Accepted {
    let result = take_left(name, new, golden, leave);
    let result = result.unwrap_or_else(|error| Outcome::Refused(error.to_string()));
    Accepted { path: name.text(), result }
}

fn take_left(name: &Name, new: &Name, golden: &GoldenFolder, leave: Leave) -> Result<Outcome> {
    let (place, new) = (golden.place(name)?, golden.place(new)?);
    let bytes = read_bytes(&new)?;
    PictureFile::open(&bytes)
        .and_then(|file| file.size())
        .map_err(|error| error.context(new.file_name().unwrap_or_default().to_string_lossy()))?;
    let outcome = replaced(place.is_file());
    if leave.dry_run {
        return Ok(outcome);
    }
    if let Err(error) = take_place(&new, &place) {
        return Ok(Outcome::failed("the golden picture cannot be written", error));
    }
    let text = new.to_string_lossy();
    match text.strip_suffix(NEW).map(|stem| fs::remove_file(format!("{stem}{DIFF}"))) {
        Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => {
            Ok(Outcome::failed("it is golden now, but its .diff.png cannot be removed", error))
        }
        _ => Ok(outcome),
    }
}
