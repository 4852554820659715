//! What to wait for, and for how long.

use std::sync::Arc;
use std::time::Duration;

use crate::areas::AreaRules;
use crate::diff::Scope;
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::report::{DiffOptions, Preset};

/// Captures a negative or lasting condition wants by default: three, that is two comparisons.
const DEFAULT_CAPTURES: u32 = 3;

/// How long a negative or lasting condition must last by default.
const DEFAULT_HOLD: Duration = Duration::from_millis(250);

/// What a wait is for: a kind, and how sure it must be.
///
/// ```
/// use std::time::Duration;
/// use seechange::wait::Condition;
/// let condition = Condition::stable().hold(Duration::from_millis(400)).captures(4);
/// assert_eq!(condition.name(), "stable");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    kind: Kind,
    label: Option<String>,
    diff: DiffOptions,
    timeout: Option<Duration>,
    hold: Option<Duration>,
    captures: Option<u32>,
    require_seen: bool,
    ignore_periodic: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Stable,
    Changed,
    Settled,
    Matches(Frame),
    Appears(Frame),
    Gone(Frame),
    /// Never empty, and none of them is `Any` itself.
    Any(Vec<Condition>),
}

impl Condition {
    /// Nothing moves: every capture equals the one the quiet run began with.
    #[must_use]
    pub fn stable() -> Self {
        Self::of(Kind::Stable)
    }

    /// Something differs from the baseline and stays so. What comes and goes sooner than the count
    /// and the hold is a transient.
    #[must_use]
    pub fn changed() -> Self {
        Self::of(Kind::Changed)
    }

    /// What an action did is over: nothing changed at first (see [`WaitOptions::look_again`]), or
    /// something did and is still again (see [`WaitOptions::settle_within`]). Wants a
    /// [`WaitOptions::baseline`] captured before the action, or an action to come
    /// ([`WaitOptions::input_at`]).
    #[must_use]
    pub fn settled() -> Self {
        Self::of(Kind::Settled)
    }

    /// The scope looks like `reference`, a picture of the whole surface or of the bounding box of
    /// the scope's regions.
    #[must_use]
    pub fn matches(reference: Frame) -> Self {
        Self::of(Kind::Matches(reference))
    }

    /// `reference` is seen anywhere inside the scope.
    #[must_use]
    pub fn appears(reference: Frame) -> Self {
        Self::of(Kind::Appears(reference))
    }

    /// `reference` is seen nowhere inside the scope.
    #[must_use]
    pub fn gone(reference: Frame) -> Self {
        Self::of(Kind::Gone(reference))
    }

    /// The first of several: met as soon as one of them is, and over when all are. Each keeps its
    /// own scope, count, hold and timeout; a setter called on the whole sets it for each of them.
    ///
    /// ```text
    ///  A appears ok.png     ......................x met: the wait is over, by A
    ///  B appears error.png  ......................
    ///  C changed, for 1 s   ..........| over, unmet: a change that comes later is not its own
    /// ```
    ///
    /// ```
    /// use std::time::Duration;
    /// use seechange::wait::Condition;
    /// let quick = Condition::changed().timeout(Duration::from_secs(1));
    /// let first = Condition::any([quick, Condition::stable()])?;
    /// assert_eq!(first.name(), "any");
    /// # Ok::<(), seechange::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there is none.
    pub fn any(conditions: impl IntoIterator<Item = Self>) -> Result<Self> {
        let flat: Vec<Self> = conditions.into_iter().flat_map(Self::into_each).collect();
        if flat.is_empty() {
            return Err(Error::usage("any of no conditions can never be met: name at least one"));
        }
        Ok(Self::of(Kind::Any(flat)))
    }

    fn of(kind: Kind) -> Self {
        Self {
            kind,
            label: None,
            timeout: None,
            diff: DiffOptions::preset(Preset::Live),
            hold: None,
            captures: None,
            require_seen: false,
            ignore_periodic: false,
        }
    }

    /// How frames are compared, scope included. Default: [`Preset::Live`] over everything. The
    /// scale is that of the surface.
    #[must_use]
    pub fn diff(self, options: DiffOptions) -> Self {
        self.each(|one| one.diff = options.clone())
    }

