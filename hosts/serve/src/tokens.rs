//! Tokens of clients in a file, with their principals.

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// Maximum number of bytes of the file, about 5,000 clients.
const MAX_BYTES: u64 = 1 << 20;
/// Maximum number of bytes of a name.
const MAX_NAME: usize = 64;

/// Tokens of clients, stored in a file as digests. A token belongs to a principal: a person or program, which may have several tokens. No
/// other principal can access its sessions, background jobs and approvals.
///
/// A token that is added while a server runs counts from the next request on. A token that is removed is refused from the next request on;
/// about a second later its connections and sessions end, and with the last token of a principal its background jobs.
#[derive(Debug)]
pub struct ClientTokens {
    path: PathBuf,
    read: Mutex<Option<Snapshot>>,
}

/// The content of the file as it was read.
#[derive(Debug)]
struct Snapshot {
    modified: Option<SystemTime>,
    bytes: u64,
    /// The file, which each change replaces.
    number: u64,
    tokens: Tokens,
}

/// The tokens, by their names.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(transparent)]
struct Tokens(BTreeMap<String, Stored>);

/// A token: its SHA-256 in hexadecimal, and its principal.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Stored {
    /// A token whose principal has its name.
    Digest(String),
    OfPrincipal {
        digest: String,
        principal: String,
    },
}

impl Stored {
    fn digest(&self) -> &str {
        match self {
            Self::Digest(digest) | Self::OfPrincipal { digest, .. } => digest,
        }
    }

    fn principal<'a>(&'a self, name: &'a str) -> &'a str {
        match self {
            Self::Digest(_) => name,
            Self::OfPrincipal { principal, .. } => principal,
        }
    }
}

/// A known token.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Known {
    /// The SHA-256 of the token, in hexadecimal.
    pub(crate) digest: String,
    /// The name of the principal.
    pub(crate) principal: String,
}

impl ClientTokens {
    /// Opens the tokens in a file, which need not exist yet.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), read: Mutex::default() }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates a token for a principal of the same name, and returns it. It is not stored in plain text, so it cannot be shown again.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the name is empty, longer than 64 bytes, or has characters other than letters, digits, `-`, `_` and `.`;
    /// `AlreadyExists` if there is a token of this name; otherwise an error of reading or writing the file.
    pub fn add(&self, name: &str) -> io::Result<String> {
        self.add_for(name, name)
    }

    /// Creates a token for a principal, which may have other tokens, and returns it, as [`add`](Self::add) does.
    ///
    /// # Errors
    ///
    /// As those of [`add`](Self::add), also for the name of the principal.
    pub fn add_for(&self, name: &str, principal: &str) -> io::Result<String> {
        let is_of_name = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
        for name in [name, principal] {
            if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(is_of_name) {
                let message = format!("a name has 1 to {MAX_NAME} letters, digits, `-`, `_` or `.`");
                return Err(io::Error::new(ErrorKind::InvalidInput, message));
            }
        }
        let token = new_token()?;
        self.change(|tokens| {
            if tokens.0.contains_key(name) {
                let message = format!("`{name}` has a token; remove it first for a new one");
                return Err(io::Error::new(ErrorKind::AlreadyExists, message));
            }
            let digest = digest(&token);
            let stored = if name == principal {
                Stored::Digest(digest)
            } else {
                Stored::OfPrincipal { digest, principal: principal.to_owned() }
            };
            tokens.0.insert(name.to_owned(), stored);
            Ok(())
        })?;
        Ok(token)
    }

    /// Removes a client's token. Returns false if the client has none.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or written.
    pub fn remove(&self, name: &str) -> io::Result<bool> {
        let mut found = false;
        self.change(|tokens| {
            found = tokens.0.remove(name).is_some();
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns the names of all tokens, in order.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.load()?.tokens.0.into_keys().collect())
    }

    /// Returns the names of all tokens and of their principals, in the order of the tokens' names.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn principals(&self) -> io::Result<Vec<(String, String)>> {
        let tokens = self.load()?.tokens.0.into_iter();
        Ok(tokens.map(|(name, stored)| (name.clone(), stored.principal(&name).to_owned())).collect())
    }

