//! The calls that run or wait for their turn, so that the end of the session can cancel them all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::clock::Cancel;

/// All calls of a session.
#[derive(Clone, Debug, Default)]
pub(super) struct Running(Arc<Mutex<Calls>>);

#[derive(Debug, Default)]
struct Calls {
    switches: HashMap<u64, Cancel>,
    next: u64,
    is_over: bool,
}

/// A call for as long as it runs.
pub(super) struct Call {
    calls: Running,
    number: u64,
    /// Cancels it.
    pub(super) cancel: Cancel,
}

impl Running {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// A call that begins; when the session is over, one that is cancelled already.
    pub(super) fn enter(&self) -> Call {
        let cancel = Cancel::new();
        let mut calls = self.lock();
        let number = calls.next;
        calls.next += 1;
        calls.switches.insert(number, cancel.clone());
        if calls.is_over {
            cancel.cancel();
        }
        Call { calls: self.clone(), number, cancel }
    }

    /// The session is over: every call is cancelled, those that are still to come too.
    pub(super) fn end(&self) {
        let mut calls = self.lock();
        calls.is_over = true;
        calls.switches.values().for_each(Cancel::cancel);
    }

    /// A panic elsewhere leaves the table as it was.
    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.calls.lock().switches.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_cancels_what_runs_and_what_comes() {
        let running = Running::new();
        let (first, second) = (running.enter(), running.enter());
        drop(second);
        assert!(!first.cancel.is_cancelled());
        assert_eq!(running.lock().switches.len(), 1);
        running.end();
        assert!(first.cancel.is_cancelled());
        assert!(running.enter().cancel.is_cancelled());
    }
}
