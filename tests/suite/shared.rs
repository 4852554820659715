//! The folder of pictures and timelines with known answers, which lies beside the checkout.

use std::path::{Path, PathBuf};

/// `../shared/NAME`, or below `SEECHANGE_SHARED`; where it is absent, says that the test is
/// skipped.
pub(crate) fn folder(name: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let shared = std::env::var_os("SEECHANGE_SHARED").map_or(beside, PathBuf::from);
    let folder = shared.join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: {} is absent (set SEECHANGE_SHARED)", folder.display());
    None
}
