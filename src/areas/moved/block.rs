//! The rectangle that moved along one displacement.

use std::ops::Range;

use crate::diff::{ChangeMask, Differences, diff};
use crate::frame::{BYTES_PER_PIXEL, FrameRef, PixelFormat};
use crate::geometry::{Rect, Size};

use super::grid::Grid;
use super::{Pair, Shift};

/// A rectangle that moved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) from: Rect,
    pub(super) to: Rect,
    /// How many differing pixels it would explain.
    pub(super) explained: u64,
}

/// What one pixel against a displacement weighs: as much as so many edges for it. Letters on one
/// line have much in common wherever they stand, so little may contradict.
const AGAINST: i64 = 8;

/// The evidence a block needs: edges that moved along, less what contradicts.
const MIN_SCORE: i64 = 64;

/// The differing pixels a block must explain.
const MIN_EXPLAINED: u64 = 128;

/// The smallest width and height, and the smallest product of the two: half a word of small text.
const MIN_EDGE_PX: u32 = 8;
const MIN_PIXELS: u64 = 256;

/// Flat columns or rows after which a block that could be larger ends.
const MAX_GAP_PX: u32 = 32;

/// How near to a changed pixel an unchanged one is told by the same area.
const NEAR_PX: u32 = 8;

/// So many rectangles that turn out to be no block, and the search for one ends.
const MAX_SEARCHES: usize = 16;

const WORD_PX: u32 = u64::BITS;

/// The edges of the frame after that lie where something changed: a set pixel differs from its
/// neighbour to the left, or above.
#[derive(Clone, Debug, Default)]
pub(super) struct Gradient {
    left: ChangeMask,
    above: ChangeMask,
}

impl Gradient {
    pub(super) fn see(&mut self, differences: &Differences, after: FrameRef<'_>) {
        self.left.clear(after.size());
        self.above.clear(after.size());
        let (changed, faint) = (differences.changed(), differences.faint());
        let rows = changed.touched();
        for y in rows.start..(rows.end + 1).min(after.size().height()) {
            let up_y = y.saturating_sub(1);
            let (row, above) = (pixels(after, y), pixels(after, up_y));
            let mut before = 0;
            for index in 0..changed.row(y).len() {
                let here = changed.row(y)[index] | faint.row(y)[index];
                let up = changed.row(up_y)[index] | faint.row(up_y)[index];
                if here | up | before >> (WORD_PX - 1) != 0 {
                    let start = index * WORD_PX as usize;
                    let (left, above) = edges(row, above, start, after.format());
                    self.left.row_mut(y)[index] = left;
                    self.above.row_mut(y)[index] = above;
                }
                before = here;
            }
        }
    }
}

type Pixel = [u8; BYTES_PER_PIXEL];

fn pixels(frame: FrameRef<'_>, y: u32) -> &[Pixel] {
    frame.row(y).as_chunks::<BYTES_PER_PIXEL>().0
}

/// Which of the 64 pixels from `start` on differ from the one to the left, and from the one above.
fn edges(row: &[Pixel], above: &[Pixel], start: usize, format: PixelFormat) -> (u64, u64) {
    let colour = match format {
        PixelFormat::Rgba => u32::MAX,
        PixelFormat::Bgrx => 0x00ff_ffff,
    };
    let end = (start + WORD_PX as usize).min(row.len());
    let here = &row[start..end];
    let up = unequal(here, &above[start..end], colour);
    if start > 0 {
        return (unequal(here, &row[start - 1..end - 1], colour), up);
    }
    (unequal(&here[1..], &here[..here.len() - 1], colour) << 1, up)
}

/// Which pixels of two rows of at most 64 differ in the bits of `colour`.
fn unequal(one: &[Pixel], other: &[Pixel], colour: u32) -> u64 {
    let mut differ = [0_u8; WORD_PX as usize];
    for ((differ, one), other) in differ.iter_mut().zip(one).zip(other) {
        let bits = (u32::from_le_bytes(*one) ^ u32::from_le_bytes(*other)) & colour;
        *differ = u8::from(bits != 0);
    }
    // Each product gathers the lowest bits of eight bytes in its highest byte.
    let (bytes, _) = differ.as_chunks::<8>();
    let gathered = bytes.iter().map(|eight| {
        u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> (WORD_PX - 8)
    });
    (0..).step_by(8).zip(gathered).map(|(shift, bits): (u32, u64)| bits << shift).sum()
}

