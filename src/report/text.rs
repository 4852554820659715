//! The sentences of a report.

use std::time::Duration;

use crate::areas::{Area, Spot};
use crate::geometry::Size;

use super::shots::{Role, Shot};
use super::{ChangeReport, Moved, Verdict};

/// The most areas that get a line of their own.
const MAX_LISTED: usize = 20;

/// The most blocks that moved that get one.
const MAX_MOVED_LISTED: usize = 5;

/// How the sentences of a report speak of its pictures and of the wait before it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wording<'a> {
    shots: &'a [Shot],
    naming: Naming,
    within: Option<Duration>,
}

/// What a picture is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// `image 1`, `image 2`, … in their order, starting with this number.
    Images(usize),
    /// By file name, `area-1-before.png`.
    Files,
}

impl Default for Naming {
    fn default() -> Self {
        Self::Images(1)
    }
}

impl<'a> Wording<'a> {
    /// No word of pictures, none of a wait.
    #[must_use]
    pub const fn new() -> Self {
        Self { shots: &[], naming: Naming::Images(1), within: None }
    }

    /// Speaks of these pictures, in the order they are shown. Default: of none.
    #[must_use]
    pub const fn pictures(mut self, shots: &'a [Shot], naming: Naming) -> Self {
        self.shots = shots;
        self.naming = naming;
        self
    }

    /// For how long it was looked before nothing was found.
    #[must_use]
    pub const fn within(mut self, looked: Duration) -> Self {
        self.within = Some(looked);
        self
    }

    /// Where in the list the picture with that role, of that area, stands.
    fn find(&self, role: Role, area: Option<usize>) -> Option<usize> {
        self.shots.iter().position(|shot| shot.role == role && shot.area == area)
    }

    /// `image 1` or `overview.png`.
    fn name(&self, index: usize) -> String {
        match self.naming {
            Naming::Images(first) => format!("image {}", first + index),
            Naming::Files => self.shots[index].file_name(),
        }
    }

    /// `images 2 and 3` or `area-1-before.png and area-1-after.png`.
    fn names(&self, one: usize, other: usize) -> String {
        match self.naming {
            Naming::Images(first) => format!("images {} and {}", first + one, first + other),
            Naming::Files => format!("{} and {}", self.name(one), self.name(other)),
        }
    }

    /// The name of the overview, and whether areas are marked on it.
    fn overview(&self) -> Option<(String, bool)> {
        let index = self.find(Role::Overview, None)?;
        Some((self.name(index), self.shots[index].is_marked))
    }
}

impl ChangeReport {
    /// The answer in plain lines: one sentence, then one line for each move and each area. No line
    /// break at the end.
    ///
    /// ```
    /// use seechange::report::{DiffOptions, Preset, compare};
    /// use seechange::{Frame, PixelFormat, Size};
    /// let before = Frame::filled(Size::new(64, 48)?, PixelFormat::Rgba, [255, 255, 255, 255]);
    /// let mut after = before.clone();
    /// after.data_mut()[..4 * 20].fill(0); // twenty pixels of the first row
    /// let options = DiffOptions::preset(Preset::Live);
    /// let report = compare(before.as_ref(), after.as_ref(), &options)?;
    /// assert_eq!(
    ///     report.sentences(),
    ///     "Pixels changed in 1 area (frame pixels; 0.65% of the frame):\n  1. x=0 y=0 w=20 h=1"
    /// );
    /// # Ok::<(), seechange::Error>(())
    /// ```
    #[must_use]
    pub fn sentences(&self) -> String {
        self.sentences_with(&Wording::new())
    }

    /// As [`ChangeReport::sentences`], with word of the pictures and the wait.
    #[must_use]
    pub fn sentences_with(&self, wording: &Wording<'_>) -> String {
        let mut lines = Vec::new();
        if self.verdict == Verdict::Resized {
            lines.push(self.resized(wording));
        }
        if !self.areas.is_empty() || !self.moved.is_empty() {
            lines.push(self.headline(wording));
            lines.extend(self.moved_lines());
            lines.extend(self.area_lines(wording));
        } else if self.verdict != Verdict::Resized {
            lines.push(self.nothing(wording));
        }
        lines.extend(self.not_counted());
        if let Some(index) = wording.find(Role::Diff, None) {
            lines.push(format!("Every pixel that differs: {}.", wording.name(index)));
        }
        lines.join("\n")
    }

