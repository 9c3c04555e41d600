//! Tests of explanations of decisions, and of diagnostics of a configuration.

use super::fixture::{Thing, policy, things};
use crate::policy::lint;
use crate::policy::{PolicySettings, ProfileRules, Refusal, ToolPolicy, ToolRules};
use std::collections::{BTreeMap, BTreeSet};
use toolkit_core::caller::Caller;
use toolkit_core::config_origin::{ConfigOrigin, ConfigOrigins};

fn rules() -> ToolRules {
    ToolRules::default()
}

/// Returns origins for the values of a configuration: all in one file, each pointer at a line of its own.
fn origins(pointers: &[&str]) -> ConfigOrigins {
    let lines = (1..).zip(pointers);
    ConfigOrigins::new(
        lines.map(|(line, pointer)| ((*pointer).to_owned(), ConfigOrigin::in_file("toolkit.json5", line, 5))),
    )
}

/// Returns the verdict of each layer on a tool, one per line.
fn said(policy: &ToolPolicy, caller: &Caller, thing: &Thing) -> Vec<String> {
    policy.verdicts(caller, thing).iter().map(ToString::to_string).collect()
}

#[test]
fn each_layer_says_its_verdict_and_the_rule_that_made_it() {
    let mut settings = PolicySettings {
        tools: rules().profile("Coding").also_allow(["status"]).deny(["web_search"]),
        ..PolicySettings::default()
    };
    settings.by_provider.insert("openai/gpt-5".to_owned(), rules().allow(["*"]));
    settings.agents.insert("kid".to_owned(), rules().deny(["read", "group:runtime"]));
    settings.sandbox = rules().allow(["read"]);
    settings.subagents = rules().profile("codign");
    settings.origins = origins(&[
        "/tools/profile",
        "/tools/byProvider/openai~1gpt-5/allow/0",
        "/agents/kid/tools/deny/1",
        "/tools",
    ]);
    let workspace = PolicySettings { tools: rules().deny(["exec"]), ..PolicySettings::default() };
    let policy = policy(settings).narrowed_by("./toolkit.json5", workspace);
    let mut caller =
        Caller::new().with_agent("Kid").with_provider("openai").with_model("gpt-5").with_channel("web");
    (caller.sandboxed, caller.depth) = (true, 1);
    let exec = Thing::core("exec").group("runtime");
    assert_eq!(
        said(&policy, &caller, &exec),
        [
            "allows  the profile: the profile `Coding` has it by `group:runtime` (/tools/profile at toolkit.json5:1:5)",
            "allows  the rules of model `openai/gpt-5`: `*` is in its allow list (/tools/byProvider/openai~1gpt-5/allow/0 at toolkit.json5:2:5)",
            "allows  the global lists: its deny list does not have it (/tools/deny at toolkit.json5:4:5)",
            "denies  the rules of agent `kid`: `group:runtime` is in its deny list (/agents/kid/tools/deny/1 at toolkit.json5:3:5)",
            "silent  the rules of the channel: there are no rules for channel `web`",
            "denies  the rules of the sandbox: its allow list does not have it (/tools/sandbox/allow at toolkit.json5:4:5)",
            "denies  the rules of sub-agents: there is no profile `codign`, so it allows nothing; did you mean `coding`? (/tools/subagents/profile at toolkit.json5:4:5)",
            "denies  the global lists in ./toolkit.json5: `exec` is in its deny list (/tools/deny/0)",
        ]
    );
    let refusal = Refusal::from(policy.refusal(&caller, &exec).unwrap());
    assert_eq!(
        refusal.to_string(),
        "denied by the rules of agent `kid`: `group:runtime` is in its deny list (`/agents/kid/tools/deny/1` in the \
         configuration, which only the user can change)"
    );
    assert_eq!(refusal.pointer.as_deref(), Some("/agents/kid/tools/deny/1"));
    assert_eq!(refusal.origin.unwrap().to_string(), "toolkit.json5:3:5");
}

