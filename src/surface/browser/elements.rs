//! The elements of a page, as it tells them.

use serde_json::Value;

use crate::act::{Element, Elements};
use crate::error::Result;
use crate::geometry::{Rect, Size};

use super::Page;

impl Page {
    /// The elements there are now. References of earlier snapshots end.
    ///
    /// # Errors
    /// When a dialog is open, or the page is busy or gone.
    pub fn elements(&mut self) -> Result<Elements> {
        self.snapshots += 1;
        let give_up = self.clock.now() + super::ASK_PATIENCE;
        let number = [self.snapshots.into()];
        let told = self.world.call(&mut self.link, "snapshot", &number, give_up);
        let told = told.map_err(|stop| stop.into_error("the page's elements cannot be listed"))?;
        let crate::wait::Geometry { scale, size, .. } = self.geometry;
        let elements = read(self.snapshots, &told, scale, size);
        self.latest = Some(elements.clone());
        Ok(elements)
    }
}

fn read(snapshot: u32, told: &Value, scale: f32, size: Size) -> Elements {
    let text = |name: &str| told[name].as_str().unwrap_or_default().to_owned();
    let told_of = told["elements"].as_array().map(Vec::as_slice).unwrap_or_default();
    let list = (1..).zip(told_of).map(|(number, element)| Element {
        reference: format!("{snapshot}:{}", letters(number)),
        ..one(number, element, scale, size)
    });
    Elements {
        url: text("url"),
        title: text("title"),
        is_cut: told["isCut"] == true,
        snapshot,
        document: text("document"),
        texts: strings(&told["texts"]),
        list: list.collect(),
    }
}

fn one(number: usize, told: &Value, scale: f32, size: Size) -> Element {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Element {
        number,
        reference: String::new(),
        role: text(&told["role"]).unwrap_or_default(),
        name: text(&told["name"]).unwrap_or_default(),
        value: text(&told["value"]),
        states: strings(&told["states"]),
        rect: pixels(&told["box"], scale, size),
        covered_by: text(&told["cover"]),
        identity: told["identity"].as_u64().unwrap_or_default(),
    }
}

fn strings(told: &Value) -> Vec<String> {
    let list = told.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// 1 is `a`, 26 is `z`, 27 is `aa`.
fn letters(number: usize) -> String {
    let mut letters = Vec::new();
    let mut left = number;
    while left > 0 {
        let digit = u8::try_from((left - 1) % 26).unwrap_or_default();
        letters.push(char::from(b'a' + digit));
        left = (left - 1) / 26;
    }
    letters.iter().rev().collect()
}

/// A box in CSS pixels, `[left, top, right, bottom]`, as every frame pixel it touches.
#[expect(clippy::cast_possible_truncation, reason = "cut to the frame first")]
#[expect(clippy::cast_sign_loss, reason = "cut to the frame first")]
fn pixels(told: &Value, scale: f32, size: Size) -> Option<Rect> {
    let edge = |index: usize, most: u32| -> Option<f64> {
        Some((told[index].as_f64()? * f64::from(scale)).clamp(0.0, f64::from(most)))
    };
    let (width, height) = (size.width(), size.height());
    Rect::from_edges(
        edge(0, width)?.floor() as u32,
        edge(1, height)?.floor() as u32,
        edge(2, width)?.ceil() as u32,
        edge(3, height)?.ceil() as u32,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn elements(snapshot: u32, document: &str, list: &Value) -> Elements {
        let told =
            json!({"url": "http://a/", "title": "A", "document": document, "elements": list});
        read(snapshot, &told, 2.0, Size::new(800, 600).unwrap())
    }

    fn one(identity: u64, role: &str, name: &str, value: Option<&str>, states: &[&str]) -> Value {
        json!({"identity": identity, "role": role, "name": name, "value": value, "states": states,
               "box": [1.25, 2.0, 10.0, 12.0], "cover": null})
    }

    #[test]
    fn what_changed_is_told_with_the_new_references() {
        let before = elements(
            3,
            "d",
            &json!([
                one(1, "button", "Count 0", None, &[]),
                one(2, "textbox", "Email", Some(""), &[]),
                one(3, "link", "Gone", None, &[]),
                one(4, "checkbox", "Agree", None, &[]),
                one(5, "link", "Stays", None, &[]),
            ]),
        );
        let after = elements(
            4,
            "d",
            &json!([
                one(5, "link", "Stays", None, &[]),
                one(1, "button", "Count 1", None, &[]),
                one(2, "textbox", "Email", Some("a@b"), &[]),
                one(4, "checkbox", "Agree", None, &["checked"]),
                one(6, "link", "New", None, &[]),
            ]),
        );
        assert_eq!(before.lines()[0], "3:a Button \"Count 0\"");
        assert_eq!(
            after.changes_since(&before),
            [
                "~ 4:b Button \"Count 0\" → \"Count 1\"",
                "~ 4:c Textbox \"Email\" = \"\" → \"a@b\"",
                "~ 4:d Checkbox \"Agree\" [] → [checked]",
                "- 3:c Link \"Gone\"",
                "+ 4:e Link \"New\"",
            ]
        );
        assert!(after.changes_since(&after).is_empty());
        let elsewhere = elements(5, "e", &json!([one(1, "button", "Count 1", None, &[])]));
        assert_eq!(
            elsewhere.changes_since(&after),
            ["~ another document", "+ 5:a Button \"Count 1\""]
        );
    }

    #[test]
    fn a_reference_of_another_snapshot_lists_the_valid_ones() {
        let list = json!([one(1, "button", "Save", None, &[]), one(2, "link", "x", None, &[])]);
        let now = elements(2, "d", &list);
        assert_eq!(now.get("2:b").unwrap().name, "x");
        let message = now.get("1:b").unwrap_err().to_string();
        assert_eq!(message, "there is no element 1:b here: the valid ones are 2:a, 2:b");
    }

    #[test]
    fn numbers_are_letters_and_boxes_whole_pixels() {
        for (number, name) in [(1, "a"), (26, "z"), (27, "aa"), (702, "zz"), (703, "aaa")] {
            assert_eq!(letters(number), name);
        }
        let now = elements(1, "d", &json!([one(1, "button", "Save", None, &[])]));
        assert_eq!(now.as_slice()[0].rect, Some("2,4,18,20".parse().unwrap()));
    }

    #[test]
    fn what_a_page_says_cannot_steer_a_terminal() {
        let now = elements(1, "d", &json!([one(1, "bad\u{1b}", "a\u{1b}[2J", None, &[])]));
        assert_eq!(now.lines()[0], "1:a Bad\\u{1b} \"a\\u{1b}[2J\"");
    }
}
