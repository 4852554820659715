//! `seechange act`: one action, or a stream of them, and what each changed.

pub(in crate::front) mod lines;
pub(in crate::front) mod permission;
mod short;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde_json::{Map, Value};

use crate::act::{
    Action, Executor, ExecutorOptions, Observation, ObservationId, Receipt, Refusal, RefusalKind,
    Tab,
};
use crate::clock::Cancel;
use crate::error::{Error, Result, Shown};
use crate::frame::Frame;
use crate::front::change::{self, Showing, show};
use crate::front::pictures::{check_out, keep_inputs, write_frames};
use crate::front::wire::{self, act::Image};
use crate::report::{Preset, copy};

use super::args::{CompareArgs, OutputArgs, SurfaceArgs};
use super::cancel_on_signal;
use super::output::{Answer, say};

use lines::{Line, Lines};
use permission::{Permission, PolicyArgs};
use short::FieldArgs;

/// By when the Return that started the command is up again.
const RETURN_IS_UP: Duration = Duration::from_millis(300);

#[derive(Debug, Args)]
#[command(after_help = "Short forms, where points are pixels of the surface:
  observe | click X Y | right_click X Y | double_click X Y | hover X Y
  drag FROM_X FROM_Y TO_X TO_Y | scroll X Y --dy N --dx N
  key ctrl+s | hotkey ctrl s | select_all | type_text TEXT | wait SECONDS
  wait_for stable|changed | wait_for matches|appears|gone PNG

On a page (browser:URL) also by the ref of an element, such as 1:a of the first observation:
  observe --marks | click REF | right_click REF | double_click REF | hover REF
  type_text REF TEXT | drag REF TO_REF | scroll REF up|down|left|right AMOUNT --by line|page
  scroll_to_element REF | dialog accept|dismiss [ANSWER] | navigate URL
  tab N | tab open URL | tab close N
  wait_for text TEXT | visible|enabled REF-OR-NAME | gone REF | url GLOB

What has no short form is JSON, in a file or on stdin: hold, sequence, a drag with via, a
postcondition, a timeout of wait_for (5 s otherwise), and the observation a point was read from.
The README lists every action with its fields.

Exit code: 0 delivered (and met, where something was waited for by name), 1 refused, unknown or
not met, 2 trouble. With -, the worst of the lines.")]
pub(super) struct ActArgs {
    /// An action's name and its values, a file ACTION.json, or - to read one JSON action a line
    /// from stdin. Each is answered in a few lines of words, or with --json in one line.
    #[arg(required = true, value_name = "ACTION", allow_negative_numbers = true)]
    words: Vec<String>,
    /// Give points in an image made smaller, with a longest edge of at most this, instead of in
    /// pixels of the surface. Areas in the answer stay in pixels of the surface.
    #[arg(long, value_name = "N")]
    max_edge: Option<u32>,
    #[command(flatten)]
    surface: SurfaceArgs,
    #[command(flatten)]
    compare: CompareArgs,
    /// Act also where something else is seen at a point than in the observation it was chosen from.
    #[arg(long)]
    ignore_target_change: bool,
    #[command(flatten)]
    output: OutputArgs,
    // Last, for the headings they begin hold for all that follows.
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    fields: FieldArgs,
}

/// Carries out what the arguments ask for, and prints the answers.
///
/// # Errors
/// When the arguments make no sense, a file cannot be read, or the surface cannot be seen.
pub(super) fn run(args: &ActArgs) -> Result<ExitCode> {
    let out = args.output.out.as_deref();
    keep_inputs(out, args.compare.mask.as_deref())?;
    check_out(out, &[])?;
    let (what, options, permission) = (args.what()?, args.options()?, args.policy.open()?);
    let cancel = cancel_on_signal()?;
    let mut opened = args.surface.name()?.open()?;
    let clock = opened.clock.clone();
    let executor = Executor::new(opened.driven()?, clock, options)
        .with_cancel(cancel.clone())
        .with_access(permission.access.clone());
    let mut session = Session { executor, out, is_stream: false, permission: Some(&permission) };
    match what {
        What::Stream => {
            let lines = Lines::of(std::io::stdin(), wire::act::MAX_BYTES);
            let print = |answer: &Answer| say(&answer.line(args.output.json));
            Ok(ExitCode::from(session.stream(&lines, &cancel, print)?))
        }
        What::One(object) => Ok(session.answer(*object)?.print(args.output.json)),
    }
}

