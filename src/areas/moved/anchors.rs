//! Which displacements are worth a closer look.
//!
//! Squares of the frame after are cut into rows, and the hash of each row is looked for in the
//! frame before. A square as tall as the distance between the rows that are read is crossed by
//! exactly one of them wherever it went, so a large frame is read only in part.

use std::collections::HashMap;

use crate::diff::ChangeMask;
use crate::frame::{BYTES_PER_PIXEL, FrameRef, PixelFormat};
use crate::geometry::{Point, Rect};

use super::{Pair, Shift};

/// A displacement, and where it was seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vote {
    pub(super) shift: Shift,
    pub(super) anchors: u32,
    /// Where, in the frame after, the block may lie.
    pub(super) around: Rect,
}

/// From so many changed pixels on, larger squares are used and fewer rows read.
const LARGE: u64 = 1 << 18;

/// The edges of the squares.
const SMALL_EDGE: u32 = 8;
const LARGE_EDGE: u32 = 16;

/// At most about so many squares are looked for.
const MAX_ANCHORS: usize = 2048;

/// A displacement needs so many votes.
const MIN_VOTES: u32 = 2;

/// With so many votes a displacement is looked at everywhere, with fewer around its squares.
const MANY_VOTES: u32 = 16;

/// How far around its squares a displacement with few votes is looked at.
const AROUND_PX: u32 = 128;

/// A row of more squares than this, or found more often, tells nothing.
const COMMON: usize = 16;
const OFTEN: u32 = 256;

/// The same where few rows are read: there is enough else to go by.
const LARGE_COMMON: usize = 4;
const LARGE_OFTEN: u32 = 16;

/// The displacements with the most votes first.
pub(super) fn votes(changed: &ChangeMask, pair: Pair<'_>) -> Vec<Vote> {
    let is_large = changed.count() >= LARGE;
    let edge = if is_large { LARGE_EDGE } else { SMALL_EDGE };
    let mut search = Search::new(changed, pair, edge, if is_large { edge } else { 1 });
    search.read();
    let mut votes = tally(&search.anchors, edge);
    let everywhere = pair.after.size().rect();
    for vote in &mut votes {
        let near = vote.around.grown(AROUND_PX, pair.after.size());
        vote.around = if vote.anchors >= MANY_VOTES { everywhere } else { near };
    }
    votes
}

fn tally(anchors: &[Anchor], edge: u32) -> Vec<Vote> {
    let mut found: HashMap<Shift, Vote> = HashMap::new();
    for anchor in anchors {
        let (Some(shift), Ok(rect)) = (anchor.shift(), Rect::new(anchor.x, anchor.y, edge, edge))
        else {
            continue;
        };
        let vote = found.entry(shift).or_insert(Vote { shift, anchors: 0, around: rect });
        vote.anchors += 1;
        vote.around = vote.around.union(rect);
    }
    let mut votes: Vec<Vote> =
        found.into_values().filter(|vote| vote.anchors >= MIN_VOTES).collect();
    let distance = |shift: Shift| shift.dx.unsigned_abs() + shift.dy.unsigned_abs();
    votes.sort_by_key(|vote| (std::cmp::Reverse(vote.anchors), distance(vote.shift), vote.shift));
    votes
}

/// A square of the frame after, and where it was found.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    x: u32,
    y: u32,
    source: Option<Point>,
    is_ambiguous: bool,
}

impl Anchor {
    fn shift(&self) -> Option<Shift> {
        let source = self.source.filter(|_| !self.is_ambiguous)?;
        let along = |from: u32, to: u32| to.cast_signed() - from.cast_signed();
        let shift = Shift { dx: along(source.x, self.x), dy: along(source.y, self.y) };
        (shift != Shift { dx: 0, dy: 0 }).then_some(shift)
    }
}

/// One row of a square.
#[derive(Clone, Copy, Debug)]
struct Slice {
    hash: u32,
    anchor: u32,
    row: u32,
}

struct Search<'a> {
    changed: &'a ChangeMask,
    pair: Pair<'a>,
    edge: u32,
    /// How far apart the rows are that are read.
    step: u32,
    anchors: Vec<Anchor>,
    /// Sorted by hash.
    slices: Vec<Slice>,
    /// Where the slices of a hash begin, and how often it was found.
    index: HashMap<u32, (usize, u32)>,
    /// One bit a hash, so that most that are not there are never looked up.
    filter: Vec<u64>,
}

impl<'a> Search<'a> {
    fn new(changed: &'a ChangeMask, pair: Pair<'a>, edge: u32, step: u32) -> Self {
        let mut search = Self {
            changed,
            pair,
            edge,
            step,
            anchors: Vec::new(),
            slices: Vec::new(),
            index: HashMap::new(),
            filter: vec![0; FILTER_WORDS],
        };
        for (x, y) in sampled(changed_cells(changed, edge)) {
            search.add_anchor(x, y);
        }
        search.build_index();
        search
    }

