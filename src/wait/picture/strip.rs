//! The frames that were kept, small, each with a letter that also stands at its moment.

use std::time::Duration;

use crate::error::Result;
use crate::frame::Frame;
use crate::geometry::{Rect, Size};
use crate::report::{BRIGHT, STRONG, copy, outline};
use crate::wait::filmstrip::Moment;
use crate::wait::outcome::Outcome;

use super::axis::{Axis, apart};
use super::sheet::{GREY, INK, Letters, MARGIN, PALE, Sheet, WIDTH};

/// Frames in a row, and rows at most.
const COLUMNS: i32 = 4;
const MOST_SHOWN: usize = 12;

/// Room between two frames.
const GUTTER: i32 = 16;

/// The largest a frame is drawn.
const CELL: (i32, i32) = ((WIDTH - 2 * MARGIN - (COLUMNS - 1) * GUTTER) / COLUMNS, 150);

/// The words above a frame.
const CAPTION: i32 = 34;

/// The side of the square around a letter.
const TAG: i32 = 14;

/// A small frame is enlarged by no more than this.
const MOST_ENLARGED: u32 = 4;

/// The frames of an outcome in the order of their moments.
pub(super) struct Strip<'a> {
    shots: Vec<Shot<'a>>,
    /// Transients with a frame that are not shown.
    hidden: usize,
    axis: Axis,
}

/// One frame.
struct Shot<'a> {
    at: Duration,
    title: String,
    detail: String,
    areas: &'a [Rect],
    frame: &'a Frame,
    /// The part of the surface it shows, where that is known.
    part: Option<Rect>,
}

impl<'a> Strip<'a> {
    pub(super) fn of(outcome: &'a Outcome, axis: Axis) -> Self {
        let mut shots = kept(outcome);
        shots.extend(last(outcome));
        let room = MOST_SHOWN.saturating_sub(shots.len());
        let transients = transients(outcome);
        let hidden = transients.len().saturating_sub(room);
        shots.extend(transients.into_iter().take(room));
        shots.sort_by_key(|shot| shot.at);
        Self { shots, hidden, axis }
    }

    /// The height of the letters below the axis.
    pub(super) const fn tags_height(&self) -> i32 {
        if self.shots.is_empty() { 0 } else { TAG + 14 }
    }

    pub(super) fn height(&self) -> i32 {
        let shots = i32::try_from(self.shots.len()).unwrap_or(0);
        let rows = (shots + COLUMNS - 1) / COLUMNS;
        let remark = if self.hidden > 0 { Letters::Plain.line() + 8 } else { 0 };
        (rows * (CELL.1 + CAPTION + GUTTER) - GUTTER).max(0) + remark
    }

    /// Each letter near its moment, with a line to it.
    pub(super) fn draw_tags(&self, sheet: &mut Sheet, top: i32) {
        let columns: Vec<i32> = self.shots.iter().map(|shot| self.axis.x(shot.at)).collect();
        let places = apart(&columns, TAG);
        for ((letter, column), place) in ('A'..).zip(columns).zip(places) {
            sheet.line((column, top), (place + TAG / 2, top + 10), GREY);
            draw_tag(sheet, (place, top + 10), letter);
        }
    }

    pub(super) fn draw(&self, sheet: &mut Sheet, top: i32) -> Result<()> {
        for ((letter, shot), number) in ('A'..).zip(&self.shots).zip(0..) {
            let (column, row) = (number % COLUMNS, number / COLUMNS);
            let x = MARGIN + column * (CELL.0 + GUTTER);
            let y = top + row * (CELL.1 + CAPTION + GUTTER);
            draw_tag(sheet, (x, y), letter);
            sheet.write((x + TAG + 6, y + 1), &shot.title, Letters::Bold, INK);
            sheet.write((x, y + 17), &shot.detail, Letters::Plain, GREY);
            draw_frame(sheet, (x, y + CAPTION), shot)?;
        }
        if self.hidden > 0 {
            let y = top + self.height() - Letters::Plain.line();
            let text =
                format!("{} more that came and went have pictures of their own", self.hidden);
            sheet.write((MARGIN, y), &text, Letters::Plain, GREY);
        }
        Ok(())
    }
}

