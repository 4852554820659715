//! Changed pixels gathered into clusters, a band of rows at a time.
//!
//! A band is as high as the merge gap reaches: in it only columns tell what belongs together, so
//! its rows are joined by `or` into one, and the segments of that row are looked for. Segments of
//! neighbouring bands are joined by union-find where their pixels come near enough.

use std::ops::Range;

use crate::diff::{ChangeMask, Runs};
use crate::geometry::{Point, Rect};

/// The changed pixels of one band between two columns, with no more than the merge gap between
/// neighbours.
#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    start: u32,
    end: u32,
    /// The rows that have a pixel lie in `top..bottom`.
    top: u32,
    bottom: u32,
    /// How many pixels changed.
    pixels: u32,
    /// Its place in the union-find forest; afterwards its cluster.
    owner: u32,
}

/// Changed pixels no further than the merge gap from one another.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    /// The tight box.
    pub(super) rect: Rect,
    /// How many changed pixels there are.
    pub(super) pixels: u64,
    /// Its segments, as a range of the sorted ones.
    segments: Range<usize>,
}

/// The pixels of one cluster.
#[derive(Clone, Copy)]
pub(super) struct Members<'a> {
    segments: &'a [Segment],
    mask: &'a ChangeMask,
    /// What its places are told from.
    corner: Point,
}

impl<'a> Members<'a> {
    /// The runs of changed pixels, as (row, start, end); rows come top to bottom only within a
    /// band, and bands top to bottom.
    pub(super) fn runs(self) -> impl Iterator<Item = (u32, u32, u32)> + 'a {
        rows(self.segments).flat_map(move |(y, start, end)| {
            let Point { x: left, y: top } = self.corner;
            let local = move |(start, end)| (y - top, start - left, end - left);
            self.mask.runs_between(y, start, end).map(local)
        })
    }

    /// The same pixels seen from the corner of `part`, which holds them.
    pub(super) const fn within(self, part: Rect) -> Self {
        Self { corner: Point::new(part.x(), part.y()), ..self }
    }

    /// The changed pixels, in the order of the runs.
    pub(super) fn points(self) -> impl Iterator<Item = Point> + 'a {
        self.runs().flat_map(|(y, start, end)| (start..end).map(move |x| Point::new(x, y)))
    }
}

/// The rows of some segments, as (row, start, end).
fn rows(segments: &[Segment]) -> impl Iterator<Item = (u32, u32, u32)> + Clone + '_ {
    segments.iter().flat_map(|&Segment { start, end, top, bottom, .. }| {
        (top..bottom).map(move |y| (y, start, end))
    })
}

impl Cluster {
    /// The same cluster seen from the corner of `part`, which holds it, with another count.
    pub(super) fn within(&self, part: Rect, pixels: u64) -> Option<Self> {
        let rect = self.rect.moved(-part.x().cast_signed(), -part.y().cast_signed())?;
        Some(Self { rect, pixels, segments: self.segments.clone() })
    }
}

/// All clusters of one mask; keeps its memory from one mask to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Clusters {
    segments: Vec<Segment>,
    parents: Vec<u32>,
    sums: Vec<Sum>,
    clusters: Vec<Cluster>,
    sorted: Vec<Segment>,
    here: Band,
    above: Band,
}

/// The rows of a band, joined from the bottom up.
#[derive(Clone, Debug, Default)]
struct Band {
    /// Row by row what that row and all below it have: the first is the whole band.
    joined: Vec<u64>,
    words_per_row: usize,
}

impl Band {
    fn join(&mut self, mask: &ChangeMask, rows: Range<u32>) {
        self.words_per_row = mask.row(rows.start).len();
        self.joined.clear();
        self.joined.resize(rows.len() * self.words_per_row, 0);
        let mut below: Option<&[u64]> = None;
        let lines = self.joined.chunks_exact_mut(self.words_per_row);
        for (y, line) in rows.zip(lines).rev() {
            line.copy_from_slice(mask.row(y));
            for (word, below) in line.iter_mut().zip(below.unwrap_or_default()) {
                *word |= below;
            }
            below = Some(line);
        }
    }

    /// What the rows from `index` on have; empty below the last.
    fn from(&self, index: usize) -> &[u64] {
        let words = index * self.words_per_row..(index + 1) * self.words_per_row;
        self.joined.get(words).unwrap_or_default()
    }
}

