//! Requests in and receipts out: the actions of the contract and `seechange.act/1`.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::act::limits::{
    CLICK_COUNT, DELAY_MS, DELAY_MS_DEFAULT, DRAG_MS, DRAG_MS_DEFAULT, DRAG_STEPS,
    DRAG_STEPS_DEFAULT, HOLD_MS, SCROLL_AMOUNT, SCROLL_DETENTS, STEP_WAIT_MS, TAB_NUMBER,
    TIMEOUT_MS, TIMEOUT_MS_DEFAULT, WAIT_SECONDS, WAIT_SECONDS_DEFAULT,
};
use crate::act::{
    Action, Address, Awaited, Button, Deed, Direction, Drag, Element, ElementAction, ElementRef,
    Elements, Glob, HeldAfter, Hold, ImagePoint, Key, Modifiers, ObservationId, PageReport, Path,
    Receipt, Refusal, RefusalKind, Request, ScrollUnit, SequenceReport, Sought, Status, Step,
    StepReport, Tab, TabDeed, Text, WaitFor, Which, quoted, within,
};

use super::WaitPaths;
use super::diff::size;
use super::strict::kind;
use crate::frame::{self, Frame};
use crate::front::duration::parse_duration;
use crate::geometry::{MAX_EDGE, Rect, Size};
use crate::wait::{Condition, Outcome};

pub(crate) use super::strict::{MAX_BYTES, too_long};

/// The names of all actions that are carried out.
const NAMES: [&str; 19] = [
    "observe",
    "click",
    "right_click",
    "double_click",
    "hover",
    "drag",
    "scroll",
    "scroll_to_element",
    "key",
    "hotkey",
    "select_all",
    "type_text",
    "hold",
    "sequence",
    "wait",
    "wait_for",
    "dialog",
    "navigate",
    "tab",
];

/// The names of all actions that are carried out.
pub(crate) const fn action_names() -> &'static [&'static str] {
    &NAMES
}

/// Whether the contract has an action of that name.
pub(crate) fn is_action_name(name: &str) -> bool {
    NAMES.contains(&name)
}

/// The refusal for a name that is no action.
pub(super) fn no_such_action(name: &str) -> Refusal {
    let message = format!("there is no action {}: use {}", quoted(name), NAMES.join(", "));
    Refusal::new(RefusalKind::UnknownAction, message)
}

/// Fields every action may have, unless it stands inside another.
const COMMON: [&str; 4] = ["action", "observation", "postcondition", "screenshot"];

/// The fields of an action beside the common ones, `None` for a name that is no action.
fn fields_of(action: &str) -> Option<&'static [&'static str]> {
    Some(match action {
        "observe" => &["marks"],
        "click" => &["x", "y", "ref", "button", "count", "modifiers"],
        "right_click" | "double_click" => &["x", "y", "ref", "modifiers"],
        "hover" => &["x", "y", "ref"],
        "drag" => &[
            "ref",
            "to_ref",
            "from_x",
            "from_y",
            "to_x",
            "to_y",
            "duration_ms",
            "steps",
            "button",
            "modifiers",
            "via",
        ],
        "scroll" => &["x", "y", "delta_x", "delta_y", "ref", "direction", "amount", "by"],
        "key" => &["key", "modifiers"],
        "hotkey" => &["keys"],
        "select_all" => &[],
        "type_text" => &["text", "delay_ms", "method", "ref"],
        "hold" => &["keys", "duration_ms", "actions"],
        "sequence" => &["steps"],
        "scroll_to_element" => &["ref"],
        "dialog" => &["accept", "text"],
        "navigate" => &["url"],
        "tab" => &["tab", "url", "close"],
        "wait" => &["seconds"],
        "wait_for" => &WAIT_FIELDS,
        _ => return None,
    })
}

/// The fields of a wait for a condition, as an action and as a postcondition.
const WAIT_FIELDS: [&str; 15] = [
    "condition",
    "any",
    "image",
    "text",
    "ref",
    "name",
    "role",
    "url",
    "timeout",
    "timeout_ms",
    "hold_ms",
    "captures",
    "region",
    "require_seen",
    "ignore_periodic",
];

/// Reads one request from an object.
///
/// # Errors
/// The refusal of what is no such request; nothing in it is guessed or repaired.
pub(crate) fn request_of(object: Map<String, Value>) -> Result<Request, Refusal> {
    request_with(object, &image_file)
}

/// Where the picture of a condition comes from, by what stands in its field `image`.
pub(crate) type Images<'a> = &'a dyn Fn(&Value) -> Result<Frame, Refusal>;

/// As [`request_of`], with pictures from elsewhere than from files.
///
/// # Errors
/// As [`request_of`].
pub(crate) fn request_with(
    object: Map<String, Value>,
    images: Images<'_>,
) -> Result<Request, Refusal> {
    let fields = Fields::new(object, &COMMON)?;
    let action = action(&fields, images)?;
    let observation = match fields.optional("observation") {
        None => None,
        Some(Value::String(id)) => Some(id.parse()?),
        Some(other) => return Err(wrong_type("observation", "an id such as \"obs-12\"", other)),
    };
    let screenshot = fields.flag("screenshot", true)?;
    let marks = fields.flag("marks", false)?;
    let postcondition = match fields.optional("postcondition") {
        None => None,
        Some(value) => {
            Some(postcondition(value, images).map_err(|refusal| refusal.inside("postcondition"))?)
        }
    };
    Ok(Request { action, observation, screenshot, marks, postcondition })
}

fn action(fields: &Fields, images: Images<'_>) -> Result<Action, Refusal> {
    if let Some(target) = fields.reference("ref")?
        && fields.action != "wait_for"
    {
        return on_element(fields, target).map(Action::Element);
    }
    Ok(match fields.action.as_str() {
        "observe" => Action::Observe,
        "click" => Action::Click {
            at: fields.point("x", "y")?,
            button: fields.button()?,
            count: fields.whole("count", &CLICK_COUNT, 1)?,
            modifiers: fields.modifiers()?,
        },
        "right_click" => {
            Action::RightClick { at: fields.point("x", "y")?, modifiers: fields.modifiers()? }
        }
        "double_click" => {
            Action::DoubleClick { at: fields.point("x", "y")?, modifiers: fields.modifiers()? }
        }
        "hover" => Action::Hover { at: fields.point("x", "y")? },
        "drag" if fields.optional("via").is_some() => Action::DragAlong(path(fields)?),
        "drag" => Action::Drag(drag(fields)?),
        "hold" => Action::Hold(hold(fields, images)?),
        "sequence" => {
            Action::Sequence(fields.parts("steps", "step", |object| step(object, images))?)
        }
        "scroll" => Action::Scroll {
            at: fields.point("x", "y")?,
            delta_x: fields.whole("delta_x", &SCROLL_DETENTS, 0)?,
            delta_y: fields.whole("delta_y", &SCROLL_DETENTS, 0)?,
        },
        "key" => Action::Key { key: fields.key()?, modifiers: fields.modifiers()? },
        "hotkey" => Action::hotkey(words("keys", fields.required("keys")?)?)?,
        "select_all" => Action::SelectAll,
        "type_text" => {
            let is_pasted = fields.is_pasted()?;
            let text = Text::new(fields.string("text")?)?;
            match is_pasted {
                true => Action::Paste { text },
                false => {
                    let delay = fields.ms("delay_ms", &DELAY_MS, DELAY_MS_DEFAULT)?;
                    Action::TypeText { text, delay }
                }
            }
        }
        "scroll_to_element" => {
            fields.required("ref")?;
            return Err(no_such_action(&fields.action));
        }
        "dialog" => {
            fields.required("accept")?;
            let text = fields.optional("text").map(|_| Text::new(fields.string("text")?));
            Action::Dialog { accept: fields.flag("accept", true)?, text: text.transpose()? }
        }
        "navigate" => Action::Navigate { url: Address::new(fields.string("url")?)? },
        "tab" => Action::Tab(tab_deed(fields)?),
        "wait" => Action::Wait { duration: fields.seconds()? },
        "wait_for" => Action::WaitFor(wait_for(fields, images)?),
        name => return Err(no_such_action(name)),
    })
}

