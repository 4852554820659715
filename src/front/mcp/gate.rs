//! What comes in is read strictly before the SDK sees it: one JSON object a line, no key twice, a
//! request the protocol knows at this point of the session. What is not gets one clear answer.

use std::collections::HashSet;

use rmcp::model::{CallToolRequestParams, ClientJsonRpcMessage, InitializeRequestParams};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::front::cli::act::lines::Line;
use crate::front::wire::strict;

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const INVALID_PARAMS: i32 = -32602;

/// What becomes of a line.
#[derive(Debug)]
pub(super) enum Passage {
    /// It goes on to the SDK.
    Pass(Box<ClientJsonRpcMessage>),
    /// It is answered here: one JSON-RPC error.
    Answer(Value),
    /// It needs no answer and means nothing here.
    Ignore,
}

/// What is known of the session from the lines so far.
#[derive(Debug, Default)]
pub(super) struct Gate {
    is_open: bool,
    /// Requests that have no answer yet, by their id as it was written.
    unanswered: HashSet<String>,
}

/// A refusal: the error's code and message.
type Wrong = (i32, String);

impl Gate {
    /// Judges one line.
    pub(super) fn judge(&mut self, line: &Line) -> Passage {
        match line {
            Line::TooLong => Passage::Answer(too_long()),
            Line::Text(text) if text.trim_ascii().is_empty() => Passage::Ignore,
            Line::Text(text) => self.judge_text(text),
        }
    }

    fn judge_text(&mut self, text: &[u8]) -> Passage {
        let message = match read(text) {
            Ok(message) => message,
            Err((id, wrong)) => return Passage::Answer(error(id, wrong)),
        };
        let id = message.get("id").cloned();
        match self.admit(message) {
            Ok(passage) => passage,
            Err(wrong) => Passage::Answer(error(id.filter(is_id), wrong)),
        }
    }

    /// The answer to a request is on its way.
    pub(super) fn answered(&mut self, id: &Value) {
        self.unanswered.remove(&id.to_string());
    }

    fn admit(&mut self, message: Map<String, Value>) -> Result<Passage, Wrong> {
        if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err((INVALID_REQUEST, "jsonrpc must be \"2.0\"".to_owned()));
        }
        let method = match message.get("method") {
            Some(Value::String(method)) => method.clone(),
            Some(_) => return Err((INVALID_REQUEST, "method must be a string".to_owned())),
            // This server asks the client for nothing, so an answer is nobody's.
            None if message.contains_key("result") || message.contains_key("error") => {
                return Ok(Passage::Ignore);
            }
            None => return Err((INVALID_REQUEST, "the message has no method".to_owned())),
        };
        match message.get("id").cloned() {
            None => Ok(self.notification(&method, message)),
            Some(id) if is_id(&id) => self.request(&method, &id, message),
            Some(_) => Err((INVALID_REQUEST, "id must be a string or a whole number".to_owned())),
        }
    }

    /// Notifications have no answer, whatever is wrong with them.
    fn notification(&mut self, method: &str, message: Map<String, Value>) -> Passage {
        if !self.is_open {
            return Passage::Ignore;
        }
        if method == "notifications/cancelled" {
            match message.get("params").and_then(|params| params.get("requestId")) {
                Some(id) => self.answered(id),
                None => return Passage::Ignore,
            }
        }
        parse(Value::Object(message)).map_or(Passage::Ignore, Passage::Pass)
    }

    fn request(
        &mut self,
        method: &str,
        id: &Value,
        message: Map<String, Value>,
    ) -> Result<Passage, Wrong> {
        let params = message.get("params");
        if params.is_some_and(|params| !params.is_object()) {
            return Err((INVALID_PARAMS, format!("params of {} must be an object", named(method))));
        }
        self.check_lifecycle(method, params)?;
        if self.unanswered.contains(&id.to_string()) {
            let message = format!("request {id} is still being answered: use another id");
            return Err((INVALID_REQUEST, message));
        }
        check_params(method, params)?;
        let Some(parsed) = parse(Value::Object(message)) else {
            return Err((INVALID_PARAMS, format!("the params of {} are wrong", named(method))));
        };
        self.is_open |= method != "ping" && method != "server/discover";
        self.unanswered.insert(id.to_string());
        Ok(Passage::Pass(parsed))
    }

    /// `initialize` first and once; a request of the later protocol that needs none brings its
    /// version along, and the SDK judges that.
    fn check_lifecycle(&self, method: &str, params: Option<&Value>) -> Result<(), Wrong> {
        const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
        let brings_version = params
            .and_then(|params| params.get("_meta"))
            .is_some_and(|meta| meta.get(VERSION).is_some());
        match (method, self.is_open) {
            ("initialize", true) => {
                Err((INVALID_REQUEST, "the session is initialized already".to_owned()))
            }
            ("initialize" | "ping", _) | (_, true) => Ok(()),
            (_, false) if brings_version => Ok(()),
            (_, false) => {
                let message =
                    format!("{} came before initialize, which opens a session", named(method));
                Err((INVALID_REQUEST, message))
            }
        }
    }
}

/// One JSON object; or what is wrong, with the id where one can be made out.
fn read(line: &[u8]) -> Result<Map<String, Value>, (Option<Value>, Wrong)> {
    match strict::object(line) {
        Ok(message) => Ok(message),
        Err(refusal) => {
            let plain: Option<Value> = serde_json::from_slice(line).ok();
            let code = if plain.is_some() { INVALID_REQUEST } else { PARSE_ERROR };
            let message = match &plain {
                Some(Value::Array(_)) => "batches are not taken: send one message a line",
                _ => refusal.message(),
            };
            let id = plain.and_then(|plain| plain.get("id").cloned()).filter(is_id);
            Err((id, (code, message.to_owned())))
        }
    }
}

