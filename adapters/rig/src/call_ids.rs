//! The ids of calls, which rig does not give to tools.

use rig_agent::bus::Dispatcher;
use rig_core::effect::EffectId;
use rig_core::tool::ToolContext;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many ids wait for their calls. A call whose run ends before it begins leaves its id behind; the oldest goes then.
const MAX_WAITING: usize = 1024;

/// The ids of calls that were announced and have not begun, by what rig's bus calls them.
#[derive(Default)]
pub(crate) struct CallIds(Mutex<BTreeMap<EffectId, String>>);

impl CallIds {
    fn waiting(&self) -> MutexGuard<'_, BTreeMap<EffectId, String>> {
        // It is whole between any two of its operations.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn announce(&self, effect: EffectId, id: String) {
        let mut waiting = self.waiting();
        if waiting.len() >= MAX_WAITING {
            waiting.pop_first();
        }
        waiting.insert(effect, id);
    }

    /// Forgets a call that has ended, which another hook may have kept from its tool.
    pub(crate) fn forget(&self, effect: EffectId) {
        self.waiting().remove(&effect);
    }

    /// The id of the call that runs with this context, where it was announced.
    pub(crate) fn take(&self, context: &ToolContext) -> Option<String> {
        // The parent of an effect that a handler dispatches is the call that it serves.
        let effect = context.scope::<Dispatcher>()?.parent()?;
        self.waiting().remove(&effect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_nobody_takes_are_bounded() {
        let ids = CallIds::default();
        for effect in 0..MAX_WAITING as u64 + 10 {
            ids.announce(EffectId::from_raw(effect), effect.to_string());
        }
        let waiting = ids.waiting();
        assert_eq!(waiting.len(), MAX_WAITING);
        assert_eq!(waiting.first_key_value().unwrap().1, "10");
    }

    #[test]
    fn outside_an_agent_there_is_no_id() {
        assert_eq!(CallIds::default().take(&ToolContext::new()), None);
    }
}
