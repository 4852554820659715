//! The only reader of time: a clock that runs, or one that jumps.
//!
//! Times are [`Duration`]s since the clock was made. Everything that waits takes a [`Clock`], so a
//! wait of five seconds on a [`Clock::simulated`] one is over at once and the same every time.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A source of time. Clones share the same time.
///
/// ```
/// use std::time::Duration;
/// use seechange::Clock;
/// let clock = Clock::simulated();
/// clock.sleep(Duration::from_secs(5)); // returns at once
/// assert_eq!(clock.now(), Duration::from_secs(5));
/// ```
#[derive(Clone, Debug)]
pub struct Clock(Arc<Kind>);

#[derive(Debug)]
enum Kind {
    System(Instant),
    Simulated(Mutex<Duration>),
}

impl Clock {
    /// The computer's monotonic clock, at zero now.
    #[must_use]
    pub fn system() -> Self {
        Self(Arc::new(Kind::System(Instant::now())))
    }

    /// A clock that stands still until somebody sleeps on it.
    #[must_use]
    pub fn simulated() -> Self {
        Self(Arc::new(Kind::Simulated(Mutex::new(Duration::ZERO))))
    }

    /// Time since the clock was made.
    #[must_use]
    pub fn now(&self) -> Duration {
        match &*self.0 {
            Kind::System(origin) => origin.elapsed(),
            Kind::Simulated(now) => *lock(now),
        }
    }

    /// Whether this clock jumps instead of running.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        matches!(&*self.0, Kind::Simulated(_))
    }

    /// Sleeps for `duration`.
    pub fn sleep(&self, duration: Duration) {
        self.sleep_until(self.now().saturating_add(duration), &Cancel::never());
    }

    /// Sleeps until `instant` of this clock, or until `cancel` fires. Says whether it slept
    /// through; an instant in the past is slept through at once.
    pub fn sleep_until(&self, instant: Duration, cancel: &Cancel) -> bool {
        match &*self.0 {
            Kind::System(origin) => cancel.wait_for(instant.saturating_sub(origin.elapsed())),
            Kind::Simulated(now) => {
                let mut now = lock(now);
                *now = (*now).max(instant);
                !cancel.is_cancelled()
            }
        }
    }
}

/// A switch that ends a wait or an action from another thread. Clones share the switch.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<(Mutex<bool>, Condvar)>);

impl Cancel {
    /// A switch nobody has thrown yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// For callers that never cancel.
    #[must_use]
    pub fn never() -> Self {
        Self::default()
    }

    /// Throws the switch and wakes every sleeper. It cannot be taken back.
    pub fn cancel(&self) {
        *lock(&self.0.0) = true;
        self.0.1.notify_all();
    }

    /// Whether the switch was thrown.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        *lock(&self.0.0)
    }

    /// Waits for `duration` of real time; `false` when cancelled before or during it.
    fn wait_for(&self, duration: Duration) -> bool {
        let (cancelled, _) = self
            .0
            .1
            .wait_timeout_while(lock(&self.0.0), duration, |cancelled| !*cancelled)
            .unwrap_or_else(PoisonError::into_inner);
        !*cancelled
    }
}

/// A poisoned lock here guards plain data that no panic can leave half-written.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulated_time_only_moves_when_slept_on() {
        let clock = Clock::simulated();
        let twin = clock.clone();
        clock.sleep(Duration::from_millis(40));
        assert!(clock.sleep_until(Duration::from_millis(10), &Cancel::never()));
        assert_eq!(twin.now(), Duration::from_millis(40));
    }

    #[test]
    fn a_cancelled_sleep_ends_early_and_says_so() {
        let (clock, cancel) = (Clock::system(), Cancel::new());
        let switch = cancel.clone();
        let sleeper =
            std::thread::spawn(move || clock.sleep_until(Duration::from_secs(60), &cancel));
        switch.cancel();
        assert!(!sleeper.join().unwrap());
    }
}
