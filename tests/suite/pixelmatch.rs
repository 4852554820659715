//! The same counts as pixelmatch: 7.2.0 for `yiq`, 8.0.0 for `oklab`.
//!
//! Every row was measured by running that release on the picture, with `includeAA` and without.
//! Opaque pixels agree to the last one. Where pixels are not opaque, pixelmatch blends them onto
//! colours that depend on their place in the picture, and a tolerance here asks for the background
//! that shows most: a crop then answers as the whole does, and more is counted.

use std::path::Path;

use seechange::diff::{Antialiasing, Differences, Tolerance, diff, set_aside_antialiasing};
use seechange::{DiffOptions, Frame, FrameRef, PixelFormat, Preset, Size, compare, frame};

use crate::shared;

/// Counts with anti-aliasing and without.
type Counts = [u64; 2];

#[derive(Clone, Copy, Debug)]
enum Picture {
    /// Random pixels, all others in the second.
    Noise,
    /// Random pixels, each channel moved by up to 40 levels.
    Near,
    /// Random pixels below 16.
    Dark,
    /// Slopes, moved by two pixels and mirrored in one channel.
    Gradients,
    /// Random pixels of few colours, some replaced by any.
    Posters,
    /// A disc with a soft outline, moved by half a pixel.
    Discs,
    /// The same, with random grey pixels.
    Sprinkled,
    /// Random pixels of random alpha, all others in the second.
    Veils,
    /// Random pixels of random alpha, each channel moved by up to 40 levels.
    NearVeils,
    /// The disc, on nothing.
    ClearDiscs,
}

/// Picture, tolerance, pixelmatch 7.2.0's counts, pixelmatch 8.0.0's.
const OPAQUE: &[(Picture, f64, Counts, Counts)] = &[
    (Picture::Noise, 0.0, [2867, 2867], [2867, 2867]),
    (Picture::Noise, 0.05, [2864, 2864], [2859, 2859]),
    (Picture::Noise, 0.1, [2799, 2799], [2808, 2808]),
    (Picture::Noise, 0.2, [2413, 2413], [2532, 2532]),
    (Picture::Noise, 0.5, [494, 494], [975, 975]),
    (Picture::Noise, 1.0, [0, 0], [7, 7]),
    (Picture::Near, 0.0, [2867, 2867], [2867, 2867]),
    (Picture::Near, 0.05, [2414, 2414], [2469, 2469]),
    (Picture::Near, 0.1, [762, 762], [1237, 1237]),
    (Picture::Near, 0.2, [0, 0], [19, 19]),
    (Picture::Near, 0.5, [0, 0], [0, 0]),
    (Picture::Near, 1.0, [0, 0], [0, 0]),
    (Picture::Dark, 0.0, [2866, 2866], [2866, 2866]),
    (Picture::Dark, 0.05, [4, 4], [973, 973]),
    (Picture::Dark, 0.1, [0, 0], [37, 37]),
    (Picture::Dark, 0.2, [0, 0], [0, 0]),
    (Picture::Dark, 0.5, [0, 0], [0, 0]),
    (Picture::Dark, 1.0, [0, 0], [0, 0]),
    (Picture::Gradients, 0.0, [2867, 2867], [2867, 2867]),
    (Picture::Gradients, 0.05, [2079, 2079], [2273, 2273]),
    (Picture::Gradients, 0.1, [1332, 1332], [1662, 1662]),
    (Picture::Gradients, 0.2, [352, 352], [773, 773]),
    (Picture::Gradients, 0.5, [0, 0], [96, 96]),
    (Picture::Gradients, 1.0, [0, 0], [0, 0]),
    (Picture::Posters, 0.0, [447, 440], [447, 440]),
    (Picture::Posters, 0.05, [445, 438], [445, 438]),
    (Picture::Posters, 0.1, [439, 432], [439, 432]),
    (Picture::Posters, 0.2, [397, 391], [410, 404]),
    (Picture::Posters, 0.5, [121, 119], [178, 176]),
    (Picture::Posters, 1.0, [0, 0], [7, 7]),
    (Picture::Discs, 0.0, [122, 0], [122, 0]),
    (Picture::Discs, 0.05, [86, 0], [122, 0]),
    (Picture::Discs, 0.1, [78, 0], [86, 0]),
    (Picture::Discs, 0.2, [63, 0], [68, 0]),
    (Picture::Discs, 0.5, [19, 0], [25, 0]),
    (Picture::Discs, 1.0, [0, 0], [0, 0]),
    (Picture::Sprinkled, 0.0, [372, 186], [372, 186]),
    (Picture::Sprinkled, 0.05, [327, 179], [359, 180]),
    (Picture::Sprinkled, 0.1, [311, 178], [314, 176]),
    (Picture::Sprinkled, 0.2, [266, 157], [277, 164]),
    (Picture::Sprinkled, 0.5, [132, 94], [143, 96]),
    (Picture::Sprinkled, 1.0, [0, 0], [0, 0]),
];

