//! The rules of a wait, without its loop.

use std::time::Duration;

use crate::error::{Error, Result};
use crate::frame::{Frame, PixelFormat};
use crate::geometry::{Rect, Size};

use super::condition::{Condition, WaitOptions};
use super::motion::Sight;
use super::outcome::{Flag, Observation, Outcome};
use super::pace::{Cut, Pace, Showed};
use super::rules::{Latest, Rules};
use super::several;
use super::source::Geometry;
use super::supply::Supply;
use super::timeline::{LookVerdict, Timeline};

/// What one attempt to look gave.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Look<'a> {
    /// A frame of the part [`Monitor::region`] asks for.
    Taken {
        /// Its id; ids of new frames grow.
        id: u64,
        /// The pixels.
        frame: &'a Frame,
    },
    /// The surface has another size than the region was meant for.
    Resized,
    /// No answer came in time.
    Stalled,
    /// The surface answered with an error.
    Failed,
}

/// What one look means for the wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Whether it was evidence: a new frame.
    pub is_evidence: bool,
    /// Whether the wait is over.
    pub is_over: bool,
}

/// The rules of a wait, for people with a loop of their own; [`wait`](super::wait()) is such a
/// loop. It never sleeps, captures or reads a clock: all times are given to it, as durations from
/// the start of the wait.
///
/// ```
/// use std::time::Duration;
/// use seechange::wait::{Condition, Geometry, Look, Monitor, OutcomeKind, WaitOptions};
/// use seechange::{Frame, PixelFormat, Size};
/// let size = Size::new(64, 48)?;
/// let geometry = Geometry { size, scale: 1.0, origin: (0, 0) };
/// let mut monitor = Monitor::new(&Condition::stable(), &WaitOptions::new(), geometry)?;
/// let frame = Frame::filled(size, PixelFormat::Rgba, [255; 4]);
/// let (mut now, mut id) = (Duration::ZERO, 0);
/// while let Some(at) = monitor.next_look(now) {
///     (now, id) = (at, id + 1); // sleep until `at`, then capture
///     monitor.see(at, at, Look::Taken { id, frame: &frame })?;
/// }
/// let outcome = monitor.finish(now, false, Some(frame));
/// assert_eq!(outcome.kind, OutcomeKind::Met);
/// assert_eq!(outcome.met_at, Some(Duration::from_millis(250)));
/// # Ok::<(), seechange::Error>(())
/// ```
///
/// Where frames come by themselves, as from a stream, there is nothing to plan: give each one in
/// as it comes, until [`Step::is_over`], or until it is later than [`Self::runs_out_at`].
#[derive(Debug)]
pub struct Monitor {
    /// One for each condition; never empty.
    conditions: Vec<Watched>,
    /// Whether they are the several of an `any`, be it of one.
    is_any: bool,
    geometry: Geometry,
    bounds: Rect,
    pace: Pace,
    planned: Duration,
    supply: Supply,
    timeline: Timeline,
}

/// A condition, and its part of the frame where that is not all of it.
#[derive(Debug)]
struct Watched {
    rules: Rules,
    cut: Frame,
}

impl Monitor {
    /// The rules for `condition` on a surface of `geometry`.
    ///
    /// # Errors
    /// When the wait could never be met ([`ErrorKind::Impossible`](crate::ErrorKind)): a hold that
    /// does not fit in the timeout, a region outside the frame, a reference larger than the
    /// region, a scale outside [`Geometry::SCALES`], `settled` with neither a baseline nor an input
    /// to come; or when an option makes no sense. The message says both numbers.
    pub fn new(condition: &Condition, options: &WaitOptions, geometry: Geometry) -> Result<Self> {
        let is_any = condition.name() == "any";
        let named = |one: &Condition| {
            let rules = Rules::new(one, options, geometry);
            rules.map_err(|error| if is_any { error.context(one.label_in_force()) } else { error })
        };
        let rules: Vec<Rules> = condition.conditions().iter().map(named).collect::<Result<_>>()?;
        let parts = rules.iter().map(|rules| rules.part().bounds());
        let bounds = parts.reduce(Rect::union).unwrap_or(geometry.size.rect());
        Ok(Self {
            conditions: rules.into_iter().map(Watched::new).collect(),
            is_any,
            geometry,
            bounds,
            pace: Pace::new(options.interval, options.seed, options.max_cpu),
            planned: Duration::ZERO,
            supply: Supply::default(),
            timeline: Timeline::default(),
        })
    }

    /// The part of the surface to capture; `None` for all of it.
    #[must_use]
    pub fn region(&self) -> Option<Rect> {
        (self.bounds != self.geometry.size.rect()).then_some(self.bounds)
    }

