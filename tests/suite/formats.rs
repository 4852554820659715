//! One picture in many kinds of file.

use std::path::PathBuf;

use seechange::frame::{self, Pair};
use seechange::{Frame, Point, Size};

fn file(name: &str) -> PathBuf {
    folder().join(name)
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/formats")
}

/// The picture every file holds: grey `(32x + 3y) mod 256`.
fn grey(point: Point) -> u8 {
    u8::try_from((point.x * 32 + point.y * 3) % 256).unwrap()
}

fn check(name: &str, expected: impl Fn(u8) -> [u8; 4], apart: u8) {
    let frame = frame::read(&file(name)).unwrap();
    assert_eq!(frame.size(), Size::new(8, 6).unwrap(), "{name}");
    for point in (0..6).flat_map(|y| (0..8).map(move |x| Point::new(x, y))) {
        let (pixel, wanted) = (frame.as_ref().rgba(point), expected(grey(point)));
        let is_near = pixel.iter().zip(wanted).all(|(a, b)| a.abs_diff(b) <= apart);
        assert!(is_near, "{name} at {point}: {pixel:?} instead of {wanted:?}");
    }
}

#[test]
fn every_kind_of_file_decodes_to_the_same_picture() {
    for name in [
        "grey8.png",
        "grey16.png",
        "grey-alpha8.png",
        "grey-alpha16.png",
        "rgb8.png",
        "rgb8-filters.png",
        "rgb8-interlaced.png",
        "rgb16.png",
        "rgba8-filters.png",
        "rgba16.png",
        "palette8.png",
        "grey8-interlaced.png",
        "grey8-animated.png",
        "rgb8.bmp",
        "grey8.bmp",
        "rgb8.tiff",
        "grey8-lzw.tiff",
        "rgb8-deflate.tiff",
        "lossless.webp",
        "animated.gif",
        "rgb8.qoi",
    ] {
        check(name, |grey| [grey, grey, grey, 255], 0);
    }
}

#[test]
fn few_bits_hold_the_upper_ones() {
    for (name, bits) in [
        ("grey1.png", 1),
        ("grey2.png", 2),
        ("grey4.png", 4),
        ("grey4-interlaced.png", 4),
        ("palette1.png", 1),
        ("palette2.png", 2),
        ("palette4.png", 4),
    ] {
        let spread = |grey: u8| (grey >> (8 - bits)) * (255 / (255 >> (8 - bits)));
        check(name, |grey| [spread(grey), spread(grey), spread(grey), 255], 0);
    }
}

#[test]
fn a_colour_can_stand_for_transparency() {
    for name in ["grey8-trns.png", "rgb8-trns.png", "palette8-trns.png"] {
        check(name, |grey| [grey, grey, grey, if grey == 32 { 0 } else { 255 }], 0);
    }
}

#[test]
fn what_loses_a_little_is_near() {
    for name in ["lossy.webp", "progressive.jpg", "grey.jpg"] {
        check(name, |grey| [grey, grey, grey, 255], 16);
    }
}

#[test]
fn a_file_cut_in_half_is_an_error() {
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let whole = std::fs::read(&path).unwrap();
        assert!(frame::decode(&whole).is_ok(), "{}", path.display());
        for end in [16, whole.len() / 2, whole.len() / 4 * 3] {
            let error = frame::decode(&whole[..end]).map(|_| end).unwrap_err().to_string();
            assert!(error.starts_with("is no readable "), "{} {end}: {error}", path.display());
        }
    }
}

#[test]
fn a_png_cut_anywhere_or_with_a_bit_turned_in_what_matters_is_an_error() {
    for name in ["rgb8.png", "rgba8-filters.png", "palette4.png", "grey8-interlaced.png"] {
        let whole = std::fs::read(file(name)).unwrap();
        for end in 8..whole.len() {
            let error = frame::decode(&whole[..end]).map(|_| end).unwrap_err().to_string();
            assert!(error.contains("is no readable PNG picture"), "{name}, {end} bytes: {error}");
        }
        for at in 8..whole.len() {
            let mut turned = whole.clone();
            turned[at] ^= 4;
            let pixels = |bytes: &[u8]| frame::decode(bytes).map(|frame| frame.data().to_vec());
            if let Ok(pixels_now) = pixels(&turned) {
                assert_eq!(pixels_now, pixels(&whole).unwrap(), "{name}, byte {at}");
            }
        }
    }
}