/// Picture, tolerance, the counts of pixelmatch 7.2.0 and 8.0.0 with anti-aliasing, and those of
/// `yiq` and `oklab`.
const VEILED: &[(Picture, f64, Counts, Counts)] = &[
    (Picture::Veils, 0.0, [2867, 2867], [2867, 2867]),
    (Picture::Veils, 0.05, [2707, 2713], [2817, 2840]),
    (Picture::Veils, 0.1, [2334, 2434], [2697, 2759]),
    (Picture::Veils, 0.2, [1452, 1761], [2269, 2496]),
    (Picture::Veils, 0.5, [58, 309], [577, 1113]),
    (Picture::Veils, 1.0, [0, 0], [0, 11]),
    (Picture::NearVeils, 0.0, [2861, 2861], [2861, 2861]),
    (Picture::NearVeils, 0.05, [1352, 1675], [2272, 2490]),
    (Picture::NearVeils, 0.1, [191, 555], [944, 1507]),
    (Picture::NearVeils, 0.2, [0, 20], [4, 149]),
    (Picture::NearVeils, 0.5, [0, 0], [0, 0]),
    (Picture::NearVeils, 1.0, [0, 0], [0, 0]),
    (Picture::ClearDiscs, 0.0, [122, 122], [122, 122]),
    (Picture::ClearDiscs, 0.05, [54, 79], [86, 122]),
    (Picture::ClearDiscs, 0.1, [38, 66], [78, 86]),
    (Picture::ClearDiscs, 0.2, [19, 47], [63, 71]),
    (Picture::ClearDiscs, 0.5, [0, 7], [19, 35]),
    (Picture::ClearDiscs, 1.0, [0, 0], [0, 0]),
];

/// pixelmatch's own fixtures, by number, with its counts as in [`OPAQUE`].
const FIXTURES: &[(u32, f64, Counts, Counts)] = &[
    (1, 0.0, [12933, 10279], [12933, 10279]),
    (1, 0.05, [251, 143], [271, 152]),
    (1, 0.1, [167, 106], [187, 121]),
    (1, 0.2, [122, 69], [148, 94]),
    (1, 0.5, [10, 6], [37, 25]),
    (1, 1.0, [0, 0], [0, 0]),
    (3, 0.0, [583, 374], [583, 374]),
    (3, 0.05, [404, 212], [417, 220]),
    (3, 0.1, [344, 178], [366, 200]),
    (3, 0.2, [222, 91], [223, 92]),
    (3, 0.5, [83, 56], [92, 56]),
    (3, 1.0, [0, 0], [0, 0]),
    (4, 0.0, [69117, 53975], [69117, 53975]),
    (4, 0.05, [41623, 36049], [42506, 36563]),
    (4, 0.1, [10002, 6889], [11078, 7616]),
    (4, 0.2, [392, 252], [2759, 1639]),
    (4, 0.5, [8, 8], [8, 8]),
    (4, 1.0, [0, 0], [0, 0]),
    (6, 0.0, [4900, 51], [4900, 51]),
    (6, 0.05, [4900, 51], [4900, 51]),
    (6, 0.1, [4900, 51], [4610, 38]),
    (6, 0.2, [2556, 51], [3017, 37]),
    (6, 0.5, [22, 8], [53, 6]),
    (6, 1.0, [0, 0], [0, 0]),
];

