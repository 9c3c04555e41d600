//! Tasks through the call path, against a server that knows Chat Completions as they are documented.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use toolkit::lint::Lint;
use toolkit::prelude::*;
use toolkit::{
    Answer as Reply, Builder, CallOptions, CancellationToken, Configuration, HistoryQuery, LoadOptions,
    MemoryHistory, Redactor, Retry, ScriptedApprover, Secret, Source, ToolErrorKind, Toolbox,
};
use toolkit_llm_task::{LlmTaskSettings, Model, ResponseFormat};
use toolkit_loopback::{Answer, Loopback, Request};

toolkit::link!(toolkit_llm_task);

const KEY: &str = "test-key-Zm9vYmFyYmF6";

fn completion(content: &str, finish_reason: &str) -> Answer {
    Answer::json(
        200,
        &json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1_790_000_000, "model": "small-1",
            "choices": [{ "index": 0, "message": { "role": "assistant", "content": content, "refusal": null }, "finish_reason": finish_reason }],
            "usage": { "prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13 },
        }),
    )
}

fn failed(status: u16, message: &str) -> Answer {
    Answer::json(
        status,
        &json!({ "error": { "message": message, "type": "invalid_request_error", "param": null, "code": null } }),
    )
}

/// An endpoint that gives these answers, the last one for ever, to requests as they are documented.
async fn endpoint(answers: Vec<Answer>) -> Loopback {
    let next = AtomicUsize::new(0);
    Loopback::start(move |request: &Request| {
        let body = request.json();
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let is_message = |message: &Value| {
            matches!(message["role"].as_str(), Some("system" | "user" | "assistant"))
                && message["content"].is_string()
        };
        let is_format = match body.get("response_format") {
            None => true,
            Some(format) => match format["type"].as_str() {
                Some("json_object") => true,
                Some("json_schema") => {
                    format["json_schema"]["name"] == "answer" && format["json_schema"]["schema"].is_object()
                }
                _ => false,
            },
        };
        if request.method != "POST" || request.path != "/v1/chat/completions" {
            return failed(404, "Unknown request URL");
        }
        if request.header("authorization") != Some(&format!("Bearer {KEY}")) {
            return failed(401, "Incorrect API key provided");
        }
        let is_body = request.header("content-type") == Some("application/json")
            && body["model"] == "small-1"
            && body["max_completion_tokens"].is_u64()
            && body["stream"] == false
            && is_format
            && !messages.is_empty()
            && messages.iter().all(is_message);
        if !is_body {
            return failed(400, &format!("Invalid body: {body}"));
        }
        let number = next.fetch_add(1, Ordering::SeqCst);
        answers[number.min(answers.len() - 1)].clone()
    })
    .await
}

struct Bench {
    toolkit: Toolkit,
    history: Arc<MemoryHistory>,
}

impl Bench {
    fn new(settings: &[&str], reply: Reply) -> Self {
        Self::load(Toolkit::builder(), settings, reply)
    }

    fn load(builder: Builder, settings: &[&str], reply: Reply) -> Self {
        let options = settings.iter().fold(LoadOptions::new(), |options, setting| options.set(*setting));
        let history = Arc::new(MemoryHistory::new(Redactor::new()));
        let toolkit = builder
            .configuration(Configuration::load(options).unwrap())
            .approver(ScriptedApprover::new([reply]))
            .history(Arc::clone(&history))
            .build()
            .unwrap();
        Self { toolkit, history }
    }

    /// With a model, and the tool there.
    fn with(url: &str, settings: &[&str]) -> Self {
        let url = format!("plugins.llm-task.baseUrl={url}/v1/");
        let key = format!("plugins.llm-task.apiKey={KEY}");
        let mine =
            [url.as_str(), key.as_str(), "plugins.llm-task.model=small-1", "tools.alsoAllow=[\"llm_task\"]"];
        Self::new(&[&mine, settings].concat(), Reply::deny())
    }

    /// With everything allowed.
    fn ready(url: &str) -> Self {
        Self::with(url, &["permission.llm_task=allow"])
    }

    async fn toolbox(&self) -> Toolbox {
        self.toolkit.toolbox(&Caller::new()).await
    }

    async fn call(&self, arguments: Value) -> ToolResult {
        self.toolbox().await.call(ToolCall::new("1", "llm_task", arguments)).await
    }

    async fn error(&self, arguments: Value) -> ToolError {
        self.call(arguments).await.outcome.unwrap_err()
    }
}

fn schema() -> Value {
    json!({
        "type": "object", "required": ["mood"], "additionalProperties": false,
        "properties": { "mood": { "enum": ["good", "bad"] } },
    })
}

fn task() -> Value {
    json!({ "prompt": "Which mood?", "input": { "text": "I am happy" }, "schema": schema() })
}

