//! Paths that a command may use although nothing is known of its options.
//!
//! A program that is not known to only read gets words which could be paths: operands, and values of options in many notations. Each is
//! decided as a file tool that reads or writes it: a denied path denies the command, a guarded one needs approval regardless of any
//! permission for the program, and one outside the workspace is named in the prompt.

use super::judged::{AskedPath, Command, Judged, for_each, is_entry};
use super::question::MAX_TOLD;
use shell_verdict::{
    Access, Class, Decision, Ground, Part, PossiblePath, PossiblePaths, PossiblePlace, Reason,
    possible_paths_of_text, resolve_path,
};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use toolkit::approval::Access as FileAccess;
use toolkit::files::Workspace;
use toolkit::permission::{DecidedPath, DecidedRule, PathDecision, sensitive_path};

/// Maximum number of decided paths of one command.
const MAX_DECIDED: usize = 8_192;
/// Maximum number of directories that relative paths of one simple command are resolved in, beside its own.
const MAX_DIRECTORIES: usize = 16;
/// Maximum length of a text that is decided as a path.
const MAX_LENGTH: usize = 4_096;
/// Patterns that match every path, so that they name none.
const MATCH_ALL: &[&str] = &["`*`:", "`**`:", "`/**`:", "`**/*`:", "`/*`:", "`/`:", "`./`:", "`.`:"];

impl Judged {
    /// Applies the decisions about the paths that the parts of the command may use, if their options are not understood exactly.
    pub(super) fn count_possible_paths(&mut self, command: &Command, files: &Workspace) {
        let mut counting = Counting {
            command,
            files,
            home: command.variables.get("HOME").map(PathBuf::from).filter(|home| home.is_absolute()),
            looked: HashMap::new(),
            asked: std::mem::take(&mut self.paths),
            named: BTreeSet::new(),
            possible: BTreeSet::new(),
        };
        let parts = &mut self.verdict.parts;
        for part in parts.iter_mut() {
            for_each(part, &mut |part| {
                if is_open(part) {
                    let possible = part.possible_paths();
                    let found = counting.of_part(&possible, part);
                    part.reasons.extend(found);
                }
            });
        }
        // The words of a text that cannot be parsed are unknown.
        if self.verdict.parts.is_empty() {
            let possible = possible_paths_of_text(&command.text);
            let found = counting.of_words(&possible, &command.cwd, &[]);
            self.verdict.reasons.extend(found);
        }
        // An approval covers no more than the prompt shows.
        if counting.asked.len() > MAX_TOLD {
            counting.possible.clear();
        }
        self.paths = counting.asked;
        self.named = counting.named;
        self.possible = counting.possible;
        self.verdict.lift(&mut |_| false);
    }
}

/// Returns true if the options of a part, or of a program that it starts with its own words, are not understood exactly.
fn is_open(part: &Part) -> bool {
    let is_own =
        part.reasons.iter().any(|reason| reason.ground != Ground::Path && reason.class >= Class::Unknown);
    // Its words are variables of the program that it starts.
    is_own || part.program.as_deref() == Some("env") && part.parts.iter().any(is_open)
}

/// The decisions about the possible paths of one command.
struct Counting<'a> {
    command: &'a Command,
    files: &'a Workspace,
    home: Option<PathBuf>,
    looked: HashMap<PathBuf, Rc<Looked>>,
    /// Paths that need approval.
    asked: BTreeSet<AskedPath>,
    /// Paths that a prompt names, but that need no approval by themselves.
    named: BTreeSet<AskedPath>,
    /// Operands and values among those that need approval, of which the access is unknown.
    possible: BTreeSet<PathBuf>,
}

/// The decisions about one path.
struct Looked {
    path: PathBuf,
    exists: bool,
    is_dir: bool,
    read: Option<DecidedPath>,
    write: Option<DecidedPath>,
}

