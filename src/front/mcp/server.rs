//! What the protocol asks for, handed to the session and back.

use std::path::Path;
use std::sync::mpsc::TrySendError;
use std::time::Duration;

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProgressToken,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::act::limits::{TIMEOUT_MS_DEFAULT, WAIT_SECONDS_DEFAULT};
use crate::clock::Clock;
use crate::error::Result;
use crate::front::cli::doctor::checkup;
use crate::front::cli::surface::SurfaceName;

use super::Options;
use super::answer::Told;
use super::running::{Call, Running};
use super::schema::On;
use super::session::Job;
use super::sessions::{Not, Sessions, take_name};
use super::tools;

/// The number of calls that are in none.
const NO_SESSION: u32 = 0;

/// How often a client that asked for progress hears of it.
const BEAT: Duration = Duration::from_secs(1);

/// The tools of all sessions.
pub(super) struct Server {
    options: Options,
    tools: Vec<Tool>,
    sessions: Sessions,
    running: Running,
    clock: Clock,
}

impl Server {
    pub(super) fn new(options: Options, sessions: Sessions, running: Running) -> Self {
        let tools = tools::offered(options.is_read_only, options.on());
        Self { options, tools, sessions, running, clock: Clock::system() }
    }

    /// Waits for the answer, tells of progress, and passes a cancellation on.
    async fn carry_out(
        &self,
        tool: &'static str,
        mut arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Result<Told, ErrorData> {
        let entered =
            self.named(&mut arguments).and_then(|name| self.sessions.enter(name.as_deref()));
        let (jobs, call) = match entered {
            Ok(entered) => entered,
            Err(not) => return Ok(not.told(tool)),
        };
        let progress = self.progress(tool, &arguments, context);
        let (reply, told) = oneshot::channel();
        let job = Job { tool, arguments, cancel: call.cancel.clone(), reply };
        match jobs.try_send(job) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Ok(busy(tool)),
            Err(TrySendError::Disconnected(_)) => return Err(over()),
        }
        // A session that is closed ends once nobody can give it jobs.
        drop(jobs);
        self.answered(&call, told, progress, context).await
    }

    /// The name of the session that is meant; a server of a screen knows no such argument.
    fn named(&self, arguments: &mut JsonObject) -> Result<Option<String>, Not> {
        match self.options.on() {
            On::Page => take_name(arguments),
            On::Screen => Ok(None),
        }
    }

