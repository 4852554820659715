//! *See what changed; wait until it has.*
//!
//! seechange compares two frames and says what changed, waits on a surface until it has, and can
//! do the acting in between. Data flows one way, in the order of the modules:
//!
//! ```text
//! Source.capture -> Frame -> diff -> areas -> ChangeReport -> text | JSON | pictures
//!                     |                            ^
//!                     +-> wait::Monitor -> Outcome |
//! Action -> validate -> plan -> Driver.send -> wait -> Receipt
//! ```

pub mod geometry;
pub mod clock;
pub mod error;
pub mod frame;
pub mod diff;
pub mod areas;
pub mod report;
#[cfg(feature = "golden")]
pub mod golden;
pub mod wait;
pub mod act;
pub mod surface;
#[cfg(feature = "cli")]
pub mod front;

pub use clock::{Cancel, Clock};
pub use diff::{Scope, Tolerance};
pub use error::{Error, ErrorKind, Result};
pub use frame::{Frame, FrameRef, PixelFormat};
pub use geometry::{Point, Rect, Size};
pub use report::{ChangeReport, DiffOptions, Differ, Preset, Verdict, compare};

/// Runs the examples of the README.
#[cfg(all(doctest, feature = "demo"))]
#[doc = include_str!("../README.md")]
struct Readme;
