//! Recording a real display, ended in every way there is.

use std::path::Path;
use std::process::{Child, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::harness::Desktop;

const SEECHANGE: &str = env!("CARGO_BIN_EXE_seechange");

fn start(desktop: &Desktop, arguments: &[&str]) -> Child {
    let mut command = desktop.command(SEECHANGE);
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// The answer of a wait on the recording in `folder`.
fn replayed(desktop: &Desktop, folder: &Path, arguments: &[&str]) -> Value {
    let surface = format!("replay:{}", folder.display());
    let arguments = [&["wait"], arguments, &["--json", "--surface", &surface]].concat();
    json(&start(desktop, &arguments).wait_with_output().unwrap())
}

/// Waits until the timeline in `folder` has so many pictures.
fn until_pictures(desktop: &Desktop, folder: &Path, pictures: usize) {
    let timeline = folder.join("timeline.json");
    desktop.until("a recording", || {
        let text = std::fs::read_to_string(&timeline).unwrap_or_default();
        (text.matches(".png").count() >= pictures).then_some(())
    });
}

#[test]
#[ignore = "needs Xvfb and xterm"]
fn a_terminal_is_recorded_and_every_end_leaves_a_whole_recording() {
    let mut desktop = Desktop::bare("640x480x24", &[]);
    // Ten lines, a fifth of a second apart, then nothing.
    let script = "sleep 1; for n in 1 2 3 4 5 6 7 8 9 10; do echo line $n; sleep 0.2; done; cat";
    for (name, signal, code) in [
        ("interrupted", Some(Signal::INT), Some(0)),
        ("terminated", Some(Signal::TERM), Some(0)),
        ("killed", Some(Signal::KILL), None),
        ("timed", None, Some(0)),
    ] {
        desktop
            .spawn("xterm", &["-title", name, "-geometry", "60x20+0+0", "-e", "sh", "-c", script]);
        let folder = desktop.file(name);
        let path = folder.to_str().unwrap();
        let length = if signal.is_some() { "60s" } else { "5s" };
        let recorder = start(&desktop, &["record", path, "--json", "--for", length]);
        until_pictures(&desktop, &folder, 5);
        if let Some(signal) = signal {
            desktop.clock.sleep(std::time::Duration::from_secs(3));
            kill_process(Pid::from_child(&recorder), signal).unwrap();
        }
        let output = recorder.wait_with_output().unwrap();
        assert_eq!(output.status.code(), code, "{name}: {output:?}");
        if code == Some(0) {
            let answer = json(&output);
            let ended = if signal.is_some() { "cancelled" } else { "time" };
            assert_eq!((&answer["ended"], &answer["dropped"]), (&ended.into(), &0.into()));
            assert!(answer["pictures"].as_u64().unwrap() >= 5, "{answer}");
        }
        let changed = replayed(&desktop, &folder, &["changed"]);
        assert_eq!(changed["outcome"], "met", "{name}");
        // It moves until the last line came: what if it had to be still for half a second?
        let still = ["stable", "--hold", "500ms", "--input-at", "100", "--timeout", "20s"];
        let stable = replayed(&desktop, &folder, &still);
        assert_eq!(stable["outcome"], "met", "{name}: {stable}");
        // A line a fifth of a second: with a hold of 100 ms it is met in between.
        let early = replayed(&desktop, &folder, &["stable", "--hold", "100ms", "--captures", "2"]);
        assert_eq!(early["outcome"], "met", "{name}: {early}");
        assert!(early["met_at_ms"].as_u64() <= stable["met_at_ms"].as_u64(), "{early} {stable}");
    }
}

#[test]
#[ignore = "needs Xvfb"]
fn an_interrupted_wait_keeps_its_evidence() {
    let desktop = Desktop::bare("640x480x24", &[]);
    let folder = desktop.file("evidence");
    let path = folder.to_str().unwrap();
    let arguments = ["wait", "changed", "--timeout", "60s", "--json", "--out", path];
    for signal in [Signal::INT, Signal::TERM] {
        let waiting = start(&desktop, &arguments);
        // Long enough to have looked.
        desktop.clock.sleep(std::time::Duration::from_millis(1500));
        kill_process(Pid::from_child(&waiting), signal).unwrap();
        let output = waiting.wait_with_output().unwrap();
        let answer = json(&output);
        assert_eq!((output.status.code(), &answer["outcome"]), (Some(1), &"cancelled".into()));
        for name in ["timeline.png", "first-look.png", "last.png"] {
            let picture = seechange::frame::read(&folder.join(name)).unwrap();
            assert!(name == "timeline.png" || picture.size().width() == 640, "{name}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
