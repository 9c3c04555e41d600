//! Helpers of the end-to-end tests: programs that are built and run as a user of the crates would.

pub mod discovery;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The root of this repository.
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// A cargo command that keeps to the lock file and what is already downloaded.
pub fn cargo(directory: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(directory).env_remove("RUSTFLAGS").env_remove("CARGO_TARGET_DIR");
    forget_package(&mut command);
    command
}

/// Hides the variables in which cargo describes the package under test.
///
/// The build scripts of some crates are run again when such a variable changes, and then all that depends on these crates is
/// compiled again.
pub fn forget_package(command: &mut Command) -> &mut Command {
    for (name, _) in std::env::vars_os() {
        let of_package = name.to_str().is_some_and(|name| {
            ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.starts_with(prefix))
        });
        if of_package {
            command.env_remove(name);
        }
    }
    command
}

/// A program's output and exit status, for assertions and their messages.
#[derive(Debug)]
pub struct Ran {
    /// Its exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// Runs a command to its end.
///
/// # Panics
///
/// When it cannot be started.
pub fn run(command: &mut Command) -> Ran {
    let Output { status, stdout, stderr } = match command.output() {
        Ok(output) => output,
        Err(error) => panic!("{command:?}: {error}"),
    };
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ran { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
}

impl Ran {
    /// Its standard output, if it succeeded.
    ///
    /// # Panics
    ///
    /// When it failed.
    pub fn success(self) -> String {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self.stdout
    }
}

/// The Rust code of the README and of the guides, compiled as doc tests.
#[cfg(doctest)]
mod pages {
    macro_rules! pages {
        ($($name:ident: $path:literal,)*) => {
            $(#[doc = include_str!($path)]
            pub struct $name;)*
        };
    }

    pages! {
        Agent: "../../docs/agent.md",
        Readme: "../../README.md",
        ComingFrom: "../../docs/coming-from.md",
        GettingStarted: "../../docs/getting-started.md",
        Hosting: "../../docs/hosting.md",
        Console: "../../docs/console.md",
        Http: "../../docs/http.md",
        Mcp: "../../docs/mcp.md",
        Permissions: "../../docs/permissions.md",
        Plugins: "../../docs/plugins.md",
        WritingTools: "../../docs/writing-tools.md",
    }
}
