//! The attributes that keep git from showing the lines of files which need approval to be read.
//!
//! The verdict knows the files that the index names. Earlier commits can hold others, such as a `.env` that was removed. Git treats a file
//! with the attribute `-diff` as binary: it says that the file differs, and shows none of its lines. See `gitattributes(5)`.

use super::guards::repository;
use super::judged::{Command, Judged};
use super::masks::Masking;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use toolkit::permission::{harmless_paths, sensitive_paths};

/// Name of the file in the directory for the temporary files of a command.
const FILE: &str = "git-attributes";
/// Variable with the number of settings that git takes from its environment.
const COUNT: &str = "GIT_CONFIG_COUNT";
/// Maximum size of a file with attributes or settings of the user, in bytes.
const LARGEST: u64 = 1 << 20;

/// Writes the attributes to a file in `directory`, and adds it to the settings that a command passes to git in `variables`. Returns false
/// if the file cannot be written.
pub(super) fn give(
    command: &Command,
    judged: &Judged,
    directory: &Path,
    variables: &mut BTreeMap<String, String>,
) -> bool {
    let Some(count) = judged.git_settings() else { return true };
    let file = directory.join(FILE);
    let text = text(command, &judged.masking);
    if fs::write(&file, text).is_err() {
        return false;
    }
    variables.insert(format!("GIT_CONFIG_KEY_{count}"), "core.attributesFile".to_owned());
    variables.insert(format!("GIT_CONFIG_VALUE_{count}"), file.to_string_lossy().into_owned());
    variables.insert(COUNT.to_owned(), (count + 1).to_string());
    true
}

impl Judged {
    /// Returns the number of settings that git gets in its environment. `None` if git is not among the programs.
    pub(super) fn git_settings(&self) -> Option<usize> {
        let count = self.verdict.env.iter().find(|(name, _)| name == COUNT);
        count.and_then(|(_, count)| count.parse().ok())
    }
}

/// Returns the attributes: those of the user, and after them, which counts more, those of files that need approval.
fn text(command: &Command, masking: &Masking) -> String {
    let mut text = user_file(command).and_then(|file| read(&file)).unwrap_or_default();
    text.push('\n');
    let all = || sensitive_paths().iter();
    let is_exempt = |patterns: &[&str]| patterns.contains(&".env");
    for pattern in all().flat_map(|guarded| guarded.patterns) {
        add_name(&mut text, pattern, "-diff");
    }
    for pattern in harmless_paths() {
        add_name(&mut text, pattern, "!diff");
    }
    for pattern in all().filter(|guarded| !is_exempt(guarded.patterns)).flat_map(|guarded| guarded.patterns) {
        add_name(&mut text, pattern, "-diff");
    }
    let top = repository(&command.workspace).map_or_else(|| command.workspace.clone(), |found| found.top);
    let prefix = command.workspace.strip_prefix(&top).map(Path::to_owned).unwrap_or_default();
    for (allows, attribute) in [(true, "!diff"), (false, "-diff")] {
        for pattern in masking.patterns(allows) {
            add_rule(&mut text, &pattern, (&command.workspace, &prefix), attribute);
        }
    }
    text
}

/// Adds an attribute for a pattern of guarded names, which ignore case.
fn add_name(text: &mut String, pattern: &str, attribute: &str) {
    // Elsewhere than in a repository.
    if pattern.starts_with('/') {
        return;
    }
    let in_any_case: String =
        pattern
            .chars()
            .map(|c| {
                if c.is_ascii_alphabetic() {
                    format!("[{c}{}]", c.to_ascii_uppercase())
                } else {
                    c.to_string()
                }
            })
            .collect();
    let inner = in_any_case.trim_end_matches('/');
    let anywhere = if inner.contains('/') || in_any_case.ends_with('/') { "**/" } else { "" };
    let contents = if in_any_case.ends_with('/') { "/**" } else { "" };
    add(text, &format!("{anywhere}{inner}{contents}"), attribute);
}

/// Adds an attribute for a pattern of a rule, as far as git can express it.
fn add_rule(text: &mut String, pattern: &str, (workspace, prefix): (&Path, &Path), attribute: &str) {
    let workspace = format!("{}/", workspace.display());
    let inner = pattern.strip_prefix(&workspace).or_else(|| pattern.strip_prefix("./")).unwrap_or(pattern);
    let inner = inner.trim_matches('/');
    if inner.is_empty() || inner.starts_with(['~', '!']) {
        return;
    }
    let below = prefix.join(inner).to_string_lossy().into_owned();
    for pattern in [inner.to_owned(), below.clone(), format!("{below}/**")] {
        add(text, &pattern, attribute);
    }
}

fn add(text: &mut String, pattern: &str, attribute: &str) {
    let quoted = pattern.replace('\\', "\\\\").replace('"', "\\\"");
    if !quoted.contains(char::is_control) {
        let _ = writeln!(text, "\"{quoted}\" {attribute}");
    }
}

/// Returns the file with the user's own attributes, which the one with these takes the place of.
fn user_file(command: &Command) -> Option<PathBuf> {
    let variable =
        |name: &str| command.variables.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = variable("HOME");
    let settings = variable("XDG_CONFIG_HOME").or_else(|| home.as_ref().map(|home| home.join(".config")));
    let own = repository(&command.cwd).into_iter().flat_map(|found| found.own);
    let files = [PathBuf::from("/etc/gitconfig")]
        .into_iter()
        .chain(settings.iter().map(|settings| settings.join("git/config")))
        .chain(home.iter().map(|home| home.join(".gitconfig")))
        .chain(own.map(|own| own.join("config")));
    let mut found = settings.clone().map(|settings| settings.join("git/attributes"));
    for file in files {
        let text = read(&file).unwrap_or_default();
        for line in text.lines().filter_map(|line| line.split_once('=')) {
            if line.0.trim().eq_ignore_ascii_case("attributesfile") {
                let value = line.1.trim().trim_matches('"');
                found = Some(match (value.strip_prefix("~/"), &home) {
                    (Some(rest), Some(home)) => home.join(rest),
                    _ => PathBuf::from(value),
                });
            }
        }
    }
    found
}

fn read(file: &Path) -> Option<String> {
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        return None;
    }
    fs::read_to_string(file).ok()
}
