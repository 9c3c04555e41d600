//! Traits whose only purpose are errors that say what to write.

use crate::config::Configuration;
use crate::tool::Tool;

/// A tool that a host adds: a [`Tool`], and nothing else. A function with `#[tool]` is none by itself:
/// [`tool_ref!`](macro@crate::tool_ref) finds its tool.
#[diagnostic::on_unimplemented(
    message = "a host adds a `Tool`, and this is none",
    label = "not a `Tool`",
    note = "of a function with `#[tool]`: `toolkit::tool_ref!(function)`; of a schema: `Tool::builder(name)`, whose `build` returns a `Result`",
    note = "the tools of MCP servers, or of another source: `.tool_source(source)`; several tools: `.tools([first, second])`",
    note = "the methods of a type with `#[toolkit::tools]`: `.service(value)`, since its tools are there, and take the value",
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

/// Tools that a host adds together: a list of [`Tool`]s, or another iterator over them.
#[diagnostic::on_unimplemented(
    message = "a host adds a list of tools, and this is none",
    label = "not a list of tools",
    note = "of functions with `#[tool]`: `.tools([tool_ref!(add), tool_ref!(subtract)])`; one tool: `.tool(tool)`",
    note = "the tools of MCP servers, and of another source: `.tool_source(source)`"
)]
pub trait AsTools {
    #[doc(hidden)]
    fn into_tools(self) -> impl Iterator<Item = Tool>;
}

#[diagnostic::do_not_recommend]
impl<I: IntoIterator<Item: AsTool>> AsTools for I {
    fn into_tools(self) -> impl Iterator<Item = Tool> {
        self.into_iter().map(AsTool::into_tool)
    }
}

/// The configuration of a host: a [`Configuration`], and nothing else.
#[diagnostic::on_unimplemented(
    message = "a builder takes a loaded `Configuration`",
    label = "not a `Configuration`",
    note = "of the files of the user and of a workspace: `.configuration(Configuration::load(LoadOptions::of_process(\".\"))?)`; of one file: `LoadOptions::new().user_file(\"toolkit.json5\")`",
    note = "`load` returns a `Result`: `?` or `.unwrap()` takes the configuration out"
)]
pub trait AsConfiguration {
    #[doc(hidden)]
    fn into_configuration(self) -> Configuration;
}

#[diagnostic::do_not_recommend]
impl AsConfiguration for Configuration {
    fn into_configuration(self) -> Configuration {
        self
    }
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for super::Tool {}
}
