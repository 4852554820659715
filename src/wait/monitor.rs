//! The rules of a wait: a pure function of time and looks.

use std::time::Duration;

use crate::areas::AreaRules;
use crate::diff::Scope;
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::geometry::Rect;
use crate::report::DiffOptions;

use super::condition::{Condition, Kind, WaitOptions};
use super::motion::{Motion, Sight};
use super::net::{BLINK_PATIENCE, Net};
use super::outcome::{Flag, Observation, Outcome, OutcomeKind, SetAside, Term, Unmet};
use super::periodic::Periodicity;
use super::presence::{Presence, Run};
use super::schedule::Gaps;
use super::source::Geometry;
use super::timeline::{LookVerdict, Timeline};

/// How long before the deadline the last look begins.
const LAST_LOOK: Duration = Duration::from_millis(2);

/// Captures wanted closer together than this are not spread: the interval is asked for instead.
const SHORTEST_SPREAD: Duration = Duration::from_millis(5);

/// What has moved for so long without being learned does not repeat.
const UNLEARNED: Duration = Duration::from_secs(5);

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
#[derive(Debug)]
pub struct Monitor {
    name: &'static str,
    rule: Rule,
    options: WaitOptions,
    hold: Duration,
    captures_needed: u32,
    require_seen: bool,
    scope: Scope,
    diff: DiffOptions,
    geometry: Geometry,
    bounds: Rect,
    gaps: Gaps,

    captures: u32,
    last_id: Option<u64>,
    last_at: Duration,
    tried_at: Duration,
    evidence: u32,
    without_evidence: u32,
    last_stalled: bool,
    motion: Motion,
    net: Net,
    periodicity: Option<Periodicity>,
    has_begun: bool,
    run: Run,
    /// Whether the reference must be looked for: the picture is another one.
    is_unsearched: bool,
    is_fresh: bool,
    was_seen: bool,
    onset: Option<Duration>,
    resized: bool,
    low_information: bool,
    timeline: Timeline,
    decision: Option<Decision>,
}

#[derive(Debug)]
enum Rule {
    Stable,
    Changed,
    Settled,
    There(Presence),
    Gone(Presence),
    /// The reference shows the scope at another scale: over before it begins.
    OtherScale {
        width: u32,
    },
}

