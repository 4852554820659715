//! Everything that needs the built command, files or real programs.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test says what it skips and stops where it fails"
)]

mod accept_command;
mod act;
mod bench_command;
#[cfg(all(feature = "cli", unix))]
mod browser;
mod command;
mod compare_command;
#[cfg(all(feature = "x11", unix))]
mod desktop;
mod diff_command;
mod fixtures;
mod formats;
mod golden;
mod licences;
#[cfg(feature = "mcp")]
mod mcp;
mod moved;
#[cfg(all(feature = "cli", not(feature = "mcp")))]
mod no_mcp;
mod pixelmatch;
mod properties;
mod record;
#[cfg(all(feature = "cli", unix))]
mod report_folder;
#[cfg(all(feature = "cli", unix))]
mod report_page;
mod shared;
mod waits;
#[cfg(feature = "browser")]
mod browser_surface;
