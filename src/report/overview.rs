//! Draws the marks of an overview: the ways of what moved, outlines, then the numbers.

use embedded_graphics::Drawable as _;
use embedded_graphics::draw_target::DrawTarget as _;
use embedded_graphics::geometry::Point as EgPoint;
use embedded_graphics::mono_font::MonoTextStyle;
use embedded_graphics::mono_font::ascii::{FONT_6X10, FONT_9X18_BOLD};
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::primitives::{
    Line, Primitive as _, PrimitiveStyle, PrimitiveStyleBuilder, Rectangle, StrokeAlignment,
    Triangle,
};
use embedded_graphics::text::{Baseline, Text};

use crate::frame::{BYTES_PER_PIXEL, Frame, PixelFormat};
use crate::geometry::Rect;

use super::canvas::{Canvas, done, eg_rectangle};
use super::marks::{Marks, Style, Way};

/// Outlines and tabs. Its contrast with white is 4.9, so numbers on it can be read.
pub(crate) const STRONG: Rgb888 = Rgb888::new(226, 0, 96);

/// Where blocks were and are, and the way they went. Its contrast with white is 5.9.
const MOVED: Rgb888 = Rgb888::new(0, 92, 214);

/// The lines beside the outlines, and the digits: they part the strong colour from anything.
pub(crate) const BRIGHT: Rgb888 = Rgb888::new(255, 255, 255);

/// What surrounds the frame where outlines need room.
const BORDER: [u8; 4] = [206, 209, 214, 255];

/// The copy of the frame, with its border where the marks need one, outlined and numbered.
pub(super) fn marked(copy: Frame, marks: &Marks) -> Frame {
    let mut frame = bordered(copy, marks);
    let mut canvas = Canvas::sparing(&mut frame, &marks.inside);
    let places = float_of(marks.moved.len() + 1);
    for (place, way) in (1..).zip(&marks.moved) {
        draw_way(&mut canvas, *way, marks.style, float_of(place) / places);
    }
    // First every bright ring, then every line on the middle of its ring.
    for (colour, inset, width) in
        [(BRIGHT, 0, marks.style.ring_px()), (STRONG, Style::HALO_PX, marks.style.line_px)]
    {
        marks.boxes.iter().for_each(|rect| outline(&mut canvas, *rect, inset, width, colour));
    }
    let mut canvas = Canvas::new(&mut frame);
    for (number, tab) in (1..).zip(&marks.tabs) {
        if let Some(tab) = tab {
            draw_tab(&mut canvas, *tab, number, marks.style);
        }
    }
    frame
}

fn bordered(copy: Frame, marks: &Marks) -> Frame {
    if copy.size() == marks.canvas {
        return copy;
    }
    let mut frame = Frame::filled(marks.canvas, PixelFormat::Rgba, BORDER);
    let row_bytes = copy.size().width() as usize * BYTES_PER_PIXEL;
    let start = marks.border_px as usize * BYTES_PER_PIXEL;
    let stride = marks.canvas.width() as usize * BYTES_PER_PIXEL;
    let rows = frame.data_mut().chunks_exact_mut(stride).skip(marks.border_px as usize);
    for (to, from) in rows.zip(copy.data().chunks_exact(row_bytes)) {
        to[start..start + row_bytes].copy_from_slice(from);
    }
    frame
}

/// A line around `rect`, `inset` pixels away from it.
pub(crate) fn outline(canvas: &mut Canvas<'_>, rect: Rect, inset: u32, width: u32, colour: Rgb888) {
    let style = PrimitiveStyleBuilder::new()
        .stroke_color(colour)
        .stroke_width(width)
        .stroke_alignment(StrokeAlignment::Outside)
        .build();
    done(eg_rectangle(rect).offset(inset.cast_signed()).into_styled(style).draw(canvas));
}

