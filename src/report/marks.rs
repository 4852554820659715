//! Where outlines and numbers go on an overview: geometry alone, no pixels.
//!
//! An outline lies outside its box and is never drawn inside another one, so no change is hidden.
//! A number stands on its outline like a tab, never on the area it names. Where numbers have no
//! room that no other number or area takes, only the first three are put, for they have crops.

use crate::diff::ChangeMask;
use crate::geometry::{Rect, Size};

use super::{ChangeReport, Moved};

/// How many areas get crops before and after.
pub(super) const CROPPED_AREAS: usize = 3;

/// More areas than this get thin outlines and small numbers.
const DENSE: usize = 40;

/// Numbers past this are not even tried: nobody could find them.
const MAX_NUMBERED: usize = 400;

/// How outlines and numbers look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    /// The thickness of the line, between two thin bright ones.
    pub(super) line_px: u32,
    /// The size of a digit's cell.
    pub(super) digit: (u32, u32),
    /// Empty rows of the font above a digit.
    pub(super) above_digit_px: u32,
    /// Room around the digits, the tab's bright edge included.
    pub(super) padding: (u32, u32),
}

impl Style {
    /// The bright line at each side of the coloured one.
    pub(super) const HALO_PX: u32 = 1;
    /// For a handful of areas.
    pub(super) const BOLD: Self =
        Self { line_px: 2, digit: (9, 11), above_digit_px: 3, padding: (4, 3) };
    /// For many.
    pub(super) const FINE: Self =
        Self { line_px: 1, digit: (6, 7), above_digit_px: 1, padding: (2, 2) };

    pub(super) const fn of(areas: usize) -> Self {
        if areas > DENSE { Self::FINE } else { Self::BOLD }
    }

    /// How far an outline reaches from its box.
    pub(super) const fn ring_px(self) -> u32 {
        self.line_px + 2 * Self::HALO_PX
    }

    /// The size of the tab for `number`.
    fn tab(self, number: usize) -> (u32, u32) {
        let digits = number.checked_ilog10().unwrap_or(0) + 1;
        (digits * self.digit.0 + 2 * self.padding.0, self.digit.1 + 2 * self.padding.1)
    }
}

/// A block that moved, on a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    /// Where it was.
    pub(super) from: Rect,
    /// Where it is.
    pub(super) to: Rect,
    /// How far it went to the right and down, in pixels of the frame.
    pub(super) by: (i32, i32),
}

impl Way {
    fn on_copy(moved: &Moved, frame: Size, copy: Size) -> Option<Self> {
        let (from, to) = (moved.from.scaled(frame, copy)?, moved.to.scaled(frame, copy)?);
        Some(Self { from, to, by: moved.displacement() })
    }

    fn shifted(self, by: i32) -> Option<Self> {
        Some(Self { from: self.from.moved(by, by)?, to: self.to.moved(by, by)?, ..self })
    }
}

/// The marks of an overview, in pixels of the picture with its border.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "pictures"), expect(dead_code, reason = "drawn with pictures only"))]
pub(super) struct Marks {
    pub(super) style: Style,
    /// Room around the copy of the frame: none where no mark needs it.
    pub(super) border_px: u32,
    /// The picture's size, border included.
    pub(super) canvas: Size,
    /// Where each block that moved was, and where it is.
    pub(super) moved: Vec<Way>,
    /// What each area covers on the picture.
    pub(super) boxes: Vec<Rect>,
    /// The tab of each area's number, where there was room for it.
    pub(super) tabs: Vec<Option<Rect>>,
    /// Every pixel inside some box.
    pub(super) inside: ChangeMask,
}

impl Marks {
    /// Places the marks of `report` on its frame drawn at `scale`.
    pub(super) fn place(report: &ChangeReport, scale: f32) -> Self {
        let style = Style::of(report.areas.len());
        let copy = scaled_size(report.after, scale);
        let frame = report.after;
        let boxes: Vec<Rect> =
            report.areas.iter().filter_map(|area| area.rect.scaled(frame, copy)).collect();
        let moved: Vec<Way> =
            report.moved.iter().filter_map(|moved| Way::on_copy(moved, frame, copy)).collect();
        let is_cut = |rect: &Rect| {
            rect.grown(style.ring_px(), copy).pixels() < grown_pixels(*rect, style.ring_px())
        };
        let mut rects = boxes.iter().chain(moved.iter().flat_map(|way| [&way.from, &way.to]));
        let border_px = if rects.any(is_cut) { style.ring_px() } else { 0 };
        let marks = Self::with_border(style, copy, &boxes, &moved, border_px);
        if marks.tabs.iter().take(CROPPED_AREAS).all(Option::is_some) {
            return marks;
        }
        Self::with_border(style, copy, &boxes, &moved, style.ring_px() + style.tab(1).1)
    }

