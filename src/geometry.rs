//! Sizes, points and rectangles in whole pixels.
//!
//! Every value is checked where it is made and relied on afterwards: a [`Size`] and a [`Rect`]
//! are never empty, and no edge of a `Rect` can overflow.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// The largest edge a size or a rectangle may reach, in pixels.
pub const MAX_EDGE: u32 = 1 << 20;

/// The most pixels a picture may have: 2^28, one GiB as four bytes a pixel.
///
/// Checked before anything is allocated for a size that came from outside.
pub const MAX_PIXELS: u64 = 1 << 28;

/// Width and height in pixels, neither of them zero, at most [`MAX_PIXELS`] in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Size {
    width: u32,
    height: u32,
}

impl Size {
    /// A single pixel.
    pub const ONE: Self = Self { width: 1, height: 1 };

    /// A size of `width` by `height` pixels.
    ///
    /// # Errors
    /// When an edge is zero or the picture would have more than [`MAX_PIXELS`].
    pub fn new(width: u32, height: u32) -> Result<Self> {
        if width == 0 || height == 0 {
            return Err(Error::limit(format!("a {width}x{height} picture has no pixels")));
        }
        let pixels = u64::from(width) * u64::from(height);
        if width > MAX_EDGE || height > MAX_EDGE || pixels > MAX_PIXELS {
            return Err(Error::limit(format!(
                "a {width}x{height} picture is too large: at most {MAX_PIXELS} pixels and \
                 {MAX_EDGE} an edge"
            )));
        }
        Ok(Self { width, height })
    }

    /// Width in pixels.
    #[must_use]
    pub const fn width(self) -> u32 {
        self.width
    }

    /// Height in pixels.
    #[must_use]
    pub const fn height(self) -> u32 {
        self.height
    }

    /// How many pixels there are.
    #[must_use]
    pub fn pixels(self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// The rectangle from (0, 0) that covers all of it.
    #[must_use]
    pub const fn rect(self) -> Rect {
        Rect { x: 0, y: 0, width: self.width, height: self.height }
    }

    /// The part two sizes have in common when laid corner to corner.
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        Self { width: self.width.min(other.width), height: self.height.min(other.height) }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// One pixel's place: `x` to the right, `y` down, from the top left corner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Point {
    /// Pixels from the left edge.
    pub x: u32,
    /// Pixels from the top edge.
    pub y: u32,
}

impl Point {
    /// The point at (`x`, `y`).
    #[must_use]
    pub const fn new(x: u32, y: u32) -> Self {
        Self { x, y }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

/// A half-open, non-empty rectangle: `x..x+width` by `y..y+height` pixels.
///
/// ```
/// use seechange::Rect;
/// let rect: Rect = "10,20,30,40".parse()?;
/// assert_eq!((rect.right(), rect.bottom()), (40, 60));
/// # Ok::<(), seechange::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rect {
    x: u32,
    y: u32,
    width: u32,
    height: u32,
}

impl Rect {
    /// The rectangle with its top left corner at (`x`, `y`).
    ///
    /// # Errors
    /// When it is empty or an edge lies past [`MAX_EDGE`].
    pub fn new(x: u32, y: u32, width: u32, height: u32) -> Result<Self> {
        if width == 0 || height == 0 {
            return Err(Error::usage(format!("region {x},{y},{width},{height} is empty")));
        }
        let fits =
            |start: u32, length: u32| start.checked_add(length).is_some_and(|end| end <= MAX_EDGE);
        if !fits(x, width) || !fits(y, height) {
            return Err(Error::usage(format!(
                "region {x},{y},{width},{height} reaches past pixel {MAX_EDGE}"
            )));
        }
        Ok(Self { x, y, width, height })
    }

    /// The tight rectangle around `left..right` by `top..bottom`, or `None` when that is empty.
    #[must_use]
    pub fn from_edges(left: u32, top: u32, right: u32, bottom: u32) -> Option<Self> {
        let width = right.checked_sub(left)?;
        let height = bottom.checked_sub(top)?;
        Self::new(left, top, width, height).ok()
    }

