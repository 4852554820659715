//! Saying how a condition ended.

use std::time::Duration;

use crate::geometry::Rect;

use super::super::net::BLINK_PATIENCE;
use super::super::outcome::{Flag, Outcome, OutcomeKind, SetAside, Term, Transient, Unmet};
use super::super::periodic::Periodicity;
use super::super::timeline::Timeline;
use super::{Rule, Rules};

impl Rules {
    /// The outcome at `now`, but for what all conditions of a wait share: the last observation and
    /// the timeline.
    pub(in super::super) fn outcome(mut self, now: Duration, cancelled: bool) -> Outcome {
        self.settle_by_standing();
        let kind = self.kind(cancelled);
        let in_time = self.decision.filter(|decision| !decision.late);
        let met_at = in_time.filter(|_| kind == OutcomeKind::Met).map(|decision| decision.at);
        let late = self.decision.filter(|decision| decision.late);
        Outcome {
            kind,
            condition: self.name,
            label: std::mem::take(&mut self.label),
            elapsed: now,
            captures: self.supply.captures(),
            onset: self.onset(),
            met_at,
            found: self.found().map(|rect| self.part.on_surface(rect)),
            unmet: (kind != OutcomeKind::Met).then(|| self.unmet()),
            standing: self.part.all_on_surface(self.net.boxes()),
            ignored: self.set_aside(),
            flags: self.flags(kind, met_at),
            late: late.map(|decision| decision.at.saturating_sub(self.deadline())),
            last: None,
            timeline: Timeline::default(),
            hold: self.run_so_far().map_or(self.hold, |_| self.needed_hold()),
            deadline: self.deadline(),
            since: self.run_so_far().map(|(since, _)| since),
            filmstrip: Vec::new(),
            transients: self.transients(),
            conditions: Vec::new(),
        }
    }

    /// At the end of `settled`: a small difference that has stood nearly all the time is no blink.
    fn settle_by_standing(&mut self) {
        let (patience, at) = (self.options.settle_within.mul_f64(0.8), self.supply.last_at());
        if matches!(self.rule, Rule::Settled)
            && self.decision.is_none()
            && self.is_quiet(at)
            && self.net.stands(at, self.hold, patience, self.captures_needed, |_, _| true)
        {
            self.decide(OutcomeKind::Met, at, at);
        }
    }

    fn kind(&self, cancelled: bool) -> OutcomeKind {
        match self.decision {
            Some(decision) if !decision.late => decision.kind,
            _ if cancelled => OutcomeKind::Cancelled,
            Some(_) => OutcomeKind::TimedOut,
            None if self.supply.is_stalled() => OutcomeKind::CaptureStalled,
            None if self.is_stale() => OutcomeKind::SourceStale,
            None => OutcomeKind::TimedOut,
        }
    }

    fn is_stale(&self) -> bool {
        self.supply.is_stale(self.hold, self.captures_needed)
    }

    fn onset(&self) -> Option<Duration> {
        match &self.rule {
            Rule::Changed => self.net.longest().map(|(since, _)| since),
            Rule::Seen(sighting) => sighting.run().map(|(since, _)| since),
            _ => self.onset.or_else(|| self.net.first_area()),
        }
    }

    fn found(&self) -> Option<Rect> {
        match &self.rule {
            Rule::Seen(sighting) => sighting.found(),
            _ => None,
        }
    }

    fn unmet(&self) -> Unmet {
        let (term, needed, had) = self.short();
        let mut moving = self.part.all_on_surface(self.motion.moving());
        let SetAside { carets, periodic } = self.set_aside();
        let periodic = periodic.iter().map(|region| region.rect);
        let explained: Vec<Rect> = carets.into_iter().chain(periodic).collect();
        moving.retain(|rect| !explained.iter().any(|known| known.contains_rect(*rect)));
        Unmet { term, needed, had, moving }
    }

    /// The term that was short, how much was needed, and how much there was.
    fn short(&self) -> (Term, u64, u64) {
        if let Rule::OtherScale { width } = self.rule {
            return (Term::Scale, self.part.bounds().width().into(), width.into());
        }
        let captures = self.captures_needed;
        let run = self.run_so_far();
        if self.supply.is_stalled() || self.is_stale() || self.supply.is_empty() {
            let looks = run.map_or(0, |(_, looks)| looks.min(captures));
            return (Term::Frames, captures.into(), looks.into());
        }
        let Some((since, looks)) = run else {
            return match &self.rule {
                Rule::Seen(sighting) => {
                    sighting.missing(captures, self.diff.max_changed_pixels_in_force())
                }
                _ => (Term::Change, 1, 0),
            };
        };
        let (lasted, needed) = (self.supply.last_at().saturating_sub(since), self.needed_hold());
        if lasted < needed {
            return (Term::Hold, millis(needed), millis(lasted));
        }
        (Term::Captures, captures.into(), looks.into())
    }

    /// Since when what is waited for has been seen, and in how many looks.
    fn run_so_far(&self) -> Option<(Duration, u32)> {
        match &self.rule {
            Rule::Stable | Rule::OtherScale { .. } => Some(self.motion.quiet()),
            Rule::Changed => self.net.longest(),
            Rule::Settled => self.net.longest().map(|_| self.motion.quiet()),
            Rule::Seen(sighting) => sighting.run(),
        }
    }

    /// A small difference must outlast a blink.
    fn needed_hold(&self) -> Duration {
        let is_small = matches!(self.rule, Rule::Changed) && !self.net.has_areas();
        if is_small { self.hold.max(BLINK_PATIENCE) } else { self.hold }
    }

    fn set_aside(&self) -> SetAside {
        let known = self.motion.carets().iter().chain(self.net.carets());
        let mut carets: Vec<Rect> = Vec::new();
        for caret in known {
            let rect = self.part.on_surface(caret.rect);
            if !carets.contains(&rect) {
                carets.push(rect);
            }
        }
        let mut periodic = self.periodicity.as_ref().map(Periodicity::regions).unwrap_or_default();
        periodic.iter_mut().for_each(|region| region.rect = self.part.on_surface(region.rect));
        SetAside { carets, periodic }
    }

    fn flags(&self, kind: OutcomeKind, met_at: Option<Duration>) -> Vec<Flag> {
        let is_met = kind == OutcomeKind::Met;
        let tenth = self.deadline() / 10;
        let is_tight =
            met_at.is_some_and(|at| at.saturating_add(tenth) > self.deadline() && !tenth.is_zero());
        let repeats = self.periodicity.as_ref().is_some_and(|one| !one.cells().is_empty());
        let is_unseen = matches!(&self.rule, Rule::Seen(sighting) if sighting.is_unseen());
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

    fn transients(self) -> Vec<Transient> {
        let Self { part, net, periodicity, .. } = self;
        let repeating = periodicity.as_ref().map(Periodicity::regions).unwrap_or_default();
        let repeats = |area: &Rect| repeating.iter().any(|one| one.rect.contains_rect(*area));
        let mut transients = net.into_transients();
        transients.retain(|transient| !transient.areas.iter().all(repeats));
        for transient in &mut transients {
            transient.origin = part.on_surface(transient.origin);
            for area in &mut transient.areas {
                *area = part.on_surface(*area);
            }
        }
        transients
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
