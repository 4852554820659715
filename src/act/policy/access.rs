//! The policy in force, which may be taken away while an action runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::refusal::Refusal;
use super::Policy;

/// The policy in force, to be narrowed, replaced or revoked from another thread. Clones share it.
///
/// An action that runs when it changes is asked about again before each of its events: when it is
/// no longer allowed it stops, lets go of what it holds, and its receipt says `revoked`.
///
/// ```
/// use seechange::act::{Access, Action, Policy};
/// let access = Access::new(Policy::allow_all());
/// let elsewhere = access.clone();
/// elsewhere.revoke("the user took over");
/// let refusal = access.policy().permit(&Action::SelectAll).unwrap_err();
/// assert_eq!(
///     refusal.message(),
///     "the policy of this session does not allow select_all: the user took over"
/// );
/// ```
#[derive(Clone, Debug, Default)]
pub struct Access(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    policy: Policy,
    /// How often it was set.
    changes: u64,
}

impl Access {
    /// The access that a policy gives.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self(Arc::new(Mutex::new(State { policy, changes: 0 })))
    }

    /// What is allowed now.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.state().policy.clone()
    }

    /// Puts another policy in force, from now on.
    pub fn set(&self, policy: Policy) {
        let mut state = self.state();
        *state = State { policy, changes: state.changes + 1 };
    }

    /// Allows nothing any more, not even observing.
    pub fn revoke(&self, why: impl Into<String>) {
        self.set(Policy::nothing(why));
    }

    /// How often another policy was put in force.
    pub(in super::super) fn changes(&self) -> u64 {
        self.state().changes
    }

    /// What `judge` says of the policy, if it is another one than after so many `changes`.
    pub(in super::super) fn changed_since(
        &self,
        changes: u64,
        judge: impl FnOnce(&Policy) -> Result<(), Refusal>,
    ) -> Option<Refusal> {
        let state = self.state();
        (state.changes != changes).then(|| judge(&state.policy).err()).flatten()
    }

    /// A poisoned lock guards plain data that no panic leaves half-written.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
