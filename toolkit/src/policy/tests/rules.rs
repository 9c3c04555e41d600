//! A table for every rule: configuration, caller and existing tools.

use super::fixture::{Thing, existing, policy, things};
use crate::policy::{PolicySettings, ProfileRules, ToolRules};
use std::collections::{BTreeMap, BTreeSet};
use toolkit_core::caller::Caller;

/// The tools that exist without any configuration and outside any channel.
const PLAIN: [&str; 8] = ["exec", "read", "status", "write", "bash", "acme_files", "beta_a", "odd"];

fn rules() -> ToolRules {
    ToolRules::default()
}

fn global(tools: ToolRules) -> PolicySettings {
    PolicySettings { tools, ..PolicySettings::default() }
}

/// Returns the names of the tools that exist.
fn found(settings: PolicySettings, caller: &Caller) -> Vec<String> {
    existing(&policy(settings), caller, &things())
}

fn without(missing: &[&str]) -> Vec<&'static str> {
    PLAIN.into_iter().filter(|name| !missing.contains(name)).collect()
}

#[test]
fn without_configuration_all_are_there_but_what_is_optional_off_or_of_a_channel() {
    assert_eq!(found(PolicySettings::default(), &Caller::new()), PLAIN);
}

#[test]
fn a_deny_covers_every_name_and_group() {
    for (entry, missing) in [
        ("exec", &["exec", "bash"][..]),
        (" EXEC ", &["exec", "bash"]),
        // A registered alias denies its tool, and the tool's name denies the alias.
        ("bash", &["exec", "bash"]),
        ("sh", &["exec", "bash"]),
        // An alias of the tool's own.
        ("run", &["exec"]),
        ("also", &["beta_a"]),
        ("read", &["read", "beta_a", "odd"]),
        ("acme", &["write", "bash", "acme_files"]),
        ("Acme", &["write", "bash", "acme_files"]),
        ("group:fs", &["read", "write", "acme_files", "beta_a"]),
        ("group:FS", &["read", "write", "acme_files", "beta_a"]),
        ("group:runtime", &["exec", "bash"]),
        ("group:mine", &["write", "acme_files"]),
        ("group:plugins", &["write", "bash", "acme_files", "beta_a", "odd"]),
        ("*", &PLAIN),
        ("acme*", &["write", "bash", "acme_files"]),
        ("e*", &["exec", "bash"]),
        ("s*", &["exec", "status", "bash"]),
        ("*un", &["exec"]),
        ("group:*", &["exec", "read", "write", "bash", "acme_files", "beta_a", "odd"]),
        ("group:f*", &["read", "write", "acme_files", "beta_a"]),
        ("group:m*", &["write", "acme_files"]),
        ("group*", &[]),
        ("fs", &[]),
        ("group:read", &[]),
        ("unknown", &[]),
        // An invalid entry may mean any tool.
        ("", &PLAIN),
        ("group:", &PLAIN),
        ("\u{200b}read", &PLAIN),
        ("re\u{430}d", &PLAIN),
    ] {
        assert_eq!(found(global(rules().deny([entry])), &Caller::new()), without(missing), "{entry:?}");
    }
}

#[test]
fn an_allow_list_takes_names_and_what_the_host_says_of_groups() {
    for (entries, expected) in [
        (&[][..], &[][..]),
        (&["read"], &["read"]),
        (&[" Read"], &["read"]),
        (&["bash"], &["exec"]),
        (&["run"], &["exec"]),
        // A plugin's alias enables nothing.
        (&["also"], &[]),
        (&["acme"], &["write", "bash", "acme_files", "acme_web"]),
        (&["group:fs"], &["read"]),
        (&["group:mine"], &["write", "acme_files"]),
        (&["group:plugins"], &["write", "bash", "acme_files", "acme_web", "beta_a", "odd"]),
        (&["*"], &PLAIN),
        (&["re*"], &["read", "odd"]),
        (&["ru*"], &[]),
        (&["als*"], &[]),
        (&["group:*"], &["exec", "read", "write", "acme_files"]),
        (&["group:f*"], &["read"]),
        (&["group:p*"], &[]),
        (&["group*"], &[]),
        (&["unknown"], &[]),
        (&["unknown", "status"], &["status"]),
        (&["", "group:", "re\u{e4}d"], &[]),
        (&["odd"], &["odd"]),
    ] {
        let found = found(global(rules().allow(entries.iter().copied())), &Caller::new());
        assert_eq!(found, expected, "{entries:?}");
    }
}

