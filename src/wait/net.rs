//! What differs from the baseline, what stands, and what came and went.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use crate::areas::scaled;
use crate::error::Result;
use crate::frame::Frame;
use crate::geometry::Rect;
use crate::report::{DiffOptions, Differ, Verdict};

use super::blink::Caret;
use super::motion::small_differences;
use super::outcome::Transient;
use super::patch::fingerprint;

/// How long a caret-shaped or small difference must stand to be no blink: longer than any caret
/// seen stays on or off (800 ms in GTK).
pub(super) const BLINK_PATIENCE: Duration = Duration::from_millis(1200);

/// Frames kept of what comes and goes, and how many transients at all.
const MOST_FRAMES: usize = 16;
const MOST_TRANSIENTS: usize = 100;

/// Small differences followed at once.
const MOST_SUSPECTS: usize = 64;

/// An area followed from look to look.
#[derive(Clone, Debug)]
struct Track {
    now: Rect,
    /// Around everywhere it has been.
    been: Rect,
    since: Duration,
    looks: u32,
    /// The most pixels it had, and the frame that shows it so.
    most_pixels: u64,
    frame: Option<Arc<Frame>>,
}

/// A small difference from the baseline that may be a caret.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    rect: Rect,
    baseline: u64,
    look: u64,
    since: Duration,
    looks: u32,
}

/// Compares each look with the baseline.
#[derive(Debug)]
pub(super) struct Net {
    differ: Differ,
    baseline: Option<Frame>,
    tracks: Vec<Track>,
    suspects: Vec<Suspect>,
    carets: Vec<Caret>,
    transients: Vec<Transient>,
    first_difference: Option<Duration>,
    first_area: Option<Duration>,
    spots: Vec<Rect>,
    /// The scale of block cursors that are suspected; `None` when they are areas like any other.
    blocks: Option<f32>,
}

impl Net {
    pub(super) fn new(options: DiffOptions, baseline: Option<Frame>) -> Self {
        Self {
            differ: Differ::new(options.moved(false)),
            baseline,
            tracks: Vec::new(),
            suspects: Vec::new(),
            carets: Vec::new(),
            transients: Vec::new(),
            first_difference: None,
            first_area: None,
            spots: Vec::new(),
            blocks: None,
        }
    }

    /// Suspects what is shaped like a block cursor at `scale` as well: it must outlast a blink to
    /// be a change.
    pub(super) const fn suspect_blocks(&mut self, scale: f32) {
        self.blocks = Some(scale);
    }

    /// Makes this look the baseline: what came before it is forgotten.
    pub(super) fn rebase(&mut self, frame: &Frame) {
        match &mut self.baseline {
            Some(baseline) => baseline.copy_from(frame.as_ref()),
            None => self.baseline = Some(frame.clone()),
        }
        self.tracks.clear();
        self.suspects.clear();
    }

    /// Compares by other options from now on; differences that `left_out` holds end unreported.
    pub(super) fn set_options(&mut self, options: DiffOptions, left_out: &[Rect]) {
        self.differ = Differ::new(options.moved(false));
        let is_left_out = |rect: Rect| left_out.iter().any(|out| out.intersection(rect).is_some());
        self.tracks.retain(|track| !is_left_out(track.been));
        self.suspects.retain(|suspect| !is_left_out(suspect.rect));
    }

    /// Takes in one look. The first one is the baseline where none was given.
    pub(super) fn see(&mut self, at: Duration, frame: &Frame) -> Result<()> {
        let Some(baseline) = &self.baseline else {
            self.baseline = Some(frame.clone());
            return Ok(());
        };
        let report = self.differ.compare(baseline.as_ref(), frame.as_ref())?;
        let mut areas: Vec<(Rect, u64)> = Vec::new();
        match report.verdict {
            Verdict::Same => {}
            Verdict::Changed => {
                areas.extend(report.areas.iter().map(|area| (area.rect, area.changed_pixels)));
            }
            Verdict::Resized => areas.push((frame.size().rect(), frame.size().pixels())),
        }
        small_differences(&report, &mut self.spots);
        if let Some(scale) = self.blocks {
            let blocks = areas.extract_if(.., |area| is_block(*area, scale));
            self.spots.extend(blocks.map(|(rect, _)| rect));
        }
        self.follow_suspects(at, &areas, frame);
        self.follow_areas(at, &areas, Some(frame));
        Ok(())
    }

