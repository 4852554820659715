//! The simulated application: what it knows, and what input and time do to it.
//!
//! Everything here is a function of the events and their times. Nothing sleeps: what is due is
//! done when somebody looks or sends the next event.

use std::time::Duration;

use embedded_graphics::geometry::Point;

use super::field::Field;
use super::layout::{
    FIELD_ROOM, LINES_SHOWN, MAX_NOTES, MENU_BUTTON, ROW_HEIGHT, SAVE_BUTTON, Target,
    characters_before, menu_corner, menu_item, row, row_near, target_at,
};
use super::text::JOURNAL_LINES;

/// From the button's release to the first sign that it was noticed.
const SAVE_NOTICED: Duration = Duration::from_millis(80);

/// From the button's release to the answer.
const SAVE_TAKES: Duration = Duration::from_millis(600);

const TOAST_STAYS: Duration = Duration::from_millis(1500);
const CARET_HALF_PERIOD: Duration = Duration::from_millis(530);
const SPINNER_STEP: Duration = Duration::from_millis(80);

/// Two clicks are a double click when they come this close.
const DOUBLE_CLICK: Duration = Duration::from_millis(400);
const DOUBLE_CLICK_PX: i32 = 4;

/// A row is dragged once the pointer has left the place it was pressed at.
const DRAG_STARTS_PX: i32 = 4;

/// Lines a wheel detent scrolls.
const WHEEL_LINES: usize = 2;

/// The number the next saved note gets.
const FIRST_NUMBER: u32 = 42;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    /// Given when it is saved.
    pub(super) number: Option<u32>,
    pub(super) title: String,
}

/// What the left button went down on and still holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grip {
    Save,
    MenuItem(usize),
    Field,
    Stroke,
    Row { index: usize, at: Point, dragged: bool },
}

/// A row on its way: which note, and the top of the row under the pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dragged {
    pub(super) note: usize,
    pub(super) top: i32,
    pub(super) to: usize,
}

/// A message that goes away by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Toast {
    text: &'static str,
    from: Duration,
    until: Duration,
}

/// How the Save button stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Saving {
    Idle,
    Pressed,
    /// With the step its spinner is at.
    Busy(u8),
}

/// What time alone changes on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) caret_shown: bool,
    pub(super) saving: Saving,
    pub(super) toast: Option<&'static str>,
}

/// The modifiers that are down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Modifiers {
    pub(super) shift: bool,
    pub(super) ctrl: bool,
}

#[derive(Clone, Debug)]
pub(super) struct App {
    pub(super) field: Field,
    pub(super) focused: bool,
    pub(super) notes: Vec<Note>,
    pub(super) selected: usize,
    pub(super) strokes: Vec<Vec<Point>>,
    /// The first line of the journal shown.
    pub(super) scrolled: usize,
    /// The corner of the open menu.
    pub(super) menu: Option<Point>,
    pub(super) saved: Option<u32>,
    pub(super) pointer: Point,
    /// Grows with everything that may look different.
    pub(super) revision: u64,
    grip: Option<Grip>,
    next_number: u32,
    saving_since: Option<Duration>,
    toast: Option<Toast>,
    caret_since: Duration,
    last_press: Option<(Duration, Point, u32)>,
}

impl App {
    pub(super) fn new() -> Self {
        let note = |number, title: &str| Note { number: Some(number), title: title.to_owned() };
        Self {
            field: Field::default(),
            focused: false,
            notes: vec![
                note(41, "Groceries"),
                note(38, "Bicycle repair"),
                note(35, "Letters to answer"),
                note(29, "Garden plan"),
                note(17, "Recipes"),
            ],
            selected: 0,
            strokes: Vec::new(),
            scrolled: 0,
            menu: None,
            saved: None,
            pointer: Point::zero(),
            revision: 0,
            grip: None,
            next_number: FIRST_NUMBER,
            saving_since: None,
            toast: None,
            caret_since: Duration::ZERO,
            last_press: None,
        }
    }

    /// Does what is due at `now`: the answer to Save.
    pub(super) fn advance(&mut self, now: Duration) {
        if self.saving_since.take_if(|since| now >= *since + SAVE_TAKES).is_none() {
            return;
        }
        let number = self.next_number;
        self.next_number += 1;
        self.saved = Some(number);
        let title = self.field.text();
        if let Some(note) = self.notes.get_mut(self.selected) {
            note.number = Some(number);
            if !title.is_empty() {
                note.title = title;
            }
        }
        self.revision += 1;
    }

