//! Which pixels differ: a [`Tolerance`] applied inside a [`Scope`] gives [`Differences`].
//!
//! [`diff`] is one pass over both frames. It only answers per pixel; what a change is, and what is
//! noise, is judged per cluster in [`areas`](crate::areas).

mod antialiasing;
mod blend;
mod differences;
mod kernel;
mod mask;
mod oklab;
mod scope;
mod tolerance;
mod yiq;

pub use antialiasing::{Antialiasing, set_aside_antialiasing};
pub use differences::Differences;
pub use mask::ChangeMask;
pub use scope::Scope;
pub use tolerance::Tolerance;

pub(crate) use mask::{Runs, segments};
pub(crate) use scope::Rendered;
pub(crate) use tolerance::{max_channel_delta, yiq_fraction};

use crate::error::{Error, Result};
use crate::frame::FrameRef;

/// Marks in `differences` every pixel of `after` that differs from `before`.
///
/// The frames may have different channel orders and strides. `differences` keeps its memory
/// between calls, so a loop over frames of one size allocates nothing.
///
/// ```
/// use seechange::diff::{Differences, Tolerance, diff};
/// use seechange::{Frame, PixelFormat, Size};
/// let size = Size::new(4, 2)?;
/// let before = Frame::filled(size, PixelFormat::Rgba, [0, 0, 0, 255]);
/// let mut after = before.clone();
/// after.data_mut()[4] = 9;
/// let mut differences = Differences::default();
/// diff(before.as_ref(), after.as_ref(), Tolerance::Exact, &mut differences)?;
/// assert_eq!(differences.changed().count(), 1);
/// # Ok::<(), seechange::Error>(())
/// ```
///
/// # Errors
/// When the frames have different sizes: that is an answer one level up, in
/// [`report`](crate::report).
pub fn diff(
    before: FrameRef<'_>,
    after: FrameRef<'_>,
    tolerance: Tolerance,
    differences: &mut Differences,
) -> Result<()> {
    if before.size() != after.size() {
        return Err(Error::usage(format!(
            "frames of {} and {} cannot be compared pixel by pixel",
            before.size(),
            after.size()
        )));
    }
    differences.clear(before.size());
    kernel::scan(before, after, tolerance, differences);
    Ok(())
}