/// A tab by its number, or a new one by its address.
fn tab_deed(fields: &Fields) -> Result<TabDeed, Refusal> {
    let is_close = fields.flag("close", false)?;
    match (fields.optional("tab").is_some(), fields.optional("url").is_some()) {
        (true, true) => Err(Refusal::bad_value("tab and url exclude each other: give one")),
        (false, true) if is_close => Err(Refusal::bad_value(
            "close goes with tab, the number of the tab to close, not with url",
        )),
        (false, true) => Ok(TabDeed::Open(Address::new(fields.string("url")?)?)),
        (false, false) => Err(fields.missing("tab")),
        (true, false) => {
            let number = fields.whole("tab", &TAB_NUMBER, 1)?;
            Ok(if is_close { TabDeed::Close(number) } else { TabDeed::Go(number) })
        }
    }
}

/// Fields that name a place or a pace, and so do not go with `ref`.
const POINT_FIELDS: [&str; 11] = [
    "x", "y", "from_x", "from_y", "to_x", "to_y", "via", "delta_x", "delta_y", "delay_ms", "method",
];

/// What is done with one element.
fn on_element(fields: &Fields, target: ElementRef) -> Result<ElementAction, Refusal> {
    if let Some(field) = POINT_FIELDS.iter().find(|field| fields.optional(field).is_some()) {
        return Err(bad_value(format!("ref and {field} exclude each other: give one")));
    }
    let deed = match fields.action.as_str() {
        "click" => Deed::Click {
            button: fields.button()?,
            count: fields.whole("count", &CLICK_COUNT, 1)?,
            modifiers: fields.modifiers()?,
        },
        "right_click" => Deed::RightClick { modifiers: fields.modifiers()? },
        "double_click" => Deed::DoubleClick { modifiers: fields.modifiers()? },
        "hover" => Deed::Hover,
        "scroll_to_element" => Deed::ScrollTo,
        "scroll" => Deed::Scroll {
            direction: fields.direction()?,
            amount: fields.whole("amount", &SCROLL_AMOUNT, SCROLL_AMOUNT_DEFAULT)?,
            by: fields.scroll_unit()?,
        },
        "type_text" => Deed::TypeText(Text::new(fields.string("text")?)?),
        _ => Deed::Drag {
            to: fields.reference("to_ref")?.ok_or_else(|| fields.missing("to_ref"))?,
            duration: fields.ms("duration_ms", &DRAG_MS, DRAG_MS_DEFAULT)?,
            steps: fields.whole("steps", &DRAG_STEPS, DRAG_STEPS_DEFAULT)?,
            button: fields.button()?,
            modifiers: fields.modifiers()?,
        },
    };
    Ok(ElementAction::new(target, deed))
}

/// Fields that go with `ref` alone.
const REF_FIELDS: [&str; 4] = ["to_ref", "direction", "amount", "by"];

/// How far a scroll of an element goes unless asked otherwise.
pub(crate) const SCROLL_AMOUNT_DEFAULT: u32 = 3;

fn drag(fields: &Fields) -> Result<Drag, Refusal> {
    Ok(Drag {
        from: fields.point("from_x", "from_y")?,
        to: fields.point("to_x", "to_y")?,
        duration: fields.ms("duration_ms", &DRAG_MS, DRAG_MS_DEFAULT)?,
        steps: fields.whole("steps", &DRAG_STEPS, DRAG_STEPS_DEFAULT)?,
        button: fields.button()?,
        modifiers: fields.modifiers()?,
    })
}

/// A drag through points, which fix the moves and leave no choice of button or modifiers.
fn path(fields: &Fields) -> Result<Path, Refusal> {
    let choices = [
        ("steps", fields.optional("steps").is_some()),
        ("modifiers", fields.modifiers()? != Modifiers::none()),
        ("button but left", fields.button()? != Button::Left),
    ];
    if let Some((choice, _)) = choices.iter().find(|(_, is_made)| *is_made) {
        return Err(bad_value(format!("a drag with via takes no {choice}")));
    }
    let via = fields.items("via")?;
    let points = (1..)
        .zip(via)
        .map(|(nth, item)| via_point(item).map_err(|refusal| refusal.context("via point", nth)));
    Ok(Path {
        from: fields.point("from_x", "from_y")?,
        via: points.collect::<Result<_, _>>()?,
        to: fields.point("to_x", "to_y")?,
        duration: fields.ms("duration_ms", &DRAG_MS, DRAG_MS_DEFAULT)?,
    })
}

fn via_point(item: &Value) -> Result<ImagePoint, Refusal> {
    let Value::Object(object) = item else { return Err(wrong_type("it", "an {x, y}", item)) };
    if let Some(field) = object.keys().find(|key| *key != "x" && *key != "y") {
        let message = format!("a point has no field {}: it takes x, y", quoted(field));
        return Err(Refusal::new(RefusalKind::UnknownField, message));
    }
    let fields = Fields { action: "a point".to_owned(), object: object.clone() };
    fields.point("x", "y")
}

fn postcondition(value: &Value, images: Images<'_>) -> Result<WaitFor, Refusal> {
    let Value::Object(object) = value else { return Err(wrong_type("it", "an object", value)) };
    for field in object.keys() {
        check_field("a condition", field, &[], &WAIT_FIELDS)?;
    }
    wait_for(&Fields { action: "a condition".to_owned(), object: object.clone() }, images)
}

/// A condition; or instead of it `any`, an array of several, with a timeout for those that have
/// none of their own.
fn wait_for(fields: &Fields, images: Images<'_>) -> Result<WaitFor, Refusal> {
    if fields.optional("any").is_none() {
        return one_condition(fields, images);
    }
    if let Some(field) = ONE_CONDITION_FIELDS.iter().find(|one| fields.optional(one).is_some()) {
        return Err(bad_value(format!("any and {field} exclude each other: put it inside any")));
    }
    let whole = timeout(fields)?;
    let mut conditions = fields.parts("any", "condition", |mut object| {
        for field in object.keys().filter(|field| *field != "any") {
            check_field("a condition", field, &[], &WAIT_FIELDS)?;
        }
        if object.contains_key("any") {
            return Err(bad_value("a condition inside any is no any itself".to_owned()));
        }
        if !object.contains_key("timeout") && !object.contains_key("timeout_ms") {
            object.insert("timeout_ms".to_owned(), ms(whole).into());
        }
        one_condition(&Fields { action: "a condition".to_owned(), object }, images)
    })?;
    if conditions.is_empty() {
        return Err(bad_value("any is empty: name some conditions".to_owned()));
    }
    let others = conditions.split_off(1);
    let first = conditions.swap_remove(0);
    Ok(WaitFor { or: others, ..first })
}

/// The fields of one condition that several have each for itself.
const ONE_CONDITION_FIELDS: [&str; 12] = [
    "condition",
    "image",
    "text",
    "ref",
    "name",
    "role",
    "url",
    "hold_ms",
    "captures",
    "region",
    "require_seen",
    "ignore_periodic",
];

/// The fields of a condition that is about the page beside its name and its time.
const PAGE_FIELDS: [&str; 5] = ["text", "ref", "name", "role", "url"];

/// A condition about what a page says of itself, `None` for one about its pixels.
fn page_condition(name: &str, fields: &Fields) -> Result<Option<Sought>, Refusal> {
    let is_page = name == "gone" && fields.optional("image").is_none();
    let takes: &[&str] = match name {
        "text" => &["text"],
        "url" => &["url"],
        "visible" | "enabled" => &["ref", "name", "role"],
        "gone" if is_page => &["ref", "name", "role", "text"],
        _ => &[],
    };
    if let Some(field) =
        PAGE_FIELDS.iter().find(|field| fields.optional(field).is_some() && !takes.contains(field))
    {
        return Err(bad_value(format!("the condition {name} takes no {field}")));
    }
    if takes.is_empty() {
        return Ok(None);
    }
    let pixel = ["image", "hold_ms", "captures", "region", "require_seen", "ignore_periodic"];
    if let Some(field) = pixel.iter().find(|field| fields.optional(field).is_some()) {
        return Err(bad_value(format!(
            "the condition {name} is about the page and takes no {field}"
        )));
    }
    Ok(Some(match name {
        "text" => Sought::Text(fields.sought_text("text")?),
        "url" => Sought::Url(Glob::new(fields.sought_text("url")?)),
        "visible" => Sought::Visible(which(name, fields)?),
        "enabled" => Sought::Enabled(which(name, fields)?),
        _ => Sought::Gone(which(name, fields)?),
    }))
}

