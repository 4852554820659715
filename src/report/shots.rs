//! Which pictures a report gets: what each shows and how large, before a pixel is drawn.

use crate::frame::Frame;
use crate::geometry::{Rect, Size};

use super::marks::{CROPPED_AREAS, Marks, scaled_size};
use super::{ChangeReport, Verdict};

/// How much of the surroundings a crop shows on each side, in frame pixels.
const CONTEXT_PX: u32 = 12;

/// The longest edge of an overview; of a much longer than wide page up to twice as much.
const OVERVIEW_EDGE: u32 = 800;

/// Frames up to this edge get an enlarged overview, for numbers need room.
const TINY_EDGE: u32 = 200;

/// The longest edge a crop may reach by enlarging.
const ENLARGED_EDGE: u32 = 480;

/// How far a crop is enlarged at most.
const MAX_ENLARGEMENT: u32 = 4;

/// The longest edge of a crop or a whole frame; larger ones are made smaller.
const LARGE_EDGE: u32 = 1920;

/// What a picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A small copy of the frame after, each area outlined and numbered and each move drawn; or the
    /// whole frame after without a mark, when most of it changed.
    Overview,
    /// One area before.
    Before,
    /// One area after.
    After,
    /// Which pixels differ.
    Diff,
}

impl Role {
    /// `overview`, `before`, `after` or `diff`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Before => "before",
            Self::After => "after",
            Self::Diff => "diff",
        }
    }
}

/// One picture as planned: what it shows and how large.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shot {
    /// What it shows.
    pub role: Role,
    /// The number of the area it shows, for crops.
    pub area: Option<usize>,
    /// The part of the frame it shows.
    pub rect: Rect,
    /// Pixels of the picture for one of the frame: 4.0 is enlarged, 0.5 made smaller.
    pub scale: f32,
    /// Pixels of border around that part, so that no outline at the frame's edge is cut.
    pub border_px: u32,
    /// Whether areas and moves are drawn on it.
    pub is_marked: bool,
}

/// One picture of a report.
#[derive(Clone, Debug)]
pub struct Picture {
    /// What it shows and how large.
    pub shot: Shot,
    /// The picture, RGBA, without transparency.
    pub frame: Frame,
}

impl Shot {
    /// The name of its file: `overview.png`, `diff.png`, `area-1-before.png`, …
    #[must_use]
    pub fn file_name(&self) -> String {
        match self.area {
            Some(number) => format!("area-{number}-{}.png", self.role.name()),
            None => format!("{}.png", self.role.name()),
        }
    }

    /// The part of the frame as large as it is drawn, without the border.
    #[must_use]
    pub fn drawn_size(&self) -> Size {
        scaled_size(self.rect.size(), self.scale)
    }

    /// A picture of `rect` without border and marks.
    pub(super) const fn plain(role: Role, rect: Rect, scale: f32) -> Self {
        Self { role, area: None, rect, scale, border_px: 0, is_marked: false }
    }

    fn overview(report: &ChangeReport) -> Self {
        let scale = overview_scale(report.after);
        let border_px = Marks::place(report, scale).border_px;
        let rect = report.after.rect();
        Self { border_px, is_marked: true, ..Self::plain(Role::Overview, rect, scale) }
    }
}

/// The pictures of `report` in the order they should be looked at: the overview, then the first
/// three areas before and after, with 12 px around them.
///
/// The whole frame after stands for all of them when `whole` is asked for (the page navigated),
/// when most of it changed, and when the size changed and nothing else is told. Without an area
/// and a block that moved there is nothing to show.
#[must_use]
pub fn shots(report: &ChangeReport, whole: bool) -> Vec<Shot> {
    let resized = report.verdict == Verdict::Resized;
    let is_unmarked = report.areas.is_empty() && report.moved.is_empty();
    if is_unmarked && !resized && !whole {
        return Vec::new();
    }
    if whole || is_unmarked || report.is_mostly_changed() {
        return vec![whole_shot(report.after)];
    }
    let crops = (1..).zip(report.areas.iter().take(CROPPED_AREAS)).flat_map(|(number, area)| {
        let rect = area.rect.grown(CONTEXT_PX, report.before.common(report.after));
        let shot =
            |role| Shot { area: Some(number), ..Shot::plain(role, rect, crop_scale(rect.size())) };
        [shot(Role::Before), shot(Role::After)]
    });
    std::iter::once(Shot::overview(report)).chain(crops).collect()
}

/// The whole of a frame, full size up to 1920 px an edge.
pub(super) fn whole_shot(size: Size) -> Shot {
    Shot::plain(Role::Overview, size.rect(), shrink_to(LARGE_EDGE, size))
}

/// Numbers need room: a tiny frame is enlarged by a whole factor.
fn overview_scale(size: Size) -> f32 {
    let long = size.width().max(size.height());
    if long <= TINY_EDGE {
        whole_factor(2 * TINY_EDGE / long)
    } else {
        shrink_to(OVERVIEW_EDGE, size)
    }
}

fn crop_scale(size: Size) -> f32 {
    let long = size.width().max(size.height());
    match (ENLARGED_EDGE / long).min(MAX_ENLARGEMENT) {
        0 | 1 => shrink_to(LARGE_EDGE, size),
        factor => whole_factor(factor),
    }
}

/// The scale that brings the longer edge to `edge`, at most 1. A page much longer than wide may
/// get twice as long, for else nothing on it could be made out.
#[expect(clippy::cast_precision_loss, reason = "edges stay below 2^24, where f32 is exact")]
fn shrink_to(edge: u32, size: Size) -> f32 {
    let long = size.width().max(size.height());
    let short = size.width().min(size.height());
    let for_the_short_one = u64::from(edge) * 2 / 5 * u64::from(long) / u64::from(short);
    let limit = for_the_short_one.clamp(u64::from(edge), 2 * u64::from(edge));
    if u64::from(long) <= limit { 1.0 } else { limit as f32 / long as f32 }
}

