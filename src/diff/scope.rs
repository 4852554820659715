//! Which pixels are compared.

use crate::error::{Error, Result};
use crate::frame::FrameRef;
use crate::geometry::{Point, Rect, Size};

use super::ChangeMask;

/// The pixels that are compared: inside the regions, outside the ignored boxes and the mask.
///
/// The default scope is everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    regions: Vec<Rect>,
    ignored: Vec<Rect>,
    mask: Option<crate::frame::Frame>,
}

impl Scope {
    /// Everything.
    #[must_use]
    pub fn everything() -> Self {
        Self::default()
    }

    /// Adds a region; with at least one, only pixels inside some region are compared.
    #[must_use]
    pub fn region(mut self, rect: Rect) -> Self {
        self.regions.push(rect);
        self
    }

    /// Adds a box whose pixels are left out.
    #[must_use]
    pub fn ignore(mut self, rect: Rect) -> Self {
        self.ignored.push(rect);
        self
    }

    /// Leaves out every pixel that is dark and opaque in `mask` (luma below half, alpha at least
    /// half): paint black over what should not count, on white or on nothing.
    #[must_use]
    pub fn mask(mut self, mask: FrameRef<'_>) -> Self {
        self.mask = Some(mask.to_frame());
        self
    }

    /// The regions compared; empty means everywhere.
    #[must_use]
    pub fn regions(&self) -> &[Rect] {
        &self.regions
    }

    /// The boxes left out.
    #[must_use]
    pub fn ignored(&self) -> &[Rect] {
        &self.ignored
    }

    /// Whether every pixel is compared.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.regions.is_empty() && self.ignored.is_empty() && self.mask.is_none()
    }

    /// The smallest rectangle that holds everything compared in a frame of `size`.
    ///
    /// # Errors
    /// When a region reaches outside, or the mask picture has another size.
    pub fn bounds(&self, size: Size) -> Result<Rect> {
        for region in &self.regions {
            if !size.rect().contains_rect(*region) {
                return Err(Error::usage(format!("region {region} is outside the {size} frame")));
            }
        }
        if let Some(mask) = &self.mask
            && mask.size() != size
        {
            return Err(Error::usage(format!(
                "the mask is {} and the frame {size}: they must have one size",
                mask.size()
            )));
        }
        Ok(self.regions.iter().copied().reduce(Rect::union).unwrap_or(size.rect()))
    }

    /// The same scope for frames that show only `bounds` of what this one is for.
    ///
    /// # Errors
    /// When the mask picture does not reach as far as `bounds`.
    pub(crate) fn cropped(&self, bounds: Rect) -> Result<Self> {
        let local = |rect: &Rect| {
            let rect = rect.intersection(bounds)?;
            rect.moved(-bounds.x().cast_signed(), -bounds.y().cast_signed())
        };
        Ok(Self {
            regions: self.regions.iter().filter_map(local).collect(),
            ignored: self.ignored.iter().filter_map(local).collect(),
            mask: self.mask.as_ref().map(|mask| mask.crop(bounds)).transpose()?,
        })
    }

    /// The bounding box of the regions, and what counts inside it.
    ///
    /// # Errors
    /// As [`Scope::bounds`], and when no pixel is left: a comparison of nothing would pass for ever.
    pub(crate) fn render(&self, size: Size) -> Result<(Rect, Rendered)> {
        let bounds = self.bounds(size)?;
        let local = self.cropped(bounds)?;
        let mut inside = ChangeMask::default();
        inside.clear(bounds.size());
        if self.regions.is_empty() {
            inside.set_rect(bounds);
        }
        local.regions.iter().for_each(|&rect| inside.set_rect(rect));
        let mut left_out = ChangeMask::default();
        left_out.clear(bounds.size());
        local.ignored.iter().for_each(|&rect| left_out.set_rect(rect));
        if let Some(mask) = &local.mask {
            paint(mask.as_ref(), &mut left_out);
        }
        let mut compared = inside.clone();
        compared.subtract(&left_out);
        let pixels = compared.count();
        if pixels == 0 {
            return Err(Error::impossible(format!(
                "0 of the {} pixels of the scope are left to compare: everything is ignored or \
                 masked",
                bounds.pixels()
            )));
        }
        Ok((bounds, Rendered { inside, compared, pixels }))
    }
}

/// A scope worked out for one frame size, its masks as large as the bounding box of the regions.
#[derive(Clone, Debug)]
pub(crate) struct Rendered {
    /// Inside the regions.
    pub(crate) inside: ChangeMask,
    /// Inside the regions and not left out.
    pub(crate) compared: ChangeMask,
    /// How many pixels are compared.
    pub(crate) pixels: u64,
}

impl Rendered {
    /// Whether every pixel of the bounding box is compared.
    pub(crate) fn is_everything(&self) -> bool {
        self.compared.size().is_some_and(|size| size.pixels() == self.pixels)
    }
}

fn paint(picture: FrameRef<'_>, left_out: &mut ChangeMask) {
    let size = picture.size();
    for y in 0..size.height() {
        for x in 0..size.width() {
            let [r, g, b, a] = picture.rgba(Point::new(x, y));
            let luma = (u32::from(r) * 299 + u32::from(g) * 587 + u32::from(b) * 114) / 1000;
            if a >= 128 && luma < 128 {
                left_out.set(Point::new(x, y));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_add_and_ignored_boxes_take_away() {
        let size = Size::new(10, 10).unwrap();
        let rect = |x, y, w, h| Rect::new(x, y, w, h).unwrap();
        for (scope, pixels) in [
            (Scope::everything(), 100),
            (Scope::everything().region(rect(0, 0, 5, 5)), 25),
            (Scope::everything().region(rect(0, 0, 5, 5)).region(rect(4, 4, 2, 2)), 28),
            (Scope::everything().ignore(rect(8, 8, 50, 50)), 96),
            (Scope::everything().region(rect(0, 0, 5, 5)).ignore(rect(0, 0, 10, 1)), 20),
        ] {
            assert_eq!(scope.render(size).unwrap().1.pixels, pixels, "{scope:?}");
        }
        let outside = Scope::everything().region(rect(6, 0, 5, 5));
        let message = outside.bounds(size).unwrap_err().to_string();
        assert_eq!(message, "region x=6 y=0 w=5 h=5 is outside the 10x10 frame");
    }
}
