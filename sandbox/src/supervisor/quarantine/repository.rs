//! Detection of repositories that make git run programs.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use super::{entries, is_there, open};

/// Maximum size of a configuration that is read. Git writes a few hundred bytes.
const LONGEST: u64 = 64 << 10;

/// The keys that lead to nothing that is run, as git itself writes them.
const HARMLESS: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
            "autocrlf",
            "eol",
            "safecrlf",
        ],
    ),
    ("extensions", &["objectformat", "refstorage"]),
    ("remote", &["url", "pushurl", "fetch", "tagopt"]),
    ("branch", &["remote", "merge", "rebase", "pushremote"]),
    ("submodule", &["url", "active"]),
    ("user", &["name", "email"]),
    ("init", &["defaultbranch"]),
    ("pull", &["rebase", "ff"]),
    ("push", &["default"]),
];

/// Returns true if git runs nothing because of this repository: no hooks, no configuration but harmless one, and nothing that leads
/// to another repository's.
pub(super) fn is_harmless(repository: &OwnedFd) -> bool {
    let leads_elsewhere =
        ["commondir", "config.worktree", "gitdir"].iter().any(|name| is_there(repository, name));
    !leads_elsewhere && has_no_hooks(repository) && is_harmlessly_configured(repository)
}

fn has_no_hooks(repository: &OwnedFd) -> bool {
    if !is_there(repository, "hooks") {
        return true;
    }
    // A link is not followed, and fails here.
    let Ok(hooks) = open(repository, "hooks".as_ref()) else { return false };
    entries(&hooks).iter().all(|entry| {
        let is_sample = entry.name.to_str().is_some_and(|name| name.ends_with(".sample"));
        entry.kind == FileType::RegularFile && is_sample
    })
}

fn is_harmlessly_configured(repository: &OwnedFd) -> bool {
    let stat = rustix::fs::statat(repository, "config", AtFlags::SYMLINK_NOFOLLOW);
    let Ok(stat) = stat else { return true };
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return false;
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::openat(repository, "config", flags, Mode::empty()) else { return false };
    let mut text = String::new();
    let read = File::from(file).take(LONGEST + 1).read_to_string(&mut text);
    read.is_ok_and(|length| length as u64 <= LONGEST) && is_harmless_configuration(&text)
}

/// Accepts only the form that git writes by itself: one section or key per line, without continuation lines.
pub(super) fn is_harmless_configuration(text: &str) -> bool {
    let mut keys: &[&str] = &[];
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if line.ends_with('\\') || line.contains('\r') || line.contains('\0') {
            return false;
        }
        if let Some(section) = line.strip_prefix('[') {
            let Some(section) = section.strip_suffix(']') else { return false };
            let name = section.split(|c: char| c.is_whitespace() || c == '"').next().unwrap_or_default();
            let found = HARMLESS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            let Some((_, known)) = found else { return false };
            if section.contains(']') {
                return false;
            }
            keys = known;
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        if !keys.iter().any(|known| known.eq_ignore_ascii_case(key.trim())) {
            return false;
        }
        let value = value.trim().trim_start_matches('"');
        // A helper for a transport, or an option for the remote program.
        if value.contains("::") || value.starts_with('-') {
            return false;
        }
    }
    true
}
