//! The surface for tests as a page: elements with names, dialogs, and what happens later.

use std::time::Duration;

use crate::error::{Error, Result};
use crate::geometry::{Point, Rect};

use super::document::{Document, Sought, Which};
use super::element::ElementRef;
use super::elements::{Element, Elements};
use super::fake::Fake;
use super::refusal::{Refusal, RefusalKind};
use super::tab::{Tab, TabDeed};

/// What happens on the page by itself.
pub(crate) type Happening = fn(&mut Fake);

/// Between two looks whether an element can be acted on.
const INTERVAL: Duration = Duration::from_millis(20);

/// What a [`Fake`] is made of beside its pixels.
pub(crate) struct FakePage {
    pub(crate) url: String,
    /// Another number is another document.
    pub(crate) document: u32,
    pub(crate) parts: Vec<Part>,
    /// What it shows beside its elements.
    pub(crate) texts: Vec<&'static str>,
    pub(crate) dialog: Option<&'static str>,
    /// The addresses of its tabs; a closed one is `None`.
    pub(crate) tabs: Vec<Option<String>>,
    /// The index of the current one.
    pub(crate) tab: usize,
    /// The addresses it was sent to.
    pub(crate) visited: Vec<String>,
    /// How long it is on its way to the next document, once it leaves.
    pub(crate) leaves_until: Option<Duration>,
    /// The answer to what replaces a field's text gets lost, and the text arrives.
    pub(crate) loses_fills: bool,
    /// When the pointer arrives at the element of a name.
    pub(crate) when_reached: fn(&mut Fake, &str),
    /// When the element of a name is pressed.
    pub(crate) when_pressed: fn(&mut Fake, &str),
    /// Once its elements have been listed.
    pub(crate) once_listed: fn(&mut Fake),
    /// At that instant.
    pub(crate) later: Option<(Duration, Happening)>,
    snapshot: u32,
    /// The identities of the last snapshot, in its order.
    listed: Vec<u64>,
    /// The texts that were shown when they were marked.
    marked: Vec<String>,
}

/// One element of it.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) identity: u64,
    pub(crate) role: &'static str,
    pub(crate) name: String,
    pub(crate) value: Option<String>,
    pub(crate) rect: Option<Rect>,
    pub(crate) is_enabled: bool,
    pub(crate) covered_by: Option<&'static str>,
}

