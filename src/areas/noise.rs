//! Is a cluster a change a person would name, or noise? Judged for the cluster as a whole.
//!
//! A per-pixel neighbourhood rule alone loses real one-character edits: at nine pixels a letter is
//! hardly more than its own anti-aliasing. So noise must pass two tests: no pixel differs by much,
//! and every pixel lies on an edge that the other frame has too.

use std::collections::HashMap;

use crate::diff::{max_channel_delta, yiq_fraction};
use crate::frame::FrameRef;
use crate::geometry::{Point, Rect, Size};

use super::cluster::{Cluster, Run};
use super::{AreaRules, scaled};

/// A tint has at least this many pixels: an 8x8 box.
pub(super) const TINT_PIXELS: u64 = 64;

/// The largest distance (on the scale of `yiq`) of a pixel of anti-aliasing. Jitter measured between
/// renderers stays below 0.1, and an outline moved by 0.15 px comes to 0.15; one-letter edits of
/// light grey text at nine pixels begin at 0.17, of darker text at 0.3.
const ANTIALIASING_LIMIT: f32 = 0.16;

/// How far, in channel levels, a pixel may lie outside what its neighbours in the other frame
/// span and still be on the same edge.
const EDGE_SLACK: u8 = 16;

/// How much of a cluster's change must point one way to be a tint rather than noise, which goes
/// up here and down there.
const TINT_COHERENCE: f64 = 0.75;

/// What a cluster is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    Change,
    Speck,
    Caret,
    Antialiasing,
}

/// Judges one cluster by `rules`.
pub(super) fn judge(
    cluster: &Cluster,
    runs: &[Run],
    before: FrameRef<'_>,
    after: FrameRef<'_>,
    rules: &AreaRules,
) -> Judgement {
    if rules.carets && is_caret(cluster, before.size(), rules.scale) {
        Judgement::Caret
    } else if cluster.pixels < rules.speck_pixels {
        Judgement::Speck
    } else if rules.antialiasing && is_antialiasing(runs, before, after) {
        Judgement::Antialiasing
    } else {
        Judgement::Change
    }
}

/// The largest absolute difference of a channel over some runs.
pub(super) fn max_delta(runs: &[Run], before: FrameRef<'_>, after: FrameRef<'_>) -> u8 {
    points(runs)
        .map(|point| max_channel_delta(before.rgba(point), after.rgba(point)))
        .max()
        .unwrap_or_default()
}

/// Whether a faint cluster is a tint: many pixels, all a little lighter, darker or more coloured.
pub(super) fn is_tint(
    cluster: &Cluster,
    runs: &[Run],
    before: FrameRef<'_>,
    after: FrameRef<'_>,
    rules: &AreaRules,
) -> bool {
    if cluster.pixels < TINT_PIXELS {
        return false;
    }
    let mut all = Drift::default();
    points(runs).for_each(|point| all.add(before.rgba(point), after.rgba(point)));
    if rules.antialiasing {
        return all.is_coherent(rules) && !is_on_edges(cluster, runs, before, after);
    }
    all.is_coherent(rules) || is_tint_by_parts(runs, before, after, rules)
}

/// Whether enough of the cluster drifts one way part by part: where one picture fades into another
/// some parts get lighter and some darker. Noise has no part that drifts.
fn is_tint_by_parts(
    runs: &[Run],
    before: FrameRef<'_>,
    after: FrameRef<'_>,
    rules: &AreaRules,
) -> bool {
    let mut parts: HashMap<(u32, u32), Drift> = HashMap::new();
    for point in points(runs) {
        let part = parts.entry((point.x / PART_EDGE, point.y / PART_EDGE)).or_default();
        part.add(before.rgba(point), after.rgba(point));
    }
    let drifts = |part: &&Drift| part.pixels * 2 >= PART_PIXELS && part.is_coherent(rules);
    parts.values().filter(drifts).map(|part| part.pixels).sum::<i64>() >= PART_PIXELS
}

/// The edge of a part that is judged alone, and how many pixels it has.
const PART_EDGE: u32 = 8;
const PART_PIXELS: i64 = 64;

