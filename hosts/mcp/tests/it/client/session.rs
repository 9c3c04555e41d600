//! Clients that serve tools for some sessions, over connections that the host made.

use crate::client::names;
use rmcp::ServiceExt as _;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use toolkit::approval::{Answer, Question, ScriptedApprover};
use toolkit::config::{Configuration, LoadOptions};
use toolkit::events::{Event, Progress};
use toolkit::{
    Builder, CallOptions, Caller, CancellationToken, Tool, ToolCall, ToolErrorKind, ToolResult, Toolbox,
    Toolkit,
};
use toolkit_mcp::{Attached, ClientOptions, SessionServer, SessionServers, ToolServer};

/// A host that clients are attached to.
struct Host {
    toolkit: Toolkit,
    clients: SessionServers,
}

impl Host {
    fn new(builder: impl FnOnce(Builder) -> Builder) -> Self {
        let clients = SessionServers::new(ClientOptions::new()).naming(["page"]);
        let toolkit = builder(Toolkit::empty()).tool_source(clients.clone()).build().unwrap();
        Self { toolkit, clients }
    }

    async fn toolbox(&self, session: &str) -> Toolbox {
        self.toolkit.toolbox(&Caller::new().with_session(session)).await
    }

    async fn names(&self, session: &str) -> Vec<String> {
        names(&self.toolbox(session).await).into_iter().map(str::to_owned).collect()
    }

    async fn call(&self, session: &str, name: &str) -> ToolResult {
        self.toolbox(session).await.call(ToolCall::new("1", name, json!({}))).await
    }

    /// Attaches a client at the other end of a pipe.
    async fn attach(&self, client: SessionServer, pipe: DuplexStream) -> Result<Attached, String> {
        let (read, write) = tokio::io::split(pipe);
        self.clients.attach_lines(&self.toolkit, client, read, write).await
    }

    /// Attaches a client with these tools.
    async fn attached(&self, client: SessionServer, tools: Vec<Tool>) -> (Attached, Toolkit) {
        let (near, far) = tokio::io::duplex(1 << 16);
        let theirs = serving(far, tools);
        (self.attach(client, near).await.unwrap(), theirs)
    }
}

/// Serves tools at the other end of a pipe.
fn serving(pipe: DuplexStream, tools: Vec<Tool>) -> Toolkit {
    let toolkit = tools.into_iter().fold(Toolkit::empty().without_asking_first(), Builder::tool);
    let toolkit = toolkit.build().unwrap();
    let server = ToolServer::new(toolkit.clone(), Caller::new());
    tokio::spawn(async move { server.serve(pipe).await.unwrap().waiting().await });
    toolkit
}

/// A tool that says something.
fn saying(name: &str, text: &'static str) -> Tool {
    Tool::builder(name).description("Says.").read_only().build(move |_, _| async move { text }).unwrap()
}

