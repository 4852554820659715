//! A real X11 display, or one window of it: captured through shared memory, driven by XTEST.
//!
//! Pure Rust: no C library, no system package. Frames keep the byte order of the server
//! ([`PixelFormat::Bgrx`](crate::PixelFormat)), a region is captured without grabbing the rest,
//! and no call waits for ever, not even on a server that was stopped.
//!
//! A window is redirected with the Composite extension while it is open here, so that what covers
//! it is not in its picture. Without that extension only its visible part is the surface. Menus,
//! tooltips and dialogs are windows of their own: to see them open, look at the whole display.
//!
//! ```no_run
//! use std::time::Duration;
//! use seechange::surface::x11::{Target, X11};
//! use seechange::wait::Source as _;
//! use seechange::{Clock, Frame, PixelFormat, Size};
//!
//! let clock = Clock::system();
//! let mut display = X11::open(None, &Target::Display, &clock)?;
//! let mut frame = Frame::filled(Size::new(1, 1)?, PixelFormat::Bgrx, [0; 4]);
//! display.capture(None, clock.now() + Duration::from_secs(1), &mut frame)?;
//! println!("{}", frame.size());
//! # Ok::<(), seechange::Error>(())
//! ```

mod clipboard;
mod damage;
mod doctor;
mod focus;
mod grab;
mod input;
mod keymap;
mod link;
mod loan;
mod text;
mod turn;
mod windows;

pub use doctor::{Diagnosis, Extension};
pub use windows::Window;

use std::time::Duration;

use x11rb::protocol::xtest;

use crate::act::{self, Driver, Focus, Held, InputEvent, KeyCode, Loan, Stroke};
use crate::clock::{Cancel, Clock};
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::geometry::{Point, Rect};
use crate::wait::{Capture, Geometry, Rest, Source};

use clipboard::Clipboard;
use damage::Watch;
use grab::Grabber;
use input::{Buttons, Keyboard};
use keymap::State;
use link::{Link, Trouble};
use loan::Lending;
use windows::{Atoms, Place};

/// How long a release that was accepted may take to show in the state of the server, and how often
/// that is asked.
const RELEASE_LIMIT: Duration = Duration::from_secs(1);
const RELEASE_POLL: Duration = Duration::from_millis(2);

/// What of a display is captured and driven.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// All of it.
    #[default]
    Display,
    /// One window: by its id, decimal or `0x` and hexadecimal; by its exact title; or by a part
    /// of its title that no other window has.
    Window(String),
}

/// An open display or window: a [`Source`] and a [`Driver`].
pub struct X11 {
    link: Link,
    atoms: Atoms,
    /// The window that is the surface; `None` for the whole display.
    window: Option<Window>,
    clock: Clock,
    grabber: Grabber,
    /// Once somebody asked to be told of damage.
    watch: Option<Watch>,
    keyboard: Keyboard,
    buttons: Buttons,
    has_xtest: bool,
    /// What was released here and not yet seen to be up.
    letting_go: Held,
    lending: Lending,
    focus: focus::Known,
    /// Once something was pasted.
    clipboard: Option<Clipboard>,
}

impl X11 {
    /// Opens `target` on `display` (such as `:0`), or on the display that `DISPLAY` names.
    ///
    /// # Errors
    /// When the display cannot be reached, shows pixels of another layout than 32 bits of blue,
    /// green, red, unused, or has no such window; the message then lists those there are.
    pub fn open(display: Option<&str>, target: &Target, clock: &Clock) -> Result<Self> {
        let x11 = Self::open_blind(display, target, clock)?;
        match x11.grabber.unfit() {
            Some(unfit) => Err(Error::surface(unfit)),
            None => Ok(x11),
        }
    }

