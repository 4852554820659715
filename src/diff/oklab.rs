//! The metric of [`Tolerance::Oklab`](super::Tolerance::Oklab): the HyAB distance in OKLab with
//! toe-corrected lightness.
//!
//! - OKLab: Ottosson, "A perceptual color space for image processing", 2020,
//!   <https://bottosson.github.io/posts/oklab/>.
//! - Toe: Ottosson, "Okhsv and Okhsl", 2021, <https://bottosson.github.io/posts/colorpicker/>: near
//!   black a screen shows less of a difference than the cube root makes of it.
//! - HyAB, `|ΔL| + sqrt(Δa² + Δb²)`: Abasi, Amani Tehran and Fairchild, "Distance metrics for very
//!   large color differences", Color Research and Application 45 (2), 2020.
//!
//! Cube roots above 8/4096 are read from a table of 4097 and interpolated, as pixelmatch 8 does:
//! the same pixels on the same side of a tolerance, for less than a thousandth of its scale.

use std::sync::LazyLock;

use super::blend::{BLACK, WHITE, are_opaque, blended, on_corners};

/// Whether two pixels are further apart than `limit`: on the background that shows it best, of the
/// corners of the colour cube.
pub(super) fn differs(before: [u8; 4], after: [u8; 4], limit: f64) -> bool {
    let tables = &*TABLES;
    if are_opaque(before, after) {
        let (before, after) = (tables.opaque(before), tables.opaque(after));
        return before.is_beyond(after, limit);
    }
    let on_all = |pixel| {
        let on = |background| tables.linear(blended(pixel, background));
        on_corners(on(BLACK), on(WHITE)).map(|light| tables.colour(light))
    };
    on_all(before).zip(on_all(after)).any(|(before, after)| before.is_beyond(after, limit))
}

/// How far apart two colours can be whose channels differ by at most 1, 2, 3, …, in ten-thousandths,
/// rounded up.
///
/// The largest distance over all 2^24 colours, each against the corners, edges and faces of the box
/// of that size around it, and up to 8 against everything inside it (beyond, up to 24, for the
/// colours below 40, which are the steepest). From 3 to 37 it is that of (0, 0, n) and (n, n, 0).
const REACH: [u16; 40] = [
    447, 576, 671, 752, 824, 889, 949, 1_004, 1_056, 1_105, 1_153, 1_202, 1_251, 1_301, 1_351,
    1_401, 1_452, 1_502, 1_553, 1_605, 1_656, 1_707, 1_759, 1_811, 1_862, 1_914, 1_966, 2_018,
    2_070, 2_122, 2_174, 2_225, 2_277, 2_329, 2_380, 2_432, 2_483, 2_544, 2_604, 2_665,
];

/// Two opaque colours whose channels differ by at most this much are never further apart than
/// `limit`: with a fiftieth to spare, for colours between the levels.
pub(super) fn channel_limit(limit: f64) -> u8 {
    let within = REACH.iter().take_while(|&&reach| f64::from(reach) * 1.02e-4 <= limit).count();
    u8::try_from(within).unwrap_or(u8::MAX)
}

/// A colour: the cube roots of its cone responses, and its toe-corrected lightness.
#[derive(Clone, Copy)]
struct Colour {
    roots: [f64; 3],
    lightness: f64,
}

impl Colour {
    fn new(roots: [f64; 3]) -> Self {
        let [l, m, s] = roots;
        let lightness = 0.210_454_255_3 * l + 0.793_617_785_0 * m - 0.004_072_046_8 * s;
        Self { roots, lightness: toe(lightness) }
    }

    /// Asked without a root: `x + sqrt(y) > limit` unless `y <= (limit - x)²`.
    fn is_beyond(self, other: Self, limit: f64) -> bool {
        let left = limit - (self.lightness - other.lightness).abs();
        let [a, b] = self.hue_difference(other);
        left < 0.0 || a * a + b * b > left * left
    }

    fn hue_difference(self, other: Self) -> [f64; 2] {
        let of = |cone: usize| self.roots[cone] - other.roots[cone];
        let (l, m, s) = (of(0), of(1), of(2));
        [
            1.977_998_495_1 * l - 2.428_592_205_0 * m + 0.450_593_709_9 * s,
            0.025_904_037_1 * l + 0.782_771_766_2 * m - 0.808_675_766_0 * s,
        ]
    }
}

fn toe(lightness: f64) -> f64 {
    const K1: f64 = 0.206;
    const K2: f64 = 0.03;
    const K3: f64 = (1.0 + K1) / (1.0 + K2);
    let x = K3 * lightness - K1;
    0.5 * (x + (x * x + 4.0 * K2 * K3 * lightness).sqrt())
}

