//! What holds for every pair of frames.

use proptest::prelude::*;
use seechange::areas::Spot;
use seechange::diff::{Antialiasing, ChangeMask, Differences, Tolerance, diff};
use seechange::{
    ChangeReport, DiffOptions, Frame, PixelFormat, Point, Preset, Rect, Scope, Size, Verdict,
    compare,
};

/// A size, and boxes of colour painted on the frame before and on the frame after.
#[derive(Clone, Debug)]
struct Pair {
    before: Frame,
    after: Frame,
}

type Paint = (u32, u32, u32, u32, [u8; 4]);

fn frame(width: u32, height: u32, paints: &[Paint]) -> Frame {
    let size = Size::new(width, height).unwrap();
    let mut frame = Frame::filled(size, PixelFormat::Rgba, [240, 240, 240, 255]);
    for &(x, y, w, h, colour) in paints {
        for y in y..(y + h).min(height) {
            for x in x..(x + w).min(width) {
                let at = (y * width + x) as usize * 4;
                frame.data_mut()[at..at + 4].copy_from_slice(&colour);
            }
        }
    }
    frame
}

fn paint() -> impl Strategy<Value = Paint> {
    let colour = prop_oneof![
        any::<[u8; 3]>().prop_map(|[r, g, b]| [r, g, b, 255]),
        any::<[u8; 4]>(),
        (225_u8..=255).prop_map(|grey| [grey, grey, grey, 255]),
    ];
    (0_u32..150, 0_u32..90, 1_u32..40, 1_u32..40, colour)
}

fn pair() -> impl Strategy<Value = Pair> {
    let paints = || prop::collection::vec(paint(), 0..8);
    let moves = prop::option::of(any::<([u32; 4], [u32; 2])>());
    (1_u32..150, 1_u32..90, paints(), paints(), moves).prop_map(
        |(width, height, common, more, moves)| {
            let all: Vec<Paint> = common.iter().chain(&more).copied().collect();
            let mut after = frame(width, height, &all);
            let before = frame(width, height, &common);
            if let Some((part, place)) = moves {
                displace(&before, &mut after, part, place);
            }
            Pair { before, after }
        },
    )
}

/// Draws a part of `before` somewhere else on `after`.
fn displace(before: &Frame, after: &mut Frame, part: [u32; 4], [x, y]: [u32; 2]) {
    let (size, from) = (before.size(), inside(before.size(), part));
    let x = x % (size.width() - from.width() + 1);
    let y = y % (size.height() - from.height() + 1);
    let at = |x: u32, y: u32| (y * size.width() + x) as usize * 4;
    for row in 0..from.height() {
        let length = from.width() as usize * 4;
        let source = at(from.x(), from.y() + row);
        let pixels = before.data()[source..source + length].to_vec();
        let target = at(x, y + row);
        after.data_mut()[target..target + length].copy_from_slice(&pixels);
    }
}

fn tolerance() -> impl Strategy<Value = Tolerance> {
    prop_oneof![
        Just(Tolerance::Exact),
        any::<u8>().prop_map(Tolerance::Channel),
        (0.0..1.0).prop_map(Tolerance::Yiq),
        (0.0..1.0).prop_map(Tolerance::Oklab),
    ]
}

fn preset() -> impl Strategy<Value = Preset> {
    prop_oneof![Just(Preset::Live), Just(Preset::Golden), Just(Preset::Exact)]
}

fn antialiasing() -> impl Strategy<Value = Antialiasing> {
    prop_oneof![Just(Antialiasing::Cluster), Just(Antialiasing::Pixel), Just(Antialiasing::Count)]
}

fn changed(before: &Frame, after: &Frame, tolerance: Tolerance) -> ChangeMask {
    let mut differences = Differences::default();
    diff(before.as_ref(), after.as_ref(), tolerance, &mut differences).unwrap();
    differences.changed().clone()
}

fn report(pair: &Pair, options: &DiffOptions) -> ChangeReport {
    compare(pair.before.as_ref(), pair.after.as_ref(), options).unwrap()
}

fn points(rect: Rect) -> impl Iterator<Item = Point> {
    (rect.y()..rect.bottom())
        .flat_map(move |y| (rect.x()..rect.right()).map(move |x| Point::new(x, y)))
}

/// Some rectangle inside `size`, chosen by four numbers.
fn inside(size: Size, [a, b, c, d]: [u32; 4]) -> Rect {
    let (x, y) = (a % size.width(), b % size.height());
    Rect::new(x, y, 1 + c % (size.width() - x), 1 + d % (size.height() - y)).unwrap()
}

fn ignored_pixels(spots: &[Spot]) -> u64 {
    spots.iter().map(|spot| spot.pixels).sum()
}

