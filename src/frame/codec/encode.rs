//! Frames as PNG files, quickly rather than small.

use std::io::Write as _;

use png::{BitDepth, ColorType, Compression, Encoder, Filter};

use crate::error::{Error, Result};
use crate::frame::{BYTES_PER_PIXEL, Frame};
use crate::geometry::Size;

/// Encodes a frame as PNG, quickly rather than small.
///
/// # Errors
/// Only when the encoder runs out of memory.
pub fn encode_png(frame: &Frame) -> Result<Vec<u8>> {
    let (size, view) = (frame.size(), frame.as_ref());
    let format = frame.format();
    if view.is_opaque() {
        encode_rows(Header::of(size, ColorType::Rgb), 3, &mut |y, row| {
            let (from, _) = view.row(y).as_chunks::<BYTES_PER_PIXEL>();
            for (to, from) in row.chunks_exact_mut(3).zip(from) {
                to.copy_from_slice(&format.rgba(*from)[..3]);
            }
        })
    } else {
        // Only RGBA has pixels that are not opaque.
        encode_rows(Header::of(size, ColorType::Rgba), 4, &mut |y, row| {
            row.copy_from_slice(view.row(y));
        })
    }
}

/// Encodes a picture of one byte a pixel, of which each stands for a colour of `palette`.
///
/// # Errors
/// As [`encode_png`].
#[cfg(feature = "cli")]
pub(crate) fn encode_indexed(size: Size, palette: &[[u8; 3]], data: &[u8]) -> Result<Vec<u8>> {
    let header = Header { size, colour: ColorType::Indexed, palette: palette.as_flattened() };
    let width = size.width() as usize;
    encode_rows(header, 1, &mut |y, row| {
        row.copy_from_slice(&data[y as usize * width..][..width]);
    })
}

/// A file may be larger than its pixels by this much and nobody minds: 4 KiB.
const SMALL_BYTES: u64 = 4 << 10;

/// What stands before the pixels of a file.
struct Header<'a> {
    size: Size,
    colour: ColorType,
    /// Empty where pixels are no indices.
    palette: &'a [u8],
}

/// Encodes the rows that `fill` writes; noise, which compressing makes larger, as it is.
fn encode_rows(
    header: Header<'_>,
    channels: usize,
    fill: &mut dyn FnMut(u32, &mut [u8]),
) -> Result<Vec<u8>> {
    let png = header.encode(channels, (Compression::Fast, Filter::Adaptive), fill)?;
    if png.len() as u64 <= header.size.pixels() * channels as u64 + SMALL_BYTES {
        return Ok(png);
    }
    header.encode(channels, (Compression::NoCompression, Filter::NoFilter), fill)
}

impl Header<'_> {
    const fn of(size: Size, colour: ColorType) -> Self {
        Self { size, colour, palette: &[] }
    }

    /// Takes the rows one at a time: a copy of the whole picture would cost more than compressing
    /// it.
    fn encode(
        &self,
        channels: usize,
        (compression, filter): (Compression, Filter),
        fill: &mut dyn FnMut(u32, &mut [u8]),
    ) -> Result<Vec<u8>> {
        let Self { size, colour, palette } = *self;
        let mut png = Vec::new();
        let mut encoder = Encoder::new(&mut png, size.width(), size.height());
        encoder.set_color(colour);
        encoder.set_depth(BitDepth::Eight);
        encoder.set_compression(compression);
        encoder.set_filter(filter);
        if !palette.is_empty() {
            encoder.set_palette(palette);
        }
        let failed = |error| Error::file("cannot be encoded as PNG").with_source(error);
        let mut writer = encoder.write_header().map_err(failed)?;
        let mut rows = writer.stream_writer().map_err(failed)?;
        let mut row = vec![0; size.width() as usize * channels];
        for y in 0..size.height() {
            fill(y, &mut row);
            rows.write_all(&row).map_err(|error| failed(error.into()))?;
        }
        rows.finish().map_err(failed)?;
        drop(writer);
        Ok(png)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{PixelFormat, decode};

    fn noise(size: Size, format: PixelFormat, seed: u32) -> Frame {
        let mut state = seed;
        let mut frame = Frame::filled(size, format, [0, 0, 0, 255]);
        for byte in frame.data_mut() {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            *byte = state.to_le_bytes()[0];
        }
        frame
    }

    #[test]
    fn noise_takes_hardly_more_than_its_pixels_and_comes_back() {
        for (width, height, format, channels) in [
            (1, 1, PixelFormat::Rgba, 4),
            (300, 200, PixelFormat::Rgba, 4),
            (300, 200, PixelFormat::Bgrx, 3),
            (7, 1000, PixelFormat::Bgrx, 3),
        ] {
            let size = Size::new(width, height).unwrap();
            let frame = noise(size, format, 7);
            let png = encode_png(&frame).unwrap();
            let most = size.pixels() * channels + SMALL_BYTES;
            assert!(png.len() as u64 <= most, "{} bytes of {most}: {size}", png.len());
            assert!(decode(&png).unwrap() == frame.to_rgba(), "{size} {format:?}");
        }
    }

    #[cfg(feature = "cli")]
    #[test]
    fn a_byte_a_pixel_stands_for_its_colour() {
        let size = Size::new(3, 2).unwrap();
        let palette = [[9, 8, 7], [255, 0, 128], [1, 1, 1]];
        let png = encode_indexed(size, &palette, &[0, 1, 2, 2, 1, 0]).unwrap();
        let row = [9, 8, 7, 255, 255, 0, 128, 255, 1, 1, 1, 255];
        let back = [1, 1, 1, 255, 255, 0, 128, 255, 9, 8, 7, 255];
        assert_eq!(decode(&png).unwrap().data(), [row, back].concat());
    }
}
