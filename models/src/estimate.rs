//! Estimates of the tokens of messages and requests.

use crate::message::{AssistantMessage, AssistantPart, Message, Part, ToolResults};
use crate::request::Request;
use toolkit::{arguments::CallArguments, text::estimated_tokens};

/// The tokens that a picture, a sound or a binary document is taken for.
const MEDIA_TOKENS: u64 = 1_500;
/// The tokens around a message.
const MESSAGE_TOKENS: u64 = 6;

impl Message {
    /// Returns the estimated tokens of the message.
    pub fn estimated_tokens(&self) -> u64 {
        let part = |part: &Part| part.to_model_text().map_or(MEDIA_TOKENS, |text| of_text(&text));
        let parts = |parts: &[Part]| -> u64 { parts.iter().map(part).sum() };
        let content = match self {
            Self::User(message) => parts(&message.content),
            Self::Tools(ToolResults { results }) => {
                results.iter().map(|result| parts(&result.content) + MESSAGE_TOKENS).sum()
            }
            Self::Assistant(message) => return message.estimated_tokens(),
        };
        content + MESSAGE_TOKENS
    }
}

impl AssistantMessage {
    /// Returns the estimated tokens of the message.
    pub fn estimated_tokens(&self) -> u64 {
        let tokens = self.content.iter().map(|part| match part {
            AssistantPart::Text { text } | AssistantPart::Reasoning { text, .. } => of_text(text),
            AssistantPart::ToolCall(call) => {
                let arguments = match &call.arguments {
                    CallArguments::Text(arguments) => of_text(arguments),
                    CallArguments::Json(arguments) => of_text(&arguments.to_string()),
                    _ => 0,
                };
                of_text(&call.name) + arguments + MESSAGE_TOKENS
            }
            AssistantPart::Image { .. } => MEDIA_TOKENS,
        });
        tokens.sum::<u64>() + MESSAGE_TOKENS
    }
}

impl Request {
    /// Returns the estimated tokens of the request: instructions, tools and messages.
    pub fn estimated_tokens(&self) -> u64 {
        let tools = self.tools.as_ref().map_or(0, |tools| of_text(&tools.to_json().to_string()));
        let messages: u64 = self.messages.iter().map(Message::estimated_tokens).sum();
        of_text(&self.system) + tools + messages
    }
}

fn of_text(text: &str) -> u64 {
    estimated_tokens(text) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::UserMessage;

    #[test]
    fn links_and_text_documents_count_as_the_text_that_a_model_reads() {
        let long = "word ".repeat(10_000);
        let tokens = |part: Part| Message::User(UserMessage { content: vec![part] }).estimated_tokens();
        let document = toolkit::output::Resource::text("x:1", &*long);
        assert!(tokens(Part::Resource { resource: document }) >= tokens(Part::text(&*long)));
        let picture = Part::image(vec![0; 100_000], "image/png");
        assert_eq!(tokens(picture), MEDIA_TOKENS + MESSAGE_TOKENS);
    }
}
