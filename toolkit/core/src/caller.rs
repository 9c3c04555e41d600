//! The caller of a tool.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A caller: an agent in a session, with a workspace.
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
    /// The directory for the agent's own files.
    pub agent_dir: Option<PathBuf>,
    /// The session.
    pub session_id: Option<String>,
    /// The event that ends the session, with its background jobs and its approvals, as a clause: "the client's connection ends". Tools that
    /// start something for the session name it. `None` for a host that ends its sessions itself.
    pub session_end: Option<String>,
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
    /// True if the session runs in a sandbox.
    pub sandboxed: bool,
    /// The number of agents above this one, each of which delegated to the next.
    pub depth: u32,
    /// The directory that bounds file access; if `None`, the process's working directory.
    pub workspace: Option<PathBuf>,
    /// Directories, by their real paths, that narrow the boundary: of the workspace and the directories that are treated as part of it,
    /// only these are within the boundary. If `None`, all are. Rules still refer to the workspace. See
    /// `Toolkit::narrowed`.
    pub within: Option<Vec<PathBuf>>,
    /// The reason why no person can be asked for this caller, and what its user can do about it, as a clause: "the client cannot show
    /// questions; use one that can". Tools whose calls would always be refused are then left out of its toolbox. `None` if an approver
    /// answers.
    pub unattended: Option<String>,
    /// The group of sessions whose file reads also count as read by this one, for files that it has not read itself: for a host that cannot
    /// tell which session a call continues.
    pub shared_reads: Option<SharedReads>,
    /// Further values that a host passes to its tools.
    pub extra: Map<String, Value>,
    /// The caller that delegated to this one, with the caller that delegated to that one, and so on; see [`Self::delegated`].
    ///
    /// A tool exists, and an action is allowed, only as far as this holds for each of these callers too. In a toolbox, the workspace is that
    /// of the outermost caller, and file access is bounded by the directories of each.
    pub delegated_by: Option<Box<Caller>>,
}

/// A group of sessions that share which files they have read.
///
/// For a file that a session has neither read nor written, the reads recorded by the other sessions of the group are used, each for a
/// limited time. The session's own reads and writes take precedence, so that a change by another session of the group is still noticed.
///
/// ```
/// use std::time::Duration;
/// use toolkit::{Caller, files::SharedReads};
///
/// let mut caller = Caller::new();
/// caller.shared_reads = Some(SharedReads::new("connections of one token", Duration::from_secs(1800)));
/// # drop(caller);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SharedReads {
    /// The id of the session under which shared reads are recorded. `Toolkit::end_session` removes them.
    pub group: String,
    /// The time for which a recorded read is valid for the other sessions.
    pub within: Duration,
}

impl SharedReads {
    /// Creates a group from the id of its session, and the time for which a session's reads are valid for the others.
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
    /// Creates a caller without any properties.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the agent.
        with_agent: agent: String;
        /// Sets the session.
        with_session: session_id: String;
        /// Sets the event that ends the session, as a clause.
        with_session_end: session_end: String;
        /// Sets the message.
        with_message: message_id: String;
        /// Sets the conversation, by the channel's name for it.
        with_conversation: conversation_id: String;
        /// Sets the channel.
        with_channel: channel: String;
        /// Sets the account in the channel.
        with_account: account_id: String;
        /// Sets the sender of the message, by the channel's name for the person.
        with_sender: sender_id: String;
        /// Sets the provider of the model.
        with_provider: provider: String;
        /// Sets the model.
        with_model: model: String;
        /// Sets the directory that bounds file access.
        with_workspace: workspace: PathBuf;
        /// Sets the reason why no person can be asked, so that tools whose calls would always be refused are left out.
        ///
        /// A tool is left out if each call of it needs an approval that no rule, no setting and no remembered answer gives. A call of it
        /// returns the reason and the setting that would allow it.
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

    /// Adds a value that tools can read with `ToolContext::extra`.
    #[must_use]
    pub fn with_extra(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra.insert(key.into(), value.into());
        self
    }

    /// Returns the caller for an agent that this caller delegates to, under its own name until [`Self::with_agent`] sets another: one level
    /// deeper, without a session, and never with more rights than this caller. A host that lets an agent start another one makes its caller
    /// this way.
    ///
    /// ```
    /// use toolkit::Caller;
    ///
    /// let kid = Caller::new().with_agent("kid").with_session("s1");
    /// let boss = kid.delegated().with_agent("boss");
    /// let agents: Vec<_> = boss.chain().map(|caller| caller.agent.as_deref()).collect();
    /// assert_eq!(agents, [Some("boss"), Some("kid")]);
    /// assert_eq!((boss.depth, boss.session_id), (1, None));
    /// ```
    #[must_use]
    pub fn delegated(&self) -> Self {
        Self {
            session_id: None,
            depth: self.depth.saturating_add(1),
            delegated_by: Some(Box::new(self.clone())),
            ..self.clone()
        }
    }

    /// Returns this caller and the callers above it, each of which delegated to the one before.
    pub fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |caller| caller.delegated_by.as_deref())
    }

    /// Returns the directory that relative paths are relative to.
    pub fn workspace_dir(&self) -> &Path {
        self.workspace.as_deref().unwrap_or(Path::new("."))
    }
}
