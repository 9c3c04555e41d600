//! Decisions about a path.

use crate::paths::{Places, call, check, decide};
use serde_json::json;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use toolkit::prelude::*;
use toolkit::{
    ToolErrorKind,
    approval::{Access, ScriptedApprover},
    permission::{PermissionSettings, Permissions, protected_paths, sensitive_paths},
    tool_ref,
};

#[tokio::test]
async fn what_is_decided_without_any_rule() {
    let places = Places::new();
    let toolbox = places.toolbox(&json!({}), ScriptedApprover::new([])).await;
    for (path, reading, writing) in [
        ("file", "allow file", "edit file"),
        ("./folder/../file", "allow file", "edit file"),
        ("folder/", "allow folder", "edit folder"),
        (".", "allow .", "edit ."),
        ("BASE/inside/file", "allow file", "edit file"),
        ("BASE/named/file", "allow file", "edit file"),
        ("../inside/file", "allow file", "edit file"),
        ("out_and_in", "allow out_and_in file", "edit out_and_in file"),
        // Paths that do not exist yet.
        ("new/deep/file", "allow new/deep/file", "edit new/deep/file"),
        ("dangling", "allow dangling absent_target", "edit dangling absent_target"),
        // Names that mean something elsewhere.
        ("C:\\Users\\x", "allow C:\\Users\\x", "edit C:\\Users\\x"),
        ("\\\\server\\share", "allow \\\\server\\share", "edit \\\\server\\share"),
        ("~x", "allow ~x", "edit ~x"),
        ("./~", "allow ~", "edit ~"),
        ("build.rs", "allow build.rs", "edit build.rs"),
        ("Makefile", "allow Makefile", "edit Makefile"),
        // Outside.
        ("/etc/hosts", "external_directory /etc/hosts", "edit /etc/hosts"),
        ("/no/such/file", "external_directory /no/such/file", "edit /no/such/file"),
        ("..", "external_directory BASE", "edit BASE"),
        ("/", "external_directory /", "edit /"),
        ("BASE/inside2", "external_directory BASE/inside2", "edit BASE/inside2"),
        (
            "to_secret",
            "external_directory to_secret BASE/outside/secret.txt",
            "edit to_secret BASE/outside/secret.txt",
        ),
        (
            "to_outside/absent",
            "external_directory to_outside/absent BASE/outside/absent",
            "edit to_outside/absent BASE/outside/absent",
        ),
        (
            "dangling_outside",
            "external_directory dangling_outside BASE/outside/new",
            "edit dangling_outside BASE/outside/new",
        ),
        (
            "/proc/self/root/etc/passwd",
            "sensitive /proc/self/root/etc/passwd",
            "protected /proc/self/root/etc/passwd",
        ),
        // Secrets, wherever they are and through whatever leads there.
        (".env", "sensitive .env", "protected .env"),
        (".ENV", "sensitive .ENV", "protected .ENV"),
        (".env.example", "allow .env.example", "edit .env.example"),
        (".ssh/config", "sensitive .ssh/config", "protected .ssh/config"),
        (".ssh", "sensitive .ssh", "protected .ssh"),
        ("folder/new.pem", "sensitive folder/new.pem", "protected folder/new.pem"),
        ("harmless.txt", "sensitive harmless.txt .env", "protected harmless.txt .env"),
        (".env.local", "sensitive .env.local folder/deep", "protected .env.local folder/deep"),
        // Named so as a whole only, not by any link on the way.
        (
            ".docker/config.json",
            "sensitive .docker/config.json folder/config.json",
            "protected .docker/config.json folder/config.json",
        ),
        // Named so in the middle of the way only.
        ("chain_a", "sensitive chain_a folder/deep", "protected chain_a folder/deep"),
        ("plain.txt", "sensitive plain.txt BASE/outside/.env", "protected plain.txt BASE/outside/.env"),
        ("/etc/shadow", "sensitive /etc/shadow", "protected /etc/shadow"),
        // Files that are run, or decide which are.
        (".git/config", "allow .git/config", "protected .git/config"),
        (".GIT/hooks/new", "allow .GIT/hooks/new", "protected .GIT/hooks/new"),
        (".git", "allow .git", "protected .git"),
        ("sub/.git", "allow sub/.git", "protected sub/.git"),
        ("to_git/config", "allow to_git/config .git/config", "protected to_git/config .git/config"),
        ("bare/config", "allow bare/config", "protected bare/config"),
        ("bare/hooks/new", "allow bare/hooks/new", "protected bare/hooks/new"),
        ("worktree/config", "allow worktree/config", "protected worktree/config"),
        ("other/HEAD", "allow other/HEAD", "protected other/HEAD"),
        // Directories that look like a repository in part only.
        ("headless/config", "allow headless/config", "edit headless/config"),
        ("half/config", "allow half/config", "edit half/config"),
        ("other_half/config", "allow other_half/config", "edit other_half/config"),
        // Paths outside are not looked at.
        (
            "BASE/outside/bare/config",
            "external_directory BASE/outside/bare/config",
            "edit BASE/outside/bare/config",
        ),
        (".vscode/settings.json", "allow .vscode/settings.json", "protected .vscode/settings.json"),
        (".github/workflows/ci.yml", "allow .github/workflows/ci.yml", "protected .github/workflows/ci.yml"),
        ("toolkit.json5", "allow toolkit.json5", "protected toolkit.json5"),
        // The toolkit's own data.
        ("BASE/data/approvals.json", "sensitive BASE/data/approvals.json", "deny BASE/data/approvals.json"),
        ("to_data/new", "sensitive to_data/new BASE/data/new", "deny to_data/new BASE/data/new"),
        ("BASE/DATA/new", "sensitive BASE/DATA/new", "deny BASE/DATA/new"),
    ] {
        for (write, expected) in [(false, reading), (true, writing)] {
            let decided = call(&toolbox, "decide", &places.path(path), write).await.unwrap();
            let decided = decided.split(": ").next().unwrap();
            assert_eq!(decided, places.path(expected), "{path} {write}");
        }
    }
}

