//! What repeats: learned cell by cell, left out while it keeps step, taken back when it does not.
//!
//! A cell of 8x8 pixels repeats with period T when it has been watched for two periods, has been
//! seen in two looks at least, and everything of the last period was seen one period before, give
//! or take the longest gap between two looks. When a cell shows something else, nothing is decided
//! until it falls into step again; when it stays out of step for longer than its period, the mask
//! breaks: it is a change.

use std::collections::HashSet;
use std::time::Duration;

use crate::frame::Frame;
use crate::geometry::{Rect, Size};

use super::outcome::Periodic;
use super::patch::fingerprint;

/// The edge of a cell in pixels.
const CELL: u32 = 8;

/// Cells watched at once: more than this in motion is no spinner.
const MOST_CELLS: usize = 4096;

/// Looks remembered of one cell.
const MOST_SPELLS: usize = 128;

/// A time during which a cell looked the same.
#[derive(Clone, Copy, Debug)]
struct Spell {
    from: Duration,
    to: Duration,
    look: u64,
}

#[derive(Clone, Debug)]
struct Cell {
    rect: Rect,
    spells: Vec<Spell>,
    period: Option<Duration>,
    out_of_step_since: Option<Duration>,
}

/// The cells that have moved, and which of them repeat.
#[derive(Clone, Debug)]
pub(super) struct Periodicity {
    cells: Vec<Cell>,
    /// The corners of the cells.
    watched: HashSet<(u32, u32)>,
    /// The longest gap between two looks: how late a change may be seen.
    slack: Duration,
    size: Option<Size>,
}

impl Periodicity {
    pub(super) fn new(interval: Duration) -> Self {
        Self {
            cells: Vec::new(),
            watched: HashSet::new(),
            slack: interval.saturating_add(interval / 2),
            size: None,
        }
    }

    /// Takes in one look and what moved in it; says whether the cells that repeat are others now.
    pub(super) fn see(&mut self, at: Duration, frame: &Frame, moved: &[Rect]) -> bool {
        let had: usize = self.repeating().count();
        if self.size.replace(frame.size()) != Some(frame.size()) {
            self.cells.clear();
            self.watched.clear();
        }
        moved.iter().for_each(|&rect| self.watch(rect, frame.size()));
        let mut broke = false;
        for cell in &mut self.cells {
            cell.see(at, fingerprint(frame, cell.rect));
            broke |= cell.judge(at, self.slack);
        }
        broke || had != self.repeating().count()
    }

    /// Whether a cell that repeats shows something it should not now.
    pub(super) fn is_out_of_step(&self) -> bool {
        self.cells.iter().any(|cell| cell.out_of_step_since.is_some())
    }

    /// Whether anything watched inside `rect` has looked otherwise since `start`.
    pub(super) fn has_changed_since(&self, rect: Rect, start: Duration) -> bool {
        let inside = self.cells.iter().filter(|cell| cell.rect.intersection(rect).is_some());
        inside.filter(|cell| cell.spells.len() > 1).any(|cell| cell.changed_at() > start)
    }

    /// The cells that repeat.
    pub(super) fn cells(&self) -> Vec<Rect> {
        self.repeating().map(|(rect, _)| rect).collect()
    }

    /// The cells that repeat, joined where they touch.
    pub(super) fn regions(&self) -> Vec<Periodic> {
        let mut regions: Vec<Periodic> = Vec::new();
        for (rect, period) in self.repeating() {
            let mut joined = Periodic { rect, period };
            while let Some(index) =
                regions.iter().position(|other| touches(other.rect, joined.rect))
            {
                let other = regions.swap_remove(index);
                joined.rect = joined.rect.union(other.rect);
                joined.period = joined.period.max(other.period);
            }
            regions.push(joined);
        }
        regions
    }

    fn repeating(&self) -> impl Iterator<Item = (Rect, Duration)> {
        self.cells.iter().filter_map(|cell| Some((cell.rect, cell.period?)))
    }

