//! A simulated application drawn in software: the whole loop without a display.
//!
//! A small window of notes with what makes waiting hard on a real screen: a caret that blinks, a
//! button that answers late, a spinner, a message that comes and goes, rows that can be dragged.
//! What it shows is a function of the events sent and of the clock, so on a
//! [`Clock::simulated`](crate::Clock::simulated) it is the same every time.

mod app;
mod draw;
mod field;
mod keyboard;
mod layout;
mod text;

use std::time::Duration;

use embedded_graphics::geometry::Point as EgPoint;

use crate::act::{Button, Driver, Held, InputEvent, KeyCode, Stroke, Wheel};
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::frame::{BYTES_PER_PIXEL, Frame, PixelFormat};
use crate::geometry::{Point, Rect, Size};
use crate::wait::{Capture, Geometry, Source};

use app::{App, Modifiers, Moment};

/// The simulated application as a surface.
///
/// ```
/// use std::time::Duration;
/// use seechange::surface::demo::Demo;
/// use seechange::wait::{Capture, Source as _};
/// use seechange::{Clock, Frame, PixelFormat, Size};
/// let clock = Clock::simulated();
/// let mut demo = Demo::new(clock.clone());
/// let size = demo.geometry()?.size;
/// assert_eq!(size, Size::new(640, 400)?);
/// let mut frame = Frame::filled(size, PixelFormat::Bgrx, [0, 0, 0, 255]);
/// let give_up = Duration::from_secs(1);
/// assert_eq!(demo.capture(None, give_up, &mut frame)?, Capture::Taken { id: 1 });
/// # Ok::<(), seechange::Error>(())
/// ```
#[derive(Debug)]
pub struct Demo {
    clock: Clock,
    scale: u32,
    app: App,
    held: Held,
    window: Frame,
    /// What `window` shows.
    drawn: Option<(u64, Moment)>,
    captures: u64,
}

impl Demo {
    /// The application as it starts: five notes, nothing focused. It lives by `clock`.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        let window = Frame::filled(window_size(1), PixelFormat::Bgrx, [0, 0, 0, u8::MAX]);
        let held = Held::default();
        Self { clock, scale: 1, app: App::new(), held, window, drawn: None, captures: 0 }
    }

    /// The same on a high-density display: two frame pixels for one of the user interface.
    #[must_use]
    pub const fn doubled(mut self) -> Self {
        self.scale = 2;
        self
    }

    /// Brings `window` up to date.
    fn draw(&mut self) {
        let now = self.clock.now();
        self.app.advance(now);
        let look = (self.app.revision, self.app.moment(now));
        if self.drawn != Some(look) {
            draw::draw(&self.app, look.1, &mut self.window);
            self.drawn = Some(look);
        }
    }

    fn key(&mut self, code: KeyCode, down: bool) -> Result<()> {
        let name = keyboard::name_of(code)
            .ok_or_else(|| Error::usage(format!("this keyboard has no key {}", code.0)))?;
        hold(&mut self.held.keys, code, down);
        if down {
            let modifiers = self.modifiers();
            let typed = keyboard::typed(code, modifiers.shift);
            self.app.key_pressed(name, typed, modifiers, self.clock.now());
        }
        Ok(())
    }

    fn button(&mut self, button: Button, down: bool) {
        hold(&mut self.held.buttons, button, down);
        let now = self.clock.now();
        match (button, down) {
            (Button::Left, true) => self.app.left_pressed(self.modifiers(), now),
            (Button::Left, false) => self.app.left_released(now),
            (Button::Right, true) => self.app.right_pressed(),
            (Button::Right, false) | (Button::Middle, _) => {}
        }
    }

    fn modifiers(&self) -> Modifiers {
        let is_down =
            |name| keyboard::named_key(name).is_some_and(|code| self.held.keys.contains(&code));
        Modifiers { shift: is_down(keyboard::SHIFT), ctrl: is_down(keyboard::CTRL) }
    }
}

