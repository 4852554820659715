//! `seechange act` as a program, on the simulated application: no display is needed.
#![cfg(feature = "demo")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::command::{command, seechange};

/// Feeds `input` to `seechange act - --json`; the receipts and the exit code.
fn stream(input: &[u8]) -> (Vec<Value>, Option<i32>) {
    let mut child = command()
        .args(["act", "-", "--json", "--surface", "demo"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let receipts = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (receipts, output.status.code())
}

#[test]
fn bad_lines_get_one_refusal_each_and_the_next_goes_on() {
    let mut input = Vec::new();
    let mut bad: Vec<Vec<u8>> = vec![
        b"\xff\xfe{}".to_vec(),
        vec![b'x'; 20 << 20],
        "[".repeat(50_000).into_bytes(),
        br#"{"action":"click","x":1e999,"y":1}"#.to_vec(),
        br#"{"action":"click","x":NaN,"y":1}"#.to_vec(),
        br#"{"action":"click","x":1,"x":2,"y":1}"#.to_vec(),
        br#"{"action":"click","x":"1","y":1}"#.to_vec(),
        br#"{"action":"shell","command":"true"}"#.to_vec(),
        br#"{"action":"click","x":1,"y":1,"observation":"obs-7"}"#.to_vec(),
    ];
    bad.push(br#"{"action":"observe"}"#.to_vec());
    for line in &bad {
        input.extend_from_slice(line);
        input.push(b'\n');
    }
    let (receipts, code) = stream(&input);
    let kinds: Vec<&str> = receipts
        .iter()
        .map(|receipt| receipt["refusal"]["kind"].as_str().unwrap_or("none"))
        .collect();
    let expected = [
        "malformed",
        "malformed",
        "malformed",
        "malformed",
        "malformed",
        "malformed",
        "bad_value",
        "unknown_action",
        "unknown_observation",
        "none",
    ];
    assert_eq!((kinds, code), (expected.to_vec(), Some(1)));
    for receipt in &receipts[..9] {
        assert_eq!(receipt["status"], "refused");
        assert_eq!(receipt["delivery"]["delivered_count"], 0);
        assert!(!receipt["refusal"]["message"].as_str().unwrap().contains('\n'));
    }
    assert_eq!(receipts[9]["observation"]["after"], "obs-1");
}

#[test]
fn ids_live_as_long_as_the_process() {
    let (receipts, code) = stream(
        br#"{"action":"observe"}
{"action":"hover","x":3,"y":3,"observation":"obs-1"}
{"action":"wait_for","condition":"stable","observation":"obs-2"}
{"action":"hover","x":3,"y":3,"observation":"obs-1"}"#,
    );
    let statuses: Vec<&Value> = receipts.iter().map(|receipt| &receipt["status"]).collect();
    assert_eq!(statuses, ["delivered", "delivered", "delivered", "refused"]);
    assert_eq!(receipts[3]["refusal"]["kind"], "stale_observation");
    assert_eq!(receipts[2]["wait"]["outcome"], "met");
    assert_eq!(receipts[2]["wait"]["last"]["observation"], "obs-3");
    assert_eq!(code, Some(1));
}

#[test]
fn exit_codes_tell_delivered_refused_and_trouble_apart() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, code) in [
        (&["act", "hover", "3", "3", "--surface", "demo"][..], 0),
        (&["act", "hover", "3", "99999", "--surface", "demo"], 1),
        (&["act", "hover", "3", "--surface", "demo"], 1),
        (&["act", "click", "3", "3", "--read-only", "--surface", "demo"], 1),
        (&["act", "hover", "3", "3", "3", "--surface", "demo"], 2),
        (&["act", "hoover", "3", "3", "--surface", "demo"], 2),
        (&["act", "hover.json", "--surface", "demo"], 2),
        (&["act", "hover", "3", "3", "--surface", "x11"], 2),
    ] {
        let answer = seechange(folder.path(), arguments);
        assert_eq!(answer.code, Some(code), "{arguments:?}: {answer:?}");
        assert_eq!(answer.stderr.lines().count(), usize::from(code == 2), "{answer:?}");
    }
}

/// A stream that is asked line by line.
struct Session {
    child: Child,
    stdin: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Session {
    fn start(arguments: &[&str]) -> Self {
        let mut child = command()
            .args(["act", "-", "--json", "--surface", "demo"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, answers }
    }

    fn ask(&mut self, line: &[u8]) -> Value {
        self.stdin.write_all(line).unwrap();
        self.stdin.write_all(b"\n").unwrap();
        self.answer()
    }

    fn answer(&mut self) -> Value {
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    }

    /// The exit code, once no line is to come.
    fn end(mut self) -> Option<i32> {
        drop(self.stdin);
        self.child.wait().unwrap().code()
    }
}

/// The most memory a process ever had, in KiB.
#[cfg(target_os = "linux")]
fn peak_kib(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn whatever_a_line_holds_it_gets_one_answer_and_costs_no_memory() {
    let mut session = Session::start(&[]);
    let observe = br#"{"action":"observe"}"#;
    assert_eq!(session.ask(observe)["observation"]["after"], "obs-1");
    let before = peak_kib(&session.child);
    let megabyte = vec![b' '; 1 << 20];
    for _ in 0..100 {
        session.stdin.write_all(&megabyte).unwrap();
    }
    let told = session.ask(b"");
    assert_eq!(told["refusal"]["message"], "the request is longer than 1048576 bytes");
    let text = |length| {
        json!({"action": "type_text", "text": "x".repeat(length)}).to_string().into_bytes()
    };
    let deep = |open: &str, count| {
        format!(r#"{{"action":"observe","x":{}"#, open.repeat(count)).into_bytes()
    };
    for (line, message) in [
        (b"\xff\xfe{}".to_vec(), "the request is not UTF-8 at byte 0"),
        (b"{\"action\":\"cl\xc3\"}".to_vec(), "the request is not UTF-8 at byte 13"),
        (
            b"\xef\xbb\xbf{\"action\":\"observe\"}".to_vec(),
            "the request begins with a byte order mark: leave it out",
        ),
        (b"{\"action\":\"observe\"}\0".to_vec(), "the request is no valid JSON: trailing"),
        (deep("[", 100_000), "the request is no valid JSON: recursion limit exceeded"),
        (deep("{\"x\":", 100_000), "the request is no valid JSON: recursion limit exceeded"),
        (text(500_000), "text must be 1 to 2000 characters, not 500000"),
        (text(2 << 20), "the request is longer than 1048576 bytes"),
        (
            br#"{"action":"click","x":1e999,"y":1}"#.to_vec(),
            "the request is no valid JSON: number out of range at column 27",
        ),
        (
            br#"{"action":"click","x":NaN,"y":1}"#.to_vec(),
            "the request is no valid JSON: expected value at column 23",
        ),
        (
            br#"{"action":"click","x":1,"y":1,"x":1}"#.to_vec(),
            "the request is no valid JSON: the key 'x' stands there twice at column 33",
        ),
        (b"null".to_vec(), "the request must be a JSON object such as"),
    ] {
        let receipt = session.ask(&line);
        let told = receipt["refusal"]["message"].as_str().unwrap();
        assert!(told.starts_with(message) && told.len() < 200 && !told.contains('\n'), "{told}");
        assert_eq!(receipt["status"], "refused", "{told}");
        assert_eq!(receipt["delivery"]["events_planned"], 0, "{told}");
        assert_eq!(receipt["observation"]["after"], "obs-1", "the observation is still good");
    }
    let grown = peak_kib(&session.child) - before;
    assert!(grown < 16 * 1024, "{grown} KiB more");
    // Empty lines and carriage returns are no request and part of none.
    session.stdin.write_all(b"\n  \r\n\t\n").unwrap();
    let receipt =
        session.ask(b"{\"action\":\"hover\",\"x\":3,\"y\":3,\"observation\":\"obs-1\"}\r");
    assert_eq!(receipt["status"], "delivered");
    assert_eq!(session.end(), Some(1));
}

#[test]
fn a_policy_is_read_again_before_each_line_and_its_end_allows_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.json");
    let name = file.to_str().unwrap();
    std::fs::write(&file, r#"{"deny_keys":["alt+f4"],"max_text":3}"#).unwrap();
    let mut session = Session::start(&["--policy", name, "--deny-actions", "right-click,drag"]);
    let told =
        |receipt: &Value| receipt["refusal"]["message"].as_str().unwrap_or("none").to_owned();
    let key = br#"{"action":"hotkey","keys":["alt","f4"]}"#;
    let hover = br#"{"action":"hover","x":3,"y":3}"#;
    let not = |what: &str| format!("the policy of this session does not allow {what}");
    assert_eq!(told(&session.ask(key)), not("the keys alt+f4 (its rule is alt+f4)"));
    assert_eq!(told(&session.ask(br#"{"action":"right_click","x":1,"y":1}"#)), not("right_click"));
    assert_eq!(told(&session.ask(hover)), "none");
    std::fs::write(&file, r#"{"read_only":true}"#).unwrap();
    assert!(told(&session.ask(hover)).contains("read-only"));
    assert_eq!(told(&session.ask(br#"{"action":"observe"}"#)), "none");
    std::fs::write(&file, r#"{"readonly":false}"#).unwrap();
    let refused = told(&session.ask(hover));
    let start = not(&format!("hover: {name}: a policy has no field 'readonly'"));
    assert!(refused.starts_with(&start), "{refused}");
    std::fs::remove_file(&file).unwrap();
    let gone = format!("the policy {name} cannot be read: no such file or directory");
    assert_eq!(told(&session.ask(hover)), not(&format!("hover: {gone}")));
    let observing = told(&session.ask(br#"{"action":"observe"}"#));
    assert_eq!(observing, not(&format!("observe: {gone}")));
    std::fs::write(&file, "{}").unwrap();
    assert_eq!(told(&session.ask(hover)), "none");
    // Reading a pipe would wait for somebody who writes into it.
    std::fs::remove_file(&file).unwrap();
    make_pipe(&file);
    let no_file = not(&format!("hover: the policy {name} is not a file"));
    assert_eq!(told(&session.ask(hover)), no_file);
    assert_eq!(session.end(), Some(1));
}

fn make_pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_policy_that_is_none_is_trouble() {
    let folder = tempfile::tempdir().unwrap();
    make_pipe(&folder.path().join("pipe"));
    for (arguments, message) in [
        (
            &["--policy", "none.json"][..],
            "seechange: the policy none.json cannot be read: no such file or directory",
        ),
        (&["--policy", "pipe"], "seechange: the policy pipe is not a file"),
        (&["--policy", "."], "seechange: the policy . is not a file"),
        (
            &["--policy", "bad.json"],
            "seechange: bad.json: the policy is no valid JSON: EOF while parsing an object at column 1",
        ),
        (
            &["--deny-actions", "clik"],
            "seechange: --deny-actions: there is no action 'clik': use observe, click, right_click, \
             double_click, hover, drag, scroll, scroll_to_element, key, hotkey, select_all, \
             type_text, hold, sequence, wait, wait_for, dialog, navigate, tab",
        ),
    ] {
        std::fs::write(folder.path().join("bad.json"), "{").unwrap();
        let all = [&["act", "observe", "--surface", "demo"], arguments].concat();
        let answer = seechange(folder.path(), &all);
        assert_eq!((answer.code, answer.stderr.trim_end()), (Some(2), message));
    }
    let arguments = ["act", "click", "3", "3", "--allow-actions", "key", "--surface", "demo"];
    let answer = seechange(folder.path(), &arguments);
    let told = "refused click: the policy of this session does not allow click";
    assert_eq!((answer.code, answer.stdout.trim_end()), (Some(1), told));
}

/// The pictures a run finds in its way, made by nobody's run.
fn put(folder: &Path, name: &str) {
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join(name), "mine").unwrap();
}

#[test]
fn a_picture_in_the_way_takes_nothing_from_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("shown");
    for name in ["observation.png", "overview.png"] {
        put(&out, name);
        let click = ["act", "click", "300", "105", "--surface", "demo", "--json", "--out", "shown"];
        let answer = seechange(folder.path(), &click);
        let receipt: Value = serde_json::from_str(&answer.stdout).unwrap();
        assert_eq!((answer.code, &receipt["status"]), (Some(0), &json!("delivered")));
        assert_eq!(receipt["change"]["verdict"], "changed");
        assert_eq!(receipt["observation"]["image"]["width"], 640);
        assert_eq!(receipt["observation"]["image"]["path"], Value::Null);
        let message = receipt["message"].as_str().unwrap();
        let told = format!("no pictures: shown/{name}: is in the way of a picture");
        assert!(message.starts_with(&told), "{message}");
        assert_eq!(std::fs::read(out.join(name)).unwrap(), b"mine");
        assert_eq!(std::fs::read_dir(&out).unwrap().count(), 1, "all of them or none");
        std::fs::remove_file(out.join(name)).unwrap();
    }
}

#[test]
fn a_folder_that_cannot_be_is_known_before_anything_is_done() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "file");
    put(&folder.path().join("taken"), "last.png");
    let no_folder = "pictures cannot be written, for file is no folder; give --out another one";
    let taken = "taken/last.png: is in the way of a picture and no earlier run wrote it; give --out \
                 another folder";
    for (arguments, message) in [
        (&["act", "hover", "3", "3", "--out", "file"][..], format!("file: {no_folder}")),
        (&["act", "hover", "3", "3", "--out", "file/new"], format!("file/new: {no_folder}")),
        (&["wait", "stable", "--timeout", "300s", "--out", "file"], format!("file: {no_folder}")),
        (&["wait", "changed", "--timeout", "300s", "--out", "taken"], taken.to_owned()),
    ] {
        let all = [arguments, &["--surface", "demo"]].concat();
        let answer = seechange(folder.path(), &all);
        let told = answer.stderr.trim_end();
        assert_eq!((answer.code, told), (Some(2), format!("seechange: {message}").as_str()));
        assert_eq!(answer.stdout, "");
    }
}

#[test]
fn a_reference_is_never_replaced_wherever_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        seechange(folder.path(), &[arguments, &["--surface", "demo", "--out", "shown"]].concat())
    };
    let click = ["act", "click", "300", "105"];
    assert_eq!(run(&click).code, Some(0));
    let told = "an earlier run wrote this picture into --out";
    for arguments in [
        &["wait", "gone", "shown/overview.png"][..],
        &["wait", "--any", "gone 'shown/overview.png'"],
        &["wait", "--any", "changed --mask shown/observation.png"],
        &["wait", "stable", "--mask", "shown/observation.png"],
        &["act", "hover", "3", "3", "--mask", "shown/observation.png"],
    ] {
        let answer = run(arguments);
        assert_eq!(answer.code, Some(2), "{arguments:?}: {answer:?}");
        assert!(answer.stderr.contains(told), "{arguments:?}: {answer:?}");
    }
    let answer = run(&["act", "wait_for", "gone", "shown/overview.png"]);
    assert!(answer.code == Some(1) && answer.stdout.contains(told), "{answer:?}");
    // In a stream each action has a folder: one that is yet to be written is an earlier run's.
    let mut stream = Session::start(&["--out", folder.path().to_str().unwrap()]);
    stream.ask(br#"{"action":"click","x":300,"y":105}"#);
    stream.end();
    let mut stream = Session::start(&["--out", folder.path().to_str().unwrap()]);
    let picture = folder.path().join("obs-2/observation.png");
    let wait = json!({"action": "wait_for", "condition": "gone", "image": picture});
    let line = wait.to_string().into_bytes();
    let refusal = &stream.ask(&line)["refusal"];
    assert!(refusal["message"].as_str().unwrap().contains(told), "{refusal}");
    stream.ask(br#"{"action":"click","x":300,"y":105}"#);
    let refusal = &stream.ask(&line)["refusal"];
    assert_eq!(refusal, &Value::Null, "its own pictures of before stay");
    stream.end();
}

#[test]
fn json_after_the_end_of_options_is_a_text() {
    let folder = tempfile::tempdir().unwrap();
    let answer =
        seechange(folder.path(), &["act", "--surface", "demo", "type_text", "--", "--json"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.stdout.starts_with("delivered type_text"), "{answer:?}");
}
