//! Pictures turned as their EXIF data says.

use crate::error::Result;
use crate::frame::{BYTES_PER_PIXEL, Frame};
use crate::geometry::Size;

/// The tag of the orientation in a TIFF directory, and the type of its value, a short.
const ORIENTATION: [u16; 2] = [0x0112, 3];

/// How a picture is stored: 1 upright, 2 to 8 mirrored or turned (TIFF 6.0, section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Orientation(u16);

impl Orientation {
    /// Upright.
    pub(super) const UPRIGHT: Self = Self(1);

    /// What the first directory of EXIF data says; upright where it says nothing that makes sense.
    pub(super) fn of_exif(exif: &[u8]) -> Self {
        match read(exif) {
            Some(value @ 1..=8) => Self(value),
            _ => Self::UPRIGHT,
        }
    }

    /// The size of the upright picture.
    ///
    /// # Errors
    /// Never for a size that is one.
    pub(super) fn upright_size(self, stored: Size) -> Result<Size> {
        if self.0 >= 5 { Size::new(stored.height(), stored.width()) } else { Ok(stored) }
    }

    /// The picture turned upright.
    ///
    /// # Errors
    /// As [`Self::upright_size`].
    pub(super) fn turn(self, stored: Frame) -> Result<Frame> {
        if self == Self::UPRIGHT {
            return Ok(stored);
        }
        let size = self.upright_size(stored.size())?;
        let mut data = Vec::with_capacity(stored.data().len());
        for (x, y) in (0..size.height()).flat_map(|y| (0..size.width()).map(move |x| (x, y))) {
            let (from_x, from_y) = self.source(stored.size(), x, y);
            let at = from_x as usize * BYTES_PER_PIXEL;
            data.extend_from_slice(&stored.as_ref().row(from_y)[at..at + BYTES_PER_PIXEL]);
        }
        Frame::from_raw(size, stored.format(), data)
    }

    /// Where the upright pixel (x, y) is stored.
    fn source(self, stored: Size, x: u32, y: u32) -> (u32, u32) {
        let (right, bottom) = (stored.width() - 1, stored.height() - 1);
        match self.0 {
            2 => (right - x, y),
            3 => (right - x, bottom - y),
            4 => (x, bottom - y),
            5 => (y, x),
            6 => (y, bottom - x),
            7 => (right - y, bottom - x),
            8 => (right - y, x),
            _ => (x, y),
        }
    }
}

/// The value of the orientation tag, if there is one.
fn read(exif: &[u8]) -> Option<u16> {
    let (is_big, rest) = match exif.first_chunk::<4>()? {
        b"MM\0*" => (true, exif),
        b"II*\0" => (false, exif),
        _ => return None,
    };
    let short = |at: usize| {
        let bytes = *rest.get(at..)?.first_chunk()?;
        Some(if is_big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    };
    let start = *rest.get(4..)?.first_chunk()?;
    let start = if is_big { u32::from_be_bytes(start) } else { u32::from_le_bytes(start) };
    let start = usize::try_from(start).ok().filter(|&start| start < rest.len())?;
    let entries = (0..usize::from(short(start)?)).map(|entry| start + 2 + entry * 12);
    for entry in entries {
        if [short(entry)?, short(entry + 2)?] == ORIENTATION {
            return short(entry + 8);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::PixelFormat;

    fn exif(order: &[u8], orientation: u8) -> Vec<u8> {
        let big = order == b"MM";
        let short = |value: u16| if big { value.to_be_bytes() } else { value.to_le_bytes() };
        let long = |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
        let mut bytes = order.to_vec();
        bytes.extend(short(42));
        bytes.extend(long(8));
        bytes.extend(short(2));
        for (tag, value) in [(0x0100, 7), (0x0112, u16::from(orientation))] {
            bytes.extend([short(tag), short(3)].concat());
            bytes.extend(long(1));
            bytes.extend([short(value), [0, 0]].concat());
        }
        bytes
    }

    #[test]
    fn the_orientation_is_read_in_either_byte_order() {
        for order in [b"MM", b"II"] {
            for (value, read) in [(1, 1), (6, 6), (8, 8), (0, 1), (9, 1)] {
                assert_eq!(Orientation::of_exif(&exif(order, value)), Orientation(read));
            }
            let whole = exif(order, 6);
            for end in 0..whole.len() - 4 {
                assert_eq!(Orientation::of_exif(&whole[..end]), Orientation::UPRIGHT, "{end}");
            }
        }
    }

    #[cfg(feature = "files")]
    #[test]
    fn pictures_turn_as_in_image() {
        let data: Vec<u8> = (0..24).collect();
        let size = Size::new(3, 2).unwrap();
        for value in 1..=8 {
            let stored = Frame::from_raw(size, PixelFormat::Rgba, data.clone()).unwrap();
            let turned = Orientation(u16::from(value)).turn(stored).unwrap();
            let picture = image::RgbaImage::from_raw(3, 2, data.clone()).unwrap();
            let mut picture = image::DynamicImage::from(picture);
            picture.apply_orientation(image::metadata::Orientation::from_exif(value).unwrap());
            assert_eq!(turned.data(), picture.as_bytes(), "{value}");
            assert_eq!(turned.size().width(), picture.width(), "{value}");
        }
    }
}
