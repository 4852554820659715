//! The folder of a recording while it is written: each picture once, a timeline that is whole at
//! every moment.
//!
//! A thread of its own encodes and writes, so that looks keep their time. Frames wait for it up to
//! a bound; one past it is turned away, and the recording says that a picture is missing there.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File, TryLockError};
use std::hash::Hasher as _;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde::Serialize;

use crate::error::{Error, Result, Shown};
use crate::frame::{Frame, encode_png, write_whole};
use crate::geometry::Rect;

use super::{MAX_TIMELINE_BYTES, SCHEMA};

/// Says that a folder is a recording: what has a recording's names in it may be replaced.
const MARK: &str = ".seechange-recording";

/// What the mark says to people who find it.
const MARK_TEXT: &str = "timeline.json and the numbered pictures here were written by `seechange \
                         record`, which replaces them when it is given this folder again.\n";

const TIMELINE: &str = "timeline.json";

/// Bytes of frames that may wait to be written.
const MOST_WAITING: u64 = 128 << 20;

/// How often the timeline is written while the recording grows.
const SAVE_EVERY: Duration = Duration::from_secs(1);

/// A long timeline is written less often: about a mebibyte a second.
const SAVED_A_SECOND: u64 = 1 << 20;

/// What one look gave, on its way into the folder.
#[derive(Debug)]
pub(super) struct Look {
    /// When its capture began, from the recording's start.
    pub(super) at: Duration,
    /// How long it took.
    pub(super) cost: Duration,
    /// The frame's id, where a frame came.
    pub(super) id: Option<u64>,
    pub(super) view: View,
    /// What was drawn since the look before, where the surface tells. It is recorded at the time of
    /// this look, for that is when a replay shows what was drawn.
    pub(super) damage: Vec<Rect>,
}

/// What a look shows.
#[derive(Debug)]
pub(super) enum View {
    /// Another picture than the last one.
    Picture(Arc<Frame>),
    /// The last picture.
    Same,
    /// Nothing: no answer came.
    Hang,
    /// Nothing: the capture failed, or its picture is missing.
    Fail,
}

/// What there is in the folder so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) pictures: u32,
    /// Bytes of all pictures and of the timeline.
    pub(super) bytes: u64,
    /// Whether the next picture would have passed the bound.
    pub(super) is_full: bool,
    /// Whether there is a timeline, so that it can be replayed.
    pub(super) has_timeline: bool,
    /// Whether writing has failed.
    pub(super) has_failed: bool,
}

/// Hands looks to the thread that writes them.
#[derive(Debug)]
pub(super) struct Store {
    looks: Sender<Look>,
    room: Arc<Room>,
    writer: JoinHandle<(Stored, Result<()>)>,
    waits: bool,
}

impl Store {
    /// Writes into `folder` from now on, at most `max_bytes`; with `waits` each look is written
    /// before the next, and none is turned away. The folder is touched when there is a picture.
    ///
    /// # Errors
    /// When `folder` holds what no recording wrote (see [`check_folder`]), and when no thread can
    /// be started.
    pub(super) fn open(folder: &Path, scale: f32, max_bytes: u64, waits: bool) -> Result<Self> {
        check_folder(folder)?;
        let (looks, incoming) = channel();
        let room = Arc::new(Room::default());
        let writer = Writer::new(folder, scale, max_bytes, Arc::clone(&room));
        let writer = thread::Builder::new()
            .name("recorder".to_owned())
            .spawn(move || writer.run(&incoming))
            .map_err(|error| Error::io("the recorder cannot be started", error))?;
        Ok(Self { looks, room, writer, waits })
    }

    /// Hands one look over; `false` when there was no room for its picture, and the look is
    /// recorded as one whose picture is missing.
    pub(super) fn push(&self, mut look: Look) -> bool {
        let has_room = self.room.take(look.bytes());
        if !has_room {
            look.view = View::Fail;
        }
        // A writer that is gone has left its reason behind, which `finish` gives.
        drop(self.looks.send(look));
        if self.waits {
            self.room.wait_until_written();
        }
        has_room
    }

    pub(super) fn stored(&self) -> Stored {
        self.room.lock().stored
    }

    /// Waits until everything is written: what there is, and what went wrong.
    pub(super) fn finish(self) -> (Stored, Result<()>) {
        let stored = self.stored();
        drop(self.looks);
        let broke = |_| (stored, Err(Error::file("the recorder broke down; please report it")));
        self.writer.join().unwrap_or_else(broke)
    }
}

impl Look {
    /// What it holds in memory while it waits.
    fn bytes(&self) -> u64 {
        match &self.view {
            View::Picture(frame) => frame.data().len() as u64,
            View::Same | View::Hang | View::Fail => 0,
        }
    }
}

