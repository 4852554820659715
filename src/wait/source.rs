//! What a wait needs of a surface: a picture of it, now.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::clock::{Cancel, Clock};
use crate::error::Result;
use crate::frame::Frame;
use crate::geometry::{Rect, Size};

/// Where a surface is and how large.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometry {
    /// Size in frame pixels.
    pub size: Size,
    /// Frame pixels for one of the user interface, within [`Self::SCALES`].
    pub scale: f32,
    /// Where its corner lies on the display, in pixels; (0, 0) for a whole display.
    pub origin: (i32, i32),
}

impl Geometry {
    /// The scales a wait accepts.
    pub const SCALES: RangeInclusive<f32> = 0.1..=16.0;
}

/// How one capture ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Capture {
    /// The frame was filled. The id grows with every new frame of the surface; the same id again
    /// is an old frame handed out once more and evidence of nothing.
    Taken {
        /// The frame's id.
        id: u64,
    },
    /// The surface no longer has the size the region was meant for; the frame was not filled.
    Resized,
    /// No answer came before the time to give up.
    Stalled,
    /// The surface answered with an error; the next look may succeed.
    Failed(String),
}

/// How a rest between two looks ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Its time was up.
    Elapsed,
    /// Something was drawn.
    Damaged,
    /// Somebody cancelled it.
    Cancelled,
}

/// Something that can be looked at.
///
/// Times are those of the [`Clock`](crate::Clock) the surface was opened with.
pub trait Source {
    /// Where the surface is and how large, asked of the system at each call.
    ///
    /// # Errors
    /// When the surface is gone.
    fn geometry(&mut self) -> Result<Geometry>;

    /// Captures the whole surface, or only `region` (in frame pixels) without grabbing the rest,
    /// into `frame`, whose memory is reused. Gives up at `give_up`: a capture that would take
    /// longer is [`Capture::Stalled`].
    ///
    /// # Errors
    /// When the surface is gone for good; trouble that may pass is [`Capture::Failed`].
    fn capture(
        &mut self,
        region: Option<Rect>,
        give_up: Duration,
        frame: &mut Frame,
    ) -> Result<Capture>;

    /// Asks that a capture that takes long ends as [`Capture::Stalled`] soon after `cancel` is
    /// thrown. A surface whose captures cannot hang has nothing to do, which is the default.
    fn heed(&mut self, _cancel: &Cancel) {}

    /// Starts to tell *damage*: that something was drawn, and where, whether it looks otherwise
    /// than before or not. `false`, the default, where the surface cannot tell; then [`Self::rest`]
    /// is a mere sleep.
    ///
    /// # Errors
    /// When the surface is gone.
    fn watch_damage(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Rests until `until` of `clock`, or until `cancel` is thrown, or until something that
    /// `concerns` the wait was drawn after the picture of the last capture; boxes are pixels of the
    /// surface. Damage wakes, pixels judge: a rest may end for nothing, and a surface that misses
    /// damage is found out by the looks there are without.
    ///
    /// # Errors
    /// When the surface is gone.
    fn rest(
        &mut self,
        until: Duration,
        _concerns: &dyn Fn(Rect) -> bool,
        clock: &Clock,
        cancel: &Cancel,
    ) -> Result<Rest> {
        Ok(if clock.sleep_until(until, cancel) { Rest::Elapsed } else { Rest::Cancelled })
    }
}