fn noticed(attached: &Attached) -> String {
    attached.diagnostics().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn configured(rule: &str) -> Configuration {
    Configuration::load(LoadOptions::new().set(rule)).unwrap()
}

#[tokio::test]
async fn each_session_has_the_tools_of_its_own_client() {
    let host = Host::new(Builder::without_asking_first);
    let (first, _) = host.attached(SessionServer::new("tab", ["a"]), vec![saying("page", "of a")]).await;
    let tools = vec![saying("page", "of b"), saying("more", "m")];
    let (second, _) = host.attached(SessionServer::new("tab", ["b", "d"]), tools).await;
    assert_eq!(
        (first.tools(), second.tools()),
        (vec!["page".to_owned()], vec!["more".into(), "page".into()])
    );
    for (session, expected) in
        [("a", &["page"][..]), ("b", &["more", "page"]), ("c", &[]), ("d", &["more", "page"])]
    {
        assert_eq!(host.names(session).await, expected, "{session}");
    }
    for (session, expected) in [("a", "of a"), ("b", "of b"), ("d", "of b")] {
        assert_eq!(host.call(session, "page").await.text(), expected);
    }
    let none = host.call("c", "page").await;
    assert_eq!(none.error().unwrap().kind(), ToolErrorKind::UnknownTool);
    assert_eq!(host.toolkit.toolbox(&Caller::new()).await.tools().len(), 0);
    let toolbox = host.toolbox("a").await;
    let page = toolbox.tool("page").unwrap();
    assert_eq!(page.source().to_string(), "the client `tab`");
    assert_eq!(noticed(&first) + &noticed(&second), "");
    // A schema is checked here.
    let wrong = toolbox.call(ToolCall::new("1", "page", json!({"x": 1}))).await;
    assert_eq!(wrong.error().map(toolkit::ToolError::kind), Some(ToolErrorKind::InvalidArguments));
    drop(first);
    assert_eq!(host.names("a").await, [""; 0]);
    assert_eq!(host.call("b", "page").await.text(), "of b");
    let gone = toolbox.call(ToolCall::new("2", "page", json!({}))).await;
    assert!(gone.text().contains("the client `tab` cannot be reached: it was stopped"), "{}", gone.text());
}

#[tokio::test]
async fn a_name_that_is_taken_is_refused_and_told_until_it_is_free() {
    let host = Host::new(|builder| builder.without_asking_first().tool(saying("own", "the host's")));
    let (first, _) = host.attached(SessionServer::new("tab", ["a"]), vec![saying("page", "first")]).await;
    let tools = || vec![saying("own", "no"), saying("page", "second"), saying("extra", "x")];
    let (second, theirs) = host.attached(SessionServer::new("ide", ["a", "b"]), tools()).await;
    let told = noticed(&second);
    for expected in [
        "`own` already names the tool `own` of the host",
        "the tool `page` is left out of the session `a`: the client `tab` has a tool of this name there",
    ] {
        assert!(told.contains(expected), "{told}");
    }
    assert!(!told.contains("session `b`"), "{told}");
    for (session, expected) in [("a", "first"), ("b", "second")] {
        assert_eq!(host.names(session).await, ["extra", "own", "page"]);
        assert_eq!(host.call(session, "page").await.text(), expected);
        assert_eq!(host.call(session, "own").await.text(), "the host's");
    }
    // A list that is read again takes no name away.
    let mut changes = host.toolkit.watch_tools();
    theirs.register(saying("late", "l")).unwrap();
    while !host.names("a").await.contains(&"late".to_owned()) {
        assert!(changes.changed().await);
    }
    assert_eq!(host.call("a", "page").await.text(), "first");
    drop(first);
    assert_eq!(host.call("a", "page").await.text(), "second");
    // Whoever comes back comes last.
    let (third, _) = host.attached(SessionServer::new("tab", ["a"]), vec![saying("page", "third")]).await;
    assert!(noticed(&third).contains("the client `ide` has a tool of this name"), "{}", noticed(&third));
    assert_eq!(host.call("a", "page").await.text(), "second");
}

#[tokio::test]
async fn policy_and_permission_rules_apply_by_name_and_by_key() {
    for (rule, is_there) in [
        ("tools.deny=['page']", false),
        ("tools.deny=['client:tab']", false),
        ("tools.deny=['client:ide']", true),
        ("permission.page=deny", true),
        ("permission.'client:tab'=deny", true),
        ("permission.client=deny", true),
    ] {
        let rule = rule.replace('\'', if rule.starts_with("permission") { "" } else { "'" });
        let configuration = configured(&rule);
        let host = Host::new(|builder| builder.configuration(configuration).without_asking_first());
        let (_attached, _) = host.attached(SessionServer::new("tab", ["a"]), vec![saying("page", "p")]).await;
        assert_eq!(host.names("a").await.len(), usize::from(is_there), "{rule}");
        let result = host.call("a", "page").await;
        assert_eq!(result.is_error(), !rule.contains("ide"), "{rule}: {}", result.text());
        if result.is_error() && is_there {
            assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Denied, "{rule}: {}", result.text());
        }
    }
}

