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

mod approvals;
mod approver;
mod arg;
mod arguments;
mod ask;
mod attachment;
mod call;
mod caller;
mod config;
mod content;
mod context;
mod cut;
mod data_dir;
mod definition;
mod diagnostic;
mod dialect;
mod discovery;
mod error;
mod escape;
mod events;
mod files;
mod gate;
mod guard;
mod history;
mod hooks;
mod housekeeping;
mod inspector;
mod kept_output;
mod link;
pub mod lint;
mod live;
mod loop_guard;
mod macros;
mod message;
mod name;
mod output;
mod output_store;
mod parameter;
mod permission;
mod plugin;
mod policy;
pub mod prelude;
mod prepare;
mod real_path;
mod redact;
mod registry;
mod result_hook;
mod schema;
mod search;
mod service;
mod session;
mod settings;
mod sink;
mod skills;
mod source;
mod state;
#[cfg(feature = "testing")]
pub mod testing;
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
pub use arg::{LengthArg, PatternArg, RangeArg, SchemaFn, ToolArg};
pub use arguments::{Arguments, InvalidArguments, Problem, Repair, RepairKind};
pub use ask::{
    Access, AllowScope, Answer, AnswerError, Ask, AskDetail, AskLimits, Asks, DeniedBy, Elicitation, Origin,
    PendingAsk, Question,
};
pub use attachment::Attachment;
pub use call::{CallArguments, ToolCall, ToolResult};
pub use caller::{Caller, SharedReads};
pub use config::{
    Config, ConfigError, ConfigGate, ConfigOrigin, ConfigOrigins, ConfigProblem, ConfigRestriction,
    ConfigSection, ConfigSource, Configuration, Configured, IgnoredKey, LoadOptions, LoopGuardSettings,
    McpCommand, McpGrant, McpOAuth, McpOff, McpSandbox, McpServerSettings, McpTransport, McpUnavailable,
    McpUrl, Secret, ToolAgentSettings, TrustStore, TrustedFile, WorkspaceFile, server_prefixes,
};
#[doc(hidden)]
pub use config::{MAX_OF_LONG_PREFIX, in_letters_of_names};
pub use content::{Bytes, Content, Resource, ResourceBody};
pub use context::ToolContext;
pub use cut::{Cut, CutHint, Kept, OutputLimits, Part, Position};
pub use data_dir::DataDir;
pub use definition::{Annotations, Definition};
pub use diagnostic::{Diagnostic, Level};
pub use dialect::{
    CallFormatError, CallStream, Definitions, Dialect, DialectSchema, DialectTool, Loosened,
    MAX_ARGUMENT_BYTES, MAX_CALLS, MAX_RECURSION, Strictness, UnknownDialect,
};
pub use discovery::{Discovery, DiscoverySettings, SearchHit, Showing};
pub use error::{IntoToolError, Retry, ToolError, ToolErrorKind};
pub use escape::{
    MAX_BLOCK_CHARS, MAX_BLOCK_LINES, MAX_LINE_CHARS, escape_block, escape_hidden, escape_line,
    escape_terminal,
};
pub use events::{AllowedBy, AnsweredBy, CallEvent, Event, Events, LogLevel, LogMessage, Progress, Teller};
pub use files::{
    Before, DirectoryEntry, Expected, Extent, FileContent, FileKind, FileLock, FileVersion, Interrupted,
    Left, Opened, OpenedDirectory, OpenedFile, OpenedTree, OwnerChange, Proposal, Refused, Repaired, Seen,
    Taken, Target, Unfinished, Workspace, WriteOptions, Written, shown_name,
};
pub use history::{
    AskAnswer, CallStatus, CorruptLine, History, HistoryEntry, HistoryItem, HistoryQuery, HistoryReader,
    JsonlHistory, JsonlOptions, JsonlStatus, MemoryHistory, Record, RecordedAsk, RecordedCall,
    RecordedCaller, RecordedContent, RecordedOutput,
};
pub use housekeeping::Housekeeping;
pub use inspector::{CallbackInspector, Inspecting, Inspection, Inspector, Verdict};
pub use kept_output::{KeptOutput, OutputCount, ShownOutput};
pub use loop_guard::LoopGuard;
pub use macros::{args, service, tool, tool_factory};
pub use message::{Message, MessageRole};
pub use name::{MAX_NAME_BYTES, is_valid_name, nearest};
pub use output::{Detailed, Image, IntoToolOutput, Json, JsonOutput, Structured, ToolOutput};
pub use output_store::{OutputStoreSettings, Swept};
pub use parameter::{Literal, ParameterDef, Rule, Shown};
pub use permission::{
    Decided, DecidedPath, DecidedRule, Decision, GuardedPaths, OwnPaths, PathDecision, PermissionEntry,
    PermissionRequest, PermissionRule, PermissionRules, PermissionSettings, Permissions, harmless_paths,
    protected_path, protected_paths, sensitive_path, sensitive_paths,
};
pub use plugin::{Plugin, PluginDef};
pub use policy::{
    Explanation, LayerVerdict, Policy, PolicyRule, PolicySettings, PolicyVerdict, ProfileRules, Refusal,
    ToolPolicy, ToolRules,
};
pub use prepare::{Preparation, PrepareFn, Preparing};
pub use redact::Redactor;
pub use registry::{
    Bringing, BuildError, Builder, RegisterError, ToolChange, ToolSource, ToolWatch, Toolkit, Tools,
    WeakToolkit,
};
pub use result_hook::ResultReview;
pub use service::IntoTools;
pub use sink::OutputSink;
pub use skills::{SkillFile, SkillFiles, SkillPlace, SkillSource, SkillSources};
pub use source::Source;
pub use state::{Service, State};
pub use tokens::estimated_tokens;
pub use tokio_util::sync::CancellationToken;
pub use tool::{DynamicArgs, InvalidTool, Tool, ToolBuilder};
pub use tool_def::{BoxFuture, FormatError, Input, Keep, Location, Run, ServiceDef, ToolDef, Truncate};
pub use toolbox::{CallOptions, Toolbox};
pub use views::{
    MAX_OPEN_STEPS, Step, StepStatus, StepType, StepTypes, Steps, ToolCategory, ToolDefinition, ToolParameter,
};
pub use workspace::{is_path_contained, sandbox_boundary};
