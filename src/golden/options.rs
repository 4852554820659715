//! How a picture is checked: options as values.

use std::path::{Path, PathBuf};

use crate::diff::{Scope, Tolerance};
use crate::frame::FrameRef;
use crate::geometry::Rect;
use crate::report::{DiffOptions, Preset};

use super::update::Update;

/// Where a test runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Platform {
    /// Linux.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
    /// Any other.
    Other,
}

impl Platform {
    pub(super) const NAMED: [Self; 4] = [Self::Linux, Self::MacOs, Self::Windows, Self::Other];

    /// The platform this was compiled for.
    #[must_use]
    pub const fn current() -> Self {
        if cfg!(target_os = "linux") {
            Self::Linux
        } else if cfg!(target_os = "macos") {
            Self::MacOs
        } else if cfg!(windows) {
            Self::Windows
        } else {
            Self::Other
        }
    }

    /// What its goldens have before `.png`: `linux`, `macos`, `windows` or `other`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::MacOs => "macos",
            Self::Windows => "windows",
            Self::Other => "other",
        }
    }
}

/// How a picture is checked. Each setter changes one rule.
///
/// The default: the preset `golden` (`yiq:0.1`, anti-aliasing set aside) over the whole picture, no
/// pixel may change, one golden for all platforms, goldens written as `SEECHANGE_UPDATE` says.
#[derive(Clone, Debug, PartialEq)]
pub struct GoldenOptions {
    diff: DiffOptions,
    folder: Option<PathBuf>,
    per_platform: bool,
    update: Option<Update>,
}

impl Default for GoldenOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl GoldenOptions {
    /// The default.
    #[must_use]
    pub fn new() -> Self {
        let diff = DiffOptions::preset(Preset::Golden);
        Self { diff, folder: None, per_platform: false, update: None }
    }

    /// The tolerance and the rules of a preset. Scope and budget stay.
    #[must_use]
    pub fn preset(mut self, preset: Preset) -> Self {
        self.diff = DiffOptions::preset(preset)
            .scope(self.diff.scope_in_force().clone())
            .max_changed_pixels(self.diff.max_changed_pixels_in_force());
        self
    }

    /// How far one pixel may differ.
    #[must_use]
    pub fn tolerance(mut self, tolerance: Tolerance) -> Self {
        self.diff = self.diff.tolerance(tolerance);
        self
    }

    /// The budget: how many pixels may change. Default 0.
    #[must_use]
    pub fn max_changed_pixels(mut self, pixels: u64) -> Self {
        self.diff = self.diff.max_changed_pixels(pixels);
        self
    }

    /// Adds a region; with at least one, only pixels inside some region are compared.
    #[must_use]
    pub fn region(self, rect: Rect) -> Self {
        self.rescope(|scope| scope.region(rect))
    }

    /// Adds a box whose pixels are left out.
    #[must_use]
    pub fn ignore(self, rect: Rect) -> Self {
        self.rescope(|scope| scope.ignore(rect))
    }

    /// Leaves out what is black in a picture of the same size; see [`Scope::mask`].
    #[must_use]
    pub fn mask(self, mask: FrameRef<'_>) -> Self {
        self.rescope(|scope| scope.mask(mask))
    }

    /// Everything there is to say about how two pictures are compared, instead of what was said.
    #[must_use]
    pub fn diff(mut self, diff: DiffOptions) -> Self {
        self.diff = diff;
        self
    }

    /// The folder of the goldens. Default: in [`assert_golden!`](crate::assert_golden) the folder
    /// `golden` beside the source file, else `tests/golden` below the working directory.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// As [`Self::folder`], unless a folder was given.
    #[must_use]
    pub fn or_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder.get_or_insert_with(|| folder.into());
        self
    }

    /// Whether what is written is the golden of this platform alone (`NAME.linux.png`). One that is
    /// there is compared whatever this says; where there is none, the one for all platforms is.
    /// Default: no.
    #[must_use]
    pub const fn per_platform(mut self, per_platform: bool) -> Self {
        self.per_platform = per_platform;
        self
    }

    /// When goldens are written. Default: as the environment says ([`Update::from_env`]).
    #[must_use]
    pub const fn update(mut self, update: Update) -> Self {
        self.update = Some(update);
        self
    }

    /// The same options with a change for one platform.
    ///
    /// ```
    /// use seechange::golden::{GoldenOptions, Platform};
    /// let options = GoldenOptions::new().on(Platform::current(), |o| o.max_changed_pixels(40));
    /// assert_eq!(options, GoldenOptions::new().max_changed_pixels(40));
    /// let other = GoldenOptions::new().on(Platform::Other, |o| o.max_changed_pixels(40));
    /// assert_eq!(other, GoldenOptions::new());
    /// ```
    #[must_use]
    pub fn on(self, platform: Platform, change: impl FnOnce(Self) -> Self) -> Self {
        if platform == Platform::current() { change(self) } else { self }
    }

    /// The rules of the comparison in force.
    #[must_use]
    pub const fn diff_in_force(&self) -> &DiffOptions {
        &self.diff
    }

    pub(super) fn folder_in_force(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    pub(super) const fn is_per_platform(&self) -> bool {
        self.per_platform
    }

    pub(super) const fn update_in_force(&self) -> Option<Update> {
        self.update
    }

    fn rescope(mut self, change: impl FnOnce(Scope) -> Scope) -> Self {
        let scope = change(self.diff.scope_in_force().clone());
        self.diff = self.diff.scope(scope);
        self
    }
}
