//! The counts of a run against its limits. The counts of a sub-agent are also those of every agent above it, as they come.

use crate::limits::Limits;
use crate::result::{RunUsage, StopReason};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolkit_models::{Price, Usage};

/// The counts of a run.
#[derive(Debug)]
pub(crate) struct Ledger {
    limits: Limits,
    counts: Mutex<Counts>,
    /// The ledger of the agent that delegated.
    parent: Option<Arc<Self>>,
    pool: Arc<SubAgentPool>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    usage: RunUsage,
    calls: u32,
    sub_agents: u32,
}

/// The sub-agents of a run that work at the same time, those of sub-agents included.
#[derive(Debug)]
struct SubAgentPool {
    places: Arc<Semaphore>,
}

/// The place of a sub-agent among those that work at the same time. The sub-agent gives it up while it waits for sub-agents of its own,
/// so that a chain of delegations never waits for itself.
#[derive(Debug)]
pub(crate) struct SubAgentPlace {
    places: Arc<Semaphore>,
    permit: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Ledger {
    /// Starts the ledger of a run; `parent` is that of the agent that delegated.
    pub(crate) fn new(limits: Limits, parent: Option<Arc<Self>>) -> Arc<Self> {
        let pool = match &parent {
            Some(parent) => Arc::clone(&parent.pool),
            None => {
                let most = limits.max_parallel_sub_agents.map_or(Semaphore::MAX_PERMITS, |most| {
                    usize::try_from(most.max(1)).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS)
                });
                Arc::new(SubAgentPool { places: Arc::new(Semaphore::new(most)) })
            }
        };
        Arc::new(Self { limits, counts: Mutex::default(), parent, pool })
    }

    /// Counts a request. Without `usage`, the usage is unknown, and `estimate` counts in its place.
    pub(crate) fn count_request(&self, usage: Option<&Usage>, estimate: &Usage, price: Option<&Price>) {
        self.each(|counts| counts.usage.count(usage, estimate, price));
    }

    /// Counts a tool call.
    pub(crate) fn count_call(&self) {
        self.each(|counts| counts.calls = counts.calls.saturating_add(1));
    }

    /// Counts a sub-agent, unless the limit of sub-agents is reached.
    pub(crate) fn count_sub_agent(&self) -> Result<(), u32> {
        let reached = self.chain().find_map(|ledger| {
            let most = ledger.limits.max_sub_agents?;
            (ledger.counts().sub_agents >= most).then_some(most)
        });
        match reached {
            Some(most) => Err(most),
            None => {
                self.each(|counts| counts.sub_agents = counts.sub_agents.saturating_add(1));
                Ok(())
            }
        }
    }

    /// Waits for a place among the sub-agents that work at the same time.
    pub(crate) async fn place(&self) -> Arc<SubAgentPlace> {
        let places = Arc::clone(&self.pool.places);
        let permit = Arc::clone(&places).acquire_owned().await.ok();
        Arc::new(SubAgentPlace { places, permit: Mutex::new(permit) })
    }

    /// Returns the tokens and the cost so far.
    pub(crate) fn usage(&self) -> RunUsage {
        self.counts().usage
    }

    /// Returns the number of tool calls so far.
    pub(crate) fn calls(&self) -> u32 {
        self.counts().calls
    }

    /// Returns true if no further tool call is allowed.
    pub(crate) fn is_out_of_calls(&self) -> bool {
        self.chain().any(|ledger| ledger.limits.max_tool_calls.is_some_and(|most| ledger.calls() >= most))
    }

    /// Returns the limit of usage that is reached, of this run or of one above it.
    pub(crate) fn exceeded(&self) -> Option<StopReason> {
        self.chain().find_map(|ledger| ledger.limits.exceeded(&ledger.usage()))
    }

    /// This ledger and those above it.
    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |ledger| ledger.parent.as_deref())
    }

    fn each(&self, mut count: impl FnMut(&mut Counts)) {
        for ledger in self.chain() {
            count(&mut ledger.counts());
        }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SubAgentPlace {
    /// Gives the place up.
    pub(crate) fn give_up(&self) {
        self.permit().take();
    }

    /// Waits for a place again.
    pub(crate) async fn take_back(&self) {
        let permit = Arc::clone(&self.places).acquire_owned().await.ok();
        *self.permit() = permit;
    }

    fn permit(&self) -> MutexGuard<'_, Option<OwnedSemaphorePermit>> {
        self.permit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sub_agent_counts_for_every_agent_above_it() {
        let root = Ledger::new(Limits::none().max_tokens(100).max_tool_calls(2).max_sub_agents(1), None);
        let sub = Ledger::new(Limits::none(), Some(Arc::clone(&root)));
        let deeper = Ledger::new(Limits::none(), Some(Arc::clone(&sub)));
        deeper.count_request(Some(&Usage::new(40, 2)), &Usage::default(), None);
        assert_eq!((deeper.exceeded(), root.usage().total_tokens()), (None, 42));
        sub.count_request(None, &Usage::new(50, 8), None);
        assert_eq!(deeper.exceeded(), Some(StopReason::MaxTokens));
        assert_eq!(deeper.usage().total_tokens(), 42);
        deeper.count_call();
        root.count_call();
        assert!(deeper.is_out_of_calls());
        assert_eq!((root.calls(), sub.calls()), (2, 1));
        assert_eq!((sub.count_sub_agent(), deeper.count_sub_agent()), (Ok(()), Err(1)));
    }

    #[tokio::test]
    async fn a_place_is_given_up_and_taken_back() {
        let root = Ledger::new(Limits::none().max_parallel_sub_agents(1), None);
        let sub = Ledger::new(Limits::none(), Some(Arc::clone(&root)));
        let place = root.place().await;
        let is_free = || sub.pool.places.available_permits() == 1;
        assert!(!is_free());
        place.give_up();
        drop(sub.place().await);
        place.take_back().await;
        assert!(!is_free());
        drop(place);
        assert!(is_free());
    }
}
