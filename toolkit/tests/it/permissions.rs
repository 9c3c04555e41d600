//! Decisions of permission rules, and the rule that made each.

use serde_json::{Value, json};
use toolkit::{
    Caller,
    config::{ConfigOrigin, ConfigOrigins},
    permission::{Decision, PermissionRequest, PermissionRules, PermissionSettings, Permissions},
};

fn rules(rules: &Value) -> PermissionRules {
    serde_json::from_value(rules.clone()).expect("rules")
}

/// `{ permission, agents: { <id>: … }, channels: { <name>: … } }`, each only if there.
fn source(value: &Value) -> PermissionSettings {
    let by_name = |key: &str| {
        let all = value[key].as_object().into_iter().flatten();
        all.map(|(name, value)| (name.clone(), rules(value))).collect()
    };
    let mut settings = PermissionSettings::default();
    settings.everybody = value.get("permission").map(rules).unwrap_or_default();
    settings.agents = by_name("agents");
    settings.channels = by_name("channels");
    settings
}

fn word(permissions: &Permissions, caller: &Caller, request: &PermissionRequest<'_>) -> String {
    let decided = permissions.decide(caller, request);
    assert_eq!(decided.said, decided.rule.is_some());
    match decided.rule {
        None => decided.decision.to_string(),
        Some(rule) => format!("{} by {rule}", decided.decision),
    }
}

#[test]
fn one_source() {
    let permissions = Permissions::new([source(&json!({
        "permission": {
            "exec": [
                { "match": "git *", "do": "allow" },
                { "match": "git push*", "do": "ask" },
                { "match": "git push --force*", "do": "deny" },
                { "match": "git push --force-with-lease", "do": "ask" },
                { "match": "line\n*", "do": "allow" },
                { "match": "bad\n*", "do": "deny" },
            ],
            " Web_Fetch ": "deny",
            "message": "allow",
            "edit": [{ "match": "*", "do": "allow" }, { "match": "secret/*", "do": "deny" }],
            "read": [],
        },
    }))]);
    for (kind, patterns, expected) in [
        ("exec", &["git status"][..], "allow by `git *`: allow (/permission/exec/0)"),
        // The last that matches counts.
        ("exec", &["git push"], "ask by `git push*`: ask (/permission/exec/1)"),
        ("exec", &["git push --force"], "deny by `git push --force*`: deny (/permission/exec/2)"),
        (
            "exec",
            &["git push --force-with-lease"],
            "ask by `git push --force-with-lease`: ask (/permission/exec/3)",
        ),
        ("exec", &["ls"], "ask"),
        (" EXEC ", &["git status"], "allow by `git *`: allow (/permission/exec/0)"),
        // The strictest of several.
        ("exec", &["git status", "git log"], "allow by `git *`: allow (/permission/exec/0)"),
        ("exec", &["git status", "ls"], "ask"),
        ("exec", &["ls", "git status"], "ask"),
        ("exec", &["ls", "git push"], "ask by `git push*`: ask (/permission/exec/1)"),
        ("exec", &["git push", "ls"], "ask by `git push*`: ask (/permission/exec/1)"),
        // Of two that are as strict the first.
        (
            "exec",
            &["git push", "git push --force-with-lease"],
            "ask by `git push*`: ask (/permission/exec/1)",
        ),
        (
            "exec",
            &["git push", "git push --force", "ls"],
            "deny by `git push --force*`: deny (/permission/exec/2)",
        ),
        // Nothing but a rule for everything is about what has no pattern.
        ("exec", &[], "ask"),
        ("edit", &[], "allow by `*`: allow (/permission/edit/0)"),
        // A second line is not what an entry allows, but what it denies.
        ("exec", &["git status\nrm x"], "ask"),
        ("exec", &["git push\nrm x"], "ask by `git push*`: ask (/permission/exec/1)"),
        ("exec", &["line\nx"], "ask"),
        ("exec", &["bad\nx"], r"deny by `bad\u{a}*`: deny (/permission/exec/5)"),
        ("exec", &["GIT status"], "ask"),
        ("edit", &["secret/a"], "deny by `secret/*`: deny (/permission/edit/1)"),
        ("edit", &["secret"], "allow by `*`: allow (/permission/edit/0)"),
        ("web_fetch", &["x"], "deny by deny (/permission/ Web_Fetch )"),
        ("web_fetch", &[], "deny by deny (/permission/ Web_Fetch )"),
        ("message", &["a\nb"], "allow by allow (/permission/message)"),
        ("read", &["x"], "ask"),
        ("unknown", &["x"], "ask"),
        ("", &[], "ask"),
    ] {
        let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        let request = PermissionRequest::new(kind, &patterns);
        assert_eq!(word(&permissions, &Caller::new(), &request), expected, "{kind} {patterns:?}");
    }
}

