//! Whether a file can hold the picture its header declares, before anything is allocated for it.
//!
//! A few kilobytes that declare 16000x16000 pixels would cost a gigabyte before the decoder notices
//! that there are none. Every compression has a most it can do, which bounds from below how many
//! bytes a picture takes; a file smaller than that is refused. Where a format has no such bound, a
//! generous one is set for pictures past the size of any screen.

use crate::error::{Error, Result};
use crate::geometry::Size;

/// Pictures up to this many pixels are never refused: they cost 16 MiB.
const SMALL: u64 = 1 << 22;
/// As [`SMALL`], where a blank picture of any size takes a few bytes: 128 MiB.
#[cfg(feature = "files")]
const SCREEN: u64 = 1 << 25;

/// What a format can do at best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bound {
    /// A picture with no more pixels is always plausible.
    free_pixels: u64,
    /// Of a larger one each bit of the file gives at most this many pixels.
    pixels_per_bit: f64,
}

impl Bound {
    /// Past a small picture each bit of the file gives at most `pixels_per_bit`.
    pub(super) const fn small(pixels_per_bit: f64) -> Self {
        Self { free_pixels: SMALL, pixels_per_bit }
    }

    /// A deflate stream of pixels of `bits_per_pixel`.
    pub(super) fn deflate(bits_per_pixel: f64) -> Self {
        Self::small(DEFLATE / bits_per_pixel)
    }

    /// For what stores a blank picture in nothing: lossless WebP, fax in TIFF.
    #[cfg(feature = "files")]
    pub(super) const fn loose() -> Self {
        Self { free_pixels: SCREEN, pixels_per_bit: DEFLATE }
    }
}

/// A deflate stream grows at most 1032-fold (258 bytes from two codes of one bit), so this is what
/// one bit gives at one bit a pixel.
const DEFLATE: f64 = 1032.0;

/// # Errors
/// When a file of `format` with so many `bytes` is too small for a picture of `size`.
pub(super) fn check(bound: Bound, format: &str, bytes: usize, size: Size) -> Result<()> {
    if size.pixels() <= bound.free_pixels || size.pixels() <= most(bound, bytes) {
        return Ok(());
    }
    Err(Error::file(format!(
        "is no readable {format} picture: it declares {size} pixels, more than its {bytes} bytes \
         can hold"
    )))
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "files have less than 2^31 bytes, and the rest saturates"
)]
fn most(bound: Bound, bytes: usize) -> u64 {
    (bytes as f64 * 8.0 * bound.pixels_per_bit) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_bytes_hold_few_pixels() {
        let size = |width, height| Size::new(width, height).unwrap();
        for (bits_per_pixel, bytes, size, ok) in [
            (1.0, 8, size(2048, 2048), true),
            (1.0, 8, size(2048, 2049), false),
            (8.0, 5000, size(2048, 2049), true),
            (8.0, 4000, size(2048, 2049), false),
        ] {
            let checked = check(Bound::deflate(bits_per_pixel), "PNG", bytes, size);
            assert_eq!(checked.is_ok(), ok, "{bytes} bytes, {size}: {checked:?}");
        }
        let message = check(Bound::small(62.0 / 8.0), "QOI", 4, size(9000, 9000)).unwrap_err();
        assert_eq!(
            message.to_string(),
            "is no readable QOI picture: it declares 9000x9000 pixels, more than its 4 bytes can \
             hold"
        );
    }
}
