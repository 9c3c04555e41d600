//! Calls a tool in a test.

use super::call::{Calling, TestCall};
use super::place::TestWorkspace;
use super::recorded::{AsAnswers, Recorded};
use crate::approver::ScriptedApprover;
use crate::events::Events;
use crate::loop_guard::LoopGuard;
use crate::policy::{Policy, Refusal};
use crate::registry::{AsTool, BuildError, Builder, Given, Toolkit};
use crate::tool::Tool;
use crate::toolbox::{CallOptions, Toolbox};
use std::iter::from_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use toolkit_core::call::{CallArguments, IntoCallArguments, ToolCall};
use toolkit_core::caller::Caller;
use toolkit_core::state::Service;

/// A tool with everything that its calls need, isolated from everything else: its own workspace and data directory,
/// services, and a scripted approver.
///
/// Its calls take the same path as every call. They belong to one session, so that a tool's session state is there at
/// the next call. Only the tools added here can be called.
///
/// The test is about the tool: no approval is needed before it runs, unless [`asking_first`](Self::asking_first) is
/// used or the tool asks itself, and the same call can be repeated as often as needed.
///
/// See the [module](super) for examples.
#[derive(Debug)]
pub struct TestToolbox {
    name: String,
    workspace: TestWorkspace,
    approver: Recorded,
    caller: Caller,
    options: CallOptions,
    builder: Mutex<Builder>,
    toolkit: OnceLock<Result<Toolkit, BuildError>>,
    calls: AtomicU64,
}

impl TestToolbox {
    /// Creates a toolbox for `tool`: `TestToolbox::new(tool_ref!(edit))`.
    ///
    /// # Panics
    ///
    /// Panics if no temporary directory can be created.
    #[track_caller]
    pub fn new(tool: impl AsTool) -> Self {
        let tool = tool.into_tool();
        let workspace = TestWorkspace::new();
        Self {
            name: tool.name().to_owned(),
            caller: Caller::new().with_session("test").with_agent("test").with_workspace(workspace.path()),
            workspace,
            approver: Recorded::new(ScriptedApprover::new([])),
            options: CallOptions::new(),
            builder: Mutex::new(
                Toolkit::empty().tool(tool).without_asking_first().loop_guard(LoopGuard::off()),
            ),
            toolkit: OnceLock::new(),
            calls: AtomicU64::new(0),
        }
    }

    /// Adds a tool that the tested tool calls, or for [`call_tool`](Self::call_tool).
    #[must_use]
    #[track_caller]
    pub fn tool(self, tool: impl AsTool) -> Self {
        self.build(|builder| builder.tool(tool))
    }

    /// Provides a service to every tool that takes `State<T>`.
    #[must_use]
    #[track_caller]
    pub fn service<T: Service>(self, service: T) -> Self {
        let given = Given::here::<T>();
        self.build(|builder| builder.provide(Arc::new(service), given))
    }

    /// Provides a shared service, or a trait object.
    #[must_use]
    #[track_caller]
    pub fn shared_service<T: ?Sized + Service>(self, service: Arc<T>) -> Self {
        let given = Given::here::<T>();
        self.build(|builder| builder.provide(service, given))
    }

    /// Sets the policy, which decides which tools exist for the caller.
    #[must_use]
    #[track_caller]
    pub fn policy(self, policy: impl Policy) -> Self {
        self.build(|builder| builder.policy(policy))
    }

    /// Changes any other setting of the host.
    ///
    /// # Panics
    ///
    /// Panics after the first call, which builds the toolkit, like every method that changes the toolkit.
    #[must_use]
    #[track_caller]
    pub fn build(mut self, change: impl FnOnce(Builder) -> Builder) -> Self {
        self.expect_unused();
        let builder = self.builder.get_mut().unwrap_or_else(PoisonError::into_inner);
        *builder = change(std::mem::take(builder));
        self
    }

