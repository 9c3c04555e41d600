//! Texts that may look like approval, and are none: words of servers, of tools that ask by themselves, rules for names with `*`.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use toolkit::prelude::*;
use toolkit::{
    Tool, ToolErrorKind,
    approval::{Access, ScriptedApprover},
    descriptor::Source,
    permission::{PermissionSettings, Permissions},
    policy::{PolicySettings, ToolPolicy},
    tool_ref,
};

/// Reads a file, and asks by itself.
#[tool(read_only, asks)]
async fn peek(ctx: &ToolContext, path: &Path) -> Result<String, ToolError> {
    ctx.check_file_access(path, Access::Read).await?;
    Ok("read".to_owned())
}

/// Says that it asks, and does not.
#[tool(asks, permission = "release")]
async fn deploy(ctx: &ToolContext) -> &'static str {
    let _ = ctx;
    "deployed"
}

fn everybody(permission: Value) -> PermissionSettings {
    let mut settings = PermissionSettings::default();
    settings.everybody = serde_json::from_value(permission).unwrap();
    settings
}

async fn text(toolkit: &Toolkit, caller: &Caller, tool: &str, arguments: Value) -> Result<String, String> {
    let result = toolkit.toolbox(caller).await.call(ToolCall::new("1", tool, arguments)).await;
    match result.error() {
        None => Ok(result.text()),
        Some(error) => {
            assert_eq!(error.kind(), ToolErrorKind::Denied, "{}", error.message());
            Err(error.message().to_owned())
        }
    }
}

#[tokio::test]
async fn rules_for_agents_and_channels_are_found_by_pattern_and_whatever_the_case() {
    for (place, caller) in [
        ("kid", Caller::new().with_agent("kid")),
        ("k*", Caller::new().with_agent("kid")),
        ("*", Caller::new().with_agent("kid")),
        (" KID ", Caller::new().with_agent("kid")),
        ("Ä", Caller::new().with_agent("ä")),
        ("*Ä*", Caller::new().with_agent("träger")),
        ("mail*", Caller::new().with_channel("Mailbox")),
    ] {
        let rules: toolkit::permission::PermissionRules =
            serde_json::from_value(json!({ "read": "deny" })).unwrap();
        let mut settings = everybody(json!({}));
        let mut policy = PolicySettings::default();
        let denied = toolkit::policy::ToolRules::default().deny(["*"]);
        if caller.agent.is_some() {
            settings.agents.insert(place.to_owned(), rules);
            policy.agents.insert(place.to_owned(), denied);
        } else {
            settings.channels.insert(place.to_owned(), rules);
            policy.channels.insert(place.to_owned(), denied);
        }
        let toolkit = Toolkit::empty().tool(tool_ref!(peek).named("read"));
        let toolkit = toolkit.permissions(Permissions::new([settings])).build().unwrap();
        let refused = text(&toolkit, &caller, "read", json!({ "path": "Cargo.toml" })).await.unwrap_err();
        assert!(refused.contains("denied"), "{place}: {refused}");
        // Whom a policy means is whom a permission means.
        let toolkit = Toolkit::empty().tool(tool_ref!(peek)).policy(ToolPolicy::new(policy)).build().unwrap();
        assert_eq!(toolkit.toolbox(&caller).await.tools().count(), 0, "{place}");
        assert_eq!(toolkit.toolbox(&Caller::new()).await.tools().count(), 1, "{place}");
    }
}

