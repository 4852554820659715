//! The lanes of a timeline, one below the other over the same axis.

use std::time::Duration;

use embedded_graphics::pixelcolor::Rgb888;

use crate::geometry::Rect;
use crate::report::{BRIGHT, STRONG};
use crate::wait::outcome::{Outcome, Transient};
use crate::wait::timeline::{Entry, LookVerdict};

use super::axis::{Axis, LEFT, RIGHT, centred, rows};
use super::sheet::{Dash, GOOD, GREY, GROUND, INK, Letters, MARGIN, PALE, Sheet};

/// The numbers below the lanes.
pub(super) const AXIS_HEIGHT: i32 = 24;

/// The line that explains the shapes.
pub(super) const LEGEND_HEIGHT: i32 = 28;

/// Room between two lanes.
const GAP: i32 = 8;

/// Rows of bars for what came and went; more of it is counted.
const MOST_ROWS: usize = 4;

/// One lane.
pub(super) trait Lane {
    /// Its height with the room below it.
    fn height(&self) -> i32;
    /// The height of the ground it stands on; none where its marks stand free.
    fn ground(&self) -> i32 {
        0
    }
    /// Draws it below `top`.
    fn draw(&self, sheet: &mut Sheet, axis: Axis, top: i32);
}

/// The lanes an outcome has something to show in.
pub(super) fn of(outcome: &Outcome, axis: Axis) -> Vec<Box<dyn Lane + '_>> {
    let mut lanes: Vec<Box<dyn Lane + '_>> = vec![Box::new(LooksLane { outcome })];
    let part = outcome.last.as_ref().map(|last| last.origin);
    if let Some(part) = part.filter(|_| outcome.timeline.entries().any(|one| !one.areas.is_empty()))
    {
        lanes.push(Box::new(PlacesLane { outcome, part }));
    }
    if !outcome.transients.is_empty() {
        lanes.push(Box::new(TransientsLane::of(&outcome.transients, axis)));
    }
    if let Some(since) = outcome.since.filter(|_| !outcome.hold.is_zero()) {
        lanes.push(Box::new(HoldLane { outcome, since }));
    }
    lanes
}

/// Writes the name of a lane beside it.
fn name(sheet: &mut Sheet, top: i32, name: &str) {
    sheet.write((MARGIN, top), name, Letters::Plain, INK);
}

/// Every look by its verdict.
struct LooksLane<'a> {
    outcome: &'a Outcome,
}

/// Heights of the marks, from the ground of the lane up.
const LOOKS: i32 = 26;
const STILL: i32 = 8;

impl Lane for LooksLane<'_> {
    fn height(&self) -> i32 {
        LOOKS + GAP
    }

    fn ground(&self) -> i32 {
        LOOKS
    }

    fn draw(&self, sheet: &mut Sheet, axis: Axis, top: i32) {
        name(sheet, top + 8, "looks");
        let timeline = &self.outcome.timeline;
        if let Some(gap) = timeline.gap() {
            left_out(sheet, axis, top, gap, timeline.omitted());
        }
        // What moved is drawn last: of several looks in one column it matters most.
        for verdict in [LookVerdict::Still, LookVerdict::NoEvidence, LookVerdict::Moved] {
            let entries = timeline.entries().filter(|entry| entry.verdict == verdict);
            entries.for_each(|entry| draw_look(sheet, axis, top, entry));
        }
    }
}

fn draw_look(sheet: &mut Sheet, axis: Axis, top: i32, entry: &Entry) {
    let (from, to) = (axis.x(entry.at), axis.x(entry.until));
    let ground = top + LOOKS;
    match entry.verdict {
        LookVerdict::Moved => sheet.fill((from - 1, top), (3, LOOKS), STRONG),
        LookVerdict::Still => {
            sheet.fill((from - 2, ground - 2), (to - from + 5, 2), GREY);
            for x in [from, to] {
                sheet.fill((x, ground - STILL), (1, STILL), GREY);
            }
            many(sheet, (from, to), top, entry.looks, "still");
        }
        LookVerdict::NoEvidence => {
            for x in [from, to] {
                cross(sheet, x, top + LOOKS / 2 + 4);
            }
            let mut x = from;
            while x + 3 < to {
                sheet.fill((x, top + LOOKS / 2 + 4), (3, 1), INK);
                x += 6;
            }
            many(sheet, (from, to), top, entry.looks, "no evidence");
        }
    }
}

