//! `seechange mcp` as a program, on the simulated application: no display is needed.

pub(crate) mod client;
pub(crate) mod reference;

use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::command::{command, seechange};
use client::{Client, opening};

fn server(arguments: &[&str]) -> Command {
    let mut command = command();
    command.arg("mcp").args(arguments);
    command
}

/// A session on the simulated application, on a clock that jumps.
fn demo() -> Client {
    Client::open(&mut server(&["--surface", "demo"]))
}

/// The same in real time.
fn live() -> Client {
    Client::open(&mut server(&["--surface", "demo:live"]))
}

#[test]
fn tools_say_what_they_take_and_what_they_may_do() {
    let mut client = demo();
    let answer = client.request("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap();
    let hints = |tool: &Value| {
        let hints = &tool["annotations"];
        ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]
            .map(|hint| if hints[hint].as_bool().unwrap() { 'y' } else { 'n' })
            .iter()
            .collect::<String>()
    };
    let told: Vec<(&str, String)> =
        tools.iter().map(|tool| (tool["name"].as_str().unwrap(), hints(tool))).collect();
    let expected = [
        ("observe", "ynyy"),
        ("click", "nyny"),
        ("right_click", "nyny"),
        ("double_click", "nyny"),
        ("hover", "nnyy"),
        ("drag", "nyny"),
        ("scroll", "nnny"),
        ("key", "nyny"),
        ("hotkey", "nyny"),
        ("select_all", "nnyy"),
        ("type_text", "nyny"),
        ("hold", "nyny"),
        ("sequence", "nyny"),
        ("wait", "ynyy"),
        ("wait_for", "ynyy"),
        ("diff", "ynyn"),
        ("doctor", "ynyn"),
    ];
    assert_eq!(told, expected.map(|(name, hints)| (name, hints.to_owned())));
    for tool in tools {
        for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
            assert_eq!(schema["type"], "object", "{tool}");
            // Clients refuse these at the top.
            assert!(["anyOf", "oneOf", "allOf"].iter().all(|key| schema.get(key).is_none()));
        }
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        assert!(tool["title"].is_string() && tool["description"].is_string(), "{tool}");
    }
    let inputs: usize = tools.iter().map(|tool| tool["inputSchema"].to_string().len()).sum();
    assert!(inputs < 40_000, "a model reads all of it: {inputs} bytes");
}

#[test]
fn a_screen_has_no_sessions_beside_its_own() {
    let mut client = demo();
    for (tool, arguments, schema, kind) in [
        ("open_session", json!({"url": "http://localhost/"}), "seechange.session/1", "unsupported"),
        ("close_session", json!({"session_id": "x"}), "seechange.session/1", "unsupported"),
        ("observe", json!({"session_id": "x"}), "seechange.act/1", "unknown_field"),
    ] {
        let told = client.call(tool, arguments);
        assert_eq!(
            (&told.json["schema"], &told.json["refusal"]["kind"]),
            (&json!(schema), &json!(kind))
        );
        assert!(told.is_error && told.json["status"] == "refused", "{}", told.text);
    }
}

