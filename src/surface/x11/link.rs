//! A connection on which nothing waits for ever.
//!
//! `x11rb` waits for replies without a limit. Here the stream below it carries the instant to
//! give up, so every wait on a display that stopped answering ends as [`Trouble::Stalled`]. The
//! unanswered request is remembered and nothing more is sent before its reply came: a stopped
//! server is never flooded, and a late picture cannot overwrite a newer one. Only what must arrive
//! is sent all the same: the releases of what was pressed, see [`Link::leave`].

use std::cell::{Cell, RefCell};
use std::io::{Error as IoError, ErrorKind as IoErrorKind, IoSlice, Result as IoResult};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use x11rb::connection::{Connection as _, RequestConnection, SequenceNumber};
use x11rb::cookie::{Cookie, VoidCookie};
use x11rb::errors::{ConnectError, ConnectionError, ReplyError, ReplyOrIdError};
use x11rb::protocol::shm::ConnectionExt as _;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, CreateWindowAux, EventMask, PropMode, Screen, WindowClass,
};
use x11rb::protocol::{ErrorKind, Event};
use x11rb::reexports::x11rb_protocol::parse_display::{
    ConnectAddress, ParsedDisplay, parse_display,
};
use x11rb::reexports::x11rb_protocol::xauth::get_auth;
use x11rb::rust_connection::{DefaultStream, PollMode, RustConnection, Stream};
use x11rb::utils::RawFdContainer;
use x11rb::x11_utils::{TryParse, X11Error};

use crate::clock::{Cancel, Clock};
use crate::error::{Error, Result};

use super::damage::Drawn;

/// How long the display may take to answer anything but a capture, which brings its own limit.
pub(super) const ANSWER_LIMIT: Duration = Duration::from_secs(3);

/// How long it is waited again for a display that already left a request unanswered.
const SECOND_LIMIT: Duration = Duration::from_millis(500);

/// How long what the server tells may lie unread while it is waited for.
const TOLD_INTERVAL: Duration = Duration::from_millis(100);

/// Boxes kept of what was drawn.
const MOST_DRAWN: usize = 256;

/// What "for ever" comes to, for callers that set no limit: a day.
const LONGEST_WAIT: Duration = Duration::from_secs(86_400);

/// The connection proper: a pure Rust one over [`Wire`].
pub(super) type Connection = RustConnection<Wire>;

/// Why a request brought nothing.
#[derive(Debug)]
pub(super) enum Trouble {
    /// No answer came before the time to give up.
    Stalled,
    /// The connection is of no more use.
    Lost(String),
    /// The display answered with an error.
    Refused(X11Error),
    /// What the display answered is of no use here.
    Unusable(Error),
}

impl Trouble {
    /// Whether the display says there is no window or pixmap `id`.
    pub(super) fn is_missing(&self, id: u32) -> bool {
        let kinds = [ErrorKind::Window, ErrorKind::Drawable];
        matches!(self, Self::Refused(error)
            if error.bad_value == id && kinds.contains(&error.error_kind))
    }

    /// What happened, for the end of a message.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Stalled => "the display does not answer".to_owned(),
            Self::Lost(reason) => format!("the connection to the display is lost: {reason}"),
            Self::Refused(error) => {
                let request = error.request_name.unwrap_or("a request");
                format!("the display refused {request} with Bad{:?}", error.error_kind)
            }
            Self::Unusable(error) => error.to_string(),
        }
    }
}

impl From<Trouble> for Error {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Unusable(error) => error,
            trouble => Self::surface(trouble.text()),
        }
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Unusable(error)
    }
}

impl From<ConnectionError> for Trouble {
    fn from(error: ConnectionError) -> Self {
        match error {
            ConnectionError::IoError(error) if error.kind() == IoErrorKind::TimedOut => {
                Self::Stalled
            }
            error => Self::Lost(error.to_string()),
        }
    }
}

impl From<ReplyError> for Trouble {
    fn from(error: ReplyError) -> Self {
        match error {
            ReplyError::ConnectionError(error) => error.into(),
            ReplyError::X11Error(error) => Self::Refused(error),
        }
    }
}

