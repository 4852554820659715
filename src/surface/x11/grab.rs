//! Pictures of a drawable: through shared memory where the server offers it, in one round trip.
//!
//! The shared segment is a file in memory that is passed to the server (MIT-SHM 1.2) and read with
//! positioned reads straight into the frame: no mapping, so nothing here is unsafe, and no slower
//! than a copy out of a mapping.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

use x11rb::connection::Connection as _;
use x11rb::cookie::Cookie;
use x11rb::protocol::composite::{self, ConnectionExt as _, Redirect};
use x11rb::protocol::shm::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{
    self, ConnectionExt as _, ImageFormat, ImageOrder, MapState, VisualClass, Visualtype,
};

use crate::clock::Clock;
use crate::error::Error;
use crate::frame::{BYTES_PER_PIXEL, Frame, PixelFormat};
use crate::geometry::{Rect, Size};
use crate::wait::Capture;

use super::link::{Connection, Link, Trouble};
use super::windows;

/// How often a whole capture is tried again when the size changed under it.
const TRIES: u32 = 4;

/// How long a program gets to paint what was covered when its window was redirected.
const REPAINT: Duration = Duration::from_millis(50);

const NOT_SHOWN: &str = "the window is not shown: it is minimised, or not mapped yet";

/// Every bit of a pixel.
const ALL_PLANES: u32 = u32::MAX;

/// The size of a page of memory, and of the line the processor copies at once.
const PAGE: usize = 4096;
const CACHE_LINE: usize = 64;

/// The version of Composite that can name a window's pixmap.
const NAMES_PIXMAPS: (u32, u32) = (0, 2);

/// The version of MIT-SHM that passes memory as a file.
const PASSES_FILES: (u16, u16) = (1, 2);

/// Takes the pictures of one surface.
pub(super) struct Grabber {
    view: View,
    /// Why its pixels cannot be captured.
    unfit: Option<String>,
    segment: Segment,
    /// The size the next picture is expected to have.
    size: Size,
    taken: u64,
}

/// Where the pixels come from.
#[derive(Clone, Copy)]
enum View {
    /// The screen.
    Display { root: u32 },
    /// The window's own pixmap, which nothing covers. It is named anew for each picture, under
    /// the same id: after a resize an old name would lead to the old pixels.
    Redirected { window: u32, pixmap: u32, border: u16 },
    /// The part of the screen where the window is, with whatever covers it.
    Clipped { window: u32 },
}

impl Grabber {
    /// For the whole display, or for `window`.
    pub(super) fn open(link: &Link, window: Option<u32>) -> Result<Self, Trouble> {
        let view = match window {
            None => View::Display { root: link.root() },
            Some(window) => redirect(link, window)?,
        };
        let unfit = unfit_layout(link, view.drawable())?;
        let segment = Segment::new(link)?;
        Ok(Self { view, unfit, segment, size: view.size(link)?, taken: 0 })
    }

    /// Why the pixels of this surface cannot be captured, `None` when they can.
    pub(super) fn unfit(&self) -> Option<&str> {
        self.unfit.as_deref()
    }

    /// Whether pictures show the whole surface and not only what is on the screen of it.
    pub(super) fn sees_all(&self) -> bool {
        !matches!(self.view, View::Clipped { .. })
    }

    /// The drawable whose damage is that of the surface; `None` where there is none such.
    pub(super) const fn damaged_drawable(&self) -> Option<u32> {
        match self.view {
            View::Display { .. } | View::Redirected { .. } => Some(self.view.drawable()),
            View::Clipped { .. } => None,
        }
    }

    /// Whether pictures go through shared memory; tried out.
    pub(super) fn try_sharing(&mut self, link: &Link) -> Result<bool, Trouble> {
        self.segment.hold(link, self.size, &[])?;
        Ok(self.segment.memory.is_some())
    }

    /// Takes note of the size the surface was said to have: regions are meant for that one.
    pub(super) fn expect(&mut self, size: Size) {
        self.size = size;
    }

    /// What a window hid from the screen was never painted: gives its program the time to, now
    /// that the window has a pixmap of its own.
    pub(super) fn wait_for_repaint(&self, link: &Link, clock: &Clock) -> Result<(), Trouble> {
        if let View::Redirected { window, .. } = self.view
            && windows::is_covered(link, window)?
        {
            clock.sleep(REPAINT);
        }
        Ok(())
    }

