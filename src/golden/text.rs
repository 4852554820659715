//! What a check says.

use std::fmt;
use std::path::Path;

use crate::report::{ChangeReport, Verdict};

use super::check::{Check, Difference, Written};
use super::ladder::AtTolerance;

impl Check {
    /// What a passing check has to say: that a golden was written.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        match self {
            Self::Written(written) => Some(format!("seechange: {written}")),
            _ => None,
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same(report) => f.write_str(&report.sentences()),
            Self::Written(written) => written.fmt(f),
            Self::Missing(difference) | Self::Differs(difference) => difference.fmt(f),
        }
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, golden, size, is_new } = self;
        let what = if *is_new { "was missing and is now" } else { "is replaced by" };
        let path = golden.display();
        write!(f, "golden '{name}' {what} {path} ({size}): look at it before you commit it")
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = vec![self.headline()];
        if let Some(report) = &self.report {
            lines.push(report.sentences());
            lines.extend(self.ladder(report));
        }
        lines.extend(self.files());
        lines.extend(self.how_to_accept());
        f.write_str(&lines.join("\n"))
    }
}

impl Difference {
    fn headline(&self) -> String {
        let Some(report) = &self.report else {
            return format!(
                "golden '{}' is missing, and none is written where goldens are only checked (CI is \
                 set, or SEECHANGE_UPDATE=0)",
                self.name
            );
        };
        if report.verdict == Verdict::Resized {
            return format!(
                "golden '{}' differs: it is {} and the picture {}",
                self.name, report.before, report.after
            );
        }
        format!(
            "golden '{}' differs: {} changed, {} may",
            self.name,
            pixels(changed(report)),
            self.max_changed_pixels
        )
    }

    /// Which other tolerance or budget would let it pass.
    fn ladder(&self, report: &ChangeReport) -> Vec<String> {
        if self.at_tolerances.is_empty() {
            return Vec::new();
        }
        let each: Vec<String> = self.at_tolerances.iter().map(rung).collect();
        vec![
            format!("Changed pixels at other tolerances: {}.", each.join(", ")),
            format!("It passes with a budget of {}.", pixels(changed(report))),
        ]
    }

    fn files(&self) -> Vec<String> {
        let line = |what: &str, path: &Path| format!("  {what} {}", path.display());
        let golden = self.report.as_ref().map(|_| line("golden", &self.golden));
        let new = self.new.as_deref().map(|path| line("new   ", path));
        let diff = self.diff.as_deref().map(|path| line("diff  ", path));
        let trouble = self.trouble.as_ref().map(|trouble| format!("  {trouble}"));
        [golden, new, diff, trouble].into_iter().flatten().collect()
    }

    /// The commands that make the picture golden.
    fn how_to_accept(&self) -> Vec<String> {
        let test = self.test.as_ref().map(|test| format!(" {test}")).unwrap_or_default();
        let set = if cfg!(windows) { "$env:SEECHANGE_UPDATE=1;" } else { "SEECHANGE_UPDATE=1" };
        let update = format!("  {set} cargo test{test}");
        let Some(_) = &self.new else {
            return vec!["If the picture is right:".to_owned(), update];
        };
        let name = self.accepted_as.strip_prefix(&self.folder).unwrap_or(&self.accepted_as);
        let accept = format!("  seechange accept {} {}", quoted(&self.folder), quoted(name));
        vec!["If the new picture is right, one of:".to_owned(), update, accept]
    }
}

/// A path as a shell takes it for one word.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-./\\:".contains(letter);
    match text.chars().all(is_plain) {
        true => text,
        false if cfg!(windows) => format!("\"{text}\""),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

fn changed(report: &ChangeReport) -> u64 {
    report.changed_pixels + report.moved_pixels()
}

fn rung(at: &AtTolerance) -> String {
    let passes = if at.passes { " (passes)" } else { "" };
    format!("{} {}{passes}", at.tolerance, at.changed_pixels)
}

fn pixels(count: u64) -> String {
    format!("{count} {}", if count == 1 { "pixel" } else { "pixels" })
}
