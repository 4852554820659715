//! One picture: pixels of four bytes in the channel order their source gave.
//!
//! On X11 converting a full frame costs two to five times its capture, so a frame keeps the order
//! it came in ([`PixelFormat`]), everything compares in that order, and only
//! [`Frame::to_rgba`] (for a picture that is written) converts.

#[cfg(feature = "png")]
mod codec;
mod into_frame;

#[cfg(feature = "png")]
pub use codec::{Pair, decode, encode_png, read, read_pair, write_png};
#[cfg(feature = "cli")]
pub(crate) use codec::{PictureFile, encode_indexed, read_bytes};
#[cfg(feature = "replay")]
pub(crate) use codec::{read_file, write_new, write_whole};
pub use into_frame::IntoFrame;

#[cfg(feature = "pictures")]
use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::geometry::{Point, Rect, Size};

/// Bytes a pixel takes in every format.
pub const BYTES_PER_PIXEL: usize = 4;

/// The order of a pixel's four bytes in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PixelFormat {
    /// Red, green, blue and straight (not premultiplied) alpha: decoded files.
    Rgba,
    /// Blue, green, red and a byte that means nothing: X11 captures.
    Bgrx,
}

impl PixelFormat {
    /// A pixel's bytes as red, green, blue, alpha; alpha is 255 where the format has none.
    #[must_use]
    pub const fn rgba(self, bytes: [u8; 4]) -> [u8; 4] {
        match self {
            Self::Rgba => bytes,
            Self::Bgrx => [bytes[2], bytes[1], bytes[0], u8::MAX],
        }
    }
}

/// An owned picture, rows tightly packed.
#[derive(Clone, PartialEq, Eq)]
pub struct Frame {
    size: Size,
    format: PixelFormat,
    data: Vec<u8>,
}

impl Frame {
    /// A frame from `width * height * 4` bytes, rows top to bottom without padding.
    ///
    /// # Errors
    /// When `data` has another length.
    pub fn from_raw(size: Size, format: PixelFormat, data: Vec<u8>) -> Result<Self> {
        let wanted = byte_length(size);
        if data.len() != wanted {
            return Err(Error::limit(format!(
                "a {size} frame takes {wanted} bytes, not {}",
                data.len()
            )));
        }
        Ok(Self { size, format, data })
    }

    /// A frame of one colour, given as red, green, blue, alpha.
    #[must_use]
    pub fn filled(size: Size, format: PixelFormat, rgba: [u8; 4]) -> Self {
        let data = format.rgba(rgba).repeat(byte_length(size) / BYTES_PER_PIXEL);
        Self { size, format, data }
    }

    /// Width and height.
    #[must_use]
    pub const fn size(&self) -> Size {
        self.size
    }

    /// The order of the bytes.
    #[must_use]
    pub const fn format(&self) -> PixelFormat {
        self.format
    }

    /// All bytes, rows top to bottom without padding.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// All bytes, to be written in [`Self::format`].
    pub fn data_mut(&mut self) -> &mut [u8] {
        &mut self.data
    }

    /// Gives the frame another size and format, keeping its memory; what its pixels then are is
    /// left open. For capture loops that allocate once.
    pub fn reshape(&mut self, size: Size, format: PixelFormat) {
        self.size = size;
        self.format = format;
        self.data.resize(byte_length(size), 0);
    }

    /// Makes this frame a copy of `other`, keeping its memory.
    pub fn copy_from(&mut self, other: FrameRef<'_>) {
        self.reshape(other.size, other.format);
        let row_bytes = other.row_bytes();
        for (to, y) in self.data.chunks_exact_mut(row_bytes).zip(0..) {
            to.copy_from_slice(other.row(y));
        }
    }

