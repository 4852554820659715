//! What of a surface can be acted on by name, numbered; and what of it changed.

use std::collections::HashMap;

use crate::error::{Error, Result, Shown};
#[cfg(feature = "pictures")]
use crate::frame::Frame;
use crate::geometry::{Point, Rect};
#[cfg(feature = "pictures")]
use crate::report::numbered;

/// One element that can be acted on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// Its place in the snapshot, counted from 1, and its number in the picture.
    pub number: usize,
    /// Its name for actions, such as `3:a`: good for this snapshot only, and never used again.
    pub reference: String,
    /// Its ARIA role, or `label`, `summary`, `file`, `color`; `clickable` where it has none.
    pub role: String,
    /// What a person would call it, at most 80 characters.
    pub name: String,
    /// What is in it; of a password as many dots as it has characters. `None` for what holds
    /// nothing.
    pub value: Option<String>,
    /// `checked`, `disabled`, `expanded` and the like.
    pub states: Vec<String>,
    /// The part of it that is in view, in frame pixels; `None` where it is scrolled away.
    pub rect: Option<Rect>,
    /// What covers it, with its text: `<div id="banner"> "We use cookies"`.
    pub covered_by: Option<String>,
    /// The same as long as it is the same element of the same document.
    pub identity: u64,
}

/// What of a surface can be acted on at one moment, in the order of its document.
///
/// Links, buttons, fields, what has a role, a handler or a tab stop, labels and what is editable;
/// also inside open shadow roots and frames of the page's own origin. What is not rendered is left
/// out; what is scrolled away is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elements {
    /// The page's address.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Whether there were more than the 2000 that are listed.
    pub is_cut: bool,
    /// The number of this snapshot, with which its references begin.
    pub snapshot: u32,
    /// A name for the document: another one means that the page went elsewhere.
    pub document: String,
    /// What of the text around the elements appeared, went, or came and went since the snapshot
    /// before, in lines.
    pub texts: Vec<String>,
    /// In the order of the document.
    pub list: Vec<Element>,
}

impl Elements {
    /// All of them.
    #[must_use]
    pub fn as_slice(&self) -> &[Element] {
        &self.list
    }

    /// The element of that reference.
    ///
    /// # Errors
    /// When it is none of this snapshot; the message lists those that are.
    pub fn get(&self, reference: &str) -> Result<&Element> {
        self.list.iter().find(|element| element.reference == reference).ok_or_else(|| {
            Error::usage(format!(
                "there is no element {} here: the valid ones are {}",
                Shown(reference),
                self.valid()
            ))
        })
    }

    /// The references there are, the first hundred of them.
    pub(crate) fn valid(&self) -> String {
        let all: Vec<&str> = self.list.iter().map(|each| each.reference.as_str()).collect();
        match all.len() {
            0 => "none".to_owned(),
            count if count <= MOST_LISTED => all.join(", "),
            count => format!("{}, … ({count} in all)", all[..MOST_LISTED].join(", ")),
        }
    }

