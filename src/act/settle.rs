//! The wait that follows an action, and what it tells about the change.

use crate::areas::{Area, Spot};
use crate::clock::{Cancel, Clock};
use crate::error::Result;
use crate::frame::{Frame, FrameRef};
use crate::geometry::Rect;
use crate::report::{ChangeReport, DiffOptions, compare};
use crate::wait::{Condition, Outcome, Source, WaitOptions, wait};

/// Looks until a change since `baseline` has come to rest, or none has come.
pub(super) fn settle(
    source: &mut dyn Source,
    baseline: &Frame,
    diff: &DiffOptions,
    clock: &Clock,
    cancel: &Cancel,
) -> Result<Outcome> {
    let options = WaitOptions::new().baseline(baseline.clone());
    wait(source, &Condition::settled().diff(diff.clone()), &options, clock, cancel)
}

/// What changed between two frames, where a wait saw `standing` differ to its end. In two frames
/// the shape alone makes a caret; the wait knows which did not blink: a typed `l` is a change.
pub(super) fn report(
    before: FrameRef<'_>,
    after: FrameRef<'_>,
    options: &DiffOptions,
    standing: &[Rect],
) -> Result<ChangeReport> {
    let mut report = compare(before, after, options)?;
    let stands = |spot: &Spot| standing.iter().any(|rect| rect.intersection(spot.rect).is_some());
    if !report.ignored.carets.iter().any(stands) {
        return Ok(report);
    }
    let rules = options.rules_in_force();
    let as_shaped = options.clone().rules(crate::areas::AreaRules { carets: false, ..rules });
    let all = compare(before, after, &as_shaped)?;
    let is_blinking = |area: &Area| {
        let mut carets = report.ignored.carets.iter().filter(|spot| !stands(spot));
        carets.any(|spot| spot.rect == area.rect)
    };
    report.areas = all.areas.iter().filter(|area| !is_blinking(area)).cloned().collect();
    report.changed_pixels = report.areas.iter().map(|area| area.changed_pixels).sum();
    report.ignored.carets.retain(|spot| !stands(spot));
    report.moved = all.moved;
    report.judge(options.max_changed_pixels_in_force());
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::PixelFormat;
    use crate::geometry::Size;
    use crate::report::{Preset, Verdict};

    fn frame(bars: &[Rect]) -> Frame {
        let size = Size::new(200, 100).unwrap();
        let mut frame = Frame::filled(size, PixelFormat::Bgrx, [255; 4]);
        for bar in bars {
            for y in bar.y()..bar.bottom() {
                let start = (y * size.width() + bar.x()) as usize * 4;
                frame.data_mut()[start..start + bar.width() as usize * 4].fill(0);
            }
        }
        frame
    }

    #[test]
    fn a_letter_shaped_like_a_caret_counts_when_it_stands() {
        let rect = |text: &str| text.parse::<Rect>().unwrap();
        let (letter, caret, box_) = (rect("20,20,2,14"), rect("60,20,2,14"), rect("120,20,30,30"));
        let options = DiffOptions::preset(Preset::Live);
        let before = frame(&[]);
        for (bars, standing, areas, carets) in [
            (vec![letter, caret], vec![letter], vec![letter], vec![caret]),
            (vec![caret], vec![], vec![], vec![caret]),
            (vec![letter, caret, box_], vec![box_, letter], vec![box_, letter], vec![caret]),
            (vec![letter, caret, box_], vec![box_], vec![box_], vec![letter, caret]),
        ] {
            let after = frame(&bars);
            let report = report(before.as_ref(), after.as_ref(), &options, &standing).unwrap();
            let found: Vec<Rect> = report.areas.iter().map(|area| area.rect).collect();
            let ignored: Vec<Rect> = report.ignored.carets.iter().map(|spot| spot.rect).collect();
            assert_eq!((found, ignored), (areas.clone(), carets));
            assert_eq!(report.verdict == Verdict::Changed, !areas.is_empty());
        }
    }
}
