//! What a session is allowed to do: asked after an action's shape and before any state.

use super::action::Action;
use super::refusal::{Refusal, RefusalKind};

/// What a session is allowed to do. The default allows every action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    read_only: bool,
    denied: Vec<String>,
}

impl Policy {
    /// Every action.
    #[must_use]
    pub fn allow_all() -> Self {
        Self::default()
    }

    /// Only what sends no input: observing and waiting.
    #[must_use]
    pub fn read_only() -> Self {
        Self { read_only: true, ..Self::default() }
    }

    /// The same policy without the action of a name.
    #[must_use]
    pub fn deny(mut self, action: impl Into<String>) -> Self {
        self.denied.push(action.into());
        self
    }

    /// Whether `action` is allowed, with everything inside it.
    ///
    /// # Errors
    /// A refusal that says which rule forbids it.
    pub fn permit(&self, action: &Action) -> Result<(), Refusal> {
        let name = action.name();
        if self.read_only && action.sends_input() {
            return Err(Refusal::new(
                RefusalKind::ReadOnly,
                format!(
                    "this session is read-only: {name} would send input; observe and wait do not"
                ),
            ));
        }
        if self.denied.iter().any(|denied| denied == name) {
            return Err(Refusal::new(
                RefusalKind::NotPermitted,
                format!("the policy of this session does not allow {name}"),
            ));
        }
        action.parts().try_for_each(|part| self.permit(part))
    }
}
