//! What a picture is called below its folder.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// A relative path of plain names, joined by `/`; ordered by its bytes. Names may be no text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Name {
    bytes: Vec<u8>,
    path: PathBuf,
}

impl Name {
    /// `None` when `path` is empty or absolute, or has a `.` or `..` in it.
    pub(crate) fn new(path: &Path) -> Option<Self> {
        let names = path.components().map(|component| match component {
            Component::Normal(name) => Some(name.as_encoded_bytes()),
            _ => None,
        });
        let bytes = names.collect::<Option<Vec<_>>>()?.join(&b'/');
        (!bytes.is_empty()).then(|| Self { bytes, path: path.components().collect() })
    }

    /// The name of `child`, a name without `/`, in the folder of this name.
    pub(super) fn below(folder: Option<&Self>, child: &OsStr) -> Self {
        let Some(folder) = folder else {
            return Self { bytes: child.as_encoded_bytes().to_vec(), path: child.into() };
        };
        let bytes = [&folder.bytes, b"/".as_slice(), child.as_encoded_bytes()].concat();
        Self { bytes, path: folder.path.join(child) }
    }

    /// What it is called, with `/`.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// As a path of this system.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What it is called; see [`spelled`].
    pub(crate) fn text(&self) -> String {
        spelled(&self.bytes)
    }

    /// The bytes in hexadecimal, when they are no text.
    pub(crate) fn hex(&self) -> Option<String> {
        let is_text = std::str::from_utf8(&self.bytes).is_ok();
        (!is_text).then(|| self.bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Bytes as text: what is none is spelled out, `\xff`, so that two names never look the same.
pub(crate) fn spelled(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text += chunk.valid();
        chunk.invalid().iter().for_each(|byte| text += &format!("\\x{byte:02x}"));
    }
    text
}

/// A path as text, its parts as [`spelled`] has them.
pub(crate) fn spelled_path(path: &Path) -> String {
    spelled(path.as_os_str().as_encoded_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_below_their_folder() {
        for (path, name) in [
            ("a.png", Some("a.png")),
            ("a/b c/d.png", Some("a/b c/d.png")),
            ("a//b.png", Some("a/b.png")),
            ("", None),
            ("/etc/a.png", None),
            ("../a.png", None),
            ("a/../../b.png", None),
            ("./a.png", None),
        ] {
            let got = Name::new(Path::new(path)).map(|name| name.text());
            assert_eq!(got.as_deref(), name, "{path:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_text_is_spelled_and_told_in_hexadecimal() {
        use std::os::unix::ffi::OsStrExt as _;
        let folder = Name::new(Path::new("a")).unwrap();
        for (bytes, text, hex) in [
            (&b"\xff.png"[..], r"a/\xff.png", Some("612fff2e706e67")),
            (b"\xfe.png", r"a/\xfe.png", Some("612ffe2e706e67")),
            // Cut short within a letter.
            (b"\xc3\xa9\xe2\x82.png", r"a/é\xe2\x82.png", Some("612fc3a9e2822e706e67")),
            (b"\xc3\xa9.png", "a/é.png", None),
        ] {
            let name = Name::below(Some(&folder), OsStr::from_bytes(bytes));
            assert_eq!((name.text().as_str(), name.hex().as_deref()), (text, hex));
        }
        assert_eq!(folder.hex(), None);
    }
}
