//! Decisions on paths that something else uses: one, or all that is below it.

use super::Places;
use toolkit::prelude::*;
use toolkit::{approval::Access, files::Workspace, permission::PathDecision};

/// `allow`, `deny: …`, or the kind of permission that is asked for, with why.
fn said(workspace: &Workspace, path: &str, follows_links: bool) -> String {
    match workspace.decide_tree(path, follows_links).unwrap().decision {
        PathDecision::Allow => "allow".to_owned(),
        PathDecision::Ask { kind, reason, .. } => format!("{kind}: {reason}"),
        PathDecision::Deny { reason, .. } => format!("deny: {reason}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_tree_is_decided_as_strictly_as_the_strictest_of_it() {
    let places = Places::new();
    places
        .write("inside/plain/a.txt", "a")
        .write("inside/plain/.hidden/b", "b")
        .write("inside/key/deep/deeper/x.pem", "key")
        .write("inside/key/.gitignore", "*")
        .write("inside/out/a", "a")
        .write("inside/within/real/a", "a")
        .write("inside/dangling/a", "a")
        .write("outside/a", "a");
    places
        .link(places.path("outside"), "inside/out/link")
        .link("real", "inside/within/link")
        .link("nowhere", "inside/dangling/link");
    let workspace = places.workspace();
    for (path, follows_links, expected) in [
        ("plain", true, "allow"),
        ("plain/a.txt", true, "allow"),
        ("missing", true, "allow"),
        ("key", false, "sensitive: which holds key/deep/deeper/x.pem, which"),
        ("key/deep/deeper/x.pem", false, "sensitive: which"),
        ("out", false, "allow"),
        ("out", true, "read: in which out/link leads elsewhere"),
        ("within", true, "allow"),
        ("dangling", true, "read: in which dangling/link leads elsewhere"),
        (".", false, "sensitive: which holds key/deep/deeper/x.pem, which"),
        ("../outside", false, "external_directory: which is outside the workspace"),
    ] {
        let said = said(&workspace, path, follows_links);
        let is_same = if expected == "allow" { said == expected } else { said.starts_with(expected) };
        assert!(is_same, "{path} {follows_links}: {said}");
    }
    // The decision on the directory by itself says nothing of its contents.
    assert_eq!(workspace.decide("key", Access::Read).unwrap().decision, PathDecision::Allow);
}

#[tokio::test]
async fn a_directory_with_too_many_entries_is_asked_about() {
    let places = Places::new();
    for directory in ["inside/many", "outside/many"] {
        for number in 0..=10_000 {
            let path = places.base.join(format!("{directory}/{}/{number}", number % 100));
            if number < 100 {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            }
            std::fs::write(path, "").unwrap();
        }
    }
    let workspace = with_rules(&places, r#"{ permission: { external_directory: "allow" } }"#).await;
    assert_eq!(said(&workspace, "many", false), "allow");
    assert_eq!(said(&workspace, "../outside/many", false), "read: which has too many entries to check");
    assert_eq!(said(&workspace, "../outside/many/1", false), "allow");
}

#[tokio::test]
async fn too_many_found_files_are_asked_about() {
    let places = Places::new();
    let rules = r#"{ permission: { read: [{ match: "**/denied.txt", do: "deny" }] } }"#;
    let (open, restricted) = (places.workspace(), with_rules(&places, rules).await);
    // Where there are rules about reading, each name is compared with them.
    for (count, workspace, is_allowed) in [
        (200_000, &open, true),
        (200_001, &open, false),
        (50_000, &restricted, true),
        (50_001, &restricted, false),
    ] {
        let files = (0..count).map(|number| Some(places.path(&format!("inside/{number}.txt")).into()));
        let decided = workspace.decide_found(places.path("inside"), files).unwrap().decision;
        assert_eq!(decided == PathDecision::Allow, is_allowed, "{count}: {decided:?}");
    }
    let files = [Some(places.path("inside/a").into()), None];
    let decided = open.decide_found(places.path("inside"), files).unwrap().decision;
    assert!(decided != PathDecision::Allow, "an unknown file");
}

/// Reads.
#[tool(read_only)]
fn reads() {}

/// The workspace of a tool, with these rules of the user.
async fn with_rules(places: &Places, rules: &str) -> Workspace {
    places.write("user/toolkit.json5", rules);
    let options = toolkit::config::LoadOptions::new().user_file(places.path("user/toolkit.json5"));
    let configuration = toolkit::config::Configuration::load(options).unwrap();
    let toolkit =
        Toolkit::empty().tool(toolkit::tool_ref!(reads)).configuration(configuration).build().unwrap();
    let caller = Caller::new().with_workspace(places.path("inside"));
    toolkit.toolbox(&caller).await.context("reads").unwrap().workspace()
}

#[tokio::test]
async fn a_denial_counts_before_a_question() {
    let places = Places::new();
    places
        .write("inside/both/a.pem", "key")
        .write("inside/both/z/denied.txt", "x")
        .write("inside/asked/a.pem", "key");
    let rules = r#"{ permission: { read: [{ match: "**/denied.txt", do: "deny" }] } }"#;
    let workspace = with_rules(&places, rules).await;
    assert!(said(&workspace, "both", false).starts_with("deny: "), "{}", said(&workspace, "both", false));
    assert!(said(&workspace, "asked", false).starts_with("sensitive: "));
}
