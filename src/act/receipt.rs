//! The answer to an action: what was sent, what is still held, and what changed.

use std::sync::Arc;
use std::time::Duration;

use crate::frame::Frame;
use crate::geometry::Rect;
use crate::report::{ChangeReport, Wording};
use crate::wait::Outcome;

use super::action::Action;
use super::driver::{Button, Clipboard};
use super::elements::Elements;
use super::observation::ObservationId;
use super::refusal::Refusal;
use super::tab::Tab;

/// What became of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The input system accepted every event. Whether the program did anything with them is for
    /// [`Receipt::change`] to say.
    Delivered,
    /// A rule forbade it before the first event; nothing was sent.
    Refused,
    /// Some events were sent and not all are known to have arrived. Never to be replayed.
    Unknown,
}

impl Status {
    /// `delivered`, `refused` or `unknown`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
        }
    }
}

/// The answer to one action.
///
/// Of a text that was to be typed it holds no more than [`Text`](super::Text) shows: its length.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// What became of it.
    pub status: Status,
    /// The action, unless the request was no action at all.
    pub action: Option<Action>,
    /// Why it was refused.
    pub refusal: Option<Refusal>,
    /// The observation it was carried out from; for a refusal, the one that is still current.
    pub before: Option<ObservationId>,
    /// The observation that is current now.
    pub after: Option<ObservationId>,
    /// What was sent.
    pub delivery: Delivery,
    /// Step by step, for a sequence of which something was sent.
    pub sequence: Option<SequenceReport>,
    /// What is down afterwards; `None` when nothing was sent.
    pub held_after: Option<HeldAfter>,
    /// What became of what was on the clipboard, where something was pasted. Of several pastes it is
    /// the first that did not put all of it back.
    pub clipboard: Option<Clipboard>,
    /// How the wait after the input, or the one asked for, ended.
    pub wait: Option<Outcome>,
    /// What changed on the surface; `None` when nothing was done or nothing could be seen.
    pub change: Option<Change>,
    /// Whether what had to become true did.
    pub postcondition: Option<Postcondition>,
    /// What a surface that knows its elements says; `None` of any other.
    pub page: Option<Box<PageReport>>,
    /// What needs to be said besides: why the delivery is incomplete, what is still held.
    pub message: Option<String>,
    /// From the request to this answer.
    pub elapsed: Duration,
}

/// What a page says of itself after an action.
#[derive(Clone, Debug, Default)]
pub struct PageReport {
    /// The name of the session.
    pub session: String,
    /// The reference of the element acted on, where one was named.
    pub reference: Option<String>,
    /// The line of the element acted on, as the observation before had it; for a point, of the
    /// element there.
    pub target: Option<String>,
    /// The elements of the observation that is current now.
    pub elements: Option<Arc<Elements>>,
    /// What of them is otherwise than in the observation before, in lines that begin with `~`, `+`
    /// or `-`; and what else happened: tabs, downloads, errors of its scripts.
    pub changes: Vec<String>,
    /// The session's tabs in the order of their numbers; none where it has but the one page.
    pub tabs: Vec<Tab>,
    /// Whether the page went to another document.
    pub has_navigated: bool,
    /// The dialog that is open, in words.
    pub dialog: Option<String>,
}

/// Whether what had to become true after the input did.
#[derive(Clone, Debug)]
pub struct Postcondition {
    /// The wait for it, from the last event on.
    pub outcome: Outcome,
}

impl Postcondition {
    /// Whether it became true in time. If not, that does not mean it never will.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.outcome.is_met()
    }
}

impl Receipt {
    /// Whether the action was delivered and what was waited for by name has come.
    #[must_use]
    pub fn is_fulfilled(&self) -> bool {
        let asked_for = matches!(self.action, Some(Action::WaitFor(_)));
        self.status == Status::Delivered
            && self.postcondition.as_ref().is_none_or(Postcondition::is_met)
            && (!asked_for || self.wait.as_ref().is_some_and(Outcome::is_met))
    }

    /// Whether the input system accepted every event.
    pub(super) fn is_delivered(&self) -> bool {
        self.status == Status::Delivered
    }

    /// Says one thing more.
    pub(crate) fn remark(&mut self, told: &str) {
        self.message = Some(match self.message.take() {
            Some(message) => format!("{message}; {told}"),
            None => told.to_owned(),
        });
    }

