//! The kinds of the objects of a repository, by their hashes. The formats: git's `gitformat-pack(5)`, and a header before the content of an
//! object that has a file of its own.

use super::index::has_other_hashes;
use super::layout::{common_dir, git_dir, read};
use flate2::read::ZlibDecoder;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Length of a hash, in bytes.
const HASH: usize = 20;
/// Maximum number of packs that are searched.
const MAX_PACKS: usize = 1_000;
/// Maximum number of objects with one beginning that are looked at.
const MAX_OBJECTS: usize = 64;
/// Maximum number of objects that one is stored as the difference to.
const MAX_BASES: usize = 10_000;

/// Maximum size of a tag that is read, in bytes.
const TAG: usize = 256;

/// The kind of an object. Ordered by what git shows of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Commit,
    /// The names in a directory, by which files are found without the name of the directory.
    Directory,
    /// The content of a file, or something that is not known.
    File,
}

/// Returns the kind of the objects whose hash begins with these digits, in the repository of a work tree; of several the last in order.
/// `None` if there is none.
pub(crate) fn kind_of_hash(root: &Path, digits: &str) -> Option<Kind> {
    let digits = nibbles(digits)?;
    let Ok(Some(git_dir)) = git_dir(root) else { return Some(Kind::File) };
    let Ok(common) = common_dir(&git_dir) else { return Some(Kind::File) };
    // Hashes of another length, or objects of other repositories.
    if has_other_hashes(&git_dir) || common.join("objects/info/alternates").symlink_metadata().is_ok() {
        return Some(Kind::File);
    }
    kind(&common.join("objects"), &digits, 0).unwrap_or(Some(Kind::File))
}

/// Returns the kind of the object that a branch, a tag or another reference of the repository of a work tree names. `None` if there is
/// none.
pub(crate) fn kind_of_reference(root: &Path, name: &str) -> Option<Kind> {
    let Ok(Some(git_dir)) = git_dir(root) else { return Some(Kind::File) };
    let Ok(common) = common_dir(&git_dir) else { return Some(Kind::File) };
    let is_safe =
        !name.is_empty() && name.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    if !is_safe {
        return None;
    }
    let full =
        ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"].map(|prefix| format!("{prefix}{name}"));
    let packed = read(&common.join("packed-refs"));
    let Ok(packed) = packed.map(Option::unwrap_or_default) else { return Some(Kind::File) };
    let mut found = None;
    for full in full.into_iter().chain([format!("refs/remotes/{name}/HEAD")]) {
        for directory in [&git_dir, &common] {
            if let Ok(Some(text)) = read(&directory.join(&full)) {
                found = found.max(kind_of_text(root, text.trim_end()));
            }
        }
        for line in packed.lines() {
            if let Some((hash, _)) = line.split_once(' ').filter(|(_, named)| *named == full) {
                found = found.max(kind_of_hash(root, hash));
            }
        }
    }
    found
}

/// Returns the kind of the object that the text of a reference names: a hash, or another reference, which is a branch.
fn kind_of_text(root: &Path, text: &str) -> Option<Kind> {
    match text.strip_prefix("ref: ") {
        Some(name) if name.starts_with("refs/heads/") || name.starts_with("refs/remotes/") => None,
        Some(_) => Some(Kind::File),
        // Other files of the repository are no references.
        None => kind_of_hash(root, text.split_whitespace().next().unwrap_or_default()),
    }
}

fn nibbles(digits: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        digits.chars().map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    digits.filter(|digits| (4..=2 * HASH).contains(&digits.len()))
}

fn kind(objects: &Path, digits: &[u8], depth: usize) -> io::Result<Option<Kind>> {
    let mut found = None;
    let mut add = |object: Object| -> io::Result<()> {
        let kind = match object {
            Object::Known(kind) => Some(kind),
            Object::Tag(tagged) if depth == 0 => kind(objects, &tagged, depth + 1)?,
            Object::Tag(_) => Some(Kind::File),
        };
        found = found.max(kind);
        Ok(())
    };
    let text: String =
        digits.iter().map(|digit| char::from_digit(u32::from(*digit), 16).unwrap_or('0')).collect();
    let (directory, rest) = text.split_at(2);
    for entry in entries(&objects.join(directory))? {
        if entry.to_string_lossy().starts_with(rest) {
            add(loose(&objects.join(directory).join(entry))?)?;
        }
    }
    let packs = objects.join("pack");
    for (count, name) in entries(&packs)?.into_iter().enumerate() {
        if count >= MAX_PACKS {
            return Ok(Some(Kind::File));
        }
        let index = packs.join(&name);
        if index.extension().is_some_and(|extension| extension == "idx") {
            let mut pack =
                Pack { index: File::open(&index)?, pack: File::open(index.with_extension("pack"))? };
            pack.objects(digits)?.into_iter().try_for_each(&mut add)?;
        }
    }
    Ok(found)
}

/// An object that was found.
enum Object {
    Known(Kind),
    /// A tag, with the hash of the object that it names.
    Tag(Vec<u8>),
}

