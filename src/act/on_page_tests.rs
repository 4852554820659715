//! The executor on a surface that knows its elements: references, dialogs, other documents, and
//! waits for what a page says.

use std::time::Duration;

use crate::clock::Cancel;
use crate::geometry::{Point, Rect};

use super::action::{Action, Address, Request, Text, WaitFor};
use super::document::{Sought, Which};
use super::driver::{Button, InputEvent};
use super::element::{Deed, Direction, ElementAction, ElementRef, ScrollUnit};
use super::executor::{Executor, ExecutorOptions};
use super::fake::{Fake, Fault, is_balanced};
use super::fake_page::FakePage;
use super::keys::Modifiers;
use super::observation::ImagePoint;
use super::policy::{Glob, Policy};
use super::receipt::{Receipt, Status};
use super::refusal::RefusalKind;
use super::tab::TabDeed;

/// `Button "Save"` at 0 to 9, `Textbox "Email"` at 10 to 19, `Link "More"` at 20 to 29.
fn page() -> Fake {
    let parts = [("button", "Save"), ("textbox", "Email"), ("link", "More")];
    Fake::new(64, 40).with_page(FakePage::new(&parts))
}

fn reference(text: &str) -> ElementRef {
    text.parse().unwrap()
}

fn click(text: &str) -> Action {
    Action::Element(ElementAction::click(reference(text)))
}

fn with(text: &str, deed: Deed) -> Action {
    Action::Element(ElementAction::new(reference(text), deed))
}

fn write(target: &str, text: &str) -> Action {
    with(target, Deed::TypeText(Text::new(text).unwrap()))
}

fn go(url: &str) -> Action {
    Action::Navigate { url: Address::new(url).unwrap() }
}

const fn accept() -> Action {
    Action::Dialog { accept: true, text: None }
}

/// With the current observation, where the action takes one.
fn execute(executor: &mut Executor<'_>, action: Action) -> Receipt {
    let observation = executor.current().map(|observation| observation.id);
    let observation = observation.filter(|_| action.needs_observation());
    executor.execute(&Request { observation, ..Request::without_observation(action) }).unwrap()
}

fn act(fake: &mut Fake, action: Action) -> Receipt {
    let clock = fake.clock.clone();
    let mut executor = Executor::new(fake, clock, ExecutorOptions::new());
    executor.observe().unwrap();
    execute(&mut executor, action)
}

fn refusal(receipt: &Receipt) -> (RefusalKind, String) {
    assert_eq!(receipt.status, Status::Refused, "{receipt:?}");
    let refusal = receipt.refusal.as_ref().unwrap();
    (refusal.kind(), refusal.to_string())
}

const fn to(x: u32, y: u32) -> InputEvent {
    InputEvent::Move(Point::new(x, y))
}

const fn left(down: bool) -> InputEvent {
    InputEvent::Button { button: Button::Left, down }
}

#[test]
fn a_reference_becomes_the_point_of_its_element() {
    let none = Modifiers::none;
    for (action, first, presses) in [
        (click("1:a"), to(5, 5), 1),
        (with("1:b", Deed::DoubleClick { modifiers: none() }), to(15, 5), 2),
        (with("1:c", Deed::RightClick { modifiers: none() }), to(25, 5), 1),
        (with("1:c", Deed::Hover), to(25, 5), 0),
        (
            with(
                "1:b",
                Deed::Scroll { direction: Direction::Down, amount: 3, by: ScrollUnit::Line },
            ),
            to(15, 5),
            0,
        ),
        (Action::Element(ElementAction::drag(reference("1:a"), reference("1:c"))), to(5, 5), 1),
    ] {
        let mut fake = page();
        let receipt = act(&mut fake, action.clone());
        assert_eq!(receipt.status, Status::Delivered, "{action:?}");
        assert_eq!(fake.events[0], first, "{action:?}");
        let is_press = |event: &&InputEvent| matches!(event, InputEvent::Button { down: true, .. });
        assert_eq!(fake.events.iter().filter(is_press).count(), presses, "{action:?}");
        assert!(is_balanced(&fake.events) && fake.held.is_empty(), "{action:?}");
        if action.name() == "drag" {
            assert_eq!(fake.events[fake.events.len() - 2..], [to(25, 5), left(false)]);
        }
    }
}

