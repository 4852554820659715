//! Four pixels at a time: every x86-64 processor has SSE2.
#![expect(unsafe_code, reason = "processor intrinsics")]

use std::arch::x86_64::*;

use super::register::{self, Register};
use super::{Line, Pair, Test, YIQ};

/// Answers a line; says whether any of its pixels differ.
pub(super) fn line(pair: Pair<'_>, test: &Test, line: Line<'_>) -> bool {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { register::line::<Four>(pair, test, line) }
}

#[derive(Clone, Copy)]
struct Four(__m128i);

impl Register for Four {
    const PIXELS: usize = 4;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller lets 16 bytes be read; the load needs no alignment.
        Self(unsafe { _mm_loadu_si128(from.cast()) })
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { Self(_mm_or_si128(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { Self(_mm_and_si128(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn without(self, other: Self) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { Self(_mm_andnot_si128(other.0, self.0)) }
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { Self(_mm_max_epu8(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn abs_diff(self, other: Self) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        unsafe {
            Self(_mm_or_si128(_mm_subs_epu8(self.0, other.0), _mm_subs_epu8(other.0, self.0)))
        }
    }

    #[inline(always)]
    unsafe fn within(self, limit: u8) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        unsafe {
            let beyond = _mm_subs_epu8(self.0, _mm_set1_epi8(limit.cast_signed()));
            Self(_mm_cmpeq_epi32(beyond, _mm_setzero_si128()))
        }
    }

    #[inline(always)]
    unsafe fn last_bytes() -> Self {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { Self(_mm_set1_epi32(0xFF00_0000_u32.cast_signed())) }
    }

    #[inline(always)]
    unsafe fn any(self) -> bool {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(self.0, _mm_setzero_si128())) != 0xFFFF }
    }

    #[inline(always)]
    unsafe fn bits(self) -> u64 {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { u64::from(_mm_movemask_ps(_mm_castsi128_ps(self.0)).cast_unsigned()) }
    }

    #[inline(always)]
    unsafe fn largest(self) -> u8 {
        // SAFETY: SSE2 is part of x86-64.
        unsafe { largest(self.0) }
    }

    #[inline(always)]
    unsafe fn yiq_above<const REVERSED: bool>(self, other: Self, limits: [f32; 2]) -> [Self; 2] {
        // SAFETY: SSE2 is part of x86-64.
        unsafe {
            let first = apart(self.0, other.0);
            let green = apart(_mm_srli_epi32::<8>(self.0), _mm_srli_epi32::<8>(other.0));
            let third = apart(_mm_srli_epi32::<16>(self.0), _mm_srli_epi32::<16>(other.0));
            let (red, blue) = if REVERSED { (third, first) } else { (first, third) };
            let [y, i, q] = YIQ;
            let distance = _mm_add_ps(
                _mm_add_ps(square(red, green, blue, y), square(red, green, blue, i)),
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
unsafe fn apart(a: __m128i, b: __m128i) -> __m128 {
    // SAFETY: as the caller promises.
    unsafe {
        let low = _mm_set1_epi32(0xFF);
        _mm_cvtepi32_ps(_mm_sub_epi32(_mm_and_si128(a, low), _mm_and_si128(b, low)))
    }
}

/// One axis of YIQ, squared and weighted.
///
/// # Safety
/// As [`Register::or`].
#[inline(always)]
unsafe fn square(red: __m128, green: __m128, blue: __m128, axis: ([f32; 3], f32)) -> __m128 {
    // SAFETY: as the caller promises.
    unsafe {
        let ([r, g, b], weight) = axis;
        let red = _mm_mul_ps(red, _mm_set1_ps(r));
        let green = _mm_mul_ps(green, _mm_set1_ps(g));
        let blue = _mm_mul_ps(blue, _mm_set1_ps(b));
        let sum = _mm_add_ps(_mm_add_ps(red, green), blue);
        _mm_mul_ps(_mm_mul_ps(sum, sum), _mm_set1_ps(weight))
    }
}

/// # Safety
/// As [`Register::or`].
#[inline(always)]
unsafe fn above(distance: __m128, limit: f32) -> Four {
    // SAFETY: as the caller promises.
    Four(unsafe { _mm_castps_si128(_mm_cmpgt_ps(distance, _mm_set1_ps(limit))) })
}

/// The largest byte: the register is folded in halves.
///
/// # Safety
/// As [`Register::or`].
#[inline(always)]
pub(super) unsafe fn largest(bytes: __m128i) -> u8 {
    // SAFETY: as the caller promises.
    unsafe {
        let bytes = _mm_max_epu8(bytes, _mm_srli_si128::<8>(bytes));
        let bytes = _mm_max_epu8(bytes, _mm_srli_si128::<4>(bytes));
        let bytes = _mm_max_epu8(bytes, _mm_srli_si128::<2>(bytes));
        let bytes = _mm_max_epu8(bytes, _mm_srli_si128::<1>(bytes));
        _mm_cvtsi128_si32(bytes).to_le_bytes()[0]
    }
}
