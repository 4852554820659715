//! Small pieces of a frame, told apart by a number.

use crate::frame::{BYTES_PER_PIXEL, Frame};
use crate::geometry::Rect;

/// A number that tells the pixels of `frame` inside `rect` from any others; the part of `rect`
/// outside the frame is left out. A byte that means nothing is left out as well.
pub(super) fn fingerprint(frame: &Frame, rect: Rect) -> u64 {
    let Some(rect) = rect.intersection(frame.size().rect()) else { return 0 };
    let span = rect.x() as usize * BYTES_PER_PIXEL..rect.right() as usize * BYTES_PER_PIXEL;
    let mut hash = 0xCBF2_9CE4_8422_2325;
    for y in rect.y()..rect.bottom() {
        let (pixels, _) = frame.as_ref().row(y)[span.clone()].as_chunks::<BYTES_PER_PIXEL>();
        for &pixel in pixels {
            let value = u32::from_le_bytes(frame.format().rgba(pixel));
            hash = mix(hash ^ u64::from(value));
        }
    }
    hash
}

/// The multiplication and shift of `SplitMix64`: one bit in changes half of those out.
pub(super) const fn mix(value: u64) -> u64 {
    let value = value.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    value ^ (value >> 29)
}

/// Whether `after` is lighter (1), darker (-1) or neither than `before` inside `rect`.
pub(super) fn lightening(before: &Frame, after: &Frame, rect: Rect) -> i64 {
    (light(after, rect) - light(before, rect)).signum()
}

fn light(frame: &Frame, rect: Rect) -> i64 {
    let Some(rect) = rect.intersection(frame.size().rect()) else { return 0 };
    let span = rect.x() as usize * BYTES_PER_PIXEL..rect.right() as usize * BYTES_PER_PIXEL;
    let mut sum = 0;
    for y in rect.y()..rect.bottom() {
        let (pixels, _) = frame.as_ref().row(y)[span.clone()].as_chunks::<BYTES_PER_PIXEL>();
        for &pixel in pixels {
            let [r, g, b, _] = frame.format().rgba(pixel);
            sum += 3 * i64::from(r) + 6 * i64::from(g) + i64::from(b);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::PixelFormat;
    use crate::geometry::Size;

    #[test]
    fn only_the_pixels_inside_tell_patches_apart() {
        let size = Size::new(4, 2).unwrap();
        let plain = Frame::filled(size, PixelFormat::Bgrx, [9, 9, 9, 255]);
        let left: Rect = "0,0,2,2".parse().unwrap();
        for (byte, same) in [(0, false), (3, true), (12, true)] {
            let mut other = plain.clone();
            other.data_mut()[byte] = 200;
            assert_eq!(fingerprint(&plain, left) == fingerprint(&other, left), same, "{byte}");
        }
        let mut lighter = plain.clone();
        lighter.data_mut()[1] = 10;
        assert_eq!(lightening(&plain, &lighter, left), 1);
        assert_eq!(lightening(&lighter, &plain, left), -1);
    }
}
