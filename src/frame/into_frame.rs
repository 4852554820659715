//! What can be given where a frame is wanted.

use crate::error::Result;
use crate::geometry::Size;

use super::{Frame, FrameRef, PixelFormat};

/// Something that is a picture, or becomes one.
///
/// Frames; `(width, height, bytes)` with four bytes a pixel, red, green, blue and straight alpha;
/// with the feature `png` the bytes of a PNG file; with the feature `image` an `image::RgbaImage`;
/// and an [`Outcome`](crate::wait::Outcome), which gives the frame it came to rest at, or its own
/// sentence as the error.
///
/// ```
/// use seechange::Size;
/// use seechange::frame::IntoFrame;
/// let frame = (2, 1, vec![255; 8]).into_frame()?;
/// assert_eq!(frame.size(), Size::new(2, 1)?);
/// let error = (2, 1, vec![255; 9]).into_frame().unwrap_err();
/// assert_eq!(error.to_string(), "a 2x1 frame takes 8 bytes, not 9");
/// # Ok::<(), seechange::Error>(())
/// ```
pub trait IntoFrame {
    /// The frame.
    ///
    /// # Errors
    /// When it is none: damaged bytes, too few of them, a wait that was not met.
    fn into_frame(self) -> Result<Frame>;
}

impl IntoFrame for Frame {
    fn into_frame(self) -> Result<Frame> {
        Ok(self)
    }
}

impl IntoFrame for &Frame {
    fn into_frame(self) -> Result<Frame> {
        Ok(self.clone())
    }
}

impl IntoFrame for FrameRef<'_> {
    fn into_frame(self) -> Result<Frame> {
        Ok(self.to_frame())
    }
}

impl IntoFrame for (u32, u32, Vec<u8>) {
    fn into_frame(self) -> Result<Frame> {
        Frame::from_raw(Size::new(self.0, self.1)?, PixelFormat::Rgba, self.2)
    }
}

impl IntoFrame for (u32, u32, &[u8]) {
    fn into_frame(self) -> Result<Frame> {
        (self.0, self.1, self.2.to_vec()).into_frame()
    }
}

#[cfg(feature = "png")]
impl IntoFrame for &[u8] {
    fn into_frame(self) -> Result<Frame> {
        super::decode(self)
    }
}

#[cfg(feature = "png")]
impl<const N: usize> IntoFrame for &[u8; N] {
    fn into_frame(self) -> Result<Frame> {
        super::decode(self)
    }
}

#[cfg(feature = "png")]
impl IntoFrame for &Vec<u8> {
    fn into_frame(self) -> Result<Frame> {
        super::decode(self)
    }
}

#[cfg(feature = "png")]
impl IntoFrame for Vec<u8> {
    fn into_frame(self) -> Result<Frame> {
        super::decode(&self)
    }
}

#[cfg(feature = "image")]
impl IntoFrame for image::RgbaImage {
    fn into_frame(self) -> Result<Frame> {
        (self.width(), self.height(), self.into_raw()).into_frame()
    }
}

#[cfg(feature = "image")]
impl IntoFrame for &image::RgbaImage {
    fn into_frame(self) -> Result<Frame> {
        (self.width(), self.height(), self.as_raw().as_slice()).into_frame()
    }
}

#[cfg(all(test, feature = "files"))]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_a_picture_becomes_the_same_frame() {
        let data: Vec<u8> = (0..24).collect();
        let size = Size::new(3, 2).unwrap();
        let frame = Frame::from_raw(size, PixelFormat::Rgba, data.clone()).unwrap();
        let png = crate::frame::encode_png(&frame).unwrap();
        let picture = image::RgbaImage::from_raw(3, 2, data.clone()).unwrap();
        for (what, made) in [
            ("&Frame", (&frame).into_frame()),
            ("FrameRef", frame.as_ref().into_frame()),
            ("bytes", (3, 2, data.clone()).into_frame()),
            ("borrowed bytes", (3, 2, data.as_slice()).into_frame()),
            ("a PNG file", png.as_slice().into_frame()),
            ("an owned PNG file", png.clone().into_frame()),
            ("a borrowed PNG file", (&png).into_frame()),
            ("RgbaImage", picture.clone().into_frame()),
            ("&RgbaImage", (&picture).into_frame()),
        ] {
            assert_eq!(made.unwrap(), frame, "{what}");
        }
    }
}
