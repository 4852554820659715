//! The loop around the rules: sleep, capture, judge.

use std::time::Duration;

use crate::clock::{Cancel, Clock};
use crate::error::{Error, Result};
use crate::frame::{Frame, PixelFormat};
use crate::geometry::Size;

use super::condition::{Condition, WaitOptions};
use super::filmstrip::Filmstrip;
use super::monitor::{Look, Monitor};
use super::outcome::Outcome;
use super::source::{Capture, Rest, Source};
use super::timeline::Entry;

/// Waits until `condition` is met on `source`, the deadline passes, or `cancel` is thrown.
///
/// A wait that was not met is an [`Outcome`] too, with the evidence.
///
/// # Errors
/// When the wait could never be met (see [`Monitor::new`]), when the surface is gone, and when not
/// one capture succeeded because the surface kept answering with errors.
pub fn wait(
    source: &mut dyn Source,
    condition: &Condition,
    options: &WaitOptions,
    clock: &Clock,
    cancel: &Cancel,
) -> Result<Outcome> {
    wait_watched(source, condition, options, clock, cancel, &mut |_| {})
}

/// As [`wait`], and calls `watch` with the latest [`Entry`] of the timeline after each look.
///
/// # Errors
/// As [`wait`].
pub fn wait_watched(
    source: &mut dyn Source,
    condition: &Condition,
    options: &WaitOptions,
    clock: &Clock,
    cancel: &Cancel,
    watch: &mut dyn FnMut(&Entry),
) -> Result<Outcome> {
    let start = clock.now();
    source.heed(cancel);
    let mut monitor = Monitor::new(condition, options, source.geometry()?)?;
    if source.watch_damage()? {
        monitor.rely_on_damage();
    }
    let mut frames = Frames::new(monitor.bounds().size());
    let filmstrip = options.filmstrip.then(|| Filmstrip::new(options.starts_at()));
    let mut looking = Looking { source, monitor, clock, cancel, start, failure: None, filmstrip };
    while let Some(at) = looking.monitor.next_look(looking.now()) {
        if !looking.rest(at)? || !looking.look(&mut frames)? {
            break;
        }
        if let Some(entry) = looking.monitor.timeline().last() {
            watch(entry);
        }
    }
    // A wait that ran out has waited as long as it was asked to.
    if let Some(end) = looking.monitor.runs_out_at().filter(|_| !cancel.is_cancelled()) {
        clock.sleep_until(start.saturating_add(end), cancel);
    }
    looking.finish(frames)
}

/// Two frames that take turns, so that the last one that was evidence is kept without a copy.
struct Frames {
    next: Frame,
    last: Frame,
    has_last: bool,
}

impl Frames {
    fn new(size: Size) -> Self {
        let empty = Frame::filled(size, PixelFormat::Rgba, [0; 4]);
        Self { next: empty.clone(), last: empty, has_last: false }
    }

    fn keep(&mut self) {
        std::mem::swap(&mut self.next, &mut self.last);
        self.has_last = true;
    }
}

struct Looking<'a> {
    source: &'a mut dyn Source,
    monitor: Monitor,
    clock: &'a Clock,
    cancel: &'a Cancel,
    start: Duration,
    failure: Option<String>,
    filmstrip: Option<Filmstrip>,
}

impl Looking<'_> {
    fn now(&self) -> Duration {
        self.clock.now().saturating_sub(self.start)
    }

    /// Rests until `at`, or until something was drawn and may be looked at; `false` when cancelled.
    fn rest(&mut self, at: Duration) -> Result<bool> {
        let Self { source, monitor, clock, cancel, start, .. } = self;
        let concerns = |rect| monitor.concerns(rect);
        Ok(match source.rest(start.saturating_add(at), &concerns, clock, cancel)? {
            Rest::Elapsed => true,
            Rest::Cancelled => false,
            Rest::Damaged => {
                let at = monitor.damaged(clock.now().saturating_sub(*start));
                clock.sleep_until(start.saturating_add(at), cancel)
            }
        })
    }

    /// One look; `false` when it came too late to begin.
    fn look(&mut self, frames: &mut Frames) -> Result<bool> {
        let began = self.now();
        if !self.monitor.may_begin(began) {
            return Ok(false);
        }
        let give_up = self.start.saturating_add(self.monitor.give_up());
        let capture = self.source.capture(self.monitor.region(), give_up, &mut frames.next)?;
        let ended = self.now();
        let look = match &capture {
            Capture::Taken { id } => Look::Taken { id: *id, frame: &frames.next },
            Capture::Resized => Look::Resized,
            Capture::Stalled => Look::Stalled,
            Capture::Failed(_) => Look::Failed,
        };
        if self.monitor.see(began, ended, look)?.is_evidence {
            if let (Some(strip), Some(entry)) =
                (&mut self.filmstrip, self.monitor.timeline().last())
            {
                strip.see(began, entry, &frames.next);
            }
            frames.keep();
        }
        self.monitor.spend(self.now().saturating_sub(ended));
        if let Capture::Failed(message) = capture {
            self.failure = Some(message);
        }
        Ok(true)
    }

    fn finish(self, frames: Frames) -> Result<Outcome> {
        let now = self.now();
        let last = frames.has_last.then_some(frames.last);
        let mut outcome = self.monitor.finish(now, self.cancel.is_cancelled(), last);
        outcome.filmstrip = self.filmstrip.map(Filmstrip::into_kept).unwrap_or_default();
        match self.failure {
            Some(message) if outcome.last.is_none() && !self.cancel.is_cancelled() => {
                Err(Error::surface(format!(
                    "none of {} captures succeeded: {message}",
                    outcome.captures
                )))
            }
            _ => Ok(outcome),
        }
    }
}
