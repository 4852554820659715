//! The owner of the clipboard: answers who asks for what is on it, and saves what was.

use std::collections::HashMap;
use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, PropMode, Property,
    PropertyNotifyEvent, SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent,
};

use crate::act;
use crate::error::{Error, Result};

use super::super::link::{Link, Trouble};
use super::{Command, Offer, is_same_program};

/// How long saving what is there may take in all, and how much of it is saved.
const SAVE_LIMIT: Duration = Duration::from_secs(2);
const MOST_BYTES: usize = 32 << 20;
const MOST_TARGETS: usize = 64;

/// What is longer is given in pieces of this size, whole units of 32 bits.
const CHUNK: usize = 1 << 16;

/// For how long the program asks nothing more when it has the text: some read it more than once.
const QUIET: Duration = Duration::from_millis(150);
/// The same for a program that does not say when it has read an answer.
const UNSAID: Duration = Duration::from_millis(500);

/// How long a clipboard manager may take to save what is there when this program ends.
const MANAGER_LIMIT: Duration = Duration::from_secs(1);

/// A rest that only an event or a command ends.
const LONG: Duration = Duration::from_secs(3600);

x11rb::atom_manager! {
    Atoms: AtomsCookie {
        CLIPBOARD,
        CLIPBOARD_MANAGER,
        DELETE,
        INCR,
        INSERT_PROPERTY,
        INSERT_SELECTION,
        MULTIPLE,
        SAVE_TARGETS,
        TARGETS,
        TEXT,
        TIMESTAMP,
        UTF8_STRING,
        PLAIN: b"text/plain;charset=utf-8",
        HINT: b"x-kde-passwordManagerHint",
        _SEECHANGE_CLIPBOARD,
    }
}

/// What a program can be given: one of the kinds of it that it may ask for.
#[derive(Clone)]
struct Entry {
    target: u32,
    kind: u32,
    format: u8,
    data: Arc<[u8]>,
}

/// What is on a clipboard, and since when by the server's clock.
#[derive(Clone, Default)]
struct Contents {
    entries: Vec<Entry>,
    at: u32,
    /// Whether it is the text to be pasted.
    is_text: bool,
}

/// What was there before the text.
struct Kept {
    contents: Contents,
    is_whole: bool,
}

/// An answer that is being read.
struct Transfer {
    requestor: u32,
    property: u32,
    entry: Entry,
    /// How much was given; `None` when all was at once.
    given: Option<usize>,
    /// Whether it is the text, for the program it is for.
    is_paste: bool,
}

pub(super) struct Owner {
    link: Link,
    atoms: Atoms,
    window: u32,
    /// By selection: what this program answers with.
    owned: HashMap<u32, Contents>,
    kept: HashMap<u32, Kept>,
    transfers: Vec<Transfer>,
    offer: Option<Offer>,
    /// When the program that has the text will have asked nothing more for a while.
    taken_at: Option<Duration>,
    notified: Option<SelectionNotifyEvent>,
    /// A piece of what is being saved has come.
    has_piece: bool,
    written_at: Option<u32>,
}

impl Owner {
    pub(super) fn new(link: Link) -> Result<Self> {
        link.soon()?;
        let atoms =
            Atoms::new(&link.conn).map_err(Trouble::from)?.reply().map_err(Trouble::from)?;
        let window = link.own_window()?;
        Ok(Self {
            link,
            atoms,
            window,
            owned: HashMap::new(),
            kept: HashMap::new(),
            transfers: Vec::new(),
            offer: None,
            taken_at: None,
            notified: None,
            has_piece: false,
            written_at: None,
        })
    }

    /// Serves until it is told to stop, or the display is gone.
    pub(super) fn run(mut self, commands: &Receiver<Command>, waker: &UnixStream) {
        while self.serve(commands, waker).unwrap_or(false) {}
    }

    fn serve(&mut self, commands: &Receiver<Command>, waker: &UnixStream) -> Result<bool, Trouble> {
        let mut waker = waker;
        // Each byte stands for a command, which is looked for below whether there is one or not.
        let _woken = waker.read(&mut [0; 64]).unwrap_or(0);
        loop {
            match commands.try_recv() {
                Ok(Command::Offer(offer, reply)) => drop(reply.send(self.offer(offer))),
                Ok(Command::Restore(reply)) => drop(reply.send(self.restore())),
                Err(TryRecvError::Empty) => break,
                Ok(Command::Stop) | Err(TryRecvError::Disconnected) => {
                    self.hand_to_manager()?;
                    return Ok(false);
                }
            }
        }
        self.receive()?;
        self.tell_taken();
        let limit = self.taken_at.map_or(LONG, |at| at.saturating_sub(self.link.now()));
        self.link.listen_or(waker, limit)?;
        Ok(true)
    }

