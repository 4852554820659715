//! Pixel by pixel: the oracle, and what runs where nothing faster does.

use crate::diff::Tolerance;
use crate::diff::tolerance::{equal, max_channel_delta};
use crate::frame::PixelFormat;

use super::{Bits, Pixel, blocks};

/// Answers at most 64 pixels of one format.
pub(super) fn block(before: &[Pixel], after: &[Pixel], format: PixelFormat, limit: u8) -> Bits {
    let mut bits = Bits::default();
    for (bit, (&before, &after)) in before.iter().zip(after).enumerate() {
        let (before, after) = (format.rgba(before), format.rgba(after));
        let unequal = !equal(before, after);
        bits.unequal |= u64::from(unequal) << bit;
        bits.over |= u64::from(unequal && max_channel_delta(before, after) > limit) << bit;
    }
    bits
}

/// Answers a row whose sides have different channel orders.
pub(super) fn mixed_row(
    before: &[u8],
    before_format: PixelFormat,
    after: &[u8],
    after_format: PixelFormat,
    tolerance: Tolerance,
    changed: &mut [u64],
    faint: &mut [u64],
) {
    for (index, (before, after)) in blocks(before, after).enumerate() {
        for (bit, (&before, &after)) in before.iter().zip(after).enumerate() {
            let (before, after) = (before_format.rgba(before), after_format.rgba(after));
            let over = tolerance.differs(before, after);
            changed[index] |= u64::from(over) << bit;
            faint[index] |= u64::from(!over && !equal(before, after)) << bit;
        }
    }
}
