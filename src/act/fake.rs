//! A surface for tests: records every event, shows it, and can go wrong at any of them.

use std::time::Duration;

use crate::clock::{Cancel, Clock};
use crate::error::{Error, Result};
use crate::frame::{Frame, PixelFormat};
use crate::geometry::{Point, Rect, Size};
use crate::wait::{Capture, Geometry, Source};

use super::document::Document;
use super::driver::{Button, Clipboard, Driver, Focus, Held, InputEvent, KeyCode, Loan, Stroke};
use super::fake_page::FakePage;
use super::policy::{Access, Policy};

/// What goes wrong.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// The event is not accepted.
    Refuses,
    /// The event arrives and the answer is an error.
    LosesTheAnswer,
    /// The call takes a minute and then succeeds.
    HangsAndAccepts,
    /// The call takes a minute and then fails.
    HangsAndFails,
    /// This call and every later one fails.
    Dies,
    /// From this call on no release is accepted.
    Sticks,
    /// The call panics.
    Panics,
    /// The event arrives, and then the action is cancelled.
    Cancels(Cancel),
    /// The event arrives, and then somebody presses a key.
    Joins(KeyCode),
    /// The event arrives, and what was held before it is told as held for so long after.
    ShowsLate(Duration),
    /// The event arrives, and then another policy is in force.
    Revokes(Access, Box<Policy>),
}

/// A surface that turns black where something is pressed.
pub(crate) struct Fake {
    pub(crate) clock: Clock,
    pub(crate) geometry: Geometry,
    pub(crate) held: Held,
    /// Events that arrived.
    pub(crate) events: Vec<InputEvent>,
    /// What goes wrong, and at which event from now on (the first is 0).
    pub(crate) fault: Option<(usize, Fault)>,
    /// When what is held now comes up.
    pub(crate) lifted_at: Option<Duration>,
    /// Characters that have no key.
    pub(crate) untypable: &'static str,
    /// How many keys can be lent at a time.
    pub(crate) spare: usize,
    /// Keys that are lent.
    pub(crate) lent: Vec<Loan>,
    /// What was typed, by what each key meant when it went down.
    pub(crate) typed: String,
    /// How often keys were lent.
    pub(crate) lendings: usize,
    /// What is on the clipboard, and what was there before a text was offered.
    pub(crate) clipboard: String,
    pub(crate) kept: Option<String>,
    /// Whether it has a clipboard, and takes what is pasted.
    pub(crate) has_clipboard: bool,
    pub(crate) takes_text: bool,
    /// Who gets the keys; after so many more events somebody else does.
    pub(crate) focus_stays_for: usize,
    /// Whether the surface has them to begin with.
    pub(crate) has_focus: bool,
    /// Who else is sending input.
    pub(crate) owner: Option<&'static str>,
    pub(crate) captures: u64,
    /// How long the call takes for every fourth event.
    pub(crate) every_fourth_takes: Duration,
    /// The titles of its windows, left to right, each as wide; the last pressed has the focus.
    pub(crate) windows: Vec<&'static str>,
    pub(super) focused: usize,
    /// The display is gone after so many looks.
    pub(crate) dies_after: Option<u64>,
    /// A part of it that something else covers.
    pub(crate) covered: Option<Rect>,
    /// A box that is black every other half second.
    pub(crate) blinks: Option<Rect>,
    /// Happens once the first frame has been captured.
    pub(crate) after_first_look: fn(&mut Self),
    /// What it knows of its elements, where it does.
    pub(crate) page: Option<FakePage>,
    pub(super) dead: bool,
    pub(super) stuck: bool,
    pub(super) pointer: Point,
    pub(super) frame: Frame,
}

pub(crate) const CTRL: KeyCode = KeyCode(1001);
pub(crate) const SHIFT: KeyCode = KeyCode(1002);
pub(crate) const INSERT: KeyCode = KeyCode(1004);
/// The keys that can be lent begin here.
const FIRST_SPARE: u32 = 2000;

