//! Timelines drawn in code, each with its right answer for many seeds, and properties of random
//! ones.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::clock::{Cancel, Clock};
use crate::diff::Scope;
use crate::error::Result;
use crate::frame::{Frame, PixelFormat};
use crate::geometry::{Rect, Size};

mod any;
mod pace;

const SEEDS: u64 = 25;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn rect(x: u32, y: u32, width: u32, height: u32) -> Rect {
    Rect::new(x, y, width, height).unwrap()
}

/// A page with some lines of "text", so that it is not blank.
fn page() -> Frame {
    let mut frame =
        Frame::filled(Size::new(200, 120).unwrap(), PixelFormat::Bgrx, [240, 240, 244, 255]);
    for line in 0..4 {
        for word in 0..5 {
            paint(&mut frame, rect(8 + word * 17, 90 + line * 7, 11, 4), 60);
        }
    }
    frame
}

fn paint(frame: &mut Frame, rect: Rect, grey: u8) {
    let width = frame.size().width();
    for y in rect.y()..rect.bottom() {
        for x in rect.x()..rect.right() {
            let at = (y * width + x) as usize * 4;
            frame.data_mut()[at..at + 3].fill(grey);
        }
    }
}

fn with(boxes: &[(Rect, u8)]) -> Frame {
    boxes.iter().fold(page(), |mut frame, &(rect, grey)| {
        paint(&mut frame, rect, grey);
        frame
    })
}

fn with_if(shown: bool, one: (Rect, u8)) -> Frame {
    if shown { with(&[one]) } else { page() }
}

/// What a capture that begins at a time shows.
enum Shot {
    Shows(Frame),
    Old(Frame),
    Fails,
    Hangs,
}

/// A surface drawn as a function of time.
struct Script<F> {
    draw: F,
    cost: Duration,
    scale: f32,
    clock: Clock,
    ids: u64,
    began: Vec<Duration>,
}

impl<F: FnMut(Duration) -> Shot> Source for Script<F> {
    fn geometry(&mut self) -> Result<Geometry> {
        let size = match (self.draw)(self.clock.now()) {
            Shot::Shows(frame) | Shot::Old(frame) => frame.size(),
            Shot::Fails | Shot::Hangs => page().size(),
        };
        Ok(Geometry { size, scale: self.scale, origin: (0, 0) })
    }

    fn capture(
        &mut self,
        region: Option<Rect>,
        give_up: Duration,
        frame: &mut Frame,
    ) -> Result<Capture> {
        let began = self.clock.now();
        self.began.push(began);
        let shot = (self.draw)(began);
        if matches!(shot, Shot::Hangs) || began + self.cost > give_up {
            self.clock.sleep_until(give_up, &Cancel::never());
            return Ok(Capture::Stalled);
        }
        self.clock.sleep(self.cost);
        self.ids += u64::from(matches!(shot, Shot::Shows(_)));
        match shot {
            Shot::Shows(picture) | Shot::Old(picture) => {
                let picture = picture.as_ref();
                frame.copy_from(region.map_or(Ok(picture), |region| picture.crop(region))?);
                Ok(Capture::Taken { id: self.ids })
            }
            _ => Ok(Capture::Failed("no".to_owned())),
        }
    }
}

struct Run {
    outcome: Outcome,
    began: Vec<Duration>,
}

fn play(
    draw: impl FnMut(Duration) -> Shot,
    cost: u64,
    condition: &Condition,
    options: WaitOptions,
) -> Run {
    play_scaled(draw, cost, 1.0, condition, options)
}

fn play_scaled(
    draw: impl FnMut(Duration) -> Shot,
    cost: u64,
    scale: f32,
    condition: &Condition,
    options: WaitOptions,
) -> Run {
    let clock = Clock::simulated();
    let mut source =
        Script { draw, cost: ms(cost), scale, clock: clock.clone(), ids: 0, began: Vec::new() };
    let outcome = wait(&mut source, condition, &options, &clock, &Cancel::never()).unwrap();
    Run { outcome, began: source.began }
}

/// Checks one row for all seeds: `window` is that of `met_at`, `None` for not met in time.
fn expect(
    name: &str,
    draw: &dyn Fn(u64) -> Frame,
    condition: &Condition,
    options: &WaitOptions,
    window: Option<(u64, u64)>,
) -> Vec<Outcome> {
    expect_scaled(name, 1.0, draw, condition, options, window)
}

fn expect_scaled(
    name: &str,
    scale: f32,
    draw: &dyn Fn(u64) -> Frame,
    condition: &Condition,
    options: &WaitOptions,
    window: Option<(u64, u64)>,
) -> Vec<Outcome> {
    let at = |time: Duration| Shot::Shows(draw(u64::try_from(time.as_millis()).unwrap()));
    let one = |seed| {
        let outcome = play_scaled(at, 0, scale, condition, options.clone().seed(seed)).outcome;
        let met_at = outcome.met_at.map(|met| u64::try_from(met.as_millis()).unwrap());
        let right = match (met_at, window) {
            (None, None) => outcome.kind == OutcomeKind::TimedOut,
            (Some(at), Some((from, to))) => from <= at && at <= to,
            _ => false,
        };
        assert!(right, "{name}, seed {seed}: met at {met_at:?}, wanted {window:?}: {outcome:#?}");
        outcome
    };
    (0..SEEDS).map(one).collect()
}

fn timeout(timeout: u64) -> WaitOptions {
    WaitOptions::new().timeout(ms(timeout))
}

