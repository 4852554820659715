//! The thread the surface lives on: one call after the other.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use crate::act::{
    Action, Executor, ExecutorOptions, ImagePoint, Observation, ObservationId, Receipt, Refusal,
    RefusalKind, Request, Status, quoted,
};
use crate::clock::Cancel;
use crate::error::{Error, Result};
use crate::frame::{Frame, write_png};
use crate::front::change::{Showing, Shown, show, show_inline};
use crate::front::cli::act::{image_of, in_words};
use crate::front::cli::output::remark;
use crate::front::cli::surface::Opened;
use crate::front::pictures::write_frames;
use crate::front::wire::{self, act::Image};
use crate::report::{ChangeReport, DiffOptions, Preset, compare};

use super::Options;
use super::answer::{Told, areas_in_image, boxes, in_image_words};
use super::images::{Observations, place_matches};

/// How many calls may wait for their turn.
const QUEUE: usize = 32;

/// No tool: a job that is answered once [`Seen`] is of now.
pub(super) const LOOK: &str = "look";

/// One call of a tool.
pub(super) struct Job {
    /// The tool's name.
    pub(super) tool: &'static str,
    pub(super) arguments: Map<String, Value>,
    /// Ends it.
    pub(super) cancel: Cancel,
    pub(super) reply: oneshot::Sender<Told>,
}

/// A surface that is open, on a thread that ends when nobody can give it jobs any more.
pub(super) struct Worker {
    pub(super) jobs: SyncSender<Job>,
    pub(super) thread: JoinHandle<()>,
    /// The name of its session; none of a surface that gives none.
    pub(super) name: Option<String>,
    pub(super) seen: Arc<Mutex<Seen>>,
}

/// What was seen last of a session.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// The page's address.
    pub(super) url: Option<String>,
    pub(super) is_alive: bool,
    /// Why it cannot be looked at.
    pub(super) trouble: Option<String>,
}

/// Opens the surface on a thread of its own, whose observations are counted after a number. What
/// takes its time is given up when `cancel` is thrown.
///
/// # Errors
/// When the surface cannot be opened or takes no input.
pub(super) fn start(options: Options, count_after: u32, cancel: &Cancel) -> Result<Worker> {
    let (sender, jobs) = sync_channel(QUEUE);
    let (opened, is_open) = sync_channel(1);
    let seen = Arc::<Mutex<Seen>>::default();
    let (noted, cancel) = (seen.clone(), cancel.clone());
    let thread = std::thread::spawn(move || {
        let surface = options.surface.open_unless(&cancel);
        let worked = surface
            .and_then(|surface| work(&options, surface, count_after, &jobs, &opened, &noted));
        if let Err(error) = worked {
            // Whoever waits for the surface to open waits for this.
            drop(opened.send(Err(error)));
        }
    });
    match is_open.recv() {
        Ok(Ok(name)) => Ok(Worker { jobs: sender, thread, name, seen }),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(Error::surface("the session ended before it began")),
    }
}

fn work(
    options: &Options,
    mut surface: Opened,
    count_after: u32,
    jobs: &Receiver<Job>,
    opened: &SyncSender<Result<Option<String>>>,
    seen: &Mutex<Seen>,
) -> Result<()> {
    let clock = surface.clock.clone();
    let executor_options =
        ExecutorOptions::new().max_edge(options.max_edge).count_after(count_after.into());
    let mut session = Session {
        executor: Executor::new(surface.driven()?, clock, executor_options)
            .with_access(options.permission.access.clone()),
        kept: Observations::default(),
        untold: Vec::new(),
        options,
    };
    session.note(seen);
    let name = session.executor.surface().document().map(|page| page.session().to_owned());
    drop(opened.send(Ok(name)));
    for job in jobs {
        let told = match job.tool {
            // Whoever asked waits no more.
            LOOK if job.reply.is_closed() => continue,
            // What is seen now is noted below.
            LOOK => Told::new(String::new(), Value::Null),
            tool => session.answer(tool, job.arguments, &job.cancel),
        };
        session.note(seen);
        // A call that was cancelled is answered to nobody.
        drop(job.reply.send(told));
    }
    Ok(())
}

