//! The action contract: what may be asked for, with every limit and default.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use crate::geometry::Rect;
use crate::wait::Condition;

use super::document::Sought;
use super::driver::Button;
use super::element::ElementAction;
use super::keys::{Key, Modifier, Modifiers};
use super::observation::{ImagePoint, ObservationId};
use super::refusal::Refusal;
use super::tab::TabDeed;

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
/// How many points a drag may pass through between its ends.
pub const VIA_POINTS: RangeInclusive<usize> = 1..=254;
/// How many keys a hold may keep down.
pub const HOLD_KEYS: RangeInclusive<usize> = 1..=8;
/// How long a hold may last, in milliseconds.
pub const HOLD_MS: RangeInclusive<u32> = 1..=10_000;
/// How many pointer actions may happen during a hold that has any.
pub const HOLD_ACTIONS: RangeInclusive<usize> = 1..=32;
/// How long a click counts as when the actions of a hold must fit into it, in milliseconds.
pub const HOLD_CLICK_MS: u64 = 50;
/// How many steps a sequence may have.
pub const SEQUENCE_STEPS: RangeInclusive<usize> = 1..=2000;
/// How long a sequence may wait before a step, in milliseconds.
pub const STEP_WAIT_MS: RangeInclusive<u32> = 0..=5000;
/// How much time the steps of a sequence may ask for together, waits included.
pub const SEQUENCE_REQUESTED: Duration = Duration::from_secs(15 * 60);
/// How long after its start a sequence may still begin a step.
pub const SEQUENCE_ELAPSED: Duration = Duration::from_secs(30 * 60);
/// How many wheel detents one scroll may turn in each direction.
pub const SCROLL_DETENTS: RangeInclusive<i32> = -50..=50;
/// How many characters a text may have.
pub const TEXT_CHARACTERS: RangeInclusive<usize> = 1..=2000;
/// The pace of typing, in milliseconds a character.
pub const DELAY_MS: RangeInclusive<u32> = 0..=200;
/// The pace of typing unless asked otherwise, in milliseconds a character.
pub const DELAY_MS_DEFAULT: u32 = 30;
/// How many conditions one wait may be for.
pub const ANY_CONDITIONS: RangeInclusive<usize> = 1..=16;
/// How long a wait for a condition may be, in milliseconds.
pub const TIMEOUT_MS: RangeInclusive<u32> = 0..=300_000;
/// How long a wait for a condition is unless asked otherwise, in milliseconds.
pub const TIMEOUT_MS_DEFAULT: u32 = 5000;
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
    /// Whether the picture of [`Action::Observe`] shows the elements numbered, on a surface that
    /// knows them. Default: no.
    pub marks: bool,
    /// What must become true after the input; only for an action that sends some. What already
    /// was true before does not count.
    pub postcondition: Option<WaitFor>,
}

impl Request {
    /// An action chosen from an observation.
    #[must_use]
    pub fn new(action: Action, observation: ObservationId) -> Self {
        Self { observation: Some(observation), ..Self::without_observation(action) }
    }

    /// An action that sends no input and so needs no observation, such as [`Action::Observe`].
    #[must_use]
    pub const fn without_observation(action: Action) -> Self {
        Self { action, observation: None, screenshot: true, marks: false, postcondition: None }
    }
}

/// What can be asked for. Points are pixels of the observation's image.
#[expect(clippy::large_enum_variant, reason = "actions are few and seldom moved")]
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
    /// Presses at one point, moves through others and releases at the last: the `drag` with `via`.
    DragAlong(Path),
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
    /// Puts a text on the clipboard, presses shift+insert, and puts back what was there before once
    /// the program with the focus has the text: the `type_text` with `method` `paste`.
    Paste {
        /// What to paste.
        text: Text,
    },
    /// Keeps keys down for a time, in which the pointer may act.
    Hold(Hold),
    /// Several actions in a row, all checked before the first, stopped at the first that is not
    /// delivered.
    Sequence(Vec<Step>),
    /// Does something with an element, by its reference instead of a point.
    Element(ElementAction),
    /// Accepts or dismisses the dialog that is open. Needs no observation: there is none of a
    /// surface with a dialog.
    Dialog {
        /// Accepted (`true`) or dismissed.
        accept: bool,
        /// The answer to a prompt.
        text: Option<Text>,
    },
    /// Goes to another address, over http or https. Needs no observation.
    Navigate {
        /// Where.
        url: Address,
    },
    /// Goes to another tab of the session, opens or closes one. Needs no observation.
    Tab(TabDeed),
    /// Waits for a fixed time; sends nothing.
    Wait {
        /// How long, 0 to 30 s. Default: 1 s.
        duration: Duration,
    },
    /// Waits until something is seen; sends nothing. With an observation, `changed` means changed
    /// since then.
    WaitFor(WaitFor),
}

