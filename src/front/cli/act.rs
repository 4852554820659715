//! `seechange act`: one action, or a stream of them, and what each changed.

mod lines;
mod short;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::act::{
    Action, Executor, ExecutorOptions, Policy, Receipt, Refusal, Request, Status, Surface,
    action_names,
};
use crate::clock::{Cancel, Clock};
use crate::error::{Error, Result};
use crate::front::wire;
use crate::report::Preset;

use super::args::{CompareArgs, OutputArgs, SurfaceArgs};
use super::output::{Answer, say};

use lines::{Line, Lines};
use short::FieldArgs;

#[derive(Debug, Args)]
#[command(after_help = "Short forms, where points are pixels of the surface:
  observe | click X Y | right_click X Y | double_click X Y | hover X Y
  drag FROM_X FROM_Y TO_X TO_Y | scroll X Y --dy N --dx N
  key ctrl+s | hotkey ctrl s | select_all | type_text TEXT | wait SECONDS")]
pub(super) struct ActArgs {
    /// An action's name and its values, a file ACTION.json, or - to read one JSON action a line
    /// and answer one receipt a line.
    #[arg(required = true, value_name = "ACTION", allow_negative_numbers = true)]
    words: Vec<String>,
    #[command(flatten)]
    fields: FieldArgs,
    /// Refuse every action that sends input.
    #[arg(long)]
    read_only: bool,
    /// Give points in an image whose longest edge is at most this, instead of in surface pixels.
    #[arg(long, value_name = "N")]
    max_edge: Option<u32>,
    #[command(flatten)]
    pub(super) surface: SurfaceArgs,
    #[command(flatten)]
    compare: CompareArgs,
    #[command(flatten)]
    output: OutputArgs,
}
