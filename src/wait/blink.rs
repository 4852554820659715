//! Is it a caret? In a wait, shape *and* return decide.
//!
//! A caret-shaped or small difference from the anchor is a suspect. It is known as a caret once it
//! has come back to what the anchor shows and
//!
//! - stayed there for a while, or
//! - left again for the very look it had before, or
//! - come back twice (carets that fade in and out never look the same twice).
//!
//! The turn of a slow swing looks like a caret too: the edges of the thing are thin upright bars
//! that come and go. But it passes its way back in a moment, towards other places, so none of the
//! three holds; and because its two edges are bars of one height of which one gets lighter and one
//! darker, staying is not enough for such a pair.

use std::time::Duration;

use crate::frame::Frame;
use crate::geometry::Rect;

use super::patch::{fingerprint, lightening};

/// A caret that was seen to blink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Caret {
    pub(super) rect: Rect,
    /// What it looks like shown and hidden; `None` for one that fades.
    looks: Option<[u64; 2]>,
}

impl Caret {
    /// A caret at `rect` with two looks.
    pub(super) const fn new(rect: Rect, looks: [u64; 2]) -> Self {
        Self { rect, looks: Some(looks) }
    }

    /// Whether a difference between two frames at `rect` is this caret.
    pub(super) fn explains(&self, rect: Rect, anchor: u64, now: u64) -> bool {
        let is_one = |looks: [u64; 2]| looks.contains(&anchor) && looks.contains(&now);
        self.rect == rect && self.looks.is_none_or(is_one)
    }
}

/// A small difference that may be a caret.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    rect: Rect,
    home: u64,
    /// What it looked like when it last was not as in the anchor.
    away: u64,
    is_home: bool,
    /// Began and has lasted unchanged for so many looks.
    since: Duration,
    looks: u32,
    returns: u32,
    /// Was away in more than one look.
    is_restless: bool,
    /// One of two bars, one lighter, one darker: the edges of something that moved.
    is_edge: bool,
}

/// The suspects against one anchor, and all carets known so far.
#[derive(Clone, Debug)]
pub(super) struct Blinkers {
    suspects: Vec<Suspect>,
    known: Vec<Caret>,
    /// How long a suspect must stay home to be known.
    stay: Duration,
}

/// More suspects than this at once are no carets but motion.
const MOST: usize = 64;

impl Blinkers {
    /// For a wait with this hold: longer than a swing that never stands for the hold takes to pass
    /// the pixel before its turn (0.37 of it for a sine), shorter than carets stay.
    pub(super) fn new(hold: Duration) -> Self {
        let stay = hold.mul_f64(0.4).max(Duration::from_millis(200));
        Self { suspects: Vec::new(), known: Vec::new(), stay }
    }

    pub(super) fn known(&self) -> &[Caret] {
        &self.known
    }

    /// A new anchor: what was suspected against the old one says nothing any more.
    pub(super) fn clear_suspects(&mut self) {
        self.suspects.clear();
    }

    /// Since when no suspect has changed, and for how many looks; `None` without suspects.
    pub(super) fn quiet(&self) -> Option<(Duration, u32)> {
        let since = self.suspects.iter().map(|suspect| suspect.since).max()?;
        let looks = self.suspects.iter().map(|suspect| suspect.looks).min()?;
        Some((since, looks))
    }

    /// When the next suspect could become a known caret by staying home.
    pub(super) fn next_known_at(&self) -> Option<Duration> {
        let staying = self.suspects.iter().filter(|suspect| suspect.may_stay());
        staying.map(|suspect| suspect.since.saturating_add(self.stay)).min()
    }

    /// Takes in the small differences of one look; appends to `moved` the boxes of those that
    /// changed and are no known caret. `false` when there are too many for carets.
    pub(super) fn see(
        &mut self,
        at: Duration,
        spots: &[Rect],
        anchor: &Frame,
        frame: &Frame,
        moved: &mut Vec<Rect>,
    ) -> bool {
        if self.suspects.len() + spots.len() > MOST {
            return false;
        }
        for index in (0..self.suspects.len()).rev() {
            self.follow(index, at, spots, frame, moved);
        }
        let first_new = self.suspects.len();
        for &rect in spots {
            self.suspect(at, rect, anchor, frame, moved);
        }
        mark_edges(&mut self.suspects[first_new..], anchor, frame);
        true
    }

    /// What became of one suspect in this look.
    fn follow(
        &mut self,
        index: usize,
        at: Duration,
        spots: &[Rect],
        frame: &Frame,
        moved: &mut Vec<Rect>,
    ) {
        let suspect = &mut self.suspects[index];
        let is_home = !spots.iter().any(|spot| spot.intersection(suspect.rect).is_some());
        let look = if is_home { suspect.home } else { fingerprint(frame, suspect.rect) };
        if is_home == suspect.is_home && (is_home || look == suspect.away) {
            suspect.looks += 1;
        } else {
            suspect.change(at, is_home, look);
            moved.push(suspect.rect);
        }
        if let Some(caret) = suspect.verdict(at, self.stay) {
            self.known.push(caret);
            self.suspects.swap_remove(index);
        }
    }

    /// Adds a suspect unless it is one already or known.
    fn suspect(
        &mut self,
        at: Duration,
        rect: Rect,
        anchor: &Frame,
        frame: &Frame,
        moved: &mut Vec<Rect>,
    ) {
        if self.suspects.iter().any(|suspect| suspect.rect == rect) {
            return;
        }
        let (home, away) = (fingerprint(anchor, rect), fingerprint(frame, rect));
        if self.known.iter().any(|caret| caret.explains(rect, home, away)) {
            return;
        }
        moved.push(rect);
        self.suspects.push(Suspect {
            rect,
            home,
            away,
            is_home: false,
            since: at,
            looks: 1,
            returns: 0,
            is_restless: false,
            is_edge: false,
        });
    }
}

impl Suspect {
    fn change(&mut self, at: Duration, is_home: bool, look: u64) {
        (self.since, self.looks, self.is_home) = (at, 1, is_home);
        if is_home {
            self.returns += 1;
        } else {
            self.is_restless |= look != self.away;
            self.away = look;
        }
    }

    const fn may_stay(&self) -> bool {
        self.is_home && !self.is_edge && !self.is_restless
    }

    /// The caret it is, once one of the three signs is there.
    fn verdict(&self, at: Duration, stay: Duration) -> Option<Caret> {
        let stayed = self.may_stay() && self.looks > 1 && at.saturating_sub(self.since) >= stay;
        let left_again = !self.is_home && self.returns > 0 && !self.is_restless;
        let came_twice = self.is_home && self.returns > 1 && !self.is_edge;
        let looks = (!self.is_restless).then_some([self.home, self.away]);
        (stayed || left_again || came_twice).then_some(Caret { rect: self.rect, looks })
    }
}

/// Marks pairs of bars side by side of which one got lighter and the other darker.
fn mark_edges(new: &mut [Suspect], anchor: &Frame, frame: &Frame) {
    for one in 0..new.len() {
        for other in one + 1..new.len() {
            let (a, b) = (new[one].rect, new[other].rect);
            let side_by_side = a.y() == b.y() && a.height() == b.height();
            let above = a.x() == b.x() && a.width() == b.width();
            let lightened = |rect| lightening(anchor, frame, rect);
            if (side_by_side || above) && lightened(a) * lightened(b) < 0 {
                new[one].is_edge = true;
                new[other].is_edge = true;
            }
        }
    }
}
