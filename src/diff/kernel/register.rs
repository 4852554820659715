//! The test of 64 pixels, written once for registers of any width.
#![expect(unsafe_code, reason = "generic over processor intrinsics")]

use crate::frame::{BYTES_PER_PIXEL, PixelFormat};

use super::{BLOCK, BLOCK_BYTES, Bits, Line, Metric, Pair, Test};

/// A register full of pixels.
///
/// A value that answers a question about pixels is a mask: all bits of a lane set, or none.
pub(super) trait Register: Copy {
    /// Pixels it holds: a part of 64.
    const PIXELS: usize;

    /// # Safety
    /// The processor has the instructions of this register, and all its pixels can be read.
    unsafe fn load(from: *const u8) -> Self;

    /// The pixels of one step through a block.
    ///
    /// # Safety
    /// As all below, and `step` lies inside the block.
    #[inline(always)]
    unsafe fn at(block: &[u8; BLOCK_BYTES], step: usize) -> Self {
        debug_assert!((step + 1) * Self::PIXELS <= BLOCK);
        // SAFETY: as the caller promises.
        unsafe { Self::load(block.as_ptr().add(step * Self::PIXELS * BYTES_PER_PIXEL)) }
    }

    /// # Safety
    /// As all below: the processor has the instructions of this register.
    unsafe fn or(self, other: Self) -> Self;
    /// # Safety
    /// See [`Self::or`].
    unsafe fn and(self, other: Self) -> Self;
    /// The bits of `self` that `other` lacks.
    ///
    /// # Safety
    /// See [`Self::or`].
    unsafe fn without(self, other: Self) -> Self;
    /// The larger of each pair of bytes.
    ///
    /// # Safety
    /// See [`Self::or`].
    unsafe fn max(self, other: Self) -> Self;
    /// The absolute difference of each pair of bytes.
    ///
    /// # Safety
    /// See [`Self::or`].
    unsafe fn abs_diff(self, other: Self) -> Self;
    /// Mask: pixels with no byte above `limit`.
    ///
    /// # Safety
    /// See [`Self::or`].
    unsafe fn within(self, limit: u8) -> Self;
    /// Mask of the last byte of each pixel.
    ///
    /// # Safety
    /// See [`Self::or`].
    unsafe fn last_bytes() -> Self;
    /// Whether any bit is set.
    ///
    /// # Safety
    /// See [`Self::or`].
    unsafe fn any(self) -> bool;
    /// One bit for each pixel of a mask, the first lowest.
    ///
    /// # Safety
    /// See [`Self::or`].
    unsafe fn bits(self) -> u64;
    /// The largest byte.
    ///
    /// # Safety
    /// See [`Self::or`].
    unsafe fn largest(self) -> u8;
    /// Masks: pixels whose squared YIQ distance is above each of `limits`. `REVERSED` pixels
    /// begin with blue.
    ///
    /// # Safety
    /// See [`Self::or`].
    unsafe fn yiq_above<const REVERSED: bool>(self, other: Self, limits: [f32; 2]) -> [Self; 2];
}

/// Answers a line; says whether any of its pixels differ.
///
/// # Safety
/// The processor has the instructions of `R`.
#[inline(always)]
pub(super) unsafe fn line<R: Register>(pair: Pair<'_>, test: &Test, line: Line<'_>) -> bool {
    // SAFETY: as the caller promises.
    unsafe {
        match (pair.format, test.metric) {
            (PixelFormat::Bgrx, Metric::Channel) => blocks::<R, true, CHANNEL>(pair, test, line),
            (PixelFormat::Bgrx, Metric::Yiq) => blocks::<R, true, YIQ>(pair, test, line),
            (PixelFormat::Bgrx, Metric::Single) => blocks::<R, true, SINGLE>(pair, test, line),
            (PixelFormat::Rgba, Metric::Channel) => blocks::<R, false, CHANNEL>(pair, test, line),
            (PixelFormat::Rgba, Metric::Yiq) => blocks::<R, false, YIQ>(pair, test, line),
            (PixelFormat::Rgba, Metric::Single) => blocks::<R, false, SINGLE>(pair, test, line),
        }
    }
}

// The metrics as constants, so that each has a loop of its own.
const CHANNEL: u8 = 0;
const YIQ: u8 = 1;
const SINGLE: u8 = 2;

