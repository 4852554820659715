//! Ways to wait for the end of an action, and what became of each.

use std::time::Duration;

use seechange::wait::{Capture, Condition, OutcomeKind, Source, WaitOptions, wait};
use seechange::{Cancel, Clock, Frame, PixelFormat, Rect, Size};

/// How long any of them waits before it gives up.
const PATIENCE: Duration = Duration::from_secs(10);

/// Between two looks.
const INTERVAL: Duration = Duration::from_millis(50);

/// A way to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// `stable` after an input.
    Stable,
    /// `appears`, with a picture of what it looks like then.
    Appears,
    /// However long it takes.
    Sleep(u64),
    /// Until two looks in a row are equal.
    TwoEqual,
    /// Until no look differs from the one before for as long.
    Quiet(u64),
}

/// What there is to know at the input: the time, what was seen just before, and what it will look
/// like when it is done.
pub(crate) struct Start<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) before: Frame,
    pub(crate) done: Option<(Frame, Rect)>,
    pub(crate) seed: u64,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waited {
    /// Time since the input.
    pub(crate) took: Duration,
    /// Since the input until the last look began: what the answer rests on.
    pub(crate) last_look: Duration,
    pub(crate) gave_up: bool,
}

impl Policy {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Stable => "`stable` after the input".to_owned(),
            Self::Appears => "`appears` what is waited for".to_owned(),
            Self::Sleep(ms) => format!("sleep {ms} ms"),
            Self::TwoEqual => "two equal frames".to_owned(),
            Self::Quiet(ms) => format!("no change for {ms} ms"),
        }
    }

    /// Waits on `source`; the input was just now.
    pub(crate) fn wait(self, source: &mut dyn Source, start: Start<'_>) -> Waited {
        let mut source = Noting { source, clock: start.clock, last: start.clock.now() };
        let began = start.clock.now();
        let gave_up = match self {
            Self::Stable => engine(&Condition::stable(), &mut source, &start),
            Self::Appears => {
                let (frame, rect) = start.done.as_ref().expect("what to wait for is named");
                let part = frame.crop(*rect).expect("the end is inside the frame");
                engine(&Condition::appears(part), &mut source, &start)
            }
            Self::Sleep(ms) => {
                start.clock.sleep(Duration::from_millis(ms));
                look(&mut source);
                false
            }
            Self::TwoEqual => quiet(&mut source, start.clock, Duration::ZERO),
            Self::Quiet(ms) => quiet(&mut source, start.clock, Duration::from_millis(ms)),
        };
        let since = |time: Duration| time.saturating_sub(began);
        Waited { took: since(start.clock.now()), last_look: since(source.last), gave_up }
    }
}

fn engine(condition: &Condition, source: &mut dyn Source, start: &Start<'_>) -> bool {
    let options = WaitOptions::new()
        .timeout(PATIENCE)
        .interval(INTERVAL)
        .seed(start.seed)
        .input_at(Duration::ZERO)
        .baseline(start.before.clone());
    let outcome = wait(source, condition, &options, start.clock, &Cancel::never());
    outcome.expect("the surface is there").kind != OutcomeKind::Met
}

/// Looks until nothing differs from the look before for so long; says whether it gave up.
fn quiet(source: &mut dyn Source, clock: &Clock, wanted: Duration) -> bool {
    let end = clock.now() + PATIENCE;
    let (mut last, mut since) = (look(source), clock.now());
    while clock.now() < end {
        clock.sleep(INTERVAL);
        let (now, at) = (look(source), clock.now());
        if now.data() != last.data() {
            since = at;
        } else if at.saturating_sub(since) >= wanted {
            return false;
        }
        last = now;
    }
    true
}

/// A picture of all of it.
pub(crate) fn look(source: &mut dyn Source) -> Frame {
    let size = Size::new(1, 1).expect("a size within the limits");
    let mut frame = Frame::filled(size, PixelFormat::Bgrx, [0; 4]);
    let capture = source.capture(None, Duration::MAX, &mut frame).expect("the surface is there");
    assert!(matches!(capture, Capture::Taken { .. }), "{capture:?}");
    frame
}

/// A source of which is known when the last look began.
struct Noting<'a> {
    source: &'a mut dyn Source,
    clock: &'a Clock,
    last: Duration,
}

impl Source for Noting<'_> {
    fn geometry(&mut self) -> seechange::Result<seechange::wait::Geometry> {
        self.source.geometry()
    }

    fn capture(
        &mut self,
        region: Option<Rect>,
        give_up: Duration,
        frame: &mut Frame,
    ) -> seechange::Result<Capture> {
        self.last = self.clock.now();
        self.source.capture(region, give_up, frame)
    }

    fn watch_damage(&mut self) -> seechange::Result<bool> {
        self.source.watch_damage()
    }

    fn rest(
        &mut self,
        until: Duration,
        concerns: &dyn Fn(Rect) -> bool,
        clock: &Clock,
        cancel: &Cancel,
    ) -> seechange::Result<seechange::wait::Rest> {
        self.source.rest(until, concerns, clock, cancel)
    }
}
