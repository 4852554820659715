//! Fuzz targets: what no input may do, on inputs made to break it.
//!
//! Each target is a plain function of bytes or of a random source, driven by a loop that mutates
//! real files. `cargo test` runs a fixed number of rounds, the same every time; a long run is
//! `SEECHANGE_FUZZ_SECONDS=600 cargo test --release --test fuzz`, with other inputs for every
//! `SEECHANGE_FUZZ_SEED`. An input that fails is kept, and its path is in the message.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test says what it did and stops where it fails"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use seechange::diff::{Differences, Tolerance, diff};
use seechange::{DiffOptions, FrameRef, PixelFormat, Point, Preset, Rect, Size, compare, frame};

/// Numbers that limits and lengths break on.
const EDGES: [u32; 16] = [
    0,
    1,
    7,
    8,
    127,
    128,
    255,
    256,
    4096,
    16_000,
    0x7FFF,
    0xFFFF,
    0x1_0000,
    100_000,
    0x7FFF_FFFF,
    u32::MAX,
];

/// A picture is an error of one line or a frame that fits its size, for no more memory than a file
/// of that length can be worth.
fn decode_anything(bytes: &[u8]) {
    let (decoded, peak) = peak_bytes(|| frame::decode(bytes));
    let allowed = plausible_pixels(bytes) * 16 + (96 << 20);
    assert!(peak <= allowed, "{peak} bytes were held for a file of {}: {decoded:?}", bytes.len());
    match decoded {
        Ok(frame) => {
            assert_eq!(frame.data().len() as u64, frame.size().pixels() * 4);
            assert!(frame.size().pixels() <= plausible_pixels(bytes), "{frame:?}");
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("is ") || message.starts_with("a "), "{message:?}");
            assert!(!message.contains('\n'), "{message:?}");
        }
    }
}

/// What a file may declare: what it can hold at best, or as much as is always taken.
fn plausible_pixels(bytes: &[u8]) -> u64 {
    let is_bounded = [&b"\x89PNG"[..], b"\xFF\xD8", b"GIF", b"qoif"]
        .iter()
        .any(|signature| bytes.starts_with(signature));
    let always = if is_bounded { 1 << 22 } else { 1 << 25 };
    always.max(bytes.len() as u64 * 1032 * 8)
}

/// Two views of raw bytes: made exactly when the bytes hold them, and then compared as the
/// definition of the tolerance says.
fn frames_from_raw_parts(random: &mut Random) {
    let bytes: Vec<u8> = (0..random.below(20_000)).map(|_| random.sparse_byte()).collect();
    let size = Size::new(random.edge(60), random.edge(60));
    let Ok(size) = size else { return };
    let views = [(); 2].map(|()| view(random, size, &bytes));
    let [Some(before), Some(after)] = views else { return };
    let tolerance = random.tolerance();
    let mut differences = Differences::default();
    diff(before, after, tolerance, &mut differences).unwrap();
    let points = (0..size.height()).flat_map(|y| (0..size.width()).map(move |x| Point::new(x, y)));
    for point in points {
        let differs = tolerance.differs(before.rgba(point), after.rgba(point));
        assert_eq!(differences.changed().get(point), differs, "{tolerance:?} at {point}");
    }
    reports(random, before, after);
}

/// A view, which is refused exactly when the bytes do not hold it.
fn view<'b>(random: &mut Random, size: Size, bytes: &'b [u8]) -> Option<FrameRef<'b>> {
    let row = u64::from(size.width()) * 4;
    let stride = if random.one_in(4) {
        u64::from(random.edge(400)) << (random.below(2) * 31)
    } else {
        row + u64::from(random.below(9))
    };
    let data = &bytes[usize::try_from(random.below(64)).unwrap().min(bytes.len())..];
    let format = if random.one_in(2) { PixelFormat::Rgba } else { PixelFormat::Bgrx };
    let made = FrameRef::new(size, format, usize::try_from(stride).unwrap(), data);
    let wanted = u128::from(size.height() - 1) * u128::from(stride) + u128::from(row);
    let fits = stride >= row && data.len() as u128 >= wanted;
    assert_eq!(made.is_ok(), fits, "{size}, stride {stride}, {} bytes", data.len());
    made.ok()
}

