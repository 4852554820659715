//! The sessions of a server: the one it starts with, and the pages that are opened beside it.

use std::collections::BTreeMap;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::JsonObject;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::act::quoted;
use crate::clock::{Cancel, Clock};
use crate::error::{Error, Result, Shown};

use super::Options;
use super::answer::Told;
use super::opening::Opening;
use super::running::{Call, Running};
use super::schema::On;
use super::session::{self, Job, LOOK, Worker};

/// How many there may be at a time.
pub(super) const MOST: usize = 8;

/// The number of the session there is from the start.
const FIRST: u32 = 1;

/// How many one server opens, so that what they count stays apart.
const MOST_EVER: u32 = 4000;

/// From where one session counts its observations and references to where the next does.
const APART: u32 = 1_000_000;

/// How long a session that does something else is waited for when all are listed.
const LOOK_PATIENCE: Duration = Duration::from_millis(500);

/// The sessions of a server. Clones share them.
#[derive(Clone)]
pub(super) struct Sessions(Arc<Shared>);

struct Shared {
    options: Options,
    running: Running,
    table: Mutex<Table>,
    /// Told whenever one that was being opened or closed is so.
    settled: Condvar,
}

#[derive(Default)]
struct Table {
    open: BTreeMap<u32, Entry>,
    /// How many are being opened or closed.
    unsettled: usize,
    /// The number of the last that was opened.
    last: u32,
    is_over: bool,
}

struct Entry {
    worker: Worker,
    is_read_only: bool,
}

/// Why a call is not carried out, as a kind and in words.
pub(super) struct Not(pub(super) &'static str, pub(super) String);

/// Counts as a session for as long as one is being opened or closed.
struct Unsettled<'s>(&'s Shared);

/// A session to be told of.
struct Listed {
    number: u32,
    name: String,
    is_read_only: bool,
    seen: Arc<Mutex<session::Seen>>,
    jobs: SyncSender<Job>,
}

impl Sessions {
    /// The first session, which is meant where none is named.
    ///
    /// # Errors
    /// When its surface cannot be opened.
    pub(super) fn start(options: Options, running: Running) -> Result<Self> {
        let worker = session::start(options.clone(), 0, &Cancel::never())?;
        let first = Entry { worker, is_read_only: options.is_read_only };
        let table =
            Table { open: BTreeMap::from([(FIRST, first)]), last: FIRST, ..Table::default() };
        let (table, settled) = (Mutex::new(table), Condvar::new());
        Ok(Self(Arc::new(Shared { options, running, table, settled })))
    }

    /// Where the calls of a session go, and this one as it begins. Without a name, of the first.
    pub(super) fn enter(&self, name: Option<&str>) -> Result<(SyncSender<Job>, Call), Not> {
        let table = self.0.lock();
        let number = table.number(name)?;
        let entry = table.open.get(&number).ok_or_else(|| table.unknown(name))?;
        Ok((entry.worker.jobs.clone(), self.0.running.enter(number)))
    }

    /// Carries out `open_session`. Takes as long as a browser takes to come up, unless it is
    /// cancelled.
    pub(super) fn open(&self, arguments: &JsonObject, cancel: &Cancel) -> Told {
        match self.opened(arguments, cancel) {
            Ok(told) => told,
            Err(not) => not.told("open_session"),
        }
    }

    fn opened(&self, arguments: &JsonObject, cancel: &Cancel) -> Result<Told, Not> {
        self.0.check_pages()?;
        let opening = Opening::read(arguments, &self.0.options)?;
        let (number, unsettled) = self.0.reserve()?;
        let count_after = (number - FIRST) * APART;
        let options = opening.options(&self.0.options, number, count_after)?;
        let is_read_only = options.is_read_only;
        let worker = session::start(options, count_after, cancel)
            .map_err(|error| if cancel.is_cancelled() { cancelled() } else { trouble(&error) })?;
        let entry = Entry { worker, is_read_only };
        let name = entry.name();
        let mut table = self.0.lock();
        if table.is_over || cancel.is_cancelled() {
            drop(table);
            entry.end().map_err(|error| trouble(&error))?;
            return Err(cancelled());
        }
        table.open.insert(number, entry);
        unsettled.settle(&mut table);
        drop(table);
        Ok(told_opened(&name, opening.url.as_str(), is_read_only))
    }

    /// Carries out `close_session`: cancels what runs in it and waits until its browser has ended.
    pub(super) fn close(&self, arguments: &JsonObject) -> Told {
        match self.closed(arguments) {
            Ok(told) => told,
            Err(not) => not.told("close_session"),
        }
    }

