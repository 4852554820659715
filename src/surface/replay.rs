//! A recorded timeline as a surface.
//!
//! A folder with `timeline.json` and its pictures is opened once as a [`Recording`] and played as
//! often as one likes, each time from its beginning on a clock of its own:
//!
//! ```no_run
//! use seechange::surface::replay::{FrameIds, Recording};
//! use seechange::wait::{Condition, WaitOptions, wait};
//! use seechange::{Cancel, Clock};
//! let recording = Recording::open("recorded".as_ref())?;
//! let clock = Clock::simulated();
//! let mut surface = recording.play(&clock, FrameIds::EachLook);
//! let (condition, options) = (Condition::stable(), WaitOptions::new());
//! let outcome = wait(&mut surface, &condition, &options, &clock, &Cancel::never())?;
//! println!("{}", outcome.sentence());
//! # Ok::<(), seechange::Error>(())
//! ```

mod record;
mod store;

use std::collections::{HashMap, VecDeque};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;

use crate::clock::{Cancel, Clock};
use crate::error::{Error, Result, Shown};
use crate::frame::{self, Frame, read_file};
use crate::geometry::Rect;
use crate::wait::{Capture, Geometry, Rest, Source};

pub use record::{Ended, Progress, RecordOptions, Recorded, record};
pub use store::check_folder;

/// The schema this module reads and writes.
const SCHEMA: &str = "seechange.timeline/1";

/// The largest `timeline.json` that is read.
const MAX_TIMELINE_BYTES: u64 = 64 << 20;

/// How many bytes of decoded frames are kept.
const CACHE_BYTES: usize = 256 << 20;

/// The ids captures of a replay have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameIds {
    /// Each capture is a new look.
    #[default]
    EachLook,
    /// Those of the file: a repeated id is an old frame handed out again.
    Strict,
}

/// A recorded timeline, its pictures read when they are first needed. Clones share them.
#[derive(Clone, Debug)]
pub struct Recording(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    scale: f32,
    entries: Vec<Entry>,
    /// In order of time.
    damage: Vec<Damage>,
    files: Vec<PathBuf>,
    cache: Mutex<VecDeque<(usize, Arc<Frame>)>>,
}

/// Something was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Damage {
    at: Duration,
    rect: Rect,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Duration,
    cost: Duration,
    id: u64,
    shows: Shows,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shows {
    /// A picture, by its place in the list of files.
    Picture(usize),
    Hang,
    Fail,
}

#[derive(Deserialize)]
struct TimelineFile {
    schema: String,
    scale: Option<serde_json::Number>,
    frames: Vec<FrameLine>,
    #[serde(default)]
    damage: Vec<DamageLine>,
}

#[derive(Deserialize)]
struct DamageLine {
    at_ms: u64,
    rect: RectLine,
}

/// A box as everywhere in JSON, or as on the command line.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
enum RectLine {
    Named { x: u32, y: u32, width: u32, height: u32 },
    Numbers([u32; 4]),
}

impl RectLine {
    fn rect(self) -> Result<Rect> {
        let (Self::Named { x, y, width, height } | Self::Numbers([x, y, width, height])) = self;
        Rect::new(x, y, width, height)
    }
}

#[derive(Deserialize)]
struct FrameLine {
    at_ms: u64,
    file: String,
    #[serde(default)]
    cost_ms: u64,
    id: Option<u64>,
}

impl Recording {
    /// Opens a folder with a `timeline.json`.
    ///
    /// # Errors
    /// When it cannot be read, is of another schema, has no picture, has a scale outside 0.1 to 16,
    /// is out of order, or names a file outside the folder.
    pub fn open(folder: &Path) -> Result<Self> {
        Inner::open(folder).map(|inner| Self(Arc::new(inner))).map_err(in_one_line)
    }

    /// Plays it from its beginning, which is now on `clock`.
    #[must_use]
    pub fn play(&self, clock: &Clock, ids: FrameIds) -> Replay {
        Replay {
            recording: Arc::clone(&self.0),
            clock: clock.clone(),
            start: clock.now(),
            ids,
            looks: 0,
            seen_at: None,
            told: None,
        }
    }
}

