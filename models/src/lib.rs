//! Language models behind one trait: OpenAI's Chat Completions and all that speak like it (llama.cpp, Ollama, vLLM and others), OpenAI's
//! Responses, Anthropic's Messages and Google's Gemini.
//!
//! [`Models`] reads the section `models` of the configuration and gives a [`Model`] by name:
//!
//! ```json5
//! {
//!   models: {
//!     default: "local",
//!     // A local server needs its address alone.
//!     local: { baseUrl: "http://127.0.0.1:8080/v1", contextTokens: 32768 },
//!     claude: {
//!       provider: "anthropic", // or "openai-responses", "openai-chat", "gemini"
//!       model: "claude-sonnet-4-6",
//!       apiKey: "${env:ANTHROPIC_API_KEY}", // or { file: "key" }
//!       fallback: ["local"],
//!       price: { input: 3, output: 15, cached: 0.3, cacheWrite: 3.75 },
//!     },
//!   },
//!   agents: { main: { name: "Main", model: "claude" } },
//! }
//! ```
//!
//! Without a network, [`Scripted`] answers as a test says:
//!
//! ```
//! use serde_json::json;
//! use std::sync::Arc;
//! use toolkit::prelude::*;
//! use toolkit::CallOptions;
//! use toolkit_models::{Answer, Message, Model, Request, Scripted};
//!
//! /// Adds two numbers.
//! #[tool(read_only)]
//! async fn add(/** One. */ a: i64, /** The other. */ b: i64) -> String {
//!     (a + b).to_string()
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let toolbox = Toolkit::empty().tool(toolkit::tool_ref!(add)).build()?.toolbox(&Caller::new()).await;
//! let call = ToolCall::new("call_1", "add", json!({"a": 1, "b": 2}));
//! let model = Scripted::new([Answer::calls([call]), Answer::text("It is 3.")]);
//! let mut request = Request::new([Message::user("What is 1 + 2?")]).tools(toolbox.definitions_for(model.dialect()));
//! loop {
//!     let answer = model.respond(&request, &mut |_| {}).await?;
//!     let calls: Vec<ToolCall> = answer.message.tool_calls().cloned().collect();
//!     request.messages.push(Message::Assistant(answer.message));
//!     if calls.is_empty() {
//!         break;
//!     }
//!     request.messages.push(Message::tools(toolbox.call_all(calls, CallOptions::default()).await));
//! }
//! assert_eq!(request.messages[2], Message::tools([toolkit_models::ToolOutput::text(&ToolCall::new("call_1", "add", "{}"), "3")]));
//! # Ok(()) }
//! ```
//!
//! # What a client does
//!
//! * **It repairs the conversation** that it sends, never the one that it is given: a call without a result gets an error as its result, a
//!   result without a call is left out, turns alternate, and ids are such as the provider takes.
//! * **Reasoning goes back as the provider requires**, from the provider's own message ([`RawMessage`]), to the same model alone.
//! * **A request is sent again** after a failed connection, the status 408, 409, 425, 429 or 5xx, up to `maxRetries` times, as long as nothing
//!   of an answer has arrived. The wait doubles, with some chance in it; `Retry-After` goes before, up to [`MAX_RETRY_WAIT`].
//! * **Small models call tools by a JSON text** where the configuration says `toolCalls: "json"`: see [`JsonToolCalls`].
//! * **A parameter that a server refuses** by name, such as `stream_options` or `temperature`, is left out from then on.
//! * **Time and size are limited**: the time for a connection and between two pieces of an answer, and the bytes of an answer
//!   ([`MAX_ANSWER_BYTES`]).
//! * **Keys are in no error**, also where a server repeats them.
//!
//! # What a meter does
//!
//! [`Meter::respond`] counts a request against the accounts of its [`Scope`], such as an agent, a session and a person, and refuses it if it
//! would pass a [`Budget`]. It reserves before the request is sent and settles when it has ended, so that requests at the same time never
//! pass a budget together. With a [`MeterStore`], the counts survive the process: a request that was open then counts with what it reserved.

mod account;
mod answer;
mod anthropic;
mod chat;
mod client;
mod conversation;
mod error;
mod estimate;
mod exceeded;
mod fallback;
mod fault;
mod format;
mod gemini;
mod json_calls;
mod message;
mod meter;
mod model;
mod models;
mod other_names;
mod quirks;
mod request;
mod responses;
mod scripted;
mod server;
mod settings;
mod wire;

pub use account::{Account, Scope};
pub use answer::{Answer, StopReason, Usage};
pub use client::{MAX_ANSWER_BYTES, MAX_RETRY_WAIT};
pub use error::ModelError;
pub use exceeded::{BudgetExceeded, Measure};
pub use fallback::Fallback;
pub use json_calls::JsonToolCalls;
pub use message::{
    AssistantMessage, AssistantPart, Message, Part, RawMessage, ToolOutput, ToolResults, UserMessage,
};
pub use meter::{
    AccountPeriod, AccountUsage, Budget, Meter, MeterBuilder, MeterCounts, MeterError, MeterStore,
    OpenRequest, Opening, Reservation, SettledRequest, Tally, TotalUsage,
};
pub use model::{IntoModel, Model, ModelEvent, Price, Responding};
pub use models::Models;
pub use request::{Request, Thinking, ToolChoice};
pub use scripted::{Scripted, ScriptedReply};
pub use settings::{ModelSettings, ModelsSettings, Provider, ResponseFormat, ToolCalling};

// Its clients have no provider of cryptography of their own, nor has then any other client of the program.
toolkit::at_start!(toolkit_http::install_provider);
