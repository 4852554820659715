//! Recorded timelines with a known right answer, which must not depend on the seed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use seechange::report::{DiffOptions, Preset};
use seechange::surface::replay::{FrameIds, Recording};
use seechange::wait::{Condition, Outcome, WaitOptions, wait};
use seechange::{Cancel, Clock, Error, Frame, PixelFormat, Rect, Scope, Size, frame};
use serde_json::{Value, json};

use crate::command::seechange;
use crate::shared;

/// One line of arguments as `seechange wait` takes them.
struct Request {
    condition: Condition,
    options: WaitOptions,
    ids: FrameIds,
}

fn duration(text: &str) -> Duration {
    let digits = text.trim_end_matches(char::is_alphabetic);
    let number: f64 = digits.parse().unwrap();
    match &text[digits.len()..] {
        "s" => Duration::from_secs_f64(number),
        "ms" | "" => Duration::from_secs_f64(number / 1000.0),
        unit => panic!("unit {unit}"),
    }
}

fn request(folder: &Path, args: &[String]) -> Result<Request, Error> {
    let mut words = args.iter().map(String::as_str);
    let name = words.next().unwrap();
    let mut picture =
        || -> Result<Frame, Error> { frame::read(&folder.join(words.next().unwrap())) };
    let mut condition = match name {
        "stable" => Condition::stable(),
        "changed" => Condition::changed(),
        "matches" => Condition::matches(picture()?),
        "appears" => Condition::appears(picture()?),
        "gone" => Condition::gone(picture()?),
        other => panic!("condition {other}"),
    };
    let (mut options, mut ids) = (WaitOptions::new(), FrameIds::EachLook);
    let mut scope = Scope::everything();
    while let Some(option) = words.next() {
        let mut value = || words.next().unwrap();
        match option {
            "--timeout" => options = options.timeout(duration(value())),
            "--interval" => options = options.interval(duration(value())),
            "--grace" => options = options.grace(duration(value())),
            "--input-at" => options = options.input_at(duration(value())),
            "--hold" => condition = condition.hold(duration(value())),
            "--captures" => condition = condition.captures(value().parse().unwrap()),
            "--region" => scope = scope.region(value().parse()?),
            "--ignore" => scope = scope.ignore(value().parse()?),
            "--ignore-periodic" => condition = condition.ignore_periodic(true),
            "--require-seen" => condition = condition.require_seen(true),
            "--frame-ids" => {
                assert_eq!(value(), "strict");
                ids = FrameIds::Strict;
            }
            other => panic!("option {other}"),
        }
    }
    condition = condition.diff(DiffOptions::preset(Preset::Live).scope(scope));
    Ok(Request { condition, options, ids })
}

fn answer(
    folder: &Path,
    recording: &Recording,
    args: &[String],
    seed: u64,
) -> Result<Outcome, Error> {
    let Request { condition, options, ids } = request(folder, args)?;
    let clock = Clock::simulated();
    let mut surface = recording.play(&clock, ids);
    wait(&mut surface, &condition, &options.seed(seed), &clock, &Cancel::never())
}

fn rects(rects: &[Rect]) -> Value {
    rects.iter().map(|rect| json!([rect.x(), rect.y(), rect.width(), rect.height()])).collect()
}

/// What lies at a dotted path of the answer.
fn at_path(outcome: &Outcome, path: &str) -> Value {
    match path {
        "captures" => json!(outcome.captures),
        "late_ms" => json!(outcome.late.map(|late| late.as_millis())),
        "found" => rects(outcome.found.as_slice()),
        "flags" => outcome.flags.iter().map(|flag| flag.name()).collect(),
        "transients" => outcome
            .transients
            .iter()
            .flat_map(|one| rects(&one.areas).as_array().cloned())
            .collect(),
        "unmet.moving" => rects(&outcome.unmet.as_ref().unwrap().moving),
        "ignored.carets" => rects(&outcome.ignored.carets),
        "ignored.periodic" => {
            rects(&outcome.ignored.periodic.iter().map(|one| one.rect).collect::<Vec<_>>())
        }
        other => panic!("path {other}"),
    }
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    value.as_array()?.iter().map(Value::as_f64).collect()
}

/// Whether some rectangle anywhere inside `value` overlaps `wanted`.
fn some_overlaps(value: &Value, wanted: &[f64]) -> bool {
    if let Some(rect) = numbers(value).filter(|numbers| numbers.len() == 4) {
        let apart = |axis: usize| {
            rect[axis] >= wanted[axis] + wanted[axis + 2]
                || wanted[axis] >= rect[axis] + rect[axis + 2]
        };
        return !apart(0) && !apart(1);
    }
    value.as_array().is_some_and(|inner| inner.iter().any(|value| some_overlaps(value, wanted)))
}

