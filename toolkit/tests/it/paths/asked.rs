//! Questions about a path, and the path's target.

use crate::paths::{Places, call, check, decide};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use toolkit::prelude::*;
use toolkit::{
    ToolErrorKind,
    approval::{Answer, PendingAsk, Question, ScriptedApprover},
    permission::{PermissionSettings, Permissions},
    tool_ref,
};

fn told(asked: &PendingAsk) -> String {
    match asked.question() {
        Question::Approve(ask) => format!("{} {}", ask.kind, ask.patterns.join(" ")),
        _ => "no permission".to_owned(),
    }
}

#[tokio::test]
async fn what_is_asked_and_where_it_leads() {
    use ToolErrorKind::{Denied, Failed, NotFound};
    let places = Places::new();
    for (permission, path, write, asked, expected) in [
        (json!({}), "file", false, &[][..], Ok("BASE/inside/file")),
        (json!({}), "file", true, &["edit file"], Ok("BASE/inside/file")),
        (json!({}), "absent", false, &[], Err(NotFound)),
        (json!({}), "file/x", false, &[], Err(NotFound)),
        (json!({ "edit": "allow" }), "new/deep", true, &[], Ok("BASE/inside/new/deep")),
        (json!({ "edit": "allow" }), "file/x", true, &[], Err(NotFound)),
        // A missing path has no directory above it.
        (json!({ "edit": "allow" }), "new/../x", true, &[], Err(NotFound)),
        (json!({ "edit": "allow" }), "dangling", true, &[], Ok("BASE/inside/absent_target")),
        (json!({}), "circle", false, &[], Err(Failed)),
        (json!({}), ".env", false, &["sensitive .env"], Ok("BASE/inside/.env")),
        (
            json!({}),
            "BASE/outside/secret.txt",
            false,
            &["external_directory BASE/outside/secret.txt"],
            Ok("BASE/outside/secret.txt"),
        ),
        (
            json!({}),
            "to_secret",
            false,
            &["external_directory to_secret BASE/outside/secret.txt"],
            Ok("BASE/outside/secret.txt"),
        ),
        (json!({}), "BASE/outside/absent", false, &["external_directory BASE/outside/absent"], Err(NotFound)),
        (
            json!({}),
            "BASE/outside/new/file",
            true,
            &["edit BASE/outside/new/file"],
            Ok("BASE/outside/new/file"),
        ),
        // Once it may be looked at, what it leads to is asked about too.
        (
            json!({}),
            "BASE/outside/alias",
            false,
            &["external_directory BASE/outside/alias", "sensitive BASE/outside/alias BASE/outside/.env"],
            Ok("BASE/outside/.env"),
        ),
        (
            json!({ "external_directory": [{ "match": "*/alias", "do": "allow" }] }),
            "BASE/outside/alias",
            false,
            &["sensitive BASE/outside/alias BASE/outside/.env"],
            Ok("BASE/outside/.env"),
        ),
        (
            json!({ "external_directory": "allow", "edit": "allow" }),
            "BASE/outside/in_again/config",
            true,
            &["protected BASE/outside/in_again/config .git/config"],
            Ok("BASE/inside/.git/config"),
        ),
        (
            json!({ "external_directory": "allow", "edit": "allow" }),
            "BASE/outside/.git/config",
            true,
            &["protected BASE/outside/.git/config"],
            Ok("BASE/outside/.git/config"),
        ),
        (
            json!({ "external_directory": "allow", "edit": "allow" }),
            "BASE/outside/bare/hooks/new",
            true,
            &["protected BASE/outside/bare/hooks/new"],
            Ok("BASE/outside/bare/hooks/new"),
        ),
        (json!({}), "BASE/data/approvals.json", true, &[], Err(Denied)),
        (json!({ "read": "deny" }), "absent", false, &[], Err(Denied)),
    ] {
        let approver = ScriptedApprover::always(Answer::allow());
        let toolbox = places.toolbox(&permission, approver.clone()).await;
        let came = call(&toolbox, "check", &places.path(path), write).await.map_err(|(kind, _)| kind);
        assert_eq!(came, expected.map(|path| places.path(path)), "{permission} {path} {write}");
        let questions: Vec<String> = approver.asked().iter().map(told).collect();
        assert_eq!(
            questions,
            asked.iter().map(|asked| places.path(asked)).collect::<Vec<_>>(),
            "{permission} {path}"
        );
    }
}

