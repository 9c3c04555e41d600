//! The decisions of written rules about paths, for a process that is held to them.

use super::{OwnDirs, PathDecision, Weighing, text};
use crate::permission::decided::PermissionRequest;
use crate::permission::glob::{Anchor, PathMatch};
use crate::permission::keys::Means;
use crate::permission::matching::matches;
use crate::permission::rules::{PATH_KINDS, Permissions};
use crate::permission::settings::{Decision, PermissionRule};
use crate::policy::folded as fold;
use crate::shown_path::shown_path;
use crate::tool::Tool;
use crate::workspace::{Boundary, Place};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolkit_core::ask::Access;
use toolkit_core::caller::Caller;

/// A name that only patterns for any name match.
const ANY_NAME: &str = "any-name-81d6f3c0";

/// The written rules about paths, and the names that need approval, for one caller and tool at one moment.
///
/// It decides about real paths, as [`Workspace::decide`](crate::files::Workspace::decide) does, with two differences: edits and paths outside the
/// workspace are asked about only if a rule says so, and the file system is not accessed. It is for a process that opens files itself, and
/// that a sandbox holds to these decisions.
#[derive(Clone)]
pub struct PathRules {
    permissions: Permissions,
    caller: Arc<Caller>,
    tool: Tool,
    boundary: Boundary,
    /// The toolkit's own directories, in comparable form.
    own: OwnDirs,
    /// The patterns of entries that ask or deny.
    patterns: Arc<[PathMatch]>,
    places: Arc<[RulePlace]>,
    /// The patterns of entries that allow.
    exceptions: Arc<[Box<str>]>,
    /// All entries, with their kinds, in order.
    written: Arc<str>,
}

/// A place outside the workspace that an entry of a rule is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct RulePlace {
    /// The file or directory up to the first wildcard of the pattern.
    pub path: PathBuf,
    /// True if the pattern has no wildcard, so that it covers all of the path.
    pub is_whole: bool,
}

impl PathRules {
    pub(crate) fn new(
        permissions: &Permissions,
        caller: &Arc<Caller>,
        tool: &Tool,
        (boundary, own): (Boundary, OwnDirs),
    ) -> Self {
        let (mut patterns, mut places, mut exceptions) = (Vec::new(), BTreeSet::new(), Vec::new());
        let mut written = String::new();
        permissions.each_rule(|rule| {
            let PermissionRule::List(entries) = rule.rule else { return };
            if !is_about_paths(rule.kind, tool) {
                return;
            }
            for entry in entries {
                let _ = write!(written, "{} {} {:?};", rule.kind, entry.pattern, entry.decision);
                if entry.decision == Decision::Allow {
                    exceptions.push(entry.pattern.as_str().into());
                    continue;
                }
                let pattern = PathMatch::new(&entry.pattern);
                let place = |anchor: Anchor| RulePlace { path: anchor.path, is_whole: anchor.is_literal };
                places.extend(pattern.anchors().map(place));
                patterns.push(pattern);
            }
        });
        Self {
            permissions: permissions.clone(),
            caller: Arc::clone(caller),
            tool: tool.clone(),
            boundary,
            own,
            patterns: patterns.into(),
            places: places.into_iter().collect(),
            exceptions: exceptions.into(),
            written: written.into(),
        }
    }

    /// Returns the decision about a real path. Blocks for no file access.
    pub fn decide(&self, real: &Path, access: Access) -> PathDecision {
        let place = self.place(real);
        let patterns = [shown_path(place.relative(real))];
        let paths = [text(&place, real)];
        let weigh = |kind: &str, default| {
            let is_by_name = matches!(kind, "sensitive" | "protected");
            let default = if is_by_name { default } else { Decision::Allow };
            let request = PermissionRequest::new(kind, &patterns).of_paths(&paths).for_tool(&self.tool);
            self.permissions.weigh(&self.caller, &request, default)
        };
        Weighing { place: &place, access, look: None, own: &self.own, weigh: &weigh }.decide().decision
    }

    /// Returns the decision about what a directory contains, apart from entries of rules about single names in it.
    pub fn decide_below(&self, directory: &Path, access: Access) -> PathDecision {
        self.decide(&directory.join(ANY_NAME), access)
    }

    /// Returns the decision about reading outside the workspace, apart from entries of rules about single places.
    pub fn decide_outside(&self) -> PathDecision {
        self.decide_below(Path::new("/"), Access::Read)
    }

    /// Returns true if an entry of a rule can ask about or deny a path with this name although it does not match its directory: a quick
    /// check before [`is_named`](Self::is_named).
    pub fn may_name(&self, name: &OsStr) -> bool {
        let name = shown_path(Path::new(name));
        self.patterns.iter().any(|pattern| pattern.may_end_with(&name))
    }