#[test]
fn a_layer_that_says_nothing_says_so() {
    let policy = policy(PolicySettings::default());
    assert_eq!(
        said(&policy, &Caller::new(), &Thing::core("read")),
        [
            "silent  the profile: none is set, and the default one, `full`, has every tool",
            "silent  the rules of the provider: the calling provider is unknown",
            "silent  the global lists: no entry matches the tool",
            "silent  the rules of the agent: the calling agent is unknown",
            "silent  the rules of the channel: the call did not come from a channel",
            "silent  the rules of the sandbox: the caller is not in a sandbox",
            "silent  the rules of sub-agents: the caller is not a sub-agent",
        ]
    );
}

#[test]
fn what_comes_before_the_layers_says_why() {
    let settings = PolicySettings {
        tools: rules().also_allow(["acme"]).deny([""; 0]),
        enabled: BTreeMap::from([("bash".to_owned(), false), ("was_off".to_owned(), true)]),
        plugins_enabled: BTreeMap::from([("beta/1".to_owned(), false)]),
        models: BTreeMap::from([(
            "apply_patch".to_owned(),
            (vec!["gpt-5".to_owned()], "/tools/exec/applyPatch/allowModels".to_owned()),
        )]),
        ..PolicySettings::default()
    };
    for (thing, expected) in [
        (
            Thing::core("exec"),
            "denies  the switch of the tool: it is switched off (/tools/settings/bash/enabled)",
        ),
        (
            Thing::of("beta/1", "b"),
            "denies  the switch of the tool: it is switched off (/plugins/beta~11/enabled)",
        ),
        (
            Thing::core("was_off").off(),
            "allows  the switch of the tool: it is switched on (/tools/settings/was_off/enabled)",
        ),
        (
            Thing::core("is_off").off(),
            "denies  the switch of the tool: its author switched it off; `tools.settings.is_off.enabled` can switch it on",
        ),
        (
            Thing::core("apply_patch"),
            "denies  the models of the tool: only the models in its list get it (/tools/exec/applyPatch/allowModels)",
        ),
        (
            Thing::of("beta", "chat").channel("telegram"),
            "denies  the channel of the tool: it is available only in sessions of the channel `telegram`",
        ),
        (
            Thing::of("acme", "more").optional(),
            "allows  the optional tools: `acme` enables it (/tools/alsoAllow/0)",
        ),
        (
            Thing::of("beta", "less").optional(),
            "denies  the optional tools: it is optional: only `less`, `beta` or `group:plugins` in `tools.allow` or \
             `tools.alsoAllow` enables it",
        ),
    ] {
        assert_eq!(said(&policy(settings.clone()), &Caller::new(), &thing)[0], expected);
    }
    let none = PolicySettings { enable_tool_calls: Some(false), ..PolicySettings::default() };
    assert_eq!(
        said(&policy(none), &Caller::new(), &Thing::core("read"))[0],
        "denies  the switch of all tools: models can call no tools at all (/enableToolCalls)"
    );
}

#[test]
fn each_reason_of_a_layer_has_its_words() {
    let own = |rules: ProfileRules| PolicySettings {
        tools: self::rules().profile("own"),
        profiles: BTreeMap::from([("own".to_owned(), rules)]),
        ..PolicySettings::default()
    };
    let list = |entry: &str| vec![entry.to_owned()];
    let tools = |tools: ToolRules| PolicySettings { tools, ..PolicySettings::default() };
    for (settings, expected) in [
        (tools(rules().allow([""; 0])), "denies  the global lists: its allow list is empty (/tools/allow)"),
        (
            tools(rules().allow([" READ"])),
            "allows  the global lists: `READ` is in its allow list (/tools/allow/0)",
        ),
        (
            tools(rules().profile("full")),
            "allows  the profile: the profile `full` has every tool (/tools/profile)",
        ),
        (
            tools(rules().profile("minimal")),
            "denies  the profile: the profile `minimal` does not have it (/tools/profile)",
        ),
        (
            tools(rules().profile("nope")),
            "denies  the profile: there is no profile `nope`, so it allows nothing (/tools/profile)",
        ),
        (
            tools(rules().profile("minimal").also_allow(["x", "read"])),
            "allows  the profile: `read` is in its `alsoAllow` list (/tools/alsoAllow/1)",
        ),
        (
            own(ProfileRules { allow: Some(list("re*")), deny: Vec::new() }),
            "allows  the profile: the profile `own` has it by `re*` (/tools/profiles/own/allow/0)",
        ),
        (
            own(ProfileRules { allow: None, deny: list("read") }),
            "denies  the profile: the profile `own` denies `read` (/tools/profiles/own/deny/0)",
        ),
    ] {
        let said = said(&policy(settings), &Caller::new(), &Thing::core("read"));
        assert!(said.iter().any(|line| line == expected), "{expected}\n{said:#?}");
    }
}