    /// Opens `target` also where its pixels cannot be captured, to [diagnose](Self::diagnose) the
    /// display or to [let go](Self::release_all) of what is held on it.
    ///
    /// # Errors
    /// As [`Self::open`], but for the layout of the pixels, which is an error of each capture.
    pub fn open_blind(display: Option<&str>, target: &Target, clock: &Clock) -> Result<Self> {
        let link = Link::connect(display, clock)?;
        link.soon()?;
        let atoms = Atoms::of(&link)?;
        let window = match target {
            Target::Display => None,
            Target::Window(wanted) => windows::find(&link, &atoms, wanted)?,
        };
        let id = window.as_ref().map(|window| window.id);
        if let Some(id) = id {
            // Which screen it is on decides about all the rest.
            windows::place(&link, id)?;
        }
        let grabber = Grabber::open(&link, id)?;
        grabber.wait_for_repaint(&link, clock)?;
        let has_xtest = link.has(xtest::X11_EXTENSION_NAME)?;
        Ok(Self {
            link,
            atoms,
            window,
            clock: clock.clone(),
            grabber,
            watch: None,
            keyboard: Keyboard::default(),
            buttons: Buttons::default(),
            has_xtest,
            letting_go: Held::default(),
            lending: Lending::default(),
            focus: focus::Known::default(),
            clipboard: None,
        })
    }

    /// The window that is the surface, `None` for the whole display.
    #[must_use]
    pub fn window(&self) -> Option<&Window> {
        self.window.as_ref()
    }

    /// The programs' windows with their titles, as the window manager lists them.
    ///
    /// # Errors
    /// When the display does not answer.
    pub fn windows(&mut self) -> Result<Vec<Window>> {
        self.link.soon()?;
        Ok(windows::list(&self.link, &self.atoms)?)
    }

    /// The window the pointer would hit at a pixel of this surface's frame, `None` for the bare
    /// desktop.
    ///
    /// # Errors
    /// When the display does not answer or the surface is gone.
    pub fn window_at(&mut self, point: Point) -> Result<Option<Window>> {
        self.link.soon()?;
        let pixel = self.on_display(point).map_err(|trouble| self.explain(trouble))?;
        Ok(windows::at(&self.link, &self.atoms, pixel)?)
    }

    /// Where the pointer is, in pixels of the display; `None` while it is on another screen of it.
    ///
    /// # Errors
    /// When the display does not answer.
    pub fn pointer(&mut self) -> Result<Option<(i32, i32)>> {
        self.link.soon()?;
        Ok(input::place_of(&input::pointer(&self.link)?))
    }

    /// The names of what is pressed now: buttons as `left button`, then keys.
    ///
    /// # Errors
    /// When the display does not answer.
    pub fn held_names(&mut self) -> Result<Vec<String>> {
        let held = self.held()?;
        Ok(doctor::names(self, &held))
    }

    /// How many keys an action of a program that was killed left lent to characters of its text,
    /// as its note on the display says. While a program is typing they are its own, and in use.
    ///
    /// # Errors
    /// When the display does not answer.
    pub fn keys_left_lent(&mut self) -> Result<usize> {
        self.link.soon()?;
        Ok(doctor::left_lent(&self.link, &self.atoms)?)
    }

    /// Lets go of every key and button that is down, whoever pressed it, and says which they were;
    /// keys that are [left lent](Self::keys_left_lent) mean nothing again.
    ///
    /// # Errors
    /// When the display does not answer, or something is down all the same.
    pub fn release_all(&mut self) -> Result<Held> {
        if self.keys_left_lent()? > 0 {
            loan::reclaim(&self.link, &self.atoms)?;
        }
        let held = self.held()?;
        let buttons = held.buttons.iter().map(|&button| InputEvent::Button { button, down: false });
        let keys = held.keys.iter().map(|&code| InputEvent::Key { code, down: false });
        // One that fails must not keep the others down; what is down in the end decides.
        let mut trouble = None;
        for release in buttons.chain(keys) {
            trouble = trouble.or(self.send(release).err());
        }
        let still = self.held()?;
        if !still.is_empty() {
            let names = doctor::names(self, &still).join(", ");
            let told = trouble.map_or_else(String::new, |error| format!(" ({error})"));
            return Err(Error::surface(format!(
                "{names} is still down after its release: is it held on the real device, or does a \
                 program keep the input frozen, such as a window manager that hangs?{told}"
            )));
        }
        Ok(held)
    }

    /// Examines what works on this display.
    ///
    /// # Errors
    /// When the display does not answer.
    pub fn diagnose(&mut self) -> Result<Diagnosis> {
        doctor::diagnose(self)
    }

