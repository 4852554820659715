//! `seechange accept REPORT [PATHS]`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use globset::{GlobBuilder, GlobMatcher};
use serde_json::{Value, json};

use crate::error::{Error, Result, Shown};
use crate::front::folders::{
    Accepted, Leave, Outcome, accept_left, accept_row, accepted_by, left_by_tests, name_of,
    read_report,
};
use crate::front::wire::compare::Report;
use crate::golden::folders::{GoldenFolder, Name, PairVerdict, spelled_path};

use super::output::Answer;

#[derive(Debug, Args)]
#[command(
    after_help = "Copies the actual pictures of a report over the golden ones they were compared \
                  with, each whole or not\nat all, and says for every path what it did. Of a folder \
                  without report.json it takes what failed tests\nleft there: NAME.new.png becomes \
                  NAME.png, and NAME.diff.png goes.\n\nExit code: 0 all done, 1 some refused (the \
                  golden picture has changed since, nothing to copy), 2 trouble:\nbad usage, a file \
                  that cannot be written. Whatever is refused, the others are done."
)]
pub(super) struct AcceptArgs {
    /// The folder of a report (`--out` of compare), its report.json, or a folder of golden pictures
    /// with the .new.png of failed tests.
    report: PathBuf,
    /// The paths to accept, as the report names them, or globs of them: "login/*.png", "**".
    paths: Vec<OsString>,
    /// Every path that is not the same.
    #[arg(long, conflicts_with = "paths")]
    all: bool,
    /// The folder of the golden pictures. Default: the one that was compared, by its path then.
    #[arg(long, value_name = "DIR")]
    base: Option<PathBuf>,
    /// Say what would be done, and do nothing.
    #[arg(long)]
    dry_run: bool,
    /// Delete golden pictures that have no actual one any more.
    #[arg(long)]
    delete_removed: bool,
    /// Also replace golden pictures that have changed since they were compared.
    #[arg(long)]
    force: bool,
    /// One JSON object on stdout, everything else on stderr.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &AcceptArgs) -> Result<Answer> {
    if args.paths.is_empty() && !args.all {
        return Err(Error::usage(
            "nothing is accepted unasked: name PATHS of the report, or give --all",
        ));
    }
    let (base, done) = match read_report(&args.report)? {
        Some((folder, report)) => from_report(args, &folder, &report)?,
        None => from_tests(args)?,
    };
    Ok(answer(args, &base, &done))
}

fn from_report(
    args: &AcceptArgs,
    folder: &Path,
    report: &Report,
) -> Result<(PathBuf, Vec<Accepted>)> {
    if let Some(command) = accepted_by(report) {
        return Err(Error::usage(format!(
            "Playwright keeps its golden pictures elsewhere: {command} accepts"
        )));
    }
    let base = args.base.clone().unwrap_or_else(|| PathBuf::from(&report.base));
    let golden = GoldenFolder::open(&base).map_err(|error| match args.base {
        Some(_) => error,
        None => Error::file(format!("{error}; say with --base where the golden pictures are")),
    })?;
    let rows = report.rows.iter().filter(|row| row.verdict != PairVerdict::Same || !args.all);
    let names = rows.map(|row| (name_of(row), row)).collect::<Vec<_>>();
    let chosen = args.choose(&names, |(name, _)| name.as_ref())?;
    let leave = args.leave();
    Ok((base, chosen.map(|(_, row)| accept_row(row, folder, &golden, leave)).collect()))
}

fn from_tests(args: &AcceptArgs) -> Result<(PathBuf, Vec<Accepted>)> {
    let base = args.base.as_ref().unwrap_or(&args.report);
    let golden = GoldenFolder::open(base)?;
    let mut left: Vec<(Name, Name)> = left_by_tests(&golden)?.into_iter().collect();
    left.sort_unstable();
    if left.is_empty() {
        return Err(Error::file(format!(
            "{}: there is neither a report.json nor a .new.png to accept",
            args.report.display()
        )));
    }
    let chosen = args.choose(&left, |(name, _)| Some(name))?;
    let leave = args.leave();
    Ok((base.clone(), chosen.map(|(name, new)| accept_left(name, new, &golden, leave)).collect()))
}

impl AcceptArgs {
    const fn leave(&self) -> Leave {
        Leave { dry_run: self.dry_run, force: self.force, delete_removed: self.delete_removed }
    }