    /// Returns all tokens.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub(crate) fn known(&self) -> io::Result<Vec<Known>> {
        let tokens = self.load()?.tokens.0.into_iter();
        let known = |(name, stored): (String, Stored)| Known {
            digest: stored.digest().to_owned(),
            principal: stored.principal(&name).to_owned(),
        };
        Ok(tokens.map(known).collect())
    }

    /// Returns what is known about a token. A file that cannot be read contains none.
    pub(crate) fn find(&self, token: &str) -> Option<Known> {
        let now = fs::metadata(&self.path).ok()?;
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current = read.as_ref().is_some_and(|snapshot| {
            snapshot.number == number(&now)
                && snapshot.modified == now.modified().ok()
                && snapshot.bytes == now.len()
        });
        if !is_current {
            *read = self
                .load()
                .inspect_err(|error| tracing::warn!(%error, "the tokens of clients cannot be read"))
                .ok();
        }
        // Digests are compared, so that the time it takes discloses nothing about the tokens.
        let digest = digest(token);
        let tokens = &read.as_ref()?.tokens;
        let (name, stored) = tokens.0.iter().find(|(_, other)| other.digest() == digest)?;
        Some(Known { principal: stored.principal(name).to_owned(), digest })
    }

    fn load(&self) -> io::Result<Snapshot> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Snapshot { modified: None, bytes: 0, number: 0, tokens: Tokens::default() });
            }
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        let mut text = String::new();
        file.take(MAX_BYTES).read_to_string(&mut text)?;
        let tokens = serde_json::from_str(&text).map_err(|error| {
            let message = format!("{} is not a list of tokens: {error}", self.path.display());
            io::Error::new(ErrorKind::InvalidData, message)
        })?;
        let (modified, bytes, number) = (metadata.modified().ok(), metadata.len(), number(&metadata));
        Ok(Snapshot { modified, bytes, number, tokens })
    }

    /// Changes the file as a whole. Two processes that change it at the same moment do so one after the other.
    fn change(&self, change: impl FnOnce(&mut Tokens) -> io::Result<()>) -> io::Result<()> {
        let directory = self.path.parent().filter(|directory| !directory.as_os_str().is_empty());
        let directory = directory.unwrap_or(Path::new("."));
        fs::create_dir_all(directory)?;
        let lock = File::create(self.path.with_extension("lock"))?;
        lock.lock()?;
        let mut tokens = self.load()?.tokens;
        change(&mut tokens)?;
        // Only the holder of the lock writes the temporary file, so an existing one is left over from a process that was killed.
        let beside = self.path.with_extension("new");
        if let Err(error) = fs::remove_file(&beside)
            && error.kind() != ErrorKind::NotFound
        {
            return Err(error);
        }
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&beside)?;
        let text = serde_json::to_string_pretty(&tokens)?;
        if text.len() as u64 > MAX_BYTES {
            let message = format!("the list of tokens may have {MAX_BYTES} bytes; remove some tokens first");
            return Err(io::Error::new(ErrorKind::FileTooLarge, message));
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, &self.path)
    }
}

/// A new token, of 256 random bits.
///
/// # Errors
///
/// When the system has no randomness.
pub fn new_token() -> io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(BASE64URL_NOPAD.encode(&bytes))
}

/// The number of a file in its file system, where there is one.
fn number(metadata: &fs::Metadata) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::ino(metadata);
    #[cfg(not(unix))]
    {
        let _ = metadata;
        0
    }
}

pub(crate) fn digest(token: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_its_own_token_and_the_file_none() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let tokens = ClientTokens::at(directory.path().join("data/clients.json"));
        let client = |tokens: &ClientTokens, token: &str| Some(tokens.find(token)?.principal);
        assert_eq!(client(&tokens, "x"), None);
        let (ada, bob) = (tokens.add("ada").expect("added"), tokens.add("bob").expect("added"));
        // Another object for the same file, as the command is for a server that runs.
        let server = ClientTokens::at(tokens.path());
        assert_eq!(
            (client(&server, &ada).as_deref(), client(&server, &bob).as_deref()),
            (Some("ada"), Some("bob"))
        );
        assert_eq!(tokens.add("ada").expect_err("there is one").kind(), ErrorKind::AlreadyExists);
        let text = fs::read_to_string(tokens.path()).expect("it is there");
        assert!(!text.contains(&ada) && !text.contains(&bob), "{text}");
        assert_eq!(tokens.names().expect("readable"), ["ada", "bob"]);
        let phone = tokens.add_for("phone", "ada").expect("added");
        assert_eq!(client(&server, &phone).as_deref(), Some("ada"));
        let principals = tokens.principals().expect("readable");
        let expected = [("ada", "ada"), ("bob", "bob"), ("phone", "ada")];
        assert_eq!(principals, expected.map(|(name, principal)| (name.to_owned(), principal.to_owned())));
        assert!(tokens.remove("ada").expect("removed"));
        assert!(!tokens.remove("ada").expect("nothing to remove"));
        assert_eq!((client(&server, &ada), client(&server, &bob).as_deref()), (None, Some("bob")));
        for name in ["", "a b", "a/b", "grüße", &"x".repeat(65)] {
            assert_eq!(tokens.add(name).expect_err("no name").kind(), ErrorKind::InvalidInput, "{name:?}");
            let refused = tokens.add_for("new", name).expect_err("no name");
            assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{name:?}");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(tokens.path()).expect("it is there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn a_broken_file_knows_nobody_and_is_not_overwritten() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let tokens = ClientTokens::at(directory.path().join("clients.json"));
        fs::write(tokens.path(), "[").expect("written");
        assert_eq!(tokens.find("x"), None);
        assert_eq!(tokens.add("ada").expect_err("broken").kind(), ErrorKind::InvalidData);
        assert_eq!(fs::read_to_string(tokens.path()).expect("it is there"), "[");
    }
}