    /// One picture, of all or of `region`.
    pub(super) fn grab(
        &mut self,
        link: &Link,
        region: Option<Rect>,
        frame: &mut Frame,
    ) -> Result<Capture, Trouble> {
        if let Some(unfit) = &self.unfit {
            return Err(Error::surface(unfit.clone()).into());
        }
        for _ in 0..TRIES {
            let area = region.unwrap_or(self.size.rect());
            if !self.size.rect().contains_rect(area) {
                self.size = self.view.size(link)?;
                return Ok(Capture::Resized);
            }
            match self.look(link, area, frame)? {
                Look::Taken => return Ok(self.count()),
                Look::Hidden => return Ok(Capture::Failed(NOT_SHOWN.to_owned())),
                Look::Moved => {}
                Look::Resized(size) => {
                    self.size = size;
                    if region.is_some() {
                        return Ok(Capture::Resized);
                    }
                }
            }
        }
        Ok(Capture::Failed("the surface changes its size faster than it can be captured".into()))
    }

    fn count(&mut self) -> Capture {
        self.taken += 1;
        Capture::Taken { id: self.taken }
    }

    /// Fills the frame if the surface still is as expected.
    fn look(&mut self, link: &Link, area: Rect, frame: &mut Frame) -> Result<Look, Trouble> {
        // Before the memory is held: where in it the picture goes depends on where it is copied to.
        frame.reshape(area.size(), PixelFormat::Bgrx);
        self.segment.hold(link, area.size(), frame.data())?;
        let shot = match self.view {
            View::Display { root } => Some(self.shoot_display(link, root, area)?),
            View::Redirected { window, pixmap, border } => {
                self.shoot_pixmap(link, window, pixmap, border, area)?
            }
            View::Clipped { window } => Some(self.shoot_screen(link, window, area)?),
        };
        let Some((size, image)) = shot else { return Ok(Look::Moved) };
        if size != self.size {
            return Ok(Look::Resized(size));
        }
        match self.segment.fill(link, image, frame.data_mut()) {
            Err(Trouble::Refused(_)) if !self.view.is_shown(link)? => Ok(Look::Hidden),
            filled => filled.map(|()| Look::Taken),
        }
    }

    fn shoot_display<'a>(
        &self,
        link: &'a Link,
        root: u32,
        area: Rect,
    ) -> Result<Shot<'a>, Trouble> {
        let geometry = link.conn.get_geometry(root)?;
        let image = self.segment.request(link, root, area)?;
        Ok((windows::size_from(&link.reply(geometry)?)?, image))
    }

    /// The pixmap holds the border too, whose width is known for sure only with the geometry.
    fn shoot_pixmap<'a>(
        &mut self,
        link: &'a Link,
        window: u32,
        pixmap: u32,
        border: u16,
        area: Rect,
    ) -> Result<Option<Shot<'a>>, Trouble> {
        let inside = area.moved(border.into(), border.into()).ok_or_else(|| too_far(area))?;
        let geometry = link.conn.get_geometry(window)?;
        link.conn.composite_name_window_pixmap(window, pixmap)?.ignore_error();
        let image = self.segment.request(link, pixmap, inside)?;
        link.conn.free_pixmap(pixmap)?.ignore_error();
        let geometry = link.reply(geometry)?;
        if geometry.border_width != border {
            self.view = View::Redirected { window, pixmap, border: geometry.border_width };
            return Ok(None);
        }
        Ok(Some((windows::size_from(&geometry)?, image)))
    }

    fn shoot_screen<'a>(
        &self,
        link: &'a Link,
        window: u32,
        area: Rect,
    ) -> Result<Shot<'a>, Trouble> {
        let place = windows::place(link, window)?.visible(link)?;
        let there = place.on_display(area).ok_or_else(|| too_far(area))?;
        Ok((place.size, self.segment.request(link, link.root(), there)?))
    }
}

/// The size the surface had, and the picture asked for in the same breath.
type Shot<'a> = (Size, Image<'a>);

/// How a look ended.
enum Look {
    Taken,
    /// There are no pixels: the window is not mapped.
    Hidden,
    /// Same size, elsewhere: look again.
    Moved,
    Resized(Size),
}

impl View {
    fn size(self, link: &Link) -> Result<Size, Trouble> {
        match self {
            Self::Display { root: drawable } | Self::Redirected { window: drawable, .. } => {
                windows::size(link, drawable)
            }
            Self::Clipped { window } => Ok(windows::place(link, window)?.visible(link)?.size),
        }
    }

