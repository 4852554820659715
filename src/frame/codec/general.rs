//! PNG of every kind: grey, palette, 1 to 16 bits, interlaced, animated (the default image).

use std::io::Cursor;

use ::png::{BitDepth, ColorType, Decoder, DecodingError, Limits, Transformations};

use crate::error::{Error, Result};
use crate::frame::{BYTES_PER_PIXEL, Frame, PixelFormat, byte_length};
use crate::geometry::Size;

/// The picture of a PNG file, as stored: not turned upright.
///
/// # Errors
/// When the file is damaged or has another size than its header, which was checked, says.
pub(super) fn decode(bytes: &[u8], size: Size) -> Result<Frame> {
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), limits(size));
    decoder.set_transformations(Transformations::EXPAND);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let mut reader = decoder.read_info().map_err(damaged)?;
    let room = reader.output_buffer_size().filter(|&room| room <= byte_length(size) * 2);
    let mut stored = vec![0; room.ok_or_else(|| no_room(size))?];
    let info = reader.next_frame(&mut stored).map_err(damaged)?;
    stored.truncate(info.buffer_size());
    let mut data = Vec::with_capacity(byte_length(size));
    let bytes_a_channel = if info.bit_depth == BitDepth::Sixteen { 2 } else { 1 };
    for pixel in stored.chunks_exact(info.color_type.samples() * bytes_a_channel) {
        data.extend_from_slice(&rgba(info.color_type, pixel));
    }
    Frame::from_raw(size, PixelFormat::Rgba, data)
}

/// Room for a decoder's own buffers, and no more.
fn limits(size: Size) -> Limits {
    Limits { bytes: byte_length(size) * 2 + (64 << 20) }
}

fn damaged(error: DecodingError) -> Error {
    let reason = error.to_string().replace('\n', " ");
    Error::file(format!("is no readable PNG picture: {reason}")).with_source(error)
}

fn no_room(size: Size) -> Error {
    Error::file(format!("is no readable PNG picture: its pixels take more than {size} of them do"))
}

/// One pixel, whose channels take one byte each, or two.
fn rgba(colour: ColorType, pixel: &[u8]) -> [u8; BYTES_PER_PIXEL] {
    let channel = |index: usize| match pixel.len() / colour.samples() {
        1 => pixel[index],
        _ => upper(u16::from_be_bytes([pixel[index * 2], pixel[index * 2 + 1]])),
    };
    match colour {
        ColorType::Grayscale | ColorType::Indexed => [channel(0), channel(0), channel(0), u8::MAX],
        ColorType::GrayscaleAlpha => [channel(0), channel(0), channel(0), channel(1)],
        ColorType::Rgb => [channel(0), channel(1), channel(2), u8::MAX],
        ColorType::Rgba => [channel(0), channel(1), channel(2), channel(3)],
    }
}

/// The nearest of 256 steps.
fn upper(channel: u16) -> u8 {
    u8::try_from((u32::from(channel) + 128) / 257).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bits_become_the_nearest_of_eight() {
        for (channel, nearest) in
            [(0, 0), (128, 0), (129, 1), (0x7F7F, 127), (65_406, 254), (65_407, 255), (65_535, 255)]
        {
            assert_eq!(upper(channel), nearest, "{channel}");
        }
    }
}
