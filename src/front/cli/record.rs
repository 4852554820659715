//! `seechange record DIR`: a surface into a folder, to be replayed.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use crate::clock::Cancel;
use crate::error::{Error, Result};
use crate::front::duration::parse_duration;
use crate::front::wire;
use crate::geometry::Rect;
use crate::surface::replay::{Ended, Progress, RecordOptions, Recorded, check_folder, record};

use super::args::SurfaceArgs;
use super::output::{Answer, progress};

#[derive(Debug, Args)]
#[command(
    after_help = "Ctrl-C ends it early and leaves a whole recording. Ask it \"what if\" with any \
                        rules:\nseechange wait stable --surface replay:DIR --captures 2\n\n\
                        Exit code: 0 recorded, 2 trouble."
)]
pub(super) struct RecordArgs {
    /// The folder: new, empty, or an earlier recording, which is replaced.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    surface: SurfaceArgs,
    /// How long to record, such as 10s or 2m.
    #[arg(long, visible_alias = "for", value_name = "D", default_value = "60s", value_parser = parse_duration, allow_hyphen_values = true)]
    timeout: Duration,
    /// How large the folder may become: megabytes, or with KB, MB or GB.
    #[arg(long, value_name = "MB", default_value = "512", value_parser = parse_size, allow_hyphen_values = true)]
    max_size: u64,
    /// The average time between two looks; each gap is 0.6 to 1.4 of it.
    #[arg(long, value_name = "D", default_value = "50ms", value_parser = parse_duration, allow_hyphen_values = true)]
    interval: Duration,
    /// Seeds the irregular gaps between looks: the same seed gives the same gaps.
    #[arg(long, value_name = "N", default_value_t = 0, allow_hyphen_values = true)]
    seed: u64,
    /// Record only this part, without grabbing the rest.
    #[arg(long, value_name = "X,Y,W,H", allow_hyphen_values = true)]
    region: Option<Rect>,
    /// One JSON object on stdout, everything else on stderr.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &RecordArgs, cancel: &Cancel) -> Result<Answer> {
    check_folder(&args.folder)?;
    let mut opened = args.surface.name()?.open()?;
    let clock = opened.clock.clone();
    let options = args.options();
    let mut ticker = Ticker::new();
    let mut watch = |so_far: &Progress| ticker.show(so_far);
    let recorded = record(opened.source(), &args.folder, &options, &clock, cancel, &mut watch);
    ticker.clear();
    let recorded = recorded?;
    Ok(Answer {
        text: text(&args.folder, &recorded),
        json: wire::record(&args.folder, &recorded),
        code: 0,
    })
}

impl RecordArgs {
    fn options(&self) -> RecordOptions {
        RecordOptions::new()
            .length(self.timeout)
            .interval(self.interval)
            .seed(self.seed)
            .max_bytes(self.max_size)
            .region(self.region)
    }
}

/// How far it is, on a terminal.
struct Ticker {
    is_terminal: bool,
    shown_at: Option<Duration>,
}

/// How often the line is drawn again.
const TICK: Duration = Duration::from_millis(200);

impl Ticker {
    fn new() -> Self {
        Self { is_terminal: io::stderr().is_terminal(), shown_at: None }
    }

    fn show(&mut self, so_far: &Progress) {
        let is_new = self.shown_at.is_none_or(|at| so_far.length.saturating_sub(at) >= TICK);
        if self.is_terminal && is_new {
            progress(&format!("recording {}; Ctrl-C ends it", amount(so_far)));
            self.shown_at = Some(so_far.length);
        }
    }

    fn clear(&self) {
        if self.shown_at.is_some() {
            progress("");
        }
    }
}

fn amount(so_far: &Progress) -> String {
    let Progress { length, looks, pictures, bytes, .. } = so_far;
    let seconds = length.as_secs_f64();
    let pictures = counted(*pictures, "picture");
    format!("{seconds:.1} s: {}, {pictures}, {}", counted(*looks, "look"), size(*bytes))
}

fn counted(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// In the unit a person would use.
fn size(bytes: u64) -> String {
    let tenths = |unit: u64| format!("{}.{}", bytes / unit, bytes % unit / (unit / 10));
    match bytes {
        0..100_000 => format!("{} KB", tenths(1000)),
        _ => format!("{} MB", tenths(1_000_000)),
    }
}

fn text(folder: &Path, recorded: &Recorded) -> String {
    let Recorded { ended, progress: held } = recorded;
    let why = match ended {
        Ended::Size => "; it ended at its size limit (--max-size)",
        Ended::Cancelled => "; it was ended early",
        Ended::Resized => "; it ended when the surface took another size",
        _ => "",
    };
    let mut lines = vec![format!("recorded {} in {}{why}", amount(held), folder.display())];
    if held.without_picture > 0 {
        lines.push(format!("{} of the looks got no picture", held.without_picture));
    }
    if held.dropped > 0 {
        lines.push(format!(
            "mind: {} of the pictures came faster than they could be written and are missing; \
             their looks count as failed. A longer --interval or a --region helps",
            held.dropped
        ));
    }
    lines.join("\n")
}

/// Reads `200` (megabytes), `500KB`, `200MB` or `2GB`, in thousands, as disks are sold.
fn parse_size(text: &str) -> Result<u64> {
    let wrong = || {
        Error::usage(format!(
            "size '{text}' is not a number of megabytes, or with KB, MB or GB, such as 200 or 2GB"
        ))
    };
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "KB" => 1_000_u64,
        "" | "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(unit).filter(|bytes| *bytes > 0).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_or_are_megabytes() {
        for (text, bytes) in [
            ("200", Some(200_000_000)),
            ("500KB", Some(500_000)),
            ("2gb", Some(2_000_000_000)),
            ("0", None),
            ("", None),
            ("-1", None),
            ("1.5", None),
            ("5 MB", None),
            ("5TB", None),
            ("99999999999GB", None),
        ] {
            assert_eq!(parse_size(text).ok(), bytes, "{text}");
        }
    }

    #[test]
    fn amounts_are_told_in_the_unit_a_person_would_use() {
        for (bytes, told) in
            [(0, "0.0 KB"), (99_950, "99.9 KB"), (100_000, "0.1 MB"), (512_340_000, "512.3 MB")]
        {
            assert_eq!(size(bytes), told);
        }
    }
}
