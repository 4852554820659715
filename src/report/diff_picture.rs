//! The picture of which pixels differ.

use crate::diff::{ChangeMask, Rendered};
use crate::error::Result;
use crate::frame::{BYTES_PER_PIXEL, Frame, FrameRef};
use crate::geometry::{Point, Rect};

use super::pictures::Picture;
use super::resize::opaque;
use super::shots::{Role, Shot};
use super::{ChangeReport, DiffOptions, Differ};

/// Pixels that changed.
const CHANGED: [u8; 3] = [226, 0, 96];

/// Pixels that changed because a block moved here.
const MOVED: [u8; 3] = [0, 92, 214];

/// Pixels that differ and do not count: specks, carets, anti-aliasing.
const SET_ASIDE: [u8; 3] = [255, 150, 0];

/// Which pixels differ: the frame after, grey and faded, with changed pixels in red, those set
/// aside (specks, carets, anti-aliasing) in orange, those explained by a block that moved in blue,
/// and what the scope leaves out dark.
///
/// Frames of different sizes are compared where they overlap; what only the frame after has counts
/// as changed.
///
/// # Errors
/// When the scope does not fit the frames.
pub fn diff_picture(
    before: FrameRef<'_>,
    after: FrameRef<'_>,
    options: &DiffOptions,
) -> Result<Picture> {
    let mut differ = Differ::new(options.clone().common_part(true));
    let report = differ.compare(before, after)?;
    let mut frame = faded(after);
    if let Some((_, bounds, scope)) = &differ.scope {
        darken_outside(&mut frame, &report, *bounds, scope);
        let changed = differ.differences.changed();
        let antialiased = differ.differences.antialiased();
        let seen = |rect: Rect| rect.moved(-signed(bounds.x()), -signed(bounds.y()));
        if !report.moved.is_empty() {
            let mut plain = Differ::new(options.clone().common_part(true).moved(false));
            plain.compare(before, after)?;
            for local in report.moved.iter().filter_map(|block| seen(block.to)) {
                paint(&mut frame, plain.differences.changed(), *bounds, local, MOVED);
            }
        }
        paint(&mut frame, changed, *bounds, bounds.size().rect(), SET_ASIDE);
        if !antialiased.is_empty() {
            paint(&mut frame, antialiased, *bounds, bounds.size().rect(), SET_ASIDE);
        }
        for area in &report.areas {
            if let Some(local) = seen(area.rect) {
                paint(&mut frame, changed, *bounds, local, CHANGED);
            }
        }
    }
    paint_new_parts(&mut frame, &report);
    Ok(Picture { shot: Shot::plain(Role::Diff, after.size().rect(), 1.0), frame })
}

/// Grey and pale, so that the two colours stand out from anything.
fn faded(after: FrameRef<'_>) -> Frame {
    let mut frame = opaque(after);
    for pixel in frame.data_mut().chunks_exact_mut(BYTES_PER_PIXEL) {
        let grey = 160 + luma(pixel) / 3;
        pixel[..3].fill(grey);
    }
    frame
}

/// BT.601, in 256ths.
fn luma(pixel: &[u8]) -> u8 {
    let [red, green, blue] = [pixel[0], pixel[1], pixel[2]].map(u16::from);
    // The weights sum to 256, so the high byte of the sum is a mean of bytes.
    ((red * 77 + green * 150 + blue * 29) >> 8).to_le_bytes()[0]
}

fn darken_outside(frame: &mut Frame, report: &ChangeReport, bounds: Rect, scope: &Rendered) {
    if scope.is_everything() && bounds == report.before.common(report.after).rect() {
        return;
    }
    let common = report.before.common(report.after).rect();
    for y in 0..common.height() {
        for x in 0..common.width() {
            let point = Point::new(x, y);
            let local = Point::new(x.wrapping_sub(bounds.x()), y.wrapping_sub(bounds.y()));
            if !bounds.contains(point) || !scope.compared.get(local) {
                let pixel = pixel_mut(frame, point);
                let grey = pixel[0] - 100;
                pixel[..3].fill(grey);
            }
        }
    }
}

/// Colours the pixels of `mask` inside `part`; both are seen from the corner of `bounds`.
fn paint(frame: &mut Frame, mask: &ChangeMask, bounds: Rect, part: Rect, colour: [u8; 3]) {
    for y in part.y()..part.bottom() {
        for (start, end) in mask.runs_between(y, part.x(), part.right()) {
            for x in start..end {
                let point = Point::new(bounds.x() + x, bounds.y() + y);
                pixel_mut(frame, point)[..3].copy_from_slice(&colour);
            }
        }
    }
}

/// What lies outside the frame before.
fn paint_new_parts(frame: &mut Frame, report: &ChangeReport) {
    let old = report.before.rect();
    for y in 0..report.after.height() {
        let from = if y < old.bottom() { old.right() } else { 0 };
        for x in from..report.after.width() {
            pixel_mut(frame, Point::new(x, y))[..3].copy_from_slice(&CHANGED);
        }
    }
}

