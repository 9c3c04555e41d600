//! Programs that a user calls safe, as long as they only filter their input.

use shell_verdict::{Class, Decision, Ground, Part};
use std::path::Path;

/// Returns true if `safeBins` lists the program of a simple command.
pub(super) fn is_named(part: &Part, safe: &[String]) -> bool {
    let Some(program) = &part.program else { return false };
    safe.iter().any(|name| name == program)
        && matches!(part.words.first(), Some(Some(first)) if first == program)
}

/// Returns the reason for which a simple command listed in `safeBins` still needs approval; `None` if it only filters its input, as far
/// as can be determined: nothing is known of the program, no path is known of the command, no word has a slash or names something in its
/// directory, and the program is not a file of the workspace.
pub(super) fn obstacle(part: &Part, workspace: &Path) -> Option<String> {
    let program = part.program.as_deref().unwrap_or_default();
    let of_program = |reason: &&shell_verdict::Reason| {
        reason.ground == Ground::Program
            && reason.class != Class::Unknown
            && reason.class.decision() != Decision::Allow
    };
    // Its known effect goes beyond filtering.
    if let Some(known) = part.reasons.iter().find(of_program) {
        return Some(format!(
            "a safe bin only filters its input, and {program} {} here",
            known.class.words()
        ));
    }
    if part.class > Class::Unknown {
        return Some(format!("a safe bin only filters its input, and this {}", part.class.words()));
    }
    let Some(executable) = &part.executable else {
        return Some(format!("a safe bin is a program that is installed, and {program} is not found"));
    };
    if executable.starts_with(workspace) {
        return Some("a safe bin is not a file of the workspace".to_owned());
    }
    let Some(directory) = &part.directory else {
        return Some("a safe bin names no file, and the directory that it runs in is not known".to_owned());
    };
    let named = part.words.iter().skip(1).find_map(|word| match word {
        Some(word) => names_file(word, directory).then(|| format!("`{word}` is one")),
        None => Some("one of its words is not known before it runs".to_owned()),
    });
    match named {
        Some(named) => Some(format!("a safe bin names no file, and {named}")),
        None if !part.paths.is_empty() => Some("a safe bin names no file".to_owned()),
        None => None,
    }
}

/// Returns true if a word is a path, or names something in the directory that the program runs in.
fn names_file(word: &str, directory: &Path) -> bool {
    let is_path =
        |text: &str| text.contains('/') || text == ".." || text.starts_with('~') || text.starts_with('@');
    let value = word.split_once('=').map_or(word, |(_, value)| value);
    // The text after a short option may be its value.
    let behind = word.strip_prefix('-').and_then(|rest| rest.get(1..)).unwrap_or_default();
    [word, value, behind]
        .into_iter()
        .any(|text| !text.is_empty() && (is_path(text) || directory.join(text).symlink_metadata().is_ok()))
}
