//! `seechange demo`: the whole loop on the simulated application.
//!
//! Nothing here knows what the answers will be: each step is a request like any other, carried out
//! by the same executor, wait and report as on a real display.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use crate::act::{Executor, ExecutorOptions};
use crate::clock::{Cancel, Clock};
use crate::error::{Error, Result};
use crate::front::wire;
use crate::surface::demo::Demo;
use crate::wait::{Condition, WaitOptions, wait};

use super::output::Answer;

#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// One JSON object on stdout.
    #[arg(long)]
    pub(super) json: bool,
    /// The folder the pictures are written to, a folder in it for each step.
    #[arg(long, value_name = "DIR", default_value = "seechange-demo")]
    out: PathBuf,
}

/// One thing to do, and what it is to show.
struct Step {
    /// Its folder.
    name: &'static str,
    /// What a reader should look for.
    says: &'static str,
    does: Does,
    /// The exit code the command for it would have.
    code: u8,
}

#[derive(Clone, Copy)]
enum Does {
    /// `seechange act`.
    Act(fn() -> Value),
    /// `seechange wait`.
    Wait(fn() -> Condition, Duration),
}

const STEPS: [Step; 11] = [
    Step {
        name: "01-focus",
        says: "Click into the title field: its edge turns blue and a caret appears",
        does: Does::Act(|| json!({"action": "click", "x": 300, "y": 105})),
        code: 0,
    },
    Step {
        name: "02-caret",
        says: "Wait for a change: the caret blinks, and that alone is none",
        does: Does::Wait(Condition::changed, Duration::from_millis(2500)),
        code: 1,
    },
    Step {
        name: "03-typing",
        says: "Type a title",
        does: Does::Act(|| json!({"action": "type_text", "text": "Plums"})),
        code: 0,
    },
    Step {
        name: "04-save",
        says: "Click Save: it answers late, after a spinner and a message that come and go",
        does: Does::Act(|| json!({"action": "click", "x": 584, "y": 45})),
        code: 0,
    },
    Step {
        name: "05-menu",
        says: "Open the menu: area 1 is at the input point; area 2 lost the focus",
        does: Does::Act(|| json!({"action": "click", "x": 44, "y": 45})),
        code: 0,
    },
    Step {
        name: "06-escape",
        says: "Close it with a key",
        does: Does::Act(|| json!({"action": "key", "key": "escape"})),
        code: 0,
    },
    Step {
        name: "07-drag",
        says: "Drag the first note below the third",
        does: Does::Act(
            || json!({"action": "drag", "from_x": 90, "from_y": 111, "to_x": 90, "to_y": 171}),
        ),
        code: 0,
    },
    Step {
        name: "08-scroll",
        says: "Scroll the journal",
        does: Does::Act(|| json!({"action": "scroll", "x": 400, "y": 330, "delta_y": 3})),
        code: 0,
    },
    Step {
        name: "09-stable",
        says: "Wait until nothing moves: three looks over a quarter of a second",
        does: Does::Wait(Condition::stable, Duration::from_secs(5)),
        code: 0,
    },
    Step {
        name: "10-nothing",
        says: "Click where there is nothing",
        does: Does::Act(|| json!({"action": "click", "x": 90, "y": 300})),
        code: 0,
    },
    Step {
        name: "11-refused",
        says: "Click outside the window: refused before any event, and the observation stays good",
        does: Does::Act(|| json!({"action": "click", "x": 900, "y": 45})),
        code: 1,
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
        let told = step.carry_out(&mut executor, &clock, &folder)?;
        code = code.max(u8::from(told.code != step.code));
        text.push(step.paragraph(number, &told));
        steps.push(json!({"name": step.name, "says": step.says, "answer": told.json}));
    }
    let seconds = clock.now().as_secs_f64();
    let out = args.out.display();
    text.push(format!(
        "{seconds:.1} s passed on the simulated clock. The pictures are in {out}, a folder a step."
    ));
    let json = json!({"schema": "seechange.demo/1", "simulated_seconds": seconds, "steps": steps});
    Ok(Answer { text: text.join("\n\n"), json, code })
}

const INTRODUCTION: &str = "A small simulated notes application on a simulated clock. Everything \
                            goes through the same\nexecutor, wait and report as on a real display.";

impl Step {
    fn carry_out(&self, executor: &mut Executor<'_>, clock: &Clock, out: &Path) -> Result<Answer> {
        match self.does {
            Does::Act(action) => {
                let refused = |refusal| Error::usage(format!("step {}: {refusal}", self.name));
                let object = action().as_object().cloned().unwrap_or_default();
                let request = wire::act::request_of(object).map_err(refused)?;
                super::act::answer(&executor.execute_fresh(&request)?, Some(out))
            }
            Does::Wait(condition, timeout) => {
                let options = WaitOptions::new().timeout(timeout).filmstrip(true);
                let surface = executor.surface();
                let outcome = wait(surface, &condition(), &options, clock, &Cancel::never())?;
                super::wait::answer(&outcome, Some(out))
            }
        }
    }

    fn paragraph(&self, number: usize, told: &Answer) -> String {
        let command = match self.does {
            Does::Act(action) => format!("act {}", action()),
            Does::Wait(condition, timeout) => {
                format!("wait {} --timeout {}ms", condition().name(), timeout.as_millis())
            }
        };
        let head = [format!("{number}. {}", self.says), format!("$ {command}")];
        let lines = head.into_iter().chain(told.text.lines().map(str::to_owned));
        lines.collect::<Vec<_>>().join("\n   ")
    }
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
                let areas = step["answer"]["change"]["areas"].as_array();
                let first_at_point = areas
                    .and_then(|areas| areas.first())
                    .is_some_and(|area| area["at_input_point"] == json!(true));
                let name = step["name"].as_str().unwrap();
                (name, areas.map_or(0, Vec::len), first_at_point)
            })
            .collect();
        let wanted = [
            ("01-focus", 1, true),
            ("02-caret", 0, false),
            ("03-typing", 1, false),
            ("04-save", 2, false), // the status and the note's row
            ("05-menu", 2, true),  // and the field, which lost the focus
            ("06-escape", 1, false),
            ("07-drag", 0, false), // three notes moved
            ("08-scroll", 5, true),
            ("09-stable", 0, false),
            ("10-nothing", 0, false),
            ("11-refused", 0, false),
        ];
        assert_eq!(found, wanted);
        for (name, areas, _) in wanted {
            assert_eq!(
                out.join(name).join("overview.png").is_file(),
                areas > 0 || name == "07-drag",
                "{name}"
            );
        }
        let again = run(&DemoArgs { json: true, out }).unwrap();
        assert_eq!((told.text, told.json), (again.text, again.json), "the same every time");
    }
}
