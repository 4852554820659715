//! The pass over the pixels.
//!
//! Equal groups of rows are skipped as bytes. What is left goes, 64 pixels at a time, through the
//! widest kernel the processor has; a kernel skips equal pixels too and answers the others in two
//! words and the largest difference. `scalar` is the oracle every other kernel is tested against.
//!
//! A perceptual metric is asked only where whole numbers and single precision cannot answer: pixels
//! whose channels differ by so little that no colour could exceed the tolerance, and distances
//! clearly on one side of it, never reach the exact formula.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod register;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod sse2;

use std::ops::Range;

use crate::diff::tolerance::max_channel_delta;
use crate::diff::{Differences, Tolerance, yiq};
use crate::frame::{BYTES_PER_PIXEL, FrameRef, PixelFormat};

use super::differences::{Band, Line};

/// Pixels a block has: as many as one word of a mask has bits.
const BLOCK: usize = u64::BITS as usize;
const BLOCK_BYTES: usize = BLOCK * BYTES_PER_PIXEL;

/// Rows are first compared in groups of about this many bytes: large enough to cost no more than
/// one comparison of all bytes, small enough that a change brings few equal rows with it.
const GROUP_BYTES: usize = 16 << 10;

/// Frames with fewer bytes are compared by one thread: waking others costs more than they save.
const PARALLEL_BYTES: usize = 6 << 20;

/// The axes of YIQ in single precision.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const YIQ: [([f32; 3], f32); 3] = {
    let [y, i, q] = yiq::AXES;
    [single(y), single(i), single(q)]
};

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[expect(clippy::cast_possible_truncation, reason = "single precision is meant")]
const fn single(([red, green, blue], weight): ([f64; 3], f64)) -> ([f32; 3], f32) {
    ([red as f32, green as f32, blue as f32], weight as f32)
}

/// What 64 pixels answered, the first in the lowest bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits {
    /// The pixels are not equal.
    pub(super) unequal: u64,
    /// They differ by more than the tolerance.
    pub(super) over: u64,
    /// The metric must be asked about them.
    doubt: u64,
    /// The largest difference of a channel, of all pixels and of those in `over`.
    largest: u8,
    largest_over: u8,
}

impl Bits {
    /// The largest difference among the pixels beyond the tolerance, or where there is none, among
    /// all.
    pub(super) const fn peak(self) -> u8 {
        if self.over == 0 { self.largest } else { self.largest_over }
    }

    /// Asks the metric about every pixel in doubt.
    #[inline]
    fn settled(self, before: &[u8; BLOCK_BYTES], after: &[u8; BLOCK_BYTES], test: &Test) -> Self {
        if self.doubt == 0 { self } else { self.asked(before, after, test) }
    }

    #[inline(never)]
    fn asked(mut self, before: &[u8; BLOCK_BYTES], after: &[u8; BLOCK_BYTES], test: &Test) -> Self {
        while self.doubt != 0 {
            let bit = self.doubt.trailing_zeros() as usize;
            self.doubt &= self.doubt - 1;
            let (before, after) = (test.pixel(before, bit), test.pixel(after, bit));
            if test.tolerance.differs(before, after) {
                self.over |= 1 << bit;
                self.largest_over = self.largest_over.max(max_channel_delta(before, after));
            }
        }
        self
    }
}

/// One row of two frames, in the channel order of the frame before.
#[derive(Clone, Copy)]
struct Pair<'a> {
    format: PixelFormat,
    before: &'a [u8],
    after: &'a [u8],
}

/// What a kernel asks of each pixel.
struct Test {
    tolerance: Tolerance,
    format: PixelFormat,
    /// Pixels whose channels differ by at most this much are within the tolerance.
    limit: u8,
    metric: Metric,
    /// Of the squared YIQ distances only those between these are answered by the exact formula.
    yiq_limits: [f32; 2],
}

/// How pixels beyond the limit are answered.
#[derive(Clone, Copy)]
enum Metric {
    /// They are beyond the tolerance.
    Channel,
    /// By their YIQ distance, in single precision where that is sure.
    Yiq,
    /// One by one.
    Single,
}

impl Test {
    fn new(tolerance: Tolerance, format: PixelFormat) -> Self {
        let (metric, yiq_limits) = match tolerance {
            Tolerance::Exact | Tolerance::Channel(_) => (Metric::Channel, [0.0; 2]),
            Tolerance::Yiq(limit) => (Metric::Yiq, doubtful(yiq::squared(limit))),
            Tolerance::Oklab(_) => (Metric::Single, [0.0; 2]),
        };
        Self { tolerance, format, limit: tolerance.channel_limit(format), metric, yiq_limits }
    }

