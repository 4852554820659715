//! Which windows there are, what they are called, where they lie.

use std::fmt;

use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, GetGeometryReply, GetPropertyReply, MapState,
};

use crate::error::{Error, Result, Shown};
use crate::geometry::{Point, Rect, Size};

use super::link::{Link, Trouble};
use super::text::Encoding;

/// The longest property that is read, in bytes.
const MAX_PROPERTY: u32 = 1 << 20;

/// How deep windows are searched for a program's own: frames of window managers are 1 to 3 deep.
const MAX_DEPTH: u32 = 8;

/// The resolution at which one pixel of the interface is one of the screen.
const DPI_OF_SCALE_1: f32 = 96.0;

x11rb::atom_manager! {
    /// The atoms used here.
    pub(super) Atoms: AtomsCookie {
        COMPOUND_TEXT,
        UTF8_STRING,
        WM_PROTOCOLS,
        WM_STATE,
        _NET_CLIENT_LIST,
        _NET_SUPPORTING_WM_CHECK,
        _NET_WM_NAME,
        _NET_WM_PING,
        _SEECHANGE_INPUT,
        _SEECHANGE_LENT_KEYS,
    }
}

impl Atoms {
    pub(super) fn of(link: &Link) -> Result<Self, Trouble> {
        Ok(Self::new(&link.conn)?.reply()?)
    }
}

/// A program's window: its id and its title. Displayed with what would steer a terminal spelled
/// out; the title itself is as the program set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The server's number for it.
    pub id: u32,
    /// What its title bar says; empty when it has no title.
    pub title: String,
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x} \"{}\"", self.id, Shown(&self.title))
    }
}

/// Where a drawable lies on the display, without its border.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) size: Size,
    pub(super) origin: (i32, i32),
}

impl Place {
    /// The part of it that is on the display.
    pub(super) fn visible(self, link: &Link) -> Result<Self, Trouble> {
        let display = size(link, link.root())?;
        self.clipped(display).ok_or_else(|| {
            Error::surface("the window lies wholly outside the display: move it back").into()
        })
    }

    fn clipped(self, display: Size) -> Option<Self> {
        let edge = |start: i32, length: u32, end: u32| {
            let stop = start.checked_add_unsigned(length)?;
            Some((u32::try_from(start.max(0)).ok()?, u32::try_from(stop).ok()?.min(end)))
        };
        let (left, right) = edge(self.origin.0, self.size.width(), display.width())?;
        let (top, bottom) = edge(self.origin.1, self.size.height(), display.height())?;
        let rect = Rect::from_edges(left, top, right, bottom)?;
        let origin = (self.origin.0.max(0), self.origin.1.max(0));
        Some(Self { size: rect.size(), origin })
    }

    /// A part of it in pixels of the display.
    pub(super) fn on_display(self, area: Rect) -> Option<Rect> {
        area.moved(self.origin.0, self.origin.1)
    }

    /// A pixel of it in pixels of the display, `None` when that lies off it.
    pub(super) fn pixel(self, point: Point, display: Size) -> Option<(i16, i16)> {
        let x = self.origin.0.checked_add_unsigned(point.x)?;
        let y = self.origin.1.checked_add_unsigned(point.y)?;
        let on_it = Point::new(u32::try_from(x).ok()?, u32::try_from(y).ok()?);
        let pixel = (i16::try_from(x).ok()?, i16::try_from(y).ok()?);
        display.rect().contains(on_it).then_some(pixel)
    }
}

/// Where a window lies now.
pub(super) fn place(link: &Link, window: u32) -> Result<Place, Trouble> {
    let geometry = link.conn.get_geometry(window)?;
    let corner = link.conn.translate_coordinates(window, link.root(), 0, 0)?;
    let size = size_from(&link.reply(geometry)?)?;
    let corner = link.reply(corner)?;
    if !corner.same_screen {
        let message = format!(
            "window {window:#x} is on another screen of the display than {}: name that one in \
             DISPLAY",
            link.name()
        );
        return Err(Error::surface(message).into());
    }
    Ok(Place { size, origin: (corner.dst_x.into(), corner.dst_y.into()) })
}

/// How large a drawable is now, without its border.
pub(super) fn size(link: &Link, drawable: u32) -> Result<Size, Trouble> {
    size_from(&link.reply(link.conn.get_geometry(drawable)?)?)
}

pub(super) fn size_from(geometry: &GetGeometryReply) -> Result<Size, Trouble> {
    Ok(Size::new(geometry.width.into(), geometry.height.into())?)
}

