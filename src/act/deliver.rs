//! Sends a plan, step by step, and cleans up after each.

use std::time::Duration;

use crate::clock::{Cancel, Clock};
use crate::error::Error;
use crate::geometry::Point;

use super::action::SEQUENCE_ELAPSED;
use super::driver::{Clipboard, Driver, Focus, InputEvent};
use super::element::ElementRef;
use super::ledger::{Closed, Ledger};
use super::plan::{Plan, PlannedStep, elsewhere};
use super::receipt::{Delivery, HeldAfter, SequenceReport, Status, StepReport};
use super::refusal::{Refusal, RefusalKind};

/// How much longer than planned a step may take for each time that keys are lent: programs read
/// what was typed before at their own pace.
const LENDING_GRACE: Duration = Duration::from_secs(2);

/// How long a program may take to ask for the text after the keys that paste it, and how long it is
/// waited for at a time.
const TAKING_LIMIT: Duration = Duration::from_secs(2);
const TAKING_GLANCE: Duration = Duration::from_millis(50);

/// What was sent, and how it ended.
pub(super) struct Delivered {
    pub(super) delivery: Delivery,
    pub(super) held_after: HeldAfter,
    pub(super) sequence: SequenceReport,
    pub(super) clipboard: Option<Clipboard>,
    pub(super) ended: Ended,
}

/// How sending ended.
pub(super) enum Ended {
    /// Every event was accepted.
    Complete,
    Cancelled,
    /// It is no longer allowed.
    Revoked(Refusal),
    /// It took longer than this.
    Late(Duration),
    Failed(Error),
    /// The keys would go to somebody else than when the step began.
    Unfocused(Focus),
    /// The element would not get what was to be pressed.
    Missed(Refusal),
    /// Somebody presses this, and with it keys mean something else.
    Disturbed(String),
    /// The keys that paste were sent and nobody asked for the text.
    Untaken,
    /// A step is done and something is still down.
    Held,
}

impl Ended {
    /// Why it stopped before its end, in one word.
    const fn stop_reason(&self) -> Option<&'static str> {
        match self {
            Self::Complete => None,
            Self::Cancelled => Some("cancelled"),
            Self::Revoked(_) => Some("revoked"),
            Self::Late(_) => Some("timed_out"),
            Self::Failed(_) => Some("failed"),
            Self::Unfocused(_) => Some("focus_moved"),
            Self::Missed(_) => Some("target_missed"),
            Self::Disturbed(_) | Self::Held => Some("input_held"),
            Self::Untaken => Some("not_pasted"),
        }
    }

    /// Why it stopped before its end, in words.
    fn in_words(&self) -> Option<String> {
        match self {
            Self::Complete => None,
            Self::Cancelled => Some("it was cancelled".to_owned()),
            Self::Revoked(refusal) => Some(format!("access was revoked: {refusal}")),
            Self::Late(limit) => Some(format!("it took longer than {} ms", limit.as_millis())),
            Self::Failed(error) => Some(error.to_string()),
            Self::Unfocused(focus) => Some(format!("the keyboard focus went to {}", focus.name)),
            Self::Missed(refusal) => Some(refusal.to_string()),
            Self::Disturbed(what) => Some(format!("somebody else presses {what}")),
            Self::Untaken => Some(format!(
                "the program with the focus did not ask for the text within {} ms of shift+insert",
                TAKING_LIMIT.as_millis()
            )),
            Self::Held => Some("something is still held after a step".to_owned()),
        }
    }
}

/// How often a pause is interrupted to ask whether the action is still allowed.
const REVOCATION_GLANCE: Duration = Duration::from_millis(20);

/// What sending needs beside the driver.
pub(super) struct Pace<'c> {
    pub(super) clock: &'c Clock,
    pub(super) cancel: &'c Cancel,
    /// Says when the action is no longer allowed.
    pub(super) revoked: &'c dyn Fn() -> Option<Refusal>,
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
            requested: plan.requested(),
            ..Delivery::default()
        },
        held_after: HeldAfter::default(),
        sequence: SequenceReport { total: plan.steps.len(), ..SequenceReport::default() },
        clipboard: None,
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
    delivered.delivery.took = delivered.sequence.elapsed;
    delivered.sequence.stop_reason = delivered.ended.stop_reason();
    delivered
}

