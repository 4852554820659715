//! Pictures as files in one folder, which always shows one run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::frame::{self, Frame, encode_png, read_file, write_new};
use crate::report::Picture;

/// The list of the pictures the last run wrote into a folder: only those are ever removed.
const LIST: &str = ".seechange-pictures";
/// The longest list that is read: 1 MiB.
const MAX_LIST_BYTES: u64 = 1 << 20;

/// Refuses to read from what `out` will show: a picture that an earlier run wrote there is replaced
/// by the next, so a reference kept there would soon be compared with itself.
///
/// # Errors
/// When one of `inputs` is such a picture.
pub(crate) fn keep_inputs<'i>(
    out: Option<&Path>,
    inputs: impl IntoIterator<Item = &'i Path>,
) -> Result<()> {
    let Some(folder) = out.and_then(|out| out.canonicalize().ok()) else { return Ok(()) };
    let earlier = earlier(&folder);
    let is_shown = |input: &Path| {
        let name = input.file_name().and_then(|name| name.to_str());
        input.parent() == Some(&folder)
            && name.is_some_and(|name| earlier.iter().any(|e| e == name))
    };
    for input in inputs {
        if input.canonicalize().is_ok_and(|input| is_shown(&input)) {
            return Err(Error::usage(format!(
                "{}: an earlier run wrote this picture into --out, where this run would replace \
                 it; copy it elsewhere first",
                input.display()
            )));
        }
    }
    Ok(())
}

/// Reads a picture to compare with, which `out` does not show; see [`keep_inputs`].
///
/// # Errors
/// As [`keep_inputs`], and when the file is no picture.
pub(crate) fn read_input(out: Option<&Path>, input: &Path) -> Result<Frame> {
    keep_inputs(out, [input])?;
    frame::read(input)
}

/// Makes sure, before what takes long, that pictures of these names can be put into `out`.
///
/// # Errors
/// When `out` is no folder and cannot be one, or a file of somebody else has such a name.
pub(crate) fn check_out(out: Option<&Path>, names: &[&str]) -> Result<()> {
    let Some(folder) = out else { return Ok(()) };
    // The nearest of its parents that is there, for a folder that is yet to be made.
    let there = folder.ancestors().find(|part| part.symlink_metadata().is_ok());
    if let Some(file) = there.filter(|there| !there.is_dir()) {
        return Err(no_folder(folder, file));
    }
    none_in_the_way(folder, names, &earlier(folder))
}

fn no_folder(folder: &Path, file: &Path) -> Error {
    let (folder, file) = (folder.display(), file.display());
    Error::file(format!(
        "{folder}: pictures cannot be written, for {file} is no folder; give --out another one"
    ))
}

fn none_in_the_way(folder: &Path, names: &[&str], earlier: &[String]) -> Result<()> {
    match names.iter().find(|name| is_in_the_way(folder, name, earlier)) {
        Some(name) => Err(Error::file(format!(
            "{}: is in the way of a picture and no earlier run wrote it; give --out another folder",
            folder.join(name).display()
        ))),
        None => Ok(()),
    }
}

/// Writes the pictures of a report; see [`write_frames`].
///
/// # Errors
/// As [`write_frames`].
pub(crate) fn write_pictures(folder: &Path, pictures: &[Picture]) -> Result<Vec<PathBuf>> {
    let named = pictures.iter().map(|picture| (picture.shot.file_name(), &picture.frame));
    write_frames(folder, &named.collect::<Vec<_>>())
}

/// Writes named frames as PNG into `folder`, which is made where it is missing, and gives their
/// paths in the same order.
///
/// All of them appear, or none: they are encoded and written under other names first. Pictures
/// that an earlier run wrote and this one does not (an `area-3-after.png` when only two areas
/// changed) are removed, so that the folder always shows one run. Which those are is kept in a
/// list beside them; files that are not in it are left alone, whatever they are called, and one
/// that has a name that is wanted is in the way.
///
/// # Errors
/// When the folder cannot be made, a file is in the way or cannot be written; the pictures of the
/// earlier run are then still there.
pub(crate) fn write_frames(folder: &Path, frames: &[(String, &Frame)]) -> Result<Vec<PathBuf>> {
    let files = frames
        .iter()
        .map(|(name, frame)| Ok((name.as_str(), encode_png(frame)?)))
        .collect::<Result<Vec<_>>>()?;
    let cannot = |error| {
        let folder = folder.display();
        Error::io(format!("{folder}: pictures cannot be written to it (--out)"), error)
    };
    let earlier = earlier(folder);
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    check_out(Some(folder), &names)?;
    if files.is_empty() && earlier.is_empty() {
        return Ok(Vec::new());
    }
    // The list first: whatever then fails, the pictures are known to be the command's own.
    let mut all = vec![(LIST, names.join("\n").into_bytes())];
    all.extend(files);
    if let Err(error) = write_all(folder, &all) {
        all.iter().for_each(|(name, _)| discard(&part(folder, name)));
        return Err(cannot(error));
    }
    remove(folder, earlier.iter().filter(|name| !names.contains(&name.as_str())))
        .map_err(cannot)?;
    Ok(names.iter().map(|name| folder.join(name)).collect())
}

/// Whether something stands where a picture is to be, and is none of the `earlier` ones.
fn is_in_the_way(folder: &Path, name: &str, earlier: &[String]) -> bool {
    !earlier.iter().any(|own| own == name) && folder.join(name).symlink_metadata().is_ok()
}

