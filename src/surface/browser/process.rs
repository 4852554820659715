//! A browser of one's own: started with a profile folder that goes when it goes.
//!
//! It is spoken to through two pipes, not over a port: nobody else can speak to it, and when this
//! process ends in whatever way, the pipes end and the browser ends with them. A shell waits for
//! that and removes the profile folder. Where even the shell was killed, the next start does it:
//! a folder is in use as long as somebody holds the lock in it.

use std::env;
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{self, Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, geteuid, kill_process_group};

use crate::clock::Clock;
use crate::error::{Error, Result};

use super::BrowserOptions;

/// Names a browser goes by, the first that is there is taken.
const NAMES: [&str; 6] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "brave-browser",
];

/// Starts the program with its pipe on descriptors 3 and 4, and removes the profile folder when it
/// has ended: what its last processes still write there may take another try.
const START: &str = r#"folder=$1; shift
"$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1
exec </dev/null >/dev/null 2>&1
for try in 1 2 3 4 5 6 7 8 9 10; do rm -rf -- "$folder" && exit; sleep 0.1; done"#;

const PREFIX: &str = "seechange-browser-";
const LOCK: &str = "seechange.lock";

/// How long a browser may take to end once it is told to.
const END_PATIENCE: Duration = Duration::from_secs(3);
const END_INTERVAL: Duration = Duration::from_millis(5);

/// How long what still writes into a profile folder may keep it from being removed.
const REMOVE_PATIENCE: Duration = Duration::from_secs(1);
const REMOVE_INTERVAL: Duration = Duration::from_millis(20);

/// The system's Chromium or one of its kin, searched for in `PATH` by its usual names.
///
/// # Errors
/// When there is none; the message says how to get one.
pub fn find() -> Result<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let places = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.into_iter().find(|place| is_program(place)).ok_or_else(|| {
        Error::surface(
            "there is no chromium in PATH: install one (apt install chromium, or Google Chrome), \
             or attach to one that runs with ws://",
        )
    })
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.is_file() && data.mode() & 0o111 != 0)
}

/// A browser that runs. Dropping it ends every process of it and removes its profile folder.
pub(super) struct Process {
    child: Child,
    clock: Clock,
    profile: Profile,
}

/// What a browser is spoken to through.
pub(super) struct Pipes {
    pub(super) to: ChildStdin,
    pub(super) from: ChildStdout,
}

impl Process {
    /// Starts the browser; it may still fail to come up.
    pub(super) fn start(options: &BrowserOptions, clock: &Clock) -> Result<(Self, Pipes)> {
        let program = options.program.clone().map_or_else(find, Ok)?;
        let is_shown = env::var_os("DISPLAY").is_some() || env::var_os("WAYLAND_DISPLAY").is_some();
        if options.headed && !is_shown {
            return Err(Error::surface(
                "a headed browser takes a display: set DISPLAY, or leave it headless",
            ));
        }
        remove_orphans();
        let profile = Profile::create()?;
        let mut child = command(&program, &profile.folder, options).spawn().map_err(|error| {
            Error::surface(format!("{} cannot be started", program.display())).with_source(error)
        })?;
        let (to, from) = (child.stdin.take(), child.stdout.take());
        let process = Self { child, clock: clock.clone(), profile };
        match (to, from) {
            (Some(to), Some(from)) => Ok((process, Pipes { to, from })),
            _ => Err(Error::surface("the browser has no pipes")),
        }
    }

    /// The process group of the browser and the shell that waits for it.
    pub(super) fn group(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the browser, whose pipe was closed, has ended; ends it by force when it takes
    /// too long.
    fn end(&mut self) {
        let give_up = self.clock.now() + END_PATIENCE;
        while self.clock.now() < give_up {
            match self.child.try_wait() {
                Ok(None) => self.clock.sleep(END_INTERVAL),
                Ok(Some(_)) | Err(_) => break,
            }
        }
        if let Ok(None) = self.child.try_wait() {
            // Whoever has ended meanwhile needs no signal.
            kill_process_group(Pid::from_child(&self.child), Signal::KILL).ok();
        }
        // Only a child that was waited for elsewhere fails here, and then it has ended.
        drop(self.child.wait());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
        self.profile.remove();
    }
}

fn command(program: &Path, profile: &Path, options: &BrowserOptions) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", START, "sh"]).arg(profile).arg(program).arg("--remote-debugging-pipe");
    let mut folder = std::ffi::OsString::from("--user-data-dir=");
    folder.push(profile);
    command.arg(folder);
    command.arg(format!(
        "--window-size={},{}",
        options.viewport.width(),
        options.viewport.height()
    ));
    if !options.headed {
        command.arg("--headless=new");
    }
    if geteuid().is_root() {
        // Chromium refuses to run as root with its sandbox.
        command.arg("--no-sandbox");
    }
    command.args(QUIET).arg("about:blank");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    // Ctrl-C in a terminal is for this process; it ends the browser itself.
    command.process_group(0);
    command
}

