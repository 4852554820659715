//! The `seechange` command: arguments in, one answer out, exit code 0, 1 or 2.

mod accept;
pub(in crate::front) mod act;
pub(in crate::front) mod args;
mod bench;
mod capture;
mod compare;
mod condition;
mod demo;
mod diff;
pub(in crate::front) mod doctor;
mod mcp;
pub(in crate::front) mod output;
mod record;
pub(in crate::front) mod surface;
mod wait;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::clock::Cancel;
use crate::error::Result;

use output::Trouble;

/// See what changed; wait until it has.
#[derive(Debug, Parser)]
#[command(name = "seechange", version, about, max_term_width = 100, arg_required_else_help = true)]
#[command(
    after_help = "Exit code: 0 same, met or delivered; 1 changed, of another size, not met, \
                        refused or unknown;\n2 trouble: bad usage, an unreadable file, no display."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[expect(clippy::large_enum_variant, reason = "there is one, and it is read once")]
#[derive(Debug, Subcommand)]
enum Command {
    /// Two pictures: verdict, numbered areas, pictures.
    Diff(diff::DiffArgs),
    /// Two folders: every pair in parallel, with a page, JSON and JUnit of what changed.
    Compare(compare::FoldersCommand),
    /// Chosen actual pictures of a comparison become the golden ones.
    Accept(accept::AcceptArgs),
    /// How long decoding, comparing and drawing two pictures take, beside a memcmp.
    Bench(bench::BenchArgs),
    /// One look at a surface, as a picture.
    Capture(capture::CaptureArgs),
    /// Waits until something is seen: stable, changed, matches PNG, appears PNG or gone PNG.
    Wait(wait::WaitArgs),
    /// One action, or a stream of them, and what each changed.
    Act(act::ActArgs),
    /// A surface into a folder, from which every wait can be asked again: what if.
    Record(record::RecordArgs),
    /// The whole loop on a built-in simulated screen: needs no display.
    Demo(demo::DemoArgs),
    /// The same for an agent, over the Model Context Protocol on stdin and stdout.
    Mcp(mcp::McpArgs),
    /// What works here, what is in the way, and what is held down.
    Doctor(doctor::DoctorArgs),
}

/// Runs the command with the arguments of this process.
#[must_use]
pub fn run() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let options = arguments.iter().take_while(|argument| *argument != "--");
    let wants_json = options.into_iter().any(|argument| argument == "--json");
    match Cli::try_parse_from(&arguments) {
        Ok(cli) => match carry_out(cli.command, wants_json) {
            Ok(code) => code,
            Err(error) => Trouble::from(error).print(wants_json),
        },
        Err(error) => output::usage(&error, wants_json),
    }
}

fn carry_out(command: Command, wants_json: bool) -> Result<ExitCode> {
    let answer = match command {
        Command::Diff(args) => diff::run(&args)?,
        Command::Compare(args) => compare::run(&args)?,
        Command::Accept(args) => accept::run(&args)?,
        Command::Bench(args) => bench::run(&args)?,
        Command::Capture(args) => capture::run(&args)?,
        Command::Wait(args) => wait::run(&args, &cancel_on_signal()?)?,
        Command::Act(args) => return act::run(&args),
        Command::Record(args) => record::run(&args, &cancel_on_signal()?)?,
        Command::Demo(args) => demo::run(&args)?,
        Command::Mcp(args) => return mcp::run(&args),
        Command::Doctor(args) => doctor::run(&args)?,
    };
    Ok(answer.print(wants_json))
}

/// A switch thrown by Ctrl-C, SIGTERM, SIGHUP and SIGQUIT, so that a wait or an action can end with its
/// evidence and let go of what it holds.
pub(crate) fn cancel_on_signal() -> Result<Cancel> {
    let cancel = Cancel::new();
    let switch = cancel.clone();
    ctrlc::set_handler(move || switch.cancel()).map_err(no_handler)?;
    on_quit(&cancel)?;
    Ok(cancel)
}

/// Ctrl-\ too must leave nothing pressed.
#[cfg(unix)]
fn on_quit(cancel: &Cancel) -> Result<()> {
    use signal_hook::consts::SIGQUIT;
    use signal_hook::iterator::Signals;

    let mut signals = Signals::new([SIGQUIT]).map_err(no_handler)?;
    let switch = cancel.clone();
    let wait = move || signals.forever().for_each(|_| switch.cancel());
    let thread = std::thread::Builder::new().name("seechange-quit".to_owned());
    thread.spawn(wait).map(drop).map_err(no_handler)
}

#[cfg(not(unix))]
fn on_quit(_: &Cancel) -> Result<()> {
    Ok(())
}

fn no_handler(error: impl std::error::Error + Send + Sync + 'static) -> crate::error::Error {
    crate::error::Error::surface("the signal handler cannot be installed").with_source(error)
}
