//! A model behind a server: requests are sent, sent again where that may help, and their answers are read.

use crate::answer::Answer;
use crate::anthropic;
use crate::error::ModelError;
use crate::fault::Fault;
use crate::format;
use crate::message::{AssistantMessage, AssistantPart};
use crate::model::{ANSWER_TOKENS, Model, ModelEvent, Price, Responding};
use crate::quirks::{Quirk, Quirks};
use crate::request::Request;
use crate::server::{Received, Server};
use crate::settings::{ModelSettings, Provider};
use crate::wire::{AnswerReader, Constraint, Draft};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::sleep;
use toolkit::dialects::{Definitions, Dialect, DialectSchema, JsonEvents};

/// The most bytes of an answer: 64 MiB.
pub const MAX_ANSWER_BYTES: usize = 64 << 20;
/// The longest wait before a request is sent again. A server that asks for a longer one gets no second request.
pub const MAX_RETRY_WAIT: Duration = Duration::from_mins(1);
/// The wait before the second request; it doubles with each one.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait that this doubling leads to.
const MAX_BACKOFF: Duration = Duration::from_secs(20);
/// How long the rest of a stream is waited for when the answer has ended: some servers keep the connection.
const GRACE: Duration = Duration::from_secs(5);

/// A configured model.
pub(crate) struct Client {
    name: String,
    provider: Provider,
    settings: ModelSettings,
    server: Server,
    quirks: Mutex<Quirks>,
    /// The last tools of another dialect, and what they became.
    translated: Mutex<Option<(Arc<Definitions>, Arc<Definitions>)>>,
    none: Arc<Definitions>,
}

/// A failed attempt.
struct Failed {
    error: ModelError,
    /// True if nothing of an answer had arrived.
    is_fresh: bool,
    /// False if the server says that another request does not help.
    may_retry: bool,
    /// The change after which the server may take the request.
    quirk: Option<Quirk>,
}

impl Failed {
    fn before(error: ModelError) -> Self {
        Self { error, is_fresh: true, may_retry: true, quirk: None }
    }
}

impl Client {
    pub(crate) fn new(name: &str, settings: &ModelSettings) -> Result<Self, ModelError> {
        let server = Server::new(name, settings)?;
        let provider = server.provider();
        Ok(Self {
            name: name.to_owned(),
            provider,
            settings: settings.clone(),
            server,
            quirks: Mutex::default(),
            translated: Mutex::default(),
            none: Arc::new(provider.dialect(settings.strict).definitions([])),
        })
    }

    /// The tools of a request in the dialect of this model.
    fn tools(&self, request: &Request) -> Arc<Definitions> {
        let Some(tools) = &request.tools else { return Arc::clone(&self.none) };
        if tools.dialect() == self.dialect() {
            return Arc::clone(tools);
        }
        let mut translated = self.translated.lock().unwrap_or_else(PoisonError::into_inner);
        match translated.as_ref().filter(|(own, _)| Arc::ptr_eq(own, tools)) {
            Some((_, translated)) => Arc::clone(translated),
            None => {
                let new = Arc::new(tools.in_dialect(self.dialect()));
                *translated = Some((Arc::clone(tools), Arc::clone(&new)));
                new
            }
        }
    }

    fn draft<'a>(&self, request: &'a Request, model: &'a str, quirks: Quirks) -> Draft<'a> {
        let wants_strict = self.settings.strict || self.server.is_openai();
        Draft {
            request,
            tools: self.tools(request),
            model,
            max_tokens: request.max_tokens.or(self.settings.max_tokens),
            thinking: request.thinking.or(self.settings.thinking),
            quirks,
            is_openai: self.server.is_openai(),
            constraint: format::constraint(
                request,
                self.provider,
                self.settings.response_format,
                wants_strict,
                quirks,
            ),
        }
    }

    async fn respond_at_last(
        &self,
        request: &Request,
        events: &mut (dyn FnMut(ModelEvent) + Send),
    ) -> Result<Answer, ModelError> {
        let mut quirks = *self.quirks.lock().unwrap_or_else(PoisonError::into_inner);
        let mut attempt = 1;
        loop {
            let failed = match self.attempt(request, quirks, events).await {
                Ok(answer) => {
                    *self.quirks.lock().unwrap_or_else(PoisonError::into_inner) = quirks.lasting();
                    return Ok(answer);
                }
                Err(failed) => failed,
            };
            if let Some(quirk) = failed.quirk {
                quirks = quirks.with(quirk);
                continue;
            }
            let is_retried = failed.is_fresh
                && failed.may_retry
                && is_retried(&failed.error)
                && attempt <= self.settings.max_retries;
            let wait = failed.error.retry_after().unwrap_or_else(|| backoff(attempt));
            if !is_retried || wait > MAX_RETRY_WAIT {
                return Err(failed.error);
            }
            attempt += 1;
            events(ModelEvent::Retrying { attempt, after: wait, reason: failed.error.to_string() });
            tokio::select! {
                biased;
                () = request.cancel.cancelled() => return Err(cancelled(AssistantMessage::default())),
                () = sleep(wait) => {}
            }
        }
    }

