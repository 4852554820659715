//! Where a moment lies, and where words fit beside others: geometry alone.

use std::time::Duration;

use super::sheet::{MARGIN, WIDTH};

/// Where the names of the lanes end and time begins.
pub(super) const LEFT: i32 = MARGIN + 104;

/// Where time ends.
pub(super) const RIGHT: i32 = WIDTH - MARGIN - 8;

/// At most this many steps are marked.
const MOST_STEPS: u128 = 10;

/// The shortest axis: a wait of one look has no length.
const SHORTEST: Duration = Duration::from_millis(10);

/// Time from left to right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    end: Duration,
}

impl Axis {
    /// From the call's start to `end`.
    pub(super) fn until(end: Duration) -> Self {
        Self { end: end.max(SHORTEST) }
    }

    /// Whether a moment lies on it.
    pub(super) fn holds(self, at: Duration) -> bool {
        at <= self.end
    }

    /// The column of a moment; of a later one the last.
    pub(super) fn x(self, at: Duration) -> i32 {
        let span = (RIGHT - LEFT).unsigned_abs();
        let along = at.min(self.end).as_micros() * u128::from(span) / self.end.as_micros();
        LEFT + i32::try_from(along).unwrap_or(RIGHT - LEFT)
    }

    /// The moments to mark: multiples of 1, 2 or 5 times a power of ten milliseconds.
    pub(super) fn steps(self) -> Vec<Duration> {
        let end = self.end.as_millis();
        let mut sizes = (0..18).flat_map(|power| [1, 2, 5].map(|lead| lead * 10_u128.pow(power)));
        let step = sizes.find(|step| end / step <= MOST_STEPS).unwrap_or(end);
        let moments = (0..=end / step).map(|number| u64::try_from(number * step));
        moments.filter_map(Result::ok).map(Duration::from_millis).collect()
    }
}

/// The row of each span, in order of importance: the first one in which it touches no other.
pub(super) fn rows(spans: &[(i32, i32)]) -> Vec<usize> {
    let mut taken: Vec<Vec<(i32, i32)>> = Vec::new();
    let mut rows = Vec::with_capacity(spans.len());
    for &(left, right) in spans {
        let is_free = |row: &Vec<(i32, i32)>| row.iter().all(|one| right < one.0 || one.1 < left);
        let row = taken.iter().position(is_free).unwrap_or(taken.len());
        if row == taken.len() {
            taken.push(Vec::new());
        }
        taken[row].push((left, right));
        rows.push(row);
    }
    rows
}

/// Where words of a width may stand around `x`: in the middle of it, kept on the sheet.
pub(super) fn centred(x: i32, width: i32) -> i32 {
    (x - width / 2).clamp(MARGIN, (WIDTH - MARGIN - width).max(MARGIN))
}

/// Moves marks of `width` apart, which are given by the columns they belong to, left to right, and
/// gives where each begins. There must be room for all of them.
pub(super) fn apart(columns: &[i32], width: i32) -> Vec<i32> {
    let mut next = i32::MIN;
    let mut places: Vec<i32> = Vec::with_capacity(columns.len());
    for column in columns {
        let place = (column - width / 2).max(next);
        places.push(place);
        next = place + width + 1;
    }
    let mut limit = WIDTH - MARGIN - width;
    for place in places.iter_mut().rev() {
        *place = (*place).min(limit);
        limit = *place - width - 1;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(at: u64) -> Duration {
        Duration::from_millis(at)
    }

    #[test]
    fn time_goes_from_left_to_right() {
        for (end, at, x) in [
            (1000, 0, LEFT),
            (1000, 500, LEFT + 408),
            (1000, 1000, RIGHT),
            (1000, 4000, RIGHT),
            (0, 0, LEFT),
            (u64::MAX, u64::MAX, RIGHT),
        ] {
            assert_eq!(Axis::until(ms(end)).x(ms(at)), x, "{at} of {end}");
        }
    }

    #[test]
    fn steps_are_round() {
        for (end, steps) in [
            (0, vec![0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
            (250, vec![0, 50, 100, 150, 200, 250]),
            (955, vec![0, 100, 200, 300, 400, 500, 600, 700, 800, 900]),
            (60_000, vec![0, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000]),
        ] {
            let found: Vec<u64> = Axis::until(ms(end))
                .steps()
                .iter()
                .map(|at| u64::try_from(at.as_millis()).unwrap())
                .collect();
            assert_eq!(found, steps, "{end}");
        }
    }

    #[test]
    fn marks_in_each_others_way_move_apart() {
        for (columns, places) in [
            (vec![200, 300], vec![193, 293]),
            (vec![200, 200, 200], vec![193, 208, 223]),
            (vec![936, 936], vec![915, 930]),
        ] {
            assert_eq!(apart(&columns, 14), places);
        }
    }

    proptest! {
        #[test]
        fn no_two_of_a_row_touch(spans in prop::collection::vec((0..900, 1..200), 0..30)) {
            let spans: Vec<(i32, i32)> =
                spans.into_iter().map(|(left, width)| (left, left + width)).collect();
            let rows = rows(&spans);
            for (one, row) in spans.iter().zip(&rows) {
                let mut others = spans.iter().zip(&rows).filter(|(other, _)| *other != one);
                prop_assert!(!others.any(|(other, it)| it == row && one.0 <= other.1 && other.0 <= one.1));
            }
        }

        #[test]
        fn marks_never_overlap(mut columns in prop::collection::vec(LEFT..=RIGHT, 0..16)) {
            columns.sort_unstable();
            let places = apart(&columns, 14);
            prop_assert!(places.windows(2).all(|two| two[0] + 14 < two[1]));
            prop_assert!(places.iter().all(|place| *place >= MARGIN && place + 14 <= WIDTH - MARGIN));
        }
    }
}