#[tokio::test]
async fn a_task_is_answered_by_its_schema() {
    let server = endpoint(vec![completion("{\"mood\": \"good\"}", "stop")]).await;
    let result = Bench::ready(server.url()).call(task()).await;
    assert_eq!(serde_json::from_str::<Value>(&result.text()).unwrap(), json!({ "mood": "good" }));
    let output = result.outcome.unwrap();
    assert_eq!(output.details, Some(json!({ "mood": "good" })));
    assert_eq!(output.metadata["model"], "small-1");
    assert_eq!(output.metadata["usage"], json!({ "requests": 1, "promptTokens": 10, "completionTokens": 3 }));
    let body = server.requests()[0].json();
    assert_eq!(body["response_format"]["json_schema"]["schema"], schema());
    assert_eq!(body["max_completion_tokens"], 4_096);
    let messages = body["messages"].to_string();
    for part in ["Which mood?", "I am happy", "additionalProperties"] {
        assert!(messages.contains(part), "{part}: {messages}");
    }
}

#[tokio::test]
async fn endpoints_differ() {
    for (settings, with_schema, expected) in [
        (&[][..], false, json!({ "type": "json_object" })),
        (&["plugins.llm-task.responseFormat=json_object"], true, json!({ "type": "json_object" })),
        (&["plugins.llm-task.responseFormat=none"], true, Value::Null),
    ] {
        let server = endpoint(vec![completion("```json\n{\"mood\": \"bad\"}\n```", "stop")]).await;
        let bench = Bench::with(server.url(), &[&["permission.llm_task=allow"], settings].concat());
        let arguments = if with_schema { task() } else { json!({ "prompt": "x" }) };
        let output = bench.call(arguments).await.outcome.unwrap();
        assert_eq!(output.details, Some(json!({ "mood": "bad" })), "{settings:?}");
        assert_eq!(server.requests()[0].json()["response_format"], expected, "{settings:?}");
    }
}