impl From<ReplyOrIdError> for Trouble {
    fn from(error: ReplyOrIdError) -> Self {
        match error {
            ReplyOrIdError::IdsExhausted => Self::Lost("no resource ids are left".to_owned()),
            ReplyOrIdError::ConnectionError(error) => error.into(),
            ReplyOrIdError::X11Error(error) => Self::Refused(error),
        }
    }
}

/// The connection, the display it leads to, and the reply it still owes.
pub(super) struct Link {
    /// For sending requests; replies are awaited through [`Link::reply`] and its like.
    pub(super) conn: Connection,
    name: String,
    screen: usize,
    owed: Cell<Option<SequenceNumber>>,
    /// Whether the server takes files over the socket, as MIT-SHM 1.2 passes them.
    takes_files: Cell<bool>,
    /// What the server told unasked, kept for those it is for.
    drawn: RefCell<Vec<Drawn>>,
    has_new_layout: Cell<bool>,
    /// A window of this program's own that nobody sees, once there is one.
    own_window: Cell<Option<u32>>,
    /// When the server says something was written on that window, by its own clock.
    written_at: Cell<Option<u32>>,
    /// The time in the last ping that a program answered.
    pong: Cell<Option<u32>>,
    /// The last request that the server is known to have carried out.
    checked: Cell<SequenceNumber>,
}

impl Link {
    /// Connects to `display`, or to the one `DISPLAY` names.
    pub(super) fn connect(display: Option<&str>, clock: &Clock) -> Result<Self> {
        let name = match display {
            Some(name) => name.to_owned(),
            None => std::env::var("DISPLAY").unwrap_or_default(),
        };
        if name.is_empty() {
            return Err(Error::surface(
                "no display: DISPLAY is not set; set it (DISPLAY=:0) or start one (Xvfb :99 &)",
            ));
        }
        let parsed = parse_display(Some(&name)).map_err(|_| {
            Error::surface(format!("display '{name}' is not a display name such as :0 or host:0"))
        })?;
        let conn = connect_any(&parsed, clock).map_err(|error| unreachable(&name, &error))?;
        Ok(Self {
            conn,
            name,
            screen: parsed.screen.into(),
            owed: Cell::new(None),
            takes_files: Cell::new(false),
            drawn: RefCell::default(),
            has_new_layout: Cell::new(false),
            own_window: Cell::new(None),
            written_at: Cell::new(None),
            pong: Cell::new(None),
            checked: Cell::new(0),
        })
    }

    /// The display's name, for messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The screen the display's name points at; connecting made sure it exists.
    pub(super) fn screen(&self) -> &Screen {
        &self.conn.setup().roots[self.screen]
    }

    /// The window everything lies in.
    pub(super) fn root(&self) -> u32 {
        self.screen().root
    }

    /// Whether the display has more screens than this one.
    pub(super) fn has_other_screens(&self) -> bool {
        self.conn.setup().roots.len() > 1
    }

    /// Whether files can be passed to the display's server.
    pub(super) fn is_local(&self) -> bool {
        self.conn.stream().is_local
    }

    /// Whether the display has an extension.
    pub(super) fn has(&self, extension: &'static str) -> Result<bool, Trouble> {
        Ok(self.conn.extension_information(extension)?.is_some())
    }

    /// Sets the instant at which waiting for what follows ends, and waits for what is still owed.
    fn until(&self, give_up: Duration) -> Result<(), Trouble> {
        self.set_limit(give_up, false)
    }

    /// The same, and what was asked to be [heeded](Self::heed) ends the waiting too. Only a capture
    /// is given up like that: what is held must be let go of all the more when it is cancelled.
    pub(super) fn until_or_cancelled(&self, give_up: Duration) -> Result<(), Trouble> {
        self.set_limit(give_up, true)
    }