    /// The left edge, inside.
    #[must_use]
    pub const fn x(self) -> u32 {
        self.x
    }

    /// The top edge, inside.
    #[must_use]
    pub const fn y(self) -> u32 {
        self.y
    }

    /// Width in pixels.
    #[must_use]
    pub const fn width(self) -> u32 {
        self.width
    }

    /// Height in pixels.
    #[must_use]
    pub const fn height(self) -> u32 {
        self.height
    }

    /// The right edge, outside.
    #[must_use]
    pub const fn right(self) -> u32 {
        self.x + self.width
    }

    /// The bottom edge, outside.
    #[must_use]
    pub const fn bottom(self) -> u32 {
        self.y + self.height
    }

    /// The size alone.
    #[must_use]
    pub const fn size(self) -> Size {
        Size { width: self.width, height: self.height }
    }

    /// How many pixels there are inside.
    #[must_use]
    pub fn pixels(self) -> u64 {
        self.size().pixels()
    }

    /// The pixel in the middle (rounded down).
    #[must_use]
    pub const fn center(self) -> Point {
        Point { x: self.x + self.width / 2, y: self.y + self.height / 2 }
    }

    /// Whether `point` lies inside.
    #[must_use]
    pub const fn contains(self, point: Point) -> bool {
        self.x <= point.x && point.x < self.right() && self.y <= point.y && point.y < self.bottom()
    }

    /// Whether all of `other` lies inside.
    #[must_use]
    pub const fn contains_rect(self, other: Self) -> bool {
        self.x <= other.x
            && other.right() <= self.right()
            && self.y <= other.y
            && other.bottom() <= self.bottom()
    }

    /// The part both cover, or `None` when they are disjoint.
    #[must_use]
    pub fn intersection(self, other: Self) -> Option<Self> {
        Self::from_edges(
            self.x.max(other.x),
            self.y.max(other.y),
            self.right().min(other.right()),
            self.bottom().min(other.bottom()),
        )
    }

    /// The smallest rectangle around both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        Self {
            x,
            y,
            width: self.right().max(other.right()) - x,
            height: self.bottom().max(other.bottom()) - y,
        }
    }

    /// This rectangle with `margin` pixels more on each side, cut at the edges of `within`.
    ///
    /// Parts that lie outside `within` are cut off too; a rectangle wholly outside stays as it is.
    #[must_use]
    pub fn grown(self, margin: u32, within: Size) -> Self {
        Self::from_edges(
            self.x.saturating_sub(margin),
            self.y.saturating_sub(margin),
            self.right().saturating_add(margin).min(within.width),
            self.bottom().saturating_add(margin).min(within.height),
        )
        .unwrap_or(self)
    }

    /// This rectangle moved by (`dx`, `dy`), or `None` when it would leave the coordinate range.
    #[must_use]
    pub fn moved(self, dx: i32, dy: i32) -> Option<Self> {
        let (x, y) = (self.x.checked_add_signed(dx)?, self.y.checked_add_signed(dy)?);
        Self::new(x, y, self.width, self.height).ok()
    }

    /// Where this part of a picture of the size `from` is in a copy of it of the size `to`: every
    /// pixel that shows any of it, so that small parts do not vanish.
    ///
    /// ```
    /// use seechange::{Rect, Size};
    /// let (page, copy) = (Size::new(1280, 800)?, Size::new(320, 200)?);
    /// let rect: Rect = "7,8,1,8".parse()?;
    /// assert_eq!(rect.scaled(page, copy), Some("1,2,1,2".parse()?));
    /// # Ok::<(), seechange::Error>(())
    /// ```
    #[must_use]
    pub fn scaled(self, from: Size, to: Size) -> Option<Self> {
        let low = |at: u32, from: u32, to: u32| {
            u32::try_from(u64::from(at) * u64::from(to) / u64::from(from)).ok()
        };
        let high = |at: u32, from: u32, to: u32| {
            u32::try_from((u64::from(at) * u64::from(to)).div_ceil(from.into())).ok()
        };
        Self::from_edges(
            low(self.x, from.width, to.width)?,
            low(self.y, from.height, to.height)?,
            high(self.right(), from.width, to.width)?,
            high(self.bottom(), from.height, to.height)?,
        )
    }

