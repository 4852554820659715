//! One error type: what went wrong, where, and what to try next, in one line.

use std::error::Error as StdError;
use std::fmt;
#[cfg(feature = "png")]
use std::io;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The tool could not do its job.
///
/// An answer is never an error: pictures that differ, a wait that ran out and an action that was
/// refused are values of their own types. The message is one lower-case line without a full stop.
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// What sort of trouble an [`Error`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The caller asked for something that makes no sense: a bad option, an empty region.
    Usage,
    /// A file could not be read, understood or written.
    File,
    /// A size or an amount is past what this crate accepts.
    Limit,
    /// A display, a window or a recording cannot be seen or driven.
    Surface,
    /// A comparison of nothing, or a wait that could never be met, for instance a hold longer than
    /// the timeout.
    Impossible,
}

impl ErrorKind {
    /// The name used in JSON: `usage`, `file`, `limit`, `surface` or `impossible`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::File => "file",
            Self::Limit => "limit",
            Self::Surface => "surface",
            Self::Impossible => "impossible",
        }
    }
}

impl Error {
    /// An error of a given kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// A request that makes no sense.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// A file that cannot be read, understood or written.
    pub fn file(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::File, message)
    }

    /// A size or an amount past what is accepted.
    pub fn limit(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Limit, message)
    }

    /// A display, window or recording that cannot be used.
    pub fn surface(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Surface, message)
    }

    /// A wait that could never be met.
    pub fn impossible(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Impossible, message)
    }

    /// A file or a stream that failed: `what: reason`, without the operating system's number.
    #[cfg(feature = "png")]
    pub(crate) fn io(what: impl fmt::Display, error: io::Error) -> Self {
        let told = error.to_string().to_lowercase();
        let reason = told.split(" (os error").next().unwrap_or_default();
        Self::file(format!("{what}: {reason}")).with_source(error)
    }

    /// The same error with what caused it.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The same error with `context: ` in front of its message.
    #[must_use]
    pub fn context(mut self, context: impl fmt::Display) -> Self {
        self.message = format!("{context}: {}", self.message);
        self
    }

    /// What sort of trouble this is.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.message)?;
        match &self.source {
            Some(source) => write!(f, " ({source})"),
            None => Ok(()),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// Text from elsewhere, where what would steer a terminal or turn the line around is spelled out:
/// `\u{1b}`.
pub(crate) struct Shown<'a>(pub(crate) &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| match steers(letter) {
            true => write!(f, "{}", letter.escape_default()),
            false => fmt::Write::write_char(f, letter),
        })
    }
}

/// Control characters, line and paragraph separators, and marks of the writing direction.
fn steers(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}')
}
