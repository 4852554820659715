//! The DevTools protocol: requests out, answers and news in, each request with a time to give up.
//!
//! What a call may not do is hang: a dialog, the end of the page and the time are looked at with every message.

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::clock::{Cancel, Clock};
use crate::error::{Error, Result, Shown};

use super::dialog::Dialog;
use super::greeter::Welcome;
use super::news::News;
use super::tabs::Tabs;
use super::transport::{self, GONE, Incoming, Writer, write_message};

/// How often a call that waits looks whether it was cancelled.
const CANCEL_INTERVAL: Duration = Duration::from_millis(50);

/// Why a call has no answer.
#[derive(Debug)]
pub(super) enum Stop {
    /// A dialog opened, or was open already: nothing is answered until it is handled.
    Dialog(Dialog),
    /// No answer came in time, or somebody cancelled.
    Late,
    /// The browser refused, in its own words.
    Refused(String),
    /// The page is gone for good.
    Gone(Error),
}

impl Stop {
    /// The same as an error, where nothing else can be made of it.
    pub(super) fn into_error(self, what: &str) -> Error {
        match self {
            Self::Dialog(dialog) => Error::surface(format!("{what}: {}", dialog.in_the_way())),
            Self::Late => Error::surface(format!(
                "{what}: the page gave no answer in time; its scripts may be busy"
            )),
            Self::Refused(words) => Error::surface(format!("{what}: {}", Shown(&words))),
            Self::Gone(error) => error,
        }
    }
}

/// A browser, or one page of it, on the other end of a pipe or a socket.
pub(super) struct Link {
    writer: Writer,
    messages: Receiver<Incoming>,
    clock: Clock,
    cancel: Cancel,
    /// Whether what goes on now may be cancelled.
    is_cancellable: bool,
    /// The session of the page; `None` while the browser itself is spoken to, and on a socket that
    /// is the page's own.
    session: Option<String>,
    last_id: u64,
    gone: Option<String>,
    /// Those that are open, of whichever tab: one may stop the scripts of others too.
    dialogs: Vec<Dialog>,
    tabs: Tabs,
    cast: Cast,
    news: News,
}

/// The small pictures a page sends when it was drawn.
#[derive(Default)]
struct Cast {
    last: String,
    is_damaged: bool,
}

impl Link {
    /// Over two pipes, messages ended by a zero byte.
    pub(super) fn over_pipes(
        to: impl Write + Send + 'static,
        from: impl Read + Send + 'static,
        welcome: Welcome,
        clock: &Clock,
    ) -> Result<Self> {
        let (writer, messages) = transport::over_pipes(to, from, welcome)?;
        Ok(Self::new(writer, messages, clock))
    }

    /// Over a web socket at `address`, `ws://host:port/devtools/…`.
    pub(super) fn over_socket(
        address: &str,
        patience: Duration,
        welcome: Welcome,
        clock: &Clock,
    ) -> Result<Self> {
        let (writer, messages) = transport::over_socket(address, patience, welcome)?;
        Ok(Self::new(writer, messages, clock))
    }

    fn new(writer: Writer, messages: Receiver<Incoming>, clock: &Clock) -> Self {
        Self {
            writer,
            messages,
            clock: clock.clone(),
            cancel: Cancel::never(),
            is_cancellable: false,
            session: None,
            last_id: 0,
            gone: None,
            dialogs: Vec::new(),
            tabs: Tabs::default(),
            cast: Cast::default(),
            news: News::default(),
        }
    }

    /// A switch that ends looks. Input is never cut short by it: what is held must be let go of.
    pub(super) fn heed(&mut self, cancel: &Cancel) {
        self.cancel = cancel.clone();
    }

    /// Whether calls are part of a look from now on.
    pub(super) const fn set_cancellable(&mut self, is_cancellable: bool) {
        self.is_cancellable = is_cancellable;
    }

    /// Whether what goes on now was cancelled.
    pub(super) fn is_cancelled(&self) -> bool {
        self.is_cancellable && self.cancel.is_cancelled()
    }