impl Clusters {
    /// Gathers the pixels of `mask`: two belong together when at most `gap` unchanged pixels lie
    /// between them on each axis.
    pub(super) fn gather(&mut self, mask: &ChangeMask, gap: u32) {
        self.segments.clear();
        self.parents.clear();
        let rows = mask.touched();
        // The first and the last row of a band have `gap` rows between them.
        let height = gap.saturating_add(2);
        let (mut top, mut above) = (rows.start, 0);
        while top < rows.end {
            let bottom = rows.end.min(top.saturating_add(height));
            let first = self.segments.len();
            self.here.join(mask, top..bottom);
            self.add_band(mask, top..bottom, gap);
            self.join_bands(mask, top, above..first, gap);
            std::mem::swap(&mut self.here, &mut self.above);
            (top, above) = (bottom, first);
        }
        self.sum_up();
    }

    /// The clusters, top to bottom and left to right by their first corner.
    pub(super) fn all(&self) -> &[Cluster] {
        &self.clusters
    }

    /// The rows that pixels of one cluster lie in, as (row, start, end): whatever changed there is
    /// the cluster's.
    pub(super) fn rows(
        &self,
        cluster: &Cluster,
    ) -> impl Iterator<Item = (u32, u32, u32)> + Clone + '_ {
        rows(&self.sorted[cluster.segments.clone()])
    }

    /// The pixels of one cluster of `mask`, which is the one they were gathered from.
    pub(super) fn members<'a>(&'a self, cluster: &Cluster, mask: &'a ChangeMask) -> Members<'a> {
        let corner = Point::new(0, 0);
        Members { segments: &self.sorted[cluster.segments.clone()], mask, corner }
    }

    fn add_band(&mut self, mask: &ChangeMask, rows: Range<u32>, gap: u32) {
        crate::diff::segments(self.here.from(0), gap, |start, end| {
            let mut segment = Segment {
                start,
                end,
                top: rows.end,
                owner: next(&mut self.parents),
                ..Segment::default()
            };
            for y in rows.clone() {
                let pixels = mask.count_between(y, start, end);
                if pixels > 0 {
                    segment.top = segment.top.min(y);
                    segment.bottom = y + 1;
                    segment.pixels += pixels;
                }
            }
            self.segments.push(segment);
        });
    }

    /// Unites the segments of the last band, which begins at row `top`, with those of the band
    /// above it that they come near.
    fn join_bands(&mut self, mask: &ChangeMask, top: u32, above: Range<usize>, gap: u32) {
        let (mut upper, mut lower) = (above.start, above.end);
        while upper < above.end && lower < self.segments.len() {
            let (a, b) = (self.segments[upper], self.segments[lower]);
            if a.start <= b.end + gap
                && b.start <= a.end + gap
                && self.root(a.owner) != self.root(b.owner)
                && self.are_near(mask, top, a, b, gap)
            {
                self.unite(a.owner, b.owner);
            }
            if a.end < b.end { upper += 1 } else { lower += 1 }
        }
    }

    /// Whether a pixel of `b`, in the band that begins at row `top`, is near one of `a`, in the
    /// band above. A row comes near to those that lie lower in the band above than itself in its
    /// own.
    fn are_near(&self, mask: &ChangeMask, top: u32, a: Segment, b: Segment, gap: u32) -> bool {
        (b.top..b.bottom).any(|y| {
            let upper = self.above.from((y - top) as usize + 1);
            are_near(Runs::new(upper, a.start, a.end), mask.runs_between(y, b.start, b.end), gap)
        })
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
        // A parent is older than its child: numbering the trees relies on it.
        self.parents[a.max(b) as usize] = a.min(b);
    }

    /// Makes a cluster of each tree, and sorts the segments by cluster.
    fn sum_up(&mut self) {
        let count = self.number_clusters();
        self.sums.clear();
        self.sums.resize(count, Sum::NOTHING);
        for segment in &mut self.segments {
            segment.owner = self.parents[segment.owner as usize];
            self.sums[segment.owner as usize].add(segment);
        }
        self.clusters.clear();
        for sum in &mut self.sums {
            let start = self.clusters.last().map_or(0, |cluster| cluster.segments.end);
            self.clusters.extend(sum.cluster(start));
            sum.segments = start;
        }
        self.sorted.resize(self.segments.len(), Segment::default());
        for segment in &self.segments {
            let place = &mut self.sums[segment.owner as usize].segments;
            self.sorted[*place] = *segment;
            *place += 1;
        }
        self.clusters.sort_unstable_by_key(|cluster| (cluster.rect.y(), cluster.rect.x()));
    }

    /// Turns the forest into the cluster of each owner and says how many there are.
    fn number_clusters(&mut self) -> usize {
        let mut clusters = 0;
        for owner in 0..self.parents.len() {
            let parent = self.parents[owner] as usize;
            self.parents[owner] = if parent == owner {
                clusters += 1;
                clusters - 1
            } else {
                self.parents[parent]
            };
        }
        clusters as usize
    }
}

