//! Requests to the endpoint.

use crate::fault::{self, ErrorBody};
use crate::metered::{self, Charge};
use crate::settings::{LlmTaskSettings, ResponseFormat, TaskPrice};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fmt;
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{Config, config::Secret};

/// Maximum number of bytes of an answer.
const LONGEST_ANSWER: usize = 4 << 20;

/// The model that is configured.
pub struct Model {
    client: Client,
    endpoint: String,
    /// None is configured without a name: then the host's model is used.
    name: Option<String>,
    key: Option<Secret>,
    response_format: ResponseFormat,
    max_tokens: u32,
    price: Option<TaskPrice>,
    timeout: Duration,
}

/// A message of a conversation.
#[derive(Serialize)]
pub(crate) struct Message {
    pub(crate) role: &'static str,
    pub(crate) content: String,
}

/// The answer of a model.
pub(crate) struct Said {
    pub(crate) content: String,
    /// True if the answer was cut off at the token limit.
    pub(crate) is_cut: bool,
}

/// Token usage of all attempts together.
#[toolkit::args]
#[derive(Debug, Clone, Copy, Default)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Usage {
    /// Requests that were answered.
    pub(crate) requests: u32,
    /// Tokens that the model read.
    pub(crate) prompt_tokens: u64,
    /// Tokens that it wrote.
    pub(crate) completion_tokens: u64,
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
    usage: Option<CompletionUsage>,
}

#[derive(Deserialize)]
struct Choice {
    message: ChoiceMessage,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ChoiceMessage {
    content: Option<String>,
    refusal: Option<String>,
}

#[derive(Default, Deserialize)]
struct CompletionUsage {
    #[serde(alias = "input_tokens")]
    prompt_tokens: Option<u64>,
    #[serde(alias = "output_tokens")]
    completion_tokens: Option<u64>,
}

#[toolkit::service]
fn model(settings: &Config<LlmTaskSettings>) -> Result<Model, ToolError> {
    Model::new(settings)
}

impl Model {
    /// The model that is configured. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// `Unavailable`, with the setting to configure, if the key is invalid.
    pub fn new(settings: &LlmTaskSettings) -> Result<Self, ToolError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &settings.api_key {
            let is_key = key.expose().bytes().all(|byte| byte.is_ascii_graphic());
            let value = HeaderValue::try_from(format!("Bearer {}", key.expose())).ok().filter(|_| is_key);
            let Some(mut value) = value else {
                return Err(ToolError::unavailable(
                    "`plugins.llm-task.apiKey` is not a valid key: it has invalid characters",
                ));
            };
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let timeout = Duration::from_secs(settings.timeout_seconds);
        let client = toolkit_http::client(timeout).default_headers(headers).build().map_err(|error| {
            ToolError::unavailable(format!("requests to the model cannot be made: {error}"))
        })?;
        Ok(Self {
            client,
            endpoint: format!("{}/chat/completions", settings.base_url.trim_end_matches('/')),
            name: settings.model.clone(),
            key: settings.api_key.clone(),
            response_format: settings.response_format,
            max_tokens: settings.max_tokens,
            price: settings.price,
            timeout,
        })
    }

    /// The model, as the endpoint names it, if one is configured.
    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The most tokens of an answer.
    pub(crate) fn max_tokens(&self) -> u32 {
        self.max_tokens
    }

