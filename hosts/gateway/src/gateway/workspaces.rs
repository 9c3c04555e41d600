//! The workspaces of agents.

use std::fmt::Write as _;
use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};

use toolkit::config::Configuration;

/// Ends the name of the directory of workspaces, beside the data directory.
const SUFFIX: &str = "-workspaces";
/// The directory of the workspaces of people other than the owner, in that of the agent.
const PEOPLE: &str = "people";

/// Returns the directory of the agents' workspaces that are not configured. It is beside the data directory, which is hidden from the commands of
/// agents as a whole.
pub(crate) fn directory(data_dir: &Path) -> PathBuf {
    let mut name = data_dir.file_name().unwrap_or("toolkit".as_ref()).to_owned();
    name.push(SUFFIX);
    data_dir.with_file_name(name)
}

/// Returns the workspace of an agent, and makes it if it is one that is not configured. People other than the owner have a directory of their own
/// in it. Blocks.
///
/// # Errors
///
/// The directory cannot be made, or the configured one is in the data directory.
pub(super) fn of(
    configuration: &Configuration,
    data_dir: &Path,
    agent: &str,
    person: Option<&str>,
) -> Result<PathBuf, String> {
    let configured = configuration.agent(agent).workspace;
    if let Some(workspace) = &configured {
        check_outside(workspace, data_dir).map_err(|reason| {
            format!(
                "the workspace of the agent `{}` {reason}; configure another with `agents.{}.workspace`",
                agent.escape_debug(),
                agent.escape_debug()
            )
        })?;
    }
    let is_configured = configured.is_some();
    let mut path = configured.unwrap_or_else(|| directory(data_dir).join(plain(agent)));
    if let Some(person) = person {
        path = path.join(PEOPLE).join(plain(person));
    }
    if !is_configured || person.is_some() {
        make(&path).map_err(|error| {
            format!(
                "the workspace {} of the agent `{}` cannot be made: {error}; configure another with `agents.{}.workspace`",
                path.display(),
                agent.escape_debug(),
                agent.escape_debug()
            )
        })?;
    }
    Ok(path)
}

/// Refuses a workspace in the data directory: no sandbox hides a directory from the commands that work in it.
fn check_outside(workspace: &Path, data_dir: &Path) -> Result<(), String> {
    // A directory that is not there yet counts where it would be made.
    let real = |path: &Path| {
        let mut above = path
            .ancestors()
            .filter_map(|above| Some(above.canonicalize().ok()?.join(path.strip_prefix(above).ok()?)));
        above.next().unwrap_or_else(|| path.to_owned())
    };
    if !real(workspace).starts_with(real(data_dir)) {
        return Ok(());
    }
    Err(format!(
        "is {}, in the data directory {}, which holds tokens and the conversations of all people",
        workspace.display(),
        data_dir.display()
    ))
}

fn make(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Returns a name as one plain name of a directory, no two of which are the same: other characters than letters, digits, `-` and `_` become `%` and
/// two hexadecimal digits a byte.
fn plain(name: &str) -> String {
    let mut plain = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_') {
            plain.push(char::from(byte));
        } else {
            // Capital letters too: some file systems do not tell them apart.
            let _ = write!(plain, "%{byte:02x}");
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_a_directory_of_its_own() {
        let names = ["main", "Main", "..", ".", "a/b", "a%2fb", "é", ""];
        let plain: Vec<String> = names.iter().map(|name| plain(name)).collect();
        assert_eq!(plain, ["main", "%4dain", "%2e%2e", "%2e", "a%2fb", "a%252fb", "%c3%a9", ""]);
    }

    #[test]
    fn a_workspace_in_the_data_directory_is_refused_by_whatever_path() {
        let directory = tempfile::tempdir().expect("a directory");
        let data_dir = directory.path().join("data");
        std::fs::create_dir_all(data_dir.join("in")).expect("directories");
        std::fs::create_dir(directory.path().join("data-workspaces")).expect("a directory");
        #[cfg(unix)]
        std::os::unix::fs::symlink(data_dir.join("in"), directory.path().join("link")).expect("a link");
        let is_refused = |path: &str| check_outside(&directory.path().join(path), &data_dir).is_err();
        let paths = ["data", "data/in", "data/in/none", "data-workspaces", "other", "link", "link/none"];
        assert_eq!(paths.map(is_refused), [true, true, true, false, false, true, true]);
    }

    #[test]
    fn workspaces_are_beside_the_data_directory() {
        assert_eq!(
            directory(Path::new("/home/ada/.local/share/toolkit")),
            Path::new("/home/ada/.local/share/toolkit-workspaces")
        );
    }
}
