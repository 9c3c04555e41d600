//! The containment of a command that runs on its verdict alone.
//!
//! The verdict says that the command only reads. If it is wrong, the command still cannot do more: it runs in place, in a sandbox in which
//! it can write to a directory of its own alone, make no socket, and read no hidden file. It sees processes, mounts, network interfaces and
//! owners as they are, so that its answers are those of a command without a sandbox.

use super::guards;
use super::judged::{Command, Judged};
use super::needs::Needs;
use crate::config::{ExecSandbox, ExecSettings};
use shell_verdict::{Access, Part, tracked_files};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use toolkit::permission::{OwnPaths, sensitive_path};
use toolkit_sandbox::{Feature, Sandbox, probe};

/// Directories of the system with programs and what these load.
const PROGRAMS: &[&str] = &[
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/usr",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/snap",
    "/etc/alternatives",
];
/// Directories and files of the system that programs read. Of `/run` and `/var`, which hold the state of daemons, only what programs that
/// only read open.
const READ: &[&str] = &[
    "/etc",
    "/proc",
    "/sys",
    "/run/current-system",
    "/run/opengl-driver",
    "/run/resolvconf",
    "/run/systemd/resolve",
    "/run/utmp",
    "/run/mount",
    "/run/udev/data",
    "/run/blkid",
    "/var/lib/dpkg",
    "/var/lib/apt",
    "/var/cache/apt",
    "/var/cache/man",
    "/var/lib/rpm",
    "/var/lib/pacman",
    "/var/lib/dbus/machine-id",
    "/var/log/wtmp",
    "/var/log/lastlog",
    "/var/log/btmp",
    "/var/log/journal",
];
/// Variables that name the directory of a toolchain.
const TOOLCHAINS: &[&str] = &[
    "CARGO_HOME",
    "RUSTUP_HOME",
    "JAVA_HOME",
    "GOPATH",
    "GOROOT",
    "NVM_DIR",
    "PNPM_HOME",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYENV_ROOT",
];
/// Directories of a toolchain that programs lie in, below its own directory.
const OF_PROGRAMS: &[&str] = &["bin", "sbin", "shims"];
/// Where a loader of programs is, which the kernel executes as the first part of each.
const LOADERS: &[&str] =
    &["/lib64", "/lib", "/usr/lib64", "/usr/lib", "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu"];
/// Programs that read the paths they are given and nothing else of a workspace.
const PLAIN: &[&str] = &[
    ":",
    "[",
    "awk",
    "b2sum",
    "base32",
    "base64",
    "basename",
    "break",
    "cat",
    "cd",
    "cksum",
    "cmp",
    "column",
    "comm",
    "continue",
    "cut",
    "date",
    "declare",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "exit",
    "expand",
    "export",
    "expr",
    "false",
    "fgrep",
    "file",
    "find",
    "fmt",
    "fold",
    "free",
    "gawk",
    "getconf",
    "grep",
    "groups",
    "head",
    "hexdump",
    "hostname",
    "id",
    "join",
    "jq",
    "less",
    "local",
    "ls",
    "mapfile",
    "mawk",
    "md5sum",
    "more",
    "nl",
    "nproc",
    "od",
    "paste",
    "pgrep",
    "pr",
    "printenv",
    "printf",
    "ps",
    "pwd",
    "read",
    "readlink",
    "realpath",
    "return",
    "rev",
    "sed",
    "seq",
    "set",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "shift",
    "sleep",
    "sort",
    "stat",
    "strings",
    "sum",
    "tac",
    "tail",
    "test",
    "timeout",
    "tr",
    "tree",
    "true",
    "type",
    "uname",
    "unexpand",
    "uniq",
    "unset",
    "uptime",
    "wait",
    "wc",
    "which",
    "whoami",
    "xargs",
    "xxd",
];
/// Files and directories outside of workspaces that hold no secret of anybody.
const PUBLIC: &[&str] = &[
    "/etc/debian_version",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/lsb-release",
    "/etc/os-release",
    "/etc/services",
    "/etc/shells",
    "/etc/timezone",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/sys/kernel/osrelease",
    "/proc/uptime",
    "/proc/version",
    "/usr/include",
    "/usr/lib",
    "/usr/lib64",
    "/usr/share",
];
/// Directories of sources and documents of toolchains, below the directory that a variable names, or else in the home directory.
const PUBLIC_OF_TOOLCHAINS: &[(&str, &str, &str)] = &[
    ("CARGO_HOME", ".cargo", "registry"),
    ("RUSTUP_HOME", ".rustup", "toolchains"),
    ("GOPATH", "go", "pkg/mod"),
];
/// Directories of git's own programs, below the directory that git is installed in.
const OF_GIT: &[&str] = &["lib/git-core", "libexec/git-core"];