/// By how much some pixels went up or down in each channel, together.
#[derive(Clone, Copy, Debug, Default)]
struct Drift {
    pixels: i64,
    signed: [i64; 4],
    absolute: [i64; 4],
}

impl Drift {
    fn add(&mut self, before: [u8; 4], after: [u8; 4]) {
        self.pixels += 1;
        for channel in 0..4 {
            let delta = i64::from(after[channel]) - i64::from(before[channel]);
            self.signed[channel] += delta;
            self.absolute[channel] += delta.abs();
        }
    }

    /// Whether some channel drifts mostly one way, and far enough.
    fn is_coherent(&self, rules: &AreaRules) -> bool {
        (0..4).any(|channel| {
            let signed = ratio(self.signed[channel].abs());
            let absolute = ratio(self.absolute[channel]);
            signed >= TINT_COHERENCE * absolute
                && absolute > 0.0
                && absolute >= f64::from(rules.tint_levels) * ratio(self.pixels)
        })
    }
}

/// Whether nearly all pixels lie on edges that both frames have: outlines drawn a little bolder
/// are anti-aliasing, a tint also covers what is flat.
fn is_on_edges(cluster: &Cluster, runs: &[Run], before: FrameRef<'_>, after: FrameRef<'_>) -> bool {
    let flat = points(runs).filter(|&point| !is_edge_jitter(before, after, point)).count() as u64;
    flat * 4 < cluster.pixels
}

#[expect(clippy::cast_precision_loss, reason = "sums of at most 2^28 bytes are exact in an f64")]
fn ratio(sum: i64) -> f64 {
    sum as f64
}

/// A thin, solid, upright bar: at most 3 px wide and 8..=40 px tall at scale 1. A bar as tall as
/// the frame is an edge column, not an insertion point in a line of text.
fn is_caret(cluster: &Cluster, frame: Size, scale: f32) -> bool {
    let rect = cluster.rect;
    rect.width() <= scaled(3, scale)
        && (scaled(8, scale)..=scaled(40, scale)).contains(&rect.height())
        && cluster.pixels == rect.pixels()
        && rect.height() < frame.height()
}

fn is_antialiasing(runs: &[Run], before: FrameRef<'_>, after: FrameRef<'_>) -> bool {
    points(runs).all(|point| {
        yiq_fraction(before.rgba(point), after.rgba(point)) <= ANTIALIASING_LIMIT
            && is_edge_jitter(before, after, point)
    })
}

fn is_edge_jitter(before: FrameRef<'_>, after: FrameRef<'_>, point: Point) -> bool {
    on_edge(after.rgba(point), before, point) && on_edge(before.rgba(point), after, point)
}

/// Whether `frame` has an edge at `point`, and `pixel` lies in every channel within what it spans,
/// give or take the slack: moving an edge by less than a pixel cannot leave that range.
fn on_edge(pixel: [u8; 4], frame: FrameRef<'_>, point: Point) -> bool {
    let around = Rect::from_edges(point.x, point.y, point.x + 1, point.y + 1)
        .map_or(frame.size().rect(), |pixel| pixel.grown(1, frame.size()));
    let (mut low, mut high) = ([u8::MAX; 4], [u8::MIN; 4]);
    for y in around.y()..around.bottom() {
        for x in around.x()..around.right() {
            for (channel, value) in frame.rgba(Point::new(x, y)).into_iter().enumerate() {
                low[channel] = low[channel].min(value);
                high[channel] = high[channel].max(value);
            }
        }
    }
    let is_edge = low.into_iter().zip(high).any(|(low, high)| high - low > EDGE_SLACK);
    let inside = |(channel, value): (usize, u8)| {
        value >= low[channel].saturating_sub(EDGE_SLACK)
            && value <= high[channel].saturating_add(EDGE_SLACK)
    };
    is_edge && pixel.into_iter().enumerate().all(inside)
}

fn points(runs: &[Run]) -> impl Iterator<Item = Point> + '_ {
    runs.iter().flat_map(|run| (run.start..run.end).map(|x| Point::new(x, run.y)))
}
