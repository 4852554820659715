//! Two frames in, one answer out: a [`ChangeReport`], its sentences and its pictures.
//!
//! - [`compare`] answers for one pair.
//! - [`Differ`] answers for many pairs and keeps its memory between them.

#[cfg(feature = "pictures")]
pub(crate) mod canvas;
mod diff_picture;
mod marks;
#[cfg(feature = "pictures")]
mod numbered;
mod opaque;
mod options;
#[cfg(feature = "pictures")]
mod overview;
#[cfg(feature = "pictures")]
mod pictures;
#[cfg(feature = "pictures")]
mod resize;
mod shots;
mod text;

#[cfg(feature = "cli")]
pub(crate) use diff_picture::DiffPicture;
pub use diff_picture::diff_picture;
#[cfg(feature = "pictures")]
pub(crate) use numbered::numbered;
pub use options::{DiffOptions, Preset};
#[cfg(feature = "pictures")]
pub(crate) use overview::{BRIGHT, STRONG, outline};
#[cfg(feature = "pictures")]
pub use pictures::{pictures, whole_picture};
#[cfg(feature = "pictures")]
pub(crate) use resize::copy;
pub use shots::{Picture, Role, Shot, shots};
pub use text::{Naming, Wording};

pub use crate::areas::Moved;

use crate::areas::{Area, AreaFinder, Found, Ignored, MoveFinder, Moves, Pair, Spot};
use crate::diff::{Antialiasing, Differences, Rendered, diff, set_aside_antialiasing};
use crate::error::Result;
use crate::frame::FrameRef;
use crate::geometry::{Point, Rect, Size};

/// The answer in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing that counts has changed, or no more than the budget allows.
    Same,
    /// At least one area has changed, or a block has moved.
    Changed,
    /// The frames have different sizes.
    Resized,
}

impl Verdict {
    /// `same`, `changed` or `resized`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Changed => "changed",
            Self::Resized => "resized",
        }
    }
}

/// What changed between two frames.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeReport {
    /// The answer in one word.
    pub verdict: Verdict,
    /// The size of the frame before.
    pub before: Size,
    /// The size of the frame after.
    pub after: Size,
    /// How many pixels were compared: those inside the scope.
    pub compared_pixels: u64,
    /// How many pixels inside the listed areas changed.
    pub changed_pixels: u64,
    /// The areas in order; the first is number 1.
    pub areas: Vec<Area>,
    /// Blocks that moved, the largest first; what they uncovered and what came instead is in
    /// `areas`. Empty unless [`DiffOptions::moved`] is on.
    pub moved: Vec<Moved>,
    /// What was seen and does not count.
    pub ignored: Ignored,
}

impl ChangeReport {
    /// Changed pixels as a part of the compared ones, 0..=1.
    #[must_use]
    pub fn changed_ratio(&self) -> f64 {
        ratio(self.changed_pixels, self.compared_pixels)
    }

    /// How many differing pixels are explained by blocks that moved. With `changed_pixels` and what
    /// is ignored they sum to every pixel that differs.
    #[must_use]
    pub fn moved_pixels(&self) -> u64 {
        self.moved.iter().map(|moved| moved.pixels).sum()
    }

    /// Makes it a change when more pixels changed or moved than the budget allows.
    pub(crate) fn judge(&mut self, max_changed_pixels: u64) {
        let is_over = self.changed_pixels + self.moved_pixels() > max_changed_pixels;
        let is_change = !self.areas.is_empty() || !self.moved.is_empty();
        if self.verdict == Verdict::Same && is_change && is_over {
            self.verdict = Verdict::Changed;
        }
    }