/// Returns true if this system can contain a command that runs on its verdict alone, and the configuration does not forbid it.
pub(super) fn is_available(settings: &ExecSettings) -> bool {
    settings.enable_sandbox
        && settings.sandbox != ExecSandbox::Off
        && [Feature::Supervisor, Feature::Landlock, Feature::Seccomp].iter().all(|part| probe().has(*part))
}

/// Returns the sandbox of a command that runs on its verdict alone, and the paths that are hidden in it. `roots` are the directories that
/// commands may use.
pub(super) fn sandbox(
    command: &Command,
    judged: &Judged,
    needs: &Needs,
    roots: &[PathBuf],
    own: &OwnPaths,
) -> (Sandbox, BTreeSet<PathBuf>) {
    let mut sandbox = Sandbox::reading(&command.workspace);
    for path in readable(command, judged) {
        sandbox = sandbox.with_readable(path);
    }
    let mut hidden = guards::hidden(&command.variables, own);
    hidden.retain(|path| !judged.masking.shows(path));
    // A tree of which the hidden paths are not known is not read at all.
    if let Ok(of_trees) = hidden_in_trees(command, judged, roots) {
        for tree in trees(command, judged, roots) {
            sandbox = sandbox.with_readable(tree);
        }
        hidden.extend(of_trees);
    }
    for path in executable(command, judged) {
        sandbox = sandbox.with_executable(path);
    }
    hidden.retain(|path| !needs.is_read(path) && !command.cwd.starts_with(path));
    for path in &hidden {
        sandbox = sandbox.with_hidden(path);
    }
    let reads_tables = judged.verdict.each_part().any(|part| part.queries_network_state);
    (sandbox.with_network_tables(reads_tables), hidden)
}

/// Returns the hidden paths in the trees that the command reads.
///
/// # Errors
///
/// The reason for which there may be others, as a sentence without its full stop.
pub(super) fn hidden_in_trees(
    command: &Command,
    judged: &Judged,
    roots: &[PathBuf],
) -> Result<BTreeSet<PathBuf>, String> {
    let trees = trees(command, judged, roots);
    let mut hidden = BTreeSet::new();
    for tree in &trees {
        hidden.extend(judged.masking.hidden_in(tree)?);
    }
    if !hidden.is_empty() && runs_git(judged) {
        // Git compares the files that it tracks, and their content is in the repository as well. The verdict decides which of them it shows.
        for file in trees.iter().filter_map(|tree| tracked_files(tree)).flatten() {
            hidden.remove(&file);
        }
    }
    Ok(hidden)
}

/// A reason against running a command on its verdict alone.
#[derive(Debug)]
pub(super) enum Obstacle {
    Ask(String),
    Deny(String),
}

/// Checks that the containment of a command keeps it from what is hidden, and that it hides nothing that the command reads by a name which
/// the verdict allowed: another name of a hidden file is hidden, too.
///
/// # Errors
///
/// The reason for which the command needs approval or is denied, as a sentence without its full stop.
pub(super) fn check(command: &Command, judged: &Judged, roots: &[PathBuf]) -> Result<(), Obstacle> {
    hidden_in_trees(command, judged, roots).map_err(Obstacle::Ask)?;
    if judged.verdict.each_part().any(|part| part.shows_history)
        && let Some(file) =
            trees(command, judged, roots).iter().find_map(|tree| judged.masking.shown_by_attributes(tree))
    {
        let why = "may have git show the content of files that need approval";
        return Err(Obstacle::Ask(format!("{} {why}", file.display())));
    }
    let read = judged.verdict.each_part().flat_map(|part| &part.paths);
    let read = read.filter(|(_, access)| matches!(access, Access::Read | Access::ReadTree { .. }));
    let files: Vec<PathBuf> =
        read.filter_map(|(path, _)| path.canonicalize().ok()).filter(|path| path.is_file()).collect();
    if files.is_empty() {
        return Ok(());
    }
    for root in roots {
        let hidden = match judged.masking.hidden_in(root) {
            Ok(hidden) => hidden,
            // Of a tree with too many entries, a file with one name alone is known.
            Err(_) if files.iter().all(|file| has_one_name(file)) => continue,
            Err(why) => return Err(Obstacle::Ask(why)),
        };
        if let Some(file) =
            files.iter().find(|file| hidden.binary_search(file).is_ok() && !judged.masking.shows(file))
        {
            let place = file.display();
            return Err(if judged.masking.denies_other_name(root, file) {
                Obstacle::Deny(format!("{place} is another name of a file that a rule denies to read"))
            } else {
                Obstacle::Ask(format!("{place} is another name of a file that needs approval"))
            });
        }
    }
    Ok(())
}

