//! Carries out requests on one surface, in the order the contract fixes.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::{Cancel, Clock};
use crate::error::Result;
use crate::frame::Frame;
use crate::geometry::Point;
use crate::report::{DiffOptions, Preset, compare};
use crate::wait::{Condition, Geometry, Monitor, Outcome, Source, WaitOptions, look, wait};

use super::action::{Action, Awaited, Request, WaitFor};
use super::deliver::{Ended, Pace, deliver};
use super::driver::{Driver, Held};
use super::observation::{Observation, ObservationId, image_size, locate_region};
use super::on_page::{PageWait, Way};
use super::plan::{Plan, plan};
use super::policy::{Access, Place, Policy};
use super::receipt::{Change, Delivery, HeldAfter, Postcondition, Receipt, Status};
use super::refusal::{Refusal, RefusalKind, Stop};
use super::settle::{report, settle};
use super::target::Comparison;

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
    checks_target: bool,
    count_after: u64,
}

impl Default for ExecutorOptions {
    fn default() -> Self {
        Self {
            policy: Policy::allow_all(),
            diff: DiffOptions::preset(Preset::Live),
            max_edge: None,
            grace: Duration::from_secs(10),
            patience: Duration::ZERO,
            checks_target: true,
            count_after: 0,
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

    /// Whether an action is refused when something else is seen at its points than in the
    /// observation they were chosen from: of a click, a scroll and a drag's ends, the 32 pixels
    /// around, at scale 1. What blinks is given time to come back; regions that
    /// [`Self::diff`] leaves out are not looked at. Default: yes.
    #[must_use]
    pub const fn checks_target(mut self, checks: bool) -> Self {
        self.checks_target = checks;
        self
    }

    /// The number after which observations are counted, so that those of several executors have
    /// none in common. Default 0: the first is `obs-1`.
    #[must_use]
    pub const fn count_after(mut self, number: u64) -> Self {
        self.count_after = number;
        self
    }
}

/// How often it is asked whether what somebody else holds has come up.
const HELD_INTERVAL: Duration = Duration::from_millis(20);

/// For how long something else at a point may be a caret or an animation that comes back, and how
/// often it is looked at meanwhile.
const COMES_BACK: Duration = Duration::from_millis(700);
const TARGET_INTERVAL: Duration = Duration::from_millis(40);

/// Drives one surface: takes observations and carries out actions chosen from them.
pub struct Executor<'s> {
    pub(super) surface: &'s mut dyn Surface,
    pub(super) clock: Clock,
    pub(super) cancel: Cancel,
    options: ExecutorOptions,
    access: Access,
    pub(super) current: Option<Observation>,
    last_id: ObservationId,
    /// Where the last action left the pointer.
    pointer: Option<Point>,
    /// What was seen before an action that a dialog hid the end of.
    pub(super) unseen: Option<Observation>,
}

/// A wait that can be begun.
pub(super) enum Ready {
    Pixels(Box<(Condition, WaitOptions)>),
    Page(PageWait),
}

/// The observation a request is carried out from.
#[derive(Clone, Copy)]
pub(super) struct Basis {
    pub(super) id: Option<ObservationId>,
    /// Whether the executor took it just before, for a request that names none.
    is_own: bool,
}

/// What is allowed to an action since it began, until the policy changes.
struct Grant<'a> {
    action: &'a Action,
    places: Vec<Place>,
    /// How often the policy had changed before it was asked.
    since: u64,
}

impl<'s> Executor<'s> {
    /// An executor of a surface, with no observation yet. `clock` is the one the surface was
    /// opened with.
    pub fn new(surface: &'s mut dyn Surface, clock: Clock, options: ExecutorOptions) -> Self {
        Self {
            surface,
            clock,
            cancel: Cancel::never(),
            access: Access::new(options.policy.clone()),
            last_id: ObservationId::new(options.count_after),
            options,
            current: None,
            pointer: None,
            unseen: None,
        }
    }

    /// The switch that ends a running action; what it holds is let go of first.
    #[must_use]
    pub fn with_cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// What is allowed is asked of this instead of [`ExecutorOptions::policy`], so that it can be
    /// changed and revoked from elsewhere.
    #[must_use]
    pub fn with_access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// The policy in force; a clone changes and revokes it, also while an action runs.
    #[must_use]
    pub const fn access(&self) -> &Access {
        &self.access
    }

    /// Another switch, from the next request on.
    pub fn set_cancel(&mut self, cancel: Cancel) {
        self.cancel = cancel;
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
        let (geometry, frame) = look(&mut *self.surface, None, &self.clock)?;
        self.admit(geometry, Arc::new(frame))
    }