/// Everything that speaks for and against one displacement, in pixels of `within`.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    shift: Option<(Shift, Rect)>,
    displaced: Differences,
    /// Edges that moved along: a pixel and its neighbour to the left, or above, equal their
    /// sources, and at least one of the two differs from before.
    left: ChangeMask,
    above: ChangeMask,
    /// Pixels that do not equal their source.
    against: ChangeMask,
    /// Differing pixels that equal their source.
    explained: ChangeMask,
    /// Changed pixels.
    changed: ChangeMask,
    grid: Grid,
}

/// What the evidence is gathered from.
#[derive(Clone, Copy)]
struct Sight<'a> {
    within: Rect,
    source: Rect,
    pair: Pair<'a>,
    differences: &'a Differences,
    gradient: &'a Gradient,
}

/// The words of the row above.
#[derive(Clone, Copy, Default)]
struct Above {
    equal: u64,
    stirred: u64,
}

impl Evidence {
    /// Compares the frame after with the frame before displaced by `shift`, in `within`, whose
    /// source must lie in the frame. `false` when they cannot be compared.
    pub(super) fn gather(
        &mut self,
        shift: Shift,
        within: Rect,
        pair: Pair<'_>,
        differences: &Differences,
        gradient: &Gradient,
    ) -> bool {
        let Some(source) = shift.source(within) else { return false };
        let (Ok(before), Ok(after)) = (pair.before.crop(source), pair.after.crop(within)) else {
            return false;
        };
        if diff(before, after, pair.tolerance, &mut self.displaced).is_err() {
            return false;
        }
        self.shift = Some((shift, within));
        let size = within.size();
        for mask in [
            &mut self.left,
            &mut self.above,
            &mut self.against,
            &mut self.explained,
            &mut self.changed,
        ] {
            mask.clear(size);
        }
        self.grid.reset(size.width(), size.height());
        let sight = Sight { within, source, pair, differences, gradient };
        let mut above = vec![Above::default(); size.width().div_ceil(WORD_PX) as usize];
        for y in 0..size.height() {
            self.gather_row(y, sight, &mut above);
        }
        true
    }

    fn gather_row(&mut self, y: u32, sight: Sight<'_>, above: &mut [Above]) {
        let Sight { within, source, pair, differences, gradient } = sight;
        let (mut equal_before, mut stirred_before) = (0, 0);
        for ((index, above), x) in above.iter_mut().enumerate().zip((0..).step_by(64)) {
            let (at_x, at_y) = (within.x() + x, within.y() + y);
            let mut known = low_bits(within.width() - x);
            if let Some(compared) = pair.compared {
                known &= compared.bits(at_y, at_x);
                known &= compared.bits(source.y() + y, source.x() + x);
            }
            let unequal = self.displaced.changed().row(y)[index];
            let (equal, against) = (known & !unequal, known & unequal);
            let changed = differences.changed().bits(at_y, at_x) & known;
            let faint = differences.faint().bits(at_y, at_x) & known;
            let stirred = changed | faint & !self.displaced.faint().row(y)[index];
            let explained = stirred & equal;
            let beside = stirred | stirred << 1 | stirred_before;
            let left =
                gradient.left.bits(at_y, at_x) & equal & (equal << 1 | equal_before) & beside;
            let up =
                gradient.above.bits(at_y, at_x) & equal & above.equal & (stirred | above.stirred);
            (equal_before, stirred_before) = (equal >> (WORD_PX - 1), stirred >> (WORD_PX - 1));
            *above = Above { equal, stirred };
            if left | up | against | explained | changed == 0 {
                continue;
            }
            self.left.row_mut(y)[index] = left;
            self.above.row_mut(y)[index] = up;
            self.against.row_mut(y)[index] = against;
            self.explained.row_mut(y)[index] = explained;
            self.changed.row_mut(y)[index] = changed;
            self.weigh(x, y, left, up, against);
        }
    }