    fn pixel(&self, block: &[u8; BLOCK_BYTES], index: usize) -> [u8; 4] {
        let at = index * BYTES_PER_PIXEL;
        self.format.rgba([block[at], block[at + 1], block[at + 2], block[at + 3]])
    }
}

/// The squared distances around `limit` that single precision may put on the wrong side: it errs
/// by less than 0.02 over the whole scale of 35215.
#[expect(clippy::cast_possible_truncation, reason = "within the margin")]
fn doubtful(limit: f64) -> [f32; 2] {
    let margin = 0.05 + limit * 1e-5;
    [(limit - margin) as f32, (limit + margin) as f32]
}

/// Answers rows, in one of several ways.
#[derive(Clone, Copy, Debug)]
enum Kernel {
    #[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Sse2,
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Kernel {
    /// The fastest one this processor has.
    fn fastest() -> Self {
        #[cfg(target_arch = "x86_64")]
        return avx2::Avx2::new().map_or(Self::Sse2, Self::Avx2);
        #[cfg(target_arch = "aarch64")]
        return Self::Neon;
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        Self::Scalar
    }

    /// Marks the pixels of one row in `line`; says whether any differs.
    fn line(self, pair: Pair<'_>, test: &Test, line: Line<'_>) -> bool {
        match self {
            #[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
            Self::Scalar => scalar::line(pair, pair.format, test.tolerance, line),
            #[cfg(target_arch = "x86_64")]
            Self::Sse2 => sse2::line(pair, test, line),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(kernel) => kernel.line(pair, test, line),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => neon::line(pair, test, line),
        }
    }
}

/// Marks every pixel that differs, as changed when by more than `tolerance`, else as faint; the
/// frames have one size, and no pixel is marked yet.
pub(super) fn scan(
    before: FrameRef<'_>,
    after: FrameRef<'_>,
    tolerance: Tolerance,
    differences: &mut Differences,
) {
    let test = Test::new(tolerance, before.format());
    let scan = Scan { before, after, test, kernel: Kernel::fastest() };
    let bytes = before.row(0).len() * before.size().height() as usize;
    let splits = match rayon::current_num_threads() {
        threads if threads > 1 && bytes >= PARALLEL_BYTES => 2 * threads,
        _ => 1,
    };
    let touched = scan.bands(differences.band(), splits);
    differences.touch(touched);
}

struct Scan<'a> {
    before: FrameRef<'a>,
    after: FrameRef<'a>,
    test: Test,
    kernel: Kernel,
}

impl Scan<'_> {
    /// Scans a band in about `splits` parts side by side; gives the rows that have a mark.
    fn bands(&self, band: Band<'_>, splits: usize) -> Range<u32> {
        if splits < 2 || band.rows().len() < 2 {
            return self.band(band);
        }
        let (upper, lower) = band.halves();
        let (upper, lower) = rayon::join(
            || self.bands(upper, splits.div_ceil(2)),
            || self.bands(lower, splits.div_ceil(2)),
        );
        joined(upper, lower)
    }

    fn band(&self, mut band: Band<'_>) -> Range<u32> {
        let rows = band.rows();
        let group = (GROUP_BYTES / self.before.row(rows.start).len()).max(1);
        let mut touched = 0..0;
        for start in rows.clone().step_by(group) {
            let end = rows.end.min(start.saturating_add(u32::try_from(group).unwrap_or(u32::MAX)));
            if self.is_equal(start..end) {
                continue;
            }
            for y in start..end {
                if self.row(y, band.line(y)) {
                    touched = joined(touched, y..y + 1);
                }
            }
        }
        touched
    }

    /// Whether the rows are equal as bytes; `false` where that takes more than one comparison.
    fn is_equal(&self, rows: Range<u32>) -> bool {
        self.before.format() == self.after.format()
            && match (self.before.rows(rows.clone()), self.after.rows(rows)) {
                (Some(before), Some(after)) => before == after,
                _ => false,
            }
    }

    fn row(&self, y: u32, line: Line<'_>) -> bool {
        let format = self.before.format();
        let pair = Pair { format, before: self.before.row(y), after: self.after.row(y) };
        if format == self.after.format() {
            self.kernel.line(pair, &self.test, line)
        } else {
            scalar::line(pair, self.after.format(), self.test.tolerance, line)
        }
    }
}