/// A condition, how long to wait for it, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitFor {
    /// What must be seen. How frames are compared is the executor's to say.
    pub condition: Awaited,
    /// How long to wait, 0 (one look) to 5 min. Default: 5 s.
    pub timeout: Duration,
    /// The part of the observation's image that counts. Default: all of it.
    pub region: Option<Rect>,
    /// Further conditions: the first that is met of all of them ends the wait. At most 15.
    pub or: Vec<Self>,
}

/// What can be waited for: something about the pixels, or about what a surface knows beside them.
#[expect(clippy::large_enum_variant, reason = "conditions are few and seldom moved")]
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Awaited {
    /// Something is seen.
    Pixels(Condition),
    /// Something is so in the document.
    Page(Sought),
}

impl Awaited {
    /// The condition's name in the action contract.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pixels(condition) => condition.name(),
            Self::Page(sought) => sought.name(),
        }
    }
}

impl From<Condition> for Awaited {
    fn from(condition: Condition) -> Self {
        Self::Pixels(condition)
    }
}

impl From<Sought> for Awaited {
    fn from(sought: Sought) -> Self {
        Self::Page(sought)
    }
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

/// A drag of the left button along a path of points, each reached in one move.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Where the button goes down.
    pub from: ImagePoint,
    /// Passed through in this order, 1 to 254 points.
    pub via: Vec<ImagePoint>,
    /// Where it comes up.
    pub to: ImagePoint,
    /// How long the movement takes, 0 to 10 s, spread evenly over the moves. Default: 500 ms.
    pub duration: Duration,
}

/// Keys kept down for a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Hold {
    /// 1 to 8, each once; they go down in this order after the modifiers, and up in reverse.
    pub keys: Vec<Key>,
    /// Go down first and come up last; count among the keys.
    pub modifiers: Modifiers,
    /// How long, 1 ms to 10 s.
    pub duration: Duration,
    /// Up to 32 left clicks and drags that happen meanwhile; they must fit in.
    pub actions: Vec<Action>,
}