    /// A borrowed view of the whole frame.
    #[must_use]
    pub fn as_ref(&self) -> FrameRef<'_> {
        FrameRef {
            size: self.size,
            format: self.format,
            stride: self.size.width() as usize * BYTES_PER_PIXEL,
            data: &self.data,
        }
    }

    /// A copy of the part inside `rect`.
    ///
    /// # Errors
    /// When `rect` reaches outside the frame.
    pub fn crop(&self, rect: Rect) -> Result<Self> {
        Ok(self.as_ref().crop(rect)?.to_frame())
    }

    /// The same picture in [`PixelFormat::Rgba`].
    #[must_use]
    pub fn to_rgba(&self) -> Self {
        self.as_ref().to_rgba()
    }

    /// As [`Self::to_rgba`], in the memory of this one.
    pub(crate) fn into_rgba(mut self) -> Self {
        if self.format == PixelFormat::Bgrx {
            bgrx_to_rgba(&mut self.data);
            self.format = PixelFormat::Rgba;
        }
        self
    }
}

/// One transparent pixel: memory for a capture to fill.
impl Default for Frame {
    fn default() -> Self {
        Self { size: Size::ONE, format: PixelFormat::Rgba, data: vec![0; BYTES_PER_PIXEL] }
    }
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Frame({}, {:?})", self.size, self.format)
    }
}

/// A borrowed picture whose rows may lie further apart than they are wide.
#[derive(Clone, Copy)]
pub struct FrameRef<'a> {
    size: Size,
    format: PixelFormat,
    stride: usize,
    data: &'a [u8],
}

impl<'a> FrameRef<'a> {
    /// A view of `data`, whose rows start `stride` bytes apart.
    ///
    /// # Errors
    /// When `stride` is shorter than a row or `data` is too short for the last row.
    pub fn new(size: Size, format: PixelFormat, stride: usize, data: &'a [u8]) -> Result<Self> {
        let row_bytes = size.width() as usize * BYTES_PER_PIXEL;
        let wanted = (size.height() as usize - 1)
            .checked_mul(stride)
            .and_then(|bytes| bytes.checked_add(row_bytes));
        match wanted {
            Some(wanted) if stride >= row_bytes && data.len() >= wanted => {
                Ok(Self { size, format, stride, data })
            }
            _ => Err(Error::limit(format!(
                "{} bytes with a stride of {stride} do not hold a {size} frame",
                data.len()
            ))),
        }
    }

    /// Width and height.
    #[must_use]
    pub const fn size(self) -> Size {
        self.size
    }

    /// The order of the bytes.
    #[must_use]
    pub const fn format(self) -> PixelFormat {
        self.format
    }

