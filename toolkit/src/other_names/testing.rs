//! Methods under names that a test may expect: each is a compile error that says what to write.
//!
//! The bound is at the `impl` block, so that a call is refused by its name, whatever its arguments are, and nothing that follows from it is a
//! second error. It has a lifetime, because the compiler would refuse one without any where it is written. Nothing has the traits.

use crate::approver::ScriptedApprover;
use crate::testing::{Calling, TestCall, TestToolbox};

#[diagnostic::on_unimplemented(
    message = "a call in a test runs when it is awaited",
    label = "write `.await` before it: `test.call(json!({{ .. }})).await`",
    note = "the test is an `async fn` with `#[tokio::test]`"
)]
pub trait IsAwaited<'a> {}

#[doc(hidden)]
impl<'a> Calling<'_>
where
    Self: IsAwaited<'a>,
{
    pub fn text(&self) {}
    pub fn details(&self) {}
    pub fn expect_ok(&self) {}
    pub fn unwrap(&self) {}
    pub fn expect(&self) {}
    pub fn expect_error(&self) {}
    pub fn unwrap_err(&self) {}
    pub fn is_ok(&self) {}
    pub fn is_err(&self) {}
    pub fn file(&self) {}
    pub fn workspace(&self) {}
    pub fn progress(&self) {}
    pub fn partial(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "a test takes the output of a call that succeeds by `expect_ok`",
    label = "write `.expect_ok()`, which returns the `ToolOutput` and panics with the error otherwise; `assert_eq!(call.text(), \"..\")` compares the text"
)]
pub trait ChecksSuccess<'a> {}

#[doc(hidden)]
impl<'a> TestCall
where
    Self: ChecksSuccess<'a>,
{
    pub fn assert_ok(&self) {}
    pub fn assert_success(&self) {}
    pub fn expect(&self) {}
    pub fn expect_success(&self) {}
    pub fn is_ok(&self) {}
    pub fn is_success(&self) {}
    pub fn ok(&self) {}
    pub fn output(&self) {}
    pub fn assert_text(&self) {}
    pub fn assert_output(&self) {}
    pub fn assert_eq(&self) {}
    pub fn assert_contains(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "a test takes the error of a call by `expect_error`",
    label = "write `.expect_error(ToolErrorKind::NotFound)`, with the kind that is expected; it returns the error, whose `message()` is its text"
)]
pub trait ChecksError<'a> {}

#[doc(hidden)]
impl<'a> TestCall
where
    Self: ChecksError<'a>,
{
    pub fn assert_error(&self) {}
    pub fn assert_err(&self) {}
    pub fn assert_failed(&self) {}
    pub fn assert_denied(&self) {}
    pub fn expect_err(&self) {}
    pub fn expect_failure(&self) {}
    pub fn unwrap_err(&self) {}
    pub fn error(&self) {}
    pub fn err(&self) {}
    pub fn is_err(&self) {}
    pub fn is_error(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "the structured data of a call are its `details`",
    label = "write `.details()`, a `&serde_json::Value`"
)]
pub trait HasDetails<'a> {}

#[doc(hidden)]
impl<'a> TestCall
where
    Self: HasDetails<'a>,
{
    pub fn json(&self) {}
    pub fn as_json(&self) {}
    pub fn to_json(&self) {}
    pub fn value(&self) {}
    pub fn data(&self) {}
    pub fn structured(&self) {}
    pub fn structured_content(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "a test calls its tool by `call`",
    label = "write `.call(json!({{ \"name\": \"value\" }})).await`, with the arguments alone",
    note = "another tool of the test, added by `.tool(tool_ref!(function))`, is called by `.call_tool(\"name\", json!({{ .. }})).await`"
)]
pub trait CallsTested<'a> {}

