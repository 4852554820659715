//! JSON from outside, read strictly: one value, no key twice, of a sane size and depth.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::act::{Refusal, RefusalKind, quoted};

/// The most bytes one request may have: 1 MiB.
pub(crate) const MAX_BYTES: usize = 1 << 20;

/// Reads one JSON object, a request.
///
/// # Errors
/// When it is too long, not UTF-8, no JSON, nested too deeply, has a key twice or is no object.
/// The message never carries a value of the text.
pub(crate) fn object(text: &[u8]) -> Result<Map<String, Value>, Refusal> {
    object_called("the request", r#"{"action":"observe"}"#, text)
}

/// As [`object`], for what is called otherwise and looks like `example`.
///
/// # Errors
/// As [`object`].
pub(super) fn object_called(
    what: &str,
    example: &str,
    text: &[u8],
) -> Result<Map<String, Value>, Refusal> {
    if text.len() > MAX_BYTES {
        return Err(malformed(format!("{what} is longer than {MAX_BYTES} bytes")));
    }
    let text = std::str::from_utf8(text).map_err(|error| {
        malformed(format!("{what} is not UTF-8 at byte {}", error.valid_up_to()))
    })?;
    if text.starts_with('\u{feff}') {
        return Err(malformed(format!("{what} begins with a byte order mark: leave it out")));
    }
    match serde_json::from_str(text) {
        Ok(Strict(Value::Object(object))) => Ok(object),
        Ok(Strict(other)) => Err(malformed(format!(
            "{what} must be a JSON object such as {example}, not {}",
            kind(&other)
        ))),
        Err(error) => Err(malformed(format!("{what} is no valid JSON: {}", plain(&error)))),
    }
}

/// The refusal of a request that is too long to be read.
pub(crate) fn too_long() -> Refusal {
    malformed(format!("the request is longer than {MAX_BYTES} bytes"))
}

fn malformed(message: String) -> Refusal {
    Refusal::new(RefusalKind::Malformed, message)
}

/// The parser's message without the line, of which there is one.
fn plain(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}

/// What a value is, in words.
pub(crate) const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A value none of whose objects has a key twice: which of the two counts would be a guess.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!(
                    "the key {} stands there twice",
                    quoted(&key)
                )));
            }
            let Strict(value) = entries.next_value()?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_single_object_says_why() {
        let deep = "[".repeat(100_000);
        for (text, message) in [
            (&b""[..], "the request is no valid JSON: EOF while parsing a value at column 0"),
            (b"nope", "the request is no valid JSON: expected ident at column 2"),
            (
                b"[1]",
                "the request must be a JSON object such as {\"action\":\"observe\"}, not an array",
            ),
            (
                b"\"x\"",
                "the request must be a JSON object such as {\"action\":\"observe\"}, not a string",
            ),
            (b"{} {}", "the request is no valid JSON: trailing characters at column 4"),
            (b"{\"x\":1e999}", "the request is no valid JSON: number out of range at column 10"),
            (b"{\"x\":NaN}", "the request is no valid JSON: expected value at column 6"),
            (
                b"{\"x\":1,\"x\":2}",
                "the request is no valid JSON: the key 'x' stands there twice at column 10",
            ),
            (
                b"{\"a\":{\"x\":1,\"x\":2}}",
                "the request is no valid JSON: the key 'x' stands there twice at column 15",
            ),
            (b"\xef\xbb\xbf{}", "the request begins with a byte order mark: leave it out"),
            (b"{\"x\":\"\xff\"}", "the request is not UTF-8 at byte 6"),
            (
                deep.as_bytes(),
                "the request is no valid JSON: recursion limit exceeded at column 128",
            ),
            (&vec![b' '; MAX_BYTES + 1], "the request is longer than 1048576 bytes"),
        ] {
            let refusal = object(text).unwrap_err();
            assert_eq!(refusal.message(), message);
            assert_eq!(refusal.kind(), RefusalKind::Malformed);
        }
    }
}