impl Pace<'_> {
    fn before_step(&self, step: &PlannedStep, start: Duration) -> Ended {
        let rested = self.rest(step.wait);
        if !matches!(rested, Ended::Complete) {
            return rested;
        }
        if self.clock.now().saturating_sub(start) > SEQUENCE_ELAPSED {
            return Ended::Late(SEQUENCE_ELAPSED);
        }
        Ended::Complete
    }

    /// Sleeps until the next event is due; says whether it may still be sent.
    fn before_event(&self, wait: Duration, deadline: Duration, limit: Duration) -> Ended {
        match self.rest(wait) {
            Ended::Complete if self.clock.now() > deadline => Ended::Late(limit),
            ended => ended,
        }
    }

    /// Sleeps for `wait`, unless it is cancelled or revoked meanwhile or was before.
    fn rest(&self, wait: Duration) -> Ended {
        let until = self.clock.now() + wait;
        loop {
            if let Some(refusal) = (self.revoked)() {
                return Ended::Revoked(refusal);
            }
            let glance = until.min(self.clock.now() + REVOCATION_GLANCE);
            if !self.clock.sleep_until(glance, self.cancel) {
                return Ended::Cancelled;
            }
            if glance == until {
                return Ended::Complete;
            }
        }
    }

    /// Sends the events of one step; gives how many were accepted.
    fn send(&self, step: &PlannedStep, ledger: &mut Ledger<'_>) -> (usize, Ended) {
        let lendings = u32::try_from(step.lendings.len()).unwrap_or(u32::MAX);
        let limit = step.duration() + LENDING_GRACE * lendings + self.grace;
        let deadline = self.clock.now() + limit;
        let mut keyboard = Keyboard::default();
        let mut aim = Aim { element: step.aim.as_ref(), pointer: Point::default() };
        if let Some(text) = &step.paste
            && let Err(ended) = self.offer(text.as_str(), ledger, &mut keyboard)
        {
            return (0, ended);
        }
        for (accepted, planned) in step.events.iter().enumerate() {
            if let Some(loans) = step.loans_before(accepted)
                && !self.cancel.is_cancelled()
                && let Err(error) = ledger.lend(loans)
            {
                return (accepted, Ended::Failed(error));
            }
            let turn = self.before_event(planned.wait, deadline, limit);
            if !matches!(turn, Ended::Complete) {
                return (accepted, turn);
            }
            if planned.asks_focus
                && let Err(ended) = keyboard.ask(ledger)
            {
                return (accepted, ended);
            }
            if let Err(ended) = aim.confirm(planned.event, ledger) {
                return (accepted, ended);
            }
            if let Err(error) = ledger.send(planned.event) {
                return (accepted, Ended::Failed(error));
            }
        }
        let ended = match step.paste {
            Some(_) => self.until_taken(ledger, &mut keyboard, (deadline, limit)),
            None => Ended::Complete,
        };
        let is_complete = matches!(ended, Ended::Complete);
        (if is_complete { step.count() } else { step.events.len() }, ended)
    }

    /// Puts a text on the clipboard, unless the keys would go elsewhere or may not be sent.
    fn offer(
        &self,
        text: &str,
        ledger: &mut Ledger<'_>,
        keyboard: &mut Keyboard,
    ) -> Result<(), Ended> {
        match self.rest(Duration::ZERO) {
            Ended::Complete => {}
            ended => return Err(ended),
        }
        keyboard.ask(ledger)?;
        ledger.offer(text).map_err(Ended::Failed)
    }

    /// Waits until the program has the text that was pasted.
    fn until_taken(
        &self,
        ledger: &mut Ledger<'_>,
        keyboard: &mut Keyboard,
        (deadline, limit): (Duration, Duration),
    ) -> Ended {
        let give_up = self.clock.now() + TAKING_LIMIT;
        loop {
            let turn = self.before_event(Duration::ZERO, deadline, limit);
            if !matches!(turn, Ended::Complete) {
                return turn;
            }
            let now = self.clock.now();
            if now >= give_up {
                return Ended::Untaken;
            }
            match ledger.is_taken((now + TAKING_GLANCE).min(give_up)) {
                Ok(true) => return Ended::Complete,
                Ok(false) => {}
                Err(error) => return Ended::Failed(error),
            }
            if let Err(ended) = keyboard.ask(ledger) {
                return ended;
            }
        }
    }
}

