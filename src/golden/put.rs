//! A file put in the place of another: the new one whole, or the old one as it was.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// Puts `bytes` in the place of the file at `path`, or makes it with its folders.
///
/// It is written beside under a name nobody else has, made `ready`, then renamed: a reader sees the
/// old file or the new one, and what stood there is lost only once the new one is whole.
///
/// # Errors
/// When it cannot be written; what stood there is then still there.
pub(super) fn put(
    path: &Path,
    bytes: &[u8],
    ready: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    let part = part(path);
    let written = path
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| write(&part, bytes, ready))
        .and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        // The error that matters is the one that is given; a part file that stays is harmless.
        drop(fs::remove_file(&part));
    }
    written
}

fn write(part: &Path, bytes: &[u8], ready: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    let mut file = File::create_new(part)?;
    file.write_all(bytes)?;
    ready(&file)
}

/// A hidden file beside `path`, another one at each call in any process; its name is short, for
/// that of `path` may be as long as a name can be.
fn part(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".seechange-{}-{count}.part", process::id()))
}
