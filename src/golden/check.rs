//! One picture against its golden.

use std::panic::Location;
use std::path::PathBuf;

use crate::diff::Scope;
use crate::error::Result;
use crate::frame::{Frame, IntoFrame};
use crate::geometry::Size;
use crate::report::{ChangeReport, DiffOptions, Verdict, compare, diff_picture};

use super::ladder::{self, AtTolerance};
use super::options::GoldenOptions;
use super::place::{Place, about};
use super::update::Update;
use super::{claims, store};

/// The answer of a check; shown, it is what a failing test says.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Check {
    /// The picture equals the golden.
    Same(ChangeReport),
    /// The golden was written.
    Written(Written),
    /// There is no golden, and none may be written.
    Missing(Box<Difference>),
    /// The picture is another one.
    Differs(Box<Difference>),
}

/// A golden that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// Its name.
    pub name: String,
    /// Its file.
    pub golden: PathBuf,
    /// Its size.
    pub size: Size,
    /// Whether there was none before.
    pub is_new: bool,
}

/// A picture that is not the golden one, with the files that show it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Difference {
    /// The name of the golden.
    pub name: String,
    /// What changed; `None` where there is no golden.
    pub report: Option<ChangeReport>,
    /// How many pixels may change.
    pub max_changed_pixels: u64,
    /// What would change at other tolerances; nothing where the sizes differ.
    pub at_tolerances: Vec<AtTolerance>,
    /// The size of the picture.
    pub size: Size,
    /// The folder of the goldens.
    pub folder: PathBuf,
    /// The file of the golden.
    pub golden: PathBuf,
    /// Where accepting the picture puts it: over the golden, or beside it for this platform.
    pub accepted_as: PathBuf,
    /// The picture, `NAME.new.png`, where it could be written.
    pub new: Option<PathBuf>,
    /// Which pixels differ, `NAME.diff.png`, where it could be written.
    pub diff: Option<PathBuf>,
    /// Why one of the two could not be written.
    pub trouble: Option<String>,
    /// The test that failed, where its thread has its name.
    pub test: Option<String>,
}

impl Check {
    /// Whether the test may go on: the picture equals the golden, or became it.
    #[must_use]
    pub const fn passes(&self) -> bool {
        matches!(self, Self::Same(_) | Self::Written(_))
    }
}

/// Checks a picture against the golden `name`, writes the golden where that is asked for, and leaves
/// pictures beside it where the two differ. [`assert_golden!`](crate::assert_golden) is this and a
/// panic.
///
/// ```
/// use seechange::golden::{Check, GoldenOptions, Update, check_golden};
/// use seechange::{Frame, PixelFormat, Size};
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// let white = Frame::filled(Size::new(64, 48)?, PixelFormat::Rgba, [255; 4]);
/// let options = GoldenOptions::new().folder(folder).update(Update::Missing);
/// assert!(matches!(check_golden("page", &white, &options)?, Check::Written(_)));
/// assert!(matches!(check_golden("page", &white, &options)?, Check::Same(_)));
///
/// let mut spotted = white.clone();
/// spotted.data_mut()[..40].fill(0); // ten pixels
/// let check = check_golden("page", spotted, &options)?;
/// assert!(!check.passes() && folder.join("page.diff.png").exists());
/// assert!(check.to_string().starts_with("golden 'page' differs: 10 pixels changed, 0 may"));
/// # Ok::<(), seechange::Error>(())
/// ```
///
/// # Errors
/// When the name would leave the folder, another test checks the same golden, `SEECHANGE_UPDATE` is
/// not understood, the picture is none, the golden cannot be read or written, and when the scope
/// does not fit the picture.
#[track_caller]
pub fn check_golden(
    name: impl AsRef<str>,
    picture: impl IntoFrame,
    options: &GoldenOptions,
) -> Result<Check> {
    let (name, at) = (name.as_ref(), Location::caller());
    let place = Place::find(name, options)?;
    claims::claim(&place.written, at)
        .and_then(|()| picture.into_frame())
        .and_then(|picture| Checking { name, options, place, picture }.run())
        .map_err(about(name))
}