    const fn drawable(self) -> u32 {
        match self {
            Self::Display { root } => root,
            Self::Redirected { window, .. } | Self::Clipped { window } => window,
        }
    }

    fn is_shown(self, link: &Link) -> Result<bool, Trouble> {
        let attributes = link.reply(link.conn.get_window_attributes(self.drawable())?)?;
        Ok(attributes.map_state == MapState::VIEWABLE)
    }
}

/// Gives a window a pixmap of its own, where the server can.
fn redirect(link: &Link, window: u32) -> Result<View, Trouble> {
    if !link.has(composite::X11_EXTENSION_NAME)? {
        return Ok(View::Clipped { window });
    }
    let version = link.reply(link.conn.composite_query_version(0, 4)?)?;
    if (version.major_version, version.minor_version) < NAMES_PIXMAPS {
        return Ok(View::Clipped { window });
    }
    link.check(link.conn.composite_redirect_window(window, Redirect::AUTOMATIC)?)?;
    let pixmap = link.conn.generate_id()?;
    Ok(View::Redirected { window, pixmap, border: 0 })
}

/// What is wrong with pixels that are not blue, green, red and a fourth byte, 8 bits each.
fn unfit_layout(link: &Link, drawable: u32) -> Result<Option<String>, Trouble> {
    let attributes = link.conn.get_window_attributes(drawable)?;
    let geometry = link.conn.get_geometry(drawable)?;
    let visual = link.reply(attributes)?.visual;
    let depth = link.reply(geometry)?.depth;
    let setup = link.conn.setup();
    let bits = setup.pixmap_formats.iter().find(|format| format.depth == depth);
    let bits = bits.map_or(0, |format| format.bits_per_pixel);
    let mut visuals = link.screen().allowed_depths.iter().flat_map(|depth| &depth.visuals);
    let visual = visuals.find(|known| known.visual_id == visual);
    if bits == 32 && setup.image_byte_order == ImageOrder::LSB_FIRST && visual.is_some_and(is_bgr) {
        return Ok(None);
    }
    let masks = visual.map_or((0, 0, 0), |seen| (seen.red_mask, seen.green_mask, seen.blue_mask));
    Ok(Some(format!(
        "window {drawable:#x} has pixels of depth {depth} in {bits} bits (red {:#x}, green {:#x}, \
         blue {:#x}): only depth 24 or 32 in 32 bits of blue, green, red, unused can be captured; \
         start the display's server with depth 24",
        masks.0, masks.1, masks.2
    )))
}

fn is_bgr(visual: &Visualtype) -> bool {
    visual.class == VisualClass::TRUE_COLOR
        && (visual.red_mask, visual.green_mask, visual.blue_mask) == (0xff_0000, 0xff00, 0xff)
}

/// Memory the server writes pictures into; without it they come over the socket.
struct Segment {
    offered: bool,
    id: u32,
    memory: Option<Memory>,
}

struct Memory {
    file: File,
    capacity: usize,
    /// Where in the file the next picture goes.
    offset: u16,
}