    /// From now on every call goes to this page, the tab of this id.
    pub(super) fn speak_to(&mut self, session: String, id: &str) {
        self.session = Some(session);
        self.cast = Cast::default();
        self.news.follow(id);
        self.tabs.follow(id);
        for dialog in &mut self.dialogs {
            dialog.tab = self.tabs.number_of(dialog.session.as_deref());
            dialog.tab.take_if(|number| self.tabs.is_current(*number));
        }
    }

    /// The first page that is there or comes before `give_up`, by its target id. `is_own` where all
    /// tabs are those of the browser started here: then each is attached to before it runs.
    pub(super) fn first_page(&mut self, is_own: bool, give_up: Duration) -> Result<String, Stop> {
        self.call("Target.setDiscoverTargets", &json!({"discover": true}), give_up)?;
        if is_own {
            let all = json!({
                "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true,
                "filter": [{"type": "page"}],
            });
            self.call("Target.setAutoAttach", &all, give_up)?;
        }
        loop {
            match self.tabs.first() {
                Some((id, session)) if session.is_some() || !is_own => return Ok(id),
                _ => {}
            }
            match self.receive(give_up)? {
                Some(message) => self.take_news(&message),
                None => return Err(Stop::Late),
            }
        }
    }

    /// The session of a tab, attached to where it is not yet.
    pub(super) fn attach_to(&mut self, id: &str, give_up: Duration) -> Result<String, Stop> {
        self.catch_up();
        // One that was just made is attached to by the browser itself, at once.
        let patience = give_up.min(self.clock.now() + OWN_ATTACH);
        while self.tabs.session_of(id).is_none() {
            match self.receive(patience)? {
                Some(message) => self.take_news(&message),
                None => break,
            }
        }
        if let Some(session) = self.tabs.session_of(id) {
            return Ok(session);
        }
        let wanted = json!({"targetId": id, "flatten": true});
        let attached = self.call_beside_dialog("Target.attachToTarget", &wanted, give_up)?;
        let none = || Stop::Refused("the page gives no session".to_owned());
        attached["sessionId"].as_str().map(str::to_owned).ok_or_else(none)
    }

    pub(super) const fn tabs(&self) -> &Tabs {
        &self.tabs
    }

    pub(super) const fn tabs_mut(&mut self) -> &mut Tabs {
        &mut self.tabs
    }

    /// Whether the browser itself is gone.
    pub(super) const fn has_ended(&self) -> bool {
        self.gone.is_some()
    }

    /// Asks the page for something. Ends at once when a dialog is or gets open.
    pub(super) fn call(
        &mut self,
        method: &str,
        params: &Value,
        give_up: Duration,
    ) -> Result<Value, Stop> {
        self.catch_up();
        if let Some(dialog) = self.dialogs.first() {
            return Err(Stop::Dialog(dialog.clone()));
        }
        if self.gone.is_none() && self.clock.now() >= give_up {
            return Err(Stop::Late);
        }
        let id = self.request(method, params)?;
        loop {
            if let Some(answer) = self.next_answer(id, give_up)? {
                return answer;
            }
            if let Some(dialog) = self.dialogs.first() {
                return Err(Stop::Dialog(dialog.clone()));
            }
        }
    }

    /// As [`Self::call`], for what is answered while a dialog is open.
    pub(super) fn call_beside_dialog(
        &mut self,
        method: &str,
        params: &Value,
        give_up: Duration,
    ) -> Result<Value, Stop> {
        let id = self.request(method, params)?;
        self.await_answer(id, give_up)
    }

    /// Answers a dialog, in the tab it is of.
    pub(super) fn answer_dialog(
        &mut self,
        dialog: &Dialog,
        answer: &Value,
        give_up: Duration,
    ) -> Result<(), Stop> {
        let session = dialog.session.as_deref();
        let id = self.request_of(session, "Page.handleJavaScriptDialog", answer)?;
        self.await_answer(id, give_up).map(drop)
    }

    fn await_answer(&mut self, id: u64, give_up: Duration) -> Result<Value, Stop> {
        loop {
            if let Some(answer) = self.next_answer(id, give_up)? {
                return answer;
            }
        }
    }

