//! What a browser tells unasked: where the page goes, downloads, errors of its scripts.

use std::collections::HashMap;

use serde_json::Value;

/// How many lines are kept until somebody asks.
const MOST_LINES: usize = 20;

/// The longest part of what a page says that is kept, in characters.
const MAX_TEXT: usize = 200;

/// What was told since it was last asked for.
#[derive(Default)]
pub(super) struct News {
    lines: Vec<String>,
    omitted: usize,
    /// The page's own frame.
    frame: String,
    is_leaving: bool,
    has_arrived: bool,
    /// Downloads by their id, and their file name.
    downloads: HashMap<String, String>,
}

impl News {
    /// The page's own frame, which is also the name of its tab.
    pub(super) fn follow(&mut self, frame: &str) {
        frame.clone_into(&mut self.frame);
        (self.is_leaving, self.has_arrived) = (false, false);
    }

    pub(super) const fn is_leaving(&self) -> bool {
        self.is_leaving
    }

    pub(super) const fn has_arrived(&self) -> bool {
        self.has_arrived
    }

    pub(super) const fn forget_arrival(&mut self) {
        self.has_arrived = false;
    }

    /// The lines, which are told once.
    pub(super) fn take_told(&mut self) -> Vec<String> {
        let mut lines = std::mem::take(&mut self.lines);
        let omitted = std::mem::take(&mut self.omitted);
        if omitted > 0 {
            lines.push(format!("… and {omitted} more"));
        }
        lines
    }

    /// Takes in an event of the protocol.
    pub(super) fn take(&mut self, method: &str, params: &Value) {
        let is_page = params["frameId"] == self.frame.as_str()
            || params["frame"]["id"] == self.frame.as_str();
        match method {
            "Page.frameRequestedNavigation"
                if is_page && params["disposition"] == "currentTab" && leads(params) =>
            {
                self.is_leaving = true;
            }
            "Page.frameStartedNavigating"
                if is_page && params["navigationType"] != "sameDocument" =>
            {
                self.is_leaving = true;
            }
            "Page.frameStoppedLoading" if is_page => self.is_leaving = false,
            "Page.frameNavigated" if is_page => {
                self.is_leaving = false;
                self.has_arrived = true;
            }
            "Page.downloadWillBegin" | "Browser.downloadWillBegin" => self.begin_download(params),
            "Page.downloadProgress" | "Browser.downloadProgress" => self.follow_download(params),
            _ => self.take_error(method, params),
        }
    }

    fn take_error(&mut self, method: &str, params: &Value) {
        match method {
            "Runtime.exceptionThrown" => {
                let details = &params["exceptionDetails"];
                let words = details["exception"]["description"].as_str();
                self.tell_error(words.or(details["text"].as_str()));
            }
            "Runtime.consoleAPICalled"
                if matches!(params["type"].as_str(), Some("error" | "assert")) =>
            {
                let values = params["args"].as_array().map(Vec::as_slice).unwrap_or_default();
                let words: Vec<String> = values.iter().map(value_in_words).collect();
                self.tell_error(Some(&words.join(" ")));
            }
            "Log.entryAdded" if params["entry"]["level"] == "error" => {
                let entry = &params["entry"];
                let url = entry["url"].as_str().unwrap_or_default();
                let text = entry["text"].as_str().unwrap_or_default();
                self.tell_error(Some(&format!("{text} {url}")));
            }
            _ => {}
        }
    }

    fn tell_error(&mut self, words: Option<&str>) {
        let line = short(words.unwrap_or_default().lines().next().unwrap_or_default());
        self.tell(format!("! console error: {line}"));
    }

    fn begin_download(&mut self, params: &Value) {
        let (Some(id), Some(name)) =
            (params["guid"].as_str(), params["suggestedFilename"].as_str())
        else {
            return;
        };
        if self.downloads.insert(id.to_owned(), name.to_owned()).is_none() {
            let url = short(params["url"].as_str().unwrap_or_default());
            self.tell(format!("+ download \"{}\" from {url}", short(name)));
        }
    }

