//! The executor while its surface fails, dies or is taken away at every moment there is.

use std::time::Duration;

use crate::clock::Cancel;

use super::fake::{Fake, Fault, is_balanced};
use super::{
    Access, Action, Drag, Executor, ExecutorOptions, Hold, ImagePoint, Modifier, Modifiers, Policy,
    Receipt, Request, Status, Step,
};

fn at(x: f64, y: f64) -> ImagePoint {
    ImagePoint::new(x, y).unwrap()
}

fn drag() -> Action {
    Action::Drag(Drag { steps: 4, ..Drag::new(at(2.0, 3.0), at(12.0, 9.0)) })
}

/// 4 + 7 + 4 events.
fn sequence() -> Action {
    let chord = || Action::hotkey(["ctrl", "s"]).unwrap();
    let step = |action| Step { wait: Duration::from_millis(50), action };
    Action::Sequence([chord(), drag(), chord()].into_iter().map(step).collect())
}

fn hold() -> Action {
    Action::Hold(Hold {
        keys: vec!["a".parse().unwrap()],
        modifiers: Modifiers::one(Modifier::Shift),
        duration: Duration::from_millis(900),
        actions: vec![Action::click(at(1.0, 1.0)), drag()],
    })
}

fn all() -> [Action; 4] {
    [Action::hotkey(["ctrl", "shift", "s"]).unwrap(), drag(), hold(), sequence()]
}

fn act(fake: &mut Fake, action: &Action, cancel: Cancel, access: Access) -> Receipt {
    let clock = fake.clock.clone();
    let mut executor =
        Executor::new(fake, clock, ExecutorOptions::new()).with_cancel(cancel).with_access(access);
    let id = executor.observe().unwrap().id;
    executor.execute(&Request::new(action.clone(), id)).unwrap()
}

fn undisturbed(action: &Action) -> Receipt {
    act(&mut Fake::new(32, 24), action, Cancel::never(), Access::default())
}

/// The events of the sequence's steps before the one an event belongs to.
fn steps_before(event: usize) -> usize {
    [4, 11].iter().filter(|&&end| event >= end).count()
}

#[test]
fn at_every_event_the_receipt_is_true() {
    for action in all() {
        let events = undisturbed(&action).delivery.events_planned;
        for index in 0..events {
            let (cancel, access) = (Cancel::new(), Access::default());
            for (fault, arrives, reason) in [
                (Fault::Refuses, false, "failed"),
                (Fault::LosesTheAnswer, false, "failed"),
                (Fault::HangsAndAccepts, true, "timed_out"),
                (Fault::HangsAndFails, false, "failed"),
                (Fault::Dies, false, "failed"),
                (Fault::Cancels(cancel.clone()), true, "cancelled"),
                (Fault::Revokes(access.clone(), Box::new(Policy::read_only())), true, "revoked"),
            ] {
                let told = format!("{fault:?} at {index} of {action:?}");
                let is_dead = matches!(fault, Fault::Dies);
                let cancels = matches!(fault, Fault::Cancels(_));
                let mut fake = Fake::new(32, 24);
                fake.fault = Some((index, fault));
                let cancel = if cancels { cancel.clone() } else { Cancel::never() };
                access.set(Policy::allow_all());
                let receipt = act(&mut fake, &action, cancel, access.clone());
                check(&receipt, &told, index + usize::from(arrives), reason, is_dead);
                if !is_dead {
                    assert!(fake.held.is_empty() && is_balanced(&fake.events), "{told}");
                }
            }
        }
    }
}

fn check(receipt: &Receipt, told: &str, delivered: usize, reason: &str, is_dead: bool) {
    let delivery = &receipt.delivery;
    // What hung at the very end of a step was accepted in time: the next one has its own.
    let goes_on =
        reason == "timed_out" && receipt.sequence.is_some() && [4, 11].contains(&delivered);
    let delivered = if goes_on { delivery.events_planned } else { delivered };
    assert_eq!(delivery.delivered_count, delivered, "{told}");
    let is_complete = delivered == delivery.events_planned;
    let status = if is_complete { Status::Delivered } else { Status::Unknown };
    assert_eq!(receipt.status, status, "{told}");
    let held = receipt.held_after.as_ref().unwrap();
    assert_eq!(held.verified, !is_dead, "{told}");
    assert!(is_dead || held.is_empty(), "{told}");
    assert!(is_dead || delivery.pressed <= delivery.released, "{told}: {delivery:?}");
    let message = receipt.message.clone().unwrap_or_default();
    assert_eq!(message.contains("never repeat this action"), !is_complete, "{told}: {message}");
    if let Some(report) = &receipt.sequence {
        assert_eq!(report.stop_reason, (!is_complete).then_some(reason), "{told}");
        let before = steps_before(delivered.saturating_sub(1));
        assert!((before..=before + 1).contains(&report.completed), "{told}: {report:?}");
        assert!((report.completed..=report.completed + 1).contains(&report.attempted), "{told}");
        assert_eq!(report.steps.len(), report.attempted, "{told}");
        let sent: usize = report.steps.iter().map(|step| step.delivered_count).sum();
        assert_eq!(sent, delivered, "{told}");
    }
}