/// How many looks a run has, where there is room to say so.
fn many(sheet: &mut Sheet, (from, to): (i32, i32), top: i32, looks: u32, what: &str) {
    let text = format!("{looks} {what}");
    let width = Letters::Plain.width(&text);
    if looks > 1 && width + 12 < to - from {
        sheet.write((from + (to - from - width) / 2, top + 2), &text, Letters::Plain, GREY);
    }
}

fn cross(sheet: &mut Sheet, x: i32, y: i32) {
    for shift in [0, 1] {
        sheet.line((x - 3 + shift, y - 3), (x + 3 + shift, y + 3), INK);
        sheet.line((x - 3 + shift, y + 3), (x + 3 + shift, y - 3), INK);
    }
}

/// Slanted lines where looks are not listed.
fn left_out(sheet: &mut Sheet, axis: Axis, top: i32, gap: (Duration, Duration), omitted: usize) {
    let (from, to) = (axis.x(gap.0), axis.x(gap.1));
    for x in (from..to - 8).step_by(8) {
        sheet.line((x, top + LOOKS - 1), (x + 8, top + 1), PALE);
    }
    let text = format!("{omitted} not listed");
    let width = Letters::Plain.width(&text);
    if width + 12 < to - from {
        let x = from + (to - from - width) / 2;
        sheet.fill((x - 4, top + 5), (width + 8, 16), GROUND);
        sheet.write((x, top + 6), &text, Letters::Plain, INK);
    }
}

/// How high in the frame it moved, in each look.
struct PlacesLane<'a> {
    outcome: &'a Outcome,
    part: Rect,
}

const PLACES: i32 = 72;

impl Lane for PlacesLane<'_> {
    fn height(&self) -> i32 {
        PLACES + GAP
    }

    fn ground(&self) -> i32 {
        PLACES
    }

    fn draw(&self, sheet: &mut Sheet, axis: Axis, top: i32) {
        name(sheet, top, "moved:    top");
        name(sheet, top + PLACES / 2 - 7, "       middle");
        name(sheet, top + PLACES - 13, "       bottom");
        for entry in self.outcome.timeline.entries() {
            for area in &entry.areas {
                let (from, to) = (self.y(area.y()), self.y(area.bottom()));
                let size = (3, (to - from).max(2));
                sheet.fill((axis.x(entry.at) - 1, top + from.min(PLACES - 2)), size, STRONG);
            }
        }
    }
}

impl PlacesLane<'_> {
    fn y(&self, y: u32) -> i32 {
        let inside = u64::from(y.saturating_sub(self.part.y()).min(self.part.height()));
        let scaled = inside * u64::from(PLACES.unsigned_abs()) / u64::from(self.part.height());
        i32::try_from(scaled).unwrap_or(PLACES)
    }
}

/// What came and went: a bar each, numbered as in the answer.
struct TransientsLane {
    bars: Vec<Bar>,
}

struct Bar {
    from: i32,
    to: i32,
    number: String,
    row: usize,
}

const BAR: i32 = 13;

impl TransientsLane {
    fn of(transients: &[Transient], axis: Axis) -> Self {
        let bar = |(number, one): (usize, &Transient)| {
            let (from, to) = (axis.x(one.from), axis.x(one.to));
            Bar { from, to: to.max(from + 3), number: number.to_string(), row: 0 }
        };
        let mut bars: Vec<Bar> = (1..).zip(transients).map(bar).collect();
        let span = |bar: &Bar| (bar.from, bar.to + Letters::Plain.width(&bar.number) + 5);
        let rows = rows(&bars.iter().map(span).collect::<Vec<_>>());
        bars.iter_mut().zip(rows).for_each(|(bar, row)| bar.row = row);
        Self { bars }
    }
}