#[test]
fn a_program_stands_for_every_call_of_it_unless_it_is_allowed() {
    let rules = |rules: Value| Permissions::new([source(&json!({ "permission": { "exec": rules } }))]);
    let decide = |permissions: &Permissions, text: &str| {
        let patterns = [text.to_owned()];
        permissions.decide(&Caller::new(), &PermissionRequest::new("exec", &patterns)).decision
    };
    for (pattern, text, covers) in [
        ("cat", "cat", true),
        ("cat", "cat README.md", true),
        ("cat", "cats", false),
        ("cat", "concat x", false),
        ("git push", "git push origin main", true),
        ("git push", "git pushes", false),
        ("git push", "git pull", false),
        ("rm -rf", "rm -rf x", true),
        ("rm -rf", "rm x", false),
        ("*/deploy.sh", "./deploy.sh now", true),
    ] {
        for (word, decision) in [("deny", Decision::Deny), ("ask", Decision::Ask)] {
            let after_all = [json!({ "match": "*", "do": "allow" }), json!({ "match": pattern, "do": word })];
            let found = decide(&rules(json!(after_all)), text);
            assert_eq!(found, if covers { decision } else { Decision::Allow }, "{pattern} {text}");
        }
        let allowed = decide(&rules(json!([{ "match": pattern, "do": "allow" }])), text);
        assert_eq!(allowed == Decision::Allow, pattern == text, "{pattern} {text}");
    }
    // Exceptions follow, and a question does not lift a denial.
    let some = rules(json!([{ "match": "cat", "do": "deny" }, { "match": "cat README.md", "do": "allow" }]));
    assert_eq!(decide(&some, "cat README.md"), Decision::Allow);
    assert_eq!(decide(&some, "cat README.md x"), Decision::Deny);
    let both = rules(json!([{ "match": "git *", "do": "deny" }, { "match": "git push", "do": "ask" }]));
    assert_eq!(decide(&both, "git push"), Decision::Ask);
    assert_eq!(decide(&both, "git push origin"), Decision::Deny);
    // Other kinds have no programs.
    let fetch = Permissions::new([source(
        &json!({ "permission": { "web_fetch": [{ "match": "a", "do": "deny" }] } }),
    )]);
    let patterns = ["a b".to_owned()];
    assert_eq!(
        fetch.decide(&Caller::new(), &PermissionRequest::new("web_fetch", &patterns)).decision,
        Decision::Ask
    );
}

#[test]
fn config_check_says_which_calls_each_exec_rule_covers() {
    let permissions = Permissions::new([source(&json!({
        "permission": { "exec": [
            { "match": "make", "do": "allow" },
            { "match": "cargo test *", "do": "allow" },
            { "match": "npm*", "do": "allow" },
            { "match": "cat", "do": "deny" },
            { "match": "git push *", "do": "ask" },
            { "match": "*/deploy.sh", "do": "deny" },
            { "match": "*", "do": "ask" },
            { "match": "", "do": "deny" },
        ], "read": "deny" },
        "agents": { "kid": { "bash": "deny" } },
        "channels": { "irc": { "web_fetch": [{ "match": "cat", "do": "deny" }] } },
    }))]);
    let told: Vec<String> = permissions.command_coverage().iter().map(|said| said.message.clone()).collect();
    assert_eq!(
        told[..8],
        [
            "/permission/exec/0 covers exactly `make`, without further arguments: allow",
            "/permission/exec/1 covers `cargo test` with any arguments, as it is written, and not without arguments: allow",
            "/permission/exec/2 covers every simple command that is written like `npm*`: allow",
            "/permission/exec/3 covers every call of `cat`, with any arguments or none: deny",
            "/permission/exec/4 covers every call of `git push`, with any arguments or none: ask",
            "/permission/exec/5 covers every call that is written like `*/deploy.sh`, with any further arguments: deny",
            "/permission/exec/6 covers every command: ask",
            "/permission/exec/7 covers nothing: the pattern is empty: deny",
        ]
    );
    let many: Vec<Value> =
        (0..300).map(|number| json!({ "match": format!("p{number}"), "do": "deny" })).collect();
    let told = Permissions::new([source(&json!({ "permission": { "exec": many } }))]).command_coverage();
    assert_eq!((told.len(), told[200].message.as_str()), (201, "100 more rules about commands"));
}

