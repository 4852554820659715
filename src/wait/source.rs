//! What a wait needs of a surface: a picture of it, now.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::clock::{Cancel, Clock};
use crate::error::{Error, Result};
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

/// How long one look outside a wait may take.
const LOOK_LIMIT: Duration = Duration::from_secs(5);

/// One look outside a wait: where the surface is, and a frame of all of it or of `region`. A surface
/// that is just being resized is looked at again.
///
/// # Errors
/// When `region` reaches outside the surface, and when no frame comes within five seconds.
pub fn look(
    source: &mut dyn Source,
    region: Option<Rect>,
    clock: &Clock,
) -> Result<(Geometry, Frame)> {
    let give_up = clock.now() + LOOK_LIMIT;
    let mut frame = Frame::default();
    loop {
        let geometry = source.geometry()?;
        let wanted = region.map_or(geometry.size, Rect::size);
        if let Some(region) = region.filter(|region| !geometry.size.rect().contains_rect(*region)) {
            let size = geometry.size;
            return Err(Error::usage(format!("region {region} is outside the {size} surface")));
        }
        match source.capture(region, give_up, &mut frame)? {
            Capture::Taken { .. } if frame.size() == wanted => return Ok((geometry, frame)),
            Capture::Taken { .. } | Capture::Resized => {}
            Capture::Stalled => {
                let limit = LOOK_LIMIT.as_secs();
                return Err(cannot_capture(&format!("no frame came within {limit} s")));
            }
            Capture::Failed(reason) => return Err(cannot_capture(&reason)),
        }
        if clock.now() >= give_up {
            return Err(cannot_capture("it keeps being resized"));
        }
        clock.sleep(RESIZE_PAUSE);
    }
}

/// From one look at a surface that is being resized to the next.
const RESIZE_PAUSE: Duration = Duration::from_millis(20);

fn cannot_capture(trouble: &str) -> Error {
    Error::surface(format!("the surface cannot be captured: {trouble}"))
}
