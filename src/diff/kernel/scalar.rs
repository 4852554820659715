//! Pixel by pixel: the oracle, and what runs where nothing faster does.

use crate::diff::Tolerance;
use crate::diff::tolerance::{equal, max_channel_delta};
use crate::frame::{BYTES_PER_PIXEL, PixelFormat};

use super::{BLOCK, Bits, Line, Pair};

/// Answers a line whose sides may have different channel orders; says whether any of its pixels
/// differ.
pub(super) fn line(
    pair: Pair<'_>,
    after_format: PixelFormat,
    tolerance: Tolerance,
    mut line: Line<'_>,
) -> bool {
    let mut any = false;
    let (before, _) = pair.before.as_chunks::<BYTES_PER_PIXEL>();
    let (after, _) = pair.after.as_chunks::<BYTES_PER_PIXEL>();
    for (index, (before, after)) in before.chunks(BLOCK).zip(after.chunks(BLOCK)).enumerate() {
        let mut bits = Bits::default();
        for (bit, (&before, &after)) in before.iter().zip(after).enumerate() {
            let (before, after) = (pair.format.rgba(before), after_format.rgba(after));
            if equal(before, after) {
                continue;
            }
            let delta = max_channel_delta(before, after);
            bits.unequal |= 1 << bit;
            bits.largest = bits.largest.max(delta);
            if tolerance.differs(before, after) {
                bits.over |= 1 << bit;
                bits.largest_over = bits.largest_over.max(delta);
            }
        }
        any |= bits.unequal != 0;
        line.put(index, bits);
    }
    any
}
