use std::fs;
use std::path::Path;
use std::thread;

use super::*;
use crate::diff::Tolerance;
use crate::frame::{self, PixelFormat, encode_png};
use crate::geometry::{Point, Rect};
use crate::report::Preset;

fn white(width: u32, height: u32) -> Frame {
    Frame::filled(Size::new(width, height).unwrap(), PixelFormat::Rgba, [255; 4])
}

/// White, 40x30, with the first `pixels` of its third row that grey.
fn spotted(pixels: usize, grey: u8) -> Frame {
    let mut frame = white(40, 30);
    for pixel in frame.data_mut()[2 * 160..].chunks_exact_mut(4).take(pixels) {
        pixel[..3].fill(grey);
    }
    frame
}

fn files(folder: &Path) -> Vec<String> {
    let name =
        |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

/// The outside of an answer.
fn word(check: &Result<Check>) -> &'static str {
    match check {
        Ok(Check::Same(_)) => "same",
        Ok(Check::Written(Written { is_new: true, .. })) => "written",
        Ok(Check::Written(_)) => "replaced",
        Ok(Check::Missing(_)) => "missing",
        Ok(Check::Differs(_)) => "differs",
        Err(_) => "error",
    }
}

#[test]
fn goldens_are_written_when_asked_for() {
    use Update::{All, Differing, Missing, Never};
    // Of a golden there is none, an equal one, another one, one within the tolerance, no picture.
    let png = |frame: &Frame| Some(encode_png(frame).unwrap());
    let goldens = [
        ("none", None),
        ("equal", png(&spotted(9, 0))),
        ("other", png(&spotted(5, 0))),
        ("near", png(&spotted(9, 9))),
        ("damaged", Some(b"\x89PNG\r\n\x1a\nno".to_vec())),
    ];
    for (update, answers) in [
        (Never, ["missing", "same", "differs", "same", "error"]),
        (Missing, ["written", "same", "differs", "same", "error"]),
        (Differing, ["written", "same", "replaced", "same", "error"]),
        (All, ["written", "replaced", "replaced", "replaced", "replaced"]),
    ] {
        for ((what, golden), answer) in goldens.iter().zip(answers) {
            let folder = tempfile::tempdir().unwrap();
            let (path, at) = (folder.path().join("a.png"), format!("{what} with {update:?}"));
            golden.iter().for_each(|bytes| fs::write(&path, bytes).unwrap());
            // What a failure before left.
            fs::write(folder.path().join("a.diff.png"), "old").unwrap();
            let options = GoldenOptions::new().folder(folder.path()).update(update);
            let check = check_golden("a", spotted(9, 0), &options);
            assert_eq!(word(&check), answer, "{at}");
            let is_written = matches!(answer, "written" | "replaced");
            let stands = fs::read(&path).ok();
            let wanted = if is_written { png(&spotted(9, 0)) } else { golden.clone() };
            assert!(stands == wanted, "{at}: the golden is not what it should be");
            let left: &[&str] = match answer {
                "missing" => &["a.diff.png", "a.new.png"],
                "differs" => &["a.diff.png", "a.new.png", "a.png"],
                "error" => &["a.diff.png", "a.png"],
                _ => &["a.png"],
            };
            assert_eq!(files(folder.path()), left, "{at}");
        }
    }
}

#[test]
fn a_failure_says_all_there_is_to_know() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let options = GoldenOptions::new().folder(path).update(Update::Missing);
    check_golden("menu/open", white(40, 30), &options).unwrap();
    let check = check_golden("menu/open", spotted(9, 200), &options).unwrap();
    let test = "golden::check::tests::a_failure_says_all_there_is_to_know";
    let menu = path.join("menu").display().to_string();
    assert_eq!(
        check.to_string(),
        format!(
            "golden 'menu/open' differs: 9 pixels changed, 0 may\n\
             Pixels changed in 1 area (frame pixels; 0.75% of the frame):\n  \
             1. x=0 y=2 w=9 h=1\n\
             Changed pixels at other tolerances: exact 9, yiq:0.02 9, yiq:0.05 9, yiq:0.2 9, \
             yiq:0.4 0 (passes).\n\
             It passes with a budget of 9 pixels.\n  \
             golden {menu}/open.png\n  \
             new    {menu}/open.new.png\n  \
             diff   {menu}/open.diff.png\n\
             If the new picture is right, one of:\n  \
             SEECHANGE_UPDATE=1 cargo test {test}\n  \
             seechange accept {} menu/open.png",
            path.display()
        )
    );
    assert_eq!(frame::read(&path.join("menu/open.new.png")).unwrap(), spotted(9, 200));
    let diff = frame::read(&path.join("menu/open.diff.png")).unwrap();
    assert_eq!(diff.as_ref().rgba(Point::new(8, 2)), [226, 0, 96, 255]);
    assert_eq!(diff.as_ref().rgba(Point::new(9, 2)), [245, 245, 245, 255]);
    check_golden("menu/open", white(40, 30), &options).unwrap();
    assert_eq!(files(&path.join("menu")), ["open.png"]);
}

