//! Is a cluster a change a person would name, or noise? Judged for the cluster as a whole.
//!
//! A per-pixel neighbourhood rule alone loses real one-character edits: at nine pixels a letter is
//! hardly more than its own anti-aliasing. So noise must pass two tests: no pixel differs by much,
//! and every pixel lies on an edge that the other frame has too.

use crate::diff::{Antialiasing, yiq_fraction};
use crate::frame::{BYTES_PER_PIXEL, FrameRef, PixelFormat};
use crate::geometry::{Point, Rect, Size};

use super::cluster::{Cluster, Members};
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
    members: Members<'_>,
    before: FrameRef<'_>,
    after: FrameRef<'_>,
    rules: &AreaRules,
) -> Judgement {
    if rules.carets && is_caret(cluster, before.size(), rules.scale) {
        Judgement::Caret
    } else if cluster.pixels < rules.speck_pixels {
        Judgement::Speck
    } else if rules.antialiasing == Antialiasing::Cluster && is_antialiasing(members, before, after)
    {
        Judgement::Antialiasing
    } else {
        Judgement::Change
    }
}

/// Whether a faint cluster is a tint: many pixels, all a little lighter, darker or more coloured.
pub(super) fn is_tint(
    cluster: &Cluster,
    members: Members<'_>,
    before: FrameRef<'_>,
    after: FrameRef<'_>,
    rules: &AreaRules,
) -> bool {
    if cluster.pixels < TINT_PIXELS {
        return false;
    }
    let mut all = Drift::default();
    members.runs().for_each(|(y, start, end)| all.add(before, after, y, start, end));
    if rules.antialiasing != Antialiasing::Count {
        return all.is_coherent(rules) && !is_on_edges(cluster, members, before, after);
    }
    all.is_coherent(rules) || is_tint_by_parts(cluster, members, before, after, rules)
}

/// Whether enough of the cluster drifts one way part by part: where one picture fades into another
/// some parts get lighter and some darker. Noise has no part that drifts.
fn is_tint_by_parts(
    cluster: &Cluster,
    members: Members<'_>,
    before: FrameRef<'_>,
    after: FrameRef<'_>,
    rules: &AreaRules,
) -> bool {
    let drifting = |parts: &[Drift]| -> i64 {
        let drifts = |part: &&Drift| part.pixels * 2 >= PART_PIXELS && part.is_coherent(rules);
        parts.iter().filter(drifts).map(|part| part.pixels).sum()
    };
    let first = cluster.rect.x() / PART_EDGE;
    let count = (cluster.rect.right() - 1) / PART_EDGE - first + 1;
    let (mut parts, mut band, mut pixels) = (vec![Drift::default(); count as usize], 0, 0);
    for (y, start, end) in members.runs() {
        if y / PART_EDGE != band {
            pixels += drifting(&parts);
            parts.fill(Drift::default());
            band = y / PART_EDGE;
        }
        for part in start / PART_EDGE..=(end - 1) / PART_EDGE {
            let (left, right) = (part * PART_EDGE, (part + 1) * PART_EDGE);
            let drift = &mut parts[(part - first) as usize];
            drift.add(before, after, y, start.max(left), end.min(right));
        }
    }
    pixels + drifting(&parts) >= PART_PIXELS
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
    /// Adds a run of pixels. Each channel is summed by its place, in both frames the same.
    fn add(&mut self, before: FrameRef<'_>, after: FrameRef<'_>, y: u32, start: u32, end: u32) {
        if before.format() != after.format() {
            return (start..end).map(|x| Point::new(x, y)).for_each(|point| {
                self.add_bytes(&before.rgba(point), &after.rgba(point), PixelFormat::Rgba);
            });
        }
        let bytes = start as usize * BYTES_PER_PIXEL..end as usize * BYTES_PER_PIXEL;
        self.add_bytes(&before.row(y)[bytes.clone()], &after.row(y)[bytes], before.format());
    }

    fn add_bytes(&mut self, before: &[u8], after: &[u8], format: PixelFormat) {
        const LANES: usize = 4 * BYTES_PER_PIXEL;
        let (mut up, mut down) = ([0_u32; LANES], [0_u32; LANES]);
        let mut add = |before: &[u8], after: &[u8]| {
            let deltas = up.iter_mut().zip(&mut down).zip(before.iter().zip(after));
            for ((up, down), (&before, &after)) in deltas {
                *up += u32::from(after.saturating_sub(before));
                *down += u32::from(before.saturating_sub(after));
            }
        };
        let (whole_before, rest_before) = before.as_chunks::<LANES>();
        let (whole_after, rest_after) = after.as_chunks::<LANES>();
        whole_before.iter().zip(whole_after).for_each(|(before, after)| add(before, after));
        add(rest_before, rest_after);
        let channels = if format == PixelFormat::Bgrx { 3 } else { 4 };
        for (lane, (up, down)) in up.into_iter().zip(down).enumerate() {
            let channel = lane % BYTES_PER_PIXEL;
            if channel < channels {
                self.signed[channel] += i64::from(up) - i64::from(down);
                self.absolute[channel] += i64::from(up) + i64::from(down);
            }
        }
        self.pixels += i64::try_from(before.len() / BYTES_PER_PIXEL).unwrap_or_default();
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
fn is_on_edges(
    cluster: &Cluster,
    members: Members<'_>,
    before: FrameRef<'_>,
    after: FrameRef<'_>,
) -> bool {
    let is_flat = |point: &Point| !is_edge_jitter(before, after, *point);
    let flat = members.points().filter(is_flat).count() as u64;
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

fn is_antialiasing(members: Members<'_>, before: FrameRef<'_>, after: FrameRef<'_>) -> bool {
    members.points().all(|point| {
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
