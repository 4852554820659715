//! The arguments and results of tools as JSON Schema, made from the limits of the action contract
//! and tested against the reader of its requests, so that the two cannot drift apart.
//!
//! What a schema cannot say without combinators that clients refuse at its top (which arguments
//! exclude each other) stands in the descriptions, and the reader says it.

use std::ops::RangeInclusive;

use serde_json::{Map, Value, json};

use crate::act::limits::{
    ANY_CONDITIONS, CLICK_COUNT, DELAY_MS, DELAY_MS_DEFAULT, DRAG_MS, DRAG_MS_DEFAULT, DRAG_STEPS,
    DRAG_STEPS_DEFAULT, HOLD_ACTIONS, HOLD_KEYS, HOLD_MS, SCROLL_AMOUNT, SCROLL_DETENTS,
    SEQUENCE_STEPS, STEP_WAIT_MS, TAB_NUMBER, TEXT_CHARACTERS, TIMEOUT_MS, TIMEOUT_MS_DEFAULT,
    VIA_POINTS, WAIT_SECONDS, WAIT_SECONDS_DEFAULT,
};
use crate::front::wire::act::{SCROLL_AMOUNT_DEFAULT, SOUGHT_CHARACTERS};
use crate::geometry::MAX_EDGE;

/// In how many captures evidence may have to stand; the reader's limit.
const CAPTURES: RangeInclusive<u32> = 1..=1000;

/// The keys with names, as the contract writes them and as people do.
const NAMED_KEYS: &str = "f[1-9]|f1[0-2]|F[1-9]|F1[0-2]|return|Return|enter|Enter|tab|Tab|escape|\
    Escape|esc|Esc|space|Space|backspace|Backspace|delete|Delete|del|up|down|left|right|ArrowUp|\
    ArrowDown|ArrowLeft|ArrowRight|home|Home|end|End|pageup|PageUp|pagedown|PageDown";

const MODIFIERS: [&str; 5] = ["ctrl", "shift", "alt", "super", "win"];

/// What the tools act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    /// Pixels alone.
    Screen,
    /// A page, which knows its elements.
    Page,
}

/// Arguments in the making.
pub(super) struct Fields {
    properties: Map<String, Value>,
    required: Vec<&'static str>,
}

impl Fields {
    /// No arguments.
    pub(super) fn none() -> Self {
        Self { properties: Map::new(), required: Vec::new() }
    }

    /// One that must be there.
    pub(super) fn needs(mut self, name: &'static str, schema: Value) -> Self {
        self.required.push(name);
        self.may(name, schema)
    }

    /// One that may be there.
    pub(super) fn may(mut self, name: &'static str, schema: Value) -> Self {
        self.properties.insert(name.to_owned(), schema);
        self
    }

    /// Says what one is for.
    fn tell(mut self, name: &str, description: &str) -> Self {
        self.properties[name]["description"] = description.into();
        self
    }

    /// A point of the image, as two arguments.
    pub(super) fn point(self, x: &'static str, y: &'static str, what: &str) -> Self {
        self.needs(x, edge(what, "left")).needs(y, edge(what, "top"))
    }

