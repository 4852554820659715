//! Pictures of a report as files in one folder.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::frame::encode_png;
use crate::report::Picture;

/// Writes `pictures` into `folder`, which is made for the first of them where it is missing, and
/// gives their paths in the same order.
///
/// All of them appear, or none: they are encoded and written under other names first. Pictures of
/// an earlier run that this one does not write (an `area-3-after.png` when only two areas changed)
/// are removed, so that the folder always shows one run; files of any other name are left alone.
///
/// # Errors
/// When the folder cannot be made or a file cannot be written; the pictures of the earlier run are
/// then still there.
pub(crate) fn write_pictures(folder: &Path, pictures: &[Picture]) -> Result<Vec<PathBuf>> {
    if pictures.is_empty() && !folder.exists() {
        return Ok(Vec::new());
    }
    let encoded = pictures
        .iter()
        .map(|picture| Ok((folder.join(picture.shot.file_name()), encode_png(&picture.frame)?)))
        .collect::<Result<Vec<_>>>()?;
    let cannot =
        |error| Error::io(format!("{}: pictures cannot be written", folder.display()), error);
    let paths: Vec<PathBuf> = encoded.iter().map(|(path, _)| path.clone()).collect();
    if let Err(error) = write_all(folder, &encoded) {
        paths.iter().for_each(|path| discard(&part(path)));
        return Err(cannot(error));
    }
    remove_earlier(folder, &paths).map_err(cannot)?;
    Ok(paths)
}

/// Every file under another name, then all of them renamed.
fn write_all(folder: &Path, encoded: &[(PathBuf, Vec<u8>)]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (path, png) in encoded {
        let part = part(path);
        discard(&part);
        // Only a new file: whatever a link of that name points to stays as it is.
        fs::File::create_new(part)?.write_all(png)?;
    }
    for (path, _) in encoded {
        fs::rename(part(path), path)?;
    }
    Ok(())
}

fn part(path: &Path) -> PathBuf {
    path.with_extension("png.part")
}

/// A part file that stays is harmless, and one that is not there is what is wanted.
fn discard(part: &Path) {
    drop(fs::remove_file(part));
}

fn remove_earlier(folder: &Path, written: &[PathBuf]) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let ours = entry.file_name().to_str().is_some_and(is_picture_name);
        if ours && !written.contains(&path) && entry.file_type()?.is_file() {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// The names of [`Shot::file_name`](crate::report::Shot::file_name).
fn is_picture_name(name: &str) -> bool {
    let is_area = |name: &str| {
        let (number, role) = name.split_once('-')?;
        let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        Some(digits && matches!(role, "before.png" | "after.png"))
    };
    matches!(name, "overview.png" | "diff.png")
        || name.strip_prefix("area-").and_then(is_area).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{self, Frame, PixelFormat};
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
    fn files_of_other_names_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let kept =
            ["area-.png", "area-1-both.png", "area-x-after.png", "mine.png", "overview.png.txt"];
        for name in kept.iter().chain(&["area-12-after.png", "diff.png"]) {
            fs::write(folder.path().join(name), "").unwrap();
        }
        write_pictures(folder.path(), &[]).unwrap();
        assert_eq!(names(folder.path()), kept);
    }

    #[test]
    fn trouble_leaves_the_earlier_pictures() {
        let folder = tempfile::tempdir().unwrap();
        write_pictures(folder.path(), &drawn(1)).unwrap();
        let before = names(folder.path());
        // A folder stands where a part file would.
        fs::create_dir(folder.path().join("area-2-after.png.part")).unwrap();
        let error = write_pictures(folder.path(), &drawn(2)).unwrap_err().to_string();
        assert!(error.contains("pictures cannot be written: file exists"), "{error}");
        fs::remove_dir(folder.path().join("area-2-after.png.part")).unwrap();
        assert_eq!(names(folder.path()), before);
        let file = folder.path().join("overview.png");
        let error = write_pictures(&file, &drawn(1)).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{}: pictures cannot be", file.display())), "{error}");
    }
}