/// One step of a sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// How long to wait before it, 0 to 5 s, counted from the end of the step before.
    pub wait: Duration,
    /// What to do: a key, hotkey, text, select-all, click, double click, right click or drag.
    pub action: Action,
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
            Self::Drag(_) | Self::DragAlong(_) => "drag",
            Self::Hold(_) => "hold",
            Self::Sequence(_) => "sequence",
            Self::Scroll { .. } => "scroll",
            Self::Key { .. } => "key",
            Self::Hotkey { .. } => "hotkey",
            Self::SelectAll => "select_all",
            Self::TypeText { .. } | Self::Paste { .. } => "type_text",
            Self::Element(asked) => asked.name(),
            Self::Dialog { .. } => "dialog",
            Self::Navigate { .. } => "navigate",
            Self::Tab(_) => "tab",
            Self::Wait { .. } => "wait",
            Self::WaitFor(_) => "wait_for",
        }
    }

    /// Whether carrying it out sends input.
    #[must_use]
    pub const fn sends_input(&self) -> bool {
        !matches!(self, Self::Observe | Self::Wait { .. } | Self::WaitFor(_))
    }

    /// Whether it must name the observation it was chosen from.
    pub(super) const fn needs_observation(&self) -> bool {
        self.sends_input()
            && !matches!(self, Self::Dialog { .. } | Self::Navigate { .. } | Self::Tab(_))
    }

    /// The actions inside it.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Self> {
        let (held, steps): (&[Self], &[Step]) = match self {
            Self::Hold(hold) => (&hold.actions, &[]),
            Self::Sequence(steps) => (&[], steps),
            _ => (&[], &[]),
        };
        held.iter().chain(steps.iter().map(|step| &step.action))
    }

    /// The points it names, those of the actions inside it left out.
    pub(super) fn points(&self) -> Vec<ImagePoint> {
        match self {
            Self::Click { at, .. }
            | Self::RightClick { at, .. }
            | Self::DoubleClick { at, .. }
            | Self::Hover { at }
            | Self::Scroll { at, .. } => vec![*at],
            Self::Drag(drag) => vec![drag.from, drag.to],
            Self::DragAlong(path) => {
                [path.from].into_iter().chain(path.via.iter().copied()).chain([path.to]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether it presses keys, which the window with the focus takes.
    pub(super) const fn is_typed(&self) -> bool {
        matches!(
            self,
            Self::Key { .. }
                | Self::Hotkey { .. }
                | Self::SelectAll
                | Self::TypeText { .. }
                | Self::Paste { .. }
                | Self::Hold(_)
        )
    }

    /// Checks the limits that no type already keeps.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        match self {
            Self::Click { count, .. } => within("count", "", *count, &CLICK_COUNT),
            Self::Drag(drag) => {
                within("duration_ms", "", whole_ms(drag.duration), &DRAG_MS)?;
                within("steps", "", drag.steps, &DRAG_STEPS)
            }
            Self::DragAlong(path) => {
                within("duration_ms", "", whole_ms(path.duration), &DRAG_MS)?;
                within("via", " points", path.via.len(), &VIA_POINTS)
            }
            Self::Hold(hold) => hold.check(),
            Self::Sequence(steps) => check_steps(steps),
            Self::Scroll { delta_x, delta_y, .. } => check_detents(*delta_x, *delta_y),
            Self::TypeText { delay, .. } => within("delay_ms", "", whole_ms(*delay), &DELAY_MS),
            Self::Wait { duration } => within("seconds", "", duration.as_secs_f64(), &WAIT_SECONDS),
            Self::WaitFor(asked) => asked.check(),
            Self::Element(asked) => asked.check(),
            _ => Ok(()),
        }
    }

    /// How much time it asks for: its delays and durations.
    fn requested(&self) -> Duration {
        match self {
            Self::Drag(drag) => drag.duration,
            Self::DragAlong(path) => path.duration,
            Self::TypeText { text, delay } => {
                *delay * u32::try_from(text.length()).unwrap_or(u32::MAX)
            }
            _ => Duration::ZERO,
        }
    }

    /// Refuses an element inside another action: which place is its own is known only just before.
    fn is_by_point(&self, holder: &str) -> Result<(), Refusal> {
        match self {
            Self::Element(_) => Err(Refusal::bad_value(format!(
                "{holder} takes points, not refs: act on an element by an action of its own"
            ))),
            _ => Ok(()),
        }
    }

    /// Whether it may be a step of a sequence.
    const fn is_step(&self) -> bool {
        matches!(
            self,
            Self::Key { .. }
                | Self::Hotkey { .. }
                | Self::TypeText { .. }
                | Self::Paste { .. }
                | Self::SelectAll
                | Self::Click { .. }
                | Self::DoubleClick { .. }
                | Self::RightClick { .. }
                | Self::Drag(_)
                | Self::DragAlong(_)
        )
    }
}

impl WaitFor {
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        within("any", " conditions", 1 + self.or.len(), &ANY_CONDITIONS)?;
        if self.or.iter().any(|other| !other.or.is_empty()) {
            return Err(Refusal::bad_value("a condition inside any is no any itself"));
        }
        let is_pixels = |one: &Self| matches!(one.condition, Awaited::Pixels(_));
        if self.or.iter().any(|other| is_pixels(other) != is_pixels(self)) {
            return Err(Refusal::bad_value(
                "any takes conditions of the pixels or of the page, not some of both",
            ));
        }
        if !is_pixels(self) && self.region.is_some() {
            let message =
                format!("{} takes no region: it is about the page", self.condition.name());
            return Err(Refusal::bad_value(message));
        }
        let mut all = std::iter::once(self).chain(&self.or);
        all.try_for_each(|one| within("timeout_ms", "", whole_ms(one.timeout), &TIMEOUT_MS))
    }
}

