//! Keys without a meaning of their own, lent to characters that the layout lacks.
//!
//! Only keys that mean nothing are lent: rewriting others disturbs programs that know them by their
//! number. A program looks up what a key means when it gets to the event, not when the key went
//! down, so before a key changes its meaning again the program is given time to read.
//!
//! What is lent is written down on the root window first. A process that was killed leaves the
//! note, and the next one that takes its turn makes those keys mean nothing again.

use std::time::Duration;

use x11rb::connection::SequenceNumber;
use x11rb::protocol::damage::{ConnectionExt as _, ReportLevel};
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask,
    PropMode,
};
use xkeysym::Keysym;

use crate::act::Loan;
use crate::error::Error;

use super::damage;
use super::focus;
use super::link::{Link, Trouble};
use super::windows::{self, Atoms};

/// A key is lent with and without shift.
const LEVELS: u8 = 2;

/// How long a program may take to answer a ping that comes after what was typed.
const PONG_LIMIT: Duration = Duration::from_millis(1500);

/// How long a program that answers none may take to show the first of what was typed, how long it
/// shows nothing more when it is done, and when it is no longer waited for.
const FIRST_DRAWN: Duration = Duration::from_millis(400);
const DRAWN_QUIET: Duration = Duration::from_millis(100);
const DRAWN_LIMIT: Duration = Duration::from_millis(1500);

/// A key and the symbol it is lent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lent {
    code: u8,
    symbol: u32,
    /// The symbol with shift; the same one unless it is the capital of the other.
    shifted: u32,
}

/// What is lent by this program, and how far it has been typed with.
#[derive(Default)]
pub(super) struct Lending {
    lent: Vec<Lent>,
    /// Tells what the program that gets the keys draws.
    damage: Option<u32>,
    /// The request that typed last.
    typed: Option<SequenceNumber>,
}

impl Lending {
    /// Takes note that a key went down.
    pub(super) fn note_typed(&mut self, link: &Link) {
        if !self.lent.is_empty() {
            self.typed = Some(link.checked());
        }
    }

    /// Lends keys, in place of those lent before.
    pub(super) fn lend(
        &mut self,
        link: &Link,
        atoms: &Atoms,
        loans: &[Loan],
    ) -> Result<(), Trouble> {
        self.until_read(link, atoms)?;
        let lent = loans.iter().map(lent).collect::<Result<Vec<_>, _>>()?;
        let freed = self.lent.iter().filter(|old| lent.iter().all(|new| new.code != old.code));
        let freed: Vec<Lent> = freed.copied().collect();
        // The note covers the old ones too, until they mean nothing again.
        note(link, atoms, &[&lent[..], &freed].concat())?;
        self.lent = [&lent[..], &freed].concat();
        set(link, freed.iter().map(|old| (old.code, [0, 0])))?;
        set(link, lent.iter().map(|new| (new.code, [new.symbol, new.shifted])))?;
        self.lent = lent;
        note(link, atoms, &self.lent)?;
        if self.damage.is_none() {
            self.damage = watch(link, atoms)?;
        }
        Ok(())
    }

    /// Makes what is lent mean nothing again.
    pub(super) fn take_back(&mut self, link: &Link, atoms: &Atoms) -> Result<(), Trouble> {
        if self.lent.is_empty() {
            return Ok(());
        }
        let read = self.until_read(link, atoms);
        if let Some(damage) = self.damage.take() {
            // With the window it watches it is gone too.
            link.conn.damage_destroy(damage)?.ignore_error();
        }
        free(link, atoms, &self.lent)?;
        self.lent.clear();
        read
    }

    /// The same for a display that does not answer: it does so when it runs again.
    pub(super) fn leave(&mut self, link: &Link, atoms: &Atoms) -> Result<(), Trouble> {
        for lent in &self.lent {
            let symbols = [0; LEVELS as usize];
            let changed = link.conn.change_keyboard_mapping(1, lent.code, LEVELS, &symbols)?;
            changed.ignore_error();
        }
        link.leave(link.conn.delete_property(link.root(), atoms._SEECHANGE_LENT_KEYS)?)
    }

