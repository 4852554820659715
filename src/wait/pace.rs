//! When to look next: irregular, seldom where nothing happens, and within a share of one core.
//!
//! ```text
//!  cheap looks       | | || |  | | ||  | | |     gaps 0.6..1.4 of the interval
//!  costly looks      |  |    |       |        |   growing while nothing changes, to cost / share
//!  something moved   |       |        x| | |  |   back to the interval
//!  damage is told    |  |    |       |    d|      growing to 15 intervals; a look at once when
//!                                                 something is drawn, if it was quiet before
//! ```
//!
//! What looks may cost is an account: time pays in the share, a look takes out its cost, and what
//! is saved up, at most that of [`SAVINGS`], can be spent at once, so that a change is followed
//! closely. The looks a condition cannot do without (its count, and the last before the deadline)
//! are taken on credit.

use std::time::Duration;

use super::schedule::Gaps;

/// How long before the deadline the last look begins.
pub(super) const LAST_LOOK: Duration = Duration::from_millis(2);

/// The share of how much time can be saved up, in seconds.
const SAVINGS: f64 = 5.0;

/// How much longer a gap is than the one before, while nothing changes.
const GROWTH: f64 = 1.5;

/// The longest gap where damage is told, in intervals: it may be told wrongly.
const FALLBACK: f64 = 15.0;

/// The gap between two looks that damage asks for, where the interval is not shorter.
const EAGER: f64 = 0.05;

/// How much longer the gap gets for damage that changes nothing, at most.
const MOST_FRUITLESS: f64 = 4.0;

/// Changes no damage announced after which damage is no longer relied on. One may be a drawing
/// that came between the damage and the picture.
const MOST_UNANNOUNCED: u32 = 2;

/// What limits the next look of one condition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// When it must begin, whatever it costs.
    pub(super) latest: Duration,
    /// When it could decide.
    pub(super) wanted: Option<Duration>,
    /// The longest gap, while there is something that could.
    pub(super) spread: Duration,
}

impl Cut {
    /// What limits a look that two conditions share.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            latest: self.latest.min(other.latest),
            wanted: self.wanted.into_iter().chain(other.wanted).min(),
            spread: self.spread.min(other.spread),
        }
    }
}

/// What a look showed, compared with the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Showed {
    /// No new frame, or the first.
    Nothing,
    Same,
    /// A caret, or something as small.
    Other,
    Motion,
}

/// The times of the looks of one wait.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    gaps: Gaps,
    interval: f64,
    share: f64,
    /// Seconds that looks may cost now; below zero, what was taken on credit.
    account: f64,
    paid_until: Duration,
    /// What looks cost, in seconds, lately, and what the last one has cost so far.
    cost: f64,
    last_cost: f64,
    /// The gap in intervals while nothing changes.
    quiet: f64,
    /// When a look that damage asks for may begin, and whether it asked for the last one.
    ready_at: Duration,
    was_damaged: bool,
    damage: Option<Damage>,
}

/// What is known of the damage a surface tells.
#[derive(Clone, Copy, Debug, Default)]
struct Damage {
    /// Since the last look began.
    is_new: bool,
    /// How many times longer the gap is between looks that damage asks for, grown by each that was
    /// for nothing; 0 is 1.
    fruitless: f64,
    unannounced: u32,
    /// The last look was for nothing: what was drawn may come to be seen a moment later.
    is_unexplained: bool,
    may_be_missed: bool,
}

impl Pace {
    pub(super) fn new(interval: Duration, seed: u64, share: f64) -> Self {
        Self {
            gaps: Gaps::new(interval, seed),
            interval: interval.as_secs_f64(),
            share,
            account: share * SAVINGS,
            paid_until: Duration::ZERO,
            cost: 0.0,
            last_cost: 0.0,
            quiet: 1.0,
            ready_at: Duration::ZERO,
            was_damaged: false,
            damage: None,
        }
    }

    /// The surface tells damage: looks may be seldom without it.
    pub(super) fn rely_on_damage(&mut self) {
        self.damage.get_or_insert_default();
    }

    /// When to look after `now`.
    pub(super) fn next(&mut self, now: Duration, cut: Cut) -> Duration {
        let gap = self.gaps.draw(cut.spread);
        let grown = stretched(gap, self.quiet.min(self.longest()));
        let drawn = match cut.wanted {
            Some(wanted) => wanted.min(now.saturating_add(grown.min(cut.spread))),
            None => now.saturating_add(grown),
        };
        // What is drawn all the time is looked at as often as without damage.
        let eager = (EAGER / self.interval).min(1.0) * self.fruitless();
        let again = if self.was_damaged { stretched(gap, eager) } else { Duration::ZERO };
        self.ready_at = now.saturating_add(again);
        drawn.max(self.affordable_at(now)).min(cut.latest)
    }