/// The effect of a path on the command.
enum Effect {
    None,
    Named(AskedPath),
    Asks(AskedPath),
    Denies(String),
}

impl Counting<'_> {
    fn of_part(&mut self, possible: &PossiblePaths, part: &Part) -> Vec<Reason> {
        let directory = part.directory.clone().unwrap_or_else(|| self.command.cwd.clone());
        self.of_words(possible, &directory, &part.paths)
    }

    /// Returns the reasons of the paths that deny a part of the command, or make it need approval.
    fn of_words(
        &mut self,
        possible: &PossiblePaths,
        directory: &Path,
        known: &[(PathBuf, Access)],
    ) -> Vec<Reason> {
        let further = self.directories(possible, directory);
        let mut reasons = Vec::new();
        let mut is_cut = possible.is_cut || further.len() >= MAX_DIRECTORIES;
        for candidate in &possible.paths {
            let Some(first) = self.resolve(&candidate.text, directory) else { continue };
            let of_further = further.iter().filter_map(|base| self.resolve(&candidate.text, base));
            let of_further: BTreeSet<PathBuf> = of_further.filter(|path| *path != first).collect();
            let paths =
                std::iter::once((first, false)).chain(of_further.into_iter().map(|path| (path, true)));
            for (path, is_further) in paths {
                if self.looked.len() >= MAX_DECIDED {
                    is_cut = true;
                    break;
                }
                let looked = self.look(&path);
                let candidate = Candidate { of: candidate, looked: &looked, known, is_further };
                match candidate.effect() {
                    Effect::None => {}
                    Effect::Named(named) => {
                        self.named.insert(named);
                    }
                    Effect::Asks(asked) => {
                        let text = format!("it may read or write {}", asked.path.display());
                        if candidate.of.place == PossiblePlace::Piece {
                            // A text in a program, such as a script: a sandbox that contains the program contains this too.
                            let class = Class::Unknown;
                            reasons.push(Reason::new(Decision::Ask, class, Ground::Detail, text));
                        } else {
                            reasons.push(reason(Decision::Ask, text));
                            self.possible.insert(asked.path.clone());
                        }
                        // A path that is known to need approval is listed already.
                        let is_listed = |listed: &AskedPath| {
                            listed.path == asked.path
                                && (!listed.reason.is_empty() || asked.reason.is_empty())
                        };
                        if !self.asked.iter().any(is_listed) {
                            self.asked.insert(asked);
                        }
                    }
                    Effect::Denies(why) => {
                        let text = format!("it may read or write {}: {why}", looked.path.display());
                        reasons.push(reason(Decision::Deny, text));
                    }
                }
            }
        }
        if is_cut {
            let text = "it has more words that could be paths than are checked".to_owned();
            reasons.push(reason(Decision::Ask, text));
        }
        reasons.dedup();
        reasons
    }

    /// Returns the directories that relative paths may refer to, beside the one that the program runs in. Each may be relative to another.
    fn directories(&self, possible: &PossiblePaths, directory: &Path) -> Vec<PathBuf> {
        let mut found = vec![directory.to_owned()];
        for text in &possible.directories {
            for place in 0..found.len() {
                let path = self.resolve(text, &found[place]);
                let path = path.filter(|path| !found.contains(path) && found.len() <= MAX_DIRECTORIES);
                found.extend(path);
            }
        }
        found.split_off(1)
    }

    /// Returns the path that a program opens for a text; `None` if it opens none, or one that holds nothing.
    fn resolve(&self, text: &str, base: &Path) -> Option<PathBuf> {
        if text.is_empty() || text.len() > MAX_LENGTH {
            return None;
        }
        let home = self.home.as_deref();
        let below = |rest: &str| home.map(|home| home.join(rest.trim_start_matches('/')));
        let variable = |name: &str| {
            text.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('/')).and_then(below)
        };
        let path = match text.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => below(rest)?,
            Some(rest) => home?.parent()?.join(rest),
            None => variable("$HOME").or_else(|| variable("${HOME}")).unwrap_or_else(|| base.join(text)),
        };
        let path = resolve_path(base, path);
        let is_empty = path.starts_with("/dev/fd")
            || ["null", "stdin", "stdout", "stderr", "tty", "zero", "full", "random", "urandom"]
                .iter()
                .any(|name| path == Path::new("/dev").join(name));
        (!is_empty).then_some(path)
    }

    fn look(&mut self, path: &Path) -> Rc<Looked> {
        if let Some(looked) = self.looked.get(path) {
            return Rc::clone(looked);
        }
        let found = path.symlink_metadata();
        let looked = Rc::new(Looked {
            path: path.to_owned(),
            exists: found.is_ok(),
            is_dir: path.is_dir(),
            read: self.files.decide(path, FileAccess::Read).ok(),
            write: self.files.decide(path, FileAccess::Write).ok(),
        });
        self.looked.insert(path.to_owned(), Rc::clone(&looked));
        looked
    }
}