#[derive(Clone, Copy, Debug)]
struct Decision {
    kind: OutcomeKind,
    at: Duration,
    late: bool,
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
        options.check(condition)?;
        check_scale(geometry.scale)?;
        let scope = condition.diff_in_force().scope_in_force().clone();
        let bounds = bounds(&scope, geometry)?;
        let local = scope.cropped(bounds)?;
        let diff = condition.motion_options().scope(local.clone()).scale(geometry.scale);
        let matching = condition.diff_in_force().clone().scope(local).scale(geometry.scale);
        let baseline = options.baseline.as_ref().map(|frame| part(frame, geometry, bounds));
        let hold = condition.hold_in_force();
        let mut monitor = Self {
            name: condition.name(),
            rule: rule(condition, geometry, bounds, matching)?,
            hold,
            captures_needed: condition.captures_in_force(),
            require_seen: condition.wants_seen(),
            scope,
            geometry,
            bounds,
            gaps: Gaps::new(options.interval, options.seed),
            captures: 0,
            last_id: None,
            last_at: Duration::ZERO,
            tried_at: Duration::ZERO,
            evidence: 0,
            without_evidence: 0,
            last_stalled: false,
            motion: Motion::new(diff.clone(), hold),
            net: Net::new(diff.clone(), None),
            periodicity: condition.ignores_periodic().then(|| Periodicity::new(options.interval)),
            has_begun: false,
            run: Run::default(),
            is_unsearched: true,
            is_fresh: true,
            was_seen: false,
            onset: None,
            resized: false,
            low_information: false,
            timeline: Timeline::default(),
            decision: None,
            options: options.clone(),
            diff,
        };
        if matches!(monitor.rule, Rule::OtherScale { .. }) {
            monitor.decide(OutcomeKind::ScaleMismatch, Duration::ZERO, Duration::ZERO);
        }
        monitor.take_baseline(baseline.transpose()?)?;
        Ok(monitor)
    }

    /// The part of the surface to capture; `None` for all of it.
    #[must_use]
    pub fn region(&self) -> Option<Rect> {
        (self.bounds != self.geometry.size.rect()).then_some(self.bounds)
    }

    /// The part of the surface the wait looks at: the bounding box of the scope's regions.
    #[must_use]
    pub const fn bounds(&self) -> Rect {
        self.bounds
    }

    /// When the next look should begin, at `now`; `None` when the wait is over.
    ///
    /// Gaps are irregular; the last one before the deadline is cut so that a look begins just
    /// before it, and one that would pass the moment at which the evidence is complete is cut to
    /// that moment.
    pub fn next_look(&mut self, now: Duration) -> Option<Duration> {
        if self.decision.is_some() {
            return None;
        }
        if self.captures == 0 {
            return Some(now);
        }
        let drawn = now.saturating_add(self.gaps.draw(self.spread()));
        let deadline = self.deadline();
        if let Some(last) = deadline.checked_sub(LAST_LOOK).filter(|last| *last > now) {
            let left = self.captures_needed.saturating_sub(self.captures).max(1);
            let fair = now + (last - now) / left;
            let wanted = self.decisive_at(now).unwrap_or(drawn);
            return Some(drawn.min(fair).min(wanted).min(last));
        }
        let horizon = deadline.saturating_add(self.options.grace);
        let last = horizon.checked_sub(LAST_LOOK).filter(|last| *last > now)?;
        let wanted = self.decisive_at(now).unwrap_or(drawn);
        Some(drawn.min(wanted).min(last))
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

    /// Whether a capture may begin at `now`: not past the deadline (and the grace), but for the
    /// first look.
    #[must_use]
    pub fn may_begin(&self, now: Duration) -> bool {
        self.captures == 0 || now < self.deadline().saturating_add(self.options.grace)
    }

    /// When a capture that gives no answer should be given up.
    #[must_use]
    pub fn give_up(&self) -> Duration {
        self.deadline().saturating_add(self.options.grace.max(self.options.stall_grace))
    }

    /// The instant after which no capture counts. For `settled` it moves when something changes.
    #[must_use]
    pub fn deadline(&self) -> Duration {
        match (&self.rule, self.net.first_difference()) {
            (Rule::Settled, None) => self.options.look_again,
            (Rule::Settled, Some(first)) => first.saturating_add(self.options.settle_within),
            _ => self.options.timeout,
        }
    }

    /// When an undecided wait is over: at the deadline, or at the end of the grace after it;
    /// `None` once it is decided.
    #[must_use]
    pub fn runs_out_at(&self) -> Option<Duration> {
        self.decision.is_none().then(|| self.deadline().saturating_add(self.options.grace))
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
        self.captures += 1;
        self.tried_at = began;
        self.last_stalled = matches!(look, Look::Stalled);
        let is_new = |id| self.last_id.is_none_or(|last| id > last);
        let is_evidence = match look {
            Look::Taken { id, frame } if is_new(id) => {
                self.last_id = Some(id);
                self.see_frame(began, ended, id, frame)?;
                true
            }
            Look::Resized => {
                self.see_resized(began, ended);
                false
            }
            Look::Taken { .. } | Look::Stalled | Look::Failed => {
                self.without_evidence += 1;
                let nothing = std::iter::empty();
                self.timeline.push(began, None, LookVerdict::NoEvidence, nothing);
                false
            }
        };
        Ok(Step { is_evidence, is_over: self.decision.is_some() })
    }

    /// Ends the wait at `now`. `last` is the last frame that was evidence.
    #[must_use]
    pub fn finish(mut self, now: Duration, cancelled: bool, last: Option<Frame>) -> Outcome {
        self.settle_by_standing();
        let kind = self.kind(cancelled);
        let in_time = self.decision.filter(|decision| !decision.late);
        let met_at = in_time.filter(|_| kind == OutcomeKind::Met).map(|decision| decision.at);
        let late = self.decision.filter(|decision| decision.late);
        Outcome {
            kind,
            condition: self.name,
            elapsed: now,
            captures: self.captures,
            onset: self.onset(),
            met_at,
            found: self.found().map(|rect| self.on_surface(rect)),
            unmet: (kind != OutcomeKind::Met).then(|| self.unmet()),
            standing: self.all_on_surface(self.net.boxes()),
            ignored: self.set_aside(),
            flags: self.flags(kind, met_at),
            late: late.map(|decision| decision.at.saturating_sub(self.deadline())),
            last: last.zip(self.last_id).map(|(frame, id)| Observation {
                id,
                at: self.last_at,
                age: now.saturating_sub(self.last_at),
                frame,
                origin: self.bounds,
            }),
            timeline: std::mem::take(&mut self.timeline),
            transients: self.transients(),
        }
    }
}