impl Lane for TransientsLane {
    fn height(&self) -> i32 {
        let rows = self.bars.iter().map(|bar| bar.row + 1).max().unwrap_or(0).min(MOST_ROWS);
        i32::try_from(rows).unwrap_or(0) * (BAR + 3) + GAP
    }

    fn draw(&self, sheet: &mut Sheet, _: Axis, top: i32) {
        let hidden = self.bars.iter().filter(|bar| bar.row >= MOST_ROWS).count();
        name(sheet, top, "came and went");
        if hidden > 0 {
            sheet.write((MARGIN, top + 15), &format!("+ {hidden} more"), Letters::Plain, GREY);
        }
        for bar in self.bars.iter().filter(|bar| bar.row < MOST_ROWS) {
            let y = top + i32::try_from(bar.row).unwrap_or(0) * (BAR + 3);
            sheet.fill((bar.from, y + 4), (bar.to - bar.from, 5), STRONG);
            for x in [bar.from, bar.to - 1] {
                sheet.fill((x, y + 1), (2, BAR - 2), STRONG);
            }
            sheet.write((bar.to + 4, y), &bar.number, Letters::Plain, INK);
        }
    }
}

/// How long what was waited for held at the end, of how long it had to.
struct HoldLane<'a> {
    outcome: &'a Outcome,
    since: Duration,
}

impl Lane for HoldLane<'_> {
    fn height(&self) -> i32 {
        BAR + 2 + GAP
    }

    fn draw(&self, sheet: &mut Sheet, axis: Axis, top: i32) {
        name(sheet, top, "held");
        let Self { outcome, since } = *self;
        let held = self.held();
        let is_long_enough = held >= outcome.hold;
        let (from, to) = (axis.x(since), axis.x(since.saturating_add(held)));
        let wanted = axis.x(since.saturating_add(outcome.hold));
        sheet.fill((from, top + 3), (to - from, 8), if is_long_enough { GOOD } else { GREY });
        sheet.hollow((from, top), (wanted.max(to) - from + 1, BAR + 1), INK);
        sheet.fill((wanted, top - 2), (1, BAR + 5), INK);
        let text = format!("{} of {} ms", held.as_millis(), outcome.hold.as_millis());
        let width = Letters::Plain.width(&text);
        let right = wanted.max(to) + 6;
        let x = if right + width <= RIGHT { right } else { from - 6 - width };
        // A bar from edge to edge leaves room on itself only.
        if x >= LEFT {
            sheet.write((x, top), &text, Letters::Plain, INK);
        } else {
            let x = from + (wanted.max(to) - from - width) / 2;
            sheet.fill((x - 3, top + 1), (width + 6, BAR - 1), BRIGHT);
            sheet.write((x, top + 1), &text, Letters::Plain, INK);
        }
    }
}

impl HoldLane<'_> {
    /// Until the last look that was evidence, or the one that decided.
    fn held(&self) -> Duration {
        let last = self.outcome.last.as_ref().map_or(Duration::ZERO, |last| last.at);
        self.outcome.met_at.unwrap_or(last).saturating_sub(self.since)
    }
}

/// The grounds of the lanes, the lines of the axis over them, and the numbers below.
pub(super) fn draw_ground(sheet: &mut Sheet, axis: Axis, lanes: &[Box<dyn Lane + '_>], top: i32) {
    let mut bottom = top;
    for lane in lanes {
        sheet.fill((LEFT, bottom), (RIGHT - LEFT + 1, lane.ground()), GROUND);
        bottom += lane.height();
    }
    sheet.fill((LEFT, bottom), (RIGHT - LEFT + 1, 1), INK);
    for at in axis.steps() {
        let x = axis.x(at);
        sheet.fill((x, top), (1, bottom - top), PALE);
        sheet.fill((x, bottom), (1, 4), INK);
        let label = at.as_millis().to_string();
        let width = Letters::Plain.width(&label);
        sheet.write((centred(x, width), bottom + 6), &label, Letters::Plain, INK);
    }
    sheet.write((MARGIN, bottom + 6), "milliseconds", Letters::Plain, GREY);
}

/// A moment with a line through all lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Marker {
    pub(super) at: Duration,
    pub(super) what: String,
    pub(super) dash: Dash,
    pub(super) ink: Rgb888,
}