/// A picture that was asked for.
enum Image<'a> {
    Shared(Cookie<'a, Connection, shm::GetImageReply>),
    Sent(Cookie<'a, Connection, xproto::GetImageReply>),
}

impl Segment {
    fn new(link: &Link) -> Result<Self, Trouble> {
        let mut offered = link.is_local() && link.has(shm::X11_EXTENSION_NAME)?;
        if offered {
            let version = link.reply(link.conn.shm_query_version()?)?;
            offered = (version.major_version, version.minor_version) >= PASSES_FILES;
        }
        if offered {
            link.takes_files();
        }
        Ok(Self { offered, id: link.conn.generate_id()?, memory: None })
    }

    /// Makes room for a picture of `size` that will be copied to `target`. Where the server offers
    /// what it cannot do, as behind a forwarded socket, pictures come over the socket from here on.
    fn hold(&mut self, link: &Link, size: Size, target: &[u8]) -> Result<(), Trouble> {
        let bytes = byte_length(size);
        if !self.offered {
            return Ok(());
        }
        if self.memory.as_ref().is_none_or(|memory| memory.capacity < bytes) {
            if self.memory.take().is_some() {
                link.conn.shm_detach(self.id)?.ignore_error();
            }
            match self.share(link, bytes + PAGE) {
                Ok(file) => self.memory = Some(Memory { file, capacity: bytes, offset: 0 }),
                Err(Trouble::Stalled) => return Err(Trouble::Stalled),
                Err(_) => self.offered = false,
            }
        }
        if let Some(memory) = &mut self.memory {
            memory.offset = offset_for(target);
        }
        Ok(())
    }

    /// The memory is ours and passed to the server. The other way round, a reply whose file got
    /// lost on the way makes `x11rb` panic; here the server merely refuses.
    #[cfg(any(target_os = "android", target_os = "freebsd", target_os = "linux"))]
    fn share(&self, link: &Link, bytes: usize) -> Result<File, Trouble> {
        use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

        let unavailable =
            |error: std::io::Error| Error::surface(format!("no memory to share: {error}"));
        let theirs = memfd_create("seechange", MemfdFlags::CLOEXEC);
        let theirs = theirs.map_err(|error| unavailable(error.into()))?;
        ftruncate(&theirs, bytes as u64).map_err(|error| unavailable(error.into()))?;
        let ours = theirs.try_clone().map_err(unavailable)?;
        link.check(link.conn.shm_attach_fd(self.id, theirs, false)?)?;
        Ok(File::from(ours))
    }

    #[cfg(not(any(target_os = "android", target_os = "freebsd", target_os = "linux")))]
    fn share(&self, _: &Link, _: usize) -> Result<File, Trouble> {
        Err(Error::surface("this system has no files in memory").into())
    }

    fn request<'a>(&self, link: &'a Link, drawable: u32, area: Rect) -> Result<Image<'a>, Trouble> {
        let (x, y, width, height) = protocol_rect(area).ok_or_else(|| too_far(area))?;
        let format = ImageFormat::Z_PIXMAP;
        let Some(memory) = &self.memory else {
            let cookie = link.conn.get_image(format, drawable, x, y, width, height, ALL_PLANES)?;
            return Ok(Image::Sent(cookie));
        };
        let (format, planes) = (format.into(), ALL_PLANES);
        let cookie = link.conn.shm_get_image(
            drawable,
            x,
            y,
            width,
            height,
            planes,
            format,
            self.id,
            memory.offset.into(),
        )?;
        Ok(Image::Shared(cookie))
    }

    /// Waits for the picture and copies it to `pixels`.
    fn fill(&self, link: &Link, image: Image<'_>, pixels: &mut [u8]) -> Result<(), Trouble> {
        match image {
            Image::Shared(cookie) => {
                let got = link.reply(cookie)?.size;
                self.read(got as usize, pixels)
            }
            Image::Sent(cookie) => {
                let data = link.reply(cookie)?.data;
                check_length(data.len(), pixels.len())?;
                pixels.copy_from_slice(&data);
                Ok(())
            }
        }
    }

    fn read(&self, got: usize, pixels: &mut [u8]) -> Result<(), Trouble> {
        check_length(got, pixels.len())?;
        let Some(memory) = &self.memory else { return Ok(()) };
        memory.file.read_exact_at(pixels, memory.offset.into()).map_err(|error| {
            let message = "the memory shared with the display cannot be read";
            Error::surface(format!("{message}: {error}")).into()
        })
    }
}

/// Half a page from where the picture will be copied to, both counted from their page's start.
///
/// Processors with fast short copies (`rep movsb`) take six times as long when the target lies a
/// few bytes behind the source in that count, and large allocations lie 16 bytes behind a page.
fn offset_for(target: &[u8]) -> u16 {
    let start = target.as_ptr().addr() % PAGE;
    let across = (start + PAGE / 2) % PAGE / CACHE_LINE * CACHE_LINE;
    u16::try_from(across).unwrap_or(0)
}

fn check_length(got: usize, wanted: usize) -> Result<(), Trouble> {
    if got == wanted {
        return Ok(());
    }
    let message = format!("the display sent a picture of {got} bytes instead of {wanted}");
    Err(Error::surface(message).into())
}

fn too_far(area: Rect) -> Trouble {
    Error::limit(format!("region {area} reaches past what the X protocol can name")).into()
}

fn protocol_rect(area: Rect) -> Option<(i16, i16, u16, u16)> {
    let (x, y) = (i16::try_from(area.x()).ok()?, i16::try_from(area.y()).ok()?);
    Some((x, y, u16::try_from(area.width()).ok()?, u16::try_from(area.height()).ok()?))
}

const fn byte_length(size: Size) -> usize {
    size.width() as usize * size.height() as usize * BYTES_PER_PIXEL
}
