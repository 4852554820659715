//! The executor against a surface that goes wrong at every point it can.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::clock::Cancel;
use crate::frame::{Frame, PixelFormat};
use crate::geometry::{Point, Size};
use crate::report::Verdict;
use crate::wait::Condition;

use super::action::{Action, Drag, Hold, Path, Request, Step, Text, WaitFor};
use super::driver::{Button, InputEvent, KeyCode, Wheel};
use super::executor::{Executor, ExecutorOptions};
use super::fake::{CTRL, Fake, Fault, INSERT, SHIFT, is_balanced};
use super::keys::{Modifier, Modifiers};
use super::observation::{ImagePoint, ObservationId};
use super::policy::Policy;
use super::receipt::{Postcondition, Receipt, Status};
use super::refusal::RefusalKind;

fn at(x: f64, y: f64) -> ImagePoint {
    ImagePoint::new(x, y).unwrap()
}

fn text(text: &str) -> Text {
    Text::new(text).unwrap()
}

fn chord(keys: &str) -> Action {
    Action::hotkey(keys.split('+')).unwrap()
}

fn drag(steps: u32) -> Action {
    let modifiers = Modifiers::new([Modifier::Ctrl, Modifier::Shift]).unwrap();
    Action::Drag(Drag { steps, modifiers, ..Drag::new(at(2.0, 3.0), at(12.0, 9.0)) })
}

fn path() -> Action {
    Action::DragAlong(Path {
        from: at(1.0, 1.0),
        via: vec![at(2.0, 3.0), at(4.0, 5.0)],
        to: at(6.0, 7.0),
        duration: Duration::from_millis(300),
    })
}

fn hold(keys: &[&str], duration_ms: u64, actions: Vec<Action>) -> Action {
    Action::Hold(Hold {
        keys: keys.iter().map(|key| key.parse().unwrap()).collect(),
        modifiers: Modifiers::new([Modifier::Ctrl, Modifier::Shift]).unwrap(),
        duration: Duration::from_millis(duration_ms),
        actions,
    })
}

fn sequence(actions: impl IntoIterator<Item = Action>) -> Action {
    let wait = Duration::from_millis(100);
    Action::Sequence(actions.into_iter().map(|action| Step { wait, action }).collect())
}

/// One of each action that presses something.
fn pressing() -> Vec<Action> {
    let shift = Modifiers::one(Modifier::Shift);
    vec![
        Action::click(at(5.0, 6.0)),
        Action::Click { at: at(5.0, 6.0), button: Button::Middle, count: 3, modifiers: shift },
        Action::RightClick { at: at(1.0, 1.0), modifiers: Modifiers::none() },
        Action::DoubleClick { at: at(1.0, 1.0), modifiers: Modifiers::one(Modifier::Ctrl) },
        Action::Hover { at: at(3.0, 3.0) },
        drag(4),
        Action::Scroll { at: at(8.0, 8.0), delta_x: -1, delta_y: 2 },
        Action::key("enter".parse().unwrap()),
        chord("ctrl+shift+s"),
        Action::SelectAll,
        Action::type_text(text("Kites Won")),
        path(),
        hold(&["a", "b"], 400, vec![path(), Action::click(at(1.0, 1.0))]),
    ]
}

/// Observes and carries out one action.
fn act(fake: &mut Fake, action: Action) -> Receipt {
    act_until(fake, action, Cancel::never())
}

fn act_until(fake: &mut Fake, action: Action, cancel: Cancel) -> Receipt {
    let clock = fake.clock.clone();
    let mut executor = Executor::new(fake, clock, ExecutorOptions::default()).with_cancel(cancel);
    let id = executor.observe().unwrap().id;
    executor.execute(&Request::new(action, id)).unwrap()
}

fn act_with(fake: &mut Fake, action: Action, options: ExecutorOptions) -> Receipt {
    let clock = fake.clock.clone();
    let mut executor = Executor::new(fake, clock, options);
    let id = executor.observe().unwrap().id;
    executor.execute(&Request::new(action, id)).unwrap()
}

fn act_after(fake: &mut Fake, action: Action, postcondition: WaitFor) -> Receipt {
    let clock = fake.clock.clone();
    let mut executor = Executor::new(fake, clock, ExecutorOptions::default());
    let id = executor.observe().unwrap().id;
    let request = Request { postcondition: Some(postcondition), ..Request::new(action, id) };
    executor.execute(&request).unwrap()
}

const fn key(code: KeyCode, down: bool) -> InputEvent {
    InputEvent::Key { code, down }
}

const fn button(button: Button, down: bool) -> InputEvent {
    InputEvent::Button { button, down }
}

const fn to(x: u32, y: u32) -> InputEvent {
    InputEvent::Move(Point::new(x, y))
}

