//! Contacts and places through the call path, against a server that knows the Cloud API as it is documented.

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
use toolkit_whatsapp::{CloudApi, WhatsAppSettings};

toolkit::link!(toolkit_whatsapp);

const TOKEN: &str = "EAAJBtestTokenZC82CW7iR2LiaZBwUHS4Y7";
const NUMBER_ID: &str = "106540352242922";
/// As webhooks name a person.
const PERSON: &str = "16505551234";

/// What the Cloud API documents of a message, with nothing else in it.
fn documented() -> Value {
    let text = json!({ "type": "string", "minLength": 1 });
    let texts = |keys: &[&str]| -> Value {
        keys.iter().map(|key| ((*key).to_owned(), text.clone())).collect::<serde_json::Map<_, _>>().into()
    };
    let list = |keys: &[&str]| json!({ "type": "array", "minItems": 1, "items": { "type": "object", "additionalProperties": false, "properties": texts(keys) } });
    let contact = json!({
        "type": "object", "required": ["name"], "additionalProperties": false,
        "properties": {
            "name": {
                "type": "object", "required": ["formatted_name"], "minProperties": 2, "additionalProperties": false,
                "properties": texts(&["formatted_name", "first_name", "last_name", "middle_name", "suffix", "prefix"]),
            },
            "phones": list(&["phone", "type", "wa_id"]),
            "emails": list(&["email", "type"]),
            "org": { "type": "object", "additionalProperties": false, "properties": texts(&["company", "department", "title"]) },
            "addresses": list(&["street", "city", "state", "zip", "country", "country_code", "type"]),
            "urls": list(&["url", "type"]),
            "birthday": { "type": "string", "pattern": "^\\d{4}-\\d{2}-\\d{2}$" },
        },
    });
    let message = |kind: &str, content: Value| {
        json!({
            "type": "object", "additionalProperties": false,
            "required": ["messaging_product", "recipient_type", "to", "type", kind],
            "properties": {
                "messaging_product": { "const": "whatsapp" },
                "recipient_type": { "const": "individual" },
                "to": { "type": "string", "pattern": "^\\+[1-9]\\d{6,14}$" },
                "context": { "type": "object", "required": ["message_id"], "additionalProperties": false, "properties": texts(&["message_id"]) },
                "type": { "const": kind },
                kind: content,
            },
        })
    };
    let degrees = json!({ "type": "string", "pattern": "^-?\\d{1,3}(\\.\\d+)?$" });
    let location = json!({
        "type": "object", "required": ["latitude", "longitude"], "additionalProperties": false,
        "properties": { "latitude": degrees, "longitude": degrees, "name": text, "address": text },
    });
    json!({ "anyOf": [
        message("contacts", json!({ "type": "array", "minItems": 1, "maxItems": 257, "items": contact })),
        message("location", location),
    ] })
}

fn refused(status: u16, code: i64, message: &str, details: &str) -> Answer {
    Answer::json(
        status,
        &json!({ "error": {
        "message": format!("(#{code}) {message}"), "type": "OAuthException", "code": code, "error_subcode": 2_494_055,
        "error_data": { "messaging_product": "whatsapp", "details": details }, "fbtrace_id": "Az8or2yhqkZfEZ-_4Qn_Bam",
    } }),
    )
}

/// The Cloud API for one business phone number.
fn cloud_api(request: &Request) -> Answer {
    if request.path != format!("/v25.0/{NUMBER_ID}/messages") || request.method != "POST" {
        return refused(400, 100, "Unsupported request", "there is no such object");
    }
    if request.header("authorization") != Some(&format!("Bearer {TOKEN}")) {
        return refused(401, 190, "Invalid OAuth access token", "cannot parse access token");
    }
    let body = request.json();
    if request.header("content-type") != Some("application/json") {
        return refused(400, 100, "Invalid parameter", "not JSON");
    }
    if let Err(error) = jsonschema::validate(&documented(), &body) {
        return refused(400, 100, "Invalid parameter", &error.to_string());
    }
    let to = body["to"].as_str().unwrap();
    Answer::json(
        200,
        &json!({
            "messaging_product": "whatsapp",
            "contacts": [{ "input": to, "wa_id": to.trim_start_matches('+') }],
            "messages": [{ "id": "wamid.HBgLMTY0NjcwNDM1OTUVAgARGBI1RjQyNUE3NEYxMzAzMzQ5MkEA" }],
        }),
    )
}

