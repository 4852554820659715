//! Draws the simulated window.

use embedded_graphics::Drawable as _;
use embedded_graphics::draw_target::{DrawTarget as _, DrawTargetExt as _};
use embedded_graphics::geometry::{Point, Size};
use embedded_graphics::mono_font::ascii::{FONT_7X13, FONT_7X13_BOLD, FONT_8X13, FONT_9X15_BOLD};
use embedded_graphics::mono_font::{MonoFont, MonoTextStyle};
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::primitives::{
    Circle, Polyline, Primitive as _, PrimitiveStyle, PrimitiveStyleBuilder, Rectangle,
    RoundedRectangle, StrokeAlignment,
};
use embedded_graphics::text::{Alignment, Baseline, Text, TextStyle, TextStyleBuilder};

use crate::frame::Frame;
use crate::report::canvas::{Canvas, done};

use super::app::{App, Dragged, Moment, Note, Saving};
use super::layout::{
    CHARACTER_WIDTH, FIELD, FIELD_ROOM, JOURNAL, LINE_HEIGHT, LINES_SHOWN, LIST, MENU_BUTTON,
    MENU_ITEMS, SAVE_BUTTON, SKETCH, STATUS, TITLE_BAR, TOAST, TOOLBAR, WINDOW, character_x, menu,
    menu_item, row, steps,
};
use super::text::JOURNAL_LINES;

const PAPER: Rgb888 = Rgb888::new(255, 255, 255);
const GROUND: Rgb888 = Rgb888::new(244, 245, 247);
const INK: Rgb888 = Rgb888::new(31, 35, 40);
const PALE_INK: Rgb888 = Rgb888::new(110, 118, 129);
const EDGE: Rgb888 = Rgb888::new(208, 213, 220);
const SLATE: Rgb888 = Rgb888::new(38, 46, 58);
const BLUE: Rgb888 = Rgb888::new(37, 99, 235);
const DEEP_BLUE: Rgb888 = Rgb888::new(23, 62, 158);
const PALE_BLUE: Rgb888 = Rgb888::new(219, 232, 254);
const SELECTION: Rgb888 = Rgb888::new(173, 205, 255);
const GREEN: Rgb888 = Rgb888::new(22, 121, 66);
const CLOSE: Rgb888 = Rgb888::new(255, 95, 87);
const MINIMISE: Rgb888 = Rgb888::new(254, 188, 46);
const MAXIMISE: Rgb888 = Rgb888::new(40, 200, 64);

const CORNER: u32 = 4;
/// Characters of a title that fit in a row.
const TITLE_ROOM: usize = 18;

const CARET: Size = Size::new(2, 17);

/// Draws `app` as it looks at `moment` over all of `frame`.
pub(super) fn draw(app: &App, moment: Moment, frame: &mut Frame) {
    let mut painter = Painter { canvas: Canvas::new(frame) };
    painter.fill(WINDOW, GROUND);
    title_bar(&mut painter);
    toolbar(&mut painter, app, moment);
    list(&mut painter, app);
    field(&mut painter, app, moment);
    sketch(&mut painter, app);
    journal(&mut painter, app);
    if let Some(text) = moment.toast {
        toast(&mut painter, text);
    }
    if let Some(corner) = app.menu {
        open_menu(&mut painter, corner, app.pointer);
    }
}

fn title_bar(painter: &mut Painter<'_>) {
    painter.fill(TITLE_BAR, SLATE);
    for (x, colour) in [(18, CLOSE), (36, MINIMISE), (54, MAXIMISE)] {
        painter.dot(Point::new(x, 13), 11, colour);
    }
    painter.text("Notes", TITLE_BAR.center(), &FONT_9X15_BOLD, PAPER, Alignment::Center);
}

fn toolbar(painter: &mut Painter<'_>, app: &App, moment: Moment) {
    painter.fill(TOOLBAR, PAPER);
    painter.fill(bottom_edge(TOOLBAR), EDGE);
    painter.panel(MENU_BUTTON, if app.menu.is_some() { PALE_BLUE } else { PAPER }, EDGE);
    painter.text("Menu", MENU_BUTTON.center(), &FONT_7X13, INK, Alignment::Center);
    save_button(painter, moment.saving);
    let at = right_middle(STATUS);
    if let Saving::Busy(step) = moment.saving {
        spinner(painter, at - Point::new(10, 0), step);
    } else if let Some(number) = app.saved {
        let status = format!("Saved BB-{number:03}");
        painter.text(&status, at, &FONT_7X13_BOLD, GREEN, Alignment::Right);
    }
}

