//! Tools for AI agents, declared as annotated Rust functions.
//!
//! ```standalone_crate
//! use toolkit::prelude::*;
//!
//! /// Adds two numbers.
//! #[tool(group = "math", read_only)]
//! async fn add(
//!     /// The first number.
//!     a: i64,
//!     /// The second number.
//!     #[arg(default = 1)]
//!     b: i64,
//! ) -> String {
//!     (a + b).to_string()
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
//! let toolkit = Toolkit::builder().build()?;
//! let toolbox = toolkit.toolbox(&Caller::new()).await;
//! let result = toolbox.call(ToolCall::new("1", "add", r#"{ "a": 2, "b": 3 }"#)).await;
//! assert_eq!(result.text(), "5");
//! # Ok(()) }
//! ```
//!
//! The JSON Schema of the arguments, the validation by it, and the registration are generated from the function. The
//! attribute is documented at [`tool`](macro@tool); [`link!`] links the tools of other crates.

#[expect(unused_extern_crates, reason = "the macros' expansions name the crate")]
extern crate self as toolkit;

use toolkit_core::{
    arg, arguments, ask, call, caller, config_origin, content, definition, diagnostic, error, escape, guard,
    location, message, name, output, parameter, plugin, redact, schema, server_names, source, state,
    truncate,
};
use toolkit_dialects::dialect;

mod approvals;
mod approver;
mod ask_record;
mod asks;
mod at_once;
mod config;
mod config_of;
mod context;
mod cut;
mod cutter;
mod data_dir;
mod discovery;
mod discovery_settings;
mod events;
mod file_access;
mod files;
mod gate;
mod history;
mod hooks;
mod housekeeping;
mod inspector;
mod kept_output;
mod link;
pub mod lint;
mod listed;
mod live;
mod loop_guard;
mod macros;
mod off_runtime;
mod output_store;
mod permission;
mod policy;
pub mod prelude;
mod prepare;
mod real_path;
mod registry;
mod result_hook;
mod search;
mod service;
mod session;
mod settings;
mod shown_path;
mod sink;
mod skills;
#[cfg(feature = "testing")]
pub mod testing;
mod timer;
mod tokens;
mod tool;
mod tool_def;
mod toolbox;
mod views;
mod workspace;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub use approvals::{Approval, ApprovalError, ApprovalList, Approvals};
pub use approver::{
    AllowAll, Answering, Approver, CallbackApprover, NoApprover, ScriptedApprover, TerminalApprover,
};
pub use ask_record::RecordedAsk;
pub use asks::{AnswerError, AskLimits, Asks};
pub use config::{
    AgentSettings, Config, ConfigError, ConfigGate, ConfigProblem, ConfigRestriction, ConfigSection,
    Configuration, Configured, IgnoredKey, Instructions, LoadOptions, LoopGuardSettings, McpCommand,
    McpGrant, McpOAuth, McpOff, McpSandbox, McpServerSettings, McpTransport, McpUnavailable, McpUrl, Secret,
    ToolAgentSettings, TrustStore, TrustedFile, WorkspaceFile,
};
pub use context::ToolContext;
pub use cut::{Cut, CutHint, Kept, OutputLimits, Part, Position};
pub use data_dir::DataDir;
pub use discovery::{Discovery, SearchHit, Showing};
pub use discovery_settings::DiscoverySettings;
pub use events::{AllowedBy, AnsweredBy, CallEvent, Event, Events, LogLevel, LogMessage, Progress, Teller};
pub use files::{
    Before, DirectoryEntry, Expected, Extent, FileChange, FileContent, FileKind, FileLock, FileVersion,
    Interrupted, Left, Opened, OpenedDirectory, OpenedFile, OpenedTree, OwnerChange, Proposal, Refused,
    Repaired, Seen, Taken, Target, Unfinished, Workspace, WriteOptions, Written, shown_name,
};
pub use history::{
    CallStatus, CorruptLine, History, HistoryEntry, HistoryItem, HistoryQuery, HistoryReader, JsonlHistory,
    JsonlOptions, JsonlStatus, MemoryHistory, Record, RecordedCall, RecordedCaller, RecordedContent,
    RecordedOutput,
};
pub use housekeeping::Housekeeping;
pub use inspector::{CallbackInspector, Inspecting, Inspection, Inspector, Verdict};
pub use kept_output::{KeptOutput, OutputCount, ShownOutput};
pub use loop_guard::LoopGuard;
pub use macros::{args, service, tool, tool_factory};
pub use output_store::{OutputStoreSettings, Swept};
pub use permission::{
    Decided, DecidedPath, DecidedRule, Decision, GuardedPaths, OwnPaths, PathDecision, PermissionEntry,
    PermissionRequest, PermissionRule, PermissionRules, PermissionSettings, Permissions, harmless_paths,
    protected_path, protected_paths, sensitive_path, sensitive_paths,
};
pub use policy::{
    Explanation, LayerVerdict, Policy, PolicyRule, PolicySettings, PolicyVerdict, ProfileRules, Refusal,
    ToolPolicy, ToolRules,
};
pub use prepare::{Preparation, PrepareFn, Preparing};
pub use registry::{
    Bringing, BuildError, Builder, RegisterError, ToolChange, ToolSource, ToolWatch, Toolkit, Tools,
    WeakToolkit,
};
pub use result_hook::ResultReview;
pub use service::IntoTools;
pub use sink::OutputSink;
pub use skills::{SkillFile, SkillFiles, SkillPlace, SkillSource, SkillSources};
pub use tokens::estimated_tokens;
pub use tokio_util::sync::CancellationToken;
pub use tool::{DynamicArgs, InvalidTool, Tool, ToolBuilder};
pub use tool_def::{BoxFuture, FormatError, Run, ServiceDef, ToolDef};
pub use toolbox::{CallOptions, Toolbox};
pub use toolkit_core::{
    Access, AllowScope, Annotations, Answer, Arguments, Ask, AskAnswer, AskDetail, Attachment, Bytes,
    CallArguments, Caller, ConfigOrigin, ConfigOrigins, ConfigSource, Content, Definition, DeniedBy,
    Detailed, Diagnostic, Elicitation, Image, Input, IntoToolError, IntoToolOutput, InvalidArguments, Json,
    JsonOutput, Keep, LengthArg, Level, Literal, Location, MAX_BLOCK_CHARS, MAX_BLOCK_LINES, MAX_LINE_CHARS,
    MAX_NAME_BYTES, Message, MessageRole, Origin, ParameterDef, PatternArg, PendingAsk, Plugin, PluginDef,
    Problem, Question, RangeArg, Redactor, Repair, RepairKind, Resource, ResourceBody, Retry, Rule, SchemaFn,
    Service, SharedReads, Shown, Source, State, Structured, ToolArg, ToolCall, ToolError, ToolErrorKind,
    ToolOutput, ToolResult, Truncate, escape_block, escape_hidden, escape_line, escape_terminal,
    is_valid_name, nearest, server_prefixes,
};
#[doc(hidden)]
pub use toolkit_core::{MAX_OF_LONG_PREFIX, in_letters_of_names};
pub use toolkit_dialects::{
    CallFormatError, CallStream, Definitions, Dialect, DialectSchema, DialectTool, JsonEvents, Loosened,
    MAX_ARGUMENT_BYTES, MAX_CALLS, MAX_RECURSION, StreamedCall, Strictness, UnknownDialect,
};
pub use views::{
    MAX_OPEN_STEPS, Step, StepStatus, StepType, StepTypes, Steps, ToolCategory, ToolDefinition, ToolParameter,
};
pub use workspace::{is_path_contained, sandbox_boundary};
