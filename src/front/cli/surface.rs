//! Surfaces by name, opened on the clock that suits them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::args::PageArgs;
use crate::act::Surface;
use crate::clock::{Cancel, Clock};
use crate::error::{Error, Result};
use crate::surface::replay::{FrameIds, Recording};
use crate::wait::Source;

/// What `--surface` names.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::front) enum SurfaceName {
    /// The whole X11 display.
    X11,
    /// One X11 window, by title or id.
    X11Window(String),
    /// The primary monitor, through xcap.
    Screen,
    /// One monitor, by name or index, through xcap.
    ScreenMonitor(String),
    /// One window, by title or id, through xcap.
    ScreenWindow(String),
    /// A page in a browser of its own, by its address, or one to attach to, by `ws://…`.
    Browser(String, PageArgs),
    /// A recorded timeline.
    Replay(PathBuf),
    /// The simulated application, on a clock that jumps.
    Demo,
    /// The same in real time.
    DemoLive,
}

/// A surface and the clock it runs on: a real one's own, a recording's or a simulation's that
/// jumps.
pub(in crate::front) struct Opened {
    pub(in crate::front) clock: Clock,
    surface: Kind,
}

enum Kind {
    /// Can be looked at.
    Seen(Box<dyn Source>),
    /// Can also be acted on.
    Driven(Box<dyn Surface>),
}

impl SurfaceName {
    /// A page, as it is opened where nothing else is said.
    pub(in crate::front) fn page(address: &str) -> Self {
        Self::Browser(address.to_owned(), PageArgs::default())
    }

    /// Opens the surface.
    pub(in crate::front) fn open(&self) -> Result<Opened> {
        self.open_with(FrameIds::EachLook)
    }

    /// Opens the surface; a page that takes its time is given up when `cancel` is thrown.
    #[cfg(feature = "mcp")]
    pub(in crate::front) fn open_unless(&self, cancel: &Cancel) -> Result<Opened> {
        match self {
            Self::Browser(address, page) => open_browser(address, page, cancel),
            _ => self.open(),
        }
    }

    /// Opens the surface; a recording hands out frames with these ids.
    pub(super) fn open_with(&self, ids: FrameIds) -> Result<Opened> {
        match self {
            Self::X11 => open_x11(None),
            Self::X11Window(window) => open_x11(Some(window.as_str())),
            Self::Screen | Self::ScreenMonitor(_) | Self::ScreenWindow(_) => open_screen(self),
            Self::Browser(address, page) => open_browser(address, page, &Cancel::never()),
            Self::Demo => open_demo(Clock::simulated()),
            Self::DemoLive => open_demo(Clock::system()),
            Self::Replay(folder) => open_replay(folder, ids),
        }
    }
}

impl Opened {
    /// The surface as something to look at.
    pub(super) fn source(&mut self) -> &mut dyn Source {
        match &mut self.surface {
            Kind::Seen(source) => &mut **source,
            Kind::Driven(surface) => &mut **surface,
        }
    }

    /// The surface as something to act on.
    pub(in crate::front) fn driven(&mut self) -> Result<&mut dyn Surface> {
        match &mut self.surface {
            Kind::Driven(surface) => Ok(&mut **surface),
            Kind::Seen(_) => Err(Error::usage(
                "replay and screen take no input: use --surface x11, x11:window=TITLE-OR-ID, \
                 browser:URL or demo",
            )),
        }
    }
}

fn open_replay(folder: &Path, ids: FrameIds) -> Result<Opened> {
    let clock = Clock::simulated();
    let replay = Recording::open(folder)?.play(&clock, ids);
    Ok(Opened { clock, surface: Kind::Seen(Box::new(replay)) })
}

#[cfg(feature = "x11")]
fn open_x11(window: Option<&str>) -> Result<Opened> {
    use crate::surface::x11::{Target, X11};
    let clock = Clock::system();
    let target = window.map_or(Target::Display, |window| Target::Window(window.to_owned()));
    let surface = Kind::Driven(Box::new(X11::open(None, &target, &clock)?));
    Ok(Opened { clock, surface })
}

