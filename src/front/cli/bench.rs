//! `seechange bench BEFORE AFTER`: what each stage of a diff costs, beside a memcmp.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::frame::{self, Frame, encode_png};
use crate::geometry::Size;
use crate::report::{ChangeReport, DiffOptions, Differ, Preset, Stage, diff_picture, pictures};

use super::args::CompareArgs;
use super::output::Answer;

#[derive(Debug, Args)]
#[command(
    after_help = "memcmp reads two equal copies of the frame before; decode reads and decodes both \
                        files, one a\nthread; diff and areas are the two stages of the comparison; \
                        pictures draws and encodes what\n--out would write. ns/pixel, GB/s (of the \
                        bytes of both frames) and the ratio to memcmp are of the\nminimum.\n\n\
                        Exit code: 0 whatever the verdict, 2 trouble."
)]
pub(super) struct BenchArgs {
    /// The picture before.
    before: PathBuf,
    /// The picture after.
    after: PathBuf,
    /// When the sizes differ, time the part they have in common.
    #[arg(long)]
    common_part: bool,
    /// How often each stage runs. Default: for a second each, 5 to 1000 times.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), allow_hyphen_values = true)]
    rounds: Option<u32>,
    #[command(flatten)]
    compare: CompareArgs,
    /// One JSON object on stdout, everything else on stderr.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &BenchArgs) -> Result<Answer> {
    let options = args.compare.options(Preset::Golden)?.common_part(args.common_part);
    let (before, after) = read_both(args)?;
    if before.size() != after.size() && !args.common_part {
        return Err(Error::usage(format!(
            "pictures of {} and {} cannot be timed pixel by pixel: use --common-part",
            before.size(),
            after.size()
        )));
    }
    let (clock, often) = (Clock::system(), Often { rounds: args.rounds });
    let mut timed = vec![decode(args, &clock, often)?];
    let (compared, report) = compare(&before, &after, &options, &clock, often)?;
    timed.extend(compared);
    timed.push(draw(&report, &before, &after, &options, &clock, often)?);
    timed.swap(0, 1);
    let bench = Bench { size: before.size().common(after.size()), report, timed };
    Ok(Answer { text: bench.text(), json: bench.json(), code: 0 })
}

fn read_both(args: &BenchArgs) -> Result<(Frame, Frame)> {
    let (before, after) = rayon::join(|| frame::read(&args.before), || frame::read(&args.after));
    Ok((before?, after?))
}

fn decode(args: &BenchArgs, clock: &Clock, often: Often) -> Result<Timed> {
    let [times] = often.repeat(clock, || {
        let start = clock.now();
        black_box(read_both(args)?);
        Ok([clock.now() - start])
    })?;
    Ok(Timed { name: "decode", times })
}

/// memcmp, diff and areas in turn, so that what else the machine does falls on all of them.
fn compare(
    before: &Frame,
    after: &Frame,
    options: &DiffOptions,
    clock: &Clock,
    often: Often,
) -> Result<([Timed; 4], ChangeReport)> {
    let plain = before.crop(before.size().common(after.size()).rect())?;
    let twin = plain.clone();
    let mut differ = Differ::new(options.clone());
    let mut report = differ.compare(before.as_ref(), after.as_ref())?;
    let [memcmp, diff, areas, both] = often.repeat(clock, || {
        let start = clock.now();
        black_box(black_box(plain.data()) == black_box(twin.data()));
        let memcmp_end = clock.now();
        let mut diff_end = memcmp_end;
        report = differ.compare_in_stages(before.as_ref(), after.as_ref(), &mut |stage| {
            if stage == Stage::Diff {
                diff_end = clock.now();
            }
        })?;
        let end = clock.now();
        Ok([memcmp_end - start, diff_end - memcmp_end, end - diff_end, end - memcmp_end])
    })?;
    let timed = [("memcmp", memcmp), ("diff", diff), ("areas", areas), ("diff + areas", both)];
    Ok((timed.map(|(name, times)| Timed { name, times }), report))
}