impl Inner {
    fn open(folder: &Path) -> Result<Self> {
        let path = folder.join("timeline.json");
        let named = |error: Error| error.context(path.display());
        let real = real(folder)?;
        let timeline = read_timeline(&file_inside(&real, &path)?).map_err(named)?;
        let scale = scale(timeline.scale.as_ref()).map_err(named)?;
        let (entries, files) = entries(&timeline).map_err(named)?;
        let damage = damage(&timeline).map_err(named)?;
        for file in &files {
            file_inside(&real, &folder.join(file))?;
        }
        let cache = Mutex::new(VecDeque::new());
        Ok(Self { folder: folder.to_owned(), scale, entries, damage, files, cache })
    }

    /// What stands at `time`, and its place.
    fn standing(&self, time: Duration) -> (usize, Entry) {
        let after = self.entries.partition_point(|entry| entry.at <= time);
        let index = after.saturating_sub(1);
        (index, self.entries[index])
    }

    /// The picture that stands at `time`, or stood last; before the first, the first.
    fn picture(&self, time: Duration) -> Result<Arc<Frame>> {
        let (index, _) = self.standing(time);
        let before = self.entries[..=index].iter().rev();
        let file = before.chain(&self.entries).find_map(|entry| match entry.shows {
            Shows::Picture(file) => Some(file),
            Shows::Hang | Shows::Fail => None,
        });
        // `entries` has checked that there is one.
        self.read(file.unwrap_or_default())
    }

    fn read(&self, file: usize) -> Result<Arc<Frame>> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, frame)) = cache.iter().find(|(cached, _)| *cached == file) {
            return Ok(Arc::clone(frame));
        }
        let frame =
            Arc::new(frame::read(&self.folder.join(&self.files[file])).map_err(in_one_line)?);
        cache.push_back((file, Arc::clone(&frame)));
        let mut bytes: usize = cache.iter().map(|(_, frame)| frame.data().len()).sum();
        while bytes > CACHE_BYTES && cache.len() > 1 {
            bytes -= cache.pop_front().map_or(0, |(_, frame)| frame.data().len());
        }
        Ok(frame)
    }
}

/// Where `path` really lies, links followed.
fn real(path: &Path) -> Result<PathBuf> {
    let cannot = |error| Error::io(format!("{}: cannot be read", path.display()), error);
    path.canonicalize().map_err(cannot)
}

/// Where a file really lies: inside `folder`, also where it is a link, and no pipe or device, which
/// might never end.
fn file_inside(folder: &Path, path: &Path) -> Result<PathBuf> {
    let real = real(path)?;
    if !real.starts_with(folder) {
        return Err(Error::file(format!("{}: leads out of the folder", path.display())));
    }
    if !real.is_file() {
        return Err(Error::file(format!("{}: is not a file", path.display())));
    }
    Ok(real)
}

/// The same error with control characters, which a file name may have, written out.
fn in_one_line(error: Error) -> Error {
    Error::new(error.kind(), Shown(&error.to_string()).to_string()).with_source(error)
}

fn read_timeline(path: &Path) -> Result<TimelineFile> {
    let bytes = read_file(path, MAX_TIMELINE_BYTES)?;
    let timeline: TimelineFile = serde_json::from_slice(&bytes)
        .map_err(|error| Error::file(format!("is no timeline: {error}")).with_source(error))?;
    if timeline.schema != SCHEMA {
        let schema = &timeline.schema;
        return Err(Error::file(format!("has the schema '{schema}', not '{SCHEMA}'")));
    }
    Ok(timeline)
}

/// The scale in frame pixels for one of the interface; 1 where none is written.
fn scale(written: Option<&serde_json::Number>) -> Result<f32> {
    let Some(number) = written else { return Ok(1.0) };
    #[expect(clippy::cast_possible_truncation, reason = "between 0.1 and 16 it is nearly the same")]
    let scale = number.as_f64().unwrap_or(f64::NAN) as f32;
    if Geometry::SCALES.contains(&scale) {
        return Ok(scale);
    }
    let number = number.to_string().replace('+', "");
    let (least, most) = (Geometry::SCALES.start(), Geometry::SCALES.end());
    Err(Error::file(format!("has the scale {number}: it must be between {least} and {most}")))
}

