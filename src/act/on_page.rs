//! What the executor does on a surface that knows its elements: references become points, dialogs
//! are answered, and what the page says goes with every answer.

use std::sync::Arc;
use std::time::Duration;

use crate::error::{Result, Shown};
use crate::geometry::{Point, Size};
use crate::wait::{Asked, Outcome, OutcomeKind};

use super::action::{Action, Address, Awaited, Request, Text, WaitFor};
use super::document::{Document, Sought, Which};
use super::element::{Deed, ElementAction, ElementRef};
use super::elements::Elements;
use super::executor::{Basis, Executor};
use super::observation::{ImagePoint, Observation};
use super::receipt::{HeldAfter, PageReport, Receipt, Status};
use super::refusal::{Refusal, RefusalKind, Stop};
use super::tab::TabDeed;

/// For how long an element may become what can be acted on: enabled, at rest, uncovered.
const PATIENCE: Duration = Duration::from_secs(1);

/// From one question to a page to the next while it is waited for.
const INTERVAL: Duration = Duration::from_millis(30);

/// How long a page that was left may take until the next one is there.
const LEAVING: Duration = Duration::from_secs(5);

/// Where a page is to go.
pub(super) enum Way<'a> {
    Address(&'a Address),
    Link(&'a ElementRef),
    Tab(&'a TabDeed),
}

/// A wait for something that a page is asked about.
pub(super) struct PageWait {
    one: Vec<One>,
    is_new: bool,
}

struct One {
    sought: Sought,
    timeout: Duration,
    /// Whether it was so all the time since before the input.
    was: bool,
}

impl Executor<'_> {
    pub(super) fn dialog(&mut self) -> Option<String> {
        self.surface.document()?.dialog()
    }

    /// Why the current tab is there no more, where the session goes on without it.
    pub(super) fn lost_tab(&mut self) -> Option<String> {
        self.surface.document()?.lost_tab()
    }

    pub(super) fn elements_seen(&self) -> Option<Arc<Elements>> {
        self.current.as_ref()?.elements.clone()
    }

    /// What a change is told against: what was seen last, if only before a dialog.
    pub(super) fn elements_before(&self) -> Option<Arc<Elements>> {
        self.current.as_ref().or(self.unseen.as_ref())?.elements.clone()
    }

    /// Refuses what only a surface with elements can do, and while a dialog is open anything but
    /// answering it.
    pub(super) fn check_page(&mut self, request: &Request) -> Result<(), Refusal> {
        let asks = |asked: &WaitFor| matches!(asked.condition, Awaited::Page(_));
        let needs = match &request.action {
            Action::Element(_) => Some("a ref needs a browser surface; give a point"),
            Action::Observe if request.marks => {
                Some("marks need a browser surface, which knows its elements; leave it out")
            }
            Action::Dialog { .. } => {
                Some("a dialog needs a browser surface; use key or click on what is seen")
            }
            Action::Navigate { .. } => Some("navigate needs a browser surface"),
            Action::Tab(_) => Some("tab needs a browser surface"),
            Action::WaitFor(asked) if asks(asked) => {
                Some("the condition needs a browser surface; wait for what is seen")
            }
            _ if request.postcondition.as_ref().is_some_and(asks) => {
                Some("the condition needs a browser surface; wait for what is seen")
            }
            _ => None,
        };
        match (needs, self.surface.document()) {
            (Some(needs), None) => Err(Refusal::new(RefusalKind::Unsupported, needs)),
            (_, Some(document)) => match document.dialog() {
                Some(dialog) if !matches!(request.action, Action::Dialog { .. }) => {
                    Err(Refusal::new(RefusalKind::DialogOpen, in_the_way(&dialog)))
                }
                _ => match document.lost_tab() {
                    Some(why)
                        if !matches!(request.action, Action::Tab(_) | Action::Dialog { .. }) =>
                    {
                        Err(Refusal::new(RefusalKind::TabClosed, why))
                    }
                    _ => Ok(()),
                },
            },
            (None, None) => Ok(()),
        }
    }

    /// The action with points in place of references: each element is brought into view and must
    /// be one that can be acted on.
    pub(super) fn aim(
        &mut self,
        asked: &ElementAction,
        observation: &Observation,
    ) -> Result<Action, Stop> {
        let (scale, size) = (observation.geometry.scale, observation.geometry.size);
        let document = self.document()?;
        let start = document.aim(&asked.target, PATIENCE)??;
        let (start, end) = match &asked.deed {
            Deed::Drag { to, .. } => both(document, &asked.target, to)?,
            _ => (start, start),
        };
        let at = |point| in_image(point, observation.image, size);
        Ok(asked.at(at(start)?, at(end)?, size, scale))
    }

    fn document(&mut self) -> Result<&mut dyn Document, Refusal> {
        let message = "this surface does not know its elements: give a point";
        self.surface.document().ok_or_else(|| Refusal::new(RefusalKind::Unsupported, message))
    }

    /// Has the surface itself do what takes no events, and writes down how it went; says why if
    /// nothing was done.
    pub(super) fn deliver_directly(
        &mut self,
        asked: &ElementAction,
        receipt: &mut Receipt,
    ) -> Option<Refusal> {
        let start = self.clock.now();
        let document = match self.document() {
            Ok(document) => document,
            Err(refusal) => return Some(refusal),
        };
        let done = match &asked.deed {
            Deed::TypeText(text) => document.fill(&asked.target, text.as_str()),
            _ => document.scroll_to(&asked.target),
        };
        let took = self.clock.now().saturating_sub(start);
        self.note_direct(done, took, receipt)
    }

    /// One thing the surface was to do, as a delivery of one event.
    fn note_direct(
        &mut self,
        done: Result<Option<Refusal>>,
        took: Duration,
        receipt: &mut Receipt,
    ) -> Option<Refusal> {
        receipt.delivery.events_planned = 1;
        receipt.delivery.took = took;
        match done {
            Ok(None) => receipt.delivery.delivered_count = 1,
            Ok(refusal) => return refusal,
            Err(error) => {
                receipt.status = Status::Unknown;
                receipt.remark(&format!(
                    "it may or may not have been done: {error}; never repeat this action: look at \
                     what it changed and choose anew"
                ));
            }
        }
        receipt.held_after = Some(self.held_now());
        None
    }

    fn held_now(&mut self) -> HeldAfter {
        let Ok(held) = self.surface.held() else { return HeldAfter::default() };
        let keys = held.keys.iter().map(|&code| self.surface.key_name(code)).collect();
        HeldAfter { keys, buttons: held.buttons, is_lending: false, verified: true }
    }

    /// Goes to an address, or where a link leads: what a plain click on one does in a session that
    /// is read-only.
    pub(super) fn go(
        &mut self,
        request: &Request,
        way: &Way<'_>,
        basis: Option<Basis>,
    ) -> Result<Receipt, Stop> {
        let before = match basis {
            Some(basis) => Some(self.named(basis.id)?.clone()),
            None => self.current.clone(),
        };
        if request.postcondition.is_some() {
            let message = "going elsewhere takes no postcondition here: use wait_for";
            return Err(Refusal::bad_value(message).into());
        }
        let mut receipt = self.blank(Status::Delivered, Some(request.action.clone()));
        let start = self.clock.now();
        let document = self.document()?;
        let done = match way {
            Way::Address(url) => document.go_to(url.as_str()),
            Way::Link(element) => document.follow(element),
            Way::Tab(deed) => document.tab(deed),
        };
        let took = self.clock.now().saturating_sub(start);
        if let Some(refusal) = self.note_direct(done, took, &mut receipt) {
            return Err(refusal.into());
        }
        self.current = None;
        if self.blocked(&mut receipt) {
            return Ok(receipt);
        }
        self.conclude_or_look(before.as_ref(), &mut receipt)?;
        Ok(receipt)
    }

    /// Answers the dialog that is open; what the action before it changed is seen now.
    pub(super) fn answer_dialog(
        &mut self,
        request: &Request,
        accept: bool,
        text: Option<&Text>,
    ) -> Result<Receipt, Stop> {
        if self.dialog().is_none() {
            let message = "no dialog is open: there is nothing to accept or dismiss";
            return Err(Refusal::new(RefusalKind::NotReady, message).into());
        }
        if request.postcondition.is_some() {
            let message = "the page cannot be asked before its dialog is answered, so dialog takes \
                           no postcondition: use wait_for";
            return Err(Refusal::bad_value(message).into());
        }
        let mut receipt = self.blank(Status::Delivered, Some(request.action.clone()));
        let start = self.clock.now();
        let done = self.document()?.handle_dialog(accept, text.map(Text::as_str));
        let took = self.clock.now().saturating_sub(start);
        self.note_direct(done.map(|()| None), took, &mut receipt);
        if self.blocked(&mut receipt) {
            return Ok(receipt);
        }
        let seen = self.unseen.take().or_else(|| self.current.take());
        self.conclude_or_look(seen.as_ref(), &mut receipt)?;
        Ok(receipt)
    }

    /// What changed since an observation; without one, what there is.
    fn conclude_or_look(
        &mut self,
        before: Option<&Observation>,
        receipt: &mut Receipt,
    ) -> Result<()> {
        let Some(before) = before else {
            receipt.after = Some(self.observe()?.id);
            return Ok(());
        };
        let baseline = before.frame.as_ref().clone();
        if let Err(error) = self.conclude(None, baseline, None, receipt) {
            receipt.remark(&format!("what it changed cannot be seen: {error}"));
            if self.blocked(receipt) {
                self.unseen = Some(before.clone());
            }
        }
        Ok(())
    }

    /// Whether a dialog hides what an action did: until it is answered nobody knows.
    pub(super) fn blocked(&mut self, receipt: &mut Receipt) -> bool {
        let Some(dialog) = self.dialog() else { return false };
        receipt.status = Status::Unknown;
        receipt.message = Some(format!(
            "a dialog is open: {dialog}; accept or dismiss it with the action dialog: what this \
             action changed is told then, and what it may still hold is let go of; never repeat it"
        ));
        true
    }

    /// Waits until a page that is being left has become the next one; says whether it was.
    pub(super) fn arrive(&mut self) -> Result<bool> {
        let give_up = self.clock.now() + LEAVING;
        let mut was_leaving = false;
        while self.surface.document().is_some_and(|document| document.is_leaving()) {
            was_leaving = true;
            let next = self.clock.now() + INTERVAL;
            if next > give_up || !self.clock.sleep_until(next, &self.cancel) {
                break;
            }
        }
        Ok(was_leaving)
    }

    /// What cannot be done with an element as it is asks for a fresh look; then the refusal says
    /// which references are valid now.
    pub(super) fn look_anew(&mut self, action: &Action, refusal: Refusal) -> Refusal {
        let has_elements = self.surface.document().is_some();
        if !has_elements || !refusal.asks_for_a_look() || !matches!(action, Action::Element(_)) {
            return refusal;
        }
        let is_unknown = refusal.kind() == RefusalKind::UnknownRef;
        // Where there is nothing to be seen the refusal says what matters.
        let Ok(Observation { id, elements, .. }) = self.observe() else { return refusal };
        let mut told = format!("the current observation is {id} now");
        if let (true, Some(elements)) = (is_unknown, elements) {
            told.push_str(&format!(", and the valid refs are {}", elements.valid()));
        }
        refusal.and(&told)
    }

    /// Writes down what the page says, now that `action` is over. `point` is where it was aimed.
    pub(super) fn tell_page(
        &mut self,
        action: &Action,
        before: Option<&Elements>,
        point: Option<Point>,
        receipt: &mut Receipt,
    ) {
        let elements = self.elements_seen();
        let Some(document) = self.surface.document() else { return };
        let reference = match action {
            Action::Element(asked) => Some(asked.target.as_str().to_owned()),
            _ => None,
        };
        let target = before.and_then(|before| match (&reference, point) {
            (Some(reference), _) => before.get(reference).ok(),
            (None, Some(point)) => before.at(point),
            (None, None) => None,
        });
        let mut page = PageReport {
            session: document.session().to_owned(),
            target: target.map(super::elements::Element::line),
            reference,
            dialog: document.dialog(),
            tabs: document.tabs(),
            ..PageReport::default()
        };
        if let (Some(before), Some(now)) = (before, &elements) {
            page.has_navigated = before.document != now.document;
            page.changes = now.changes_since(before);
        }
        page.changes.extend(document.news().iter().map(|line| Shown(line).to_string()));
        if document.is_leaving() {
            page.changes.push("~ another page is loading and is not there yet".to_owned());
        }
        page.elements = elements;
        receipt.page = Some(Box::new(page));
    }

    /// The first pixel an action named before anything was sent.
    pub(super) fn point_asked(&self, action: &Action) -> Option<Point> {
        let current = self.current.as_ref()?;
        current.locate(*action.points().first()?).ok()
    }

    /// What a page is asked about, as it stands now.
    pub(super) fn page_wait(&mut self, asked: &WaitFor, is_new: bool) -> Result<PageWait, Stop> {
        let mut one = Vec::new();
        for each in std::iter::once(asked).chain(&asked.or) {
            let Awaited::Page(sought) = &each.condition else { continue };
            if let Some(reference) = reference_of(sought) {
                self.check_reference(reference)?;
            }
            one.push(One { sought: sought.clone(), timeout: each.timeout, was: false });
        }
        let sought: Vec<Sought> = one.iter().map(|one| one.sought.clone()).collect();
        let document = self.document()?;
        if is_new {
            document.mark(&sought)?;
            for (one, was) in one.iter_mut().zip(document.seek(&sought, true)?) {
                one.was = was;
            }
        }
        Ok(PageWait { one, is_new })
    }

    fn check_reference(&self, reference: &ElementRef) -> Result<(), Refusal> {
        let is_there =
            self.elements_seen().is_some_and(|elements| elements.get(reference.as_str()).is_ok());
        match is_there {
            true => Ok(()),
            false => Err(Refusal::new(
                RefusalKind::UnknownRef,
                format!("there is no element {reference} in the current observation"),
            )),
        }
    }

    /// Asks until one of them is so: with a wait for what is new, one that was not so before.
    pub(super) fn wait_on_page(&mut self, mut wait: PageWait) -> Result<Outcome> {
        let start = self.clock.now();
        let sought: Vec<Sought> = wait.one.iter().map(|one| one.sought.clone()).collect();
        let mut looks = 0;
        loop {
            let elapsed = self.clock.now().saturating_sub(start);
            let Some(document) = self.surface.document() else {
                return Ok(wait.ended(OutcomeKind::CaptureStalled, None, elapsed, looks));
            };
            if document.dialog().is_some() {
                return Ok(wait.ended(OutcomeKind::CaptureStalled, None, elapsed, looks));
            }
            let found = document.seek(&sought, wait.is_new)?;
            looks += 1;
            let elapsed = self.clock.now().saturating_sub(start);
            if let Some(met) = wait.met(&found, elapsed) {
                return Ok(wait.ended(OutcomeKind::Met, Some(met), elapsed, looks));
            }
            if wait.one.iter().all(|one| elapsed >= one.timeout) {
                return Ok(wait.ended(OutcomeKind::TimedOut, None, elapsed, looks));
            }
            let left = wait.one.iter().map(|one| one.timeout.saturating_sub(elapsed)).max();
            let next = self.clock.now() + INTERVAL.min(left.unwrap_or_default());
            if !self.clock.sleep_until(next, &self.cancel) {
                let elapsed = self.clock.now().saturating_sub(start);
                return Ok(wait.ended(OutcomeKind::Cancelled, None, elapsed, looks));
            }
        }
    }
}

impl PageWait {
    /// Which one is so, and newly so where that is asked for, within its time.
    fn met(&mut self, found: &[bool], elapsed: Duration) -> Option<usize> {
        for (nth, (one, &is)) in self.one.iter_mut().zip(found).enumerate() {
            if is && !one.was && elapsed <= one.timeout + INTERVAL {
                return Some(nth);
            }
            one.was &= is;
        }
        None
    }

    fn ended(
        &self,
        kind: OutcomeKind,
        met: Option<usize>,
        elapsed: Duration,
        looks: u32,
    ) -> Outcome {
        let each = self.one.iter().enumerate().map(|(nth, one)| {
            let kind = match kind {
                OutcomeKind::Met if met != Some(nth) => OutcomeKind::TimedOut,
                kind => kind,
            };
            let (condition, label) = (one.sought.name(), one.sought.to_string());
            Outcome::from(Asked { kind, condition, label, elapsed, deadline: one.timeout, looks })
        });
        let mut each: Vec<Outcome> = each.collect();
        if each.len() == 1 {
            return each.swap_remove(0);
        }
        let deadline = self.one.iter().map(|one| one.timeout).max().unwrap_or_default();
        let label = "any".to_owned();
        let whole = Asked { kind, condition: "any", label, elapsed, deadline, looks };
        Outcome { conditions: each, ..Outcome::from(whole) }
    }
}

/// Where two elements are when both are in view.
fn both(
    document: &mut dyn Document,
    from: &ElementRef,
    to: &ElementRef,
) -> Result<(Point, Point), Stop> {
    let end = document.aim(to, PATIENCE)??;
    let start = document.aim(from, PATIENCE)??;
    if document.confirm(to, end)?.is_none() {
        return Ok((start, end));
    }
    let end = document.aim(to, PATIENCE)??;
    match document.confirm(from, start)? {
        None => Ok((start, end)),
        Some(_) => Err(Refusal::new(
            RefusalKind::NotReady,
            format!("{from} and {to} are not in view together: scroll, or drag in two parts"),
        )
        .into()),
    }
}

fn reference_of(sought: &Sought) -> Option<&ElementRef> {
    match sought {
        Sought::Visible(Which::Ref(reference))
        | Sought::Enabled(Which::Ref(reference))
        | Sought::Gone(Which::Ref(reference)) => Some(reference),
        _ => None,
    }
}

/// The middle of a frame pixel as a point of the image that shows it.
fn in_image(point: Point, image: Size, frame: Size) -> Result<ImagePoint, Refusal> {
    let along = |at: u32, image: u32, frame: u32| {
        (f64::from(at) + 0.5) * f64::from(image) / f64::from(frame)
    };
    ImagePoint::new(
        along(point.x, image.width(), frame.width()),
        along(point.y, image.height(), frame.height()),
    )
}

fn in_the_way(dialog: &str) -> String {
    format!("a dialog is open: {dialog}; accept or dismiss it first, with the action dialog")
}