    /// A place: a point, on a page an element instead.
    fn place(self, on: On, names: [&'static str; 3], what: &str) -> Self {
        let [x, y, element] = names;
        match on {
            On::Screen => self.point(x, y, what),
            On::Page => self
                .may(element, reference(&format!("{what}: a ref of the current observation")))
                .may(x, edge(&format!("{what}, without {element}"), "left"))
                .may(y, edge(&format!("{what}, without {element}"), "top")),
        }
    }

    fn modifiers(self) -> Self {
        self.may(
            "modifiers",
            json!({
                "type": "array", "uniqueItems": true, "maxItems": 4,
                "items": {"enum": MODIFIERS[..4]},
                "description": "Held meanwhile. Default: none",
            }),
        )
    }

    fn button(self) -> Self {
        self.may("button", json!({"enum": ["left", "middle", "right"], "default": "left"}))
    }

    fn screenshot(self) -> Self {
        self.may(
            "screenshot",
            json!({
                "type": "boolean", "default": true,
                "description": "false: answer without pictures",
            }),
        )
    }

    /// The object schema, closed.
    pub(super) fn object(self) -> Value {
        json!({
            "type": "object", "properties": self.properties, "required": self.required,
            "additionalProperties": false,
        })
    }

    /// The arguments of an action that sends input.
    fn input(self, on: On) -> Value {
        self.needs(
            "observation",
            observation(
                "The current one, which the action was chosen from; \
                an older one is refused",
            ),
        )
        .may("postcondition", postcondition(on))
        .screenshot()
        .object()
    }
}

fn edge(what: &str, edge: &str) -> Value {
    let description = format!("{what}: pixels from the image's {edge} edge");
    json!({"type": "number", "minimum": 0, "description": description})
}

/// The references of elements.
const REFERENCE: &str = "^[0-9]{1,10}:[a-z]{1,6}$";

fn reference(description: &str) -> Value {
    json!({"type": "string", "pattern": REFERENCE, "description": description})
}

/// The arguments of the tool of an action, `None` for a name that is none there.
pub(super) fn arguments(tool: &str, on: On) -> Option<Value> {
    let none = Fields::none();
    Some(match tool {
        "observe" => match on {
            On::Screen => none,
            On::Page => none.may("marks", json!({
                "type": "boolean", "default": false,
                "description": "true: the image shows the elements numbered, and the answer lists \
                    them by number and ref",
            })),
        }
        .screenshot()
        .object(),
        "wait" => none.may("seconds", json!({
            "type": "number", "minimum": WAIT_SECONDS.start(), "maximum": WAIT_SECONDS.end(),
            "default": WAIT_SECONDS_DEFAULT,
        })).screenshot().object(),
        "wait_for" => wait_for(on)
            .may("observation", observation("For changed: what it must differ from, the current \
                observation. Default: the screen as the wait begins"))
            .screenshot()
            .object(),
        "dialog" if on == On::Page => none
            .needs("accept", json!({"type": "boolean", "description": "false dismisses it"}))
            .may("text", json!({
                "type": "string", "minLength": TEXT_CHARACTERS.start(),
                "maxLength": TEXT_CHARACTERS.end(), "description": "The answer to a prompt",
            }))
            .screenshot()
            .object(),
        "navigate" if on == On::Page => none
            .needs("url", json!({
                "type": "string", "pattern": "^https?://[^ ]+$", "maxLength": 4096,
            }))
            .screenshot()
            .object(),
        "tab" if on == On::Page => none
            .may("tab", json!({
                "type": "integer", "minimum": TAB_NUMBER.start(), "maximum": TAB_NUMBER.end(),
                "description": "Which tab to go to, by its number in tabs",
            }))
            .may("url", json!({
                "type": "string", "pattern": "^https?://[^ ]+$", "maxLength": 4096,
                "description": "Instead of tab: opened in a new tab",
            }))
            .may("close", json!({
                "type": "boolean", "default": false,
                "description": "true: closes the tab instead of going there",
            }))
            .screenshot()
            .object(),
        "hold" => hold().input(on),
        "sequence" => sequence().input(on),
        action => plain(action, on)?.input(on),
    })
}

/// The arguments of an action without parts, beside the common ones.
fn plain(action: &str, on: On) -> Option<Fields> {
    let none = Fields::none();
    let at = |fields: Fields| fields.place(on, ["x", "y", "ref"], "Where");
    let is_page = on == On::Page;
    Some(match action {
        "click" => at(none).button().modifiers().may("count", json!({
            "type": "integer", "minimum": CLICK_COUNT.start(), "maximum": CLICK_COUNT.end(),
            "default": 1, "description": "3 selects a line or a paragraph in most editors",
        })),
        "right_click" | "double_click" => at(none).modifiers(),
        "hover" => at(none),
        "drag" => drag(on),
        "scroll" if is_page => wheel(at(none))
            .may("direction", json!({
                "enum": ["up", "down", "left", "right"],
                "description": "With ref, instead of delta_x and delta_y",
            }))
            .may("amount", whole(&SCROLL_AMOUNT, SCROLL_AMOUNT_DEFAULT, "With ref: how many"))
            .may("by", json!({"enum": ["line", "page"], "default": "line"})),
        "scroll" => wheel(at(none)),
        "scroll_to_element" if is_page => none.needs("ref", reference("Which element")),
        "key" => none.needs("key", key()).modifiers(),
        "hotkey" => none.needs("keys", json!({
            "type": "array", "items": {"type": "string", "pattern": key_or_modifier()},
            "minItems": 1, "maxItems": 5, "uniqueItems": true,
            "description": "Modifiers first, then one key: [\"ctrl\", \"s\"]. Pressed in order, \
                            released in reverse",
        })),
        "select_all" => none,
        "type_text" if is_page => typed(none).may(
            "ref",
            reference("A field, whose content is replaced in one piece; of a select, text is the \
                option. Without it the text is typed into what has the focus"),
        )
        .may("method", json!({"enum": ["keys"], "default": "keys"})),
        "type_text" => typed(none).may(
            "method",
            json!({
                "enum": ["keys", "paste"], "default": "keys",
                "description": "paste goes through the clipboard, which is put back, in one go; \
                                without delay_ms",
            }),
        ),
        _ => return None,
    })
}

fn wheel(fields: Fields) -> Fields {
    fields.may("delta_x", detents("right")).may("delta_y", detents("down"))
}

fn typed(fields: Fields) -> Fields {
    fields
        .needs(
            "text",
            json!({
                "type": "string", "minLength": TEXT_CHARACTERS.start(),
                "maxLength": TEXT_CHARACTERS.end(),
                "description": "Typed as it is into what has the focus; a line break is Return",
            }),
        )
        .may("delay_ms", whole(&DELAY_MS, DELAY_MS_DEFAULT, "Milliseconds a character"))
}

fn drag(on: On) -> Fields {
    Fields::none()
        .place(on, ["from_x", "from_y", "ref"], "Where it begins")
        .place(on, ["to_x", "to_y", "to_ref"], "Where it ends")
        .may("duration_ms", whole(&DRAG_MS, DRAG_MS_DEFAULT, "How long it takes"))
        .may("steps", whole(&DRAG_STEPS, DRAG_STEPS_DEFAULT, "Moves on the way; not with via"))
        .may(
            "via",
            json!({
                "type": "array", "minItems": VIA_POINTS.start(), "maxItems": VIA_POINTS.end(),
                "items": Fields::none().point("x", "y", "A point on the way").object(),
                "description": "Points to pass through, for a stroke that is not straight. Then no \
                                steps, no modifiers and the left button",
            }),
        )
        .button()
        .modifiers()
}

fn hold() -> Fields {
    let action =
        |name: &'static str, fields: Fields| fields.needs("action", json!({"const": name}));
    let click = action("click", Fields::none().point("x", "y", "Where"));
    let drag = action(
        "drag",
        Fields::none()
            .point("from_x", "from_y", "Where it begins")
            .point("to_x", "to_y", "Where it ends")
            .may("duration_ms", whole(&DRAG_MS, DRAG_MS_DEFAULT, "How long it takes")),
    );
    Fields::none()
        .needs("keys", json!({
            "type": "array", "items": {"type": "string", "pattern": key_or_modifier()},
            "minItems": HOLD_KEYS.start(), "maxItems": HOLD_KEYS.end(), "uniqueItems": true,
            "description": "Held down together: keys and modifiers",
        }))
        .needs("duration_ms", json!({
            "type": "integer", "minimum": HOLD_MS.start(), "maximum": HOLD_MS.end(),
        }))
        .may("actions", json!({
            "type": "array", "minItems": HOLD_ACTIONS.start(), "maxItems": HOLD_ACTIONS.end(),
            "items": {"anyOf": [click.object(), drag.object()]},
            "description": "Left clicks (50 ms each) and drags meanwhile; together they must fit \
                            into duration_ms",
        }))
}

/// The actions a sequence may be made of.
pub(super) const STEPS: [&str; 8] =
    ["key", "hotkey", "type_text", "select_all", "click", "double_click", "right_click", "drag"];

fn sequence() -> Fields {
    let step = |&name: &&'static str| {
        let fields = plain(name, On::Screen).unwrap_or_else(Fields::none);
        let wait = whole(&STEP_WAIT_MS, 0, "Waited before this step, in milliseconds");
        fields.needs("action", json!({"const": name})).may("wait_ms", wait).object()
    };
    let steps: Vec<Value> = STEPS.iter().map(step).collect();
    Fields::none().needs("steps", json!({
        "type": "array", "minItems": SEQUENCE_STEPS.start(), "maxItems": SEQUENCE_STEPS.end(),
        "items": {"anyOf": steps},
        "description": "Carried out in order; all are checked before the first event. It stops at \
                        the first that is not delivered",
    }))
}

