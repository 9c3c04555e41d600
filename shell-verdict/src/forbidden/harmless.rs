//! Harmless uses of the forbidden programs: printing help, listing devices, or working on an image file.

use crate::class::Class;
use crate::never::is_maker;
use crate::situation::Access;
use crate::verdict::Part;
use crate::walk::Judge;
use crate::words::Value;
use std::path::{Path, PathBuf};

/// Programs that write to the device among their words, in addition to those that create file systems.
const WRITERS: &[&str] = &[
    "mke2fs",
    "mkdosfs",
    "mkntfs",
    "mkexfatfs",
    "mkswap",
    "mkreiserfs",
    "mkreiser4",
    "mkudffs",
    "jfs_mkfs",
    "gfs2_mkfs",
    "make-bcache",
    "makebootfat",
    "btrfs-convert",
    "fixparts",
    "wipefs",
    "fdisk",
    "sfdisk",
    "cfdisk",
    "gdisk",
    "sgdisk",
    "cgdisk",
    "parted",
    "blkdiscard",
    "badblocks",
    "nwipe",
];

/// Judges a forbidden program that is harmless by its words. Returns true if it is.
pub(super) fn judge(judge: &mut Judge<'_>, base: &str, values: &[Value], part: &mut Part) -> bool {
    let words: Option<Vec<&str>> = values.iter().map(Value::text).collect();
    let Some(words) = words else { return false };
    if tells_of_itself(base, &words) {
        part.is(Class::Unknown, format!("{base} shows its help or version"));
        return true;
    }
    if lists(base, &words) {
        part.is(Class::Unknown, format!("{base} shows information"));
        return true;
    }
    let writes_files = (WRITERS.contains(&base) || is_maker(base)) && names_files(judge, base, &words);
    if writes_files {
        part.is(Class::Dangerous, format!("{base} overwrites a file"));
        for word in words.iter().filter(|word| !word.starts_with('-')) {
            let is_there = judge.absolute(word).is_some_and(|path| path.symlink_metadata().is_ok());
            if is_there || word.contains(['/', '.']) {
                judge.path(&Value::Text((*word).to_owned()), Access::Write, part);
            }
        }
    }
    writes_files
}

/// Returns true if a program is only asked for its help or its version.
fn tells_of_itself(base: &str, words: &[&str]) -> bool {
    match words {
        ["--help" | "--version" | "--usage"] => true,
        ["-v"] => base == "parted",
        // For programs that stop the machine, `-h` means halt.
        ["-h" | "-V"] => {
            is_maker(base)
                || WRITERS.contains(&base)
                || matches!(base, "sudo" | "su" | "runuser" | "rtcwake" | "mdadm")
        }
        _ => false,
    }
}

/// Returns true if a program only lists devices.
fn lists(base: &str, words: &[&str]) -> bool {
    let all_of = |known: &[&str]| words.iter().all(|word| !word.starts_with('-') || known.contains(word));
    let some_of = |known: &[&str]| words.iter().any(|word| known.contains(word));
    let first_of = |known: &[&str]| words.first().is_some_and(|word| known.contains(word));
    match base {
        "sudo" => sudo_lists(words),
        "shutdown" => first_of(&["-c", "--show"]),
        "rtcwake" => matches!(words, ["-m" | "--mode", "show" | "disable"]),
        "fdisk" => {
            const LISTS: &[&str] = &["-l", "--list", "-x", "--list-details", "-lu", "-ul"];
            let is_plain = |word: &&str| !word.starts_with('-') || LISTS.contains(word) || *word == "-u";
            some_of(LISTS) && words.iter().all(is_plain)
        }
        "sfdisk" => {
            const LISTS: &[&str] = &[
                "-l",
                "--list",
                "-d",
                "--dump",
                "-J",
                "--json",
                "-F",
                "--list-free",
                "-s",
                "--show-size",
                "-V",
                "--verify",
                "-g",
                "--show-geometry",
                "-T",
                "--list-types",
            ];
            first_of(LISTS) && all_of(LISTS)
        }
        "gdisk" => first_of(&["-l"]) && all_of(&["-l"]),
        "sgdisk" => {
            const LISTS: &[&str] = &["-p", "--print", "-v", "--verify", "-i", "--info"];
            first_of(LISTS) && all_of(LISTS)
        }
        "parted" => parted_lists(words),
        "nvme" => first_of(&[
            "list",
            "list-subsys",
            "list-ns",
            "list-ctrl",
            "id-ctrl",
            "id-ns",
            "smart-log",
            "error-log",
            "fw-log",
            "effects-log",
            "endurance-log",
            "self-test-log",
            "show-regs",
            "show-topology",
            "version",
            "help",
        ]),
        "mdadm" => {
            const SHOWS: &[&str] = &[
                "-D",
                "--detail",
                "-E",
                "--examine",
                "-Q",
                "--query",
                "-X",
                "--examine-bitmap",
                "--detail-platform",
            ];
            const WITH: &[&str] = &["-s", "--scan", "-v", "-vv", "--verbose", "-b", "--brief", "--export"];
            first_of(SHOWS) && all_of(&[SHOWS, WITH].concat())
        }
        "zpool" => first_of(&["list", "status", "iostat", "get", "history", "events", "version", "help"]),
        "cryptsetup" => {
            const SHOWS: &[&str] = &["status", "isLuks", "luksUUID", "luksDump", "benchmark"];
            // With an option `luksDump` shows the key.
            first_of(SHOWS) && all_of(&[])
        }
        "hdparm" => {
            const SHOWS: &[&str] = &["-i", "-I", "-g", "-C", "-t", "-T", "-tT", "-Tt"];
            first_of(SHOWS) && all_of(SHOWS)
        }
        "wipefs" => {
            const SHOWS: &[&str] =
                &["-J", "--json", "-p", "--parsable", "-i", "--noheadings", "-n", "--no-act"];
            let is_dry = some_of(&["-n", "--no-act"]);
            !words.is_empty() && (all_of(SHOWS) || is_dry && all_of(&[SHOWS, &["-a", "--all"]].concat()))
        }
        _ => false,
    }
}

