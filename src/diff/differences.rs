//! What one pass over two frames found.

use std::ops::Range;

use crate::diff::kernel::Bits;
use crate::diff::mask::words_of;
use crate::diff::{ChangeMask, max_channel_delta};
use crate::frame::FrameRef;
use crate::geometry::{Point, Size};

/// Where two frames differ.
#[derive(Clone, Debug, Default)]
pub struct Differences {
    changed: ChangeMask,
    faint: ChangeMask,
    antialiased: ChangeMask,
    /// For each word that has a pixel: the largest difference of a channel among its changed
    /// pixels, or among the faint ones where it has only such; nothing where pixels came or went
    /// after the pass.
    peaks: Vec<u8>,
}

impl Differences {
    /// Pixels further apart than the tolerance.
    #[must_use]
    pub const fn changed(&self) -> &ChangeMask {
        &self.changed
    }

    /// Pixels that differ within the tolerance: nothing one by one, a tint or a slow fade when
    /// there are many of them.
    #[must_use]
    pub const fn faint(&self) -> &ChangeMask {
        &self.faint
    }

    /// Pixels that [`set_aside_antialiasing`](crate::diff::set_aside_antialiasing) took from the
    /// changed ones; empty where it was not asked.
    #[must_use]
    pub const fn antialiased(&self) -> &ChangeMask {
        &self.antialiased
    }

    /// Leaves only the pixels that are also set in `scope`, a mask of the same size; says how many
    /// went.
    ///
    /// # Panics
    /// When the sizes differ.
    pub fn retain(&mut self, scope: &ChangeMask) -> u64 {
        for y in self.changed.touched() {
            let words = self.changed.row(y).iter().zip(self.faint.row(y)).zip(scope.row(y));
            let peaks = &mut self.peaks[self.changed.words_of_row(y)];
            for (((changed, faint), keep), peak) in words.zip(peaks) {
                if (changed | faint) & !keep != 0 {
                    *peak = UNKNOWN;
                }
            }
        }
        self.changed.retain(scope) + self.faint.retain(scope)
    }

    /// Makes both masks as large as `size` with no pixel set, keeping their memory.
    pub(super) fn clear(&mut self, size: Size) {
        self.changed.clear(size);
        self.faint.clear(size);
        if self.antialiased.size().is_some() {
            self.antialiased.clear(size);
        }
        // A peak is read only where its word has a pixel, and written with it.
        self.peaks.resize(self.changed.words().len(), UNKNOWN);
    }

    /// All rows, to be written by a kernel.
    pub(super) fn band(&mut self) -> Band<'_> {
        let height = self.changed.size().map_or(0, Size::height);
        Band {
            rows: 0..height,
            words_per_row: self.changed.words_per_row(),
            changed: self.changed.words_mut(),
            faint: self.faint.words_mut(),
            peaks: &mut self.peaks,
        }
    }

    /// Notes the rows that a kernel wrote.
    pub(super) fn touch(&mut self, rows: Range<u32>) {
        self.changed.touch(rows.clone());
        self.faint.touch(rows);
    }

    /// Makes the faint pixels in `start..end` of row `y` changed ones.
    pub(crate) fn promote(&mut self, y: u32, start: u32, end: u32) {
        let peaks = &mut self.peaks[self.changed.words_of_row(y)];
        let (changed, faint) = (self.changed.row_mut(y), self.faint.row_mut(y));
        for (index, bits) in words_of(start, end) {
            let promoted = faint[index] & bits;
            if changed[index] != 0 || promoted != faint[index] {
                peaks[index] = UNKNOWN;
            }
            faint[index] &= !promoted;
            changed[index] |= promoted;
        }
    }

    /// Moves the changed pixels that `is_antialiased` to those of their own.
    pub(super) fn set_aside(&mut self, is_antialiased: impl Fn(Point) -> bool) {
        let Some(size) = self.changed.size() else { return };
        self.antialiased.clear(size);
        for y in self.changed.touched() {
            let words = self.changed.words_of_row(y);
            for (start, end) in self.changed.runs_between(y, 0, size.width()) {
                let points = (start..end).map(|x| Point::new(x, y));
                points.filter(|&point| is_antialiased(point)).for_each(|point| {
                    self.antialiased.set(point);
                });
            }
            let peaks = self.antialiased.row(y).iter().zip(&mut self.peaks[words]);
            for (word, (gone, peak)) in self.changed.row_mut(y).iter_mut().zip(peaks) {
                if *word & gone != 0 {
                    *peak = UNKNOWN;
                }
                *word &= !gone;
            }
        }
    }

    /// Takes those of the 64 pixels of row `y` from `x` on that are set in `bits` out of both masks.
    pub(crate) fn remove(&mut self, y: u32, x: u32, bits: u64) {
        self.changed.clear_bits(y, x, bits);
        self.faint.clear_bits(y, x, bits);
        let peaks = &mut self.peaks[self.changed.words_of_row(y)];
        let first = (x / u64::BITS) as usize;
        peaks.iter_mut().skip(first).take(2).for_each(|peak| *peak = UNKNOWN);
    }

    /// The largest difference of a channel among the changed pixels of some parts of rows, given
    /// as (row, start, end).
    ///
    /// Words that lie inside a part answer for all their pixels; pixels are looked at only where a
    /// word is shared and could still raise the answer.
    pub(crate) fn largest_delta(
        &self,
        rows: impl Iterator<Item = (u32, u32, u32)> + Clone,
        before: FrameRef<'_>,
        after: FrameRef<'_>,
    ) -> u8 {
        let (mut largest, mut bound) = (0, 0);
        for (y, start, end) in rows.clone() {
            for word in self.words_between(y, start, end) {
                match word.peak {
                    UNKNOWN => bound = u8::MAX,
                    peak if word.inside == word.all => largest = largest.max(peak),
                    peak => bound = bound.max(peak),
                }
            }
        }
        if bound <= largest {
            return largest;
        }
        for (y, start, end) in rows {
            for word in self.words_between(y, start, end) {
                // A word that is wholly inside has raised the answer already.
                if word.peak == UNKNOWN || word.peak > largest {
                    let at = Point::new(word.x, y);
                    largest = largest.max(delta_of(word.inside, at, before, after));
                }
            }
        }
        largest
    }

    /// The words of row `y` that have a changed pixel in `start..end`.
    #[expect(clippy::cast_possible_truncation, reason = "a row has at most MAX_EDGE pixels")]
    fn words_between(&self, y: u32, start: u32, end: u32) -> impl Iterator<Item = Word> + '_ {
        let row = self.changed.row(y);
        let peaks = &self.peaks[self.changed.words_of_row(y)];
        let word = move |(index, bits): (usize, u64)| Word {
            x: index as u32 * u64::BITS,
            all: row[index],
            inside: row[index] & bits,
            peak: peaks[index],
        };
        words_of(start, end).map(word).filter(|word| word.inside != 0)
    }
}