fn save_button(painter: &mut Painter<'_>, saving: Saving) {
    let (label, ground, nudge) = match saving {
        Saving::Idle => ("Save", BLUE, 0),
        Saving::Pressed => ("Save", DEEP_BLUE, 1),
        Saving::Busy(_) => ("Saving...", PALE_INK, 0),
    };
    painter.panel(SAVE_BUTTON, ground, ground);
    let middle = SAVE_BUTTON.center() + Point::new(nudge, nudge);
    painter.text(label, middle, &FONT_7X13_BOLD, PAPER, Alignment::Center);
}

/// Eight dots around a circle, one of them dark.
fn spinner(painter: &mut Painter<'_>, middle: Point, step: u8) {
    const AROUND: [(i32, i32); 8] =
        [(0, -7), (5, -5), (7, 0), (5, 5), (0, 7), (-5, 5), (-7, 0), (-5, -5)];
    for (index, (x, y)) in AROUND.into_iter().enumerate() {
        let colour = if index == usize::from(step) { BLUE } else { EDGE };
        painter.dot(middle + Point::new(x, y), 4, colour);
    }
}

fn list(painter: &mut Painter<'_>, app: &App) {
    painter.fill(LIST, PAPER);
    painter.fill(right_edge(LIST), EDGE);
    let heading = Point::new(14, 80);
    painter.text("All notes", heading, &FONT_7X13_BOLD, PALE_INK, Alignment::Left);
    let dragged = app.dragged();
    for (place, index) in shown_order(app.notes.len(), dragged).into_iter().enumerate() {
        if dragged.is_none_or(|dragged| dragged.note != index) {
            let is_selected = dragged.is_none() && index == app.selected;
            note(painter, row(place), &app.notes[index], is_selected);
        }
    }
    if let Some(dragged) = dragged {
        let place = Rectangle::new(Point::new(4, dragged.top), row(0).size - Size::new(8, 0));
        painter.panel(place, PALE_BLUE, BLUE);
        note_text(painter, place, &app.notes[dragged.note]);
    }
}

/// Which note stands in which row: the dragged one has a gap where it would fall.
fn shown_order(notes: usize, dragged: Option<Dragged>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..notes).collect();
    if let Some(Dragged { note, to, .. }) = dragged {
        order.remove(note);
        order.insert(to, note);
    }
    order
}

fn note(painter: &mut Painter<'_>, place: Rectangle, note: &Note, is_selected: bool) {
    if is_selected {
        let inside = Rectangle::new(place.top_left, place.size - Size::new(1, 0));
        painter.fill(inside, PALE_BLUE);
        painter.fill(Rectangle::new(place.top_left, Size::new(3, place.size.height)), BLUE);
    }
    note_text(painter, place, note);
}

fn note_text(painter: &mut Painter<'_>, place: Rectangle, note: &Note) {
    let middle = Point::new(14, place.center().y);
    let number = note.number.map_or("  new".to_owned(), |number| format!("BB-{number:03}"));
    painter.text(&number, middle, &FONT_7X13, PALE_INK, Alignment::Left);
    painter.text(
        &shortened(&note.title),
        middle + Point::new(48, 0),
        &FONT_7X13,
        INK,
        Alignment::Left,
    );
}

fn shortened(title: &str) -> String {
    if title.chars().count() <= TITLE_ROOM {
        return title.to_owned();
    }
    title.chars().take(TITLE_ROOM - 2).chain("..".chars()).collect()
}

fn field(painter: &mut Painter<'_>, app: &App, moment: Moment) {
    painter.label("Title", FIELD);
    painter.panel(FIELD, PAPER, if app.focused { BLUE } else { EDGE });
    let first = app.field.first_shown(FIELD_ROOM);
    let x_of = |index: usize| character_x(index.saturating_sub(first).min(FIELD_ROOM));
    let middle = FIELD.center().y;
    let selected = app.field.selection();
    let (start, end) = (x_of(selected.start), x_of(selected.end));
    let caret_top = middle - CARET.height.cast_signed() / 2;
    if app.focused && start < end {
        let size = Size::new((end - start).unsigned_abs(), CARET.height);
        painter.fill(Rectangle::new(Point::new(start, caret_top), size), SELECTION);
    }
    let text: String = app.field.text().chars().skip(first).take(FIELD_ROOM).collect();
    let at = Point::new(character_x(0), middle);
    if text.is_empty() {
        painter.text("Untitled", at, &FONT_8X13, EDGE, Alignment::Left);
    } else {
        painter.text(&text, at, &FONT_8X13, INK, Alignment::Left);
    }
    if moment.caret_shown {
        let left = x_of(app.field.caret()) - CHARACTER_WIDTH / 8;
        painter.fill(Rectangle::new(Point::new(left, caret_top), CARET), INK);
    }
}

