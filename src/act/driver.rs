//! What the executor needs of a surface: a way to put events in, and the truth about what is held.

use std::time::Duration;

use crate::error::{Error, Result};
use crate::geometry::Point;

use super::document::Document;

/// A pointer button.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Button {
    /// The left (primary) one.
    Left,
    /// The middle one.
    Middle,
    /// The right (secondary) one.
    Right,
}

impl Button {
    /// The name in the action contract: `left`, `middle` or `right`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Middle => "middle",
            Self::Right => "right",
        }
    }
}

/// A key by the driver's own number for it (on X11, the keycode).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyCode(pub u32);

/// One key and what is held with it: the modifiers are pressed around the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stroke {
    /// Held while the key is pressed, in this order.
    pub modifiers: Vec<KeyCode>,
    /// Pressed and released.
    pub key: KeyCode,
}

/// A character the layout has on no key, and the stroke that types it once a key without a meaning
/// of its own is lent to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loan {
    /// What it types.
    pub character: char,
    /// How, while the key of the stroke is lent.
    pub stroke: Stroke,
}

/// Who gets what the keyboard types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Focus {
    /// The input system's number for it: the same as long as nobody else gets the keys.
    pub id: u64,
    /// For messages: `0x2a "mail"`.
    pub name: String,
    /// Whether it is the surface or belongs to it.
    pub is_surface: bool,
}

/// One event, as small as the input system takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputEvent {
    /// Moves the pointer to a pixel of the surface's frame.
    Move(Point),
    /// Presses or releases a button.
    Button {
        /// Which one.
        button: Button,
        /// Pressed (`true`) or released.
        down: bool,
    },
    /// Presses or releases a key.
    Key {
        /// Which one.
        code: KeyCode,
        /// Pressed (`true`) or released.
        down: bool,
    },
    /// Turns the wheel by one detent, press and release of the wheel's button in one.
    Wheel(Wheel),
}

/// A direction the wheel turns: where the content's view moves to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wheel {
    /// Towards the top of the content.
    Up,
    /// Towards the bottom.
    Down,
    /// Towards the left.
    Left,
    /// Towards the right.
    Right,
}

/// What is pressed, by the input system's own account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Keys that are down.
    pub keys: Vec<KeyCode>,
    /// Buttons that are down.
    pub buttons: Vec<Button>,
}

impl Held {
    /// Whether nothing is pressed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.buttons.is_empty()
    }
}

/// What became of what was on the clipboard before a paste.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clipboard {
    /// Whether all of it is there again; so it is when there was nothing.
    pub restored: bool,
    /// What else is to be known: why it is not, or how long it stays.
    pub note: Option<String>,
}

/// Something that takes input.
///
/// No call may block for good: an input system that stops answering is an error within a few
/// seconds, so that the executor can try to let go of what it holds.
pub trait Driver {
    /// The name of the way input goes, for receipts: `xtest`, `demo`.
    fn route(&self) -> &'static str;

    /// What is pressed right now, asked of the input system, never of memory.
    ///
    /// # Errors
    /// When the input system does not answer.
    fn held(&mut self) -> Result<Held>;

    /// The key with a name of the action contract, in lower case: `a`, `7`, `return`, `f5`,
    /// `ctrl`, `shift`, `alt`, `super`. `None` when this keyboard has no such key.
    ///
    /// # Errors
    /// When the input system does not answer.
    fn key_named(&mut self, name: &str) -> Result<Option<KeyCode>>;

    /// A name for a key, for messages: `ctrl`, or `key 37` where it has none.
    fn key_name(&mut self, code: KeyCode) -> String;

    /// The strokes that type one character under the current layout, in order: one, or a dead key
    /// and what makes it stand alone. `None` when no key has the character; see [`Self::loans`].
    ///
    /// # Errors
    /// When the input system does not answer.
    fn strokes_for(&mut self, character: char) -> Result<Option<Vec<Stroke>>>;

    /// The keys that could be lent to `characters`, which the layout has on none: one each, for as
    /// many of the first as there are keys to spare. Changes nothing yet. A character that no key
    /// could ever type ends the list. By default there is no key to spare.
    ///
    /// # Errors
    /// When the input system does not answer.
    fn loans(&mut self, _characters: &[char]) -> Result<Vec<Loan>> {
        Ok(Vec::new())
    }

