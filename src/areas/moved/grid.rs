//! Evidence summed over the cells of a grid, and the rectangle of cells that holds the most.

use crate::geometry::Rect;

/// Weights of square cells.
#[derive(Clone, Debug, Default)]
pub(super) struct Grid {
    /// The edge of a cell in pixels.
    pub(super) edge: u32,
    pub(super) columns: u32,
    pub(super) rows: u32,
    /// Row by row, everything that speaks for and against.
    weights: Vec<i64>,
    /// What speaks against alone.
    against: Vec<i64>,
    sums: Vec<i64>,
}

/// The search for the best rectangle takes about so many steps at most.
const MAX_STEPS: u64 = 1 << 20;

/// The smallest edge of a cell.
const MIN_EDGE: u32 = 16;

impl Grid {
    /// An empty grid over `width` by `height` pixels, its cells small enough to be precise and
    /// large enough for the search to be quick.
    pub(super) fn reset(&mut self, width: u32, height: u32) {
        self.edge = MIN_EDGE;
        let cells = |edge: u32| (u64::from(width.div_ceil(edge)), u64::from(height.div_ceil(edge)));
        let steps = |(columns, rows): (u64, u64)| columns.min(rows) * columns * rows;
        while steps(cells(self.edge)) > MAX_STEPS {
            self.edge *= 2;
        }
        (self.columns, self.rows) = (width.div_ceil(self.edge), height.div_ceil(self.edge));
        for sums in [&mut self.weights, &mut self.against] {
            sums.clear();
            sums.resize(self.columns as usize * self.rows as usize, 0);
        }
    }

    /// Adds what speaks for and against to a cell.
    pub(super) fn add(&mut self, column: u32, row: u32, evidence: i64, against: i64) {
        let index = self.index(column, row);
        self.weights[index] += evidence - against;
        self.against[index] += against;
    }

    /// Leaves of a cell only what speaks against.
    pub(super) fn forget(&mut self, column: u32, row: u32) {
        let index = self.index(column, row);
        self.weights[index] = -self.against[index];
    }

    /// Gives a cell another weight.
    pub(super) fn set(&mut self, column: u32, row: u32, weight: i64) {
        let index = self.index(column, row);
        self.weights[index] = weight;
    }

    const fn index(&self, column: u32, row: u32) -> usize {
        row as usize * self.columns as usize + column as usize
    }

    /// The rectangle, in cells, with the largest sum, and that sum; `None` where no cell counts.
    /// No row or column of zeros lies at its edge.
    pub(super) fn best(&mut self) -> Option<(Rect, i64)> {
        let is_wide = self.columns >= self.rows;
        let (long, short) =
            if is_wide { (self.columns, self.rows) } else { (self.rows, self.columns) };
        let at = |along: u32, across: u32| {
            let (column, row) = if is_wide { (along, across) } else { (across, along) };
            row as usize * self.columns as usize + column as usize
        };
        let mut best: Option<([u32; 4], i64)> = None;
        // From behind, so that of rectangles with one sum the one without zeros before it is kept.
        for first in (0..short).rev() {
            self.sums.clear();
            self.sums.resize(long as usize, 0);
            for last in first..short {
                for (along, sum) in (0..).zip(self.sums.iter_mut()) {
                    *sum += self.weights[at(along, last)];
                }
                if let Some((start, end, sum)) = best_run(&self.sums)
                    && best.is_none_or(|(_, most)| sum > most)
                {
                    best = Some(([start, end, first, last + 1], sum));
                }
            }
        }
        let ([start, end, first, last], sum) = best?;
        let rect = if is_wide {
            Rect::from_edges(start, first, end, last)
        } else {
            Rect::from_edges(first, start, last, end)
        };
        Some((rect?, sum))
    }
}

/// The run with the largest positive sum, as `(start, end, sum)`: Kadane's scan.
fn best_run(weights: &[i64]) -> Option<(u32, u32, i64)> {
    let mut best: Option<(u32, u32, i64)> = None;
    let (mut start, mut sum) = (0, 0);
    for (index, weight) in (0..).zip(weights) {
        if sum <= 0 {
            (start, sum) = (index, 0);
        }
        sum += weight;
        if sum > best.map_or(0, |(.., most)| most) {
            best = Some((start, index + 1, sum));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rectangle_with_the_largest_sum_is_found() {
        let rows: [[i64; 6]; 4] =
            [[1, -9, 0, 0, 0, 0], [0, 0, 3, -1, 4, 0], [0, 0, 2, 2, 2, -9], [5, 0, -9, 0, -9, 0]];
        for is_turned in [false, true] {
            let mut grid = Grid::default();
            let (width, height) = if is_turned { (4, 6) } else { (6, 4) };
            grid.reset(width * MIN_EDGE, height * MIN_EDGE);
            for (y, row) in (0..).zip(&rows) {
                for (x, weight) in (0..).zip(row) {
                    let (column, row) = if is_turned { (y, x) } else { (x, y) };
                    grid.add(column, row, weight.max(&0).to_owned(), -weight.min(&0));
                }
            }
            let edges = if is_turned { (1, 2, 2, 3) } else { (2, 1, 3, 2) };
            let rect = Rect::new(edges.0, edges.1, edges.2, edges.3).unwrap();
            assert_eq!(grid.best(), Some((rect, 12)), "turned: {is_turned}");
        }
    }

    #[test]
    fn nothing_is_found_where_nothing_counts() {
        let mut grid = Grid::default();
        grid.reset(100, 30);
        grid.add(3, 1, 2, 7);
        assert_eq!((grid.columns, grid.rows, grid.best()), (7, 2, None));
    }
}
