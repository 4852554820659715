//! `seechange diff`, as a person and as a program see it.

use std::fs;
use std::path::Path;

use seechange::{Frame, PixelFormat, Rect, Size, frame};
use serde_json::json;

use crate::command::seechange;

fn picture(size: (u32, u32), black: &[Rect]) -> Frame {
    let size = Size::new(size.0, size.1).unwrap();
    let mut frame = Frame::filled(size, PixelFormat::Rgba, [255, 255, 255, 255]);
    for rect in black {
        for y in rect.y()..rect.bottom() {
            let start = (y * size.width() + rect.x()) as usize * 4;
            for pixel in
                frame.data_mut()[start..start + rect.width() as usize * 4].chunks_exact_mut(4)
            {
                pixel[..3].fill(0);
            }
        }
    }
    frame
}

fn write(folder: &Path, name: &str, size: (u32, u32), black: &[(u32, u32, u32, u32)]) {
    let black: Vec<Rect> =
        black.iter().map(|&(x, y, w, h)| Rect::new(x, y, w, h).unwrap()).collect();
    frame::write_png(&folder.join(name), &picture(size, &black)).unwrap();
}

/// white.png, and box.png, caret.png and taller.png that differ from it by what they are named for.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "white.png", (200, 100), &[]);
    write(folder.path(), "box.png", (200, 100), &[(20, 30, 16, 16), (120, 30, 40, 10)]);
    write(folder.path(), "caret.png", (200, 100), &[(50, 50, 1, 16)]);
    write(folder.path(), "taller.png", (200, 101), &[]);
    folder
}

#[test]
fn verdicts_and_exit_codes() {
    let folder = folder();
    for (arguments, code, verdict) in [
        (vec!["white.png", "white.png"], 0, "same"),
        (vec!["white.png", "box.png"], 1, "changed"),
        (vec!["white.png", "box.png", "--region", "0,60,200,40"], 0, "same"),
        (vec!["white.png", "box.png", "--ignore", "0,0,200,60"], 0, "same"),
        (vec!["white.png", "box.png", "--max-changed-pixels", "656"], 0, "same"),
        (vec!["white.png", "box.png", "--max-changed-pixels", "655"], 1, "changed"),
        (vec!["white.png", "box.png", "--tolerance", "channel:255"], 1, "changed"),
        (vec!["white.png", "caret.png"], 1, "changed"),
        (vec!["white.png", "caret.png", "--preset", "live"], 0, "same"),
        (vec!["white.png", "caret.png", "--preset", "exact"], 1, "changed"),
        (vec!["white.png", "taller.png"], 1, "resized"),
        (vec!["white.png", "taller.png", "--common-part"], 1, "resized"),
    ] {
        let arguments: Vec<&str> =
            ["diff"].into_iter().chain(arguments).chain(["--json"]).collect();
        let answer = seechange(folder.path(), &arguments);
        assert_eq!(answer.code, Some(code), "{arguments:?}: {answer:?}");
        assert_eq!(answer.json()["verdict"], verdict, "{arguments:?}");
        assert_eq!(answer.stdout.lines().count(), 1, "one object on one line");
    }
    let names = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names, 4, "without --out nothing is written");
}

#[test]
fn files_of_the_same_bytes_are_answered_as_equal_pixels_are() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let mut bytes = fs::read(path("box.png")).unwrap();
    fs::write(path("copy.png"), &bytes).unwrap();
    bytes.push(0);
    fs::write(path("longer.png"), bytes).unwrap();
    for more in [
        vec![],
        vec!["--region", "10,10,50,50", "--ignore", "0,0,20,20"],
        vec!["--region", "190,0,20,10"],
        vec!["--ignore", "0,0,200,100"],
        vec!["--mask", "taller.png"],
        vec!["--out", "shown"],
    ] {
        let diff = |after: &str| {
            let drawn =
                seechange(folder.path(), &["diff", "white.png", "box.png", "--out", "shown"]);
            assert_eq!(drawn.code, Some(1));
            let fixed = ["diff", "box.png", after, "--json"];
            let arguments: Vec<&str> = fixed.into_iter().chain(more.iter().copied()).collect();
            let answer = seechange(folder.path(), &arguments);
            let pictures = fs::read_dir(path("shown")).unwrap().count();
            (answer.code, answer.json(), answer.stderr, pictures)
        };
        assert_eq!(diff("copy.png"), diff("longer.png"), "{more:?}");
        assert_eq!(diff("copy.png"), diff("box.png"), "{more:?}");
    }
}