/// What is waited for; or with `any` the first of several.
fn wait_for(on: On) -> Fields {
    let fields = condition(on).tell(
        "condition",
        match on {
            On::Screen => {
                "stable: nothing moves any more. changed: it differs from before, and \
            stays so. appears: image is seen anywhere. matches: image is seen in its place. gone: \
            image is not seen any more"
            }
            On::Page => {
                "text: it is visible anywhere. visible, enabled, gone: the element of ref, or \
            any of name (and role); gone also text. url: the address is like url. Of the pixels: \
            stable: nothing moves any more. changed: it differs from before, and stays so. \
            appears, matches, gone: image is seen anywhere, in its place, not any more"
            }
        },
    );
    let fields = match on {
        On::Screen => fields,
        On::Page => fields
            .tell("url", "* stands for anything: */done*")
            .tell("name", "All of it, as the elements' lines have it")
            .tell("role", "In lower case, such as button"),
    };
    fields
        .tell("timeout_ms", "How long to wait at most. Running out is an answer that says what was \
            missing")
        .tell("hold_ms", "How long the evidence must stand. Default: 250; 0 for matches, appears")
        .tell("captures", "In how many looks in a row. Default: 3; 1 for matches, appears")
        .tell("image", "For matches, appears and gone: what stood in one of the latest 16 \
            observations, in region of it")
        .tell("region", "Look only here: pixels of the observation's image")
        .tell("require_seen", "For gone: the image must first have been seen")
        .tell("ignore_periodic", "Leave out what repeats, such as a spinner")
        .may("any", json!({
            "type": "array", "minItems": ANY_CONDITIONS.start(), "maxItems": ANY_CONDITIONS.end(),
            "items": Fields { required: vec!["condition"], ..condition(on) }.object(),
            "description": "Instead of condition and its fields: several, of which the first that \
                is met ends the wait; timeout_ms beside it is for those without",
        }))
}

