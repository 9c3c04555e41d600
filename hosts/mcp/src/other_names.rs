//! Methods under names that a host may expect: each is a compile error that says what to write.
//!
//! The bound is at the `impl` block, so that a call is refused by its name, whatever its arguments are, and nothing that follows from it is a
//! second error. It has a lifetime, because the compiler would refuse one without any where it is written. Nothing has the traits.

use crate::server::ServerOptions;

#[diagnostic::on_unimplemented(
    message = "a server says its name and version by `named`",
    label = "write `.named(\"acme\", \"1.0.0\")`",
    note = "instructions for the model: `.instructions(text)`"
)]
pub trait IsNamed<'a> {}

#[doc(hidden)]
impl<'a> ServerOptions
where
    Self: IsNamed<'a>,
{
    pub fn name(&self) {}
    pub fn with_name(&self) {}
    pub fn version(&self) {}
    pub fn with_version(&self) {}
    pub fn server_info(&self) {}
    pub fn info(&self) {}
    pub fn implementation(&self) {}
    pub fn title(&self) {}
    pub fn identity(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "a server instructs the model of its client by `instructions`",
    label = "write `.instructions(\"..\")`"
)]
pub trait InstructsClients<'a> {}

#[doc(hidden)]
impl<'a> ServerOptions
where
    Self: InstructsClients<'a>,
{
    pub fn with_instructions(&self) {}
    pub fn description(&self) {}
    pub fn with_description(&self) {}
    pub fn prompt(&self) {}
    pub fn system_prompt(&self) {}
}

#[diagnostic::on_unimplemented(
    message = "a server serves the tools of its toolkit",
    label = "add the tools to the toolkit: `Toolkit::builder()` has those that are linked; then write `serve_stdio_with(toolkit, caller, options).await?`"
)]
pub trait ServesTools<'a> {}

#[doc(hidden)]
impl<'a> ServerOptions
where
    Self: ServesTools<'a>,
{
    pub fn tool(&self) {}
    pub fn tools(&self) {}
    pub fn toolkit(&self) {}
    pub fn capabilities(&self) {}
    pub fn with_capabilities(&self) {}
    pub fn enable_tools(&self) {}
    pub fn build(&self) {}
    pub fn serve(&self) {}
    pub fn transport(&self) {}
    pub fn with_tools(&self) {}
}
