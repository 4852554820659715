//! `seechange wait CONDITION`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::clock::Cancel;
use crate::error::{Error, Result};
use crate::frame::{self, Frame, write_png};
use crate::front::wire::{self, WaitPaths};
use crate::report::Preset;
use crate::surface::replay::FrameIds;
use crate::wait::{Condition, Outcome, WaitOptions, wait};

use super::args::{CompareArgs, OutputArgs, SurfaceArgs, TimingArgs};
use super::duration::parse_duration;
use super::output::Answer;

#[derive(Debug, Args)]
pub(super) struct WaitArgs {
    /// What to wait for.
    #[arg(value_enum, value_name = "CONDITION")]
    condition: Name,
    /// The picture that matches, appears or goes.
    #[arg(value_name = "PNG")]
    picture: Option<PathBuf>,
    #[command(flatten)]
    surface: SurfaceArgs,
    #[command(flatten)]
    timing: TimingArgs,
    /// When the action happened or will, in milliseconds or as a duration from the call's start:
    /// looks before it only give the baseline.
    #[arg(long, value_name = "MS", value_parser = parse_moment)]
    input_at: Option<Duration>,
    /// Leave out regions that were seen to repeat, such as a spinner.
    #[arg(long)]
    ignore_periodic: bool,
    /// Only what was seen can go.
    #[arg(long)]
    require_seen: bool,
    /// Keep looking this long past the deadline, to tell late from missing.
    #[arg(long, value_name = "D", default_value = "0", value_parser = parse_duration)]
    grace: Duration,
    /// strict: a repeated id of a recording is an old frame handed out again.
    #[arg(long, value_enum, value_name = "KIND", default_value = "each-look")]
    frame_ids: Ids,
    #[command(flatten)]
    compare: CompareArgs,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Nothing moves any more.
    Stable,
    /// Something differs from the first look and stays so.
    Changed,
    /// The surface, or the region, looks like PNG.
    Matches,
    /// PNG is seen anywhere in scope.
    Appears,
    /// PNG is seen nowhere in scope.
    Gone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Ids {
    /// Each capture is a new look.
    EachLook,
    /// The ids of the recording.
    Strict,
}

/// `700` as milliseconds, or a duration with its unit.
fn parse_moment(text: &str) -> Result<Duration> {
    match text.parse::<u32>() {
        Ok(ms) => Ok(Duration::from_millis(ms.into())),
        Err(_) => parse_duration(text),
    }
}

pub(super) fn run(args: &WaitArgs, cancel: &Cancel) -> Result<Answer> {
    let condition = args.condition()?;
    let ids = if args.frame_ids == Ids::Strict { FrameIds::Strict } else { FrameIds::EachLook };
    let mut opened = args.surface.surface.open_with(ids)?;
    let clock = opened.clock.clone();
    let outcome = wait(opened.source(), &condition, &args.options(), &clock, cancel)?;
    answer(&outcome, args.output.out.as_deref())
}

/// An outcome in words and as JSON, its pictures written to `out`.
///
/// # Errors
/// When the pictures cannot be written.
pub(super) fn answer(outcome: &Outcome, out: Option<&Path>) -> Result<Answer> {
    let paths = match out {
        Some(folder) => write(folder, outcome)?,
        None => WaitPaths::default(),
    };
    Ok(Answer {
        text: text(outcome, &paths),
        json: wire::wait(outcome, &paths),
        code: u8::from(!outcome.is_met()),
    })
}

impl WaitArgs {
    fn condition(&self) -> Result<Condition> {
        let mut condition = match (self.condition, &self.picture) {
            (Name::Stable, None) => Condition::stable(),
            (Name::Changed, None) => Condition::changed(),
            (Name::Matches, Some(path)) => Condition::matches(frame::read(path)?),
            (Name::Appears, Some(path)) => Condition::appears(frame::read(path)?),
            (Name::Gone, Some(path)) => Condition::gone(frame::read(path)?),
            (Name::Stable | Name::Changed, Some(path)) => {
                return Err(Error::usage(format!(
                    "the picture {} is one too many: stable and changed take none",
                    path.display()
                )));
            }
            (Name::Matches | Name::Appears | Name::Gone, None) => {
                return Err(Error::usage(
                    "matches, appears and gone need a picture, such as `appears done.png`",
                ));
            }
        };
        if let Some(hold) = self.timing.hold {
            condition = condition.hold(hold);
        }
        if let Some(captures) = self.timing.captures {
            condition = condition.captures(captures);
        }
        Ok(condition
            .diff(self.compare.options(Preset::Live)?)
            .ignore_periodic(self.ignore_periodic)
            .require_seen(self.require_seen))
    }

