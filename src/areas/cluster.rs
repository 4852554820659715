//! Changed pixels gathered into clusters: runs, joined by union-find across the merge gap.

use crate::diff::ChangeMask;
use crate::geometry::Rect;

/// One horizontal run of changed pixels, `start..end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) y: u32,
    pub(super) start: u32,
    pub(super) end: u32,
    /// While gathering: the run's place in the union-find forest; afterwards its cluster.
    owner: u32,
}

/// Changed pixels no further than the merge gap from one another.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    /// The tight box.
    pub(super) rect: Rect,
    /// How many changed pixels there are.
    pub(super) pixels: u64,
    /// Its runs, as a range of the sorted ones.
    runs: std::ops::Range<usize>,
}

/// All clusters of one mask; keeps its memory from one mask to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Clusters {
    runs: Vec<Run>,
    parents: Vec<u32>,
    clusters: Vec<Cluster>,
    /// Where the runs of each row that still can be reached begin and end.
    reachable: std::collections::VecDeque<(u32, std::ops::Range<usize>)>,
}

impl Clusters {
    /// Gathers the pixels of `mask`: two belong together when at most `gap` unchanged pixels lie
    /// between them on each axis.
    pub(super) fn gather(&mut self, mask: &ChangeMask, gap: u32) {
        self.runs.clear();
        self.parents.clear();
        self.clusters.clear();
        self.reachable.clear();
        for y in mask.touched() {
            self.add_row(mask, y, gap);
        }
        self.finish();
    }

    /// The clusters, in the order of their first row.
    pub(super) fn all(&self) -> &[Cluster] {
        &self.clusters
    }

    /// The runs of one cluster, top to bottom.
    pub(super) fn runs(&self, cluster: &Cluster) -> &[Run] {
        &self.runs[cluster.runs.clone()]
    }

    fn add_row(&mut self, mask: &ChangeMask, y: u32, gap: u32) {
        let first = self.runs.len();
        for (start, end) in mask.runs(y) {
            let owner = match self.runs[first..].last() {
                Some(left) if start - left.end <= gap => left.owner,
                _ => self.new_owner(),
            };
            self.runs.push(Run { y, start, end, owner });
        }
        if first == self.runs.len() {
            return;
        }
        while self.reachable.front().is_some_and(|(row, _)| y - row > gap + 1) {
            self.reachable.pop_front();
        }
        for index in 0..self.reachable.len() {
            let above = self.reachable[index].1.clone();
            self.join_rows(above, first..self.runs.len(), gap);
        }
        self.reachable.push_back((y, first..self.runs.len()));
    }

    /// Unites every run of one row with those of another that lie within `gap` of it.
    fn join_rows(
        &mut self,
        above: std::ops::Range<usize>,
        below: std::ops::Range<usize>,
        gap: u32,
    ) {
        let (mut upper, mut lower) = (above.start, below.start);
        while upper < above.end && lower < below.end {
            let (a, b) = (self.runs[upper], self.runs[lower]);
            if a.start <= b.end + gap && b.start <= a.end + gap {
                self.unite(a.owner, b.owner);
            }
            if a.end < b.end { upper += 1 } else { lower += 1 }
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "at most MAX_PIXELS (2^28) runs")]
    fn new_owner(&mut self) -> u32 {
        let owner = self.parents.len() as u32;
        self.parents.push(owner);
        owner
    }

    fn root(&mut self, mut node: u32) -> u32 {
        while self.parents[node as usize] != node {
            let grandparent = self.parents[self.parents[node as usize] as usize];
            self.parents[node as usize] = grandparent;
            node = grandparent;
        }
        node
    }

    fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        // The older root stays, so clusters keep the order of their first row.
        self.parents[a.max(b) as usize] = a.min(b);
    }

    /// Sorts the runs by cluster and sums each up.
    fn finish(&mut self) {
        for index in 0..self.runs.len() {
            self.runs[index].owner = self.root(self.runs[index].owner);
        }
        self.runs.sort_by_key(|run| run.owner);
        let mut start = 0;
        for group in self.runs.chunk_by(|a, b| a.owner == b.owner) {
            let range = start..start + group.len();
            start = range.end;
            self.clusters.extend(summed(group, range));
        }
    }
}

fn summed(group: &[Run], runs: std::ops::Range<usize>) -> Option<Cluster> {
    let left = group.iter().map(|run| run.start).min()?;
    let right = group.iter().map(|run| run.end).max()?;
    let (top, bottom) = (group.first()?.y, group.last()?.y + 1);
    let pixels = group.iter().map(|run| u64::from(run.end - run.start)).sum();
    Some(Cluster { rect: Rect::from_edges(left, top, right, bottom)?, pixels, runs })
}
