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

use super::unfilter::{row_above_the_first, unfilter};

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// How far back a deflate stream may point.
const HISTORY: usize = 32 << 10;
/// Inflated at a time: with the history it stays in the second-level cache.
const WINDOW: usize = 128 << 10;

/// A PNG file whose chunks are whole.
pub(super) struct Png<'a> {
    header: Header,
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
        let mut png = Self { is_plain: header.is_plain(), header, data: Vec::new() };
        loop {
            let chunk = chunks.next()?;
            match &chunk.kind {
                b"IDAT" => png.data.push(chunk.data),
                b"IEND" => break,
                // A colour that stands for transparency, an orientation, and below what only the
                // general decoder judges.
                b"tRNS" | b"eXIf" => png.is_plain = false,
                kind => png.is_plain &= kind == b"PLTE" || !chunk.is_critical(),
            }
        }
        if png.data.is_empty() { Err(damaged("it has no image data")) } else { Ok(png) }
    }

    /// The declared size.
    ///
    /// # Errors
    /// When it has no pixels or too many.
    pub(super) fn size(&self) -> Result<Size> {
        self.header.size()
    }

    /// Bits a pixel takes before compression.
    pub(super) fn bits_per_pixel(&self) -> f64 {
        let channels = match self.header.colour {
            2 => 3.0,
            4 => 2.0,
            6 => 4.0,
            _ => 1.0,
        };
        channels * f64::from(self.header.depth.max(1))
    }

    /// This file, when it is one of the two plain kinds.
    pub(super) fn plain(&self) -> Option<Plain<'_>> {
        self.is_plain.then_some(Plain { header: &self.header, data: &self.data })
    }
}

/// A PNG file of 8-bit RGB or RGBA, not interlaced, whose pixels are what is stored.
pub(super) struct Plain<'a> {
    header: &'a Header,
    data: &'a [&'a [u8]],
}

impl Plain<'_> {
    /// The declared size.
    ///
    /// # Errors
    /// When it has no pixels or too many.
    pub(super) fn size(&self) -> Result<Size> {
        self.header.size()
    }

    /// The picture.
    ///
    /// # Errors
    /// As [`Self::size`], and when the compressed data is damaged or ends before the last row.
    pub(super) fn decode(&self) -> Result<Frame> {
        let size = self.size()?;
        match self.header.colour {
            2 => self.rows::<3>(size),
            _ => self.rows::<4>(size),
        }
    }

    fn rows<const CHANNELS: usize>(&self, size: Size) -> Result<Frame> {
        let mut rows = Rows::new(self.data, 1 + size.width() as usize * CHANNELS);
        let stride = size.width() as usize * BYTES_PER_PIXEL;
        let mut data = vec![0; byte_length(size)];
        let first = row_above_the_first::<CHANNELS>(size.width() as usize);
        let mut above = first.as_slice();
        for row in data.chunks_exact_mut(stride) {
            let (filter, filtered) = rows.next()?;
            unfilter::<CHANNELS>(filter, filtered, above, row)
                .ok_or_else(|| damaged(&format!("a row has the unknown filter {filter}")))?;
            above = row;
        }
        Frame::from_raw(size, PixelFormat::Rgba, data)
    }
}

impl Header {
    fn size(&self) -> Result<Size> {
        Size::new(self.width, self.height)
    }

    fn is_plain(&self) -> bool {
        self.depth == 8 && matches!(self.colour, 2 | 6) && self.interlace == 0
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
