//! Versions of files.

use super::handle::{self, Stat};
use foldhash::quality::{FixedState, FoldHasher};
use std::fs::{File, Metadata};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, ErrorKind, Read as _, Seek as _};
use std::time::SystemTime;

/// The version of a file: identified by its content if that is known, otherwise by its metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileVersion {
    size: u64,
    modified: Option<SystemTime>,
    /// The time of the last change of any metadata, which no program can set.
    changed: Option<SystemTime>,
    identity: Option<(u64, u64)>,
    /// The hash of the content.
    hash: Option<u64>,
}

impl FileVersion {
    /// Returns the version of a file whose content was not completely read.
    pub(super) fn without_content(metadata: &Metadata) -> Self {
        Self {
            size: metadata.len(),
            modified: metadata.modified().ok(),
            changed: handle::changed(metadata),
            identity: handle::identity(metadata),
            hash: None,
        }
    }

    /// Returns the version of a file with this content.
    pub fn of(content: &[u8], metadata: &Metadata) -> Self {
        let mut hash = ContentHash::new();
        hash.update(content);
        Self::of_hashed(hash, metadata)
    }

    /// Returns the version of a file whose content was hashed while it was read or written.
    pub(super) fn of_hashed(content: ContentHash, metadata: &Metadata) -> Self {
        let size = content.size;
        Self { size, hash: Some(content.finish()), ..Self::without_content(metadata) }
    }

    /// Returns the version, by content, of an open file that had the metadata `before` when it was opened and from which `content`
    /// was read. Returns `None` if that is not the whole content, or the file has changed since.
    pub fn of_read(content: &[u8], file: &File, before: &Metadata) -> Option<Self> {
        let is_all = content.len() as u64 == before.len();
        let is_as_before =
            || Some(Self::without_content(&file.metadata().ok()?) == Self::without_content(before));
        (is_all && is_as_before()?).then(|| Self::of(content, before))
    }

    /// Returns the version of a file that is open for reading and had the metadata `before` when it was opened. The content is read
    /// from the beginning, and used if the file has at most `most` bytes and did not change since. Blocks until the file is read or
    /// `goes_on` returns false.
    pub fn of_file(file: &File, before: &Metadata, most: u64, goes_on: impl Fn() -> bool) -> Self {
        let without = Self::without_content(before);
        let hash = || -> io::Result<Option<ContentHash>> {
            // One byte more than the size: if the file did not grow, the first read returns everything.
            let size =
                usize::try_from(before.len()).map_or(ContentHash::BLOCK, |size| size.saturating_add(1));
            let mut block = vec![0; size.min(ContentHash::BLOCK)];
            let (mut file, mut hash) = (file, ContentHash::new());
            file.rewind()?;
            while goes_on() && hash.size <= most {
                match file.read(&mut block) {
                    Ok(0) => {
                        // If the file changed meanwhile, the content that was read is not the present one.
                        let is_as_before = Self::without_content(&file.metadata()?) == without;
                        return Ok(Some(hash).filter(|_| is_as_before));
                    }
                    Ok(count) => hash.update(&block[..count]),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(None)
        };
        if before.len() > most {
            return without;
        }
        hash().ok().flatten().map_or(without, |hash| Self::of_hashed(hash, before))
    }

    /// Returns true if both have the same content: compared by content if that is known of both, otherwise by size, times and
    /// identity.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self.hash, other.hash) {
            (Some(hash), Some(others)) => self.size == other.size && hash == others,
            _ => {
                self.size == other.size
                    && self.modified == other.modified
                    && self.changed == other.changed
                    && self.identity == other.identity
            }
        }
    }

    /// Returns true if this may be the same version as another, of which more is known.
    pub(super) fn is_less_than(&self, other: &Self) -> bool {
        let other_without = Self { hash: None, ..other.clone() };
        self.hash.is_none() && other.hash.is_some() && *self == other_without
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns true if the file under a name still looks like this version.
    pub(super) fn looks_like(&self, stat: &Stat) -> bool {
        self.size == stat.size
            && (self.modified == stat.modified || self.modified.is_none())
            && (self.changed == stat.changed || self.changed.is_none())
            && (self.identity == stat.identity || self.identity.is_none())
    }
}

/// A 64-bit hash of a content that comes in parts; it does not depend on the division into parts. Collisions are no security problem:
/// an attacker who can write the file can change it anyway. A part is hashed while it is in the processor's cache, after being read
/// or before being written.
#[derive(Clone)]
pub(super) struct ContentHash {
    hasher: FoldHasher<'static>,
    /// The beginning of the next block.
    open: Vec<u8>,
    size: u64,
}

impl ContentHash {
    /// The number of bytes hashed at once: few enough for the nearer caches, and enough to make the overhead of a block negligible.
    pub(super) const BLOCK: usize = 64 * 1024;

    pub(super) fn new() -> Self {
        let state = FixedState::with_seed(0x746f_6f6c_6b69_7431);
        Self { hasher: state.build_hasher(), open: Vec::new(), size: 0 }
    }

    pub(super) fn update(&mut self, mut part: &[u8]) {
        self.size += part.len() as u64;
        if !self.open.is_empty() {
            let (head, rest) = part.split_at(part.len().min(Self::BLOCK - self.open.len()));
            self.open.extend_from_slice(head);
            part = rest;
            if self.open.len() < Self::BLOCK {
                return;
            }
            self.hasher.write(&self.open);
            self.open.clear();
        }
        let blocks = part.chunks_exact(Self::BLOCK);
        self.open.extend_from_slice(blocks.remainder());
        blocks.for_each(|block| self.hasher.write(block));
    }

