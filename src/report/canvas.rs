//! A frame to draw on with `embedded-graphics`.

use std::convert::Infallible;

use embedded_graphics::Pixel;
use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{OriginDimensions, Point as EgPoint, Size as EgSize};
use embedded_graphics::pixelcolor::{Rgb888, RgbColor as _};
use embedded_graphics::primitives::Rectangle;

use crate::diff::ChangeMask;
use crate::frame::{BYTES_PER_PIXEL, Frame};
use crate::geometry::{Point, Rect, Size};

/// Draws opaque colours on a frame, cut at its edges.
pub(crate) struct Canvas<'a> {
    frame: &'a mut Frame,
    spared: Option<&'a ChangeMask>,
}

impl<'a> Canvas<'a> {
    /// A canvas over all of `frame`.
    pub(crate) fn new(frame: &'a mut Frame) -> Self {
        Self { frame, spared: None }
    }

    /// A canvas that leaves every pixel set in `spared` as it is.
    pub(crate) fn sparing(frame: &'a mut Frame, spared: &'a ChangeMask) -> Self {
        Self { frame, spared: Some(spared) }
    }

    fn put(&mut self, x: u32, y: u32, colour: Rgb888) {
        if self.spared.is_some_and(|spared| spared.get(Point::new(x, y))) {
            return;
        }
        let bytes = self.bytes(colour);
        let at = self.index(x, y);
        self.frame.data_mut()[at..at + BYTES_PER_PIXEL].copy_from_slice(&bytes);
    }

    /// A solid part, row by row: most of what is drawn on a window.
    fn fill_rows(&mut self, rect: Rect, colour: Rgb888) {
        let row = self.bytes(colour).repeat(rect.width() as usize);
        for y in rect.y()..rect.bottom() {
            let at = self.index(rect.x(), y);
            self.frame.data_mut()[at..at + row.len()].copy_from_slice(&row);
        }
    }

    fn index(&self, x: u32, y: u32) -> usize {
        (y as usize * self.frame.size().width() as usize + x as usize) * BYTES_PER_PIXEL
    }

    fn bytes(&self, colour: Rgb888) -> [u8; BYTES_PER_PIXEL] {
        // Both orders are their own inverse, so what reads a pixel also writes one.
        self.frame.format().rgba([colour.r(), colour.g(), colour.b(), u8::MAX])
    }

    /// The part of `area` on the frame.
    fn cut(&self, area: &Rectangle) -> Option<Rect> {
        let seen = area.intersection(&eg_rectangle(self.frame.size().rect()));
        let (x, y) = (u32::try_from(seen.top_left.x).ok()?, u32::try_from(seen.top_left.y).ok()?);
        Rect::new(x, y, seen.size.width, seen.size.height).ok()
    }
}

impl OriginDimensions for Canvas<'_> {
    fn size(&self) -> EgSize {
        eg_size(self.frame.size())
    }
}

impl DrawTarget for Canvas<'_> {
    type Color = Rgb888;
    type Error = Infallible;

    fn draw_iter<I>(&mut self, pixels: I) -> Result<(), Infallible>
    where
        I: IntoIterator<Item = Pixel<Rgb888>>,
    {
        let bounds = self.frame.size().rect();
        for Pixel(EgPoint { x, y }, colour) in pixels {
            if let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y))
                && bounds.contains(Point::new(x, y))
            {
                self.put(x, y, colour);
            }
        }
        Ok(())
    }

    fn fill_solid(&mut self, area: &Rectangle, colour: Rgb888) -> Result<(), Infallible> {
        let Some(rect) = self.cut(area) else { return Ok(()) };
        if self.spared.is_none() {
            self.fill_rows(rect, colour);
            return Ok(());
        }
        for y in rect.y()..rect.bottom() {
            (rect.x()..rect.right()).for_each(|x| self.put(x, y, colour));
        }
        Ok(())
    }
}

/// A rectangle in the words of `embedded-graphics`.
pub(crate) fn eg_rectangle(rect: Rect) -> Rectangle {
    let corner = EgPoint::new(rect.x().cast_signed(), rect.y().cast_signed());
    Rectangle::new(corner, eg_size(rect.size()))
}

const fn eg_size(size: Size) -> EgSize {
    EgSize::new(size.width(), size.height())
}

/// Drawing on a frame cannot fail.
pub(crate) fn done<T>(result: Result<T, Infallible>) -> T {
    match result {
        Ok(value) => value,
    }
}
