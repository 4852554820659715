//! How much memory the pairs that are compared at the same time may take together.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// An amount of memory that is handed out in turn: whoever asked first is served first, so that a
/// large pair is not kept waiting by small ones that fit beside each other.
#[derive(Debug)]
pub(super) struct Budget {
    bytes: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    used: u64,
    next_turn: u64,
    turn: u64,
}

impl Budget {
    pub(super) fn new(bytes: u64) -> Self {
        Self { bytes, state: Mutex::default(), changed: Condvar::new() }
    }

    /// All there is.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes `bytes` if they are free at once and nobody waits.
    pub(super) fn take_now(&self, bytes: u64) -> Option<Held<'_>> {
        let mut state = self.lock();
        let is_free = state.turn == state.next_turn && state.used + bytes <= self.bytes;
        is_free.then(|| {
            state.used += bytes;
            Held { budget: self, bytes }
        })
    }

    /// Waits until `bytes`, which are at most all there are, are free.
    ///
    /// Nobody may ask for a second part while holding one: see [`Held::grow_to`].
    pub(super) fn wait_for(&self, bytes: u64) -> Held<'_> {
        let mut state = self.lock();
        let mine = state.next_turn;
        state.next_turn += 1;
        while state.turn != mine || state.used + bytes > self.bytes {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.turn += 1;
        state.used += bytes;
        drop(state);
        self.changed.notify_all();
        Held { budget: self, bytes }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A part of the budget, which is given back in the end.
#[derive(Debug)]
pub(super) struct Held<'a> {
    budget: &'a Budget,
    bytes: u64,
}

impl Held<'_> {
    /// Makes it at least `bytes`, if they are free at once and nobody waits. Otherwise give this
    /// part back and wait for all: two that hold a part and wait for more would wait forever.
    pub(super) fn grow_to(&mut self, bytes: u64) -> bool {
        let mut state = self.budget.lock();
        let more = bytes.saturating_sub(self.bytes);
        let is_free = state.turn == state.next_turn && state.used + more <= self.budget.bytes;
        if is_free || more == 0 {
            state.used += more;
            self.bytes += more;
        }
        is_free || more == 0
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.budget.lock().used -= self.bytes;
        self.budget.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn no_more_is_out_than_there_is_and_everybody_is_served() {
        let budget = Budget::new(10);
        let (out, served) = (AtomicU64::new(0), AtomicU64::new(0));
        let take = &|bytes: u64| {
            let held = budget.wait_for(bytes);
            assert!(out.fetch_add(bytes, Ordering::SeqCst) + bytes <= 10);
            std::thread::yield_now();
            out.fetch_sub(bytes, Ordering::SeqCst);
            drop(held);
            served.fetch_add(1, Ordering::SeqCst);
        };
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || (0..200).for_each(|n| take(1 + (n * 7 + thread) % 10)));
            }
        });
        assert_eq!((served.into_inner(), budget.lock().used), (800, 0));
    }

    #[test]
    fn what_is_taken_at_once_is_free() {
        let budget = Budget::new(10);
        let first = budget.take_now(6);
        assert!(first.is_some());
        assert!(budget.take_now(5).is_none());
        assert!(budget.take_now(4).is_some(), "and given back");
        drop(first);
        assert!(budget.take_now(10).is_some());
        assert_eq!(budget.lock().used, 0);
    }

    #[test]
    fn what_is_held_grows_only_into_what_is_free() {
        let budget = Budget::new(10);
        let mut first = budget.wait_for(4);
        assert!(first.grow_to(6));
        let mut second = budget.wait_for(2);
        assert!(first.grow_to(5), "no less than it has");
        assert!(!first.grow_to(9));
        drop(first);
        assert!(second.grow_to(10));
        drop(second);
        assert_eq!(budget.lock().used, 0);
    }
}
