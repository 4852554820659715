//! The tabs of a browser: which there are, which one is driven, and what became of them.
//!
//! A new tab is attached to by the thread that reads, before it runs: its size is set, and a dialog
//! of it is told like one of the tab that is driven. Its number stays; that of a closed one is not
//! given again.

use serde_json::Value;

use crate::act::{Refusal, RefusalKind, Tab};

use super::news::short;

/// The addresses of what is the browser's own and no page.
const OWN: [&str; 2] = ["devtools:", "chrome-extension:"];

/// What is known of the tabs.
#[derive(Default)]
pub(super) struct Tabs {
    list: Vec<Known>,
    last_number: u32,
    /// The id of the one that is driven; none before one is attached to, and on a socket that is a
    /// page's own.
    current: Option<String>,
    /// What the current one's end was, once it has ended.
    lost: Option<&'static str>,
    lines: Vec<String>,
    /// Whether another tab has come in front of the current one.
    is_behind: bool,
}

pub(super) struct Known {
    pub(super) id: String,
    number: u32,
    url: String,
    title: String,
    session: Option<String>,
    /// Opened by this session or by one of its tabs.
    pub(super) is_own: bool,
    pub(super) has_crashed: bool,
    /// Whether it was told that it is there.
    is_told: bool,
}

impl Known {
    fn take_info(&mut self, info: &Value) {
        if let Some(url) = info["url"].as_str() {
            url.clone_into(&mut self.url);
        }
        if let Some(title) = info["title"].as_str() {
            title.clone_into(&mut self.title);
        }
    }

    /// The browser gives a page without a title its address as one.
    fn own_title(&self) -> &str {
        let is_address =
            self.url.trim_end_matches('/').ends_with(&self.title) || self.title == "about:blank";
        if is_address { "" } else { &self.title }
    }

    /// Whether it is at an address and has a title, and so can be told of.
    fn is_named(&self) -> bool {
        !["", "about:blank"].contains(&&*self.url) && !self.own_title().is_empty()
    }

    fn in_words(&self) -> String {
        format!("tab {} \"{}\" {}", self.number, short(self.own_title()), short(&self.url))
    }
}

impl Tabs {
    /// Takes in an event of the protocol. `session` is the one it is of.
    pub(super) fn take(&mut self, method: &str, params: &Value, session: Option<&str>) {
        let info = &params["targetInfo"];
        match method {
            "Target.targetCreated" | "Target.targetInfoChanged" => self.take_target(info),
            "Target.attachedToTarget" => {
                self.take_target(info);
                let session = params["sessionId"].as_str().map(str::to_owned);
                if let Some(tab) = self.find(&info["targetId"]) {
                    tab.session = session;
                }
            }
            "Target.detachedFromTarget" => {
                let ended = params["sessionId"].as_str();
                let tab = self.list.iter_mut().find(|tab| tab.session.as_deref() == ended);
                if let Some(tab) = tab {
                    tab.session = None;
                    let id = tab.id.clone();
                    self.lose(&id, "was closed");
                }
            }
            "Target.targetDestroyed" => self.remove(&params["targetId"]),
            "Inspector.targetCrashed" => {
                let tab = self.list.iter().find(|tab| tab.session.as_deref() == session);
                if let (Some(tab), true) = (tab, session.is_some()) {
                    let id = tab.id.clone();
                    self.crash(&id);
                }
            }
            "Target.targetCrashed" => {
                if let Some(id) = params["targetId"].as_str() {
                    self.crash(id);
                }
            }
            _ => {}
        }
    }

    fn find(&mut self, id: &Value) -> Option<&mut Known> {
        let id = id.as_str()?;
        self.list.iter_mut().find(|tab| tab.id == id)
    }

