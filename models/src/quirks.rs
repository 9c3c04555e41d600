//! Parameters that a server turns out not to take.

use serde_json::Value;

/// A change of requests after a server has refused one for a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quirk {
    /// It does not take `stream_options`.
    NoStreamOptions,
    /// It wants the limit of tokens by the other one of its two names.
    OtherMaxTokens,
    /// It does not take `temperature`.
    NoTemperature,
    /// It wants reasoning to be asked for in the other one of two forms.
    OtherThinking,
    /// It does not take a wish for reasoning.
    NoThinking,
    /// It gives no summaries of reasoning.
    NoSummary,
    /// It gives no encrypted reasoning.
    NoEncrypted,
    /// It does not take this schema of an answer.
    NoSchema,
}

/// The changes that a server needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Quirks(u16);

impl Quirks {
    pub(crate) const fn has(self, quirk: Quirk) -> bool {
        self.0 & (1 << quirk as u16) != 0
    }

    #[must_use]
    pub(crate) const fn with(self, quirk: Quirk) -> Self {
        Self(self.0 | (1 << quirk as u16))
    }

    /// Properties of the server, which hold for every request.
    #[must_use]
    pub(crate) const fn lasting(self) -> Self {
        Self(self.0 & !(1 << Quirk::NoSchema as u16))
    }

    /// The change that makes a refused request acceptable, by what the server says of it.
    pub(crate) fn next(self, body: &Value, message: &str) -> Option<Quirk> {
        let message = message.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
        let has = |pointers: &[&str]| pointers.iter().any(|pointer| body.pointer(pointer).is_some());
        // An error about the conversation is not about a parameter.
        let is_of_messages = says(&["messages.", "passed back", "thought_signature", "thought signature"]);
        let candidates = [
            (Quirk::NoStreamOptions, says(&["stream_options"]) && has(&["/stream_options"])),
            (
                Quirk::OtherMaxTokens,
                says(&["max_completion_tokens"]) && has(&["/max_tokens", "/max_completion_tokens"]),
            ),
            (
                Quirk::NoTemperature,
                says(&["temperature"]) && has(&["/temperature", "/generationConfig/temperature"]),
            ),
            (Quirk::NoEncrypted, says(&["encrypted"]) && has(&["/include"])),
            (Quirk::NoSummary, says(&["summar"]) && has(&["/reasoning/summary"])),
            (
                Quirk::OtherThinking,
                says(&["thinking", "adaptive", "effort", "budget"]) && has(&["/thinking"]) && !is_of_messages,
            ),
            (
                Quirk::NoThinking,
                says(&["thinking", "reasoning", "effort"])
                    && has(&[
                        "/thinking",
                        "/reasoning",
                        "/reasoning_effort",
                        "/generationConfig/thinkingConfig",
                    ])
                    && !is_of_messages,
            ),
            (
                Quirk::NoSchema,
                says(&[
                    "response_format",
                    "json_schema",
                    "text.format",
                    "output_config",
                    "output_format",
                    "schema",
                    "structured output",
                    "response mime type",
                ]) && has(&[
                    "/response_format",
                    "/text/format",
                    "/output_config/format",
                    "/generationConfig/responseJsonSchema",
                ]),
            ),
        ];
        candidates.into_iter().find(|(quirk, applies)| *applies && !self.has(*quirk)).map(|(quirk, _)| quirk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn messages_of_servers_name_what_to_leave_out() {
        let chat = json!({"stream_options": {}, "max_tokens": 5, "temperature": 0.5, "reasoning_effort": "low", "response_format": {}});
        let responses = json!({"include": ["reasoning.encrypted_content"], "reasoning": {"effort": "low", "summary": "auto"}});
        let anthropic =
            json!({"thinking": {"type": "adaptive"}, "output_config": {"effort": "low", "format": {}}});
        for (body, message, expected) in [
            (&chat, "Extra inputs are not permitted: stream_options", Some(Quirk::NoStreamOptions)),
            (
                &chat,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Some(Quirk::OtherMaxTokens),
            ),
            (&chat, "Unsupported value: 'temperature' does not support 0.5", Some(Quirk::NoTemperature)),
            (&chat, "Unrecognized request argument supplied: reasoning_effort", Some(Quirk::NoThinking)),
            (&chat, "Invalid schema for response_format 'answer'", Some(Quirk::NoSchema)),
            (&chat, "model `x` not found", None),
            (&responses, "Encrypted content is not supported with this model.", Some(Quirk::NoEncrypted)),
            (
                &responses,
                "Your organization must be verified to generate reasoning summaries.",
                Some(Quirk::NoSummary),
            ),
            (&anthropic, "adaptive thinking is not supported on this model", Some(Quirk::OtherThinking)),
            (&anthropic, "output_config.format: schema is too complex", Some(Quirk::NoSchema)),
            (&anthropic, "messages.1.content.0: `thinking` blocks cannot be modified", None),
        ] {
            assert_eq!(Quirks::default().next(body, message), expected, "{message}");
        }
        let once = Quirks::default().with(Quirk::OtherThinking);
        assert_eq!(once.next(&anthropic, "thinking is not supported"), Some(Quirk::NoThinking));
        assert_eq!(Quirks::default().with(Quirk::NoSchema).lasting(), Quirks::default());
    }
}
