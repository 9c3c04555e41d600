//! A trait whose only purpose is an error that says what to write.

use crate::tool::Tool;

/// A tool that a host adds: a [`Tool`], and nothing else. A function with `#[tool]` is none by itself:
/// [`tool_ref!`](macro@crate::tool_ref) finds its tool.
#[diagnostic::on_unimplemented(
    message = "a host adds a `Tool`, and this is none",
    label = "not a `Tool`",
    note = "of a function with `#[tool]`: `toolkit::tool_ref!(function)`; of a schema: `Tool::builder(name)`, whose `build` returns a `Result`",
    note = "tools of a crate that `toolkit::link!` names, and of the program itself, are there without being added"
)]
pub trait AsTool: sealed::Sealed {
    #[doc(hidden)]
    fn into_tool(self) -> Tool;
}

#[diagnostic::do_not_recommend]
impl AsTool for Tool {
    fn into_tool(self) -> Tool {
        self
    }
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for super::Tool {}
}
