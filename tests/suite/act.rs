//! `seechange act` as a program, on the simulated application: no display is needed.
#![cfg(feature = "demo")]

use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;

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
