//! Going from one tab to another, opening and closing one.

use std::time::Duration;

use serde_json::json;

use crate::act::{Refusal, RefusalKind, Tab, TabDeed};
use crate::error::Result;

use super::input::Input;
use super::link::Stop;
use super::world::World;
use super::{ASK_PATIENCE, OPEN_PATIENCE, Page};

/// How long a new tab is given to have an address and a title before it is told of.
const NAMING: Duration = Duration::from_secs(1);

impl Page {
    /// Goes to a tab, opens or closes one. What says why not has left everything as it was.
    pub(super) fn do_with_tab(&mut self, deed: &TabDeed) -> Result<Option<Refusal>> {
        self.link.catch_up();
        if !self.link.tabs().is_known() {
            let message = "this session is one page of a browser, attached by devtools/page/: \
                           attach by devtools/browser/ to go to tabs";
            return Ok(Some(Refusal::new(RefusalKind::Unsupported, message)));
        }
        match deed {
            TabDeed::Go(number) => self.go_to_tab(*number),
            TabDeed::Open(url) => self.open_tab(url.as_str()),
            TabDeed::Close(number) => self.close_tab(*number),
        }
    }

    fn go_to_tab(&mut self, number: u32) -> Result<Option<Refusal>> {
        let tab = match self.link.tabs().numbered(number) {
            Ok(tab) => tab,
            Err(refusal) => return Ok(Some(refusal)),
        };
        if tab.has_crashed {
            let message = format!("tab {number} has crashed: close it with tab close {number}");
            return Ok(Some(Refusal::new(RefusalKind::TabClosed, message)));
        }
        let id = tab.id.clone();
        self.switch(&id)
    }

    /// From now on this tab is driven.
    fn switch(&mut self, id: &str) -> Result<Option<Refusal>> {
        match self.enter(id) {
            Ok(()) => Ok(None),
            Err(Stop::Gone(error)) => Err(error),
            Err(stop) => {
                let message = stop.into_error("the tab cannot be gone to").to_string();
                Ok(Some(Refusal::new(RefusalKind::NotReady, message)))
            }
        }
    }

    fn enter(&mut self, id: &str) -> Result<(), Stop> {
        let give_up = self.clock.now() + ASK_PATIENCE;
        let session = self.link.attach_to(id, give_up)?;
        if self.link.gone().is_none() {
            self.release_all();
            if self.is_watched {
                self.link.tell("Page.stopScreencast", &json!({}))?;
            }
        }
        self.is_watched = false;
        self.link.speak_to(session, id);
        self.world = World::default();
        self.latest = None;
        self.input = Input::default();
        Ok(())
    }

    fn open_tab(&mut self, url: &str) -> Result<Option<Refusal>> {
        let before = self.link.tabs().current();
        let give_up = self.clock.now() + OPEN_PATIENCE;
        let blank = json!({"url": "about:blank"});
        let id = match self.link.call_beside_dialog("Target.createTarget", &blank, give_up) {
            Ok(made) => made["targetId"].as_str().unwrap_or_default().to_owned(),
            Err(Stop::Gone(error)) => return Err(error),
            Err(stop) => {
                let message = stop.into_error("no tab can be opened").to_string();
                return Ok(Some(Refusal::new(RefusalKind::NotReady, message)));
            }
        };
        self.link.tabs_mut().own(&id);
        if let Some(refusal) = self.switch(&id)? {
            return Ok(Some(refusal));
        }
        let Err(error) = self.navigate(url) else { return Ok(None) };
        // Nothing came of it: everything is as it was.
        if let Some(before) = before.filter(|before| self.link.tabs().is_there(before)) {
            self.switch(&before)?;
        }
        self.close_target(&id)?;
        Ok(Some(Refusal::new(RefusalKind::NotReady, error.to_string())))
    }

    fn close_tab(&mut self, number: u32) -> Result<Option<Refusal>> {
        let is_attached = self.process.is_none();
        let tabs = self.link.tabs();
        let refuse = |kind, message: String| Ok(Some(Refusal::new(kind, message)));
        let tab = match tabs.numbered(number) {
            Ok(tab) => tab,
            Err(refusal) => return Ok(Some(refusal)),
        };
        if is_attached && !tab.is_own {
            let message = format!(
                "tab {number} was not opened by this session, and in a browser of somebody else's \
                 only those are closed"
            );
            return refuse(RefusalKind::NotPermitted, message);
        }
        let Some(neighbour) = tabs.neighbour(number) else {
            let message = format!(
                "tab {number} is the only one, and a session has one at least: open another first"
            );
            return refuse(RefusalKind::NotReady, message);
        };
        let (id, was_current) = (tab.id.clone(), tabs.is_current(number));
        self.close_target(&id)?;
        match was_current && !self.link.tabs().is_there(&id) {
            true => self.switch(&neighbour),
            false => Ok(None),
        }
    }

    /// Closes a tab and waits until it is gone, or asks whether it may be left.
    fn close_target(&mut self, id: &str) -> Result<()> {
        let give_up = self.clock.now() + ASK_PATIENCE;
        let closed =
            self.link.call_beside_dialog("Target.closeTarget", &json!({"targetId": id}), give_up);
        match closed {
            Ok(_) => {}
            Err(Stop::Gone(error)) => return Err(error),
            Err(stop) => return Err(stop.into_error("the tab does not close")),
        }
        while self.link.tabs().is_there(id) && self.link.dialog().is_none() {
            if self.clock.now() >= give_up {
                let what = "the tab does not close";
                return Err(Stop::Late.into_error(what));
            }
            self.clock.sleep(Duration::from_millis(5));
            self.link.catch_up();
        }
        Ok(())
    }

    /// Titles change without being told of: they are asked for.
    pub(super) fn refresh_tabs(&mut self) {
        self.link.catch_up();
        if !self.link.tabs().is_known() {
            return;
        }
        let give_up = self.clock.now() + ASK_PATIENCE;
        // A browser that is gone says so in the next call.
        if let Ok(told) = self.link.call_beside_dialog("Target.getTargets", &json!({}), give_up) {
            for info in told["targetInfos"].as_array().into_iter().flatten() {
                self.link.tabs_mut().take_target(info);
            }
        }
    }

    /// Gives a tab that has just come a moment to say where it is.
    pub(super) fn await_names(&mut self) {
        let give_up = self.clock.now() + NAMING;
        self.refresh_tabs();
        while self.link.tabs().has_nameless()
            && self.link.dialog().is_none()
            && !self.link.has_ended()
            && self.clock.now() < give_up
        {
            self.clock.sleep(Duration::from_millis(20));
            self.refresh_tabs();
        }
    }

    pub(super) fn tab_rows(&mut self) -> Vec<Tab> {
        self.refresh_tabs();
        match self.link.tabs().is_known() {
            true => self.link.tabs().rows(),
            false => Vec::new(),
        }
    }

    /// Why the current tab is gone, as long as the browser is there.
    pub(super) fn why_lost(&mut self) -> Option<String> {
        self.link.catch_up();
        match self.link.has_ended() {
            true => None,
            false => self.link.tabs().lost(),
        }
    }
}
