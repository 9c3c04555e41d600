//! Random sends, with and without waiting, never stop the sessions.

use proptest::prelude::*;
use toolkit_gateway::RunState;

use super::{Bench, key, send};

const AGENTS: [&str; 3] = ["main", "other", "third"];

/// Calls of an agent, each with those of the agent that it sends to.
#[derive(Debug, Clone)]
struct Plan(Vec<(usize, bool, Plan)>);

fn plans() -> impl Strategy<Value = Plan> {
    let leaf = Just(Plan(Vec::new()));
    leaf.prop_recursive(3, 12, 2, |below| {
        prop::collection::vec((0..AGENTS.len(), prop::bool::weighted(0.8), below), 1..=2).prop_map(Plan)
    })
}

fn text(plan: &Plan) -> String {
    let calls = plan
        .0
        .iter()
        .map(|(to, waits, below)| send(&key(AGENTS[*to]), &text(below), if *waits { 3_600 } else { 0 }));
    std::iter::once("plain".to_owned()).chain(calls).collect::<Vec<_>>().join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_run_ends_for_random_sends_between_sessions(plans in prop::collection::vec((0..AGENTS.len(), plans()), 1..=4), slots in 1_u32..=2) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.unwrap().block_on(async {
            let bench = Bench::new(slots).await;
            let mut sent = Vec::new();
            for (agent, plan) in &plans {
                sent.push(bench.tell(&key(AGENTS[*agent]), text(plan)).await);
            }
            for id in sent {
                assert_eq!(bench.ended(id).await.0, RunState::Answered);
            }
            bench.quiet().await;
            assert_eq!(bench.store().waits().await.unwrap(), []);
            bench.sessions.stop(std::time::Duration::ZERO).await.unwrap();
        });
    }
}
