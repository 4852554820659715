//! Twenty actions of a scripted desktop, each waited for in several ways: how long all take, and how
//! often a wait is over before the action is.
//!
//! `make waits` plays the scripts on a clock that jumps: the same answer every time. `make
//! waits-x11` plays one of them on a real display in real time.
//!
//! An action takes until its last effect is on the screen. A wait is *early* when its last look does
//! not show that. The program fails when the engine is early, or slower than it may be.

#![allow(clippy::print_stdout, reason = "printing is what this is for")]

mod desktop;
mod policies;
#[cfg(feature = "x11")]
mod real;
mod script;

use std::process::ExitCode;
use std::time::Duration;

use seechange::Rect;

use desktop::Action;
use policies::{Policy, Waited};

/// Scripts played on the clock that jumps.
const SEEDS: u64 = 20;

/// How much longer than the actions the engine's waits may take in all.
const MOST_TIMES: f64 = 1.3;

/// Every way but the engine's own.
const OTHERS: [Policy; 5] = [
    Policy::Sleep(500),
    Policy::Sleep(2000),
    Policy::Sleep(3000),
    Policy::TwoEqual,
    Policy::Quiet(500),
];

/// A way to wait for an action, on a surface of some kind.
pub(crate) type Play<'a> = dyn FnMut(Policy, &Action, Option<Rect>, u64) -> Waited + 'a;

fn main() -> ExitCode {
    let is_real = std::env::args().any(|argument| argument == "--x11");
    if is_real { on_x11() } else { simulated() }
}

fn simulated() -> ExitCode {
    println!("{SEEDS} scripts of twenty actions, on a clock that jumps; a look costs 3 ms\n");
    let mut is_fine = true;
    header();
    for tells_damage in [false, true] {
        let mut play = |policy, action: &Action, end, seed| {
            script::play(policy, action, end, seed, tells_damage)
        };
        let note = if tells_damage { ", damage told" } else { "" };
        let row = twenty(Policy::Stable, SEEDS, &mut play);
        row.print(&format!("seechange: {}{note}", Policy::Stable.name()));
        is_fine &= row.is_fine();
    }
    let mut play =
        |policy, action: &Action, end, seed| script::play(policy, action, end, seed, false);
    for policy in OTHERS {
        twenty(policy, SEEDS, &mut play).print(&policy.name());
    }
    println!("\nFour more that show nothing of what they are at until it is done\n");
    header();
    for policy in [Policy::Appears, Policy::Stable] {
        let row = silent(policy, SEEDS, &mut play);
        row.print(&format!("seechange: {}", policy.name()));
        is_fine &= policy == Policy::Stable || row.is_fine();
    }
    for policy in OTHERS {
        silent(policy, SEEDS, &mut play).print(&policy.name());
    }
    verdict(is_fine)
}

#[cfg(feature = "x11")]
fn on_x11() -> ExitCode {
    println!("One script of twenty actions on Xvfb, in real time\n");
    let mut stage = real::Stage::new();
    let mut play = |policy, action: &Action, end, seed| stage.play(policy, action, end, seed);
    header();
    let row = twenty(Policy::Stable, 1, &mut play);
    row.print(&format!("seechange: {}", Policy::Stable.name()));
    for policy in OTHERS {
        twenty(policy, 1, &mut play).print(&policy.name());
    }
    verdict(row.is_fine())
}

#[cfg(not(feature = "x11"))]
fn on_x11() -> ExitCode {
    println!("built without the feature x11");
    ExitCode::FAILURE
}

fn verdict(is_fine: bool) -> ExitCode {
    if is_fine {
        return ExitCode::SUCCESS;
    }
    println!("\nThe engine was early, gave up, or took more than {MOST_TIMES} times as long.");
    ExitCode::FAILURE
}

fn twenty(policy: Policy, seeds: u64, play: &mut Play<'_>) -> Row {
    let mut row = Row::default();
    for seed in 0..seeds {
        for action in desktop::twenty(seed) {
            let waited = play(policy, &action, None, seed);
            row.add(&action, waited, seed);
        }
    }
    row
}

fn silent(policy: Policy, seeds: u64, play: &mut Play<'_>) -> Row {
    let mut row = Row::default();
    for seed in 0..seeds {
        for (action, end) in desktop::silent(seed) {
            let waited = play(policy, &action, Some(end), seed);
            row.add(&action, waited, seed);
        }
    }
    row
}

/// What became of one way to wait.
#[derive(Default)]
struct Row {
    done: Duration,
    took: Duration,
    /// Of one script, what it took and how long its actions did.
    scripts: Vec<(Duration, Duration)>,
    actions: usize,
    early: Vec<&'static str>,
    gave_up: usize,
}

impl Row {
    fn add(&mut self, action: &Action, waited: Waited, seed: u64) {
        let done = Duration::from_millis(action.done_ms);
        let index = usize::try_from(seed).unwrap_or(usize::MAX);
        self.scripts.resize(self.scripts.len().max(index + 1), Default::default());
        self.scripts[index].0 += waited.took;
        self.scripts[index].1 += done;
        self.done += done;
        self.took += waited.took;
        self.actions += 1;
        self.gave_up += usize::from(waited.gave_up);
        if waited.last_look < done {
            self.early.push(action.name);
        }
    }

    fn times(&self) -> f64 {
        self.took.as_secs_f64() / self.done.as_secs_f64()
    }

    /// The script that took longest for what it was.
    fn worst(&self) -> f64 {
        let times = self.scripts.iter().map(|(took, done)| took.as_secs_f64() / done.as_secs_f64());
        times.fold(0.0, f64::max)
    }

    fn is_fine(&self) -> bool {
        self.early.is_empty() && self.gave_up == 0 && self.times() <= MOST_TIMES
    }

    fn print(&self, name: &str) {
        let scripts = u32::try_from(self.scripts.len()).unwrap_or(1);
        println!(
            "| {name} | {} ms | {:.2} | {:.2} | {} of {} | {} |",
            (self.took / scripts).as_millis(),
            self.times(),
            self.worst(),
            self.early.len(),
            self.actions,
            self.gave_up
        );
        if std::env::args().any(|argument| argument == "--verbose") {
            println!("    {:?}; true: {:?}", self.early, self.done / scripts);
        }
    }
}

fn header() {
    println!(
        "| way to wait | total of a script | times as long as its actions | worst script | early | gave up |"
    );
    println!("|---|--:|--:|--:|--:|--:|");
}
