//! Whatever happens in the midst of an action: nothing stays held or lent, keys go to nobody else.

use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use seechange::act::{Driver as _, Held, InputEvent};
use serde_json::{Value, json};
use x11rb::COPY_DEPTH_FROM_PARENT;
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, CreateWindowAux, EventMask, InputFocus, PropMode, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use super::harness::Desktop;
use super::typing::{Client, click_into, keyboard_map};

const SEECHANGE: &str = env!("CARGO_BIN_EXE_seechange");

fn seechange(desktop: &Desktop, arguments: &[&str]) -> Command {
    let mut command = desktop.command(SEECHANGE);
    command.args(arguments).stdin(Stdio::null());
    command
}

fn start(desktop: &Desktop, arguments: &[&str]) -> Child {
    seechange(desktop, arguments).stdout(Stdio::piped()).spawn().unwrap()
}

fn answer(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn run(desktop: &Desktop, arguments: &[&str]) -> Value {
    answer(&seechange(desktop, arguments).output().unwrap())
}

/// A text of which every second character is typed by a lent key, for seconds.
fn slow_text() -> [String; 4] {
    let text = "ж-".repeat(40);
    ["type_text", &text, "--delay-ms", "200"].map(str::to_owned)
}

fn typing(desktop: &Desktop) -> Child {
    let text = slow_text();
    let arguments: Vec<&str> =
        ["act", "--json"].into_iter().chain(text.iter().map(|word| &**word)).collect();
    start(desktop, &arguments)
}

/// A window of somebody else that is told of every key.
pub(super) struct Thief {
    conn: RustConnection,
    window: u32,
}

impl Thief {
    pub(super) fn new(desktop: &Desktop) -> Self {
        let (conn, screen) = RustConnection::connect(Some(desktop.name())).unwrap();
        let root = conn.setup().roots[screen].root;
        let window = conn.generate_id().unwrap();
        let look = CreateWindowAux::new().event_mask(EventMask::KEY_PRESS);
        let (depth, class) = (COPY_DEPTH_FROM_PARENT, WindowClass::INPUT_OUTPUT);
        conn.create_window(depth, window, root, 600, 500, 200, 100, 0, class, 0, &look).unwrap();
        let (name, kind) = (AtomEnum::WM_NAME, AtomEnum::STRING);
        conn.change_property8(PropMode::REPLACE, window, name, kind, b"thief").unwrap();
        conn.map_window(window).unwrap();
        conn.sync().unwrap();
        Self { conn, window }
    }

    pub(super) fn take_focus(&self) {
        let now = x11rb::CURRENT_TIME;
        self.conn.set_input_focus(InputFocus::PARENT, self.window, now).unwrap();
        self.conn.sync().unwrap();
    }

    fn keys(&self) -> usize {
        self.conn.sync().unwrap();
        let events = std::iter::from_fn(|| self.conn.poll_for_event().unwrap());
        events.filter(|event| matches!(event, Event::KeyPress(_))).count()
    }
}

#[test]
#[ignore = "needs Xvfb"]
fn typing_stops_when_another_window_takes_the_focus() {
    let mut desktop = Desktop::managed();
    let (mut window, file) = desktop.catching_terminal();
    let before = keyboard_map(&desktop);
    let thief = Thief::new(&desktop);
    let mut client = Client::on(&desktop, "x11");
    click_into(&mut client, &mut window, (200, 100));
    thief.keys();
    let text = "eight, ж\n".repeat(60);
    client.send(&json!({"action": "type_text", "text": text, "delay_ms": 20}));
    desktop.until("some lines", || {
        fs::read_to_string(&file).ok().filter(|text| text.lines().count() >= 3)
    });
    thief.take_focus();
    let receipt = client.receive();
    assert_eq!(receipt["status"], "unknown", "{receipt}");
    let message = receipt["message"].as_str().unwrap();
    let name = format!("the keyboard focus went to {:#x} \"thief\"", thief.window);
    assert!(message.contains(&name) && message.contains("never repeat"), "{message}");
    let delivered = receipt["delivery"]["delivered_count"].as_u64().unwrap();
    let planned = receipt["delivery"]["events_planned"].as_u64().unwrap();
    assert!((27 * 2..planned).contains(&delivered), "{delivered} of {planned}");
    // One character may be on its way when the focus moves.
    assert!(thief.keys() <= 1);
    assert_eq!(keyboard_map(&desktop), before);

    let mut client = Client::on(&desktop, "x11:window=catcher");
    thief.take_focus();
    let typing = json!({"action": "type_text", "text": "a"});
    let refused = client.act(&typing);
    assert_eq!(refused["refusal"]["kind"], "not_focused", "{refused}");
    let wanted = format!(
        "the keyboard focus is on {:#x} \"thief\", not on the surface: click into it first; \
         nothing was sent",
        thief.window
    );
    assert_eq!(refused["refusal"]["message"], wanted);
    client.deliver(&json!({"action": "click", "x": 100, "y": 100}));
    client.deliver(&typing);
    assert_eq!(thief.keys(), 0);
}

#[test]
#[ignore = "needs Xvfb"]
fn typing_stops_when_somebody_presses_shift() {
    let mut desktop = Desktop::managed();
    let (mut window, file) = desktop.catching_terminal();
    let mut x11 = desktop.open();
    let shift = x11.key_named("shift").unwrap().unwrap();
    let mut client = Client::on(&desktop, "x11");
    click_into(&mut client, &mut window, (200, 100));
    let text = "eight, x\n".repeat(60);
    client.send(&json!({"action": "type_text", "text": text, "delay_ms": 20}));
    desktop.until("some lines", || {
        fs::read_to_string(&file).ok().filter(|text| text.lines().count() >= 3)
    });
    x11.send(InputEvent::Key { code: shift, down: true }).unwrap();
    let receipt = client.receive();
    x11.send(InputEvent::Key { code: shift, down: false }).unwrap();
    assert_eq!(receipt["status"], "unknown", "{receipt}");
    let message = receipt["message"].as_str().unwrap();
    assert!(message.contains("somebody else presses key shift; never repeat"), "{message}");
    assert_eq!(receipt["held_after"]["keys"], json!(["shift"]), "{receipt}");
    let typed = fs::read_to_string(&file).unwrap();
    assert!(!typed.contains(|c: char| c.is_ascii_uppercase()), "{typed}");
}

#[test]
#[ignore = "needs Xvfb"]
fn one_program_at_a_time_sends_input() {
    let desktop = Desktop::bare("640x480x24", &[]);
    let mut x11 = desktop.open();
    let first = typing(&desktop);
    desktop.until("the first at work", || x11.diagnose().unwrap().acting);
    let second = run(&desktop, &["act", "click", "5", "5", "--json"]);
    assert_eq!(second["refusal"]["kind"], "not_our_turn", "{second}");
    let message = second["refusal"]["message"].as_str().unwrap();
    let owner = format!("another program sends input here: pid {} (seechange), for ", first.id());
    assert!(message.starts_with(&owner), "{message}");

    // What it leaves when it is killed is no turn, whatever else it leaves.
    kill_process(Pid::from_child(&first), Signal::KILL).unwrap();
    first.wait_with_output().unwrap();
    desktop.until("its turn to end", || x11.diagnose().unwrap().acting.is_none().then_some(()));
    seechange(&desktop, &["doctor", "--release"]).output().unwrap();
    assert_eq!(run(&desktop, &["act", "click", "5", "5", "--json"])["status"], "delivered");
}

#[test]
#[ignore = "needs Xvfb"]
fn what_a_killed_action_leaves_is_told_and_put_right() {
    let desktop = Desktop::bare("640x480x24", &[]);
    let mut x11 = desktop.open();
    let before = keyboard_map(&desktop);
    let hold = desktop.file("hold.json");
    fs::write(&hold, r#"{"action":"hold","keys":["ctrl","a"],"duration_ms":9000}"#).unwrap();
    let drag = ["drag", "20", "20", "600", "400", "--duration-ms", "9000"];
    let text = slow_text();
    let text: Vec<&str> = text.iter().map(|word| &**word).collect();
    for action in [&drag[..], &[hold.to_str().unwrap()], &text] {
        let arguments = [&["act", "--json"], action].concat();
        let client = start(&desktop, &arguments);
        let pid = Pid::from_child(&client);
        desktop.until("something held", || {
            if x11.held().unwrap().is_empty() {
                return None;
            }
            // A text holds its keys for a moment each: it is stopped within one.
            kill_process(pid, Signal::STOP).unwrap();
            desktop.clock.sleep(Duration::from_millis(50));
            if !x11.held().unwrap().is_empty() {
                return Some(());
            }
            kill_process(pid, Signal::CONT).unwrap();
            None
        });
        kill_process(pid, Signal::KILL).unwrap();
        client.wait_with_output().unwrap();
        let held = x11.held().unwrap();
        let is_lent = action[0] == "type_text";
        assert!(!held.is_empty(), "{action:?}");
        assert_eq!(keyboard_map(&desktop) != before, is_lent);
        assert_eq!(x11.diagnose().unwrap().left_lent, usize::from(is_lent));

        let told = seechange(&desktop, &["doctor"]).output().unwrap();
        let told_text = String::from_utf8(told.stdout).unwrap();
        assert!(told_text.contains("held down: seechange doctor --release"), "{told_text}");
        let lent = "- 1 key is still lent to characters of a text that was cut short";
        assert_eq!(told_text.contains(lent), is_lent, "{told_text}");
        // Looking changes nothing, and an action is refused.
        let refused = run(&desktop, &["act", "click", "5", "5", "--json"]);
        assert_eq!(refused["refusal"]["kind"], "input_held", "{refused}");
        assert_eq!(x11.held().unwrap(), held);

        let released = run(&desktop, &["doctor", "--release", "--json"]);
        assert!(!released["released"].as_array().unwrap().is_empty(), "{released}");
        assert_eq!(x11.held().unwrap(), Held::default(), "{action:?}");
        assert_eq!(keyboard_map(&desktop), before, "{action:?}");
        let clicked = run(&desktop, &["act", "click", "5", "5", "--json"]);
        assert_eq!(clicked["status"], "delivered", "{clicked}");
    }
}

/// The note is on the display, so a process that was killed between two keys leaves nothing held
/// and one key lent.
#[test]
#[ignore = "needs Xvfb"]
fn the_next_action_takes_back_what_a_killed_one_left_lent() {
    let desktop = Desktop::bare("640x480x24", &[]);
    let before = keyboard_map(&desktop);
    let mut x11 = desktop.open();
    let loans = x11.loans(&['ж', '你', '\u{7}']).unwrap();
    assert_eq!(loans.len(), 2, "{loans:?}");
    x11.lend_keys(&loans).unwrap();
    drop(x11);
    assert_ne!(keyboard_map(&desktop), before);
    let mut x11 = desktop.open();
    assert_eq!(x11.keys_left_lent().unwrap(), 2);
    let clicked = run(&desktop, &["act", "click", "5", "5", "--json"]);
    assert_eq!(clicked["status"], "delivered", "{clicked}");
    assert_eq!((keyboard_map(&desktop), x11.keys_left_lent().unwrap()), (before, 0));
}

#[test]
#[ignore = "needs Xvfb"]
fn told_to_stop_in_mid_text_it_returns_the_keys() {
    let desktop = Desktop::bare("640x480x24", &[]);
    let mut x11 = desktop.open();
    let before = keyboard_map(&desktop);
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        let client = typing(&desktop);
        desktop.until("something held", || (!x11.held().unwrap().is_empty()).then_some(()));
        assert_ne!(keyboard_map(&desktop), before);
        kill_process(Pid::from_child(&client), signal).unwrap();
        let receipt = answer(&client.wait_with_output().unwrap());
        assert_eq!(receipt["status"], "unknown", "{receipt}");
        assert_eq!(keyboard_map(&desktop), before, "{signal:?}");
        assert_eq!(x11.held().unwrap(), Held::default(), "{signal:?}");
    }
    // And on a display that stops in the midst of it, when that runs again.
    let client = typing(&desktop);
    desktop.until("something held", || (!x11.held().unwrap().is_empty()).then_some(()));
    desktop.signal_server(Signal::STOP);
    let receipt = answer(&client.wait_with_output().unwrap());
    desktop.signal_server(Signal::CONT);
    assert!(receipt["held_after"]["lending"].as_bool().unwrap(), "{receipt}");
    desktop.until("everything up", || x11.held().unwrap().is_empty().then_some(()));
    assert_eq!(keyboard_map(&desktop), before);
}

/// A small generator: the same streams every time (xorshift64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) % sides
    }

    fn action(&mut self) -> Value {
        let (x, y) = (self.roll(600), self.roll(400));
        match self.roll(9) {
            0 => json!({"action": "click", "x": x, "y": y, "modifiers": ["ctrl"]}),
            1 => json!({"action": "double_click", "x": x, "y": y}),
            2 => json!({"action": "drag", "from_x": x, "from_y": y, "to_x": y, "to_y": 9,
                        "duration_ms": self.roll(40), "steps": 1 + self.roll(5)}),
            3 => json!({"action": "drag", "from_x": x, "from_y": y, "to_x": y, "to_y": 9,
                        "duration_ms": 5, "via": [{"x": y, "y": y}]}),
            4 => {
                json!({"action": "hold", "keys": ["shift", "a"], "duration_ms": 1 + self.roll(60)})
            }
            5 => json!({"action": "hotkey", "keys": ["ctrl", "alt", "q"]}),
            6 => json!({"action": "type_text", "text": "Ab ж{é", "delay_ms": self.roll(4)}),
            7 => json!({"action": "sequence", "steps": [
                {"action": "key", "key": "a"}, {"action": "type_text", "text": "ß", "delay_ms": 0}]}),
            _ => json!({"action": "scroll", "x": x, "y": y, "delta_y": 2}),
        }
    }
}

