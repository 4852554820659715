//! One comparison with areas beside a memcmp of the same bytes and beside what others offer.
//!
//! Read the ratios, not the times. `memcmp` is of equal buffers (it would stop at the first
//! difference), `seechange` uses all cores, `seechange one thread` one.
//! `blazediff` counts pixels without finding areas; `image-compare` gives one score (root mean
//! square) for the whole picture, on all cores.
//! `moved` is what it costs to tell blocks that moved: the same pairs compared with and without it.
//! Run with `cargo bench --bench diff`, or a part of it: `cargo bench --bench diff -- 'diff/equal'`.
//! The numbers kept in `benches/RECORD.md` say on which machine they were taken.

use std::hint::black_box;
use std::time::Duration;

use ::image_compare::{Algorithm, prelude::RgbImage, rgb_similarity_structure};
use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main,
    measurement::WallTime,
};
use rayon::ThreadPoolBuilder;
use seechange::{DiffOptions, Differ, Frame, PixelFormat, Preset, Rect, Size};

const SIZES: [(u32, u32); 4] = [(1280, 800), (1920, 1080), (3840, 2160), (1280, 10_000)];

/// A page of words: glyphs of random strokes, seven pixels wide, in lines of eighteen.
fn page(size: Size) -> Frame {
    page_from(size, 0)
}

/// The page from its row `first` on.
fn page_from(size: Size, first: usize) -> Frame {
    let mut frame = Frame::filled(size, PixelFormat::Rgba, [250, 250, 248, 255]);
    let width = size.width() as usize;
    for (index, pixel) in frame.data_mut().chunks_exact_mut(4).enumerate() {
        let (x, y) = (index % width, index / width + first);
        if is_ink(x, y) {
            pixel[..3].fill(40);
        }
    }
    frame
}

/// Whether a stroke of some glyph covers a pixel. Letters lie close, one in six is a space, and
/// columns of text have a margin between them.
fn is_ink(x: usize, y: usize) -> bool {
    let (column, across, line, down) = (x / 7, x % 7, y / 18, y % 18);
    if down >= 11 || across >= 6 || x % 400 > 360 {
        return false;
    }
    let letter = hash(column << 20 | line);
    !letter.is_multiple_of(6) && hash((letter >> 8 & 31) << 16 | across << 8 | down) % 100 < 35
}