/// Nothing asks, updates, phones home or sleeps unasked, and colours are those of the page.
const QUIET: [&str; 17] = [
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-features=Translate,MediaRouter,OptimizationHints",
    "--disable-renderer-backgrounding",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
];

/// A folder nobody else can read, held by a lock.
struct Profile {
    folder: PathBuf,
    _lock: File,
}

impl Profile {
    fn create() -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let cannot = |folder: &Path| {
            let words = format!("{} cannot be made for the browser's profile", folder.display());
            move |error: std::io::Error| Error::surface(words).with_source(error)
        };
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let folder = env::temp_dir().join(format!("{PREFIX}{}-{number}", process::id()));
            match DirBuilder::new().mode(0o700).create(&folder) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                made => made.map_err(cannot(&folder))?,
            }
            let lock = File::create_new(folder.join(LOCK)).map_err(cannot(&folder))?;
            if let Some(profile) = Self::hold(folder.clone(), lock).map_err(cannot(&folder))? {
                return Ok(profile);
            }
        }
    }

    /// Locks a new folder. Before that another start may have taken it for an orphan: then it is
    /// gone.
    fn hold(folder: PathBuf, lock: File) -> std::io::Result<Option<Self>> {
        lock.lock()?;
        Ok(folder.join(LOCK).exists().then_some(Self { folder, _lock: lock }))
    }

    /// The shell has done it, unless it was killed.
    fn remove(&self) {
        // What is left is the next start's to remove, which finds it without a lock.
        remove_folder(&self.folder);
    }
}

/// What processes that end still write into a folder as it is removed takes another try. Half
/// removed, its lock file gone, no later start would know it.
fn remove_folder(folder: &Path) {
    let clock = Clock::system();
    let give_up = clock.now() + REMOVE_PATIENCE;
    while fs::remove_dir_all(folder).is_err() && folder.exists() && clock.now() < give_up {
        clock.sleep(REMOVE_INTERVAL);
    }
}

/// Removes the profile folders of browsers whose process was killed.
fn remove_orphans() {
    let Ok(entries) = fs::read_dir(env::temp_dir()) else { return };
    let ours = entries.filter_map(std::result::Result::ok).filter(|entry| {
        let is_named = entry.file_name().to_string_lossy().starts_with(PREFIX);
        // Of a link this is the link's own: nobody can point it elsewhere.
        let data = entry.metadata().ok().filter(|data| data.is_dir());
        is_named && data.is_some_and(|data| data.uid() == geteuid().as_raw())
    });
    for folder in ours.map(|entry| entry.path()) {
        let Ok(lock) = File::open(folder.join(LOCK)) else { continue };
        match lock.try_lock() {
            // Somebody else may be removing it as well.
            Ok(()) => remove_folder(&folder),
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_another_start_removed_before_it_was_locked_is_not_held() {
        // The name of the second is not one that other tests remove.
        for (prefix, is_held) in [(PREFIX, false), ("seechange-held-", true)] {
            let folder = env::temp_dir().join(format!("{prefix}{}-race", process::id()));
            fs::create_dir(&folder).unwrap();
            let lock = File::create_new(folder.join(LOCK)).unwrap();
            remove_orphans();
            let held = Profile::hold(folder.clone(), lock).unwrap();
            assert_eq!((held.is_some(), folder.exists()), (is_held, is_held));
            held.inspect(Profile::remove);
        }
    }

    #[test]
    fn a_folder_without_its_process_is_removed_and_one_in_use_is_not() {
        let used = Profile::create().unwrap();
        let orphan = env::temp_dir().join(format!("{PREFIX}0-{}", process::id()));
        fs::create_dir(&orphan).unwrap();
        fs::write(orphan.join(LOCK), "").unwrap();
        fs::write(orphan.join("Cookies"), "x").unwrap();
        let foreign = env::temp_dir().join(format!("{PREFIX}0-{}-plain", process::id()));
        fs::create_dir(&foreign).unwrap();
        remove_orphans();
        assert!(!orphan.exists());
        assert!(used.folder.exists());
        assert!(foreign.exists(), "what has no lock file is not ours");
        assert_eq!(fs::metadata(&used.folder).unwrap().mode() & 0o777, 0o700);
        fs::remove_dir(&foreign).unwrap();
        used.remove();
        assert!(!used.folder.exists());
    }
}