/// One condition, without words: it stands in almost every tool, and a model pays for each.
fn condition(on: On) -> Fields {
    let short = || {
        let (least, most) = (SOUGHT_CHARACTERS.start(), SOUGHT_CHARACTERS.end());
        json!({"type": "string", "minLength": least, "maxLength": most})
    };
    let pixels = ["stable", "changed", "matches", "appears", "gone"];
    let all = [&pixels[..], &["text", "visible", "enabled", "url"]].concat();
    let fields = match on {
        On::Screen => Fields::none().may("condition", json!({"enum": pixels})),
        On::Page => Fields::none()
            .may("condition", json!({"enum": all}))
            .may("text", short())
            .may("ref", json!({"type": "string", "pattern": REFERENCE}))
            .may("name", short())
            .may("role", short())
            .may("url", short()),
    };
    fields
        .may("image", image())
        .may("timeout_ms", bare(&TIMEOUT_MS, Some(TIMEOUT_MS_DEFAULT)))
        .may("hold_ms", bare(&TIMEOUT_MS, None))
        .may("captures", bare(&CAPTURES, None))
        .may("region", region())
        .may("require_seen", json!({"type": "boolean"}))
        .may("ignore_periodic", json!({"type": "boolean"}))
}

fn postcondition(on: On) -> Value {
    let mut schema = Fields { required: vec!["condition"], ..condition(on) }.object();
    schema["description"] = "What must become true after the input, and was not before: fields as \
        of wait_for. The answer says whether it did"
        .into();
    schema
}

fn image() -> Value {
    let id = json!({"type": "string", "pattern": OBSERVATION});
    Fields::none().needs("observation", id).may("region", region()).object()
}

fn region() -> Value {
    let (at, edge) = (bare(&(0..=MAX_EDGE - 1), None), bare(&(1..=MAX_EDGE), None));
    let place = Fields::none().needs("x", at.clone()).needs("y", at);
    place.needs("width", edge.clone()).needs("height", edge).object()
}

