//! A white sheet of fixed width to draw and write on.

use embedded_graphics::Drawable as _;
use embedded_graphics::draw_target::DrawTarget as _;
use embedded_graphics::geometry::{Point as EgPoint, Size as EgSize};
use embedded_graphics::mono_font::ascii::{FONT_7X13, FONT_7X13_BOLD, FONT_9X18_BOLD};
use embedded_graphics::mono_font::{MonoFont, MonoTextStyle};
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::primitives::{Line, Primitive as _, PrimitiveStyle, Rectangle};
use embedded_graphics::text::{Baseline, Text};

use crate::error::Result;
use crate::frame::{BYTES_PER_PIXEL, Frame, PixelFormat};
use crate::geometry::Size;
use crate::report::canvas::{Canvas, done};

/// How wide every sheet is, in pixels.
pub(super) const WIDTH: i32 = 960;

/// Empty room at its edges.
pub(super) const MARGIN: i32 = 16;

/// Text and lines.
pub(super) const INK: Rgb888 = Rgb888::new(28, 32, 38);
/// What matters less.
pub(super) const GREY: Rgb888 = Rgb888::new(96, 104, 114);
/// Lines that only guide the eye.
pub(super) const PALE: Rgb888 = Rgb888::new(206, 209, 214);
/// Grounds of lanes.
pub(super) const GROUND: Rgb888 = Rgb888::new(243, 244, 246);
/// What is good.
pub(super) const GOOD: Rgb888 = Rgb888::new(0, 104, 92);

/// A size and weight of letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letters {
    Plain,
    Bold,
    Title,
}

impl Letters {
    const fn font(self) -> &'static MonoFont<'static> {
        match self {
            Self::Plain => &FONT_7X13,
            Self::Bold => &FONT_7X13_BOLD,
            Self::Title => &FONT_9X18_BOLD,
        }
    }

    /// The width of one letter.
    pub(super) const fn pitch(self) -> i32 {
        match self {
            Self::Plain | Self::Bold => 7,
            Self::Title => 9,
        }
    }

    /// The height of one line.
    pub(super) const fn line(self) -> i32 {
        match self {
            Self::Plain | Self::Bold => 15,
            Self::Title => 20,
        }
    }

    pub(super) fn width(self, text: &str) -> i32 {
        i32::try_from(text.len()).unwrap_or(i32::MAX / 16).saturating_mul(self.pitch())
    }
}

/// The sheet.
pub(super) struct Sheet {
    frame: Frame,
}

impl Sheet {
    /// A white one.
    pub(super) fn new(height: i32) -> Result<Self> {
        let size = Size::new(WIDTH.unsigned_abs(), height.unsigned_abs())?;
        Ok(Self { frame: Frame::filled(size, PixelFormat::Rgba, [255; 4]) })
    }

    pub(super) fn into_frame(self) -> Frame {
        self.frame
    }

    pub(super) fn canvas(&mut self) -> Canvas<'_> {
        Canvas::new(&mut self.frame)
    }

    pub(super) fn fill(&mut self, (x, y): (i32, i32), (width, height): (i32, i32), ink: Rgb888) {
        done(self.canvas().fill_solid(&rectangle(x, y, width, height), ink));
    }

    /// A box of thin lines.
    pub(super) fn hollow(&mut self, (x, y): (i32, i32), (width, height): (i32, i32), ink: Rgb888) {
        let style = PrimitiveStyle::with_stroke(ink, 1);
        done(rectangle(x, y, width, height).into_styled(style).draw(&mut self.canvas()));
    }

    pub(super) fn line(&mut self, from: (i32, i32), to: (i32, i32), ink: Rgb888) {
        let line = Line::new(from.into(), to.into());
        done(line.into_styled(PrimitiveStyle::with_stroke(ink, 1)).draw(&mut self.canvas()));
    }

    /// An upright line of dashes with gaps; no gaps make it solid.
    pub(super) fn upright(&mut self, x: i32, (top, bottom): (i32, i32), dash: Dash, ink: Rgb888) {
        let (long, gap) = match dash {
            Dash::Solid => (bottom - top, 0),
            Dash::Long => (6, 4),
            Dash::Dotted => (2, 3),
        };
        let mut y = top;
        while y < bottom {
            self.fill((x, y), (1, long.min(bottom - y)), ink);
            y += (long + gap).max(1);
        }
    }

    pub(super) fn write(&mut self, (x, y): (i32, i32), text: &str, letters: Letters, ink: Rgb888) {
        let style = MonoTextStyle::new(letters.font(), ink);
        let text = Text::with_baseline(text, EgPoint::new(x, y), style, Baseline::Top);
        done(text.draw(&mut self.canvas()));
    }

    /// Lays a picture in RGBA, which must fit, on the sheet.
    pub(super) fn lay(&mut self, (x, y): (i32, i32), picture: &Frame) {
        let row_bytes = picture.size().width() as usize * BYTES_PER_PIXEL;
        let stride = WIDTH.unsigned_abs() as usize * BYTES_PER_PIXEL;
        let start = x.unsigned_abs() as usize * BYTES_PER_PIXEL;
        let rows = self.frame.data_mut().chunks_exact_mut(stride).skip(y.unsigned_abs() as usize);
        for (to, from) in rows.zip(picture.data().chunks_exact(row_bytes)) {
            to[start..start + row_bytes].copy_from_slice(from);
        }
    }
}

/// How a line is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dash {
    Solid,
    Long,
    Dotted,
}

fn rectangle(x: i32, y: i32, width: i32, height: i32) -> Rectangle {
    let size = EgSize::new(width.max(0).unsigned_abs(), height.max(0).unsigned_abs());
    Rectangle::new(EgPoint::new(x, y), size)
}

/// The words of `text` in lines of at most `most` letters.
pub(super) fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
