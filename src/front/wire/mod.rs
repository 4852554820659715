//! The JSON of `contract.md`: the only place that gives values their outside names.

pub(crate) mod act;
mod diff;
mod strict;
mod record;
mod wait;

pub(crate) use diff::diff;
pub(crate) use record::record;
pub(crate) use wait::{WaitPaths, wait};