fn has_one_name(file: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    file.metadata().is_ok_and(|metadata| metadata.nlink() == 1)
}

/// Returns the trees that the command reads beyond the paths that the verdict knows: those of git, of searches that leave files out, and,
/// for programs that look for their settings, the workspace.
fn trees(command: &Command, judged: &Judged, roots: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut trees: BTreeSet<PathBuf> = repositories(judged).into_iter().collect();
    if !reads_named_paths(command, judged) {
        trees.extend(roots.iter().cloned());
    }
    trees
}

/// Returns true if the verdict names each path that the command reads: it consists of programs that read no others, with words that are
/// known, and nothing of the shell but lists and pipelines.
fn reads_named_paths(command: &Command, judged: &Judged) -> bool {
    let names_paths = |part: &Part| {
        let is_plain = part.program.as_deref().is_none_or(|program| PLAIN.contains(&program));
        let is_search = part.paths.iter().any(|(_, access)| *access == Access::Search);
        let is_known = part.words.iter().all(Option::is_some) && part.parts.is_empty();
        let executes =
            part.words.iter().flatten().any(|word| word.starts_with("-exec") || word.starts_with("-ok"));
        is_plain && !is_search && is_known && !executes
    };
    !command.text.contains(['<', '$', '`', '(', '{']) && judged.verdict.parts.iter().all(names_paths)
}

/// Returns the directories and files whose content may be read.
fn readable(command: &Command, judged: &Judged) -> Vec<PathBuf> {
    let system = PROGRAMS.iter().chain(READ).map(PathBuf::from);
    let named = judged.verdict.each_part().flat_map(|part| &part.paths).map(|(path, _)| path.clone());
    let asked = judged.paths.iter().map(|asked| asked.path.clone());
    // A directory that is named is listed; its files are read if it is searched, or if they are named.
    let files = named.chain(asked).filter(|path| !path.is_dir());
    let searched = judged
        .verdict
        .each_part()
        .flat_map(|part| &part.paths)
        .filter(|(_, access)| matches!(access, Access::ReadTree { .. } | Access::Search));
    let searched = searched.map(|(path, _)| path.clone());
    let home = command.variables.get("HOME").map(PathBuf::from);
    let of_home = home.iter().flat_map(|home| settings_of(home));
    system.chain(files).chain(searched).chain(of_home).collect()
}

/// Returns true for a path outside of workspaces whose content anybody may know. Symlinks in it are followed.
pub(super) fn is_public(path: &Path, variables: &BTreeMap<String, String>) -> bool {
    let Ok(real) = path.canonicalize() else { return false };
    let variable = |name: &str| variables.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let of_toolchains = PUBLIC_OF_TOOLCHAINS.iter().filter_map(|(name, of_home, directory)| {
        let own = variable(name).or_else(|| variable("HOME").map(|home| home.join(of_home)))?;
        own.join(directory).canonicalize().ok()
    });
    let mut public = PUBLIC.iter().map(PathBuf::from).chain(of_toolchains);
    public.any(|public| real.starts_with(&public))
}

/// Returns the entries of a home directory in which programs keep their settings: those whose names begin with a dot. Credential stores
/// among them are hidden.
fn settings_of(home: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(home).into_iter().flatten().filter_map(Result::ok);
    let is_setting = |path: &PathBuf| {
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        is_hidden && sensitive_path(path).is_none() && sensitive_path(path.join("x")).is_none()
    };
    entries.map(|entry| entry.path()).filter(is_setting).collect()
}

