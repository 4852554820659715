//! A client that speaks the protocol line by line, so that it can also speak it wrongly.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// How long an answer may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server as a child, and the messages it has sent.
pub(crate) struct Client {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    last_id: u64,
    /// Notifications and answers that came while another answer was waited for.
    pub(crate) others: Vec<Value>,
}

/// The result of a tool, taken apart.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) text: String,
    /// Width and height of each image, read from its PNG header.
    pub(crate) images: Vec<(u32, u32)>,
    pub(crate) json: Value,
    pub(crate) is_error: bool,
}

impl Client {
    /// Starts a server and opens a session.
    pub(crate) fn open(command: &mut Command) -> Self {
        let mut client = Self::start(command);
        let opened = client.request("initialize", opening("2025-06-18"));
        assert_eq!(opened["result"]["serverInfo"]["name"], "seechange", "{opened}");
        client.notify("notifications/initialized", json!({}));
        client
    }

    /// Starts a server and says nothing yet.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                // Whatever is no JSON on stdout fails the test that waits for a message.
                let line = line.unwrap();
                let message =
                    serde_json::from_str(&line).unwrap_or_else(|_| json!({"noise": line}));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, messages, last_id: 0, others: Vec::new() }
    }

    /// Writes bytes as they are.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    /// Sends a request and gives its id.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(format!("{message}\n").as_bytes());
        id
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.write(format!("{message}\n").as_bytes());
    }

    /// The next message of the server.
    pub(crate) fn next(&mut self) -> Value {
        let message = self.messages.recv_timeout(PATIENCE).expect("the server says something");
        assert!(message.get("noise").is_none(), "stdout is for the protocol alone: {message}");
        message
    }

    /// The answer to a request; what comes before it is put aside.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id {
                return message;
            }
            self.others.push(message);
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// Calls a tool without waiting for its answer.
    pub(crate) fn begin(&mut self, tool: &str, arguments: Value) -> u64 {
        let token = self.last_id + 1;
        let params = json!({
            "name": tool, "arguments": arguments, "_meta": {"progressToken": token},
        });
        self.ask("tools/call", params)
    }

    /// Calls a tool.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Told {
        let id = self.begin(tool, arguments);
        let answer = self.answer(id);
        Told::of(&answer["result"]).unwrap_or_else(|| panic!("{tool}: {answer}"))
    }

    /// Waits for a notification of progress of a request.
    pub(crate) fn progress(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["method"] == "notifications/progress" {
                assert_eq!(message["params"]["progressToken"], id, "{message}");
                return message["params"].clone();
            }
            self.others.push(message);
        }
    }

    pub(crate) fn cancel(&mut self, id: u64) {
        self.notify("notifications/cancelled", json!({"requestId": id, "reason": "a test"}));
    }

    /// Ends stdin; how the server ended, and what it said on stderr.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        self.stdin = None;
        self.outcome()
    }

    /// Waits for the server to end with stdin still open.
    pub(crate) fn outcome(mut self) -> (ExitStatus, String) {
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        (self.child.wait().unwrap(), stderr)
    }
}

/// The params of `initialize`.
pub(crate) fn opening(version: &str) -> Value {
    json!({
        "protocolVersion": version, "capabilities": {},
        "clientInfo": {"name": "a test", "version": "1"},
    })
}

impl Told {
    fn of(result: &Value) -> Option<Self> {
        let content = result["content"].as_array()?;
        let (first, images) = content.split_first()?;
        assert_eq!(first["type"], "text", "text comes first");
        Some(Self {
            text: first["text"].as_str()?.to_owned(),
            images: images.iter().map(size).collect(),
            json: result["structuredContent"].clone(),
            is_error: result["isError"].as_bool()?,
        })
    }
}

/// The size that stands in a PNG's header: bytes 16 to 23, behind 64 characters of base64.
fn size(image: &Value) -> (u32, u32) {
    assert_eq!((&image["type"], &image["mimeType"]), (&json!("image"), &json!("image/png")));
    let head = &image["data"].as_str().unwrap().as_bytes()[..32];
    let six = |c: u8| match c {
        b'A'..=b'Z' => u32::from(c - b'A'),
        b'a'..=b'z' => u32::from(c - b'a') + 26,
        b'0'..=b'9' => u32::from(c - b'0') + 52,
        b'+' => 62,
        _ => 63,
    };
    let bytes: Vec<u8> = head
        .chunks(4)
        .flat_map(|four| {
            let bits: u32 = four.iter().fold(0, |bits, &c| bits << 6 | six(c));
            let [_, bytes @ ..] = bits.to_be_bytes();
            bytes
        })
        .collect();
    let edge = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (edge(16), edge(20))
}
