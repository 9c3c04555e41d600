//! Methods under names that a tool may expect, and that have another name here: each is a compile error that says what to write.
//!
//! The bound has a lifetime, because the compiler would refuse one without any where it is written. It is at each method, since the compiler
//! would not show its text for one at the `impl` block where the context is a reference. A method takes a reference to the reference that a tool
//! has, so that a method of that name of a trait of the author's own is found before it; it returns any type, so that what is called on it is no
//! second error. No macro writes the methods, since the compiler would show its whole call beside each error.

use super::ToolContext;
use toolkit_core::error::ToolError;
use toolkit_core::state::State;

#[diagnostic::on_unimplemented(
    message = "a context finds a service by `service`",
    label = "take `State<T>` as a parameter of the tool, or write `.require_service::<T>()?`",
    note = "`.service::<T>()` returns an `Option<Arc<T>>`"
)]
pub trait FindsService {}

#[doc(hidden)]
impl ToolContext {
    pub fn state<'a, T: ?Sized>(&'a self) -> Result<State<T>, ToolError>
    where
        &'a Self: FindsService,
    {
        never()
    }

    pub fn get<'a, T: ?Sized>(self: &'a &'a Self) -> Result<State<T>, ToolError>
    where
        &'a Self: FindsService,
    {
        never()
    }

    pub fn get_service<'a, T: ?Sized>(self: &'a &'a Self) -> Result<State<T>, ToolError>
    where
        &'a Self: FindsService,
    {
        never()
    }

    pub fn get_state<'a, T: ?Sized>(self: &'a &'a Self) -> Result<State<T>, ToolError>
    where
        &'a Self: FindsService,
    {
        never()
    }

    pub fn resource<'a, T: ?Sized>(self: &'a &'a Self) -> Result<State<T>, ToolError>
    where
        &'a Self: FindsService,
    {
        never()
    }

    pub fn data<'a, T: ?Sized>(self: &'a &'a Self) -> Result<State<T>, ToolError>
    where
        &'a Self: FindsService,
    {
        never()
    }

    pub fn extension<'a, T: ?Sized>(self: &'a &'a Self) -> Result<State<T>, ToolError>
    where
        &'a Self: FindsService,
    {
        never()
    }
}

#[diagnostic::on_unimplemented(
    message = "a context asks a person by `ask`",
    label = "write `.ask(Ask::new(\"delete\", \"Delete the file?\")).await?`, which ends the call if the answer is no",
    note = "the first text is the kind of the action, for the rules of the configuration; the tool has the key `asks`"
)]
pub trait AsksPerson {}

#[doc(hidden)]
impl ToolContext {
    pub fn confirm<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: AsksPerson,
    {
        never()
    }

    pub fn approve<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: AsksPerson,
    {
        never()
    }

    pub fn request_approval<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: AsksPerson,
    {
        never()
    }

    pub fn require_approval<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: AsksPerson,
    {
        never()
    }

    pub fn ask_user<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: AsksPerson,
    {
        never()
    }

    pub fn ask_approval<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: AsksPerson,
    {
        never()
    }

    pub fn ask_permission<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: AsksPerson,
    {
        never()
    }
}

#[diagnostic::on_unimplemented(
    message = "a context asks a person for a value by `elicit`",
    label = "write `.elicit::<T>(\"Which one?\").await?`, which returns an `Option<T>`: `None` is no answer",
    note = "`T` is a struct with `#[toolkit::args]`, whose fields the person fills in"
)]
pub trait AsksForValue {}

#[doc(hidden)]
impl ToolContext {
    pub fn prompt<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: AsksForValue,
    {
        never()
    }

    pub fn input<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: AsksForValue,
    {
        never()
    }

    pub fn peer<'a, T>(self: &'a &'a Self) -> T
    where
        &'a Self: AsksForValue,
    {
        never()
    }

    pub fn request_input<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: AsksForValue,
    {
        never()
    }

    pub fn ask_text<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: AsksForValue,
    {
        never()
    }
}

#[diagnostic::on_unimplemented(
    message = "a context reports progress by `progress`",
    label = "write `.progress(Progress::new(done).with_total(all))`, without `.await`",
    note = "`Progress` is in `toolkit::events`; `with_message(text)` adds a text"
)]
pub trait ReportsProgress {}

#[doc(hidden)]
impl ToolContext {
    pub fn report_progress<'a, T>(self: &'a &'a Self, _: impl Sized, _: impl Sized) -> T
    where
        &'a Self: ReportsProgress,
    {
        never()
    }

    pub fn send_progress<'a, T>(self: &'a &'a Self, _: impl Sized, _: impl Sized) -> T
    where
        &'a Self: ReportsProgress,
    {
        never()
    }

    pub fn notify_progress<'a, T>(self: &'a &'a Self, _: impl Sized, _: impl Sized) -> T
    where
        &'a Self: ReportsProgress,
    {
        never()
    }

    pub fn set_progress<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: ReportsProgress,
    {
        never()
    }

    pub fn update_progress<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: ReportsProgress,
    {
        never()
    }
}

#[diagnostic::on_unimplemented(
    message = "a context logs by `log`",
    label = "write `.log(LogMessage::new(LogLevel::Info, text))`, without `.await`",
    note = "both names are in `toolkit::events`; `.set_title(text)` tells a person what the call does"
)]
pub trait Logs {}

#[doc(hidden)]
impl ToolContext {
    pub fn info<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: Logs,
    {
        never()
    }

    pub fn warn<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: Logs,
    {
        never()
    }

    pub fn error<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: Logs,
    {
        never()
    }

    pub fn debug<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: Logs,
    {
        never()
    }

