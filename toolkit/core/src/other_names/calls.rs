//! Those of calls, questions and their results.

use crate::ask::{Answer, Ask};
use crate::call::ToolResult;
use crate::caller::Caller;
use crate::error::ToolErrorKind;
use crate::output::ToolOutput;

#[diagnostic::on_unimplemented(
    message = "a `ToolResult` is no `Result`: its field `outcome` is one",
    label = "write `.outcome` before it, or use `.text()`, which is the text of the output or of the error",
    note = "`.is_error()` tells whether the call failed, `.error()` why, and `.output()` is the `ToolOutput` of a call that succeeded"
)]
pub trait HasOutcome<'a> {}

#[doc(hidden)]
impl<'a> ToolResult
where
    Self: HasOutcome<'a>,
{
    pub fn unwrap(&self) {}
    pub fn unwrap_err(&self) {}
    pub fn unwrap_or_default(&self) {}
    pub fn expect(&self) {}
    pub fn expect_err(&self) {}
    pub fn is_ok(&self) {}
    pub fn is_err(&self) {}
    pub fn is_success(&self) {}
    pub fn ok(&self) {}
    pub fn err(&self) {}
    pub fn ok_or(&self) {}
    pub fn map(&self) {}
    pub fn map_err(&self) {}
    pub fn and_then(&self) {}
    pub fn into_result(&self) {}
    pub fn to_result(&self) {}
    pub fn as_ref(&self) {}
    pub fn success(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "the output of a call is text, or structured data",
    label = "write `.text()` for the text that a model gets, or `.details()` for the structured data",
    note = "`.content()` has the pictures, too"
)]
pub trait HasText<'a> {}

#[doc(hidden)]
impl<'a> ToolResult
where
    Self: HasText<'a>,
{
    pub fn as_text(&self) {}
    pub fn to_text(&self) {}
    pub fn get_text(&self) {}
    pub fn output_text(&self) {}
    pub fn message(&self) {}
    pub fn body(&self) {}
    pub fn value(&self) {}
    pub fn data(&self) {}
    pub fn json(&self) {}
    pub fn as_json(&self) {}
    pub fn to_json(&self) {}
    pub fn structured(&self) {}
    pub fn structured_content(&self) {}
    pub fn contents(&self) {}
    pub fn blocks(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "a caller is who calls tools, made by `new`",
    label = "write `Caller::new()`, with `.with_agent(\"agent\")`, `.with_session(\"session\")` or `.with_workspace(directory)`"
)]
pub trait MadeByNew<'a> {}

#[doc(hidden)]
impl<'a> Caller
where
    Self: MadeByNew<'a>,
{
    pub fn anonymous() {}
    pub fn system() {}
    pub fn user() {}
    pub fn local() {}
    pub fn test() {}
    pub fn named() {}
    pub fn agent_named() {}
    pub fn for_user() {}
    pub fn for_agent() {}
    pub fn builder() {}
    pub fn from_id() {}
    pub fn root() {}
    pub fn admin() {}
}

#[diagnostic::on_unimplemented(
    message = "this is the answer of a person, from `toolkit::approval`",
    label = "take that of a model: write `toolkit_models::Answer`, or `use toolkit_models::Answer;`",
    note = "an import by name has precedence over that of the prelude"
)]
pub trait IsOfModel<'a> {}

#[doc(hidden)]
#[expect(clippy::new_ret_no_self, reason = "nothing calls it")]
impl<'a> Answer
where
    Self: IsOfModel<'a>,
{
    pub fn calls() {}
    pub fn text() {}
    pub fn new() {}
    pub fn tool_call() {}
    pub fn tool_calls() {}
    pub fn finish() {}
    pub fn message() {}
}

#[diagnostic::on_unimplemented(
    message = "an answer of yes is made by `allow`",
    label = "write `Answer::allow()`",
    note = "for longer: `Answer::allow_for_session()`, `Answer::allow_always()`"
)]
pub trait IsAllowed<'a> {}

#[doc(hidden)]
impl<'a> Answer
where
    Self: IsAllowed<'a>,
{
    pub fn yes() {}
    pub fn approve() {}
    pub fn approved() {}
    pub fn accept() {}
    pub fn allowed() {}
    pub fn ok() {}
    pub fn granted() {}
    pub fn allow_once() {}
    pub fn allow_all() {}
    pub fn confirm() {}
}