    fn resized(&self, wording: &Wording<'_>) -> String {
        let by = difference(self.before, self.after);
        let picture = match wording.overview() {
            Some((name, false)) => format!("; {name} shows the whole frame after"),
            _ => String::new(),
        };
        let is_same = self.areas.is_empty() && self.moved.is_empty();
        let common = if is_same && self.compared_pixels > 0 {
            "; nothing changed in the part both have"
        } else {
            ""
        };
        format!("The size changed from {} to {} ({by}){picture}{common}.", self.before, self.after)
    }

    fn headline(&self, wording: &Wording<'_>) -> String {
        let (areas, blocks) = (self.areas.len() as u64, self.moved.len() as u64);
        let share = percent(self.changed_ratio());
        let whole = self.what_was_compared();
        let what = match (areas, blocks) {
            (_, 0) => format!(
                "Pixels changed in {} (frame pixels; {share} of {whole})",
                counted(areas, "area")
            ),
            (0, _) => format!(
                "{} moved and nothing else changed (frame pixels)",
                counted(blocks, "block")
            ),
            _ => format!(
                "{} moved, and pixels changed in {} (frame pixels; {share} of {whole})",
                counted(blocks, "block"),
                counted(areas, "area")
            ),
        };
        format!("{what}{}{}:", self.budget(), self.picture(wording))
    }

    /// That the change is forgiven, where it is.
    fn budget(&self) -> String {
        let pixels = self.changed_pixels + self.moved_pixels();
        match self.verdict {
            Verdict::Same => {
                format!(", {}, within the budget", counted(pixels, "changed pixel"))
            }
            Verdict::Changed | Verdict::Resized => String::new(),
        }
    }

    /// What the overview shows.
    fn picture(&self, wording: &Wording<'_>) -> String {
        let them = if self.areas.len() == 1 { "it" } else { "them" };
        match wording.overview() {
            Some((name, true)) if self.areas.is_empty() => format!("; {name} shows where to"),
            Some((name, true)) if self.moved.is_empty() => {
                format!("; {name} outlines and numbers {them}")
            }
            Some((name, true)) => {
                format!("; {name} outlines and numbers {them} and shows what moved")
            }
            Some((name, false)) if self.verdict != Verdict::Resized => {
                format!("; {name} shows the whole frame after")
            }
            _ => String::new(),
        }
    }

    fn what_was_compared(&self) -> &'static str {
        let common = self.before.common(self.after);
        if self.compared_pixels < common.pixels() {
            "the compared pixels"
        } else if common == self.after {
            "the frame"
        } else {
            "the part both have"
        }
    }

    fn nothing(&self, wording: &Wording<'_>) -> String {
        let within = match wording.within {
            Some(looked) => format!(" within {} ms", looked.as_millis()),
            None => String::new(),
        };
        format!("Nothing changed in {}{within}.", self.what_was_compared())
    }

    fn moved_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            self.moved.iter().take(MAX_MOVED_LISTED).map(moved_line).collect();
        if self.moved.len() > MAX_MOVED_LISTED {
            let more = counted((self.moved.len() - MAX_MOVED_LISTED) as u64, "more block");
            lines.push(format!("  and {more} that moved"));
        }
        lines
    }

    fn area_lines(&self, wording: &Wording<'_>) -> Vec<String> {
        let listed = (1..).zip(self.areas.iter().take(MAX_LISTED));
        let mut lines: Vec<String> =
            listed.map(|(number, area)| area_line(number, area, wording)).collect();
        if self.areas.len() > MAX_LISTED {
            let more = counted((self.areas.len() - MAX_LISTED) as u64, "more area");
            lines.push(format!("  and {more}"));
        }
        lines
    }

    /// What differs and does not count, or nothing.
    fn not_counted(&self) -> Option<String> {
        let ignored = &self.ignored;
        let parts: Vec<String> = [
            spots(&ignored.specks, "speck"),
            carets(&ignored.carets),
            spots(&ignored.antialiased, "anti-aliased spot"),
            pixels(ignored.masked_pixels, "differing pixel", "left out by the scope"),
            pixels(ignored.faint_pixels, "pixel", "within the tolerance"),
        ]
        .into_iter()
        .flatten()
        .collect();
        (!parts.is_empty()).then(|| format!("Not counted: {}.", parts.join(", ")))
    }
}

fn area_line(number: usize, area: &Area, wording: &Wording<'_>) -> String {
    let at = if area.at_input_point { " (at the input point)" } else { "" };
    let before = wording.find(Role::Before, Some(number));
    let after = wording.find(Role::After, Some(number));
    let crops = match before.zip(after) {
        Some((before, after)) => {
            let Shot { rect, scale, .. } = wording.shots[before];
            let names = wording.names(before, after);
            format!("; {names} show {rect} before and after{}", zoom(scale))
        }
        None => String::new(),
    };
    format!("  {number}. {}{at}{crops}", area.rect)
}

