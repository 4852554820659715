//! How many pixels a file of each format but PNG can hold at most.

use image::ImageFormat;

use super::plausible::Bound;

/// The bound of a file of any format but PNG.
pub(super) fn bound(format: ImageFormat, bytes: &[u8]) -> Bound {
    let small = Bound::small;
    match format {
        ImageFormat::Jpeg => small(jpeg(bytes).unwrap_or(JPEG_AT_MOST)),
        // A code of at most 12 bits stands for at most 4096 pixels, and the first 4096 codes for
        // fewer still.
        ImageFormat::Gif => small(4096.0 / 8.0),
        // One byte repeats a pixel up to 62 times.
        ImageFormat::Qoi => small(62.0 / 8.0),
        ImageFormat::Bmp => bmp(bytes).map_or(Bound::loose(), small),
        // A macroblock of 16x16 pixels names its two kinds of prediction, with fixed chances that
        // cost it at least one bit together (RFC 6386, 11.2).
        ImageFormat::WebP if bytes.get(12..16) == Some(b"VP8 ") => small(256.0),
        // Lossless WebP and fax in TIFF store a blank picture in nothing.
        _ => Bound::loose(),
    }
}

/// One bit for a block of 8x8 samples, of the component that covers most: 8x32 pixels.
const JPEG_AT_MOST: f64 = 256.0;

/// Pixels a bit of this JPEG can give: every block of 8x8 samples takes a bit for its mean, and
/// unless progressive scans come back to it another for the end of the block.
fn jpeg(bytes: &[u8]) -> Option<f64> {
    let (marker, header) = jpeg_frame(bytes)?;
    let [_precision, _, _, _, _, count, components @ ..] = header else { return None };
    let factors = components.chunks_exact(3).take(usize::from(*count)).map(|one| one[1]);
    let (mut widest, mut tallest, mut blocks) = (1, 1, 0.0);
    for (horizontal, vertical) in factors.map(|both| (both >> 4, both & 15)) {
        (widest, tallest) = (widest.max(horizontal), tallest.max(vertical));
        blocks += f64::from(horizontal) * f64::from(vertical);
    }
    let bits_a_block = if marker == 0xC2 { 1.0 } else { 2.0 };
    let pixels = 64.0 * f64::from(widest) * f64::from(tallest);
    (blocks >= 1.0).then(|| pixels / (blocks * bits_a_block))
}

/// The kind and the contents of the frame header.
fn jpeg_frame(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let mut rest = bytes.get(2..)?;
    loop {
        let [0xFF, marker, tail @ ..] = rest else { return None };
        match marker {
            // Padding, and markers without contents.
            0xFF => rest = &rest[1..],
            0x01 | 0xD0..=0xD8 => rest = tail,
            _ => {
                let length = usize::from(u16::from_be_bytes(*tail.first_chunk()?));
                let contents = tail.get(2..length)?;
                if matches!(marker, 0xC0..=0xC2) {
                    return Some((*marker, contents));
                }
                rest = tail.get(length..)?;
            }
        }
    }
}

/// Pixels a bit of this BMP gives, when it is not compressed.
fn bmp(bytes: &[u8]) -> Option<f64> {
    let short = |at: usize| Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let is_old = short(14)? == 12;
    let depth = short(if is_old { 24 } else { 28 })?;
    // 0 is none, 3 and 6 say where the channels lie.
    let is_stored = is_old || matches!(short(30)?, 0 | 3 | 6);
    is_stored.then(|| 1.0 / f64::from(depth.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::codec::plausible::check;
    use crate::geometry::Size;

    fn jpeg_header(kind: u8, samplings: &[u8]) -> Vec<u8> {
        let count = u8::try_from(samplings.len()).unwrap();
        let mut bytes = vec![0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 1, 0xFF, 0xFF, kind];
        bytes.extend([0, 8 + 3 * count, 8, 0, 16, 0, 16, count]);
        samplings.iter().zip(1..).for_each(|(sampling, id)| bytes.extend([id, *sampling, 0]));
        bytes
    }

    #[test]
    fn a_jpeg_takes_bits_for_every_block() {
        for (kind, samplings, pixels_per_bit) in [
            (0xC0, &[0x11][..], 32.0),
            (0xC0, &[0x11, 0x11, 0x11], 64.0 / 6.0),
            (0xC0, &[0x22, 0x11, 0x11], 256.0 / 12.0),
            (0xC2, &[0x22, 0x11, 0x11], 256.0 / 6.0),
        ] {
            assert_eq!(jpeg(&jpeg_header(kind, samplings)), Some(pixels_per_bit), "{samplings:?}");
        }
        assert_eq!(jpeg(&[0xFF, 0xD8, 0xFF, 0xDA, 0, 2]), None);
    }

    #[test]
    fn few_bytes_hold_few_pixels() {
        let webp = b"RIFF....WEBPVP8L".as_slice();
        let jpeg = jpeg_header(0xC0, &[0x22, 0x11, 0x11]);
        let size = |width, height| Size::new(width, height).unwrap();
        for (format, bytes, size, ok) in [
            (ImageFormat::Jpeg, jpeg.as_slice(), size(16000, 16000), false),
            (ImageFormat::Qoi, b"qoif", size(16000, 16000), false),
            (ImageFormat::WebP, webp, size(3840, 2160), true),
            (ImageFormat::WebP, webp, size(16000, 16000), false),
            (ImageFormat::WebP, b"RIFF....WEBPVP8 ", size(3840, 2160), false),
        ] {
            let checked = check(bound(format, bytes), "", bytes.len(), size);
            assert_eq!(checked.is_ok(), ok, "{format:?} {size}: {checked:?}");
        }
    }

    #[test]
    fn a_bmp_that_is_not_compressed_holds_what_its_depth_says() {
        let mut bytes = vec![0; 54];
        bytes[14] = 40;
        bytes[28] = 24;
        assert_eq!(bmp(&bytes), Some(1.0 / 24.0));
        bytes[30] = 1;
        assert_eq!(bmp(&bytes), None);
    }
}
