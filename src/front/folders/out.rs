//! The folder of a report, which always shows one run.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::error::{Error, Result};
use crate::frame::{read_bytes, write_new};

/// The list of what the last run wrote: nothing else is ever replaced or removed.
const LIST: &str = ".seechange-report";
const PAIRS: &str = "pairs";
/// Where a run collects its pictures until it is over.
const PART: &str = "pairs.part";
/// Where those of the run before go until the new ones stand in their place.
const OLD: &str = "pairs.old";

/// A folder that shows the run before until this one is over.
///
/// Pictures are collected in a folder of their own beside those of the run before, so that a full
/// disk or Ctrl-C leaves an earlier report as it was.
#[derive(Debug)]
pub(crate) struct ReportFolder {
    folder: PathBuf,
    earlier: BTreeSet<String>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    written: BTreeSet<String>,
    trouble: Option<Error>,
}

impl ReportFolder {
    /// Makes the folder ready for a run.
    ///
    /// # Errors
    /// When it cannot be written to, or when something no run wrote is in the way.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let new =
            Self { folder: folder.to_owned(), earlier: earlier(folder), state: Mutex::default() };
        let cannot = |error| cannot_write(folder, error);
        fs::create_dir_all(folder).map_err(cannot)?;
        new.bring_back().map_err(cannot)?;
        new.refuse_foreign()?;
        new.clear(PART)?;
        new.clear(OLD)?;
        fs::create_dir(folder.join(PART)).map_err(cannot)?;
        Ok(new)
    }

    /// The folder itself.
    pub(crate) fn path(&self) -> &Path {
        &self.folder
    }

    /// Adds a file of a row and gives its path in the report. After the first that cannot be
    /// written none is: see [`Self::trouble`].
    pub(crate) fn add(&self, row: usize, name: &str, bytes: &[u8]) -> Option<String> {
        if self.lock().trouble.is_some() {
            return None;
        }
        let path = format!("{row:05}/{name}");
        let part = self.folder.join(PART).join(&path);
        let path = format!("{PAIRS}/{path}");
        match write_first(&part, bytes) {
            Ok(()) => {
                self.lock().written.insert(path.clone());
                Some(path)
            }
            Err(error) => {
                self.lock().trouble.get_or_insert(cannot_write(&self.folder, error));
                None
            }
        }
    }

    /// What was added under `path`, which [`Self::add`] gave.
    ///
    /// # Errors
    /// When it cannot be read, or was never added.
    pub(crate) fn read(&self, path: &str) -> Result<Vec<u8>> {
        let inside = path.strip_prefix(PAIRS).and_then(|path| path.strip_prefix('/'));
        let inside = inside.filter(|_| is_own(path)).unwrap_or_default();
        let file = self.folder.join(PART).join(inside);
        read_bytes(&file).map_err(|error| error.context(path))
    }

    /// Puts the pictures of this run and `files` in the place of those of the run before.
    ///
    /// # Errors
    /// When a picture could not be written, or a file cannot be: the report of the run before is
    /// then still there.
    pub(crate) fn finish(self, files: &[(&str, Vec<u8>)]) -> Result<()> {
        let State { written, trouble } = std::mem::take(&mut *self.lock());
        let folder = &self.folder;
        let names = files.iter().map(|(name, _)| (*name).to_owned());
        let now: BTreeSet<String> = written.into_iter().chain(names).collect();
        let result = match trouble {
            Some(error) => Err(error),
            None => replace(folder, &self.earlier, &now, files)
                .map_err(|error| cannot_write(folder, error)),
        };
        if result.is_err() {
            // The error that matters is the one above; what stays is cleared by the next run.
            files.iter().for_each(|(name, _)| drop(fs::remove_file(part(folder, name))));
        }
        result
    }

    /// Puts the pictures of the run before in their place again, where the one after it ended
    /// between taking them away and putting its own there.
    fn bring_back(&self) -> io::Result<()> {
        let is_between = !self.earlier.is_empty() && !self.is_there(PAIRS) && self.is_there(OLD);
        if is_between {
            fs::rename(self.folder.join(OLD), self.folder.join(PAIRS))?;
        }
        Ok(())
    }

    /// Refuses to replace what no run wrote.
    fn refuse_foreign(&self) -> Result<()> {
        let mut there: Vec<String> = FILES
            .iter()
            .map(|name| (*name).to_owned())
            .filter(|name| self.is_there(name))
            .collect();
        if self.is_there(PAIRS) {
            self.list(PAIRS, &mut there);
        }
        match there.iter().find(|path| !self.earlier.contains(*path)) {
            Some(path) => Err(in_the_way(&self.folder.join(path))),
            None => Ok(()),
        }
    }

    fn is_there(&self, name: &str) -> bool {
        self.folder.join(name).symlink_metadata().is_ok()
    }

    /// Every path below `name` that is no folder. What cannot be looked into is in the way.
    fn list(&self, name: &str, paths: &mut Vec<String>) {
        let path = self.folder.join(name);
        let is_folder = path.symlink_metadata().is_ok_and(|it| it.is_dir());
        match fs::read_dir(&path) {
            Ok(entries) if is_folder => entries.flatten().for_each(|entry| {
                self.list(&format!("{name}/{}", entry.file_name().to_string_lossy()), paths);
            }),
            _ => paths.push(name.to_owned()),
        }
    }

    /// Removes what a run that did not come to its end left behind.
    fn clear(&self, name: &str) -> Result<()> {
        let path = self.folder.join(name);
        match self.is_there(name) {
            true => remove_own(&path).map_err(|_| in_the_way(&path)),
            false => Ok(()),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ReportFolder {
    fn drop(&mut self) {
        // Of a run that came to its end there is none; what stays is cleared by the next run.
        drop(remove_own(&self.folder.join(PART)));
    }
}

/// The files beside the pictures.
const FILES: [&str; 3] = ["report.json", "index.html", "junit.xml"];

/// What the run before wrote; none where there was no run.
fn earlier(folder: &Path) -> BTreeSet<String> {
    let list = read_bytes(&folder.join(LIST)).unwrap_or_default();
    let list = String::from_utf8_lossy(&list);
    list.lines().filter(|path| is_own(path)).map(str::to_owned).collect()
}

/// Whether a run may have written `path`: a list somebody changed cannot point elsewhere.
pub(super) fn is_own(path: &str) -> bool {
    let is_pair = |path: &str| {
        path.split_once('/').is_some_and(|(number, name)| is_number(number) && is_plain(name))
    };
    FILES.contains(&path)
        || path.strip_prefix(PAIRS).and_then(|path| path.strip_prefix('/')).is_some_and(is_pair)
}

fn is_number(name: &str) -> bool {
    name.len() >= 5 && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// The name of a picture of a row.
fn is_plain(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'))
}

fn replace(
    folder: &Path,
    earlier: &BTreeSet<String>,
    now: &BTreeSet<String>,
    files: &[(&str, Vec<u8>)],
) -> io::Result<()> {
    for (name, bytes) in files {
        write_new(&part(folder, name), bytes)?;
    }
    // The list first: whatever then fails, the files are known to be the command's own.
    write_list(folder, &earlier.union(now).cloned().collect())?;
    let [pairs, new, old] = [PAIRS, PART, OLD].map(|name| folder.join(name));
    if pairs.symlink_metadata().is_ok() {
        fs::rename(&pairs, &old)?;
    }
    fs::rename(new, pairs)?;
    for (name, _) in files {
        fs::rename(part(folder, name), folder.join(name))?;
    }
    if old.symlink_metadata().is_ok() {
        remove_own(&old)?;
    }
    write_list(folder, now)
}

fn write_list(folder: &Path, paths: &BTreeSet<String>) -> io::Result<()> {
    let lines = paths.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
    let part = part(folder, LIST);
    write_new(&part, lines.as_bytes())?;
    fs::rename(part, folder.join(LIST))
}

fn part(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.part"))
}

/// Writes a file into the folder of a row, which is made for the first: nothing stands there yet,
/// and asking for each of thousands takes as long as writing them.
fn write_first(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = match (fs::File::create_new(path), path.parent()) {
        (Err(error), Some(row)) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(row)?;
            fs::File::create_new(path)?
        }
        (made, _) => made?,
    };
    file.write_all(bytes)
}

/// Removes a folder of pairs, of which only what a run writes into one is removed; rows side by
/// side, for a second run removes as many files as it writes.
fn remove_own(pairs: &Path) -> io::Result<()> {
    let rows = fs::read_dir(pairs)?.collect::<io::Result<Vec<DirEntry>>>()?;
    rows.par_iter().try_for_each(remove_row)?;
    fs::remove_dir(pairs)
}

fn remove_row(row: &DirEntry) -> io::Result<()> {
    if !row.file_type()?.is_dir() || !row.file_name().to_str().is_some_and(is_number) {
        return Err(io::Error::other("no run made this"));
    }
    for file in fs::read_dir(row.path())? {
        let file = file?;
        if file.file_name().to_str().is_some_and(is_plain) {
            fs::remove_file(file.path())?;
        }
    }
    fs::remove_dir(row.path())
}

fn in_the_way(path: &Path) -> Error {
    Error::file(format!(
        "{}: is in the way of the report and no earlier run wrote it; give --out another folder",
        path.display()
    ))
}

fn cannot_write(folder: &Path, error: io::Error) -> Error {
    Error::io(format!("{}: the report cannot be written", folder.display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                if path.is_dir() { folders.push(path) } else { found.push(name) }
            }
        }
        found.retain(|name| name != LIST);
        found.sort();
        found
    }

    fn run(folder: &Path, rows: &[usize]) -> Result<()> {
        let out = ReportFolder::open(folder)?;
        for &row in rows {
            let path = out.add(row, "before.png", b"x").unwrap();
            assert_eq!(path, format!("pairs/{row:05}/before.png"));
        }
        out.finish(&[("report.json", rows.len().to_string().into_bytes())])
    }

    #[test]
    fn a_folder_shows_one_run() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("new/report");
        for (rows, expected) in [
            (vec![1, 2], vec!["pairs/00001/before.png", "pairs/00002/before.png", "report.json"]),
            (vec![123_456], vec!["pairs/123456/before.png", "report.json"]),
            (vec![], vec!["report.json"]),
        ] {
            run(&folder, &rows).unwrap();
            assert_eq!(files(&folder), expected);
            assert_eq!(
                fs::read_to_string(folder.join("report.json")).unwrap(),
                rows.len().to_string()
            );
        }
    }

    #[test]
    fn what_no_run_wrote_is_in_the_way_and_stays() {
        for foreign in [
            "report.json",
            "pairs/00001/mine.png",
            "pairs",
            "pairs/00001/before.png",
            "pairs.part/a",
        ] {
            let root = tempfile::tempdir().unwrap();
            let path = root.path().join(foreign);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "mine").unwrap();
            let message = run(root.path(), &[1]).unwrap_err().to_string();
            assert!(message.contains("is in the way of the report"), "{message}");
            assert_eq!(fs::read_to_string(&path).unwrap(), "mine", "{foreign}");
        }
    }

    #[test]
    fn other_files_of_the_folder_stay() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("notes.txt"), "").unwrap();
        fs::write(root.path().join(LIST), "../report.json\nnotes.txt\npairs/../a.png\n").unwrap();
        for _ in 0..2 {
            run(root.path(), &[1]).unwrap();
            assert_eq!(files(root.path()), ["notes.txt", "pairs/00001/before.png", "report.json"]);
        }
    }

    #[test]
    fn a_run_that_did_not_end_leaves_the_report_before() {
        let root = tempfile::tempdir().unwrap();
        run(root.path(), &[1]).unwrap();
        let before = files(root.path());
        let out = ReportFolder::open(root.path()).unwrap();
        out.add(2, "actual.png", b"").unwrap();
        drop(out);
        assert_eq!(files(root.path()), before);
        // Killed on the way.
        for left in [PART, OLD] {
            fs::create_dir_all(root.path().join(left).join("00007")).unwrap();
            fs::write(root.path().join(left).join("00007/diff.png"), "").unwrap();
        }
        run(root.path(), &[3]).unwrap();
        assert_eq!(files(root.path()), ["pairs/00003/before.png", "report.json"]);
        let left = [PART, OLD].map(|left| root.path().join(left).exists());
        assert_eq!(left, [false, false], "an empty folder would be none of the files");
        // Killed after the pictures were taken away and before the new ones stood there.
        let before = files(root.path());
        fs::rename(root.path().join(PAIRS), root.path().join(OLD)).unwrap();
        drop(ReportFolder::open(root.path()).unwrap());
        assert_eq!(files(root.path()), before);
    }
}
