//! Where in a frame is a smaller picture?
//!
//! A few *probes*, the pixels of the rarest colours of the template, throw nearly every place out
//! at the first or second comparison; what is left is compared pixel by pixel. Transparent pixels
//! of the template match anything.

use std::collections::HashMap;

use crate::diff::Tolerance;
use crate::error::{Error, Result};
use crate::frame::{BYTES_PER_PIXEL, Frame, FrameRef};
use crate::geometry::{Point, Rect};

/// How many probes are tried before the whole template.
const PROBES: usize = 12;

/// A picture to be looked for.
#[derive(Clone, Debug)]
pub(super) struct Template {
    picture: Frame,
    tolerance: Tolerance,
    /// How many pixels may lie beyond the tolerance.
    budget: u64,
    probes: Vec<(Point, [u8; 4])>,
}

impl Template {
    /// # Errors
    /// When every pixel of `picture` is transparent.
    pub(super) fn new(picture: Frame, tolerance: Tolerance, budget: u64) -> Result<Self> {
        let probes = probes(picture.as_ref());
        if probes.is_empty() {
            return Err(Error::usage("every pixel of the reference is transparent"));
        }
        Ok(Self { picture, tolerance, budget, probes })
    }

    pub(super) const fn picture(&self) -> &Frame {
        &self.picture
    }

    /// The first place, top to bottom and left to right, inside one of `regions` and clear of
    /// every box of `ignored` where the template is.
    pub(super) fn find(&self, frame: &Frame, regions: &[Rect], ignored: &[Rect]) -> Option<Rect> {
        let size = self.picture.size();
        let all = [frame.size().rect()];
        let regions = if regions.is_empty() { &all } else { regions };
        let fitting = regions.iter().filter_map(|region| {
            let region = region.intersection(frame.size().rect())?;
            let right = (region.right() + 1).checked_sub(size.width())?;
            let bottom = (region.bottom() + 1).checked_sub(size.height())?;
            Rect::from_edges(region.x(), region.y(), right, bottom)
        });
        let is_clear = |place: Rect| !ignored.iter().any(|out| out.intersection(place).is_some());
        let first = |corners: Rect| self.find_corner(frame.as_ref(), corners, &is_clear);
        fitting.filter_map(first).min_by_key(|place| (place.y(), place.x()))
    }

    /// The first corner inside `corners` at which the template is.
    fn find_corner(
        &self,
        frame: FrameRef<'_>,
        corners: Rect,
        is_clear: &dyn Fn(Rect) -> bool,
    ) -> Option<Rect> {
        let &(probe, colour) = self.probes.first()?;
        for y in corners.y()..corners.bottom() {
            let row = pixels(frame, y + probe.y);
            let row = &row[(corners.x() + probe.x) as usize..(corners.right() + probe.x) as usize];
            for (&pixel, x) in row.iter().zip(corners.x()..) {
                if self.tolerance.differs(colour, frame.format().rgba(pixel)) && self.budget == 0 {
                    continue;
                }
                let size = self.picture.size();
                let place = Rect::new(x, y, size.width(), size.height()).ok()?;
                if self.is_at(frame, place) && is_clear(place) {
                    return Some(place);
                }
            }
        }
        None
    }

    fn is_at(&self, frame: FrameRef<'_>, place: Rect) -> bool {
        let mut left = self.budget;
        let mut forgive = |differs: bool| {
            if differs && left == 0 {
                return false;
            }
            left -= u64::from(differs);
            true
        };
        let at = |point: Point| frame.rgba(Point::new(place.x() + point.x, place.y() + point.y));
        let differs =
            |wanted: [u8; 4], seen: [u8; 4]| wanted[3] > 0 && self.tolerance.differs(wanted, seen);
        let probed: u64 =
            self.probes.iter().map(|&(point, colour)| u64::from(differs(colour, at(point)))).sum();
        if probed > self.budget {
            return false;
        }
        (0..place.height()).all(|y| {
            let wanted = pixels(self.picture.as_ref(), y);
            let seen = &pixels(frame, place.y() + y)[place.x() as usize..place.right() as usize];
            let rgba = |(&wanted, &seen): (&[u8; 4], &[u8; 4])| {
                (self.picture.format().rgba(wanted), frame.format().rgba(seen))
            };
            wanted.iter().zip(seen).map(rgba).all(|(wanted, seen)| forgive(differs(wanted, seen)))
        })
    }
}