const CARET: (u32, u32) = (50, 20);

fn caret_at(x: u32, shown: bool) -> Vec<(Rect, u8)> {
    if shown { vec![(rect(x, CARET.1, 2, 16), 0)] } else { vec![] }
}

/// Shown for `on`, hidden for `off`, from `phase` on.
fn blinks(time: u64, on: u64, off: u64, phase: u64) -> bool {
    (time + phase) % (on + off) < on
}

#[test]
fn carets_of_every_rhythm_are_no_motion_and_no_change() {
    for (on, off) in [(530, 530), (800, 400), (300, 600), (480, 480), (500, 500), (1000, 1000)] {
        for phase in [0, 170, on - 20, on + off / 2] {
            let name = format!("caret {on}/{off} phase {phase}");
            let draw = |time| with(&caret_at(CARET.0, blinks(time, on, off, phase)));
            for hold in [250, 700, 1100] {
                let stable = Condition::stable().hold(ms(hold));
                expect(&name, &draw, &stable, &timeout(6000), Some((hold, 4500)));
            }
            let outcomes = expect(&name, &draw, &Condition::changed(), &timeout(4000), None);
            let caret = rect(CARET.0, CARET.1, 2, 16);
            assert!(outcomes.iter().all(|one| one.ignored.carets == [caret]), "{name}");
        }
    }
}

#[test]
fn a_block_cursor_that_blinks_is_no_change_and_a_block_that_stays_is_one() {
    let block = (rect(50, 20, 6, 13), 0);
    for (on, off) in [(600, 300), (530, 530), (300, 600), (1000, 1000)] {
        for phase in [0, 170, on - 20, on + off / 2] {
            let name = format!("block {on}/{off} phase {phase}");
            let draw = |time| with_if(blinks(time, on, off, phase), block);
            let outcomes = expect(&name, &draw, &Condition::changed(), &timeout(4000), None);
            assert!(outcomes.iter().all(|one| one.ignored.carets == [block.0]), "{name}");
            assert!(outcomes.iter().all(|one| one.transients.is_empty()), "{name}");
        }
    }
    // One cell, and what is no cell: a box to tick, a gauge, two cells side by side.
    for (width, height, patience) in [(6, 13, 1200), (13, 13, 250), (6, 44, 250), (13, 14, 250)] {
        let name = format!("{width}x{height} stays");
        let draw = |time| with_if(time > 400, (rect(50, 20, width, height), 0));
        let window = Some((400 + patience, 400 + patience + 200));
        expect(&name, &draw, &Condition::changed(), &timeout(4000), window);
    }
}

#[test]
fn a_caret_that_stops_blinking_is_no_change() {
    for rests_shown in [true, false] {
        let draw = |time: u64| {
            let shown = if time > 3000 { rests_shown } else { blinks(time, 500, 500, 100) };
            with(&caret_at(CARET.0, shown))
        };
        expect("stops", &draw, &Condition::changed(), &timeout(8000), None);
    }
}

#[test]
fn carets_at_another_scale_and_two_of_them() {
    let draw = |time| {
        let shown = blinks(time, 530, 530, 0);
        with_if(shown, (rect(50, 20, 5, 60), 0))
    };
    let stable = Condition::stable().hold(ms(700));
    expect_scaled("scale 2", 2.0, &draw, &stable, &timeout(4000), Some((700, 2200)));
    expect_scaled("scale 2", 2.0, &draw, &Condition::changed(), &timeout(3000), None);
    for (other, on, off, phase) in
        [(120, 530, 530, 0), (120, 530, 530, 530), (120, 480, 480, 300), (150, 800, 400, 7)]
    {
        let name = format!("two carets, {on}/{off} phase {phase}");
        let draw = |time| {
            let mut boxes = caret_at(CARET.0, blinks(time, 530, 530, 0));
            boxes.extend(caret_at(other, blinks(time, on, off, phase)));
            with(&boxes)
        };
        expect(&name, &draw, &stable, &timeout(6000), Some((700, 4000)));
        expect(&name, &draw, &Condition::changed(), &timeout(3000), None);
    }
}

#[test]
fn small_things_that_stay_are_changes() {
    let letter = (rect(52, 22, 2, 14), 40_u8);
    let dot = (rect(52, 34, 2, 2), 40_u8);
    for typed in [letter, dot] {
        for at in [0, 130, 410, 1000] {
            let name = format!("{typed:?} at {at}");
            let alone = |time| with_if(time > at, typed);
            let window = Some((at + 1200, at + 1400));
            expect(&name, &alone, &Condition::changed(), &timeout(5000), window);
            let stable = Condition::stable().hold(ms(300));
            expect(&name, &alone, &stable, &timeout(5000), Some((300, at + 700)));
        }
    }
    // The caret stands before the letter, then blinks behind it.
    let beside = |time| {
        let (x, typed) = if time >= 410 { (58, true) } else { (50, false) };
        let mut boxes = caret_at(x, blinks(time, 530, 530, 0));
        boxes.extend(typed.then_some(letter));
        with(&boxes)
    };
    for hold in [250, 700] {
        let changed = Condition::changed().hold(ms(hold));
        expect("beside", &beside, &changed, &timeout(5000), Some((410 + hold, 2500)));
    }
}

