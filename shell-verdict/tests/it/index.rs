//! Where the index of a repository names other repositories, git looks into them.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::common;

use common::Fixture;
use common::index::{entry, of_files, tracking};
use shell_verdict::Decision;
use std::fs;

fn decision(fixture: &Fixture, command: &str) -> Decision {
    fixture.judge(command).decision
}

/// An index with one entry of this mode.
fn index(version: u32, mode: u32, name: &str) -> Vec<u8> {
    let mut bytes = b"DIRC".to_vec();
    bytes.extend(version.to_be_bytes());
    bytes.extend(1_u32.to_be_bytes());
    entry(&mut bytes, version, mode, ("", name), false);
    bytes
}

/// A workspace with another repository in it, which is configured so.
fn with_submodule(name: &str, configuration: &str) -> Fixture {
    let fixture = Fixture::new();
    let git_dir = fixture.workspace.join(name).join(".git");
    fs::create_dir_all(git_dir.join("objects")).unwrap();
    fs::create_dir_all(git_dir.join("refs")).unwrap();
    fs::write(git_dir.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(git_dir.join("config"), configuration).unwrap();
    fixture
}

#[test]
fn a_submodule_that_is_there_is_asked_about_unless_the_command_is_contained() {
    for configuration in ["", "[core]\n\tfsmonitor = ./x\n", "[filter \"x\"]\n\tclean = ./x\n"] {
        let fixture = with_submodule("sub", configuration);
        let mut bytes = index(2, 0o160_000, "sub");
        bytes.extend([9; 20]);
        fs::write(fixture.workspace.join(".git/index"), bytes).unwrap();
        for command in ["git status", "git diff", "git submodule status"] {
            assert_eq!(decision(&fixture, command), Decision::Ask, "{command}: {configuration:?}");
            let contained = fixture.judge_contained(command).decision;
            assert_eq!(contained, Decision::Allow, "{command}: {configuration:?}");
        }
    }
}

/// A record of where the extensions begin, as the last extension.
fn end_of_entries(offset: usize) -> Vec<u8> {
    [b"EOIE\0\0\0\x18", &u32::try_from(offset).unwrap().to_be_bytes()[..], &[0; 20]].concat()
}

/// A table of blocks, each with its offset and number of entries.
fn blocks(blocks: &[(usize, u32)]) -> Vec<u8> {
    let mut bytes = b"IEOT".to_vec();
    bytes.extend(u32::try_from(4 + blocks.len() * 8).unwrap().to_be_bytes());
    bytes.extend(1_u32.to_be_bytes());
    for (offset, count) in blocks {
        bytes.extend(u32::try_from(*offset).unwrap().to_be_bytes());
        bytes.extend(count.to_be_bytes());
    }
    bytes
}

#[test]
fn an_index_that_readers_of_git_may_understand_differently_is_asked_about() {
    let two = |version| {
        let bytes = of_files(version, &["a", "b"]);
        bytes[..bytes.len() - 20].to_vec()
    };
    let end = two(2).len();
    let extension = |name: &[u8; 4], content: &[u8]| {
        [name, &u32::try_from(content.len()).unwrap().to_be_bytes()[..], content].concat()
    };
    let mut other_length = two(2);
    other_length[12 + 61] = 3;
    let mut sparse = two(2);
    sparse[12 + 24..12 + 28].copy_from_slice(&0o040_000_u32.to_be_bytes());
    // In version 4 the second entry is one byte shorter.
    let mut shared = two(4);
    let second = 12 + 62 + 3;
    shared[second + 62] = 0;
    shared[second + 61] = 2;
    let cases: &[(&str, Vec<u8>, Decision)] = &[
        ("no extension", two(2), Decision::Allow),
        ("known", [two(2), extension(b"FSMN", b"x"), extension(b"UNTR", b"")].concat(), Decision::Allow),
        ("unknown", [two(2), extension(b"ZZZZ", b"x")].concat(), Decision::Ask),
        ("optional, unknown", [two(2), extension(b"ABCD", b"")].concat(), Decision::Ask),
        ("sparse", [two(2), extension(b"sdir", b"")].concat(), Decision::Ask),
        ("too long", [two(2), b"TREE\0\0\0\x09x".to_vec()].concat(), Decision::Ask),
        ("directory", sparse, Decision::Ask),
        ("another length", other_length, Decision::Ask),
        ("end", [two(2), extension(b"TREE", b"x"), end_of_entries(end)].concat(), Decision::Allow),
        (
            "end elsewhere",
            [two(2), extension(b"TREE", b"x"), end_of_entries(end + 8)].concat(),
            Decision::Ask,
        ),
        (
            "end within another",
            [two(2), extension(b"TREE", &[extension(b"link", b""), end_of_entries(end + 8)].concat())]
                .concat(),
            Decision::Ask,
        ),
        ("blocks", [two(2), blocks(&[(12, 1), (end - 64, 1)])].concat(), Decision::Allow),
        ("one block", [two(2), blocks(&[(12, 2)])].concat(), Decision::Allow),
        ("blocks elsewhere", [two(2), blocks(&[(12, 1), (end + 8, 1)])].concat(), Decision::Ask),
        ("too few", [two(2), blocks(&[(12, 1)])].concat(), Decision::Ask),
        ("whole names", [two(4), blocks(&[(12, 1), (second, 1)])].concat(), Decision::Allow),
        ("a part of a name", [shared.clone(), blocks(&[(12, 1), (second, 1)])].concat(), Decision::Ask),
        ("a part within a block", [shared, blocks(&[(12, 2)])].concat(), Decision::Allow),
    ];
    for (name, bytes, expected) in cases {
        let fixture = Fixture::new();
        fs::write(fixture.workspace.join(".git/index"), [&bytes[..], &[9; 20]].concat()).unwrap();
        for command in ["git status", "git diff", "git show"] {
            assert_eq!(decision(&fixture, command), *expected, "{name}: {command}");
        }
        // The files of a contained command are decided about, but no submodule.
        assert_eq!(fixture.judge_contained("git show").decision, *expected, "{name}");
        for command in ["git status", "git log --stat", "git branch"] {
            assert_eq!(fixture.judge_contained(command).decision, Decision::Allow, "{name}: {command}");
        }
    }
}

#[test]
fn an_index_with_other_hashes_is_asked_about_where_its_files_count() {
    let fixture = tracking(&["a"]);
    let configuration = fixture.workspace.join(".git/config");
    fs::write(&configuration, "[extensions]\n\tobjectFormat = sha256\n").unwrap();
    for command in ["git status", "git log", "git show"] {
        assert_eq!(decision(&fixture, command), Decision::Ask, "{command}");
    }
    for (command, expected) in [
        ("git show", Decision::Ask),
        ("git diff", Decision::Ask),
        ("git status", Decision::Allow),
        ("git log", Decision::Allow),
    ] {
        assert_eq!(fixture.judge_contained(command).decision, expected, "{command}");
    }
}

#[test]
fn other_repositories_in_the_index_are_seen() {
    let cases = [
        (index(2, 0o100_644, "src/hard_link.rs"), Decision::Allow),
        (index(4, 0o100_755, "a"), Decision::Allow),
        (index(2, 0o160_000, "sub"), Decision::Ask),
        (index(3, 0o160_000, "sub"), Decision::Ask),
        (index(4, 0o160_000, "sub"), Decision::Ask),
        // It is not there, so that git does not look into it.
        (index(2, 0o160_000, "none"), Decision::Allow),
        ([index(2, 0o100_644, "a"), b"link\0\0\0\x04abcd".to_vec()].concat(), Decision::Ask),
        ([index(2, 0o100_644, "a"), b"TREE\0\0\0\x04link".to_vec()].concat(), Decision::Allow),
        (index(5, 0o100_644, "a"), Decision::Ask),
        (b"DIRC".to_vec(), Decision::Ask),
        (index(2, 0o100_644, "a")[..40].to_vec(), Decision::Ask),
    ];
    for (number, (mut bytes, expected)) in cases.into_iter().enumerate() {
        bytes.extend([9; 20]);
        let fixture = with_submodule("sub", "[core]\n\tfsmonitor = ./x\n");
        fs::write(fixture.workspace.join(".git/index"), bytes).unwrap();
        assert_eq!(decision(&fixture, "git status"), expected, "case {number}");
        // A command that looks at no file beside the repository does not look into others.
        assert_eq!(decision(&fixture, "git branch -a"), Decision::Allow, "case {number}");
    }
}

/// An index with entries of these names, some of them with further flags, then one of this mode, then extensions.
fn long_index(version: u32, mode: u32, extension: &[u8]) -> Vec<u8> {
    let mut bytes = b"DIRC".to_vec();
    let names: Vec<String> = (1..20).chain([200]).map(|length| "n".repeat(length)).collect();
    let mut previous = "";
    bytes.extend(version.to_be_bytes());
    bytes.extend(u32::try_from(names.len() + 1).unwrap().to_be_bytes());
    for (number, name) in names.iter().enumerate() {
        let has_flags = version > 2 && number % 2 == 0;
        entry(&mut bytes, version, 0o100_644, (previous, name), has_flags);
        previous = name;
    }
    entry(&mut bytes, version, mode, (previous, "z"), false);
    bytes.extend(b"TREE\0\0\0\x05abcde");
    bytes.extend(extension);
    // A hash, of which nothing is an extension.
    bytes.extend(b"link\0\0\0\0");
    bytes.extend([9; 12]);
    bytes
}

#[test]
fn an_index_is_read_to_its_end() {
    for version in 2..=4 {
        for (mode, extension, expected) in [
            (0o100_644, &b""[..], Decision::Allow),
            (0o100_644, b"REUC\0\0\0\0", Decision::Allow),
            (0o160_000, b"", Decision::Ask),
            (0o100_644, b"link\0\0\0\0", Decision::Ask),
            (0o100_644, b"link\0\0\0\x01x", Decision::Ask),
        ] {
            let fixture = with_submodule("z", "[diff]\n\texternal = ./x\n");
            let index = long_index(version, mode, extension);
            fs::write(fixture.workspace.join(".git/index"), index).unwrap();
            assert_eq!(decision(&fixture, "git status"), expected, "{version} {mode:o} {extension:?}");
        }
    }
}

#[test]
fn the_index_of_a_repository_is_read_once_for_a_command() {
    let fixture = Fixture::new();
    let mut bytes = index(2, 0o100_644, "a");
    // An extension that is left out.
    let rest = 40_u32 << 20;
    bytes.extend(b"TREE");
    bytes.extend(rest.to_be_bytes());
    bytes.resize(bytes.len() + rest as usize + 20, 0);
    fs::write(fixture.workspace.join(".git/index"), &bytes).unwrap();
    assert_eq!(decision(&fixture, &"git status; git diff; ".repeat(200)), Decision::Allow);
    // As large as one may be, and larger.
    for (length, expected) in [(64 << 20, Decision::Allow), ((64 << 20) + 1, Decision::Ask)] {
        let mut large = bytes.clone();
        large.resize(length, 0);
        let extension = bytes.len() - 20 - rest as usize;
        let size = u32::try_from(length - 20 - extension).unwrap();
        large[extension - 4..extension].copy_from_slice(&size.to_be_bytes());
        fs::write(fixture.workspace.join(".git/index"), &large).unwrap();
        assert_eq!(decision(&fixture, "git status"), expected, "{length}");
    }
    // Of several repositories only so much.
    for name in ["one", "two"] {
        let git_dir = fixture.workspace.join(name).join(".git");
        fs::create_dir_all(&git_dir).unwrap();
        fs::write(git_dir.join("index"), &bytes).unwrap();
    }
    assert_eq!(decision(&fixture, "git -C one status; git -C two status"), Decision::Ask);
}