#[test]
fn another_size_says_both() {
    let folder = tempfile::tempdir().unwrap();
    let mask = white(40, 30);
    let options =
        GoldenOptions::new().folder(folder.path()).update(Update::Missing).mask(mask.as_ref());
    check_golden("a", white(40, 30), &options).unwrap();
    let text = check_golden("a", white(41, 32), &options).unwrap().to_string();
    assert!(text.starts_with("golden 'a' differs: it is 40x30 and the picture 41x32\n"), "{text}");
    assert!(!text.contains("tolerances"), "{text}");
    assert_eq!(files(folder.path()), ["a.diff.png", "a.new.png", "a.png"]);
}

#[test]
fn options_say_what_counts() {
    let folder = tempfile::tempdir().unwrap();
    let options = GoldenOptions::new().folder(folder.path()).update(Update::Missing);
    let rect = |text: &str| -> Rect { text.parse().unwrap() };
    check_golden("a", white(40, 30), &options).unwrap();
    let mut mask = white(40, 30);
    mask.data_mut()[2 * 160..3 * 160].copy_from_slice(&[0, 0, 0, 255].repeat(40));
    for (changed, what, options) in [
        (true, "the default", options.clone()),
        (true, "a budget of 8", options.clone().max_changed_pixels(8)),
        (false, "a budget of 9", options.clone().max_changed_pixels(9)),
        (true, "yiq:0.2", options.clone().tolerance(Tolerance::Yiq(0.2))),
        (false, "yiq:0.4", options.clone().tolerance(Tolerance::Yiq(0.4))),
        (false, "specks set aside", options.clone().preset(Preset::Live)),
        (false, "the row ignored", options.clone().ignore(rect("0,2,40,1"))),
        (true, "half the row ignored", options.clone().ignore(rect("0,2,5,1"))),
        (false, "a region elsewhere", options.clone().region(rect("0,3,40,9"))),
        (true, "a region there", options.clone().region(rect("0,2,40,9"))),
        (false, "the row masked", options.clone().mask(mask.as_ref())),
        (
            false,
            "the row ignored, then a preset",
            options.clone().ignore(rect("0,2,40,1")).preset(Preset::Exact),
        ),
    ] {
        let check = check_golden("a", spotted(9, 200), &options).unwrap();
        assert_eq!(!check.passes(), changed, "{what}: {check}");
    }
    let outside = options.clone().region(rect("30,0,40,9"));
    assert_eq!(
        check_golden("a", white(40, 30), &outside).unwrap_err().to_string(),
        "golden 'a': region x=30 y=0 w=40 h=9 is outside the 40x30 frame"
    );
}

#[test]
fn what_stands_in_the_way_is_an_error_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let options = GoldenOptions::new().folder(path).update(Update::Differing);
    fs::write(path.join("cut.png"), &encode_png(&white(9, 9)).unwrap()[..40]).unwrap();
    fs::write(path.join("lfs.png"), "version https://git-lfs.github.com/spec/v1\noid").unwrap();
    fs::create_dir(path.join("folder.png")).unwrap();
    let shown = path.display();
    let advice = "; restore it, or write it anew with SEECHANGE_UPDATE=force";
    for (name, message) in [
        ("cut", format!("{shown}/cut.png: is no readable PNG picture: its end is missing{advice}")),
        (
            "lfs",
            format!(
                "{shown}/lfs.png: is a pointer of Git LFS and no picture: fetch it with `git lfs \
                 pull`"
            ),
        ),
        ("folder", format!("{shown}/folder.png: is not a file{advice}")),
    ] {
        let before = files(path);
        let error = check_golden(name, white(9, 9), &options).unwrap_err();
        assert_eq!(error.to_string(), format!("golden '{name}': {message}"));
        assert_eq!(files(path), before, "{name}");
    }
    let error = check_golden("a", b"GIF89a..", &options).unwrap_err().to_string();
    assert!(error.starts_with("golden 'a': is no readable"), "{error}");
    let error = check_golden("../a", white(9, 9), &options).unwrap_err().to_string();
    assert!(error.starts_with("the golden name '../a' has the part '..'"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_link_is_replaced_and_what_it_leads_to_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (elsewhere, path) = (folder.path().join("elsewhere.png"), folder.path().join("a.png"));
    fs::write(&elsewhere, encode_png(&white(40, 30)).unwrap()).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    let options = GoldenOptions::new().folder(folder.path()).update(Update::Differing);
    assert_eq!(word(&check_golden("a", spotted(9, 0), &options)), "replaced");
    assert_eq!(frame::read(&elsewhere).unwrap(), white(40, 30));
    assert_eq!(frame::read(&path).unwrap(), spotted(9, 0));
}

#[test]
fn a_golden_is_whole_whenever_it_is_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let options = GoldenOptions::new().folder(folder.path()).update(Update::Differing);
    let pictures = [white(40, 30), spotted(400, 0)];
    thread::scope(|scope| {
        for picture in pictures.iter().cycle().take(8) {
            let options = &options;
            scope.spawn(move || {
                for _ in 0..20 {
                    assert!(check_golden("a", picture, options).unwrap().passes());
                }
            });
        }
    });
    assert!(pictures.contains(&frame::read(&folder.path().join("a.png")).unwrap()));
    assert_eq!(files(folder.path()), ["a.png"]);
}
