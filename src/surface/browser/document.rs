//! A page as a surface that knows its elements: what the executor asks of it.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::time::Duration;

use serde_json::{Value, json};

use crate::act::{
    Document, Element, ElementRef, Elements, Refusal, RefusalKind, Sought, Tab, TabDeed, Which,
};
use crate::error::Result;
use crate::geometry::Point;

use super::click::{Try, refusal};
use super::link::Stop;
use super::{ASK_PATIENCE, Page};

/// How long a page may take to say what it shows; one that takes longer shows nothing.
const SEEK_PATIENCE: Duration = Duration::from_secs(1);

/// A name nobody else has.
pub(super) fn session_name() -> String {
    // The keys of the standard library's hash tables are random, which is all that is needed.
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

/// A number to count snapshots from that an earlier session hardly counted to.
pub(super) fn first_snapshot() -> u32 {
    let random = RandomState::new().build_hasher().finish() % 900_000;
    100_000 + u32::try_from(random).unwrap_or_default()
}

impl Page {
    /// The element of a reference of the last snapshot.
    fn known(&self, reference: &ElementRef) -> std::result::Result<Element, Refusal> {
        let latest = self.latest.as_ref();
        let found = latest.and_then(|elements| elements.get(reference.as_str()).ok());
        found.cloned().ok_or_else(|| {
            let number = reference.as_str().split(':').next().unwrap_or_default();
            let is_old = number.parse().is_ok_and(|number: u32| number < self.snapshots);
            let why = match is_old {
                true => "it is of an earlier observation, and every observation gives new refs",
                false => "it is of none that was taken",
            };
            let message = format!("there is no element {reference}: {why}");
            Refusal::new(RefusalKind::UnknownRef, message)
        })
    }

    /// Asks once, and says why not.
    fn once<T>(
        &mut self,
        reference: &ElementRef,
        once: impl Fn(&mut Self, &Element) -> Result<Try<T>>,
    ) -> Result<Option<Refusal>> {
        match self.known(reference) {
            Ok(element) => Ok(once(self, &element)?.no()),
            Err(refusal) => Ok(Some(refusal)),
        }
    }

    /// What of the sought the page itself can tell; addresses are compared here.
    fn asked(&self, sought: &Sought) -> Value {
        let which = |what: &str, which: &Which| {
            let mut asked = match which {
                Which::Text(text) => json!({"text": text}),
                Which::Named { name, role } => json!({"name": name, "role": role}),
                Which::Ref(reference) => match self.known(reference) {
                    Ok(element) => json!({"number": self.snapshots, "index": element.number - 1}),
                    // Of no snapshot: never found.
                    Err(_) => json!({"number": 0, "index": 0}),
                },
            };
            asked["what"] = what.into();
            asked
        };
        match sought {
            Sought::Text(text) => json!({"what": "text", "text": text}),
            Sought::Visible(one) | Sought::Enabled(one) | Sought::Gone(one) => {
                which(sought.name(), one)
            }
            Sought::Url(_) => Value::Null,
        }
    }

    /// Which of these the page shows; none where it gives no answer in time.
    fn seek_in_page(&mut self, asked: &[Value], is_new: bool) -> Result<Vec<bool>> {
        let give_up = self.clock.now() + SEEK_PATIENCE;
        let arguments = [Value::from(asked), json!(is_new)];
        match self.world.call(&mut self.link, "seek", &arguments, give_up) {
            Ok(answer) => {
                let answers = answer.as_array().map(Vec::as_slice).unwrap_or_default();
                Ok(answers.iter().map(|is| is == true).collect())
            }
            Err(Stop::Gone(error)) => Err(error),
            Err(Stop::Dialog(_) | Stop::Late | Stop::Refused(_)) => Ok(Vec::new()),
        }
    }
}

impl Document for Page {
    fn session(&self) -> &str {
        &self.session
    }

    fn elements(&mut self) -> Result<Elements> {
        Self::elements(self)
    }

    fn aim(
        &mut self,
        element: &ElementRef,
        patience: Duration,
    ) -> Result<std::result::Result<Point, Refusal>> {
        match self.known(element) {
            Ok(element) => self.try_element(&element, patience, Self::try_aim),
            Err(refusal) => Ok(Err(refusal)),
        }
    }

    fn confirm(&mut self, element: &ElementRef, at: Point) -> Result<Option<Refusal>> {
        self.once(element, |page, element| page.try_confirm(element, at))
    }

    fn scroll_to(&mut self, element: &ElementRef) -> Result<Option<Refusal>> {
        self.once(element, Self::try_scroll)
    }

    fn fill(&mut self, element: &ElementRef, text: &str) -> Result<Option<Refusal>> {
        self.once(element, |page, element| page.try_fill(element, text))
    }

    fn follow(&mut self, element: &ElementRef) -> Result<Option<Refusal>> {
        let element = match self.known(element) {
            Ok(element) => element,
            Err(refusal) => return Ok(Some(refusal)),
        };
        let answer = self.ask_of("link", &element, &[])?;
        if let Some(no) = refusal::<()>(&answer, &element) {
            return Ok(no.no());
        }
        let href = answer["href"].as_str().unwrap_or_default().to_owned();
        self.go_to(&href)
    }

    fn go_to(&mut self, url: &str) -> Result<Option<Refusal>> {
        match self.navigate(url) {
            Ok(()) => Ok(None),
            Err(error) if self.link.gone().is_some() => Err(error),
            Err(error) => Ok(Some(Refusal::new(RefusalKind::NotReady, error.to_string()))),
        }
    }

    fn tab(&mut self, deed: &TabDeed) -> Result<Option<Refusal>> {
        self.do_with_tab(deed)
    }

    fn tabs(&mut self) -> Vec<Tab> {
        self.tab_rows()
    }

    fn lost_tab(&mut self) -> Option<String> {
        self.why_lost()
    }

    fn dialog(&mut self) -> Option<String> {
        Self::dialog(self).map(|dialog| dialog.in_words())
    }

    fn handle_dialog(&mut self, accept: bool, text: Option<&str>) -> Result<()> {
        Self::handle_dialog(self, accept, text).map(drop)
    }

    fn is_leaving(&mut self) -> bool {
        self.link.catch_up();
        if self.link.is_leaving() {
            return true;
        }
        if self.link.has_arrived() {
            // There, and maybe without its document yet.
            match self.where_it_is() {
                Ok(place) if place["ready"] == "loading" => return true,
                Err(Stop::Late | Stop::Refused(_)) => return true,
                _ => self.link.forget_arrival(),
            }
        }
        false
    }

    fn news(&mut self) -> Vec<String> {
        self.await_names();
        self.link.take_told()
    }

    fn mark(&mut self, sought: &[Sought]) -> Result<()> {
        let texts: Vec<&str> = sought
            .iter()
            .filter_map(|one| match one {
                Sought::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let give_up = self.clock.now() + ASK_PATIENCE;
        let marked = self.world.call(&mut self.link, "mark", &[json!(texts)], give_up);
        marked.map(drop).map_err(|stop| stop.into_error("the page cannot be asked what it shows"))
    }

    fn seek(&mut self, sought: &[Sought], is_new: bool) -> Result<Vec<bool>> {
        let asked: Vec<Value> = sought.iter().map(|one| self.asked(one)).collect();
        let in_page: Vec<Value> = asked.iter().filter(|one| !one.is_null()).cloned().collect();
        let mut found = match in_page.is_empty() {
            true => Vec::new(),
            false => self.seek_in_page(&in_page, is_new)?,
        }
        .into_iter();
        let has_url = sought.iter().any(|one| matches!(one, Sought::Url(_)));
        let url = match has_url.then(|| self.where_it_is()) {
            Some(Ok(place)) => place["url"].as_str().unwrap_or_default().to_owned(),
            Some(Err(Stop::Gone(error))) => return Err(error),
            _ => String::new(),
        };
        Ok(sought
            .iter()
            .map(|one| match one {
                Sought::Url(glob) => glob.matches(&url),
                _ => found.next().unwrap_or(false),
            })
            .collect())
    }
}

impl Page {
    /// Takes news from the browser that are not asked for: errors of scripts, downloads. What one
    /// does not have goes untold.
    pub(super) fn listen_to_news(&mut self) -> Result<()> {
        let mut asked = vec![("Runtime.enable", json!({})), ("Log.enable", json!({}))];
        // A browser of somebody else's keeps its downloads.
        if self.process.is_some() {
            let downloads = json!({"behavior": "deny", "eventsEnabled": true});
            asked.push(("Browser.setDownloadBehavior", downloads));
        }
        for (method, params) in asked {
            if let Err(Stop::Gone(error)) = self.ask(method, &params) {
                return Err(error);
            }
        }
        Ok(())
    }
}
