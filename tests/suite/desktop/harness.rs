//! A display with programs on it, all of them ended and reaped when it is dropped.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use seechange::act::{Button, Driver as _, InputEvent, KeyCode};
use seechange::surface::x11::{Target, X11};
use seechange::wait::{Capture, Source as _};
use seechange::{Clock, Frame, PixelFormat, Point, Size};
use tempfile::TempDir;

/// How long anything here may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// A display of its own. Dropping it ends its programs, then the server, also in a panic.
pub(super) struct Desktop {
    name: String,
    home: TempDir,
    /// The server first.
    children: Vec<Child>,
    pub(super) clock: Clock,
}

impl Desktop {
    /// A bare display of `size` (as `1280x800x24`), with further options for Xvfb.
    pub(super) fn bare(size: &str, options: &[&str]) -> Self {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-noreset", "-nolisten", "tcp", "-screen", "0", size])
            .args(options)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("Xvfb starts: is it installed?");
        let mut number = String::new();
        let stdout = server.stdout.take().unwrap();
        let home = tempfile::tempdir().unwrap();
        let children = vec![server];
        let mut desktop = Self { name: String::new(), home, children, clock: Clock::system() };
        BufReader::new(stdout).read_line(&mut number).unwrap();
        assert!(!number.trim().is_empty(), "Xvfb {size} {options:?} ended at once");
        desktop.name = format!(":{}", number.trim());
        desktop
    }

    /// A display of 1280x800 with a window manager.
    pub(super) fn managed() -> Self {
        let mut desktop = Self::bare("1280x800x24", &[]);
        desktop.spawn("openbox", &[]);
        let mut x11 = desktop.open();
        desktop.until("the window manager", || {
            x11.diagnose().unwrap().window_manager.is_some().then_some(())
        });
        desktop
    }

    /// The display's name, such as `:5`.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// A file in this display's own home.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// A command that would run on this display, in a home and a process group of its own.
    pub(super) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        let home = self.home.path();
        command
            .env("DISPLAY", &self.name)
            .env("HOME", home)
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("XDG_DATA_HOME", home.join("data"))
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("XDG_RUNTIME_DIR", home)
            .env("GSETTINGS_BACKEND", "memory")
            .env("NO_AT_BRIDGE", "1")
            .env("LC_ALL", "C.UTF-8")
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("DBUS_SESSION_BUS_ADDRESS")
            .process_group(0);
        command
    }

    /// Starts a program that ends with this display.
    pub(super) fn spawn(&mut self, program: &str, arguments: &[&str]) {
        let mut command = self.command(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn();
        self.children.push(child.unwrap_or_else(|error| panic!("{program}: {error}")));
    }

    /// Runs a program to its end and demands success.
    pub(super) fn run(&self, program: &str, arguments: &[&str]) {
        let status = self.command(program).args(arguments).status();
        let status = status.unwrap_or_else(|error| panic!("{program}: {error}"));
        assert!(status.success(), "{program} {arguments:?}: {status}");
    }

    /// An xterm that writes what it is typed into a file; its window, and the file.
    pub(super) fn catching_terminal(&mut self) -> (X11, PathBuf) {
        let file = self.file("typed");
        let script = format!("cat > '{}'", file.display());
        self.spawn("xterm", &["-title", "catcher", "-e", "sh", "-c", &script]);
        let window = self.window("catcher");
        self.until("the terminal's shell", || file.exists().then_some(()));
        (window, file)
    }

    /// A GTK editor on an empty document, ready to be typed into.
    pub(super) fn editor(&mut self) -> X11 {
        self.spawn("dbus-run-session", &["--", "mousepad", "--disable-server"]);
        self.window("Mousepad")
    }

    /// The whole display.
    pub(super) fn open(&self) -> X11 {
        X11::open(Some(&self.name), &Target::Display, &self.clock).unwrap()
    }

    /// The window with this title, when it is there and painted.
    pub(super) fn window(&self, title: &str) -> X11 {
        let target = Target::Window(title.to_owned());
        let mut window =
            self.until(title, || X11::open(Some(&self.name), &target, &self.clock).ok());
        self.until_calm(&mut window);
        window
    }

    /// Waits until a surface stopped changing: five equal captures, 60 ms apart.
    pub(super) fn until_calm(&self, x11: &mut X11) {
        let mut last = None;
        let mut equal = 0;
        self.until("a calm surface", || {
            let frame = self.try_capture(x11).map(|frame| pixels(&frame));
            equal = if frame.is_some() && frame == last { equal + 1 } else { 0 };
            last = frame;
            self.clock.sleep(Duration::from_millis(40));
            (equal >= 4).then_some(())
        });
    }

    /// Asks until there is an answer.
    pub(super) fn until<T>(&self, what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
        let deadline = self.clock.now() + PATIENCE;
        loop {
            if let Some(answer) = ask() {
                return answer;
            }
            assert!(self.clock.now() < deadline, "{what}: not within {PATIENCE:?}");
            self.clock.sleep(Duration::from_millis(20));
        }
    }

    /// A picture of all of a surface.
    pub(super) fn capture(&self, x11: &mut X11) -> Frame {
        self.until("a capture", || self.try_capture(x11))
    }

    fn try_capture(&self, x11: &mut X11) -> Option<Frame> {
        let mut frame = blank();
        match x11.capture(None, self.clock.now() + PATIENCE, &mut frame).unwrap() {
            Capture::Taken { .. } => Some(frame),
            _ => None,
        }
    }

    /// Stops or wakes the server.
    pub(super) fn signal_server(&self, signal: Signal) {
        kill_process_group(group(&self.children[0]), signal).unwrap();
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        for child in self.children.iter_mut().rev() {
            // A program that ended by itself has no group any more.
            kill_process_group(group(child), Signal::KILL).ok();
            child.wait().ok();
        }
    }
}