struct Bench {
    toolkit: Toolkit,
    history: Arc<MemoryHistory>,
}

impl Bench {
    fn new(url: &str, settings: &[&str], reply: Reply) -> Self {
        let options = LoadOptions::new().set(format!("plugins.whatsapp.baseUrl={url}"));
        Self::load(Toolkit::builder(), options, settings, reply)
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

    /// With a number, and these settings.
    fn with(url: &str, settings: &[&str], reply: Reply) -> Self {
        let token = format!("plugins.whatsapp.token={TOKEN}");
        let number = format!("plugins.whatsapp.phoneNumberId='{NUMBER_ID}'");
        Self::new(url, &[&[token.as_str(), number.as_str()], settings].concat(), reply)
    }

    /// With a number, and everything allowed.
    fn ready(url: &str) -> Self {
        Self::with(url, &["permission.message=allow"], Reply::deny())
    }

    async fn toolbox(&self) -> Toolbox {
        self.toolkit.toolbox(&Caller::new().with_channel("whatsapp").with_conversation(PERSON)).await
    }

    async fn call(&self, name: &str, arguments: Value) -> ToolResult {
        self.toolbox().await.call(ToolCall::new("1", name, arguments)).await
    }

    async fn error(&self, name: &str, arguments: Value) -> ToolError {
        self.call(name, arguments).await.outcome.unwrap_err()
    }
}

fn place() -> Value {
    json!({ "latitude": 37.442_162_518_686_83, "longitude": -122.161_535_820_493_94, "name": "Philz Coffee" })
}

fn with(mut value: Value, more: Value) -> Value {
    let Value::Object(more) = more else { unreachable!("an object") };
    value.as_object_mut().unwrap().extend(more);
    value
}

fn contact(more: Value) -> Value {
    json!({ "contacts": [with(json!({ "name": { "formatted_name": "Barbara J. Johnson" } }), more)] })
}

#[tokio::test]
async fn messages_are_sent_as_they_are_documented() {
    let server = Loopback::start(cloud_api).await;
    let bench = Bench::ready(server.url());
    let whole = json!({ "contacts": [{
        "name": { "formatted_name": "Dr. Barbara J. Johnson", "first_name": "Barbara", "last_name": "Johnson", "middle_name": "J.", "prefix": "Dr.", "suffix": "Esq." },
        "phones": [{ "phone": "+16505559999", "type": "WORK", "wa_id": "16505559999" }, { "phone": "555" }],
        "emails": [{ "email": "barbara@example.com", "type": "WORK" }],
        "org": { "company": "Lucky Shrub", "department": "Legal", "title": "Lead Counsel" },
        "addresses": [{ "street": "1 Lucky Shrub Way", "city": "Menlo Park", "state": "CA", "zip": "94025", "country": "United States", "country_code": "US", "type": "WORK" }],
        "urls": [{ "url": "https://www.luckyshrub.com", "type": "WORK" }],
        "birthday": "2000-02-29",
    }], "reply_to": "wamid.X" });
    let many = json!({ "contacts": vec![json!({ "name": { "formatted_name": "A" } }); 257] });
    for (name, arguments, expected) in [
        (
            "whatsapp_send_location",
            place(),
            json!({
                "to": "+16505551234", "type": "location",
                "location": { "latitude": "37.44216251868683", "longitude": "-122.16153582049394", "name": "Philz Coffee" },
            }),
        ),
        (
            "whatsapp_send_location",
            json!({ "latitude": -90, "longitude": 180, "to": "4915112345678", "reply_to": "wamid.Y" }),
            json!({
                "to": "+4915112345678", "context": { "message_id": "wamid.Y" }, "location": { "latitude": "-90", "longitude": "180" },
            }),
        ),
        (
            "whatsapp_send_location",
            json!({ "latitude": 1e-7, "longitude": 0, "address": "Nowhere" }),
            json!({
                "location": { "latitude": "0.0000001", "longitude": "0", "address": "Nowhere" },
            }),
        ),
        (
            "whatsapp_send_contact",
            whole.clone(),
            json!({
                "type": "contacts", "contacts": whole["contacts"], "context": { "message_id": "wamid.X" },
            }),
        ),
        (
            "whatsapp_send_contact",
            contact(json!({})),
            json!({
                "contacts": [{ "name": { "formatted_name": "Barbara J. Johnson", "first_name": "Barbara J. Johnson" } }],
            }),
        ),
        ("whatsapp_send_contact", many, json!({ "to": "+16505551234" })),
    ] {
        let result = bench.call(name, arguments.clone()).await;
        assert!(!result.is_error(), "{arguments}: {}", result.text());
        let sent: Value = serde_json::from_str(&result.text()).unwrap();
        assert!(sent["message_id"].as_str().unwrap().starts_with("wamid."), "{sent}");
        let body = server.requests().last().unwrap().json();
        assert_eq!(sent["wa_id"], body["to"].as_str().unwrap().trim_start_matches('+'));
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&body[key], value, "{key} of {body}");
        }
    }
}