#[test]
fn a_swing_is_not_still_where_it_turns() {
    for (period, reach, size) in [(3000.0, 60.0, 42), (2000.0, 30.0, 20), (4500.0, 70.0, 30)] {
        for interval in [50, 100, 150] {
            let draw = |time: u64| {
                let time = f64::from(u32::try_from(time).unwrap());
                let turn = (time / period * std::f64::consts::TAU).sin();
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "small"
                )]
                let x = (95.0 + turn * reach).round() as u32 - size / 2;
                with(&[(rect(x, 40, size, 24), 100)])
            };
            let name = format!("swing {period} {reach} every {interval}");
            let options = timeout(5000).interval(ms(interval));
            for hold in [250, 400] {
                let outcomes =
                    expect(&name, &draw, &Condition::stable().hold(ms(hold)), &options, None);
                let moving = &outcomes[0].unmet.as_ref().unwrap().moving;
                assert!(!moving.is_empty(), "{name}");
            }
        }
    }
}

#[test]
fn slow_fades_are_motion() {
    for (step, levels) in [(20, 120), (60, 30), (100, 15), (200, 8)] {
        let name = format!("one level every {step} ms");
        let ends = step * levels;
        let grey = |time: u64| u8::try_from((time / step).min(levels)).unwrap();
        let tint = |time| with(&[(rect(20, 10, 60, 40), 200 - grey(time))]);
        let cross = |time| {
            let (up, down) = (rect(20, 10, 30, 40), rect(50, 10, 30, 40));
            with(&[(up, 100 + grey(time)), (down, 200 - grey(time))])
        };
        let whole = |time| {
            let mut frame = page();
            frame.data_mut().iter_mut().for_each(|byte| *byte = byte.saturating_sub(grey(time)));
            frame
        };
        let draws: [(&str, &dyn Fn(u64) -> Frame); 3] =
            [("tint", &tint), ("cross", &cross), ("whole", &whole)];
        for (kind, draw) in draws {
            let window = Some((ends - step + 250, ends + 700));
            let name = format!("{kind}, {name}");
            expect(&name, draw, &Condition::stable(), &timeout(6000), window);
        }
    }
}

/// One of eight looks of a spinner.
fn spinner(x: u32, look: u64) -> Vec<(Rect, u8)> {
    let places = [(8, 0), (14, 2), (16, 8), (14, 14), (8, 16), (2, 14), (0, 8), (2, 2)];
    (0..8)
        .zip(places)
        .map(|(index, (dx, dy))| {
            let age = (look + 8 - index) % 8;
            (rect(x + dx, 30 + dy, 5, 5), u8::try_from(age * 25).unwrap())
        })
        .collect()
}

#[test]
fn spinners_are_named_or_left_out() {
    for (first, second) in [(80, 80), (80, 120), (60, 97)] {
        let name = format!("spinners {first} {second}");
        let draw = |time: u64| {
            let mut boxes = spinner(20, time / first % 8);
            boxes.extend(spinner(120, time / second % 8));
            if time >= 400 {
                boxes.push((rect(20, 4, 40, 10), 0));
            }
            with(&boxes)
        };
        for one in expect(&name, &draw, &Condition::stable(), &timeout(3000), None) {
            let moving = one.unmet.unwrap().moving;
            for x in [20, 120] {
                let is_named = |rect: &Rect| rect.intersection(super::tests::rect(x, 30, 21, 21));
                assert!(moving.iter().any(|rect| is_named(rect).is_some()), "{name}: {moving:?}");
            }
        }
        let periodic = Condition::stable().ignore_periodic(true);
        for one in expect(&name, &draw, &periodic, &timeout(6000), Some((650, 5000))) {
            assert_eq!(one.ignored.periodic.len(), 2, "{name}");
            assert!(one.flags.contains(&Flag::PeriodicInside));
        }
        let scope = Scope::everything().ignore(rect(20, 30, 21, 21)).ignore(rect(120, 30, 21, 21));
        let ignored = Condition::stable().scope(scope);
        expect(&name, &draw, &ignored, &timeout(3000), Some((650, 1000)));
    }
}

#[test]
fn a_change_beside_what_repeats_is_the_change() {
    let menu = (rect(60, 10, 50, 60), 200_u8);
    for at in [700, 2600] {
        let draw = |time: u64| {
            let mut boxes = spinner(20, time / 80 % 8);
            boxes.extend((time >= at).then_some(menu));
            with(&boxes)
        };
        let condition = Condition::changed().ignore_periodic(true);
        let name = format!("change at {at}");
        expect(&name, &draw, &condition, &timeout(5000), Some((at + 250, at + 1200)));
    }
    let spins = |time: u64| with(&spinner(20, time / 80 % 8));
    let condition = Condition::changed().ignore_periodic(true);
    for one in expect("spinner alone", &spins, &condition, &timeout(5000), None) {
        assert!(one.transients.is_empty());
    }
}

#[test]
fn a_spinner_that_becomes_something_else_is_a_change_again() {
    let draw = |time: u64| {
        if time < 2500 {
            with(&spinner(20, time / 80 % 8))
        } else {
            with(&[(rect(20, 30, 21, 21), u8::try_from((time / 300) % 200).unwrap())])
        }
    };
    let not_yet = Condition::stable().ignore_periodic(true).hold(ms(1900));
    for seed in 0..SEEDS {
        let spins = |time: Duration| Shot::Shows(draw(u64::try_from(time.as_millis()).unwrap()));
        let one = play(spins, 0, &not_yet, timeout(2000).seed(seed)).outcome;
        let (periodic, moving) = (one.ignored.periodic, one.unmet.unwrap().moving);
        assert!(!periodic.is_empty(), "seed {seed}");
        let is_left_out = |rect: &Rect| periodic.iter().any(|out| out.rect.contains_rect(*rect));
        assert!(!moving.iter().any(is_left_out), "seed {seed}: {moving:?} in {periodic:?}");
    }
    // Not met before the spinner stops: a hold of two seconds.
    let condition = Condition::stable().ignore_periodic(true).hold(ms(2000));
    expect("spinner becomes a counter", &draw, &condition, &timeout(9000), None);
}