    /// Adds the evidence of one word to the cells it covers.
    fn weigh(&mut self, x: u32, y: u32, left: u64, above: u64, against: u64) {
        let edge = self.grid.edge;
        let row = y / edge;
        let mut at = 0;
        while at < WORD_PX {
            let bits = low_bits(edge) << at;
            let evidence = (left & bits).count_ones() + (above & bits).count_ones();
            let against = AGAINST * i64::from((against & bits).count_ones());
            if evidence != 0 || against != 0 {
                self.grid.add((x + at) / edge, row, evidence.into(), against);
            }
            at += edge;
        }
    }

    /// The block with the most evidence, if any has enough.
    pub(super) fn best_block(&mut self) -> Option<Block> {
        let (shift, within) = self.shift?;
        for _ in 0..MAX_SEARCHES {
            let (cells, sum) = self.grid.best()?;
            if sum < MIN_SCORE {
                return None;
            }
            let rect = self.pixels_of(cells);
            let fitted = self.fitted(rect).filter(|fitted| self.is_enough(*fitted));
            let Some(fitted) = fitted else {
                self.forget(rect);
                continue;
            };
            let fitted = self.extended(fitted, shift);
            let explained = self.explained.count_in(fitted);
            let to = fitted.moved(within.x().cast_signed(), within.y().cast_signed())?;
            return Some(Block { from: shift.source(to)?, to, explained });
        }
        None
    }

    fn pixels_of(&self, cells: Rect) -> Rect {
        let edge = self.grid.edge;
        let size = self.left.size().unwrap_or(Size::ONE);
        Rect::from_edges(
            cells.x() * edge,
            cells.y() * edge,
            (cells.right() * edge).min(size.width()),
            (cells.bottom() * edge).min(size.height()),
        )
        .unwrap_or(size.rect())
    }

    fn is_enough(&self, rect: Rect) -> bool {
        rect.width() >= MIN_EDGE_PX
            && rect.height() >= MIN_EDGE_PX
            && rect.pixels() >= MIN_PIXELS
            && self.explained.count_in(rect) >= MIN_EXPLAINED
    }

    fn weight_of(&self, rect: Rect) -> i64 {
        let (left, above) = (self.left.count_in(rect), self.above.count_in(rect));
        (left + above).cast_signed() - AGAINST * self.against.count_in(rect).cast_signed()
    }

    /// From a rectangle of cells to the pixel: each side goes where the evidence is largest.
    fn fitted(&self, rect: Rect) -> Option<Rect> {
        let size = self.left.size()?;
        let [mut left, mut top, mut right, mut bottom] =
            [rect.x(), rect.y(), rect.right(), rect.bottom()];
        let edge = self.grid.edge;
        for _ in 0..2 {
            let row = |y: u32| {
                Rect::from_edges(left, y, right, y + 1).map_or(0, |row| self.weight_of(row))
            };
            let inner = (top + edge).min(bottom);
            top = best_line(inner, (top.saturating_sub(edge)..inner).rev(), row, 0);
            let inner = bottom.saturating_sub(edge).max(top);
            let outer = (bottom + edge).min(size.height());
            bottom = best_line(inner, inner..outer, row, 1);
            let inner = (left + edge).min(right);
            let outer = left.saturating_sub(edge);
            let weights = self.column_weights(outer..inner, top..bottom);
            let column = |x: u32| weights[(x - outer) as usize];
            left = best_line(inner, (outer..inner).rev(), column, 0);
            let inner = right.saturating_sub(edge).max(left);
            let outer = (right + edge).min(size.width());
            let weights = self.column_weights(inner..outer, top..bottom);
            let column = |x: u32| weights[(x - inner) as usize];
            right = best_line(inner, inner..outer, column, 1);
        }
        let rect = Rect::from_edges(left, top, right, bottom)?;
        if self.weight_of(rect) < MIN_SCORE {
            return None;
        }
        self.within_its_edges(rect)
    }

