//! Running the built command.

use std::path::Path;
use std::process::{Command, Stdio};

/// What a run of the command answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Answer {
    /// The one JSON object on stdout.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {:?}, {:?}", self.stdout, self.stderr))
    }
}

/// The command, without a display of the machine the tests run on.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seechange"));
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").stdin(Stdio::null());
    command
}

/// Runs `seechange ARGUMENTS` in `folder`.
pub(crate) fn seechange(folder: &Path, arguments: &[&str]) -> Answer {
    let output = command().current_dir(folder).args(arguments).output().unwrap();
    Answer {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}