    /// Whether anything may be lent.
    pub(super) fn is_empty(&self) -> bool {
        self.lent.is_empty()
    }

    /// Waits until the program that gets the keys has read what was typed.
    fn until_read(&mut self, link: &Link, atoms: &Atoms) -> Result<(), Trouble> {
        let Some(typed) = self.typed.take() else { return Ok(()) };
        let focused = link.reply(link.conn.get_input_focus()?)?.focus;
        let client = match focus::client(link, atoms, focused) {
            Ok(Some(client)) => client,
            // Nobody reads.
            Ok(None) | Err(Trouble::Refused(_)) => return Ok(()),
            Err(trouble) => return Err(trouble),
        };
        match ping(link, atoms, client) {
            Ok(true) | Err(Trouble::Refused(_)) => Ok(()),
            Ok(false) => self.until_drawn(link, typed),
            Err(trouble) => Err(trouble),
        }
    }

    /// Waits until something was drawn since `typed`, and nothing more for a while.
    fn until_drawn(&self, link: &Link, typed: SequenceNumber) -> Result<(), Trouble> {
        let Some(damage) = self.damage else {
            link.until_told(DRAWN_QUIET, || None::<()>)?;
            return Ok(());
        };
        let is_drawn = || {
            let mut drawn = link.take_drawn().into_iter();
            drawn.any(|drawn| drawn.damage == damage && drawn.sequence >= typed).then_some(())
        };
        let give_up = link.now() + DRAWN_LIMIT;
        let mut limit = FIRST_DRAWN;
        while link.now() < give_up && link.until_told(limit, is_drawn)?.is_some() {
            limit = DRAWN_QUIET;
        }
        Ok(())
    }
}

/// Makes keys mean nothing again that a process left lent which has ended.
pub(super) fn reclaim(link: &Link, atoms: &Atoms) -> Result<usize, Trouble> {
    let left = left_behind(link, atoms)?;
    if !left.is_empty() {
        free(link, atoms, &left)?;
    }
    Ok(left.len())
}

/// How many keys the note on the root window says are lent.
pub(super) fn noted(link: &Link, atoms: &Atoms) -> Result<usize, Trouble> {
    Ok(left_behind(link, atoms)?.len())
}

fn left_behind(link: &Link, atoms: &Atoms) -> Result<Vec<Lent>, Trouble> {
    let name = atoms._SEECHANGE_LENT_KEYS;
    let noted = windows::numbers(link, link.root(), name, AtomEnum::CARDINAL.into())?;
    let lent = noted.chunks_exact(3).filter_map(|entry| {
        let code = u8::try_from(entry[0]).ok()?;
        Some(Lent { code, symbol: entry[1], shifted: entry[2] })
    });
    Ok(lent.collect())
}

fn lent(loan: &Loan) -> Result<Lent, Trouble> {
    let code = u8::try_from(loan.stroke.key.0)
        .map_err(|_| Error::usage(format!("keycode {} is past 255", loan.stroke.key.0)))?;
    let symbol = Keysym::from_char(loan.character).raw();
    // With a shift the character is the small one, and a lock is on that makes capitals.
    let shifted = match loan.stroke.modifiers.is_empty() {
        true => symbol,
        false => super::keymap::capital(Keysym::new(symbol)).raw(),
    };
    Ok(Lent { code, symbol, shifted })
}

