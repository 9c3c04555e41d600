//! The names that this crate registers for policies.

#![cfg(feature = "fs")]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use toolkit::prelude::*;
use toolkit::{
    Tool,
    policy::{PolicySettings, ToolPolicy, ToolRules},
};

toolkit::link!(core: builtin_tools);

/// A tool of the name `message`, which is reserved for a builtin tool: only a host may add one by hand.
fn message() -> Tool {
    let tool = Tool::builder("message").description("Sends a message.").group("messaging");
    tool.build(|_, _| async { Ok::<_, ToolError>(ToolOutput::text("sent")) }).unwrap()
}

/// Which of `read` and `message` are there.
async fn found(tools: ToolRules) -> Vec<String> {
    let mut settings = PolicySettings::default();
    settings.tools = tools;
    let toolkit = Toolkit::builder().tool(message()).policy(ToolPolicy::new(settings)).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    let names = toolbox.tools().map(|tool| tool.name().to_owned());
    names.filter(|name| name == "read" || name == "message").collect()
}

#[tokio::test]
async fn profiles_and_groups_are_there() {
    let rules = ToolRules::default;
    for (rules, expected) in [
        (rules(), &["message", "read"][..]),
        (rules().profile("full"), &["message", "read"]),
        (rules().profile("coding"), &["read"]),
        (rules().profile("minimal"), &[]),
        (rules().profile("messaging"), &[]),
        (rules().allow(["group:fs"]), &["read"]),
        (rules().allow(["group:messaging"]), &[]),
        (rules().allow(["message"]), &["message"]),
        (rules().deny(["group:messaging"]), &["read"]),
        (rules().deny(["group:fs"]), &["message"]),
    ] {
        assert_eq!(found(rules.clone()).await, expected, "{rules:?}");
    }
}

#[test]
fn every_registered_name_is_known_though_its_tool_is_not_there() {
    let names = [
        "read",
        "write",
        "edit",
        "apply_patch",
        "glob",
        "grep",
        "skill",
        "exec",
        "process",
        "web_search",
        "web_fetch",
        "sessions_list",
        "sessions_history",
        "sessions_send",
        "sessions_spawn",
        "session_status",
        "message",
        "bash",
        "apply-patch",
        "group:fs",
        "group:runtime",
        "group:web",
        "group:ui",
        "group:media",
        "transcribe",
        "group:sessions",
        "group:messaging",
        "group:plugins",
        "agents_list",
        "browser",
        "canvas",
        "cron",
        "gateway",
        "image",
        "nodes",
        "tts",
    ];
    let mut settings = PolicySettings::default();
    settings.tools = ToolRules::default().deny(names);
    let toolkit = Toolkit::builder().policy(ToolPolicy::new(settings)).build().unwrap();
    assert_eq!(toolkit.diagnostics(), []);
}
