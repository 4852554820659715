//! Does it move? The quiet run and the frame it began with.

use std::time::Duration;

use crate::error::Result;
use crate::frame::Frame;
use crate::geometry::Rect;
use crate::report::{ChangeReport, DiffOptions, Differ, Verdict};

use super::blink::{Blinkers, Caret};
use super::patch::mix;

/// How one look stands to the quiet run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// Not one pixel in scope differs from the look before.
    Identical,
    /// Nothing that counts as motion.
    Still,
    /// A new quiet run begins with this look.
    Moved,
}

/// Compares each look with the *anchor*, the frame its quiet run began with: compared with the
/// look before, a slow fade would pass for stillness.
#[derive(Debug)]
pub(super) struct Motion {
    differ: Differ,
    anchor: Option<Frame>,
    since: Duration,
    looks: u32,
    /// Whether the last look equalled the anchor in every pixel.
    was_identical: bool,
    /// How the last look differed from the anchor, and whether it did so otherwise than the one
    /// before it.
    difference: u64,
    is_other: bool,
    has_hidden_motion: bool,
    blinkers: Blinkers,
    moved: Vec<Rect>,
    spots: Vec<Rect>,
    trail: Vec<(Rect, Duration)>,
    remember: Duration,
}

impl Motion {
    pub(super) fn new(options: DiffOptions, hold: Duration) -> Self {
        Self {
            differ: Differ::new(options.moved(false)),
            anchor: None,
            since: Duration::ZERO,
            looks: 0,
            was_identical: false,
            difference: 0,
            is_other: false,
            has_hidden_motion: false,
            blinkers: Blinkers::new(hold),
            moved: Vec::new(),
            spots: Vec::new(),
            trail: Vec::new(),
            remember: hold.max(Duration::from_secs(1)),
        }
    }

    /// Takes in one look; `frame` may have another size than the last.
    pub(super) fn see(&mut self, at: Duration, frame: &Frame) -> Result<Sight> {
        self.moved.clear();
        let Some(anchor) = &mut self.anchor else {
            self.anchor = Some(frame.clone());
            self.difference = NO_DIFFERENCE;
            (self.since, self.looks, self.was_identical) = (at, 1, true);
            return Ok(Sight::Still);
        };
        let report = self.differ.compare(anchor.as_ref(), frame.as_ref())?;
        self.has_hidden_motion |= report.ignored.masked_pixels > 0;
        let difference = difference(&report);
        self.is_other = std::mem::replace(&mut self.difference, difference) != difference;
        small_differences(&report, &mut self.spots);
        let suspected = report.verdict == Verdict::Same
            && self.blinkers.see(at, &self.spots, anchor, frame, &mut self.moved);
        if !suspected {
            self.moved.clear();
            self.moved.extend(boxes(&report, frame));
            anchor.copy_from(frame.as_ref());
            self.blinkers.clear_suspects();
            (self.difference, self.is_other) = (NO_DIFFERENCE, true);
            (self.since, self.looks, self.was_identical) = (at, 1, true);
            self.leave_trail(at);
            return Ok(Sight::Moved);
        }
        self.looks += 1;
        self.leave_trail(at);
        let was_identical = std::mem::replace(&mut self.was_identical, is_identical(&report));
        Ok(if was_identical && self.was_identical { Sight::Identical } else { Sight::Still })
    }

    /// The quiet run counts from this look on, as if it had begun with it.
    pub(super) fn count_from(&mut self, at: Duration) {
        (self.since, self.looks) = (at, 1);
    }

    /// Compares by other options from now on; the run goes on.
    pub(super) fn set_options(&mut self, options: DiffOptions) {
        self.differ = Differ::new(options.moved(false));
    }

    /// Since when nothing has moved, and for how many looks.
    pub(super) fn quiet(&self) -> (Duration, u32) {
        match self.blinkers.quiet() {
            Some((since, looks)) => (self.since.max(since), self.looks.min(looks)),
            None => (self.since, self.looks),
        }
    }

    /// When a suspect may turn out to be a caret, which would make the quiet run longer.
    pub(super) fn next_caret_at(&self) -> Option<Duration> {
        self.blinkers.next_known_at()
    }

    pub(super) fn carets(&self) -> &[Caret] {
        self.blinkers.known()
    }

    /// Whether something has moved in a part that is left out.
    pub(super) const fn has_hidden_motion(&self) -> bool {
        self.has_hidden_motion
    }

    /// Whether the last look showed anything else than the one before it, a known caret included.
    pub(super) const fn is_other(&self) -> bool {
        self.is_other
    }

    /// What moved in the last look, small things that may be carets included.
    pub(super) fn moved(&self) -> &[Rect] {
        &self.moved
    }

    /// What has moved lately, each box once, the latest first.
    pub(super) fn moving(&self) -> Vec<Rect> {
        let mut boxes: Vec<Rect> = Vec::new();
        for &(rect, _) in self.trail.iter().rev() {
            match boxes.iter_mut().find(|other| other.intersection(rect).is_some()) {
                Some(other) => *other = other.union(rect),
                None => boxes.push(rect),
            }
        }
        boxes
    }

    fn leave_trail(&mut self, at: Duration) {
        if self.moved.is_empty() {
            return;
        }
        let oldest = at.saturating_sub(self.remember);
        self.trail.retain(|(rect, seen)| *seen >= oldest && !self.moved.contains(rect));
        self.trail.extend(self.moved.iter().map(|&rect| (rect, at)));
        let too_many = self.trail.len().saturating_sub(MOST_TRAIL);
        self.trail.drain(..too_many);
    }
}

/// How many boxes are remembered as having moved.
const MOST_TRAIL: usize = 256;

/// Specks and caret-shaped bars: in a wait, return decides what they are.
pub(super) fn small_differences(report: &ChangeReport, spots: &mut Vec<Rect>) {
    spots.clear();
    let small = report.ignored.carets.iter().chain(&report.ignored.specks);
    spots.extend(small.map(|spot| spot.rect));
}

/// The changed boxes of a report; all of the frame when its size changed.
fn boxes<'a>(report: &'a ChangeReport, frame: &Frame) -> impl Iterator<Item = Rect> + 'a {
    let all = (report.verdict == Verdict::Resized).then(|| frame.size().rect());
    let small = report.ignored.carets.iter().chain(&report.ignored.specks);
    // Only when there are too many small ones for carets.
    let small = small.map(|spot| spot.rect).filter(|_| report.areas.is_empty());
    report.areas.iter().map(|area| area.rect).chain(all).chain(small)
}

/// A number for how a look differs from the anchor, by where and how much.
fn difference(report: &ChangeReport) -> u64 {
    let ignored = &report.ignored;
    let spots = ignored.carets.iter().chain(&ignored.specks).chain(&ignored.antialiased);
    let spots = spots.map(|spot| (spot.rect, spot.pixels));
    let areas = report.areas.iter().map(|area| (area.rect, area.changed_pixels));
    areas.chain(spots).fold(mix(ignored.faint_pixels), |hash, (rect, pixels)| {
        let place = [rect.x(), rect.y(), rect.width(), rect.height()];
        place.into_iter().fold(mix(hash ^ pixels), |hash, edge| mix(hash ^ u64::from(edge)))
    })
}

/// That of a look that equals the anchor.
const NO_DIFFERENCE: u64 = mix(0);

fn is_identical(report: &ChangeReport) -> bool {
    let ignored = &report.ignored;
    report.areas.is_empty()
        && ignored.faint_pixels == 0
        && ignored.carets.is_empty()
        && ignored.specks.is_empty()
        && ignored.antialiased.is_empty()
}