#[test]
fn the_json_names_every_area_and_picture() {
    let folder = folder();
    let answer =
        seechange(folder.path(), &["diff", "white.png", "box.png", "--json", "--out", "shown"]);
    let mut answer = answer.json();
    assert_eq!(answer["schema"], "seechange.diff/1");
    assert_eq!(
        answer["areas"].take(),
        json!([
            {"number": 1, "x": 120, "y": 30, "width": 40, "height": 10, "changed_pixels": 400,
             "max_delta": 255, "at_input_point": false},
            {"number": 2, "x": 20, "y": 30, "width": 16, "height": 16, "changed_pixels": 256,
             "max_delta": 255, "at_input_point": false},
        ])
    );
    assert_eq!(answer["changed_pixels"], 656);
    let pictures = answer["pictures"].take();
    for picture in pictures.as_array().unwrap() {
        let path = folder.path().join(picture["path"].as_str().unwrap());
        assert!(frame::read(&path).is_ok(), "{picture}");
    }
    let roles: Vec<&str> =
        pictures.as_array().unwrap().iter().map(|one| one["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["overview", "before", "after", "before", "after", "diff"]);
}

#[test]
fn trouble_is_one_line_and_exit_code_2() {
    let folder = folder();
    fs::write(folder.path().join("text.png"), "hello").unwrap();
    fs::write(folder.path().join("empty.png"), "").unwrap();
    let whole = fs::read(folder.path().join("box.png")).unwrap();
    fs::write(folder.path().join("half.png"), &whole[..whole.len() / 2]).unwrap();
    for (arguments, kind, part) in [
        (vec!["nowhere.png", "white.png"], "file", "nowhere.png: cannot be read"),
        (vec!["white.png", "text.png"], "file", "text.png: is not a picture"),
        (vec!["white.png", "empty.png"], "file", "empty.png: is empty"),
        (vec!["white.png", "half.png"], "file", "half.png: is no readable PNG picture"),
        (vec!["white.png", "."], "file", ".: is not a file"),
        (vec!["white.png"], "usage", "<AFTER>"),
        (vec!["white.png", "box.png", "--tolerance", "0.1"], "usage", "names no metric"),
        (vec!["white.png", "box.png", "--region", "190,0,20,10"], "usage", "outside the 200x100"),
        (vec!["white.png", "box.png", "--ignore", "0,0,200,100"], "impossible", "0 of the 20000"),
        (vec!["white.png", "box.png", "--mask", "taller.png"], "usage", "the mask is 200x101"),
        (vec!["white.png", "box.png", "--out", "white.png"], "file", "white.png: pictures cannot"),
    ] {
        let arguments: Vec<&str> = ["diff"].into_iter().chain(arguments).collect();
        let plain = seechange(folder.path(), &arguments);
        assert_eq!(plain.code, Some(2), "{arguments:?}: {plain:?}");
        assert_eq!(plain.stderr.lines().count(), 1, "{plain:?}");
        assert!(plain.stderr.starts_with("seechange: "), "{plain:?}");
        assert!(plain.stderr.contains(part), "{part:?} is not in {plain:?}");
        let with_json: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        let answer = seechange(folder.path(), &with_json).json();
        assert_eq!(answer["error"]["kind"], kind, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(part), "{answer}");
    }
}

#[test]
fn what_a_terminal_would_obey_is_escaped() {
    let answer = seechange(folder().path(), &["diff", "white.png", "a\nb\u{1b}[31m.png"]);
    let line = "seechange: a\\nb\\u{1b}[31m.png: cannot be read: no such file or directory\n";
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(2), line));
}

#[test]
fn help_and_version_are_no_trouble() {
    let folder = folder();
    for arguments in [vec!["--help"], vec!["--version"], vec!["diff", "--help"]] {
        let answer = seechange(folder.path(), &arguments);
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{arguments:?}");
        assert!(answer.stdout.contains("seechange"), "{answer:?}");
    }
    assert_eq!(seechange(folder.path(), &[]).code, Some(2));
}