#[cfg(not(feature = "x11"))]
fn open_x11(_: Option<&str>) -> Result<Opened> {
    Err(Error::surface("this build has no x11: build it with --features x11"))
}

#[cfg(feature = "screen")]
fn open_screen(name: &SurfaceName) -> Result<Opened> {
    use crate::surface::screen::{Screen, Target};
    let clock = Clock::system();
    let target = match name {
        SurfaceName::ScreenMonitor(monitor) => Target::Monitor(monitor.clone()),
        SurfaceName::ScreenWindow(window) => Target::Window(window.clone()),
        _ => Target::Primary,
    };
    let surface = Kind::Seen(Box::new(Screen::open(&target, &clock)?));
    Ok(Opened { clock, surface })
}

#[cfg(not(feature = "screen"))]
fn open_screen(_: &SurfaceName) -> Result<Opened> {
    Err(Error::surface("this build has no screen: build it with --features screen"))
}

#[cfg(feature = "browser")]
fn open_browser(address: &str, options: &PageArgs, cancel: &Cancel) -> Result<Opened> {
    use crate::surface::browser::Page;
    let clock = Clock::system();
    let page = match address.starts_with("ws://") || address.starts_with("wss://") {
        true => Page::attach(address, &clock)?,
        false => Page::open_unless(address, &options.options()?, &clock, cancel)?,
    };
    Ok(Opened { clock, surface: Kind::Driven(Box::new(page)) })
}

#[cfg(not(feature = "browser"))]
fn open_browser(_: &str, _: &PageArgs, _: &Cancel) -> Result<Opened> {
    Err(Error::surface("this build has no browser: build it with --features browser"))
}

fn open_demo(clock: Clock) -> Result<Opened> {
    let surface = Kind::Driven(Box::new(crate::surface::demo::Demo::new(clock.clone())));
    Ok(Opened { clock, surface })
}

impl fmt::Display for SurfaceName {
    /// As it is given.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::X11 => f.write_str("x11"),
            Self::X11Window(window) => write!(f, "x11:window={window}"),
            Self::Screen => f.write_str("screen"),
            Self::ScreenMonitor(monitor) => write!(f, "screen:monitor={monitor}"),
            Self::ScreenWindow(window) => write!(f, "screen:window={window}"),
            Self::Browser(address, _) => write!(f, "browser:{address}"),
            Self::Replay(folder) => write!(f, "replay:{}", folder.display()),
            Self::Demo => f.write_str("demo"),
            Self::DemoLive => f.write_str("demo:live"),
        }
    }
}

impl FromStr for SurfaceName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once(':') {
            None if text == "x11" => Ok(Self::X11),
            None if text == "demo" => Ok(Self::Demo),
            Some(("demo", "live")) => Ok(Self::DemoLive),
            Some(("x11", rest)) => match rest.strip_prefix("window=") {
                Some(window) if !window.is_empty() => Ok(Self::X11Window(window.to_owned())),
                _ => Err(unknown(text)),
            },
            None if text == "screen" => Ok(Self::Screen),
            Some(("screen", rest)) => match rest.split_once('=') {
                Some(("monitor", one)) if !one.is_empty() => {
                    Ok(Self::ScreenMonitor(one.to_owned()))
                }
                Some(("window", one)) if !one.is_empty() => Ok(Self::ScreenWindow(one.to_owned())),
                _ => Err(unknown(text)),
            },
            Some(("browser", address)) if !address.is_empty() => Ok(Self::page(address)),
            Some(("replay", folder)) if !folder.is_empty() => Ok(Self::Replay(folder.into())),
            _ => Err(unknown(text)),
        }
    }
}

fn unknown(text: &str) -> Error {
    Error::usage(format!(
        "surface '{text}' is unknown to this build: use x11, x11:window=TITLE-OR-ID, \
         browser:URL, browser:ws://…, screen, screen:monitor=NAME-OR-INDEX, \
         screen:window=TITLE-OR-ID, replay:DIR, demo or demo:live"
    ))
}
