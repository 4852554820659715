//! The only place of the command that prints.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::ErrorKind as ClapKind;
use serde_json::{Value, json};

use crate::error::{Error, Shown};

/// The exit code of trouble: bad usage, an unreadable file, no display.
const TROUBLE: u8 = 2;

/// What a command found: the same answer as text and as JSON, and its exit code (0 or 1).
pub(crate) struct Answer {
    /// For people, without a line break at the end.
    pub(crate) text: String,
    /// For programs.
    pub(crate) json: Value,
    /// 0 same, met, delivered; 1 changed, not met, refused, unknown.
    pub(crate) code: u8,
}

impl Answer {
    /// The answer in one of its forms.
    pub(crate) fn line(&self, as_json: bool) -> String {
        if as_json { self.json.to_string() } else { self.text.clone() }
    }

    /// Prints the answer to stdout, in one of its forms.
    pub(super) fn print(&self, as_json: bool) -> ExitCode {
        match write_line(&mut io::stdout().lock(), &self.line(as_json)) {
            Ok(()) => ExitCode::from(self.code),
            // Whoever read the answer has seen enough of it.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(self.code),
            Err(error) => Trouble::from(Error::io("stdout", error)).print(false),
        }
    }
}

/// One line to stdout.
///
/// # Errors
/// When nobody reads any more.
pub(crate) fn say(line: &str) -> Result<(), Error> {
    write_line(&mut io::stdout().lock(), line).map_err(|error| Error::io("stdout", error))
}

/// One line to stderr: words beside the answer.
pub(crate) fn remark(line: &str) {
    // There is nowhere left to report that stderr is closed.
    drop(write_line(&mut io::stderr().lock(), line));
}

/// A line on stderr that takes the place of the one before: how far something is. An empty one
/// clears it.
pub(super) fn progress(line: &str) {
    // As for a remark.
    drop(write_over(&mut io::stderr().lock(), line));
}

fn write_over(stream: &mut impl Write, line: &str) -> io::Result<()> {
    // Back to the first column, and what stood there is erased.
    write!(stream, "\r\x1b[K{line}")?;
    stream.flush()
}

fn write_line(stream: &mut impl Write, line: &str) -> io::Result<()> {
    stream.write_all(line.as_bytes())?;
    stream.write_all(b"\n")?;
    stream.flush()
}

/// The tool could not do its job.
pub(super) struct Trouble {
    kind: &'static str,
    message: String,
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self { kind: error.kind().name(), message: error.to_string() }
    }
}

impl Trouble {
    /// One line on stderr, with `--json` also an object on stdout; exit code 2.
    pub(super) fn print(&self, as_json: bool) -> ExitCode {
        remark(&format!("seechange: {}", Shown(&self.message)));
        if as_json {
            let error = json!({"error": {"kind": self.kind, "message": self.message}});
            // Already on stderr in words, and the exit code says it again.
            drop(write_line(&mut io::stdout().lock(), &error.to_string()));
        }
        ExitCode::from(TROUBLE)
    }
}

/// Help and version go to stdout; anything else clap says becomes one line.
pub(super) fn usage(error: &clap::Error, as_json: bool) -> ExitCode {
    match error.kind() {
        ClapKind::DisplayHelp | ClapKind::DisplayVersion => {
            let shown = write_line(&mut io::stdout().lock(), error.render().to_string().trim_end());
            ExitCode::from(if shown.is_ok() { 0 } else { TROUBLE })
        }
        ClapKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            remark(error.render().to_string().trim_end());
            ExitCode::from(TROUBLE)
        }
        _ => {
            Trouble { kind: "usage", message: one_line(&error.render().to_string()) }.print(as_json)
        }
    }
}

/// clap's paragraphs up to the usage, joined.
pub(super) fn one_line(text: &str) -> String {
    let told = text.split("\nUsage:").next().unwrap_or(text);
    let told = told.split("\nFor more information").next().unwrap_or(told);
    let parts: Vec<&str> = told.lines().map(str::trim).filter(|line| is_telling(line)).collect();
    let joined = parts.join(" ").replace(":  ", ": ");
    format!("{}; see --help", joined.trim_start_matches("error: "))
}

/// Not empty, and not the tip that takes a misspelt option for a value.
fn is_telling(line: &str) -> bool {
    !line.is_empty() && !line.starts_with("tip: to pass")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    #[test]
    fn usage_errors_are_one_line() {
        for (arguments, message) in [
            (
                vec!["seechange", "diff", "a.png"],
                "the following required arguments were not provided: <AFTER>; see --help",
            ),
            (
                vec!["seechange", "diff", "a", "b", "--tolerance", "0.1"],
                "invalid value '0.1' for '--tolerance <METRIC:N>': tolerance '0.1' names no \
                 metric: use exact, channel:0..255, yiq:0..1 or oklab:0..1; see --help",
            ),
            (
                vec!["seechange", "diff", "a", "b", "--bogus"],
                "unexpected argument '--bogus' found; see --help",
            ),
            (vec!["seechange", "nope"], "unrecognized subcommand 'nope'; see --help"),
        ] {
            let error = super::super::Cli::try_parse_from(arguments).unwrap_err();
            assert_eq!(one_line(&error.render().to_string()), message);
        }
    }
}
