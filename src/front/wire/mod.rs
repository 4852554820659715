//! The JSON of `contract.md`: the only place that gives values their outside names.

pub(crate) mod act;
mod diff;
mod strict;
mod wait;

pub(crate) use diff::diff;
pub(crate) use wait::{WaitPaths, wait};