#[test]
fn each_action_is_these_events() {
    use Button::{Left, Middle, Right};
    let (a, s, enter) = (KeyCode(97), KeyCode(115), KeyCode("return".bytes().map(u32::from).sum()));
    let shift = Modifiers::one(Modifier::Shift);
    for (action, events) in [
        (Action::click(at(5.9, 6.0)), vec![to(5, 6), button(Left, true), button(Left, false)]),
        (
            Action::Click { at: at(5.0, 6.0), button: Middle, count: 2, modifiers: shift },
            vec![
                to(5, 6),
                key(SHIFT, true),
                button(Middle, true),
                button(Middle, false),
                button(Middle, true),
                button(Middle, false),
                key(SHIFT, false),
            ],
        ),
        (
            Action::RightClick { at: at(1.0, 1.0), modifiers: Modifiers::none() },
            vec![to(1, 1), button(Right, true), button(Right, false)],
        ),
        (
            Action::DoubleClick { at: at(1.0, 1.0), modifiers: Modifiers::none() },
            vec![
                to(1, 1),
                button(Left, true),
                button(Left, false),
                button(Left, true),
                button(Left, false),
            ],
        ),
        (Action::Hover { at: at(3.0, 3.0) }, vec![to(3, 3)]),
        (
            drag(2),
            vec![
                to(2, 3),
                key(CTRL, true),
                key(SHIFT, true),
                button(Left, true),
                to(7, 6),
                to(12, 9),
                button(Left, false),
                key(SHIFT, false),
                key(CTRL, false),
            ],
        ),
        (
            Action::Scroll { at: at(8.0, 8.0), delta_x: -1, delta_y: 2 },
            vec![
                to(8, 8),
                InputEvent::Wheel(Wheel::Down),
                InputEvent::Wheel(Wheel::Down),
                InputEvent::Wheel(Wheel::Left),
            ],
        ),
        (Action::key("Enter".parse().unwrap()), vec![key(enter, true), key(enter, false)]),
        (
            chord("Control+Shift+S"),
            vec![
                key(CTRL, true),
                key(SHIFT, true),
                key(s, true),
                key(s, false),
                key(SHIFT, false),
                key(CTRL, false),
            ],
        ),
        (Action::SelectAll, vec![key(CTRL, true), key(a, true), key(a, false), key(CTRL, false)]),
        (
            Action::type_text(text("aA")),
            vec![
                key(a, true),
                key(a, false),
                key(SHIFT, true),
                key(a, true),
                key(a, false),
                key(SHIFT, false),
            ],
        ),
        (
            path(),
            vec![to(1, 1), button(Left, true), to(2, 3), to(4, 5), to(6, 7), button(Left, false)],
        ),
        (
            hold(&["s"], 50, vec![Action::click(at(3.0, 4.0))]),
            vec![
                key(CTRL, true),
                key(SHIFT, true),
                key(s, true),
                to(3, 4),
                button(Left, true),
                button(Left, false),
                key(s, false),
                key(SHIFT, false),
                key(CTRL, false),
            ],
        ),
        (
            sequence([Action::key("s".parse().unwrap()), Action::SelectAll]),
            vec![
                key(s, true),
                key(s, false),
                key(CTRL, true),
                key(a, true),
                key(a, false),
                key(CTRL, false),
            ],
        ),
    ] {
        let mut fake = Fake::new(64, 48);
        let presses = events.iter().filter(|event| is_press(event)).count();
        let receipt = act(&mut fake, action);
        assert_eq!(fake.events, events, "{receipt:?}");
        assert_eq!(receipt.status, Status::Delivered);
        let delivery = &receipt.delivery;
        assert_eq!(
            (delivery.events_planned, delivery.delivered_count),
            (events.len(), events.len())
        );
        assert_eq!(
            (delivery.pressed, delivery.released, delivery.route),
            (presses, presses, "fake")
        );
        let held = receipt.held_after.unwrap();
        assert!(held.is_empty() && held.verified);
        assert_eq!(receipt.message, None);
    }
}

const fn is_press(event: &InputEvent) -> bool {
    matches!(event, InputEvent::Key { down: true, .. } | InputEvent::Button { down: true, .. })
}

#[test]
fn paces_are_kept() {
    let slow = |delay_ms| Action::TypeText {
        text: text(&"x".repeat(100)),
        delay: Duration::from_millis(delay_ms),
    };
    for (action, input_ms) in [
        (slow(0), 0),
        (slow(30), 99 * 30 + 10),
        (Action::click(at(500.0, 400.0)), 30),
        (path(), 10 + 300 + 20),
        (hold(&[], 2000, Vec::new()), 2000),
        (hold(&[], 2000, vec![Action::click(at(500.0, 400.0))]), 2000),
        (sequence([Action::SelectAll, Action::SelectAll]), 2 * (100 + 10)),
    ] {
        let receipt = act(&mut Fake::new(640, 480), action);
        let input = receipt.elapsed - receipt.wait.unwrap().elapsed;
        assert_eq!(input, Duration::from_millis(input_ms), "{:?}", receipt.action);
    }
}

#[test]
fn the_change_is_told_from_just_before_the_input() {
    let mut fake = Fake::new(640, 480);
    let receipt = act(&mut fake, Action::click(at(300.0, 200.0)));
    let change = receipt.change.unwrap();
    assert_eq!(change.report.verdict, Verdict::Changed);
    assert_eq!(change.report.areas[0].rect, "294,194,13,13".parse().unwrap());
    assert!(change.report.areas[0].at_input_point);
    assert_eq!((receipt.before, receipt.after), (id(1), id(2)));

    let receipt = act(&mut fake, Action::Hover { at: at(1.0, 1.0) });
    let change = receipt.change.unwrap();
    assert_eq!(change.sentences(), "Nothing changed in the frame within 300 ms.");
    assert!(!format!("{:?}{:?}", receipt.message, change.sentences()).contains("fail"));
}

fn id(number: u64) -> Option<ObservationId> {
    Some(ObservationId::new(number))
}

#[test]
fn points_are_pixels_of_the_image_that_was_shown() {
    let mut fake = Fake::new(2560, 1600);
    let clock = fake.clock.clone();
    let options = ExecutorOptions::new().max_edge(1280);
    let mut executor = Executor::new(&mut fake, clock, options);
    let current = executor.observe().unwrap();
    assert_eq!((current.id, current.image.width()), (ObservationId::new(1), 1280));
    for (x, y, message) in [
        (
            1412.0,
            230.0,
            "point (1412, 230) is outside the 1280x800 image of obs-1 (capture 2560x1600)",
        ),
        (
            412.0,
            800.0,
            "point (412, 800) is outside the 1280x800 image of obs-1 (capture 2560x1600)",
        ),
        (-1.0, 5.0, "point (-1, 5) is outside the 1280x800 image of obs-1 (capture 2560x1600)"),
        (1280.0, 5.0, "point (1280, 5) is outside the 1280x800 image of obs-1 (capture 2560x1600)"),
    ] {
        let request = Request::new(Action::click(at(x, y)), ObservationId::new(1));
        let receipt = executor.execute(&request).unwrap();
        let refusal = receipt.refusal.unwrap();
        assert_eq!((refusal.kind(), refusal.message()), (RefusalKind::Outside, message));
        assert_eq!((receipt.before, receipt.after), (id(1), id(1)), "a refusal costs nothing");
        assert_eq!(receipt.delivery.delivered_count, 0);
    }
    let outside_at_the_end = Action::Drag(Drag::new(at(1.0, 1.0), at(1.0, 900.0)));
    let receipt =
        executor.execute(&Request::new(outside_at_the_end, ObservationId::new(1))).unwrap();
    assert_eq!(receipt.status, Status::Refused);
    let request = Request::new(Action::click(at(412.0, 230.0)), ObservationId::new(1));
    assert_eq!(executor.execute(&request).unwrap().status, Status::Delivered);
    drop(executor);
    assert_eq!(fake.events[0], to(824, 460));
    assert_eq!(fake.events.len(), 3, "the refused ones sent nothing");
}