#[test]
fn what_is_probably_not_as_meant_is_said() {
    let (group, later) = ("no tool is in the group", "; it may belong to a server that is not connected yet");
    let tools = |tools: ToolRules| PolicySettings { tools, ..PolicySettings::default() };
    let agent = |rules: ToolRules| PolicySettings {
        agents: BTreeMap::from([("kid".to_owned(), rules)]),
        ..PolicySettings::default()
    };
    let warning = |text: &str| vec![format!("warning: {text}")];
    let nothing = "warning: `/tools/allow` names nothing that exists, so it allows nothing".to_owned();
    for (settings, expected) in [
        (tools(rules().deny(["exec", "bash", "run", "web_search", "process", "acme", "group:mine", "group:fs", "group:plugins", "*", "group:*"])), Vec::new()),
        (tools(rules().deny(["exce"])), warning(&format!("no tool or plugin has the name `exce` (/tools/deny/0); did you mean `exec`?{later}"))),
        (tools(rules().deny(["Group:Runtim"])), warning(&format!("{group} `Group:Runtim` (/tools/deny/0); did you mean `group:runtime`?{later}"))),
        (tools(rules().deny(["zzz*"])), vec![format!("info: no tool or plugin has a name like `zzz*` (/tools/deny/0){later}")]),
        (tools(rules().deny(["group:zzz*"])), vec![format!("info: no tool is in a group like `group:zzz*` (/tools/deny/0){later}")]),
        (tools(rules().deny(["", "group:", "r\u{1b}[2K"])), vec![
            "warning: the entry `` (/tools/deny/0) is empty, so it denies every tool".to_owned(),
            "warning: the entry `group:` (/tools/deny/1) names no group: write a name after `group:`, so it denies every tool".to_owned(),
            "warning: the entry `r\\u{1b}[2K` (/tools/deny/2) contains a control character, so it denies every tool".to_owned(),
        ]),
        (tools(rules().allow([""; 0])), Vec::new()),
        (tools(rules().allow(["zzzz"])), vec![format!("warning: no tool or plugin has the name `zzzz` (/tools/allow/0){later}"), nothing]),
        (tools(rules().allow(["also"])), warning("`also` (/tools/allow/0) allows nothing: it is an alias that a plugin gave to `beta_a`; name the tool itself")),
        (tools(rules().allow(["bash", "exec"])), warning("`bash` (/tools/allow/0) stands for `exec`, and does not allow the tool `bash` itself")),
        (tools(rules().profile("codign")), warning("there is no profile `codign` (/tools/profile), so it allows nothing; did you mean `coding`?")),
        (tools(rules().also_allow(["extra"])), Vec::new()),
        (tools(rules().also_allow(["read"])), warning(
            "`/tools/alsoAllow` has no effect: without a profile every tool except optional ones is available, and it names no optional tool",
        )),
        (agent(rules().also_allow(["read"])), warning(
            "`/agents/kid/tools/alsoAllow` has no effect: it extends its layer's profile, and the layer has none",
        )),
        (agent(rules().allow(["extra", "read"])), warning(
            "`extra` (/agents/kid/tools/allow/0) does not enable the optional tool `extra`: only `tools.allow` and `tools.alsoAllow` can",
        )),
        (
            PolicySettings { tools: rules().also_allow(["extra"]), ..agent(rules().allow(["extra"])) },
            Vec::new(),
        ),
        (
            PolicySettings {
                profiles: BTreeMap::from([("Coding".to_owned(), ProfileRules::default()), ("own".to_owned(), ProfileRules::default())]),
                ..PolicySettings::default()
            },
            warning("there is a profile `Coding` already: this one only narrows it (/tools/profiles/Coding)"),
        ),
        (
            PolicySettings {
                join_groups: BTreeMap::from([("acme".to_owned(), BTreeSet::from(["fs".to_owned(), "mine".to_owned()])), ("acne".to_owned(), BTreeSet::new())]),
                ..PolicySettings::default()
            },
            vec![
                "warning: `mine` is not a built-in group (/plugins/acme/joinGroups)".to_owned(),
                "warning: there is no plugin `acne` (/plugins/acne/joinGroups); did you mean `acme`?".to_owned(),
            ],
        ),
        (
            PolicySettings {
                enabled: BTreeMap::from([("raed".to_owned(), false), ("exec".to_owned(), true)]),
                plugins_enabled: BTreeMap::from([("acne".to_owned(), false)]),
                models: BTreeMap::from([("zzzz".to_owned(), (Vec::new(), "/x".to_owned()))]),
                ..PolicySettings::default()
            },
            vec![
                "warning: no tool has the name `zzzz` (/x)".to_owned(),
                "warning: no tool has the name `raed` (/tools/settings/raed/enabled); did you mean `read`?".to_owned(),
                "warning: no plugin has the name `acne` (/plugins/acne/enabled); did you mean `acme`?".to_owned(),
            ],
        ),
    ] {
        let said: Vec<String> =
            lint::diagnostics(&policy(settings.clone()), &things()).iter().map(ToString::to_string).collect();
        assert_eq!(said, expected, "{settings:?}");
    }
}