#[test]
fn what_a_commands_flags_raised_only_a_rule_for_the_kind_lifts() {
    let list = json!([{ "match": "*", "do": "allow" }, { "match": "git push", "do": "allow" }]);
    for (sources, expected, raised) in [
        (vec![json!({ "permission": { "exec": "allow" } })], "allow", "allow"),
        (vec![json!({ "permission": { "exec": list } })], "allow", "ask"),
        (vec![json!({ "permission": { "exec": "deny" } })], "deny", "deny"),
        (vec![json!({ "permission": { "exec": [{ "match": "git *", "do": "deny" }] } })], "deny", "deny"),
        // The later source takes back to a list what the earlier one allowed whole.
        (
            vec![json!({ "permission": { "exec": "allow" } }), json!({ "permission": { "exec": list } })],
            "allow",
            "ask",
        ),
        (vec![], "ask", "ask"),
    ] {
        let permissions = Permissions::new(sources.iter().map(source));
        let patterns = ["git push".to_owned()];
        let request = PermissionRequest::new("exec", &patterns);
        let word = |request| permissions.decide(&Caller::new(), &request).decision.to_string();
        assert_eq!((&*word(request), &*word(request.raised(true))), (expected, raised), "{sources:?}");
    }
}

#[test]
fn later_sources_override_except_what_was_denied() {
    for (sources, expected) in [
        (["allow", "ask"], Decision::Ask),
        (["ask", "allow"], Decision::Allow),
        (["deny", "allow"], Decision::Deny),
        (["allow", "deny"], Decision::Deny),
    ] {
        let sources = sources.map(|word| source(&json!({ "permission": { "exec": word } })));
        let silent = source(&json!({ "permission": { "exec": [{ "match": "other", "do": "allow" }] } }));
        let [first, last] = sources;
        let permissions = Permissions::new([first, silent.clone(), last, silent]);
        let patterns = ["ls".to_owned()];
        let decided = permissions.decide(&Caller::new(), &PermissionRequest::new("exec", &patterns));
        assert_eq!(decided.decision, expected);
    }
}

