//! All pairs, side by side.

use std::fs;
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::error::{Error, Result};
use crate::frame::{Frame, PictureFile, read_bytes};
use crate::geometry::Size;
use crate::report::{ChangeReport, DiffOptions, Differ, Verdict};

use super::budget::{Budget, Held};
use super::{Pair, Place};

/// Bytes a pixel takes beside the two frames: the masks of what differs.
const COMPARING_BYTES: u64 = 1;
/// And where it is drawn: the picture of what differs, and a copy without alpha or, later, its file.
const DRAWING_BYTES: u64 = 5;
/// What the PNG takes that shows a picture no browser does.
const SHOWING_BYTES: u64 = 4;

/// How pairs are compared.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The options that pairs ask for by index.
    pub(crate) options: Vec<DiffOptions>,
    /// How many bytes all pairs that are in work may take.
    pub(crate) memory: u64,
    /// Whether what changed is drawn by whoever gets the answers.
    pub(crate) is_drawn: bool,
}

/// One pair and the index of its options.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a> {
    pub(crate) pair: &'a Pair,
    pub(crate) options: usize,
}

/// The answer about a pair in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PairVerdict {
    /// Nothing that counts has changed.
    Same,
    /// At least one area has changed.
    Changed,
    /// The pictures have different sizes.
    Resized,
    /// There is no golden picture.
    Added,
    /// There is no actual picture.
    Removed,
    /// A picture cannot be read, or the two cannot be compared.
    Unreadable,
}

impl PairVerdict {
    const ALL: [Self; 6] =
        [Self::Same, Self::Changed, Self::Resized, Self::Added, Self::Removed, Self::Unreadable];

    /// `same`, `changed`, `resized`, `added`, `removed` or `unreadable`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Changed => "changed",
            Self::Resized => "resized",
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Unreadable => "unreadable",
        }
    }
}

impl FromStr for PairVerdict {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.name() == text).ok_or_else(|| {
            Error::usage(format!(
                "verdict '{text}' is unknown: use changed, resized, added, removed or unreadable"
            ))
        })
    }
}

/// One of the two pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Golden,
    Actual,
}

/// The answer about a pair, while its pictures are in memory.
pub(crate) struct Compared<'a> {
    pub(crate) verdict: PairVerdict,
    /// Whether the files are the same byte for byte; then no pixel was decoded.
    pub(crate) is_identical: bool,
    /// What changed, where two pictures were compared.
    pub(crate) report: Option<ChangeReport>,
    /// Why nothing was, where they could not be.
    pub(crate) error: Option<(Side, Error)>,
    /// The golden picture, where there is one and it is a picture.
    pub(crate) golden: Option<Loaded<'a>>,
    pub(crate) actual: Option<Loaded<'a>>,
    /// What the golden file has in it, also where that is no picture.
    pub(crate) golden_bytes: Option<&'a [u8]>,
    /// What compared the two, where they were.
    pub(crate) differ: Option<&'a Differ>,
    /// Why nothing is to be drawn, where that takes more than there is.
    pub(crate) undrawn: Option<String>,
}

/// A picture in memory.
pub(crate) struct Loaded<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) file: &'a PictureFile<'a>,
    pub(crate) size: Size,
    /// Its pixels, where they were decoded to be compared.
    pub(crate) frame: Option<&'a Frame>,
}

/// Compares every pair and gives what `each` makes of the answers, in the order of `jobs`. `each`
/// runs on the thread that compared the pair.
pub(crate) fn compare_pairs<T: Send>(
    jobs: &[Job<'_>],
    plan: &Plan,
    each: &(dyn Fn(usize, Compared<'_>) -> T + Sync),
) -> Result<Vec<T>> {
    let threads = rayon::current_num_threads();
    let workers = threads.min(jobs.len()).max(1);
    let (budget, next) = (Budget::new(plan.memory), AtomicUsize::new(0));
    let work = || -> Result<Vec<(usize, T)>> {
        let mut worker = Worker::new(plan, &budget);
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&at| at < jobs.len());
        let answers = std::iter::from_fn(take)
            .map(|at| (at, worker.compare(jobs[at], &|compared| each(at, compared))));
        // What is parallel inside a pair stays among the threads of its worker: those of another
        // are at work on pairs of their own.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads / workers);
        let pool = pool
            .build()
            .map_err(|error| Error::limit("no thread can be started").with_source(error))?;
        Ok(pool.install(|| answers.collect()))
    };
    let mut answers = Vec::with_capacity(jobs.len());
    thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        for worker in running {
            let worked = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            answers.extend(worked?);
        }
        Ok::<(), Error>(())
    })?;
    answers.sort_unstable_by_key(|(at, _)| *at);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

/// What one thread keeps from pair to pair.
struct Worker<'a> {
    plan: &'a Plan,
    budget: &'a Budget,
    differs: Vec<Option<Differ>>,
    /// The pictures of the pair before: the system takes as long to hand out memory as decoding.
    frames: [Frame; 2],
}

