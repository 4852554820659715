//! Do new frames come at all?

use std::time::Duration;

/// What the looks brought: a frame that is new is evidence, everything else of nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Supply {
    captures: u32,
    evidence: u32,
    /// Looks in a row that brought nothing.
    missed: u32,
    last_id: Option<u64>,
    last_at: Duration,
    tried_at: Duration,
    last_stalled: bool,
}

impl Supply {
    /// A look began.
    pub(super) fn begin(&mut self, began: Duration) {
        self.captures += 1;
        self.tried_at = began;
        self.last_stalled = false;
    }

    /// It brought a frame with this id; says whether that is a new one.
    pub(super) fn take(&mut self, began: Duration, id: u64) -> bool {
        if self.last_id.is_some_and(|last| id <= last) {
            self.missed += 1;
            return false;
        }
        (self.last_id, self.last_at, self.missed) = (Some(id), began, 0);
        true
    }

    /// What it brought could be compared.
    pub(super) fn count(&mut self) {
        self.evidence += 1;
    }

    /// It brought the news that the surface has another size.
    pub(super) fn resize(&mut self) {
        self.missed = 0;
    }

    /// It brought nothing.
    pub(super) fn miss(&mut self, stalled: bool) {
        self.missed += 1;
        self.last_stalled = stalled;
    }

    pub(super) const fn captures(&self) -> u32 {
        self.captures
    }

    /// The id of the last new frame.
    pub(super) const fn last_id(&self) -> Option<u64> {
        self.last_id
    }

    /// When the capture of the last new frame began.
    pub(super) const fn last_at(&self) -> Duration {
        self.last_at
    }

    /// Whether the last look gave no answer.
    pub(super) const fn is_stalled(&self) -> bool {
        self.last_stalled
    }

    /// Whether nothing was ever compared.
    pub(super) const fn is_empty(&self) -> bool {
        self.evidence == 0
    }

    /// No new frame for as many looks as are wanted, nor for the hold.
    pub(super) fn is_stale(&self, hold: Duration, captures: u32) -> bool {
        let is_old = self.tried_at.saturating_sub(self.last_at) >= hold;
        self.last_id.is_some() && is_old && self.missed >= captures.max(2)
    }
}