/// The window somebody asked for by id or title; `None` when it is the root, that is everything.
pub(super) fn find(link: &Link, atoms: &Atoms, wanted: &str) -> Result<Option<Window>> {
    if let Some(window) = by_id(link, atoms, wanted)? {
        return Ok((window.id != link.root()).then_some(window));
    }
    let windows = list(link, atoms)?;
    by_title(&windows, wanted).map(|window| Some(window.clone()))
}

/// The window with the id `wanted` spells; an id nothing has may still be a title.
fn by_id(link: &Link, atoms: &Atoms, wanted: &str) -> Result<Option<Window>, Trouble> {
    let id = match wanted.strip_prefix("0x").or_else(|| wanted.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => wanted.parse().ok(),
    };
    let Some(id) = id else { return Ok(None) };
    match link.reply(link.conn.get_window_attributes(id)?) {
        Ok(_) => Ok(Some(named(link, atoms, id)?)),
        Err(Trouble::Refused(_)) => Ok(None),
        Err(trouble) => Err(trouble),
    }
}

/// The exact title, else the only one that contains `wanted`.
fn by_title<'a>(windows: &'a [Window], wanted: &str) -> Result<&'a Window> {
    let exact: Vec<_> = windows.iter().filter(|window| window.title == wanted).collect();
    let found = match exact.is_empty() {
        true => windows.iter().filter(|window| window.title.contains(wanted)).collect(),
        false => exact,
    };
    match found[..] {
        [window] => Ok(window),
        [] => Err(Error::surface(format!(
            "no window has the id or title '{}'; there is {}",
            Shown(wanted),
            listing(windows.iter())
        ))),
        _ => Err(Error::surface(format!(
            "{} windows have the title '{}': name one by its id: {}",
            found.len(),
            Shown(wanted),
            listing(found.iter().copied())
        ))),
    }
}

fn listing<'a>(windows: impl Iterator<Item = &'a Window>) -> String {
    let names: Vec<String> = windows.map(Window::to_string).collect();
    if names.is_empty() { "no window at all".to_owned() } else { names.join(", ") }
}

/// The programs' windows, oldest first.
pub(super) fn list(link: &Link, atoms: &Atoms) -> Result<Vec<Window>, Trouble> {
    let listed = numbers(link, link.root(), atoms._NET_CLIENT_LIST, AtomEnum::WINDOW.into())?;
    let ids = if listed.is_empty() { top_windows(link, atoms)? } else { listed };
    let mut windows = Vec::with_capacity(ids.len());
    for id in ids {
        match named(link, atoms, id) {
            Ok(window) => windows.push(window),
            // It closed meanwhile.
            Err(Trouble::Refused(_)) => {}
            Err(trouble) => return Err(trouble),
        }
    }
    Ok(windows)
}

/// The windows people see when no window manager keeps a list.
fn top_windows(link: &Link, atoms: &Atoms) -> Result<Vec<u32>, Trouble> {
    let mut found = Vec::new();
    for window in link.reply(link.conn.query_tree(link.root())?)?.children {
        if is_shown(link, window)? {
            found.push(client_in(link, atoms, window, MAX_DEPTH)?.unwrap_or(window));
        }
    }
    Ok(found)
}

fn is_shown(link: &Link, window: u32) -> Result<bool, Trouble> {
    match link.reply(link.conn.get_window_attributes(window)?) {
        Ok(attributes) => Ok(attributes.map_state == MapState::VIEWABLE),
        Err(Trouble::Refused(_)) => Ok(false),
        Err(trouble) => Err(trouble),
    }
}

