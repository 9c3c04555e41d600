//! The repository on disk and the commands that run in it.

use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use crate::timing;

/// Result of every chore; the error's text is for the user at the terminal.
pub(crate) type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// The root of the repository, and the search path that finds the tools installed into it.
pub(crate) struct Workspace {
    root: PathBuf,
    search_path: OsString,
}

impl Workspace {
    /// Finds the repository that this program was built from.
    pub(crate) fn locate() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask/ is inside the repository");
        let tools = root.join(TOOLS);
        // A tool is installed only where the user's own is missing or of another version.
        let mut directories = vec![tools.join("bin")];
        directories.extend(std::env::var_os("PATH").iter().flat_map(std::env::split_paths));
        directories.push(tools.join("node_modules/.bin"));
        Ok(Self { root: root.to_owned(), search_path: std::env::join_paths(directories)? })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A command that runs in the repository's root and finds the tools of `target/tools`.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let (program, args) = words.split_first().expect("a command has a program");
        let mut command = Command::new(program);
        command.args(args).current_dir(&self.root).env("PATH", &self.search_path);
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_of_this_package(name)) {
            command.env_remove(name);
        }
        command
    }

    /// Runs a command to its end, with its output shown; an error unless it succeeds.
    pub(crate) fn run(&self, words: &[&str]) -> Result {
        run(&mut self.command(words))
    }

    /// Returns what `cargo tree` prints with these arguments, one crate on a line, with `Cargo.lock` as it is.
    pub(crate) fn cargo_tree(&self, arguments: &[&str]) -> Result<String> {
        let mut command = self.command(&["cargo", "tree", "--locked", "--prefix=none"]);
        command.args(arguments);
        let output = command.output().map_err(|error| cannot_start(&command, &error))?;
        if !output.status.success() {
            return Err(format!("cargo tree: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Returns true if a command can be run and succeeds; its output is discarded.
    pub(crate) fn succeeds(&self, words: &[&str]) -> bool {
        let mut command = self.command(words);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }
}

/// Returns true for variables in which cargo describes the package that it runs, here `xtask`.
///
/// The build scripts of some crates are run again when such a variable changes, and then all that depends on these crates is
/// compiled again.
fn is_of_this_package(variable: &OsStr) -> bool {
    variable
        .to_str()
        .is_some_and(|name| ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.starts_with(prefix)))
}

/// The workspaces that are formatted, linted, documented and tested, as arguments of cargo. Adapters have their own lock file.
pub(crate) const WORKSPACES: [&[&str]; 2] = [&[], &["--manifest-path", "adapters/Cargo.toml"]];

/// Runs a step for each of the workspaces, even after a failure; the error lists all that failed.
pub(crate) fn in_each(run: impl FnMut(&[&str]) -> Result) -> Result {
    let results = WORKSPACES.into_iter().map(run);
    let failures: Vec<String> =
        results.filter_map(|result| result.err().map(|error| error.to_string())).collect();
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n").into()) }
}

/// Directory for tools that the machine lacks, relative to the repository's root.
pub(crate) const TOOLS: &str = "target/tools";

/// Shows a command line, runs it to its end with its output shown; an error unless it succeeds.
pub(crate) fn run(command: &mut Command) -> Result {
    announce(command);
    timing::record(command_line(command), || {
        let status = command.status().map_err(|error| cannot_start(command, &error))?;
        expect_success(command, status)
    })
}

/// Shows a command line as a person would type it.
pub(crate) fn announce(command: &Command) {
    println!("$ {}", command_line(command));
}

pub(crate) fn cannot_start(command: &Command, error: &std::io::Error) -> String {
    format!("cannot start `{}`: {error}", command.get_program().to_string_lossy())
}

pub(crate) fn expect_success(command: &Command, status: ExitStatus) -> Result {
    if status.success() { Ok(()) } else { Err(format!("`{}`: {status}", command_line(command)).into()) }
}

pub(crate) fn command_line(command: &Command) -> String {
    let variables = command.get_envs().filter(|(name, _)| *name != "PATH").filter_map(|(name, value)| {
        value.map(|value| format!("{}='{}'", name.to_string_lossy(), value.to_string_lossy()))
    });
    let typed = std::iter::once(command.get_program()).chain(command.get_args());
    variables.chain(typed.map(|word| word.to_string_lossy().into_owned())).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_do_not_see_the_package_of_this_program() {
        assert!(std::env::var_os("CARGO_PKG_NAME").is_some(), "cargo runs this test");
        let mut command = Workspace::locate().unwrap().command(&["env"]);
        let seen = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert!(seen.contains("PATH="), "{seen}");
        assert!(!seen.contains("CARGO_PKG_") && !seen.contains("CARGO_MANIFEST_"), "{seen}");
    }

    #[test]
    fn each_workspace_is_there_and_one_that_fails_stops_no_other() {
        let root = Workspace::locate().unwrap().root().to_owned();
        let mut seen = 0;
        let result = in_each(|which| {
            seen += 1;
            let manifest = which.last().unwrap_or(&"Cargo.toml");
            assert!(root.join(manifest).is_file(), "{manifest}");
            Err(format!("broken: {manifest}").into())
        });
        assert_eq!(seen, WORKSPACES.len());
        assert_eq!(result.unwrap_err().to_string(), "broken: Cargo.toml\nbroken: adapters/Cargo.toml");
    }
}