/// One word of the changed pixels, seen from a run.
struct Word {
    /// Its first column.
    x: u32,
    all: u64,
    inside: u64,
    peak: u8,
}

impl PartialEq for Differences {
    fn eq(&self, other: &Self) -> bool {
        let peaks = |of: &Self| {
            let words = of.changed.words().iter().zip(of.faint.words()).zip(&of.peaks);
            let read = words.filter(|((changed, faint), _)| **changed | **faint != 0);
            read.map(|(_, peak)| *peak).collect::<Vec<u8>>()
        };
        self.changed == other.changed
            && self.faint == other.faint
            && self.antialiased == other.antialiased
            && peaks(self) == peaks(other)
    }
}

impl Eq for Differences {}

/// The peak of a word that pixels were added to or taken from; no changed pixel has it.
const UNKNOWN: u8 = 0;

/// The largest difference of a channel among the pixels in `bits`, the first of which is at `at`.
fn delta_of(mut bits: u64, at: Point, before: FrameRef<'_>, after: FrameRef<'_>) -> u8 {
    let mut largest = 0;
    while bits != 0 {
        let point = Point::new(at.x + bits.trailing_zeros(), at.y);
        bits &= bits - 1;
        largest = largest.max(max_channel_delta(before.rgba(point), after.rgba(point)));
    }
    largest
}

/// Some whole rows, to be written by one thread.
pub(super) struct Band<'a> {
    rows: Range<u32>,
    words_per_row: usize,
    changed: &'a mut [u64],
    faint: &'a mut [u64],
    peaks: &'a mut [u8],
}

impl<'a> Band<'a> {
    pub(super) fn rows(&self) -> Range<u32> {
        self.rows.clone()
    }

    /// The upper and the lower half.
    pub(super) fn halves(self) -> (Self, Self) {
        let rows = (self.rows.end - self.rows.start) / 2;
        let middle = self.rows.start + rows;
        let words = rows as usize * self.words_per_row;
        let (changed, faint, peaks) = (
            self.changed.split_at_mut(words),
            self.faint.split_at_mut(words),
            self.peaks.split_at_mut(words),
        );
        let part = |rows, changed, faint, peaks| Self {
            rows,
            words_per_row: self.words_per_row,
            changed,
            faint,
            peaks,
        };
        (
            part(self.rows.start..middle, changed.0, faint.0, peaks.0),
            part(middle..self.rows.end, changed.1, faint.1, peaks.1),
        )
    }

    /// Row `y`, which is one of the band's.
    pub(super) fn line(&mut self, y: u32) -> Line<'_> {
        let start = (y - self.rows.start) as usize * self.words_per_row;
        let words = start..start + self.words_per_row;
        Line {
            changed: &mut self.changed[words.clone()],
            faint: &mut self.faint[words.clone()],
            peaks: &mut self.peaks[words],
        }
    }
}

/// One row, to be written word by word.
pub(super) struct Line<'a> {
    changed: &'a mut [u64],
    faint: &'a mut [u64],
    peaks: &'a mut [u8],
}

impl Line<'_> {
    /// Writes the answer of the 64 pixels of word `index`.
    #[inline]
    pub(super) fn put(&mut self, index: usize, bits: Bits) {
        self.changed[index] = bits.over;
        self.faint[index] = bits.unequal & !bits.over;
        self.peaks[index] = bits.peak();
    }
}