/// Taking looks in.
impl Monitor {
    fn see_frame(
        &mut self,
        began: Duration,
        ended: Duration,
        id: u64,
        frame: &Frame,
    ) -> Result<()> {
        self.without_evidence = 0;
        self.last_at = began;
        if frame.size() != self.bounds.size() && !self.follow_resize(began, ended, frame)? {
            return Ok(());
        }
        self.evidence += 1;
        let sight = self.motion.see(began, frame)?;
        let verdict = match self.motion.moved().is_empty() {
            true => LookVerdict::Still,
            false => LookVerdict::Moved,
        };
        let (x, y) = (self.bounds.x(), self.bounds.y());
        let moved = self.motion.moved().iter().map(|rect| displaced(*rect, x, y));
        self.timeline.push(began, Some(id), verdict, moved);
        self.is_unsearched |= sight != Sight::Identical || self.periodicity.is_some();
        self.see_net(began, sight, frame)?;
        self.learn_periods(began, frame)?;
        if began >= self.options.starts_at() {
            self.judge(began, ended, frame)?;
        }
        Ok(())
    }

    /// Looks before the input only give the baseline; the first one after it is compared with it.
    fn see_net(&mut self, began: Duration, sight: Sight, frame: &Frame) -> Result<()> {
        let starts_at = self.options.starts_at();
        if began < starts_at {
            if sight != Sight::Identical {
                self.net.rebase(frame);
            }
            return Ok(());
        }
        if !std::mem::replace(&mut self.has_begun, true) && starts_at > Duration::ZERO {
            self.motion.count_from(began);
        } else if sight == Sight::Identical {
            self.net.see_same();
            return Ok(());
        }
        self.net.see(began, frame)?;
        if sight == Sight::Moved && matches!(self.rule, Rule::Stable | Rule::Settled) {
            self.onset.get_or_insert(began);
        }
        Ok(())
    }

    /// Leaves out what has been learned to repeat, takes back in what no longer does.
    fn learn_periods(&mut self, began: Duration, frame: &Frame) -> Result<()> {
        let Some(periodicity) = &mut self.periodicity else { return Ok(()) };
        if !periodicity.see(began, frame, self.motion.moved()) {
            return Ok(());
        }
        let left_out = periodicity.cells();
        let local = self.scope.cropped(self.bounds)?;
        let scope = left_out.iter().fold(local, |scope, &cell| scope.ignore(cell));
        self.motion.set_options(self.diff.clone().scope(scope.clone()));
        self.net.set_options(self.diff.clone().scope(scope), &left_out);
        Ok(())
    }

