//! What an action was chosen from: a frame with its id, time and geometry, and the size of the
//! image it was shown as.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use crate::frame::Frame;
use crate::geometry::{Point, Rect, Size};
use crate::wait::Geometry;

use super::elements::Elements;
use super::refusal::{Refusal, RefusalKind};

/// The name of an observation: `obs-13`. A session counts them from 1 and uses none twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObservationId(u64);

impl ObservationId {
    /// The observation of a number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The one after it.
    pub(super) const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for ObservationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "obs-{}", self.0)
    }
}

impl FromStr for ObservationId {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let number = text
            .strip_prefix("obs-")
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|digits| digits.parse().ok());
        number.map(Self).ok_or_else(|| {
            Refusal::bad_value(format!(
                "observation {} is not the id of one, such as obs-12",
                super::refusal::quoted(text)
            ))
        })
    }
}

/// A frame an action can be chosen from.
#[derive(Clone, Debug)]
pub struct Observation {
    /// Its name.
    pub id: ObservationId,
    /// What was captured.
    pub frame: Arc<Frame>,
    /// When it was captured, by the executor's clock.
    pub at: Duration,
    /// Where the surface was and how large.
    pub geometry: Geometry,
    /// The size of the image it is shown as, in whose pixels points are given.
    pub image: Size,
    /// What could be acted on by reference; `None` of a surface that does not know.
    pub elements: Option<Arc<Elements>>,
}

impl Observation {
    /// The frame pixel at a point of the image.
    ///
    /// ```
    /// # use std::{sync::Arc, time::Duration};
    /// # use seechange::{Frame, PixelFormat, Point, Size};
    /// # use seechange::act::{ImagePoint, Observation, ObservationId};
    /// # use seechange::wait::Geometry;
    /// let size = Size::new(2560, 1600)?;
    /// let observation = Observation {
    ///     id: ObservationId::new(13),
    ///     frame: Arc::new(Frame::filled(size, PixelFormat::Rgba, [0; 4])),
    ///     at: Duration::ZERO,
    ///     geometry: Geometry { size, scale: 2.0, origin: (0, 0) },
    ///     image: Size::new(1280, 800)?,
    ///     elements: None,
    /// };
    /// let point = observation.locate(ImagePoint::new(412.0, 230.0)?)?;
    /// assert_eq!(point, Point::new(824, 460));
    /// let refusal = observation.locate(ImagePoint::new(1412.0, 230.0)?).unwrap_err();
    /// assert_eq!(
    ///     refusal.message(),
    ///     "point (1412, 230) is outside the 1280x800 image of obs-13 (capture 2560x1600)"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the point lies outside the image; it is never moved to the edge.
    pub fn locate(&self, point: ImagePoint) -> Result<Point, Refusal> {
        let capture = self.frame.size();
        let x = along(point.x(), self.image.width(), capture.width());
        let y = along(point.y(), self.image.height(), capture.height());
        let (Some(x), Some(y)) = (x, y) else {
            let Self { image, id, .. } = self;
            return Err(Refusal::new(
                RefusalKind::Outside,
                format!("point {point} is outside the {image} image of {id} (capture {capture})"),
            ));
        };
        Ok(Point::new(x, y))
    }

    /// The part of the frame that a region of the image shows, in whole pixels around it.
    ///
    /// # Errors
    /// When the region is not inside the image.
    pub fn locate_region(&self, region: Rect) -> Result<Rect, Refusal> {
        locate_region(region, self.image, self.frame.size())
    }
}

/// The part of a capture that `region` of its image covers, in whole pixels around it.
pub(super) fn locate_region(region: Rect, image: Size, capture: Size) -> Result<Rect, Refusal> {
    let outside = || {
        Refusal::new(
            RefusalKind::Outside,
            format!("region {region} is outside the {image} image (capture {capture})"),
        )
    };
    if !image.rect().contains_rect(region) {
        return Err(outside());
    }
    let low = |at: u32, image: u32, capture: u32| share(at, capture, image, 0);
    let high = |at: u32, image: u32, capture: u32| share(at, capture, image, image - 1);
    Rect::from_edges(
        low(region.x(), image.width(), capture.width()),
        low(region.y(), image.height(), capture.height()),
        high(region.right(), image.width(), capture.width()),
        high(region.bottom(), image.height(), capture.height()),
    )
    .ok_or_else(outside)
}