impl FakePage {
    /// Buttons and fields side by side, ten pixels each: `Button "Save"`.
    pub(crate) fn new(parts: &[(&'static str, &str)]) -> Self {
        let part = |(number, (role, name)): (u32, &(&'static str, &str))| Part {
            identity: number.into(),
            role,
            name: (*name).to_owned(),
            value: (*role == "textbox").then(String::new),
            rect: Rect::new(number * 10, 0, 10, 10).ok(),
            is_enabled: true,
            covered_by: None,
        };
        Self {
            url: "http://a/".to_owned(),
            document: 1,
            parts: (0..).zip(parts).map(part).collect(),
            texts: Vec::new(),
            dialog: None,
            tabs: vec![Some("http://a/".to_owned())],
            tab: 0,
            visited: Vec::new(),
            leaves_until: None,
            loses_fills: false,
            when_reached: |_, _| {},
            when_pressed: |_, _| {},
            once_listed: |_| {},
            later: None,
            snapshot: 0,
            listed: Vec::new(),
            marked: Vec::new(),
        }
    }

    /// The element of that name.
    pub(crate) fn part(&mut self, name: &str) -> &mut Part {
        self.parts.iter_mut().find(|part| part.name == name).unwrap()
    }

    fn named(&self, point: Point) -> Option<String> {
        let part =
            self.parts.iter().find(|part| part.rect.is_some_and(|rect| rect.contains(point)));
        part.map(|part| part.name.clone())
    }

    /// The element of a reference, unless that is of another snapshot or it is gone.
    fn known(&self, reference: &ElementRef) -> std::result::Result<&Part, Refusal> {
        let refuse =
            |kind, why: &str| Refusal::new(kind, format!("there is no element {reference}: {why}"));
        let (snapshot, letter) = reference.as_str().split_once(':').unwrap();
        let index = usize::from(letter.as_bytes()[0] - b'a');
        if snapshot != self.snapshot.to_string() || index >= self.listed.len() {
            return Err(refuse(RefusalKind::UnknownRef, "it is of no observation that is current"));
        }
        let part = self.parts.iter().find(|part| part.identity == self.listed[index]);
        part.ok_or_else(|| refuse(RefusalKind::NotReady, "it is gone"))
    }

    fn is_shown(&self, text: &str) -> bool {
        self.texts.contains(&text) || self.parts.iter().any(|part| part.name == text)
    }

    /// The first that a condition may mean.
    fn meant(&self, which: &Which) -> Option<&Part> {
        match which {
            Which::Ref(reference) => self.known(reference).ok(),
            Which::Named { name, role } => {
                let is_it = |part: &&Part| {
                    part.name == *name && role.as_ref().is_none_or(|role| part.role == role)
                };
                self.parts.iter().find(is_it)
            }
            Which::Text(text) => self.parts.iter().find(|part| part.name == *text),
        }
    }
}

impl Part {
    fn obstacle(&self) -> Option<Refusal> {
        let name = &self.name;
        match (self.covered_by, self.is_enabled) {
            (Some(cover), _) => {
                let message = format!("\"{name}\" is covered by {cover}: close that");
                Some(Refusal::new(RefusalKind::Covered, message))
            }
            (None, false) => {
                Some(Refusal::new(RefusalKind::NotReady, format!("\"{name}\" is disabled")))
            }
            (None, true) => None,
        }
    }
}

impl Fake {
    pub(crate) fn with_page(mut self, page: FakePage) -> Self {
        self.page = Some(page);
        self
    }

    /// The page there is.
    pub(crate) fn page(&mut self) -> &mut FakePage {
        self.page.as_mut().unwrap()
    }

    /// What was to happen by now happens.
    pub(super) fn catch_up(&mut self) {
        let now = self.clock.now();
        let Some(page) = &mut self.page else { return };
        if page.leaves_until.is_some_and(|until| now >= until) {
            page.leaves_until = None;
            page.document += 1;
        }
        if let Some((_, happens)) = page.later.take_if(|(due, _)| now >= *due) {
            happens(self);
        }
    }

    pub(super) fn tell_page(&mut self, point: Point, is_press: bool) {
        let Some(page) = &self.page else { return };
        let happens = if is_press { page.when_pressed } else { page.when_reached };
        if let Some(name) = page.named(point) {
            happens(self, &name);
        }
    }
}

impl Document for Fake {
    fn session(&self) -> &str {
        "a page"
    }

    fn elements(&mut self) -> Result<Elements> {
        self.catch_up();
        let page = self.page();
        page.snapshot += 1;
        page.listed = page.parts.iter().map(|part| part.identity).collect();
        let element = |(number, part): (usize, &Part)| Element {
            number,
            reference: format!(
                "{}:{}",
                page.snapshot,
                char::from(b'a' + u8::try_from(number - 1).unwrap())
            ),
            role: part.role.to_owned(),
            name: part.name.clone(),
            value: part.value.clone(),
            states: if part.is_enabled { Vec::new() } else { vec!["disabled".to_owned()] },
            rect: part.rect,
            covered_by: part.covered_by.map(str::to_owned),
            identity: part.identity,
        };
        let listed = Elements {
            url: page.url.clone(),
            title: "A".to_owned(),
            is_cut: false,
            snapshot: page.snapshot,
            document: page.document.to_string(),
            texts: Vec::new(),
            list: (1..).zip(&page.parts).map(element).collect(),
        };
        std::mem::replace(&mut page.once_listed, |_| {})(self);
        Ok(listed)
    }

    fn aim(
        &mut self,
        element: &ElementRef,
        patience: Duration,
    ) -> Result<std::result::Result<Point, Refusal>> {
        let give_up = self.clock.now() + patience;
        loop {
            self.catch_up();
            let part = match self.page().known(element) {
                Ok(part) => part.clone(),
                Err(refusal) => return Ok(Err(refusal)),
            };
            match (part.obstacle(), part.rect) {
                (None, Some(rect)) => return Ok(Ok(Point::new(rect.x() + 5, rect.y() + 5))),
                (None, None) => self.page().part(&part.name).rect = Rect::new(0, 20, 10, 10).ok(),
                (Some(refusal), _) if self.clock.now() >= give_up => return Ok(Err(refusal)),
                (Some(_), _) => self.clock.sleep(INTERVAL),
            }
        }
    }

    fn confirm(&mut self, element: &ElementRef, at: Point) -> Result<Option<Refusal>> {
        let page = self.page();
        Ok(match page.known(element) {
            Err(refusal) => Some(refusal),
            Ok(part) if part.rect.is_some_and(|rect| rect.contains(at)) => part.obstacle(),
            Ok(part) => {
                let there = page.named(at).unwrap_or_default();
                let message = format!("\"{}\" has moved: \"{there}\" is there now", part.name);
                Some(Refusal::new(RefusalKind::NotReady, message))
            }
        })
    }

    fn scroll_to(&mut self, element: &ElementRef) -> Result<Option<Refusal>> {
        Ok(self.aim(element, Duration::ZERO)?.err())
    }

    fn fill(&mut self, element: &ElementRef, text: &str) -> Result<Option<Refusal>> {
        let name = match self.page().known(element) {
            Ok(part) => part.name.clone(),
            Err(refusal) => return Ok(Some(refusal)),
        };
        if let Some(refusal) = self.page().part(&name).obstacle() {
            return Ok(Some(refusal));
        }
        self.page().part(&name).value = Some(text.to_owned());
        self.tell_page(Point::new(5, 5), true);
        match self.page().loses_fills {
            true => Err(Error::surface("no answer came")),
            false => Ok(None),
        }
    }

    fn follow(&mut self, element: &ElementRef) -> Result<Option<Refusal>> {
        match self.page().known(element) {
            Ok(part) if part.role == "link" => self.go_to("http://a/followed"),
            Ok(_) => Ok(Some(Refusal::new(RefusalKind::ReadOnly, "it is no link"))),
            Err(refusal) => Ok(Some(refusal)),
        }
    }

    fn go_to(&mut self, url: &str) -> Result<Option<Refusal>> {
        let page = self.page();
        if url.ends_with("/nowhere") {
            return Ok(Some(Refusal::new(RefusalKind::NotReady, "it does not answer")));
        }
        page.visited.push(url.to_owned());
        url.clone_into(&mut page.url);
        page.document += 1;
        Ok(None)
    }

    fn tab(&mut self, deed: &TabDeed) -> Result<Option<Refusal>> {
        let page = self.page();
        match deed {
            TabDeed::Open(url) => {
                page.tabs.push(Some(url.as_str().to_owned()));
                page.tab = page.tabs.len() - 1;
            }
            TabDeed::Go(number) | TabDeed::Close(number) => {
                let index = *number as usize - 1;
                if page.tabs.get(index).is_none_or(Option::is_none) {
                    let message = format!("there is no tab {number}");
                    return Ok(Some(Refusal::new(RefusalKind::UnknownTab, message)));
                }
                if matches!(deed, TabDeed::Close(_)) {
                    page.tabs[index] = None;
                }
                page.tab = match deed {
                    TabDeed::Go(_) => index,
                    _ => page.tabs.iter().position(Option::is_some).unwrap_or(0),
                };
            }
        }
        page.document += 1;
        Ok(None)
    }

    fn tabs(&mut self) -> Vec<Tab> {
        let page = self.page();
        let known = (1..).zip(&page.tabs).zip(0..);
        let there = known.filter_map(|((number, url), index)| {
            let is_current = index == page.tab;
            Some(Tab { number, url: url.clone()?, title: "A".to_owned(), is_current })
        });
        there.collect()
    }

    fn lost_tab(&mut self) -> Option<String> {
        let page = self.page();
        page.tabs[page.tab].is_none().then(|| "tab 2 was closed: go on with 1".to_owned())
    }

    fn dialog(&mut self) -> Option<String> {
        self.catch_up();
        self.page().dialog.map(|text| format!("alert \"{text}\""))
    }

    fn handle_dialog(&mut self, _: bool, _: Option<&str>) -> Result<()> {
        self.page().dialog = None;
        Ok(())
    }

    fn is_leaving(&mut self) -> bool {
        self.catch_up();
        self.page().leaves_until.is_some()
    }

    fn news(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn mark(&mut self, sought: &[Sought]) -> Result<()> {
        self.catch_up();
        let page = self.page();
        let texts = sought.iter().filter_map(|one| match one {
            Sought::Text(text) => Some(text.clone()),
            _ => None,
        });
        page.marked = texts.filter(|text| page.is_shown(text)).collect();
        Ok(())
    }

    fn seek(&mut self, sought: &[Sought], is_new: bool) -> Result<Vec<bool>> {
        self.catch_up();
        let page = self.page();
        // What was hidden meanwhile is new when it comes again.
        let (texts, parts) = (page.texts.clone(), page.parts.clone());
        page.marked.retain(|text| {
            texts.contains(&text.as_str()) || parts.iter().any(|part| part.name == *text)
        });
        let is_so = |one: &Sought| match one {
            Sought::Text(text) => page.is_shown(text) && !(is_new && page.marked.contains(text)),
            Sought::Visible(which) => page.meant(which).is_some_and(|part| part.rect.is_some()),
            Sought::Enabled(which) => page.meant(which).is_some_and(|part| part.is_enabled),
            Sought::Gone(which) => page.meant(which).is_none(),
            Sought::Url(glob) => glob.matches(&page.url),
        };
        Ok(sought.iter().map(is_so).collect())
    }
}