/// What the words of the command line ask for.
enum What {
    /// Requests from stdin until it ends.
    Stream,
    /// One object, or the refusal of what is none.
    One(Box<Result<Map<String, Value>, Refusal>>),
}

impl What {
    fn one(object: Result<Map<String, Value>, Refusal>) -> Self {
        Self::One(Box::new(object))
    }
}

impl ActArgs {
    /// A first word that is an action's name begins a short form; `-` is stdin; anything else is a
    /// file (`./click` is one, `click` is not).
    fn what(&self) -> Result<What> {
        let (first, rest) = self.words.split_first().ok_or_else(|| no_action(""))?;
        if let Some(action) = short::action_name(first) {
            let object = short::object(&action, rest, &self.fields).map_err(Error::usage)?;
            return Ok(What::one(Ok(object)));
        }
        if !rest.is_empty() {
            return Err(no_action(first));
        }
        if !self.fields.is_empty() {
            let message = "--button, --modifiers and the like set fields of a short form: write \
                           them into the JSON instead";
            return Err(Error::usage(message));
        }
        match first.as_str() {
            "-" => Ok(What::Stream),
            path => Ok(What::one(wire::object(&read(Path::new(path))?))),
        }
    }

    fn options(&self) -> Result<ExecutorOptions> {
        let options = ExecutorOptions::new()
            .checks_target(!self.ignore_target_change)
            .diff(self.compare.options(Preset::Live)?)
            .patience(RETURN_IS_UP);
        match self.max_edge {
            Some(0) => Err(Error::usage("--max-edge 0 leaves no image: use at least 1")),
            Some(pixels) => Ok(options.max_edge(pixels)),
            None => Ok(options),
        }
    }
}

fn no_action(word: &str) -> Error {
    Error::usage(format!("'{word}' is no action: use {}", wire::act::action_names().join(", ")))
}

/// A file's bytes, of a request that is too long one more than it may have.
fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = wire::act::MAX_BYTES as u64 + 1;
    File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)).map_err(|error| {
        Error::io(format!("{} is no action's name and cannot be read", path.display()), error)
    })?;
    Ok(bytes)
}

/// One executor, from the first request to the last.
struct Session<'s> {
    executor: Executor<'s>,
    out: Option<&'s Path>,
    is_stream: bool,
    permission: Option<&'s Permission>,
}

