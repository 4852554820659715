//! The clipboard: a text put there for one paste, and what was there put back.
//!
//! What is on an X11 clipboard is kept by the program that put it there, which answers each program
//! that asks. So a thread with a connection of its own answers, for as long as the surface is open:
//! first with the text, then with what was there before. Whoever copies something in between has
//! the clipboard, and keeps it.
//!
//! Terminals paste the selection that the mouse makes (PRIMARY) with shift+insert, everybody else
//! the CLIPBOARD. So the text is on both. A program loses the marking of what is selected in it when
//! another takes PRIMARY, and would insert what it was to replace: where the program with the focus
//! has PRIMARY itself and is no terminal, that is left alone.

mod owner;

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _};

use crate::act;
use crate::clock::Clock;
use crate::error::{Error, Result};

use super::focus;
use super::link::{Link, Trouble};
use super::windows::{self, Atoms};

use owner::Owner;

/// How long the thread may take for one thing, saving what is on a slow program's clipboard
/// included.
const REPLY_LIMIT: Duration = Duration::from_secs(6);

/// Programs whose shift+insert pastes PRIMARY, by a part of their window's class in lower case.
const TERMINALS: [&str; 16] = [
    "term",
    "rxvt",
    "konsole",
    "kitty",
    "alacritty",
    "tilix",
    "tilda",
    "guake",
    "yakuake",
    "st-256",
    "wezterm",
    "sakura",
    "ghostty",
    "contour",
    "foot",
    "kermit",
];

/// What the thread is asked to do.
enum Command {
    Offer(Offer, Sender<Result<()>>),
    Restore(Sender<Result<act::Clipboard>>),
    Stop,
}

/// A text, and for whom it is.
struct Offer {
    text: String,
    /// Windows of the program that gets the keys; none where nobody can be told apart.
    windows: Vec<u32>,
    with_primary: bool,
    /// Told once the program has the text, or that it cannot get it any more.
    told: Sender<Result<()>>,
}

/// The thread that answers for the clipboard.
pub(super) struct Clipboard {
    commands: Sender<Command>,
    waker: UnixStream,
    thread: Option<JoinHandle<()>>,
    told: Option<Receiver<Result<()>>>,
}

impl Clipboard {
    pub(super) fn start(display: &str, clock: &Clock) -> Result<Self> {
        let trouble = |error| Error::surface(format!("the clipboard cannot be served: {error}"));
        let owner = Owner::new(Link::connect(Some(display), clock)?)?;
        let (waker, woken) = UnixStream::pair().map_err(trouble)?;
        woken.set_nonblocking(true).map_err(trouble)?;
        let (commands, received) = mpsc::channel();
        let thread = std::thread::Builder::new().name("clipboard".to_owned());
        let thread = thread.spawn(move || owner.run(&received, &woken)).map_err(trouble)?;
        Ok(Self { commands, waker, thread: Some(thread), told: None })
    }

    /// Puts a text there for the program that gets the keys.
    pub(super) fn offer(&mut self, link: &Link, atoms: &Atoms, text: &str) -> Result<()> {
        let (windows, with_primary) = whose(link, atoms)?;
        let (told, taken) = mpsc::channel();
        self.told = Some(taken);
        let offer = Offer { text: text.to_owned(), windows, with_primary, told };
        self.ask(|reply| Command::Offer(offer, reply))
    }

    /// Waits for at most `limit` until the program has the text.
    pub(super) fn is_taken(&mut self, limit: Duration) -> Result<bool> {
        let Some(told) = &self.told else { return Ok(false) };
        match told.recv_timeout(limit) {
            Ok(Ok(())) => Ok(true),
            Ok(Err(error)) => Err(error),
            Err(RecvTimeoutError::Timeout) => Ok(false),
            Err(RecvTimeoutError::Disconnected) => Err(lost()),
        }
    }

    /// Puts back what was there.
    pub(super) fn restore(&mut self) -> Result<act::Clipboard> {
        self.told = None;
        self.ask(Command::Restore)
    }

    fn ask<T>(&mut self, command: impl FnOnce(Sender<Result<T>>) -> Command) -> Result<T> {
        let (reply, answer) = mpsc::channel();
        self.send(command(reply))?;
        match answer.recv_timeout(REPLY_LIMIT) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => Err(Trouble::Stalled.into()),
            Err(RecvTimeoutError::Disconnected) => Err(lost()),
        }
    }

    fn send(&mut self, command: Command) -> Result<()> {
        self.commands.send(command).map_err(|_| lost())?;
        self.waker.write_all(&[0]).map_err(|_| lost())
    }
}

/// A clipboard manager gets what is there, else it is gone with this program.
impl Drop for Clipboard {
    fn drop(&mut self) {
        if self.send(Command::Stop).is_ok()
            && let Some(thread) = self.thread.take()
        {
            // It gives up within seconds on a display that does not answer.
            thread.join().ok();
        }
    }
}

fn lost() -> Error {
    Error::surface("the clipboard's connection to the display is lost")
}

/// The windows of the program that gets the keys, and whether it is to find the text on PRIMARY.
fn whose(link: &Link, atoms: &Atoms) -> Result<(Vec<u32>, bool), Trouble> {
    let focused = link.reply(link.conn.get_input_focus()?)?.focus;
    let Some(client) = focus::client(link, atoms, focused)? else { return Ok((Vec::new(), true)) };
    // Small numbers stand for the root window and the like.
    let is_window = focused > 1 && focused != link.root();
    let windows: Vec<u32> = [client].into_iter().chain(is_window.then_some(focused)).collect();
    let selected = link.reply(link.conn.get_selection_owner(AtomEnum::PRIMARY.into())?)?.owner;
    let is_its_own = windows.iter().any(|window| is_same_program(link, *window, selected));
    let class = windows::bytes(link, client, AtomEnum::WM_CLASS.into(), AtomEnum::STRING.into())?;
    let class = String::from_utf8_lossy(&class).to_lowercase();
    let is_terminal = TERMINALS.iter().any(|terminal| class.contains(terminal));
    Ok((windows, is_terminal || !is_its_own))
}

/// Whether two windows were made over the same connection: their numbers say so.
fn is_same_program(link: &Link, one: u32, other: u32) -> bool {
    let own_part = link.conn.setup().resource_id_mask;
    one & !own_part == other & !own_part
}
