//! The token that clients need over HTTP: made once, and kept where its owner alone can read it.

use crate::exit::Stop;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

const FILE: &str = "mcp-token";
/// The least length of one that a person wrote.
const LEAST: usize = 16;

/// A token and where it is kept.
pub(super) struct Token {
    pub(super) text: String,
    pub(super) path: PathBuf,
    pub(super) is_new: bool,
}

/// The token in the data directory, made there where none is yet.
pub(super) fn of(data_dir: Option<&Path>) -> Result<Token, Stop> {
    let directory = data_dir.ok_or_else(|| {
        Stop::cannot_start(
            "there is no directory for data to keep the token of clients in; set TOOLKIT_DATA_DIR".to_owned(),
        )
    })?;
    let path = directory.join(FILE);
    let unusable = |error: io::Error| {
        Stop::cannot_start(format!("the token of clients cannot be kept in {}: {error}", path.display()))
    };
    match make(directory, &path) {
        Ok(text) => return Ok(Token { text, path, is_new: true }),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(unusable(error)),
    }
    let mut text = String::new();
    let file = fs::File::open(&path).map_err(unusable)?;
    if is_open_to_others(&file).map_err(unusable)? {
        return Err(Stop::cannot_start(format!(
            "others can read the token of clients in {}; take it away from them with `chmod 600`, or remove the file for a new one",
            path.display()
        )));
    }
    file.take(4096).read_to_string(&mut text).map_err(unusable)?;
    let text = text.trim().to_owned();
    if text.len() < LEAST || text.contains(char::is_whitespace) {
        return Err(Stop::cannot_start(format!(
            "{} does not hold a token of at least {LEAST} characters; remove it for a new one",
            path.display()
        )));
    }
    Ok(Token { text, path, is_new: false })
}

fn make(directory: &Path, path: &Path) -> io::Result<String> {
    fs::create_dir_all(directory)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    let text = toolkit_mcp::new_token()?;
    file.write_all(text.as_bytes()).and_then(|()| file.write_all(b"\n")).inspect_err(|_| {
        // Half of one would be in the way.
        let _ = fs::remove_file(path);
    })?;
    Ok(text)
}

#[cfg(unix)]
fn is_open_to_others(file: &fs::File) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(file.metadata()?.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_file: &fs::File) -> io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_made_once_and_for_its_owner_alone() {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        let Ok(made) = of(Some(&data)) else { panic!("no token") };
        assert!(made.is_new && made.text.len() >= 32, "{}", made.text);
        let Ok(kept) = of(Some(&data)) else { panic!("no token") };
        assert!(!kept.is_new && kept.text == made.text);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&made.path).unwrap().permissions().mode() & 0o777, 0o600);
            fs::set_permissions(&made.path, fs::Permissions::from_mode(0o640)).unwrap();
            assert!(of(Some(&data)).is_err(), "others can read it");
            fs::set_permissions(&made.path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        for bad in ["", "short\n", "one with blanks in it, and long enough"] {
            fs::write(&made.path, bad).unwrap();
            assert!(of(Some(&data)).is_err(), "{bad:?}");
        }
        assert!(of(None).is_err());
    }
}