impl Fake {
    pub(crate) fn new(width: u32, height: u32) -> Self {
        let size = Size::new(width, height).unwrap();
        Self {
            clock: Clock::simulated(),
            geometry: Geometry { size, scale: 1.0, origin: (0, 0) },
            held: Held::default(),
            events: Vec::new(),
            fault: None,
            lifted_at: None,
            untypable: "",
            spare: 3,
            lent: Vec::new(),
            typed: String::new(),
            lendings: 0,
            clipboard: "old".to_owned(),
            kept: None,
            has_clipboard: true,
            takes_text: true,
            focus_stays_for: usize::MAX,
            has_focus: true,
            owner: None,
            captures: 0,
            every_fourth_takes: Duration::ZERO,
            windows: Vec::new(),
            focused: 0,
            dies_after: None,
            covered: None,
            blinks: None,
            after_first_look: |_| {},
            page: None,
            dead: false,
            stuck: false,
            pointer: Point::default(),
            frame: Frame::filled(size, PixelFormat::Bgrx, [255; 4]),
        }
    }

    /// Somebody else's click.
    pub(crate) fn click(&mut self, x: u32, y: u32) {
        self.pointer = Point::new(x, y);
        self.draw();
    }

    /// The number of the window at a point, from the left.
    fn window_number(&self, point: Point) -> usize {
        point.x as usize * self.windows.len() / self.geometry.size.width() as usize
    }

    /// Fills a box.
    pub(crate) fn paint(&mut self, rect: Rect, level: u8) {
        let width = self.geometry.size.width();
        for y in rect.y()..rect.bottom() {
            let row = (y * width) as usize * 4;
            let (left, right) = (row + rect.x() as usize * 4, row + rect.right() as usize * 4);
            self.frame.data_mut()[left..right].fill(level);
        }
    }

    /// Which fault is due with this event.
    fn due(&mut self) -> Option<Fault> {
        let (after, fault) = self.fault.take()?;
        if after == 0 {
            return Some(fault);
        }
        self.fault = Some((after - 1, fault));
        None
    }

    fn arrive(&mut self, event: InputEvent) {
        self.events.push(event);
        if self.events.len().is_multiple_of(4) {
            self.clock.sleep(self.every_fourth_takes);
        }
        match event {
            InputEvent::Move(point) => {
                self.pointer = point;
                self.tell_page(point, false);
            }
            InputEvent::Button { button, down } => {
                hold(&mut self.held.buttons, button, down);
                self.focused = self.window_number(self.pointer);
                self.draw();
                if down {
                    self.tell_page(self.pointer, true);
                }
            }
            InputEvent::Key { code, down } => {
                hold(&mut self.held.keys, code, down);
                self.typed.extend(self.meaning(code).filter(|_| down));
            }
            InputEvent::Wheel(_) => self.draw(),
        }
    }

    fn meaning(&self, code: KeyCode) -> Option<char> {
        let lent = self.lent.iter().find(|loan| loan.stroke.key == code);
        let own = || char::from_u32(code.0).filter(|_| code.0 < CTRL.0);
        lent.map(|loan| loan.character).or_else(own)
    }

    /// A black box of up to 12 by 12 pixels around the pointer.
    fn draw(&mut self) {
        let size = self.geometry.size;
        let at = Rect::new(self.pointer.x, self.pointer.y, 1, 1).unwrap().grown(6, size);
        self.paint(at, 0);
    }
}

const fn is_release(event: InputEvent) -> bool {
    matches!(event, InputEvent::Button { down: false, .. } | InputEvent::Key { down: false, .. })
}

fn hold<T: PartialEq>(held: &mut Vec<T>, what: T, down: bool) {
    held.retain(|other| *other != what);
    if down {
        held.push(what);
    }
}

impl Source for Fake {
    fn geometry(&mut self) -> Result<Geometry> {
        Ok(self.geometry)
    }

