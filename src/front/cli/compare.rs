//! `seechange compare BASE ACTUAL`.

mod merge;
mod rules;
mod shard;

use std::collections::HashMap;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::clock::Clock;
use crate::error::{Error, ErrorKind, Result};
use crate::front::folders::{Judged, ReportFolder, RowMaker, add_summary, junit, sha256, words};
use crate::front::html::{page, single};
use crate::front::wire::compare::Report;
use crate::golden::folders::{
    Job, LaidOut, Layout, Pair, PairVerdict, Plan, Shard, compare_pairs, pair_up, spelled_path,
    walk,
};
use crate::report::{DiffOptions, Preset};

use super::args::{CompareArgs, OutputArgs};
use super::output::{Answer, progress};
use rules::Rules;
use shard::ShardName;

#[derive(Debug, Args)]
#[command(
    after_help = "Pictures belong together that have the same path below BASE and ACTUAL. --out DIR \
                  gets report.json,\nindex.html, junit.xml and a folder of pictures for each pair \
                  that is not the same.\n\nExit code: 0 same or allowed; 1 changed, of another size, \
                  added or removed; 2 trouble: bad usage,\nnothing to compare, a picture that cannot \
                  be read (the others are compared all the same)."
)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct FoldersCommand {
    #[command(subcommand)]
    merge: Option<Merge>,
    #[command(flatten)]
    folders: FoldersArgs,
}

#[derive(Debug, Subcommand)]
enum Merge {
    /// The reports of all shards, as the one there would be without.
    Merge(merge::MergeArgs),
}

#[derive(Debug, Args)]
pub(super) struct FoldersArgs {
    /// The folder of the golden pictures.
    #[arg(required = true)]
    base: Option<PathBuf>,
    /// The folder of the pictures to be judged.
    #[arg(required_unless_present = "layout")]
    actual: Option<PathBuf>,
    /// BASE is the one folder in which another tool left golden and actual pictures: playwright
    /// (test-results), jest (image snapshots with storeReceivedOnFailure, as of the Storybook test
    /// runner), reg-suit (.reg), loki (.loki), backstop (backstop_data), cypress
    /// (cypress/snapshots), cypress-image-diff; or auto.
    #[arg(long, value_name = "TOOL", conflicts_with = "actual")]
    layout: Option<LayoutName>,
    /// When the sizes of a pair differ, also compare the part they have in common.
    #[arg(long)]
    common_part: bool,
    /// Rules by path: a TOML file of `[[rule]] path = "icons/**"` tables, of which later ones win.
    #[arg(long, value_name = "FILE.toml")]
    rules: Option<PathBuf>,
    /// Verdicts that are no failure: changed, resized, added, removed, unreadable.
    #[arg(long, value_name = "VERDICT,…", value_delimiter = ',', value_parser = allowed)]
    allow: Vec<PairVerdict>,
    /// Compare one part of the pairs: 1/4, 2/4, … on as many machines. `auto` takes both numbers
    /// from the environment (GitLab, CircleCI, Buildkite, Azure Pipelines, Bitbucket, Semaphore,
    /// AWS Batch, Google Batch, Cloud Run, Slurm, LSF), auto/N the index alone (also Kubernetes).
    #[arg(long, value_name = "I/N", allow_hyphen_values = true)]
    shard: Option<ShardName>,
    /// How much memory the pairs that are in work may take together, in megabytes.
    #[arg(long, value_name = "MB", default_value_t = 2048, value_parser = megabytes, allow_hyphen_values = true)]
    memory: u64,
    /// Put all pictures into index.html itself, to send it around as one file.
    #[arg(long, requires = "out")]
    single_file: bool,
    /// Add a table of what changed to the summary of this GitHub step, the file that
    /// $GITHUB_STEP_SUMMARY names.
    #[arg(long)]
    github_summary: bool,
    #[command(flatten)]
    compare: CompareArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// A layout, or the one the folder turns out to have.
#[derive(Clone, Copy, Debug)]
enum LayoutName {
    Auto,
    Given(Layout),
}

impl FromStr for LayoutName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text == "auto" { Ok(Self::Auto) } else { text.parse().map(Self::Given) }
    }
}

