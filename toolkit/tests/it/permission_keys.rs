//! Keys of permission rules: kinds, tools, servers, patterns of them; and for whom rules stand.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::configuration::Place;
use serde_json::{Value, json};
use toolkit::prelude::*;
use toolkit::{
    Ask, Tool, ToolErrorKind,
    approval::{Access, ScriptedApprover},
    config::LoadOptions,
    descriptor::Source,
    permission::{Decision, PermissionSettings, Permissions},
    tool_ref,
};

toolkit::permission_keys!["sign_off"];

/// Writes a file.
#[tool(asks, permission = "edit", alias = "store")]
async fn put(ctx: &ToolContext, path: &Path) -> Result<String, ToolError> {
    ctx.check_file_access(path, Access::Write).await?;
    Ok("done".to_owned())
}

/// Changes a file.
#[tool(asks, permission = "edit")]
async fn change(ctx: &ToolContext, path: &Path) -> Result<String, ToolError> {
    ctx.check_file_access(path, Access::Write).await?;
    Ok("done".to_owned())
}

/// Looks into a file.
#[tool(read_only)]
async fn find(ctx: &ToolContext, path: &Path) -> Result<String, ToolError> {
    ctx.check_file_access(path, Access::Read).await?;
    Ok("done".to_owned())
}

/// Runs a command.
#[tool(asks, permission = "run")]
async fn sh(ctx: &ToolContext, path: &str) -> Result<String, ToolError> {
    ctx.ask(Ask::new("run", "run it").with_pattern(path)).await?;
    Ok("done".to_owned())
}

/// The decision on a call: `allow`, `ask` or `deny`.
async fn outcome(rules: &Value, caller: Caller, tool: &str, path: &str) -> &'static str {
    let directory = tempfile::tempdir().unwrap();
    for path in ["a", ".env", "secret/a"] {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "text").unwrap();
    }
    let approver = ScriptedApprover::always(toolkit::approval::Answer::allow());
    let mut builder =
        Toolkit::empty().approver(approver.clone()).permissions(Permissions::new([settings(rules)]));
    for tool in [tool_ref!(put), tool_ref!(change), tool_ref!(find), tool_ref!(sh)] {
        builder = builder.tool(tool);
    }
    let toolkit = builder.build().unwrap();
    toolkit.register(remote(Source::mcp("Docs"), "docs__search")).unwrap();
    toolkit.register(remote(Source::client("tab"), "zap")).unwrap();
    let toolbox = toolkit.toolbox(&caller.with_workspace(directory.path())).await;
    let result = toolbox.call(ToolCall::new("1", tool, json!({ "path": path }))).await;
    match result.error().map(ToolError::kind) {
        Some(ToolErrorKind::Denied) => "deny",
        Some(_) => panic!("{tool} {path}: {}", result.text()),
        None if approver.asked().is_empty() => "allow",
        None => "ask",
    }
}

fn remote(source: Source, name: &str) -> Tool {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let tool = Tool::builder(name).description("Is elsewhere.").input_schema(schema).source(source);
    tool.build(|_, _| async { "done" }).unwrap()
}

fn settings(rules: &Value) -> PermissionSettings {
    let mut settings = PermissionSettings::default();
    let read = |rules: &Value| serde_json::from_value(rules.clone()).unwrap();
    settings.everybody = read(&rules["permission"]);
    for (key, all) in [("agents", &mut settings.agents), ("channels", &mut settings.channels)] {
        for (name, rules) in rules[key].as_object().into_iter().flatten() {
            all.insert(name.clone(), read(&rules["permission"]));
        }
    }
    for (channel, rules) in rules["channels"].as_object().into_iter().flatten() {
        for (key, all) in [("groups", &mut settings.groups), ("senders", &mut settings.senders)] {
            for (name, rules) in rules[key].as_object().into_iter().flatten() {
                all.entry(channel.clone()).or_default().insert(name.clone(), read(&rules["permission"]));
            }
        }
    }
    settings
}