    /// Whether over half of the frame lies inside areas: then one whole picture says more than
    /// crops.
    #[must_use]
    pub fn is_mostly_changed(&self) -> bool {
        let inside: u64 = self.areas.iter().map(|area| area.rect.pixels()).sum();
        inside * 2 > self.after.pixels()
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts stay below 2^28")]
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Compares two frames.
///
/// ```
/// use seechange::report::{DiffOptions, Preset, Verdict, compare};
/// use seechange::{Frame, PixelFormat, Size};
/// let size = Size::new(64, 48)?;
/// let before = Frame::filled(size, PixelFormat::Rgba, [255, 255, 255, 255]);
/// let mut after = before.clone();
/// after.data_mut()[..4 * 20].fill(0); // twenty pixels of the first row
/// let options = DiffOptions::preset(Preset::Golden);
/// let report = compare(before.as_ref(), after.as_ref(), &options)?;
/// assert_eq!(report.verdict, Verdict::Changed);
/// assert_eq!(report.areas[0].rect, "0,0,20,1".parse()?);
/// # Ok::<(), seechange::Error>(())
/// ```
///
/// # Errors
/// When the scope does not fit the frames. Different sizes are an answer, [`Verdict::Resized`].
pub fn compare(
    before: FrameRef<'_>,
    after: FrameRef<'_>,
    options: &DiffOptions,
) -> Result<ChangeReport> {
    Differ::new(options.clone()).compare(before, after)
}

/// Compares many pairs of frames by the same options, keeping its memory.
#[derive(Clone, Debug)]
pub struct Differ {
    options: DiffOptions,
    differences: Differences,
    finder: AreaFinder,
    move_finder: MoveFinder,
    moves: Moves,
    scope: Option<(Size, Rect, Rendered)>,
}

impl Differ {
    /// A differ for pairs of any size.
    #[must_use]
    pub fn new(options: DiffOptions) -> Self {
        Self {
            options,
            differences: Differences::default(),
            finder: AreaFinder::default(),
            move_finder: MoveFinder::default(),
            moves: Moves::default(),
            scope: None,
        }
    }

    /// The options it was made with.
    #[must_use]
    pub const fn options(&self) -> &DiffOptions {
        &self.options
    }

    /// Puts the first area at the input point, or nearest to it.
    pub fn set_input_point(&mut self, point: Option<Point>) {
        self.options.input_point = point;
    }

    /// Compares one pair.
    ///
    /// # Errors
    /// As [`compare`].
    pub fn compare(&mut self, before: FrameRef<'_>, after: FrameRef<'_>) -> Result<ChangeReport> {
        self.compare_in_stages(before, after, &mut |_| {})
    }

    /// Compares one pair and tells `done` after each stage: for whoever times them apart.
    ///
    /// # Errors
    /// As [`compare`].
    pub(crate) fn compare_in_stages(
        &mut self,
        before: FrameRef<'_>,
        after: FrameRef<'_>,
        done: &mut dyn FnMut(Stage),
    ) -> Result<ChangeReport> {
        let mut report = empty_report(before.size(), after.size());
        if report.verdict == Verdict::Resized && !self.options.common_part {
            return Ok(report);
        }
        let common = before.size().common(after.size());
        let (before, after) = (before.crop(common.rect())?, after.crop(common.rect())?);
        let found = self.find(before, after, &mut report.compared_pixels, done)?;
        report.changed_pixels = found.areas.iter().map(|area| area.changed_pixels).sum();
        report.areas = found.areas;
        report.ignored = found.ignored;
        report.moved = self.moves.blocks().to_vec();
        if let Some((_, bounds, _)) = &self.scope {
            displace_moved(&mut report.moved, *bounds);
        }
        report.judge(self.options.max_changed_pixels);
        Ok(report)
    }

    /// The answer for two frames of `size` known to be the same, such as those of two files of the
    /// same bytes.
    ///
    /// # Errors
    /// As [`compare`].
    pub fn identical(&mut self, size: Size) -> Result<ChangeReport> {
        let mut report = empty_report(size, size);
        self.render_scope(size)?;
        report.compared_pixels = self.scope.as_ref().map_or(0, |(.., scope)| scope.pixels);
        Ok(report)
    }

    /// Compares the bounding box of the scope, and gives the places in whole-frame pixels.
    fn find(
        &mut self,
        before: FrameRef<'_>,
        after: FrameRef<'_>,
        compared_pixels: &mut u64,
        done: &mut dyn FnMut(Stage),
    ) -> Result<Found> {
        self.render_scope(before.size())?;
        let Some((_, bounds, scope)) = &self.scope else { return Ok(Found::default()) };
        *compared_pixels = scope.pixels;
        let (before, after) = (before.crop(*bounds)?, after.crop(*bounds)?);
        diff(before, after, self.options.tolerance, &mut self.differences)?;
        let masked_pixels = leave_out(&mut self.differences, scope);
        if self.options.rules.antialiasing == Antialiasing::Pixel {
            let tolerance = self.options.tolerance;
            set_aside_antialiasing(before, after, tolerance, &mut self.differences);
        }
        done(Stage::Diff);
        self.moves.clear();
        if self.options.moved {
            let compared = (!scope.is_everything()).then_some(&scope.compared);
            let pair = Pair { before, after, tolerance: self.options.tolerance, compared };
            self.move_finder.find(&mut self.differences, pair, &mut self.moves);
        }
        let point = self.options.input_point.map(|point| relative(point, *bounds));
        let rules = &self.options.rules;
        let mut found =
            self.finder.find(&mut self.differences, before, after, rules, point, &self.moves);
        found.ignored.masked_pixels = masked_pixels;
        displace(&mut found, *bounds);
        done(Stage::Areas);
        Ok(found)
    }

    fn render_scope(&mut self, size: Size) -> Result<()> {
        if self.scope.as_ref().is_none_or(|(rendered, ..)| *rendered != size) {
            let (bounds, scope) = self.options.scope.render(size)?;
            self.scope = Some((size, bounds, scope));
        }
        Ok(())
    }
}

/// A part of a comparison that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Every pixel is compared.
    Diff,
    /// The differences are areas, or set aside.
    Areas,
}

fn empty_report(before: Size, after: Size) -> ChangeReport {
    ChangeReport {
        verdict: if before == after { Verdict::Same } else { Verdict::Resized },
        before,
        after,
        compared_pixels: 0,
        changed_pixels: 0,
        areas: Vec::new(),
        moved: Vec::new(),
        ignored: Ignored::default(),
    }
}

/// Takes what the scope leaves out from the differences; says how many differing pixels inside the
/// regions went.
fn leave_out(differences: &mut Differences, scope: &Rendered) -> u64 {
    if scope.is_everything() {
        return 0;
    }
    differences.retain(&scope.inside);
    differences.retain(&scope.compared)
}

/// `point` as seen from the corner of `bounds`; outside, the nearest corner does.
fn relative(point: Point, bounds: Rect) -> Point {
    Point::new(point.x.saturating_sub(bounds.x()), point.y.saturating_sub(bounds.y()))
}

fn displace_moved(blocks: &mut [Moved], bounds: Rect) {
    let there =
        |rect: Rect| rect.moved(bounds.x().cast_signed(), bounds.y().cast_signed()).unwrap_or(rect);
    for block in blocks {
        (block.from, block.to) = (there(block.from), there(block.to));
    }
}

/// Moves everything found from the corner of `bounds` to the corner of the frame.
fn displace(found: &mut Found, bounds: Rect) {
    let moved = |rect: &mut Rect| {
        if let Ok(there) =
            Rect::new(rect.x() + bounds.x(), rect.y() + bounds.y(), rect.width(), rect.height())
        {
            *rect = there;
        }
    };
    found.areas.iter_mut().for_each(|area| moved(&mut area.rect));
    let spots = |spots: &mut Vec<Spot>| spots.iter_mut().for_each(|spot| moved(&mut spot.rect));
    let Ignored { antialiased, specks, carets, masked_pixels: _, faint_pixels: _ } =
        &mut found.ignored;
    [antialiased, specks, carets].into_iter().for_each(spots);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Frame, PixelFormat};

