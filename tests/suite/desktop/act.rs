//! The act command on a real display: what it lets go of, and what it refuses.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use seechange::act::{
    Action, Button, Driver as _, Executor, ExecutorOptions, Held, ImagePoint, InputEvent,
    RefusalKind, Request, Status, Wheel,
};
use seechange::wait::Source as _;
use serde_json::Value;
use x11rb::protocol::xproto::{ConfigureWindowAux, ConnectionExt as _};
use x11rb::rust_connection::RustConnection;

use super::harness::Desktop;

const SEECHANGE: &str = env!("CARGO_BIN_EXE_seechange");

fn act(desktop: &Desktop, arguments: &[&str]) -> Value {
    let output =
        desktop.command(SEECHANGE).arg("act").args(arguments).arg("--json").output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {output:?}"))
}

#[test]
#[ignore = "needs Xvfb"]
fn a_client_that_is_told_to_stop_lets_go_and_says_so() {
    let desktop = Desktop::bare("640x480x24", &[]);
    let mut x11 = desktop.open();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        for action in [
            &["drag", "20", "20", "600", "400", "--duration-ms", "10000"][..],
            &["type_text", &"x".repeat(400), "--delay-ms", "200"],
        ] {
            let client = desktop
                .command(SEECHANGE)
                .arg("act")
                .args(action)
                .arg("--json")
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            desktop.until("something held", || (!x11.held().unwrap().is_empty()).then_some(()));
            kill_process(Pid::from_child(&client), signal).unwrap();
            let output = client.wait_with_output().unwrap();
            assert_eq!(x11.held().unwrap(), Held::default(), "{signal:?} {action:?}");
            let receipt: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!((&receipt["status"], output.status.code()), (&"unknown".into(), Some(1)));
            let message = receipt["message"].as_str().unwrap();
            assert!(message.contains("never repeat this action"), "{message}");
            assert!(receipt["held_after"]["verified"].as_bool().unwrap());
        }
    }
}

#[test]
#[ignore = "needs Xvfb"]
fn what_somebody_else_holds_is_refused_and_stays_held() {
    let desktop = Desktop::bare("640x480x24", &[]);
    let mut x11 = desktop.open();
    let shift = x11.key_named("shift").unwrap().unwrap();
    let held = Held { keys: vec![shift], buttons: vec![Button::Middle] };
    x11.send(InputEvent::Key { code: shift, down: true }).unwrap();
    x11.send(InputEvent::Button { button: Button::Middle, down: true }).unwrap();
    let receipt = act(&desktop, &["click", "20", "20"]);
    assert_eq!(
        receipt["refusal"]["message"],
        "already held by somebody else: button middle and key shift; let go of it first (seechange \
         doctor --release)"
    );
    assert_eq!(x11.held().unwrap(), held);
    x11.send(InputEvent::Button { button: Button::Middle, down: false }).unwrap();
    x11.send(InputEvent::Key { code: shift, down: false }).unwrap();
    assert_eq!(act(&desktop, &["click", "20", "20"])["status"], "delivered");
}