/// A thin outline where the block was, one as thick as an area's where it is, and an arrow that
/// ends in that part of its width, so that arrows which cross one block can be told apart.
fn draw_way(canvas: &mut Canvas<'_>, way: Way, style: Style, place: f32) {
    outline(canvas, way.from, 0, Style::HALO_PX, MOVED);
    outline(canvas, way.to, 0, style.ring_px(), BRIGHT);
    outline(canvas, way.to, Style::HALO_PX, style.line_px, MOVED);
    let [tail, neck, tip, one, other] = arrow(way, place);
    for (colour, width) in [(BRIGHT, style.line_px + 4), (MOVED, style.line_px + 2)] {
        let line = PrimitiveStyle::with_stroke(colour, width);
        done(Line::new(tail, neck).into_styled(line).draw(canvas));
    }
    let head = Triangle::new(tip, one, other);
    done(head.into_styled(PrimitiveStyle::with_fill(MOVED)).draw(canvas));
    done(head.into_styled(PrimitiveStyle::with_stroke(BRIGHT, Style::HALO_PX)).draw(canvas));
}

/// The shortest arrow: moves of a pixel must be seen too.
const ARROW_PX: f32 = 36.0;

/// The length of an arrow's head, and half its width.
const HEAD_PX: (f32, f32) = (14.0, 9.0);

/// The points of an arrow: the end of its tail, the middle of its head's base, its tip, and the
/// corners of its head.
fn arrow(way: Way, place: f32) -> [EgPoint; 5] {
    let middle = |rect: Rect| eg_rectangle(rect).center();
    let along = rounded(float_of(way.to.width() as usize) * place);
    let tip = EgPoint::new(way.to.x().cast_signed() + along, middle(way.to).y);
    let gone = middle(way.to) - middle(way.from);
    let (x, y) = unit(way.by);
    let length = length((gone.x, gone.y)).max(ARROW_PX);
    let back = |along: f32, beside: f32| {
        tip - EgPoint::new(rounded(x * along - y * beside), rounded(y * along + x * beside))
    };
    let (long, half) = HEAD_PX;
    [back(length, 0.0), back(long, 0.0), tip, back(long, half), back(long, -half)]
}

/// The vector made one long.
fn unit((x, y): (i32, i32)) -> (f32, f32) {
    let length = length((x, y)).max(1.0);
    (float(x) / length, float(y) / length)
}

fn length((x, y): (i32, i32)) -> f32 {
    float(x).hypot(float(y))
}

#[expect(clippy::cast_precision_loss, reason = "frames have fewer than 2^24 pixels an edge")]
const fn float_of(count: usize) -> f32 {
    count as f32
}

#[expect(clippy::cast_precision_loss, reason = "frames have fewer than 2^24 pixels an edge")]
const fn float(pixels: i32) -> f32 {
    pixels as f32
}

#[expect(clippy::cast_possible_truncation, reason = "inside a picture")]
fn rounded(pixels: f32) -> i32 {
    pixels.round() as i32
}

pub(super) fn draw_tab(canvas: &mut Canvas<'_>, tab: Rect, number: usize, style: Style) {
    let tab = eg_rectangle(tab);
    done(canvas.fill_solid(&tab, BRIGHT));
    done(canvas.fill_solid(&tab.offset(-Style::HALO_PX.cast_signed()), STRONG));
    let font = if style == Style::BOLD { &FONT_9X18_BOLD } else { &FONT_6X10 };
    let corner = digits_corner(&tab, style);
    let style = MonoTextStyle::new(font, BRIGHT);
    done(Text::with_baseline(&number.to_string(), corner, style, Baseline::Top).draw(canvas));
}

/// Where the cell of the first digit starts, so that the digits stand in the middle of the tab.
fn digits_corner(tab: &Rectangle, style: Style) -> EgPoint {
    let padding = EgPoint::new(style.padding.0.cast_signed(), style.padding.1.cast_signed());
    tab.top_left + padding - EgPoint::new(0, style.above_digit_px.cast_signed())
}
