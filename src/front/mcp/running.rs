//! The calls that run or wait for their turn, so that the end of the session can cancel them all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::clock::Cancel;

/// All calls of a server.
#[derive(Clone, Debug, Default)]
pub(super) struct Running(Arc<Mutex<Calls>>);

#[derive(Debug, Default)]
struct Calls {
    /// By the call's number: the session's, and what cancels it.
    switches: HashMap<u64, (u32, Cancel)>,
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

    /// A call in a session that begins; when the server ends, one that is cancelled already.
    pub(super) fn enter(&self, session: u32) -> Call {
        let cancel = Cancel::new();
        let mut calls = self.lock();
        let number = calls.next;
        calls.next += 1;
        calls.switches.insert(number, (session, cancel.clone()));
        if calls.is_over {
            cancel.cancel();
        }
        Call { calls: self.clone(), number, cancel }
    }

    /// Whether a call of a session runs or waits for its turn.
    pub(super) fn is_busy(&self, session: u32) -> bool {
        self.lock().switches.values().any(|(of, _)| *of == session)
    }

    /// The server ends: every call is cancelled, those that are still to come too.
    pub(super) fn end(&self) {
        let mut calls = self.lock();
        calls.is_over = true;
        calls.switches.values().for_each(|(_, cancel)| cancel.cancel());
    }

    /// A session is closed: its calls are cancelled.
    pub(super) fn end_session(&self, session: u32) {
        let calls = self.lock();
        let its = calls.switches.values().filter(|(of, _)| *of == session);
        its.for_each(|(_, cancel)| cancel.cancel());
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
        let (first, second) = (running.enter(1), running.enter(1));
        drop(second);
        assert!(!first.cancel.is_cancelled());
        assert_eq!(running.lock().switches.len(), 1);
        running.end();
        assert!(first.cancel.is_cancelled());
        assert!(running.enter(1).cancel.is_cancelled());
    }

    #[test]
    fn the_end_of_a_session_cancels_its_calls_alone() {
        let running = Running::new();
        let (first, second) = (running.enter(1), running.enter(2));
        running.end_session(2);
        assert_eq!((first.cancel.is_cancelled(), second.cancel.is_cancelled()), (false, true));
        drop(second);
        assert_eq!([1, 2].map(|session| running.is_busy(session)), [true, false]);
    }
}
