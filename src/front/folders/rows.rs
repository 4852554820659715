//! One pair as a row of the report, with its pictures in the folder.

use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};
use crate::frame::{Frame, FrameRef, encode_png};
use crate::front::change::{Showing, Written, shows_pixels, tell};
use crate::front::wire::compare::{FileCopy, Files, Row, RowError};
use crate::golden::folders::{Compared, Loaded, Name, PairVerdict, Side};
use crate::report::{ChangeReport, DiffPicture, Naming, Role, Shot, pictures};

use super::ReportFolder;

/// Makes the rows of one report.
pub(crate) struct RowMaker<'a> {
    /// Where the pictures go; without it none are drawn.
    pub(crate) folder: Option<&'a ReportFolder>,
}

/// A pair as it is called, numbered and judged.
pub(crate) struct Judged<'a> {
    pub(crate) number: usize,
    pub(crate) name: &'a Name,
    pub(crate) rule: Option<&'a str>,
    pub(crate) allowed: &'a [PairVerdict],
}

impl RowMaker<'_> {
    /// The row of a pair, whose pictures are written.
    pub(crate) fn row(&self, judged: &Judged<'_>, mut compared: Compared<'_>) -> Row {
        let pictures = self.pictures(judged.number, &compared).unwrap_or_else(|error| {
            compared.verdict = PairVerdict::Unreadable;
            compared.error = Some((Side::Actual, error));
            Pictures::default()
        });
        let is_same = compared.verdict == PairVerdict::Same;
        // Of a golden picture that was copied it is known.
        let known = pictures.files.before.as_ref().map(|copy| copy.sha256.clone());
        let hash = || compared.golden_bytes.filter(|_| !is_same).map(sha256);
        let shown = compared
            .report
            .as_ref()
            .map(|report| tell(report, &pictures.drawn, Showing::default(), Naming::Files).json);
        Row {
            number: judged.number,
            path: judged.name.text(),
            path_bytes: judged.name.hex(),
            verdict: compared.verdict,
            allowed: judged.allowed.contains(&compared.verdict),
            identical_bytes: compared.is_identical,
            sentence: format!("{}{}", sentence(&compared), undrawn(&compared)),
            rule: judged.rule.map(str::to_owned),
            diff: shown,
            files: pictures.files,
            diff_picture: pictures.diff,
            golden_sha256: known.or_else(hash),
            error: compared.error.as_ref().map(row_error),
        }
    }

    fn pictures(&self, row: usize, compared: &Compared<'_>) -> Result<Pictures> {
        let Some(folder) = self.folder.filter(|_| compared.verdict != PairVerdict::Same) else {
            return Ok(Pictures::default());
        };
        let add = |name: &str, bytes: &[u8]| folder.add(row, name, bytes);
        let is_drawn = compared.undrawn.is_none();
        let files = Files {
            before: copied("before", compared.golden.as_ref(), is_drawn, &add)?,
            actual: copied("actual", compared.actual.as_ref(), is_drawn, &add)?,
        };
        let (mut written, mut diff): (Vec<Written>, _) = (Vec::new(), None);
        draw(compared, &mut |shot, png| {
            let Some(path) = add(&shot.file_name(), png) else { return };
            if shot.role == Role::Diff {
                diff = Some(path.clone());
            }
            written.push((shot, Some(PathBuf::from(path))));
        })?;
        Ok(Pictures { files, drawn: written, diff })
    }
}

/// What was written for a row.
#[derive(Default)]
struct Pictures {
    files: Files,
    drawn: Vec<Written>,
    diff: Option<String>,
}

