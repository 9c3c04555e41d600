//! Decisions about paths. All path checks use this module.

mod guarded;
mod written;

pub(crate) use guarded::is_suspect;
pub use guarded::{
    GuardedPaths, harmless_paths, may_be_guarded, protected_path, protected_paths, sensitive_path,
    sensitive_paths,
};

pub use written::{PathRules, RulePlace};

use super::decided::{DecidedRule, PermissionRequest, RuleDecision};
use super::glob::PathText;
use super::keys::Means;
use super::rules::Permissions;
use super::settings::Decision;
use crate::output_store::default_data_dir;
use crate::real_path::real_path;
use crate::shown_path::shown_path;
use crate::tool::Tool;
use crate::workspace::{Look, Place};
use etcetera::BaseStrategy as _;
use std::path::{Path, PathBuf};
use toolkit_core::ask::Access;
use toolkit_core::caller::Caller;
use toolkit_core::escape::escape_line;

/// The decision about the use of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathDecision {
    /// The path may be used without approval.
    Allow,
    /// A person must approve the use.
    #[non_exhaustive]
    Ask {
        /// The kind of permission to ask for.
        kind: String,
        /// The reason, as the end of a sentence about the path: `which is outside the workspace /srv/project`.
        reason: String,
    },
    /// The path must not be used.
    #[non_exhaustive]
    Deny {
        /// The reason, as a sentence without its full stop.
        reason: String,
    },
}

/// A path with the decision about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecidedPath {
    /// The resolved path. Within the workspace this is the real path; outside, where the file system is not accessed
    /// before approval, it is the absolute path without `.` and `..`.
    pub path: PathBuf,
    /// The texts that rules match and a permission prompt shows: relative to the workspace if within it, else absolute.
    /// There are two if a symbolic link leads elsewhere: the path as given, and the real path; both must be allowed.
    pub patterns: Vec<String>,
    /// The decision.
    pub decision: PathDecision,
    /// True if the path needs approval because it may hold secrets, or determines what runs or what is allowed.
    pub is_guarded: bool,
    /// The rule that asks or denies; `None` if a default does.
    pub rule: Option<DecidedRule>,
}

/// The toolkit's own directories.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnDirs {
    /// Files and directories that decide about permissions: writing needs approval.
    config: Vec<PathBuf>,
    /// Directories that record approvals: writing is denied, and reading needs approval.
    data: Vec<PathBuf>,
    /// Files and directories that a host runs or loads by itself: writing needs approval.
    programs: Vec<PathBuf>,
    /// Files that hold secrets of the configuration: reading and writing need approval.
    secrets: Vec<PathBuf>,
    /// True if no approval opens `data` for reading.
    is_sealed: bool,
    /// The number of times that the real paths were resolved; shared by clones.
    #[cfg(feature = "testing")]
    resolutions: std::sync::Arc<std::sync::atomic::AtomicUsize>,
}

/// The toolkit's own files and directories, whether or not they exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OwnPaths {
    /// Files and directories that decide about permissions.
    pub config: Vec<PathBuf>,
    /// Directories that record approvals and calls. Outputs that were truncated are in `tool-output` there.
    pub data: Vec<PathBuf>,
    /// Files and directories that a host runs or loads by itself, such as the program of an MCP server: writing needs approval; a sandboxed
    /// command cannot change them. A symlink is also listed by its target.
    pub programs: Vec<PathBuf>,
    /// Files that hold secrets of the configuration, such as that of `apiKey: { file: … }`: reading needs approval, as for
    /// [`sensitive_paths`], and so does writing; a sandboxed command can do neither.
    pub secrets: Vec<PathBuf>,
    /// The directory in `tool-output` with the outputs of the agent and sender that call, in their session: a sandboxed command can read no
    /// other one there.
    pub outputs: Option<PathBuf>,
}

impl OwnDirs {
    pub(crate) fn paths(&self) -> OwnPaths {
        OwnPaths {
            config: self.config.clone(),
            data: self.data.clone(),
            programs: with_targets(&self.programs),
            secrets: with_targets(&self.secrets),
            outputs: None,
        }
    }

    /// Adds the user's own directories, and the data directory that the host chose instead.
    pub(crate) fn complete(&mut self, data_dir: Option<PathBuf>) {
        let strategy = etcetera::base_strategy::choose_native_strategy().ok();
        self.config.extend(strategy.map(|strategy| strategy.config_dir().join("toolkit")));
        self.data.extend(data_dir.into_iter().chain(default_data_dir()));
    }

    /// Adds a path that decides about permissions.
    pub(crate) fn protect(&mut self, path: PathBuf) {
        self.config.push(path);
    }