    fn selections(&self, with_primary: bool) -> Vec<u32> {
        let primary = with_primary.then_some(u32::from(AtomEnum::PRIMARY));
        [self.atoms.CLIPBOARD].into_iter().chain(primary).collect()
    }

    fn offer(&mut self, offer: Offer) -> Result<()> {
        let give_up = self.link.now() + SAVE_LIMIT;
        let selections = self.selections(offer.with_primary);
        for &selection in &selections {
            let kept = self.keep(selection, give_up)?;
            self.kept.insert(selection, kept);
        }
        let at = self.time()?;
        let text = self.text(&offer.text, at);
        (self.offer, self.taken_at) = (Some(offer), None);
        for selection in selections {
            self.own(selection, text.clone())?;
        }
        Ok(())
    }

    /// The kinds of text that programs ask for; one in Latin-1 only where it says all.
    fn text(&self, text: &str, at: u32) -> Contents {
        let Atoms { UTF8_STRING, PLAIN, TEXT, HINT, .. } = self.atoms;
        let string = u32::from(AtomEnum::STRING);
        let entry =
            |target, kind, data: &[u8]| Entry { target, kind, format: 8, data: data.into() };
        let bytes = text.as_bytes();
        let latin: Option<Vec<u8>> =
            text.chars().map(|letter| u8::try_from(u32::from(letter)).ok()).collect();
        let latin = latin.map(|bytes| entry(string, string, &bytes));
        let utf8 = [(UTF8_STRING, UTF8_STRING), (PLAIN, PLAIN), (TEXT, UTF8_STRING)];
        let utf8 = utf8.into_iter().map(|(target, kind)| entry(target, kind, bytes));
        // Clipboard managers that know it keep no copy.
        let entries = utf8.chain(latin).chain([entry(HINT, string, b"secret")]).collect();
        Contents { entries, at, is_text: true }
    }

    fn own(&mut self, selection: u32, contents: Contents) -> Result<(), Trouble> {
        self.link.soon()?;
        let at = contents.at;
        self.owned.insert(selection, contents);
        self.link.check(self.link.conn.set_selection_owner(self.window, selection, at)?)?;
        match self.is_owner(selection)? {
            true => Ok(()),
            false => Err(Error::surface("another program took the clipboard at once").into()),
        }
    }

    fn is_owner(&self, selection: u32) -> Result<bool, Trouble> {
        let owner = self.link.reply(self.link.conn.get_selection_owner(selection)?)?.owner;
        Ok(owner == self.window)
    }

    fn restore(&mut self) -> Result<act::Clipboard> {
        (self.offer, self.taken_at) = (None, None);
        self.receive()?;
        let mut restored = act::Clipboard { restored: true, note: None };
        let at = self.time()?;
        for selection in self.selections(true) {
            if let Some(kept) = self.kept.remove(&selection) {
                let note = self.put_back(selection, kept, at)?;
                // What the mouse has selected meanwhile is nobody's loss.
                if selection == self.atoms.CLIPBOARD {
                    restored = note;
                }
            }
        }
        Ok(restored)
    }

    fn put_back(&mut self, selection: u32, kept: Kept, at: u32) -> Result<act::Clipboard, Trouble> {
        let is_lost = |why: &str| act::Clipboard { restored: false, note: Some(why.to_owned()) };
        if !self.owned.contains_key(&selection) || !self.is_owner(selection)? {
            return Ok(is_lost("another program put something there meanwhile, which stays"));
        }
        if kept.contents.entries.is_empty() {
            self.owned.remove(&selection);
            let none = x11rb::NONE;
            self.link.check(self.link.conn.set_selection_owner(none, selection, at)?)?;
        } else {
            self.own(selection, Contents { at, is_text: false, ..kept.contents })?;
        }
        Ok(match (kept.is_whole, self.owned.contains_key(&selection)) {
            (false, _) => is_lost("the program it came from did not give all of it in time"),
            (true, false) => act::Clipboard { restored: true, note: None },
            (true, true) => {
                let note = match self.has_manager()? {
                    true => "kept by this program, then by the clipboard manager",
                    false => "kept by this program until it ends: no clipboard manager is there",
                };
                act::Clipboard { restored: true, note: Some(note.to_owned()) }
            }
        })
    }