fn draw(
    report: &ChangeReport,
    before: &Frame,
    after: &Frame,
    options: &DiffOptions,
    clock: &Clock,
    often: Often,
) -> Result<Timed> {
    let [times] = often.repeat(clock, || {
        let start = clock.now();
        let mut drawn = pictures(report, before.as_ref(), after.as_ref())?;
        if !drawn.is_empty() && before.size() == after.size() {
            drawn.push(diff_picture(before.as_ref(), after.as_ref(), options)?);
        }
        for picture in &drawn {
            black_box(encode_png(&picture.frame)?);
        }
        Ok([clock.now() - start])
    })?;
    Ok(Timed { name: "pictures", times })
}

/// How often a stage is repeated: as asked, or for a while.
#[derive(Clone, Copy, Debug)]
struct Often {
    rounds: Option<u32>,
}

impl Often {
    const WHILE: Duration = Duration::from_secs(1);
    const FEWEST: usize = 5;
    const MOST: usize = 1000;

    /// The times of `N` things that `round` measures, after one round that does not count.
    fn repeat<const N: usize>(
        self,
        clock: &Clock,
        mut round: impl FnMut() -> Result<[Duration; N]>,
    ) -> Result<[Vec<Duration>; N]> {
        round()?;
        let start = clock.now();
        let mut all = std::array::from_fn(|_| Vec::new());
        for done in 0.. {
            if self.is_enough(done, clock.now() - start) {
                break;
            }
            for (times, time) in all.iter_mut().zip(round()?) {
                times.push(time);
            }
        }
        Ok(all)
    }

    fn is_enough(self, done: usize, taken: Duration) -> bool {
        match self.rounds {
            Some(rounds) => done >= rounds as usize,
            None => done >= Self::MOST || (done >= Self::FEWEST && taken >= Self::WHILE),
        }
    }
}

/// A stage and how long it took each time; at least once.
#[derive(Clone, Debug)]
struct Timed {
    name: &'static str,
    times: Vec<Duration>,
}

impl Timed {
    fn min(&self) -> Duration {
        self.times.iter().min().copied().unwrap_or_default()
    }

    /// The one in the middle; of an even number the earlier of the two.
    fn median(&self) -> Duration {
        let mut sorted = self.times.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or_default()
    }
}

/// All that was measured of one pair.
struct Bench {
    size: Size,
    report: ChangeReport,
    timed: Vec<Timed>,
}

/// What a time means for frames of a size.
struct Figures {
    ns_per_pixel: f64,
    gigabytes_per_second: f64,
    memcmp_ratio: f64,
}

impl Bench {
    #[expect(clippy::cast_precision_loss, reason = "a picture has at most 2^28 pixels")]
    fn figures(&self, timed: &Timed) -> Figures {
        // A stage quicker than the clock ticks took a nanosecond, not nothing.
        let ns = |timed: &Timed| (timed.min().as_secs_f64() * 1e9).max(1.0);
        let pixels = self.size.pixels() as f64;
        let memcmp = self.timed.iter().find(|one| one.name == "memcmp").map_or(1.0, ns);
        Figures {
            ns_per_pixel: ns(timed) / pixels,
            gigabytes_per_second: pixels * 8.0 / ns(timed),
            memcmp_ratio: ns(timed) / memcmp,
        }
    }

    fn text(&self) -> String {
        let areas = self.report.areas.len();
        let mut lines = vec![
            format!(
                "{}: {}, {areas} area{}",
                self.size,
                self.report.verdict.name(),
                if areas == 1 { "" } else { "s" }
            ),
            format!(
                "{:<13}{:>7}{:>10}{:>11}{:>10}{:>8}{:>9}",
                "stage", "rounds", "min ms", "median ms", "ns/pixel", "GB/s", "memcmp"
            ),
        ];
        lines.extend(self.timed.iter().map(|timed| self.line(timed)));
        lines.join("\n")
    }

