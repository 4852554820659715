//! When a condition is met, when its time is over, and which moments can decide it.

use std::time::Duration;

use super::super::net::BLINK_PATIENCE;
use super::super::pace::{Cut, LAST_LOOK};
use super::super::periodic::Periodicity;
use super::{Rule, Rules};

/// Captures wanted closer together than this are not spread: the interval is asked for instead.
const SHORTEST_SPREAD: Duration = Duration::from_millis(5);

/// What has moved for so long without being learned does not repeat.
const UNLEARNED: Duration = Duration::from_secs(5);

/// Its time.
impl Rules {
    /// The instant after which no capture counts. For `settled` it moves when something changes.
    pub(in super::super) fn deadline(&self) -> Duration {
        match (&self.rule, self.net.first_difference()) {
            (Rule::Settled, None) => self.looked_again_at(),
            (Rule::Settled, Some(first)) => first.saturating_add(self.options.settle_within),
            _ => self.timeout,
        }
    }

    /// When a second look after the action may say that nothing changed.
    fn looked_again_at(&self) -> Duration {
        self.options.starts_at().saturating_add(self.options.look_again)
    }

    /// The end of the grace after the deadline.
    pub(in super::super) fn horizon(&self) -> Duration {
        self.deadline().saturating_add(self.options.grace)
    }

    /// When a capture that gives no answer should be given up.
    pub(in super::super) fn give_up(&self) -> Duration {
        self.deadline().saturating_add(self.options.grace.max(self.options.stall_grace))
    }

    /// Whether it is decided, one way or the other.
    pub(in super::super) const fn is_over(&self) -> bool {
        self.decision.is_some()
    }

    /// Whether it was met in time.
    pub(in super::super) fn is_met_in_time(&self) -> bool {
        self.decision
            .is_some_and(|decision| !decision.late && decision.kind == super::OutcomeKind::Met)
    }

    /// Whether a capture may begin at `now`: not past the deadline (and the grace), but for the
    /// first look.
    pub(in super::super) fn may_begin(&self, now: Duration) -> bool {
        self.decision.is_none() && (self.supply.captures() == 0 || now < self.horizon())
    }

    /// What limits the next look: the last moment it may begin, the moment at which it could
    /// decide, and how far apart the looks may lie. `None` when none may begin any more.
    pub(in super::super) fn cut(&self, now: Duration) -> Option<Cut> {
        if self.is_over() {
            return None;
        }
        let (wanted, spread) = (self.decisive_at(now), self.spread());
        let last_before = |end: Duration| end.checked_sub(LAST_LOOK).filter(|last| *last > now);
        if let Some(last) = last_before(self.deadline()) {
            let left = self.captures_needed.saturating_sub(self.supply.captures()).max(1);
            return Some(Cut { latest: now + (last - now) / left, wanted, spread });
        }
        last_before(self.horizon()).map(|latest| Cut { latest, wanted, spread })
    }

    /// The captures a lasting condition wants are spread over its hold: two of them at its end
    /// would say little about the time before.
    fn spread(&self) -> Duration {
        let gaps = self.captures_needed.saturating_sub(1);
        match self.hold.checked_div(gaps) {
            Some(gap) if gap >= SHORTEST_SPREAD => gap,
            _ => Duration::MAX,
        }
    }

    /// The next moment after `now` at which a look could decide.
    fn decisive_at(&self, now: Duration) -> Option<Duration> {
        let candidates = match &self.rule {
            Rule::Stable | Rule::Settled => {
                let quiet = self.motion.quiet().0.saturating_add(self.hold);
                [Some(quiet), self.motion.next_caret_at(), Some(self.believed_at())]
            }
            Rule::Changed => {
                [self.net.next_standing_at(now, self.hold, BLINK_PATIENCE), None, None]
            }
            Rule::Seen(sighting) => {
                [sighting.run().map(|(since, _)| since.saturating_add(self.hold)), None, None]
            }
            Rule::OtherScale { .. } => [None; 3],
        };
        candidates.into_iter().flatten().filter(|at| *at > now).min()
    }
}

/// Whether it is met.
impl Rules {
    pub(super) fn is_met(&self, at: Duration) -> bool {
        match &self.rule {
            Rule::Stable => self.is_quiet(at) && self.may_be_over(at),
            Rule::Changed => self.stands(at) && !self.is_unsettled(),
            Rule::Settled => self.net.has_areas() && self.is_quiet(at),
            Rule::Seen(sighting) => sighting.is_complete(at, self.hold, self.captures_needed),
            Rule::OtherScale { .. } => false,
        }
    }

    pub(super) fn is_quiet(&self, at: Duration) -> bool {
        let (since, looks) = self.motion.quiet();
        at.saturating_sub(since) >= self.hold
            && looks >= self.captures_needed
            && !self.is_unsettled()
    }

    /// Stillness is an answer once something has changed, or when it is old enough to be believed,
    /// or at the last look.
    fn may_be_over(&self, at: Duration) -> bool {
        let is_last = at.saturating_add(LAST_LOOK * 2) > self.deadline();
        self.net.first_area().is_some() || is_last || at >= self.believed_at()
    }

    /// When stillness that was there from the start is believed: the effect of an input takes a
    /// moment to show; and something that moves in a part left out, such as a spinner, says that
    /// work is going on whose end nobody has seen.
    fn believed_at(&self) -> Duration {
        let Self { hold, options, .. } = self;
        let lasts = match options.input_at {
            _ if self.motion.has_hidden_motion() => hold.saturating_add(options.settle_within),
            Some(_) => (*hold).max(options.look_again),
            None => *hold,
        };
        options.starts_at().saturating_add(lasts)
    }

    /// Something that repeats is out of step: whether that is a change is not known yet.
    fn is_unsettled(&self) -> bool {
        self.periodicity.as_ref().is_some_and(Periodicity::is_out_of_step)
    }

    /// A difference that stands. What has moved during the hold may be about to be learned as
    /// something that repeats, so on request it counts only when it has not for a long time.
    fn stands(&self, at: Duration) -> bool {
        let may_count = |rect, since| {
            let is_restless =
                |one: &Periodicity| one.has_changed_since(rect, at.saturating_sub(self.hold));
            at.saturating_sub(since) > UNLEARNED
                || !self.periodicity.as_ref().is_some_and(is_restless)
        };
        self.net.stands(at, self.hold, BLINK_PATIENCE, self.captures_needed, may_count)
    }

    /// Nothing differs from the baseline any more, and what did is over.
    pub(super) fn is_settled_unchanged(&self, at: Duration) -> bool {
        matches!(self.rule, Rule::Settled)
            && at >= self.looked_again_at()
            && !self.net.has_areas()
            && !self.net.has_suspects()
            && (self.net.first_area().is_none() || self.is_quiet(at))
    }
}