    fn with_border(
        style: Style,
        copy: Size,
        boxes: &[Rect],
        moved: &[Way],
        border_px: u32,
    ) -> Self {
        let grow = |edge: u32| edge + 2 * border_px;
        let canvas = Size::new(grow(copy.width()), grow(copy.height())).unwrap_or(copy);
        let shift = border_px.cast_signed();
        let boxes: Vec<Rect> = boxes.iter().filter_map(|rect| rect.moved(shift, shift)).collect();
        let moved = moved.iter().filter_map(|way| way.shifted(shift)).collect();
        let mut taken = Taken::new(canvas, &boxes, style);
        let tabs =
            (1..).zip(&boxes).map(|(number, rect)| taken.place_tab(number, *rect, style)).collect();
        Self { style, border_px, canvas, moved, boxes, tabs, inside: taken.inside }
    }
}

/// Where the number of each box goes on a picture of that size: beside the box or in a corner of
/// it, where it hides the least text (`ink`), other numbers and other boxes. `None` only where the
/// picture is smaller than the number.
#[cfg(feature = "pictures")]
pub(super) fn place_numbers(
    size: Size,
    boxes: &[(usize, Rect)],
    ink: &ChangeMask,
    style: Style,
) -> Vec<Option<Rect>> {
    let rects: Vec<Rect> = boxes.iter().map(|(_, rect)| *rect).collect();
    let mut taken = Taken::new(size, &rects, style);
    let place = |(number, rect): &(usize, Rect)| {
        let (width, height) = style.tab(*number);
        let beside = Ring::around(*rect, style).places(width, height, size);
        let within = corners(*rect, width, height);
        let cost = |tab: Rect| 8 * (taken.tabs.count_in(tab) + ink.count_in(tab));
        let outside = beside.into_iter().map(|tab| (cost(tab) + taken.inside.count_in(tab), tab));
        // In its own box a number hides what it names: only where nothing is drawn.
        let inside = within.into_iter().map(|tab| (cost(tab) + tab.pixels() / 2, tab));
        let (_, tab) = outside.chain(inside).min_by_key(|(cost, _)| *cost)?;
        taken.tabs.set_rect(tab);
        Some(tab)
    };
    boxes.iter().map(place).collect()
}

/// The corners of a box that is large enough, the right ones first: text begins at the left.
#[cfg(feature = "pictures")]
fn corners(rect: Rect, width: u32, height: u32) -> Vec<Rect> {
    let (Some(right), Some(bottom)) =
        (rect.right().checked_sub(width), rect.bottom().checked_sub(height))
    else {
        return Vec::new();
    };
    let places = [(right, rect.y()), (right, bottom), (rect.x(), rect.y()), (rect.x(), bottom)];
    let rects = places.into_iter().filter_map(|(x, y)| Rect::new(x, y, width, height).ok());
    rects.filter(|tab| rect.contains_rect(*tab)).collect()
}

fn grown_pixels(rect: Rect, margin: u32) -> u64 {
    u64::from(rect.width() + 2 * margin) * u64::from(rect.height() + 2 * margin)
}

/// What already lies where on the picture.
struct Taken {
    canvas: Size,
    inside: ChangeMask,
    rings: ChangeMask,
    tabs: ChangeMask,
}

impl Taken {
    fn new(canvas: Size, boxes: &[Rect], style: Style) -> Self {
        let empty = || {
            let mut mask = ChangeMask::default();
            mask.clear(canvas);
            mask
        };
        let (mut inside, mut rings) = (empty(), empty());
        for rect in boxes {
            inside.set_rect(*rect);
            rings.set_rect(rect.grown(style.ring_px(), canvas));
        }
        Self { canvas, inside, rings, tabs: empty() }
    }

