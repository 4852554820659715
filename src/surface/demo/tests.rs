//! The simulated application as a user meets it: events in, pixels out.

use super::*;
use crate::report::{ChangeReport, DiffOptions, Preset, compare};

/// Somebody at the keyboard, with the frame they last looked at.
struct User {
    demo: Demo,
    clock: Clock,
    seen: Frame,
}

impl User {
    fn new() -> Self {
        let clock = Clock::simulated();
        let demo = Demo::new(clock.clone());
        let seen = Frame::filled(window_size(1), PixelFormat::Bgrx, [0; 4]);
        let mut user = Self { demo, clock, seen };
        user.look();
        user
    }

    fn send(&mut self, event: InputEvent) {
        self.demo.send(event).unwrap();
    }

    fn move_to(&mut self, x: u32, y: u32) {
        self.send(InputEvent::Move(Point::new(x, y)));
    }

    fn button(&mut self, button: Button, down: bool) {
        self.send(InputEvent::Button { button, down });
    }

    fn press(&mut self, x: u32, y: u32) {
        self.move_to(x, y);
        self.button(Button::Left, true);
    }

    fn release(&mut self) {
        self.button(Button::Left, false);
    }

    fn click(&mut self, x: u32, y: u32) {
        self.press(x, y);
        self.release();
    }

    fn key(&mut self, name: &str, down: bool) {
        let code = self.demo.key_named(name).unwrap().unwrap();
        self.send(InputEvent::Key { code, down });
    }

    /// Modifiers first, then one key: `ctrl a`.
    fn keys(&mut self, names: &str) {
        let names: Vec<&str> = names.split(' ').collect();
        names.iter().for_each(|name| self.key(name, true));
        names.iter().rev().for_each(|name| self.key(name, false));
    }

    fn strokes(&mut self, text: &str) -> Vec<Stroke> {
        text.chars().flat_map(|c| self.demo.strokes_for(c).unwrap().unwrap()).collect()
    }

    fn type_text(&mut self, text: &str) {
        for stroke in self.strokes(text) {
            let codes: Vec<KeyCode> = stroke.modifiers.into_iter().chain([stroke.key]).collect();
            codes.iter().for_each(|&code| self.send(InputEvent::Key { code, down: true }));
            codes.iter().rev().for_each(|&code| self.send(InputEvent::Key { code, down: false }));
        }
    }

    fn wait(&self, milliseconds: u64) {
        self.clock.sleep(Duration::from_millis(milliseconds));
    }

    /// What changed since the last look.
    fn look(&mut self) -> ChangeReport {
        let mut frame = self.seen.clone();
        self.demo.capture(None, Duration::MAX, &mut frame).unwrap();
        let options = DiffOptions::preset(Preset::Live);
        let report = compare(self.seen.as_ref(), frame.as_ref(), &options).unwrap();
        self.seen = frame;
        report
    }

    /// The boxes that changed since the last look, from the top.
    fn changes(&mut self) -> Vec<String> {
        let mut rects: Vec<Rect> = self.look().areas.iter().map(|area| area.rect).collect();
        rects.sort_by_key(|rect| (rect.y(), rect.x()));
        rects.iter().map(Rect::to_string).collect()
    }

    fn titles(&self) -> Vec<&str> {
        self.demo.app.notes.iter().map(|note| note.title.as_str()).collect()
    }

    fn text(&self) -> String {
        self.demo.app.field.text()
    }
}

/// A place in the Save button, the field, the sketch, the journal, the menu button, nothing.
const SAVE: (u32, u32) = (580, 45);
const FIELD: (u32, u32) = (300, 105);
const SKETCH: (u32, u32) = (260, 180);
const JOURNAL: (u32, u32) = (400, 330);
const MENU: (u32, u32) = (40, 45);
const NOWHERE: (u32, u32) = (90, 300);

#[test]
fn a_caret_blinks_and_nothing_else() {
    let mut user = User::new();
    user.click(FIELD.0, FIELD.1);
    assert_eq!(user.changes(), ["x=208 y=92 w=420 h=28"]);
    for (after, carets) in [(529, 0), (1, 1), (529, 0), (1, 1)] {
        user.wait(after);
        let report = user.look();
        assert_eq!((report.areas.len(), report.ignored.carets.len()), (0, carets));
    }
    user.wait(10_000);
    user.click(NOWHERE.0, NOWHERE.1);
    user.look();
    user.wait(530);
    assert_eq!(user.look().ignored, crate::areas::Ignored::default(), "no focus, no caret");
}

