//! The action contract: what may be asked for, with every limit and default.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::driver::Button;
use super::keys::{Key, Modifier, Modifiers};
use super::observation::ObservationId;
use super::refusal::Refusal;

/// How often a click may be repeated.
pub const CLICK_COUNT: RangeInclusive<u32> = 1..=3;
/// How long a drag may take, in milliseconds.
pub const DRAG_MS: RangeInclusive<u32> = 0..=10_000;
/// How long a drag takes unless asked otherwise, in milliseconds.
pub const DRAG_MS_DEFAULT: u32 = 500;
/// How many moves a drag may be made of.
pub const DRAG_STEPS: RangeInclusive<u32> = 1..=200;
/// How many moves a drag is made of unless asked otherwise.
pub const DRAG_STEPS_DEFAULT: u32 = 20;
/// How many wheel detents one scroll may turn in each direction.
pub const SCROLL_DETENTS: RangeInclusive<i32> = -50..=50;
/// How many characters a text may have.
pub const TEXT_CHARACTERS: RangeInclusive<usize> = 1..=2000;
/// The pace of typing, in milliseconds a character.
pub const DELAY_MS: RangeInclusive<u32> = 0..=200;
/// The pace of typing unless asked otherwise, in milliseconds a character.
pub const DELAY_MS_DEFAULT: u32 = 30;
/// How long a plain wait may be, in seconds.
pub const WAIT_SECONDS: RangeInclusive<f64> = 0.0..=30.0;
/// How long a plain wait is unless asked otherwise, in seconds.
pub const WAIT_SECONDS_DEFAULT: f64 = 1.0;

/// One action, and the observation it was chosen from.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What to do.
    pub action: Action,
    /// The observation the action was chosen from. Every action that sends input needs one.
    pub observation: Option<ObservationId>,
    /// Whether pictures of the change are wanted. Default: yes.
    pub screenshot: bool,
}

impl Request {
    /// An action chosen from an observation.
    #[must_use]
    pub const fn new(action: Action, observation: ObservationId) -> Self {
        Self { action, observation: Some(observation), screenshot: true }
    }

    /// An action that sends no input and so needs no observation, such as [`Action::Observe`].
    #[must_use]
    pub const fn without_observation(action: Action) -> Self {
        Self { action, observation: None, screenshot: true }
    }
}

/// What can be asked for. Points are pixels of the observation's image.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Takes a fresh observation; sends nothing.
    Observe,
    /// Presses and releases a button at a point, `count` times at double-click pace.
    Click {
        /// Where.
        at: ImagePoint,
        /// Which button. Default: left.
        button: Button,
        /// How often, 1 to 3. Default: once.
        count: u32,
        /// Held around the clicks.
        modifiers: Modifiers,
    },
    /// One click of the right button.
    RightClick {
        /// Where.
        at: ImagePoint,
        /// Held around the click.
        modifiers: Modifiers,
    },
    /// Two clicks of the left button.
    DoubleClick {
        /// Where.
        at: ImagePoint,
        /// Held around the clicks.
        modifiers: Modifiers,
    },
    /// Moves the pointer to a point.
    Hover {
        /// Where.
        at: ImagePoint,
    },
    /// Presses at one point, moves in a straight line and releases at another.
    Drag(Drag),
    /// Moves the pointer to a point and turns the wheel there.
    Scroll {
        /// Where: what lies under the pointer takes the wheel.
        at: ImagePoint,
        /// Detents to the right (positive) or left, -50 to 50.
        delta_x: i32,
        /// Detents down (positive) or up, -50 to 50.
        delta_y: i32,
    },
    /// Presses and releases one key.
    Key {
        /// Which key.
        key: Key,
        /// Held around it.
        modifiers: Modifiers,
    },
    /// A chord: modifiers down in order, the key, modifiers up in reverse.
    Hotkey {
        /// Held around the key.
        modifiers: Modifiers,
        /// The last of the chord's keys.
        key: Key,
    },
    /// Ctrl+A.
    SelectAll,
    /// Types a text key by key, as the current keyboard layout has it.
    TypeText {
        /// What to type.
        text: Text,
        /// From one character to the next, 0 to 200 ms. Default: 30 ms.
        delay: Duration,
    },
    /// Waits for a fixed time; sends nothing.
    Wait {
        /// How long, 0 to 30 s. Default: 1 s.
        duration: Duration,
    },
}

