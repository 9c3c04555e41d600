//! The usage of requests that an endpoint may charge for, and the meter of the host that counts it.

use crate::config::MediaPrice;
use serde::Deserialize;
use serde_json::Value;
use std::pin::Pin;
use toolkit::{Caller, ToolError};

/// The most seconds of sound that one request can be said to have: a day.
const MAX_SECONDS: f64 = 86_400.0;

/// Future returned by [`EndpointMeter::begin`].
pub type Beginning<'a> =
    Pin<Box<dyn Future<Output = Result<Box<dyn OpenEndpointRequest>, ToolError>> + Send + 'a>>;

/// Counts the requests of `image`, `tts` and `transcribe` to endpoints. A host provides one as the service `dyn EndpointMeter`; without it
/// nothing is counted.
pub trait EndpointMeter: Send + Sync {
    /// Reserves what a request may use. The request is sent once the future is ready, and is not sent if it fails.
    fn begin<'a>(&'a self, caller: &'a Caller, request: &'a EndpointUsage) -> Beginning<'a>;
}

/// A request that is open. If it is dropped, the request may have been charged, and its usage is unknown.
pub trait OpenEndpointRequest: Send + Sync {
    /// Ends it with what it used; with nothing if the endpoint refused it or was not reached.
    fn end(self: Box<Self>, used: Option<EndpointUsage>);
}

/// The usage of one request to an endpoint.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct EndpointUsage {
    /// The tool.
    pub tool: &'static str,
    /// The name of the endpoint.
    pub endpoint: String,
    /// The tokens of the request.
    pub input_tokens: u64,
    /// The tokens of the answer.
    pub output_tokens: u64,
    /// Pictures that are made.
    pub images: u64,
    /// Characters that are spoken.
    pub characters: u64,
    /// Seconds of speech that are transcribed.
    pub audio_seconds: f64,
    /// The cost, by the configured price.
    pub cost: Option<f64>,
    /// True if the endpoint did not report it, and it is not known otherwise.
    pub is_estimated: bool,
}

impl EndpointUsage {
    /// Returns the estimated usage of a request to a language model.
    pub(super) fn tokens(input: u64, output: u64) -> Self {
        Self { input_tokens: input, output_tokens: output, is_estimated: true, ..Self::default() }
    }

    /// Returns the usage of a request for pictures.
    pub(super) fn images(count: usize) -> Self {
        Self { images: count as u64, ..Self::default() }
    }

    /// Returns the usage of a request for speech.
    pub(super) fn characters(text: &str) -> Self {
        Self { characters: text.chars().count() as u64, ..Self::default() }
    }

    /// Returns the estimated usage of a request for the text of speech.
    pub(super) fn audio(seconds: f64) -> Self {
        Self { audio_seconds: seconds, is_estimated: true, ..Self::default() }
    }

    /// Sets whose request it is, and its cost.
    pub(super) fn of(mut self, tool: &'static str, endpoint: &str, price: Option<&MediaPrice>) -> Self {
        (self.tool, self.endpoint) = (tool, endpoint.to_owned());
        self.cost = price.map(|price| self.cost(price));
        self
    }

    /// Takes what an answer reports: `usage` with tokens, in the words of either API of OpenAI, or with the seconds of speech.
    pub(super) fn reported(mut self, answer: &[u8]) -> Self {
        #[derive(Deserialize)]
        struct Reported {
            usage: Option<Value>,
        }
        let Ok(Reported { usage: Some(usage) }) = serde_json::from_slice(answer) else { return self };
        let number = |names: [&str; 2]| names.iter().find_map(|name| usage.get(name)?.as_u64());
        let input = number(["input_tokens", "prompt_tokens"]);
        let output = number(["output_tokens", "completion_tokens"]);
        if input.is_some() || output.is_some() {
            (self.input_tokens, self.output_tokens) = (input.unwrap_or(0), output.unwrap_or(0));
            self.is_estimated = false;
        }
        let seconds = usage.get("seconds").and_then(Value::as_f64);
        if let Some(seconds) = seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0) {
            self.audio_seconds = seconds.min(MAX_SECONDS);
            self.is_estimated = false;
        }
        self
    }

    #[expect(clippy::cast_precision_loss, reason = "no request has 2^52 of anything")]
    fn cost(&self, price: &MediaPrice) -> f64 {
        let of = |amount: f64, price: Option<f64>, per: f64| amount * price.unwrap_or(0.0) / per;
        of(self.input_tokens as f64, price.input, 1_000_000.0)
            + of(self.output_tokens as f64, price.output, 1_000_000.0)
            + of(self.images as f64, price.image, 1.0)
            + of(self.characters as f64, price.characters, 1_000_000.0)
            + of(self.audio_seconds, price.minute, 60.0)
    }
}
