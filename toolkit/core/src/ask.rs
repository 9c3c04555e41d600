//! Questions to a person: for permission, or for a value that only the person knows.
//!
//! A tool states an [`Ask`]; it becomes a [`PendingAsk`] in the toolkit's `Asks`, which hands it to the
//! `Approver` and waits for the first [`Answer`], from there or from elsewhere.

mod answer;
mod choice;
mod elicit;
mod prompt;
mod question;
mod reply;
mod text;

pub use answer::{AllowScope, Answer, AskAnswer, DeniedBy};
pub use choice::Choice;
pub use elicit::Elicitation;
pub use prompt::{PromptLine, Tone, quoted_whole};
pub use question::Put;
pub use question::{Origin, PendingAsk, Question};
pub use reply::Reply;

use crate::escape::MAX_LINE_CHARS;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::Path;

/// Kinds of permission of which only entries without wildcards allow.
#[doc(hidden)]
pub const SINGLE_PATHS: [&str; 2] = ["sensitive", "protected"];

/// The most bytes of a question without a pattern that are remembered.
const MAX_BYTES_OF_WHOLE: usize = 64 << 10;

/// An operation of a tool, for a person to allow or deny.
///
/// Title and details are facts: the tool derives them from the actual operation. The model's own description of its purpose goes into
/// [`claim`](Self::claim) alone, which is shown separately and marked. All texts may contain any characters: they are escaped when they
/// are shown, by [`PendingAsk::to_text`], or by a host with [`escape_line`](crate::escape_line) and [`escape_block`](crate::escape_block).
///
/// ```
/// use toolkit::{Ask, approval::Access};
///
/// let ask = Ask::new("edit", "write 3 lines to src/lib.rs")
///     .with_pattern("src/lib.rs")
///     .with_path("src/lib.rs", Access::Write)
///     .with_diff("src/lib.rs", "-old\n+new\n")
///     .with_claim("fixes the build");
/// assert_eq!(ask.patterns, ["src/lib.rs"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Ask {
    /// The kind of permission: `edit`, `exec`, `web_fetch`, or any that a tool names.
    pub kind: String,
    /// The operation, in one line.
    pub title: String,
    /// The patterns that allow and deny rules match: paths, commands, addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<String>,
    /// Facts that the answer relies on, such as the sandbox that a command runs in: a lasting answer counts only while all of them are the
    /// same. See [`with_condition`](Self::with_condition).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<String>,
    /// The operation, in full.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<AskDetail>,
    /// The model's description of the operation, unchecked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
    /// The longest scope in which it may be allowed.
    #[serde(default = "longest", skip_serializing_if = "is_longest")]
    pub at_most: AllowScope,
    /// True if a command's flags or paths raised the question: then no rule's pattern answers it, and it is never allowed for longer than
    /// the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub raised: bool,
    /// True if the operation also uses a sensitive or a protected path, such as a command that reads one. See
    /// [`is_guarded`](Self::is_guarded).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guarded: bool,
    /// True if the call has done nothing yet; see [`before_acting`](Self::before_acting).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub before_acting: bool,
    /// The configuration setting that would allow the operation when no person can be asked; see [`with_hint`](Self::with_hint).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Returns true if a kind of permission concerns secrets, or files that run commands or lift limits.
#[doc(hidden)]
pub fn is_guarded_kind(kind: &str) -> bool {
    SINGLE_PATHS.contains(&&*kind.trim().to_lowercase())
}

/// A fact about the operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AskDetail {
    /// A file will change.
    Diff {
        /// The file.
        path: String,
        /// The change as a unified diff.
        diff: String,
    },
    /// A command will run.
    Command {
        /// The command as it will run.
        command: String,
        /// The directory in which it will run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
    },
    /// A path will be used.
    Path {
        /// The path.
        path: String,
        /// The access to the path.
        access: Access,
    },
    /// Anything else.
    Text {
        /// A label of one or two words, chosen by the tool.
        label: String,
        /// The value; several lines are kept.
        value: String,
    },
}

/// The kind of access to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Access {
    /// The path is read.
    Read,
    /// The path is created, changed or removed.
    Write,
}