fn megabytes(text: &str) -> Result<u64> {
    let range = 1..1 << 24;
    text.parse().ok().filter(|megabytes| range.contains(megabytes)).ok_or_else(|| {
        Error::usage(format!("it takes {} to {} megabytes", range.start, range.end - 1))
    })
}

fn allowed(text: &str) -> Result<PairVerdict> {
    let verdict: PairVerdict = text.parse()?;
    match verdict {
        PairVerdict::Same => Err(Error::usage("verdict 'same' needs no leave")),
        verdict => Ok(verdict),
    }
}

pub(super) fn run(command: &FoldersCommand) -> Result<Answer> {
    match &command.merge {
        Some(Merge::Merge(args)) => merge::run(args),
        None => compare_folders(&command.folders),
    }
}

fn compare_folders(args: &FoldersArgs) -> Result<Answer> {
    let clock = Clock::system();
    let summary = summary_file(args.github_summary)?;
    let variable = |name: &str| std::env::var(name).ok();
    let shard = args.shard.map(|shard| shard.resolve(&variable)).transpose()?;
    let rules = Rules::read(args.rules.as_deref())?;
    let found = Found::look(args)?;
    let chosen = Chosen::choose(&found.pairs, shard, args, &rules)?;
    let folder = args.output.out.as_deref().map(ReportFolder::open).transpose()?;
    let rows = compare(&chosen, args, folder.as_ref(), &clock)?;
    let (base, actual) = (shown(&found.places.0), shown(&found.places.1));
    let mut report = Report::new(base, actual, args.json(&rules, found.layout), rows);
    report.totals.skipped = chosen.skipped;
    report.shard = shard.map(Into::into);
    report.elapsed_ms = u64::try_from(clock.now().as_millis()).unwrap_or(u64::MAX);
    report.remarks = found.remarks;
    let unused = |globs: &String| format!("The rule for {globs} matches no path.");
    report.remarks.extend(chosen.unused_rules.iter().map(unused));
    report.unused_rules = chosen.unused_rules;
    finish(&report, folder, args.single_file, summary.as_deref())
}

/// The file that GitHub shows as the summary of this step.
fn summary_file(is_wanted: bool) -> Result<Option<PathBuf>> {
    let path = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty());
    match (is_wanted, path) {
        (true, None) => Err(Error::usage(
            "--github-summary is for steps on GitHub: GITHUB_STEP_SUMMARY is not set",
        )),
        (is_wanted, path) => Ok(path.filter(|_| is_wanted).map(PathBuf::from)),
    }
}

/// Writes the report, where it is to be, and answers.
fn finish(
    report: &Report,
    folder: Option<ReportFolder>,
    is_single: bool,
    summary: Option<&Path>,
) -> Result<Answer> {
    let (json, mut code) = (report.json(), report.exit_code());
    let mut text = words(report, folder.as_ref().map(ReportFolder::path));
    if let Some(folder) = folder {
        let html = match is_single {
            true => single(&json, &mut |path| folder.read(path)),
            false => Ok(page(&json)),
        };
        let finished = html.and_then(|html| {
            folder.finish(&[
                ("report.json", json.to_string().into_bytes()),
                ("index.html", html.into_bytes()),
                ("junit.xml", junit(report).into_bytes()),
            ])
        });
        if let Err(error) = finished {
            // What was compared is told all the same.
            super::output::remark(&format!("seechange: {error}"));
            (text, code) = (words(report, None), 2);
        }
    }
    summary.map_or(Ok(()), |path| add_summary(report, path))?;
    Ok(Answer { text, json, code })
}

