//! Text in any script, typed into real programs and read back byte for byte.

use std::fs;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use seechange::act::KeyCode;
use seechange::surface::x11::X11;
use seechange::wait::Source as _;
use serde_json::{Value, json};

use super::harness::{Desktop, chord};

const SEECHANGE: &str = env!("CARGO_BIN_EXE_seechange");

/// Quotes, shell signs, accents, three scripts, a character past the first 65536, shifted signs.
pub(super) const SAMPLE: &str = concat!(
    "Jaipur Kites won by 6 wickets. \"q\" 'a' \\n $(x) é ñ ß Привет 你好 🙂 A1!@#\n",
    "ÀÖß ½ € “x” – Ωμέγα שלום नमस्ते 日本語 → ✓ ŁÓDŹ 👩‍🚀 z̈ Щука",
);

/// `seechange act -` on a display, one answer for each action.
pub(super) struct Client {
    process: Child,
    stdin: Option<ChildStdin>,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Client {
    pub(super) fn on(desktop: &Desktop, surface: &str) -> Self {
        let mut command = desktop.command(SEECHANGE);
        command.args(["act", "-", "--json", "--surface", surface]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdin = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, stdin, answers }
    }

    pub(super) fn process(&self) -> &Child {
        &self.process
    }

    pub(super) fn send(&mut self, action: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{action}").unwrap();
    }

    pub(super) fn receive(&mut self) -> Value {
        serde_json::from_str(&self.answers.next().expect("an answer").unwrap()).unwrap()
    }

    pub(super) fn act(&mut self, action: &Value) -> Value {
        self.send(action);
        self.receive()
    }

    /// An action that must be delivered.
    pub(super) fn deliver(&mut self, action: &Value) -> Value {
        let receipt = self.act(action);
        assert_eq!(receipt["status"], "delivered", "{action}: {receipt}");
        let clean = json!({"keys": [], "buttons": [], "verified": true});
        assert_eq!(receipt["held_after"], clean, "{receipt}");
        receipt
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let ended = self.process.wait();
        assert!(ended.is_ok() || std::thread::panicking(), "{ended:?}");
    }
}

/// The keyboard as the server has it now, in full.
pub(super) fn keyboard_map(desktop: &Desktop) -> String {
    let output = desktop.command("xkbcomp").args(["-w0", desktop.name(), "-"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Clicks into a window, by way of the whole display.
pub(super) fn click_into(client: &mut Client, window: &mut X11, (x, y): (i32, i32)) {
    let origin = window.geometry().unwrap().origin;
    client.deliver(&json!({"action": "click", "x": origin.0 + x, "y": origin.1 + y}));
}

/// Types the sample under three layouts at two paces. `read` waits until the program has the text
/// that ends with a mark, and gives all of it.
fn check(
    desktop: &Desktop,
    client: &mut Client,
    clear: bool,
    read: &mut dyn FnMut(&mut Client, &str) -> String,
) {
    for (layout, delay) in [("us", 0), ("us", 30), ("de", 0), ("de", 30), ("fr", 0), ("fr", 30)] {
        desktop.run("setxkbmap", &[layout]);
        let before = keyboard_map(desktop);
        let mark = format!(" {layout}{delay}.");
        let text = format!("{SAMPLE}{mark}");
        if clear {
            client.deliver(&json!({"action": "select_all"}));
        }
        client.deliver(&json!({"action": "type_text", "text": text, "delay_ms": delay}));
        let after = keyboard_map(desktop);
        assert!(before == after, "{layout} {delay}: {}", first_difference(&before, &after));
        let got = read(client, &mark);
        assert_eq!(got, text, "{layout} at {delay} ms");
    }
}

fn first_difference(before: &str, after: &str) -> String {
    let mut lines = before.lines().zip(after.lines());
    let differs = lines.find(|(before, after)| before != after);
    format!("{differs:?}, {} and {} lines", before.lines().count(), after.lines().count())
}

fn read_file(desktop: &Desktop, file: &Path, mark: &str) -> String {
    desktop.until("the text in the file", || {
        let text = fs::read_to_string(file).ok()?;
        text.trim_end_matches('\n').ends_with(mark).then_some(text)
    })
}

/// What gives a client text for the program that has the focus, and compares what it got. It is told
/// whether that replaces what was there, and how to wait for the text that ends with a mark.
pub(super) type Check =
    fn(&Desktop, &mut Client, bool, &mut dyn FnMut(&mut Client, &str) -> String);

/// A terminal that writes down what it gets.
pub(super) struct Terminal {
    // Before the desktop: it ends when its input does.
    client: Client,
    window: X11,
    file: PathBuf,
    /// How much was written down and compared.
    length: usize,
    desktop: Desktop,
}

pub(super) fn in_terminal(check: Check) -> Terminal {
    let mut desktop = Desktop::managed();
    let (mut window, file) = desktop.catching_terminal();
    let mut client = Client::on(&desktop, "x11");
    click_into(&mut client, &mut window, (200, 100));
    let mut length = 0;
    check(&desktop, &mut client, false, &mut |client, mark| {
        client.deliver(&json!({"action": "key", "key": "return"}));
        let all = read_file(&desktop, &file, mark);
        let new = all[length..].trim_end_matches('\n').to_owned();
        length = all.len();
        new
    });
    Terminal { client, window, file, length, desktop }
}

/// An editor that saves with ctrl+s.
fn in_editor(program: &str, arguments: &[&str], check: Check) {
    let mut desktop = Desktop::managed();
    let file = desktop.file("page.txt");
    fs::write(&file, "first line\n").unwrap();
    desktop.spawn(program, &[arguments, &[file.to_str().unwrap()]].concat());
    let mut window = desktop.window("page.txt");
    let mut client = Client::on(&desktop, "x11");
    click_into(&mut client, &mut window, (200, 150));
    check(&desktop, &mut client, true, &mut |client, mark| {
        client.deliver(&json!({"action": "hotkey", "keys": ["ctrl", "s"]}));
        read_file(&desktop, &file, mark).trim_end_matches('\n').to_owned()
    });
}

pub(super) fn in_gtk_editor(check: Check) {
    in_editor("dbus-run-session", &["--", "mousepad", "--disable-server"], check);
}

pub(super) fn in_qt_editor(check: Check) {
    in_editor("featherpad", &["--standalone"], check);
}

/// A browser, where there is one.
pub(super) fn in_browser(check: Check) {
    if Command::new("chromium").arg("--version").stdin(Stdio::null()).output().is_err() {
        println!("skipped: chromium is not installed");
        return;
    }
    let mut desktop = Desktop::managed();
    let mut window = browser(&mut desktop);
    let mut client = Client::on(&desktop, "x11");
    click_into(&mut client, &mut window, (100, 100));
    let mut display = desktop.open();
    check(&desktop, &mut client, true, &mut |_, mark| {
        desktop.until("the text in the title", || {
            let windows = display.windows().unwrap();
            let title = windows.iter().find_map(|window| window.title.strip_prefix("has "));
            title.map(decoded).filter(|text| text.ends_with(mark))
        })
    });
}

/// A browser with a field to type in, whose text is the title of its window.
fn browser(desktop: &mut Desktop) -> X11 {
    let file = desktop.file("page.html");
    let page = "<title>writing</title><textarea autofocus rows=10 cols=60 spellcheck=false \
                oninput='document.title=\"has \"+encodeURIComponent(value)'></textarea>";
    fs::write(&file, page).unwrap();
    let app = format!("--app=file://{}", file.display());
    let profile = format!("--user-data-dir={}", desktop.file("profile").display());
    let arguments = ["--no-sandbox", "--no-first-run", "--disable-gpu", &profile, &app];
    desktop.spawn("chromium", &arguments);
    desktop.window("writing")
}

/// What percent signs stand for.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digits = [*high, *low];
                let digits = std::str::from_utf8(&digits).unwrap();
                bytes.push(u8::from_str_radix(digits, 16).unwrap());
                rest = after;
            }
            _ => bytes.push(*first),
        }
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
#[ignore = "needs Xvfb"]
fn a_terminal_gets_every_character() {
    // What is named first is dropped last: the display.
    let Terminal { desktop, file, length, mut window, mut client } = in_terminal(check);
    // Small letters on lent keys stay small, and capitals capitals.
    desktop.run("setxkbmap", &["us"]);
    let caps_lock = KeyCode(66);
    chord(&mut window, &[caps_lock]);
    let text = "жЖéÉß你 aA.";
    client.deliver(&json!({"action": "type_text", "text": format!("{text}\n")}));
    assert_eq!(read_file(&desktop, &file, text)[length..].trim_end_matches('\n'), text);
}

#[test]
#[ignore = "needs Xvfb"]
fn a_gtk_editor_gets_every_character() {
    in_gtk_editor(check);
}

#[test]
#[ignore = "needs Xvfb"]
fn a_qt_editor_gets_every_character() {
    in_qt_editor(check);
}

#[test]
#[ignore = "needs Xvfb and chromium"]
fn a_browser_gets_every_character() {
    in_browser(check);
}