#[test]
fn an_observation_serves_one_action() {
    let mut fake = Fake::new(64, 48);
    let clock = fake.clock.clone();
    let mut executor = Executor::new(&mut fake, clock, ExecutorOptions::default());
    let click = |observation| Request {
        action: Action::click(at(5.0, 5.0)),
        observation,
        screenshot: true,
        marks: false,
        postcondition: None,
    };
    let refusal = |executor: &mut Executor<'_>, observation| {
        let refusal = executor.execute(&click(observation)).unwrap().refusal.unwrap();
        (refusal.kind(), refusal.message().to_owned())
    };
    use RefusalKind::{StaleObservation, UnknownObservation};
    let no_current = "there is no current observation: observe first".to_owned();
    assert_eq!(refusal(&mut executor, id(1)), (UnknownObservation, no_current));
    executor.observe().unwrap();
    assert_eq!(executor.execute(&click(id(1))).unwrap().after, id(2));
    for (named, kind, message) in [
        (
            id(1),
            StaleObservation,
            "obs-1 is stale: the current observation is obs-2; look at it and choose again",
        ),
        (id(3), UnknownObservation, "there is no obs-3 yet: the current observation is obs-2"),
        (
            None,
            UnknownObservation,
            "the observation the action was chosen from is missing: the current one is obs-2",
        ),
    ] {
        assert_eq!(refusal(&mut executor, named), (kind, message.to_owned()));
    }
    let observe = Request::without_observation(Action::Observe);
    assert_eq!(executor.execute(&observe).unwrap().after, id(3));
    let wait = Request::without_observation(Action::Wait { duration: Duration::from_secs(2) });
    let waited = executor.execute(&wait).unwrap();
    assert_eq!((waited.after, waited.elapsed), (id(4), Duration::from_secs(2)));
    assert_eq!(waited.change.unwrap().sentences(), "Nothing changed in the frame within 2000 ms.");
    assert_eq!(executor.execute(&click(id(4))).unwrap().status, Status::Delivered);
}

#[test]
fn what_forbids_an_action_is_told_and_sends_nothing() {
    type Break = fn(&mut Fake);
    let policies = [Policy::allow_all(), Policy::read_only(), Policy::allow_all().deny("click")];
    let [all, read_only, no_clicks] = policies;
    let click = Action::click(at(5.0, 5.0));
    let typing = Action::type_text(text("a\u{1F642}b"));
    let long_wait = Action::Wait { duration: Duration::from_secs(31) };
    let super_key = Action::key("a".parse().unwrap());
    let super_key = match super_key {
        Action::Key { key, .. } => Action::Key { key, modifiers: Modifiers::one(Modifier::Super) },
        other => other,
    };
    let nothing: Break = |_| {};
    let rows: [(Action, &Policy, Break, RefusalKind, &str); 30] = [
        (
            click.clone(),
            &read_only,
            nothing,
            RefusalKind::ReadOnly,
            "this session is read-only: click would send input; observe and wait do not",
        ),
        (
            click.clone(),
            &no_clicks,
            nothing,
            RefusalKind::NotPermitted,
            "the policy of this session does not allow click",
        ),
        (
            // Shape comes before permission, permission before state.
            Action::Click {
                at: at(5.0, 5.0),
                button: Button::Left,
                count: 4,
                modifiers: Modifiers::none(),
            },
            &read_only,
            |fake| fake.held.keys.push(CTRL),
            RefusalKind::BadValue,
            "count must be 1 to 3, not 4",
        ),
        (
            Action::click(at(99.0, 5.0)),
            &read_only,
            |fake| fake.held.keys.push(CTRL),
            RefusalKind::ReadOnly,
            "this session is read-only: click would send input; observe and wait do not",
        ),
        (
            Action::click(at(99.0, 5.0)),
            &all,
            |fake| fake.held.keys.push(CTRL),
            RefusalKind::InputHeld,
            "already held by somebody else: key ctrl; let go of it first (seechange doctor --release)",
        ),
        (
            click.clone(),
            &all,
            |fake| {
                fake.held.buttons.push(Button::Left);
                fake.held.keys.extend([CTRL, KeyCode(37)]);
            },
            RefusalKind::InputHeld,
            "already held by somebody else: button left, key ctrl and key 37; let go of it first \
             (seechange doctor --release)",
        ),
        (
            click.clone(),
            &all,
            |fake| fake.geometry.origin = (5, 0),
            RefusalKind::GeometryChanged,
            "the surface was 64x48 at (0, 0) in obs-1 and is 64x48 at (5, 0) now; observe and \
             choose again",
        ),
        (
            click,
            &all,
            |fake| fake.geometry.scale = 2.0,
            RefusalKind::GeometryChanged,
            "the surface was 64x48 at (0, 0) in obs-1 and is 64x48 at (0, 0) at scale 2 now; \
             observe and choose again",
        ),
        (
            typing,
            &all,
            |fake| (fake.untypable, fake.spare) = ("\u{1F642}", 0),
            RefusalKind::NoSuchKey,
            "character 2 of the text (U+1F642) has no key on this keyboard layout, and none can be \
             lent to it; nothing was typed",
        ),
        (
            Action::type_text(text("a\u{1F642}\u{7}")),
            &all,
            |fake| fake.untypable = "\u{1F642}\u{7}",
            RefusalKind::NoSuchKey,
            "character 3 of the text (U+0007) is a control character: of those a text has line \
             breaks and tabs alone; nothing was typed",
        ),
        (
            Action::type_text(text("a")),
            &all,
            |fake| fake.has_focus = false,
            RefusalKind::NotFocused,
            "the keyboard focus is on 0x2a \"dialog\", not on the surface: click into it first; \
             nothing was sent",
        ),
        (
            hold(&["a"], 400, vec![path()]),
            &all,
            |fake| fake.has_focus = false,
            RefusalKind::NotFocused,
            "the keyboard focus is on 0x2a \"dialog\", not on the surface: click into it first; \
             nothing was sent",
        ),
        (
            Action::click(at(5.0, 5.0)),
            &all,
            |fake| fake.owner = Some("pid 71 (seechange), for 3.2 s"),
            RefusalKind::NotOurTurn,
            "another program sends input here: pid 71 (seechange), for 3.2 s; try again when it \
             is done",
        ),
        (
            super_key,
            &all,
            nothing,
            RefusalKind::NoSuchKey,
            "this keyboard has no key super; nothing was pressed",
        ),
        (long_wait, &all, nothing, RefusalKind::BadValue, "seconds must be 0 to 30, not 31"),
        (drag(0), &all, nothing, RefusalKind::BadValue, "steps must be 1 to 200, not 0"),
        (
            Action::Scroll { at: at(1.0, 1.0), delta_x: 0, delta_y: 51 },
            &all,
            nothing,
            RefusalKind::BadValue,
            "delta_y must be -50 to 50, not 51",
        ),
        (
            Action::Scroll { at: at(1.0, 1.0), delta_x: 0, delta_y: 0 },
            &all,
            nothing,
            RefusalKind::BadValue,
            "delta_x and delta_y are both 0: turn the wheel by at least one detent",
        ),
        (
            Action::DragAlong(Path {
                from: at(1.0, 1.0),
                via: vec![at(1.0, 1.0); 255],
                to: at(2.0, 2.0),
                duration: Duration::ZERO,
            }),
            &all,
            nothing,
            RefusalKind::BadValue,
            "via must be 1 to 254 points, not 255",
        ),
        (
            hold(&["a", "a"], 10, Vec::new()),
            &all,
            nothing,
            RefusalKind::BadValue,
            "the key a stands there twice",
        ),
        (
            hold(&["a", "b", "c", "d", "e", "f", "g"], 10, Vec::new()),
            &all,
            nothing,
            RefusalKind::BadValue,
            "keys must be 1 to 8 keys, not 9",
        ),
        (
            hold(&["a"], 349, vec![path(), Action::click(at(1.0, 1.0))]),
            &all,
            nothing,
            RefusalKind::BadValue,
            "the actions of the hold take 350 ms and do not fit in its 349 ms",
        ),
        (
            hold(&["a"], 500, vec![path(), Action::SelectAll]),
            &all,
            nothing,
            RefusalKind::BadValue,
            "action 2: a hold takes left clicks and drags, not select_all",
        ),
        (
            hold(&["a"], 500, vec![drag(4)]),
            &all,
            nothing,
            RefusalKind::BadValue,
            "action 1: in a hold a drag takes no button, count or modifiers",
        ),
        (
            hold(&["a"], 500, vec![Action::click(at(1.0, 1.0)), Action::click(at(64.0, 1.0))]),
            &all,
            nothing,
            RefusalKind::Outside,
            "action 2: point (64, 1) is outside the 64x48 image of obs-1 (capture 64x48)",
        ),
        (
            sequence([]),
            &all,
            nothing,
            RefusalKind::BadValue,
            "steps must be 1 to 2000 steps, not 0",
        ),
        (
            sequence([Action::SelectAll, sequence([Action::SelectAll])]),
            &all,
            nothing,
            RefusalKind::BadValue,
            "step 2: a sequence takes key, hotkey, type_text, select_all, click, double_click, \
             right_click and drag, not sequence",
        ),
        (
            sequence(vec![slow_typing(); 3]),
            &all,
            nothing,
            RefusalKind::BadValue,
            "the steps ask for 1200.3 s together, and a sequence has at most 900",
        ),
        (
            sequence([Action::SelectAll, Action::click(at(1.0, 1.0))]),
            &no_clicks,
            nothing,
            RefusalKind::NotPermitted,
            "the policy of this session does not allow click",
        ),
        (
            sequence([Action::SelectAll, Action::type_text(text("ab"))]),
            &all,
            |fake| (fake.untypable, fake.spare) = ("b", 0),
            RefusalKind::NoSuchKey,
            "step 2: character 2 of the text (U+0062) has no key on this keyboard layout, and none \
             can be lent to it; nothing was typed",
        ),
    ];
    for (action, policy, break_it, kind, message) in rows {
        let mut fake = Fake::new(64, 48);
        fake.after_first_look = break_it;
        let clock = fake.clock.clone();
        let options = ExecutorOptions::new().policy(policy.clone());
        let mut executor = Executor::new(&mut fake, clock, options);
        let observation = executor.observe().unwrap().id;
        let receipt = executor.execute(&Request::new(action, observation)).unwrap();
        let refusal = receipt.refusal.unwrap();
        assert_eq!((refusal.kind(), refusal.message()), (kind, message));
        assert_eq!(receipt.status, Status::Refused);
        assert_eq!(executor.current().unwrap().id, observation, "a refusal costs nothing");
        drop(executor);
        assert_eq!(fake.events, []);
        let mut expected = Fake::new(64, 48);
        break_it(&mut expected);
        assert_eq!(fake.held, expected.held, "what is not ours stays held");
    }
}