/// Returns the names in a directory; none if it does not exist.
fn entries(directory: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    match fs::read_dir(directory) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.file_name())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn loose(path: &Path) -> io::Result<Object> {
    let mut text = Vec::new();
    ZlibDecoder::new(File::open(path)?).take(TAG as u64).read_to_end(&mut text)?;
    Ok(match text.get(..4) {
        Some(b"comm") => Object::Known(Kind::Commit),
        Some(b"tree") => Object::Known(Kind::Directory),
        Some(b"tag ") => tagged(text.splitn(2, |byte| *byte == 0).nth(1).unwrap_or_default()),
        _ => Object::Known(Kind::File),
    })
}

/// Returns the object that a tag with this content names.
fn tagged(content: &[u8]) -> Object {
    let hash = content.strip_prefix(b"object ").and_then(|rest| rest.get(..2 * HASH));
    let hash = hash.and_then(|hash| std::str::from_utf8(hash).ok()).and_then(nibbles);
    hash.map_or(Object::Known(Kind::File), Object::Tag)
}

/// A pack and its index.
struct Pack {
    index: File,
    pack: File,
}

impl Pack {
    const NAMES: u64 = 8 + 256 * 4;

    /// Returns the objects whose hash begins with these digits.
    fn objects(&mut self, digits: &[u8]) -> io::Result<Vec<Object>> {
        if self.read::<8>(0, true)? != *b"\xfftOc\0\0\0\x02" {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let count = u64::from(u32::from_be_bytes(self.read(8 + 255 * 4, true)?));
        let first = self.first(digits, count)?;
        let mut found = Vec::new();
        for at in first..count {
            let name = self.name(at)?;
            if !begins(&name, digits) {
                break;
            }
            if found.len() >= MAX_OBJECTS {
                found.push(Object::Known(Kind::File));
                break;
            }
            found.push(self.object(at, count)?);
        }
        Ok(found)
    }

    /// Returns the place of the first object whose hash is not before these digits.
    fn first(&mut self, digits: &[u8], count: u64) -> io::Result<u64> {
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low.midpoint(high);
            if halves(&self.name(middle)?).take(digits.len()).lt(digits.iter().copied()) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    fn name(&mut self, at: u64) -> io::Result<[u8; HASH]> {
        self.read(Self::NAMES + at * HASH as u64, true)
    }

    /// Returns where an object begins in the pack.
    fn offset(&mut self, at: u64, count: u64) -> io::Result<u64> {
        // The names and a checksum of each object come before.
        let offsets = Self::NAMES + count * (HASH as u64 + 4);
        let offset = u32::from_be_bytes(self.read(offsets + at * 4, true)?);
        if offset & 0x8000_0000 == 0 {
            return Ok(u64::from(offset));
        }
        let large = offsets + count * 4 + u64::from(offset & 0x7fff_ffff) * 8;
        Ok(u64::from_be_bytes(self.read(large, true)?))
    }

    fn object(&mut self, at: u64, count: u64) -> io::Result<Object> {
        let mut offset = self.offset(at, count)?;
        for bases in 0..MAX_BASES {
            let (kind, after) = self.header(offset)?;
            match kind {
                1 => return Ok(Object::Known(Kind::Commit)),
                2 => return Ok(Object::Known(Kind::Directory)),
                4 if bases == 0 => {
                    self.pack.seek(SeekFrom::Start(after))?;
                    let mut text = Vec::new();
                    ZlibDecoder::new(&mut self.pack).take(TAG as u64).read_to_end(&mut text)?;
                    return Ok(tagged(&text));
                }
                6 => {
                    let distance = self.distance(after)?;
                    offset = offset.checked_sub(distance).ok_or(io::ErrorKind::InvalidData)?;
                }
                7 => {
                    let base: [u8; HASH] = self.read(after, false)?;
                    let digits: Vec<u8> = halves(&base).collect();
                    let place = self.first(&digits, count)?;
                    if place >= count || self.name(place)? != base {
                        return Err(io::ErrorKind::InvalidData.into());
                    }
                    offset = self.offset(place, count)?;
                }
                _ => return Ok(Object::Known(Kind::File)),
            }
        }
        Ok(Object::Known(Kind::File))
    }

    /// Returns the kind of the object at a place of the pack, and the place after its size.
    fn header(&mut self, offset: u64) -> io::Result<(u8, u64)> {
        let [first] = self.read(offset, false)?;
        let (mut byte, mut at) = (first, offset + 1);
        while byte & 0x80 != 0 {
            [byte] = self.read(at, false)?;
            at += 1;
        }
        Ok((first >> 4 & 7, at))
    }

    /// Returns the distance to the object that one is stored as the difference to.
    fn distance(&mut self, mut at: u64) -> io::Result<u64> {
        let [mut byte] = self.read(at, false)?;
        let mut distance = u64::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            at += 1;
            [byte] = self.read(at, false)?;
            let more = distance.checked_add(1).and_then(|distance| distance.checked_mul(128));
            distance = more.ok_or(io::ErrorKind::InvalidData)? + u64::from(byte & 0x7f);
        }
        Ok(distance)
    }

    fn read<const N: usize>(&mut self, at: u64, is_index: bool) -> io::Result<[u8; N]> {
        let file = if is_index { &mut self.index } else { &mut self.pack };
        let mut bytes = [0; N];
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

fn halves(name: &[u8]) -> impl Iterator<Item = u8> {
    name.iter().flat_map(|byte| [byte >> 4, byte & 15])
}

fn begins(name: &[u8], digits: &[u8]) -> bool {
    halves(name).take(digits.len()).eq(digits.iter().copied())
}
