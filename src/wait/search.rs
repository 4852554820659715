//! Where in a frame is a smaller picture?
//!
//! A few *probes*, the pixels of the rarest colours of the template, throw nearly every place out
//! at the first or second comparison; what is left is compared pixel by pixel. Transparent pixels
//! of the template match anything.
//!
//! Where it is nowhere so, it is looked for once more as if a caret had blinked over it: by probes
//! far enough apart that no caret covers many, of which a third may differ. What only noise
//! separates from the template is it as well, unless it lacks much of the *content*, the pixels
//! that are not of the commonest colour: a dot on blank paper is not seen on blank paper.

use std::collections::HashMap;

use crate::diff::{Antialiasing, Scope, Tolerance};
use crate::error::{Error, Result};
use crate::frame::{BYTES_PER_PIXEL, Frame, FrameRef};
use crate::geometry::{Point, Rect};
use crate::report::{DiffOptions, Differ, Verdict};

/// How many probes are tried before the whole template.
const PROBES: usize = 12;

/// How many pixels of content, and of the commonest colour, are tried where noise is forgiven.
const CONTENT_PROBES: usize = 12;
const BACKGROUND_PROBES: usize = 6;

/// Of the content, and of the probes, one in so many may differ where noise is forgiven.
const MAY_DIFFER: u64 = 3;

/// Two pixels so far apart lie under one caret no more: one more than the largest caret, at scale 1.
const CARET_WIDTH: f32 = 4.0;
const CARET_HEIGHT: f32 = 41.0;

/// The most carets that are forgiven at once.
const MOST_CARETS: f32 = 4.0;

/// A picture to be looked for.
#[derive(Clone, Debug)]
pub(super) struct Template {
    picture: Frame,
    tolerance: Tolerance,
    /// How many pixels may lie beyond the tolerance.
    budget: u64,
    probes: Vec<Probe>,
    noise: Option<Noise>,
}

/// A pixel of the template and its colour.
type Probe = (Point, [u8; 4]);

/// What is needed to find the template under a caret; `None` where everything counts.
#[derive(Clone, Debug)]
struct Noise {
    differ: Differ,
    content: Vec<Probe>,
    background: Vec<Probe>,
    commonest: [u8; 4],
    /// How many pixels of content there are, and how many pixels may differ at most.
    content_pixels: u64,
    most_pixels: u64,
    has_holes: bool,
}

impl Template {
    /// # Errors
    /// When every pixel of `picture` is transparent.
    pub(super) fn new(picture: Frame, options: &DiffOptions) -> Result<Self> {
        let colours = colours(picture.as_ref());
        let probes = probes(&colours);
        if probes.is_empty() {
            return Err(Error::usage("every pixel of the reference is transparent"));
        }
        let noise = Noise::new(&picture, &colours, options);
        let tolerance = options.tolerance_in_force();
        Ok(Self {
            picture,
            tolerance,
            budget: options.max_changed_pixels_in_force(),
            probes,
            noise,
        })
    }

    /// Where the template is: at `last` if it still is there, else the first place, top to bottom
    /// and left to right, inside one of `regions` and clear of every box of `ignored`; places
    /// that equal it come before those that noise separates from it.
    ///
    /// # Errors
    /// Does not fail for a place inside the frame.
    pub(super) fn find(
        &mut self,
        frame: &Frame,
        regions: &[Rect],
        ignored: &[Rect],
        last: Option<Rect>,
    ) -> Result<Option<Rect>> {
        if let Some(last) = last.filter(|last| frame.size().rect().contains_rect(*last))
            && (self.is_at(frame.as_ref(), last) || self.resembles(frame.as_ref(), last)?)
        {
            return Ok(Some(last));
        }
        match self.find_equal(frame, regions, ignored) {
            Some(place) => Ok(Some(place)),
            None => self.find_under_noise(frame, regions, ignored),
        }
    }

    fn find_equal(&self, frame: &Frame, regions: &[Rect], ignored: &[Rect]) -> Option<Rect> {
        let is_clear = |place: Rect| !ignored.iter().any(|out| out.intersection(place).is_some());
        let first = |corners: Rect| self.find_corner(frame.as_ref(), corners, &is_clear);
        let corners = self.corners(frame, regions);
        corners.into_iter().filter_map(first).min_by_key(|place| (place.y(), place.x()))
    }

    fn find_under_noise(
        &mut self,
        frame: &Frame,
        regions: &[Rect],
        ignored: &[Rect],
    ) -> Result<Option<Rect>> {
        let mut found: Option<Rect> = None;
        for corners in self.corners(frame, regions) {
            let first = self.find_noisy_corner(frame.as_ref(), corners, ignored)?;
            found = found.into_iter().chain(first).min_by_key(|place| (place.y(), place.x()));
        }
        Ok(found)
    }