    /// Writes a file into the workspace.
    ///
    /// # Panics
    ///
    /// Panics if that fails, or if the path leads out of the workspace.
    #[must_use]
    #[track_caller]
    pub fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.workspace.write(path, content);
        self
    }

    /// Sets the approver: a [`ScriptedApprover`], or another. Without one, every approval is denied.
    ///
    /// # Panics
    ///
    /// Panics after the first call.
    #[must_use]
    #[track_caller]
    pub fn approve(mut self, approver: impl AsAnswers) -> Self {
        self.expect_unused();
        self.approver = Recorded::new(approver.into_approver());
        self
    }

    /// Asks for approval before a tool runs that is neither `read_only` nor `auto_execute` and does not ask itself, as
    /// other hosts do.
    ///
    /// # Panics
    ///
    /// Panics after the first call.
    #[must_use]
    #[track_caller]
    pub fn asking_first(self) -> Self {
        self.build(|mut builder| {
            builder.settings.hooks.without_asking_first = false;
            builder
        })
    }

    /// Changes the caller of the tool: `.caller(|caller| caller.with_model("m"))`.
    #[must_use]
    pub fn caller(mut self, change: impl FnOnce(Caller) -> Caller) -> Self {
        self.caller = change(self.caller);
        self
    }

    /// Sets a time limit, or a cancellation token.
    #[must_use]
    pub fn options(mut self, options: impl Into<CallOptions>) -> Self {
        self.options = options.into();
        self
    }

    /// Returns the workspace.
    pub fn workspace(&self) -> &TestWorkspace {
        &self.workspace
    }

    /// Calls the tool, with JSON as a value or as text.
    ///
    /// # Panics
    ///
    /// Panics if the toolkit cannot be built, for example because a service is missing.
    // No bound of the future's own: with one, the compiler reports wrong arguments once more where it is awaited.
    #[track_caller]
    pub fn call(&self, arguments: impl IntoCallArguments) -> Calling<'_> {
        Calling(Box::pin(self.run(self.toolkit(), self.name.clone(), arguments.into_call_arguments())))
    }

    /// Calls another of these tools, or this one by an alias.
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`call`](Self::call).
    #[track_caller]
    pub fn call_tool(&self, name: &str, arguments: impl IntoCallArguments) -> Calling<'_> {
        Calling(Box::pin(self.run(self.toolkit(), name.to_owned(), arguments.into_call_arguments())))
    }

    /// Returns the toolbox, for other uses in a test.
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`call`](Self::call).
    #[track_caller]
    pub fn toolbox(&self) -> impl Future<Output = Toolbox> + Send + '_ {
        self.toolkit().toolbox(&self.caller)
    }

    async fn run(&self, toolkit: &Toolkit, name: String, arguments: CallArguments) -> TestCall {
        let toolbox = toolkit.toolbox(&self.caller).await;
        let (events, asked) = (toolbox.events(), self.approver.asked().len());
        let id = format!("call_{}", self.calls.fetch_add(1, Ordering::Relaxed) + 1);
        let result = toolbox.call_with(ToolCall::new(id, name, arguments), self.options.clone()).await;
        self.finish(result, events, asked)
    }

    fn finish(&self, result: toolkit_core::call::ToolResult, mut events: Events, asked: usize) -> TestCall {
        TestCall {
            result,
            events: from_fn(|| events.try_next()).collect(),
            asks: self.approver.asked().split_off(asked),
            workspace: self.workspace.clone(),
        }
    }

    #[track_caller]
    fn expect_unused(&self) {
        assert!(
            self.toolkit.get().is_none(),
            "`{}` was already called: configure it before its first call, or make another `TestToolbox` for a test with other settings",
            self.name
        );
    }

    #[track_caller]
    fn toolkit(&self) -> &Toolkit {
        let built = self.toolkit.get_or_init(|| {
            let builder = std::mem::take(&mut *self.builder.lock().unwrap_or_else(PoisonError::into_inner));
            self.host(builder).build()
        });
        // Not within the closure, so that the panic has the place of the call in the test.
        match built {
            Ok(toolkit) => toolkit,
            Err(error) => panic!("{error}"),
        }
    }

    /// Applies the settings of a test's host.
    fn host(&self, mut builder: Builder) -> Builder {
        builder.is_test = true;
        builder.data_dir(self.workspace.data_dir()).approver(self.approver.clone()).default_policy(EveryTool)
    }
}

/// A policy under which every tool exists, because a test needs its tool even if it is optional.
#[derive(Debug)]
struct EveryTool;

impl Policy for EveryTool {
    fn check(&self, _: &Caller, _: &Tool) -> Result<(), Refusal> {
        Ok(())
    }

    fn version(&self) -> Option<u64> {
        Some(0)
    }
}