#[test]
fn every_action_gives_fresh_references_and_an_old_one_never_means_a_neighbour() {
    let mut fake = page();
    // The first element goes: what was 1:b is the first now.
    fake.page().when_pressed = |fake, name| {
        if name == "Save" {
            fake.page().parts.remove(0);
            fake.page().part("Email").value = Some("saved".to_owned());
        }
    };
    let clock = fake.clock.clone();
    let mut executor = Executor::new(&mut fake, clock, ExecutorOptions::new());
    executor.observe().unwrap();
    let receipt = execute(&mut executor, click("1:a"));
    let page = receipt.page.unwrap();
    assert_eq!(page.target.as_deref(), Some("1:a Button \"Save\""));
    let changes = ["~ 2:a Textbox \"Email\" = \"\" → \"saved\"", "- 1:a Button \"Save\""];
    assert_eq!(page.changes, changes);

    for old in ["1:a", "1:b", "2:c", "9:a"] {
        let before = executor.current().unwrap().id;
        let (kind, message) = refusal(&execute(&mut executor, click(old)));
        assert_eq!(kind, RefusalKind::UnknownRef, "{message}");
        let now = executor.current().unwrap();
        assert!(now.id > before);
        let valid = now.elements.as_ref().unwrap().valid();
        let told = format!(
            "there is no element {old}: it is of no observation that is current; the current \
             observation is {} now, and the valid refs are {valid}",
            now.id
        );
        assert_eq!(message, told);
    }
    drop(executor);
    assert_eq!(fake.events.len(), 3, "the one click");
}

#[test]
fn what_cannot_be_acted_on_is_refused_before_the_press() {
    type Change = fn(&mut Fake);
    let covers: Change = |fake| fake.page().part("Save").covered_by = Some("<div id=\"ask\">");
    let disables: Change = |fake| fake.page().part("Save").is_enabled = false;
    let removes: Change = |fake| drop(fake.page().parts.remove(0));
    let covered = "\"Save\" is covered by <div id=\"ask\">: close that";
    let disabled = "\"Save\" is disabled";
    let gone = "there is no element 1:a: it is gone";
    for (change, kind, message) in [
        (covers, RefusalKind::Covered, covered),
        (disables, RefusalKind::NotReady, disabled),
        (removes, RefusalKind::NotReady, gone),
    ] {
        for action in [click("1:a"), write("1:a", "x"), with("1:a", Deed::ScrollTo)] {
            let mut fake = page();
            fake.page().once_listed = change;
            let receipt = act(&mut fake, action.clone());
            let refused = refusal(&receipt);
            let told = format!("{message}; the current observation is obs-2 now");
            assert_eq!(refused, (kind, told), "{action:?}");
            assert!(fake.events.is_empty(), "{action:?}");
        }
    }
}

#[test]
fn what_is_not_ready_yet_is_waited_for() {
    let mut fake = page();
    fake.page().part("Save").is_enabled = false;
    let due = Duration::from_millis(700);
    fake.page().later = Some((due, |fake| fake.page().part("Save").is_enabled = true));
    let receipt = act(&mut fake, click("1:a"));
    assert_eq!(receipt.status, Status::Delivered);
    assert_eq!(fake.events, [to(5, 5), left(true), left(false)]);
    assert!(fake.clock.now() >= due);
}

#[test]
fn a_page_that_moves_under_the_pointer_is_not_pressed() {
    let mut fake = page();
    fake.page().when_reached = |fake, name| {
        if name == "Save" {
            // Another element takes its place as the pointer arrives.
            fake.page().part("Save").rect = Rect::new(40, 20, 10, 10).ok();
            fake.page().part("More").rect = Rect::new(0, 0, 10, 10).ok();
        }
    };
    let (kind, message) = refusal(&act(&mut fake, click("1:a")));
    assert_eq!(kind, RefusalKind::NotReady);
    assert!(message.starts_with("\"Save\" has moved: \"More\" is there now"), "{message}");
    assert_eq!(fake.events, [to(5, 5)], "the pointer came, and nothing was pressed");
}

