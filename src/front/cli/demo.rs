//! `seechange demo`: the whole loop on the simulated application.
//!
//! Nothing here knows what the answers will be: each step is a request like any other, carried out
//! by the same executor, wait and report as on a real display.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use crate::act::{Executor, ExecutorOptions, Status};
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::front::wire;
use crate::surface::demo::Demo;

use super::act::answer;
use super::output::Answer;

#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// One JSON object on stdout.
    #[arg(long)]
    pub(super) json: bool,
    /// The folder the pictures are written to, a folder for each step.
    #[arg(long, value_name = "DIR", default_value = "seechange-demo")]
    out: PathBuf,
}

/// One action, and what it is to show.
struct Step {
    /// Its folder.
    name: &'static str,
    /// What a reader should look for.
    says: &'static str,
    action: fn() -> Value,
    /// What is to become of it.
    status: Status,
}

const STEPS: [Step; 10] = [
    Step {
        name: "1-focus",
        says: "Click into the title field: its edge turns blue and a caret appears",
        action: || json!({"action": "click", "x": 300, "y": 105}),
        status: Status::Delivered,
    },
    Step {
        name: "2-caret",
        says: "Look on for a while: the caret blinks, and that alone is no change",
        action: || json!({"action": "wait", "seconds": 1.6}),
        status: Status::Delivered,
    },
    Step {
        name: "3-typing",
        says: "Type a title",
        action: || json!({"action": "type_text", "text": "Plums"}),
        status: Status::Delivered,
    },
    Step {
        name: "4-save",
        says: "Click Save: it answers late, with a spinner and a message that come and go",
        action: || json!({"action": "click", "x": 584, "y": 45}),
        status: Status::Delivered,
    },
    Step {
        name: "5-menu",
        says: "Open the menu: area 1 is at the input point",
        action: || json!({"action": "click", "x": 44, "y": 45}),
        status: Status::Delivered,
    },
    Step {
        name: "6-escape",
        says: "Close it with a key",
        action: || json!({"action": "key", "key": "escape"}),
        status: Status::Delivered,
    },
    Step {
        name: "7-drag",
        says: "Drag the first note below the third",
        action: || json!({"action": "drag", "from_x": 90, "from_y": 111, "to_x": 90, "to_y": 171}),
        status: Status::Delivered,
    },
    Step {
        name: "8-scroll",
        says: "Scroll the journal",
        action: || json!({"action": "scroll", "x": 400, "y": 330, "delta_y": 3}),
        status: Status::Delivered,
    },
    Step {
        name: "9-nothing",
        says: "Click where there is nothing",
        action: || json!({"action": "click", "x": 90, "y": 300}),
        status: Status::Delivered,
    },
    Step {
        name: "10-refused",
        says: "Click outside the window: refused before any event, and the observation stays good",
        action: || json!({"action": "click", "x": 900, "y": 45}),
        status: Status::Refused,
    },
];

/// Runs every step; exit code 0 when each ended as it was to.
pub(super) fn run(args: &DemoArgs) -> Result<Answer> {
    let clock = Clock::simulated();
    let mut demo = Demo::new(clock.clone());
    let mut executor = Executor::new(&mut demo, clock.clone(), ExecutorOptions::new());
    let mut text = vec![INTRODUCTION.to_owned()];
    let mut steps = Vec::new();
    let mut code = 0;
    for (number, step) in (1..).zip(&STEPS) {
        let folder = args.out.join(step.name);
        let (told, as_meant) = carry_out(step, &mut executor, &folder)?;
        text.push(paragraph(number, step, &told, &folder));
        steps.push(json!({"name": step.name, "says": step.says, "receipt": told.json}));
        code = code.max(u8::from(!as_meant));
    }
    let passed = clock.now();
    text.push(format!(
        "{:.1} s passed on the simulated clock; the pictures are in {}",
        passed.as_secs_f64(),
        args.out.display()
    ));
    let json = json!({
        "schema": "seechange.demo/1",
        "simulated_seconds": passed.as_secs_f64(),
        "steps": steps,
    });
    Ok(Answer { text: text.join("\n\n"), json, code })
}

const INTRODUCTION: &str = "A small simulated notes application on a simulated clock. Every action \
                            goes through the same\nexecutor, wait and report as on a real display.";

/// The answer to one step, and whether it ended as it was to.
fn carry_out(step: &Step, executor: &mut Executor<'_>, folder: &Path) -> Result<(Answer, bool)> {
    let Value::Object(object) = (step.action)() else {
        return Err(Error::usage(format!("step {} is no action", step.name)));
    };
    let request = wire::act::request_of(object)
        .map_err(|refusal| Error::usage(format!("step {}: {refusal}", step.name)))?;
    let receipt = executor.execute_fresh(&request)?;
    let told = answer(&receipt, Some(folder))?;
    Ok((told, receipt.status == step.status))
}

fn paragraph(number: usize, step: &Step, told: &Answer, folder: &Path) -> String {
    let mut lines = vec![format!("{number}. {}", step.says), (step.action)().to_string()];
    lines.extend(told.text.lines().map(str::to_owned));
    let drawn = told.json["change"]["pictures"].as_array().map_or(0, Vec::len);
    if drawn > 0 {
        lines.push(format!("{drawn} pictures in {}", folder.display()));
    }
    lines.join("\n   ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_ends_as_it_says() {
        let root = tempfile::tempdir().unwrap();
        let out = root.path().join("demo");
        let told = run(&DemoArgs { json: false, out: out.clone() }).unwrap();
        assert_eq!(told.code, 0, "{}", told.text);
        let steps = told.json["steps"].as_array().unwrap();
        let found: Vec<(&str, usize, bool)> = steps
            .iter()
            .map(|step| {
                let areas = step["receipt"]["change"]["areas"].as_array();
                let first_at_point = areas
                    .and_then(|areas| areas.first())
                    .is_some_and(|area| area["at_input_point"] == json!(true));
                let name = step["name"].as_str().unwrap();
                (name, areas.map_or(0, Vec::len), first_at_point)
            })
            .collect();
        let wanted = [
            ("1-focus", 1, true),
            ("2-caret", 0, false),
            ("3-typing", 1, false),
            ("4-save", 2, false), // the status and the note's row
            ("5-menu", 2, true),  // and the field, which lost the focus
            ("6-escape", 1, false),
            ("7-drag", 4, true),
            ("8-scroll", 5, true),
            ("9-nothing", 0, false),
            ("10-refused", 0, false),
        ];
        assert_eq!(found, wanted);
        for (name, areas, _) in wanted {
            assert_eq!(out.join(name).join("overview.png").is_file(), areas > 0, "{name}");
        }
        let again = run(&DemoArgs { json: true, out }).unwrap();
        assert_eq!((told.text, told.json), (again.text, again.json), "the same every time");
    }
}
