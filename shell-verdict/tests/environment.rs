//! What is in the environment already decides, too: what a program would be told by it.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod common;

use common::Fixture;
use shell_verdict::Decision;

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