impl Marker {
    fn label(&self) -> String {
        format!("{} {} ms", self.what, self.at.as_millis())
    }
}

/// Markers with a place for each label.
pub(super) struct Placed {
    markers: Vec<(Marker, i32, usize)>,
    axis: Axis,
}

/// Finds places for the labels, those of one moment together; the first ones stand nearest to the
/// lanes.
pub(super) fn placed(axis: Axis, markers: Vec<Marker>) -> Placed {
    let mut joined: Vec<Marker> = Vec::new();
    for marker in markers {
        match joined.iter_mut().find(|one| one.at.as_millis() == marker.at.as_millis()) {
            Some(one) => one.what = format!("{}, {}", one.what, marker.what),
            None => joined.push(marker),
        }
    }
    let place = |marker: &Marker| {
        let width = Letters::Bold.width(&marker.label());
        (centred(axis.x(marker.at), width), width)
    };
    let spans: Vec<(i32, i32)> = joined.iter().map(place).collect();
    let roomy: Vec<(i32, i32)> =
        spans.iter().map(|(left, width)| (left - 6, left + width + 6)).collect();
    let places = spans.into_iter().zip(rows(&roomy));
    let markers = joined.into_iter().zip(places);
    Placed { markers: markers.map(|(one, ((x, _), row))| (one, x, row)).collect(), axis }
}

impl Placed {
    pub(super) fn height(&self) -> i32 {
        let rows = self.markers.iter().map(|(_, _, row)| row + 1).max().unwrap_or(0);
        i32::try_from(rows).unwrap_or(0) * Letters::Bold.line() + 4
    }

    /// The lines from each label down to `bottom`, to be drawn behind the lanes.
    pub(super) fn draw_lines(&self, sheet: &mut Sheet, top: i32, bottom: i32) {
        for (marker, _, row) in self.markers.iter().rev() {
            let from = self.label_top(top, *row) + 14;
            sheet.upright(self.axis.x(marker.at), (from, bottom), marker.dash, marker.ink);
        }
    }

    /// The labels; a line of another one ends behind them and goes on below.
    pub(super) fn draw_labels(&self, sheet: &mut Sheet, top: i32) {
        for (marker, x, row) in &self.markers {
            let y = self.label_top(top, *row);
            let label = marker.label();
            sheet.fill((x - 2, y), (Letters::Bold.width(&label) + 4, 14), BRIGHT);
            sheet.write((*x, y), &label, Letters::Bold, marker.ink);
        }
    }

    fn label_top(&self, top: i32, row: usize) -> i32 {
        top + self.height() - 4 - (i32::try_from(row).unwrap_or(0) + 1) * Letters::Bold.line()
    }
}

/// What the shapes mean.
pub(super) fn draw_legend(sheet: &mut Sheet, top: i32) {
    let y = top + 4;
    let mut x = LEFT;
    for (verdict, text) in [
        (LookVerdict::Moved, "something moved"),
        (LookVerdict::Still, "still"),
        (LookVerdict::NoEvidence, "no new frame: no evidence"),
    ] {
        match verdict {
            LookVerdict::Moved => sheet.fill((x, y), (3, 13), STRONG),
            LookVerdict::Still => {
                sheet.fill((x, y + 11), (8, 2), GREY);
                sheet.fill((x, y + 5), (1, 8), GREY);
            }
            LookVerdict::NoEvidence => cross(sheet, x + 3, y + 7),
        }
        sheet.write((x + 13, y), text, Letters::Plain, GREY);
        x += 13 + Letters::Plain.width(text) + 24;
    }
}