#[test]
fn a_key_on_its_way_up_is_awaited_for_as_long_as_asked() {
    for (patience, lifted_at, status) in [
        (0, 1, Status::Refused),
        (300, 100, Status::Delivered),
        (300, 300, Status::Delivered),
        (300, 301, Status::Refused),
    ] {
        let mut fake = Fake::new(64, 48);
        fake.held.keys.push(CTRL);
        fake.lifted_at = Some(Duration::from_millis(lifted_at));
        let options = ExecutorOptions::new().patience(Duration::from_millis(patience));
        let receipt = act_with(&mut fake, Action::click(at(5.0, 5.0)), options);
        assert_eq!(receipt.status, status, "{lifted_at} of {patience} ms");
    }
}

fn slow_typing() -> Action {
    Action::TypeText { text: text(&"x".repeat(2000)), delay: Duration::from_millis(200) }
}

#[test]
fn a_sequence_stops_at_the_first_step_that_is_not_delivered() {
    let steps = || sequence([Action::SelectAll, drag(4), Action::type_text(text("abc"))]);
    // Steps of 4, 11 and 6 events. What hangs at the end of a step was accepted in the end.
    for (index, fault, completed, attempted, count, reason) in [
        (0, Some(Fault::Refuses), 0, 1, 0, Some("failed")),
        (3, Some(Fault::LosesTheAnswer), 0, 1, 3, Some("failed")),
        (4, Some(Fault::Refuses), 1, 2, 4, Some("failed")),
        (10, Some(Fault::HangsAndAccepts), 1, 2, 11, Some("timed_out")),
        (14, Some(Fault::HangsAndAccepts), 3, 3, 21, None),
        (10, Some(Fault::Dies), 1, 2, 10, Some("failed")),
        (0, None, 3, 3, 21, None),
    ] {
        let mut fake = Fake::new(32, 24);
        fake.fault = fault.clone().map(|fault| (index, fault));
        let receipt = act(&mut fake, steps());
        let told = format!("{fault:?} at {index}: {:?}", receipt.message);
        let report = receipt.sequence.unwrap();
        let counts = (report.total, report.completed, report.attempted, report.steps.len());
        assert_eq!(counts, (3, completed, attempted, attempted), "{told}");
        assert_eq!(report.stop_reason, reason, "{told}");
        assert_eq!(receipt.delivery.delivered_count, count, "{told}");
        assert_eq!(receipt.status == Status::Delivered, reason.is_none(), "{told}");
        assert!(matches!(fault, Some(Fault::Dies)) || fake.held.is_empty(), "{told}");
    }
}

#[test]
fn a_sequence_is_stopped_between_its_steps() {
    for (index, attempted) in [(3, 1), (14, 2)] {
        let cancel = Cancel::new();
        let mut fake = Fake::new(32, 24);
        fake.fault = Some((index, Fault::Cancels(cancel.clone())));
        let steps = sequence([Action::SelectAll, drag(4), Action::SelectAll]);
        let receipt = act_until(&mut fake, steps, cancel);
        let report = receipt.sequence.unwrap();
        assert_eq!((report.attempted, report.completed), (attempted, attempted));
        assert_eq!(report.stop_reason, Some("cancelled"));
        assert_eq!(receipt.status, Status::Unknown);
        assert!(receipt.message.unwrap().contains("never repeat this action"));
    }
    let mut fake = Fake::new(32, 24);
    fake.fault = Some((3, Fault::Sticks));
    let receipt = act(&mut fake, sequence([Action::SelectAll, Action::SelectAll]));
    assert_eq!(receipt.sequence.unwrap().attempted, 1, "nothing is sent while a key is stuck");
}

