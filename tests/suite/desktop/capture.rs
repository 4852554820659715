//! Frames are what the display shows, whatever way they come.

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use seechange::act::{Button, Driver as _, Held, InputEvent};
use seechange::surface::x11::{Target, X11};
use seechange::wait::{Capture, Source as _};
use seechange::{Frame, Point, Rect, Size};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    AtomEnum, ConfigureWindowAux, ConnectionExt as _, CreateGCAux, CreateWindowAux, ImageFormat,
    PropMode, Rectangle, StackMode, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use super::harness::{Desktop, blank, pixels};

const BLUE: u32 = 0x0000ff;
const RED: u32 = 0xff0000;

/// A client of our own whose windows have known pixels.
struct Painter {
    conn: RustConnection,
    root: u32,
}

impl Painter {
    fn on(desktop: &Desktop) -> Self {
        let (conn, screen) = RustConnection::connect(Some(desktop.name())).unwrap();
        let root = conn.setup().roots[screen].root;
        Self { conn, root }
    }

    /// A window of one colour, on top of the others.
    fn window(&self, (x, y, width, height): (i16, i16, u16, u16), border: u16, colour: u32) -> u32 {
        let id = self.conn.generate_id().unwrap();
        let look = CreateWindowAux::new().background_pixel(colour).border_pixel(RED);
        let class = WindowClass::INPUT_OUTPUT;
        self.conn
            .create_window(0, id, self.root, x, y, width, height, border, class, 0, &look)
            .unwrap()
            .check()
            .unwrap();
        self.conn.map_window(id).unwrap().check().unwrap();
        id
    }

    /// Rectangles in many colours, so that a shifted or swapped picture cannot pass.
    fn scribble(&self, window: u32) {
        let gc = self.conn.generate_id().unwrap();
        self.conn.create_gc(gc, window, &CreateGCAux::new()).unwrap();
        for step in 0..60_u16 {
            let look =
                x11rb::protocol::xproto::ChangeGCAux::new().foreground(u32::from(step) * 0x04_1b07);
            self.conn.change_gc(gc, &look).unwrap();
            let place = i16::try_from(step).unwrap();
            let rect =
                Rectangle { x: place * 7, y: place * 5, width: 90 - step, height: 40 + step };
            self.conn.poly_fill_rectangle(window, gc, &[rect]).unwrap();
        }
        self.conn.sync().unwrap();
    }

    /// The oracle: a part of a drawable through plain GetImage.
    fn image(&self, drawable: u32, rect: Rect) -> Vec<[u8; 3]> {
        let [x, y] = [rect.x(), rect.y()].map(|value| i16::try_from(value).unwrap());
        let [width, height] =
            [rect.width(), rect.height()].map(|value| u16::try_from(value).unwrap());
        let format = ImageFormat::Z_PIXMAP;
        let asked = self.conn.get_image(format, drawable, x, y, width, height, !0).unwrap();
        let data = asked.reply().unwrap().data;
        data.chunks_exact(4).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
    }

    fn configure(&self, window: u32, change: &ConfigureWindowAux) {
        self.conn.configure_window(window, change).unwrap().check().unwrap();
    }

    fn resize(&self, window: u32, width: u32, height: u32) {
        self.configure(window, &ConfigureWindowAux::new().width(width).height(height));
    }
}

fn rect(x: u32, y: u32, width: u32, height: u32) -> Rect {
    Rect::new(x, y, width, height).unwrap()
}

fn open(desktop: &Desktop, window: u32) -> X11 {
    let target = Target::Window(format!("{window:#x}"));
    X11::open(Some(desktop.name()), &target, &desktop.clock).unwrap()
}

fn region(desktop: &Desktop, x11: &mut X11, rect: Rect) -> (Capture, Frame) {
    let mut frame = blank();
    let give_up = desktop.clock.now() + Duration::from_secs(10);
    (x11.capture(Some(rect), give_up, &mut frame).unwrap(), frame)
}

