//! `seechange capture`.

use crate::error::{Error, Result};

use super::args::CaptureArgs;
use super::output::Answer;

pub(super) fn run(args: &CaptureArgs) -> Result<Answer> {
    Err(Error::surface(format!("{:?} cannot be opened", args.surface.surface)))
}
