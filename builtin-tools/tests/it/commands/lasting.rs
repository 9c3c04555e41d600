//! A lasting answer about a command covers what was shown, and nothing else.

use crate::commands::house::{House, is_whole};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use toolkit::approval::Answer;
use toolkit::prelude::*;
use toolkit::{Ask, ToolErrorKind};

/// The person allows always what the model describes so, and nothing else.
fn answer(ask: &Ask) -> Answer {
    if ask.claim.as_deref() == Some("approve") { Answer::allow_always() } else { Answer::deny() }
}

async fn house() -> House {
    house_with(json!({})).await
}

async fn house_with(config: Value) -> House {
    let house = House::with(config, answer).await;
    for name in ["sub", "other", "one", "two"] {
        fs::create_dir(house.path(name)).unwrap();
        fs::write(house.path(name).join("Makefile"), format!("all:\n\t@echo {name}\n")).unwrap();
    }
    fs::write(house.path("Makefile"), "all:\n\t@echo top\n").unwrap();
    fs::write(house.path("s.sh"), "touch made\n").unwrap();
    fs::write(house.path("run"), "#!/bin/sh\necho one\n").unwrap();
    fs::write(house.path("by_own"), "#!./own\n").unwrap();
    fs::write(house.path("by_env"), "#!/usr/bin/env own\n").unwrap();
    for name in ["own", "two/own"] {
        fs::write(house.path(name), "#!/bin/sh\necho one\n").unwrap();
    }
    for name in ["run", "by_own", "by_env", "own", "two/own"] {
        fs::set_permissions(house.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    house
}

fn is_refused(result: &ToolResult) -> bool {
    result.error().is_some_and(|error| error.kind() == ToolErrorKind::Denied)
}

/// Approves a call for always, and returns whether a later call is asked about.
async fn asks_again(first: &Value, later: &Value) -> bool {
    let house = house().await;
    let mut approved = first.clone();
    approved["description"] = json!("approve");
    let result = house.call("exec", approved).await;
    assert!(!is_refused(&result), "{first}: {result:?}");
    house.asked();
    let result = house.call("exec", later.clone()).await;
    let asked = !house.asked().is_empty();
    assert_eq!(asked, is_refused(&result), "{later}: {result:?}");
    asked
}

#[tokio::test(flavor = "multi_thread")]
async fn another_command_is_asked_about_again() {
    let commands = [
        "make all",
        "make all -s",
        "make -C sub all",
        "cd sub && make all",
        "(cd sub; make all)",
        "pushd sub >/dev/null; make all",
        "env -C sub make all",
        "FOO=1 make all",
        "make all FOO=1",
        "make all; make all",
        "make all | tee log",
        "echo x | make all",
        "make all < s.sh",
        "./run",
        "bash s.sh",
        "bash s.sh x",
        "curl -s http://127.0.0.1:9/",
        "curl -s http://127.0.0.1:9/ -d x",
        "curl -s http://127.0.0.2:9/",
        "git push http://127.0.0.1:9/x",
        "git push http://127.0.0.1:9/y",
    ];
    for (at, first) in commands.iter().enumerate() {
        // Each is compared with itself and the next ones, around the end.
        for distance in [0, 1, 2, 5, 9, 14] {
            let later = commands[(at + distance) % commands.len()];
            let asks = asks_again(&json!({ "command": first }), &json!({ "command": later })).await;
            assert_eq!(asks, first != &later, "{first}, then {later}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_command_with_something_else_is_asked_about_again() {
    let plain = json!({ "command": "make all" });
    for (first, later, expected) in [
        (plain.clone(), json!({ "command": "make all", "workdir": "sub" }), true),
        (
            json!({ "command": "make all", "workdir": "sub" }),
            json!({ "command": "make all", "workdir": "other" }),
            true,
        ),
        (plain.clone(), json!({ "command": "make all", "env": { "MAKEFLAGS": "-s" } }), true),
        (plain.clone(), json!({ "command": "make all", "stdin": "x" }), true),
        // Also with something less.
        (json!({ "command": "make all", "stdin": "x" }), plain.clone(), true),
        (json!({ "command": "make all", "env": { "MAKEFLAGS": "-n" } }), plain.clone(), true),
        (plain.clone(), json!({ "command": "make all", "timeout": 5_000 }), false),
        (plain.clone(), json!({ "command": "make all", "description": "another text" }), false),
    ] {
        assert_eq!(asks_again(&first, &later).await, expected, "{first}, then {later}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_content_of_a_named_script_is_asked_about_again() {
    for (command, script) in [
        ("./run", "run"),
        ("bash s.sh", "s.sh"),
        ("sh ./s.sh", "s.sh"),
        ("sh < s.sh", "s.sh"),
        ("cat s.sh | sh", "s.sh"),
        ("make all", "Makefile"),
        ("make -C sub all", "sub/Makefile"),
        ("make --file=sub/Makefile all", "sub/Makefile"),
        ("./by_own", "own"),
        ("./by_env", "two/own"),
    ] {
        let house = house_with(json!({ "tools": { "exec": { "pathPrepend": ["two"] } } })).await;
        house.call("exec", json!({ "command": command, "description": "approve" })).await;
        house.asked();
        house.exec(command).await;
        let asked = house.asked();
        assert!(asked.is_empty(), "{command}: {asked:?}");
        let mode = fs::metadata(house.path(script)).unwrap().permissions();
        fs::write(house.path(script), "#!/bin/sh\ntouch other\n").unwrap();
        fs::set_permissions(house.path(script), mode).unwrap();
        assert!(is_refused(&house.exec(command).await), "{command}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_that_leads_elsewhere_is_asked_about_again() {
    let house = house().await;
    for (command, link, target) in
        [("echo hi > o", "o", ".env"), ("cp s.sh d/x", "d", ".vscode"), ("cd e && make all", "e", "other")]
    {
        fs::create_dir_all(house.path(".vscode")).unwrap();
        let path = house.path(link);
        match link {
            "o" => fs::write(&path, "").unwrap(),
            _ => fs::create_dir(&path).unwrap(),
        }
        fs::write(house.path("e.mk"), "").unwrap();
        house.call("exec", json!({ "command": command, "description": "approve" })).await;
        house.asked();
        house.exec(command).await;
        assert!(house.asked().is_empty(), "{command}");
        fs::rename(&path, path.with_extension("moved")).unwrap();
        std::os::unix::fs::symlink(target, &path).unwrap();
        assert!(is_refused(&house.exec(command).await), "{command}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn less_containment_is_asked_about_again() {
    if !is_whole() {
        return;
    }
    let exec = |value: Value| json!({ "tools": { "exec": value } });
    for (config, runs) in [
        (json!({}), true),
        (exec(json!({ "timeoutSec": 7 })), true),
        (exec(json!({ "enableSandbox": false })), false),
        (exec(json!({ "sandbox": "off" })), false),
        (exec(json!({ "network": "on" })), false),
        (exec(json!({ "sandboxMode": "full" })), false),
        (exec(json!({ "allowedDirectories": ["/opt"] })), false),
        (json!({ "permission": { "sensitive": [{ "match": ".env", "do": "allow" }] } }), false),
        (json!({ "permission": { "protected": [{ "match": ".vscode/", "do": "allow" }] } }), false),
    ] {
        let house = house().await;
        let result = house.call("exec", json!({ "command": "make all", "description": "approve" })).await;
        assert!(!is_refused(&result), "{result:?}");
        house.configure(&config);
        let result = house.another_host().await.exec("make all").await;
        assert_eq!(!is_refused(&result), runs, "{config}: {}", result.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_that_is_gone_is_asked_about_again() {
    let denying = json!({ "permission": { "read": [{ "match": "one/", "do": "deny" }] } });
    for (first, later, runs) in [(denying.clone(), denying.clone(), true), (denying, json!({}), false)] {
        let house = house().await;
        house.configure(&first);
        let host = house.another_host_answering(answer).await;
        let approved = host.call("exec", json!({ "command": "make all", "description": "approve" })).await;
        assert!(!is_refused(&approved), "{approved:?}");
        house.configure(&later);
        let result = house.another_host().await.exec("make all").await;
        assert_eq!(!is_refused(&result), runs, "{first}, then {later}: {}", result.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_workspace_at_the_same_path_is_asked_about_again() {
    let house = house().await;
    let result = house.call("exec", json!({ "command": "make all", "description": "approve" })).await;
    assert!(!is_refused(&result), "{result:?}");
    assert!(!is_refused(&house.another_host().await.exec("make all").await));
    let workspace = house.path("x").parent().unwrap().to_owned();
    fs::rename(&workspace, workspace.with_file_name("before")).unwrap();
    fs::create_dir(&workspace).unwrap();
    fs::write(workspace.join("Makefile"), "all:\n\t@echo evil\n").unwrap();
    assert!(is_refused(&house.another_host().await.exec("make all").await));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_that_is_replaced_during_the_question_is_asked_about_anew() {
    fn swap(ask: &Ask) -> Answer {
        let toolkit::approval::AskDetail::Command { cwd: Some(cwd), .. } = &ask.details[0] else {
            panic!("{ask:?}")
        };
        let sub = std::path::Path::new(cwd).join("sub");
        if !sub.is_symlink() {
            fs::rename(&sub, sub.with_file_name("moved")).unwrap();
            std::os::unix::fs::symlink("other", &sub).unwrap();
        }
        Answer::allow()
    }
    let house = House::with(json!({}), swap).await;
    for name in ["sub", "other"] {
        fs::create_dir(house.path(name)).unwrap();
        fs::write(house.path(name).join("Makefile"), format!("all:\n\t@echo {name}\n")).unwrap();
    }
    house.exec("cd sub && make all").await;
    assert_eq!(house.asked().len(), 2);
}
