//! The command that a patch is sometimes wrapped in, as if for a shell: `cd sub && apply_patch <<'EOF'`.

use super::patch::{Action, Change};
use std::path::{Component, Path};

/// Parses a line before the patch, and returns the directory for relative paths, if the line names one.
///
/// # Errors
///
/// If it is neither such a command nor a code fence: a skipped command would seem to have run.
pub(super) fn before(line: &str) -> Result<Option<&str>, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with("```") {
        return Ok(None);
    }
    let refused = |what: &str| {
        Err(format!(
            "unexpected line before the patch{what}; remove it, and write paths relative to the workspace"
        ))
    };
    if !line.contains("<<") && !line.contains("apply_patch") {
        return refused("");
    }
    let line = inner(line).trim_start_matches(['(', '{', '$', ' ']);
    let mut parts: Vec<&str> = line.split("&&").flat_map(|part| part.split(';')).map(str::trim).collect();
    let call = parts.pop().unwrap_or_default();
    let mut directory = None;
    for part in parts {
        let named = part.strip_prefix("cd ").map(str::trim).and_then(word).filter(|word| goes_straight(word));
        if named.is_none() || directory.is_some() {
            return refused(&format!(", and `{}` is not run", toolkit::text::escape_line(part)));
        }
        directory = named;
    }
    if !is_call(call) {
        return refused(&format!(
            ", and only a plain call of `apply_patch` may, not `{}`",
            toolkit::text::escape_line(call)
        ));
    }
    Ok(directory)
}

/// The same of lines before a unified diff, which begins at the line `first`: commands among them, not messages of commits.
///
/// # Errors
///
/// As [`before`], with the number of the line counted from 0.
pub(super) fn among<'a>(lines: &[&'a str], first: usize) -> Result<Option<&'a str>, (usize, String)> {
    let is_of_mail = |line: &&&str| {
        ["From ", "From: ", "commit ", "Author: ", "Subject: ", "Date: "]
            .iter()
            .any(|begin| line.starts_with(begin))
    };
    let until = lines[..first].iter().position(|line| is_of_mail(&line)).unwrap_or(first);
    let mut directory = None;
    for (index, line) in lines[..until].iter().enumerate() {
        let plain = line.trim().trim_start_matches(['(', '{', '$', ' ']);
        let goes = ["cd ", "pushd "].iter().any(|begin| plain.starts_with(begin));
        let calls = line.contains("<<") && ["apply", "patch", "cd "].iter().any(|word| line.contains(word));
        if goes || calls {
            join(&mut directory, before(line)).map_err(|problem| (index, problem))?;
        }
    }
    Ok(directory)
}

/// Notes the directory that a line names, of which there can be one.
pub(super) fn join<'a>(
    directory: &mut Option<&'a str>,
    named: Result<Option<&'a str>, String>,
) -> Result<(), String> {
    match (named?, &directory) {
        (Some(_), Some(_)) => Err("a line before this one names another directory; name one".to_owned()),
        (Some(named), None) => {
            *directory = Some(named);
            Ok(())
        }
        (None, _) => Ok(()),
    }
}

/// Returns true if a command only passes on the text that follows, unchanged.
fn is_call(command: &str) -> bool {
    const WORDS: [&str; 22] = [
        "apply_patch",
        "applypatch",
        "apply-patch",
        "functions",
        "cat",
        "bash",
        "sh",
        "zsh",
        "dash",
        "usr",
        "bin",
        "env",
        "git",
        "apply",
        "patch",
        "command",
        "cmd",
        "input",
        "-c",
        "-lc",
        "-p1",
        "-p0",
    ];
    let mut rest = command;
    let mut plain = String::new();
    // The word that ends a here-document may be any.
    while let Some((before, after)) = rest.split_once("<<") {
        plain.push_str(before);
        plain.push(' ');
        let after = after.trim_start_matches(['-', '~', ' ', '\'', '"', '\\']);
        rest = after.trim_start_matches(|character: char| character.is_alphanumeric() || character == '_');
    }
    plain.push_str(rest);
    let is_of_word = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
    let mut words = plain.split(|character| !is_of_word(character)).filter(|word| !word.is_empty());
    words.all(|word| word == "-" || WORDS.contains(&word)) && !plain.contains(['>', '<', '&', '*', '`'])
}

/// Returns true if the path has no `..` after a name, which a symlink could redirect.
fn goes_straight(directory: &str) -> bool {
    let is_up = |component: &Component<'_>| *component == Component::ParentDir;
    !Path::new(directory).components().skip_while(is_up).any(|component| is_up(&component))
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

/// Returns a shell word without its quotes, if it is a literal.
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
    /// Resolves the paths of the patch relative to a directory.
    pub(super) fn move_into(&mut self, directory: &str) {
        let within = |path: &mut String| {
            if let Some(joined) = Path::new(directory).join(&*path).to_str() {
                joined.clone_into(path);
            }
        };
        within(&mut self.path);
        self.or_path.iter_mut().for_each(within);
        if let Action::Update { to, .. } = &mut self.action {
            to.iter_mut().for_each(within);
        }
    }
}

#[cfg(test)]
mod tests;