    /// Where the corner of a place can lie, for each region.
    fn corners(&self, frame: &Frame, regions: &[Rect]) -> Vec<Rect> {
        let size = self.picture.size();
        let all = [frame.size().rect()];
        let regions = if regions.is_empty() { &all } else { regions };
        let fitting = regions.iter().filter_map(|region| {
            let region = region.intersection(frame.size().rect())?;
            let right = (region.right() + 1).checked_sub(size.width())?;
            let bottom = (region.bottom() + 1).checked_sub(size.height())?;
            Rect::from_edges(region.x(), region.y(), right, bottom)
        });
        fitting.collect()
    }

    /// The first corner inside `corners` at which only noise separates the frame from the template.
    fn find_noisy_corner(
        &mut self,
        frame: FrameRef<'_>,
        corners: Rect,
        ignored: &[Rect],
    ) -> Result<Option<Rect>> {
        let size = self.picture.size();
        let is_clear = |place: Rect| !ignored.iter().any(|out| out.intersection(place).is_some());
        for y in corners.y()..corners.bottom() {
            for x in corners.x()..corners.right() {
                if !self.may_be_at(frame, Point::new(x, y)) {
                    continue;
                }
                let place = Rect::new(x, y, size.width(), size.height())?;
                if is_clear(place) && self.resembles(frame, place)? {
                    return Ok(Some(place));
                }
            }
        }
        Ok(None)
    }

    /// Whether most probes lie where they should.
    fn may_be_at(&self, frame: FrameRef<'_>, corner: Point) -> bool {
        let Some(noise) = &self.noise else { return false };
        let most_are_there = |probes: &[Probe]| {
            let mut left = probes.len() as u64 / MAY_DIFFER;
            probes.iter().all(|&(point, colour)| {
                let seen = frame.rgba(Point::new(corner.x + point.x, corner.y + point.y));
                let differs = self.tolerance.differs(colour, seen);
                let is_forgiven = !differs || left > 0;
                left -= u64::from(differs && left > 0);
                is_forgiven
            })
        };
        most_are_there(&noise.content) && most_are_there(&noise.background)
    }

    /// Whether only noise, by the rules for a comparison of two frames, separates `place` from the
    /// template.
    fn resembles(&mut self, frame: FrameRef<'_>, place: Rect) -> Result<bool> {
        let part = frame.crop(place)?;
        if !self.keeps_content(part) {
            return Ok(false);
        }
        let Some(noise) = &mut self.noise else { return Ok(false) };
        let report = if noise.has_holes {
            noise.differ.compare(filled(&self.picture, part)?.as_ref(), part)?
        } else {
            noise.differ.compare(self.picture.as_ref(), part)?
        };
        Ok(report.verdict == Verdict::Same)
    }