#[test]
fn a_warning_says_in_which_file() {
    let settings = PolicySettings {
        tools: rules().deny(["read", "exce"]),
        origins: origins(&["/tools/deny/0", "/tools/deny/1"]),
        ..PolicySettings::default()
    };
    let policy = policy(PolicySettings::default()).narrowed_by("./toolkit.json5", settings);
    let said = lint::diagnostics(&policy, &things());
    assert_eq!(
        (said[0].source.as_str(), said[0].location.as_deref()),
        ("./toolkit.json5", Some("toolkit.json5:2:5"))
    );
    assert_eq!(said.len(), 1);
}

#[test]
fn names_that_somebody_else_chose_are_escaped_and_short() {
    let odd = format!("\u{1b}[31mfull\n read is there for this caller.{}", "x".repeat(900_000));
    let of = |deny: ToolRules| BTreeMap::from([(odd.clone(), deny)]);
    let denying = || rules().deny([odd.as_str()]);
    let plain = PolicySettings::default;
    for settings in [
        PolicySettings { tools: rules().profile(&odd), ..plain() },
        PolicySettings { tools: denying(), ..plain() },
        PolicySettings { agents: of(denying()), ..plain() },
        PolicySettings { channels: of(denying()), ..plain() },
        PolicySettings { by_provider: of(denying()), ..plain() },
        PolicySettings { agents_by_provider: BTreeMap::from([(odd.clone(), of(denying()))]), ..plain() },
        PolicySettings {
            tools: rules().profile(&odd),
            profiles: BTreeMap::from([(odd.clone(), ProfileRules { allow: None, deny: vec![odd.clone()] })]),
            ..plain()
        },
    ] {
        let caller =
            Caller::new().with_agent(&odd).with_channel(&odd).with_provider(&odd).with_model("large");
        let policy = policy(PolicySettings::default()).narrowed_by(&odd, settings);
        let refusal = policy.refusal(&caller, &Thing::core("read")).expect("it is denied");
        let mut said = vec![Refusal::from(refusal.clone()).to_string()];
        for verdict in policy.verdicts(&caller, &Thing::core("read")).into_iter().chain([refusal]) {
            said.extend([verdict.to_string(), verdict.layer, verdict.reason]);
        }
        said.extend(lint::diagnostics(&policy, &things()).iter().map(ToString::to_string));
        for line in said {
            assert!(!line.contains(char::is_control) && line.len() < 10_000, "{} {line:.2000}", line.len());
        }
    }
}