#[test]
fn transients_are_reported_and_never_met() {
    let toast = (rect(100, 10, 60, 20), 30_u8);
    let press = (rect(30, 60, 40, 12), 200_u8);
    let draw = |time: u64| {
        let mut boxes = Vec::new();
        boxes.extend((150..300).contains(&time).then_some(toast));
        boxes.extend((420..600).contains(&time).then_some(toast));
        boxes.extend((100..220).contains(&time).then_some(press));
        with(&boxes)
    };
    let options = timeout(1500).interval(ms(40));
    for one in expect("toasts", &draw, &Condition::changed(), &options, None) {
        let areas: Vec<Rect> = one.transients.iter().flat_map(|one| one.areas.clone()).collect();
        assert_eq!(areas.iter().filter(|area| **area == toast.0).count(), 2, "{areas:?}");
        assert_eq!(areas.iter().filter(|area| **area == press.0).count(), 1, "{areas:?}");
        assert!(one.transients.iter().all(|one| one.frame.is_some()));
        assert!(one.standing.is_empty());
    }
    let then = |time: u64| if time >= 900 { with(&[press]) } else { draw(time) };
    expect("toasts, then", &then, &Condition::changed(), &options, Some((1150, 1220)));
}

#[test]
fn presence_is_seen_and_absence_must_last() {
    let image = with(&[(rect(30, 30, 20, 12), 90), (rect(34, 33, 6, 4), 10)]);
    let cut = image.crop(rect(30, 30, 20, 12)).unwrap();
    let draw = |time: u64| {
        let gone = (400..460).contains(&time) || time >= 1000;
        if gone { page() } else { image.clone() }
    };
    let gone = Condition::gone(cut.clone());
    expect("gone", &draw, &gone, &timeout(3000).interval(ms(20)), Some((1250, 1290)));
    let later = |time: u64| if time < 640 { page() } else { image.clone() };
    for one in expect(
        "appears",
        &later,
        &Condition::appears(cut.clone()),
        &timeout(3000),
        Some((640, 715)),
    ) {
        assert_eq!(one.found, Some(rect(30, 30, 20, 12)));
    }
    let scoped =
        Condition::appears(cut.clone()).scope(Scope::everything().region(rect(60, 0, 100, 90)));
    expect("appears elsewhere", &later, &scoped, &timeout(1500), None);
    let lasting = Condition::appears(cut.clone()).hold(ms(300)).captures(4);
    expect("appears for a while", &later, &lasting, &timeout(3000), Some((940, 1020)));
    let seen = gone.clone().require_seen(true);
    expect("gone, never seen", &|_| page(), &seen, &timeout(1000), None);
    for one in expect("gone", &|_| page(), &gone, &timeout(1000), Some((250, 250))) {
        assert_eq!(one.flags, [Flag::NeverSeen]);
    }
    // A caret that blinks over the image does not make it go away.
    let caret = |time: u64| {
        let mut frame = image.clone();
        if blinks(time, 500, 500, 250) {
            paint(&mut frame, rect(44, 32, 1, 9), 0);
        }
        frame
    };
    expect("gone under a caret", &caret, &gone, &timeout(2500), None);
    // What matched before the action is no effect of it.
    let matches = Condition::matches(image.clone());
    let before = timeout(1500).baseline(image.clone());
    expect("matched before", &|_| image.clone(), &matches, &before, None);
    expect("matched again", &draw, &matches, &timeout(900).baseline(page()), Some((0, 0)));
}

/// A text field with a frame and a word in it, at 30,30.
fn field(caret: Option<Rect>) -> Frame {
    let mut boxes = vec![(rect(30, 30, 100, 24), 120), (rect(31, 31, 98, 22), 255)];
    boxes.extend((0..3).map(|letter| (rect(36 + letter * 7, 38, 4, 8), 30)));
    boxes.extend(caret.map(|caret| (caret, 0)));
    with(&boxes)
}

/// A picture of which no two pixels are alike, at 30,30.
fn icon(caret: Option<Rect>) -> Frame {
    let mut frame = page();
    for (x, y) in (0..20).flat_map(|y| (0..30).map(move |x| (x, y))) {
        let grey = (x * 71 + y * 113 + x * y * 29) % 251;
        paint(&mut frame, rect(30 + x, 30 + y, 1, 1), u8::try_from(grey).unwrap());
    }
    caret.into_iter().for_each(|caret| paint(&mut frame, caret, 0));
    frame
}

