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
}

impl Dialog {
    pub(super) fn from_news(params: &Value) -> Self {
        let text = |name: &str| -> String {
            params[name].as_str().unwrap_or_default().chars().take(MAX_TEXT).collect()
        };
        Self { kind: text("type"), text: text("message"), suggestion: text("defaultPrompt") }
    }

    /// `alert "Saved"`.
    pub(super) fn in_words(&self) -> String {
        format!("{} \"{}\"", Shown(&self.kind), Shown(&self.text))
    }

    /// `a dialog is open: alert "Saved"; accept or dismiss it first`.
    pub(super) fn in_the_way(&self) -> String {
        format!("a dialog is open: {}; accept or dismiss it first", self.in_words())
    }
}
