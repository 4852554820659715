//! Waits until something is seen: conditions, the pure rules, the small loop around them.

mod source;

pub use source::{Capture, Geometry, Source};
