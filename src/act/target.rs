//! What lies at a point: still what the observation showed, or something else by now.
//!
//! A point keeps its numbers while the program changes what they mean: *Save* becomes *Accept all*
//! between the look and the click. So just before the first event the square around each point is
//! compared with the observation. A caret, a few specks, a tint, and the highlight under a pointer
//! that rests there are no change, and neither is anything further away.

use crate::areas::{Area, AreaRules, scaled};
use crate::diff::Scope;
use crate::error::{ErrorKind, Result};
use crate::frame::{Frame, FrameRef};
use crate::geometry::{Point, Rect};
use crate::report::{ChangeReport, DiffOptions, Preset, compare};

use super::observation::Observation;
use super::refusal::{Refusal, RefusalKind};

/// How far the square around a point reaches on each side, at scale 1.
const REACH_PX: u32 = 16;
/// How much more around it is compared, at scale 1: enough to know a caret for what it is.
const AROUND_PX: u32 = 48;
/// No channel of a highlight changes by more than this; where other words stand some do.
const HIGHLIGHT_LEVELS: u8 = 64;
/// So many pixels in the square are a change.
const CHANGED_PIXELS: u64 = 12;

/// An observation beside what is there now.
pub(super) struct Comparison<'a> {
    pub(super) observation: &'a Observation,
    /// A frame of the same size.
    pub(super) now: &'a Frame,
    /// Where a change counts at all.
    pub(super) scope: &'a Scope,
    /// Where the pointer was left by the last action.
    pub(super) pointer: Option<Point>,
}