#[tokio::test]
async fn a_rule_for_a_tool_is_about_that_tool_alone() {
    for (rules, tool, path, expected) in [
        (json!({ "edit": "allow", "put": "deny" }), "put", "a", "deny"),
        (json!({ "edit": "allow", "put": "deny" }), "change", "a", "allow"),
        (json!({ "edit": "allow", "store": "deny" }), "put", "a", "deny"),
        (json!({ "edit": "allow", " Put ": "deny" }), "put", "a", "deny"),
        (json!({ "edit": "allow", "put": "ask" }), "put", "a", "ask"),
        (json!({ "put": "allow" }), "put", "a", "allow"),
        (json!({ "put": "allow" }), "change", "a", "ask"),
        // The stricter of the kind and the tool.
        (json!({ "edit": "ask", "put": "allow" }), "put", "a", "ask"),
        (json!({ "edit": "deny", "put": "allow" }), "put", "a", "deny"),
        (json!({ "edit": "allow", "put": [{ "match": "src/", "do": "deny" }] }), "put", "src/a", "deny"),
        (json!({ "edit": "allow", "put": [{ "match": "src/", "do": "deny" }] }), "put", "a", "allow"),
        (json!({ "edit": "allow", "put": [{ "match": "src/", "do": "deny" }] }), "change", "src/a", "allow"),
        (json!({ "put": [{ "match": "src/", "do": "allow" }] }), "put", "src/a", "allow"),
        (json!({ "put": [{ "match": "src/", "do": "allow" }] }), "put", "a", "ask"),
        // It lifts no more than a rule for the kind would.
        (json!({ "put": "allow" }), "put", ".env", "ask"),
        (json!({ "put": [{ "match": "*", "do": "allow" }] }), "put", ".git/config", "ask"),
        (json!({ "put": "allow", "protected": "deny" }), "put", ".git/config", "deny"),
        (json!({ "put": "allow" }), "put", "/elsewhere/a", "ask"),
        // An alias that no core crate gave allows nothing.
        (json!({ "store": "allow" }), "put", "a", "ask"),
        // A tool of another kind than what it asks about.
        (json!({ "find": [{ "match": "secret/", "do": "deny" }] }), "find", "secret/a", "deny"),
        (json!({ "find": [{ "match": "secret/", "do": "deny" }] }), "find", "a", "allow"),
        (json!({ "find": [{ "match": "*", "do": "allow" }] }), "find", ".env", "ask"),
        (json!({ "sh": "deny" }), "sh", "ls", "deny"),
        (json!({ "sh": [{ "match": "ls *", "do": "deny" }] }), "sh", "ls -l", "deny"),
        (json!({ "sh": [{ "match": "ls *", "do": "allow" }] }), "sh", "ls a/b", "allow"),
        (json!({ "run": "deny", "sh": "allow" }), "sh", "ls", "deny"),
        // Servers, and their tools.
        (json!({ "docs__search": "allow" }), "docs__search", "a", "allow"),
        (json!({ "mcp:docs": "allow" }), "docs__search", "a", "allow"),
        (json!({ "mcp": "allow", "mcp:DOCS": "deny" }), "docs__search", "a", "deny"),
        (json!({ "mcp": "deny", "docs__search": "allow" }), "docs__search", "a", "deny"),
        // The name of a client's tool is its own word.
        (json!({ "zap": "allow" }), "zap", "a", "ask"),
        (json!({ "zap": "deny" }), "zap", "a", "deny"),
        (json!({ "client:tab": "allow" }), "zap", "a", "allow"),
    ] {
        let rules = json!({ "permission": rules });
        assert_eq!(outcome(&rules, Caller::new(), tool, path).await, expected, "{rules} {tool} {path}");
    }
}

