//! Any surface into a folder that can be replayed.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::clock::{Cancel, Clock};
use crate::error::{Error, Result};
use crate::frame::{Frame, PixelFormat};
use crate::geometry::Rect;
use crate::wait::{Capture, Gaps, Geometry, Rest, Source};

use super::store::{Look, Store, View};

/// A capture that has not answered after this long is recorded as one that hangs.
const HANGS_AFTER: Duration = Duration::from_secs(2);

/// How much longer than the recording its last capture may take.
const GRACE: Duration = Duration::from_millis(500);

/// How long before the end the last look begins.
const LAST_LOOK: Duration = Duration::from_millis(2);

/// Damage brings looks no nearer together than the interval divided by this.
const MOST_OFTEN: u32 = 4;

/// How long, how often and how much to record.
///
/// ```
/// use std::time::Duration;
/// use seechange::surface::replay::RecordOptions;
/// let options = RecordOptions::new().length(Duration::from_secs(5)).max_bytes(50_000_000);
/// assert_eq!(options, RecordOptions::new().max_bytes(50_000_000).length(Duration::from_secs(5)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordOptions {
    length: Duration,
    interval: Duration,
    seed: u64,
    max_bytes: u64,
    region: Option<Rect>,
}

impl Default for RecordOptions {
    fn default() -> Self {
        Self {
            length: Duration::from_secs(60),
            interval: Duration::from_millis(50),
            seed: 0,
            max_bytes: 512_000_000,
            region: None,
        }
    }
}

impl RecordOptions {
    /// The defaults: all of the surface every 50 ms on average, for a minute or 512 MB.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How long to record. Default: one minute.
    #[must_use]
    pub const fn length(mut self, length: Duration) -> Self {
        self.length = length;
        self
    }

    /// The average time between two looks; each gap is 0.6 to 1.4 of it, and shorter where the
    /// surface tells that something was drawn. Default: 50 ms.
    #[must_use]
    pub const fn interval(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }

    /// Seeds the irregular gaps. Default: 0.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How many bytes the folder may take, pictures and timeline together. Default: 512 million.
    #[must_use]
    pub const fn max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// Records this part alone, in frame pixels. Default: everything.
    #[must_use]
    pub const fn region(mut self, region: Option<Rect>) -> Self {
        self.region = region;
        self
    }

    fn check(&self, geometry: Geometry) -> Result<()> {
        if self.interval < Duration::from_millis(1) {
            return Err(Error::usage(format!(
                "an interval of {:?} is too short: use at least 1ms",
                self.interval
            )));
        }
        match self.region {
            Some(region) if !geometry.size.rect().contains_rect(region) => Err(Error::usage(
                format!("region {region} is outside the {} surface", geometry.size),
            )),
            _ => Ok(()),
        }
    }
}

/// Why a recording ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// It is as long as it was asked to be.
    Time,
    /// The next picture would have passed the bound.
    Size,
    /// Somebody cancelled it.
    Cancelled,
    /// The surface took another size, in which the recorded part means something else.
    Resized,
}

impl Ended {
    /// The name used in JSON: `time`, `size`, `cancelled` or `resized`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Size => "size",
            Self::Cancelled => "cancelled",
            Self::Resized => "resized",
        }
    }
}

/// How far a recording is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Time since its start.
    pub length: Duration,
    /// Captures begun.
    pub looks: u32,
    /// Pictures stored: one for each that differs from all others.
    pub pictures: u32,
    /// Bytes of the pictures and the timeline.
    pub bytes: u64,
    /// Looks without a picture: the capture hung or failed.
    pub without_picture: u32,
    /// Looks whose picture is missing because pictures came faster than they could be written.
    pub dropped: u32,
}

/// A recording that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Why it ended.
    pub ended: Ended,
    /// What it holds.
    pub progress: Progress,
}

