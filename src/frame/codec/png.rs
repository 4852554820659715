//! The two kinds of PNG that screenshots are made of, 8-bit RGB and RGBA without interlacing,
//! decoded straight into a frame.
//!
//! The general decoder inflates into one buffer, reverses the filters there, copies each row out
//! and widens the picture to four bytes a pixel in another pass. Here a window that stays in cache
//! is inflated, and each row goes from there to its place in the frame: a quarter to a half of the
//! time. What lies in the file is checked as strictly: the checksum of every critical chunk
//! covers all compressed bytes, so that of the inflated bytes (Adler-32), which can only differ
//! when the encoder itself was wrong, is not computed.

use crate::error::{Error, Result};
use crate::frame::{BYTES_PER_PIXEL, Frame, PixelFormat, byte_length};
use crate::geometry::Size;

use super::general;
use super::plausible::{self, Bound};
use super::unfilter::{row_above_the_first, unfilter};
use super::upright::Orientation;

/// What every PNG file begins with.
pub(super) const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// How far back a deflate stream may point.
const HISTORY: usize = 32 << 10;
/// Inflated at a time: with the history it stays in the second-level cache.
const WINDOW: usize = 128 << 10;

/// A PNG file whose chunks are whole.
pub(crate) struct Png<'a> {
    bytes: &'a [u8],
    header: Header,
    orientation: Orientation,
    is_plain: bool,
    data: Vec<&'a [u8]>,
}

/// The declared size and the bytes that say how pixels are stored.
struct Header {
    width: u32,
    height: u32,
    depth: u8,
    colour: u8,
    interlace: u8,
}

impl<'a> Png<'a> {
    /// Walks all chunks of `bytes` up to the last and checks that they are whole; no pixel is
    /// looked at.
    ///
    /// # Errors
    /// When a chunk is cut short or missing, or a critical one does not match its checksum.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self> {
        let mut chunks = Chunks { rest: bytes.get(SIGNATURE.len()..).unwrap_or_default() };
        let first = chunks.next()?;
        let header = first.header().ok_or_else(|| damaged("its first chunk is no header"))?;
        let mut colours = None;
        let mut png = Self {
            bytes,
            is_plain: header.is_plain(),
            header,
            orientation: Orientation::UPRIGHT,
            data: Vec::new(),
        };
        loop {
            let chunk = chunks.next()?;
            palette(&png.header, &chunk, &mut colours)?;
            match &chunk.kind {
                b"IDAT" => png.data.push(chunk.data),
                b"IEND" => break,
                b"eXIf" => png.orientation = Orientation::of_exif(chunk.data),
                // A colour that stands for transparency, and below what only the general decoder
                // judges.
                b"tRNS" => png.is_plain = false,
                kind => png.is_plain &= kind == b"PLTE" || !chunk.is_critical(),
            }
        }
        if png.data.is_empty() { Err(damaged("it has no image data")) } else { Ok(png) }
    }

    /// How many bytes a pixel takes, at most, before it is one of a frame: none where rows go
    /// straight into it.
    #[cfg(feature = "cli")]
    pub(super) fn stored_bytes_a_pixel(&self) -> u64 {
        let channels = match self.header.colour {
            // With the transparency that a colour or a palette may have.
            0 | 4 => 2,
            _ => 4,
        };
        let bytes_a_channel = if self.header.depth == 16 { 2 } else { 1 };
        if self.is_plain { 0 } else { channels * bytes_a_channel }
    }

    /// The size of the upright picture.
    ///
    /// # Errors
    /// When it has no pixels or too many, or more than the file can hold.
    pub(super) fn upright_size(&self) -> Result<Size> {
        self.orientation.upright_size(self.size()?)
    }

    /// Makes `frame` the upright picture, in its memory where that is as large.
    ///
    /// # Errors
    /// As [`Self::upright_size`], and when the compressed data is damaged or ends too early; what
    /// the frame then shows is left open.
    pub(super) fn decode_into(&self, frame: &mut Frame) -> Result<()> {
        let size = self.size()?;
        if self.is_plain {
            Plain { header: &self.header, data: &self.data }.decode_into(size, frame)?;
        } else {
            *frame = general::decode(self.bytes, size)?;
        }
        *frame = self.orientation.turn(std::mem::take(frame))?;
        Ok(())
    }

    /// The declared size, which is plausible.
    fn size(&self) -> Result<Size> {
        let size = self.header.size()?;
        let bound = Bound::deflate(self.header.bits_per_pixel());
        plausible::check(bound, "PNG", self.bytes.len(), size)?;
        Ok(size)
    }
}

/// A PNG file of 8-bit RGB or RGBA, not interlaced, whose pixels are what is stored.
struct Plain<'a> {
    header: &'a Header,
    data: &'a [&'a [u8]],
}

impl Plain<'_> {
    fn decode_into(&self, size: Size, frame: &mut Frame) -> Result<()> {
        if frame.data().len() == byte_length(size) {
            frame.reshape(size, PixelFormat::Rgba);
        } else {
            // The old memory goes before there is new.
            *frame = Frame::default();
            *frame = Frame::from_raw(size, PixelFormat::Rgba, vec![0; byte_length(size)])?;
        }
        match self.header.colour {
            2 => self.rows::<3>(frame),
            _ => self.rows::<4>(frame),
        }
    }

    fn rows<const CHANNELS: usize>(&self, frame: &mut Frame) -> Result<()> {
        let width = frame.size().width() as usize;
        let mut rows = Rows::new(self.data, 1 + width * CHANNELS);
        let first = row_above_the_first::<CHANNELS>(width);
        let mut above = first.as_slice();
        for row in frame.data_mut().chunks_exact_mut(width * BYTES_PER_PIXEL) {
            let (filter, filtered) = rows.next()?;
            unfilter::<CHANNELS>(filter, filtered, above, row)
                .ok_or_else(|| damaged(&format!("a row has the unknown filter {filter}")))?;
            above = row;
        }
        Ok(())
    }
}

