//! Which displacements are worth a closer look.
//!
//! *Anchors*, small parts of the frame after, are cut into rows, and the hash of each row is looked
//! for in the frame before. An anchor as high as the distance between the rows that are read is
//! crossed by exactly one of them wherever it went, so a large frame is read only in part.

use std::collections::HashMap;
use std::ops::Range;

use crate::diff::ChangeMask;
use crate::error::Result;
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

/// How anchors are cut and looked for.
#[derive(Clone, Copy, Debug)]
struct Cut {
    width: u32,
    height: u32,
    /// How far apart the rows are that are read; no further than an anchor is high.
    step: u32,
    /// A row of more anchors than this, or found more often, tells nothing.
    common: usize,
    often: u32,
}

/// Small things are found by small anchors, and every row is read.
const FINE: Cut = Cut { width: 8, height: 8, step: 1, common: 16, often: 256 };

/// Where much changed, wide anchors are enough: text repeats letters, but hardly words.
const COARSE: Cut = Cut { width: 32, height: 16, step: 16, common: 4, often: 16 };

/// Text whose letters stand in cells repeats even words as they stand: what does not repeat is a
/// line of them.
const WIDE: Cut = Cut { width: 128, ..COARSE };

/// From so many words of the mask with a changed pixel on, the cut is coarse.
const MANY_WORDS: usize = 1 << 13;

/// At most about so many anchors are looked for.
const MAX_ANCHORS: usize = 1024;

/// A displacement needs so many votes.
const MIN_VOTES: u32 = 2;

/// With so many votes a displacement is looked at everywhere, with fewer around its anchors.
const MANY_VOTES: u32 = 16;

/// How far around its anchors a displacement with few votes is looked at.
const AROUND_PX: u32 = 128;

/// The displacements with the most votes first.
pub(super) fn votes(changed: &ChangeMask, pair: Pair<'_>) -> Vec<Vote> {
    let mut words = 0;
    let is_large = changed.touched().any(|y| {
        words += changed.row(y).iter().filter(|word| **word != 0).count();
        words >= MANY_WORDS
    });
    let mut moved = found(changed, pair, if is_large { COARSE } else { FINE });
    let mut votes = tally(&moved);
    if votes.first().is_none_or(|vote| vote.anchors < MANY_VOTES) {
        moved.extend(found(changed, pair, WIDE));
        votes = tally(&moved);
    }
    let everywhere = pair.after.size().rect();
    for vote in &mut votes {
        let near = vote.around.grown(AROUND_PX, pair.after.size());
        vote.around = if vote.anchors >= MANY_VOTES { everywhere } else { near };
    }
    votes
}

/// The anchors that moved: how, and where they are.
fn found(changed: &ChangeMask, pair: Pair<'_>, cut: Cut) -> Vec<(Shift, Rect)> {
    let mut search = Search::new(changed, pair, cut);
    search.read();
    let moved = |anchor: &Anchor| Some((anchor.shift()?, cut.rect(anchor.x, anchor.y).ok()?));
    search.anchors.iter().filter_map(moved).collect()
}

fn tally(found: &[(Shift, Rect)]) -> Vec<Vote> {
    let mut votes: HashMap<Shift, Vote> = HashMap::new();
    for &(shift, rect) in found {
        let vote = votes.entry(shift).or_insert(Vote { shift, anchors: 0, around: rect });
        vote.anchors += 1;
        vote.around = vote.around.union(rect);
    }
    let mut votes: Vec<Vote> =
        votes.into_values().filter(|vote| vote.anchors >= MIN_VOTES).collect();
    let distance = |shift: Shift| shift.dx.unsigned_abs() + shift.dy.unsigned_abs();
    votes.sort_by_key(|vote| (std::cmp::Reverse(vote.anchors), distance(vote.shift), vote.shift));
    votes
}

impl Cut {
    fn rect(self, x: u32, y: u32) -> Result<Rect> {
        Rect::new(x, y, self.width, self.height)
    }
}

/// A small part of the frame after, and where it was found.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    x: u32,
    y: u32,
    /// One of its changed pixels, as seen from its corner, and what that looks like: where it is
    /// not found the rest need not be compared.
    witness: (Point, u32),
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

/// One row of an anchor.
#[derive(Clone, Copy, Debug)]
struct Slice {
    hash: u32,
    anchor: u32,
    row: u32,
}

/// Slices of one hash.
#[derive(Clone, Debug)]
struct Group {
    hash: u32,
    slices: Range<usize>,
    /// How often it was found.
    seen: u32,
}

struct Search<'a> {
    changed: &'a ChangeMask,
    pair: Pair<'a>,
    cut: Cut,
    anchors: Vec<Anchor>,
    /// Sorted by hash.
    slices: Vec<Slice>,
    /// The slices of one hash each, in the order of the hashes.
    groups: Vec<Group>,
    /// One bit a hash, so that most that are not there are never looked up.
    filter: Vec<u64>,
}

impl<'a> Search<'a> {
    fn new(changed: &'a ChangeMask, pair: Pair<'a>, cut: Cut) -> Self {
        let mut search = Self {
            changed,
            pair,
            cut,
            anchors: Vec::new(),
            slices: Vec::new(),
            groups: Vec::new(),
            filter: vec![0; FILTER_WORDS],
        };
        for (x, y) in sampled(changed_cells(changed, cut.height)) {
            search.add_anchor(x, y);
        }
        search.build_index();
        search
    }