/// Which element a condition is about.
fn which(name: &str, fields: &Fields) -> Result<Which, Refusal> {
    let given = ["ref", "name", "text"].map(|field| fields.optional(field).is_some());
    match given {
        [true, false, false] if fields.optional("role").is_none() => {
            let reference = fields.reference("ref")?;
            reference.map(Which::Ref).ok_or_else(|| fields.missing("ref"))
        }
        [false, true, false] => {
            let role = fields.optional("role").map(|_| fields.sought_text("role")).transpose()?;
            Ok(Which::Named { name: fields.sought_text("name")?, role })
        }
        [false, false, true] if fields.optional("role").is_none() => {
            Ok(Which::Text(fields.sought_text("text")?))
        }
        [false, false, false] if fields.optional("role").is_none() => Err(Refusal::new(
            RefusalKind::MissingField,
            match name {
                "gone" => "gone needs one of image, ref, text or name",
                "enabled" => "enabled needs ref or name",
                _ => "visible needs ref or name",
            },
        )),
        _ if name == "gone" => Err(bad_value(
            "the condition gone takes one of image, ref, text, or name (and role)".to_owned(),
        )),
        _ => Err(bad_value(format!("the condition {name} takes either ref, or name (and role)"))),
    }
}

fn one_condition(fields: &Fields, images: Images<'_>) -> Result<WaitFor, Refusal> {
    let name = fields.string("condition")?;
    if let Some(sought) = page_condition(name, fields)? {
        let (timeout, or) = (timeout(fields)?, Vec::new());
        return Ok(WaitFor { condition: sought.into(), timeout, region: None, or });
    }
    let mut condition = match name {
        "stable" => Condition::stable(),
        "changed" => Condition::changed(),
        "matches" => Condition::matches(images(fields.required("image")?)?),
        "appears" => Condition::appears(images(fields.required("image")?)?),
        "gone" => Condition::gone(images(fields.required("image")?)?),
        other => {
            return Err(bad_value(format!(
                "there is no condition {}: use stable, changed, matches, appears or gone, and on a \
                 page text, visible, enabled or url",
                quoted(other)
            )));
        }
    };
    if matches!(name, "stable" | "changed") && fields.optional("image").is_some() {
        return Err(bad_value(format!("the condition {name} takes no image")));
    }
    if fields.optional("hold_ms").is_some() {
        condition = condition.hold(fields.ms("hold_ms", &TIMEOUT_MS, 0)?);
    }
    if fields.optional("captures").is_some() {
        condition = condition.captures(fields.whole("captures", &CAPTURES, 1)?);
    }
    Ok(WaitFor {
        condition: condition
            .require_seen(fields.flag("require_seen", false)?)
            .ignore_periodic(fields.flag("ignore_periodic", false)?)
            .into(),
        timeout: timeout(fields)?,
        region: fields.optional("region").map(region).transpose()?,
        or: Vec::new(),
    })
}

/// `timeout` as on the command line (`"5s"`) or in milliseconds; `timeout_ms` is its other name.
fn timeout(fields: &Fields) -> Result<Duration, Refusal> {
    let most = Duration::from_millis((*TIMEOUT_MS.end()).into());
    match (fields.optional("timeout"), fields.optional("timeout_ms")) {
        (Some(_), Some(_)) => {
            Err(bad_value("timeout and timeout_ms are one and the same: give one".to_owned()))
        }
        (Some(Value::String(text)), None) => match parse_duration(text) {
            Ok(duration) if duration <= most => Ok(duration),
            Ok(_) => Err(bad_value(format!("timeout must be 0 to {} s", most.as_secs()))),
            Err(error) => Err(bad_value(format!("timeout: {error}"))),
        },
        (Some(_), None) => fields.ms("timeout", &TIMEOUT_MS, TIMEOUT_MS_DEFAULT),
        (None, _) => fields.ms("timeout_ms", &TIMEOUT_MS, TIMEOUT_MS_DEFAULT),
    }
}

/// How many characters what is looked for may have.
pub(crate) const SOUGHT_CHARACTERS: RangeInclusive<usize> = 1..=500;

/// In how many captures evidence may have to stand.
const CAPTURES: RangeInclusive<u32> = 1..=1000;

/// An `{x, y, width, height}`.
pub(crate) fn region(value: &Value) -> Result<Rect, Refusal> {
    let Value::Object(object) = value else {
        return Err(wrong_type("region", "an {x, y, width, height}", value));
    };
    let names = ["x", "y", "width", "height"];
    if let Some(field) = object.keys().find(|key| !names.contains(&key.as_str())) {
        let message =
            format!("region has no field {}: it takes {}", quoted(field), names.join(", "));
        return Err(Refusal::new(RefusalKind::UnknownField, message));
    }
    let fields = Fields { action: "region".to_owned(), object: object.clone() };
    let edge = |name: &str| {
        fields.required(name)?;
        fields.whole(name, &(0..=MAX_EDGE), 0)
    };
    Rect::new(edge("x")?, edge("y")?, edge("width")?, edge("height")?)
        .map_err(|error| bad_value(error.to_string()))
}

fn hold(fields: &Fields, images: Images<'_>) -> Result<Hold, Refusal> {
    let (mut keys, mut modifiers) = (Vec::new(), Vec::new());
    for name in words("keys", fields.required("keys")?)? {
        match name.parse() {
            Ok(modifier) => modifiers.push(modifier),
            Err(_) => keys.push(name.parse()?),
        }
    }
    fields.required("duration_ms")?;
    let actions = match fields.optional("actions") {
        None => Vec::new(),
        Some(Value::Array(items)) if items.is_empty() => {
            return Err(bad_value("actions is empty: name some or leave it out".to_owned()));
        }
        Some(_) => fields.parts("actions", "action", |object| {
            action(&Fields::new(object, &["action"])?, images)
        })?,
    };
    Ok(Hold {
        keys,
        modifiers: Modifiers::new(modifiers)?,
        duration: fields.ms("duration_ms", &HOLD_MS, *HOLD_MS.start())?,
        actions,
    })
}

fn step(object: Map<String, Value>, images: Images<'_>) -> Result<Step, Refusal> {
    let fields = Fields::new(object, &["action", "wait_ms"])?;
    Ok(Step { wait: fields.ms("wait_ms", &STEP_WAIT_MS, 0)?, action: action(&fields, images)? })
}

/// The fields of one action, none of them unknown to it.
pub(super) struct Fields {
    action: String,
    object: Map<String, Value>,
}

impl Fields {
    /// `common` are the fields any action may have where this one stands.
    fn new(object: Map<String, Value>, common: &[&str]) -> Result<Self, Refusal> {
        let action = match object.get("action") {
            Some(Value::String(action)) => action.clone(),
            Some(other) => return Err(wrong_type("action", "the name of an action", other)),
            None => {
                let message = "the request names no action, such as {\"action\":\"observe\"}";
                return Err(Refusal::new(RefusalKind::MissingField, message));
            }
        };
        let own = fields_of(&action).ok_or_else(|| no_such_action(&action))?;
        for field in object.keys() {
            check_field(&action, field, common, own)?;
        }
        Ok(Self { action, object })
    }

    /// The fields of something else than an action, by its name in messages.
    ///
    /// # Errors
    /// When one of them is not among `own`.
    pub(super) fn of(
        what: &str,
        object: Map<String, Value>,
        own: &[&str],
    ) -> Result<Self, Refusal> {
        for field in object.keys() {
            check_field(what, field, &[], own)?;
        }
        Ok(Self { action: what.to_owned(), object })
    }

    /// A field that is there. `null` is a value like any other, and one no field takes.
    pub(super) fn optional(&self, field: &str) -> Option<&Value> {
        self.object.get(field)
    }

    fn required(&self, field: &str) -> Result<&Value, Refusal> {
        self.optional(field).ok_or_else(|| self.missing(field))
    }

    fn missing(&self, field: &str) -> Refusal {
        let message = format!("{} needs {field}", self.action);
        Refusal::new(RefusalKind::MissingField, message)
    }

