//! The trait of models, and the events of an answer.

use crate::answer::Answer;
use crate::error::ModelError;
use crate::request::Request;
use serde::{Deserialize, Serialize};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use toolkit::{ToolCall, dialects::Dialect};

/// The tokens that are reserved for an answer if nothing limits them.
pub(crate) const ANSWER_TOKENS: u64 = 4_096;

/// Future returned by [`Model::respond`].
pub type Responding<'a> = Pin<Box<dyn Future<Output = Result<Answer, ModelError>> + Send + 'a>>;

/// A model, alone or shared, as agents take it.
#[diagnostic::on_unimplemented(
    message = "an agent needs a `Model`, and this is none",
    label = "not a `Model`",
    note = "the toolkit comes first: `Agent::builder(toolkit, model)`",
    note = "take one of the configuration with `Models::new(&configuration)?.get(None)?`, or `Scripted::new([..])` in a test"
)]
pub trait IntoModel {
    /// Returns the shared model.
    fn into_model(self) -> Arc<dyn Model>;
}

impl<M: Model> IntoModel for M {
    fn into_model(self) -> Arc<dyn Model> {
        Arc::new(self)
    }
}

impl<M: Model> IntoModel for Arc<M> {
    fn into_model(self) -> Arc<dyn Model> {
        self
    }
}

impl IntoModel for Arc<dyn Model> {
    fn into_model(self) -> Arc<dyn Model> {
        self
    }
}

/// A model that answers a conversation.
pub trait Model: Send + Sync + 'static {
    /// Returns the configured name, for messages and records.
    fn name(&self) -> &str;

    /// Returns the dialect in which tools are defined for this model.
    fn dialect(&self) -> Dialect;

    /// Returns the size of the context window in tokens, if it is configured.
    fn context_tokens(&self) -> Option<u64> {
        None
    }

    /// Returns the limit on tokens of an answer that holds for requests without one, if it is configured.
    fn max_tokens(&self) -> Option<u32> {
        None
    }

    /// Returns the most tokens that an answer to a request may have, as far as the model limits them: what a meter reserves. Without a limit
    /// it is 4,096, the length of a long answer, and [`limits_answer`](Self::limits_answer) returns false.
    fn most_answer_tokens(&self, request: &Request) -> u64 {
        request.max_tokens.or_else(|| self.max_tokens()).map_or(ANSWER_TOKENS, u64::from)
    }

    /// Returns true if an answer to a request has a limit on tokens. Without one, a meter admits the request to a limited account only while
    /// no other request of the account is open.
    fn limits_answer(&self, request: &Request) -> bool {
        request.max_tokens.or_else(|| self.max_tokens()).is_some()
    }

    /// Returns the price of tokens, if it is configured.
    fn price(&self) -> Option<Price> {
        None
    }

    /// Returns the price of tokens of the model that gave an answer, by its configured name: another one than this, if this one was
    /// replaced.
    fn price_of(&self, _model: &str) -> Option<Price> {
        self.price()
    }

    /// Sends one request and reads the answer. `events` gets its parts as they arrive. Dropping the future, or cancelling
    /// `request.cancel`, ends the connection.
    ///
    /// A request is sent again after a failure only if nothing of an answer has arrived.
    fn respond<'a>(
        &'a self,
        request: &'a Request,
        events: &'a mut (dyn FnMut(ModelEvent) + Send),
    ) -> Responding<'a>;
}

/// An event of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelEvent {
    /// The provider has begun to answer.
    Started,
    /// More of the answer's text.
    Text(String),
    /// More of the reasoning, or of its summary.
    Reasoning(String),
    /// A whole tool call. It is to be run only when the answer is there: a later failure can still void it.
    ToolCall(ToolCall),
    /// The request failed and is sent again after a wait.
    Retrying {
        /// The number of the next attempt; the first one was 1.
        attempt: u32,
        /// The wait.
        after: Duration,
        /// Why it failed.
        reason: String,
    },
    /// The model failed and another one is used.
    Fallback {
        /// The name of the model that failed.
        from: String,
        /// The name of the model that is used.
        to: String,
        /// Why it failed.
        reason: String,
    },
}

/// The price of a million tokens, in any one currency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct Price {
    /// Of tokens of a request.
    #[schemars(range(min = 0.0))]
    pub input: f64,
    /// Of tokens of an answer.
    #[schemars(range(min = 0.0))]
    pub output: f64,
    /// Of tokens that come from the provider's cache; without it that of `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub cached: Option<f64>,
    /// Of tokens that are written into the provider's cache; without it that of `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub cache_write: Option<f64>,
}

impl Price {
    /// Returns the higher price of each kind.
    pub(crate) fn or_higher(self, other: Self) -> Self {
        let higher = |of: fn(&Self) -> Option<f64>| {
            // A price that is absent is that of `input`.
            (of(&self).is_some() || of(&other).is_some())
                .then(|| of(&self).unwrap_or(self.input).max(of(&other).unwrap_or(other.input)))
        };
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cached: higher(|price| price.cached),
            cache_write: higher(|price| price.cache_write),
        }
    }
}

impl Price {
    /// Returns the price of tokens of requests and answers, whether or not they are cached.
    pub const fn new(input: f64, output: f64) -> Self {
        Self { input, output, cached: None, cache_write: None }
    }

    /// Returns the cost of what was used.
    #[expect(clippy::cast_precision_loss, reason = "no request has 2^52 tokens")]
    pub fn cost(&self, usage: &crate::Usage) -> f64 {
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let written = usage.cache_write_tokens.min(usage.input_tokens - cached);
        let plain = usage.input_tokens - cached - written;
        let of = |tokens: u64, price: f64| tokens as f64 * price / 1_000_000.0;
        of(plain, self.input)
            + of(cached, self.cached.unwrap_or(self.input))
            + of(written, self.cache_write.unwrap_or(self.input))
            + of(usage.output_tokens, self.output)
    }
}