#[tokio::test]
async fn what_is_listed_as_guarded_is_asked_about() {
    let places = Places::new();
    let toolbox = places.toolbox(&json!({ "edit": "allow" }), ScriptedApprover::new([])).await;
    let lists = [(sensitive_paths(), false, "sensitive"), (protected_paths(), true, "protected")];
    for (guarded, write, kind) in lists {
        assert!(guarded.len() > 2, "{kind}");
        for pattern in guarded.iter().flat_map(|guarded| guarded.patterns) {
            let path = pattern.trim_end_matches('/').replace('*', "x");
            let decided = call(&toolbox, "decide", &path, write).await.unwrap();
            assert!(decided.starts_with(kind), "{path}: {decided}");
        }
    }
}

#[tokio::test]
async fn what_can_be_no_path_is_refused() {
    let places = Places::new();
    let toolbox = places.toolbox(&json!({}), ScriptedApprover::new([])).await;
    for (path, message) in [
        ("", "the path is empty; name a file, or `.` for the workspace"),
        ("a\0b", "the path contains a NUL character; remove it"),
        ("~", "`~` is not expanded; write the whole path, or begin with `./~` for a file of that name"),
        ("~/.ssh", "`~` is not expanded; write the whole path, or begin with `./~` for a file of that name"),
        (&"a/".repeat(2_049), "the path is longer than 4,096 bytes, the maximum"),
    ] {
        for tool in ["decide", "check"] {
            let refused = call(&toolbox, tool, path, true).await.unwrap_err();
            assert_eq!(refused, (ToolErrorKind::InvalidArguments, message.to_owned()), "{path:.20}");
        }
    }
    let missing = Caller::new().with_workspace(places.base.join("missing"));
    let error = ToolContext::detached(missing).decide_path("a", Access::Read).unwrap_err();
    assert_eq!(error.kind(), ToolErrorKind::Unavailable);
}

