//! What a look and an event cost, printed for the record; nothing here fails on a slow machine.
//!
//! `SEECHANGE_MEASURE=1 cargo test --release --test suite cost -- --include-ignored --nocapture`; otherwise it is skipped and says so.

#![allow(clippy::print_stdout, reason = "printing is what this is for")]

use std::time::Duration;

use seechange::act::{
    Action, Driver as _, Executor, ExecutorOptions, ImagePoint, InputEvent, Key, Receipt, Request,
    Status,
};
use seechange::wait::{Capture, Source as _};
use seechange::{DiffOptions, Differ, Point, Preset, Rect};

use super::harness::{Desktop, blank, is_asked_for};

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
    if !is_asked_for() {
        return;
    }
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

/// What an action takes beside the input's own time and the wait until the screen has come to rest:
/// the checks, the two looks, the comparison, the cleanup.
fn overhead(receipt: &Receipt) -> Duration {
    let settled = receipt.wait.as_ref().map(|outcome| outcome.elapsed).unwrap_or_default();
    receipt.elapsed.saturating_sub(receipt.delivery.requested + settled)
}

/// `p50 … p95 …`
fn percentiles(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    format!("p50 {:?}, p95 {:?}", at(50), at(95))
}

/// `cargo test --release --test suite action_overhead -- --include-ignored --nocapture`; otherwise it is skipped and says so.
#[test]
#[ignore = "needs Xvfb"]
fn action_overhead() {
    let mut desktop = Desktop::managed();
    let (window, _) = desktop.catching_terminal();
    let display = desktop.open();
    let clock = desktop.clock.clone();
    for (what, mut surface) in [("the display, 1280x800", display), ("an xterm", window)] {
        println!("{what}");
        let options = ExecutorOptions::new();
        let mut executor = Executor::new(&mut surface, clock.clone(), options);
        let mut id = executor.observe().unwrap().id;
        let point = ImagePoint::new(60.0, 60.0).unwrap();
        let key: Key = "a".parse().unwrap();
        for (name, action) in [
            ("hover", Action::Hover { at: point }),
            ("click", Action::click(point)),
            ("key", Action::key(key)),
        ] {
            let (mut over, mut settled, mut whole) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                let receipt = executor.execute(&Request::new(action.clone(), id)).unwrap();
                assert_eq!(receipt.status, Status::Delivered, "{:?}", receipt.refusal);
                id = receipt.after.unwrap();
                over.push(overhead(&receipt));
                settled.push(receipt.wait.as_ref().unwrap().elapsed);
                whole.push(receipt.elapsed);
            }
            println!("  {name}: overhead {}", percentiles(over));
            println!("    until it came to rest {}", percentiles(settled));
            println!("    in all {}", percentiles(whole));
        }
    }
}