#[diagnostic::on_unimplemented(
    message = "an answer of no is made by `deny`",
    label = "write `Answer::deny()`, or `Answer::deny_saying(\"why\")`"
)]
pub trait IsRefused<'a> {}

#[doc(hidden)]
impl<'a> Answer
where
    Self: IsRefused<'a>,
{
    pub fn no() {}
    pub fn reject() {}
    pub fn rejected() {}
    pub fn refuse() {}
    pub fn denied() {}
    pub fn deny_with() {}
    pub fn deny_because() {}
    pub fn deny_with_reason() {}
    pub fn block() {}
    pub fn disallow() {}
}

#[diagnostic::on_unimplemented(
    message = "the text of a `ToolOutput` is `to_text`",
    label = "write `.to_text()`, or `.details` for the structured data"
)]
pub trait HasToText<'a> {}

#[doc(hidden)]
impl<'a> ToolOutput
where
    Self: HasToText<'a>,
{
    pub fn as_text(&self) {}
    pub fn into_text(&self) {}
    pub fn get_text(&self) {}
    pub fn text_content(&self) {}
    pub fn as_str(&self) {}
    pub fn as_json(&self) {}
    pub fn to_json(&self) {}
    pub fn data(&self) {}
    pub fn structured_content(&self) {}
    pub fn into_string(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "an `Ask` is made of the kind of the action and the question",
    label = "write `Ask::new(\"delete\", \"Delete the file?\")`",
    note = "the kind is for the rules of the configuration: `permission: {{ delete: \"allow\" }}`"
)]
pub trait AsksWithKind<'a> {}

#[doc(hidden)]
impl<'a> Ask
where
    Self: AsksWithKind<'a>,
{
    pub fn confirm() {}
    pub fn yes_no() {}
    pub fn question() {}
    pub fn approval() {}
    pub fn permission() {}
    pub fn approve() {}
    pub fn text() {}
    pub fn of() {}
    pub fn from_text() {}
}

#[diagnostic::on_unimplemented(
    message = "a `ToolErrorKind` has no such variant",
    label = "write `ToolErrorKind::Failed`",
    note = "others are `InvalidArguments`, `Denied`, `NotFound`, `Aborted`, `TimedOut` and `Unavailable`"
)]
pub trait IsFailedKind<'a> {}

#[doc(hidden)]
#[expect(non_snake_case, reason = "as variants of the enum")]
impl<'a> ToolErrorKind
where
    Self: IsFailedKind<'a>,
{
    pub fn Internal() {}
    pub fn InternalError() {}
    pub fn Execution() {}
    pub fn ExecutionFailed() {}
    pub fn ExecutionError() {}
    pub fn Other() {}
    pub fn Unknown() {}
    pub fn Custom() {}
    pub fn Error() {}
    pub fn Runtime() {}
}

#[diagnostic::on_unimplemented(
    message = "a `ToolErrorKind` has no such variant",
    label = "write `ToolErrorKind::InvalidArguments`"
)]
pub trait IsInvalidKind<'a> {}

#[doc(hidden)]
#[expect(non_snake_case, reason = "as variants of the enum")]
impl<'a> ToolErrorKind
where
    Self: IsInvalidKind<'a>,
{
    pub fn InvalidArgument() {}
    pub fn InvalidParams() {}
    pub fn InvalidInput() {}
    pub fn InvalidRequest() {}
    pub fn BadRequest() {}
    pub fn Validation() {}
}

#[diagnostic::on_unimplemented(
    message = "a `ToolErrorKind` has no such variant",
    label = "write `ToolErrorKind::Denied`"
)]
pub trait IsDeniedKind<'a> {}

#[doc(hidden)]
#[expect(non_snake_case, reason = "as variants of the enum")]
impl<'a> ToolErrorKind
where
    Self: IsDeniedKind<'a>,
{
    pub fn PermissionDenied() {}
    pub fn Forbidden() {}
    pub fn Unauthorized() {}
    pub fn Rejected() {}
    pub fn NotAllowed() {}
}

#[diagnostic::on_unimplemented(
    message = "a `ToolErrorKind` has no such variant",
    label = "write `ToolErrorKind::TimedOut`"
)]
pub trait IsTimedOutKind<'a> {}

#[doc(hidden)]
#[expect(non_snake_case, reason = "as variants of the enum")]
impl<'a> ToolErrorKind
where
    Self: IsTimedOutKind<'a>,
{
    pub fn Timeout() {}
    pub fn TimeOut() {}
    pub fn DeadlineExceeded() {}
}