impl Ask {
    /// Creates a question from the kind of permission and the operation in one line.
    pub fn new(kind: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            title: title.into(),
            patterns: Vec::new(),
            conditions: Vec::new(),
            details: Vec::new(),
            claim: None,
            at_most: AllowScope::Always,
            raised: false,
            guarded: false,
            before_acting: false,
            hint: None,
        }
    }

    /// Limits the scope in which it may be allowed.
    #[must_use]
    pub fn at_most(mut self, scope: AllowScope) -> Self {
        self.at_most = scope;
        self
    }

    /// Asks a person each time: the answer is not remembered.
    #[must_use]
    pub fn once_only(self) -> Self {
        self.at_most(AllowScope::Once)
    }

    /// Marks that a command's flags or paths raised the question.
    #[must_use]
    pub fn raised(mut self) -> Self {
        self.raised = true;
        self
    }

    /// Marks that the operation uses a sensitive or a protected path, though its kind is another one.
    #[must_use]
    pub fn guarded(mut self) -> Self {
        self.guarded = true;
        self
    }

    /// Returns true if the operation uses a path that may contain a secret, that runs commands or that lifts restrictions: its kind is
    /// `sensitive` or `protected`, or it is [marked](Self::guarded). A host that allows more than one operation with one answer, such as
    /// all calls of a client, leaves these questions to a person.
    ///
    /// ```
    /// use toolkit::Ask;
    ///
    /// assert!(Ask::new("sensitive", "read .env").is_guarded());
    /// assert!(Ask::new("exec", "cat .env").guarded().is_guarded());
    /// assert!(!Ask::new("edit", "write notes.txt").is_guarded());
    /// ```
    pub fn is_guarded(&self) -> bool {
        self.guarded || is_guarded_kind(&self.kind)
    }

    /// Adds a pattern that rules match.
    #[must_use]
    pub fn with_pattern(mut self, pattern: impl Into<String>) -> Self {
        self.patterns.push(pattern.into());
        self
    }

    /// Adds the change of a file, as a unified diff.
    #[must_use]
    pub fn with_diff(self, path: impl AsRef<Path>, diff: impl Into<String>) -> Self {
        self.with_detail(AskDetail::Diff { path: path_text(path.as_ref()), diff: diff.into() })
    }

    /// Adds a command and its working directory.
    #[must_use]
    pub fn with_command(self, command: impl Into<String>, cwd: impl AsRef<Path>) -> Self {
        self.with_detail(AskDetail::Command { command: command.into(), cwd: Some(path_text(cwd.as_ref())) })
    }

    /// Adds a path and the access to it.
    #[must_use]
    pub fn with_path(self, path: impl AsRef<Path>, access: Access) -> Self {
        self.with_detail(AskDetail::Path { path: path_text(path.as_ref()), access })
    }

    /// Adds any other fact.
    #[must_use]
    pub fn with_text(self, label: impl Into<String>, value: impl Into<String>) -> Self {
        self.with_detail(AskDetail::Text { label: label.into(), value: value.into() })
    }

    /// Adds a fact.
    #[must_use]
    pub fn with_detail(mut self, detail: AskDetail) -> Self {
        self.details.push(detail);
        self
    }

    /// Sets the configuration setting that would allow the operation when no person can be asked, as the text after "or allow it with": an
    /// entry, a setting and its value. An empty text means that no setting would. The default is `permission.<kind>`, which is wrong for a
    /// tool whose own settings decide.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets the model's own description: a description or reason from the call's arguments.
    #[must_use]
    pub fn with_claim(mut self, claim: impl Into<String>) -> Self {
        self.claim = Some(claim.into());
        self
    }

    /// Declares that the call has done nothing yet that would have to be undone or must not be done twice. If the host is killed while the
    /// question waits, it may then begin the call again, and ask again; without the declaration it cannot know. This holds for each question of a
    /// call that has several. A tool that gives the wait up, as with a time limit of its own, and acts in another way must not declare it: the call would
    /// still count as one that waits.
    #[must_use]
    pub fn before_acting(mut self) -> Self {
        self.before_acting = true;
        self
    }

    /// Adds a fact that the answer relies on and that can be another one at a later call: what starts a server, the content of a script, the
    /// sandbox of a command. It is shown with what a lasting answer remembers, and such an answer counts only for a question with the same
    /// conditions. One condition a line of text, without secrets.
    #[must_use]
    pub fn with_condition(mut self, condition: impl Into<String>) -> Self {
        self.conditions.push(condition.into());
        self
    }

    /// Returns the longest scope in which it can be allowed, if there is a place to remember the answer.
    ///
    /// A question that is not shown whole is not remembered. Without a pattern, only the same question in every detail is, within the
    /// session. Files that hold secrets, run commands or lift limits are asked about again in each session, because their content can
    /// change; a rule of the configuration for the path allows them for good.
    #[doc(hidden)]
    pub fn longest(&self) -> AllowScope {
        let is_long = |text: &String| text.chars().nth(MAX_LINE_CHARS).is_some();
        let is_large = self.patterns.is_empty() && self.size() > MAX_BYTES_OF_WHOLE;
        let is_cut = self.patterns.iter().chain(&self.conditions).any(is_long);
        let longest = if is_large || is_cut || is_long(&self.kind) {
            AllowScope::Once
        } else if self.raised || self.patterns.is_empty() || is_guarded_kind(&self.kind) {
            AllowScope::Session
        } else {
            AllowScope::Always
        };
        longest.min(self.at_most)
    }

    /// Returns true if a person would be asked the same. The model's claim and the hint are not compared, because they are not part of
    /// the operation.
    #[doc(hidden)]
    pub fn asks_the_same(&self, other: &Self) -> bool {
        self.relied_on() == other.relied_on()
    }

    /// Returns the parts that an answer relies on.
    pub(crate) fn relied_on(&self) -> impl PartialEq + Serialize {
        let Self {
            kind,
            title,
            patterns,
            conditions,
            details,
            claim: _,
            at_most,
            raised,
            guarded,
            before_acting: _,
            hint: _,
        } = self;
        (kind, title, patterns, conditions, details, at_most, raised, guarded)
    }

    /// Returns the number of bytes of its texts.
    #[doc(hidden)]
    pub fn size(&self) -> usize {
        let details: usize = self.details.iter().map(AskDetail::size).sum();
        let patterns = self.patterns.iter().chain(&self.conditions);
        let patterns: usize = patterns.map(|pattern| pattern.len() + size_of::<String>()).sum();
        let texts = self.claim.iter().chain(&self.hint).map(String::len).sum::<usize>();
        self.kind.len() + self.title.len() + patterns + details + texts
    }
}

