//! One bit a pixel: does it differ?

use std::ops::Range;

use crate::geometry::{Point, Rect, Size};

const BITS: usize = u64::BITS as usize;

/// The per-pixel answer of a [`diff`](crate::diff::diff()): one bit a pixel, rows padded to 64.
///
/// The default mask is empty; [`ChangeMask::clear`] gives it a size.
#[derive(Clone, Debug, Default)]
pub struct ChangeMask {
    size: Option<Size>,
    words_per_row: usize,
    words: Vec<u64>,
    /// The rows that may have a pixel set: the others are neither cleared nor read again, so a
    /// pair of equal frames costs no pass over the mask.
    touched: Range<u32>,
}

impl ChangeMask {
    /// Makes the mask as large as `size` with no pixel set, keeping its memory.
    pub fn clear(&mut self, size: Size) {
        if self.size == Some(size) {
            let touched = self.touched_words();
            self.words[touched].fill(0);
        } else {
            self.size = Some(size);
            self.words_per_row = (size.width() as usize).div_ceil(BITS);
            self.words.clear();
            self.words.resize(self.words_per_row * size.height() as usize, 0);
        }
        self.touched = 0..0;
    }

    /// The size it was last cleared to, or `None` before that.
    #[must_use]
    pub const fn size(&self) -> Option<Size> {
        self.size
    }

    /// Whether no pixel is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words[self.touched_words()].iter().all(|word| *word == 0)
    }

    /// How many pixels are set.
    #[must_use]
    pub fn count(&self) -> u64 {
        let words = &self.words[self.touched_words()];
        words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Whether the pixel at `point` is set; `false` outside.
    #[must_use]
    pub fn get(&self, point: Point) -> bool {
        self.size.is_some_and(|size| size.rect().contains(point))
            && self.row(point.y)[point.x as usize / BITS] >> (point.x as usize % BITS) & 1 == 1
    }

    /// How many pixels are set inside `rect`, which must lie inside the mask.
    pub(crate) fn count_in(&self, rect: Rect) -> u64 {
        self.counts_in(rect).sum()
    }

    /// How many pixels are set in each row of `rect` that may have one.
    fn counts_in(&self, rect: Rect) -> impl Iterator<Item = u64> + '_ {
        let rows = rect.y().max(self.touched.start)..rect.bottom().min(self.touched.end);
        rows.map(move |y| u64::from(self.count_between(y, rect.x(), rect.right())))
    }

    /// Whether at least `count` pixels are set inside `rect`, which must lie inside the mask; looks
    /// no further than it must.
    pub(crate) fn reaches(&self, count: u64, rect: Rect) -> bool {
        let mut sum = 0;
        self.counts_in(rect).any(|in_row| {
            sum += in_row;
            sum >= count
        })
    }

    /// How many pixels are set in `start..end` of row `y`, which must lie inside the mask.
    pub(crate) fn count_between(&self, y: u32, start: u32, end: u32) -> u32 {
        let row = self.row(y);
        words_of(start, end).map(|(index, bits)| (row[index] & bits).count_ones()).sum()
    }

    /// Sets the pixel at `point`; outside, nothing happens.
    pub fn set(&mut self, point: Point) {
        if self.size.is_some_and(|size| size.rect().contains(point)) {
            self.row_mut(point.y)[point.x as usize / BITS] |= 1 << (point.x as usize % BITS);
        }
    }

    /// Sets every pixel of `rect` that lies inside.
    pub fn set_rect(&mut self, rect: Rect) {
        let Some(rect) = self.size.and_then(|size| rect.intersection(size.rect())) else { return };
        for y in rect.y()..rect.bottom() {
            self.set_run(y, rect.x(), rect.right());
        }
    }

    /// Sets `start..end` of row `y`, which must lie inside.
    pub(crate) fn set_run(&mut self, y: u32, start: u32, end: u32) {
        for_words(self.row_mut(y), start, end, |word, bits| *word |= bits);
    }

    /// Clears `start..end` of row `y`, which must lie inside.
    pub(crate) fn clear_run(&mut self, y: u32, start: u32, end: u32) {
        let words = self.words_of_row(y);
        for_words(&mut self.words[words], start, end, |word, bits| *word &= !bits);
    }

    /// The 64 pixels of row `y` from `x` on, the first in the lowest bit; none are set outside.
    pub(crate) fn bits(&self, y: u32, x: u32) -> u64 {
        let (first, shift) = (x as usize / BITS, x as usize % BITS);
        let row = self.row(y);
        let word = |index: usize| row.get(index).copied().unwrap_or(0);
        match shift {
            0 => word(first),
            _ => word(first) >> shift | word(first + 1) << (BITS - shift),
        }
    }

    /// Clears those of the 64 pixels of row `y` from `x` on that are set in `bits`.
    pub(crate) fn clear_bits(&mut self, y: u32, x: u32, bits: u64) {
        let (first, shift) = (x as usize / BITS, x as usize % BITS);
        let words = self.words_of_row(y);
        let row = &mut self.words[words];
        let high = if shift > 0 { bits >> (BITS - shift) } else { 0 };
        for (index, bits) in [(first, bits << shift), (first + 1, high)] {
            if let Some(word) = row.get_mut(index) {
                *word &= !bits;
            }
        }
    }

    /// Leaves only the pixels that are also set in `other`, and says how many went.
    ///
    /// # Panics
    /// When the masks have different sizes.
    pub fn retain(&mut self, other: &Self) -> u64 {
        assert_eq!(self.size, other.size, "masks of one size");
        let mut gone = 0;
        let touched = self.touched_words();
        for (word, keep) in self.words[touched.clone()].iter_mut().zip(&other.words[touched]) {
            gone += u64::from((*word & !keep).count_ones());
            *word &= keep;
        }
        gone
    }

    /// Sets every pixel that is set in `other`, a mask of the same size.
    pub(crate) fn unite(&mut self, other: &Self) {
        for y in other.touched() {
            self.row_mut(y).iter_mut().zip(other.row(y)).for_each(|(word, more)| *word |= more);
        }
    }

    /// Clears every pixel that is set in `other`, a mask of the same size.
    pub(crate) fn subtract(&mut self, other: &Self) {
        let touched = self.touched_words();
        for (word, gone) in self.words[touched.clone()].iter_mut().zip(&other.words[touched]) {
            *word &= !gone;
        }
    }

    /// The bits of row `y`, least significant bit first.
    pub(crate) fn row(&self, y: u32) -> &[u64] {
        &self.words[self.words_of_row(y)]
    }

    pub(crate) fn row_mut(&mut self, y: u32) -> &mut [u64] {
        self.touch(y..y + 1);
        let words = self.words_of_row(y);
        &mut self.words[words]
    }

    /// Notes that `rows` may have a pixel set.
    pub(super) fn touch(&mut self, rows: Range<u32>) {
        self.touched = match (self.touched.is_empty(), rows.is_empty()) {
            (_, true) => return,
            (true, false) => rows,
            (false, false) => self.touched.start.min(rows.start)..self.touched.end.max(rows.end),
        };
    }

    /// All words, rows top to bottom.
    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    /// All words; the caller notes the rows it sets a pixel in.
    pub(super) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    pub(super) const fn words_per_row(&self) -> usize {
        self.words_per_row
    }

    /// Which words are those of row `y`.
    pub(super) fn words_of_row(&self, y: u32) -> Range<usize> {
        let start = y as usize * self.words_per_row;
        start..start + self.words_per_row
    }

    /// The rows that may have a pixel set.
    pub(crate) fn touched(&self) -> Range<u32> {
        self.touched.clone()
    }

    fn touched_words(&self) -> Range<usize> {
        let word = |row: u32| row as usize * self.words_per_row;
        word(self.touched.start)..word(self.touched.end)
    }

    /// The runs of set pixels of row `y` inside `start..end`, as `(start, end)` with the end
    /// outside.
    pub(crate) fn runs_between(&self, y: u32, start: u32, end: u32) -> Runs<'_> {
        Runs::new(self.row(y), start, end)
    }
}

