//! Indexes of repositories, as git writes them.

use super::Fixture;
use std::fs;

/// An index of these files, in order.
pub(crate) fn of_files(version: u32, names: &[&str]) -> Vec<u8> {
    let mut bytes = b"DIRC".to_vec();
    bytes.extend(version.to_be_bytes());
    bytes.extend(u32::try_from(names.len()).unwrap().to_be_bytes());
    let mut previous = "";
    for name in names {
        entry(&mut bytes, version, 0o100_644, (previous, name), false);
        previous = name;
    }
    bytes.extend([9; 20]);
    bytes
}

/// A workspace whose repository tracks these files.
pub(crate) fn tracking(names: &[&str]) -> Fixture {
    let fixture = Fixture::new();
    fs::write(fixture.workspace.join(".git/index"), of_files(2, names)).unwrap();
    fixture
}

/// Appends an entry. In version 4 it drops all of the name before.
pub(crate) fn entry(
    bytes: &mut Vec<u8>,
    version: u32,
    mode: u32,
    (previous, name): (&str, &str),
    has_flags: bool,
) {
    let begin = bytes.len();
    bytes.extend([0; 24]);
    bytes.extend(mode.to_be_bytes());
    bytes.extend([0; 12]);
    bytes.extend([7; 20]);
    let flags = u16::try_from(name.len()).unwrap() | if has_flags { 0x4000 } else { 0 };
    bytes.extend(flags.to_be_bytes());
    if has_flags {
        bytes.extend([0x20, 0]);
    }
    if version == 4 {
        // All of the name before is dropped: so many bytes, in one byte or two.
        match previous.len() {
            short @ 0..128 => bytes.push(u8::try_from(short).unwrap()),
            long => bytes
                .extend([0x80 | u8::try_from((long >> 7) - 1).unwrap(), u8::try_from(long & 0x7f).unwrap()]),
        }
        bytes.extend(name.as_bytes());
        bytes.push(0);
    } else {
        bytes.extend(name.as_bytes());
        let length = bytes.len() - begin;
        bytes.extend(vec![0; 8 - length % 8]);
    }
}
