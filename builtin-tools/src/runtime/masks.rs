//! The paths that a sandbox masks for a command: those that it must not read or write without approval.

use super::digest::short_digest;
use super::guarded_tree::guarded;
use super::system_directories::OF_SYSTEM;
use shell_verdict::attributes_may_show;
use std::collections::{BTreeSet, HashSet};
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use toolkit::approval::Access;
use toolkit::permission::{PathDecision, PathRules, sensitive_path};
use toolkit::prelude::*;

/// Directories of toolchains in the home directory, for which the same holds.
const OF_TOOLCHAINS: &[&str] = &[
    ".cargo",
    ".rustup",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".asdf",
    ".sdkman",
    ".volta",
    ".deno",
    ".bun",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/mise",
    "go",
];
/// Variables that name the directory of a toolchain.
const TOOLCHAIN_VARIABLES: &[&str] =
    &["CARGO_HOME", "RUSTUP_HOME", "NVM_DIR", "PYENV_ROOT", "GOPATH", "GOROOT", "JAVA_HOME", "VIRTUAL_ENV"];
/// Maximum number of entries that are hidden one by one because something beside them stays visible.
const MAX_BESIDE: usize = 5_000;

/// Maximum length of a list of patterns that a question shows whole, in bytes.
const MAX_SUMMARY: usize = 120;

/// The paths that a sandbox masks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Masks {
    /// Paths that must not be read.
    pub(super) hidden: BTreeSet<PathBuf>,
    /// Paths that must not be written.
    pub(super) protected: BTreeSet<PathBuf>,
    /// Paths within protected ones that a rule allows to be written.
    pub(super) writable: Vec<PathBuf>,
    /// Those of `hidden` that a rule denies to read, so that no approval of a command shows them.
    pub(super) unreadable: HashSet<PathBuf>,
    /// Those of `protected` that a rule denies to write.
    pub(super) unwritable: HashSet<PathBuf>,
    /// The reason for which no sandbox holds a command to all decisions about paths, as a sentence without its full stop.
    pub(super) incomplete: Option<String>,
    /// The same, except that a root which a rule denies to write is one of the protected paths.
    pub(super) unexpressed: Option<String>,
}

/// The decisions about paths for the commands of a caller, from which the masks are made when a sandbox needs them.
#[derive(Debug)]
pub(super) struct Masking {
    rules: Result<PathRules, ToolError>,
    masks: OnceLock<Masks>,
}

impl Masking {
    /// Creates the masking of a command of this caller. Blocks.
    pub(super) fn new(ctx: &ToolContext) -> Self {
        Self { rules: ctx.path_rules(), masks: OnceLock::new() }
    }

    /// Returns the masks below these directories, and those that rules name elsewhere. Blocks while it examines directories.
    pub(super) fn masks(&self, roots: &[PathBuf], home: Option<&Path>) -> &Masks {
        self.masks.get_or_init(|| match &self.rules {
            Ok(rules) => Masks::of(rules, roots, home),
            Err(error) => {
                let why = format!("the rules about paths cannot be read: {}", error.message());
                Masks { incomplete: Some(why.clone()), unexpressed: Some(why), ..Masks::default() }
            }
        })
    }

    /// Returns the paths of a tree that must not be read without approval; the tree itself if nothing in it may be read. Blocks while it
    /// examines directories.
    ///
    /// # Errors
    ///
    /// The reason for which there may be others, as a sentence without its full stop.
    pub(super) fn hidden_in(&self, tree: &Path) -> Result<Vec<PathBuf>, String> {
        let rules = self.rules.as_ref().map_err(|error| error.message().to_owned())?;
        let guarded = guarded(tree, rules);
        guarded.is_known.clone()?;
        if guarded.is_hidden { Ok(vec![tree.to_owned()]) } else { Ok(guarded.hidden.clone()) }
    }

    /// Returns a file in a tree with attributes for which git may show the lines of a file that needs approval. Blocks while it examines
    /// directories.
    pub(super) fn shown_by_attributes(&self, tree: &Path) -> Option<PathBuf> {
        let rules = self.rules.as_ref().ok()?;
        let is_asked = |path: &Path| rules.decide(path, Access::Read) != PathDecision::Allow;
        let guarded = guarded(tree, rules);
        guarded.attributes.iter().find(|file| attributes_may_show(file, &is_asked)).cloned()
    }

