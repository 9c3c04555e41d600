//! The kinds of the objects of a repository, by their hashes. The formats: git's `gitformat-pack(5)`, and a header before the content of an
//! object that has a file of its own.

use super::config::{common_dir, git_dir};
use super::index::has_other_hashes;
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

/// Returns true if the repository of a work tree has an object whose hash begins with these digits and which is the content of a file, or
/// a tag, which may name one. Also if that cannot be found out.
pub(crate) fn may_be_file(root: &Path, digits: &str) -> bool {
    let Ok(Some(git_dir)) = git_dir(root) else { return true };
    let Some(digits) = nibbles(digits) else { return false };
    let Ok(common) = common_dir(&git_dir) else { return true };
    // Hashes of another length, or objects of other repositories.
    if has_other_hashes(&git_dir) || common.join("objects/info/alternates").symlink_metadata().is_ok() {
        return true;
    }
    any_file(&common.join("objects"), &digits).unwrap_or(true)
}

fn nibbles(digits: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        digits.chars().map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    digits.filter(|digits| (4..=2 * HASH).contains(&digits.len()))
}

fn any_file(objects: &Path, digits: &[u8]) -> io::Result<bool> {
    let text: String =
        digits.iter().map(|digit| char::from_digit(u32::from(*digit), 16).unwrap_or('0')).collect();
    let (directory, rest) = text.split_at(2);
    for entry in entries(&objects.join(directory))? {
        if entry.to_string_lossy().starts_with(rest) && is_loose_file(&objects.join(directory).join(entry))? {
            return Ok(true);
        }
    }
    let packs = objects.join("pack");
    for (count, name) in entries(&packs)?.into_iter().enumerate() {
        if count >= MAX_PACKS {
            return Ok(true);
        }
        let index = packs.join(&name);
        if index.extension().is_some_and(|extension| extension == "idx")
            && (Pack { index: File::open(&index)?, pack: File::open(index.with_extension("pack"))? })
                .holds_file(digits)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the names in a directory; none if it does not exist.
fn entries(directory: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    match fs::read_dir(directory) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.file_name())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn is_loose_file(path: &Path) -> io::Result<bool> {
    let mut begin = [0; 5];
    ZlibDecoder::new(File::open(path)?).read_exact(&mut begin)?;
    Ok(!matches!(&begin, b"commi" | b"tree "))
}

/// A pack and its index.
struct Pack {
    index: File,
    pack: File,
}

impl Pack {
    const NAMES: u64 = 8 + 256 * 4;

    /// Returns true if one of the objects whose hash begins with these digits is the content of a file, or a tag.
    fn holds_file(&mut self, digits: &[u8]) -> io::Result<bool> {
        if self.read::<8>(8, true).is_err() || self.read::<8>(0, true)? != *b"\xfftOc\0\0\0\x02" {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let count = u64::from(u32::from_be_bytes(self.read(8 + 255 * 4, true)?));
        let first = self.first(digits, count)?;
        for (looked, at) in (first..count).enumerate() {
            let name = self.name(at)?;
            if !begins(&name, digits) {
                break;
            }
            if looked >= MAX_OBJECTS || self.is_file(at, count)? {
                return Ok(true);
            }
        }
        Ok(false)
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

    fn is_file(&mut self, at: u64, count: u64) -> io::Result<bool> {
        let mut offset = self.offset(at, count)?;
        for _ in 0..MAX_BASES {
            let (kind, after) = self.header(offset)?;
            match kind {
                1 | 2 => return Ok(false),
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
                _ => return Ok(true),
            }
        }
        Ok(true)
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