    /// The pixels that count. Default: all.
    #[must_use]
    pub fn scope(self, scope: Scope) -> Self {
        self.each(|one| one.diff = one.diff.clone().scope(scope.clone()))
    }

    /// How long this condition may take. Default: the wait's [`WaitOptions::timeout`].
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        self.each(|one| one.timeout = Some(timeout))
    }

    /// What it is called in an answer, to tell apart several of one kind. Default: its name.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// How long the evidence must last. Default 250 ms; none for `matches` and `appears`, whose
    /// evidence is positive.
    #[must_use]
    pub fn hold(self, hold: Duration) -> Self {
        self.each(|one| one.hold = Some(hold))
    }

    /// How many captures in a row must show it: N captures are N-1 comparisons. Default 3; one for
    /// `matches` and `appears`.
    #[must_use]
    pub fn captures(self, captures: u32) -> Self {
        self.each(|one| one.captures = Some(captures))
    }

    /// For `gone`: only what was seen can go. Default: what was never seen is gone, with a flag.
    #[must_use]
    pub fn require_seen(self, require: bool) -> Self {
        self.each(|one| one.require_seen = require)
    }

    /// Leaves out what was seen to repeat (a spinner). Default: it counts as motion.
    #[must_use]
    pub fn ignore_periodic(self, ignore: bool) -> Self {
        self.each(|one| one.ignore_periodic = ignore)
    }

    /// Sets something in the condition, or in each of several.
    fn each(mut self, set: impl Fn(&mut Self)) -> Self {
        match &mut self.kind {
            Kind::Any(conditions) => conditions.iter_mut().for_each(set),
            _ => set(&mut self),
        }
        self
    }

    fn into_each(self) -> Vec<Self> {
        match self.kind {
            Kind::Any(conditions) => conditions,
            _ => vec![self],
        }
    }

    /// The name: `stable`, `changed`, `settled`, `matches`, `appears`, `gone` or `any`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self.kind {
            Kind::Stable => "stable",
            Kind::Changed => "changed",
            Kind::Settled => "settled",
            Kind::Matches(_) => "matches",
            Kind::Appears(_) => "appears",
            Kind::Gone(_) => "gone",
            Kind::Any(_) => "any",
        }
    }

    /// What it is called in an answer.
    #[must_use]
    pub fn label_in_force(&self) -> &str {
        self.label.as_deref().unwrap_or(self.name())
    }

    /// Those the wait is for: several for [`any`](Self::any), else this one.
    #[must_use]
    pub fn conditions(&self) -> &[Self] {
        match &self.kind {
            Kind::Any(conditions) => conditions,
            _ => std::slice::from_ref(self),
        }
    }

    pub(super) const fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The hold in force.
    #[must_use]
    pub fn hold_in_force(&self) -> Duration {
        self.hold.unwrap_or(if self.is_positive() { Duration::ZERO } else { DEFAULT_HOLD })
    }

    /// The count in force.
    #[must_use]
    pub fn captures_in_force(&self) -> u32 {
        self.captures.unwrap_or(if self.is_positive() { 1 } else { DEFAULT_CAPTURES })
    }

    /// The comparison in force.
    #[must_use]
    pub const fn diff_in_force(&self) -> &DiffOptions {
        &self.diff
    }

    /// How motion is judged: as the condition says, but where faint tints count at all, any
    /// coherent one does: a fade of one level a look is still a fade.
    pub(super) fn motion_options(&self) -> DiffOptions {
        let rules = self.diff.rules_in_force();
        self.diff.clone().rules(AreaRules { tint_levels: 0.0, ..rules })
    }

    pub(super) const fn wants_seen(&self) -> bool {
        self.require_seen
    }

    pub(super) const fn ignores_periodic(&self) -> bool {
        self.ignore_periodic
    }

    /// Seeing it once is proof.
    const fn is_positive(&self) -> bool {
        matches!(self.kind, Kind::Matches(_) | Kind::Appears(_))
    }
}