    fn judge(&mut self, began: Duration, ended: Duration, frame: &Frame) -> Result<()> {
        if std::mem::take(&mut self.is_unsearched) {
            self.look_for_reference(frame)?;
        }
        self.count_run(began);
        if self.is_met(began) {
            self.low_information = is_nearly_blank(frame);
            self.decide(OutcomeKind::Met, began, ended);
        } else if self.is_settled_unchanged(began) {
            self.decide(OutcomeKind::TimedOut, began, ended);
        }
        Ok(())
    }

    fn look_for_reference(&mut self, frame: &Frame) -> Result<()> {
        if let Rule::There(presence) | Rule::Gone(presence) = &mut self.rule {
            let is_there = presence.look(frame)?.is_some();
            self.was_seen |= is_there;
            self.is_fresh |= !is_there;
        }
        Ok(())
    }

    fn count_run(&mut self, began: Duration) {
        let shows = match &self.rule {
            Rule::There(presence) => presence.place().is_some() && self.is_fresh,
            Rule::Gone(presence) => {
                presence.place().is_none() && (self.was_seen || !self.require_seen)
            }
            _ => return,
        };
        self.run.see(began, shows);
    }

    fn decide(&mut self, kind: OutcomeKind, began: Duration, ended: Duration) {
        // A first look at a deadline of zero is in time.
        let late = began >= self.deadline() && self.captures > 1;
        self.decision = Some(Decision { kind, at: ended, late });
    }

    /// A frame of another size: `true` when the wait goes on with it.
    fn follow_resize(&mut self, began: Duration, ended: Duration, frame: &Frame) -> Result<bool> {
        let all = self.region().is_none();
        if !all {
            return Err(Error::surface(format!(
                "a capture of {} came back as {}",
                self.bounds,
                frame.size()
            )));
        }
        let fits = self.scope.bounds(frame.size()).is_ok();
        let goes_on = match self.rule {
            Rule::Changed | Rule::Stable | Rule::Settled => fits,
            Rule::There(_) | Rule::Gone(_) | Rule::OtherScale { .. } => false,
        };
        if !goes_on {
            self.see_resized(began, ended);
            return Ok(false);
        }
        self.resized = true;
        self.geometry.size = frame.size();
        self.bounds = frame.size().rect();
        Ok(true)
    }

    /// For `changed` another size is a change like any other; elsewhere it ends the wait.
    fn see_resized(&mut self, began: Duration, ended: Duration) {
        self.resized = true;
        self.without_evidence = 0;
        let all = self.bounds;
        self.timeline.push(began, self.last_id, LookVerdict::Moved, std::iter::once(all));
        if !matches!(self.rule, Rule::Changed) {
            self.decide(OutcomeKind::GeometryChanged, began, ended);
            return;
        }
        self.net.see_resized(began, all.size().rect());
        if self.is_met(began) {
            self.decide(OutcomeKind::Met, began, ended);
        }
    }

    fn take_baseline(&mut self, baseline: Option<Frame>) -> Result<()> {
        let Some(baseline) = baseline else { return Ok(()) };
        if let Rule::There(presence) = &mut self.rule
            && baseline.size() == self.bounds.size()
        {
            // What matched before the action is no effect of it.
            self.is_fresh = presence.look(&baseline)?.is_none();
        }
        self.net.rebase(&baseline);
        Ok(())
    }
}

/// The rules of each condition.
impl Monitor {
    fn is_met(&self, at: Duration) -> bool {
        match &self.rule {
            Rule::Stable => self.is_quiet(at) && self.may_be_over(at),
            Rule::Changed => self.stands(at) && !self.is_unsettled(),
            Rule::Settled => self.net.has_areas() && self.is_quiet(at),
            Rule::There(_) | Rule::Gone(_) => self.run_is_complete(at),
            Rule::OtherScale { .. } => false,
        }
    }

