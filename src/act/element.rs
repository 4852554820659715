//! Actions on an element by its reference, instead of at a point.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use crate::geometry::Size;

use super::action::{
    Action, CLICK_COUNT, DRAG_MS, DRAG_MS_DEFAULT, DRAG_STEPS, DRAG_STEPS_DEFAULT, Drag, Text,
    whole_ms, within,
};
use super::driver::Button;
use super::keys::Modifiers;
use super::observation::ImagePoint;
use super::refusal::{Refusal, quoted};

/// How many lines or pages one scroll of an element may go.
pub const SCROLL_AMOUNT: RangeInclusive<u32> = 1..=50;

/// How far a detent of the wheel goes, in pixels at scale 1: what most programs make of it.
const DETENT_PX: f32 = 100.0;

/// The reference of an element, such as `3:a`: of one observation, and of no later one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ElementRef(String);

impl ElementRef {
    /// As it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ElementRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ElementRef {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let parts = text.split_once(':').filter(|(snapshot, letters)| {
            let is_number = snapshot.bytes().all(|byte| byte.is_ascii_digit());
            let are_letters = letters.bytes().all(|byte| byte.is_ascii_lowercase());
            is_number && are_letters && (1..=10).contains(&snapshot.len()) && {
                (1..=6).contains(&letters.len())
            }
        });
        match parts {
            Some(_) => Ok(Self(text.to_owned())),
            None => Err(Refusal::bad_value(format!(
                "ref {} is not the reference of an element, such as 3:a",
                quoted(text)
            ))),
        }
    }
}

/// What is done with one element.
#[derive(Clone, Debug, PartialEq)]
pub struct ElementAction {
    /// Which element.
    pub target: ElementRef,
    /// What is done with it.
    pub deed: Deed,
}

/// What can be done with an element. It is scrolled into view first, and must be visible, at rest,
/// enabled and itself get what is pressed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Deed {
    /// As [`Action::Click`].
    Click {
        /// Which button. Default: left.
        button: Button,
        /// How often, 1 to 3. Default: once.
        count: u32,
        /// Held around the clicks.
        modifiers: Modifiers,
    },
    /// As [`Action::RightClick`].
    RightClick {
        /// Held around the click.
        modifiers: Modifiers,
    },
    /// As [`Action::DoubleClick`].
    DoubleClick {
        /// Held around the clicks.
        modifiers: Modifiers,
    },
    /// Moves the pointer onto it.
    Hover,
    /// Brings it into view, in the middle as far as that goes.
    ScrollTo,
    /// Turns the wheel over it.
    Scroll {
        /// Where the content's view moves to.
        direction: Direction,
        /// How many lines or pages, 1 to 50.
        amount: u32,
        /// A line is one detent of the wheel, a page nine tenths of the surface.
        by: ScrollUnit,
    },
    /// Replaces what is in it, in one piece.
    TypeText(Text),
    /// Drags it onto another element.
    Drag {
        /// Where it is let go of.
        to: ElementRef,
        /// As [`Drag::duration`].
        duration: Duration,
        /// As [`Drag::steps`].
        steps: u32,
        /// Which button. Default: left.
        button: Button,
        /// Held around the drag.
        modifiers: Modifiers,
    },
}

/// Where a scroll goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Towards the top.
    Up,
    /// Towards the bottom.
    Down,
    /// Towards the left.
    Left,
    /// Towards the right.
    Right,
}

impl Direction {
    /// The name in the action contract.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Left => "left",
            Self::Right => "right",
        }
    }

    fn deltas(self, detents: i32) -> (i32, i32) {
        match self {
            Self::Up => (0, -detents),
            Self::Down => (0, detents),
            Self::Left => (-detents, 0),
            Self::Right => (detents, 0),
        }
    }
}

/// What a scroll is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScrollUnit {
    /// One detent of the wheel.
    Line,
    /// Nine tenths of the surface.
    Page,
}

impl ScrollUnit {
    /// The name in the action contract.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Page => "page",
        }
    }

    /// How many detents it is on a surface of that size.
    #[expect(clippy::cast_precision_loss, reason = "edges stay below 2^24, where f32 is exact")]
    #[expect(clippy::cast_possible_truncation, reason = "an edge in hundreds of pixels")]
    fn detents(self, direction: Direction, surface: Size, scale: f32) -> i32 {
        let edge = match direction {
            Direction::Up | Direction::Down => surface.height(),
            Direction::Left | Direction::Right => surface.width(),
        };
        match self {
            Self::Line => 1,
            Self::Page => ((edge as f32 * 0.9 / scale / DETENT_PX).round() as i32).max(1),
        }
    }
}

impl ElementAction {
    /// The action of that element.
    #[must_use]
    pub const fn new(target: ElementRef, deed: Deed) -> Self {
        Self { target, deed }
    }

