//! `seechange.wait/1`.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::geometry::Rect;
use crate::wait::{Entry, Kept, Outcome, Periodic, Transient, Unmet};

use super::diff::{rect, with};

/// Where the pictures of an outcome were written.
#[derive(Clone, Debug, Default)]
pub(crate) struct WaitPaths {
    /// The last observation.
    pub(crate) last: Option<PathBuf>,
    /// One for each transient, in order; shorter where none was written.
    pub(crate) transients: Vec<Option<PathBuf>>,
    /// One for each frame of the filmstrip, in order.
    pub(crate) filmstrip: Vec<PathBuf>,
    /// The picture of the timeline.
    pub(crate) timeline: Option<PathBuf>,
}

/// An outcome, with the paths of the pictures there are.
pub(crate) fn wait(outcome: &Outcome, paths: &WaitPaths) -> Value {
    let written = paths.transients.iter().map(Option::as_ref).chain(std::iter::repeat(None));
    let last = outcome.last.as_ref().map(|last| {
        json!({
            "observation": format!("obs-{}", last.id),
            "at_ms": ms(last.at),
            "age_ms": ms(last.age),
            "path": path(paths.last.as_ref()),
        })
    });
    let answer = json!({
        "schema": "seechange.wait/1",
        "outcome": outcome.kind.name(),
        "sentence": outcome.sentence(),
        "condition": outcome.condition,
        "elapsed_ms": ms(outcome.elapsed),
        "captures": outcome.captures,
        "onset_ms": outcome.onset.map(ms),
        "met_at_ms": outcome.met_at.map(ms),
        "found": outcome.found.map(rect),
        "unmet": outcome.unmet.as_ref().map(unmet),
        "last": last,
        "standing": rects(&outcome.standing),
        "transients": outcome.transients.iter().zip(written).map(transient).collect::<Vec<_>>(),
        "ignored": {
            "carets": rects(&outcome.ignored.carets),
            "periodic": outcome.ignored.periodic.iter().map(periodic).collect::<Vec<_>>(),
        },
        "flags": outcome.flags.iter().map(|flag| flag.name()).collect::<Vec<_>>(),
        "late_ms": outcome.late.map(ms),
        "timeline": outcome.timeline.entries().map(entry).collect::<Vec<_>>(),
        "timeline_omitted": outcome.timeline.omitted(),
        "timeline_path": path(paths.timeline.as_ref()),
        "hold_ms": ms(outcome.hold),
        "deadline_ms": ms(outcome.deadline),
        "since_ms": outcome.since.map(ms),
        "filmstrip": outcome.filmstrip.iter().zip(&paths.filmstrip).map(kept).collect::<Vec<_>>(),
    });
    if outcome.conditions.is_empty() { answer } else { with(answer, several(outcome)) }
}

/// Which of several conditions was met, and how it ended for each.
fn several(outcome: &Outcome) -> Value {
    let each = (0..).zip(&outcome.conditions).map(|(index, one): (usize, _)| {
        json!({
            "index": index,
            "condition": one.condition,
            "label": one.label,
            "outcome": one.kind.name(),
            "onset_ms": one.onset.map(ms),
            "met_at_ms": one.met_at.map(ms),
            "found": one.found.map(rect),
            "unmet": one.unmet.as_ref().map(unmet),
            "flags": one.flags.iter().map(|flag| flag.name()).collect::<Vec<_>>(),
            "late_ms": one.late.map(ms),
        })
    });
    let each: Vec<Value> = each.collect();
    let met = outcome.met_by().and_then(|index| each.get(index));
    let met_by = met.map(
        |one| json!({"index": one["index"], "condition": one["condition"], "label": one["label"]}),
    );
    json!({"met_by": met_by, "conditions": each})
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn path(path: Option<&PathBuf>) -> Option<String> {
    path.map(|path| path.to_string_lossy().into_owned())
}

fn rects(rects: &[Rect]) -> Vec<Value> {
    rects.iter().copied().map(rect).collect()
}

fn unmet(unmet: &Unmet) -> Value {
    json!({
        "term": unmet.term.name(),
        "needed": unmet.needed,
        "had": unmet.had,
        "moving": rects(&unmet.moving),
    })
}

fn transient((transient, written): (&Transient, Option<&PathBuf>)) -> Value {
    json!({
        "from_ms": ms(transient.from),
        "to_ms": ms(transient.to),
        "areas": rects(&transient.areas),
        "path": path(written),
    })
}

fn kept((kept, written): (&Kept, &PathBuf)) -> Value {
    json!({
        "moment": kept.moment.name(),
        "at_ms": ms(kept.at),
        "areas": rects(&kept.areas),
        "path": path(Some(written)),
    })
}

fn periodic(periodic: &Periodic) -> Value {
    json!({"rect": rect(periodic.rect), "period_ms": ms(periodic.period)})
}

fn entry(entry: &Entry) -> Value {
    let look = json!({
        "at_ms": ms(entry.at),
        "frame": entry.frame,
        "verdict": entry.verdict.name(),
        "areas": rects(&entry.areas),
    });
    let run = json!({"until_ms": ms(entry.until), "looks": entry.looks});
    let look = if entry.looks > 1 { with(look, run) } else { look };
    match entry.damaged {
        0 => look,
        damaged => with(look, json!({"damaged_looks": damaged})),
    }
}