fn draw_frame(sheet: &mut Sheet, (x, y): (i32, i32), shot: &Shot<'_>) -> Result<()> {
    let size = shot.frame.size();
    let drawn = fitted(size);
    let small = copy(shot.frame.as_ref(), drawn)?;
    let (width, height) = (drawn.width().cast_signed(), drawn.height().cast_signed());
    sheet.hollow((x - 1, y - 1), (width + 2, height + 2), PALE);
    sheet.lay((x, y), &small);
    // Places in a frame of another size mean something else.
    let Some(part) = shot.part.filter(|part| part.size() == size) else { return Ok(()) };
    for area in shot.areas {
        let rect = on_copy(*area, (part.x(), part.y()), size, drawn);
        if let Some(rect) = rect.and_then(|rect| rect.moved(x, y)) {
            outline(&mut sheet.canvas(), rect, 0, 2, STRONG);
        }
    }
    Ok(())
}
fn draw_tag(sheet: &mut Sheet, (x, y): (i32, i32), letter: char) {
    sheet.fill((x, y), (TAG, TAG), INK);
    sheet.write((x + 4, y + 1), &letter.to_string(), Letters::Bold, BRIGHT);
}

/// The first look, the first change and the biggest, those of one moment as one.
fn kept(outcome: &Outcome) -> Vec<Shot<'_>> {
    let part = outcome.last.as_ref().map(|last| last.origin);
    let mut shots: Vec<Shot<'_>> = Vec::new();
    for kept in &outcome.filmstrip {
        let detail = moment(kept.at, kept.areas.len());
        let (at, areas, frame) = (kept.at, kept.areas.as_slice(), &kept.frame);
        let title = match kept.moment {
            Moment::FirstLook => "first look",
            Moment::FirstChange => "first change",
            Moment::BiggestChange => "biggest change",
        };
        match shots.last_mut() {
            Some(last) if last.at == at && kept.moment == Moment::BiggestChange => {
                "first and biggest change".clone_into(&mut last.title);
            }
            _ => shots.push(Shot { at, title: title.to_owned(), detail, areas, frame, part }),
        }
    }
    shots
}

fn moment(at: Duration, areas: usize) -> String {
    let moved = match areas {
        0 => String::new(),
        1 => ", 1 area moved".to_owned(),
        more => format!(", {more} areas moved"),
    };
    format!("at {} ms{moved}", at.as_millis())
}

/// The last look, unless it is the only one and shown already.
fn last(outcome: &Outcome) -> Option<Shot<'_>> {
    let last = outcome.last.as_ref()?;
    if outcome.filmstrip.iter().any(|kept| kept.at == last.at) {
        return None;
    }
    let detail = format!("at {} ms, age {} ms", last.at.as_millis(), last.age.as_millis());
    let title = "last look".to_owned();
    let areas = outcome.found.as_slice();
    let part = Some(last.origin);
    Some(Shot { at: last.at, title, detail, areas, frame: &last.frame, part })
}

/// Those with a frame, numbered among all.
fn transients(outcome: &Outcome) -> Vec<Shot<'_>> {
    (1..)
        .zip(&outcome.transients)
        .filter_map(|(number, one)| {
            Some(Shot {
                at: one.from,
                title: format!("came and went {number}"),
                detail: format!("from {} to {} ms", one.from.as_millis(), one.to.as_millis()),
                areas: &one.areas,
                frame: one.frame.as_deref()?,
                part: Some(one.origin),
            })
        })
        .collect()
}

/// As large as a cell has room for; enlarged by whole factors only.
fn fitted(size: Size) -> Size {
    let (width, height) = (CELL.0.unsigned_abs(), CELL.1.unsigned_abs());
    let factor = (width / size.width()).min(height / size.height()).min(MOST_ENLARGED);
    let scaled = match factor {
        0 if u64::from(size.width()) * u64::from(height)
            > u64::from(size.height()) * u64::from(width) =>
        {
            (width, part(size.height(), width, size.width()))
        }
        0 => (part(size.width(), height, size.height()), height),
        _ => (size.width() * factor, size.height() * factor),
    };
    Size::new(scaled.0, scaled.1).unwrap_or(size)
}

/// `length * times / of`, at least 1.
fn part(length: u32, times: u32, of: u32) -> u32 {
    let scaled = u64::from(length) * u64::from(times) / u64::from(of);
    u32::try_from(scaled).unwrap_or(u32::MAX).max(1)
}

/// A box of the surface on the small copy.
fn on_copy(area: Rect, (dx, dy): (u32, u32), size: Size, drawn: Size) -> Option<Rect> {
    let local = area.moved(-dx.cast_signed(), -dy.cast_signed())?.intersection(size.rect())?;
    local.scaled(size, drawn)
}
