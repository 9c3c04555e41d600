//! Files that wait to be sent, in a directory of the data directory.

use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use builtin_tools::messaging::MessageMedia;

/// The age up to which a file stays that nothing needs: the part that does may not be stored yet.
const UNSTORED: Duration = Duration::from_hours(1);
/// The most bytes of files that wait.
const MAX_FILE_BYTES: u64 = 1 << 30;

static TURN: Mutex<()> = Mutex::new(());
/// Numbers files that are not whole, within this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Keeps files until they are sent, by the digests of their bytes, beside those that are needed still. Blocks.
pub(super) fn keep(files: &Path, media: &[MessageMedia], needed: &HashSet<String>) -> Result<(), String> {
    if media.is_empty() {
        return Ok(());
    }
    // One after the other: what one makes young again, another does not remove.
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let of_io = |error: std::io::Error| error.to_string();
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(files).map_err(of_io)?;
    let mut there = 0_u64;
    for entry in fs::read_dir(files).map_err(of_io)? {
        let entry = entry.map_err(of_io)?;
        let about = entry.metadata().map_err(of_io)?;
        let age = about.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        let is_needed = entry.file_name().to_str().is_some_and(|name| needed.contains(name));
        if !is_needed && age.is_some_and(|age| age > UNSTORED) {
            let _ = fs::remove_file(entry.path());
        } else {
            there = there.saturating_add(about.len());
        }
    }
    for MessageMedia { bytes, sha256, .. } in media {
        there = there.saturating_add(bytes.len() as u64);
        if there > MAX_FILE_BYTES {
            return Err(format!("{MAX_FILE_BYTES} bytes of files wait to be sent already, the limit"));
        }
        let path = files.join(sha256);
        // One that is there is replaced, and is young again.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let unfinished = files.join(format!("{sha256}.{}.{number}", std::process::id()));
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&unfinished).map_err(of_io)?;
        file.write_all(bytes).map_err(of_io)?;
        file.sync_all().map_err(of_io)?;
        fs::rename(&unfinished, &path).map_err(of_io)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn media(name: &str) -> MessageMedia {
        MessageMedia {
            name: name.to_owned(),
            media_type: "text/plain".to_owned(),
            bytes: b"content".to_vec(),
            sha256: name.to_owned(),
        }
    }

    #[test]
    fn a_file_stays_as_long_as_a_part_that_waits_needs_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let files = directory.path().join("outbox");
        keep(&files, &[media("left"), media("waits"), media("young")], &HashSet::new()).expect("kept");
        for old in ["left", "waits"] {
            let file = fs::File::options().append(true).open(files.join(old)).expect("a file");
            file.set_modified(SystemTime::now() - UNSTORED * 2).expect("a time");
        }
        keep(&files, &[media("new")], &HashSet::from(["waits".to_owned()])).expect("kept");
        let mut there: Vec<_> = fs::read_dir(&files)
            .expect("the directory")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
            .collect();
        there.sort_unstable();
        assert_eq!(there, ["new", "waits", "young"]);
    }
}