#[test]
fn a_sequence_ends_after_half_an_hour() {
    let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
    let typing = || Action::TypeText { text: text("ab"), delay: Duration::from_millis(200) };
    let mut fake = Fake::new(32, 24);
    // A driver so slow that it takes a minute for one of the events of each step.
    fake.every_fourth_takes = minutes(1);
    let receipt = act_with(
        &mut fake,
        sequence(vec![typing(); 100]),
        ExecutorOptions::new().grace(minutes(2)),
    );
    let report = receipt.sequence.unwrap();
    assert_eq!((report.completed, report.stop_reason), (30, Some("timed_out")));
}

fn wait_for(condition: Condition, timeout_ms: u64) -> WaitFor {
    WaitFor {
        condition: condition.into(),
        timeout: Duration::from_millis(timeout_ms),
        region: None,
        or: vec![],
    }
}

/// What the fake shows after a click at (20, 20).
fn black_box() -> Frame {
    Frame::filled(Size::new(13, 13).unwrap(), PixelFormat::Rgba, [0, 0, 0, 255])
}

/// As large as the fake, and nothing it ever shows.
fn black_box_alone() -> Frame {
    Frame::filled(Size::new(64, 48).unwrap(), PixelFormat::Rgba, [0, 0, 0, 255])
}

#[test]
fn a_wait_is_asked_for_and_answered() {
    for (condition, has_changed, is_met) in [
        (Condition::stable(), false, true),
        (Condition::changed(), false, false),
        (Condition::changed(), true, true),
        (Condition::appears(black_box()), true, true),
        (Condition::gone(black_box()), true, false),
    ] {
        let mut fake = Fake::new(64, 48);
        if has_changed {
            fake.after_first_look = |fake| fake.click(20, 20);
        }
        let told = format!("{} {has_changed}", condition.name());
        let receipt = act(&mut fake, Action::WaitFor(wait_for(condition, 1000)));
        assert_eq!(receipt.status, Status::Delivered, "{told}");
        assert_eq!(receipt.is_fulfilled(), is_met, "{told}");
        assert_eq!(receipt.wait.unwrap().is_met(), is_met, "{told}");
        assert_eq!((receipt.before, receipt.after), (id(1), id(2)), "{told}");
        assert_eq!(receipt.delivery.events_planned, 0);
    }
}

#[test]
fn a_postcondition_must_become_true_after_the_input() {
    let click = || Action::click(at(20.0, 20.0));
    for (action, condition, is_met) in [
        (click(), Condition::appears(black_box()), true),
        (click(), Condition::changed(), true),
        (Action::Hover { at: at(20.0, 20.0) }, Condition::appears(black_box()), false),
        (Action::Hover { at: at(20.0, 20.0) }, Condition::changed(), false),
    ] {
        let mut fake = Fake::new(64, 48);
        let told = format!("{} after {}", condition.name(), action.name());
        let receipt = act_after(&mut fake, action, wait_for(condition, 500));
        assert_eq!(receipt.status, Status::Delivered, "{told}");
        assert_eq!(
            receipt.postcondition.as_ref().map(Postcondition::is_met),
            Some(is_met),
            "{told}"
        );
        assert_eq!(receipt.is_fulfilled(), is_met, "{told}");
        assert!(receipt.change.is_some(), "{told}");
    }
    let mut fake = Fake::new(64, 48);
    fake.click(20, 20);
    let receipt = act_after(&mut fake, click(), wait_for(Condition::appears(black_box()), 500));
    assert!(!receipt.is_fulfilled(), "what was there before does not count");
}

#[test]
fn the_first_of_several_conditions_ends_the_wait() {
    let comes = || wait_for(Condition::appears(black_box()), 500);
    let never = || wait_for(Condition::matches(black_box_alone()), 400);
    let click = || Action::click(at(20.0, 20.0));
    let hover = || Action::Hover { at: at(20.0, 20.0) };
    for (action, first, second, met_by) in [
        (click(), never(), comes(), Some(1)),
        (click(), comes(), never(), Some(0)),
        (hover(), comes(), never(), None),
    ] {
        let asked = WaitFor { or: vec![second], ..first };
        let receipt = act_after(&mut Fake::new(64, 48), action, asked);
        let outcome = &receipt.postcondition.as_ref().unwrap().outcome;
        assert_eq!(outcome.met_by(), met_by, "{outcome:#?}");
        assert_eq!(receipt.is_fulfilled(), met_by.is_some());
    }
    let mut many = never();
    many.or = (0..16).map(|_| never()).collect();
    let receipt = act(&mut Fake::new(64, 48), Action::WaitFor(many));
    let told = receipt.refusal.unwrap().message().to_owned();
    assert_eq!(told, "any must be 1 to 16 conditions, not 17");
}

#[test]
fn an_impossible_wait_is_refused_before_the_input() {
    let never = || wait_for(Condition::stable().hold(Duration::from_secs(2)), 1000);
    let message = "stable: a hold of 2000 ms does not fit in a timeout of 1000 ms: make the \
                   timeout longer or the hold shorter";
    let outside = WaitFor {
        region: Some("60,0,5,5".parse().unwrap()),
        ..wait_for(Condition::stable(), 1000)
    };
    for (action, postcondition, told) in [
        (Action::WaitFor(never()), None, message),
        (Action::click(at(1.0, 1.0)), Some(never()), message),
        (
            Action::WaitFor(outside),
            None,
            "region x=60 y=0 w=5 h=5 is outside the 64x48 image (capture 64x48)",
        ),
        (
            Action::Observe,
            Some(wait_for(Condition::stable(), 1000)),
            "observe sends no input, so it has no postcondition: use wait_for",
        ),
    ] {
        let mut fake = Fake::new(64, 48);
        let clock = fake.clock.clone();
        let mut executor = Executor::new(&mut fake, clock, ExecutorOptions::default());
        let id = executor.observe().unwrap().id;
        let request = Request { postcondition, ..Request::new(action, id) };
        let receipt = executor.execute(&request).unwrap();
        assert_eq!(receipt.refusal.unwrap().message(), told);
        assert_eq!(receipt.after, Some(id));
        drop(executor);
        assert_eq!(fake.events, []);
    }
}

