//! An answer as a model reads it: words first, then the pictures the words speak of, and the same
//! as JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

use crate::act::Observation;
use crate::error::Result;
use crate::frame::{Frame, encode_png};
use crate::geometry::{Rect, Size};
use crate::report::ChangeReport;

/// What a call is answered with.
#[derive(Debug)]
pub(super) struct Told {
    /// For the model, first.
    pub(super) text: String,
    /// PNG files in the order the text counts them.
    pub(super) images: Vec<Vec<u8>>,
    /// The same for programs.
    pub(super) json: Value,
    /// Whether it is a refusal, or something went wrong.
    pub(super) is_error: bool,
}

impl Told {
    /// An answer in words and JSON.
    pub(super) const fn new(text: String, json: Value) -> Self {
        Self { text, images: Vec::new(), json, is_error: false }
    }

    /// The same with these pictures.
    ///
    /// # Errors
    /// Only when memory runs out.
    pub(super) fn showing<'f>(
        mut self,
        frames: impl IntoIterator<Item = &'f Frame>,
    ) -> Result<Self> {
        self.images = frames.into_iter().map(encode_png).collect::<Result<_>>()?;
        Ok(self)
    }

    /// The result of a tool.
    pub(super) fn into_result(self) -> CallToolResult {
        let images =
            self.images.iter().map(|png| ContentBlock::image(STANDARD.encode(png), "image/png"));
        let content = std::iter::once(ContentBlock::text(self.text)).chain(images).collect();
        let mut result = CallToolResult::structured(self.json);
        result.content = content;
        result.is_error = Some(self.is_error);
        result
    }
}

/// How many areas are told in pixels of the image.
const MOST_AREAS: usize = 20;

/// Areas in pixels of the image that is shown, where those are not pixels of the frame; `None`
/// where they are or nothing changed.
pub(super) fn areas_in_image(
    report: &ChangeReport,
    observation: &Observation,
) -> Option<Vec<Rect>> {
    let (image, frame) = (observation.image, observation.frame.size());
    let areas = report.areas.iter().filter_map(|area| in_image(area.rect, image, frame));
    let areas: Vec<Rect> = areas.collect();
    (image != frame && !areas.is_empty()).then_some(areas)
}

/// The same in words.
pub(super) fn in_image_words(areas: &[Rect], observation: &Observation) -> String {
    let (image, id) = (observation.image, observation.id);
    let listed = (1..).zip(areas.iter().take(MOST_AREAS));
    let listed: Vec<String> = listed.map(|(number, rect)| format!("{number}. {rect}")).collect();
    format!(
        "In pixels of the {image} image of {id}, in which points are given: {}",
        listed.join("; ")
    )
}

/// The pixels of the image that show any of `rect` of the frame.
fn in_image(rect: Rect, image: Size, frame: Size) -> Option<Rect> {
    let low = |at: u32, image: u32, frame: u32| share(at, image, frame);
    let high = |at: u32, image: u32, frame: u32| share(at, image, frame).max(1);
    let (left, top) = (
        low(rect.x(), image.width(), frame.width()),
        low(rect.y(), image.height(), frame.height()),
    );
    let right = high(rect.right() + frame.width() / image.width(), image.width(), frame.width());
    let bottom =
        high(rect.bottom() + frame.height() / image.height(), image.height(), frame.height());
    Rect::from_edges(
        left,
        top,
        right.clamp(left + 1, image.width()),
        bottom.clamp(top + 1, image.height()),
    )
}

fn share(at: u32, part: u32, whole: u32) -> u32 {
    u32::try_from(u64::from(at) * u64::from(part) / u64::from(whole)).unwrap_or(u32::MAX)
}

/// `{x, y, width, height}` of boxes.
pub(super) fn boxes(rects: &[Rect]) -> Value {
    let each = rects.iter().map(|rect| {
        json!({"x": rect.x(), "y": rect.y(), "width": rect.width(), "height": rect.height()})
    });
    each.collect()
}