    /// The square of the distance in pixels from `point` to the nearest pixel inside.
    #[must_use]
    pub fn distance_squared(self, point: Point) -> u64 {
        let dx = axis_distance(point.x, self.x, self.right());
        let dy = axis_distance(point.y, self.y, self.bottom());
        dx.saturating_mul(dx).saturating_add(dy.saturating_mul(dy))
    }
}

fn axis_distance(value: u32, start: u32, end: u32) -> u64 {
    u64::from(start.saturating_sub(value).max(value.saturating_sub(end - 1)))
}

impl fmt::Display for Rect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "x={} y={} w={} h={}", self.x, self.y, self.width, self.height)
    }
}

impl FromStr for Rect {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::usage(format!("region '{text}' is not x,y,w,h in whole pixels"));
        let numbers = text
            .split(',')
            .map(|part| part.trim().parse::<u32>())
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(|_| wrong())?;
        match numbers[..] {
            [x, y, width, height] => Self::new(x, y, width, height),
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_refuse_nothing_and_too_much() {
        for (width, height, ok) in
            [(1, 1, true), (0, 5, false), (100_000, 100_000, false), (1280, 10_000, true)]
        {
            assert_eq!(Size::new(width, height).is_ok(), ok, "{width}x{height}");
        }
    }

    #[test]
    fn rects_parse_or_say_why() {
        assert_eq!("1,2,3,4".parse::<Rect>().unwrap(), Rect::new(1, 2, 3, 4).unwrap());
        for text in ["", "1,2,3", "1,2,3,4,5", "-1,2,3,4", "1,2,0,4", "1,2,4294967295,4"] {
            assert!(text.parse::<Rect>().is_err(), "{text}");
        }
    }

    #[test]
    fn distance_is_zero_inside_and_grows_outside() {
        let rect = Rect::new(10, 10, 10, 10).unwrap();
        for (point, distance) in [((12, 12), 0), ((19, 19), 0), ((22, 10), 9), ((7, 6), 25)] {
            assert_eq!(rect.distance_squared(Point::new(point.0, point.1)), distance, "{point:?}");
        }
    }

    #[test]
    fn a_scaled_part_covers_every_pixel_that_shows_it() {
        let size = |width, height| Size::new(width, height).unwrap();
        let (page, small, large) = (size(100, 60), size(30, 18), size(200, 120));
        for (rect, from, to, expected) in [
            ("10,10,10,10", page, small, Some("3,3,3,3")),
            ("11,11,1,1", page, small, Some("3,3,1,1")),
            ("0,0,100,60", page, small, Some("0,0,30,18")),
            ("99,59,1,1", page, small, Some("29,17,1,1")),
            ("9,9,2,2", page, small, Some("2,2,2,2")),
            ("7,3,5,2", page, large, Some("14,6,10,4")),
            ("7,3,5,2", page, page, Some("7,3,5,2")),
        ] {
            let rect: Rect = rect.parse().unwrap();
            let expected = expected.map(|text| text.parse().unwrap());
            assert_eq!(rect.scaled(from, to), expected, "{rect} from {from} to {to}");
        }
    }

    #[test]
    fn growing_stops_at_the_edge() {
        let rect = Rect::new(5, 90, 10, 10).unwrap();
        let grown = rect.grown(12, Size::new(100, 100).unwrap());
        assert_eq!(grown, Rect::new(0, 78, 27, 22).unwrap());
    }
}
