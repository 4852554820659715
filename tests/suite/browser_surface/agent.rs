//! A page driven by an agent: over MCP and by the command, as programs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::command::{command, seechange};
use crate::mcp::client::{Client, Told};

/// A form whose saving takes 4 s, beside the label of an earlier save.
const FORM: &str = "<title>Order</title><p id=state>Saved</p>\
    <label>Name <input id=n></label><label>Note <textarea id=t></textarea></label>\
    <label>Size <select id=s><option>Small<option>Large</select></label>\
    <button onclick=\"state.textContent='Saving';fetch('/slow-save',{method:'POST',\
    body:[n.value,t.value,s.value].join('|')}).then(()=>state.textContent='Saved')\">Save</button>";

/// An agent's side of a session.
struct Agent {
    client: Client,
    last: Value,
}

impl Agent {
    fn open(arguments: &[&str]) -> Self {
        let client = Client::open(command().arg("mcp").args(arguments));
        let mut agent = Self { client, last: Value::Null };
        agent.call("observe", json!({}));
        agent
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Told {
        let told = self.client.call(tool, arguments);
        self.last = told.json.clone();
        told
    }

    /// Acts on the element of a name, from the current observation.
    fn on(&mut self, tool: &str, name: &str, more: Value) -> Told {
        let lines = self.last["page"]["observation"].as_str().unwrap().to_owned();
        let line = lines
            .lines()
            .find(|line| line.contains(&format!("\"{name}\"")) && !line.contains(" Label "));
        let line = line.unwrap_or_else(|| panic!("no {name} in {lines}"));
        let mut arguments = json!({
            "ref": line.split(' ').next().unwrap(), "observation": self.last["observation"]["after"],
        });
        for (field, value) in more.as_object().unwrap() {
            arguments[field] = value.clone();
        }
        self.call(tool, arguments)
    }
}

#[test]
#[ignore = "needs chromium"]
fn a_form_whose_save_outlasts_the_wait_is_sent_once() {
    if let Err(error) = browser::find() {
        return println!("skipped: {error}");
    }
    let server = Server::start(&[("/", FORM), ("/slow-save", "ok")]);
    let mut agent = Agent::open(&["--browser", &server.url("/")]);
    for (name, text) in [("Name", "Zoë & co"), ("Note", "two\nlines"), ("Size", "Large")] {
        let told = agent.on("type_text", name, json!({"text": text}));
        assert_eq!(told.json["status"], "delivered", "{}", told.text);
        assert!(!told.json.to_string().contains("events_planned\":0"), "{}", told.text);
    }
    let saved = json!({"condition": "text", "text": "Saved", "timeout_ms": 1000});
    let told = agent.on("click", "Save", json!({"postcondition": saved}));
    assert_eq!(told.json["status"], "delivered", "{}", told.text);
    assert!(!told.is_error, "it was sent: that is no error");
    let postcondition = &told.json["postcondition"];
    assert_eq!(postcondition["met"], false, "the label of before does not count");
    let evidence = postcondition["evidence"].as_str().unwrap();
    assert!(evidence.starts_with("text \"Saved\" not met within 1"), "{evidence}");
    assert_eq!(server.posts.lock().unwrap().len(), 1);
    // Told that it is not yet there, the agent waits and does not press again.
    let told = agent.call("wait_for", json!({"condition": "text", "text": "Saved"}));
    assert_eq!(told.json["wait"]["outcome"], "met", "{}", told.text);
    assert_eq!(*server.posts.lock().unwrap(), ["Zoë & co|two\nlines|Large"]);
}

#[test]
#[ignore = "needs chromium"]
fn tools_take_references_where_there_is_a_page() {
    if let Err(error) = browser::find() {
        return println!("skipped: {error}");
    }
    let page = "<title>First</title><button disabled>Off</button><a href=/next>Next</a>\
        <button onclick=\"document.title=confirm('Sure?')\">Ask</button>";
    let server =
        Server::start(&[("/", page), ("/next", "<title>Second</title><a href=/>Back</a>")]);
    let mut agent = Agent::open(&["--browser"]);
    let listed = agent.client.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let tool = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    for name in ["navigate", "dialog", "scroll_to_element"] {
        assert_eq!(tool(name)["inputSchema"]["additionalProperties"], false, "{name}");
    }
    assert_eq!(tool("click")["inputSchema"]["required"], json!(["observation"]));
    assert_eq!(tool("click")["inputSchema"]["properties"]["ref"]["type"], "string");
    let told = agent.call("navigate", json!({"url": server.url("/")}));
    assert_eq!(told.json["page"]["title"], "First", "{}", told.text);
    let session = told.json["page"]["session_id"].clone();
    let told = agent.call("observe", json!({"marks": true}));
    assert_eq!(told.images, [(1280, 800)]);
    let map = told.json["page"]["elements"].as_array().unwrap();
    let map: Vec<(&Value, &Value)> = map.iter().map(|one| (&one["number"], &one["name"])).collect();
    assert_eq!(
        map,
        [(&json!(1), &json!("Off")), (&json!(2), &json!("Next")), (&json!(3), &json!("Ask"))]
    );
    // Refusals: the page's, with a fresh look and its picture, and those of the arguments.
    let told = agent.on("click", "Off", json!({}));
    assert!(told.is_error);
    assert_eq!(told.json["refusal"]["kind"], "not_ready");
    assert_eq!(told.images, [(1280, 800)]);
    let row = &told.json["page"];
    assert_eq!(row["error"], told.json["refusal"]["message"]);
    assert!(row["target"].as_str().unwrap().ends_with("Button \"Off\" [disabled]"), "{row}");
    assert_eq!(row["element_count"], 3);
    let unknown = json!({"ref": "1:zz", "observation": told.json["observation"]["after"]});
    let told = agent.call("click", unknown);
    assert_eq!(told.json["refusal"]["kind"], "unknown_ref", "{}", told.text);
    assert!(told.text.contains("the valid refs are "), "{}", told.text);
    for (arguments, words) in [
        (json!({"ref": "1:a", "x": 1, "observation": "obs-1"}), "ref and x exclude each other"),
        (json!({"ref": "button", "observation": "obs-1"}), "is not the reference of an element"),
        (json!({"selector": "#a", "observation": "obs-1"}), "click has no argument 'selector'"),
    ] {
        let told = agent.client.call("click", arguments);
        assert!(told.is_error && told.text.contains(words), "{}", told.text);
    }
    // A dialog, and another page told whole.
    let told = agent.on("click", "Ask", json!({}));
    assert_eq!(told.json["status"], "unknown", "{}", told.text);
    assert_eq!(told.json["page"]["dialog"], "confirm \"Sure?\"");
    let told = agent.call("dialog", json!({"accept": true}));
    assert_eq!(told.json["page"]["title"], "true", "{}", told.text);
    let told = agent.on("click", "Next", json!({"screenshot": false}));
    let row = &told.json["page"];
    assert_eq!((&row["title"], &row["navigated"]), (&json!("Second"), &json!(true)));
    assert_eq!((told.images.len(), &row["session_id"]), (0, &session));
    assert!(told.text.contains("Link \"Back\""), "{}", told.text);
}

#[test]
#[ignore = "needs chromium"]
fn an_agent_goes_to_the_tab_a_link_opened_and_back() {
    if let Err(error) = browser::find() {
        return println!("skipped: {error}");
    }
    let server = Server::start(&[
        ("/", "<title>First</title><a href=/next target=_blank>Away</a>"),
        ("/next", "<title>Next</title><button>Do</button>"),
    ]);
    let mut agent = Agent::open(&["--browser", &server.url("/")]);
    assert_eq!(
        (&agent.last["page"]["tab"], &agent.last["page"]["tabs"]),
        (&json!(1), &Value::Null)
    );
    let told = agent.on("click", "Away", json!({}));
    let line = format!("+ tab 2 \"Next\" {}", server.url("/next"));
    assert_eq!(told.json["page"]["changes"], json!([line]), "{}", told.text);
    let told = agent.call("tab", json!({"tab": 2}));
    let rows = json!([
        {"tab": 1, "url": server.url("/"), "title": "First"},
        {"tab": 2, "url": server.url("/next"), "title": "Next"},
    ]);
    let page = &told.json["page"];
    assert_eq!((&page["tab"], &page["tabs"], &page["title"]), (&json!(2), &rows, &json!("Next")));
    assert_eq!(told.images, [(1280, 800)]);
    assert!(told.text.contains("* 2 \"Next\""), "{}", told.text);
    assert_eq!(agent.on("click", "Do", json!({})).json["status"], "delivered");
    for (arguments, kind) in [
        (json!({"tab": 7}), "unknown_tab"),
        (json!({"tab": 7, "close": true}), "unknown_tab"),
        (json!({"url": "javascript:alert(1)"}), "bad_value"),
        (json!({}), "missing_field"),
    ] {
        let told = agent.call("tab", arguments.clone());
        assert!(told.is_error && told.json["refusal"]["kind"] == kind, "{arguments} {}", told.text);
    }
    let told = agent.call("tab", json!({"tab": 2, "close": true}));
    let page = &told.json["page"];
    assert_eq!(
        (&page["tab"], &page["tabs"], &page["title"]),
        (&json!(1), &Value::Null, &json!("First"))
    );
}

/// What a session that only looks may do with tabs: go to them.
#[test]
#[ignore = "needs chromium"]
fn a_read_only_session_goes_to_tabs_and_opens_and_closes_none() {
    if let Err(error) = browser::find() {
        return println!("skipped: {error}");
    }
    let server = Server::start(&[("/", "<title>First</title>")]);
    let mut agent = Agent::open(&["--read-only", "--browser", &server.url("/")]);
    for (arguments, kind) in [
        (json!({"tab": 1}), Value::Null),
        (json!({"url": server.url("/")}), json!("read_only")),
        (json!({"tab": 1, "close": true}), json!("read_only")),
    ] {
        let told = agent.call("tab", arguments.clone());
        assert_eq!(told.json["refusal"]["kind"], kind, "{arguments} {}", told.text);
    }
}

#[test]
#[ignore = "needs chromium"]
fn the_command_gives_the_row_and_its_pictures() {
    if let Err(error) = browser::find() {
        return println!("skipped: {error}");
    }
    let server = Server::start(&[(
        "/",
        "<title>T</title><button disabled>Off</button>\
        <button onclick=\"document.title='clicked'\">Go</button>",
    )]);
    let surface = format!("browser:{}", server.url("/"));
    let folder = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| {
        let arguments = [&["act"], words, &["--surface", &surface, "--json"]].concat();
        let answer = seechange(folder.path(), &arguments);
        (answer.code, serde_json::from_str::<Value>(&answer.stdout).unwrap())
    };
    let (code, told) = run(&["click", "1:b", "--out", "out"]);
    let row = &told["page"];
    assert_eq!((code, &row["result"]), (Some(0), &json!("delivered")));
    assert_eq!(row["target"], "1:b Button \"Go\"");
    assert_eq!((&row["ref"], &row["error"]), (&json!("1:b"), &Value::Null));
    assert_eq!((&row["title"], &row["element_count"]), (&json!("clicked"), &json!(2)));
    assert_eq!(row["observation"], "2:a Button \"Off\" [disabled]\n2:b Button \"Go\"");
    assert_eq!(row["screenshot"]["id"], told["observation"]["after"]);
    let file = row["screenshot"]["file"].as_str().unwrap();
    assert!(folder.path().join(Path::new(file)).exists(), "{file}");
    let (code, told) = run(&["click", "1:a"]);
    assert_eq!((code, &told["page"]["result"]), (Some(1), &json!("refused")));
    assert!(told["page"]["error"].as_str().unwrap().contains("is disabled"), "{told}");
    let (code, told) = run(&["click", "1:b", "--read-only"]);
    assert_eq!((code, &told["refusal"]["kind"]), (Some(1), &json!("read_only")), "{told}");
    let (code, told) = run(&["tab", "open", &server.url("/")]);
    assert_eq!((code, &told["page"]["tab"]), (Some(0), &json!(2)), "{told}");
    let (code, told) = run(&["tab", "close", "1"]);
    assert_eq!((code, &told["refusal"]["kind"]), (Some(1), &json!("not_ready")), "{told}");
    let (code, told) = run(&["wait_for", "text", "Go"]);
    assert_eq!((code, &told["wait"]["outcome"]), (Some(0), &json!("met")), "{told}");
}

#[test]
#[ignore = "needs chromium"]
fn two_hundred_actions_take_no_more_memory_at_their_end() {
    if let Err(error) = browser::find() {
        return println!("skipped: {error}");
    }
    let server = Server::start(&[("/", super::actions::COUNTER)]);
    let mut agent = Agent::open(&["--browser", &server.url("/")]);
    let mut sizes = BTreeMap::new();
    for count in 1..=200 {
        let name = format!("Count {}", count - 1);
        let told = agent.on("click", &name, json!({"screenshot": false}));
        assert_eq!(told.json["status"], "delivered", "{count}: {}", told.text);
        if count % 50 == 0 {
            sizes.insert(count, resident_kib(agent.client.child.id()));
        }
    }
    let grown = sizes[&200].saturating_sub(sizes[&50]);
    assert!(grown < 20_000, "KiB at each: {sizes:?}");
    println!("KiB at each: {sizes:?}");
}

pub(super) fn resident_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
