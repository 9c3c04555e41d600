//! Judges a command: by its verdict, the rules, the decisions about paths, and the sandbox that could contain it.

use super::containing::{contains, masks, roots};
use super::judged::{AskedPath, Command, Judged, KIND, for_each, is_entry, words};
use super::masks::Masking;
use super::reading::Obstacle;
use super::{guards, reading, safe_bins, searched};
use crate::config::{ExecAsk, ExecSandbox, ExecSecurity, ExecSettings};
use shell_verdict::{
    Access, Class, Decision, Ground, Part, Programs, Reason, Search, Searched, Situation, judge,
};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use toolkit::{
    ToolContext, ToolError,
    files::Workspace,
    permission::{DecidedPath, PathDecision, PermissionRequest},
};

/// The kind of permission to change a file.
const EDIT: &str = "edit";
/// The kind of permission to read outside the workspace.
const OUTSIDE: &str = "external_directory";
/// Maximum number of files opened by a search that are passed to the judgement of later commands.
const MAX_FOUND: usize = 4_000;
/// Maximum number of `PATH` values for which the programs are cached.
const MAX_PATHS: usize = 16;

impl Command {
    /// Judges the command. `asks_more` is true if something else than the command itself needs approval, `leaves` if the command is to
    /// leave its sandbox. Blocks.
    pub(super) fn judge(
        &self,
        ctx: &ToolContext,
        files: &Workspace,
        settings: &ExecSettings,
        asks_more: bool,
        leaves: bool,
    ) -> Judged {
        let masking = Arc::new(Masking::new(ctx));
        let contained = reading::is_available(settings) && !leaves;
        // The content of a tracked file is in the repository, where nothing hides it from a program that git starts.
        let trusts_containment =
            contained && !(self.text.contains("git") && guards::tracks_secret(&self.workspace, &masking));
        let asked = RefCell::new(BTreeSet::new());
        // With a restricted boundary, paths outside of it stay outside.
        let home = self.variables.get("HOME").map(PathBuf::from);
        let own_repository = match &self.within {
            None => guards::repository_of_workspace(&self.workspace, home.as_deref()),
            Some(_) => Vec::new(),
        };
        let decided = RefCell::new(HashMap::new());
        let decide = |path: &Path, access: Access| {
            let key = (path.to_owned(), access);
            if let Some(known) = decided.borrow().get(&key) {
                return *known;
            }
            let decision = match access {
                Access::Repository if own_repository.iter().any(|own| is_of_repository(own, path)) => {
                    Decision::Allow
                }
                access if contained && self.is_public(files, path, access) => Decision::Allow,
                access => decide(files, path, access, &asked),
            };
            decided.borrow_mut().insert(key, decision);
            decision
        };
        let search = |path: &Path, search: &Search| {
            if contained && self.is_public(files, path, Access::Search) {
                return Searched { decision: Decision::Allow, files: None };
            }
            let mut found = Some(Vec::new());
            let seen = searched::files(path, search).inspect(|file| match (file, &mut found) {
                (Some(file), Some(files)) if files.len() < MAX_FOUND => files.push(file.clone()),
                _ => found = None,
            });
            let decision = decision_of(files.decide_found(path, seen), path, false, &asked);
            // The search stops at the first file that needs approval.
            Searched { decision, files: found.filter(|_| decision == Decision::Allow) }
        };
        let programs = programs(self.variables.get("PATH").map_or("", String::as_str));
        let situation = Situation {
            cwd: &self.cwd,
            workspace: &self.workspace,
            env: &self.variables,
            programs: &programs,
            shell: self.kind,
            decide: &decide,
            search: Some(&search),
            contained: trusts_containment,
        };
        let verdict = judge(&self.text, &situation);
        let is_proved = verdict.decision == Decision::Allow;
        let mut judged = Judged {
            is_proved,
            paths: BTreeSet::new(),
            named: BTreeSet::new(),
            possible: BTreeSet::new(),
            denied_by: None,
            asked_by: BTreeSet::new(),
            relies_on_sandbox: false,
            masking,
            verdict,
        };
        judged.paths = asked.into_inner();
        judged.hear_rules(ctx, &self.text);
        judged.lift(ctx, self, settings);
        judged.count_possible_paths(self, files);
        if contained && is_proved {
            judged.require_known_trees(self, settings);
        }
        if !asks_more {
            judged.contain(ctx, self, settings);
            if !is_proved && !judged.relies_on_sandbox {
                judged.require_masks(self, settings);
            }
        }
        judged
    }

