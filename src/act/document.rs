//! What a surface can do beside that knows its elements, such as a page in a browser.

use std::fmt;
use std::time::Duration;

use crate::error::{Result, Shown};
use crate::geometry::Point;

use super::element::ElementRef;
use super::elements::Elements;
use super::policy::Glob;
use super::refusal::Refusal;
use super::tab::{Tab, TabDeed};

/// A surface that knows its elements. Given by [`Driver::document`](super::Driver::document).
///
/// A refusal says why an element cannot be acted on and what to try; nothing was sent then. As with
/// a [`Driver`](super::Driver) no call may block for good.
pub trait Document {
    /// The name of the session, the same for as long as the surface is open.
    fn session(&self) -> &str;

    /// The elements there are now. References of earlier snapshots end.
    ///
    /// # Errors
    /// When the surface does not answer.
    fn elements(&mut self) -> Result<Elements>;

    /// Brings an element into view and says at which pixel of the frame it can be pressed: where it
    /// is visible, at rest, enabled and itself gets what is pressed. What is not so may become so
    /// for as long as `patience`.
    ///
    /// # Errors
    /// When the surface does not answer.
    fn aim(
        &mut self,
        element: &ElementRef,
        patience: Duration,
    ) -> Result<std::result::Result<Point, Refusal>>;

    /// Why the element would not get what is pressed at a pixel now, the pointer being there.
    ///
    /// # Errors
    /// When the surface does not answer.
    fn confirm(&mut self, element: &ElementRef, at: Point) -> Result<Option<Refusal>>;

    /// Brings an element to the middle of the view, as far as that goes.
    ///
    /// # Errors
    /// When the surface does not answer.
    fn scroll_to(&mut self, element: &ElementRef) -> Result<Option<Refusal>>;

    /// Replaces what is in a field, in one piece.
    ///
    /// # Errors
    /// When the surface does not answer, and the text may or may not have arrived.
    fn fill(&mut self, element: &ElementRef, text: &str) -> Result<Option<Refusal>>;

    /// Goes where a link leads, if it leads over http or https, without clicking it: nothing of the
    /// page that holds it runs.
    ///
    /// # Errors
    /// When the address does not answer.
    fn follow(&mut self, element: &ElementRef) -> Result<Option<Refusal>>;

    /// Goes to an address; says why not where that does not answer.
    ///
    /// # Errors
    /// When the surface is gone.
    fn go_to(&mut self, url: &str) -> Result<Option<Refusal>>;

    /// Goes to a tab, opens or closes one; says why not where that cannot be. Elements and
    /// references of the tab before are of no use then.
    ///
    /// # Errors
    /// When the surface is gone.
    fn tab(&mut self, deed: &TabDeed) -> Result<Option<Refusal>>;

    /// The tabs there are, in the order of their numbers; none where there is but one page ever.
    fn tabs(&mut self) -> Vec<Tab>;

    /// Why the current tab is gone while others can still be gone to, and how.
    fn lost_tab(&mut self) -> Option<String>;

    /// The dialog that is open, in words: `alert "Saved"`. While there is one nothing else answers.
    fn dialog(&mut self) -> Option<String>;

    /// Accepts or dismisses the dialog, and lets go of what its opening had kept pressed.
    ///
    /// # Errors
    /// When none is open, or the surface does not answer.
    fn handle_dialog(&mut self, accept: bool, text: Option<&str>) -> Result<()>;

    /// Whether it is on its way to another document.
    fn is_leaving(&mut self) -> bool;

    /// What happened beside its elements since this was last asked, in lines: tabs, downloads,
    /// errors of its scripts.
    fn news(&mut self) -> Vec<String>;

    /// From now on what [`Self::seek`] finds must be new: what these texts are part of now does not
    /// count any more.
    ///
    /// # Errors
    /// When the surface does not answer.
    fn mark(&mut self, sought: &[Sought]) -> Result<()>;

    /// Which of these are so now. Of a text, with `is_new`, whether it has appeared since
    /// [`Self::mark`], also for a moment.
    ///
    /// # Errors
    /// When the surface is gone. One that gives no answer in time shows nothing.
    fn seek(&mut self, sought: &[Sought], is_new: bool) -> Result<Vec<bool>>;
}

/// What can be waited for on such a surface beside its pixels.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Sought {
    /// A text is visible anywhere.
    Text(String),
    /// An element is visible.
    Visible(Which),
    /// An element is visible and enabled.
    Enabled(Which),
    /// An element or a text is not visible any more, or not there.
    Gone(Which),
    /// The address is such a one.
    Url(Glob),
}

/// Which element.
#[derive(Clone, Debug, PartialEq)]
pub enum Which {
    /// The one of a reference.
    Ref(ElementRef),
    /// Any of this name, and of this role where one is given.
    Named {
        /// All of it, in the case it is written.
        name: String,
        /// As in the elements' lines, in lower case.
        role: Option<String>,
    },
    /// Whatever shows this text.
    Text(String),
}

impl Sought {
    /// The condition's name in the action contract.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Visible(_) => "visible",
            Self::Enabled(_) => "enabled",
            Self::Gone(_) => "gone",
            Self::Url(_) => "url",
        }
    }
}

impl fmt::Display for Sought {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "text \"{}\"", Shown(text)),
            Self::Visible(which) | Self::Enabled(which) | Self::Gone(which) => {
                write!(f, "{} {which}", self.name())
            }
            Self::Url(glob) => write!(f, "url {}", Shown(&glob.to_string())),
        }
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ref(reference) => write!(f, "{reference}"),
            Self::Named { name, role: Some(role) } => {
                write!(f, "{} \"{}\"", Shown(role), Shown(name))
            }
            Self::Named { name, role: None } => write!(f, "\"{}\"", Shown(name)),
            Self::Text(text) => write!(f, "text \"{}\"", Shown(text)),
        }
    }
}
