//! Methods under names that a host may expect: each is a compile error that says what to write.
//!
//! The bound is at the `impl` block, so that a call is refused by its name, whatever its arguments are, and nothing that follows from it is a
//! second error. It has a lifetime, because the compiler would refuse one without any where it is written. Nothing has the traits.

use crate::{Agent, AgentBuilder};

#[diagnostic::on_unimplemented(
    message = "an agent works on a task by `run`",
    label = "write `.run(\"the task\", Observer::none()).await`; the `summary` of the result is the answer",
    note = "`Observer::new(|event| ..)` gets the events; a conversation of several tasks is a session: `agent.session(..)`, or `toolkit_agent::Conversations`"
)]
pub trait IsRun<'a> {}

#[doc(hidden)]
impl<'a> Agent
where
    Self: IsRun<'a>,
{
    pub fn prompt(&self) {}
    pub fn chat(&self) {}
    pub fn ask(&self) {}
    pub fn complete(&self) {}
    pub fn completion(&self) {}
    pub fn execute(&self) {}
    pub fn call(&self) {}
    pub fn invoke(&self) {}
    pub fn generate(&self) {}
    pub fn stream(&self) {}
    pub fn stream_prompt(&self) {}
    pub fn start(&self) {}
    pub fn send(&self) {}
    pub fn message(&self) {}
    pub fn respond(&self) {}
    pub fn query(&self) {}
    pub fn solve(&self) {}
    pub fn run_task(&self) {}
    pub fn delegate(&self) {}
    pub fn kickoff(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "an agent is made of a toolkit and a model, by its builder",
    label = "write `Agent::builder(toolkit, Arc::new(model)).build()`"
)]
pub trait MadeByBuilder<'a> {}

#[doc(hidden)]
#[expect(clippy::new_ret_no_self, reason = "nothing calls it")]
impl<'a> Agent
where
    Self: MadeByBuilder<'a>,
{
    pub fn new() {}
    pub fn with_model() {}
    pub fn with_toolkit() {}
    pub fn from_toolkit() {}
    pub fn create() {}
    pub fn default() {}
    pub fn from_model() {}
}

#[diagnostic::on_unimplemented(
    message = "an agent limits its runs by `limits`",
    label = "write `.limits(Limits::new().max_turns(20).timeout(Duration::from_secs(60)))`",
    note = "others are `max_tool_calls`, `max_tokens`, `max_cost` and `max_depth`"
)]
pub trait LimitsRuns<'a> {}

#[doc(hidden)]
impl<'a> AgentBuilder
where
    Self: LimitsRuns<'a>,
{
    pub fn max_turns(&self) {}
    pub fn max_steps(&self) {}
    pub fn max_iterations(&self) {}
    pub fn max_rounds(&self) {}
    pub fn multi_turn(&self) {}
    pub fn turns(&self) {}
    pub fn max_tool_calls(&self) {}
    pub fn max_calls(&self) {}
    pub fn max_tokens(&self) {}
    pub fn max_cost(&self) {}
    pub fn max_depth(&self) {}
    pub fn timeout(&self) {}
    pub fn with_timeout(&self) {}
    pub fn time_limit(&self) {}
    pub fn budget(&self) {}
    pub fn recursion_limit(&self) {}
    pub fn with_limits(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "an agent is instructed by `instructions`",
    label = "write `.instructions(\"..\")`, which adds to the system prompt"
)]
pub trait IsInstructed<'a> {}

#[doc(hidden)]
impl<'a> AgentBuilder
where
    Self: IsInstructed<'a>,
{
    pub fn preamble(&self) {}
    pub fn system(&self) {}
    pub fn system_prompt(&self) {}
    pub fn system_message(&self) {}
    pub fn prompt(&self) {}
    pub fn with_instructions(&self) {}
    pub fn with_system_prompt(&self) {}
    pub fn append_preamble(&self) {}
    pub fn persona(&self) {}
    pub fn role(&self) {}
    pub fn goal(&self) {}
    pub fn context_text(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "an agent has the tools of its toolkit",
    label = "add it to the toolkit, before `Agent::builder(toolkit, model)`",
    note = "a profile of a sub-agent narrows them: `.profile(\"reader\", AgentProfile::new(\"Reads.\").tools([\"read\"]))`"
)]
pub trait HasToolkit<'a> {}

#[doc(hidden)]
impl<'a> AgentBuilder
where
    Self: HasToolkit<'a>,
{
    pub fn tool(&self) {}
    pub fn tools(&self) {}
    pub fn add_tool(&self) {}
    pub fn with_tool(&self) {}
    pub fn with_tools(&self) {}
    pub fn register(&self) {}
    pub fn service(&self) {}
    pub fn with_service(&self) {}
    pub fn state(&self) {}
    pub fn tool_source(&self) {}
    pub fn mcp(&self) {}
    pub fn policy(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "an agent gets its toolkit and its model first",
    label = "write `Agent::builder(toolkit, Arc::new(model))`"
)]
pub trait HasModel<'a> {}

#[doc(hidden)]
impl<'a> AgentBuilder
where
    Self: HasModel<'a>,
{
    pub fn llm(&self) {}
    pub fn with_model(&self) {}
    pub fn with_llm(&self) {}
    pub fn provider(&self) {}
    pub fn client(&self) {}
    pub fn with_toolkit(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "the events of a run go to its observer",
    label = "write `agent.run(\"the task\", Observer::new(|event| ..)).await`"
)]
pub trait IsObserved<'a> {}

#[doc(hidden)]
impl<'a> AgentBuilder
where
    Self: IsObserved<'a>,
{
    pub fn observer(&self) {}
    pub fn with_observer(&self) {}
    pub fn on_event(&self) {}
    pub fn on_step(&self) {}
    pub fn on_tool_call(&self) {}
    pub fn hook(&self) {}
    pub fn with_hook(&self) {}
    pub fn callback(&self) {}
    pub fn callbacks(&self) {}
    pub fn events(&self) {}
    pub fn verbose(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "this is the builder of an agent",
    label = "write `.build()` before it"
)]
pub trait IsBuilt<'a> {}

#[doc(hidden)]
impl<'a> AgentBuilder
where
    Self: IsBuilt<'a>,
{
    pub fn run(&self) {}
    pub fn run_with(&self) {}
    pub fn chat(&self) {}
    pub fn ask(&self) {}
    pub fn execute(&self) {}
    pub fn session(&self) {}
    pub fn stream(&self) {}
    pub fn start(&self) {}
}
