//! Input arrives as sent, and what is held is known.

use std::fs;
use std::path::Path;

use seechange::Point;
use seechange::act::{Button, Driver as _, Held, InputEvent, Wheel};
use seechange::surface::x11::{Target, X11};
use seechange::wait::Source as _;
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Allow, ButtonIndex, ConnectionExt as _, CreateWindowAux, EventMask, GrabMode, ModMask,
    WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use super::harness::{Desktop, chord, click, type_text};

/// Quotes, dollars and shifted signs first, then every printable ASCII character.
const ASCII: &str = concat!(
    "echo \"q\" 'a' $(x) A1!@#\n",
    " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`",
    "abcdefghijklmnopqrstuvwxyz{|}~\n"
);

/// Types at no delay into the terminal and reads the file it goes to.
fn typed(desktop: &Desktop, window: &mut X11, file: &Path, text: &str) -> String {
    let before = fs::read_to_string(file).unwrap().len();
    type_text(window, text);
    desktop.until("the typed lines", || {
        let all = fs::read_to_string(file).unwrap();
        let new = &all[before..];
        (new.matches('\n').count() >= text.matches('\n').count()).then(|| new.to_owned())
    })
}

fn focused_terminal(desktop: &mut Desktop) -> (X11, std::path::PathBuf) {
    let (mut window, file) = desktop.catching_terminal();
    let size = window.geometry().unwrap().size;
    click(&mut window, size.rect().center());
    (window, file)
}

#[test]
#[ignore = "needs Xvfb"]
fn ascii_arrives_exactly_under_three_layouts() {
    let mut desktop = Desktop::managed();
    let (mut window, file) = focused_terminal(&mut desktop);
    for layout in ["us", "de", "fr", "us"] {
        desktop.run("setxkbmap", &[layout]);
        assert_eq!(typed(&desktop, &mut window, &file, ASCII), ASCII, "{layout}");
    }
}

#[test]
#[ignore = "needs Xvfb"]
fn the_second_group_and_caps_lock_are_reckoned_with() {
    let mut desktop = Desktop::managed();
    let (mut window, file) = focused_terminal(&mut desktop);
    let text = "yZ: \"Q\" @ {7} tab\tend\n";
    desktop.run("setxkbmap", &["-layout", "us,de", "-option", "grp:shifts_toggle"]);
    let shifts = {
        let keys = [50, 62];
        keys.map(seechange::act::KeyCode)
    };
    chord(&mut window, &shifts);
    assert_eq!(typed(&desktop, &mut window, &file, text), text, "the second group");

    desktop.run("setxkbmap", &["de", "-option", ""]);
    let caps_lock = seechange::act::KeyCode(66);
    chord(&mut window, &[caps_lock]);
    assert!(window.diagnose().unwrap().caps_lock);
    assert_eq!(typed(&desktop, &mut window, &file, text), text, "caps lock");
}

#[test]
#[ignore = "needs Xvfb"]
fn characters_on_no_key_have_no_strokes() {
    let desktop = Desktop::bare("640x480x24", &[]);
    let mut display = desktop.open();
    for (layout, character, known) in
        [("us", 'é', false), ("fr", 'é', true), ("us", '日', false), ("ru", 'ж', true)]
    {
        desktop.run("setxkbmap", &[layout]);
        let strokes = display.strokes_for(character).unwrap();
        assert_eq!(strokes.is_some(), known, "{character} under {layout}");
    }
}

#[test]
#[ignore = "needs Xvfb"]
fn every_named_key_is_there_and_knows_its_name() {
    let desktop = Desktop::bare("640x480x24", &[]);
    let mut display = desktop.open();
    for layout in ["us", "de", "fr"] {
        desktop.run("setxkbmap", &[layout]);
        for name in "a z 0 9 return tab escape space backspace delete left right up down home end \
                     pageup pagedown f1 f12 ctrl shift alt super"
            .split_whitespace()
        {
            let code = display.key_named(name).unwrap();
            let code = code.unwrap_or_else(|| panic!("no {name} under {layout}"));
            let told = display.key_name(code);
            // On a French keyboard the digits need shift: the key is named by its plain symbol.
            assert!(told == name || layout == "fr" && name.parse::<u8>().is_ok(), "{name}: {told}");
        }
    }
}