    fn options(&self) -> WaitOptions {
        let mut options = WaitOptions::new()
            .timeout(self.timing.timeout)
            .seed(self.timing.seed)
            .grace(self.grace);
        if let Some(interval) = self.timing.interval {
            options = options.interval(interval);
        }
        if let Some(input_at) = self.input_at {
            options = options.input_at(input_at);
        }
        options
    }
}

/// Writes `last.png` and `transient-N.png`; those of an earlier run that this one does not have
/// are removed.
fn write(folder: &Path, outcome: &Outcome) -> Result<WaitPaths> {
    let cannot =
        |error| Error::io(format!("{}: pictures cannot be written", folder.display()), error);
    std::fs::create_dir_all(folder).map_err(cannot)?;
    remove_earlier(folder).map_err(cannot)?;
    let put = |name: String, frame: &Frame| {
        let path = folder.join(name);
        write_png(&path, frame).map(|()| path)
    };
    let last = outcome.last.as_ref().map(|last| put("last.png".to_owned(), &last.frame));
    let transients = (1..).zip(&outcome.transients).map(|(number, transient)| {
        let name = format!("transient-{number}.png");
        transient.frame.as_ref().map(|frame| put(name, frame)).transpose()
    });
    Ok(WaitPaths { last: last.transpose()?, transients: transients.collect::<Result<_>>()? })
}

fn remove_earlier(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let is_ours = entry.file_name().to_str().is_some_and(is_picture_name);
        if is_ours && entry.file_type()?.is_file() {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn is_picture_name(name: &str) -> bool {
    let number = name.strip_prefix("transient-").and_then(|rest| rest.strip_suffix(".png"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    name == "last.png" || number.is_some_and(is_number)
}

/// One sentence, then one line for each thing worth knowing.
fn text(outcome: &Outcome, paths: &WaitPaths) -> String {
    let mut lines = vec![outcome.sentence()];
    if let Some(found) = outcome.found {
        lines.push(format!("found at {found}"));
    }
    for (index, transient) in outcome.transients.iter().enumerate() {
        let place = transient.areas.first().map(|area| format!(" at {area}")).unwrap_or_default();
        let shown = paths.transients.get(index).and_then(Option::as_ref);
        let shown = shown.map(|path| format!("; {}", path.display())).unwrap_or_default();
        let (from, to) = (transient.from.as_millis(), transient.to.as_millis());
        lines.push(format!("came and went{place} from {from} to {to} ms{shown}"));
    }
    lines.extend(outcome.ignored.carets.iter().map(|rect| format!("a caret blinks at {rect}")));
    for periodic in &outcome.ignored.periodic {
        let period = periodic.period.as_millis();
        lines.push(format!("left out, for it repeats every {period} ms: {}", periodic.rect));
    }
    let flags: Vec<&str> = outcome.flags.iter().map(|flag| flag.name()).collect();
    if !flags.is_empty() {
        lines.push(format!("mind: {}", flags.join(", ").replace('_', " ")));
    }
    if let Some(path) = &paths.last {
        lines.push(format!("the last look: {}", path.display()));
    }
    lines.join("\n")
}
