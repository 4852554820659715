//! Golden pictures: what a test drew, against what it is known to draw.
//!
//! - [`assert_golden!`](crate::assert_golden) is the whole check in one line of a test.
//! - [`check_golden`] gives the answer as a value, a [`Check`].
//!
//! ```no_run
//! use seechange::assert_golden;
//! use seechange::golden::{GoldenOptions, Platform};
//! # fn draw_button() -> seechange::Frame { seechange::Frame::default() }
//!
//! // tests/golden/button.png, where this stands in tests/button.rs
//! assert_golden!("button", draw_button());
//!
//! let options = GoldenOptions::new()
//!     .tolerance("yiq:0.05".parse()?)
//!     .ignore("0,0,80,20".parse()?) // a clock
//!     .on(Platform::Windows, |options| options.max_changed_pixels(40));
//! assert_golden!("dialogs/open", draw_button(), options);
//! # Ok::<(), seechange::Error>(())
//! ```
//!
//! What is compared can be anything that is a frame ([`IntoFrame`](crate::frame::IntoFrame)), and
//! so what a [`wait`](crate::wait::wait) came to rest at: `assert_golden!("saved", outcome)` fails
//! with the outcome's own sentence where it never did.
//!
//! # Where goldens lie
//!
//! In the folder `golden` beside the test's source file; a `/` in the name makes folders. What
//! platforms draw differently may have a golden of its own: `button.linux.png` (`macos`, `windows`)
//! wins over `button.png`, and [`GoldenOptions::per_platform`] writes such.
//!
//! A check that fails leaves `button.new.png` (what was drawn) and `button.diff.png` beside the
//! golden, and one that passes removes them: keep both out of version control.
//!
//! # When goldens are written
//!
//! | `SEECHANGE_UPDATE` | is missing | differs | equal |
//! |---|---|---|---|
//! | not set, or empty | written; in CI fails | fails | |
//! | `new` | written | fails | |
//! | `1` | written | written | |
//! | `force` | written | written, also over a file that is no picture | written |
//! | `0` | fails | fails | |
//!
//! A check whose golden was written passes and says on stderr what it wrote, also where the test
//! harness captures output: a picture nobody has looked at proves nothing. CI is where the variable
//! `CI` is set to anything but `false` and `0`.
//!
//! Goldens are written under another name and renamed, so tests and whole processes may run at
//! once; two tests of one process with one golden are found out.

mod check;
mod claims;
#[cfg(feature = "cli")]
pub(crate) mod folders;
mod ladder;
mod macros;
mod name;
mod options;
mod place;
mod put;
mod store;
mod text;
mod update;

pub use check::{Check, Difference, Written, check_golden};
pub use ladder::AtTolerance;
pub use options::{GoldenOptions, Platform};
#[doc(hidden)]
pub use place::beside;
pub use update::Update;
