//! Polls and pins through the call path, against a server that knows the Bot API as it is documented.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{
    Answer as Reply, Builder, CallOptions, CancellationToken, Configuration, HistoryQuery, LoadOptions,
    MemoryHistory, Redactor, Retry, ScriptedApprover, Secret, Source, ToolErrorKind, Toolbox,
};
use toolkit_loopback::{Answer, Loopback, Request};
use toolkit_telegram::{BotApi, TelegramSettings};

toolkit::link!(toolkit_telegram);

const TOKEN: &str = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";
const CHAT: &str = "-1001234567890";

/// What the Bot API documents of a method's body, with nothing else in it.
fn documented(method: &str) -> Option<Value> {
    let chat =
        json!({ "anyOf": [{ "type": "integer" }, { "type": "string", "pattern": "^@[A-Za-z]\\w{3,}$" }] });
    match method {
        "sendPoll" => Some(json!({
            "type": "object",
            "required": ["chat_id", "question", "options"],
            "additionalProperties": false,
            "properties": {
                "chat_id": chat,
                "message_thread_id": { "type": "integer" },
                "question": { "type": "string", "minLength": 1, "maxLength": 300 },
                "options": {
                    "type": "array", "minItems": 1, "maxItems": 12,
                    "items": {
                        "type": "object", "required": ["text"], "additionalProperties": false,
                        "properties": { "text": { "type": "string", "minLength": 1, "maxLength": 100 } },
                    },
                },
                "is_anonymous": { "type": "boolean" },
                "type": { "enum": ["regular", "quiz"] },
                "allows_multiple_answers": { "type": "boolean" },
                "correct_option_ids": { "type": "array", "items": { "type": "integer", "minimum": 0 }, "minItems": 1 },
                "explanation": { "type": "string", "maxLength": 200 },
                "open_period": { "type": "integer", "minimum": 5, "maximum": 2_628_000 },
                "disable_notification": { "type": "boolean" },
            },
        })),
        "pinChatMessage" => Some(json!({
            "type": "object",
            "required": ["chat_id", "message_id"],
            "additionalProperties": false,
            "properties": {
                "chat_id": chat,
                "message_id": { "type": "integer" },
                "disable_notification": { "type": "boolean" },
            },
        })),
        _ => None,
    }
}

fn refused(code: u16, description: &str) -> Answer {
    Answer::json(code, &json!({ "ok": false, "error_code": code, "description": description }))
}

