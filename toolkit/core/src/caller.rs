//! On whose behalf a tool is called.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Who calls: an agent in a session, with a workspace.
///
/// ```
/// let caller = toolkit::Caller::new().with_session("s1").with_workspace("/srv/project");
/// assert_eq!(caller.session_id.as_deref(), Some("s1"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Caller {
    /// The agent.
    pub agent: Option<String>,
    /// The directory where the agent keeps its own things.
    pub agent_dir: Option<PathBuf>,
    /// The session.
    pub session_id: Option<String>,
    /// The message that the calls belong to.
    pub message_id: Option<String>,
    /// The conversation within a channel.
    pub conversation_id: Option<String>,
    /// The channel that the session came in by.
    pub channel: Option<String>,
    /// The account in that channel.
    pub account_id: Option<String>,
    /// The sender of the message that the calls belong to, as the channel names the person.
    pub sender_id: Option<String>,
    /// The provider of the model.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Whether the session runs in a sandbox.
    pub sandboxed: bool,
    /// How many agents stand above this one.
    pub depth: u32,
    /// The directory that bounds file access; the process's working directory where `None`.
    pub workspace: Option<PathBuf>,
    /// Directories, by their real paths, that alone are within the boundary, of the workspace and what counts as within it; all of that
    /// where `None`. What rules say is about the workspace all the same. See [`Toolkit::narrowed`](crate::Toolkit::narrowed).
    pub within: Option<Vec<PathBuf>>,
    /// Why no person can be asked for this caller, and what its user can do about it, as a clause: "the client cannot show questions;
    /// use one that can". Tools that could only be refused are then left out of its toolbox. `None` where an approver answers.
    pub unattended: Option<String>,
    /// What other sessions have read counts for this one too, in what it has not read itself: for a host that cannot tell which session a
    /// call continues.
    pub shared_reads: Option<SharedReads>,
    /// Whatever else a host wants its tools to know.
    pub extra: Map<String, Value>,
}

/// Sessions that share what they have read of files.
///
/// A session that has neither read nor written a file knows of it what the others of the group know, for so long after that was noted. What it
/// has read or written itself counts first, so that a change by another session of the group is still noticed.
///
/// ```
/// use std::time::Duration;
/// use toolkit::{Caller, SharedReads};
///
/// let mut caller = Caller::new();
/// caller.shared_reads = Some(SharedReads::new("connections of one token", Duration::from_secs(1800)));
/// # drop(caller);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SharedReads {
    /// The id of a session in which it is noted what was read. [`Toolkit::end_session`](crate::Toolkit::end_session) forgets it.
    pub group: String,
    /// How long what was read counts for the other sessions.
    pub within: Duration,
}

impl SharedReads {
    /// A group by the id of its session, and how long what one session has read counts for the others.
    pub fn new(group: impl Into<String>, within: Duration) -> Self {
        Self { group: group.into(), within }
    }
}

macro_rules! setters {
    ($($(#[$doc:meta])* $setter:ident: $field:ident: $type:ty;)*) => {
        $($(#[$doc])*
        #[must_use]
        pub fn $setter(mut self, value: impl Into<$type>) -> Self {
            self.$field = Some(value.into());
            self
        })*
    };
}

impl Caller {
    /// A caller of whom nothing is known.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Names the agent.
        with_agent: agent: String;
        /// Names the session.
        with_session: session_id: String;
        /// Names the message.
        with_message: message_id: String;
        /// Names the conversation, as its channel does.
        with_conversation: conversation_id: String;
        /// Names the channel.
        with_channel: channel: String;
        /// Names the account in the channel.
        with_account: account_id: String;
        /// Names the sender of the message, as the channel does.
        with_sender: sender_id: String;
        /// Names the provider of the model.
        with_provider: provider: String;
        /// Names the model.
        with_model: model: String;
        /// Bounds file access to a directory.
        with_workspace: workspace: PathBuf;
        /// Says why no person can be asked, so that tools that could only be refused are left out.
        ///
        /// A tool is left out if each call of it needs an approval that no rule, no setting and no remembered answer gives. A call of it
        /// is answered with the reason and with what would allow it.
        ///
        /// ```
        /// use toolkit::prelude::*;
        ///
        /// /// Empties the bin.
        /// #[tool]
        /// async fn empty_bin() {}
        ///
        /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
        /// let toolkit = Toolkit::empty().tool(toolkit::tool_ref!(empty_bin)).build()?;
        /// let toolbox = toolkit.toolbox(&Caller::new().with_unattended("no approver runs at night")).await;
        /// assert_eq!(toolbox.tools().len(), 0);
        /// let refused = toolbox.call(ToolCall::new("1", "empty_bin", "{}")).await;
        /// assert!(refused.text().contains("no approver runs at night"));
        /// # Ok(()) }
        /// ```
        with_unattended: unattended: String;
    }

    /// Adds something that tools can read with [`ToolContext::extra`](crate::ToolContext::extra).
    #[must_use]
    pub fn with_extra(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra.insert(key.into(), value.into());
        self
    }

    /// The directory that relative paths belong to.
    pub fn workspace_dir(&self) -> &Path {
        self.workspace.as_deref().unwrap_or(Path::new("."))
    }
}
