//! What is in the environment already decides, too: what a program would be told by it.

use crate::common;

use common::Fixture;
use shell_verdict::{Decision, Programs};

#[test]
fn what_tells_a_program_what_to_do_is_asked_about_with_that_program_only() {
    let asked = [
        ("LD_PRELOAD", "ls"),
        ("LD_LIBRARY_PATH", "ls"),
        ("DYLD_INSERT_LIBRARIES", "ls"),
        ("GCONV_PATH", "ls"),
        ("GLIBC_TUNABLES", "ls"),
        ("BASH_ENV", "ls"),
        ("BASH_FUNC_ls%%", "ls"),
        ("RIPGREP_CONFIG_PATH", "rg -n x README.md"),
        ("GREP_OPTIONS", "grep x README.md"),
        ("GREP_OPTIONS", "fgrep x README.md"),
        ("TAR_OPTIONS", "tar -tf notes.txt"),
        ("MAGIC", "file README.md"),
        ("LESS", "less README.md"),
        ("LESSOPEN", "less README.md"),
        ("GZIP", "zcat notes.txt"),
        ("BZIP2", "bzcat notes.txt"),
        ("BZIP", "bzcat notes.txt"),
        ("XZ_OPT", "xzcat notes.txt"),
        ("XZ_DEFAULTS", "lzcat notes.txt"),
        ("UNZIP", "unzip -l notes.txt"),
        ("ZIPINFO", "zipinfo notes.txt"),
        ("AWKPATH", "awk '{ print }' README.md"),
        ("WHINY_USERS", "mawk '{ print }' README.md"),
        ("BC_ENV_ARGS", "bc README.md"),
        ("DEBUGINFOD_URLS", "nm README.md"),
        ("DEBUGINFOD_URLS", "size README.md"),
        ("PS_FORMAT", "ps"),
        ("TERMINFO", "tput cols"),
    ];
    for (name, command) in asked {
        let mut fixture = Fixture::new();
        assert_eq!(fixture.judge(command).decision, Decision::Allow, "{command}");
        fixture.env.insert(name.to_owned(), "x".to_owned());
        assert_eq!(fixture.judge(command).decision, Decision::Ask, "{name}: {command}");
    }
    for (name, command) in [
        ("RIPGREP_CONFIG_PATH", "ls"),
        ("GREP_OPTIONS", "cat README.md"),
        ("LS_COLORS", "ls"),
        ("EDITOR", "cat README.md"),
        ("GIT_COMMITTER_NAME", "git log"),
    ] {
        let mut fixture = Fixture::new();
        fixture.env.insert(name.to_owned(), "x".to_owned());
        assert_eq!(fixture.judge(command).decision, Decision::Allow, "{name}: {command}");
    }
}

#[test]
#[cfg(unix)]
fn a_program_is_foreign_where_it_stands_in_the_workspace_or_leads_there() {
    use std::os::unix::fs::symlink;
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    let directory = directory.path().canonicalize().unwrap();
    let (workspace, outside) = (directory.join("W"), directory.join("bin"));
    std::fs::create_dir_all(workspace.join("bin")).unwrap();
    std::fs::create_dir(&outside).unwrap();
    let cat = std::fs::canonicalize("/bin/cat").unwrap();
    std::fs::copy(&cat, workspace.join("tool")).unwrap();
    symlink(&cat, workspace.join("bin/cat")).unwrap();
    symlink(workspace.join("tool"), outside.join("tac")).unwrap();
    symlink(&cat, outside.join("head")).unwrap();
    let foreign = "a program in the workspace";
    for (path, command, expected) in [
        (workspace.join("bin"), "cat", foreign),
        (outside.clone(), "tac", foreign),
        (outside.clone(), "head", "a program in a directory that everybody writes to"),
    ] {
        let mut fixture = Fixture::new();
        fixture.programs = Programs::new([path]);
        fixture.workspace = workspace.clone();
        let verdict = fixture.judge(command);
        let reasons = &verdict.parts[0].reasons;
        assert!(reasons.iter().any(|reason| reason.text.contains(expected)), "{command}: {reasons:?}");
    }
}