/// Returns the programs that the command may execute, and the directories of such programs.
///
/// With git among them these are the programs that the command names, and those of git itself: whatever a repository makes git run, it is
/// none of them.
fn executable(command: &Command, judged: &Judged) -> Vec<PathBuf> {
    if runs_git(judged)
        && let Some(programs) = named_programs(command, judged)
    {
        return programs;
    }
    let directories = command.variables.get("PATH").map(String::as_str).unwrap_or_default();
    let of_path = std::env::split_paths(directories).map(|directory| {
        let is_part =
            directory.file_name().is_some_and(|name| OF_PROGRAMS.iter().any(|known| name == *known));
        directory.parent().filter(|_| is_part).map_or_else(|| directory.clone(), Path::to_owned)
    });
    let named = TOOLCHAINS.iter().filter_map(|name| command.variables.get(*name)).map(PathBuf::from);
    let home = command.variables.get("HOME").map(PathBuf::from);
    let is_wide = |directory: &PathBuf| {
        !directory.is_absolute()
            || directory.parent().is_none()
            || command.workspace.starts_with(directory)
            || directory.starts_with(&command.workspace)
            || home.as_ref().is_some_and(|home| home.starts_with(directory))
    };
    let toolchains = of_path.chain(named).filter(|directory| !is_wide(directory));
    let of_home = home.iter().flat_map(|home| settings_of(home));
    PROGRAMS.iter().map(PathBuf::from).chain(toolchains).chain(of_home).collect()
}

/// Returns the files of the programs that the command names, of the shell, of git and of the loader. `None` if a program is a script, which
/// needs others.
fn named_programs(command: &Command, judged: &Judged) -> Option<Vec<PathBuf>> {
    let mut files = vec![command.shell.clone()];
    for part in judged.verdict.each_part() {
        files.extend(part.executable.iter().cloned());
        if !part.starts.is_empty() || runs_script_of_git(part) {
            return None;
        }
    }
    let mut programs = Vec::new();
    for file in files {
        let file = file.canonicalize().ok()?;
        if !is_binary(&file) {
            return None;
        }
        if file.file_name().is_some_and(|name| name == "git") {
            let above = file.parent().and_then(Path::parent)?;
            programs.extend(OF_GIT.iter().map(|directory| above.join(directory)));
        }
        programs.push(file);
    }
    let loaders = LOADERS.iter().flat_map(|directory| fs::read_dir(directory).into_iter().flatten());
    let is_loader =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"ld-"));
    programs.extend(loaders.filter_map(Result::ok).map(|entry| entry.path()).filter(is_loader));
    Some(programs)
}

fn runs_git(judged: &Judged) -> bool {
    judged.verdict.each_part().any(|part| part.program.as_deref() == Some("git"))
}

/// Returns true if the command of git is a script, such as `git submodule`.
fn runs_script_of_git(part: &Part) -> bool {
    let is_script =
        |word: &Option<String>| word.as_deref().is_none_or(|word| ["submodule", "bisect"].contains(&word));
    part.program.as_deref() == Some("git") && part.words.iter().any(is_script)
}

/// Returns the directory that a command of git works in, with `-C`.
pub(super) fn directory_of_git(part: &Part) -> Option<PathBuf> {
    let mut directory = part.directory.clone()?;
    let mut words = part.words.iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_deref() {
            Some("-C") => directory = directory.join(words.next()?.as_deref()?),
            Some(word) if word.starts_with('-') => {}
            _ => break,
        }
    }
    directory.canonicalize().ok()
}

/// Returns true if a file is a program for the processor, and no script.
fn is_binary(path: &Path) -> bool {
    use std::io::Read as _;
    let mut begin = [0; 4];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok() && begin == *b"\x7fELF"
}

/// Returns the work trees of the repositories that the command reads, and their own directories.
fn repositories(judged: &Judged) -> Vec<PathBuf> {
    let read = judged.verdict.each_part().filter(|part| part.program.as_deref() == Some("git"));
    let directories: BTreeSet<PathBuf> = read.filter_map(directory_of_git).collect();
    let found = directories.iter().filter_map(|directory| guards::repository(directory));
    found.flat_map(|repository| std::iter::once(repository.top).chain(repository.own)).collect()
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