/// One executor, from the first call to the last.
struct Session<'s> {
    executor: Executor<'s>,
    kept: Observations,
    /// What became of calls that were cancelled, for the next that is answered.
    untold: Vec<String>,
    options: &'s Options,
}

impl Session<'_> {
    /// Notes what is seen now, for whoever asks from elsewhere.
    fn note(&mut self, seen: &Mutex<Seen>) {
        let Some(address) = self.options.address() else { return };
        let elements = self.executor.current().and_then(|current| current.elements.as_ref());
        let url = elements.map(|elements| elements.url.clone());
        let surface = self.executor.surface();
        let trouble = surface.geometry().err().map(|error| error.to_string());
        // A browser lives on when its tab is closed.
        let mut goes_on = || surface.document()?.lost_tab();
        let is_alive = trouble.is_none() || goes_on().is_some();
        // A panic elsewhere leaves it as it was.
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        let url = url.or_else(|| seen.url.take()).unwrap_or(address);
        *seen = Seen { url: Some(url), is_alive, trouble };
    }

    fn answer(
        &mut self,
        tool: &'static str,
        arguments: Map<String, Value>,
        cancel: &Cancel,
    ) -> Told {
        if cancel.is_cancelled() {
            let told = self.not_begun(tool);
            self.note_cancelled(tool, &told);
            return told;
        }
        self.options.permission.refresh();
        self.executor.set_cancel(cancel.clone());
        let mut told = match tool {
            "diff" => self.diff(&arguments),
            action => self.act(action, arguments, cancel),
        };
        if let Some(observation) = self.executor.current() {
            self.kept.keep(observation);
        }
        if cancel.is_cancelled() {
            self.note_cancelled(tool, &told);
        } else if !self.untold.is_empty() {
            let lines = std::mem::take(&mut self.untold).join("\n");
            told.text = format!("{lines}\n{}", told.text);
        }
        told
    }

    /// The answer to a call that was cancelled before its turn, or whose session ended before it.
    fn not_begun(&self, tool: &str) -> Told {
        let message =
            "it was cancelled, or the session ended, before its turn came; nothing was sent";
        match tool {
            "diff" => not_compared("cancelled", message),
            action => self.refused(action, Refusal::new(RefusalKind::Cancelled, message)),
        }
    }

    /// What a cancelled call came to is answered to nobody: the next answer tells it.
    fn note_cancelled(&mut self, tool: &str, told: &Told) {
        let first = told.text.lines().next().unwrap_or_default();
        let line = format!("the {tool} before this was cancelled: {first}");
        remark(&line);
        self.untold.push(line);
    }

    fn act(&mut self, action: &str, arguments: Map<String, Value>, cancel: &Cancel) -> Told {
        let request = match self.request(action, arguments) {
            Ok(request) => request,
            Err(refusal) => return self.refused(action, refusal),
        };
        let chosen_from = self.executor.current().cloned();
        let pointer = self.pointer();
        let receipt = match self.executor.execute(&request) {
            Ok(receipt) => receipt,
            // The look before the action was cut short: that is no trouble of the surface.
            Err(_) if cancel.is_cancelled() => {
                let message = "it was cancelled before the surface was seen; nothing was sent";
                return self.refused(action, Refusal::new(RefusalKind::Cancelled, message));
            }
            Err(error) => return self.trouble(action, &error),
        };
        let moved = self.pointer_moved(&receipt, chosen_from.as_ref(), pointer);
        let was = chosen_from.as_ref().map(|observation| observation.id);
        let mut told = self.told(&request, &receipt, was);
        if let Some((from, to)) = moved {
            told.text.push_str(&format!(
                "\nmind: the pointer is at {to:?}, not at {from:?} where it was left: somebody else moved it meanwhile"
            ));
        }
        told.json["pointer_moved"] =
            moved.map(|(from, to)| json!({"from": place(from), "to": place(to)})).into();
        told
    }

    /// The request a call stands for.
    fn request(&self, action: &str, mut arguments: Map<String, Value>) -> Result<Request, Refusal> {
        let takes = |field: &str| field != "action" && wire::act::has_field(action, field);
        if let Some(field) = arguments.keys().find(|field| !takes(field)) {
            return Err(unknown(action, field, &super::tools::fields(action, self.options.on())));
        }
        arguments.insert("action".to_owned(), action.into());
        place_matches(&mut arguments);
        let folder = self.options.images.as_deref();
        wire::act::request_with(arguments, &|value| self.kept.image(value, folder))
    }

    /// The answer to what is no request of that action.
    fn refused(&self, action: &str, refusal: Refusal) -> Told {
        let text = format!("refused {action}: {refusal}");
        let receipt = self.executor.refuse(None, refusal);
        let mut json = wire::act::receipt(&receipt, None, self.image(None).as_ref());
        json["action"] = json!({"action": action});
        Told { is_error: true, ..Told::new(text, json) }
    }

    /// The answer when the surface can be neither seen nor asked; nothing was sent.
    fn trouble(&self, action: &str, error: &Error) -> Told {
        let refusal = Refusal::new(RefusalKind::Unsupported, error.to_string());
        let mut told = self.refused(action, refusal);
        told.text = format!("trouble with {action}, nothing was sent: {error}");
        told.json["refusal"]["kind"] = error.kind().name().into();
        told
    }

    /// `was` is the observation that was current before.
    fn told(&self, request: &Request, receipt: &Receipt, was: Option<ObservationId>) -> Told {
        let is_error = receipt.status != Status::Delivered;
        let is_fresh = receipt.after.is_some() && receipt.after != was && receipt.change.is_none();
        let told = match &receipt.action {
            Some(_) if is_fresh => self.observed(request, receipt),
            _ => self.changed(request, receipt),
        };
        let told = told.unwrap_or_else(|error| {
            // What was sent must not go untold because of a picture.
            let text = format!("{}\nno pictures: {error}", in_words(receipt, None));
            Told::new(text, wire::act::receipt(receipt, None, self.image(None).as_ref()))
        });
        let mut told = Told { is_error, ..told };
        shorten(&mut told.json);
        told
    }

    /// The answer to `observe`: the whole image.
    fn observed(&self, request: &Request, receipt: &Receipt) -> Result<Told> {
        let words = in_words(receipt, None);
        let Some(observation) = self.executor.current().filter(|_| request.screenshot) else {
            let json = wire::act::receipt(receipt, None, self.image(None).as_ref());
            return Ok(Told::new(words, json));
        };
        let Observation { id, image: size, frame, elements, .. } = observation;
        let image = image_of(observation, request.marks)?;
        let path = match self.folder(id.to_string()) {
            Some(folder) => write_frames(&folder, &[("observation.png".to_owned(), &image)])?.pop(),
            None => None,
        };
        let text = format!(
            "{words}\nimage 1 is {id}, {size} pixels{}: points are pixels of it",
            if *size == frame.size() {
                String::new()
            } else {
                format!(" of a {} frame", frame.size())
            },
        );
        let mut json = wire::act::receipt(receipt, None, self.image(path).as_ref());
        if let (true, Some(elements)) = (request.marks, elements) {
            json["page"]["elements"] = wire::act::element_map(elements);
        }
        Told::new(text, json).showing([&image])
    }

    /// The answer to anything else: what changed, with its pictures.
    fn changed(&self, request: &Request, receipt: &Receipt) -> Result<Told> {
        let image = self.image(None);
        let Some(change) = &receipt.change else {
            return Ok(Told::new(
                in_words(receipt, None),
                wire::act::receipt(receipt, None, image.as_ref()),
            ));
        };
        let folder = receipt.after.and_then(|id| self.folder(id.to_string()));
        let showing = Showing {
            out: folder.as_deref(),
            whole: receipt.page.as_ref().is_some_and(|page| page.has_navigated),
            within: Some(change.looked),
            ..Showing::default()
        };
        let frames = (change.before.as_ref(), change.after.as_ref());
        let (shown, pictures) = self.shown(&change.report, frames, showing, request.screenshot)?;
        let image = self.image(self.keep_page(receipt, folder.as_deref(), request.screenshot)?);
        let mut text = in_words(receipt, Some(&shown.text));
        let mut json = wire::act::receipt(receipt, Some(shown.json), image.as_ref());
        if let Some(observation) = self.executor.current()
            && let Some(areas) = areas_in_image(&change.report, observation)
        {
            text.push_str(&format!("\n{}", in_image_words(&areas, observation)));
            json["areas_in_image"] = boxes(&areas);
        }
        Told::new(text, json).showing(&pictures)
    }

    /// The answer to `diff`: two observations compared.
    fn diff(&self, arguments: &Map<String, Value>) -> Told {
        match Pair::read(arguments, &self.kept).map(|pair| self.compared(&pair)) {
            Ok(Ok(told)) => told,
            Ok(Err(error)) => not_compared(error.kind().name(), &error.to_string()),
            Err(refusal) => not_compared(refusal.kind().name(), &refusal.to_string()),
        }
    }

    fn compared(&self, pair: &Pair<'_>) -> Result<Told> {
        let (before, after) = (pair.before.frame.as_ref(), pair.after.frame.as_ref());
        let options = DiffOptions::preset(pair.preset).scale(pair.after.geometry.scale);
        let report = compare(before.as_ref(), after.as_ref(), &options)?;
        let (from, to) = (pair.before.id, pair.after.id);
        let folder = self.folder(format!("{from}-{to}"));
        let showing = Showing { out: folder.as_deref(), ..Showing::default() };
        let (shown, pictures) = self.shown(&report, (before, after), showing, pair.screenshot)?;
        let mut json = shown.json;
        json["observations"] = json!({"before": from.to_string(), "after": to.to_string()});
        let mut text = format!("{from} before, {to} after. {}", shown.text);
        if let Some(areas) = areas_in_image(&report, pair.after) {
            text.push_str(&format!("\n{}", in_image_words(&areas, pair.after)));
            json["areas_in_image"] = boxes(&areas);
        }
        Told::new(text, json).showing(&pictures)
    }

    /// A change in words and JSON, with its pictures where they are wanted.
    fn shown(
        &self,
        report: &ChangeReport,
        (before, after): (&Frame, &Frame),
        showing: Showing<'_>,
        wants_pictures: bool,
    ) -> Result<(Shown, Vec<Frame>)> {
        let (before, after) = (before.as_ref(), after.as_ref());
        if !wants_pictures {
            return Ok((
                show(report, before, after, Showing { out: None, ..showing })?,
                Vec::new(),
            ));
        }
        let (shown, pictures) = show_inline(report, before, after, self.options.max_edge, showing)?;
        Ok((shown, pictures.into_iter().map(|picture| picture.frame).collect()))
    }

    /// Where the pointer is, in frame pixels.
    fn pointer(&mut self) -> Option<(i32, i32)> {
        // Where it cannot be told nothing is said of it.
        self.executor.surface().pointer_at().ok().flatten()
    }

    /// Where the pointer was left and where it is, when somebody else moved it meanwhile.
    fn pointer_moved(
        &mut self,
        receipt: &Receipt,
        chosen_from: Option<&Observation>,
        before: Option<(i32, i32)>,
    ) -> Option<((i32, i32), (i32, i32))> {
        let action = receipt.action.as_ref().filter(|_| receipt.status == Status::Delivered)?;
        let left = match last_point(action) {
            Some(point) => {
                let pixel = chosen_from?.locate(point).ok()?;
                (i32::try_from(pixel.x).ok()?, i32::try_from(pixel.y).ok()?)
            }
            None => before?,
        };
        self.pointer().filter(|&now| now != left).map(|now| (left, now))
    }

    /// The picture of a page after an action, beside those of the change.
    fn keep_page(
        &self,
        receipt: &Receipt,
        folder: Option<&Path>,
        is_wanted: bool,
    ) -> Result<Option<PathBuf>> {
        let observation = self.executor.current().filter(|_| is_wanted && receipt.page.is_some());
        let Some((folder, observation)) = folder.zip(observation) else { return Ok(None) };
        let path = folder.join("observation.png");
        write_png(&path, &image_of(observation, false)?)?;
        Ok(Some(path))
    }

    fn image(&self, path: Option<PathBuf>) -> Option<Image> {
        let observation = self.executor.current()?;
        Some(Image { size: observation.image, frame: observation.frame.size(), path })
    }

    fn folder(&self, name: String) -> Option<PathBuf> {
        self.options.out.as_ref().map(|out| out.join(name))
    }
}