/// Returns true if `sudo` only lists the permissions of the user, or removes the cached password. An option with a value may
/// take a word that looks like another option.
fn sudo_lists(words: &[&str]) -> bool {
    let (mut lists, mut forgets) = (false, false);
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match *word {
            "-U" | "--other-user" | "-u" | "--user" | "-g" | "--group" | "-p" | "--prompt" => {
                rest.next();
            }
            "--list" => lists = true,
            "-k" | "-K" | "--reset-timestamp" | "--remove-timestamp" => forgets = true,
            "--non-interactive" | "--stdin" | "--askpass" => {}
            word if word.starts_with("--other-user=") || word.starts_with("--user=") => {}
            word if word.len() > 1
                && word.starts_with('-')
                && word[1..].bytes().all(|letter| b"lnSA".contains(&letter)) =>
            {
                lists |= word.contains('l');
            }
            word if word.starts_with('-') => return false,
            // The command to check, or to run.
            _ => return lists,
        }
    }
    lists || forgets
}

/// Returns true if each command of `parted` prints, or sets the unit.
fn parted_lists(words: &[&str]) -> bool {
    let is_plain = |word: &&str| matches!(*word, "-s" | "--script" | "-m" | "--machine" | "-j" | "--json");
    if words.iter().any(|word| matches!(*word, "-l" | "--list")) {
        return words.iter().all(|word| is_plain(word) || matches!(*word, "-l" | "--list"));
    }
    let mut operands = words.iter().filter(|word| !is_plain(word)).skip(1).peekable();
    let mut prints = false;
    while let Some(command) = operands.next() {
        match *command {
            "unit" | "u" if operands.next().is_some() => {}
            "print" | "p" => {
                prints = true;
                let is_more = |word: &&&str| matches!(**word, "free" | "all" | "list" | "devices");
                operands.next_if(|word| is_more(word) || word.bytes().all(|byte| byte.is_ascii_digit()));
            }
            _ => return false,
        }
    }
    prints
}

/// Returns true if the words name files, and none of them may be a device.
fn names_files(judge: &Judge<'_>, base: &str, words: &[&str]) -> bool {
    let names_device = |word: &&str| {
        word.contains("/dev/") && !word.starts_with("/dev/shm/")
            || ["UUID=", "LABEL=", "ID="].iter().any(|tag| word.contains(tag))
    };
    let mut operands = words.iter().filter(|word| !word.starts_with('-')).peekable();
    operands.peek().is_some()
        && !words.iter().any(names_device)
        && operands.all(|word| {
            let Some(path) = judge.absolute(word) else { return false };
            let real = real(&path);
            let is_elsewhere = |path: &Path| {
                path.starts_with("/dev/shm")
                    || !["/dev", "/proc", "/sys"].iter().any(|of_system| path.starts_with(of_system))
            };
            // Some of these take the mere name of a device.
            let is_named = !base.starts_with("newfs") || real.is_file();
            !word.is_empty() && is_named && is_elsewhere(&path) && is_elsewhere(&real) && !is_device(&real)
        })
}

/// Resolves a path; for one that does not exist, resolves its parent.
fn real(path: &Path) -> PathBuf {
    let by_parent = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(by_parent).unwrap_or_else(|| path.to_owned())
}

#[cfg(unix)]
fn is_device(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    path.metadata().is_ok_and(|metadata| {
        let kind = metadata.file_type();
        kind.is_block_device() || kind.is_char_device()
    })
}

#[cfg(not(unix))]
fn is_device(_path: &Path) -> bool {
    false
}
