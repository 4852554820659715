//! What is done with a new tab at once, by the thread that reads: waiting for the next call it would
//! stand still until then, or open a dialog that nobody hears of.

use std::collections::HashSet;
use std::io::Write;
use std::sync::{Mutex, Weak};

use serde_json::{Value, json};

use super::transport::write_message;

/// The numbers of its requests, whose answers nobody waits for, begin here.
const FIRST_ID: u64 = 1 << 30;

/// What every tab is asked for as it is attached to.
pub(super) type Welcome = Vec<(&'static str, Value)>;

/// Sets up each tab that is attached to, and attaches to those that one of them opens.
pub(super) struct Greeter {
    // Not its owner: what is spoken to ends when whoever calls lets go of it.
    writer: Weak<Mutex<Box<dyn Write + Send>>>,
    welcome: Welcome,
    /// Whether it attaches to what a tab opens: a browser that was started here does so itself, and
    /// a tab with two sessions tells everything twice.
    attaches: bool,
    attached: HashSet<String>,
    last_id: u64,
}

impl Greeter {
    pub(super) fn new(
        writer: Weak<Mutex<Box<dyn Write + Send>>>,
        welcome: Welcome,
        attaches: bool,
    ) -> Self {
        Self { writer, welcome, attaches, attached: HashSet::new(), last_id: FIRST_ID }
    }

    /// Looks at a message that was read.
    pub(super) fn greet(&mut self, message: &Value) {
        let params = &message["params"];
        let info = &params["targetInfo"];
        let id = info["targetId"].as_str().unwrap_or_default();
        match message["method"].as_str() {
            Some("Target.attachedToTarget") => {
                self.attached.insert(id.to_owned());
                let session = &params["sessionId"];
                for (method, params) in self.welcome.clone() {
                    self.send(method, &params, session);
                }
                if params["waitingForDebugger"] == true {
                    self.send("Runtime.runIfWaitingForDebugger", &json!({}), session);
                }
            }
            Some("Target.targetCreated") if self.attaches && info["type"] == "page" => {
                let opener = info["openerId"].as_str().unwrap_or_default();
                if self.attached.contains(opener) && !self.attached.contains(id) {
                    let wanted = json!({"targetId": id, "flatten": true});
                    self.send("Target.attachToTarget", &wanted, &Value::Null);
                }
            }
            Some("Target.targetDestroyed") => {
                self.attached.remove(params["targetId"].as_str().unwrap_or_default());
            }
            _ => {}
        }
    }

    fn send(&mut self, method: &str, params: &Value, session: &Value) {
        let Some(writer) = self.writer.upgrade() else { return };
        self.last_id += 1;
        let mut request = json!({"id": self.last_id, "method": method, "params": params});
        if !session.is_null() {
            request["sessionId"] = session.clone();
        }
        // Where nobody takes it any more the next call says so.
        drop(write_message(&writer, &request));
    }
}