#[tokio::test]
async fn annotations_are_not_believed_and_a_lasting_answer_ends_with_the_connection() {
    let approver = Arc::new(ScriptedApprover::new([
        Answer::allow_for_session(),
        Answer::deny(),
        Answer::allow_for_session(),
    ]));
    let host = Host::new(|builder| builder.approver(Arc::clone(&approver)));
    let client = || SessionServer::new("tab", ["a"]);
    let tools = || vec![saying("page", "p")];
    let (attached, _) = host.attached(client(), tools()).await;
    let toolbox = host.toolbox("a").await;
    assert!(toolbox.tool("page").unwrap().annotations().read_only_hint);
    for _ in 0..2 {
        assert_eq!(host.call("a", "page").await.text(), "p");
    }
    assert_eq!(approver.asked().len(), 1);
    drop(attached);
    let (attached, _) = host.attached(client(), tools()).await;
    assert!(host.call("a", "page").await.is_error());
    assert_eq!(approver.asked().len(), 2);
    drop(attached);
    // One that proves who it is is known again.
    for _ in 0..2 {
        let (_attached, _) = host.attached(client().identity("the key 7F"), tools()).await;
        assert_eq!(host.call("a", "page").await.text(), "p");
    }
    let asked = approver.asked();
    let Some(Question::Approve(ask)) = asked.last().map(toolkit::approval::PendingAsk::question) else {
        panic!("{asked:?}")
    };
    assert_eq!((asked.len(), &*ask.conditions[0]), (3, "the client `tab` is the key 7F"));
}

#[tokio::test]
async fn progress_comes_through_and_a_cancelled_call_ends_at_the_client() {
    let host = Host::new(Builder::without_asking_first);
    let (begun, dropped) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let notes = (Arc::clone(&begun), Arc::clone(&dropped));
    let hold = Tool::builder("hold").build(move |context, _| {
        let (begun, dropped) = notes.clone();
        async move {
            struct Told(Arc<Notify>);
            impl Drop for Told {
                fn drop(&mut self) {
                    self.0.notify_one();
                }
            }
            let _told = Told(dropped);
            context.progress(Progress::new(1.0).with_total(3.0).with_message("one"));
            begun.notify_one();
            std::future::pending::<&str>().await
        }
    });
    let (_attached, _) = host.attached(SessionServer::new("tab", ["a"]), vec![hold.unwrap()]).await;
    let toolbox = host.toolbox("a").await;
    let mut events = toolbox.events();
    let cancel = CancellationToken::new();
    let call = ToolCall::new("1", "hold", json!({}));
    let calling = toolbox.call_with(call, CallOptions::new().cancel(cancel.clone()));
    let (result, progress) = tokio::join!(calling, async {
        begun.notified().await;
        let progress = loop {
            if let Event::Progress(progress) = events.next().await.unwrap().event {
                break progress;
            }
        };
        cancel.cancel();
        progress
    });
    assert_eq!((progress.total, progress.message.as_deref()), (Some(3.0), Some("one")));
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Aborted);
    dropped.notified().await;
}

#[tokio::test]
async fn a_changed_list_is_followed_and_a_changed_definition_asked_about() {
    let approver = Arc::new(ScriptedApprover::new([Answer::deny()]));
    let host = Host::new(|builder| builder.without_asking_first().approver(Arc::clone(&approver)));
    let (_attached, theirs) =
        host.attached(SessionServer::new("tab", ["a"]), vec![saying("page", "p")]).await;
    let mut changes = host.toolkit.watch_tools();
    theirs.register(saying("late", "l")).unwrap();
    while !host.names("a").await.contains(&"late".to_owned()) {
        assert!(changes.changed().await);
    }
    assert_eq!(host.call("a", "late").await.text(), "l");
    assert_eq!(host.names("b").await, [""; 0]);
    theirs.unregister("page").unwrap();
    while host.names("a").await.contains(&"page".to_owned()) {
        assert!(changes.changed().await);
    }
    let other = Tool::builder("late").description("Sends a file.").build(|_, _| async { "sent" }).unwrap();
    theirs.replace(other).unwrap();
    while host.toolbox("a").await.tool("late").unwrap().description() != "Sends a file." {
        assert!(changes.changed().await);
    }
    let denied = host.call("a", "late").await;
    assert_eq!(denied.error().unwrap().kind(), ToolErrorKind::Denied);
    let text = approver.asked()[0].to_text();
    assert!(text.contains("although the client `tab` has changed its definition"), "{text}");
}

