//! The pass over the pixels.
//!
//! Equal rows and equal blocks of 64 pixels are skipped as bytes. What is left goes through one of
//! two block kernels that answer 64 pixels in two words; `scalar` is the oracle the other is
//! tested against. A perceptual metric is asked only where whole numbers cannot answer: pixels
//! whose channels differ by so little that no colour could exceed the tolerance are never blended,
//! weighted or rooted.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod scalar;

use crate::diff::{Differences, Tolerance};
use crate::frame::{BYTES_PER_PIXEL, FrameRef, PixelFormat};

/// Pixels a block has: as many as one word of a mask has bits.
const BLOCK: usize = u64::BITS as usize;

type Pixel = [u8; BYTES_PER_PIXEL];

/// What 64 pixels or fewer answered, the first in the lowest bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bits {
    /// Some channel differs by more than the limit.
    over: u64,
    /// The pixels are not equal.
    unequal: u64,
}

/// Answers whole blocks of pixels of one format, for one limit.
#[derive(Clone, Copy)]
enum Kernel {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
}

impl Kernel {
    /// The fastest one this processor has.
    fn fastest() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(kernel) = avx2::Avx2::new() {
            return Self::Avx2(kernel);
        }
        Self::Scalar
    }

    fn block(self, before: &[Pixel], after: &[Pixel], format: PixelFormat, limit: u8) -> Bits {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(kernel) if before.len() == BLOCK && after.len() == BLOCK => {
                kernel.block(before, after, format, limit)
            }
            _ => scalar::block(before, after, format, limit),
        }
    }
}

/// Marks every pixel that differs, in `changed` when by more than `tolerance`, else in `faint`;
/// the frames have one size.
pub(super) fn scan(
    before: FrameRef<'_>,
    after: FrameRef<'_>,
    tolerance: Tolerance,
    differences: &mut Differences,
) {
    let kernel = Kernel::fastest();
    for y in 0..before.size().height() {
        let (one, other) = (before.row(y), after.row(y));
        if before.format() != after.format() {
            let (changed, faint) = (differences.changed.row_mut(y), differences.faint.row_mut(y));
            scalar::mixed_row(
                one,
                before.format(),
                other,
                after.format(),
                tolerance,
                changed,
                faint,
            );
        } else if one != other {
            let (changed, faint) = (differences.changed.row_mut(y), differences.faint.row_mut(y));
            scan_row(kernel, one, other, before.format(), tolerance, changed, faint);
        }
    }
}

fn scan_row(
    kernel: Kernel,
    before: &[u8],
    after: &[u8],
    format: PixelFormat,
    tolerance: Tolerance,
    changed: &mut [u64],
    faint: &mut [u64],
) {
    let limit = tolerance.channel_limit(format);
    for (index, (before, after)) in blocks(before, after).enumerate() {
        if before == after {
            continue;
        }
        let bits = kernel.block(before, after, format, limit);
        let over = refine(bits.over, before, after, format, tolerance);
        changed[index] = over;
        faint[index] = bits.unequal & !over;
    }
}

/// Of the pixels in `candidates`, those that differ by more than `tolerance`.
fn refine(
    candidates: u64,
    before: &[Pixel],
    after: &[Pixel],
    format: PixelFormat,
    tolerance: Tolerance,
) -> u64 {
    if !tolerance.is_perceptual() {
        return candidates;
    }
    let (mut left, mut over) = (candidates, candidates);
    while left != 0 {
        let bit = left.trailing_zeros() as usize;
        left &= left - 1;
        if !tolerance.differs(format.rgba(before[bit]), format.rgba(after[bit])) {
            over &= !(1 << bit);
        }
    }
    over
}

/// Pairs of blocks; the last ones of a row may be shorter.
fn blocks<'a>(
    before: &'a [u8],
    after: &'a [u8],
) -> impl Iterator<Item = (&'a [Pixel], &'a [Pixel])> {
    let (before, _) = before.as_chunks::<BYTES_PER_PIXEL>();
    let (after, _) = after.as_chunks::<BYTES_PER_PIXEL>();
    before.chunks(BLOCK).zip(after.chunks(BLOCK))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pixels(length: usize) -> impl Strategy<Value = Vec<Pixel>> {
        let channel = prop_oneof![Just(0_u8), Just(255), 100_u8..110, any::<u8>()];
        prop::collection::vec(prop::array::uniform4(channel), length)
    }

    fn pair() -> impl Strategy<Value = (Vec<Pixel>, Vec<Pixel>)> {
        (1_usize..=BLOCK).prop_flat_map(|length| (pixels(length), pixels(length)))
    }

    proptest! {
        #[test]
        fn every_kernel_equals_the_scalar_one(
            (mut before, after) in pair(), equal in any::<u64>(), limit in any::<u8>(),
        ) {
            for (bit, pixel) in before.iter_mut().enumerate() {
                if equal >> bit & 1 == 1 {
                    *pixel = after[bit];
                }
            }
            for format in [PixelFormat::Rgba, PixelFormat::Bgrx] {
                let bits = Kernel::fastest().block(&before, &after, format, limit);
                prop_assert_eq!(bits, scalar::block(&before, &after, format, limit));
            }
        }

        #[test]
        fn no_pixel_is_rejected_that_a_metric_would_see(
            before in prop::array::uniform4(any::<u8>()),
            delta in prop::array::uniform4(-40_i16..40),
            fraction in 0.0_f32..0.4,
        ) {
            let after: Vec<u8> = before.iter().zip(delta).map(|(&channel, delta)| {
                u8::try_from((i16::from(channel) + delta).clamp(0, 255)).unwrap()
            }).collect();
            let after: Pixel = after.try_into().unwrap();
            for tolerance in [Tolerance::Yiq(fraction), Tolerance::Oklab(fraction)] {
                for format in [PixelFormat::Rgba, PixelFormat::Bgrx] {
                    let limit = tolerance.channel_limit(format);
                    let bits = scalar::block(&[before], &[after], format, limit);
                    let refined = refine(bits.over, &[before], &[after], format, tolerance);
                    let asked = tolerance.differs(format.rgba(before), format.rgba(after));
                    prop_assert_eq!(refined == 1, asked, "{} {:?}", tolerance, format);
                }
            }
        }
    }
}
