//! Approvals that hold longer than once, rules that decide before anybody is asked, and questions that are asked together.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::sleep;
use toolkit::prelude::*;
use toolkit::{
    Approver, Ask, CallOptions, CancellationToken, ToolErrorKind,
    approval::{Access, AllowScope, Answer, CallbackApprover, PendingAsk, ScriptedApprover},
    config::{ConfigOrigin, ConfigOrigins},
    events::{AllowedBy, Event},
    inspection::LoopGuard,
    permission::{PermissionSettings, Permissions},
    tool_ref,
};

/// Asks what it is told to.
#[tool(read_only)]
async fn asks(ctx: &ToolContext, ask: Value) -> Result<&'static str, ToolError> {
    ctx.ask(serde_json::from_value::<Ask>(ask)?).await?;
    Ok("done")
}

/// Asks what it is told to, in its own name.
#[tool(read_only)]
async fn asks_too(ctx: &ToolContext, ask: Value) -> Result<&'static str, ToolError> {
    ctx.ask(serde_json::from_value::<Ask>(ask)?).await?;
    Ok("done")
}

/// Writes nothing, with leave to write.
#[tool(read_only)]
async fn writes(ctx: &ToolContext, path: String) -> Result<&'static str, ToolError> {
    ctx.check_file_access(&path, Access::Write).await?;
    Ok("done")
}

/// Reads nothing, with leave to read.
#[tool(read_only)]
async fn reads(ctx: &ToolContext, path: String) -> Result<&'static str, ToolError> {
    ctx.check_file_access(&path, Access::Read).await?;
    Ok("done")
}

/// A data directory and a workspace.
struct House {
    base: TempDir,
}

impl House {
    fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        std::fs::create_dir(base.path().join("workspace")).unwrap();
        Self { base }
    }

    fn toolkit(&self, approver: impl Approver, permissions: Permissions) -> Toolkit {
        Toolkit::empty()
            .loop_guard(LoopGuard::off())
            .tool(tool_ref!(asks))
            .tool(tool_ref!(asks_too))
            .tool(tool_ref!(writes))
            .tool(tool_ref!(reads))
            .data_dir(self.base.path().join("data"))
            .approver(approver)
            .permissions(permissions)
            .build()
            .unwrap()
    }

    fn caller(&self, session: &str) -> Caller {
        Caller::new()
            .with_agent("ada")
            .with_session(session)
            .with_workspace(self.base.path().join("workspace"))
    }
}

fn edit(pattern: &str) -> Ask {
    Ask::new("edit", "write a file").with_pattern(pattern)
}

/// Makes the call, and returns the error if it was not allowed.
async fn call(toolkit: &Toolkit, caller: &Caller, tool: &str, ask: &Ask) -> Result<(), String> {
    let toolbox = toolkit.toolbox(caller).await;
    let arguments = json!({ "ask": serde_json::to_value(ask).unwrap() });
    let result = toolbox.call(ToolCall::new("c", tool, arguments)).await;
    match result.error() {
        None => Ok(()),
        Some(error) => {
            assert_eq!(error.kind(), ToolErrorKind::Denied, "{error}");
            Err(error.message().to_owned())
        }
    }
}

fn rules(rules: Value) -> PermissionSettings {
    let mut settings = PermissionSettings::default();
    settings.everybody = serde_json::from_value(rules).unwrap();
    settings
}

#[tokio::test]
async fn what_is_allowed_for_a_session_holds_for_it_alone() {
    let house = House::new();
    let script = ScriptedApprover::always(Answer::allow_for_session());
    let toolkit = house.toolkit(script.clone(), Permissions::default());
    let (one, other) = (house.caller("one"), house.caller("other"));
    for (caller, tool, ask, asked) in [
        (&one, "asks", edit("a"), 1),
        (&one, "asks", edit("a"), 1),
        (&one, "asks", edit("a").with_claim("as before"), 1),
        (&other, "asks", edit("a"), 2),
        (&one, "asks_too", edit("a"), 3),
        (&one, "asks", edit("b"), 4),
        (&one, "asks", edit("a").with_pattern("b"), 4),
        (&one.clone().with_agent("kid"), "asks", edit("a"), 5),
        (&one, "asks", edit("a").once_only(), 6),
        (&one, "asks", edit("a").once_only(), 7),
        (&one, "asks", edit("a").raised(), 8),
        (&one, "asks", edit("a").raised(), 8),
    ] {
        call(&toolkit, caller, tool, &ask).await.unwrap();
        assert_eq!(script.asked().len(), asked, "{tool} {ask:?}");
    }
    assert!(toolkit.end_session("one"));
    call(&toolkit, &one, "asks", &edit("a")).await.unwrap();
    assert_eq!(script.asked().len(), 9, "it is gone with the session");
    assert_eq!(toolkit.approvals().list().approvals, []);
}