    fn capture(&mut self, region: Option<Rect>, _: Duration, frame: &mut Frame) -> Result<Capture> {
        if self.dies_after.is_some_and(|looks| self.captures >= looks) {
            return Err(Error::surface("the display is gone"));
        }
        self.catch_up();
        if self.page.as_ref().is_some_and(|page| page.dialog.is_some()) {
            return Ok(Capture::Failed("a dialog is open".to_owned()));
        }
        if let Some(blinks) = self.blinks {
            let is_shown = self.clock.now().as_millis() / 500 % 2 == 1;
            self.paint(blinks, if is_shown { 0 } else { 255 });
        }
        let part = region.unwrap_or(self.geometry.size.rect());
        frame.copy_from(self.frame.as_ref().crop(part)?);
        self.captures += 1;
        if self.captures == 1 {
            (self.after_first_look)(self);
        }
        Ok(Capture::Taken { id: self.captures })
    }
}

impl Driver for Fake {
    fn route(&self) -> &'static str {
        "fake"
    }

    fn held(&mut self) -> Result<Held> {
        if self.dead {
            return Err(Error::surface("the display is gone"));
        }
        if self.lifted_at.is_some_and(|lifted_at| self.clock.now() >= lifted_at) {
            self.held = Held::default();
            self.lifted_at = None;
        }
        Ok(self.held.clone())
    }

    fn key_named(&mut self, name: &str) -> Result<Option<KeyCode>> {
        Ok(match name {
            "ctrl" => Some(CTRL),
            "shift" => Some(SHIFT),
            "alt" => Some(KeyCode(1003)),
            "super" => None,
            "insert" => Some(INSERT),
            _ => Some(KeyCode(name.bytes().map(u32::from).sum())),
        })
    }

    fn key_name(&mut self, code: KeyCode) -> String {
        match code {
            CTRL => "ctrl".to_owned(),
            SHIFT => "shift".to_owned(),
            KeyCode(number) => format!("key {number}"),
        }
    }

    fn strokes_for(&mut self, character: char) -> Result<Option<Vec<Stroke>>> {
        if self.untypable.contains(character) {
            return Ok(None);
        }
        let modifiers = if character.is_ascii_uppercase() { vec![SHIFT] } else { Vec::new() };
        let key = KeyCode(character.to_ascii_lowercase().into());
        Ok(Some(vec![Stroke { modifiers, key }]))
    }

    fn obstacle(&mut self, point: Point) -> Result<Option<String>> {
        let is_covered = self.covered.is_some_and(|covered| covered.contains(point));
        Ok(is_covered.then(|| "a lid covers it".to_owned()))
    }

    fn window_at(&mut self, point: Point) -> Result<Option<String>> {
        Ok(self.windows.get(self.window_number(point)).map(|&title| title.to_owned()))
    }

    fn document(&mut self) -> Option<&mut dyn Document> {
        match self.page {
            Some(_) => Some(self),
            None => None,
        }
    }

    fn window_with_focus(&mut self) -> Result<Option<String>> {
        Ok(self.windows.get(self.focused).map(|&title| title.to_owned()))
    }

    fn loans(&mut self, characters: &[char]) -> Result<Vec<Loan>> {
        let typable = characters.iter().take_while(|character| !character.is_control());
        let codes = (FIRST_SPARE..).take(self.spare).map(KeyCode);
        let stroke = |key| Stroke { modifiers: Vec::new(), key };
        Ok(typable
            .zip(codes)
            .map(|(&character, key)| Loan { character, stroke: stroke(key) })
            .collect())
    }

    /// Goes wrong as an event does, and is one to the fault that is set.
    fn lend_keys(&mut self, loans: &[Loan]) -> Result<()> {
        self.lendings += 1;
        self.call(|fake| fake.lent = loans.to_vec())
    }

    fn return_keys(&mut self) -> Result<()> {
        if self.dead || self.stuck {
            return Err(Error::surface("the keys were not returned"));
        }
        self.lent.clear();
        Ok(())
    }

    fn has_clipboard(&self) -> bool {
        self.has_clipboard
    }

    fn offer_text(&mut self, text: &str) -> Result<()> {
        self.call(|fake| fake.kept = Some(std::mem::replace(&mut fake.clipboard, text.to_owned())))
    }

    fn text_taken(&mut self, until: Duration) -> Result<bool> {
        self.call(|fake| fake.clock.sleep(until.saturating_sub(fake.clock.now())))?;
        if self.takes_text {
            self.typed.push_str(&self.clipboard);
        }
        Ok(self.takes_text)
    }

    fn restore_clipboard(&mut self) -> Result<Clipboard> {
        if self.dead || self.stuck {
            return Err(Error::surface("the clipboard did not answer"));
        }
        if let Some(kept) = self.kept.take() {
            self.clipboard = kept;
        }
        Ok(Clipboard { restored: true, note: None })
    }

    fn focus(&mut self) -> Result<Option<Focus>> {
        if self.dead {
            return Err(Error::surface("the display is gone"));
        }
        let is_surface = self.has_focus;
        let is_first = is_surface && self.events.len() < self.focus_stays_for;
        let (id, name) = if is_first { (1, "the fake") } else { (2, "0x2a \"dialog\"") };
        Ok(Some(Focus { id, name: name.to_owned(), is_surface }))
    }

    fn take_turn(&mut self) -> Result<Option<String>> {
        Ok(self.owner.map(str::to_owned))
    }

    fn send(&mut self, event: InputEvent) -> Result<()> {
        if self.stuck && is_release(event) && !self.dead {
            return Err(Error::surface("the event was not accepted"));
        }
        let sticks = matches!(self.fault, Some((0, Fault::Sticks)));
        if sticks && is_release(event) {
            (self.stuck, self.fault) = (true, None);
            return Err(Error::surface("the event was not accepted"));
        }
        self.call(|fake| fake.arrive(event))
    }
}

