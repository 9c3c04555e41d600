//! Paths below an opened directory are reached without questions, and no others.

#![cfg(unix)]

#[tokio::test]
async fn a_tree_is_opened_without_further_questions_and_never_left() {
    let base = tempfile::tempdir().unwrap();
    let base = base.path().canonicalize().unwrap();
    let workspace = base.join("workspace");
    std::fs::create_dir_all(workspace.join("within/.ssh")).unwrap();
    std::fs::create_dir_all(base.join("outside")).unwrap();
    for file in [
        "workspace/within/a",
        "workspace/within/b.pem",
        "workspace/within/.ssh/c",
        "workspace/d",
        "outside/canary",
    ] {
        std::fs::write(base.join(file), "text").unwrap();
    }
    std::os::unix::fs::symlink(base.join("outside"), workspace.join("within/link")).unwrap();
    std::os::unix::fs::symlink(base.join("outside/canary"), workspace.join("within/file")).unwrap();
    let ctx = toolkit::ToolContext::detached(toolkit::Caller::new().with_workspace(&workspace));
    let mut tree = ctx.workspace().open_tree("within").await.unwrap();
    let within = workspace.join("within");
    for (name, expected) in [
        ("a", "opened"),
        ("b.pem", "it needs approval"),
        (".ssh/c", "it needs approval"),
        ("absent", "it does not exist"),
        ("absent.pem", "it needs approval"),
        ("link/canary", "it does not exist"),
        ("file", "it does not exist"),
        ("../d", "it needs approval"),
        ("../../outside/canary", "it needs approval"),
        (".ssh", "it needs approval"),
        (".", "it is not a regular file but a directory"),
    ] {
        let opened = tree.try_open(&within.join(name));
        let said = opened.map_or_else(|error| error.to_string(), |_| "opened".to_owned());
        assert_eq!(said, expected, "{name}");
    }
    for path in [&workspace, &base.join("outside"), &within.join("link"), &within.join("../../outside")] {
        assert!(tree.entries(path, 10, || true).is_err(), "{}", path.display());
    }
    assert_eq!(tree.entries(&within, 10, || true).unwrap().0.len(), 5);
    // Once it does not go on, there is more.
    let (some, has_more) = tree.entries(&within, 10, || false).unwrap();
    assert!(some.len() < 5 && has_more);
    let refused = tree.entries(&within.join(".ssh"), 10, || true).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::PermissionDenied);
    // Paths that are no part of the tree, however harmless their names.
    assert!(tree.may_read(&within.join("a")) && !tree.may_read(&workspace.join("d")));
    // Too long for any name.
    let error = tree.try_open(&within.join("x".repeat(300))).unwrap_err();
    assert!(matches!(error, toolkit::files::OpenError::Unreadable(_)), "{error}");
    assert!(tree.repaired().is_none());
    assert_eq!(format!("{tree:?}"), format!("OpenedTree {{ path: {within:?}, .. }}"));
    let repaired = ctx.workspace().open_tree("@within").await.unwrap();
    assert_eq!(repaired.repaired().unwrap().note(), "there is no `@within`; this is `within`");
    // Outside, nobody is there to be asked.
    for path in ["../outside", "../absent", "within/link"] {
        let error = ctx.workspace().open_tree(path).await.unwrap_err();
        assert_eq!(error.kind(), toolkit::ToolErrorKind::Denied, "{path}");
    }
}

