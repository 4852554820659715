//! Several pages in one server.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use serde_json::{Value, json};

use super::*;
use crate::command::command;
use crate::mcp::client::{Client, Told};

/// A server of a page, and folders of its own for profiles.
struct Several {
    client: Client,
    temp: tempfile::TempDir,
}

fn several(pages: &Server, arguments: &[&str]) -> Option<Several> {
    if let Err(error) = browser::find() {
        println!("skipped: {error}");
        return None;
    }
    let temp = tempfile::tempdir().unwrap();
    let mut command = command();
    command.env("TMPDIR", temp.path()).args(["mcp", "--browser", &pages.url("/")]).args(arguments);
    Some(Several { client: Client::open(&mut command), temp })
}

impl Several {
    fn open(&mut self, url: &str) -> String {
        let told = self.client.call("open_session", json!({"url": url}));
        assert!(!told.is_error, "{}", told.text);
        told.json["session_id"].as_str().unwrap().to_owned()
    }

    fn in_session(&mut self, tool: &str, name: &str, mut arguments: Value) -> Told {
        arguments["session_id"] = name.into();
        self.client.call(tool, arguments)
    }

    fn end(self) {
        let outcome = self.client.end();
        ended(&outcome, &self.temp);
    }

    fn end_by(self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.client.child);
        rustix::process::kill_process(pid, signal).unwrap();
        let outcome = self.client.outcome();
        ended(&outcome, &self.temp);
    }

    /// The name of the session that is there from the start.
    fn first(&mut self) -> String {
        let told = self.client.call("doctor", json!({}));
        told.json["sessions"][0]["session_id"].as_str().unwrap().to_owned()
    }

    /// Acts on the one button there is.
    fn click(&mut self, name: &str) -> Told {
        let seen = self.in_session("observe", name, json!({})).json;
        let line = seen["page"]["observation"].as_str().unwrap();
        let target = line.split(' ').next().unwrap();
        let click = json!({"ref": target, "observation": seen["observation"]["after"]});
        self.in_session("click", name, click)
    }

    fn begin(&mut self, tool: &str, name: &str, mut arguments: Value) -> u64 {
        arguments["session_id"] = name.into();
        self.client.begin(tool, arguments)
    }

    fn is_answered(&self, id: u64) -> bool {
        self.client.others.iter().any(|message| message["id"] == id)
    }

    /// The structured result of a call that was begun.
    fn ended(&mut self, id: u64) -> Value {
        let others = &mut self.client.others;
        let answer = match others.iter().position(|message| message["id"] == id) {
            Some(at) => others.remove(at),
            None => self.client.answer(id),
        };
        answer["result"]["structuredContent"].clone()
    }
}

/// How a server ends: well, and with nothing left of its browsers.
fn ended((status, stderr): &(ExitStatus, String), temp: &tempfile::TempDir) {
    assert_eq!(status.code(), Some(0), "{stderr}");
    assert_eq!(profiles(temp.path()).len(), 0);
    none_left(|| browsers(temp.path()));
}

/// The profile folders there are.
fn profiles(folder: &Path) -> BTreeSet<PathBuf> {
    let folders = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    folders.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(PREFIX)).collect()
}

/// The processes whose profile is or lies in a folder, by id and command.
fn browsers(folder: &Path) -> Vec<(i32, String)> {
    let marker = format!("--user-data-dir={}", folder.display());
    let found = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let entry = entry.unwrap();
        let id = entry.file_name().to_string_lossy().parse().ok()?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(&marker).then_some((id, line))
    });
    found.collect()
}

const FIRST: &str = "<title>First</title><button onclick=\"document.title='pressed'\">A</button>";
const SECOND: &str =
    "<title>Second</title><button onclick=\"document.title='pressed 2'\">B</button>";

fn pages() -> Server {
    Server::start(&[("/", FIRST), ("/second", SECOND)])
}

