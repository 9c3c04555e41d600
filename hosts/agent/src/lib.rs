//! The agent loop: a task is delegated to a model, tools are called, and an account comes back.
//!
//! ```
//! use std::sync::Arc;
//! use serde_json::json;
//! use toolkit::prelude::*;
//! use toolkit_agent::{Agent, AgentEvent, DelegationRequest};
//! use toolkit_models::{Answer, Scripted};
//!
//! /// Returns the number of open issues.
//! #[tool(read_only)]
//! async fn open_issues() -> u32 {
//!     3
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
//! let toolkit = Toolkit::empty().tool(toolkit::tool_ref!(open_issues)).build()?;
//! // In place of a real model, which `toolkit_models::Models` makes of the configuration.
//! let model = Scripted::new([
//!     Answer::calls([ToolCall::new("1", "open_issues", json!({}))]),
//!     Answer::calls([ToolCall::new("2", "finish", json!({ "success": true, "summary": "There are 3." }))]),
//! ]);
//! let agent = Agent::builder(toolkit, Arc::new(model)).build();
//! let request = DelegationRequest::new("How many issues are open?").with_expected_outcome("The number is stated.");
//! let result = agent.run(request, |event: AgentEvent| drop(event)).await;
//! assert!(result.success);
//! assert_eq!((result.summary.as_str(), result.tool_call_count), ("There are 3.", 1));
//! # Ok(()) }
//! ```
//!
//! # What holds
//!
//! * Every tool call gets exactly one result, in order, whatever happens: a failure, a limit, a cancellation, a message of the user.
//! * `success` is the model's own statement in its final answer, the tool `finish`. A run that ends in any other way has not succeeded.
//! * What happens is in the transcript before it happens. A run that was killed can be resumed; a call that had started is reported as
//!   interrupted, and never repeated. One that waited for a person, and had done nothing yet, is begun and asked again.
//! * All calls go through [`Toolbox::call_with`](toolkit::Toolbox::call_with): policy, approval and history are those of every host.

pub mod acp;
mod agent;
mod approvals;
mod context;
mod conversations;
mod deferral;
mod events;
mod fail_points;
mod ledger;
mod limits;
mod loop_tools;
mod other_names;
mod profile;
mod prompt;
mod redaction;
mod request;
mod result;
mod rewind;
mod run;
mod session;
mod settings;
mod steering;
mod transcript;

pub use agent::{Agent, AgentBuilder};
pub use context::ContextSettings;
pub use conversations::{
    Conversation, ConversationOptions, Conversations, Ended, IncomingMessage, Mode, NameTaken, Observation,
    Observed, ObservedEvent, Receipt, SendError,
};
pub use events::{AgentEvent, Compaction, IntoObserver, Observer};
pub use limits::Limits;
pub use profile::AgentProfile;
pub use prompt::FinalAnswer;
pub use request::DelegationRequest;
pub use result::{RunFuture, RunUsage, StopReason, ToolAgentResult, ToolAgentStep};
pub use rewind::{Checkpoints, RewindOptions, Rewound};
pub use session::{RunOptions, Session};
pub use settings::ToolAgentSettings;
pub use steering::{QueueFull, Steering};
pub use transcript::{
    CleanUp, DamagedTranscript, FileStore, Kind, MemoryStore, RemovalReason, RemovedConversation, Replay,
    Retention, StoreLock, StoredSegment, StoredTranscript, SyncWork, TranscriptError, TranscriptInfo,
    TranscriptMessage, TranscriptStore, TranscriptWriter, Transcripts,
};
