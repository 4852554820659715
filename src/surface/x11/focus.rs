//! Who gets the keys.

use x11rb::protocol::xproto::{ConnectionExt as _, InputFocus};

use crate::act::Focus;

use super::input;
use super::link::{Link, Trouble};
use super::windows::{self, Atoms, Window};

/// The last answer, which holds as long as the server names the same window.
#[derive(Default)]
pub(super) struct Known(Option<(u32, Focus)>);

impl Known {
    /// Who gets the keys now. `surface` is the window that should, `None` where any may.
    ///
    /// Programs pass the focus on among windows inside their own; what counts is whose it is.
    pub(super) fn ask(
        &mut self,
        link: &Link,
        atoms: &Atoms,
        surface: Option<u32>,
    ) -> Result<Focus, Trouble> {
        let window = link.reply(link.conn.get_input_focus()?)?.focus;
        if let Some((known, focus)) = &self.0
            && *known == window
        {
            return Ok(focus.clone());
        }
        let focus = match owner(link, atoms, window, surface) {
            // It closed meanwhile.
            Err(Trouble::Refused(_)) => Focus {
                id: window.into(),
                name: format!("{window:#x}, which is gone"),
                is_surface: false,
            },
            focus => focus?,
        };
        // Where the keys follow the pointer the answer changes with it.
        self.0 = (window != follows_pointer()).then(|| (window, focus.clone()));
        Ok(focus)
    }
}

fn owner(link: &Link, atoms: &Atoms, focused: u32, surface: Option<u32>) -> Result<Focus, Trouble> {
    let Some(client) = client(link, atoms, focused)? else {
        let name = "no window".to_owned();
        return Ok(Focus { id: 0, name, is_surface: surface.is_none() });
    };
    let is_surface = match surface {
        None => true,
        Some(window) => {
            windows::share_a_frame(link, client, window)?
                || windows::is_dialog_of(link, client, window)?
        }
    };
    let name = windows::named(link, atoms, client)?.to_string();
    Ok(Focus { id: client.into(), name, is_surface })
}

/// The program's window that gets the keys now.
pub(super) fn window(link: &Link, atoms: &Atoms) -> Result<Option<Window>, Trouble> {
    let focused = link.reply(link.conn.get_input_focus()?)?.focus;
    let client = client(link, atoms, focused)?;
    client.map(|client| windows::named(link, atoms, client)).transpose()
}

/// The program's window that gets the keys, `None` where nobody does.
pub(super) fn client(link: &Link, atoms: &Atoms, focused: u32) -> Result<Option<u32>, Trouble> {
    if focused == x11rb::NONE {
        return Ok(None);
    }
    if focused == follows_pointer() || focused == link.root() {
        let Some((x, y)) = input::place_of(&input::pointer(link)?) else { return Ok(None) };
        let (Ok(x), Ok(y)) = (i16::try_from(x), i16::try_from(y)) else { return Ok(None) };
        return Ok(windows::at(link, atoms, (x, y))?.map(|window| window.id));
    }
    windows::client_of(link, atoms, focused).map(Some)
}

fn follows_pointer() -> u32 {
    u32::from(u8::from(InputFocus::POINTER_ROOT))
}