    /// Opens or closes a session, on a thread of its own, for either takes its time.
    async fn settle(
        &self,
        tool: &'static str,
        arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Result<Told, ErrorData> {
        let call = self.running.enter(NO_SESSION);
        let progress = self.progress(tool, &arguments, context);
        let (reply, told) = oneshot::channel();
        let (sessions, cancel) = (self.sessions.clone(), call.cancel.clone());
        std::thread::spawn(move || {
            let told = match tool {
                "open_session" => sessions.open(&arguments, &cancel),
                _ => sessions.close(&arguments),
            };
            // Where nobody waits any more nothing is to be told.
            drop(reply.send(told));
        });
        self.answered(&call, told, progress, context).await
    }

    /// Waits for the answer.
    async fn answered(
        &self,
        call: &Call,
        mut told: oneshot::Receiver<Told>,
        mut progress: Progress,
        context: &RequestContext<RoleServer>,
    ) -> Result<Told, ErrorData> {
        loop {
            tokio::select! {
                told = &mut told => return told.map_err(|_| over()),
                () = context.ct.cancelled(), if !call.cancel.is_cancelled() => call.cancel.cancel(),
                () = tokio::time::sleep(BEAT) => progress.tell(&self.clock).await,
            }
        }
    }

    fn progress(
        &self,
        tool: &'static str,
        arguments: &JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Progress {
        Progress {
            tool,
            token: context.meta.get_progress_token(),
            peer: context.peer.clone(),
            began: self.clock.now(),
            total: asked_for(tool, arguments),
        }
    }

    /// What `doctor` answers, asked on a thread of its own so that it also answers meanwhile.
    async fn doctor(&self, mut arguments: JsonObject) -> Result<Told, ErrorData> {
        let name = match self.named(&mut arguments) {
            Ok(name) => name,
            Err(not) => return Ok(not.told("doctor")),
        };
        if let Some(argument) = arguments.keys().next() {
            let message = format!(
                "doctor has no argument {}: it takes {}",
                crate::act::quoted(argument),
                if self.options.on() == On::Page { "session_id" } else { "no arguments" }
            );
            return Ok(not_examined(&message));
        }
        let (reply, told) = oneshot::channel();
        let options = self.options.clone();
        std::thread::spawn(move || {
            // Where nobody waits any more nothing is to be told.
            drop(reply.send(examined(&options)));
        });
        let told = told.await.map_err(|_| over())?;
        match self.options.on() {
            On::Screen => Ok(told),
            On::Page => Ok(self.with_sessions(told, name.as_deref()).await),
        }
    }

    /// The same with the sessions there are.
    async fn with_sessions(&self, mut told: Told, name: Option<&str>) -> Told {
        match self.sessions.listed(name).await {
            Ok((rows, words)) => {
                told.json["sessions"] = rows.into();
                told.text = format!("{}\n{words}", told.text);
                told
            }
            Err(not) => not.told("doctor"),
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        let mut name = Implementation::new("seechange", env!("CARGO_PKG_VERSION"));
        name.title = Some("seechange".to_owned());
        name.description = Some(env!("CARGO_PKG_DESCRIPTION").to_owned());
        info.server_info = name;
        info.instructions = Some(tools::instructions(self.options.on()));
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = tools::named(&request.name) else {
            let names: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_ref()).collect();
            let name = crate::act::quoted(&request.name);
            let message = format!("there is no tool {name}: use {}", names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let told = match tool {
            "doctor" => self.doctor(arguments).await?,
            "open_session" | "close_session" => self.settle(tool, arguments, &context).await?,
            _ => self.carry_out(tool, arguments, &context).await?,
        };
        Ok(CallToolResponse::from(CallToolResult::from(told)))
    }
}

impl From<Told> for CallToolResult {
    fn from(told: Told) -> Self {
        told.into_result()
    }
}

/// How far a call is, for a client that asked.
struct Progress {
    tool: &'static str,
    token: Option<ProgressToken>,
    peer: Peer<RoleServer>,
    began: Duration,
    /// How long it was asked to take at most, where that is known.
    total: Option<Duration>,
}

impl Progress {
    async fn tell(&mut self, clock: &Clock) {
        let Some(token) = &self.token else { return };
        let elapsed = clock.now().saturating_sub(self.began);
        let message = match self.total {
            Some(total) => {
                format!("{}: {} of {} s", self.tool, elapsed.as_secs(), total.as_secs_f64())
            }
            None => format!("{}: {} s", self.tool, elapsed.as_secs()),
        };
        let mut told = ProgressNotificationParam::new(token.clone(), elapsed.as_secs_f64())
            .with_message(message);
        if let Some(total) = self.total.filter(|total| elapsed <= *total) {
            told = told.with_total(total.as_secs_f64());
        }
        // A client that hears nothing more has left, which ends the call elsewhere.
        drop(self.peer.notify_progress(told).await);
    }
}

/// How long a wait was asked to take at most.
fn asked_for(tool: &str, arguments: &JsonObject) -> Option<Duration> {
    let number = |field: &str| arguments.get(field).and_then(Value::as_f64);
    let seconds = match tool {
        "wait" => number("seconds").unwrap_or(WAIT_SECONDS_DEFAULT),
        "wait_for" => number("timeout_ms").unwrap_or(TIMEOUT_MS_DEFAULT.into()) / 1000.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

fn busy(tool: &str) -> Told {
    let message = "too many calls wait for their turn already: wait for an answer first";
    let json = json!({
        "schema": if tool == "diff" { "seechange.diff/1" } else { "seechange.act/1" },
        "status": "refused",
        "refusal": {"kind": "busy", "message": message},
        "observation": {"before": null, "after": null, "image": null, "frame": null},
        "delivery": {
            "events_planned": 0, "delivered_count": 0, "pressed": 0, "released": 0, "route": "",
        },
    });
    Told { is_error: true, ..Told::new(format!("refused {tool}: {message}"), json) }
}

fn over() -> ErrorData {
    ErrorData::internal_error("the session is over: start the server again", None)
}

/// What works here. Of a surface that is no display there is nothing to examine.
fn examined(options: &Options) -> Told {
    let session = json!({
        "surface": options.surface.to_string(),
        "read_only": options.is_read_only,
        "max_edge": options.max_edge,
        "out": options.out.as_deref().map(path),
        "images": options.images.as_deref().map(path),
    });
    let about = format!(
        "surface: {}{}; images of at most {} px an edge",
        options.surface,
        if options.is_read_only { ", read-only" } else { "" },
        options.max_edge
    );
    let is_display = matches!(options.surface, SurfaceName::X11 | SurfaceName::X11Window(_));
    if !is_display {
        let json = json!({
            "schema": "seechange.doctor/1", "findings": [], "display": null, "session": session,
        });
        return Told::new(about, json);
    }
    match checkup() {
        Ok(answer) => {
            let mut json = answer.json;
            json["session"] = session;
            Told::new(format!("{about}\n{}", answer.text), json)
        }
        Err(error) => not_examined(&error.to_string()),
    }
}

fn not_examined(message: &str) -> Told {
    let json = json!({"schema": "seechange.doctor/1", "findings": [message], "display": null});
    Told { is_error: true, ..Told::new(format!("refused doctor: {message}"), json) }
}

fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