/// The fifth fixture fades from one side to the other: 256 pixels that are not opaque differ.
/// Tolerance, the counts of pixelmatch 7.2.0 and 8.0.0, those of `yiq` and `oklab`.
const FADING: &[(f64, [Counts; 2], [Counts; 2])] = &[
    (0.0, [[256, 6], [256, 0]], [[256, 6], [256, 0]]),
    (0.05, [[256, 6], [245, 0]], [[256, 6], [256, 0]]),
    (0.1, [[208, 6], [229, 0]], [[256, 6], [256, 0]]),
    (0.2, [[169, 6], [173, 0]], [[256, 6], [256, 0]]),
    (0.5, [[0, 0], [26, 0]], [[2, 0], [256, 0]]),
    (1.0, [[0, 0], [0, 0]], [[0, 0], [0, 0]]),
];

#[test]
fn opaque_pixels_count_as_in_pixelmatch() {
    for &(picture, limit, yiq, oklab) in OPAQUE {
        let (before, after) = pair(picture);
        assert_eq!(counts(&before, &after, Tolerance::Yiq(limit)), yiq, "{picture:?} yiq:{limit}");
        let counted = counts(&before, &after, Tolerance::Oklab(limit));
        assert_eq!(counted, oklab, "{picture:?} oklab:{limit}");
    }
}

#[test]
fn pixels_that_are_not_opaque_count_where_any_background_shows_them() {
    for &(picture, limit, theirs, ours) in VEILED {
        let (before, after) = pair(picture);
        let count = |tolerance| counts(&before, &after, tolerance)[0];
        let counted = [count(Tolerance::Yiq(limit)), count(Tolerance::Oklab(limit))];
        assert_eq!(counted, ours, "{picture:?} at {limit}");
        assert!(theirs[0] <= ours[0] && theirs[1] <= ours[1], "{picture:?} at {limit}");
    }
}

#[test]
fn the_fixtures_of_pixelmatch_count_as_there() {
    let Some(folder) = shared::folder("fixtures/pixelmatch") else { return };
    for &(number, limit, yiq, oklab) in FIXTURES {
        let (before, after) = fixture(&folder, number);
        assert_eq!(counts(&before, &after, Tolerance::Yiq(limit)), yiq, "{number} yiq:{limit}");
        let counted = counts(&before, &after, Tolerance::Oklab(limit));
        assert_eq!(counted, oklab, "{number} oklab:{limit}");
    }
}

#[test]
fn the_fixture_that_is_not_opaque_counts_the_same_without_antialiasing() {
    let Some(folder) = shared::folder("fixtures/pixelmatch") else { return };
    let (before, after) = fixture(&folder, 5);
    for &(limit, theirs, ours) in FADING {
        let count = |tolerance| counts(&before, &after, tolerance);
        assert_eq!([count(Tolerance::Yiq(limit)), count(Tolerance::Oklab(limit))], ours, "{limit}");
        assert_eq!(theirs.map(|counts| counts[1]), ours.map(|counts| counts[1]), "{limit}");
    }
}

#[test]
fn antialiasing_is_the_same_in_every_channel_order_and_with_padded_rows() {
    let tolerance = Tolerance::Yiq(0.05);
    for picture in [Picture::Posters, Picture::Discs, Picture::Sprinkled] {
        let (before, after) = pair(picture);
        let counted = counts(&before, &after, tolerance);
        let swapped = bgrx(&after);
        assert_eq!(counts(&before, &swapped, tolerance), counted, "{picture:?}, mixed");
        assert_eq!(counts(&bgrx(&before), &swapped, tolerance), counted, "{picture:?}, BGRX");
        let (stride, data) = padded(&after);
        let view = FrameRef::new(after.size(), PixelFormat::Rgba, stride, &data).unwrap();
        assert_eq!(counts_of(before.as_ref(), view, tolerance), counted, "{picture:?}, padded");
    }
}