    fn has_manager(&self) -> Result<bool, Trouble> {
        let asked = self.link.conn.get_selection_owner(self.atoms.CLIPBOARD_MANAGER)?;
        Ok(self.link.reply(asked)?.owner != x11rb::NONE)
    }

    /// What is on a selection now.
    fn keep(&mut self, selection: u32, give_up: Duration) -> Result<Kept, Trouble> {
        self.receive()?;
        self.link.soon()?;
        let owner = self.link.reply(self.link.conn.get_selection_owner(selection)?)?.owner;
        if let Some(contents) = self.owned.get(&selection).filter(|_| owner == self.window) {
            return Ok(Kept { contents: contents.clone(), is_whole: true });
        }
        if owner == x11rb::NONE {
            return Ok(Kept { contents: Contents::default(), is_whole: true });
        }
        self.save(selection, give_up)
    }

    fn save(&mut self, selection: u32, give_up: Duration) -> Result<Kept, Trouble> {
        let targets = self.targets(selection, give_up)?;
        let mut kept = Kept { contents: Contents::default(), is_whole: !targets.is_empty() };
        let mut left = MOST_BYTES;
        for target in targets {
            let is_full = kept.contents.entries.len() >= MOST_TARGETS;
            let got = if is_full { None } else { self.convert(selection, target, left, give_up)? };
            match got {
                Some(entry) => {
                    left -= entry.data.len();
                    kept.contents.entries.push(entry);
                }
                None => kept.is_whole = false,
            }
        }
        Ok(kept)
    }

    /// What can be asked for without an effect on the program that is asked.
    fn targets(&mut self, selection: u32, give_up: Duration) -> Result<Vec<u32>, Trouble> {
        let atoms = &self.atoms;
        let verbs = [
            atoms.TARGETS,
            atoms.TIMESTAMP,
            atoms.MULTIPLE,
            atoms.SAVE_TARGETS,
            atoms.DELETE,
            atoms.INSERT_PROPERTY,
            atoms.INSERT_SELECTION,
        ];
        let plain = vec![atoms.UTF8_STRING];
        let Some(entry) = self.convert(selection, atoms.TARGETS, MOST_BYTES, give_up)? else {
            return Ok(plain);
        };
        let words = entry.data.chunks_exact(4);
        let words = words.map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
        let mut targets: Vec<u32> = words.filter(|target| !verbs.contains(target)).collect();
        targets.sort_unstable();
        targets.dedup();
        Ok(targets)
    }

    /// One kind of what is on a selection, `None` when it is not given.
    fn convert(
        &mut self,
        selection: u32,
        target: u32,
        most: usize,
        give_up: Duration,
    ) -> Result<Option<Entry>, Trouble> {
        let (window, property) = (self.window, self.atoms._SEECHANGE_CLIPBOARD);
        let at = self.time()?;
        (self.notified, self.has_piece) = (None, false);
        let conn = &self.link.conn;
        self.link.check(conn.convert_selection(window, selection, target, property, at)?)?;
        let is_answer = |answer: &SelectionNotifyEvent| {
            (answer.selection, answer.target) == (selection, target)
        };
        self.pump(give_up, |owner| owner.notified.as_ref().is_some_and(is_answer))?;
        if self.notified.take().is_none_or(|answer| answer.property == x11rb::NONE) {
            return Ok(None);
        }
        self.has_piece = false;
        let Some(mut entry) = self.read(target, most)? else { return Ok(None) };
        if entry.kind == self.atoms.INCR {
            let Some(whole) = self.pieces(target, most, give_up)? else { return Ok(None) };
            entry = whole;
        }
        Ok(Some(entry).filter(|entry| !is_a_resource(entry.kind)))
    }

    fn pieces(
        &mut self,
        target: u32,
        most: usize,
        give_up: Duration,
    ) -> Result<Option<Entry>, Trouble> {
        let mut data = Vec::new();
        loop {
            if !self.pump(give_up, |owner| owner.has_piece)? {
                return Ok(None);
            }
            self.has_piece = false;
            let Some(piece) = self.read(target, most - data.len())? else { return Ok(None) };
            if piece.data.is_empty() {
                return Ok(Some(Entry { data: data.into(), ..piece }));
            }
            data.extend_from_slice(&piece.data);
        }
    }

    /// Reads and deletes what was put on this program's window, unless it is too long.
    fn read(&mut self, target: u32, most: usize) -> Result<Option<Entry>, Trouble> {
        let (window, property) = (self.window, self.atoms._SEECHANGE_CLIPBOARD);
        let words = u32::try_from(most.div_ceil(4)).unwrap_or(u32::MAX);
        let any = u32::from(AtomEnum::ANY);
        let asked = self.link.conn.get_property(true, window, property, any, 0, words)?;
        let got = self.link.reply(asked)?;
        if got.bytes_after > 0 || got.value.len() > most {
            self.link.check(self.link.conn.delete_property(window, property)?)?;
            return Ok(None);
        }
        let data = got.value.into();
        Ok(Some(Entry { target, kind: got.type_, format: got.format, data }))
    }