/// How much waits to be written, and what has been.
#[derive(Debug, Default)]
struct Room {
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    looks: u32,
    bytes: u64,
    stored: Stored,
    is_deserted: bool,
}

impl Room {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Plain numbers, which no panic leaves half-written.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes room for a look of `bytes`; `false` when there is none. One picture always has room,
    /// however large.
    fn take(&self, bytes: u64) -> bool {
        let mut state = self.lock();
        state.looks += 1;
        let has_room = bytes == 0 || state.bytes == 0 || state.bytes + bytes <= MOST_WAITING;
        state.bytes += if has_room { bytes } else { 0 };
        has_room
    }

    fn give_back(&self, bytes: u64, stored: Stored) {
        let mut state = self.lock();
        state.looks -= 1;
        state.bytes -= bytes;
        state.stored = stored;
        self.freed.notify_all();
    }

    fn wait_until_written(&self) {
        let is_behind = |state: &mut State| state.looks > 0 && !state.is_deserted;
        drop(self.freed.wait_while(self.lock(), is_behind));
    }
}

/// Nobody waits for a writer that is gone, however it ended.
impl Drop for Writer {
    fn drop(&mut self) {
        self.room.lock().is_deserted = true;
        self.room.freed.notify_all();
    }
}

/// Checks that a folder can be recorded into: it is new, empty, or an earlier recording.
/// [`record`](super::record) does so too, once the surface is open.
///
/// # Errors
/// When it holds what no recording wrote, or cannot be read.
pub fn check_folder(folder: &Path) -> Result<()> {
    let cannot = |error| Error::io(format!("{}: cannot be recorded into", folder.display()), error);
    let mut entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(cannot)?,
    };
    let Some(entry) = entries.next().filter(|_| !folder.join(MARK).is_file()) else {
        return Ok(());
    };
    let name = entry.map_err(cannot)?.file_name();
    Err(Error::usage(format!(
        "{}: has files that no recording wrote, such as {}; name a new or an empty folder",
        folder.display(),
        Shown(&name.to_string_lossy())
    )))
}

/// Names a recording gives to its files, half-written ones included.
fn is_ours(name: &str) -> bool {
    let name = name.strip_suffix(".part").unwrap_or(name);
    let is_numbered =
        |stem: &str| stem.len() >= 4 && stem.bytes().all(|byte| byte.is_ascii_digit());
    name == TIMELINE || name.strip_suffix(".png").is_some_and(is_numbered)
}

/// The thread that encodes and writes.
struct Writer {
    folder: PathBuf,
    scale: f32,
    max_bytes: u64,
    room: Arc<Room>,
    stored: Stored,
    /// The picture files by what they show.
    known: HashMap<[u64; 2], String>,
    frames: Lines,
    damage: Lines,
    /// The bytes of the pictures alone.
    picture_bytes: u64,
    saved_at: Option<Duration>,
    /// Keeps other recorders out of the folder.
    claim: Option<File>,
}

#[derive(Serialize)]
struct FrameLine<'a> {
    at_ms: u64,
    file: &'a str,
    #[serde(skip_serializing_if = "is_zero")]
    cost_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Serialize)]
struct DamageLine {
    at_ms: u64,
    rect: RectLine,
}

#[derive(Serialize)]
struct RectLine {
    x: u32,
    y: u32,
    width: u32,
    height: u32,
}

impl Writer {
    fn new(folder: &Path, scale: f32, max_bytes: u64, room: Arc<Room>) -> Self {
        Self {
            folder: folder.to_owned(),
            scale,
            max_bytes,
            room,
            stored: Stored::default(),
            known: HashMap::new(),
            frames: Lines::default(),
            damage: Lines::default(),
            picture_bytes: 0,
            saved_at: None,
            claim: None,
        }
    }

    /// After trouble, or when the folder is full, what still comes is let go.
    fn run(mut self, incoming: &Receiver<Look>) -> (Stored, Result<()>) {
        let mut trouble = None;
        for look in incoming {
            let bytes = look.bytes();
            if trouble.is_none() && !self.stored.is_full {
                trouble = self.take_in(look).err();
                self.stored.has_failed = trouble.is_some();
            }
            self.room.give_back(bytes, self.stored);
        }
        let saved = if self.stored.pictures > 0 { self.save() } else { Ok(()) };
        (self.stored, trouble.map_or(saved, Err))
    }