    fn set_limit(&self, give_up: Duration, heeds: bool) -> Result<(), Trouble> {
        let wire = self.conn.stream();
        *wire.give_up() = give_up;
        wire.heeds.store(heeds, Ordering::Relaxed);
        let Some(sequence) = self.owed.get() else { return Ok(()) };
        match self.conn.check_for_raw_error(sequence) {
            Ok(_) => self.owed.set(None),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// From now on waiting for a capture also ends when `cancel` is thrown.
    pub(super) fn heed(&self, cancel: &Cancel) {
        let wire = self.conn.stream();
        *wire.cancel.lock().unwrap_or_else(PoisonError::into_inner) = cancel.clone();
    }

    /// Gives what follows [`ANSWER_LIMIT`] from now. What is still owed gets less: each of the
    /// calls that end an action would else wait in full for a display that does not answer.
    pub(super) fn soon(&self) -> Result<(), Trouble> {
        let clock = &self.conn.stream().clock;
        if self.owed.get().is_some() {
            self.until(clock.now().saturating_add(SECOND_LIMIT))?;
        }
        self.until(clock.now().saturating_add(ANSWER_LIMIT))
    }

    /// Whether a reply is still owed. Does not wait for it.
    pub(super) fn is_silent(&self) -> bool {
        self.owed.get().is_some() && matches!(self.until(Duration::ZERO), Err(Trouble::Stalled))
    }

    /// Takes note that the server takes files over the socket.
    pub(super) fn takes_files(&self) {
        self.takes_files.set(true);
    }

    /// Leaves a request with a display that does not answer: it is carried out when the display
    /// runs again, even if this program has ended by then.
    pub(super) fn leave(&self, cookie: VoidCookie<'_, Connection>) -> Result<(), Trouble> {
        cookie.ignore_error();
        if self.takes_files.get() {
            self.outlive()?;
        }
        Ok(self.conn.flush()?)
    }

    /// A server that finds a connection closed does not read what was written to it before. So
    /// this end of the socket is sent along and stays open as long as it lies unread: the server
    /// takes it for memory to attach, finds that it is none, and closes it.
    fn outlive(&self) -> Result<(), Trouble> {
        let socket = self.conn.stream().socket.as_fd().try_clone_to_owned();
        let socket = socket.map_err(ConnectionError::from)?;
        self.conn.shm_attach_fd(self.conn.generate_id()?, socket, false)?.ignore_error();
        Ok(())
    }

    /// Takes in what the server has told unasked, without waiting for any.
    pub(super) fn receive(&self) -> Result<(), Trouble> {
        while let Some((event, sequence)) = self.conn.poll_for_event_with_sequence()? {
            match event {
                Event::DamageNotify(event) => self.keep(Drawn::new(&event, sequence)),
                Event::XkbMapNotify(_)
                | Event::XkbNewKeyboardNotify(_)
                | Event::MappingNotify(_) => self.has_new_layout.set(true),
                Event::PropertyNotify(event) if Some(event.window) == self.own_window.get() => {
                    self.written_at.set(Some(event.time));
                }
                // Of messages to the root only the answers to pings are 32 bits wide, with the time
                // of the ping second.
                Event::ClientMessage(event)
                    if event.window == self.root() && event.format == 32 =>
                {
                    self.pong.set(Some(event.data.as_data32()[1]));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The time by the clock everything here waits by.
    pub(super) fn now(&self) -> Duration {
        self.conn.stream().clock.now()
    }

    /// Takes in what the server tells until `ask` finds its answer in it, or until `limit` is over.
    pub(super) fn until_told<T>(
        &self,
        limit: Duration,
        mut ask: impl FnMut() -> Option<T>,
    ) -> Result<Option<T>, Trouble> {
        let give_up = self.now().saturating_add(limit);
        loop {
            self.receive()?;
            let left = give_up.saturating_sub(self.now());
            match ask() {
                None if left > Duration::ZERO => self.listen(left.min(TOLD_INTERVAL))?,
                answer => return Ok(answer),
            }
        }
    }

    /// A window of this program's own, to own selections with and to be told things on.
    pub(super) fn own_window(&self) -> Result<u32, Trouble> {
        if let Some(window) = self.own_window.get() {
            return Ok(window);
        }
        let window = self.conn.generate_id()?;
        let look =
            CreateWindowAux::new().override_redirect(1).event_mask(EventMask::PROPERTY_CHANGE);
        let (root, class) = (self.root(), WindowClass::INPUT_ONLY);
        self.check(self.conn.create_window(0, window, root, -1, -1, 1, 1, 0, class, 0, &look)?)?;
        self.own_window.set(Some(window));
        Ok(window)
    }

    /// The time by the server's clock, in milliseconds.
    pub(super) fn server_time(&self) -> Result<u32, Trouble> {
        let (window, name) = (self.own_window()?, u32::from(AtomEnum::WM_NAME));
        self.written_at.set(None);
        let kind = u32::from(AtomEnum::STRING);
        let written = self.conn.change_property(PropMode::APPEND, window, name, kind, 8, 0, &[])?;
        self.check(written)?;
        let time = self.until_told(ANSWER_LIMIT, || self.written_at.get())?;
        time.ok_or(Trouble::Stalled)
    }

    /// The time in the last ping that was answered since this was last asked.
    pub(super) fn take_pong(&self) -> Option<u32> {
        self.pong.take()
    }

    /// The last request that the server is known to have carried out.
    pub(super) fn checked(&self) -> SequenceNumber {
        self.checked.get()
    }

    /// Of more than anybody asks for one by one, one box around the rest will do.
    fn keep(&self, drawn: Option<Drawn>) {
        let (Some(drawn), mut kept) = (drawn, self.drawn.borrow_mut()) else { return };
        let is_full = kept.len() >= MOST_DRAWN;
        match kept.last_mut().filter(|last| is_full && last.damage == drawn.damage) {
            Some(last) => {
                last.rect = last.rect.union(drawn.rect);
                last.sequence = drawn.sequence;
            }
            None => kept.push(drawn),
        }
    }

    /// What was drawn, as far as the server has told, each told once.
    pub(super) fn take_drawn(&self) -> Vec<Drawn> {
        self.drawn.take()
    }

    /// Whether the server has told of a new keyboard layout since this was last asked.
    pub(super) fn take_new_layout(&self) -> bool {
        self.has_new_layout.take()
    }

    /// Waits for at most `limit` until the server tells anything.
    pub(super) fn listen(&self, limit: Duration) -> Result<(), Trouble> {
        self.conn.flush()?;
        // A signal ends it early: whoever rests looks at the time again.
        let waited = self.conn.stream().wait(PollFlags::IN, limit);
        waited.map(|_| ()).map_err(|error| ConnectionError::from(error).into())
    }

    /// Waits for at most `limit` until the server tells anything, or there is something to read
    /// from another end.
    pub(super) fn listen_or(&self, other: impl AsFd, limit: Duration) -> Result<(), Trouble> {
        self.conn.flush()?;
        let socket = &self.conn.stream().socket;
        let mut fds = [PollFd::new(socket, PollFlags::IN), PollFd::new(&other, PollFlags::IN)];
        let limit = Timespec::try_from(limit).map_err(|_| IoError::from(IoErrorKind::InvalidInput));
        match poll(&mut fds, Some(&limit.map_err(ConnectionError::from)?)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(ConnectionError::from(IoError::from(error)).into()),
        }
    }

    /// Waits for a reply.
    pub(super) fn reply<R: TryParse>(
        &self,
        cookie: Cookie<'_, Connection, R>,
    ) -> Result<R, Trouble> {
        let sequence = cookie.sequence_number();
        cookie.reply().map_err(|error| self.remember(sequence, error.into()))
    }

    /// Waits until the display has carried out a request that has no reply.
    pub(super) fn check(&self, cookie: VoidCookie<'_, Connection>) -> Result<(), Trouble> {
        let sequence = cookie.sequence_number();
        cookie.check().map_err(|error| self.remember(sequence, error.into()))?;
        self.checked.set(sequence);
        Ok(())
    }

    fn remember(&self, sequence: SequenceNumber, trouble: Trouble) -> Trouble {
        if matches!(trouble, Trouble::Stalled) {
            self.owed.set(Some(sequence));
        }
        trouble
    }
}

/// Tries each address a display name stands for, as `RustConnection::connect` does.
fn connect_any(display: &ParsedDisplay, clock: &Clock) -> Result<Connection, ConnectError> {
    let mut last = ConnectError::UnknownError;
    for address in addresses(display) {
        match DefaultStream::connect(&address) {
            Ok((socket, (family, peer))) => {
                // Without readable credentials the server may still let this user in.
                let (name, data) =
                    get_auth(family, &peer, display.display).ok().flatten().unwrap_or_default();
                let is_local = matches!(address, ConnectAddress::Socket(_));
                let wire = Wire::new(socket, is_local, clock);
                let screen = display.screen.into();
                return RustConnection::connect_to_stream_with_auth_info(wire, screen, name, data);
            }
            Err(error) => last = ConnectError::IoError(error),
        }
    }
    Err(last)
}

/// A display may be named by its socket's path. `x11rb` understands that, and then connects to
/// display 0 all the same.
fn addresses(display: &ParsedDisplay) -> Vec<ConnectAddress<'_>> {
    match display.host.starts_with('/') {
        true => vec![ConnectAddress::Socket(display.host.clone())],
        false => display.connect_instruction().collect(),
    }
}

fn unreachable(name: &str, error: &ConnectError) -> Error {
    let reason = match error {
        ConnectError::IoError(error) if error.kind() == IoErrorKind::TimedOut => {
            format!("no answer within {} s", ANSWER_LIMIT.as_secs())
        }
        ConnectError::IoError(error) => {
            let told = error.to_string().to_lowercase();
            told.split(" (os error").next().unwrap_or_default().to_owned()
        }
        error => error.to_string().trim_end().to_owned(),
    };
    Error::surface(format!(
        "cannot open display {name}: {reason}; is its server running, and may this user connect?"
    ))
}

/// The socket, and when to give up on it.
#[derive(Debug)]
pub(super) struct Wire {
    socket: DefaultStream,
    is_local: bool,
    clock: Clock,
    give_up: Mutex<Duration>,
    /// Whoever waits for a capture stops waiting when this is thrown.
    cancel: Mutex<Cancel>,
    /// Whether it is a capture that is waited for.
    heeds: AtomicBool,
}

/// How long it may take to notice that a wait for an answer was cancelled.
const CANCEL_NOTICE: Duration = Duration::from_millis(100);

impl Wire {
    fn new(socket: DefaultStream, is_local: bool, clock: &Clock) -> Self {
        let give_up = clock.now().saturating_add(ANSWER_LIMIT);
        Self {
            socket,
            is_local,
            clock: clock.clone(),
            give_up: Mutex::new(give_up),
            cancel: Mutex::new(Cancel::never()),
            heeds: AtomicBool::new(false),
        }
    }

    fn give_up(&self) -> MutexGuard<'_, Duration> {
        self.give_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_cancelled(&self) -> bool {
        self.heeds.load(Ordering::Relaxed)
            && self.cancel.lock().unwrap_or_else(PoisonError::into_inner).is_cancelled()
    }

    /// Waits for at most `limit`; says whether the socket is ready. A signal ends it early.
    fn wait(&self, flags: PollFlags, limit: Duration) -> IoResult<bool> {
        let mut fds = [PollFd::new(&self.socket, flags)];
        let limit = Timespec::try_from(limit).map_err(|_| IoErrorKind::InvalidInput)?;
        match poll(&mut fds, Some(&limit)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl Stream for Wire {
    fn poll(&self, mode: PollMode) -> IoResult<()> {
        let give_up = *self.give_up();
        loop {
            let left = give_up.saturating_sub(self.clock.now()).min(LONGEST_WAIT);
            if self.wait(flags(mode), left.min(CANCEL_NOTICE))? {
                return Ok(());
            }
            if give_up <= self.clock.now() || self.is_cancelled() {
                return Err(no_answer(mode));
            }
        }
    }

    fn read(&self, buffer: &mut [u8], fds: &mut Vec<RawFdContainer>) -> IoResult<usize> {
        self.socket.read(buffer, fds)
    }

    fn write(&self, buffer: &[u8], fds: &mut Vec<RawFdContainer>) -> IoResult<usize> {
        self.socket.write(buffer, fds)
    }

    fn write_vectored(
        &self,
        buffers: &[IoSlice<'_>],
        fds: &mut Vec<RawFdContainer>,
    ) -> IoResult<usize> {
        self.socket.write_vectored(buffers, fds)
    }
}

fn flags(mode: PollMode) -> PollFlags {
    let mut flags = PollFlags::empty();
    flags.set(PollFlags::IN, mode.readable());
    flags.set(PollFlags::OUT, mode.writable());
    flags
}

/// A reply that is late may still come. A request that could not be written has its number taken
/// already: the connection would count wrong from here on, so it is given up.
fn no_answer(mode: PollMode) -> IoError {
    match mode.writable() {
        true => IoError::new(IoErrorKind::WriteZero, "the display takes no requests"),
        false => IoErrorKind::TimedOut.into(),
    }
}
