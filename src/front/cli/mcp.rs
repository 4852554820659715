//! `seechange mcp`: what the server is started with.

use std::path::PathBuf;
use std::process::ExitCode;
#[cfg(feature = "mcp")]
use std::sync::Arc;

use clap::Args;

use crate::error::Result;

use super::act::permission::PolicyArgs;
use super::args::SurfaceArgs;

#[derive(Debug, Args)]
#[command(
    after_help = "Speaks the Model Context Protocol on stdin and stdout, one JSON message a \
                        line, until stdin ends\nor SIGINT or SIGTERM comes: then whatever runs is \
                        cancelled and what it holds let go of.\n\n\
                        Exit code: 0 the client has ended it, 2 trouble."
)]
pub(super) struct McpArgs {
    #[command(flatten)]
    surface: SurfaceArgs,
    /// Drive a page in a browser of its own: --surface browser:URL. Without an address it is an
    /// empty page, which the tool navigate leaves.
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "about:blank", conflicts_with = "surface")]
    browser: Option<String>,
    /// The longest edge of an image that is given. Points are pixels of the image.
    #[arg(long, value_name = "N", default_value_t = 1568, value_parser = clap::value_parser!(u32).range(1..))]
    max_edge: u32,
    /// Also keep the pictures in this folder, in a folder of their own for each observation;
    /// without it nothing is written.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Let conditions name pictures in this folder; without it no file is read, and they show what
    /// stood in an observation.
    #[arg(long, value_name = "DIR")]
    images: Option<PathBuf>,
    // Last, for the heading it begins holds for all that follows.
    #[command(flatten)]
    policy: PolicyArgs,
}

/// Serves until the client has ended it.
///
/// # Errors
/// When the surface cannot be opened, or this build has no server.
#[cfg(feature = "mcp")]
pub(super) fn run(args: &McpArgs) -> Result<ExitCode> {
    use crate::front::mcp::{Options, serve};
    use crate::front::pictures::check_out;

    check_out(args.out.as_deref(), &[])?;

    let options = Options {
        surface: match &args.browser {
            Some(url) => args.surface.of_page(url)?,
            None => args.surface.name()?,
        },
        permission: Arc::new(args.policy.open()?),
        is_read_only: args.policy.is_read_only(),
        max_edge: args.max_edge,
        out: args.out.clone(),
        images: args.images.clone(),
    };
    serve(options, &super::cancel_on_signal()?)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(not(feature = "mcp"))]
pub(super) fn run(_: &McpArgs) -> Result<ExitCode> {
    Err(crate::error::Error::usage("this build has no mcp: build it with --features mcp"))
}