#[test]
fn between_levels_the_stricter_wins() {
    let ada = || Caller::new().with_agent(" Ada").with_channel("irc");
    for (sources, narrowing, caller, expected) in [
        // A rule for an agent or a channel can only narrow.
        (json!({ "agents": { "ada": { "exec": "allow" } } }), json!({}), ada(), "ask"),
        (
            json!({ "permission": { "exec": "allow" }, "agents": { "ada": { "exec": "allow" } } }),
            json!({}),
            ada(),
            "allow by allow (/permission/exec)",
        ),
        (
            json!({ "permission": { "exec": "allow" }, "agents": { "ADA ": { "exec": "ask" } } }),
            json!({}),
            ada(),
            "ask by ask (/agents/ADA /permission/exec)",
        ),
        (
            json!({ "permission": { "exec": "allow" }, "agents": { "bob": { "exec": "deny" } } }),
            json!({}),
            ada(),
            "allow by allow (/permission/exec)",
        ),
        (
            json!({ "permission": { "exec": "allow" }, "agents": { "ada": { "exec": "ask" } },
                    "channels": { "irc": { "exec": [{ "match": "l*", "do": "deny" }] } } }),
            json!({}),
            ada(),
            "deny by `l*`: deny (/channels/irc/permission/exec/0)",
        ),
        (
            json!({ "permission": { "exec": "deny" }, "agents": { "ada": { "exec": "allow" } } }),
            json!({}),
            ada(),
            "deny by deny (/permission/exec)",
        ),
        (
            json!({ "permission": { "exec": "allow" }, "agents": { "a/~b": { "exec": "ask" } } }),
            json!({}),
            Caller::new().with_agent("a/~b"),
            "ask by ask (/agents/a~1~0b/permission/exec)",
        ),
        (
            json!({ "agents": { "ada": { "exec": "ask" } } }),
            json!({}),
            ada(),
            "ask by ask (/agents/ada/permission/exec)",
        ),
        // Of two that are as strict the first.
        (
            json!({ "permission": { "exec": "ask" }, "agents": { "ada": { "exec": "ask" } } }),
            json!({ "channels": { "irc": { "exec": "ask" } } }),
            ada(),
            "ask by ask (/permission/exec)",
        ),
        // So can what is not trusted.
        (json!({}), json!({ "permission": { "exec": "allow" } }), ada(), "ask"),
        (
            json!({ "permission": { "exec": "ask" } }),
            json!({ "permission": { "exec": "allow" }, "agents": { "ada": { "exec": "allow" } } }),
            ada(),
            "ask by ask (/permission/exec)",
        ),
        (
            json!({ "permission": { "exec": "allow" } }),
            json!({ "permission": { "exec": [{ "match": "*", "do": "ask" }, { "match": "ls", "do": "allow" }] } }),
            ada(),
            "allow by allow (/permission/exec)",
        ),
        (
            json!({ "permission": { "exec": "allow" } }),
            json!({ "permission": { "exec": "ask" }, "channels": { "irc": { "exec": "deny" } } }),
            ada(),
            "deny by deny (/channels/irc/permission/exec)",
        ),
    ] {
        between(&sources, &narrowing, &caller, expected);
    }
}

fn between(sources: &Value, narrowing: &Value, caller: &Caller, expected: &str) {
    let permissions = Permissions::new([source(sources)]).narrowed_by(source(narrowing));
    let patterns = ["ls".to_owned()];
    let request = PermissionRequest::new("exec", &patterns);
    assert_eq!(word(&permissions, caller, &request), expected, "{sources} {narrowing}");
}

#[test]
fn a_kind_is_one_whatever_way_it_is_written() {
    for (sources, expected) in [
        // A key with a wildcard asks and denies what no full key decides, and never allows.
        (
            json!({ "permission": { "exec": "allow", "e*": "ask", "*": "allow", "f*": "deny" } }),
            "allow by allow (/permission/exec)",
        ),
        (
            json!({ "permission": { "edit": "allow", "e*": "ask", "*": "allow", "f*": "deny" } }),
            "ask by ask (/permission/e*)",
        ),
        (json!({ "permission": { "*": "allow" } }), "ask"),
        // Of two writings of one kind the stricter.
        (json!({ "permission": { "exec": "allow", "Exec": "ask" } }), "ask by ask (/permission/Exec)"),
        (json!({ "permission": { "exec": "ask", "Exec": "allow" } }), "ask by ask (/permission/exec)"),
        (json!({ "permission": { "exec": "ask", "Exec": "ask" } }), "ask by ask (/permission/Exec)"),
    ] {
        between(&sources, &json!({}), &Caller::new(), expected);
    }
}

#[test]
fn single_paths_are_allowed_one_by_one() {
    for kind in ["sensitive", "protected"] {
        for (rule, expected) in [
            (json!("allow"), "ask"),
            (json!("deny"), "deny"),
            (json!([{ "match": "*", "do": "allow" }]), "ask"),
            (json!([{ "match": ".env*", "do": "allow" }]), "ask"),
            (json!([{ "match": ".env", "do": "allow" }]), "allow"),
            (json!([{ "match": ".env", "do": "allow" }, { "match": "*", "do": "deny" }]), "deny"),
        ] {
            let permissions = Permissions::new([source(&json!({ "permission": { kind: rule } }))]);
            let patterns = [".env".to_owned()];
            let decided = permissions.decide(&Caller::new(), &PermissionRequest::new(kind, &patterns));
            assert_eq!(decided.decision.to_string(), expected, "{kind} {rule}");
        }
    }
}