#[test]
fn every_tool_answers_with_words_pictures_and_json() {
    let mut client = demo();
    let mut id = 0;
    for (tool, mut arguments, text, images) in [
        ("observe", json!({}), "delivered observe; now obs-1\nimage 1 is obs-1, 640x400 pixels", 1),
        (
            "click",
            json!({"x": 300, "y": 105}),
            "delivered click: 3 of 3 events through demo; now obs-2\nPixels changed in 1 area",
            3,
        ),
        ("type_text", json!({"text": "Plums"}), "delivered type_text: 12 of 12 events", 3),
        ("select_all", json!({}), "delivered select_all: 4 of 4 events", 3),
        ("key", json!({"key": "End"}), "delivered key: 2 of 2 events", 3),
        ("hotkey", json!({"keys": ["shift", "home"]}), "delivered hotkey: 4 of 4 events", 3),
        ("hover", json!({"x": 584, "y": 45}), "delivered hover: 1 of 1 events", 0),
        ("right_click", json!({"x": 300, "y": 105}), "delivered right_click", 0),
        ("key", json!({"key": "escape"}), "delivered key", 0),
        ("double_click", json!({"x": 230, "y": 105}), "delivered double_click: 5 of 5 events", 0),
        (
            "drag",
            json!({"from_x": 220, "from_y": 105, "to_x": 260, "to_y": 105}),
            "delivered drag: 23 of 23 events",
            0,
        ),
        ("scroll", json!({"x": 90, "y": 200, "delta_y": 1}), "delivered scroll: 2 of 2 events", 0),
        (
            "hold",
            json!({"keys": ["shift"], "duration_ms": 200, "actions": [{"action": "click", "x": 300, "y": 105}]}),
            "delivered hold",
            0,
        ),
        (
            "sequence",
            json!({"steps": [{"action": "key", "key": "home"}, {"action": "type_text", "text": "a"}]}),
            "delivered sequence: 4 of 4 events",
            0,
        ),
        ("wait", json!({"seconds": 2}), "delivered wait; now obs-", 0),
        (
            "wait_for",
            json!({"condition": "stable"}),
            "delivered wait_for; now obs-16\nstable met after",
            0,
        ),
    ] {
        if id > 0 && !tool.starts_with("wait") {
            arguments["observation"] = format!("obs-{id}").into();
        }
        let told = client.call(tool, arguments);
        id += 1;
        assert!(told.text.starts_with(text), "{tool}: {}", told.text);
        assert!(!told.is_error && told.json["status"] == "delivered", "{tool}: {told:?}");
        assert_eq!(told.json["schema"], "seechange.act/1");
        assert_eq!(told.json["observation"]["after"], format!("obs-{id}"));
        assert!(told.images.len() >= images, "{tool}: {told:?}");
        let named = told.text.matches("image").count() > 0;
        assert_eq!(named, !told.images.is_empty(), "{tool}: {}", told.text);
        let held = &told.json["held_after"];
        assert!(held.is_null() || held["verified"] == true && held["keys"] == json!([]), "{tool}");
    }
    let told = client.call("diff", json!({"before": "obs-1", "after": "obs-3"}));
    assert!(told.text.starts_with("obs-1 before, obs-3 after. Pixels changed in"), "{}", told.text);
    assert_eq!((&told.json["verdict"], told.is_error), (&json!("changed"), false));
    assert!(told.images.len() >= 3);
    let told = client.call("doctor", json!({}));
    assert_eq!(told.text, "surface: demo; images of at most 1568 px an edge");
    let (status, stderr) = client.end();
    assert_eq!((status.code(), stderr.as_str()), (Some(0), ""));
}

