//! Two folders compared, for outside: rows with their pictures, and the files that show them.

mod accept;
mod junit;
mod merge;
mod out;
mod rows;
mod summary;
mod words;

pub(crate) use accept::{
    Accepted, Leave, Outcome, accept_left, accept_row, accepted_by, left_by_tests, name_of,
    read_report,
};
pub(crate) use junit::junit;
pub(crate) use merge::{Part, merge};
pub(crate) use out::ReportFolder;
pub(crate) use rows::{Judged, RowMaker, sha256};
pub(crate) use summary::add_summary;
pub(crate) use words::words;