/// A straight drag.
#[derive(Clone, Debug, PartialEq)]
pub struct Drag {
    /// Where the button goes down.
    pub from: ImagePoint,
    /// Where it comes up.
    pub to: ImagePoint,
    /// How long the movement takes, 0 to 10 s. Default: 500 ms.
    pub duration: Duration,
    /// How many moves it is made of, 1 to 200. Default: 20.
    pub steps: u32,
    /// Which button. Default: left.
    pub button: Button,
    /// Held around the drag.
    pub modifiers: Modifiers,
}

impl Drag {
    /// A drag of the left button with the defaults of the contract.
    #[must_use]
    pub const fn new(from: ImagePoint, to: ImagePoint) -> Self {
        Self {
            from,
            to,
            duration: Duration::from_millis(DRAG_MS_DEFAULT as u64),
            steps: DRAG_STEPS_DEFAULT,
            button: Button::Left,
            modifiers: Modifiers::none(),
        }
    }
}

impl Action {
    /// One click of the left button.
    #[must_use]
    pub const fn click(at: ImagePoint) -> Self {
        Self::Click { at, button: Button::Left, count: 1, modifiers: Modifiers::none() }
    }

    /// A key on its own.
    #[must_use]
    pub const fn key(key: Key) -> Self {
        Self::Key { key, modifiers: Modifiers::none() }
    }

    /// Typing at the default pace.
    #[must_use]
    pub const fn type_text(text: Text) -> Self {
        Self::TypeText { text, delay: Duration::from_millis(DELAY_MS_DEFAULT as u64) }
    }

    /// A chord from its keys: unique modifiers, then one key.
    ///
    /// ```
    /// use seechange::act::Action;
    /// assert!(Action::hotkey(["ctrl", "shift", "s"]).is_ok());
    /// let refusal = Action::hotkey(["s", "ctrl"]).unwrap_err();
    /// assert_eq!(refusal.message(), "keys must be modifiers and then one key: 's' is no modifier");
    /// ```
    ///
    /// # Errors
    /// When `keys` is something else.
    pub fn hotkey<'k>(keys: impl IntoIterator<Item = &'k str>) -> Result<Self, Refusal> {
        let keys: Vec<&str> = keys.into_iter().collect();
        let Some((last, first)) = keys.split_last() else {
            return Err(Refusal::bad_value("keys is empty: name modifiers and then one key"));
        };
        let modifier = |name: &&str| match name.parse::<Modifier>() {
            Err(_) if name.parse::<Key>().is_ok() => Err(Refusal::bad_value(format!(
                "keys must be modifiers and then one key: '{name}' is no modifier"
            ))),
            other => other,
        };
        let modifiers = first.iter().map(modifier).collect::<Result<Vec<_>, _>>()?;
        if last.parse::<Modifier>().is_ok() {
            return Err(Refusal::bad_value(format!(
                "keys must be modifiers and then one key: '{last}' at the end is a modifier"
            )));
        }
        Ok(Self::Hotkey { modifiers: Modifiers::new(modifiers)?, key: last.parse()? })
    }

    /// The name in the action contract, such as `right_click`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Click { .. } => "click",
            Self::RightClick { .. } => "right_click",
            Self::DoubleClick { .. } => "double_click",
            Self::Hover { .. } => "hover",
            Self::Drag(_) => "drag",
            Self::Scroll { .. } => "scroll",
            Self::Key { .. } => "key",
            Self::Hotkey { .. } => "hotkey",
            Self::SelectAll => "select_all",
            Self::TypeText { .. } => "type_text",
            Self::Wait { .. } => "wait",
        }
    }

    /// Whether carrying it out sends input.
    #[must_use]
    pub const fn sends_input(&self) -> bool {
        !matches!(self, Self::Observe | Self::Wait { .. })
    }

    /// The point that the first area of a change report is chosen by: for a drag, its end.
    #[must_use]
    pub const fn input_point(&self) -> Option<ImagePoint> {
        match self {
            Self::Click { at, .. }
            | Self::RightClick { at, .. }
            | Self::DoubleClick { at, .. }
            | Self::Hover { at }
            | Self::Scroll { at, .. } => Some(*at),
            Self::Drag(drag) => Some(drag.to),
            _ => None,
        }
    }

    /// Checks the limits that no type already keeps.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        match self {
            Self::Click { count, .. } => within("count", "", *count, &CLICK_COUNT),
            Self::Drag(drag) => {
                within("duration_ms", "", whole_ms(drag.duration), &DRAG_MS)?;
                within("steps", "", drag.steps, &DRAG_STEPS)
            }
            Self::Scroll { delta_x, delta_y, .. } => check_detents(*delta_x, *delta_y),
            Self::TypeText { delay, .. } => within("delay_ms", "", whole_ms(*delay), &DELAY_MS),
            Self::Wait { duration } => within("seconds", "", duration.as_secs_f64(), &WAIT_SECONDS),
            _ => Ok(()),
        }
    }
}