    /// The reference of an element, where there is one.
    fn reference(&self, field: &str) -> Result<Option<ElementRef>, Refusal> {
        match self.optional(field) {
            None => Ok(None),
            Some(Value::String(text)) => text.parse().map(Some),
            Some(other) => Err(wrong_type(field, "a reference such as \"3:a\"", other)),
        }
    }

    /// A text to look for.
    fn sought_text(&self, field: &str) -> Result<String, Refusal> {
        let text = self.string(field)?;
        within(field, " characters", text.trim().chars().count(), &SOUGHT_CHARACTERS)?;
        Ok(text.to_owned())
    }

    fn direction(&self) -> Result<Direction, Refusal> {
        let all = [Direction::Up, Direction::Down, Direction::Left, Direction::Right];
        let name = self.string("direction")?;
        all.into_iter().find(|direction| direction.name() == name).ok_or_else(|| {
            bad_value(format!(
                "there is no direction {}: use up, down, left or right",
                quoted(name)
            ))
        })
    }

    fn scroll_unit(&self) -> Result<ScrollUnit, Refusal> {
        match self.optional("by").map(|_| self.string("by")).transpose()? {
            None | Some("line") => Ok(ScrollUnit::Line),
            Some("page") => Ok(ScrollUnit::Page),
            Some(other) => {
                Err(bad_value(format!("a scroll goes by line or page, not {}", quoted(other))))
            }
        }
    }

    pub(super) fn items(&self, field: &str) -> Result<&[Value], Refusal> {
        let value = self.required(field)?;
        match value.as_array() {
            Some(items) => Ok(items),
            None => Err(wrong_type(field, "an array", value)),
        }
    }

    /// The objects of an array, each read on its own; a refusal says which.
    fn parts<T>(
        &self,
        field: &str,
        part: &str,
        read: impl Fn(Map<String, Value>) -> Result<T, Refusal>,
    ) -> Result<Vec<T>, Refusal> {
        let read = |item: &Value| match item {
            Value::Object(object) => read(object.clone()),
            other => Err(wrong_type("it", "an object", other)),
        };
        let items = (1..).zip(self.items(field)?);
        items.map(|(nth, item)| read(item).map_err(|refusal| refusal.context(part, nth))).collect()
    }

    fn point(&self, x: &str, y: &str) -> Result<ImagePoint, Refusal> {
        if let Some(field) = REF_FIELDS.iter().find(|field| self.optional(field).is_some()) {
            return Err(match self.optional(x) {
                Some(_) => bad_value(format!("{field} goes with ref, not with a point")),
                None => self.missing("ref"),
            });
        }
        ImagePoint::new(self.number(x)?, self.number(y)?)
    }

    fn number(&self, field: &str) -> Result<f64, Refusal> {
        let value = self.required(field)?;
        value.as_f64().ok_or_else(|| wrong_type(field, "a number", value))
    }

    fn string(&self, field: &str) -> Result<&str, Refusal> {
        let value = self.required(field)?;
        value.as_str().ok_or_else(|| wrong_type(field, "a string", value))
    }

    /// A whole number within limits; `2.0` is one, `2.5` is none.
    pub(super) fn whole<T>(
        &self,
        field: &str,
        limits: &RangeInclusive<T>,
        default: T,
    ) -> Result<T, Refusal>
    where
        T: Copy + Into<i64> + TryFrom<i64>,
    {
        let Some(value) = self.optional(field) else { return Ok(default) };
        let number =
            whole_number(value).ok_or_else(|| wrong_type(field, "a whole number", value))?;
        let limits = (*limits.start()).into()..=(*limits.end()).into();
        within(field, "", number, &limits)?;
        T::try_from(number).map_err(|_| wrong_type(field, "a whole number", value))
    }

    fn ms(
        &self,
        field: &str,
        limits: &RangeInclusive<u32>,
        default: u32,
    ) -> Result<Duration, Refusal> {
        Ok(Duration::from_millis(self.whole(field, limits, default)?.into()))
    }

    fn seconds(&self) -> Result<Duration, Refusal> {
        let seconds = match self.optional("seconds") {
            None => WAIT_SECONDS_DEFAULT,
            Some(value) => {
                value.as_f64().ok_or_else(|| wrong_type("seconds", "a number", value))?
            }
        };
        within("seconds", "", seconds, &WAIT_SECONDS)?;
        Ok(Duration::from_secs_f64(seconds))
    }

    pub(super) fn flag(&self, field: &str, default: bool) -> Result<bool, Refusal> {
        match self.optional(field) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(wrong_type(field, "true or false", other)),
        }
    }

    fn button(&self) -> Result<Button, Refusal> {
        match self.optional("button") {
            None => Ok(Button::Left),
            Some(Value::String(name)) => match name.as_str() {
                "left" => Ok(Button::Left),
                "middle" => Ok(Button::Middle),
                "right" => Ok(Button::Right),
                other => Err(bad_value(format!(
                    "there is no button {}: use left, middle or right",
                    quoted(other)
                ))),
            },
            Some(other) => Err(wrong_type("button", "left, middle or right", other)),
        }
    }

    fn key(&self) -> Result<Key, Refusal> {
        self.string("key")?.parse()
    }

    fn modifiers(&self) -> Result<Modifiers, Refusal> {
        let Some(names) = self.optional("modifiers") else { return Ok(Modifiers::none()) };
        let names = words("modifiers", names)?;
        Modifiers::new(names.into_iter().map(str::parse).collect::<Result<Vec<_>, _>>()?)
    }

    /// Whether the method is `paste`, which has no pace.
    fn is_pasted(&self) -> Result<bool, Refusal> {
        match self.optional("method").map(|method| (method, method.as_str())) {
            None | Some((_, Some("keys"))) => Ok(false),
            Some((_, Some("paste"))) if self.optional("delay_ms").is_some() => {
                Err(bad_value("a paste has no delay_ms: leave it out".to_owned()))
            }
            Some((_, Some("paste"))) => Ok(true),
            Some((_, Some(other))) => {
                Err(bad_value(format!("there is no method {}: use keys or paste", quoted(other))))
            }
            Some((other, None)) => Err(wrong_type("method", "keys or paste", other)),
        }
    }
}

/// The picture at a path. The message does not repeat the path.
pub(crate) fn image_file(value: &Value) -> Result<Frame, Refusal> {
    let path = value.as_str().ok_or_else(|| wrong_type("image", "a string", value))?;
    frame::read(path.as_ref()).map_err(|error| {
        let told = error.to_string();
        let reason = told.strip_prefix(path).unwrap_or("cannot be read");
        bad_value(format!("image {}", reason.trim_start_matches([':', ' '])))
    })
}

fn check_field(action: &str, field: &str, common: &[&str], own: &[&str]) -> Result<(), Refusal> {
    if common.contains(&field) || own.contains(&field) {
        return Ok(());
    }
    let valid: Vec<&str> = common.iter().chain(own).copied().collect();
    Err(Refusal::new(
        RefusalKind::UnknownField,
        format!("{action} has no field {}: it takes {}", quoted(field), valid.join(", ")),
    ))
}

/// Whether an action of the contract has a field.
#[cfg(feature = "mcp")]
pub(crate) fn has_field(action: &str, field: &str) -> bool {
    COMMON.contains(&field) || fields_of(action).is_some_and(|own| own.contains(&field))
}

/// The fields of an action.
#[cfg(all(test, feature = "mcp"))]
pub(crate) fn all_fields(action: &str) -> Vec<&'static str> {
    let own = fields_of(action).unwrap_or_default();
    COMMON.iter().chain(own).copied().collect()
}

pub(super) fn words<'v>(field: &str, value: &'v Value) -> Result<Vec<&'v str>, Refusal> {
    let wrong = |value| wrong_type(field, "an array of strings", value);
    let items = value.as_array().ok_or_else(|| wrong(value))?;
    items.iter().map(|item| item.as_str().ok_or_else(|| wrong_item(field, item))).collect()
}

fn wrong_item(field: &str, value: &Value) -> Refusal {
    bad_value(format!("{field} must hold strings, not {}", kind(value)))
}

