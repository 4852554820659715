//! The JSON of `contract.md`: the only place that gives values their outside names.

pub(crate) mod act;
pub(crate) mod compare;
mod diff;
pub(crate) mod strict;
#[cfg(test)]
mod limits;
mod policy;
mod record;
mod wait;

pub(crate) use diff::diff;
pub(crate) use policy::{known_action, policy};
pub(crate) use record::record;
pub(crate) use strict::object;
pub(crate) use wait::{WaitPaths, wait};
