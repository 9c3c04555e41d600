//! The directory of a node: its key, and the gateway that it is paired with.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::address::Address;
use crate::key::{Identity, KeyError, PublicKey, write_private};

/// The file of the key.
const KEY_FILE: &str = "node.key";
/// The file with the gateway.
const PIN_FILE: &str = "gateway.json";
/// The file that a node which runs has locked. It names the process.
const LOCK_FILE: &str = "node.lock";
/// The most bytes of that file that are read.
const MAX_LOCK_BYTES: u64 = 32;
/// The most bytes of the file with the gateway.
const MAX_PIN_BYTES: u64 = 64 << 10;

/// The gateway of a node, as pairing stored it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Pin {
    /// The address.
    #[serde(with = "as_text")]
    pub address: Address,
    /// The key of the gateway. No other one is accepted.
    pub gateway_key: PublicKey,
    /// The name of the node.
    pub name: String,
    /// A file with certificates of authorities, in place of the system's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
}

/// An error of the directory of a node.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryError {
    /// A file or the directory cannot be used.
    #[error("cannot {action} {}: {reason}", path.display())]
    Io {
        /// The action.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The reason.
        reason: io::Error,
    },
    /// The file with the gateway holds something else.
    #[error("{} names no gateway: {reason}; pair again with `toolkit node pair`", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Another process runs the node.
    #[error(
        "the directory {} is used by {}, which serves as this node already; stop it, or use another directory with `TOOLKIT_NODE_DIR`",
        path.display(),
        process.map_or_else(|| "another process".to_owned(), |process| format!("the process {process}"))
    )]
    InUse {
        /// The directory.
        path: PathBuf,
        /// The id of the process, if it is known.
        process: Option<u32>,
    },
    /// The node was never paired.
    #[error("this device is not paired with a gateway; `toolkit node pair ADDRESS` does that")]
    NotPaired,
}

/// The lock of a node that runs.
#[derive(Debug)]
pub(crate) struct NodeLock {
    _file: File,
}

/// The directory of a node, for its owner alone.
#[derive(Debug, Clone)]
pub struct NodeDirectory(PathBuf);

impl NodeDirectory {
    /// Makes the directory if it is missing. Blocks, as all methods.
    ///
    /// # Errors
    ///
    /// The directory cannot be made.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, DirectoryError> {
        let path = path.into();
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path).map_err(failed("make", &path))?;
        Ok(Self(path))
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The files that no command of the gateway may see: the key, and the gateway.
    pub fn private_files(&self) -> [PathBuf; 2] {
        [self.0.join(KEY_FILE), self.0.join(PIN_FILE)]
    }

    /// Returns the key of the node, which is made the first time.
    ///
    /// # Errors
    ///
    /// The file of the key cannot be used.
    pub fn identity(&self) -> Result<Identity, DirectoryError> {
        Ok(Identity::open(&self.0.join(KEY_FILE))?)
    }

    /// Returns the gateway with which the node is paired.
    ///
    /// # Errors
    ///
    /// There is none, or its file cannot be read.
    pub fn pin(&self) -> Result<Pin, DirectoryError> {
        let path = self.0.join(PIN_FILE);
        let size = match fs::metadata(&path) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(DirectoryError::NotPaired),
            Err(error) => return Err(failed("read", &path)(error)),
        };
        let damaged = |reason: String| DirectoryError::Damaged { path: path.clone(), reason };
        if size > MAX_PIN_BYTES {
            return Err(damaged(format!("it has more than {MAX_PIN_BYTES} bytes")));
        }
        let text = fs::read_to_string(&path).map_err(failed("read", &path))?;
        serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))
    }

    /// Takes the lock of the one process that runs the node. It is given back when the value is dropped, or the process ends.
    ///
    /// # Errors
    ///
    /// Another process has it, or its file cannot be used.
    pub(crate) fn lock(&self) -> Result<NodeLock, DirectoryError> {
        let path = self.0.join(LOCK_FILE);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path).map_err(failed("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // Where the lock hides the content, the process stays unknown.
                let _ = file.take(MAX_LOCK_BYTES).read_to_string(&mut text);
                return Err(DirectoryError::InUse {
                    path: self.0.clone(),
                    process: text.trim().parse().ok(),
                });
            }
            Err(TryLockError::Error(error)) => return Err(failed("lock", &path)(error)),
        }
        let named = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        named.map_err(failed("write", &path))?;
        Ok(NodeLock { _file: file })
    }

    /// Stores the gateway, in place of another one.
    pub(crate) fn set_pin(&self, pin: &Pin) -> Result<(), DirectoryError> {
        let path = self.0.join(PIN_FILE);
        let text = serde_json::to_string_pretty(pin).map_err(io::Error::other);
        let written = text.and_then(|text| write_private(&path, format!("{text}\n").as_bytes()));
        written.map_err(failed("write", &path))
    }
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> DirectoryError {
    let path = path.to_owned();
    move |reason| DirectoryError::Io { action, path, reason }
}

/// Addresses as texts.
mod as_text {
    use serde::{Deserialize as _, Deserializer, Serializer, de};

    use crate::address::Address;

    pub(super) fn serialize<S: Serializer>(address: &Address, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(address)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Address, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_is_read_as_it_was_stored() {
        let place = tempfile::tempdir().unwrap();
        let directory = NodeDirectory::open(place.path().join("node")).unwrap();
        assert!(matches!(directory.pin(), Err(DirectoryError::NotPaired)));
        let pin = Pin {
            address: "https://gateway.example".parse().unwrap(),
            gateway_key: directory.identity().unwrap().public_key(),
            name: "kitchen".to_owned(),
            ca: Some("/etc/own.pem".into()),
        };
        directory.set_pin(&pin).unwrap();
        assert_eq!(directory.pin().unwrap(), pin);
        fs::write(directory.path().join(PIN_FILE), "{}").unwrap();
        assert!(directory.pin().unwrap_err().to_string().contains("toolkit node pair"));
    }
}
