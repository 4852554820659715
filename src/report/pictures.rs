//! The pictures of a report: an overview with numbered outlines, and crops before and after.
//!
//! Only here is a frame in another channel order converted, and only the part a picture shows.

use crate::error::{Error, Result};
use crate::frame::FrameRef;

use super::ChangeReport;
use super::marks::Marks;
use super::overview::marked;
use super::resize::copy;
use super::shots::{Picture, Role, Shot, shots, whole_shot};

/// Draws the pictures of `report` in the order they should be looked at; see [`shots`].
///
/// ```
/// use seechange::report::{DiffOptions, Preset, Role, compare, pictures};
/// use seechange::{Frame, PixelFormat, Size};
/// let before = Frame::filled(Size::new(640, 400)?, PixelFormat::Rgba, [255, 255, 255, 255]);
/// let mut after = before.clone();
/// after.data_mut()[..4 * 20].fill(0); // twenty pixels of the first row
/// let options = DiffOptions::preset(Preset::Live);
/// let report = compare(before.as_ref(), after.as_ref(), &options)?;
/// let drawn = pictures(&report, before.as_ref(), after.as_ref())?;
/// let roles: Vec<Role> = drawn.iter().map(|picture| picture.shot.role).collect();
/// assert_eq!(roles, [Role::Overview, Role::Before, Role::After]);
/// assert_eq!(drawn[1].frame.size(), Size::new(32 * 4, 13 * 4)?);
/// # Ok::<(), seechange::Error>(())
/// ```
///
/// # Errors
/// When the frames are not those of the report.
pub fn pictures(
    report: &ChangeReport,
    before: FrameRef<'_>,
    after: FrameRef<'_>,
) -> Result<Vec<Picture>> {
    for (name, frame, size) in [("before", before, report.before), ("after", after, report.after)] {
        if frame.size() != size {
            return Err(Error::usage(format!(
                "the frame {name} is {} and the report is of one of {size}",
                frame.size()
            )));
        }
    }
    let draw = |shot: Shot| {
        let source = if shot.role == Role::Before { before } else { after };
        let mut frame = copy(source.crop(shot.rect)?, shot.drawn_size())?;
        if shot.is_marked {
            frame = marked(frame, &Marks::place(report, shot.scale));
        }
        Ok(Picture { shot, frame })
    };
    shots(report, false).into_iter().map(draw).collect()
}