#[test]
fn a_photograph_cut_short_is_an_error() {
    let whole = std::fs::read(file("turned.jpg")).unwrap();
    assert!(frame::decode(&whole).is_ok());
    for end in (whole.len() / 2..whole.len() - 1).step_by(7) {
        let message = frame::decode(&whole[..end]).unwrap_err().to_string();
        assert!(message.contains("is no readable JPEG picture"), "{end} bytes: {message}");
    }
}

#[test]
fn a_turned_photograph_is_shown_upright() {
    let frame = frame::read(&file("turned.jpg")).unwrap();
    assert_eq!(frame.size(), Size::new(8, 16).unwrap());
    let red = |y| frame.as_ref().rgba(Point::new(4, y))[0];
    assert!(red(2) > 250 && red(13) < 5, "white above, black below: {} {}", red(2), red(13));
}

/// Where each kind of file says how large its picture is, made to say 16000x16000.
fn lying(name: &str) -> Vec<u8> {
    let mut bytes = std::fs::read(file(name)).unwrap();
    let (big, little) = (16_000_u16.to_be_bytes(), 16_000_u16.to_le_bytes());
    match name {
        "progressive.jpg" => {
            let at = bytes.windows(2).position(|two| two == [0xFF, 0xC2]).unwrap() + 5;
            bytes[at..at + 4].copy_from_slice(&[big, big].concat());
        }
        "grey8.png" => {
            bytes[16..24].copy_from_slice(&[0, 0, big[0], big[1], 0, 0, big[0], big[1]]);
            let checksum = crc32(&bytes[12..29]).to_be_bytes();
            bytes[29..33].copy_from_slice(&checksum);
        }
        "rgb8.qoi" => {
            bytes[4..12].copy_from_slice(&[0, 0, big[0], big[1], 0, 0, big[0], big[1]]);
        }
        "animated.gif" => bytes[6..10].copy_from_slice(&[little, little].concat()),
        "rgb8.bmp" => {
            let both = [little[0], little[1], 0, 0, little[0], little[1], 0, 0];
            bytes[18..26].copy_from_slice(&both);
        }
        "lossy.webp" => bytes[26..30].copy_from_slice(&[little, little].concat()),
        "lossless.webp" => {
            let sizes = (16_000_u32 - 1) | ((16_000 - 1) << 14);
            bytes[21..25].copy_from_slice(&sizes.to_le_bytes());
        }
        _ => unreachable!("no way is known to make {name} lie"),
    }
    bytes
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
fn a_few_bytes_that_declare_many_pixels_are_refused() {
    for (name, format) in [
        ("progressive.jpg", "JPEG"),
        ("grey8.png", "PNG"),
        ("rgb8.qoi", "QOI"),
        ("animated.gif", "GIF"),
        ("rgb8.bmp", "BMP"),
        ("lossy.webp", "WEBP"),
        ("lossless.webp", "WEBP"),
    ] {
        let bytes = lying(name);
        let message = frame::decode(&bytes).unwrap_err().to_string();
        let wanted = format!(
            "is no readable {format} picture: it declares 16000x16000 pixels, more than its {} \
             bytes can hold",
            bytes.len()
        );
        assert_eq!(message, wanted, "{name}");
    }
}

/// `rgb8.png` with its compressed data made nonsense and the checksum made right again.
fn well_packed_nonsense() -> Vec<u8> {
    let mut bytes = std::fs::read(file("rgb8.png")).unwrap();
    let at = bytes.windows(4).position(|four| four == b"IDAT").unwrap();
    let length = u32::from_be_bytes(bytes[at - 4..at].try_into().unwrap()) as usize;
    bytes[at + 4..at + 4 + length].fill(0xAA);
    let checksum = crc32(&bytes[at..at + 4 + length]).to_be_bytes();
    bytes[at + 4 + length..at + 8 + length].copy_from_slice(&checksum);
    bytes
}

#[test]
fn files_of_the_same_bytes_are_told_by_their_container_alone() {
    let folder = tempfile::tempdir().unwrap();
    let pair = |bytes: &[u8], other: &[u8]| {
        let (before, after) = (folder.path().join("before"), folder.path().join("after"));
        std::fs::write(&before, bytes).unwrap();
        std::fs::write(&after, other).unwrap();
        frame::read_pair(&before, &after).map_err(|error| error.to_string())
    };
    let read = |name: &str| std::fs::read(file(name)).unwrap();
    let size = |width, height| Ok(Pair::Identical(Size::new(width, height).unwrap()));
    for (bytes, wanted) in [
        (read("rgb8.png"), size(8, 6)),
        (read("turned.jpg"), size(8, 16)),
        (read("animated.gif"), size(8, 6)),
        // Its pixels are not looked at: nothing is decoded.
        (well_packed_nonsense(), size(8, 6)),
    ] {
        assert_eq!(pair(&bytes, &bytes), wanted);
    }
    let (whole, mut turned) = (read("rgb8.png"), read("rgb8.png"));
    turned[60] ^= 1;
    for (bytes, reason) in [
        (b"hello, world".to_vec(), "is not a picture"),
        (Vec::new(), "is empty"),
        (whole[..whole.len() - 9].to_vec(), "its end is missing"),
        (turned, "does not match"),
        (read("turned.jpg")[..300].to_vec(), "its end is missing"),
        (lying("rgb8.qoi"), "more than its 211 bytes can hold"),
    ] {
        let message = pair(&bytes, &bytes).unwrap_err();
        assert!(message.contains("before: ") && message.contains(reason), "{message}");
    }
    let other = pair(&whole, &read("rgb8-filters.png")).unwrap();
    let Pair::Decoded(before, after) = other else { panic!("{other:?}") };
    assert_eq!((before.size(), &before), (Size::new(8, 6).unwrap(), &after));
    assert!(pair(&whole, &well_packed_nonsense()).unwrap_err().contains("after: is no readable"));
}

#[test]
fn a_png_of_many_rows_and_chunks_is_inflated_window_by_window() {
    let size = Size::new(700, 900).unwrap();
    let mut frame = Frame::filled(size, seechange::PixelFormat::Rgba, [250, 250, 250, 255]);
    let mut state = 1_u32;
    for byte in frame.data_mut().iter_mut().step_by(3) {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *byte = byte.wrapping_sub(state.to_be_bytes()[0] / 3);
    }
    let png = frame::encode_png(&frame).unwrap();
    assert!(png.len() > 300_000, "{} bytes fit into one window", png.len());
    assert_eq!(frame::decode(&png).unwrap(), frame);
}

#[test]
fn equal_files_of_a_huge_picture_say_its_size() {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (folder.path().join("before.png"), folder.path().join("after.png"));
    let size = Size::new(5000, 4000).unwrap();
    let huge = Frame::filled(size, seechange::PixelFormat::Rgba, [250, 250, 250, 255]);
    frame::write_png(&before, &huge).unwrap();
    std::fs::copy(&before, &after).unwrap();
    assert_eq!(frame::read_pair(&before, &after).unwrap(), Pair::Identical(size));
}

#[test]
fn equal_files_that_are_cut_are_an_error_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let cut = |name: &str| {
        let whole = std::fs::read(file(name)).unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, &whole[..whole.len() / 4 * 3]).unwrap();
        path
    };
    for (name, format) in [
        ("rgb8.png", "PNG"),
        ("grey8-interlaced.png", "PNG"),
        ("progressive.jpg", "JPEG"),
        ("lossless.webp", "WEBP"),
        ("lossy.webp", "WEBP"),
        ("animated.gif", "GIF"),
        ("rgb8.bmp", "BMP"),
        ("rgb8.tiff", "TIFF"),
        ("rgb8.qoi", "QOI"),
    ] {
        let path = cut(name);
        let message = frame::read_pair(&path, &path).unwrap_err().to_string();
        let wanted = format!("{name}: is no readable {format} picture");
        assert!(message.contains(&wanted), "{message}");
    }
}
