//! The `seechange` command; see the README.

use std::process::ExitCode;

fn main() -> ExitCode {
    seechange::front::cli::run()
}
