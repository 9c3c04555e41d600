//! Approvals for a session that a host keeps beyond the end of its process.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::json;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;
use toolkit::prelude::*;
use toolkit::{
    Ask,
    approval::{Answer, Approval, NoApprover, ScriptedApprover},
    tool_ref,
};

const HOUR: Duration = Duration::from_hours(1);

/// Asks what it is told to.
#[tool(read_only)]
async fn asks(ctx: &ToolContext, ask: serde_json::Value) -> Result<&'static str, ToolError> {
    ctx.ask(serde_json::from_value::<Ask>(ask)?).await?;
    Ok("done")
}

/// A data directory and workspaces.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        for name in ["one", "two"] {
            fs::create_dir(home.path(name)).unwrap();
        }
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A process: each has a toolkit of its own. Without an answer nobody is there to be asked.
    fn process(&self, lifetime: Option<Duration>, answer: Option<Answer>) -> Toolkit {
        let builder = Toolkit::empty().tool(tool_ref!(asks)).data_dir(self.path("data"));
        let builder = match answer {
            Some(answer) => builder.approver(ScriptedApprover::always(answer)),
            None => builder.approver(NoApprover),
        };
        match lifetime {
            Some(lifetime) => builder.keep_session_approvals(lifetime),
            None => builder,
        }
        .build()
        .unwrap()
    }

    fn caller(&self, workspace: &str) -> Caller {
        Caller::new().with_workspace(self.path(workspace))
    }

    /// Allows it for the session, in a process that ends.
    async fn allow(&self, lifetime: Option<Duration>, ask: &Ask) {
        let toolkit = self.process(lifetime, Some(Answer::allow_for_session()));
        assert!(is_allowed(&toolkit, &self.caller("one").with_session("s"), ask).await);
    }

    /// The kept approvals, as text.
    fn files(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path("data/approvals/sessions")) else { return Vec::new() };
        entries.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap()).collect()
    }
}

async fn is_allowed(toolkit: &Toolkit, caller: &Caller, ask: &Ask) -> bool {
    let call = ToolCall::new("1", "asks", json!({ "ask": ask }));
    !toolkit.toolbox(caller).await.call(call).await.is_error()
}

fn push() -> Ask {
    Ask::new("exec", "git push").with_pattern("git push *").raised()
}

#[tokio::test]
async fn an_approval_holds_in_the_next_process_of_the_same_session_alone() {
    let home = Home::new();
    home.allow(Some(HOUR), &push()).await;
    let next = home.process(Some(HOUR), None);
    let here = || home.caller("one");
    for (caller, ask, expected) in [
        (here().with_session("s"), push(), true),
        (here().with_session("s"), push().with_claim("as before"), true),
        (here().with_session("other"), push(), false),
        (here(), push(), false),
        (home.caller("two").with_session("s"), push(), false),
        (here().with_session("s").with_agent("kid"), push(), false),
        (here().with_session("s"), Ask::new("exec", "git push").with_pattern("git push *"), false),
        (here().with_session("s"), push().with_pattern("rm *"), false),
        (here().with_session("s"), push().once_only(), false),
    ] {
        assert_eq!(is_allowed(&next, &caller, &ask).await, expected, "{caller:?} {ask:?}");
    }
    // A host that does not say so neither reads nor writes any.
    let other_host = home.process(None, None);
    assert!(!is_allowed(&other_host, &here().with_session("s"), &push()).await);
    let home = Home::new();
    home.allow(None, &push()).await;
    assert!(!home.path("data/approvals").exists());
}

#[tokio::test]
async fn an_approval_ends_with_its_time_its_session_or_when_it_is_revoked() {
    let home = Home::new();
    let session = home.caller("one").with_session("s");
    let holds = async || is_allowed(&home.process(Some(HOUR), None), &session, &push()).await;

    home.allow(Some(HOUR), &push()).await;
    assert!(home.process(Some(HOUR), None).end_session("other") || holds().await);
    home.process(Some(HOUR), None).end_session("s");
    assert!(!holds().await && home.files().is_empty());

    home.allow(Some(HOUR), &push()).await;
    let toolkit = home.process(Some(HOUR), None);
    let all = toolkit.approvals().list();
    assert_eq!(all.problems, [""; 0]);
    let [Approval { id, session, expires_at: Some(expires_at), pattern, approved_at, .. }] =
        &all.approvals[..]
    else {
        panic!("{all:?}")
    };
    assert_eq!((session.as_deref(), pattern.as_str()), (Some("s"), "git push *"));
    assert_eq!(expires_at.duration_since(*approved_at).unwrap(), HOUR);
    assert_eq!(toolkit.approvals().revoke(id).unwrap().id, *id);
    assert!(!holds().await && home.files().is_empty());

    home.allow(Some(HOUR), &push()).await;
    assert_eq!(home.process(Some(HOUR), None).approvals().revoke_all(), Ok(1));
    assert!(!holds().await);

    // One that ends at once.
    home.allow(Some(Duration::ZERO), &push()).await;
    assert!(!holds().await);
    assert_eq!(home.process(Some(HOUR), None).approvals().list().approvals, []);
    // A later answer removes what has ended.
    home.allow(Some(HOUR), &Ask::new("exec", "x").with_pattern("x")).await;
    let files = home.files();
    assert!(files.len() == 1 && !files[0].contains("git push"), "{files:?}");

    // One that would last longer than any new one: the clock was set back, or somebody wrote it.
    home.allow(Some(HOUR * 24), &push()).await;
    assert!(!holds().await);
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_kept_is_private_and_counts_only_if_nobody_else_could_write_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let whole = Ask::new("exec", "type").with_text("its input", "hunter2");
    home.allow(Some(HOUR), &whole).await;
    let directory = home.path("data/approvals/sessions");
    let file = fs::read_dir(&directory).unwrap().next().unwrap().unwrap().path();
    let mode = |path: &PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(&directory)), (0o600, 0o700));
    let kept = fs::read_to_string(&file).unwrap();
    assert!(kept.contains("\"type\"") && !kept.contains("hunter2"), "{kept}");
    let session = home.caller("one").with_session("s");
    let holds = async |ask: &Ask| is_allowed(&home.process(Some(HOUR), None), &session, ask).await;
    assert!(holds(&whole).await);
    assert!(!holds(&Ask::new("exec", "type").with_text("its input", "hunter3")).await);

    fs::set_permissions(&file, fs::Permissions::from_mode(0o620)).unwrap();
    assert!(!holds(&whole).await);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(holds(&whole).await);
    for damaged in [
        String::new(),
        kept.replace("\"session\": \"s\"", "\"session\": \"t\""),
        kept.replace("\"version\": 1", "\"version\": 2"),
    ] {
        assert_ne!(damaged, kept);
        fs::write(&file, &damaged).unwrap();
        assert!(!holds(&whole).await, "{damaged}");
    }
}