#[test]
fn save_answers_late() {
    let mut user = User::new();
    user.press(SAVE.0, SAVE.1);
    assert_eq!(user.changes(), ["x=540 y=33 w=88 h=24"], "pressed");
    user.release();
    assert_eq!(user.changes(), ["x=540 y=33 w=88 h=24"], "released");
    user.wait(79);
    assert_eq!(user.changes(), [""; 0], "not noticed yet");
    user.wait(1);
    let [toolbar, toast] = &user.changes()[..] else { panic!("a spinner and a toast") };
    assert_eq!(
        (toolbar.as_str(), toast.as_str()),
        ("x=514 y=33 w=114 h=24", "x=12 y=356 w=168 h=32")
    );
    user.wait(80);
    assert_eq!(user.look().areas.len(), 1, "the spinner turns");
    user.wait(440);
    user.look();
    assert_eq!((user.demo.app.saved, user.demo.app.notes[0].number), (Some(42), Some(42)));
    user.wait(5000);
    assert_eq!(user.changes(), [""; 0], "and rests");
}

#[test]
fn a_button_released_outside_does_nothing() {
    let mut user = User::new();
    user.press(SAVE.0, SAVE.1);
    user.move_to(NOWHERE.0, NOWHERE.1);
    assert_eq!(user.changes(), [""; 0], "it looks up again when the pointer leaves");
    user.release();
    user.wait(1000);
    assert_eq!((user.changes().len(), user.demo.app.saved), (0, None));
}

#[test]
fn typing_edits_and_saves() {
    let mut user = User::new();
    user.type_text("lost");
    assert_eq!(user.text(), "", "nothing is focused");
    user.click(FIELD.0, FIELD.1);
    user.look();
    user.type_text("Buy Plums! (2)");
    assert_eq!(user.text(), "Buy Plums! (2)");
    assert_eq!(user.changes(), ["x=217 y=97 w=77 h=17", "x=309 y=97 w=22 h=17"]);
    user.keys("home");
    user.keys("shift right");
    user.keys("delete");
    user.keys("ctrl a");
    assert_eq!(user.demo.app.field.selection(), 0..13);
    user.type_text("Pears\n");
    user.wait(600);
    user.look();
    assert_eq!((user.text().as_str(), user.titles()[0]), ("Pears", "Pears"));
    user.keys("ctrl s");
    user.wait(600);
    user.look();
    assert_eq!(user.demo.app.saved, Some(43));
}

#[test]
fn the_pointer_selects_text() {
    let mut user = User::new();
    user.click(FIELD.0, FIELD.1);
    user.type_text("one two three");
    user.wait(1000);
    user.press(218, 105);
    user.move_to(218 + 8 * 3, 105);
    user.release();
    assert_eq!(user.demo.app.field.selection(), 0..3, "dragged over");
    user.wait(1000);
    for (clicks, selected) in [(1, 5..5), (2, 4..7), (3, 0..13)] {
        user.click(218 + 8 * 5, 105);
        assert_eq!(user.demo.app.field.selection(), selected, "{clicks} clicks");
    }
}

#[test]
fn rows_are_dragged_into_another_order() {
    let mut user = User::new();
    user.press(60, 111);
    user.move_to(60, 113);
    assert_eq!(user.changes(), [""; 0], "too little to be a drag");
    user.move_to(60, 150);
    user.move_to(60, 111 + 60);
    assert!(!user.changes().is_empty());
    user.release();
    let order = ["Bicycle repair", "Letters to answer", "Groceries", "Garden plan", "Recipes"];
    assert_eq!((user.titles(), user.demo.app.selected), (order.to_vec(), 2));
    user.wait(1000);
    user.press(60, 111);
    user.move_to(60, 399);
    user.release();
    assert_eq!(user.titles()[4], "Bicycle repair");
}

#[test]
fn a_stroke_is_drawn_where_the_pointer_went() {
    let mut user = User::new();
    user.press(SKETCH.0, SKETCH.1);
    user.move_to(SKETCH.0 + 100, SKETCH.1 + 40);
    user.release();
    user.move_to(500, 200);
    assert_eq!(user.changes(), ["x=260 y=179 w=101 h=43"]);
    user.press(SKETCH.0, SKETCH.1);
    user.move_to(0, 399);
    user.release();
    let inside: Rect = "208,152,420,104".parse().unwrap();
    assert!(
        user.look().areas.iter().all(|area| inside.contains_rect(area.rect)),
        "ink stays inside"
    );
}