#[test]
fn a_rule_is_told_with_its_place() {
    let mut settings = source(&json!({
        "permission": { "exec": [{ "match": "ls", "do": "allow" }, { "match": "rm *", "do": "deny" }] },
    }));
    settings.origins =
        ConfigOrigins::new([("/permission/exec/1".to_owned(), ConfigOrigin::in_file("toolkit.json5", 3, 7))]);
    let permissions = Permissions::new([settings]);
    let patterns = ["rm x".to_owned()];
    assert_eq!(
        word(&permissions, &Caller::new(), &PermissionRequest::new("exec", &patterns)),
        "deny by `rm *`: deny (/permission/exec/1, toolkit.json5:3:7)"
    );
}

#[test]
fn rules_that_say_something_else_than_they_seem_to() {
    let permissions = Permissions::new([source(&json!({
        "permission": {
            "exec": "allow",
            "edti": "deny",
            "deploy": "ask",
            "zzzzzzzz": "ask",
            "*": "deny",
            "m*": "allow",
            "protected": [{ "match": ".git/*", "do": "allow" }],
            "sensitive": [{ "match": ".env", "do": "allow" }],
        },
        "agents": { "kid": { "exec": "allow", "edit": "allow", "read": "ask" } },
        "channels": { "irc": { "message": [{ "match": "me", "do": "allow" }] } },
    }))])
    // That what is not trusted allows nothing is meant.
    .narrowed_by(source(&json!({
        "permission": { "exec": "allow", "raed": "deny" },
        "agents": { "kid": { "edit": "allow" } },
    })));
    let said: Vec<String> = permissions.diagnostics(["deploy"]).iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "warning: no tool asks for the permission kind `edti` (at /permission/edti); did you mean `edit`?",
            "warning: `allow` at /permission/protected allows nothing unless it names a single path: write \
             { match: \"path/of/file\", do: \"allow\" }, without wildcards",
            "warning: no tool asks for the permission kind `zzzzzzzz` (at /permission/zzzzzzzz)",
            "error: `allow` at /permission/m* allows nothing: the key `m*` has a `*`, which also matches kinds and tools added later; name each one to allow",
            "warning: `allow` at /agents/kid/permission/edit allows nothing: rules of an agent or a channel can only be \
             stricter, and nothing at /permission/edit allows it for everybody",
            "warning: `allow` at /channels/irc/permission/message allows nothing: rules of an agent or a channel can only \
             be stricter, and nothing at /permission/message allows it for everybody",
            "warning: no tool asks for the permission kind `raed` (at /permission/raed); did you mean `read`?",
        ]
    );
}

#[test]
fn of_thousands_of_kinds_that_nothing_asks_under_the_first_are_told() {
    let kinds: serde_json::Map<String, Value> =
        (0..5_000).map(|number| (format!("nothing_{number}"), json!("deny"))).collect();
    let permissions = Permissions::new([source(&json!({ "permission": kinds }))]);
    assert_eq!(permissions.diagnostics([]).len(), 100);
    let decided = permissions.decide(&Caller::new(), &PermissionRequest::new("nothing_4999", &[]));
    assert_eq!(decided.decision, Decision::Deny, "what is not told counts all the same");
}

#[test]
fn an_allow_that_names_no_single_path_is_told() {
    for (rule, is_told) in [
        (json!("allow"), true),
        (json!("ask"), false),
        (json!("deny"), false),
        (json!([{ "match": ".env*", "do": "allow" }]), true),
        (json!([{ "match": ".env", "do": "deny" }, { "match": "*", "do": "allow" }]), true),
        (json!([{ "match": ".env", "do": "allow" }]), false),
        (json!([{ "match": "*", "do": "ask" }, { "match": "*.pem", "do": "deny" }]), false),
        (json!([{ "match": "*", "do": "ask" }, { "match": ".env", "do": "allow" }]), false),
    ] {
        for (kind, is_single) in [("sensitive", true), ("protected", true), ("edit", false)] {
            let permissions = Permissions::new([source(&json!({ "permission": { kind: rule } }))]);
            let said = permissions.diagnostics([]);
            assert_eq!(!said.is_empty(), is_told && is_single, "{kind} {rule}: {said:?}");
        }
    }
}