    fn take_in(&mut self, look: Look) -> Result<()> {
        let Look { at, cost, id, view, damage } = look;
        let file = match view {
            View::Picture(frame) => self.keep(&frame)?,
            View::Same => "same".to_owned(),
            View::Hang => "hang".to_owned(),
            View::Fail => "fail".to_owned(),
        };
        let line = FrameLine { at_ms: millis(at), file: &file, cost_ms: rounded(cost), id };
        self.frames.push(&line)?;
        for rect in damage {
            let (x, y, width, height) = (rect.x(), rect.y(), rect.width(), rect.height());
            let rect = RectLine { x, y, width, height };
            self.damage.push(&DamageLine { at_ms: millis(at), rect })?;
        }
        self.count();
        if self.stored.pictures > 0 && self.is_worth_saving(at) {
            self.save()?;
            self.saved_at = Some(at);
        }
        Ok(())
    }

    /// The file that shows this frame, written where there is none yet; `fail` when it would pass
    /// the bound.
    fn keep(&mut self, frame: &Frame) -> Result<String> {
        let frame = frame.to_rgba();
        let print = fingerprint(&frame);
        if let Some(name) = self.known.get(&print) {
            return Ok(name.clone());
        }
        let png = encode_png(&frame)?;
        let bytes = self.stored.bytes + png.len() as u64;
        if bytes > self.max_bytes {
            self.stored.is_full = true;
            return if self.stored.pictures > 0 {
                Ok("fail".to_owned())
            } else {
                Err(self.too_small(bytes))
            };
        }
        if self.stored.pictures == 0 {
            self.claim = Some(begin(&self.folder)?);
        }
        let name = format!("{:04}.png", self.stored.pictures);
        write_whole(&self.folder.join(&name), &png)?;
        self.stored.pictures += 1;
        self.picture_bytes += png.len() as u64;
        self.known.insert(print, name.clone());
        Ok(name)
    }

    fn too_small(&self, bytes: u64) -> Error {
        let Self { folder, max_bytes, .. } = self;
        Error::limit(format!(
            "{}: the first picture takes {bytes} bytes, and the recording may have {max_bytes}",
            folder.display()
        ))
    }

    /// Adds up; a timeline too long to be read again is full too.
    fn count(&mut self) {
        let timeline = self.frames.bytes() + self.damage.bytes();
        self.stored.bytes = self.picture_bytes + timeline;
        self.stored.is_full |=
            self.stored.bytes > self.max_bytes || timeline + MARGIN > MAX_TIMELINE_BYTES;
    }

    /// The first picture at once, then from time to time.
    fn is_worth_saving(&self, at: Duration) -> bool {
        let timeline = self.frames.bytes() + self.damage.bytes();
        let spacing = SAVE_EVERY.max(Duration::from_secs(timeline / SAVED_A_SECOND));
        self.saved_at.is_none_or(|last| at.saturating_sub(last) >= spacing)
    }

    fn save(&mut self) -> Result<()> {
        let Self { scale, frames, damage, .. } = self;
        let (frames, damage) = (&frames.text, &damage.text);
        let text = format!(
            "{{\"schema\":\"{SCHEMA}\",\"scale\":{scale},\"frames\":[{frames}\n],\"damage\":[{damage}]}}\n"
        );
        write_whole(&self.folder.join(TIMELINE), text.as_bytes())?;
        self.stored.has_timeline = true;
        Ok(())
    }
}

/// Room for what stands around the lines of a timeline, and for one more look.
const MARGIN: u64 = 1 << 16;

/// Lines of a timeline as they are written.
#[derive(Default)]
struct Lines {
    text: String,
}

impl Lines {
    fn push(&mut self, line: &impl Serialize) -> Result<()> {
        let line = serde_json::to_string(line)
            .map_err(|error| Error::file("a line cannot be written").with_source(error))?;
        self.text.push_str(if self.text.is_empty() { "\n" } else { ",\n" });
        self.text.push_str(&line);
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.text.len() as u64
    }
}

/// Makes the folder, claims it, and removes an earlier recording from it: the timeline first, so
/// that no timeline ever names pictures of another recording.
fn begin(folder: &Path) -> Result<File> {
    let cannot = |error| Error::io(format!("{}: cannot be recorded into", folder.display()), error);
    fs::create_dir_all(folder).map_err(cannot)?;
    check_folder(folder)?;
    let claim = claim(folder)?;
    let mut earlier = Vec::new();
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let name = entry.map_err(cannot)?.file_name();
        earlier.extend(name.into_string().ok().filter(|name| is_ours(name)));
    }
    earlier.sort_by_key(|name| name != TIMELINE);
    for name in earlier {
        fs::remove_file(folder.join(name)).map_err(cannot)?;
    }
    Ok(claim)
}

