//! Carries out requests on one surface, in the order the contract fixes.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::{Cancel, Clock};
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::geometry::Point;
use crate::report::{DiffOptions, Preset, compare};
use crate::wait::{Capture, Condition, Geometry, Monitor, Outcome, Source, WaitOptions, wait};

use super::action::{Action, Request, WaitFor};
use super::deliver::{Ended, Pace, deliver};
use super::driver::{Driver, Held};
use super::observation::{Observation, ObservationId, image_size, locate_region};
use super::plan::{NoPlan, Plan, plan};
use super::policy::Policy;
use super::receipt::{Change, Delivery, HeldAfter, Postcondition, Receipt, Status};
use super::refusal::{Refusal, RefusalKind};
use super::settle::{report, settle};

/// Something that can be looked at and driven.
pub trait Surface: Source + Driver {}

impl<S: Source + Driver + ?Sized> Surface for S {}

/// How an [`Executor`] works. Each setter changes one rule.
#[derive(Clone, Debug)]
pub struct ExecutorOptions {
    policy: Policy,
    diff: DiffOptions,
    max_edge: Option<u32>,
    grace: Duration,
    patience: Duration,
}

impl Default for ExecutorOptions {
    fn default() -> Self {
        Self {
            policy: Policy::allow_all(),
            diff: DiffOptions::preset(Preset::Live),
            max_edge: None,
            grace: Duration::from_secs(10),
            patience: Duration::ZERO,
        }
    }
}

impl ExecutorOptions {
    /// Every action allowed, changes judged by [`Preset::Live`], images as large as the capture.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What is allowed.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// How the change after an action is judged.
    #[must_use]
    pub fn diff(mut self, diff: DiffOptions) -> Self {
        self.diff = diff;
        self
    }

    /// The longest edge of an observation's image; a larger capture is shown smaller, and points
    /// are pixels of the image that is shown. Default: as captured.
    #[must_use]
    pub const fn max_edge(mut self, pixels: u32) -> Self {
        self.max_edge = Some(pixels);
        self
    }

    /// How much longer than planned the input of an action may take before it is given up.
    /// Default 10 s.
    #[must_use]
    pub const fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// How long a key or button that somebody else holds may take to come up before the action is
    /// refused: the Return that started a command is often still down. Default 0: refused at once.
    #[must_use]
    pub const fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}

/// How often it is asked whether what somebody else holds has come up.
const HELD_INTERVAL: Duration = Duration::from_millis(20);

/// Drives one surface: takes observations and carries out actions chosen from them.
pub struct Executor<'s> {
    surface: &'s mut dyn Surface,
    clock: Clock,
    cancel: Cancel,
    options: ExecutorOptions,
    current: Option<Observation>,
    last_id: ObservationId,
}

/// Why nothing was sent.
enum Stop {
    Refused(Refusal),
    Trouble(Error),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Trouble(error)
    }
}

impl From<NoPlan> for Stop {
    fn from(no_plan: NoPlan) -> Self {
        match no_plan {
            NoPlan::Refused(refusal) => Self::Refused(refusal),
            NoPlan::Trouble(error) => Self::Trouble(error),
        }
    }
}

impl<'s> Executor<'s> {
    /// An executor of a surface, with no observation yet. `clock` is the one the surface was
    /// opened with.
    pub fn new(surface: &'s mut dyn Surface, clock: Clock, options: ExecutorOptions) -> Self {
        Self {
            surface,
            clock,
            cancel: Cancel::never(),
            options,
            current: None,
            last_id: ObservationId::new(0),
        }
    }

    /// The switch that ends a running action; what it holds is let go of first.
    #[must_use]
    pub fn with_cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// The observation actions must be chosen from now.
    #[must_use]
    pub const fn current(&self) -> Option<&Observation> {
        self.current.as_ref()
    }

    /// The surface itself, to look at or to wait on between actions. Input sent to it directly is
    /// not let go of by the executor.
    pub fn surface(&mut self) -> &mut dyn Surface {
        &mut *self.surface
    }