    /// Takes in a look that could not be captured because the surface has another size.
    pub(super) fn see_resized(&mut self, at: Duration, scope: Rect) {
        self.suspects.clear();
        self.follow_areas(at, &[(scope, scope.pixels())], None);
    }

    /// Takes in a look that shows what the last one showed.
    pub(super) fn see_same(&mut self) {
        self.tracks.iter_mut().for_each(|track| track.looks += 1);
        self.suspects.iter_mut().for_each(|suspect| suspect.looks += 1);
    }

    /// When anything, a caret included, first differed from the baseline.
    pub(super) const fn first_difference(&self) -> Option<Duration> {
        self.first_difference
    }

    /// When an area first differed from the baseline.
    pub(super) const fn first_area(&self) -> Option<Duration> {
        self.first_area
    }

    /// Whether an area differs now.
    pub(super) fn has_areas(&self) -> bool {
        !self.tracks.is_empty()
    }

    /// Whether something that may be a caret differs now.
    pub(super) fn has_suspects(&self) -> bool {
        self.doubtful().next().is_some()
    }

    /// Everything that differs now and is no known caret.
    pub(super) fn boxes(&self) -> Vec<Rect> {
        let areas = self.tracks.iter().map(|track| track.now);
        areas.chain(self.doubtful().map(|suspect| suspect.rect)).collect()
    }

    /// Whether some difference has stood for `hold` and `captures` looks; small ones must have
    /// stood for `patience` as well. Areas only where `may_count` agrees, asked with their place
    /// and since when they have been there.
    pub(super) fn stands(
        &self,
        at: Duration,
        hold: Duration,
        patience: Duration,
        captures: u32,
        may_count: impl Fn(Rect, Duration) -> bool,
    ) -> bool {
        let lasted =
            |since: Duration, looks, hold| looks >= captures && at.saturating_sub(since) >= hold;
        let mut areas = self.tracks.iter().filter(|track| may_count(track.now, track.since));
        areas.any(|track| lasted(track.since, track.looks, hold))
            || self.doubtful().any(|small| lasted(small.since, small.looks, hold.max(patience)))
    }

    /// When the next difference could have stood long enough.
    pub(super) fn next_standing_at(
        &self,
        now: Duration,
        hold: Duration,
        patience: Duration,
    ) -> Option<Duration> {
        let areas = self.tracks.iter().map(|track| track.since.saturating_add(hold));
        let small = self.doubtful().map(|suspect| suspect.since.saturating_add(hold.max(patience)));
        areas.chain(small).filter(|at| *at > now).min()
    }

    /// The difference that has stood longest so far: since when, and for how many looks.
    pub(super) fn longest(&self) -> Option<(Duration, u32)> {
        let areas = self.tracks.iter().map(|track| (track.since, track.looks));
        areas.chain(self.doubtful().map(|suspect| (suspect.since, suspect.looks))).min()
    }

    pub(super) fn carets(&self) -> &[Caret] {
        &self.carets
    }

    pub(super) fn into_transients(self) -> Vec<Transient> {
        self.transients
    }

    /// Suspects that are no known caret.
    fn doubtful(&self) -> impl Iterator<Item = &Suspect> {
        self.suspects.iter().filter(|suspect| {
            let explains =
                |caret: &Caret| caret.explains(suspect.rect, suspect.baseline, suspect.look);
            !self.carets.iter().any(explains)
        })
    }

    /// A suspect goes on where it is seen again, or lies unchanged under an area (a letter beside
    /// a caret that blinks); gone from sight it was a caret.
    fn follow_suspects(&mut self, at: Duration, areas: &[(Rect, u64)], frame: &Frame) {
        let Self { suspects, carets, spots, baseline, .. } = self;
        suspects.retain_mut(|suspect| {
            let is_covered =
                areas.iter().any(|(rect, _)| rect.intersection(suspect.rect).is_some());
            let look = fingerprint(frame, suspect.rect);
            let goes_on = spots.contains(&suspect.rect) || (is_covered && look == suspect.look);
            if goes_on {
                suspect.look = look;
                suspect.looks += 1;
            } else if !is_covered && look == suspect.baseline {
                let caret = Caret::new(suspect.rect, [suspect.baseline, suspect.look]);
                if !carets.contains(&caret) {
                    carets.push(caret);
                }
            }
            goes_on
        });
        let Some(baseline) = baseline else { return };
        for &rect in spots.iter() {
            if suspects.len() < MOST_SUSPECTS && !suspects.iter().any(|one| one.rect == rect) {
                let (baseline, look) = (fingerprint(baseline, rect), fingerprint(frame, rect));
                suspects.push(Suspect { rect, baseline, look, since: at, looks: 1 });
            }
        }
        if !suspects.is_empty() {
            self.first_difference.get_or_insert(at);
        }
    }

