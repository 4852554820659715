//! What the server says was drawn.
//!
//! A damage object tells each box that was not damaged already; taking the old damage back just
//! before each picture arms it anew. Notices and replies come in the order of what they tell of, so
//! the number of the request in whose time something was drawn says whether a picture shows it.

use std::time::Duration;

use x11rb::connection::{Connection as _, SequenceNumber};
use x11rb::protocol::damage::{self, ConnectionExt as _, ReportLevel};

use crate::clock::{Cancel, Clock};
use crate::geometry::Rect;
use crate::wait::Rest;

use super::link::{Link, Trouble};

/// The version of the extension asked for.
const VERSION: (u32, u32) = (1, 1);

/// How long a rest may take to notice that it was cancelled.
const NOTICE: Duration = Duration::from_millis(100);

const NO_REGION: u32 = 0;

/// Something was drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drawn {
    pub(super) damage: u32,
    pub(super) rect: Rect,
    pub(super) sequence: SequenceNumber,
}

impl Drawn {
    /// Reads a notice; `None` for a box outside the drawable.
    pub(super) fn new(event: &damage::NotifyEvent, sequence: SequenceNumber) -> Option<Self> {
        let (x, y) = (i32::from(event.area.x), i32::from(event.area.y));
        let edge = |start: i32, length: u16| u32::try_from(start + i32::from(length)).ok();
        let start = |start: i32| u32::try_from(start).unwrap_or(0);
        let (right, bottom) = (edge(x, event.area.width)?, edge(y, event.area.height)?);
        let rect = Rect::from_edges(start(x), start(y), right, bottom)?;
        Some(Self { damage: event.damage, rect, sequence })
    }
}

/// Makes the server tell what is drawn on a drawable; `None` where it has not the extension.
pub(super) fn create(
    link: &Link,
    drawable: u32,
    level: ReportLevel,
) -> Result<Option<u32>, Trouble> {
    if !link.has(damage::X11_EXTENSION_NAME)? {
        return Ok(None);
    }
    link.reply(link.conn.damage_query_version(VERSION.0, VERSION.1)?)?;
    let id = link.conn.generate_id()?;
    link.check(link.conn.damage_create(id, drawable, level)?)?;
    Ok(Some(id))
}

/// The damage of one drawable.
pub(super) struct Watch {
    damage: u32,
    /// What was drawn before this request is in the last picture.
    seen: SequenceNumber,
    /// The same for the picture being taken.
    arming: SequenceNumber,
}

impl Watch {
    /// Starts to watch; `None` where the server has not the extension.
    pub(super) fn start(link: &Link, drawable: u32) -> Result<Option<Self>, Trouble> {
        let damage = create(link, drawable, ReportLevel::DELTA_RECTANGLES)?;
        Ok(damage.map(|damage| Self { damage, seen: 0, arming: 0 }))
    }

    /// To be told anew of what is drawn from here on. Goes out with the request that follows.
    pub(super) fn arm(&mut self, link: &Link) -> Result<(), Trouble> {
        let cookie = link.conn.damage_subtract(self.damage, NO_REGION, NO_REGION)?;
        self.arming = cookie.sequence_number();
        cookie.ignore_error();
        Ok(())
    }

    /// The picture asked for after [`Self::arm`] was taken.
    pub(super) const fn picture_taken(&mut self) {
        self.seen = self.arming;
    }

    /// Rests as [`Source::rest`](crate::wait::Source::rest) says.
    pub(super) fn rest(
        &self,
        link: &Link,
        until: Duration,
        concerns: &dyn Fn(Rect) -> bool,
        clock: &Clock,
        cancel: &Cancel,
    ) -> Result<Rest, Trouble> {
        loop {
            link.receive()?;
            let is_news = |drawn: &Drawn| self.is_unseen(*drawn) && concerns(drawn.rect);
            // Each box is told, not only the first: a recording keeps them all.
            let news = link.take_drawn().iter().filter(|drawn| is_news(drawn)).count();
            let now = clock.now();
            if cancel.is_cancelled() {
                return Ok(Rest::Cancelled);
            } else if news > 0 {
                return Ok(Rest::Damaged);
            } else if now >= until {
                return Ok(Rest::Elapsed);
            }
            link.listen((until - now).min(NOTICE))?;
        }
    }

    const fn is_unseen(&self, drawn: Drawn) -> bool {
        drawn.damage == self.damage && drawn.sequence >= self.seen
    }
}