/// The whole frame after, without a mark: the one picture after a page navigated.
///
/// # Errors
/// When memory for the smaller copy runs out.
pub fn whole_picture(after: FrameRef<'_>) -> Result<Picture> {
    let shot = whole_shot(after.size());
    Ok(Picture { shot, frame: copy(after, shot.drawn_size())? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Frame, PixelFormat};
    use crate::geometry::{Point, Rect, Size};
    use crate::report::{DiffOptions, Preset, compare};

    const WHITE: [u8; 4] = [255, 255, 255, 255];
    const STRONG: [u8; 4] = [226, 0, 96, 255];
    const BLUE: [u8; 4] = [10, 60, 200, 255];
    const GREY: [u8; 4] = [90, 90, 90, 255];

    fn rect(x: u32, y: u32, width: u32, height: u32) -> Rect {
        Rect::new(x, y, width, height).unwrap()
    }

    fn frame(width: u32, height: u32, format: PixelFormat, boxes: &[Rect]) -> Frame {
        let mut frame = Frame::filled(Size::new(width, height).unwrap(), format, GREY);
        for part in boxes {
            for (x, y) in pixels_of(*part) {
                let at = (y * width + x) as usize * 4;
                frame.data_mut()[at..at + 4].copy_from_slice(&format.rgba(BLUE));
            }
        }
        frame
    }

    fn pixels_of(part: Rect) -> impl Iterator<Item = (u32, u32)> {
        (part.y()..part.bottom()).flat_map(move |y| (part.x()..part.right()).map(move |x| (x, y)))
    }

    fn draw(width: u32, height: u32, format: PixelFormat, boxes: &[Rect]) -> Vec<Picture> {
        let before = frame(width, height, format, &[]);
        let after = frame(width, height, format, boxes);
        let options = DiffOptions::preset(Preset::Live);
        let report = compare(before.as_ref(), after.as_ref(), &options).unwrap();
        pictures(&report, before.as_ref(), after.as_ref()).unwrap()
    }

    fn pixel(picture: &Picture, x: u32, y: u32) -> [u8; 4] {
        picture.frame.as_ref().rgba(Point::new(x, y))
    }

    #[test]
    fn outlines_lie_outside_and_the_number_beside() {
        let area = rect(100, 100, 50, 20);
        let drawn = draw(400, 300, PixelFormat::Rgba, &[area]);
        let overview = &drawn[0];
        assert_eq!(overview.frame.size(), Size::new(400, 300).unwrap());
        assert!(pixels_of(area).all(|(x, y)| pixel(overview, x, y) == BLUE));
        // From the box to the right, then from the box down: bright, two strong, bright, the rest.
        for (distance, colour) in [(0, WHITE), (1, STRONG), (2, STRONG), (3, WHITE), (4, GREY)] {
            assert_eq!(pixel(overview, area.right() + distance, 110), colour);
            assert_eq!(pixel(overview, 140, area.bottom() + distance), colour);
        }
        // The number's tab: its bright edge, its colour, some bright pixels of the digit.
        assert_eq!(pixel(overview, 96, 80), WHITE);
        assert_eq!(pixel(overview, 97, 81), STRONG);
        let digit =
            pixels_of(rect(98, 82, 13, 13)).filter(|(x, y)| pixel(overview, *x, *y) == WHITE);
        assert_eq!(digit.count(), 31);
    }

    #[test]
    fn no_outline_is_drawn_inside_another_area() {
        let boxes = [rect(100, 100, 40, 40), rect(149, 100, 40, 40), rect(100, 149, 40, 40)];
        // At 0.2 the areas lie two pixels apart, nearer than their outlines reach.
        let small = boxes.map(|area| rect(area.x() * 5, area.y() * 5, area.width() * 5, 200));
        for (drawn, boxes) in [
            (draw(400, 300, PixelFormat::Rgba, &boxes), boxes),
            (
                draw(2000, 1500, PixelFormat::Rgba, &small),
                boxes.map(|area| rect(area.x() * 2, area.y() * 2, 80, 80)),
            ),
        ] {
            let middle = boxes
                .map(|area| rect(area.x() + 2, area.y() + 2, area.width() - 4, area.height() - 4));
            for area in middle {
                assert!(pixels_of(area).all(|(x, y)| pixel(&drawn[0], x, y) == BLUE), "{area}");
            }
        }
    }

    #[test]
    fn crops_are_sharp_when_enlarged() {
        let drawn = draw(400, 300, PixelFormat::Rgba, &[rect(100, 100, 10, 10)]);
        let (before, after) = (&drawn[1], &drawn[2]);
        assert_eq!((before.shot.role, after.shot.role), (Role::Before, Role::After));
        assert_eq!(after.frame.size(), Size::new(136, 136).unwrap());
        let area = rect(48, 48, 40, 40);
        for (x, y) in pixels_of(after.frame.size().rect()) {
            let changed = area.contains(Point::new(x, y));
            assert_eq!(pixel(after, x, y), if changed { BLUE } else { GREY }, "({x}, {y})");
            assert_eq!(pixel(before, x, y), GREY, "({x}, {y})");
        }
    }

    #[test]
    fn channel_order_makes_no_difference() {
        let boxes = [rect(0, 0, 20, 20), rect(300, 500, 300, 60), rect(600, 100, 290, 250)];
        let rgba = draw(900, 600, PixelFormat::Rgba, &boxes);
        let bgrx = draw(900, 600, PixelFormat::Bgrx, &boxes);
        assert_eq!(rgba.len(), 7);
        for (one, other) in rgba.iter().zip(&bgrx) {
            assert_eq!((one.shot, one.frame == other.frame), (other.shot, true));
        }
    }

    #[test]
    fn a_change_of_most_shows_the_whole_frame_unmarked() {
        let boxes = [rect(0, 0, 400, 160)];
        let drawn = draw(400, 300, PixelFormat::Bgrx, &boxes);
        assert_eq!(drawn.len(), 1);
        assert_eq!(drawn[0].frame, frame(400, 300, PixelFormat::Rgba, &boxes));
    }

    #[test]
    fn a_frame_of_another_report_is_refused() {
        let before = frame(40, 30, PixelFormat::Rgba, &[]);
        let after = frame(40, 31, PixelFormat::Rgba, &[]);
        let options = DiffOptions::preset(Preset::Live);
        let report = compare(before.as_ref(), before.as_ref(), &options).unwrap();
        let error = pictures(&report, before.as_ref(), after.as_ref()).unwrap_err();
        assert_eq!(error.to_string(), "the frame after is 40x31 and the report is of one of 40x30");
    }
}
