//! The `seechange` command.

use std::process::ExitCode;

/// Runs the command with the arguments of this process.
#[must_use]
pub fn run() -> ExitCode {
    ExitCode::from(2)
}