impl Header {
    fn size(&self) -> Result<Size> {
        Size::new(self.width, self.height)
    }

    /// Bits a pixel takes before compression.
    fn bits_per_pixel(&self) -> f64 {
        let channels = match self.colour {
            2 => 3.0,
            4 => 2.0,
            6 => 4.0,
            _ => 1.0,
        };
        channels * f64::from(self.depth.max(1))
    }

    fn is_plain(&self) -> bool {
        self.depth == 8 && matches!(self.colour, 2 | 6) && self.interlace == 0
    }
}

/// Checks what the general decoder takes on trust, and stops the program over: a palette is of whole
/// colours, and no more of them have a transparency than there are.
fn palette(header: &Header, chunk: &Chunk<'_>, colours: &mut Option<usize>) -> Result<()> {
    match &chunk.kind {
        b"PLTE" if !chunk.data.len().is_multiple_of(3) => {
            Err(damaged("its palette ends within a colour"))
        }
        b"PLTE" => {
            *colours = Some(chunk.data.len() / 3);
            Ok(())
        }
        b"tRNS" if header.colour == 3 && colours.is_some_and(|all| chunk.data.len() > all) => {
            Err(damaged("its palette has fewer colours than transparencies"))
        }
        _ => Ok(()),
    }
}

fn damaged(reason: &str) -> Error {
    Error::file(format!("is no readable PNG picture: {reason}"))
}

struct Chunk<'a> {
    kind: [u8; 4],
    data: &'a [u8],
}

impl Chunk<'_> {
    fn is_critical(&self) -> bool {
        self.kind[0].is_ascii_uppercase()
    }

    fn header(&self) -> Option<Header> {
        let &[w0, w1, w2, w3, h0, h1, h2, h3, depth, colour, 0, 0, interlace] = self.data else {
            return None;
        };
        let (width, height) =
            (u32::from_be_bytes([w0, w1, w2, w3]), u32::from_be_bytes([h0, h1, h2, h3]));
        (self.kind == *b"IHDR").then_some(Header { width, height, depth, colour, interlace })
    }
}

/// The chunks of a file, one after another.
struct Chunks<'a> {
    rest: &'a [u8],
}

impl<'a> Chunks<'a> {
    fn next(&mut self) -> Result<Chunk<'a>> {
        let chunk = self.split().ok_or_else(|| damaged("its end is missing"))?;
        let (chunk, checked, checksum) = chunk;
        if chunk.is_critical() && crc32fast::hash(checked) != checksum {
            let kind = String::from_utf8_lossy(&chunk.kind).escape_default().to_string();
            return Err(damaged(&format!("the checksum of its {kind} chunk does not match")));
        }
        Ok(chunk)
    }

    /// The next chunk, what its checksum covers, and the checksum.
    fn split(&mut self) -> Option<(Chunk<'a>, &'a [u8], u32)> {
        let (length, rest) = self.rest.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let (checked, rest) = rest.split_at_checked(length.checked_add(4)?)?;
        let (checksum, rest) = rest.split_first_chunk::<4>()?;
        self.rest = rest;
        let (kind, data) = checked.split_first_chunk::<4>()?;
        Some((Chunk { kind: *kind, data }, checked, u32::from_be_bytes(*checksum)))
    }
}

/// The filtered rows of a picture, inflated a window at a time.
struct Rows<'a> {
    inflater: fdeflate::Decompressor,
    input: &'a [u8],
    later: &'a [&'a [u8]],
    window: Vec<u8>,
    /// What is inflated and not yet handed out.
    ready: std::ops::Range<usize>,
    row_bytes: usize,
}

impl<'a> Rows<'a> {
    fn new(data: &'a [&'a [u8]], row_bytes: usize) -> Self {
        let mut inflater = fdeflate::Decompressor::new();
        inflater.ignore_adler32();
        let window = vec![0; HISTORY + WINDOW + 2 * row_bytes];
        Self { inflater, input: &[], later: data, window, ready: 0..0, row_bytes }
    }

    /// The filter of the next row, and its bytes.
    fn next(&mut self) -> Result<(u8, &[u8])> {
        while self.ready.len() < self.row_bytes {
            self.inflate()?;
        }
        let start = self.ready.start;
        self.ready.start += self.row_bytes;
        let row = &self.window[start..self.ready.start];
        Ok((row[0], &row[1..]))
    }

    fn inflate(&mut self) -> Result<()> {
        if self.ready.end == self.window.len() {
            self.make_room();
        }
        while let (true, [next, later @ ..]) = (self.input.is_empty(), self.later) {
            (self.input, self.later) = (next, later);
        }
        let is_last = self.later.is_empty();
        let (read, written) = self
            .inflater
            .read(self.input, &mut self.window, self.ready.end, is_last)
            .map_err(|error| damaged(&format!("its image data is damaged ({error:?})")))?;
        if read == 0 && written == 0 {
            return Err(damaged("its image data ends before the last row"));
        }
        self.input = &self.input[read..];
        self.ready.end += written;
        Ok(())
    }

    /// Moves what is still needed to the start of the window.
    fn make_room(&mut self) {
        let keep = self.ready.start.min(self.ready.end - HISTORY);
        self.window.copy_within(keep..self.ready.end, 0);
        self.ready = self.ready.start - keep..self.ready.end - keep;
    }
}
