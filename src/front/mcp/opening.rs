//! What `open_session` is asked for, and what is opened then: never looser than the server itself.

use rmcp::model::JsonObject;
use serde_json::Value;
use std::sync::Arc;

use crate::act::{Action, Address, Refusal, quoted};
use crate::front::cli::args::{PageArgs, PageChoice};
use crate::front::cli::surface::SurfaceName;
use crate::front::pictures::check_out;
use crate::front::wire::strict::kind;

use super::Options;
use super::schema::On;
use super::sessions::{Not, trouble};
use super::tools;

/// The page of another session.
pub(super) struct Opening {
    pub(super) url: Address,
    viewport: Option<String>,
    scale: Option<f32>,
    headed: Option<bool>,
    is_read_only: bool,
}

impl Opening {
    /// Reads the arguments and asks whether that is allowed.
    pub(super) fn read(arguments: &JsonObject, server: &Options) -> Result<Self, Not> {
        let takes = tools::fields("open_session", On::Page);
        if let Some(field) = arguments.keys().find(|field| !takes.contains(field)) {
            let message = format!(
                "open_session has no argument {}: it takes {}",
                quoted(field),
                takes.join(", ")
            );
            return Err(Not("unknown_field", message));
        }
        let Some(url) = arguments.get("url") else {
            return Err(Not("missing_field", "open_session needs url".to_owned()));
        };
        let url = url.as_str().ok_or_else(|| wrong("url", "a string", url))?;
        let url = Address::new(url).map_err(refused)?;
        let opening = Self {
            viewport: viewport(arguments)?,
            scale: scale(arguments)?,
            headed: flag(arguments, "headed")?,
            is_read_only: flag(arguments, "read_only")?.unwrap_or(false),
            url,
        };
        opening.permit(server)?;
        Ok(opening)
    }

    /// Whether the policy allows to go there, as it does for `navigate`: a server that is read-only
    /// follows links alone.
    fn permit(&self, server: &Options) -> Result<(), Not> {
        server.permission.refresh();
        server
            .permission
            .access
            .policy()
            .permit(&Action::Navigate { url: self.url.clone() })
            .map_err(refused)
    }

    /// What the session is opened with.
    pub(super) fn options(
        &self,
        server: &Options,
        number: u32,
        count_after: u32,
    ) -> Result<Options, Not> {
        let first = match &server.surface {
            SurfaceName::Browser(_, page) => page.clone(),
            _ => PageArgs::default(),
        };
        if self.headed == Some(true) && !first.is_headed() {
            let message = "this server has no windows on the display: start it with --headed";
            return Err(Not("not_permitted", message.to_owned()));
        }
        let choice = PageChoice {
            viewport: self.viewport.clone(),
            scale: self.scale,
            is_headless: self.headed == Some(false),
        };
        let page = first.narrowed(choice, count_after);
        let out = server.out.as_ref().map(|out| out.join(format!("session-{number}")));
        check_out(out.as_deref(), &[]).map_err(|error| trouble(&error))?;
        let permission = match self.is_read_only {
            true => Arc::new(server.permission.read_only().map_err(|error| trouble(&error))?),
            false => server.permission.clone(),
        };
        Ok(Options {
            surface: SurfaceName::Browser(self.url.as_str().to_owned(), page),
            permission,
            is_read_only: self.is_read_only,
            out,
            ..server.clone()
        })
    }
}

fn refused(refusal: Refusal) -> Not {
    Not(refusal.kind().name(), refusal.message().to_owned())
}

fn wrong(field: &str, wanted: &str, got: &Value) -> Not {
    Not("bad_value", format!("{field} must be {wanted}, not {}", kind(got)))
}

fn flag(arguments: &JsonObject, field: &str) -> Result<Option<bool>, Not> {
    match arguments.get(field) {
        None => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(other) => Err(wrong(field, "true or false", other)),
    }
}

/// The edges of a page, in CSS pixels, each up to five digits.
pub(super) const VIEWPORT: &str = "^[1-9][0-9]{0,4}x[1-9][0-9]{0,4}$";

fn viewport(arguments: &JsonObject) -> Result<Option<String>, Not> {
    let Some(viewport) = arguments.get("viewport") else { return Ok(None) };
    let text = viewport.as_str().ok_or_else(|| wrong("viewport", "a string", viewport))?;
    let is_edge = |edge: &str| {
        let is_digits = edge.bytes().all(|byte| byte.is_ascii_digit());
        is_digits && (1..=5).contains(&edge.len()) && !edge.starts_with('0')
    };
    match text.split_once('x') {
        Some((width, height)) if is_edge(width) && is_edge(height) => Ok(Some(text.to_owned())),
        _ => {
            let words = "viewport must be a width and a height in CSS pixels, such as 1280x800";
            Err(Not("bad_value", words.to_owned()))
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a scale has few digits, and is 0.5 to 4")]
fn scale(arguments: &JsonObject) -> Result<Option<f32>, Not> {
    let Some(scale) = arguments.get("scale") else { return Ok(None) };
    match scale.as_f64() {
        Some(number) if (0.5..=4.0).contains(&number) => Ok(Some(number as f32)),
        Some(number) => Err(Not("bad_value", format!("scale {number} is not within 0.5 to 4"))),
        None => Err(wrong("scale", "a number", scale)),
    }
}
