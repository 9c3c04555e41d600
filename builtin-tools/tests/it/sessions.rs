//! The tools for sessions, and `gateway`, over services that note what they are asked.
#![cfg(all(feature = "automation", feature = "sessions"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use builtin_tools::automation::{GatewayService, GatewayStatus, JobAnswer};
use builtin_tools::sessions::{
    AgentInfo, SendOutcome, SendRequest, SendResult, SessionAnswer, SessionHistory, SessionInfo, SessionKind,
    SessionMessage, SessionQuery, SessionService, SessionStatus, SpawnRequest, SpawnedSession, StatusInfo,
};
use serde_json::{Value, json};
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use toolkit::permission::{PermissionSettings, Permissions};
use toolkit::prelude::*;
use toolkit::{CallOptions, Caller, ToolCall, ToolErrorKind};

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Notes {
    fn note<T: Send + 'static>(&self, call: impl Debug, answer: T) -> SessionAnswer<'_, T> {
        self.0.lock().unwrap().push(format!("{call:?}"));
        Box::pin(async { Ok(answer) })
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

fn message() -> SessionMessage {
    SessionMessage { role: "user".to_owned(), text: "hi".to_owned(), truncated: None, tool_calls: None }
}

impl SessionService for Notes {
    fn list<'a>(&'a self, _ctx: &'a ToolContext, query: SessionQuery) -> SessionAnswer<'a, Vec<SessionInfo>> {
        let session = SessionInfo {
            session_key: "agent:main:main".to_owned(),
            agent_id: "main".to_owned(),
            kind: SessionKind::Main,
            label: None,
            parent: None,
            status: SessionStatus::Idle,
            last_active: "2027-01-01T00:00:00Z".to_owned(),
            message_count: 2,
            messages: Some(vec![message()]),
        };
        self.note(query, vec![session])
    }

    fn history<'a>(
        &'a self,
        _ctx: &'a ToolContext,
        session_key: &'a str,
        limit: usize,
        include_tools: bool,
    ) -> SessionAnswer<'a, SessionHistory> {
        let key = session_key.to_owned();
        let history = SessionHistory { session_key: key, messages: vec![message()], has_more: true };
        self.note((session_key, limit, include_tools), history)
    }

    fn send<'a>(&'a self, ctx: &'a ToolContext, request: SendRequest) -> SessionAnswer<'a, SendResult> {
        let result = SendResult {
            outcome: SendOutcome::Ok,
            session_key: None,
            reply: Some("yes".to_owned()),
            error: None,
        };
        self.note((ctx.turn(), request), result)
    }

    fn spawn<'a>(
        &'a self,
        _ctx: &'a ToolContext,
        request: SpawnRequest,
    ) -> SessionAnswer<'a, SpawnedSession> {
        self.note(request, SpawnedSession { session_key: "agent:main:sub:1".to_owned() })
    }

    fn status<'a>(
        &'a self,
        _ctx: &'a ToolContext,
        session_key: Option<&'a str>,
    ) -> SessionAnswer<'a, StatusInfo> {
        let status = StatusInfo {
            session_key: "agent:main:main".to_owned(),
            agent_id: "main".to_owned(),
            model: None,
            label: None,
            parent: None,
            message_count: 2,
            queued: 0,
            last_active: "2027-01-01T00:00:00Z".to_owned(),
            status: SessionStatus::Waiting,
        };
        self.note(session_key, status)
    }

    fn agents<'a>(&'a self, _ctx: &'a ToolContext) -> SessionAnswer<'a, Vec<AgentInfo>> {
        self.note("agents", vec![AgentInfo { id: "main".to_owned(), name: None, model: None }])
    }
}

/// `true` allows a restart.
struct Process(Notes, bool);

impl GatewayService for Process {
    fn status<'a>(&'a self, _ctx: &'a ToolContext) -> JobAnswer<'a, GatewayStatus> {
        let status = GatewayStatus {
            version: "1".to_owned(),
            health: "ok".to_owned(),
            started_at: "2027-01-01T00:00:00Z".to_owned(),
            sessions: 1,
            runs: 1,
            queued: 0,
            problems: Vec::new(),
            restart_enabled: self.1,
        };
        self.0.note("status", status)
    }

    fn check_restart<'a>(&'a self, _ctx: &'a ToolContext) -> JobAnswer<'a, ()> {
        let may = self.1;
        Box::pin(async move { if may { Ok(()) } else { Err(ToolError::denied("not enabled")) } })
    }

    fn restart<'a>(&'a self, _ctx: &'a ToolContext) -> JobAnswer<'a, ()> {
        self.0.note("restart", ())
    }
}

struct Bench {
    toolkit: Toolkit,
    notes: Arc<Notes>,
    process: Arc<Process>,
}