#[test]
fn a_caret_inside_a_reference_neither_hides_nor_removes_it() {
    type Draw = fn(Option<Rect>) -> Frame;
    let rows: [(&str, Draw, Rect, Rect, f32); 5] = [
        ("field", field, rect(60, 34, 1, 16), rect(30, 30, 100, 24), 1.0),
        ("wide caret", field, rect(60, 34, 3, 16), rect(28, 28, 104, 30), 1.0),
        ("letters alone", field, rect(60, 38, 1, 9), rect(34, 35, 40, 15), 1.0),
        ("double density", field, rect(60, 33, 4, 18), rect(30, 30, 100, 24), 2.0),
        ("icon", icon, rect(42, 32, 1, 14), rect(30, 30, 30, 20), 1.0),
    ];
    for (name, draw, caret, place, scale) in rows {
        for shown in [None, Some(caret)] {
            let cut = draw(shown).crop(place).unwrap();
            let name = format!("{name}, {shown:?} in the reference");
            let blink = |time| draw(blinks(time, 530, 530, 300).then_some(caret));
            let gone = Condition::gone(cut.clone());
            expect_scaled(&name, scale, &blink, &gone, &timeout(2500), None);
            let appears = Condition::appears(cut.clone());
            let options = timeout(300);
            for one in expect_scaled(&name, scale, &blink, &appears, &options, Some((0, 0))) {
                assert_eq!(one.found, Some(place), "{name}");
            }
            let goes = |time| if time < 900 { blink(time) } else { page() };
            let window = Some((1150, 1230));
            expect_scaled(&name, scale, &goes, &gone, &timeout(2500), window);
            let comes = |time| if time < 900 { page() } else { blink(time) };
            let window = Some((900, 975));
            expect_scaled(&name, scale, &comes, &appears, &timeout(2500), window);
        }
    }
}

#[test]
fn a_speck_tells_one_text_from_another_and_is_no_absence() {
    let dot = rect(60, 40, 3, 3);
    for draw in [field, icon] {
        let cut = draw(Some(dot)).crop(rect(30, 30, 30, 20).union(dot)).unwrap();
        let other = |_| draw(None);
        for condition in [
            Condition::appears(cut.clone()),
            Condition::matches(draw(Some(dot))),
            Condition::gone(cut),
        ] {
            expect("one speck less", &other, &condition, &timeout(1000), None);
        }
    }
}

#[test]
fn small_things_are_not_seen_where_only_their_paper_is() {
    let at = rect(60, 20, 20, 16);
    for small in [rect(68, 24, 3, 3), rect(68, 22, 1, 12), rect(68, 26, 5, 2)] {
        let cut = with(&[(small, 40)]).crop(at).unwrap();
        let goes = |time| with_if(time < 600, (small, 40));
        let gone = Condition::gone(cut.clone());
        expect("goes", &goes, &gone, &timeout(2000), Some((850, 930)));
        let appears = Condition::appears(cut);
        expect("not there", &|_| page(), &appears, &timeout(1000), None);
    }
    // Strict rules forgive no caret.
    let place = rect(30, 30, 100, 24);
    let strict = Condition::appears(field(None).crop(place).unwrap())
        .diff(crate::report::DiffOptions::preset(crate::report::Preset::Exact));
    let caret = |_| field(Some(rect(60, 34, 1, 16)));
    expect("strict", &caret, &strict, &timeout(500), None);
    // Two carets' worth of another shape is another picture.
    let other = |_| field(Some(rect(60, 36, 8, 8)));
    let appears = Condition::appears(field(None).crop(place).unwrap());
    expect("another letter", &other, &appears, &timeout(500), None);
}

#[test]
fn late_is_told_from_missing_and_met_only_in_time() {
    let change = with(&[(rect(30, 30, 20, 12), 90)]);
    let draw = |time: u64| if time < 1100 { page() } else { change.clone() };
    for grace in [0, 200, 600] {
        let options = timeout(1000).grace(ms(grace));
        for one in expect("late", &draw, &Condition::matches(change.clone()), &options, None) {
            let late = one.late.map(|late| late.as_millis());
            assert!(if grace == 0 { late.is_none() } else { late >= Some(100) }, "{late:?}");
        }
    }
    let just = |time: u64| if time < 990 { page() } else { change.clone() };
    for one in expect(
        "just",
        &just,
        &Condition::matches(change.clone()),
        &timeout(1000),
        Some((990, 1000)),
    ) {
        assert_eq!(one.flags, [Flag::JustMet]);
    }
}

#[test]
fn input_parts_the_baseline_from_the_evidence() {
    let (one, two) = (with(&[(rect(30, 30, 20, 12), 90)]), with(&[(rect(90, 30, 20, 12), 9)]));
    let draw = |time: u64| match time {
        0..300 => page(),
        300..900 => one.clone(),
        _ => two.clone(),
    };
    let after = |input_at| timeout(4000).input_at(ms(input_at));
    for (condition, input_at, window) in [
        (Condition::changed(), 500, Some((1150, 1225))),
        (Condition::changed(), 1000, None),
        (Condition::stable(), 500, Some((800, 800))),
        (Condition::stable(), 1000, Some((1300, 1375))),
        (Condition::matches(one.clone()), 500, Some((500, 575))),
        (Condition::matches(page()), 310, None),
    ] {
        let name = format!("{} after {input_at}", condition.name());
        expect(&name, &draw, &condition, &after(input_at), window);
    }
}

