//! When goldens are written.

use std::env;

use crate::error::{Error, Result, Shown};

/// The variable that says when.
const VARIABLE: &str = "SEECHANGE_UPDATE";

/// When goldens are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Never: a missing golden fails. The default in CI; `SEECHANGE_UPDATE=0`.
    Never,
    /// Where there is none. The default elsewhere; `SEECHANGE_UPDATE=new`.
    Missing,
    /// Where there is none or the picture differs; `SEECHANGE_UPDATE=1`.
    Differing,
    /// Always, also where the picture equals the golden within the tolerance, and over a file that
    /// is no picture; `SEECHANGE_UPDATE=force`.
    All,
}

impl Update {
    /// What the variables `SEECHANGE_UPDATE` and `CI` say.
    ///
    /// # Errors
    /// When `SEECHANGE_UPDATE` is none of `1`, `new`, `force` and `0`.
    pub fn from_env() -> Result<Self> {
        let read = |name: &str| env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        Self::read(read(VARIABLE).as_deref(), read("CI").as_deref())
    }

    fn read(update: Option<&str>, ci: Option<&str>) -> Result<Self> {
        match update.unwrap_or_default() {
            "" if is_ci(ci.unwrap_or_default()) => Ok(Self::Never),
            "" | "new" => Ok(Self::Missing),
            "0" => Ok(Self::Never),
            "1" => Ok(Self::Differing),
            "force" => Ok(Self::All),
            other => Err(Error::usage(format!(
                "{VARIABLE} is '{}': use 1 (write goldens that differ or are missing), new (only \
                 missing ones), force (all) or 0 (none)",
                Shown(other)
            ))),
        }
    }
}

fn is_ci(value: &str) -> bool {
    !matches!(value.to_lowercase().as_str(), "" | "false" | "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_when_goldens_are_written() {
        for (update, ci, wanted) in [
            (None, None, Update::Missing),
            (None, Some("true"), Update::Never),
            (None, Some("1"), Update::Never),
            (None, Some("woodpecker"), Update::Never),
            (None, Some("False"), Update::Missing),
            (None, Some("0"), Update::Missing),
            (None, Some(""), Update::Missing),
            (Some(""), Some("true"), Update::Never),
            (Some("new"), Some("true"), Update::Missing),
            (Some("1"), Some("true"), Update::Differing),
            (Some("1"), None, Update::Differing),
            (Some("force"), None, Update::All),
            (Some("0"), None, Update::Never),
        ] {
            assert_eq!(Update::read(update, ci).unwrap(), wanted, "{update:?} {ci:?}");
        }
        for wrong in ["yes", "true", "New", "always", "1 "] {
            assert_eq!(
                Update::read(Some(wrong), None).unwrap_err().to_string(),
                format!(
                    "SEECHANGE_UPDATE is '{wrong}': use 1 (write goldens that differ or are \
                     missing), new (only missing ones), force (all) or 0 (none)"
                )
            );
        }
    }
}
