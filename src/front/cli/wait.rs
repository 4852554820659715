//! `seechange wait CONDITION`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::clock::Cancel;
use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::front::pictures::{check_out, keep_inputs, write_frames};
use crate::front::wire::{self, WaitPaths};
use crate::report::{DiffOptions, Preset};
use crate::surface::replay::FrameIds;
use crate::wait::{Condition, Moment, Outcome, Transient, WaitOptions, timeline_picture, wait};

use super::args::{CompareArgs, OutputArgs, SurfaceArgs, TimingArgs};
use super::condition::{Name, from_words};
use super::output::Answer;
use crate::front::duration::parse_duration;

#[derive(Debug, Args)]
#[command(
    after_help = "A spinner that stays long enough is a change too. To know that something is \
                        done, wait for\nwhat it looks like then: appears PNG or matches PNG.\n\n\
                        Exit code: 0 met, 1 not met, 2 trouble."
)]
pub(super) struct WaitArgs {
    /// What to wait for.
    #[arg(value_enum, value_name = "CONDITION", required_unless_present = "any")]
    condition: Option<Name>,
    /// The picture for matches, appears and gone.
    #[arg(value_name = "PNG")]
    picture: Option<PathBuf>,
    /// One of several conditions, of which the first that is met ends the wait; repeatable.
    /// CONDITION, where there is one, comes before them. In the words of a condition: its name, its
    /// PNG, and where it shall have its own --region, --ignore, --mask, --timeout, --hold,
    /// --captures, --require-seen and --ignore-periodic, as in --any "appears error.png --hold 1s".
    #[arg(long, value_name = "WORDS")]
    any: Vec<String>,
    #[command(flatten)]
    surface: SurfaceArgs,
    #[command(flatten)]
    timing: TimingArgs,
    /// When the input comes that is waited on, counted from the call's start, in milliseconds or
    /// with a unit: looks before it show what stood before and are no evidence. Mostly for
    /// recordings. Default: 0.
    #[arg(long, value_name = "MS", value_parser = parse_moment, allow_hyphen_values = true)]
    input_at: Option<Duration>,
    /// Leave out regions that were seen to repeat, such as a spinner.
    #[arg(long)]
    ignore_periodic: bool,
    /// For gone: PNG must first have been seen. Without it, what was never there counts as gone
    /// too, and the answer says so.
    #[arg(long)]
    require_seen: bool,
    /// Keep looking this long past the deadline, to tell late from missing.
    #[arg(long, value_name = "D", default_value = "0", value_parser = parse_duration, allow_hyphen_values = true)]
    grace: Duration,
    /// The most of one core's time that looks may cost, such as 5% or 0.05.
    #[arg(long, value_name = "SHARE", default_value = "10%", value_parser = parse_share, allow_hyphen_values = true)]
    max_cpu: f64,
    /// Which frames of a recording count as new looks.
    #[arg(long, value_enum, value_name = "KIND", default_value = "each-look")]
    frame_ids: Ids,
    #[command(flatten)]
    compare: CompareArgs,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Ids {
    /// Each capture is a new look, as on a screen.
    EachLook,
    /// Only a frame with a new `id` is: a repeated id is an old frame handed out again.
    Strict,
}

/// `700` as milliseconds, or a duration with its unit.
fn parse_moment(text: &str) -> Result<Duration> {
    match text.parse::<u32>() {
        Ok(ms) => Ok(Duration::from_millis(ms.into())),
        Err(_) => parse_duration(text),
    }
}

/// `5%`, or `0.05`.
fn parse_share(text: &str) -> Result<f64> {
    let (number, scale) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    let share = number.trim().parse::<f64>().map(|number| number * scale);
    share.ok().filter(|share| *share > 0.0 && *share <= 1.0).ok_or_else(|| {
        Error::usage(format!(
            "'{text}' is no share of one core: use more than 0% and at most 100%, such as 5% or \
             0.05"
        ))
    })
}

pub(super) fn run(args: &WaitArgs, cancel: &Cancel) -> Result<Answer> {
    let out = args.output.out.as_deref();
    keep_inputs(out, args.compare.mask.as_deref())?;
    check_out(out, &["timeline.png", "last.png"])?;
    let condition = args.condition()?;
    let ids = if args.frame_ids == Ids::Strict { FrameIds::Strict } else { FrameIds::EachLook };
    let mut opened = args.surface.name()?.open_with(ids)?;
    let clock = opened.clock.clone();
    let outcome = wait(opened.source(), &condition, &args.options(), &clock, cancel)?;
    answer(&outcome, out)
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
        let out = self.output.out.as_deref();
        let diff = self.compare.options(Preset::Live)?;
        let set = |condition| self.set(condition, &diff);
        let first =
            self.condition.map(|name| name.condition(self.picture.as_ref(), out)).transpose()?;
        let first = first.map(set);
        match first {
            Some(only) if self.any.is_empty() => Ok(only),
            first => {
                let others =
                    self.any.iter().map(|words| from_words(words, &self.compare, out, set));
                let others = others.collect::<Result<Vec<_>>>()?;
                Condition::any(first.into_iter().chain(others))
            }
        }
    }

