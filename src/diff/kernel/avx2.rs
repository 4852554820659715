//! Eight pixels at a time, where the processor has AVX2.
#![expect(unsafe_code, reason = "processor intrinsics")]

use std::arch::x86_64::*;

use super::register::{self, Register};
use super::sse2;
use super::{Line, Pair, Test, YIQ};

/// Proof that the processor has AVX2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(());

impl Avx2 {
    /// `None` where the processor lacks it.
    pub(super) fn new() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(()))
    }

    /// Answers a line; says whether any of its pixels differ.
    pub(super) fn line(self, pair: Pair<'_>, test: &Test, line: Line<'_>) -> bool {
        // SAFETY: `self` exists only where AVX2 does.
        unsafe { compiled(pair, test, line) }
    }
}

/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
unsafe fn compiled(pair: Pair<'_>, test: &Test, line: Line<'_>) -> bool {
    // SAFETY: as the caller promises.
    unsafe { register::line::<Eight>(pair, test, line) }
}

#[derive(Clone, Copy)]
struct Eight(__m256i);

// Every block below is sound because, as the trait demands, the caller has seen that the processor
// has AVX2.
impl Register for Eight {
    const PIXELS: usize = 8;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller lets 32 bytes be read; the load needs no alignment.
        Self(unsafe { _mm256_loadu_si256(from.cast()) })
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_or_si256(self.0, other.0) })
    }

    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_and_si256(self.0, other.0) })
    }

    #[inline(always)]
    unsafe fn without(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_andnot_si256(other.0, self.0) })
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_max_epu8(self.0, other.0) })
    }

    #[inline(always)]
    unsafe fn abs_diff(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe {
            _mm256_or_si256(_mm256_subs_epu8(self.0, other.0), _mm256_subs_epu8(other.0, self.0))
        })
    }

    #[inline(always)]
    unsafe fn within(self, limit: u8) -> Self {
        // SAFETY: see above.
        Self(unsafe {
            let beyond = _mm256_subs_epu8(self.0, _mm256_set1_epi8(limit.cast_signed()));
            _mm256_cmpeq_epi32(beyond, _mm256_setzero_si256())
        })
    }

    #[inline(always)]
    unsafe fn last_bytes() -> Self {
        // SAFETY: see above.
        Self(unsafe { _mm256_set1_epi32(0xFF00_0000_u32.cast_signed()) })
    }

    #[inline(always)]
    unsafe fn any(self) -> bool {
        // SAFETY: see above.
        unsafe { _mm256_testz_si256(self.0, self.0) == 0 }
    }

    #[inline(always)]
    unsafe fn bits(self) -> u64 {
        // SAFETY: see above.
        u64::from(unsafe { _mm256_movemask_ps(_mm256_castsi256_ps(self.0)) }.cast_unsigned())
    }

    #[inline(always)]
    unsafe fn largest(self) -> u8 {
        // SAFETY: see above.
        unsafe {
            let (low, high) =
                (_mm256_castsi256_si128(self.0), _mm256_extracti128_si256::<1>(self.0));
            sse2::largest(_mm_max_epu8(low, high))
        }
    }

    #[inline(always)]
    unsafe fn yiq_above<const REVERSED: bool>(self, other: Self, limits: [f32; 2]) -> [Self; 2] {
        // SAFETY: see above.
        unsafe {
            let first = apart(self.0, other.0);
            let green = apart(_mm256_srli_epi32::<8>(self.0), _mm256_srli_epi32::<8>(other.0));
            let third = apart(_mm256_srli_epi32::<16>(self.0), _mm256_srli_epi32::<16>(other.0));
            let (red, blue) = if REVERSED { (third, first) } else { (first, third) };
            let [y, i, q] = YIQ;
            let distance = _mm256_add_ps(
                _mm256_add_ps(square(red, green, blue, y), square(red, green, blue, i)),
                square(red, green, blue, q),
            );
            let [low, high] = limits;
            [above(distance, low), above(distance, high)]
        }
    }
}

/// How far the lowest bytes of each pixel lie apart.
///
/// # Safety
/// As [`Register::or`].
#[inline(always)]
unsafe fn apart(a: __m256i, b: __m256i) -> __m256 {
    // SAFETY: as the caller promises.
    unsafe {
        let low = _mm256_set1_epi32(0xFF);
        _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_and_si256(a, low), _mm256_and_si256(b, low)))
    }
}

/// One axis of YIQ, squared and weighted.
///
/// # Safety
/// As [`Register::or`].
#[inline(always)]
unsafe fn square(red: __m256, green: __m256, blue: __m256, axis: ([f32; 3], f32)) -> __m256 {
    // SAFETY: as the caller promises.
    unsafe {
        let ([r, g, b], weight) = axis;
        let red = _mm256_mul_ps(red, _mm256_set1_ps(r));
        let green = _mm256_mul_ps(green, _mm256_set1_ps(g));
        let blue = _mm256_mul_ps(blue, _mm256_set1_ps(b));
        let sum = _mm256_add_ps(_mm256_add_ps(red, green), blue);
        _mm256_mul_ps(_mm256_mul_ps(sum, sum), _mm256_set1_ps(weight))
    }
}

/// # Safety
/// As [`Register::or`].
#[inline(always)]
unsafe fn above(distance: __m256, limit: f32) -> Eight {
    // SAFETY: as the caller promises.
    Eight(unsafe {
        _mm256_castps_si256(_mm256_cmp_ps::<_CMP_GT_OQ>(distance, _mm256_set1_ps(limit)))
    })
}