#[test]
fn the_journal_scrolls_to_its_ends() {
    let mut user = User::new();
    user.send(InputEvent::Wheel(Wheel::Down));
    assert_eq!(user.demo.app.scrolled, 0, "the pointer is elsewhere");
    user.move_to(JOURNAL.0, JOURNAL.1);
    for (wheel, times, line) in
        [(Wheel::Up, 1, 0), (Wheel::Down, 3, 6), (Wheel::Down, 50, 18), (Wheel::Up, 1, 16)]
    {
        (0..times).for_each(|_| user.send(InputEvent::Wheel(wheel)));
        assert_eq!(user.demo.app.scrolled, line, "{wheel:?}");
    }
    user.keys("pageup");
    assert_eq!(user.demo.app.scrolled, 10);
}

#[test]
fn the_menu_opens_chooses_and_closes() {
    let mut user = User::new();
    user.click(MENU.0, MENU.1);
    let opened = user.changes();
    assert_eq!(opened, ["x=12 y=34 w=134 h=112"]);
    user.keys("escape");
    assert_eq!(user.changes(), opened);
    user.click(MENU.0, MENU.1);
    user.click(SAVE.0, SAVE.1);
    user.wait(1000);
    user.look();
    assert_eq!(
        (user.demo.app.menu, user.demo.app.saved),
        (None, None),
        "a press beside only closes"
    );
    user.click(MENU.0, MENU.1);
    user.click(60, 100);
    assert_eq!(user.titles()[..2], ["Groceries", "Groceries"], "duplicated");
    user.look();
    user.wait(1500);
    assert_eq!(user.changes(), ["x=12 y=356 w=168 h=32"], "the toast went");
    user.move_to(60, 111);
    user.button(Button::Right, true);
    user.button(Button::Right, false);
    user.click(80, 124);
    assert_eq!(user.titles()[0], "Untitled", "a new note from the context menu");
}

#[test]
fn what_is_held_is_told_and_the_unknown_refused() {
    let mut user = User::new();
    user.key("ctrl", true);
    user.button(Button::Left, true);
    let ctrl = user.demo.key_named("ctrl").unwrap().unwrap();
    let held = Held { keys: vec![ctrl], buttons: vec![Button::Left] };
    assert_eq!(user.demo.held().unwrap(), held);
    user.key("ctrl", false);
    user.release();
    assert!(user.demo.held().unwrap().is_empty());
    for (event, message) in [
        (InputEvent::Move(Point::new(640, 0)), "point (640, 0) is outside the 640x400 window"),
        (InputEvent::Key { code: KeyCode(999), down: true }, "this keyboard has no key 999"),
    ] {
        assert_eq!(user.demo.send(event).unwrap_err().to_string(), message);
    }
    assert!(user.demo.held().unwrap().is_empty());
}

#[test]
fn a_doubled_window_is_the_same_twice_as_large() {
    let mut plain = User::new();
    let mut doubled = Demo::new(plain.clock.clone()).doubled();
    assert_eq!(doubled.geometry().unwrap().size, Size::new(1280, 800).unwrap());
    for demo in [&mut plain.demo, &mut doubled] {
        let scale = demo.scale;
        demo.send(InputEvent::Move(Point::new(300 * scale, 105 * scale))).unwrap();
        demo.send(InputEvent::Button { button: Button::Left, down: true }).unwrap();
    }
    plain.look();
    let mut frame = plain.seen.clone();
    let region: Rect = "401,183,40,41".parse().unwrap();
    doubled.capture(Some(region), Duration::MAX, &mut frame).unwrap();
    assert_eq!(frame.size(), region.size());
    for (x, y) in (0..41).flat_map(|y| (0..40).map(move |x| (x, y))) {
        let there = Point::new((401 + x) / 2, (183 + y) / 2);
        assert_eq!(frame.as_ref().rgba(Point::new(x, y)), plain.seen.as_ref().rgba(there));
    }
}

#[test]
fn a_region_is_a_part_and_ids_grow() {
    let mut user = User::new();
    let region: Rect = "200,80,300,60".parse().unwrap();
    let mut frame = user.seen.clone();
    for id in [2, 3] {
        let taken = user.demo.capture(Some(region), Duration::MAX, &mut frame).unwrap();
        assert_eq!(taken, Capture::Taken { id });
        assert_eq!(frame, user.seen.crop(region).unwrap());
    }
    let outside: Rect = "600,80,300,60".parse().unwrap();
    let taken = user.demo.capture(Some(outside), Duration::MAX, &mut frame).unwrap();
    assert_eq!(taken, Capture::Resized);
}