    /// Returns true if a file in a tree is another name of one that a rule denies to read. Blocks while it examines directories.
    pub(super) fn denies_other_name(&self, tree: &Path, file: &Path) -> bool {
        self.rules.as_ref().is_ok_and(|rules| guarded(tree, rules).unreadable.contains(file))
    }

    /// Returns true if a rule allows a path to be read whose name needs approval.
    pub(super) fn shows(&self, path: &Path) -> bool {
        let decide = |rules: &PathRules| rules.decide(path, Access::Read) == PathDecision::Allow;
        sensitive_path(path).is_some() && self.rules.as_ref().is_ok_and(decide)
    }

    /// Returns the paths that rules ask about or deny to write, whether they exist or not, and those that rules allow.
    pub(super) fn unwritable(&self) -> (Vec<String>, Vec<String>) {
        self.rules.as_ref().map(|rules| (rules.unwritable(), rules.writable())).unwrap_or_default()
    }

    /// Returns the paths that entries of rules allow, or those that they ask about or deny: absolute ones, and names anywhere.
    pub(super) fn named(&self, allow: bool) -> Vec<String> {
        self.rules.as_ref().map(|rules| rules.named(allow)).unwrap_or_default()
    }

    /// Describes the rules about paths, so that other rules have another description.
    pub(super) fn summary(&self, workspace: &Path) -> Option<String> {
        let rules = self.rules.as_ref().ok()?;
        let any = "any-name-5d0b";
        let probes = [
            ("read", workspace.join(any), Access::Read),
            ("edit", workspace.join(any), Access::Write),
            ("outside", Path::new("/").join(any), Access::Read),
            ("sensitive", workspace.join(".env"), Access::Read),
            ("protected", workspace.join(".git/hooks").join(any), Access::Write),
        ];
        let word = |decision| match decision {
            PathDecision::Allow => "allow",
            PathDecision::Ask { .. } => "ask",
            _ => "deny",
        };
        let kinds =
            probes.map(|(kind, path, access)| format!("{kind} {}", word(rules.decide(&path, access))));
        let list = |allow: bool| {
            let list: Vec<&str> = rules.patterns(allow).collect();
            let list = list.join(", ");
            if list.len() <= MAX_SUMMARY {
                list
            } else {
                format!("a list with the SHA-256 {}…", short_digest(list.as_bytes()))
            }
        };
        let kinds = kinds.join(", ");
        let is_default = kinds == "read allow, edit allow, outside allow, sensitive ask, protected ask";
        if is_default
            && [true, false].into_iter().all(|allow| rules.patterns(allow).next().is_none())
            && rules.written().is_empty()
        {
            return Some("no rule is about paths".to_owned());
        }
        let mut text = format!("paths are held to: {kinds}");
        for (label, allow) in [("; asked about or denied: ", false), ("; allowed: ", true)] {
            let list = list(allow);
            if !list.is_empty() {
                text.push_str(label);
                text.push_str(&list);
            }
        }
        let _ = write!(text, " (all rules: SHA-256 {}…)", short_digest(rules.written().as_bytes()));
        Some(text)
    }

    /// Returns the decision for which a path is masked, as the end of a sentence.
    pub(super) fn why(&self, path: &Path, access: Access) -> Option<String> {
        let rules = self.rules.as_ref().ok()?;
        let is_open = |decision: &PathDecision| *decision == PathDecision::Allow;
        let decided = Some(rules.decide(path, access)).filter(|decision| !is_open(decision));
        match decided.unwrap_or_else(|| rules.decide_below(path, access)) {
            PathDecision::Ask { kind, .. } => Some(format!("permission.{kind}")),
            PathDecision::Deny { reason, .. } => Some(reason),
            _ => None,
        }
    }
}