fn zoom(scale: f32) -> String {
    if scale > 1.0 {
        format!(", enlarged {scale:.0}x")
    } else if scale < 1.0 {
        format!(", made smaller to {}", percent(f64::from(scale)))
    } else {
        String::new()
    }
}

fn moved_line(moved: &Moved) -> String {
    let (dx, dy) = moved.displacement();
    let along = |by: i32, more: &str, less: &str| {
        let word = if by > 0 { more } else { less };
        (by != 0).then(|| format!("{word} by {} px", by.unsigned_abs()))
    };
    let ways: Vec<String> =
        along(dx, "right", "left").into_iter().chain(along(dy, "down", "up")).collect();
    let (from, to) = (moved.from, moved.to);
    format!("  moved {}: {from}, now at x={} y={}", ways.join(" and "), to.x(), to.y())
}

fn spots(spots: &[Spot], name: &str) -> Option<String> {
    let sum = spots.iter().map(|spot| spot.pixels).sum();
    let count = counted(spots.len() as u64, name);
    (!spots.is_empty()).then(|| format!("{count} ({})", counted(sum, "pixel")))
}

fn carets(carets: &[Spot]) -> Option<String> {
    match carets {
        [] => None,
        [caret] => Some(format!("1 caret at {}", caret.rect)),
        _ => Some(counted(carets.len() as u64, "caret")),
    }
}

fn pixels(count: u64, name: &str, why: &str) -> Option<String> {
    (count > 0).then(|| format!("{} {why}", counted(count, name)))
}

/// `1 area`, `2 areas`.
fn counted(count: u64, name: &str) -> String {
    if count == 1 { format!("1 {name}") } else { format!("{count} {name}s") }
}

/// `20 px wider, 1 px shorter`.
fn difference(before: Size, after: Size) -> String {
    let edge = |before: u32, after: u32, more: &str, less: &str| {
        let word = if after > before { more } else { less };
        (before != after).then(|| format!("{} px {word}", before.abs_diff(after)))
    };
    let width = edge(before.width(), after.width(), "wider", "narrower");
    let height = edge(before.height(), after.height(), "taller", "shorter");
    width.into_iter().chain(height).collect::<Vec<_>>().join(", ")
}

