//! Names in lists of tools, such as `tools.deny`: known ones, later ones, and misspelled ones.

use crate::configuration::Place;
use toolkit::config::{Configuration, LoadOptions};
use toolkit::policy::{PolicySettings, ToolPolicy, ToolRules};
use toolkit::prelude::*;
use toolkit::registry::{FetchFuture, ToolSource};
use toolkit::{Builder, tool_ref};

toolkit::permission_keys!["ripen"];

/// Cuts.
#[tool(group = "kitchen", alias = "chop")]
async fn slice() {}

/// Boils.
#[tool(group = "kitchen")]
async fn boil() {}

fn builder() -> Builder {
    Toolkit::empty().tool(tool_ref!(slice)).tool(tool_ref!(boil))
}

/// The problems of a configuration in this place.
fn problems(place: &Place) -> Vec<String> {
    let builder = builder().permission_keys(["later", "batch_*", "group:garden"]);
    match builder.configuration(place.load()).build() {
        Ok(_) => Vec::new(),
        Err(error) => error.problems.iter().map(|problem| place.short(problem)).collect(),
    }
}

fn of_user(text: &str) -> Vec<String> {
    let place = Place::new();
    place.write("user/toolkit.json5", text);
    problems(&place)
}

#[test]
fn a_misspelled_name_is_refused_with_its_place_and_the_nearest_name() {
    for (entry, near) in [
        ("slcie", "; did you mean `slice`?"),
        ("chpo", "; did you mean `chop`?"),
        ("s?ice", "; did you mean `slice`?"),
        ("group:kitchne", "; did you mean `group:kitchen`?"),
        ("mcp:dcos", "; did you mean `mcp:docs`?"),
        ("slcie*", "; "),
        ("group:kichten*", "; "),
        ("dcos__search", "; "),
        ("dcos__*", "; "),
        ("unlinked_plugin", "; name a tool or plugin that is linked"),
        // A kind of permission is no tool.
        ("external_directory", "; "),
    ] {
        let file = format!(
            "{{\n  mcp: {{ docs: {{ command: 'x' }} }},\n  tools: {{ deny: ['boil', '{entry}'] }},\n}}"
        );
        let problems = of_user(&file);
        let [problem] = problems.as_slice() else { panic!("{entry}: {problems:?}") };
        assert!(problem.starts_with("user/toolkit.json5:3:27: tools.deny.1: "), "{problem}");
        assert!(problem.contains(&format!("there is no tool, plugin or group `{entry}`{near}")), "{problem}");
    }
}

#[test]
fn every_list_of_tools_is_checked() {
    for list in [
        "tools: { deny: LIST }",
        "tools: { allow: LIST }",
        "tools: { profile: 'full', alsoAllow: LIST }",
        "tools: { profiles: { p: { allow: LIST } } }",
        "tools: { profiles: { p: { deny: LIST } } }",
        "tools: { byProvider: { openai: { deny: LIST } } }",
        "tools: { sandbox: { deny: LIST } }",
        "tools: { subagents: { allow: LIST } }",
        "agents: { kid: { tools: { deny: LIST } } }",
        "agents: { kid: { tools: { profile: 'full', alsoAllow: LIST } } }",
        "agents: { kid: { tools: { byProvider: { 'a/b': { allow: LIST } } } } }",
        "channels: { irc: { tools: { deny: LIST } } }",
        "channels: { irc: { groups: { g: { tools: { deny: LIST } } } } }",
        "channels: { irc: { senders: { 's/1': { tools: { allow: LIST } } } } }",
    ] {
        let file = format!("{{ {} }}", list.replace("LIST", "['slcie']"));
        let problems = of_user(&file);
        assert_eq!(problems.len(), 1, "{file}: {problems:?}");
        assert!(problems[0].starts_with("user/toolkit.json5:1:"), "{problems:?}");
        let file = format!("{{ {} }}", list.replace("LIST", "['slice']"));
        assert_eq!(of_user(&file), [""; 0], "{file}");
    }
}

#[test]
fn names_that_mean_something_here_or_later_are_taken() {
    for entry in [
        "slice",
        " Slice ",
        "chop",
        "boil",
        "sl*",
        "*",
        "group:kitchen",
        "group:kit*",
        "group:plugins",
        "group:mcp",
        "group:client",
        // Tools of a configured server that is not connected, also one that is switched off.
        "docs",
        "mcp:docs",
        "MCP:Docs",
        "mcp:*",
        "docs__search",
        "docs__pub*",
        "client:tab",
        "client:*",
        // As the host and a crate name them.
        "later",
        "batch_7",
        "batch_7*",
        "ba*",
        "group:garden",
        "ripen",
    ] {
        let file = format!(
            "{{ mcp: {{ docs: {{ command: 'x', enabled: false }} }}, tools: {{ deny: ['{entry}'] }} }}"
        );
        assert_eq!(of_user(&file), [""; 0], "{entry}");
    }
    // The name of a server alone denies, and allows nothing.
    let file = "{ mcp: { docs: { command: 'x' } }, tools: { allow: ['docs'] } }";
    assert_eq!(of_user(file).len(), 1);
    // A plugin may be switched off in a file that several programs read.
    assert_eq!(of_user("{ plugins: { elsewhere: { enabled: false } } }"), [""; 0]);
}