impl Masks {
    fn of(rules: &PathRules, roots: &[PathBuf], home: Option<&Path>) -> Self {
        let mut masks = Self::default();
        for root in roots.iter().filter(|root| root.parent().is_some()) {
            let guarded = guarded(root, rules);
            masks.hidden.extend(guarded.hidden.iter().cloned());
            masks.protected.extend(guarded.protected.iter().cloned());
            masks.writable.extend(guarded.writable.iter().cloned());
            masks.unreadable.extend(guarded.unreadable.iter().cloned());
            masks.unwritable.extend(guarded.unwritable.iter().cloned());
            if let Err(why) = &guarded.complete {
                masks.incomplete.get_or_insert_with(|| why.clone());
            }
            if let Err(why) = &guarded.expressed {
                masks.unexpressed.get_or_insert_with(|| why.clone());
            }
        }
        if let Some(why) = why(&rules.decide_outside()) {
            masks.lack(Err(format!("a command cannot read outside the workspace without approval: {why}")));
        }
        let visible = visible(roots, home);
        for place in rules.places() {
            masks.add_place(rules, &place.path, place.is_whole, roots, &visible);
        }
        masks
    }

    fn lack(&mut self, complete: Result<(), String>) {
        if let Err(why) = complete {
            self.unexpressed.get_or_insert_with(|| why.clone());
            self.incomplete.get_or_insert(why);
        }
    }

    /// Hides what rules ask about or deny at a place outside the roots.
    fn add_place(
        &mut self,
        rules: &PathRules,
        place: &Path,
        is_whole: bool,
        roots: &[PathBuf],
        visible: &[PathBuf],
    ) {
        let Ok(place) = place.canonicalize() else { return };
        if roots.iter().any(|root| place.starts_with(root)) {
            return;
        }
        if place.parent().is_none() {
            let why = "a rule with a wildcard at the root of the file system may be about any path";
            return self.lack(Err(why.to_owned()));
        }
        let strictest = [rules.decide(&place, Access::Read), rules.decide_below(&place, Access::Read)];
        let is_open = strictest.iter().all(|decision| *decision == PathDecision::Allow);
        if is_open && is_whole {
            return;
        }
        let is_denied = strictest.iter().any(|decision| matches!(decision, PathDecision::Deny { .. }));
        if is_whole && !rules.has_exceptions() || !place.is_dir() {
            if !is_open {
                self.hide_beside(&place, is_denied, visible);
            }
            return;
        }
        let guarded = guarded(&place, rules);
        if guarded.is_hidden {
            self.hide_beside(&place, is_denied, visible);
        } else {
            let is_kept = |path: &&PathBuf| !visible.iter().any(|visible| visible.starts_with(path));
            self.hidden.extend(guarded.hidden.iter().filter(is_kept).cloned());
            self.unreadable.extend(guarded.unreadable.iter().filter(is_kept).cloned());
        }
        self.lack(guarded.is_known.clone());
    }

    /// Hides a path; if something in it stays visible, everything beside that.
    fn hide_beside(&mut self, path: &Path, is_denied: bool, visible: &[PathBuf]) {
        if visible.iter().any(|visible| visible == path) {
            return;
        }
        if !visible.iter().any(|visible| visible.starts_with(path)) {
            self.hidden.insert(path.to_owned());
            if is_denied {
                self.unreadable.insert(path.to_owned());
            }
            return;
        }
        for (count, entry) in fs::read_dir(path).into_iter().flatten().filter_map(Result::ok).enumerate() {
            if count >= MAX_BESIDE {
                let why = format!("{} has too many entries to hide them one by one", path.display());
                return self.lack(Err(why));
            }
            if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                self.hide_beside(&entry.path(), is_denied, visible);
            }
        }
    }
}

fn why(decision: &PathDecision) -> Option<String> {
    match decision {
        PathDecision::Allow => None,
        PathDecision::Deny { reason, .. } => Some(reason.clone()),
        PathDecision::Ask { kind, .. } => Some(format!("a rule of permission.{kind} asks for it")),
        _ => Some(String::new()),
    }
}

/// Returns the directories that stay visible whatever rules say about directories above them.
fn visible(roots: &[PathBuf], home: Option<&Path>) -> Vec<PathBuf> {
    let of_home = home.into_iter().flat_map(|home| OF_TOOLCHAINS.iter().map(|name| home.join(name)));
    let named = TOOLCHAIN_VARIABLES.iter().filter_map(env::var_os).map(PathBuf::from);
    let of_path = env::var_os("PATH").map(|path| env::split_paths(&path).collect::<Vec<_>>());
    let all = OF_SYSTEM.iter().map(PathBuf::from).chain(of_home).chain(named);
    let all = all.chain(of_path.into_iter().flatten()).filter(|path| path.is_absolute());
    all.filter_map(|path| path.canonicalize().ok()).chain(roots.iter().cloned()).collect()
}