#[test]
fn a_plugin_joins_a_built_in_group_only_by_configuration() {
    for (plugin, group, allowed, expected) in [
        ("acme", "fs", "group:fs", &["read", "write", "acme_files"][..]),
        (" ACME", " Group:FS", "group:f*", &["read", "write", "acme_files"]),
        ("acme", "runtime", "group:fs", &["read"]),
        ("acme", "f*", "group:fs", &["read"]),
        ("acme", "mine", "group:fs", &["read"]),
        ("beta", "fs", "group:fs", &["read"]),
        ("acme", "runtime", "group:runtime", &["exec"]),
    ] {
        let mut settings = global(rules().allow([allowed]));
        settings.join_groups = BTreeMap::from([(plugin.to_owned(), BTreeSet::from([group.to_owned()]))]);
        assert_eq!(found(settings, &Caller::new()), expected, "{plugin} {group} {allowed}");
    }
}

#[test]
fn a_profile_is_where_a_layer_begins() {
    for (name, also, expected) in [
        ("minimal", &[][..], &["status"][..]),
        (" Minimal ", &[], &["status"]),
        // Names and groups that plugins choose have no effect.
        ("coding", &[], &["exec", "read"]),
        ("wild", &[], &["read"]),
        ("coding", &["write"], &["exec", "read", "write"]),
        ("minimal", &["acme"], &["status", "write", "bash", "acme_files", "acme_web"]),
        ("full", &[], &PLAIN),
        ("full", &["unknown"], &PLAIN),
        ("codign", &[], &[]),
        ("", &[], &[]),
        ("codign", &["read"], &["read"]),
        ("team", &[], &["read", "write"]),
        ("TEAM", &["exec"], &["read", "write"]),
        ("nothing", &[], &[]),
        ("all_but", &[], &["read", "status", "write", "acme_files", "beta_a", "odd"]),
        // Both apply: the registered profile and the configured one of the same name.
        ("Wild", &["exec"], &["exec", "read"]),
    ] {
        let profile = |allow: Option<&[&str]>, deny: &[&str]| {
            let owned = |list: &[&str]| list.iter().map(|entry| (*entry).to_owned()).collect();
            ProfileRules { allow: allow.map(owned), deny: owned(deny) }
        };
        let mut settings = global(rules().profile(name).also_allow(also.iter().copied()));
        settings.profiles = BTreeMap::from([
            ("team".to_owned(), profile(Some(&["read", "write", "exec"]), &["exec", "beta_a", "odd"])),
            ("nothing".to_owned(), profile(Some(&[]), &[])),
            ("all_but".to_owned(), profile(None, &["bash"])),
            ("wild".to_owned(), profile(Some(&["read", "status"]), &[])),
        ]);
        assert_eq!(found(settings, &Caller::new()), expected, "{name} {also:?}");
    }
}

#[test]
fn also_allow_adds_only_to_the_profile_of_its_own_layer() {
    let mut settings = global(rules().profile("minimal"));
    settings.agents.insert("kid".to_owned(), rules().also_allow(["read"]));
    settings.sandbox = rules().profile("coding").also_allow(["status"]);
    for (caller, expected) in [
        (Caller::new(), &["status"][..]),
        (Caller::new().with_agent("kid"), &["status"]),
        (below(true, 0), &["status"]),
    ] {
        assert_eq!(found(settings.clone(), &caller), expected, "{caller:?}");
    }
    // It overrides neither a deny nor a missing entry in the allow list.
    let tools = rules()
        .profile("minimal")
        .also_allow(["read", "write", "odd"])
        .deny(["write"])
        .allow(["read", "write"]);
    assert_eq!(found(global(tools), &Caller::new()), ["read"]);
}

