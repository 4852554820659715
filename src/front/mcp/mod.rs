//! `seechange mcp`: the executor and the waits as tools of the Model Context Protocol, on stdin and
//! stdout.
//!
//! Each session's surface lives on a thread of its own, where one call after the other is carried
//! out ([`session`]); a server of a page may have several ([`sessions`]). Only what speaks the
//! protocol is async ([`server`], [`stdio`]). stdout carries the protocol and nothing else.

mod answer;
mod gate;
mod images;
mod opening;
mod running;
mod schema;
mod server;
mod session;
mod sessions;
mod stdio;
mod tools;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt as _;

use crate::clock::{Cancel, Clock};
use crate::error::{Error, Result};

use super::cli::act::permission::Permission;
use super::cli::surface::SurfaceName;
use running::Running;
use schema::On;
use server::Server;
use sessions::Sessions;
use stdio::Stdio;

/// What a server is started with.
#[derive(Clone)]
pub(crate) struct Options {
    /// What is seen and driven.
    pub(crate) surface: SurfaceName,
    /// What is allowed, by a file that may change.
    pub(crate) permission: Arc<Permission>,
    /// Whether tools that send input are offered.
    pub(crate) is_read_only: bool,
    /// The longest edge of an image that is given.
    pub(crate) max_edge: u32,
    /// Where pictures are also kept.
    pub(crate) out: Option<PathBuf>,
    /// The folder whose pictures conditions may name.
    pub(crate) images: Option<PathBuf>,
}

impl Options {
    /// What the tools act on.
    const fn on(&self) -> On {
        match self.surface {
            SurfaceName::Browser(..) => On::Page,
            _ => On::Screen,
        }
    }

    /// The address of the page that is opened.
    fn address(&self) -> Option<String> {
        match &self.surface {
            SurfaceName::Browser(address, _) => Some(address.clone()),
            _ => None,
        }
    }
}

/// Serves one client until it ends stdin, reads no more, or `ended` is thrown. Whatever runs then
/// is cancelled, and what it holds let go of, before this returns.
///
/// # Errors
/// When the surface cannot be opened.
pub(crate) fn serve(options: Options, ended: &Cancel) -> Result<()> {
    let running = Running::new();
    let sessions = Sessions::start(options.clone(), running.clone())?;
    let server = Server::new(options, sessions.clone(), running.clone());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|error| Error::io("the server cannot be started", error))?;
    let (stdio, written) = Stdio::open(&running);
    end_with(ended, stdio.ender(), &running);
    runtime.block_on(async {
        match server.serve(stdio).await {
            Ok(service) => drop(service.waiting().await),
            // The client left, or was told why not, before anything was asked.
            Err(error) => drop(error),
        }
    });
    // What still runs is let go of by threads of their own: the process must not end before.
    running.end();
    drop(runtime);
    let ended = sessions.end();
    written.wait();
    ended
}

/// Ends the session as the end of stdin would when `ended` is thrown.
fn end_with(ended: &Cancel, ender: stdio::Ender, running: &Running) {
    let (ended, running) = (ended.clone(), running.clone());
    std::thread::spawn(move || {
        let clock = Clock::system();
        let long = Duration::from_secs(3600);
        while clock.sleep_until(clock.now() + long, &ended) {}
        running.end();
        ender.end();
    });
}
