//! How far one pixel may differ, by a named metric.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::frame::PixelFormat;

use super::{oklab, yiq};

/// How far two pixels may lie apart and still count as equal.
///
/// Always written with its metric, for a number alone means something else in every tool:
/// `exact`, `channel:8`, `yiq:0.1`, `oklab:0.05`.
///
/// Two fully transparent pixels are equal under every metric, whatever colour they hide. Of opaque
/// pixels `yiq` sees those that pixelmatch 7.2 sees and `oklab` those that pixelmatch 8.0 sees, to
/// the last one. Where a pixel is not opaque the perceptual metrics blend both onto one background,
/// and take of the eight corners of the colour cube the one that shows them furthest apart. So a
/// change of alpha alone is seen whatever the colour, a pixel is judged alike wherever it lies, and
/// more is counted than in pixelmatch, whose background depends on the place in the picture: of its
/// own fixtures in one pair, the fifth, at `yiq:0.1` 256 pixels and not 208.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Every byte counts.
    Exact,
    /// The largest absolute difference of a channel, 0..=255.
    Channel(u8),
    /// Weighted distance in YIQ, 0..=1, on the scale of pixelmatch 7 and odiff: 0.1 is their
    /// default.
    ///
    /// `sqrt((0.5053 ΔY² + 0.299 ΔI² + 0.1957 ΔQ²) / 35215)`, with Y, I and Q of the sRGB bytes:
    /// Kotsarenko and Ramos, "Measuring perceived color difference using YIQ NTSC transmission
    /// color space in mobile applications", 2010.
    Yiq(f64),
    /// HyAB distance in OKLab, on the scale of pixelmatch 8: 0.1 is its default, and 1 the distance
    /// of black and white.
    ///
    /// `|ΔL| + sqrt(Δa² + Δb²)`, with L corrected by a toe: Ottosson, "A perceptual color space for
    /// image processing", 2020, and "Okhsv and Okhsl", 2021; Abasi, Amani Tehran and Fairchild,
    /// "Distance metrics for very large color differences", 2020.
    Oklab(f64),
}

impl Tolerance {
    /// Whether two pixels, as red, green, blue and straight alpha, are further apart than this.
    #[must_use]
    pub fn differs(self, before: [u8; 4], after: [u8; 4]) -> bool {
        if equal(before, after) {
            return false;
        }
        match self {
            Self::Exact => true,
            Self::Channel(limit) => max_channel_delta(before, after) > limit,
            Self::Yiq(limit) => yiq::squared_distance(before, after) > yiq::squared(limit),
            Self::Oklab(limit) => oklab::differs(before, after, limit),
        }
    }
}

impl Tolerance {
    /// Two pixels whose channels differ by at most this much are never further apart than this.
    pub(super) fn channel_limit(self, format: PixelFormat) -> u8 {
        // Blending moves a channel by the difference of its colours and of the alphas.
        let blending = if format == PixelFormat::Rgba { 2 } else { 1 };
        match self {
            Self::Exact => 0,
            Self::Channel(limit) => limit,
            Self::Yiq(limit) => yiq::channel_limit(limit) / blending,
            Self::Oklab(limit) => oklab::channel_limit(limit) / blending,
        }
    }
}

/// Whether two pixels are the same, or both fully transparent.
pub(super) fn equal(before: [u8; 4], after: [u8; 4]) -> bool {
    before == after || (before[3] == 0 && after[3] == 0)
}

/// The distance of two pixels on the scale of [`Tolerance::Yiq`].
#[expect(clippy::cast_possible_truncation, reason = "a fraction")]
pub(crate) fn yiq_fraction(before: [u8; 4], after: [u8; 4]) -> f32 {
    (yiq::squared_distance(before, after) / yiq::LARGEST).sqrt() as f32
}

/// The largest absolute difference of a channel, alpha included.
pub(crate) fn max_channel_delta(before: [u8; 4], after: [u8; 4]) -> u8 {
    before.iter().zip(after).map(|(&a, b)| a.abs_diff(b)).max().unwrap_or_default()
}

impl FromStr for Tolerance {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let unknown = || {
            Error::usage(format!(
                "tolerance '{text}' names no metric: use exact, channel:0..255, yiq:0..1 or \
                 oklab:0..1"
            ))
        };
        if text == "exact" {
            return Ok(Self::Exact);
        }
        let (metric, number) = text.split_once(':').ok_or_else(unknown)?;
        let fraction = || match number.parse::<f64>() {
            Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
            _ => Err(Error::usage(format!(
                "tolerance '{text}' is out of range: {metric} takes 0 to 1, for instance \
                 {metric}:0.1"
            ))),
        };
        match metric {
            "channel" => number.parse().map(Self::Channel).map_err(|_| {
                Error::usage(format!(
                    "tolerance '{text}' is out of range: channel takes a whole number from 0 to \
                     255"
                ))
            }),
            "yiq" => fraction().map(Self::Yiq),
            "oklab" => fraction().map(Self::Oklab),
            _ => Err(unknown()),
        }
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => f.write_str("exact"),
            Self::Channel(limit) => write!(f, "channel:{limit}"),
            Self::Yiq(limit) => write!(f, "yiq:{limit}"),
            Self::Oklab(limit) => write!(f, "oklab:{limit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLACK: [u8; 4] = [0, 0, 0, 255];
    const WHITE: [u8; 4] = [255, 255, 255, 255];

    #[test]
    fn pixels_differ_by_the_named_metric() {
        for (tolerance, before, after, differs) in [
            ("exact", BLACK, [0, 0, 1, 255], true),
            ("exact", [9, 9, 9, 0], [0, 0, 0, 0], false),
            ("channel:8", BLACK, [8, 0, 0, 255], false),
            ("channel:8", BLACK, [9, 0, 0, 255], true),
            ("channel:8", WHITE, [255, 255, 255, 240], true),
            ("yiq:0.1", BLACK, [26, 26, 26, 255], false),
            ("yiq:0.1", BLACK, [27, 27, 27, 255], true),
            ("yiq:0.1", WHITE, [255, 255, 255, 0], true),
            ("yiq:0.1", BLACK, [0, 0, 0, 0], true),
            ("oklab:1", BLACK, [254, 254, 254, 255], false),
            ("oklab:0.99", BLACK, WHITE, true),
            ("oklab:0.1", BLACK, [0, 0, 0, 0], true),
        ] {
            let parsed: Tolerance = tolerance.parse().unwrap();
            assert_eq!(parsed.differs(before, after), differs, "{tolerance} {before:?} {after:?}");
            assert_eq!(parsed.differs(after, before), differs, "{tolerance} is symmetric");
        }
    }

    #[test]
    fn a_tolerance_without_a_metric_is_refused() {
        for text in ["0.1", "8", "", "rgb:3", "channel:256", "channel:-1", "yiq:2", "yiq:NaN"] {
            let message = text.parse::<Tolerance>().unwrap_err().to_string();
            assert!(message.starts_with(&format!("tolerance '{text}'")), "{message}");
        }
    }
}