/// A new tree of one.
#[expect(clippy::cast_possible_truncation, reason = "at most MAX_PIXELS (2^28) segments")]
fn next(parents: &mut Vec<u32>) -> u32 {
    let owner = parents.len() as u32;
    parents.push(owner);
    owner
}

/// Whether some run of one row lies within `gap` of one of another, seen along the row.
fn are_near(mut upper: Runs<'_>, mut lower: Runs<'_>, gap: u32) -> bool {
    let (mut a, mut b) = (upper.next(), lower.next());
    while let (Some((a_start, a_end)), Some((b_start, b_end))) = (a, b) {
        if a_start <= b_end + gap && b_start <= a_end + gap {
            return true;
        }
        if a_end < b_end {
            a = upper.next();
        } else {
            b = lower.next();
        }
    }
    false
}

/// What is known of a cluster while its segments are added up.
#[derive(Clone, Copy, Debug)]
struct Sum {
    left: u32,
    top: u32,
    right: u32,
    bottom: u32,
    pixels: u64,
    /// How many there are; while they are sorted, where the next one goes.
    segments: usize,
}

impl Sum {
    const NOTHING: Self =
        Self { left: u32::MAX, top: u32::MAX, right: 0, bottom: 0, pixels: 0, segments: 0 };

    fn add(&mut self, segment: &Segment) {
        self.left = self.left.min(segment.start);
        self.top = self.top.min(segment.top);
        self.right = self.right.max(segment.end);
        self.bottom = self.bottom.max(segment.bottom);
        self.pixels += u64::from(segment.pixels);
        self.segments += 1;
    }

    /// The cluster whose segments begin at `start`.
    fn cluster(&self, start: usize) -> Option<Cluster> {
        let rect = Rect::from_edges(self.left, self.top, self.right, self.bottom)?;
        Some(Cluster { rect, pixels: self.pixels, segments: start..start + self.segments })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Size;
    use proptest::prelude::*;

    /// Clusters as a person would define them: pixels, joined while any two are near.
    fn by_definition(points: &[Point], gap: u32) -> Vec<(Rect, u64)> {
        let near =
            |a: &Point, b: &Point| a.x.abs_diff(b.x) <= gap + 1 && a.y.abs_diff(b.y) <= gap + 1;
        let mut left = points.to_vec();
        let mut clusters = Vec::new();
        while let Some(first) = left.pop() {
            let mut cluster = vec![first];
            let mut next = 0;
            while next < cluster.len() {
                let (joined, apart) = left.iter().partition(|point| near(point, &cluster[next]));
                left = apart;
                cluster.extend::<Vec<Point>>(joined);
                next += 1;
            }
            let pixel = |point: &Point| Rect::new(point.x, point.y, 1, 1).unwrap();
            let rect = cluster.iter().map(pixel).reduce(Rect::union).unwrap();
            clusters.push((rect, cluster.len() as u64));
        }
        clusters.sort_by_key(|(rect, pixels)| (rect.y(), rect.x(), *pixels));
        clusters
    }

    proptest! {
        #[test]
        fn clusters_are_what_the_definition_says(
            spots in prop::collection::vec((0_u32..200, 0_u32..60, 1_u32..9, 1_u32..6), 0..25),
            gap in prop_oneof![Just(0_u32), 1_u32..12, Just(63), Just(64), Just(100)],
        ) {
            let mut mask = ChangeMask::default();
            mask.clear(Size::new(200, 60).unwrap());
            for &(x, y, width, height) in &spots {
                mask.set_rect(Rect::new(x, y, width, height).unwrap());
            }
            let all = (0..60).flat_map(|y| (0..200).map(move |x| Point::new(x, y)));
            let points: Vec<Point> = all.filter(|&point| mask.get(point)).collect();
            let mut clusters = Clusters::default();
            clusters.gather(&mask, gap);
            let mut found: Vec<(Rect, u64)> = Vec::new();
            for cluster in clusters.all() {
                let members: Vec<Point> = clusters.members(cluster, &mask).points().collect();
                prop_assert_eq!(members.len() as u64, cluster.pixels);
                prop_assert!(members.iter().all(|&point| cluster.rect.contains(point)));
                found.push((cluster.rect, cluster.pixels));
            }
            prop_assert!(found.is_sorted_by_key(|(rect, _)| (rect.y(), rect.x())));
            found.sort_by_key(|(rect, pixels)| (rect.y(), rect.x(), *pixels));
            prop_assert_eq!(found, by_definition(&points, gap));
        }
    }
}