#[test]
#[ignore = "needs Xvfb"]
fn held_keys_and_buttons_are_seen_named_and_released() {
    let desktop = Desktop::bare("640x480x24", &[]);
    let mut display = desktop.open();
    assert_eq!(display.held().unwrap(), Held::default());
    // Another client presses, and ends in the midst of it.
    let shift = display.key_named("shift").unwrap().unwrap();
    {
        let mut other = desktop.open();
        other.send(InputEvent::Key { code: shift, down: true }).unwrap();
        for button in [Button::Left, Button::Right] {
            other.send(InputEvent::Button { button, down: true }).unwrap();
        }
        other.send(InputEvent::Wheel(Wheel::Down)).unwrap();
    }
    let held = Held { keys: vec![shift], buttons: vec![Button::Left, Button::Right] };
    assert_eq!(display.held().unwrap(), held);
    let diagnosis = display.diagnose().unwrap();
    assert_eq!(diagnosis.held_names, ["left button", "right button", "shift"]);
    let hint = "left button, right button, shift held down: seechange doctor --release lets go";
    assert!(diagnosis.findings().iter().any(|finding| finding == hint));

    assert_eq!(display.release_all().unwrap(), held);
    assert_eq!(display.held().unwrap(), Held::default());
    assert_eq!(display.release_all().unwrap(), Held::default());
}

/// A window that is told of every input.
fn listener(desktop: &Desktop) -> (RustConnection, u32) {
    listener_on(desktop.name())
}

fn listener_on(display: &str) -> (RustConnection, u32) {
    let (conn, screen) = RustConnection::connect(Some(display)).unwrap();
    let root = conn.setup().roots[screen].root;
    let window = conn.generate_id().unwrap();
    let mask = EventMask::BUTTON_PRESS | EventMask::BUTTON_RELEASE | EventMask::POINTER_MOTION;
    let look = CreateWindowAux::new().event_mask(mask);
    let class = WindowClass::INPUT_OUTPUT;
    conn.create_window(0, window, root, 100, 50, 300, 200, 5, class, 0, &look).unwrap();
    conn.map_window(window).unwrap();
    conn.sync().unwrap();
    (conn, window)
}

/// What the listener was told since the last time: kind, button, and place in the window.
fn heard(conn: &RustConnection) -> Vec<(&'static str, u8, i16, i16)> {
    conn.sync().unwrap();
    let events = std::iter::from_fn(|| conn.poll_for_event().unwrap());
    events
        .filter_map(|event| match event {
            Event::ButtonPress(event) => Some(("down", event.detail, event.event_x, event.event_y)),
            Event::ButtonRelease(event) => Some(("up", event.detail, event.event_x, event.event_y)),
            Event::MotionNotify(event) => Some(("move", 0, event.event_x, event.event_y)),
            _ => None,
        })
        .collect()
}

#[test]
#[ignore = "needs Xvfb"]
fn points_are_frame_pixels_wherever_the_window_is() {
    let desktop = Desktop::bare("640x480x24", &[]);
    let (conn, window) = listener(&desktop);
    let title = format!("{window}");
    let mut surface = desktop.window(&title);
    assert_eq!(surface.geometry().unwrap().origin, (105, 55));
    surface.send(InputEvent::Move(Point::new(7, 9))).unwrap();
    assert_eq!(surface.pointer().unwrap(), Some((112, 64)));
    for wheel in [Wheel::Up, Wheel::Down, Wheel::Left, Wheel::Right] {
        surface.send(InputEvent::Wheel(wheel)).unwrap();
    }
    for button in [Button::Left, Button::Middle, Button::Right] {
        surface.send(InputEvent::Button { button, down: true }).unwrap();
        surface.send(InputEvent::Button { button, down: false }).unwrap();
    }
    let clicks = [4, 5, 6, 7, 1, 2, 3].into_iter();
    let clicks = clicks.flat_map(|button| [("down", button, 7, 9), ("up", button, 7, 9)]);
    let wanted: Vec<_> = [("move", 0, 7, 9)].into_iter().chain(clicks).collect();
    assert_eq!(heard(&conn), wanted);

    let far = x11rb::protocol::xproto::ConfigureWindowAux::new().x(500).y(-60);
    conn.configure_window(window, &far).unwrap().check().unwrap();
    surface.send(InputEvent::Move(Point::new(134, 199))).unwrap();
    assert_eq!(surface.pointer().unwrap(), Some((639, 144)));
    for (x, y) in [(135, 199), (134, 0)] {
        let error = surface.send(InputEvent::Move(Point::new(x, y))).unwrap_err().to_string();
        let wanted = format!("point ({x}, {y}) of {window:#x} \"\" lies off the 640x480 display");
        assert_eq!(error, wanted);
    }
    conn.destroy_window(window).unwrap().check().unwrap();
    let error = surface.send(InputEvent::Move(Point::new(1, 1))).unwrap_err().to_string();
    assert_eq!(error, format!("the window is gone: {window:#x} \"\""));
}

