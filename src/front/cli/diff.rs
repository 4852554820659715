//! `seechange diff BEFORE AFTER`.

use std::path::PathBuf;

use clap::Args;

use crate::error::{Error, Result};
use crate::frame::{self, Pair};
use crate::front::change::{Showing, show, show_same};
use crate::front::pictures::keep_inputs;
use crate::report::{Differ, Preset, Verdict};

use super::args::{CompareArgs, OutputArgs};
use super::output::Answer;

#[derive(Debug, Args)]
#[command(
    after_help = "Areas are numbered largest first. --out DIR gets overview.png, crops of the \
                        first three\n(area-1-before.png, ...) and diff.png: changed pixels red, \
                        those of a block that moved blue,\nthose set aside orange, what is not \
                        compared dark.\n\n\
                        Exit code: 0 same, 1 changed or of another size, 2 trouble."
)]
pub(super) struct DiffArgs {
    /// The picture before.
    before: PathBuf,
    /// The picture after.
    after: PathBuf,
    /// When the sizes differ, also compare the part they have in common.
    #[arg(long)]
    common_part: bool,
    #[command(flatten)]
    compare: CompareArgs,
    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(args: &DiffArgs) -> Result<Answer> {
    let inputs = [&args.before, &args.after].into_iter().chain(&args.compare.mask);
    keep_inputs(args.output.out.as_deref(), inputs.map(PathBuf::as_path))?;
    let named = |error: Error| match &args.compare.mask {
        Some(mask) if error.to_string().starts_with("the mask is ") => {
            error.context(format!("{} and {}", mask.display(), args.before.display()))
        }
        _ => error,
    };
    let options = args.compare.options(Preset::Golden)?.common_part(args.common_part);
    let showing =
        Showing { out: args.output.out.as_deref(), diff: Some(&options), ..Showing::default() };
    let mut differ = Differ::new(options.clone());
    let (verdict, shown) = match frame::read_pair(&args.before, &args.after)? {
        Pair::Identical(size) => {
            let report = differ.identical(size).map_err(named)?;
            (report.verdict, show_same(&report, showing)?)
        }
        Pair::Decoded(before, after) => {
            let report = differ.compare(before.as_ref(), after.as_ref()).map_err(named)?;
            (report.verdict, show(&report, before.as_ref(), after.as_ref(), showing)?)
        }
    };
    let code = u8::from(verdict != Verdict::Same);
    Ok(Answer { text: shown.text, json: shown.json, code })
}