/// A part of a whole as a person would say it: two digits that tell something, never `0%` of
/// something or `100%` of less than everything.
fn percent(ratio: f64) -> String {
    let percent = ratio * 100.0;
    if percent <= 0.0 {
        "0%".to_owned()
    } else if percent < 0.005 {
        "under 0.01%".to_owned()
    } else if percent < 0.995 {
        format!("{}%", format!("{percent:.2}").trim_end_matches('0'))
    } else if percent < 9.95 {
        format!("{percent:.1}%")
    } else if (99.5..100.0).contains(&percent) {
        "over 99%".to_owned()
    } else {
        format!("{percent:.0}%")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::areas::Ignored;
    use crate::geometry::Rect;
    use crate::report::shots;

    fn rect(x: u32, y: u32, width: u32, height: u32) -> Rect {
        Rect::new(x, y, width, height).unwrap()
    }

    fn size(width: u32, height: u32) -> Size {
        Size::new(width, height).unwrap()
    }

    fn area(rect: Rect, changed_pixels: u64) -> Area {
        Area { rect, changed_pixels, max_delta: 255, at_input_point: false }
    }

    fn report(areas: Vec<Area>) -> ChangeReport {
        let size = size(1280, 800);
        ChangeReport {
            verdict: if areas.is_empty() { Verdict::Same } else { Verdict::Changed },
            before: size,
            after: size,
            compared_pixels: size.pixels(),
            changed_pixels: areas.iter().map(|area| area.changed_pixels).sum(),
            areas,
            moved: Vec::new(),
            ignored: Ignored::default(),
        }
    }

    fn two_areas() -> ChangeReport {
        let stroke = Area { at_input_point: true, ..area(rect(465, 645, 24, 24), 220) };
        report(vec![stroke, area(rect(120, 40, 300, 60), 500)])
    }

    fn text(report: &ChangeReport, naming: Naming) -> String {
        report.sentences_with(&Wording::new().pictures(&shots(report, false), naming))
    }

    #[test]
    fn areas_and_the_pictures_that_show_them() {
        let report = two_areas();
        assert_eq!(
            text(&report, Naming::Images(1)),
            "Pixels changed in 2 areas (frame pixels; 0.07% of the frame); image 1 outlines and numbers them:
  1. x=465 y=645 w=24 h=24 (at the input point); images 2 and 3 show x=453 y=633 w=48 h=48 before and after, enlarged 4x
  2. x=120 y=40 w=300 h=60; images 4 and 5 show x=108 y=28 w=324 h=84 before and after"
        );
        assert_eq!(
            text(&report, Naming::Files),
            "Pixels changed in 2 areas (frame pixels; 0.07% of the frame); overview.png outlines and numbers them:
  1. x=465 y=645 w=24 h=24 (at the input point); area-1-before.png and area-1-after.png show x=453 y=633 w=48 h=48 before and after, enlarged 4x
  2. x=120 y=40 w=300 h=60; area-2-before.png and area-2-after.png show x=108 y=28 w=324 h=84 before and after"
        );
        assert_eq!(
            report.sentences(),
            "Pixels changed in 2 areas (frame pixels; 0.07% of the frame):
  1. x=465 y=645 w=24 h=24 (at the input point)
  2. x=120 y=40 w=300 h=60"
        );
    }

    #[test]
    fn image_numbers_start_where_the_caller_says() {
        let report = report(vec![area(rect(100, 100, 10, 10), 100)]);
        assert_eq!(
            text(&report, Naming::Images(4)),
            "Pixels changed in 1 area (frame pixels; 0.01% of the frame); image 4 outlines and numbers it:
  1. x=100 y=100 w=10 h=10; images 5 and 6 show x=88 y=88 w=34 h=34 before and after, enlarged 4x"
        );
    }

    #[test]
    fn nothing_says_so_and_for_how_long_it_looked() {
        let same = report(Vec::new());
        assert_eq!(same.sentences(), "Nothing changed in the frame.");
        let within = Wording::new().within(Duration::from_millis(300));
        assert_eq!(same.sentences_with(&within), "Nothing changed in the frame within 300 ms.");
        let scoped = ChangeReport { compared_pixels: 1600, ..same };
        assert_eq!(scoped.sentences(), "Nothing changed in the compared pixels.");
    }

    #[test]
    fn what_does_not_count_is_told() {
        let spot = |x, pixels| Spot { rect: rect(x, 10, 1, 16), pixels };
        let mut report = report(Vec::new());
        report.ignored = Ignored { carets: vec![spot(40, 16)], ..Ignored::default() };
        assert_eq!(
            report.sentences(),
            "Nothing changed in the frame.\nNot counted: 1 caret at x=40 y=10 w=1 h=16."
        );
        report.ignored = Ignored {
            masked_pixels: 50,
            faint_pixels: 1,
            antialiased: vec![spot(9, 210)],
            specks: vec![spot(1, 3), spot(99, 4)],
            carets: vec![spot(40, 16), spot(80, 16)],
        };
        assert_eq!(
            report.sentences(),
            "Nothing changed in the frame.\nNot counted: 2 specks (7 pixels), 2 carets, \
             1 anti-aliased spot (210 pixels), 50 differing pixels left out by the scope, 1 pixel \
             within the tolerance."
        );
    }

    #[test]
    fn a_change_within_the_budget_is_still_listed() {
        let changed = report(vec![area(rect(100, 100, 50, 50), 2500)]);
        let forgiven = ChangeReport { verdict: Verdict::Same, ..changed };
        assert_eq!(
            forgiven.sentences(),
            "Pixels changed in 1 area (frame pixels; 0.24% of the frame), 2500 changed \
             pixels, within the budget:\n  1. x=100 y=100 w=50 h=50"
        );
    }

    #[test]
    fn when_most_changed_one_picture_shows_the_whole() {
        let report = report(vec![area(rect(0, 0, 1280, 700), 800_000)]);
        assert_eq!(
            text(&report, Naming::Images(1)),
            "Pixels changed in 1 area (frame pixels; 78% of the frame); image 1 shows the whole \
             frame after:\n  1. x=0 y=0 w=1280 h=700"
        );
    }

    #[test]
    fn another_size_is_told_with_the_difference() {
        let resized = |after: Size, areas: Vec<Area>, compared_pixels| ChangeReport {
            verdict: Verdict::Resized,
            after,
            compared_pixels,
            ..report(areas)
        };
        for (after, told) in [
            (size(1280, 801), "from 1280x800 to 1280x801 (1 px taller)"),
            (size(1300, 790), "from 1280x800 to 1300x790 (20 px wider, 10 px shorter)"),
            (size(640, 800), "from 1280x800 to 640x800 (640 px narrower)"),
        ] {
            assert_eq!(
                text(&resized(after, Vec::new(), 0), Naming::Images(1)),
                format!("The size changed {told}; image 1 shows the whole frame after.")
            );
        }
        let taller = size(1280, 801);
        assert_eq!(
            resized(taller, Vec::new(), 1_024_000).sentences(),
            "The size changed from 1280x800 to 1280x801 (1 px taller); nothing changed in the \
             part both have."
        );
        let changed = resized(taller, vec![area(rect(100, 100, 50, 50), 2500)], 1_024_000);
        assert_eq!(
            text(&changed, Naming::Files),
            "The size changed from 1280x800 to 1280x801 (1 px taller).
Pixels changed in 1 area (frame pixels; 0.24% of the part both have); overview.png outlines and numbers it:
  1. x=100 y=100 w=50 h=50; area-1-before.png and area-1-after.png show x=88 y=88 w=74 h=74 before and after, enlarged 4x"
        );
    }

    #[test]
    fn hundreds_of_areas_are_listed_up_to_a_point() {
        for (count, lines, last) in [
            (20, 21, "  20. x=0 y=190 w=5 h=5"),
            (21, 22, "  and 1 more area"),
            (300, 22, "  and 280 more areas"),
        ] {
            let areas = (0..count).map(|n| area(rect(0, n * 10, 5, 5), 25)).collect();
            let text = report(areas).sentences();
            assert_eq!((text.lines().count(), text.lines().last()), (lines, Some(last)));
        }
    }

    fn moved(dx: i32, dy: i32) -> Moved {
        let from = rect(100, 100, 300, 40);
        Moved { from, to: from.moved(dx, dy).unwrap(), pixels: 600 }
    }

    #[test]
    fn blocks_that_moved_have_a_line() {
        let changed = report(vec![area(rect(100, 100, 300, 12), 360)]);
        let one = ChangeReport { moved: vec![moved(0, 12)], ..changed.clone() };
        assert_eq!(
            text(&one, Naming::Files),
            "1 block moved, and pixels changed in 1 area (frame pixels; 0.04% of the frame); overview.png outlines and numbers it and shows what moved:
  moved down by 12 px: x=100 y=100 w=300 h=40, now at x=100 y=112
  1. x=100 y=100 w=300 h=12; area-1-before.png and area-1-after.png show x=88 y=88 w=324 h=36 before and after"
        );
        for (dx, dy, way) in [
            (0, -37, "up by 37 px"),
            (21, 0, "right by 21 px"),
            (-1, 0, "left by 1 px"),
            (-20, 13, "left by 20 px and down by 13 px"),
        ] {
            let alone = ChangeReport { moved: vec![moved(dx, dy)], ..report(Vec::new()) };
            let alone = ChangeReport { verdict: Verdict::Changed, ..alone };
            assert_eq!(
                text(&alone, Naming::Images(1)),
                format!(
                    "1 block moved and nothing else changed (frame pixels); image 1 shows where \
                     to:\n  moved {way}: x=100 y=100 w=300 h=40, now at x={} y={}",
                    100 + dx,
                    100 + dy
                )
            );
        }
        let many = ChangeReport { moved: vec![moved(5, 0); 7], ..changed };
        let lines = many.sentences();
        assert_eq!(lines.lines().nth(6), Some("  and 2 more blocks that moved"));
        let forgiven = ChangeReport { verdict: Verdict::Same, ..one };
        assert_eq!(
            forgiven.sentences().lines().next(),
            Some(
                "1 block moved, and pixels changed in 1 area (frame pixels; 0.04% of the frame), \
                 960 changed pixels, within the budget:"
            )
        );
    }

    #[test]
    fn percents_tell_something() {
        for (ratio, text) in [
            (0.0, "0%"),
            (1e-9, "under 0.01%"),
            (0.00005, "0.01%"),
            (0.0007, "0.07%"),
            (0.005, "0.5%"),
            (0.00994, "0.99%"),
            (0.00996, "1.0%"),
            (0.0424, "4.2%"),
            (0.0996, "10%"),
            (0.73, "73%"),
            (0.9949, "99%"),
            (0.9999, "over 99%"),
            (1.0, "100%"),
        ] {
            assert_eq!(percent(ratio), text, "{ratio}");
        }
    }
}
