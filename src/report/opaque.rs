//! Frames without transparency.

use crate::frame::{BYTES_PER_PIXEL, Frame, FrameRef};

/// The side of a square of the chequers seen through transparent pixels.
const CHEQUER_PX: usize = 8;

/// The two greys of the chequers.
const CHEQUERS: [u8; 2] = [255, 216];

/// A copy in RGBA, with transparent pixels laid on chequers.
pub(super) fn opaque(source: FrameRef<'_>) -> Frame {
    let mut frame = source.to_rgba();
    let width = frame.size().width() as usize;
    for (y, row) in frame.data_mut().chunks_exact_mut(width * BYTES_PER_PIXEL).enumerate() {
        for (x, pixel) in row.chunks_exact_mut(BYTES_PER_PIXEL).enumerate() {
            if pixel[3] < u8::MAX {
                lay_on(pixel, CHEQUERS[(x / CHEQUER_PX + y / CHEQUER_PX) % 2]);
            }
        }
    }
    frame
}

fn lay_on(pixel: &mut [u8], grey: u8) {
    let alpha = u16::from(pixel[3]);
    for channel in &mut pixel[..3] {
        let sum = u16::from(*channel) * alpha + u16::from(grey) * (255 - alpha);
        // A weighted mean of two bytes is a byte.
        *channel = u8::try_from((sum + 127) / 255).unwrap_or(u8::MAX);
    }
    pixel[3] = u8::MAX;
}
