//! The files and directories that a server which is a command runs or loads: its program, its scripts, and what they name.

mod launchers;
mod references;
mod trusted;

pub use trusted::{ProjectProgram, project_programs};
pub(super) use trusted::{Trusted, trusted_by};

use super::spawn::directory;
use crate::settings::McpCommand;
use launchers::{Runs, is_code_option, manifests, runs};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Variables with directories or files from which programs load code.
pub(super) const CODE_VARIABLES: &[&str] = &[
    "BASH_ENV",
    "CLASSPATH",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "ENV",
    "GEM_HOME",
    "GEM_PATH",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LUA_CPATH",
    "LUA_PATH",
    "NODE_PATH",
    "PATH",
    "PERL5LIB",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "UV_PROJECT",
    "VIRTUAL_ENV",
];
/// Variables with options of a program, which may name files to load.
pub(super) const OPTION_VARIABLES: &[&str] = &["JAVA_TOOL_OPTIONS", "NODE_OPTIONS", "PERL5OPT", "RUBYOPT"];
/// Extensions of files that hold data of a server, which the server itself may write.
const DATA: &[&str] = &[
    "csv", "db", "db3", "duckdb", "jsonl", "lock", "log", "parquet", "pid", "sock", "sqlite", "sqlite3",
    "tsv",
];

/// Files of a directory that run first, or name what runs.
const ENTRY_FILES: &[&str] = &[
    "__main__.py",
    "index.js",
    "index.mjs",
    "index.cjs",
    "index.ts",
    "package.json",
    "pyproject.toml",
    "Cargo.toml",
    "go.mod",
    "deno.json",
];

/// Finds the files and directories of one command.
struct Programs<'a> {
    command: &'a McpCommand,
    /// The working directory of the server.
    directory: PathBuf,
    /// The real path of the workspace.
    workspace: &'a Path,
    found: BTreeSet<PathBuf>,
}

/// Returns the files and directories that a server runs or loads when it is started: its program, each file that an argument names,
/// directories of code, and the scripts that these scripts name. They are absolute, and a program or script that is named need not exist.
/// Programs in the directories of `PATH` outside the workspace are not among them. Blocks.
pub(super) fn programs(command: &McpCommand, workspace: &Path) -> BTreeSet<PathBuf> {
    let workspace = &real(workspace);
    let directory = plain(&directory(command.cwd.as_deref(), workspace));
    let mut programs = Programs { command, directory, workspace, found: BTreeSet::new() };
    programs.add_command();
    programs.add_arguments();
    programs.add_variables();
    for manifest in manifests(&command.command, &command.args) {
        let path = programs.directory.join(manifest);
        if path.exists() {
            programs.add(path);
        }
    }
    let Programs { directory, mut found, .. } = programs;
    references::add(&mut found, &directory, workspace);
    // A directory of code is protected with its content.
    let is_below = |path: &PathBuf| path.ancestors().skip(1).any(|above| found.contains(above));
    found.iter().filter(|path| !is_below(path)).cloned().collect()
}

/// Returns true if a path is the project's own: within the workspace, or within the server's working directory if that does not contain
/// the workspace. `workspace` is a real path.
fn is_local(path: &Path, directory: &Path, workspace: &Path) -> bool {
    let directory = real(directory);
    let is_within = |path: &Path| {
        path.starts_with(workspace) || path.starts_with(&directory) && !workspace.starts_with(&directory)
    };
    is_within(path) || is_within(&real(path))
}

/// Returns the real path, or the path itself if nothing is there.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

