//! Every picture below a folder.

use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

use super::{Name, Place};

/// The endings of the pictures that are read.
const ENDINGS: [&str; 9] = ["png", "jpg", "jpeg", "webp", "bmp", "tif", "tiff", "gif", "qoi"];

/// What a folder holds.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// The pictures by name, and folders that cannot be looked into.
    pub(crate) found: Vec<(Name, Place)>,
    /// Files whose names do not end as those of pictures.
    pub(crate) other_files: usize,
    /// Links to folders, which are not followed.
    pub(crate) folder_links: usize,
}

/// Finds what is called like a picture (`.png`, `.JPG`, …) below `root`, but nothing below the
/// folders `without`, which are resolved paths.
///
/// A link to a file is followed where it stays below `root`; one that leads elsewhere or nowhere is
/// trouble of that file. A link to a folder is not followed, so no loop is.
///
/// # Errors
/// When `root` is no folder that can be read.
pub(crate) fn walk(root: &Path, without: &[PathBuf]) -> Result<Walked> {
    let cannot = |error| Error::io(format!("{}: cannot be read", root.display()), error);
    let resolved = root.canonicalize().map_err(cannot)?;
    if !resolved.is_dir() {
        return Err(Error::usage(format!(
            "{}: is no folder: compare takes two folders, diff two files",
            root.display()
        )));
    }
    let mut walk = Walk { root: resolved.clone(), without, walked: Walked::default() };
    let mut folders = vec![(None, resolved)];
    walk.look_into(None, &folders[0].1.clone(), &mut folders).map_err(cannot)?;
    folders.remove(0);
    while let Some((name, path)) = folders.pop() {
        if let (Err(error), Some(name)) = (walk.look_into(name.as_ref(), &path, &mut folders), name)
        {
            let trouble = Error::io("cannot be looked into", error).to_string();
            walk.walked.found.push((name, Place { path, trouble: Some(trouble) }));
        }
    }
    walk.walked.found.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    Ok(walk.walked)
}

/// Whether a file is called like a picture.
pub(crate) fn has_picture_name(path: &Path) -> bool {
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
}

struct Walk<'a> {
    root: PathBuf,
    without: &'a [PathBuf],
    walked: Walked,
}

type Folders = Vec<(Option<Name>, PathBuf)>;

impl Walk<'_> {
    fn look_into(
        &mut self,
        name: Option<&Name>,
        path: &Path,
        folders: &mut Folders,
    ) -> io::Result<()> {
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let name = Name::below(name, &entry.file_name());
            self.look_at(name, &entry, folders)?;
        }
        Ok(())
    }

    fn look_at(&mut self, name: Name, entry: &DirEntry, folders: &mut Folders) -> io::Result<()> {
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() {
            if !self.without.contains(&path) {
                folders.push((Some(name), path));
            }
        } else if kind.is_symlink() && path.is_dir() {
            self.walked.folder_links += 1;
        } else if has_picture_name(&path) {
            let trouble = kind.is_symlink().then(|| self.link_trouble(&path)).flatten();
            self.walked.found.push((name, Place { path, trouble }));
        } else {
            self.walked.other_files += 1;
        }
        Ok(())
    }

    fn link_trouble(&self, link: &Path) -> Option<String> {
        match link.canonicalize() {
            Ok(target) if target.starts_with(&self.root) => None,
            Ok(_) => Some("is a link to outside of its folder, which is not followed".to_owned()),
            Err(error) => Some(Error::io("is a link that leads nowhere", error).to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(walked: &Walked) -> Vec<String> {
        walked.found.iter().map(|(name, _)| name.text()).collect()
    }

    #[test]
    fn pictures_are_found_in_the_order_of_their_names() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.png", "a/z.JPG", "a/b/c.webp", "a.png", "a/notes.txt", "out/pairs/x.png"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let out = folder.path().canonicalize().unwrap().join("out");
        let walked = walk(folder.path(), &[out]).unwrap();
        assert_eq!(names(&walked), ["a.png", "a/b/c.webp", "a/z.JPG", "b.png"]);
        assert_eq!((walked.other_files, walked.folder_links), (1, 0));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_to_files_inside_alone() {
        use std::os::unix::fs::symlink;
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::NamedTempFile::new());
        let root = folder.path();
        fs::create_dir(root.join("sub")).unwrap();
        fs::write(root.join("real.png"), "").unwrap();
        for (link, to) in [
            ("sub/inside.png", Path::new("../real.png")),
            ("outside.png", outside.unwrap().path()),
            ("nowhere.png", Path::new("gone.png")),
            ("itself.png", Path::new("itself.png")),
            ("sub/loop", Path::new("..")),
        ] {
            symlink(to, root.join(link)).unwrap();
        }
        let walked = walk(root, &[]).unwrap();
        let troubles: Vec<(String, bool)> = walked
            .found
            .iter()
            .map(|(name, place)| (name.text(), place.trouble.is_some()))
            .collect();
        let expected = [
            ("itself.png", true),
            ("nowhere.png", true),
            ("outside.png", true),
            ("real.png", false),
            ("sub/inside.png", false),
        ];
        assert_eq!(troubles, expected.map(|(name, is_trouble)| (name.to_owned(), is_trouble)));
        assert_eq!(walked.folder_links, 1);
    }

    #[test]
    fn what_is_no_folder_is_said_to_be_none() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let message = walk(file.path(), &[]).unwrap_err().to_string();
        assert!(message.ends_with("is no folder: compare takes two folders, diff two files"));
        let message = walk(Path::new("/no/such"), &[]).unwrap_err().to_string();
        assert_eq!(message, "/no/such: cannot be read: no such file or directory");
    }
}
