//! The JSON of `contract.md`: the only place that gives values their outside names.

mod diff;

pub(crate) use diff::diff;
