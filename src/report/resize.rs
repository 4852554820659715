//! Copies of a part of a frame, as large as a picture wants them: RGBA without transparency.

use std::borrow::Cow;
use std::cell::RefCell;

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};

use crate::error::{Error, Result};
use crate::frame::{BYTES_PER_PIXEL, Frame, FrameRef, PixelFormat};
use crate::geometry::Size;

use super::opaque::opaque;

/// What a thread keeps between pictures: as much as overviews of a common screen take.
const MAX_KEPT_BYTES: usize = 4 << 20;

thread_local! {
    /// Its memory is fetched from the system once and not for every picture.
    static RESIZER: RefCell<Resizer> = RefCell::new(Resizer::new());
}

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
    } else if source.is_opaque() {
        Ok(shrink(source, size)?.into_rgba())
    } else {
        shrink(opaque(source).as_ref(), size)
    }
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
    RESIZER.with_borrow_mut(|resizer| {
        resizer.resize(&from, &mut to, &smooth).map_err(|e| failed(&e))?;
        if resizer.size_of_internal_buffers() > MAX_KEPT_BYTES {
            resizer.reset_internal_buffers();
        }
        Ok::<(), Error>(())
    })?;
    Frame::from_raw(size, source.format(), to.into_vec())
}