#[tokio::test]
async fn what_is_always_allowed_is_known_to_every_host_until_it_is_revoked() {
    let house = House::new();
    let script = ScriptedApprover::new([Answer::allow_always()]);
    let first = house.toolkit(script.clone(), Permissions::default());
    call(&first, &house.caller("one"), "asks", &edit("src/lib.rs")).await.unwrap();
    let shown = &script.asked()[0];
    assert_eq!(
        shown.origin().workspace.as_deref(),
        house.base.path().join("workspace").canonicalize().unwrap().to_str()
    );
    let nobody = house.toolkit(ScriptedApprover::new([]), Permissions::default());
    for toolkit in [&first, &nobody] {
        call(toolkit, &house.caller("two"), "asks", &edit("src/lib.rs")).await.unwrap();
        call(toolkit, &house.caller("two"), "asks", &edit("src/*")).await.unwrap_err();
    }
    let elsewhere = house.caller("one").with_workspace(house.base.path());
    call(&nobody, &elsewhere, "asks", &edit("src/lib.rs")).await.unwrap_err();

    let list = nobody.approvals().list();
    let [approval] = list.approvals.as_slice() else { panic!("{list:?}") };
    assert_eq!((&*approval.kind, &*approval.pattern, &*approval.tool), ("edit", "src/lib.rs", "asks"));
    // In the session in which it was allowed too.
    first.approvals().revoke(&approval.id).unwrap();
    for toolkit in [&first, &nobody] {
        call(toolkit, &house.caller("one"), "asks", &edit("src/lib.rs")).await.unwrap_err();
    }
}

#[tokio::test]
async fn an_answer_lasts_no_longer_than_was_offered() {
    for (ask, has_workspace, lasts) in [
        (edit("a").once_only(), true, false),
        (edit("a").raised(), true, false),
        (Ask::new("edit", "no pattern"), true, false),
        (edit(&"x".repeat(1_001)), true, false),
        (edit("a"), false, false),
        (edit("a"), true, true),
    ] {
        let house = House::new();
        let script = ScriptedApprover::always(Answer::allow_always());
        let toolkit = house.toolkit(script.clone(), Permissions::default());
        // The data directory would be in this one.
        let caller = if has_workspace {
            house.caller("s")
        } else {
            house.caller("s").with_workspace(house.base.path())
        };
        call(&toolkit, &caller, "asks", &ask).await.unwrap();
        assert_eq!(toolkit.approvals().list().approvals.len(), usize::from(lasts), "{ask:?}");
        let note = script.asked()[0].note().map(str::to_owned);
        assert_eq!(note.is_some_and(|note| note.contains("is inside the workspace")), !has_workspace);
        call(&toolkit, &caller.with_session("t"), "asks", &ask).await.unwrap();
        assert_eq!(script.asked().len(), if lasts { 1 } else { 2 }, "{ask:?}");
    }
}

#[tokio::test]
async fn rules_come_before_people() {
    let house = House::new();
    let allows = ScriptedApprover::always(Answer::allow_always());
    let toolkit = house.toolkit(allows.clone(), Permissions::default());
    for pattern in ["free", "asked", "denied"] {
        call(&toolkit, &house.caller("s"), "asks", &edit(pattern)).await.unwrap();
    }
    assert_eq!(allows.asked().len(), 3);

    let mut settings = rules(json!({
        "edit": [
            { "match": "free", "do": "allow" },
            { "match": "denied", "do": "deny" },
            { "match": "asked", "do": "ask" },
        ],
        "exec": "deny",
        "message": "allow",
    }));
    settings.origins = ConfigOrigins::new([(
        "/permission/edit/1".to_owned(),
        ConfigOrigin::in_file("toolkit.json5", 7, 13),
    )]);
    let script = ScriptedApprover::new([]);
    let toolkit = house.toolkit(script.clone(), Permissions::new([settings]));
    let caller = house.caller("s");
    // Allowed by rule; a rule's ask is answered by what was allowed before; a rule's deny is not.
    call(&toolkit, &caller, "asks", &edit("free")).await.unwrap();
    call(&toolkit, &caller, "asks", &edit("asked")).await.unwrap();
    call(&toolkit, &caller, "asks", &Ask::new("message", "send")).await.unwrap();
    call(&toolkit, &caller, "asks", &Ask::new("message", "send").raised()).await.unwrap();
    let denied = call(&toolkit, &caller, "asks", &edit("denied")).await.unwrap_err();
    assert_eq!(
        denied,
        "not allowed: write a file. The kind `edit` is denied by the rule `denied`: deny (/permission/edit/1, \
         toolkit.json5:7:13). Nothing was done; do not try it in another way, go on without it and say what was not \
         allowed and why"
    );
    let denied =
        call(&toolkit, &caller, "asks", &Ask::new("exec", "run\nit").with_pattern("ls")).await.unwrap_err();
    assert!(
        denied.starts_with("not allowed: run\\u{a}it. The kind `exec` is denied by the rule deny ("),
        "{denied}"
    );
    assert_eq!(script.asked().len(), 0);
    // A pattern does not lift what a flag raised.
    call(&toolkit, &caller, "asks", &edit("free").raised()).await.unwrap_err();
    assert_eq!(script.asked().len(), 1);
}