/// The lines checked, `same` resolved, each file listed once.
fn entries(timeline: &TimelineFile) -> Result<(Vec<Entry>, Vec<PathBuf>)> {
    let mut entries: Vec<Entry> = Vec::with_capacity(timeline.frames.len());
    let mut files = Files::default();
    let mut last_file = None;
    for (line, number) in timeline.frames.iter().zip(1..) {
        let at = Duration::from_millis(line.at_ms);
        if let Some(last) = entries.last().filter(|last| last.at > at) {
            return Err(Error::file(format!(
                "frame {number} at {} ms comes before {} ms",
                line.at_ms,
                last.at.as_millis()
            )));
        }
        let shows = match line.file.as_str() {
            "hang" => Shows::Hang,
            "fail" => Shows::Fail,
            "same" => Shows::Picture(last_file.ok_or_else(|| {
                Error::file(format!("frame {number} is the `same` as nothing before it"))
            })?),
            name => Shows::Picture(files.place(name)?),
        };
        if let Shows::Picture(file) = shows {
            last_file = Some(file);
        }
        let cost = Duration::from_millis(line.cost_ms);
        entries.push(Entry { at, cost, id: line.id.unwrap_or(number), shows });
    }
    if files.paths.is_empty() {
        return Err(Error::file("names no picture"));
    }
    Ok((entries, files.paths))
}

/// The damage in order of time.
fn damage(timeline: &TimelineFile) -> Result<Vec<Damage>> {
    let read = |(line, number): (&DamageLine, u64)| {
        let named = |error: Error| error.context(format!("damage {number}"));
        let rect = line.rect.rect().map_err(named)?;
        Ok(Damage { at: Duration::from_millis(line.at_ms), rect })
    };
    let mut damage = timeline.damage.iter().zip(1..).map(read).collect::<Result<Vec<_>>>()?;
    damage.sort_by_key(|one| one.at);
    Ok(damage)
}

/// The files of a timeline, each once.
#[derive(Default)]
struct Files {
    paths: Vec<PathBuf>,
    places: HashMap<PathBuf, usize>,
}

impl Files {
    /// The place of a file in the list, added when it is new.
    fn place(&mut self, name: &str) -> Result<usize> {
        let path = Path::new(name);
        let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        if name.is_empty() || !is_inside {
            return Err(Error::file(format!("the file '{name}' is outside the folder")));
        }
        if let Some(place) = self.places.get(path) {
            return Ok(*place);
        }
        self.places.insert(path.to_owned(), self.paths.len());
        self.paths.push(path.to_owned());
        Ok(self.paths.len() - 1)
    }
}

/// A [`Recording`] while it plays: a [`Source`].
#[derive(Debug)]
pub struct Replay {
    recording: Arc<Inner>,
    clock: Clock,
    start: Duration,
    ids: FrameIds,
    looks: u64,
    /// When the last capture began.
    seen_at: Option<Duration>,
    told: Option<Geometry>,
}

impl Replay {
    fn time(&self) -> Duration {
        self.clock.now().saturating_sub(self.start)
    }

    /// Lets the time of a capture pass; `false` when it was given up before its end.
    fn spend(&self, cost: Option<Duration>, give_up: Duration) -> bool {
        let end = cost.map_or(Duration::MAX, |cost| self.clock.now().saturating_add(cost));
        // The recorded time passes whether anybody waits for it or not.
        self.clock.sleep_until(end.min(give_up), &Cancel::never());
        end <= give_up
    }

    fn fill(&self, picture: &Frame, region: Option<Rect>, frame: &mut Frame) -> Result<bool> {
        let Some(region) = region else {
            frame.copy_from(picture.as_ref());
            return Ok(true);
        };
        if self.told.is_some_and(|told| told.size != picture.size()) {
            return Ok(false);
        }
        frame.copy_from(picture.as_ref().crop(region)?);
        Ok(true)
    }
}

impl Source for Replay {
    fn geometry(&mut self) -> Result<Geometry> {
        let size = self.recording.picture(self.time())?.size();
        let geometry = Geometry { size, scale: self.recording.scale, origin: (0, 0) };
        self.told = Some(geometry);
        Ok(geometry)
    }

