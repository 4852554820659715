//! The filters of PNG reversed, from rows of three or four channels to rows of RGBA.
//!
//! A row is stored as what is left after a guess from the pixels beside and above. Screens are
//! mostly flat or like the row above, so most of that is zero, and a block of zeros is answered
//! with a copy: after `sub` and `up` always, after `paeth` in the two cases that make up nearly
//! all of a screen.
//!
//! Filters: <https://www.w3.org/TR/png-3/#9Filters>.

use crate::frame::BYTES_PER_PIXEL;

/// Pixels looked at together.
const BLOCK: usize = 8;

type Pixel = [u8; BYTES_PER_PIXEL];

/// Reverses `filter` on a row: `filtered` has `CHANNELS` bytes a pixel, `above` and `row` are RGBA.
/// `None` for a filter there is not.
pub(super) fn unfilter<const CHANNELS: usize>(
    filter: u8,
    filtered: &[u8],
    above: &[u8],
    row: &mut [u8],
) -> Option<()> {
    let (from, _) = filtered.as_chunks::<CHANNELS>();
    let (above, _) = above.as_chunks();
    let (to, _) = row.as_chunks_mut();
    match filter {
        0 => from.iter().zip(to).for_each(|(from, to)| *to = whole::<CHANNELS>(stored(from))),
        1 => blocks(from, above, to, &mut Sub::default()),
        2 => blocks(from, above, to, &mut Up),
        3 => blocks(from, above, to, &mut Average::default()),
        4 => blocks(from, above, to, &mut Paeth { left: [0; CHANNELS], corner: [0; CHANNELS] }),
        _ => return None,
    }
    Some(())
}

/// What lies above the first row: black, and opaque where alpha is not stored.
pub(super) fn row_above_the_first<const CHANNELS: usize>(width: usize) -> Vec<u8> {
    whole::<CHANNELS>(Pixel::default()).repeat(width)
}

/// One pixel of a filtered row; a channel that is not stored is zero.
fn stored<const CHANNELS: usize>(bytes: &[u8; CHANNELS]) -> Pixel {
    std::array::from_fn(|channel| if channel < CHANNELS { bytes[channel] } else { 0 })
}

/// The pixel as it is in the frame: opaque where alpha is not stored.
fn whole<const CHANNELS: usize>([r, g, b, a]: Pixel) -> Pixel {
    [r, g, b, if CHANNELS == 3 { u8::MAX } else { a }]
}

/// A filter on its way along a row.
trait Filter<const CHANNELS: usize>: Copy {
    /// Eight pixels of which nothing is left after the guess; `false` where there is no short cut.
    fn zeros(&mut self, above: &[Pixel; BLOCK], to: &mut [Pixel; BLOCK]) -> bool;
    /// The next pixel.
    fn pixel(&mut self, from: &[u8; CHANNELS], above: Pixel) -> Pixel;
}

fn blocks<const CHANNELS: usize>(
    from: &[[u8; CHANNELS]],
    above: &[Pixel],
    to: &mut [Pixel],
    filter: &mut impl Filter<CHANNELS>,
) {
    let ((from, from_rest), (above, above_rest)) = (from.as_chunks(), above.as_chunks());
    let (to, to_rest) = to.as_chunks_mut();
    for ((from, above), to) in from.iter().zip(above).zip(to) {
        if !(is_zero(from) && filter.zeros(above, to)) {
            pixels(from, above, to, filter);
        }
    }
    pixels(from_rest, above_rest, to_rest, filter);
}

fn pixels<const CHANNELS: usize>(
    from: &[[u8; CHANNELS]],
    above: &[Pixel],
    to: &mut [Pixel],
    filter: &mut impl Filter<CHANNELS>,
) {
    // A copy of its own stays in registers.
    let mut along = *filter;
    for ((from, above), to) in from.iter().zip(above).zip(to) {
        *to = whole::<CHANNELS>(along.pixel(from, *above));
    }
    *filter = along;
}

fn is_zero<const CHANNELS: usize>(block: &[[u8; CHANNELS]; BLOCK]) -> bool {
    let (words, _) = block.as_flattened().as_chunks();
    words.iter().fold(0, |any, word| any | u64::from_ne_bytes(*word)) == 0
}

fn plus(a: Pixel, b: Pixel) -> Pixel {
    std::array::from_fn(|channel| a[channel].wrapping_add(b[channel]))
}

#[derive(Clone, Copy, Default)]
struct Sub {
    left: Pixel,
}

impl<const CHANNELS: usize> Filter<CHANNELS> for Sub {
    fn zeros(&mut self, _: &[Pixel; BLOCK], to: &mut [Pixel; BLOCK]) -> bool {
        to.fill(whole::<CHANNELS>(self.left));
        true
    }

    fn pixel(&mut self, from: &[u8; CHANNELS], _: Pixel) -> Pixel {
        self.left = plus(stored(from), self.left);
        self.left
    }
}

#[derive(Clone, Copy)]
struct Up;

impl<const CHANNELS: usize> Filter<CHANNELS> for Up {
    fn zeros(&mut self, above: &[Pixel; BLOCK], to: &mut [Pixel; BLOCK]) -> bool {
        *to = *above;
        true
    }

    fn pixel(&mut self, from: &[u8; CHANNELS], above: Pixel) -> Pixel {
        plus(stored(from), above)
    }
}