#[test]
#[ignore = "needs chromium"]
fn sessions_are_apart() {
    let pages = pages();
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("out");
    let Some(mut several) = several(&pages, &["--out", folder.to_str().unwrap()]) else { return };
    let second = several.open(&pages.url("/second"));
    let told = several.client.call("observe", json!({}));
    let first = told.json["page"]["session_id"].as_str().unwrap().to_owned();
    assert_eq!(told.json["page"]["title"], "First");
    assert_eq!(told.json["observation"]["after"], "obs-1");
    let told = several.in_session("observe", &second, json!({}));
    assert_eq!(told.json["page"]["title"], "Second", "{}", told.text);
    assert_eq!(told.json["observation"]["after"], "obs-1000001");
    assert_eq!(told.json["page"]["observation"], "1000001:a Button \"B\"");
    assert!(folder.join("obs-1/observation.png").exists());
    assert!(folder.join("session-2/obs-1000001/observation.png").exists());
    // Neither an observation nor a ref of one means anything in the other.
    for (name, arguments, kind) in [
        (&second, json!({"ref": "1:a", "observation": "obs-1000001"}), "unknown_ref"),
        (&second, json!({"ref": "1000001:a", "observation": "obs-1"}), "stale_observation"),
        (&first, json!({"ref": "1:a", "observation": "obs-1000001"}), "unknown_observation"),
    ] {
        let told = several.in_session("click", name, arguments);
        assert_eq!(told.json["refusal"]["kind"], kind, "{}", told.text);
        assert_eq!(told.json["delivery"]["delivered_count"], 0);
    }
    let told = several.client.call("doctor", json!({}));
    let rows = told.json["sessions"].as_array().unwrap();
    let of = |row: &Value| (row["session_id"].clone(), row["url"].clone(), row["first"].clone());
    assert_eq!(
        rows.iter().map(of).collect::<Vec<_>>(),
        [
            (json!(first), json!(pages.url("/")), json!(true)),
            (json!(second), json!(pages.url("/second")), json!(false)),
        ]
    );
    assert!(rows.iter().all(|row| row["alive"] == true), "{}", told.text);
    let told = several.client.call("close_session", json!({"session_id": second}));
    assert_eq!((&told.json["status"], &told.json["open"]), (&json!("closed"), &json!([first])));
    assert_eq!(profiles(several.temp.path()).len(), 1);
    let told = several.in_session("observe", &second, json!({}));
    assert_eq!(told.json["refusal"]["kind"], "unknown_session");
    assert!(told.text.ends_with(&format!("Open is {first}")), "{}", told.text);
    for (tool, arguments, schema) in [
        ("doctor", json!({}), "seechange.doctor/1"),
        ("close_session", json!({}), "seechange.session/1"),
        ("diff", json!({"before": "obs-1000001", "after": "obs-1000001"}), "seechange.diff/1"),
    ] {
        let told = several.in_session(tool, &second, arguments);
        assert_eq!(told.json["schema"], schema);
        assert!(told.is_error && told.text.ends_with(&format!("Open is {first}")), "{}", told.text);
    }
    let told = several.client.call("observe", json!({"session_id": 2}));
    assert_eq!(told.json["refusal"]["kind"], "bad_value", "{}", told.text);
    let told = several.client.call("observe", json!({}));
    assert_eq!(told.json["page"]["title"], "First", "{}", told.text);
    several.end();
}