fn copied(
    name: &str,
    loaded: Option<&Loaded<'_>>,
    is_drawn: bool,
    add: &dyn Fn(&str, &[u8]) -> Option<String>,
) -> Result<Option<FileCopy>> {
    let Some(loaded) = loaded else { return Ok(None) };
    let Some(path) = add(&format!("{name}.{}", loaded.file.extension()), loaded.bytes) else {
        return Ok(None);
    };
    let shown = match loaded.file.is_for_browsers() || !is_drawn {
        true => Some(path.clone()),
        false => add(&format!("{name}.png"), &as_png(loaded)?),
    };
    Ok(shown.map(|shown| FileCopy {
        path,
        shown,
        bytes: loaded.bytes.len() as u64,
        sha256: sha256(loaded.bytes),
        width: loaded.size.width(),
        height: loaded.size.height(),
    }))
}

fn as_png(loaded: &Loaded<'_>) -> Result<Vec<u8>> {
    match loaded.frame {
        Some(frame) => encode_png(frame),
        None => encode_png(&loaded.file.decode()?),
    }
}

/// Draws what changed, and tells `each` picture as a PNG file.
fn draw(compared: &Compared<'_>, each: &mut dyn FnMut(Shot, &[u8])) -> Result<()> {
    let (Some(report), Some(before), Some(after)) =
        (&compared.report, frame_of(&compared.golden), frame_of(&compared.actual))
    else {
        return Ok(());
    };
    if compared.undrawn.is_some() {
        return Ok(());
    }
    let drawn = pictures(report, before, after)?;
    for picture in &drawn {
        each(picture.shot, &encode_png(&picture.frame)?);
    }
    if let Some(differ) = compared.differ.filter(|_| shows_pixels(report) && !drawn.is_empty()) {
        let diff = DiffPicture::of(differ, report, before, after)?;
        each(DiffPicture::shot(report.after), &diff.png()?);
    }
    Ok(())
}

fn frame_of<'f>(side: &Option<Loaded<'f>>) -> Option<FrameRef<'f>> {
    side.as_ref()?.frame.map(Frame::as_ref)
}

fn sentence(compared: &Compared<'_>) -> String {
    let size = |side: &Option<Loaded<'_>>| {
        side.as_ref().map_or_else(String::new, |loaded| format!(" ({})", loaded.size))
    };
    match (compared.verdict, &compared.error, &compared.report) {
        (_, Some((side, error)), _) => {
            let error = error.to_string();
            // Most go on from the picture (`is empty`); others are about something else.
            let verbs = ["is", "has", "cannot", "declares", "takes"];
            let goes_on = error.split(' ').next().is_some_and(|word| verbs.contains(&word));
            let colon = if goes_on { "" } else { ":" };
            format!("The {} picture{colon} {error}.", side_word(*side))
        }
        (_, _, Some(_)) if compared.is_identical => "The files are the same.".to_owned(),
        (_, _, Some(report)) => first_line(report),
        (PairVerdict::Removed, ..) => {
            format!("There is no actual picture for the golden one{}.", size(&compared.golden))
        }
        _ => format!("There is no golden picture for the actual one{}.", size(&compared.actual)),
    }
}

/// What to know about pictures that are not there.
fn undrawn(compared: &Compared<'_>) -> String {
    use PairVerdict::{Same, Unreadable};
    let is_due = !matches!(compared.verdict, Same | Unreadable);
    let reason = compared.undrawn.as_ref().filter(|_| is_due);
    reason.map_or_else(String::new, |reason| {
        format!(" Its pictures are left out: they take {reason}.")
    })
}

/// What a report says in one line.
fn first_line(report: &ChangeReport) -> String {
    let text = report.sentences();
    let line = text.lines().next().unwrap_or_default();
    line.strip_suffix(':').map_or_else(|| line.to_owned(), |line| format!("{line}."))
}

const fn side_word(side: Side) -> &'static str {
    match side {
        Side::Golden => "golden",
        Side::Actual => "actual",
    }
}

fn row_error((side, error): &(Side, Error)) -> RowError {
    let side = match side {
        Side::Golden => "before",
        Side::Actual => "actual",
    };
    RowError {
        side: side.to_owned(),
        kind: error.kind().name().to_owned(),
        message: error.to_string(),
    }
}

/// In hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
