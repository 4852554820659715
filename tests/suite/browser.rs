//! A headless Chromium, driven over the DevTools protocol through a pipe: no port, no dependency.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

/// How long anything here may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// Descriptors 3 and 4 are the pipe; whatever else the browser prints is not asked for.
const START: &str = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#;

/// One browser with one page. Dropping it ends every process of it, also in a panic.
pub(crate) struct Browser {
    child: Child,
    requests: ChildStdin,
    messages: Receiver<Value>,
    session: Option<String>,
    last_id: u64,
    /// Everything the page told unasked, oldest first.
    pub(crate) events: Vec<Value>,
    /// Removed once the processes have ended.
    profile: Option<TempDir>,
}

impl Browser {
    /// A page of this size; `None`, with the reason printed, where there is no Chromium.
    pub(crate) fn start(width: u32, height: u32) -> Option<Self> {
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let Some(program) = names.into_iter().find(|name| is_installed(name)) else {
            println!("skipped: chromium is not installed");
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        let mut child = command(program, &profile).spawn().unwrap();
        let requests = child.stdin.take().unwrap();
        let messages = read_messages(child.stdout.take().unwrap());
        let (session, events, profile) = (None, Vec::new(), Some(profile));
        let mut browser = Self { child, requests, messages, session, last_id: 0, events, profile };
        browser.attach(width, height);
        Some(browser)
    }

    fn attach(&mut self, width: u32, height: u32) {
        let target = self.call("Target.createTarget", &json!({"url": "about:blank"}));
        let options = json!({"targetId": target["targetId"], "flatten": true});
        let attached = self.call("Target.attachToTarget", &options);
        self.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Network", "Log", "Audits"] {
            self.call(&format!("{domain}.enable"), &json!({}));
        }
        self.resize(width, height);
    }

