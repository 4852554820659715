//! What a run of `act` is allowed to do: a policy file, narrowed by options, and watched.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::Args;

use crate::act::{Access, Policy};
use crate::clock::{Cancel, Clock};
use crate::error::{Error, Result};
use crate::front::wire;

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "What is allowed")]
pub(in crate::front) struct PolicyArgs {
    /// A JSON file that says which actions, keys, texts, regions and windows are allowed; see the
    /// README. It is read again while actions run: once it is gone or forbids what is running,
    /// that stops and nothing more is sent.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Refuse every action that sends input.
    #[arg(long)]
    read_only: bool,
    /// Send no other input than these actions, such as click,key. A hold or a sequence must be
    /// named beside what is in it.
    #[arg(long, value_name = "ACTION,ACTION", value_delimiter = ',')]
    allow_actions: Vec<String>,
    /// Refuse these actions, also inside others.
    #[arg(long, value_name = "ACTION,ACTION", value_delimiter = ',')]
    deny_actions: Vec<String>,
}

impl PolicyArgs {
    /// What the options say by themselves.
    fn narrow(&self, mut policy: Policy) -> Result<Policy> {
        let known = |option: &str, names: &[String]| {
            let known = names.iter().map(|name| wire::known_action(&name.replace('-', "_")));
            let known = known.collect::<Result<Vec<String>, _>>();
            known.map_err(|refusal| Error::usage(format!("{option}: {refusal}")))
        };
        if self.read_only {
            policy = policy.without_input();
        }
        if !self.allow_actions.is_empty() {
            policy = policy.allow_only(known("--allow-actions", &self.allow_actions)?);
        }
        let denied = known("--deny-actions", &self.deny_actions)?;
        Ok(denied.into_iter().fold(policy, Policy::deny))
    }

    /// Whether no input may be sent whatever a file says.
    #[cfg(feature = "mcp")]
    pub(in crate::front) const fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// What is allowed, and the watch over the file it comes from.
    ///
    /// # Errors
    /// When the file is no policy, or an option names no action.
    pub(in crate::front) fn open(&self) -> Result<Permission> {
        let base = self.narrow(Policy::allow_all())?;
        let Some(path) = &self.policy else {
            let access = Access::new(base);
            return Ok(Permission {
                access,
                watch: None,
                #[cfg(feature = "mcp")]
                args: self.clone(),
            });
        };
        let bytes = read(path)?;
        let access = Access::new(self.narrow(parsed(path, &bytes)?)?);
        let watched = Watched {
            args: self.clone(),
            path: path.clone(),
            last: Some(bytes),
            access: access.clone(),
        };
        Ok(Permission {
            access,
            watch: Some(Watch::over(watched)),
            #[cfg(feature = "mcp")]
            args: self.clone(),
        })
    }
}

/// What is allowed now.
pub(in crate::front) struct Permission {
    pub(in crate::front) access: Access,
    watch: Option<Watch>,
    /// What it was opened from.
    #[cfg(feature = "mcp")]
    args: PolicyArgs,
}

impl Permission {
    /// The same for a session that is read-only, with a watch of its own.
    ///
    /// # Errors
    /// When the file is no policy any more.
    #[cfg(feature = "mcp")]
    pub(in crate::front) fn read_only(&self) -> Result<Self> {
        PolicyArgs { read_only: true, ..self.args.clone() }.open()
    }

    /// Reads the file again.
    pub(in crate::front) fn refresh(&self) {
        if let Some(watch) = &self.watch {
            lock(&watch.watched).refresh();
        }
    }
}

struct Watched {
    args: PolicyArgs,
    path: PathBuf,
    /// What it held; `None` when it could not be read.
    last: Option<Vec<u8>>,
    access: Access,
}

impl Watched {
    /// Puts in force what the file says now, if that is something else than before. What cannot be
    /// read allows nothing.
    fn refresh(&mut self) {
        let bytes = read(&self.path);
        if let (Ok(bytes), Some(last)) = (&bytes, &self.last)
            && bytes == last
        {
            return;
        }
        let policy = bytes.as_ref().map_err(ToString::to_string).and_then(|bytes| {
            let policy = parsed(&self.path, bytes).and_then(|policy| self.args.narrow(policy));
            policy.map_err(|error| error.to_string())
        });
        self.last = bytes.ok();
        self.access.set(policy.unwrap_or_else(Policy::nothing));
    }
}

/// A thread that reads the file again until it is dropped.
struct Watch {
    watched: Arc<Mutex<Watched>>,
    end: Cancel,
}

/// From one look at the file to the next.
const INTERVAL: Duration = Duration::from_millis(100);

impl Watch {
    fn over(watched: Watched) -> Self {
        let (watched, end) = (Arc::new(Mutex::new(watched)), Cancel::new());
        let (twin, ends) = (watched.clone(), end.clone());
        std::thread::spawn(move || {
            let clock = Clock::system();
            while clock.sleep_until(clock.now() + INTERVAL, &ends) {
                lock(&twin).refresh();
            }
        });
        Self { watched, end }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end.cancel();
    }
}

/// A refresh that panicked left the policy that was in force before.
fn lock(watched: &Mutex<Watched>) -> MutexGuard<'_, Watched> {
    watched.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The bytes of the file. A pipe or a device is none: waiting for it would leave in force what it
/// may be there to forbid.
fn read(path: &Path) -> Result<Vec<u8>> {
    let cannot = |error| Error::io(format!("the policy {} cannot be read", path.display()), error);
    if !fs::metadata(path).map_err(cannot)?.is_file() {
        return Err(Error::file(format!("the policy {} is not a file", path.display())));
    }
    let mut bytes = Vec::new();
    let most = wire::act::MAX_BYTES as u64 + 1;
    fs::File::open(path)
        .and_then(|file| file.take(most).read_to_end(&mut bytes))
        .map_err(cannot)?;
    Ok(bytes)
}

fn parsed(path: &Path, bytes: &[u8]) -> Result<Policy> {
    wire::policy(bytes).map_err(|refusal| Error::usage(format!("{}: {refusal}", path.display())))
}
