//! Two folders of pictures, paired by relative path and compared in parallel.
//!
//! ```text
//! walk(golden) + walk(actual) -> pair_up -> Shard::holds -> compare_pairs -> one answer a pair
//! ```
//!
//! Every step gives the same for the same folders, in the order of the names, whatever the number
//! of threads. A file that is no picture, is cut short or does not fit the budget of memory is an
//! answer about its pair; the others are compared all the same.

mod accept;
mod budget;
mod layout;
mod name;
mod pairs;
mod run;
mod shard;
mod walk;

pub(crate) use accept::{GoldenFolder, replace_file, take_place};
pub(crate) use layout::{LaidOut, Layout};
pub(crate) use name::{Name, spelled_path};
pub(crate) use pairs::{Pair, Place, pair_up};
pub(crate) use run::{Compared, Job, Loaded, PairVerdict, Plan, Side, compare_pairs};
pub(crate) use shard::Shard;
pub(crate) use walk::{Walked, has_picture_name, walk};