impl Source for Demo {
    fn geometry(&mut self) -> Result<Geometry> {
        let scale = if self.scale == 2 { 2.0 } else { 1.0 };
        Ok(Geometry { size: window_size(self.scale), scale, origin: (0, 0) })
    }

    fn capture(
        &mut self,
        region: Option<Rect>,
        _give_up: Duration,
        frame: &mut Frame,
    ) -> Result<Capture> {
        let size = window_size(self.scale);
        let region = region.unwrap_or(size.rect());
        if !size.rect().contains_rect(region) {
            return Ok(Capture::Resized);
        }
        self.draw();
        if self.scale == 1 {
            frame.copy_from(self.window.as_ref().crop(region)?);
        } else {
            copy_enlarged(&self.window, self.scale, region, frame);
        }
        self.captures += 1;
        Ok(Capture::Taken { id: self.captures })
    }
}

impl Driver for Demo {
    fn route(&self) -> &'static str {
        "demo"
    }

    fn held(&mut self) -> Result<Held> {
        Ok(self.held.clone())
    }

    fn key_named(&mut self, name: &str) -> Result<Option<KeyCode>> {
        Ok(keyboard::named_key(name))
    }

    fn key_name(&mut self, code: KeyCode) -> String {
        keyboard::name_of(code).map_or_else(|| format!("key {}", code.0), str::to_owned)
    }

    fn strokes_for(&mut self, character: char) -> Result<Option<Vec<Stroke>>> {
        let shift = keyboard::named_key(keyboard::SHIFT);
        let stroke = |(key, needs_shift)| Stroke {
            modifiers: shift.filter(|_| needs_shift).into_iter().collect(),
            key,
        };
        Ok(keyboard::key_typing(character).map(|typing| vec![stroke(typing)]))
    }

    fn send(&mut self, event: InputEvent) -> Result<()> {
        self.app.advance(self.clock.now());
        match event {
            InputEvent::Move(to) => {
                let size = window_size(self.scale);
                if !size.rect().contains(to) {
                    return Err(Error::usage(format!("point {to} is outside the {size} window")));
                }
                self.app.pointer_moved(at_scale_1(to, self.scale));
            }
            InputEvent::Button { button, down } => self.button(button, down),
            InputEvent::Key { code, down } => self.key(code, down)?,
            InputEvent::Wheel(Wheel::Up) => self.app.wheel(false),
            InputEvent::Wheel(Wheel::Down) => self.app.wheel(true),
            InputEvent::Wheel(Wheel::Left | Wheel::Right) => {}
        }
        Ok(())
    }
}

/// The window's size in frame pixels.
fn window_size(scale: u32) -> Size {
    let at_scale_1 = layout::WINDOW.size;
    Size::new(at_scale_1.width * scale, at_scale_1.height * scale)
        .expect("a small window at scale 1 or 2 has a size")
}

fn at_scale_1(point: Point, scale: u32) -> EgPoint {
    EgPoint::new((point.x / scale).cast_signed(), (point.y / scale).cast_signed())
}

/// Notes that something is held, once, or no longer.
fn hold<T: PartialEq>(held: &mut Vec<T>, what: T, down: bool) {
    held.retain(|other| *other != what);
    if down {
        held.push(what);
    }
}

/// Copies `region`, in pixels of the enlarged window, into `frame`.
fn copy_enlarged(window: &Frame, scale: u32, region: Rect, frame: &mut Frame) {
    frame.reshape(region.size(), window.format());
    let row_bytes = region.width() as usize * BYTES_PER_PIXEL;
    let window = window.as_ref();
    for (to, y) in frame.data_mut().chunks_exact_mut(row_bytes).zip(region.y()..) {
        let row = window.row(y / scale);
        for (pixel, x) in to.chunks_exact_mut(BYTES_PER_PIXEL).zip(region.x()..) {
            let from = (x / scale) as usize * BYTES_PER_PIXEL;
            pixel.copy_from_slice(&row[from..from + BYTES_PER_PIXEL]);
        }
    }
}

#[cfg(test)]
mod tests;