fn pixel_mut(frame: &mut Frame, point: Point) -> &mut [u8] {
    let at =
        (point.y as usize * frame.size().width() as usize + point.x as usize) * BYTES_PER_PIXEL;
    &mut frame.data_mut()[at..at + BYTES_PER_PIXEL]
}

/// Coordinates stay below 2^20.
fn signed(coordinate: u32) -> i32 {
    coordinate.cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::Scope;
    use crate::frame::PixelFormat;
    use crate::geometry::Size;
    use crate::report::Preset;

    fn rect(x: u32, y: u32, width: u32, height: u32) -> Rect {
        Rect::new(x, y, width, height).unwrap()
    }

    fn frame(width: u32, height: u32, boxes: &[Rect]) -> Frame {
        let size = Size::new(width, height).unwrap();
        let mut frame = Frame::filled(size, PixelFormat::Bgrx, [255, 255, 255, 255]);
        for part in boxes {
            for y in part.y()..part.bottom() {
                for x in part.x()..part.right() {
                    pixel_mut(&mut frame, Point::new(x, y))[..3].fill(0);
                }
            }
        }
        frame
    }

    #[test]
    fn every_pixel_has_the_colour_of_what_became_of_it() {
        let (area, speck, caret) = (rect(20, 10, 9, 5), rect(60, 10, 2, 2), rect(80, 30, 1, 16));
        let masked = rect(0, 40, 30, 20);
        let before = frame(100, 60, &[rect(50, 50, 5, 5)]);
        let after = frame(100, 60, &[area, speck, caret, rect(5, 45, 9, 9), rect(50, 50, 5, 5)]);
        let options = DiffOptions::preset(Preset::Live).scope(Scope::everything().ignore(masked));
        let picture = diff_picture(before.as_ref(), after.as_ref(), &options).unwrap();
        for (x, y) in (0..60).flat_map(|y| (0..100).map(move |x| (x, y))) {
            let at = Point::new(x, y);
            let black = after.as_ref().rgba(at)[0] == 0;
            let wanted = if area.contains(at) {
                CHANGED
            } else if speck.contains(at) || caret.contains(at) {
                SET_ASIDE
            } else {
                let shade = if masked.contains(at) { 100 } else { 0 };
                [if black { 160 } else { 245 } - shade; 3]
            };
            assert_eq!(picture.frame.as_ref().rgba(at)[..3], wanted, "{at}");
        }
    }

    #[test]
    fn a_block_that_moved_is_blue_and_what_it_left_is_red() {
        let (there, here) = (rect(10, 10, 30, 20), rect(70, 30, 30, 20));
        let (before, after) = (frame(120, 60, &[there]), frame(120, 60, &[here]));
        let options = DiffOptions::preset(Preset::Exact);
        let picture = diff_picture(before.as_ref(), after.as_ref(), &options).unwrap();
        for (x, y) in (0..60).flat_map(|y| (0..120).map(move |x| (x, y))) {
            let at = Point::new(x, y);
            let wanted = match () {
                () if there.contains(at) => CHANGED,
                () if here.contains(at) => MOVED,
                () => [245; 3],
            };
            assert_eq!(picture.frame.as_ref().rgba(at)[..3], wanted, "{at}");
        }
    }

    #[test]
    fn a_region_leaves_the_rest_dark() {
        let (before, after) = (frame(40, 30, &[]), frame(40, 30, &[rect(10, 10, 5, 5)]));
        let scope = Scope::everything().region(rect(8, 8, 10, 5));
        let options = DiffOptions::preset(Preset::Exact).scope(scope);
        let picture = diff_picture(before.as_ref(), after.as_ref(), &options).unwrap();
        for (x, y, colour) in [
            (8, 8, [245; 3]),
            (10, 10, CHANGED),
            (10, 12, CHANGED),
            (10, 13, [60; 3]),
            (7, 8, [145; 3]),
        ] {
            assert_eq!(picture.frame.as_ref().rgba(Point::new(x, y))[..3], colour, "({x}, {y})");
        }
    }

    #[test]
    fn what_only_the_new_frame_has_is_changed() {
        let (before, after) = (frame(40, 30, &[]), frame(42, 31, &[rect(5, 5, 5, 5)]));
        let options = DiffOptions::preset(Preset::Golden);
        let picture = diff_picture(before.as_ref(), after.as_ref(), &options).unwrap();
        for (x, y, colour) in [
            (0, 0, [245; 3]),
            (5, 5, CHANGED),
            (39, 29, [245; 3]),
            (40, 0, CHANGED),
            (41, 30, CHANGED),
            (0, 30, CHANGED),
        ] {
            assert_eq!(picture.frame.as_ref().rgba(Point::new(x, y))[..3], colour, "({x}, {y})");
        }
    }
}