    /// The best place for a number, taken from now on.
    fn place_tab(&mut self, number: usize, rect: Rect, style: Style) -> Option<Rect> {
        if number > MAX_NUMBERED {
            return None;
        }
        let ring = Ring::around(rect, style);
        let (width, height) = style.tab(number);
        let (cost, tab) = (0..)
            .zip(ring.places(width, height, self.canvas))
            .filter(|(_, tab)| tab.intersection(rect).is_none())
            .map(|(order, tab)| (self.cost(tab, order), tab))
            .min_by_key(|(cost, _)| *cost)?;
        if number > CROPPED_AREAS && cost.hides > 0 {
            return None;
        }
        self.tabs.set_rect(tab);
        Some(tab)
    }

    fn cost(&self, tab: Rect, order: u64) -> Cost {
        let on_tabs = self.tabs.count_in(tab);
        let on_boxes = self.inside.count_in(tab);
        let on_rings = self.rings.count_in(tab);
        Cost { hides: 4 * on_tabs + on_boxes, looks: on_rings + 16 * order }
    }
}

/// What a place costs: first what it would hide, then how it looks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cost {
    hides: u64,
    looks: u64,
}

/// The outer edges of an outline; may reach past the picture.
struct Ring {
    left: i64,
    top: i64,
    right: i64,
    bottom: i64,
}

impl Ring {
    fn around(rect: Rect, style: Style) -> Self {
        let ring = i64::from(style.ring_px());
        Self {
            left: i64::from(rect.x()) - ring,
            top: i64::from(rect.y()) - ring,
            right: i64::from(rect.right()) + ring,
            bottom: i64::from(rect.bottom()) + ring,
        }
    }

    /// Where a tab of that size may stand, best first: on a corner above or below, on a corner at
    /// the sides, then further along the edges. Only places inside the picture.
    fn places(&self, width: u32, height: u32, canvas: Size) -> Vec<Rect> {
        let (w, h) = (i64::from(width), i64::from(height));
        let halo = i64::from(Style::HALO_PX);
        let (above, below) = (self.top - h + halo, self.bottom - halo);
        let (before, behind) = (self.left - w + halo, self.right - halo);
        let room = (i64::from(canvas.width()) - w, i64::from(canvas.height()) - h);
        let mut places = Vec::new();
        for eighths in [&CORNERS[..], &BETWEEN[..]] {
            for &eighth in eighths {
                let x = slide(self.left, self.right - w, eighth, room.0);
                places.extend([(x, above), (x, below)]);
            }
            for &eighth in eighths {
                let y = slide(self.top, self.bottom - h, eighth, room.1);
                places.extend([(behind, y), (before, y)]);
            }
        }
        let inside = |(x, y)| {
            let rect = Rect::new(u32::try_from(x).ok()?, u32::try_from(y).ok()?, width, height);
            rect.ok().filter(|rect| canvas.rect().contains_rect(*rect))
        };
        places.into_iter().filter_map(inside).collect()
    }
}

/// Places along an edge, in eighths of the way a tab can slide.
const CORNERS: [i64; 2] = [0, 8];
const BETWEEN: [i64; 7] = [4, 2, 6, 1, 3, 5, 7];

/// The position `eighth` eighths from `start` to `end`, kept within 0..=`room`.
fn slide(start: i64, end: i64, eighth: i64, room: i64) -> i64 {
    (start + (end - start) * eighth / 8).min(room).max(0)
}

