//! What the command takes. Options that mean the same everywhere are one struct each.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::diff::{Antialiasing, Scope, Tolerance};
use crate::error::Result;
use crate::frame;
use crate::geometry::Rect;
use crate::report::{DiffOptions, Preset};

use super::surface::SurfaceName;
use crate::front::duration::parse_duration;

/// What is captured and driven.
#[derive(Debug, Args)]
pub(super) struct SurfaceArgs {
    /// x11 (the whole display), x11:window=TITLE-OR-ID (one window, without the menus and dialogs
    /// it opens), screen (the primary monitor through xcap), screen:monitor=NAME-OR-INDEX,
    /// screen:window=TITLE-OR-ID, replay:DIR or demo.
    #[arg(long, value_name = "S", default_value = "x11")]
    pub(super) surface: SurfaceName,
}

/// Where the answer goes.
#[derive(Debug, Args)]
pub(super) struct OutputArgs {
    /// One JSON object on stdout, everything else on stderr.
    #[arg(long)]
    pub(super) json: bool,
    /// The folder pictures are written to; without it nothing is written.
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
}

/// How frames are compared.
#[derive(Clone, Debug, Args)]
pub(super) struct CompareArgs {
    /// Compare only inside this box of frame pixels; repeatable. Default: the whole frame.
    #[arg(long, value_name = "X,Y,W,H", allow_hyphen_values = true)]
    pub(super) region: Vec<Rect>,
    /// Leave this box of frame pixels out; repeatable.
    #[arg(long, value_name = "X,Y,W,H", allow_hyphen_values = true)]
    pub(super) ignore: Vec<Rect>,
    /// Leave out every pixel that is dark in this picture, which is as large as the frame.
    #[arg(long, value_name = "PNG")]
    pub(super) mask: Option<PathBuf>,
    /// live (screen captures: channel:8, carets and specks set aside), golden (pictures of two
    /// runs: yiq:0.1, anti-aliasing set aside) or exact (everything counts). Default: golden for
    /// diff, live elsewhere.
    #[arg(long, value_name = "PRESET")]
    pub(super) preset: Option<Preset>,
    /// How far one pixel may differ: exact, channel:0..255, yiq:0..1 or oklab:0..1. Default: the
    /// preset's.
    #[arg(long, value_name = "METRIC:N", allow_hyphen_values = true)]
    pub(super) tolerance: Option<Tolerance>,
    /// What becomes of changed pixels that are anti-aliasing: cluster (set aside together, when the
    /// whole cluster is), pixel (each by its neighbours, as pixelmatch does) or count. Default: the
    /// preset's, which is cluster for golden and count for live and exact.
    #[arg(long, value_name = "RULE")]
    pub(super) antialiasing: Option<Antialiasing>,
    /// With at most this many changed pixels the verdict is `same`.
    #[arg(long, value_name = "N", default_value_t = 0, allow_hyphen_values = true)]
    pub(super) max_changed_pixels: u64,
}

impl CompareArgs {
    /// The options these arguments mean, with `preset` where none is given.
    pub(super) fn options(&self, preset: Preset) -> Result<DiffOptions> {
        let mut options = DiffOptions::preset(self.preset.unwrap_or(preset))
            .scope(self.scope()?)
            .max_changed_pixels(self.max_changed_pixels);
        if let Some(tolerance) = self.tolerance {
            options = options.tolerance(tolerance);
        }
        if let Some(antialiasing) = self.antialiasing {
            options = options.antialiasing(antialiasing);
        }
        Ok(options)
    }

    /// The pixels these arguments compare.
    pub(super) fn scope(&self) -> Result<Scope> {
        let scope = self.region.iter().fold(Scope::everything(), |scope, &rect| scope.region(rect));
        let scope = self.ignore.iter().fold(scope, |scope, &rect| scope.ignore(rect));
        match &self.mask {
            Some(path) => Ok(scope.mask(frame::read(path)?.as_ref())),
            None => Ok(scope),
        }
    }
}

/// How long and how often to look.
#[derive(Debug, Args)]
pub(super) struct TimingArgs {
    /// How long to wait at most, such as 5s or 250ms. 0 is one look, which matches and appears can
    /// meet, stable and gone only with --captures 1 --hold 0, changed never.
    #[arg(long, value_name = "D", default_value = "5s", value_parser = parse_duration, allow_hyphen_values = true)]
    pub(super) timeout: Duration,
    /// The average time between two looks; each gap is 0.6 to 1.4 of it. Default: 50ms.
    #[arg(long, value_name = "D", value_parser = parse_duration, allow_hyphen_values = true)]
    pub(super) interval: Option<Duration>,
    /// How long the evidence must stand. Default: 250ms; 0 for matches and appears.
    #[arg(long, value_name = "D", value_parser = parse_duration, allow_hyphen_values = true)]
    pub(super) hold: Option<Duration>,
    /// In how many looks in a row the evidence must stand. Default: 3; 1 for matches and appears.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(super) captures: Option<u32>,
    /// Seeds the irregular gaps between looks: the same seed gives the same gaps.
    #[arg(long, value_name = "N", default_value_t = 0, allow_hyphen_values = true)]
    pub(super) seed: u64,
}
