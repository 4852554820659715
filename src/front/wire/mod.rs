//! The JSON of `contract.md`: the only place that gives values their outside names.

pub(crate) mod act;
mod diff;
mod strict;

pub(crate) use diff::diff;