#[test]
fn of_an_untrusted_file_misspelled_denials_are_refused() {
    for (list, count) in
        [("deny: ['slcie']", 1), ("allow: ['slcie', 'slice']", 0), ("alsoAllow: ['slcie']", 0)]
    {
        let place = Place::new();
        place.write("work/toolkit.json5", &format!("{{ tools: {{ {list} }} }}"));
        assert_eq!(problems(&place).len(), count, "{list}");
    }
}

#[test]
fn a_reload_with_a_misspelled_name_changes_nothing() {
    let toolkit = builder().build().unwrap();
    let load =
        |entry: &str| Configuration::load(LoadOptions::new().set(format!("tools.deny=['{entry}']"))).unwrap();
    let error = toolkit.reload(load("slcie")).unwrap_err();
    assert!(error.problems[0].contains("did you mean `slice`?"), "{error}");
    assert!(toolkit.reload(load("slice")).is_ok());
}

#[test]
fn at_most_twenty_names_are_told() {
    let entries: Vec<String> = (0..5_000).map(|number| format!("'x{number}', '*{number}a'")).collect();
    assert_eq!(of_user(&format!("{{ tools: {{ deny: [{}] }} }}", entries.join(","))).len(), 20);
}

fn in_code(rules: ToolRules) -> ToolPolicy {
    let mut settings = PolicySettings::default();
    settings.tools = rules;
    ToolPolicy::new(settings)
}

#[test]
fn a_misspelled_name_in_a_policy_in_code_is_refused_with_the_nearest_name() {
    let rules = ToolRules::default;
    for (rules, place) in [
        (rules().deny(["boil", "slcie"]), "tools.deny.1: "),
        (rules().allow(["SLCIE"]), "tools.allow.0: "),
        (rules().profile("full").also_allow(["slcie"]), "tools.alsoAllow.0: "),
    ] {
        let error = builder().policy(in_code(rules)).build().unwrap_err();
        let [problem] = error.problems.as_slice() else { panic!("{error}") };
        assert!(problem.starts_with(place), "{problem}");
        assert!(problem.contains("no such tool or plugin; did you mean `slice`?"), "{problem}");
        assert!(problem.contains("with `Builder::permission_keys`"), "{problem}");
    }
    let error = builder().policy(in_code(rules().deny(["unlinked_plugin"]))).build().unwrap_err();
    assert!(
        error.problems[0].contains("; name a tool that is added, or one of a crate in `toolkit::link!`"),
        "{error}"
    );
}

#[test]
fn a_policy_in_code_may_name_later_tools_and_patterns() {
    let rules = ToolRules::default;
    // A kind of another crate, groups and patterns only warn, as do the names of an agent's own servers.
    for entry in ["chop", "ripen", "group:kitchne", "slcie*", "group:kichten*", "client:phone"] {
        for rules in [rules().deny([entry]), rules().allow([entry])] {
            assert!(builder().policy(in_code(rules)).build().is_ok(), "{entry}");
        }
    }
    let mut settings = PolicySettings::default();
    settings.servers.insert("docs".to_owned());
    settings.tools = rules().deny(["docs", "mcp:docs", "docs__search"]);
    assert!(builder().policy(ToolPolicy::new(settings)).build().is_ok());
    // The program announces the name.
    let announced = builder().policy(in_code(rules().deny(["slcie"]))).permission_keys(["slcie"]);
    assert!(announced.build().is_ok());
}

/// Brings tools later.
#[derive(Debug)]
struct Later;

impl ToolSource for Later {
    fn bring<'a>(&'a self, _: &'a Toolkit) -> FetchFuture<'a> {
        Box::pin(async {})
    }
}

#[test]
fn a_policy_in_code_only_warns_if_a_source_of_tools_may_bring_the_name() {
    let policy = in_code(ToolRules::default().deny(["slcie"]));
    let toolkit = builder().tool_source(Later).policy(policy).build().unwrap();
    let told: Vec<String> = toolkit.diagnostics().iter().map(ToString::to_string).collect();
    assert!(told[0].contains("did you mean `slice`?"), "{told:?}");
}