#[expect(clippy::cast_possible_truncation, reason = "checked to be whole and to fit exactly")]
fn whole_number(value: &Value) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    value.as_i64().or_else(|| {
        let number = value.as_f64()?;
        (number.fract() == 0.0).then(|| number.clamp(-EXACT, EXACT) as i64)
    })
}

fn wrong_type(field: &str, wanted: &str, value: &Value) -> Refusal {
    match value {
        Value::Number(number) => bad_value(format!("{field} must be {wanted}, not {number}")),
        other => bad_value(format!("{field} must be {wanted}, not {}", kind(other))),
    }
}

fn bad_value(message: String) -> Refusal {
    Refusal::new(RefusalKind::BadValue, message)
}

/// The image of the current observation, in whose pixels the next points are given.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    pub(crate) size: Size,
    /// The size of the frame it shows, in whose pixels areas are given.
    pub(crate) frame: Size,
    /// Where it was written.
    pub(crate) path: Option<PathBuf>,
}

/// `seechange.act/1`, with the change as `seechange.diff/1`.
pub(crate) fn receipt(receipt: &Receipt, change: Option<Value>, image: Option<&Image>) -> Value {
    let delivery = &receipt.delivery;
    json!({
        "schema": "seechange.act/1",
        "status": receipt.status.name(),
        "action": receipt.action.as_ref().map(described),
        "refusal": receipt.refusal.as_ref().map(|refusal| {
            json!({"kind": refusal.kind().name(), "message": refusal.message()})
        }),
        "observation": {
            "before": receipt.before.map(|id| id.to_string()),
            "after": receipt.after.map(|id| id.to_string()),
            "image": image.map(|image| json!({
                "width": image.size.width(),
                "height": image.size.height(),
                "path": image.path.as_ref().map(|path| path.to_string_lossy()),
            })),
            "frame": image.map(|image| size(image.frame)),
        },
        "delivery": {
            "events_planned": delivery.events_planned,
            "delivered_count": delivery.delivered_count,
            "pressed": delivery.pressed,
            "released": delivery.released,
            "route": delivery.route,
            "requested_ms": ms(delivery.requested),
            "took_ms": ms(delivery.took),
        },
        "sequence": receipt.sequence.as_ref().map(|report| sequence(report, receipt)),
        "held_after": receipt.held_after.as_ref().map(held_after),
        "clipboard": receipt.clipboard.as_ref().map(|clipboard| {
            json!({"restored": clipboard.restored, "note": clipboard.note})
        }),
        "wait": receipt.wait.as_ref().map(|outcome| wait(outcome, receipt.after)),
        "change": change,
        "page": receipt.page.as_ref().map(|page| page_row(page, receipt, image)),
        "postcondition": receipt.postcondition.as_ref().map(|postcondition| json!({
            "met": postcondition.is_met(),
            "evidence": postcondition.outcome.sentence(),
            "wait": wait(&postcondition.outcome, None),
        })),
        "message": receipt.message,
        "elapsed_ms": ms(receipt.elapsed),
    })
}

/// The row of a page: what was acted on, what came of it, and the elements there are now.
fn page_row(page: &PageReport, receipt: &Receipt, image: Option<&Image>) -> Value {
    let elements = page.elements.as_deref();
    let file = image.and_then(|image| image.path.as_ref());
    let screenshot = receipt
        .after
        .map(|id| json!({"id": id.to_string(), "file": file.map(|path| path.to_string_lossy())}));
    json!({
        "session_id": page.session,
        "ref": page.reference,
        "target": page.target,
        "result": receipt.status.name(),
        "error": error_of(page, receipt),
        "url": elements.map(|elements| elements.url.as_str()),
        "title": elements.map(|elements| elements.title.as_str()),
        "element_count": elements.map(|elements| elements.list.len()),
        "screenshot": screenshot,
        "observation": elements.map(|elements| elements.lines().join("\n")),
        "changes": page.changes,
        "navigated": page.has_navigated,
        "dialog": page.dialog,
        "tab": page.tabs.iter().find(|tab| tab.is_current).map(|tab| tab.number),
        "tabs": (page.tabs.len() > 1).then(|| page.tabs.iter().map(tab_row).collect::<Vec<_>>()),
    })
}

fn tab_row(tab: &Tab) -> Value {
    json!({"tab": tab.number, "url": tab.url, "title": tab.title})
}

/// What the site refused, or what the outcome is not known for.
fn error_of(page: &PageReport, receipt: &Receipt) -> Option<String> {
    match &receipt.refusal {
        Some(refusal) => Some(refusal.to_string()),
        None if receipt.status != Status::Delivered || page.dialog.is_some() => {
            receipt.message.clone()
        }
        None => None,
    }
}

/// The elements one by one, with their numbers in a picture with marks.
pub(crate) fn element_map(elements: &Elements) -> Value {
    let one = |element: &Element| {
        json!({
            "number": element.number,
            "ref": element.reference,
            "role": element.role,
            "name": element.name,
            "value": element.value,
            "states": element.states,
            "box": element.rect.map(super::diff::rect),
            "covered_by": element.covered_by,
        })
    };
    elements.list.iter().map(one).collect()
}

/// `seechange.wait/1`, its last look under the name it has in this session.
fn wait(outcome: &Outcome, after: Option<ObservationId>) -> Value {
    let mut wait = super::wait(outcome, &WaitPaths::default());
    if !wait["last"].is_null() {
        wait["last"]["observation"] = after.map(|id| id.to_string()).into();
    }
    wait
}

fn sequence(report: &SequenceReport, receipt: &Receipt) -> Value {
    let asked: &[Step] = match &receipt.action {
        Some(Action::Sequence(steps)) => steps,
        _ => &[],
    };
    let route = receipt.delivery.route;
    let steps = report.steps.iter().zip(asked);
    let steps = steps.map(|(report, asked)| sequence_step(report, asked, route));
    json!({
        "total": report.total,
        "attempted": report.attempted,
        "completed": report.completed,
        "elapsed_ms": ms(report.elapsed),
        "stop_reason": report.stop_reason,
        "steps": steps.collect::<Vec<_>>(),
    })
}

fn sequence_step(report: &StepReport, asked: &Step, route: &str) -> Value {
    json!({
        "status": report.status.name(),
        "action": described(&asked.action),
        "wait_ms": ms(asked.wait),
        "requested_ms": ms(report.requested),
        "route": route,
        "started_ms": ms(report.started),
        "ended_ms": ms(report.ended),
        "events_planned": report.events_planned,
        "delivered_count": report.delivered_count,
    })
}

fn held_after(held: &HeldAfter) -> Value {
    let buttons: Vec<&str> = held.buttons.iter().map(|button| button.name()).collect();
    let mut value = json!({"keys": held.keys, "buttons": buttons, "verified": held.verified});
    if held.is_lending {
        value["lending"] = true.into();
    }
    value
}

