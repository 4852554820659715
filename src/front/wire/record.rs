//! `seechange.record/1`.

use std::path::Path;

use serde_json::{Value, json};

use crate::surface::replay::Recorded;

/// A recording that is done.
pub(crate) fn record(folder: &Path, recorded: &Recorded) -> Value {
    let held = &recorded.progress;
    json!({
        "schema": "seechange.record/1",
        "path": folder.to_string_lossy(),
        "ended": recorded.ended.name(),
        "length_ms": u64::try_from(held.length.as_millis()).unwrap_or(u64::MAX),
        "looks": held.looks,
        "pictures": held.pictures,
        "bytes": held.bytes,
        "without_picture": held.without_picture,
        "dropped": held.dropped,
    })
}
