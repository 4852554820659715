//! The part of a surface a condition looks at.

use crate::diff::Scope;
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::geometry::{Rect, Size};

use super::source::Geometry;

/// A scope on a surface: what is captured for it, and where that lies.
#[derive(Clone, Debug)]
pub(super) struct Part {
    scope: Scope,
    geometry: Geometry,
    bounds: Rect,
}

impl Part {
    /// Refuses a scope that cannot be captured or compares nothing, and a scale at which nothing,
    /// or everything, would be a caret.
    pub(super) fn new(scope: &Scope, geometry: Geometry) -> Result<Self> {
        check_scale(geometry.scale)?;
        let impossible = |error: Error| Error::impossible(error.to_string());
        let bounds = scope.bounds(geometry.size).map_err(impossible)?;
        scope.render(geometry.size)?;
        Ok(Self { scope: scope.clone(), geometry, bounds })
    }

    /// The bounding box of the scope's regions.
    pub(super) const fn bounds(&self) -> Rect {
        self.bounds
    }

    /// The size the surface has, or had when the part was last captured.
    pub(super) const fn surface(&self) -> Size {
        self.geometry.size
    }

    /// Whether it is the whole surface.
    pub(super) fn is_all(&self) -> bool {
        self.bounds == self.geometry.size.rect()
    }

    /// The scope in pixels of the captured part.
    pub(super) fn scope(&self) -> Result<Scope> {
        self.scope.cropped(self.bounds)
    }

    /// Whether something drawn at `rect` of the surface can matter.
    pub(super) fn concerns(&self, rect: Rect) -> bool {
        let is_left_out = |ignored: &Rect| ignored.contains_rect(rect);
        let is_inside = |region: &Rect| region.intersection(rect).is_some();
        let regions = self.scope.regions();
        self.bounds.intersection(rect).is_some()
            && (regions.is_empty() || regions.iter().any(is_inside))
            && !self.scope.ignored().iter().any(is_left_out)
    }

    /// Where the part lies in a frame of `size` that shows `captured` of the surface, `None` for
    /// all of it; `None` when that has another size than the part was meant for.
    pub(super) fn inside(&self, captured: Option<Rect>, size: Size) -> Option<Rect> {
        let Some(captured) = captured else {
            let fits = size == self.geometry.size;
            return if self.is_all() { Some(size.rect()) } else { fits.then_some(self.bounds) };
        };
        let (dx, dy) = (captured.x().cast_signed(), captured.y().cast_signed());
        self.bounds.moved(-dx, -dy)
    }

    /// The captured part of a whole-surface frame; frames of another size stay as they are.
    pub(super) fn cut(&self, frame: &Frame) -> Result<Frame> {
        if frame.size() == self.geometry.size { frame.crop(self.bounds) } else { Ok(frame.clone()) }
    }

    /// Takes on another size of the surface, of which it is all; `false` when the scope does not
    /// fit into that.
    pub(super) fn resize(&mut self, size: Size) -> bool {
        let fits = self.scope.bounds(size).is_ok();
        if fits {
            self.geometry.size = size;
            self.bounds = size.rect();
        }
        fits
    }

    pub(super) fn on_surface(&self, rect: Rect) -> Rect {
        displaced(rect, self.bounds.x(), self.bounds.y())
    }

    pub(super) fn all_on_surface(&self, rects: Vec<Rect>) -> Vec<Rect> {
        rects.into_iter().map(|rect| self.on_surface(rect)).collect()
    }

    /// The width a reference has when it shows the part at another scale: the surface's pixels
    /// for the interface's, or the other way round.
    pub(super) fn other_scale(&self, reference: &Frame) -> Option<u32> {
        let scale = f64::from(self.geometry.scale);
        let size = reference.size();
        let is_times =
            |small: u32, large: u32| (f64::from(small) * scale - f64::from(large)).abs() < 1.0;
        let is_other = |width: u32, height: u32| {
            is_times(size.width(), width) && is_times(size.height(), height)
                || is_times(width, size.width()) && is_times(height, size.height())
        };
        let is_scaled = (self.geometry.scale - 1.0).abs() > f32::EPSILON;
        let candidates = [self.bounds.size(), self.geometry.size];
        let fits = candidates.contains(&size);
        let other = candidates.iter().any(|size| is_other(size.width(), size.height()));
        (is_scaled && !fits && other).then_some(size.width())
    }
}

fn check_scale(scale: f32) -> Result<()> {
    let (least, most) = (Geometry::SCALES.start(), Geometry::SCALES.end());
    if Geometry::SCALES.contains(&scale) {
        return Ok(());
    }
    Err(Error::impossible(format!(
        "a scale of {scale:e} is none a surface has: it must be between {least} and {most}"
    )))
}

/// A box moved right and down; one that would leave the largest frame stays where it is.
pub(super) fn displaced(rect: Rect, x: u32, y: u32) -> Rect {
    rect.moved(x.cast_signed(), y.cast_signed()).unwrap_or(rect)
}
