//! What changed, for outside: pictures in a folder, sentences that name them, JSON that lists them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::error::Result;
use crate::frame::FrameRef;
use crate::report::{ChangeReport, DiffOptions, Naming, Shot, Wording, diff_picture, pictures};

use super::pictures::write_pictures;
use super::wire;

/// How a change is shown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Showing<'a> {
    /// The folder pictures are written to; without it none are drawn.
    pub(crate) out: Option<&'a Path>,
    /// Also draw which pixels differ, by these options.
    pub(crate) diff: Option<&'a DiffOptions>,
    /// For how long it was looked before nothing was found.
    pub(crate) within: Option<Duration>,
}

/// A change in words and as `seechange.diff/1`.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) text: String,
    pub(crate) json: Value,
}

/// Writes the pictures of `report` where `showing` says, and tells what changed.
///
/// # Errors
/// When the frames are not those of the report, or the pictures cannot be written.
pub(crate) fn show(
    report: &ChangeReport,
    before: FrameRef<'_>,
    after: FrameRef<'_>,
    showing: Showing<'_>,
) -> Result<Shown> {
    let written = match showing.out {
        Some(folder) => write(report, before, after, folder, showing.diff)?,
        None => Vec::new(),
    };
    Ok(tell(report, &written, showing))
}

/// Tells that nothing changed; the pictures an earlier run left in the folder go.
///
/// # Errors
/// When they cannot be removed.
pub(crate) fn show_same(report: &ChangeReport, showing: Showing<'_>) -> Result<Shown> {
    if let Some(folder) = showing.out {
        write_pictures(folder, &[])?;
    }
    Ok(tell(report, &[], showing))
}

fn tell(report: &ChangeReport, written: &[Written], showing: Showing<'_>) -> Shown {
    let shots: Vec<Shot> = written.iter().map(|(shot, _)| *shot).collect();
    let mut wording = Wording::new().pictures(&shots, Naming::Files);
    if let Some(looked) = showing.within {
        wording = wording.within(looked);
    }
    let text = report.sentences_with(&wording);
    let json = wire::diff(report, &text, written);
    Shown { text, json }
}

/// A picture and where it lies.
type Written = (Shot, Option<PathBuf>);

fn write(
    report: &ChangeReport,
    before: FrameRef<'_>,
    after: FrameRef<'_>,
    folder: &Path,
    diff: Option<&DiffOptions>,
) -> Result<Vec<Written>> {
    let mut drawn = pictures(report, before, after)?;
    // Of frames of two sizes the overview tells all there is to see.
    let comparable = !drawn.is_empty() && before.size() == after.size();
    if let Some(options) = diff.filter(|_| comparable) {
        drawn.push(diff_picture(before, after, options)?);
    }
    let paths = write_pictures(folder, &drawn)?;
    Ok(drawn.iter().map(|picture| picture.shot).zip(paths.into_iter().map(Some)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Frame, PixelFormat};
    use crate::geometry::Size;
    use crate::report::{Preset, compare};

    #[test]
    fn words_and_json_name_the_pictures_that_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let size = Size::new(200, 100).unwrap();
        let before = Frame::filled(size, PixelFormat::Rgba, [255, 255, 255, 255]);
        let mut after = before.clone();
        after.data_mut()[..4 * 40].fill(0);
        let options = DiffOptions::preset(Preset::Live);
        let report = compare(before.as_ref(), after.as_ref(), &options).unwrap();
        let told = |out, diff| {
            let showing = Showing { out, diff, within: None };
            show(&report, before.as_ref(), after.as_ref(), showing).unwrap()
        };
        let plain = "Pixels changed in 1 area (frame pixels; 0.2% of the frame):\n  \
                     1. x=0 y=0 w=40 h=1";
        let silent = told(None, Some(&options));
        assert_eq!(
            (silent.text.as_str(), silent.json["pictures"].as_array()),
            (plain, Some(&vec![]))
        );
        let shown = told(Some(folder.path()), Some(&options));
        assert_eq!(
            shown.text,
            "Pixels changed in 1 area (frame pixels; 0.2% of the frame); overview.png outlines and numbers it:
  1. x=0 y=0 w=40 h=1; area-1-before.png and area-1-after.png show x=0 y=0 w=52 h=13 before and after, enlarged 4x
Every pixel that differs: diff.png."
        );
        for picture in shown.json["pictures"].as_array().unwrap() {
            assert!(Path::new(picture["path"].as_str().unwrap()).is_file());
        }
        assert_eq!(shown.json["pictures"].as_array().unwrap().len(), 4);
    }
}
