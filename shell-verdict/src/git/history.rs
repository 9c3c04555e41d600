//! The content of files of earlier commits, of which no index gives the names.
//!
//! The host keeps git from showing the lines of a file that has the name of a secret: an attribute makes it treat such a file as binary.
//! This module finds commands for which the attribute has no effect.

use super::operands::{is_of_work_tree, may_be_path};
use super::shown::{before_end, hashes};
use crate::class::Class;
use crate::repository::{Kind, attributes_of_git, kind_of_hash, kind_of_reference, read};
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
    part.shows_history = true;
    let mut ask = |why: String| part.because(Class::GitRead, Decision::Ask, Ground::Detail, why);
    if before_end(values).filter_map(Value::text).any(|text| shows_binary(name, text)) {
        ask("with this option it may show the content of any file of earlier commits".to_owned());
    }
    // If a repository is broken, git takes the next one above.
    let cwd = judge.state.cwd.as_deref().and_then(|cwd| cwd.canonicalize().ok());
    let roots: Vec<&Path> = cwd.iter().flat_map(|cwd| cwd.ancestors()).collect();
    let repositories: Vec<&Path> =
        roots.iter().copied().filter(|root| root.join(".git").symlink_metadata().is_ok()).collect();
    let kind = |of: &dyn Fn(&Path) -> Option<Kind>| repositories.iter().filter_map(|root| of(root)).max();
    if let Some(file) = roots.iter().find_map(|root| showing_attributes(judge, root)) {
        ask(format!("{} may have git show the content of files with secrets", file.display()));
    }
    if !takes_objects(name) {
        return;
    }
    let (mut known_input, mut is_unknown) = (false, false);
    let mut known = |text: &str| {
        for word in text.split("..") {
            let word = word.trim_start_matches(['.', '^']);
            let base = word.split([':', '^', '~', '@']).next().unwrap_or_default();
            let rest = &word[base.len()..];
            let of_hash = hashes(base).filter_map(|hash| kind(&|root| kind_of_hash(root, hash))).max();
            let found = of_hash.max(kind(&|root| kind_of_reference(root, base)));
            // By the names in a directory, or below one, an attribute for a whole path is not found.
            let names_directory =
                rest.contains(':') || rest.contains("^{tree}") || found == Some(Kind::Directory);
            let why = if found == Some(Kind::File) {
                "may be the content of a file, whose name is not known"
            } else if names_directory && compares(name) && (name == "grep" || found == Some(Kind::Directory))
            {
                "names a directory, so the whole names of its files are not known"
            } else if found == Some(Kind::Directory) && rest.contains(':') {
                "names a file in a directory whose own name is not known"
            } else {
                continue;
            };
            ask(format!("{word} {why}"));
        }
    };
    for value in before_end(&values[skipped..]) {
        match value {
            Value::Text(text) if text.starts_with('-') => {
                let of_references = ["--all", "--branches", "--tags", "--remotes", "--glob", "--reflog"];
                let names_any = text == "--stdin"
                    || text.starts_with("--batch") && !text.starts_with("--batch-check")
                    || name == "show" && of_references.iter().any(|option| text.starts_with(option));
                if names_any {
                    known_input = true;
                }
            }
            Value::Text(text) => known(text),
            Value::Listed(texts) => texts.iter().for_each(|text| known(text)),
            Value::Unknown { .. } => is_unknown = true,
            Value::Below { .. } => {}
        }
    }
    if known_input {
        ask("its input or its options may name any file of earlier commits".to_owned());
    }
    if is_unknown {
        ask("which object it shows is not known before it runs".to_owned());
    }
}