    fn rect(x: u32, y: u32, width: u32, height: u32) -> Rect {
        Rect::new(x, y, width, height).unwrap()
    }

    fn frame(width: u32, height: u32, black: Option<Rect>) -> Frame {
        let size = Size::new(width, height).unwrap();
        let mut frame = Frame::filled(size, PixelFormat::Rgba, [255, 255, 255, 255]);
        if let Some(black) = black {
            for y in black.y()..black.bottom() {
                let start = (y * width + black.x()) as usize * 4;
                for pixel in
                    frame.data_mut()[start..start + black.width() as usize * 4].chunks_exact_mut(4)
                {
                    pixel[..3].fill(0);
                }
            }
        }
        frame
    }

    #[test]
    fn scopes_change_what_counts_and_nothing_else() {
        let change = rect(30, 20, 10, 10);
        let (before, after) = (frame(100, 80, None), frame(100, 80, Some(change)));
        for (scope, areas, masked, compared) in [
            (crate::Scope::everything(), vec![change], 0, 8000),
            (crate::Scope::everything().region(rect(20, 10, 40, 40)), vec![change], 0, 1600),
            (
                crate::Scope::everything().region(rect(35, 10, 20, 40)),
                vec![rect(35, 20, 5, 10)],
                0,
                800,
            ),
            (crate::Scope::everything().region(rect(60, 10, 20, 40)), vec![], 0, 800),
            (
                crate::Scope::everything().ignore(rect(30, 20, 10, 5)),
                vec![rect(30, 25, 10, 5)],
                50,
                7950,
            ),
        ] {
            let options = DiffOptions::preset(Preset::Golden).scope(scope.clone());
            let report = compare(before.as_ref(), after.as_ref(), &options).unwrap();
            let found: Vec<Rect> = report.areas.iter().map(|area| area.rect).collect();
            assert_eq!(found, areas, "{scope:?}");
            assert_eq!(report.ignored.masked_pixels, masked, "{scope:?}");
            assert_eq!(report.compared_pixels, compared, "{scope:?}");
        }
    }

    #[test]
    fn the_budget_forgives_and_still_lists() {
        let (before, after) = (frame(100, 80, None), frame(100, 80, Some(rect(3, 3, 5, 5))));
        for (budget, verdict) in [(24, Verdict::Changed), (25, Verdict::Same)] {
            let options = DiffOptions::preset(Preset::Golden).max_changed_pixels(budget);
            let report = compare(before.as_ref(), after.as_ref(), &options).unwrap();
            assert_eq!((report.verdict, report.areas.len()), (verdict, 1), "budget {budget}");
        }
    }

    #[test]
    fn another_size_is_an_answer_and_the_common_part_on_request() {
        let (before, after) = (frame(100, 80, None), frame(100, 81, Some(rect(3, 3, 5, 5))));
        for (common_part, areas) in [(false, 0), (true, 1)] {
            let options = DiffOptions::preset(Preset::Golden).common_part(common_part);
            let report = compare(before.as_ref(), after.as_ref(), &options).unwrap();
            assert_eq!((report.verdict, report.areas.len()), (Verdict::Resized, areas));
        }
    }
}