    fn add_anchor(&mut self, x: u32, y: u32) {
        let Ok(rect) = Rect::new(x, y, self.edge, self.edge) else { return };
        if !self.pair.after.size().rect().contains_rect(rect) || !self.is_compared(rect) {
            return;
        }
        let anchor = u32::try_from(self.anchors.len()).unwrap_or(u32::MAX);
        let after = self.pair.after;
        let row = |row: u32| window(after, x, y + row, self.edge);
        // Where every row is read it is enough to look for those that differ from the one above
        // or below; the side of a plain box is everywhere the same.
        let is_plain = |at: u32| {
            let same = |other: u32| other >= self.edge || row(at) == row(other);
            self.step == 1 && same(at.wrapping_sub(1)) && same(at + 1)
        };
        let slices = (0..self.edge).filter(|&at| !is_plain(at)).filter_map(|at| {
            let hash = informative_hash(row(at), after.format())?;
            Some(Slice { hash, anchor, row: at })
        });
        self.slices.extend(slices);
        self.anchors.push(Anchor { x, y, source: None, is_ambiguous: false });
    }

    fn build_index(&mut self) {
        self.slices.sort_unstable_by_key(|slice| (slice.hash, slice.anchor, slice.row));
        let common = if self.step == 1 { COMMON } else { LARGE_COMMON };
        let mut start = 0;
        for group in self.slices.chunk_by(|a, b| a.hash == b.hash) {
            if group.len() <= common {
                self.index.insert(group[0].hash, (start, 0));
                let (word, bit) = filter_place(group[0].hash);
                self.filter[word] |= bit;
            }
            start += group.len();
        }
    }

    /// Reads the frame before where it changed.
    fn read(&mut self) {
        let rows = self.changed.touched();
        let first = rows.start.next_multiple_of(self.step);
        for y in (first..rows.end).step_by(self.step as usize) {
            for (start, end) in changed_spans(self.changed.row(y)) {
                self.read_span(y, start, end);
            }
        }
    }

    /// Rolls a window over the pixels around `start..end` of a row.
    fn read_span(&mut self, y: u32, start: u32, end: u32) {
        let before = self.pair.before;
        let start = start.saturating_sub(self.edge - 1);
        let end = (end + self.edge - 1).min(before.size().width());
        if start + self.edge > end {
            return;
        }
        let (format, edge) = (before.format(), self.edge as usize);
        let pixels = window(before, start, y, end - start);
        let oldest = power(self.edge);
        let mut hash = hash_of(&pixels[..edge], format);
        self.look_up(hash, start, y);
        for (x, (out, new)) in (start + 1..).zip(pixels.iter().zip(&pixels[edge..])) {
            hash = hash
                .wrapping_mul(BASE)
                .wrapping_add(value(*new, format))
                .wrapping_sub(value(*out, format).wrapping_mul(oldest));
            self.look_up(hash, x, y);
        }
    }

    #[inline]
    fn look_up(&mut self, hash: u32, x: u32, y: u32) {
        let (word, bit) = filter_place(hash);
        if self.filter[word] & bit != 0 {
            self.compare(hash, x, y);
        }
    }

    /// Compares every square with a row of that hash with what stands at (`x`, `y`).
    fn compare(&mut self, hash: u32, x: u32, y: u32) {
        let Some((start, seen)) = self.index.get_mut(&hash) else { return };
        *seen += 1;
        let (start, seen) = (*start, *seen);
        if seen > if self.step == 1 { OFTEN } else { LARGE_OFTEN } {
            let (word, bit) = filter_place(hash);
            self.filter[word] &= !bit;
            return;
        }
        for index in start..self.slices.len() {
            let slice = self.slices[index];
            if slice.hash != hash {
                return;
            }
            let anchor = self.anchors[slice.anchor as usize];
            let Some(top) = y.checked_sub(slice.row) else { continue };
            let source = Point::new(x, top);
            if !anchor.is_ambiguous
                && anchor.source != Some(source)
                && self.equals(anchor, source, slice.row)
            {
                let anchor = &mut self.anchors[slice.anchor as usize];
                anchor.is_ambiguous = anchor.source.is_some();
                anchor.source = Some(source);
            }
        }
    }