    /// Takes a fresh observation, which becomes the current one.
    ///
    /// # Errors
    /// When the surface cannot be seen; the observation before stays current.
    pub fn observe(&mut self) -> Result<&Observation> {
        let (geometry, frame) = self.look()?;
        Ok(self.admit(geometry, Arc::new(frame)))
    }

    /// Carries out a request.
    ///
    /// # Errors
    /// When the surface can be neither seen nor asked before the first event: nothing was sent.
    /// Everything else, a failure half-way included, is a [`Receipt`].
    pub fn execute(&mut self, request: &Request) -> Result<Receipt> {
        let start = self.clock.now();
        match self.carry_out(request) {
            Ok(mut receipt) => {
                receipt.elapsed = self.clock.now().saturating_sub(start);
                Ok(receipt)
            }
            Err(Stop::Refused(refusal)) => Ok(self.refuse(Some(request.action.clone()), refusal)),
            Err(Stop::Trouble(error)) => Err(error),
        }
    }

    /// Carries out a request; one that sends input and names no observation takes its own just
    /// before, once nothing else forbids it.
    ///
    /// # Errors
    /// As [`Self::execute`].
    pub fn execute_fresh(&mut self, request: &Request) -> Result<Receipt> {
        let mut request = request.clone();
        let is_unnamed = request.action.sends_input() && request.observation.is_none();
        if is_unnamed && self.permit(&request.action).is_ok() {
            request.observation = Some(self.observe()?.id);
        }
        self.execute(&request)
    }

    /// The receipt for a request that is refused, also one that is no action at all.
    #[must_use]
    pub fn refuse(&self, action: Option<Action>, refusal: Refusal) -> Receipt {
        let current = self.current.as_ref().map(|observation| observation.id);
        Receipt { refusal: Some(refusal), after: current, ..self.blank(Status::Refused, action) }
    }

    fn carry_out(&mut self, request: &Request) -> Result<Receipt, Stop> {
        let action = &request.action;
        self.permit(action)?;
        check_postcondition(request)?;
        match action {
            Action::Observe => self.just_observe(action),
            Action::Wait { duration } => self.just_wait(action, *duration),
            Action::WaitFor(wait_for) => self.wait_for(request, wait_for),
            _ => self.act(request),
        }
    }

    /// Shape, then permission.
    fn permit(&self, action: &Action) -> Result<(), Refusal> {
        action.check()?;
        self.options.policy.permit(action)
    }

    fn just_observe(&mut self, action: &Action) -> Result<Receipt, Stop> {
        let receipt = self.blank(Status::Delivered, Some(action.clone()));
        let after = Some(self.observe()?.id);
        Ok(Receipt { after, ..receipt })
    }

    fn just_wait(&mut self, action: &Action, duration: Duration) -> Result<Receipt, Stop> {
        let mut receipt = self.blank(Status::Delivered, Some(action.clone()));
        let (_, before) = self.look()?;
        let start = self.clock.now();
        if !self.clock.sleep_until(start + duration, &self.cancel) {
            let message = "the wait was cancelled before its time; nothing was sent";
            return Err(Refusal::new(RefusalKind::Cancelled, message).into());
        }
        let (geometry, after) = self.look()?;
        let (before, after) = (Arc::new(before), Arc::new(after));
        let diff = self.diff_options(None).scale(geometry.scale);
        receipt.change = Some(Change {
            report: compare(before.as_ref().as_ref(), after.as_ref().as_ref(), &diff)?,
            looked: self.clock.now().saturating_sub(start),
            before,
            after: after.clone(),
        });
        receipt.after = Some(self.admit(geometry, after).id);
        Ok(receipt)
    }