    /// Another size of the page.
    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Asks the browser for something and waits for its answer.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let mut request = json!({"id": id, "method": method, "params": params});
        if let Some(session) = &self.session {
            request["sessionId"] = json!(session);
        }
        self.requests.write_all(format!("{request}\0").as_bytes()).unwrap();
        loop {
            let message = self.next(method);
            if message["id"] != id {
                self.events.push(message);
                continue;
            }
            assert!(message["error"].is_null(), "{method} {params}: {}", message["error"]);
            return message["result"].clone();
        }
    }

    fn next(&mut self, what: &str) -> Value {
        let message = self.messages.recv_timeout(PATIENCE);
        message.unwrap_or_else(|error| panic!("no answer to {what}: {error}"))
    }

    /// Goes to an address and waits until it has loaded.
    pub(crate) fn open(&mut self, url: &str) {
        let loads = self.loads();
        let answer = self.call("Page.navigate", &json!({"url": url}));
        assert!(answer["errorText"].is_null(), "{url}: {answer}");
        // An address that differs in its fragment alone loads nothing.
        if answer.get("loaderId").is_some() {
            self.until_loaded(loads);
        }
    }

    pub(crate) fn reload(&mut self) {
        let loads = self.loads();
        self.call("Page.reload", &json!({}));
        self.until_loaded(loads);
    }

    fn loads(&self) -> usize {
        self.events_named("Page.loadEventFired").count()
    }

    fn until_loaded(&mut self, before: usize) {
        while self.loads() == before {
            let message = self.next("loading");
            self.events.push(message);
        }
    }

    /// Everything of one kind the page told.
    pub(crate) fn events_named(&self, method: &str) -> impl Iterator<Item = &Value> {
        self.events.iter().filter(move |event| event["method"] == method)
    }

    /// The value of an expression in the page.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let ask = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", &ask);
        let trouble = &answer["exceptionDetails"];
        assert!(trouble.is_null(), "{expression}: {trouble}");
        answer["result"]["value"].clone()
    }

    /// The text of an expression in the page.
    pub(crate) fn text(&mut self, expression: &str) -> String {
        let value = self.eval(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression} is {value}, no text")).to_owned()
    }

    /// The number an expression in the page gives.
    pub(crate) fn number(&mut self, expression: &str) -> f64 {
        let value = self.eval(expression);
        value.as_f64().unwrap_or_else(|| panic!("{expression} is {value}, no number"))
    }

    /// Waits until an expression is true.
    pub(crate) fn until(&mut self, expression: &str) {
        let end = Instant::now() + PATIENCE;
        while self.eval(&format!("Boolean({expression})")) != true {
            assert!(Instant::now() < end, "never came true: {expression}");
            thread::sleep(Duration::from_millis(15));
        }
    }

    /// Presses and releases one key: a character, or a name such as `ArrowDown`.
    pub(crate) fn key(&mut self, key: &str) {
        let is_text = key.chars().count() == 1;
        let modifiers = if is_text && key.chars().all(char::is_uppercase) { 8 } else { 0 };
        self.key_with(key, modifiers);
    }

    /// The same with modifiers held: 1 Alt, 2 Ctrl, 4 Meta, 8 Shift.
    pub(crate) fn key_with(&mut self, key: &str, modifiers: u32) {
        let text = match key {
            "Enter" => "\r",
            one if one.chars().count() == 1 => one,
            _ => "",
        };
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            _ => 0,
        };
        let mut event = json!({
            "type": if text.is_empty() { "rawKeyDown" } else { "keyDown" },
            "key": key, "code": key, "text": text, "modifiers": modifiers,
            "windowsVirtualKeyCode": code,
        });
        self.call("Input.dispatchKeyEvent", &event);
        event["type"] = json!("keyUp");
        self.call("Input.dispatchKeyEvent", &event);
    }

    /// Types into what has the focus.
    pub(crate) fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", &json!({"text": text}));
    }

    fn mouse(&mut self, kind: &str, (x, y): (f64, f64), buttons: u32, clicks: u32) {
        let button = if kind == "mouseMoved" && buttons == 0 { "none" } else { "left" };
        let event = json!({
            "type": kind, "x": x, "y": y, "button": button, "buttons": buttons,
            "clickCount": clicks,
        });
        self.call("Input.dispatchMouseEvent", &event);
    }

    pub(crate) fn click(&mut self, at: (f64, f64)) {
        self.mouse("mouseMoved", at, 0, 0);
        self.mouse("mousePressed", at, 1, 1);
        self.mouse("mouseReleased", at, 0, 1);
    }

    pub(crate) fn double_click(&mut self, at: (f64, f64)) {
        self.click(at);
        self.mouse("mousePressed", at, 1, 2);
        self.mouse("mouseReleased", at, 0, 2);
    }

    /// Drags in ten steps.
    pub(crate) fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.mouse("mouseMoved", from, 0, 0);
        self.mouse("mousePressed", from, 1, 1);
        for step in 1..=10 {
            let part = f64::from(step) / 10.0;
            let at = (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
            self.mouse("mouseMoved", at, 1, 0);
        }
        self.mouse("mouseReleased", to, 0, 1);
    }

    /// Turns the wheel; positive is down.
    pub(crate) fn wheel(&mut self, (x, y): (f64, f64), delta: f64) {
        let event = json!({"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": delta});
        self.call("Input.dispatchMouseEvent", &event);
    }

    /// The middle of the first element a selector finds.
    pub(crate) fn middle(&mut self, selector: &str) -> (f64, f64) {
        let script = format!(
            "(() => {{ const b = document.querySelector({}).getBoundingClientRect(); \
             return [b.x + b.width / 2, b.y + b.height / 2]; }})()",
            json!(selector)
        );
        let at = self.eval(&script);
        (at[0].as_f64().unwrap(), at[1].as_f64().unwrap())
    }

    /// Clicks the first element a selector finds.
    pub(crate) fn click_on(&mut self, selector: &str) {
        let at = self.middle(selector);
        self.click(at);
    }

    /// What the page looks like, as a PNG in base64.
    pub(crate) fn screenshot(&mut self) -> String {
        let answer = self.call("Page.captureScreenshot", &json!({"format": "png"}));
        answer["data"].as_str().unwrap().to_owned()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if let Some(group) = Pid::from_raw(i32::try_from(self.child.id()).unwrap_or(0)) {
            // Fails only when nothing is left of it.
            kill_process_group(group, Signal::KILL).ok();
        }
        drop(self.child.wait());
        // Its processes may still be writing there for a moment.
        let profile = self.profile.take().map(TempDir::keep);
        let is_gone = profile.is_none_or(|folder| {
            (0..50).any(|_| {
                thread::sleep(Duration::from_millis(10));
                std::fs::remove_dir_all(&folder).is_ok()
            })
        });
        if !is_gone {
            println!("the browser's profile could not be removed");
        }
    }
}

fn command(program: &str, profile: &TempDir) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", START, program, "--headless=new", "--remote-debugging-pipe"])
        .args(["--no-sandbox", "--no-first-run", "--disable-gpu", "--hide-scrollbars"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        // Whatever asks for a server gets none.
        .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--disable-dev-shm-usage"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .env("HOME", profile.path())
        .env("XDG_CONFIG_HOME", profile.path())
        .env("XDG_CACHE_HOME", profile.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0);
    command
}

fn read_messages(stdout: impl std::io::Read + Send + 'static) -> Receiver<Value> {
    let (sender, messages) = channel();
    thread::spawn(move || {
        for message in BufReader::new(stdout).split(0).map_while(Result::ok) {
            let message = serde_json::from_slice(&message).expect("the browser speaks JSON");
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    messages
}

fn is_installed(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}