#[test]
fn each_layer_narrows_whom_it_is_about() {
    let deny = || rules().deny(["read"]);
    let settings = |change: &dyn Fn(&mut PolicySettings)| {
        let mut settings = PolicySettings::default();
        change(&mut settings);
        settings
    };
    let model = |provider: &str, model: &str| Caller::new().with_provider(provider).with_model(model);
    let agent = |id: &str| Caller::new().with_agent(id);
    let by_provider =
        |key: &'static str| settings(&|settings| drop(settings.by_provider.insert(key.to_owned(), deny())));
    let by_agent =
        |key: &'static str| settings(&|settings| drop(settings.agents.insert(key.to_owned(), deny())));
    let by_channel =
        |key: &'static str| settings(&|settings| drop(settings.channels.insert(key.to_owned(), deny())));
    let by_both = || {
        settings(&|settings| {
            let rules = BTreeMap::from([("openai".to_owned(), deny())]);
            drop(settings.agents_by_provider.insert("kid".to_owned(), rules));
        })
    };
    let in_channel = |name: &str| Caller::new().with_channel(name);
    let sandbox = || settings(&|settings| settings.sandbox = deny());
    let subagents = || settings(&|settings| settings.subagents = deny());
    for (settings, caller, is_denied) in vec![
        (by_provider("openai"), model("openai", "gpt-5"), true),
        (by_provider("OpenAI"), model("openai", "gpt-5"), true),
        (by_provider("openai"), Caller::new().with_model("openai/gpt-5"), true),
        (by_provider("openai/gpt-5"), model("openai", "GPT-5"), true),
        (by_provider("openai/gpt-5"), model("openai", "gpt-4"), false),
        (by_provider("openai/*"), model("openai", "gpt-4"), true),
        (by_provider("*"), model("azure", "gpt-4"), true),
        (by_provider("azure"), model("openai", "gpt-5"), false),
        (by_provider("openai"), Caller::new(), false),
        (by_provider("gpt-5"), model("openai", "gpt-5"), true),
        (by_provider("gpt-5"), Caller::new().with_model("gpt-5"), true),
        (by_provider("gpt-4"), model("openai", "gpt-5"), false),
        (by_provider("openai/gpt-5"), Caller::new().with_model("gpt-5"), true),
        (by_provider("*"), Caller::new(), true),
        (by_agent("kid"), agent("kid"), true),
        (by_agent(" Kid"), agent("KID"), true),
        (by_agent("k*"), agent("kid"), true),
        (by_agent("kid"), agent("kids"), false),
        (by_agent("kid"), Caller::new(), false),
        (by_channel("telegram"), in_channel("Telegram"), true),
        (by_channel("telegram"), in_channel("slack"), false),
        (by_both(), agent("kid").with_provider("openai"), true),
        (by_both(), agent("kid"), false),
        (by_both(), model("openai", "gpt-5"), false),
        (sandbox(), below(true, 0), true),
        (sandbox(), Caller::new(), false),
        (subagents(), below(false, 1), true),
        (subagents(), Caller::new(), false),
    ] {
        let is_there = found(settings.clone(), &caller).contains(&"read".to_owned());
        assert_eq!(!is_there, is_denied, "{settings:?}\n{caller:?}");
    }
}

#[test]
fn what_names_match_two_ways_holds_twice() {
    let mut settings = PolicySettings::default();
    settings.by_provider.insert("openai".to_owned(), rules().allow(["read", "exec"]));
    settings.by_provider.insert("openai/gpt-5".to_owned(), rules().allow(["read", "status"]));
    settings.agents.insert("kid".to_owned(), rules().allow(["read", "status"]));
    settings.agents.insert("Kid".to_owned(), rules().deny(["status"]));
    let caller = Caller::new().with_provider("openai").with_model("gpt-5");
    assert_eq!(found(settings.clone(), &caller), ["read"]);
    assert_eq!(found(settings, &Caller::new().with_agent("kid")), ["read"]);
}

