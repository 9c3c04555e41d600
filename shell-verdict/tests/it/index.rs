//! Where the index of a repository names other repositories, git looks into them.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::common;

use common::Fixture;
use common::index::entry;
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
fn a_submodule_is_looked_into_by_its_own_configuration() {
    for (configuration, expected) in [
        ("", Decision::Allow),
        ("[core]\n\tbare = false\n[remote \"origin\"]\n\turl = x\n", Decision::Allow),
        ("[core]\n\tworktree = ../../sub\n", Decision::Allow),
        ("[core]\n\tworktree = ../../src\n", Decision::Ask),
        // Of the command that is named they are taken away; of the one that git starts they may not be.
        ("[core]\n\tfsmonitor = ./x\n", Decision::Ask),
        ("[core]\n\thooksPath = .\n", Decision::Ask),
        ("[filter \"x\"]\n\tclean = ./x\n", Decision::Ask),
        ("[merge \"ours\"]\n\tdriver = true\n", Decision::Allow),
    ] {
        let fixture = with_submodule("sub", configuration);
        let mut bytes = index(2, 0o160_000, "sub");
        bytes.extend([9; 20]);
        fs::write(fixture.workspace.join(".git/index"), bytes).unwrap();
        for command in ["git status", "git diff", "git submodule status"] {
            assert_eq!(decision(&fixture, command), expected, "{command}: {configuration:?}");
        }
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