impl Session<'_> {
    /// One answer a line, until the lines end or `cancel` fires. Gives the exit code: 1 when any
    /// was not delivered.
    fn stream(
        &mut self,
        lines: &Lines,
        cancel: &Cancel,
        mut print: impl FnMut(&Answer) -> Result<()>,
    ) -> Result<u8> {
        self.is_stream = true;
        let mut code = 0;
        while let Some(line) = lines.next(cancel).map_err(|error| Error::io("stdin", error))? {
            let object = match line {
                Line::TooLong => Err(wire::act::too_long()),
                Line::Text(text) if text.trim_ascii().is_empty() => continue,
                Line::Text(text) => wire::object(&text),
            };
            let answer = self.answer(object)?;
            code = code.max(answer.code);
            print(&answer)?;
        }
        Ok(code.max(u8::from(cancel.is_cancelled())))
    }

    /// Carries out what an object asks for; without an observation it takes its own just before.
    fn answer(&mut self, object: Result<Map<String, Value>, Refusal>) -> Result<Answer> {
        if let Some(permission) = self.permission {
            permission.refresh();
        }
        let images = |image: &Value| self.image_to_wait_for(image);
        let request = object.and_then(|object| wire::act::request_with(object, &images));
        let (mut receipt, wants_pictures, marks) = match request {
            Ok(request) => {
                let receipt = self.executor.execute_fresh(&request)?;
                (receipt, request.screenshot, request.marks)
            }
            Err(refusal) => (self.executor.refuse(None, refusal), false, false),
        };
        let is_fresh = receipt.refusal.is_none() || receipt.page.is_some();
        let out = self.folder(&receipt).filter(|_| wants_pictures && is_fresh);
        self.told(&receipt, out.as_deref(), marks).or_else(|error| {
            // What was sent and what it changed must not go untold because of a picture.
            receipt.remark(&format!("no pictures: {error}"));
            self.told(&receipt, None, marks)
        })
    }

    /// A picture of a condition. One that an earlier run wrote where this one will write its own is
    /// refused; this run never writes to the folder of an observation twice.
    fn image_to_wait_for(&self, image: &Value) -> Result<Frame, Refusal> {
        let path = image.as_str().map(Path::new);
        let folder = match path.and_then(Path::parent) {
            Some(folder) if self.is_stream => Some(folder).filter(|folder| self.is_to_come(folder)),
            _ => self.out,
        };
        keep_inputs(folder, path)
            .map_err(|error| Refusal::new(RefusalKind::BadValue, error.to_string()))?;
        wire::act::image_file(image)
    }

    /// Whether this stream may yet write its pictures into `folder`.
    fn is_to_come(&self, folder: &Path) -> bool {
        let same = |one: &Path, other: &Path| {
            one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
        };
        let is_ours = self.out.zip(folder.parent()).is_some_and(|(out, folder)| same(out, folder));
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let last = self.executor.current().map(|observation| observation.id);
        is_ours && name.parse::<ObservationId>().is_ok_and(|id| Some(id) > last)
    }

    fn told(&self, receipt: &Receipt, out: Option<&Path>, marks: bool) -> Result<Answer> {
        let Some(observation) = self.executor.current() else {
            return answer(receipt, out);
        };
        let (size, frame) = (observation.image, observation.frame.size());
        let picture = out.map(|_| image_of(observation, marks)).transpose()?;
        let beside = picture.as_ref().map(|picture| ("observation.png", picture));
        let shown = shown(receipt, out, beside)?;
        let path = match (out, beside, &shown) {
            // Nothing else to show.
            (Some(folder), Some((name, picture)), None) => {
                write_frames(folder, &[(name.to_owned(), picture)])?.pop()
            }
            (folder, beside, _) => folder.zip(beside).map(|(folder, (name, _))| folder.join(name)),
        };
        let mut answer = in_both_forms(receipt, shown, Some(&Image { size, frame, path }));
        if let (true, Some(elements)) = (marks, &observation.elements) {
            answer.json["page"]["elements"] = wire::act::element_map(elements);
        }
        Ok(answer)
    }

    /// Where an action's pictures go: in a stream, a folder each.
    fn folder(&self, receipt: &Receipt) -> Option<PathBuf> {
        match receipt.after {
            Some(id) if self.is_stream => Some(self.out?.join(id.to_string())),
            _ => self.out.map(Path::to_path_buf),
        }
    }
}

/// The image of an observation, with its elements numbered where that is asked for.
///
/// # Errors
/// Only when memory runs out.
pub(in crate::front) fn image_of(observation: &Observation, marks: bool) -> Result<Frame> {
    let frame = observation.frame.as_ref();
    match observation.elements.as_ref().filter(|_| marks) {
        Some(elements) => copy(elements.picture(frame)?.as_ref(), observation.image),
        None => copy(frame.as_ref(), observation.image),
    }
}