#[tokio::test]
async fn what_whatsapp_would_refuse_is_never_sent() {
    let server = Loopback::start(cloud_api).await;
    let bench = Bench::ready(server.url());
    let card = |more| contact(more);
    for (name, arguments, expected) in [
        ("whatsapp_send_location", with(place(), json!({ "latitude": 90.1 })), "/latitude"),
        ("whatsapp_send_location", with(place(), json!({ "longitude": -180.1 })), "/longitude"),
        ("whatsapp_send_location", json!({ "latitude": 1 }), "/longitude"),
        ("whatsapp_send_location", with(place(), json!({ "name": "" })), "/name"),
        ("whatsapp_send_location", with(place(), json!({ "name": "x".repeat(1_001) })), "/name"),
        ("whatsapp_send_location", with(place(), json!({ "to": "0650555123" })), "/to"),
        ("whatsapp_send_location", with(place(), json!({ "to": "+1650555" })).clone(), ""),
        ("whatsapp_send_location", with(place(), json!({ "to": "+1234567890123456" })), "/to"),
        ("whatsapp_send_location", with(place(), json!({ "to": "+1 650 555" })), "/to"),
        ("whatsapp_send_contact", json!({ "contacts": [] }), "/contacts"),
        (
            "whatsapp_send_contact",
            json!({ "contacts": vec![json!({ "name": { "formatted_name": "A" } }); 258] }),
            "/contacts",
        ),
        ("whatsapp_send_contact", json!({ "contacts": [{ "name": {} }] }), "/contacts/0/name/formatted_name"),
        (
            "whatsapp_send_contact",
            json!({ "contacts": [{ "name": { "formatted_name": " " } }] }),
            "`contacts[0]`.name.formatted_name is blank",
        ),
        ("whatsapp_send_contact", card(json!({ "birthday": "23.01.1999" })), "/contacts/0/birthday"),
        ("whatsapp_send_contact", card(json!({ "birthday": "1999-02-29" })), "no day of any calendar"),
        ("whatsapp_send_contact", card(json!({ "birthday": "1900-02-29" })), "no day of any calendar"),
        ("whatsapp_send_contact", card(json!({ "birthday": "1999-04-31" })), "no day of any calendar"),
        ("whatsapp_send_contact", card(json!({ "birthday": "0000-01-01" })), "no day of any calendar"),
        (
            "whatsapp_send_contact",
            card(json!({ "phones": [{ "type": "WORK" }] })),
            "/contacts/0/phones/0/phone",
        ),
        (
            "whatsapp_send_contact",
            card(json!({ "phones": [{ "phone": "1", "wa_id": "+1" }] })),
            "/contacts/0/phones/0/wa_id",
        ),
        (
            "whatsapp_send_contact",
            card(json!({ "emails": [{ "email": "nobody" }] })),
            "/contacts/0/emails/0/email",
        ),
        (
            "whatsapp_send_contact",
            card(json!({ "urls": [{ "url": "javascript:alert(1)" }] })),
            "/contacts/0/urls/0/url",
        ),
        (
            "whatsapp_send_contact",
            card(json!({ "addresses": [{ "country_code": "USA" }] })),
            "/contacts/0/addresses/0/country_code",
        ),
        ("whatsapp_send_contact", card(json!({ "picture": "x" })), "/contacts/0/picture"),
    ] {
        if expected.is_empty() {
            // Seven digits are the fewest.
            assert!(!bench.call(name, arguments).await.is_error());
            continue;
        }
        let error = bench.error(name, arguments.clone()).await;
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments, "{arguments}: {error}");
        assert!(error.message().contains(expected), "{arguments}: {error}");
    }
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table of all codes")]
async fn failures_are_told_with_what_helps() {
    use ToolErrorKind::{Denied, Failed, InvalidArguments, NotFound, Unavailable};
    let after = |seconds| Retry::After(Duration::from_secs(seconds));
    let never = Retry::Never;
    for (answer, kind, retry, expected) in [
        (refused(401, 0, "AuthException", "x"), Unavailable, never, "plugins.whatsapp.token"),
        (
            refused(401, 190, "Error validating access token", "expired"),
            Unavailable,
            never,
            "plugins.whatsapp.token",
        ),
        (refused(403, 10, "Permission denied", "x"), Denied, never, "permission"),
        (refused(403, 200, "API Permission", "x"), Denied, never, "permission"),
        (refused(400, 33, "Parameter value is not valid", "deleted"), Unavailable, never, "phoneNumberId"),
        (refused(400, 4, "API Too Many Calls", "x"), Unavailable, after(60), "Nothing was sent"),
        (refused(400, 80_007, "Rate limit issues", "x"), Unavailable, after(60), "after 60 seconds"),
        (refused(400, 130_429, "Rate limit hit", "x"), Unavailable, after(1), "after 1 seconds"),
        (
            refused(400, 131_056, "(Business Account, Consumer Account) pair rate limit hit", "x"),
            Unavailable,
            after(6),
            "after 6 seconds",
        ),
        (
            refused(429, 130_429, "Rate limit hit", "x").with_header("retry-after", "17"),
            Unavailable,
            after(17),
            "after 17 seconds",
        ),
        (
            refused(429, 130_429, "Rate limit hit", "x").with_header("retry-after", "soon"),
            Unavailable,
            after(1),
            "after 1 seconds",
        ),
        (refused(503, 131_016, "Service unavailable", "x"), Unavailable, after(30), "Nothing was sent"),
        (refused(500, 131_000, "Something went wrong", "x"), Unavailable, after(30), "Nothing was sent"),
        (
            refused(400, 100, "Invalid parameter", "name is missing"),
            InvalidArguments,
            never,
            "name is missing",
        ),
        (
            refused(400, 131_009, "Parameter value is not valid", "x"),
            InvalidArguments,
            never,
            "Nothing was sent",
        ),
        (
            refused(400, 131_021, "Recipient cannot be sender", "x"),
            InvalidArguments,
            never,
            "the number that sends",
        ),
        (refused(400, 131_026, "Message undeliverable", "x"), NotFound, never, "perhaps not on WhatsApp"),
        (
            refused(400, 131_030, "Recipient phone number not in allowed list", "x"),
            Denied,
            never,
            "test number",
        ),
        (refused(400, 131_047, "Re-engagement message", "x"), Denied, never, "24 hours"),
        (refused(400, 131_048, "Spam rate limit hit", "x"), Denied, never, "Go on without it"),
        (
            refused(403, 368, "Temporarily blocked for policies violations", "x"),
            Unavailable,
            never,
            "WhatsApp Manager",
        ),
        (refused(403, 131_031, "Account has been locked", "x"), Unavailable, never, "WhatsApp Manager"),
        (refused(400, 999_999, "Something new", "x"), Failed, never, "Something new"),
        (refused(500, 999_999, "Something new", "x"), Unavailable, never, "It may have been sent"),
        (refused(429, 999_999, "Something new", "x"), Unavailable, after(60), "Nothing was sent"),
        (
            Answer::json(400, &json!({ "error": { "message": "old form", "code": 100 } })),
            InvalidArguments,
            never,
            "old form",
        ),
        (Answer::json(400, &json!({ "error": "text" })), Unavailable, never, "cannot be read"),
        (Answer::json(200, &json!({ "messages": [] })), Unavailable, never, "names no message"),
        (
            Answer::json(202, &json!({ "error": { "message": "no success", "code": 100 } })),
            InvalidArguments,
            never,
            "no success",
        ),
        (
            Answer::json(500, &json!({ "messages": [{ "id": "x" }] })),
            Unavailable,
            never,
            "It may have been sent",
        ),
        (Answer::bytes(502, "<html>"), Unavailable, never, "HTTP status 502"),
        (Answer::bytes(200, vec![b' '; (1 << 20) + 1]), Unavailable, never, "too long"),
        (
            Answer::bytes(302, "").with_header("location", "http://127.0.0.1:1/"),
            Unavailable,
            never,
            "HTTP status 302",
        ),
        (refused(400, 999_999, &"x\u{1b}".repeat(10_000), "x"), Failed, never, "Nothing was sent"),
        (Answer::Close, Unavailable, never, "It may have been sent"),
    ] {
        let server = Loopback::start(move |_| answer.clone()).await;
        let bench = Bench::ready(server.url());
        let error = bench.error("whatsapp_send_location", place()).await;
        assert_eq!((error.kind(), error.retry()), (kind, retry), "{error}");
        assert!(error.message().contains(expected), "{expected:?}: {error}");
        assert!(error.message().len() < 1_000 && !error.message().contains('\u{1b}'), "{error}");
        assert_eq!(server.requests().len(), 1, "one request, whatever comes of it: {error}");
        if error.message().contains("Rate limit hit") {
            assert_eq!(error.metadata("code").unwrap(), &json!(130_429));
            assert_eq!(error.metadata("fbtraceId").unwrap(), "Az8or2yhqkZfEZ-_4Qn_Bam");
        }
    }
    let error = Bench::ready("http://127.0.0.1:1").error("whatsapp_send_location", place()).await;
    assert_eq!((error.kind(), error.retry()), (Unavailable, Retry::Now), "{error}");
    assert!(error.message().contains("Nothing was sent"), "{error}");
}