proptest! {
    #[test]
    fn a_diff_is_symmetric(pair in pair(), tolerance in tolerance()) {
        let there = changed(&pair.before, &pair.after, tolerance);
        prop_assert_eq!(there, changed(&pair.after, &pair.before, tolerance));
    }

    #[test]
    fn a_larger_tolerance_never_sees_more(pair in pair(), a in 0.0_f64..1.0, b in 0.0_f64..1.0) {
        let (low, high) = (a.min(b), a.max(b));
        for (strict, lax) in [
            (Tolerance::Yiq(low), Tolerance::Yiq(high)),
            (Tolerance::Oklab(low), Tolerance::Oklab(high)),
        ] {
            let strict = changed(&pair.before, &pair.after, strict);
            let mut lax = changed(&pair.before, &pair.after, lax);
            prop_assert_eq!(lax.retain(&strict), 0);
        }
    }

    #[test]
    fn cropping_commutes_with_diffing(
        pair in pair(), tolerance in tolerance(), numbers in any::<[u32; 4]>(),
    ) {
        let rect = inside(pair.before.size(), numbers);
        let whole = changed(&pair.before, &pair.after, tolerance);
        let (before, after) = (pair.before.crop(rect).unwrap(), pair.after.crop(rect).unwrap());
        let part = changed(&before, &after, tolerance);
        for point in points(rect) {
            let local = Point::new(point.x - rect.x(), point.y - rect.y());
            prop_assert_eq!(whole.get(point), part.get(local), "{}", point);
        }
    }

    #[test]
    fn channel_order_does_not_matter(pair in pair(), tolerance in tolerance()) {
        let opaque = |frame: &Frame| {
            let mut frame = frame.clone();
            frame.data_mut().chunks_exact_mut(4).for_each(|pixel| pixel[3] = 255);
            frame
        };
        let swapped = |frame: &Frame| {
            let mut data = frame.data().to_vec();
            for (noise, pixel) in data.chunks_exact_mut(4).enumerate() {
                pixel.swap(0, 2);
                pixel[3] = u8::try_from(noise % 251).unwrap();
            }
            Frame::from_raw(frame.size(), PixelFormat::Bgrx, data).unwrap()
        };
        let (before, after) = (opaque(&pair.before), opaque(&pair.after));
        let (before_x, after_x) = (swapped(&before), swapped(&after));
        let answer = changed(&before, &after, tolerance);
        prop_assert_eq!(&answer, &changed(&before_x, &after_x, tolerance));
        prop_assert_eq!(&answer, &changed(&before, &after_x, tolerance));
    }

    #[test]
    fn masked_pixels_never_matter(
        pair in pair(), preset in preset(), numbers in any::<[u32; 4]>(), colour in any::<[u8; 4]>(),
    ) {
        let rect = inside(pair.before.size(), numbers);
        prop_assume!(rect != pair.before.size().rect());
        let scope = Scope::everything().ignore(rect);
        // Anti-aliasing looks at a pixel's neighbours, which may be masked.
        let preset = if preset == Preset::Golden { Preset::Live } else { preset };
        let options = DiffOptions::preset(preset).scope(scope);
        let mut other = pair.clone();
        for point in points(rect) {
            let at = (point.y * pair.after.size().width() + point.x) as usize * 4;
            other.after.data_mut()[at..at + 4].copy_from_slice(&colour);
        }
        let (one, other) = (report(&pair, &options), report(&other, &options));
        prop_assert_eq!(one.areas, other.areas);
        prop_assert_eq!(one.moved, other.moved);
        prop_assert_eq!(one.verdict, other.verdict);
    }

    #[test]
    fn areas_are_disjoint_and_tight_and_all_counts_sum(
        pair in pair(), preset in preset(), antialiasing in antialiasing(),
        numbers in any::<[u32; 4]>(), masks in any::<bool>(),
    ) {
        let mut options = DiffOptions::preset(preset).antialiasing(antialiasing);
        if masks {
            let rect = inside(pair.before.size(), numbers);
            prop_assume!(rect != pair.before.size().rect());
            options = options.scope(Scope::everything().ignore(rect));
        }
        let report = report(&pair, &options);
        for (index, area) in report.areas.iter().enumerate() {
            for other in &report.areas[..index] {
                prop_assert!(area.rect.intersection(other.rect).is_none());
            }
            let differs = |point: &Point| {
                pair.before.as_ref().rgba(*point) != pair.after.as_ref().rgba(*point)
            };
            let rect = area.rect;
            for edge in [
                Rect::new(rect.x(), rect.y(), rect.width(), 1),
                Rect::new(rect.x(), rect.bottom() - 1, rect.width(), 1),
                Rect::new(rect.x(), rect.y(), 1, rect.height()),
                Rect::new(rect.right() - 1, rect.y(), 1, rect.height()),
            ] {
                prop_assert!(points(edge.unwrap()).any(|point| differs(&point)), "{} is not tight", rect);
            }
        }
        let ignored = &report.ignored;
        let counted = report.changed_pixels
            + report.moved_pixels()
            + ignored.masked_pixels
            + ignored.faint_pixels
            + ignored_pixels(&ignored.specks)
            + ignored_pixels(&ignored.carets)
            + ignored_pixels(&ignored.antialiased);
        let differing = changed(&pair.before, &pair.after, Tolerance::Exact).count();
        prop_assert_eq!(counted, differing);
        let is_change = !report.areas.is_empty() || !report.moved.is_empty();
        prop_assert_eq!(report.verdict == Verdict::Changed, is_change);
    }
}