#[test]
fn what_is_scrolled_away_is_brought_into_view() {
    let mut fake = page();
    fake.page().part("More").rect = None;
    assert_eq!(act(&mut fake, click("1:c")).status, Status::Delivered);
    assert_eq!(fake.events[0], to(5, 25));
}

#[test]
fn a_text_is_put_in_by_the_page_and_stands_in_no_receipt() {
    let mut fake = page();
    let receipt = act(&mut fake, write("1:b", "a plum"));
    assert_eq!(receipt.status, Status::Delivered);
    assert_eq!((receipt.delivery.events_planned, receipt.delivery.delivered_count), (1, 1));
    assert_eq!(fake.page().part("Email").value.as_deref(), Some("a plum"));
    assert!(fake.events.is_empty());

    let mut fake = page();
    fake.page().loses_fills = true;
    let receipt = act(&mut fake, write("1:b", "a plum"));
    assert_eq!(receipt.status, Status::Unknown);
    let message = receipt.message.clone().unwrap();
    assert!(message.starts_with("it may or may not have been done: no answer came"), "{message}");
    assert!(message.contains("never repeat this action"), "{message}");
    assert!(!message.contains("plum"), "{message}");
}

#[test]
fn a_dialog_leaves_the_action_unknown_until_it_is_answered() {
    let mut fake = page();
    fake.page().when_pressed = |fake, _| fake.page().dialog = Some("Sure?");
    let clock = fake.clock.clone();
    let mut executor = Executor::new(&mut fake, clock, ExecutorOptions::new());
    executor.observe().unwrap();

    let receipt = execute(&mut executor, click("1:a"));
    assert_eq!(receipt.status, Status::Unknown);
    assert!(receipt.message.unwrap().starts_with("a dialog is open: alert \"Sure?\"; accept or"));
    assert_eq!(receipt.page.unwrap().dialog.as_deref(), Some("alert \"Sure?\""));

    for action in [click("1:a"), go("http://a/b"), Action::Observe] {
        let (kind, message) = refusal(&execute(&mut executor, action));
        assert_eq!(kind, RefusalKind::DialogOpen, "{message}");
    }
    let receipt = execute(&mut executor, accept());
    assert_eq!(receipt.status, Status::Delivered);
    let changed = receipt.change.expect("what the click had done is told now");
    assert_eq!(changed.report.areas[0].rect, Rect::new(0, 0, 12, 12).unwrap());
    assert_eq!(receipt.page.unwrap().dialog, None);

    let (kind, message) = refusal(&execute(&mut executor, accept()));
    assert_eq!(kind, RefusalKind::NotReady);
    assert_eq!(message, "no dialog is open: there is nothing to accept or dismiss");
}

#[test]
fn a_session_goes_to_tabs_and_says_when_its_own_is_gone() {
    let mut fake = page();
    fake.page().when_pressed = |fake, name| {
        if name == "More" {
            fake.page().tabs[1] = None;
        }
    };
    let clock = fake.clock.clone();
    let mut executor = Executor::new(&mut fake, clock, ExecutorOptions::new());
    executor.observe().unwrap();
    let other = || Address::new("http://a/b").unwrap();
    let postcondition = Some(until(Sought::Text("Save".to_owned()), 100));
    let action = Action::Tab(TabDeed::Open(other()));
    let asked = Request { postcondition, ..Request::without_observation(action) };
    let (kind, message) = refusal(&executor.execute(&asked).unwrap());
    assert_eq!(kind, RefusalKind::BadValue, "{message}");

    let receipt = execute(&mut executor, Action::Tab(TabDeed::Open(other())));
    let tabs = receipt.page.unwrap().tabs;
    let rows: Vec<_> = tabs.iter().map(|tab| (tab.number, &*tab.url, tab.is_current)).collect();
    assert_eq!(rows, [(1, "http://a/", false), (2, "http://a/b", true)]);
    let (kind, message) = refusal(&execute(&mut executor, Action::Tab(TabDeed::Go(3))));
    assert_eq!((kind, &*message), (RefusalKind::UnknownTab, "there is no tab 3"));
    // What was refused has left the tab, and the references of the look that came with it are good.
    let fresh = executor.current().unwrap().elements.as_ref().unwrap().list[0].reference.clone();
    assert_eq!(execute(&mut executor, click(&fresh)).status, Status::Delivered);

    // A page that closes itself.
    let fresh = executor.current().unwrap().elements.as_ref().unwrap().list[2].reference.clone();
    assert_eq!(execute(&mut executor, click(&fresh)).status, Status::Delivered);
    for action in [Action::Observe, go("http://a/c"), click("1:a")] {
        let (kind, message) = refusal(&execute(&mut executor, action));
        assert_eq!((kind, &*message), (RefusalKind::TabClosed, "tab 2 was closed: go on with 1"));
    }
    let receipt = execute(&mut executor, Action::Tab(TabDeed::Go(1)));
    assert_eq!(receipt.status, Status::Delivered);
    assert_eq!(receipt.page.unwrap().tabs.len(), 1);
}