/// How many events an action has.
fn length(action: &Action) -> usize {
    act(&mut Fake::new(32, 24), action.clone()).delivery.events_planned
}

#[test]
fn whatever_fails_wherever_nothing_stays_held() {
    let faults = [
        Fault::Refuses,
        Fault::LosesTheAnswer,
        Fault::HangsAndAccepts,
        Fault::HangsAndFails,
        Fault::Cancels(Cancel::never()),
    ];
    for action in pressing() {
        for index in 0..length(&action) {
            for fault in &faults {
                check_fault(&action, index, fault);
            }
        }
    }
}

fn check_fault(action: &Action, index: usize, fault: &Fault) {
    let told = format!("{fault:?} at {index} of {action:?}");
    let cancel = Cancel::new();
    let fault = match fault {
        Fault::Cancels(_) => Fault::Cancels(cancel.clone()),
        other => other.clone(),
    };
    let arrives = matches!(fault, Fault::HangsAndAccepts | Fault::Cancels(_));
    let mut fake = Fake::new(32, 24);
    fake.fault = Some((index, fault));
    let receipt = act_until(&mut fake, action.clone(), cancel);
    assert!(fake.held.is_empty(), "{told}: {:?}", fake.held);
    assert!(is_balanced(&fake.events), "{told}");
    let delivery = &receipt.delivery;
    assert_eq!(delivery.delivered_count, index + usize::from(arrives), "{told}");
    let complete = delivery.delivered_count == delivery.events_planned;
    let status = if complete { Status::Delivered } else { Status::Unknown };
    assert_eq!(receipt.status, status, "{told}");
    assert_eq!(receipt.before, id(1), "{told}");
    assert_eq!(receipt.after, id(2), "{told}: the first event spends the observation");
    let held = receipt.held_after.as_ref().unwrap();
    assert!(held.is_empty() && held.verified, "{told}");
    let message = receipt.message.clone().unwrap_or_default();
    assert_eq!(message.contains("never repeat this action"), !complete, "{told}: {message}");
}

#[test]
fn an_input_system_that_dies_is_never_called_clean() {
    for action in pressing() {
        for index in 0..length(&action) {
            let mut fake = Fake::new(32, 24);
            fake.fault = Some((index, Fault::Dies));
            let receipt = act(&mut fake, action.clone());
            let told = format!("{action:?} at {index}");
            assert_eq!(receipt.status, Status::Unknown, "{told}");
            let held = receipt.held_after.unwrap();
            assert!(!held.verified, "{told}");
            let message = receipt.message.unwrap();
            assert!(message.contains("the input system did not say what is held"), "{message}");
            let nothing = fake.held.is_empty();
            assert!(nothing || message.contains("could not let go of"), "{told}: {message}");
            let listed = held.keys.len() + held.buttons.len();
            assert!(listed >= fake.held.keys.len() + fake.held.buttons.len(), "{told}: {message}");
        }
    }
}

/// Texts with more characters without a key than there are keys to lend at a time.
fn lending() -> Vec<(Action, &'static str, usize)> {
    let typing = |typed| Action::type_text(text(typed));
    let twice = sequence([typing("éa"), Action::click(at(1.0, 1.0)), typing("bñé")]);
    vec![(typing("aéñßé üb🙂é"), "aéñßé üb🙂é", 2), (twice, "éabñé", 2)]
}

fn lender() -> Fake {
    Fake { untypable: "éñßü🙂", ..Fake::new(32, 24) }
}

#[test]
fn characters_without_a_key_are_lent_one_as_many_at_a_time_as_there_are() {
    for (action, typed, lendings) in lending() {
        let mut fake = lender();
        let receipt = act(&mut fake, action);
        assert_eq!(receipt.status, Status::Delivered);
        assert_eq!((fake.typed.as_str(), fake.lendings), (typed, lendings));
        assert_eq!(fake.lent, []);
    }
}

#[test]
fn whatever_fails_wherever_no_key_stays_lent() {
    let faults = [
        Fault::Refuses,
        Fault::LosesTheAnswer,
        Fault::HangsAndAccepts,
        Fault::HangsAndFails,
        Fault::Cancels(Cancel::never()),
        Fault::Panics,
    ];
    for (action, typed, lendings) in lending() {
        let calls = length_with(lender(), &action) + lendings;
        for index in 0..calls {
            for fault in &faults {
                check_lending_fault(&action, typed, index, fault);
            }
        }
    }
}

fn length_with(mut fake: Fake, action: &Action) -> usize {
    act(&mut fake, action.clone()).delivery.events_planned
}

/// The status that a receipt's refusal and count make.
fn status_by_count(Receipt { refusal, delivery, .. }: &Receipt) -> Status {
    match (refusal, delivery.delivered_count) {
        (Some(_), 0) => Status::Refused,
        (None, count) if count == delivery.events_planned => Status::Delivered,
        _ => Status::Unknown,
    }
}

fn check_lending_fault(action: &Action, typed: &str, index: usize, fault: &Fault) {
    let told = format!("{fault:?} at {index} of {action:?}");
    let cancel = Cancel::new();
    let fault = match fault {
        Fault::Cancels(_) => Fault::Cancels(cancel.clone()),
        other => other.clone(),
    };
    let mut fake = Fake { fault: Some((index, fault)), ..lender() };
    let acted = catch_unwind(AssertUnwindSafe(|| act_until(&mut fake, action.clone(), cancel)));
    assert_eq!(fake.lent, [], "{told}");
    assert!(fake.held.is_empty() && is_balanced(&fake.events), "{told}: {:?}", fake.held);
    assert!(typed.starts_with(&fake.typed), "{told}: {}", fake.typed);
    let Ok(receipt) = acted else { return };
    assert_eq!(receipt.status, status_by_count(&receipt), "{told}");
    assert!(receipt.held_after.is_none_or(|held| held.is_empty() && held.verified), "{told}");
}

#[test]
fn keys_that_may_still_be_lent_are_told() {
    for fault in [Fault::Dies, Fault::Sticks] {
        let mut fake = Fake { fault: Some((3, fault)), ..lender() };
        let receipt = act(&mut fake, lending().remove(0).0);
        assert_eq!(receipt.status, Status::Unknown);
        let message = receipt.message.unwrap();
        assert!(receipt.held_after.unwrap().is_lending, "{message}");
        assert!(message.contains("keys lent to characters of a text"), "{message}");
        assert!(message.contains("see seechange doctor --release"), "{message}");
    }
}

fn paste(pasted: &str) -> Action {
    Action::Paste { text: text(pasted) }
}