#[test]
fn refusals_are_answers_a_model_can_read() {
    let mut client = demo();
    client.call("observe", json!({}));
    client.call("hover", json!({"x": 3, "y": 3, "observation": "obs-1"}));
    for (tool, arguments, kind, text) in [
        (
            "click",
            json!({"x": 1, "y": 1, "observation": "obs-1"}),
            "stale_observation",
            "refused click: obs-1 is stale: the current observation is obs-2; look at it and choose again",
        ),
        (
            "click",
            json!({"x": 1, "y": 1, "observation": "obs-7"}),
            "unknown_observation",
            "refused click: there is no obs-7 yet: the current observation is obs-2",
        ),
        (
            "click",
            json!({"x": 1, "y": 1}),
            "unknown_observation",
            "refused click: the observation the action was chosen from is missing: the current one is obs-2",
        ),
        (
            "click",
            json!({"x": 1412, "y": 230, "observation": "obs-2"}),
            "outside",
            "refused click: point (1412, 230) is outside the 640x400 image of obs-2 (capture 640x400)",
        ),
        (
            "click",
            json!({"y": 230, "observation": "obs-2"}),
            "missing_field",
            "refused click: click needs x",
        ),
        (
            "click",
            json!({"x": "1", "y": 1, "observation": "obs-2"}),
            "bad_value",
            "refused click: x must be a number, not a string",
        ),
        (
            "click",
            json!({"x": 1, "y": 1, "observation": "obs-2", "speed": 1}),
            "unknown_field",
            "refused click: click has no argument 'speed': it takes button, count, modifiers, observation, postcondition, screenshot, x, y",
        ),
        (
            "click",
            json!({"action": "key", "x": 1, "y": 1, "observation": "obs-2"}),
            "unknown_field",
            "refused click: click has no argument 'action': it takes button, count, modifiers, observation, postcondition, screenshot, x, y",
        ),
        (
            "click",
            json!({"ref": "4:a", "observation": "obs-2"}),
            "unsupported",
            "refused click: a ref needs a browser surface; give a point",
        ),
        (
            "drag",
            json!({"from_x": 1, "from_y": 1, "to_x": 2, "to_y": 2, "steps": 201, "observation": "obs-2"}),
            "bad_value",
            "refused drag: steps must be 1 to 200, not 201",
        ),
        (
            "type_text",
            json!({"text": "", "observation": "obs-2"}),
            "bad_value",
            "refused type_text: text must be 1 to 2000 characters, not 0",
        ),
        (
            "wait",
            json!({"seconds": 31}),
            "bad_value",
            "refused wait: seconds must be 0 to 30, not 31",
        ),
        (
            "wait_for",
            json!({"condition": "stable", "timeout_ms": 100}),
            "bad_value",
            "refused wait_for: stable: a hold of 250 ms does not fit in a timeout of 100 ms: make the timeout longer or the hold shorter",
        ),
        (
            "wait_for",
            json!({"condition": "appears", "image": "/etc/passwd"}),
            "bad_value",
            "refused wait_for: image must be a part of an observation, such as {\"observation\":\"obs-3\",\"region\":{\"x\":0,\"y\":0,\"width\":9,\"height\":9}}: this server reads no files (it does when started with --images DIR)",
        ),
        (
            "observe",
            json!({"marks": true}),
            "unsupported",
            "refused observe: marks need a browser surface, which knows its elements; leave it out",
        ),
    ] {
        let told = client.call(tool, arguments.clone());
        assert_eq!(told.text, text, "{arguments}");
        assert!(told.is_error && told.images.is_empty(), "{told:?}");
        assert_eq!(told.json["status"], "refused");
        assert_eq!(told.json["refusal"]["kind"], kind, "{arguments}");
        assert_eq!(told.json["delivery"]["delivered_count"], 0);
        assert_eq!(told.json["observation"]["after"], "obs-2", "nothing is spent");
    }
    for (tool, arguments, text) in [
        (
            "diff",
            json!({"before": "obs-1"}),
            "refused diff: diff needs after, the id of an observation such as obs-3",
        ),
        (
            "diff",
            json!({"before": "obs-1", "after": "obs-9"}),
            "refused diff: obs-9 is not kept: there are obs-1, obs-2",
        ),
        (
            "diff",
            json!({"before": "obs-1", "after": "obs-2", "path": "x"}),
            "refused diff: diff has no argument 'path': it takes after, before, preset, screenshot",
        ),
        (
            "diff",
            json!({"before": "obs-1", "after": "obs-2", "preset": "strict"}),
            "refused diff: preset 'strict' is unknown: use live, golden or exact",
        ),
        (
            "doctor",
            json!({"release": true}),
            "refused doctor: doctor has no argument 'release': it takes no arguments",
        ),
    ] {
        let told = client.call(tool, arguments);
        assert_eq!((told.text.as_str(), told.is_error), (text, true));
    }
    let answer = client.request("tools/call", json!({"name": "shell", "arguments": {}}));
    assert_eq!(answer["error"]["code"], -32602);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("there is no tool 'shell': use observe, click, "), "{message}");
}

