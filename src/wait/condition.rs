//! What to wait for, and for how long.

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
    diff: DiffOptions,
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

    fn of(kind: Kind) -> Self {
        Self {
            kind,
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
    pub fn diff(mut self, options: DiffOptions) -> Self {
        self.diff = options;
        self
    }

    /// The pixels that count. Default: all.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.diff = self.diff.scope(scope);
        self
    }

    /// How long the evidence must last. Default 250 ms; none for `matches` and `appears`, whose
    /// evidence is positive.
    #[must_use]
    pub const fn hold(mut self, hold: Duration) -> Self {
        self.hold = Some(hold);
        self
    }

    /// How many captures in a row must show it: N captures are N-1 comparisons. Default 3; one for
    /// `matches` and `appears`.
    #[must_use]
    pub const fn captures(mut self, captures: u32) -> Self {
        self.captures = Some(captures);
        self
    }

    /// For `gone`: only what was seen can go. Default: what was never seen is gone, with a flag.
    #[must_use]
    pub const fn require_seen(mut self, require: bool) -> Self {
        self.require_seen = require;
        self
    }

    /// Leaves out what was seen to repeat (a spinner). Default: it counts as motion.
    #[must_use]
    pub const fn ignore_periodic(mut self, ignore: bool) -> Self {
        self.ignore_periodic = ignore;
        self
    }

    /// The name: `stable`, `changed`, `settled`, `matches`, `appears` or `gone`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self.kind {
            Kind::Stable => "stable",
            Kind::Changed => "changed",
            Kind::Settled => "settled",
            Kind::Matches(_) => "matches",
            Kind::Appears(_) => "appears",
            Kind::Gone(_) => "gone",
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
    pub(super) baseline: Option<Frame>,
    pub(super) look_again: Duration,
    pub(super) settle_within: Duration,
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
    pub fn baseline(mut self, baseline: Frame) -> Self {
        self.baseline = Some(baseline);
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

    /// When evidence can begin.
    pub(super) fn starts_at(&self) -> Duration {
        self.input_at.unwrap_or_default()
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
        match self.input_at {
            Some(input_at) => {
                (self.timeout.saturating_sub(input_at), "the timeout after the input")
            }
            None => (self.timeout, "a timeout"),
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
