//! Data that crates register for policies: it counts for those that the host calls core, and for no other.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use toolkit::prelude::*;
use toolkit::{
    Tool,
    descriptor::Source,
    policy::{PolicySettings, ProfileRules, ToolPolicy, ToolRules},
};

// `link!` names other crates; here the program itself is the core crate.
toolkit::__private::inventory::submit! {
    toolkit::__private::Link {
        crate_name: "policy_data",
        core: true,
        order: 0,
        module: module_path!(),
        file: file!(),
        line: line!(),
    }
}

toolkit::policy_data! {
    groups: [("Paint", &["draw", "Erase"])],
    profiles: [("Artist", Some(&["group:paint"])), ("everything", None)],
    aliases: [("Rubber", "erase"), ("shared", "draw")],
}

/// As a crate that is none of the core might.
mod elsewhere {
    toolkit::__private::inventory::submit! {
        toolkit::__private::PolicyData {
            module: "elsewhere::inner",
            groups: &[("paint", &["look"]), ("theirs", &["draw"])],
            profiles: &[("artist", Some(&[])), ("thief", None)],
            aliases: &[("view", "look")],
            planned: &[],
            names: &[],
        }
    }
}

/// A second one of the core: of two tools with one alias, the first by name has it.
mod more {
    toolkit::policy_data! {
        groups: [("paint", &["look"])],
        profiles: [],
        aliases: [("shared", "erase"), ("sketch", "draw")],
    }
}

/// Draws.
#[tool]
async fn draw() {}

/// Erases.
#[tool]
async fn erase() {}

/// Looks.
#[tool(group = "eyes")]
async fn look() {}

/// The names that are there, of the tools here and of one that a plugin brings.
async fn names(settings: PolicySettings) -> Vec<String> {
    let own = Tool::builder("scan").group("eyes").group("paint").build(|_, _| async {}).unwrap();
    let toolkit = Toolkit::builder()
        .without_asking_first()
        .tool(own.with_source(Source::plugin("acme")))
        .permission_keys(["view"])
        .policy(ToolPolicy::new(settings))
        .build()
        .unwrap();
    toolkit.toolbox(&Caller::new()).await.tools().map(|tool| tool.name().to_owned()).collect()
}

#[tokio::test]
async fn only_core_crates_say_what_names_mean() {
    let rules = ToolRules::default;
    for (tools, expected) in [
        (rules(), &["draw", "erase", "look", "scan"][..]),
        (rules().profile("artist"), &["draw", "erase", "look"]),
        (rules().profile("everything"), &["draw", "erase", "look", "scan"]),
        (rules().profile("full"), &["draw", "erase", "look", "scan"]),
        (rules().profile("thief"), &[]),
        (rules().allow(["group:paint"]), &["draw", "erase", "look"]),
        (rules().allow(["group:theirs"]), &[]),
        // The tool of a core crate names it: so a plugin's tool does not count in it by its own word.
        (rules().allow(["group:eyes"]), &["look"]),
        (rules().allow(["group:plugins"]), &["scan"]),
        (rules().allow(["rubber", "sketch"]), &["draw", "erase"]),
        (rules().allow(["shared"]), &["draw"]),
        (rules().allow(["view"]), &[]),
        (rules().deny(["rubber"]), &["draw", "look", "scan"]),
        (rules().deny(["shared"]), &["erase", "look", "scan"]),
        (rules().deny(["view"]), &["draw", "erase", "look", "scan"]),
        (rules().deny(["group:theirs"]), &["draw", "erase", "look", "scan"]),
        (rules().deny(["group:eyes"]), &["draw", "erase"]),
    ] {
        let mut settings = PolicySettings::default();
        settings.tools = tools.clone();
        assert_eq!(names(settings).await, expected, "{tools:?}");
    }
}

#[tokio::test]
async fn a_profile_that_is_registered_is_only_narrowed() {
    let mut settings = PolicySettings::default();
    settings.tools = ToolRules::default().profile("artist");
    let mut profile = ProfileRules::default();
    profile.deny = vec!["sketch".to_owned()];
    settings.profiles.insert("artist".to_owned(), profile);
    assert_eq!(names(settings).await, ["erase", "look"]);
}