    /// What still moved when the wait after the input ended.
    #[must_use]
    pub fn still_moving(&self) -> &[Rect] {
        let unmet = self.wait.as_ref().and_then(|outcome| outcome.unmet.as_ref());
        unmet.map_or(&[], |unmet| &unmet.moving)
    }
}

/// What was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Events the action consists of; that a program takes a text from the clipboard is one.
    pub events_planned: usize,
    /// How many of them the input system accepted, from the first on.
    pub delivered_count: usize,
    /// Presses of keys and buttons that were accepted.
    pub pressed: usize,
    /// Releases that were accepted, those of a cleanup included.
    pub released: usize,
    /// The way the input went, such as `xtest`.
    pub route: &'static str,
    /// How long its waits, delays and durations are together.
    pub requested: Duration,
    /// How long it took, from just before the first event to the end of the cleanup.
    pub took: Duration,
}

/// How far a sequence came. Times are counted from just before its first step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SequenceReport {
    /// Steps asked for.
    pub total: usize,
    /// Steps that were begun.
    pub attempted: usize,
    /// Steps of which every event was accepted.
    pub completed: usize,
    /// From just before the first step to the end of the last that was begun.
    pub elapsed: Duration,
    /// Why it stopped before its end: `cancelled`, `revoked`, `timed_out`, `failed` or `input_held`.
    pub stop_reason: Option<&'static str>,
    /// The steps that were begun, in order.
    pub steps: Vec<StepReport>,
}

/// What became of one step of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepReport {
    /// [`Status::Delivered`] or [`Status::Unknown`].
    pub status: Status,
    /// When its first event was due.
    pub started: Duration,
    /// When it was done and cleaned up.
    pub ended: Duration,
    /// How long its delays and durations are together, without the wait before it.
    pub requested: Duration,
    /// Events it consists of.
    pub events_planned: usize,
    /// How many of them were accepted.
    pub delivered_count: usize,
}

/// What is down after an action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldAfter {
    /// Keys by name.
    pub keys: Vec<String>,
    /// Buttons.
    pub buttons: Vec<Button>,
    /// Whether keys that were lent to characters the layout lacks may still type them.
    pub is_lending: bool,
    /// Whether this is the input system's own account. When it did not answer, this lists the
    /// presses whose release was not accepted.
    pub verified: bool,
}

impl HeldAfter {
    /// Whether nothing is down and no key is lent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.buttons.is_empty() && !self.is_lending
    }

    /// What is down, in words: `button left and key ctrl`.
    #[must_use]
    pub fn in_words(&self) -> String {
        let buttons = self.buttons.iter().map(|button| format!("button {}", button.name()));
        let keys = self.keys.iter().map(|key| match key.strip_prefix("key ") {
            Some(_) => key.clone(),
            None => format!("key {key}"),
        });
        let lent = self.is_lending.then(|| "keys lent to characters of a text".to_owned());
        let all: Vec<String> = buttons.chain(keys).chain(lent).collect();
        match all.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, first)) => format!("{} and {last}", first.join(", ")),
            None => "nothing".to_owned(),
        }
    }
}

impl HeldAfter {
    /// What needs to be said of it; `None` when nothing is down and the input system says so.
    pub(super) fn told(&self) -> Option<String> {
        let words = self.in_words();
        match (self.verified, self.is_empty()) {
            (true, true) => None,
            (true, false) => Some(format!(
                "still held: {words} (a program may keep the input frozen, or somebody presses it); \
                 see seechange doctor --release"
            )),
            (false, true) => Some(
                "everything was let go of, but the input system did not say what is held; see \
                 seechange doctor --release"
                    .into(),
            ),
            (false, false) => Some(format!(
                "could not let go of {words} and the input system did not say what is held; \
                 see seechange doctor --release"
            )),
        }
    }
}

/// What changed on the surface between just before the input and the end of the wait after it.
#[derive(Clone, Debug)]
pub struct Change {
    /// Numbered areas, the one at the input point first.
    pub report: ChangeReport,
    /// How long it was looked, from the last event on.
    pub looked: Duration,
    /// The frame captured just before the first event.
    pub before: Arc<Frame>,
    /// The last frame of the wait.
    pub after: Arc<Frame>,
}

impl Change {
    /// The change in words: its areas, or that nothing changed within the time it was looked.
    #[must_use]
    pub fn sentences(&self) -> String {
        self.report.sentences_with(&Wording::new().within(self.looked))
    }
}