#[tokio::test]
async fn one_that_hangs_is_late_or_cancelled() {
    let server = Loopback::start(|_| Answer::Hang).await;
    let settings = ["permission.message=allow", "plugins.whatsapp.timeoutSeconds=1"];
    let bench = Bench::with(server.url(), &settings, Reply::deny());
    let error = bench.error("whatsapp_send_location", place()).await;
    assert_eq!((error.kind(), error.retry()), (ToolErrorKind::TimedOut, Retry::Never), "{error}");
    assert!(error.message().contains("within 1 seconds. It may have been sent"), "{error}");
    let token = CancellationToken::new();
    let (toolbox, options) = (bench.toolbox().await, CallOptions::new().cancel(token.clone()));
    let call = toolbox.call_with(ToolCall::new("2", "whatsapp_send_location", place()), options);
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
        refused(400, 100, request.header("authorization").unwrap(), &format!("{:?}", request.headers))
    };
    let server = Loopback::start(hostile).await;
    let cut = Loopback::start(|_| Answer::Close).await;
    for url in [server.url(), cut.url(), "http://127.0.0.1:1", "http://[::", "https://127.0.0.1:1"] {
        // Of a service that the host brings the toolkit's redactor knows no secret: what is told must be clean by itself.
        let settings = WhatsAppSettings {
            token: Some(Secret::new(TOKEN)),
            phone_number_id: Some(NUMBER_ID.to_owned()),
            api_version: "v25.0".to_owned(),
            base_url: url.to_owned(),
            timeout_seconds: 1,
        };
        let builder = Toolkit::builder().service(CloudApi::new(&settings).unwrap());
        let bench = Bench::load(builder, LoadOptions::new(), &["permission.message=allow"], Reply::deny());
        let mut events = bench.toolkit.events();
        let error = bench.error("whatsapp_send_contact", contact(json!({}))).await;
        let history = bench.history.calls(&HistoryQuery::new());
        let seen: Vec<_> = std::iter::from_fn(|| events.try_next()).collect();
        assert!(history.len() == 1 && !seen.is_empty());
        let (source, json) = (error.source(), serde_json::to_string(&error).unwrap());
        let told = format!("{error} {error:?} {source:?} {json} {history:?} {seen:?} {:?}", bench.toolkit);
        assert!(!told.contains(TOKEN), "{url}: {told}");
    }
    assert_eq!(server.requests()[0].header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
}

