//! The configuration of the builtin tools.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use builtin_tools::config::{ExecSettings, WebFetchSettings, WebSearchSettings};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use toolkit::config::{Configuration, LoadOptions};

/// Every key that the requirements name, with what its schema says of it.
#[test]
fn every_key_is_there_with_its_type_default_and_limits() {
    let schema = Configuration::schema().unwrap();
    for (key, expected) in [
        ("exec.ask", json!({"default": "on-miss"})),
        ("exec.security", json!({"enum": ["auto", "ask", "deny"], "default": "ask"})),
        ("exec.timeoutSec", json!({"type": "integer", "minimum": 1, "maximum": 86_400, "default": 120})),
        ("exec.maxTimeoutSec", json!({"type": "integer", "minimum": 1, "maximum": 86_400, "default": 3_600})),
        ("exec.maxBackground", json!({"type": "integer", "minimum": 1, "maximum": 1_000, "default": 64})),
        ("exec.maxProcesses", json!({"type": "integer", "minimum": 16, "maximum": 4_194_304})),
        ("exec.maxMemoryMb", json!({"type": "integer", "minimum": 16, "maximum": 67_108_864})),
        ("exec.maxFileMb", json!({"type": "integer", "minimum": 1, "maximum": 67_108_864})),
        ("exec.sandbox", json!({"enum": ["auto", "required", "off"], "default": "auto"})),
        (
            "exec.sandboxMode",
            json!({"enum": ["read-only", "workspace-write", "full"], "default": "workspace-write"}),
        ),
        ("exec.network", json!({"enum": ["on", "off"], "default": "off"})),
        ("exec.backgroundMs", json!({"type": "integer", "minimum": 10, "maximum": 3_600_000})),
        ("exec.safeBins", json!({"type": "array", "items": {"type": "string"}})),
        ("exec.pathPrepend", json!({"type": "array", "items": {"type": "string"}})),
        ("exec.inheritEnv", json!({"type": "array", "items": {"type": "string"}})),
        ("exec.applyPatch.allowModels", json!({"type": "array", "items": {"type": "string"}})),
        ("exec.enableSandbox", json!({"type": "boolean", "default": true})),
        ("exec.defaultWorkingDirectory", json!({"type": "string"})),
        ("exec.allowedDirectories", json!({"type": "array", "items": {"type": "string"}})),
        ("exec.confirmDangerousCommands", json!({"type": "boolean", "default": true})),
        ("exec.dangerousCommandWhitelist", json!({"type": "array", "items": {"type": "string"}})),
        ("web.network.allowedRanges", json!({"type": "array", "items": {"type": "string"}})),
        ("web.network.proxy", json!({"type": "string", "default": "off"})),
        ("web.network.userAgent", json!({"type": "string"})),
        ("web.search.provider", json!({"enum": ["brave", "perplexity", "searxng"]})),
        (
            "web.search.cacheMinutes",
            json!({"type": "integer", "minimum": 0, "maximum": 10_080, "default": 15}),
        ),
        (
            "web.search.timeoutSeconds",
            json!({"type": "integer", "minimum": 1, "maximum": 600, "default": 10}),
        ),
        ("web.search.baseUrl", json!({"type": "string", "pattern": "^https?://"})),
        ("web.search.apiKey", json!({})),
        ("web.fetch.allowedDomains", json!({"type": "array", "items": {"type": "string"}})),
        ("web.fetch.blockedDomains", json!({"type": "array", "items": {"type": "string"}})),
        (
            "web.fetch.cacheMinutes",
            json!({"type": "integer", "minimum": 0, "maximum": 10_080, "default": 15}),
        ),
        ("web.fetch.timeoutSeconds", json!({"type": "integer", "minimum": 1, "maximum": 600, "default": 30})),
        ("web.fetch.maxBytes", json!({"type": "integer", "minimum": 1024, "maximum": 104_857_600})),
        ("web.fetch.respectRobots", json!({"type": "boolean", "default": false})),
        ("message.enabled", json!({"type": "boolean", "default": true})),
        ("settings.read.enabled", json!({"type": "boolean", "default": true})),
        ("settings.read.autoExecute", json!({"type": "boolean"})),
        ("settings.some_other.enabled", json!({"type": "boolean"})),
    ] {
        let mut found = &schema["properties"]["tools"];
        for step in key.split('.') {
            let property = &found["properties"][step];
            found = if property.is_null() { &found["additionalProperties"] } else { property };
        }
        assert!(found["description"].as_str().is_some_and(|text| !text.is_empty()), "{key}: {found}");
        for (keyword, value) in expected.as_object().unwrap() {
            assert_eq!(&found[keyword], value, "{key}: {keyword}");
        }
    }
}