/// Whole and cropped, a report's boxes are disjoint, lie inside and sum up.
fn reports(random: &mut Random, before: FrameRef<'_>, after: FrameRef<'_>) {
    let size = before.size();
    let crop = Rect::new(
        random.below(size.width()),
        random.below(size.height()),
        1 + random.below(size.width()),
        1 + random.below(size.height()),
    );
    let crop = crop.ok().filter(|rect| size.rect().contains_rect(*rect));
    for rect in [Some(size.rect()), crop].into_iter().flatten() {
        let (before, after) = (before.crop(rect).unwrap(), after.crop(rect).unwrap());
        let report = compare(before, after, &DiffOptions::preset(random.preset())).unwrap();
        let boxes: Vec<Rect> = report.areas.iter().map(|area| area.rect).collect();
        for (index, one) in boxes.iter().enumerate() {
            assert!(rect.size().rect().contains_rect(*one), "{one} is outside");
            assert!(
                boxes[..index].iter().all(|other| other.intersection(*one).is_none()),
                "{boxes:?}"
            );
        }
        let sum: u64 = report.areas.iter().map(|area| area.changed_pixels).sum();
        assert_eq!(report.changed_pixels, sum);
    }
}

#[test]
fn decoding_survives_any_bytes() {
    let files = files();
    rounds("decode", 4000, |random, input| {
        *input = random.pick(&files).clone();
        for _ in 0..=random.below(4) {
            mutate(random, input, &files);
        }
        if !random.one_in(4) {
            mend_checksums(input);
        }
        decode_anything(input);
    });
}

#[test]
fn frames_from_any_raw_parts_compare() {
    rounds("raw", 1500, |random, _| frames_from_raw_parts(random));
}

#[test]
fn the_allocator_counts_what_is_held() {
    let (kept, peak) = peak_bytes(|| {
        drop(vec![0_u8; 3 << 20]);
        vec![1_u8; 1 << 20]
    });
    assert_eq!(kept.len(), 1 << 20);
    assert!((3 << 20..4 << 20).contains(&peak), "{peak}");
}

/// Runs a target a fixed number of times, or for as long as the environment says.
fn rounds(name: &str, default: u64, mut target: impl FnMut(&mut Random, &mut Vec<u8>)) {
    let number = |key| std::env::var(key).ok().map(|text| text.parse().unwrap());
    let seed: u64 = number("SEECHANGE_FUZZ_SEED").unwrap_or(1);
    let (start, limit) =
        (Instant::now(), number("SEECHANGE_FUZZ_SECONDS").map(Duration::from_secs));
    let is_over = |done| limit.map_or(done == default, |limit| start.elapsed() >= limit);
    let mut done = 0;
    while !is_over(done) {
        let mut input = Vec::new();
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (done << 20));
        let ran = catch_unwind(AssertUnwindSafe(|| target(&mut random, &mut input)));
        if ran.is_err() {
            let kept = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{done}"));
            std::fs::write(&kept, &input).unwrap();
            panic!("{name}: round {done} of seed {seed} failed; its input is {}", kept.display());
        }
        done += 1;
    }
    println!("{name}: {done} rounds of seed {seed} in {} s", start.elapsed().as_secs());
}

fn files() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/formats");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// One thing that goes wrong with files, or that somebody does to them.
fn mutate(random: &mut Random, bytes: &mut Vec<u8>, files: &[Vec<u8>]) {
    let range = random.range(bytes.len());
    match random.below(8) {
        0 => bytes.truncate(range.start),
        1 => drop(bytes.drain(range)),
        2 => {
            let copy = bytes[range.clone()].to_vec();
            drop(bytes.splice(range.end..range.end, copy));
        }
        3 => {
            let other = random.pick(files);
            let part = other[random.range(other.len())].to_vec();
            drop(bytes.splice(range, part));
        }
        4 => {
            let value = random.edge(1 << 16);
            let field = [value.to_be_bytes(), value.to_le_bytes()][random.below(2) as usize];
            write_field(random, bytes, &field);
        }
        5 => {
            let value = u16::try_from(random.edge(1 << 16) & 0xFFFF).unwrap();
            let field = [value.to_be_bytes(), value.to_le_bytes()][random.below(2) as usize];
            write_field(random, bytes, &field);
        }
        6 => {
            let value = random.byte();
            write_field(random, bytes, &[value]);
        }
        _ => {
            for _ in 0..=random.below(6) {
                let at = random.below_usize(bytes.len());
                let bit = 1 << random.below(8);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= bit;
                }
            }
        }
    }
}

