//! What each look showed, in bounded space.

use std::collections::VecDeque;
use std::time::Duration;

use crate::geometry::Rect;

/// Entries kept from the beginning and from the end.
const HEAD: usize = 256;
const TAIL: usize = 256;

/// Boxes kept of one look.
const MOST_AREAS: usize = 32;

/// The looks of a wait in order; looks in a row that moved nothing are one entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    head: Vec<Entry>,
    tail: VecDeque<Entry>,
    omitted: usize,
}

/// One look, or several in a row with the same verdict that moved nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When the first of the looks began.
    pub at: Duration,
    /// When the last of them began.
    pub until: Duration,
    /// How many looks.
    pub looks: u32,
    /// The id of the last frame, `None` where no frame came.
    pub frame: Option<u64>,
    /// What they showed.
    pub verdict: LookVerdict,
    /// What moved.
    pub areas: Vec<Rect>,
    /// How many of the looks were preceded by damage: the surface said that something was drawn.
    pub damaged: u32,
}

/// What one look showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookVerdict {
    /// Something moved.
    Moved,
    /// Nothing moved.
    Still,
    /// No new frame: evidence of nothing.
    NoEvidence,
}

impl LookVerdict {
    /// `moved`, `still` or `no_evidence`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Moved => "moved",
            Self::Still => "still",
            Self::NoEvidence => "no_evidence",
        }
    }
}

impl Timeline {
    /// The entries in order. Of a long restless wait those in the middle are left out.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.head.iter().chain(&self.tail)
    }

    /// How many entries were left out.
    #[must_use]
    pub const fn omitted(&self) -> usize {
        self.omitted
    }

    /// From the last entry before those that were left out to the first one after them.
    #[must_use]
    pub fn gap(&self) -> Option<(Duration, Duration)> {
        let (before, after) = self.head.last().zip(self.tail.front())?;
        (self.omitted > 0).then_some((before.until, after.at))
    }

    /// The latest entry.
    #[must_use]
    pub fn last(&self) -> Option<&Entry> {
        self.tail.back().or_else(|| self.head.last())
    }

    /// Adds one look.
    pub(super) fn push(
        &mut self,
        at: Duration,
        frame: Option<u64>,
        verdict: LookVerdict,
        areas: impl Iterator<Item = Rect>,
        damaged: bool,
    ) {
        let mut areas = areas.take(MOST_AREAS).peekable();
        if let Some(last) = self.tail.back_mut().or_else(|| self.head.last_mut())
            && last.verdict == verdict
            && verdict != LookVerdict::Moved
            && last.areas.is_empty()
            && areas.peek().is_none()
        {
            last.until = at;
            last.looks += 1;
            last.damaged += u32::from(damaged);
            last.frame = frame.or(last.frame);
            return;
        }
        let (areas, damaged) = (areas.collect(), damaged.into());
        self.add(Entry { at, until: at, looks: 1, frame, verdict, areas, damaged });
    }

    fn add(&mut self, entry: Entry) {
        if self.head.len() < HEAD {
            self.head.push(entry);
            return;
        }
        if self.tail.len() == TAIL {
            self.tail.pop_front();
            self.omitted += 1;
        }
        self.tail.push_back(entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn still_looks_merge_and_restless_ones_are_bounded() {
        let at = |look: u32| Duration::from_millis(10) * look;
        let rect: Rect = "1,2,3,4".parse().unwrap();
        let mut timeline = Timeline::default();
        for look in 0..1000 {
            timeline.push(
                at(look),
                Some(look.into()),
                LookVerdict::Still,
                std::iter::empty(),
                look % 3 == 0,
            );
        }
        assert_eq!((timeline.entries().count(), timeline.gap()), (1, None));
        assert_eq!(timeline.last().map(|entry| (entry.looks, entry.until)), Some((1000, at(999))));
        assert_eq!(timeline.last().map(|entry| entry.damaged), Some(334));
        for look in 1000..2000 {
            timeline.push(
                at(look),
                Some(look.into()),
                LookVerdict::Moved,
                std::iter::once(rect),
                true,
            );
        }
        assert_eq!((timeline.entries().count(), timeline.omitted()), (HEAD + TAIL, 1001 - 512));
        assert_eq!(timeline.last().map(|entry| entry.frame), Some(Some(1999)));
        assert_eq!(timeline.gap(), Some((at(1254), at(1744))));
    }
}
