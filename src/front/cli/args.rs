//! What the command takes. Options that mean the same everywhere are one struct each.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::diff::{Antialiasing, Scope, Tolerance};
use crate::error::{Error, Result};
use crate::frame;
use crate::geometry::Rect;
use crate::report::{DiffOptions, Preset};

use super::surface::SurfaceName;
use crate::front::duration::parse_duration;

/// What is captured and driven.
#[derive(Debug, Args)]
pub(super) struct SurfaceArgs {
    /// x11 (the whole display), x11:window=TITLE-OR-ID (one window, without the menus and dialogs
    /// it opens), browser:URL (a page in a browser of its own), browser:ws://… (one that runs), screen
    /// (the primary monitor through xcap), screen:monitor=NAME-OR-INDEX, screen:window=TITLE-OR-ID,
    /// replay:DIR, demo (on a clock that jumps) or demo:live.
    #[arg(long, value_name = "S", default_value = "x11")]
    surface: SurfaceName,
    #[command(flatten)]
    page: PageArgs,
}

impl SurfaceArgs {
    /// The surface that is named.
    ///
    /// # Errors
    /// When what is said of a page does not go with it.
    pub(super) fn name(&self) -> Result<SurfaceName> {
        self.page.of(self.surface.clone())
    }

    /// As [`Self::name`], of a page at that address.
    ///
    /// # Errors
    /// As [`Self::name`].
    #[cfg(feature = "mcp")]
    pub(super) fn of_page(&self, url: &str) -> Result<SurfaceName> {
        self.page.of(SurfaceName::page(url))
    }
}

/// How a browser is started.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub(in crate::front) struct PageArgs {
    /// Of browser:URL, the page's size in CSS pixels. Default: 1280x800.
    #[arg(long, value_name = "WxH")]
    viewport: Option<String>,
    /// Of browser:URL, device pixels for one CSS pixel, 0.5 to 4. Default: 1.
    #[arg(long, value_name = "N")]
    scale: Option<f32>,
    /// Of browser:URL, with a window on the display. Default: headless.
    #[arg(long)]
    headed: bool,
    /// The number after which references are counted.
    #[arg(skip)]
    count_after: u32,
}

impl PageArgs {
    /// The surface with these options, which only a page that is opened takes.
    fn of(&self, name: SurfaceName) -> Result<SurfaceName> {
        match name {
            SurfaceName::Browser(address, _) if !address.starts_with("ws") => {
                Ok(SurfaceName::Browser(address, self.clone()))
            }
            other if *self == Self::default() => Ok(other),
            _ => Err(Error::usage(
                "--viewport, --scale and --headed are for a page that is opened: use --surface \
                 browser:URL",
            )),
        }
    }

    /// These options for another page; what is not given stays. A window on the display is never
    /// added.
    #[cfg(feature = "mcp")]
    pub(in crate::front) fn narrowed(&self, own: PageChoice, count_after: u32) -> Self {
        let PageChoice { viewport, scale, is_headless } = own;
        Self {
            viewport: viewport.or_else(|| self.viewport.clone()),
            scale: scale.or(self.scale),
            headed: self.headed && !is_headless,
            count_after,
        }
    }

    /// Whether there is a window on the display.
    #[cfg(feature = "mcp")]
    pub(in crate::front) const fn is_headed(&self) -> bool {
        self.headed
    }

    /// The options of the browser.
    ///
    /// # Errors
    /// When the size is none.
    #[cfg(feature = "browser")]
    pub(super) fn options(&self) -> Result<crate::surface::browser::BrowserOptions> {
        let mut options = crate::surface::browser::BrowserOptions::new();
        options = options.headed(self.headed).count_after(self.count_after);
        if let Some(scale) = self.scale {
            options = options.scale(scale);
        }
        if let Some(viewport) = &self.viewport {
            options = options.viewport(size(viewport)?);
        }
        Ok(options)
    }
}

/// What one page is opened with otherwise than the first.
#[cfg(feature = "mcp")]
#[derive(Debug, Default)]
pub(in crate::front) struct PageChoice {
    /// `1280x800`, in CSS pixels.
    pub(in crate::front) viewport: Option<String>,
    /// Device pixels for one CSS pixel.
    pub(in crate::front) scale: Option<f32>,
    pub(in crate::front) is_headless: bool,
}

/// `1280x800`.
#[cfg(feature = "browser")]
fn size(text: &str) -> Result<crate::geometry::Size> {
    let edges = text.split_once('x').and_then(|(width, height)| {
        Some((width.parse::<u32>().ok()?, height.parse::<u32>().ok()?))
    });
    let (width, height) = edges.ok_or_else(|| {
        Error::usage("--viewport is a width and a height in CSS pixels, such as 1280x800")
    })?;
    crate::geometry::Size::new(width, height)
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
    /// diff and compare, live elsewhere.
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
    #[arg(long, value_name = "N", default_value_t = 0, allow_hyphen_values = true, value_parser = whole)]
    pub(super) max_changed_pixels: u64,
}

/// A count, of whatever.
pub(super) fn whole(text: &str) -> Result<u64> {
    text.parse().map_err(|_| Error::usage("it takes a whole number, 0 or more"))
}

impl CompareArgs {
    /// The options these arguments mean, with `preset` where none is given.
    pub(super) fn options(&self, preset: Preset) -> Result<DiffOptions> {
        Ok(self.rules(preset).scope(self.scope()?))
    }

    /// As [`Self::options`], for the whole frame.
    pub(super) fn rules(&self, preset: Preset) -> DiffOptions {
        let mut options = DiffOptions::preset(self.preset.unwrap_or(preset))
            .max_changed_pixels(self.max_changed_pixels);
        if let Some(tolerance) = self.tolerance {
            options = options.tolerance(tolerance);
        }
        if let Some(antialiasing) = self.antialiasing {
            options = options.antialiasing(antialiasing);
        }
        options
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
    #[arg(long, value_name = "N", default_value_t = 0, allow_hyphen_values = true, value_parser = whole)]
    pub(super) seed: u64,
}
