//! What it costs to tell moved blocks: the same pairs compared with and without it.
//!
//! Run with `cargo bench --bench moved`.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use seechange::{DiffOptions, Differ, Frame, PixelFormat, Preset, Rect, Size};

/// Lines of letters drawn from a simple sequence, so that no line is like another.
fn page(size: Size, first_line: u32) -> Frame {
    let mut frame = Frame::filled(size, PixelFormat::Bgrx, [250, 250, 248, 255]);
    let width = size.width();
    for y in 0..size.height() {
        let (line, row) = ((y + first_line) / 18, (y + first_line) % 18);
        for x in (0..width).filter(|x| row < 9 && x % 8 < 6) {
            let letter = mixed(line * 4096 + x / 8);
            if !letter.is_multiple_of(7) && letter >> ((row * 6 + x % 8) % 31) & 1 == 1 {
                let at = (y * width + x) as usize * 4;
                frame.data_mut()[at..at + 3].fill(40);
            }
        }
    }
    frame
}

fn mixed(number: u32) -> u32 {
    let mixed = (number ^ number >> 16).wrapping_mul(0x7feb_352d);
    let mixed = (mixed ^ mixed >> 15).wrapping_mul(0x846c_a68b);
    mixed ^ mixed >> 16
}

fn noise(size: Size, seed: u32) -> Frame {
    let mut frame = Frame::filled(size, PixelFormat::Bgrx, [0; 4]);
    for (index, pixel) in (0..).zip(frame.data_mut().chunks_exact_mut(4)) {
        pixel.copy_from_slice(&mixed(seed ^ index).to_le_bytes());
    }
    frame
}

fn boxed(frame: &Frame) -> Frame {
    let mut frame = frame.clone();
    let (width, rect) = (frame.size().width(), Rect::new(600, 300, 24, 24).expect("a box"));
    for y in rect.y()..rect.bottom() {
        let start = (y * width + rect.x()) as usize * 4;
        frame.data_mut()[start..start + rect.width() as usize * 4].fill(128);
    }
    frame
}

fn moved(criterion: &mut Criterion) {
    for (width, height) in [(1280, 800), (3840, 2160)] {
        let size = Size::new(width, height).expect("a size within the limits");
        let before = page(size, 0);
        for (case, before, after) in [
            ("equal", before.clone(), before.clone()),
            ("one box", before.clone(), boxed(&before)),
            ("one row further", before.clone(), page(size, 1)),
            ("scrolled by 137", before.clone(), page(size, 137)),
            ("another page", before, page(size, 180_000)),
            ("noise", noise(size, 1), noise(size, 77)),
        ] {
            let mut group = criterion.benchmark_group(format!("moved/{case}"));
            group.sample_size(10);
            for (name, is_told) in [("told", true), ("not told", false)] {
                let mut differ = Differ::new(DiffOptions::preset(Preset::Live).moved(is_told));
                group.bench_function(BenchmarkId::new(name, size), |bench| {
                    bench.iter(|| differ.compare(before.as_ref(), after.as_ref()));
                });
            }
        }
    }
}

criterion_group!(benches, moved);
criterion_main!(benches);
