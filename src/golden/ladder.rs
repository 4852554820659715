//! How many pixels change at other tolerances.

use crate::diff::Tolerance;
use crate::error::Result;
use crate::frame::FrameRef;
use crate::report::{DiffOptions, Differ};

/// What a check would have found at another tolerance.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AtTolerance {
    /// That tolerance.
    pub tolerance: Tolerance,
    /// How many pixels would have changed.
    pub changed_pixels: u64,
    /// Whether that is within the budget.
    pub passes: bool,
}

/// The same comparison at the other tolerances of a ladder, the strictest first.
///
/// # Errors
/// As [`compare`](crate::report::compare).
pub(super) fn at_others(
    golden: FrameRef<'_>,
    actual: FrameRef<'_>,
    options: &DiffOptions,
) -> Result<Vec<AtTolerance>> {
    let in_force = options.tolerance_in_force();
    let others = rungs(in_force).into_iter().filter(|tolerance| *tolerance != in_force);
    others.map(|tolerance| at(golden, actual, options, tolerance)).collect()
}

/// Blocks that moved count with all their pixels, so they need not be found.
fn at(
    golden: FrameRef<'_>,
    actual: FrameRef<'_>,
    options: &DiffOptions,
    tolerance: Tolerance,
) -> Result<AtTolerance> {
    let options = options.clone().tolerance(tolerance).moved(false);
    let report = Differ::new(options.clone()).compare(golden, actual)?;
    let changed_pixels = report.changed_pixels;
    let passes = changed_pixels <= options.max_changed_pixels_in_force();
    Ok(AtTolerance { tolerance, changed_pixels, passes })
}

/// Steps a person would try, of the metric in force.
fn rungs(in_force: Tolerance) -> Vec<Tolerance> {
    let fractions = [0.02, 0.05, 0.1, 0.2, 0.4];
    match in_force {
        Tolerance::Exact | Tolerance::Channel(_) => {
            let steps = [2, 8, 16, 32, 64].map(Tolerance::Channel);
            [Tolerance::Exact].into_iter().chain(steps).collect()
        }
        Tolerance::Yiq(_) => {
            [Tolerance::Exact].into_iter().chain(fractions.map(Tolerance::Yiq)).collect()
        }
        Tolerance::Oklab(_) => {
            [Tolerance::Exact].into_iter().chain(fractions.map(Tolerance::Oklab)).collect()
        }
    }
}