    /// Carries out a request.
    ///
    /// # Errors
    /// When the surface can be neither seen nor asked before the first event: nothing was sent.
    /// Everything else, a failure half-way included, is a [`Receipt`].
    pub fn execute(&mut self, request: &Request) -> Result<Receipt> {
        self.execute_from(request, Basis { id: request.observation, is_own: false })
    }

    fn execute_from(&mut self, request: &Request, basis: Basis) -> Result<Receipt> {
        let start = self.clock.now();
        let before = self.elements_before();
        let place = self.point_asked(&request.action);
        let mut receipt = match self.carry_out(request, basis) {
            Ok(receipt) => receipt,
            Err(Stop::Refused(refusal)) => {
                let refusal = self.look_anew(&request.action, refusal);
                self.refuse(Some(request.action.clone()), refusal)
            }
            Err(Stop::Trouble(error)) => return Err(error),
        };
        self.tell_page(&request.action, before.as_deref(), place, &mut receipt);
        receipt.elapsed = self.clock.now().saturating_sub(start);
        Ok(receipt)
    }

    /// Carries out a request; one that sends input and names no observation takes its own just
    /// before, once nothing else forbids it. Of that one nobody has chosen a point by its look, so
    /// what lies at the points is not compared.
    ///
    /// # Errors
    /// As [`Self::execute`].
    pub fn execute_fresh(&mut self, request: &Request) -> Result<Receipt> {
        let is_unnamed = request.action.needs_observation() && request.observation.is_none();
        let is_open = is_unnamed && self.permit(&request.action).is_ok();
        // A fresh observation would end the references an action was given.
        if let (true, Action::Element(_), Some(current)) = (is_open, &request.action, &self.current)
        {
            return self.execute_from(request, Basis { id: Some(current.id), is_own: true });
        }
        if is_open && self.dialog().is_none() && self.lost_tab().is_none() {
            let own = self.observe()?.id;
            return self.execute_from(request, Basis { id: Some(own), is_own: true });
        }
        self.execute(request)
    }

    /// The receipt for a request that is refused, also one that is no action at all.
    #[must_use]
    pub fn refuse(&self, action: Option<Action>, refusal: Refusal) -> Receipt {
        let current = self.current.as_ref().map(|observation| observation.id);
        Receipt { refusal: Some(refusal), after: current, ..self.blank(Status::Refused, action) }
    }

    fn carry_out(&mut self, request: &Request, basis: Basis) -> Result<Receipt, Stop> {
        let action = &request.action;
        let since = self.access.changes();
        self.permit(action)?;
        check_postcondition(request)?;
        self.check_page(request)?;
        match action {
            Action::Observe => self.just_observe(action),
            Action::Wait { duration } => self.just_wait(action, *duration),
            Action::WaitFor(wait_for) => self.wait_for(request, wait_for),
            Action::Navigate { url } => self.go(request, &Way::Address(url), None),
            Action::Tab(deed) => self.go(request, &Way::Tab(deed), None),
            Action::Element(asked) if self.access.policy().is_read_only() => {
                self.go(request, &Way::Link(&asked.target), Some(basis))
            }
            _ => self.act_in_turn(request, basis, since),
        }
    }

    /// Two programs that act at once would each press what the other believes it holds alone.
    fn act_in_turn(
        &mut self,
        request: &Request,
        basis: Basis,
        since: u64,
    ) -> Result<Receipt, Stop> {
        if let Some(owner) = self.surface.take_turn()? {
            let message =
                format!("another program sends input here: {owner}; try again when it is done");
            return Err(Refusal::new(RefusalKind::NotOurTurn, message).into());
        }
        let done = match &request.action {
            Action::Dialog { accept, text } => self.answer_dialog(request, *accept, text.as_ref()),
            _ => self.act(request, basis, since),
        };
        // The turn of a display that does not answer ends with this process at the latest.
        let ended = self.surface.end_turn();
        let mut receipt = done?;
        if let Err(error) = ended {
            let told = format!("others cannot send input here yet: {error}");
            receipt.remark(&told);
        }
        Ok(receipt)
    }

    /// Shape, then permission.
    fn permit(&self, action: &Action) -> Result<(), Refusal> {
        action.check()?;
        self.access.policy().permit(action)
    }

    fn just_observe(&mut self, action: &Action) -> Result<Receipt, Stop> {
        let receipt = self.blank(Status::Delivered, Some(action.clone()));
        let after = Some(self.observe()?.id);
        Ok(Receipt { after, ..receipt })
    }