#[test]
fn another_document_is_another_page_of_references() {
    let mut fake = page();
    // It leaves 0.4 s after the click.
    fake.page().when_pressed = |fake, name| {
        if name == "More" {
            let until = fake.clock.now() + Duration::from_millis(400);
            fake.page().leaves_until = Some(until);
        }
    };
    let clock = fake.clock.clone();
    let mut executor = Executor::new(&mut fake, clock, ExecutorOptions::new());
    executor.observe().unwrap();
    let page = execute(&mut executor, click("1:c")).page.unwrap();
    assert!(page.has_navigated);
    assert_eq!(page.changes[..2], ["~ another document", "+ 2:a Button \"Save\""]);

    let receipt = execute(&mut executor, go("http://a/b"));
    assert_eq!(receipt.status, Status::Delivered);
    let page = receipt.page.unwrap();
    assert_eq!(page.changes[..2], ["~ url \"http://a/\" → \"http://a/b\"", "~ another document"]);
    let (kind, message) = refusal(&execute(&mut executor, go("http://a/nowhere")));
    assert_eq!((kind, message.as_str()), (RefusalKind::NotReady, "it does not answer"));
    drop(executor);
    assert_eq!(fake.page().visited, ["http://a/b"]);
}

#[test]
fn a_read_only_session_follows_links_and_presses_nothing() {
    for (action, kind) in [
        (click("1:c"), None),
        (click("1:a"), Some(RefusalKind::ReadOnly)),
        (write("1:b", "x"), Some(RefusalKind::ReadOnly)),
        (with("1:c", Deed::Hover), Some(RefusalKind::ReadOnly)),
        (
            with("1:c", Deed::DoubleClick { modifiers: Modifiers::none() }),
            Some(RefusalKind::ReadOnly),
        ),
        (Action::click(ImagePoint::new(25.0, 5.0).unwrap()), Some(RefusalKind::ReadOnly)),
        (accept(), Some(RefusalKind::ReadOnly)),
    ] {
        let mut fake = page();
        let clock = fake.clock.clone();
        let options = ExecutorOptions::new().policy(Policy::read_only());
        let mut executor = Executor::new(&mut fake, clock, options);
        executor.observe().unwrap();
        let receipt = execute(&mut executor, action.clone());
        drop(executor);
        assert_eq!(receipt.refusal.as_ref().map(|refusal| refusal.kind()), kind, "{action:?}");
        assert!(fake.events.is_empty(), "{action:?}");
        let visited: &[&str] = if kind.is_none() { &["http://a/followed"] } else { &[] };
        assert_eq!(fake.page().visited, visited, "{action:?}");
    }
}

fn until(sought: Sought, timeout_ms: u64) -> WaitFor {
    let timeout = Duration::from_millis(timeout_ms);
    WaitFor { condition: sought.into(), timeout, region: None, or: Vec::new() }
}

