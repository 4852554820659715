//! What a page asks in a window of its own: alert, confirm, prompt and beforeunload.

use serde_json::Value;

use crate::error::Shown;

/// The longest part of a dialog's text that is kept, in characters.
const MAX_TEXT: usize = 500;

/// A dialog that is open. Until it is accepted or dismissed the page neither answers nor is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialog {
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    pub kind: String,
    /// What it says, at most 500 characters of it.
    pub text: String,
    /// What a prompt suggests.
    pub suggestion: String,
    /// The number of the tab it is of, where that is not the one that is driven.
    pub tab: Option<u32>,
    /// The session of that tab.
    pub(super) session: Option<String>,
}

impl Dialog {
    pub(super) fn from_news(params: &Value, session: Option<&str>, tab: Option<u32>) -> Self {
        let text = |name: &str| -> String {
            params[name].as_str().unwrap_or_default().chars().take(MAX_TEXT).collect()
        };
        Self {
            kind: text("type"),
            text: text("message"),
            suggestion: text("defaultPrompt"),
            tab,
            session: session.map(str::to_owned),
        }
    }

    /// `alert "Saved"`, of another tab than the current one `alert "Saved" in tab 2`.
    pub(super) fn in_words(&self) -> String {
        let words = format!("{} \"{}\"", Shown(&self.kind), Shown(&self.text));
        self.tab.map_or(words.clone(), |tab| format!("{words} in tab {tab}"))
    }

    /// `a dialog is open: alert "Saved"; accept or dismiss it first`.
    pub(super) fn in_the_way(&self) -> String {
        format!("a dialog is open: {}; accept or dismiss it first", self.in_words())
    }
}