impl Programs<'_> {
    fn add_command(&mut self) {
        let command = self.command;
        if command.command.contains('/') {
            return self.add(self.directory.join(&command.command));
        }
        let path =
            command.env.get("PATH").map(|path| path.expose().into()).or_else(|| std::env::var_os("PATH"));
        for directory in path.iter().flat_map(std::env::split_paths) {
            let directory = plain(&self.directory.join(directory));
            let program = directory.join(&command.command);
            let is_found = program.is_file();
            if is_local(&directory, &self.directory, self.workspace) {
                // The workspace itself in `PATH`: protecting all of it would be no use.
                self.add(if self.is_whole_workspace(&directory) { program } else { directory });
            }
            // No program in a later directory is started.
            if is_found {
                return;
            }
        }
    }

    fn add_arguments(&mut self) {
        let command = self.command;
        let mut runs = runs(&command.command);
        let mut runs_modules = launchers::runs_modules(&command.command);
        let mut option: Option<&str> = None;
        for word in command.args.iter().map(String::as_str) {
            let before = option.take();
            if word.starts_with('-') {
                if let Some((name, value)) = word.split_once('=') {
                    self.add_value(value, is_code_option(name));
                    if names_directory(name) {
                        self.move_to(value);
                    }
                } else if let Some((at, _)) = word.char_indices().nth(2).filter(|_| !word.starts_with("--")) {
                    // A value directly after a short option.
                    self.add_value(&word[at..], is_code_option(&word[..at]));
                }
                option = Some(word);
                continue;
            }
            if before == Some("-m") && runs_modules {
                self.add_module(word);
                runs = Runs::Nothing;
                continue;
            }
            runs_modules |= launchers::runs_modules(word);
            let is_code = before.is_some_and(is_code_option);
            let is_script = !is_code && runs != Runs::Nothing;
            self.add_value(word, is_code || is_script);
            if is_script {
                self.add_entries(&self.directory.join(word));
                if is_path_like(word) {
                    self.add(self.directory.join(word));
                }
                // The word may also be a command of the launcher, or the value of an option: `uv run server.py`.
                let is_last =
                    runs == Runs::FirstWord || is_path_like(word) || self.directory.join(word).exists();
                runs = if is_last { Runs::Nothing } else { runs };
            }
            if before.is_some_and(names_directory) {
                self.move_to(word);
            }
        }
    }

    /// Adds what the value of an argument names: an existing file, or a directory of code.
    fn add_value(&mut self, value: &str, is_code: bool) {
        let value = value.strip_prefix("file://").unwrap_or(value);
        let inner = value.split_once('=').map(|(_, value)| value);
        // A list of directories, or a script with the name of an object in it: `classes:lib/x.jar`, `server.py:app`.
        let listed = value.split([':', ';']).filter(|part| *part != value && !value.contains("//"));
        for value in std::iter::once(value).chain(inner).chain(listed).filter(|value| !value.is_empty()) {
            let path = self.directory.join(value);
            let is_data = Path::new(value)
                .extension()
                .is_some_and(|extension| DATA.iter().any(|data| extension.eq_ignore_ascii_case(data)));
            let counts = path.is_file() && (is_code || !is_data) || is_code && path.is_dir();
            if counts {
                self.add_manifest(&path);
                self.add(path);
            } else if is_code && !path.exists() && launchers::completes_names(&self.command.command) {
                references::with_extension(&path).for_each(|script| self.add(script));
            }
        }
        // A module with the name of an object in it: `app.main:api`.
        if let Some((module, _)) = value.split_once(':').filter(|(module, _)| is_module(module)) {
            self.add_existing_module(module);
        }
        if value.contains(char::is_whitespace) {
            // A command line for a shell.
            for named in references::of_text(value, &self.directory, &self.directory) {
                self.add(named);
            }
        }
    }

    /// Adds the files that run first of a directory that is run, for one that contains the workspace and so is not protected as a whole.
    fn add_entries(&mut self, directory: &Path) {
        let entries = ENTRY_FILES.iter().map(|name| directory.join(name)).filter(|path| path.is_file());
        entries.for_each(|path| self.add(path));
    }

    /// Adds what is compiled together with a manifest that is named.
    fn add_manifest(&mut self, manifest: &Path) {
        if manifest.file_name().is_some_and(|name| name == "Cargo.toml") {
            let beside = ["build.rs", "src"].map(|name| manifest.with_file_name(name));
            beside.into_iter().filter(|path| path.exists()).for_each(|path| self.add(path));
        }
    }

    fn add_existing_module(&mut self, module: &str) {
        let below = self.directory.join(module.replace('.', "/"));
        if below.with_extension("py").is_file() || below.join("__init__.py").is_file() {
            self.add_module(module);
        }
    }

    /// Adds a module of Python that is named in the working directory.
    fn add_module(&mut self, module: &str) {
        let below = module.replace('.', "/");
        let first = self.directory.join(below.split('/').next().unwrap_or_default());
        if first.is_dir() {
            self.add(first);
        } else {
            self.add(self.directory.join(format!("{below}.py")));
        }
    }

    fn add_variables(&mut self) {
        for (name, value) in &self.command.env {
            if CODE_VARIABLES.contains(&name.as_str()) {
                for path in
                    std::env::split_paths(value.expose()).filter(|path| path.components().next().is_some())
                {
                    let path = plain(&self.directory.join(path));
                    if is_local(&path, &self.directory, self.workspace) || path.is_file() {
                        self.add(path);
                    }
                }
            } else if OPTION_VARIABLES.contains(&name.as_str()) {
                for word in value.expose().split_whitespace() {
                    self.add_value(word.split_once('=').map_or(word, |(_, value)| value), true);
                }
            }
        }
    }

    /// Resolves what follows against a directory that the launcher changes to.
    fn move_to(&mut self, directory: &str) {
        let moved = plain(&self.directory.join(directory));
        if moved.is_dir() {
            self.directory = moved;
        }
    }

    /// Returns true for the workspace and directories above it, of which only single files are protected: otherwise every edit would ask.
    fn is_whole_workspace(&self, path: &Path) -> bool {
        self.workspace.starts_with(path) || self.workspace.starts_with(real(path))
    }

    #[expect(clippy::needless_pass_by_value, reason = "each caller has just made the path")]
    fn add(&mut self, path: PathBuf) {
        let path = plain(&path);
        if !self.is_whole_workspace(&path) {
            self.found.insert(path);
        }
    }
}

/// Returns true for an option after which a launcher works in another directory.
fn names_directory(option: &str) -> bool {
    matches!(option, "--directory" | "--prefix" | "--cwd" | "-C")
}

/// Returns true for a text that can be the name of a module: `app.main`.
fn is_module(text: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    text.split('.').all(is_name)
}

/// Returns the directories in which Python stores these modules compiled. It runs what is there, unless the source is newer.
pub(super) fn compiled(programs: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let is_module = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "py");
    programs.iter().filter(is_module).map(|path| path.with_file_name("__pycache__")).collect()
}

/// Returns true for a word that can only be a path or a script, even if nothing is there.
fn is_path_like(word: &str) -> bool {
    let is_other = word.contains("://") || word.starts_with('@') || word.contains(char::is_whitespace);
    let is_script = Path::new(word).extension().is_some_and(references::is_code);
    !is_other && (is_script || word.starts_with(['.', '/']))
}

/// Returns the path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests;
