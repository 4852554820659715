//! The whole loop with real programs, through the built command: act, wait, see what changed.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use seechange::act::{Button, Driver as _, Held};
use seechange::wait::Source as _;
use seechange::{Point, Rect};
use serde_json::{Value, json};

use super::harness::Desktop;
use crate::command::{Answer, command};

/// The first menu's title in a window of mousepad, and a place in its text.
const MENU: (u32, u32) = (20, 12);
const TEXT: (u32, u32) = (200, 150);

/// The command, on this display.
fn on(desktop: &Desktop, arguments: &[&str]) -> Command {
    let mut command = command();
    command.env("DISPLAY", desktop.name()).args(arguments);
    command
}

/// Runs `seechange act …` and gives its receipt; the action must have been delivered.
fn act(desktop: &Desktop, arguments: &[&str]) -> Value {
    let arguments: Vec<_> = ["act", "--json"].iter().chain(arguments).copied().collect();
    let output = on(desktop, &arguments).output().unwrap();
    let answer = Answer {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    };
    assert_eq!(answer.code, Some(0), "{arguments:?}: {answer:?}");
    let receipt = answer.json();
    assert_eq!(receipt["status"], "delivered", "{receipt}");
    assert_eq!(receipt["held_after"], json!({"keys": [], "buttons": [], "verified": true}));
    receipt
}

/// Acts at a point of the display.
fn at(desktop: &Desktop, action: &str, point: Point) -> Value {
    act(desktop, &[action, &point.x.to_string(), &point.y.to_string()])
}

fn areas(receipt: &Value) -> Vec<Rect> {
    let side = |area: &Value, name: &str| u32::try_from(area[name].as_u64().unwrap()).unwrap();
    let areas = receipt["change"]["areas"].as_array().unwrap().iter();
    areas
        .map(|area| {
            let [x, y, width, height] = ["x", "y", "width", "height"].map(|name| side(area, name));
            Rect::new(x, y, width, height).unwrap()
        })
        .collect()
}

fn sentence(receipt: &Value) -> &str {
    receipt["change"]["sentence"].as_str().unwrap()
}

/// An editor with the keyboard's focus and where its window is, with a pointer that rests in it.
fn editor(desktop: &mut Desktop) -> Rect {
    let mut window = desktop.editor();
    let geometry = window.geometry().unwrap();
    let corner = [geometry.origin.0, geometry.origin.1].map(|edge| u32::try_from(edge).unwrap());
    let size = geometry.size;
    let place = Rect::new(corner[0], corner[1], size.width(), size.height()).unwrap();
    at(desktop, "click", inside(place, TEXT));
    // The first letter marks the document as changed, in the title too.
    act(desktop, &["type_text", "first line"]);
    act(desktop, &["key", "return"]);
    place
}

fn inside(place: Rect, (x, y): (u32, u32)) -> Point {
    Point::new(place.x() + x, place.y() + y)
}

#[test]
#[ignore = "needs Xvfb"]
fn a_click_on_a_menu_reports_the_opened_menu_first() {
    let mut desktop = Desktop::managed();
    let place = editor(&mut desktop);
    let point = inside(place, MENU);
    let out = desktop.file("pictures");
    let (x, y) = (point.x.to_string(), point.y.to_string());
    let receipt = act(&desktop, &["click", &x, &y, "--out", out.to_str().unwrap()]);
    let menu = areas(&receipt)[0];
    assert_eq!(receipt["change"]["areas"][0]["at_input_point"], true);
    assert!(menu.contains(point) && menu.width() > 100 && menu.height() > 200, "{menu}");
    for picture in ["overview.png", "area-1-before.png", "area-1-after.png"] {
        assert!(out.join(picture).is_file(), "{picture}");
    }
    let closed = act(&desktop, &["key", "escape"]);
    assert!(areas(&closed).iter().any(|area| area.intersection(menu).is_some()));
}

