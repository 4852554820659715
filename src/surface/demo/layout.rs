//! Where everything stands in the simulated window, in pixels at scale 1.

use embedded_graphics::geometry::{Point, Size};
use embedded_graphics::primitives::Rectangle;

pub(super) const WINDOW: Rectangle = at(0, 0, 640, 400);
pub(super) const TITLE_BAR: Rectangle = at(0, 0, 640, 26);
pub(super) const TOOLBAR: Rectangle = at(0, 26, 640, 38);
pub(super) const MENU_BUTTON: Rectangle = at(12, 33, 64, 24);
pub(super) const SAVE_BUTTON: Rectangle = at(540, 33, 88, 24);
pub(super) const STATUS: Rectangle = at(392, 33, 140, 24);
pub(super) const LIST: Rectangle = at(0, 64, 192, 336);
pub(super) const FIELD: Rectangle = at(208, 92, 420, 28);
pub(super) const SKETCH: Rectangle = at(208, 152, 420, 104);
pub(super) const JOURNAL: Rectangle = at(208, 288, 420, 100);
pub(super) const TOAST: Rectangle = at(12, 356, 168, 32);

/// The most notes the list holds.
pub(super) const MAX_NOTES: usize = 8;
pub(super) const ROW_HEIGHT: i32 = 30;
pub(super) const ROWS_TOP: i32 = 96;

pub(super) const MENU_ITEMS: [&str; 3] = ["New note", "Duplicate", "Clear sketch"];
pub(super) const ITEM_HEIGHT: i32 = 26;
const MENU_WIDTH: u32 = 132;

/// A character of the field, and how many fit.
pub(super) const CHARACTER_WIDTH: i32 = 8;
pub(super) const FIELD_ROOM: usize = 50;
pub(super) const FIELD_PADDING: i32 = 10;

/// Lines of the journal, and how many are shown.
pub(super) const LINE_HEIGHT: i32 = 16;
pub(super) const LINES_SHOWN: usize = 6;

/// What the pointer is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    MenuButton,
    MenuItem(usize),
    Save,
    Field,
    Row(usize),
    Sketch,
    Journal,
    Nothing,
}

/// What stands at `point`; an open menu, whose corner is given, lies on top.
pub(super) fn target_at(point: Point, menu: Option<Point>, notes: usize) -> Target {
    let item = menu.and_then(|corner| {
        (0..MENU_ITEMS.len()).find(|&index| menu_item(corner, index).contains(point))
    });
    if let Some(index) = item {
        return Target::MenuItem(index);
    }
    if let Some(index) = (0..notes).find(|&index| row(index).contains(point)) {
        return Target::Row(index);
    }
    let places = [
        (MENU_BUTTON, Target::MenuButton),
        (SAVE_BUTTON, Target::Save),
        (FIELD, Target::Field),
        (SKETCH, Target::Sketch),
        (JOURNAL, Target::Journal),
    ];
    let hit = places.iter().find(|(place, _)| place.contains(point));
    hit.map_or(Target::Nothing, |(_, target)| *target)
}

/// The row of a note.
pub(super) fn row(index: usize) -> Rectangle {
    at(0, ROWS_TOP + steps(index, ROW_HEIGHT), LIST.size.width, ROW_HEIGHT.unsigned_abs())
}

/// The row whose middle is nearest to `y`.
pub(super) fn row_near(y: i32, notes: usize) -> usize {
    let row = (y - ROWS_TOP).div_euclid(ROW_HEIGHT);
    usize::try_from(row).unwrap_or(0).min(notes.saturating_sub(1))
}

/// The whole menu that opens at `corner`.
pub(super) fn menu(corner: Point) -> Rectangle {
    let height = steps(MENU_ITEMS.len(), ITEM_HEIGHT) + 8;
    Rectangle::new(corner, Size::new(MENU_WIDTH, height.unsigned_abs()))
}

pub(super) fn menu_item(corner: Point, index: usize) -> Rectangle {
    let top = corner + Point::new(0, 4 + steps(index, ITEM_HEIGHT));
    Rectangle::new(top, Size::new(MENU_WIDTH, ITEM_HEIGHT.unsigned_abs()))
}

/// The nearest corner to `point` at which a menu stays inside the window.
pub(super) fn menu_corner(point: Point) -> Point {
    let room = WINDOW.size - menu(point).size;
    point.component_min(Point::new(room.width.cast_signed(), room.height.cast_signed()))
}

/// Left edge of a character of the field, counted from the first one shown.
pub(super) fn character_x(shown: usize) -> i32 {
    FIELD.top_left.x + FIELD_PADDING + steps(shown, CHARACTER_WIDTH)
}

/// How many shown characters lie left of `x`: where a click puts the caret.
pub(super) fn characters_before(x: i32) -> usize {
    let pixels = x - character_x(0) + CHARACTER_WIDTH / 2;
    usize::try_from(pixels / CHARACTER_WIDTH).unwrap_or(0)
}

/// `count` steps of some pixels; what is counted here never comes near the range of `i32`.
pub(super) fn steps(count: usize, pixels: i32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX / 64) * pixels
}

const fn at(x: i32, y: i32, width: u32, height: u32) -> Rectangle {
    Rectangle::new(Point::new(x, y), Size::new(width, height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_stands_apart_inside_the_window() {
        let rows = row(MAX_NOTES - 1);
        let places = [MENU_BUTTON, STATUS, SAVE_BUTTON, rows, TOAST, FIELD, SKETCH, JOURNAL];
        for (index, one) in places.iter().enumerate() {
            assert_eq!(one.intersection(&WINDOW), *one, "{one:?}");
            for other in &places[index + 1..] {
                assert!(one.intersection(other).is_zero_sized(), "{one:?} and {other:?}");
            }
        }
    }

    #[test]
    fn points_hit_what_they_show() {
        let corner = Point::new(12, 57);
        for (x, y, menu, target) in [
            (20, 40, None, Target::MenuButton),
            (600, 40, None, Target::Save),
            (627, 56, None, Target::Save),
            (628, 56, None, Target::Nothing),
            (20, 96, None, Target::Row(0)),
            (20, 96, Some(corner), Target::MenuItem(1)),
            (20, 96 + 3 * 30, None, Target::Nothing),
            (208, 92, None, Target::Field),
            (300, 200, None, Target::Sketch),
            (300, 300, None, Target::Journal),
            (320, 10, None, Target::Nothing),
        ] {
            assert_eq!(target_at(Point::new(x, y), menu, 3), target, "({x}, {y})");
        }
    }

    #[test]
    fn a_menu_stays_inside() {
        for (point, corner) in [((12, 57), (12, 57)), ((639, 399), (508, 314))] {
            let corner = Point::new(corner.0, corner.1);
            assert_eq!(menu_corner(Point::new(point.0, point.1)), corner);
        }
    }
}
