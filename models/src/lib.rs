//! Language models behind one trait: OpenAI's Chat Completions and all that speak like it, OpenAI's Responses, Anthropic's Messages and
//! Google's Gemini.

mod answer;
mod error;
mod message;
mod model;
mod request;
mod scripted;

pub use answer::{Answer, StopReason, Usage};
pub use error::ModelError;
pub use message::{
    AssistantMessage, AssistantPart, Message, Part, RawMessage, ToolOutput, ToolResults, UserMessage,
};
pub use model::{Model, ModelEvent, Price};
pub use request::{Request, Thinking, ToolChoice};
pub use scripted::{Scripted, ScriptedReply};