/// Returns a reason that neither a permission for the program nor a sandbox answers.
fn reason(decision: Decision, text: String) -> Reason {
    Reason::new(decision, Class::ReadOnly, Ground::Detail, text)
}

/// A text that could be a path, with the decisions about it.
struct Candidate<'a> {
    of: &'a PossiblePath,
    looked: &'a Looked,
    /// Paths that the command is known to use.
    known: &'a [(PathBuf, Access)],
    /// True if it is relative to another directory than the one that the program runs in.
    is_further: bool,
}

impl Candidate<'_> {
    fn effect(&self) -> Effect {
        let (read, write) = (self.looked.read.as_ref(), self.looked.write.as_ref());
        let denied = [(read, false), (write, true)].into_iter().find_map(|(decided, writes)| {
            let decided = decided?;
            match &decided.decision {
                PathDecision::Deny { reason, .. } if self.is_denied(decided, writes) => Some(reason.clone()),
                _ => None,
            }
        });
        if let Some(why) = denied {
            return Effect::Denies(why);
        }
        // A known access was decided already.
        let is_known = |writes: bool| {
            let mut of_path = self.known.iter().filter(|(path, _)| *path == self.looked.path);
            of_path.any(|(_, access)| !writes || *access == Access::Write)
        };
        let read = read.filter(|_| !is_known(false));
        let write = write.filter(|_| !is_known(true));
        for (decided, writes) in [(read, false), (write, true)] {
            if let Some(asked) = decided.and_then(|decided| self.asked(decided, writes)) {
                return Effect::Asks(asked);
            }
        }
        match read.map(|decided| &decided.decision) {
            Some(PathDecision::Ask { kind, reason, .. }) if self.is_shown() => {
                Effect::Named(self.path(false, kind, reason))
            }
            _ => Effect::None,
        }
    }

    /// Returns true if the denial of a path denies the command that may use it.
    fn is_denied(&self, decided: &DecidedPath, writes: bool) -> bool {
        let Some(rule) = &decided.rule else { return self.is_plausible() };
        let is_named = !is_of_all(rule);
        if !is_named && !decided.is_guarded && is_of_ordinary_kind(rule) {
            // Such a rule names no path, and nearly every word could be one.
            return if writes { self.of.is_output } else { self.looked.exists && self.is_like_path() };
        }
        if self.looked.exists {
            return true;
        }
        // A file that does not exist can be created in a directory alone that exists. A bare word is more likely something else.
        let is_path = self.of.is_output || self.of.text.contains('/') || self.of.text.starts_with(['.', '~']);
        self.is_plausible() && self.has_parent() && (is_named && is_path || writes)
            || decided.is_guarded && self.is_guarded_by_name()
    }

    /// Returns the path if it needs approval whatever is allowed to the program.
    fn asked(&self, decided: &DecidedPath, writes: bool) -> Option<AskedPath> {
        let PathDecision::Ask { kind, reason, .. } = &decided.decision else { return None };
        let by_rule = decided.rule.as_ref().filter(|rule| !is_of_all(rule));
        let is_asked = if self.looked.exists {
            decided.is_guarded || by_rule.is_some()
        } else {
            decided.is_guarded && self.is_guarded_by_name()
                || by_rule.is_some() && self.is_plausible() && self.has_parent()
        };
        let reason = match by_rule {
            Some(rule) if reason.is_empty() => format!("by the rule {rule}"),
            _ => reason.clone(),
        };
        is_asked.then(|| self.path(writes, kind, &reason))
    }

    fn path(&self, writes: bool, kind: &str, reason: &str) -> AskedPath {
        let reason = format!("{reason}; the command may read or write it");
        AskedPath { path: self.looked.path.clone(), writes, kind: kind.to_owned(), reason }
    }

    /// Returns true if a path outside of the workspace belongs into the prompt: one that exists, or is written as a path.
    fn is_shown(&self) -> bool {
        let text = &*self.of.text;
        let is_written_as_path = || {
            self.of.place <= PossiblePlace::Word
                && text.starts_with(['/', '~', '$', '.'])
                && text.len() > 1
                && !text.contains(char::is_whitespace)
        };
        self.looked.exists || !self.is_further && is_written_as_path()
    }

    /// Returns true if a path that need not exist is probably one.
    fn is_plausible(&self) -> bool {
        let text = &*self.of.text;
        let is_written_as_path = || match self.of.place {
            PossiblePlace::Value | PossiblePlace::Word => true,
            // Of the many suffixes of a word, those that are in a directory.
            PossiblePlace::Cluster => {
                text.starts_with(['.', '~', '/']) || text.contains('/') && self.has_parent()
            }
            _ => text.contains('/') || text.starts_with(['.', '~']),
        };
        self.looked.exists || !text.contains(char::is_whitespace) && is_written_as_path()
    }

    fn is_like_path(&self) -> bool {
        self.of.place <= PossiblePlace::Word
            && (!self.looked.is_dir || self.of.text.contains('/') || self.of.text.starts_with(['.', '~']))
    }

    /// Returns true if the directory that a file would be created in exists. Only the system creates files in the root directory.
    fn has_parent(&self) -> bool {
        self.looked.path.parent().is_some_and(|parent| parent.parent().is_some() && parent.is_dir())
    }

    /// Returns true if a path that does not exist is guarded by its name, and the text is not more likely something else.
    fn is_guarded_by_name(&self) -> bool {
        let text = &*self.of.text;
        let Some(name) = self.looked.path.file_name().and_then(|name| name.to_str()) else { return false };
        if self.is_further || !self.is_plausible() || text.contains(|c: char| "(){}[]*?\"'<>|".contains(c)) {
            return false;
        }
        // They are names of revisions and of methods.
        let is_of_git = ["head", "commondir", "gitdir"].contains(&&*name.to_lowercase());
        // A text with such a dot is a field, as in `.items.key`, rather than a file with such an extension.
        let is_field = !text.contains('/')
            && !self.of.is_output
            && name.strip_prefix('.').is_some_and(|rest| sensitive_path(format!("_{rest}")).is_some());
        let is_piece = self.of.place > PossiblePlace::Word;
        !is_of_git && !is_field && (!is_piece || name.to_lowercase() == name)
    }
}

/// Returns true if a rule is one for all paths of its kind.
fn is_of_all(rule: &DecidedRule) -> bool {
    !is_entry(&rule.pointer) || MATCH_ALL.iter().any(|pattern| rule.text.starts_with(pattern))
}

/// Returns true if a rule is about all paths, rather than those that are guarded or outside of the workspace.
fn is_of_ordinary_kind(rule: &DecidedRule) -> bool {
    !["sensitive", "protected", "external_directory"]
        .iter()
        .any(|kind| rule.pointer.split('/').any(|part| part == *kind))
}