/// A method in a message, by its name where that is one.
fn named(method: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-/.$".contains(c);
    match method.len() <= 64 && method.chars().all(is_name) {
        true => format!("the method '{method}'"),
        false => format!("a method of {} characters", method.chars().count()),
    }
}

/// The answer to a line that was too long to be kept.
fn too_long() -> Value {
    error(None, (INVALID_REQUEST, strict::too_long().message().to_owned()))
}

fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64()
}

/// The SDK takes params it cannot read for those of a method it does not know.
fn check_params(method: &str, params: Option<&Value>) -> Result<(), Wrong> {
    let (is_right, needs) = match method {
        "initialize" => (
            reads::<InitializeRequestParams>(params),
            "protocolVersion, capabilities and clientInfo with name and version",
        ),
        "tools/call" => {
            (reads::<CallToolRequestParams>(params), "name (a string) and arguments (an object)")
        }
        _ => return Ok(()),
    };
    match is_right {
        true => Ok(()),
        false => Err((INVALID_PARAMS, format!("the params of {method} must be {needs}"))),
    }
}

fn reads<T: DeserializeOwned>(params: Option<&Value>) -> bool {
    params.is_some_and(|params| T::deserialize(params).is_ok())
}

fn parse(message: Value) -> Option<Box<ClientJsonRpcMessage>> {
    serde_json::from_value(message).ok().map(Box::new)
}

fn error(id: Option<Value>, (code, message): Wrong) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

#[cfg(test)]
mod tests {
    use super::*;

    const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

    /// What becomes of a line: `pass`, `ignore`, or the error's id, code and message.
    fn judged(gate: &mut Gate, line: &[u8]) -> String {
        match gate.judge(&Line::Text(line.to_vec())) {
            Passage::Pass(_) => "pass".to_owned(),
            Passage::Ignore => "ignore".to_owned(),
            Passage::Answer(answer) => format!(
                "{} {} {}",
                answer["id"],
                answer["error"]["code"],
                answer["error"]["message"].as_str().unwrap()
            ),
        }
    }

    #[test]
    fn lines_that_are_no_message_get_one_answer() {
        let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"params":{}"#, "[".repeat(10_000));
        for (line, answer) in [
            (&b"nope"[..], "null -32700 the request is no valid JSON: expected ident at column 2"),
            (b"\xff{}", "null -32700 the request is not UTF-8 at byte 0"),
            (b"[]", "null -32600 batches are not taken: send one message a line"),
            (
                b"7",
                "null -32600 the request must be a JSON object such as {\"action\":\"observe\"}, not a number",
            ),
            (
                deep.as_bytes(),
                "null -32700 the request is no valid JSON: recursion limit exceeded at column 160",
            ),
            (
                br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1e999}}"#,
                "null -32700 the request is no valid JSON: number out of range at column 59",
            ),
            (
                br#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}"#,
                "1 -32600 the request is no valid JSON: the key 'method' stands there twice at column 48",
            ),
            (
                br#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#,
                "\"a\" -32600 jsonrpc must be \"2.0\"",
            ),
            (br#"{"id":2,"method":"ping"}"#, "2 -32600 jsonrpc must be \"2.0\""),
            (br#"{"jsonrpc":"2.0","id":2}"#, "2 -32600 the message has no method"),
            (br#"{"jsonrpc":"2.0","id":2,"method":7}"#, "2 -32600 method must be a string"),
            (
                br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
                "null -32600 id must be a string or a whole number",
            ),
            (
                br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
                "null -32600 id must be a string or a whole number",
            ),
            (
                br#"{"jsonrpc":"2.0","id":3,"method":"ping","params":[1]}"#,
                "3 -32602 params of the method 'ping' must be an object",
            ),
            (
                br#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#,
                "3 -32600 the method 'tools/list' came before initialize, which opens a session",
            ),
            (
                br#"{"jsonrpc":"2.0","id":3,"method":"my secret"}"#,
                "3 -32600 a method of 9 characters came before initialize, which opens a session",
            ),
            (
                br#"{"jsonrpc":"2.0","id":3,"method":"initialize"}"#,
                "3 -32602 the params of initialize must be protocolVersion, capabilities and clientInfo with name and version",
            ),
            (br#"{"jsonrpc":"2.0","id":3,"result":{}}"#, "ignore"),
            (br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "ignore"),
            (br#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#, "pass"),
        ] {
            let line_shown = String::from_utf8_lossy(&line[..line.len().min(60)]);
            assert_eq!(judged(&mut Gate::default(), line), answer, "{line_shown}");
        }
    }

    #[test]
    fn a_session_is_opened_once_and_an_id_is_used_once_at_a_time() {
        let mut gate = Gate::default();
        assert_eq!(judged(&mut gate, INITIALIZE.as_bytes()), "pass");
        for (line, answer) in [
            (INITIALIZE, "0 -32600 the session is initialized already"),
            (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "pass"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, "pass"),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
                "1 -32600 request 1 is still being answered: use another id",
            ),
            (r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#, "ignore"),
            (
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
                "pass",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
                "1 -32602 the params of tools/call must be name (a string) and arguments (an object)",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"observe","arguments":[]}}"#,
                "1 -32602 the params of tools/call must be name (a string) and arguments (an object)",
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"observe"}}"#,
                "pass",
            ),
        ] {
            assert_eq!(judged(&mut gate, line.as_bytes()), answer, "{line}");
        }
        gate.answered(&json!(1));
        assert!(!gate.unanswered.contains("1"));
    }
}
