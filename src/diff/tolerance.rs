//! How far one pixel may differ, by a named metric.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::frame::PixelFormat;

/// How far two pixels may lie apart and still count as equal.
///
/// Always written with its metric, for a number alone means something else in every tool:
/// `exact`, `channel:8`, `yiq:0.1`, `oklab:0.05`.
///
/// Two fully transparent pixels are equal under every metric, whatever colour they hide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Every byte counts.
    Exact,
    /// The largest absolute difference of a channel, 0..=255.
    Channel(u8),
    /// Weighted YIQ distance, 0..=1, on the scale of pixelmatch 7 and odiff: 0.1 is their default.
    /// Formula: Kotsarenko and Ramos, "Measuring perceived color difference using YIQ NTSC
    /// transmission color space in mobile applications", 2010.
    Yiq(f32),
    /// HyAB distance in OKLab with toe-corrected lightness, 0..=1 (1 is black against white), on
    /// the scale of pixelmatch 8. Formulas: Ottosson, "A perceptual color space for image
    /// processing", 2020; Abasi, Tehran and Fairchild, "Distance metrics for very large color
    /// differences", 2019.
    Oklab(f32),
}

impl Tolerance {
    /// Whether two pixels, as red, green, blue and straight alpha, are further apart than this.
    ///
    /// The perceptual metrics blend what is not opaque onto black and onto white and take the
    /// larger distance, so a change of alpha alone is seen.
    #[must_use]
    pub fn differs(self, before: [u8; 4], after: [u8; 4]) -> bool {
        if equal(before, after) {
            return false;
        }
        match self {
            Self::Exact => true,
            Self::Channel(limit) => max_channel_delta(before, after) > limit,
            Self::Yiq(limit) => on_backgrounds(before, after, yiq_distance) > squared(limit),
            Self::Oklab(limit) => {
                // The matrices are rounded: black against white comes out a hair above 1.
                on_backgrounds(before, after, oklab_distance) > f64::from(limit) + 1e-6
            }
        }
    }
}

impl Tolerance {
    /// Two pixels whose channels differ by at most this much are never further apart than this.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most 255 and never negative"
    )]
    pub(super) fn channel_limit(self, format: PixelFormat) -> u8 {
        match self {
            Self::Exact | Self::Oklab(_) => 0,
            Self::Channel(limit) => limit,
            Self::Yiq(limit) => {
                // 35215 is the largest distance there is, of channels 255 apart: the distance is
                // a quadratic form, so channels n apart reach at most n / 255 of the scale.
                // Blending moves a channel by the difference of its colours and of the alphas.
                let blending = if format == PixelFormat::Rgba { 2.0 } else { 1.0 };
                // One less leaves room for rounding.
                ((255.0 * limit / blending) as u8).saturating_sub(1)
            }
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
    (on_backgrounds(before, after, yiq_distance) / 35215.0).sqrt() as f32
}

/// The largest absolute difference of a channel, alpha included.
pub(crate) fn max_channel_delta(before: [u8; 4], after: [u8; 4]) -> u8 {
    before.iter().zip(after).map(|(&a, b)| a.abs_diff(b)).max().unwrap_or_default()
}

/// The larger distance of the two pixels blended onto black and onto white.
///
/// Both distances are convex in the background, so their maximum lies at an end of its range.
fn on_backgrounds(before: [u8; 4], after: [u8; 4], distance: fn([f64; 3], [f64; 3]) -> f64) -> f64 {
    if before[3] == u8::MAX && after[3] == u8::MAX {
        return distance(blend(before, 0.0), blend(after, 0.0));
    }
    let on = |background| distance(blend(before, background), blend(after, background));
    on(0.0).max(on(255.0))
}

fn blend(pixel: [u8; 4], background: f64) -> [f64; 3] {
    let alpha = f64::from(pixel[3]) / 255.0;
    [pixel[0], pixel[1], pixel[2]]
        .map(|channel| background + (f64::from(channel) - background) * alpha)
}

/// Y, I and Q as sums of red, green and blue, and the weight of each one's square.
pub(super) const YIQ: [([f64; 3], f64); 3] = [
    ([0.298_895_31, 0.586_622_47, 0.114_482_23], 0.5053),
    ([0.595_977_99, -0.274_176_10, -0.321_801_89], 0.299),
    ([0.211_470_17, -0.522_617_11, 0.311_146_94], 0.1957),
];

/// A limit as the squared distance it stands for.
pub(super) fn squared(limit: f32) -> f64 {
    35215.0 * f64::from(limit) * f64::from(limit)
}

/// Squared distance, 0..=35215.
fn yiq_distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    let [r, g, b] = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let square = |([red, green, blue], weight): ([f64; 3], f64)| {
        let sum = r * red + g * green + b * blue;
        weight * sum * sum
    };
    let [y, i, q] = YIQ.map(square);
    y + i + q
}

fn oklab_distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    let (a, b) = (oklab(a), oklab(b));
    (a[0] - b[0]).abs() + (a[1] - b[1]).hypot(a[2] - b[2])
}

/// Toe-corrected lightness and the two colour axes.
fn oklab(rgb: [f64; 3]) -> [f64; 3] {
    let [r, g, b] = rgb.map(linear);
    let l = (0.412_221_470_8 * r + 0.536_332_536_3 * g + 0.051_445_992_9 * b).cbrt();
    let m = (0.211_903_498_2 * r + 0.680_699_545_1 * g + 0.107_396_956_6 * b).cbrt();
    let s = (0.088_302_461_9 * r + 0.281_718_837_6 * g + 0.629_978_700_5 * b).cbrt();
    let lightness = 0.210_454_255_3 * l + 0.793_617_785_0 * m - 0.004_072_046_8 * s;
    [
        toe(lightness),
        1.977_998_495_1 * l - 2.428_592_205_0 * m + 0.450_593_709_9 * s,
        0.025_904_037_1 * l + 0.782_771_766_2 * m - 0.808_675_766_0 * s,
    ]
}

/// sRGB, 0..=255, to linear light, 0..=1.
fn linear(channel: f64) -> f64 {
    let c = channel / 255.0;
    if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

fn toe(lightness: f64) -> f64 {
    const K1: f64 = 0.206;
    const K2: f64 = 0.03;
    const K3: f64 = (1.0 + K1) / (1.0 + K2);
    let x = K3 * lightness - K1;
    0.5 * (x + (x * x + 4.0 * K2 * K3 * lightness).sqrt())
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
        let fraction = || match number.parse::<f32>() {
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
            ("oklab:1", BLACK, WHITE, false),
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