    fn wait_for(&mut self, request: &Request, asked: &WaitFor) -> Result<Receipt, Stop> {
        let named = request.observation.map(|_| self.named(request)).transpose()?.cloned();
        let mut receipt = self.blank(Status::Delivered, Some(request.action.clone()));
        let (geometry, before) = match named {
            Some(observation) => (observation.geometry, observation.frame),
            None => self.look().map(|(geometry, frame)| (geometry, Arc::new(frame)))?,
        };
        // What several are for is seen from now on: what one of them shows already counts.
        let is_change = asked.or.is_empty() && asked.condition.name() == "changed";
        let baseline = is_change.then(|| before.as_ref().clone());
        let (condition, options) = self.waiting(asked, geometry, baseline)?;
        let outcome = wait(&mut *self.surface, &condition, &options, &self.clock, &self.cancel)?;
        self.show_change(before, outcome, None, &mut receipt)?;
        Ok(receipt)
    }

    /// The condition and options of a wait, refused if it could never be met.
    fn waiting(
        &self,
        asked: &WaitFor,
        geometry: Geometry,
        baseline: Option<Frame>,
    ) -> Result<(Condition, WaitOptions), Refusal> {
        let mut condition = self.condition(asked, geometry)?;
        if !asked.or.is_empty() {
            let others = asked.or.iter().map(|other| self.condition(other, geometry));
            let others = others.collect::<Result<Vec<_>, Refusal>>()?;
            condition = Condition::any(std::iter::once(condition).chain(others))
                .map_err(|error| Refusal::bad_value(error.to_string()))?;
        }
        let mut options = WaitOptions::new().timeout(asked.timeout);
        if let Some(baseline) = baseline {
            options = options.baseline(baseline);
        }
        match Monitor::new(&condition, &options, geometry) {
            Ok(_) => Ok((condition, options)),
            Err(error) => Err(Refusal::bad_value(format!("{}: {error}", condition.name()))),
        }
    }

    /// One condition as it was asked for, compared as the executor compares.
    fn condition(&self, asked: &WaitFor, geometry: Geometry) -> Result<Condition, Refusal> {
        let mut diff = self.options.diff.clone();
        if let Some(region) = asked.region {
            let image = image_size(geometry.size, self.options.max_edge);
            let scope = diff.scope_in_force().clone();
            diff = diff.scope(scope.region(locate_region(region, image, geometry.size)?));
        }
        Ok(asked.condition.clone().diff(diff).timeout(asked.timeout))
    }

    /// An action that sends input: state, plan, baseline, events, cleanup, wait.
    fn act(&mut self, request: &Request) -> Result<Receipt, Stop> {
        let observation = self.named(request)?.clone();
        self.check_geometry(&observation)?;
        self.check_nothing_held()?;
        let plan = plan(&request.action, &observation, &mut *self.surface)?;
        let (geometry, baseline) = self.look()?;
        check_same(&observation, &geometry)?;
        let postcondition = match &request.postcondition {
            Some(asked) => Some(self.waiting(asked, geometry, Some(baseline.clone()))?),
            None => None,
        };
        if self.cancel.is_cancelled() {
            return Err(cancelled().into());
        }
        let mut receipt = self.blank(Status::Delivered, Some(request.action.clone()));
        self.current = None;
        if !self.deliver(&plan, &mut receipt) {
            self.current = Some(observation);
            return Err(cancelled().into());
        }
        if let Err(error) = self.conclude(&plan, baseline, postcondition, &mut receipt) {
            // Events were sent: trouble is told in the receipt, not instead of it.
            let told = format!("what the action changed cannot be seen: {error}");
            receipt.message = joined([receipt.message.take(), Some(told)]);
        }
        Ok(receipt)
    }

    /// The current observation, if it is the one the request was chosen from.
    fn named(&self, request: &Request) -> Result<&Observation, Refusal> {
        let unknown = |message| Refusal::new(RefusalKind::UnknownObservation, message);
        let Some(current) = &self.current else {
            return Err(unknown("there is no current observation: observe first".to_owned()));
        };
        let id = current.id;
        match request.observation {
            Some(named) if named == id => Ok(current),
            Some(named) if named > self.last_id => {
                Err(unknown(format!("there is no {named} yet: the current observation is {id}")))
            }
            Some(named) => Err(Refusal::new(
                RefusalKind::StaleObservation,
                format!(
                    "{named} is stale: the current observation is {id}; look at it and choose again"
                ),
            )),
            None => Err(unknown(format!(
                "the observation the action was chosen from is missing: the current one is {id}"
            ))),
        }
    }