#[tokio::test]
async fn watchers_see_by_what_it_was_allowed() {
    let house = House::new();
    let script = ScriptedApprover::new([Answer::allow_always(), Answer::allow_for_session()]);
    let toolkit = house.toolkit(script, Permissions::new([rules(json!({ "message": "allow" }))]));
    let mut events = toolkit.events();
    let caller = house.caller("s");
    for ask in [edit("a"), edit("b"), edit("a"), edit("b"), Ask::new("message", "send")] {
        call(&toolkit, &caller, "asks", &ask).await.unwrap();
    }
    let id = toolkit.approvals().list().approvals[0].id.clone();
    let mut seen = Vec::new();
    while let Some(event) = events.try_next() {
        match event.event {
            Event::Asked { .. } => seen.push(None),
            Event::Allowed { by, .. } => seen.push(Some(by)),
            _ => {}
        }
    }
    let rule = "allow (/permission/message)".to_owned();
    let expected = [
        None,
        None,
        Some(AllowedBy::Approval { ids: vec![id] }),
        Some(AllowedBy::Session),
        Some(AllowedBy::Rule { rule }),
    ];
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn leave_to_use_a_path_lasts_unless_it_is_protected_or_sensitive() {
    for (tool, path, lasts) in [
        ("writes", "src/lib.rs", true),
        ("writes", ".git/config", false),
        ("writes", ".vscode/tasks.json", false),
        ("writes", ".env", false),
        ("reads", ".env", false),
        ("reads", "../outside.txt", true),
        ("reads", "../.ssh/id_ed25519", false),
    ] {
        let house = House::new();
        for file in ["outside.txt", ".ssh/id_ed25519", "workspace/.env"] {
            let file = house.base.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let script = ScriptedApprover::always(Answer::allow_always());
        let toolkit = house.toolkit(script.clone(), Permissions::default());
        for (session, asked) in [("one", 1), ("one", 1), ("two", if lasts { 1 } else { 2 })] {
            let toolbox = toolkit.toolbox(&house.caller(session)).await;
            let result = toolbox.call(ToolCall::new("c", tool, json!({ "path": path }))).await;
            assert_eq!(result.text(), "done", "{path}");
            assert_eq!(script.asked().len(), asked, "{path} in {session}");
        }
        assert_eq!(script.asked()[0].scopes().contains(&AllowScope::Always), lasts, "{path}");
        assert_eq!(toolkit.approvals().list().approvals.len(), usize::from(lasts), "{path}");
    }
}

/// The question that is asked, once it is there.
async fn only(toolkit: &Toolkit) -> PendingAsk {
    loop {
        if let [ask] = toolkit.asks().list(None).as_slice() {
            return ask.clone();
        }
        sleep(Duration::from_millis(10)).await;
    }
}

fn elsewhere() -> CallbackApprover {
    CallbackApprover::new(|_: &PendingAsk| None)
}

#[tokio::test(start_paused = true)]
async fn calls_that_ask_the_same_at_once_are_one_question() {
    for (answer, allowed) in [(Answer::allow(), true), (Answer::deny_saying("no"), false)] {
        let house = House::new();
        let toolkit = house.toolkit(elsewhere(), Permissions::default());
        let (caller, ask) = (house.caller("s"), edit("a"));
        let mut events = toolkit.events();
        let calls = futures(5, || call(&toolkit, &caller, "asks", &ask));
        let answering = async {
            let asked = only(&toolkit).await;
            // All of them are waiting by then.
            sleep(Duration::from_mins(1)).await;
            assert_eq!(toolkit.asks().list(None).len(), 1);
            toolkit.asks().answer(asked.id(), answer).unwrap();
            asked
        };
        let (outcomes, asked) = tokio::join!(calls, answering);
        assert!(outcomes.iter().all(|outcome| outcome.is_ok() == allowed), "{outcomes:?}");
        let mut told = 0;
        while let Some(event) = events.try_next() {
            if let Event::Asked { ask } = event.event {
                assert_eq!(ask.id(), asked.id());
                told += 1;
            }
        }
        assert_eq!(told, 5, "each call says that it waits for it");
        // Allowed once is once, for all of them.
        let (_, again) = tokio::join!(call(&toolkit, &caller, "asks", &ask), async {
            let again = only(&toolkit).await;
            toolkit.asks().answer(again.id(), Answer::deny()).unwrap();
            again
        });
        assert_ne!(again.id(), asked.id());
    }
}

/// Several of the same, at once.
async fn futures<F: Future>(count: usize, make: impl Fn() -> F) -> Vec<F::Output> {
    let mut futures: Vec<_> = (0..count).map(|_| Box::pin(make())).collect();
    let mut outputs: Vec<Option<F::Output>> = (0..count).map(|_| None).collect();
    std::future::poll_fn(|task| {
        for (future, output) in futures.iter_mut().zip(&mut outputs) {
            if output.is_none()
                && let std::task::Poll::Ready(done) = future.as_mut().poll(task)
            {
                *output = Some(done);
            }
        }
        if outputs.iter().all(Option::is_some) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    outputs.into_iter().flatten().collect()
}

#[tokio::test(start_paused = true)]
async fn who_is_cancelled_leaves_the_question_to_the_others() {
    let house = House::new();
    let toolkit = house.toolkit(elsewhere(), Permissions::default());
    let toolbox = toolkit.toolbox(&house.caller("s")).await;
    let arguments = json!({ "ask": serde_json::to_value(edit("a")).unwrap() });
    let cancel = CancellationToken::new();
    let first =
        toolbox.call_with(ToolCall::new("1", "asks", arguments.clone()), CallOptions::from(cancel.clone()));
    let second = toolbox.call(ToolCall::new("2", "asks", arguments));
    let (first, second, ()) = tokio::join!(first, second, async {
        let asked = only(&toolkit).await;
        assert_eq!(asked.origin().call_id, "1");
        sleep(Duration::from_mins(1)).await;
        cancel.cancel();
        sleep(Duration::from_mins(1)).await;
        assert_eq!(only(&toolkit).await.id(), asked.id());
        toolkit.asks().answer(asked.id(), Answer::allow()).unwrap();
    });
    assert_eq!(first.error().unwrap().kind(), ToolErrorKind::Aborted);
    assert_eq!(second.text(), "done");
    assert!(toolkit.asks().list(None).is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_is_allowed_to_last_is_asked_once_however_many_ask() {
    for answer in [Answer::allow_for_session(), Answer::allow_always()] {
        let house = House::new();
        let script = ScriptedApprover::always(answer.clone());
        let toolkit = house.toolkit(script.clone(), Permissions::default());
        let tasks: Vec<_> = (0..50)
            .map(|_| {
                let (toolkit, caller) = (toolkit.clone(), house.caller("s"));
                tokio::spawn(async move { call(&toolkit, &caller, "asks", &edit("a")).await })
            })
            .collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        assert_eq!(script.asked().len(), 1, "{answer:?}");
    }
}

#[test]
fn a_thread_without_a_runtime_is_answered_too() {
    let house = House::new();
    let toolkit = house.toolkit(ScriptedApprover::new([Answer::allow_always()]), Permissions::default());
    let (caller, ask) = (house.caller("s"), edit("a"));
    for _ in 0..2 {
        let mut calling = Box::pin(call(&toolkit, &caller, "asks", &ask));
        let mut task = std::task::Context::from_waker(std::task::Waker::noop());
        assert_eq!(calling.as_mut().poll(&mut task), std::task::Poll::Ready(Ok(())));
    }
    assert_eq!(toolkit.approvals().list().approvals.len(), 1);
    assert!(!Path::new("approvals").exists());
}
