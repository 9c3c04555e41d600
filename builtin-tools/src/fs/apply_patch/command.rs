//! The command that a patch is sometimes wrapped in, as if for a shell: `cd sub && apply_patch <<'EOF'`.

use super::patch::{Action, Change};
use std::path::Path;

/// What a line before the patch says: the directory that paths belong to, if it names one.
///
/// # Errors
///
/// Where it is neither such a command nor the fence of a code block: a command that is passed over would seem to have been run.
pub(super) fn before(line: &str) -> Result<Option<&str>, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with("```") {
        return Ok(None);
    }
    if !line.contains("<<") && !line.contains("apply_patch") {
        return Err("this line stands before `*** Begin Patch`; leave it out".to_owned());
    }
    let line = inner(line);
    let parts: Vec<&str> = line.split("&&").flat_map(|part| part.split(';')).map(str::trim).collect();
    let mut directory = None;
    for part in &parts[..parts.len() - 1] {
        let named = part.strip_prefix("cd ").map(str::trim).and_then(word);
        if named.is_none() || directory.is_some() {
            return Err(format!(
                "this line stands before `*** Begin Patch`, and `{}` is not run; leave it out, and write paths relative to the \
                 workspace",
                toolkit::escape_line(part)
            ));
        }
        directory = named;
    }
    Ok(directory)
}

/// The command in `bash -lc "…"` and the like.
fn inner(line: &str) -> &str {
    let is_shell = |word: &str| matches!(word.rsplit('/').next(), Some("bash" | "sh" | "zsh" | "dash"));
    let mut words = line.split_whitespace();
    let is_wrapped =
        words.next().is_some_and(is_shell) && words.next().is_some_and(|flag| flag.starts_with('-'));
    match line.find(['"', '\'']) {
        Some(quote) if is_wrapped => line[quote + 1..].trim(),
        _ => line,
    }
}

/// A word of a shell that stands for nothing but itself.
fn word(text: &str) -> Option<&str> {
    let unquoted = ['"', '\'']
        .iter()
        .find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote))
        .or_else(|| (!text.contains(char::is_whitespace)).then_some(text))?;
    let is_plain =
        !unquoted.contains(['$', '`', '"', '\'', '\\', '*', '?', '[', '{', '<', '>', '|', '&', '(', ')']);
    (is_plain && !unquoted.is_empty() && !unquoted.starts_with('-')).then_some(unquoted)
}

impl Change<'_> {
    /// Has its paths belong to a directory.
    pub(super) fn move_into(&mut self, directory: &str) {
        let within = |path: &mut String| {
            if let Some(joined) = Path::new(directory).join(&*path).to_str() {
                *path = joined.to_owned();
            }
        };
        within(&mut self.path);
        self.or_path.iter_mut().for_each(within);
        if let Action::Update { to, .. } = &mut self.action {
            to.iter_mut().for_each(within);
        }
    }
}
