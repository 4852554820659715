//! `seechange mcp` on a display, beside real programs and a user.

use std::process::{Command, Stdio};

use seechange::Point;
use seechange::act::{Button, Driver as _, InputEvent};
use serde_json::json;

use super::harness::Desktop;
use crate::mcp::client::{Client, opening};
use crate::mcp::reference::{python, transcript};

fn server(desktop: &Desktop) -> Command {
    let mut command = desktop.command(env!("CARGO_BIN_EXE_seechange"));
    command.args(["mcp", "--surface", "x11"]);
    command
}

#[test]
#[ignore = "starts an X server"]
fn a_pointer_moved_by_somebody_else_is_told() {
    let desktop = Desktop::bare("800x600x24", &[]);
    let mut user = desktop.open();
    let mut client = Client::open(&mut server(&desktop));
    client.call("observe", json!({}));
    let told = client.call("hover", json!({"x": 400, "y": 300, "observation": "obs-1"}));
    assert!(told.json["pointer_moved"].is_null() && !told.text.contains("mind:"), "{told:?}");
    let wait = client.begin("wait", json!({"seconds": 3}));
    client.progress(wait);
    user.send(InputEvent::Move(Point::new(70, 80))).unwrap();
    let answer = client.answer(wait);
    let moved = &answer["result"]["structuredContent"]["pointer_moved"];
    assert_eq!(moved, &json!({"from": {"x": 400, "y": 300}, "to": {"x": 70, "y": 80}}));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        text.ends_with(
            "mind: the pointer is at (70, 80), not at (400, 300) where it was left: somebody else \
             moved it meanwhile"
        ),
        "{text}"
    );
}

#[test]
#[ignore = "starts an X server"]
fn a_client_that_is_killed_leaves_nothing_held() {
    let desktop = Desktop::bare("800x600x24", &[]);
    let mut display = desktop.open();
    let requests = desktop.file("requests");
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening("2025-06-18")}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "observe"}}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
            "name": "drag", "arguments": {
                "from_x": 100, "from_y": 100, "to_x": 700, "to_y": 500, "duration_ms": 10_000,
                "modifiers": ["shift"], "observation": "obs-1",
            },
        }}),
    ];
    std::fs::write(&requests, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    let script = "cat \"$0\"; exec sleep 600";
    let mut client = desktop.command("sh");
    client.args(["-c", script]).arg(&requests).stdout(Stdio::piped());
    let mut client = client.spawn().unwrap();
    let mut server = server(&desktop);
    server.stdin(client.stdout.take().unwrap()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut server = server.spawn().unwrap();
    desktop.until("the drag", || {
        let held = display.held().unwrap();
        (held.buttons == [Button::Left] && held.keys.len() == 1).then_some(())
    });
    client.kill().unwrap();
    client.wait().unwrap();
    assert_eq!(server.wait().unwrap().code(), Some(0));
    assert!(display.held().unwrap().is_empty());
}

#[test]
#[ignore = "starts an X server and programs, installs the reference client from PyPI"]
fn the_reference_client_types_into_an_editor_and_a_terminal() {
    let Some(python) = python() else { return };
    let told = "click delivered, held: [] []
type_text delivered, held: [] [], changed
> wait_for {'condition': 'changed', 'hold_ms': 299000, 'timeout_ms': 300000}, cancelled
the wait_for before this was cancelled: delivered wait_for
";
    let with_client = |desktop: &Desktop| transcript(&mut desktop.command(python), "x11");
    let mut desktop = Desktop::managed();
    desktop.editor();
    assert_eq!(with_client(&desktop), told);
    let mut desktop = Desktop::managed();
    let (_, typed) = desktop.catching_terminal();
    assert_eq!(with_client(&desktop), told);
    let text = desktop.until("the typed line", || {
        std::fs::read_to_string(&typed).ok().filter(|text| text.ends_with('\n'))
    });
    assert_eq!(text, "Jaipur Kites won by 6 wickets.\n");
}