    /// Returns true if a contained command may read a path outside the workspace without approval: it is public, and no rule is about it.
    fn is_public(&self, files: &Workspace, path: &Path, access: Access) -> bool {
        if access == Access::Write || !reading::is_public(path, &self.variables) {
            return false;
        }
        let decided = files.decide(path, toolkit::approval::Access::Read);
        decided.is_ok_and(|decided| match &decided.decision {
            PathDecision::Allow => true,
            PathDecision::Ask { kind, .. } => kind == OUTSIDE && decided.rule.is_none(),
            _ => false,
        })
    }
}

impl Judged {
    /// Removes the need for approvals that were given already.
    fn lift(&mut self, ctx: &ToolContext, command: &Command, settings: &ExecSettings) {
        if settings.security == ExecSecurity::Deny {
            return;
        }
        let allows = |part: &Part| {
            // Only the whole command identifies the action of a shell or an interpreter.
            let is_identified = part.says.is_some();
            if !is_identified && !part.is_bare_program() {
                return false;
            }
            // A rule refers to the program installed under that name, or to exactly the file that it names.
            let is_meant = part.executable.is_some()
                || part
                    .words
                    .first()
                    .is_some_and(|word| word.as_ref().is_some_and(|word| word.contains('/')));
            let Some(words) = words(part).filter(|_| is_meant) else { return false };
            let said = ctx.decide(&PermissionRequest::new(KIND, &[words]));
            let is_entry = said.rule.is_some_and(|rule| is_entry(&rule.pointer));
            said.decision == toolkit::permission::Decision::Allow && is_entry
                || is_identified
                    && safe_bins::is_named(part, &settings.safe_bins)
                    && safe_bins::obstacle(part, &command.workspace).is_none()
        };
        let paths = &self.paths;
        for part in &mut self.verdict.parts {
            for_each(part, &mut |part| {
                let is_listed = part.words.iter().all(Option::is_some)
                    && settings
                        .dangerous_command_whitelist
                        .iter()
                        .any(|pattern| matches(pattern, &part.text));
                if is_listed && part.reasons.iter().any(|reason| reason.class == Class::Dangerous) {
                    let edits = is_only_edit(part, paths);
                    for reason in &mut part.reasons {
                        let is_meant = match reason.ground {
                            Ground::Program => true,
                            Ground::Path => edits,
                            _ => reason.class == Class::Dangerous,
                        };
                        if is_meant && reason.decision == Decision::Ask {
                            reason.decision = Decision::Allow;
                        }
                    }
                }
            });
        }
        // If git runs, a written file may be part of its configuration.
        if self.verdict.each_part().all(|part| part.program.as_deref() != Some("git")) {
            for part in &mut self.verdict.parts {
                for_each(part, &mut |part| {
                    if writes_what_it_may(part, paths) {
                        let of_paths = part.reasons.iter_mut().filter(|reason| {
                            reason.ground == Ground::Path && reason.decision == Decision::Ask
                        });
                        of_paths.for_each(|reason| reason.decision = Decision::Allow);
                    }
                });
            }
        }
        self.verdict.lift(&mut |part| allows(part));
    }