/// An action as it may be written down: a text by its length.
fn described(action: &Action) -> Value {
    let mut value = match action {
        Action::Observe | Action::SelectAll => json!({}),
        Action::Click { at, button, count, modifiers } => json!({
            "x": at.x(), "y": at.y(), "button": button.name(), "count": count,
            "modifiers": names(modifiers),
        }),
        Action::RightClick { at, modifiers } | Action::DoubleClick { at, modifiers } => {
            json!({"x": at.x(), "y": at.y(), "modifiers": names(modifiers)})
        }
        Action::Hover { at } => json!({"x": at.x(), "y": at.y()}),
        Action::Drag(drag) => described_drag(drag),
        Action::DragAlong(path) => json!({
            "from_x": path.from.x(), "from_y": path.from.y(), "to_x": path.to.x(),
            "to_y": path.to.y(), "via_points": path.via.len(), "duration_ms": ms(path.duration),
        }),
        Action::Hold(hold) => {
            let keys =
                names(&hold.modifiers).into_iter().chain(hold.keys.iter().map(|key| key.name()));
            json!({
                "keys": keys.collect::<Vec<_>>(), "duration_ms": ms(hold.duration),
                "actions": hold.actions.iter().map(described).collect::<Vec<_>>(),
            })
        }
        Action::Sequence(steps) => json!({"steps": steps.len()}),
        Action::Scroll { at, delta_x, delta_y } => {
            json!({"x": at.x(), "y": at.y(), "delta_x": delta_x, "delta_y": delta_y})
        }
        Action::Key { key, modifiers } => {
            json!({"key": key.name(), "modifiers": names(modifiers)})
        }
        Action::Hotkey { modifiers, key } => {
            let mut keys = names(modifiers);
            keys.push(key.name());
            json!({"keys": keys})
        }
        Action::TypeText { text, delay } => {
            json!({"text_length": text.length(), "method": "keys", "delay_ms": ms(*delay)})
        }
        Action::Paste { text } => json!({"text_length": text.length(), "method": "paste"}),
        Action::WaitFor(asked) if asked.or.is_empty() => described_condition(asked),
        Action::WaitFor(asked) => {
            let all = std::iter::once(asked).chain(&asked.or);
            json!({"any": all.map(described_condition).collect::<Vec<_>>()})
        }
        Action::Wait { duration } => json!({"seconds": duration.as_secs_f64()}),
        Action::Element(asked) => described_deed(asked),
        Action::Navigate { url } => json!({"url": url.as_str()}),
        Action::Tab(TabDeed::Open(url)) => json!({"url": url.as_str()}),
        Action::Tab(TabDeed::Go(number)) => json!({"tab": number}),
        Action::Tab(TabDeed::Close(number)) => json!({"tab": number, "close": true}),
        Action::Dialog { accept, text } => {
            json!({"accept": accept, "text_length": text.as_ref().map(Text::length)})
        }
    };
    value["action"] = action.name().into();
    value
}

fn described_deed(asked: &ElementAction) -> Value {
    let mut value = match &asked.deed {
        Deed::Click { button, count, modifiers } => {
            json!({"button": button.name(), "count": count, "modifiers": names(modifiers)})
        }
        Deed::RightClick { modifiers } | Deed::DoubleClick { modifiers } => {
            json!({"modifiers": names(modifiers)})
        }
        Deed::Scroll { direction, amount, by } => {
            json!({"direction": direction.name(), "amount": amount, "by": by.name()})
        }
        Deed::TypeText(text) => json!({"text_length": text.length()}),
        Deed::Drag { to, duration, steps, button, modifiers } => json!({
            "to_ref": to.as_str(), "duration_ms": ms(*duration), "steps": steps,
            "button": button.name(), "modifiers": names(modifiers),
        }),
        _ => json!({}),
    };
    value["ref"] = asked.target.as_str().into();
    value
}

fn described_condition(asked: &WaitFor) -> Value {
    let sought = match &asked.condition {
        Awaited::Page(sought) => Some(sought.to_string()),
        _ => None,
    };
    json!({
        "sought": sought, "condition": asked.condition.name(), "timeout_ms": ms(asked.timeout),
        "region": asked.region.map(super::diff::rect),
    })
}

fn described_drag(drag: &Drag) -> Value {
    json!({
        "from_x": drag.from.x(), "from_y": drag.from.y(), "to_x": drag.to.x(), "to_y": drag.to.y(),
        "duration_ms": ms(drag.duration), "steps": drag.steps, "button": drag.button.name(),
        "modifiers": names(&drag.modifiers),
    })
}