/// Marks the folder and locks the mark: two recorders would replace each other's pictures. The
/// lock ends with the file, however this process ends.
fn claim(folder: &Path) -> Result<File> {
    let (path, shown) = (folder.join(MARK), folder.display());
    let cannot = |error| Error::io(format!("{shown}: cannot be recorded into"), error);
    let mark = match File::create_new(&path) {
        Ok(mut mark) => mark.write_all(MARK_TEXT.as_bytes()).map(|()| mark),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => File::open(&path),
        Err(error) => Err(error),
    };
    let mark = mark.map_err(cannot)?;
    match mark.try_lock() {
        Ok(()) => Ok(mark),
        Err(TryLockError::Error(error)) => Err(cannot(error)),
        Err(TryLockError::WouldBlock) => Err(Error::usage(format!(
            "{shown}: another recorder is writing into it; name another folder"
        ))),
    }
}

/// 128 bits of what a frame shows: two pictures that share them are not to be expected.
fn fingerprint(frame: &Frame) -> [u64; 2] {
    [0, 1].map(|salt| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(salt);
        hasher.write_u32(frame.size().width());
        hasher.write(frame.data());
        hasher.finish()
    })
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// To the nearest millisecond.
fn rounded(duration: Duration) -> u64 {
    millis(duration.saturating_add(Duration::from_micros(500)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::PixelFormat;
    use crate::geometry::Size;

    #[test]
    fn one_picture_always_has_room_and_more_up_to_the_bound() {
        let room = Room::default();
        for (bytes, has_room) in [(MOST_WAITING * 2, true), (1, false), (0, true)] {
            assert_eq!(room.take(bytes), has_room, "{bytes}");
        }
        room.give_back(MOST_WAITING * 2, Stored::default());
        for (bytes, has_room) in [(MOST_WAITING - 1, true), (1, true), (1, false)] {
            assert_eq!(room.take(bytes), has_room, "{bytes}");
        }
    }

    #[test]
    fn a_picture_without_room_is_recorded_as_missing() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), 1.0, u64::MAX, false).unwrap();
        let look = |at: u64, grey| Look {
            at: Duration::from_millis(at),
            cost: Duration::from_micros(1500),
            id: Some(at),
            view: View::Picture(Arc::new(Frame::filled(
                Size::new(4, 4).unwrap(),
                PixelFormat::Bgrx,
                [grey, 0, 0, 0],
            ))),
            damage: vec![Rect::new(1, 2, 3, 4).unwrap()],
        };
        assert!(store.push(look(0, 1)));
        store.room.wait_until_written();
        assert!(store.room.take(MOST_WAITING));
        assert!(!store.push(look(100, 2)));
        store.room.give_back(MOST_WAITING, store.stored());
        assert!(store.push(look(200, 3)));
        let (stored, written) = store.finish();
        written.unwrap();
        assert_eq!(stored.pictures, 2);
        let text = fs::read_to_string(folder.path().join(TIMELINE)).unwrap();
        let damage =
            |at| format!(r#"{{"at_ms":{at},"rect":{{"x":1,"y":2,"width":3,"height":4}}}}"#);
        let lines = [
            r#"{"schema":"seechange.timeline/1","scale":1,"frames":["#.to_owned(),
            r#"{"at_ms":0,"file":"0000.png","cost_ms":2,"id":0},"#.to_owned(),
            r#"{"at_ms":100,"file":"fail","cost_ms":2,"id":100},"#.to_owned(),
            r#"{"at_ms":200,"file":"0001.png","cost_ms":2,"id":200}"#.to_owned(),
            r#"],"damage":["#.to_owned(),
            format!("{},", damage(0)),
            format!("{},", damage(100)),
            format!("{}]}}", damage(200)),
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn two_recorders_do_not_share_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let first = begin(folder.path()).unwrap();
        fs::write(folder.path().join("0000.png"), "the first one's").unwrap();
        let error = begin(folder.path()).unwrap_err().to_string();
        assert!(error.ends_with("another recorder is writing into it; name another folder"));
        assert!(folder.path().join("0000.png").exists(), "what the first wrote stays");
        drop(first);
        drop(begin(folder.path()).unwrap());
        assert!(!folder.path().join("0000.png").exists(), "an earlier recording is replaced");
    }

    #[test]
    fn only_names_of_a_recording_are_its_own() {
        for (name, ours) in [
            ("timeline.json", true),
            ("timeline.json.part", true),
            ("0000.png", true),
            ("12345.png", true),
            ("0003.png.part", true),
            ("012.png", false),
            ("0000.jpg", false),
            ("a000.png", false),
            ("notes.part", false),
            (".png", false),
        ] {
            assert_eq!(is_ours(name), ours, "{name}");
        }
    }
}