    fn capture(
        &mut self,
        region: Option<Rect>,
        give_up: Duration,
        frame: &mut Frame,
    ) -> Result<Capture> {
        let time = self.time();
        self.seen_at = Some(time);
        let (_, entry) = self.recording.standing(time);
        let cost = (entry.shows != Shows::Hang).then_some(entry.cost);
        if !self.spend(cost, give_up) {
            return Ok(Capture::Stalled);
        }
        if entry.shows == Shows::Fail {
            return Ok(Capture::Failed("the recording has a failed capture here".to_owned()));
        }
        let picture = self.recording.picture(time)?;
        if !self.fill(&picture, region, frame)? {
            return Ok(Capture::Resized);
        }
        self.looks += 1;
        let id = if self.ids == FrameIds::Strict { entry.id } else { self.looks };
        Ok(Capture::Taken { id })
    }

    fn watch_damage(&mut self) -> Result<bool> {
        Ok(!self.recording.damage.is_empty())
    }

    /// What was drawn before a capture began is in its picture.
    fn rest(
        &mut self,
        until: Duration,
        concerns: &dyn Fn(Rect) -> bool,
        clock: &Clock,
        cancel: &Cancel,
    ) -> Result<Rest> {
        let damage = &self.recording.damage;
        let seen = self.seen_at.map_or(0, |at| damage.partition_point(|one| one.at <= at));
        let woken = damage[seen..].iter().find(|one| concerns(one.rect));
        let woken = woken.map(|one| self.start.saturating_add(one.at)).filter(|at| *at < until);
        Ok(match (clock.sleep_until(woken.unwrap_or(until), cancel), woken) {
            (false, _) => Rest::Cancelled,
            (true, Some(_)) => Rest::Damaged,
            (true, None) => Rest::Elapsed,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::frame::PixelFormat;
    use crate::geometry::Size;

    fn folder(timeline: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("timeline.json"), timeline).unwrap();
        for (name, side, grey) in [("a.png", 8, 10), ("b.png", 8, 20), ("c.png", 9, 30)] {
            let size = Size::new(side, side).unwrap();
            let frame = Frame::filled(size, PixelFormat::Rgba, [grey, grey, grey, 255]);
            frame::write_png(&folder.path().join(name), &frame).unwrap();
        }
        folder
    }

    fn timeline(frames: &str) -> String {
        format!(r#"{{"schema":"seechange.timeline/1","frames":[{frames}]}}"#)
    }

    fn scaled(scale: &str) -> String {
        let frames = r#"[{"at_ms":0,"file":"a.png"}]"#;
        format!(r#"{{"schema":"{SCHEMA}","scale":{scale},"frames":{frames}}}"#)
    }

    #[test]
    fn a_frame_stands_until_the_next_and_costs_what_it_costs() {
        let folder = folder(&timeline(
            r#"{"at_ms":0,"file":"a.png"}, {"at_ms":100,"file":"b.png","cost_ms":70,"id":9},
               {"at_ms":150,"file":"same"}, {"at_ms":300,"file":"fail","cost_ms":5},
               {"at_ms":400,"file":"hang"}, {"at_ms":900,"file":"c.png"}"#,
        ));
        let recording = Recording::open(folder.path()).unwrap();
        let ms = Duration::from_millis;
        for (at, ids, answer, grey, ends) in [
            (0, FrameIds::EachLook, Some(1), 10, 0),
            (99, FrameIds::Strict, Some(1), 10, 99),
            (100, FrameIds::Strict, Some(9), 20, 170),
            (100, FrameIds::EachLook, Some(1), 20, 170),
            (299, FrameIds::Strict, Some(3), 20, 299),
            (900, FrameIds::Strict, Some(6), 30, 900),
        ] {
            let clock = Clock::simulated();
            let mut replay = recording.play(&clock, ids);
            clock.sleep(ms(at));
            let mut frame = Frame::filled(Size::new(1, 1).unwrap(), PixelFormat::Rgba, [0; 4]);
            let capture = replay.capture(None, ms(5000), &mut frame).unwrap();
            assert_eq!(capture, Capture::Taken { id: answer.unwrap() }, "at {at}");
            assert_eq!((frame.data()[0], clock.now()), (grey, ms(ends)), "at {at}");
        }
    }

    #[test]
    fn damage_wakes_a_rest_unless_a_capture_has_seen_it() {
        let frames = r#"{"at_ms":0,"file":"a.png"},{"at_ms":300,"file":"b.png"}"#;
        let damage = r#"{"at_ms":300,"rect":{"x":2,"y":2,"width":3,"height":3}},
                        {"at_ms":100,"rect":[6,6,2,2]}"#;
        let text = timeline(frames).replace("}]}", &format!(r#"}}],"damage":[{damage}]}}"#));
        let folder = folder(&text);
        let recording = Recording::open(folder.path()).unwrap();
        let ms = Duration::from_millis;
        let everywhere: Rect = "0,0,8,8".parse().unwrap();
        let there: Rect = "0,0,4,4".parse().unwrap();
        for (looked_at, until, scope, ends, rest) in [
            (0, 1000, everywhere, 100, Rest::Damaged),
            (99, 1000, everywhere, 100, Rest::Damaged),
            (100, 1000, everywhere, 300, Rest::Damaged),
            (0, 1000, there, 300, Rest::Damaged),
            (0, 80, everywhere, 80, Rest::Elapsed),
            (300, 1000, everywhere, 1000, Rest::Elapsed),
        ] {
            let clock = Clock::simulated();
            let mut replay = recording.play(&clock, FrameIds::EachLook);
            assert!(replay.watch_damage().unwrap());
            clock.sleep(ms(looked_at));
            let mut frame = Frame::filled(Size::ONE, PixelFormat::Rgba, [0; 4]);
            replay.capture(None, ms(5000), &mut frame).unwrap();
            let concerns = |rect: Rect| scope.intersection(rect).is_some();
            let rested = replay.rest(ms(until), &concerns, &clock, &Cancel::never()).unwrap();
            assert_eq!((rested, clock.now()), (rest, ms(ends)), "{looked_at} {until} {scope}");
        }
        let plain = Recording::open(self::folder(&timeline(frames)).path()).unwrap();
        let mut plain = plain.play(&Clock::simulated(), FrameIds::EachLook);
        assert!(!plain.watch_damage().unwrap());
    }

    #[test]
    fn trouble_is_played_too() {
        let folder = folder(&timeline(
            r#"{"at_ms":0,"file":"a.png"}, {"at_ms":300,"file":"fail","cost_ms":5},
               {"at_ms":400,"file":"hang"}, {"at_ms":900,"file":"c.png","cost_ms":50}"#,
        ));
        let recording = Recording::open(folder.path()).unwrap();
        let ms = Duration::from_millis;
        let failed = Capture::Failed("the recording has a failed capture here".to_owned());
        let region = Rect::new(2, 2, 4, 4).unwrap();
        for (at, region, give_up, answer, ends) in [
            (300, None, 5000, failed, 305),
            (400, None, 5000, Capture::Stalled, 5000),
            (900, None, 930, Capture::Stalled, 930),
            (900, Some(region), 5000, Capture::Resized, 950),
            (10, Some(region), 5000, Capture::Taken { id: 1 }, 10),
        ] {
            let clock = Clock::simulated();
            let mut replay = recording.play(&clock, FrameIds::EachLook);
            replay.geometry().unwrap();
            clock.sleep(ms(at));
            let mut frame = Frame::filled(Size::new(1, 1).unwrap(), PixelFormat::Rgba, [0; 4]);
            let capture = replay.capture(region, ms(give_up), &mut frame).unwrap();
            assert_eq!((capture, clock.now()), (answer, ms(ends)), "at {at}");
        }
    }

    #[test]
    fn bad_timelines_are_refused_with_the_reason() {
        for (text, reason) in [
            ("{".to_owned(), "is no timeline"),
            (r#"{"schema":"other/1","frames":[]}"#.to_owned(), "'other/1'"),
            (timeline(""), "names no picture"),
            (timeline(r#"{"at_ms":0,"file":"hang"}"#), "names no picture"),
            (timeline(r#"{"at_ms":0,"file":"same"}"#), "`same` as nothing"),
            (timeline(r#"{"at_ms":0,"file":"../a.png"}"#), "'../a.png' is outside"),
            (timeline(r#"{"at_ms":0,"file":"/etc/passwd"}"#), "is outside"),
            (timeline(r#"{"at_ms":0,"file":""}"#), "is outside"),
            (
                timeline(r#"{"at_ms":0,"file":"no.png"}"#),
                "no.png: cannot be read: no such file or directory",
            ),
            (timeline(r#"{"at_ms":0,"file":"a\nb.png"}"#), r"a\nb.png: cannot be read: no such"),
            (timeline(r#"{"at_ms":0,"file":"/a\r\nb.png"}"#), r"'/a\r\nb.png' is outside"),
            (timeline(r#"{"at_ms":0,"file":"folder"}"#), "folder: is not a file"),
            (timeline(r#"{"at_ms":0,"file":"link.png"}"#), "link.png: leads out of the folder"),
            (timeline(r#"{"at_ms":0,"file":"zero.png"}"#), "zero.png: leads out of the folder"),
            (timeline(r#"{"at_ms":0,"file":"socket"}"#), "socket: is not a file"),
            (scaled("1e39"), "has the scale 1e39: it must be between 0.1 and 16"),
            (scaled("0"), "has the scale 0:"),
            (scaled("-1.5"), "has the scale -1.5:"),
            (scaled("16.5"), "has the scale 16.5:"),
            (
                timeline(r#"{"at_ms":0,"file":"a.png"}],"damage":[{"at_ms":1,"rect":[0,0,0,1]}"#),
                "timeline.json: damage 1: ",
            ),
            (
                timeline(r#"{"at_ms":9,"file":"a.png"},{"at_ms":5,"file":"a.png"}"#),
                "frame 2 at 5 ms comes before 9 ms",
            ),
        ] {
            let folder = folder(&text);
            fs::create_dir(folder.path().join("folder")).unwrap();
            let outside = tempfile::NamedTempFile::new().unwrap();
            symlink(outside.path(), folder.path().join("link.png")).unwrap();
            symlink("/dev/zero", folder.path().join("zero.png")).unwrap();
            let _socket = UnixListener::bind(folder.path().join("socket")).unwrap();
            let message = Recording::open(folder.path()).unwrap_err().to_string();
            assert!(message.contains(reason), "{message}");
            assert!(!message.contains('\n'), "{message}");
        }
        for scale in ["0.1", "1", "1.25", "16"] {
            Recording::open(folder(&scaled(scale)).path()).unwrap();
        }
    }

    #[test]
    fn a_timeline_that_is_no_file_of_the_folder_is_not_read() {
        type Make = fn(&Path, &Path);
        let rows: [(&str, Make); 5] = [
            ("timeline.json: cannot be read: no such file or directory", |_, _| {}),
            ("timeline.json: is not a file", |path, _| fs::create_dir(path).unwrap()),
            ("timeline.json: leads out of the folder", |path, _| {
                symlink("/dev/zero", path).unwrap()
            }),
            ("timeline.json: leads out of the folder", |path, other| {
                symlink(other.join("timeline.json"), path).unwrap();
            }),
            ("timeline.json: is not a file", |path, _| {
                let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
                assert!(made.success());
            }),
        ];
        let other = folder(&timeline(r#"{"at_ms":0,"file":"a.png"}"#));
        for (reason, make) in rows {
            let folder = folder("");
            let path = folder.path().join("timeline.json");
            fs::remove_file(&path).unwrap();
            make(&path, other.path());
            let message = Recording::open(folder.path()).unwrap_err().to_string();
            assert!(message.ends_with(reason), "{message}");
        }
        let missing = other.path().join("no\nwhere");
        let message = Recording::open(&missing).unwrap_err().to_string();
        assert!(
            message.ends_with(r"no\nwhere: cannot be read: no such file or directory"),
            "{message}"
        );
    }

    #[test]
    fn a_timeline_past_the_limit_is_refused() {
        let folder = folder("");
        let file = fs::File::create(folder.path().join("timeline.json")).unwrap();
        file.set_len(MAX_TIMELINE_BYTES + 1).unwrap();
        let error = Recording::open(folder.path()).unwrap_err();
        assert_eq!(error.kind(), crate::error::ErrorKind::Limit, "{error}");
        assert!(error.to_string().contains("more than the 67108864 that are read"), "{error}");
    }

    #[test]
    fn a_file_is_listed_once_however_often_it_is_named() {
        let name = |number: u32| format!(r#"{{"at_ms":{number},"file":"{}.png"}}"#, number % 3000);
        let lines: Vec<String> = (0..9000).map(name).collect();
        let parsed: TimelineFile = serde_json::from_str(&timeline(&lines.join(","))).unwrap();
        let (entries, files) = entries(&parsed).unwrap();
        assert_eq!((entries.len(), files.len()), (9000, 3000));
        assert_eq!(entries[8999].shows, Shows::Picture(2999));
    }
}
