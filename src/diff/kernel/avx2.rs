//! Eight pixels at a time, where the processor has AVX2.
#![expect(unsafe_code, reason = "processor intrinsics")]

use std::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_andnot_si256, _mm256_castsi256_ps, _mm256_cmpeq_epi32,
    _mm256_loadu_si256, _mm256_movemask_ps, _mm256_or_si256, _mm256_set1_epi8, _mm256_set1_epi32,
    _mm256_setzero_si256, _mm256_subs_epu8,
};

use crate::frame::PixelFormat;

use super::{BLOCK, Bits, Pixel};

/// Pixels a register holds.
const LANES: usize = 8;

/// Proof that the processor has AVX2.
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

impl Avx2 {
    /// `None` where the processor lacks it.
    pub(super) fn new() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(()))
    }

    /// Answers exactly 64 pixels.
    pub(super) fn block(
        self,
        before: &[Pixel],
        after: &[Pixel],
        format: PixelFormat,
        limit: u8,
    ) -> Bits {
        assert!(before.len() == BLOCK && after.len() == BLOCK, "whole blocks");
        // SAFETY: `self` exists only where AVX2 does, and both slices hold a whole block.
        unsafe { block(before.as_ptr().cast(), after.as_ptr().cast(), format, limit) }
    }
}

/// # Safety
/// The processor has AVX2, and 64 pixels can be read from both pointers.
#[target_feature(enable = "avx2")]
unsafe fn block(before: *const u8, after: *const u8, format: PixelFormat, limit: u8) -> Bits {
    let limit = _mm256_set1_epi8(limit.cast_signed());
    let mut bits = Bits::default();
    for step in 0..BLOCK / LANES {
        let at = step * LANES * size_of::<Pixel>();
        // SAFETY: eight pixels at `at` lie inside the 64 that can be read.
        let (a, b) = unsafe {
            (_mm256_loadu_si256(before.add(at).cast()), _mm256_loadu_si256(after.add(at).cast()))
        };
        let delta = delta(a, b, format);
        bits.unequal |= lanes_set(delta) << (step * LANES);
        bits.over |= lanes_set(_mm256_subs_epu8(delta, limit)) << (step * LANES);
    }
    bits
}

/// Absolute difference of every channel that means something; zero for two pixels that are equal.
#[target_feature(enable = "avx2")]
fn delta(a: __m256i, b: __m256i, format: PixelFormat) -> __m256i {
    let delta = _mm256_or_si256(_mm256_subs_epu8(a, b), _mm256_subs_epu8(b, a));
    let last_byte = _mm256_set1_epi32(0xFF00_0000_u32.cast_signed());
    match format {
        PixelFormat::Bgrx => _mm256_andnot_si256(last_byte, delta),
        PixelFormat::Rgba => {
            let alpha = _mm256_and_si256(_mm256_or_si256(a, b), last_byte);
            let transparent = _mm256_cmpeq_epi32(alpha, _mm256_setzero_si256());
            _mm256_andnot_si256(transparent, delta)
        }
    }
}

/// One bit a pixel: is any of its bytes set?
#[target_feature(enable = "avx2")]
fn lanes_set(value: __m256i) -> u64 {
    let zero = _mm256_cmpeq_epi32(value, _mm256_setzero_si256());
    let zero_lanes = _mm256_movemask_ps(_mm256_castsi256_ps(zero));
    u64::from(!zero_lanes.cast_unsigned() & 0xFF)
}