    fn is_quiet(&self, at: Duration) -> bool {
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

    fn run_is_complete(&self, at: Duration) -> bool {
        let lasted = |since| at.saturating_sub(since) >= self.hold;
        self.run.since().is_some_and(lasted) && self.run.looks() >= self.captures_needed
    }

    /// Nothing differs from the baseline any more, and what did is over.
    fn is_settled_unchanged(&self, at: Duration) -> bool {
        matches!(self.rule, Rule::Settled)
            && at >= self.options.look_again
            && !self.net.has_areas()
            && !self.net.has_suspects()
            && (self.net.first_area().is_none() || self.is_quiet(at))
    }

    /// At the end of `settled`: a small difference that has stood nearly all the time is no blink.
    fn settle_by_standing(&mut self) {
        let patience = self.options.settle_within.mul_f64(0.8);
        if matches!(self.rule, Rule::Settled)
            && self.decision.is_none()
            && self.is_quiet(self.last_at)
            && self.net.stands(self.last_at, self.hold, patience, self.captures_needed, |_, _| true)
        {
            self.decide(OutcomeKind::Met, self.last_at, self.last_at);
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
            Rule::There(_) | Rule::Gone(_) | Rule::OtherScale { .. } => {
                [self.run.since().map(|since| since.saturating_add(self.hold)), None, None]
            }
        };
        candidates.into_iter().flatten().filter(|at| *at > now).min()
    }
}

/// Saying how it ended.
impl Monitor {
    fn kind(&self, cancelled: bool) -> OutcomeKind {
        match self.decision {
            Some(decision) if !decision.late => decision.kind,
            _ if cancelled => OutcomeKind::Cancelled,
            Some(_) => OutcomeKind::TimedOut,
            None if self.last_stalled => OutcomeKind::CaptureStalled,
            None if self.is_stale() => OutcomeKind::SourceStale,
            None => OutcomeKind::TimedOut,
        }
    }

    /// No new frame for as many looks as the condition wants, nor for the hold.
    fn is_stale(&self) -> bool {
        let is_old = self.tried_at.saturating_sub(self.last_at) >= self.hold;
        let is_missed = self.without_evidence >= self.captures_needed.max(2);
        self.last_id.is_some() && is_old && is_missed
    }

    fn onset(&self) -> Option<Duration> {
        match &self.rule {
            Rule::Changed => self.net.longest().map(|(since, _)| since),
            Rule::There(_) | Rule::Gone(_) => self.run.since(),
            _ => self.onset.or_else(|| self.net.first_area()),
        }
    }

    fn found(&self) -> Option<Rect> {
        match &self.rule {
            Rule::There(presence) => presence.place().filter(|_| self.is_fresh),
            _ => None,
        }
    }

    fn unmet(&self) -> Unmet {
        let mut moving = self.all_on_surface(self.motion.moving());
        let SetAside { carets, periodic } = self.set_aside();
        let periodic = periodic.iter().map(|region| region.rect);
        let explained: Vec<Rect> = carets.into_iter().chain(periodic).collect();
        moving.retain(|rect| !explained.iter().any(|known| known.contains_rect(*rect)));
        let short = |term, needed, had| Unmet { term, needed, had, moving: moving.clone() };
        if let Rule::OtherScale { width } = self.rule {
            return short(Term::Scale, self.bounds.width().into(), width.into());
        }
        let run = self.run_so_far();
        if self.last_stalled || self.is_stale() || self.evidence == 0 {
            let looks = run.map_or(0, |(_, looks)| looks.min(self.captures_needed));
            return short(Term::Frames, self.captures_needed.into(), looks.into());
        }
        let Some((since, looks)) = run else {
            return match &self.rule {
                Rule::There(presence) | Rule::Gone(presence) => {
                    self.unmet_presence(presence, short)
                }
                _ => short(Term::Change, 1, 0),
            };
        };
        let (lasted, needed) = (self.last_at.saturating_sub(since), self.needed_hold());
        if lasted < needed {
            return short(Term::Hold, millis(needed), millis(lasted));
        }
        short(Term::Captures, self.captures_needed.into(), looks.into())
    }

