//! Is the reference there, or gone, and since when?

use std::time::Duration;

use crate::error::Result;
use crate::frame::Frame;
use crate::geometry::Rect;

use super::outcome::Term;
use super::presence::Presence;

/// A reference that is waited for, or waited to go.
#[derive(Debug)]
pub(super) struct Sighting {
    presence: Presence,
    wanted: Wanted,
    /// Looks in a row that show what is wanted: since when, and how many.
    since: Option<Duration>,
    looks: u32,
    /// Whether the reference must be looked for: the picture is another one.
    is_unsearched: bool,
    /// Whether it was away once, so that its being there is news.
    is_fresh: bool,
    was_seen: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    There,
    Gone { require_seen: bool },
}

impl Sighting {
    pub(super) const fn there(presence: Presence) -> Self {
        Self::of(presence, Wanted::There)
    }

    pub(super) const fn gone(presence: Presence, require_seen: bool) -> Self {
        Self::of(presence, Wanted::Gone { require_seen })
    }

    const fn of(presence: Presence, wanted: Wanted) -> Self {
        Self {
            presence,
            wanted,
            since: None,
            looks: 0,
            is_unsearched: true,
            is_fresh: true,
            was_seen: false,
        }
    }

    /// What stood before the action: what matched then is no effect of it.
    pub(super) fn mind(&mut self, baseline: &Frame) -> Result<()> {
        if self.wanted == Wanted::There {
            self.is_fresh = self.presence.look(baseline)?.is_none();
        }
        Ok(())
    }

    /// The picture is another one from here on.
    pub(super) const fn expire(&mut self) {
        self.is_unsearched = true;
    }

    /// Takes in one look.
    pub(super) fn see(&mut self, at: Duration, frame: &Frame) -> Result<()> {
        if std::mem::take(&mut self.is_unsearched) {
            let is_there = self.presence.look(frame)?.is_some();
            self.was_seen |= is_there;
            self.is_fresh |= !is_there;
        }
        if self.shows() {
            self.since.get_or_insert(at);
            self.looks += 1;
        } else {
            (self.since, self.looks) = (None, 0);
        }
        Ok(())
    }

    fn shows(&self) -> bool {
        let is_there = self.presence.place().is_some();
        match self.wanted {
            Wanted::There => is_there && self.is_fresh,
            Wanted::Gone { require_seen } => !is_there && (self.was_seen || !require_seen),
        }
    }

    /// Since when what is wanted has been seen, and in how many looks.
    pub(super) fn run(&self) -> Option<(Duration, u32)> {
        self.since.map(|since| (since, self.looks))
    }

    pub(super) fn is_complete(&self, at: Duration, hold: Duration, captures: u32) -> bool {
        let lasted = |since| at.saturating_sub(since) >= hold;
        self.since.is_some_and(lasted) && self.looks >= captures
    }

    /// Where it is, if that is what is wanted.
    pub(super) fn found(&self) -> Option<Rect> {
        let is_news = self.wanted == Wanted::There && self.is_fresh;
        self.presence.place().filter(|_| is_news)
    }

    /// Whether what is to be gone was never there.
    pub(super) fn is_unseen(&self) -> bool {
        matches!(self.wanted, Wanted::Gone { .. }) && !self.was_seen
    }

    /// What is missing while nothing that is wanted was seen in the last look.
    pub(super) fn missing(&self, captures: u32, budget: u64) -> (Term, u64, u64) {
        let is_gone_wanted = matches!(self.wanted, Wanted::Gone { .. });
        match self.presence.differing() {
            _ if is_gone_wanted && self.was_seen => (Term::Absence, captures.into(), 0),
            Some(differing) if !is_gone_wanted && self.is_fresh => (Term::Match, budget, differing),
            _ => (Term::Sighting, 1, 0),
        }
    }
}