#[test]
#[ignore = "needs Xvfb"]
fn typing_reports_the_words_and_the_caret_never() {
    let mut desktop = Desktop::managed();
    let place = editor(&mut desktop);
    let receipt = act(&desktop, &["type_text", "changing"]);
    let [word] = areas(&receipt)[..] else { panic!("{}", sentence(&receipt)) };
    assert!(place.contains_rect(word), "{word}");
    assert!((40..120).contains(&word.width()) && (8..30).contains(&word.height()), "{word}");
    // Several seconds of a blinking caret, looked at from every side.
    for _ in 0..8 {
        let receipt = at(&desktop, "hover", inside(place, TEXT));
        assert_eq!(receipt["change"]["verdict"], "same", "{}", sentence(&receipt));
    }
}

#[test]
#[ignore = "needs Xvfb"]
fn a_click_on_nothing_says_so() {
    let mut desktop = Desktop::managed();
    editor(&mut desktop);
    let nothing = Point::new(1270, 790);
    // The first click there takes the focus from the editor, which shows.
    at(&desktop, "click", nothing);
    let receipt = at(&desktop, "click", nothing);
    let told = sentence(&receipt);
    let looked = told.strip_prefix("Nothing changed in the frame within ");
    let looked = looked.and_then(|rest| rest.strip_suffix(" ms."));
    let looked: u64 = looked.unwrap_or_else(|| panic!("{told}")).parse().unwrap();
    // The least by the rule, however slow the machine.
    assert!(looked >= 300, "{told}");
    assert_eq!(receipt["change"]["areas"], json!([]));
}

#[test]
#[ignore = "needs Xvfb"]
fn a_drag_over_text_reports_the_selection() {
    let mut desktop = Desktop::managed();
    editor(&mut desktop);
    let typed = act(&desktop, &["type_text", "select me with a drag"]);
    // Words lie further apart than what is merged into one area.
    let line = areas(&typed).into_iter().reduce(Rect::union).unwrap();
    let (y, from, to) = (line.center().y, line.x(), line.right() + 1);
    let points = [from, y, to, y].map(|value| value.to_string());
    let drag = ["drag", &points[0], &points[1], &points[2], &points[3]];
    let receipt = act(&desktop, &[&drag[..], &["--duration-ms", "200"]].concat());
    let first = areas(&receipt)[0];
    let overlap = first.intersection(line).unwrap();
    assert!(overlap.width() * 10 >= line.width() * 9, "{first} against the line at {line}");
    assert!(first.height() <= 30, "{first}");
    let pressed = &receipt["delivery"];
    assert_eq!((&pressed["pressed"], &pressed["released"]), (&json!(1), &json!(1)));
}

#[test]
#[ignore = "needs Xvfb"]
fn text_arrives_exactly_in_a_terminal() {
    let text = r#"echo "q" 'a' $(x) A1!@#"#;
    let mut desktop = Desktop::managed();
    let (window, file) = desktop.catching_terminal();
    let surface = format!("x11:window={}", window.window().unwrap().id);
    act(&desktop, &["click", "50", "50", "--surface", &surface]);
    for delay in ["0", "30"] {
        let typed = ["type_text", text, "--delay-ms", delay, "--surface", &surface];
        let receipt = act(&desktop, &typed);
        let action = receipt["action"].to_string();
        assert!(!action.contains("echo"), "a receipt tells the length of a text only: {action}");
        assert!(!areas(&receipt).is_empty());
        act(&desktop, &["key", "return"]);
    }
    assert_eq!(lines(&desktop, &file, 2), format!("{text}\n{text}\n"));
}

fn lines(desktop: &Desktop, file: &Path, count: usize) -> String {
    desktop.until("the typed lines", || {
        let text = fs::read_to_string(file).unwrap();
        (text.matches('\n').count() >= count).then_some(text)
    })
}

