//! Traits whose only purpose are errors that say what to write.

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

/// Nothing has this trait: a function that demands it cannot be called. The bound has a lifetime, because the compiler would refuse one
/// without any where it is written.
#[diagnostic::on_unimplemented(
    message = "a `Toolkit` is made by its builder, not by `new`",
    label = "write `Toolkit::builder()`, and `.build()?` at the end",
    note = "`Toolkit::builder()` has the tools of all linked crates, `Toolkit::empty()` those that the host adds"
)]
pub trait MadeByBuilder {}