    fn just_wait(&mut self, action: &Action, duration: Duration) -> Result<Receipt, Stop> {
        let mut receipt = self.blank(Status::Delivered, Some(action.clone()));
        let (_, before) = look(&mut *self.surface, None, &self.clock)?;
        let start = self.clock.now();
        if !self.clock.sleep_until(start + duration, &self.cancel) {
            let message = "the wait was cancelled before its time; nothing was sent";
            return Err(Refusal::new(RefusalKind::Cancelled, message).into());
        }
        let (geometry, after) = look(&mut *self.surface, None, &self.clock)?;
        let (before, after) = (Arc::new(before), Arc::new(after));
        let diff = self.diff_options(None).scale(geometry.scale);
        receipt.change = Some(Change {
            report: compare(before.as_ref().as_ref(), after.as_ref().as_ref(), &diff)?,
            looked: self.clock.now().saturating_sub(start),
            before,
            after: after.clone(),
        });
        receipt.after = Some(self.admit(geometry, after)?.id);
        Ok(receipt)
    }

    fn wait_for(&mut self, request: &Request, asked: &WaitFor) -> Result<Receipt, Stop> {
        let named = request.observation.map(|id| self.named(Some(id))).transpose()?.cloned();
        let mut receipt = self.blank(Status::Delivered, Some(request.action.clone()));
        let (geometry, before) = match named {
            Some(observation) => (observation.geometry, observation.frame),
            None => look(&mut *self.surface, None, &self.clock)
                .map(|(geometry, frame)| (geometry, Arc::new(frame)))?,
        };
        // What several are for is seen from now on: what one of them shows already counts.
        let is_change = asked.or.is_empty() && asked.condition.name() == "changed";
        let baseline = is_change.then(|| before.as_ref().clone());
        let ready = self.waiting(asked, geometry, baseline)?;
        let outcome = self.wait_until(ready)?;
        self.show_change(before, outcome, None, &mut receipt)?;
        Ok(receipt)
    }

    /// The condition and options of a wait, refused if it could never be met. What is asked of a
    /// page counts from here on: with a baseline only what is new.
    fn waiting(
        &mut self,
        asked: &WaitFor,
        geometry: Geometry,
        baseline: Option<Frame>,
    ) -> Result<Ready, Stop> {
        if let Awaited::Page(_) = asked.condition {
            return Ok(Ready::Page(self.page_wait(asked, baseline.is_some())?));
        }
        let all = std::iter::once(asked).chain(&asked.or);
        let all = all.map(|one| self.condition(one, geometry));
        let mut all = all.collect::<Result<Vec<_>, Refusal>>()?;
        let condition = match all.len() {
            1 => all.swap_remove(0),
            _ => Condition::any(all).map_err(|error| Refusal::bad_value(error.to_string()))?,
        };
        let mut options = WaitOptions::new().timeout(asked.timeout);
        if let Some(baseline) = baseline {
            options = options.baseline(baseline);
        }
        match Monitor::new(&condition, &options, geometry) {
            Ok(_) => Ok(Ready::Pixels(Box::new((condition, options)))),
            Err(error) => Err(Refusal::bad_value(format!("{}: {error}", condition.name())).into()),
        }
    }

    /// One condition as it was asked for, compared as the executor compares.
    fn condition(&self, asked: &WaitFor, geometry: Geometry) -> Result<Condition, Refusal> {
        let Awaited::Pixels(condition) = &asked.condition else {
            return Err(Refusal::bad_value("any takes conditions of one kind"));
        };
        let mut diff = self.options.diff.clone();
        if let Some(region) = asked.region {
            let image = image_size(geometry.size, self.options.max_edge);
            let scope = diff.scope_in_force().clone();
            diff = diff.scope(scope.region(locate_region(region, image, geometry.size)?));
        }
        Ok(condition.clone().diff(diff).timeout(asked.timeout))
    }

    fn wait_until(&mut self, ready: Ready) -> Result<Outcome> {
        match ready {
            Ready::Pixels(seen) => {
                let (condition, options) = *seen;
                wait(&mut *self.surface, &condition, &options, &self.clock, &self.cancel)
            }
            Ready::Page(wait) => self.wait_on_page(wait),
        }
    }