    /// Returns the number of bytes so far.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn finish(mut self) -> u64 {
        self.hasher.write(&self.open);
        self.hasher.write_u64(self.size);
        self.hasher.finish()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::files::handle::Dir;
    use std::fs;
    use std::time::Duration;

    fn hash(content: &[u8]) -> u64 {
        let mut hash = ContentHash::new();
        hash.update(content);
        hash.finish()
    }

    #[test]
    fn a_hash_is_of_the_content_whatever_its_parts() {
        let content: Vec<u8> =
            (0..ContentHash::BLOCK * 3 + 7).map(|at| (at * at / 7).to_le_bytes()[0]).collect();
        let of_parts = |sizes: &[usize]| {
            let (mut hash, mut rest) = (ContentHash::new(), &content[..]);
            for size in sizes.iter().cycle() {
                let (part, after) = rest.split_at((*size).min(rest.len()));
                hash.update(part);
                rest = after;
                if rest.is_empty() {
                    return hash.finish();
                }
            }
            0
        };
        let block = ContentHash::BLOCK;
        for sizes in [&[1, 0, block][..], &[block], &[block - 1], &[block + 1], &[7, 3 * block], &[1000]] {
            assert_eq!(of_parts(sizes), hash(&content), "{sizes:?}");
        }
        // Changing a byte at any position, or the length, changes the hash.
        for at in [0, 1, block - 1, block, 2 * block + 9, content.len() - 1] {
            let mut other = content.clone();
            other[at] ^= 1;
            assert_ne!(hash(&other), hash(&content), "{at}");
        }
        let hashes: std::collections::BTreeSet<u64> =
            [0, 1, 2, block - 1, block, block + 1].into_iter().map(|length| hash(&vec![0; length])).collect();
        assert_eq!(hashes.len(), 6);
    }

    #[test]
    fn a_version_is_told_by_content_else_by_size_time_and_identity() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("f"), "text").unwrap();
        let metadata = fs::metadata(directory.path().join("f")).unwrap();
        let whole = FileVersion::of(b"text", &metadata);
        let plain = FileVersion::without_content(&metadata);
        let later = plain.modified.map(|time| time + Duration::from_secs(1));
        // Versions of equal and different files, with and without known content.
        for (what, other, by_content, by_the_rest) in [
            ("nothing differs", whole.clone(), true, true),
            ("its time", FileVersion { modified: later, ..whole.clone() }, true, false),
            ("the time of its last change", FileVersion { changed: later, ..whole.clone() }, true, false),
            ("its identity", FileVersion { identity: Some((0, 0)), ..whole.clone() }, true, false),
            ("its size", FileVersion { size: 5, ..whole.clone() }, false, false),
            ("its content", FileVersion { hash: Some(0), ..whole.clone() }, false, true),
        ] {
            let without = FileVersion { hash: None, ..other.clone() };
            assert_eq!(whole.is_same(&other), by_content, "{what}");
            assert_eq!(
                (plain.is_same(&other), whole.is_same(&without)),
                (by_the_rest, by_the_rest),
                "{what}"
            );
        }
        // The content is the one that was read, regardless of the metadata at that time.
        assert_eq!(FileVersion::of(b"longer", &metadata).size(), 6);

        let stat = Dir::open_root(directory.path()).unwrap().stat("f".as_ref()).unwrap();
        for (what, version, looks_like) in [
            ("nothing differs", plain.clone(), true),
            ("its size", FileVersion { size: 5, ..plain.clone() }, false),
            ("its time", FileVersion { modified: later, ..plain.clone() }, false),
            ("the time of its last change", FileVersion { changed: later, ..plain.clone() }, false),
            ("its identity", FileVersion { identity: Some((0, 0)), ..plain.clone() }, false),
            ("no time is known", FileVersion { modified: None, ..plain.clone() }, true),
            ("no identity is known", FileVersion { identity: None, ..plain }, true),
        ] {
            assert_eq!(version.looks_like(&stat), looks_like, "{what}");
        }
    }

    #[test]
    fn a_file_is_known_by_its_content_up_to_a_size() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f");
        fs::write(&path, "text").unwrap();
        let file = File::open(&path).unwrap();
        let before = file.metadata().unwrap();
        let whole = FileVersion::of(b"text", &before);
        for (most, goes_on, hash) in [(4, true, whole.hash), (3, true, None), (4, false, None)] {
            assert_eq!(FileVersion::of_file(&file, &before, most, || goes_on).hash, hash, "{most} {goes_on}");
        }
        // A change that keeps the size and the time.
        fs::write(&path, "tixt").unwrap();
        let times = fs::FileTimes::new().set_modified(before.modified().unwrap());
        File::options().write(true).open(&path).unwrap().set_times(times).unwrap();
        let after = FileVersion::of_file(&file, &before, 4, || true);
        let now = file.metadata().unwrap();
        if now.modified().unwrap() == before.modified().unwrap()
            && handle::changed(&now) != handle::changed(&before)
        {
            assert_eq!(after.hash, None);
            assert!(!after.is_same(&FileVersion::of(b"tixt", &now)));
        }
    }
}
