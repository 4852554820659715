//! Equal rows are skipped as bytes; what is left is asked pixel by pixel.

use crate::diff::tolerance::equal;
use crate::diff::{Differences, Tolerance};
use crate::frame::{BYTES_PER_PIXEL, FrameRef};

/// Marks every pixel that differs, in `changed` when by more than `tolerance`, else in `faint`;
/// the frames have one size.
pub(in crate::diff) fn scan(
    before: FrameRef<'_>,
    after: FrameRef<'_>,
    tolerance: Tolerance,
    differences: &mut Differences,
) {
    let same_order = before.format() == after.format();
    for y in 0..before.size().height() {
        let (one, other) = (before.row(y), after.row(y));
        if same_order && one == other {
            continue;
        }
        let changed = differences.changed.row_mut(y);
        let faint = differences.faint.row_mut(y);
        for (index, (before_block, after_block)) in blocks(one, other).enumerate() {
            if same_order && before_block == after_block {
                continue;
            }
            for (bit, (&a, &b)) in before_block.iter().zip(after_block).enumerate() {
                let (a, b) = (before.format().rgba(a), after.format().rgba(b));
                let differs = tolerance.differs(a, b);
                changed[index] |= u64::from(differs) << bit;
                faint[index] |= u64::from(!differs && !equal(a, b)) << bit;
            }
        }
    }
}

/// Pairs of 64 pixels: as many as one word of a mask has bits.
fn blocks<'a>(
    before: &'a [u8],
    after: &'a [u8],
) -> impl Iterator<Item = (&'a [[u8; BYTES_PER_PIXEL]], &'a [[u8; BYTES_PER_PIXEL]])> {
    let (before, _) = before.as_chunks::<BYTES_PER_PIXEL>();
    let (after, _) = after.as_chunks::<BYTES_PER_PIXEL>();
    before.chunks(u64::BITS as usize).zip(after.chunks(u64::BITS as usize))
}
