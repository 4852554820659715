//! A program that draws boxes when it is told to.

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    ChangeGCAux, ConnectionExt as _, CreateGCAux, CreateWindowAux, Rectangle, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use super::harness::Desktop;

/// A white window that covers what it is asked to, and a pen.
pub(super) struct Painter {
    conn: RustConnection,
    pub(super) window: u32,
    pen: u32,
}

impl Painter {
    /// A window at a place of the display, `(x, y, width, height)`.
    pub(super) fn on(desktop: &Desktop, (x, y, width, height): (i16, i16, u16, u16)) -> Self {
        let (conn, screen) = RustConnection::connect(Some(desktop.name())).unwrap();
        let root = conn.setup().roots[screen].root;
        let (window, pen) = (conn.generate_id().unwrap(), conn.generate_id().unwrap());
        let look = CreateWindowAux::new().background_pixel(0xff_ffff).override_redirect(1);
        let class = WindowClass::INPUT_OUTPUT;
        conn.create_window(0, window, root, x, y, width, height, 0, class, 0, &look).unwrap();
        conn.create_gc(pen, window, &CreateGCAux::new()).unwrap();
        conn.map_window(window).unwrap();
        conn.sync().unwrap();
        Self { conn, window, pen }
    }

    /// Fills a box of the window, `(x, y, width, height)`, and waits until that is done.
    pub(super) fn fill(&self, (x, y, width, height): (i16, i16, u16, u16), colour: u32) {
        self.conn.change_gc(self.pen, &ChangeGCAux::new().foreground(colour)).unwrap();
        let rect = Rectangle { x, y, width, height };
        self.conn.poly_fill_rectangle(self.window, self.pen, &[rect]).unwrap();
        self.conn.sync().unwrap();
    }
}