/// The colour of every pixel, when there is but one.
fn only_colour(frame: &Frame) -> Option<u32> {
    let (_, pixels) = pixels(frame);
    let [blue, green, red] = pixels[0].map(u32::from);
    pixels.iter().all(|pixel| *pixel == pixels[0]).then_some(red << 16 | green << 8 | blue)
}

#[test]
#[ignore = "needs Xvfb"]
fn frames_equal_the_plain_protocol() {
    for options in [&[][..], &["-extension", "MIT-SHM"], &["-extension", "Composite"]] {
        let desktop = Desktop::bare("640x480x24", options);
        let painter = Painter::on(&desktop);
        let window = painter.window((50, 40, 500, 400), 0, BLUE);
        painter.scribble(window);
        let mut display = desktop.open();
        let shared = display.diagnose().unwrap().shared_memory;
        assert_eq!(shared, !options.contains(&"MIT-SHM"), "{options:?}");

        let whole = desktop.capture(&mut display);
        let all = rect(0, 0, 640, 480);
        assert_eq!(pixels(&whole), (all.size(), painter.image(painter.root, all)), "{options:?}");
        for part in [rect(0, 0, 640, 1), rect(70, 50, 300, 100), rect(639, 479, 1, 1)] {
            let (capture, frame) = region(&desktop, &mut display, part);
            assert!(matches!(capture, Capture::Taken { .. }), "{capture:?}");
            let wanted = painter.image(painter.root, part);
            assert_eq!(pixels(&frame), (part.size(), wanted), "{part} {options:?}");
        }
        let mut surface = open(&desktop, window);
        let wanted = painter.image(window, rect(0, 0, 500, 400));
        assert_eq!(pixels(&desktop.capture(&mut surface)).1, wanted, "{options:?}");
        let part = rect(10, 20, 300, 100);
        let (_, frame) = region(&desktop, &mut surface, part);
        assert_eq!(pixels(&frame).1, painter.image(window, part), "{options:?}");
    }
}

/// Passes bytes between two sockets, but no files: what ssh and containers do with a display.
fn forward(desktop: &Desktop) -> String {
    let path = desktop.file("forwarded");
    let listener = UnixListener::bind(&path).unwrap();
    let server = format!("/tmp/.X11-unix/X{}", &desktop.name()[1..]);
    thread::spawn(move || {
        while let Ok((mut client, _)) = listener.accept() {
            let mut server = UnixStream::connect(&server).unwrap();
            let mut back = (server.try_clone().unwrap(), client.try_clone().unwrap());
            thread::spawn(move || io::copy(&mut back.0, &mut back.1));
            thread::spawn(move || io::copy(&mut client, &mut server));
        }
    });
    path.to_str().unwrap().to_owned()
}

#[test]
#[ignore = "needs Xvfb"]
fn a_forwarded_display_is_captured_without_shared_memory() {
    let desktop = Desktop::bare("640x480x24", &[]);
    let painter = Painter::on(&desktop);
    painter.window((0, 0, 640, 480), 0, BLUE);
    let forwarded = forward(&desktop);
    let mut display = X11::open(Some(&forwarded), &Target::Display, &desktop.clock).unwrap();
    assert!(!display.diagnose().unwrap().shared_memory);
    assert_eq!(only_colour(&desktop.capture(&mut display)), Some(BLUE));
}

#[test]
#[ignore = "needs Xvfb"]
fn ids_advance_with_each_frame() {
    let desktop = Desktop::bare("64x48x24", &[]);
    let mut display = desktop.open();
    let ids: Vec<_> = (0..3).map(|_| region(&desktop, &mut display, rect(1, 1, 2, 2)).0).collect();
    assert_eq!(ids, [1, 2, 3].map(|id| Capture::Taken { id }));
}