#[tokio::test]
async fn paths_that_are_no_text_stay_apart() {
    let places = Places::new();
    let ctx = ToolContext::detached(Caller::new().with_workspace(places.base.join("inside")));
    let pattern = |bytes: &[u8]| {
        ctx.decide_path(Path::new(OsStr::from_bytes(bytes)), Access::Read).unwrap().patterns[0].clone()
    };
    assert_eq!(pattern(b"a\xff"), r"a\x{ff}");
    assert_eq!(pattern(br"a\x{ff}"), r"a\\x{ff}");
    assert_ne!(pattern(b"a\xff"), pattern(b"a\xfe"));
}

#[tokio::test]
async fn rules_apply_to_the_path_that_is_shown() {
    let places = Places::new();
    for (permission, path, write, expected) in [
        (json!({ "edit": "allow" }), "file", true, "allow file"),
        (
            json!({ "edit": "deny" }),
            "file",
            true,
            "deny file: writing it is denied by permission.edit: deny (/permission/edit)",
        ),
        (
            json!({ "edit": [{ "match": "folder/*", "do": "allow" }] }),
            "folder/deep",
            true,
            "allow folder/deep",
        ),
        (json!({ "edit": [{ "match": "folder/*", "do": "allow" }] }), "file", true, "edit file"),
        (json!({ "edit": [{ "match": "folder/*", "do": "allow" }] }), "folder/../file", true, "edit file"),
        (json!({ "edit": [{ "match": "folder/*", "do": "allow" }] }), "folder/new", true, "allow folder/new"),
        // Both the link and what it leads to have to be allowed.
        (
            json!({ "edit": [{ "match": "out_*", "do": "allow" }] }),
            "out_and_in",
            true,
            "edit out_and_in file",
        ),
        (
            json!({ "edit": [{ "match": "out_*", "do": "allow" }, { "match": "file", "do": "allow" }] }),
            "out_and_in",
            true,
            "allow out_and_in file",
        ),
        (
            json!({ "read": [{ "match": "file", "do": "deny" }] }),
            "out_and_in",
            false,
            "deny out_and_in file: reading it is denied by permission.read: `file`: deny (/permission/read/0)",
        ),
        // Denied whether or not anything is there.
        (
            json!({ "read": [{ "match": "hidden/*", "do": "deny" }] }),
            "hidden/absent",
            false,
            "deny hidden/absent: reading it is denied by permission.read: `hidden/*`: deny (/permission/read/0)",
        ),
        (json!({ "read": "ask" }), "file", false, "read file"),
        // An allowed edit does not include protected files, unless they are named.
        (json!({ "edit": "allow" }), ".git/config", true, "protected .git/config"),
        (json!({ "edit": [{ "match": "*", "do": "allow" }] }), ".git/config", true, "protected .git/config"),
        (
            json!({ "edit": [{ "match": ".git/*", "do": "allow" }] }),
            ".git/config",
            true,
            "protected .git/config",
        ),
        (
            json!({ "edit": [{ "match": ".git/config", "do": "allow" }] }),
            ".git/config",
            true,
            "allow .git/config",
        ),
        (
            json!({ "edit": [{ "match": ".git/config", "do": "allow" }] }),
            ".git/hooks",
            true,
            "protected .git/hooks",
        ),
        (
            json!({ "edit": [{ "match": ".git/config", "do": "allow" }], "protected": "ask" }),
            ".git/config",
            true,
            "protected .git/config",
        ),
        (json!({ "edit": "allow", "protected": "allow" }), ".git/config", true, "protected .git/config"),
        (
            json!({ "edit": "allow", "protected": [{ "match": ".git/config", "do": "allow" }] }),
            ".git/config",
            true,
            "allow .git/config",
        ),
        (
            json!({ "protected": [{ "match": ".git/config", "do": "allow" }] }),
            ".git/config",
            true,
            "edit .git/config",
        ),
        (
            json!({ "protected": "deny" }),
            ".git/config",
            true,
            "deny .git/config: writing it is denied by permission.protected: deny (/permission/protected)",
        ),
        (json!({ "protected": "deny" }), "file", true, "edit file"),
        (json!({ "read": "allow" }), ".env", false, "sensitive .env"),
        (json!({ "read": [{ "match": ".env", "do": "allow" }] }), ".env", false, "allow .env"),
        (json!({ "sensitive": [{ "match": ".env", "do": "allow" }] }), ".env", false, "allow .env"),
        (json!({ "sensitive": [{ "match": ".env*", "do": "allow" }] }), ".env", false, "sensitive .env"),
        (
            json!({ "sensitive": "deny", "edit": "allow" }),
            ".env",
            true,
            "deny .env: writing it is denied by permission.sensitive: deny (/permission/sensitive)",
        ),
        // Naming a link is not naming what it leads to.
        (
            json!({ "read": [{ "match": "harmless.txt", "do": "allow" }] }),
            "harmless.txt",
            false,
            "sensitive harmless.txt .env",
        ),
        // Outside.
        (json!({ "external_directory": "allow" }), "/etc/hosts", false, "allow /etc/hosts"),
        (json!({ "external_directory": "allow" }), "/etc/hosts", true, "edit /etc/hosts"),
        (json!({ "external_directory": "allow" }), "/etc/shadow", false, "sensitive /etc/shadow"),
        (json!({ "external_directory": "allow", "edit": "allow" }), "/srv/x", true, "allow /srv/x"),
        (json!({ "edit": "allow" }), "/srv/x", true, "protected /srv/x"),
        (
            json!({ "edit": "allow", "external_directory": "deny" }),
            "/srv/x",
            true,
            "deny /srv/x: writing it is denied by permission.external_directory: deny (/permission/external_directory)",
        ),
        (
            json!({ "external_directory": [{ "match": "/srv/*", "do": "allow" }] }),
            "/srv/../etc/hosts",
            false,
            "external_directory /etc/hosts",
        ),
        (
            json!({ "external_directory": [{ "match": "/srv/*", "do": "allow" }] }),
            "/srv/a/b",
            false,
            "allow /srv/a/b",
        ),
        // An entry of the one kind does not do away with the question of another.
        (
            json!({ "edit": "allow", "external_directory": "ask", "protected": [{ "match": "/srv/.git/x", "do": "allow" }] }),
            "/srv/.git/x",
            true,
            "external_directory /srv/.git/x",
        ),
        // Nothing lifts this.
        (
            json!({ "edit": [{ "match": "BASE/data/x", "do": "allow" }], "external_directory": "allow",
                 "protected": [{ "match": "BASE/data/x", "do": "allow" }] }),
            "BASE/data/x",
            true,
            "deny BASE/data/x: it is in the toolkit's data directory (approvals, outputs of calls), where tools cannot write",
        ),
    ] {
        let permission = serde_json::from_str(&places.path(&permission.to_string())).unwrap();
        let toolbox = places.toolbox(&permission, ScriptedApprover::new([])).await;
        let decided = call(&toolbox, "decide", &places.path(path), write).await.unwrap();
        assert_eq!(decided, places.path(expected), "{permission} {path}");
    }
}

