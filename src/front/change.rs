//! What changed, for outside: pictures in a folder, sentences that name them, JSON that lists them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

#[cfg(feature = "mcp")]
use crate::act::image_size;
use crate::error::Result;
use crate::frame::{Frame, FrameRef};
use crate::report::{
    ChangeReport, DiffOptions, Naming, Picture, Shot, Wording, diff_picture, pictures,
    whole_picture,
};
#[cfg(feature = "mcp")]
use crate::report::{Role, copy};

use super::pictures::{write_frames, write_pictures};
use super::wire;

/// How a change is shown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Showing<'a> {
    /// The folder pictures are written to; without it none are drawn.
    pub(crate) out: Option<&'a Path>,
    /// Also draw which pixels differ, by these options.
    pub(crate) diff: Option<&'a DiffOptions>,
    /// The whole frame after, instead of what changed in it: the page went elsewhere.
    pub(crate) whole: bool,
    /// For how long it was looked before nothing was found.
    pub(crate) within: Option<Duration>,
    /// A further picture for the folder, by its name.
    pub(crate) beside: Option<(&'a str, &'a Frame)>,
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
        Some(folder) => write(report, before, after, folder, showing)?,
        None => Vec::new(),
    };
    Ok(tell(report, &written, showing, Naming::Files))
}

/// Tells that nothing changed; the pictures an earlier run left in the folder go.
///
/// # Errors
/// When they cannot be removed.
pub(crate) fn show_same(report: &ChangeReport, showing: Showing<'_>) -> Result<Shown> {
    if let Some(folder) = showing.out {
        write_pictures(folder, &[])?;
    }
    Ok(tell(report, &[], showing, Naming::Files))
}

/// As [`show`], for somebody who gets the pictures with the words: they are called image 1,
/// image 2, … in their order, and none has an edge longer than `max_edge`.
///
/// # Errors
/// As [`show`].
#[cfg(feature = "mcp")]
pub(crate) fn show_inline(
    report: &ChangeReport,
    before: FrameRef<'_>,
    after: FrameRef<'_>,
    max_edge: u32,
    showing: Showing<'_>,
) -> Result<(Shown, Vec<Picture>)> {
    let drawn = draw(report, before, after, showing)?;
    let fitted = drawn.into_iter().map(|picture| fitted(picture, after, max_edge));
    let drawn = fitted.collect::<Result<Vec<_>>>()?;
    let paths = match showing.out {
        Some(folder) => write_pictures(folder, &drawn)?.into_iter().map(Some).collect(),
        None => vec![None; drawn.len()],
    };
    let written: Vec<Written> = drawn.iter().map(|picture| picture.shot).zip(paths).collect();
    Ok((tell(report, &written, showing, Naming::Images(1)), drawn))
}

/// The picture made smaller where it is too large. A whole frame gets the size of an observation's
/// image, so that points can be read from it.
#[cfg(feature = "mcp")]
#[expect(clippy::cast_precision_loss, reason = "edges stay below 2^24, where f32 is exact")]
fn fitted(picture: Picture, after: FrameRef<'_>, max_edge: u32) -> Result<Picture> {
    let Picture { mut shot, frame } = picture;
    let is_whole = shot.role == Role::Overview && !shot.is_marked;
    let source = if is_whole { after } else { frame.as_ref() };
    let size = image_size(source.size(), Some(max_edge));
    if size == frame.size() {
        return Ok(Picture { shot, frame });
    }
    let smaller = copy(source, size)?;
    shot.scale *= size.width() as f32 / frame.size().width() as f32;
    Ok(Picture { shot, frame: smaller })
}

/// A change of which these pictures were written, in words and as JSON.
pub(crate) fn tell(
    report: &ChangeReport,
    written: &[Written],
    showing: Showing<'_>,
    naming: Naming,
) -> Shown {
    let shots: Vec<Shot> = written.iter().map(|(shot, _)| *shot).collect();
    let mut wording = Wording::new().pictures(&shots, naming);
    if let Some(looked) = showing.within {
        wording = wording.within(looked);
    }
    let text = report.sentences_with(&wording);
    let json = wire::diff(report, &text, written);
    Shown { text, json }
}

/// A picture and where it lies.
pub(crate) type Written = (Shot, Option<PathBuf>);

fn write(
    report: &ChangeReport,
    before: FrameRef<'_>,
    after: FrameRef<'_>,
    folder: &Path,
    showing: Showing<'_>,
) -> Result<Vec<Written>> {
    let drawn = draw(report, before, after, showing)?;
    let beside = showing.beside.map(|(name, frame)| (name.to_owned(), frame));
    let named = drawn.iter().map(|picture| (picture.shot.file_name(), &picture.frame));
    let paths = write_frames(folder, &named.chain(beside).collect::<Vec<_>>())?;
    Ok(drawn.iter().map(|picture| picture.shot).zip(paths.into_iter().map(Some)).collect())
}

/// The pictures of `report` and, where it is asked for, one of which pixels differ.
///
/// # Errors
/// When the frames are not those of the report.
pub(crate) fn draw(
    report: &ChangeReport,
    before: FrameRef<'_>,
    after: FrameRef<'_>,
    showing: Showing<'_>,
) -> Result<Vec<Picture>> {
    if showing.whole {
        return Ok(vec![whole_picture(after)?]);
    }
    let mut drawn = pictures(report, before, after)?;
    if let Some(options) = showing.diff.filter(|_| shows_pixels(report) && !drawn.is_empty()) {
        drawn.push(diff_picture(before, after, options)?);
    }
    Ok(drawn)
}

/// Whether a picture of which pixels differ says more: of frames of two sizes the overview tells
/// all there is to see.
pub(crate) fn shows_pixels(report: &ChangeReport) -> bool {
    report.before == report.after
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
            let showing = Showing { out, diff, ..Showing::default() };
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
