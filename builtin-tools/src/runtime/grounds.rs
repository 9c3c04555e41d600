//! The facts that an approval of a command relies on, besides its text: they are shown with what a lasting answer remembers.

use super::containing::Containing;
use super::digest::short_digest;
use super::judged::{Command, Judged};
use shell_verdict::{Access, Decision, Part, resolve_path};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Maximum size of a script whose content is compared, in bytes.
const LARGEST: u64 = 4 << 20;
/// Maximum number of bytes in which the system looks for the interpreter of a script.
const LONGEST_FIRST_LINE: u64 = 256;
/// Programs that run what a file of their directory says, with the names of such files.
const MANIFESTS: &[(&[&str], &[&str])] = &[
    (&["make", "gmake"], &["GNUmakefile", "makefile", "Makefile"]),
    (&["npm", "npx", "pnpm", "yarn", "bun"], &["package.json"]),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
    (&["task"], &["Taskfile.yml", "Taskfile.yaml"]),
    (&["rake"], &["Rakefile"]),
];
/// Variables that change from one session to the next without an effect on what a command does.
const VOLATILE: &[&str] = &["PWD", "OLDPWD", "SHLVL", "_", "COLUMNS", "LINES", "TERM", "COLORTERM", "TMPDIR"];
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
    let programs: BTreeSet<String> = asked()
        .filter_map(|part| {
            Some(format!("`{}` is {}", part.program.as_ref()?, part.executable.as_ref()?.display()))
        })
        .collect();
    conditions.extend(programs.into_iter().take(MAX));
    let directories: BTreeSet<&PathBuf> =
        judged.verdict.each_part().filter_map(|part| part.directory.as_ref()).collect();
    let numbers = directories
        .into_iter()
        .filter(|path| **path != command.workspace)
        .filter_map(|path| Some(format!("{} is the directory {}", path.display(), number(path)?)));
    conditions.extend(numbers.take(MAX));
    let runs_scripts = asked().any(runs_scripts);
    let mut scripts: BTreeSet<PathBuf> =
        judged.verdict.each_part().flat_map(|part| named_files(part, &command.cwd, runs_scripts)).collect();
    // Programs that the verdict has no file for, such as those of a directory of the workspace that is searched.
    let unknown = asked().filter(|part| part.executable.is_none());
    scripts.extend(unknown.filter_map(|part| on_path(command, part.program.as_deref()?)));
    let mut waiting: Vec<PathBuf> = scripts.iter().cloned().collect();
    while let Some(script) = waiting.pop() {
        let found = interpreter(command, &script);
        if let Some(own) = found.filter(|path| path.starts_with(&command.workspace) && path.is_file())
            && scripts.insert(own.clone())
        {
            waiting.push(own);
        }
    }
    let content = |path: &PathBuf| {
        let digest = digest(path).unwrap_or_else(|| "is not known".to_owned());
        format!("the content of {} {digest}", path.display())
    };
    conditions.extend(scripts.iter().take(MAX).map(content));
    if scripts.len() > MAX {
        let all: Vec<String> = scripts.iter().map(content).collect();
        conditions.push(format!(
            "further scripts are the same (SHA-256 {}…)",
            short_digest(all.join(";").as_bytes())
        ));
    }
    conditions.push(environment(command));
    conditions
}

/// Returns the file of a program that `PATH` leads to.
fn on_path(command: &Command, name: &str) -> Option<PathBuf> {
    let path = command.variables.get("PATH").filter(|_| !name.is_empty() && !name.contains('/'))?;
    std::env::split_paths(path)
        .map(|directory| command.cwd.join(directory).join(name))
        .find(|file| file.is_file())
}

/// Returns the interpreter that the first line of a script names, if it is a script.
fn interpreter(command: &Command, script: &Path) -> Option<PathBuf> {
    let mut begin = Vec::new();
    File::open(script).ok()?.take(LONGEST_FIRST_LINE).read_to_end(&mut begin).ok()?;
    let line = begin.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_ascii_whitespace();
    let program = Path::new(words.next()?);
    if program.file_name()? != "env" {
        return Some(command.cwd.join(program));
    }
    on_path(command, words.find(|word| !word.starts_with('-') && !word.contains('='))?)
}

/// Returns true for a part that runs what a file says.
fn runs_scripts(part: &Part) -> bool {
    let program = part.program.as_deref().unwrap_or_default();
    part.says.is_none() || part.runs_scripts() || MANIFESTS.iter().any(|(names, _)| names.contains(&program))
}

/// Returns the files that a part runs: a program given by its path, and, where scripts run, each file that the part is given or that its
/// program looks for.
fn named_files(part: &Part, cwd: &Path, runs_scripts: bool) -> Vec<PathBuf> {
    let directory = part.directory.as_deref().unwrap_or(cwd);
    let first = part.words.first().and_then(Option::as_deref).filter(|word| word.contains('/'));
    let mut files: Vec<PathBuf> = first.map(|word| resolve_path(directory, word)).into_iter().collect();
    if runs_scripts {
        let possible = part.possible_paths();
        files.extend(possible.paths.iter().map(|path| resolve_path(directory, &path.text)));
        files.extend(part.paths.iter().map(|(path, _)| path.clone()));
        let program = part.program.as_deref().unwrap_or_default();
        for (_, manifests) in MANIFESTS.iter().filter(|(names, _)| names.contains(&program)) {
            let others = possible.directories.iter().map(|other| resolve_path(directory, other));
            for directory in others.chain([directory.to_owned()]) {
                files.extend(manifests.iter().map(|name| directory.join(name)));
            }
        }
    }
    let is_written = |path: &PathBuf| {
        part.paths.iter().any(|(written, access)| written == path && *access == Access::Write)
    };
    files.retain(|path| path.is_file() && !is_written(path));
    files
}

/// Returns a text that tells a directory from another one at its path.
fn number(path: &Path) -> Option<String> {
    let metadata = path.metadata().ok()?;
    let made = metadata.created().ok().and_then(|made| made.duration_since(std::time::UNIX_EPOCH).ok());
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&metadata);
    #[cfg(not(unix))]
    let number = 0;
    Some(format!("{number}-{}", made.map_or(0, |made| made.as_nanos())))
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
        return Some(format!("is that of {changed:?}"));
    }
    Some(format!("is the same (SHA-256 {}…)", short_digest(&bytes)))
}

/// Returns a condition for the variables that the command gets.
fn environment(command: &Command) -> String {
    let counts = |name: &&String| !VOLATILE.contains(&name.as_str());
    let all: Vec<String> = command
        .variables
        .iter()
        .filter(|(name, _)| counts(name))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    format!("its variables are the same (SHA-256 {}…)", short_digest(all.join("\0").as_bytes()))
}