/// A receipt in words and as JSON, its pictures written to `out`.
///
/// # Errors
/// When the pictures cannot be written.
pub(super) fn answer(receipt: &Receipt, out: Option<&Path>) -> Result<Answer> {
    Ok(in_both_forms(receipt, shown(receipt, out, None)?, None))
}

fn in_both_forms(receipt: &Receipt, shown: Option<change::Shown>, image: Option<&Image>) -> Answer {
    let (words, change) = shown.map(|shown| (shown.text, shown.json)).unzip();
    let text = in_words(receipt, words.as_deref());
    let json = wire::act::receipt(receipt, change, image);
    Answer { text, json, code: u8::from(!receipt.is_fulfilled()) }
}

fn shown(
    receipt: &Receipt,
    out: Option<&Path>,
    beside: Option<(&str, &Frame)>,
) -> Result<Option<change::Shown>> {
    let Some(change) = &receipt.change else { return Ok(None) };
    let whole = receipt.page.as_ref().is_some_and(|page| page.has_navigated);
    let showing = Showing { out, diff: None, whole, within: Some(change.looked), beside };
    let (before, after) = (change.before.as_ref(), change.after.as_ref());
    show(&change.report, before.as_ref(), after.as_ref(), showing).map(Some)
}

/// A receipt for people: the status first, then what changed.
pub(in crate::front) fn in_words(receipt: &Receipt, change: Option<&str>) -> String {
    let name = receipt.action.as_ref().map_or("request", Action::name);
    let mut lines = match &receipt.refusal {
        Some(refusal) => vec![format!("refused {name}: {refusal}")],
        None => vec![sent_in_words(name, receipt)],
    };
    lines.extend(target_in_words(receipt));
    lines.extend(receipt.message.clone());
    if let Some(postcondition) = &receipt.postcondition {
        lines.push(format!("postcondition {}", postcondition.outcome.sentence()));
    }
    if let (Some(Action::WaitFor(_)), Some(outcome)) = (&receipt.action, &receipt.wait) {
        lines.push(outcome.sentence());
        lines.extend(super::wait::doubts(outcome));
    }
    lines.extend(change.map(|change| beside_elements(receipt, change)));
    let moving = receipt.still_moving().iter().map(|rect| format!("still moving: {rect}"));
    lines.extend(moving);
    lines.extend(page_in_words(receipt));
    lines.join("\n")
}

/// Which element was acted on.
fn target_in_words(receipt: &Receipt) -> Option<String> {
    let target = receipt.page.as_ref()?.target.as_ref()?;
    Some(format!("on {target}"))
}

/// What the pixels say, and where they say nothing that the elements say nothing either.
fn beside_elements(receipt: &Receipt, change: &str) -> String {
    let (Some(page), Some(seen)) = (&receipt.page, &receipt.change) else {
        return change.to_owned();
    };
    let looked = seen.looked.as_millis();
    let (first, rest) = change.split_once('\n').unwrap_or((change, ""));
    let words = match (first.starts_with("Nothing changed in"), page.changes.is_empty()) {
        (true, true) => {
            format!("Nothing changed in the page's elements or pixels within {looked} ms.")
        }
        (true, false) => format!("Nothing changed in the page's pixels within {looked} ms."),
        (false, _) => return change.to_owned(),
    };
    if rest.is_empty() { words } else { format!("{words}\n{rest}") }
}

/// How many elements are listed in words; JSON has them all.
const MOST_ELEMENTS: usize = 150;

