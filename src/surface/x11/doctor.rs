//! What works on a display, as plain data.

use x11rb::connection::Connection as _;
use x11rb::protocol::{composite, damage, shm, xkb, xtest};

use crate::act::{Button, Held};
use crate::error::{Result, Shown};
use crate::geometry::Size;

use super::link::{Link, Trouble};
use super::windows::Atoms;
use super::{Window, X11, input, loan, turn, windows};

/// What was found out about a display.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Diagnosis {
    /// Its name, such as `:0`.
    pub display: String,
    /// Who made the server.
    pub vendor: String,
    /// The server's release, as its vendor numbers it; [`Diagnosis::server`] spells it out.
    pub release: u32,
    /// Size in pixels.
    pub size: Size,
    /// Bits of a pixel that mean something.
    pub depth: u8,
    /// Why the display's pixels cannot be captured; `None` when they can.
    pub unfit: Option<String>,
    /// Frame pixels for one of the user interface, as `Xft.dpi` says.
    pub scale: f32,
    /// The extensions this surface can use.
    pub extensions: Vec<Extension>,
    /// Whether a capture really goes through shared memory.
    pub shared_memory: bool,
    /// The window manager's name, with what would steer a terminal spelled out.
    pub window_manager: Option<String>,
    /// The programs' windows.
    pub windows: Vec<Window>,
    /// Where the pointer is; `None` while it is on another screen of the display.
    pub pointer: Option<(i32, i32)>,
    /// Whether Caps Lock is on.
    pub caps_lock: bool,
    /// What is pressed now.
    pub held: Held,
    /// The names of what is pressed: buttons as `left button`, then keys.
    pub held_names: Vec<String>,
    /// How many keys a program that was killed left lent to characters of its text.
    pub left_lent: usize,
    /// The program that is sending input now, if there is one: `pid 71 (seechange), for 3.2 s`.
    pub acting: Option<String>,
}

/// An extension of the X server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Extension {
    /// Its name.
    pub name: &'static str,
    /// Whether the server has it.
    pub present: bool,
    /// What it is used for.
    pub purpose: &'static str,
    /// What it means when it is missing, and what to do.
    pub advice: &'static str,
}

impl Diagnosis {
    /// The server's maker and release, for people.
    #[must_use]
    pub fn server(&self) -> String {
        let number = self.release;
        // X.Org packs 1.21.1.7 as 1 21 01 007.
        let release = match self.vendor.contains("X.Org") {
            true => format!(
                "{}.{}.{}.{}",
                number / 10_000_000,
                number / 100_000 % 100,
                number / 1000 % 100,
                number % 1000
            ),
            false => number.to_string(),
        };
        format!("{} {release}", Shown(&self.vendor))
    }

    /// What is missing or in the way, one line each with what to do; empty when all is well.
    #[must_use]
    pub fn findings(&self) -> Vec<String> {
        let missing = self.extensions.iter().filter(|extension| !extension.present);
        let missing =
            missing.map(|extension| format!("no {}: {}", extension.name, extension.advice));
        let mut findings: Vec<String> = self.unfit.iter().cloned().chain(missing).collect();
        let has_shm = self.extensions.iter().any(|each| each.name == SHM && each.present);
        if has_shm && !self.shared_memory {
            findings.push(
                "shared memory is offered but cannot be had: run on the display's own machine"
                    .to_owned(),
            );
        }
        if self.window_manager.is_none() {
            findings.push(
                "no window manager: new windows may get no keyboard focus; start one (openbox &)"
                    .to_owned(),
            );
        }
        if self.caps_lock {
            findings.push("caps lock is on: it is reckoned with, but switch it off".to_owned());
        }
        if !self.held_names.is_empty() {
            let names = self.held_names.join(", ");
            findings.push(format!("{names} held down: seechange doctor --release lets go"));
        }
        if self.left_lent > 0 {
            findings.push(format!(
                "{} still lent to characters of a text that was cut short: the next action makes \
                 them mean nothing again, or seechange doctor --release",
                lent_keys(self.left_lent)
            ));
        }
        findings
    }
}