    /// An action that sends input: state, plan, baseline, events, cleanup, wait.
    fn act(&mut self, request: &Request, basis: Basis, since: u64) -> Result<Receipt, Stop> {
        let observation = self.named(basis.id)?.clone();
        self.unseen = None;
        let asked = match &request.action {
            Action::Element(asked) => Some(asked),
            _ => None,
        };
        let aimed = match asked {
            Some(asked) => {
                self.check_geometry(&observation)?;
                self.check_nothing_held()?;
                Some(self.aim(asked, &observation)?)
            }
            None => None,
        };
        let action = aimed.as_ref().unwrap_or(&request.action);
        let places = self.permit_places(action, &observation)?;
        let grant = Grant { action: &request.action, places, since };
        if asked.is_none() {
            self.check_geometry(&observation)?;
            self.check_nothing_held()?;
        }
        let mut plan = plan(action, &observation, &mut *self.surface)?;
        if let Some(asked) = asked {
            plan = plan.aimed(asked.target.clone());
        }
        // An element is confirmed by itself; it may have been scrolled to.
        let checks = self.options.checks_target && !basis.is_own && asked.is_none();
        let (geometry, baseline) = self.baseline(&plan, &observation, checks)?;
        let postcondition = match &request.postcondition {
            Some(asked) => Some(self.waiting(asked, geometry, Some(baseline.clone()))?),
            None => None,
        };
        let mut receipt = self.blank(Status::Delivered, Some(request.action.clone()));
        self.current = None;
        let refusal = match asked.filter(|asked| asked.is_direct()) {
            Some(asked) => self.deliver_directly(asked, &mut receipt),
            None => self.deliver(&plan, &grant, &mut receipt),
        };
        if let Some(refusal) = refusal {
            self.current = Some(observation);
            return Err(refusal.into());
        }
        if self.blocked(&mut receipt) {
            self.unseen = Some(Observation { frame: Arc::new(baseline), ..observation });
            return Ok(receipt);
        }
        if let Err(error) = self.conclude(plan.input_point, baseline, postcondition, &mut receipt) {
            // Events were sent: trouble is told in the receipt, not instead of it.
            let told = format!("what the action changed cannot be seen: {error}");
            receipt.remark(&told);
            if self.blocked(&mut receipt) {
                self.unseen = Some(observation);
            }
        }
        Ok(receipt)
    }

    /// Asks the policy about regions and windows: where the input of `action` would go.
    fn permit_places(
        &mut self,
        action: &Action,
        observation: &Observation,
    ) -> Result<Vec<Place>, Stop> {
        let policy = self.access.policy();
        let mut places = Vec::new();
        let mut has_pressed = false;
        for part in std::iter::once(action).chain(action.parts()) {
            if part.is_typed() && !has_pressed && policy.asks_for_windows() {
                let window = self.surface.window_with_focus()?;
                places.push(Place { point: None, dragged_from: None, window });
            }
            // One outside the image is refused where its step is known.
            let mut dragged_from = None;
            for point in part.points().into_iter().filter_map(|at| observation.locate(at).ok()) {
                let surface = &mut *self.surface;
                let window = policy.asks_for_windows().then(|| surface.window_at(point));
                let window = window.transpose()?.flatten();
                places.push(Place { point: Some(point), dragged_from, window });
                dragged_from = Some(point);
                // From here on the keys go where the pointer pressed.
                has_pressed = true;
            }
        }
        policy.permit_places(&places)?;
        Ok(places)
    }

    /// The frame just before the first event, on which what lies at the points of the plan still
    /// looks as it was chosen.
    fn baseline(
        &mut self,
        plan: &Plan,
        observation: &Observation,
        checks: bool,
    ) -> Result<(Geometry, Frame), Stop> {
        let give_up = self.clock.now() + COMES_BACK;
        loop {
            let (geometry, frame) = look(&mut *self.surface, None, &self.clock)?;
            check_same(observation, &geometry)?;
            let changed =
                if checks { self.target_changed(plan, observation, &frame)? } else { None };
            let Some(refusal) = changed else { return Ok((geometry, frame)) };
            let next = self.clock.now() + TARGET_INTERVAL;
            if next > give_up || !self.clock.sleep_until(next, &self.cancel) {
                return Err(refusal.into());
            }
        }
    }

    /// The first point of the plan at which something else is seen than in the observation.
    fn target_changed(
        &self,
        plan: &Plan,
        observation: &Observation,
        now: &Frame,
    ) -> Result<Option<Refusal>> {
        let scope = self.options.diff.scope_in_force();
        let comparison = Comparison { observation, now, scope, pointer: self.pointer };
        for (nth, step) in (1..).zip(&plan.steps) {
            for &target in &step.targets {
                if let Some(refusal) = comparison.refusal(target)? {
                    let is_step = plan.steps.len() > 1;
                    return Ok(Some(if is_step { refusal.context("step", nth) } else { refusal }));
                }
            }
        }
        Ok(None)
    }