    fn add_anchor(&mut self, x: u32, y: u32) {
        let Cut { width, height, step, .. } = self.cut;
        let Ok(rect) = self.cut.rect(x, y) else { return };
        if !self.pair.after.size().rect().contains_rect(rect) || !self.is_compared(rect) {
            return;
        }
        let anchor = u32::try_from(self.anchors.len()).unwrap_or(u32::MAX);
        let after = self.pair.after;
        let row = |row: u32| window(after, x, y + row, width);
        // Where every row is read it is enough to look for those that differ from the one above
        // or below; the side of a plain box is everywhere the same.
        let is_plain = |at: u32| {
            let same = |other: u32| other >= height || row(at) == row(other);
            step == 1 && same(at.wrapping_sub(1)) && same(at + 1)
        };
        let slices = (0..height).filter(|&at| !is_plain(at)).filter_map(|at| {
            let hash = informative_hash(row(at), after.format())?;
            Some(Slice { hash, anchor, row: at })
        });
        self.slices.extend(slices);
        let first_changed = |row: u32| {
            let bits = self.changed.bits(y + row, x);
            (bits != 0).then(|| Point::new(bits.trailing_zeros().min(width - 1), row))
        };
        let seen = (0..height).find_map(first_changed).unwrap_or(Point::new(0, 0));
        let looks = value(window(after, x + seen.x, y + seen.y, 1)[0], after.format());
        let witness = (seen, looks);
        self.anchors.push(Anchor { x, y, witness, source: None, is_ambiguous: false });
    }

    fn build_index(&mut self) {
        self.slices.sort_unstable_by_key(|slice| (slice.hash, slice.anchor, slice.row));
        let mut start = 0;
        for group in self.slices.chunk_by(|a, b| a.hash == b.hash) {
            let slices = start..start + group.len();
            start = slices.end;
            if group.len() <= self.cut.common {
                self.groups.push(Group { hash: group[0].hash, slices, seen: 0 });
                let (word, bit) = filter_place(group[0].hash);
                self.filter[word] |= bit;
            }
        }
    }

    /// Reads the frame before where it changed.
    fn read(&mut self) {
        let rows = self.changed.touched();
        let first = rows.start.next_multiple_of(self.cut.step);
        for y in (first..rows.end).step_by(self.cut.step as usize) {
            for (start, end) in changed_spans(self.changed.row(y)) {
                self.read_span(y, start, end);
            }
        }
    }

    /// Rolls a window over the pixels around `start..end` of a row.
    fn read_span(&mut self, y: u32, start: u32, end: u32) {
        let before = self.pair.before;
        let width = self.cut.width;
        let start = start.saturating_sub(width - 1);
        let end = (end + width - 1).min(before.size().width());
        if start + width > end {
            return;
        }
        let format = before.format();
        let pixels = window(before, start, y, end - start);
        let (first, rest) = (&pixels[..width as usize], &pixels[width as usize..]);
        let oldest = BASE.wrapping_pow(width);
        let mut hash = hash_of(first, format);
        self.look_up(hash, start, y);
        for (x, (out, new)) in (start + 1..).zip(pixels.iter().zip(rest)) {
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

    /// Compares every anchor with a row of that hash with what stands at (`x`, `y`). Seldom called
    /// beside [`Self::look_up`], which is to stay small.
    #[inline(never)]
    fn compare(&mut self, hash: u32, x: u32, y: u32) {
        let Ok(index) = self.groups.binary_search_by_key(&hash, |group| group.hash) else { return };
        let group = &mut self.groups[index];
        group.seen += 1;
        if group.seen > self.cut.often {
            let (word, bit) = filter_place(hash);
            self.filter[word] &= !bit;
            return;
        }
        for index in group.slices.clone() {
            self.compare_with(self.slices[index], x, y);
        }
    }

    /// Compares the anchor of `slice` with what stands where that row is at (`x`, `y`).
    fn compare_with(&mut self, slice: Slice, x: u32, y: u32) {
        let anchor = self.anchors[slice.anchor as usize];
        let Some(top) = y.checked_sub(slice.row) else { return };
        let source = Point::new(x, top);
        if !anchor.is_ambiguous
            && anchor.source != Some(source)
            && self.shows_witness(anchor, source)
            && self.equals(anchor, source, slice.row)
        {
            let anchor = &mut self.anchors[slice.anchor as usize];
            anchor.is_ambiguous = anchor.source.is_some();
            anchor.source = Some(source);
        }
    }

    /// Whether the witness of the anchor was at its place in `source` before.
    fn shows_witness(&self, anchor: Anchor, source: Point) -> bool {
        let (before, (at, looks)) = (self.pair.before, anchor.witness);
        let (x, y) = (source.x + at.x, source.y + at.y);
        before.size().rect().contains(Point::new(x, y))
            && value(window(before, x, y, 1)[0], before.format()) == looks
    }

    /// Whether the anchor looked the same at `source` before.
    fn equals(&self, anchor: Anchor, source: Point, found: u32) -> bool {
        let Pair { before, after, .. } = self.pair;
        let Cut { width, height, .. } = self.cut;
        let Ok(rect) = self.cut.rect(source.x, source.y) else { return false };
        if !before.size().rect().contains_rect(rect) || !self.is_compared(rect) {
            return false;
        }
        // The rows next to the one that was found are the likeliest to differ.
        let mut near = (0..height).map(|row| (row + found + height - 1) % height);
        near.all(|row| {
            let one = window(before, source.x, source.y + row, width);
            let other = window(after, anchor.x, anchor.y + row, width);
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
