//! The metric of [`Tolerance::Yiq`](super::Tolerance::Yiq): a weighted distance in YIQ, the colour
//! space of NTSC television.
//!
//! Kotsarenko and Ramos, "Measuring perceived color difference using YIQ NTSC transmission color
//! space in mobile applications", Programación Matemática y Software 2 (2), 2010: with the
//! differences of two colours along the axes,
//!
//! ```text
//! Y = 0.29889531 R + 0.58662247 G + 0.11448223 B
//! I = 0.59597799 R - 0.27417610 G - 0.32180189 B
//! Q = 0.21147017 R - 0.52261711 G + 0.31114694 B
//! d = 0.5053 Y² + 0.299 I² + 0.1957 Q²
//! ```
//!
//! and the tolerance is `sqrt(d / 35215)`, 35215 being the largest `d` of two colours. The terms
//! are summed in this order, so a pixel on the edge of the tolerance falls where it falls in
//! pixelmatch 7.

use super::blend::{BLACK, WHITE, difference, on_corners};

/// The largest squared distance of two colours, yellow and blue.
pub(super) const LARGEST: f64 = 35215.0;

/// Y, I and Q as sums of red, green and blue, and the weight of the square of each.
pub(super) const AXES: [([f64; 3], f64); 3] = [
    ([0.298_895_31, 0.586_622_47, 0.114_482_23], 0.5053),
    ([0.595_977_99, -0.274_176_10, -0.321_801_89], 0.299),
    ([0.211_470_17, -0.522_617_11, 0.311_146_94], 0.1957),
];

/// The squared distance of two pixels, 0..=[`LARGEST`]: on the background that shows it best.
///
/// It is convex in the background, so its maximum lies on a corner of the colour cube.
pub(super) fn squared_distance(before: [u8; 4], after: [u8; 4]) -> f64 {
    let on_black = difference(before, after, BLACK);
    if before[3] == after[3] {
        return weighted(on_black);
    }
    let on_white = difference(before, after, WHITE);
    on_corners(on_black, on_white).map(weighted).fold(0.0, f64::max)
}

/// The brightness of a difference of two colours, the Y above.
pub(super) fn brightness([r, g, b]: [f64; 3]) -> f64 {
    let [red, green, blue] = AXES[0].0;
    r * red + g * green + b * blue
}

/// A tolerance as the squared distance it stands for.
pub(super) fn squared(limit: f64) -> f64 {
    LARGEST * limit * limit
}

/// Two opaque colours whose channels differ by at most this much are never further apart than
/// `limit`.
///
/// The distance is a quadratic form, so channels n apart reach at most n / 255 of the scale; one
/// less leaves room for rounding.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
pub(super) fn channel_limit(limit: f64) -> u8 {
    ((255.0 * limit) as u8).saturating_sub(1)
}

fn weighted([r, g, b]: [f64; 3]) -> f64 {
    let [y, i, q] = AXES.map(|([red, green, blue], weight)| {
        let sum = r * red + g * green + b * blue;
        weight * sum * sum
    });
    y + i + q
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn corners() -> impl Iterator<Item = [u8; 3]> {
        [0, 255].into_iter().flat_map(|red| {
            [0, 255].into_iter().flat_map(move |green| [0, 255].map(|blue| [red, green, blue]))
        })
    }

    #[test]
    fn no_two_colours_are_further_apart_than_the_scale_is_long() {
        let opaque = |[r, g, b]: [u8; 3]| [r, g, b, 255];
        let distances = corners().flat_map(|one| {
            corners().map(move |other| squared_distance(opaque(one), opaque(other)))
        });
        let largest = distances.fold(0.0, f64::max);
        assert!((LARGEST - 1.0..=LARGEST).contains(&largest), "{largest}");
    }

    #[test]
    fn alpha_is_judged_on_the_background_that_shows_it() {
        for [r, g, b] in corners() {
            let distance = squared_distance([r, g, b, 255], [r, g, b, 0]);
            assert!(distance > 0.1 * LARGEST, "{:?} against nothing: {distance}", [r, g, b]);
        }
    }

    proptest! {
        #[test]
        fn no_background_shows_more_than_a_corner_does(
            before in any::<[u8; 4]>(), after in any::<[u8; 4]>(), background in any::<[u8; 3]>(),
        ) {
            let there = weighted(difference(before, after, background));
            prop_assert!(there <= squared_distance(before, after) + 1e-9);
        }
    }
}