    /// The part of the surface the wait looks at: the bounding box of the scopes' regions.
    #[must_use]
    pub const fn bounds(&self) -> Rect {
        self.bounds
    }

    /// When the next look should begin, at `now`; `None` when the wait is over.
    ///
    /// Gaps are irregular; the last one before a deadline is cut so that a look begins just
    /// before it, and one that would pass the moment at which the evidence is complete is cut to
    /// that moment. They grow while nothing changes as far as looks are costly (see
    /// [`WaitOptions::max_cpu`]) or damage is told of (see [`Self::rely_on_damage`]).
    pub fn next_look(&mut self, now: Duration) -> Option<Duration> {
        if self.is_over() {
            return None;
        }
        if self.supply.captures() == 0 {
            return Some(now);
        }
        let cuts = self.conditions.iter().filter_map(|one| one.rules.cut(now));
        let cut = cuts.reduce(Cut::and)?;
        self.planned = self.pace.next(now, cut);
        Some(self.planned)
    }

    /// Says that the surface tells damage, so that looks may be seldom while there is none: 15
    /// intervals apart in the end. When things change without any, that is not relied on any more.
    pub fn rely_on_damage(&mut self) {
        self.pace.rely_on_damage();
    }

    /// Whether something drawn at `rect` of the surface can matter.
    #[must_use]
    pub fn concerns(&self, rect: Rect) -> bool {
        self.conditions.iter().any(|one| !one.rules.is_over() && one.rules.part().concerns(rect))
    }

    /// Takes note that something was drawn, heard of at `now`, and says when to look at it: at
    /// once, or a moment later where that was asked for just before.
    pub fn damaged(&mut self, now: Duration) -> Duration {
        if self.supply.captures() == 0 {
            // What was drawn before the first look is in it.
            return now;
        }
        self.pace.damaged(now, self.planned)
    }

    /// Takes note that the last look cost this much more than its capture took, as for the
    /// comparing: see [`WaitOptions::max_cpu`].
    pub fn spend(&mut self, cost: Duration) {
        self.pace.spend(cost);
    }

    /// Whether a capture may begin at `now`: not past the deadline (and the grace), but for the
    /// first look.
    #[must_use]
    pub fn may_begin(&self, now: Duration) -> bool {
        self.conditions.iter().any(|one| one.rules.may_begin(now))
    }

    /// When a capture that gives no answer should be given up.
    #[must_use]
    pub fn give_up(&self) -> Duration {
        self.latest_of(Rules::give_up)
    }

    /// The instant after which no capture counts, that of the last condition to end. For `settled`
    /// it moves when something changes.
    #[must_use]
    pub fn deadline(&self) -> Duration {
        self.latest_of(Rules::deadline)
    }

    fn latest_of(&self, when: impl Fn(&Rules) -> Duration) -> Duration {
        let open = self.conditions.iter().filter(|one| !one.rules.is_over());
        let latest = open.map(|one| when(&one.rules)).max();
        latest
            .or_else(|| self.conditions.iter().map(|one| when(&one.rules)).max())
            .unwrap_or_default()
    }

    /// When an undecided wait is over: at the deadline, or at the end of the grace after it;
    /// `None` once it is decided.
    #[must_use]
    pub fn runs_out_at(&self) -> Option<Duration> {
        (!self.is_over()).then(|| self.latest_of(Rules::horizon))
    }

    fn is_over(&self) -> bool {
        let mut rules = self.conditions.iter().map(|one| &one.rules);
        rules.clone().any(Rules::is_met_in_time) || rules.all(Rules::is_over)
    }

    /// What the wait has seen so far.
    #[must_use]
    pub const fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Takes in one look that began and ended at these times.
    ///
    /// A frame of another size than the surface had is a resize; what that means is the condition's
    /// rule.
    ///
    /// # Errors
    /// When [`Self::region`] asks for a part and the frame has not its size.
    pub fn see(&mut self, began: Duration, ended: Duration, look: Look<'_>) -> Result<Step> {
        self.supply.begin(began);
        let is_evidence = match look {
            Look::Taken { id, frame } => {
                self.check_size(frame)?;
                self.supply.take(began, id)
            }
            _ => false,
        };
        let captured = self.region();
        for one in &mut self.conditions {
            one.see(began, ended, look, captured)?;
        }
        self.follow_size(look);
        self.note(began);
        // A capture without an answer has cost nothing but time.
        if !matches!(look, Look::Stalled) {
            self.pace.spend(ended.saturating_sub(began));
        }
        Ok(Step { is_evidence, is_over: self.is_over() })
    }

