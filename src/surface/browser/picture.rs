//! Screenshots: of the whole viewport, or of a part of it without the rest.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::error::Result;
use crate::frame::{Frame, decode};
use crate::geometry::{Rect, Size};
use crate::wait::Geometry;

use super::Page;
use super::link::Stop;

/// How often a part is tried again that was scrolled away meanwhile.
const CLIP_TRIES: usize = 2;

/// The largest number of CSS pixels that may be needed to make a whole number of device pixels.
const MAX_UNIT: u32 = 4;

impl Page {
    /// A picture of the page now.
    pub(super) fn picture(
        &mut self,
        region: Option<Rect>,
        give_up: Duration,
    ) -> Result<Frame, Stop> {
        // Whatever was drawn before is in the picture.
        self.link.forget_damage();
        let Some(region) = region else { return self.screenshot(&Value::Null, give_up) };
        if let Some(clip) = Clip::around(region, &self.geometry) {
            for _ in 0..CLIP_TRIES {
                if let Some(frame) = self.clipped(&clip, region, give_up)? {
                    return Ok(frame);
                }
            }
        }
        let whole = self.screenshot(&Value::Null, give_up)?;
        whole.crop(region).map_err(refused)
    }

    /// Clips are given in pixels of the document: `None` when it was scrolled meanwhile.
    fn clipped(
        &mut self,
        clip: &Clip,
        region: Rect,
        give_up: Duration,
    ) -> Result<Option<Frame>, Stop> {
        let scrolled = self.scrolled(give_up)?;
        let shot = self.screenshot(&clip.in_document(scrolled), give_up)?;
        if self.scrolled(give_up)? != scrolled {
            return Ok(None);
        }
        // One of another size is of a page that was resized, or not of what was asked for.
        Ok(shot.crop(clip.part(region)).ok())
    }

    /// How far the document is scrolled, in CSS pixels.
    fn scrolled(&mut self, give_up: Duration) -> Result<(f64, f64), Stop> {
        let metrics = self.link.call("Page.getLayoutMetrics", &json!({}), give_up)?;
        let seen = &metrics["cssVisualViewport"];
        Ok((seen["pageX"].as_f64().unwrap_or(0.0), seen["pageY"].as_f64().unwrap_or(0.0)))
    }

    fn screenshot(&mut self, clip: &Value, give_up: Duration) -> Result<Frame, Stop> {
        let mut wanted = json!({"format": "png", "optimizeForSpeed": true});
        if !clip.is_null() {
            wanted["clip"] = clip.clone();
        }
        let answer = self.link.call("Page.captureScreenshot", &wanted, give_up)?;
        let text = answer["data"].as_str().unwrap_or_default();
        let bytes = STANDARD
            .decode(text)
            .map_err(|_| Stop::Refused("the browser's picture is not base64".to_owned()))?;
        decode(&bytes).map_err(refused)
    }
}

fn refused(error: crate::error::Error) -> Stop {
    Stop::Refused(error.to_string())
}

/// A part of the viewport in whole CSS pixels that make whole device pixels.
#[derive(Debug, PartialEq)]
struct Clip {
    css: Rect,
    /// Where it begins in the frame.
    start: (u32, u32),
}

impl Clip {
    /// The smallest one around `region`; `None` where only the whole viewport will do.
    fn around(region: Rect, geometry: &Geometry) -> Option<Self> {
        let unit = (1..=MAX_UNIT).find(|unit| device(*unit, geometry.scale).is_some())?;
        let step = device(unit, geometry.scale)?;
        let low = |at: u32| at / step;
        let high = |at: u32| at.div_ceil(step);
        let (left, top) = (low(region.x()), low(region.y()));
        let (right, bottom) = (high(region.right()), high(region.bottom()));
        let css = Rect::from_edges(left * unit, top * unit, right * unit, bottom * unit)?;
        let fits = right * step <= geometry.size.width() && bottom * step <= geometry.size.height();
        fits.then_some(Self { css, start: (left * step, top * step) })
    }

    fn in_document(&self, scrolled: (f64, f64)) -> Value {
        json!({
            "x": f64::from(self.css.x()) + scrolled.0,
            "y": f64::from(self.css.y()) + scrolled.1,
            "width": self.css.width(),
            "height": self.css.height(),
            "scale": 1,
        })
    }

    /// Where `region` is in the picture of the clip.
    fn part(&self, region: Rect) -> Rect {
        let back = |by: u32| by.cast_signed().saturating_neg();
        region.moved(back(self.start.0), back(self.start.1)).unwrap_or(region)
    }
}

/// Device pixels of so many CSS pixels, where that is a whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number within the range was checked for"
)]
pub(super) fn device(css: u32, scale: f32) -> Option<u32> {
    let exact = f64::from(css) * f64::from(scale);
    let is_whole = exact.fract() == 0.0 && exact >= 1.0 && exact <= f64::from(u32::MAX);
    is_whole.then_some(exact as u32)
}

/// The geometry of a page by its own account.
#[expect(clippy::cast_possible_truncation, reason = "a size and a scale are checked")]
#[expect(clippy::cast_sign_loss, reason = "a size and a scale are checked")]
pub(super) fn geometry(place: &Value) -> Result<Geometry> {
    let number = |name: &str| place[name].as_f64().unwrap_or(0.0);
    let scale = number("ratio")
        .clamp(f64::from(*Geometry::SCALES.start()), f64::from(*Geometry::SCALES.end()));
    let edge = |css: f64| (css * scale).round().clamp(0.0, f64::from(u32::MAX)) as u32;
    let size = Size::new(edge(number("width")), edge(number("height")))?;
    Ok(Geometry { size, scale: scale as f32, origin: (0, 0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clip_lies_around_its_region_on_whole_pixels_of_both_kinds() {
        let rect = |text: &str| text.parse::<Rect>().unwrap();
        for (scale, region, css, part) in [
            (1.0, "7,8,30,20", "7,8,30,20", "0,0,30,20"),
            (2.0, "7,8,30,20", "3,4,16,10", "1,0,30,20"),
            (1.5, "7,8,30,20", "4,4,22,16", "1,2,30,20"),
            (0.5, "7,8,30,20", "14,16,60,40", "0,0,30,20"),
        ] {
            let geometry = Geometry { size: Size::new(600, 600).unwrap(), scale, origin: (0, 0) };
            let clip = Clip::around(rect(region), &geometry).unwrap();
            assert_eq!((clip.css, clip.part(rect(region))), (rect(css), rect(part)), "{scale}");
        }
        let odd = Geometry { size: Size::new(600, 600).unwrap(), scale: 1.1, origin: (0, 0) };
        assert_eq!(Clip::around(rect("0,0,9,9"), &odd), None);
    }

    #[test]
    fn device_pixels_are_whole_or_none() {
        for (css, scale, pixels) in
            [(1280, 1.0, Some(1280)), (801, 1.5, None), (800, 1.5, Some(1200)), (3, 0.5, None)]
        {
            assert_eq!(device(css, scale), pixels, "{css} at {scale}");
        }
    }
}
