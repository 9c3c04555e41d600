//! The attributes that keep git from showing the lines of files which need approval to be read.
//!
//! The verdict knows the files that the index names. Earlier commits can hold others, such as a `.env` that was removed. Git treats a file
//! with the attribute `-diff` as binary: it says that the file differs, and shows none of its lines. See `gitattributes(5)`.

use super::guards::repository;
use super::judged::{Command, Judged};
use super::masks::Masking;
use super::reading::directory_of_git;
use std::collections::{BTreeMap, BTreeSet};
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
    let text = text(command, &judged.masking, &tops(command, judged));
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

/// Returns the roots of the work trees of the repositories in which the command runs git.
fn tops(command: &Command, judged: &Judged) -> BTreeSet<PathBuf> {
    let directories = judged.verdict.each_part().filter_map(directory_of_git);
    let directories = directories.chain([command.cwd.clone(), command.workspace.clone()]);
    let all = directories.filter_map(|directory| repository(&directory.canonicalize().ok()?));
    all.filter_map(|found| found.top.canonicalize().ok()).collect()
}

/// Returns the attributes: those of the user, and after them, which counts more, those of files that need approval.
fn text(command: &Command, masking: &Masking, tops: &BTreeSet<PathBuf>) -> String {
    let of_user = user_file(command).and_then(|file| read(&file)).unwrap_or_default();
    let mut text = String::new();
    // A macro of the user could be given to a guarded file by the repository.
    for line in
        of_user.lines().filter(|line| !(line.trim_start().starts_with("[attr]") && line.contains("diff")))
    {
        text.push_str(line);
        text.push('\n');
    }
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
    for (allow, attribute) in [(true, "!diff"), (false, "-diff")] {
        for pattern in masking.named(allow) {
            add_rule(&mut text, &pattern, tops, attribute);
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

/// Adds an attribute for the paths of a rule, in each work tree whose root is given.
fn add_rule(text: &mut String, pattern: &str, tops: &BTreeSet<PathBuf>, attribute: &str) {
    if !pattern.starts_with('/') {
        add(text, pattern, attribute);
        add(text, &format!("**/{pattern}/**"), attribute);
        return;
    }
    for top in tops {
        let top = top.to_string_lossy();
        if let Some(below) = pattern.strip_prefix(&*top).and_then(|rest| rest.strip_prefix('/')) {
            add(text, &format!("/{below}"), attribute);
            add(text, &format!("/{below}/**"), attribute);
        } else if pattern.contains(['*', '?']) && attribute == "-diff" {
            // A wildcard may stand for the path of the work tree, or a part of it.
            let last = pattern.rsplit('/').next().unwrap_or_default();
            add(text, last, attribute);
            add(text, &format!("**/{last}/**"), attribute);
        } else if attribute == "-diff" && top.starts_with(&format!("{pattern}/")) {
            add(text, "*", attribute);
        }
    }
}

fn add(text: &mut String, pattern: &str, attribute: &str) {
    let mut quoted = String::new();
    for c in pattern.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if c.is_ascii_control() => {
                let _ = write!(quoted, "\\{:03o}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    let _ = writeln!(text, "\"{quoted}\" {attribute}");
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