    pub(super) fn take_target(&mut self, info: &Value) {
        let url = info["url"].as_str().unwrap_or_default();
        if info["type"] != "page" || OWN.iter().any(|own| url.starts_with(own)) {
            return;
        }
        if let Some(tab) = self.find(&info["targetId"]) {
            return tab.take_info(info);
        }
        let Some(id) = info["targetId"].as_str() else { return };
        let opener = info["openerId"].as_str();
        let is_ours = |tab: &Known| tab.is_own || self.current.as_deref() == Some(tab.id.as_str());
        let is_own = self.list.iter().any(|tab| Some(tab.id.as_str()) == opener && is_ours(tab));
        self.last_number += 1;
        let mut tab = Known {
            id: id.to_owned(),
            number: self.last_number,
            url: String::new(),
            title: String::new(),
            session: None,
            is_own,
            has_crashed: false,
            is_told: false,
        };
        tab.take_info(info);
        self.list.push(tab);
        self.is_behind = true;
    }

    fn remove(&mut self, id: &Value) {
        let Some(id) = id.as_str() else { return };
        self.lose(id, "was closed");
        let Some(place) = self.list.iter().position(|tab| tab.id == id) else { return };
        let tab = self.list.remove(place);
        if tab.is_told {
            self.lines.push(format!("- {}", tab.in_words()));
        }
    }

    fn crash(&mut self, id: &str) {
        self.lose(id, "has crashed");
        let Some(tab) = self.list.iter_mut().find(|tab| tab.id == id) else { return };
        if !std::mem::replace(&mut tab.has_crashed, true) {
            let line = format!("! {} has crashed", tab.in_words());
            self.lines.push(line);
        }
    }

    fn lose(&mut self, id: &str, why: &'static str) {
        if self.current.as_deref() == Some(id) {
            self.lost.get_or_insert(why);
        }
    }

    /// From now on this is the current one.
    pub(super) fn follow(&mut self, id: &str) {
        self.current = Some(id.to_owned());
        self.is_behind = true;
        let tab = self.list.iter_mut().find(|tab| tab.id == id);
        self.lost = match &tab {
            None => Some("was closed"),
            Some(tab) if tab.has_crashed => Some("has crashed"),
            Some(_) => None,
        };
        if let Some(tab) = tab {
            tab.is_told = true;
        }
    }

    /// Those that are there before this session does anything are not told.
    pub(super) fn forget_untold(&mut self) {
        self.list.iter_mut().for_each(|tab| tab.is_told = true);
        self.lines.clear();
    }

    /// Whether one is new whose address or title is not known yet.
    pub(super) fn has_nameless(&self) -> bool {
        self.list.iter().any(|tab| !tab.is_told && !tab.has_crashed && !tab.is_named())
    }

    /// What became of them since this was last asked, in lines.
    pub(super) fn take_told(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for tab in self.list.iter_mut().filter(|tab| !tab.is_told) {
            tab.is_told = true;
            lines.push(format!("+ {}", tab.in_words()));
        }
        lines.append(&mut self.lines);
        lines
    }

    /// Whether another tab has come in front since this was last asked.
    pub(super) const fn take_behind(&mut self) -> bool {
        std::mem::replace(&mut self.is_behind, false)
    }

    /// The first one there is, and its session where it is attached to.
    pub(super) fn first(&self) -> Option<(String, Option<String>)> {
        self.list.first().map(|tab| (tab.id.clone(), tab.session.clone()))
    }

    /// The one that is driven.
    pub(super) fn current(&self) -> Option<String> {
        self.current.clone()
    }

    pub(super) fn session_of(&self, id: &str) -> Option<String> {
        self.list.iter().find(|tab| tab.id == id)?.session.clone()
    }

    pub(super) fn is_there(&self, id: &str) -> bool {
        self.list.iter().any(|tab| tab.id == id)
    }

    /// The number of the tab of a session.
    pub(super) fn number_of(&self, session: Option<&str>) -> Option<u32> {
        let session = session?;
        self.list.iter().find(|tab| tab.session.as_deref() == Some(session)).map(|tab| tab.number)
    }

    /// Whether the session is that of the current one.
    pub(super) fn is_current(&self, number: u32) -> bool {
        let tab = self.list.iter().find(|tab| tab.number == number);
        tab.is_some_and(|tab| self.current.as_deref() == Some(tab.id.as_str()))
    }