const SHM: &str = shm::X11_EXTENSION_NAME;

const EXTENSIONS: &[(&str, &str, &str)] = &[
    (
        SHM,
        "captures without copying through the socket",
        "a capture takes ten times as long; run on the display's own machine",
    ),
    (
        xtest::X11_EXTENSION_NAME,
        "input",
        "no input is possible; start the server with +extension XTEST",
    ),
    (
        xkb::X11_EXTENSION_NAME,
        "the keyboard layout",
        "no key can be pressed; start the server with +extension XKEYBOARD",
    ),
    (
        damage::X11_EXTENSION_NAME,
        "being told of changes early",
        "waits notice changes only at their next look; start the server with +extension DAMAGE",
    ),
    (
        composite::X11_EXTENSION_NAME,
        "capturing covered windows",
        "a window's picture shows what covers it; start the server with +extension Composite",
    ),
];

pub(super) fn diagnose(x11: &mut X11) -> Result<Diagnosis> {
    let held = crate::act::Driver::held(x11)?;
    let held_names = names(x11, &held);
    x11.link.soon()?;
    Ok(examine(x11, held, held_names)?)
}

fn examine(x11: &mut X11, held: Held, held_names: Vec<String>) -> Result<Diagnosis, Trouble> {
    let pointer = input::pointer(&x11.link)?;
    let has_keyboard = x11.link.has(xkb::X11_EXTENSION_NAME)?;
    let caps_lock = has_keyboard && x11.keyboard.layout(&x11.link)?.1.caps_lock();
    let shared_memory = x11.grabber.try_sharing(&x11.link)?;
    let (link, atoms) = (&x11.link, &x11.atoms);
    let setup = link.conn.setup();
    Ok(Diagnosis {
        display: link.name().to_owned(),
        vendor: String::from_utf8_lossy(&setup.vendor).into_owned(),
        release: setup.release_number,
        size: windows::size(link, link.root())?,
        depth: link.screen().root_depth,
        unfit: x11.grabber.unfit().map(str::to_owned),
        scale: windows::scale(link)?,
        extensions: extensions(x11)?,
        shared_memory,
        window_manager: windows::manager(link, atoms)?.map(|name| Shown(&name).to_string()),
        windows: windows::list(link, atoms)?,
        pointer: input::place_of(&pointer),
        caps_lock,
        held,
        held_names,
        left_lent: left_lent(link, atoms)?,
        acting: turn::owner(link, atoms)?,
    })
}

/// Those noted as lent while nobody is typing.
pub(super) fn left_lent(link: &Link, atoms: &Atoms) -> Result<usize, Trouble> {
    match turn::owner(link, atoms)? {
        Some(_) => Ok(0),
        None => loan::noted(link, atoms),
    }
}

fn lent_keys(count: usize) -> String {
    if count == 1 { "1 key is".to_owned() } else { format!("{count} keys are") }
}

fn extensions(x11: &X11) -> Result<Vec<Extension>, Trouble> {
    let known = EXTENSIONS.iter();
    known
        .map(|&(name, purpose, advice)| {
            let present = x11.link.has(name)?;
            Ok(Extension { name, present, purpose, advice })
        })
        .collect()
}

/// Names for what is pressed: buttons first, then keys.
pub(super) fn names(x11: &mut X11, held: &Held) -> Vec<String> {
    let buttons = held.buttons.iter().map(|button| match button {
        Button::Left => "left button".to_owned(),
        Button::Middle => "middle button".to_owned(),
        Button::Right => "right button".to_owned(),
    });
    let buttons: Vec<String> = buttons.collect();
    let keys = held.keys.iter().map(|&code| crate::act::Driver::key_name(x11, code));
    buttons.into_iter().chain(keys).collect()
}