    /// Requests an answer to the last of some messages; adds to the token usage. The meter of the host counts it.
    pub(crate) async fn ask(
        &self,
        ctx: &ToolContext,
        messages: &[Message],
        schema: Option<&Map<String, Value>>,
        usage: &mut Usage,
    ) -> Result<Said, ToolError> {
        let mut body = json!({
            "model": self.name, "messages": messages, "max_completion_tokens": self.max_tokens, "stream": false,
        });
        if let Some(format) = self.format(schema) {
            body["response_format"] = format;
        }
        let body = serde_json::to_vec(&body)?;
        let name = self.name.as_deref().unwrap_or_default();
        let request = metered::begin(ctx, name, body.len(), self.max_tokens, self.price).await?;
        let mut charge = Charge::Unknown;
        let said = self.try_ask(body, usage, &mut charge).await;
        request.end(charge);
        // A server may repeat the request, in upper or lower case.
        match said {
            Ok(said) => Ok(Said { content: self.without_key(&said.content), ..said }),
            Err(error) => {
                let message = self.without_key(error.message());
                Err(error.with_message(message))
            }
        }
    }

    fn without_key(&self, text: &str) -> String {
        match self.key.as_ref().filter(|key| !key.expose().is_empty()) {
            Some(key) => text.replace(key.expose(), toolkit_http::REDACTED),
            None => text.to_owned(),
        }
    }

    async fn try_ask(
        &self,
        body: Vec<u8>,
        usage: &mut Usage,
        charge: &mut Charge,
    ) -> Result<Said, ToolError> {
        let request = self.client.post(&self.endpoint).body(body);
        let response = request.send().await.map_err(|error| {
            if error.is_connect() || error.is_builder() {
                *charge = Charge::Nothing;
            }
            fault::of_sending(error, self.timeout)
        })?;
        let status = response.status();
        if status.is_client_error() || status.is_redirection() || status == StatusCode::SERVICE_UNAVAILABLE {
            *charge = Charge::Nothing;
        }
        let wait = toolkit_http::retry_after(response.headers());
        let answer = toolkit_http::read(response, LONGEST_ANSWER).await;
        let answer = answer.map_err(|error| fault::of_sending(error, self.timeout))?;
        let answer = answer.map(|answer| match &self.key {
            Some(key) => toolkit_http::without_secret(answer, key.expose()),
            None => answer,
        });
        if !status.is_success() {
            let told = answer.and_then(|answer| serde_json::from_slice(&answer).ok());
            return Err(fault::of_status(status, &told.unwrap_or(ErrorBody::Nothing {}), wait));
        }
        let Some(answer) = answer else { return Err(fault::of_answer(status, "it is too long")) };
        let completion: Completion = serde_json::from_slice(&answer)
            .map_err(|_| fault::of_answer(status, "it is not a Chat Completions response"))?;
        usage.requests += 1;
        let used = completion.usage.unwrap_or_default();
        let (input, output) = (used.prompt_tokens.unwrap_or(0), used.completion_tokens.unwrap_or(0));
        if input > 0 || output > 0 {
            *charge = Charge::Tokens(input, output);
        }
        usage.prompt_tokens = usage.prompt_tokens.saturating_add(input);
        usage.completion_tokens = usage.completion_tokens.saturating_add(output);
        let Some(Choice { message, finish_reason }) = completion.choices.into_iter().next() else {
            return Err(fault::of_answer(status, "it holds no answer of the model"));
        };
        if let Some(refusal) = message.refusal.filter(|refusal| !refusal.is_empty()) {
            return Err(fault::refused(&refusal));
        }
        if finish_reason.as_deref() == Some("content_filter") {
            return Err(fault::refused("the endpoint's filter took the answer away"));
        }
        let is_cut = finish_reason.as_deref() == Some("length");
        Ok(Said { content: message.content.unwrap_or_default(), is_cut })
    }

    fn format(&self, schema: Option<&Map<String, Value>>) -> Option<Value> {
        match (self.response_format, schema) {
            (ResponseFormat::None, _) => None,
            // Not `strict`, which supports only a part of JSON Schema; the answer is validated here.
            (ResponseFormat::JsonSchema, Some(schema)) => Some(json!({
                "type": "json_schema", "json_schema": { "name": "answer", "schema": schema, "strict": false },
            })),
            _ => Some(json!({ "type": "json_object" })),
        }
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("endpoint", &self.endpoint)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