/// Records `source` into `folder`, so that
/// [`Recording::open`](super::Recording::open) plays it: what the surface showed, when and at what
/// cost, with captures that failed or hung. `watch` is told after each look.
///
/// The folder must be new, empty or an earlier recording, which is replaced once there is a first
/// picture. Its timeline is whole at every moment, so a recorder that is killed leaves one that
/// can be replayed, short of about the last second.
///
/// Pictures are written beside the looks, not between them. Where they come faster than they can
/// be written some are dropped: such a look is recorded as one that failed, which is evidence of
/// nothing, and never as one that showed the old picture.
///
/// ```
/// use std::time::Duration;
/// use seechange::surface::demo::Demo;
/// use seechange::surface::replay::{Ended, FrameIds, RecordOptions, Recording, record};
/// use seechange::{Cancel, Clock};
/// let folder = tempfile::tempdir()?;
/// let clock = Clock::simulated();
/// let mut app = Demo::new(clock.clone());
/// let options = RecordOptions::new().length(Duration::from_secs(2));
/// let cancel = Cancel::never();
/// let recorded = record(&mut app, folder.path(), &options, &clock, &cancel, &mut |_| {})?;
/// assert_eq!(recorded.ended, Ended::Time);
/// let again = Recording::open(folder.path())?.play(&Clock::simulated(), FrameIds::EachLook);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the folder holds something else, something cannot be written (what was written before can
/// be replayed), the surface is gone, no capture succeeded, or an option makes no sense.
pub fn record(
    source: &mut dyn Source,
    folder: &Path,
    options: &RecordOptions,
    clock: &Clock,
    cancel: &Cancel,
    watch: &mut dyn FnMut(&Progress),
) -> Result<Recorded> {
    let geometry = source.geometry()?;
    options.check(geometry)?;
    let mut recorder = Recorder::open(folder, geometry.scale, options.max_bytes, clock)?;
    source.heed(cancel);
    source.watch_damage()?;
    let mut looks = Looks::new(options, clock);
    let mut frame = Frame::filled(geometry.size, PixelFormat::Rgba, [0; 4]);
    let ended = loop {
        let looked = looks.look(source, &mut recorder, &mut frame);
        watch(&recorder.progress);
        let ended = looked.map(|ended| ended.or_else(|| recorder.is_over()));
        if let Some(ended) = ended.transpose() {
            break ended;
        }
        if let Some(ended) = looks.rest(source, cancel).transpose() {
            break ended;
        }
    };
    recorder.finish(ended, looks.now())
}

/// When to look, and looking.
struct Looks<'a> {
    clock: &'a Clock,
    region: Option<Rect>,
    start: Duration,
    length: Duration,
    interval: Duration,
    gaps: Gaps,
    /// When the last look began, and what was drawn since.
    looked_at: Duration,
    damage: Vec<Rect>,
}

impl<'a> Looks<'a> {
    fn new(options: &RecordOptions, clock: &'a Clock) -> Self {
        Self {
            clock,
            region: options.region,
            start: clock.now(),
            length: options.length,
            interval: options.interval,
            looked_at: Duration::ZERO,
            damage: Vec::new(),
            gaps: Gaps::new(options.interval, options.seed),
        }
    }

    fn now(&self) -> Duration {
        self.clock.now().saturating_sub(self.start)
    }

    /// One look; says when the recording cannot go on after it.
    fn look(
        &mut self,
        source: &mut dyn Source,
        recorder: &mut Recorder,
        frame: &mut Frame,
    ) -> Result<Option<Ended>> {
        let began = self.now();
        self.looked_at = began;
        let give_up = (began.saturating_add(HANGS_AFTER)).min(self.length.saturating_add(GRACE));
        let capture = source.capture(self.region, self.start.saturating_add(give_up), frame)?;
        recorder.see(began, self.now(), &capture, frame, std::mem::take(&mut self.damage));
        if capture != Capture::Resized {
            return Ok(None);
        }
        // Asking for the new size is what makes the next capture succeed.
        source.geometry()?;
        Ok(self.region.map(|_| Ended::Resized))
    }

    /// Rests until the next look, which damage brings forward; says when there is none.
    fn rest(&mut self, source: &mut dyn Source, cancel: &Cancel) -> Result<Option<Ended>> {
        let (now, last) = (self.now(), self.length.saturating_sub(LAST_LOOK));
        let drawn = now.saturating_add(self.gaps.draw(Duration::MAX));
        let is_last = now >= last;
        let next = if is_last { self.length } else { drawn.min(last) };
        let (drawn_at, region) = (RefCell::new(Vec::new()), self.region);
        let concerns = |rect| {
            let seen = inside(rect, region);
            drawn_at.borrow_mut().extend(seen);
            seen.is_some()
        };
        let until = self.start.saturating_add(next);
        let rest = match source.rest(until, &concerns, self.clock, cancel)? {
            Rest::Damaged => self.come_sooner(drawn_at.into_inner(), next, cancel),
            rest => rest,
        };
        Ok(match rest {
            Rest::Cancelled => Some(Ended::Cancelled),
            Rest::Elapsed | Rest::Damaged => (self.now() >= self.length).then_some(Ended::Time),
        })
    }