#[test]
fn a_wait_asks_the_page_until_it_is_so() {
    let text = |text: &str| Sought::Text(text.to_owned());
    let named = |name: &str, role: Option<&str>| Which::Named {
        name: name.to_owned(),
        role: role.map(str::to_owned),
    };
    for (sought, met) in [
        (text("Done"), true),
        (text("Never"), false),
        (Sought::Visible(named("Save", Some("button"))), true),
        (Sought::Visible(named("Save", Some("link"))), false),
        (Sought::Enabled(named("Email", None)), true),
        (Sought::Enabled(Which::Ref(reference("1:b"))), true),
        (Sought::Gone(Which::Ref(reference("1:c"))), true),
        (Sought::Gone(Which::Text("Save".to_owned())), false),
        (Sought::Url(Glob::new("*/next")), true),
        (Sought::Url(Glob::new("*/last")), false),
    ] {
        let mut fake = page();
        fake.page().part("Email").is_enabled = false;
        let due = Duration::from_millis(900);
        fake.page().later = Some((due, |fake| {
            let page = fake.page();
            page.texts.push("Done");
            page.part("Email").is_enabled = true;
            page.parts.retain(|part| part.name != "More");
            page.url = "http://a/next".to_owned();
        }));
        let label = sought.to_string();
        let receipt = act(&mut fake, Action::WaitFor(until(sought, 2000)));
        assert_eq!(receipt.status, Status::Delivered, "{label}");
        let wait = receipt.wait.as_ref().unwrap();
        assert_eq!((wait.is_met(), receipt.is_fulfilled()), (met, met), "{label}");
        assert!(fake.events.is_empty());
    }
}

#[test]
fn what_was_there_before_the_input_is_no_proof_of_it() {
    let saved = || until(Sought::Text("Saved".to_owned()), 1000);
    // Whether the old label is taken away by the press, and when a new one comes.
    for (hides, comes_ms, met) in [
        (false, None, false),
        (true, None, false),
        (true, Some(400), true),
        (true, Some(4000), false),
    ] {
        let mut fake = page();
        fake.page().texts.push("Saved");
        if hides {
            fake.page().when_pressed = |fake, _| fake.page().texts.clear();
        }
        if let Some(comes_ms) = comes_ms {
            let due = Duration::from_millis(comes_ms);
            fake.page().later = Some((due, |fake| fake.page().texts.push("Saved")));
        }
        let clock = fake.clock.clone();
        let mut executor = Executor::new(&mut fake, clock, ExecutorOptions::new());
        let id = executor.observe().unwrap().id;
        let request = Request { postcondition: Some(saved()), ..Request::new(click("1:a"), id) };
        let receipt = executor.execute(&request).unwrap();
        assert_eq!(receipt.status, Status::Delivered, "{hides} {comes_ms:?}");
        assert_eq!(receipt.is_fulfilled(), met, "{hides} {comes_ms:?}");
        drop(executor);
        assert_eq!(fake.events.len(), 3, "pressed once");
    }
}

#[test]
fn whatever_goes_wrong_with_an_element_nothing_stays_pressed() {
    let drag = || Action::Element(ElementAction::drag(reference("1:a"), reference("1:c")));
    for action in [click("1:a"), drag()] {
        let events = act(&mut page(), action.clone()).delivery.events_planned;
        for index in 0..events {
            let cancel = Cancel::new();
            for fault in [
                Fault::Refuses,
                Fault::LosesTheAnswer,
                Fault::HangsAndAccepts,
                Fault::HangsAndFails,
                Fault::Cancels(cancel.clone()),
            ] {
                let told = format!("{fault:?} at {index} of {action:?}");
                let mut fake = page();
                fake.fault = Some((index, fault));
                let receipt = act(&mut fake, action.clone());
                assert!(fake.held.is_empty() && is_balanced(&fake.events), "{told}");
                assert_ne!(receipt.status, Status::Refused, "{told}");
                assert!(receipt.held_after.unwrap().verified, "{told}");
            }
        }
    }
}

#[test]
fn a_surface_without_elements_says_what_it_lacks() {
    let wait = Action::WaitFor(until(Sought::Text("x".to_owned()), 10));
    for (action, message) in [
        (click("1:a"), "a ref needs a browser surface; give a point"),
        (go("http://a/"), "navigate needs a browser surface"),
        (Action::Tab(TabDeed::Go(1)), "tab needs a browser surface"),
        (accept(), "a dialog needs a browser surface; use key or click on what is seen"),
        (wait, "the condition needs a browser surface; wait for what is seen"),
    ] {
        let mut fake = Fake::new(64, 40);
        let refused = refusal(&act(&mut fake, action));
        assert_eq!(refused, (RefusalKind::Unsupported, message.to_owned()));
        assert!(fake.events.is_empty());
    }
}