impl Bench {
    fn new(may_restart: bool, permission: &Value) -> Self {
        let notes = Arc::new(Notes::default());
        let process = Arc::new(Process(Notes::default(), may_restart));
        let mut settings = PermissionSettings::default();
        settings.everybody = serde_json::from_value(permission.clone()).unwrap();
        let toolkit = Toolkit::builder()
            .leave_out_incomplete()
            .shared_service(Arc::clone(&notes) as Arc<dyn SessionService>)
            .shared_service(Arc::clone(&process) as Arc<dyn GatewayService>)
            .permissions(Permissions::new([settings]))
            .build()
            .unwrap();
        Self { toolkit, notes, process }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<Value, ToolError> {
        let toolbox = self.toolkit.toolbox(&Caller::new().with_session("s1")).await;
        let options = CallOptions::new().turn("t/1");
        let output = toolbox.call_with(ToolCall::new("1", tool, arguments), options).await.outcome?;
        Ok(output.details.unwrap_or_default())
    }
}

fn allowed() -> Value {
    json!({ "sessions_send": "allow", "sessions_spawn": "allow", "gateway": "allow" })
}

#[tokio::test]
async fn each_tool_reaches_the_service_with_its_fields() {
    let bench = Bench::new(true, &allowed());
    let query = json!({ "filter": "active", "kinds": ["main", "sub"], "limit": 3, "activeMinutes": 5, "messageLimit": 2 });
    let listed = bench.call("sessions_list", query).await.unwrap();
    assert_eq!(listed["sessions"][0]["messages"][0]["text"], "hi");
    bench.call("sessions_list", json!({})).await.unwrap();
    let history = json!({ "sessionKey": "k", "limit": 7, "includeTools": true });
    assert_eq!(bench.call("sessions_history", history).await.unwrap()["hasMore"], true);
    let sent = json!({ "label": "report", "agentId": "other", "message": "Hello", "timeoutSeconds": 0 });
    let sent = bench.call("sessions_send", sent).await.unwrap();
    assert_eq!((&sent["outcome"], &sent["reply"]), (&json!("ok"), &json!("yes")));
    bench.call("sessions_send", json!({ "sessionKey": "k", "message": "Hello" })).await.unwrap();
    let spawned = json!({
        "prompt": "Look.", "thinking": "high", "agentId": "other", "label": "l", "model": "m", "runTimeoutSeconds": 9,
    });
    assert_eq!(bench.call("sessions_spawn", spawned).await.unwrap()["sessionKey"], "agent:main:sub:1");
    assert_eq!(bench.call("session_status", json!({})).await.unwrap()["status"], "waiting");
    assert_eq!(bench.call("agents_list", json!({})).await.unwrap()["agents"][0]["id"], "main");
    let expected = [
        "SessionQuery { filter: Active, kinds: [Main, Sub], limit: 3, active_within: Some(300s), messages: 2 }",
        "SessionQuery { filter: All, kinds: [], limit: 50, active_within: None, messages: 0 }",
        r#"("k", 7, true)"#,
        r#"(Some("t/1"), SendRequest { to: Label { label: "report", agent_id: Some("other") }, message: "Hello", timeout: 0ns })"#,
        r#"(Some("t/1"), SendRequest { to: Key("k"), message: "Hello", timeout: 60s })"#,
        r#"SpawnRequest { prompt: "Look.", thinking: Some(High), agent_id: Some("other"), label: Some("l"), model: Some("m"), run_timeout: Some(9s) }"#,
        "None",
        "\"agents\"",
    ];
    assert_eq!(bench.notes.take(), expected);
}

#[tokio::test]
async fn a_session_is_named_once() {
    let bench = Bench::new(true, &allowed());
    for (arguments, expected) in [
        (json!({ "message": "x" }), "give `sessionKey` or `label`"),
        (json!({ "message": "x", "sessionKey": "k", "label": "l" }), "give one of them"),
        (json!({ "message": "x", "sessionKey": "k", "agentId": "a" }), "`agentId` goes with `label`"),
    ] {
        let error = bench.call("sessions_send", arguments).await.unwrap_err();
        assert!(error.message().contains(expected), "{}", error.message());
    }
    assert_eq!(bench.notes.take(), [""; 0]);
}

#[tokio::test]
async fn only_tools_that_act_ask() {
    let rules = json!({ "sessions_send": "ask", "sessions_spawn": "ask", "gateway": "ask" });
    let bench = Bench::new(true, &rules);
    for (tool, arguments) in [
        ("sessions_send", json!({ "sessionKey": "k", "message": "x" })),
        ("sessions_spawn", json!({ "prompt": "x" })),
        ("gateway", json!({ "action": "restart" })),
    ] {
        let error = bench.call(tool, arguments).await.unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::Denied, "{tool}: {}", error.message());
    }
    assert_eq!((bench.notes.take(), bench.process.0.take()), (Vec::new(), Vec::new()));
    for (tool, arguments) in [
        ("sessions_list", json!({})),
        ("sessions_history", json!({ "sessionKey": "k" })),
        ("session_status", json!({})),
        ("agents_list", json!({})),
        ("gateway", json!({ "action": "status" })),
    ] {
        bench.call(tool, arguments).await.unwrap();
    }
}

#[tokio::test]
async fn a_gateway_restarts_only_where_the_service_lets_it() {
    let bench = Bench::new(false, &allowed());
    assert_eq!(bench.call("gateway", json!({ "action": "status" })).await.unwrap()["status"]["health"], "ok");
    let error = bench.call("gateway", json!({ "action": "restart" })).await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (ToolErrorKind::Denied, "not enabled"));
    assert_eq!(bench.process.0.take(), ["\"status\""]);
    let bench = Bench::new(true, &allowed());
    assert_eq!(bench.call("gateway", json!({ "action": "restart" })).await.unwrap()["restarting"], true);
    assert_eq!(bench.process.0.take(), ["\"restart\""]);
}

#[tokio::test]
async fn without_a_service_the_tools_are_hidden() {
    let toolkit = Toolkit::builder().leave_out_incomplete().build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    for tool in [
        "sessions_list",
        "sessions_history",
        "sessions_send",
        "sessions_spawn",
        "session_status",
        "agents_list",
        "gateway",
    ] {
        assert!(toolbox.find(tool).is_err(), "{tool}");
    }
}