    /// What the command says for all conditions.
    fn set(&self, mut condition: Condition, diff: &DiffOptions) -> Condition {
        if let Some(hold) = self.timing.hold {
            condition = condition.hold(hold);
        }
        if let Some(captures) = self.timing.captures {
            condition = condition.captures(captures);
        }
        condition
            .diff(diff.clone())
            .ignore_periodic(self.ignore_periodic)
            .require_seen(self.require_seen)
    }

    fn options(&self) -> WaitOptions {
        let mut options = WaitOptions::new()
            .timeout(self.timing.timeout)
            .seed(self.timing.seed)
            .max_cpu(self.max_cpu)
            .grace(self.grace)
            .filmstrip(self.output.out.is_some());
        if let Some(interval) = self.timing.interval {
            options = options.interval(interval);
        }
        if let Some(input_at) = self.input_at {
            options = options.input_at(input_at);
        }
        options
    }
}

/// Writes `timeline.png`, the filmstrip (`first-look.png`, `first-change.png`,
/// `biggest-change.png`), `transient-N.png` and `last.png`, as far as there are any.
fn write(folder: &Path, outcome: &Outcome) -> Result<WaitPaths> {
    let timeline = timeline_picture(outcome)?;
    let kept = outcome.filmstrip.iter().map(|kept| (file_name(kept.moment), &kept.frame));
    let transients = (1..).zip(&outcome.transients).filter_map(|(number, transient)| {
        Some((format!("transient-{number}.png"), transient.frame.as_deref()?))
    });
    let last = outcome.last.as_ref().map(|last| ("last.png".to_owned(), &last.frame));
    let frames: Vec<(String, &Frame)> = std::iter::once(("timeline.png".to_owned(), &timeline))
        .chain(kept)
        .chain(transients)
        .chain(last)
        .collect();
    let mut paths = write_frames(folder, &frames)?.into_iter();
    let timeline = paths.next();
    let filmstrip = paths.by_ref().take(outcome.filmstrip.len()).collect();
    let mut shown = |transient: &Transient| transient.frame.as_ref().and_then(|_| paths.next());
    let transients = outcome.transients.iter().map(&mut shown).collect();
    Ok(WaitPaths { last: paths.next(), transients, filmstrip, timeline })
}

fn file_name(moment: Moment) -> String {
    format!("{}.png", moment.name().replace('_', "-"))
}

/// One sentence, then one line for each thing worth knowing.
fn text(outcome: &Outcome, paths: &WaitPaths) -> String {
    let mut lines = vec![outcome.sentence()];
    if let Some(found) = outcome.found {
        lines.push(format!("found at {found}"));
    }
    for (kept, path) in outcome.filmstrip.iter().zip(&paths.filmstrip) {
        let place = kept.areas.first().map(|area| format!(" at {area}")).unwrap_or_default();
        let what = kept.moment.name().replace('_', " ");
        let at = kept.at.as_millis();
        lines.push(format!("the {what}: {at} ms{place}; {}", path.display()));
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
    lines.extend(doubts(outcome));
    if let Some(path) = &paths.last {
        lines.push(format!("the last look: {}", path.display()));
    }
    if let Some(path) = &paths.timeline {
        lines.push(format!("all of it in one picture: {}", path.display()));
    }
    lines.join("\n")
}

/// What there is to mind about the answer.
pub(super) fn doubts(outcome: &Outcome) -> Option<String> {
    let flags: Vec<&str> = outcome.flags.iter().map(|flag| flag.name()).collect();
    (!flags.is_empty()).then(|| format!("mind: {}", flags.join(", ").replace('_', " ")))
}