    /// The next message: the answer to `id`, or `None` for anything else.
    fn next_answer(
        &mut self,
        id: u64,
        give_up: Duration,
    ) -> Result<Option<Result<Value, Stop>>, Stop> {
        let Some(message) = self.receive(give_up)? else { return Err(Stop::Late) };
        if message["id"] != id {
            let was_lost = self.tabs.lost().is_some();
            self.take_news(&message);
            // One that is lost while it is asked gives no answer.
            if !was_lost && let Some(error) = self.gone() {
                return Err(Stop::Gone(error));
            }
            return Ok(None);
        }
        Ok(Some(match message["error"]["message"].as_str() {
            Some(words) => Err(Stop::Refused(words.to_owned())),
            None => Ok(message["result"].clone()),
        }))
    }

    /// Sends a request and waits for nothing.
    fn request(&mut self, method: &str, params: &Value) -> Result<u64, Stop> {
        // What is about the browser is asked of the browser: it outlives its tabs.
        if ["Target.", "Browser."].iter().any(|of_browser| method.starts_with(of_browser)) {
            return self.request_of(None, method, params);
        }
        if let Some(error) = self.gone() {
            return Err(Stop::Gone(error));
        }
        let session = self.session.clone();
        self.request_of(session.as_deref(), method, params)
    }

    fn request_of(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: &Value,
    ) -> Result<u64, Stop> {
        if let Some(why) = &self.gone {
            return Err(Stop::Gone(Error::surface(why.clone())));
        }
        self.last_id += 1;
        let mut request = json!({"id": self.last_id, "method": method, "params": params});
        if let Some(session) = session {
            request["sessionId"] = json!(session);
        }
        match write_message(&self.writer, &request) {
            Ok(()) => Ok(self.last_id),
            Err(_) => Err(Stop::Gone(self.end(GONE))),
        }
    }

    /// Sends a request whose answer nobody waits for.
    pub(super) fn tell(&mut self, method: &str, params: &Value) -> Result<(), Stop> {
        self.request(method, params).map(drop)
    }

