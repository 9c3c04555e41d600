//! Asking a person: for permission, or for something that only they know.
//!
//! A tool states an [`Ask`]; it becomes a [`PendingAsk`] in the toolkit's [`Asks`](crate::Asks), which hands it to the
//! [`Approver`](crate::Approver) and waits for the first [`Answer`], from there or from elsewhere.

mod answer;
mod choice;
mod elicit;
mod prompt;
mod question;
mod text;

pub use answer::{AllowScope, Answer, AskAnswer, DeniedBy};
pub use choice::Choice;
pub use elicit::Elicitation;
pub use prompt::{PromptLine, Tone};
pub use question::Put;
pub use question::{Origin, PendingAsk, Question};

use crate::escape::MAX_LINE_CHARS;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::Path;

/// Kinds of permission of which only entries without wildcards allow.
#[doc(hidden)]
pub const SINGLE_PATHS: [&str; 2] = ["sensitive", "protected"];

/// How many bytes of a question without a pattern are remembered.
const MAX_BYTES_OF_WHOLE: usize = 64 << 10;

/// What a tool wants to do, for a person to allow or not.
///
/// Title and details are facts: the tool derives them from what it will really do. What the model says of its own
/// purpose goes into [`claim`](Self::claim) alone, which is shown apart and as such. All of it may hold any characters:
/// it is escaped where it is shown, by [`PendingAsk::to_text`], or by a host with [`escape_line`](crate::escape_line)
/// and [`escape_block`](crate::escape_block).
///
/// ```
/// use toolkit::{Access, Ask};
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
    /// What will be done, in one line.
    pub title: String,
    /// What the action is matched by, where rules allow or deny: paths, commands, addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<String>,
    /// What will be done, in full.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<AskDetail>,
    /// What the model says of it, unchecked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
    /// The longest that it may be allowed for.
    #[serde(default = "longest", skip_serializing_if = "is_longest")]
    pub at_most: AllowScope,
    /// Whether a command's flags or paths raised the question: then no pattern of a rule answers it, and it is never
    /// allowed for longer than the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub raised: bool,
    /// Whether it is about a sensitive or a protected path beside what its kind is about, such as a command that reads one. See
    /// [`is_guarded`](Self::is_guarded).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guarded: bool,
    /// What of the configuration would let it through where nobody can be asked; see [`with_hint`](Self::with_hint).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Whether a kind of permission is about secrets, or what runs commands or lifts bounds.
#[doc(hidden)]
pub fn is_guarded_kind(kind: &str) -> bool {
    SINGLE_PATHS.contains(&&*kind.trim().to_lowercase())
}

/// A fact about what will be done.
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
        /// What for.
        access: Access,
    },
    /// Anything else.
    Text {
        /// What it is, in a word or two of the tool's own.
        label: String,
        /// Its value; several lines are kept.
        value: String,
    },
}

/// How a path is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Access {
    /// What is there is looked at.
    Read,
    /// What is there is made, changed or removed.
    Write,
}

impl Ask {
    /// What will be done, in one line, and the kind of permission that it needs.
    pub fn new(kind: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            title: title.into(),
            patterns: Vec::new(),
            details: Vec::new(),
            claim: None,
            at_most: AllowScope::Always,
            raised: false,
            guarded: false,
            hint: None,
        }
    }

    /// Lets it be allowed for so long at most.
    #[must_use]
    pub fn at_most(mut self, scope: AllowScope) -> Self {
        self.at_most = scope;
        self
    }

    /// Has a person asked each time: nothing of the answer is remembered.
    #[must_use]
    pub fn once_only(self) -> Self {
        self.at_most(AllowScope::Once)
    }

    /// Says that a command's flags or paths raised the question.
    #[must_use]
    pub fn raised(mut self) -> Self {
        self.raised = true;
        self
    }

    /// Says that it is about a sensitive or a protected path, though its kind is another one.
    #[must_use]
    pub fn guarded(mut self) -> Self {
        self.guarded = true;
        self
    }

    /// Returns true if it is about a path that may hold a secret, that runs commands or that lifts bounds: its kind is `sensitive` or
    /// `protected`, or it [says so](Self::guarded). A host that allows what it was not asked about in full, such as all calls of a client,
    /// leaves these questions to a person.
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

    /// Adds what the action is matched by.
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

    /// Adds a command and the directory in which it runs.
    #[must_use]
    pub fn with_command(self, command: impl Into<String>, cwd: impl AsRef<Path>) -> Self {
        self.with_detail(AskDetail::Command { command: command.into(), cwd: Some(path_text(cwd.as_ref())) })
    }

    /// Adds a path and how it is used.
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

    /// Says what of the configuration would let it through where nobody can be asked, as it goes on after "or allow it with": an entry,
    /// a setting and its value. An empty text says that nothing does. Without it, it is `permission.<kind>`, which a tool whose own
    /// settings decide has to put right.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says what the model says of it: a description or reason from the call's arguments.
    #[must_use]
    pub fn with_claim(mut self, claim: impl Into<String>) -> Self {
        self.claim = Some(claim.into());
        self
    }

    /// The longest that it can be allowed for, where there is a place to remember it.
    ///
    /// What is not shown whole is not remembered, and without a pattern there is nothing to match it by later: within
    /// the session only the same question in every detail is. What holds secrets, runs commands or lifts bounds is asked
    /// again in each session: what is in such a file is another thing tomorrow. Who wants it otherwise names the path in the
    /// configuration.
    #[doc(hidden)]
    pub fn longest(&self) -> AllowScope {
        let is_long = |text: &String| text.chars().nth(MAX_LINE_CHARS).is_some();
        let is_large = self.patterns.is_empty() && self.size() > MAX_BYTES_OF_WHOLE;
        let longest = if is_large || self.patterns.iter().any(is_long) || is_long(&self.kind) {
            AllowScope::Once
        } else if self.raised || self.patterns.is_empty() || is_guarded_kind(&self.kind) {
            AllowScope::Session
        } else {
            AllowScope::Always
        };
        longest.min(self.at_most)
    }

    /// The bytes of its texts.
    #[doc(hidden)]
    pub fn size(&self) -> usize {
        let details: usize = self.details.iter().map(AskDetail::size).sum();
        let patterns: usize = self.patterns.iter().map(|pattern| pattern.len() + size_of::<String>()).sum();
        let texts = self.claim.iter().chain(&self.hint).map(String::len).sum::<usize>();
        self.kind.len() + self.title.len() + patterns + details + texts
    }
}

impl AskDetail {
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

/// A path as text. Bytes that are no UTF-8 stay distinguishable: two paths must not look the same to who allows one.
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
