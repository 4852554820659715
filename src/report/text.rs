//! The sentences of a report.

use super::{ChangeReport, Verdict};

impl ChangeReport {
    /// The answer in plain lines: one sentence, then one line an area.
    #[must_use]
    pub fn sentences(&self) -> String {
        match self.verdict {
            Verdict::Resized => format!("the size changed from {} to {}", self.before, self.after),
            Verdict::Same => "nothing changed".to_owned(),
            Verdict::Changed => format!("pixels changed in {} areas", self.areas.len()),
        }
    }
}