impl Hold {
    fn check(&self) -> Result<(), Refusal> {
        let held = self.keys.len() + self.modifiers.as_slice().len();
        within("keys", " keys", held, &HOLD_KEYS)?;
        for (at, key) in self.keys.iter().enumerate() {
            if self.keys[..at].contains(key) {
                return Err(Refusal::bad_value(format!("the key {key} stands there twice")));
            }
        }
        within("duration_ms", "", whole_ms(self.duration), &HOLD_MS)?;
        if !self.actions.is_empty() {
            within("actions", " actions", self.actions.len(), &HOLD_ACTIONS)?;
        }
        let mut needed = Duration::ZERO;
        for (nth, action) in (1..).zip(&self.actions) {
            needed += time_in_hold(action).map_err(|refusal| refusal.context("action", nth))?;
        }
        if needed > self.duration {
            return Err(Refusal::bad_value(format!(
                "the actions of the hold take {} ms and do not fit in its {} ms",
                needed.as_millis(),
                self.duration.as_millis()
            )));
        }
        Ok(())
    }
}

/// How long an action takes of a hold, if it may be there at all.
fn time_in_hold(action: &Action) -> Result<Duration, Refusal> {
    action.check()?;
    action.is_by_point("a hold")?;
    let none = Modifiers::none();
    match action {
        Action::Click { button: Button::Left, count: 1, modifiers, .. } if *modifiers == none => {
            Ok(Duration::from_millis(HOLD_CLICK_MS))
        }
        Action::Drag(drag) if drag.button == Button::Left && drag.modifiers == none => {
            Ok(drag.duration)
        }
        Action::DragAlong(path) => Ok(path.duration),
        Action::Click { .. } | Action::Drag(_) => Err(Refusal::bad_value(format!(
            "in a hold a {} takes no button, count or modifiers",
            action.name()
        ))),
        _ => Err(Refusal::bad_value(format!(
            "a hold takes left clicks and drags, not {}",
            action.name()
        ))),
    }
}

fn check_steps(steps: &[Step]) -> Result<(), Refusal> {
    within("steps", " steps", steps.len(), &SEQUENCE_STEPS)?;
    let mut requested = Duration::ZERO;
    for (nth, step) in (1..).zip(steps) {
        step.check().map_err(|refusal| refusal.context("step", nth))?;
        requested += step.wait + step.action.requested();
    }
    if requested > SEQUENCE_REQUESTED {
        return Err(Refusal::bad_value(format!(
            "the steps ask for {} s together, and a sequence has at most {}",
            requested.as_secs_f64(),
            SEQUENCE_REQUESTED.as_secs()
        )));
    }
    Ok(())
}

impl Step {
    fn check(&self) -> Result<(), Refusal> {
        within("wait_ms", "", whole_ms(self.wait), &STEP_WAIT_MS)?;
        self.action.is_by_point("a sequence")?;
        if !self.action.is_step() {
            return Err(Refusal::bad_value(format!(
                "a sequence takes key, hotkey, type_text, select_all, click, double_click, \
                 right_click and drag, not {}",
                self.action.name()
            )));
        }
        self.action.check()
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
pub(super) fn whole_ms(duration: Duration) -> u32 {
    u32::try_from(duration.as_micros().div_ceil(1000)).unwrap_or(u32::MAX)
}

/// An address to go to: over http or https, up to 4096 bytes without blanks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// The address of a text.
    ///
    /// # Errors
    /// When it is none, or of another kind.
    pub fn new(text: impl Into<String>) -> Result<Self, Refusal> {
        let text = text.into();
        let lower = text.get(..8).unwrap_or(&text).to_ascii_lowercase();
        let rest = lower.strip_prefix("http://").or(lower.strip_prefix("https://"));
        let is_plain =
            text.len() <= 4096 && !text.contains(|c: char| c.is_whitespace() || c.is_control());
        match rest.is_some() && is_plain && text.len() > 8 {
            true => Ok(Self(text)),
            false => Err(Refusal::bad_value(
                "url must be an address that begins with https:// or http://, without blanks",
            )),
        }
    }

    /// As it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
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