    fn closed(&self, arguments: &JsonObject) -> Result<Told, Not> {
        self.0.check_pages()?;
        let mut arguments = arguments.clone();
        let name = take_name(&mut arguments)?;
        if let Some(field) = arguments.keys().next() {
            let field = quoted(field);
            let message = format!("close_session has no argument {field}: it takes session_id");
            return Err(Not("unknown_field", message));
        }
        let Some(name) = name else {
            return Err(Not("missing_field", "close_session needs session_id".to_owned()));
        };
        let mut table = self.0.lock();
        let number = table.number(Some(&name))?;
        let entry = table.open.remove(&number).ok_or_else(|| table.unknown(Some(&name)))?;
        table.unsettled += 1;
        let unsettled = Unsettled(&self.0);
        drop(table);
        self.0.running.end_session(number);
        let ended = entry.end();
        drop(unsettled);
        ended.map_err(|error| trouble(&error))?;
        let left = self.0.lock().names();
        let words =
            format!("closed session {name}: what it held is let go of. {}", left_words(&left));
        let json = json!({
            "schema": "seechange.session/1", "status": "closed", "session_id": name, "open": left,
        });
        Ok(Told::new(words, json))
    }

    /// Every session, or the one of a name, in rows and in words.
    pub(super) async fn listed(&self, name: Option<&str>) -> Result<(Vec<Value>, String), Not> {
        let listed: Vec<_> = {
            let table = self.0.lock();
            let only = name.map(|name| table.number(Some(name))).transpose()?;
            let listed =
                table.open.iter().filter(|(number, _)| only.is_none_or(|only| only == **number));
            listed.map(|(&number, entry)| entry.listed(number)).collect()
        };
        // One that has something to do already is not given more.
        let is_idle = |one: &Listed| !self.0.running.is_busy(one.number);
        let looks: Vec<_> =
            listed.iter().map(|one| is_idle(one).then(|| one.look()).flatten()).collect();
        // All at once: one that is busy takes no time from the others.
        let clock = Clock::system();
        let give_up = clock.now() + LOOK_PATIENCE;
        let (mut rows, mut words) = (Vec::new(), Vec::new());
        for (one, look) in listed.iter().zip(looks) {
            let is_busy = match look {
                Some(look) => {
                    let left = give_up.saturating_sub(clock.now());
                    tokio::time::timeout(left, look).await.is_err()
                }
                None => true,
            };
            let (row, line) = one.row(is_busy);
            rows.push(row);
            words.push(line);
        }
        Ok((rows, words.join("\n")))
    }

    /// Waits until every session has ended, those that are being opened and closed too.
    ///
    /// # Errors
    /// When one ended in a panic.
    pub(super) fn end(&self) -> Result<()> {
        let mut table = self.0.lock();
        table.is_over = true;
        let open = std::mem::take(&mut table.open);
        drop(table);
        // All are told before the first is waited for.
        let threads: Vec<_> = open.into_values().map(|entry| entry.worker.thread).collect();
        let ended: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        let unsettled = self.0.settled.wait_while(self.0.lock(), |table| table.unsettled > 0);
        drop(unsettled.unwrap_or_else(PoisonError::into_inner));
        match ended.iter().any(std::result::Result::is_err) {
            true => Err(in_a_panic()),
            false => Ok(()),
        }
    }
}

impl Shared {
    /// No panic leaves the table half-written.
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A screen has no sessions beside its own.
    fn check_pages(&self) -> Result<(), Not> {
        let words = "sessions are opened and closed where there is a page: start with --browser";
        match self.options.on() {
            On::Page => Ok(()),
            On::Screen => Err(Not("unsupported", words.to_owned())),
        }
    }

    /// Room for one more, and its number.
    fn reserve(&self) -> Result<(u32, Unsettled<'_>), Not> {
        let mut table = self.lock();
        if table.is_over {
            return Err(Not("cancelled", "the server ends".to_owned()));
        }
        if table.open.len() + table.unsettled >= MOST {
            let names = table.names().join(", ");
            let message = format!(
                "there are {MOST} sessions already, the most at a time: close one with \
                 close_session first. Open are {names}"
            );
            return Err(Not("busy", message));
        }
        if table.last >= MOST_EVER {
            let message =
                format!("this server has opened {MOST_EVER} sessions, its most: start another one");
            return Err(Not("busy", message));
        }
        table.last += 1;
        table.unsettled += 1;
        Ok((table.last, Unsettled(self)))
    }
}

impl Unsettled<'_> {
    /// It is open: in one step with its entry, so that it never counts twice.
    fn settle(self, table: &mut Table) {
        table.unsettled -= 1;
        self.0.settled.notify_all();
        std::mem::forget(self);
    }
}

impl Drop for Unsettled<'_> {
    fn drop(&mut self) {
        self.0.lock().unsettled -= 1;
        self.0.settled.notify_all();
    }
}

impl Table {
    fn names(&self) -> Vec<String> {
        self.open.values().map(Entry::name).collect()
    }

    /// The number of a session; without a name, of the first.
    fn number(&self, name: Option<&str>) -> Result<u32, Not> {
        let Some(name) = name else { return Ok(FIRST) };
        let found = self.open.iter().find(|(_, entry)| entry.worker.name.as_deref() == Some(name));
        found.map(|(&number, _)| number).ok_or_else(|| self.unknown(Some(name)))
    }

