//! The rules of one condition: a pure function of time and looks.

mod account;
mod verdict;

use std::time::Duration;

use crate::areas::AreaRules;
use crate::error::Result;
use crate::frame::Frame;
use crate::geometry::Rect;
use crate::report::DiffOptions;

use super::condition::{Condition, Kind, WaitOptions};
use super::monitor::Look;
use super::motion::{Motion, Sight};
use super::net::Net;
use super::outcome::OutcomeKind;
use super::part::Part;
use super::periodic::Periodicity;
use super::presence::Presence;
use super::sighting::Sighting;
use super::source::Geometry;
use super::supply::Supply;

/// One condition while it is waited for.
#[derive(Debug)]
pub(super) struct Rules {
    name: &'static str,
    label: String,
    rule: Rule,
    options: WaitOptions,
    timeout: Duration,
    hold: Duration,
    captures_needed: u32,
    part: Part,
    diff: DiffOptions,

    supply: Supply,
    latest: Latest,
    motion: Motion,
    net: Net,
    periodicity: Option<Periodicity>,
    has_begun: bool,
    onset: Option<Duration>,
    resized: bool,
    low_information: bool,
    decision: Option<Decision>,
}

#[derive(Debug)]
enum Rule {
    Stable,
    Changed,
    Settled,
    Seen(Sighting),
    /// The reference shows the scope at another scale: over before it begins.
    OtherScale {
        width: u32,
    },
}

/// What the latest look showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Latest {
    Nothing,
    Frame(Sight),
    Resized,
}

#[derive(Clone, Copy, Debug)]
struct Decision {
    kind: OutcomeKind,
    at: Duration,
    late: bool,
}

impl Rules {
    /// The rules for `condition`, which is not several, on a surface of `geometry`.
    pub(super) fn new(
        condition: &Condition,
        options: &WaitOptions,
        geometry: Geometry,
    ) -> Result<Self> {
        options.check(condition)?;
        let part = Part::new(condition.diff_in_force().scope_in_force(), geometry)?;
        let scope = part.scope()?;
        let diff = condition.motion_options().scope(scope.clone()).scale(geometry.scale);
        let matching = condition.diff_in_force().clone().scope(scope).scale(geometry.scale);
        let hold = condition.hold_in_force();
        let mut rules = Self {
            name: condition.name(),
            label: condition.label_in_force().to_owned(),
            rule: rule(condition, &part, matching)?,
            timeout: options.timeout_of(condition),
            hold,
            captures_needed: condition.captures_in_force(),
            part,
            supply: Supply::default(),
            latest: Latest::Nothing,
            motion: Motion::new(diff.clone(), hold),
            net: Net::new(diff.clone(), None),
            periodicity: condition.ignores_periodic().then(|| Periodicity::new(options.interval)),
            has_begun: false,
            onset: None,
            resized: false,
            low_information: false,
            decision: None,
            options: options.clone(),
            diff,
        };
        if matches!(rules.rule, Rule::Changed) && rules.diff.rules_in_force().carets {
            rules.net.suspect_blocks(geometry.scale);
        }
        rules.begin()?;
        Ok(rules)
    }

    fn begin(&mut self) -> Result<()> {
        if matches!(self.rule, Rule::OtherScale { .. }) {
            self.decide(OutcomeKind::ScaleMismatch, Duration::ZERO, Duration::ZERO);
        }
        // Kept once, in the net.
        let Some(baseline) = self.options.baseline.take() else { return Ok(()) };
        let baseline = self.part.cut(&baseline)?;
        if let Rule::Seen(sighting) = &mut self.rule
            && baseline.size() == self.part.bounds().size()
        {
            sighting.mind(&baseline)?;
        }
        self.net.rebase(&baseline);
        Ok(())
    }

    /// The part of the surface it looks at.
    pub(super) const fn part(&self) -> &Part {
        &self.part
    }

    /// What the latest look showed.
    pub(super) const fn latest(&self) -> Latest {
        self.latest
    }

    /// Whether the latest look showed anything else than the one before it.
    pub(super) fn is_other(&self) -> bool {
        match self.latest {
            Latest::Nothing => false,
            Latest::Frame(_) => self.motion.is_other(),
            Latest::Resized => true,
        }
    }

    /// What moved in the latest look, in pixels of the surface.
    pub(super) fn moved(&self) -> impl Iterator<Item = Rect> {
        let moved = match self.latest {
            Latest::Frame(_) => self.motion.moved(),
            Latest::Nothing | Latest::Resized => &[],
        };
        let all = (self.latest == Latest::Resized).then(|| self.part.bounds());
        moved.iter().map(|&rect| self.part.on_surface(rect)).chain(all)
    }

    /// A look at another part of the surface, or none of this condition's concern any more.
    pub(super) const fn pass(&mut self) {
        self.latest = Latest::Nothing;
    }