impl AskDetail {
    /// Returns the access to a file that it states.
    #[doc(hidden)]
    pub fn access(&self) -> Option<Access> {
        match self {
            Self::Path { access, .. } => Some(*access),
            Self::Diff { .. } => Some(Access::Write),
            Self::Command { .. } | Self::Text { .. } => None,
        }
    }

    /// Returns the directory of a command.
    #[doc(hidden)]
    pub fn directory(&self) -> Option<&str> {
        match self {
            Self::Command { cwd, .. } => cwd.as_deref(),
            Self::Path { .. } | Self::Diff { .. } | Self::Text { .. } => None,
        }
    }

    #[doc(hidden)]
    pub fn size(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Diff { path, diff } => path.len() + diff.len(),
                Self::Command { command, cwd } => command.len() + cwd.as_ref().map_or(0, String::len),
                Self::Path { path, .. } => path.len(),
                Self::Text { label, value } => label.len() + value.len(),
            }
    }
}

fn longest() -> AllowScope {
    AllowScope::Always
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
fn is_longest(scope: &AllowScope) -> bool {
    *scope == longest()
}

/// Converts a path to text. Bytes that are not UTF-8 stay distinguishable: two paths must not look the same to the person who allows one.
fn path_text(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{{{byte:02x}}}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_is_for_other_programs() {
        let ask = Ask::new("exec", "run a command")
            .with_pattern("git push")
            .with_command("git push", "/srv")
            .with_path("x", Access::Read)
            .with_claim("as you asked");
        let json = serde_json::to_value(&ask).unwrap();
        assert_eq!(
            json,
            json!({
                "kind": "exec", "title": "run a command", "patterns": ["git push"],
                "details": [
                    {"type": "command", "command": "git push", "cwd": "/srv"},
                    {"type": "path", "path": "x", "access": "read"},
                ],
                "claim": "as you asked",
            })
        );
        assert_eq!(serde_json::from_value::<Ask>(json).unwrap(), ask);
        let strict = Ask::new("edit", "x").once_only().raised();
        let json = serde_json::to_value(&strict).unwrap();
        assert_eq!(json, json!({"kind": "edit", "title": "x", "atMost": "once", "raised": true}));
        assert_eq!(serde_json::from_value::<Ask>(json).unwrap(), strict);
    }

    #[test]
    fn what_can_be_remembered_of_an_answer() {
        let ask = || Ask::new("exec", "t");
        let (fits, long) = ("x".repeat(MAX_LINE_CHARS), "x".repeat(MAX_LINE_CHARS + 1));
        for (ask, expected) in [
            (ask().with_pattern("a"), AllowScope::Always),
            (ask().with_pattern(&fits), AllowScope::Always),
            (ask(), AllowScope::Session),
            (ask().with_pattern("a").raised(), AllowScope::Session),
            (ask().with_pattern("a").at_most(AllowScope::Session), AllowScope::Session),
            (ask().with_pattern("a").once_only(), AllowScope::Once),
            (ask().raised().once_only(), AllowScope::Once),
            (ask().with_pattern("a").with_pattern(&long), AllowScope::Once),
            (Ask::new("sensitive", "t").with_pattern("a"), AllowScope::Session),
            (Ask::new(" Protected", "t").with_pattern("a"), AllowScope::Session),
            (Ask::new("sensitive", "t").with_pattern("a").once_only(), AllowScope::Once),
            (Ask::new("external_directory", "t").with_pattern("a"), AllowScope::Always),
            (Ask::new(&long, "t").with_pattern("a"), AllowScope::Once),
            (ask().with_text("x", "y".repeat(MAX_BYTES_OF_WHOLE)), AllowScope::Once),
        ] {
            assert_eq!(ask.longest(), expected, "{ask:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn paths_that_are_no_text_stay_apart() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let path = |bytes: &'static [u8]| path_text(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(path(b"a\xffb"), "a\\x{ff}b");
        assert_ne!(path(b"a\xffb"), path(b"a\xfeb"));
        assert_eq!(path("größe".as_bytes()), "größe");
    }
}