    /// Something was drawn: the next look comes soon, but some time after the last.
    fn come_sooner(&mut self, drawn: Vec<Rect>, next: Duration, cancel: &Cancel) -> Rest {
        self.damage.extend(drawn);
        let soon = self.looked_at.saturating_add(self.interval / MOST_OFTEN).min(next);
        match self.clock.sleep_until(self.start.saturating_add(soon), cancel) {
            true => Rest::Damaged,
            false => Rest::Cancelled,
        }
    }
}

/// The part of `rect` that is recorded, in pixels of the recording.
fn inside(rect: Rect, region: Option<Rect>) -> Option<Rect> {
    let Some(region) = region else { return Some(rect) };
    let (x, y) = (region.x().cast_signed(), region.y().cast_signed());
    rect.intersection(region)?.moved(-x, -y)
}

/// Turns looks into lines and pictures.
struct Recorder {
    folder: PathBuf,
    store: Store,
    /// The picture that was stored last.
    last: Option<Arc<Frame>>,
    failure: Option<String>,
    progress: Progress,
}

impl Recorder {
    fn open(folder: &Path, scale: f32, max_bytes: u64, clock: &Clock) -> Result<Self> {
        // Time that jumps would leave the writer behind at once: there each look waits for it.
        let store = Store::open(folder, scale, max_bytes, clock.is_simulated())?;
        Ok(Self {
            folder: folder.to_owned(),
            store,
            last: None,
            failure: None,
            progress: Progress::default(),
        })
    }

    /// Takes in one look and what was drawn since the one before, where the surface tells.
    fn see(
        &mut self,
        began: Duration,
        ended: Duration,
        capture: &Capture,
        frame: &Frame,
        damage: Vec<Rect>,
    ) {
        let (id, view) = match capture {
            Capture::Taken { id } => (Some(*id), self.view(frame)),
            Capture::Stalled => (None, View::Hang),
            Capture::Failed(_) | Capture::Resized => (None, View::Fail),
        };
        if let Capture::Failed(reason) = capture {
            self.failure = Some(reason.clone());
        }
        let picture = match &view {
            View::Picture(picture) => Some(Arc::clone(picture)),
            View::Same | View::Hang | View::Fail => None,
        };
        let cost = ended.saturating_sub(began);
        let is_kept = self.store.push(Look { at: began, cost, id, view, damage });
        self.last = picture.filter(|_| is_kept).or(self.last.take());
        self.progress.length = ended;
        self.progress.looks += 1;
        self.progress.without_picture += u32::from(id.is_none());
        self.progress.dropped += u32::from(!is_kept);
        self.count();
    }

    fn view(&self, frame: &Frame) -> View {
        match &self.last {
            Some(last) if shows_the_same(last, frame) => View::Same,
            _ => View::Picture(Arc::new(frame.clone())),
        }
    }

    fn count(&mut self) {
        let stored = self.store.stored();
        (self.progress.pictures, self.progress.bytes) = (stored.pictures, stored.bytes);
    }

    /// Why it cannot go on: the reason for trouble is what [`Self::finish`] gives.
    fn is_over(&self) -> Option<Ended> {
        let stored = self.store.stored();
        (stored.is_full || stored.has_failed).then_some(Ended::Size)
    }

    fn finish(mut self, ended: Result<Ended>, length: Duration) -> Result<Recorded> {
        let (stored, written) = self.store.finish();
        (self.progress.pictures, self.progress.bytes) = (stored.pictures, stored.bytes);
        self.progress.length = length;
        match written.and(ended) {
            Err(error) if stored.has_timeline => Err(cut_short(error, &self.folder)),
            Err(error) => Err(error),
            Ok(_) if stored.pictures == 0 => Err(nothing(&self.folder, self.failure)),
            Ok(_) if stored.is_full => Ok(Recorded { ended: Ended::Size, progress: self.progress }),
            Ok(ended) => Ok(Recorded { ended, progress: self.progress }),
        }
    }
}

