//! Tests of names in lists: patterns, case, names with several meanings.

use super::fixture::{Thing, existing, policy, things};
use crate::linked::PolicyData;
use crate::policy::data::Registered;
use crate::policy::{PolicySettings, ToolPolicy, ToolRules, lint};
use toolkit_core::caller::Caller;

fn rules() -> ToolRules {
    ToolRules::default()
}

fn global(tools: ToolRules) -> PolicySettings {
    PolicySettings { tools, ..PolicySettings::default() }
}

#[test]
fn two_patterns_of_one_text_are_two() {
    for entries in [["m*", "group:m*"], ["group:m*", "m*"]] {
        let things = [
            Thing::of("beta", "map"),
            Thing::of("beta", "draw").group("mine"),
            Thing::of("beta", "look").group("theirs"),
        ];
        let denied = policy(global(rules().deny(entries)));
        assert_eq!(existing(&denied, &Caller::new(), &things), ["look"], "{entries:?}");
        let allowed = policy(global(rules().allow(entries)));
        assert_eq!(existing(&allowed, &Caller::new(), &things), ["map", "draw"], "{entries:?}");
    }
}

#[test]
fn no_case_hides_a_tool() {
    let things = [
        Thing::of("ACME", "DRAW").alias("SKETCH").group("MINE"),
        Thing::of("Acme", "Draw").alias("Sketch").group("Mine"),
        Thing::of(" acme ", " draw ").alias(" sketch ").group(" mine "),
        Thing::of("beta", "other"),
    ];
    for entry in ["draw", "acme", "sketch", "group:mine", "dr*", "ac*", "sk*", "group:mi*", "DRAW", "Acme"] {
        let denied = policy(global(rules().deny([entry])));
        assert_eq!(existing(&denied, &Caller::new(), &things), ["other"], "{entry}");
        let allowed = policy(global(rules().allow([entry])));
        // Any author can give a tool an alias.
        let expected = if entry.starts_with("sk") { &[][..] } else { &["DRAW", "Draw", " draw "] };
        assert_eq!(existing(&allowed, &Caller::new(), &things), expected, "{entry}");
    }
}

#[test]
fn to_allow_a_tool_that_is_not_there_allows_no_plugin_of_its_name() {
    let mut registered = Registered::default();
    registered.add(&PolicyData {
        module: "fixture",
        groups: &[("fs", &["read"])],
        profiles: &[],
        aliases: &[("cat", "show")],
        planned: &[],
        names: &[],
    });
    for (id, expected) in [("read", false), ("cat", false), ("show", false), ("fs", true), ("free", true)] {
        let things = [Thing::of(id, "theirs")];
        let policy = ToolPolicy::with(global(rules().allow([id])), registered.clone());
        assert_eq!(!existing(&policy, &Caller::new(), &things).is_empty(), expected, "{id}");
        // A deny entry denies both.
        let policy = ToolPolicy::with(global(rules().deny([id])), registered.clone());
        assert_eq!(existing(&policy, &Caller::new(), &things), [""; 0], "{id}");
    }
}

#[test]
fn a_core_tool_is_no_plugins_whatever_group_it_names() {
    let things = [Thing::core("inner").group("plugins"), Thing::of("acme", "outer")];
    for (tools, expected) in [
        (rules().allow(["group:plugins"]), &["outer"][..]),
        (rules().deny(["group:plugins"]), &["inner"]),
        (rules().deny(["group:p*"]), &["inner"]),
        // A crate that registers a profile knows no plugins.
        (rules().profile("wild"), &[]),
    ] {
        assert_eq!(existing(&policy(global(tools.clone())), &Caller::new(), &things), expected, "{tools:?}");
    }
}

#[test]
fn rules_that_say_nothing_are_empty() {
    assert!(rules().is_empty());
    for said in
        [rules().profile("full"), rules().allow([""; 0]), rules().also_allow(["a"]), rules().deny(["a"])]
    {
        assert!(!said.is_empty(), "{said:?}");
    }
}

#[test]
fn what_the_user_opens_a_source_that_only_narrows_need_not_open_again() {
    let mut user = global(rules().also_allow(["extra"]));
    user.enabled.insert("beta_off".to_owned(), true);
    let policy = policy(user).narrowed_by("./toolkit.json5", PolicySettings::default());
    let found = existing(&policy, &Caller::new().with_channel("telegram"), &things());
    for name in ["extra", "beta_off", "beta_chat"] {
        assert!(found.contains(&name.to_owned()), "{name}: {found:?}");
    }
}

#[test]
fn what_an_entry_does_not_allow_is_told_only_where_it_is_so() {
    let alias = "it is an alias that a plugin gave to `draw`";
    let stands = "and does not allow the tool";
    for (name, others, expected) in [
        // The name has no other meaning.
        ("pen", vec![], Some(alias)),
        ("pen", vec![Thing::of("beta", "look")], Some(alias)),
        // It is also the name of a plugin, of a missing tool of a plugin, or another tool's own name.
        ("beta", vec![Thing::of("beta", "look")], None),
        ("process", vec![], None),
        ("pen", vec![Thing::of("beta", "pen")], None),
        ("pen", vec![Thing::core("look").alias("pen")], None),
        // It stands for a core tool, whether or not a plugin's tool has the same name.
        ("sh", vec![Thing::core("exec")], None),
        ("sh", vec![Thing::core("exec"), Thing::of("beta", "sh")], Some(stands)),
    ] {
        let mut things = vec![Thing::of("acme", "draw").alias(name)];
        things.extend(others);
        let said = lint::diagnostics(&policy(global(rules().allow([name]))), &things);
        let said: Vec<&str> = said.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
        assert_eq!(said.len(), usize::from(expected.is_some()), "{name} {things:?}: {said:?}");
        assert!(expected.is_none_or(|expected| said[0].contains(expected)), "{name} {things:?}: {said:?}");
    }
}
