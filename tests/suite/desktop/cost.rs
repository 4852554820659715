//! What a look and an event cost, printed for the record; nothing here fails on a slow machine.
//!
//! `cargo test --release --test suite cost -- --include-ignored --nocapture`

#![allow(clippy::print_stdout, reason = "printing is what this is for")]

use std::time::Duration;

use seechange::act::{Driver as _, InputEvent};
use seechange::wait::{Capture, Source as _};
use seechange::{DiffOptions, Differ, Point, Preset, Rect};

use super::harness::{Desktop, blank};

const ROUNDS: u32 = 100;

/// The shortest time `work` takes and the median: the one is the cost, the other tells how busy
/// the machine was.
fn cost(desktop: &Desktop, mut work: impl FnMut()) -> String {
    let mut times: Vec<_> = (0..ROUNDS)
        .map(|_| {
            let start = desktop.clock.now();
            work();
            desktop.clock.now() - start
        })
        .collect();
    times.sort();
    format!("{:?} (median {:?})", times[0], times[times.len() / 2])
}

#[test]
#[ignore = "needs Xvfb"]
fn capture_and_input_costs() {
    for options in [&[][..], &["-extension", "MIT-SHM"]] {
        let mut desktop = Desktop::bare("1280x800x24", options);
        desktop.spawn("xterm", &["-title", "cost", "-geometry", "100x30+50+50"]);
        let mut window = desktop.window("cost");
        let mut display = desktop.open();
        println!("Xvfb 1280x800 {options:?}");
        let took = cost(&desktop, || assert!(display.pointer().is_ok()));
        println!("  bare round trip: {took}");
        let region = Rect::new(100, 100, 300, 100).unwrap();
        for (what, area) in [("full frame", None), ("300x100 region", Some(region))] {
            let (mut before, mut after) = (blank(), blank());
            let mut differ = Differ::new(DiffOptions::preset(Preset::Live));
            let give_up = Duration::MAX;
            display.capture(area, give_up, &mut before).unwrap();
            let capture = cost(&desktop, || {
                let taken = display.capture(area, give_up, &mut after).unwrap();
                assert!(matches!(taken, Capture::Taken { .. }));
            });
            let compared = cost(&desktop, || {
                display.capture(area, give_up, &mut after).unwrap();
                differ.compare(before.as_ref(), after.as_ref()).unwrap();
            });
            println!("  {what}: capture {capture}, with compare {compared}");
        }
        let mut frame = blank();
        let part = Rect::new(10, 10, 300, 100).unwrap();
        let took = cost(&desktop, || {
            window.capture(Some(part), Duration::MAX, &mut frame).unwrap();
        });
        println!("  300x100 region of a window: {took}");
        let took = cost(&desktop, || assert!(display.geometry().is_ok()));
        println!("  geometry: {took}");
        let took = cost(&desktop, || display.send(InputEvent::Move(Point::new(5, 5))).unwrap());
        println!("  one move of the pointer: {took}");
        let took = cost(&desktop, || assert!(display.held().is_ok()));
        println!("  what is held: {took}");
        let took = cost(&desktop, || assert!(display.strokes_for('Q').is_ok()));
        println!("  the stroke of a letter: {took}");
    }
}