fn holds(value: &Value, wanted: &Value) -> bool {
    match (wanted, numbers(wanted)) {
        (Value::String(text), _) if text == "nonempty" => {
            value.as_array().is_some_and(|list| !list.is_empty())
        }
        (Value::String(_), _) => {
            value == wanted || value.as_array().is_some_and(|list| list.contains(wanted))
        }
        (_, Some(wanted)) if wanted.len() == 4 => some_overlaps(value, &wanted),
        (_, Some(wanted)) => {
            value.as_f64().is_some_and(|number| wanted[0] <= number && number <= wanted[1])
        }
        _ => value.as_f64() == wanted.as_f64(),
    }
}

/// What is wrong with an answer.
fn faults(case: &Value, answer: &Result<Outcome, Error>) -> Vec<String> {
    let (outcome, exit) = match answer {
        Ok(outcome) => (json!(outcome.kind.name()), if outcome.is_met() { 0 } else { 1 }),
        Err(_) => (Value::Null, 2),
    };
    let mut faults = Vec::new();
    if case["exit"] != exit || case["outcome"] != outcome {
        faults.push(format!("exit {exit}, outcome {outcome}"));
    }
    let Ok(answer) = answer else { return faults };
    if let Some(window) = case.get("met_at_ms") {
        let met_at = answer.met_at.map(|at| at.as_secs_f64() * 1000.0);
        if !holds(&json!(met_at), window) {
            faults.push(format!("met at {met_at:?}, not in {window}"));
        }
    }
    for (path, wanted) in case.get("has").and_then(Value::as_object).into_iter().flatten() {
        let value = at_path(answer, path);
        if !holds(&value, wanted) {
            faults.push(format!("{path} is {value}, not {wanted}"));
        }
    }
    faults
}

/// A dotted path into the JSON of the command, rectangles as four numbers.
fn in_json(answer: &Value, path: &str) -> Value {
    let value = path.split('.').fold(answer, |value, name| &value[name]);
    plain_rects(value)
}

fn plain_rects(value: &Value) -> Value {
    match value {
        Value::Object(fields) if fields.contains_key("x") => {
            json!(["x", "y", "width", "height"].map(|name| &fields[name]))
        }
        Value::Object(fields) => fields.values().map(plain_rects).collect(),
        Value::Array(values) => values.iter().map(plain_rects).collect(),
        other => other.clone(),
    }
}

