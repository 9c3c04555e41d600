//! Which sources there are, and which goes before which.

use super::Place;
use super::sections::AgentSettings;
use super::servers;
use serde_json::json;
use toolkit::{
    Toolkit,
    config::{Configuration, LoadOptions, TrustedFile},
    permission::{Decision, PermissionRule},
};

#[test]
fn a_later_source_goes_before_an_earlier_one() {
    let place = Place::new();
    let say = |name: &str| {
        format!("{{ tools: {{ profile: '{name}', deny: ['{name}'], byProvider: {{ {name}: {{}} }} }} }}")
    };
    place.write("user/toolkit.json5", &say("user"));
    place.write("toolkit.json5", &say("above"));
    place.write("work/toolkit.json5", &say("workspace"));
    place.write("named.json5", &say("named"));
    let trust = |options: LoadOptions, path: &str, name: &str| {
        options.trusting(TrustedFile::new(place.path(path), say(name).as_bytes()))
    };
    let steps: [&dyn Fn(LoadOptions) -> LoadOptions; 7] = [
        &|_| {
            LoadOptions::new().program(
                json!({"tools": {"profile": "program", "deny": ["program"], "byProvider": {"program": {}}}}),
            )
        },
        &|options| options.user_file(place.path("user/toolkit.json5")),
        &|options| trust(options.workspace(place.path("work")), "toolkit.json5", "above"),
        &|options| trust(options, "work/toolkit.json5", "workspace"),
        &|options| {
            options.environment([(
                "TOOLKIT_TOOLS",
                "{ profile: 'environment', deny: ['environment'], byProvider: { environment: {} } }",
            )])
        },
        &|options| options.file(place.path("named.json5")),
        &|options| {
            options.set("tools.profile=flag").set("tools.deny=['flag']").set("/tools/byProvider/flag={}")
        },
    ];
    let names = ["program", "user", "above", "workspace", "environment", "named", "flag"];
    let mut options = LoadOptions::new();
    for (count, step) in steps.iter().enumerate() {
        options = step(options);
        let policy = Configuration::load(options.clone()).unwrap().policy().0;
        assert_eq!(policy.tools.profile.as_deref(), Some(names[count]), "scalars are replaced");
        assert_eq!(policy.tools.deny, names[..=count], "denies unite");
        assert_eq!(policy.by_provider.len(), count + 1, "objects merge");
    }
    let policy = Configuration::load(options).unwrap().policy().0;
    for (pointer, expected) in [
        ("/tools/deny/0", "the program"),
        ("/tools/deny/1", "user/toolkit.json5:1:36"),
        ("/tools/deny/3", "work/toolkit.json5:1:41"),
        ("/tools/deny/4", "$TOOLKIT_TOOLS"),
        ("/tools/deny/6", "--set tools.deny"),
        ("/tools/profile", "--set tools.profile"),
    ] {
        let origin = policy.origins.find(pointer).map(|origin| place.short(&origin.to_string()));
        assert_eq!(origin.as_deref(), Some(expected), "{pointer}");
    }
}

#[test]
fn variables_name_keys_without_case() {
    for (name, value, pointer, expected) in [
        ("TOOLKIT_ENABLE_TOOL_CALLS", "false", "/enableToolCalls", json!(false)),
        ("TOOLKIT_ENABLETOOLCALLS", "false", "/enableToolCalls", json!(false)),
        ("TOOLKIT_TOOLS__ALSO_ALLOW", "['a']", "/tools/alsoAllow", json!(["a"])),
        ("TOOLKIT_TOOLS__PROFILE", "coding", "/tools/profile", json!("coding")),
        ("TOOLKIT_TOOLS__PROFILE", "'coding'", "/tools/profile", json!("coding")),
        // A text that looks like a number, where a text is wanted.
        ("TOOLKIT_TOOL_AGENT__MODEL", "4", "/toolAgent/model", json!("4")),
        ("TOOLKIT_TOOL_AGENT__MAX_TOOL_CALLS", "4", "/toolAgent/maxToolCalls", json!(4)),
        ("TOOLKIT_AGENTS__KID__TOOLS__DENY", "['exec']", "/agents/kid/tools/deny", json!(["exec"])),
        (
            "TOOLKIT_TOOLS__SETTINGS__WEB_SEARCH__ENABLED",
            "false",
            "/tools/settings/web_search/enabled",
            json!(false),
        ),
        ("TOOLKIT_LOOP_GUARD", "{ tell: 2 }", "/loopGuard", json!({"tell": 2})),
    ] {
        let configuration = Configuration::load(LoadOptions::new().environment([(name, value)])).unwrap();
        assert_eq!(configuration.document().pointer(pointer), Some(&expected), "{name}={value}");
        assert_eq!(configuration.origins().find(pointer).unwrap().to_string(), format!("${name}"));
    }
    // The name of an agent that a file writes otherwise is meant.
    let place = Place::new();
    place.write("user/toolkit.json5", "{ agents: { BigOne: {} } }");
    let options = place.options().environment([("TOOLKIT_AGENTS__BIG_ONE__TOOLS__DENY", "['exec']")]);
    assert_eq!(Configuration::load(options).unwrap().policy().0.agents["BigOne"].deny, ["exec"]);
    place.write("user/toolkit.json5", "{ agents: { 'big-one': { permission: { edit: 'ask' } } } }");
    let options = place.options().environment([("TOOLKIT_AGENTS__BIG_ONE__TOOLS__DENY", "['exec']")]);
    let configuration = Configuration::load(options).unwrap();
    assert_eq!(configuration.policy().0.agents["big-one"].deny, ["exec"]);
    assert!(configuration.notes().is_empty(), "{:?}", configuration.notes());
}