#[test]
fn a_report_counts_each_pixel_once_and_boxes_what_is_set_aside() {
    let (before, after) = pair(Picture::Sprinkled);
    for (antialiasing, changed, set_aside) in [
        (Antialiasing::Pixel, 178, 133),
        (Antialiasing::Cluster, 311, 0),
        (Antialiasing::Count, 311, 0),
    ] {
        let options = DiffOptions::preset(Preset::Golden).antialiasing(antialiasing);
        let report = compare(before.as_ref(), after.as_ref(), &options).unwrap();
        let spots = &report.ignored.antialiased;
        let pixels: u64 = spots.iter().map(|spot| spot.pixels).sum();
        assert_eq!((report.changed_pixels, pixels), (changed, set_aside), "{antialiasing}");
        assert_eq!(spots.is_empty(), set_aside == 0, "{antialiasing}");
    }
}

#[test]
fn an_unknown_rule_for_antialiasing_is_refused() {
    let message = "edges".parse::<Antialiasing>().unwrap_err().to_string();
    assert_eq!(message, "antialiasing 'edges' is unknown: use cluster, pixel or count");
    for rule in [Antialiasing::Cluster, Antialiasing::Pixel, Antialiasing::Count] {
        assert_eq!(rule.to_string().parse::<Antialiasing>().unwrap(), rule);
    }
}

fn bgrx(frame: &Frame) -> Frame {
    let mut data = frame.data().to_vec();
    for (noise, pixel) in data.chunks_exact_mut(4).enumerate() {
        pixel.swap(0, 2);
        pixel[3] = u8::try_from(noise % 251).unwrap();
    }
    Frame::from_raw(frame.size(), PixelFormat::Bgrx, data).unwrap()
}

/// The rows of a frame, each with twelve bytes that mean nothing behind it.
fn padded(frame: &Frame) -> (usize, Vec<u8>) {
    let row = frame.size().width() as usize * 4;
    let rows = frame.data().chunks_exact(row).flat_map(|row| [row, &[77; 12]].concat());
    (row + 12, rows.collect())
}

fn fixture(folder: &Path, number: u32) -> (Frame, Frame) {
    let read =
        |side| frame::read(&folder.join(format!("test__fixtures__{number}{side}.png"))).unwrap();
    (read('a'), read('b'))
}

fn counts(before: &Frame, after: &Frame, tolerance: Tolerance) -> Counts {
    counts_of(before.as_ref(), after.as_ref(), tolerance)
}

fn counts_of(before: FrameRef<'_>, after: FrameRef<'_>, tolerance: Tolerance) -> Counts {
    let mut differences = Differences::default();
    diff(before, after, tolerance, &mut differences).unwrap();
    let all = differences.changed().count();
    set_aside_antialiasing(before, after, tolerance, &mut differences);
    assert_eq!(differences.changed().count() + differences.antialiased().count(), all);
    [all, differences.changed().count()]
}

fn pair(picture: Picture) -> (Frame, Frame) {
    let mut random = Random(match picture {
        Picture::Near => 2,
        Picture::Dark => 3,
        Picture::Posters => 4,
        Picture::Veils => 5,
        Picture::NearVeils => 6,
        Picture::Sprinkled => 7,
        _ => 1,
    });
    match picture {
        Picture::Noise => two(|| random.opaque()),
        Picture::Near => {
            let before = drawn(|_, _| random.opaque());
            let after = near(&before, &mut random, 3);
            (before, after)
        }
        Picture::Dark => two(|| dimmed(random.opaque())),
        Picture::Gradients => (
            drawn(|x, y| [4 * x, 5 * y, 2 * (x + y), 255].map(byte)),
            drawn(|x, y| [4 * (x - 2).max(0), 5 * y, 255 - 2 * (x + y), 255].map(byte)),
        ),
        Picture::Posters => posters(&mut random),
        Picture::Discs => (drawn(inked(BEFORE)), drawn(inked(AFTER))),
        Picture::Sprinkled => sprinkled(&mut random),
        Picture::Veils => two(|| random.pixel()),
        Picture::NearVeils => {
            let before = drawn(|_, _| random.pixel());
            let after = near(&before, &mut random, 4);
            (before, after)
        }
        Picture::ClearDiscs => {
            let veiled = |disc| move |x, y| [20, 60, 160, byte(covered(disc, x, y) * 255 / 16)];
            (drawn(veiled(BEFORE)), drawn(veiled(AFTER)))
        }
    }
}