impl Comparison<'_> {
    /// The refusal of a point at which something else is seen now.
    pub(super) fn refusal(&self, point: Point) -> Result<Option<Refusal>> {
        let square = self.around(point, REACH_PX)?;
        let changed = self.changed_in(square)?;
        let id = self.observation.id;
        Ok((changed >= CHANGED_PIXELS).then(|| {
            let message = format!(
                "what is at point {point} is not what {id} showed there any more ({changed} \
                 pixels changed within {square}): take another observation and choose again"
            );
            Refusal::new(RefusalKind::TargetChanged, message)
        }))
    }

    fn around(&self, point: Point, reach_px: u32) -> Result<Rect> {
        let reach = scaled(reach_px, self.observation.geometry.scale);
        Ok(Rect::new(point.x, point.y, 1, 1)?.grown(reach, self.now.size()))
    }

    /// How many pixels of `square` belong to a change.
    fn changed_in(&self, square: Rect) -> Result<u64> {
        let size = self.now.size();
        let margin = scaled(AROUND_PX, self.observation.geometry.scale);
        let part = square.grown(margin, size);
        let Some(report) = self.compared(part)? else { return Ok(0) };
        let changes = report.areas.iter().filter(|area| !self.is_highlight(area, part));
        let boxes = changes.filter_map(|area| {
            area.rect
                .moved(part.x().cast_signed(), part.y().cast_signed())
                .and_then(|rect| rect.intersection(square))
        });
        boxes.map(|rect| self.differing(rect)).sum()
    }

    /// What changed in `part`, in pixels of it; `None` where none of it counts.
    fn compared(&self, part: Rect) -> Result<Option<ChangeReport>> {
        let (before, now) = self.cropped(part)?;
        let options = DiffOptions::preset(Preset::Live)
            .moved(false)
            .scale(self.observation.geometry.scale)
            .scope(self.scope.cropped(part)?);
        match compare(before, now, &options) {
            Ok(report) => Ok(Some(report)),
            Err(error) if error.kind() == ErrorKind::Impossible => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether the pointer rests on it and it is hardly lighter or darker than before.
    fn is_highlight(&self, area: &Area, part: Rect) -> bool {
        let pointer = self.pointer.and_then(|pointer| {
            let (x, y) = (pointer.x.checked_sub(part.x())?, pointer.y.checked_sub(part.y())?);
            Some(Point::new(x, y))
        });
        area.max_delta <= HIGHLIGHT_LEVELS
            && pointer.is_some_and(|pointer| area.rect.contains(pointer))
    }

    /// How many pixels of `part` differ, whatever they are part of: a box may be larger than what
    /// changed in it.
    fn differing(&self, part: Rect) -> Result<u64> {
        let (before, now) = self.cropped(part)?;
        let every = AreaRules { tint_levels: f32::INFINITY, ..AreaRules::EVERYTHING };
        let every = DiffOptions::preset(Preset::Live).rules(every).moved(false);
        Ok(compare(before, now, &every)?.changed_pixels)
    }

    fn cropped(&self, part: Rect) -> Result<(FrameRef<'_>, FrameRef<'_>)> {
        let before = self.observation.frame.as_ref().as_ref().crop(part)?;
        Ok((before, self.now.as_ref().crop(part)?))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::act::fake::Fake;
    use crate::act::{
        Action, Drag, Executor, ExecutorOptions, ImagePoint, ObservationId, Receipt, Request,
        Status, Step,
    };
    use crate::frame::PixelFormat;
    use crate::geometry::Size;
    use crate::wait::Geometry;

    fn at(x: f64, y: f64) -> ImagePoint {
        ImagePoint::new(x, y).unwrap()
    }

    fn click(x: f64, y: f64) -> Action {
        Action::click(at(x, y))
    }

    fn rect(text: &str) -> Rect {
        text.parse().unwrap()
    }

    /// Observes, lets `happen` happen, and acts.
    fn act(fake: &mut Fake, happen: fn(&mut Fake), action: Action) -> Receipt {
        act_with(fake, happen, action, ExecutorOptions::new())
    }

    fn act_with(
        fake: &mut Fake,
        happen: fn(&mut Fake),
        action: Action,
        options: ExecutorOptions,
    ) -> Receipt {
        fake.after_first_look = happen;
        let clock = fake.clock.clone();
        let mut executor = Executor::new(fake, clock, options);
        let id = executor.observe().unwrap().id;
        let receipt = executor.execute(&Request::new(action, id)).unwrap();
        let is_spent = receipt.status != Status::Refused;
        assert_eq!(executor.current().unwrap().id != id, is_spent, "a refusal costs nothing");
        receipt
    }

    #[test]
    fn another_look_at_the_point_is_refused_and_nothing_else_is() {
        type Happen = fn(&mut Fake);
        let word: Happen = |fake| fake.paint(rect("290,195,40,12"), 0);
        let rows: [(&str, Happen, Action, Option<&str>); 15] = [
            (
                "other words",
                word,
                click(300.0, 200.0),
                Some(
                    "what is at point (300, 200) is not what obs-1 showed there any more (324 \
                     pixels changed within x=284 y=184 w=33 h=33): take another observation and \
                     choose again",
                ),
            ),
            ("further away", word, click(250.0, 200.0), None),
            ("only the edge of them", word, click(273.0, 200.0), None),
            ("a caret", |fake| fake.paint(rect("300,190,2,18"), 0), click(300.0, 200.0), None),
            ("a speck", |fake| fake.paint(rect("300,190,3,3"), 0), click(300.0, 200.0), None),
            ("a tint", |fake| fake.paint(rect("200,100,200,200"), 250), click(300.0, 200.0), None),
            (
                "a highlight with no pointer on it",
                |fake| fake.paint(rect("200,100,200,200"), 220),
                click(300.0, 200.0),
                Some("what is at point (300, 200) is not"),
            ),
            (
                "the box of a change around the point, none of it there",
                |fake| {
                    for frame in ["250,150,100,4", "250,250,100,4", "250,150,4,100"] {
                        fake.paint(rect(frame), 0);
                    }
                },
                click(300.0, 200.0),
                None,
            ),
            (
                "what a drag takes",
                word,
                Action::Drag(Drag::new(at(300.0, 200.0), at(10.0, 10.0))),
                Some("what is at point (300, 200) is not"),
            ),
            (
                "where a drag ends",
                word,
                Action::Drag(Drag::new(at(10.0, 10.0), at(300.0, 200.0))),
                Some("what is at point (300, 200) is not"),
            ),
            (
                "on a drag's way",
                word,
                Action::Drag(Drag::new(at(300.0, 100.0), at(300.0, 300.0))),
                None,
            ),
            (
                "what is scrolled",
                word,
                Action::Scroll { at: at(300.0, 200.0), delta_x: 0, delta_y: 1 },
                Some("what is at point (300, 200) is not"),
            ),
            ("what is hovered", word, Action::Hover { at: at(300.0, 200.0) }, None),
            ("keys go to no point", word, Action::SelectAll, None),
            (
                "a step",
                word,
                Action::Sequence(vec![
                    Step { wait: Duration::ZERO, action: Action::SelectAll },
                    Step { wait: Duration::ZERO, action: click(300.0, 200.0) },
                ]),
                Some("step 2: what is at point (300, 200) is not"),
            ),
        ];
        for (what, happen, action, told) in rows {
            let mut fake = Fake::new(640, 480);
            let receipt = act(&mut fake, happen, action);
            let refusal = receipt.refusal.as_ref();
            let message = refusal.map_or("", |refusal| refusal.message());
            assert_eq!(refusal.is_some(), told.is_some(), "{what}: {message}");
            assert!(message.starts_with(told.unwrap_or_default()), "{what}: {message}");
            if let Some(refusal) = refusal {
                assert_eq!(refusal.kind(), RefusalKind::TargetChanged);
                assert_eq!(fake.events, [], "{what}");
            }
        }
    }

    #[test]
    fn what_blinks_is_waited_for_and_what_stays_is_not() {
        let mut fake = Fake::new(640, 480);
        // A block cursor: no caret by its shape.
        fake.blinks = Some(rect("295,190,9,18"));
        let happen: fn(&mut Fake) = |fake| fake.clock.sleep(Duration::from_millis(600));
        assert_eq!(act(&mut fake, happen, click(300.0, 200.0)).status, Status::Delivered);
        let mut fake = Fake::new(640, 480);
        let receipt = act(&mut fake, |fake| fake.click(300, 200), click(300.0, 200.0));
        assert_eq!(receipt.refusal.unwrap().kind(), RefusalKind::TargetChanged);
        let waited = fake.clock.now().as_millis();
        assert!((600..=700).contains(&waited), "{waited}");
    }

    #[test]
    fn a_highlight_under_the_pointer_that_rests_there_is_no_change() {
        let size = Size::new(640, 480).unwrap();
        let observation = Observation {
            id: ObservationId::new(1),
            frame: Arc::new(Frame::filled(size, PixelFormat::Bgrx, [255; 4])),
            at: Duration::ZERO,
            geometry: Geometry { size, scale: 1.0, origin: (0, 0) },
            image: size,
            elements: None,
        };
        for (pointer, level, is_refused) in [
            (Some((300, 195)), 200, false),
            (Some((300, 195)), 150, true),
            (Some((300, 185)), 200, true),
            (None, 200, true),
        ] {
            let mut now = observation.frame.as_ref().clone();
            for y in 190..210 {
                now.data_mut()[(y * 640 + 280) * 4..][..60 * 4].fill(level);
            }
            let comparison = Comparison {
                observation: &observation,
                now: &now,
                scope: &Scope::everything(),
                pointer: pointer.map(|(x, y)| Point::new(x, y)),
            };
            let refusal = comparison.refusal(Point::new(300, 200)).unwrap();
            assert_eq!(refusal.is_some(), is_refused, "{pointer:?} {level}");
        }
    }

    #[test]
    fn it_can_be_left_out_by_region_and_whole() {
        let without = ExecutorOptions::new().checks_target(false);
        let scope = Scope::everything().ignore(rect("250,150,100,100"));
        let in_part = ExecutorOptions::new().diff(DiffOptions::preset(Preset::Live).scope(scope));
        for options in [without, in_part] {
            let mut fake = Fake::new(640, 480);
            let receipt =
                act_with(&mut fake, |fake| fake.click(300, 200), click(300.0, 200.0), options);
            assert_eq!(receipt.status, Status::Delivered);
        }
        // A request that names no observation was chosen from none.
        let mut fake = Fake::new(640, 480);
        fake.after_first_look = |fake| fake.click(300, 200);
        let clock = fake.clock.clone();
        let mut executor = Executor::new(&mut fake, clock, ExecutorOptions::new());
        let request = Request::without_observation(click(300.0, 200.0));
        assert_eq!(executor.execute_fresh(&request).unwrap().status, Status::Delivered);
    }
}