#[test]
fn a_wait_that_ran_out_is_an_answer_and_no_error() {
    let mut client = demo();
    client.call("observe", json!({}));
    let image =
        json!({"observation": "obs-1", "region": {"x": 560, "y": 30, "width": 60, "height": 30}});
    for (arguments, outcome, text) in [
        (
            json!({"condition": "changed", "timeout_ms": 900}),
            "timed_out",
            "changed not met within 900 ms (timed out): no change stayed",
        ),
        (json!({"condition": "appears", "image": image}), "met", "appears met after 0 ms"),
        (json!({"condition": "matches", "image": image}), "met", "matches met after 0 ms"),
        (
            json!({"condition": "gone", "image": image, "timeout_ms": 400}),
            "timed_out",
            "gone not met within 400 ms (timed out): the image was there to the end",
        ),
        (
            json!({"timeout_ms": 900, "any": [{"condition": "changed"}, {"condition": "gone", "image": image}]}),
            "timed_out",
            "none of 2 conditions met within 900 ms (timed out)",
        ),
    ] {
        let told = client.call("wait_for", arguments);
        assert_eq!((told.is_error, &told.json["status"]), (false, &json!("delivered")), "{told:?}");
        assert_eq!(told.json["wait"]["outcome"], outcome, "{}", told.text);
        let line = told.text.lines().nth(1).unwrap();
        assert!(line.starts_with(text), "{line}");
        assert_eq!(told.json["wait"]["timeline"], json!([]));
    }
}

#[test]
fn pictures_are_left_out_made_smaller_and_kept_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut server = server(&["--surface", "demo", "--max-edge", "320", "--out"]);
    let mut client = Client::open(server.arg(&out));
    let told = client.call("observe", json!({"screenshot": false}));
    assert!(told.images.is_empty() && !told.text.contains("image"), "{told:?}");
    assert!(!out.exists());
    let told = client.call("observe", json!({}));
    assert_eq!(told.images, [(320, 200)]);
    assert!(
        told.text.contains("obs-2, 320x200 pixels of a 640x400 frame: points are"),
        "{}",
        told.text
    );
    assert_eq!(told.json["observation"]["image"]["width"], 320);
    // The title field, in pixels of the smaller image.
    let told = client.call("click", json!({"x": 150, "y": 52, "observation": "obs-2"}));
    assert!(told.text.ends_with(
        "In pixels of the 320x200 image of obs-3, in which points are given: 1. x=104 y=46 w=211 h=15"
    ), "{}", told.text);
    assert_eq!(told.json["change"]["areas"][0]["width"], 420);
    assert!(told.images.iter().all(|&(width, height)| width <= 320 && height <= 320), "{told:?}");
    for (picture, name) in told.json["change"]["pictures"].as_array().unwrap().iter().zip([
        "overview.png",
        "area-1-before.png",
        "area-1-after.png",
    ]) {
        assert_eq!(picture["path"], out.join("obs-3").join(name).to_str().unwrap());
        assert!(out.join("obs-3").join(name).is_file());
    }
    assert!(out.join("obs-2/observation.png").is_file());
}

