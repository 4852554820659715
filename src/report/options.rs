//! How two frames are compared: options as values.

use std::str::FromStr;

use crate::areas::AreaRules;
use crate::diff::{Antialiasing, Scope, Tolerance};
use crate::error::{Error, Result};
use crate::geometry::Point;

/// A set of rules for one kind of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Lossless screen captures: `channel:8`, no anti-aliasing rule, carets and specks set aside.
    Live,
    /// Pictures of two runs: `yiq:0.1`, anti-aliasing set aside, every speck and caret counts.
    Golden,
    /// Everything counts.
    Exact,
}

impl Preset {
    /// `live`, `golden` or `exact`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Golden => "golden",
            Self::Exact => "exact",
        }
    }
}

impl FromStr for Preset {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "live" => Ok(Self::Live),
            "golden" => Ok(Self::Golden),
            "exact" => Ok(Self::Exact),
            _ => {
                Err(Error::usage(format!("preset '{text}' is unknown: use live, golden or exact")))
            }
        }
    }
}

/// How two frames are compared. Starts from a [`Preset`]; each setter changes one rule.
#[derive(Clone, Debug, PartialEq)]
pub struct DiffOptions {
    pub(super) tolerance: Tolerance,
    pub(super) rules: AreaRules,
    pub(super) scope: Scope,
    pub(super) max_changed_pixels: u64,
    pub(super) input_point: Option<Point>,
    pub(super) common_part: bool,
    pub(super) moved: bool,
}

impl DiffOptions {
    /// The rules of a preset, over the whole frame, with no budget.
    #[must_use]
    pub fn preset(preset: Preset) -> Self {
        let everything = AreaRules::EVERYTHING;
        let (tolerance, rules) = match preset {
            Preset::Live => (
                Tolerance::Channel(8),
                AreaRules { speck_pixels: 12, carets: true, tint_levels: 1.0, ..everything },
            ),
            Preset::Golden => (
                Tolerance::Yiq(0.1),
                AreaRules { antialiasing: Antialiasing::Cluster, tint_levels: 2.0, ..everything },
            ),
            Preset::Exact => (Tolerance::Exact, everything),
        };
        Self {
            tolerance,
            rules,
            scope: Scope::everything(),
            max_changed_pixels: 0,
            input_point: None,
            common_part: false,
            moved: true,
        }
    }

    /// How far one pixel may differ.
    #[must_use]
    pub const fn tolerance(mut self, tolerance: Tolerance) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Which pixels are compared. Default: all.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// What becomes of changed pixels that are anti-aliasing. Default: `golden` sets clusters of
    /// them aside, `live` and `exact` count them.
    #[must_use]
    pub const fn antialiasing(mut self, antialiasing: Antialiasing) -> Self {
        self.rules.antialiasing = antialiasing;
        self
    }

    /// How clusters are made and set aside.
    #[must_use]
    pub const fn rules(mut self, rules: AreaRules) -> Self {
        self.rules = rules;
        self
    }

    /// Pixels of the frame for one of the user interface. Default 1; what is no positive number
    /// counts as 0, and the lengths it scales end at the largest edge a frame may have.
    #[must_use]
    pub const fn scale(mut self, scale: f32) -> Self {
        self.rules.scale = scale;
        self
    }

    /// The budget: with at most this many changed pixels the verdict is `same`. Pixels of blocks
    /// that moved count as changed. Default 0.
    #[must_use]
    pub const fn max_changed_pixels(mut self, pixels: u64) -> Self {
        self.max_changed_pixels = pixels;
        self
    }

    /// Where the input went, in frame pixels: the area there, or nearest to it, comes first.
    #[must_use]
    pub const fn input_point(mut self, point: Point) -> Self {
        self.input_point = Some(point);
        self
    }

    /// Whether frames of different sizes also get the areas of the part they have in common, laid
    /// corner to corner. Default: no.
    #[must_use]
    pub const fn common_part(mut self, common_part: bool) -> Self {
        self.common_part = common_part;
        self
    }

    /// Whether blocks that reappear displaced are told as such rather than as the areas they
    /// change. Default: yes. The verdict is the same either way: what moved has changed, and its
    /// pixels count against the budget.
    #[must_use]
    pub const fn moved(mut self, moved: bool) -> Self {
        self.moved = moved;
        self
    }

    /// The tolerance in force.
    #[must_use]
    pub const fn tolerance_in_force(&self) -> Tolerance {
        self.tolerance
    }

    /// The cluster rules in force.
    #[must_use]
    pub const fn rules_in_force(&self) -> AreaRules {
        self.rules
    }

    /// The budget in force.
    #[must_use]
    pub const fn max_changed_pixels_in_force(&self) -> u64 {
        self.max_changed_pixels
    }

    /// The scope in force.
    #[must_use]
    pub const fn scope_in_force(&self) -> &Scope {
        &self.scope
    }
}