    /// One line an element: `3:a Button "Count 0"`, then its value, its states and what covers it.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.list.iter().map(Element::line).collect()
    }

    /// What changed since an earlier snapshot of the page: `~` for what has another name, value or
    /// state, `-` for what is gone (with its old reference), `+` for what is new, and the page's
    /// address and title. Where boxes lie is for the pixels to tell. Another document is told by
    /// its address, and all of its elements are new.
    #[must_use]
    pub fn changes_since(&self, before: &Self) -> Vec<String> {
        let mut lines = Vec::new();
        for (what, old, new) in
            [("url", &before.url, &self.url), ("title", &before.title, &self.title)]
        {
            if old != new {
                lines.push(format!("~ {what} {} → {}", quoted(old), quoted(new)));
            }
        }
        if before.document != self.document {
            lines.push("~ another document".to_owned());
            lines.extend(self.list.iter().map(|element| format!("+ {}", element.line())));
            return lines;
        }
        let known: HashMap<u64, &Element> =
            before.list.iter().map(|element| (element.identity, element)).collect();
        let left: HashMap<u64, &Element> =
            self.list.iter().map(|element| (element.identity, element)).collect();
        let kept = self.list.iter().filter_map(|now| now.change_since(known.get(&now.identity)?));
        lines.extend(kept);
        let gone = before.list.iter().filter(|each| !left.contains_key(&each.identity));
        lines.extend(gone.map(|element| format!("- {}", element.line())));
        let new = self.list.iter().filter(|each| !known.contains_key(&each.identity));
        lines.extend(new.map(|element| format!("+ {}", element.line())));
        if self.snapshot == before.snapshot + 1 {
            lines.extend(self.texts.iter().map(|line| Shown(line).to_string()));
        }
        lines
    }

    /// The smallest element in view at a pixel of the frame.
    #[must_use]
    pub fn at(&self, point: Point) -> Option<&Element> {
        let has_it = |element: &&Element| element.rect.is_some_and(|rect| rect.contains(point));
        let area = |element: &&Element| {
            element.rect.map_or(u64::MAX, |rect| u64::from(rect.width()) * u64::from(rect.height()))
        };
        self.list.iter().filter(has_it).min_by_key(area)
    }

    /// `frame`, a capture of the whole page, with every element in view outlined and numbered.
    /// Numbers stand beside their element where there is room, off other elements and off text.
    ///
    /// # Errors
    /// When memory for the picture runs out.
    #[cfg(feature = "pictures")]
    pub fn picture(&self, frame: &Frame) -> Result<Frame> {
        let boxes: Vec<(usize, Rect)> = self
            .list
            .iter()
            .filter_map(|element| Some((element.number, element.rect?)))
            .filter(|(_, rect)| frame.size().rect().contains_rect(*rect))
            .collect();
        numbered(frame.as_ref(), &boxes)
    }
}

/// How many references a message lists.
const MOST_LISTED: usize = 100;

impl Element {
    /// `3:b Textbox "Email" = "a@b.c" [readonly]`, and where it cannot be clicked, why.
    #[must_use]
    pub fn line(&self) -> String {
        let mut line = self.label();
        if let Some(value) = &self.value {
            line += &format!(" = {}", quoted(value));
        }
        if !self.states.is_empty() {
            line += &format!(" [{}]", Shown(&self.states.join(", ")));
        }
        match (&self.rect, &self.covered_by) {
            (None, _) => line += " (scrolled out of view)",
            (_, Some(cover)) => line += &format!(" (covered by {})", Shown(cover)),
            _ => {}
        }
        line
    }

    /// `3:b Textbox "Email"`.
    pub(crate) fn label(&self) -> String {
        format!("{} {} {}", self.reference, self.title_role(), quoted(&self.name))
    }

    fn title_role(&self) -> String {
        let mut letters = self.role.chars();
        let first = letters.next().map(char::to_uppercase);
        let all: String = first.into_iter().flatten().chain(letters).collect();
        Shown(&all).to_string()
    }

    /// Where both name the same element: what of it is otherwise.
    fn change_since(&self, before: &Self) -> Option<String> {
        let mut changes = Vec::new();
        let head = format!("~ {} {}", self.reference, self.title_role());
        let pair = |old: String, new: String| format!("{old} → {new}");
        let renamed = before.name != self.name;
        let name = match renamed {
            true => pair(quoted(&before.name), quoted(&self.name)),
            false => quoted(&self.name),
        };
        changes.push(name);
        if before.value != self.value {
            let told = |value: &Option<String>| quoted(value.as_deref().unwrap_or_default());
            changes.push(format!("= {}", pair(told(&before.value), told(&self.value))));
        }
        if before.states != self.states {
            let told = |states: &[String]| format!("[{}]", Shown(&states.join(", ")));
            changes.push(pair(told(&before.states), told(&self.states)));
        }
        let is_changed = renamed || changes.len() > 1;
        is_changed.then(|| format!("{head} {}", changes.join(" ")))
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", Shown(text))
}
