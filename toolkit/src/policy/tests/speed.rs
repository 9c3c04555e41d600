//! Measures the speed of the policy: `cargo nextest run --release --run-ignored only -p agent-toolkit how_long`.

use super::fixture::{Thing, policy};
use crate::policy::{PolicySettings, ToolRules};
use std::time::Instant;
use toolkit_core::caller::Caller;

#[test]
#[ignore = "it measures and judges nothing"]
fn how_long_a_toolbox_takes() {
    let patterns = |layer: usize| (0..8).map(move |number| format!("*_{layer}{number}x*"));
    let rules = |layer: usize| {
        let exact = (0..40).map(move |number| format!("tool_{}", layer * 1_000 + number));
        ToolRules::default().deny(patterns(layer).chain(exact)).allow(["*", "group:fs", "read"])
    };
    let mut settings = PolicySettings { tools: rules(1).profile("full"), ..PolicySettings::default() };
    settings.by_provider.insert("openai".to_owned(), rules(2));
    settings.agents.insert("kid".to_owned(), rules(3));
    settings.channels.insert("telegram".to_owned(), rules(4));
    (settings.sandbox, settings.subagents) = (rules(5), rules(6));
    let policy = policy(settings);
    let mut caller = Caller::new().with_provider("openai").with_agent("kid").with_channel("telegram");
    (caller.sandboxed, caller.depth) = (true, 1);
    for count in [1_000, 10_000] {
        let things: Vec<Thing> = (0..count)
            .map(|number| {
                Thing::of("acme", &format!("tool_{number}")).group("mine").alias(&format!("other_{number}"))
            })
            .collect();
        let mut best = u128::MAX;
        for _ in 0..50 {
            let start = Instant::now();
            assert!(policy.admitted_of(&caller, &things).len() > count / 2);
            best = best.min(start.elapsed().as_micros());
        }
        println!("{count} tools, seven layers, 49 patterns: {best} µs");
    }
}