    /// What shows at `now` and would not have shown earlier, or will not later.
    pub(super) fn moment(&self, now: Duration) -> Moment {
        let blinks =
            now.saturating_sub(self.caret_since).as_millis() / CARET_HALF_PERIOD.as_millis();
        let shown = |toast: &Toast| toast.from <= now && now < toast.until;
        Moment {
            caret_shown: self.focused && blinks.is_multiple_of(2),
            saving: self.saving(now),
            toast: self.toast.filter(shown).map(|toast| toast.text),
        }
    }

    fn saving(&self, now: Duration) -> Saving {
        let held = self.grip == Some(Grip::Save) && SAVE_BUTTON.contains(self.pointer);
        let busy_for = self.saving_since.and_then(|since| now.checked_sub(since + SAVE_NOTICED));
        match busy_for {
            Some(busy_for) => {
                let step = busy_for.as_millis() / SPINNER_STEP.as_millis() % 8;
                Saving::Busy(u8::try_from(step).unwrap_or(0))
            }
            None if held => Saving::Pressed,
            None => Saving::Idle,
        }
    }

    /// The row on its way, once it is dragged.
    pub(super) fn dragged(&self) -> Option<Dragged> {
        let Some(Grip::Row { index, at, dragged: true }) = self.grip else { return None };
        let top = row(index).top_left.y + self.pointer.y - at.y;
        Some(Dragged { note: index, top, to: row_near(top + ROW_HEIGHT / 2, self.notes.len()) })
    }

    pub(super) fn pointer_moved(&mut self, to: Point) {
        self.pointer = to;
        self.revision += 1;
        match &mut self.grip {
            Some(Grip::Stroke) => {
                if let Some(stroke) = self.strokes.last_mut() {
                    stroke.push(to);
                }
            }
            Some(Grip::Field) => {
                let index = self.field.first_shown(FIELD_ROOM) + characters_before(to.x);
                self.field.move_to(index, true);
            }
            Some(Grip::Row { at, dragged, .. }) => {
                *dragged |= (to.y - at.y).abs() >= DRAG_STARTS_PX;
            }
            Some(Grip::Save | Grip::MenuItem(_)) | None => {}
        }
    }

    pub(super) fn left_pressed(&mut self, modifiers: Modifiers, now: Duration) {
        self.revision += 1;
        let clicks = self.count_click(now);
        let target = target_at(self.pointer, self.menu, self.notes.len());
        let was_open = self.menu.is_some();
        if let Target::MenuItem(index) = target {
            self.grip = Some(Grip::MenuItem(index));
            return;
        }
        self.menu = None;
        if was_open {
            // A press beside an open menu closes it and does nothing else.
            return;
        }
        if target != Target::Save {
            self.focused = target == Target::Field;
        }
        match target {
            Target::MenuButton => self.menu = Some(below_menu_button()),
            Target::Save => self.grip = Some(Grip::Save),
            Target::Field => self.press_field(clicks, modifiers, now),
            Target::Row(index) => self.press_row(index, clicks, now),
            Target::Sketch => {
                self.strokes.push(vec![self.pointer]);
                self.grip = Some(Grip::Stroke);
            }
            Target::Journal | Target::MenuItem(_) | Target::Nothing => {}
        }
    }

    pub(super) fn left_released(&mut self, now: Duration) {
        self.revision += 1;
        let dragged = self.dragged();
        match self.grip.take() {
            Some(Grip::Save) if SAVE_BUTTON.contains(self.pointer) => self.save(now),
            Some(Grip::MenuItem(index)) => self.choose(index, now),
            Some(Grip::Row { .. }) => {
                if let Some(Dragged { note, to, .. }) = dragged {
                    let note = self.notes.remove(note);
                    self.notes.insert(to, note);
                    self.selected = to;
                }
            }
            Some(Grip::Save | Grip::Field | Grip::Stroke) | None => {}
        }
    }

    /// The context menu, on a note.
    pub(super) fn right_pressed(&mut self) {
        self.revision += 1;
        self.menu = None;
        if let Target::Row(index) = target_at(self.pointer, None, self.notes.len()) {
            self.selected = index;
            self.menu = Some(menu_corner(self.pointer));
        }
    }

    /// One detent of the wheel.
    pub(super) fn wheel(&mut self, down: bool) {
        if target_at(self.pointer, self.menu, self.notes.len()) == Target::Journal {
            self.scroll(WHEEL_LINES, down);
        }
    }

