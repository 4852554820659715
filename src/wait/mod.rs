//! Waits until something is seen: conditions, the pure rules, the small loop around them.
//!
//! - [`wait`] is the loop: a [`Source`], a [`Condition`], [`WaitOptions`], and an [`Outcome`].
//! - [`wait_watched`] tells each look while it goes on.
//! - [`Monitor`] is the rules alone, for a loop of one's own: times and frames in, decision out.
//!
//! ```
//! # #[cfg(feature = "demo")] {
//! use std::time::Duration;
//! use seechange::surface::demo::Demo;
//! use seechange::wait::{Condition, WaitOptions, wait_watched};
//! use seechange::{Cancel, Clock};
//!
//! let clock = Clock::simulated(); // `Clock::system()` for what is real
//! let mut surface = Demo::new(clock.clone());
//! let condition = Condition::stable().hold(Duration::from_millis(400));
//! let options = WaitOptions::new().timeout(Duration::from_secs(3));
//! let mut looks = 0;
//! let mut watch = |_: &seechange::wait::Entry| looks += 1;
//! let outcome =
//!     wait_watched(&mut surface, &condition, &options, &clock, &Cancel::never(), &mut watch)?;
//! assert!(outcome.is_met());
//! assert_eq!(looks, outcome.captures);
//! # }
//! # Ok::<(), seechange::Error>(())
//! ```
//!
//! # What each condition makes of what it sees
//!
//! Time goes to the right; a letter is what a look shows, `!` the look that meets the condition,
//! and `hold` how long that must last (250 ms, in three captures at least).
//!
//! ```text
//! stable      A B C D D D D!            a quiet run, each look compared with its first
//!                   |hold|
//!             A A|A A|A A!              a caret (|) blinks: no motion
//!             A b c d e f g h           a slow fade: each look resembles the last, not the first
//!
//! changed     A A B B B B!              another picture than the first, and it stays
//!                 |hold|
//!             A A B A A A               a toast came and went: a transient, reported, not met
//!             A A A|A A|A               a caret: not met; the letter l, which stays: met
//!
//! appears P   A A A.P!                  seen anywhere in the scope: one look is proof
//! matches P   A A P!                    the scope looks like P: one look is proof
//!
//! gone P      P P . P . . . .!          seen nowhere; a gap shorter than the hold is a repaint
//!                     |hold|
//!             . . . .!                  never seen: met, with the flag `never_seen`
//!
//! settled     A A A A                   nothing changed at first (300 ms): over, not met
//!             A B C D D D!              changed, and still again
//!             A B C D E F G             still moving after a second: over, and says where
//!
//! any         the first of several that is met ends the wait
//!
//! deadline    A A A A A A A:            one look begins just before it (:), none after
//! ```
//!
//! # Why it is not fooled
//!
//! Each rule is there because its absence fools the waiter:
//!
//! - N captures are N-1 comparisons, and they must span the hold as well. Each is compared with
//!   the frame its quiet run began with, so a fade of one level a look is motion.
//! - A frame whose id does not advance is an old one handed out again: evidence of nothing.
//! - Looks are irregular, so nothing hides in step with them; one begins just before the deadline,
//!   none after it, and the moment at which the evidence is complete is never slept past.
//! - A small or caret-shaped difference is a caret when it blinks back, and a change when it stays.
//! - Damage, where a surface tells it, brings a look at once; what counts are the pixels. Drawn and
//!   not seen is reported ([`Flag::DamageWithoutChange`]), seen and not told ends the trust in it.
//! - Looks keep to a share of one core ([`WaitOptions::max_cpu`]).

mod blink;
mod condition;
mod filmstrip;
mod from_fn;
mod monitor;
mod motion;
mod net;
mod outcome;
mod pace;
mod part;
mod patch;
mod periodic;
#[cfg(feature = "pictures")]
mod picture;
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
pub use filmstrip::{Filmstrip, Kept, Moment};
pub use from_fn::{FromFn, from_fn};
pub use monitor::{Look, Monitor, Step};
pub(crate) use outcome::Asked;
pub use outcome::{
    Flag, Observation, Outcome, OutcomeKind, Periodic, SetAside, Term, Transient, Unmet,
};
#[cfg(feature = "pictures")]
pub use picture::timeline_picture;
pub use run::{wait, wait_watched};
#[cfg(feature = "replay")]
pub(crate) use schedule::Gaps;
pub use source::{Capture, Geometry, Rest, Source, look};
pub use timeline::{Entry, LookVerdict, Timeline};

#[cfg(test)]
mod tests;