#[test]
#[ignore = "needs chromium"]
fn the_ninth_is_refused_and_a_killed_one_is_closed() {
    let pages = pages();
    let Some(mut several) = several(&pages, &[]) else { return };
    let clock = Clock::system();
    let memory = |client: &Client| super::agent::resident_kib(client.child.id());
    let before = memory(&several.client);
    let mut times = Vec::new();
    // Three at once.
    let second = json!({"url": pages.url("/second")});
    let begun = [(); 3].map(|()| several.client.begin("open_session", second.clone()));
    let mut names: Vec<String> =
        begun.map(|id| several.ended(id)["session_id"].as_str().unwrap().to_owned()).into();
    for _ in 5..=7 {
        let start = clock.now();
        names.push(several.open(&pages.url("/second")));
        times.push((clock.now() - start).as_millis());
    }
    let others = profiles(several.temp.path());
    let killed = several.open(&pages.url("/second"));
    println!("open ms {times:?}; server KiB {before} with 1, {} with 8", memory(&several.client));
    let told = several.client.call("open_session", json!({"url": pages.url("/")}));
    assert_eq!(told.json["refusal"]["kind"], "busy", "{}", told.text);
    // The browser of the last is killed: the session says so, and can be closed.
    let all = profiles(several.temp.path());
    let its = browsers(all.difference(&others).next().unwrap());
    assert!(!its.is_empty());
    for (id, _) in its {
        let pid = rustix::process::Pid::from_raw(id).unwrap();
        // The end of one may have been that of another.
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).ok();
    }
    let told = several.in_session("observe", &killed, json!({}));
    assert!(told.is_error && told.text.contains("the browser has ended"), "{}", told.text);
    let told = several.client.call("doctor", json!({"session_id": killed}));
    assert_eq!(told.json["sessions"][0]["alive"], false, "{}", told.text);
    let words = "the browser has ended: it was closed, killed or has crashed; open it again, close it \
        with close_session";
    assert!(told.text.ends_with(words), "{}", told.text);
    for name in [&names[1], &names[5]] {
        let told = several.click(name);
        assert_eq!(told.json["page"]["title"], "pressed 2", "{}", told.text);
    }
    let start = clock.now();
    let told = several.client.call("close_session", json!({"session_id": killed}));
    assert_eq!(told.json["status"], "closed", "{}", told.text);
    let told = several.client.call("close_session", json!({"session_id": names[0]}));
    assert_eq!(told.json["status"], "closed", "{}", told.text);
    println!("two closed in {} ms", (clock.now() - start).as_millis());
    assert_eq!(profiles(several.temp.path()).len(), 6);
    // There is room again; what cannot be opened takes none, and leaves nothing.
    for _ in 0..3 {
        let told = several.client.call("open_session", json!({"url": "http://127.0.0.1:1/"}));
        assert_eq!(told.json["refusal"]["kind"], "surface", "{}", told.text);
    }
    let more = [several.open(&pages.url("/second")), several.open(&pages.url("/second"))];
    assert_eq!(profiles(several.temp.path()).len(), 8);
    for name in &more {
        assert_eq!(several.click(name).json["page"]["title"], "pressed 2");
    }
    let seen = [&names[1], &more[0], &more[1]].map(|name| {
        several.in_session("observe", name, json!({})).json["page"]["observation"].clone()
    });
    assert!(seen[0] != seen[1] && seen[1] != seen[2], "{seen:?}");
    several.end();
}

#[test]
#[ignore = "needs chromium"]
fn sessions_are_never_looser_than_their_server() {
    let pages = pages();
    let url = pages.url("/second");
    for (flags, arguments, kind) in [
        (&["--read-only"][..], json!({"url": url}), "read_only"),
        (&["--read-only"], json!({"url": url, "read_only": true}), "read_only"),
        (&["--deny-actions", "navigate"], json!({"url": url}), "not_permitted"),
        (&[], json!({"url": url, "headed": true}), "not_permitted"),
        (&[], json!({"url": "file:///etc/passwd"}), "bad_value"),
        (&[], json!({"url": url, "scale": 9}), "bad_value"),
        (&[], json!({"url": url, "viewport": "wide"}), "bad_value"),
        (&[], json!({}), "missing_field"),
        (&[], json!({"url": url, "profile": "x"}), "unknown_field"),
    ] {
        let Some(mut several) = several(&pages, flags) else { return };
        let told = several.client.call("open_session", arguments.clone());
        assert_eq!(told.json["refusal"]["kind"], kind, "{arguments}: {}", told.text);
    }
    let Some(mut several) = several(&pages, &[]) else { return };
    let told = several.client.call("open_session", json!({"url": url, "read_only": true}));
    assert_eq!(told.json["read_only"], true, "{}", told.text);
    let name = told.json["session_id"].as_str().unwrap().to_owned();
    let seen = several.in_session("observe", &name, json!({})).json;
    let key = json!({"key": "a", "observation": seen["observation"]["after"]});
    let told = several.in_session("key", &name, key);
    assert_eq!(told.json["refusal"]["kind"], "read_only", "{}", told.text);
    several.end();
}

/// Whose button keeps its scripts busy for good.
const HUNG: &str = "<title>Hung</title><button onclick=\"for(;;);\">C</button>";

