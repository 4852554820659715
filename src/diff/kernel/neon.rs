//! Four pixels at a time: every 64-bit ARM processor that runs an operating system has NEON.
#![expect(unsafe_code, reason = "processor intrinsics")]

use std::arch::aarch64::*;

use super::register::{self, Register};
use super::{Line, Pair, Test, YIQ};

/// Answers a line; says whether any of its pixels differ.
pub(super) fn line(pair: Pair<'_>, test: &Test, line: Line<'_>) -> bool {
    // SAFETY: NEON is part of every AArch64 target that has a standard library.
    unsafe { register::line::<Four>(pair, test, line) }
}

#[derive(Clone, Copy)]
struct Four(uint8x16_t);

impl Four {
    #[inline(always)]
    fn words(self) -> uint32x4_t {
        // SAFETY: NEON is part of AArch64.
        unsafe { vreinterpretq_u32_u8(self.0) }
    }

    #[inline(always)]
    fn of_words(words: uint32x4_t) -> Self {
        // SAFETY: NEON is part of AArch64.
        unsafe { Self(vreinterpretq_u8_u32(words)) }
    }
}

impl Register for Four {
    const PIXELS: usize = 4;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller lets 16 bytes be read; the load needs no alignment.
        Self(unsafe { vld1q_u8(from) })
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: NEON is part of AArch64.
        unsafe { Self(vorrq_u8(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        // SAFETY: NEON is part of AArch64.
        unsafe { Self(vandq_u8(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn without(self, other: Self) -> Self {
        // SAFETY: NEON is part of AArch64.
        unsafe { Self(vbicq_u8(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        // SAFETY: NEON is part of AArch64.
        unsafe { Self(vmaxq_u8(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn abs_diff(self, other: Self) -> Self {
        // SAFETY: NEON is part of AArch64.
        unsafe { Self(vabdq_u8(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn within(self, limit: u8) -> Self {
        // SAFETY: NEON is part of AArch64.
        unsafe {
            let beyond = Self(vqsubq_u8(self.0, vdupq_n_u8(limit)));
            Self::of_words(vceqzq_u32(beyond.words()))
        }
    }

    #[inline(always)]
    unsafe fn last_bytes() -> Self {
        // SAFETY: NEON is part of AArch64.
        unsafe { Self::of_words(vdupq_n_u32(0xFF00_0000)) }
    }

    #[inline(always)]
    unsafe fn any(self) -> bool {
        // SAFETY: NEON is part of AArch64.
        unsafe { vmaxvq_u8(self.0) != 0 }
    }

    #[inline(always)]
    unsafe fn bits(self) -> u64 {
        // SAFETY: NEON is part of AArch64; every array fills a whole register.
        unsafe {
            const PLACES: [u32; 4] = [1, 2, 4, 8];
            let places = vld1q_u32(PLACES.as_ptr());
            u64::from(vaddvq_u32(vandq_u32(self.words(), places)))
        }
    }

    #[inline(always)]
    unsafe fn largest(self) -> u8 {
        // SAFETY: NEON is part of AArch64.
        unsafe { vmaxvq_u8(self.0) }
    }

    #[inline(always)]
    unsafe fn yiq_above<const REVERSED: bool>(self, other: Self, limits: [f32; 2]) -> [Self; 2] {
        // SAFETY: NEON is part of AArch64.
        unsafe {
            let (a, b) = (self.words(), other.words());
            let first = apart(a, b);
            let green = apart(vshrq_n_u32::<8>(a), vshrq_n_u32::<8>(b));
            let third = apart(vshrq_n_u32::<16>(a), vshrq_n_u32::<16>(b));
            let (red, blue) = if REVERSED { (third, first) } else { (first, third) };
            let [y, i, q] = YIQ;
            let distance = vaddq_f32(
                vaddq_f32(square(red, green, blue, y), square(red, green, blue, i)),
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
unsafe fn apart(a: uint32x4_t, b: uint32x4_t) -> float32x4_t {
    // SAFETY: as the caller promises.
    unsafe {
        let low = vdupq_n_u32(0xFF);
        let (a, b) = (vandq_u32(a, low), vandq_u32(b, low));
        vcvtq_f32_s32(vsubq_s32(vreinterpretq_s32_u32(a), vreinterpretq_s32_u32(b)))
    }
}

/// One axis of YIQ, squared and weighted.
///
/// # Safety
/// As [`Register::or`].
#[inline(always)]
unsafe fn square(
    red: float32x4_t,
    green: float32x4_t,
    blue: float32x4_t,
    axis: ([f32; 3], f32),
) -> float32x4_t {
    // SAFETY: as the caller promises.
    unsafe {
        let ([r, g, b], weight) = axis;
        let sum = vaddq_f32(vmulq_n_f32(red, r), vmulq_n_f32(green, g));
        let sum = vaddq_f32(sum, vmulq_n_f32(blue, b));
        vmulq_n_f32(vmulq_f32(sum, sum), weight)
    }
}

/// # Safety
/// As [`Register::or`].
#[inline(always)]
unsafe fn above(distance: float32x4_t, limit: f32) -> Four {
    // SAFETY: as the caller promises.
    unsafe { Four::of_words(vcgtq_f32(distance, vdupq_n_f32(limit))) }
}
