//! The name of a golden: a path of plain words below the folder.

use crate::error::{Error, Result, Shown};

use super::options::Platform;

/// Bytes a part of a name may have: with its endings it stays below what file systems take.
const MAX_PART_BYTES: usize = 200;

/// What Windows does not take in a file name, and what separates there.
const FORBIDDEN: &[char] = &['\\', ':', '*', '?', '"', '<', '>', '|'];

/// File names that mean a device on Windows, whatever their ending.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul"];

/// Checks that `name` makes the same files on every platform, and none outside the folder.
///
/// # Errors
/// When it does not; the message names the name and what is wrong with it.
pub(super) fn check(name: &str) -> Result<()> {
    let reason = match name {
        "" => Some("is empty".to_owned()),
        _ if name.starts_with('/') => Some("is absolute".to_owned()),
        _ => name.split('/').find_map(refused).or_else(|| ending(name)),
    };
    reason.map_or(Ok(()), |reason| {
        Err(Error::usage(format!(
            "the golden name '{}' {reason}: use plain words with '/' between folders",
            Shown(name)
        )))
    })
}

/// What is wrong with one part of a name.
fn refused(part: &str) -> Option<String> {
    let stem = part.split('.').next().unwrap_or_default().to_lowercase();
    let is_numbered = |device: &str| {
        stem.strip_prefix(device).is_some_and(|rest| matches!(rest.as_bytes(), [b'0'..=b'9']))
    };
    match part {
        "" => Some("has an empty part".to_owned()),
        "." | ".." => Some(format!("has the part '{part}' and may leave the folder")),
        _ if part.len() > MAX_PART_BYTES => Some(format!(
            "has a part of {} bytes, more than the {MAX_PART_BYTES} that fit",
            part.len()
        )),
        _ if part.contains(char::is_control) => Some("has a control character".to_owned()),
        _ if part.contains(FORBIDDEN) => Some("has one of \\ : * ? \" < > |".to_owned()),
        _ if part.starts_with(['.', ' ']) || part.ends_with(['.', ' ']) => {
            Some("has a dot or a space at an end of a part".to_owned())
        }
        _ if DEVICES.contains(&stem.as_str()) || is_numbered("com") || is_numbered("lpt") => {
            Some(format!("has the part '{part}', a device on Windows"))
        }
        _ => None,
    }
}

/// What the name ends in that means something else.
fn ending(name: &str) -> Option<String> {
    let platforms = Platform::NAMED.map(Platform::name);
    let taken = ["png", "new", "diff"].into_iter().chain(platforms);
    let lower = name.to_lowercase();
    taken
        .map(|word| format!(".{word}"))
        .find(|ending| lower.ends_with(ending))
        .map(|ending| format!("ends in '{ending}', which is added where it is due"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_the_folder_and_mean_the_same_everywhere() {
        let long = "a".repeat(201);
        for (name, reason) in [
            ("button", None),
            ("dialogs/open file/Größe 2.5", None),
            ("common/com10", None),
            ("", Some("is empty")),
            ("/etc/passwd", Some("is absolute")),
            ("a//b", Some("has an empty part")),
            ("../a", Some("has the part '..' and may leave the folder")),
            ("a/../../b", Some("has the part '..' and may leave the folder")),
            ("a/./b", Some("has the part '.' and may leave the folder")),
            ("a\0b", Some("has a control character")),
            ("a\nb", Some("has a control character")),
            ("C:a", Some("has one of")),
            ("..\\a", Some("has one of")),
            ("what?", Some("has one of")),
            (".hidden", Some("has a dot or a space at an end of a part")),
            ("a./b", Some("has a dot or a space at an end of a part")),
            ("a /b", Some("has a dot or a space at an end of a part")),
            ("nul", Some("has the part 'nul', a device on Windows")),
            ("a/Com1.old", Some("has the part 'Com1.old', a device on Windows")),
            ("button.png", Some("ends in '.png'")),
            ("button.new", Some("ends in '.new'")),
            ("button.Diff", Some("ends in '.diff'")),
            ("button.linux", Some("ends in '.linux'")),
            (long.as_str(), Some("has a part of 201 bytes, more than the 200 that fit")),
        ] {
            let message = check(name).err().map(|error| error.to_string());
            match (message, reason) {
                (None, None) => {}
                (Some(message), Some(reason)) if message.contains(reason) => {
                    assert!(!message.contains('\n'), "{message}");
                }
                (message, _) => panic!("{name:?}: {message:?} instead of {reason:?}"),
            }
        }
    }
}