#[test]
#[ignore = "needs Xvfb"]
fn a_client_ended_in_mid_drag_lets_go_and_says_so() {
    let mut desktop = Desktop::managed();
    editor(&mut desktop);
    for json in [true, false] {
        let drag = ["act", "drag", "700", "400", "900", "500", "--duration-ms", "9000"];
        let drag = if json { [&drag[..], &["--json"]].concat() } else { drag.to_vec() };
        let client = on(&desktop, &drag).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let client = end_when_pressed(&desktop, client.unwrap());
        let output = client.wait_with_output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{told}");
        let held = desktop.open().held().unwrap();
        assert_eq!(held, Held::default(), "{told}");
        if json {
            let receipt: Value = serde_json::from_str(&told).unwrap();
            assert_eq!(receipt["status"], "unknown");
            assert_eq!(receipt["delivery"]["released"], 1);
            let clean = json!({"keys": [], "buttons": [], "verified": true});
            assert_eq!(receipt["held_after"], clean);
        } else {
            assert!(told.starts_with("unknown drag: "), "{told}");
            assert!(told.contains("released"), "{told}");
        }
    }
}

/// Waits until the button is down on the server, then sends SIGTERM.
fn end_when_pressed(desktop: &Desktop, client: Child) -> Child {
    let mut display = desktop.open();
    desktop.until("a pressed button", || {
        display.held().unwrap().buttons.contains(&Button::Left).then_some(())
    });
    kill_process(Pid::from_child(&client), Signal::TERM).unwrap();
    client
}

#[test]
#[ignore = "needs Xvfb"]
fn a_killed_client_leaves_a_button_that_doctor_releases() {
    let desktop = Desktop::managed();
    let drag = ["act", "drag", "700", "400", "900", "500", "--duration-ms", "9000"];
    let mut client = on(&desktop, &drag).stdout(Stdio::null()).spawn().unwrap();
    let mut display = desktop.open();
    desktop.until("a pressed button", || {
        display.held().unwrap().buttons.contains(&Button::Left).then_some(())
    });
    client.kill().unwrap();
    client.wait().unwrap();

    let doctor = |arguments: &[&str]| {
        let arguments: Vec<_> = ["doctor", "--json"].iter().chain(arguments).copied().collect();
        let output = on(&desktop, &arguments).output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    assert_eq!(doctor(&[])["display"]["held"], json!(["left button"]));
    let refused = on(&desktop, &["act", "click", "5", "5"]).output().unwrap();
    let told = String::from_utf8(refused.stdout).unwrap();
    assert!(told.starts_with("refused click: "), "{told}");
    assert_eq!(refused.status.code(), Some(1));

    let released = doctor(&["--release"]);
    assert_eq!(released["released"], json!(["left button"]));
    assert_eq!(released["display"]["held"], json!([]));
    assert_eq!(released["findings"], json!([]));
    act(&desktop, &["click", "5", "5"]);
}

#[test]
#[ignore = "needs Xvfb"]
fn a_covered_target_is_refused_by_the_name_of_what_covers_it() {
    let mut desktop = Desktop::managed();
    desktop.spawn("xterm", &["-title", "below", "-geometry", "80x24+100+100"]);
    let below = desktop.window("below").window().unwrap().id;
    desktop.spawn("xterm", &["-title", "above", "-geometry", "20x10+150+150"]);
    let above = desktop.window("above").window().unwrap().id;
    let refused = |arguments: &[&str]| {
        let surface = format!("x11:window={below}");
        let arguments = [&["act", "--surface", &surface], arguments].concat();
        let output = on(&desktop, &arguments).output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{told}");
        told.trim_end().to_owned()
    };
    let why = |point: &str| {
        format!(
            "point {point} cannot be reached: {above:#x} \"above\" covers it; move or close that \
             window, or act on the whole display"
        )
    };
    assert_eq!(refused(&["click", "80", "80"]), format!("refused click: {}", why("(80, 80)")));
    let drag = refused(&["drag", "5", "5", "80", "80"]);
    assert_eq!(drag, format!("refused drag: {}", why("(80, 80)")));
    // Where it shows it can be clicked, which brings it to the front.
    act(&desktop, &["click", "5", "5", "--surface", &format!("x11:window={below}")]);
    act(&desktop, &["click", "80", "80", "--surface", &format!("x11:window={below}")]);
}