    /// Requires approval for a command that reads whole trees if the hidden paths in one of them are not known, and for one that names
    /// a hidden file by another name of it.
    fn require_known_trees(&mut self, command: &Command, settings: &ExecSettings) {
        match reading::check(command, self, &roots(settings, command)) {
            Ok(()) => {}
            Err(Obstacle::Ask(why)) => drop(self.asked_by.insert(why)),
            Err(Obstacle::Deny(why)) => self.denied_by = Some(why),
        }
    }

    /// Requires approval for a command that a rule or an earlier answer allowed if no sandbox can hold it to the rules about paths.
    fn require_masks(&mut self, command: &Command, settings: &ExecSettings) {
        let is_sandboxed = settings.enable_sandbox && settings.sandbox != ExecSandbox::Off;
        if self.decision() == Decision::Allow
            && is_sandboxed
            && let Some(why) = masks(&self.masking, settings, command).unexpressed.clone()
        {
            self.asked_by.insert(why);
        }
    }

    /// Removes the need for approvals that a working sandbox makes unnecessary: changes of files in the workspace, and commands that can
    /// have no other effect. All approvals or none: a command that needs approval is shown in full, and an approved command is not
    /// restricted.
    fn contain(&mut self, ctx: &ToolContext, command: &Command, settings: &ExecSettings) {
        let is_wanted = self.verdict.decision == Decision::Ask
            && self.asked_by.is_empty()
            && settings.security == ExecSecurity::Auto
            && settings.asked() != ExecAsk::Always;
        if !is_wanted || !contains(settings, command) {
            return;
        }
        if let Some(why) = self.possible_rule(ctx, command) {
            self.asked_by.insert(why);
            return;
        }
        let before = self.verdict.clone();
        let is_contained = |reason: &Reason, edits: bool| match reason.ground {
            Ground::Path => edits,
            _ => {
                matches!(reason.class, Class::Unknown | Class::Write | Class::Code)
                    || reason.class == Class::Dangerous && !settings.confirm_dangerous_commands
            }
        };
        let paths = &self.paths;
        let mut relies = false;
        let mut lift = |reason: &mut Reason, edits: bool| {
            if reason.decision == Decision::Ask && is_contained(reason, edits) {
                reason.decision = Decision::Allow;
                relies = true;
            }
        };
        for reason in &mut self.verdict.reasons {
            lift(reason, false);
        }
        for part in &mut self.verdict.parts {
            for_each(part, &mut |part| {
                let edits = is_only_edit(part, paths);
                part.reasons.iter_mut().for_each(|reason| lift(reason, edits));
            });
        }
        self.verdict.lift(&mut |_| false);
        if self.verdict.decision != Decision::Allow {
            self.verdict = before;
        } else if let Some(why) = self.obstacle_of_masks(command, settings) {
            self.verdict = before;
            self.asked_by.insert(why);
        } else {
            self.relies_on_sandbox = relies;
        }
    }
}

impl Judged {
    /// Returns the reason for which the masks of a sandbox do not keep a command from what needs approval.
    fn obstacle_of_masks(&self, command: &Command, settings: &ExecSettings) -> Option<String> {
        let incomplete = masks(&self.masking, settings, command).incomplete.clone();
        incomplete.or_else(|| {
            // Otherwise the objects of the repository are hidden.
            let runs_git = self.verdict.each_part().any(|part| part.program.as_deref() == Some("git"));
            let is_tracked = runs_git && guards::tracks_secret(&command.workspace, &self.masking);
            is_tracked.then(|| {
                "the repository tracks a file that is hidden from commands without approval".to_owned()
            })
        })
    }
}

/// Returns true if the paths of a part need approval for nothing but ordinary edits.
fn is_only_edit(part: &Part, asked: &BTreeSet<AskedPath>) -> bool {
    let is_of = |asked: &&AskedPath| part.paths.iter().any(|(path, _)| *path == asked.path);
    asked.iter().filter(is_of).all(|asked| asked.kind == EDIT && asked.reason.is_empty())
}