#[tokio::test]
async fn a_model_is_told_once_what_is_wrong() {
    for first in ["{\"mood\": \"so so\"}", "Good, I think.", "{\"mood\": \"good\", \"why\": 1}", "", "[1]"] {
        let server =
            endpoint(vec![completion(first, "stop"), completion("{\"mood\": \"good\"}", "stop")]).await;
        let output = Bench::ready(server.url()).call(task()).await.outcome.unwrap();
        assert_eq!(output.details, Some(json!({ "mood": "good" })), "{first}");
        assert_eq!(
            output.metadata["usage"],
            json!({ "requests": 2, "promptTokens": 20, "completionTokens": 6 })
        );
        let messages = server.requests()[1].json()["messages"].clone();
        assert_eq!(messages.as_array().unwrap().len(), 4);
        assert_eq!(messages[2], json!({ "role": "assistant", "content": first }));
        assert!(messages[3]["content"].as_str().unwrap().contains("does not fit:\n- "), "{messages}");
    }
    let server = endpoint(vec![completion("{\"mood\": \"so so\"}", "stop")]).await;
    let error = Bench::ready(server.url()).error(task()).await;
    assert_eq!(error.kind(), ToolErrorKind::Failed, "{error}");
    assert!(error.message().contains("answered 2 times") && error.message().contains("/mood"), "{error}");
    assert_eq!(error.metadata("usage").unwrap()["requests"], 2);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn failures_are_told_with_what_helps() {
    use ToolErrorKind::{Failed, Unavailable};
    let after = |seconds| Retry::After(Duration::from_secs(seconds));
    let never = Retry::Never;
    let refusal = Answer::json(
        200,
        &json!({ "choices": [{ "message": { "content": null, "refusal": "I will not" }, "finish_reason": "stop" }] }),
    );
    for (answer, kind, retry, expected) in [
        (completion("{\"mood\": \"go", "length"), Failed, never, "plugins.llm-task.maxTokens"),
        (completion("", "content_filter"), Failed, never, "filter"),
        (refusal, Failed, never, "I will not"),
        (failed(401, "Incorrect API key provided"), Unavailable, never, "plugins.llm-task.apiKey"),
        (failed(404, "The model does not exist"), Unavailable, never, "plugins.llm-task.model"),
        (failed(400, "Invalid schema for response_format"), Failed, never, "plugins.llm-task.responseFormat"),
        (failed(413, "too large"), Failed, never, "smaller task"),
        (
            failed(429, "Rate limit reached").with_header("retry-after", "20"),
            Unavailable,
            after(20),
            "after 20 seconds",
        ),
        (failed(429, "Rate limit reached"), Unavailable, after(5), "after 5 seconds"),
        (failed(500, "The server had an error"), Unavailable, after(5), "had an error"),
        (
            Answer::json(503, &json!({ "error": "loading the model" })),
            Unavailable,
            after(5),
            "loading the model",
        ),
        (Answer::json(422, &json!({ "message": "no such field" })), Failed, never, "no such field"),
        (Answer::bytes(502, "<html>"), Unavailable, after(5), "says nothing of why"),
        (
            Answer::bytes(502, "<html>").with_header("retry-after", "9"),
            Unavailable,
            after(9),
            "after 9 seconds",
        ),
        (
            Answer::bytes(429, "<html>").with_header("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT"),
            Unavailable,
            after(86_400),
            "says nothing of why",
        ),
        (Answer::bytes(503, vec![b' '; (4 << 20) + 1]), Unavailable, after(5), "says nothing of why"),
        (Answer::bytes(200, "{}"), Unavailable, never, "cannot be read"),
        (Answer::json(200, &json!({ "choices": [] })), Unavailable, never, "no answer of the model"),
        (Answer::bytes(200, vec![b' '; (4 << 20) + 1]), Unavailable, never, "too long"),
        (Answer::bytes(307, "").with_header("location", "http://127.0.0.1:1/"), Failed, never, "307"),
        (failed(400, &"x\u{1b}".repeat(10_000)), Failed, never, "400"),
        (Answer::Close, Unavailable, Retry::Now, "cannot be reached"),
    ] {
        let server = endpoint(vec![answer]).await;
        let error = Bench::ready(server.url()).error(task()).await;
        assert_eq!((error.kind(), error.retry()), (kind, retry), "{error}");
        assert!(error.message().contains(expected), "{expected:?}: {error}");
        assert!(error.message().len() < 1_500 && !error.message().contains('\u{1b}'), "{error}");
        assert_eq!(server.requests().len(), 1, "{error}");
    }
    let error = Bench::ready("http://127.0.0.1:1").error(task()).await;
    assert_eq!((error.kind(), error.retry()), (Unavailable, Retry::Now), "{error}");
}

#[tokio::test]
async fn one_that_hangs_is_late_or_cancelled() {
    let server = Loopback::start(|_| Answer::Hang).await;
    let bench =
        Bench::with(server.url(), &["permission.llm_task=allow", "plugins.llm-task.timeoutSeconds=1"]);
    let error = bench.error(task()).await;
    assert_eq!((error.kind(), error.retry()), (ToolErrorKind::TimedOut, Retry::Now), "{error}");
    assert!(error.message().contains("within 1 seconds"), "{error}");
    let token = CancellationToken::new();
    let (toolbox, options) = (bench.toolbox().await, CallOptions::new().cancel(token.clone()));
    let call = toolbox.call_with(ToolCall::new("2", "llm_task", task()), options);
    let cancel = async {
        server.received(2).await;
        token.cancel();
    };
    let (result, ()) = tokio::join!(call, cancel);
    assert_eq!(result.outcome.unwrap_err().kind(), ToolErrorKind::Aborted);
}

#[tokio::test]
async fn what_cannot_be_a_task_is_never_sent() {
    let server = endpoint(vec![completion("{}", "stop")]).await;
    let bench = Bench::ready(server.url());
    for (arguments, expected) in [
        (json!({ "prompt": "" }), "/prompt"),
        (json!({ "prompt": "x".repeat(100_001) }), "/prompt"),
        (json!({ "prompt": "x", "schema": "string" }), "/schema"),
        (json!({ "prompt": "x", "schema": { "type": "nonsense" } }), "no JSON Schema"),
        (json!({ "prompt": "x", "schema": { "$ref": "#" } }), "leads to itself"),
        (json!({ "prompt": "x", "schema": { "$ref": "http://127.0.0.1:1/schema" } }), "leads out"),
        (json!({ "prompt": "x", "input": "y".repeat(600_000) }), "too long"),
        (json!({ "prompt": "x", "model": "other" }), "/model"),
    ] {
        let error = bench.error(arguments).await;
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments, "{expected}: {error}");
        assert!(error.message().contains(expected), "{expected}: {error}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn the_key_is_told_nowhere() {
    let hostile =
        Loopback::start(|request| failed(401, &format!("Incorrect key: {:?}", request.headers))).await;
    let refuses = Loopback::start(|_| {
        Answer::json(200, &json!({ "choices": [{ "message": { "refusal": format!("not with {KEY}") } }] }))
    })
    .await;
    let repeats = Loopback::start(|request| {
        let sent = request.header("authorization").unwrap();
        completion(&json!({ "mood": "good", "why": sent }).to_string(), "stop")
    })
    .await;
    // In JSON a letter can be written in other ways.
    let escapes = Loopback::start(|_| {
        let first = u32::from(KEY.as_bytes()[0]);
        let key = format!("\\u{first:04x}{}", &KEY[1..]);
        Answer::bytes(401, format!(r#"{{"error":{{"message":"{key}"}}}}"#))
    })
    .await;
    for url in
        [hostile.url(), refuses.url(), repeats.url(), escapes.url(), "http://127.0.0.1:1", "http://[::"]
    {
        // Of a service that the host brings the toolkit's redactor knows no secret: what is told must be clean by itself.
        let settings = LlmTaskSettings {
            base_url: url.to_owned(),
            model: Some("small-1".to_owned()),
            api_key: Some(Secret::new(KEY)),
            response_format: ResponseFormat::JsonSchema,
            max_tokens: 10,
            timeout_seconds: 1,
        };
        let model = Model::new(&settings).unwrap();
        let shown = format!("{model:?} {settings:?}");
        let builder = Toolkit::builder().service(model);
        let allowed = ["tools.alsoAllow=[\"llm_task\"]", "permission.llm_task=allow"];
        let bench = Bench::load(builder, &allowed, Reply::deny());
        let mut events = bench.toolkit.events();
        let result = bench.call(json!({ "prompt": "Which mood?" })).await;
        assert_eq!(result.is_error(), url != repeats.url(), "{url}: {}", result.text());
        let source = result.outcome.as_ref().err().map(|error| format!("{error} {:?}", error.source()));
        let history = bench.history.calls(&HistoryQuery::new());
        let seen: Vec<_> = std::iter::from_fn(|| events.try_next()).collect();
        assert!(history.len() == 1 && !seen.is_empty());
        let json = serde_json::to_string(&result).unwrap();
        let told = format!("{result:?} {source:?} {json} {} {history:?} {seen:?} {shown}", result.text());
        assert!(!told.contains(KEY), "{url}: {told}");
    }
    let sent = format!("Bearer {KEY}");
    assert_eq!(hostile.requests()[0].header("authorization"), Some(sent.as_str()));
}

#[tokio::test]
async fn what_is_not_configured_is_said() {
    let there = ["tools.alsoAllow=[\"llm_task\"]", "permission.llm_task=allow"];
    for (settings, expected) in [
        (&[][..], "set `plugins.llm-task.model`"),
        (&["plugins.llm-task.model=x", "plugins.llm-task.apiKey=two words"], "is no key"),
    ] {
        let error = Bench::new(&[&there, settings].concat(), Reply::deny()).error(task()).await;
        assert_eq!(error.kind(), ToolErrorKind::Unavailable, "{error}");
        assert!(error.message().contains(expected) && !error.message().contains("two words"), "{error}");
    }
    for wrong in
        ["model=", "baseUrl=x", "maxTokens=0", "timeoutSeconds=601", "responseFormat=xml", "temperature=1"]
    {
        assert!(
            Configuration::load(LoadOptions::new().set(format!("plugins.llm-task.{wrong}"))).is_err(),
            "{wrong}"
        );
    }
    // A server of one's own wants no key, and gets none.
    let server = Loopback::start(|_| completion("{}", "stop")).await;
    let url = format!("plugins.llm-task.baseUrl={}", server.url());
    let bench = Bench::new(&[&there[..], &[&url, "plugins.llm-task.model=x"]].concat(), Reply::deny());
    assert!(!bench.call(json!({ "prompt": "x" })).await.is_error());
    assert_eq!(server.requests()[0].header("authorization"), None);
}

#[tokio::test]
async fn it_is_optional_and_asked_for() {
    let names = async |settings: &[&str]| -> Vec<String> {
        let toolbox = Bench::new(settings, Reply::deny()).toolbox().await;
        toolbox.definitions().into_iter().map(|tool| tool.name).collect()
    };
    for gone in
        [&[][..], &["tools.allow=[\"*\"]"], &["tools.alsoAllow=[\"llm_task\"]", "tools.deny=[\"llm-task\"]"]]
    {
        assert!(names(gone).await.is_empty(), "{gone:?}");
    }
    for there in ["llm_task", "llm-task", "group:plugins"] {
        assert_eq!(names(&[&format!("tools.alsoAllow=[\"{there}\"]")]).await, ["llm_task"], "{there}");
    }
    let server = endpoint(vec![completion("{}", "stop")]).await;
    let bench = Bench::with(server.url(), &[]);
    let tool = bench.toolkit.tool("llm_task").unwrap();
    assert_eq!(*tool.source(), Source::plugin("llm-task"));
    for bench in [bench, Bench::with(server.url(), &["permission.llm_task=deny"])] {
        assert_eq!(bench.error(json!({ "prompt": "x" })).await.kind(), ToolErrorKind::Denied);
    }
    assert!(server.requests().is_empty());
}

/// A model stumbles over nothing in these tools.
#[test]
fn lint_finds_nothing() {
    let toolkit = Toolkit::builder().build().unwrap();
    assert!(toolkit.tools().len() >= 1, "{toolkit}");
    let findings = Lint::new().check(&toolkit.tools());
    assert!(findings.is_empty(), "{findings:#?}");
}