    /// The drawable whose geometry is the surface's.
    fn drawable(&self) -> u32 {
        self.window.as_ref().map_or(self.link.root(), |window| window.id)
    }

    /// A frame pixel in pixels of the display, where it still lies on it.
    fn on_display(&self, point: Point) -> Result<(i16, i16), Trouble> {
        let place = self.place()?;
        let display = windows::size(&self.link, self.link.root())?;
        place.pixel(point, display).ok_or_else(|| {
            let surface = self.described();
            let message = format!("point {point} of {surface} lies off the {display} display");
            Error::surface(message).into()
        })
    }

    fn grab(&mut self, region: Option<Rect>, frame: &mut Frame) -> Result<Capture, Trouble> {
        if let Some(watch) = &mut self.watch {
            watch.arm(&self.link)?;
        }
        let capture = self.grabber.grab(&self.link, region, frame)?;
        if let (Some(watch), Capture::Taken { .. }) = (&mut self.watch, &capture) {
            watch.picture_taken();
        }
        Ok(capture)
    }

    fn find_obstacle(&self, window: u32, point: Point) -> Result<Option<String>, Trouble> {
        let display = windows::size(&self.link, self.link.root())?;
        let Some(pixel) = self.place()?.pixel(point, display) else {
            return Ok(Some(format!("it lies off the {display} display; move the window back")));
        };
        let hit = windows::at(&self.link, &self.atoms, pixel)?;
        let what = match hit {
            Some(hit) if windows::share_a_frame(&self.link, hit.id, window)? => return Ok(None),
            Some(hit) => hit.to_string(),
            // The window itself is not where the pointer could meet it.
            None => return Ok(Some("the window is not shown; restore it first".to_owned())),
        };
        Ok(Some(format!(
            "{what} covers it; move or close that window, or act on the whole display"
        )))
    }

    /// Asked also while an action is planned: what cannot be sent is known before its first event.
    fn takes_input(&self) -> Result<()> {
        match self.has_xtest {
            true => Ok(()),
            false => Err(Error::surface(
                "this display has no XTEST extension to take input: start its server with it \
                 (+extension XTEST)",
            )),
        }
    }

    fn place(&self) -> Result<Place, Trouble> {
        let place = windows::place(&self.link, self.drawable())?;
        if self.grabber.sees_all() { Ok(place) } else { place.visible(&self.link) }
    }

    /// Trouble told as what became of the surface.
    fn explain(&self, trouble: Trouble) -> Error {
        if self.lost(&trouble) {
            return Error::surface(format!("the window is gone: {}", self.described()));
        }
        trouble.into()
    }

    fn lost(&self, trouble: &Trouble) -> bool {
        self.window.as_ref().is_some_and(|window| trouble.is_missing(window.id))
    }

    fn described(&self) -> String {
        match &self.window {
            Some(window) => window.to_string(),
            None => format!("display {}", self.link.name()),
        }
    }
}

impl Source for X11 {
    fn geometry(&mut self) -> Result<Geometry> {
        let place = self.link.soon().and_then(|()| self.place());
        let place = place.map_err(|trouble| self.explain(trouble))?;
        self.grabber.expect(place.size);
        let scale = windows::scale(&self.link)?;
        Ok(Geometry { size: place.size, scale, origin: place.origin })
    }

    fn capture(
        &mut self,
        region: Option<Rect>,
        give_up: Duration,
        frame: &mut Frame,
    ) -> Result<Capture> {
        let taken = self.link.until_or_cancelled(give_up).and_then(|()| self.grab(region, frame));
        match taken {
            Ok(capture) => Ok(capture),
            Err(Trouble::Stalled) => Ok(Capture::Stalled),
            Err(trouble @ Trouble::Refused(_)) if !self.lost(&trouble) => {
                Ok(Capture::Failed(trouble.text()))
            }
            Err(trouble) => Err(self.explain(trouble)),
        }
    }

    fn heed(&mut self, cancel: &Cancel) {
        self.link.heed(cancel);
    }

    /// With the DAMAGE extension; for a window only where it has a picture of its own.
    fn watch_damage(&mut self) -> Result<bool> {
        if let (None, Some(drawable)) = (&self.watch, self.grabber.damaged_drawable()) {
            let watch = self.link.soon().and_then(|()| Watch::start(&self.link, drawable));
            self.watch = watch.map_err(|trouble| self.explain(trouble))?;
        }
        Ok(self.watch.is_some())
    }