/// The smallest range that holds both.
fn joined(a: Range<u32>, b: Range<u32>) -> Range<u32> {
    match (a.is_empty(), b.is_empty()) {
        (true, _) => b,
        (_, true) => a,
        _ => a.start.min(b.start)..a.end.max(b.end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Size;
    use proptest::prelude::*;

    type Pixel = [u8; BYTES_PER_PIXEL];

    /// Every kernel that runs here.
    fn kernels() -> Vec<Kernel> {
        #[cfg(target_arch = "x86_64")]
        return std::iter::once(Kernel::Sse2).chain(avx2::Avx2::new().map(Kernel::Avx2)).collect();
        #[cfg(not(target_arch = "x86_64"))]
        vec![Kernel::fastest()]
    }

    fn answers(kernel: Kernel, pair: Pair<'_>, tolerance: Tolerance) -> (bool, Differences) {
        let width = u32::try_from(pair.before.len() / BYTES_PER_PIXEL).unwrap();
        let mut differences = Differences::default();
        differences.clear(Size::new(width, 1).unwrap());
        let test = Test::new(tolerance, pair.format);
        let any = kernel.line(pair, &test, differences.band().line(0));
        differences.touch(0..1);
        (any, differences)
    }

    /// Colours of every kind, and alpha that is often all or nothing.
    fn pixels(length: usize) -> impl Strategy<Value = Vec<Pixel>> {
        let channel = prop_oneof![Just(0_u8), Just(255), 100_u8..110, any::<u8>()];
        let alpha = prop_oneof![4 => Just(255_u8), 1 => Just(0), 1 => any::<u8>()];
        let pixel = (channel.clone(), channel.clone(), channel, alpha);
        prop::collection::vec(pixel.prop_map(|(r, g, b, a)| [r, g, b, a]), length)
    }

    fn tolerances() -> impl Strategy<Value = Tolerance> {
        prop_oneof![
            Just(Tolerance::Exact),
            any::<u8>().prop_map(Tolerance::Channel),
            (0.0..1.0).prop_map(Tolerance::Yiq),
            (0.0..0.1).prop_map(Tolerance::Yiq),
            (0.0..0.4).prop_map(Tolerance::Oklab),
        ]
    }

    proptest! {
        #[test]
        fn every_kernel_equals_the_scalar_one(
            (before, mut after) in (1_usize..200).prop_flat_map(|length| {
                (pixels(length), pixels(length))
            }),
            kept in prop::collection::vec(0_u8..3, 200),
            nudges in prop::collection::vec(-30_i16..30, 200),
            tolerance in tolerances(),
            start in 0_usize..8,
        ) {
            for (index, pixel) in after.iter_mut().enumerate() {
                match kept[index] {
                    0 => *pixel = before[index],
                    1 => *pixel = before[index].map(|channel| {
                        u8::try_from((i16::from(channel) + nudges[index]).clamp(0, 255)).unwrap()
                    }),
                    _ => {}
                }
            }
            let start = start.min(before.len() - 1);
            let (before, after) = (&before[start..], &after[start..]);
            for format in [PixelFormat::Rgba, PixelFormat::Bgrx] {
                let pair =
                    Pair { format, before: before.as_flattened(), after: after.as_flattened() };
                let oracle = answers(Kernel::Scalar, pair, tolerance);
                for kernel in kernels() {
                    prop_assert_eq!(
                        &answers(kernel, pair, tolerance), &oracle, "{:?} {}", kernel, tolerance
                    );
                }
            }
        }

        #[test]
        fn distances_near_the_limit_are_asked_exactly(
            before in prop::array::uniform3(any::<u8>()),
            after in prop::array::uniform3(any::<u8>()),
            off in -2_i8..=2,
        ) {
            let opaque = |[r, g, b]: [u8; 3]| [r, g, b, 255];
            let (before, after) = (opaque(before), opaque(after));
            let exact = crate::diff::yiq_fraction(before, after);
            let nearby = f32::from_bits(exact.to_bits().saturating_add_signed(i32::from(off)));
            let tolerance = Tolerance::Yiq(f64::from(nearby.clamp(0.0, 1.0)));
            let pair = Pair { format: PixelFormat::Rgba, before: &before, after: &after };
            let oracle = answers(Kernel::Scalar, pair, tolerance);
            for kernel in kernels() {
                prop_assert_eq!(&answers(kernel, pair, tolerance), &oracle, "{:?}", kernel);
            }
        }
    }

    #[test]
    fn many_threads_answer_what_one_does() {
        let size = Size::new(1600, 1100).unwrap();
        let before = crate::Frame::filled(size, PixelFormat::Bgrx, [250, 250, 250, 255]);
        let mut after = before.clone();
        for at in [5, 700_000, 3_500_000, 7_039_990] {
            after.data_mut()[at..at + 9].fill(0);
        }
        let answer = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut differences = Differences::default();
                differences.clear(size);
                scan(before.as_ref(), after.as_ref(), Tolerance::Exact, &mut differences);
                differences
            })
        };
        let one = answer(1);
        assert_eq!(one.changed().count(), 12);
        for threads in [2, 3, 8] {
            assert_eq!(answer(threads), one, "{threads} threads");
        }
    }
}
