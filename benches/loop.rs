//! What one look costs: a comparison with areas beside a memcmp of the same bytes.
//!
//! Read the ratios, not the times. Run with `cargo bench --bench loop`; the numbers kept in
//! `benches/RECORD.md` say on which machine they were taken.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use seechange::{DiffOptions, Differ, Frame, PixelFormat, Preset, Rect, Size};

/// A page of text-like marks: runs of dark pixels on a light ground.
fn page(size: Size) -> Frame {
    let mut frame = Frame::filled(size, PixelFormat::Bgrx, [250, 250, 248, 255]);
    let width = size.width() as usize;
    for (index, pixel) in frame.data_mut().chunks_exact_mut(4).enumerate() {
        let (x, y) = (index % width, index / width);
        if y % 18 < 9 && (x * 7 + y / 18 * 13) % 11 < 4 {
            pixel[..3].fill(40);
        }
    }
    frame
}

fn paint(frame: &mut Frame, rect: Rect) {
    let width = frame.size().width();
    for y in rect.y()..rect.bottom() {
        let start = (y * width + rect.x()) as usize * 4;
        frame.data_mut()[start..start + rect.width() as usize * 4].fill(128);
    }
}

/// The whole page one row further down.
fn shifted(frame: &Frame) -> Frame {
    let mut shifted = frame.clone();
    let row = frame.size().width() as usize * 4;
    let end = frame.data().len() - row;
    shifted.data_mut()[row..].copy_from_slice(&frame.data()[..end]);
    shifted
}

fn diff(criterion: &mut Criterion) {
    for (width, height) in [(1280, 800), (3840, 2160)] {
        let size = Size::new(width, height).expect("a size within the limits");
        let before = page(size);
        let twin = before.clone();
        let mut boxed = before.clone();
        let rect = Rect::new(width / 2, height / 2, 24, 24).expect("a box inside the frame");
        paint(&mut boxed, rect);
        for (case, after) in
            [("equal", before.clone()), ("one box", boxed), ("shifted", shifted(&before))]
        {
            let mut group = criterion.benchmark_group(format!("diff/{case}"));
            group.throughput(Throughput::Bytes(size.pixels() * 4));
            group.bench_function(BenchmarkId::new("memcmp", size), |bench| {
                // Of equal bytes: memcmp would stop at the first difference.
                bench.iter(|| black_box(before.data()) == black_box(twin.data()));
            });
            let mut differ = Differ::new(DiffOptions::preset(Preset::Live));
            group.bench_function(BenchmarkId::new("seechange", size), |bench| {
                bench.iter(|| differ.compare(before.as_ref(), after.as_ref()));
            });
        }
    }
}

criterion_group!(benches, diff);
criterion_main!(benches);
