//! The first of several conditions.

use super::*;

fn shot(draw: impl Fn(u64) -> Frame) -> impl FnMut(Duration) -> Shot {
    move |time| Shot::Shows(draw(u64::try_from(time.as_millis()).unwrap()))
}

fn first_sight() -> Condition {
    Condition::changed().captures(1).hold(Duration::ZERO)
}

fn inside(rect: Rect) -> Scope {
    Scope::everything().region(rect)
}

#[test]
fn the_first_that_is_met_ends_the_wait() {
    let (left, right) = ((rect(20, 20, 30, 20), 90), (rect(120, 20, 30, 20), 30));
    let draw = |time: u64| {
        let mut boxes = Vec::new();
        boxes.extend((time >= 500).then_some(left));
        boxes.extend((time >= 900).then_some(right));
        with(&boxes)
    };
    let cut = |one: (Rect, u8)| with(&[one]).crop(rect(one.0.x() - 4, 16, 40, 28)).unwrap();
    let appears = |one| Condition::appears(cut(one));
    let (in_left, in_right) = (rect(0, 0, 100, 60), rect(100, 0, 100, 60));
    type Row = (&'static str, Vec<Condition>, Option<usize>, (u64, u64));
    let rows: [Row; 6] = [
        ("one of two", vec![appears(right), appears(left)], Some(1), (500, 575)),
        ("a tie", vec![appears(left), first_sight()], Some(0), (500, 575)),
        (
            "each its scope",
            vec![first_sight().scope(inside(in_right)), appears(left).scope(inside(in_right))],
            Some(0),
            (900, 975),
        ),
        (
            "each its timeout",
            vec![first_sight().timeout(ms(400)), appears(right)],
            Some(1),
            (900, 975),
        ),
        (
            "each its count and hold",
            vec![Condition::changed(), first_sight().scope(inside(in_right))],
            Some(0),
            (750, 830),
        ),
        (
            "none",
            vec![first_sight().timeout(ms(300)), appears(right).scope(inside(in_left))],
            None,
            (2000, 2000),
        ),
    ];
    for (name, conditions, met_by, (from, to)) in rows {
        let any = Condition::any(conditions).unwrap();
        for seed in 0..SEEDS {
            let one = play(shot(draw), 0, &any, timeout(2000).seed(seed)).outcome;
            assert_eq!(one.met_by(), met_by, "{name}, seed {seed}: {one:#?}");
            let at = one.met_at.unwrap_or(one.elapsed);
            assert!(ms(from) <= at && at <= ms(to), "{name}, seed {seed}: {at:?}");
            assert_eq!(one.condition, "any");
            assert_eq!(one.conditions.len(), 2);
            let missing = one.conditions.iter().filter(|one| one.unmet.is_some()).count();
            assert!(missing >= if met_by.is_some() { 0 } else { 2 }, "{name}: {one:#?}");
        }
    }
}

#[test]
fn what_several_saw_move_is_told_once() {
    let draw = |time: u64| match time {
        500.. => with(&[(rect(20, 20, 30, 20), 90)]),
        _ => page(),
    };
    let everything = || Condition::changed().captures(1).hold(Duration::ZERO);
    let any = Condition::any([everything(), everything()]).unwrap();
    let one = play(shot(draw), 0, &any, timeout(2000)).outcome;
    let areas: Vec<Rect> = one.timeline.entries().flat_map(|entry| entry.areas.clone()).collect();
    assert_eq!(areas, [rect(20, 20, 30, 20)]);
}

#[test]
fn none_met_says_what_each_lacked() {
    let draw = |time: u64| with(&[(rect(20, 20, 30, 20), u8::try_from(time / 100 % 200).unwrap())]);
    let still = Condition::stable().scope(inside(rect(10, 10, 60, 40))).label("quiet there");
    let scene = Condition::matches(with(&[(rect(150, 80, 30, 20), 1)]));
    let any = Condition::any([still.hold(ms(300)), scene]).unwrap();
    let one = play(shot(draw), 0, &any, timeout(1000)).outcome;
    assert_eq!(one.kind, OutcomeKind::TimedOut);
    let terms: Vec<Term> =
        one.conditions.iter().filter_map(|one| one.unmet.as_ref()).map(|one| one.term).collect();
    assert_eq!(terms, [Term::Hold, Term::Match]);
    let moving = &one.conditions[0].unmet.as_ref().unwrap().moving;
    assert_eq!(*moving, [rect(20, 20, 30, 20)], "in pixels of the surface");
    let told = one.sentence();
    for part in ["none of 2 conditions met within 1000 ms", "quiet there: it lasted", "matches:"] {
        assert!(told.contains(part), "{told}");
    }
}

/// Where two parts lie apart, what is captured is the box around both.
#[test]
fn each_looks_at_its_part_of_what_is_captured() {
    let (near, far) = (rect(10, 10, 30, 20), rect(120, 60, 30, 20));
    let conditions = [near, far].map(|part| first_sight().scope(inside(part)));
    let any = Condition::any(conditions).unwrap();
    let geometry = Geometry { size: page().size(), scale: 1.0, origin: (0, 0) };
    let monitor = Monitor::new(&any, &timeout(1000), geometry).unwrap();
    assert_eq!(monitor.region(), Some(near.union(far)));
    assert!(monitor.concerns(rect(0, 0, 12, 12)) && !monitor.concerns(rect(50, 10, 20, 20)));
    for (changed, met_by) in [(far, Some(1)), (near, Some(0)), (rect(60, 30, 30, 30), None)] {
        let draw = |time| with_if(time >= 300, (changed, 20));
        let one = play(shot(draw), 0, &any, timeout(1000)).outcome;
        assert_eq!(one.met_by(), met_by, "{changed}");
        assert_eq!(one.standing, met_by.map(|_| changed).into_iter().collect::<Vec<_>>());
        assert_eq!(one.last.unwrap().origin, near.union(far));
    }
}

#[test]
fn a_condition_that_ends_leaves_the_others() {
    let small = Frame::filled(Size::new(150, 90).unwrap(), PixelFormat::Bgrx, [9, 9, 9, 255]);
    let draw = |time: u64| if time < 500 { page() } else { small.clone() };
    let reference = with(&[(rect(30, 30, 20, 12), 90)]);
    let corner = Condition::stable().hold(ms(900)).scope(inside(rect(0, 0, 50, 50)));
    let any = Condition::any([Condition::matches(reference), corner, Condition::changed()]);
    let one = play(shot(draw), 0, &any.unwrap(), timeout(3000)).outcome;
    let kinds: Vec<OutcomeKind> = one.conditions.iter().map(|one| one.kind).collect();
    assert_eq!(
        kinds,
        [OutcomeKind::GeometryChanged, OutcomeKind::GeometryChanged, OutcomeKind::Met]
    );
    assert_eq!(one.met_by(), Some(2));
    assert_eq!(one.last.unwrap().origin, small.size().rect());
}

#[test]
fn several_are_refused_like_one() {
    assert!(Condition::any([]).is_err());
    let geometry = Geometry { size: page().size(), scale: 1.0, origin: (0, 0) };
    let any = Condition::any([Condition::changed(), Condition::stable().hold(ms(2000))]).unwrap();
    let error = Monitor::new(&any, &timeout(1000), geometry).unwrap_err().to_string();
    assert!(error.starts_with("stable: a hold of 2000 ms does not fit"), "{error}");
    let longer = any.clone().timeout(ms(3000));
    assert!(Monitor::new(&longer, &timeout(1000), geometry).is_ok());
    let nested = Condition::any([any, Condition::changed()]).unwrap();
    assert_eq!(nested.conditions().len(), 3);
}

#[test]
fn a_late_one_is_told_and_does_not_end_the_others() {
    let change = with(&[(rect(30, 30, 20, 12), 90)]);
    let draw = |time: u64| if time < 1100 { page() } else { change.clone() };
    let quick = Condition::matches(change.clone()).timeout(ms(1000));
    let held = Condition::changed().hold(ms(500));
    let any = Condition::any([quick.clone(), held]).unwrap();
    let one = play(shot(draw), 0, &any, timeout(3000).grace(ms(400))).outcome;
    assert_eq!((one.met_by(), one.late), (Some(1), None));
    assert!(one.conditions[0].late.is_some(), "{one:#?}");
    let any = Condition::any([quick, Condition::stable().hold(ms(1900)).timeout(ms(2000))]);
    let one = play(shot(draw), 0, &any.unwrap(), timeout(3000).grace(ms(400))).outcome;
    assert_eq!(one.met_by(), None);
    assert!(one.late >= Some(ms(100)), "{one:#?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn several_keep_the_promises_of_one(
        script in scripts(),
        seed: u64,
        hold in 0_u64..600,
        short in 100_u64..2000,
        more in 1_u64..2000,
        cost in 0_u64..60,
    ) {
        let total = short.max(hold) + more;
        let draw = |time| Shot::Shows(picture(standing(&script, time)));
        let changed = Condition::changed().captures(1).hold(ms(0)).timeout(ms(short));
        let stable = Condition::stable().captures(2).hold(ms(hold));
        let options = timeout(total).seed(seed);
        let any = Condition::any([changed, stable.clone()]).unwrap();
        let run = play(draw, cost, &any, options.clone());
        let last = *run.began.last().unwrap();
        prop_assert!(last < ms(total));
        prop_assert!(run.outcome.elapsed <= ms(total) + ms(cost));
        match run.outcome.met_by() {
            Some(0) => prop_assert!(last < ms(short) && standing(&script, last) != 0),
            Some(_) => prop_assert!(last - run.began[0] >= ms(hold)),
            None => prop_assert!(last + ms(3) + ms(cost) >= ms(total)),
        }
        let again = play(draw, cost, &any, options.clone());
        prop_assert_eq!((again.began, again.outcome.met_at), (run.began, run.outcome.met_at));
        // One alone is as without `any`.
        let alone = play(draw, cost, &stable, options.clone());
        let of_one = play(draw, cost, &Condition::any([stable]).unwrap(), options);
        prop_assert_eq!(of_one.began, alone.began);
        prop_assert_eq!(of_one.outcome.met_at, alone.outcome.met_at);
    }
}
