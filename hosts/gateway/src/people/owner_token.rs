//! The owner's token in its file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::{OWNER, OWNER_TOKEN_FILE, PeopleError, digest, directory};
use crate::store::Store;

/// The most bytes of the file.
const MAX_BYTES: u64 = 4 << 10;

pub(super) fn file(store: &Store) -> PathBuf {
    directory(store).join(OWNER_TOKEN_FILE)
}

/// Checks the file against the store, or makes a token and the file.
pub(super) async fn prepare(store: &Store) -> Result<(), PeopleError> {
    let file = file(store);
    let failed = |action| {
        let file = file.clone();
        move |reason| PeopleError::TokenFile { action, file, reason }
    };
    if let Some(text) = off_runtime(&file, read).await.map_err(failed("read"))? {
        let found = store.token_of_digest(digest(&text)).await?;
        return match found {
            Some((token, person)) if token.name == OWNER && person.name == OWNER => Ok(()),
            _ => Err(PeopleError::Replaced { file }),
        };
    }
    let token = toolkit_serve::new_token().map_err(PeopleError::Random)?;
    // Stored before the file is there: where a crash comes between, the file is missing, and the next start makes another token.
    store.replace_token(OWNER.to_owned(), OWNER.to_owned(), digest(&token)).await?;
    off_runtime(&file, move |file| write(file, &token)).await.map_err(failed("write"))
}

async fn off_runtime<T: Send + 'static>(
    file: &Path,
    act: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let file = file.to_owned();
    tokio::task::spawn_blocking(move || act(&file)).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

/// Reads the token; `None` without a file.
fn read(path: &Path) -> io::Result<Option<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    close_to_others(path, &file)?;
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text)?;
    Ok(Some(text.trim().to_owned()))
}

/// Takes the access of others away, if there is any.
#[cfg(unix)]
fn close_to_others(path: &Path, file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut permissions = file.metadata()?.permissions();
    if permissions.mode() & 0o077 != 0 {
        tracing::warn!(
            file = %path.display(),
            "others could read the owner's token; they cannot any more. If one of them may have read it, stop the gateway and delete the file"
        );
        permissions.set_mode(0o600);
        file.set_permissions(permissions)?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn close_to_others(_path: &Path, _file: &File) -> io::Result<()> {
    Ok(())
}

/// Writes the file, which is there whole or not at all.
fn write(path: &Path, token: &str) -> io::Result<()> {
    let beside = path.with_extension("new");
    // One that a process left that was killed.
    if let Err(error) = fs::remove_file(&beside)
        && error.kind() != ErrorKind::NotFound
    {
        return Err(error);
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&beside)?;
    writeln!(file, "{token}")?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    #[cfg(unix)]
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()?;
    Ok(())
}
