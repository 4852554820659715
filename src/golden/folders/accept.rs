//! A golden picture replaced: the new one whole, or the old one as it was.

use std::fs::{self, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::golden::put::put;

use super::Name;

/// The folder of the golden pictures, which nothing is written outside of.
#[derive(Clone, Debug)]
pub(crate) struct GoldenFolder {
    root: PathBuf,
}

impl GoldenFolder {
    /// # Errors
    /// When `root` is no folder.
    pub(crate) fn open(root: &Path) -> Result<Self> {
        let cannot = |error| Error::io(format!("{}: cannot be read", root.display()), error);
        let resolved = root.canonicalize().map_err(cannot)?;
        if !resolved.is_dir() {
            return Err(Error::usage(format!("{}: is no folder", root.display())));
        }
        Ok(Self { root: resolved })
    }

    /// Where the golden picture lies, or will: links are followed where they stay inside.
    ///
    /// # Errors
    /// When it would lie outside, or what stands there is no file.
    pub(crate) fn place(&self, name: &Name) -> Result<PathBuf> {
        let path = self.root.join(name.path());
        let there = path.ancestors().find(|part| part.symlink_metadata().is_ok());
        let there = there.unwrap_or(&self.root);
        let resolved =
            there.canonicalize().map_err(|error| Error::io("cannot be reached", error))?;
        if !resolved.starts_with(&self.root) {
            return Err(Error::file("is a link to outside of the golden folder"));
        }
        let rest = path.strip_prefix(there).unwrap_or(Path::new(""));
        if rest.as_os_str().is_empty() {
            let is_file = resolved.is_file();
            return if is_file { Ok(resolved) } else { Err(Error::file("is not a file")) };
        }
        match resolved.is_dir() {
            true => Ok(resolved.join(rest)),
            false => Err(Error::file("lies below something that is no folder")),
        }
    }

    /// The files below this folder for which `is_wanted`, by name. Links to folders are not
    /// followed.
    ///
    /// # Errors
    /// When a folder cannot be looked into.
    pub(crate) fn files(&self, is_wanted: &dyn Fn(&Path) -> bool) -> io::Result<Vec<Name>> {
        let (mut names, mut folders) = (Vec::new(), vec![(None, self.root.clone())]);
        while let Some((name, folder)) = folders.pop() {
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                let name = Name::below(name.as_ref(), &entry.file_name());
                match entry.file_type()? {
                    kind if kind.is_dir() => folders.push((Some(name), entry.path())),
                    kind if kind.is_file() && is_wanted(name.path()) => names.push(name),
                    _ => {}
                }
            }
        }
        names.sort_unstable();
        Ok(names)
    }
}

/// Puts `bytes` in the place of the golden picture at `path`, or makes it with its folders, as
/// [`put`] does and not before they are on the disk. What the file permits stays.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put(path, bytes, |new| {
        permissions(path).map_or(Ok(()), |permissions| new.set_permissions(permissions))?;
        new.sync_all()
    })
}

/// Renames `new` to `path` with the permissions of what stands there.
pub(crate) fn take_place(new: &Path, path: &Path) -> io::Result<()> {
    permissions(path).map_or(Ok(()), |permissions| fs::set_permissions(new, permissions))?;
    fs::rename(new, path)
}

fn permissions(path: &Path) -> Option<Permissions> {
    fs::metadata(path).ok().map(|metadata| metadata.permissions())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::new(Path::new(text)).unwrap()
    }

    #[test]
    fn a_file_is_replaced_or_made_and_nothing_is_left_beside() {
        let folder = tempfile::tempdir().unwrap();
        for (path, bytes) in [("a.png", "one"), ("a.png", "two"), ("new/b/c.png", "three")] {
            let path = folder.path().join(path);
            replace_file(&path, bytes.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), bytes);
        }
        let golden = GoldenFolder::open(folder.path()).unwrap();
        assert_eq!(golden.files(&|_| true).unwrap(), [name("a.png"), name("new/b/c.png")]);
    }

    #[test]
    fn what_cannot_be_replaced_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("inside"), "").unwrap();
        assert!(replace_file(&path, b"new").is_err());
        assert!(replace_file(&path.join("inside/b.png"), b"new").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no part file stays");
    }

    #[cfg(unix)]
    #[test]
    fn permissions_stay() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        replace_file(&path, b"new").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn places_are_inside() {
        use std::os::unix::fs::symlink;
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = |path: &str| root.path().join(path);
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("sub/a.png"), "").unwrap();
        fs::write(outside.path().join("o.png"), "").unwrap();
        symlink("sub/a.png", at("link.png")).unwrap();
        symlink(outside.path(), at("out")).unwrap();
        symlink(outside.path().join("o.png"), at("out.png")).unwrap();
        symlink("gone.png", at("broken.png")).unwrap();
        let golden = GoldenFolder::open(root.path()).unwrap();
        let real = root.path().canonicalize().unwrap();
        for (text, place) in [
            ("sub/a.png", Ok("sub/a.png")),
            ("link.png", Ok("sub/a.png")),
            ("new/deep/b.png", Ok("new/deep/b.png")),
            ("out.png", Err("is a link to outside of the golden folder")),
            ("out/o.png", Err("is a link to outside of the golden folder")),
            ("out/new.png", Err("is a link to outside of the golden folder")),
            ("broken.png", Err("cannot be reached: no such file or directory")),
            ("sub", Err("is not a file")),
            ("sub/a.png/b.png", Err("lies below something that is no folder")),
        ] {
            let got = golden.place(&name(text)).map_err(|error| error.to_string());
            assert_eq!(got, place.map(|path| real.join(path)).map_err(str::to_owned), "{text}");
        }
    }
}