    async fn attempt(
        &self,
        request: &Request,
        quirks: Quirks,
        events: &mut (dyn FnMut(ModelEvent) + Send),
    ) -> Result<Answer, Failed> {
        let cancel = &request.cancel;
        if cancel.is_cancelled() {
            return Err(Failed::before(cancelled(AssistantMessage::default())));
        }
        let model = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(cancelled(AssistantMessage::default())),
            model = self.server.model() => model,
        };
        let model = model.map_err(Failed::before)?;
        let draft = self.draft(request, &model, quirks);
        let body = format::body(&draft)
            .map_err(|message| Failed::before(ModelError::Request { model: self.name.clone(), message }))?;
        let received = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(Failed::before(cancelled(AssistantMessage::default()))),
            received = self.server.send(&model, &body) => received.map_err(Failed::before)?,
        };
        let received = match received {
            Received::Answer(received) => received,
            Received::Failure { told, status, headers } => {
                let is_of_parameters = matches!(status.as_u16(), 400 | 422);
                let quirk = if is_of_parameters { quirks.next(&body, &told.message) } else { None };
                let may_retry = headers.get("x-should-retry").is_none_or(|value| value != "false");
                let error = told.into_error(&self.name, status, &headers);
                // A conversation that is too long stays so.
                let quirk = quirk.filter(|_| matches!(error, ModelError::Status { .. }));
                return Err(Failed { error, is_fresh: true, may_retry, quirk });
            }
        };
        let read_back = match &draft.constraint {
            Some(Constraint::Schema { read_back, .. }) => read_back.as_deref(),
            _ => None,
        };
        let mut reading = Reading { client: self, reader: format::reader(&draft), begun: false, events };
        let read = reading.run(received, request).await;
        let Reading { reader, begun, .. } = reading;
        let failed = |error| Failed { error, is_fresh: !begun, may_retry: true, quirk: None };
        let is_done = read.map_err(|error| failed(self.server.without_secrets(error)))?;
        let partial = reader.partial();
        let read = reader.finish(is_done);
        let read =
            read.map_err(|fault| failed(self.server.without_secrets(fault.into_error(&self.name, partial))))?;
        let (mut message, stop, usage) = read.into_message(self.dialect(), &model);
        if let Some(schema) = read_back {
            without_nulls(&mut message, schema);
        }
        Ok(Answer { message, stop, usage, model: self.name.clone() })
    }
}

/// One answer that is being read.
struct Reading<'a> {
    client: &'a Client,
    reader: Box<dyn AnswerReader>,
    /// True if something of the answer has arrived.
    begun: bool,
    events: &'a mut (dyn FnMut(ModelEvent) + Send),
}

impl Reading<'_> {
    /// Reads until the answer has ended, and returns true if the stream said so.
    async fn run(&mut self, mut received: reqwest::Response, request: &Request) -> Result<bool, ModelError> {
        let idle = Duration::from_secs(self.client.settings.idle_timeout_seconds);
        let mut sse = JsonEvents::default();
        // An answer that is no stream, since the server does not know how to.
        let mut whole: Option<Vec<u8>> = None;
        let mut is_first = true;
        let mut bytes = 0_usize;
        loop {
            if sse.is_done() {
                return Ok(true);
            }
            let wait = if self.reader.has_ended() { idle.min(GRACE) } else { idle };
            let chunk = tokio::select! {
                biased;
                () = request.cancel.cancelled() => return Err(cancelled(self.reader.partial())),
                chunk = tokio::time::timeout(wait, received.chunk()) => chunk,
            };
            let chunk = match chunk {
                // Nothing that is still to come is needed.
                Err(_) | Ok(Err(_)) if self.reader.has_ended() => return Ok(false),
                Err(_) => return Err(self.client.timeout(idle, self.reader.partial())),
                Ok(Err(error)) => {
                    let fault =
                        Fault::Ended(format!("the connection ended ({})", toolkit_http::reason(error)));
                    return Err(self.fault(fault));
                }
                Ok(Ok(chunk)) => chunk,
            };
            let Some(chunk) = chunk else { break };
            bytes += chunk.len();
            if bytes > MAX_ANSWER_BYTES {
                return Err(
                    self.fault(Fault::Format(format!("the answer is longer than {MAX_ANSWER_BYTES} bytes")))
                );
            }
            if let Some(whole) = &mut whole {
                whole.extend_from_slice(&chunk);
                continue;
            }
            let first = chunk.iter().find(|byte| !byte.is_ascii_whitespace());
            if is_first && first.is_some_and(|byte| matches!(byte, b'{' | b'[')) {
                whole = Some(chunk.to_vec());
                continue;
            }
            is_first &= first.is_none();
            let mut rest = &chunk[..];
            while !rest.is_empty() {
                let (event, left) = sse.take(rest).map_err(|error| self.fault(error.into()))?;
                rest = left;
                event.into_iter().try_for_each(|event| self.take(event))?;
            }
        }
        match whole {
            Some(whole) => self.take_whole(&whole)?,
            None => {
                let last = sse.finish().map_err(|error| self.fault(Fault::Ended(error.to_string())))?;
                last.into_iter().try_for_each(|event| self.take(event))?;
            }
        }
        Ok(sse.is_done())
    }

    fn take_whole(&mut self, whole: &[u8]) -> Result<(), ModelError> {
        let value = serde_json::from_slice::<Value>(whole);
        let Ok(value) = value else {
            return Err(
                self.fault(Fault::Ended("it is neither a stream of events nor whole JSON".to_owned()))
            );
        };
        self.reader.split(value).into_iter().try_for_each(|event| self.take(event))
    }

    fn take(&mut self, event: Value) -> Result<(), ModelError> {
        let mut new = Vec::new();
        let taken = self.reader.take(event, &mut new);
        let is_news = taken.is_ok() || !new.is_empty();
        if is_news && !std::mem::replace(&mut self.begun, true) {
            (self.events)(ModelEvent::Started);
        }
        new.into_iter().filter(has_content).for_each(&mut *self.events);
        taken.map_err(|fault| self.fault(fault))
    }

    fn fault(&self, fault: Fault) -> ModelError {
        fault.into_error(&self.client.name, self.reader.partial())
    }
}