struct Checking<'a> {
    name: &'a str,
    options: &'a GoldenOptions,
    place: Place,
    picture: Frame,
}

impl Checking<'_> {
    fn run(self) -> Result<Check> {
        let update = self.options.update_in_force().map_or_else(Update::from_env, Ok)?;
        if update == Update::All {
            return self.write();
        }
        match store::read(&self.place.compared)? {
            None if update == Update::Never => self.missing(),
            None => self.write(),
            Some(golden) => self.compare(&golden, update),
        }
    }

    fn compare(self, golden: &Frame, update: Update) -> Result<Check> {
        let report = compare(golden.as_ref(), self.picture.as_ref(), self.options.diff_in_force())?;
        match report.verdict {
            Verdict::Same => {
                self.clear()?;
                Ok(Check::Same(report))
            }
            _ if update == Update::Differing => self.write(),
            _ => self.differs(golden, report).map(Box::new).map(Check::Differs),
        }
    }

    fn write(self) -> Result<Check> {
        let is_new = !store::stands(&self.place.written)?;
        store::write(&self.place.written, &self.picture)?;
        self.clear()?;
        let size = self.picture.size();
        let (name, golden) = (self.name.to_owned(), self.place.written);
        Ok(Check::Written(Written { name, golden, size, is_new }))
    }

    /// Removes what an earlier failure left.
    fn clear(&self) -> Result<()> {
        store::remove(&self.place.new)?;
        store::remove(&self.place.diff)
    }

    fn missing(self) -> Result<Check> {
        let mut difference = self.difference(None, Vec::new());
        difference.keep_new(&self.place, &self.picture);
        Ok(Check::Missing(Box::new(difference)))
    }

    fn differs(self, golden: &Frame, report: ChangeReport) -> Result<Difference> {
        let (before, after) = (golden.as_ref(), self.picture.as_ref());
        let diff = self.options.diff_in_force();
        let at_tolerances = match report.verdict {
            Verdict::Resized => Vec::new(),
            _ => ladder::at_others(before, after, diff)?,
        };
        let mut difference = self.difference(Some(report), at_tolerances);
        difference.keep_new(&self.place, &self.picture);
        difference.keep_diff(&self.place, &picture_of(golden, &self.picture, diff)?);
        Ok(difference)
    }

    fn difference(
        &self,
        report: Option<ChangeReport>,
        at_tolerances: Vec<AtTolerance>,
    ) -> Difference {
        Difference {
            name: self.name.to_owned(),
            report,
            max_changed_pixels: self.options.diff_in_force().max_changed_pixels_in_force(),
            at_tolerances,
            size: self.picture.size(),
            folder: self.place.folder.clone(),
            golden: self.place.compared.clone(),
            accepted_as: self.place.written.clone(),
            new: None,
            diff: None,
            trouble: None,
            test: claims::test_name(),
        }
    }
}

impl Difference {
    fn keep_new(&mut self, place: &Place, picture: &Frame) {
        match store::write(&place.new, picture) {
            Ok(()) => self.new = Some(place.new.clone()),
            Err(error) => self.trouble = Some(error.to_string()),
        }
    }

    fn keep_diff(&mut self, place: &Place, picture: &Frame) {
        match store::write(&place.diff, picture) {
            Ok(()) => self.diff = Some(place.diff.clone()),
            Err(error) => {
                self.trouble.get_or_insert(error.to_string());
            }
        }
    }
}

/// Where the two differ. A scope for pictures of another size tells nothing of this one.
fn picture_of(golden: &Frame, picture: &Frame, options: &DiffOptions) -> Result<Frame> {
    let (before, after) = (golden.as_ref(), picture.as_ref());
    let drawn = match diff_picture(before, after, options) {
        Err(_) if golden.size() != picture.size() => {
            diff_picture(before, after, &options.clone().scope(Scope::everything()))
        }
        drawn => drawn,
    };
    Ok(drawn?.frame)
}

#[cfg(test)]
mod tests;
