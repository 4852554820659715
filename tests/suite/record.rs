//! What is recorded replays to the same answers, and what a wait keeps can be looked at.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use seechange::surface::replay::{Ended, FrameIds, RecordOptions, Recording, record};
use seechange::wait::{Condition, Moment, Outcome, WaitOptions, timeline_picture, wait};
use seechange::{Cancel, Clock, Frame, PixelFormat, Rect, Size, frame};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::seechange;

const WHITE: [u8; 4] = [255; 4];

/// A white frame of 320x200 with black boxes.
fn picture(boxes: &[Rect]) -> Frame {
    let size = Size::new(320, 200).unwrap();
    let mut frame = Frame::filled(size, PixelFormat::Rgba, WHITE);
    for part in boxes {
        for y in part.y()..part.bottom() {
            let start = (y * 320 + part.x()) as usize * 4;
            for pixel in frame.data_mut()[start..][..part.width() as usize * 4].chunks_mut(4) {
                pixel.copy_from_slice(&[0, 0, 0, 255]);
            }
        }
    }
    frame
}

/// A recording of pictures that begin at these times.
fn recording(pictures: &[(u64, Vec<Rect>)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = Vec::new();
    for (number, (at, boxes)) in pictures.iter().enumerate() {
        let file = format!("{number:04}.png");
        frame::write_png(&folder.path().join(&file), &picture(boxes)).unwrap();
        lines.push(json!({"at_ms": at, "file": file}));
    }
    let timeline = json!({"schema": "seechange.timeline/1", "frames": lines});
    std::fs::write(folder.path().join("timeline.json"), timeline.to_string()).unwrap();
    folder
}

fn rect(x: u32, y: u32, width: u32, height: u32) -> Rect {
    Rect::new(x, y, width, height).unwrap()
}

fn watched(folder: &Path, condition: &Condition, timeout: u64) -> Outcome {
    let clock = Clock::simulated();
    let mut surface = Recording::open(folder).unwrap().play(&clock, FrameIds::EachLook);
    let options = WaitOptions::new().timeout(Duration::from_millis(timeout)).filmstrip(true);
    wait(&mut surface, condition, &options, &clock, &Cancel::never()).unwrap()
}

/// A toast from 300 to 500 ms, then a large box that stays.
fn toast_then_box() -> TempDir {
    let toast = rect(200, 20, 80, 24);
    let page = rect(20, 60, 200, 120);
    recording(&[(0, vec![]), (300, vec![toast]), (500, vec![]), (700, vec![page])])
}

#[test]
fn a_filmstrip_has_the_looks_worth_keeping() {
    let outcome = watched(toast_then_box().path(), &Condition::changed(), 3000);
    assert!(outcome.is_met());
    let kept: Vec<(Moment, bool, Vec<Rect>)> = outcome
        .filmstrip
        .iter()
        .map(|one| (one.moment, one.frame == picture(&one.areas), one.areas.clone()))
        .collect();
    assert_eq!(
        kept,
        [
            (Moment::FirstLook, true, vec![]),
            (Moment::FirstChange, true, vec![rect(200, 20, 80, 24)]),
            (Moment::BiggestChange, true, vec![rect(20, 60, 200, 120)]),
        ]
    );
    let since = outcome.since.unwrap();
    assert_eq!(Some(since), outcome.onset);
    assert_eq!((outcome.hold.as_millis(), outcome.deadline.as_millis()), (250, 3000));
    assert!(outcome.met_at.unwrap() >= since + outcome.hold);
    // Nobody asked: nothing is kept.
    let clock = Clock::simulated();
    let folder = toast_then_box();
    let mut surface = Recording::open(folder.path()).unwrap().play(&clock, FrameIds::EachLook);
    let options = WaitOptions::new();
    let plain = wait(&mut surface, &Condition::changed(), &options, &clock, &Cancel::never());
    assert!(plain.unwrap().filmstrip.is_empty());
}

#[test]
fn a_long_restless_wait_keeps_few_frames() {
    // A hundred boxes that come one after the other, stay a while and go.
    let place = |number: u32| rect(number % 10 * 32, number / 10 * 20, 12, 8);
    let shown = |step: u32| (step.saturating_sub(40)..step.min(100)).map(place).collect();
    let pictures: Vec<(u64, Vec<Rect>)> =
        (0..150).map(|step| (u64::from(step) * 60, shown(step))).collect();
    let outcome = watched(recording(&pictures).path(), &Condition::stable(), 8000);
    let frames: HashSet<*const Frame> =
        outcome.transients.iter().filter_map(|one| one.frame.as_ref()).map(Arc::as_ptr).collect();
    assert!(outcome.transients.len() > 30, "{}", outcome.transients.len());
    assert!((1..=16).contains(&frames.len()), "{} frames", frames.len());
    assert_eq!(outcome.filmstrip.len(), 3);
}

#[test]
fn the_picture_of_a_timeline_shows_what_moved_where() {
    let folder = toast_then_box();
    let outcome = watched(folder.path(), &Condition::changed(), 3000);
    let drawn = timeline_picture(&outcome).unwrap();
    // 960 wide; four frames of 320x200 and what came and went need two rows.
    assert_eq!(drawn.size().width(), 960);
    let end = outcome.elapsed.as_micros();
    let strong =
        |x: u32, y: u32| drawn.as_ref().rgba(seechange::Point::new(x, y)) == [226, 0, 96, 255];
    let column = |at: Duration| 120 + u32::try_from(at.as_micros() * 816 / end).unwrap();
    let rows = |at: Duration| (0..280).filter(|y| strong(column(at), *y)).count();
    let moved: Vec<Duration> = outcome
        .timeline
        .entries()
        .filter(|entry| !entry.areas.is_empty())
        .map(|entry| entry.at)
        .collect();
    assert_eq!(moved.len(), 3, "the toast, its end, the page");
    for at in &moved {
        // The look itself takes 26 rows.
        assert!(rows(*at) >= 28, "{at:?}: {} rows", rows(*at));
    }
    assert_eq!(rows(Duration::from_millis(150)), 0, "nothing moved then");
    // Its height does not grow with the looks.
    let still = watched(recording(&[(0, vec![])]).path(), &Condition::changed(), 200_000);
    assert!(still.captures > 3000, "{}", still.captures);
    assert!(timeline_picture(&still).unwrap().size().height() < 500);
}

#[test]
fn the_pictures_of_a_wait_are_named_in_words_and_in_json() {
    let folder = toast_then_box();
    let root = folder.path();
    let arguments = ["wait", "changed", "--surface", "replay:.", "--out", "shown"];
    let told = seechange(root, &arguments);
    assert_eq!(told.code, Some(0), "{told:?}");
    let answer = seechange(root, &[&arguments[..], &["--json"]].concat()).json();
    let path = |value: &Value| value["path"].as_str().unwrap().to_owned();
    let mut paths: Vec<String> = answer["filmstrip"].as_array().unwrap().iter().map(path).collect();
    assert_eq!(
        paths,
        ["shown/first-look.png", "shown/first-change.png", "shown/biggest-change.png"]
    );
    assert_eq!(answer["filmstrip"][2]["moment"], "biggest_change");
    assert_eq!(
        answer["filmstrip"][2]["areas"],
        json!([{"x": 20, "y": 60, "width": 200, "height": 120}])
    );
    paths.extend([path(&answer["transients"][0]), path(&answer["last"])]);
    paths.push(answer["timeline_path"].as_str().unwrap().to_owned());
    assert_eq!(paths[3..], ["shown/transient-1.png", "shown/last.png", "shown/timeline.png"]);
    for path in &paths {
        assert!(told.stdout.contains(path), "{path} in {}", told.stdout);
        frame::read(&root.join(path)).unwrap();
    }
    assert_eq!(
        frame::read(&root.join("shown/last.png")).unwrap(),
        picture(&[rect(20, 60, 200, 120)])
    );
}

#[test]
fn evidence_is_kept_whatever_the_outcome() {
    for (frames, arguments, outcome) in [
        (
            r#"{"at_ms":0,"file":"a.png"},{"at_ms":200,"file":"hang"}"#,
            vec!["stable"],
            "capture_stalled",
        ),
        (
            r#"{"at_ms":0,"file":"a.png"},{"at_ms":200,"file":"b.png"}"#,
            vec!["matches", "c.png"],
            "geometry_changed",
        ),
        (
            r#"{"at_ms":0,"file":"a.png","id":1}"#,
            vec!["stable", "--frame-ids", "strict"],
            "source_stale",
        ),
        (r#"{"at_ms":0,"file":"a.png"}"#, vec!["changed", "--timeout", "1s"], "timed_out"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        frame::write_png(&root.join("a.png"), &picture(&[])).unwrap();
        frame::write_png(&root.join("c.png"), &picture(&[rect(5, 5, 50, 50)])).unwrap();
        let other = Frame::filled(Size::new(400, 200).unwrap(), PixelFormat::Rgba, WHITE);
        frame::write_png(&root.join("b.png"), &other).unwrap();
        let timeline = format!(r#"{{"schema":"seechange.timeline/1","frames":[{frames}]}}"#);
        std::fs::write(root.join("timeline.json"), timeline).unwrap();
        let fixed = ["wait"].into_iter().chain(arguments);
        let arguments: Vec<&str> =
            fixed.chain(["--surface", "replay:.", "--out", "o", "--json"]).collect();
        let told = seechange(root, &arguments);
        assert_eq!((told.code, &told.json()["outcome"]), (Some(1), &outcome.into()), "{told:?}");
        for name in ["timeline.png", "first-look.png", "last.png"] {
            assert!(root.join("o").join(name).is_file(), "{outcome}: {name}");
        }
    }
}

#[test]
fn a_recording_of_the_demo_answers_like_the_demo() {
    let root = tempfile::tempdir().unwrap();
    let told = seechange(root.path(), &["record", "new/demo", "--surface", "demo", "--for", "3s"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    assert!(told.stdout.starts_with("recorded 3.0 s: "), "{told:?}");
    for arguments in [
        &["stable"][..],
        &["stable", "--captures", "2", "--hold", "1s"],
        &["changed", "--timeout", "2s"],
    ] {
        let [live, again] = ["demo", "replay:new/demo"].map(|surface| {
            let arguments = [&["wait"], arguments, &["--json", "--surface", surface]].concat();
            seechange(root.path(), &arguments).json()
        });
        for field in ["outcome", "met_at_ms", "captures", "onset_ms", "standing"] {
            assert_eq!(live[field], again[field], "{arguments:?}: {field}");
        }
    }
}

/// Every line of every known timeline is recorded again from its replay, and the recording of the
/// recording answers as the timeline does.
#[test]
fn a_recording_of_a_recording_answers_alike() {
    let Some(folder) = crate::shared::folder("waits") else { return };
    let mut compared = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let original = entry.unwrap().path();
        if !original.join("timeline.json").is_file() {
            continue;
        }
        let original = Recording::open(&original).unwrap();
        let copy = tempfile::tempdir().unwrap();
        let clock = Clock::simulated();
        let mut surface = original.play(&clock, FrameIds::Strict);
        let options =
            RecordOptions::new().length(Duration::from_secs(4)).interval(Duration::from_millis(20));
        let cancel = Cancel::never();
        let done = record(&mut surface, copy.path(), &options, &clock, &cancel, &mut |_| {});
        assert_eq!(done.unwrap().ended, Ended::Time);
        let copy = Recording::open(copy.path()).unwrap();
        for condition in [Condition::stable(), Condition::changed()] {
            let kinds = [&original, &copy].map(|recording| {
                let clock = Clock::simulated();
                let mut surface = recording.play(&clock, FrameIds::Strict);
                let options = WaitOptions::new().timeout(Duration::from_secs(3));
                wait(&mut surface, &condition, &options, &clock, &Cancel::never()).unwrap().kind
            });
            assert_eq!(kinds[0], kinds[1], "{original:?} {condition:?}");
            compared += 1;
        }
    }
    assert!(compared > 40, "only {compared} answers were compared");
}