    /// The weight of each of some columns over some rows.
    fn column_weights(&self, columns: Range<u32>, rows: Range<u32>) -> Vec<i64> {
        let mut weights = vec![0; columns.len()];
        let masks = [(&self.left, 1), (&self.above, 1), (&self.against, -AGAINST)];
        for (mask, weight) in masks {
            for y in rows.clone() {
                for (first, weights) in
                    columns.clone().step_by(64).zip(weights.chunks_mut(WORD_PX as usize))
                {
                    let mut bits = mask.bits(y, first) & low_bits(columns.end - first);
                    while bits != 0 {
                        weights[bits.trailing_zeros() as usize] += weight;
                        bits &= bits - 1;
                    }
                }
            }
        }
        weights
    }

    /// An edge is marked on the pixel behind it, so the last column may lie beside what moved and
    /// the last row below it; and the first row may be the ground below something else, the first
    /// column the ground beside it.
    fn within_its_edges(&self, rect: Rect) -> Option<Rect> {
        let [mut left, mut top, mut right, mut bottom] =
            [rect.x(), rect.y(), rect.right(), rect.bottom()];
        let row = |y: u32| Rect::from_edges(left, y, right, y + 1);
        let has =
            |mask: &ChangeMask, rect: Option<Rect>| rect.is_some_and(|rect| mask.reaches(1, rect));
        let is_flat = |line| !has(&self.left, line) && !has(&self.above, line);
        let is_ground = |first_is_edge: bool, next, outside| {
            !first_is_edge && is_flat(next) && has(&self.against, outside)
        };
        if top > 0
            && bottom - top > 1
            && is_ground(has(&self.left, row(top)), row(top + 1), row(top - 1))
        {
            top = (top + 1..bottom).find(|&y| !is_flat(row(y)))?;
        }
        bottom -= u32::from(!has(&self.left, row(bottom - 1)));
        let column = |x: u32| Rect::from_edges(x, top, x + 1, bottom);
        if left > 0
            && right - left > 1
            && is_ground(has(&self.above, column(left)), column(left + 1), column(left - 1))
        {
            left = (left + 1..right).find(|&x| !is_flat(column(x)))?;
        }
        right -= u32::from(!has(&self.above, column(right - 1)));
        Rect::from_edges(left, top, right, bottom)
    }

    /// Takes in flat ground that moved along: ahead of the block, at most as far as it went, and
    /// beside its way, but never behind it. What a block leaves behind is uncovered, though the
    /// ground there looks like any other.
    fn extended(&self, rect: Rect, shift: Shift) -> Rect {
        let mut rect = rect;
        let (against, explained) =
            (self.over_rows(&self.against, rect), self.over_rows(&self.explained, rect));
        let column = |x: u32| (is_set(&against, x), is_set(&explained, x));
        let (before, behind) = limits(shift.dx);
        let left = grown_to(rect.x(), (0..rect.x()).rev(), before, column);
        let width = self.left.size().map_or(rect.right(), Size::width);
        let right = grown_to(rect.right() - 1, rect.right()..width, behind, column) + 1;
        rect = Rect::from_edges(left, rect.y(), right, rect.bottom()).unwrap_or(rect);
        let row = |y: u32| {
            let any = |mask: &ChangeMask| {
                Rect::from_edges(rect.x(), y, rect.right(), y + 1)
                    .is_some_and(|row| mask.reaches(1, row))
            };
            (any(&self.against), any(&self.explained))
        };
        let (above, below) = limits(shift.dy);
        let top = grown_to(rect.y(), (0..rect.y()).rev(), above, row);
        let height = self.left.size().map_or(rect.bottom(), Size::height);
        let bottom = grown_to(rect.bottom() - 1, rect.bottom()..height, below, row) + 1;
        Rect::from_edges(rect.x(), top, rect.right(), bottom).unwrap_or(rect)
    }