impl Fake {
    /// One call of the executor that `happens`, unless it goes wrong.
    fn call(&mut self, happens: impl FnOnce(&mut Self)) -> Result<()> {
        if self.dead {
            return Err(Error::surface("the display is gone"));
        }
        let fault = self.due();
        self.stuck |= matches!(fault, Some(Fault::Sticks));
        let minute = Duration::from_secs(60);
        match fault {
            None | Some(Fault::Sticks) => happens(self),
            Some(Fault::Refuses) => return Err(Error::surface("the event was not accepted")),
            Some(Fault::LosesTheAnswer) => {
                happens(self);
                return Err(Error::surface("no answer came"));
            }
            Some(Fault::HangsAndAccepts) => {
                self.clock.sleep(minute);
                happens(self);
            }
            Some(Fault::HangsAndFails) => {
                self.clock.sleep(minute);
                return Err(Error::surface("no answer came within 60 s"));
            }
            Some(Fault::Dies) => {
                self.dead = true;
                return Err(Error::surface("the display is gone"));
            }
            Some(Fault::Panics) => panic!("the driver is broken"),
            Some(Fault::Cancels(cancel)) => {
                happens(self);
                cancel.cancel();
            }
            Some(Fault::ShowsLate(late)) => {
                let held = self.held.clone();
                happens(self);
                (self.held, self.lifted_at) = (held, Some(self.clock.now() + late));
            }
            Some(Fault::Joins(key)) => {
                happens(self);
                self.held.keys.push(key);
            }
            Some(Fault::Revokes(access, policy)) => {
                happens(self);
                access.set(*policy);
            }
        }
        Ok(())
    }
}

/// Whether every press among `events` is followed by its release.
pub(crate) fn is_balanced(events: &[InputEvent]) -> bool {
    let mut held: Vec<(Option<Button>, Option<KeyCode>)> = Vec::new();
    for event in events {
        match *event {
            InputEvent::Button { button, down } => hold(&mut held, (Some(button), None), down),
            InputEvent::Key { code, down } => hold(&mut held, (None, Some(code)), down),
            InputEvent::Move(_) | InputEvent::Wheel(_) => {}
        }
    }
    held.is_empty()
}