/// The answer to a `diff` that was not done.
pub(super) fn not_compared(kind: &str, message: &str) -> Told {
    let error = json!({"kind": kind, "message": message});
    let json = json!({"schema": "seechange.diff/1", "error": error});
    Told { is_error: true, ..Told::new(format!("refused diff: {message}"), json) }
}

/// What `diff` is asked for.
struct Pair<'o> {
    before: &'o Observation,
    after: &'o Observation,
    preset: Preset,
    screenshot: bool,
}

impl<'o> Pair<'o> {
    fn read(arguments: &Map<String, Value>, kept: &'o Observations) -> Result<Self, Refusal> {
        let takes = super::tools::fields("diff", super::schema::On::Screen);
        if let Some(field) = arguments.keys().find(|field| !takes.contains(field)) {
            return Err(unknown("diff", field, &takes));
        }
        let observation = |field: &str| {
            let Some(Value::String(id)) = arguments.get(field) else {
                let message = format!("diff needs {field}, the id of an observation such as obs-3");
                return Err(Refusal::new(RefusalKind::MissingField, message));
            };
            kept.named(id.parse::<ObservationId>()?)
        };
        let preset = match arguments.get("preset").map(|preset| (preset, preset.as_str())) {
            None => Preset::Live,
            Some((_, Some(name))) => {
                name.parse().map_err(|error: Error| Refusal::bad_value(error.to_string()))?
            }
            Some((other, None)) => {
                let kind = wire::strict::kind(other);
                return Err(Refusal::bad_value(format!("preset must be a string, not {kind}")));
            }
        };
        let screenshot = match arguments.get("screenshot") {
            None => true,
            Some(Value::Bool(screenshot)) => *screenshot,
            Some(other) => {
                let kind = wire::strict::kind(other);
                let message = format!("screenshot must be true or false, not {kind}");
                return Err(Refusal::bad_value(message));
            }
        };
        Ok(Self {
            before: observation("before")?,
            after: observation("after")?,
            preset,
            screenshot,
        })
    }
}