/// How long and how often a wait looks.
///
/// ```text
///  0        input_at            timeout        + grace
///  |-baseline--|----evidence-------|---late------|
///  look  look    look look ... last look           (gaps 0.6..1.4 of the interval)
/// ```
#[derive(Clone, Debug)]
pub struct WaitOptions {
    pub(super) timeout: Duration,
    pub(super) interval: Duration,
    pub(super) seed: u64,
    pub(super) grace: Duration,
    pub(super) stall_grace: Duration,
    pub(super) input_at: Option<Duration>,
    pub(super) baseline: Option<Arc<Frame>>,
    pub(super) look_again: Duration,
    pub(super) settle_within: Duration,
    pub(super) filmstrip: bool,
    pub(super) max_cpu: f64,
}

impl Default for WaitOptions {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(5),
            interval: Duration::from_millis(50),
            seed: 0,
            grace: Duration::ZERO,
            stall_grace: Duration::from_secs(1),
            input_at: None,
            baseline: None,
            look_again: Duration::from_millis(300),
            settle_within: Duration::from_secs(1),
            filmstrip: false,
            max_cpu: 0.1,
        }
    }
}

impl WaitOptions {
    /// Five seconds, a look about every 50 ms.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Until the deadline. A capture that begins before it counts, none begins after; zero is
    /// exactly one look. Default 5 s. For `settled`, [`Self::look_again`] and
    /// [`Self::settle_within`] take its place.
    #[must_use]
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Between two looks, on average; each gap is 0.6 to 1.4 of it. Default 50 ms, at least 1 ms.
    #[must_use]
    pub const fn interval(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }

    /// The most of one core's time the looks may take, over more than a few seconds: above 0 to 1.
    /// Default 0.1.
    ///
    /// While nothing changes the gaps grow until a look costs no more than this share of the time
    /// to the next one. What was not used in the last five seconds can be used at once when
    /// something changes. A look costs the time it takes; where most of that is spent elsewhere,
    /// as in a display's server, less of one's own core is used. The looks a condition cannot do
    /// without, [`Condition::captures`] and the last, are taken whatever they cost.
    #[must_use]
    pub const fn max_cpu(mut self, share: f64) -> Self {
        self.max_cpu = share;
        self
    }

    /// Makes the gaps repeatable. Default 0.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How long past the deadline to keep looking, to tell late from missing; it never changes the
    /// verdict. Default 0.
    #[must_use]
    pub const fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// How long past the deadline a capture that began before it may take before it is called
    /// stalled. Default 1 s.
    #[must_use]
    pub const fn stall_grace(mut self, grace: Duration) -> Self {
        self.stall_grace = grace;
        self
    }

    /// When, from the call's start, the action happens: looks before it only give the baseline.
    #[must_use]
    pub const fn input_at(mut self, input_at: Duration) -> Self {
        self.input_at = Some(input_at);
        self
    }

    /// A frame captured before the call (and before the action): what `changed` and `settled`
    /// compare with, and what must not already match. Default: the first look.
    #[must_use]
    pub fn baseline(mut self, baseline: impl Into<Arc<Frame>>) -> Self {
        self.baseline = Some(baseline.into());
        self
    }

    /// For `settled`, and for `stable` after an input: how long no change at all is no answer yet.
    /// Default 300 ms.
    #[must_use]
    pub const fn look_again(mut self, duration: Duration) -> Self {
        self.look_again = duration;
        self
    }

    /// For `settled`: how long after the first change it may still move. For `stable`: how much
    /// longer than the hold stillness must last that was there from the start, when something
    /// moves in a part that is left out. Default 1 s.
    #[must_use]
    pub const fn settle_within(mut self, duration: Duration) -> Self {
        self.settle_within = duration;
        self
    }

    /// Whether to keep up to three frames on the way: the first look, the first change and the
    /// biggest ([`Outcome::filmstrip`](super::Outcome::filmstrip)). Default: no.
    #[must_use]
    pub const fn filmstrip(mut self, keep: bool) -> Self {
        self.filmstrip = keep;
        self
    }

    /// When evidence can begin.
    pub(super) fn starts_at(&self) -> Duration {
        self.input_at.unwrap_or_default()
    }

    /// How long a condition may take.
    pub(super) fn timeout_of(&self, condition: &Condition) -> Duration {
        condition.timeout.unwrap_or(self.timeout)
    }

