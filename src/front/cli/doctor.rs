//! `seechange doctor`: what works here, what is in the way, and what to do about it.

use clap::Args;
use serde_json::{Value, json};

use crate::error::Result;

use super::output::Answer;

#[derive(Debug, Args)]
#[command(after_help = "Looks at the display that DISPLAY names. A line that begins with - says \
                        what is in the way and\nwhat to do about it.\n\n\
                        Exit code: 0 all is well, 1 something is in the way, 2 trouble.")]
pub(super) struct DoctorArgs {
    /// Let go of every key and button that is down, whoever pressed it, and take back keys that a
    /// killed action left lent to characters of its text.
    #[arg(long)]
    release: bool,
    /// One JSON object on stdout, everything else on stderr.
    #[arg(long)]
    json: bool,
}

/// What was found out, in the order it is told.
#[derive(Default)]
struct Checkup {
    /// A name and what it is.
    facts: Vec<(&'static str, String)>,
    /// What is missing or in the way, with what to do.
    findings: Vec<String>,
    /// What was let go of; `None` when that was not asked for.
    released: Option<Vec<String>>,
    display: Value,
    browser: Browser,
}

/// The browser of the surface `browser`: where it is, or how to get one.
struct Browser(Result<String, String>);

impl Default for Browser {
    fn default() -> Self {
        Self(find_browser())
    }
}

#[cfg(feature = "browser")]
fn find_browser() -> Result<String, String> {
    let found = crate::surface::browser::find();
    found.map(|path| path.display().to_string()).map_err(|error| error.to_string())
}

#[cfg(not(feature = "browser"))]
fn find_browser() -> Result<String, String> {
    Err("not in this build (feature browser)".to_owned())
}

pub(super) fn run(args: &DoctorArgs) -> Result<Answer> {
    Ok(examine(args.release)?.answer())
}

/// What is found out without letting go of anything.
#[cfg(feature = "mcp")]
pub(in crate::front) fn checkup() -> Result<Answer> {
    Ok(examine(false)?.answer())
}

impl Checkup {
    fn answer(mut self) -> Answer {
        let browser = match &self.browser.0 {
            Ok(path) => path.clone(),
            Err(why) => why.clone(),
        };
        self.facts.push(("browser", browser));
        let json = json!({
            "schema": "seechange.doctor/1",
            "display": self.display,
            "browser": self.browser.0.as_ref().ok(),
            "released": self.released,
            "findings": self.findings,
        });
        let mut lines: Vec<String> = self
            .facts
            .iter()
            .map(|(name, fact)| format!("{:<17}{fact}", format!("{name}:")))
            .collect();
        match &self.released {
            Some(names) if names.is_empty() => lines.push("nothing was held".to_owned()),
            Some(names) => lines.push(format!("released {}", names.join(", "))),
            None => {}
        }
        let code = u8::from(!self.findings.is_empty());
        match self.findings.is_empty() {
            true => lines.push("all is well".to_owned()),
            false => lines.extend(self.findings.into_iter().map(|each| format!("- {each}"))),
        }
        Answer { text: lines.join("\n"), json, code }
    }
}

#[cfg(not(feature = "x11"))]
fn examine(_: bool) -> Result<Checkup> {
    let findings = vec!["this build has no x11: build it with --features x11".to_owned()];
    Ok(Checkup { findings, ..Checkup::default() })
}

/// Without a display nothing can be let go of; looking is all the same an answer.
#[cfg(feature = "x11")]
fn examine(release: bool) -> Result<Checkup> {
    use crate::clock::Clock;
    use crate::surface::x11::{Target, X11};

    let mut x11 = match X11::open_blind(None, &Target::Display, &Clock::system()) {
        Ok(x11) => x11,
        Err(error) if release => return Err(error),
        Err(error) => {
            return Ok(Checkup { findings: vec![error.to_string()], ..Checkup::default() });
        }
    };
    let released = if release { Some(let_go(&mut x11)?) } else { None };
    let found = x11.diagnose()?;
    let findings = found.findings();
    Ok(Checkup {
        facts: facts(&found),
        findings,
        released,
        display: display(&found),
        ..Checkup::default()
    })
}

/// The names of what was held: they are asked for before it is let go of.
#[cfg(feature = "x11")]
fn let_go(x11: &mut crate::surface::x11::X11) -> Result<Vec<String>> {
    let mut held = x11.held_names()?;
    held.extend(match x11.keys_left_lent()? {
        0 => None,
        1 => Some("1 lent key".to_owned()),
        count => Some(format!("{count} lent keys")),
    });
    x11.release_all()?;
    Ok(held)
}

#[cfg(feature = "x11")]
const NO_SCREEN: &str = "not in this build (feature screen; the README names its system packages)";

#[cfg(feature = "x11")]
fn facts(found: &crate::surface::x11::Diagnosis) -> Vec<(&'static str, String)> {
    let has = |name: &str| found.extensions.iter().any(|each| each.name == name && each.present);
    let yes = |is: bool, yes: &str, no: &str| if is { yes } else { no }.to_owned();
    let windows: Vec<_> = found.windows.iter().map(ToString::to_string).collect();
    let capture = match (&found.unfit, found.shared_memory) {
        (Some(_), _) => "none",
        (None, true) => "through shared memory",
        (None, false) => "through the socket",
    };
    let pointer = found.pointer.map(|(x, y)| format!("({x}, {y})"));
    vec![
        ("display", format!("{} by {}", found.display, found.server())),
        ("screen", format!("{}, depth {}, scale {}", found.size, found.depth, found.scale)),
        ("capture", capture.to_owned()),
        ("covered windows", yes(has("Composite"), "captured whole", "captured as covered")),
        ("input", yes(has("XTEST"), "xtest", "none")),
        ("damage", yes(has("DAMAGE"), "told of", "not told of")),
        ("surface screen", yes(cfg!(feature = "screen"), "through xcap", NO_SCREEN)),
        ("window manager", found.window_manager.clone().unwrap_or_else(|| "none".to_owned())),
        ("windows", if windows.is_empty() { "none".to_owned() } else { windows.join(", ") }),
        ("pointer", pointer.unwrap_or_else(|| "on another screen of the display".to_owned())),
        ("sends input", found.acting.clone().unwrap_or_else(|| "nobody".to_owned())),
        ("held", yes(found.held_names.is_empty(), "nothing", &found.held_names.join(", "))),
    ]
}

#[cfg(feature = "x11")]
fn display(found: &crate::surface::x11::Diagnosis) -> Value {
    let extensions: serde_json::Map<_, _> =
        found.extensions.iter().map(|each| (each.name.to_owned(), each.present.into())).collect();
    let windows: Vec<_> = found
        .windows
        .iter()
        .map(|window| json!({"id": window.id, "title": window.title}))
        .collect();
    json!({
        "name": found.display,
        "server": found.server(),
        "width": found.size.width(),
        "height": found.size.height(),
        "depth": found.depth,
        "can_capture": found.unfit.is_none(),
        "scale": found.scale,
        "extensions": extensions,
        "shared_memory": found.shared_memory,
        "window_manager": found.window_manager,
        "windows": windows,
        "pointer": found.pointer.map(|(x, y)| json!({"x": x, "y": y})),
        "caps_lock": found.caps_lock,
        "held": found.held_names,
        "left_lent": found.left_lent,
        "acting": found.acting,
    })
}