    pub fn log_info<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: Logs,
    {
        never()
    }

    pub fn notify<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: Logs,
    {
        never()
    }
}

#[diagnostic::on_unimplemented(
    message = "a tool writes to its output by `output`",
    label = "write `.output().write_all(text.as_bytes()).await?` for the model, or `.partial(text)` for who watches the call"
)]
pub trait Writes {}

#[doc(hidden)]
impl ToolContext {
    pub fn print<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: Writes,
    {
        never()
    }

    pub fn println<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: Writes,
    {
        never()
    }

    pub fn write<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: Writes,
    {
        never()
    }

    pub fn write_line<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: Writes,
    {
        never()
    }

    pub fn emit<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: Writes,
    {
        never()
    }

    pub fn stream<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: Writes,
    {
        never()
    }
}

#[diagnostic::on_unimplemented(
    message = "a context calls another tool by `call`",
    label = "write `.call(\"name\", json!({{ .. }})).await?`, which returns a `ToolOutput`"
)]
pub trait CallsTool {}

#[doc(hidden)]
impl ToolContext {
    pub fn call_tool<'a, T>(self: &'a &'a Self, _: impl Sized, _: impl Sized) -> T
    where
        &'a Self: CallsTool,
    {
        never()
    }

    pub fn invoke<'a, T>(self: &'a &'a Self, _: impl Sized, _: impl Sized) -> T
    where
        &'a Self: CallsTool,
    {
        never()
    }

    pub fn run_tool<'a, T>(self: &'a &'a Self, _: impl Sized, _: impl Sized) -> T
    where
        &'a Self: CallsTool,
    {
        never()
    }
}

#[diagnostic::on_unimplemented(
    message = "the working directory of a call is `workspace_dir`",
    label = "write `.workspace_dir()`",
    note = "for a path that a model sends, `.check_file_access(path, Access::Read).await?` returns the file, if the rules allow it; `Access` is in `toolkit::approval`"
)]
pub trait HasDirectory {}

#[doc(hidden)]
impl ToolContext {
    pub fn working_dir<'a, T>(self: &'a &'a Self) -> T
    where
        &'a Self: HasDirectory,
    {
        never()
    }

    pub fn working_directory<'a, T>(self: &'a &'a Self) -> T
    where
        &'a Self: HasDirectory,
    {
        never()
    }

    pub fn current_dir<'a, T>(self: &'a &'a Self) -> T
    where
        &'a Self: HasDirectory,
    {
        never()
    }

    pub fn cwd<'a, T>(self: &'a &'a Self) -> T
    where
        &'a Self: HasDirectory,
    {
        never()
    }

    pub fn workspace_root<'a, T>(self: &'a &'a Self) -> T
    where
        &'a Self: HasDirectory,
    {
        never()
    }

    pub fn root<'a, T>(self: &'a &'a Self) -> T
    where
        &'a Self: HasDirectory,
    {
        never()
    }
}

#[diagnostic::on_unimplemented(
    message = "the arguments of a call are the parameters of the tool's function",
    label = "take each as a parameter, or all as one struct: `#[args] input: Input`"
)]
pub trait HasArguments {}

#[doc(hidden)]
impl ToolContext {
    pub fn arguments<'a, T>(self: &'a &'a Self) -> T
    where
        &'a Self: HasArguments,
    {
        never()
    }

    pub fn args<'a, T>(self: &'a &'a Self) -> T
    where
        &'a Self: HasArguments,
    {
        never()
    }

    pub fn params<'a, T>(self: &'a &'a Self) -> T
    where
        &'a Self: HasArguments,
    {
        never()
    }

    pub fn arg<'a, T>(self: &'a &'a Self, _: impl Sized) -> T
    where
        &'a Self: HasArguments,
    {
        never()
    }
}

#[diagnostic::on_unimplemented(
    message = "a context names who calls by `caller`",
    label = "write `.caller()`, whose fields are `agent`, `session_id`, `sender`, `channel` and more",
    note = "`.session_id()` and `.agent()` are short for two of them; `.session_state::<T>()` keeps a value for the session"
)]
pub trait NamesCaller {}

#[doc(hidden)]
impl ToolContext {
    pub fn session<'a, T>(self: &'a &'a Self) -> T
    where
        &'a Self: NamesCaller,
    {
        never()
    }

    pub fn user<'a, T>(self: &'a &'a Self) -> T
    where
        &'a Self: NamesCaller,
    {
        never()
    }

    pub fn user_id<'a, T>(self: &'a &'a Self) -> T
    where
        &'a Self: NamesCaller,
    {
        never()
    }

    pub fn sender<'a, T>(self: &'a &'a Self) -> T
    where
        &'a Self: NamesCaller,
    {
        never()
    }

    pub fn channel<'a, T>(self: &'a &'a Self) -> T
    where
        &'a Self: NamesCaller,
    {
        never()
    }
}

#[diagnostic::on_unimplemented(
    message = "a context without a host is made by `detached`",
    label = "write `ToolContext::detached(Caller::new())`",
    note = "`toolkit::testing::TestToolbox` calls a tool as a model does, with a context of its own"
)]
pub trait MadeDetached<'a> {}

#[doc(hidden)]
#[expect(clippy::new_ret_no_self, reason = "nothing calls it")]
impl<'a> ToolContext
where
    Self: MadeDetached<'a>,
{
    pub fn new() {}
    pub fn for_test() {}
    pub fn for_testing() {}
    pub fn test() {}
    pub fn testing() {}
    pub fn mock() {}
    pub fn dummy() {}
    pub fn empty() {}
    pub fn default() {}
    pub fn builder() {}
}

fn never() -> ! {
    unreachable!("nothing has the trait")
}