    /// Adds files and directories that a host runs or loads by itself.
    pub(crate) fn protect_programs(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        self.programs.extend(paths);
    }

    /// Adds files that hold secrets of the configuration.
    pub(crate) fn protect_secrets(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        self.secrets.extend(paths);
    }

    /// Returns true if no approval opens the directories that record approvals.
    pub(crate) fn is_sealed(&self) -> bool {
        self.is_sealed
    }

    /// Lets no approval open the directories that record approvals.
    pub(crate) fn seal(&mut self) {
        self.is_sealed = true;
    }

    /// Adds a directory that records approvals.
    pub(crate) fn keep(&mut self, directory: PathBuf) {
        self.data.push(directory);
    }

    /// Returns the paths in the form used for comparison: each as it is named and its current real path.
    pub(crate) fn folded(&self) -> Self {
        #[cfg(feature = "testing")]
        self.resolutions.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let both = |directories: &[PathBuf]| {
            let mut folded = Vec::with_capacity(2 * directories.len());
            for (place, directory) in directories.iter().enumerate() {
                if directories[..place].contains(directory) {
                    continue;
                }
                let real = real_path(directory).ok().filter(|real| real != directory);
                folded.extend([directory].into_iter().chain(&real).map(|directory| fold(directory)));
            }
            folded
        };
        Self {
            config: both(&self.config),
            data: both(&self.data),
            programs: both(&self.programs),
            secrets: both(&self.secrets),
            is_sealed: self.is_sealed,
            #[cfg(feature = "testing")]
            resolutions: std::sync::Arc::clone(&self.resolutions),
        }
    }

    /// Returns the number of times that the real paths were resolved.
    #[cfg(feature = "testing")]
    pub(crate) fn resolutions(&self) -> usize {
        self.resolutions.load(std::sync::atomic::Ordering::Relaxed)
    }
}

impl DecidedPath {
    /// Creates an allowed path, regardless of rules.
    pub(crate) fn allowed(path: PathBuf) -> Self {
        let patterns = vec![shown_path(&path)];
        Self { patterns, path, decision: PathDecision::Allow, is_guarded: false, rule: None }
    }
}

impl Permissions {
    /// Decides about a resolved path, for an action of `tool`. The toolkit's own directories are in the form used for
    /// comparison.
    pub(crate) fn decide_path(
        &self,
        (caller, tool): (&Caller, &Tool),
        folded: &OwnDirs,
        place: &Place,
        access: Access,
        look: Look,
    ) -> DecidedPath {
        let mut patterns = vec![shown_path(place.relative(&place.given))];
        let real = shown_path(place.relative(&place.real));
        let is_elsewhere = patterns[0] != real;
        if is_elsewhere {
            patterns.push(real);
        }
        let mut paths = Vec::new();
        if !self.is_silent() {
            paths.push(text(place, &place.given));
            paths.extend(is_elsewhere.then(|| text(place, &place.real)));
        }
        let runs = self.runs_unasked(tool);
        let weigh = |kind: &str, default| {
            // `autoExecute` applies to questions that the tool asks under its own kind.
            let default = if runs && kind == tool.permission() { Decision::Allow } else { default };
            let request = PermissionRequest::new(kind, &patterns).of_paths(&paths).for_tool(tool);
            self.weigh(caller, &request, default)
        };
        let path = Weighing { place, access, look: Some(look), own: folded, weigh: &weigh };
        let Strictest { decision, is_guarded, rule } = path.decide();
        DecidedPath { path: place.real.clone(), patterns, decision, is_guarded, rule }
    }

    /// Returns true if a rule applies to paths that `tool` reads.
    pub(crate) fn says_of_reading(&self, tool: &Tool) -> bool {
        // True without need only costs time, as each path is then decided whole, and may change which of
        // several files a question names. No test can tell.
        let mut says = false;
        self.each_rule(|rule| {
            says |=
                rule.kind.contains('*') || matches!(rule.kind, "read" | "sensitive" | "external_directory");
            Means::each(tool, |_, key| says |= rule.kind == key);
        });
        says
    }
}

impl OwnDirs {
    /// Returns true if something below the directory may be in one of them; both are in the form used for comparison.
    pub(crate) fn may_hold(&self, directory: &Path) -> bool {
        // True without need only costs time, as each path is then decided whole. No test can tell.
        let directory = fold(directory);
        let mut own = self.data.iter().chain(&self.secrets);
        own.any(|own| own.starts_with(&directory) || directory.starts_with(own))
    }
}