/// A client whose answers to calls a test writes. The lines of calls go to the function, and the answers to what the client asks.
fn scripted(
    pipe: DuplexStream,
    mut answer: impl FnMut(&Value) -> Option<Vec<u8>> + Send + 'static,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        let (read, mut write) = tokio::io::split(pipe);
        let mut lines = BufReader::new(read).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            let said = |result: Value| json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
            let bytes = match message["method"].as_str() {
                Some("server/discover") => {
                    let error = json!({"code": -32601, "message": "Method not found"});
                    json!({"jsonrpc": "2.0", "id": message["id"], "error": error}).to_string().into_bytes()
                }
                Some("initialize") => said(json!({
                    "protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"},
                }))
                .to_string()
                .into_bytes(),
                Some("tools/list") => {
                    let tool = json!({"name": "call", "inputSchema": {"type": "object"}});
                    said(json!({"tools": [tool]})).to_string().into_bytes()
                }
                // Of a call, or an answer to a request of the client itself.
                Some("tools/call") | None => match answer(&message) {
                    Some(bytes) => bytes,
                    None => return,
                },
                _ => continue,
            };
            if write.write_all(&[&bytes, &b"\n"[..]].concat()).await.is_err() {
                return;
            }
        }
    })
}

fn text(id: &Value, text: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": text}]}}).to_string()
}

#[tokio::test]
async fn a_disconnect_ends_each_call_with_one_result() {
    let host = Host::new(Builder::without_asking_first);
    let (near, far) = tokio::io::duplex(1 << 16);
    let mut seen = 0;
    let client = scripted(far, move |_| {
        seen += 1;
        // The second call ends it, without an answer to any.
        (seen < 2).then(Vec::new)
    });
    let attached = host.attach(SessionServer::new("tab", ["a", "b"]), near).await.unwrap();
    let (first, second) = tokio::join!(host.call("a", "call"), host.call("b", "call"));
    for result in [first, second] {
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ToolErrorKind::Unavailable, "{error}");
        assert!(
            error.message().contains("the connection to the client `tab` ended during the call"),
            "{error}"
        );
        assert!(!error.message().contains("reconnects"), "{error}");
    }
    client.await.unwrap();
    assert_eq!(attached.ended().await, "the connection ended");
    assert_eq!((host.names("a").await.len(), attached.tools().len()), (0, 0));
}

#[tokio::test]
async fn a_client_that_is_detached_ends_its_calls() {
    let host = Host::new(Builder::without_asking_first);
    let (near, far) = tokio::io::duplex(1 << 16);
    let called = Arc::new(Notify::new());
    let noted = Arc::clone(&called);
    let _client = scripted(far, move |_| {
        noted.notify_one();
        Some(Vec::new())
    });
    let attached = host.attach(SessionServer::new("tab", ["a"]), near).await.unwrap();
    let (result, ()) = tokio::join!(host.call("a", "call"), async {
        called.notified().await;
        drop(attached);
    });
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Unavailable, "{}", result.text());
}