    /// Which columns have a pixel set in some row of `rect`.
    fn over_rows(&self, mask: &ChangeMask, rect: Rect) -> Vec<u64> {
        let mut any = vec![0; mask.row(rect.y()).len()];
        for y in rect.y()..rect.bottom() {
            any.iter_mut().zip(mask.row(y)).for_each(|(all, word)| *all |= word);
        }
        any
    }

    /// Whether blocks that explain at least `least` pixels can be left.
    pub(super) fn explains(&self, least: u64) -> bool {
        let everywhere = self.explained.size().map(Size::rect);
        everywhere.is_some_and(|rect| self.explained.reaches(least.max(MIN_EXPLAINED), rect))
    }

    /// Takes what the block at `to` explains out of `differences`, and says how many pixels that
    /// were.
    pub(super) fn explain(&mut self, to: Rect, differences: &mut Differences) -> u64 {
        let Some((shift, within)) = self.shift else { return 0 };
        let Some(local) = localised(to, within) else { return 0 };
        let mut pixels = 0;
        for y in local.y()..local.bottom() {
            for x in (local.x()..local.right()).step_by(WORD_PX as usize) {
                let inside = low_bits(local.right() - x);
                let bits = self.explained.bits(y, x) & inside & !self.vanished(x, y, local, shift);
                if bits != 0 {
                    pixels += u64::from(bits.count_ones());
                    let (at_x, at_y) = (within.x() + x, within.y() + y);
                    differences.remove(at_y, at_x, bits);
                }
            }
        }
        self.forget(local);
        pixels
    }

    /// Of the 64 pixels at (`x`, `y`), those whose old content should have moved along to a place
    /// inside the block and is not there, with no change near that place that would tell of it:
    /// something was deleted here.
    fn vanished(&self, x: u32, y: u32, block: Rect, shift: Shift) -> u64 {
        let (Some(there_y), Some(there_x)) =
            (y.checked_add_signed(shift.dy), signed_sum(x, shift.dx))
        else {
            return 0;
        };
        if !(block.y()..block.bottom()).contains(&there_y) {
            return 0;
        }
        let against = bits_from(&self.against, there_y, there_x);
        let still = against & !bits_from(&self.changed, there_y, there_x) & columns(block, there_x);
        if still == 0 || self.is_told(there_x, there_y) { 0 } else { still }
    }

    /// Whether a changed pixel that does not equal its source lies near the 64 pixels from
    /// (`x`, `y`) on.
    fn is_told(&self, x: i64, y: u32) -> bool {
        let Some(size) = self.against.size() else { return false };
        let left = u32::try_from(x.max(0)).unwrap_or(0);
        let right = u32::try_from((x + i64::from(WORD_PX)).max(1)).unwrap_or(1);
        let Some(word) = Rect::from_edges(left, y, right, y + 1) else { return false };
        let around = word.grown(NEAR_PX, size);
        let tells = |y: u32| {
            (around.x()..around.right()).step_by(WORD_PX as usize).any(|x| {
                let inside = low_bits(around.right() - x);
                self.against.bits(y, x) & self.changed.bits(y, x) & inside != 0
            })
        };
        (around.y()..around.bottom()).any(tells)
    }

    /// How many pixels of `to` do not equal their source; all where that is not known.
    pub(super) fn against_in(&self, to: Rect) -> u64 {
        let local = self
            .shift
            .and_then(|(_, within)| localised(to, within).filter(|_| within.contains_rect(to)));
        local.map_or(to.pixels(), |local| self.against.count_in(local))
    }

    /// Sets in `broken` every pixel of `to` that does not equal its source.
    pub(super) fn mark_broken(&self, to: Rect, broken: &mut ChangeMask) {
        let Some((_, within)) = self.shift else { return };
        let Some(local) = localised(to, within) else { return };
        for y in local.y()..local.bottom() {
            for (start, end) in self.against.runs_between(y, local.x(), local.right()) {
                broken.set_run(within.y() + y, within.x() + start, within.x() + end);
            }
        }
    }

