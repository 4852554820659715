//! An action played on a clock that jumps.

use std::time::Duration;

use seechange::wait::{Capture, Geometry, Rest, Source};
use seechange::{Cancel, Clock, Frame, Rect, Result, Size};

use super::desktop::{Action, Picture, SIZE, frame};
use super::policies::{Policy, Start, Waited};

/// How long a capture takes.
const COST: Duration = Duration::from_millis(3);

/// Waits for an action whose input is at the clock's zero.
pub(crate) fn play(
    policy: Policy,
    action: &Action,
    end: Option<Rect>,
    seed: u64,
    tells_damage: bool,
) -> Waited {
    let clock = Clock::simulated();
    let before = frame(&action.picture(0));
    let done = end.map(|rect| (frame(&action.picture(action.done_ms)), rect));
    let mut source = Script { action, clock: &clock, tells_damage, id: 0, shown: vec![] };
    policy.wait(&mut source, Start { clock: &clock, before, done, seed })
}

struct Script<'a> {
    action: &'a Action,
    clock: &'a Clock,
    tells_damage: bool,
    id: u64,
    /// What the last capture showed.
    shown: Picture,
}

impl Script<'_> {
    fn picture(&self) -> Picture {
        let ms = self.clock.now().as_millis();
        self.action.picture(u64::try_from(ms).unwrap_or(u64::MAX))
    }
}

impl Source for Script<'_> {
    fn geometry(&mut self) -> Result<Geometry> {
        Ok(Geometry { size: Size::new(SIZE.0, SIZE.1)?, scale: 1.0, origin: (0, 0) })
    }

    fn capture(
        &mut self,
        region: Option<Rect>,
        _give_up: Duration,
        into: &mut Frame,
    ) -> Result<Capture> {
        self.shown = self.picture();
        self.clock.sleep(COST);
        let all = frame(&self.shown);
        let all = all.as_ref();
        into.copy_from(region.map_or(Ok(all), |region| all.crop(region))?);
        self.id += 1;
        Ok(Capture::Taken { id: self.id })
    }

    fn watch_damage(&mut self) -> Result<bool> {
        Ok(self.tells_damage)
    }

    /// Wakes at the millisecond at which something else is shown than in the last capture.
    fn rest(
        &mut self,
        until: Duration,
        _concerns: &dyn Fn(Rect) -> bool,
        clock: &Clock,
        cancel: &Cancel,
    ) -> Result<Rest> {
        while self.tells_damage && clock.now() < until {
            if self.picture() != self.shown {
                return Ok(Rest::Damaged);
            }
            clock.sleep(Duration::from_millis(1).min(until - clock.now()));
        }
        clock.sleep_until(until, cancel);
        Ok(Rest::Elapsed)
    }
}