#[test]
fn a_configuration_of_everything_decodes() {
    let configuration = Configuration::load(LoadOptions::new().program(json!({"tools": {
        "exec": {
            "ask": "always", "security": "deny", "timeoutSec": 5, "backgroundMs": 10, "safeBins": ["jq"],
            "pathPrepend": ["/opt/bin"], "applyPatch": {"allowModels": ["openai/*"]}, "enableSandbox": false,
            "defaultWorkingDirectory": "/srv", "allowedDirectories": ["/tmp"], "confirmDangerousCommands": false,
            "dangerousCommandWhitelist": ["rm *.tmp"],
        },
        "web": {"search": {"provider": "searxng", "baseUrl": "http://localhost", "apiKey": "0123456789"}, "fetch": {"allowedDomains": []}},
        "message": {"enabled": false},
    }})))
    .unwrap();
    let exec: ExecSettings = configuration.section("tools.exec").unwrap();
    assert_eq!((exec.timeout_sec, exec.background_ms, exec.enable_sandbox), (5, Some(10), false));
    let search: WebSearchSettings = configuration.section("tools.web.search").unwrap();
    assert_eq!(search.api_key.as_ref().map(toolkit::config::Secret::expose), Some("0123456789"));
    let fetch: WebFetchSettings = configuration.section("tools.web.fetch").unwrap();
    assert_eq!((fetch.allowed_domains, fetch.timeout_seconds), (Some(Vec::new()), 30));
    let policy = configuration.policy().0;
    assert_eq!(policy.enabled, [("message".to_owned(), false)].into());
    assert_eq!(policy.models["apply_patch"].0, ["openai/*"]);
    assert_eq!(configuration.document()["tools"]["web"]["search"]["apiKey"], "[redacted]");
}

// A program with these tools and without the agent, whose crate declares this section.
toolkit::config_section!(toolkit::config::ConfigSection::at::<BTreeMap<String, serde_json::Value>>(
    "toolAgent"
));

/// The configuration that the requirements document, key by key.
const DOCUMENTED: &str = r#"{
  enableToolCalls: true,
  tools: {
    profile: "coding",
    allow: ["group:fs", "exec", "web_search", "web_fetch", "message"],
    deny: ["group:sessions"],
    web: {
      search: { provider: "brave", cacheMinutes: 15, timeoutSeconds: 10 },
      fetch: { allowedDomains: ["example.com"], blockedDomains: ["evil.example"], cacheMinutes: 15, timeoutSeconds: 30 },
    },
    exec: {
      ask: true,
      security: "auto",
      timeoutSec: 120,
      backgroundMs: 10000,
      safeBins: ["jq"],
      pathPrepend: ["/usr/local/bin"],
      applyPatch: { allowModels: ["gpt-*"] },
      enableSandbox: true,
      defaultWorkingDirectory: "/tmp",
      allowedDirectories: ["/tmp"],
      confirmDangerousCommands: true,
      dangerousCommandWhitelist: ["rm -rf target/tmp"],
    },
    message: { enabled: true },
    settings: {
      read: { enabled: true, autoExecute: true },
      write: { enabled: true, autoExecute: false },
    },
  },
  toolAgent: { autoConfirmDangerous: false, maxToolCalls: 50, timeoutMs: 300000, providerId: "acme", model: "small" },
}"#;