#[test]
fn another_size_is_an_answer() {
    let small = Frame::filled(Size::new(150, 90).unwrap(), PixelFormat::Bgrx, [9, 9, 9, 255]);
    let draw = |time: u64| if time < 500 { page() } else { small.clone() };
    let kinds = |condition: &Condition| {
        let at = |time: Duration| Shot::Shows(draw(u64::try_from(time.as_millis()).unwrap()));
        play(at, 0, condition, timeout(3000)).outcome.kind
    };
    let cut = with(&[(rect(30, 30, 20, 12), 90)]).crop(rect(30, 30, 20, 12)).unwrap();
    for condition in [Condition::matches(small.clone()), Condition::appears(cut)] {
        if condition.name() == "appears" {
            assert_eq!(kinds(&condition), OutcomeKind::GeometryChanged);
        }
    }
    expect("resized", &draw, &Condition::changed(), &timeout(3000), Some((750, 850)));
    let held = Condition::stable().hold(ms(600));
    for one in expect("resized", &draw, &held, &timeout(3000), Some((1100, 1200))) {
        assert!(one.flags.contains(&Flag::Resized));
    }
    let back = |time: u64| if (500..600).contains(&time) { small.clone() } else { page() };
    for one in expect("there and back", &back, &Condition::changed(), &timeout(1500), None) {
        assert_eq!(one.transients.len(), 1);
    }
}

#[test]
fn what_follows_an_action_is_nothing_or_settles_or_still_moves() {
    let before = || WaitOptions::new().baseline(page());
    let letter = (rect(52, 22, 2, 14), 40_u8);
    let menu = (rect(20, 10, 60, 60), 200_u8);
    let nothing = |_: u64| page();
    let opens = |time: u64| with_if(time >= 120, menu);
    let at_once = |_: u64| with(&[menu]);
    let spins = |time: u64| with(&spinner(20, time / 80));
    let flashes = |time: u64| with_if((20..140).contains(&time), menu);
    let caret = |time: u64| with(&caret_at(50, blinks(time, 530, 530, 300)));
    let types = |time: u64| with_if(time >= 30, letter);
    type Row<'a> = (&'a str, &'a dyn Fn(u64) -> Frame, Option<(u64, u64)>, u64);
    let rows: [Row<'_>; 7] = [
        ("nothing", &nothing, None, 300),
        ("opens", &opens, Some((370, 450)), 450),
        ("at once", &at_once, Some((250, 250)), 250),
        ("spins", &spins, None, 1100),
        ("flashes", &flashes, None, 480),
        ("caret", &caret, None, 1100),
        ("types", &types, Some((1000, 1100)), 1100),
    ];
    for (name, draw, window, over) in rows {
        for one in expect(name, draw, &Condition::settled(), &before(), window) {
            assert!(one.elapsed <= ms(over), "{name}: {:?}", one.elapsed);
            let unmet = one.unmet.map(|unmet| (unmet.term, unmet.moving.is_empty()));
            let wanted = match name {
                "nothing" | "caret" => Some((Term::Change, unmet.is_some_and(|unmet| unmet.1))),
                "flashes" => Some((Term::Change, false)),
                "spins" => Some((Term::Hold, false)),
                _ => None,
            };
            assert_eq!(unmet, wanted, "{name}");
            let stands = matches!(name, "opens" | "at once" | "spins" | "types");
            assert_eq!(!one.standing.is_empty(), stands, "{name}");
        }
    }
}

#[test]
fn an_action_to_come_is_settled_only_after_it() {
    let menu = (rect(20, 10, 60, 60), 200_u8);
    let opens = |time: u64| with_if(time >= 820, menu);
    let nothing = |_: u64| page();
    let coming = || WaitOptions::new().input_at(ms(800));
    expect("opens", &opens, &Condition::settled(), &coming(), Some((1070, 1180)));
    for one in expect("nothing", &nothing, &Condition::settled(), &coming(), None) {
        assert!((ms(1050)..=ms(1150)).contains(&one.elapsed), "{:?}", one.elapsed);
    }
}

#[test]
fn no_new_frame_is_evidence_of_nothing() {
    let conditions = [Condition::stable(), Condition::changed(), Condition::gone(patch())];
    for condition in conditions {
        for (name, from, shot) in [
            ("old", 200, (|| Shot::Old(page())) as fn() -> Shot),
            ("fails", 200, || Shot::Fails),
            ("hangs", 100, || Shot::Hangs),
        ] {
            for seed in 0..SEEDS {
                let draw = |time| if time < ms(from) { Shot::Shows(page()) } else { shot() };
                let run = play(draw, 0, &condition, timeout(1000).seed(seed));
                let wanted = match name {
                    "hangs" => OutcomeKind::CaptureStalled,
                    _ => OutcomeKind::SourceStale,
                };
                assert_eq!(run.outcome.kind, wanted, "{} {name} {seed}", condition.name());
                assert_eq!(run.outcome.unmet.unwrap().term, Term::Frames);
                assert!(run.outcome.elapsed <= ms(2000));
            }
        }
        // Trouble that passes is no answer.
        let draw = |time: Duration| match time.as_millis() / 100 {
            1 | 2 => Shot::Fails,
            3 => Shot::Old(page()),
            _ => {
                Shot::Shows(if time < ms(500) { page() } else { with(&[(rect(9, 9, 30, 30), 7)]) })
            }
        };
        let run = play(draw, 0, &condition, timeout(3000));
        assert_eq!(run.outcome.kind, OutcomeKind::Met, "{}", condition.name());
    }
    let clock = Clock::simulated();
    let mut source = Script {
        draw: |_| Shot::Fails,
        cost: ms(0),
        scale: 1.0,
        clock: clock.clone(),
        ids: 0,
        began: Vec::new(),
    };
    let failed = wait(&mut source, &Condition::stable(), &timeout(400), &clock, &Cancel::never())
        .unwrap_err();
    assert!(failed.to_string().ends_with("captures succeeded: no"), "{failed}");
}

fn patch() -> Frame {
    with(&[(rect(30, 30, 20, 12), 90)]).crop(rect(30, 30, 20, 12)).unwrap()
}

