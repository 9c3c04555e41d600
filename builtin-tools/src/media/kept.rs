//! Files without a given name: they stay in the data directory for a week, so that hosts can send them.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use toolkit::config::DataDir;
use toolkit::prelude::*;

/// Time after which a file is removed.
const KEPT_FOR: Duration = Duration::from_hours(7 * 24);
/// Maximum number of names that are tried.
const TRIES: u32 = 100;

/// Writes a file with a name of its own, readable by its owner alone, and removes those that are too old. Blocks.
///
/// # Errors
///
/// When there is no data directory, or it cannot be written.
pub(super) fn keep(ctx: &ToolContext, extension: &str, data: &[u8]) -> Result<PathBuf, ToolError> {
    let place = ctx.require_service::<DataDir>()?;
    let directory = place.directory("media")?;
    sweep(&directory);
    let cannot = |error: std::io::Error| {
        ToolError::failed(format!(
            "the file cannot be kept in {}: {error}; give `save_as` to write it elsewhere",
            directory.display()
        ))
    };
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    for number in 0..TRIES {
        let path = directory.join(format!("{millis}-{}-{number}.{extension}", std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&path) {
            Ok(mut file) => {
                if let Err(error) = file.write_all(data) {
                    let _ = fs::remove_file(&path);
                    return Err(cannot(error));
                }
                return Ok(path);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(cannot(error)),
        }
    }
    Err(ToolError::failed(
        "the file cannot be kept: all names are taken; give `save_as` to write it elsewhere",
    ))
}

/// Removes files that are too old. What cannot be looked at stays.
fn sweep(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let age = entry.metadata().ok().filter(fs::Metadata::is_file).and_then(|file| file.modified().ok());
        let is_old = age.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > KEPT_FOR);
        if is_old {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_files_go_and_others_stay() {
        let root = tempfile::tempdir().unwrap();
        for (name, age) in [("old", KEPT_FOR + Duration::from_hours(1)), ("new", Duration::from_hours(1))] {
            let file = fs::File::create(root.path().join(name)).unwrap();
            file.set_modified(SystemTime::now() - age).unwrap();
        }
        fs::create_dir(root.path().join("directory")).unwrap();
        sweep(root.path());
        let there = |name: &str| root.path().join(name).exists();
        assert_eq!((there("old"), there("new"), there("directory")), (false, true, true));
    }
}
