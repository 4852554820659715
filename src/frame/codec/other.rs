//! Every format but PNG, decoded by `image`.

use std::io::Cursor;

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat as FileFormat, ImageReader};

use crate::error::{Error, Result};
use crate::frame::{Frame, PixelFormat};
use crate::geometry::Size;

use super::{bounds, plausible};

/// A file of a known format whose end is there, where its format tells.
pub(crate) struct Other<'a> {
    bytes: &'a [u8],
    format: FileFormat,
}

impl<'a> Other<'a> {
    /// # Errors
    /// When `bytes` are no known format, or a JPEG without its end.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self> {
        let format = image::guess_format(bytes).map_err(|error| {
            Error::file("is not a picture (PNG, JPEG, WebP, BMP, TIFF, QOI and GIF are read)")
                .with_source(error)
        })?;
        if format == FileFormat::Jpeg && !is_whole_jpeg(bytes) {
            return Err(Error::file("is no readable JPEG picture: its end is missing"));
        }
        Ok(Self { bytes, format })
    }

    /// The size of the upright picture, of a file that is not cut short.
    ///
    /// # Errors
    /// As [`Self::decode`].
    pub(super) fn size_of_whole(&self) -> Result<Size> {
        match self.format {
            FileFormat::Jpeg => self.size(),
            _ => Ok(self.decode()?.size()),
        }
    }

    /// Whether its container tells that it is whole.
    #[cfg(feature = "cli")]
    pub(super) const fn is_jpeg(&self) -> bool {
        matches!(self.format, FileFormat::Jpeg)
    }

    /// The ending that files of this format have.
    #[cfg(feature = "cli")]
    pub(super) fn extension(&self) -> &'static str {
        self.format.extensions_str().first().copied().unwrap_or("picture")
    }

    /// Whether every browser shows pictures of this format.
    #[cfg(feature = "cli")]
    pub(super) const fn is_for_browsers(&self) -> bool {
        use FileFormat::{Bmp, Gif, Jpeg, WebP};
        matches!(self.format, Jpeg | WebP | Bmp | Gif)
    }

    /// The size of the upright picture.
    ///
    /// # Errors
    /// When the header cannot be read or declares more than the file can hold.
    pub(super) fn size(&self) -> Result<Size> {
        let (mut decoder, size) = self.decoder()?;
        Ok(match decoder.orientation().map_err(|error| self.damaged(error))? {
            Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH => Size::new(size.height(), size.width())?,
            _ => size,
        })
    }

    /// The upright picture.
    ///
    /// # Errors
    /// When the file is damaged or declares more pixels than it can hold or than are read.
    pub(super) fn decode(&self) -> Result<Frame> {
        let damaged = |error| self.damaged(error);
        let (mut decoder, size) = self.decoder()?;
        decoder.set_limits(limits(size)).map_err(damaged)?;
        let orientation = decoder.orientation().map_err(damaged)?;
        let mut picture = DynamicImage::from_decoder(decoder).map_err(damaged)?;
        picture.apply_orientation(orientation);
        let rgba = picture.into_rgba8();
        let size = Size::new(rgba.width(), rgba.height())?;
        Frame::from_raw(size, PixelFormat::Rgba, rgba.into_raw())
    }

    /// A decoder that has read the header, and the size as stored, which is plausible.
    fn decoder(&self) -> Result<(impl ImageDecoder + 'a, Size)> {
        let decoder = ImageReader::with_format(Cursor::new(self.bytes), self.format)
            .into_decoder()
            .map_err(|error| self.damaged(error))?;
        let (width, height) = decoder.dimensions();
        let size = Size::new(width, height)?;
        let bound = bounds::bound(self.format, self.bytes);
        plausible::check(bound, &self.name(), self.bytes.len(), size)?;
        Ok((decoder, size))
    }

    fn damaged(&self, error: image::ImageError) -> Error {
        let reason = error.to_string().replace('\n', " ");
        Error::file(format!("is no readable {} picture: {reason}", self.name())).with_source(error)
    }

    fn name(&self) -> String {
        format!("{:?}", self.format).to_uppercase()
    }
}

/// Whether an end marker follows the last scan: the decoder fills what is missing with grey. In
/// the scan itself a byte of 255 is always followed by zero or a restart marker.
fn is_whole_jpeg(bytes: &[u8]) -> bool {
    let last = |marker: [u8; 2]| bytes.windows(2).rposition(|two| two == marker);
    last([0xFF, 0xD9]) > last([0xFF, 0xDA])
}

/// Room for the picture at 16 bits a channel and a decoder's own buffers, and no more.
fn limits(size: Size) -> image::Limits {
    let mut limits = image::Limits::default();
    limits.max_alloc = Some(size.pixels() * 16 + (64 << 20));
    limits
}