    fn rest(
        &mut self,
        until: Duration,
        concerns: &dyn Fn(Rect) -> bool,
        clock: &Clock,
        cancel: &Cancel,
    ) -> Result<Rest> {
        let rested = match &self.watch {
            Some(watch) => watch.rest(&self.link, until, concerns, clock, cancel),
            None if clock.sleep_until(until, cancel) => Ok(Rest::Elapsed),
            None => Ok(Rest::Cancelled),
        };
        rested.map_err(|trouble| self.explain(trouble))
    }
}

impl Driver for X11 {
    fn route(&self) -> &'static str {
        "xtest"
    }

    /// A window manager that looks at each click first freezes the pointer meanwhile: a release
    /// is accepted at once and takes effect when it lets go. So what was released here gets a
    /// moment to come up before it is said to be down.
    fn held(&mut self) -> Result<Held> {
        self.link.soon()?;
        let patient_until = self.clock.now() + RELEASE_LIMIT;
        loop {
            let held = input::held(&self.link)?;
            if !is_any_of(&held, &self.letting_go) {
                self.letting_go = Held::default();
                return Ok(held);
            }
            if self.clock.now() >= patient_until {
                return Ok(held);
            }
            self.clock.sleep(RELEASE_POLL);
        }
    }

    fn key_named(&mut self, name: &str) -> Result<Option<KeyCode>> {
        self.takes_input()?;
        self.link.soon()?;
        let (map, state) = self.keyboard.layout(&self.link)?;
        Ok(map.named(name, state))
    }

    fn key_name(&mut self, code: KeyCode) -> String {
        if self.link.is_silent() {
            let known = self.keyboard.known();
            return known
                .map_or_else(|| keymap::number(code), |map| map.name(code, State::default()));
        }
        let layout = self.link.soon().and_then(|()| self.keyboard.layout(&self.link));
        layout.map_or_else(|_| keymap::number(code), |(map, state)| map.name(code, state))
    }

    fn strokes_for(&mut self, character: char) -> Result<Option<Vec<Stroke>>> {
        self.takes_input()?;
        self.link.soon()?;
        let (map, state) = self.keyboard.layout(&self.link)?;
        Ok(map.strokes(character, state))
    }

    fn loans(&mut self, characters: &[char]) -> Result<Vec<Loan>> {
        self.takes_input()?;
        self.link.soon()?;
        let (map, state) = self.keyboard.layout(&self.link)?;
        Ok(map.loans(characters, state))
    }

    fn lend_keys(&mut self, loans: &[Loan]) -> Result<()> {
        self.link.soon()?;
        Ok(self.lending.lend(&self.link, &self.atoms, loans)?)
    }

    /// To a display that does not answer it is left, and takes effect when it runs again; that it
    /// did cannot be said.
    fn return_keys(&mut self) -> Result<()> {
        if !self.lending.is_empty() && self.link.is_silent() {
            self.lending.leave(&self.link, &self.atoms)?;
            return Err(Trouble::Stalled.into());
        }
        self.link.soon()?;
        Ok(self.lending.take_back(&self.link, &self.atoms)?)
    }

    fn has_clipboard(&self) -> bool {
        true
    }

    fn offer_text(&mut self, text: &str) -> Result<()> {
        self.link.soon()?;
        let clipboard = match self.clipboard.take() {
            Some(clipboard) => clipboard,
            None => Clipboard::start(self.link.name(), &self.clock)?,
        };
        self.clipboard.insert(clipboard).offer(&self.link, &self.atoms, text)
    }

    fn text_taken(&mut self, until: Duration) -> Result<bool> {
        let limit = until.saturating_sub(self.clock.now());
        self.clipboard.as_mut().map_or(Ok(false), |clipboard| clipboard.is_taken(limit))
    }

    fn restore_clipboard(&mut self) -> Result<act::Clipboard> {
        match &mut self.clipboard {
            Some(clipboard) => clipboard.restore(),
            None => Ok(act::Clipboard { restored: true, note: None }),
        }
    }

    fn focus(&mut self) -> Result<Option<Focus>> {
        self.link.soon()?;
        let surface = self.window.as_ref().map(|window| window.id);
        let focus = self.focus.ask(&self.link, &self.atoms, surface);
        Ok(Some(focus.map_err(|trouble| self.explain(trouble))?))
    }

    /// What a process that was killed left lent is taken back here: nobody else is typing with it.
    fn take_turn(&mut self) -> Result<Option<String>> {
        self.link.soon()?;
        let owner = turn::take(&self.link, &self.atoms)?;
        if owner.is_none() {
            loan::reclaim(&self.link, &self.atoms)?;
        }
        Ok(owner)
    }

    fn end_turn(&mut self) -> Result<()> {
        self.link.soon()?;
        Ok(turn::end(&self.link, &self.atoms)?)
    }

    /// A window's picture shows it whole; the pointer meets what is on the screen.
    fn obstacle(&mut self, point: Point) -> Result<Option<String>> {
        self.takes_input()?;
        let Some(window) = &self.window else { return Ok(None) };
        let found = self.link.soon().and_then(|()| self.find_obstacle(window.id, point));
        found.map_err(|trouble| self.explain(trouble))
    }

    /// Empty where the desktop itself lies bare.
    fn window_at(&mut self, point: Point) -> Result<Option<String>> {
        let found = self.link.soon().and_then(|()| {
            let pixel = self.on_display(point)?;
            windows::at(&self.link, &self.atoms, pixel)
        });
        let window = found.map_err(|trouble| self.explain(trouble))?;
        Ok(Some(window.map(|window| window.title).unwrap_or_default()))
    }

    fn window_with_focus(&mut self) -> Result<Option<String>> {
        let found = self.link.soon().and_then(|()| focus::window(&self.link, &self.atoms));
        let window = found.map_err(|trouble| self.explain(trouble))?;
        Ok(Some(window.map(|window| window.title).unwrap_or_default()))
    }

    /// The release of what was pressed here is sent even to a display that does not answer, and
    /// takes effect when it runs again; that it was accepted cannot be said.
    fn pointer_at(&mut self) -> Result<Option<(i32, i32)>> {
        let (left, top) = self.geometry()?.origin;
        Ok(self.pointer()?.map(|(x, y)| (x - left, y - top)))
    }

    fn send(&mut self, event: InputEvent) -> Result<()> {
        if is_release(event) && self.link.is_silent() {
            input::leave_release(&self.link, &self.buttons, event)?;
            return Err(Trouble::Stalled.into());
        }
        self.link.soon()?;
        self.takes_input()?;
        let sent = match event {
            InputEvent::Move(point) => {
                self.on_display(point).and_then(|(x, y)| input::move_to(&self.link, x, y))
            }
            InputEvent::Button { button, down: true } => self.buttons.press(&self.link, button),
            InputEvent::Button { button, down: false } => self.buttons.release(&self.link, button),
            InputEvent::Key { code, down } => input::key(&self.link, code, down),
            InputEvent::Wheel(wheel) => input::wheel(&self.link, wheel),
        };
        sent.map_err(|trouble| self.explain(trouble))?;
        if let InputEvent::Key { .. } = event {
            self.lending.note_typed(&self.link);
        }
        note_release(&mut self.letting_go, event);
        Ok(())
    }
}

const fn is_release(event: InputEvent) -> bool {
    matches!(event, InputEvent::Key { down: false, .. } | InputEvent::Button { down: false, .. })
}

/// Keeps account of what is on its way up.
fn note_release(letting_go: &mut Held, event: InputEvent) {
    match event {
        InputEvent::Key { code, down } => {
            letting_go.keys.retain(|&known| known != code);
            letting_go.keys.extend((!down).then_some(code));
        }
        InputEvent::Button { button, down } => {
            letting_go.buttons.retain(|&known| known != button);
            letting_go.buttons.extend((!down).then_some(button));
        }
        InputEvent::Move(_) | InputEvent::Wheel(_) => {}
    }
}

fn is_any_of(held: &Held, others: &Held) -> bool {
    held.keys.iter().any(|key| others.keys.contains(key))
        || held.buttons.iter().any(|button| others.buttons.contains(button))
}
