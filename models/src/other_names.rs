//! Functions under names that a host may expect: each is a compile error that says what to write.
//!
//! The bound is at the `impl` block, so that a call is refused by its name, whatever its arguments are, and nothing that follows from it is a
//! second error. It has a lifetime, because the compiler would refuse one without any where it is written. Nothing has the traits.

use crate::answer::Answer;
use crate::models::Models;
use crate::scripted::Scripted;

#[diagnostic::on_unimplemented(
    message = "models are those of the section `models` of the configuration",
    label = "write `Models::new(&configuration)?.get(None)?` for the default one",
    note = "in `toolkit.json5`: `models: {{ local: {{ provider: \"openai-chat\", baseUrl: \"http://127.0.0.1:8080/v1\", model: \"qwen3\" }} }}`; without a file: `LoadOptions::new().program(json!({{ \"models\": {{ .. }} }}))`"
)]
pub trait AreOfConfiguration<'a> {}

#[doc(hidden)]
impl<'a> Models
where
    Self: AreOfConfiguration<'a>,
{
    pub fn openai() {}
    pub fn open_ai() {}
    pub fn anthropic() {}
    pub fn claude() {}
    pub fn gemini() {}
    pub fn google() {}
    pub fn ollama() {}
    pub fn local() {}
    pub fn openrouter() {}
    pub fn from_env() {}
    pub fn from_config() {}
    pub fn from_configuration() {}
    pub fn load() {}
    pub fn default() {}
    pub fn builder() {}
    pub fn from_file() {}
    pub fn connect() {}
}

#[diagnostic::on_unimplemented(
    message = "an answer that calls tools is made by `calls`",
    label = "write `Answer::calls([ToolCall::new(\"1\", \"name\", json!({{ .. }}))])`",
    note = "the call of `finish` ends a run of an agent: `json!({{ \"success\": true, \"summary\": \"..\" }})`"
)]
pub trait AnswersWithCalls<'a> {}

#[doc(hidden)]
impl<'a> Answer
where
    Self: AnswersWithCalls<'a>,
{
    pub fn tool_call() {}
    pub fn tool_calls() {}
    pub fn call() {}
    pub fn tool() {}
    pub fn tool_use() {}
    pub fn function_call() {}
    pub fn with_calls() {}
    pub fn finish() {}
    pub fn done() {}
}

#[diagnostic::on_unimplemented(
    message = "a scripted model gets all its replies at once",
    label = "write `Scripted::new([Answer::calls([..]), Answer::text(\"done\")])`, one reply for each request",
    note = "of a function: `Scripted::with(|request| ..)`"
)]
pub trait IsScripted<'a> {}

#[doc(hidden)]
impl<'a> Scripted
where
    Self: IsScripted<'a>,
{
    pub fn reply(&self) {}
    pub fn replies(&self) {}
    pub fn then(&self) {}
    pub fn push(&self) {}
    pub fn add(&self) {}
    pub fn answer(&self) {}
    pub fn answers(&self) {}
    pub fn respond(&self) {}
    pub fn response(&self) {}
    pub fn text(&self) {}
    pub fn with_reply(&self) {}
    pub fn with_response(&self) {}
    pub fn on(&self) {}
    pub fn default(&self) {}
    pub fn builder(&self) {}
    pub fn from_replies(&self) {}
}
