//! Ed25519 keys: that of a gateway or node in its file, and those of others.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use serde::{Deserialize, Serialize};

/// The most bytes of the file of a key.
const MAX_FILE_BYTES: u64 = 4 << 10;
/// The bytes of a public key.
const KEY_BYTES: usize = 32;
/// The bytes of a nonce.
const NONCE_BYTES: usize = 32;
/// The bytes of the digest that a fingerprint shows.
const FINGERPRINT_BYTES: usize = 16;

/// An error of a key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The file of the key cannot be used.
    #[error("cannot {action} {}, the file of the key: {reason}", file.display())]
    File {
        /// The action.
        action: &'static str,
        /// The file.
        file: PathBuf,
        /// The reason.
        reason: io::Error,
    },
    /// The file does not hold a key.
    #[error(
        "{} does not hold a key that was made for it: restore it from a copy, or delete it and pair again; the next start makes a new key",
        file.display()
    )]
    Damaged {
        /// The file.
        file: PathBuf,
    },
    /// The system has no random numbers.
    #[error("the system has no random numbers, so no key can be made")]
    Random,
    /// A text is no public key.
    #[error("this is no public key: it has 64 hexadecimal digits")]
    NotAKey,
}

/// The key pair of a gateway or a node. Its private part is in its file alone.
pub struct Identity {
    pair: Ed25519KeyPair,
    public: PublicKey,
}

impl Identity {
    /// Reads the key of a file, or makes one with its file, which only the owner of the process can read. Blocks.
    ///
    /// # Errors
    ///
    /// The file cannot be read or written or holds no key, or the system has no random numbers.
    pub fn open(file: &Path) -> Result<Self, KeyError> {
        let failed = |action| move |reason| KeyError::File { action, file: file.to_owned(), reason };
        if let Some(bytes) = read(file).map_err(failed("read"))? {
            return Self::of_pkcs8(&bytes).ok_or_else(|| KeyError::Damaged { file: file.to_owned() });
        }
        let made = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| KeyError::Random)?;
        write_private(file, made.as_ref()).map_err(failed("write"))?;
        Self::of_pkcs8(made.as_ref()).ok_or(KeyError::Random)
    }

    /// Makes a key that is in no file.
    ///
    /// # Errors
    ///
    /// The system has no random numbers.
    pub fn unstored() -> Result<Self, KeyError> {
        let made = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| KeyError::Random)?;
        Self::of_pkcs8(made.as_ref()).ok_or(KeyError::Random)
    }

    fn of_pkcs8(bytes: &[u8]) -> Option<Self> {
        let pair = Ed25519KeyPair::from_pkcs8(bytes).ok()?;
        let public = PublicKey(pair.public_key().as_ref().try_into().ok()?);
        Some(Self { pair, public })
    }

    /// The public part.
    pub fn public_key(&self) -> PublicKey {
        self.public
    }

    /// Signs a message. Returns the signature in hexadecimal.
    pub(crate) fn sign(&self, message: &[u8]) -> String {
        HEXLOWER.encode(self.pair.sign(message).as_ref())
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("public", &self.public).finish_non_exhaustive()
    }
}

/// A public key. Its text has 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKey([u8; KEY_BYTES]);

impl PublicKey {
    /// The fingerprint that people compare: 128 bits of the SHA-256 of the key, in groups of four hexadecimal digits.
    pub fn fingerprint(&self) -> String {
        let digest = digest(&SHA256, &self.0);
        let groups: Vec<_> =
            digest.as_ref()[..FINGERPRINT_BYTES].chunks(2).map(|group| HEXLOWER.encode(group)).collect();
        groups.join("-")
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns true if a signature in hexadecimal is that of this key for a message.
    pub(crate) fn has_signed(&self, message: &[u8], signature: &str) -> bool {
        let Ok(signature) = HEXLOWER_PERMISSIVE.decode(signature.as_bytes()) else { return false };
        UnparsedPublicKey::new(&ED25519, &self.0).verify(message, &signature).is_ok()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

impl FromStr for PublicKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        bytes_of(text).map(Self).ok_or(KeyError::NotAKey)
    }
}

impl Serialize for PublicKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Random bytes that one end of a connection makes for it alone. Their text has 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nonce([u8; NONCE_BYTES]);

impl Nonce {
    /// Makes one.
    ///
    /// # Errors
    ///
    /// The system has no random numbers.
    pub fn random() -> Result<Self, KeyError> {
        let mut bytes = [0; NONCE_BYTES];
        SystemRandom::new().fill(&mut bytes).map_err(|_| KeyError::Random)?;
        Ok(Self(bytes))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Serialize for Nonce {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&HEXLOWER.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Nonce {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = bytes_of(&text).map(Self);
        bytes.ok_or_else(|| serde::de::Error::custom("a nonce has 64 hexadecimal digits"))
    }
}

/// The public key of X25519 of one end, for one connection. Its text has 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExchangeKey([u8; KEY_BYTES]);

impl ExchangeKey {
    pub(crate) fn of_bytes(bytes: [u8; KEY_BYTES]) -> Self {
        Self(bytes)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Serialize for ExchangeKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&HEXLOWER.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for ExchangeKey {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = bytes_of(&text).map(Self);
        bytes.ok_or_else(|| serde::de::Error::custom("an exchange key has 64 hexadecimal digits"))
    }
}

fn bytes_of<const N: usize>(text: &str) -> Option<[u8; N]> {
    HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()?.try_into().ok()
}

/// Reads a file; `None` if it is missing.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    check_private(&file)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Refuses a file that others may read.
#[cfg(unix)]
fn check_private(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let of_others = file.metadata()?.permissions().mode() & 0o077;
    if of_others == 0 {
        return Ok(());
    }
    let text = "others may read it: if one of them may have, delete it and pair again; otherwise, `chmod 600` closes it";
    Err(io::Error::new(ErrorKind::PermissionDenied, text))
}

#[cfg(not(unix))]
fn check_private(_file: &File) -> io::Result<()> {
    Ok(())
}

/// Writes a file for its owner alone, which is there whole or not at all.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
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
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    #[cfg(unix)]
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()?;
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_key_stays_the_same_and_its_file_is_for_its_owner_alone() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("node.key");
        let made = Identity::open(&file).unwrap().public_key();
        assert_eq!(Identity::open(&file).unwrap().public_key(), made);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
            fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
            assert!(Identity::open(&file).unwrap_err().to_string().contains("chmod 600"));
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        }
        fs::write(&file, "no key").unwrap();
        assert!(matches!(Identity::open(&file), Err(KeyError::Damaged { .. })));
    }

    #[test]
    fn a_public_key_is_read_as_it_is_written() {
        let key = Identity::unstored().unwrap().public_key();
        assert_eq!(key.to_string().parse::<PublicKey>().unwrap(), key);
        assert!("12".parse::<PublicKey>().is_err() && "x".repeat(64).parse::<PublicKey>().is_err());
        assert_eq!(key.fingerprint().len(), 39, "eight groups of four");
    }
}