#[test]
fn the_documented_configuration_is_accepted_and_builds_a_toolkit() {
    use builtin_tools::config::ExecAsk;
    for (ask, expected) in [
        ("true", ExecAsk::OnMiss),
        ("false", ExecAsk::Off),
        ("\"on-miss\"", ExecAsk::OnMiss),
        ("\"always\"", ExecAsk::Always),
        ("\"off\"", ExecAsk::Off),
    ] {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("toolkit.json5");
        fs::write(&file, DOCUMENTED.replace("ask: true", &format!("ask: {ask}"))).unwrap();
        let configuration = Configuration::load(LoadOptions::new().file(&file)).unwrap();
        let exec: ExecSettings = configuration.section("tools.exec").unwrap();
        assert_eq!(exec.asked(), expected, "{ask}");
        let agent: BTreeMap<String, serde_json::Value> = configuration.section("toolAgent").unwrap();
        assert_eq!(agent["model"], "small");
        let toolkit = toolkit::Toolkit::empty().configuration(configuration).build().unwrap();
        // A setting that is accepted and does nothing here is reported.
        let told: Vec<String> = toolkit.diagnostics().iter().map(ToString::to_string).collect();
        for section in ["tools.web.search", "tools.web.fetch", "tools.message"] {
            let line = format!("the section `{section}` has no effect yet");
            assert!(told.iter().any(|told| told.contains(&line)), "{section}: {told:?}");
        }
    }
    for wrong in ["1", "null", "\"sometimes\""] {
        let error =
            Configuration::load(LoadOptions::new().set(format!("tools.exec.ask={wrong}"))).unwrap_err();
        assert!(error.to_string().contains("tools.exec.ask"), "{error}");
    }
}

#[cfg(all(feature = "fs", unix))]
#[test]
fn an_allowed_directory_with_a_wildcard_is_told_and_one_below_home_is_known() {
    for (directory, is_told) in
        [("/srv/no such/*", true), ("~", false), ("$HOME", false), ("${HOME}/", false)]
    {
        let program = json!({"tools": {"exec": {"allowedDirectories": [directory]}}});
        let configuration = Configuration::load(LoadOptions::new().program(program)).unwrap();
        let toolkit = toolkit::Toolkit::empty().configuration(configuration).build().unwrap();
        let told = toolkit.diagnostics().iter().map(ToString::to_string);
        let told: Vec<String> =
            told.filter(|told| told.contains("has no effect: it does not exist")).collect();
        assert_eq!(!told.is_empty(), is_told, "{directory}: {told:?}");
    }
}

/// Whatever a project's file says that nobody trusts, a switch is no way around the order of the words.
#[test]
fn a_switch_of_a_project_is_as_strict_as_the_word_it_stands_for() {
    for (user, project, expected) in [
        ("\"on-miss\"", "false", builtin_tools::config::ExecAsk::Off),
        ("true", "false", builtin_tools::config::ExecAsk::Off),
        ("false", "true", builtin_tools::config::ExecAsk::Off),
        ("\"always\"", "false", builtin_tools::config::ExecAsk::Always),
    ] {
        let place = tempfile::tempdir().unwrap();
        let write = |file: &str, ask: &str| {
            fs::create_dir_all(place.path().join(file).parent().unwrap()).unwrap();
            fs::write(place.path().join(file), format!("{{ tools: {{ exec: {{ ask: {ask} }} }} }}")).unwrap();
        };
        write("user/toolkit.json5", user);
        write("work/toolkit.json5", project);
        let options = LoadOptions::new()
            .user_file(place.path().join("user/toolkit.json5"))
            .workspace(place.path().join("work"))
            .data_dir(place.path().join("data"));
        let exec: ExecSettings = Configuration::load(options).unwrap().section("tools.exec").unwrap();
        assert_eq!(exec.asked(), expected, "{user} {project}");
    }
}

