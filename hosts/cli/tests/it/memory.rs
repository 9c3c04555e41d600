//! The memory that calls take.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::Command;
use toolkit_tests::run;

/// The most memory that a call may take beyond that of a call on a file of one line, in KiB: files are read and searched in pieces of 1 MiB
/// at most. The pages of the program itself, some 48 MiB without optimisation, are in both.
const LIMIT_KIB: u64 = 8 * 1024;
const GIB: usize = 1 << 30;

/// Runs a call, and returns its output with the memory that it took, in KiB.
fn measure(args: &[&str], directory: &Path) -> (String, u64) {
    let ran = run(Command::new("/usr/bin/time")
        .args(["-f", "peak %M"])
        .arg(env!("CARGO_BIN_EXE_toolkit"))
        .arg("call")
        .args(args)
        .current_dir(directory));
    assert_eq!(ran.code, Some(0), "{args:?}: {ran:#?}");
    let peak = ran.stderr.lines().find_map(|line| line.strip_prefix("peak ")?.parse().ok()).unwrap();
    (ran.stdout, peak)
}

/// The memory of a call on a file of one line, in KiB.
fn base() -> u64 {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("small.txt"), "needle\n").unwrap();
    let (_, read) = measure(&["read", "--file-path", "small.txt"], directory.path());
    let (_, searched) = measure(&["grep", "--pattern", "needle"], directory.path());
    read.max(searched)
}

#[test]
#[ignore = "needs GNU time and writes 1 GB: cargo xtask test"]
fn a_file_of_1_gb_is_read_at_an_offset_within_8_mb() {
    let directory = tempfile::tempdir().unwrap();
    let line = format!("{}\n", "x".repeat(63));
    let mut file = BufWriter::with_capacity(1 << 20, File::create(directory.path().join("big.txt")).unwrap());
    for _ in 0..GIB / line.len() {
        file.write_all(line.as_bytes()).unwrap();
    }
    file.into_inner().unwrap().sync_all().unwrap();
    // And one without a line ending, which must not be held as a whole.
    let zeroes = File::create(directory.path().join("line.txt")).unwrap();
    let mut file = BufWriter::with_capacity(1 << 20, zeroes);
    for _ in 0..GIB / 64 {
        file.write_all(&[b'y'; 64]).unwrap();
    }
    file.flush().unwrap();

    let base = base();
    let last = (GIB / line.len()).to_string();
    for (file, offset, expected) in
        [("big.txt", last.as_str(), format!("{last}→{line}")), ("line.txt", "1", "     1→yyy".to_owned())]
    {
        let (printed, peak) = measure(&["read", "--file-path", file, "--offset", offset], directory.path());
        assert!(printed.contains(&expected), "{printed:.300}");
        assert!(peak < base + LIMIT_KIB, "{file}: {peak} KiB, and {base} KiB for a small file");
    }
}

#[test]
#[ignore = "needs GNU time and writes 200 MB: cargo xtask test"]
fn a_line_of_100_mb_is_searched_and_read_within_8_mb() {
    let directory = tempfile::tempdir().unwrap();
    let mut line = vec![b'x'; 100 << 20];
    line[60 << 20..(60 << 20) + 6].copy_from_slice(b"needle");
    std::fs::write(directory.path().join("line.txt"), &line).unwrap();
    // The next line is to be reached behind it.
    line.extend_from_slice(b"\nlast needle\n");
    std::fs::write(directory.path().join("lines.txt"), &line).unwrap();
    drop(line);
    let base = base();
    for (args, expected) in [
        (&["grep", "--pattern", "needle", "--path", "line.txt"][..], "needle"),
        (&["grep", "--pattern", "needle", "--output-mode", "count"], "lines.txt:2"),
        (&["grep", "--pattern", "n[e]+dle", "--path", "lines.txt"], "last needle"),
        (&["grep", "--pattern", "nowhere"], "no matches"),
        (&["read", "--file-path", "line.txt"], "     1→xxx"),
        (&["read", "--file-path", "lines.txt", "--offset", "2"], "     2→last needle"),
    ] {
        let (printed, peak) = measure(args, directory.path());
        assert!(printed.contains(expected), "{args:?}: {printed:.300}");
        assert!(peak < base + LIMIT_KIB, "{args:?}: {peak} KiB, and {base} KiB for a small file");
    }
}
