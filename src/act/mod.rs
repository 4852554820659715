//! The executor: a proposed action is checked whole, sent, cleaned up after, and answered with
//! what it changed.

mod driver;

pub use driver::{Button, Driver, Held, InputEvent, KeyCode, Stroke, Wheel};
