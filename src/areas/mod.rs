//! What a person would call one change: changed pixels gathered into numbered [`Area`]s.
//!
//! Pixels closer than the merge gap belong to one cluster; each cluster as a whole is then judged
//! to be a change or noise (a speck, a caret, anti-aliasing). Nothing set aside is hidden: it is
//! counted, with its boxes, in [`Ignored`].

mod boxes;
mod cluster;
mod moved;
mod noise;

use crate::diff::{Antialiasing, ChangeMask, Differences};
use crate::frame::FrameRef;
use crate::geometry::{MAX_EDGE, Point, Rect};

pub(crate) use moved::{MoveFinder, Pair};
pub use moved::{Moved, Moves};

use boxes::Holders;
use cluster::{Cluster, Clusters};
use noise::Judgement;

/// One changed area: a tight box and what changed inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Area {
    /// The tight box, in frame pixels; disjoint from every other area's.
    pub rect: Rect,
    /// Changed pixels inside the box.
    pub changed_pixels: u64,
    /// The largest absolute difference of a channel inside the box, 1..=255.
    pub max_delta: u8,
    /// Whether the input point lies in the box.
    pub at_input_point: bool,
}

/// Something set aside: its box and how many changed pixels it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The tight box, in frame pixels.
    pub rect: Rect,
    /// Changed pixels inside the box.
    pub pixels: u64,
}

/// What was seen to differ and does not count, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ignored {
    /// Differing pixels that the scope leaves out.
    pub masked_pixels: u64,
    /// Pixels that differ by less than the tolerance.
    pub faint_pixels: u64,
    /// Clusters that are anti-aliasing or sub-pixel jitter along an edge both frames have; under
    /// [`Antialiasing::Pixel`] the pixels set aside one by one, gathered into clusters, whose boxes
    /// may overlap those of areas.
    pub antialiased: Vec<Spot>,
    /// Clusters with too few pixels.
    pub specks: Vec<Spot>,
    /// Insertion points that blinked.
    pub carets: Vec<Spot>,
}

/// The rules by which clusters are made and set aside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AreaRules {
    /// Clusters with at most this many unchanged pixels between them are one, at scale 1.
    /// Default 8.
    pub merge_gap_px: u32,
    /// A cluster with fewer changed pixels is a speck. Default 12; 0 keeps every cluster.
    pub speck_pixels: u64,
    /// Whether a thin, solid, upright bar is set aside as a caret.
    pub carets: bool,
    /// Whether anti-aliasing and sub-pixel jitter along an existing edge are set aside, and how.
    /// What [`Antialiasing::Pixel`] sets aside is no part of the differences areas are made of:
    /// [`set_aside_antialiasing`](crate::diff::set_aside_antialiasing) has gone over them before,
    /// as [`Differ`](crate::Differ) sees to.
    pub antialiasing: Antialiasing,
    /// Many pixels changed by less than the tolerance, all in one direction, are a change when
    /// they differ by at least this much on average (a tint, a fade), in channel levels.
    pub tint_levels: f32,
    /// Pixels of the frame for one of the user interface: 2.0 on a high-density display.
    pub scale: f32,
}

impl AreaRules {
    /// Every cluster counts.
    pub const EVERYTHING: Self = Self {
        merge_gap_px: 8,
        speck_pixels: 0,
        carets: false,
        antialiasing: Antialiasing::Count,
        tint_levels: 0.0,
        scale: 1.0,
    };
}

/// Areas in order, and what was set aside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The areas, numbered from one in this order.
    pub areas: Vec<Area>,
    /// What was set aside.
    pub ignored: Ignored,
}

/// Finds areas; keeps its memory from one pair of frames to the next.
#[derive(Clone, Debug, Default)]
pub struct AreaFinder {
    clusters: Clusters,
}