    /// Whether few pixels differ, and few of those are content.
    fn keeps_content(&self, part: FrameRef<'_>) -> bool {
        let Some(noise) = &self.noise else { return false };
        let (mut differing, mut lost) = (0, 0);
        (0..part.size().height()).all(|y| {
            for (&wanted, &seen) in pixels(self.picture.as_ref(), y).iter().zip(pixels(part, y)) {
                let wanted = self.picture.format().rgba(wanted);
                if wanted[3] > 0 && self.tolerance.differs(wanted, part.format().rgba(seen)) {
                    differing += 1;
                    lost += u64::from(self.tolerance.differs(noise.commonest, wanted));
                }
            }
            differing <= noise.most_pixels && lost * MAY_DIFFER <= noise.content_pixels
        })
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

/// `picture` with what `part` shows where it is transparent.
fn filled(picture: &Frame, part: FrameRef<'_>) -> Result<Frame> {
    let mut whole = picture.to_rgba();
    let shown = part.to_rgba();
    let (wanted, _) = whole.data_mut().as_chunks_mut::<BYTES_PER_PIXEL>();
    let (seen, _) = shown.data().as_chunks::<BYTES_PER_PIXEL>();
    for (wanted, seen) in wanted.iter_mut().zip(seen).filter(|(wanted, _)| wanted[3] == 0) {
        *wanted = *seen;
    }
    Ok(whole)
}

impl Noise {
    /// `None` when no rule of `options` sets anything aside.
    fn new(picture: &Frame, colours: &Colours, options: &DiffOptions) -> Option<Self> {
        let (rules, tolerance) = (options.rules_in_force(), options.tolerance_in_force());
        let counts_all = rules.antialiasing == Antialiasing::Count;
        if !rules.carets && counts_all && rules.speck_pixels == 0 {
            return None;
        }
        let opaque = colours.iter().filter(|(colour, _)| colour[3] > 0);
        let (&commonest, _) = opaque.max_by_key(|(colour, (count, ..))| (*count, **colour))?;
        let (content, background): (Vec<Probe>, Vec<Probe>) = scattered(picture.as_ref())
            .partition(|(_, colour)| tolerance.differs(commonest, *colour));
        let caret = CARET_WIDTH * CARET_HEIGHT * rules.scale * rules.scale;
        let most_pixels = pixels_of(caret * MOST_CARETS) + options.max_changed_pixels_in_force();
        Some(Self {
            differ: Differ::new(options.clone().scope(Scope::everything()).moved(false)),
            content_pixels: content.len() as u64,
            most_pixels: most_pixels.min(picture.size().pixels() / 2),
            content: apart(&content, colours, CONTENT_PROBES, rules.scale),
            background: apart(&background, colours, BACKGROUND_PROBES, rules.scale),
            commonest,
            has_holes: colours.keys().any(|colour| colour[3] == 0),
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a few carets at a scale of at most 16"
)]
const fn pixels_of(area: f32) -> u64 {
    area as u64
}

/// The pixels of a picture that are not transparent, in an order that leaps about.
fn scattered(picture: FrameRef<'_>) -> impl Iterator<Item = Probe> {
    let (width, height) = (picture.size().width(), picture.size().height());
    let mut points: Vec<Point> =
        (0..height).flat_map(|y| (0..width).map(move |x| Point::new(x, y))).collect();
    points.sort_by_key(|point| (point.y * width + point.x).wrapping_mul(0x9E37_79B9));
    points
        .into_iter()
        .map(move |point| (point, picture.rgba(point)))
        .filter(|(_, colour)| colour[3] > 0)
}

/// `count` of `probes`: those of the rarest colours of which no two lie under one caret; where
/// there are not so many, any others make up the number.
fn apart(probes: &[Probe], colours: &Colours, count: usize, scale: f32) -> Vec<Probe> {
    let mut rarest = probes.to_vec();
    rarest.sort_by_key(|(_, colour)| colours.get(colour).map(|(count, ..)| *count));
    let mut chosen: Vec<Probe> = Vec::new();
    for probe in rarest {
        let is_near = |other: &Probe| {
            is_closer(probe.0.x, other.0.x, CARET_WIDTH * scale)
                && is_closer(probe.0.y, other.0.y, CARET_HEIGHT * scale)
        };
        if chosen.len() < count && !chosen.iter().any(is_near) {
            chosen.push(probe);
        }
    }
    // Not by colour: the rarest may be that of a caret in the template, and nothing else.
    for probe in probes {
        if chosen.len() < count && !chosen.contains(probe) {
            chosen.push(*probe);
        }
    }
    chosen
}

fn is_closer(one: u32, other: u32, distance: f32) -> bool {
    f64::from(one.abs_diff(other)) < f64::from(distance)
}

/// How often each colour occurs, and where first and last.
type Colours = HashMap<[u8; 4], (u32, Point, Point)>;

fn colours(picture: FrameRef<'_>) -> Colours {
    let mut places = Colours::new();
    for y in 0..picture.size().height() {
        for x in 0..picture.size().width() {
            let point = Point::new(x, y);
            let place = places.entry(picture.rgba(point)).or_insert((0, point, point));
            place.0 += 1;
            place.2 = point;
        }
    }
    places
}

/// The pixels of the rarest colours, one or two a colour.
fn probes(colours: &Colours) -> Vec<Probe> {
    let mut rarest: Vec<_> = colours.iter().filter(|(colour, _)| colour[3] > 0).collect();
    rarest.sort_by_key(|(_, (count, first, _))| (*count, first.y, first.x));
    let firsts = rarest.iter().map(|&(&colour, &(_, first, _))| (first, colour));
    let lasts = rarest.iter().map(|&(&colour, &(_, _, last))| (last, colour));
    firsts.take(PROBES / 2).chain(lasts.take(PROBES / 2)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::PixelFormat;
    use crate::geometry::Size;
    use crate::report::Preset;

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
                let exact = DiffOptions::preset(Preset::Exact);
                let mut template = Template::new(cut, &exact).unwrap();
                let mut find = |regions: &[Rect], ignored: &[Rect]| {
                    template.find(&frame, regions, ignored, None).unwrap()
                };
                assert_eq!(find(&[], &[]), Some(place), "{format:?} {place}");
                assert_eq!(find(&[], &[place]), None, "{place} left out");
                let elsewhere: Rect = "5,30,20,30".parse().unwrap();
                assert_eq!(find(&[elsewhere], &[]), None, "{place}");
                assert_eq!(find(&[elsewhere, place], &[]), Some(place));
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
            let options = DiffOptions::preset(Preset::Exact)
                .tolerance(tolerance.parse().unwrap())
                .max_changed_pixels(budget);
            let mut template = Template::new(cut, &options).unwrap();
            let expected = found.then_some(place);
            let answer = template.find(&frame, &[], &[], None).unwrap();
            assert_eq!(answer, expected, "{levels} {pixels} {tolerance}");
        }
        let clear = Frame::filled(place.size(), PixelFormat::Rgba, [1, 2, 3, 0]);
        assert!(Template::new(clear, &DiffOptions::preset(Preset::Exact)).is_err());
    }
}