/// The Bot API for one bot, which is a member of one chat.
fn bot_api(request: &Request) -> Answer {
    let Some(method) = request.path.strip_prefix(&format!("/bot{TOKEN}/")) else {
        return refused(404, "Not Found");
    };
    let Some(schema) = documented(method) else { return refused(404, "Not Found") };
    let body = request.json();
    if request.method != "POST" || request.header("content-type") != Some("application/json") {
        return refused(400, "Bad Request: no parameters");
    }
    if let Err(error) = jsonschema::validate(&schema, &body) {
        return refused(400, &format!("Bad Request: {error}"));
    }
    let chat = match &body["chat_id"] {
        Value::String(name) if name == "@toolkit_news" => -1_001_234_567_890_i64,
        Value::Number(id) if id.to_string() == CHAT => -1_001_234_567_890,
        _ => return refused(400, "Bad Request: chat not found"),
    };
    if method == "pinChatMessage" {
        return match body["message_id"].as_i64() {
            Some(7) => Answer::json(200, &json!({ "ok": true, "result": true })),
            Some(8) => refused(400, "Bad Request: not enough rights to manage pinned messages in the chat"),
            _ => refused(400, "Bad Request: message to pin not found"),
        };
    }
    let options: Vec<Value> = body["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| json!({ "text": option["text"], "voter_count": 0 }))
        .collect();
    Answer::json(
        200,
        &json!({ "ok": true, "result": {
        "message_id": 42, "date": 1_790_000_000, "chat": { "id": chat, "type": "supergroup", "title": "Team" },
        "poll": { "id": "5253", "question": body["question"], "options": options, "total_voter_count": 0 },
    } }),
    )
}

struct Bench {
    toolkit: Toolkit,
    history: Arc<MemoryHistory>,
}

impl Bench {
    fn new(url: &str, settings: &[&str], reply: Reply) -> Self {
        let options = LoadOptions::new().set(format!("plugins.telegram.baseUrl={url}"));
        Self::load(Toolkit::builder(), options, settings, reply)
    }

    /// With what the host provides.
    fn of(builder: Builder, settings: &[&str], reply: Reply) -> Self {
        Self::load(builder, LoadOptions::new(), settings, reply)
    }

    fn load(builder: Builder, options: LoadOptions, settings: &[&str], reply: Reply) -> Self {
        let options = settings.iter().fold(options, |options, setting| options.set(*setting));
        let history = Arc::new(MemoryHistory::new(Redactor::new()));
        let toolkit = builder
            .configuration(Configuration::load(options).unwrap())
            .approver(ScriptedApprover::new([reply]))
            .history(Arc::clone(&history))
            .build()
            .unwrap();
        Self { toolkit, history }
    }

    /// With a bot, and everything allowed.
    fn ready(url: &str) -> Self {
        Self::new(url, &[&token(), "permission.message=allow"], Reply::deny())
    }

    async fn toolbox(&self) -> Toolbox {
        self.toolkit.toolbox(&Caller::new().with_channel("telegram").with_conversation(CHAT)).await
    }

    async fn call(&self, name: &str, arguments: Value) -> ToolResult {
        self.toolbox().await.call(ToolCall::new("1", name, arguments)).await
    }

    async fn error(&self, name: &str, arguments: Value) -> ToolError {
        self.call(name, arguments).await.outcome.unwrap_err()
    }
}

fn token() -> String {
    format!("plugins.telegram.token={TOKEN}")
}

fn poll() -> Value {
    json!({ "question": "Where?", "options": ["Here", "There"] })
}

fn with(mut value: Value, more: Value) -> Value {
    let Value::Object(more) = more else { unreachable!("an object") };
    value.as_object_mut().unwrap().extend(more);
    value
}

#[tokio::test]
async fn polls_are_sent_as_they_are_documented() {
    let server = Loopback::start(bot_api).await;
    let bench = Bench::ready(server.url());
    let many: Vec<String> = (0..12).map(|number| format!("{number}{}", "x".repeat(98))).collect();
    for (arguments, expected) in [
        (
            poll(),
            json!({ "chat_id": -1_001_234_567_890_i64, "question": "Where?", "type": "regular", "is_anonymous": true }),
        ),
        (with(poll(), json!({ "chat_id": "@toolkit_news" })), json!({ "chat_id": "@toolkit_news" })),
        (json!({ "question": "ü".repeat(300), "options": many }), json!({ "question": "ü".repeat(300) })),
        (json!({ "question": "One?", "options": ["Yes"] }), json!({ "options": [{ "text": "Yes" }] })),
        (
            with(poll(), json!({ "type": "quiz", "correct_option_ids": [1], "explanation": "a\nb\nc" })),
            json!({ "type": "quiz", "correct_option_ids": [1], "explanation": "a\nb\nc" }),
        ),
        (
            with(
                poll(),
                json!({ "type": "quiz", "correct_option_ids": [0, 1], "allows_multiple_answers": true }),
            ),
            json!({ "correct_option_ids": [0, 1], "allows_multiple_answers": true }),
        ),
        (
            with(
                poll(),
                json!({ "open_period": 2_628_000, "is_anonymous": false, "disable_notification": true, "message_thread_id": 3 }),
            ),
            json!({ "open_period": 2_628_000, "is_anonymous": false, "disable_notification": true, "message_thread_id": 3 }),
        ),
    ] {
        let result = bench.call("telegram_send_poll", arguments.clone()).await;
        assert!(!result.is_error(), "{arguments}: {}", result.text());
        let sent: Value = serde_json::from_str(&result.text()).unwrap();
        assert_eq!(sent, json!({ "message_id": 42, "chat_id": -1_001_234_567_890_i64, "poll_id": "5253" }));
        let body = server.requests().last().unwrap().json();
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&body[key], value, "{key} of {body}");
        }
    }
}