#[test]
fn a_read_only_session_looks_and_waits() {
    let mut client = Client::open(&mut server(&["--surface", "demo", "--read-only"]));
    let answer = client.request("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["observe", "wait", "wait_for", "diff", "doctor"]);
    client.call("observe", json!({}));
    let told = client.call("key", json!({"key": "a", "observation": "obs-1"}));
    assert_eq!((&told.json["refusal"]["kind"], told.is_error), (&json!("read_only"), true));
}

#[test]
fn the_policy_of_a_session_is_asked_and_watched() {
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("policy.json");
    std::fs::write(&policy, "{}").unwrap();
    let mut server = server(&["--surface", "demo", "--deny-actions", "drag", "--policy"]);
    let mut client = Client::open(server.arg(&policy));
    client.call("observe", json!({}));
    let drag = json!({"from_x": 1, "from_y": 1, "to_x": 2, "to_y": 2, "observation": "obs-1"});
    let told = client.call("drag", drag);
    assert_eq!((&told.json["refusal"]["kind"], told.is_error), (&json!("not_permitted"), true));
    let hover = |id: &str| json!({"x": 3, "y": 3, "observation": id});
    assert!(!client.call("hover", hover("obs-1")).is_error);
    std::fs::remove_file(&policy).unwrap();
    let told = client.call("hover", hover("obs-2"));
    assert_eq!((&told.json["refusal"]["kind"], told.is_error), (&json!("not_permitted"), true));
}

#[test]
fn a_wait_is_told_of_and_ends_when_it_is_cancelled() {
    let mut client = live();
    client.call("observe", json!({}));
    let image = json!({"observation": "obs-1"});
    let wait = client.begin(
        "wait_for",
        json!({
            "condition": "gone", "image": image, "timeout_ms": 300_000,
        }),
    );
    let queued = client.begin("wait", json!({"seconds": 30}));
    let (first, second) = (client.next(), client.next());
    for (progress, total) in [(&first, 300.0), (&second, 30.0)] {
        let params = &progress["params"];
        assert_eq!(progress["method"], "notifications/progress", "{progress}");
        assert_eq!(params["total"], total);
        assert!(params["progress"].as_f64().unwrap() > 0.0, "{params}");
    }
    assert!(first["params"]["message"].as_str().unwrap().starts_with("wait_for: "), "{first}");
    // The doctor has no turn to wait for, and neither have the lists.
    assert!(client.call("doctor", json!({})).text.starts_with("surface: demo:live"));
    client.cancel(queued);
    client.cancel(wait);
    let told = client.call("observe", json!({}));
    let lines: Vec<&str> = told.text.lines().collect();
    assert_eq!(
        lines[..2],
        [
            "the wait_for before this was cancelled: delivered wait_for; now obs-2",
            "the wait before this was cancelled: refused wait: it was cancelled, or the session ended, before its turn came; nothing was sent",
        ]
    );
    assert!(lines[2].starts_with("delivered observe; now obs-3"), "{}", told.text);
    let answered = |id: u64| client.others.iter().any(|message| message["id"] == id);
    assert!(!answered(wait) && !answered(queued), "a cancelled request gets no answer");
    assert_eq!(client.end().0.code(), Some(0));
}

#[test]
fn a_cancelled_drag_lets_go_and_the_session_goes_on() {
    let mut client = live();
    client.call("observe", json!({}));
    let drag = client.begin("drag", long_drag());
    client.progress(drag);
    client.cancel(drag);
    let told = client.call("observe", json!({}));
    let first = told.text.lines().next().unwrap();
    assert!(first.starts_with("the drag before this was cancelled: unknown drag: "), "{first}");
    let told = client.call("hover", json!({"x": 3, "y": 3, "observation": "obs-3"}));
    assert!(!told.is_error, "nothing is held: {told:?}");
}

fn long_drag() -> Value {
    json!({
        "from_x": 220, "from_y": 250, "to_x": 600, "to_y": 350, "duration_ms": 10_000,
        "observation": "obs-1",
    })
}

#[test]
fn the_end_of_stdin_and_signals_end_what_runs() {
    for signal in [None, Some(Signal::TERM), Some(Signal::INT)] {
        let mut client = live();
        client.call("observe", json!({}));
        let drag = client.begin("drag", long_drag());
        client.progress(drag);
        let (status, stderr) = match signal {
            None => client.end(),
            Some(signal) => {
                let pid = Pid::from_child(&client.child);
                kill_process(pid, signal).unwrap();
                client.outcome()
            }
        };
        assert_eq!(status.code(), Some(0), "{signal:?}: {stderr}");
        assert!(stderr.starts_with("the drag before this was cancelled"), "{signal:?}: {stderr}");
    }
}

#[test]
fn too_many_calls_at_once_are_refused() {
    let mut client = live();
    let calls: Vec<u64> = (0..40).map(|_| client.begin("wait", json!({"seconds": 30}))).collect();
    let last = *calls.last().unwrap();
    let refused = client.answer(last);
    assert_eq!(refused["result"]["isError"], true);
    assert_eq!(refused["result"]["structuredContent"]["refusal"]["kind"], "busy");
    assert_eq!(client.end().0.code(), Some(0));
}

#[test]
fn lines_that_are_no_message_get_one_answer_each_and_the_session_goes_on() {
    let mut client = Client::start(&mut server(&["--surface", "demo"]));
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{{"name":"click","arguments":{arguments}}}}}"#
        )
    };
    let early = [(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.to_vec(), -32600, json!(1))];
    let late = [
        (
            br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#.to_vec(),
            -32600,
            json!(1),
        ),
        (b"\xff\xfe{}".to_vec(), -32700, Value::Null),
        (vec![b'x'; 100 << 20], -32600, Value::Null),
        ("[".repeat(500_000).into_bytes(), -32700, Value::Null),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#.to_vec(), -32600, Value::Null),
        (br#"{"jsonrpc":"3.0","id":4,"method":"ping"}"#.to_vec(), -32600, json!(4)),
        (call(r#"{"x":1e999,"y":1}"#).into_bytes(), -32700, Value::Null),
        (call(r#"{"x":NaN,"y":1}"#).into_bytes(), -32700, Value::Null),
        (call(r#"{"x":1,"x":2,"y":1}"#).into_bytes(), -32600, json!(9)),
        (call("[1]").into_bytes(), -32602, json!(9)),
        (br#"{"jsonrpc":"2.0","id":5,"method":"no/such"}"#.to_vec(), -32601, json!(5)),
    ];
    // What comes before its time needs no answer, and does no harm.
    client.notify("notifications/initialized", json!({}));
    client.notify("notifications/cancelled", json!({"requestId": 1}));
    check_answers(&mut client, &early);
    client.request("initialize", opening("2025-06-18"));
    check_answers(&mut client, &late);
    assert!(!client.call("observe", json!({})).is_error);
    #[cfg(target_os = "linux")]
    {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", client.child.id())).unwrap();
        let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
        let kb: u64 = peak.split_whitespace().nth(1).unwrap().parse().unwrap();
        assert!(kb < 60_000, "a line of 100 MB is not kept: {peak}");
    }
    assert_eq!(client.end().0.code(), Some(0));
}

fn check_answers(client: &mut Client, rows: &[(Vec<u8>, i64, Value)]) {
    for (line, code, id) in rows {
        client.write(line);
        client.write(b"\n");
        let answer = client.next();
        let shown = String::from_utf8_lossy(&line[..line.len().min(80)]);
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&json!(code), id),
            "{shown}: {answer}"
        );
        assert!(answer["error"]["message"].as_str().is_some_and(|told| !told.contains('\n')));
    }
}

#[test]
fn protocol_versions_are_agreed_on() {
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ] {
        let mut client = Client::start(&mut server(&["--surface", "demo"]));
        let answer = client.request("initialize", opening(asked));
        assert_eq!(answer["result"]["protocolVersion"], agreed, "{asked}");
    }
    // The version after those has no `initialize`: each request says what it speaks.
    let mut client = Client::start(&mut server(&["--surface", "demo"]));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "a test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let answer =
        client.request("tools/call", json!({"name": "observe", "arguments": {}, "_meta": meta}));
    assert_eq!(answer["result"]["structuredContent"]["status"], "delivered", "{answer}");
}

#[test]
fn a_server_that_cannot_begin_says_why() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, told) in [
        (&["mcp"][..], "seechange: "),
        (&["mcp", "--surface", "replay:nowhere"], "seechange: "),
        (
            &["mcp", "--surface", "demo", "--max-edge", "0"],
            "seechange: invalid value '0' for '--max-edge <N>'",
        ),
    ] {
        let answer = seechange(folder.path(), arguments);
        assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""), "{answer:?}");
        assert!(
            answer.stderr.starts_with(told) && answer.stderr.lines().count() == 1,
            "{answer:?}"
        );
    }
}
