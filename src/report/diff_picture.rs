//! The picture of which pixels differ.

use crate::diff::{ChangeMask, Rendered};
use crate::error::Result;
#[cfg(feature = "cli")]
use crate::frame::encode_indexed;
use crate::frame::{BYTES_PER_PIXEL, Frame, FrameRef, PixelFormat};
use crate::geometry::{Point, Rect, Size};

use super::opaque::opaque;
use super::shots::{Picture, Role, Shot};
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
    let frame = DiffPicture::of(&differ, &report, before, after)?.frame()?;
    Ok(Picture { shot: DiffPicture::shot(after.size()), frame })
}

/// The picture of which pixels differ, a byte a pixel: a grey stands for itself, and the colours
/// for the darkest greys, which it has no use for.
pub(crate) struct DiffPicture {
    size: Size,
    shades: Vec<u8>,
}

/// A byte of a [`DiffPicture`].
type Shade = u8;

const COLOURS: [[u8; 3]; 3] = [CHANGED, MOVED, SET_ASIDE];
const CHANGED_SHADE: Shade = 0;
const MOVED_SHADE: Shade = 1;
const SET_ASIDE_SHADE: Shade = 2;

/// The darkest of the faded greys, and how much darker what is left out is: none is a colour.
const FADED: Shade = 160;
const DARKER: Shade = 100;

impl DiffPicture {
    /// The picture of the pair that `differ` compared last, about which it gave `report`. What the
    /// frames have in common was compared, or their sizes are the same.
    ///
    /// # Errors
    /// When the scope does not fit the frames.
    pub(crate) fn of(
        differ: &Differ,
        report: &ChangeReport,
        before: FrameRef<'_>,
        after: FrameRef<'_>,
    ) -> Result<Self> {
        let mut picture = Self::faded(after);
        if let Some((_, bounds, scope)) = &differ.scope {
            picture.darken_outside(report, *bounds, scope);
            let changed = differ.differences.changed();
            let antialiased = differ.differences.antialiased();
            let seen = |rect: Rect| rect.moved(-signed(bounds.x()), -signed(bounds.y()));
            if !report.moved.is_empty() {
                let mut plain = Differ::new(differ.options.clone().common_part(true).moved(false));
                plain.compare(before, after)?;
                for local in report.moved.iter().filter_map(|block| seen(block.to)) {
                    picture.paint(plain.differences.changed(), *bounds, local, MOVED_SHADE);
                }
            }
            picture.paint(changed, *bounds, bounds.size().rect(), SET_ASIDE_SHADE);
            if !antialiased.is_empty() {
                picture.paint(antialiased, *bounds, bounds.size().rect(), SET_ASIDE_SHADE);
            }
            for local in report.areas.iter().filter_map(|area| seen(area.rect)) {
                picture.paint(changed, *bounds, local, CHANGED_SHADE);
            }
        }
        picture.paint_new_parts(report);
        Ok(picture)
    }

    /// What a picture of that size shows.
    pub(crate) const fn shot(size: Size) -> Shot {
        Shot::plain(Role::Diff, size.rect(), 1.0)
    }

    /// As a frame.
    ///
    /// # Errors
    /// Never: a picture has a byte for each pixel.
    pub(crate) fn frame(&self) -> Result<Frame> {
        let palette = palette().map(|[red, green, blue]| [red, green, blue, u8::MAX]);
        let pixels = self.shades.iter().flat_map(|shade| palette[usize::from(*shade)]);
        Frame::from_raw(self.size, PixelFormat::Rgba, pixels.collect())
    }

    /// As a PNG file.
    ///
    /// # Errors
    /// Only when the encoder runs out of memory.
    #[cfg(feature = "cli")]
    pub(crate) fn png(&self) -> Result<Vec<u8>> {
        encode_indexed(self.size, &palette(), &self.shades)
    }

    /// Grey and pale, so that the colours stand out from anything.
    fn faded(after: FrameRef<'_>) -> Self {
        let (size, format) = (after.size(), after.format());
        let mut shades = Vec::with_capacity(size.width() as usize * size.height() as usize);
        let fade = |rgba: &[u8; BYTES_PER_PIXEL]| FADED + luma(format.rgba(*rgba)) / 3;
        if after.is_opaque() {
            for y in 0..size.height() {
                shades.extend(after.row(y).as_chunks().0.iter().map(fade));
            }
        } else {
            shades.extend(opaque(after).data().as_chunks().0.iter().map(fade));
        }
        Self { size, shades }
    }

    fn darken_outside(&mut self, report: &ChangeReport, bounds: Rect, scope: &Rendered) {
        let common = report.before.common(report.after).rect();
        if scope.is_everything() && bounds == common {
            return;
        }
        for y in 0..common.height() {
            for x in 0..common.width() {
                let point = Point::new(x, y);
                let local = Point::new(x.wrapping_sub(bounds.x()), y.wrapping_sub(bounds.y()));
                if !bounds.contains(point) || !scope.compared.get(local) {
                    self.row_mut(y)[x as usize] -= DARKER;
                }
            }
        }
    }

    /// Gives the pixels of `mask` inside `part` a shade; both are seen from the corner of `bounds`.
    fn paint(&mut self, mask: &ChangeMask, bounds: Rect, part: Rect, shade: Shade) {
        for y in part.y()..part.bottom() {
            let row = &mut self.row_mut(bounds.y() + y)[bounds.x() as usize..];
            for (start, end) in mask.runs_between(y, part.x(), part.right()) {
                row[start as usize..end as usize].fill(shade);
            }
        }
    }

    /// What lies outside the frame before.
    fn paint_new_parts(&mut self, report: &ChangeReport) {
        let old = report.before.rect();
        for y in 0..report.after.height() {
            let from = if y < old.bottom() { old.right() } else { 0 };
            if let Some(new) = self.row_mut(y).get_mut(from as usize..) {
                new.fill(CHANGED_SHADE);
            }
        }
    }

    fn row_mut(&mut self, y: u32) -> &mut [Shade] {
        let width = self.size.width() as usize;
        &mut self.shades[y as usize * width..][..width]
    }
}

/// The colour of every shade.
fn palette() -> [[u8; 3]; 256] {
    let mut shade = 0..=u8::MAX;
    std::array::from_fn(|at| {
        let grey = [shade.next().unwrap_or(u8::MAX); 3];
        COLOURS.get(at).copied().unwrap_or(grey)
    })
}

/// BT.601, in 256ths.
fn luma([red, green, blue, _]: [u8; 4]) -> u8 {
    let [red, green, blue] = [red, green, blue].map(u16::from);
    // The weights sum to 256, so the high byte of the sum is a mean of bytes.
    ((red * 77 + green * 150 + blue * 29) >> 8).to_le_bytes()[0]
}

/// Coordinates stay below 2^20.
fn signed(coordinate: u32) -> i32 {
    coordinate.cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::Scope;
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
                    let at = (y * width + x) as usize * BYTES_PER_PIXEL;
                    frame.data_mut()[at..at + 3].fill(0);
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