    /// The bytes of row `y`, without padding.
    ///
    /// # Panics
    /// When `y` is not below the height.
    #[must_use]
    pub fn row(self, y: u32) -> &'a [u8] {
        let start = y as usize * self.stride;
        &self.data[start..start + self.row_bytes()]
    }

    /// The bytes of several rows where nothing lies between them; `None` where something does.
    pub(crate) fn rows(self, rows: std::ops::Range<u32>) -> Option<&'a [u8]> {
        let (start, count) = (rows.start as usize * self.stride, rows.len());
        let packed = self.stride == self.row_bytes() || count == 1;
        packed.then(|| &self.data[start..start + count * self.row_bytes()])
    }

    /// Red, green, blue, alpha of one pixel; alpha is 255 where the format has none.
    ///
    /// # Panics
    /// When `point` lies outside.
    #[must_use]
    pub fn rgba(self, point: Point) -> [u8; 4] {
        let start = point.x as usize * BYTES_PER_PIXEL;
        let row = self.row(point.y);
        self.format.rgba([row[start], row[start + 1], row[start + 2], row[start + 3]])
    }

    /// The part inside `rect`, without a copy.
    ///
    /// # Errors
    /// When `rect` reaches outside the frame.
    pub fn crop(self, rect: Rect) -> Result<Self> {
        if !self.size.rect().contains_rect(rect) {
            return Err(Error::usage(format!("region {rect} is outside the {} frame", self.size)));
        }
        let start = rect.y() as usize * self.stride + rect.x() as usize * BYTES_PER_PIXEL;
        Ok(Self { size: rect.size(), data: &self.data[start..], ..self })
    }

    /// Whether no pixel lets anything through.
    pub(crate) fn is_opaque(self) -> bool {
        // Whole rows, without a way out inside of one: these are looked at many pixels at a time.
        let is_opaque = |row: &[u8]| {
            let (pixels, _) = row.as_chunks::<BYTES_PER_PIXEL>();
            pixels.iter().fold(u8::MAX, |all, pixel| all & pixel[3]) == u8::MAX
        };
        self.format != PixelFormat::Rgba || (0..self.size.height()).all(|y| is_opaque(self.row(y)))
    }

    /// An owned copy.
    #[must_use]
    pub fn to_frame(self) -> Frame {
        let mut data = Vec::with_capacity(byte_length(self.size));
        for y in 0..self.size.height() {
            data.extend_from_slice(self.row(y));
        }
        Frame { size: self.size, format: self.format, data }
    }

    /// An owned copy in [`PixelFormat::Rgba`].
    #[must_use]
    pub fn to_rgba(self) -> Frame {
        self.to_frame().into_rgba()
    }

    /// All bytes, rows without padding: a copy only where the rows lie further apart.
    #[cfg(feature = "pictures")]
    pub(crate) fn packed(self) -> Cow<'a, [u8]> {
        if self.stride == self.row_bytes() {
            Cow::Borrowed(&self.data[..byte_length(self.size)])
        } else {
            Cow::Owned(self.to_frame().data)
        }
    }

    fn row_bytes(self) -> usize {
        self.size.width() as usize * BYTES_PER_PIXEL
    }
}

impl std::fmt::Debug for FrameRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FrameRef({}, {:?})", self.size, self.format)
    }
}

fn bgrx_to_rgba(data: &mut [u8]) {
    for pixel in data.chunks_exact_mut(BYTES_PER_PIXEL) {
        pixel.swap(0, 2);
        pixel[3] = u8::MAX;
    }
}

/// Cannot overflow: a [`Size`] has at most 2^28 pixels.
fn byte_length(size: Size) -> usize {
    size.width() as usize * size.height() as usize * BYTES_PER_PIXEL
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(width: u32, height: u32) -> Size {
        Size::new(width, height).unwrap()
    }

    #[test]
    fn raw_parts_must_fit() {
        let data = vec![0; 64];
        for (width, height, stride, ok) in
            [(4, 4, 16, true), (2, 4, 16, true), (4, 4, 15, false), (4, 5, 16, false)]
        {
            let made = FrameRef::new(size(width, height), PixelFormat::Rgba, stride, &data);
            assert_eq!(made.is_ok(), ok, "{width}x{height} stride {stride}");
        }
        assert!(FrameRef::new(size(1, 3), PixelFormat::Rgba, usize::MAX, &data).is_err());
        assert!(Frame::from_raw(size(4, 5), PixelFormat::Rgba, data).is_err());
    }

    #[test]
    fn formats_agree_on_a_pixel() {
        let frame = Frame::from_raw(size(1, 1), PixelFormat::Bgrx, vec![3, 2, 1, 77]).unwrap();
        assert_eq!(frame.as_ref().rgba(Point::new(0, 0)), [1, 2, 3, 255]);
        assert_eq!(frame.to_rgba().data(), [1, 2, 3, 255]);
    }

    #[test]
    fn a_crop_sees_its_own_pixels() {
        let data: Vec<u8> = (0..48).collect();
        let frame = Frame::from_raw(size(4, 3), PixelFormat::Rgba, data).unwrap();
        let crop = frame.crop(Rect::new(1, 1, 2, 2).unwrap()).unwrap();
        assert_eq!(crop.data(), [20, 21, 22, 23, 24, 25, 26, 27, 36, 37, 38, 39, 40, 41, 42, 43]);
        assert!(frame.crop(Rect::new(3, 1, 2, 2).unwrap()).is_err());
    }
}