/// The capture pixel that a coordinate of the image lies in; `None` outside `0 <= at < image`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is inside 0..capture, and rounding down is meant"
)]
fn along(at: f64, image: u32, capture: u32) -> Option<u32> {
    if !(0.0..f64::from(image)).contains(&at) {
        return None;
    }
    let pixel = (at * f64::from(capture) / f64::from(image)) as u32;
    // Only a product rounded up in its last bit can reach the edge.
    Some(pixel.min(capture - 1))
}

/// The size a capture is shown as when no edge may be longer than `max_edge`.
pub(crate) fn image_size(capture: Size, max_edge: Option<u32>) -> Size {
    let longest = capture.width().max(capture.height());
    match max_edge {
        Some(max_edge) if longest > max_edge => {
            let shrunk = |edge: u32| share(edge, max_edge.max(1), longest, longest / 2).max(1);
            Size::new(shrunk(capture.width()), shrunk(capture.height())).unwrap_or(capture)
        }
        _ => capture,
    }
}

/// `(value * part + extra) / whole`, for results that fit.
fn share(value: u32, part: u32, whole: u32, extra: u32) -> u32 {
    let product = u64::from(value) * u64::from(part) + u64::from(extra);
    u32::try_from(product / u64::from(whole)).unwrap_or(u32::MAX)
}

/// A point of an observation's image, in pixels from its top left corner. Fractions are places
/// inside a pixel: 412.5 lies in pixel 412.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImagePoint {
    x: f64,
    y: f64,
}

impl ImagePoint {
    /// The point at (`x`, `y`).
    ///
    /// # Errors
    /// When a coordinate is not a finite number.
    pub fn new(x: f64, y: f64) -> Result<Self, Refusal> {
        if x.is_finite() && y.is_finite() {
            Ok(Self { x, y })
        } else {
            Err(Refusal::bad_value(format!("point ({x}, {y}) is not finite")))
        }
    }

    /// Pixels from the left edge.
    #[must_use]
    pub const fn x(self) -> f64 {
        self.x
    }

    /// Pixels from the top edge.
    #[must_use]
    pub const fn y(self) -> f64 {
        self.y
    }
}

impl fmt::Display for ImagePoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_scale_and_round_down() {
        for (at, image, capture, pixel) in [
            (412.0, 1280, 2560, Some(824)),
            (230.0, 800, 1600, Some(460)),
            (412.5, 1280, 1280, Some(412)),
            (412.99, 1280, 1280, Some(412)),
            (0.0, 1280, 2560, Some(0)),
            (-0.0, 1280, 2560, Some(0)),
            (-0.1, 1280, 2560, None),
            (1279.0, 1280, 2560, Some(2558)),
            (1280.0, 1280, 2560, None),
            (1_279.999_999_999_999_8, 1280, 2557, Some(2556)),
            (100.0, 1568, 1920, Some(122)),
            (f64::MAX, 1280, 2560, None),
        ] {
            assert_eq!(along(at, image, capture), pixel, "{at} of {image} in {capture}");
        }
    }

    #[test]
    fn the_longest_edge_is_what_max_edge_limits() {
        for (capture, max_edge, image) in [
            ((2560, 1600), Some(1280), (1280, 800)),
            ((1600, 2560), Some(1280), (800, 1280)),
            ((1920, 1080), Some(1568), (1568, 882)),
            ((1280, 800), Some(1568), (1280, 800)),
            ((1280, 800), None, (1280, 800)),
            ((4000, 1), Some(100), (100, 1)),
        ] {
            let size = |(width, height)| Size::new(width, height).unwrap();
            assert_eq!(image_size(size(capture), max_edge), size(image), "{capture:?}");
        }
    }

    #[test]
    fn regions_cover_every_pixel_they_touch() {
        let size = |(width, height)| Size::new(width, height).unwrap();
        for (region, image, capture, there) in [
            ("10,20,30,40", (1280, 800), (2560, 1600), Some("20,40,60,80")),
            ("1,1,1,1", (3, 3), (5, 5), Some("1,1,3,3")),
            ("0,0,3,3", (3, 3), (5, 5), Some("0,0,5,5")),
            ("2,0,2,3", (3, 3), (5, 5), None),
        ] {
            let located = locate_region(region.parse().unwrap(), size(image), size(capture));
            assert_eq!(located.ok(), there.map(|rect| rect.parse().unwrap()), "{region}");
        }
    }

    #[test]
    fn ids_read_back_and_nothing_else_does() {
        assert_eq!("obs-12".parse::<ObservationId>().unwrap().to_string(), "obs-12");
        for text in ["", "obs-", "12", "obs--1", "obs-+1", "OBS-1", "obs-99999999999999999999"] {
            assert!(text.parse::<ObservationId>().is_err(), "{text}");
        }
    }
}