/// What changed in the page, and what can be acted on now.
fn page_in_words(receipt: &Receipt) -> Vec<String> {
    let Some(page) = &receipt.page else { return Vec::new() };
    let mut lines = Vec::new();
    // A page that is another one is told whole below.
    let changes = page.changes.iter().filter(|line| !page.has_navigated || !line.starts_with("+ "));
    let changes: Vec<&String> = changes.collect();
    if !changes.is_empty() {
        lines.push("In the page:".to_owned());
        lines.extend(changes.iter().map(|line| format!("  {line}")));
    }
    if page.tabs.len() > 1 {
        lines.push("Tabs:".to_owned());
        lines.extend(page.tabs.iter().map(tab_in_words));
    }
    let Some(elements) = &page.elements else { return lines };
    let count = elements.list.len();
    lines.push(format!(
        "Page \"{}\" {}, {count} elements:",
        Shown(&elements.title),
        Shown(&elements.url)
    ));
    lines.extend(elements.list.iter().take(MOST_ELEMENTS).map(|each| format!("  {}", each.line())));
    if count > MOST_ELEMENTS {
        lines.push(format!("  … and {} more, all of them in the JSON", count - MOST_ELEMENTS));
    }
    lines
}

/// `* 2 "Title" url`, the star at the current one.
fn tab_in_words(tab: &Tab) -> String {
    let mark = if tab.is_current { '*' } else { ' ' };
    format!("  {mark} {} \"{}\" {}", tab.number, Shown(&tab.title), Shown(&tab.url))
}