/// `OPAQUE` pixels begin with blue, and their last byte means nothing.
///
/// # Safety
/// See [`line`].
#[inline(always)]
unsafe fn blocks<R: Register, const OPAQUE: bool, const METRIC: u8>(
    pair: Pair<'_>,
    test: &Test,
    mut line: Line<'_>,
) -> bool {
    let (before, before_end) = pair.before.as_chunks::<BLOCK_BYTES>();
    let (after, after_end) = pair.after.as_chunks::<BLOCK_BYTES>();
    let mut any = false;
    for (index, (before, after)) in before.iter().zip(after).enumerate() {
        // SAFETY: as the caller promises.
        if let Some(bits) = unsafe { block::<R, OPAQUE, METRIC>(before, after, test) } {
            any |= bits.unequal != 0;
            line.put(index, bits.settled(before, after, test));
        }
    }
    if before_end != after_end {
        let (before_end, after_end) = (padded(before_end), padded(after_end));
        // SAFETY: as the caller promises.
        if let Some(bits) = unsafe { block::<R, OPAQUE, METRIC>(&before_end, &after_end, test) } {
            any |= bits.unequal != 0;
            line.put(before.len(), bits.settled(&before_end, &after_end, test));
        }
    }
    any
}

/// The end of a line as a whole block: what is beyond it is equal on both sides.
fn padded(end: &[u8]) -> [u8; BLOCK_BYTES] {
    let mut block = [0; BLOCK_BYTES];
    block[..end.len()].copy_from_slice(end);
    block
}

/// Answers 64 pixels; `None` where they are the same bytes.
///
/// # Safety
/// See [`line`].
#[inline(always)]
unsafe fn block<R: Register, const OPAQUE: bool, const METRIC: u8>(
    before: &[u8; BLOCK_BYTES],
    after: &[u8; BLOCK_BYTES],
    test: &Test,
) -> Option<Bits> {
    // SAFETY: every register loaded lies inside the block; the rest as the caller promises.
    unsafe {
        let mut apart = R::at(before, 0).abs_diff(R::at(after, 0));
        let nothing = apart.without(apart);
        for step in 1..BLOCK / R::PIXELS {
            apart = apart.or(R::at(before, step).abs_diff(R::at(after, step)));
        }
        if !apart.any() {
            return None;
        }
        let (mut equal, mut over, mut doubt) = (0, 0, 0);
        let (mut largest, mut largest_over) = (nothing, nothing);
        for step in 0..BLOCK / R::PIXELS {
            let (a, b) = (R::at(before, step), R::at(after, step));
            let delta = delta::<R, OPAQUE>(a, b);
            let answer = answer::<R, OPAQUE, METRIC>(a, b, delta, test);
            let at = step * R::PIXELS;
            equal |= delta.within(0).bits() << at;
            over |= answer.over.bits() << at;
            if METRIC != CHANNEL {
                doubt |= answer.doubt.bits() << at;
            }
            largest = largest.max(delta);
            largest_over = largest_over.max(delta.and(answer.over));
        }
        let mut bits = Bits { unequal: !equal, over, doubt, ..Bits::default() };
        if over == 0 || doubt != 0 {
            bits.largest = largest.largest();
        }
        if over != 0 {
            bits.largest_over = largest_over.largest();
        }
        Some(bits)
    }
}

/// Absolute difference of every channel that means something; zero for two pixels that are equal.
///
/// # Safety
/// See [`line`].
#[inline(always)]
unsafe fn delta<R: Register, const OPAQUE: bool>(a: R, b: R) -> R {
    // SAFETY: as the caller promises.
    unsafe {
        let delta = a.abs_diff(b);
        if OPAQUE {
            return delta.without(R::last_bytes());
        }
        // Two fully transparent pixels are equal whatever their colours.
        delta.without(a.or(b).and(R::last_bytes()).within(0))
    }
}

/// Masks: pixels beyond the tolerance, and those the metric has to be asked about one by one.
struct Answer<R> {
    over: R,
    doubt: R,
}

/// # Safety
/// See [`line`].
#[inline(always)]
unsafe fn answer<R: Register, const OPAQUE: bool, const METRIC: u8>(
    a: R,
    b: R,
    delta: R,
    test: &Test,
) -> Answer<R> {
    // SAFETY: as the caller promises.
    unsafe {
        let within = delta.within(test.limit);
        let nothing = within.without(within);
        let over = nothing.within(0).without(within);
        match METRIC {
            CHANNEL => Answer { over, doubt: nothing },
            SINGLE => Answer { over: nothing, doubt: over },
            _ => {
                let [mut perhaps, mut surely] = a.yiq_above::<OPAQUE>(b, test.yiq_limits);
                if !OPAQUE {
                    // Blending is left to the exact formula.
                    let clear = R::last_bytes().without(a.and(b));
                    let opaque = clear.within(0);
                    surely = surely.and(opaque);
                    perhaps = perhaps.or(nothing.within(0).without(opaque));
                }
                let surely = surely.and(over);
                Answer { over: surely, doubt: perhaps.and(over).without(surely) }
            }
        }
    }
}
