//! Anti-aliasing judged pixel by pixel, by what surrounds each.
//!
//! Vyšniauskas, "Anti-aliased Pixel and Intensity Slope Detector", Elektronika ir Elektrotechnika
//! 95 (7), 2009, as pixelmatch applies it: a pixel is anti-aliasing when it lies on a slope, darker
//! than one neighbour and brighter than another, and one end of that slope belongs to something
//! flat in both frames.
//!
//! The rule knows nothing of what a pixel is part of, so it takes much of a small letter for its
//! own anti-aliasing. The project's own judges whole clusters, in [`areas`](crate::areas).

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::frame::FrameRef;
use crate::geometry::{Point, Rect, Size};

use super::blend::{are_opaque, difference};
use super::tolerance::equal;
use super::{Differences, Tolerance, yiq};

/// What becomes of changed pixels that are anti-aliasing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Antialiasing {
    /// A cluster is set aside as a whole, when no pixel of it differs by much and all lie on edges
    /// both frames have.
    Cluster,
    /// Each pixel is set aside by its neighbours, as in pixelmatch, whose counts these are. It
    /// loses small changes, such as one letter of a text.
    Pixel,
    /// They count like any other.
    Count,
}

impl FromStr for Antialiasing {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "cluster" => Ok(Self::Cluster),
            "pixel" => Ok(Self::Pixel),
            "count" => Ok(Self::Count),
            _ => Err(Error::usage(format!(
                "antialiasing '{text}' is unknown: use cluster, pixel or count"
            ))),
        }
    }
}

impl fmt::Display for Antialiasing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cluster => "cluster",
            Self::Pixel => "pixel",
            Self::Count => "count",
        })
    }
}

/// Moves changed pixels that are anti-aliasing from [`Differences::changed`] to
/// [`Differences::antialiased`]: the rule of [`Antialiasing::Pixel`].
///
/// Only changed pixels and what lies within two pixels of them are read. Where pixels are not
/// opaque, [`Tolerance::Yiq`] looks at them as pixelmatch 7 does, on a pattern that depends on the
/// place in the frame; every other tolerance as pixelmatch 8 does, on white.
///
/// ```
/// use seechange::diff::{Differences, Tolerance, diff, set_aside_antialiasing};
/// use seechange::{Frame, PixelFormat, Size};
/// // A black edge on white, and the same edge with one grey pixel on it.
/// let row = [[0, 0, 0, 255], [255, 255, 255, 255], [255, 255, 255, 255]].concat();
/// let data = row.repeat(5);
/// let before = Frame::from_raw(Size::new(3, 5)?, PixelFormat::Rgba, data)?;
/// let mut after = before.clone();
/// after.data_mut()[12 * 2 + 4..][..3].fill(128);
/// let (before, after) = (before.as_ref(), after.as_ref());
/// let mut differences = Differences::default();
/// diff(before, after, Tolerance::Yiq(0.1), &mut differences)?;
/// set_aside_antialiasing(before, after, Tolerance::Yiq(0.1), &mut differences);
/// assert_eq!((differences.changed().count(), differences.antialiased().count()), (0, 1));
/// # Ok::<(), seechange::Error>(())
/// ```
///
/// # Panics
/// When `differences` are of frames of another size.
pub fn set_aside_antialiasing(
    before: FrameRef<'_>,
    after: FrameRef<'_>,
    tolerance: Tolerance,
    differences: &mut Differences,
) {
    let size = before.size();
    assert_eq!((Some(size), size), (differences.changed().size(), after.size()), "one size");
    let pair = Pair { before, after, patterned: matches!(tolerance, Tolerance::Yiq(_)) };
    differences.set_aside(|point| pair.is_antialiased(point));
}

/// Two frames of one size.
#[derive(Clone, Copy)]
struct Pair<'a> {
    before: FrameRef<'a>,
    after: FrameRef<'a>,
    /// Whether pixels that are not opaque are seen on pixelmatch 7's pattern, or on white.
    patterned: bool,
}