    /// The time by the server's clock.
    fn time(&mut self) -> Result<u32, Trouble> {
        self.link.soon()?;
        self.written_at = None;
        let (name, kind) = (u32::from(AtomEnum::WM_NAME), u32::from(AtomEnum::STRING));
        let (mode, window) = (PropMode::APPEND, self.window);
        let written = self.link.conn.change_property(mode, window, name, kind, 8, 0, &[])?;
        self.link.check(written)?;
        let give_up = self.link.now() + SAVE_LIMIT;
        self.pump(give_up, |owner| owner.written_at.is_some())?;
        self.written_at.ok_or(Trouble::Stalled)
    }

    /// Goes on answering until `is_done`, or until `give_up`; says which.
    fn pump(
        &mut self,
        give_up: Duration,
        is_done: impl Fn(&Self) -> bool,
    ) -> Result<bool, Trouble> {
        loop {
            self.receive()?;
            let left = give_up.saturating_sub(self.link.now());
            if is_done(self) || left.is_zero() {
                return Ok(is_done(self));
            }
            self.link.listen(left)?;
        }
    }

    fn receive(&mut self) -> Result<(), Trouble> {
        self.link.soon()?;
        while let Some(event) = self.link.conn.poll_for_event()? {
            match event {
                Event::SelectionRequest(request) => self.answer(&request)?,
                Event::SelectionClear(cleared) => self.clear(cleared.selection),
                Event::SelectionNotify(notice) => self.notified = Some(notice),
                Event::PropertyNotify(notice) => self.note(&notice)?,
                _ => {}
            }
        }
        Ok(self.link.conn.flush()?)
    }

    fn clear(&mut self, selection: u32) {
        let was = self.owned.remove(&selection);
        if was.is_some_and(|contents| contents.is_text)
            && selection == self.atoms.CLIPBOARD
            && self.taken_at.is_none()
            && let Some(offer) = self.offer.take()
        {
            let told = "another program put something on the clipboard before the text was pasted";
            offer.told.send(Err(Error::surface(told))).ok();
        }
    }

