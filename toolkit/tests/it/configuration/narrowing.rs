//! The effect of an untrusted file, key by key.

use super::Place;
use toolkit::{
    config::Configuration,
    permission::{Decision, PermissionRule, PermissionSettings},
    policy::{PolicySettings, ToolRules},
};

/// Loads the text as that of a workspace.
fn load(text: &str) -> Configuration {
    let place = Place::new();
    place.write("work/toolkit.json5", text);
    place.load()
}

/// The permission that it takes away.
fn restrictions(configuration: &Configuration) -> (PolicySettings, PermissionSettings) {
    let (mut policy, mut permissions) = (configuration.policy().1, configuration.permissions().1);
    assert_eq!((policy.len(), permissions.len()), (1, 1));
    (policy.remove(0).1, permissions.remove(0).1)
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn rules_of_every_layer_take_away() {
    let configuration = load(
        "{ tools: { profile: 'own', allow: ['read', 'exec'], alsoAllow: ['look'], deny: ['d'],
                    profiles: { own: { allow: ['*'], deny: ['p'] } },
                    byProvider: { openai: { allow: ['x'], deny: ['o'] } },
                    sandbox: { allow: [], deny: ['s'] }, subagents: { profile: 'minimal', deny: ['u'] } },
           agents: { kid: { tools: { deny: ['k'], byProvider: { 'a/b': { deny: ['kb'] } } } } },
           channels: { chat: { tools: { allow: ['c'] } } } }",
    );
    assert!(configuration.ignored().is_empty(), "{:?}", configuration.ignored());
    let (policy, _) = restrictions(&configuration);
    let rules = ToolRules::default;
    assert_eq!(policy.tools, rules().profile("own").allow(["read", "exec"]).also_allow(["look"]).deny(["d"]));
    assert_eq!(
        (policy.profiles["own"].allow.clone(), policy.profiles["own"].deny.clone()),
        (Some(names(&["*"])), names(&["p"]))
    );
    assert_eq!(policy.by_provider, [("openai".to_owned(), rules().allow(["x"]).deny(["o"]))].into());
    assert_eq!(policy.sandbox, rules().allow([""; 0]).deny(["s"]));
    assert_eq!(policy.subagents, rules().profile("minimal").deny(["u"]));
    assert_eq!(policy.agents, [("kid".to_owned(), rules().deny(["k"]))].into());
    assert_eq!(policy.agents_by_provider["kid"]["a/b"], rules().deny(["kb"]));
    assert_eq!(policy.channels, [("chat".to_owned(), rules().allow(["c"]))].into());
}

#[test]
fn permissions_of_every_level_take_away() {
    let configuration = load(
        "{ permission: { exec: [{ match: 'git *', do: 'allow' }, { match: 'git push*', do: 'deny' }] },
           agents: { kid: { permission: { exec: 'deny', edit: 'allow' } } },
           channels: { chat: { permission: { read: 'ask', edit: [{ match: '*', do: 'allow' }] } } } }",
    );
    let (_, permissions) = restrictions(&configuration);
    let always = |kind: &str, decision| [(kind.to_owned(), PermissionRule::Always(decision))].into();
    assert!(matches!(&permissions.everybody["exec"], PermissionRule::List(entries) if entries.len() == 2));
    assert_eq!(permissions.agents, [("kid".to_owned(), always("exec", Decision::Deny))].into());
    assert_eq!(permissions.channels, [("chat".to_owned(), always("read", Decision::Ask))].into());
    let ignored: Vec<&str> = configuration.ignored().iter().map(|key| key.pointer.as_str()).collect();
    assert_eq!(ignored, ["/agents/kid/permission/edit", "/channels/chat/permission/edit"]);
}

#[test]
fn what_gives_or_does_nothing_is_said_to_be_ignored() {
    for (text, expected) in [
        ("{}", &[][..]),
        ("{ $schema: 'x' }", &[]),
        ("{ mcp: {}, tools: {}, agents: {}, channels: {}, permission: {} }", &[]),
        ("{ mcp: { a: { url: 'https://x' } } }", &["/mcp/a"]),
        ("{ tools: { allow: ['read'] } }", &[]),
        ("{ tools: { allow: ['read', ' * '] } }", &["/tools/allow"]),
        ("{ tools: { allow: ['r*', '**'] } }", &[]),
        ("{ tools: { alsoAllow: ['*'], deny: ['*'] } }", &[]),
        ("{ tools: { sandbox: { allow: ['*'] } } }", &["/tools/sandbox/allow"]),
        (
            "{ tools: { byProvider: { 'a/b': { allow: ['*'], deny: ['x'] } } } }",
            &["/tools/byProvider/a~1b/allow"],
        ),
        (
            "{ agents: { kid: { tools: { byProvider: { openai: { allow: ['*'] } } } } } }",
            &["/agents/kid/tools/byProvider/openai/allow"],
        ),
        // Keys without anything in them are told whole.
        ("{ loopGuard: {} }", &["/loopGuard"]),
        ("{ history: { enabled: false } }", &["/history/enabled"]),
        (
            "{ tools: { discovery: { maxTools: 0, show: [] } } }",
            &["/tools/discovery/maxTools", "/tools/discovery/show"],
        ),
        ("{ tools: { exec: {} } }", &["/tools/exec"]),
        ("{ tools: { exec: { applyPatch: {} } } }", &["/tools/exec/applyPatch"]),
        ("{ tools: { exec: { applyPatch: { allowModels: [] } } } }", &["/tools/exec/applyPatch/allowModels"]),
        (
            "{ tools: { settings: { greet: { word: 'x', enabled: false } } } }",
            &["/tools/settings/greet/word"],
        ),
        (
            "{ tools: { settings: { greet: { enabled: true, autoExecute: true } } } }",
            &["/tools/settings/greet/enabled", "/tools/settings/greet/autoExecute"],
        ),
        ("{ plugins: { acme: { enabled: false } } }", &["/plugins/acme/enabled"]),
        ("{ permission: { exec: [] } }", &["/permission/exec"]),
        ("{ permission: { exec: [{ match: '*', do: 'ask' }] } }", &[]),
        ("{ permission: { exec: 'ask', read: 'allow' } }", &["/permission/read"]),
    ] {
        let configuration = load(text);
        let ignored: Vec<&str> = configuration.ignored().iter().map(|key| key.pointer.as_str()).collect();
        assert_eq!(ignored, expected, "{text}");
        // Nothing of it is part of what is in effect.
        assert_eq!(configuration.document(), serde_json::json!({}), "{text}");
    }
}