#[tokio::test]
async fn a_no_is_the_same_whether_or_not_anything_is_there() {
    let places = Places::new();
    let toolbox = places.toolbox(&json!({}), ScriptedApprover::always(Answer::deny())).await;
    for (there, absent) in [
        ("BASE/outside/secret.txt", "BASE/outside/absent.txt"),
        ("to_outside/secret.txt", "to_outside/absent.txt"),
        (".env", "folder/.env"),
    ] {
        for write in [false, true] {
            let (_, there_said) = call(&toolbox, "check", &places.path(there), write).await.unwrap_err();
            let (_, absent_said) = call(&toolbox, "check", &places.path(absent), write).await.unwrap_err();
            let name = |path: &str| places.path(path);
            assert_eq!(there_said.replace(&name(there), "X"), absent_said.replace(&name(absent), "X"));
        }
    }
}

#[tokio::test]
async fn where_a_link_is_swapped_while_a_person_thinks_it_is_asked_again() {
    let places = Places::new();
    let (link, target) = (places.base.join("inside/swapped"), places.base.join("inside/.git/config"));
    symlink("file", &link).unwrap();
    let swapped = link.clone();
    let approver = ScriptedApprover::new([]).with_rule(
        move |_| {
            let _ = fs::remove_file(&swapped);
            symlink(&target, &swapped).unwrap();
            true
        },
        Answer::allow(),
    );
    let toolbox = places.toolbox(&json!({}), approver.clone()).await;
    call(&toolbox, "check", "swapped", true).await.unwrap();
    let questions: Vec<String> = approver.asked().iter().map(told).collect();
    assert_eq!(questions, ["edit swapped file", "protected swapped .git/config"]);
}

#[tokio::test]
async fn where_nobody_can_be_asked_the_no_names_the_setting() {
    let places = Places::new();
    let toolkit = Toolkit::empty().tool(tool_ref!(check)).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_workspace(places.base.join("inside"))).await;
    for (path, write, setting) in [
        ("file", false, None),
        ("file", true, Some("permission.edit")),
        ("/etc/hosts", false, Some("permission.external_directory")),
        ("/etc/hosts", true, Some("permission.edit")),
        (".env", false, Some("permission.sensitive")),
        (".git/config", true, Some("permission.protected")),
    ] {
        match (call(&toolbox, "check", path, write).await, setting) {
            (Ok(_), None) => {}
            (Err((ToolErrorKind::Denied, message)), Some(setting)) => {
                assert!(
                    message.contains(setting) && message.contains("no approver is available"),
                    "{path}: {message}"
                );
            }
            (came, _) => panic!("{path} {write}: {came:?}"),
        }
    }
}

#[tokio::test]
async fn what_a_host_protects_is_asked_about() {
    let places = Places::new();
    let mut settings = PermissionSettings::default();
    settings.everybody = serde_json::from_value(json!({ "edit": "allow" })).unwrap();
    let toolkit = Toolkit::empty()
        .tool(tool_ref!(decide))
        .permissions(Permissions::new([settings]))
        .protect_path(places.base.join("named/folder"))
        .build()
        .unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_workspace(places.base.join("inside"))).await;
    for (path, write, expected) in [
        ("folder/deep", true, "protected folder/deep"),
        ("folder/new/file", true, "protected folder/new/file"),
        ("folder", true, "protected folder"),
        ("folder/deep", false, "allow folder/deep"),
        ("folder2", true, "allow folder2"),
    ] {
        assert_eq!(call(&toolbox, "decide", path, write).await.unwrap(), expected);
    }
}

#[tokio::test]
async fn a_workspace_in_the_data_directory_is_a_workspace() {
    let places = Places::new();
    let toolkit = Toolkit::empty().tool(tool_ref!(decide)).data_dir(&places.base).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_workspace(places.base.join("inside"))).await;
    for (path, write, expected) in [
        ("file", false, "allow file"),
        ("file", true, "edit file"),
        ("../outside/secret.txt", false, "sensitive BASE/outside/secret.txt"),
        ("../outside/secret.txt", true, "deny BASE/outside/secret.txt"),
    ] {
        let decided = call(&toolbox, "decide", path, write).await.unwrap();
        assert_eq!(decided.split(": ").next().unwrap(), places.path(expected), "{path}");
    }
    let toolbox = toolkit.toolbox(&Caller::new().with_workspace(&places.base)).await;
    assert!(call(&toolbox, "decide", "inside/file", true).await.unwrap().starts_with("deny inside/file: "));
}

#[tokio::test]
async fn what_is_above_the_workspace_is_not_looked_at() {
    let places = Places::new();
    let toolkit = Toolkit::empty().tool(tool_ref!(decide)).build().unwrap();
    let inside = places.base.join("inside/bare/objects");
    let toolbox = toolkit.toolbox(&Caller::new().with_workspace(inside)).await;
    assert_eq!(call(&toolbox, "decide", "y", true).await.unwrap(), "edit y");
}