/// A path that is being decided about.
struct Weighing<'a> {
    place: &'a Place,
    access: Access,
    /// The part of the file system that may be read; `None` for a decision by the path alone.
    look: Option<Look>,
    /// In the form used for comparison.
    own: &'a OwnDirs,
    /// Returns the rules' decision for a kind, and true if they name this exact path.
    weigh: &'a dyn Fn(&str, Decision) -> (RuleDecision, bool),
}

/// The result of one of the checks of a path.
struct Part {
    kind: &'static str,
    decided: RuleDecision,
    /// The reason for the question.
    reason: String,
    /// True if the check is about secrets, or about what determines what runs or what is allowed.
    is_guard: bool,
}

/// The strictest of the results.
struct Strictest {
    decision: PathDecision,
    is_guarded: bool,
    rule: Option<DecidedRule>,
}

impl Weighing<'_> {
    fn decide(&self) -> Strictest {
        if self.access == Access::Read { self.read() } else { self.write() }
    }

    fn read(&self) -> Strictest {
        if self.own.is_sealed && self.is_data() {
            let reason = "it is in the toolkit's data directory (tokens, approvals, data of other sessions), which no approval opens in this host";
            let decision = PathDecision::Deny { reason: reason.to_owned() };
            return Strictest { decision, is_guarded: true, rule: None };
        }
        let (read, is_named) = (self.weigh)("read", Decision::Allow);
        let is_allowed_by_name = is_named && read.decision == Decision::Allow;
        let mut parts = Vec::new();
        if let Some(what) = self.sensitive() {
            let reason = format!("which may hold {what}");
            parts.push(Part {
                kind: "sensitive",
                decided: self.guarded("sensitive", is_allowed_by_name),
                reason,
                is_guard: true,
            });
        }
        parts.extend(self.outside());
        parts.push(Part { kind: "read", decided: read, reason: String::new(), is_guard: false });
        self.strictest(&parts)
    }

    fn write(&self) -> Strictest {
        if self.is_data() {
            let reason = "it is in the toolkit's data directory (approvals, outputs of calls), where tools cannot write";
            let decision = PathDecision::Deny { reason: reason.to_owned() };
            return Strictest { decision, is_guarded: true, rule: None };
        }
        let (edit, is_named) = (self.weigh)("edit", Decision::Ask);
        let is_allowed_by_name = is_named && edit.decision == Decision::Allow;
        let mut parts = Vec::new();
        if let Some(what) = self.sensitive() {
            let reason = format!("which may hold {what}");
            let sensitive = (self.weigh)("sensitive", Decision::Allow).0;
            if sensitive.decision == Decision::Deny {
                let reason = reason.clone();
                parts.push(Part { kind: "sensitive", decided: sensitive, reason, is_guard: true });
            }
            parts.push(Part {
                kind: "protected",
                decided: self.guarded("protected", is_allowed_by_name),
                reason,
                is_guard: true,
            });
        }
        if let Some(what) = self.protected() {
            let reason = format!("which is {what}");
            parts.push(Part {
                kind: "protected",
                decided: self.guarded("protected", is_allowed_by_name),
                reason,
                is_guard: true,
            });
        }
        if let Some(mut outside) = self.outside() {
            // Its own kind must not be answered by an approval for reading. As long as edits need approval, a question
            // of that kind covers everything; if edits are allowed, this path is an exception.
            if outside.decided.decision == Decision::Ask {
                let is_protected = || self.guarded("protected", false).decision == Decision::Ask;
                outside.kind = match edit.decision {
                    Decision::Allow if is_protected() => "protected",
                    Decision::Allow => outside.kind,
                    Decision::Ask | Decision::Deny => "edit",
                };
            }
            parts.push(outside);
        }
        parts.push(Part { kind: "edit", decided: edit, reason: String::new(), is_guard: false });
        self.strictest(&parts)
    }

    /// Returns the decision for a kind of single paths; a rule of the ordinary kind that names the path counts here
    /// too.
    fn guarded(&self, kind: &str, is_allowed_by_name: bool) -> RuleDecision {
        (self.weigh)(kind, if is_allowed_by_name { Decision::Allow } else { Decision::Ask }).0
    }

    fn outside(&self) -> Option<Part> {
        if self.place.is_inside() {
            return None;
        }
        let workspace = self.place.workspace.display();
        Some(Part {
            kind: "external_directory",
            decided: (self.weigh)("external_directory", Decision::Ask).0,
            reason: format!("which is outside the workspace {workspace}"),
            is_guard: false,
        })
    }

    /// Returns the path under all its names: as given, the path of each link on the way, and the real path.
    fn names(&self) -> impl Iterator<Item = &Path> {
        let Place { given, links, real, .. } = self.place;
        // Most paths have one name.
        let given = (given != real).then_some(given);
        links.iter().chain(given).chain([real]).map(PathBuf::as_path)
    }

    /// Returns true if the path is in one of the toolkit's data directories. A workspace may be inside a data
    /// directory, as in a host that creates one for each session: its contents are not the toolkit's own.
    fn is_data(&self) -> bool {
        let workspace = fold(&self.place.workspace);
        let within = |name: &Path, directory: &PathBuf| {
            let is_workspace = workspace != *directory && workspace.starts_with(directory);
            name.starts_with(directory) && !(is_workspace && name.starts_with(&workspace))
        };
        self.names().map(fold).any(|name| self.own.data.iter().any(|directory| within(&name, directory)))
    }

    /// Returns true if the path is one of these, or in one of them.
    fn is_within(&self, paths: &[PathBuf]) -> bool {
        // Most toolkits have none of a kind.
        !paths.is_empty()
            && self.names().map(fold).any(|name| paths.iter().any(|path| name.starts_with(path)))
    }

    fn sensitive(&self) -> Option<&'static str> {
        if self.is_data() {
            return Some("stored approvals and data of other sessions");
        }
        if self.is_within(&self.own.secrets) {
            return Some("a secret of this toolkit's configuration");
        }
        self.names().find_map(guarded::sensitive)
    }

    fn protected(&self) -> Option<&'static str> {
        if self.is_within(&self.own.config) {
            return Some("configuration of this toolkit");
        }
        if self.is_within(&self.own.programs) {
            return Some("run or loaded by this toolkit itself");
        }
        let of_git = || self.is_within_git_dir().then_some("part of a version control system's own files");
        self.names().find_map(guarded::protected).or_else(of_git)
    }

    /// Returns true if a directory above that may be accessed is a repository's own directory, whatever its name: a
    /// bare repository, or a worktree's.
    fn is_within_git_dir(&self) -> bool {
        let may_look = |directory: &&Path| {
            self.look.is_some_and(|look| look == Look::Everywhere || self.place.holds(directory))
        };
        self.place.real.ancestors().take_while(may_look).any(|directory| {
            let has = |name: &str| directory.join(name).symlink_metadata().is_ok();
            has("HEAD") && (has("commondir") || has("objects") && has("refs"))
        })
    }

    /// Returns the strictest of the results; of several that ask, the first, which has the most specific reason.
    fn strictest(&self, parts: &[Part]) -> Strictest {
        let verb = if self.access == Access::Read { "reading" } else { "writing" };
        if let Some(part) = parts.iter().find(|part| part.decided.decision == Decision::Deny) {
            let by = match &part.decided.rule {
                Some(rule) => format!("permission.{}: {rule}", part.kind),
                None => format!("permission.{}", part.kind),
            };
            return Strictest {
                decision: PathDecision::Deny { reason: format!("{verb} it is denied by {by}") },
                is_guarded: part.is_guard,
                rule: part.decided.rule.clone(),
            };
        }
        let asked = || parts.iter().filter(|part| part.decided.decision == Decision::Ask);
        let Some(Part { kind, reason, .. }) = asked().next() else {
            return Strictest { decision: PathDecision::Allow, is_guarded: false, rule: None };
        };
        let mut reason = reason.clone();
        for part in asked().skip(1).filter(|part| !part.reason.is_empty()) {
            reason = format!("{reason}, {}", part.reason);
        }
        let reason = escape_line(&reason).into_owned();
        Strictest {
            decision: PathDecision::Ask { kind: (*kind).to_owned(), reason },
            is_guarded: asked().any(|part| part.is_guard),
            rule: asked().find_map(|part| part.decided.rule.clone()),
        }
    }
}

/// Returns the paths, and the real paths of those that are reached through a symlink.
fn with_targets(paths: &[PathBuf]) -> Vec<PathBuf> {
    let real = paths.iter().filter_map(|path| path.canonicalize().ok().filter(|real| real != path));
    let mut all: Vec<PathBuf> = paths.iter().cloned().chain(real).collect();
    all.sort();
    all.dedup();
    all
}

/// Returns a path in the form that rules match.
fn text(place: &Place, path: &Path) -> PathText {
    let relative = place.relative(path);
    let relative = (!relative.is_absolute()).then(|| shown_path(relative));
    PathText::new(relative, shown_path(path))
}

/// Returns a path in the form used for comparison with directories, ignoring case, because some file systems do.
fn fold(path: &Path) -> PathBuf {
    PathBuf::from(path.to_string_lossy().to_lowercase())
}

#[cfg(test)]
mod tests;
