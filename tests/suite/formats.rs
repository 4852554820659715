//! One picture in many kinds of file.

use std::path::PathBuf;

use seechange::{Point, Size, frame};

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/formats").join(name)
}

#[test]
fn every_kind_of_file_decodes_to_the_same_picture() {
    for name in [
        "grey8.png",
        "grey16.png",
        "grey-alpha8.png",
        "rgb8.png",
        "rgba16.png",
        "palette8.png",
        "grey8-interlaced.png",
        "grey8-animated.png",
        "rgb8.bmp",
        "rgb8.tiff",
        "lossless.webp",
        "animated.gif",
        "rgb8.qoi",
    ] {
        let frame = frame::read(&file(name)).unwrap();
        assert_eq!(frame.size(), Size::new(8, 6).unwrap(), "{name}");
        for (x, y) in (0..6).flat_map(|y| (0..8).map(move |x| (x, y))) {
            let grey = u8::try_from((x * 32 + y * 3) % 256).unwrap();
            let pixel = frame.as_ref().rgba(Point::new(x, y));
            assert_eq!(pixel, [grey, grey, grey, 255], "{name} at ({x}, {y})");
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
