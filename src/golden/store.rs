//! The files of goldens, read and written whole or not at all.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use crate::error::{Error, Result};
use crate::frame::{self, Frame, encode_png};

use super::put::put;

/// What Git LFS leaves in a checkout in place of a file it did not fetch.
const LFS_POINTER: &[u8] = b"version https://git-lfs";

/// Whether something stands at `path`, be it a link that leads nowhere.
///
/// # Errors
/// When that cannot be told.
pub(super) fn stands(path: &Path) -> Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::io(format!("{}: cannot be read", path.display()), error)),
    }
}

/// The golden at `path`, or none where nothing stands.
///
/// # Errors
/// When something stands there that cannot be read or is no picture.
pub(super) fn read(path: &Path) -> Result<Option<Frame>> {
    if !stands(path)? {
        return Ok(None);
    }
    if is_lfs_pointer(path) {
        return Err(Error::file(format!(
            "{}: is a pointer of Git LFS and no picture: fetch it with `git lfs pull`",
            path.display()
        )));
    }
    let with_advice = |error: Error| {
        Error::new(
            error.kind(),
            format!("{error}; restore it, or write it anew with SEECHANGE_UPDATE=force"),
        )
        .with_source(error)
    };
    frame::read(path).map(Some).map_err(with_advice)
}

fn is_lfs_pointer(path: &Path) -> bool {
    let mut start = [0; LFS_POINTER.len()];
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_file
        && fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == LFS_POINTER
}

/// Writes `frame` to `path` as PNG, as [`put`] does.
///
/// # Errors
/// When it cannot be written; what stood there is then still there.
pub(super) fn write(path: &Path, frame: &Frame) -> Result<()> {
    put(path, &encode_png(frame)?, |_| Ok(()))
        .map_err(|error| Error::io(format!("{}: cannot be written", path.display()), error))
}

/// Removes what an earlier check left; that it left nothing is what is wanted.
///
/// # Errors
/// When it stands there and cannot be removed.
pub(super) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io(format!("{}: cannot be removed", path.display()), error))
        }
        _ => Ok(()),
    }
}