    fn watch(&mut self, moved: Rect, size: Size) {
        for y in moved.y() / CELL..=(moved.bottom() - 1) / CELL {
            for x in moved.x() / CELL..=(moved.right() - 1) / CELL {
                if self.cells.len() >= MOST_CELLS {
                    return;
                }
                let cell = Rect::new(x * CELL, y * CELL, CELL, CELL)
                    .ok()
                    .and_then(|cell| cell.intersection(size.rect()));
                if let Some(rect) = cell
                    && self.watched.insert((x, y))
                {
                    self.cells.push(Cell::new(rect));
                }
            }
        }
    }
}

/// Whether two boxes overlap or lie side by side.
fn touches(a: Rect, b: Rect) -> bool {
    a.x() <= b.right() && b.x() <= a.right() && a.y() <= b.bottom() && b.y() <= a.bottom()
}

impl Cell {
    const fn new(rect: Rect) -> Self {
        Self { rect, spells: Vec::new(), period: None, out_of_step_since: None }
    }

    fn changed_at(&self) -> Duration {
        self.spells.last().map(|spell| spell.from).unwrap_or_default()
    }

    fn see(&mut self, at: Duration, look: u64) {
        match self.spells.last_mut() {
            Some(spell) if spell.look == look => spell.to = at,
            _ => {
                if self.spells.len() == MOST_SPELLS {
                    self.spells.remove(0);
                }
                self.spells.push(Spell { from: at, to: at, look });
            }
        }
    }

    /// Learns the period, or checks it; says whether it broke.
    fn judge(&mut self, at: Duration, slack: Duration) -> bool {
        let Some(period) = self.period else {
            self.period = self.learned(slack);
            return false;
        };
        if self.keeps_step(at, period, slack) {
            self.out_of_step_since = None;
            return false;
        }
        let since = *self.out_of_step_since.get_or_insert(at);
        let broke = at.saturating_sub(since) > period;
        if broke {
            *self = Self::new(self.rect);
        }
        broke
    }

    /// Whether what is seen at `at` was seen one period before.
    fn keeps_step(&self, at: Duration, period: Duration, slack: Duration) -> bool {
        self.spells.last().is_some_and(|now| self.showed(now.look, at, at, period, slack))
    }

    /// Whether `look` was shown some time during `from..=to`, one period earlier.
    fn showed(
        &self,
        look: u64,
        from: Duration,
        to: Duration,
        period: Duration,
        slack: Duration,
    ) -> bool {
        let (Some(from), Some(to)) = (
            from.saturating_add(slack).checked_sub(period.saturating_add(slack.saturating_mul(2))),
            to.saturating_add(slack).checked_sub(period),
        ) else {
            return false;
        };
        self.spells.iter().any(|spell| {
            spell.look == look && spell.from <= to && spell.to.saturating_add(slack) >= from
        })
    }

    /// The shortest period that explains what was seen, if there is one.
    fn learned(&self, slack: Duration) -> Option<Duration> {
        let (first, last) = (self.spells.first()?, self.spells.last()?);
        let earlier = self.spells.iter().rev().skip(1);
        let returns = earlier.filter(|spell| spell.look == last.look);
        returns
            .map(|spell| last.from.saturating_sub(spell.from))
            .filter(|period| {
                *period > slack && first.from.saturating_add(period.saturating_mul(2)) <= last.to
            })
            .find(|&period| self.repeats(period, slack))
    }

    fn repeats(&self, period: Duration, slack: Duration) -> bool {
        let Some(end) = self.spells.last().map(|spell| spell.to) else { return false };
        let start = end.saturating_sub(period);
        self.spells
            .iter()
            .filter(|spell| spell.to >= start)
            .all(|spell| self.showed(spell.look, spell.from.max(start), spell.to, period, slack))
    }
}
