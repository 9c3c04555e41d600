//! Functions under names that a tool may expect, and that have another name here: each is a compile error that says what to write.
//!
//! The bound is at the `impl` block, so that the call is refused by its name, whatever its arguments are, and nothing that follows from it is
//! a second error. It has a lifetime, because the compiler would refuse one without any where it is written. Nothing has the traits.

mod calls;

use crate::content::Content;
use crate::error::ToolError;
use crate::output::{Image, Json, ToolOutput};

#[diagnostic::on_unimplemented(
    message = "a `ToolError` has no such constructor",
    label = "write `ToolError::failed(text)`",
    note = "`not_found`, `denied`, `unavailable`, `aborted` and `invalid_arguments` take a text, too; `ToolError::wrap(error)` takes a `String`, a boxed error or an `anyhow::Error`"
)]
pub trait IsFailed<'a> {}

#[doc(hidden)]
#[expect(non_snake_case, reason = "as variants of an enum")]
impl<'a> ToolError
where
    Self: IsFailed<'a>,
{
    pub fn internal() {}
    pub fn internal_error() {}
    pub fn custom() {}
    pub fn msg() {}
    pub fn message_only() {}
    pub fn other() {}
    pub fn error() {}
    pub fn runtime() {}
    pub fn execution() {}
    pub fn execution_error() {}
    pub fn execution_failed() {}
    pub fn from_message() {}
    pub fn from_string() {}
    pub fn from_str() {}
    pub fn text() {}
    pub fn user() {}
    pub fn Internal() {}
    pub fn Custom() {}
    pub fn Other() {}
    pub fn Failed() {}
    pub fn Execution() {}
    pub fn ExecutionFailed() {}
    pub fn ToolCallError() {}
    pub fn Message() {}
}

#[diagnostic::on_unimplemented(
    message = "a `ToolError` has no such constructor",
    label = "write `ToolError::invalid_arguments(text)`, or `ToolError::failed(text)`",
    note = "what a rule of `#[arg(..)]` can say is refused before the function runs: `range(1..=10)`, `length(1..=80)`, `pattern = \"..\"`"
)]
pub trait IsInvalidArguments<'a> {}

#[doc(hidden)]
#[expect(non_snake_case, reason = "as variants of an enum")]
impl<'a> ToolError
where
    Self: IsInvalidArguments<'a>,
{
    pub fn invalid() {}
    pub fn invalid_params() {}
    pub fn invalid_parameter() {}
    pub fn invalid_parameters() {}
    pub fn invalid_input() {}
    pub fn invalid_request() {}
    pub fn invalid_args() {}
    pub fn bad_request() {}
    pub fn bad_input() {}
    pub fn validation() {}
    pub fn InvalidArguments() {}
    pub fn InvalidParams() {}
    pub fn InvalidInput() {}
}

#[diagnostic::on_unimplemented(
    message = "a `ToolError` has no such constructor",
    label = "write `ToolError::denied(text)`",
    note = "what failed for another reason is `ToolError::failed(text)`"
)]
pub trait IsDenied<'a> {}

#[doc(hidden)]
#[expect(non_snake_case, reason = "as variants of an enum")]
impl<'a> ToolError
where
    Self: IsDenied<'a>,
{
    pub fn forbidden() {}
    pub fn unauthorized() {}
    pub fn permission_denied() {}
    pub fn not_allowed() {}
    pub fn rejected() {}
    pub fn Denied() {}
    pub fn PermissionDenied() {}
}

#[diagnostic::on_unimplemented(
    message = "a `ToolError` has no such constructor",
    label = "write `ToolError::not_found(text)`"
)]
pub trait IsNotFound<'a> {}

#[doc(hidden)]
#[expect(non_snake_case, reason = "as a variant of an enum")]
impl<'a> ToolError
where
    Self: IsNotFound<'a>,
{
    pub fn missing() {}
    pub fn no_such() {}
    pub fn NotFound() {}
}

#[diagnostic::on_unimplemented(
    message = "a `ToolError` has no such constructor",
    label = "write `ToolError::new(ToolErrorKind::TimedOut, text)`",
    note = "the time limit of a tool is `#[tool(timeout = \"30s\")]`, and needs no error"
)]
pub trait IsTimedOut<'a> {}

#[doc(hidden)]
#[expect(non_snake_case, reason = "as variants of an enum")]
impl<'a> ToolError
where
    Self: IsTimedOut<'a>,
{
    pub fn timeout() {}
    pub fn timed_out() {}
    pub fn Timeout() {}
    pub fn TimedOut() {}
}