#[test]
fn a_paste_is_a_chord_and_the_taking_of_the_text() {
    let mut fake = Fake::new(32, 24);
    let receipt = act(&mut fake, paste("é\n你"));
    assert_eq!((receipt.status, fake.typed.as_str()), (Status::Delivered, "é\n你"));
    let chord = [key(SHIFT, true), key(INSERT, true), key(INSERT, false), key(SHIFT, false)];
    assert_eq!(fake.events, chord);
    assert_eq!((receipt.delivery.events_planned, receipt.delivery.delivered_count), (5, 5));
    assert!(receipt.clipboard.unwrap().restored);
    assert_eq!(fake.clipboard, "old");
}

#[test]
fn whatever_fails_wherever_the_clipboard_is_put_back() {
    let faults = [
        Fault::Refuses,
        Fault::LosesTheAnswer,
        Fault::HangsAndAccepts,
        Fault::HangsAndFails,
        Fault::Cancels(Cancel::never()),
        Fault::Panics,
        Fault::Dies,
    ];
    let action = sequence([paste("Won"), Action::click(at(1.0, 1.0)), paste("by six")]);
    // Of each paste the offer is a call that is no event.
    for index in 0..length(&action) + 2 {
        for fault in &faults {
            check_paste_fault(&action, index, fault);
        }
    }
}

fn check_paste_fault(action: &Action, index: usize, fault: &Fault) {
    let told = format!("{fault:?} at {index}");
    let cancel = Cancel::new();
    let (fault, dies) = match fault {
        Fault::Cancels(_) => (Fault::Cancels(cancel.clone()), false),
        other => (other.clone(), matches!(other, Fault::Dies)),
    };
    let mut fake = Fake { fault: Some((index, fault)), ..Fake::new(32, 24) };
    let acted = catch_unwind(AssertUnwindSafe(|| act_until(&mut fake, action.clone(), cancel)));
    assert!("Wonby six".starts_with(&fake.typed), "{told}: {}", fake.typed);
    assert!(dies || fake.clipboard == "old", "{told}: {}", fake.clipboard);
    assert!(dies || (fake.held.is_empty() && is_balanced(&fake.events)), "{told}");
    let Ok(receipt) = acted else { return };
    assert_eq!(receipt.status, status_by_count(&receipt), "{told}");
    // The click between the pastes leaves the clipboard alone.
    let is_told = receipt.message.as_ref().is_some_and(|message| message.contains("clipboard"));
    let is_pasting = !(6..9).contains(&index);
    assert_eq!(is_told, dies && is_pasting, "{told}: {:?}", receipt.message);
}

#[test]
fn what_cannot_be_pasted_is_told() {
    let mut fake = Fake { takes_text: false, ..Fake::new(32, 24) };
    let receipt = act(&mut fake, paste("Kites"));
    assert_eq!((receipt.status, receipt.delivery.delivered_count), (Status::Unknown, 4));
    let told = "the program with the focus did not ask for the text within 2000 ms of shift+insert";
    assert!(receipt.message.as_ref().unwrap().contains(told), "{:?}", receipt.message);
    assert_eq!(fake.clipboard, "old");

    // The focus moves while the text waits to be taken.
    let mut fake = Fake { takes_text: false, focus_stays_for: 4, ..Fake::new(32, 24) };
    let receipt = act(&mut fake, paste("Kites"));
    assert_eq!((receipt.status, receipt.delivery.delivered_count), (Status::Unknown, 4));
    assert!(receipt.message.unwrap().contains("the keyboard focus went to 0x2a"));
    assert_eq!(fake.clipboard, "old");

    let rows: [(Fake, &str, RefusalKind, &str); 3] = [
        (
            Fake { has_clipboard: false, ..Fake::new(32, 24) },
            "a",
            RefusalKind::Unsupported,
            "this surface has no clipboard to paste from: use method keys",
        ),
        (
            Fake::new(32, 24),
            "a\u{1b}[201~",
            RefusalKind::NoSuchKey,
            "character 2 of the text (U+001B) is a control character: of those a text has line \
             breaks and tabs alone; nothing was typed",
        ),
        (
            Fake { has_focus: false, ..Fake::new(32, 24) },
            "a",
            RefusalKind::NotFocused,
            "the keyboard focus is on 0x2a \"dialog\", not on the surface: click into it first; \
             nothing was sent",
        ),
    ];
    for (mut fake, pasted, kind, message) in rows {
        let refusal = act(&mut fake, paste(pasted)).refusal.unwrap();
        assert_eq!((refusal.kind(), refusal.message()), (kind, message));
        assert!(fake.events.is_empty() && fake.kept.is_none() && fake.clipboard == "old");
    }
}

#[test]
fn a_policy_has_a_rule_for_the_clipboard() {
    let policy = Policy::allow_all;
    let deny = |keys: &str| policy().deny_keys(keys.parse().unwrap());
    for (policy, pasted, allowed) in [
        (policy().without_clipboard(), "a", false),
        (policy().most_characters(3), "abcd", false),
        (policy().most_characters(3), "abc", true),
        (deny("shift+insert"), "a", false),
        (deny("return"), "a\n", false),
        (deny("return"), "a", true),
        (policy().allow_keys("return".parse().unwrap()), "a", true),
        (policy().deny("type_text"), "a", false),
    ] {
        assert_eq!(policy.permit(&paste(pasted)).is_ok(), allowed, "{policy:?}");
        assert!(policy.permit(&paste(pasted)).is_ok() || policy.permit(&Action::SelectAll).is_ok());
    }
    assert!(policy().without_clipboard().permit(&Action::type_text(text("a"))).is_ok());
}

#[test]
fn typing_stops_when_the_focus_moves() {
    for (stays_for, action, count) in [
        // Two events a character, and a character that has begun is finished.
        (0, Action::type_text(text("abcd")), 8),
        (3, Action::type_text(text("abcd")), 4),
        (4, Action::type_text(text("abcd")), 4),
        (2, sequence([Action::type_text(text("a")), chord("ctrl+a")]), 6),
        (1, sequence([Action::click(at(1.0, 1.0)), Action::SelectAll]), 7),
    ] {
        let mut fake = Fake { focus_stays_for: stays_for, ..Fake::new(32, 24) };
        let receipt = act(&mut fake, action.clone());
        assert_eq!(receipt.delivery.delivered_count, count, "{stays_for}: {action:?}");
        assert!(fake.held.is_empty() && fake.events.len() == count, "{action:?}");
        let is_all = count == receipt.delivery.events_planned;
        assert_eq!(receipt.status == Status::Delivered, is_all, "{action:?}");
        if !is_all {
            let message = receipt.message.unwrap();
            let told = "the keyboard focus went to 0x2a \"dialog\"";
            assert!(message.contains(told) && message.contains("never repeat"), "{message}");
        }
    }
}