/// How much linear red, green and blue each cone sees.
const CONES: [[f64; 3]; 3] = [
    [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
    [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
    [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
];

/// Steps of the table of cube roots.
const STEPS: u32 = 4096;

/// Below this step the cube root bends too hard to be interpolated.
const FIRST_STEP: f64 = 8.0;

/// What is worked out once: 32 KiB of cube roots, 2 KiB of channels.
struct Tables {
    /// Linear light of each channel value; the last one twice, to interpolate up to it.
    linear: [f64; 257],
    roots: Vec<f64>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables {
    linear: std::array::from_fn(|value| linear(u8::try_from(value).unwrap_or(u8::MAX))),
    roots: (0..=STEPS + 1).map(|step| (f64::from(step) / f64::from(STEPS)).cbrt()).collect(),
});

impl Tables {
    fn opaque(&self, [r, g, b, _]: [u8; 4]) -> Colour {
        let linear = |channel| self.linear[usize::from(channel)];
        self.colour([linear(r), linear(g), linear(b)])
    }

    /// The linear light of channels between the 256 levels, which blending leaves.
    fn linear(&self, rgb: [f64; 3]) -> [f64; 3] {
        rgb.map(|channel| interpolated(&self.linear, channel))
    }

    /// The colour of linear light. Written out: a map over the cones is not unrolled, and takes
    /// twice the instructions.
    fn colour(&self, [r, g, b]: [f64; 3]) -> Colour {
        let [long, medium, short] = CONES;
        let root = |cone: [f64; 3]| self.root(cone[0] * r + cone[1] * g + cone[2] * b);
        Colour::new([root(long), root(medium), root(short)])
    }

    #[inline]
    fn root(&self, cone: f64) -> f64 {
        let step = cone * f64::from(STEPS);
        if step < FIRST_STEP { cone.cbrt() } else { interpolated(&self.roots, step) }
    }
}

/// The value between two entries of a table; `place` is not negative and below its last index.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 4097")]
fn interpolated(table: &[f64], place: f64) -> f64 {
    let step = place as u32;
    let index = step as usize;
    table[index] + (table[index + 1] - table[index]) * (place - f64::from(step))
}

/// sRGB to linear light, 0..=1: IEC 61966-2-1.
fn linear(channel: u8) -> f64 {
    let c = f64::from(channel) / 255.0;
    if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn distance(before: [u8; 3], after: [u8; 3]) -> f64 {
        let [before, after] = [before, after].map(|[r, g, b]| TABLES.opaque([r, g, b, 255]));
        let [a, b] = before.hue_difference(after);
        (before.lightness - after.lightness).abs() + a.hypot(b)
    }

    /// The table's bound for channels `levels` apart.
    fn reach(levels: u8) -> f64 {
        f64::from(REACH[usize::from(levels) - 1]) / 10_000.0
    }

    #[test]
    fn the_table_of_reach_is_exact_near_black_where_it_is_decided() {
        let colours = || (0..9_u8).flat_map(|r| (0..81_u8).map(move |gb| [r, gb / 9, gb % 9]));
        let mut largest = [0.0_f64; 9];
        for (before, after) in colours().flat_map(|one| colours().map(move |two| (one, two))) {
            let levels = before.iter().zip(after).map(|(a, b)| a.abs_diff(b)).max().unwrap();
            let largest = &mut largest[usize::from(levels)];
            *largest = largest.max(distance(before, after));
        }
        for levels in 1..=8_u8 {
            let (largest, reach) = (largest[usize::from(levels)], reach(levels));
            assert!(largest <= reach && largest > reach - 1e-4, "{levels}: {largest} of {reach}");
        }
    }

    #[test]
    fn a_channel_limit_is_the_last_whose_reach_is_within() {
        for (limit, levels) in
            [(0.0, 0), (0.045, 0), (0.046, 1), (0.05, 1), (0.1, 7), (0.2, 26), (1.0, 40)]
        {
            assert_eq!(channel_limit(limit), levels, "oklab:{limit}");
        }
    }

    proptest! {
        #[test]
        fn colours_whose_channels_are_close_are_within_reach(
            before in any::<[u8; 3]>(), levels in 1_u8..=40, moves in any::<[u8; 3]>(),
        ) {
            let moved = |index: usize| {
                let up = before[index].saturating_add(moves[index] % (2 * levels + 1));
                up.saturating_sub(levels).max(before[index].saturating_sub(levels))
            };
            let after = [moved(0), moved(1), moved(2)];
            prop_assert!(distance(before, after) <= reach(levels), "{:?} {:?}", before, after);
        }
    }
}