#[test]
#[ignore = "needs Xvfb"]
fn what_covers_a_window_is_not_in_its_picture() {
    let desktop = Desktop::bare("640x480x24", &[]);
    let painter = Painter::on(&desktop);
    let window = painter.window((100, 100, 200, 100), 3, BLUE);
    // Half of it is already covered when it is opened, and it reaches past the display later.
    painter.window((100, 100, 100, 300), 0, RED);
    let mut surface = open(&desktop, window);
    assert_eq!(surface.geometry().unwrap().origin, (103, 103));
    assert_eq!(only_colour(&desktop.capture(&mut surface)), Some(BLUE));
    painter.window((0, 0, 640, 480), 0, RED);
    assert_eq!(only_colour(&desktop.capture(&mut surface)), Some(BLUE));
    painter.configure(window, &ConfigureWindowAux::new().x(-50).y(440));
    let frame = desktop.capture(&mut surface);
    assert_eq!((frame.size(), only_colour(&frame)), (Size::new(200, 100).unwrap(), Some(BLUE)));
    assert_eq!(only_colour(&desktop.capture(&mut desktop.open())), Some(RED));
}

#[test]
#[ignore = "needs Xvfb"]
fn without_composite_a_window_is_what_is_visible_of_it() {
    let desktop = Desktop::bare("640x480x24", &["-extension", "Composite"]);
    let painter = Painter::on(&desktop);
    let window = painter.window((-50, 440, 200, 100), 0, BLUE);
    let mut surface = open(&desktop, window);
    let geometry = surface.geometry().unwrap();
    assert_eq!((geometry.size, geometry.origin), (Size::new(150, 40).unwrap(), (0, 440)));
    let frame = desktop.capture(&mut surface);
    assert_eq!((frame.size(), only_colour(&frame)), (geometry.size, Some(BLUE)));
    painter.window((0, 0, 640, 480), 0, RED);
    assert_eq!(only_colour(&desktop.capture(&mut surface)), Some(RED));
    painter.configure(window, &ConfigureWindowAux::new().x(700));
    let error = surface.geometry().unwrap_err().to_string();
    assert_eq!(error, "the window lies wholly outside the display: move it back");
}

#[test]
#[ignore = "needs Xvfb"]
fn a_resized_window_is_told_from_the_one_before() {
    let desktop = Desktop::bare("640x480x24", &[]);
    let painter = Painter::on(&desktop);
    let window = painter.window((10, 10, 200, 100), 0, BLUE);
    let mut surface = open(&desktop, window);
    assert_eq!(desktop.capture(&mut surface).size(), Size::new(200, 100).unwrap());

    painter.resize(window, 300, 150);
    let frame = desktop.capture(&mut surface);
    assert_eq!((frame.size(), only_colour(&frame)), (Size::new(300, 150).unwrap(), Some(BLUE)));

    // Away and back: the pixmap is another one, and old pixels must not come back.
    painter.resize(window, 20, 20);
    painter.resize(window, 300, 150);
    painter.scribble(window);
    let wanted = painter.image(window, rect(0, 0, 300, 150));
    assert_eq!(pixels(&desktop.capture(&mut surface)).1, wanted);

    let part = rect(100, 50, 50, 50);
    assert!(matches!(region(&desktop, &mut surface, part).0, Capture::Taken { .. }));
    painter.resize(window, 310, 150);
    assert_eq!(region(&desktop, &mut surface, part).0, Capture::Resized);
    assert_eq!(region(&desktop, &mut surface, rect(0, 0, 311, 1)).0, Capture::Resized);
    assert_eq!(surface.geometry().unwrap().size, Size::new(310, 150).unwrap());
}

#[test]
#[ignore = "needs Xvfb"]
fn hidden_fails_for_now_and_gone_is_an_error() {
    let desktop = Desktop::bare("640x480x24", &[]);
    let painter = Painter::on(&desktop);
    let window = painter.window((10, 10, 200, 100), 0, BLUE);
    let mut surface = open(&desktop, window);
    painter.conn.unmap_window(window).unwrap().check().unwrap();
    let (capture, _) = region(&desktop, &mut surface, rect(0, 0, 10, 10));
    let reason = "the window is not shown: it is minimised, or not mapped yet";
    assert_eq!(capture, Capture::Failed(reason.to_owned()));
    painter.conn.map_window(window).unwrap().check().unwrap();
    assert_eq!(only_colour(&desktop.capture(&mut surface)), Some(BLUE));

    painter.conn.destroy_window(window).unwrap().check().unwrap();
    let message = format!("the window is gone: {window:#x} \"\"");
    let give_up = desktop.clock.now() + Duration::from_secs(10);
    let error = surface.capture(None, give_up, &mut blank()).unwrap_err();
    assert_eq!(error.to_string(), message);
    assert_eq!(surface.geometry().unwrap_err().to_string(), message);
}