#[diagnostic::on_unimplemented(
    message = "a `ToolOutput` has no such constructor",
    label = "write `ToolOutput::text(text)`, or `ToolOutput::json(&value)?`",
    note = "a tool can return a `String`, a number or a type with `#[toolkit::args]` as it is, without a `ToolOutput`; of several blocks of content, `Vec<Content>`"
)]
pub trait IsOutput<'a> {}

#[doc(hidden)]
#[expect(clippy::new_ret_no_self, reason = "nothing calls it")]
impl<'a> ToolOutput
where
    Self: IsOutput<'a>,
{
    pub fn new() {}
    pub fn success() {}
    pub fn ok() {}
    pub fn string() {}
    pub fn from_text() {}
    pub fn from_json() {}
    pub fn value() {}
    pub fn structured() {}
}

#[diagnostic::on_unimplemented(
    message = "a `ToolOutput` is that of a call that succeeds",
    label = "return `Err(ToolError::failed(text))`, from a tool that returns a `Result<_, ToolError>`"
)]
pub trait IsErrorOutput<'a> {}

#[doc(hidden)]
impl<'a> ToolOutput
where
    Self: IsErrorOutput<'a>,
{
    pub fn error() {}
    pub fn err() {}
    pub fn failure() {}
    pub fn failed() {}
}

#[diagnostic::on_unimplemented(
    message = "a `ToolOutput` has no such constructor",
    label = "return the `Image` itself, or `ToolOutput::text(text).with_content(image)`"
)]
pub trait IsImageOutput<'a> {}

#[doc(hidden)]
impl<'a> ToolOutput
where
    Self: IsImageOutput<'a>,
{
    pub fn image() {}
    pub fn content() {}
    pub fn blocks() {}
}

#[diagnostic::on_unimplemented(
    message = "an `Image` is made of the bytes of its file and the media type",
    label = "write `Image::new(bytes, \"image/png\")`",
    note = "the bytes are those of the file, not Base64; of a path: `Image::new(std::fs::read(path)?, \"image/png\")`"
)]
pub trait IsImage<'a> {}

#[doc(hidden)]
impl<'a> Image
where
    Self: IsImage<'a>,
{
    pub fn png() {}
    pub fn jpeg() {}
    pub fn from_path() {}
    pub fn from_file() {}
    pub fn open() {}
    pub fn load() {}
    pub fn from_bytes() {}
    pub fn from_png() {}
    pub fn from_base64() {}
    pub fn base64() {}
    pub fn from_data() {}
    pub fn from_url() {}
}

#[diagnostic::on_unimplemented(
    message = "a `Content` is a text, a picture or a sound",
    label = "write `Content::text(text)`, or `Content::image(bytes, \"image/png\")`",
    note = "structured data is no content: return it as `Json(value)`"
)]
pub trait IsContent<'a> {}

#[doc(hidden)]
#[expect(clippy::new_ret_no_self, reason = "nothing calls it")]
impl<'a> Content
where
    Self: IsContent<'a>,
{
    pub fn new() {}
    pub fn json() {}
    pub fn from_text() {}
    pub fn from_string() {}
    pub fn string() {}
    pub fn png() {}
    pub fn resource() {}
}

#[diagnostic::on_unimplemented(
    message = "a `Json` is made by its name alone",
    label = "write `Json(value)`",
    note = "the text for the model and the structured data are both made of the value"
)]
pub trait IsJson<'a> {}

#[doc(hidden)]
#[expect(clippy::new_ret_no_self, reason = "nothing calls it")]
impl<'a, T> Json<T>
where
    Self: IsJson<'a>,
{
    pub fn new() {}
    pub fn of() {}
    pub fn from_value() {}
}

#[diagnostic::on_unimplemented(
    message = "the text of a `ToolOutput` is read by `to_text`",
    label = "write `.to_text()`",
    note = "`ToolOutput::text(text)` makes an output of a text; results of calls have `.text()`"
)]
pub trait IsRead<'a> {}

/// The method `text` of an output, which has a constructor of this name. The prelude brings the trait into scope.
pub trait TextOfOutput {
    #[doc(hidden)]
    fn text<'a>(&'a self) -> String
    where
        Self: IsRead<'a>;
}

impl TextOfOutput for ToolOutput {
    fn text<'a>(&'a self) -> String
    where
        Self: IsRead<'a>,
    {
        self.to_text()
    }
}
