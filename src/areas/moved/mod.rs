//! Content that reappears displaced: a scrolled panel, rows pushed down, a block dragged away.
//!
//! 1. *Anchors* (`anchors`): small squares of the frame after are looked up in the frame before.
//!    Each that is found exactly once votes for a displacement; what repeats has no vote.
//! 2. *Blocks* (`block`): for a displacement with votes, the frame after is compared with the
//!    displaced frame before, by the same tolerance and kernels as the frames themselves. The
//!    block is the rectangle in which the most edges moved along and the least contradicts.
//! 3. Changed pixels of the block that equal their source are explained and leave the mask. What
//!    is left (uncovered, inserted, edited on the way) is gathered into areas as ever.
//!
//! Only edges are evidence: flat ground "moves" by any displacement. A small change is not looked
//! at, and frames without a change never come here.

mod anchors;
mod block;
mod grid;

use crate::diff::{ChangeMask, Differences, Tolerance};
use crate::frame::FrameRef;
use crate::geometry::Rect;

use anchors::Vote;
use block::{Block, Evidence, Gradient};

/// A block that reappears displaced.
///
/// Every pixel of `to` in the frame after equals its source in `from` of the frame before, within
/// the tolerance of the comparison, with three exceptions: pixels that lie in a listed
/// [`Area`](super::Area) or in something that was set aside (a letter edited in a list that
/// moved), pixels that did not change at all (a button that floats above a scrolled page), and
/// pixels of another block that moved and lies above this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Where it was, in frame pixels.
    pub from: Rect,
    /// Where it is; as large as `from`.
    pub to: Rect,
    /// How many differing pixels it explains: they are in no area.
    pub pixels: u64,
}

impl Moved {
    /// How far it went to the right and down, in pixels; negative to the left and up.
    #[must_use]
    pub fn displacement(&self) -> (i32, i32) {
        let along = |from: u32, to: u32| to.cast_signed() - from.cast_signed();
        (along(self.from.x(), self.to.x()), along(self.from.y(), self.to.y()))
    }

    /// The parts of `from` that the block left, at most two: above or below, then beside.
    pub(super) fn vacated(&self) -> impl Iterator<Item = Rect> {
        let (from, to) = (self.from, self.to);
        let Some(both) = from.intersection(to) else {
            return [Some(from), None].into_iter().flatten();
        };
        let rows = if from.y() < both.y() {
            Rect::from_edges(from.x(), from.y(), from.right(), both.y())
        } else {
            Rect::from_edges(from.x(), both.bottom(), from.right(), from.bottom())
        };
        let columns = if from.x() < both.x() {
            Rect::from_edges(from.x(), both.y(), both.x(), both.bottom())
        } else {
            Rect::from_edges(both.right(), both.y(), from.right(), both.bottom())
        };
        [rows, columns].into_iter().flatten()
    }
}

/// The blocks that moved between two frames.
#[derive(Clone, Debug, Default)]
pub struct Moves {
    /// The largest first, ties top to bottom and left to right.
    pub(super) blocks: Vec<Moved>,
    /// Every pixel of a block that does not equal its source; without a size when there is none.
    broken: ChangeMask,
}

impl Moves {
    /// The blocks, the largest first, ties top to bottom and left to right.
    #[must_use]
    pub fn blocks(&self) -> &[Moved] {
        &self.blocks
    }

    /// How many pixels a further block must explain to be worth telling: words repeat here and
    /// there on a page, and crumbs beside a block that moved are no answer.
    fn least_told(&self) -> u64 {
        self.blocks.iter().map(|block| block.pixels).max().unwrap_or(0) / CRUMB
    }

    /// How many pixels inside `rect` do not equal their source.
    pub(super) fn broken_in(&self, rect: Rect) -> u64 {
        self.broken.count_in(rect)
    }

    pub(crate) fn clear(&mut self) {
        self.blocks.clear();
    }
}

/// A displacement: a pixel at (x, y) of the frame after comes from (x - dx, y - dy).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Shift {
    dx: i32,
    dy: i32,
}

impl Shift {
    /// Where the content of `to` comes from.
    fn source(self, to: Rect) -> Option<Rect> {
        to.moved(-self.dx, -self.dy)
    }

    /// The part of `within` whose source lies in a frame of the same size as `frame`.
    fn reach(self, within: Rect, frame: Rect) -> Option<Rect> {
        let edge = |start: i32| u32::try_from(start.max(0)).ok();
        let end = |length: u32, by: i32| length.checked_add_signed(by.min(0));
        let landing = Rect::from_edges(
            edge(self.dx)?,
            edge(self.dy)?,
            end(frame.right(), self.dx)?,
            end(frame.bottom(), self.dy)?,
        );
        within.intersection(landing?)
    }
}

/// Two frames, what of them is compared, and by what tolerance.
#[derive(Clone, Copy)]
pub(crate) struct Pair<'a> {
    pub(crate) before: FrameRef<'a>,
    pub(crate) after: FrameRef<'a>,
    pub(crate) tolerance: Tolerance,
    /// The pixels that are compared; `None` is all.
    pub(crate) compared: Option<&'a ChangeMask>,
}