#[tokio::test]
async fn a_key_with_a_star_holds_but_for_exceptions_beside_it() {
    for (rules, tool, path, expected) in [
        (json!({ "*": "deny" }), "put", "a", "deny"),
        (json!({ "*": "deny", "edit": "allow" }), "put", "a", "allow"),
        (json!({ "*": "deny", "put": "allow" }), "put", "a", "allow"),
        (json!({ "*": "deny", "put": "allow" }), "change", "a", "deny"),
        (json!({ "*": "deny", "put": "ask" }), "put", "a", "ask"),
        (json!({ "*": "deny", "edit": [{ "match": "src/", "do": "allow" }] }), "put", "src/a", "allow"),
        (json!({ "*": "deny", "edit": [{ "match": "src/", "do": "allow" }] }), "put", "a", "deny"),
        (json!({ "*": "deny", "find": "allow", "read": "allow" }), "find", "a", "allow"),
        // It is about secrets too.
        (json!({ "*": "deny", "find": "allow", "read": "allow" }), "find", ".env", "deny"),
        (json!({ "*": "ask" }), "find", "a", "ask"),
        (json!({ "*": "ask", "find": "allow", "read": "allow" }), "find", "a", "allow"),
        // It never allows.
        (json!({ "*": "allow" }), "put", "a", "ask"),
        (json!({ "*": "allow" }), "sh", "ls", "ask"),
        (json!({ "docs__*": "deny", "mcp": "allow" }), "docs__search", "a", "allow"),
        (json!({ "docs__*": "deny" }), "docs__search", "a", "deny"),
        (json!({ "mcp:*": "deny" }), "docs__search", "a", "deny"),
        (json!({ "pu*": "deny" }), "put", "a", "deny"),
        (json!({ "pu*": "deny" }), "change", "a", "ask"),
    ] {
        let rules = json!({ "permission": rules });
        assert_eq!(outcome(&rules, Caller::new(), tool, path).await, expected, "{rules} {tool} {path}");
    }
    // Never across levels.
    let kid = || Caller::new().with_agent("kid");
    for (rules, expected) in [
        (
            json!({ "permission": { "*": "deny" }, "agents": { "kid": { "permission": { "edit": "allow" } } } }),
            "deny",
        ),
        (
            json!({ "permission": { "edit": "allow" }, "agents": { "kid": { "permission": { "*": "deny" } } } }),
            "deny",
        ),
        (
            json!({ "permission": { "edit": "allow" },
                    "agents": { "kid": { "permission": { "*": "deny", "edit": "allow" } } } }),
            "allow",
        ),
    ] {
        assert_eq!(outcome(&rules, kid(), "put", "a").await, expected, "{rules}");
    }
}

#[tokio::test]
async fn an_exception_lifts_nothing_of_another_source_or_an_untrusted_one() {
    let source = |rules: Value| settings(&json!({ "permission": rules }));
    let deny = || source(json!({ "*": "deny" }));
    let allow = || source(json!({ "edit": "allow" }));
    let both = || source(json!({ "*": "deny", "edit": "allow" }));
    for (permissions, expected) in [
        (Permissions::new([both()]), Decision::Allow),
        (Permissions::new([deny(), allow()]), Decision::Deny),
        (Permissions::new([allow(), deny()]), Decision::Deny),
        (Permissions::new([allow()]).narrowed_by(both()), Decision::Deny),
        (Permissions::new([both()]).narrowed_by(source(json!({ "read": "deny" }))), Decision::Allow),
    ] {
        let patterns = ["a".to_owned()];
        let decided = permissions
            .decide(&Caller::new(), &toolkit::permission::PermissionRequest::new("edit", &patterns));
        assert_eq!(decided.decision, expected, "{permissions:?}");
    }
}

