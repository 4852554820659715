//! A monitor or a window of this machine, looked at through the `xcap` crate: X11, Wayland, Windows
//! and macOS. It takes no input and tells no damage.
//!
//! A capture is always of the whole; a region is cut out of it. It runs on a thread of its own, so
//! that one that hangs is given up in time. Pictures have the pixels the system hands out, which on
//! a scaled display are more than the points it counts in. Under X11 a window manager must list the
//! windows for one to be found, and a window is shown as covered.
//!
//! ```no_run
//! use std::time::Duration;
//! use seechange::surface::screen::{Screen, Target};
//! use seechange::wait::{Condition, WaitOptions, wait};
//! use seechange::{Cancel, Clock};
//!
//! let clock = Clock::system();
//! let mut screen = Screen::open(&Target::Primary, &clock)?;
//! let options = WaitOptions::new().timeout(Duration::from_secs(5));
//! let outcome = wait(&mut screen, &Condition::stable(), &options, &clock, &Cancel::never())?;
//! println!("{}", outcome.sentence());
//! # Ok::<(), seechange::Error>(())
//! ```

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use xcap::{Monitor, Window, XCapResult};

use crate::clock::{Cancel, Clock};
use crate::error::{Error, Result, Shown};
use crate::frame::{Frame, PixelFormat};
use crate::geometry::{Rect, Size};
use crate::wait::{Capture, Geometry, Source};

/// How long it may take to notice that a capture was cancelled.
const CANCEL_NOTICE: Duration = Duration::from_millis(100);

/// How long the first picture, or one asked for its size alone, may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What of the machine's screens is captured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// The primary monitor, or the first where none is.
    #[default]
    Primary,
    /// One monitor: by its name, or by its place in the list, counted from 0.
    Monitor(String),
    /// One window: by its id, decimal or `0x` and hexadecimal; by its exact title; or by a part of
    /// its title that no other window has. One without a title goes by its program's name.
    Window(String),
}

/// An open monitor or window: a [`Source`].
pub struct Screen {
    clock: Clock,
    requests: Sender<u64>,
    answers: Receiver<(u64, Answer)>,
    /// The number of the last request.
    asked: u64,
    /// The size the caller knows of.
    size: Size,
    /// Ends a capture that takes long.
    cancel: Cancel,
}

/// What came of one request.
enum Answer {
    Shot(Shot),
    /// It may come again.
    Failed(String),
    Gone(Error),
}

/// A picture, and where it was taken.
struct Shot {
    frame: Frame,
    scale: f32,
    origin: (i32, i32),
}

impl Screen {
    /// Opens `target`.
    ///
    /// # Errors
    /// When no screen can be captured, or there is no such monitor or window; the message then
    /// lists those there are.
    pub fn open(target: &Target, clock: &Clock) -> Result<Self> {
        let (requests, wanted) = channel();
        let (told, answers) = channel();
        let target = target.clone();
        // Opened there: what the system hands out need not be fit to be sent to another thread.
        let worker = move || match Subject::find(&target) {
            Ok(subject) => serve(&subject, &wanted, &told),
            // Nobody listens any more when it took too long.
            Err(error) => drop(told.send((1, Answer::Gone(error)))),
        };
        thread::Builder::new()
            .name("seechange-screen".to_owned())
            .spawn(worker)
            .map_err(|error| Error::surface("no thread for captures").with_source(error))?;
        let size = Size::new(1, 1)?;
        let mut screen = Self {
            clock: clock.clone(),
            requests,
            answers,
            asked: 0,
            size,
            cancel: Cancel::never(),
        };
        screen.geometry()?;
        Ok(screen)
    }

    /// A picture asked for now; `None` when it did not come in time.
    fn ask(&mut self, give_up: Duration) -> Result<Option<Answer>> {
        self.ask_unless(&Cancel::never(), give_up)
    }

    /// The same, given up when `cancel` is thrown.
    fn ask_unless(&mut self, cancel: &Cancel, give_up: Duration) -> Result<Option<Answer>> {
        self.asked += 1;
        // A thread that has ended says why in its last answer.
        let is_asked = self.requests.send(self.asked).is_ok();
        loop {
            let left = give_up.saturating_sub(self.clock.now());
            match self.answers.recv_timeout(left.min(CANCEL_NOTICE)) {
                Ok((number, answer)) if number == self.asked => return Ok(Some(answer)),
                // Of a request that was given up.
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) if is_asked => {
                    if left <= CANCEL_NOTICE || cancel.is_cancelled() {
                        return Ok(None);
                    }
                }
                Err(_) => return Err(Error::surface("the screen cannot be captured any more")),
            }
        }
    }
}