/// `size` times `scale`, rounded, never empty.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "edges stay below 2^24 and scales are positive"
)]
pub(super) fn scaled_size(size: Size, scale: f32) -> Size {
    let edge = |length: u32| ((length as f32 * scale).round() as u32).max(1);
    // Scales above 1 are for small frames only, so the limits of a size hold.
    Size::new(edge(size.width()), edge(size.height())).unwrap_or(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::areas::{Area, Ignored};
    use crate::report::Verdict;
    use proptest::prelude::*;

    fn rect(x: u32, y: u32, width: u32, height: u32) -> Rect {
        Rect::new(x, y, width, height).unwrap()
    }

    fn report(width: u32, height: u32, rects: &[Rect]) -> ChangeReport {
        let size = Size::new(width, height).unwrap();
        let area = |&rect| Area { rect, changed_pixels: 1, max_delta: 255, at_input_point: false };
        ChangeReport {
            verdict: Verdict::Changed,
            before: size,
            after: size,
            compared_pixels: size.pixels(),
            changed_pixels: rects.len() as u64,
            areas: rects.iter().map(area).collect(),
            moved: Vec::new(),
            ignored: Ignored::default(),
        }
    }

    #[test]
    fn a_number_stands_on_its_outline_where_there_is_room() {
        // Each row: the area, where its number stands, the border around the frame.
        for (area, tab, border) in [
            (rect(100, 100, 50, 20), rect(96, 80, 17, 17), 0), // above
            (rect(0, 0, 50, 20), rect(0, 27, 17, 17), 4),      // below, the frame's corner
            (rect(100, 10, 50, 20), rect(96, 33, 17, 17), 0),  // too near to the top
            (rect(395, 100, 5, 180), rect(391, 84, 17, 17), 4), // kept inside at the right
            (rect(0, 0, 400, 120), rect(0, 127, 17, 17), 4),
            (rect(150, 0, 100, 300), rect(257, 0, 17, 17), 4), // beside
        ] {
            let marks = Marks::place(&report(400, 300, &[area]), 1.0);
            assert_eq!((marks.tabs[0], marks.border_px), (Some(tab), border), "{area}");
        }
    }

    #[test]
    fn boxes_cover_every_pixel_that_shows_the_area() {
        for (area, scale, shown) in [
            (rect(10, 10, 10, 10), 0.5, rect(5, 5, 5, 5)),
            (rect(11, 11, 10, 10), 0.5, rect(5, 5, 6, 6)),
            (rect(33, 33, 1, 1), 0.25, rect(8, 8, 1, 1)),
            (rect(10, 10, 1, 1), 4.0, rect(40, 40, 4, 4)),
        ] {
            let marks = Marks::place(&report(400, 300, &[area]), scale);
            assert_eq!(marks.boxes, [shown], "{area} at {scale}");
        }
    }

    #[test]
    fn a_strip_gets_a_border_with_room_for_its_number() {
        let marks = Marks::place(&report(1000, 1, &[rect(100, 0, 300, 1)]), 0.8);
        assert_eq!((marks.border_px, marks.canvas), (21, Size::new(842, 43).unwrap()));
        assert_eq!(marks.tabs[0], Some(rect(97, 1, 17, 17)));
    }

    /// Areas in a grid of cells, so that they are disjoint.
    fn grids() -> impl Strategy<Value = (u32, u32, Vec<Rect>)> {
        let cell = (0..20u32, 0..20u32, 1..60u32, 1..60u32, any::<bool>());
        (1..12u32, 1..12u32, prop::collection::vec(cell, 144)).prop_map(|(columns, rows, cells)| {
            let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row)));
            let rects =
                places.zip(cells).filter(|(_, cell)| cell.4).map(|((column, row), cell)| {
                    let (x, y) = (column * 64 + cell.0, row * 64 + cell.1);
                    rect(x, y, cell.2.min(64 - cell.0), cell.3.min(64 - cell.1))
                });
            (columns * 64, rows * 64, rects.collect())
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn numbers_stay_inside_and_off_their_area((width, height, rects) in grids(), scale in 0.2f32..2.0) {
            let marks = Marks::place(&report(width, height, &rects), scale);
            prop_assert_eq!(marks.boxes.len(), rects.len());
            for (index, (tab, shown)) in marks.tabs.iter().zip(&marks.boxes).enumerate() {
                prop_assert!(tab.is_some() || index >= CROPPED_AREAS, "number {} is missing", index + 1);
                let Some(tab) = tab else { continue };
                prop_assert!(marks.canvas.rect().contains_rect(*tab));
                prop_assert!(tab.intersection(*shown).is_none(), "{} covers {}", tab, shown);
                let hides = |other: &Rect| tab.intersection(*other).is_some();
                prop_assert!(index < CROPPED_AREAS || !marks.boxes.iter().any(hides));
            }
        }

        #[test]
        fn outlines_are_whole((width, height, rects) in grids(), scale in 0.2f32..2.0) {
            let marks = Marks::place(&report(width, height, &rects), scale);
            for shown in &marks.boxes {
                let ring = shown.grown(marks.style.ring_px(), marks.canvas);
                prop_assert_eq!(ring.pixels(), grown_pixels(*shown, marks.style.ring_px()));
            }
        }
    }
}