impl FoldersArgs {
    /// What was asked for, as far as it makes a difference to the answers.
    fn json(&self, rules: &Rules, layout: Option<Layout>) -> Value {
        let texts = |rects: &[crate::geometry::Rect]| {
            rects.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let preset = self.compare.preset.unwrap_or(Preset::Golden);
        let base = self.compare.rules(Preset::Golden);
        json!({
            "preset": preset.name(),
            "tolerance": base.tolerance_in_force().to_string(),
            "antialiasing": base.rules_in_force().antialiasing.to_string(),
            "max_changed_pixels": self.compare.max_changed_pixels,
            "common_part": self.common_part,
            "layout": layout.map(Layout::name),
            "region": texts(&self.compare.region),
            "ignore": texts(&self.compare.ignore),
            "mask": self.compare.mask.as_deref().map(shown),
            "rules": self.rules.as_deref().map(|path| json!({
                "path": shown(path), "sha256": sha256(rules.text().as_bytes()),
            })),
            "allow": self.allow.iter().map(|verdict| verdict.name()).collect::<Vec<_>>(),
        })
    }
}

fn shown(path: &Path) -> String {
    spelled_path(path)
}

/// The pairs of both sides.
struct Found {
    pairs: Vec<Pair>,
    /// Where the golden and the actual pictures are.
    places: (PathBuf, PathBuf),
    layout: Option<Layout>,
    remarks: Vec<String>,
}

impl Found {
    fn look(args: &FoldersArgs) -> Result<Self> {
        let resolved = |path: &Path| path.canonicalize().ok();
        let out = args.output.out.as_deref().and_then(resolved);
        let Some(base) = &args.base else { return Err(no_folders()) };
        let inputs: Vec<PathBuf> = [Some(base), args.actual.as_ref()]
            .into_iter()
            .flatten()
            .filter_map(|path| resolved(path))
            .collect();
        refuse_input_in_out(out.as_deref(), &inputs)?;
        let without: Vec<PathBuf> = inputs.into_iter().chain(out).collect();
        let layout = match args.layout {
            Some(LayoutName::Given(layout)) => Some(layout),
            Some(LayoutName::Auto) => Some(Layout::recognise(base)?),
            None => None,
        };
        let (LaidOut { places, pairs, folder_links }, others) = match (layout, &args.actual) {
            (Some(layout), _) => (layout.read(base, &without)?, 0),
            (None, Some(actual)) => two_folders(base, actual, &without)?,
            (None, None) => return Err(no_folders()),
        };
        if pairs.is_empty() {
            return Err(nothing_to_compare(&places, others));
        }
        let mut remarks = Vec::new();
        if folder_links > 0 {
            remarks.push(format!("Links to folders are not followed: {folder_links} left out."));
        }
        Ok(Self { pairs, places, layout, remarks })
    }
}

/// What the parser of the command line says before.
fn no_folders() -> Error {
    Error::usage("compare takes two folders, BASE and ACTUAL")
}

/// The pairs of two folders, and how many files are called like no picture.
fn two_folders(base: &Path, actual: &Path, without: &[PathBuf]) -> Result<(LaidOut, usize)> {
    let resolved = base.canonicalize().ok();
    if resolved.is_some() && resolved == actual.canonicalize().ok() {
        return Err(Error::usage(format!(
            "{} and {} are the same folder, so nothing would be compared",
            base.display(),
            actual.display()
        )));
    }
    let (before, after) = rayon::join(|| walk(base, without), || walk(actual, without));
    let (before, after) = (before?, after?);
    let laid_out = LaidOut {
        places: (base.to_owned(), actual.to_owned()),
        folder_links: before.folder_links + after.folder_links,
        pairs: pair_up(before.found, after.found),
    };
    Ok((laid_out, before.other_files + after.other_files))
}

fn nothing_to_compare((base, actual): &(PathBuf, PathBuf), others: usize) -> Error {
    let message = match base == actual {
        true => format!("there is nothing to compare: {} has no pair of pictures", base.display()),
        false => format!(
            "there is nothing to compare: neither {} nor {} has a picture (of {others} files none \
             is called like one)",
            base.display(),
            actual.display()
        ),
    };
    Error::new(ErrorKind::Impossible, message)
}

/// Of all parts together, for one of several may well have nothing to do.
fn all_skipped(pairs: usize) -> Error {
    Error::impossible(format!("there is nothing to compare: --rules skip all there is ({pairs})"))
}

/// What a run reads must not be what it replaces.
fn refuse_input_in_out(out: Option<&Path>, inputs: &[PathBuf]) -> Result<()> {
    let Some(out) = out else { return Ok(()) };
    let pairs = out.join("pairs");
    match inputs.iter().find(|input| *input == out || input.starts_with(&pairs)) {
        Some(input) => Err(Error::usage(format!(
            "{}: --out would write the report into what is compared; give it another folder",
            input.display()
        ))),
        None => Ok(()),
    }
}

/// The pairs of this run, and how each is compared.
struct Chosen<'a> {
    pairs: Vec<(&'a Pair, usize)>,
    ways: Vec<Way>,
    skipped: u64,
    /// The globs of every rule that matches nothing.
    unused_rules: Vec<String>,
}

/// How the pairs are compared for which the same rules are in force.
struct Way {
    options: DiffOptions,
    globs: Option<String>,
    allowed: Vec<PairVerdict>,
}

impl<'a> Chosen<'a> {
    fn choose(
        pairs: &'a [Pair],
        shard: Option<Shard>,
        args: &FoldersArgs,
        rules: &Rules,
    ) -> Result<Self> {
        let mut chosen =
            Self { pairs: Vec::new(), ways: Vec::new(), skipped: 0, unused_rules: Vec::new() };
        let mut known: HashMap<Vec<usize>, usize> = HashMap::new();
        let mut is_used = vec![false; rules.len()];
        let mut is_any_left = false;
        for pair in pairs {
            let matching = rules.matching(pair.name.path());
            matching.iter().for_each(|&rule| is_used[rule] = true);
            is_any_left |= !rules.skips(&matching);
            if shard.is_some_and(|shard| !shard.holds(&pair.name)) {
                continue;
            }
            if rules.skips(&matching) {
                chosen.skipped += 1;
                continue;
            }
            let way = match known.get(&matching) {
                Some(&way) => way,
                None => {
                    chosen.ways.push(rules.way(&matching, args)?);
                    known.insert(matching, chosen.ways.len() - 1);
                    chosen.ways.len() - 1
                }
            };
            chosen.pairs.push((pair, way));
        }
        if !is_any_left {
            return Err(all_skipped(pairs.len()));
        }
        chosen.unused_rules = rules.unused(&is_used);
        Ok(chosen)
    }
}

fn compare(
    chosen: &Chosen<'_>,
    args: &FoldersArgs,
    folder: Option<&ReportFolder>,
    clock: &Clock,
) -> Result<Vec<crate::front::wire::compare::Row>> {
    let plan = Plan {
        options: chosen.ways.iter().map(|way| way.options.clone()).collect(),
        memory: args.memory << 20,
        is_drawn: folder.is_some(),
    };
    let jobs: Vec<Job<'_>> =
        chosen.pairs.iter().map(|&(pair, options)| Job { pair, options }).collect();
    let maker = RowMaker { folder };
    let bar = Bar::new(jobs.len(), clock.clone());
    let rows = compare_pairs(&jobs, &plan, &|at, compared| {
        let way = &chosen.ways[jobs[at].options];
        let judged = Judged {
            number: at + 1,
            name: &jobs[at].pair.name,
            rule: way.globs.as_deref(),
            allowed: &way.allowed,
        };
        let row = maker.row(&judged, compared);
        bar.step(row.is_failing());
        row
    });
    bar.clear();
    rows
}

/// How far it is, on a terminal.
struct Bar {
    all: usize,
    done: AtomicUsize,
    failing: AtomicUsize,
    clock: Clock,
    last: Option<Mutex<Duration>>,
}

impl Bar {
    /// The time between two looks of it.
    const PAUSE: Duration = Duration::from_millis(100);
    const WIDTH: usize = 30;

    fn new(all: usize, clock: Clock) -> Self {
        let last = io::stderr().is_terminal().then(|| Mutex::new(clock.now()));
        Self { all, done: AtomicUsize::new(0), failing: AtomicUsize::new(0), clock, last }
    }

    fn step(&self, is_failing: bool) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let failing = self.failing.fetch_add(usize::from(is_failing), Ordering::Relaxed)
            + usize::from(is_failing);
        // Whoever finds it locked is not the one to draw.
        let Some(Ok(mut last)) = self.last.as_ref().map(Mutex::try_lock) else { return };
        let now = self.clock.now();
        if now.saturating_sub(*last) >= Self::PAUSE {
            *last = now;
            progress(&self.line(done, failing));
        }
    }

    fn line(&self, done: usize, failing: usize) -> String {
        let full = done * Self::WIDTH / self.all.max(1);
        let bar = "#".repeat(full) + &".".repeat(Self::WIDTH - full);
        format!("[{bar}] {done}/{} pairs, {failing} failing", self.all)
    }

    fn clear(&self) {
        if self.last.is_some() {
            progress("");
        }
    }
}
