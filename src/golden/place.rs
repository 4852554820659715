//! Where the files of a golden lie.

use std::env;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

use super::name;
use super::options::{GoldenOptions, Platform};

/// The folder of goldens, where none is given, below the working directory: that of the package
/// in `cargo test`.
const FOLDER: &str = "tests/golden";

/// The files of one golden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The folder of the goldens.
    pub(super) folder: PathBuf,
    /// The golden that is compared.
    pub(super) compared: PathBuf,
    /// The golden that is written; another one where the platform is to get its own.
    pub(super) written: PathBuf,
    /// What was drawn.
    pub(super) new: PathBuf,
    /// Where the two differ.
    pub(super) diff: PathBuf,
}

impl Place {
    /// The files of the golden `name`: those of this platform where it has a golden of its own.
    ///
    /// # Errors
    /// When the name would leave the folder, or means something else elsewhere.
    pub(super) fn find(name: &str, options: &GoldenOptions) -> Result<Self> {
        name::check(name)?;
        let folder = options.folder_in_force().unwrap_or(Path::new(FOLDER));
        let file = |stem: &str, ending: &str| folder.join(format!("{stem}{ending}"));
        let own = format!("{name}.{}", Platform::current().name());
        let has_own = file(&own, ".png").symlink_metadata().is_ok();
        let compared = if has_own { &own } else { name };
        let written = if has_own || options.is_per_platform() { &own } else { name };
        Ok(Self {
            folder: folder.to_owned(),
            compared: file(compared, ".png"),
            written: file(written, ".png"),
            new: file(written, ".new.png"),
            diff: file(written, ".diff.png"),
        })
    }
}

/// The folder `golden` beside the source file `file` of the package in `manifest`.
///
/// The compiler names a file from the root of its workspace, which is the package's folder or one
/// above it, so the file is looked for from there upwards. Where the sources lie elsewhere than when
/// they were compiled, the package's folder as cargo tells it now is asked too.
#[doc(hidden)]
#[must_use]
pub fn beside(manifest: &str, file: &str) -> PathBuf {
    let now = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let roots = [Some(PathBuf::from(manifest)), now];
    beside_in(roots.iter().flatten().map(PathBuf::as_path), Path::new(file))
        .unwrap_or_else(|| Path::new(manifest).join(FOLDER))
}

fn beside_in<'r>(mut packages: impl Iterator<Item = &'r Path>, file: &Path) -> Option<PathBuf> {
    let found = packages.find_map(|package| {
        package.ancestors().map(|root| root.join(file)).find(|source| source.is_file())
    })?;
    Some(found.parent()?.join("golden"))
}

/// An error about the golden of that name.
pub(super) fn about(name: &str) -> impl Fn(Error) -> Error {
    let name = name.to_owned();
    move |error| error.context(format!("golden '{name}'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn goldens_lie_beside_the_source_file_also_in_a_workspace() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for file in ["a/tests/button.rs", "a/src/lib.rs", "tests/button.rs"] {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "").unwrap();
        }
        let package = root.join("a");
        let elsewhere = root.join("gone");
        for (packages, file, wanted) in [
            // A package alone: named from its own folder.
            (vec![&package], "tests/button.rs", Some("a/tests/golden")),
            (vec![&package], "src/lib.rs", Some("a/src/golden")),
            // A member of a workspace: named from the workspace's.
            (vec![&package], "a/tests/button.rs", Some("a/tests/golden")),
            // Compiled elsewhere.
            (vec![&elsewhere, &package], "a/src/lib.rs", Some("a/src/golden")),
            (vec![&elsewhere], "src/nothing.rs", None),
        ] {
            let found = beside_in(packages.into_iter().map(PathBuf::as_path), Path::new(file));
            assert_eq!(found, wanted.map(|wanted| root.join(wanted)), "{file}");
        }
    }

    #[test]
    fn the_golden_of_the_platform_wins() {
        let folder = tempfile::tempdir().unwrap();
        let own = |ending: &str| format!("a.{}{ending}", Platform::current().name());
        for (has_own, per_platform, compared, written, new) in [
            (false, false, "a.png".to_owned(), "a.png".to_owned(), "a.new.png".to_owned()),
            (false, true, "a.png".to_owned(), own(".png"), own(".new.png")),
            (true, false, own(".png"), own(".png"), own(".new.png")),
            (true, true, own(".png"), own(".png"), own(".new.png")),
        ] {
            if has_own {
                fs::write(folder.path().join(own(".png")), "").unwrap();
            }
            let options = GoldenOptions::new().folder(folder.path()).per_platform(per_platform);
            let place = Place::find("a", &options).unwrap();
            let names = [place.compared, place.written, place.new]
                .map(|path| path.strip_prefix(folder.path()).unwrap().to_str().unwrap().to_owned());
            assert_eq!(names, [compared, written, new], "{has_own} {per_platform}");
        }
    }
}
