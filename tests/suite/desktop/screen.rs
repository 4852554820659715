//! The surface `screen`, which looks through xcap, by the built command: xcap goes by `DISPLAY`.

use std::path::Path;
use std::thread;
use std::time::Duration;

use seechange::{Frame, Rect, frame};

use super::harness::Desktop;
use super::painter::Painter;
use crate::command::{Answer, command};

fn run(display: &str, arguments: &[&str]) -> Answer {
    let mut command = command();
    command.env_remove("WAYLAND_DISPLAY").env_remove("XDG_SESSION_TYPE");
    let output = command.env("DISPLAY", display).args(arguments).output().unwrap();
    Answer {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn captured(desktop: &Desktop, folder: &Path, arguments: &[&str]) -> Frame {
    let mut all = vec!["capture", "--out", folder.to_str().unwrap()];
    all.extend(arguments);
    let answer = run(desktop.name(), &all);
    assert_eq!(answer.code, Some(0), "{arguments:?}: {answer:?}");
    frame::read(&folder.join("capture.png")).unwrap()
}

/// The colours alone.
fn colours(frame: &Frame) -> Vec<[u8; 3]> {
    let all = frame.data().chunks_exact(4);
    all.map(|pixel| {
        let [red, green, blue, _] = frame.format().rgba(pixel.try_into().unwrap());
        [red, green, blue]
    })
    .collect()
}

#[test]
#[ignore = "needs Xvfb"]
fn a_monitor_is_seen_as_it_is_and_waited_for() {
    let desktop = Desktop::bare("640x400x24", &[]);
    let painter = Painter::on(&desktop, (100, 100, 300, 200));
    painter.fill((20, 20, 30, 20), 0x12_8040);
    let shown = desktop.capture(&mut desktop.open());
    let folder = desktop.file("shot");
    for surface in ["screen", "screen:monitor=0"] {
        let seen = captured(&desktop, &folder, &["--surface", surface]);
        assert_eq!((seen.size(), colours(&seen)), (shown.size(), colours(&shown)), "{surface}");
    }
    let rect: Rect = "110,110,60,50".parse().unwrap();
    let seen = captured(&desktop, &folder, &["--surface", "screen", "--region", "110,110,60,50"]);
    assert_eq!(seen.size(), rect.size());
    assert_eq!(colours(&seen), colours(&shown.crop(rect).unwrap()));

    let wait = |arguments: &[&str]| {
        let all: Vec<_> = ["wait"].iter().chain(arguments).copied().collect();
        run(desktop.name(), &[&all[..], &["--surface", "screen"]].concat())
    };
    assert_eq!(wait(&["stable", "--timeout", "20s"]).code, Some(0));
    let there = folder.join("capture.png");
    assert_eq!(wait(&["appears", there.to_str().unwrap(), "--timeout", "20s"]).code, Some(0));
    let elsewhere = ["changed", "--region", "0,0,80,80", "--timeout", "2s"];
    for (arguments, code) in [
        (&elsewhere[..], Some(1)),
        (&["changed", "--region", "100,100,300,200", "--timeout", "30s"][..], Some(0)),
    ] {
        thread::scope(|scope| {
            let waited = scope.spawn(|| wait(arguments));
            // Changes until it is seen, however late the command starts to look.
            for colour in 0.. {
                if waited.is_finished() {
                    break;
                }
                painter.fill((100, 60, 40, 40), colour * 0x05_0301 % 0xff_ffff);
                desktop.clock.sleep(Duration::from_millis(1500));
            }
            let answer = waited.join().unwrap();
            assert_eq!(answer.code, code, "{arguments:?}: {answer:?}");
        });
    }
}

#[test]
#[ignore = "needs Xvfb"]
fn a_window_is_found_by_its_title_or_its_id() {
    let mut desktop = Desktop::managed();
    desktop.spawn("xterm", &["+bc", "-title", "first of two", "-geometry", "40x10+60+60"]);
    desktop.spawn("xterm", &["+bc", "-title", "second", "-geometry", "50x12+500+300"]);
    let mut second = desktop.window("second");
    let mut first = desktop.window("first of two");
    let folder = desktop.file("shot");
    let id = first.window().unwrap().id.to_string();
    // As newer programs set it; a terminal sets the older property alone, which xcap does not read.
    let name = ["-f", "_NET_WM_NAME", "8u", "-set", "_NET_WM_NAME", "first of two"];
    desktop.run("xprop", &[&["-id", &id][..], &name].concat());
    let shown = desktop.capture(&mut first);
    for name in ["first of two", "first", &id] {
        let surface = format!("screen:window={name}");
        let seen = captured(&desktop, &folder, &["--surface", &surface]);
        assert_eq!((seen.size(), colours(&seen)), (shown.size(), colours(&shown)), "{name}");
    }
    let size = desktop.capture(&mut second).size();
    let seen = captured(&desktop, &folder, &["--surface", "screen:window=XTerm"]);
    assert_eq!(seen.size(), size);
}

#[test]
#[ignore = "needs Xvfb"]
fn what_cannot_be_seen_is_said_in_one_line() {
    let bare = Desktop::bare("640x400x24", &[]);
    let mut managed = Desktop::managed();
    managed.spawn("xterm", &["-title", "the only one"]);
    managed.window("the only one");
    for (display, surface, parts) in [
        (":4711", "screen", &["no screen to capture", "DISPLAY"][..]),
        (bare.name(), "screen:monitor=9", &["no monitor", "'9'", "there is 0 \"screen\""]),
        (bare.name(), "screen:window=x", &["windows are not listed", "a window manager"]),
        (managed.name(), "screen:window=other", &["no window", "'other'", "\"XTerm\""]),
        (bare.name(), "screen:nonsense", &["screen:nonsense", "screen:window=TITLE-OR-ID"]),
    ] {
        let answer = run(display, &["wait", "stable", "--surface", surface]);
        assert_eq!(answer.code, Some(2), "{surface}: {answer:?}");
        let is_right = parts.iter().all(|part| answer.stderr.contains(part));
        assert!(is_right, "{surface}: {answer:?}");
        if surface != "screen:nonsense" {
            assert_eq!(answer.stderr.lines().count(), 1, "{surface}: {answer:?}");
        }
    }
    let answer = run(bare.name(), &["act", "click", "5", "5", "--surface", "screen"]);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.stderr.contains("screen take no input"), "{answer:?}");
}
