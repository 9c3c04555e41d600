//! What is decided about a path, what is asked, and where it really leads.
#![cfg(unix)]

use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use toolkit::prelude::*;
use toolkit::{
    Access, Answer, PathDecision, PendingAsk, PermissionSettings, Permissions, Question, ScriptedApprover,
    ToolErrorKind, Toolbox, is_path_contained, protected_paths, sandbox_boundary, sensitive_paths, tool_ref,
};

/// `base/{inside,outside,data}`, with links of every shape.
struct Places {
    base: PathBuf,
    _removed_on_drop: tempfile::TempDir,
}

impl Places {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a place for the test");
        let base = directory.path().canonicalize().expect("a place for the test");
        for file in [
            "outside/secret.txt",
            "outside/.env",
            "outside/.git/config",
            "outside/bare/HEAD",
            "outside/bare/objects/x",
            "outside/bare/refs/x",
            "data/approvals.json",
            "inside/file",
            "inside/folder/deep",
            "inside/.env",
            "inside/.env.example",
            "inside/.ssh/config",
            "inside/.git/config",
            "inside/.vscode/settings.json",
            "inside/toolkit.json5",
            "inside/build.rs",
            "inside/bare/HEAD",
            "inside/bare/objects/x",
            "inside/bare/refs/x",
            "inside/bare/config",
            "inside/worktree/HEAD",
            "inside/worktree/commondir",
            "inside/headless/objects/x",
            "inside/headless/refs/x",
            "inside/headless/commondir",
            "inside/half/HEAD",
            "inside/half/objects/x",
            "inside/other_half/HEAD",
            "inside/other_half/refs/x",
            "inside/C:\\Users\\x",
            "inside/~x",
        ] {
            let path = base.join(file);
            fs::create_dir_all(path.parent().expect("a place for the test")).expect("a place for the test");
            fs::write(path, file).expect("a place for the test");
        }
        let inside = base.join("inside");
        for (target, link) in [
            ("../outside", "to_outside"),
            ("../outside/secret.txt", "to_secret"),
            ("../outside/.env", "plain.txt"),
            (".env", "harmless.txt"),
            ("chain_b", "chain_a"),
            ("notes/.env", "chain_b"),
            ("folder/deep", ".env.local"),
            (".git", "to_git"),
            ("../inside/file", "out_and_in"),
            ("absent_target", "dangling"),
            ("../outside/new", "dangling_outside"),
            ("circle", "circle"),
            ("../data", "to_data"),
            ("folder", ".docker"),
        ] {
            symlink(target, inside.join(link)).expect("a place for the test");
        }
        fs::create_dir(inside.join("notes")).expect("a place for the test");
        symlink("../folder/deep", inside.join("notes/.env")).expect("a place for the test");
        symlink(inside.join(".git"), base.join("outside/in_again")).expect("a place for the test");
        symlink(base.join("outside/.env"), base.join("outside/alias")).expect("a place for the test");
        symlink(&inside, base.join("named")).expect("a place for the test");
        Self { base, _removed_on_drop: directory }
    }

    fn path(&self, path: &str) -> String {
        path.replace("BASE", self.base.to_str().expect("a place for the test"))
    }

    async fn toolbox(&self, permission: &Value, approver: ScriptedApprover) -> Toolbox {
        let mut settings = PermissionSettings::default();
        settings.everybody = serde_json::from_value(permission.clone()).expect("a place for the test");
        let toolkit = Toolkit::empty()
            .tool(tool_ref!(decide))
            .tool(tool_ref!(check))
            .data_dir(self.base.join("data"))
            .permissions(Permissions::new([settings]))
            .approver(approver)
            .build()
            .expect("a place for the test");
        toolkit.toolbox(&Caller::new().with_workspace(self.base.join("named")).with_session("s")).await
    }
}

fn access(is_write: bool) -> Access {
    if is_write { Access::Write } else { Access::Read }
}

/// Says what is decided of a path.
#[tool(read_only)]
async fn decide(ctx: &ToolContext, path: &Path, write: bool) -> Result<String, ToolError> {
    let decided = ctx.decide_path(path, access(write))?;
    let patterns = decided.patterns.join(" ");
    Ok(match decided.decision {
        PathDecision::Allow => format!("allow {patterns}"),
        PathDecision::Ask { kind, .. } => format!("{kind} {patterns}"),
        PathDecision::Deny { reason, .. } => format!("deny {patterns}: {reason}"),
        other => format!("{other:?}"),
    })
}

/// Says where a path really leads, once it may be used.
#[tool(read_only)]
async fn check(ctx: &ToolContext, path: &Path, write: bool) -> Result<String, ToolError> {
    Ok(ctx.check_file_access(path, access(write)).await?.display().to_string())
}

