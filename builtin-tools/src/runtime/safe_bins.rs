//! Programs that a user calls safe, as long as they only filter their input.

use shell_verdict::Part;
use std::path::Path;

/// Whether a simple command is one of these programs, and nothing in it can name a file: no path is known of it, no word has a
/// slash or is the name of something in its directory, and the program is no file of the workspace.
pub(super) fn only_filters(part: &Part, safe: &[String], cwd: &Path, workspace: &Path) -> bool {
    let (Some(program), Some(executable)) = (&part.program, &part.executable) else { return false };
    let Some(Some(first)) = part.words.first() else { return false };
    let is_named = safe.iter().any(|name| name == program) && first == program;
    let names_nothing = |word: &Option<String>| {
        let Some(word) = word else { return false };
        let is_path =
            |text: &str| text.contains('/') || text == ".." || text.starts_with('~') || text.starts_with('@');
        let value = word.split_once('=').map_or(word.as_str(), |(_, value)| value);
        // What follows a short option may be its value.
        let behind = word.strip_prefix('-').and_then(|rest| rest.get(1..)).unwrap_or_default();
        ![word.as_str(), value, behind]
            .into_iter()
            .any(|text| !text.is_empty() && (is_path(text) || cwd.join(text).symlink_metadata().is_ok()))
    };
    is_named
        && part.paths.is_empty()
        && !executable.starts_with(workspace)
        && part.words.iter().skip(1).all(names_nothing)
}