fn sketch(painter: &mut Painter<'_>, app: &App) {
    painter.label("Sketch", SKETCH);
    painter.panel(SKETCH, PAPER, EDGE);
    let pen = PrimitiveStyleBuilder::new().stroke_color(INK).stroke_width(3).build();
    let mut inside = painter.canvas.clipped(&SKETCH.offset(-1));
    for stroke in &app.strokes {
        done(Polyline::new(stroke).into_styled(pen).draw(&mut inside));
        if let [only] = stroke[..] {
            let dot = Circle::with_center(only, 3).into_styled(PrimitiveStyle::with_fill(INK));
            done(dot.draw(&mut inside));
        }
    }
}

fn journal(painter: &mut Painter<'_>, app: &App) {
    painter.label("Journal", JOURNAL);
    painter.panel(JOURNAL, PAPER, EDGE);
    let lines = JOURNAL_LINES.iter().skip(app.scrolled).take(LINES_SHOWN);
    for (shown, line) in lines.enumerate() {
        let at = JOURNAL.top_left + Point::new(10, 10 + steps(shown, LINE_HEIGHT));
        painter.text(line, at, &FONT_7X13, INK, Alignment::Left);
    }
    let track = JOURNAL.size.height.cast_signed() - 8;
    let part = |lines: usize| steps(lines, track) / steps(JOURNAL_LINES.len(), 1);
    let corner = JOURNAL.top_left + Point::new(410, 4 + part(app.scrolled));
    let thumb = Rectangle::new(corner, Size::new(6, part(LINES_SHOWN).unsigned_abs()));
    painter.panel(thumb, EDGE, EDGE);
}

fn toast(painter: &mut Painter<'_>, text: &str) {
    painter.panel(TOAST, SLATE, SLATE);
    painter.text(text, TOAST.center(), &FONT_7X13, PAPER, Alignment::Center);
}

fn open_menu(painter: &mut Painter<'_>, corner: Point, pointer: Point) {
    let place = menu(corner);
    painter.panel(Rectangle::new(place.top_left + Point::new(2, 2), place.size), EDGE, EDGE);
    painter.panel(place, PAPER, PALE_INK);
    for (index, label) in MENU_ITEMS.iter().enumerate() {
        let item = menu_item(corner, index);
        if item.contains(pointer) {
            painter.fill(item.offset(-1), PALE_BLUE);
        }
        let at = Point::new(corner.x + 12, item.center().y);
        painter.text(label, at, &FONT_7X13, INK, Alignment::Left);
    }
}

/// A few shapes on a canvas.
struct Painter<'a> {
    canvas: Canvas<'a>,
}

impl Painter<'_> {
    fn fill(&mut self, place: Rectangle, colour: Rgb888) {
        done(self.canvas.fill_solid(&place, colour));
    }

    /// A rounded box with an edge of one pixel.
    fn panel(&mut self, place: Rectangle, ground: Rgb888, edge: Rgb888) {
        let style = PrimitiveStyleBuilder::new()
            .fill_color(ground)
            .stroke_color(edge)
            .stroke_width(1)
            .stroke_alignment(StrokeAlignment::Inside)
            .build();
        let corners = Size::new_equal(CORNER);
        let shape = RoundedRectangle::with_equal_corners(place, corners);
        done(shape.into_styled(style).draw(&mut self.canvas));
    }

    fn dot(&mut self, middle: Point, diameter: u32, colour: Rgb888) {
        let dot = Circle::with_center(middle, diameter);
        done(dot.into_styled(PrimitiveStyle::with_fill(colour)).draw(&mut self.canvas));
    }

    /// A line of text whose middle is at the height of `at`.
    fn text(&mut self, text: &str, at: Point, font: &MonoFont<'_>, ink: Rgb888, align: Alignment) {
        let style: TextStyle =
            TextStyleBuilder::new().alignment(align).baseline(Baseline::Middle).build();
        let text = Text::with_text_style(text, at, MonoTextStyle::new(font, ink), style);
        done(text.draw(&mut self.canvas));
    }

    /// A small heading over `place`.
    fn label(&mut self, text: &str, place: Rectangle) {
        let at = place.top_left - Point::new(0, 11);
        self.text(text, at, &FONT_7X13_BOLD, PALE_INK, Alignment::Left);
    }
}

fn bottom_edge(place: Rectangle) -> Rectangle {
    let y = place.top_left.y + place.size.height.cast_signed() - 1;
    Rectangle::new(Point::new(place.top_left.x, y), Size::new(place.size.width, 1))
}

fn right_edge(place: Rectangle) -> Rectangle {
    let x = place.top_left.x + place.size.width.cast_signed() - 1;
    Rectangle::new(Point::new(x, place.top_left.y), Size::new(1, place.size.height))
}

fn right_middle(place: Rectangle) -> Point {
    Point::new(place.top_left.x + place.size.width.cast_signed(), place.center().y)
}