/// Writes over some bytes, more often than not of the header.
fn write_field(random: &mut Random, bytes: &mut [u8], field: &[u8]) {
    let among = if random.one_in(3) { bytes.len() } else { bytes.len().min(48) };
    let place = bytes.iter_mut().skip(random.below_usize(among));
    for (byte, new) in place.zip(field) {
        *byte = *new;
    }
}

/// Makes the checksums of a PNG right again, so that what is behind them is reached.
fn mend_checksums(bytes: &mut [u8]) {
    if !bytes.starts_with(b"\x89PNG") {
        return;
    }
    let mut at = 8;
    while let Some(length) = bytes.get(at..at + 4) {
        let length = u32::from_be_bytes(length.try_into().unwrap()) as usize;
        let end = at + 8 + length;
        let Some(covered) = bytes.get(at + 4..end) else { return };
        let checksum = crc32(covered).to_be_bytes();
        let Some(place) = bytes.get_mut(end..end + 4) else { return };
        place.copy_from_slice(&checksum);
        at = end + 4;
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 }
        })
    })
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Zero to `end`, without it; zero when that is zero.
    fn below(&mut self, end: u32) -> u32 {
        u32::try_from(self.next() % u64::from(end.max(1))).unwrap()
    }

    fn below_usize(&mut self, end: usize) -> usize {
        self.below(u32::try_from(end).unwrap()) as usize
    }

    fn byte(&mut self) -> u8 {
        self.next().to_be_bytes()[0]
    }

    /// Mostly one of two values, so that frames are alike in most pixels.
    fn sparse_byte(&mut self) -> u8 {
        if self.one_in(40) { self.byte() } else { 200 }
    }

    fn one_in(&mut self, chances: u32) -> bool {
        self.below(chances) == 0
    }

    /// Mostly a number below `end`, at times one that breaks things.
    fn edge(&mut self, end: u32) -> u32 {
        if self.one_in(4) { EDGES[self.below(16) as usize] } else { self.below(end) }
    }

    fn range(&mut self, length: usize) -> Range<usize> {
        let start = self.below_usize(length);
        start..start + self.below_usize((length - start).min(64) + 1)
    }

    fn pick<'t, T>(&mut self, among: &'t [T]) -> &'t T {
        &among[self.below_usize(among.len())]
    }

    fn tolerance(&mut self) -> Tolerance {
        let part = f32::from(self.byte()) / 255.0;
        match self.below(4) {
            0 => Tolerance::Exact,
            1 => Tolerance::Channel(self.byte()),
            2 => Tolerance::Yiq(f64::from(part * part)),
            _ => Tolerance::Oklab(f64::from(part * part)),
        }
    }

    fn preset(&mut self) -> Preset {
        *self.pick(&[Preset::Live, Preset::Golden, Preset::Exact])
    }
}

/// Runs `work`; the most bytes this thread then held beyond what it held before.
fn peak_bytes<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = HELD.get();
    PEAK.set(before);
    let result = work();
    (result, u64::try_from(PEAK.get() - before).unwrap())
}

thread_local! {
    static HELD: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

/// Counts what each thread holds.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(bytes: usize, sign: i64) {
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    // A thread that ends frees after its counters are gone; nobody asks for those.
    let counted = HELD.try_with(|held| {
        held.set(held.get() + sign * bytes);
        PEAK.with(|peak| peak.set(peak.get().max(held.get())));
    });
    counted.unwrap_or_default();
}

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every call goes to the system's allocator as it came; only numbers are kept beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: the caller keeps the rules of `alloc`, which are the same there.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(layout.size(), -1);
        // SAFETY: the block came from the system's allocator with this layout.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both blocks may be there for a moment.
        count(size, 1);
        // SAFETY: as in `dealloc`, and the caller checked the new size.
        let moved = unsafe { System.realloc(block, layout, size) };
        count(layout.size(), -1);
        moved
    }
}
