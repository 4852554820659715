//! `seechange bench`: its form, never its figures.

use std::fs;

use seechange::{Frame, PixelFormat, Size, frame};

use crate::command::seechange;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, height, dark) in [("before", 30, 0), ("after", 30, 20), ("taller", 31, 0)] {
        let size = Size::new(40, height).unwrap();
        let mut frame = Frame::filled(size, PixelFormat::Rgba, [255, 255, 255, 255]);
        frame.data_mut()[..4 * dark].fill(0);
        frame::write_png(&folder.path().join(name), &frame).unwrap();
    }
    folder
}

#[test]
fn every_stage_is_timed_and_the_verdict_is_no_exit_code() {
    let folder = folder();
    for (after, verdict, areas) in [("after", "changed", 1), ("before", "same", 0)] {
        let answer =
            seechange(folder.path(), &["bench", "before", after, "--rounds", "3", "--json"]);
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
        let bench = answer.json();
        assert_eq!(bench["schema"], "seechange.bench/1");
        assert_eq!(
            (bench["verdict"].as_str(), bench["areas"].as_u64()),
            (Some(verdict), Some(areas))
        );
        let stages = bench["stages"].as_array().unwrap();
        let names: Vec<&str> = stages.iter().map(|stage| stage["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["memcmp", "decode", "diff", "areas", "diff + areas", "pictures"]);
        for stage in stages {
            assert_eq!(stage["rounds"], 3, "{stage}");
            let [min, median] = ["min_ms", "median_ms"].map(|key| stage[key].as_f64().unwrap());
            assert!(0.0 <= min && min <= median, "{stage}");
        }
        assert_eq!(stages[0]["memcmp_ratio"], 1.0);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "nothing is written");
}

#[test]
fn pictures_of_two_sizes_are_timed_on_request() {
    let folder = folder();
    let answer = seechange(folder.path(), &["bench", "before", "taller", "--rounds", "1"]);
    let line = "seechange: pictures of 40x30 and 40x31 cannot be timed pixel by pixel: use \
                --common-part\n";
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(2), line));
    let arguments = ["bench", "before", "taller", "--rounds", "1", "--common-part", "--json"];
    let answer = seechange(folder.path(), &arguments);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let bench = answer.json();
    assert_eq!((&bench["verdict"], &bench["compared_pixels"]), (&"resized".into(), &1200.into()));
}