    /// Leaves `to`, a rectangle of the frame after, out of the next search.
    pub(super) fn strike(&mut self, to: Rect) {
        if let Some((_, within)) = self.shift
            && let Some(local) = localised(to, within)
        {
            self.forget(local);
        }
    }

    /// Nothing in `rect` is evidence any more.
    fn forget(&mut self, rect: Rect) {
        for mask in [&mut self.left, &mut self.above, &mut self.explained] {
            (rect.y()..rect.bottom()).for_each(|y| mask.clear_run(y, rect.x(), rect.right()));
        }
        let edge = self.grid.edge;
        for row in rect.y() / edge..rect.bottom().div_ceil(edge) {
            for column in rect.x() / edge..rect.right().div_ceil(edge) {
                let cell = Rect::from_edges(column, row, column + 1, row + 1);
                let Some(cell) = cell.map(|cell| self.pixels_of(cell)) else { continue };
                if rect.contains_rect(cell) {
                    self.grid.forget(column, row);
                } else {
                    let weight = self.weight_of(cell);
                    self.grid.set(column, row, weight);
                }
            }
        }
    }
}

/// The line up to which the sum of the weights from `inner` on is largest.
fn best_line(
    inner: u32,
    lines: impl Iterator<Item = u32>,
    weight: impl Fn(u32) -> i64,
    past: u32,
) -> u32 {
    let (mut best, mut sum, mut most) = (inner, 0, 0);
    for line in lines {
        sum += weight(line);
        if sum > most {
            (best, most) = (line + past, sum);
        }
    }
    best
}

/// The lowest `count` bits; all of them from 64 on.
const fn low_bits(count: u32) -> u64 {
    if count >= WORD_PX { u64::MAX } else { (1 << count) - 1 }
}

fn is_set(words: &[u64], x: u32) -> bool {
    words[(x / WORD_PX) as usize] >> (x % WORD_PX) & 1 == 1
}

/// How far a block may take in flat ground before its start and behind its end, on one axis.
fn limits(along: i32) -> (u32, u32) {
    match along {
        0 => (u32::MAX, u32::MAX),
        ahead @ 1.. => (0, ahead.unsigned_abs()),
        back => (back.unsigned_abs(), 0),
    }
}

/// The last of `lines`, at most `limit` of them, that `line` says has something explained, with
/// nothing against it up to there and no long gap; else `from`. `line` answers (against, explained).
fn grown_to(
    from: u32,
    lines: impl Iterator<Item = u32>,
    limit: u32,
    line: impl Fn(u32) -> (bool, bool),
) -> u32 {
    let (mut last, mut gap) = (from, 0);
    for at in lines.take(limit as usize) {
        let (is_against, is_explained) = line(at);
        if is_against || gap > MAX_GAP_PX {
            break;
        }
        (last, gap) = if is_explained { (at, 0) } else { (last, gap + 1) };
    }
    last
}

/// `rect` as seen from the corner of `within`.
fn localised(rect: Rect, within: Rect) -> Option<Rect> {
    rect.moved(-within.x().cast_signed(), -within.y().cast_signed())
}

fn signed_sum(x: u32, by: i32) -> Option<i64> {
    i64::from(x).checked_add(i64::from(by))
}

/// As [`ChangeMask::bits`], from a column that may lie left of the mask.
fn bits_from(mask: &ChangeMask, y: u32, x: i64) -> u64 {
    match u32::try_from(x) {
        Ok(x) => mask.bits(y, x),
        Err(_) if x > -i64::from(WORD_PX) => mask.bits(y, 0) << x.unsigned_abs(),
        Err(_) => 0,
    }
}

/// Which of the 64 columns from `x` on lie in `rect`.
fn columns(rect: Rect, x: i64) -> u64 {
    let up_to =
        |edge: u32| low_bits(u32::try_from((i64::from(edge) - x).max(0)).unwrap_or(u32::MAX));
    up_to(rect.right()) & !up_to(rect.x())
}
