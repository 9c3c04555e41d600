//! Shell commands: judged before they run, contained by a sandbox while they run, and always tracked.
//!
//! The library `toolkit_sandbox` owns their processes. A host calls `toolkit_sandbox::init()` first in its `main`, as the `toolkit`
//! command does, or has the weaker guarantee described there; the result of each command names its guarantee under `guarantee`.

mod attributes;
mod clean;
mod command_forms;
mod command_rules;
mod containing;
mod digest;
mod environment;
mod exec;
mod explain;
mod grounds;
mod guarded_tree;
mod guards;
mod job;
mod jobs;
mod judge;
mod judged;
mod keys;
mod limits;
mod masked;
mod masks;
mod needs;
mod possible;
mod prepare;
mod process;
mod question;
mod reading;
mod run;
mod safe_bins;
mod searched;
mod stream;
mod strength;
mod system_directories;
mod tmp;
mod told;
mod unread;

pub use exec::{ExecEscalation, exec};
pub use explain::{ExplainedCommand, ExplainedPart, ExplainedPath, ExplainedReason, explain};
pub use process::{BackgroundJob, BackgroundJobs, ProcessAction, ProcessDetails, StoppedJob, process};
pub use strength::{CommandFeature, CommandStrength, strength};