#[tokio::test]
async fn files_are_opened_by_their_names_in_a_directory_and_links_are_not() {
    let base = tempfile::tempdir().unwrap();
    let base = base.path().canonicalize().unwrap();
    let workspace = base.join("workspace");
    std::fs::create_dir_all(workspace.join("below/sub")).unwrap();
    for file in ["workspace/below/a", "workspace/below/b.pem", "workspace/d", "canary"] {
        std::fs::write(base.join(file), "text").unwrap();
    }
    std::os::unix::fs::symlink(base.join("canary"), workspace.join("below/link")).unwrap();
    std::os::unix::fs::symlink(&base, workspace.join("out")).unwrap();
    let ctx = toolkit::ToolContext::detached(toolkit::Caller::new().with_workspace(&workspace));
    let mut tree = ctx.workspace().open_tree(".").await.unwrap();
    let cases = [
        ("below", "a", "opened, 4 bytes"),
        ("below", "link", "it does not exist"),
        ("below", "b.pem", "it needs approval"),
        ("below", "absent", "it does not exist"),
        ("below", "sub", "it is not a regular file but a directory"),
    ];
    // The first file of a directory is opened by its path, and the others by the handle of the directory.
    for first in 0..cases.len() {
        let mut said = Vec::new();
        for (directory, name, expected) in cases.iter().cycle().skip(first).take(cases.len()) {
            let opened = tree.try_open_in(&workspace.join(directory), name.as_ref());
            let opened =
                opened.map_or_else(|error| error.to_string(), |(_, size)| format!("opened, {size} bytes"));
            said.push((opened, *expected));
        }
        assert!(said.iter().all(|(said, expected)| said == expected), "{said:?}");
        // Another directory comes between.
        assert!(tree.try_open_in(&workspace, "d".as_ref()).is_ok());
    }
    for (directory, name) in [("out", "canary"), ("below/..", "d"), ("..", "canary"), ("below/link", "x")] {
        for _ in 0..3 {
            assert!(
                tree.try_open_in(&workspace.join(directory), name.as_ref()).is_err(),
                "{directory}/{name}"
            );
        }
    }
    // A name is one name.
    for _ in 0..3 {
        for name in ["../d", "sub/..", "../../canary", "..", ".", ""] {
            assert!(tree.try_open_in(&workspace.join("below"), name.as_ref()).is_err(), "{name}");
        }
    }
}

#[tokio::test]
async fn a_directory_that_is_swapped_for_a_link_leads_no_tree_elsewhere() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let base = tempfile::tempdir().unwrap();
    let base = base.path().canonicalize().unwrap();
    let workspace = base.join("workspace");
    for directory in ["workspace/swapped", "outside"] {
        std::fs::create_dir_all(base.join(directory)).unwrap();
    }
    std::fs::write(workspace.join("swapped/file"), "inside").unwrap();
    std::fs::write(base.join("outside/file"), "canary").unwrap();
    std::fs::write(base.join("outside/canary"), "canary").unwrap();
    let ctx = toolkit::ToolContext::detached(toolkit::Caller::new().with_workspace(&workspace));
    let mut tree = ctx.workspace().open_tree(".").await.unwrap();
    let is_over = AtomicBool::new(false);
    let swaps = std::env::var("SWAPS").ok().and_then(|swaps| swaps.parse().ok()).unwrap_or(2_000);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (there, aside) = (workspace.join("swapped"), workspace.join("aside"));
            for _ in 0..swaps {
                std::fs::rename(&there, &aside).unwrap();
                std::os::unix::fs::symlink(base.join("outside"), &there).unwrap();
                std::fs::remove_file(&there).unwrap();
                std::fs::rename(&aside, &there).unwrap();
            }
            is_over.store(true, Ordering::Relaxed);
        });
        let mut opened = 0;
        while !is_over.load(Ordering::Relaxed) {
            if let Ok(file) = tree.try_open(&workspace.join("swapped/file")) {
                assert_eq!(std::io::read_to_string(file).unwrap(), "inside");
                opened += 1;
            }
            if let Ok((file, _)) = tree.try_open_in(&workspace.join("swapped"), "file".as_ref()) {
                assert_eq!(std::io::read_to_string(file).unwrap(), "inside");
            }
            if let Ok((entries, _)) = tree.entries(&workspace.join("swapped"), 10, || true) {
                assert!(entries.iter().all(|entry| entry.name == "file"), "{entries:?}");
            }
        }
        assert!(opened > 0);
    });
}

/// Says what in the workspace may be read through a tree, and where another is decided of the path by itself.
#[toolkit::tool(read_only)]
async fn compare(ctx: &toolkit::ToolContext) -> Result<String, toolkit::ToolError> {
    let mut tree = ctx.workspace().open_tree(".").await?;
    let mut said = Vec::new();
    for path in FILES {
        let real = tree.path().join(path);
        let may_read = tree.may_read(&real);
        let decided = ctx.decide_path(&real, toolkit::approval::Access::Read)?.decision;
        if may_read != (decided == toolkit::permission::PathDecision::Allow) {
            said.push(format!("{path}: {may_read}, but {decided:?}"));
        } else if may_read {
            said.push(path.to_owned());
        }
    }
    Ok(said.join(" "))
}

const FILES: [&str; 9] = [
    "a",
    "below/b",
    "below/deep/c",
    "own/d",
    "own/data",
    "own/data/e",
    "own/data/deep/f",
    "below/.env",
    "k.pem",
];