impl Pair<'_> {
    fn is_antialiased(&self, point: Point) -> bool {
        self.is_on_slope(self.before, point) || self.is_on_slope(self.after, point)
    }

    /// Whether `point` is on a slope of `frame` with an end in something flat.
    fn is_on_slope(&self, frame: FrameRef<'_>, point: Point) -> bool {
        let (centre, background) = (frame.rgba(point), self.background(point));
        let (mut darkest, mut brightest) = ((0.0, point), (0.0, point));
        let mut equals = at_edge(frame.size(), point);
        for neighbour in neighbours(frame.size(), point) {
            let delta = brightness(centre, frame.rgba(neighbour), background);
            if delta == 0.0 {
                equals += 1;
                if equals > 2 {
                    return false;
                }
            } else if delta < darkest.0 {
                darkest = (delta, neighbour);
            } else if delta > brightest.0 {
                brightest = (delta, neighbour);
            }
        }
        darkest.0 < 0.0
            && brightest.0 > 0.0
            && (self.is_flat(darkest.1) || self.is_flat(brightest.1))
    }

    /// Whether `point` belongs to something flat in both frames.
    fn is_flat(&self, point: Point) -> bool {
        has_siblings(self.before, point) && has_siblings(self.after, point)
    }

    fn background(&self, point: Point) -> Background {
        if self.patterned {
            Background::Fixed(pattern(self.before.size(), point))
        } else {
            Background::White
        }
    }
}

/// What pixels that are not opaque are seen on.
#[derive(Clone, Copy)]
enum Background {
    Fixed([u8; 3]),
    /// White, and what is equally bright there is told apart by its alpha.
    White,
}

/// By how much `centre` is brighter than `neighbour`; zero where they look the same.
fn brightness(centre: [u8; 4], neighbour: [u8; 4], background: Background) -> f64 {
    let on = |background| yiq::brightness(difference(centre, neighbour, background));
    let white = match background {
        Background::Fixed(background) => return on(background),
        Background::White => on([u8::MAX; 3]),
    };
    if white == 0.0 && !are_opaque(centre, neighbour) {
        return f64::from(i16::from(centre[3]) - i16::from(neighbour[3])) / 2.0;
    }
    white
}

/// The background of pixelmatch 7: dark and bright channels by the golden ratio, which depends on
/// how many pixels lie before this one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^30")]
fn pattern(size: Size, point: Point) -> [u8; 3] {
    const RATIO: f64 = 1.618_033_988_749_895;
    const RATIO_SQUARED: f64 = 2.618_033_988_749_895;
    let offset = 4.0 * (f64::from(point.y) * f64::from(size.width()) + f64::from(point.x));
    let level = |ratio: f64| if (offset / ratio) as u32 % 2 == 1 { 207 } else { 48 };
    [48, level(RATIO), level(RATIO_SQUARED)]
}

/// Whether more than two neighbours of a pixel are equal to it; the frame's edge counts as one.
fn has_siblings(frame: FrameRef<'_>, point: Point) -> bool {
    let centre = frame.rgba(point);
    let siblings = neighbours(frame.size(), point);
    let count = siblings.filter(|&sibling| equal(frame.rgba(sibling), centre)).count();
    count + at_edge(frame.size(), point) > 2
}

/// 1 on the outermost rows and columns, else 0.
fn at_edge(size: Size, point: Point) -> usize {
    let at_end = |at: u32, length: u32| at == 0 || at + 1 == length;
    usize::from(at_end(point.x, size.width()) || at_end(point.y, size.height()))
}

/// The up to eight pixels around one, column by column: of equally dark ones the first is kept.
fn neighbours(size: Size, point: Point) -> impl Iterator<Item = Point> {
    let around = Rect::from_edges(point.x, point.y, point.x + 1, point.y + 1)
        .map_or(size.rect(), |pixel| pixel.grown(1, size));
    (around.x()..around.right())
        .flat_map(move |x| (around.y()..around.bottom()).map(move |y| Point::new(x, y)))
        .filter(move |&other| other != point)
}
