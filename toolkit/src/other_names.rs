//! Methods under names that a host may expect, and that have another name here: each is a compile error that says what to write.
//!
//! Nothing of this runs. A method returns what the right one returns, so that what is called on it is no second error. The traits are
//! those of nothing; their bounds have a lifetime, because the compiler would refuse one without any where it is written. No macro writes
//! the methods, since the compiler would show its whole call beside each error.

use crate::registry::{Builder, RegisterError, ShutdownReport, Toolkit};
use crate::tool::Tool;
use crate::toolbox::Toolbox;
use std::future::Ready;
use toolkit_core::call::ToolResult;
use toolkit_core::definition::Definition;

#[diagnostic::on_unimplemented(
    message = "a builder provides a value to the tools that take `State<T>` by `service`",
    label = "write `.service(value)`, or `.shared_service(value)` for an `Arc`"
)]
pub trait ProvidesState {}

impl Builder {
    #[doc(hidden)]
    #[must_use]
    pub fn state<'a>(self, _: impl Sized) -> Self
    where
        &'a Self: ProvidesState,
    {
        never()
    }

    #[doc(hidden)]
    #[must_use]
    pub fn with_state<'a>(self, _: impl Sized) -> Self
    where
        &'a Self: ProvidesState,
    {
        never()
    }

    #[doc(hidden)]
    #[must_use]
    pub fn with_service<'a>(self, _: impl Sized) -> Self
    where
        &'a Self: ProvidesState,
    {
        never()
    }

    #[doc(hidden)]
    #[must_use]
    pub fn extension<'a>(self, _: impl Sized) -> Self
    where
        &'a Self: ProvidesState,
    {
        never()
    }

    #[doc(hidden)]
    #[must_use]
    pub fn data<'a>(self, _: impl Sized) -> Self
    where
        &'a Self: ProvidesState,
    {
        never()
    }
}

#[diagnostic::on_unimplemented(
    message = "a builder adds a tool by `tool`",
    label = "write `.tool(tool)`; of a function with `#[tool]`, `toolkit::tool_ref!(function)` is the tool"
)]
pub trait AddsTool {}

impl Builder {
    #[doc(hidden)]
    #[must_use]
    pub fn register<'a>(self, _: impl Sized) -> Self
    where
        &'a Self: AddsTool,
    {
        never()
    }

    #[doc(hidden)]
    #[must_use]
    pub fn with_tool<'a>(self, _: impl Sized) -> Self
    where
        &'a Self: AddsTool,
    {
        never()
    }
}

#[diagnostic::on_unimplemented(
    message = "a builder takes a loaded configuration",
    label = "write `.configuration(Configuration::load(LoadOptions::of_process(\".\"))?)`; both names are in `toolkit::config`"
)]
pub trait TakesConfiguration {}

impl Builder {
    #[doc(hidden)]
    #[must_use]
    pub fn config<'a>(self, _: impl Sized) -> Self
    where
        &'a Self: TakesConfiguration,
    {
        never()
    }

    #[doc(hidden)]
    #[must_use]
    pub fn config_file<'a>(self, _: impl Sized) -> Self
    where
        &'a Self: TakesConfiguration,
    {
        never()
    }

    #[doc(hidden)]
    #[must_use]
    pub fn with_config<'a>(self, _: impl Sized) -> Self
    where
        &'a Self: TakesConfiguration,
    {
        never()
    }
}

#[diagnostic::on_unimplemented(
    message = "a builder takes a policy, which decides the tools that exist for a caller",
    label = "write `.policy(ToolPolicy::new(settings))` after `settings.tools = ToolRules::default().deny([\"exec\"])`; the names are in `toolkit::policy`"
)]
pub trait TakesPolicy {}

impl Builder {
    #[doc(hidden)]
    #[must_use]
    pub fn allow<'a>(self, _: impl Sized) -> Self
    where
        &'a Self: TakesPolicy,
    {
        never()
    }