/// Five hundred actions on real servers, a third of the streams cut short at some moment. Most of
/// the time is spent looking whether anything changed, so several displays are used at once.
#[test]
#[ignore = "needs Xvfb"]
fn five_hundred_random_actions_leave_nothing_behind() {
    let cut: usize = std::thread::scope(|scope| {
        let streams: Vec<_> = (1..=5).map(|seed| scope.spawn(move || streams(seed))).collect();
        streams.into_iter().map(|each| each.join().unwrap()).sum()
    });
    assert!(cut > 20, "{cut}");
}

/// Twenty streams of five actions on one display; says how many were cut short.
fn streams(seed: u64) -> usize {
    let desktop = Desktop::bare("640x480x24", &[]);
    let before = keyboard_map(&desktop);
    let mut x11 = desktop.open();
    let mut dice = Dice(0x5EE_C4A6E * seed);
    let mut cut = 0;
    for round in 0..20 {
        let mut client = Client::on(&desktop, "x11");
        for _ in 0..5 {
            client.send(&dice.action());
        }
        if dice.roll(3) == 0 {
            desktop.clock.sleep(Duration::from_millis(dice.roll(1500)));
            kill_process(Pid::from_child(client.process()), Signal::TERM).unwrap();
            cut += 1;
        }
        drop(client);
        assert_eq!(x11.held().unwrap(), Held::default(), "round {round} of {seed}");
        assert_eq!(x11.keys_left_lent().unwrap(), 0, "round {round} of {seed}");
    }
    assert_eq!(keyboard_map(&desktop), before);
    cut
}