#[doc(hidden)]
impl<'a> TestToolbox
where
    Self: CallsTested<'a>,
{
    pub fn run(&self) {}
    pub fn execute(&self) {}
    pub fn invoke(&self) {}
    pub fn call_with(&self) {}
    pub fn call_json(&self) {}
    pub fn run_tool(&self) {}
    pub fn send(&self) {}
    pub fn test(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "a test answers for a person by `approve`",
    label = "write `.approve(ScriptedApprover::always(Answer::allow()))` before the first call",
    note = "`ScriptedApprover` and `Answer` are in `toolkit::approval`; one answer for each question: `ScriptedApprover::new([Answer::allow(), Answer::deny()])`"
)]
pub trait AnswersByScript<'a> {}

#[doc(hidden)]
impl<'a> TestToolbox
where
    Self: AnswersByScript<'a>,
{
    pub fn approver(&self) {}
    pub fn with_approver(&self) {}
    pub fn approving(&self) {}
    pub fn approve_all(&self) {}
    pub fn allow_all(&self) {}
    pub fn auto_approve(&self) {}
    pub fn allow(&self) {}
    pub fn deny(&self) {}
    pub fn answer(&self) {}
    pub fn answers(&self) {}
    pub fn with_answers(&self) {}
    pub fn on_ask(&self) {}
    pub fn elicit(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "a test provides a service by `service`",
    label = "write `.service(value)`, or `.shared_service(value)` for an `Arc`"
)]
pub trait ProvidesService<'a> {}

#[doc(hidden)]
impl<'a> TestToolbox
where
    Self: ProvidesService<'a>,
{
    pub fn state(&self) {}
    pub fn with_state(&self) {}
    pub fn with_service(&self) {}
    pub fn data(&self) {}
    pub fn app_data(&self) {}
    pub fn extension(&self) {}
    pub fn provide(&self) {}
    pub fn inject(&self) {}
    pub fn mock(&self) {}
    pub fn mock_service(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "a test adds another tool by `tool`, and a file of its workspace by `file`",
    label = "write `.tool(tool_ref!(function))`, or `.file(\"path\", \"content\")`"
)]
pub trait AddsToTest<'a> {}

#[doc(hidden)]
impl<'a> TestToolbox
where
    Self: AddsToTest<'a>,
{
    pub fn with_tool(&self) {}
    pub fn add_tool(&self) {}
    pub fn tools(&self) {}
    pub fn register(&self) {}
    pub fn with_file(&self) {}
    pub fn add_file(&self) {}
    pub fn write_file(&self) {}
    pub fn files(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "other settings of the host are those of its builder",
    label = "write `.build(|builder| builder.configuration(configuration))`, with any method of `toolkit::Builder`",
    note = "who calls: `.caller(|caller| caller.with_agent(\"agent\"))`; a time limit: `.options(CallOptions::new().timeout(duration))`"
)]
pub trait BuildsHost<'a> {}

#[doc(hidden)]
impl<'a> TestToolbox
where
    Self: BuildsHost<'a>,
{
    pub fn config(&self) {}
    pub fn configuration(&self) {}
    pub fn with_config(&self) {}
    pub fn with_configuration(&self) {}
    pub fn settings(&self) {}
    pub fn set(&self) {}
    pub fn history(&self) {}
    pub fn timeout(&self) {}
    pub fn with_timeout(&self) {}
    pub fn with_caller(&self) {}
    pub fn session(&self) {}
    pub fn with_workspace(&self) {}
    pub fn builder(&self) {}
    pub fn configure(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "a `ScriptedApprover` is made of answers",
    label = "write `ScriptedApprover::always(Answer::allow())`, or `Answer::deny()`",
    note = "one answer for each question: `ScriptedApprover::new([Answer::allow(), Answer::deny()])`"
)]
pub trait IsScript<'a> {}

#[doc(hidden)]
impl<'a> ScriptedApprover
where
    Self: IsScript<'a>,
{
    pub fn allow() {}
    pub fn allow_all() {}
    pub fn always_allow() {}
    pub fn allowing() {}
    pub fn approve() {}
    pub fn approve_all() {}
    pub fn yes() {}
    pub fn deny() {}
    pub fn deny_all() {}
    pub fn always_deny() {}
    pub fn no() {}
    pub fn default() {}
    pub fn with_answers() {}
    pub fn answers() {}
}
