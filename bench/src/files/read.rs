//! `read` deep in a large file, beside `sed`.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use super::Case;
use crate::Result;

const LINES: usize = 1 << 24;
/// Of a line of 64 bytes.
const AT_ONCE: usize = 1 << 14;

pub(super) fn cases(toolkit: &Path, directory: &Path) -> Result<Vec<Case>> {
    let mut file = File::create(directory.join("large.txt"))?;
    for first in (1..=LINES).step_by(AT_ONCE) {
        let mut text = String::new();
        for number in first..first + AT_ONCE {
            writeln!(text, "{:<63}", format!("line {number} of a very long file"))?;
        }
        file.write_all(text.as_bytes())?;
    }
    let (first, last) = (LINES - 100, LINES - 91);
    let mut ours = Command::new(toolkit);
    ours.args(["call", "read", "--file-path", "large.txt", "--offset", &first.to_string(), "--limit", "10"]);
    let mut peer = Command::new("sed");
    peer.args(["-n", &format!("{first},{last}p;{last}q"), "large.txt"]);
    for command in [&mut ours, &mut peer] {
        command.current_dir(directory);
    }
    Ok(vec![Case { name: "read, deep in 1 GiB, beside sed".to_owned(), ours, peer, aim: None }])
}
