//! Damage wakes a wait, and only what concerns it.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use seechange::surface::x11::{Target, X11};
use seechange::wait::{
    Condition, Entry, Flag, Outcome, OutcomeKind, Source as _, WaitOptions, wait, wait_watched,
};
use seechange::{Cancel, Scope};

use super::harness::Desktop;
use super::painter::Painter;

const SECOND: Duration = Duration::from_secs(1);

/// Looks so seldom that only damage, or the deadline, brings one.
fn seldom(timeout: Duration) -> WaitOptions {
    WaitOptions::new().interval(60 * SECOND).timeout(timeout)
}

fn first_sight() -> Condition {
    Condition::changed().captures(1).hold(Duration::ZERO)
}

/// Waits while `paint` runs beside, from the first look on.
fn wait_while(
    desktop: &Desktop,
    x11: &mut X11,
    condition: &Condition,
    timeout: Duration,
    paint: impl FnOnce() + Send,
) -> Outcome {
    let (options, never) = (seldom(timeout), Cancel::never());
    let (looked, has_looked) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            has_looked.recv().unwrap();
            paint();
        });
        let mut watch = |_: &Entry| looked.send(()).unwrap_or_default();
        wait_watched(x11, condition, &options, &desktop.clock, &never, &mut watch).unwrap()
    })
}

/// On the whole display and on a window that another one covers, in all and in a region.
#[test]
#[ignore = "needs Xvfb"]
fn what_is_drawn_is_seen_long_before_the_next_look() {
    let desktop = Desktop::bare("800x600x24", &[]);
    let painter = Painter::on(&desktop, (100, 100, 300, 200));
    let covered = Target::Window(painter.window.to_string());
    let window = X11::open(Some(desktop.name()), &covered, &desktop.clock).unwrap();
    for (what, mut x11, region) in [
        ("display", desktop.open(), None),
        ("region of it", desktop.open(), Some("110,110,40,40")),
        ("window", window, None),
    ] {
        painter.fill((0, 0, 300, 200), 0xff_ffff);
        let scope = region
            .into_iter()
            .fold(Scope::everything(), |scope, rect| scope.region(rect.parse().unwrap()));
        let condition = first_sight().scope(scope);
        let outcome = wait_while(&desktop, &mut x11, &condition, 50 * SECOND, || {
            painter.fill((20, 20, 30, 20), 0x20_4080);
        });
        assert_eq!(outcome.kind, OutcomeKind::Met, "{what}: {outcome:#?}");
        assert!(!outcome.flags.contains(&Flag::JustMet), "{what}: at the deadline");
        assert_eq!(outcome.timeline.last().map(|entry| entry.damaged), Some(1), "{what}");
    }
}

#[test]
#[ignore = "needs Xvfb"]
fn what_is_drawn_elsewhere_wakes_nobody() {
    let desktop = Desktop::bare("800x600x24", &[]);
    let painter = Painter::on(&desktop, (100, 100, 300, 200));
    let mut x11 = desktop.open();
    let noise = || {
        for step in 0..40 {
            painter.fill((20, 20, 30, 20), step * 0x03_0507);
            desktop.clock.sleep(Duration::from_millis(20));
        }
    };
    let elsewhere = Scope::everything().region("300,250,80,40".parse().unwrap());
    let left_out = Scope::everything().ignore("110,110,80,60".parse().unwrap());
    for scope in [elsewhere, left_out] {
        let outcome = wait_while(&desktop, &mut x11, &first_sight().scope(scope), SECOND, noise);
        assert_eq!(outcome.kind, OutcomeKind::TimedOut);
        // The first look and the last, which a busy machine may be too late for.
        assert!((1..=2).contains(&outcome.captures), "{outcome:#?}");
        assert_eq!(outcome.flags, []);
    }
}

#[test]
#[ignore = "needs Xvfb"]
fn what_is_drawn_and_not_seen_is_possibly_missed() {
    let desktop = Desktop::bare("800x600x24", &[]);
    let painter = Painter::on(&desktop, (100, 100, 300, 200));
    let mut x11 = desktop.open();
    let outcome = wait_while(&desktop, &mut x11, &first_sight(), 2 * SECOND, || {
        painter.fill((20, 20, 30, 20), 0xff_ffff);
    });
    assert_eq!(outcome.kind, OutcomeKind::TimedOut);
    assert_eq!(outcome.flags, [Flag::DamageWithoutChange]);
    assert_eq!(outcome.timeline.entries().map(|entry| entry.damaged).sum::<u32>(), 1);
}

#[test]
#[ignore = "needs Xvfb"]
fn a_rest_ends_when_it_is_cancelled_and_when_the_display_is_gone() {
    let desktop = Desktop::bare("800x600x24", &[]);
    let mut x11 = desktop.open();
    let cancel = Cancel::new();
    let outcome = thread::scope(|scope| {
        scope.spawn(|| {
            desktop.clock.sleep(SECOND / 2);
            cancel.cancel();
        });
        wait(&mut x11, &first_sight(), &seldom(3600 * SECOND), &desktop.clock, &cancel).unwrap()
    });
    assert_eq!(outcome.kind, OutcomeKind::Cancelled);
    assert!(outcome.last.is_some());
    let error = thread::scope(|scope| {
        scope.spawn(|| {
            desktop.clock.sleep(SECOND / 2);
            desktop.signal_server(Signal::KILL);
        });
        let (options, never) = (seldom(3600 * SECOND), Cancel::never());
        wait(&mut x11, &first_sight(), &options, &desktop.clock, &never).unwrap_err().to_string()
    });
    assert!(error.starts_with("the connection to the display is lost"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(x11.geometry().is_err());
}

/// Drawn at any time after a look, also while the pixels of that are still being compared.
#[test]
#[ignore = "needs Xvfb"]
fn every_one_of_many_changes_wakes() {
    let desktop = Desktop::bare("800x600x24", &[]);
    let painter = Painter::on(&desktop, (100, 100, 300, 200));
    let mut x11 = desktop.open();
    for step in 1..=50 {
        let outcome = wait_while(&desktop, &mut x11, &first_sight(), 50 * SECOND, || {
            desktop.clock.sleep(Duration::from_micros(step * 200));
            painter.fill((20, 20, 30, 20), u32::try_from(step).unwrap() * 0x04_0503);
        });
        assert!(outcome.is_met() && outcome.flags.is_empty(), "{step}: {outcome:#?}");
    }
}
