//! One picture that shows a wait to a person: when it moved, where, and what was decided.
//!
//! Everything is told by shape and word as well as by colour.

mod axis;
mod lanes;
mod sheet;
mod strip;

use std::time::Duration;

use crate::error::Result;
use crate::frame::Frame;

use super::outcome::{Outcome, OutcomeKind};
use axis::Axis;
use lanes::Marker;
use sheet::{Dash, GOOD, GREY, INK, Letters, MARGIN, Sheet, WIDTH, wrapped};
use strip::Strip;

/// Draws the timeline of a wait, 960 pixels wide, RGBA: the verdict in words; a lane of its looks
/// (moved, still, no evidence), where in the frame it moved, what came and went, and how long what
/// was waited for held; markers for the onset, the decision and the deadline; and below the frames
/// that were kept, each with a letter that marks its moment and with outlines around what moved.
///
/// Its height depends on how many frames were kept, never on how many looks there were.
///
/// ```
/// use seechange::surface::demo::Demo;
/// use seechange::wait::{Condition, WaitOptions, timeline_picture, wait};
/// use seechange::{Cancel, Clock};
/// let clock = Clock::simulated();
/// let mut app = Demo::new(clock.clone());
/// let options = WaitOptions::new().filmstrip(true);
/// let outcome = wait(&mut app, &Condition::stable(), &options, &clock, &Cancel::never())?;
/// assert_eq!(timeline_picture(&outcome)?.size().width(), 960);
/// # Ok::<(), seechange::Error>(())
/// ```
///
/// # Errors
/// When memory for a smaller copy of a frame runs out.
pub fn timeline_picture(outcome: &Outcome) -> Result<Frame> {
    let axis = Axis::until(end(outcome));
    let heading = Heading::of(outcome);
    let lanes = lanes::of(outcome, axis);
    let markers = lanes::placed(axis, markers(outcome, axis));
    let strip = Strip::of(outcome, axis);

    let lanes_top = MARGIN + heading.height() + markers.height();
    let lanes_bottom = lanes_top + lanes.iter().map(|lane| lane.height()).sum::<i32>();
    let strip_top = lanes_bottom + lanes::AXIS_HEIGHT + strip.tags_height() + lanes::LEGEND_HEIGHT;
    let mut sheet = Sheet::new(strip_top + strip.height() + MARGIN)?;

    heading.draw(&mut sheet, MARGIN);
    lanes::draw_ground(&mut sheet, axis, &lanes, lanes_top);
    let markers_top = MARGIN + heading.height();
    markers.draw_lines(&mut sheet, markers_top, lanes_bottom);
    markers.draw_labels(&mut sheet, markers_top);
    let mut top = lanes_top;
    for lane in &lanes {
        lane.draw(&mut sheet, axis, top);
        top += lane.height();
    }
    strip.draw_tags(&mut sheet, lanes_bottom + lanes::AXIS_HEIGHT);
    lanes::draw_legend(&mut sheet, strip_top - lanes::LEGEND_HEIGHT);
    strip.draw(&mut sheet, strip_top)?;
    Ok(sheet.into_frame())
}

/// What the axis shows: all of the wait, and the deadline where it is not far off.
fn end(outcome: &Outcome) -> Duration {
    let seen = outcome.last.as_ref().map_or(Duration::ZERO, |last| last.at);
    let end = outcome.elapsed.max(seen);
    if outcome.deadline <= end.saturating_mul(3) / 2 { end.max(outcome.deadline) } else { end }
}

/// The verdict in words.
struct Heading {
    title: Vec<String>,
    details: Vec<String>,
}

impl Heading {
    fn of(outcome: &Outcome) -> Self {
        let letters = |pitch: i32| ((WIDTH - 2 * MARGIN) / pitch).unsigned_abs() as usize;
        Self {
            title: wrapped(&outcome.sentence(), letters(Letters::Title.pitch())),
            details: wrapped(&details(outcome), letters(Letters::Plain.pitch())),
        }
    }

    fn height(&self) -> i32 {
        lines(&self.title, Letters::Title) + lines(&self.details, Letters::Plain) + 8
    }

    fn draw(&self, sheet: &mut Sheet, top: i32) {
        let mut y = top;
        for (text, letters, ink) in
            [(&self.title, Letters::Title, INK), (&self.details, Letters::Plain, GREY)]
        {
            for line in text {
                sheet.write((MARGIN, y), line, letters, ink);
                y += letters.line();
            }
        }
    }
}

fn lines(text: &[String], letters: Letters) -> i32 {
    i32::try_from(text.len()).unwrap_or(0) * letters.line()
}

/// How often it looked, what it wanted, and what there is to mind.
fn details(outcome: &Outcome) -> String {
    let looks = if outcome.captures == 1 { "look" } else { "looks" };
    let mut parts = vec![format!(
        "{} {looks} in {} ms; deadline {} ms",
        outcome.captures,
        outcome.elapsed.as_millis(),
        outcome.deadline.as_millis()
    )];
    if !outcome.hold.is_zero() {
        parts.push(format!("hold {} ms", outcome.hold.as_millis()));
    }
    if let Some(found) = outcome.found {
        parts.push(format!("found at {found}"));
    }
    let carets = outcome.ignored.carets.iter().map(|rect| format!("a caret blinks at {rect}"));
    parts.extend(carets.take(2));
    let periodic = outcome.ignored.periodic.iter().take(2);
    parts.extend(periodic.map(|one| {
        format!("left out, for it repeats every {} ms: {}", one.period.as_millis(), one.rect)
    }));
    let flags: Vec<&str> = outcome.flags.iter().map(|flag| flag.name()).collect();
    if !flags.is_empty() {
        parts.push(format!("mind: {}", flags.join(", ").replace('_', " ")));
    }
    parts.join("; ")
}

/// The moments that decided.
fn markers(outcome: &Outcome, axis: Axis) -> Vec<Marker> {
    let marker =
        |at: Duration, what: &str, dash, ink| Marker { at, what: what.to_owned(), dash, ink };
    let mut markers = Vec::new();
    if let Some(at) = outcome.met_at {
        markers.push(marker(at, "met", Dash::Solid, GOOD));
    } else {
        let how = outcome.kind.name().replace('_', " ");
        markers.push(marker(outcome.elapsed, &how, Dash::Solid, INK));
    }
    let is_apart = axis.x(outcome.deadline) != axis.x(outcome.elapsed);
    if axis.holds(outcome.deadline) && (is_apart || outcome.kind == OutcomeKind::Met) {
        markers.push(marker(outcome.deadline, "deadline", Dash::Long, INK));
    }
    if let Some(late) = outcome.late {
        let at = outcome.deadline.saturating_add(late);
        markers.push(marker(at, "met late", Dash::Solid, GOOD));
    }
    if let Some(onset) = outcome.onset {
        markers.push(marker(onset, "onset", Dash::Dotted, INK));
    }
    markers
}