fn sent_in_words(name: &str, receipt: &Receipt) -> String {
    let delivery = &receipt.delivery;
    let mut line = format!("{} {name}", receipt.status.name());
    if delivery.events_planned > 0 {
        line.push_str(&format!(
            ": {} of {} events through {}",
            delivery.delivered_count, delivery.events_planned, delivery.route
        ));
    }
    if let Some(id) = receipt.after {
        line.push_str(&format!("; now {id}"));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::act::fake::{Fake, Fault};
    use clap::Parser;
    use serde_json::json;

    #[derive(Debug, Parser)]
    struct Only {
        #[command(flatten)]
        act: ActArgs,
    }

    fn parse(words: &str) -> Result<ActArgs, clap::Error> {
        let words = words.split('|').filter(|word| !word.is_empty());
        Ok(Only::try_parse_from(["act"].into_iter().chain(words))?.act)
    }

    #[test]
    fn short_forms_stand_for_this_json() {
        for (words, object) in [
            ("click|412|230", json!({"action": "click", "x": 412, "y": 230})),
            (
                "click|4.5|-2|--button|right|--count|2|--modifiers|ctrl,shift",
                json!({"action": "click", "x": 4.5, "y": -2, "button": "right", "count": 2,
                       "modifiers": ["ctrl", "shift"]}),
            ),
            ("double-click|1|2", json!({"action": "double_click", "x": 1, "y": 2})),
            ("right_click|1|x", json!({"action": "right_click", "x": 1, "y": "x"})),
            ("hover|NaN|1e999", json!({"action": "hover", "x": "NaN", "y": "1e999"})),
            (
                "scroll|400|300|--dy|-3",
                json!({"action": "scroll", "x": 400, "y": 300, "delta_y": -3}),
            ),
            (
                "drag|10|20|200|220|--steps|5|--duration-ms|0",
                json!({"action": "drag", "from_x": 10, "from_y": 20, "to_x": 200, "to_y": 220,
                       "steps": 5, "duration_ms": 0}),
            ),
            ("key|ctrl+s", json!({"action": "key", "key": "s", "modifiers": ["ctrl"]})),
            ("key|Enter", json!({"action": "key", "key": "Enter"})),
            ("hotkey|ctrl|shift|s", json!({"action": "hotkey", "keys": ["ctrl", "shift", "s"]})),
            ("hotkey|ctrl+s", json!({"action": "hotkey", "keys": ["ctrl", "s"]})),
            ("type|123", json!({"action": "type_text", "text": "123"})),
            ("type_text|--|-x $(y) 'z'", json!({"action": "type_text", "text": "-x $(y) 'z'"})),
            ("select-all", json!({"action": "select_all"})),
            ("wait", json!({"action": "wait"})),
            ("wait|0.5", json!({"action": "wait", "seconds": 0.5})),
            ("observe", json!({"action": "observe"})),
            (
                "wait-for|gone|a.png",
                json!({"action": "wait_for", "condition": "gone", "image": "a.png"}),
            ),
            ("sequence", json!({"action": "sequence"})),
            ("tab|2", json!({"action": "tab", "tab": 2})),
            ("tab|open|http://a/", json!({"action": "tab", "url": "http://a/"})),
            ("tab|close|2", json!({"action": "tab", "tab": 2, "close": true})),
        ] {
            let args = parse(words).unwrap();
            let action = short::action_name(&args.words[0]).unwrap();
            let built = short::object(&action, &args.words[1..], &args.fields).unwrap();
            assert_eq!(Value::Object(built), object, "{words}");
        }
    }

    #[test]
    fn what_is_no_short_form_is_a_file_or_an_error() {
        for (words, message) in [
            (
                "clik|1|2",
                "'clik' is no action: use observe, click, right_click, double_click, \
                          hover, drag, scroll, scroll_to_element, key, hotkey, select_all, \
                          type_text, hold, sequence, wait, wait_for, dialog, navigate, tab",
            ),
            (
                "./click",
                "./click is no action's name and cannot be read: no such file or directory",
            ),
            ("click|1|2|3", "click takes x y: '3' is left over"),
            ("observe|now", "observe takes nothing: 'now' is left over"),
            ("type|two|words", "type_text takes one text, not 2 words: put it in quotes"),
            ("key|a|b", "key takes one key such as ctrl+s: 'b' is left over"),
            (
                "-|--button|left",
                "--button, --modifiers and the like set fields of a short form: \
                                 write them into the JSON instead",
            ),
        ] {
            let message_was = match parse(words).unwrap().what() {
                Err(error) => error.to_string(),
                Ok(_) => "no error".to_owned(),
            };
            assert_eq!(message_was, message, "{words}");
        }
        assert!(matches!(parse("-").unwrap().what(), Ok(What::Stream)));
        assert!(parse("").is_err());
    }

    #[test]
    fn a_file_holds_one_action() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("click");
        for (content, kind) in [
            ("{\n  \"action\": \"click\",\n  \"x\": 1, \"y\": 2\n}\n", None),
            ("{\"action\":\"click\"}", Some(RefusalKind::MissingField)),
            ("", Some(RefusalKind::Malformed)),
        ] {
            std::fs::write(&path, content).unwrap();
            let What::One(object) = parse(path.to_str().unwrap()).unwrap().what().unwrap() else {
                panic!("{content}");
            };
            let request = object.and_then(wire::act::request_of);
            assert_eq!(request.err().map(|refusal| refusal.kind()), kind, "{content}");
        }
    }

    /// The receipts of a stream of lines, and the exit code.
    fn stream(
        fake: &mut Fake,
        input: &str,
        cancel: &Cancel,
        out: Option<&Path>,
    ) -> (Vec<Value>, u8) {
        let clock = fake.clock.clone();
        let executor =
            Executor::new(fake, clock, ExecutorOptions::new()).with_cancel(cancel.clone());
        let mut session = Session { executor, out, is_stream: false, permission: None };
        let lines = Lines::of(std::io::Cursor::new(input.to_owned()), wire::act::MAX_BYTES);
        let mut receipts = Vec::new();
        let code = session.stream(&lines, cancel, |answer| {
            receipts.push(answer.json.clone());
            Ok(())
        });
        (receipts, code.unwrap())
    }

    #[test]
    fn a_stream_answers_each_line_and_goes_on() {
        let long = "x".repeat(wire::act::MAX_BYTES + 1);
        let input = format!(
            "{}\n\n{}\n{long}\n{}\n{}\n{}\n",
            r#"{"action":"observe"}"#,
            r#"{"action":"click","x":5,"y":5,"observation":"obs-1"}"#,
            r#"{"action":"click","x":5,"y":5,"observation":"obs-1"}"#,
            "nope",
            r#"{"action":"click","x":20,"y":20}"#,
        );
        let folder = tempfile::tempdir().unwrap();
        let mut fake = Fake::new(64, 48);
        let (receipts, code) = stream(&mut fake, &input, &Cancel::never(), Some(folder.path()));
        let told: Vec<(&str, &Value, &Value)> = receipts
            .iter()
            .map(|receipt| {
                let status = receipt["status"].as_str().unwrap();
                (status, &receipt["refusal"]["kind"], &receipt["observation"]["after"])
            })
            .collect();
        assert_eq!(
            told,
            [
                ("delivered", &Value::Null, &json!("obs-1")),
                ("delivered", &Value::Null, &json!("obs-2")),
                ("refused", &json!("malformed"), &json!("obs-2")),
                ("refused", &json!("stale_observation"), &json!("obs-2")),
                ("refused", &json!("malformed"), &json!("obs-2")),
                ("delivered", &Value::Null, &json!("obs-4")),
            ]
        );
        assert_eq!(code, 1);
        assert_eq!(receipts[1]["change"]["verdict"], "changed");
        assert!(folder.path().join("obs-1").join("observation.png").is_file());
        assert!(folder.path().join("obs-2").join("overview.png").is_file());
        let image = &receipts[1]["observation"]["image"];
        assert_eq!((&image["width"], &image["height"]), (&json!(64), &json!(48)));
        assert!(Path::new(image["path"].as_str().unwrap()).is_file());
        assert!(folder.path().join("obs-4").join("overview.png").is_file());
        assert!(fake.held.is_empty());
        let (_, code) =
            stream(&mut fake, r#"{"action":"hover","x":1,"y":1}"#, &Cancel::never(), None);
        assert_eq!(code, 0);
    }

    #[test]
    fn what_was_sent_is_told_also_where_no_picture_can_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let mut fake = Fake::new(64, 48);
        let click = r#"{"action":"click","x":5,"y":5}"#;
        let (receipts, code) = stream(&mut fake, click, &Cancel::never(), Some(&file));
        assert_eq!((&receipts[0]["status"], code), (&json!("delivered"), 0));
        let message = receipts[0]["message"].as_str().unwrap();
        assert!(message.starts_with("no pictures: "), "{message}");
    }

    #[test]
    fn a_cancelled_stream_lets_go_answers_and_ends() {
        let cancel = Cancel::new();
        let mut fake = Fake::new(64, 48);
        fake.fault = Some((4, Fault::Cancels(cancel.clone())));
        let drag = r#"{"action":"drag","from_x":1,"from_y":1,"to_x":30,"to_y":30}"#;
        let (receipts, code) = stream(&mut fake, &format!("{drag}\n{drag}\n"), &cancel, None);
        assert_eq!((receipts.len(), code), (1, 1));
        assert_eq!(receipts[0]["status"], "unknown");
        let clean = json!({"keys": [], "buttons": [], "verified": true});
        assert_eq!(receipts[0]["held_after"], clean);
        assert!(fake.held.is_empty());
    }

    #[test]
    fn answers_in_words_begin_with_the_status() {
        for (input, text) in [
            (
                r#"{"action":"hover","x":1,"y":1}"#,
                "delivered hover: 1 of 1 events through fake; now obs-2\n\
                 Nothing changed in the frame within 300 ms.",
            ),
            (r#"{"action":"observe"}"#, "delivered observe; now obs-1"),
            (
                r#"{"action":"hover","x":99,"y":1}"#,
                "refused hover: point (99, 1) is outside the 64x48 image of obs-1 (capture 64x48)",
            ),
            (r#"{"action":"hover"}"#, "refused request: hover needs x"),
        ] {
            let mut fake = Fake::new(64, 48);
            let clock = fake.clock.clone();
            let executor = Executor::new(&mut fake, clock, ExecutorOptions::new());
            let mut session = Session { executor, out: None, is_stream: false, permission: None };
            assert_eq!(session.answer(wire::object(input.as_bytes())).unwrap().text, text);
        }
    }
}