#[test]
#[ignore = "needs chromium"]
fn what_goes_on_in_one_session_holds_up_no_other() {
    let pages = Server::start(&[("/", FIRST), ("/second", SECOND), ("/hung", HUNG)]);
    let Some(mut several) = several(&pages, &[]) else { return };
    let (first, second) = (several.first(), several.open(&pages.url("/second")));
    let hung = several.open(&pages.url("/hung"));
    let told = several.click(&hung);
    assert_eq!(told.json["page"]["target"], "2000001:a Button \"C\"", "{}", told.text);
    // A page that hangs ends each look within 5 s, so more than one call keeps it busy.
    let mut queued = |name: &str, count: usize| -> Vec<u64> {
        (0..count).map(|_| several.begin("wait", name, json!({"seconds": 30}))).collect()
    };
    let (in_first, in_hung) = (queued(&first, 4), queued(&hung, 20));
    let third = several.open(&pages.url("/second"));
    assert_eq!(several.click(&third).json["page"]["title"], "pressed 2");
    // A cancelled call ends alone.
    let cancelled = several.begin("wait", &second, json!({"seconds": 30}));
    several.client.cancel(cancelled);
    let told = several.in_session("observe", &second, json!({}));
    assert!(told.text.starts_with("the wait before this was cancelled: "), "{}", told.text);
    assert_eq!(told.json["page"]["title"], "Second");
    let last = [in_first[3], in_hung[19], cancelled];
    assert_eq!(last.map(|id| several.is_answered(id)), [false; 3]);
    let rows = several.client.call("doctor", json!({})).json["sessions"].clone();
    let is_busy: Vec<&Value> = rows.as_array().unwrap().iter().map(|row| &row["busy"]).collect();
    assert_eq!(is_busy, [true, false, true, false]);
    // Who is closed in its own wait is told so, and whoever waits for a turn there.
    for (name, id) in [(&hung, last[1]), (&first, last[0])] {
        let told = several.client.call("close_session", json!({"session_id": name}));
        assert_eq!(told.json["status"], "closed", "{}", told.text);
        assert_eq!(several.ended(id)["refusal"]["kind"], "cancelled");
    }
    assert_eq!(profiles(several.temp.path()).len(), 2);
    // Without a name the first was meant; without any there is none to name.
    let told = several.client.call("observe", json!({}));
    let words = format!("session_id must name another. Open are {second}, {third}");
    assert_eq!(told.json["refusal"]["kind"], "unknown_session");
    assert!(told.text.ends_with(&words), "{}", told.text);
    for name in [&second, &third] {
        several.client.call("close_session", json!({"session_id": name}));
    }
    let told = several.in_session("click", &third, json!({"ref": "1:a", "observation": "obs-1"}));
    assert!(told.text.ends_with("None is open: open one with open_session"), "{}", told.text);
    let last = several.open(&pages.url("/second"));
    assert_eq!(several.click(&last).json["page"]["target"], "4000001:a Button \"B\"");
    several.end();
}

#[test]
#[ignore = "needs chromium"]
fn the_end_of_stdin_and_a_signal_end_every_session() {
    let pages = Server::start(&[("/", FIRST), ("/second", SECOND), ("/slow", SECOND)]);
    for signal in [None, Some(rustix::process::Signal::TERM)] {
        let Some(mut several) = several(&pages, &[]) else { return };
        let names = [several.first(), several.open(&pages.url("/second"))];
        for name in &names {
            several.begin("wait", name, json!({"seconds": 30}));
        }
        let slow = json!({"url": pages.url("/slow")});
        let opening = several.client.begin("open_session", slow);
        // It is opened still when this comes.
        loop {
            let message = several.client.next();
            assert!(message.get("id").is_none(), "{message}");
            if message["params"]["progressToken"] == opening {
                break;
            }
        }
        match signal {
            None => several.end(),
            Some(signal) => several.end_by(signal),
        }
    }
}

#[test]
#[ignore = "needs chromium"]
fn a_policy_is_in_force_in_every_session() {
    let pages = pages();
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("policy.json");
    let allow = |actions: &[&str]| {
        fs::write(&policy, json!({"allow_actions": actions}).to_string()).unwrap();
    };
    allow(&["click", "navigate"]);
    let Some(mut several) = several(&pages, &["--policy", policy.to_str().unwrap()]) else {
        return;
    };
    let names = [several.first(), several.open(&pages.url("/second"))];
    for name in &names {
        let seen = several.in_session("observe", name, json!({})).json;
        let key = json!({"key": "a", "observation": seen["observation"]["after"]});
        let told = several.in_session("key", name, key);
        assert_eq!(told.json["refusal"]["kind"], "not_permitted", "{}", told.text);
        assert_eq!(several.click(name).json["status"], "delivered");
    }
    allow(&[]);
    for name in &names {
        assert_eq!(several.click(name).json["refusal"]["kind"], "not_permitted");
    }
    let told = several.client.call("open_session", json!({"url": pages.url("/")}));
    assert_eq!(told.json["refusal"]["kind"], "not_permitted", "{}", told.text);
    several.end();
}
