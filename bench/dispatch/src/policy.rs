//! A policy as a careful host has it: a profile, six layers of lists and 48 patterns in them.

use toolkit::{Caller, policy::{PolicySettings, ProfileRules, ToolPolicy, ToolRules}};

/// Patterns of each list.
const PATTERNS: usize = 6;

/// Six patterns, none of which is a tool's.
fn none_of(layer: &str) -> impl Iterator<Item = String> {
    let layer = layer.to_owned();
    (0..PATTERNS).map(move |number| match number % 3 {
        0 => format!("{layer}_{number}_*"),
        1 => format!("*_{layer}_{number}"),
        _ => format!("{layer}*{number}*end"),
    })
}

/// All seven layers have something to say of the [`caller`]: eight lists of six patterns each. What is allowed is
/// `tool_*` and `repeat`, so every layer looks at every tool.
pub fn seven_layers() -> ToolPolicy {
    let denying = |layer: &str| ToolRules::default().deny(none_of(layer));
    let mut settings = PolicySettings::default();
    let mut profile = ProfileRules::default();
    let allowed = ["tool_*", "repeat"].map(str::to_owned).into_iter();
    profile.allow = Some(allowed.chain(none_of("profile").skip(2)).collect());
    settings.profiles.insert("bench".to_owned(), profile);
    settings.tools = denying("global").profile("bench");
    settings.tools.allow =
        Some(["tool_*", "repeat"].map(str::to_owned).into_iter().chain(none_of("more").skip(2)).collect());
    settings.by_provider.insert("local".to_owned(), denying("provider"));
    settings.agents.insert("kid".to_owned(), denying("agent"));
    settings.channels.insert("mail".to_owned(), denying("channel"));
    settings.sandbox = denying("sandbox");
    settings.subagents = denying("subagent");
    ToolPolicy::new(settings)
}

/// A sub-agent in a sandbox, in a channel, with a model: every layer is about it.
pub fn caller() -> Caller {
    let mut caller =
        Caller::new().with_agent("kid").with_channel("mail").with_provider("local").with_model("small");
    caller.sandboxed = true;
    caller.depth = 1;
    caller
}