    /// Whether the square looked the same at `source` before.
    fn equals(&self, anchor: Anchor, source: Point, found: u32) -> bool {
        let Pair { before, after, .. } = self.pair;
        let Ok(rect) = Rect::new(source.x, source.y, self.edge, self.edge) else { return false };
        if !before.size().rect().contains_rect(rect) || !self.is_compared(rect) {
            return false;
        }
        // The rows next to the one that was found are the likeliest to differ.
        let mut near = (0..self.edge).map(|row| (row + found + self.edge - 1) % self.edge);
        near.all(|row| {
            let one = window(before, source.x, source.y + row, self.edge);
            let other = window(after, anchor.x, anchor.y + row, self.edge);
            let same =
                |(a, b): (&Pixel, &Pixel)| value(*a, before.format()) == value(*b, after.format());
            one.iter().zip(other).all(same)
        })
    }

    fn is_compared(&self, rect: Rect) -> bool {
        self.pair.compared.is_none_or(|compared| compared.count_in(rect) == rect.pixels())
    }
}

type Pixel = [u8; BYTES_PER_PIXEL];

/// `width` pixels of row `y` from `x` on.
fn window(frame: FrameRef<'_>, x: u32, y: u32, width: u32) -> &[Pixel] {
    let (pixels, _) = frame.row(y).as_chunks::<BYTES_PER_PIXEL>();
    &pixels[x as usize..(x + width) as usize]
}

/// A pixel as one number, the same in every channel order.
#[inline]
const fn value(pixel: Pixel, format: PixelFormat) -> u32 {
    u32::from_le_bytes(format.rgba(pixel))
}

/// The multiplier of the rolling hash: odd, so that no bit of a pixel is lost.
const BASE: u32 = 0x9e37_79b1;

fn power(exponent: u32) -> u32 {
    BASE.wrapping_pow(exponent)
}

fn hash_of(pixels: &[Pixel], format: PixelFormat) -> u32 {
    let add =
        |hash: u32, pixel: &Pixel| hash.wrapping_mul(BASE).wrapping_add(value(*pixel, format));
    pixels.iter().fold(0, add)
}

/// The hash of a row, unless it is flat and so could be anywhere.
fn informative_hash(pixels: &[Pixel], format: PixelFormat) -> Option<u32> {
    let first = value(pixels[0], format);
    let is_flat = pixels.iter().all(|pixel| value(*pixel, format) == first);
    (!is_flat).then(|| hash_of(pixels, format))
}

const FILTER_BITS: u32 = 19;
const FILTER_WORDS: usize = 1 << (FILTER_BITS - u64::BITS.ilog2());

/// The word and the bit of a hash in the filter.
fn filter_place(hash: u32) -> (usize, u64) {
    let place = hash.wrapping_mul(0x85eb_ca6b) >> (u32::BITS - FILTER_BITS);
    ((place / u64::BITS) as usize, 1 << (place % u64::BITS))
}

/// The corners of the squares of a grid that hold a changed pixel.
fn changed_cells(changed: &ChangeMask, edge: u32) -> Vec<(u32, u32)> {
    let rows = changed.touched();
    let mut cells = Vec::new();
    let mut any: Vec<u64> = Vec::new();
    for top in (rows.start / edge * edge..rows.end).step_by(edge as usize) {
        any.clear();
        any.resize(changed.row(rows.start).len(), 0);
        for y in top.max(rows.start)..(top + edge).min(rows.end) {
            any.iter_mut().zip(changed.row(y)).for_each(|(all, word)| *all |= word);
        }
        let cell_bits = (1_u64 << edge) - 1;
        for (x, word) in (0..).step_by(u64::BITS as usize).zip(&any) {
            let inside = (0..u64::BITS).step_by(edge as usize);
            cells.extend(inside.filter(|at| word >> at & cell_bits != 0).map(|at| (x + at, top)));
        }
    }
    cells
}

/// At most about [`MAX_ANCHORS`] of them, evenly strewn.
fn sampled(cells: Vec<(u32, u32)>) -> impl Iterator<Item = (u32, u32)> {
    let one_in = u32::try_from(cells.len().div_ceil(MAX_ANCHORS)).unwrap_or(u32::MAX);
    let is_taken = move |(x, y): &(u32, u32)| {
        let mixed = (x ^ y.rotate_left(16)).wrapping_mul(BASE);
        (mixed ^ mixed >> 15).wrapping_mul(0x85eb_ca6b) >> 8 <= (u32::MAX >> 8) / one_in.max(1)
    };
    cells.into_iter().filter(is_taken)
}

/// Neighbouring words with changed pixels, as `start..end` in pixels; the last may reach past the
/// end of the row.
fn changed_spans(row: &[u64]) -> impl Iterator<Item = (u32, u32)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + row[at..].iter().position(|word| *word != 0)?;
        let length = row[start..].iter().position(|word| *word == 0).unwrap_or(row.len() - start);
        at = start + length;
        let pixels = |words: usize| u32::try_from(words * u64::BITS as usize).unwrap_or(u32::MAX);
        Some((pixels(start), pixels(at)))
    })
}
