//! Text pasted into real programs by way of the clipboard, which is put back.

use std::fs;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use seechange::act::{Driver as _, Held};
use serde_json::{Value, json};

use super::harness::Desktop;
use super::safety::Thief;
use super::typing::{Client, SAMPLE, in_browser, in_gtk_editor, in_qt_editor, in_terminal};

/// Another program copies something.
fn copy(desktop: &Desktop, text: &str) {
    let file = desktop.file("copied");
    fs::write(&file, text).unwrap();
    let mut xclip = desktop.command("xclip");
    xclip.args(["-selection", "clipboard", "-i"]).arg(&file);
    xclip.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(xclip.status().expect("xclip runs: is it installed?").success());
}

/// What a program gets that asks for what is on the clipboard.
fn on_clipboard(desktop: &Desktop) -> String {
    let mut xclip = desktop.command("xclip");
    let output = xclip.args(["-selection", "clipboard", "-o"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn paste(text: &str) -> Value {
    json!({"action": "type_text", "method": "paste", "text": text})
}

/// Pastes the sample under three layouts over what is selected. What was copied before is longer
/// than what programs are given in one piece.
fn check(
    desktop: &Desktop,
    client: &mut Client,
    clear: bool,
    read: &mut dyn FnMut(&mut Client, &str) -> String,
) {
    let copied = format!("{}é", "Pune Lanterns made 168/6\n".repeat(8000));
    copy(desktop, &copied);
    for layout in ["us", "de", "fr"] {
        desktop.run("setxkbmap", &[layout]);
        let mark = format!(" {layout}.");
        let text = format!("{SAMPLE}{mark}");
        if clear {
            client.deliver(&json!({"action": "select_all"}));
        }
        let receipt = client.deliver(&paste(&text));
        assert_eq!(receipt["delivery"]["delivered_count"], 5, "{receipt}");
        assert_eq!(receipt["action"]["method"], "paste", "{receipt}");
        assert_eq!(receipt["clipboard"]["restored"], true, "{receipt}");
        assert!(on_clipboard(desktop) == copied, "{layout}: not what was copied before");
        assert_eq!(read(client, &mark), text, "{layout}");
    }
}

#[test]
#[ignore = "needs Xvfb"]
fn a_terminal_gets_what_is_pasted() {
    in_terminal(check);
}

#[test]
#[ignore = "needs Xvfb"]
fn a_gtk_editor_gets_what_is_pasted() {
    in_gtk_editor(check);
}

#[test]
#[ignore = "needs Xvfb"]
fn a_qt_editor_gets_what_is_pasted() {
    in_qt_editor(check);
}

#[test]
#[ignore = "needs Xvfb and chromium"]
fn a_browser_gets_what_is_pasted() {
    in_browser(check);
}

#[test]
#[ignore = "needs Xvfb"]
fn what_nobody_asks_for_is_told_and_the_clipboard_put_back() {
    // Without a window manager the focus stays where it is put.
    let desktop = Desktop::bare("1280x800x24", &[]);
    let thief = Thief::new(&desktop);
    let mut x11 = desktop.open();
    copy(&desktop, "old");
    let mut client = Client::on(&desktop, "x11");
    thief.take_focus();
    client.send(&paste("secret plums"));
    // A clipboard manager reads it; that is not the program it is for.
    desktop.until("the text", || (on_clipboard(&desktop) == "secret plums").then_some(()));
    let receipt = client.receive();
    assert_eq!(receipt["status"], "unknown", "{receipt}");
    assert_eq!(receipt["delivery"]["delivered_count"], 4, "{receipt}");
    assert_eq!(receipt["clipboard"]["restored"], true, "{receipt}");
    let message = receipt["message"].as_str().unwrap();
    let told = "only 4 of 5 events are known to have been sent: the program with the focus did not \
                ask for the text within 2000 ms of shift+insert; never repeat";
    assert!(message.starts_with(told), "{message}");
    let note = "kept by this program until it ends: no clipboard manager is there";
    assert_eq!(receipt["clipboard"]["note"], note, "{receipt}");
    assert!(!receipt.to_string().contains("plums"), "{receipt}");
    assert_eq!(on_clipboard(&desktop), "old");

    // Somebody copies something in between: that stays.
    client.send(&paste("secret plums"));
    desktop.until("the text", || (on_clipboard(&desktop) == "secret plums").then_some(()));
    copy(&desktop, "newer");
    let receipt = client.receive();
    assert_eq!(
        (&receipt["status"], &receipt["clipboard"]["restored"]),
        (&json!("unknown"), &json!(false)),
        "{receipt}"
    );
    assert_eq!(on_clipboard(&desktop), "newer");

    // Told to stop while it waits.
    client.send(&paste("secret plums"));
    desktop.until("the text", || (on_clipboard(&desktop) == "secret plums").then_some(()));
    kill_process(Pid::from_child(client.process()), Signal::TERM).unwrap();
    let receipt = client.receive();
    assert_eq!(receipt["status"], "unknown", "{receipt}");
    assert_eq!(receipt["clipboard"]["restored"], true, "{receipt}");
    assert_eq!(x11.held().unwrap(), Held::default());
}