    /// One message; `None` when the time is up.
    fn receive(&mut self, give_up: Duration) -> Result<Option<Value>, Stop> {
        loop {
            if let Some(why) = &self.gone {
                return Err(Stop::Gone(Error::surface(why.clone())));
            }
            let left = give_up.saturating_sub(self.clock.now());
            match self.messages.recv_timeout(left.min(CANCEL_INTERVAL)) {
                Ok(Incoming::Message(message)) => return Ok(Some(message)),
                Ok(Incoming::Ended(why)) => return Err(Stop::Gone(self.end(&why))),
                Err(RecvTimeoutError::Disconnected) => return Err(Stop::Gone(self.end(GONE))),
                Err(RecvTimeoutError::Timeout) if self.is_cancelled() => return Ok(None),
                Err(RecvTimeoutError::Timeout) if left <= CANCEL_INTERVAL => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn end(&mut self, why: &str) -> Error {
        Error::surface(self.gone.get_or_insert_with(|| why.to_owned()).clone())
    }

    /// Takes in what has come meanwhile, without waiting.
    pub(super) fn catch_up(&mut self) {
        while let Ok(incoming) = self.messages.try_recv() {
            match incoming {
                Incoming::Message(message) => self.take_news(&message),
                Incoming::Ended(why) => drop(self.end(&why)),
            }
        }
    }

    /// What a message means that answers no call. An answer to a call that was given up means
    /// nothing, nor does news of a kind nobody asked for.
    fn take_news(&mut self, message: &Value) {
        let params = &message["params"];
        let is_ours = match (&self.session, message["sessionId"].as_str()) {
            (Some(session), Some(named)) => session == named,
            _ => true,
        };
        let session = message["sessionId"].as_str();
        if let Some(method) = message["method"].as_str() {
            self.tabs.take(method, params, session);
        }
        match message["method"].as_str() {
            Some("Page.javascriptDialogOpening") => {
                let number = self.tabs.number_of(session).filter(|_| !is_ours);
                self.dialogs.push(Dialog::from_news(params, session, number));
            }
            Some("Page.javascriptDialogClosed") => self.forget_dialogs(session),
            Some("Target.detachedFromTarget") => {
                self.forget_dialogs(params["sessionId"].as_str());
            }
            Some("Page.screencastFrame") if is_ours => self.take_cast(params),
            // A socket of a page's own ends with the page.
            Some("Inspector.targetCrashed") if self.session.is_none() => drop(self.end(CRASHED)),
            Some("Inspector.detached") if self.session.is_none() => drop(self.end(CLOSED)),
            Some(method) if is_ours => self.news.take(method, params),
            _ => {}
        }
    }

    fn forget_dialogs(&mut self, session: Option<&str>) {
        self.dialogs.retain(|dialog| dialog.session.as_deref() != session);
    }

    /// The page's own frame: where that goes the page goes.
    pub(super) fn follow_frame(&mut self, frame: &str) {
        self.news.follow(frame);
    }

    /// Whether the page is on its way elsewhere.
    pub(super) const fn is_leaving(&self) -> bool {
        self.news.is_leaving()
    }

    /// Whether it came to another document since that was last forgotten.
    pub(super) const fn has_arrived(&self) -> bool {
        self.news.has_arrived()
    }

    /// The document is there.
    pub(super) const fn forget_arrival(&mut self) {
        self.news.forget_arrival();
    }

    /// Whether another tab has come in front since this was last asked.
    pub(super) fn take_behind(&mut self) -> bool {
        self.catch_up();
        self.tabs.take_behind()
    }

    /// What happened since this was last asked, in lines.
    pub(super) fn take_told(&mut self) -> Vec<String> {
        let mut lines = self.news.take_told();
        lines.append(&mut self.tabs.take_told());
        lines
    }

    /// A screenshot makes the page send its picture too: one that looks like the last is no news.
    fn take_cast(&mut self, params: &Value) {
        let picture = params["data"].as_str().unwrap_or_default();
        if picture != self.cast.last {
            // The first is sent because it was asked for.
            self.cast.is_damaged = !self.cast.last.is_empty();
            picture.clone_into(&mut self.cast.last);
        }
        // Where the page is gone the next call says so.
        let received = json!({"sessionId": params["sessionId"]});
        drop(self.tell("Page.screencastFrameAck", &received));
    }

    /// The dialog that is open.
    pub(super) fn dialog(&self) -> Option<&Dialog> {
        self.dialogs.first()
    }

    /// Takes the dialog that is open, to handle it: the next one may follow at once.
    pub(super) fn take_dialog(&mut self) -> Option<Dialog> {
        (!self.dialogs.is_empty()).then(|| self.dialogs.remove(0))
    }

    /// The dialog is still there.
    pub(super) fn put_dialog_back(&mut self, dialog: Dialog) {
        if self.dialogs.is_empty() {
            self.dialogs.push(dialog);
        }
    }

    /// Why the page is gone, if it is.
    pub(super) fn gone(&self) -> Option<Error> {
        self.gone.clone().or_else(|| self.tabs.lost()).map(Error::surface)
    }

    /// Waits until something was drawn; `false` when the time is up first, or a dialog is open.
    pub(super) fn await_damage(&mut self, until: Duration) -> Result<bool> {
        loop {
            self.catch_up();
            if std::mem::take(&mut self.cast.is_damaged) {
                return Ok(true);
            }
            match self.receive(until) {
                Ok(Some(message)) => self.take_news(&message),
                Ok(None) => return Ok(false),
                Err(stop) => return Err(stop.into_error("the page cannot be watched")),
            }
        }
    }

    /// What was drawn until now was looked at.
    pub(super) fn forget_damage(&mut self) {
        self.catch_up();
        self.cast.is_damaged = false;
    }
}

/// How long a tab that was just made is waited for to be attached to by itself.
const OWN_ATTACH: Duration = Duration::from_millis(500);

const CLOSED: &str = "the page was closed; open it again";
const CRASHED: &str = "the page has crashed; open it again";