#[expect(clippy::cast_precision_loss, reason = "factors stay far below 2^24")]
fn whole_factor(factor: u32) -> f32 {
    factor as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::areas::{Area, Ignored};

    fn rect(x: u32, y: u32, width: u32, height: u32) -> Rect {
        Rect::new(x, y, width, height).unwrap()
    }

    fn size(width: u32, height: u32) -> Size {
        Size::new(width, height).unwrap()
    }

    fn report(verdict: Verdict, before: Size, after: Size, rects: &[Rect]) -> ChangeReport {
        let area = |&rect: &Rect| Area {
            rect,
            changed_pixels: rect.pixels(),
            max_delta: 255,
            at_input_point: false,
        };
        ChangeReport {
            verdict,
            before,
            after,
            compared_pixels: after.pixels(),
            changed_pixels: rects.iter().map(|rect| rect.pixels()).sum(),
            areas: rects.iter().map(area).collect(),
            moved: Vec::new(),
            ignored: Ignored::default(),
        }
    }

    #[test]
    fn crops_have_context_and_small_ones_are_enlarged() {
        // Each row: the area, the part its crops show, how far they are enlarged.
        for (area, shown, scale) in [
            (rect(465, 645, 24, 24), rect(453, 633, 48, 48), 4.0),
            (rect(120, 40, 300, 60), rect(108, 28, 324, 84), 1.0),
            (rect(0, 0, 10, 10), rect(0, 0, 22, 22), 4.0),
            (rect(1270, 790, 10, 10), rect(1258, 778, 22, 22), 4.0),
            (rect(100, 100, 96, 96), rect(88, 88, 120, 120), 4.0),
            (rect(100, 100, 97, 20), rect(88, 88, 121, 44), 3.0),
            (rect(100, 100, 20, 216), rect(88, 88, 44, 240), 2.0),
            (rect(100, 100, 20, 217), rect(88, 88, 44, 241), 1.0),
            (rect(0, 0, 1280, 80), rect(0, 0, 1280, 92), 1.0),
        ] {
            let report = report(Verdict::Changed, size(1280, 800), size(1280, 800), &[area]);
            let shots = shots(&report, false);
            for (shot, role) in shots[1..].iter().zip([Role::Before, Role::After]) {
                assert_eq!((shot.role, shot.area), (role, Some(1)));
                assert_eq!((shot.rect, shot.scale), (shown, scale), "{area}");
            }
        }
    }

    #[test]
    fn overviews_are_small_copies() {
        for (frame, drawn) in [
            (size(1280, 800), size(800, 500)),
            (size(3840, 2160), size(800, 450)),
            (size(640, 400), size(640, 400)),
            (size(200, 100), size(400, 200)),
            (size(64, 48), size(384, 288)),
            (size(1280, 10_000), size(205, 1600)), // 102 px wide it would show nothing
        ] {
            assert_eq!(scaled_size(frame, overview_scale(frame)), drawn, "{frame}");
        }
    }

    #[test]
    fn large_parts_are_made_smaller() {
        for (part, drawn) in [
            (size(1920, 1080), size(1920, 1080)),
            (size(3840, 2160), size(1920, 1080)),
            (size(1280, 6000), size(768, 3600)),
        ] {
            assert_eq!(whole_shot(part).drawn_size(), drawn, "{part}");
            assert_eq!(scaled_size(part, crop_scale(part)), drawn, "{part}");
        }
    }

    #[test]
    fn which_pictures_there_are() {
        let (frame, taller) = (size(1280, 800), size(1280, 801));
        let spot = rect(30, 30, 20, 20);
        let spots: Vec<Rect> = (0..5).map(|n| rect(30 + 100 * n, 30, 20, 20)).collect();
        let most = rect(0, 0, 1280, 401);
        let (same, changed, resized) = (Verdict::Same, Verdict::Changed, Verdict::Resized);
        let three = ["overview.png", "area-1-before.png", "area-1-after.png"];
        for (verdict, after, rects, whole, marked_overview, files) in [
            (same, frame, &[][..], false, false, vec![]),
            (same, frame, &[], true, false, vec!["overview.png"]),
            (same, frame, &[spot], false, true, three.to_vec()), // within the budget
            (changed, frame, &[spot], false, true, three.to_vec()),
            (changed, frame, &[spot], true, false, vec!["overview.png"]),
            (changed, frame, &[most], false, false, vec!["overview.png"]),
            (resized, taller, &[], false, false, vec!["overview.png"]),
            (resized, taller, &[spot], false, true, three.to_vec()),
        ] {
            let shots = shots(&report(verdict, frame, after, rects), whole);
            let names: Vec<String> = shots.iter().map(Shot::file_name).collect();
            assert_eq!(names, files, "{verdict:?} {rects:?} whole: {whole}");
            assert_eq!(shots.first().is_some_and(|shot| shot.is_marked), marked_overview);
        }
        let shots = shots(&report(changed, frame, frame, &spots), false);
        assert_eq!(
            shots.iter().filter_map(|shot| shot.area).collect::<Vec<_>>(),
            [1, 1, 2, 2, 3, 3]
        );
    }

    #[test]
    fn crops_of_a_resized_frame_stay_inside_both() {
        let report =
            report(Verdict::Resized, size(100, 90), size(90, 100), &[rect(70, 70, 20, 20)]);
        assert_eq!(shots(&report, false)[1].rect, rect(58, 58, 32, 32));
    }
}
