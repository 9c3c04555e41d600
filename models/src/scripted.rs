//! A model that answers as a test says.

use crate::answer::Answer;
use crate::error::ModelError;
use crate::message::AssistantPart;
use crate::model::{Model, ModelEvent, Price, Responding};
use crate::request::Request;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use toolkit::dialects::Dialect;

/// A model that answers as a test says, and records its requests.
///
/// ```
/// use toolkit_models::{Answer, Message, Model as _, Request, Scripted};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit_models::ModelError> {
/// let model = Scripted::new(["Hello!"]);
/// let request = Request::new([Message::user("Hi")]);
/// let answer = model.respond(&request, &mut |_| {}).await?;
/// assert_eq!(answer.message.to_text(), "Hello!");
/// assert_eq!(model.requests().len(), 1);
/// # Ok(()) }
/// ```
pub struct Scripted {
    name: String,
    dialect: Dialect,
    context_tokens: Option<u64>,
    price: Option<Price>,
    script: Script,
    requests: Mutex<Vec<Request>>,
}

type ReplyFn = dyn Fn(&Request) -> ScriptedReply + Send + Sync;

enum Script {
    Replies(Mutex<VecDeque<ScriptedReply>>),
    Function(Box<ReplyFn>),
}

/// One reply of a [`Scripted`] model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ScriptedReply {
    /// An answer. Its parts are sent as events first.
    Answer(Answer),
    /// A failure.
    Error(ModelError),
    /// No answer until the request is cancelled.
    Stall,
    /// Events, and then another reply.
    Events(Vec<ModelEvent>, Box<ScriptedReply>),
}

impl From<Answer> for ScriptedReply {
    fn from(answer: Answer) -> Self {
        Self::Answer(answer)
    }
}

impl From<ModelError> for ScriptedReply {
    fn from(error: ModelError) -> Self {
        Self::Error(error)
    }
}

impl From<&str> for ScriptedReply {
    fn from(text: &str) -> Self {
        Self::Answer(Answer::text(text))
    }
}

impl Scripted {
    /// Returns a model that gives these replies, one for each request, and fails after the last one.
    pub fn new(replies: impl IntoIterator<Item = impl Into<ScriptedReply>>) -> Self {
        let replies = replies.into_iter().map(Into::into).collect();
        Self::of(Script::Replies(Mutex::new(replies)))
    }

    /// Returns a model that gives the reply that a function returns for each request.
    pub fn with(reply: impl Fn(&Request) -> ScriptedReply + Send + Sync + 'static) -> Self {
        Self::of(Script::Function(Box::new(reply)))
    }

    fn of(script: Script) -> Self {
        Self {
            name: "scripted".to_owned(),
            dialect: Dialect::OpenAiChat,
            context_tokens: None,
            price: None,
            script,
            requests: Mutex::new(Vec::new()),
        }
    }

    /// Sets the name; `scripted` without it.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the dialect; that of Chat Completions without it.
    #[must_use]
    pub const fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Sets the size of the context window.
    #[must_use]
    pub const fn with_context_tokens(mut self, tokens: u64) -> Self {
        self.context_tokens = Some(tokens);
        self
    }

    /// Sets the price of tokens.
    #[must_use]
    pub const fn with_price(mut self, price: Price) -> Self {
        self.price = Some(price);
        self
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn reply(&self, request: &Request) -> ScriptedReply {
        let number = {
            let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
            requests.push(request.clone());
            requests.len()
        };
        let next = match &self.script {
            Script::Function(reply) => Some(reply(request)),
            Script::Replies(replies) => replies.lock().unwrap_or_else(PoisonError::into_inner).pop_front(),
        };
        next.unwrap_or_else(|| {
            ScriptedReply::Error(ModelError::Configuration {
                message: format!(
                    "the script of model `{}` has no reply to request {number}; add one",
                    self.name
                ),
            })
        })
    }
}

impl Model for Scripted {
    fn name(&self) -> &str {
        &self.name
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn context_tokens(&self) -> Option<u64> {
        self.context_tokens
    }

    fn price(&self) -> Option<Price> {
        self.price
    }

    fn respond<'a>(
        &'a self,
        request: &'a Request,
        events: &'a mut (dyn FnMut(ModelEvent) + Send),
    ) -> Responding<'a> {
        Box::pin(async move {
            let cancelled = || ModelError::Cancelled { partial: Box::default() };
            if request.cancel.is_cancelled() {
                return Err(cancelled());
            }
            let mut reply = self.reply(request);
            loop {
                match reply {
                    ScriptedReply::Answer(mut answer) => {
                        if answer.model.is_empty() {
                            answer.model.clone_from(&self.name);
                        }
                        events(ModelEvent::Started);
                        answer.message.content.iter().filter_map(event).for_each(events);
                        return Ok(answer);
                    }
                    ScriptedReply::Error(error) => return Err(error),
                    ScriptedReply::Stall => {
                        request.cancel.cancelled().await;
                        return Err(cancelled());
                    }
                    ScriptedReply::Events(sent, then) => {
                        sent.into_iter().for_each(&mut *events);
                        // A caller that cancels at an event is served like one that cancels a connection.
                        tokio::task::yield_now().await;
                        if request.cancel.is_cancelled() {
                            return Err(cancelled());
                        }
                        reply = *then;
                    }
                }
            }
        })
    }
}

/// The event of a part of an answer.
fn event(part: &AssistantPart) -> Option<ModelEvent> {
    match part {
        AssistantPart::Text { text } => Some(ModelEvent::Text(text.clone())),
        AssistantPart::Reasoning { text, .. } => Some(ModelEvent::Reasoning(text.clone())),
        AssistantPart::ToolCall(call) => Some(ModelEvent::ToolCall(call.clone())),
        AssistantPart::Image { .. } => None,
    }
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scripted")
            .field("name", &self.name)
            .field("dialect", &self.dialect)
            .finish_non_exhaustive()
    }
}
