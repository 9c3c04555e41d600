//! The choice among the providers' formats: a request is written, and its answer is read.

use crate::quirks::{Quirk, Quirks};
use crate::request::{Request, ToolChoice};
use crate::settings::{Provider, ResponseFormat};
use crate::wire::{AnswerReader, Calls, Constraint, Draft};
use crate::{anthropic, chat, gemini, responses};
use serde_json::Value;
use toolkit::dialects::Dialect;

/// Writes the body of a request.
pub(crate) fn body(draft: &Draft<'_>) -> Result<Value, String> {
    if let ToolChoice::Named(name) = &draft.request.tool_choice {
        draft.named(name)?;
    }
    match draft.dialect() {
        Dialect::OpenAiResponses | Dialect::OpenAiResponsesStrict => responses::body(draft),
        Dialect::Anthropic => anthropic::body(draft),
        Dialect::Gemini => gemini::body(draft),
        _ => chat::body(draft),
    }
}

/// Returns the reader of the answer to a request.
pub(crate) fn reader(draft: &Draft<'_>) -> Box<dyn AnswerReader> {
    let calls = Calls::new(&draft.tools);
    match draft.dialect() {
        Dialect::OpenAiResponses | Dialect::OpenAiResponsesStrict => Box::new(responses::Reader::new(calls)),
        Dialect::Anthropic => Box::new(anthropic::Reader::new(calls)),
        Dialect::Gemini => Box::new(gemini::Reader::new(calls)),
        _ => Box::new(chat::Reader::new(calls)),
    }
}

/// Returns how a server is told of the schema of an answer.
pub(crate) fn constraint(
    request: &Request,
    provider: Provider,
    format: ResponseFormat,
    wants_strict: bool,
    quirks: Quirks,
) -> Option<Constraint> {
    let schema = request.response_schema.clone()?;
    if quirks.has(Quirk::NoSchema) || format == ResponseFormat::None {
        return Some(Constraint::Prompt(schema));
    }
    if format == ResponseFormat::JsonObject {
        return Some(Constraint::Object(schema));
    }
    let strict =
        || Some(Dialect::OpenAiChatStrict.schema(&schema)).filter(|strict| strict.not_strict.is_none());
    match provider {
        Provider::OpenAiChat | Provider::OpenAiResponses => {
            let strict = (wants_strict || provider == Provider::OpenAiResponses).then(strict).flatten();
            Some(match strict {
                Some(strict) => Constraint::Schema {
                    schema: strict.schema.clone(),
                    is_strict: true,
                    read_back: Some(Box::new(strict)),
                },
                None => Constraint::Schema { schema, is_strict: false, read_back: None },
            })
        }
        Provider::Anthropic => Some(match strict() {
            Some(strict) => {
                let mut schema = strict.schema.clone();
                anthropic::without_bounds(&mut schema);
                Constraint::Schema { schema, is_strict: true, read_back: Some(Box::new(strict)) }
            }
            None => Constraint::Prompt(schema),
        }),
        Provider::Gemini => {
            let schema = Dialect::Gemini.schema(&schema).schema;
            Some(Constraint::Schema { schema, is_strict: true, read_back: None })
        }
    }
}
