//! The executor: a proposed action is checked whole, sent, cleaned up after, and answered with
//! what it changed.
//!
//! An [`Executor`] drives one surface. It takes [`Observation`]s, and carries out [`Request`]s
//! chosen from the current one:
//!
//! ```text
//! shape -> permission -> state -> point to pixel -> plan of every event -> first event
//! ```
//!
//! Up to the first event everything ends in a [`Refusal`] that costs nothing: nothing was sent and
//! the observation is still good. Nothing is repaired, clamped or retried. From the first event on
//! there is always a [`Receipt`], and whatever was pressed is let go of on every way out.

mod action;
mod deliver;
mod document;
mod driver;
mod element;
mod elements;
mod executor;
#[cfg(test)]
pub(crate) mod fake;
#[cfg(test)]
pub(crate) mod fake_page;
#[cfg(test)]
mod faults;
mod keys;
mod ledger;
mod observation;
mod on_page;
#[cfg(test)]
mod on_page_tests;
mod plan;
mod policy;
mod receipt;
mod refusal;
mod settle;
mod tab;
mod target;
#[cfg(test)]
mod tests;

pub use action::{Action, Address, Awaited, Drag, Hold, Path, Request, Step, Text, WaitFor};
pub use document::{Document, Sought, Which};
pub use driver::{
    Button, Clipboard, Driver, Focus, Held, InputEvent, KeyCode, Loan, Stroke, Wheel,
};
pub use element::{Deed, Direction, ElementAction, ElementRef, ScrollUnit};
pub use elements::{Element, Elements};
pub use executor::{Executor, ExecutorOptions, Surface};
pub use keys::{Key, Modifier, Modifiers};
pub use observation::{ImagePoint, Observation, ObservationId};
pub use policy::{Access, Glob, KeyPattern, Policy};
pub use receipt::{
    Change, Delivery, HeldAfter, PageReport, Postcondition, Receipt, SequenceReport, Status,
    StepReport,
};
pub use refusal::{Refusal, RefusalKind};
pub use tab::{Tab, TabDeed};

/// The limits and defaults of the action contract.
pub mod limits {
    pub use super::action::{
        ANY_CONDITIONS, CLICK_COUNT, DELAY_MS, DELAY_MS_DEFAULT, DRAG_MS, DRAG_MS_DEFAULT,
        DRAG_STEPS, DRAG_STEPS_DEFAULT, HOLD_ACTIONS, HOLD_CLICK_MS, HOLD_KEYS, HOLD_MS,
        SCROLL_DETENTS, SEQUENCE_ELAPSED, SEQUENCE_REQUESTED, SEQUENCE_STEPS, STEP_WAIT_MS,
        TEXT_CHARACTERS, TIMEOUT_MS, TIMEOUT_MS_DEFAULT, VIA_POINTS, WAIT_SECONDS,
        WAIT_SECONDS_DEFAULT,
    };
    pub use super::element::SCROLL_AMOUNT;
    pub use super::tab::TAB_NUMBER;
}

#[cfg(feature = "cli")]
pub(crate) use action::within;
#[cfg(feature = "mcp")]
pub(crate) use observation::image_size;
#[cfg(feature = "cli")]
pub(crate) use refusal::quoted;