    /// Returns true if an entry of a rule that asks or denies is about a path, or about what a directory of this path contains. Without one,
    /// rules decide about it as about the workspace.
    pub fn is_named(&self, real: &Path) -> bool {
        let place = self.place(real);
        let below = real.join(ANY_NAME);
        let texts = [text(&place, real), text(&place, &below)];
        self.patterns.iter().any(|pattern| {
            texts.iter().any(|text| pattern.includes(text) || pattern.includes_in_any_way(text))
        })
    }

    /// Returns true if an entry of a rule may allow something in a directory whose other contents are asked about or denied.
    pub fn has_exceptions(&self) -> bool {
        !self.exceptions.is_empty()
    }

    /// Returns the entries of all rules about paths with their kinds and decisions, in the order in which they count, as a text to compare.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Returns the patterns of the entries that allow, or of those that ask or deny, as they are written.
    pub fn patterns(&self, allow: bool) -> impl Iterator<Item = &str> {
        let exceptions = self.exceptions.iter().filter(move |_| allow).map(|pattern| &**pattern);
        exceptions.chain(self.patterns.iter().filter(move |_| !allow).map(PathMatch::text))
    }

    /// Returns the places that entries which ask or deny name from the root of the file system or the home directory.
    pub fn places(&self) -> &[RulePlace] {
        &self.places
    }

    /// Returns the paths that entries of rules ask about or deny to write, for a search for new files: with a `/` at the beginning from the
    /// root of the file system on, otherwise in any directory. `*` stands for any text within a component, `**` for any components. Patterns
    /// with other wildcards are left out, and those of the whole workspace. [`decide`](Self::decide) decides about a file that is found.
    pub fn unwritable(&self) -> Vec<String> {
        let workspace = shown_path(&self.boundary.workspace);
        let is_unwritable = |pattern: &String| {
            let example = pattern.replace("**", ANY_NAME).replace('*', ANY_NAME);
            let example = Path::new(&*workspace).join(example);
            self.decide(&example, Access::Write) != PathDecision::Allow
        };
        self.patterns.iter().flat_map(|pattern| pattern.plain(&workspace)).filter(is_unwritable).collect()
    }

    /// Returns the paths that entries of rules ask about or deny, or those that they allow: in the syntax of [`unwritable`](Self::unwritable),
    /// and with `?` for any one character. Those of entries that ask or deny include at least the paths of the entries, those of entries
    /// that allow at most.
    pub fn named(&self, allow: bool) -> Vec<String> {
        let workspace = shown_path(&self.boundary.workspace);
        if allow {
            return self.writable();
        }
        self.patterns.iter().flat_map(|pattern| pattern.wide(&workspace)).collect()
    }

    /// Returns the paths that entries of rules allow, in the syntax of [`unwritable`](Self::unwritable).
    pub fn writable(&self) -> Vec<String> {
        let workspace = shown_path(&self.boundary.workspace);
        let exceptions = self.exceptions.iter().map(|text| PathMatch::new(text));
        exceptions.flat_map(|pattern| pattern.plain(&workspace)).collect()
    }

    /// Returns true if the other object decides the same about every path.
    pub fn is_same(&self, other: &Self) -> bool {
        let of = |rules: &Self| {
            let names = |link: &Caller| {
                [&link.agent, &link.channel, &link.conversation_id, &link.sender_id].map(Clone::clone)
            };
            rules.caller.chain().map(names).collect::<Vec<_>>()
        };
        let same_own = |one: &OwnDirs, other: &OwnDirs| one.paths() == other.paths();
        self.permissions.is_same(&other.permissions)
            && self.tool.name() == other.tool.name()
            && self.boundary == other.boundary
            && same_own(&self.own, &other.own)
            && of(self) == of(other)
    }

    fn place(&self, real: &Path) -> Place {
        let boundary = &self.boundary;
        Place {
            real: real.to_owned(),
            given: real.to_owned(),
            links: Vec::new(),
            is_link: false,
            workspace: boundary.workspace.clone(),
            further: boundary.further.clone(),
            within: boundary.within.clone(),
            obstacle: None,
        }
    }
}

impl fmt::Debug for PathRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { patterns, places, exceptions, .. } = self;
        f.debug_struct("PathRules")
            .field("patterns", &patterns.len())
            .field("places", places)
            .field("exceptions", &exceptions.len())
            .finish_non_exhaustive()
    }
}

/// Returns true if rules with this key can decide about paths that the tool uses.
fn is_about_paths(key: &str, tool: &Tool) -> bool {
    let is_kind = |kind: &&str| if key.contains('*') { matches(key, kind) } else { key == *kind };
    let mut is_about = PATH_KINDS.iter().any(is_kind);
    // A tool that only reads has questions by its name, and opens paths.
    let opens = tool.annotations().read_only_hint && tool.permission() == tool.name();
    Means::each(tool, |_, name| {
        is_about |= if key.contains('*') { matches(key, name) } else { opens && key == fold(name) };
    });
    is_about
}