#[test]
#[ignore = "needs Xvfb"]
fn a_stopped_server_is_stalled_until_it_runs_again() {
    let desktop = Desktop::bare("640x480x24", &[]);
    let painter = Painter::on(&desktop);
    let mut display = desktop.open();
    let before = desktop.capture(&mut display);
    let window = painter.window((0, 0, 640, 480), 0, BLUE);
    desktop.signal_server(Signal::STOP);
    let mut frame = before.clone();
    for _ in 0..300 {
        let give_up = desktop.clock.now() + Duration::from_millis(2);
        assert_eq!(display.capture(None, give_up, &mut frame).unwrap(), Capture::Stalled);
    }
    assert_eq!(frame, before, "a stalled capture leaves the frame alone");
    let target = Target::Display;
    let error = X11::open(Some(desktop.name()), &target, &desktop.clock).map(|_| ()).unwrap_err();
    let wanted = format!("cannot open display {}: no answer within 3 s", desktop.name());
    assert!(error.to_string().starts_with(&wanted), "{error}");

    desktop.signal_server(Signal::CONT);
    assert_eq!(only_colour(&desktop.capture(&mut display)), Some(BLUE));
    painter.conn.destroy_window(window).unwrap().check().unwrap();
    assert_eq!(pixels(&desktop.capture(&mut display)), pixels(&before));
}

#[test]
#[ignore = "needs Xvfb"]
fn an_ended_server_is_an_error() {
    let desktop = Desktop::bare("64x48x24", &[]);
    let mut display = desktop.open();
    desktop.signal_server(Signal::KILL);
    let give_up = desktop.clock.now() + Duration::from_secs(10);
    let error = display.capture(None, give_up, &mut blank()).unwrap_err().to_string();
    assert!(error.starts_with("the connection to the display is lost"), "{error}");
}

#[test]
#[ignore = "needs Xvfb"]
fn other_pixel_layouts_are_refused_in_words() {
    let desktop = Desktop::bare("64x48x16", &[]);
    let opened = X11::open(Some(desktop.name()), &Target::Display, &desktop.clock);
    let error = opened.map(|_| ()).unwrap_err().to_string();
    let told = "has pixels of depth 16 in 16 bits (red 0xf800, green 0x7e0, blue 0x1f): only depth \
                24 or 32 in 32 bits of blue, green, red, unused can be captured; start the \
                display's server with depth 24";
    assert!(error.contains(told), "{error}");

    // All the rest of it is examined, and what is held there can be let go of.
    let opened = X11::open_blind(Some(desktop.name()), &Target::Display, &desktop.clock);
    let mut display = opened.unwrap();
    let give_up = desktop.clock.now() + Duration::from_secs(10);
    let refused = display.capture(None, give_up, &mut blank()).unwrap_err().to_string();
    assert_eq!(refused, error);
    display.send(InputEvent::Button { button: Button::Left, down: true }).unwrap();
    let diagnosis = display.diagnose().unwrap();
    assert_eq!((diagnosis.depth, diagnosis.unfit.as_ref()), (16, Some(&error)));
    assert_eq!(diagnosis.held_names, ["left button"]);
    assert_eq!(diagnosis.findings()[0], error);
    let mut doctor = desktop.command(env!("CARGO_BIN_EXE_seechange"));
    let output = doctor.args(["doctor", "--release"]).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("released left button") && told.contains(&error), "{told}");
    assert_eq!(display.held().unwrap(), Held::default());
}

