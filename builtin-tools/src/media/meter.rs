//! The usage of requests to endpoints, for the meter of the host.

use crate::config::MediaPrice;
use serde::Deserialize;
use serde_json::Value;
use toolkit::metering::EndpointUsage;

/// The most seconds of sound that one request can be said to have: a day.
const MAX_SECONDS: f64 = 86_400.0;

/// Tokens of the largest picture at high quality, by the prices that OpenAI states for `gpt-image-1` (1024×1536: 6,240).
const PICTURE_OUTPUT: u64 = 6_240;
/// Tokens of a picture that is changed, by the same prices, at high fidelity.
const PICTURE_INPUT: u64 = 6_240;
/// Tokens of a second of speech, read or made: more than the endpoints count for it (10 to 32).
const SECOND_OF_SPEECH: f64 = 50.0;
/// Characters that are spoken in a second, at least.
const CHARACTERS_PER_SECOND: f64 = 10.0;

/// The usage that is expected of a request.
#[derive(Debug, Clone, Default)]
pub(super) struct Expected {
    usage: EndpointUsage,
    /// The tokens that are reserved if tokens have a price: they are not known before the answer.
    most_tokens: (u64, u64),
}

impl Expected {
    /// Returns the estimated usage of a request to a language model.
    pub(super) fn tokens(input: u64, output: u64) -> Self {
        let mut expected = Self::default();
        (expected.usage.input_tokens, expected.usage.output_tokens) = (input, output);
        expected.usage.is_estimated = true;
        expected
    }

    /// Returns the usage of a request for pictures.
    pub(super) fn images(count: usize, prompt: &str) -> Self {
        let mut expected = Self::default();
        expected.usage.images = count as u64;
        // A prompt has at most a token for each byte.
        let input = PICTURE_INPUT + prompt.len() as u64;
        expected.most_tokens = (input, PICTURE_OUTPUT.saturating_mul(count as u64));
        expected
    }

    /// Returns the usage of a request for speech.
    pub(super) fn characters(text: &str) -> Self {
        let characters = text.chars().count();
        let mut expected = Self::default();
        expected.usage.characters = characters as u64;
        expected.most_tokens = (text.len() as u64, speech(length(characters) / CHARACTERS_PER_SECOND));
        expected
    }

    /// Returns the estimated usage of a request for the text of speech.
    pub(super) fn audio(seconds: f64) -> Self {
        let mut expected = Self::default();
        (expected.usage.audio_seconds, expected.usage.is_estimated) = (seconds, true);
        expected.most_tokens = (speech(seconds), speech(seconds));
        expected
    }

    /// Returns the usage to reserve.
    pub(super) fn reserved(
        &self,
        tool: &'static str,
        endpoint: &str,
        price: Option<&MediaPrice>,
    ) -> EndpointUsage {
        let mut usage = self.usage.clone();
        if price.is_some_and(|price| price.input.is_some() || price.output.is_some()) {
            usage.input_tokens = usage.input_tokens.max(self.most_tokens.0);
            usage.output_tokens = usage.output_tokens.max(self.most_tokens.1);
            usage.is_estimated = true;
        }
        named(usage, tool, endpoint, price)
    }

    /// Returns the usage by what an answer reports: `usage` with tokens, in the words of either API of OpenAI, or with the seconds of
    /// speech. Of an answer that reports nothing, it is what was reserved.
    pub(super) fn reported(
        &self,
        answer: &[u8],
        tool: &'static str,
        endpoint: &str,
        price: Option<&MediaPrice>,
    ) -> EndpointUsage {
        #[derive(Deserialize)]
        struct Reported {
            usage: Option<Value>,
        }
        let Ok(Reported { usage: Some(reported) }) = serde_json::from_slice(answer) else {
            return self.reserved(tool, endpoint, price);
        };
        let mut usage = self.usage.clone();
        let number = |names: [&str; 2]| names.iter().find_map(|name| reported.get(name)?.as_u64());
        let input = number(["input_tokens", "prompt_tokens"]);
        let output = number(["output_tokens", "completion_tokens"]);
        let has_tokens = input.is_some() || output.is_some();
        if has_tokens {
            (usage.input_tokens, usage.output_tokens) = (input.unwrap_or(0), output.unwrap_or(0));
            usage.is_estimated = false;
        }
        let seconds = reported.get("seconds").and_then(Value::as_f64);
        let seconds = seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
        if let Some(seconds) = seconds {
            usage.audio_seconds = seconds.min(MAX_SECONDS);
            usage.is_estimated = false;
        }
        if !has_tokens && seconds.is_none() {
            return self.reserved(tool, endpoint, price);
        }
        named(usage, tool, endpoint, price)
    }
}

/// Returns the usage with its tool, endpoint and cost.
fn named(
    mut usage: EndpointUsage,
    tool: &'static str,
    endpoint: &str,
    price: Option<&MediaPrice>,
) -> EndpointUsage {
    (usage.tool, usage.endpoint) = (tool, endpoint.to_owned());
    usage.cost = price.map(|price| cost(&usage, price));
    usage
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "of a day of sound at most")]
fn speech(seconds: f64) -> u64 {
    (seconds.clamp(0.0, MAX_SECONDS) * SECOND_OF_SPEECH).ceil() as u64
}

#[expect(clippy::cast_precision_loss, reason = "no text has 2^52 characters")]
fn length(characters: usize) -> f64 {
    characters as f64
}

#[expect(clippy::cast_precision_loss, reason = "no request has 2^52 of anything")]
fn cost(used: &EndpointUsage, price: &MediaPrice) -> f64 {
    let of = |amount: f64, price: Option<f64>, per: f64| amount * price.unwrap_or(0.0) / per;
    of(used.input_tokens as f64, price.input, 1_000_000.0)
        + of(used.output_tokens as f64, price.output, 1_000_000.0)
        + of(used.images as f64, price.image, 1.0)
        + of(used.characters as f64, price.characters, 1_000_000.0)
        + of(used.audio_seconds, price.minute, 60.0)
}