#[test]
fn absent_sections_have_their_defaults() {
    let configuration = Configuration::default();
    let exec: ExecSettings = configuration.section("tools.exec").unwrap();
    assert_eq!((exec.timeout_sec, exec.enable_sandbox, exec.safe_bins.len()), (120, true, 0));
    let search: WebSearchSettings = configuration.section("tools.web.search").unwrap();
    assert_eq!((search.cache_minutes, search.timeout_seconds, search.provider), (15, 10, None));
    assert_eq!(Value::Null, json!(search.api_key));
}

#[test]
fn blocked_domains_of_all_sources_count_together() {
    let program = json!({"tools": {"web": {"fetch": {"blockedDomains": ["a.example"], "allowedDomains": ["b.example"]}}}});
    let options = LoadOptions::new()
        .program(program)
        .set("tools.web.fetch={ blockedDomains: ['c.example', 'a.example'], allowedDomains: ['d.example'] }");
    let settings =
        Configuration::load(options).unwrap().section::<WebFetchSettings>("tools.web.fetch").unwrap();
    assert_eq!(settings.blocked_domains, ["a.example", "c.example"]);
    assert_eq!(settings.allowed_domains.unwrap(), ["d.example"]);
}

#[cfg(all(feature = "fs", unix))]
#[tokio::test]
async fn allowed_directories_count_as_within_the_workspace() {
    use toolkit::prelude::*;
    let (workspace, further) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(further.path().join("notes"), "text").unwrap();
    let path = further.path().join("notes");
    for (directories, expected) in [
        (vec![further.path().to_str().unwrap()], "     1→text\n"),
        (vec!["relative", further.path().to_str().unwrap()], "     1→text\n"),
        (vec![], "not allowed: read "),
    ] {
        let program = json!({"tools": {"exec": {"allowedDirectories": directories}}});
        let configuration = Configuration::load(LoadOptions::new().program(program)).unwrap();
        let toolkit = Toolkit::empty()
            .tool(toolkit::tool_ref!(builtin_tools::fs::read))
            .configuration(configuration)
            .default_workspace(workspace.path())
            .build()
            .unwrap();
        let told: Vec<String> = toolkit.diagnostics().iter().map(ToString::to_string).collect();
        let is_told = told.iter().any(|text| text.contains("the directory `relative` has no effect"));
        assert_eq!(is_told, directories.contains(&"relative"), "{told:?}");
        let toolbox = toolkit.toolbox(&Caller::new()).await;
        let text = toolbox.call(ToolCall::new("1", "read", json!({ "file_path": path }))).await.text();
        assert!(text.starts_with(expected), "{directories:?}: {text}");
    }
}

/// The effective settings of `tools.exec` where the user's file and an untrusted file of the workspace differ.
fn narrowed(own: &Value, of_workspace: &Value) -> (ExecSettings, Vec<String>) {
    let root = tempfile::tempdir().unwrap();
    let write = |name: &str, exec: &Value| {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, json!({ "tools": { "exec": exec } }).to_string()).unwrap();
        path
    };
    let user = write("user/toolkit.json5", own);
    write("work/toolkit.json5", of_workspace);
    let options = LoadOptions::new().user_file(user).workspace(root.path().join("work"));
    let configuration = Configuration::load(options).unwrap();
    let ignored = configuration.ignored().iter().map(|key| key.pointer.replace("/tools/exec/", "")).collect();
    (configuration.section("tools.exec").unwrap(), ignored)
}

