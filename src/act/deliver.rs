//! Sends a plan, step by step, and cleans up after each.

use std::time::Duration;

use crate::clock::{Cancel, Clock};
use crate::error::Error;

use super::action::SEQUENCE_ELAPSED;
use super::driver::Driver;
use super::ledger::{Closed, Ledger};
use super::plan::{Plan, PlannedStep};
use super::receipt::{Delivery, HeldAfter, SequenceReport, Status, StepReport};

/// What was sent, and how it ended.
pub(super) struct Delivered {
    pub(super) delivery: Delivery,
    pub(super) held_after: HeldAfter,
    pub(super) sequence: SequenceReport,
    pub(super) ended: Ended,
}

/// How sending ended.
pub(super) enum Ended {
    /// Every event was accepted.
    Complete,
    Cancelled,
    /// It took longer than this.
    Late(Duration),
    Failed(Error),
    /// A step is done and something is still down.
    Held,
}

impl Ended {
    /// Why it stopped before its end, in one word.
    const fn stop_reason(&self) -> Option<&'static str> {
        match self {
            Self::Complete => None,
            Self::Cancelled => Some("cancelled"),
            Self::Late(_) => Some("timed_out"),
            Self::Failed(_) => Some("failed"),
            Self::Held => Some("input_held"),
        }
    }

    /// Why it stopped before its end, in words.
    fn in_words(&self) -> Option<String> {
        match self {
            Self::Complete => None,
            Self::Cancelled => Some("it was cancelled".to_owned()),
            Self::Late(limit) => Some(format!("it took longer than {} ms", limit.as_millis())),
            Self::Failed(error) => Some(error.to_string()),
            Self::Held => Some("something is still held after a step".to_owned()),
        }
    }
}

/// What sending needs beside the driver.
pub(super) struct Pace<'c> {
    pub(super) clock: &'c Clock,
    pub(super) cancel: &'c Cancel,
    /// How much longer than planned a step may take.
    pub(super) grace: Duration,
}

/// Sends every event of `plan`, up to the first that is not accepted or may no longer be sent.
/// Whatever a step presses is let go of before the next one begins and before this returns.
pub(super) fn deliver(plan: &Plan, driver: &mut dyn Driver, pace: &Pace<'_>) -> Delivered {
    let start = pace.clock.now();
    let mut delivered = Delivered {
        delivery: Delivery {
            events_planned: plan.count(),
            route: driver.route(),
            ..Delivery::default()
        },
        held_after: HeldAfter::default(),
        sequence: SequenceReport { total: plan.steps.len(), ..SequenceReport::default() },
        ended: Ended::Complete,
    };
    let last = plan.steps.len().saturating_sub(1);
    for (nth, step) in plan.steps.iter().enumerate() {
        delivered.ended = pace.before_step(step, start);
        if !matches!(delivered.ended, Ended::Complete) {
            break;
        }
        let closed = delivered.step(step, driver, pace, start);
        if matches!(delivered.ended, Ended::Complete) && nth < last && !closed.is_clean() {
            delivered.ended = Ended::Held;
        }
        delivered.held_after = closed.held_after;
        if !matches!(delivered.ended, Ended::Complete) {
            break;
        }
    }
    delivered.sequence.elapsed = pace.clock.now().saturating_sub(start);
    delivered.sequence.stop_reason = delivered.ended.stop_reason();
    delivered
}

impl Pace<'_> {
    fn before_step(&self, step: &PlannedStep, start: Duration) -> Ended {
        if !self.clock.sleep_until(self.clock.now() + step.wait, self.cancel) {
            return Ended::Cancelled;
        }
        if self.clock.now().saturating_sub(start) > SEQUENCE_ELAPSED {
            return Ended::Late(SEQUENCE_ELAPSED);
        }
        Ended::Complete
    }

    /// Sleeps until the next event is due; says whether it may still be sent.
    fn before_event(&self, wait: Duration, deadline: Duration, limit: Duration) -> Ended {
        if !self.clock.sleep_until(self.clock.now() + wait, self.cancel) {
            Ended::Cancelled
        } else if self.clock.now() > deadline {
            Ended::Late(limit)
        } else {
            Ended::Complete
        }
    }

    /// Sends the events of one step; gives how many were accepted.
    fn send(&self, step: &PlannedStep, ledger: &mut Ledger<'_>) -> (usize, Ended) {
        let limit = step.duration() + self.grace;
        let deadline = self.clock.now() + limit;
        for (accepted, planned) in step.events.iter().enumerate() {
            let turn = self.before_event(planned.wait, deadline, limit);
            if !matches!(turn, Ended::Complete) {
                return (accepted, turn);
            }
            if let Err(error) = ledger.send(planned.event) {
                return (accepted, Ended::Failed(error));
            }
        }
        (step.events.len(), Ended::Complete)
    }
}

impl Delivered {
    /// Sends one step, cleans up and writes both down.
    fn step(
        &mut self,
        step: &PlannedStep,
        driver: &mut dyn Driver,
        pace: &Pace<'_>,
        start: Duration,
    ) -> Closed {
        let started = pace.clock.now().saturating_sub(start);
        let mut ledger = Ledger::new(driver);
        let (accepted, ended) = pace.send(step, &mut ledger);
        let closed = ledger.close();
        let is_complete = matches!(ended, Ended::Complete);
        self.delivery.delivered_count += accepted;
        self.delivery.pressed += closed.pressed;
        self.delivery.released += closed.released;
        self.sequence.attempted += 1;
        self.sequence.completed += usize::from(is_complete);
        self.sequence.steps.push(StepReport {
            status: if is_complete { Status::Delivered } else { Status::Unknown },
            started,
            ended: pace.clock.now().saturating_sub(start),
            events_planned: step.events.len(),
            delivered_count: accepted,
        });
        self.ended = ended;
        closed
    }

    /// Whether it was stopped before anything was sent. An event that failed may have arrived.
    pub(super) const fn is_untouched(&self) -> bool {
        self.delivery.delivered_count == 0
            && self.delivery.events_planned > 0
            && !matches!(self.ended, Ended::Failed(_))
    }

    /// What needs to be said of it, if anything: that it must not be repeated, what is held.
    pub(super) fn message(&self) -> Option<String> {
        let parts = [self.told_of_stop(), self.told_of_release(), self.held_after.told()];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Of an action that was cut short it matters that nothing of it stays down.
    fn told_of_release(&self) -> Option<String> {
        let held_after = &self.held_after;
        let is_clean = held_after.verified && held_after.is_empty();
        let was_cut = !matches!(self.ended, Ended::Complete) && self.delivery.pressed > 0;
        (is_clean && was_cut).then(|| "what it had pressed is released again".to_owned())
    }

    fn told_of_stop(&self) -> Option<String> {
        let reason = self.ended.in_words()?;
        let Delivery { events_planned, delivered_count, .. } = &self.delivery;
        Some(format!(
            "only {delivered_count} of {events_planned} events are known to have been sent: \
             {reason}; never repeat this action or the rest of it: look at what it changed and \
             choose anew"
        ))
    }
}