/// Who gets the keys of a step.
#[derive(Default)]
struct Keyboard {
    /// Whoever got the first.
    first: Option<u64>,
}

impl Keyboard {
    /// Makes sure that it still is the one it was, and belongs to the surface, and that nobody else
    /// presses anything.
    fn ask(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Ended> {
        if let Some(what) = ledger.pressed_by_others().map_err(Ended::Failed)? {
            return Err(Ended::Disturbed(what));
        }
        let Some(focus) = ledger.focus().map_err(Ended::Failed)? else { return Ok(()) };
        match *self.first.get_or_insert(focus.id) == focus.id && focus.is_surface {
            true => Ok(()),
            false => Err(Ended::Unfocused(focus)),
        }
    }
}

/// The element that gets the first press of a step, until it got it.
struct Aim<'a> {
    element: Option<&'a ElementRef>,
    pointer: Point,
}

impl Aim<'_> {
    /// Makes sure before the first press that the element is what lies under the pointer: what the
    /// pointer's arrival set off has happened by now.
    fn confirm(&mut self, event: InputEvent, ledger: &mut Ledger<'_>) -> Result<(), Ended> {
        match event {
            InputEvent::Move(point) => self.pointer = point,
            InputEvent::Button { down: true, .. } | InputEvent::Wheel(_) => {
                let Some(element) = self.element.take() else { return Ok(()) };
                let told = ledger.confirm(element, self.pointer).map_err(Ended::Failed)?;
                return told.map_or(Ok(()), |refusal| Err(Ended::Missed(refusal)));
            }
            InputEvent::Button { .. } | InputEvent::Key { .. } => {}
        }
        Ok(())
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
        let closed = ledger.close(pace.clock);
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
            requested: step.duration(),
            events_planned: step.count(),
            delivered_count: accepted,
        });
        if self.clipboard.as_ref().is_none_or(|before| before.restored) {
            self.clipboard = closed.clipboard.clone().or(self.clipboard.take());
        }
        self.ended = ended;
        closed
    }

    /// Why nothing at all was sent, if so. An event that failed may have arrived.
    pub(super) fn refusal(&self) -> Option<Refusal> {
        // Nothing but the pointer's way there, and modifiers that are up again.
        if let Ended::Missed(refusal) = &self.ended
            && self.held_after.is_empty()
        {
            return Some(refusal.clone());
        }
        let delivery = &self.delivery;
        if delivery.delivered_count > 0 || delivery.events_planned == 0 {
            return None;
        }
        match &self.ended {
            Ended::Complete | Ended::Failed(_) | Ended::Missed(_) | Ended::Untaken => None,
            Ended::Revoked(refusal) => Some(refusal.clone()),
            Ended::Unfocused(focus) => Some(elsewhere(focus)),
            Ended::Disturbed(what) => Some(Refusal::new(
                RefusalKind::InputHeld,
                format!("somebody else presses {what}: let go of it first; nothing was sent"),
            )),
            Ended::Cancelled | Ended::Late(_) | Ended::Held => Some(Refusal::new(
                RefusalKind::Cancelled,
                "cancelled before the first event; nothing was sent",
            )),
        }
    }

    /// What needs to be said of it, if anything: that it must not be repeated, what is held.
    pub(super) fn message(&self) -> Option<String> {
        let parts = [
            self.told_of_stop(),
            self.told_of_release(),
            self.held_after.told(),
            self.told_of_clipboard(),
        ];
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

    fn told_of_clipboard(&self) -> Option<String> {
        let clipboard = self.clipboard.as_ref().filter(|clipboard| !clipboard.restored)?;
        let why = clipboard.note.as_deref().unwrap_or("it could not be read");
        Some(format!("what was on the clipboard is not all there again: {why}"))
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
