//! The action contract, row by row: every field at its limits and past them, of the wrong type,
//! missing, unexpected, null and doubled.

use serde_json::{Map, Value, json};

use super::act::request_of;
use super::object;
use crate::act::{Refusal, RefusalKind};

/// One action: the least it may be, and what each field takes and refuses. A refused value may also
/// be refused by the action as a whole.
struct Row {
    least: Value,
    fields: Vec<(&'static str, Vec<Value>, Vec<Value>)>,
}

/// What a field takes, and what it refuses.
type Values = (Vec<Value>, Vec<Value>);

fn number() -> Values {
    (
        vec![json!(0), json!(1279.99), json!(1e2)],
        vec![json!("1"), json!(true), json!([1]), json!({})],
    )
}

fn whole(least: i64, most: i64) -> Values {
    let bad =
        vec![json!(least - 1), json!(most + 1), json!(0.5), json!("1"), json!(1e300), json!([1])];
    (vec![json!(least), json!(most), Value::from(most as f64)], bad)
}

fn reference() -> Values {
    let good = vec![json!("3:c"), json!("4000000000:zz")];
    (good, vec![json!("e45"), json!("3:"), json!("3:A"), json!(3), json!("")])
}

fn modifiers() -> Values {
    let good = vec![json!([]), json!(["ctrl", "shift", "alt", "super"]), json!(["win"])];
    let twice = json!(["super", "win"]);
    (good, vec![json!("ctrl"), json!(["hyper"]), json!([1]), json!({}), json!(["a"]), twice])
}

fn button() -> Values {
    (
        vec![json!("left"), json!("middle"), json!("right")],
        vec![json!("thumb"), json!(1), json!("")],
    )
}

fn with(least: Value, fields: Vec<(&'static str, Values)>) -> Row {
    let fields = fields.into_iter().map(|(name, (good, bad))| (name, good, bad)).collect();
    Row { least, fields }
}

fn points(count: usize) -> Value {
    vec![json!({"x": 1, "y": 2}); count].into()
}

fn clicks(count: usize) -> Value {
    vec![json!({"action": "click", "x": 1, "y": 2}); count].into()
}

fn steps(count: usize) -> Value {
    vec![json!({"action": "key", "key": "a"}); count].into()
}

fn conditions(count: usize) -> Value {
    vec![json!({"condition": "stable"}); count].into()
}

fn keys(count: usize) -> Value {
    "abcdefghij".chars().take(count).map(|key| key.to_string()).collect::<Vec<_>>().into()
}

fn rows() -> Vec<Row> {
    let click = |name: &str| json!({"action": name, "x": 1, "y": 2});
    let drag = json!({"action": "drag", "from_x": 1, "from_y": 2, "to_x": 3, "to_y": 4});
    let point = || vec![("x", number()), ("y", number())];
    let ends =
        || ["from_x", "from_y", "to_x", "to_y"].into_iter().map(|end| (end, number())).collect();
    let and = |mut fields: Vec<_>, more: Vec<_>| {
        fields.extend(more);
        fields
    };
    let key_names = ["a", "Z", "7", "Enter", "ArrowDown", "page_up", "f1", "f12", " "];
    let no_keys = [json!("f13"), json!(""), json!("ab"), json!("ctrl"), json!(1), json!("é")];
    let text = |length: usize| json!("é".repeat(length));
    let chords = vec![json!(["ctrl", "s"]), json!(["s"]), json!(["Win", "Shift", "Enter"])];
    let no_chords = vec![
        json!([]),
        json!(["ctrl"]),
        json!(["s", "ctrl"]),
        json!(["ctrl", "Control", "s"]),
        json!(["ctrl", "a", "b"]),
        json!("ctrl+s"),
    ];
    let nested = |action: Value| json!([action]);
    let not_in_sequence = [
        json!({"action": "sequence", "steps": steps(1)}),
        json!({"action": "hold", "keys": ["a"], "duration_ms": 9}),
        json!({"action": "scroll", "x": 1, "y": 2, "delta_y": 1}),
        json!({"action": "hover", "x": 1, "y": 2}),
        json!({"action": "wait"}),
        json!({"action": "wait_for", "condition": "stable"}),
        json!({"action": "observe"}),
        json!({"action": "key", "key": "a", "wait_ms": 5001}),
        json!({"action": "key", "key": "a", "wait_ms": -1}),
        json!({"action": "key", "key": "a", "observation": "obs-1"}),
        json!({"action": "key", "key": "a", "postcondition": {"condition": "stable"}}),
        json!({"action": "key"}),
    ];
    let not_in_hold = [
        json!({"action": "hold", "keys": ["a"], "duration_ms": 9}),
        json!({"action": "key", "key": "a"}),
        json!({"action": "click", "x": 1, "y": 2, "button": "right"}),
        json!({"action": "click", "x": 1, "y": 2, "modifiers": ["ctrl"]}),
        json!({"action": "click", "x": 1, "y": 2, "count": 2}),
        json!({"action": "drag", "from_x": 1, "from_y": 2, "to_x": 3, "to_y": 4, "duration_ms": 2001}),
    ];
    let mut in_sequence = vec![steps(1), steps(2000)];
    in_sequence.push(json!([
        {"action": "hotkey", "keys": ["ctrl", "s"], "wait_ms": 0},
        {"action": "type_text", "text": "a", "wait_ms": 5000},
        {"action": "select_all"},
        {"action": "click", "x": 1, "y": 2},
        {"action": "double_click", "x": 1, "y": 2},
        {"action": "right_click", "x": 1, "y": 2},
        {"action": "drag", "from_x": 1, "from_y": 2, "to_x": 3, "to_y": 4, "via": points(2)},
    ]));
    let mut no_sequences = vec![json!([]), steps(2001), json!("key"), json!(["key"])];
    no_sequences.extend(not_in_sequence.map(nested));
    let mut no_holds = vec![json!([]), clicks(33), json!({})];
    no_holds.extend(not_in_hold.map(nested));
    // 181 times 5 s are more than 15 min, 180 are not.
    let waits =
        |count| Value::from(vec![json!({"action": "key", "key": "a", "wait_ms": 5000}); count]);
    in_sequence.push(waits(180));
    no_sequences.push(waits(181));
    let region = json!({"x": 0, "y": 0, "width": 1, "height": 1});
    let no_regions = vec![
        json!([0, 0, 1, 1]),
        json!({"x": 0, "y": 0, "width": 0, "height": 1}),
        json!({"x": -1, "y": 0, "width": 1, "height": 1}),
        json!({"x": 0, "y": 0, "width": 1}),
        json!({"x": 0, "y": 0, "width": 1, "height": 1, "z": 1}),
    ];
    let flags = || (vec![json!(true), json!(false)], vec![json!(1), json!("true")]);
    let times = || {
        let (good, mut bad) = whole(0, 300_000);
        (good, {
            bad.retain(|value| *value != json!("1"));
            bad
        })
    };
    vec![
        with(json!({"action": "observe"}), vec![("screenshot", flags())]),
        with(
            click("click"),
            and(
                point(),
                vec![("button", button()), ("count", whole(1, 3)), ("modifiers", modifiers())],
            ),
        ),
        with(click("right_click"), and(point(), vec![("modifiers", modifiers())])),
        with(click("double_click"), and(point(), vec![("modifiers", modifiers())])),
        with(click("hover"), point()),
        with(
            drag.clone(),
            and(
                ends(),
                vec![
                    ("duration_ms", whole(0, 10_000)),
                    ("steps", whole(1, 200)),
                    ("button", button()),
                    ("modifiers", modifiers()),
                    (
                        "via",
                        (
                            vec![points(1), points(254)],
                            vec![
                                points(0),
                                points(255),
                                json!({}),
                                json!([[1, 2]]),
                                json!([{"x": 1}]),
                            ],
                        ),
                    ),
                ],
            ),
        ),
        with(
            json!({"action": "scroll", "x": 1, "y": 2, "delta_x": 1, "delta_y": 1}),
            and(point(), vec![("delta_x", whole(-50, 50)), ("delta_y", whole(-50, 50))]),
        ),
        with(
            json!({"action": "key", "key": "a"}),
            vec![
                ("key", (key_names.map(Value::from).to_vec(), no_keys.to_vec())),
                ("modifiers", modifiers()),
            ],
        ),
        with(json!({"action": "hotkey", "keys": ["a"]}), vec![("keys", (chords, no_chords))]),
        with(json!({"action": "select_all"}), vec![]),
        with(
            json!({"action": "type_text", "text": "a"}),
            vec![
                (
                    "text",
                    (vec![text(1), text(2000)], vec![text(0), text(2001), json!(1), json!(["a"])]),
                ),
                ("delay_ms", whole(0, 200)),
                ("method", (vec![json!("keys"), json!("paste")], vec![json!("mouse"), json!(1)])),
            ],
        ),
        with(
            json!({"action": "type_text", "text": "a", "method": "paste"}),
            vec![("text", (vec![text(1), text(2000)], vec![text(0), text(2001)]))],
        ),
        with(
            json!({"action": "hold", "keys": ["a"], "duration_ms": 2000}),
            vec![
                (
                    "keys",
                    (
                        vec![keys(1), keys(8), json!(["ctrl", "shift"]), json!(["a", "win"])],
                        vec![
                            keys(0),
                            keys(9),
                            json!(["a", "A"]),
                            json!(["win", "super"]),
                            json!("a"),
                        ],
                    ),
                ),
                ("duration_ms", whole(1, 10_000)),
                ("actions", (vec![clicks(1), clicks(32)], no_holds)),
            ],
        ),
        with(
            json!({"action": "sequence", "steps": steps(1)}),
            vec![("steps", (in_sequence, no_sequences))],
        ),
        with(
            json!({"action": "wait"}),
            vec![(
                "seconds",
                (
                    vec![json!(0), json!(30), json!(0.25)],
                    vec![json!(-0.001), json!(30.001), json!("1"), json!([1])],
                ),
            )],
        ),
        with(
            json!({"action": "wait_for", "condition": "stable"}),
            vec![
                (
                    "condition",
                    (vec![json!("changed")], vec![json!("done"), json!(1), json!("gone")]),
                ),
                ("timeout", (vec![json!("0ms"), json!("5m"), json!(0), json!(300_000)], times().1)),
                ("timeout_ms", times()),
                ("hold_ms", whole(0, 300_000)),
                ("captures", whole(1, 1000)),
                ("region", (vec![region], no_regions)),
                ("require_seen", flags()),
                ("ignore_periodic", flags()),
            ],
        ),
        with(
            json!({"action": "click", "ref": "1:a"}),
            vec![
                ("ref", reference()),
                ("count", whole(1, 3)),
                ("button", button()),
                ("modifiers", modifiers()),
            ],
        ),
        with(json!({"action": "scroll_to_element", "ref": "1:a"}), vec![("ref", reference())]),
        with(
            json!({"action": "scroll", "ref": "1:a", "direction": "up"}),
            vec![
                ("direction", (vec![json!("left")], vec![json!("north"), json!(1)])),
                ("amount", whole(1, 50)),
                ("by", (vec![json!("line"), json!("page")], vec![json!("pixel"), json!(1)])),
            ],
        ),
        with(
            json!({"action": "drag", "ref": "1:a", "to_ref": "1:b"}),
            vec![
                ("to_ref", (reference().0, vec![json!("1:a"), json!("x"), json!(1)])),
                ("duration_ms", whole(0, 10_000)),
                ("steps", whole(1, 200)),
            ],
        ),
        with(
            json!({"action": "type_text", "ref": "1:a", "text": "x"}),
            vec![("text", (vec![text(2000)], vec![text(0), text(2001), json!(1)]))],
        ),
        with(
            json!({"action": "dialog", "accept": true}),
            vec![
                ("accept", flags()),
                ("text", (vec![text(1)], vec![text(0), text(2001), json!(1)])),
            ],
        ),
        with(
            json!({"action": "navigate", "url": "http://a/"}),
            vec![(
                "url",
                (
                    vec![json!("HTTPS://a.b/c?d=e%20f")],
                    ["", "a.b", "file:///etc/passwd", "javascript:x", "http://", "http://a b"]
                        .map(Value::from)
                        .to_vec(),
                ),
            )],
        ),
        with(
            json!({"action": "tab", "tab": 1}),
            vec![
                (
                    "tab",
                    (
                        vec![json!(1), json!(1_000_000)],
                        vec![json!(0), json!(1_000_001), json!(-1), json!(1.5), json!("1")],
                    ),
                ),
                ("close", flags()),
            ],
        ),
        with(
            json!({"action": "wait_for", "condition": "text", "text": "a"}),
            vec![
                ("text", (vec![text(1), text(500)], vec![text(0), text(501), json!(1)])),
                ("timeout_ms", times()),
            ],
        ),
        with(
            json!({"action": "wait_for", "any": conditions(1)}),
            vec![(
                "any",
                (
                    vec![conditions(1), conditions(16)],
                    vec![conditions(0), conditions(17), json!({}), json!([{"any": conditions(1)}])],
                ),
            )],
        ),
    ]
}

fn check(object: Map<String, Value>) -> Result<(), Refusal> {
    request_of(object)?.action.check()
}

fn set(least: &Value, field: &str, value: Value) -> Map<String, Value> {
    let mut object = least.as_object().unwrap().clone();
    object.insert(field.to_owned(), value);
    object
}

#[test]
fn every_field_is_taken_within_its_limits_and_refused_past_them() {
    for Row { least, fields } in rows() {
        check(least.as_object().unwrap().clone())
            .unwrap_or_else(|refusal| panic!("{least}: {refusal}"));
        for (field, good, bad) in fields {
            for value in good {
                let told: String = value.to_string().chars().take(80).collect();
                check(set(&least, field, value))
                    .unwrap_or_else(|refusal| panic!("{least} {field}={told}: {refusal}"));
            }
            for value in bad {
                let told: String = value.to_string().chars().take(80).collect();
                let refusal =
                    check(set(&least, field, value)).expect_err(&format!("{least} {field}={told}"));
                assert!(
                    !refusal.message().contains('\n') && refusal.message().len() < 400,
                    "{refusal}"
                );
            }
            let refusal = check(set(&least, field, Value::Null)).unwrap_err();
            assert_eq!(refusal.kind(), RefusalKind::BadValue, "{least} {field}=null: {refusal}");
        }
    }
}

#[test]
fn what_is_missing_unexpected_or_doubled_is_named() {
    for Row { least, .. } in rows() {
        let object = least.as_object().unwrap();
        let name = object["action"].as_str().unwrap();
        for field in object.keys() {
            let mut rest = object.clone();
            rest.remove(field);
            let refusal = check(rest).err();
            // A scroll needs one of two; of several conditions the rest is one that has no name.
            let may_go = field.starts_with("delta_")
                || field == "method"
                || (name == "type_text" && field == "ref");
            assert_eq!(refusal.is_none(), may_go, "{least} without {field}");
            if let Some(refusal) = refusal {
                assert_eq!(refusal.kind(), RefusalKind::MissingField, "{refusal}");
            }
        }
        let refusal = check(set(&least, "speed", json!(1))).unwrap_err();
        assert_eq!(refusal.kind(), RefusalKind::UnknownField);
        assert!(
            refusal.message().starts_with(&format!("{name} has no field 'speed'")),
            "{refusal}"
        );
        for (field, value) in object {
            let text = least.to_string();
            let twice = format!("{},\"{field}\":{value}}}", &text[..text.len() - 1]);
            let refusal = super::object(twice.as_bytes()).unwrap_err();
            let told = format!("the key '{field}' stands there twice");
            assert!(refusal.message().contains(&told), "{twice}: {refusal}");
        }
    }
}

#[test]
fn numbers_that_are_none_are_no_json() {
    for value in ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "0x10", "01", "1.", ".5", "+1"]
    {
        let refusal = object(format!("{{\"action\":\"hover\",\"x\":{value},\"y\":1}}").as_bytes());
        let refusal = refusal.unwrap_err();
        assert_eq!(refusal.kind(), RefusalKind::Malformed, "{value}");
        assert!(refusal.message().starts_with("the request is no valid JSON: "), "{refusal}");
    }
}