#[tokio::test]
async fn a_tool_that_asks_by_itself_is_denied_and_asked_about_as_configured() {
    let build = |permissions: Permissions, approver: ScriptedApprover| {
        let toolkit = Toolkit::empty().tool(tool_ref!(deploy)).permissions(permissions);
        toolkit.approver(approver).build().unwrap()
    };
    let nobody = || ScriptedApprover::new([]);
    let denying = Permissions::new([everybody(json!({ "release": "deny" }))]);
    let refused = text(&build(denying, nobody()), &Caller::new(), "deploy", json!({})).await.unwrap_err();
    assert!(refused.contains("`deploy` is denied by deny (/permission/release)"), "{refused}");
    // An entry of a list says nothing of what it will ask.
    let listed = Permissions::new([everybody(json!({ "release": [{ "match": "*", "do": "deny" }] }))]);
    assert_eq!(
        text(&build(listed, nobody()), &Caller::new(), "deploy", json!({})).await.unwrap(),
        "deployed"
    );
    let asked = Permissions::default().auto_execute("deploy", false);
    let refused =
        text(&build(asked.clone(), nobody()), &Caller::new(), "deploy", json!({})).await.unwrap_err();
    assert!(!refused.contains("deployed"), "{refused}");
    let approver = ScriptedApprover::new([toolkit::approval::Answer::allow()]);
    assert_eq!(text(&build(asked, approver), &Caller::new(), "deploy", json!({})).await.unwrap(), "deployed");
}

fn remote(source: Source, name: &str) -> toolkit::ToolBuilder {
    Tool::builder(name).description("Is elsewhere.").source(source).read_only().auto_execute()
}

#[tokio::test]
async fn no_word_of_a_server_chooses_the_rule_that_lets_its_tool_run() {
    let rules = json!({
        "edit": "allow", "web_fetch": "allow", "external_directory": "allow", "zap": "allow", "read": "allow",
    });
    let toolkit = Toolkit::empty().permissions(Permissions::new([everybody(rules)])).build().unwrap();
    for (source, kind) in [(Source::mcp("files"), "mcp"), (Source::client("tab"), "client")] {
        for name in ["external_directory", "zap"] {
            let tool = remote(source.clone(), name).permission("edit");
            let tool = tool.build(|_, _| async { "ran" }).unwrap();
            assert_eq!(tool.permission(), kind);
            toolkit.register(tool).unwrap();
            let refused = text(&toolkit, &Caller::new(), name, json!({})).await.unwrap_err();
            assert!(refused.contains(kind), "{refused}");
            toolkit.unregister(name).unwrap();
        }
    }
    let rules = json!({ "mcp": [{ "match": "files__*", "do": "allow" }] });
    let toolkit = Toolkit::empty().permissions(Permissions::new([everybody(rules)])).build().unwrap();
    for name in ["files__list", "other__list"] {
        toolkit.register(remote(Source::mcp("files"), name).build(|_, _| async { "ran" }).unwrap()).unwrap();
    }
    assert_eq!(text(&toolkit, &Caller::new(), "files__list", json!({})).await.unwrap(), "ran");
    text(&toolkit, &Caller::new(), "other__list", json!({})).await.unwrap_err();
}

#[tokio::test]
async fn lists_mean_a_server_by_its_kind_and_name_and_believe_no_group_of_it() {
    // The allowed names, the denied names, and the tools that exist then.
    for (allow, deny, expected) in [
        (json!(["scratch"]), json!([]), vec![]),
        (json!(["mcp:scratch"]), json!([]), vec!["wipe"]),
        (json!(["MCP:Scratch"]), json!([]), vec!["wipe"]),
        (json!(["mcp:*"]), json!([]), vec!["wipe"]),
        (json!(["client:scratch"]), json!([]), vec!["tap"]),
        (json!(["group:mcp"]), json!([]), vec!["wipe"]),
        (json!(["group:client"]), json!([]), vec!["tap"]),
        (json!(["group:acme_db"]), json!([]), vec!["own"]),
        (json!(["group:acme_*"]), json!([]), vec!["own"]),
        (json!(["group:plugins"]), json!([]), vec!["own", "tap", "wipe"]),
        (json!(null), json!(["scratch"]), vec!["own"]),
        (json!(null), json!(["mcp:scratch"]), vec!["own", "tap"]),
        (json!(null), json!(["group:acme_db"]), vec![]),
        (json!(null), json!(["group:acme*"]), vec![]),
        (json!(null), json!(["group:mcp"]), vec!["tap"]),
    ] {
        let mut settings = PolicySettings::default();
        settings.tools = serde_json::from_value(json!({ "deny": deny })).unwrap();
        settings.tools.allow = serde_json::from_value(allow.clone()).unwrap();
        let announced = Toolkit::empty().permission_keys(["scratch", "mcp:scratch"]);
        let toolkit = announced.policy(ToolPolicy::new(settings)).build().unwrap();
        for (name, source) in
            [("wipe", Source::mcp("scratch")), ("tap", Source::client("scratch")), ("own", Source::Runtime)]
        {
            let tool = Tool::builder(name).description("Is there.").group("acme_db");
            // The host's own may say what it likes, but not that it is a server's.
            let tool = if source == Source::Runtime { tool.group("mcp") } else { tool };
            toolkit.register(tool.source(source).build(|_, _| async { "ran" }).unwrap()).unwrap();
        }
        let toolbox = toolkit.toolbox(&Caller::new()).await;
        let names: Vec<_> = toolbox.tools().map(Tool::name).collect();
        assert_eq!(names, expected, "allow {allow} deny {deny}");
    }
}