    /// One click of the left button.
    #[must_use]
    pub const fn click(target: ElementRef) -> Self {
        let modifiers = Modifiers::none();
        Self { target, deed: Deed::Click { button: Button::Left, count: 1, modifiers } }
    }

    /// A drag of the left button onto another element, with the defaults of the contract.
    #[must_use]
    pub fn drag(target: ElementRef, to: ElementRef) -> Self {
        let duration = Duration::from_millis(DRAG_MS_DEFAULT as u64);
        let (steps, button, modifiers) = (DRAG_STEPS_DEFAULT, Button::Left, Modifiers::none());
        Self { target, deed: Deed::Drag { to, duration, steps, button, modifiers } }
    }

    pub(super) const fn name(&self) -> &'static str {
        match self.deed {
            Deed::Click { .. } => "click",
            Deed::RightClick { .. } => "right_click",
            Deed::DoubleClick { .. } => "double_click",
            Deed::Hover => "hover",
            Deed::ScrollTo => "scroll_to_element",
            Deed::Scroll { .. } => "scroll",
            Deed::TypeText(_) => "type_text",
            Deed::Drag { .. } => "drag",
        }
    }

    /// Whether it is done by the surface itself, not by events of pointer and keys.
    pub(super) const fn is_direct(&self) -> bool {
        matches!(self.deed, Deed::ScrollTo | Deed::TypeText(_))
    }

    /// Whether it is what follows a link: one plain click.
    pub(super) fn is_plain_click(&self) -> bool {
        let Deed::Click { button: Button::Left, count: 1, modifiers } = &self.deed else {
            return false;
        };
        *modifiers == Modifiers::none()
    }

    /// The keys held around it.
    pub(super) const fn modifiers(&self) -> Option<&Modifiers> {
        match &self.deed {
            Deed::Click { modifiers, .. }
            | Deed::RightClick { modifiers }
            | Deed::DoubleClick { modifiers }
            | Deed::Drag { modifiers, .. } => Some(modifiers),
            _ => None,
        }
    }

    pub(super) fn check(&self) -> Result<(), Refusal> {
        match &self.deed {
            Deed::Click { count, .. } => within("count", "", *count, &CLICK_COUNT),
            Deed::Scroll { amount, .. } => within("amount", "", *amount, &SCROLL_AMOUNT),
            Deed::Drag { to, duration, steps, .. } => {
                if *to == self.target {
                    return Err(Refusal::bad_value("ref and to_ref are the same element"));
                }
                within("duration_ms", "", whole_ms(*duration), &DRAG_MS)?;
                within("steps", "", *steps, &DRAG_STEPS)
            }
            _ => Ok(()),
        }
    }

    /// The same at a point, with where it ends for a drag: what events of pointer and keys there
    /// are. What is done without any only counts as pointing there.
    pub(super) fn at(&self, at: ImagePoint, end: ImagePoint, surface: Size, scale: f32) -> Action {
        match &self.deed {
            Deed::Click { button, count, modifiers } => {
                Action::Click { at, button: *button, count: *count, modifiers: modifiers.clone() }
            }
            Deed::RightClick { modifiers } => {
                Action::RightClick { at, modifiers: modifiers.clone() }
            }
            Deed::DoubleClick { modifiers } => {
                Action::DoubleClick { at, modifiers: modifiers.clone() }
            }
            Deed::Scroll { direction, amount, by } => {
                let detents = by.detents(*direction, surface, scale)
                    * i32::try_from(*amount).unwrap_or(i32::MAX);
                let (delta_x, delta_y) = direction.deltas(detents);
                Action::Scroll { at, delta_x, delta_y }
            }
            Deed::Drag { duration, steps, button, modifiers, .. } => Action::Drag(Drag {
                from: at,
                to: end,
                duration: *duration,
                steps: *steps,
                button: *button,
                modifiers: modifiers.clone(),
            }),
            Deed::Hover | Deed::ScrollTo | Deed::TypeText(_) => Action::Hover { at },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_a_number_and_letters() {
        for (text, ok) in [
            ("3:a", true),
            ("17:aab", true),
            ("3a", false),
            (":a", false),
            ("3:", false),
            ("3:A", false),
            ("e45", false),
            ("12345678901:a", false),
        ] {
            assert_eq!(text.parse::<ElementRef>().is_ok(), ok, "{text}");
        }
    }

    #[test]
    fn lines_are_detents_and_pages_are_nine_tenths_of_the_surface() {
        let size = Size::new(2560, 1600).unwrap();
        for (by, direction, detents) in [
            (ScrollUnit::Line, Direction::Down, 1),
            (ScrollUnit::Page, Direction::Down, 7),
            (ScrollUnit::Page, Direction::Left, 12),
        ] {
            assert_eq!(by.detents(direction, size, 2.0), detents, "{by:?} {direction:?}");
        }
    }
}
