//! Lookup of the file that a program's name resolves to.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// The directories in which programs are searched for, in order. Results are cached until one of the directories changes, so
/// one value can serve for many commands.
#[derive(Debug, Default)]
pub struct Programs {
    directories: Vec<PathBuf>,
    found: Mutex<Found>,
}

#[derive(Debug, Default)]
struct Found {
    stamps: Vec<Option<SystemTime>>,
    by_name: HashMap<String, Option<Program>>,
}

/// A program that is installed.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    /// The path by which the shell executes it.
    pub(crate) path: PathBuf,
    /// The file that it really is.
    pub(crate) real: PathBuf,
}

/// The meaning of a name.
#[derive(Debug, Clone)]
pub(crate) enum Lookup {
    Found(Program),
    NotThere,
    /// A relative directory precedes the one with the program.
    Depends,
}

/// Maximum number of cached names; a command can contain any number.
const MAX_NAMES: usize = 4096;

impl Programs {
    /// Creates the programs of these directories.
    pub fn new(directories: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { directories: directories.into_iter().collect(), found: Mutex::default() }
    }

    /// Creates the programs of a `PATH`: directories separated by `:`. An empty entry means the current directory, as it does
    /// in `PATH`.
    pub fn of_path(path: &str) -> Self {
        Self::new(
            path.split(':')
                .map(|directory| PathBuf::from(if directory.is_empty() { "." } else { directory })),
        )
    }

    /// The directories.
    pub fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    /// Finds the program for a name, independent of the directory.
    pub(crate) fn find(&self, name: &str) -> Lookup {
        // After a relative directory, the program depends on the working directory when the command runs.
        let fixed = self.directories.iter().take_while(|directory| is_fixed(directory)).count();
        let (fixed, others) = self.directories.split_at(fixed);
        match self.find_in(fixed, name) {
            Some(program) => Lookup::Found(program),
            None if others.is_empty() => Lookup::NotThere,
            None => Lookup::Depends,
        }
    }

    fn find_in(&self, directories: &[PathBuf], name: &str) -> Option<Program> {
        let stamps: Vec<_> = directories
            .iter()
            .map(|directory| fs::metadata(directory).and_then(|metadata| metadata.modified()).ok())
            .collect();
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        // No test covers the limit: it only affects time and memory, the result is the same.
        if found.stamps != stamps || found.by_name.len() > MAX_NAMES {
            *found = Found { stamps, by_name: HashMap::new() };
        }
        if let Some(program) = found.by_name.get(name) {
            return program.clone();
        }
        let program = directories.iter().find_map(|directory| {
            let path = directory.join(name);
            is_program(&path)
                .then(|| Program { real: path.canonicalize().unwrap_or_else(|_| path.clone()), path })
        });
        found.by_name.insert(name.to_owned(), program.clone());
        program
    }
}

/// Returns true for a directory that is the same one for every process, wherever that runs.
fn is_fixed(directory: &Path) -> bool {
    let is_of_process = |path: &Path| path.starts_with("/proc") || path.starts_with("/dev/fd");
    directory.is_absolute()
        && !is_of_process(directory)
        // A link to one leads to that of this process here.
        && !directory.read_link().is_ok_and(|target| is_of_process(&target))
}

fn is_program(path: &Path) -> bool {
    let Ok(metadata) = fs::metadata(path) else { return false };
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = true;
    metadata.is_file() && may_run
}