/// The program's window inside a window manager's frame: the one that bears `WM_STATE`.
fn client_in(link: &Link, atoms: &Atoms, window: u32, depth: u32) -> Result<Option<u32>, Trouble> {
    if has_state(link, atoms, window)? {
        return Ok(Some(window));
    }
    if depth == 0 {
        return Ok(None);
    }
    for child in link.reply(link.conn.query_tree(window)?)?.children {
        if let Some(found) = client_in(link, atoms, child, depth - 1)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The program's window at a pixel of the display.
pub(super) fn at(
    link: &Link,
    atoms: &Atoms,
    (x, y): (i16, i16),
) -> Result<Option<Window>, Trouble> {
    let (mut outer, mut spot, mut found) = (link.root(), (x, y), None);
    for _ in 0..MAX_DEPTH {
        let inner = found.unwrap_or(link.root());
        let under = link.conn.translate_coordinates(outer, inner, spot.0, spot.1)?;
        let under = link.reply(under)?;
        if under.child == x11rb::NONE {
            break;
        }
        (outer, spot) = (inner, (under.dst_x, under.dst_y));
        found = Some(under.child);
        if has_state(link, atoms, under.child)? {
            return Ok(Some(named(link, atoms, under.child)?));
        }
    }
    let top = found.map(|window| top_of(link, window)).transpose()?;
    top.map(|top| named(link, atoms, top)).transpose()
}

/// The window of a program that another one lies in: the one a window manager manages, else the
/// one directly on the root.
pub(super) fn client_of(link: &Link, atoms: &Atoms, window: u32) -> Result<u32, Trouble> {
    let mut outer = window;
    loop {
        if has_state(link, atoms, outer)? {
            return Ok(outer);
        }
        let tree = link.reply(link.conn.query_tree(outer)?)?;
        if tree.parent == tree.root || tree.parent == x11rb::NONE {
            return Ok(outer);
        }
        outer = tree.parent;
    }
}

/// Whether a window is a dialog of another one, or a dialog of a dialog.
pub(super) fn is_dialog_of(link: &Link, dialog: u32, window: u32) -> Result<bool, Trouble> {
    let mut owner = dialog;
    for _ in 0..MAX_DEPTH {
        let name = AtomEnum::WM_TRANSIENT_FOR.into();
        match numbers(link, owner, name, AtomEnum::WINDOW.into())?.first() {
            Some(&above) if above == window => return Ok(true),
            Some(&above) => owner = above,
            None => return Ok(false),
        }
    }
    Ok(false)
}

pub(super) fn named(link: &Link, atoms: &Atoms, id: u32) -> Result<Window, Trouble> {
    Ok(Window { id, title: title(link, atoms, id)? })
}

/// Whether a window manager manages this window itself, not one around or inside it.
fn has_state(link: &Link, atoms: &Atoms, window: u32) -> Result<bool, Trouble> {
    Ok(!bytes(link, window, atoms.WM_STATE, AtomEnum::ANY.into())?.is_empty())
}

/// Whether a part of a window is not on the screen: under another one, or past the edge.
pub(super) fn is_covered(link: &Link, window: u32) -> Result<bool, Trouble> {
    let place = place(link, window)?;
    if place.visible(link)? != place {
        return Ok(true);
    }
    let top = top_of(link, window)?;
    let siblings = link.reply(link.conn.query_tree(link.root())?)?.children;
    for above in siblings.into_iter().skip_while(|&sibling| sibling != top).skip(1) {
        if is_shown(link, above)? && overlap(link, above, place)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The ancestor of a window that lies directly on the root.
pub(super) fn top_of(link: &Link, window: u32) -> Result<u32, Trouble> {
    let mut top = window;
    loop {
        let tree = link.reply(link.conn.query_tree(top)?)?;
        if tree.parent == tree.root || tree.parent == x11rb::NONE {
            return Ok(top);
        }
        top = tree.parent;
    }
}

/// Whether two windows are the same one, or lie in the same frame of the window manager.
pub(super) fn share_a_frame(link: &Link, one: u32, other: u32) -> Result<bool, Trouble> {
    Ok(one == other || top_of(link, one)? == top_of(link, other)?)
}

fn overlap(link: &Link, window: u32, place: Place) -> Result<bool, Trouble> {
    let other = match self::place(link, window) {
        Ok(other) => other,
        Err(Trouble::Refused(_)) => return Ok(false),
        Err(trouble) => return Err(trouble),
    };
    let meet = |start: i32, length: u32, other: i32, other_length: u32| {
        start < other.saturating_add_unsigned(other_length)
            && other < start.saturating_add_unsigned(length)
    };
    let (a, b) = (place.size, other.size);
    Ok(meet(place.origin.0, a.width(), other.origin.0, b.width())
        && meet(place.origin.1, a.height(), other.origin.1, b.height()))
}

/// What a window's title bar says.
fn title(link: &Link, atoms: &Atoms, window: u32) -> Result<String, Trouble> {
    let modern = bytes(link, window, atoms._NET_WM_NAME, atoms.UTF8_STRING)?;
    if !modern.is_empty() {
        return Ok(Encoding::Utf8.decode(&modern));
    }
    let name = property(link, window, AtomEnum::WM_NAME.into(), AtomEnum::ANY.into())?;
    Ok(encoding(atoms, name.type_).decode(&name.value))
}

fn encoding(atoms: &Atoms, kind: u32) -> Encoding {
    match kind {
        kind if kind == atoms.UTF8_STRING => Encoding::Utf8,
        kind if kind == atoms.COMPOUND_TEXT => Encoding::Compound,
        kind if kind == u32::from(AtomEnum::STRING) => Encoding::Latin1,
        _ => Encoding::Unsaid,
    }
}

/// The window manager's name, `None` when there is none.
pub(super) fn manager(link: &Link, atoms: &Atoms) -> Result<Option<String>, Trouble> {
    let kind = AtomEnum::WINDOW.into();
    let checked = numbers(link, link.root(), atoms._NET_SUPPORTING_WM_CHECK, kind)?;
    let Some(&window) = checked.first() else { return Ok(None) };
    match title(link, atoms, window) {
        Ok(name) => Ok(Some(name)),
        // Left behind by a window manager that ended.
        Err(Trouble::Refused(_)) => Ok(None),
        Err(trouble) => Err(trouble),
    }
}

/// Pixels of the frame for one of the interface, as `Xft.dpi` says; 1 where nothing is said.
pub(super) fn scale(link: &Link) -> Result<f32, Trouble> {
    let resources =
        bytes(link, link.root(), AtomEnum::RESOURCE_MANAGER.into(), AtomEnum::STRING.into())?;
    Ok(scale_in(&Encoding::Latin1.decode(&resources)))
}

fn scale_in(resources: &str) -> f32 {
    let dpi = resources.lines().find_map(|line| line.strip_prefix("Xft.dpi:"));
    let dpi = dpi.and_then(|dpi| dpi.trim().parse::<f32>().ok());
    match dpi {
        Some(dpi) if (24.0..=960.0).contains(&dpi) => dpi / DPI_OF_SCALE_1,
        _ => 1.0,
    }
}

pub(super) fn numbers(link: &Link, window: u32, name: u32, kind: u32) -> Result<Vec<u32>, Trouble> {
    Ok(property(link, window, name, kind)?.value32().into_iter().flatten().collect())
}

pub(super) fn bytes(link: &Link, window: u32, name: u32, kind: u32) -> Result<Vec<u8>, Trouble> {
    Ok(property(link, window, name, kind)?.value)
}

fn property(link: &Link, window: u32, name: u32, kind: u32) -> Result<GetPropertyReply, Trouble> {
    link.reply(link.conn.get_property(false, window, name, kind, 0, MAX_PROPERTY / 4)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(id: u32, title: &str) -> Window {
        Window { id, title: title.to_owned() }
    }

    #[test]
    fn titles_are_exact_or_the_only_ones_that_contain_it() {
        let windows = [window(1, "notes"), window(2, "notes - editor"), window(3, "term")];
        for (wanted, found) in [("notes", Some(1)), ("editor", Some(2)), ("te", None)] {
            let id = by_title(&windows, wanted).ok().map(|window| window.id);
            assert_eq!(id, found, "{wanted}");
        }
        let message = by_title(&windows, "te").unwrap_err().to_string();
        let wanted = "3 windows have the title 'te': name one by its id: 0x1 \"notes\", 0x2 \
                      \"notes - editor\", 0x3 \"term\"";
        assert_eq!(message, wanted);
        let message = by_title(&windows[2..], "paint").unwrap_err().to_string();
        assert_eq!(message, "no window has the id or title 'paint'; there is 0x3 \"term\"");
    }

    #[test]
    fn a_place_is_cut_at_the_display() {
        let display = Size::new(100, 80).unwrap();
        for (origin, size, cut) in [
            ((10, 10), (20, 20), Some(((10, 10), (20, 20)))),
            ((-5, 70), (20, 20), Some(((0, 70), (15, 10)))),
            ((-20, 0), (20, 20), None),
            ((100, 0), (20, 20), None),
            ((i32::MAX, 0), (20, 20), None),
        ] {
            let place = Place { size: Size::new(size.0, size.1).unwrap(), origin };
            let got = place.clipped(display);
            let got = got.map(|cut| (cut.origin, (cut.size.width(), cut.size.height())));
            assert_eq!(got, cut, "{origin:?}");
        }
    }

    #[test]
    fn pixels_off_the_display_are_none() {
        let display = Size::new(100, 80).unwrap();
        let place = Place { size: Size::new(50, 50).unwrap(), origin: (-10, 60) };
        for ((x, y), pixel) in [
            ((10, 0), Some((0, 60))),
            ((9, 0), None),
            ((49, 19), Some((39, 79))),
            ((49, 20), None),
            ((u32::MAX, 0), None),
        ] {
            assert_eq!(place.pixel(Point::new(x, y), display), pixel, "({x}, {y})");
        }
    }

    #[test]
    fn scale_comes_from_the_font_resolution() {
        for (resources, scale) in [
            ("", 1.0),
            ("Xft.dpi:\t192\n", 2.0),
            ("*color: red\nXft.dpi: 120", 1.25),
            ("Xft.dpi: 0", 1.0),
            ("Xft.dpi: inf", 1.0),
        ] {
            assert!((scale_in(resources) - scale).abs() < 1e-6, "{resources}");
        }
    }
}