    #[doc(hidden)]
    #[must_use]
    pub fn deny<'a>(self, _: impl Sized) -> Self
    where
        &'a Self: TakesPolicy,
    {
        never()
    }
}

#[diagnostic::on_unimplemented(
    message = "a builder has the workspace of callers without one",
    label = "write `.default_workspace(directory)`"
)]
pub trait HasWorkspace {}

impl Builder {
    #[doc(hidden)]
    #[must_use]
    pub fn working_dir<'a>(self, _: impl Sized) -> Self
    where
        &'a Self: HasWorkspace,
    {
        never()
    }

    #[doc(hidden)]
    #[must_use]
    pub fn cwd<'a>(self, _: impl Sized) -> Self
    where
        &'a Self: HasWorkspace,
    {
        never()
    }
}

#[diagnostic::on_unimplemented(
    message = "this is the builder of a toolkit, which has no tools to call yet",
    label = "write `.build()?` before it"
)]
pub trait Built {}

impl Builder {
    #[doc(hidden)]
    pub fn toolbox<'a>(&'a self, _: impl Sized) -> Ready<Toolbox>
    where
        &'a Self: Built,
    {
        never()
    }

    #[doc(hidden)]
    pub fn call<'a>(&'a self, _: impl Sized) -> Ready<ToolResult>
    where
        &'a Self: Built,
    {
        never()
    }
}

#[diagnostic::on_unimplemented(
    message = "calls and definitions are those of a caller's toolbox",
    label = "write `toolkit.toolbox(&Caller::new()).await`, and call this method on the toolbox"
)]
pub trait IsToolbox {}

impl Toolkit {
    #[doc(hidden)]
    pub fn call<'a>(&'a self, _: impl Sized) -> Ready<ToolResult>
    where
        &'a Self: IsToolbox,
    {
        never()
    }

    #[doc(hidden)]
    pub fn definitions<'a>(&'a self) -> Vec<Definition>
    where
        &'a Self: IsToolbox,
    {
        never()
    }
}

impl Tool {
    #[doc(hidden)]
    pub fn call<'a>(&'a self, _: impl Sized) -> Ready<ToolResult>
    where
        &'a Self: IsToolbox,
    {
        never()
    }
}

#[diagnostic::on_unimplemented(
    message = "a toolkit that is built adds a tool by `register`",
    label = "write `.register(tool)?`; of a function with `#[tool]`, `toolkit::tool_ref!(function)` is the tool"
)]
pub trait Registers {}

impl Toolkit {
    #[doc(hidden)]
    pub fn add_tool<'a>(&'a self, _: impl Sized) -> Result<(), RegisterError>
    where
        &'a Self: Registers,
    {
        never()
    }
}

#[diagnostic::on_unimplemented(
    message = "a toolkit ends by `shutdown`",
    label = "write `.shutdown(deadline).await`, with a `Duration`"
)]
pub trait ShutsDown {}

impl Toolkit {
    #[doc(hidden)]
    pub fn close<'a>(&'a self) -> Ready<ShutdownReport>
    where
        &'a Self: ShutsDown,
    {
        never()
    }
}

#[diagnostic::on_unimplemented(
    message = "a toolbox runs a tool by `call`",
    label = "write `.call(ToolCall::new(id, name, arguments)).await`"
)]
pub trait Calls {}

impl Toolbox {
    #[doc(hidden)]
    pub fn execute<'a>(&'a self, _: impl Sized) -> Ready<ToolResult>
    where
        &'a Self: Calls,
    {
        never()
    }

    #[doc(hidden)]
    pub fn invoke<'a>(&'a self, _: impl Sized) -> Ready<ToolResult>
    where
        &'a Self: Calls,
    {
        never()
    }

    #[doc(hidden)]
    pub fn call_tool<'a>(&'a self, _: impl Sized) -> Ready<ToolResult>
    where
        &'a Self: Calls,
    {
        never()
    }
}

fn never() -> ! {
    unreachable!("nothing has the trait")
}
