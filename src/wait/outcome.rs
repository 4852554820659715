//! How a wait ended, with its evidence.

use std::sync::Arc;
use std::time::Duration;

use crate::error::{Error, Result, Shown};
use crate::frame::{Frame, IntoFrame};
use crate::geometry::Rect;

use super::filmstrip::Kept;
use super::timeline::Timeline;

/// How a wait ended. Running out of time is an answer with evidence, not an error.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The answer in one word.
    pub kind: OutcomeKind,
    /// The condition's name.
    pub condition: &'static str,
    /// What it was called, to tell apart several of one kind; its name where nothing was said.
    pub label: String,
    /// From the call's start to its end.
    pub elapsed: Duration,
    /// Captures begun.
    pub captures: u32,
    /// When what decided it was first seen: the change, the image, the absence; for `stable` the
    /// first motion, if there was any.
    pub onset: Option<Duration>,
    /// When it was decided that the condition is met.
    pub met_at: Option<Duration>,
    /// Where the image is, for `matches` and `appears`.
    pub found: Option<Rect>,
    /// What was missing, when the condition was not met.
    pub unmet: Option<Unmet>,
    /// The last frame that was evidence.
    pub last: Option<Observation>,
    /// What differs from the baseline at the end and is no caret that was seen to blink.
    pub standing: Vec<Rect>,
    /// What differed from the baseline and went again.
    pub transients: Vec<Transient>,
    /// What was seen to move and does not count.
    pub ignored: SetAside,
    /// Doubts about the answer.
    pub flags: Vec<Flag>,
    /// How long after the deadline the condition was met within the grace.
    pub late: Option<Duration>,
    /// What each look showed.
    pub timeline: Timeline,
    /// How long it had to last.
    pub hold: Duration,
    /// The instant after which no capture counted.
    pub deadline: Duration,
    /// Since when what is waited for had been seen without a break at the end, if it was.
    pub since: Option<Duration>,
    /// Frames kept on the way, when [`WaitOptions::filmstrip`](super::WaitOptions::filmstrip)
    /// asks for them: at most three, the first look, the first change and the biggest.
    pub filmstrip: Vec<Kept>,
    /// For [`any`](super::Condition::any), how it ended for each of the conditions, in their order,
    /// without their own `last` and `timeline`; else empty.
    pub conditions: Vec<Outcome>,
}

/// A wait for something that is asked of the surface instead of seen.
pub(crate) struct Asked {
    pub(crate) kind: OutcomeKind,
    pub(crate) condition: &'static str,
    pub(crate) label: String,
    pub(crate) elapsed: Duration,
    pub(crate) deadline: Duration,
    pub(crate) looks: u32,
}

impl From<Asked> for Outcome {
    fn from(asked: Asked) -> Self {
        let met_at = (asked.kind == OutcomeKind::Met).then_some(asked.elapsed);
        Self {
            kind: asked.kind,
            condition: asked.condition,
            label: asked.label,
            elapsed: asked.elapsed,
            captures: asked.looks,
            onset: met_at,
            met_at,
            found: None,
            unmet: None,
            last: None,
            standing: Vec::new(),
            transients: Vec::new(),
            ignored: SetAside::default(),
            flags: Vec::new(),
            late: None,
            timeline: Timeline::default(),
            hold: Duration::ZERO,
            deadline: asked.deadline,
            since: met_at,
            filmstrip: Vec::new(),
            conditions: Vec::new(),
        }
    }
}

impl Outcome {
    /// Whether the condition was met in time.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.kind == OutcomeKind::Met
    }

    /// Which of several conditions was met, by its place from 0 on.
    #[must_use]
    pub fn met_by(&self) -> Option<usize> {
        self.conditions.iter().position(Self::is_met).filter(|_| self.is_met())
    }

    /// The answer in plain words, one line.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self.met_by() {
            Some(index) => format!("{} (condition {})", self.conditions[index].own(), index + 1),
            None if self.conditions.is_empty() => self.own(),
            None => self.none_met(),
        }
    }

    fn none_met(&self) -> String {
        let elapsed = self.elapsed.as_millis();
        let kind = self.kind.name().replace('_', " ");
        let count = self.conditions.len();
        let each: Vec<String> = self.conditions.iter().map(Self::missing).collect();
        let each = each.join("; ");
        format!("none of {count} conditions met within {elapsed} ms ({kind}): {each}")
    }

    /// What one of several lacked.
    fn missing(&self) -> String {
        let label = Shown(&self.label);
        let missed = self.unmet.as_ref().map(Unmet::sentence).unwrap_or_default();
        let late = self.late.map(|late| format!(", met {} ms late", late.as_millis()));
        format!("{label}: {missed}{}", late.unwrap_or_default())
    }

    /// The sentence for one condition.
    fn own(&self) -> String {
        let label = Shown(&self.label);
        let head = match self.met_at {
            Some(at) => format!("{label} met after {} ms", at.as_millis()),
            None => format!(
                "{label} not met within {} ms ({})",
                self.elapsed.as_millis(),
                self.kind.name().replace('_', " ")
            ),
        };
        let unmet = self.unmet.as_ref().map(|unmet| format!(": {}", unmet.sentence()));
        let late = self.late.map(|late| format!("; met {} ms late", late.as_millis()));
        format!("{head}{}{}", unmet.unwrap_or_default(), late.unwrap_or_default())
    }
}

