//! The methods of a context that need the feature `runtime`, and the `Toolkit` of the prelude, for crates without the feature: a call of one is a
//! compile error that names it.
//!
//! Nothing of this runs. A method whose type is in the feature, too, returns any type, so that what is called on it is no second error.

use super::ToolContext;
use std::future::Ready;
use std::path::PathBuf;
use toolkit_core::caller::Caller;
use toolkit_core::error::ToolError;
use toolkit_core::output::ToolOutput;

/// Nothing has this trait: a function that demands it cannot be called. The bound has a lifetime, because the compiler would refuse one
/// without any where it is written.
#[diagnostic::on_unimplemented(
    message = "this needs the feature `runtime` of `agent-toolkit`",
    label = "not without the feature `runtime`",
    note = "in `Cargo.toml`, write `features = [\"runtime\"]` beside `package = \"agent-toolkit\"`; it is on by default"
)]
pub trait WithRuntime {}

impl ToolContext {
    #[doc(hidden)]
    pub fn ask_in_person<'a>(&'a self, _: impl Sized) -> Ready<Result<(), ToolError>>
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn blocking<'a, T>(&'a self, _: impl Sized) -> Ready<Result<T, ToolError>>
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn boundary<'a>(&'a self) -> Result<PathBuf, ToolError>
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn call<'a>(&'a self, _: impl Sized, _: impl Sized) -> Ready<Result<ToolOutput, ToolError>>
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn check_file_access<'a>(&'a self, _: impl Sized, _: impl Sized) -> Ready<Result<PathBuf, ToolError>>
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn check_file_access_showing<'a>(
        &'a self,
        _: impl Sized,
        _: impl Sized,
        _: impl Sized,
    ) -> Ready<Result<PathBuf, ToolError>>
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn config<'a, T>(&'a self) -> Result<T, ToolError>
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn config_section<'a, T>(&'a self, _: impl Sized) -> Result<T, ToolError>
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn decide<'a, T>(&'a self, _: impl Sized) -> T
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn decide_path<'a, T>(&'a self, _: impl Sized, _: impl Sized) -> Result<T, ToolError>
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn elicit<'a, T>(&'a self, _: impl Sized) -> Ready<Result<Option<T>, ToolError>>
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn elicit_value<'a>(&'a self, _: impl Sized) -> Ready<Result<Option<serde_json::Value>, ToolError>>
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn kept_output<'a, T>(&'a self) -> Ready<Result<T, ToolError>>
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn leave_out_media<'a>(&'a self, _: impl Sized, _: impl Sized, _: impl Sized) -> Ready<()>
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn may_use_skill<'a, T>(&'a self, _: impl Sized) -> T
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn output_store<'a, T>(&'a self) -> T
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn own_paths<'a, T>(&'a self) -> T
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn path_rules<'a, T>(&'a self) -> Result<T, ToolError>
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn recalls<'a>(&'a self, _: impl Sized) -> bool
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn resolve<'a>(&'a self, _: impl Sized) -> Result<PathBuf, ToolError>
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn skill_sources<'a, T>(&'a self) -> T
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn stand_in<'a>(&'a self, _: impl Sized, _: impl Sized) -> Ready<Result<(), ToolError>>
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn wait_aside<'a, T>(&'a self, _: impl Future<Output = T>) -> Ready<Result<T, ToolError>>
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn background_work<'a, T>(&'a self) -> T
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn workspace<'a, T>(&'a self) -> T
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn detached<'a>(_: Caller) -> Self
    where
        &'a Self: WithRuntime,
    {
        never()
    }
}

/// The `Toolkit` of the prelude.
#[doc(hidden)]
#[derive(Debug)]
#[non_exhaustive]
pub struct Toolkit;

impl Toolkit {
    #[doc(hidden)]
    pub fn builder<'a, T>() -> T
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn empty<'a, T>() -> T
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn new<'a, T>() -> T
    where
        &'a Self: WithRuntime,
    {
        never()
    }

    #[doc(hidden)]
    pub fn toolbox<'a, T>(&'a self, _: impl Sized) -> T
    where
        &'a Self: WithRuntime,
    {
        never()
    }
}

fn never<T>() -> T {
    unreachable!("nothing has the trait")
}