fn check_detents(delta_x: i32, delta_y: i32) -> Result<(), Refusal> {
    within("delta_x", "", delta_x, &SCROLL_DETENTS)?;
    within("delta_y", "", delta_y, &SCROLL_DETENTS)?;
    if (delta_x, delta_y) == (0, 0) {
        return Err(Refusal::bad_value(
            "delta_x and delta_y are both 0: turn the wheel by at least one detent",
        ));
    }
    Ok(())
}

/// Refuses a value outside its limits, saying both.
pub(crate) fn within<T: PartialOrd + fmt::Display>(
    field: &str,
    unit: &str,
    value: T,
    limits: &RangeInclusive<T>,
) -> Result<(), Refusal> {
    if limits.contains(&value) {
        return Ok(());
    }
    let (least, most) = (limits.start(), limits.end());
    Err(Refusal::bad_value(format!("{field} must be {least} to {most}{unit}, not {value}")))
}

/// Milliseconds, rounded up: a limit is not passed by a fraction.
fn whole_ms(duration: Duration) -> u32 {
    u32::try_from(duration.as_micros().div_ceil(1000)).unwrap_or(u32::MAX)
}

/// A point of an observation's image, in pixels from its top left corner. Fractions are places
/// inside a pixel: 412.5 lies in pixel 412.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImagePoint {
    x: f64,
    y: f64,
}

impl ImagePoint {
    /// The point at (`x`, `y`).
    ///
    /// # Errors
    /// When a coordinate is not a finite number.
    pub fn new(x: f64, y: f64) -> Result<Self, Refusal> {
        if x.is_finite() && y.is_finite() {
            Ok(Self { x, y })
        } else {
            Err(Refusal::bad_value(format!("point ({x}, {y}) is not finite")))
        }
    }

    /// Pixels from the left edge.
    #[must_use]
    pub const fn x(self) -> f64 {
        self.x
    }

    /// Pixels from the top edge.
    #[must_use]
    pub const fn y(self) -> f64 {
        self.y
    }
}

impl fmt::Display for ImagePoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

/// A text to type, 1 to 2000 characters. Neither `Debug` nor any receipt shows more than its
/// length.
#[derive(Clone, PartialEq, Eq)]
pub struct Text(String);

impl Text {
    /// A text of 1 to 2000 characters.
    ///
    /// # Errors
    /// When it is empty or longer.
    pub fn new(text: impl Into<String>) -> Result<Self, Refusal> {
        let text = Self(text.into());
        within("text", " characters", text.length(), &TEXT_CHARACTERS)?;
        Ok(text)
    }

    /// How many characters it has.
    #[must_use]
    pub fn length(&self) -> usize {
        self.0.chars().count()
    }

    /// The text itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Text({} characters)", self.length())
    }
}