#[tokio::test]
async fn a_tree_gives_what_is_decided_of_each_path() {
    use serde_json::json;
    let workspace = tempfile::tempdir().unwrap();
    let workspace = workspace.path().canonicalize().unwrap();
    for file in FILES.into_iter().filter(|file| *file != "own/data") {
        std::fs::create_dir_all(workspace.join(file).parent().unwrap()).unwrap();
        std::fs::write(workspace.join(file), "text").unwrap();
    }
    for (rules, expected) in [
        (json!({}), "a below/b below/deep/c own/d"),
        (json!({"edit": "deny"}), "a below/b below/deep/c own/d"),
        (json!({"read": [{"match": "below/*", "do": "deny"}]}), "a own/d"),
        (json!({"read": [{"match": "a", "do": "ask"}]}), "below/b below/deep/c own/d"),
        (json!({"*": [{"match": "below/deep/*", "do": "deny"}]}), "a below/b own/d"),
        (json!({"re*": [{"match": "own/*", "do": "deny"}]}), "a below/b below/deep/c"),
        (json!({"sensitive": [{"match": "k.pem", "do": "allow"}]}), "a below/b below/deep/c own/d k.pem"),
        (
            json!({"read": [{"match": "below/.env", "do": "allow"}]}),
            "a below/b below/deep/c own/d below/.env",
        ),
    ] {
        let mut settings = toolkit::permission::PermissionSettings::default();
        settings.everybody = serde_json::from_value(rules.clone()).unwrap();
        let toolkit = toolkit::Toolkit::empty()
            .tool(toolkit::tool_ref!(compare))
            .data_dir(workspace.join("own/data"))
            .permissions(toolkit::permission::Permissions::new([settings]))
            .build()
            .unwrap();
        let toolbox = toolkit.toolbox(&toolkit::Caller::new().with_workspace(&workspace)).await;
        let said = toolbox.call(toolkit::ToolCall::new("1", "compare", json!({}))).await.text();
        assert_eq!(said, expected, "{rules}");
    }
}

/// Says what may be read through a tree outside the workspace.
#[toolkit::tool(read_only, asks)]
async fn look(ctx: &toolkit::ToolContext, path: &std::path::Path) -> Result<String, toolkit::ToolError> {
    let mut tree = ctx.workspace().open_tree(path).await?;
    let names = ["a", "b/c", "b/k.pem", "../workspace/d"];
    let readable = names.into_iter().filter(|name| {
        let real = tree.path().join(name);
        tree.may_read(&real)
    });
    Ok(readable.collect::<Vec<_>>().join(" "))
}

#[tokio::test]
async fn leave_for_a_place_outside_is_leave_for_what_is_below_it_and_a_rule_says_it_of_each() {
    use serde_json::json;
    let base = tempfile::tempdir().unwrap();
    let base = base.path().canonicalize().unwrap();
    for directory in ["workspace", "outside/b"] {
        std::fs::create_dir_all(base.join(directory)).unwrap();
    }
    let outside = base.join("outside").display().to_string();
    let own = json!({"external_directory": [
        {"match": format!("{outside}*"), "do": "allow"}, {"match": format!("{outside}/b/*"), "do": "ask"},
    ]});
    // With a rule that says nothing of what is there, each path is decided whole.
    let other = json!({"read": [{"match": "*/absent", "do": "deny"}]});
    for (rules, asked, expected) in [(json!({}), 1, "a b/c"), (other, 1, "a b/c"), (own, 0, "a")] {
        let mut settings = toolkit::permission::PermissionSettings::default();
        settings.everybody = serde_json::from_value(rules.clone()).unwrap();
        let approver = toolkit::approval::ScriptedApprover::always(toolkit::approval::Answer::allow());
        let toolkit = toolkit::Toolkit::empty()
            .tool(toolkit::tool_ref!(look))
            .permissions(toolkit::permission::Permissions::new([settings]))
            .approver(approver.clone())
            .build()
            .unwrap();
        let toolbox = toolkit.toolbox(&toolkit::Caller::new().with_workspace(base.join("workspace"))).await;
        let said = toolbox.call(toolkit::ToolCall::new("1", "look", json!({ "path": outside }))).await.text();
        assert_eq!((said.as_str(), approver.asked().len()), (expected, asked), "{rules}");
    }
}