    fn follow_download(&mut self, params: &Value) {
        let state = params["state"].as_str().unwrap_or_default();
        let Some(name) = params["guid"].as_str().and_then(|id| self.downloads.get(id)) else {
            return;
        };
        let line = match state {
            "completed" => format!("~ download \"{}\" is complete", short(name)),
            "canceled" => format!("~ download \"{}\" was not kept", short(name)),
            _ => return,
        };
        self.tell(line);
    }

    fn tell(&mut self, line: String) {
        if self.lines.last() == Some(&line) {
            return;
        }
        match self.lines.len() < MOST_LINES {
            true => self.lines.push(line),
            false => self.omitted += 1,
        }
    }
}

/// A script or a mail leads nowhere.
fn leads(params: &Value) -> bool {
    let url = params["url"].as_str().unwrap_or_default();
    !["javascript:", "mailto:", "tel:"].iter().any(|kind| url.starts_with(kind))
}

fn value_in_words(value: &Value) -> String {
    match (&value["value"], value["description"].as_str()) {
        (Value::String(text), _) => text.clone(),
        (Value::Null, Some(words)) => words.to_owned(),
        (Value::Null, None) => value["type"].as_str().unwrap_or_default().to_owned(),
        (other, _) => other.to_string(),
    }
}

pub(super) fn short(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn events_become_lines_and_are_told_once() {
        let mut news = News::default();
        news.follow("F");
        let long = "x".repeat(300);
        for (method, params) in [
            (
                "Runtime.exceptionThrown",
                json!({"exceptionDetails": {"exception": {"description": "Error: no\n  at x"}}}),
            ),
            (
                "Runtime.consoleAPICalled",
                json!({"type": "error", "args": [{"type": "string", "value": "bad"}, {"type": "number", "value": 3}]}),
            ),
            (
                "Runtime.consoleAPICalled",
                json!({"type": "log", "args": [{"type": "string", "value": "fine"}]}),
            ),
            (
                "Log.entryAdded",
                json!({"entry": {"level": "error", "text": "404", "url": "http://a/b"}}),
            ),
            (
                "Browser.downloadWillBegin",
                json!({"guid": "g", "suggestedFilename": "a.pdf", "url": "http://a/a.pdf"}),
            ),
            (
                "Page.downloadWillBegin",
                json!({"guid": "g", "suggestedFilename": "a.pdf", "url": "http://a/a.pdf"}),
            ),
            ("Browser.downloadProgress", json!({"guid": "g", "state": "canceled"})),
            ("Runtime.consoleAPICalled", json!({"type": "error", "args": [{"value": long}]})),
        ] {
            news.take(method, &params);
        }
        let told = news.take_told();
        assert_eq!(
            told[..6],
            [
                "! console error: Error: no",
                "! console error: bad 3",
                "! console error: 404 http://a/b",
                "+ download \"a.pdf\" from http://a/a.pdf",
                "~ download \"a.pdf\" was not kept",
                &format!("! console error: {}…", "x".repeat(200)),
            ]
        );
        assert!(news.take_told().is_empty());
        for n in 0..30 {
            news.tell(format!("{n}"));
        }
        assert_eq!(news.take_told().last().unwrap(), "… and 10 more");
    }

    #[test]
    fn a_page_is_leaving_until_it_is_there() {
        let mut news = News::default();
        news.follow("F");
        for (method, params, leaving, arrived) in [
            (
                "Page.frameStartedNavigating",
                json!({"frameId": "G", "navigationType": "differentDocument"}),
                false,
                false,
            ),
            (
                "Page.frameStartedNavigating",
                json!({"frameId": "F", "navigationType": "sameDocument"}),
                false,
                false,
            ),
            (
                "Page.frameRequestedNavigation",
                json!({"frameId": "F", "disposition": "currentTab", "url": "javascript:x"}),
                false,
                false,
            ),
            (
                "Page.frameRequestedNavigation",
                json!({"frameId": "F", "disposition": "newTab", "url": "http://a/"}),
                false,
                false,
            ),
            (
                "Page.frameRequestedNavigation",
                json!({"frameId": "F", "disposition": "currentTab", "url": "http://a/"}),
                true,
                false,
            ),
            ("Page.frameNavigated", json!({"frame": {"id": "F"}}), false, true),
        ] {
            news.take(method, &params);
            assert_eq!(
                (news.is_leaving(), news.has_arrived()),
                (leaving, arrived),
                "{method} {params}"
            );
        }
    }
}