fn two(mut pixel: impl FnMut() -> [u8; 4]) -> (Frame, Frame) {
    let before = drawn(|_, _| pixel());
    (before, drawn(|_, _| pixel()))
}

/// A picture pixel by pixel, row by row.
fn drawn(mut pixel: impl FnMut(i32, i32) -> [u8; 4]) -> Frame {
    let data = (0..47).flat_map(|y| (0..61).map(move |x| (x, y)));
    let data = data.flat_map(|(x, y)| pixel(x, y)).collect();
    Frame::from_raw(Size::new(61, 47).unwrap(), PixelFormat::Rgba, data).unwrap()
}

/// Each of the first `channels` of every pixel moved by up to 40 levels.
fn near(before: &Frame, random: &mut Random, channels: usize) -> Frame {
    let mut after = before.clone();
    for pixel in after.data_mut().chunks_exact_mut(4) {
        for channel in &mut pixel[..channels] {
            *channel =
                byte((i32::from(*channel) + i32::from(random.byte() % 81) - 40).clamp(0, 255));
        }
    }
    after
}

fn dimmed([r, g, b, a]: [u8; 4]) -> [u8; 4] {
    [r >> 4, g >> 4, b >> 4, a]
}

fn posters(random: &mut Random) -> (Frame, Frame) {
    let before = drawn(|_, _| {
        let [r, g, b, a] = random.opaque();
        [r & 128, g & 128, b & 64, a]
    });
    let mut after = before.clone();
    for pixel in after.data_mut().chunks_exact_mut(4) {
        if random.byte() < 40 {
            pixel[..3].fill_with(|| random.byte());
        }
    }
    (before, after)
}

fn sprinkled(random: &mut Random) -> (Frame, Frame) {
    let (before, mut after) = pair(Picture::Discs);
    for pixel in after.data_mut().chunks_exact_mut(4) {
        if random.byte() < 24 {
            pixel[..3].fill(random.byte());
        }
    }
    (before, after)
}

/// Middle and radius, in eighths of a pixel.
type Disc = (i32, i32, i32);

const BEFORE: Disc = (240, 190, 130);
const AFTER: Disc = (243, 188, 133);

fn inked(disc: Disc) -> impl Fn(i32, i32) -> [u8; 4] {
    move |x, y| {
        let ink = |to: i32| byte(255 + (to - 255) * covered(disc, x, y) / 16);
        [ink(20), ink(60), ink(160), 255]
    }
}

/// How many of a pixel's sixteen samples lie in the disc.
fn covered((middle_x, middle_y, radius): Disc, x: i32, y: i32) -> i32 {
    let samples = (0..4).flat_map(|row| (0..4).map(move |column| (column, row)));
    let inside = samples.filter(|(column, row)| {
        let (dx, dy) = (8 * x + 2 * column + 1 - middle_x, 8 * y + 2 * row + 1 - middle_y);
        dx * dx + dy * dy <= radius * radius
    });
    i32::try_from(inside.count()).unwrap()
}

fn byte(value: i32) -> u8 {
    u8::try_from(value).unwrap()
}

/// The linear congruential generator of "Numerical Recipes": the same pictures everywhere.
struct Random(u32);

impl Random {
    fn byte(&mut self) -> u8 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0.to_be_bytes()[0]
    }

    fn opaque(&mut self) -> [u8; 4] {
        [self.byte(), self.byte(), self.byte(), 255]
    }

    fn pixel(&mut self) -> [u8; 4] {
        [self.byte(), self.byte(), self.byte(), self.byte()]
    }
}
