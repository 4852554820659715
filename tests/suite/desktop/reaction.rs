//! How soon a wait sees what was painted, and what waiting costs, printed for the record; nothing
//! here fails on a slow machine.
//!
//! `SEECHANGE_MEASURE=1 cargo test --release --test suite reaction -- --include-ignored --nocapture`; otherwise it is skipped and says so.

#![allow(clippy::print_stdout, reason = "printing is what this is for")]

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use seechange::surface::x11::X11;
use seechange::wait::{
    Capture, Condition, Entry, Geometry, Source, WaitOptions, wait, wait_watched,
};
use seechange::{Cancel, Frame, Rect, Result};

use super::harness::{Desktop, is_asked_for};
use super::painter::Painter;

const ROUNDS: u32 = 200;
const MS: Duration = Duration::from_millis(1);
const WAITED: Duration = Duration::from_secs(10);

/// A display that does not tell damage.
struct Mute(X11);

impl Source for Mute {
    fn geometry(&mut self) -> Result<Geometry> {
        self.0.geometry()
    }

    fn capture(
        &mut self,
        region: Option<Rect>,
        give_up: Duration,
        frame: &mut Frame,
    ) -> Result<Capture> {
        self.0.capture(region, give_up, frame)
    }
}

/// From just before a box is painted to `met`, in order.
fn reactions(desktop: &Desktop, painter: &Painter, source: &mut dyn Source) -> Vec<Duration> {
    let condition = Condition::changed().captures(1).hold(Duration::ZERO);
    let clock = &desktop.clock;
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|round| {
            let (looked, has_looked) = mpsc::channel();
            thread::scope(|scope| {
                let painted = scope.spawn(move || {
                    has_looked.recv().unwrap();
                    // Out of step with the looks.
                    clock.sleep((100 + round * 37 % 83) * MS);
                    let now = clock.now();
                    painter.fill((20, 20, 30, 20), if round % 2 == 0 { 0 } else { 0xff_ffff });
                    now
                });
                let start = clock.now();
                let options = WaitOptions::new().seed(round.into());
                let mut watch = |_: &Entry| looked.send(()).unwrap_or_default();
                let never = Cancel::never();
                let outcome =
                    wait_watched(source, &condition, &options, clock, &never, &mut watch).unwrap();
                (start + outcome.met_at.unwrap()).saturating_sub(painted.join().unwrap())
            })
        })
        .collect();
    times.sort();
    times
}

/// The processor time of all threads of this process.
fn processor_time() -> Duration {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let used = |task: std::fs::DirEntry| -> Option<u64> {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse().ok()
    };
    Duration::from_nanos(tasks.flatten().filter_map(used).sum())
}

/// Waits for ten seconds for what does not come, and says how many looks and how much of one core
/// that took.
fn waited(desktop: &Desktop, source: &mut dyn Source) -> String {
    let condition = Condition::changed();
    let options = WaitOptions::new().timeout(WAITED);
    let before = processor_time();
    let outcome = wait(source, &condition, &options, &desktop.clock, &Cancel::never()).unwrap();
    let used = processor_time().saturating_sub(before);
    let share = used.as_secs_f64() / outcome.elapsed.as_secs_f64() * 100.0;
    format!("{share:.2} % of a core in {} looks ({})", outcome.captures, outcome.kind.name())
}

#[test]
#[ignore = "needs Xvfb"]
fn reaction_and_cost_of_waiting() {
    if !is_asked_for() {
        return;
    }
    let desktop = Desktop::bare("1280x800x24", &[]);
    let painter = Painter::on(&desktop, (100, 100, 300, 200));
    let mut sources: [(&str, Box<dyn Source>); 2] =
        [("with damage", Box::new(desktop.open())), ("without", Box::new(Mute(desktop.open())))];
    println!("Xvfb 1280x800, whole display");
    for (what, source) in &mut sources {
        let times = reactions(&desktop, &painter, &mut **source);
        let (p50, p95) = (times[times.len() / 2], times[times.len() * 95 / 100]);
        println!("  from paint to met, {what}: p50 {p50:?}, p95 {p95:?}");
    }
    for (what, source) in &mut sources {
        println!("  ten seconds, still, {what}: {}", waited(&desktop, &mut **source));
        let caret = || {
            for blink in 0..20 {
                painter.fill((200, 60, 2, 16), if blink % 2 == 0 { 0 } else { 0xff_ffff });
                desktop.clock.sleep(500 * MS);
            }
        };
        let told = thread::scope(|scope| {
            scope.spawn(caret);
            waited(&desktop, &mut **source)
        });
        println!("  ten seconds, a caret blinks, {what}: {told}");
    }
}
