//! Surfaces by name.

use std::path::PathBuf;
use std::str::FromStr;

use crate::error::{Error, Result};

/// What `--surface` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SurfaceName {
    /// The whole X11 display.
    X11,
    /// One X11 window, by title or id.
    X11Window(String),
    /// A recorded timeline.
    Replay(PathBuf),
    /// The simulated application.
    Demo,
}

impl FromStr for SurfaceName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once(':') {
            None if text == "x11" => Ok(Self::X11),
            None if text == "demo" => Ok(Self::Demo),
            Some(("x11", rest)) => match rest.strip_prefix("window=") {
                Some(window) if !window.is_empty() => Ok(Self::X11Window(window.to_owned())),
                _ => Err(unknown(text)),
            },
            Some(("replay", folder)) if !folder.is_empty() => Ok(Self::Replay(folder.into())),
            _ => Err(unknown(text)),
        }
    }
}

fn unknown(text: &str) -> Error {
    Error::usage(format!(
        "surface '{text}' is unknown to this build: use x11, x11:window=TITLE-OR-ID, replay:DIR \
         or demo"
    ))
}
