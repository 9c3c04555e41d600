//! Requests to the Cloud API.

use crate::fault::{self, GraphError, PLATFORM};
use crate::recipient::Recipient;
use crate::settings::WhatsAppSettings;
use reqwest::Client;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{Config, config::Secret};

/// A business phone number, by its id and an access token.
pub struct CloudApi {
    client: Client,
    messages: String,
    token: Secret,
    authorization: HeaderValue,
    timeout: Duration,
}

/// A message to one person.
#[derive(Serialize)]
struct Message<'a> {
    messaging_product: &'static str,
    recipient_type: &'static str,
    to: &'a Recipient,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<Context<'a>>,
    r#type: &'static str,
    #[serde(flatten)]
    content: Content<'a>,
}

/// The message that it answers.
#[derive(Serialize)]
struct Context<'a> {
    message_id: &'a str,
}

/// The content of a message.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Content<'a> {
    Contacts(&'a Value),
    Location(&'a Value),
}

/// The response to a sent message.
#[derive(Deserialize)]
struct Sent {
    #[serde(default)]
    contacts: Vec<SentTo>,
    messages: Vec<SentMessage>,
}

#[derive(Deserialize)]
struct SentTo {
    wa_id: String,
}

#[derive(Deserialize)]
struct SentMessage {
    id: String,
}

/// The error object of the Graph API.
#[derive(Deserialize)]
struct Failure {
    error: GraphError,
}

/// The message that was sent.
#[toolkit::args]
pub(crate) struct SentMessageId {
    /// The message.
    message_id: String,
    /// Whom it reached, as WhatsApp names the person.
    wa_id: Option<String>,
}

#[toolkit::service]
fn cloud_api(settings: &Config<WhatsAppSettings>) -> Result<CloudApi, ToolError> {
    CloudApi::new(settings)
}

impl CloudApi {
    /// The number that is configured. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// `Unavailable`, with the setting to configure, if the token or the number's ID is missing, or the token is
    /// invalid.
    pub fn new(settings: &WhatsAppSettings) -> Result<Self, ToolError> {
        let (Some(token), Some(number)) = (settings.token.clone(), settings.phone_number_id.as_deref())
        else {
            return Err(ToolError::unavailable(
                "no business phone number is configured: a person has to set `plugins.whatsapp.phoneNumberId` to its id, and \
                 `plugins.whatsapp.token` to an access token, as \"${env:WHATSAPP_TOKEN}\" or { file: \"…\" }",
            ));
        };
        let is_token = token.expose().bytes().all(|byte| byte.is_ascii_graphic());
        let authorization =
            HeaderValue::try_from(format!("Bearer {}", token.expose())).ok().filter(|_| is_token);
        let Some(mut authorization) = authorization else {
            return Err(ToolError::unavailable(
                "`plugins.whatsapp.token` is not a valid access token: it has invalid characters",
            ));
        };
        authorization.set_sensitive(true);
        let timeout = Duration::from_secs(settings.timeout_seconds);
        let client = toolkit_http::client(timeout).build().map_err(|error| {
            ToolError::unavailable(format!("requests to WhatsApp cannot be made: {error}"))
        })?;
        let base_url = settings.base_url.trim_end_matches('/');
        let messages = format!("{base_url}/{}/{number}/messages", settings.api_version);
        Ok(Self { client, messages, token, authorization, timeout })
    }

    /// Sends a message.
    pub(crate) async fn send(
        &self,
        to: &Recipient,
        reply_to: Option<&str>,
        content: Content<'_>,
    ) -> Result<SentMessageId, ToolError> {
        let message = Message {
            messaging_product: "whatsapp",
            recipient_type: "individual",
            to,
            context: reply_to.map(|message_id| Context { message_id }),
            r#type: match content {
                Content::Contacts(_) => "contacts",
                Content::Location(_) => "location",
            },
            content,
        };
        self.post(&message).await.map_err(|error| {
            // The token is removed from any message, even one from a server that repeats the request.
            let text = error.message().replace(self.token.expose(), toolkit_http::REDACTED);
            error.with_message(text)
        })
    }

    async fn post(&self, message: &Message<'_>) -> Result<SentMessageId, ToolError> {
        let request = self
            .client
            .post(&self.messages)
            .header(AUTHORIZATION, self.authorization.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(serde_json::to_vec(message)?);
        let answer = PLATFORM.exchange(request, self.timeout, self.token.expose()).await;
        let answer = answer.map_err(|failure| fault::of_request(&failure))?;
        let (status, wait) = (answer.status, answer.wait);
        if let Ok(Failure { error }) = serde_json::from_slice(&answer.body) {
            return Err(fault::of_graph(status, &error, wait));
        }
        let unusable = |what: &str| fault::of_request(&PLATFORM.unusable(status, wait, what));
        let sent: Sent = serde_json::from_slice(&answer.body)
            .map_err(|_| fault::of_request(&PLATFORM.foreign(&answer)))?;
        if !status.is_success() {
            return Err(unusable("it reports neither success nor failure"));
        }
        let Some(SentMessage { id }) = sent.messages.into_iter().next() else {
            return Err(unusable("it names no message"));
        };
        let wa_id = sent.contacts.into_iter().next().map(|contact| contact.wa_id);
        Ok(SentMessageId { message_id: id, wa_id })
    }
}

impl fmt::Debug for CloudApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CloudApi").field("messages", &self.messages).finish_non_exhaustive()
    }
}