#[test]
fn a_name_of_a_variable_that_no_file_spells_is_told() {
    for (name, value, expected) in [
        (
            "TOOLKIT_AGENTS__MY_AGENT__TOOLS__DENY",
            "['read']",
            Some("`my_agent`, since no file has such a name: `my-agent` is"),
        ),
        ("TOOLKIT_CHANNELS__MY_OWN__TOOLS__DENY", "['read']", Some("`my_own`")),
        ("TOOLKIT_TOOLS__BY_PROVIDER__GPT_5__DENY", "['read']", Some("`gpt_5`")),
        ("TOOLKIT_AGENTS__KID__TOOLS__DENY", "['read']", None),
        ("TOOLKIT_TOOLS__SETTINGS__WEB_SEARCH__ENABLED", "false", None),
        ("TOOLKIT_PERMISSION__WEB_FETCH", "ask", None),
    ] {
        let configuration = Configuration::load(LoadOptions::new().environment([(name, value)])).unwrap();
        let notes = configuration.notes();
        assert_eq!(notes.len(), usize::from(expected.is_some()), "{name}: {notes:?}");
        if let (Some(expected), [note]) = (expected, notes.as_slice()) {
            assert!(
                note.starts_with(&format!("${name} is taken to mean")) && note.contains(expected),
                "{note}"
            );
        }
    }
}

#[test]
fn wrong_variables_and_flags_are_named() {
    for (name, value, expected) in [
        ("TOOLKIT_TOLS", "{}", "$TOOLKIT_TOLS: the configuration has no key `TOLS`; did you mean `tools`?"),
        (
            "TOOLKIT_TOOLS__DENY",
            "exec",
            "$TOOLKIT_TOOLS__DENY: tools.deny: expected an array, got the string \"exec\"",
        ),
        ("TOOLKIT_TOOLS__DENY__X", "1", "$TOOLKIT_TOOLS__DENY__X: `tools.deny` has no keys"),
        ("TOOLKIT_TOOLS____DENY", "1", "$TOOLKIT_TOOLS____DENY: a name in its path is empty"),
        ("TOOLKIT_", "1", "$TOOLKIT_: a name in its path is empty"),
        (
            "TOOLKIT_ENABLE_TOOL_CALLS",
            "no",
            "$TOOLKIT_ENABLE_TOOL_CALLS: enableToolCalls: expected a boolean, got the string \"no\"",
        ),
    ] {
        let error = Configuration::load(LoadOptions::new().environment([(name, value)])).unwrap_err();
        let told: Vec<String> = error.problems.iter().map(ToString::to_string).collect();
        assert_eq!(told, [expected]);
    }
    let twice = [("TOOLKIT_ENABLETOOLCALLS", "true"), ("TOOLKIT_ENABLE_TOOL_CALLS", "false")];
    let error = Configuration::load(LoadOptions::new().environment(twice)).unwrap_err().to_string();
    assert!(error.contains("the variable `TOOLKIT_ENABLETOOLCALLS` sets it too"), "{error}");
    for reserved in
        ["TOOLKIT_DATA_DIR", "TOOLKIT_CONFIG_DIR", "TOOLKIT_NODE_DIR", "TOOLKIT_LOG", "TOOLKITS", "OTHER"]
    {
        Configuration::load(LoadOptions::new().environment([(reserved, "x")])).unwrap();
    }
    let error = Configuration::load(LoadOptions::new().set("Tools.deny=[]")).unwrap_err().to_string();
    assert!(
        error.contains("--set Tools.deny: the configuration has no key `Tools`; did you mean `tools`?"),
        "{error}"
    );
}

#[test]
fn permissions_are_kept_by_source() {
    let place = Place::new();
    place.write(
        "user/toolkit.json5",
        "{ permission: { exec: 'deny' }, agents: { kid: { permission: { edit: 'ask' } } } }",
    );
    let configuration = Configuration::load(place.options().set("permission.exec=allow")).unwrap();
    let (sources, restrictions) = configuration.permissions();
    let words: Vec<_> = sources.iter().map(|source| source.everybody.get("exec").cloned()).collect();
    let always = |decision| Some(PermissionRule::Always(decision));
    assert_eq!(words, [always(Decision::Deny), always(Decision::Allow)]);
    assert_eq!(sources[0].agents["kid"]["edit"], PermissionRule::Always(Decision::Ask));
    assert_eq!(
        sources[0].origins.find("/permission/exec").map(|origin| place.short(&origin.to_string())).as_deref(),
        Some("user/toolkit.json5:1:23")
    );
    assert!(restrictions.is_empty());
    assert_eq!(configuration.document(), json!({"agents": {"kid": {}}}));
}

