//! Boxes that overlap are one box.

use crate::geometry::Rect;

use super::Area;

/// Merges boxes that overlap until none does; the result is sorted top to bottom.
pub(super) fn disjoint(mut boxes: Vec<Rect>) -> Vec<Rect> {
    loop {
        let before = boxes.len();
        boxes = merge_once(boxes);
        if boxes.len() == before {
            return boxes;
        }
    }
}

/// One sweep from top to bottom. A box grown by a merge may now overlap one the sweep has passed,
/// so the caller repeats it until nothing merges.
fn merge_once(mut boxes: Vec<Rect>) -> Vec<Rect> {
    boxes.sort_by_key(|rect| (rect.y(), rect.x()));
    let mut done: Vec<Rect> = Vec::with_capacity(boxes.len());
    let mut open: Vec<Rect> = Vec::new();
    for mut rect in boxes {
        open.retain(|other| {
            if other.bottom() <= rect.y() {
                done.push(*other);
                return false;
            }
            if other.intersection(rect).is_none() {
                return true;
            }
            rect = rect.union(*other);
            false
        });
        open.push(rect);
    }
    done.append(&mut open);
    done.sort_by_key(|rect| (rect.y(), rect.x()));
    done
}

/// Finds the areas that hold boxes asked for from top to bottom; the areas are sorted so too.
#[derive(Default)]
pub(super) struct Holders {
    /// The first area not yet reached.
    next: usize,
    /// Areas that reach down to the row asked for last.
    open: Vec<usize>,
}

impl Holders {
    /// The area whose box holds all of `rect`, which begins no higher than the one before.
    pub(super) fn holder<'a>(&mut self, areas: &'a mut [Area], rect: Rect) -> Option<&'a mut Area> {
        while areas.get(self.next).is_some_and(|area| area.rect.y() <= rect.y()) {
            self.open.push(self.next);
            self.next += 1;
        }
        self.open.retain(|&index| areas[index].rect.bottom() > rect.y());
        let holds = |index: &&usize| areas[**index].rect.contains_rect(rect);
        let index = self.open.iter().find(holds).copied()?;
        areas.get_mut(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rect(x: u32, y: u32, width: u32, height: u32) -> Rect {
        Rect::new(x, y, width, height).unwrap()
    }

    #[test]
    fn overlaps_merge_until_none_is_left() {
        for (boxes, merged) in [
            (vec![rect(0, 0, 5, 5), rect(5, 0, 5, 5)], vec![rect(0, 0, 5, 5), rect(5, 0, 5, 5)]),
            (vec![rect(0, 0, 5, 5), rect(4, 4, 5, 5)], vec![rect(0, 0, 9, 9)]),
            (
                vec![rect(0, 0, 2, 20), rect(10, 0, 2, 3), rect(1, 10, 12, 2), rect(8, 2, 9, 1)],
                vec![rect(0, 0, 17, 20)],
            ),
        ] {
            assert_eq!(disjoint(boxes.clone()), merged, "{boxes:?}");
        }
    }
}
