//! One program at a time sends input to a display.
//!
//! Whoever does owns a selection. The server takes it away with the connection, so a program that
//! was killed never keeps the others out.

use std::time::Duration;

use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, PropMode};

use crate::error::Shown;

use super::link::{Link, Trouble};
use super::windows::{self, Atoms};

/// Takes the turn; says who has it if that is somebody else.
pub(super) fn take(link: &Link, atoms: &Atoms) -> Result<Option<String>, Trouble> {
    loop {
        let (window, now) = (link.own_window()?, link.server_time()?);
        sign(link, atoms, window, now)?;
        // Between the look and the taking nobody else may come in. Should this program end there,
        // the server lets go of the grab.
        link.conn.grab_server()?.ignore_error();
        let taken = take_if_free(link, atoms, window, now);
        let ungrabbed = link.conn.ungrab_server()?;
        match taken {
            Err(Trouble::Stalled) => link.leave(ungrabbed)?,
            _ => link.check(ungrabbed)?,
        }
        let Some(owner) = taken? else { return Ok(None) };
        if let Some(owner) = owner_in_words(link, atoms, owner, now)? {
            return Ok(Some(owner));
        }
        // It ended just now, and its turn with it.
    }
}

/// Lets others have it; one who has taken it in the meantime keeps it.
pub(super) fn end(link: &Link, atoms: &Atoms) -> Result<(), Trouble> {
    if link.reply(link.conn.get_selection_owner(atoms._SEECHANGE_INPUT)?)?.owner
        != link.own_window()?
    {
        return Ok(());
    }
    let none = x11rb::NONE;
    link.check(link.conn.set_selection_owner(none, atoms._SEECHANGE_INPUT, x11rb::CURRENT_TIME)?)
}

/// Who has it now, in words; `None` when nobody else does.
pub(super) fn owner(link: &Link, atoms: &Atoms) -> Result<Option<String>, Trouble> {
    let owner = link.reply(link.conn.get_selection_owner(atoms._SEECHANGE_INPUT)?)?.owner;
    if owner == x11rb::NONE || owner == link.own_window()? {
        return Ok(None);
    }
    owner_in_words(link, atoms, owner, link.server_time()?)
}

/// Who this is, for those who find the turn taken.
fn sign(link: &Link, atoms: &Atoms, window: u32, now: u32) -> Result<(), Trouble> {
    let program = std::env::current_exe().ok();
    let program = program.as_ref().and_then(|path| path.file_name());
    let program = program.map_or_else(Default::default, |name| name.to_string_lossy());
    let mode = PropMode::REPLACE;
    let (name, utf8) = (atoms._NET_WM_NAME, atoms.UTF8_STRING);
    let length = u32::try_from(program.len()).unwrap_or(0);
    let named =
        link.conn.change_property(mode, window, name, utf8, 8, length, program.as_bytes())?;
    let mut numbers = [0; 8];
    numbers[..4].copy_from_slice(&std::process::id().to_ne_bytes());
    numbers[4..].copy_from_slice(&now.to_ne_bytes());
    let (name, kind) = (atoms._SEECHANGE_INPUT, u32::from(AtomEnum::CARDINAL));
    let signed = link.conn.change_property(mode, window, name, kind, 32, 2, &numbers)?;
    link.check(signed)?;
    link.check(named)
}

fn take_if_free(link: &Link, atoms: &Atoms, window: u32, now: u32) -> Result<Option<u32>, Trouble> {
    let owner = link.reply(link.conn.get_selection_owner(atoms._SEECHANGE_INPUT)?)?.owner;
    if owner != x11rb::NONE && owner != window {
        return Ok(Some(owner));
    }
    link.check(link.conn.set_selection_owner(window, atoms._SEECHANGE_INPUT, now)?)?;
    Ok(None)
}

/// `None` when it is gone by now.
fn owner_in_words(
    link: &Link,
    atoms: &Atoms,
    owner: u32,
    now: u32,
) -> Result<Option<String>, Trouble> {
    let signed = windows::numbers(link, owner, atoms._SEECHANGE_INPUT, AtomEnum::CARDINAL.into());
    let name = windows::bytes(link, owner, atoms._NET_WM_NAME, atoms.UTF8_STRING);
    let (signed, name) = match (signed, name) {
        (Err(Trouble::Refused(_)), _) | (_, Err(Trouble::Refused(_))) => return Ok(None),
        (signed, name) => (signed?, name?),
    };
    let [pid, since] = signed[..] else {
        return Ok(Some(format!("the program of window {owner:#x}")));
    };
    let name = String::from_utf8_lossy(&name);
    let since = Duration::from_millis(now.wrapping_sub(since).into()).as_secs_f64();
    Ok(Some(format!("pid {pid} ({}), for {since:.1} s", Shown(&name))))
}