fn pixels(frame: FrameRef<'_>, y: u32) -> &[[u8; BYTES_PER_PIXEL]] {
    frame.row(y).as_chunks().0
}

/// The pixels of the rarest colours, one or two a colour.
fn probes(picture: FrameRef<'_>) -> Vec<(Point, [u8; 4])> {
    let mut places: HashMap<[u8; 4], (u32, Point, Point)> = HashMap::new();
    for y in 0..picture.size().height() {
        for x in 0..picture.size().width() {
            let point = Point::new(x, y);
            let colour = picture.rgba(point);
            let place = places.entry(colour).or_insert((0, point, point));
            place.0 += 1;
            place.2 = point;
        }
    }
    let mut rarest: Vec<_> = places.into_iter().filter(|(colour, _)| colour[3] > 0).collect();
    rarest.sort_by_key(|(_, (count, first, _))| (*count, first.y, first.x));
    let firsts = rarest.iter().map(|&(colour, (_, first, _))| (first, colour));
    let lasts = rarest.iter().map(|&(colour, (_, _, last))| (last, colour));
    firsts.take(PROBES / 2).chain(lasts.take(PROBES / 2)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::PixelFormat;
    use crate::geometry::Size;

    fn noise(width: u32, height: u32, format: PixelFormat) -> Frame {
        let mut frame =
            Frame::filled(Size::new(width, height).unwrap(), format, [240, 240, 240, 255]);
        for (index, pixel) in frame.data_mut().chunks_exact_mut(4).enumerate() {
            if index % 3 == 0 {
                let mixed = (index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
                pixel[..3].fill(mixed.to_be_bytes()[0]);
            }
        }
        frame
    }

    #[test]
    fn a_template_is_found_where_it_was_cut_and_nowhere_else() {
        for format in [PixelFormat::Rgba, PixelFormat::Bgrx] {
            let frame = noise(90, 70, format);
            for place in ["0,0,9,9", "81,61,9,9", "33,17,20,11", "0,69,90,1"] {
                let place: Rect = place.parse().unwrap();
                let cut = frame.crop(place).unwrap().to_rgba();
                let template = Template::new(cut, Tolerance::Exact, 0).unwrap();
                assert_eq!(template.find(&frame, &[], &[]), Some(place), "{format:?} {place}");
                assert_eq!(template.find(&frame, &[], &[place]), None, "{place} left out");
                let elsewhere: Rect = "5,30,20,30".parse().unwrap();
                assert_eq!(template.find(&frame, &[elsewhere], &[]), None, "{place}");
                assert_eq!(template.find(&frame, &[elsewhere, place], &[]), Some(place));
            }
        }
    }

    #[test]
    fn tolerance_budget_and_transparency_forgive_what_they_say() {
        let frame = noise(60, 50, PixelFormat::Rgba);
        let place: Rect = "21,14,12,10".parse().unwrap();
        for (levels, pixels, alpha, tolerance, budget, found) in [
            (8, 120, 255, "channel:8", 0, true),
            (9, 1, 255, "channel:8", 0, false),
            (90, 3, 255, "channel:8", 3, true),
            (90, 4, 255, "channel:8", 3, false),
            (90, 9, 0, "exact", 0, true),
        ] {
            let mut cut = frame.crop(place).unwrap();
            for pixel in cut.data_mut().chunks_exact_mut(4).take(pixels) {
                pixel[0] = if pixel[0] > 120 { pixel[0] - levels } else { pixel[0] + levels };
                pixel[3] = alpha;
            }
            let template = Template::new(cut, tolerance.parse().unwrap(), budget).unwrap();
            let expected = found.then_some(place);
            assert_eq!(template.find(&frame, &[], &[]), expected, "{levels} {pixels} {tolerance}");
        }
        let clear = Frame::filled(place.size(), PixelFormat::Rgba, [1, 2, 3, 0]);
        assert!(Template::new(clear, Tolerance::Exact, 0).is_err());
    }
}
