//! Waits until something is seen: conditions, the pure rules, the small loop around them.
//!
//! - [`wait`] is the loop: a [`Source`], a [`Condition`], [`WaitOptions`], and an [`Outcome`].
//! - [`Monitor`] is the rules alone, for a loop of one's own: times and frames in, decision out.
//!
//! A wait is told what to believe by a few rules, each there because its absence fools the waiter:
//!
//! - N captures are N-1 comparisons, and they must span the hold as well. Each is compared with
//!   the frame its quiet run began with, so a fade of one level a look is motion.
//! - A frame whose id does not advance is an old one handed out again: evidence of nothing.
//! - Looks are irregular, so nothing hides in step with them; one begins just before the deadline,
//!   none after it, and the moment at which the evidence is complete is never slept past.
//! - A small or caret-shaped difference is a caret when it blinks back, and a change when it stays.

mod blink;
mod condition;
mod monitor;
mod motion;
mod net;
mod outcome;
mod pace;
mod part;
mod patch;
mod periodic;
mod presence;
mod rules;
mod run;
mod schedule;
mod search;
mod several;
mod sighting;
mod source;
mod supply;
mod timeline;

pub use condition::{Condition, WaitOptions};
pub use monitor::{Look, Monitor, Step};
pub use outcome::{
    Flag, Observation, Outcome, OutcomeKind, Periodic, SetAside, Term, Transient, Unmet,
};
pub use run::{wait, wait_watched};
pub use source::{Capture, Geometry, Rest, Source};
pub use timeline::{Entry, LookVerdict, Timeline};

#[cfg(test)]
mod tests;
