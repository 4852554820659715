//! Looks at a surface that stands still allocate nothing: a wait may poll for hours.
#![allow(unsafe_code, reason = "an allocator that counts is made of unsafe functions")]
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

use seechange::wait::{Capture, Condition, Geometry, Source, WaitOptions, wait};
use seechange::{Cancel, Clock, Frame, PixelFormat, Rect, Result, Scope, Size};

/// Counts what its thread allocates.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that is ending has nothing to count any more.
    ALLOCATIONS.try_with(|count| count.set(count.get() + 1)).unwrap_or_default();
}

// SAFETY: every call goes on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the promises of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the promises of `realloc`.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the promises of `dealloc`.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Shows one picture, and notes how much had been allocated before each look.
struct Still {
    picture: Frame,
    counts: Vec<u64>,
}

impl Source for Still {
    fn geometry(&mut self) -> Result<Geometry> {
        Ok(Geometry { size: self.picture.size(), scale: 1.0, origin: (0, 0) })
    }

    fn capture(&mut self, region: Option<Rect>, _: Duration, frame: &mut Frame) -> Result<Capture> {
        self.counts.push(ALLOCATIONS.get());
        frame.copy_from(
            region
                .map_or(Ok(self.picture.as_ref()), |region| self.picture.as_ref().crop(region))?,
        );
        Ok(Capture::Taken { id: self.counts.len() as u64 })
    }
}

fn picture() -> Frame {
    let size = Size::new(320, 200).unwrap();
    let mut picture = Frame::filled(size, PixelFormat::Bgrx, [240, 240, 240, 255]);
    picture.data_mut()[9000..9400].fill(7);
    picture
}

#[test]
fn looks_at_what_stands_still_allocate_nothing() {
    let reference = Frame::filled(Size::new(12, 9).unwrap(), PixelFormat::Bgrx, [1, 2, 3, 255]);
    let part = Scope::everything().region("10,10,90,90".parse().unwrap());
    let any = [
        Condition::changed(),
        Condition::stable().hold(Duration::from_secs(29)).scope(part),
        Condition::appears(reference.clone()),
    ];
    for condition in [
        Condition::changed(),
        Condition::changed().ignore_periodic(true),
        Condition::stable().hold(Duration::from_secs(29)),
        Condition::appears(reference),
        Condition::gone(picture()),
        Condition::any(any).unwrap(),
    ] {
        let clock = Clock::simulated();
        let mut source = Still { picture: picture(), counts: Vec::with_capacity(2000) };
        let options = WaitOptions::new().timeout(Duration::from_secs(30));
        wait(&mut source, &condition, &options, &clock, &Cancel::never()).unwrap();
        let counts = &source.counts[10..];
        assert!(counts.len() > 300, "{}: {} looks", condition.name(), counts.len());
        let grown = counts.last().unwrap() - counts[0];
        assert_eq!(grown, 0, "{}: {grown} in {} looks", condition.name(), counts.len());
    }
}