fn names(modifiers: &Modifiers) -> Vec<&'static str> {
    modifiers.as_slice().iter().map(|modifier| modifier.name()).collect()
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::act::fake::{Fake, Fault};
    use crate::act::{Executor, ExecutorOptions, Status};

    fn read(text: &str) -> Result<Request, Refusal> {
        request_of(super::super::object(text.as_bytes())?)
    }

    #[test]
    fn requests_read_with_their_defaults() {
        let point = |x, y| ImagePoint::new(x, y).unwrap();
        let none = Modifiers::none;
        for (text, action) in [
            (r#"{"action":"observe"}"#, Action::Observe),
            (r#"{"action":"click","x":412,"y":230.5}"#, Action::click(point(412.0, 230.5))),
            (
                r#"{"action":"click","x":1e2,"y":0,"button":"right","count":3.0,"modifiers":["Control","cmd"]}"#,
                Action::Click {
                    at: point(100.0, 0.0),
                    button: Button::Right,
                    count: 3,
                    modifiers: Modifiers::new(["ctrl".parse().unwrap(), "super".parse().unwrap()])
                        .unwrap(),
                },
            ),
            (
                r#"{"action":"right_click","x":1,"y":2}"#,
                Action::RightClick { at: point(1.0, 2.0), modifiers: none() },
            ),
            (
                r#"{"action":"double_click","x":1,"y":2,"modifiers":[]}"#,
                Action::DoubleClick { at: point(1.0, 2.0), modifiers: none() },
            ),
            (r#"{"action":"hover","x":1,"y":2}"#, Action::Hover { at: point(1.0, 2.0) }),
            (
                r#"{"action":"drag","from_x":1,"from_y":2,"to_x":3,"to_y":4}"#,
                Action::Drag(Drag {
                    from: point(1.0, 2.0),
                    to: point(3.0, 4.0),
                    duration: Duration::from_millis(500),
                    steps: 20,
                    button: Button::Left,
                    modifiers: none(),
                }),
            ),
            (
                r#"{"action":"scroll","x":1,"y":2,"delta_y":-3}"#,
                Action::Scroll { at: point(1.0, 2.0), delta_x: 0, delta_y: -3 },
            ),
            (r#"{"action":"key","key":"Enter"}"#, Action::key("return".parse().unwrap())),
            (r#"{"action":"hotkey","keys":["Ctrl","S"]}"#, Action::hotkey(["ctrl", "s"]).unwrap()),
            (r#"{"action":"select_all"}"#, Action::SelectAll),
            (
                r#"{"action":"type_text","text":"a \"q\" $(x)\n","method":"keys"}"#,
                Action::TypeText {
                    text: Text::new("a \"q\" $(x)\n").unwrap(),
                    delay: Duration::from_millis(30),
                },
            ),
            (
                r#"{"action":"type_text","text":"a\n","method":"paste"}"#,
                Action::Paste { text: Text::new("a\n").unwrap() },
            ),
            (
                r#"{"action":"drag","from_x":1,"from_y":2,"via":[{"x":5,"y":6}],"to_x":3,"to_y":4,"button":"left"}"#,
                Action::DragAlong(Path {
                    from: point(1.0, 2.0),
                    via: vec![point(5.0, 6.0)],
                    to: point(3.0, 4.0),
                    duration: Duration::from_millis(500),
                }),
            ),
            (
                r#"{"action":"hold","keys":["a","shift"],"duration_ms":800,"actions":[{"action":"click","x":1,"y":2}]}"#,
                Action::Hold(Hold {
                    keys: vec!["a".parse().unwrap()],
                    modifiers: Modifiers::new(["shift".parse().unwrap()]).unwrap(),
                    duration: Duration::from_millis(800),
                    actions: vec![Action::click(point(1.0, 2.0))],
                }),
            ),
            (
                r#"{"action":"sequence","steps":[{"action":"select_all"},{"action":"key","key":"tab","wait_ms":9}]}"#,
                Action::Sequence(vec![
                    Step { wait: Duration::ZERO, action: Action::SelectAll },
                    Step {
                        wait: Duration::from_millis(9),
                        action: Action::key("tab".parse().unwrap()),
                    },
                ]),
            ),
            (
                r#"{"action":"wait_for","condition":"changed","hold_ms":9,"captures":2,"region":{"x":1,"y":2,"width":3,"height":4}}"#,
                Action::WaitFor(WaitFor {
                    condition: Condition::changed()
                        .hold(Duration::from_millis(9))
                        .captures(2)
                        .require_seen(false)
                        .into(),
                    timeout: Duration::from_secs(5),
                    region: Some(Rect::new(1, 2, 3, 4).unwrap()),
                    or: Vec::new(),
                }),
            ),
            (
                r#"{"action":"wait_for","timeout":"3s","any":[{"condition":"changed"},{"condition":"stable","timeout_ms":900}]}"#,
                Action::WaitFor(WaitFor {
                    condition: Condition::changed().into(),
                    timeout: Duration::from_secs(3),
                    region: None,
                    or: vec![WaitFor {
                        condition: Condition::stable().into(),
                        timeout: Duration::from_millis(900),
                        region: None,
                        or: Vec::new(),
                    }],
                }),
            ),
            (r#"{"action":"wait"}"#, Action::Wait { duration: Duration::from_secs(1) }),
            (
                r#"{"action":"wait","seconds":0.25}"#,
                Action::Wait { duration: Duration::from_millis(250) },
            ),
        ] {
            let request = read(text).unwrap();
            assert_eq!(
                (request.action, request.observation, request.screenshot),
                (action, None, true)
            );
        }
        let request = read(r#"{"action":"observe","observation":"obs-12","screenshot":false}"#);
        let expected =
            Request { screenshot: false, ..Request::new(Action::Observe, ObservationId::new(12)) };
        assert_eq!(request.unwrap(), expected);
    }

    #[test]
    fn what_is_no_request_says_what_would_be() {
        use RefusalKind::{BadValue, MissingField, UnknownAction, UnknownField};
        for (text, kind, message) in [
            (r#"{}"#, MissingField, r#"the request names no action, such as {"action":"observe"}"#),
            (r#"{"action":7}"#, BadValue, "action must be the name of an action, not 7"),
            (
                r#"{"action":"shell","command":"rm"}"#,
                UnknownAction,
                "there is no action 'shell': use observe, click, right_click, double_click, hover, \
                 drag, scroll, scroll_to_element, key, hotkey, select_all, type_text, hold, \
                 sequence, wait, wait_for, dialog, navigate, tab",
            ),
            (r#"{"action":"dialog"}"#, MissingField, "dialog needs accept"),
            (r#"{"action":"scroll_to_element"}"#, MissingField, "scroll_to_element needs ref"),
            (
                r#"{"action":"observe","command":"ls"}"#,
                UnknownField,
                "observe has no field 'command': it takes action, observation, postcondition, screenshot, marks",
            ),
            (
                r#"{"action":"click","x":1,"y":2,"count_":2}"#,
                UnknownField,
                "click has no field 'count_': it takes action, observation, postcondition, screenshot, x, y, \
                 ref, button, count, modifiers",
            ),
            (
                r#"{"action":"type_text","text":"x","x":1}"#,
                UnknownField,
                "type_text has no field 'x': it takes action, observation, postcondition, screenshot, text, \
                 delay_ms, method, ref",
            ),
            (r#"{"action":"click","x":1}"#, MissingField, "click needs y"),
            (r#"{"action":"click"}"#, MissingField, "click needs x"),
            (r#"{"action":"click","x":"1","y":2}"#, BadValue, "x must be a number, not a string"),
            (r#"{"action":"click","x":null,"y":2}"#, BadValue, "x must be a number, not null"),
            (r#"{"action":"click","x":[1],"y":2}"#, BadValue, "x must be a number, not an array"),
            (
                r#"{"action":"click","ref":"e45"}"#,
                BadValue,
                "ref 'e45' is not the reference of an element, such as 3:a",
            ),
            (
                r#"{"action":"click","x":1,"y":2,"postcondition":{"stable":true}}"#,
                UnknownField,
                "postcondition: a condition has no field 'stable': it takes condition, any, image, \
                 text, ref, name, role, url, timeout, timeout_ms, hold_ms, captures, region, require_seen, ignore_periodic",
            ),
            (
                r#"{"action":"click","x":1,"y":2,"postcondition":{"condition":"appears","image":"/no/such.png"}}"#,
                BadValue,
                "postcondition: image cannot be read: no such file or directory",
            ),
            (r#"{"action":"wait_for","any":[]}"#, BadValue, "any is empty: name some conditions"),
            (
                r#"{"action":"wait_for","any":[{"condition":"stable"}],"hold_ms":9}"#,
                BadValue,
                "any and hold_ms exclude each other: put it inside any",
            ),
            (
                r#"{"action":"wait_for","any":[{"any":[]}]}"#,
                BadValue,
                "condition 1: a condition inside any is no any itself",
            ),
            (
                r#"{"action":"wait_for","condition":"done"}"#,
                BadValue,
                "there is no condition 'done': use stable, changed, matches, appears or gone, and \
                 on a page text, visible, enabled or url",
            ),
            (r#"{"action":"wait_for"}"#, MissingField, "wait_for needs condition"),
            (
                r#"{"action":"wait_for","condition":"matches"}"#,
                MissingField,
                "wait_for needs image",
            ),
            (
                r#"{"action":"wait_for","condition":"gone"}"#,
                MissingField,
                "gone needs one of image, ref, text or name",
            ),
            (
                r#"{"action":"wait_for","condition":"stable","image":"a.png"}"#,
                BadValue,
                "the condition stable takes no image",
            ),
            (
                r#"{"action":"wait_for","condition":"stable","timeout":"6m"}"#,
                BadValue,
                "timeout must be 0 to 300 s",
            ),
            (
                r#"{"action":"wait_for","condition":"stable","timeout":"5"}"#,
                BadValue,
                "timeout: duration '5' is not a number with ms, s or m, such as 250ms or 5s",
            ),
            (
                r#"{"action":"wait_for","condition":"stable","timeout":300001}"#,
                BadValue,
                "timeout must be 0 to 300000, not 300001",
            ),
            (
                r#"{"action":"wait_for","condition":"stable","timeout":1,"timeout_ms":1}"#,
                BadValue,
                "timeout and timeout_ms are one and the same: give one",
            ),
            (
                r#"{"action":"wait_for","condition":"stable","timeout_ms":300001}"#,
                BadValue,
                "timeout_ms must be 0 to 300000, not 300001",
            ),
            (
                r#"{"action":"wait_for","condition":"stable","region":{"x":0,"y":0,"width":0,"height":4}}"#,
                BadValue,
                "region 0,0,0,4 is empty",
            ),
            (
                r#"{"action":"click","x":1,"y":2,"count":0}"#,
                BadValue,
                "count must be 1 to 3, not 0",
            ),
            (
                r#"{"action":"click","x":1,"y":2,"count":1.5}"#,
                BadValue,
                "count must be a whole number, not 1.5",
            ),
            (
                r#"{"action":"click","x":1,"y":2,"count":1e300}"#,
                BadValue,
                "count must be 1 to 3, not 9007199254740992",
            ),
            (
                r#"{"action":"click","x":1,"y":2,"button":"thumb"}"#,
                BadValue,
                "there is no button 'thumb': use left, middle or right",
            ),
            (
                r#"{"action":"click","x":1,"y":2,"button":1}"#,
                BadValue,
                "button must be left, middle or right, not 1",
            ),
            (
                r#"{"action":"click","x":1,"y":2,"modifiers":"ctrl"}"#,
                BadValue,
                "modifiers must be an array of strings, not a string",
            ),
            (
                r#"{"action":"click","x":1,"y":2,"modifiers":[1]}"#,
                BadValue,
                "modifiers must hold strings, not a number",
            ),
            (
                r#"{"action":"click","x":1,"y":2,"modifiers":["hyper"]}"#,
                BadValue,
                "there is no modifier 'hyper': use ctrl, shift, alt or super",
            ),
            (
                r#"{"action":"click","x":1,"y":2,"modifiers":["ctrl","Control"]}"#,
                BadValue,
                "the modifier ctrl stands there twice",
            ),
            (
                r#"{"action":"drag","from_x":1,"from_y":2,"to_x":3,"to_y":4,"steps":201}"#,
                BadValue,
                "steps must be 1 to 200, not 201",
            ),
            (
                r#"{"action":"drag","from_x":1,"from_y":2,"to_x":3,"to_y":4,"duration_ms":-1}"#,
                BadValue,
                "duration_ms must be 0 to 10000, not -1",
            ),
            (
                r#"{"action":"drag","from_x":1,"from_y":2,"to_x":3,"to_y":4,"via":[{"x":1,"y":2}],"steps":9}"#,
                BadValue,
                "a drag with via takes no steps",
            ),
            (
                r#"{"action":"drag","from_x":1,"from_y":2,"to_x":3,"to_y":4,"via":[],"button":"right"}"#,
                BadValue,
                "a drag with via takes no button but left",
            ),
            (
                r#"{"action":"drag","from_x":1,"from_y":2,"to_x":3,"to_y":4,"via":[{"x":1,"y":2},{"x":1}]}"#,
                MissingField,
                "via point 2: a point needs y",
            ),
            (
                r#"{"action":"drag","from_x":1,"from_y":2,"to_x":3,"to_y":4,"via":[[1,2]]}"#,
                BadValue,
                "via point 1: it must be an {x, y}, not an array",
            ),
            (
                r#"{"action":"drag","from_x":1,"from_y":2,"to_x":3,"to_y":4,"via":[{"x":1,"y":2,"z":3}]}"#,
                UnknownField,
                "via point 1: a point has no field 'z': it takes x, y",
            ),
            (r#"{"action":"hold","keys":["a"]}"#, MissingField, "hold needs duration_ms"),
            (
                r#"{"action":"hold","keys":["a"],"duration_ms":0}"#,
                BadValue,
                "duration_ms must be 1 to 10000, not 0",
            ),
            (
                r#"{"action":"hold","keys":["a"],"duration_ms":9,"actions":[]}"#,
                BadValue,
                "actions is empty: name some or leave it out",
            ),
            (
                r#"{"action":"hold","keys":["shift","Shift"],"duration_ms":9}"#,
                BadValue,
                "the modifier shift stands there twice",
            ),
            (
                r#"{"action":"hold","keys":["a"],"duration_ms":9,"actions":[{"action":"click","x":1,"y":2,"observation":"obs-1"}]}"#,
                UnknownField,
                "action 1: click has no field 'observation': it takes action, x, y, ref, \
                 button, count, modifiers",
            ),
            (
                r#"{"action":"sequence","steps":[{"action":"select_all"},{"action":"key","wait_ms":5001}]}"#,
                BadValue,
                "step 2: wait_ms must be 0 to 5000, not 5001",
            ),
            (
                r#"{"action":"sequence","steps":[{"action":"key","key":"nope"}]}"#,
                BadValue,
                "step 1: there is no key 'nope': use a letter, a digit, return, tab, escape, space, \
                 backspace, delete, up, down, left, right, home, end, pageup, pagedown or f1 to \
                 f12; type_text types anything else",
            ),
            (
                r#"{"action":"sequence","steps":["key"]}"#,
                BadValue,
                "step 1: it must be an object, not a string",
            ),
            (
                r#"{"action":"scroll","x":1,"y":2,"delta_y":51}"#,
                BadValue,
                "delta_y must be -50 to 50, not 51",
            ),
            (
                r#"{"action":"hotkey","keys":[]}"#,
                BadValue,
                "keys is empty: name modifiers and then one key",
            ),
            (
                r#"{"action":"hotkey","keys":["ctrl","shift"]}"#,
                BadValue,
                "keys must be modifiers and then one key: 'shift' at the end is a modifier",
            ),
            (r#"{"action":"hotkey"}"#, MissingField, "hotkey needs keys"),
            (r#"{"action":"type_text"}"#, MissingField, "type_text needs text"),
            (r#"{"action":"type_text","text":12}"#, BadValue, "text must be a string, not 12"),
            (
                r#"{"action":"type_text","text":""}"#,
                BadValue,
                "text must be 1 to 2000 characters, not 0",
            ),
            (
                r#"{"action":"type_text","text":"x","delay_ms":201}"#,
                BadValue,
                "delay_ms must be 0 to 200, not 201",
            ),
            (
                r#"{"action":"type_text","text":"x","method":"paste","delay_ms":30}"#,
                BadValue,
                "a paste has no delay_ms: leave it out",
            ),
            (
                r#"{"action":"type_text","text":"x","method":"mouse"}"#,
                BadValue,
                "there is no method 'mouse': use keys or paste",
            ),
            (r#"{"action":"wait","seconds":30.5}"#, BadValue, "seconds must be 0 to 30, not 30.5"),
            (r#"{"action":"wait","seconds":-1}"#, BadValue, "seconds must be 0 to 30, not -1"),
            (
                r#"{"action":"observe","observation":12}"#,
                BadValue,
                "observation must be an id such as \"obs-12\", not 12",
            ),
            (
                r#"{"action":"observe","observation":"last"}"#,
                BadValue,
                "observation 'last' is not the id of one, such as obs-12",
            ),
            (
                r#"{"action":"observe","screenshot":"no"}"#,
                BadValue,
                "screenshot must be true or false, not a string",
            ),
        ] {
            let refusal = read(text).unwrap_err();
            assert_eq!((refusal.kind(), refusal.message()), (kind, message), "{text}");
        }
    }

    #[test]
    fn texts_have_up_to_2000_characters_of_any_script() {
        for (text, ok) in [("é".repeat(2000), true), ("🙂".repeat(2001), false)] {
            let request = json!({"action": "type_text", "text": text}).to_string();
            assert_eq!(read(&request).is_ok(), ok);
        }
    }

    #[test]
    fn a_receipt_has_the_fields_of_the_contract() {
        let mut fake = Fake::new(64, 48);
        let clock = fake.clock.clone();
        let mut executor = Executor::new(&mut fake, clock, ExecutorOptions::new());
        executor.observe().unwrap();
        let request = read(r#"{"action":"click","x":5,"y":6,"observation":"obs-1"}"#).unwrap();
        let delivered = receipt(&executor.execute(&request).unwrap(), None, None);
        assert_eq!(
            delivered["action"],
            json!({"action": "click", "x": 5.0, "y": 6.0, "button": "left", "count": 1, "modifiers": []})
        );
        assert_eq!(delivered["schema"], "seechange.act/1");
        assert_eq!(delivered["status"], "delivered");
        assert_eq!(
            delivered["observation"],
            json!({"before": "obs-1", "after": "obs-2", "image": null, "frame": null})
        );
        assert_eq!(
            delivered["delivery"],
            json!({"events_planned": 3, "delivered_count": 3, "pressed": 1, "released": 1, "route": "fake",
                   "requested_ms": 30, "took_ms": 30})
        );
        assert_eq!(delivered["held_after"], json!({"keys": [], "buttons": [], "verified": true}));
        assert_eq!(delivered["refusal"], Value::Null);

        let refused = receipt(&executor.execute(&request).unwrap(), None, None);
        assert_eq!(refused["status"], "refused");
        assert_eq!(refused["refusal"]["kind"], "stale_observation");
        assert_eq!(
            refused["observation"],
            json!({"before": "obs-2", "after": "obs-2", "image": null, "frame": null})
        );
        assert_eq!(refused["held_after"], Value::Null);
    }

    #[test]
    fn a_text_is_nowhere_but_in_its_length() {
        let secret = "hunter2 OPENsesame";
        let typing = json!({"action": "type_text", "text": secret, "observation": "obs-1"});
        let steps = json!([{"action": "type_text", "text": secret}]);
        let sequence = json!({"action": "sequence", "steps": steps, "observation": "obs-1"});
        let mut pasting = typing.clone();
        pasting["method"] = "paste".into();
        check_secret_with(&read(&pasting.to_string()).unwrap(), Status::Delivered);
        for request in [typing, sequence] {
            check_secret(&read(&request.to_string()).unwrap());
        }
    }

    fn check_secret(request: &Request) {
        check_secret_with(request, Status::Refused);
    }

    /// `last` is what becomes of a text with a character that has no key.
    fn check_secret_with(request: &Request, last: Status) {
        let dies = |index| Some((index, Fault::Dies));
        let mut statuses = Vec::new();
        for (fault, untypable) in [(None, ""), (dies(3), ""), (dies(0), ""), (None, "2")] {
            let mut fake = Fake::new(64, 48);
            (fake.fault, fake.untypable, fake.spare) = (fault, untypable, 0);
            let clock = fake.clock.clone();
            let mut executor = Executor::new(&mut fake, clock, ExecutorOptions::new());
            executor.observe().unwrap();
            let answer = executor.execute(request).unwrap();
            statuses.push(answer.status);
            let json = receipt(&answer, None, None);
            let everything = format!("{json} {answer:?} {request:?}");
            for part in ["hunter", "unter2", "OPEN", "sesame"] {
                assert!(!everything.contains(part), "{everything}");
            }
        }
        use Status::{Delivered, Unknown};
        assert_eq!(statuses, [Delivered, Unknown, Unknown, last]);
        let length = described(&Action::type_text(Text::new("hunter2").unwrap()));
        assert_eq!(length["text_length"], 7);
    }
}