async fn call(
    toolbox: &Toolbox,
    tool: &str,
    path: &str,
    write: bool,
) -> Result<String, (ToolErrorKind, String)> {
    let result = toolbox.call(ToolCall::new("1", tool, json!({ "path": path, "write": write }))).await;
    match result.outcome {
        Ok(output) => Ok(output.to_text()),
        Err(error) => Err((error.kind(), error.message().to_owned())),
    }
}

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
        // What is not there yet.
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
        // What is run, or decides what is.
        (".git/config", "allow .git/config", "protected .git/config"),
        (".GIT/hooks/new", "allow .GIT/hooks/new", "protected .GIT/hooks/new"),
        (".git", "allow .git", "protected .git"),
        ("sub/.git", "allow sub/.git", "protected sub/.git"),
        ("to_git/config", "allow to_git/config .git/config", "protected to_git/config .git/config"),
        ("bare/config", "allow bare/config", "protected bare/config"),
        ("bare/hooks/new", "allow bare/hooks/new", "protected bare/hooks/new"),
        ("worktree/config", "allow worktree/config", "protected worktree/config"),
        ("other/HEAD", "allow other/HEAD", "protected other/HEAD"),
        // What looks like a repository in part only.
        ("headless/config", "allow headless/config", "edit headless/config"),
        ("half/config", "allow half/config", "edit half/config"),
        ("other_half/config", "allow other_half/config", "edit other_half/config"),
        // What is outside is not looked at.
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
        ("a\0b", "the path holds a NUL character, which no path can; leave it out"),
        ("~", "`~` is not expanded; write the whole path, or begin with `./~` for a file of that name"),
        ("~/.ssh", "`~` is not expanded; write the whole path, or begin with `./~` for a file of that name"),
        (&"a/".repeat(2_049), "the path is longer than 4,096 bytes, which no path can be"),
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
        // What edits are allowed is not what is protected, unless it is named.
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
            "deny BASE/data/x: this is where the toolkit keeps what people allowed and what calls left behind; no tool may write there",
        ),
    ] {
        let permission = serde_json::from_str(&places.path(&permission.to_string())).unwrap();
        let toolbox = places.toolbox(&permission, ScriptedApprover::new([])).await;
        let decided = call(&toolbox, "decide", &places.path(path), write).await.unwrap();
        assert_eq!(decided, places.path(expected), "{permission} {path}");
    }
}

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
        // What is not there has no place above it.
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
                assert!(message.contains(setting) && message.contains("nobody to ask"), "{path}: {message}");
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

/// Reads without asking.
#[tool(read_only)]
async fn open(ctx: &ToolContext, path: &Path) -> Result<String, ToolError> {
    Ok(ctx.resolve(path)?.display().to_string())
}

#[tokio::test]
async fn a_tool_that_cannot_ask_gets_what_needs_no_leave() {
    let places = Places::new();
    let mut settings = PermissionSettings::default();
    let rule = json!({ "external_directory": [{ "match": "*/outside/*", "do": "allow" }] });
    settings.everybody = serde_json::from_value(rule).unwrap();
    let approver = ScriptedApprover::always(Answer::allow());
    let toolkit = Toolkit::empty()
        .tool(tool_ref!(open))
        .permissions(Permissions::new([settings]))
        .approver(approver.clone())
        .build()
        .unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_workspace(places.base.join("inside"))).await;
    for (path, expected) in [
        ("file", Ok("BASE/inside/file")),
        ("absent", Err(ToolErrorKind::NotFound)),
        (".env", Err(ToolErrorKind::Denied)),
        ("/etc/hosts", Err(ToolErrorKind::Denied)),
        ("BASE/outside/secret.txt", Ok("BASE/outside/secret.txt")),
        ("BASE/outside/alias", Err(ToolErrorKind::Denied)),
        ("BASE/outside/absent", Err(ToolErrorKind::NotFound)),
    ] {
        let result = toolbox.call(ToolCall::new("1", "open", json!({ "path": places.path(path) }))).await;
        let came = result.outcome.map(|output| output.to_text()).map_err(|error| error.kind());
        assert_eq!(came, expected.map(|path| places.path(path)), "{path}");
    }
    assert!(approver.asked().is_empty());
}

#[test]
fn what_is_contained() {
    let places = Places::new();
    let inside = places.base.join("inside");
    for (path, expected) in [
        ("file", true),
        (".", true),
        ("folder/deep", true),
        ("new/deep", true),
        ("out_and_in", true),
        ("../inside/file", true),
        ("BASE/named/file", false),
        ("BASE/inside/file", true),
        ("BASE/inside2", false),
        ("..", false),
        ("", false),
        ("~", false),
        ("/", false),
        ("to_secret", false),
        ("to_outside/absent", false),
        ("dangling", true),
        ("dangling_outside", false),
        ("circle", false),
        ("file/x", false),
        ("absent/../file", false),
    ] {
        assert_eq!(is_path_contained(&inside, places.path(path)), expected, "{path}");
    }
    assert!(is_path_contained(places.base.join("named"), places.path("BASE/named/file")));
    assert!(!is_path_contained(places.base.join("absent"), "file"));
}

/// Says which directory bounds it.
#[tool(read_only)]
async fn bounded(ctx: &ToolContext) -> Result<String, ToolError> {
    Ok(ctx.boundary()?.display().to_string())
}

#[tokio::test]
async fn the_boundary_is_the_sessions_else_the_hosts_else_the_processs() {
    let here = std::env::current_dir().unwrap();
    let (session, host) = (Path::new("/session"), Path::new("/host"));
    assert_eq!(sandbox_boundary(Some(session), Some(host)).unwrap(), session);
    assert_eq!(sandbox_boundary(None, Some(host)).unwrap(), host);
    assert_eq!(sandbox_boundary(Some(Path::new("a")), None).unwrap(), here.join("a"));
    assert_eq!(sandbox_boundary(None, None).unwrap(), here);

    let plain = Toolkit::empty().tool(tool_ref!(bounded));
    let configured = Toolkit::empty().tool(tool_ref!(bounded)).default_workspace("/host");
    for (builder, caller, expected) in
        [(plain, Caller::new(), here.join(".")), (configured, Caller::new(), host.to_owned())]
    {
        let toolkit = builder.build().unwrap();
        let call =
            |toolbox: Toolbox| async move { toolbox.call(ToolCall::new("1", "bounded", "{}")).await.text() };
        let said = call(toolkit.toolbox(&caller).await).await;
        assert_eq!(Path::new(&said), expected.components().collect::<PathBuf>());
        let said = call(toolkit.toolbox(&caller.with_workspace("/session")).await).await;
        assert_eq!(said, "/session");
    }
}
