//! The pass over the pixels. `scalar` is the oracle every faster kernel is tested against.

mod scalar;

pub(super) use scalar::scan;
