//! A server that knows the Cloud API as it is documented, and a toolkit that calls it.

use serde_json::{Value, json};
use std::sync::Arc;
use toolkit::prelude::*;
use toolkit::{
    Builder, Toolbox,
    approval::{Answer as Reply, ScriptedApprover},
    config::{Configuration, LoadOptions},
    history::MemoryHistory,
    text::Redactor,
};
use toolkit_loopback::{Answer, Request};

pub(super) const TOKEN: &str = "EAAJBtestTokenZC82CW7iR2LiaZBwUHS4Y7";
pub(super) const NUMBER_ID: &str = "106540352242922";
/// As webhooks name a person.
pub(super) const PERSON: &str = "16505551234";

/// A message as the Cloud API documents it, with nothing else in it.
pub(super) fn documented() -> Value {
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

pub(super) fn refused(status: u16, code: i64, message: &str, details: &str) -> Answer {
    Answer::json(
        status,
        &json!({ "error": {
        "message": format!("(#{code}) {message}"), "type": "OAuthException", "code": code, "error_subcode": 2_494_055,
        "error_data": { "messaging_product": "whatsapp", "details": details }, "fbtrace_id": "Az8or2yhqkZfEZ-_4Qn_Bam",
    } }),
    )
}

/// The Cloud API for one business phone number.
pub(super) fn cloud_api(request: &Request) -> Answer {
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

pub(super) struct Bench {
    pub(super) toolkit: Toolkit,
    pub(super) history: Arc<MemoryHistory>,
}

impl Bench {
    pub(super) fn new(url: &str, settings: &[&str], reply: Reply) -> Self {
        let options = LoadOptions::new().set(format!("plugins.whatsapp.baseUrl={url}"));
        Self::load(Toolkit::builder(), options, settings, reply)
    }

    pub(super) fn load(builder: Builder, options: LoadOptions, settings: &[&str], reply: Reply) -> Self {
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
    pub(super) fn with(url: &str, settings: &[&str], reply: Reply) -> Self {
        let token = format!("plugins.whatsapp.token={TOKEN}");
        let number = format!("plugins.whatsapp.phoneNumberId='{NUMBER_ID}'");
        Self::new(url, &[&[token.as_str(), number.as_str()], settings].concat(), reply)
    }

    /// With a number, and everything allowed.
    pub(super) fn ready(url: &str) -> Self {
        Self::with(url, &["permission.message=allow"], Reply::deny())
    }

    pub(super) async fn toolbox(&self) -> Toolbox {
        self.toolkit.toolbox(&Caller::new().with_channel("whatsapp").with_conversation(PERSON)).await
    }

    pub(super) async fn call(&self, name: &str, arguments: Value) -> ToolResult {
        self.toolbox().await.call(ToolCall::new("1", name, arguments)).await
    }

    pub(super) async fn error(&self, name: &str, arguments: Value) -> ToolError {
        self.call(name, arguments).await.outcome.unwrap_err()
    }
}

pub(super) fn place() -> Value {
    json!({ "latitude": 37.442_162_518_686_83, "longitude": -122.161_535_820_493_94, "name": "Philz Coffee" })
}

pub(super) fn with(mut value: Value, more: Value) -> Value {
    let Value::Object(more) = more else { unreachable!("an object") };
    value.as_object_mut().unwrap().extend(more);
    value
}

pub(super) fn contact(more: Value) -> Value {
    json!({ "contacts": [with(json!({ "name": { "formatted_name": "Barbara J. Johnson" } }), more)] })
}
