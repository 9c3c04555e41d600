//! The facts that an approval of a command relies on, besides its text: they are shown with what a lasting answer remembers.

use super::containing::Containing;
use super::judged::{Command, Judged};
use hmac_sha256::Hash;
use shell_verdict::{Decision, Part, resolve_path};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Maximum size of a script whose content is compared, in bytes.
const LARGEST: u64 = 4 << 20;
/// Maximum number of conditions of each kind.
const MAX: usize = 10;

/// The directories that a command runs in, held open from the question until the start, so that none can take the place of another.
#[derive(Debug)]
pub(super) struct Places(Vec<(PathBuf, Option<File>)>);

impl Places {
    /// Opens the directories of a command.
    pub(super) fn of(command: &Command, judged: &Judged) -> Self {
        let named = judged.verdict.each_part().filter_map(|part| part.directory.clone());
        let all: BTreeSet<PathBuf> = std::iter::once(command.cwd.clone()).chain(named).collect();
        Self(all.into_iter().map(|path| (path.clone(), File::open(path).ok())).collect())
    }

    /// Returns true if each path still leads to the directory that was opened.
    pub(super) fn are_same(&self) -> bool {
        self.0.iter().all(|(path, held)| match held {
            Some(held) => is_same(held, path),
            None => File::open(path).is_err(),
        })
    }
}

#[cfg(unix)]
fn is_same(held: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let (Ok(held), Ok(now)) = (held.metadata(), path.metadata()) else { return false };
    (held.dev(), held.ino()) == (now.dev(), now.ino())
}

#[cfg(not(unix))]
fn is_same(_held: &File, _path: &Path) -> bool {
    true
}

/// Returns the conditions of an approval: the containment, the programs, the scripts that are named, and the variables. Blocks.
pub(super) fn conditions(command: &Command, judged: &Judged, containing: &Containing) -> Vec<String> {
    let mut conditions = vec![format!("it runs in: {}", containing.words)];
    if containing.sandbox.is_some() {
        conditions.extend(judged.masking.summary(&command.workspace));
    }
    let asked = || judged.verdict.each_part().filter(|part| part.decision > Decision::Allow);
    let mut programs = BTreeSet::new();
    let mut scripts = BTreeSet::new();
    for part in asked() {
        if let (Some(program), Some(file)) = (&part.program, &part.executable) {
            programs.insert(format!("`{program}` is {}", file.display()));
        }
        scripts.extend(named_scripts(part, &command.cwd));
    }
    conditions.extend(programs.into_iter().take(MAX));
    let content = |path: &PathBuf| {
        let digest = digest(path).unwrap_or_else(|| "is not known".to_owned());
        format!("the content of {} {digest}", path.display())
    };
    conditions.extend(scripts.iter().take(MAX).map(content));
    conditions.extend(variables(command).into_iter().take(MAX));
    conditions
}

/// Returns the scripts of the workspace and elsewhere that a part runs: a program given by its path, and for shells and interpreters each
/// file that they are given.
fn named_scripts(part: &Part, cwd: &Path) -> Vec<PathBuf> {
    let directory = part.directory.as_deref().unwrap_or(cwd);
    let runs_files = part.says.is_none() || part.runs_scripts();
    let words = part.words.iter().enumerate().filter_map(|(at, word)| Some((at, word.as_deref()?)));
    let named =
        words.filter(|(at, word)| if *at == 0 { word.contains('/') } else { runs_files && !word.is_empty() });
    named.map(|(_, word)| resolve_path(directory, word)).filter(|path| path.is_file()).collect()
}

/// Returns the digest of a script.
fn digest(path: &Path) -> Option<String> {
    let file = File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > LARGEST {
        let changed = fs::metadata(path).and_then(|found| found.modified()).ok()?;
        return Some(format!("was changed at {changed:?}"));
    }
    Some(format!("has the SHA-256 {}…", short_digest(&bytes)))
}

/// Returns the variables of the host's environment that the text of the command uses, each with a digest of its value.
fn variables(command: &Command) -> Vec<String> {
    let mut found = Vec::new();
    for (name, value) in &command.variables {
        let is_used = command.text.match_indices('$').any(|(at, _)| {
            let rest = command.text[at + 1..].trim_start_matches(['{', '!', '#']);
            let after = rest.strip_prefix(name.as_str());
            after.is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        });
        if is_used {
            let digest = short_digest(format!("{name}={value}").as_bytes());
            found.push(format!("`{name}` has the value that it has now (SHA-256 {digest}…)"));
        }
    }
    found
}

/// Returns the first 32 hexadecimal digits of the SHA-256 of a text.
pub(super) fn short_digest(bytes: &[u8]) -> String {
    Hash::hash(bytes)[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}
