//! The verdict on a command, part by part.

use crate::class::Class;
use crate::environment::SET_FOR_PROGRAM;
use crate::situation::{Access, Decision};
use std::ops::Range;
use std::path::PathBuf;

/// The decision on a command, and its reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// The strictest decision of all parts and reasons.
    pub decision: Decision,
    /// The worst of them.
    pub class: Class,
    /// Each simple command, in the order of the text; nested ones are in its own parts.
    pub parts: Vec<Part>,
    /// Reasons that belong to no single part, such as a syntax error.
    pub reasons: Vec<Reason>,
    /// Variables that the command must get in addition to its environment for the verdict to hold.
    pub env: Vec<(String, String)>,
    /// Arguments with the same purpose, if a program accepts them: the text to insert, and its position in the command, in bytes and in
    /// order. [`Verdict::guarded`] inserts them.
    pub arguments: Vec<(usize, String)>,
}

/// A simple command of the text, with the commands that it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// Position in bytes in the text that the part belongs to: the command, or the text of the enclosing part.
    pub span: Range<usize>,
    /// Text of the part.
    pub text: String,
    /// The name of the program, without its directory, where that is known.
    pub program: Option<String>,
    /// The program's file, if it is installed.
    pub executable: Option<PathBuf>,
    /// The directory that the program runs in, where that is known.
    pub directory: Option<PathBuf>,
    /// Words after expansion. `None` for one that is unknown before the command runs.
    pub words: Vec<Option<String>>,
    /// Words of lists, such as that of a loop: some of them take the place of an unknown word.
    pub listed: Vec<String>,
    /// Variables that the command has set before, with their values, where these are known: its program may use them.
    pub variables: Vec<(String, String)>,
    /// Number of leading words that identify the command's action, such as two for `cargo test`: the shortest prefix to name in a
    /// permission for later. `None` if only the whole command identifies it, as for a shell or an interpreter.
    pub says: Option<usize>,
    /// The strictest of its reasons and its parts.
    pub decision: Decision,
    /// The worst of them.
    pub class: Class,
    /// The reasons for the decision.
    pub reasons: Vec<Reason>,
    /// The paths that it uses, as far as they are known.
    pub paths: Vec<(PathBuf, Access)>,
    /// Names of the programs that it may start by itself, such as the decompressors of `tar`.
    pub starts: Vec<String>,
    /// True if the program asks the kernel about the network of this machine, for which it needs a socket: `AF_NETLINK`, or one for
    /// `ioctl`. It opens no connection with that.
    pub queries_network_state: bool,
    /// True if it is a command of git that may show the content of files of earlier commits, whose names no index gives.
    pub shows_history: bool,
    /// The commands that it runs in turn: substitutions, payloads of shells, commands behind wrappers.
    pub parts: Vec<Part>,
}

/// The subject of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ground {
    /// The program as such. A permission for this program, with these first words, covers it.
    Program,
    /// A path that is used: another decision than that about the command.
    Path,
    /// An option, an unknown word, or a construct of the shell: a permission for the program does not cover it.
    Detail,
}

/// A reason for a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reason {
    /// The decision.
    pub decision: Decision,
    /// The class of the effect.
    pub class: Class,
    /// Subject of the reason.
    pub ground: Ground,
    /// Description of the subject and its effect.
    pub text: String,
}

impl Reason {
    /// Creates a reason, for callers that know more than the command shows.
    pub fn new(decision: Decision, class: Class, ground: Ground, text: impl Into<String>) -> Self {
        Self { decision, class, ground, text: text.into() }
    }

    /// Returns true if it is about a variable that the command sets for a program, and that is not known to make one run something.
    pub fn is_about_variable_of_program(&self) -> bool {
        self.text.ends_with(SET_FOR_PROGRAM)
    }
}

impl Verdict {
    /// Decides again on every simple command: if `lifts` returns true for one, the effect of its program as such ([`Ground::Program`])
    /// counts as allowed. Reasons that deny, are dangerous or have another subject cannot be lifted. For earlier approvals and rules.
    pub fn lift(&mut self, lifts: &mut dyn FnMut(&Part) -> bool) {
        let own = decided(&self.reasons);
        let parts = self.parts.iter_mut().map(|part| part.lift(lifts)).max();
        self.decision = own.max(parts.unwrap_or(Decision::Allow));
    }

    /// Returns the command that was judged with [`Verdict::arguments`] in it. It does the same, and keeps to its verdict even if it should
    /// lose a variable of [`Verdict::env`].
    pub fn guarded(&self, command: &str) -> String {
        let mut text = String::with_capacity(command.len());
        let mut done = 0;
        for (at, arguments) in &self.arguments {
            let Some(before) = command.get(done..*at) else { break };
            text.extend([before, " ", arguments]);
            done = *at;
        }
        text.push_str(command.get(done..).unwrap_or_default());
        text
    }

    /// Returns all parts, each before those nested in it.
    pub fn each_part(&self) -> impl Iterator<Item = &Part> {
        let mut waiting: Vec<&Part> = self.parts.iter().rev().collect();
        std::iter::from_fn(move || {
            let part = waiting.pop()?;
            waiting.extend(part.parts.iter().rev());
            Some(part)
        })
    }
}

impl Part {
    pub(crate) fn new(span: Range<usize>, text: &str) -> Self {
        Self {
            span,
            text: text.to_owned(),
            program: None,
            executable: None,
            directory: None,
            words: Vec::new(),
            listed: Vec::new(),
            variables: Vec::new(),
            says: None,
            decision: Decision::Allow,
            class: Class::ReadOnly,
            reasons: Vec::new(),
            paths: Vec::new(),
            starts: Vec::new(),
            queries_network_state: false,
            shows_history: false,
            parts: Vec::new(),
        }
    }

    fn lift(&mut self, lifts: &mut dyn FnMut(&Part) -> bool) -> Decision {
        for part in &mut self.parts {
            part.lift(lifts);
        }
        let can = |reason: &Reason| {
            reason.ground == Ground::Program
                && reason.decision == Decision::Ask
                && reason.class < Class::Dangerous
        };
        if self.reasons.iter().any(can) && lifts(self) {
            for reason in self.reasons.iter_mut().filter(|reason| can(reason)) {
                reason.decision = Decision::Allow;
            }
        }
        let parts = self.parts.iter().map(|part| part.decision).max();
        self.decision = decided(&self.reasons).max(parts.unwrap_or(Decision::Allow));
        self.decision
    }

    /// Adds a reason; the strictest decides.
    pub(crate) fn because(
        &mut self,
        class: Class,
        decision: Decision,
        ground: Ground,
        text: impl Into<String>,
    ) {
        self.decision = self.decision.max(decision);
        self.class = self.class.max(class);
        let reason = Reason { decision, class, ground, text: text.into() };
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    /// Adds a reason about the program as such.
    pub(crate) fn is(&mut self, class: Class, text: impl Into<String>) {
        self.because(class, class.decision(), Ground::Program, text);
    }

    /// Adds a reason about a detail, independent of the program.
    pub(crate) fn has(&mut self, class: Class, text: impl Into<String>) {
        self.because(class, class.decision(), Ground::Detail, text);
    }

    pub(crate) fn add(&mut self, part: Part) {
        self.decision = self.decision.max(part.decision);
        self.class = self.class.max(part.class);
        self.parts.push(part);
    }
}

fn decided(reasons: &[Reason]) -> Decision {
    reasons.iter().map(|reason| reason.decision).max().unwrap_or(Decision::Allow)
}