    fn check_size(&self, frame: &Frame) -> Result<()> {
        let is_as_asked = self.region().is_none() || frame.size() == self.bounds.size();
        let asked = self.bounds;
        let message = || format!("a capture of {asked} came back as {}", frame.size());
        if is_as_asked { Ok(()) } else { Err(Error::surface(message())) }
    }

    /// A surface that is captured whole is as large as its frame.
    fn follow_size(&mut self, look: Look<'_>) {
        if let Look::Taken { frame, .. } = look
            && self.region().is_none()
        {
            self.geometry.size = frame.size();
            self.bounds = frame.size().rect();
        }
    }

    /// Writes the look down.
    fn note(&mut self, began: Duration) {
        let showed = self.showed();
        let verdict = self.verdict();
        let frame = (verdict != LookVerdict::NoEvidence).then(|| self.supply.last_id()).flatten();
        self.timeline.push(began, frame, verdict, moved(&self.conditions), self.pace.is_damaged());
        self.pace.see(showed);
    }

    fn verdict(&self) -> LookVerdict {
        let mut latest = self.conditions.iter().map(|one| one.rules.latest());
        if latest.clone().all(|latest| latest == Latest::Nothing) {
            return LookVerdict::NoEvidence;
        }
        let has_moved = moved(&self.conditions).next().is_some();
        let is_moved = latest.any(|latest| latest == Latest::Resized) || has_moved;
        if is_moved { LookVerdict::Moved } else { LookVerdict::Still }
    }

    /// What the look means for when to look next.
    fn showed(&self) -> Showed {
        let mut latest = self.conditions.iter().map(|one| one.rules.latest());
        let is_nothing = latest.clone().all(|latest| latest == Latest::Nothing);
        let moves = |latest| matches!(latest, Latest::Frame(Sight::Moved) | Latest::Resized);
        if is_nothing || self.supply.captures() == 1 {
            Showed::Nothing
        } else if latest.any(moves) {
            Showed::Motion
        } else if self.conditions.iter().any(|one| one.rules.is_other()) {
            Showed::Other
        } else {
            Showed::Same
        }
    }

    /// Ends the wait at `now`. `last` is the last frame that was evidence.
    #[must_use]
    pub fn finish(self, now: Duration, cancelled: bool, last: Option<Frame>) -> Outcome {
        let (bounds, supply, captures) = (self.bounds, self.supply, self.supply.captures());
        let outcomes = self.conditions.into_iter();
        let outcomes = outcomes.map(|one| one.rules.outcome(now, cancelled)).collect();
        let outcome =
            if self.is_any { several::combined(outcomes) } else { several::only(outcomes) };
        let mut flags = outcome.flags;
        flags.extend(self.pace.may_have_missed().then_some(Flag::DamageWithoutChange));
        let last = last.zip(supply.last_id()).map(|(frame, id)| Observation {
            id,
            at: supply.last_at(),
            age: now.saturating_sub(supply.last_at()),
            frame,
            origin: bounds,
        });
        Outcome { captures, flags, last, timeline: self.timeline, ..outcome }
    }
}

/// What moved in the latest look; what several conditions saw is told once.
fn moved(conditions: &[Watched]) -> impl Iterator<Item = Rect> {
    conditions.iter().enumerate().flat_map(|(nth, one)| {
        let earlier = &conditions[..nth];
        let is_told = |rect| earlier.iter().any(|one| one.rules.moved().any(|it| it == rect));
        one.rules.moved().filter(move |rect| !is_told(*rect))
    })
}

impl Watched {
    fn new(rules: Rules) -> Self {
        let cut = Frame::filled(Size::ONE, PixelFormat::Rgba, [0; 4]);
        Self { rules, cut }
    }

    /// Takes in one look at `captured` of the surface, `None` for all of it.
    fn see(
        &mut self,
        began: Duration,
        ended: Duration,
        look: Look<'_>,
        captured: Option<Rect>,
    ) -> Result<()> {
        let Self { rules, cut } = self;
        if !rules.may_begin(began) {
            rules.pass();
            return Ok(());
        }
        let Look::Taken { id, frame } = look else { return rules.see(began, ended, look) };
        match rules.part().inside(captured, frame.size()) {
            Some(inside) if inside == frame.size().rect() => rules.see(began, ended, look),
            Some(inside) => {
                cut.copy_from(frame.as_ref().crop(inside)?);
                rules.see(began, ended, Look::Taken { id, frame: cut })
            }
            None => rules.see(began, ended, Look::Resized),
        }
    }
}