    fn answer(&mut self, request: &SelectionRequestEvent) -> Result<(), Trouble> {
        // Programs of old name no property and mean this one.
        let property =
            if request.property == x11rb::NONE { request.target } else { request.property };
        let is_given = self.give(request, property)?;
        let notice = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: request.time,
            requestor: request.requestor,
            selection: request.selection,
            target: request.target,
            property: if is_given { property } else { x11rb::NONE },
        };
        let sent =
            self.link.conn.send_event(false, request.requestor, EventMask::NO_EVENT, notice)?;
        // Whoever asked may be gone by now.
        sent.ignore_error();
        Ok(())
    }

    fn give(&mut self, request: &SelectionRequestEvent, property: u32) -> Result<bool, Trouble> {
        let Some(contents) = self.owned.get(&request.selection) else { return Ok(false) };
        let offer = self.offer.as_ref().filter(|_| contents.is_text);
        let is_pasting = offer.is_some_and(|offer| {
            let is_its = |window| is_same_program(&self.link, window, request.requestor);
            offer.windows.is_empty() || offer.windows.iter().copied().any(is_its)
        });
        if let Some(taken_at) = self.taken_at.as_mut().filter(|_| is_pasting) {
            // It reads on.
            *taken_at = (*taken_at).max(self.link.now() + QUIET);
        }
        let Some(entry) = self.entry(contents, request.target) else { return Ok(false) };
        let is_text = entry.target != self.atoms.TARGETS
            && entry.target != self.atoms.TIMESTAMP
            && entry.target != self.atoms.HINT;
        let is_paste = is_pasting && is_text;
        let requestor = request.requestor;
        let look = ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        // Never on this program's own window, which hears of its properties anyway.
        self.link.conn.change_window_attributes(requestor, &look)?.ignore_error();
        let is_long = entry.data.len() > CHUNK;
        match is_long {
            true => {
                let length = u32::try_from(entry.data.len()).unwrap_or(u32::MAX).to_ne_bytes();
                self.write(requestor, property, (self.atoms.INCR, 32), &length)?;
            }
            false => self.write(requestor, property, (entry.kind, entry.format), &entry.data)?,
        }
        if is_paste && !is_long {
            self.taken_at = Some(self.link.now() + UNSAID);
        }
        self.transfers.retain(|other| (other.requestor, other.property) != (requestor, property));
        let given = is_long.then_some(0);
        self.transfers.push(Transfer { requestor, property, entry, given, is_paste });
        Ok(true)
    }

    fn entry(&self, contents: &Contents, target: u32) -> Option<Entry> {
        let words = |kind: AtomEnum, words: Vec<u32>| {
            let data: Vec<u8> = words.into_iter().flat_map(u32::to_ne_bytes).collect();
            Some(Entry { target, kind: kind.into(), format: 32, data: data.into() })
        };
        if target == self.atoms.TIMESTAMP {
            return words(AtomEnum::INTEGER, vec![contents.at]);
        }
        if target == self.atoms.TARGETS {
            let own = [self.atoms.TARGETS, self.atoms.TIMESTAMP];
            let all = own.into_iter().chain(contents.entries.iter().map(|entry| entry.target));
            return words(AtomEnum::ATOM, all.collect());
        }
        contents.entries.iter().find(|entry| entry.target == target).cloned()
    }

    fn write(
        &self,
        window: u32,
        property: u32,
        (kind, format): (u32, u8),
        data: &[u8],
    ) -> Result<(), Trouble> {
        let unit = usize::from(format.max(8) / 8);
        let length = u32::try_from(data.len() / unit).unwrap_or(0);
        let mode = PropMode::REPLACE;
        let conn = &self.link.conn;
        let format = format.max(8);
        conn.change_property(mode, window, property, kind, format, length, data)?.ignore_error();
        Ok(())
    }

    fn note(&mut self, notice: &PropertyNotifyEvent) -> Result<(), Trouble> {
        if notice.window == self.window {
            let is_new = notice.state == Property::NEW_VALUE;
            self.has_piece |= is_new && notice.atom == self.atoms._SEECHANGE_CLIPBOARD;
            if notice.atom == u32::from(AtomEnum::WM_NAME) {
                self.written_at = Some(notice.time);
            }
            return Ok(());
        }
        let read = (notice.window, notice.atom);
        let found = self.transfers.iter().position(|each| (each.requestor, each.property) == read);
        match found.filter(|_| notice.state == Property::DELETE) {
            Some(found) => self.go_on(found),
            None => Ok(()),
        }
    }

    /// An answer was read: the next piece, an empty one at the end, or nothing more.
    fn go_on(&mut self, found: usize) -> Result<(), Trouble> {
        let mut transfer = self.transfers.swap_remove(found);
        let length = transfer.entry.data.len();
        match transfer.given {
            Some(given) if given <= length => {
                let piece = given..(given + CHUNK).min(length);
                // Past the end stands for the empty piece that ends it.
                let next = if piece.is_empty() { length + 1 } else { piece.end };
                let how = (transfer.entry.kind, transfer.entry.format);
                let data = &transfer.entry.data[piece];
                self.write(transfer.requestor, transfer.property, how, data)?;
                transfer.given = Some(next);
                self.transfers.push(transfer);
            }
            _ if transfer.is_paste => self.taken_at = Some(self.link.now() + QUIET),
            _ => {}
        }
        Ok(())
    }

    fn tell_taken(&mut self) {
        if self.taken_at.is_some_and(|at| at <= self.link.now()) {
            self.taken_at = None;
            if let Some(offer) = &self.offer {
                offer.told.send(Ok(())).ok();
            }
        }
    }

    /// Asks a clipboard manager, if there is one, to save what is there.
    fn hand_to_manager(&mut self) -> Result<(), Trouble> {
        self.receive()?;
        let (manager, save) = (self.atoms.CLIPBOARD_MANAGER, self.atoms.SAVE_TARGETS);
        if !self.owned.contains_key(&self.atoms.CLIPBOARD) || !self.has_manager()? {
            return Ok(());
        }
        let give_up = self.link.now() + MANAGER_LIMIT;
        self.convert(manager, save, MOST_BYTES, give_up).map(drop)
    }
}

/// What stands for something in the program that gave it, and is nothing without that.
fn is_a_resource(kind: u32) -> bool {
    let kinds = [
        AtomEnum::PIXMAP,
        AtomEnum::BITMAP,
        AtomEnum::DRAWABLE,
        AtomEnum::COLORMAP,
        AtomEnum::CURSOR,
        AtomEnum::FONT,
        AtomEnum::WINDOW,
    ];
    kinds.into_iter().any(|resource| u32::from(resource) == kind)
}
