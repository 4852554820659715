//! Carets of real programs: watched while they blink they are no change, and the thinnest letters
//! typed beside them are.
//!
//! Ten seconds each; with `SEECHANGE_CARET_SECONDS=60` that long, and ten of each letter.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use seechange::surface::x11::X11;
use seechange::wait::{Condition, Outcome, OutcomeKind, Source as _, WaitOptions, wait};
use seechange::{Cancel, Point, Rect, Scope};

use super::harness::{Desktop, click, type_text};

/// How long a caret is watched, unless the environment says otherwise.
const WATCHED: u64 = 10;

/// Letters that look like carets or are as small as specks.
const LETTERS: &str = "l|I.";

fn seconds() -> u64 {
    let told = std::env::var("SEECHANGE_CARET_SECONDS").ok();
    told.map_or(WATCHED, |text| text.parse().expect("SEECHANGE_CARET_SECONDS is a number"))
}

/// How often each letter is typed.
fn rounds() -> u64 {
    if seconds() >= 60 { 10 } else { 2 }
}

/// Watches the caret of the program whose window this is, then types beside it.
fn check(desktop: &Desktop, window: &mut X11, scope: &Scope, seed: u64) {
    let changed = |window: &mut X11, timeout, seed, text: &str| {
        changed(desktop, window, scope, timeout, seed, text)
    };
    desktop.clock.sleep(Duration::from_millis(500));
    let outcome = changed(window, Duration::from_secs(seconds()), seed, "");
    assert_eq!(
        outcome.kind,
        OutcomeKind::TimedOut,
        "{}: {:#?}",
        outcome.sentence(),
        told(&outcome)
    );
    assert!(outcome.transients.is_empty(), "{:#?}", told(&outcome));
    assert!(!outcome.ignored.carets.is_empty(), "no caret blinks: {:#?}", told(&outcome));
    for round in 0..rounds() {
        for letter in LETTERS.chars() {
            let patience = Duration::from_secs(5);
            let text = letter.to_string();
            let outcome = changed(window, patience, seed + round, &text);
            let what = format!("{letter:?}, the {}th", round + 1);
            assert!(outcome.is_met(), "{what}: {}: {:#?}", outcome.sentence(), told(&outcome));
        }
    }
}

/// Waits for a change by the default rules. What is typed is typed after the picture it is
/// compared with.
fn changed(
    desktop: &Desktop,
    window: &mut X11,
    scope: &Scope,
    timeout: Duration,
    seed: u64,
    text: &str,
) -> Outcome {
    let baseline = desktop.capture(window);
    type_text(window, text);
    let options = WaitOptions::new().timeout(timeout).seed(seed).baseline(baseline);
    let condition = Condition::changed().scope(scope.clone());
    wait(window, &condition, &options, &desktop.clock, &Cancel::never()).unwrap()
}

/// What matters of an outcome, without its frames.
fn told(outcome: &Outcome) -> impl std::fmt::Debug {
    let moved: Vec<(Duration, Vec<Rect>)> =
        outcome.timeline.entries().map(|entry| (entry.at, entry.areas.clone())).collect();
    let transients: Vec<_> = outcome
        .transients
        .iter()
        .map(|transient| (transient.from, transient.to, transient.areas.clone()))
        .collect();
    (outcome.standing.clone(), outcome.ignored.clone(), transients, moved)
}

/// Gives the window the keyboard, by a click at a place of it.
fn focus(desktop: &Desktop, window: &mut X11, (x, y): (u32, u32)) {
    let origin = window.geometry().unwrap().origin;
    let at = |edge: i32, by: u32| u32::try_from(edge).unwrap() + by;
    let mut display = desktop.open();
    click(&mut display, Point::new(at(origin.0, x), at(origin.1, y)));
    // Where it does not change what is seen of the text.
    desktop.clock.sleep(Duration::from_millis(300));
}

fn is_installed(program: &str) -> bool {
    let version = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    version.is_ok()
}

#[test]
#[ignore = "needs Xvfb"]
fn the_caret_of_a_gtk_editor() {
    let mut desktop = Desktop::managed();
    // Else it stops blinking after ten seconds.
    let settings = desktop.file("config").join("gtk-3.0");
    fs::create_dir_all(&settings).unwrap();
    let text = "[Settings]\ngtk-cursor-blink-timeout=100000\n";
    fs::write(settings.join("settings.ini"), text).unwrap();
    let mut window = desktop.editor();
    focus(&desktop, &mut window, (200, 150));
    type_text(&mut window, "first line ");
    check(&desktop, &mut window, &Scope::everything(), 1);
}

#[test]
#[ignore = "needs Xvfb"]
fn the_caret_of_a_qt_editor() {
    let mut desktop = Desktop::managed();
    let file = desktop.file("page.txt");
    fs::write(&file, "first line\n").unwrap();
    desktop.spawn("featherpad", &["--standalone", file.to_str().unwrap()]);
    let mut window = desktop.window("page.txt");
    focus(&desktop, &mut window, (200, 150));
    type_text(&mut window, "second line ");
    // Run as root it shows a warning at the bottom that goes by itself.
    let size = window.geometry().unwrap().size;
    let text = Rect::new(0, 0, size.width(), size.height() - 100).unwrap();
    check(&desktop, &mut window, &Scope::everything().region(text), 2);
}

#[test]
#[ignore = "needs Xvfb"]
fn the_blinking_block_of_a_terminal() {
    let mut desktop = Desktop::managed();
    desktop.spawn("xterm", &["-bc", "-title", "block", "-e", "cat"]);
    let mut window = desktop.window("block");
    focus(&desktop, &mut window, (200, 150));
    type_text(&mut window, "first line ");
    check(&desktop, &mut window, &Scope::everything(), 3);
}

#[test]
#[ignore = "needs Xvfb"]
fn the_caret_of_a_browser() {
    if !is_installed("chromium") {
        println!("skipped: chromium is not installed");
        return;
    }
    let mut desktop = Desktop::managed();
    let file = desktop.file("page.html");
    let page = "<title>writing</title><textarea autofocus rows=10 cols=60 spellcheck=false>";
    fs::write(&file, page).unwrap();
    let app = format!("--app=file://{}", file.display());
    let profile = format!("--user-data-dir={}", desktop.file("profile").display());
    let arguments = ["--no-sandbox", "--no-first-run", "--disable-gpu", &profile, &app];
    desktop.spawn("chromium", &arguments);
    let mut window = desktop.window("writing");
    focus(&desktop, &mut window, (100, 100));
    type_text(&mut window, "first line ");
    check(&desktop, &mut window, &Scope::everything(), 4);
}