/// What is wrong with the answer of the command.
fn command_faults(folder: &Path, case: &Value, args: &[String]) -> Vec<String> {
    let words = args.iter().map(|word| {
        if word.ends_with(".png") { folder.join(word).display().to_string() } else { word.clone() }
    });
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_seechange"))
        .arg("wait")
        .args(words)
        .args(["--json", "--seed", "3", "--surface", &format!("replay:{}", folder.display())])
        .output()
        .unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut faults = Vec::new();
    let code = output.status.code();
    if case["exit"] != json!(code) || answer["outcome"] != case["outcome"] {
        faults.push(format!("exit {code:?}, outcome {}", answer["outcome"]));
    }
    if code == Some(2) {
        let is_one_line = output.stderr.iter().filter(|byte| **byte == b'\n').count() == 1;
        if answer["error"]["kind"].is_null() || !is_one_line {
            faults.push(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        return faults;
    }
    if let Some(window) =
        case.get("met_at_ms").filter(|window| !holds(&answer["met_at_ms"], window))
    {
        faults.push(format!("met at {}, not in {window}", answer["met_at_ms"]));
    }
    for (path, wanted) in case.get("has").and_then(Value::as_object).into_iter().flatten() {
        if !holds(&in_json(&answer, path), wanted) {
            faults.push(format!("{path} is {}, not {wanted}", in_json(&answer, path)));
        }
    }
    faults
}

fn scenarios(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> =
        entries.filter(|path| path.join("expect.json").is_file()).collect();
    folders.sort();
    folders
}

/// Ten seeds, or as many as `SEECHANGE_SEEDS` says.
fn seeds() -> u64 {
    std::env::var("SEECHANGE_SEEDS").map_or(10, |text| text.parse().unwrap())
}

#[test]
fn every_timeline_gets_its_right_answer_whatever_the_seed() {
    let Some(folder) = shared::folder("waits") else { return };
    let only = std::env::var("SEECHANGE_ONLY").unwrap_or_default();
    let (mut right, mut total, mut wrong) = (0, 0, Vec::new());
    for folder in scenarios(&folder).iter().filter(|path| path.to_str().unwrap().contains(&only)) {
        let expect: Value =
            serde_json::from_str(&std::fs::read_to_string(folder.join("expect.json")).unwrap())
                .unwrap();
        let recording = Recording::open(folder).unwrap();
        for case in expect["cases"].as_array().unwrap() {
            let args: Vec<String> = serde_json::from_value(case["args"].clone()).unwrap();
            let name = folder.file_name().unwrap().display();
            wrong.extend(
                command_faults(folder, case, &args)
                    .iter()
                    .map(|fault| format!("{name} {args:?} by command: {fault}")),
            );
            for seed in 0..seeds() {
                let faults = faults(case, &answer(folder, &recording, &args, seed));
                total += 1;
                right += u64::from(faults.is_empty());
                wrong.extend(
                    faults.iter().map(|fault| format!("{name} {args:?} seed {seed}: {fault}")),
                );
            }
        }
    }
    println!("waits: {right}/{total} right");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A recording in which a box comes at 400 ms, and the box as a picture.
fn recording() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut page = Frame::filled(Size::new(80, 60).unwrap(), PixelFormat::Rgba, [240; 4]);
    frame::write_png(&folder.path().join("0.png"), &page).unwrap();
    for row in 20..40 {
        page.data_mut()[(row * 80 + 30) * 4..][..20 * 4].fill(60);
    }
    frame::write_png(&folder.path().join("1.png"), &page).unwrap();
    let seen = page.crop("26,16,28,28".parse().unwrap()).unwrap();
    frame::write_png(&folder.path().join("a box.png"), &seen).unwrap();
    let frames = json!([{"at_ms": 0, "file": "0.png"}, {"at_ms": 400, "file": "1.png"}]);
    let damage = json!([{"at_ms": 400, "rect": {"x": 30, "y": 20, "width": 20, "height": 20}}]);
    let timeline = json!({"schema": "seechange.timeline/1", "frames": frames, "damage": damage});
    std::fs::write(folder.path().join("timeline.json"), timeline.to_string()).unwrap();
    folder
}

#[test]
fn the_command_names_the_first_of_several_that_is_met() {
    let folder = recording();
    let corner = "changed --region 0,0,9,9 --timeout 300ms --captures 1 --hold 0ms";
    let seen = "appears 'a box.png'";
    for (words, met_by, code, told) in [
        (vec!["--any", corner, "--any", seen], json!(1), 0, "appears 'a box.png' met after 400 ms"),
        (vec!["changed", "--any", seen], json!(1), 0, "(condition 2)"),
        (vec!["--any", corner], json!(null), 1, "none of 1 conditions met"),
        (vec!["stable", "--hold", "2s", "--any", corner], json!(null), 1, "no change stayed"),
    ] {
        let surface = ["--surface", "replay:.", "--timeout", "2100ms", "--json"];
        let words: Vec<&str> = ["wait"].into_iter().chain(words).chain(surface).collect();
        let answer = seechange(folder.path(), &words);
        let json = answer.json();
        assert_eq!(answer.code, Some(code), "{words:?}: {json}");
        assert_eq!(json["met_by"]["index"], met_by, "{words:?}: {json}");
        assert!(json["sentence"].as_str().unwrap().contains(told), "{words:?}: {json}");
    }
    for (words, told) in [
        (vec!["--any", "appears"], "--any 'appears': matches, appears and gone need a picture"),
        (vec!["--any", "changed 'x"], "--any 'changed 'x': the words end in an open quote"),
        (vec!["--any", "done"], "--any 'done': invalid value 'done'"),
        (vec!["--any", "stable --hold 9s"], "stable --hold 9s: a hold of 9000 ms does not fit"),
        (vec!["changed", "--max-cpu", "5"], "'5' is no share of one core"),
    ] {
        let words: Vec<&str> = ["wait", "--surface", "replay:."].into_iter().chain(words).collect();
        let answer = seechange(folder.path(), &words);
        assert_eq!(answer.code, Some(2), "{words:?}");
        assert!(answer.stderr.contains(told), "{words:?}: {}", answer.stderr);
        assert_eq!(answer.stderr.lines().count(), 1, "{words:?}");
    }
}