/// Returns true if all paths of a part may be used by it without approval. A directory does not count, since rules may cover the paths
/// below it.
fn writes_what_it_may(part: &Part, asked: &BTreeSet<AskedPath>) -> bool {
    part.paths.iter().all(|(path, access)| {
        let is_plain = match access {
            Access::Write | Access::ReadTree { .. } | Access::Search => !path.is_dir(),
            _ => true,
        };
        is_plain && asked.iter().all(|asked| asked.path != *path)
    })
}

/// Returns true if a pattern, in which `*` stands for any text, matches a whole text. `*` never matches control characters.
fn matches(pattern: &str, text: &str) -> bool {
    if text.chars().any(char::is_control) {
        return pattern == text;
    }
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Returns true if a directory holds the data of a repository, or of one of its submodules.
fn is_of_repository(own: &Path, path: &Path) -> bool {
    path == own || path.starts_with(own.join("modules"))
}

/// Returns true for a file among the objects of a repository.
fn is_object(path: &Path) -> bool {
    let mut names = path.iter().skip_while(|name| !name.as_encoded_bytes().ends_with(b".git"));
    names.any(|name| name == "objects") && names.next().is_some()
}

/// The decision of the file tools about a path.
fn decide(files: &Workspace, path: &Path, access: Access, asked: &RefCell<BTreeSet<AskedPath>>) -> Decision {
    let writes = access == Access::Write;
    if access == Access::Read && is_object(path) {
        let reason = "it holds the content of files of earlier commits".to_owned();
        asked.borrow_mut().insert(AskedPath { path: path.to_owned(), writes, kind: KIND.to_owned(), reason });
        return Decision::Ask;
    }
    let decided = match access {
        Access::Read | Access::ReadNames | Access::Repository => {
            files.decide(path, toolkit::approval::Access::Read)
        }
        Access::ReadTree { follows_links } => files.decide_tree(path, follows_links),
        // A search lists the files that it opens; otherwise it may open all.
        Access::Search => files.decide_tree(path, true),
        Access::Write => files.decide(path, toolkit::approval::Access::Write),
    };
    decision_of(decided, path, writes, asked)
}

/// Returns the decision on a path, and records the path if it needs approval.
fn decision_of(
    decided: Result<DecidedPath, ToolError>,
    path: &Path,
    writes: bool,
    asked: &RefCell<BTreeSet<AskedPath>>,
) -> Decision {
    let ask = |kind: String, reason: String| {
        asked.borrow_mut().insert(AskedPath { path: path.to_owned(), writes, kind, reason });
        Decision::Ask
    };
    match decided.map(|decided| decided.decision) {
        Ok(PathDecision::Allow) => Decision::Allow,
        Ok(PathDecision::Ask { kind, reason, .. }) => ask(kind, reason),
        Ok(PathDecision::Deny { .. }) => Decision::Deny,
        Ok(_) => ask(KIND.to_owned(), String::new()),
        Err(error) => ask(KIND.to_owned(), error.message().to_owned()),
    }
}

/// The programs of a `PATH`, remembered for the next command.
fn programs(path: &str) -> Arc<Programs> {
    static KNOWN: LazyLock<Mutex<HashMap<String, Arc<Programs>>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(programs) = known.get(path) {
        return Arc::clone(programs);
    }
    if known.len() >= MAX_PATHS {
        known.clear();
    }
    let programs = Arc::new(Programs::of_path(path));
    known.insert(path.to_owned(), Arc::clone(&programs));
    programs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_describes_a_whole_command() {
        for (pattern, text, expected) in [
            ("rm -rf build", "rm -rf build", true),
            ("rm -rf build", "rm -rf build2", false),
            ("rm -rf build/*", "rm -rf build/x", true),
            ("*", "anything", true),
            ("rm *", "rm a\nb", false),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxc", false),
            ("a*a", "a", false),
            ("", "", true),
            ("", "x", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