fn group(child: &Child) -> Pid {
    Pid::from_child(child)
}

/// A frame to capture into.
pub(super) fn blank() -> Frame {
    Frame::filled(Size::new(1, 1).unwrap(), PixelFormat::Bgrx, [0; 4])
}

/// The bytes of a frame that mean something.
pub(super) fn pixels(frame: &Frame) -> (Size, Vec<[u8; 3]>) {
    let bytes = frame.data().chunks_exact(4);
    (frame.size(), bytes.map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect())
}

/// Clicks with the left button.
pub(super) fn click(x11: &mut X11, point: Point) {
    x11.send(InputEvent::Move(point)).unwrap();
    for down in [true, false] {
        x11.send(InputEvent::Button { button: Button::Left, down }).unwrap();
    }
}

/// Presses keys in order and lets go in reverse.
pub(super) fn chord(x11: &mut X11, keys: &[KeyCode]) {
    for &code in keys {
        x11.send(InputEvent::Key { code, down: true }).unwrap();
    }
    for &code in keys.iter().rev() {
        x11.send(InputEvent::Key { code, down: false }).unwrap();
    }
}

/// Types a text, each character by its own stroke, without a pause.
pub(super) fn type_text(x11: &mut X11, text: &str) {
    for character in text.chars() {
        let strokes = x11.strokes_for(character).unwrap();
        for stroke in strokes.unwrap_or_else(|| panic!("no key types {character:?}")) {
            let keys: Vec<_> = stroke.modifiers.into_iter().chain([stroke.key]).collect();
            chord(x11, &keys);
        }
    }
}

/// Whether what only measures, and fails on no machine, is to run: it takes a minute. Says so where
/// it is not.
pub(crate) fn is_asked_for() -> bool {
    let is_asked = std::env::var_os("SEECHANGE_MEASURE").is_some();
    if !is_asked {
        println!("skipped: this measures and checks nothing (set SEECHANGE_MEASURE=1)");
    }
    is_asked
}
