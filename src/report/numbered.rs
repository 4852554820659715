//! A picture with things outlined and numbered by numbers of their own: a set of marks.

use crate::diff::ChangeMask;
use crate::error::Result;
use crate::frame::{Frame, FrameRef};
use crate::geometry::{Point, Rect};

use super::canvas::Canvas;
use super::marks::{Style, place_numbers};
use super::overview::{BRIGHT, STRONG, draw_tab, outline};

/// Neighbours that differ by more than this in a channel are an edge: text, or a line.
const EDGE_DELTA: u8 = 40;

/// `frame` with each box outlined and its number beside it. Outlines and numbers lie where they
/// cover no text, numbers no other number, as far as there is such a place; nothing is cut off and
/// the picture has the frame's size, so that its pixels are the frame's.
///
/// # Errors
/// When a box reaches outside the frame.
pub(crate) fn numbered(frame: FrameRef<'_>, boxes: &[(usize, Rect)]) -> Result<Frame> {
    for (_, rect) in boxes {
        frame.crop(*rect)?;
    }
    let ink = edges(frame);
    let style = Style::of(boxes.len());
    let tabs = place_numbers(frame.size(), boxes, &ink, style);
    let mut picture = frame.to_rgba();
    let mut canvas = Canvas::sparing(&mut picture, &ink);
    for (_, rect) in boxes {
        outline(&mut canvas, *rect, 0, Style::HALO_PX + style.line_px, BRIGHT);
        outline(&mut canvas, *rect, 0, style.line_px, STRONG);
    }
    let mut canvas = Canvas::new(&mut picture);
    for ((number, _), tab) in boxes.iter().zip(tabs) {
        if let Some(tab) = tab {
            draw_tab(&mut canvas, tab, *number, style);
        }
    }
    Ok(picture)
}

/// Pixels that differ from the one to the left or above.
fn edges(frame: FrameRef<'_>) -> ChangeMask {
    let size = frame.size();
    let mut mask = ChangeMask::default();
    mask.clear(size);
    let at = |x: u32, y: u32| frame.rgba(Point::new(x, y));
    for y in 0..size.height() {
        for x in 0..size.width() {
            let here = at(x, y);
            let is_edge =
                (x > 0 && differs(here, at(x - 1, y))) || (y > 0 && differs(here, at(x, y - 1)));
            if is_edge {
                mask.set(Point::new(x, y));
            }
        }
    }
    mask
}

fn differs(one: [u8; 4], other: [u8; 4]) -> bool {
    (0..3).any(|channel| one[channel].abs_diff(other[channel]) > EDGE_DELTA)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::PixelFormat;
    use crate::geometry::Size;

    fn rect(text: &str) -> Rect {
        text.parse().unwrap()
    }

    #[test]
    fn a_number_covers_no_text_where_there_is_another_place() {
        let size = Size::new(300, 100).unwrap();
        let mut frame = Frame::filled(size, PixelFormat::Rgba, [255; 4]);
        // Stripes above the box, like a line of text.
        for y in 20..40 {
            for x in (0..300).step_by(3) {
                let at = (y * 300 + x) * 4;
                frame.data_mut()[at..at + 3].fill(0);
            }
        }
        let picture = numbered(frame.as_ref(), &[(7, rect("100,42,80,20"))]).unwrap();
        assert_eq!(picture.size(), size);
        let text = rect("0,20,300,20");
        assert_eq!(picture.crop(text).unwrap().data(), frame.crop(text).unwrap().data());
        assert_ne!(picture.data(), frame.data());
    }

    #[test]
    fn every_box_gets_its_number_and_numbers_lie_apart() {
        let size = Size::new(200, 200).unwrap();
        let boxes: Vec<(usize, Rect)> = (0..9)
            .map(|n| (n + 1, rect(&format!("{},{},60,60", n % 3 * 66, n / 3 * 66))))
            .collect();
        let mut ink = ChangeMask::default();
        ink.clear(size);
        let tabs = place_numbers(size, &boxes, &ink, Style::of(boxes.len()));
        let tabs: Vec<Rect> = tabs.into_iter().flatten().collect();
        assert_eq!(tabs.len(), 9);
        for (index, tab) in tabs.iter().enumerate() {
            assert!(size.rect().contains_rect(*tab));
            assert!(tabs[..index].iter().all(|other| other.intersection(*tab).is_none()));
        }
    }

    #[test]
    fn a_box_outside_is_an_error() {
        let frame = Frame::filled(Size::ONE, PixelFormat::Rgba, [255; 4]);
        assert!(numbered(frame.as_ref(), &[(1, rect("0,0,2,1"))]).is_err());
    }
}