/// A change of fewer pixels is not searched: reading it is no work.
const MIN_CHANGED: u64 = 256;

/// The most displacements that are tried.
const MAX_TRIED: usize = 12;

/// The most blocks that are told: a collage of dozens is no answer.
const MAX_BLOCKS: usize = 12;

/// A block that explains less than one in so many of the pixels that another does is not told.
const CRUMB: u64 = 16;

/// Two blocks with one displacement are one when fewer than one in so many pixels between and
/// inside them contradicts.
const SPARSE: u64 = 4;

/// Finds moved blocks; keeps its memory from one pair of frames to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct MoveFinder {
    gradient: Gradient,
    evidence: Evidence,
    /// Every pixel that differs, before any was explained.
    original: ChangeMask,
}

impl MoveFinder {
    /// Puts into `moves` the blocks that moved between the frames of `pair`, and takes the pixels
    /// they explain out of `differences`.
    pub(crate) fn find(
        &mut self,
        differences: &mut Differences,
        pair: Pair<'_>,
        moves: &mut Moves,
    ) {
        moves.clear();
        let everywhere = pair.after.size().rect();
        if !differences.changed().reaches(MIN_CHANGED, everywhere) {
            return;
        }
        let votes = anchors::votes(differences.changed(), pair);
        if votes.is_empty() {
            return;
        }
        moves.broken.clear(pair.after.size());
        self.gradient.see(differences, pair.after);
        self.original.clear(pair.after.size());
        self.original.unite(differences.changed());
        self.original.unite(differences.faint());
        for vote in votes.iter().take(MAX_TRIED) {
            let known = moves.blocks.len();
            let changed = differences.changed();
            if changed.reaches(moves.least_told().max(MIN_CHANGED), vote.around) {
                self.follow(vote, differences, pair, moves);
            }
            let least = moves.least_told().max(MIN_CHANGED);
            if moves.blocks.len() > known && !differences.changed().reaches(least, everywhere) {
                break;
            }
        }
        moves.blocks.iter().for_each(|block| promote_vacated(block, differences));
        moves.blocks.sort_by_key(|block| {
            (std::cmp::Reverse(block.to.pixels()), block.to.y(), block.to.x())
        });
    }

    /// Takes one displacement's blocks, largest evidence first.
    fn follow(
        &mut self,
        vote: &Vote,
        differences: &mut Differences,
        pair: Pair<'_>,
        moves: &mut Moves,
    ) {
        let Some(within) = vote.shift.reach(vote.around, pair.after.size().rect()) else { return };
        if !self.evidence.gather(vote.shift, within, pair, differences, &self.gradient) {
            return;
        }
        for _ in moves.blocks.len()..MAX_BLOCKS {
            if !self.evidence.explains(moves.least_told()) {
                return;
            }
            let Some(block) = self.evidence.best_block() else { return };
            if !self.is_move(block, moves) {
                self.evidence.strike(block.to);
                continue;
            }
            self.evidence.mark_broken(block.to, &mut moves.broken);
            let pixels = self.evidence.explain(block.to, differences);
            moves.blocks.push(Moved { from: block.from, to: block.to, pixels });
            self.join_last(differences, moves);
        }
    }

    /// Makes the last block and an earlier one with the same displacement one, where little lies
    /// between them that did not move along: a button floats above the page, a paragraph changed.
    fn join_last(&mut self, differences: &mut Differences, moves: &mut Moves) {
        let Some((last, others)) = moves.blocks.split_last() else { return };
        let joined = others.iter().enumerate().find_map(|(index, other)| {
            if other.displacement() != last.displacement() {
                return None;
            }
            let (from, to) = (other.from.union(last.from), other.to.union(last.to));
            let apart = others
                .iter()
                .enumerate()
                .all(|(at, third)| at == index || third.to.intersection(to).is_none());
            let pixels = other.pixels + last.pixels;
            let is_one = apart && self.evidence.against_in(to) * SPARSE <= pixels;
            is_one.then_some((index, Moved { from, to, pixels }))
        });
        let Some((index, mut joined)) = joined else { return };
        self.evidence.mark_broken(joined.to, &mut moves.broken);
        joined.pixels += self.evidence.explain(joined.to, differences);
        moves.blocks.pop();
        moves.blocks[index] = joined;
    }

    /// Whether a block left its place, rather than being copied, comes from where no other block
    /// comes from, and is worth telling.
    fn is_move(&self, block: Block, moves: &Moves) -> bool {
        let left = self.original.count_in(block.from);
        let shared = |other: &Moved| {
            let both = other.from.intersection(block.from).map_or(0, Rect::pixels);
            both * 5 > block.from.pixels()
        };
        left * 4 >= block.explained
            && block.explained >= moves.least_told()
            && !moves.blocks.iter().any(shared)
    }
}

/// What a block left behind is the other half of its move: where no pixel of it exceeds the
/// tolerance, those that differ at all count as changed.
fn promote_vacated(block: &Moved, differences: &mut Differences) {
    for place in block.vacated() {
        if differences.changed().reaches(1, place) {
            continue;
        }
        for y in place.y()..place.bottom() {
            differences.promote(y, place.x(), place.right());
        }
    }
}