/// The name of a session.
pub(super) fn session(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

/// The arguments of `open_session`.
pub(super) fn opening() -> Value {
    Fields::none()
        .needs("url", json!({"type": "string", "pattern": "^https?://[^ ]+$", "maxLength": 4096}))
        .may(
            "viewport",
            json!({
                "type": "string", "pattern": super::opening::VIEWPORT,
                "description": "In CSS pixels, such as 1280x800. Default: as the first",
            }),
        )
        .may(
            "scale",
            json!({
                "type": "number", "minimum": 0.5, "maximum": 4,
                "description": "Device pixels for one CSS pixel. Default: as the first",
            }),
        )
        .may(
            "headed",
            json!({
                "type": "boolean",
                "description": "false: without a window on the display. Default: as the first",
            }),
        )
        .may(
            "read_only",
            json!({
                "type": "boolean", "description": "true: it follows links and sends no input",
            }),
        )
        .object()
}

/// The arguments of `close_session`.
pub(super) fn closing() -> Value {
    Fields::none().needs("session_id", session("As open_session gave it")).object()
}

/// The result of `open_session` and `close_session`: `seechange.session/1`.
pub(super) fn session_told() -> Value {
    object(&[
        ("schema", json!({"const": "seechange.session/1"})),
        ("status", json!({"enum": ["opened", "closed", "refused"]})),
    ])
}

/// The arguments of `diff`.
pub(super) fn diff() -> Value {
    Fields::none()
        .needs("before", observation("One of the latest 16 observations"))
        .needs("after", observation("Another one"))
        .may("preset", json!({
            "enum": ["live", "golden", "exact"], "default": "live",
            "description": "live sets carets and specks aside, golden anti-aliasing, exact nothing",
        }))
        .screenshot()
        .object()
}

const OBSERVATION: &str = "^obs-[0-9]{1,19}$";

fn observation(description: &str) -> Value {
    json!({"type": "string", "pattern": OBSERVATION, "description": description})
}

fn key() -> Value {
    json!({
        "type": "string", "pattern": format!("^([A-Za-z0-9]|{NAMED_KEYS})$"),
        "description": "The physical key, so A is a",
    })
}

fn key_or_modifier() -> String {
    format!("^([A-Za-z0-9]|{NAMED_KEYS}|{})$", MODIFIERS.join("|"))
}

fn detents(way: &str) -> Value {
    json!({
        "type": "integer", "minimum": SCROLL_DETENTS.start(), "maximum": SCROLL_DETENTS.end(),
        "default": 0,
        "description": format!("Wheel detents towards {way}; not both 0"),
    })
}

fn whole(limits: &RangeInclusive<u32>, default: u32, description: &str) -> Value {
    let mut schema = bare(limits, Some(default));
    schema["description"] = description.into();
    schema
}

fn bare(limits: &RangeInclusive<u32>, default: Option<u32>) -> Value {
    let mut schema = json!({"type": "integer", "minimum": limits.start(), "maximum": limits.end()});
    if let Some(default) = default {
        schema["default"] = default.into();
    }
    schema
}

/// The result of every tool that is an action: `seechange.act/1`. Its fields are told in the
/// README; here stands what a program may rely on.
pub(super) fn receipt() -> Value {
    let either = json!({"type": ["object", "null"]});
    let mut schema = object(&[
        ("schema", json!({"const": "seechange.act/1"})),
        ("status", json!({"enum": ["delivered", "refused", "unknown"]})),
        ("observation", json!({"type": "object"})),
        ("delivery", json!({"type": "object"})),
    ]);
    for field in [
        "action",
        "refusal",
        "sequence",
        "held_after",
        "wait",
        "change",
        "postcondition",
        "page",
        "pointer_moved",
    ] {
        schema["properties"][field] = either.clone();
    }
    schema["properties"]["areas_in_image"] = json!({"type": "array"});
    schema
}

/// The result of `diff`: `seechange.diff/1`, or why there is none.
pub(super) fn difference() -> Value {
    let mut schema = object(&[("schema", json!({"const": "seechange.diff/1"}))]);
    schema["properties"]["verdict"] = json!({"enum": ["same", "changed", "resized"]});
    for (field, kind) in
        [("areas", "array"), ("moved", "array"), ("ignored", "object"), ("error", "object")]
    {
        schema["properties"][field] = json!({"type": kind});
    }
    schema
}

/// The result of `doctor`: `seechange.doctor/1`.
pub(super) fn checkup() -> Value {
    object(&[
        ("schema", json!({"const": "seechange.doctor/1"})),
        ("findings", json!({"type": "array", "items": {"type": "string"}})),
    ])
}

/// An object with these fields, all of them there; others may be added.
fn object(fields: &[(&str, Value)]) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::act::Refusal;
    use crate::frame::{Frame, PixelFormat};
    use crate::front::wire::act::{action_names, all_fields, request_with};
    use crate::geometry::Size;

    /// Whether the reader and the checks that follow take these arguments.
    fn is_taken(tool: &str, arguments: &Value) -> Result<(), Refusal> {
        let mut object = arguments.as_object().unwrap().clone();
        object.insert("action".to_owned(), tool.into());
        let picture = |image: &Value| match image.as_object() {
            Some(_) => Ok(Frame::filled(Size::new(2, 2).unwrap(), PixelFormat::Rgba, [0; 4])),
            None => Err(Refusal::bad_value("no part of an observation")),
        };
        let request = request_with(object, &picture)?;
        request.action.check()?;
        request.postcondition.map_or(Ok(()), |condition| condition.check())
    }

    /// The shortest arguments a schema takes.
    fn least(schema: &Value) -> Value {
        if let Some(one) = schema.get("const").or_else(|| schema["enum"].get(0)) {
            return one.clone();
        }
        if let Some(first) = schema["anyOf"].get(0) {
            return least(first);
        }
        match schema["type"].as_str().unwrap() {
            "object" => {
                let required = schema["required"].as_array().unwrap();
                let fields = required.iter().map(|name| {
                    let name = name.as_str().unwrap();
                    (name.to_owned(), least(&schema["properties"][name]))
                });
                fields.collect::<Map<_, _>>().into()
            }
            "array" => (0..schema["minItems"].as_u64().unwrap_or(0))
                .map(|_| least(&schema["items"]))
                .collect(),
            "string" if schema["pattern"] == OBSERVATION => json!("obs-1"),
            "string" if schema["pattern"] == REFERENCE => json!("1:a"),
            "string" if is_address(schema) => json!("http://a/"),
            "string" => json!("a"),
            "boolean" => json!(false),
            _ => schema["minimum"].clone(),
        }
    }

    /// Values at the limits of a schema, all of which it takes.
    fn inside(schema: &Value) -> Vec<Value> {
        if let Some(one) = schema.get("const") {
            return vec![one.clone()];
        }
        if let Some(all) = schema["enum"].as_array() {
            return all.clone();
        }
        if let Some(all) = schema["anyOf"].as_array() {
            return all.iter().flat_map(inside).collect();
        }
        match schema["type"].as_str().unwrap() {
            "object" => objects(schema),
            "array" => arrays(schema),
            "string" if schema["pattern"] == OBSERVATION => {
                vec![json!("obs-0"), json!("obs-9999999999999999999")]
            }
            "string" if schema["pattern"] == REFERENCE => {
                vec![json!("0:b"), json!("9999999999:zzzzzz")]
            }
            "string" if is_address(schema) => vec![json!("https://a.b/c?d#e")],
            "string" => match schema["maxLength"].as_u64() {
                Some(most) => vec![json!("é"), json!("é".repeat(usize::try_from(most).unwrap()))],
                None => keys().into_iter().map(Value::from).collect(),
            },
            "boolean" => vec![json!(true), json!(false)],
            "number" => {
                let most = schema.get("maximum").cloned().unwrap_or(json!(0.5));
                vec![schema["minimum"].clone(), most]
            }
            _ => vec![schema["minimum"].clone(), schema["maximum"].clone()],
        }
    }

    /// The least object, and it with each further field at each of its limits.
    fn objects(schema: &Value) -> Vec<Value> {
        let mut all = vec![least(schema)];
        for (name, field) in schema["properties"].as_object().unwrap() {
            all.extend(inside(field).into_iter().map(|value| with(schema, name, value)));
        }
        all
    }

    fn with(schema: &Value, name: &str, value: Value) -> Value {
        let mut object = least(schema);
        // Which condition an image goes with no schema says.
        if name == "image" {
            object["condition"] = "appears".into();
        }
        if name == "condition" && ["matches", "appears", "gone"].iter().any(|needs| value == *needs)
        {
            object["image"] = json!({"observation": "obs-1"});
        }
        object[name] = value;
        object
    }

    fn arrays(schema: &Value) -> Vec<Value> {
        let items = &schema["items"];
        if schema["uniqueItems"] == true {
            return inside(items).into_iter().map(|item| json!([item])).collect();
        }
        let most = schema["maxItems"].as_u64().unwrap();
        let mut all: Vec<Value> = inside(items).into_iter().map(|item| json!([item])).collect();
        all.push((0..most).map(|_| least(items)).collect());
        all
    }

    /// Every key that a pattern takes, a modifier for those that take one too left out.
    fn keys() -> Vec<String> {
        let numbers = |letter: &str| (1..=12).map(|n| format!("{letter}{n}")).collect::<Vec<_>>();
        let plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        let named =
            NAMED_KEYS.split('|').filter(|name| !name.contains('[') && !name.contains("F1"));
        let plain = plain.chars().map(String::from);
        plain.chain(named.map(str::to_owned)).chain(numbers("f")).chain(numbers("F")).collect()
    }

    fn is_address(schema: &Value) -> bool {
        schema["pattern"].as_str().is_some_and(|pattern| pattern.contains("://"))
    }

    /// Values just outside a schema.
    fn outside(schema: &Value) -> Vec<Value> {
        let mut all = vec![Value::Null];
        if schema.get("const").is_some() || schema.get("anyOf").is_some() {
            return all;
        }
        if schema.get("enum").is_some() {
            return vec![Value::Null, json!("nonsense"), json!(1)];
        }
        match schema["type"].as_str().unwrap() {
            "object" => {
                let whole = least(schema);
                let mut more = whole.clone();
                more["nonsense"] = json!(1);
                all.push(more);
                for name in schema["required"].as_array().unwrap() {
                    let mut fewer = whole.clone();
                    fewer.as_object_mut().unwrap().remove(name.as_str().unwrap());
                    all.push(fewer);
                }
                // What is wrong with an image the observations know.
                let fields = schema["properties"].as_object().unwrap();
                for (name, field) in fields.iter().filter(|(name, _)| *name != "image") {
                    all.extend(outside(field).into_iter().map(|value| with(schema, name, value)));
                }
            }
            "array" => {
                let most = schema["maxItems"].as_u64().unwrap();
                let items = &schema["items"];
                all.extend([json!("a"), (0..=most).map(|_| least(items)).collect()]);
                if schema["minItems"].as_u64().unwrap_or(0) > 0 {
                    all.push(json!([]));
                }
                all.extend(outside(items).into_iter().map(|item| json!([item])));
            }
            "string" => all.extend([json!(7), json!(""), json!("x".repeat(2001))]),
            "boolean" => all.push(json!("true")),
            kind => {
                all.push(json!("1"));
                // Points left of the image are the executor's to refuse.
                if let Some(most) = schema["maximum"].as_f64() {
                    let least = schema["minimum"].as_f64().unwrap();
                    all.extend([json!(least - 1.0), json!(most + 1.0)]);
                }
                if kind == "integer" {
                    all.push(json!(schema["minimum"].as_f64().unwrap() + 0.5));
                }
            }
        }
        all
    }

    /// How arguments are given: which exclude each other no schema says.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Given {
        /// On a screen, by point.
        Screen,
        /// On a page, by point, with conditions of the pixels.
        Point,
        /// On a page, by element, with conditions of the page.
        Element,
    }

    const GIVEN: [Given; 3] = [Given::Screen, Given::Point, Given::Element];

    const BY_POINT: [&str; 11] = [
        "x", "y", "from_x", "from_y", "to_x", "to_y", "via", "delta_x", "delta_y", "delay_ms",
        "method",
    ];
    const BY_REF: [&str; 5] = ["ref", "to_ref", "direction", "amount", "by"];
    const OF_PAGE: [&str; 5] = ["text", "ref", "name", "role", "url"];

    impl Given {
        const fn on(self) -> On {
            match self {
                Self::Screen => On::Screen,
                _ => On::Page,
            }
        }

        /// The part of a schema that goes together.
        fn narrow(self, tool: &str, schema: &mut Value) {
            for path in ["/properties/postcondition", "/properties/any/items"] {
                if let Some(inner) = schema.pointer_mut(path) {
                    pixels_alone(inner);
                }
            }
            if tool == "wait_for" {
                return match self {
                    Self::Element => text_alone(schema),
                    _ => pixels_alone(schema),
                };
            }
            let has_ref = schema["properties"].get("ref").is_some();
            match self {
                Self::Screen => {}
                Self::Point if tool == "scroll_to_element" => {}
                Self::Point => {
                    let places =
                        ["x", "y", "from_x", "from_y", "to_x", "to_y"].map(|name| json!(name));
                    let places = places
                        .into_iter()
                        .filter(|name| schema["properties"].get(name.as_str().unwrap()).is_some());
                    let places: Vec<Value> = places.collect();
                    schema["required"].as_array_mut().unwrap().extend(places);
                    remove(schema, &BY_REF);
                }
                Self::Element if has_ref => {
                    remove(schema, &BY_POINT);
                    let more = match tool {
                        "drag" => vec![json!("ref"), json!("to_ref")],
                        "scroll" => vec![json!("ref"), json!("direction")],
                        "scroll_to_element" => Vec::new(),
                        _ => vec![json!("ref")],
                    };
                    schema["required"].as_array_mut().unwrap().extend(more);
                }
                Self::Element => {}
            }
        }
    }

    fn remove(schema: &mut Value, names: &[&str]) {
        let fields = schema["properties"].as_object_mut().unwrap();
        fields.retain(|name, _| !names.contains(&name.as_str()));
    }

    fn pixels_alone(schema: &mut Value) {
        remove(schema, &OF_PAGE);
        let pixels = ["stable", "changed", "matches", "appears", "gone"];
        schema["properties"]["condition"] = json!({"enum": pixels});
    }

    fn text_alone(schema: &mut Value) {
        let pixel = ["image", "region", "hold_ms", "captures", "require_seen", "ignore_periodic"];
        remove(schema, &pixel);
        remove(schema, &["ref", "name", "role", "url", "any"]);
        schema["properties"]["condition"] = json!({"const": "text"});
        schema["required"] = json!(["condition", "text"]);
    }

    /// The tool's schema, with what no schema says: that one of two arguments must be there, and
    /// how long a hold must be for what happens meanwhile.
    fn schema(tool: &str, given: Given) -> Option<Value> {
        let mut schema = arguments(tool, given.on())?;
        given.narrow(tool, &mut schema);
        match tool {
            "wait_for" if given != Given::Element => schema["required"] = json!(["condition"]),
            "scroll" if given != Given::Element => {
                schema["required"] = json!(["x", "y", "observation", "delta_x"]);
                schema["properties"]["delta_x"]["minimum"] = json!(1);
            }
            "hold" => schema["properties"]["duration_ms"]["minimum"] = json!(10_000),
            "tab" => {
                remove(&mut schema, &["url"]);
                schema["required"] = json!(["tab"]);
            }
            _ => {}
        }
        Some(schema)
    }

    /// Whether arguments are given otherwise than on a screen.
    fn is_own(tool: &str, given: Given) -> bool {
        let has_ref = all_fields(tool).contains(&"ref");
        match given {
            Given::Screen => true,
            Given::Point => has_ref && !["wait_for", "scroll_to_element"].contains(&tool),
            Given::Element => has_ref || ["dialog", "navigate", "tab"].contains(&tool),
        }
    }

    /// Every tool in every way its arguments are given.
    fn tools() -> impl Iterator<Item = (&'static str, Given, Value)> {
        let every = |tool| GIVEN.into_iter().map(move |given| (tool, given));
        action_names()
            .iter()
            .flat_map(move |&tool| every(tool))
            .filter(|&(tool, given)| is_own(tool, given))
            .filter_map(|(tool, given)| Some((tool, given, schema(tool, given)?)))
    }

    #[test]
    fn what_a_schema_takes_at_its_limits_the_reader_takes() {
        let mut tried = 0;
        for (tool, given, schema) in tools() {
            for arguments in objects(&schema) {
                // A condition of its own goes with no other, which no schema says.
                let arguments = match arguments.get("any") {
                    Some(any) => json!({"any": any}),
                    None => arguments,
                };
                // Nor does an element go onto itself.
                if arguments.get("to_ref").is_some_and(|to| *to == arguments["ref"]) {
                    continue;
                }
                tried += 1;
                if let Err(refusal) = is_taken(tool, &arguments) {
                    panic!("{tool} {given:?} {arguments:.300}: {refusal}");
                }
            }
        }
        assert!(tried > 900, "{tried}");
    }

    #[test]
    fn what_lies_outside_a_schema_the_reader_refuses() {
        for (tool, given, schema) in tools() {
            // How long a hold must be the test has changed, not the schema.
            let untouched = arguments(tool, given.on()).unwrap();
            let told = if tool == "hold" { &untouched } else { &schema };
            let fields = told["properties"].as_object().unwrap().iter();
            for (name, field) in fields.filter(|(name, _)| *name != "image") {
                for value in outside(field) {
                    let arguments = with(&schema, name, value);
                    let taken = is_taken(tool, &arguments);
                    assert!(taken.is_err(), "{tool} {given:?} {arguments:.300}");
                }
            }
            let mut more = least(&schema);
            more["nonsense"] = json!(1);
            assert!(is_taken(tool, &more).is_err(), "{tool}");
        }
    }

    #[test]
    fn what_excludes_each_other_is_refused() {
        let point = json!({"x": 1, "y": 2, "observation": "obs-1"});
        let element = json!({"ref": "1:a", "observation": "obs-1"});
        let with = |mut object: Value, name: &str, value: Value| {
            object[name] = value;
            object
        };
        for (tool, arguments, message) in [
            (
                "click",
                with(point.clone(), "ref", json!("1:a")),
                "ref and x exclude each other: give one",
            ),
            ("scroll", with(point, "by", json!("page")), "by goes with ref, not with a point"),
            (
                "scroll",
                with(element.clone(), "delta_y", json!(1)),
                "ref and delta_y exclude each other: give one",
            ),
            ("scroll", element.clone(), "scroll needs direction"),
            ("drag", element.clone(), "drag needs to_ref"),
            (
                "drag",
                with(element.clone(), "to_ref", json!("1:a")),
                "ref and to_ref are the same element",
            ),
            (
                "type_text",
                with(with(element, "text", json!("a")), "delay_ms", json!(1)),
                "ref and delay_ms exclude each other: give one",
            ),
            ("wait_for", json!({"condition": "text"}), "a condition needs text"),
            (
                "wait_for",
                json!({"condition": "text", "text": "a", "image": {}}),
                "the condition text is about the page and takes no image",
            ),
            (
                "wait_for",
                json!({"condition": "stable", "url": "a"}),
                "the condition stable takes no url",
            ),
            (
                "wait_for",
                json!({"condition": "visible", "ref": "1:a", "name": "a"}),
                "the condition visible takes either ref, or name (and role)",
            ),
            (
                "wait_for",
                json!({"condition": "gone"}),
                "gone needs one of image, ref, text or name",
            ),
            (
                "wait_for",
                json!({"any": [{"condition": "stable"}, {"condition": "text", "text": "a"}]}),
                "any takes conditions of the pixels or of the page, not some of both",
            ),
            (
                "navigate",
                json!({"url": "javascript:alert(1)"}),
                "url must be an address that begins with https:// or http://, without blanks",
            ),
            (
                "tab",
                json!({"tab": 1, "url": "http://a/"}),
                "tab and url exclude each other: give one",
            ),
            (
                "tab",
                json!({"url": "http://a/", "close": true}),
                "close goes with tab, the number of the tab to close, not with url",
            ),
        ] {
            let refusal = is_taken(tool, &arguments).unwrap_err();
            let told = refusal.message().replace("wait_for needs", "a condition needs");
            assert_eq!(told, message, "{tool} {arguments}");
        }
    }

    #[test]
    fn schemas_have_the_arguments_of_their_actions() {
        for (&tool, on) in
            action_names().iter().flat_map(|tool| [On::Screen, On::Page].map(|on| (tool, on)))
        {
            let Some(schema) = arguments(tool, on) else {
                assert_eq!(on, On::Screen, "{tool}");
                continue;
            };
            let mut known = all_fields(tool);
            let sends_input =
                !["observe", "wait", "wait_for", "dialog", "navigate", "tab"].contains(&tool);
            known.retain(|field| match *field {
                // The tool's name says it.
                "action" => false,
                // One name for one thing.
                "timeout" => false,
                "postcondition" => sends_input,
                "observation" => sends_input || tool == "wait_for",
                "marks" => on == On::Page,
                field if on == On::Screen && BY_REF.contains(&field) => false,
                field if on == On::Screen && tool == "wait_for" => !OF_PAGE.contains(&field),
                _ => true,
            });
            known.sort_unstable();
            let mut told: Vec<&str> =
                schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
            told.sort_unstable();
            assert_eq!(told, known, "{tool}");
            assert_eq!(schema["additionalProperties"], false);
            let needs = schema["required"].as_array().unwrap();
            assert_eq!(needs.contains(&json!("observation")), sends_input, "{tool}");
        }
    }
}