impl AreaFinder {
    /// Gathers the pixels of `differences` between `before` and `after` into areas.
    ///
    /// With `input_point` the area at it, else the one nearest to it, comes first; the others (and
    /// without a point all) are ordered largest first, ties top to bottom and left to right.
    /// Faint pixels that make up a tint are moved to the changed ones. `moves` are the blocks
    /// whose pixels were taken out of `differences` before: what changed where one of them stood
    /// is one area, and inside of one noise is judged against what it looked like where it was.
    pub fn find(
        &mut self,
        differences: &mut Differences,
        before: FrameRef<'_>,
        after: FrameRef<'_>,
        rules: &AreaRules,
        input_point: Option<Point>,
        moves: &Moves,
    ) -> Found {
        self.promote_tints(differences, before, after, rules);
        let mut found = Found::default();
        found.ignored.faint_pixels = differences.faint().count();
        found.ignored.antialiased = self.spots(differences.antialiased(), rules);
        if differences.changed().is_empty() {
            return found;
        }
        let changed = differences.changed();
        self.clusters.gather(changed, scaled(rules.merge_gap_px, rules.scale));
        let judge = |cluster: &Cluster| {
            self.judge_in_block(cluster, changed, before, after, rules, moves).unwrap_or_else(
                || {
                    noise::judge(
                        cluster,
                        self.clusters.members(cluster, changed),
                        before,
                        after,
                        rules,
                    )
                },
            )
        };
        let judged: Vec<(&Cluster, Judgement)> =
            self.clusters.all().iter().map(|cluster| (cluster, judge(cluster))).collect();
        let kept = judged.iter().filter(|(_, judgement)| *judgement == Judgement::Change);
        let mut boxes: Vec<Rect> = kept.map(|(cluster, _)| cluster.rect).collect();
        join_vacated(&mut boxes, moves);
        let boxes = boxes::disjoint(boxes);
        let mut areas: Vec<Area> = boxes.into_iter().map(empty_area).collect();
        let mut holders = Holders::default();
        for (cluster, judgement) in judged {
            match holders.holder(&mut areas, cluster.rect) {
                // A spot of noise inside a changed box belongs to that change.
                Some(area) => {
                    let rows = self.clusters.rows(cluster);
                    let delta = differences.largest_delta(rows, before, after);
                    area.max_delta = area.max_delta.max(delta);
                    area.changed_pixels += cluster.pixels;
                }
                None => set_aside(cluster, judgement, &mut found.ignored),
            }
        }
        order(&mut areas, input_point);
        found.areas = areas;
        found
    }

    /// The clusters of pixels that were set aside one by one.
    fn spots(&mut self, mask: &ChangeMask, rules: &AreaRules) -> Vec<Spot> {
        if mask.is_empty() {
            return Vec::new();
        }
        self.clusters.gather(mask, scaled(rules.merge_gap_px, rules.scale));
        let spot = |cluster: &Cluster| Spot { rect: cluster.rect, pixels: cluster.pixels };
        self.clusters.all().iter().map(spot).collect()
    }

    /// Judges a cluster inside a block that moved, or `None` where it lies in none.
    fn judge_in_block(
        &self,
        cluster: &Cluster,
        changed: &ChangeMask,
        before: FrameRef<'_>,
        after: FrameRef<'_>,
        rules: &AreaRules,
        moves: &Moves,
    ) -> Option<Judgement> {
        let block = moves.blocks.iter().find(|block| block.to.contains_rect(cluster.rect))?;
        let (before, after) = (before.crop(block.from).ok()?, after.crop(block.to).ok()?);
        // Some of a change may look as it did before by chance: its size is what does not equal
        // its source.
        let around = cluster.rect.grown(BESIDE_PX, after.size());
        let pixels = cluster.pixels.max(moves.broken_in(around));
        let local = cluster.within(block.to, pixels)?;
        let members = self.clusters.members(cluster, changed).within(block.to);
        Some(noise::judge(&local, members, before, after, rules))
    }

    /// Moves faint clusters that are a tint from the faint mask to the changed one.
    fn promote_tints(
        &mut self,
        differences: &mut Differences,
        before: FrameRef<'_>,
        after: FrameRef<'_>,
        rules: &AreaRules,
    ) {
        if differences.faint().count() < noise::TINT_PIXELS {
            return;
        }
        self.clusters.gather(differences.faint(), scaled(rules.merge_gap_px, rules.scale));
        for cluster in self.clusters.all() {
            let members = self.clusters.members(cluster, differences.faint());
            if noise::is_tint(cluster, members, before, after, rules) {
                let rows = self.clusters.rows(cluster);
                rows.for_each(|(y, start, end)| differences.promote(y, start, end));
            }
        }
    }
}

