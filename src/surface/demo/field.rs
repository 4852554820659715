//! A one-line text field: text, caret and selection.

use std::ops::Range;

/// The most characters it takes.
const CAPACITY: usize = 200;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Field {
    text: Vec<char>,
    caret: usize,
    /// The other end of the selection; at the caret, nothing is selected.
    anchor: usize,
}

impl Field {
    pub(super) fn text(&self) -> String {
        self.text.iter().collect()
    }

    pub(super) const fn caret(&self) -> usize {
        self.caret
    }

    pub(super) fn selection(&self) -> Range<usize> {
        self.caret.min(self.anchor)..self.caret.max(self.anchor)
    }

    /// The first character shown where `room` of them fit: the caret is always in sight.
    pub(super) const fn first_shown(&self, room: usize) -> usize {
        self.caret.saturating_sub(room)
    }

    /// Replaces the text and puts the caret behind it.
    pub(super) fn set(&mut self, text: &str) {
        self.text = text.chars().take(CAPACITY).collect();
        self.caret = self.text.len();
        self.anchor = self.caret;
    }

    /// Types over the selection.
    pub(super) fn insert(&mut self, character: char) {
        self.delete_selection();
        if self.text.len() < CAPACITY {
            self.text.insert(self.caret, character);
            self.move_to(self.caret + 1, false);
        }
    }

    pub(super) fn backspace(&mut self) {
        if !self.delete_selection() && self.caret > 0 {
            self.move_to(self.caret - 1, false);
            self.text.remove(self.caret);
        }
    }

    pub(super) fn delete(&mut self) {
        if !self.delete_selection() && self.caret < self.text.len() {
            self.text.remove(self.caret);
        }
    }

    /// Moves the caret one to the left, or to the start of the selection.
    pub(super) fn left(&mut self, selecting: bool) {
        let selected = self.selection();
        let to = if selecting || selected.is_empty() {
            self.caret.saturating_sub(1)
        } else {
            selected.start
        };
        self.move_to(to, selecting);
    }

    /// Moves the caret one to the right, or to the end of the selection.
    pub(super) fn right(&mut self, selecting: bool) {
        let selected = self.selection();
        let to = if selecting || selected.is_empty() { self.caret + 1 } else { selected.end };
        self.move_to(to, selecting);
    }

    pub(super) fn end(&mut self, selecting: bool) {
        self.move_to(self.text.len(), selecting);
    }

    /// Puts the caret before the character at `index`; `selecting` leaves the other end.
    pub(super) fn move_to(&mut self, index: usize, selecting: bool) {
        self.caret = index.min(self.text.len());
        if !selecting {
            self.anchor = self.caret;
        }
    }

    pub(super) fn select_all(&mut self) {
        self.anchor = 0;
        self.caret = self.text.len();
    }

    /// Selects the word, or the run of other characters, around `index`.
    pub(super) fn select_word(&mut self, index: usize) {
        let Some(touched) = self.text.get(index.min(self.text.len().saturating_sub(1))) else {
            return;
        };
        let is_word = |character: &char| character.is_alphanumeric();
        let same = |character: &&char| is_word(character) == is_word(touched);
        let index = index.min(self.text.len() - 1);
        let before = self.text[..index].iter().rev().take_while(same).count();
        let behind = self.text[index..].iter().take_while(same).count();
        (self.anchor, self.caret) = (index - before, index + behind);
    }

    fn delete_selection(&mut self) -> bool {
        let selected = self.selection();
        self.text.drain(selected.clone());
        self.move_to(selected.start, false);
        !selected.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Step = fn(&mut Field);

    #[test]
    fn editing_keys() {
        let steps: [(&[Step], &str, Range<usize>); 11] = [
            (&[|f| f.insert('d')], "abcd", 4..4),
            (&[Field::backspace], "ab", 2..2),
            (&[Field::delete], "abc", 3..3),
            (&[|f| f.left(false), Field::delete], "ab", 2..2),
            (&[|f| f.left(true), |f| f.left(true)], "abc", 1..3),
            (&[|f| f.left(true), |f| f.left(true), |f| f.insert('x')], "ax", 2..2),
            (&[Field::select_all, Field::backspace], "", 0..0),
            (&[Field::select_all, |f| f.left(false)], "abc", 0..0),
            (&[Field::select_all, |f| f.right(false)], "abc", 3..3),
            (&[|f| f.move_to(0, false), Field::backspace, |f| f.end(true)], "abc", 0..3),
            (&[|f| f.right(false), |f| f.move_to(99, false)], "abc", 3..3),
        ];
        for (row, (steps, text, selection)) in steps.into_iter().enumerate() {
            let mut field = Field::default();
            field.set("abc");
            steps.iter().for_each(|step| step(&mut field));
            assert_eq!((field.text().as_str(), field.selection()), (text, selection), "row {row}");
        }
    }

    #[test]
    fn a_word_is_selected_whole() {
        for (index, selected) in [(0, 0..3), (2, 0..3), (3, 3..5), (5, 5..8), (99, 5..8)] {
            let mut field = Field::default();
            field.set("one, two");
            field.select_word(index);
            assert_eq!(field.selection(), selected, "at {index}");
        }
        let mut empty = Field::default();
        empty.select_word(0);
        assert_eq!(empty, Field::default());
    }

    #[test]
    fn it_takes_so_much_and_shows_the_caret() {
        let mut field = Field::default();
        (0..250).for_each(|_| field.insert('x'));
        assert_eq!((field.text().len(), field.first_shown(50)), (200, 150));
        field.move_to(3, false);
        assert_eq!(field.first_shown(50), 0);
    }
}