    fn check_geometry(&mut self, observation: &Observation) -> Result<(), Stop> {
        let geometry = self.surface.geometry()?;
        Ok(check_same(observation, &geometry)?)
    }

    /// The input system is asked, not memory; what it holds is not ours and stays as it is.
    fn check_nothing_held(&mut self) -> Result<(), Stop> {
        let held = self.held_after_patience().map_err(|error| {
            error.context("cannot tell which keys and buttons are held, so nothing was sent")
        })?;
        if held.is_empty() {
            return Ok(());
        }
        let words = self.in_words(held);
        Err(Stop::Refused(Refusal::new(
            RefusalKind::InputHeld,
            format!(
                "already held by somebody else: {words}; let go of it first \
                 (seechange doctor --release)"
            ),
        )))
    }

    fn held_after_patience(&mut self) -> Result<Held> {
        let give_up = self.clock.now() + self.options.patience;
        loop {
            let held = self.surface.held()?;
            let now = self.clock.now();
            if held.is_empty() || now >= give_up {
                return Ok(held);
            }
            if !self.clock.sleep_until((now + HELD_INTERVAL).min(give_up), &self.cancel) {
                return Ok(held);
            }
        }
    }

    fn in_words(&mut self, held: Held) -> String {
        let keys = held.keys.iter().map(|&code| self.surface.key_name(code)).collect();
        HeldAfter { keys, buttons: held.buttons, verified: true }.in_words()
    }

    /// Sends the events and writes down how it went; says whether anything was sent at all.
    fn deliver(&mut self, plan: &Plan, receipt: &mut Receipt) -> bool {
        let Self { surface, clock, cancel, options, .. } = self;
        let pace = Pace { clock, cancel, grace: options.grace };
        let delivered = deliver(plan, &mut **surface, &pace);
        let is_untouched = delivered.is_untouched();
        receipt.message = delivered.message();
        receipt.status = match delivered.ended {
            Ended::Complete => Status::Delivered,
            _ => Status::Unknown,
        };
        receipt.delivery = delivered.delivery;
        receipt.held_after = Some(delivered.held_after);
        if matches!(receipt.action, Some(Action::Sequence(_))) {
            receipt.sequence = Some(delivered.sequence);
        }
        !is_untouched
    }

    /// Waits for the postcondition and for the surface to come to rest, and says what changed since
    /// `baseline`.
    fn conclude(
        &mut self,
        plan: &Plan,
        baseline: Frame,
        postcondition: Option<(Condition, WaitOptions)>,
        receipt: &mut Receipt,
    ) -> Result<()> {
        if let Some((condition, options)) = postcondition
            && receipt.status == Status::Delivered
        {
            let outcome =
                wait(&mut *self.surface, &condition, &options, &self.clock, &self.cancel)?;
            receipt.postcondition = Some(Postcondition { outcome });
        }
        let diff = self.diff_options(plan.input_point);
        let outcome = settle(&mut *self.surface, &baseline, &diff, &self.clock, &self.cancel)?;
        self.show_change(Arc::new(baseline), outcome, plan.input_point, receipt)
    }

    /// The end of a wait becomes the current observation, and what changed until then is written
    /// down.
    fn show_change(
        &mut self,
        before: Arc<Frame>,
        outcome: Outcome,
        input_point: Option<Point>,
        receipt: &mut Receipt,
    ) -> Result<()> {
        let (geometry, last) = self.whole_frame(&outcome)?;
        let after = Arc::new(last);
        receipt.after = Some(self.admit(geometry, after.clone()).id);
        let diff = self.diff_options(input_point).scale(geometry.scale);
        receipt.change = Some(Change {
            report: report(
                before.as_ref().as_ref(),
                after.as_ref().as_ref(),
                &diff,
                &outcome.standing,
            )?,
            looked: outcome.elapsed,
            before,
            after,
        });
        receipt.wait = Some(outcome);
        Ok(())
    }