fn set_aside(cluster: &Cluster, judgement: Judgement, ignored: &mut Ignored) {
    let spot = Spot { rect: cluster.rect, pixels: cluster.pixels };
    match judgement {
        // A kept cluster always has a box of its own or a merged one around it.
        Judgement::Change => {}
        Judgement::Speck => ignored.specks.push(spot),
        Judgement::Caret => ignored.carets.push(spot),
        Judgement::Antialiasing => ignored.antialiased.push(spot),
    }
}

/// A length at scale 1 as pixels of a frame at `scale`, rounded.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "lengths are small and scales positive; a float cast saturates"
)]
pub(crate) fn scaled(length_px: u32, scale: f32) -> u32 {
    ((length_px as f32 * scale).round() as u32).min(MAX_EDGE)
}

/// How far beside a cluster in a moved block pixels belong to the same change.
const BESIDE_PX: u32 = 2;

/// Makes one box of those that touch the place a block left.
fn join_vacated(boxes: &mut Vec<Rect>, moves: &Moves) {
    for place in moves.blocks.iter().flat_map(Moved::vacated) {
        let touching = boxes.iter().filter(|rect| rect.intersection(place).is_some());
        boxes.extend(touching.copied().reduce(Rect::union));
    }
}

fn empty_area(rect: Rect) -> Area {
    Area { rect, changed_pixels: 0, max_delta: 0, at_input_point: false }
}