#[tokio::test]
async fn rules_stand_for_a_conversation_and_a_sender_of_a_channel() {
    let rules = json!({
        "permission": { "edit": "allow" },
        "channels": {
            "telegram": {
                "permission": {},
                "groups": { "-100*": { "permission": { "put": "deny" } }, "Family": { "permission": { "edit": "ask" } } },
                "senders": { "4711": { "permission": { "*": "deny" } }, "12": { "permission": { "edit": "allow" } } },
            },
        },
    });
    let telegram = || Caller::new().with_channel("Telegram");
    for (caller, tool, expected) in [
        (telegram(), "put", "allow"),
        (telegram().with_conversation("-100200"), "put", "deny"),
        (telegram().with_conversation("-100200"), "change", "allow"),
        (telegram().with_conversation(" family"), "put", "ask"),
        (telegram().with_sender("4711"), "change", "deny"),
        (telegram().with_sender("4711").with_conversation("other"), "change", "deny"),
        (telegram().with_sender("12"), "change", "allow"),
        (telegram().with_sender("12").with_conversation("-100200"), "put", "deny"),
        // Of another channel, or none.
        (Caller::new().with_channel("irc").with_sender("4711"), "change", "allow"),
        (Caller::new().with_sender("4711").with_conversation("-100200"), "put", "allow"),
    ] {
        assert_eq!(outcome(&rules, caller.clone(), tool, "a").await, expected, "{caller:?} {tool}");
    }
}

