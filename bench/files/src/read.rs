//! `read` deep in a large file, beside counting its line ends up to there.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;

use serde_json::json;

use crate::{Host, Pair, Result};

const AIM: f64 = 1.3;
/// Of a line, its end included.
const LINE_BYTES: u64 = 64;
const BUFFER_BYTES: usize = 256 * 1024;
const SHOWN: u64 = 10;

pub(crate) fn measure(host: &Host<'_>, rounds: usize) -> Result<()> {
    let path = host.directory.join("deep.txt");
    for (size, name) in [(1 << 28, "256 MiB"), (1 << 29, "512 MiB"), (1 << 30, "1 GiB")] {
        let lines = size / LINE_BYTES;
        write(&path, lines)?;
        let offset = lines - 100;
        let arguments = || json!({ "file_path": "deep.txt", "offset": offset, "limit": SHOWN });
        let expected = format!("{offset}→line {offset} ");
        let session = host.session();
        let mut pair = Pair::default();
        for _ in 0..=rounds {
            pair.round(
                || {
                    let text = host.call(&session, "read", arguments())?;
                    if text.trim_start().starts_with(&expected) { Ok(()) } else { Err(text.into()) }
                },
                || count(&path, offset),
            )?;
        }
        // The first reads what was just written.
        pair.ours.remove(0);
        pair.plain.remove(0);
        pair.print(&format!("read, deep in {name}"), Some(AIM));
    }
    Ok(fs::remove_file(path)?)
}

fn write(path: &Path, lines: u64) -> Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for number in 1..=lines {
        writeln!(file, "{:<63}", format!("line {number} of a very long file"))?;
    }
    Ok(file.flush()?)
}

/// Finds the line, and reads those that are shown.
fn count(path: &Path, offset: u64) -> Result<()> {
    let mut file = BufReader::with_capacity(BUFFER_BYTES, File::open(path)?);
    let mut left = usize::try_from(offset - 1)?;
    loop {
        let buffer = file.fill_buf()?;
        let ends = memchr::memchr_iter(b'\n', buffer).count();
        if ends >= left || buffer.is_empty() {
            break;
        }
        left -= ends;
        let length = buffer.len();
        file.consume(length);
    }
    let mut line = String::new();
    for _ in 0..left {
        file.skip_until(b'\n')?;
    }
    for _ in 0..SHOWN {
        file.read_line(&mut line)?;
    }
    let is_it = line.starts_with(&format!("line {offset} "));
    if is_it { Ok(()) } else { Err(format!("found {line:?} instead of line {offset}").into()) }
}