/// Returns the file of a repository with an attribute for which files that need approval may be shown, in place of the one of the host.
fn showing_attributes(judge: &Judge<'_>, root: &Path) -> Option<PathBuf> {
    root.join(".git").symlink_metadata().ok()?;
    let tracked = judge.repositories.tracked(root);
    let names =
        tracked.iter().filter(|tracked| tracked.root == root).flat_map(|tracked| tracked.files.as_deref());
    let of_index = names.flatten().map(|file| root.join(&file.name));
    let of_index: Vec<PathBuf> =
        of_index.filter(|file| file.file_name().is_some_and(|name| name == ATTRIBUTES)).collect();
    let is_tracked = |file: &PathBuf| of_index.contains(file);
    let cwd = judge.state.cwd.as_deref().and_then(|cwd| cwd.canonicalize().ok());
    let above =
        cwd.iter().flat_map(|cwd| cwd.ancestors()).take_while(|directory| directory.starts_with(root));
    let above = above.map(|directory| directory.join(ATTRIBUTES));
    let of_git = attributes_of_git(root).into_iter();
    let situation = judge.situation();
    let is_asked = |path: &Path| (situation.decide)(path, Access::Read) != Decision::Allow;
    let mut files = above.chain(of_git).chain(of_index.iter().cloned()).chain([root.join(ATTRIBUTES)]);
    files.find(|file| match file.symlink_metadata() {
        Ok(_) if file.ends_with("info/attributes") => may_show(file, root, &is_asked),
        Ok(_) => attributes_may_show(file, &is_asked),
        // One that is tracked and not there is read from the index.
        Err(_) => is_tracked(file),
    })
}

/// Returns true if a file with attributes of git may have the lines of a file shown for which `is_asked` is true, although an attribute of
/// lower precedence says that it is binary. Also if the file cannot be read. Blocks.
pub fn attributes_may_show(file: &Path, is_asked: &dyn Fn(&Path) -> bool) -> bool {
    may_show(file, file.parent().unwrap_or(Path::new("/")), is_asked)
}

fn may_show(file: &Path, directory: &Path, is_asked: &dyn Fn(&Path) -> bool) -> bool {
    match read(file) {
        Ok(text) => text.unwrap_or_default().lines().any(|line| shows_guarded(line, directory, is_asked)),
        Err(_) => true,
    }
}

/// Returns true if a line of a file with attributes may have the lines of a file shown that is asked about.
fn shows_guarded(line: &str, root: &Path, is_asked: &dyn Fn(&Path) -> bool) -> bool {
    let line = line.trim_start();
    let (pattern, attributes) = match line.strip_prefix('"') {
        // A quote in it ends it too early, with a pattern that is shorter, and so matches more.
        Some(rest) => rest.split_once('"').unwrap_or((rest, "")),
        None => line.split_once([' ', '\t']).unwrap_or((line, "")),
    };
    let shows = |attribute: &str| {
        let name = attribute.trim_start_matches('!').split('=').next().unwrap_or_default();
        name == "diff"
    };
    if pattern.starts_with('#') || !attributes.split_ascii_whitespace().any(shows) {
        return false;
    }
    // A macro, which any pattern may get, or a name that is written with codes.
    if pattern.starts_with("[attr]") || pattern.contains('\\') {
        return true;
    }
    let pattern = pattern.trim_matches('/');
    let wildcards = ['*', '?', '[', ']'];
    let last = pattern.rsplit('/').next().unwrap_or_default();
    if !last.contains(wildcards) {
        let plain = pattern.replace(wildcards, "x");
        return is_asked(&root.join(plain));
    }
    // An extension tells which files it is about.
    let extension = last.rsplit(wildcards).next().unwrap_or_default();
    let is_extension = extension.strip_prefix('.').is_some_and(|name| name.len() > 1 && !name.contains('.'));
    !is_extension
        || [format!("x{extension}"), extension.to_owned()].iter().any(|name| is_asked(&root.join(name)))
}

/// Returns true if a command shows the content of an object that is a file.
fn takes_objects(name: &str) -> bool {
    matches!(name, "show" | "cat-file") || compares(name)
}

/// Returns true if a command shows the files below a directory that is named as an object.
fn compares(name: &str) -> bool {
    matches!(name, "diff" | "difftool" | "grep" | "diff-tree" | "diff-index" | "range-diff")
}

fn shows_binary(name: &str, text: &str) -> bool {
    if let Some(long) = text.strip_prefix("--") {
        return !long.is_empty() && SHOWING.iter().any(|option| option.starts_with(text));
    }
    let Some(letters) = text.strip_prefix('-') else { return false };
    // The text after an option with a value is the value.
    let with_value = if name == "grep" { "efABCmO" } else { "SGLOIMCBlnXUm" };
    let end = letters.find(|c: char| with_value.contains(c)).unwrap_or(letters.len());
    letters[..end].contains('a')
}