    /// Since when what is waited for has been seen, and in how many looks.
    fn run_so_far(&self) -> Option<(Duration, u32)> {
        match &self.rule {
            Rule::Stable | Rule::OtherScale { .. } => Some(self.motion.quiet()),
            Rule::Changed => self.net.longest(),
            Rule::Settled => self.net.longest().map(|_| self.motion.quiet()),
            Rule::There(_) | Rule::Gone(_) => self.run.since().map(|at| (at, self.run.looks())),
        }
    }

    /// A small difference must outlast a blink.
    fn needed_hold(&self) -> Duration {
        let is_small = matches!(self.rule, Rule::Changed) && !self.net.has_areas();
        if is_small { self.hold.max(BLINK_PATIENCE) } else { self.hold }
    }

    fn unmet_presence(
        &self,
        presence: &Presence,
        short: impl Fn(Term, u64, u64) -> Unmet,
    ) -> Unmet {
        match (&self.rule, presence.differing()) {
            (Rule::Gone(_), _) if self.was_seen => {
                short(Term::Absence, self.captures_needed.into(), 0)
            }
            (Rule::Gone(_), _) => short(Term::Sighting, 1, 0),
            (_, Some(differing)) if self.is_fresh => {
                short(Term::Match, self.diff.max_changed_pixels_in_force(), differing)
            }
            _ => short(Term::Sighting, 1, 0),
        }
    }

    fn set_aside(&self) -> SetAside {
        let known = self.motion.carets().iter().chain(self.net.carets());
        let mut carets: Vec<Rect> = Vec::new();
        for caret in known {
            let rect = self.on_surface(caret.rect);
            if !carets.contains(&rect) {
                carets.push(rect);
            }
        }
        let mut periodic = self.periodicity.as_ref().map(Periodicity::regions).unwrap_or_default();
        periodic.iter_mut().for_each(|region| region.rect = self.on_surface(region.rect));
        SetAside { carets, periodic }
    }

    fn flags(&self, kind: OutcomeKind, met_at: Option<Duration>) -> Vec<Flag> {
        let is_met = kind == OutcomeKind::Met;
        let tenth = self.deadline() / 10;
        let is_tight =
            met_at.is_some_and(|at| at.saturating_add(tenth) > self.deadline() && !tenth.is_zero());
        let repeats = self.periodicity.as_ref().is_some_and(|one| !one.cells().is_empty());
        let is_unseen = matches!(self.rule, Rule::Gone(_)) && !self.was_seen;
        [
            (self.low_information, Flag::LowInformation),
            (is_tight, Flag::JustMet),
            (repeats, Flag::PeriodicInside),
            (is_unseen, Flag::NeverSeen),
            (self.resized, Flag::Resized),
        ]
        .into_iter()
        .filter_map(|(holds, flag)| (is_met && holds).then_some(flag))
        .collect()
    }

    fn transients(self) -> Vec<super::outcome::Transient> {
        let (x, y) = (self.bounds.x(), self.bounds.y());
        let repeating = self.periodicity.as_ref().map(Periodicity::regions).unwrap_or_default();
        let repeats = |area: &Rect| repeating.iter().any(|one| one.rect.contains_rect(*area));
        let mut transients = self.net.into_transients();
        transients.retain(|transient| !transient.areas.iter().all(repeats));
        for area in transients.iter_mut().flat_map(|transient| &mut transient.areas) {
            *area = displaced(*area, x, y);
        }
        transients
    }

    fn on_surface(&self, rect: Rect) -> Rect {
        displaced(rect, self.bounds.x(), self.bounds.y())
    }