#[test]
#[ignore = "needs Xvfb"]
fn a_missing_window_names_those_there_are() {
    let mut desktop = Desktop::managed();
    desktop.spawn("xterm", &["-title", "first one"]);
    desktop.window("first one");
    desktop.spawn("xterm", &["-title", "first two"]);
    desktop.window("two");
    for (wanted, words) in [
        ("paint", "no window has the id or title 'paint'; there is 0x"),
        ("first", "2 windows have the title 'first': name one by its id: 0x"),
    ] {
        let target = Target::Window(wanted.to_owned());
        let opened = X11::open(Some(desktop.name()), &target, &desktop.clock);
        let error = opened.map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with(words) && error.contains("\"first two\""), "{error}");
    }
    let by_title = desktop.window("first one").window().unwrap().clone();
    let by_id = open(&desktop, by_title.id).window().unwrap().clone();
    assert_eq!(by_id, by_title);
    let at = desktop.open().window_at(Point::new(1279, 799)).unwrap();
    assert_eq!(at, None);
}

#[test]
#[ignore = "needs Xvfb"]
fn the_window_at_a_point_is_the_programs_own() {
    let mut desktop = Desktop::managed();
    desktop.spawn("xterm", &["-title", "below", "-geometry", "60x20+100+100"]);
    let below = desktop.window("below").window().unwrap().clone();
    let mut display = desktop.open();
    assert_eq!(display.window_at(Point::new(250, 250)).unwrap(), Some(below));

    let painter = Painter::on(&desktop);
    let popup = painter.conn.generate_id().unwrap();
    let look = CreateWindowAux::new().override_redirect(1).background_pixel(RED);
    let class = WindowClass::INPUT_OUTPUT;
    painter
        .conn
        .create_window(0, popup, painter.root, 240, 240, 30, 30, 0, class, 0, &look)
        .unwrap();
    painter.conn.map_window(popup).unwrap();
    painter.configure(popup, &ConfigureWindowAux::new().stack_mode(StackMode::ABOVE));
    let above = display.window_at(Point::new(250, 250)).unwrap();
    assert_eq!(above.map(|window| window.id), Some(popup));
}

#[test]
#[ignore = "needs Xvfb"]
fn titles_are_read_by_their_type_and_never_steer_the_terminal() {
    let mut desktop = Desktop::bare("640x480x24", &[]);
    // Without a locale xterm drops control characters from its title: it is set by hand.
    let painter = Painter::on(&desktop);
    let window = painter.window((10, 10, 100, 80), 0, BLUE);
    let (name, kind) = (AtomEnum::WM_NAME, AtomEnum::STRING);
    let title = b"q\x1b[31mz\n\xe9";
    painter.conn.change_property8(PropMode::REPLACE, window, name, kind, title).unwrap();
    painter.conn.sync().unwrap();
    let told = format!("{window:#x} \"q\\u{{1b}}[31mz\\n\u{e9}\"");
    let target = Target::Window(window.to_string());
    let surface = X11::open(Some(desktop.name()), &target, &desktop.clock).unwrap();
    assert_eq!(surface.window().unwrap().title, "q\u{1b}[31mz\n\u{e9}");
    let seechange = |arguments: &[&str]| {
        let mut command = desktop.command(env!("CARGO_BIN_EXE_seechange"));
        let output = command.args(arguments).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    for arguments in [&["doctor"][..], &["capture", "--surface", "x11:window=none"]] {
        let all = seechange(arguments);
        assert!(all.contains(&told) && !all.contains('\u{1b}'), "{all:?}");
    }

    // Compound text: what is no Latin-1 is replaced, or read where it is UTF-8.
    desktop.spawn("xterm", &["-T", "caf\u{e9} \u{6f22}\u{5b57}!"]);
    let mut display = desktop.open();
    let title = desktop.until("the terminal", || {
        let windows = display.windows().unwrap().into_iter();
        windows.map(|window| window.title).find(|title| title.starts_with("caf"))
    });
    let known = ["caf\u{e9} \u{fffd}\u{fffd}!", "caf\u{e9} \u{6f22}\u{5b57}!"];
    assert!(known.contains(&title.as_str()), "{title:?}");
}