#[test]
fn a_cancelled_wait_keeps_its_evidence() {
    let clock = Clock::simulated();
    let cancel = Cancel::new();
    let switch = cancel.clone();
    let draw = |time: Duration| {
        if time >= ms(400) {
            switch.cancel();
        }
        Shot::Shows(with(&spinner(20, u64::try_from(time.as_millis()).unwrap() / 80)))
    };
    let mut source =
        Script { draw, cost: ms(0), scale: 1.0, clock: clock.clone(), ids: 0, began: Vec::new() };
    let outcome = wait(&mut source, &Condition::stable(), &timeout(5000), &clock, &cancel).unwrap();
    assert_eq!(outcome.kind, OutcomeKind::Cancelled);
    assert!(outcome.elapsed < ms(600) && outcome.last.is_some());
}

#[test]
fn a_reference_of_another_scale_is_named_so() {
    let reference = Frame::filled(Size::new(100, 60).unwrap(), PixelFormat::Rgba, [9, 9, 9, 255]);
    let draw = |_| Shot::Shows(page());
    let run = play_scaled(draw, 0, 2.0, &Condition::matches(reference.clone()), timeout(1000));
    assert_eq!((run.outcome.kind, run.outcome.captures), (OutcomeKind::ScaleMismatch, 0));
    let geometry = Geometry { size: page().size(), scale: 1.0, origin: (0, 0) };
    let refused = |condition: &Condition| {
        Monitor::new(condition, &timeout(1000), geometry).map(|_| ()).unwrap_err()
    };
    let large = Frame::filled(Size::new(201, 60).unwrap(), PixelFormat::Rgba, [9, 9, 9, 255]);
    for (condition, numbers) in [
        (Condition::matches(reference.clone()), ["100x60", "200x120"]),
        (Condition::appears(large.clone()), ["201x60", "200x120"]),
        (Condition::gone(large), ["201x60", "200x120"]),
        (
            Condition::stable().scope(Scope::everything().region(rect(190, 0, 20, 20))),
            ["x=190 y=0 w=20 h=20", "200x120"],
        ),
        (
            Condition::stable().scope(Scope::everything().ignore(rect(0, 0, 500, 500))),
            ["0 of", "24000"],
        ),
    ] {
        let error = refused(&condition);
        assert_eq!(error.kind(), crate::error::ErrorKind::Impossible, "{error}");
        assert!(numbers.iter().all(|number| error.to_string().contains(number)), "{error}");
    }
}

#[test]
fn a_scale_no_surface_has_is_refused() {
    let new = |scale| {
        let geometry = Geometry { size: page().size(), scale, origin: (0, 0) };
        Monitor::new(&Condition::stable(), &timeout(1000), geometry).map(|_| ())
    };
    for (scale, named) in [
        (1e30, "1e30"),
        (f32::INFINITY, "inf"),
        (f32::NAN, "NaN"),
        (0.0, "0e0"),
        (-1.0, "-1e0"),
        (16.1, "1.61e1"),
    ] {
        let error = new(scale).unwrap_err();
        assert_eq!(error.kind(), crate::error::ErrorKind::Impossible, "{error}");
        let message = error.to_string();
        assert!(message.contains(named) && message.contains("between 0.1 and 16"), "{message}");
    }
    assert!([0.1, 1.0, 1.25, 16.0].into_iter().all(|scale| new(scale).is_ok()));
}

#[test]
fn no_limit_is_a_limit_too() {
    let none = Duration::MAX;
    type Set = fn(WaitOptions) -> WaitOptions;
    let sets: [Set; 7] = [
        |options| options.timeout(Duration::MAX),
        |options| options.grace(Duration::MAX),
        |options| options.stall_grace(Duration::MAX),
        |options| options.look_again(Duration::MAX),
        |options| options.settle_within(Duration::MAX),
        |options| options.interval(Duration::MAX).timeout(Duration::MAX),
        |options| options.timeout(Duration::MAX).input_at(Duration::MAX),
    ];
    let menu = with(&[(rect(20, 10, 60, 60), 200)]);
    let patch = patch();
    for (index, set) in sets.into_iter().enumerate() {
        for condition in [
            Condition::stable().ignore_periodic(true),
            Condition::changed().ignore_periodic(true),
            Condition::settled(),
            Condition::matches(menu.clone()),
            Condition::appears(patch.clone()),
            Condition::gone(patch.clone()),
        ] {
            let options = set(timeout(2000).baseline(page()));
            let geometry = Geometry { size: page().size(), scale: 1.0, origin: (0, 0) };
            let Ok(mut monitor) = Monitor::new(&condition, &options, geometry) else { continue };
            // Time stands still, leaps to its end and goes backwards.
            for (id, at) in [ms(0), ms(300), none, ms(500), none, ms(0), ms(100)]
                .into_iter()
                .enumerate()
                .map(|(id, at)| (id as u64, at))
            {
                let frame = if id % 2 == 0 { &menu } else { options.baseline.as_ref().unwrap() };
                monitor.see(at, ms(400), Look::Taken { id, frame }).unwrap();
                let next = monitor.next_look(at);
                assert!(next.is_none_or(|next| next >= at), "{index} {next:?}");
                assert!(monitor.give_up() >= monitor.deadline());
                assert!(!monitor.may_begin(none), "{index}: past the end of time");
            }
            assert!(!monitor.finish(ms(50), false, None).sentence().is_empty());
        }
        let options = set(timeout(2000).baseline(page()));
        if options.input_at.is_some() {
            continue; // The input never comes: it looks for ever.
        }
        let draw =
            |time: Duration| Shot::Shows(with_if(time > ms(90), (rect(20, 10, 60, 60), 200)));
        let run = play(draw, 3, &Condition::matches(menu.clone()), options);
        assert!(run.outcome.is_met(), "{index}: {:?}", run.outcome.kind);
    }
    let geometry = Geometry { size: page().size(), scale: 1.0, origin: (0, 0) };
    for hold in [none, none / 2] {
        let condition = Condition::stable().hold(hold).captures(u32::MAX);
        let refused = Monitor::new(&condition, &timeout(1000), geometry);
        assert!(refused.is_err());
        let options = timeout(0).timeout(none);
        let mut monitor = match Monitor::new(&condition, &options, geometry) {
            Ok(monitor) => monitor,
            Err(error) => {
                assert_eq!(hold, none, "{error}");
                continue;
            }
        };
        let frame = page();
        for (id, at) in [(1, ms(0)), (2, none), (3, ms(9))] {
            monitor.see(at, at, Look::Taken { id, frame: &frame }).unwrap();
            monitor.next_look(at);
        }
    }
}

