//! Is a reference there?

use crate::error::{Error, Result};
use crate::frame::Frame;
use crate::geometry::{Rect, Size};
use crate::report::{DiffOptions, Differ, Verdict};

use super::search::Template;

/// How a reference is looked for.
#[derive(Debug)]
enum How {
    /// As large as the scope: compared where it is.
    InPlace { reference: Frame, differ: Box<Differ> },
    /// Smaller: searched inside the scope, with all rules about noise, so that a caret blinking
    /// over it does not make it go away.
    Search { template: Box<Template>, regions: Vec<Rect>, ignored: Vec<Rect> },
}

/// A reference, and where it was in the last look.
#[derive(Debug)]
pub(super) struct Presence {
    how: How,
    place: Option<Rect>,
    differing: u64,
}

impl Presence {
    /// Compared in place: the reference is as large as the surface or as the captured part.
    pub(super) fn in_place(
        reference: &Frame,
        size: Size,
        bounds: Rect,
        options: DiffOptions,
    ) -> Result<Self> {
        let reference = if reference.size() == bounds.size() {
            reference.clone()
        } else if reference.size() == size {
            reference.crop(bounds)?
        } else {
            return Err(Error::impossible(format!(
                "a reference of {} cannot match a region of {}: both must have one size, or use \
                 `appears` to find it anywhere inside",
                reference.size(),
                bounds.size()
            )));
        };
        Ok(Self::of(How::InPlace {
            reference,
            differ: Box::new(Differ::new(options.moved(false))),
        }))
    }

    /// Searched inside the scope of `options`, which is relative to the captured part.
    pub(super) fn anywhere(reference: &Frame, bounds: Rect, options: &DiffOptions) -> Result<Self> {
        let (size, within) = (reference.size(), bounds.size());
        if size.width() > within.width() || size.height() > within.height() {
            return Err(Error::impossible(format!(
                "a reference of {size} is larger than the region of {within} it is looked for in"
            )));
        }
        if size == within {
            return Self::in_place(reference, within, bounds, options.clone());
        }
        let scope = options.scope_in_force();
        let template = Template::new(reference.clone(), options)?;
        Ok(Self::of(How::Search {
            template: Box::new(template),
            regions: scope.regions().to_vec(),
            ignored: scope.ignored().to_vec(),
        }))
    }

    const fn of(how: How) -> Self {
        Self { how, place: None, differing: 0 }
    }

    /// Where the reference is in `frame`.
    pub(super) fn look(&mut self, frame: &Frame) -> Result<Option<Rect>> {
        self.place = match &mut self.how {
            How::InPlace { reference, differ } => {
                let report = differ.compare(reference.as_ref(), frame.as_ref())?;
                self.differing = report.changed_pixels;
                (report.verdict == Verdict::Same).then(|| frame.size().rect())
            }
            How::Search { template, regions, ignored } => {
                template.find(frame, regions, ignored, self.place)?
            }
        };
        Ok(self.place)
    }

    /// Where it was in the last look.
    pub(super) const fn place(&self) -> Option<Rect> {
        self.place
    }

    /// How many pixels differed when it was last compared in place; `None` for a search.
    pub(super) const fn differing(&self) -> Option<u64> {
        match self.how {
            How::InPlace { .. } => Some(self.differing),
            How::Search { .. } => None,
        }
    }
}