#[tokio::test]
async fn auto_execute_answers_what_a_tool_asks_under_its_own_kind() {
    for (rules, tool, path, expected) in [
        (json!({}), "put", "a", "allow"),
        (json!({}), "sh", "ls", "allow"),
        // Within what is denied, what is asked by a rule, and what is guarded.
        (json!({ "edit": "ask" }), "put", "a", "ask"),
        (json!({ "put": "deny" }), "put", "a", "deny"),
        (json!({ "run": [{ "match": "rm *", "do": "ask" }] }), "sh", "rm a", "ask"),
        (json!({ "run": [{ "match": "rm *", "do": "ask" }] }), "sh", "ls", "allow"),
        (json!({}), "put", ".env", "ask"),
        (json!({}), "put", ".git/config", "ask"),
        (json!({}), "put", "/elsewhere/a", "ask"),
        // Of another tool nothing is said, and of one of a server it does not count.
        (json!({}), "change", "a", "ask"),
        (json!({}), "docs__search", "a", "ask"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let approver = ScriptedApprover::always(toolkit::approval::Answer::allow());
        let permissions = Permissions::new([settings(&json!({ "permission": rules }))]);
        let permissions =
            ["put", "sh", "docs__search"].iter().fold(permissions, |all, tool| all.auto_execute(tool, true));
        let builder = Toolkit::empty().approver(approver.clone()).permissions(permissions);
        let tools = [tool_ref!(put), tool_ref!(change), tool_ref!(sh)];
        let toolkit = tools.into_iter().fold(builder, toolkit::Builder::tool).build().unwrap();
        toolkit.register(remote(Source::mcp("Docs"), "docs__search")).unwrap();
        let toolbox = toolkit.toolbox(&Caller::new().with_workspace(directory.path())).await;
        let result = toolbox.call(ToolCall::new("1", tool, json!({ "path": path }))).await;
        let outcome = match result.error().map(ToolError::kind) {
            Some(ToolErrorKind::Denied) => "deny",
            Some(_) => panic!("{}", result.text()),
            None if approver.asked().is_empty() => "allow",
            None => "ask",
        };
        assert_eq!(outcome, expected, "{rules} {tool} {path}");
    }
}

/// The problems of the user's file, built with two tools that are not linked.
fn problems(user: &str) -> Vec<String> {
    let place = Place::new();
    place.write("user/toolkit.json5", user);
    problems_of(&place)
}

fn problems_of(place: &Place) -> Vec<String> {
    let builder = Toolkit::empty().tool(tool_ref!(put)).tool(tool_ref!(sh)).configuration(place.load());
    match builder.permission_keys(["later", "batch_*"]).build() {
        Ok(_) => Vec::new(),
        Err(error) => error.problems.iter().map(|problem| place.short(problem)).collect(),
    }
}

#[test]
fn a_key_that_means_nothing_is_refused_with_its_place() {
    for (rules, near) in [
        ("wirte: 'deny'", "; name a kind"),
        ("edti: 'deny'", "; did you mean `edit`?"),
        ("edit: 'allow', stroe: 'deny'", "; did you mean `store`?"),
        ("'mcp:dcos': 'deny'", "; did you mean `mcp:docs`?"),
        ("'dcos__search': 'deny'", "; "),
        ("'dcos__*': 'deny'", "; "),
        ("unlinked_plugin_tool: 'deny'", "; "),
        ("unlinked_plugin_tool: 'allow'", "; "),
    ] {
        let file = format!("{{\n  mcp: {{ docs: {{ command: 'x' }} }},\n  permission: {{ {rules} }},\n}}");
        let problems = problems(&file);
        let [problem] = problems.as_slice() else { panic!("{rules}: {problems:?}") };
        assert!(problem.starts_with("user/toolkit.json5:3:"), "{problem}");
        assert!(problem.contains("there is no permission kind, tool or server `"), "{problem}");
        assert!(problem.contains(near), "{rules}: {problem}");
    }
    for known in [
        "edit",
        "read",
        "exec",
        "message",
        "sensitive",
        "put",
        "store",
        "sh",
        "run",
        "mcp",
        "mcp:docs",
        "MCP:Docs",
        "docs__search",
        "docs__*",
        "mcp:*",
        "*",
        "client:tab",
        "client",
        "later",
        "batch_7",
        "sign_off",
        "skill",
        "find",
    ] {
        let file = format!(
            "{{ mcp: {{ docs: {{ command: 'x', enabled: false }} }}, permission: {{ '{known}': 'deny' }} }}"
        );
        assert_eq!(problems(&file), [""; 0], "{known}");
    }
    // Wherever a rule stands.
    for place in [
        "agents: { kid: ",
        "channels: { irc: ",
        "channels: { irc: { groups: { g: ",
        "channels: { irc: { senders: { s: ",
    ] {
        let close = "}".repeat(place.matches('{').count());
        let file = format!("{{ {place}{{ permission: {{ wirte: 'deny' }} }} {close} }}");
        assert_eq!(problems(&file).len(), 1, "{file}");
    }
    // In a file that is not trusted too: what it denies must not be lost. What it allows does not count anyway.
    for (rule, count) in [("'deny'", 1), ("'allow'", 0)] {
        let place = Place::new();
        place.write("work/toolkit.json5", &format!("{{ permission: {{ wirte: {rule} }} }}"));
        assert_eq!(problems_of(&place).len(), count, "{rule}");
    }
}

#[test]
fn a_pattern_that_cannot_be_parsed_is_refused_with_its_place() {
    for (key, pattern) in [
        ("edit", "a[b"),
        ("read", "{a"),
        ("external_directory", "../a"),
        ("sensitive", "!a"),
        ("protected", ""),
        (" EDIT", "a[b"),
        ("put", "a[b"),
    ] {
        for file in ["user/toolkit.json5", "work/toolkit.json5"] {
            let place = Place::new();
            place.write(
                file,
                &format!("{{ permission: {{\n '{key}': [{{ match: '{pattern}', do: 'deny' }}] }} }}"),
            );
            let error = place.fails();
            assert!(
                error.contains(&format!("{file}:2:")) && error.contains("expected a pattern for paths"),
                "{error}"
            );
        }
    }
    // Commands are no paths.
    Toolkit::empty()
        .configuration(
            toolkit::config::Configuration::load(
                LoadOptions::new().set("permission.exec=[{match: 'a[b', do: 'deny'}]"),
            )
            .unwrap(),
        )
        .build()
        .unwrap();
}