impl PartialEq for ChangeMask {
    fn eq(&self, other: &Self) -> bool {
        self.size == other.size && self.words == other.words
    }
}

impl Eq for ChangeMask {}

/// Calls `change` with every word that `start..end` touches and the bits of it inside.
fn for_words(row: &mut [u64], start: u32, end: u32, change: impl Fn(&mut u64, u64)) {
    for (index, bits) in words_of(start, end) {
        change(&mut row[index], bits);
    }
}

/// The indices of the words that `start..end` touches, and the bits of each inside.
pub(super) fn words_of(start: u32, end: u32) -> impl Iterator<Item = (usize, u64)> {
    let (start, end) = (start as usize, end as usize);
    let below = |bits: usize| if bits == BITS { u64::MAX } else { (1 << bits) - 1 };
    (start / BITS..end.div_ceil(BITS)).map(move |index| {
        let low = start.saturating_sub(index * BITS).min(BITS);
        let high = (end - index * BITS).min(BITS);
        (index, below(high) & !below(low))
    })
}

/// Iterates over the runs of set bits of one row.
pub(crate) struct Runs<'a> {
    words: &'a [u64],
    at: usize,
    end: usize,
}

impl<'a> Runs<'a> {
    /// The runs of `words` inside `start..end`.
    pub(crate) const fn new(words: &'a [u64], start: u32, end: u32) -> Self {
        Self { words, at: start as usize, end: end as usize }
    }
}

impl Runs<'_> {
    /// The first position from `self.at` on whose bit, xored with `flip`, is set.
    fn next_bit(&self, flip: u64) -> Option<usize> {
        let first = self.at / BITS;
        let rest = self.words.get(first..)?;
        rest.iter().enumerate().find_map(|(index, word)| {
            let word = word ^ flip;
            let word = if index == 0 { word & (u64::MAX << (self.at % BITS)) } else { word };
            (word != 0).then(|| (first + index) * BITS + word.trailing_zeros() as usize)
        })
    }
}