    fn line(&self, timed: &Timed) -> String {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let figures = self.figures(timed);
        format!(
            "{:<13}{:>7}{:>10.3}{:>11.3}{:>10.3}{:>8.1}{:>8.2}x",
            timed.name,
            timed.times.len(),
            ms(timed.min()),
            ms(timed.median()),
            figures.ns_per_pixel,
            figures.gigabytes_per_second,
            figures.memcmp_ratio
        )
    }

    /// `seechange.bench/1`.
    fn json(&self) -> Value {
        let size = |size: Size| json!({"width": size.width(), "height": size.height()});
        json!({
            "schema": "seechange.bench/1",
            "verdict": self.report.verdict.name(),
            "before": size(self.report.before),
            "after": size(self.report.after),
            "compared_pixels": self.report.compared_pixels,
            "changed_pixels": self.report.changed_pixels,
            "areas": self.report.areas.len(),
            "stages": self.timed.iter().map(|timed| self.stage(timed)).collect::<Vec<_>>(),
        })
    }

    fn stage(&self, timed: &Timed) -> Value {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let figures = self.figures(timed);
        json!({
            "name": timed.name,
            "rounds": timed.times.len(),
            "min_ms": ms(timed.min()),
            "median_ms": ms(timed.median()),
            "ns_per_pixel": figures.ns_per_pixel,
            "gigabytes_per_second": figures.gigabytes_per_second,
            "memcmp_ratio": figures.memcmp_ratio,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    #[test]
    fn a_stage_runs_as_often_as_asked_or_for_a_second() {
        for (asked, round, rounds) in [
            (Some(3), 700, 3),
            (Some(1), 0, 1),
            (None, 700, 5),
            (None, 100, 10),
            (None, 10, 100),
            (None, 0, 1000),
        ] {
            let clock = Clock::simulated();
            let mut runs = 0;
            let [times] = Often { rounds: asked }
                .repeat(&clock, || {
                    runs += 1;
                    clock.sleep(ms(round));
                    Ok([ms(round)])
                })
                .unwrap();
            assert_eq!(times, vec![ms(round); rounds], "{asked:?} {round}");
            assert_eq!(runs, rounds + 1, "the first does not count");
        }
    }

    #[test]
    fn figures_are_of_the_minimum() {
        let size = Size::new(1000, 500).unwrap();
        let report = Differ::new(DiffOptions::preset(Preset::Exact)).identical(size).unwrap();
        let timed = |name, times: &[u64]| Timed {
            name,
            times: times.iter().map(|time| Duration::from_micros(*time)).collect(),
        };
        let timed = vec![timed("memcmp", &[500, 400]), timed("diff", &[700, 500, 600, 4000])];
        let bench = Bench { size, report, timed };
        assert_eq!(
            bench.text(),
            "1000x500: same, 0 areas
stage         rounds    min ms  median ms  ns/pixel    GB/s   memcmp
memcmp             2     0.400      0.400     0.800    10.0    1.00x
diff               4     0.500      0.600     1.000     8.0    1.25x"
        );
        assert_eq!(
            bench.json(),
            json!({
                "schema": "seechange.bench/1", "verdict": "same", "compared_pixels": 500_000,
                "changed_pixels": 0, "areas": 0, "before": {"width": 1000, "height": 500},
                "after": {"width": 1000, "height": 500}, "stages": [
                    {"name": "memcmp", "rounds": 2, "min_ms": 0.4, "median_ms": 0.4,
                     "ns_per_pixel": 0.8, "gigabytes_per_second": 10.0, "memcmp_ratio": 1.0},
                    {"name": "diff", "rounds": 4, "min_ms": 0.5, "median_ms": 0.6,
                     "ns_per_pixel": 1.0, "gigabytes_per_second": 8.0, "memcmp_ratio": 1.25},
                ],
            })
        );
    }
}