    pub(super) fn numbered(&self, number: u32) -> std::result::Result<&Known, Refusal> {
        self.list.iter().find(|tab| tab.number == number).ok_or_else(|| {
            let message = format!("there is no tab {number}: {}", self.valid());
            Refusal::new(RefusalKind::UnknownTab, message)
        })
    }

    fn valid(&self) -> String {
        let numbers: Vec<String> = self.list.iter().map(|tab| tab.number.to_string()).collect();
        match numbers.is_empty() {
            true => "none is open: open one with tab open URL".to_owned(),
            false => format!("the valid numbers are {}", numbers.join(", ")),
        }
    }

    /// Why nothing can be done in the current one any more.
    pub(super) fn lost(&self) -> Option<String> {
        let why = self.lost?;
        let others: Vec<&Known> = self.list.iter().filter(|tab| !self.is_lost(tab)).collect();
        let next = match others.first() {
            Some(tab) => format!("go on with tab {}, or tab open URL", tab.number),
            None => "go on with tab open URL".to_owned(),
        };
        Some(format!("the page {why}; {next}"))
    }

    fn is_lost(&self, tab: &Known) -> bool {
        tab.has_crashed || self.current.as_deref() == Some(tab.id.as_str())
    }

    /// The one to go to when the current one goes: the one before it, else the one after.
    pub(super) fn neighbour(&self, number: u32) -> Option<String> {
        let before = self.list.iter().rev().find(|tab| tab.number < number && !tab.has_crashed);
        let other = before.or(self.list.iter().find(|tab| tab.number > number));
        other.map(|tab| tab.id.clone())
    }

    pub(super) fn rows(&self) -> Vec<Tab> {
        let row = |tab: &Known| Tab {
            number: tab.number,
            url: tab.url.clone(),
            title: tab.own_title().to_owned(),
            is_current: self.current.as_deref() == Some(tab.id.as_str()),
        };
        self.list.iter().map(row).collect()
    }

    pub(super) fn is_known(&self) -> bool {
        self.current.is_some()
    }

    /// This session has opened it.
    pub(super) fn own(&mut self, id: &str) {
        if let Some(tab) = self.list.iter_mut().find(|tab| tab.id == id) {
            tab.is_own = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tabs_keep_their_numbers_and_are_told_once() {
        let mut tabs = Tabs::default();
        let target = |id: &str, url: &str, title: &str| json!({"targetInfo": {"targetId": id, "type": "page", "url": url, "title": title}});
        tabs.take("Target.targetCreated", &target("F", "http://own/", "Own"), None);
        tabs.follow("F");
        let created = |id, url, title| ("Target.targetCreated", target(id, url, title));
        let changed = |id, url, title| ("Target.targetInfoChanged", target(id, url, title));
        let of = |method, id: &str| (method, json!({"targetId": id}));
        for ((method, params), is_nameless, lines) in [
            (created("D", "devtools://x", ""), false, &[][..]),
            (created("T", "", ""), true, &[][..]),
            (changed("T", "http://a/new", "a/new"), true, &[][..]),
            (changed("T", "http://a/new", "N"), false, &["+ tab 2 \"N\" http://a/new"][..]),
            (changed("T", "http://a/newer", "N"), false, &[][..]),
            (of("Target.targetDestroyed", "T"), false, &["- tab 2 \"N\" http://a/newer"][..]),
            (created("U", "about:blank", "about:blank"), true, &[][..]),
            (
                of("Target.targetCrashed", "U"),
                false,
                &["+ tab 3 \"\" about:blank", "! tab 3 \"\" about:blank has crashed"][..],
            ),
            (of("Target.targetDestroyed", "F"), false, &["- tab 1 \"Own\" http://own/"][..]),
        ] {
            tabs.take(method, &params, None);
            assert_eq!(tabs.has_nameless(), is_nameless, "{method} {params}");
            if !is_nameless {
                assert_eq!(tabs.take_told(), lines, "{method} {params}");
            }
        }
        assert_eq!(tabs.valid(), "the valid numbers are 3");
        assert_eq!(tabs.lost().unwrap(), "the page was closed; go on with tab open URL");
    }
}