/// The refusal of an argument a tool does not have.
fn unknown(tool: &str, field: &str, takes: &[String]) -> Refusal {
    let takes = match takes {
        [] => "no arguments".to_owned(),
        takes => takes.join(", "),
    };
    let message = format!("{tool} has no argument {}: it takes {takes}", quoted(field));
    Refusal::new(RefusalKind::UnknownField, message)
}

/// The last point an action moves the pointer to.
fn last_point(action: &Action) -> Option<ImagePoint> {
    match action {
        Action::Click { at, .. }
        | Action::RightClick { at, .. }
        | Action::DoubleClick { at, .. }
        | Action::Hover { at }
        | Action::Scroll { at, .. } => Some(*at),
        Action::Drag(drag) => Some(drag.to),
        Action::DragAlong(path) => Some(path.to),
        Action::Hold(hold) => hold.actions.iter().rev().find_map(last_point),
        Action::Sequence(steps) => steps.iter().rev().find_map(|step| last_point(&step.action)),
        _ => None,
    }
}

fn place((x, y): (i32, i32)) -> Value {
    json!({"x": x, "y": y})
}

/// The looks of a wait one by one are for programs that ask the command: a model pays for each.
fn shorten(receipt: &mut Value) {
    for path in ["/wait", "/postcondition/wait"] {
        let Some(wait) = receipt.pointer_mut(path).filter(|wait| wait.is_object()) else {
            continue;
        };
        let looks = wait["timeline"].as_array().map_or(0, Vec::len) as u64;
        let omitted = wait["timeline_omitted"].as_u64().unwrap_or(0);
        wait["timeline"] = json!([]);
        wait["timeline_omitted"] = (looks + omitted).into();
    }
}
