//! An action played by a program on a real display, in real time.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use seechange::surface::x11::{Target, X11};
use seechange::{Clock, Rect};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    ChangeGCAux, ConnectionExt as _, CreateGCAux, CreateWindowAux, Rectangle, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use super::desktop::{Action, Fill, SIZE, frame, page};
use super::policies::{Policy, Start, Waited, look};

/// A display with one window that covers it. Dropping it ends the server.
pub(crate) struct Stage {
    server: Child,
    canvas: Canvas,
    surface: X11,
    clock: Clock,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let size = format!("{}x{}x24", SIZE.0, SIZE.1);
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-noreset", "-nolisten", "tcp", "-screen", "0", &size])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb starts: is it installed?");
        let mut number = String::new();
        let stdout = server.stdout.take().expect("its output is a pipe");
        BufReader::new(stdout).read_line(&mut number).expect("Xvfb says its number");
        let display = format!(":{}", number.trim());
        let clock = Clock::system();
        let canvas = Canvas::on(&display);
        let surface = X11::open(Some(&display), &Target::Display, &clock).expect("it is there");
        Self { server, canvas, surface, clock }
    }

    /// Waits for an action whose input is now.
    pub(crate) fn play(
        &mut self,
        policy: Policy,
        action: &Action,
        end: Option<Rect>,
        seed: u64,
    ) -> Waited {
        let Self { canvas, surface, clock, .. } = self;
        canvas.draw(&action.picture(0));
        clock.sleep(Duration::from_millis(100));
        let before = look(surface);
        let done = end.map(|rect| (frame(&action.picture(action.done_ms)), rect));
        let (clock, canvas, is_over) = (&*clock, &*canvas, &AtomicBool::new(false));
        let start = Start { clock, before, done, seed };
        thread::scope(|scope| {
            let input = clock.now();
            scope.spawn(move || canvas.perform(action, clock, input, is_over));
            let waited = policy.wait(surface, start);
            is_over.store(true, Ordering::Relaxed);
            waited
        })
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // A server that ended by itself needs no more.
        self.server.kill().ok();
        self.server.wait().ok();
    }
}

/// A window, and a pixmap from which whole pictures are copied to it.
struct Canvas {
    conn: RustConnection,
    window: u32,
    pixmap: u32,
    pen: u32,
}

impl Canvas {
    fn on(display: &str) -> Self {
        let (conn, screen) = RustConnection::connect(Some(display)).expect("the display is there");
        let canvas = Self::create(conn, screen).expect("the display has a window to give");
        canvas.draw(&[]);
        canvas
    }

    fn create(conn: RustConnection, screen: usize) -> Result<Self, Box<dyn std::error::Error>> {
        let (root, depth) =
            (conn.setup().roots[screen].root, conn.setup().roots[screen].root_depth);
        let (window, pixmap, pen) = (conn.generate_id()?, conn.generate_id()?, conn.generate_id()?);
        let (width, height) = (u16::try_from(SIZE.0)?, u16::try_from(SIZE.1)?);
        let look = CreateWindowAux::new().override_redirect(1);
        let class = WindowClass::INPUT_OUTPUT;
        conn.create_window(0, window, root, 0, 0, width, height, 0, class, 0, &look)?;
        conn.create_pixmap(depth, pixmap, root, width, height)?;
        conn.create_gc(pen, window, &CreateGCAux::new().graphics_exposures(0))?;
        conn.map_window(window)?;
        conn.sync()?;
        Ok(Self { conn, window, pixmap, pen })
    }

    /// Shows what the action does until it is over.
    fn perform(&self, action: &Action, clock: &Clock, input: Duration, is_over: &AtomicBool) {
        let mut shown = action.picture(0);
        while !is_over.load(Ordering::Relaxed) {
            let ms = clock.now().saturating_sub(input).as_millis();
            let picture = action.picture(u64::try_from(ms).unwrap_or(u64::MAX));
            if picture != shown {
                self.draw(&picture);
                shown = picture;
            }
            clock.sleep(Duration::from_millis(1));
        }
    }

    fn draw(&self, picture: &[Fill]) {
        self.try_draw(picture).expect("the display takes what is drawn");
    }

    fn try_draw(&self, picture: &[Fill]) -> Result<(), Box<dyn std::error::Error>> {
        for fill in page().iter().chain(picture) {
            let colour = u32::from(fill.grey) * 0x01_0101;
            self.conn.change_gc(self.pen, &ChangeGCAux::new().foreground(colour))?;
            let rect = Rectangle {
                x: i16::try_from(fill.rect.x())?,
                y: i16::try_from(fill.rect.y())?,
                width: u16::try_from(fill.rect.width())?,
                height: u16::try_from(fill.rect.height())?,
            };
            self.conn.poly_fill_rectangle(self.pixmap, self.pen, &[rect])?;
        }
        let (width, height) = (u16::try_from(SIZE.0)?, u16::try_from(SIZE.1)?);
        self.conn.copy_area(self.pixmap, self.window, self.pen, 0, 0, 0, 0, width, height)?;
        self.conn.sync()?;
        Ok(())
    }
}
