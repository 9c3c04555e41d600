//! Which version of a file something is.

use super::handle::{self, Stat};
use foldhash::quality::FixedState;
use std::fs::Metadata;
use std::hash::BuildHasher as _;
use std::time::SystemTime;

/// Which version of a file something is: by its content where that was seen whole, else by what the system says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileVersion {
    size: u64,
    modified: Option<SystemTime>,
    identity: Option<(u64, u64)>,
    /// Of the content.
    hash: Option<u64>,
}

impl FileVersion {
    /// Of a file whose content was not seen whole.
    pub(super) fn without_content(metadata: &Metadata) -> Self {
        Self {
            size: metadata.len(),
            modified: metadata.modified().ok(),
            identity: handle::identity(metadata),
            hash: None,
        }
    }

    /// Of a file with this content.
    pub fn of(content: &[u8], metadata: &Metadata) -> Self {
        Self { size: content.len() as u64, hash: Some(hash(content)), ..Self::without_content(metadata) }
    }

    /// Whether both are of one content: by the content where that is known of both, else as far as size, time and
    /// identity tell.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self.hash, other.hash) {
            (Some(hash), Some(others)) => self.size == other.size && hash == others,
            _ => {
                self.size == other.size && self.modified == other.modified && self.identity == other.identity
            }
        }
    }

    /// Whether it may be the same as another, of which more is known.
    pub(super) fn is_less_than(&self, other: &Self) -> bool {
        let other_without = Self { hash: None, ..other.clone() };
        self.hash.is_none() && other.hash.is_some() && *self == other_without
    }

    /// How many bytes it has.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether what stands under a name still looks like this version.
    pub(super) fn looks_like(&self, stat: &Stat) -> bool {
        self.size == stat.size
            && (self.modified == stat.modified || self.modified.is_none())
            && (self.identity == stat.identity || self.identity.is_none())
    }
}

/// A content as 64 bits. Nobody gains by two contents that have the same: who can write the file can write it again.
pub(super) fn hash(content: &[u8]) -> u64 {
    FixedState::with_seed(0x746f_6f6c_6b69_7431).hash_one(content)
}
