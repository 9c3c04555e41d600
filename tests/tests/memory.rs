//! What the command needs of memory.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::process::Command;
use toolkit_tests::{cargo, repository, run};

/// The most memory that the command may hold, in KiB.
const LIMIT_KIB: u64 = 50 * 1024;
const GIB: usize = 1 << 30;

#[test]
#[ignore = "needs GNU time and writes 1 GB: cargo xtask test"]
fn a_file_of_1_gb_is_read_at_an_offset_within_50_mb() {
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

    run(cargo(&repository()).args(["build", "--quiet", "--package", "toolkit-cli"])).success();
    let last = (GIB / line.len()).to_string();
    for (file, offset, expected) in
        [("big.txt", last.as_str(), format!("{last}→{line}")), ("line.txt", "1", "     1→yyy".to_owned())]
    {
        let ran = run(Command::new("/usr/bin/time")
            .args(["-f", "peak %M"])
            .arg(repository().join("target/debug/toolkit"))
            .args(["call", "read", "--file-path", file, "--offset", offset])
            .current_dir(directory.path()));
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        assert!(ran.stdout.contains(&expected), "{:.300}", ran.stdout);
        let peak: u64 = ran.stderr.lines().find_map(|line| line.strip_prefix("peak ")?.parse().ok()).unwrap();
        assert!(peak < LIMIT_KIB, "{file}: {peak} KiB");
    }
}