/// Writes down what is lent, before it is.
fn note(link: &Link, atoms: &Atoms, lent: &[Lent]) -> Result<(), Trouble> {
    let entries = lent.iter().flat_map(|each| [each.code.into(), each.symbol, each.shifted]);
    let numbers: Vec<u8> = entries.flat_map(u32::to_ne_bytes).collect();
    let length = u32::try_from(numbers.len() / 4).unwrap_or(u32::MAX);
    let (name, kind) = (atoms._SEECHANGE_LENT_KEYS, u32::from(AtomEnum::CARDINAL));
    let (mode, root) = (PropMode::REPLACE, link.root());
    link.check(link.conn.change_property(mode, root, name, kind, 32, length, &numbers)?)
}

/// Sets the symbols of keys, neighbours at once: each change is told to every program.
fn set(link: &Link, keys: impl Iterator<Item = (u8, [u32; 2])>) -> Result<(), Trouble> {
    let mut keys: Vec<_> = keys.collect();
    keys.sort_unstable();
    for run in keys.chunk_by(|one, next| one.0 + 1 == next.0) {
        let symbols: Vec<u32> = run.iter().flat_map(|(_, symbols)| *symbols).collect();
        let count = u8::try_from(run.len()).unwrap_or(u8::MAX);
        let changed = link.conn.change_keyboard_mapping(count, run[0].0, LEVELS, &symbols)?;
        link.check(changed)?;
    }
    Ok(())
}

/// Keys that bear something else by now, by another layout, are nobody's loan any more.
fn free(link: &Link, atoms: &Atoms, lent: &[Lent]) -> Result<(), Trouble> {
    let mut ours = Vec::new();
    for each in lent {
        let bears = link.reply(link.conn.get_keyboard_mapping(each.code, 1)?)?.keysyms;
        if bears.first() == Some(&each.symbol) {
            ours.push((each.code, [0, 0]));
        }
    }
    set(link, ours.into_iter())?;
    link.check(link.conn.delete_property(link.root(), atoms._SEECHANGE_LENT_KEYS)?)
}

/// Asks a program to answer, which it does once it has read all that came before. `false` when it
/// answers no such question, or not in time.
fn ping(link: &Link, atoms: &Atoms, client: u32) -> Result<bool, Trouble> {
    let protocols = windows::numbers(link, client, atoms.WM_PROTOCOLS, AtomEnum::ATOM.into())?;
    if !protocols.contains(&atoms._NET_WM_PING) {
        return Ok(false);
    }
    let time = link.server_time()?;
    hear(link, EventMask::SUBSTRUCTURE_NOTIFY)?;
    let answer = pong(link, atoms, client, time);
    hear(link, EventMask::NO_EVENT)?;
    answer
}

fn pong(link: &Link, atoms: &Atoms, client: u32, time: u32) -> Result<bool, Trouble> {
    let data = [atoms._NET_WM_PING, time, client, 0, 0];
    let message = ClientMessageEvent::new(32, client, atoms.WM_PROTOCOLS, data);
    link.check(link.conn.send_event(false, client, EventMask::NO_EVENT, message)?)?;
    let answer = link.until_told(PONG_LIMIT, || link.take_pong().filter(|pong| *pong == time))?;
    Ok(answer.is_some())
}

/// The answer is sent to the root window, where a window manager waits for it.
fn hear(link: &Link, mask: EventMask) -> Result<(), Trouble> {
    let look = ChangeWindowAttributesAux::new().event_mask(mask);
    link.check(link.conn.change_window_attributes(link.root(), &look)?)
}

/// Starts to be told what the program draws that gets the keys.
fn watch(link: &Link, atoms: &Atoms) -> Result<Option<u32>, Trouble> {
    let focused = link.reply(link.conn.get_input_focus()?)?.focus;
    let top = match focus::client(link, atoms, focused) {
        Ok(Some(client)) => windows::top_of(link, client),
        Ok(None) => return Ok(None),
        Err(trouble) => Err(trouble),
    };
    match top.and_then(|top| damage::create(link, top, ReportLevel::RAW_RECTANGLES)) {
        // It closed meanwhile.
        Err(Trouble::Refused(_)) => Ok(None),
        created => created,
    }
}
