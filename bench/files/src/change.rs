//! `edit` and `apply_patch` of a large file, beside reading it and writing it once as safely: to a file beside it, which takes
//! its place once it is on the disk.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::{Host, Pair, Result};

const MEBIBYTE: usize = 1 << 20;
const AIM: f64 = 1.5;

/// One change in the middle of a file of so many lines.
struct Change {
    name: &'static str,
    tool: &'static str,
    arguments: fn(lines: usize) -> Value,
}

const CHANGES: &[Change] = &[
    Change {
        name: "edit",
        tool: "edit",
        arguments: |lines| {
            let at = lines / 2;
            json!({
                "file_path": "large.txt",
                "old_string": format!("line {at} of"),
                "new_string": format!("LINE {at} of"),
            })
        },
    },
    Change {
        name: "edit, but for white space at the ends of lines",
        tool: "edit",
        arguments: |lines| {
            let at = lines / 2;
            json!({
                "file_path": "large.txt",
                "old_string": format!("{}   \n{}", line(at), line(at + 1)),
                "new_string": "one line",
            })
        },
    },
    Change {
        name: "apply_patch",
        tool: "apply_patch",
        arguments: |lines| {
            let at = lines / 2;
            json!({ "input": format!(
                "*** Begin Patch\n*** Update File: large.txt\n@@\n {}\n-{}\n+one line\n {}\n*** End Patch",
                line(at),
                line(at + 1),
                line(at + 2)
            ) })
        },
    },
    Change {
        name: "apply_patch, at both ends",
        tool: "apply_patch",
        arguments: |lines| {
            json!({ "input": format!(
                "*** Begin Patch\n*** Update File: large.txt\n@@\n-{}\n+one\n@@\n-{}\n+two\n*** End Patch",
                line(5),
                line(lines - 5)
            ) })
        },
    },
];

pub(crate) fn measure(host: &Host<'_>, rounds: usize) -> Result<()> {
    for size in [5, 10, 20] {
        let mut text = String::new();
        let mut lines = 0;
        while text.len() < size * MEBIBYTE {
            writeln!(text, "{}", line(lines))?;
            lines += 1;
        }
        let path = host.directory.join("large.txt");
        for Change { name, tool, arguments } in CHANGES {
            let mut pair = Pair::default();
            for _ in 0..rounds {
                fs::write(&path, &text)?;
                let (arguments, session) = (arguments(lines), host.session());
                pair.round(
                    || host.call(&session, tool, arguments).map(drop),
                    || read_and_write(host.directory, &path),
                )?;
            }
            pair.print(&format!("{name}: {size} MiB"), Some(AIM));
        }
        fs::remove_file(path)?;
    }
    Ok(())
}

fn line(number: usize) -> String {
    format!("line {number} of a large file, with a few words")
}

fn read_and_write(directory: &Path, path: &Path) -> Result<()> {
    let bytes = fs::read(path)?;
    let beside = directory.join("beside.tmp");
    let mut file = File::create(&beside)?;
    file.write_all(&bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    Ok(File::open(directory)?.sync_all()?)
}