impl Source for Screen {
    /// Takes a picture: only that says how many pixels it has.
    fn geometry(&mut self) -> Result<Geometry> {
        let give_up = self.clock.now().saturating_add(PATIENCE);
        match self.ask(give_up)? {
            Some(Answer::Shot(Shot { frame, scale, origin })) => {
                self.size = frame.size();
                Ok(Geometry { size: self.size, scale, origin })
            }
            Some(Answer::Failed(message)) => Err(Error::surface(message)),
            Some(Answer::Gone(error)) => Err(error),
            None => Err(Error::surface(format!(
                "the screen gave no picture within {} s: is a permission being asked for?",
                PATIENCE.as_secs()
            ))),
        }
    }

    fn capture(
        &mut self,
        region: Option<Rect>,
        give_up: Duration,
        frame: &mut Frame,
    ) -> Result<Capture> {
        let cancel = self.cancel.clone();
        let shot = match self.ask_unless(&cancel, give_up)? {
            Some(Answer::Shot(shot)) => shot.frame,
            Some(Answer::Failed(message)) => return Ok(Capture::Failed(message)),
            Some(Answer::Gone(error)) => return Err(error),
            None => return Ok(Capture::Stalled),
        };
        match region {
            Some(_) if shot.size() != self.size => return Ok(Capture::Resized),
            Some(region) => frame.copy_from(shot.as_ref().crop(region)?),
            None => *frame = shot,
        }
        Ok(Capture::Taken { id: self.asked })
    }

    fn heed(&mut self, cancel: &Cancel) {
        self.cancel = cancel.clone();
    }
}

/// Answers requests until nobody makes any.
fn serve(subject: &Subject, wanted: &Receiver<u64>, told: &Sender<(u64, Answer)>) {
    while let Ok(number) = wanted.recv() {
        if told.send((number, subject.answer())).is_err() {
            return;
        }
    }
}

/// What is captured.
enum Subject {
    Monitor(Monitor),
    Window(Window),
}

impl Subject {
    fn find(target: &Target) -> Result<Self> {
        match target {
            Target::Primary => primary().map(Self::Monitor),
            Target::Monitor(wanted) => monitor(wanted).map(Self::Monitor),
            Target::Window(wanted) => window(wanted).map(Self::Window),
        }
    }

    fn answer(&self) -> Answer {
        match self.shot() {
            Ok(Ok(shot)) => Answer::Shot(shot),
            Ok(Err(error)) => Answer::Gone(error),
            Err(error) if self.is_there() => Answer::Failed(format!("xcap: {}", one_line(error))),
            Err(error) => Answer::Gone(Error::surface(format!("it is gone: {}", one_line(error)))),
        }
    }

    /// A picture; the inner error is of one that is too large.
    fn shot(&self) -> XCapResult<Result<Shot>> {
        let (image, (x, y), width, scale) = match self {
            Self::Monitor(one) => {
                (one.capture_image()?, (one.x()?, one.y()?), one.width()?, one.scale_factor()?)
            }
            Self::Window(one) => {
                let scale = one.current_monitor()?.scale_factor()?;
                (one.capture_image()?, (one.x()?, one.y()?), one.width()?, scale)
            }
        };
        // Places are told in points on some systems and in pixels on others, as the width is.
        let pixels = f64::from(image.width()) / f64::from(width.max(1));
        let origin = (in_pixels(x, pixels), in_pixels(y, pixels));
        let scale = scale.clamp(*Geometry::SCALES.start(), *Geometry::SCALES.end());
        let frame = Size::new(image.width(), image.height())
            .and_then(|size| Frame::from_raw(size, PixelFormat::Rgba, image.into_raw()));
        Ok(frame.map(|frame| Shot { frame, scale, origin }))
    }

    /// Whether the system still lists it.
    fn is_there(&self) -> bool {
        match self {
            Self::Monitor(one) => is_listed(Monitor::all(), one.id(), Monitor::id),
            Self::Window(one) => is_listed(Window::all(), one.id(), Window::id),
        }
    }
}

fn is_listed<T>(
    all: XCapResult<Vec<T>>,
    id: XCapResult<u32>,
    of: fn(&T) -> XCapResult<u32>,
) -> bool {
    let (Ok(all), Ok(id)) = (all, id) else { return false };
    all.iter().any(|each| of(each).is_ok_and(|each| each == id))
}

#[expect(clippy::cast_possible_truncation, reason = "a float cast saturates")]
fn in_pixels(points: i32, pixels: f64) -> i32 {
    (f64::from(points) * pixels).round() as i32
}

