//! Content that moved, on drawn pages: which block went where, and what is new.

use proptest::prelude::*;
use seechange::areas::Spot;
use seechange::report::Moved;
use seechange::{
    ChangeReport, DiffOptions, Frame, FrameRef, PixelFormat, Point, Preset, Rect, Scope, Size,
    Verdict, compare,
};

const WHITE: [u8; 3] = [255, 255, 255];
const INK: [u8; 3] = [40, 40, 48];
const LINE: [u8; 3] = [200, 204, 210];
const BLUE: [u8; 3] = [40, 90, 200];

/// The cell of a letter, which is five by seven pixels itself.
const LETTER: (u32, u32) = (6, 12);

fn rect(x: u32, y: u32, width: u32, height: u32) -> Rect {
    Rect::new(x, y, width, height).unwrap()
}

/// A frame to draw on.
#[derive(Clone)]
struct Page(Frame);

impl Page {
    fn new(width: u32, height: u32) -> Self {
        let size = Size::new(width, height).unwrap();
        Self(Frame::filled(size, PixelFormat::Rgba, [255, 255, 255, 255]))
    }

    fn width(&self) -> u32 {
        self.0.size().width()
    }

    fn put(&mut self, x: u32, y: u32, [r, g, b]: [u8; 3]) {
        let at = (y * self.width() + x) as usize * 4;
        self.0.data_mut()[at..at + 4].copy_from_slice(&[r, g, b, 255]);
    }

    fn fill(&mut self, rect: Rect, colour: [u8; 3]) {
        for y in rect.y()..rect.bottom() {
            (rect.x()..rect.right()).for_each(|x| self.put(x, y, colour));
        }
    }

    /// Five by seven pixels that look like no other letter's; the outline is always the same size.
    fn letter(&mut self, x: u32, y: u32, letter: char) {
        let bits = mixed(u32::from(letter));
        for (index, (row, column)) in
            (0..7).flat_map(|row| (0..5).map(move |column| (row, column))).enumerate()
        {
            let is_corner = (row == 0 || row == 6) && (column == 0 || column == 4);
            if is_corner || bits >> (index % 31) & 1 == 1 {
                self.put(x + column, y + row, INK);
            }
        }
    }

    fn text(&mut self, x: u32, y: u32, text: &str) {
        for (index, letter) in (0..).zip(text.chars()) {
            if letter != ' ' {
                self.letter(x + index * LETTER.0, y, letter);
            }
        }
    }

    /// Rows 24 px tall: a rule across, and a line of text of its own for each number.
    fn list(&mut self, within: Rect, rows: impl Iterator<Item = u32>) {
        for (place, row) in (0..).zip(rows) {
            let y = within.y() + place * 24;
            if y + 20 > within.bottom() {
                return;
            }
            self.fill(rect(within.x(), y, within.width(), 1), LINE);
            let letters = (within.width() - 16) / LETTER.0;
            self.text(within.x() + 8, y + 8, &words(row, letters));
        }
    }

    /// What `from` shows, drawn at `to`.
    fn copy(&mut self, source: &Self, from: Rect, x: u32, y: u32) {
        for (row, column) in
            (0..from.height()).flat_map(|row| (0..from.width()).map(move |column| (row, column)))
        {
            let [r, g, b, _] =
                source.0.as_ref().rgba(Point::new(from.x() + column, from.y() + row));
            self.put(x + column, y + row, [r, g, b]);
        }
    }
}

