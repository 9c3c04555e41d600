//! A task for a model: one question, one answer of a given structure.
//!
//! `llm_task` sends a prompt, with some input where there is any, to the model that is configured, and returns its answer as JSON that
//! fits a schema. It is optional: it is there only where a list allows it by its name, the plugin's or `group:plugins`. A
//! host needs `toolkit::link!(toolkit_llm_task)` and a model, at any endpoint that speaks as OpenAI's Chat Completions do:
//!
//! ```json5
//! {
//!   plugins: {
//!     "llm-task": {
//!       baseUrl: "http://127.0.0.1:8080/v1", // https://api.openai.com/v1 by default
//!       model: "qwen3",
//!       apiKey: "${env:LLM_API_KEY}", // or { file: "llm-key" }; none where the server wants none
//!     },
//!   },
//!   tools: { alsoAllow: ["llm_task"] },
//!   permission: { llm_task: "allow" }, // asked for otherwise: the prompt leaves this machine, and costs
//! }
//! ```
//!
//! # The answer
//!
//! The schema goes to the server as `response_format`, which some hold the model to and some ignore. So the answer is checked here
//! whatever the server does; where it does not fit, the model is told what is wrong, once, and answers again. Without a schema the
//! answer is any JSON object. What both attempts used is in the result's metadata (`usage`), also where it failed.
//!
//! # Limits
//!
//! A prompt has 100,000 characters, prompt, input and schema 512 KiB together, an answer 4 MiB and as many tokens as `maxTokens` says (4,096).
//! A schema refers to nothing outside of itself, and never to itself. A request waits for 60 seconds (`timeoutSeconds`).

mod answer;
mod chat;
mod fault;
mod schema;
mod settings;
mod tool;

pub use chat::Model;
pub use settings::{LlmTaskSettings, ResponseFormat};

toolkit::plugin! {
    id: "llm-task",
    title: "LLM task",
    description: "Hands a task to a model, and gets an answer of a given structure.",
    optional: true,
}
