//! A function that draws, as a surface.

use std::time::Duration;

use crate::error::Result;
use crate::frame::Frame;
use crate::geometry::{Rect, Size};

use super::source::{Capture, Geometry, Source};

/// A surface that shows what `draw` gives, at scale 1; each call is a new look.
///
/// For a renderer of one's own, which has nothing else of a surface. What it draws may change its
/// size; an error is a capture that failed, and the next may succeed.
///
/// ```
/// use seechange::wait::{Condition, WaitOptions, from_fn, wait};
/// use seechange::{Cancel, Clock, Frame, PixelFormat, Size};
///
/// let clock = Clock::simulated(); // `Clock::system()` for what is real
/// let size = Size::new(64, 48)?;
/// let mut shade = 0_u8;
/// let mut fading = from_fn(|| {
///     shade = 51_u8.saturating_add(shade);
///     Ok(Frame::filled(size, PixelFormat::Rgba, [shade, shade, shade, 255]))
/// });
/// let condition = Condition::stable();
/// let outcome = wait(&mut fading, &condition, &WaitOptions::new(), &clock, &Cancel::never())?;
/// assert!(outcome.is_met());
/// # Ok::<(), seechange::Error>(())
/// ```
pub fn from_fn<F: FnMut() -> Result<Frame>>(draw: F) -> FromFn<F> {
    FromFn { draw, size: None, id: 0 }
}

/// What [`from_fn`] gives.
#[derive(Clone, Debug)]
pub struct FromFn<F> {
    draw: F,
    size: Option<Size>,
    id: u64,
}

impl<F: FnMut() -> Result<Frame>> Source for FromFn<F> {
    fn geometry(&mut self) -> Result<Geometry> {
        let size = (self.draw)()?.size();
        self.size = Some(size);
        Ok(Geometry { size, scale: 1.0, origin: (0, 0) })
    }

    fn capture(
        &mut self,
        region: Option<Rect>,
        _give_up: Duration,
        frame: &mut Frame,
    ) -> Result<Capture> {
        let drawn = match (self.draw)() {
            Ok(drawn) => drawn,
            Err(error) => return Ok(Capture::Failed(error.to_string())),
        };
        if let Some(region) = region {
            if self.size.replace(drawn.size()) != Some(drawn.size()) {
                return Ok(Capture::Resized);
            }
            frame.copy_from(drawn.as_ref().crop(region)?);
        } else {
            *frame = drawn;
        }
        self.id += 1;
        Ok(Capture::Taken { id: self.id })
    }
}