    fn unknown(&self, name: Option<&str>) -> Not {
        let what = match name {
            Some(name) => format!("there is no session {}", quoted(name)),
            None => "the first session is closed, so session_id must name another".to_owned(),
        };
        Not("unknown_session", format!("{what}. {}", left_words(&self.names())))
    }
}

fn told_opened(name: &str, url: &str, is_read_only: bool) -> Told {
    let words = format!(
        "opened session {name} at {}{}: name it as session_id, beginning with observe",
        Shown(url),
        if is_read_only { ", read-only" } else { "" }
    );
    let json = json!({
        "schema": "seechange.session/1", "status": "opened", "session_id": name, "url": url,
        "read_only": is_read_only,
    });
    Told::new(words, json)
}

fn cancelled() -> Not {
    Not("cancelled", "it was cancelled, and its browser has ended".to_owned())
}

/// What went wrong as a refusal.
pub(super) fn trouble(error: &Error) -> Not {
    Not(error.kind().name(), error.to_string())
}

fn left_words(names: &[String]) -> String {
    match names {
        [] => "None is open: open one with open_session".to_owned(),
        [one] => format!("Open is {one}"),
        more => format!("Open are {}", more.join(", ")),
    }
}

impl Entry {
    fn name(&self) -> String {
        self.worker.name.clone().unwrap_or_default()
    }

    /// Waits until what it holds is let go of and its browser has ended.
    fn end(self) -> Result<()> {
        let Worker { jobs, thread, .. } = self.worker;
        drop(jobs);
        thread.join().map_err(|_| in_a_panic())
    }

    fn listed(&self, number: u32) -> Listed {
        Listed {
            number,
            name: self.name(),
            is_read_only: self.is_read_only,
            seen: self.worker.seen.clone(),
            jobs: self.worker.jobs.clone(),
        }
    }
}

fn in_a_panic() -> Error {
    Error::surface("the session ended in a panic")
}

impl Listed {
    /// Asks what is seen now; `None` where too many calls wait already.
    fn look(&self) -> Option<oneshot::Receiver<Told>> {
        let (reply, told) = oneshot::channel();
        let job = Job { tool: LOOK, arguments: JsonObject::new(), cancel: Cancel::never(), reply };
        match self.jobs.try_send(job) {
            // One that is over answers at once by dropping.
            Ok(()) | Err(TrySendError::Disconnected(_)) => Some(told),
            Err(TrySendError::Full(_)) => None,
        }
    }

    fn row(&self, is_busy: bool) -> (Value, String) {
        let is_first = self.number == FIRST;
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let url = seen.url.unwrap_or_default();
        let row = json!({
            "session_id": self.name, "url": url, "alive": seen.is_alive, "busy": is_busy,
            "read_only": self.is_read_only, "first": is_first, "trouble": seen.trouble,
        });
        let notes = [
            (is_first, "the first"),
            (self.is_read_only, "read-only"),
            (is_busy, "busy"),
            (seen.trouble.is_some(), seen.trouble.as_deref().unwrap_or_default()),
            (!seen.is_alive, "close it with close_session"),
        ];
        let notes = notes.iter().filter(|(is_so, _)| *is_so).map(|(_, note)| format!(", {note}"));
        let line = format!("session {}: {}{}", self.name, Shown(&url), notes.collect::<String>());
        (row, line)
    }
}

/// Takes the session's name out of arguments.
pub(super) fn take_name(arguments: &mut JsonObject) -> Result<Option<String>, Not> {
    match arguments.remove("session_id") {
        None => Ok(None),
        Some(Value::String(name)) => Ok(Some(name)),
        Some(other) => {
            let kind = crate::front::wire::strict::kind(&other);
            Err(Not("bad_value", format!("session_id must be a string, not {kind}")))
        }
    }
}

impl Not {
    /// The refusal of a call of a tool.
    pub(super) fn told(&self, tool: &str) -> Told {
        let Self(kind, message) = self;
        let refusal = json!({"kind": kind, "message": message});
        let json = match tool {
            "diff" => return session::not_compared(kind, message),
            "doctor" => json!({
                "schema": "seechange.doctor/1", "findings": [message], "display": null,
                "refusal": refusal,
            }),
            "open_session" | "close_session" => {
                json!({"schema": "seechange.session/1", "status": "refused", "refusal": refusal})
            }
            action => json!({
                "schema": "seechange.act/1",
                "status": "refused",
                "action": {"action": action},
                "refusal": refusal,
                "observation": {"before": null, "after": null, "image": null, "frame": null},
                "delivery": {
                    "events_planned": 0, "delivered_count": 0, "pressed": 0, "released": 0,
                    "route": "",
                },
            }),
        };
        Told { is_error: true, ..Told::new(format!("refused {tool}: {message}"), json) }
    }
}