#[tokio::test]
async fn no_approval_opens_a_sealed_data_directory() {
    let places = Places::new();
    let mut settings = PermissionSettings::default();
    let permission = r#"{ "read": [{ "match": "BASE/data/*", "do": "allow" }], "sensitive": "allow", "external_directory": "allow" }"#;
    settings.everybody = serde_json::from_str(&places.path(permission)).unwrap();
    let toolkit = Toolkit::empty()
        .tool(tool_ref!(decide))
        .tool(tool_ref!(check))
        .data_dir(places.base.join("data"))
        .seal_data_dir()
        .permissions(Permissions::new([settings]))
        .approver(ScriptedApprover::new([]))
        .build()
        .unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_workspace(places.base.join("named"))).await;
    for path in ["BASE/data/approvals.json", "BASE/data", "to_data/approvals.json"] {
        let decided = call(&toolbox, "decide", &places.path(path), false).await.unwrap();
        assert!(decided.starts_with("deny ") && decided.contains("no approval opens"), "{decided}");
        assert!(call(&toolbox, "check", &places.path(path), false).await.is_err());
    }
    // A workspace that a host makes there is the session's own.
    let own = places.base.join("data/workspace");
    std::fs::create_dir(&own).unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_workspace(&own)).await;
    assert_eq!(call(&toolbox, "decide", "x", false).await.unwrap(), "allow x");
}