/// The frame it was met at; otherwise its sentence says why there is none. So a frame can be asked
/// for that is known to have come to rest.
impl IntoFrame for Outcome {
    fn into_frame(self) -> Result<Frame> {
        let sentence = self.sentence();
        let last = self.last.filter(|_| self.kind == OutcomeKind::Met);
        last.map(|seen| seen.frame).ok_or_else(|| Error::surface(sentence))
    }
}

/// The answer in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutcomeKind {
    /// The condition was met in time.
    Met,
    /// The deadline came first.
    TimedOut,
    /// Somebody cancelled the wait.
    Cancelled,
    /// The last capture gave no answer.
    CaptureStalled,
    /// Only frames that had been seen before were handed out.
    SourceStale,
    /// The surface took another size, so places in it mean something else.
    GeometryChanged,
    /// The reference was taken at another scale.
    ScaleMismatch,
}

impl OutcomeKind {
    /// The name used in JSON: `met`, `timed_out`, `cancelled`, `capture_stalled`, `source_stale`,
    /// `geometry_changed` or `scale_mismatch`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::CaptureStalled => "capture_stalled",
            Self::SourceStale => "source_stale",
            Self::GeometryChanged => "geometry_changed",
            Self::ScaleMismatch => "scale_mismatch",
        }
    }
}

/// Which term of the condition was short, by how much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// The term.
    pub term: Term,
    /// How much was wanted, in the unit of the term.
    pub needed: u64,
    /// How much there was.
    pub had: u64,
    /// What moved lately, the latest first.
    pub moving: Vec<Rect>,
}

impl Unmet {
    /// What was missing, in plain words.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { term, needed, had, moving } = self;
        let what = match term {
            Term::Hold => format!("it lasted {had} of {needed} ms"),
            Term::Captures => format!("it was seen in {had} of {needed} captures"),
            Term::Frames => format!("no new frame came any more, after {had} of {needed}"),
            Term::Change => "no change stayed".to_owned(),
            Term::Match => format!("{had} pixels differed, {needed} may"),
            Term::Sighting => "the image was never seen".to_owned(),
            Term::Absence => "the image was there to the end".to_owned(),
            Term::Scale => format!("the reference is {had} px wide, the scope {needed} px"),
        };
        match moving.first() {
            Some(rect) => format!("{what}; moving at {rect}{}", more(moving.len() - 1)),
            None => what,
        }
    }
}

fn more(count: usize) -> String {
    if count == 0 { String::new() } else { format!(" and {count} more") }
}

/// A term of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Term {
    /// How long it must last, in milliseconds.
    Hold,
    /// How many captures in a row must show it.
    Captures,
    /// How many new frames must come.
    Frames,
    /// How many areas must change.
    Change,
    /// How many pixels may differ from the reference.
    Match,
    /// How often the image must be seen.
    Sighting,
    /// In how many looks the image must be away.
    Absence,
    /// How wide, in pixels, the reference would have to be.
    Scale,
}

impl Term {
    /// The name used in JSON: `hold`, `captures`, `frames`, `change`, `match`, `sighting`,
    /// `absence` or `scale`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hold => "hold",
            Self::Captures => "captures",
            Self::Frames => "frames",
            Self::Change => "change",
            Self::Match => "match",
            Self::Sighting => "sighting",
            Self::Absence => "absence",
            Self::Scale => "scale",
        }
    }
}

/// A frame, which one it was and how old it was at the end.
#[derive(Clone, Debug)]
pub struct Observation {
    /// The frame's id.
    pub id: u64,
    /// When its capture began, from the call's start.
    pub at: Duration,
    /// From then to the wait's end.
    pub age: Duration,
    /// The pixels of the captured part (see [`Observation::origin`]).
    pub frame: Frame,
    /// The part of the surface it shows: all of it, or the bounding box of the scope's regions.
    pub origin: Rect,
}

/// A difference from the baseline that came and went.
#[derive(Clone, Debug, PartialEq)]
pub struct Transient {
    /// The first look that showed it.
    pub from: Duration,
    /// The first look that no longer did.
    pub to: Duration,
    /// Where it was.
    pub areas: Vec<Rect>,
    /// A look that shows it; not kept for every one when there are many.
    pub frame: Option<Arc<Frame>>,
    /// The part of the surface that frame shows.
    pub origin: Rect,
}

/// What was seen to move and does not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetAside {
    /// Carets, seen to blink.
    pub carets: Vec<Rect>,
    /// Regions seen to repeat, left out on request.
    pub periodic: Vec<Periodic>,
}

/// A region that repeats itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Periodic {
    /// Around everything that repeats there.
    pub rect: Rect,
    /// After how long.
    pub period: Duration,
}

/// A doubt about an answer: about a success, but for [`Flag::DamageWithoutChange`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Flag {
    /// The frame is blank or nearly so: still, but perhaps not ready.
    LowInformation,
    /// Less than a tenth of the time was left.
    JustMet,
    /// Something inside the scope repeats itself and was left out.
    PeriodicInside,
    /// What is gone was never seen.
    NeverSeen,
    /// The surface took another size on the way.
    Resized,
    /// Something was drawn, and the next look showed what the one before it did: a flash between
    /// the two may have been missed. Or a program drew the same again.
    DamageWithoutChange,
}

impl Flag {
    /// The name used in JSON: `low_information`, `just_met`, `periodic_inside`, `never_seen`,
    /// `resized` or `damage_without_change`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LowInformation => "low_information",
            Self::JustMet => "just_met",
            Self::PeriodicInside => "periodic_inside",
            Self::NeverSeen => "never_seen",
            Self::Resized => "resized",
            Self::DamageWithoutChange => "damage_without_change",
        }
    }
}