#[test]
fn an_optional_tool_is_opened_by_the_global_lists_alone() {
    // `extra` is a core tool, `acme_web` a plugin's tool.
    for (rules_of, opened) in [
        (rules().allow(["extra"]), &["extra"][..]),
        (rules().also_allow(["extra"]), &["extra"]),
        (rules().also_allow([" EXTRA "]), &["extra"]),
        (rules().also_allow(["acme"]), &["acme_web"]),
        (rules().also_allow(["group:plugins"]), &["acme_web"]),
        (rules().also_allow(["acme_web"]), &["acme_web"]),
        (rules().profile("full").also_allow(["extra"]), &["extra"]),
        (rules().profile("full"), &[]),
        (rules().also_allow(["*"]), &[]),
        (rules().also_allow(["extr*", "acme*", "group:*", "group:plug*", "group:web", "group:w*"]), &[]),
        (rules().allow(["*"]), &[]),
        (rules().allow(["*", "extra"]), &["extra"]),
        (rules().allow(["read"]).also_allow(["extra"]), &[]),
        (rules().profile("with_extra"), &[]),
        (rules().profile("with_extra").also_allow(["extra"]), &["extra"]),
        (rules().also_allow(["extra"]).deny(["ext*"]), &[]),
    ] {
        let mut settings = global(rules_of.clone());
        let allow = Some(vec!["extra".to_owned(), "read".to_owned()]);
        settings.profiles.insert("with_extra".to_owned(), ProfileRules { allow, ..ProfileRules::default() });
        let mut found = found(settings, &Caller::new());
        found.retain(|name| name == "extra" || name == "acme_web");
        assert_eq!(found, opened, "{rules_of:?}");
    }
    let mut settings = PolicySettings::default();
    settings.agents.insert(
        "kid".to_owned(),
        rules().profile("full").allow(["*", "extra", "acme"]).also_allow(["extra"]),
    );
    assert_eq!(found(settings, &Caller::new().with_agent("kid")), PLAIN);
}

#[test]
fn switches_and_gates() {
    let switched = |switches: &[(&str, bool)]| PolicySettings {
        enabled: switches.iter().map(|(name, is_on)| ((*name).to_owned(), *is_on)).collect(),
        ..PolicySettings::default()
    };
    let on = |name: &'static str| {
        let mut names = PLAIN.to_vec();
        names.push(name);
        names
    };
    for (settings, expected) in [
        (switched(&[("read", false)]), without(&["read", "beta_a"])),
        (switched(&[(" READ ", false)]), without(&["read", "beta_a"])),
        (switched(&[("bash", false)]), without(&["exec", "bash"])),
        (switched(&[("run", false)]), without(&["exec"])),
        (switched(&[("acme", false), ("group:fs", false), ("*", false)]), PLAIN.to_vec()),
        (switched(&[("beta_off", true)]), on("beta_off")),
        (switched(&[("beta_off", true), ("Beta_Off", false)]), PLAIN.to_vec()),
        (switched(&[("beta", true), ("*", true)]), PLAIN.to_vec()),
        (switched(&[("exec", true), ("bash", false)]), without(&["exec", "bash"])),
        // Enabling an optional tool by name does not make it exist.
        (switched(&[("extra", true)]), PLAIN.to_vec()),
        (
            PolicySettings {
                plugins_enabled: BTreeMap::from([("Acme".to_owned(), false), ("beta".to_owned(), true)]),
                ..PolicySettings::default()
            },
            without(&["write", "bash", "acme_files"]),
        ),
        (PolicySettings { enable_tool_calls: Some(false), ..PolicySettings::default() }, Vec::new()),
        (PolicySettings { enable_tool_calls: Some(true), ..PolicySettings::default() }, PLAIN.to_vec()),
    ] {
        assert_eq!(found(settings.clone(), &Caller::new()), expected, "{settings:?}");
    }
}

