//! What the executor needs of a surface: a way to put events in, and the truth about what is held.

use crate::error::Result;
use crate::geometry::Point;

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
    /// and what makes it stand alone. `None` when no key has the character.
    ///
    /// # Errors
    /// When the input system does not answer.
    fn strokes_for(&mut self, character: char) -> Result<Option<Vec<Stroke>>>;

    /// Why input at a pixel of the surface's frame would not reach the surface, and what to do:
    /// `0x2a "mail" covers it; move that window`. `None` when nothing stands in the way, which is
    /// so by default.
    ///
    /// # Errors
    /// When the input system does not answer.
    fn obstacle(&mut self, _point: Point) -> Result<Option<String>> {
        Ok(None)
    }

    /// Sends one event and returns when the input system has accepted it.
    ///
    /// # Errors
    /// When it was not accepted, or no answer came and it may or may not have been.
    fn send(&mut self, event: InputEvent) -> Result<()>;
}