    /// What the paths mean, in the order it is in; every one of them must mean something.
    fn choose<'t, T>(
        &self,
        all: &'t [T],
        name: impl Fn(&T) -> Option<&Name>,
    ) -> Result<impl Iterator<Item = &'t T>> {
        let wanted: Vec<Wanted> = self.paths.iter().map(Wanted::new).collect::<Result<_>>()?;
        let names: Vec<Option<&Name>> = all.iter().map(name).collect();
        let those = |is_meant: &dyn Fn(&Name) -> bool| -> Vec<usize> {
            (0..all.len()).filter(|&at| names[at].is_some_and(is_meant)).collect()
        };
        let means = |wanted: &Wanted| {
            let ways: [&dyn Fn(&Name) -> bool; 3] =
                [&|name| name.path() == wanted.path, &|name| wanted.is_spelled(name), &|name| {
                    wanted.glob.as_ref().is_some_and(|glob| glob.is_match(name.path()))
                }];
            ways.into_iter().map(those).find(|meant| !meant.is_empty()).unwrap_or_default()
        };
        let mut is_chosen = vec![self.all; all.len()];
        for wanted in &wanted {
            let meant = means(wanted);
            if meant.is_empty() {
                return Err(Error::usage(format!(
                    "{}: nothing of that name is there to accept",
                    spelled_path(&wanted.path)
                )));
            }
            meant.into_iter().for_each(|at| is_chosen[at] = true);
        }
        Ok(all.iter().zip(is_chosen).filter(|(_, chosen)| *chosen).map(|(one, _)| one))
    }
}

/// A path, or where nothing has that name a path as it is shown, or a glob.
struct Wanted {
    path: PathBuf,
    glob: Option<GlobMatcher>,
}

impl Wanted {
    fn new(text: &OsString) -> Result<Self> {
        // `./a.png` is what shells complete, and the same as `a.png`.
        let path = PathBuf::from(text);
        let path = path.strip_prefix(".").map_or(path.clone(), Path::to_owned);
        let glob = text.to_str().map(|text| GlobBuilder::new(text).literal_separator(true).build());
        // What is no glob may still be a path.
        Ok(Self { path, glob: glob.and_then(|glob| glob.ok()).map(|glob| glob.compile_matcher()) })
    }
}

impl Wanted {
    /// Whether the name is shown like this, in JSON or on a terminal.
    fn is_spelled(&self, name: &Name) -> bool {
        let text = name.text();
        let shown = self.path.to_str();
        shown == Some(text.as_str()) || shown == Some(Shown(&text).to_string().as_str())
    }
}

fn answer(args: &AcceptArgs, base: &Path, done: &[Accepted]) -> Answer {
    let mut lines: Vec<String> = done.iter().map(|one| line(args, one)).collect();
    let count = |is: fn(&Outcome) -> bool| done.iter().filter(|one| is(&one.result)).count();
    let refused = count(|it| matches!(it, Outcome::Refused(_)));
    let failed = count(|it| matches!(it, Outcome::Failed(_)));
    let would = if args.dry_run { "would be " } else { "" };
    let mut end = format!(
        "{} of {} {would}accepted in {}",
        done.len() - refused - failed,
        done.len(),
        Shown(&spelled_path(base))
    );
    if args.dry_run {
        end = format!("Dry run, nothing was written: {end}");
    }
    lines.push(end);
    let code = if failed > 0 { 2 } else { u8::from(refused > 0) };
    let json = json!({
        "schema": "seechange.accept/1",
        "base": spelled_path(base),
        "dry_run": args.dry_run,
        "rows": done.iter().map(|one| row(args, one)).collect::<Vec<_>>(),
        "refused": refused,
        "failed": failed,
    });
    Answer { text: lines.join("\n"), json, code }
}

fn line(args: &AcceptArgs, one: &Accepted) -> String {
    let would = if args.dry_run && one.result.reason().is_none() { "would be " } else { "" };
    let told = match &one.result {
        Outcome::Already => "is golden already".to_owned(),
        Outcome::Refused(reason) => format!("refused: {}", Shown(reason)),
        Outcome::Failed(reason) => format!("failed: {}", Shown(reason)),
        done => format!("{would}{}", done.name()),
    };
    format!("{}: {told}", Shown(&one.path))
}

fn row(args: &AcceptArgs, one: &Accepted) -> Value {
    let result = match (&one.result, args.dry_run) {
        (Outcome::Replaced, true) => "would_replace",
        (Outcome::Added, true) => "would_add",
        (Outcome::Deleted, true) => "would_delete",
        (result, _) => result.name(),
    };
    json!({"path": one.path, "result": result, "reason": one.result.reason()})
}
