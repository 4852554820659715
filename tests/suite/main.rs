//! Everything that needs the built command, files or real programs.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test says what it skips and stops where it fails"
)]

mod act;
mod bench_command;
mod command;
#[cfg(all(feature = "x11", unix))]
mod desktop;
mod diff_command;
mod fixtures;
mod formats;
mod licences;
mod moved;
mod pixelmatch;
mod properties;
mod record;
mod shared;
mod waits;
