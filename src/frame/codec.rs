//! Pictures in files: decoded with their size checked first, encoded as PNG.

mod plausible;
mod png;
mod unfilter;

use std::fs;
use std::io::{self, Cursor, Write as _};
use std::path::Path;

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::metadata::Orientation;
use image::{
    DynamicImage, ExtendedColorType, ImageDecoder, ImageEncoder, ImageFormat as FileFormat,
    ImageReader,
};

use crate::error::{Error, Result};
use crate::geometry::Size;

use super::{Frame, PixelFormat};
use png::Png;

/// Files past this many bytes are refused before they are read: 1 GiB.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// Reads a picture file: PNG, JPEG (turned upright by its EXIF orientation), WebP, BMP, TIFF, QOI
/// or GIF; of an animation, the first frame.
///
/// # Errors
/// When the file cannot be read, is no picture, is damaged, declares more pixels than its bytes
/// can hold, or is larger than [`MAX_PIXELS`](crate::geometry::MAX_PIXELS); the message names the
/// file and the format.
pub fn read(path: &Path) -> Result<Frame> {
    let named = |error: Error| error.context(path.display());
    let bytes = read_bytes(path).map_err(named)?;
    decode(&bytes).map_err(named)
}

/// Two picture files; see [`read_pair`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pair {
    /// The files are the same byte for byte: pictures of this size, which were not decoded.
    Identical(Size),
    /// The picture before and the one after.
    Decoded(Frame, Frame),
}

/// Reads two picture files, both at once.
///
/// Files that are the same byte for byte show the same picture, so no pixel of a PNG or a JPEG is
/// decoded: their containers tell whether they are whole. Of a PNG every chunk must be there and
/// every critical one must match its checksum, which covers all of the pixels; of a JPEG the end
/// must be there. A file of another format is decoded once, for only its pixels would tell that it
/// was cut short.
///
/// # Errors
/// As [`read`], for the file before first.
pub fn read_pair(before: &Path, after: &Path) -> Result<Pair> {
    let named = |path: &Path| {
        let path = path.to_owned();
        move |error: Error| error.context(path.display())
    };
    let (old, new) = rayon::join(|| read_bytes(before), || read_bytes(after));
    let (old, new) = (old.map_err(named(before))?, new.map_err(named(after))?);
    if old == new {
        return PictureFile::open(&old)
            .and_then(|file| file.size_of_whole())
            .map(Pair::Identical)
            .map_err(named(before));
    }
    let (old, new) = rayon::join(|| decode(&old), || decode(&new));
    Ok(Pair::Decoded(old.map_err(named(before))?, new.map_err(named(after))?))
}

fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let cannot = |error| Error::io("cannot be read", error);
    let metadata = fs::metadata(path).map_err(cannot)?;
    if !metadata.is_file() {
        return Err(Error::file("is not a file"));
    }
    if metadata.len() > MAX_FILE_BYTES {
        return Err(Error::limit(format!(
            "has {} bytes, more than the {MAX_FILE_BYTES} that are read",
            metadata.len()
        )));
    }
    fs::read(path).map_err(cannot)
}

/// Decodes a picture held in memory; see [`read`].
///
/// # Errors
/// When the bytes are no known format, are damaged, or declare too large a size. The size is
/// checked before any pixel is allocated.
pub fn decode(bytes: &[u8]) -> Result<Frame> {
    PictureFile::open(bytes)?.decode()
}

/// A picture file whose container is whole, as far as its format tells without decoding.
struct PictureFile<'a> {
    bytes: &'a [u8],
    format: FileFormat,
    png: Option<Png<'a>>,
}