    pub(super) fn key_pressed(
        &mut self,
        name: &str,
        typed: Option<char>,
        modifiers: Modifiers,
        now: Duration,
    ) {
        self.revision += 1;
        self.caret_since = now;
        match name {
            "escape" => {
                let was_open = self.menu.take().is_some();
                self.focused &= was_open;
            }
            "pageup" => self.scroll(LINES_SHOWN, false),
            "pagedown" => self.scroll(LINES_SHOWN, true),
            "tab" => self.focused = !self.focused,
            "s" if modifiers.ctrl => self.save(now),
            "return" if self.focused => self.save(now),
            _ if self.focused => self.edit(name, typed, modifiers),
            _ => {}
        }
    }

    fn edit(&mut self, name: &str, typed: Option<char>, modifiers: Modifiers) {
        let selecting = modifiers.shift;
        match (name, typed) {
            ("backspace", _) => self.field.backspace(),
            ("delete", _) => self.field.delete(),
            ("left", _) => self.field.left(selecting),
            ("right", _) => self.field.right(selecting),
            ("home", _) => self.field.move_to(0, selecting),
            ("end", _) => self.field.end(selecting),
            ("a", _) if modifiers.ctrl => self.field.select_all(),
            (_, Some(character)) if !modifiers.ctrl => self.field.insert(character),
            _ => {}
        }
    }

    fn count_click(&mut self, now: Duration) -> u32 {
        let at = self.pointer;
        let near = |other: Point| {
            let apart = (at - other).abs();
            apart.x <= DOUBLE_CLICK_PX && apart.y <= DOUBLE_CLICK_PX
        };
        let clicks = match self.last_press {
            Some((then, place, clicks)) if now - then <= DOUBLE_CLICK && near(place) => clicks + 1,
            _ => 1,
        };
        self.last_press = Some((now, at, clicks));
        clicks
    }

    fn press_field(&mut self, clicks: u32, modifiers: Modifiers, now: Duration) {
        self.caret_since = now;
        self.grip = Some(Grip::Field);
        let index = self.field.first_shown(FIELD_ROOM) + characters_before(self.pointer.x);
        match clicks {
            1 => self.field.move_to(index, modifiers.shift),
            2 => self.field.select_word(index),
            _ => self.field.select_all(),
        }
        if clicks > 1 {
            self.grip = None;
        }
    }

    fn press_row(&mut self, index: usize, clicks: u32, now: Duration) {
        self.selected = index;
        if clicks == 2 {
            self.field.set(&self.notes[index].title);
            self.focused = true;
            self.caret_since = now;
        } else {
            self.grip = Some(Grip::Row { index, at: self.pointer, dragged: false });
        }
    }

    fn save(&mut self, now: Duration) {
        if self.saving_since.is_some() {
            return;
        }
        self.saving_since = Some(now);
        self.saved = None;
        let noticed = now + SAVE_NOTICED;
        self.toast =
            Some(Toast { text: "Writing to disk", from: noticed, until: now + SAVE_TAKES });
    }

    fn choose(&mut self, pressed: usize, now: Duration) {
        let Some(corner) = self.menu else { return };
        if !menu_item(corner, pressed).contains(self.pointer) {
            return;
        }
        self.menu = None;
        match pressed {
            0 => self.add_note(0, Note { number: None, title: "Untitled".to_owned() }),
            1 => {
                if let Some(note) = self.notes.get(self.selected) {
                    let copy = Note { number: None, title: note.title.clone() };
                    self.add_note(self.selected + 1, copy);
                    let until = now + TOAST_STAYS;
                    self.toast = Some(Toast { text: "Note duplicated", from: now, until });
                }
            }
            _ => self.strokes.clear(),
        }
    }

    fn add_note(&mut self, index: usize, note: Note) {
        self.notes.insert(index, note);
        self.notes.truncate(MAX_NOTES);
        self.selected = index.min(self.notes.len() - 1);
    }

    fn scroll(&mut self, lines: usize, down: bool) {
        self.revision += 1;
        let last = JOURNAL_LINES.len().saturating_sub(LINES_SHOWN);
        self.scrolled = if down {
            (self.scrolled + lines).min(last)
        } else {
            self.scrolled.saturating_sub(lines)
        };
    }
}

fn below_menu_button() -> Point {
    MENU_BUTTON.top_left + Point::new(0, MENU_BUTTON.size.height.cast_signed() + 1)
}