#[test]
#[ignore = "needs Xvfb"]
fn the_end_of_stdin_ends_a_stream_with_nothing_held() {
    let desktop = Desktop::bare("640x480x24", &[]);
    let mut client = desktop
        .command(SEECHANGE)
        .args(["act", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = client.stdin.take().unwrap();
    writeln!(stdin, r#"{{"action":"hold","keys":["shift","a"],"duration_ms":300}}"#).unwrap();
    drop(stdin);
    let mut answers = BufReader::new(client.stdout.take().unwrap()).lines();
    let receipt: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
    assert_eq!(receipt["status"], "delivered");
    assert!(answers.next().is_none());
    assert_eq!(client.wait().unwrap().code(), Some(0));
    assert!(desktop.open().held().unwrap().is_empty());
}

#[test]
#[ignore = "needs Xvfb"]
fn a_moved_window_is_not_acted_on_by_an_old_observation() {
    let mut desktop = Desktop::managed();
    drop(desktop.catching_terminal());
    let mut client = desktop
        .command(SEECHANGE)
        .args(["act", "-", "--json", "--surface", "x11:window=catcher"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = client.stdin.take().unwrap();
    let mut answers = BufReader::new(client.stdout.take().unwrap()).lines();
    let mut ask = |line: &str| -> Value {
        writeln!(stdin, "{line}").unwrap();
        serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap()
    };
    assert_eq!(ask(r#"{"action":"observe"}"#)["status"], "delivered");
    let mut window = desktop.window("catcher");
    let before = window.geometry().unwrap().origin;
    let (conn, _) = RustConnection::connect(Some(desktop.name())).unwrap();
    let place = ConfigureWindowAux::new().x(before.0 + 60).y(before.1 + 40);
    conn.configure_window(window.window().unwrap().id, &place).unwrap().check().unwrap();
    desktop.until("the window elsewhere", || {
        (window.geometry().unwrap().origin != before).then_some(())
    });
    let click = r#"{"action":"click","x":5,"y":5,"observation":"obs-1"}"#;
    assert_eq!(ask(click)["refusal"]["kind"], "geometry_changed");
    drop(stdin);
    client.wait().unwrap();
}

/// The client has ended when the server runs again and reads what was left with it.
#[test]
#[ignore = "needs Xvfb"]
fn a_server_stopped_in_mid_action_holds_nothing_when_it_runs_again() {
    let drag = ["drag", "20", "20", "600", "400", "--duration-ms", "9000"];
    let drag = [&drag[..], &["--modifiers", "ctrl,shift"]].concat();
    let text = "X".repeat(200);
    let typed = ["type_text", &text, "--delay-ms", "50"];
    for action in [&drag[..], &typed] {
        let desktop = Desktop::bare("640x480x24", &[]);
        let mut x11 = desktop.open();
        let mut client = desktop.command(SEECHANGE);
        client.arg("act").args(action).arg("--json").stdout(Stdio::piped());
        let client = client.spawn().unwrap();
        desktop.until("something held", || (!x11.held().unwrap().is_empty()).then_some(()));
        desktop.signal_server(Signal::STOP);
        let output = client.wait_with_output().unwrap();
        desktop.signal_server(Signal::CONT);
        desktop.until("everything up", || x11.held().unwrap().is_empty().then_some(()));

        let receipt: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&receipt["status"], output.status.code()), (&"unknown".into(), Some(1)));
        assert_eq!(receipt["held_after"]["verified"], false, "{receipt}");
        let message = receipt["message"].as_str().unwrap();
        assert!(message.contains("the display does not answer"), "{message}");
        assert!(message.contains("seechange doctor --release"), "{message}");
    }
}

#[test]
#[ignore = "needs Xvfb"]
fn what_is_released_on_a_stopped_server_is_up_when_it_runs_again() {
    let desktop = Desktop::bare("640x480x24", &[]);
    let mut x11 = desktop.open();
    let code = x11.key_named("ctrl").unwrap().unwrap();
    let button = Button::Right;
    for down in [true, false] {
        if !down {
            desktop.signal_server(Signal::STOP);
            x11.send(InputEvent::Wheel(Wheel::Up)).unwrap_err();
        }
        for event in [InputEvent::Key { code, down }, InputEvent::Button { button, down }] {
            assert_eq!(x11.send(event).is_ok(), down, "{event:?}");
        }
    }
    assert_eq!(x11.key_name(code), "ctrl");
    desktop.signal_server(Signal::CONT);
    assert_eq!(x11.held().unwrap(), Held::default());
}

#[test]
#[ignore = "needs Xvfb"]
fn without_xtest_nothing_is_begun() {
    let desktop = Desktop::bare("640x480x24", &["-extension", "XTEST"]);
    for action in [
        &["click", "0", "0"][..],
        &["drag", "1", "1", "5", "5"],
        &["scroll", "1", "1", "--dy", "1"],
        &["key", "ctrl+s"],
        &["type_text", "a"],
    ] {
        let output = desktop.command(SEECHANGE).arg("act").args(action).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{told}");
        assert!(told.contains("this display has no XTEST extension to take input"), "{told}");
    }
}

#[test]
#[ignore = "needs Xvfb"]
fn a_policy_that_goes_stops_what_runs() {
    let desktop = Desktop::bare("640x480x24", &[]);
    let mut x11 = desktop.open();
    let file = desktop.file("policy.json");
    for (change, told) in [
        (None, "does not allow drag: the policy "),
        (
            Some(r#"{"deny_regions":[{"x":500,"y":300,"width":140,"height":180}]}"#),
            "input at (600, 400)",
        ),
        // On its way, and maybe not there yet.
        (Some(r#"{"deny_regions":[{"x":300,"y":0,"width":9,"height":480}]}"#), "input at (300, "),
    ] {
        std::fs::write(&file, "{}").unwrap();
        let mut client = desktop.command(SEECHANGE);
        client.args(["act", "drag", "20", "20", "600", "400", "--duration-ms", "10000", "--json"]);
        let client = client.arg("--policy").arg(&file).stdout(Stdio::piped()).spawn().unwrap();
        desktop.until("something held", || (!x11.held().unwrap().is_empty()).then_some(()));
        match change {
            None => std::fs::remove_file(&file).unwrap(),
            Some(policy) => std::fs::write(&file, policy).unwrap(),
        }
        let output = client.wait_with_output().unwrap();
        assert_eq!(x11.held().unwrap(), Held::default());
        let receipt: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(receipt["status"], "unknown", "{receipt}");
        let message = receipt["message"].as_str().unwrap();
        assert!(message.contains("access was revoked: ") && message.contains(told), "{message}");
        assert!(message.contains("what it had pressed is released again"), "{message}");
    }
}

#[test]
#[ignore = "needs Xvfb"]
fn a_policy_knows_the_windows_by_their_titles() {
    let mut desktop = Desktop::managed();
    let (window, _) = desktop.catching_terminal();
    let place = {
        let mut window = window;
        let geometry = window.geometry().unwrap();
        let size = geometry.size;
        (
            geometry.origin.0 + size.width().cast_signed() / 2,
            geometry.origin.1 + size.height().cast_signed() / 2,
        )
    };
    let (x, y) = (place.0.to_string(), place.1.to_string());
    let file = desktop.file("policy.json");
    for (policy, action, told) in [
        (
            r#"{"deny_windows":["CATCH*"]}"#,
            &["click", &x, &y][..],
            Some("the window \"catcher\" at ("),
        ),
        (r#"{"deny_windows":["CATCH*"]}"#, &["click", "1270", "790"], None),
        (r#"{"allow_windows":["catcher"]}"#, &["click", &x, &y], None),
        (r#"{"allow_windows":["catcher"]}"#, &["key", "a"], None),
        (
            r#"{"deny_windows":["catcher"]}"#,
            &["key", "a"],
            Some("the window \"catcher\" with the focus"),
        ),
        (
            r#"{"allow_windows":["catcher"]}"#,
            &["click", "1270", "790"],
            Some("the window \"\" at ("),
        ),
    ] {
        std::fs::write(&file, policy).unwrap();
        let receipt = act(&desktop, &[action, &["--policy", file.to_str().unwrap()]].concat());
        let message = receipt["refusal"]["message"].as_str().unwrap_or("none");
        let told = told.map_or("none".to_owned(), |told| {
            format!("the policy of this session does not allow {told}")
        });
        assert!(message.starts_with(&told), "{policy} {action:?}: {message}");
    }
}

#[test]
#[ignore = "needs Xvfb"]
fn a_caret_that_blinks_at_the_point_is_no_other_target_and_a_window_is() {
    let mut desktop = Desktop::managed();
    let mut editor = desktop.editor();
    let geometry = editor.geometry().unwrap();
    let clock = desktop.clock.clone();
    let mut display = desktop.open();
    let size = geometry.size;
    let (left, top) = (f64::from(geometry.origin.0), f64::from(geometry.origin.1));
    let at = |x: f64, y: f64| ImagePoint::new(left + x, top + y).unwrap();
    let text = at(20.0, f64::from(size.height()) / 2.0);
    let mut executor = Executor::new(&mut display, clock.clone(), ExecutorOptions::new());
    let mut id = executor.observe().unwrap().id;
    // The caret stands at the start of the empty document; the click goes right onto it, again and
    // again, at any moment of its blinking.
    for round in 0..8 {
        let click = Action::click(text);
        let receipt = executor.execute(&Request::new(click, id)).unwrap();
        assert_eq!(receipt.status, Status::Delivered, "{round}: {:?}", receipt.refusal);
        id = receipt.after.unwrap();
        clock.sleep(Duration::from_millis(170));
    }
    // Behind the executor's back another window comes up where the click would go.
    let corner = format!("+{}+{}", geometry.origin.0 + 40, geometry.origin.1 + 40);
    desktop.spawn("xterm", &["-title", "over", "-bg", "black", "-geometry", &corner]);
    desktop.window("over");
    let receipt = executor.execute(&Request::new(Action::click(at(120.0, 120.0)), id)).unwrap();
    let refusal = receipt.refusal.expect("something else lies there");
    assert_eq!(refusal.kind(), RefusalKind::TargetChanged, "{refusal}");
    assert_eq!((receipt.delivery.delivered_count, receipt.after), (0, Some(id)));
    // After another look the point means the window that is there.
    id = executor.observe().unwrap().id;
    let receipt = executor.execute(&Request::new(Action::click(at(120.0, 120.0)), id)).unwrap();
    assert_eq!(receipt.status, Status::Delivered);
}
