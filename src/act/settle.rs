//! The wait that follows an action.

use std::time::Duration;

use crate::clock::{Cancel, Clock};
use crate::error::Result;
use crate::frame::Frame;
use crate::geometry::Rect;
use crate::report::{Differ, Verdict};
use crate::wait::{Capture, Source};

/// How long to look for a first change.
const FIRST_CHANGE: Duration = Duration::from_millis(300);
/// How long to look until a change has come to rest.
const REST: Duration = Duration::from_secs(1);
/// How long nothing may move to be at rest.
const HOLD: Duration = Duration::from_millis(250);
/// In how many captures nothing may move.
const CAPTURES: u32 = 3;
/// From one look to the next.
const INTERVAL: Duration = Duration::from_millis(50);
/// How long one capture may take.
const CAPTURE_GRACE: Duration = Duration::from_secs(2);

/// How the wait after an action ended.
pub(super) struct Settled {
    /// The last frame seen; `None` when there was none to see.
    pub(super) last: Option<Frame>,
    /// How long it looked.
    pub(super) looked: Duration,
    /// What still moved at the end.
    pub(super) moving: Vec<Rect>,
}

/// Looks until a change since `baseline` has come to rest, or none has come.
pub(super) fn settle(
    source: &mut dyn Source,
    baseline: &Frame,
    differ: &mut Differ,
    clock: &Clock,
    cancel: &Cancel,
) -> Result<Settled> {
    let start = clock.now();
    let mut settled = Settled { last: None, looked: Duration::ZERO, moving: Vec::new() };
    let mut frame = baseline.clone();
    let (mut anchor, mut since, mut quiet, mut changed) = (baseline.clone(), start, 0, false);
    loop {
        let capture = source.capture(None, clock.now() + CAPTURE_GRACE, &mut frame)?;
        let now = clock.now();
        settled.looked = now - start;
        if !matches!(capture, Capture::Taken { .. }) {
            return Ok(settled);
        }
        changed |= differ.compare(baseline.as_ref(), frame.as_ref())?.verdict != Verdict::Same;
        let moved = differ.compare(anchor.as_ref(), frame.as_ref())?;
        settled.last = Some(frame.clone());
        settled.moving = moved.areas.iter().map(|area| area.rect).collect();
        if moved.verdict == Verdict::Same {
            quiet += 1;
        } else {
            (anchor, since, quiet) = (frame.clone(), now, 1);
        }
        let at_rest = changed && quiet >= CAPTURES && now - since >= HOLD;
        let limit = if changed { REST } else { FIRST_CHANGE };
        let next = (now + INTERVAL).min(start + limit);
        if at_rest || now >= start + limit || !clock.sleep_until(next, cancel) {
            return Ok(settled);
        }
    }
}