#[tokio::test]
async fn a_client_that_may_not_ask_gets_an_error_and_nobody_is_asked() {
    let host = Host::new(Builder::without_asking_first);
    let (near, far) = tokio::io::duplex(1 << 16);
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let mut waiting = json!(null);
    // In the middle of its call, it asks a person and the model.
    let _client = scripted(far, move |message| {
        tell.send(message.clone()).unwrap();
        if message["method"] == "tools/call" {
            waiting = message["id"].clone();
            let schema = json!({"type": "object", "properties": {"pin": {"type": "string"}}});
            let params = json!({"message": "Your PIN?", "requestedSchema": schema});
            let ask = json!({"jsonrpc": "2.0", "id": 77, "method": "elicitation/create", "params": params});
            return Some(ask.to_string().into_bytes());
        }
        if message["id"] == 77 {
            let content = json!({"type": "text", "text": "hello"});
            let params = json!({"messages": [{"role": "user", "content": content}], "maxTokens": 1});
            let ask =
                json!({"jsonrpc": "2.0", "id": 78, "method": "sampling/createMessage", "params": params});
            return Some(ask.to_string().into_bytes());
        }
        Some(text(&waiting, "done").into_bytes())
    });
    let client = SessionServer::new("tab", ["a"]).may_ask(false);
    let _attached = host.attach(client, near).await.unwrap();
    assert_eq!(host.call("a", "call").await.text(), "done");
    let mut errors = std::collections::BTreeMap::new();
    while let Ok(message) = told.try_recv() {
        if let Some(id) = message["id"].as_u64().filter(|_| !message["error"].is_null()) {
            errors.insert(id, message["error"].clone());
        }
    }
    for (id, word) in [(77, "elicitation"), (78, "sampling")] {
        let error = &errors[&id];
        assert!(error["code"] == -32601 && error["message"].as_str().unwrap().contains(word), "{errors:?}");
    }
}

#[tokio::test]
async fn invalid_data_of_a_client_fails_its_own_call_alone() {
    let host = Host::new(Builder::without_asking_first);
    let (near, far) = tokio::io::duplex(1 << 16);
    let mut seen = 0;
    let _client = scripted(far, move |call| {
        seen += 1;
        let id = &call["id"];
        Some(match seen {
            1 => text(id, &"x".repeat(100_000)).into_bytes(),
            2 => [&b"\xff\xfe\n{\"id\": 7\n[]\n\n"[..], text(id, "after junk").as_bytes()].concat(),
            3 => {
                let wrong = [json!(1_000_000), json!("x"), json!(null), json!(-1)];
                let wrong: Vec<String> = wrong.iter().map(|id| text(id, "wrong")).collect();
                format!("{}\n{}", wrong.join("\n"), text(id, "right")).into_bytes()
            }
            4 => json!({"jsonrpc": "2.0", "id": id, "result": {"content": 5}}).to_string().into_bytes(),
            // A line without an end.
            _ => vec![b'x'; 100_000 * 40],
        })
    });
    let client = SessionServer::new("tab", ["a"]).max_message_bytes(50_000);
    let attached = host.attach(client, near).await.unwrap();
    let (other, _) = host.attached(SessionServer::new("ide", ["a"]), vec![saying("page", "p")]).await;
    for expected in [
        "has more than 50000 bytes, the limit for one message",
        "after junk",
        "right",
        "the client `tab` violates the protocol",
        "has more than 50000 bytes, the limit for one message",
    ] {
        let result = host.call("a", "call").await;
        assert!(result.text().contains(expected), "{expected}: {}", result.text());
        assert_eq!(host.call("a", "page").await.text(), "p");
    }
    attached.ended().await;
    assert_eq!(host.names("a").await, ["page"]);
    drop(other);
}

#[tokio::test]
async fn a_peer_that_does_not_speak_the_protocol_is_not_attached() {
    let host = Host::new(|builder| builder);
    for (id, expected) in
        [("", "its id \"\" is not valid"), ("a b", "is not valid"), ("client:x", "is not valid")]
    {
        let (near, _far) = tokio::io::duplex(1 << 10);
        let refused = host.attach(SessionServer::new(id, ["a"]), near).await.unwrap_err();
        assert!(refused.contains(expected), "{refused}");
    }
    let (near, far) = tokio::io::duplex(1 << 10);
    drop(far);
    let gone = host.attach(SessionServer::new("tab", ["a"]), near).await.unwrap_err();
    assert!(gone.starts_with("the client `tab` cannot be attached: "), "{gone}");
    let (near, _far) = tokio::io::duplex(1 << 20);
    let clients = SessionServers::new(ClientOptions::new().start_within(Duration::from_millis(50)));
    let (read, write) = tokio::io::split(near);
    let client = SessionServer::new("tab", ["a"]);
    let silent = clients.attach_lines(&host.toolkit, client, read, write).await.unwrap_err();
    assert!(silent.contains("did not answer within 50ms"), "{silent}");
}