#[tokio::test]
async fn what_telegram_would_refuse_is_never_sent() {
    let server = Loopback::start(bot_api).await;
    let bench = Bench::ready(server.url());
    let quiz = |more: Value| with(with(poll(), json!({ "type": "quiz" })), more);
    for (name, arguments, expected) in [
        ("telegram_send_poll", with(poll(), json!({ "question": "" })), "/question"),
        ("telegram_send_poll", with(poll(), json!({ "question": "x".repeat(301) })), "/question"),
        ("telegram_send_poll", with(poll(), json!({ "question": " \n" })), "`question` is blank"),
        ("telegram_send_poll", with(poll(), json!({ "options": [] })), "/options"),
        ("telegram_send_poll", with(poll(), json!({ "options": vec!["x"; 13] })), "/options"),
        ("telegram_send_poll", with(poll(), json!({ "options": ["a", ""] })), "/options/1"),
        ("telegram_send_poll", with(poll(), json!({ "options": ["a", "x".repeat(101)] })), "/options/1"),
        ("telegram_send_poll", with(poll(), json!({ "options": ["a", "\t"] })), "`options[1]` is blank"),
        ("telegram_send_poll", with(poll(), json!({ "open_period": 4 })), "/open_period"),
        ("telegram_send_poll", with(poll(), json!({ "open_period": 2_628_001 })), "/open_period"),
        ("telegram_send_poll", with(poll(), json!({ "correct_option_ids": [0] })), "is for a quiz"),
        ("telegram_send_poll", with(poll(), json!({ "explanation": "x" })), "is for a quiz"),
        ("telegram_send_poll", quiz(json!({})), "a quiz needs `correct_option_ids`"),
        ("telegram_send_poll", quiz(json!({ "correct_option_ids": [2] })), "the last one is 1"),
        ("telegram_send_poll", quiz(json!({ "correct_option_ids": [12] })), "/correct_option_ids/0"),
        ("telegram_send_poll", quiz(json!({ "correct_option_ids": [1, 0] })), "must go up"),
        ("telegram_send_poll", quiz(json!({ "correct_option_ids": [1, 1] })), "must go up"),
        ("telegram_send_poll", quiz(json!({ "correct_option_ids": [0, 1] })), "allows_multiple_answers"),
        (
            "telegram_send_poll",
            quiz(json!({ "correct_option_ids": [0], "explanation": "x".repeat(201) })),
            "/explanation",
        ),
        (
            "telegram_send_poll",
            quiz(json!({ "correct_option_ids": [0], "explanation": "a\nb\nc\nd" })),
            "2 line feeds",
        ),
        ("telegram_send_poll", with(poll(), json!({ "chat_id": "../x" })), "/chat_id"),
        ("telegram_send_poll", with(poll(), json!({ "chat_id": "0" })), "/chat_id"),
        ("telegram_send_poll", with(poll(), json!({ "chat_id": "@a" })), "/chat_id"),
        ("telegram_send_poll", with(poll(), json!({ "unknown": 1 })), "/unknown"),
        ("telegram_pin_message", json!({}), "/message_id"),
        ("telegram_pin_message", json!({ "message_id": 0 }), "/message_id"),
    ] {
        let error = bench.error(name, arguments.clone()).await;
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments, "{arguments}: {error}");
        assert!(error.message().contains(expected), "{arguments}: {error}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn messages_are_pinned() {
    let server = Loopback::start(bot_api).await;
    let bench = Bench::ready(server.url());
    let arguments = json!({ "message_id": 7, "disable_notification": true });
    let result = bench.call("telegram_pin_message", arguments).await;
    assert_eq!(result.text(), format!("Pinned the message 7 in {CHAT}."));
    let body = server.requests()[0].json();
    assert_eq!(
        body,
        json!({ "chat_id": -1_001_234_567_890_i64, "message_id": 7, "disable_notification": true })
    );
    for (message, kind, expected) in [
        (8, ToolErrorKind::Denied, "not enough rights"),
        (9, ToolErrorKind::NotFound, "message to pin not found"),
    ] {
        let error = bench.error("telegram_pin_message", json!({ "message_id": message })).await;
        assert_eq!((error.kind(), error.retry()), (kind, Retry::Never), "{error}");
        assert!(error.message().contains(expected), "{error}");
    }
    let elsewhere = json!({ "message_id": 7, "chat_id": "5" });
    assert_eq!(bench.error("telegram_pin_message", elsewhere).await.kind(), ToolErrorKind::NotFound);
}

#[tokio::test]
async fn failures_are_told_with_what_helps() {
    use ToolErrorKind::{Denied, Failed, NotFound, Unavailable};
    let with_parameters = |code: u16, description: &str, parameters: Value| {
        Answer::json(
            code,
            &json!({ "ok": false, "error_code": code, "description": description, "parameters": parameters }),
        )
    };
    let after = |seconds| Retry::After(Duration::from_secs(seconds));
    for (answer, kind, retry, expected) in [
        (
            with_parameters(429, "Too Many Requests: retry after 37", json!({ "retry_after": 37 })),
            Unavailable,
            after(37),
            "try again after 37 seconds",
        ),
        (refused(429, "Too Many Requests"), Unavailable, after(1), "Nothing was done"),
        (
            with_parameters(
                400,
                "Bad Request: group chat was upgraded to a supergroup chat",
                json!({ "migrate_to_chat_id": -1_009_999_i64 }),
            ),
            Failed,
            Retry::Never,
            "`chat_id` \"-1009999\"",
        ),
        (refused(401, "Unauthorized"), Unavailable, Retry::Never, "plugins.telegram.token"),
        (refused(404, "Not Found"), Unavailable, Retry::Never, "plugins.telegram.token"),
        (
            refused(403, "Forbidden: bot was kicked from the supergroup chat"),
            Denied,
            Retry::Never,
            "bot was kicked",
        ),
        (refused(403, "Forbidden: bot was blocked by the user"), Denied, Retry::Never, "blocked by the user"),
        (refused(400, "Bad Request: chat not found"), NotFound, Retry::Never, "chat not found"),
        (refused(400, "Bad Request: have no rights to send a message"), Denied, Retry::Never, "no rights"),
        (
            refused(400, "Bad Request: polls can't be sent to private chats"),
            Failed,
            Retry::Never,
            "private chats",
        ),
        (refused(500, "Internal Server Error"), Unavailable, Retry::Never, "It may have been done"),
        (Answer::bytes(502, "<html>Bad Gateway</html>"), Unavailable, Retry::Never, "HTTP status 502"),
        (Answer::bytes(200, "{\"ok\":true}"), Unavailable, Retry::Never, "no result"),
        (Answer::bytes(200, "[]"), Unavailable, Retry::Never, "cannot be read"),
        (Answer::bytes(200, vec![b' '; (1 << 20) + 1]), Unavailable, Retry::Never, "too long"),
        (
            Answer::bytes(302, "").with_header("location", "http://127.0.0.1:1/"),
            Unavailable,
            Retry::Never,
            "HTTP status 302",
        ),
        (refused(400, &"x\u{1b}".repeat(10_000)), Failed, Retry::Never, "Nothing was done"),
        (Answer::Close, Unavailable, Retry::Never, "It may have been done"),
    ] {
        let server = Loopback::start(move |_| answer.clone()).await;
        let bench = Bench::ready(server.url());
        let error = bench.error("telegram_send_poll", poll()).await;
        assert_eq!((error.kind(), error.retry()), (kind, retry), "{error}");
        assert!(error.message().contains(expected), "{expected:?}: {error}");
        assert!(error.message().len() < 1_000 && !error.message().contains('\u{1b}'), "{error}");
        assert_eq!(server.requests().len(), 1, "one request, whatever comes of it: {error}");
    }
    let bench = Bench::ready("http://127.0.0.1:1");
    let error = bench.error("telegram_send_poll", poll()).await;
    assert_eq!((error.kind(), error.retry()), (Unavailable, Retry::Now), "{error}");
    assert!(error.message().contains("Nothing was sent"), "{error}");
}

#[tokio::test]
async fn one_that_hangs_is_late_or_cancelled() {
    let server = Loopback::start(|_| Answer::Hang).await;
    let bench = Bench::new(
        server.url(),
        &[&token(), "permission.message=allow", "plugins.telegram.timeoutSeconds=1"],
        Reply::deny(),
    );
    let error = bench.error("telegram_send_poll", poll()).await;
    assert_eq!((error.kind(), error.retry()), (ToolErrorKind::TimedOut, Retry::Never), "{error}");
    assert!(error.message().contains("within 1 seconds. It may have been done"), "{error}");

    let token = CancellationToken::new();
    let (toolbox, options) = (bench.toolbox().await, CallOptions::new().cancel(token.clone()));
    let call = toolbox.call_with(ToolCall::new("2", "telegram_send_poll", poll()), options);
    let cancel = async {
        server.received(2).await;
        token.cancel();
    };
    let (result, ()) = tokio::join!(call, cancel);
    assert_eq!(result.outcome.unwrap_err().kind(), ToolErrorKind::Aborted);
}

#[tokio::test]
async fn the_token_is_told_nowhere() {
    let hostile = |request: &Request| {
        let path = request.path.clone();
        Answer::json(
            400,
            &json!({ "ok": false, "error_code": 400, "description": format!("no such thing: {path}") }),
        )
    };
    let server = Loopback::start(hostile).await;
    let silent = Loopback::start(|_| Answer::Hang).await;
    let cut = Loopback::start(|_| Answer::Close).await;
    for url in [
        server.url(),
        silent.url(),
        cut.url(),
        "http://127.0.0.1:1",
        "http://[::",
        "http://no such host",
        "https://127.0.0.1:1",
    ] {
        // Of a service that the host brings the toolkit's redactor knows no secret: what is told must be clean by itself.
        let settings = TelegramSettings {
            token: Some(Secret::new(TOKEN)),
            base_url: url.to_owned(),
            timeout_seconds: 1,
        };
        let secret = Bench::of(
            Toolkit::builder().service(BotApi::new(&settings).unwrap()),
            &["permission.message=allow"],
            Reply::deny(),
        );
        let mut events = secret.toolkit.events();
        let result = secret.call("telegram_send_poll", poll()).await;
        let error = result.outcome.unwrap_err();
        let history = secret.history.calls(&HistoryQuery::new());
        let seen: Vec<_> = std::iter::from_fn(|| events.try_next()).collect();
        assert!(history.len() == 1 && !seen.is_empty());
        let (source, json) = (error.source(), serde_json::to_string(&error).unwrap());
        let told = format!("{error} {error:?} {source:?} {json} {history:?} {seen:?} {:?}", secret.toolkit);
        for part in [TOKEN, "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"] {
            assert!(!told.contains(part), "{url}: {told}");
        }
    }
    assert!(server.requests()[0].path.contains(TOKEN), "it was sent, to where it belongs");
}

#[tokio::test]
async fn what_is_not_configured_is_said() {
    for (settings, expected) in [
        (vec![], "set `plugins.telegram.token`"),
        (vec!["plugins.telegram.token=secret-nonsense"], "is no token of a bot"),
        (vec!["plugins.telegram.token=1:a/../../x"], "is no token of a bot"),
    ] {
        let bench = Bench::new(
            "http://127.0.0.1:1",
            &[&settings[..], &["permission.message=allow"]].concat(),
            Reply::deny(),
        );
        let error = bench.error("telegram_send_poll", poll()).await;
        assert_eq!(error.kind(), ToolErrorKind::Unavailable, "{error}");
        assert!(error.message().contains(expected), "{error}");
        assert!(!error.message().contains("nonsense") && !error.message().contains("a/.."), "{error}");
    }
    for wrong in
        ["plugins.telegram.baseUrl=ftp://x", "plugins.telegram.timeoutSeconds=0", "plugins.telegram.tokn=x"]
    {
        assert!(Configuration::load(LoadOptions::new().set(wrong)).is_err(), "{wrong}");
    }
    // Where the call came from is not known, or is no chat.
    let server = Loopback::start(bot_api).await;
    let bench = Bench::ready(server.url());
    for (caller, kind) in [
        (Caller::new().with_channel("telegram"), ToolErrorKind::InvalidArguments),
        (Caller::new().with_channel("telegram").with_conversation("a/b"), ToolErrorKind::Failed),
    ] {
        let toolbox = bench.toolkit.toolbox(&caller).await;
        let error = toolbox.call(ToolCall::new("1", "telegram_send_poll", poll())).await.outcome.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains("give `chat_id`"), "{error}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_person_is_asked_before_anything_is_sent() {
    let server = Loopback::start(bot_api).await;
    for (settings, reply, expected) in [
        (&[][..], Reply::deny_saying("not now"), false),
        (&[], Reply::allow(), true),
        (&["permission.message=deny"], Reply::allow(), false),
        (&["permission={message:[{match:'telegram:-1001234567890',do:'allow'}]}"], Reply::deny(), true),
        (&["permission={message:[{match:'telegram:5',do:'allow'}]}"], Reply::deny(), false),
    ] {
        let before = server.requests().len();
        let bench = Bench::new(server.url(), &[&[token().as_str()], settings].concat(), reply);
        let mut asks = bench.toolkit.events();
        let result = bench.call("telegram_send_poll", poll()).await;
        assert_eq!(!result.is_error(), expected, "{settings:?}: {}", result.text());
        assert_eq!(server.requests().len() - before, usize::from(expected), "{settings:?}");
        if !expected {
            assert_eq!(result.outcome.unwrap_err().kind(), ToolErrorKind::Denied);
        }
        let told = format!("{:?}", std::iter::from_fn(|| asks.try_next()).collect::<Vec<_>>());
        if settings.is_empty() {
            for part in
                ["Send a poll to this conversation on Telegram, -1001234567890", "Where?", "Here\\nThere"]
            {
                assert!(told.contains(part), "{part}: {told}");
            }
        }
    }
}

#[tokio::test]
async fn it_is_there_in_its_channel_alone() {
    let bench = Bench::ready("http://127.0.0.1:1");
    for name in ["telegram_send_poll", "telegram_pin_message"] {
        let tool = bench.toolkit.tool(name).unwrap();
        assert_eq!((tool.plugin_id(), tool.source()), (Some("telegram"), &Source::channel("telegram")));
    }
    let names = async |caller: &Caller, settings: &[&str]| -> Vec<String> {
        let bench = Bench::new("http://127.0.0.1:1", settings, Reply::deny());
        let toolbox = bench.toolkit.toolbox(caller).await;
        toolbox.definitions().into_iter().map(|tool| tool.name).collect()
    };
    let here = Caller::new().with_channel("telegram");
    assert_eq!(names(&here, &[]).await, ["telegram_pin_message", "telegram_send_poll"]);
    for elsewhere in [Caller::new(), Caller::new().with_channel("whatsapp")] {
        assert!(names(&elsewhere, &[]).await.is_empty(), "{elsewhere:?}");
    }
    assert_eq!(names(&here, &["tools.deny=[\"telegram_pin_message\"]"]).await, ["telegram_send_poll"]);
    for gone in [
        "tools.deny=[\"telegram\"]",
        "tools.deny=[\"group:plugins\"]",
        "plugins.telegram.enabled=false",
        "channels.telegram.tools.deny=[\"*\"]",
    ] {
        assert!(names(&here, &[gone]).await.is_empty(), "{gone}");
    }
}