#[test]
#[ignore = "needs Xvfb"]
fn a_left_handed_pointer_still_clicks_left() {
    let desktop = Desktop::bare("640x480x24", &[]);
    let (conn, window) = listener(&desktop);
    conn.set_pointer_mapping(&[3, 2, 1, 4, 5, 6, 7, 8, 9, 10]).unwrap().reply().unwrap();
    let mut surface = desktop.window(&format!("{window}"));
    surface.send(InputEvent::Move(Point::new(7, 9))).unwrap();
    surface.send(InputEvent::Button { button: Button::Left, down: true }).unwrap();
    assert_eq!(surface.held().unwrap().buttons, [Button::Left]);
    assert_eq!(heard(&conn), [("move", 0, 7, 9), ("down", 1, 7, 9)]);
}

#[test]
#[ignore = "needs Xvfb"]
fn a_server_without_xtest_or_stopped_says_so() {
    let desktop = Desktop::bare("640x480x24", &["-extension", "XTEST"]);
    let mut display = desktop.open();
    let event = InputEvent::Move(Point::new(1, 1));
    let error = display.send(event).unwrap_err().to_string();
    assert!(error.starts_with("this display has no XTEST extension"), "{error}");
    let findings = display.diagnose().unwrap().findings();
    assert!(findings.iter().any(|finding| finding.starts_with("no XTEST: ")), "{findings:?}");

    desktop.signal_server(rustix::process::Signal::STOP);
    let error = display.held().unwrap_err().to_string();
    assert_eq!(error, "the display does not answer");
    desktop.signal_server(rustix::process::Signal::CONT);
    assert_eq!(display.held().unwrap(), Held::default());
}

#[test]
#[ignore = "needs Xvfb"]
fn a_release_behind_a_frozen_pointer_is_awaited() {
    let desktop = Desktop::bare("640x480x24", &[]);
    let (conn, screen) = RustConnection::connect(Some(desktop.name())).unwrap();
    let root = conn.setup().roots[screen].root;
    // As window managers do: every click waits for this client to look at it.
    conn.grab_button(
        false,
        root,
        EventMask::BUTTON_PRESS,
        GrabMode::SYNC,
        GrabMode::ASYNC,
        x11rb::NONE,
        x11rb::NONE,
        ButtonIndex::M1,
        ModMask::ANY,
    )
    .unwrap();
    conn.sync().unwrap();
    let mut display = desktop.open();
    click(&mut display, Point::new(300, 200));
    let thaw = std::thread::spawn({
        let clock = desktop.clock.clone();
        move || {
            clock.sleep(std::time::Duration::from_millis(150));
            conn.allow_events(Allow::REPLAY_POINTER, x11rb::CURRENT_TIME).unwrap();
            conn.sync().unwrap();
            conn
        }
    });
    assert_eq!(display.held().unwrap(), Held::default());
    let _conn = thaw.join().unwrap();
    // One nobody looks at stays down, and is said to.
    click(&mut display, Point::new(300, 200));
    assert_eq!(display.held().unwrap().buttons, [Button::Left]);
}

#[test]
#[ignore = "needs Xvfb"]
fn input_goes_to_the_screen_the_display_names() {
    let desktop = Desktop::bare("640x480x24", &["-screen", "1", "800x600x24"]);
    let screens = [0, 1].map(|number| format!("{}.{number}", desktop.name()));
    let listeners = screens.each_ref().map(|screen| listener_on(screen));
    let open = |screen: &String| X11::open(Some(screen), &Target::Display, &desktop.clock).unwrap();
    let mut displays = screens.each_ref().map(open);
    // There and back, and there again: what is heard is heard on that screen alone.
    for here in [1, 0, 1] {
        let (display, other) = (here, 1 - here);
        click(&mut displays[display], Point::new(112, 64));
        assert_eq!(displays[display].pointer().unwrap(), Some((112, 64)));
        assert_eq!(displays[other].pointer().unwrap(), None);
        assert_eq!(displays[other].diagnose().unwrap().pointer, None);
        let clicks = heard(&listeners[here].0).into_iter().filter(|(kind, ..)| *kind != "move");
        assert_eq!(clicks.collect::<Vec<_>>(), [("down", 1, 7, 9), ("up", 1, 7, 9)], "{here}");
        assert_eq!(heard(&listeners[other].0), []);
    }
    click(&mut displays[1], Point::new(790, 590));
    assert_eq!(displays[1].pointer().unwrap(), Some((790, 590)));

    let target = Target::Window(listeners[0].1.to_string());
    let elsewhere = X11::open(Some(&screens[1]), &target, &desktop.clock);
    let error = elsewhere.and_then(|mut window| window.geometry()).unwrap_err().to_string();
    assert!(error.contains("is on another screen of the display than"), "{error}");
}
