//! Copies of a part of a frame, as large as a picture wants them: RGBA without transparency.

use std::borrow::Cow;

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};

use crate::error::{Error, Result};
use crate::frame::{BYTES_PER_PIXEL, Frame, FrameRef, PixelFormat};
use crate::geometry::Size;

/// The side of a square of the chequers seen through transparent pixels.
const CHEQUER_PX: usize = 8;

/// The two greys of the chequers.
const CHEQUERS: [u8; 2] = [255, 216];

/// A copy of `source` drawn as large as `size`: enlarged by a whole factor with sharp pixels, or
/// made smaller with smooth ones.
///
/// # Errors
/// When `size` has no room for it.
pub(crate) fn copy(source: FrameRef<'_>, size: Size) -> Result<Frame> {
    let factor = size.width() / source.size().width();
    if size == source.size() {
        Ok(opaque(source))
    } else if factor > 1 {
        enlarge(&opaque(source), factor)
    } else if is_opaque(source) {
        Ok(shrink(source, size)?.to_rgba())
    } else {
        shrink(opaque(source).as_ref(), size)
    }
}

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

fn is_opaque(source: FrameRef<'_>) -> bool {
    source.format() != PixelFormat::Rgba
        || (0..source.size().height())
            .all(|y| source.row(y).chunks_exact(BYTES_PER_PIXEL).all(|pixel| pixel[3] == u8::MAX))
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

/// Every pixel becomes a square of `factor` by `factor`.
fn enlarge(frame: &Frame, factor: u32) -> Result<Frame> {
    let size = frame.size();
    let size = Size::new(size.width() * factor, size.height() * factor)?;
    let factor = factor as usize;
    let mut data = Vec::with_capacity(frame.data().len() * factor * factor);
    let row_bytes = frame.size().width() as usize * BYTES_PER_PIXEL;
    for row in frame.data().chunks_exact(row_bytes) {
        let wide: Vec<u8> =
            row.chunks_exact(BYTES_PER_PIXEL).flat_map(|pixel| pixel.repeat(factor)).collect();
        data.extend(wide.repeat(factor));
    }
    Frame::from_raw(size, PixelFormat::Rgba, data)
}

/// In the channel order of `source`: four channels are resized alike.
fn shrink(source: FrameRef<'_>, size: Size) -> Result<Frame> {
    let packed: Cow<'_, [u8]> = source.packed();
    let failed = |error: &dyn std::fmt::Display| {
        Error::limit(format!("a {} picture cannot be made {size}: {error}", source.size()))
    };
    let (width, height) = (source.size().width(), source.size().height());
    let from = ImageRef::new(width, height, &packed, PixelType::U8x4).map_err(|e| failed(&e))?;
    let mut to = Image::new(size.width(), size.height(), PixelType::U8x4);
    let smooth = ResizeOptions::new()
        .resize_alg(ResizeAlg::Convolution(FilterType::CatmullRom))
        .use_alpha(false);
    Resizer::new().resize(&from, &mut to, &smooth).map_err(|e| failed(&e))?;
    Frame::from_raw(size, source.format(), to.into_vec())
}