#[derive(Clone, Copy, Default)]
struct Average {
    left: Pixel,
}

impl<const CHANNELS: usize> Filter<CHANNELS> for Average {
    fn zeros(&mut self, _: &[Pixel; BLOCK], _: &mut [Pixel; BLOCK]) -> bool {
        false
    }

    fn pixel(&mut self, from: &[u8; CHANNELS], above: Pixel) -> Pixel {
        let guess: Pixel =
            std::array::from_fn(|channel| self.left[channel].midpoint(above[channel]));
        self.left = plus(stored(from), guess);
        self.left
    }
}

#[derive(Clone, Copy)]
struct Paeth<const CHANNELS: usize> {
    left: [u8; CHANNELS],
    corner: [u8; CHANNELS],
}

impl<const CHANNELS: usize> Filter<CHANNELS> for Paeth<CHANNELS> {
    /// The guess is whichever of left, above and corner is nearest to left + above - corner. Where
    /// left equals the corner that is the pixel above, so both rows go on alike; where all above is
    /// like the corner it is the pixel to the left, which goes on.
    fn zeros(&mut self, above: &[Pixel; BLOCK], to: &mut [Pixel; BLOCK]) -> bool {
        let last = kept(above[BLOCK - 1]);
        if self.left == self.corner {
            *to = *above;
            self.left = last;
        } else if above.iter().all(|pixel| kept(*pixel) == self.corner) {
            to.fill(whole::<CHANNELS>(stored(&self.left)));
        } else {
            return false;
        }
        self.corner = last;
        true
    }

    fn pixel(&mut self, from: &[u8; CHANNELS], above: Pixel) -> Pixel {
        let above = kept(above);
        self.left = std::array::from_fn(|channel| {
            let guess = nearest(self.left[channel], above[channel], self.corner[channel]);
            from[channel].wrapping_add(guess)
        });
        self.corner = above;
        stored(&self.left)
    }
}

/// The channels of a pixel that are stored.
fn kept<const CHANNELS: usize>(pixel: Pixel) -> [u8; CHANNELS] {
    std::array::from_fn(|channel| pixel[channel])
}

/// Without a branch, in the form of stb_image.
fn nearest(left: u8, above: u8, corner: u8) -> u8 {
    let threshold = i16::from(corner) * 3 - (i16::from(left) + i16::from(above));
    let (low, high) = (left.min(above), left.max(above));
    let guess = if i16::from(high) <= threshold { low } else { corner };
    if threshold <= i16::from(low) { high } else { guess }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The specification, byte by byte.
    fn oracle(filter: u8, bpp: usize, filtered: &[u8], above: &[u8]) -> Vec<u8> {
        let mut row: Vec<u8> = Vec::new();
        for (at, byte) in filtered.iter().enumerate() {
            let [left, corner] =
                [row.as_slice(), above].map(|row| if at < bpp { 0 } else { row[at - bpp] });
            let guess = match filter {
                0 => 0,
                1 => left,
                2 => above[at],
                3 => u8::try_from((u16::from(left) + u16::from(above[at])) / 2).unwrap(),
                _ => closest(i16::from(left), i16::from(above[at]), i16::from(corner)),
            };
            row.push(byte.wrapping_add(guess));
        }
        row
    }

    fn closest(left: i16, above: i16, corner: i16) -> u8 {
        let guess = left + above - corner;
        let nearest = [left, above, corner].into_iter().min_by_key(|one| (guess - one).abs());
        u8::try_from(nearest.unwrap()).unwrap()
    }

    fn widened<const CHANNELS: usize>(row: &[u8]) -> Vec<u8> {
        row.as_chunks::<CHANNELS>().0.iter().flat_map(|p| whole::<CHANNELS>(stored(p))).collect()
    }

    /// Rows as screens have them: runs of zeros, and what lies between.
    fn rows(bytes: usize) -> impl Strategy<Value = Vec<(u8, Vec<u8>)>> {
        let byte = prop_oneof![20 => Just(0), 2 => 0..4_u8, 1 => any::<u8>()];
        prop::collection::vec((0..5_u8, prop::collection::vec(byte, bytes)), 1..6)
    }

    fn check<const CHANNELS: usize>(rows: &[(u8, Vec<u8>)]) {
        let width = rows[0].1.len() / CHANNELS;
        let (mut above, mut oracle_above) =
            (row_above_the_first::<CHANNELS>(width), vec![0; width * CHANNELS]);
        for (filter, filtered) in rows {
            let mut row = vec![7; width * 4];
            unfilter::<CHANNELS>(*filter, filtered, &above, &mut row).unwrap();
            oracle_above = oracle(*filter, CHANNELS, filtered, &oracle_above);
            assert_eq!(row, widened::<CHANNELS>(&oracle_above), "filter {filter}");
            above = row;
        }
    }

    proptest! {
        #[test]
        fn rows_are_what_the_specification_says(
            rgb in (1..40_usize).prop_flat_map(|width| rows(width * 3)),
            rgba in (1..40_usize).prop_flat_map(|width| rows(width * 4)),
        ) {
            check::<3>(&rgb);
            check::<4>(&rgba);
        }
    }

    #[test]
    fn a_filter_there_is_not_is_none() {
        assert_eq!(unfilter::<3>(5, &[1, 2, 3], &[0; 4], &mut [0; 4]), None);
    }
}