impl Iterator for Runs<'_> {
    type Item = (u32, u32);

    #[expect(clippy::cast_possible_truncation, reason = "a row has at most MAX_EDGE pixels")]
    fn next(&mut self) -> Option<(u32, u32)> {
        let start = self.next_bit(0).filter(|start| *start < self.end)?;
        self.at = start;
        let end = self.next_bit(u64::MAX).unwrap_or(self.words.len() * BITS).min(self.end);
        self.at = end;
        Some((start as u32, end as u32))
    }
}

/// Gives `each` the set bits of a row, joined where at most `gap` lie between two, as `(start,
/// end)`.
pub(crate) fn segments(row: &[u64], gap: u32, each: impl FnMut(u32, u32)) {
    // The usual gap as a constant: its shifts are unrolled.
    match gap {
        8 => joined(row, gap, |word| dilated(word, 8), each),
        _ => joined(row, gap, |word| dilated(word, gap), each),
    }
}

/// Goes a word at a time: `dilated` tells which set bits of a word are near one another.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a row has at most MAX_EDGE pixels")]
fn joined(row: &[u64], gap: u32, dilated: impl Fn(u64) -> u64, mut each: impl FnMut(u32, u32)) {
    let mut open: Option<(u32, u32)> = None;
    for (index, &word) in row.iter().enumerate() {
        let (column, mut word) = (index as u32 * u64::BITS, word);
        while word != 0 {
            let first = word.trailing_zeros();
            let covered = (dilated(word) >> first).trailing_ones();
            let piece = word & (u64::MAX >> (u64::BITS - covered) << first);
            word &= !piece;
            let end = column + u64::BITS - piece.leading_zeros();
            open = match open {
                Some((start, last)) if column + first - last <= gap => Some((start, end)),
                _ => {
                    open.into_iter().for_each(|(start, end)| each(start, end));
                    Some((column + first, end))
                }
            };
        }
    }
    open.into_iter().for_each(|(start, end)| each(start, end));
}

/// `word` with every set bit spread over the `by` places above it.
#[inline]
fn dilated(mut word: u64, by: u32) -> u64 {
    let (mut done, by) = (0, by.min(u64::BITS - 1));
    while done < by {
        let step = (done + 1).min(by - done);
        word |= word << step;
        done += step;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_cross_words_and_end_at_the_edge() {
        let mut mask = ChangeMask::default();
        mask.clear(Size::new(200, 1).unwrap());
        for rect in [(0, 1), (60, 10), (127, 1), (128, 64), (199, 1)] {
            mask.set_rect(Rect::new(rect.0, 0, rect.1, 1).unwrap());
        }
        let runs: Vec<_> = mask.runs_between(0, 0, 200).collect();
        assert_eq!(runs, [(0, 1), (60, 70), (127, 192), (199, 200)]);
        assert_eq!(mask.count(), 77);
        assert!(mask.get(Point::new(199, 0)) && !mask.get(Point::new(200, 0)));
    }

    #[test]
    fn counts_inside_a_box_cross_words() {
        let mut mask = ChangeMask::default();
        mask.clear(Size::new(200, 3).unwrap());
        mask.set_rect(Rect::new(60, 0, 80, 2).unwrap());
        for (rect, count) in [
            ((0, 0, 200, 3), 160),
            ((0, 0, 60, 3), 0),
            ((63, 1, 2, 2), 2),
            ((64, 0, 64, 1), 64),
            ((139, 0, 61, 3), 2),
        ] {
            let rect = Rect::new(rect.0, rect.1, rect.2, rect.3).unwrap();
            assert_eq!(mask.count_in(rect), count, "{rect}");
            let reaches = [1, count.max(1), count + 1].map(|least| mask.reaches(least, rect));
            assert_eq!(reaches, [count > 0, count > 0, false], "{rect}");
        }
    }

    #[test]
    fn words_of_bits_lie_anywhere() {
        let mut mask = ChangeMask::default();
        mask.clear(Size::new(150, 2).unwrap());
        for (x, width) in [(0, 1), (2, 1), (61, 5), (126, 3), (149, 1)] {
            mask.set_rect(Rect::new(x, 1, width, 1).unwrap());
        }
        for (x, bits) in [(0, 0b101), (60, 0b11_1110), (61, 0b1_1111), (126, 0b111), (149, 1)] {
            assert_eq!((mask.bits(1, x) & 0x3f, mask.bits(0, x)), (bits, 0), "at {x}");
        }
        mask.clear_bits(1, 60, 0b11_0010);
        mask.clear_bits(1, 149, u64::MAX);
        let runs: Vec<_> = mask.runs_between(1, 0, 150).collect();
        assert_eq!(runs, [(0, 1), (2, 3), (62, 64), (126, 129)]);
    }

    #[test]
    fn a_mask_of_whole_words_has_no_run_past_its_end() {
        let mut mask = ChangeMask::default();
        mask.clear(Size::new(128, 2).unwrap());
        mask.set_rect(Rect::new(0, 0, 128, 2).unwrap());
        assert_eq!(mask.runs_between(1, 0, 128).collect::<Vec<_>>(), [(0, 128)]);
    }
}