/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
fn mixed(number: u32) -> u32 {
    let mut z = (u64::from(number) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    u32::try_from((z ^ z >> 31) >> 32).unwrap()
}

/// A line of `letters` letters and spaces that no other number has; ends with a letter.
fn words(number: u32, letters: u32) -> String {
    let letter = |index: u32| match mixed(number.wrapping_mul(131).wrapping_add(index)) % 30 {
        26.. if index > 0 && index + 1 < letters => ' ',
        other => char::from(b'a' + u8::try_from(other % 26).unwrap()),
    };
    (0..letters).map(letter).collect()
}

fn live(before: &Page, after: &Page) -> ChangeReport {
    report(before, after, &DiffOptions::preset(Preset::Live))
}

fn report(before: &Page, after: &Page, options: &DiffOptions) -> ChangeReport {
    let report = compare(before.0.as_ref(), after.0.as_ref(), options).unwrap();
    check(before.0.as_ref(), after.0.as_ref(), &report);
    report
}

/// Every pixel of a block equals its source, did not change, or is told.
fn check(before: FrameRef<'_>, after: FrameRef<'_>, report: &ChangeReport) {
    let ignored = &report.ignored;
    let spots = || ignored.specks.iter().chain(&ignored.carets).chain(&ignored.antialiased);
    for moved in &report.moved {
        let (dx, dy) = moved.displacement();
        assert_eq!(moved.from.size(), moved.to.size());
        for (x, y) in (moved.to.y()..moved.to.bottom())
            .flat_map(|y| (moved.to.x()..moved.to.right()).map(move |x| (x, y)))
        {
            let (here, source) = (
                Point::new(x, y),
                Point::new(x.wrapping_add_signed(-dx), y.wrapping_add_signed(-dy)),
            );
            let differs =
                |one: [u8; 4], other: [u8; 4]| seechange::Tolerance::Channel(8).differs(one, other);
            let is_told = report.areas.iter().any(|area| area.rect.contains(here))
                || spots().any(|spot: &Spot| spot.rect.contains(here));
            assert!(
                !differs(before.rgba(source), after.rgba(here))
                    || !differs(before.rgba(here), after.rgba(here))
                    || is_told,
                "{here} of {moved:?} is neither its source, nor unchanged, nor told"
            );
        }
    }
}

/// The blocks as (from, dx, dy), and the boxes of the areas.
fn told(report: &ChangeReport) -> (Vec<(Rect, i32, i32)>, Vec<Rect>) {
    let block = |moved: &Moved| {
        let (dx, dy) = moved.displacement();
        (moved.from, dx, dy)
    };
    (report.moved.iter().map(block).collect(), report.areas.iter().map(|area| area.rect).collect())
}

/// A page with a header and a sidebar that stay.
fn framed() -> Page {
    let mut page = Page::new(640, 480);
    page.fill(rect(0, 0, 640, 40), BLUE);
    page.list(rect(0, 48, 120, 432), 1000..);
    page
}

const MAIN: (u32, u32, u32, u32) = (140, 48, 480, 432);

fn main_part() -> Rect {
    rect(MAIN.0, MAIN.1, MAIN.2, MAIN.3)
}

fn with_list(rows: impl Iterator<Item = u32>) -> Page {
    let mut page = framed();
    page.list(main_part(), rows);
    page
}

/// A framed page over whose main part a longer page lies scrolled down by `by`.
fn scrolled(by: u32) -> Page {
    let mut long = Page::new(640, 1200);
    long.list(rect(MAIN.0, 0, MAIN.2, 1200), 0..);
    let mut page = framed();
    page.copy(&long, rect(MAIN.0, by, MAIN.2, MAIN.3), MAIN.0, MAIN.1);
    page
}

/// Two panels side by side over longer content, each scrolled by its own amount.
fn two_panels(left: u32, right: u32) -> Page {
    let mut long = Page::new(640, 1200);
    long.list(rect(20, 0, 280, 1200), 0..);
    long.list(rect(320, 0, 300, 1200), 500..);
    let mut page = Page::new(640, 480);
    page.fill(rect(0, 0, 640, 40), BLUE);
    page.copy(&long, rect(20, left, 280, 400), 20, 60);
    page.copy(&long, rect(320, right, 300, 400), 320, 60);
    page
}

/// A card on the framed page, 120x60.
fn card(x: u32, y: u32) -> Page {
    let mut page = framed();
    page.fill(rect(x, y, 120, 60), BLUE);
    page.fill(rect(x + 2, y + 2, 116, 56), WHITE);
    page.text(x + 10, y + 10, "dragged card");
    page.text(x + 10, y + 30, "second line");
    page
}

/// A plain icon on the framed page, 24x24.
fn icon(x: u32, y: u32) -> Page {
    let mut page = framed();
    page.fill(rect(x, y, 24, 24), BLUE);
    page
}

/// A row of cards, 130 px wide every 140 px, scrolled to the right.
fn carousel(by: u32) -> Page {
    let mut long = Page::new(2000, 200);
    for number in 0..14 {
        let x = number * 140;
        long.fill(rect(x, 20, 130, 100), [u8::try_from(number * 17).unwrap(), 90, 120]);
        long.text(x + 5, 40, &words(number, 19));
        long.text(x + 5, 60, &words(number + 50, 19));
    }
    let mut page = Page::new(640, 200);
    page.copy(&long, rect(by, 0, 560, 200), 40, 0);
    page
}

/// A table whose rows are all the same, scrolled.
fn table(by: u32) -> Page {
    let mut page = framed();
    for y in (0..400_u32).filter(|y| (y + by).is_multiple_of(24)) {
        page.fill(rect(MAIN.0, 60 + y, MAIN.2, 1), LINE);
    }
    for y in (0..390).filter(|y| (y + by) % 24 == 8) {
        page.text(MAIN.0 + 8, 60 + y, "the same row again");
    }
    page
}

/// A plain panel of that height.
fn ground(top: u32, bottom: u32) -> Page {
    let mut page = framed();
    page.fill(rect(200, top, 200, bottom - top), BLUE);
    page
}

/// The main list with a gap of `gap` rows after its fifth row.
fn with_gap(gap: u32) -> Page {
    let mut page = framed();
    page.list(rect(MAIN.0, 48, MAIN.2, 120), 0..5);
    page.list(rect(MAIN.0, 168 + gap, MAIN.2, 240), 5..);
    page
}

fn with_letter(mut page: Page, x: u32, y: u32, letter: char) -> Page {
    page.fill(rect(x, y, 5, 7), WHITE);
    page.letter(x, y, letter);
    page
}

fn with_label(mut page: Page) -> Page {
    page.text(420, 220, "a label that goes");
    page
}

/// The same page with a box that floats above it.
fn with_bubble(mut page: Page) -> Page {
    page.fill(rect(540, 400, 60, 40), BLUE);
    page
}

/// Lines of letters that stand in cells of 8x16 px, as in a terminal.
fn terminal(lines: impl Iterator<Item = u32>) -> Page {
    let mut page = Page::new(700, 500);
    for (place, line) in (0..).zip(lines.take(30)) {
        for (cell, letter) in (0..).zip(words(line, 80).chars()) {
            for bit in (0..54).filter(|_| letter != ' ') {
                if mixed(u32::from(letter) * 64 + bit) % 100 < 45 {
                    page.put(11 + cell * 8 + bit % 6, 14 + place * 16 + bit / 6, INK);
                }
            }
        }
    }
    page
}

type Block = ((u32, u32, u32, u32), i32, i32);

/// A name, the frames, the blocks as (from, dx, dy), and the areas.
type Case = (&'static str, Page, Page, Vec<Block>, Vec<(u32, u32, u32, u32)>);

fn cases() -> Vec<Case> {
    let base = with_list(0..);
    vec![
        (
            "a row inserted below a header, beside a sidebar",
            base.clone(),
            with_list((0..4).chain([77]).chain(4..)),
            vec![((148, 152, 461, 295), 0, 24)],
            vec![(148, 152, 461, 7)],
        ),
        (
            "a row deleted",
            base,
            with_list((0..4).chain(5..)),
            vec![((148, 176, 461, 295), 0, -24)],
            vec![(148, 464, 461, 7)],
        ),
        (
            "seven rows of pixels inserted",
            with_gap(0),
            with_gap(7),
            vec![((140, 168, 480, 231), 0, 7)],
            vec![(140, 168, 480, 1)],
        ),
        (
            "a panel scrolled by 37",
            scrolled(100),
            scrolled(137),
            vec![((140, 89, 480, 388), 0, -37)],
            vec![(140, 440, 480, 38)],
        ),
        (
            "a panel scrolled back by half its height",
            scrolled(300),
            scrolled(50),
            vec![((140, 48, 480, 182), 0, 250)],
            vec![(140, 48, 480, 250)],
        ),
        (
            "two panels scrolled by different amounts",
            two_panels(100, 200),
            two_panels(137, 181),
            vec![((320, 60, 300, 377), 0, 19), ((20, 101, 280, 354), 0, -37)],
            vec![(20, 424, 280, 36), (320, 60, 300, 17)],
        ),
        (
            "a line inserted where letters stand in cells",
            terminal(0..),
            terminal((0..5).chain([77]).chain(5..)),
            vec![((11, 94, 638, 377), 0, 16)],
            vec![(11, 94, 638, 9)],
        ),
        (
            "a card dragged to the right",
            card(150, 100),
            card(350, 100),
            vec![((150, 100, 120, 60), 200, 0)],
            vec![(150, 100, 120, 60)],
        ),
        (
            "a card dragged over part of its own place",
            card(150, 100),
            card(163, 100),
            vec![((150, 100, 120, 60), 13, 0)],
            vec![(150, 100, 13, 60)],
        ),
        (
            "a card dragged askew",
            card(150, 100),
            card(471, 313),
            vec![((150, 100, 120, 60), 321, 213)],
            vec![(150, 100, 120, 60)],
        ),
        (
            "a plain icon dragged",
            icon(150, 100),
            icon(407, 233),
            vec![((150, 100, 24, 24), 257, 133)],
            vec![(150, 100, 24, 24)],
        ),
        (
            "a carousel one card further",
            carousel(140),
            carousel(280),
            vec![((180, 20, 410, 100), -140, 0)],
            vec![(460, 20, 130, 100)],
        ),
        (
            "a letter edited in a panel that scrolled",
            scrolled(100),
            with_letter(scrolled(137), MAIN.0 + 80, 240, 'q'),
            vec![((140, 89, 480, 388), 0, -37)],
            vec![(140, 440, 480, 38), (220, 240, 5, 7)],
        ),
        (
            "a card that moved beside a label that went",
            with_label(card(150, 200)),
            card(150, 150),
            vec![((150, 200, 120, 60), 0, -50)],
            vec![(150, 210, 120, 50), (420, 220, 101, 7)],
        ),
        ("a periodic table scrolled", table(0), table(10), vec![], vec![]),
        ("flat ground that shrank", ground(100, 400), ground(130, 400), vec![], vec![]),
        (
            "one letter edited",
            card(150, 100),
            with_letter(card(150, 100), 160, 110, 'q'),
            vec![],
            vec![],
        ),
    ]
}

#[test]
fn blocks_that_moved_are_named_and_what_is_new_is_listed() {
    for (name, before, after, blocks, areas) in cases() {
        for preset in [Preset::Live, Preset::Golden, Preset::Exact] {
            let report = report(&before, &after, &DiffOptions::preset(preset));
            let (moved, new) = told(&report);
            let wanted: Vec<_> =
                blocks.iter().map(|&((x, y, w, h), dx, dy)| (rect(x, y, w, h), dx, dy)).collect();
            assert_eq!(moved, wanted, "{name}, {preset:?}");
            let areas: Vec<Rect> = areas.iter().map(|&(x, y, w, h)| rect(x, y, w, h)).collect();
            assert!(areas.is_empty() || new == areas, "{name}, {preset:?}: {new:?}");
            assert_eq!(report.verdict, Verdict::Changed, "{name}");
        }
    }
}

#[test]
fn the_way_back_is_the_way_there_turned_round() {
    for (name, before, after, ..) in cases() {
        let ways = |report: &ChangeReport, sign: i32| {
            let mut ways: Vec<(i32, i32)> = report
                .moved
                .iter()
                .map(Moved::displacement)
                .map(|(dx, dy)| (sign * dx, sign * dy))
                .collect();
            ways.sort_unstable();
            ways
        };
        let (there, back) = (live(&before, &after), live(&after, &before));
        assert_eq!(ways(&there, 1), ways(&back, -1), "{name}");
    }
}

#[test]
fn what_floats_above_stays_where_it_is() {
    let (before, after) = (with_bubble(scrolled(100)), with_bubble(scrolled(137)));
    let report = live(&before, &after);
    let (moved, areas) = told(&report);
    assert_eq!(moved, [(rect(140, 89, 480, 388), 0, -37)]);
    // What it hides no more, and the text that went behind it.
    assert!(
        areas.iter().all(|area| {
            area.y() >= 440 || area.intersection(rect(540, 363, 60, 117)).is_some()
        }),
        "{areas:?}"
    );
}

#[test]
fn an_edit_is_told_wherever_the_panel_is() {
    let before = scrolled(100);
    for by in [1, 24, 37] {
        let after = scrolled(100 + by);
        for letter in 'a'..='h' {
            let (x, y) = (MAIN.0 + 80, 240 - by);
            let edited = with_letter(after.clone(), x, y, letter);
            let place = rect(x, y, 5, 7);
            let differs = edited.0.crop(place).unwrap() != after.0.crop(place).unwrap();
            let report = live(&before, &edited);
            let found = report.areas.iter().any(|area| area.rect.intersection(place).is_some());
            let alone = live(&after, &edited);
            assert_eq!(found, !alone.areas.is_empty(), "{letter} by {by}: {differs}");
        }
    }
}

#[test]
fn a_block_counts_against_the_budget() {
    let (before, after) = (card(150, 100), card(350, 100));
    let options = DiffOptions::preset(Preset::Live);
    let pixels = report(&before, &after, &options).moved_pixels();
    let changed = report(&before, &after, &options).changed_pixels;
    assert!(pixels > 500 && changed > 500, "{pixels} moved, {changed} changed");
    for (budget, verdict) in
        [(changed + pixels - 1, Verdict::Changed), (changed + pixels, Verdict::Same)]
    {
        let report = report(&before, &after, &options.clone().max_changed_pixels(budget));
        assert_eq!((report.verdict, report.moved.len()), (verdict, 1), "{budget}");
    }
    let plain = report(&before, &after, &options.moved(false));
    assert_eq!((plain.moved.len(), plain.changed_pixels), (0, changed + pixels));
}

#[test]
fn scopes_formats_and_strides_make_no_difference() {
    let (before, after) = (scrolled(100), scrolled(137));
    let swapped = |page: &Page, noise: u8| {
        let mut data = page.0.data().to_vec();
        for (index, pixel) in data.chunks_exact_mut(4).enumerate() {
            pixel.swap(0, 2);
            pixel[3] = noise.wrapping_add(u8::try_from(index % 251).unwrap());
        }
        Frame::from_raw(page.0.size(), PixelFormat::Bgrx, data).unwrap()
    };
    let (before_x, after_x) = (swapped(&before, 3), swapped(&after, 77));
    let options = DiffOptions::preset(Preset::Live);
    let plain = live(&before, &after);
    for (one, other) in [(&before_x, &after_x), (&before.0, &after_x), (&before_x, &after.0)] {
        assert_eq!(compare(one.as_ref(), other.as_ref(), &options).unwrap(), plain);
    }
    let part = rect(130, 40, 500, 440);
    let view = |page: &'_ Page| page.0.crop(part).unwrap();
    let stridden = compare(
        before.0.as_ref().crop(part).unwrap(),
        after.0.as_ref().crop(part).unwrap(),
        &options,
    );
    let packed = compare(view(&before).as_ref(), view(&after).as_ref(), &options);
    assert_eq!(stridden.unwrap(), packed.unwrap());
    let scoped = options.clone().scope(Scope::everything().region(part));
    assert_eq!(report(&before, &after, &scoped).moved, plain.moved);
    let masked = options.scope(Scope::everything().ignore(rect(200, 200, 100, 50)));
    let (moved, _) = told(&report(&before, &after, &masked));
    assert_eq!(moved, [(rect(140, 89, 480, 388), 0, -37)]);
}

#[test]
fn a_taller_page_tells_what_moved_in_the_part_both_have() {
    let (before, longer) = (with_list(0..), with_list((0..4).chain([77]).chain(4..)));
    let mut after = Page::new(640, 504);
    after.copy(&longer, longer.0.size().rect(), 0, 0);
    let options = DiffOptions::preset(Preset::Golden).common_part(true);
    let report = report(&before, &after, &options);
    assert_eq!(report.verdict, Verdict::Resized);
    assert_eq!(told(&report).0, [(rect(148, 152, 461, 295), 0, 24)]);
    assert_eq!(
        report.sentences(),
        "The size changed from 640x480 to 640x504 (24 px taller).
1 block moved, and pixels changed in 1 area (frame pixels; 0.39% of the part both have):
  moved down by 24 px: x=148 y=152 w=461 h=295, now at x=148 y=176
  1. x=148 y=152 w=461 h=7"
    );
}

#[test]
fn letters_drawn_a_fraction_of_a_pixel_further_did_not_move() {
    let sharp = scrolled(100);
    let mut soft = sharp.clone();
    for (y, x) in (MAIN.1..480).flat_map(|y| (MAIN.0..620).map(move |x| (y, x))) {
        let at = |y: u32| sharp.0.as_ref().rgba(Point::new(x, y));
        let (here, above) = (at(y), at(y.max(MAIN.1 + 1) - 1));
        let mean = |channel: usize| here[channel].midpoint(above[channel]);
        soft.put(x, y, [mean(0), mean(1), mean(2)]);
    }
    assert_eq!(live(&sharp, &soft).moved, []);
}

/// Boxes of colour and lines of text, chosen by numbers.
fn drawn(width: u32, height: u32, seed: u32) -> Page {
    let mut page = Page::new(width, height);
    for number in 0..10 {
        let at = |index: u32, room: u32| mixed(seed ^ (number * 16 + index)) % room;
        let (x, y) = (at(0, width - 80), at(1, height - 40));
        let grey = u8::try_from(at(2, 200)).unwrap();
        page.fill(rect(x, y, 10 + at(3, 70), 5 + at(4, 35)), [grey, 200 - grey, 90]);
        page.text(at(5, width - 80), at(6, height - 20), &words(seed ^ number, 12));
    }
    page
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_displaced_block_is_found_and_true(
        seed in any::<u32>(), dx in -60_i32..60, dy in -60_i32..60, ground in any::<u32>(),
    ) {
        prop_assume!(dx.abs() + dy.abs() > 2);
        let block = drawn(200, 140, seed);
        let place = |x: i32, y: i32| {
            let mut page = Page::new(400, 320);
            page.text(10, 300, &words(ground, 40));
            page.copy(
                &block, block.0.size().rect(),
                u32::try_from(100 + x).unwrap(), u32::try_from(80 + y).unwrap(),
            );
            page
        };
        let (before, after) = (place(0, 0), place(dx, dy));
        let there = live(&before, &after);
        let ways: Vec<_> = there.moved.iter().map(Moved::displacement).collect();
        prop_assert_eq!(&ways, &[(dx, dy)]);
        let back: Vec<_> = live(&after, &before).moved.iter().map(Moved::displacement).collect();
        prop_assert_eq!(back, [(-dx, -dy)]);
    }

    #[test]
    fn noise_moves_nowhere(one in any::<u32>(), other in any::<u32>(), levels in 2_u32..256) {
        prop_assume!(one != other);
        let noise = |seed: u32| {
            let mut page = Page::new(160, 120);
            for (y, x) in (0..120).flat_map(|y| (0..160).map(move |x| (y, x))) {
                let step = mixed(seed ^ (y * 160 + x)) % levels;
                let grey = u8::try_from(step * 255 / (levels - 1)).unwrap();
                page.put(x, y, [grey, grey, grey]);
            }
            page
        };
        prop_assert_eq!(live(&noise(one), &noise(other)).moved, []);
    }

    #[test]
    fn other_content_did_not_move(one in any::<u32>(), other in any::<u32>()) {
        prop_assume!(one != other);
        // Only what `check` in `live` demands: whatever is claimed is true.
        live(&drawn(300, 200, one), &drawn(300, 200, other));
    }
}
