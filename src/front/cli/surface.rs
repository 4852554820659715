//! Surfaces by name, opened on the clock that suits them.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::act::Surface;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::surface::replay::{FrameIds, Recording};
use crate::wait::Source;

/// What `--surface` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SurfaceName {
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
    /// A recorded timeline.
    Replay(PathBuf),
    /// The simulated application.
    Demo,
}

/// A surface and the clock it runs on: a real one's own, a recording's or a simulation's that
/// jumps.
pub(super) struct Opened {
    pub(super) clock: Clock,
    surface: Kind,
}

enum Kind {
    /// Can be looked at.
    Seen(Box<dyn Source>),
    /// Can also be acted on.
    Driven(Box<dyn Surface>),
}

impl SurfaceName {
    /// Opens the surface.
    pub(super) fn open(&self) -> Result<Opened> {
        self.open_with(FrameIds::EachLook)
    }

    /// Opens the surface; a recording hands out frames with these ids.
    pub(super) fn open_with(&self, ids: FrameIds) -> Result<Opened> {
        match self {
            Self::X11 => open_x11(None),
            Self::X11Window(window) => open_x11(Some(window.as_str())),
            Self::Screen | Self::ScreenMonitor(_) | Self::ScreenWindow(_) => open_screen(self),
            Self::Demo => open_demo(),
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
    pub(super) fn driven(&mut self) -> Result<&mut dyn Surface> {
        match &mut self.surface {
            Kind::Driven(surface) => Ok(&mut **surface),
            Kind::Seen(_) => Err(Error::usage(
                "replay and screen take no input: use --surface x11, x11:window=TITLE-OR-ID or demo",
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

fn open_demo() -> Result<Opened> {
    let clock = Clock::simulated();
    let surface = Kind::Driven(Box::new(crate::surface::demo::Demo::new(clock.clone())));
    Ok(Opened { clock, surface })
}

impl FromStr for SurfaceName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once(':') {
            None if text == "x11" => Ok(Self::X11),
            None if text == "demo" => Ok(Self::Demo),
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
            Some(("replay", folder)) if !folder.is_empty() => Ok(Self::Replay(folder.into())),
            _ => Err(unknown(text)),
        }
    }
}

fn unknown(text: &str) -> Error {
    Error::usage(format!(
        "surface '{text}' is unknown to this build: use x11, x11:window=TITLE-OR-ID, screen, \
         screen:monitor=NAME-OR-INDEX, screen:window=TITLE-OR-ID, replay:DIR or demo"
    ))
}