fn monitors() -> Result<Vec<Monitor>> {
    let all = Monitor::all().map_err(|error| {
        Error::surface(format!(
            "no screen to capture: {}: is there a display, and does DISPLAY name it?",
            one_line(error)
        ))
    })?;
    if all.is_empty() {
        return Err(Error::surface("no screen to capture: the system lists no monitor"));
    }
    Ok(all)
}

fn primary() -> Result<Monitor> {
    let mut all = monitors()?;
    let index = all.iter().position(|one| one.is_primary().unwrap_or(false));
    Ok(all.swap_remove(index.unwrap_or(0)))
}

/// By name, else by place in the list.
fn monitor(wanted: &str) -> Result<Monitor> {
    let mut all = monitors()?;
    let names: Vec<String> = all.iter().map(|one| one.name().unwrap_or_default()).collect();
    let named = names.iter().position(|name| name == wanted);
    let index = named.or_else(|| wanted.parse().ok()).filter(|index| *index < all.len());
    index.map(|index| all.swap_remove(index)).ok_or_else(|| {
        let listed = names.iter().enumerate();
        let listed = listed.map(|(index, name)| format!("{index} \"{}\"", Shown(name)));
        Error::surface(format!(
            "no monitor has the name or the index '{}'; there is {}",
            Shown(wanted),
            listed.collect::<Vec<_>>().join(", ")
        ))
    })
}

/// By id, else by the exact title, else the only one whose title contains it.
fn window(wanted: &str) -> Result<Window> {
    monitors()?;
    let mut all = Window::all().map_err(|error| {
        Error::surface(format!(
            "the windows are not listed: {}: on X11 that takes a window manager",
            one_line(error)
        ))
    })?;
    let names: Vec<_> = all.iter().map(|one| (one.id().unwrap_or_default(), title(one))).collect();
    chosen(&names, wanted).map(|index| all.swap_remove(index))
}

/// Under X11 xcap reads the titles newer programs set; the others go by their program's name.
fn title(window: &Window) -> String {
    let mut told = [window.title(), window.app_name()].into_iter().flatten();
    told.find(|name| !name.is_empty()).unwrap_or_default()
}

/// A window's id and title.
type Named = (u32, String);

fn chosen(names: &[Named], wanted: &str) -> Result<usize> {
    let id = match wanted.strip_prefix("0x").or_else(|| wanted.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => wanted.parse().ok(),
    };
    let those = |fits: &dyn Fn(&Named) -> bool| -> Vec<usize> {
        (0..names.len()).filter(|index| fits(&names[*index])).collect()
    };
    let ways: [&dyn Fn(&Named) -> bool; 3] =
        [&|one| Some(one.0) == id, &|one| one.1 == wanted, &|one| one.1.contains(wanted)];
    let found = ways.into_iter().map(those).find(|found| !found.is_empty()).unwrap_or_default();
    match found[..] {
        [index] => Ok(index),
        [] => Err(Error::surface(format!(
            "no window has the id or title '{}'; there is {}",
            Shown(wanted),
            listing(names.iter())
        ))),
        _ => Err(Error::surface(format!(
            "{} windows have the title '{}': name one by its id: {}",
            found.len(),
            Shown(wanted),
            listing(found.iter().map(|index| &names[*index]))
        ))),
    }
}

fn listing<'a>(windows: impl Iterator<Item = &'a Named>) -> String {
    let all: Vec<_> = windows.map(|(id, title)| format!("{id:#x} \"{}\"", Shown(title))).collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}

/// A message of another's making in one lower-case line without a full stop.
fn one_line(error: impl std::fmt::Display) -> String {
    let told = error.to_string().to_lowercase();
    let words: Vec<&str> = told.split_whitespace().collect();
    words.join(" ").trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_chosen_by_id_then_title_then_a_part_of_one() {
        let names =
            [(0x1f, "notes".to_owned()), (7, "notes - editor".to_owned()), (8, "31".to_owned())];
        for (wanted, found) in [
            ("0x1f", Ok(0)),
            ("31", Ok(0)),
            ("7", Ok(1)),
            ("notes", Ok(0)),
            ("editor", Ok(1)),
            (
                "note",
                Err(
                    "2 windows have the title 'note': name one by its id: 0x1f \"notes\", 0x7 \"notes - editor\"",
                ),
            ),
            (
                "mail",
                Err(
                    "no window has the id or title 'mail'; there is 0x1f \"notes\", 0x7 \"notes - editor\", 0x8 \"31\"",
                ),
            ),
        ] {
            let answer = chosen(&names, wanted).map_err(|error| error.to_string());
            assert_eq!(answer, found.map_err(str::to_owned), "{wanted}");
        }
        let none = chosen(&[], "x").unwrap_err().to_string();
        assert_eq!(none, "no window has the id or title 'x'; there is none");
    }
}