    /// Lends the keys of [`Self::loans`], in place of those lent before. Programs look up what a
    /// key means when they get to it, so what was typed before is given time to be read first.
    /// What this process leaves lent when it is killed can be told from the user's own keys.
    ///
    /// # Errors
    /// When the keys may not all be lent.
    fn lend_keys(&mut self, _loans: &[Loan]) -> Result<()> {
        Err(Error::surface("this input system has no keys to lend"))
    }

    /// Makes every lent key mean nothing again, once what was typed with them has been read.
    ///
    /// # Errors
    /// When one may still be lent.
    fn return_keys(&mut self) -> Result<()> {
        Ok(())
    }

    /// Whether there is a clipboard that a text can be pasted from. By default there is none.
    fn has_clipboard(&self) -> bool {
        false
    }

    /// Puts a text on the clipboard for the program that gets the keys now, and keeps what was there
    /// for [`Self::restore_clipboard`].
    ///
    /// # Errors
    /// When the text may not be there.
    fn offer_text(&mut self, _text: &str) -> Result<()> {
        Err(Error::surface("this surface has no clipboard"))
    }

    /// Waits until the program the text was offered for has it, at most until this instant of the
    /// surface's clock. Says whether it has. Others that read the clipboard do not count where they
    /// can be told apart.
    ///
    /// # Errors
    /// When that can no longer happen, such as when another program copied something meanwhile.
    fn text_taken(&mut self, _until: Duration) -> Result<bool> {
        Err(Error::surface("this surface has no clipboard"))
    }

    /// Puts back what was on the clipboard before [`Self::offer_text`].
    ///
    /// # Errors
    /// When the text may still be there.
    fn restore_clipboard(&mut self) -> Result<Clipboard> {
        Ok(Clipboard { restored: true, note: None })
    }

    /// Who gets the keys now; `None` where the surface itself always does, which is so by default.
    ///
    /// # Errors
    /// When the input system does not answer.
    fn focus(&mut self) -> Result<Option<Focus>> {
        Ok(None)
    }

    /// Makes this the one program that sends input, until [`Self::end_turn`] or the end of the
    /// process. Says who is the one now if that is somebody else: `pid 71 (seechange), for 3.2 s`.
    /// By default nobody else can be.
    ///
    /// # Errors
    /// When the input system does not answer.
    fn take_turn(&mut self) -> Result<Option<String>> {
        Ok(None)
    }

    /// Lets others send input again.
    ///
    /// # Errors
    /// When the input system does not answer.
    fn end_turn(&mut self) -> Result<()> {
        Ok(())
    }

    /// Why input at a pixel of the surface's frame would not reach the surface, and what to do:
    /// `0x2a "mail" covers it; move that window`. `None` when nothing stands in the way, which is
    /// so by default.
    ///
    /// # Errors
    /// When the input system does not answer.
    fn obstacle(&mut self, _point: Point) -> Result<Option<String>> {
        Ok(None)
    }

    /// The title of the window that takes the pointer's input at a pixel of the surface's frame,
    /// empty where there is none. `None` when the surface has no windows to tell apart, which is
    /// so by default; a policy about windows then allows no input.
    ///
    /// # Errors
    /// When the input system does not answer.
    fn window_at(&mut self, _point: Point) -> Result<Option<String>> {
        Ok(None)
    }

    /// The title of the window that takes the keys, as [`Self::window_at`] tells it.
    ///
    /// # Errors
    /// When the input system does not answer.
    fn window_with_focus(&mut self) -> Result<Option<String>> {
        Ok(None)
    }

    /// Where the pointer is, in pixels of the surface's frame and maybe outside it, by the input
    /// system's own account. `None` where that cannot be told, which is so by default.
    ///
    /// # Errors
    /// When the input system does not answer.
    fn pointer_at(&mut self) -> Result<Option<(i32, i32)>> {
        Ok(None)
    }

    /// What it can do beside, where it knows its elements; `None` by default.
    fn document(&mut self) -> Option<&mut dyn Document> {
        None
    }

    /// Sends one event and returns when the input system has accepted it.
    ///
    /// # Errors
    /// When it was not accepted, or no answer came and it may or may not have been.
    fn send(&mut self, event: InputEvent) -> Result<()>;
}