    /// Takes in one look at its part.
    pub(super) fn see(&mut self, began: Duration, ended: Duration, look: Look<'_>) -> Result<()> {
        self.supply.begin(began);
        self.latest = Latest::Nothing;
        match look {
            Look::Taken { id, frame } => {
                if self.supply.take(began, id) {
                    self.see_frame(began, ended, frame)?;
                }
            }
            Look::Resized => self.see_resized(began, ended),
            Look::Stalled => self.supply.miss(true),
            Look::Failed => self.supply.miss(false),
        }
        Ok(())
    }

    fn see_frame(&mut self, began: Duration, ended: Duration, frame: &Frame) -> Result<()> {
        if frame.size() != self.part.bounds().size() && !self.follow_resize(frame) {
            self.see_resized(began, ended);
            return Ok(());
        }
        self.supply.count();
        let sight = self.motion.see(began, frame)?;
        self.latest = Latest::Frame(sight);
        if let Rule::Seen(sighting) = &mut self.rule
            && (sight != Sight::Identical || self.periodicity.is_some())
        {
            sighting.expire();
        }
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
        let local = self.part.scope()?;
        let scope = left_out.iter().fold(local, |scope, &cell| scope.ignore(cell));
        self.motion.set_options(self.diff.clone().scope(scope.clone()));
        self.net.set_options(self.diff.clone().scope(scope), &left_out);
        Ok(())
    }

    fn judge(&mut self, began: Duration, ended: Duration, frame: &Frame) -> Result<()> {
        if let Rule::Seen(sighting) = &mut self.rule {
            sighting.see(began, frame)?;
        }
        if self.is_met(began) {
            self.low_information = is_nearly_blank(frame);
            self.decide(OutcomeKind::Met, began, ended);
        } else if self.is_settled_unchanged(began) {
            self.decide(OutcomeKind::TimedOut, began, ended);
        }
        Ok(())
    }

    fn decide(&mut self, kind: OutcomeKind, began: Duration, ended: Duration) {
        // A first look at a deadline of zero is in time.
        let late = began >= self.deadline() && self.supply.captures() > 1;
        self.decision = Some(Decision { kind, at: ended, late });
    }

    /// A frame of another size: `true` when the wait goes on with it.
    fn follow_resize(&mut self, frame: &Frame) -> bool {
        let goes_on = matches!(self.rule, Rule::Changed | Rule::Stable | Rule::Settled)
            && self.part.is_all()
            && self.part.resize(frame.size());
        self.resized |= goes_on;
        goes_on
    }

    /// For `changed` another size is a change like any other; elsewhere it ends the wait.
    fn see_resized(&mut self, began: Duration, ended: Duration) {
        self.resized = true;
        self.latest = Latest::Resized;
        self.supply.resize();
        if !matches!(self.rule, Rule::Changed) {
            self.decide(OutcomeKind::GeometryChanged, began, ended);
            return;
        }
        self.net.see_resized(began, self.part.bounds().size().rect());
        if self.is_met(began) {
            self.decide(OutcomeKind::Met, began, ended);
        }
    }
}

fn rule(condition: &Condition, part: &Part, options: DiffOptions) -> Result<Rule> {
    let bounds = part.bounds();
    let sighting = match condition.kind() {
        Kind::Stable => return Ok(Rule::Stable),
        Kind::Changed => return Ok(Rule::Changed),
        Kind::Settled => return Ok(Rule::Settled),
        Kind::Any(_) => unreachable!("the monitor has rules for each of several"),
        Kind::Matches(reference) => {
            if let Some(width) = part.other_scale(reference) {
                return Ok(Rule::OtherScale { width });
            }
            let options = down_to_specks(options);
            Sighting::there(Presence::in_place(reference, part.surface(), bounds, options)?)
        }
        Kind::Appears(reference) => {
            Sighting::there(Presence::anywhere(reference, bounds, &down_to_specks(options))?)
        }
        Kind::Gone(reference) => {
            let presence = Presence::anywhere(reference, bounds, &options)?;
            Sighting::gone(presence, condition.wants_seen())
        }
    };
    Ok(Rule::Seen(sighting))
}

/// To see that something is there takes all of it: a speck may be what tells 18 from 13. (To see
/// that it is gone, a speck is not enough.)
fn down_to_specks(options: DiffOptions) -> DiffOptions {
    let rules = AreaRules { speck_pixels: 0, ..options.rules_in_force() };
    options.rules(rules)
}

/// Nearly everything has one colour: a page that has not been drawn yet looks like this.
fn is_nearly_blank(frame: &Frame) -> bool {
    let (pixels, _) = frame.data().as_chunks::<4>();
    let colour = |pixel: &[u8; 4]| frame.format().rgba(*pixel);
    // Of a colour that covers nearly everything, one of three spread pixels shows it.
    let probes = [pixels.len() / 7, pixels.len() / 2, pixels.len() / 7 * 6];
    probes.into_iter().filter_map(|index| pixels.get(index).map(colour)).any(|common| {
        let too_many = pixels.len().div_ceil(BLANK_PART).max(1);
        let mut others = pixels.iter().filter(|pixel| colour(pixel) != common);
        others.nth(too_many - 1).is_none()
    })
}

/// A blank frame has fewer than one pixel in this many of another colour.
const BLANK_PART: usize = 200;