/// With a key that somebody presses meanwhile the next character would be another, or a shortcut.
#[test]
fn typing_stops_when_somebody_presses_a_key() {
    let after_click = sequence([Action::click(at(1.0, 1.0)), Action::SelectAll]);
    for (index, action, count) in [
        (0, Action::type_text(text("abcd")), 2),
        (1, Action::type_text(text("abcd")), 2),
        (5, Action::type_text(text("abcd")), 6),
        (7, Action::type_text(text("abcd")), 8),
        (0, after_click, 3),
    ] {
        let mut fake = Fake::new(32, 24);
        fake.fault = Some((index, Fault::Joins(KeyCode(99))));
        let receipt = act(&mut fake, action.clone());
        assert_eq!(receipt.delivery.delivered_count, count, "{index}: {action:?}");
        assert_eq!(fake.held.keys, [KeyCode(99)], "what others press stays as it is");
        let message = receipt.message.unwrap();
        let told = message.contains("somebody else presses key 99; never repeat");
        assert_eq!(told, count < receipt.delivery.events_planned && count != 3, "{message}");
        assert!(message.contains("still held: key 99"), "{message}");
    }
}

/// A program that keeps the input frozen lets a release show late.
#[test]
fn a_release_may_show_late() {
    for (late, is_clean) in [(0, true), (900, true), (1100, false)] {
        let mut fake = Fake::new(32, 24);
        fake.fault = Some((2, Fault::ShowsLate(Duration::from_millis(late))));
        let receipt = act(&mut fake, Action::click(at(1.0, 1.0)));
        assert_eq!((receipt.status, receipt.delivery.released), (Status::Delivered, 1));
        assert_eq!(receipt.held_after.unwrap().is_empty(), is_clean, "{late}");
    }
}

/// Keys of a sequence go to where its click puts the focus; if it does not, they are not sent.
#[test]
fn a_click_before_may_bring_the_focus() {
    let click = Action::click(at(1.0, 1.0));
    let mut fake = Fake { has_focus: false, ..Fake::new(32, 24) };
    let receipt = act(&mut fake, sequence([click, Action::type_text(text("ab"))]));
    assert_eq!((receipt.status, receipt.delivery.delivered_count), (Status::Unknown, 3));
    assert_eq!(receipt.sequence.unwrap().stop_reason, Some("focus_moved"));
    assert_eq!(fake.typed, "");
}

#[test]
fn the_message_of_a_partial_delivery_forbids_a_replay() {
    let mut fake = Fake::new(32, 24);
    fake.fault = Some((3, Fault::Dies));
    let receipt = act(&mut fake, Action::Drag(Drag::new(at(1.0, 1.0), at(9.0, 9.0))));
    assert_eq!(
        receipt.message.unwrap(),
        "only 3 of 23 events are known to have been sent: the display is gone; never repeat this \
         action or the rest of it: look at what it changed and choose anew; could not let go of \
         button left and the input system did not say what is held; see seechange doctor --release"
    );
}

#[test]
fn a_release_that_fails_is_told() {
    let mut fake = Fake::new(32, 24);
    fake.fault = Some((2, Fault::Sticks));
    let modifiers = Modifiers::one(Modifier::Ctrl);
    let click = Action::Click { at: at(1.0, 1.0), button: Button::Left, count: 1, modifiers };
    let receipt = act(&mut fake, click);
    assert_eq!(receipt.status, Status::Unknown);
    let held = receipt.held_after.unwrap();
    assert_eq!((held.in_words().as_str(), held.verified), ("button left and key ctrl", true));
    let message = receipt.message.unwrap();
    let told = "; still held: button left and key ctrl (a program may keep the input frozen, or \
                somebody presses it); see seechange doctor --release";
    assert!(message.ends_with(told), "{message}");
}

#[test]
fn a_panic_lets_go_too() {
    for action in pressing() {
        for index in 0..length(&action) {
            let mut fake = Fake::new(32, 24);
            fake.fault = Some((index, Fault::Panics));
            let caught = catch_unwind(AssertUnwindSafe(|| act(&mut fake, action.clone())));
            assert!(caught.is_err(), "{action:?} at {index}");
            assert!(fake.held.is_empty(), "{action:?} at {index}: {:?}", fake.held);
        }
    }
}

#[test]
fn cancelled_before_the_first_event_is_a_refusal() {
    let mut fake = Fake::new(32, 24);
    let cancel = Cancel::new();
    cancel.cancel();
    for action in [Action::click(at(1.0, 1.0)), Action::Wait { duration: Duration::from_secs(1) }] {
        let receipt = act_until(&mut fake, action, cancel.clone());
        assert_eq!(receipt.refusal.unwrap().kind(), RefusalKind::Cancelled);
        assert_eq!(receipt.after, id(1), "the observation is still good");
    }
    assert_eq!(fake.events, []);
}

/// A small generator: the same streams every time (xorshift64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

#[test]
fn ten_thousand_random_streams_leave_nothing_held() {
    let mut dice = Dice(0x5EE_C4A6E);
    let mut actions = pressing();
    actions.extend(lending().into_iter().map(|(action, ..)| action));
    actions.push(paste("Kites Won"));
    let mut partial = 0;
    for stream in 0..10_000 {
        let mut fake = Fake { untypable: "éñßü🙂", ..Fake::new(16, 12) };
        let clock = fake.clock.clone();
        let cancel = Cancel::new();
        if dice.roll(4) == 0 {
            fake.focus_stays_for = dice.roll(30);
        }
        fake.fault = random_fault(&mut dice, &cancel);
        let mut executor =
            Executor::new(&mut fake, clock, ExecutorOptions::default()).with_cancel(cancel);
        for _ in 0..=dice.roll(4) {
            let action = actions[dice.roll(actions.len())].clone();
            let id = executor.observe().unwrap().id;
            let receipt = executor.execute(&Request::new(action, id)).unwrap();
            partial += usize::from(receipt.status == Status::Unknown);
            assert!(receipt.held_after.is_none_or(|held| held.is_empty()), "stream {stream}");
        }
        drop(executor);
        assert!(fake.held.is_empty() && is_balanced(&fake.events), "stream {stream}");
        assert_eq!(fake.lent, [], "stream {stream}");
    }
    assert!(partial > 1000, "only {partial} streams went wrong half-way");
}

fn random_fault(dice: &mut Dice, cancel: &Cancel) -> Option<(usize, Fault)> {
    let fault = match dice.roll(6) {
        0 => Fault::Refuses,
        1 => Fault::LosesTheAnswer,
        2 => Fault::HangsAndAccepts,
        3 => Fault::HangsAndFails,
        4 => Fault::Cancels(cancel.clone()),
        _ => return None,
    };
    Some((dice.roll(20), fault))
}