fn cut_short(error: Error, folder: &Path) -> Error {
    let message = format!("{error}; what {} has so far can be replayed", folder.display());
    Error::new(error.kind(), message).with_source(error)
}

fn nothing(folder: &Path, failure: Option<String>) -> Error {
    let reason = failure.unwrap_or_else(|| "no capture gave a picture".to_owned());
    Error::surface(format!("{}: nothing was recorded: {reason}", folder.display()))
}

/// Whether two frames show the same; the byte that means nothing is left out.
fn shows_the_same(one: &Frame, other: &Frame) -> bool {
    if (one.size(), one.format()) != (other.size(), other.format()) {
        return false;
    }
    if one.data() == other.data() {
        return true;
    }
    let format = one.format();
    let ((one, _), (other, _)) = (one.data().as_chunks::<4>(), other.data().as_chunks::<4>());
    format == PixelFormat::Bgrx && one.iter().zip(other).all(|(one, other)| one[..3] == other[..3])
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::geometry::Size;
    use crate::surface::replay::{FrameIds, Recording};

    /// What a capture answers, and how long it takes.
    #[derive(Clone, Copy)]
    enum Answer {
        /// A frame with this id, side and grey.
        Frame(u64, u32, u8),
        Fails,
        Hangs,
        Resized,
    }

    /// Answers in order, the last one for ever.
    struct Script {
        clock: Clock,
        answers: Vec<(u64, Answer)>,
        next: usize,
    }

    impl Source for Script {
        fn geometry(&mut self) -> Result<Geometry> {
            Ok(Geometry { size: Size::new(8, 8)?, scale: 1.5, origin: (0, 0) })
        }

        fn capture(
            &mut self,
            _: Option<Rect>,
            give_up: Duration,
            frame: &mut Frame,
        ) -> Result<Capture> {
            let (cost, answer) = self.answers[self.next.min(self.answers.len() - 1)];
            self.next += 1;
            self.clock.sleep(Duration::from_millis(cost));
            Ok(match answer {
                Answer::Frame(id, side, grey) => {
                    *frame = picture(side, grey, self.next);
                    Capture::Taken { id }
                }
                Answer::Fails => Capture::Failed("no luck".to_owned()),
                Answer::Hangs => {
                    self.clock.sleep_until(give_up, &Cancel::never());
                    Capture::Stalled
                }
                Answer::Resized => Capture::Resized,
            })
        }
    }

    /// A grey square whose fourth bytes mean nothing and differ from look to look.
    fn picture(side: u32, grey: u8, noise: usize) -> Frame {
        let size = Size::new(side, side).unwrap();
        let mut frame = Frame::filled(size, PixelFormat::Bgrx, [grey, grey, grey, 255]);
        let noise = u8::try_from(noise).unwrap();
        frame.data_mut().chunks_exact_mut(4).for_each(|pixel| pixel[3] = noise);
        frame
    }

    fn run(folder: &Path, options: &RecordOptions, answers: &[(u64, Answer)]) -> Result<Recorded> {
        let clock = Clock::simulated();
        let mut script = Script { clock: clock.clone(), answers: answers.to_vec(), next: 0 };
        record(&mut script, folder, options, &clock, &Cancel::never(), &mut |_| {})
    }

    /// Looks 100 ms apart but for what captures cost.
    fn options(length: u64) -> RecordOptions {
        RecordOptions::new().length(Duration::from_millis(length)).seed(7)
    }

    fn lines(folder: &Path) -> Vec<(String, u64, Option<u64>)> {
        let text = fs::read_to_string(folder.join("timeline.json")).unwrap();
        let timeline: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&timeline["schema"], &timeline["scale"]), (&SCHEMA.into(), &1.5.into()));
        let lines = timeline["frames"].as_array().unwrap().iter();
        let cost = |line: &serde_json::Value| line["cost_ms"].as_u64().unwrap_or(0);
        lines
            .map(|one| (one["file"].as_str().unwrap().to_owned(), cost(one), one["id"].as_u64()))
            .collect()
    }

    const SCHEMA: &str = "seechange.timeline/1";

    #[test]
    fn each_look_is_a_line_and_each_picture_a_file() {
        use Answer::{Fails, Frame, Hangs, Resized};
        let folder = tempfile::tempdir().unwrap();
        let recorded = run(
            folder.path(),
            &options(2600),
            &[
                (0, Frame(1, 8, 10)),
                (0, Frame(2, 8, 10)),
                (5, Fails),
                (70, Frame(3, 8, 20)),
                (0, Frame(4, 8, 10)),
                (0, Hangs),
                (0, Frame(4, 8, 10)),
                (0, Resized),
                (0, Frame(5, 9, 10)),
            ],
        )
        .unwrap();
        let file = |name: &str, cost, id| (name.to_owned(), cost, id);
        let found = lines(folder.path());
        assert_eq!(
            found[..9],
            [
                file("0000.png", 0, Some(1)),
                file("same", 0, Some(2)),
                file("fail", 5, None),
                file("0001.png", 70, Some(3)),
                file("0000.png", 0, Some(4)),
                file("hang", 2000, None),
                file("same", 0, Some(4)),
                file("fail", 0, None),
                file("0002.png", 0, Some(5)),
            ]
        );
        assert!(found[9..].iter().all(|line| *line == file("same", 0, Some(5))), "{found:?}");
        let Progress { looks, pictures, without_picture, dropped, bytes, length } =
            recorded.progress;
        assert_eq!((recorded.ended, length.as_millis()), (Ended::Time, 2600));
        assert_eq!((pictures, without_picture, dropped), (3, 3, 0));
        assert_eq!(looks as usize, found.len());
        let sizes = fs::read_dir(folder.path()).unwrap().map(|file| {
            let file = file.unwrap();
            let is_ours = !file.file_name().to_str().unwrap().starts_with('.');
            if is_ours { file.metadata().unwrap().len() } else { 0 }
        });
        // What stands around the lines of the timeline is not counted.
        assert!((1..100).contains(&(sizes.sum::<u64>() - bytes)));
        Recording::open(folder.path()).unwrap();
    }

    #[test]
    fn damage_brings_a_look_and_is_recorded_at_it() {
        let original = tempfile::tempdir().unwrap();
        for (name, grey) in [("a.png", 10), ("b.png", 20)] {
            crate::frame::write_png(&original.path().join(name), &picture(40, grey, 0)).unwrap();
        }
        let timeline = r#"{"schema":"seechange.timeline/1",
            "frames":[{"at_ms":0,"file":"a.png"},{"at_ms":130,"file":"b.png"}],
            "damage":[{"at_ms":130,"rect":{"x":8,"y":9,"width":10,"height":5}}]}"#;
        fs::write(original.path().join("timeline.json"), timeline).unwrap();
        let recording = Recording::open(original.path()).unwrap();
        let region = |text: &str| Some(text.parse().unwrap());
        for (region, at, damage) in [
            (None, 130, Some([8, 9, 10, 5])),
            (region("10,5,20,20"), 130, Some([0, 4, 8, 5])),
            (region("20,20,20,20"), 0, None),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let clock = Clock::simulated();
            let mut surface = recording.play(&clock, FrameIds::EachLook);
            let options = options(1000).interval(Duration::from_millis(400)).region(region);
            let cancel = Cancel::never();
            record(&mut surface, folder.path(), &options, &clock, &cancel, &mut |_| {}).unwrap();
            let text = fs::read_to_string(folder.path().join("timeline.json")).unwrap();
            let timeline: serde_json::Value = serde_json::from_str(&text).unwrap();
            let second = timeline["frames"][1]["at_ms"].as_u64().unwrap();
            assert_eq!(second == 130, at == 130, "{text}");
            let found = timeline["damage"].as_array().unwrap().iter().map(|line| {
                assert_eq!(line["at_ms"], 130);
                ["x", "y", "width", "height"].map(|side| line["rect"][side].as_u64().unwrap())
            });
            assert_eq!(found.collect::<Vec<_>>(), damage.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_recording_ends_at_its_bounds() {
        use Answer::{Frame, Resized};
        let many: Vec<_> = (0..100).map(|grey| (0, Frame(1 + u64::from(grey), 8, grey))).collect();
        let region = Rect::new(0, 0, 8, 8).unwrap();
        for (options, answers, ended, looks) in [
            (options(0), vec![(0, Frame(1, 8, 10))], Ended::Time, 1..=1),
            (options(60_000).max_bytes(1500), many, Ended::Size, 5..=20),
            (
                options(60_000).region(Some(region)),
                vec![(0, Frame(1, 8, 10)), (0, Resized)],
                Ended::Resized,
                2..=2,
            ),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let recorded = run(folder.path(), &options, &answers).unwrap();
            assert_eq!(recorded.ended, ended);
            assert!(looks.contains(&recorded.progress.looks), "{recorded:?}");
            let last = lines(folder.path()).pop().unwrap();
            assert_eq!(last.0 == "fail", ended != Ended::Time, "{ended:?}: {last:?}");
            assert!(recorded.progress.bytes <= 1600, "{recorded:?}");
            Recording::open(folder.path()).unwrap();
        }
    }

    #[test]
    fn what_cannot_be_recorded_is_said_and_touches_nothing() {
        use Answer::{Fails, Frame};
        let mine = tempfile::tempdir().unwrap();
        fs::write(mine.path().join("notes.txt"), "mine").unwrap();
        let outside = Rect::new(4, 4, 8, 8).unwrap();
        let fine = [(0, Frame(1, 8, 10))];
        for (options, answers, told) in [
            (options(100), &fine[..], "has files that no recording wrote, such as notes.txt"),
            (options(100).region(Some(outside)), &fine, "is outside the 8x8 surface"),
            (options(100).interval(Duration::ZERO), &fine, "is too short: use at least 1ms"),
        ] {
            let error = run(mine.path(), &options, answers).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
        assert_eq!(fs::read_dir(mine.path()).unwrap().count(), 1);

        let new = mine.path().join("new");
        for (options, answers, told) in [
            (options(100), &[(0, Fails)][..], "nothing was recorded: no luck"),
            (options(100).max_bytes(50), &fine, "and the recording may have 50"),
        ] {
            let error = run(&new, &options, answers).unwrap_err().to_string();
            assert!(error.contains(told) && !new.exists(), "{error}");
        }
        let file = mine.path().join("notes.txt");
        let error = run(&file, &options(100), &fine).unwrap_err().to_string();
        assert!(error.ends_with("notes.txt: cannot be recorded into: not a directory"), "{error}");
    }

    #[test]
    fn an_earlier_recording_is_replaced_once_there_is_a_picture() {
        use Answer::{Fails, Frame};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let two = [(0, Frame(1, 8, 10)), (0, Frame(2, 8, 20))];
        run(path, &options(300), &two).unwrap();
        fs::write(path.join("notes.png"), "mine").unwrap();
        fs::write(path.join("0007.png.part"), "left behind").unwrap();
        let before = fs::read(path.join("timeline.json")).unwrap();
        run(path, &options(300), &[(0, Fails)]).unwrap_err();
        assert_eq!(fs::read(path.join("timeline.json")).unwrap(), before);

        run(path, &options(300), &[(0, Frame(1, 9, 30))]).unwrap();
        let mut names: Vec<String> = fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, [".seechange-recording", "0000.png", "notes.png", "timeline.json"]);
        assert_eq!(crate::frame::read(&path.join("0000.png")).unwrap().size().width(), 9);
    }

    #[test]
    fn trouble_on_the_way_leaves_what_came_before() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::simulated();
        let frames = (0..9).map(|grey| (0, Answer::Frame(1 + u64::from(grey), 8, grey)));
        let mut script = Script { clock: clock.clone(), answers: frames.collect(), next: 0 };
        // A folder comes to stand where the third picture would be written.
        let mut watch = |so_far: &Progress| {
            if so_far.pictures == 1 {
                fs::create_dir_all(folder.path().join("0002.png.part")).unwrap();
            }
        };
        let (options, cancel) = (options(60_000), Cancel::never());
        let error = record(&mut script, folder.path(), &options, &clock, &cancel, &mut watch)
            .unwrap_err()
            .to_string();
        assert!(error.contains("0002.png: cannot be written: is a directory"), "{error}");
        assert!(error.ends_with("has so far can be replayed"), "{error}");
        let mut replay =
            Recording::open(folder.path()).unwrap().play(&Clock::simulated(), FrameIds::Strict);
        assert_eq!(replay.geometry().unwrap().scale, 1.5);
    }
}