fn order(areas: &mut [Area], input_point: Option<Point>) {
    areas.sort_by_key(|area| (std::cmp::Reverse(area.rect.pixels()), area.rect.y(), area.rect.x()));
    let Some(point) = input_point else { return };
    for area in areas.iter_mut() {
        area.at_input_point = area.rect.contains(point);
    }
    let nearest = (0..areas.len()).min_by_key(|&index| areas[index].rect.distance_squared(point));
    if let Some(index) = nearest {
        areas[..=index].rotate_right(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::{Tolerance, diff};
    use crate::frame::{Frame, PixelFormat};
    use crate::geometry::Size;

    const SIZE: (u32, u32) = (200, 120);

    fn rect(x: u32, y: u32, width: u32, height: u32) -> Rect {
        Rect::new(x, y, width, height).unwrap()
    }

    fn white() -> Frame {
        let size = Size::new(SIZE.0, SIZE.1).unwrap();
        Frame::filled(size, PixelFormat::Rgba, [255, 255, 255, 255])
    }

    fn paint(frame: &mut Frame, rect: Rect, grey: u8) {
        let width = frame.size().width();
        for y in rect.y()..rect.bottom() {
            for x in rect.x()..rect.right() {
                let at = (y * width + x) as usize * 4;
                frame.data_mut()[at..at + 3].fill(grey);
            }
        }
    }

    fn find(rects: &[Rect], rules: AreaRules, point: Option<Point>) -> Found {
        let before = white();
        let mut after = white();
        for &rect in rects {
            paint(&mut after, rect, 0);
        }
        let mut differences = Differences::default();
        diff(before.as_ref(), after.as_ref(), Tolerance::Channel(8), &mut differences).unwrap();
        let mut finder = AreaFinder::default();
        finder.find(
            &mut differences,
            before.as_ref(),
            after.as_ref(),
            &rules,
            point,
            &Moves::default(),
        )
    }

    fn live() -> AreaRules {
        AreaRules { speck_pixels: 12, carets: true, ..AreaRules::EVERYTHING }
    }

    #[test]
    fn clusters_merge_across_the_gap_and_no_further() {
        for (gap, areas) in [(8, 1), (9, 2)] {
            for second in [rect(20 + gap, 10, 10, 10), rect(10, 20 + gap, 10, 10)] {
                let found = find(&[rect(10, 10, 10, 10), second], live(), None);
                assert_eq!(found.areas.len(), areas, "gap {gap}, second {second}");
            }
        }
    }

    #[test]
    fn order_is_by_input_point_then_size_then_place() {
        let rects = [rect(0, 0, 10, 10), rect(50, 0, 20, 20), rect(100, 0, 10, 10)];
        for (point, first) in [
            (None, rects[1]),
            (Some(Point::new(105, 5)), rects[2]),
            (Some(Point::new(0, 119)), rects[0]),
        ] {
            let found = find(&rects, live(), point);
            assert_eq!(found.areas[0].rect, first, "{point:?}");
            let inside = point.is_some_and(|point| first.contains(point));
            assert_eq!(found.areas[0].at_input_point, inside);
            assert_eq!(found.areas.len(), 3);
        }
    }

    #[test]
    fn a_ring_and_what_it_encloses_are_one_area() {
        let ring =
            [rect(10, 10, 80, 2), rect(10, 88, 80, 2), rect(10, 10, 2, 80), rect(88, 10, 2, 80)];
        let mut rects = ring.to_vec();
        rects.push(rect(45, 45, 5, 5));
        let found = find(&rects, live(), None);
        let changed_pixels = 2 * 80 * 2 + 2 * 76 * 2 + 25;
        let area = Area {
            rect: rect(10, 10, 80, 80),
            changed_pixels,
            max_delta: 255,
            at_input_point: false,
        };
        assert_eq!(found.areas, [area]);
    }

    #[test]
    fn specks_and_carets_are_set_aside_with_their_boxes() {
        for (bar, caret, speck, area) in [
            (rect(40, 30, 1, 16), 1, 0, 0),
            (rect(40, 30, 3, 40), 1, 0, 0),
            (rect(40, 30, 4, 16), 0, 0, 1),
            (rect(40, 30, 2, 41), 0, 0, 1),
            (rect(40, 30, 2, 7), 0, 0, 1),
            (rect(40, 30, 11, 1), 0, 1, 0),
            (rect(40, 30, 12, 1), 0, 0, 1),
            (rect(40, 0, 1, SIZE.1), 0, 0, 1),
        ] {
            let found = find(&[bar], live(), None);
            let counts =
                (found.ignored.carets.len(), found.ignored.specks.len(), found.areas.len());
            assert_eq!(counts, (caret, speck, area), "{bar}");
        }
        let counted = find(&[rect(40, 30, 1, 1)], AreaRules::EVERYTHING, None);
        assert_eq!(counted.areas.len(), 1);
    }

    #[test]
    fn no_scale_and_no_gap_is_too_large() {
        for (merge_gap_px, scale) in
            [(8, 1e30), (8, f32::INFINITY), (8, f32::NAN), (8, -1.0), (u32::MAX, 1.0)]
        {
            let rules = AreaRules { merge_gap_px, scale, ..live() };
            let point = Some(Point::new(u32::MAX, u32::MAX));
            let found = find(&[rect(10, 10, 20, 20), rect(190, 100, 5, 5)], rules, point);
            let merges = scale > 1.0 || merge_gap_px > 8;
            assert_eq!(found.areas.len(), if merges { 1 } else { 2 }, "{merge_gap_px} at {scale}");
        }
    }

    #[test]
    fn carets_grow_with_the_scale() {
        let bar = rect(40, 30, 6, 60);
        assert_eq!(find(&[bar], live(), None).areas.len(), 1);
        let found = find(&[bar], AreaRules { scale: 2.0, ..live() }, None);
        assert_eq!(found.ignored.carets, [Spot { rect: bar, pixels: 360 }]);
    }

    #[test]
    fn many_pixels_changed_by_little_are_one_area() {
        let before = white();
        for (levels, side, areas) in [(6, 40, 1), (6, 7, 0), (1, 40, 0)] {
            let mut after = white();
            paint(&mut after, rect(20, 20, side, side), 255 - levels);
            let mut differences = Differences::default();
            diff(before.as_ref(), after.as_ref(), Tolerance::Channel(8), &mut differences).unwrap();
            let rules = AreaRules { tint_levels: 2.0, ..live() };
            let found = AreaFinder::default().find(
                &mut differences,
                before.as_ref(),
                after.as_ref(),
                &rules,
                None,
                &Moves::default(),
            );
            assert_eq!(found.areas.len(), areas, "{levels} levels over {side}x{side}");
        }
    }
}
