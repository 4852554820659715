//! `seechange capture`: one look, as a picture and its place.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use crate::error::{Error, Result};
use crate::frame::{Frame, write_png};
use crate::geometry::Rect;
use crate::wait::{Geometry, look};

use super::args::{OutputArgs, SurfaceArgs};
use super::output::Answer;

#[derive(Debug, Args)]
#[command(after_help = "With --out DIR the picture is DIR/capture.png: what matches, appears and \
                        gone can wait for.\n\nExit code: 0 captured, 2 trouble.")]
pub(super) struct CaptureArgs {
    #[command(flatten)]
    surface: SurfaceArgs,
    /// Capture only this part, without grabbing the rest.
    #[arg(long, value_name = "X,Y,W,H", allow_hyphen_values = true)]
    region: Option<Rect>,
    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn run(args: &CaptureArgs) -> Result<Answer> {
    let mut opened = args.surface.name()?.open()?;
    let clock = opened.clock.clone();
    let (geometry, frame) = look(opened.source(), args.region, &clock)?;
    let path = args.output.out.as_deref().map(|folder| write(folder, &frame)).transpose()?;
    Ok(answer(geometry, args.region, path.as_deref()))
}

fn write(folder: &Path, frame: &Frame) -> Result<PathBuf> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Error::io(format!("{}: cannot be made", folder.display()), error))?;
    let path = folder.join("capture.png");
    write_png(&path, frame)?;
    Ok(path)
}

fn answer(geometry: Geometry, region: Option<Rect>, path: Option<&Path>) -> Answer {
    let part = region.unwrap_or(geometry.size.rect());
    let (x, y) = geometry.origin;
    let wrote = path.map_or_else(
        || "; --out DIR writes the picture".to_owned(),
        |path| format!("; wrote {}", path.display()),
    );
    let text = format!(
        "captured {} of the {} surface at ({x}, {y}), scale {}{wrote}",
        part.size(),
        geometry.size,
        geometry.scale
    );
    let json = json!({
        "schema": "seechange.capture/1",
        "surface": {"width": geometry.size.width(), "height": geometry.size.height()},
        "scale": geometry.scale,
        "origin": {"x": x, "y": y},
        "region": {"x": part.x(), "y": part.y(), "width": part.width(), "height": part.height()},
        "path": path.map(|path| path.to_string_lossy()),
    });
    Answer { text, json, code: 0 }
}