#[test]
fn certain_models_get_a_tool() {
    let gate = |tool: &str, models: &[&str]| {
        let models = models.iter().map(|model| (*model).to_owned()).collect();
        PolicySettings {
            models: BTreeMap::from([(
                tool.to_owned(),
                (models, "/tools/exec/applyPatch/allowModels".to_owned()),
            )]),
            ..PolicySettings::default()
        }
    };
    let gpt = || Caller::new().with_provider("openai").with_model("gpt-5");
    for (settings, caller, is_there) in [
        (gate("exec", &["gpt-5"]), gpt(), true),
        (gate("exec", &["OpenAI/GPT-5"]), gpt(), true),
        (gate("exec", &["other", "gpt-*"]), gpt(), true),
        (gate("bash", &["other"]), gpt(), false),
        (gate("run", &["other"]), gpt(), false),
        (gate("exec", &["azure/gpt-5"]), gpt(), false),
        (gate("exec", &[]), gpt(), false),
        (gate("exec", &["gpt-5"]), Caller::new(), false),
        (gate("exec", &["*"]), Caller::new(), false),
        (gate("read", &["other"]), gpt(), true),
    ] {
        let found = found(settings.clone(), &caller).contains(&"exec".to_owned());
        assert_eq!(found, is_there, "{settings:?}\n{caller:?}");
    }
}

#[test]
fn a_channels_tool_is_there_in_its_sessions_only() {
    let things = [Thing::of("beta", "chat").channel("Telegram")];
    for (caller, is_there) in [
        (Caller::new(), false),
        (Caller::new().with_channel("telegram"), true),
        (Caller::new().with_channel(" TELEGRAM "), true),
        (Caller::new().with_channel("slack"), false),
    ] {
        let found = existing(&policy(PolicySettings::default()), &caller, &things);
        assert_eq!(!found.is_empty(), is_there, "{caller:?}");
    }
}

#[test]
fn a_source_that_only_narrows_widens_nothing() {
    let user = || {
        let mut settings = global(rules().profile("team").also_allow(["extra", "read"]));
        let allow = Some(vec!["group:fs".to_owned(), "exec".to_owned()]);
        settings.profiles.insert("team".to_owned(), ProfileRules { allow, ..ProfileRules::default() });
        settings
    };
    let plain = ["exec", "read", "extra"];
    let join = BTreeMap::from([("acme".to_owned(), BTreeSet::from(["fs".to_owned()]))]);
    let mut own_profile = global(rules().profile("own"));
    let allow = Some(vec!["read".to_owned(), "status".to_owned()]);
    own_profile.profiles.insert("own".to_owned(), ProfileRules { allow, ..ProfileRules::default() });
    let mut redefined = PolicySettings::default();
    redefined.profiles.insert("team".to_owned(), ProfileRules::default());
    for (workspace, expected) in [
        (PolicySettings::default(), &plain[..]),
        (global(rules().allow(["*", "acme_web", "status"])), &plain),
        (global(rules().allow(["read"])), &["read"]),
        (global(rules().allow([""; 0])), &[]),
        (global(rules().deny(["bash"])), &["read", "extra"]),
        (global(rules().profile("full")), &plain),
        (global(rules().profile("coding")), &["exec", "read"]),
        (global(rules().profile("codign")), &[]),
        // It can start from a profile of the user, or from its own.
        (global(rules().profile("team")), &["exec", "read"]),
        (own_profile, &["read"]),
        (redefined, &plain),
        (PolicySettings { join_groups: join, ..PolicySettings::default() }, &plain),
        (
            PolicySettings {
                enabled: BTreeMap::from([("beta_off".to_owned(), true), ("exec".to_owned(), false)]),
                ..PolicySettings::default()
            },
            &["read", "extra"],
        ),
        (PolicySettings { enable_tool_calls: Some(true), ..PolicySettings::default() }, &plain),
        (PolicySettings { enable_tool_calls: Some(false), ..PolicySettings::default() }, &[]),
    ] {
        let policy = policy(user()).narrowed_by("./toolkit.json5", workspace.clone());
        let mut found = existing(&policy, &Caller::new(), &things());
        found.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected, "{workspace:?}");
    }
}

/// Returns a caller in a sandbox or without one, so many agents below the first.
fn below(sandboxed: bool, depth: u32) -> Caller {
    let mut caller = Caller::new();
    (caller.sandboxed, caller.depth) = (sandboxed, depth);
    caller
}