/// What became of a pair.
struct Judged {
    verdict: PairVerdict,
    is_identical: bool,
    report: Option<ChangeReport>,
    error: Option<(Side, Error)>,
}

impl Judged {
    const fn new(verdict: PairVerdict) -> Self {
        Self { verdict, is_identical: false, report: None, error: None }
    }

    fn unreadable(error: (Side, Error)) -> Self {
        Self { error: Some(error), ..Self::new(PairVerdict::Unreadable) }
    }

    fn compared(report: ChangeReport, is_identical: bool) -> Self {
        let verdict = match report.verdict {
            Verdict::Same => PairVerdict::Same,
            Verdict::Changed => PairVerdict::Changed,
            Verdict::Resized => PairVerdict::Resized,
        };
        Self { is_identical, report: Some(report), ..Self::new(verdict) }
    }

    /// Whether the frames of the worker show the pair.
    const fn is_decoded(&self) -> bool {
        self.report.is_some() && !self.is_identical
    }
}

impl<'a> Worker<'a> {
    fn new(plan: &'a Plan, budget: &'a Budget) -> Self {
        let differs = vec![None; plan.options.len()];
        Self { plan, budget, differs, frames: [Frame::default(), Frame::default()] }
    }

    fn compare<T>(&mut self, job: Job<'_>, tell: &dyn Fn(Compared<'_>) -> T) -> T {
        let pair = job.pair;
        let mut needed = file_bytes(pair.golden.as_ref()) + file_bytes(pair.actual.as_ref());
        loop {
            if needed > self.budget.bytes() {
                return tell(self.refused(job, needed));
            }
            let mut held = self.hold(needed);
            match self.attempt(job, &mut held, tell) {
                Ok(answer) => return answer,
                Err(more) => needed = more,
            }
        }
    }

    /// Takes `bytes` and what the frames that were kept take, or gives those up before it waits.
    fn hold(&mut self, bytes: u64) -> Held<'a> {
        let kept: u64 = self.frames.iter().map(|frame| frame.data().len() as u64).sum();
        self.budget.take_now(bytes + kept).unwrap_or_else(|| {
            self.frames = Default::default();
            self.budget.wait_for(bytes)
        })
    }

    /// Compares within what is held, or says how much it takes.
    fn attempt<T>(
        &mut self,
        job: Job<'_>,
        held: &mut Held<'_>,
        tell: &dyn Fn(Compared<'_>) -> T,
    ) -> Result<T, u64> {
        let golden = job.pair.golden.as_ref().map(bytes_of);
        let actual = job.pair.actual.as_ref().map(bytes_of);
        let opened = [&golden, &actual].map(|side| side.as_ref().map(Opened::of));
        let (compared, drawn) = self.needed(&opened);
        // The answer about a pair is the same whether it is to be drawn or not.
        let is_drawn = compared + drawn <= self.budget.bytes();
        let needed = if is_drawn { compared + drawn } else { compared };
        if !held.grow_to(needed) {
            return Err(needed);
        }
        let [golden_file, actual_file] = opened;
        let files = [(Side::Golden, &golden_file), (Side::Actual, &actual_file)];
        let broken = files.into_iter().find_map(|(side, file)| {
            file.as_ref().and_then(|file| file.error()).map(|error| (side, error))
        });
        let [mut golden_file, mut actual_file] =
            [&golden_file, &actual_file].map(|file| file.as_ref().and_then(Opened::loaded));
        let judged = match broken {
            Some(trouble) => Err(trouble),
            None => self.judge(job, golden_file.as_ref(), actual_file.as_ref()),
        };
        let judged = judged.unwrap_or_else(Judged::unreadable);
        if judged.is_decoded() {
            for (file, frame) in [&mut golden_file, &mut actual_file].into_iter().zip(&self.frames)
            {
                file.iter_mut().for_each(|file| file.frame = Some(frame));
            }
        }
        Ok(tell(Compared {
            golden: golden_file,
            actual: actual_file,
            golden_bytes: golden.as_ref().and_then(|bytes| bytes.as_deref().ok()),
            differ: self.differs[job.options].as_ref(),
            undrawn: (!is_drawn).then(|| self.too_much(compared + drawn, "draw")),
            ..Compared::of(judged)
        }))
    }

    /// The verdict about two pictures whose headers are fine, or about one.
    fn judge(
        &mut self,
        job: Job<'_>,
        golden: Option<&Loaded<'_>>,
        actual: Option<&Loaded<'_>>,
    ) -> Result<Judged, (Side, Error)> {
        let of = |side| move |error| (side, error);
        let (golden, actual) = match (golden, actual) {
            (Some(golden), Some(actual)) => (golden, actual),
            (golden, actual) => {
                let (side, one, verdict) = match golden {
                    Some(golden) => (Side::Golden, Some(golden), PairVerdict::Removed),
                    None => (Side::Actual, actual, PairVerdict::Added),
                };
                one.map_or(Ok(()), |one| one.file.size_of_whole().map(drop)).map_err(of(side))?;
                return Ok(Judged::new(verdict));
            }
        };
        let differ = self.differs[job.options]
            .get_or_insert_with(|| Differ::new(self.plan.options[job.options].clone()));
        let is_identical = golden.bytes == actual.bytes;
        let report = if is_identical {
            let size = golden.file.size_of_whole().map_err(of(Side::Golden))?;
            differ.identical(size)
        } else {
            let [before, after] = &mut self.frames;
            keep_only(before, golden.size);
            keep_only(after, actual.size);
            let decoded =
                rayon::join(|| golden.file.decode_into(before), || actual.file.decode_into(after));
            decoded.0.map_err(of(Side::Golden))?;
            decoded.1.map_err(of(Side::Actual))?;
            differ.compare(before.as_ref(), after.as_ref())
        };
        // What is compared does not fit the picture.
        let report = report.map_err(of(Side::Golden))?;
        Ok(Judged::compared(report, is_identical))
    }

    /// How many bytes the pair takes while it is compared, and how many more while it is drawn.
    fn needed(&self, files: &[Option<Opened<'_>>; 2]) -> (u64, u64) {
        let bytes: u64 = files.iter().flatten().map(|side| side.bytes.len() as u64).sum();
        let sides = files.each_ref().map(|side| side.as_ref().and_then(|it| it.file.as_ref().ok()));
        let is_identical =
            || matches!(files, [Some(golden), Some(actual)] if golden.bytes == actual.bytes);
        let (compared, drawn) = match sides {
            [Some((golden, size)), Some((actual, other))] if !is_identical() => {
                let frames = golden.decoding_bytes(*size) + actual.decoding_bytes(*other);
                let pixels = size.pixels().max(other.pixels());
                (frames + pixels * COMPARING_BYTES, pixels * DRAWING_BYTES)
            }
            [Some((file, size)), _] | [None, Some((file, size))] => {
                let shown = if file.is_for_browsers() { 0 } else { size.pixels() * SHOWING_BYTES };
                let checked = if file.is_checked_whole() { 0 } else { file.decoding_bytes(*size) };
                (checked, shown)
            }
            [None, None] => (0, 0),
        };
        (bytes + compared, if self.plan.is_drawn { drawn } else { 0 })
    }

    /// A pair that takes more than there is is not compared.
    fn refused(&self, job: Job<'_>, needed: u64) -> Compared<'static> {
        let side = if job.pair.actual.is_some() { Side::Actual } else { Side::Golden };
        let error = Error::limit(format!("takes {}", self.too_much(needed, "compare")));
        Compared::of(Judged::unreadable((side, error)))
    }

    /// `3434 MB to draw, more than the 2048 MB of --memory`.
    fn too_much(&self, needed: u64, to_do: &str) -> String {
        let (needed, memory) = (needed.div_ceil(1 << 20), self.budget.bytes() >> 20);
        format!("{needed} MB to {to_do}, more than the {memory} MB of --memory")
    }
}

impl Compared<'_> {
    /// The answer without the pictures.
    fn of(judged: Judged) -> Self {
        let Judged { verdict, is_identical, report, error } = judged;
        Self {
            verdict,
            is_identical,
            report,
            error,
            golden: None,
            actual: None,
            golden_bytes: None,
            differ: None,
            undrawn: None,
        }
    }
}

/// Lets go of the memory of a frame that a picture of `size` cannot use.
fn keep_only(frame: &mut Frame, size: Size) {
    if frame.size().pixels() != size.pixels() {
        *frame = Frame::default();
    }
}

/// How many bytes of a file there are to be read; what cannot be told is told when it is.
fn file_bytes(place: Option<&Place>) -> u64 {
    let metadata =
        place.filter(|place| place.trouble.is_none()).map(|place| fs::metadata(&place.path));
    metadata.and_then(|metadata| metadata.ok()).filter(|it| it.is_file()).map_or(0, |it| it.len())
}

fn bytes_of(place: &Place) -> Result<Vec<u8>> {
    match &place.trouble {
        Some(trouble) => Err(Error::file(trouble)),
        None => read_bytes(&place.path),
    }
}

/// A file that was read, and its header, or what is wrong with either.
struct Opened<'a> {
    bytes: &'a [u8],
    file: Result<(PictureFile<'a>, Size)>,
}

impl<'a> Opened<'a> {
    fn of(bytes: &'a Result<Vec<u8>>) -> Self {
        match bytes {
            Ok(bytes) => Self {
                bytes,
                file: PictureFile::open(bytes).and_then(|file| {
                    let size = file.size()?;
                    Ok((file, size))
                }),
            },
            Err(error) => Self { bytes: &[], file: Err(copy(error)) },
        }
    }

    fn loaded(&self) -> Option<Loaded<'_>> {
        let (file, size) = self.file.as_ref().ok()?;
        Some(Loaded { bytes: self.bytes, file, size: *size, frame: None })
    }

    fn error(&self) -> Option<Error> {
        self.file.as_ref().err().map(copy)
    }
}

fn copy(error: &Error) -> Error {
    Error::new(error.kind(), error.to_string())
}