#[test]
fn a_surface_that_dies_before_the_first_event_was_sent_nothing() {
    // The looks of an action: the observation, and the one just before the input.
    let mut fake = Fake::new(32, 24);
    fake.dies_after = Some(1);
    let clock = fake.clock.clone();
    let mut executor = Executor::new(&mut fake, clock, ExecutorOptions::new());
    let id = executor.observe().unwrap().id;
    let error = executor.execute(&Request::new(drag(), id)).unwrap_err();
    assert_eq!(error.to_string(), "the display is gone");
    drop(executor);
    assert_eq!(fake.events, []);
}

#[test]
fn a_surface_that_dies_after_the_input_leaves_a_receipt() {
    for looks in [2, 3, 4] {
        let mut fake = Fake::new(32, 24);
        fake.dies_after = Some(looks);
        let receipt = act(&mut fake, &drag(), Cancel::never(), Access::default());
        assert_eq!(receipt.status, Status::Delivered, "{looks}");
        assert_eq!(receipt.delivery.delivered_count, receipt.delivery.events_planned);
        let message = receipt.message.unwrap();
        let told = "what the action changed cannot be seen: the display is gone";
        assert_eq!((message.as_str(), receipt.after), (told, None), "{looks}");
    }
}

#[test]
fn what_was_asked_for_stands_beside_what_it_took() {
    let receipt = undisturbed(&sequence());
    let ms = Duration::from_millis;
    // A chord holds its key for 10 ms; a drag takes 500, 10 before the press, 20 before the release.
    let steps: Vec<_> = receipt.sequence.unwrap().steps;
    let times: Vec<_> =
        steps.iter().map(|step| (step.requested, step.started, step.ended)).collect();
    let expected =
        [(ms(10), ms(50), ms(60)), (ms(530), ms(110), ms(640)), (ms(10), ms(690), ms(700))];
    assert_eq!(times, expected);
    assert_eq!((receipt.delivery.requested, receipt.delivery.took), (ms(700), ms(700)));

    let mut fake = Fake::new(32, 24);
    fake.every_fourth_takes = ms(100);
    let receipt = act(&mut fake, &drag(), Cancel::never(), Access::default());
    assert_eq!((receipt.delivery.requested, receipt.delivery.took), (ms(530), ms(630)));
}

#[test]
fn whatever_was_looked_at_in_part_the_observation_is_whole() {
    let mut fake = Fake::new(64, 48);
    let clock = fake.clock.clone();
    let mut executor = Executor::new(&mut fake, clock, ExecutorOptions::new());
    let id = executor.observe().unwrap().id;
    let asked = super::WaitFor {
        condition: crate::wait::Condition::stable().into(),
        timeout: Duration::from_secs(1),
        region: Some("10,10,20,20".parse().unwrap()),
        or: Vec::new(),
    };
    executor.execute(&Request::new(Action::WaitFor(asked), id)).unwrap();
    let observation = executor.current().unwrap();
    assert_eq!(
        (observation.frame.size(), observation.image),
        (observation.geometry.size, observation.geometry.size)
    );
}

#[test]
fn every_point_of_a_way_must_be_free() {
    let through = Action::DragAlong(super::Path {
        from: at(1.0, 1.0),
        via: vec![at(10.0, 10.0), at(2.0, 2.0)],
        to: at(3.0, 3.0),
        duration: Duration::ZERO,
    });
    let to = Action::DragAlong(super::Path {
        from: at(1.0, 1.0),
        via: vec![at(2.0, 2.0)],
        to: at(10.0, 10.0),
        duration: Duration::ZERO,
    });
    let straight = Action::Drag(Drag::new(at(1.0, 1.0), at(10.0, 10.0)));
    for action in [through, to, straight] {
        let mut fake = Fake::new(32, 24);
        fake.covered = Some("8,8,8,8".parse().unwrap());
        let receipt = act(&mut fake, &action, Cancel::never(), Access::default());
        let refusal = receipt.refusal.unwrap();
        assert_eq!(refusal.message(), "point (10, 10) cannot be reached: a lid covers it");
        assert_eq!(fake.events, []);
    }
}
