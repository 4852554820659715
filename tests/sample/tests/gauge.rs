//! What the gauge looks like: `golden/NAME.png` beside this file.

use std::time::Duration;

use gauge::gauge;
use seechange::frame::{IntoFrame, encode_png};
use seechange::golden::{GoldenOptions, Platform};
use seechange::wait::{Condition, WaitOptions, from_fn, wait};
use seechange::{Cancel, Clock, Rect, assert_golden};

#[test]
fn empty() {
    assert_golden!("empty", gauge(0));
}

#[test]
fn half_full() {
    let options = GoldenOptions::new()
        .max_changed_pixels(10)
        .on(Platform::Windows, |options| options.max_changed_pixels(40));
    assert_golden!("half full", gauge(50), &options);
    assert_golden!("half full", gauge(50), options);
}

#[test]
fn every_quarter() {
    for percent in [25, 75] {
        assert_golden!(format!("quarters/{percent}"), gauge(percent));
    }
}

#[test]
fn a_file() {
    let png = encode_png(&gauge(100).into_frame().unwrap()).unwrap();
    assert_golden!("full", png);
}

#[test]
fn only_the_left_half_counts() {
    let left = Rect::new(0, 0, 60, 24).unwrap();
    assert_golden!("empty left", gauge(0), GoldenOptions::new().region(left));
}

#[test]
fn where_it_comes_to_rest() {
    let clock = Clock::simulated(); // `Clock::system()` for what is real
    let mut percent = 0;
    let mut filling = from_fn(|| {
        percent = 50.min(percent + 10);
        gauge(percent).into_frame()
    });
    let condition = Condition::stable().hold(Duration::from_millis(100));
    let options = WaitOptions::new().timeout(Duration::from_secs(2));
    let outcome = wait(&mut filling, &condition, &options, &clock, &Cancel::never()).unwrap();
    assert_golden!("at rest", outcome);
}