    /// The last frame of a wait if it shows the whole surface as it is now, else a fresh one.
    fn whole_frame(&mut self, outcome: &Outcome) -> Result<(Geometry, Frame)> {
        let geometry = self.surface.geometry()?;
        match &outcome.last {
            Some(last) if last.frame.size() == geometry.size => Ok((geometry, last.frame.clone())),
            _ => self.look(),
        }
    }

    fn diff_options(&self, input_point: Option<Point>) -> DiffOptions {
        let options = self.options.diff.clone();
        match input_point {
            Some(point) => options.input_point(point),
            None => options,
        }
    }

    /// A frame and the geometry it belongs to.
    fn look(&mut self) -> Result<(Geometry, Frame)> {
        let geometry = self.surface.geometry()?;
        let mut frame = Frame::default();
        let give_up = self.clock.now() + LOOK_LIMIT;
        let trouble = match self.surface.capture(None, give_up, &mut frame)? {
            Capture::Taken { .. } if frame.size() == geometry.size => return Ok((geometry, frame)),
            Capture::Taken { .. } | Capture::Resized => "it is being resized".to_owned(),
            Capture::Stalled => format!("no frame came within {} s", LOOK_LIMIT.as_secs()),
            Capture::Failed(reason) => reason,
        };
        Err(Error::surface(format!("the surface cannot be captured: {trouble}")))
    }

    fn admit(&mut self, geometry: Geometry, frame: Arc<Frame>) -> &Observation {
        self.last_id = self.last_id.next();
        let image = image_size(frame.size(), self.options.max_edge);
        let (id, at) = (self.last_id, self.clock.now());
        self.current.insert(Observation { id, frame, at, geometry, image })
    }

    fn blank(&self, status: Status, action: Option<Action>) -> Receipt {
        Receipt {
            status,
            action,
            refusal: None,
            before: self.current.as_ref().map(|observation| observation.id),
            after: None,
            delivery: Delivery { route: self.surface.route(), ..Delivery::default() },
            sequence: None,
            held_after: None,
            wait: None,
            change: None,
            postcondition: None,
            message: None,
            elapsed: Duration::ZERO,
        }
    }
}

/// How long one look outside a wait may take.
const LOOK_LIMIT: Duration = Duration::from_secs(5);

/// Only input can make something become true after it.
fn check_postcondition(request: &Request) -> Result<(), Refusal> {
    match &request.postcondition {
        Some(asked) if request.action.sends_input() => {
            asked.check().map_err(|refusal| refusal.inside("postcondition"))
        }
        Some(_) => Err(Refusal::bad_value(format!(
            "{} sends no input, so it has no postcondition: use wait_for",
            request.action.name()
        ))),
        None => Ok(()),
    }
}

fn check_same(observation: &Observation, now: &Geometry) -> Result<(), Refusal> {
    let then = &observation.geometry;
    if then == now {
        return Ok(());
    }
    let id = observation.id;
    let (was, is) = (place(then), place(now));
    Err(Refusal::new(
        RefusalKind::GeometryChanged,
        format!("the surface was {was} in {id} and is {is} now; observe and choose again"),
    ))
}

fn place(geometry: &Geometry) -> String {
    let Geometry { size, scale, origin: (x, y) } = geometry;
    let scale = if *scale == 1.0 { String::new() } else { format!(" at scale {scale}") };
    format!("{size} at ({x}, {y}){scale}")
}

fn cancelled() -> Refusal {
    Refusal::new(RefusalKind::Cancelled, "cancelled before the first event; nothing was sent")
}

fn joined(parts: [Option<String>; 2]) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { None } else { Some(parts.join("; ")) }
}