    /// The current observation, if it is the one the request was chosen from.
    pub(super) fn named(&self, named: Option<ObservationId>) -> Result<&Observation, Refusal> {
        let unknown = |message| Refusal::new(RefusalKind::UnknownObservation, message);
        let Some(current) = &self.current else {
            return Err(unknown("there is no current observation: observe first".to_owned()));
        };
        let id = current.id;
        match named {
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

    pub(super) fn check_geometry(&mut self, observation: &Observation) -> Result<(), Stop> {
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

    pub(super) fn held_after_patience(&mut self) -> Result<Held> {
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
        HeldAfter { keys, buttons: held.buttons, ..HeldAfter::default() }.in_words()
    }

    /// Sends the events and writes down how it went; says why if nothing at all was sent.
    fn deliver(
        &mut self,
        plan: &Plan,
        grant: &Grant<'_>,
        receipt: &mut Receipt,
    ) -> Option<Refusal> {
        let Self { surface, clock, cancel, options, access, .. } = self;
        let revoked = || {
            access.changed_since(grant.since, |policy| {
                policy.permit(grant.action)?;
                policy.permit_places(&grant.places)
            })
        };
        let pace = Pace { clock, cancel, revoked: &revoked, grace: options.grace };
        let delivered = deliver(plan, &mut **surface, &pace);
        let refusal = delivered.refusal();
        receipt.message = delivered.message();
        receipt.status = match delivered.ended {
            Ended::Complete => Status::Delivered,
            _ => Status::Unknown,
        };
        // Of a cut delivery it is not known how far the pointer came.
        self.pointer = plan.pointer().or(self.pointer).filter(|_| receipt.is_delivered());
        receipt.delivery = delivered.delivery;
        receipt.held_after = Some(delivered.held_after);
        receipt.clipboard = delivered.clipboard;
        if matches!(receipt.action, Some(Action::Sequence(_))) {
            receipt.sequence = Some(delivered.sequence);
        }
        refusal
    }

    /// Waits for the postcondition and for the surface to come to rest, and says what changed since
    /// `baseline`.
    pub(super) fn conclude(
        &mut self,
        input_point: Option<Point>,
        baseline: Frame,
        postcondition: Option<Ready>,
        receipt: &mut Receipt,
    ) -> Result<()> {
        if let Some(ready) = postcondition
            && receipt.status == Status::Delivered
        {
            let outcome = self.wait_until(ready)?;
            receipt.postcondition = Some(Postcondition { outcome });
        }
        let diff = self.diff_options(input_point);
        let mut outcome = settle(&mut *self.surface, &baseline, &diff, &self.clock, &self.cancel)?;
        if self.arrive()? {
            // What was seen to rest was the page before.
            outcome = settle(&mut *self.surface, &baseline, &diff, &self.clock, &self.cancel)?;
        }
        self.show_change(Arc::new(baseline), outcome, input_point, receipt)
    }

    /// The end of a wait becomes the current observation, and what changed until then is written
    /// down.
    pub(super) fn show_change(
        &mut self,
        before: Arc<Frame>,
        outcome: Outcome,
        input_point: Option<Point>,
        receipt: &mut Receipt,
    ) -> Result<()> {
        let (geometry, last) = self.whole_frame(&outcome)?;
        let after = Arc::new(last);
        receipt.after = Some(self.admit(geometry, after.clone())?.id);
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
            _ => look(&mut *self.surface, None, &self.clock),
        }
    }

    fn diff_options(&self, input_point: Option<Point>) -> DiffOptions {
        let options = self.options.diff.clone();
        match input_point {
            Some(point) => options.input_point(point),
            None => options,
        }
    }

    fn admit(&mut self, geometry: Geometry, frame: Arc<Frame>) -> Result<&Observation> {
        let elements = self.surface.document().map(|document| document.elements()).transpose()?;
        self.last_id = self.last_id.next();
        let image = image_size(frame.size(), self.options.max_edge);
        let (id, at, elements) = (self.last_id, self.clock.now(), elements.map(Arc::new));
        Ok(self.current.insert(Observation { id, frame, at, geometry, image, elements }))
    }

    pub(super) fn blank(&self, status: Status, action: Option<Action>) -> Receipt {
        Receipt {
            status,
            action,
            refusal: None,
            before: self.current.as_ref().map(|observation| observation.id),
            after: None,
            delivery: Delivery { route: self.surface.route(), ..Delivery::default() },
            sequence: None,
            held_after: None,
            clipboard: None,
            wait: None,
            change: None,
            postcondition: None,
            page: None,
            message: None,
            elapsed: Duration::ZERO,
        }
    }
}

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