    /// Refuses what can never be met.
    pub(super) fn check(&self, condition: &Condition) -> Result<()> {
        let (hold, captures) = (condition.hold_in_force(), condition.captures_in_force());
        if captures == 0 {
            return Err(Error::usage("0 captures show nothing: ask for at least 1"));
        }
        if self.interval < Duration::from_millis(1) {
            return Err(Error::usage(format!(
                "an interval of {:?} is too short: use at least 1ms",
                self.interval
            )));
        }
        if !(self.max_cpu > 0.0 && self.max_cpu <= 1.0) {
            return Err(Error::usage(format!(
                "{} of one core is no share looks can keep to: use more than 0, at most 1",
                self.max_cpu
            )));
        }
        let has_before = self.baseline.is_some() || self.starts_at() > Duration::ZERO;
        if matches!(condition.kind(), Kind::Settled) && !has_before {
            return Err(Error::impossible(
                "settled has nothing to compare with: give it a baseline captured before the action",
            ));
        }
        let (timeout, within) = self.time_for(condition);
        if hold > Duration::ZERO && timeout <= hold {
            return Err(Error::impossible(format!(
                "a hold of {} does not fit in {within} of {}: make the timeout longer or the hold \
                 shorter",
                ms(hold),
                ms(timeout)
            )));
        }
        let needed = self.interval.saturating_mul(captures - 1);
        if needed > timeout {
            return Err(Error::impossible(format!(
                "{captures} captures at an interval of {} take {} and do not fit in {within} of \
                 {}: ask for fewer or look more often",
                ms(self.interval),
                ms(needed),
                ms(timeout)
            )));
        }
        Ok(())
    }

    /// How long evidence can be gathered, and the name of that time.
    fn time_for(&self, condition: &Condition) -> (Duration, &'static str) {
        if matches!(condition.kind(), Kind::Settled) {
            return (self.settle_within, "the time to settle");
        }
        let timeout = self.timeout_of(condition);
        match self.input_at {
            Some(input_at) => (timeout.saturating_sub(input_at), "the timeout after the input"),
            None => (timeout, "a timeout"),
        }
    }
}

/// A duration for messages.
pub(super) fn ms(duration: Duration) -> String {
    format!("{} ms", duration.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_impossible_is_refused_with_both_numbers() {
        let frame = Frame::filled(
            crate::geometry::Size::new(1, 1).unwrap(),
            crate::frame::PixelFormat::Rgba,
            [0; 4],
        );
        let wait = |timeout: u32, interval: u32| {
            WaitOptions::new().timeout(timeout * MS).interval(interval * MS)
        };
        for (condition, options, numbers) in [
            (Condition::stable().hold(2000 * MS), wait(1000, 50), Some(["2000 ms", "1000 ms"])),
            (Condition::stable().hold(1000 * MS), wait(1000, 50), Some(["1000 ms", "1000 ms"])),
            (Condition::stable(), wait(0, 50), Some(["250 ms", "0 ms"])),
            (Condition::stable().hold(Duration::ZERO), wait(0, 50), Some(["3 captures", "0 ms"])),
            (Condition::stable().captures(9), wait(700, 100), Some(["800 ms", "700 ms"])),
            (Condition::stable().captures(0), wait(700, 100), Some(["0 captures", "1"])),
            (Condition::changed(), wait(1000, 0), Some(["0ns", "1ms"])),
            (
                Condition::changed(),
                wait(1000, 50).input_at(800 * MS),
                Some(["250 ms", "the input of 200 ms"]),
            ),
            (Condition::changed().captures(1).hold(Duration::ZERO), wait(0, 50), None),
            (Condition::stable(), wait(251, 50), None),
            (Condition::settled(), wait(1000, 50), Some(["nothing to compare", "a baseline"])),
            (Condition::settled(), wait(1000, 50).baseline(frame), None),
            (Condition::settled(), wait(1000, 50).input_at(100 * MS), None),
        ] {
            let answer = options.check(&condition).map_err(|error| error.to_string());
            match numbers {
                None => assert_eq!(answer, Ok(())),
                Some(numbers) => {
                    let message = answer.unwrap_err();
                    assert!(numbers.iter().all(|number| message.contains(number)), "{message}");
                }
            }
        }
    }
}