#[tokio::test]
async fn a_path_is_denied_however_the_entry_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let workspace = directory.path().canonicalize().unwrap();
    std::fs::write(workspace.join("f.txt"), "text").unwrap();
    std::fs::write(workspace.join("g.txt"), "text").unwrap();
    let absolute = workspace.join("f.txt").display().to_string();
    let below = format!("{}/*", workspace.display());
    let caller = Caller::new().with_workspace(&workspace);
    for (rules, allowed) in [
        (json!([{ "match": absolute, "do": "deny" }]), ["g.txt"].as_slice()),
        (json!([{ "match": "./f.txt", "do": "deny" }]), &["g.txt"]),
        (json!([{ "match": "./*", "do": "deny" }]), &[]),
        (json!([{ "match": below, "do": "deny" }]), &[]),
        // The last entry that matches counts, in whatever way it is written.
        (json!([{ "match": below, "do": "deny" }, { "match": "g.txt", "do": "allow" }]), &["g.txt"]),
        (json!([{ "match": "*", "do": "allow" }, { "match": absolute, "do": "ask" }]), &["g.txt"]),
        (json!([{ "match": "f.txt", "do": "deny" }, { "match": below, "do": "allow" }]), &["g.txt"]),
    ] {
        let toolkit = Toolkit::empty()
            .tool(tool_ref!(peek).named("read"))
            .permissions(Permissions::new([everybody(json!({ "read": rules }))]))
            .build()
            .unwrap();
        let mut read = Vec::new();
        for path in ["f.txt", "g.txt"] {
            if text(&toolkit, &caller, "read", json!({ "path": path })).await.is_ok() {
                read.push(path);
            }
        }
        assert_eq!(read, allowed, "{rules}");
    }
}

#[tokio::test]
async fn of_two_entries_that_deny_the_one_that_is_written_as_the_path_is_shown_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let workspace = directory.path().canonicalize().unwrap();
    std::fs::write(workspace.join("f.txt"), "text").unwrap();
    let caller = Caller::new().with_workspace(&workspace);
    let whole = workspace.join("f.txt").display().to_string();
    let by_whole = format!("`{whole}`: deny");
    for (rules, told) in [
        (json!([{ "match": "f.*", "do": "deny" }, { "match": whole, "do": "deny" }]), "`f.*`: deny"),
        (json!([{ "match": "f.*", "do": "ask" }, { "match": whole, "do": "deny" }]), &*by_whole),
    ] {
        let toolkit = Toolkit::empty()
            .tool(tool_ref!(peek).named("read"))
            .permissions(Permissions::new([everybody(json!({ "read": rules }))]))
            .build()
            .unwrap();
        let refused = text(&toolkit, &caller, "read", json!({ "path": "f.txt" })).await.unwrap_err();
        assert!(refused.contains(told), "{refused}");
    }
}