#[test]
fn a_workspace_that_nobody_trusts_makes_commands_stricter_and_never_looser() {
    for (own, of_workspace, expected, ignored) in [
        (json!({}), json!({ "security": "deny" }), json!({ "security": "deny" }), &[][..]),
        (json!({}), json!({ "security": "auto" }), json!({ "security": "ask" }), &["security"]),
        (json!({ "security": "auto" }), json!({ "security": "ask" }), json!({ "security": "ask" }), &[]),
        (json!({ "security": "deny" }), json!({ "security": "ask" }), json!({ "security": "deny" }), &[]),
        (json!({}), json!({ "ask": "always" }), json!({ "ask": "always" }), &[]),
        (json!({}), json!({ "ask": "off" }), json!({ "ask": "off" }), &[]),
        (json!({ "ask": "off" }), json!({ "ask": "always" }), json!({ "ask": "off" }), &[]),
        (json!({ "ask": "always" }), json!({ "ask": "off" }), json!({ "ask": "always" }), &[]),
        (json!({ "ask": "always" }), json!({ "ask": "on-miss" }), json!({ "ask": "always" }), &["ask"]),
        (json!({}), json!({ "sandbox": "required" }), json!({ "sandbox": "required" }), &[]),
        (json!({}), json!({ "sandbox": "off" }), json!({ "sandbox": "auto" }), &["sandbox"]),
        (json!({}), json!({ "enableSandbox": false }), json!({ "enableSandbox": true }), &["enableSandbox"]),
        (json!({}), json!({ "sandboxMode": "read-only" }), json!({ "sandboxMode": "read-only" }), &[]),
        (
            json!({}),
            json!({ "sandboxMode": "full" }),
            json!({ "sandboxMode": "workspace-write" }),
            &["sandboxMode"],
        ),
        (json!({}), json!({ "network": "on" }), json!({ "network": "off" }), &["network"]),
        (
            json!({ "confirmDangerousCommands": false }),
            json!({ "confirmDangerousCommands": true }),
            json!({ "confirmDangerousCommands": true }),
            &[],
        ),
        // A command that was asked about without a sandbox is asked about all the same.
        (
            json!({ "security": "auto", "sandbox": "off" }),
            json!({ "sandbox": "required" }),
            json!({ "security": "ask", "sandbox": "required" }),
            &[],
        ),
        (
            json!({ "security": "auto", "enableSandbox": false }),
            json!({ "enableSandbox": true }),
            json!({ "security": "ask", "enableSandbox": true }),
            &[],
        ),
        (
            json!({ "security": "auto", "sandboxMode": "full" }),
            json!({ "sandboxMode": "read-only" }),
            json!({ "security": "ask", "sandboxMode": "read-only" }),
            &[],
        ),
        (
            json!({ "security": "auto", "network": "on" }),
            json!({ "network": "off" }),
            json!({ "security": "ask", "network": "off" }),
            &[],
        ),
        (
            json!({ "security": "deny", "network": "on" }),
            json!({ "network": "off", "security": "auto" }),
            json!({ "security": "deny", "network": "off" }),
            &["security"],
        ),
        (
            json!({ "security": "auto" }),
            json!({ "sandboxMode": "read-only", "sandbox": "required" }),
            json!({ "security": "auto", "sandboxMode": "read-only", "sandbox": "required" }),
            &[],
        ),
        (
            json!({}),
            json!({ "timeoutSec": 1, "maxTimeoutSec": 2, "maxBackground": 3 }),
            json!({ "timeoutSec": 1, "maxTimeoutSec": 2, "maxBackground": 3 }),
            &[],
        ),
        (
            json!({}),
            json!({ "timeoutSec": 300, "maxTimeoutSec": 80_000, "maxBackground": 900 }),
            json!({ "timeoutSec": 120, "maxTimeoutSec": 3_600, "maxBackground": 64 }),
            &[],
        ),
        (json!({ "timeoutSec": 10 }), json!({ "timeoutSec": 11 }), json!({ "timeoutSec": 10 }), &[]),
        (
            json!({}),
            json!({ "safeBins": ["rm"], "pathPrepend": ["bin"], "backgroundMs": 10, "inheritEnv": ["TOKEN"] }),
            json!({ "safeBins": [], "pathPrepend": [], "backgroundMs": null, "inheritEnv": [] }),
            &["safeBins", "pathPrepend", "backgroundMs", "inheritEnv"],
        ),
    ] {
        let (found, told) = narrowed(&own, &of_workspace);
        let found = serde_json::to_value(&found).unwrap();
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&found[key], value, "{own} {of_workspace}: {key}");
        }
        assert_eq!(told, ignored, "{own} {of_workspace}");
    }
}
