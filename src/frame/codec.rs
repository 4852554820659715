//! Pictures in files: decoded with their size checked first, encoded as PNG.

#[cfg(feature = "files")]
mod bounds;
mod encode;
mod general;
#[cfg(feature = "files")]
mod other;
mod plausible;
mod png;
mod unfilter;
mod upright;

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::geometry::Size;

#[cfg(feature = "cli")]
use super::BYTES_PER_PIXEL;
use super::Frame;
#[cfg(feature = "files")]
use other::Other;
use png::Png;

#[cfg(feature = "cli")]
pub(crate) use encode::encode_indexed;
pub use encode::encode_png;

/// Files past this many bytes are refused before they are read: 1 GiB.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// Reads a picture file: PNG, JPEG (turned upright by its EXIF orientation), WebP, BMP, TIFF, QOI
/// or GIF; of an animation, the first frame. Without the cargo feature `files`, PNG alone.
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

/// The bytes of a file that is one and not too large to be a picture.
///
/// # Errors
/// As [`read_file`].
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    read_file(path, MAX_FILE_BYTES)
}

/// The bytes of a file that is one and has at most so many: a pipe, which may never have any, is
/// not opened, and of a file that grows or tells no length no more are read.
///
/// # Errors
/// When it is not; the message does not name it.
pub(crate) fn read_file(path: &Path, most: u64) -> Result<Vec<u8>> {
    let cannot = |error| Error::io("cannot be read", error);
    let metadata = fs::metadata(path).map_err(cannot)?;
    if !metadata.is_file() {
        return Err(Error::file("is not a file"));
    }
    let length = metadata.len();
    if length > most {
        return Err(Error::limit(format!(
            "has {length} bytes, more than the {most} that are read"
        )));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    let opened = fs::File::open(path);
    opened.and_then(|file| file.take(most + 1).read_to_end(&mut bytes)).map_err(cannot)?;
    match bytes.len() as u64 > most {
        true => Err(Error::limit(format!("has more than the {most} bytes that are read"))),
        false => Ok(bytes),
    }
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
pub(crate) enum PictureFile<'a> {
    Png(Png<'a>),
    #[cfg(feature = "files")]
    Other(Other<'a>),
}

impl<'a> PictureFile<'a> {
    /// # Errors
    /// When `bytes` are no picture, or are cut short as far as their format tells.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self> {
        if bytes.is_empty() {
            return Err(Error::file("is empty (0 bytes)"));
        }
        if bytes.starts_with(png::SIGNATURE) {
            return Png::open(bytes).map(Self::Png);
        }
        #[cfg(feature = "files")]
        return Other::open(bytes).map(Self::Other);
        #[cfg(not(feature = "files"))]
        Err(Error::file("is not a PNG picture (others are read with the cargo feature `files`)"))
    }

    /// The ending that files of this format have.
    #[cfg(feature = "cli")]
    pub(crate) fn extension(&self) -> &'static str {
        match self {
            Self::Png(_) => "png",
            Self::Other(other) => other.extension(),
        }
    }

    /// Whether every browser shows pictures of this format.
    #[cfg(feature = "cli")]
    pub(crate) const fn is_for_browsers(&self) -> bool {
        match self {
            Self::Png(_) => true,
            Self::Other(other) => other.is_for_browsers(),
        }
    }

    /// How many bytes the frame of `size`, which is this file's, takes while it is decoded.
    #[cfg(feature = "cli")]
    pub(crate) fn decoding_bytes(&self, size: Size) -> u64 {
        // Other decoders give up to 16 bits a channel, which become a frame then.
        let stored = match self {
            Self::Png(png) => png.stored_bytes_a_pixel(),
            Self::Other(_) => 8,
        };
        size.pixels() * (stored + BYTES_PER_PIXEL as u64)
    }

    /// Whether [`Self::size_of_whole`] decodes no pixel.
    #[cfg(feature = "cli")]
    pub(crate) fn is_checked_whole(&self) -> bool {
        match self {
            Self::Png(_) => true,
            Self::Other(other) => other.is_jpeg(),
        }
    }

    /// The size of the upright picture.
    ///
    /// # Errors
    /// When the header cannot be read or declares more than the file can hold.
    #[cfg(feature = "cli")]
    pub(crate) fn size(&self) -> Result<Size> {
        match self {
            Self::Png(png) => png.upright_size(),
            Self::Other(other) => other.size(),
        }
    }

    /// The size of the upright picture, of a file that is not cut short.
    ///
    /// # Errors
    /// When the header cannot be read, declares more than the file can hold, or is cut short.
    pub(crate) fn size_of_whole(&self) -> Result<Size> {
        match self {
            Self::Png(png) => png.upright_size(),
            #[cfg(feature = "files")]
            Self::Other(other) => other.size_of_whole(),
        }
    }

    /// # Errors
    /// When the file is damaged.
    pub(crate) fn decode(&self) -> Result<Frame> {
        let mut frame = Frame::default();
        self.decode_into(&mut frame)?;
        Ok(frame)
    }

    /// Decodes into the memory of `frame` where the picture takes exactly that much.
    ///
    /// # Errors
    /// When the file is damaged; what the frame then shows is left open.
    pub(crate) fn decode_into(&self, frame: &mut Frame) -> Result<()> {
        match self {
            Self::Png(png) => png.decode_into(frame),
            #[cfg(feature = "files")]
            Self::Other(other) => {
                *frame = other.decode()?;
                Ok(())
            }
        }
    }
}

/// Writes a frame to `path` as PNG, whole or not at all.
///
/// # Errors
/// When the file cannot be written; what stood there before is then still there.
pub fn write_png(path: &Path, frame: &Frame) -> Result<()> {
    write_whole(path, &encode_png(frame)?)
}

/// Writes a file whole or not at all; what stood there is then still there.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    write_new(&part, bytes).and_then(|()| fs::rename(&part, path)).map_err(|error| {
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
    use ::png::{BitDepth, ColorType, Encoder};

    use super::*;
    use crate::frame::PixelFormat;

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

    #[cfg(unix)]
    #[test]
    fn what_has_no_end_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let (file, pipe) = (folder.path().join("file"), folder.path().join("pipe"));
        fs::write(&file, "12345").unwrap();
        let mut made = std::process::Command::new("mkfifo");
        assert!(made.arg(&pipe).status().unwrap().success());
        for (path, most, answer) in [
            (file.as_path(), 5, Ok(5)),
            (&file, 4, Err("has 5 bytes, more than the 4 that are read")),
            (&pipe, 5, Err("is not a file")),
            (folder.path(), 5, Err("is not a file")),
            (Path::new("/dev/zero"), 5, Err("is not a file")),
            // Its length says 0.
            (Path::new("/proc/self/maps"), 5, Err("has more than the 5 bytes that are read")),
            (&folder.path().join("gone"), 5, Err("cannot be read: no such file or directory")),
        ] {
            // Not every Unix has a /proc.
            if path.starts_with("/proc") && !path.exists() {
                continue;
            }
            let read = read_file(path, most).map(|bytes| bytes.len());
            let read = read.map_err(|error| error.to_string());
            assert_eq!(read, answer.map_err(str::to_owned), "{}", path.display());
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

    /// A PNG of one pixel of a palette, with these chunks before its data.
    fn png_with(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let mut png = Vec::new();
        let mut encoder = Encoder::new(&mut png, 1, 1);
        encoder.set_color(ColorType::Indexed);
        encoder.set_depth(BitDepth::Eight);
        encoder.set_palette(&[9, 8, 7]);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&[0]).unwrap();
        writer.finish().unwrap();
        let (header, palette) = (33, 12 + 3);
        let mut made = png[..header].to_vec();
        for (kind, data) in chunks {
            let checked = [kind.as_slice(), data].concat();
            made.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
            made.extend_from_slice(&checked);
            made.extend(crc32(&checked).to_be_bytes());
        }
        made.extend_from_slice(&png[header + palette..]);
        made
    }

    #[test]
    fn a_palette_is_of_whole_colours_and_covers_their_transparencies() {
        let ends_within = "is no readable PNG picture: its palette ends within a colour";
        let too_many =
            "is no readable PNG picture: its palette has fewer colours than transparencies";
        for (palette, transparency, answer) in [
            (&[9, 8, 7][..], &[6][..], Ok([9, 8, 7, 6])),
            (&[9, 8, 7, 1, 2, 3], &[6], Ok([9, 8, 7, 6])),
            (&[9, 8, 7, 1], &[6], Err(ends_within)),
            (&[9, 8, 7, 1, 2], &[6], Err(ends_within)),
            (&[9], &[6], Err(ends_within)),
            (&[9, 8, 7], &[6, 5], Err(too_many)),
            (&[9, 8, 7], &[6; 256], Err(too_many)),
        ] {
            let decoded = decode(&png_with(&[(b"PLTE", palette), (b"tRNS", transparency)]));
            let decoded = decoded.map(|frame| frame.data().to_vec());
            let decoded = decoded.map_err(|error| error.to_string());
            let answer = answer.map(|pixel| pixel.to_vec()).map_err(str::to_owned);
            assert_eq!(decoded, answer, "{palette:?} {transparency:?}");
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
