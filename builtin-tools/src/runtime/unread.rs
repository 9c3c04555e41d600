//! Texts that a command runs and that its verdict has not read: what a shell reads, what cannot be parsed, what a variable makes a shell do.
//! A rule about a program may cover a call of it in such a text.

use super::command_forms::is_builtin;
use shell_verdict::{Access, Class, Decision, Part, Reason, Verdict};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Programs that run commands of the shell's language, or that take a command apart in a way of their own.
const RUN_COMMANDS: &str = "sh bash dash zsh ksh mksh ash busybox env git";
/// The end of a reason about a shell that runs a file.
const RUNS_FILE: &str = "runs a file";

/// Returns a text of the command that runs something, but was not read.
pub(super) fn unread<'v>(verdict: &'v Verdict, whole: &'v str) -> Option<&'v str> {
    if verdict.reasons.iter().any(|reason| is_doubt(reason) || is_in_doubt(reason, Class::Unknown)) {
        return Some(whole);
    }
    let written: BTreeSet<&PathBuf> = verdict
        .each_part()
        .flat_map(|part| &part.paths)
        .filter(|(_, access)| *access == Access::Write)
        .map(|(path, _)| path)
        .collect();
    verdict.each_part().find(|part| is_unread(part, &written)).map(|part| &*part.text)
}

fn is_in_doubt(reason: &Reason, class: Class) -> bool {
    reason.decision > Decision::Allow && reason.class == class
}

fn is_doubt(reason: &Reason) -> bool {
    is_in_doubt(reason, Class::Code) && !reason.is_about_variable_of_program()
}

fn is_unread(part: &Part, written: &BTreeSet<&PathBuf>) -> bool {
    let name = part.program.as_deref().or_else(|| part.words.first()?.as_deref()).unwrap_or_default();
    // A file that the command itself has written is a text of it.
    let is_own = |path: &Path| written.contains(&path.to_owned()) || !path.is_file();
    if name.contains('/')
        || part.words.first().is_some_and(|word| word.as_ref().is_some_and(|word| word.contains('/')))
    {
        let word = part.words.first().and_then(Option::as_deref).unwrap_or(name);
        if part.directory.as_ref().is_some_and(|directory| is_own(&directory.join(word))) {
            return true;
        }
    }
    // A function of which the body is not certain.
    let is_call = part.executable.is_none() && !part.parts.is_empty() && !is_builtin(name);
    if is_call && part.reasons.iter().any(|reason| is_in_doubt(reason, Class::Unknown)) {
        return true;
    }
    let runs_commands =
        part.words.is_empty() || is_builtin(name) || RUN_COMMANDS.split(' ').any(|known| known == name);
    if !runs_commands || name == "trap" && !part.parts.is_empty() {
        return false;
    }
    // The content of a script is no text of the command.
    let mut scripts = part.paths.iter().filter(|(_, access)| *access == Access::Read).map(|(path, _)| path);
    let runs_script = scripts.any(|path| !is_device(path) && !is_own(path));
    part.reasons.iter().any(|reason| is_doubt(reason) && !(runs_script && reason.text.contains(RUNS_FILE)))
}

fn is_device(path: &Path) -> bool {
    ["/dev", "/proc"].iter().any(|special| path.starts_with(special))
}
