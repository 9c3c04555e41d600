//! The content of files of earlier commits, of which no index gives the names.
//!
//! The host keeps git from showing the lines of a file that has the name of a secret: an attribute makes it treat such a file as binary.
//! This module finds commands for which the attribute has no effect.

use super::content::{is_of_work_tree, may_be_path};
use super::shown::{before_end, hashes};
use crate::class::Class;
use crate::repository::{attributes_of_git, may_be_file, read};
use crate::situation::{Access, Decision};
use crate::verdict::{Ground, Part};
use crate::walk::Judge;
use crate::words::Value;
use std::path::{Path, PathBuf};

/// Name of a file with attributes, in any directory of a work tree.
const ATTRIBUTES: &str = ".gitattributes";
/// Options with which a file that is treated as binary is shown nevertheless.
const SHOWING: &[&str] = &["--text", "--binary"];

/// Requires approval for a command that may show the content of any file of an earlier commit, without regard to its name. `skipped` is
/// the number of words before the operands.
pub(super) fn judge(judge: &Judge<'_>, name: &str, values: &[Value], skipped: usize, part: &mut Part) {
    let is_of_now = match name {
        "status" => true,
        "grep" => !before_end(&values[skipped..]).any(|value| match value.text() {
            Some(text) => !text.starts_with('-') && !may_be_path(judge, text),
            None => true,
        }),
        _ => is_of_work_tree(judge, name, values),
    };
    if is_of_now {
        return;
    }
    let mut ask = |why: String| part.because(Class::GitRead, Decision::Ask, Ground::Detail, why);
    if before_end(values).filter_map(Value::text).any(shows_binary) {
        ask("with this option it may show the content of any file of earlier commits".to_owned());
    }
    // If a repository is broken, git takes the next one above.
    let cwd = judge.state.cwd.as_deref().and_then(|cwd| cwd.canonicalize().ok());
    let roots: Vec<&Path> = cwd.iter().flat_map(|cwd| cwd.ancestors()).collect();
    let is_file = |hash: &&str| {
        let mut repositories = roots.iter().filter(|root| root.join(".git").symlink_metadata().is_ok());
        repositories.any(|root| may_be_file(root, hash))
    };
    if let Some(file) = roots.iter().find_map(|root| showing_attributes(judge, root)) {
        ask(format!("{} may have git show the content of files with secrets", file.display()));
    }
    if !takes_objects(name) {
        return;
    }
    for value in before_end(&values[skipped..]) {
        match value {
            Value::Text(text) if text.starts_with('-') => {
                if text == "--stdin" || text.starts_with("--batch") && !text.starts_with("--batch-check") {
                    ask("its input may name any file of earlier commits".to_owned());
                }
            }
            Value::Text(text) => {
                if let Some(hash) = hashes(text).find(is_file) {
                    ask(format!("{hash} may be the content of a file, whose name is not known"));
                }
            }
            Value::Listed(texts) => {
                if let Some(hash) = texts.iter().flat_map(|text| hashes(text)).find(is_file) {
                    ask(format!("{hash} may be the content of a file, whose name is not known"));
                }
            }
            Value::Unknown { .. } => {
                ask("which object it shows is not known before it runs".to_owned());
            }
            Value::Below { .. } => {}
        }
    }
}

/// Returns the file of a repository with an attribute for which files that need approval may be shown, in place of the one of the host.
fn showing_attributes(judge: &Judge<'_>, root: &Path) -> Option<PathBuf> {
    root.join(".git").symlink_metadata().ok()?;
    let tracked = judge.repositories.tracked(root);
    let names =
        tracked.iter().filter(|tracked| tracked.root == root).flat_map(|tracked| tracked.files.as_deref());
    let of_index = names.flatten().map(|file| root.join(&file.name));
    let of_index = of_index.filter(|file| file.file_name().is_some_and(|name| name == ATTRIBUTES));
    let cwd = judge.state.cwd.as_deref().and_then(|cwd| cwd.canonicalize().ok());
    let above =
        cwd.iter().flat_map(|cwd| cwd.ancestors()).take_while(|directory| directory.starts_with(root));
    let above = above.map(|directory| directory.join(ATTRIBUTES));
    let of_git = attributes_of_git(root).into_iter();
    let situation = judge.situation();
    let is_asked = |path: &Path| (situation.decide)(path, Access::Read) != Decision::Allow;
    let mut files = above.chain(of_git).chain(of_index).chain([root.join(ATTRIBUTES)]);
    files.find(|file| match read(file) {
        Ok(text) => text.unwrap_or_default().lines().any(|line| shows_guarded(line, root, &is_asked)),
        Err(_) => true,
    })
}

/// Returns true if a line of a file with attributes has the lines of a file shown that is asked about.
fn shows_guarded(line: &str, root: &Path, is_asked: &dyn Fn(&Path) -> bool) -> bool {
    let line = line.trim_start();
    let (pattern, attributes) = match line.strip_prefix('"') {
        // A quote in it ends it too early, with a pattern that is shorter, and so matches more.
        Some(rest) => rest.split_once('"').unwrap_or((rest, "")),
        None => line.split_once([' ', '\t']).unwrap_or((line, "")),
    };
    let shows = |attribute: &str| attribute == "diff" || attribute.starts_with("diff=");
    if pattern.starts_with('#') || !attributes.split_ascii_whitespace().any(shows) {
        return false;
    }
    let last = pattern.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let wildcards = ['*', '?', '[', ']', '\\'];
    if pattern.starts_with("[attr]") || last.trim_matches(wildcards).is_empty() {
        return true;
    }
    let path = |stands_for: &str| root.join(pattern.replace(wildcards, stands_for).trim_start_matches('/'));
    is_asked(&path("")) || is_asked(&path("x"))
}

/// Returns true if a command shows the content of an object that is a file.
fn takes_objects(name: &str) -> bool {
    matches!(name, "show" | "cat-file" | "diff" | "difftool" | "grep")
}

fn shows_binary(text: &str) -> bool {
    if let Some(long) = text.strip_prefix("--") {
        return !long.is_empty() && SHOWING.iter().any(|option| option.starts_with(text));
    }
    let Some(letters) = text.strip_prefix('-') else { return false };
    // The text after an option with a value is the value.
    let end = letters.find(|c: char| "SGLOIMCBlnXUeAfm".contains(c)).unwrap_or(letters.len());
    letters[..end].contains('a')
}