/// The finaliser of MurmurHash3.
fn hash(mut value: usize) -> usize {
    value = (value ^ value >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    value = (value ^ value >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    value ^ value >> 33
}

fn paint(frame: &mut Frame, rect: Rect) {
    let width = frame.size().width();
    for y in rect.y()..rect.bottom() {
        let start = (y * width + rect.x()) as usize * 4;
        for pixel in frame.data_mut()[start..][..rect.width() as usize * 4].chunks_exact_mut(4) {
            pixel[..3].fill(128);
        }
    }
}

/// Boxes of 24x24, 60 pixels apart: of all pixels 16 %.
fn many_boxes(frame: &Frame) -> Frame {
    let mut boxed = frame.clone();
    for y in (10..frame.size().height() - 24).step_by(60) {
        for x in (10..frame.size().width() - 24).step_by(60) {
            paint(&mut boxed, Rect::new(x, y, 24, 24).expect("a box inside the frame"));
        }
    }
    boxed
}

fn one_box(frame: &Frame) -> Frame {
    let mut boxed = frame.clone();
    let (x, y) = (frame.size().width() / 2, frame.size().height() / 2);
    paint(&mut boxed, Rect::new(x, y, 24, 24).expect("a box inside the frame"));
    boxed
}

fn inverted(frame: &Frame) -> Frame {
    let mut inverted = frame.clone();
    for pixel in inverted.data_mut().chunks_exact_mut(4) {
        pixel[..3].iter_mut().for_each(|channel| *channel = !*channel);
    }
    inverted
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
    for (width, height) in SIZES {
        let size = Size::new(width, height).expect("a size within the limits");
        let before = page(size);
        for (case, after) in [
            ("equal", before.clone()),
            ("one box", one_box(&before)),
            ("many boxes", many_boxes(&before)),
            ("all changed", inverted(&before)),
            ("shifted", shifted(&before)),
        ] {
            let mut group = criterion.benchmark_group(format!("diff/{case}"));
            group.throughput(Throughput::Bytes(size.pixels() * 4));
            group.warm_up_time(Duration::from_millis(300));
            group.measurement_time(Duration::from_secs(1));
            group.sample_size(20);
            memcmp(&mut group, &before);
            seechange(&mut group, &before, &after);
            blazediff(&mut group, &before, &after);
            image_compare(&mut group, &before, &after);
            group.finish();
        }
    }
}

fn memcmp(group: &mut BenchmarkGroup<'_, WallTime>, before: &Frame) {
    let twin = before.clone();
    group.bench_function(BenchmarkId::new("memcmp", before.size()), |bench| {
        bench.iter(|| black_box(before.data()) == black_box(twin.data()));
    });
}

fn seechange(group: &mut BenchmarkGroup<'_, WallTime>, before: &Frame, after: &Frame) {
    let options = DiffOptions::preset(Preset::Live);
    let mut differ = Differ::new(options.clone());
    group.bench_function(BenchmarkId::new("seechange", before.size()), |bench| {
        bench.iter(|| differ.compare(before.as_ref(), after.as_ref()));
    });
    let one = ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    group.bench_function(BenchmarkId::new("seechange one thread", before.size()), |bench| {
        one.install(|| bench.iter(|| differ.compare(before.as_ref(), after.as_ref())));
    });
    // What moved is no question to any of the others.
    let mut differ = Differ::new(options.moved(false));
    let name = "seechange one thread without moves";
    group.bench_function(BenchmarkId::new(name, before.size()), |bench| {
        one.install(|| bench.iter(|| differ.compare(before.as_ref(), after.as_ref())));
    });
}

fn blazediff(group: &mut BenchmarkGroup<'_, WallTime>, before: &Frame, after: &Frame) {
    let size = before.size();
    let image = |frame: &Frame| ::blazediff::Image {
        data: frame.data().to_vec(),
        width: size.width(),
        height: size.height(),
    };
    let (one, other) = (image(before), image(after));
    let options = ::blazediff::DiffOptions { include_aa: true, ..Default::default() };
    group.bench_function(BenchmarkId::new("blazediff", size), |bench| {
        bench.iter(|| ::blazediff::diff(&one, &other, None, &options));
    });
}

fn image_compare(group: &mut BenchmarkGroup<'_, WallTime>, before: &Frame, after: &Frame) {
    let image = |frame: &Frame| {
        let rgb = frame.data().chunks_exact(4).flat_map(|pixel| pixel[..3].iter().copied());
        let size = frame.size();
        RgbImage::from_raw(size.width(), size.height(), rgb.collect()).expect("a whole picture")
    };
    let (one, other) = (image(before), image(after));
    group.bench_function(BenchmarkId::new("image-compare", before.size()), |bench| {
        bench.iter(|| rgb_similarity_structure(&Algorithm::RootMeanSquared, &one, &other));
    });
}

/// No two pixels alike.
fn noise(size: Size, seed: usize) -> Frame {
    let mut frame = Frame::filled(size, PixelFormat::Rgba, [0; 4]);
    for (index, pixel) in frame.data_mut().chunks_exact_mut(4).enumerate() {
        let bytes = hash(seed << 32 | index).to_le_bytes();
        pixel[..3].copy_from_slice(&bytes[..3]);
        pixel[3] = u8::MAX;
    }
    frame
}

fn moved(criterion: &mut Criterion) {
    for (width, height) in [(1280, 800), (3840, 2160)] {
        let size = Size::new(width, height).expect("a size within the limits");
        let before = page(size);
        for (case, before, after) in [
            ("equal", &before, before.clone()),
            ("one box", &before, one_box(&before)),
            ("one row further", &before, page_from(size, 1)),
            ("scrolled by 137", &before, page_from(size, 137)),
            ("another page", &before, page_from(size, 180_000)),
            ("noise", &noise(size, 1), noise(size, 77)),
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

criterion_group!(benches, diff, moved);
criterion_main!(benches);
