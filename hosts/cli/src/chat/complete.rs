//! Completion of commands, models, tools and files, and messages of several lines.

use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Result};
use std::path::{Path, PathBuf};

/// The most entries of a directory that are looked at.
const MAX_ENTRIES: usize = 10_000;
/// The most candidates that are offered.
const MAX_CANDIDATES: usize = 200;

/// The words that can be completed.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) commands: Vec<String>,
    pub(super) models: Vec<String>,
    pub(super) tools: Vec<String>,
    pub(super) workspace: PathBuf,
}

/// The helper of the line editor.
pub(super) struct Helper(pub(super) Words);

impl Words {
    /// The candidates for the word that ends at the cursor, and where it begins.
    fn candidates(&self, line: &str) -> (usize, Vec<String>) {
        let begin = line
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + line[at..].chars().next().map_or(1, char::len_utf8));
        let word = &line[begin..];
        let of = |words: &[String]| -> Vec<String> {
            words.iter().filter(|other| other.starts_with(word)).cloned().collect()
        };
        let commands = if begin == 0 && word.starts_with('/') { of(&self.commands) } else { Vec::new() };
        if !commands.is_empty() {
            return (begin, commands);
        }
        let mut candidates = if line.starts_with("/model ") {
            return (begin, of(&self.models));
        } else if word.is_empty() {
            Vec::new()
        } else {
            of(&self.tools)
        };
        candidates.extend(files(&self.workspace, word));
        candidates.truncate(MAX_CANDIDATES);
        (begin, candidates)
    }
}

/// The paths that begin with a word, relative as it is.
fn files(workspace: &Path, word: &str) -> Vec<String> {
    let (directory, name) = word.rsplit_once('/').map_or(("", word), |(directory, name)| (directory, name));
    let shown = if word.contains('/') { format!("{directory}/") } else { String::new() };
    let Ok(entries) = std::fs::read_dir(workspace.join(if shown.is_empty() { "." } else { &shown })) else {
        return Vec::new();
    };
    let mut paths: Vec<String> = entries
        .take(MAX_ENTRIES)
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let file = entry.file_name().into_string().ok()?;
            let is_hidden = file.starts_with('.') && !name.starts_with('.');
            if !file.starts_with(name) || is_hidden || file.chars().any(char::is_control) {
                return None;
            }
            let end = if entry.path().is_dir() { "/" } else { "" };
            Some(format!("{shown}{file}{end}"))
        })
        .collect();
    paths.sort();
    paths
}

/// A message without the marks of lines that go on.
pub(super) fn joined(text: &str) -> String {
    text.replace("\\\r\n", "\n").replace("\\\n", "\n")
}

impl Completer for Helper {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> Result<(usize, Vec<Pair>)> {
        let (begin, candidates) = self.0.candidates(&line[..pos]);
        let pair = |word: String| Pair { display: word.clone(), replacement: word };
        Ok((begin, candidates.into_iter().map(pair).collect()))
    }
}

impl Validator for Helper {
    fn validate(&self, context: &mut ValidationContext<'_>) -> Result<ValidationResult> {
        let goes_on = context.input().ends_with('\\');
        Ok(if goes_on { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Hinter for Helper {
    type Hint = String;
}

impl Highlighter for Helper {}

impl rustyline::Helper for Helper {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_completed_where_they_stand() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        std::fs::create_dir(path.join("src")).unwrap();
        for file in ["src/lib.rs", "src/list.rs", "notes.txt", ".hidden"] {
            std::fs::write(path.join(file), "").unwrap();
        }
        let words = Words {
            commands: vec!["/help".into(), "/model".into()],
            models: vec!["local".into(), "large".into()],
            tools: vec!["note_add".into(), "read".into()],
            workspace: path.to_owned(),
        };
        for (line, begin, expected) in [
            ("/h", 0, &["/help"][..]),
            ("/model lo", 7, &["local"]),
            ("use no", 4, &["note_add", "notes.txt"]),
            ("see src/li", 4, &["src/lib.rs", "src/list.rs"]),
            ("see s", 4, &["src/"]),
            ("see .h", 4, &[".hidden"]),
            ("ä\u{3000}rea", 5, &["read"]),
            ("see nothing/x", 4, &[]),
        ] {
            assert_eq!(
                words.candidates(line),
                (begin, expected.iter().map(ToString::to_string).collect()),
                "{line}"
            );
        }
    }

    #[test]
    fn lines_that_go_on_are_one_message() {
        assert_eq!(joined("a\\\nb\\\r\nc\\d"), "a\nb\nc\\d");
    }
}