#[tokio::test]
async fn what_is_not_configured_is_said() {
    let token = format!("plugins.whatsapp.token={TOKEN}");
    let number = format!("plugins.whatsapp.phoneNumberId='{NUMBER_ID}'");
    for (settings, expected) in [
        (vec![], "plugins.whatsapp.phoneNumberId"),
        (vec![token.as_str()], "plugins.whatsapp.phoneNumberId"),
        (vec![number.as_str()], "plugins.whatsapp.token"),
        (vec![number.as_str(), "plugins.whatsapp.token=two words"], "is no access token"),
        (vec![number.as_str(), "plugins.whatsapp.token=\"a\\nb\""], "is no access token"),
    ] {
        let settings = [&settings[..], &["permission.message=allow"]].concat();
        let error = Bench::new("http://127.0.0.1:1", &settings, Reply::deny())
            .error("whatsapp_send_location", place())
            .await;
        assert_eq!(error.kind(), ToolErrorKind::Unavailable, "{error}");
        assert!(error.message().contains(expected) && !error.message().contains("two words"), "{error}");
    }
    for wrong in [
        "phoneNumberId=12/34",
        "apiVersion=25",
        "apiVersion=v25.0/x",
        "baseUrl=https://x?y",
        "timeoutSeconds=301",
    ] {
        assert!(
            Configuration::load(LoadOptions::new().set(format!("plugins.whatsapp.{wrong}"))).is_err(),
            "{wrong}"
        );
    }
    let server = Loopback::start(cloud_api).await;
    let bench = Bench::ready(server.url());
    for (caller, kind) in [
        (Caller::new().with_channel("whatsapp"), ToolErrorKind::InvalidArguments),
        (Caller::new().with_channel("whatsapp").with_conversation("somebody"), ToolErrorKind::Failed),
    ] {
        let toolbox = bench.toolkit.toolbox(&caller).await;
        let error =
            toolbox.call(ToolCall::new("1", "whatsapp_send_location", place())).await.outcome.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains("give `to`"), "{error}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_person_is_asked_before_anything_is_sent() {
    let server = Loopback::start(cloud_api).await;
    for (settings, reply, expected) in [
        (&[][..], Reply::deny_saying("not now"), false),
        (&[], Reply::allow(), true),
        (&["permission.message=deny"], Reply::allow(), false),
        (&["permission={message:[{match:'whatsapp:+16505551234',do:'allow'}]}"], Reply::deny(), true),
        (&["permission={message:[{match:'whatsapp:+1650555999*',do:'allow'}]}"], Reply::deny(), false),
    ] {
        let before = server.requests().len();
        let bench = Bench::with(server.url(), settings, reply);
        let mut events = bench.toolkit.events();
        let arguments = contact(json!({ "phones": [{ "phone": "+16505559999" }] }));
        let result = bench.call("whatsapp_send_contact", arguments).await;
        assert_eq!(!result.is_error(), expected, "{settings:?}: {}", result.text());
        assert_eq!(server.requests().len() - before, usize::from(expected), "{settings:?}");
        let told = format!("{:?}", std::iter::from_fn(|| events.try_next()).collect::<Vec<_>>());
        if settings.is_empty() {
            for part in [
                "Send a contact to this conversation on WhatsApp, +16505551234",
                "Barbara J. Johnson: +16505559999",
            ] {
                assert!(told.contains(part), "{part}: {told}");
            }
        }
    }
}

#[tokio::test]
async fn it_is_there_in_its_channel_alone() {
    let bench = Bench::ready("http://127.0.0.1:1");
    for name in ["whatsapp_send_contact", "whatsapp_send_location"] {
        let tool = bench.toolkit.tool(name).unwrap();
        assert_eq!((tool.plugin_id(), tool.source()), (Some("whatsapp"), &Source::channel("whatsapp")));
    }
    let names = async |caller: &Caller, settings: &[&str]| -> Vec<String> {
        let bench = Bench::new("http://127.0.0.1:1", settings, Reply::deny());
        let toolbox = bench.toolkit.toolbox(caller).await;
        toolbox.definitions().into_iter().map(|tool| tool.name).collect()
    };
    let here = Caller::new().with_channel("whatsapp");
    assert_eq!(names(&here, &[]).await, ["whatsapp_send_contact", "whatsapp_send_location"]);
    for elsewhere in [Caller::new(), Caller::new().with_channel("telegram")] {
        assert!(names(&elsewhere, &[]).await.is_empty(), "{elsewhere:?}");
    }
    assert_eq!(names(&here, &["tools.deny=[\"whatsapp_send_contact\"]"]).await, ["whatsapp_send_location"]);
    for gone in
        ["tools.deny=[\"whatsapp\"]", "tools.deny=[\"group:plugins\"]", "plugins.whatsapp.enabled=false"]
    {
        assert!(names(&here, &[gone]).await.is_empty(), "{gone}");
    }
}