    /// Something was drawn at `now`: when to look at it, if `planned` is when to look anyway.
    ///
    /// At once, unless damage has asked for the last look too, just before.
    pub(super) fn damaged(&mut self, now: Duration, planned: Duration) -> Duration {
        if let Some(damage) = &mut self.damage {
            damage.is_new = true;
        }
        now.max(self.ready_at).max(self.affordable_at(now)).min(planned.max(now))
    }

    /// Whether something was drawn since the last look began.
    pub(super) fn is_damaged(&self) -> bool {
        self.damage.is_some_and(|damage| damage.is_new)
    }

    /// Whether what was drawn may have come and gone unseen.
    pub(super) fn may_have_missed(&self) -> bool {
        self.damage.is_some_and(|damage| damage.may_be_missed || damage.is_unexplained)
    }

    /// What a look showed.
    pub(super) fn see(&mut self, showed: Showed) {
        self.was_damaged = self.is_damaged();
        self.cost = self.usual_cost();
        self.last_cost = 0.0;
        let is_fruitless = self.judge_damage(showed);
        self.quiet = match showed {
            Showed::Motion => 1.0,
            _ if is_fruitless => 1.0,
            _ => (self.quiet * GROWTH).min(self.longest()),
        };
    }

    /// Whether the look was for nothing: what was drawn is not seen, now at least. Said only of
    /// the first: a program that draws the same again and again is not watched closely for it.
    fn judge_damage(&mut self, showed: Showed) -> bool {
        let Some(damage) = self.damage.as_mut().filter(|_| showed != Showed::Nothing) else {
            return false;
        };
        let is_new = std::mem::take(&mut damage.is_new);
        let was_unexplained = std::mem::take(&mut damage.is_unexplained);
        if showed != Showed::Same {
            damage.fruitless = 0.0;
            damage.unannounced += u32::from(!is_new && !was_unexplained);
            damage.may_be_missed |= was_unexplained && is_new;
            return false;
        }
        damage.may_be_missed |= was_unexplained;
        damage.is_unexplained = is_new;
        if is_new {
            damage.fruitless = (damage.fruitless.max(0.5) * 2.0).min(MOST_FRUITLESS);
        }
        is_new && damage.fruitless <= 1.0
    }

    /// Takes from the account what a look cost.
    pub(super) fn spend(&mut self, cost: Duration) {
        self.account -= cost.as_secs_f64();
        self.last_cost += cost.as_secs_f64();
    }

    /// What a look costs, the last one counted for a quarter.
    fn usual_cost(&self) -> f64 {
        let is_first = self.cost == 0.0;
        if is_first { self.last_cost } else { self.cost.mul_add(0.75, self.last_cost * 0.25) }
    }

    /// What looks cost before the last one, which may not be at its end.
    fn known_cost(&self) -> f64 {
        if self.cost == 0.0 { self.last_cost } else { self.cost }
    }

    /// When the account is out of debt.
    fn affordable_at(&mut self, now: Duration) -> Duration {
        let passed = now.saturating_sub(self.paid_until).as_secs_f64();
        self.paid_until = self.paid_until.max(now);
        self.account = passed.mul_add(self.share, self.account).min(self.share * SAVINGS);
        now.saturating_add(seconds(-self.account / self.share))
    }

    /// How long a gap may grow, in intervals.
    fn longest(&self) -> f64 {
        let fallback = if self.is_trusted() { FALLBACK } else { 1.0 };
        (self.known_cost() / self.share / self.interval).max(fallback)
    }

    fn is_trusted(&self) -> bool {
        self.damage.is_some_and(|damage| damage.unannounced < MOST_UNANNOUNCED)
    }

    fn fruitless(&self) -> f64 {
        self.damage.map_or(1.0, |damage| damage.fruitless.max(1.0))
    }
}

fn stretched(gap: Duration, times: f64) -> Duration {
    seconds(gap.as_secs_f64() * times)
}

/// Past the end of time is its end, before its beginning its beginning.
fn seconds(seconds: f64) -> Duration {
    if seconds <= 0.0 {
        return Duration::ZERO;
    }
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}