#[test]
fn a_file_of_the_users_in_the_place_of_a_workspace_counts_once() {
    let place = Place::new();
    place.write("work/toolkit.json5", "{ enableToolCalls: true }");
    for options in [
        LoadOptions::new().workspace(place.path("work")).user_file(place.path("work/toolkit.json5")),
        LoadOptions::new().workspace(place.path("work")).file(place.path("work/toolkit.json5")),
    ] {
        let configuration = Configuration::load(options).unwrap();
        assert_eq!(configuration.policy().0.enable_tool_calls, Some(true));
        assert!(configuration.workspace_files().is_empty() && configuration.ignored().is_empty());
    }
}

#[test]
fn the_policy_has_every_key_in_its_place() {
    let place = Place::new();
    place.write(
        "user/toolkit.json5",
        "{ enableToolCalls: true,
           tools: { profile: 'p', allow: [], alsoAllow: ['a'], deny: ['d'], profiles: { p: { allow: ['x'] } },
                    byProvider: { openai: { deny: ['o'] } }, sandbox: { deny: ['s'] }, subagents: { deny: ['u'] },
                    settings: { t: { enabled: false, autoExecute: true } } },
           agents: { kid: { tools: { deny: ['k'], byProvider: { 'a/b': { deny: ['kb'] } } } } },
           channels: { chat: { tools: { deny: ['c'] } } },
           plugins: { prefer: ['q', 'p'], p: { joinGroups: ['fs'] }, gone: { enabled: false } },
           loopGuard: { tell: 3, ask: 4, block: 5 },
           toolAgent: { maxToolCalls: 7 },
           mcp: { one: { command: 'x', args: ['y'] }, off: { url: 'https://x', enabled: false } } }",
    );
    let configuration = place.load();
    let policy = configuration.policy().0;
    assert_eq!(policy.tools.profile.as_deref(), Some("p"));
    assert_eq!(policy.tools.allow, Some(Vec::new()));
    assert_eq!(
        (policy.tools.also_allow, policy.tools.deny),
        (vec!["a".to_owned()], vec!["d".to_owned(), "gone".to_owned()])
    );
    assert_eq!(policy.profiles["p"].allow, Some(vec!["x".to_owned()]));
    assert_eq!(policy.by_provider["openai"].deny, ["o"]);
    assert_eq!((policy.sandbox.deny, policy.subagents.deny), (vec!["s".to_owned()], vec!["u".to_owned()]));
    assert_eq!(policy.enabled, [("t".to_owned(), false)].into());
    assert_eq!(policy.agents["kid"].deny, ["k"]);
    assert_eq!(policy.agents_by_provider["kid"]["a/b"].deny, ["kb"]);
    assert_eq!(policy.channels["chat"].deny, ["c"]);
    assert_eq!(policy.join_groups["p"], ["fs".to_owned()].into());
    assert_eq!(policy.enable_tool_calls, Some(true));
    let gone = policy.origins.find("/tools/deny/1").map(|origin| place.short(&origin.to_string()));
    assert_eq!(gone.as_deref(), Some("user/toolkit.json5:7:87"));
    assert_eq!(configuration.prefer(), ["q", "p"]);
    assert_eq!((configuration.auto_execute("t"), configuration.auto_execute("other")), (Some(true), None));
    let guard = configuration.loop_guard();
    assert_eq!((guard.tell, guard.ask, guard.block), (Some(3), Some(4), Some(5)));
    assert_eq!(
        configuration
            .section::<AgentSettings>("toolAgent")
            .map(|agent| (agent.max_tool_calls, agent.timeout_ms))
            .unwrap(),
        (7, 300_000)
    );
    assert_eq!(servers::used(&configuration).keys().collect::<Vec<_>>(), ["one"]);
    assert!(configuration.permissions().0.is_empty(), "it says nothing of permissions");
}

#[test]
fn keys_of_an_agent_that_no_host_runs_are_told() {
    let place = Place::new();
    place.write("user/toolkit.json5", "{ toolAgent: { autoConfirmDangerous: false,\n  timeoutMs: 5000 } }");
    let told = |builder: toolkit::Builder| -> Vec<String> {
        let toolkit = builder.configuration(place.load()).build().unwrap();
        toolkit.diagnostics().iter().map(|said| place.short(&said.to_string())).collect()
    };
    let why = "has no effect: this program runs no agent that tasks are delegated to";
    let nobody = told(Toolkit::empty());
    assert_eq!(nobody.len(), 2, "{nobody:?}");
    for (line, key, place) in [
        (&nobody[0], "autoConfirmDangerous", "user/toolkit.json5:1:"),
        (&nobody[1], "timeoutMs", "user/toolkit.json5:2:"),
    ] {
        assert!(line.contains(&format!("`toolAgent.{key}` {why}")) && line.contains(place), "{line}");
    }
    assert_eq!(told(Toolkit::empty().uses_section("toolAgent")), Vec::<String>::new());
}