/// A scripted timeline: what stands from which time on, by number; the same number is the same
/// picture.
fn scripts() -> impl Strategy<Value = Vec<(u64, u8)>> {
    prop::collection::vec((1_u64..400, 0_u8..5), 0..12).prop_map(|steps| {
        let mut at = 0;
        let from_start = |(gap, look)| {
            at += gap;
            (at, look)
        };
        std::iter::once((0, 0)).chain(steps.into_iter().map(from_start)).collect()
    })
}

fn picture(look: u8) -> Frame {
    let x = u32::from(look) * 13;
    with(&[(rect(20 + x, 10, 30, 20), 30 + look)])
}

fn standing(script: &[(u64, u8)], time: Duration) -> u8 {
    script.iter().rev().find(|(at, _)| ms(*at) <= time).map_or(0, |(_, look)| *look)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn a_wait_keeps_its_promises(
        script in scripts(),
        seed: u64,
        hold in 0_u64..600,
        captures in 1_u32..5,
        interval in 10_u64..120,
        more in 1_u64..3000,
        cost in 0_u64..80,
        changed: bool,
    ) {
        let total = (hold + more).max(interval * u64::from(captures));
        let base = if changed { Condition::changed() } else { Condition::stable() };
        let condition = base.hold(ms(hold)).captures(captures);
        let options = timeout(total).interval(ms(interval)).seed(seed);
        let draw = |time| Shot::Shows(picture(standing(&script, time)));
        let run = play(draw, cost, &condition, options.clone());
        let (first, last) = (run.began[0], *run.began.last().unwrap());
        prop_assert!(last < ms(total) || run.began.len() == 1);
        prop_assert!(run.outcome.elapsed <= ms(total) + ms(cost));
        prop_assert_eq!(run.outcome.captures as usize, run.began.len());
        if run.outcome.is_met() {
            prop_assert!(last - first >= ms(hold));
            prop_assert!(run.began.len() >= captures as usize);
            let evidence: Vec<Duration> =
                run.began.iter().copied().filter(|began| *began + ms(hold) >= last).collect();
            let looks: Vec<u8> = evidence.iter().map(|at| standing(&script, *at)).collect();
            let end = *looks.last().unwrap();
            let holds = |look: &u8| if changed { *look != 0 } else { *look == end };
            prop_assert!(looks.iter().all(holds), "{:?}", looks);
        } else {
            prop_assert!(last + ms(3) + ms(cost) >= ms(total), "last look at {last:?} of {total}");
        }
        let again = play(draw, cost, &condition, options);
        prop_assert_eq!(again.began, run.began);
        prop_assert_eq!(again.outcome.met_at, run.outcome.met_at);
        prop_assert_eq!(again.outcome.timeline, run.outcome.timeline);
    }

    #[test]
    fn the_answer_does_not_depend_on_the_seed(
        mut script in scripts(),
        seed: u64,
        changed: bool,
    ) {
        // Another picture, long enough at the end for any seed.
        let end = script.last().unwrap().0 + 200;
        script.push((end, 5));
        let condition = if changed { Condition::changed() } else { Condition::stable() };
        let draw = |time| Shot::Shows(picture(standing(&script, time)));
        let outcome = play(draw, 0, &condition, timeout(end + 400).seed(seed)).outcome;
        prop_assert_eq!(outcome.kind, OutcomeKind::Met);
    }

    #[test]
    fn a_stalled_source_is_never_met(from in 0_u64..240, seed: u64, old: bool) {
        let stall = || if old { Shot::Old(page()) } else { Shot::Hangs };
        for condition in [Condition::stable(), Condition::changed(), Condition::settled()] {
            let draw = |time| if time < ms(from) { Shot::Shows(page()) } else { stall() };
            let options = timeout(900).seed(seed).baseline(picture(1));
            prop_assert!(!play(draw, 0, &condition, options).outcome.is_met());
        }
    }

    #[test]
    fn zero_is_exactly_one_look(seed: u64, look in 0_u8..2) {
        let condition = Condition::matches(picture(1));
        let draw = |_| Shot::Shows(picture(look));
        let run = play(draw, 5, &condition, timeout(0).seed(seed));
        prop_assert_eq!(run.began.len(), 1);
        prop_assert_eq!(run.outcome.is_met(), look == 1);
    }
}
