//! Files without a given name: they stay in the data directory for some days, so that hosts can send them.

use crate::config::MediaSettings;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use toolkit::config::DataDir;
use toolkit::prelude::*;

/// The section of the configuration.
const SECTION: &str = "tools.media";
/// Maximum number of names that are tried.
const TRIES: u32 = 100;

/// A file in the data directory.
pub(super) struct KeptFile {
    pub(super) path: PathBuf,
    /// Number of days after which it is removed.
    days: u64,
}

impl KeptFile {
    /// The note for a file that could not be written to its own place.
    pub(super) fn note(&self, error: &ToolError) -> String {
        let days = if self.days == 1 { "1 day".to_owned() } else { format!("{} days", self.days) };
        format!("it could not be written to its place, and is kept for {days}: {}", error.message())
    }
}

/// Writes a file with a name of its own, readable by its owner alone. Files that are too old are removed first, then the oldest until all
/// have room together.
///
/// # Errors
///
/// When there is no data directory, or it cannot be written.
pub(super) async fn keep(
    ctx: &ToolContext,
    extension: &'static str,
    data: Vec<u8>,
) -> Result<KeptFile, ToolError> {
    let context = ctx.clone();
    ctx.blocking(move |_| write(&context, extension, &data)).await
}

fn write(ctx: &ToolContext, extension: &str, data: &[u8]) -> Result<KeptFile, ToolError> {
    let settings: MediaSettings = ctx.config_section(SECTION)?;
    let days = settings.keep_days;
    let place = ctx.require_service::<DataDir>()?;
    let directory = place.directory("media")?;
    let room = settings.max_total_bytes.saturating_sub(data.len() as u64);
    sweep(&directory, Duration::from_hours(days * 24), room);
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
                return Ok(KeptFile { path, days });
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(cannot(error)),
        }
    }
    Err(ToolError::failed(
        "the file cannot be kept: all names are taken; give `save_as` to write it elsewhere",
    ))
}

/// Removes files that are older than `age`, and the oldest of the others until they have at most `most` bytes together. A file that cannot
/// be looked at stays.
fn sweep(directory: &Path, age: Duration, most: u64) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let files = entries.flatten().filter_map(|entry| {
        let file = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        Some((file.modified().ok()?, file.len(), entry.path()))
    });
    let mut files: Vec<_> = files.collect();
    files.sort();
    let mut total: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
    for (modified, bytes, path) in files {
        let is_old = modified.elapsed().is_ok_and(|past| past > age);
        if (is_old || total > most) && fs::remove_file(path).is_ok() {
            total = total.saturating_sub(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of files with an age in hours and a size are there after a sweep with a week and a limit.
    fn left(files: &[(&str, u64, u64)], most: u64) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        for (name, hours, bytes) in files {
            let file = fs::File::create(root.path().join(name)).unwrap();
            file.set_len(*bytes).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_hours(*hours)).unwrap();
        }
        fs::create_dir(root.path().join("directory")).unwrap();
        sweep(root.path(), Duration::from_hours(7 * 24), most);
        let names = fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn old_files_go_and_others_stay() {
        assert_eq!(left(&[("old", 169, 1), ("new", 1, 1)], 100), ["directory", "new"]);
    }

    #[test]
    fn the_oldest_go_until_all_have_room() {
        let files = [("a", 5, 40), ("b", 4, 40), ("c", 3, 40), ("d", 2, 40)];
        assert_eq!(left(&files, 160), ["a", "b", "c", "d", "directory"]);
        assert_eq!(left(&files, 159), ["b", "c", "d", "directory"]);
        assert_eq!(left(&files, 80), ["c", "d", "directory"]);
        assert_eq!(left(&files, 0), ["directory"]);
        // One that is too old does not take the room of others.
        assert_eq!(left(&[("old", 200, 100), ("b", 4, 40)], 50), ["b", "directory"]);
    }
}
