//! `seechange.diff/1`.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::areas::{Area, Ignored, Spot};
use crate::geometry::{Rect, Size};
use crate::report::{ChangeReport, Moved, Shot};

/// A report with its sentences and the pictures there are; those that were written have a path.
pub(crate) fn diff(
    report: &ChangeReport,
    sentence: &str,
    pictures: &[(Shot, Option<PathBuf>)],
) -> Value {
    let areas: Vec<Value> =
        (1..).zip(&report.areas).map(|(number, one)| area(number, one)).collect();
    let pictures: Vec<Value> = pictures.iter().map(picture).collect();
    json!({
        "schema": "seechange.diff/1",
        "verdict": report.verdict.name(),
        "sentence": sentence,
        "before": size(report.before),
        "after": size(report.after),
        "compared_pixels": report.compared_pixels,
        "changed_pixels": report.changed_pixels,
        "changed_ratio": report.changed_ratio(),
        "moved_pixels": report.moved_pixels(),
        "areas": areas,
        "moved": report.moved.iter().map(moved).collect::<Vec<_>>(),
        "ignored": ignored(&report.ignored),
        "pictures": pictures,
    })
}

/// `{x, y, width, height}` in frame pixels.
pub(super) fn rect(rect: Rect) -> Value {
    json!({"x": rect.x(), "y": rect.y(), "width": rect.width(), "height": rect.height()})
}

/// `{width, height}` in pixels.
pub(super) fn size(size: Size) -> Value {
    json!({"width": size.width(), "height": size.height()})
}

fn area(number: usize, area: &Area) -> Value {
    with(
        rect(area.rect),
        json!({
            "number": number,
            "changed_pixels": area.changed_pixels,
            "max_delta": area.max_delta,
            "at_input_point": area.at_input_point,
        }),
    )
}

fn moved(moved: &Moved) -> Value {
    let (dx, dy) = moved.displacement();
    json!({
        "from": rect(moved.from),
        "to": rect(moved.to),
        "dx": dx,
        "dy": dy,
        "pixels": moved.pixels,
    })
}

fn ignored(ignored: &Ignored) -> Value {
    let boxes = |spots: &[Spot]| spots.iter().map(|spot| rect(spot.rect)).collect::<Vec<_>>();
    let pixels = |spots: &[Spot]| spots.iter().map(|spot| spot.pixels).sum::<u64>();
    json!({
        "masked_pixels": ignored.masked_pixels,
        "faint_pixels": ignored.faint_pixels,
        "antialiased_pixels": pixels(&ignored.antialiased),
        "antialiased": boxes(&ignored.antialiased),
        "specks": {
            "count": ignored.specks.len(),
            "pixels": pixels(&ignored.specks),
            "rects": boxes(&ignored.specks),
        },
        "carets": boxes(&ignored.carets),
    })
}

fn picture((shot, path): &(Shot, Option<PathBuf>)) -> Value {
    with(
        rect(shot.rect),
        json!({
            "role": shot.role.name(),
            "area": shot.area,
            "scale": shot.scale,
            "border_px": shot.border_px,
            "path": path.as_ref().map(|path| path.to_string_lossy()),
        }),
    )
}

/// The fields of both objects.
pub(super) fn with(mut object: Value, more: Value) -> Value {
    if let (Value::Object(fields), Value::Object(more)) = (&mut object, more) {
        fields.extend(more);
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Verdict, shots};

    fn r(x: u32, y: u32, width: u32, height: u32) -> Rect {
        Rect::new(x, y, width, height).unwrap()
    }

    fn spot(rect: Rect, pixels: u64) -> Spot {
        Spot { rect, pixels }
    }

    fn report() -> ChangeReport {
        let size = Size::new(400, 300).unwrap();
        let stroke = Area {
            rect: r(10, 20, 24, 16),
            changed_pixels: 96,
            max_delta: 255,
            at_input_point: true,
        };
        ChangeReport {
            verdict: Verdict::Changed,
            before: size,
            after: size,
            compared_pixels: 120_000,
            changed_pixels: 96,
            areas: vec![stroke],
            moved: vec![Moved { from: r(0, 50, 30, 40), to: r(0, 38, 30, 40), pixels: 600 }],
            ignored: Ignored {
                masked_pixels: 50,
                faint_pixels: 7,
                antialiased: vec![spot(r(1, 1, 3, 3), 9)],
                specks: vec![spot(r(90, 90, 1, 3), 3), spot(r(99, 10, 2, 2), 4)],
                carets: vec![spot(r(200, 100, 1, 16), 16)],
            },
        }
    }

    #[test]
    fn a_report_as_json() {
        let report = report();
        let pictures: Vec<_> = shots(&report, false)
            .into_iter()
            .map(|shot| (shot, Some(PathBuf::from("out").join(shot.file_name()))))
            .collect();
        let crop = |role: &str| {
            json!({
                "role": role, "area": 1, "x": 0, "y": 8, "width": 46, "height": 40, "scale": 4.0,
                "border_px": 0, "path": format!("out/area-1-{role}.png"),
            })
        };
        assert_eq!(
            diff(&report, "Pixels changed.", &pictures),
            json!({
                "schema": "seechange.diff/1",
                "verdict": "changed",
                "sentence": "Pixels changed.",
                "before": {"width": 400, "height": 300},
                "after": {"width": 400, "height": 300},
                "compared_pixels": 120_000,
                "changed_pixels": 96,
                "changed_ratio": 0.0008,
                "moved_pixels": 600,
                "areas": [{
                    "number": 1, "x": 10, "y": 20, "width": 24, "height": 16,
                    "changed_pixels": 96, "max_delta": 255, "at_input_point": true,
                }],
                "moved": [{
                    "from": {"x": 0, "y": 50, "width": 30, "height": 40},
                    "to": {"x": 0, "y": 38, "width": 30, "height": 40},
                    "dx": 0, "dy": -12, "pixels": 600,
                }],
                "ignored": {
                    "masked_pixels": 50,
                    "faint_pixels": 7,
                    "antialiased_pixels": 9,
                    "antialiased": [{"x": 1, "y": 1, "width": 3, "height": 3}],
                    "specks": {
                        "count": 2, "pixels": 7,
                        "rects": [
                            {"x": 90, "y": 90, "width": 1, "height": 3},
                            {"x": 99, "y": 10, "width": 2, "height": 2},
                        ],
                    },
                    "carets": [{"x": 200, "y": 100, "width": 1, "height": 16}],
                },
                "pictures": [
                    {
                        "role": "overview", "area": null, "x": 0, "y": 0, "width": 400,
                        "height": 300, "scale": 1.0, "border_px": 4, "path": "out/overview.png",
                    },
                    crop("before"),
                    crop("after"),
                ],
            })
        );
    }

    #[test]
    fn the_three_verdicts_have_their_names() {
        for (verdict, name) in
            [(Verdict::Same, "same"), (Verdict::Changed, "changed"), (Verdict::Resized, "resized")]
        {
            let report = ChangeReport { verdict, ..report() };
            assert_eq!(diff(&report, "", &[])["verdict"], name);
        }
    }
}