    fn all_on_surface(&self, rects: Vec<Rect>) -> Vec<Rect> {
        rects.into_iter().map(|rect| self.on_surface(rect)).collect()
    }
}

/// Refuses a scale at which nothing, or everything, would be a caret.
fn check_scale(scale: f32) -> Result<()> {
    let (least, most) = (Geometry::SCALES.start(), Geometry::SCALES.end());
    if Geometry::SCALES.contains(&scale) {
        return Ok(());
    }
    Err(Error::impossible(format!(
        "a scale of {scale:e} is none a surface has: it must be between {least} and {most}"
    )))
}

/// The bounding box of the scope; refuses one that cannot be captured or compares nothing.
fn bounds(scope: &Scope, geometry: Geometry) -> Result<Rect> {
    let impossible = |error: Error| Error::impossible(error.to_string());
    let bounds = scope.bounds(geometry.size).map_err(impossible)?;
    scope.render(geometry.size)?;
    Ok(bounds)
}

/// The part of a whole-surface frame that is captured; frames of another size stay as they are.
fn part(frame: &Frame, geometry: Geometry, bounds: Rect) -> Result<Frame> {
    if frame.size() == geometry.size { frame.crop(bounds) } else { Ok(frame.clone()) }
}

fn rule(
    condition: &Condition,
    geometry: Geometry,
    bounds: Rect,
    options: DiffOptions,
) -> Result<Rule> {
    Ok(match condition.kind() {
        Kind::Stable => Rule::Stable,
        Kind::Changed => Rule::Changed,
        Kind::Settled => Rule::Settled,
        Kind::Matches(reference) => match other_scale(reference, geometry, bounds) {
            Some(width) => Rule::OtherScale { width },
            None => {
                let options = down_to_specks(options);
                Rule::There(Presence::in_place(reference, geometry.size, bounds, options)?)
            }
        },
        Kind::Appears(reference) => {
            Rule::There(Presence::anywhere(reference, bounds, &down_to_specks(options))?)
        }
        Kind::Gone(reference) => Rule::Gone(Presence::anywhere(reference, bounds, &options)?),
    })
}

/// To see that something is there takes all of it: a speck may be what tells 18 from 13. (To see
/// that it is gone, a speck is not enough.)
fn down_to_specks(options: DiffOptions) -> DiffOptions {
    let rules = AreaRules { speck_pixels: 0, ..options.rules_in_force() };
    options.rules(rules)
}

/// The width a reference has when it shows the scope at another scale: the surface's pixels for
/// the interface's, or the other way round.
fn other_scale(reference: &Frame, geometry: Geometry, bounds: Rect) -> Option<u32> {
    let size = reference.size();
    let is_times = |small: u32, large: u32| {
        let scaled = f64::from(small) * f64::from(geometry.scale);
        (scaled - f64::from(large)).abs() < 1.0
    };
    let is_other = |width: u32, height: u32| {
        is_times(size.width(), width) && is_times(size.height(), height)
            || is_times(width, size.width()) && is_times(height, size.height())
    };
    let is_scaled = (geometry.scale - 1.0).abs() > f32::EPSILON;
    let candidates = [bounds.size(), geometry.size];
    let fits = candidates.contains(&size);
    let other = candidates.iter().any(|size| is_other(size.width(), size.height()));
    (is_scaled && !fits && other).then_some(size.width())
}

/// Nearly everything has one colour: a page that has not been drawn yet looks like this.
fn is_nearly_blank(frame: &Frame) -> bool {
    let (pixels, _) = frame.data().as_chunks::<4>();
    let colour = |pixel: &[u8; 4]| frame.format().rgba(*pixel);
    // Of a colour that covers nearly everything, one of three spread pixels shows it.
    let probes = [pixels.len() / 7, pixels.len() / 2, pixels.len() / 7 * 6];
    probes.into_iter().filter_map(|index| pixels.get(index).map(colour)).any(|common| {
        let others = pixels.iter().filter(|pixel| colour(pixel) != common).count();
        others * BLANK_PART < pixels.len()
    })
}

/// A blank frame has fewer than one pixel in this many of another colour.
const BLANK_PART: usize = 200;

fn displaced(rect: Rect, x: u32, y: u32) -> Rect {
    rect.moved(x.cast_signed(), y.cast_signed()).unwrap_or(rect)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
