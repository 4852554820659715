//! Why an action was not carried out: always decided before the first event.

use std::fmt;

use crate::error::Error;

/// An action that was not carried out. Nothing was sent and the observation is still good.
///
/// The message is one lower-case line: what, where, what next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    kind: RefusalKind,
    message: String,
}

/// What sort of rule an action broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RefusalKind {
    /// The request is not one JSON object of a sane size.
    Malformed,
    /// There is no action of that name.
    UnknownAction,
    /// The action or one of its fields exists, and this surface or version cannot do it.
    Unsupported,
    /// A field the action does not have.
    UnknownField,
    /// A field the action needs is missing.
    MissingField,
    /// A field has the wrong type or a value out of its limits.
    BadValue,
    /// A point lies outside the image it was chosen from.
    Outside,
    /// The policy does not allow it.
    NotPermitted,
    /// The session may look and not touch.
    ReadOnly,
    /// The action names no observation, or one that never was.
    UnknownObservation,
    /// The action was chosen from an observation that is no longer current.
    StaleObservation,
    /// The surface has moved, been resized or scaled since the observation.
    GeometryChanged,
    /// Something else is seen at the point than in the observation.
    TargetChanged,
    /// Something lies over the point and would take the input instead.
    Covered,
    /// There is no element of that reference in the current observation.
    UnknownRef,
    /// The element cannot be acted on as it is: disabled, hidden, moving, gone, called otherwise.
    NotReady,
    /// A dialog is open.
    DialogOpen,
    /// There is no tab of that number.
    UnknownTab,
    /// The current tab was closed or has crashed; the session goes on in another.
    TabClosed,
    /// A key or button is held by somebody else.
    InputHeld,
    /// The keys would go to a window that is not the surface's.
    NotFocused,
    /// Another program is sending input to the same display.
    NotOurTurn,
    /// The keyboard has no such key or character.
    NoSuchKey,
    /// It was cancelled before the first event.
    Cancelled,
}

impl RefusalKind {
    /// The name used in JSON, such as `stale_observation`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::UnknownAction => "unknown_action",
            Self::Unsupported => "unsupported",
            Self::UnknownField => "unknown_field",
            Self::MissingField => "missing_field",
            Self::BadValue => "bad_value",
            Self::Outside => "outside",
            Self::NotPermitted => "not_permitted",
            Self::ReadOnly => "read_only",
            Self::UnknownObservation => "unknown_observation",
            Self::StaleObservation => "stale_observation",
            Self::GeometryChanged => "geometry_changed",
            Self::TargetChanged => "target_changed",
            Self::Covered => "covered",
            Self::UnknownRef => "unknown_ref",
            Self::NotReady => "not_ready",
            Self::DialogOpen => "dialog_open",
            Self::UnknownTab => "unknown_tab",
            Self::TabClosed => "tab_closed",
            Self::InputHeld => "input_held",
            Self::NotFocused => "not_focused",
            Self::NotOurTurn => "not_our_turn",
            Self::NoSuchKey => "no_such_key",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Refusal {
    /// A refusal of a given kind.
    pub fn new(kind: RefusalKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// A value of the wrong type or out of its limits.
    pub(crate) fn bad_value(message: impl Into<String>) -> Self {
        Self::new(RefusalKind::BadValue, message)
    }

    /// The same refusal of one part of many: `step 3: …`.
    pub(crate) fn context(self, part: &str, number: usize) -> Self {
        self.inside(&format!("{part} {number}"))
    }

    /// The same refusal of one part: `postcondition: …`.
    pub(crate) fn inside(mut self, part: &str) -> Self {
        self.message = format!("{part}: {}", self.message);
        self
    }

    /// Whether something else would have to be chosen from a fresh look: the element is not there,
    /// or not as it was.
    pub(super) const fn asks_for_a_look(&self) -> bool {
        matches!(
            self.kind,
            RefusalKind::UnknownRef
                | RefusalKind::NotReady
                | RefusalKind::Covered
                | RefusalKind::StaleObservation
                | RefusalKind::UnknownObservation
                | RefusalKind::TargetChanged
        )
    }

    /// The same, saying one thing more.
    pub(super) fn and(mut self, more: &str) -> Self {
        self.message = format!("{}; {more}", self.message);
        self
    }

    /// What sort of rule was broken.
    #[must_use]
    pub const fn kind(&self) -> RefusalKind {
        self.kind
    }

    /// What, where, and what next.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// Why nothing was sent: a rule forbids it, or what must be asked did not answer.
pub(super) enum Stop {
    Refused(Refusal),
    Trouble(Error),
}

impl Stop {
    /// The same for one part of an action.
    pub(super) fn context(self, part: &str, number: usize) -> Self {
        match self {
            Self::Refused(refusal) => Self::Refused(refusal.context(part, number)),
            Self::Trouble(error) => Self::Trouble(error),
        }
    }
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

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

/// A word from outside as it may stand in a message: short and plain ones in quotes, others only
/// by length, so that no message carries a text that was put in the wrong place.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+. ".contains(c);
    if word.len() <= 24 && word.chars().all(plain) {
        format!("'{word}'")
    } else {
        format!("of {} characters", word.chars().count())
    }
}