impl<'a> PictureFile<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self> {
        if bytes.is_empty() {
            return Err(Error::file("is empty (0 bytes)"));
        }
        let format = image::guess_format(bytes).map_err(|error| {
            Error::file("is not a picture (PNG, JPEG, WebP, BMP, TIFF, QOI and GIF are read)")
                .with_source(error)
        })?;
        if format == FileFormat::Jpeg && !is_whole_jpeg(bytes) {
            return Err(Error::file("is no readable JPEG picture: its end is missing"));
        }
        let png = (format == FileFormat::Png).then(|| Png::open(bytes)).transpose()?;
        Ok(Self { bytes, format, png })
    }

    /// The size of the upright picture.
    fn size(&self) -> Result<Size> {
        if let Some(plain) = self.png.as_ref().and_then(Png::plain) {
            return self.plausible(plain.size()?);
        }
        let (mut decoder, size) = self.decoder()?;
        Ok(match decoder.orientation().map_err(|error| self.damaged(error))? {
            Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH => Size::new(size.height(), size.width())?,
            _ => size,
        })
    }

    /// The size of the upright picture, of a file that is not cut short.
    fn size_of_whole(&self) -> Result<Size> {
        match self.format {
            FileFormat::Png | FileFormat::Jpeg => self.size(),
            _ => Ok(self.decode()?.size()),
        }
    }

    fn decode(&self) -> Result<Frame> {
        if let Some(plain) = self.png.as_ref().and_then(Png::plain) {
            self.plausible(plain.size()?)?;
            return plain.decode();
        }
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
        // That of PNG reads more than the header before it tells a size.
        if let Some(png) = &self.png {
            self.plausible(png.size()?)?;
        }
        let decoder = ImageReader::with_format(Cursor::new(self.bytes), self.format)
            .into_decoder()
            .map_err(|error| self.damaged(error))?;
        let (width, height) = decoder.dimensions();
        Ok((decoder, self.plausible(Size::new(width, height)?)?))
    }

    /// `size`, unless the file is too small to hold it.
    fn plausible(&self, size: Size) -> Result<Size> {
        plausible::check(self.format, self.bytes, self.png.as_ref(), size)?;
        Ok(size)
    }

    fn damaged(&self, error: image::ImageError) -> Error {
        let reason = error.to_string().replace('\n', " ");
        Error::file(format!("is no readable {} picture: {reason}", name(self.format)))
            .with_source(error)
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

fn name(format: FileFormat) -> String {
    format!("{format:?}").to_uppercase()
}

/// Encodes a frame as PNG, quickly rather than small.
///
/// # Errors
/// Only when the encoder runs out of memory.
pub fn encode_png(frame: &Frame) -> Result<Vec<u8>> {
    let rgba = frame.to_rgba();
    let (data, colour) = if rgba.data().chunks_exact(4).all(|pixel| pixel[3] == u8::MAX) {
        let rgb: Vec<u8> =
            rgba.data().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
        (rgb, ExtendedColorType::Rgb8)
    } else {
        (rgba.data().to_vec(), ExtendedColorType::Rgba8)
    };
    let mut png = Vec::new();
    PngEncoder::new_with_quality(&mut png, CompressionType::Fast, FilterType::Adaptive)
        .write_image(&data, frame.size().width(), frame.size().height(), colour)
        .map_err(|error| Error::file("cannot be encoded as PNG").with_source(error))?;
    Ok(png)
}

/// Writes a frame to `path` as PNG, whole or not at all.
///
/// # Errors
/// When the file cannot be written; what stood there before is then still there.
pub fn write_png(path: &Path, frame: &Frame) -> Result<()> {
    let png = encode_png(frame)?;
    let part = path.with_extension("png.part");
    let written = write_new(&part, &png).and_then(|()| fs::rename(&part, path));
    written.map_err(|error| {
        // The error that matters is the one above; a part file that stays is harmless.
        drop(fs::remove_file(&part));
        Error::io(format!("{}: cannot be written", path.display()), error)
    })
}

/// Writes a file that is new: a link, a pipe or a file that stood there is removed, and what a
/// link points to stays as it is.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::File::create_new(path)?.write_all(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png_header(width: u32, height: u32) -> Vec<u8> {
        let size = Size::new(1, 1).unwrap();
        let frame = Frame::filled(size, PixelFormat::Rgba, [1, 2, 3, 4]);
        let mut png = encode_png(&frame).unwrap();
        png[16..20].copy_from_slice(&width.to_be_bytes());
        png[20..24].copy_from_slice(&height.to_be_bytes());
        let crc = crc32(&png[12..29]);
        png[29..33].copy_from_slice(&crc.to_be_bytes());
        png
    }

    /// The checksum of PNG chunks, bit by bit.
    fn crc32(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
                if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 }
            })
        })
    }

    #[test]
    fn what_is_written_reads_back() {
        let size = Size::new(3, 2).unwrap();
        for alpha in [255, 128] {
            let data: Vec<u8> = (0..6)
                .flat_map(|n| [n * 40, 255 - n, n, if n == 3 { alpha } else { 255 }])
                .collect();
            let frame = Frame::from_raw(size, PixelFormat::Rgba, data).unwrap();
            assert_eq!(decode(&encode_png(&frame).unwrap()).unwrap(), frame);
        }
    }

    #[test]
    fn a_link_in_the_way_is_replaced_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (mine, path) = (folder.path().join("mine"), folder.path().join("a.png"));
        fs::write(&mine, "precious").unwrap();
        for link in [path.with_extension("png.part"), path.clone()] {
            #[cfg(unix)]
            std::os::unix::fs::symlink(&mine, link).unwrap();
            write_png(&path, &Frame::default()).unwrap();
            assert_eq!(fs::read_to_string(&mine).unwrap(), "precious");
            assert_eq!(read(&path).unwrap(), Frame::default());
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn bad_bytes_say_what_is_wrong() {
        let whole = png_header(1, 1);
        for (bytes, part) in [
            (Vec::new(), "is empty"),
            (b"hello, world".to_vec(), "is not a picture"),
            (whole[..40].to_vec(), "is no readable PNG picture"),
            (png_header(100_000, 100_000), "100000x100000 picture is too large"),
            (png_header(9000, 9000), "is no readable PNG picture"),
        ] {
            let message = decode(&bytes).unwrap_err().to_string();
            assert!(message.contains(part), "{message:?} lacks {part:?}");
            assert!(!message.contains('\n'), "{message:?}");
        }
    }
}