    /// An area that touches one of the look before carries it on; one that none touches is over.
    fn follow_areas(&mut self, at: Duration, areas: &[(Rect, u64)], frame: Option<&Frame>) {
        if !areas.is_empty() {
            self.first_difference.get_or_insert(at);
            self.first_area.get_or_insert(at);
        }
        let mut tracks: Vec<Track> =
            areas.iter().map(|&(rect, pixels)| Track::new(at, rect, pixels)).collect();
        for old in std::mem::take(&mut self.tracks) {
            let mut goes_on = false;
            for new in tracks.iter_mut().filter(|new| new.now.intersection(old.now).is_some()) {
                new.carry_on(&old);
                goes_on = true;
            }
            if !goes_on {
                self.end(at, old);
            }
        }
        if let Some(frame) = frame.filter(|_| self.kept_frames(&tracks) < MOST_FRAMES) {
            keep_frame(&mut tracks, frame);
        }
        self.tracks = tracks;
    }

    /// How many frames are kept: of what came and went, and of what stands and may go.
    fn kept_frames(&self, tracks: &[Track]) -> usize {
        let gone = self.transients.iter().filter_map(|transient| transient.frame.as_ref());
        let standing = tracks.iter().filter_map(|track| track.frame.as_ref());
        let different: HashSet<_> = gone.chain(standing).map(Arc::as_ptr).collect();
        different.len()
    }

    /// Files a transient; what came and went together is one.
    fn end(&mut self, at: Duration, track: Track) {
        let together = |other: &&mut Transient| (other.from, other.to) == (track.since, at);
        if let Some(other) = self.transients.iter_mut().rev().find(together) {
            other.areas.push(track.been);
        } else if self.transients.len() < MOST_TRANSIENTS {
            let origin = track.frame.as_ref().map_or(track.been, |frame| frame.size().rect());
            self.transients.push(Transient {
                from: track.since,
                to: at,
                areas: vec![track.been],
                frame: track.frame,
                origin,
            });
        }
    }
}

impl Track {
    const fn new(at: Duration, rect: Rect, pixels: u64) -> Self {
        Self { now: rect, been: rect, since: at, looks: 1, most_pixels: pixels, frame: None }
    }

    fn carry_on(&mut self, old: &Self) {
        self.been = self.been.union(old.been);
        self.since = self.since.min(old.since);
        self.looks = self.looks.max(old.looks + 1);
        // A little larger is not worth another copy of the frame.
        if self.most_pixels <= old.most_pixels * 2 {
            self.most_pixels = self.most_pixels.max(old.most_pixels);
            self.frame.clone_from(&old.frame);
        }
    }
}

/// Whether a change is shaped like the block cursor of a terminal: one cell of text, wholly other,
/// as tall as a caret and narrower than it is tall.
fn is_block((rect, pixels): (Rect, u64), scale: f32) -> bool {
    let is_tall = (scaled(BLOCK_HEIGHTS[0], scale)..=scaled(BLOCK_HEIGHTS[1], scale))
        .contains(&rect.height());
    is_tall && pixels == rect.pixels() && rect.width() * 4 <= rect.height() * 3
}

/// The least and the most height of a block cursor at scale 1, in pixels.
const BLOCK_HEIGHTS: [u32; 2] = [8, 40];

/// Gives the tracks without a frame one copy of this.
fn keep_frame(tracks: &mut [Track], frame: &Frame) {
    let mut without = tracks.iter_mut().filter(|track| track.frame.is_none()).peekable();
    if without.peek().is_some() {
        let kept = Arc::new(frame.clone());
        without.for_each(|track| track.frame = Some(Arc::clone(&kept)));
    }
}
