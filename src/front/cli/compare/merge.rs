//! `seechange compare merge REPORT…`.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::{Error, Result};
use crate::front::folders::{Part, ReportFolder, merge, read_report};

use super::super::output::Answer;
use super::{finish, summary_file};

#[derive(Debug, Args)]
pub(super) struct MergeArgs {
    /// The report folders of all shards, or their report.json.
    #[arg(required = true)]
    reports: Vec<PathBuf>,
    /// The folder the joined report is written to.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Put all pictures into index.html itself, to send it around as one file.
    #[arg(long)]
    single_file: bool,
    /// Add a table of what changed to the summary of this GitHub step, the file that
    /// $GITHUB_STEP_SUMMARY names.
    #[arg(long)]
    github_summary: bool,
    /// One JSON object on stdout, everything else on stderr.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &MergeArgs) -> Result<Answer> {
    let summary = summary_file(args.github_summary)?;
    let parts =
        args.reports.iter().map(PathBuf::as_path).map(read).collect::<Result<Vec<Part>>>()?;
    let out = args.out.canonicalize().ok();
    let is_out = |part: &&Part| out.is_some() && part.0.canonicalize().ok() == out;
    if let Some((place, _)) = parts.iter().find(is_out) {
        return Err(Error::usage(format!(
            "{}: --out would replace this report; give it another folder",
            place.display()
        )));
    }
    let folder = ReportFolder::open(&args.out)?;
    let report = merge(&parts, &folder)?;
    finish(&report, Some(folder), args.single_file, summary.as_deref())
}

fn read(place: &Path) -> Result<Part> {
    read_report(place)?.ok_or_else(|| {
        Error::file(format!("{}: there is no report.json in this folder", place.display()))
    })
}
