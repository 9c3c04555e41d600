//! The counts of a run against its limits. The calls of a sub-agent count for every agent above it, as they come; the requests of all of
//! them, and of tools that ask a model, come from the meter.

use crate::limits::Limits;
use crate::result::{RunUsage, StopReason};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolkit::Caller;
use toolkit_models::{Account, Meter, Scope, Tally};

/// The counts of a run.
#[derive(Debug)]
pub(crate) struct Ledger {
    limits: Limits,
    meter: Meter,
    /// The accounts of the run's requests.
    scope: Scope,
    /// The usage of the run's session since the run began.
    tally: Tally,
    counts: Mutex<Counts>,
    /// The ledger of the agent that delegated.
    parent: Option<Arc<Self>>,
    pool: Arc<SubAgentPool>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
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
    /// Starts the ledger of a run on behalf of a caller with a session; `parent` is that of the agent that delegated.
    pub(crate) fn new(
        limits: Limits,
        meter: &Meter,
        caller: &Caller,
        parent: Option<Arc<Self>>,
    ) -> Arc<Self> {
        let pool = match &parent {
            Some(parent) => Arc::clone(&parent.pool),
            None => {
                let most = limits.max_parallel_sub_agents.map_or(Semaphore::MAX_PERMITS, |most| {
                    usize::try_from(most.max(1)).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS)
                });
                Arc::new(SubAgentPool { places: Arc::new(Semaphore::new(most)) })
            }
        };
        let session = Account::session(caller.session_id.as_deref().unwrap_or_default());
        let scope = Scope::of(caller).with(session.clone());
        let (meter, tally) = (meter.clone(), meter.tally(&session));
        Arc::new(Self { limits, meter, scope, tally, counts: Mutex::default(), parent, pool })
    }

    /// Returns the meter of the run's requests, and their accounts.
    pub(crate) fn meter(&self) -> (&Meter, &Scope) {
        (&self.meter, &self.scope)
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
        self.tally.used()
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
    use toolkit_models::Usage;

    /// The ledgers of an agent, its sub-agent, and a sub-agent of that.
    fn ledgers(meter: &Meter, limits: Limits) -> [Arc<Ledger>; 3] {
        let caller = Caller::new().with_session("root");
        let below = caller.delegated().with_session("sub");
        let root = Ledger::new(limits, meter, &caller, None);
        let sub = Ledger::new(Limits::none(), meter, &below, Some(Arc::clone(&root)));
        let deeper = below.delegated().with_session("deeper");
        let deeper = Ledger::new(Limits::none(), meter, &deeper, Some(Arc::clone(&sub)));
        [root, sub, deeper]
    }

    async fn request(ledger: &Ledger, used: RunUsage) {
        let (meter, scope) = ledger.meter();
        meter.reserve(scope, RunUsage::default()).await.unwrap().settle(used);
    }

    #[tokio::test]
    async fn a_sub_agent_counts_for_every_agent_above_it() {
        let meter = Meter::new();
        let limits = Limits::none().max_tokens(100).max_tool_calls(2).max_sub_agents(1);
        let [root, sub, deeper] = ledgers(&meter, limits);
        let used = |usage| RunUsage::of_request(Some(&usage), &Usage::default(), None);
        request(&deeper, used(Usage::new(40, 2))).await;
        assert_eq!((deeper.exceeded(), root.usage().total_tokens()), (None, 42));
        request(&sub, RunUsage::of_request(None, &Usage::new(50, 8), None)).await;
        assert_eq!(deeper.exceeded(), Some(StopReason::MaxTokens));
        assert_eq!((deeper.usage().total_tokens(), sub.usage().counted_tokens()), (42, 100));
        deeper.count_call();
        root.count_call();
        assert!(deeper.is_out_of_calls());
        assert_eq!((root.calls(), sub.calls()), (2, 1));
        assert_eq!((sub.count_sub_agent(), deeper.count_sub_agent()), (Ok(()), Err(1)));
    }

    #[tokio::test]
    async fn a_place_is_given_up_and_taken_back() {
        let [root, sub, _] = ledgers(&Meter::new(), Limits::none().max_parallel_sub_agents(1));
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