fn has_content(event: &ModelEvent) -> bool {
    !matches!(event, ModelEvent::Text(text) | ModelEvent::Reasoning(text) if text.is_empty())
}

impl Client {
    fn timeout(&self, after: Duration, partial: AssistantMessage) -> ModelError {
        ModelError::Timeout { model: self.name.clone(), after, partial: Box::new(partial) }
    }
}

fn cancelled(partial: AssistantMessage) -> ModelError {
    ModelError::Cancelled { partial: Box::new(partial) }
}

/// Returns true for what another request may get over. A server that has said nothing for long is not asked again.
fn is_retried(error: &ModelError) -> bool {
    error.is_retryable() && !matches!(error, ModelError::Timeout { .. })
}

/// The wait before the next attempt: it doubles, and is between half and all of that at random.
fn backoff(attempt: u32) -> Duration {
    let most = FIRST_WAIT.saturating_mul(1 << (attempt - 1).min(10)).min(MAX_BACKOFF);
    let mut random = [0; 2];
    let random = if getrandom::fill(&mut random).is_ok() { u16::from_le_bytes(random) } else { u16::MAX };
    most / 2 + (most / 2).mul_f64(f64::from(random) / f64::from(u16::MAX))
}

/// Takes out of an answer what is `null` only since the strict schema wanted it there.
fn without_nulls(message: &mut AssistantMessage, schema: &DialectSchema) {
    let text = message.to_text();
    let Ok(mut value) = serde_json::from_str::<Value>(&text) else { return };
    if !schema.without_nulls(&mut value) {
        return;
    }
    let mut text = Some(value.to_string());
    message.content.retain_mut(|part| match part {
        AssistantPart::Text { text: own } => text.take().map(|text| *own = text).is_some(),
        _ => true,
    });
}

impl Model for Client {
    fn name(&self) -> &str {
        &self.name
    }

    fn dialect(&self) -> Dialect {
        self.provider.dialect(self.settings.strict)
    }

    fn context_tokens(&self) -> Option<u64> {
        self.settings.context_tokens
    }

    fn max_tokens(&self) -> Option<u32> {
        self.settings.max_tokens
    }

    fn most_answer_tokens(&self, request: &Request) -> u64 {
        let limit = request.max_tokens.or(self.settings.max_tokens);
        let limit = match self.provider {
            Provider::Anthropic => {
                let thinking = request.thinking.or(self.settings.thinking);
                Some(anthropic::most_tokens(
                    self.settings.model.as_deref().unwrap_or_default(),
                    limit,
                    thinking,
                ))
            }
            _ => limit,
        };
        limit.map_or(ANSWER_TOKENS, u64::from)
    }

    fn limits_answer(&self, request: &Request) -> bool {
        let limit = request.max_tokens.or(self.settings.max_tokens);
        // The wire format of Anthropic requires a limit.
        limit.is_some() || matches!(self.provider, Provider::Anthropic)
    }

    fn price(&self) -> Option<Price> {
        self.settings.price
    }

    fn respond<'a>(
        &'a self,
        request: &'a Request,
        events: &'a mut (dyn FnMut(ModelEvent) + Send),
    ) -> Responding<'a> {
        Box::pin(self.respond_at_last(request, events))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_within_bounds() {
        for attempt in 1..=64 {
            let most = FIRST_WAIT.as_millis() << (attempt - 1).min(10);
            let most = Duration::from_millis(u64::try_from(most).unwrap()).min(MAX_BACKOFF);
            for _ in 0..20 {
                let wait = backoff(attempt);
                assert!(wait >= most / 2 && wait <= most, "{attempt}: {wait:?}");
            }
        }
    }
}