/// The pictures the run before wrote; none where there was no run.
fn earlier(folder: &Path) -> Vec<String> {
    let list = read_file(&folder.join(LIST), MAX_LIST_BYTES).unwrap_or_default();
    let list = String::from_utf8_lossy(&list);
    list.lines().filter(|name| is_plain_picture(name)).map(str::to_owned).collect()
}

/// A PNG in the folder itself: a list somebody changed cannot point elsewhere.
fn is_plain_picture(name: &str) -> bool {
    name.ends_with(".png")
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'))
}

/// Every file under another name, then all of them renamed.
fn write_all(folder: &Path, files: &[(&str, Vec<u8>)]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, bytes) in files {
        write_new(&part(folder, name), bytes)?;
    }
    for (name, _) in files {
        fs::rename(part(folder, name), folder.join(name))?;
    }
    Ok(())
}

fn part(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.part"))
}

/// A part file that stays is harmless, and one that is not there is what is wanted.
fn discard(part: &Path) {
    drop(fs::remove_file(part));
}

fn remove<'n>(folder: &Path, names: impl Iterator<Item = &'n String>) -> io::Result<()> {
    for name in names {
        let path = folder.join(name);
        if fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file()) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::PixelFormat;
    use crate::geometry::Size;
    use crate::report::{DiffOptions, Preset, compare, pictures};

    fn drawn(areas: usize) -> Vec<Picture> {
        let size = Size::new(200, 100).unwrap();
        let before = Frame::filled(size, PixelFormat::Rgba, [255, 255, 255, 255]);
        let mut after = before.clone();
        for area in 0..areas {
            after.data_mut()[area * 20 * 200 * 4..][..4 * 40].fill(0);
        }
        let options = DiffOptions::preset(Preset::Live);
        let report = compare(before.as_ref(), after.as_ref(), &options).unwrap();
        pictures(&report, before.as_ref(), after.as_ref()).unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != LIST)
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_shows_one_run() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("new/pictures");
        for (areas, files) in [
            (
                2,
                vec![
                    "area-1-after.png",
                    "area-1-before.png",
                    "area-2-after.png",
                    "area-2-before.png",
                    "overview.png",
                ],
            ),
            (1, vec!["area-1-after.png", "area-1-before.png", "overview.png"]),
            (0, vec![]),
        ] {
            let pictures = drawn(areas);
            let paths = write_pictures(&folder, &pictures).unwrap();
            assert_eq!(names(&folder), files, "{areas} areas");
            for (path, picture) in paths.iter().zip(&pictures) {
                assert_eq!(frame::read(path).unwrap(), picture.frame);
            }
        }
    }

    #[test]
    fn no_pictures_need_no_folder() {
        let root = tempfile::tempdir().unwrap();
        write_pictures(&root.path().join("new"), &[]).unwrap();
        assert!(names(root.path()).is_empty());
    }

    #[test]
    fn files_no_run_wrote_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let outside = folder.path().join("outside.png");
        let shown = folder.path().join("shown");
        write_pictures(&shown, &drawn(1)).unwrap();
        let mine = ["area-12-after.png", "diff.png", "mine.png"];
        for name in mine {
            fs::write(shown.join(name), "").unwrap();
        }
        fs::write(&outside, "").unwrap();
        let list = fs::read_to_string(shown.join(LIST)).unwrap();
        fs::write(shown.join(LIST), format!("{list}\n../outside.png\n/etc\n.\n")).unwrap();
        write_pictures(&shown, &[]).unwrap();
        assert_eq!(names(&shown), mine);
        assert!(outside.is_file());
    }

    #[test]
    fn what_others_put_there_is_neither_replaced_nor_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let (mine, out) = (folder.path().join("overview.png"), Some(folder.path()));
        fs::write(&mine, "mine").unwrap();
        keep_inputs(out, [mine.as_path()]).unwrap();
        let error = write_pictures(folder.path(), &drawn(1)).unwrap_err().to_string();
        assert!(error.contains("overview.png: is in the way"), "{error}");
        assert_eq!(fs::read(&mine).unwrap(), b"mine");
        assert_eq!(names(folder.path()), ["overview.png"]);
        fs::remove_file(&mine).unwrap();
        write_pictures(folder.path(), &drawn(1)).unwrap();
        let error = keep_inputs(out, [mine.as_path()]).unwrap_err().to_string();
        assert!(error.contains("overview.png: an earlier run wrote this"), "{error}");
    }

    #[test]
    fn trouble_leaves_the_earlier_pictures() {
        let folder = tempfile::tempdir().unwrap();
        write_pictures(folder.path(), &drawn(1)).unwrap();
        let before = names(folder.path());
        // A folder stands where a part file would.
        fs::create_dir(folder.path().join("area-2-after.png.part")).unwrap();
        let error = write_pictures(folder.path(), &drawn(2)).unwrap_err().to_string();
        assert!(
            error.contains("pictures cannot be written to it (--out): is a directory"),
            "{error}"
        );
        fs::remove_dir(folder.path().join("area-2-after.png.part")).unwrap();
        assert_eq!(names(folder.path()), before);
        let file = folder.path().join("overview.png");
        // A file is no folder, whether there is anything to write or not.
        for (out, areas) in [(file.clone(), 1), (file.clone(), 0), (file.join("new"), 0)] {
            let error = write_pictures(&out, &drawn(areas)).unwrap_err().to_string();
            let told = format!(
                "{}: pictures cannot be written, for {} is no folder; give --out another one",
                out.display(),
                file.display()
            );
            assert_eq!(error, told);
        }
    }
}
