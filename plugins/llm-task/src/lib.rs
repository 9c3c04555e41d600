//! A task for a model: one question, one answer of a given structure.
//!
//! `llm_task` sends a prompt, with optional input, to the configured model, and returns its answer as JSON that is valid by a schema. It
//! is optional: it is only available if a list allows it by its name, the plugin's or `group:plugins`. A host needs
//! `toolkit::link!(toolkit_llm_task)` and a model, at any endpoint that is compatible with OpenAI's Chat Completions:
//!
//! ```json5
//! {
//!   plugins: {
//!     "llm-task": {
//!       baseUrl: "http://127.0.0.1:8080/v1", // https://api.openai.com/v1 by default
//!       model: "qwen3",
//!       apiKey: "${env:LLM_API_KEY}", // or { file: "llm-key" }; none where the server wants none
//!       price: { input: 0.5, output: 1.5 }, // of a million tokens; the meter of the host counts the cost
//!     },
//!   },
//!   tools: { alsoAllow: ["llm_task"] },
//!   permission: { llm_task: "allow" }, // asked for otherwise: the prompt leaves this machine, and costs
//! }
//! ```
//!
//! Without `plugins.llm-task.model`, the task goes to the model of the host, if it provides one ([`TaskModel`]): the `toolkit` command provides
//! the default model of its configuration (`models`).
//!
//! # The answer
//!
//! The schema is sent to the server as `response_format`, which some servers enforce and some ignore. So the answer is validated here in
//! any case; if it is invalid, the model receives the validation errors, once, and answers again. Without a schema the answer is any JSON
//! object. The token usage of both attempts is in the result's metadata (`usage`), also after a failure.
//!
//! # Limits
//!
//! A prompt has at most 100,000 characters; prompt, input and schema together 512 KiB; an answer 4 MiB and at most `maxTokens` tokens
//! (4,096). A schema refers to nothing outside of itself, and has no recursion. The timeout of a request is 60 seconds (`timeoutSeconds`).

mod answer;
mod chat;
mod fault;
mod host;
mod metered;
mod schema;
mod settings;
mod tool;

pub use chat::Model;
pub use host::{TaskAnswer, TaskAnswering, TaskModel, TaskRequest};
pub use settings::{LlmTaskSettings, ResponseFormat, TaskPrice};

// Its clients have no provider of cryptography of their own, nor has then any other client of the program.
toolkit::at_start!(toolkit_http::install_provider);

toolkit::plugin! {
    id: "llm-task",
    title: "LLM task",
    description: "Hands a task to a model, and gets an answer of a given structure.",
    optional: true,
}
