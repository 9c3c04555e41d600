//! Names that one command prints and another gets as words: each is decided, and names that may become something else are asked about.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]
#![cfg(unix)]

use crate::common;

use common::Fixture;
use shell_verdict::Decision;
use std::fs;
use std::os::unix::fs::symlink;

fn with_files(names: &[&str]) -> Fixture {
    let fixture = Fixture::new();
    for name in names {
        let path = fixture.workspace.join("found").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x\n").unwrap();
    }
    fixture
}

fn decision(fixture: &Fixture, command: &str) -> Decision {
    fixture.judge(command).decision
}

#[test]
fn names_that_come_to_other_words_are_asked_about() {
    for (names, blanks, with_nul) in [
        (&["a.rs", "b/c.rs"][..], Decision::Allow, Decision::Allow),
        (&["a /etc/passwd"], Decision::Ask, Decision::Allow),
        (&["a b.rs"], Decision::Allow, Decision::Allow),
        (&["a -n"], Decision::Ask, Decision::Allow),
        (&["a'b"], Decision::Ask, Decision::Allow),
        (&["a\"b"], Decision::Ask, Decision::Allow),
        (&["a\\b"], Decision::Ask, Decision::Allow),
        (&["a\n/etc/passwd"], Decision::Ask, Decision::Allow),
        (&[".env"], Decision::Ask, Decision::Ask),
    ] {
        let fixture = with_files(names);
        let found = |rest: &str| decision(&fixture, &format!("find found -type f {rest}"));
        assert_eq!(found("| xargs cat"), blanks, "{names:?}");
        assert_eq!(found("| sort | head -5 | xargs cat"), blanks, "{names:?}");
        assert_eq!(found("-print0 | xargs -0 cat"), with_nul, "{names:?}");
        assert_eq!(found("-exec cat {} +"), with_nul, "{names:?}");
        // A list that is split otherwise than it is printed gives other names.
        assert_eq!(found("-print0 | xargs cat"), Decision::Ask, "{names:?}");
        assert_eq!(found("| xargs -0 cat"), Decision::Ask, "{names:?}");
        assert_eq!(
            decision(&fixture, "cat $(find found -type f)"),
            match names {
                ["a'b" | "a\"b"] => Decision::Allow,
                _ => blanks,
            },
            "{names:?}"
        );
    }
    let fixture = with_files(&["*"]);
    assert_eq!(decision(&fixture, "cat $(find found -type f)"), Decision::Ask);
    let fixture = with_files(&["a.rs"]);
    symlink("/etc/passwd", fixture.workspace.join("found/b.rs")).unwrap();
    assert_eq!(decision(&fixture, "find found -name '*.rs' | xargs cat"), Decision::Ask);
    assert_eq!(decision(&fixture, "find found -type f -name '*.rs' | xargs cat"), Decision::Allow);
}

#[test]
fn only_what_reads_from_the_pipe_gets_its_names() {
    let fixture = with_files(&["a.rs"]);
    for (command, expected) in [
        ("find found | xargs cat", Decision::Allow),
        ("find found | xargs cat < notes.txt", Decision::Ask),
        ("find found | { xargs cat; }", Decision::Ask),
        ("find found | (cd src; xargs cat)", Decision::Ask),
        ("find found | bash -c 'xargs cat < notes.txt'", Decision::Ask),
        ("find found | xargs xargs cat", Decision::Ask),
        ("find found | xargs cat <(xargs cat)", Decision::Ask),
        ("cat notes.txt | xargs cat", Decision::Ask),
        ("find found | sed s/a/b/ | xargs cat", Decision::Ask),
        ("find found | grep -o a | xargs cat", Decision::Ask),
        ("find found | head -c 9 | xargs cat", Decision::Ask),
        ("find found | tee x | xargs cat", Decision::Ask),
        ("find found -printf '/etc/%f\\n' | xargs cat", Decision::Ask),
        ("find found -ls | xargs cat", Decision::Ask),
        ("find found | grep -v b | xargs cat", Decision::Allow),
        ("find found | xargs -I{} cat {}", Decision::Allow),
        ("find found | xargs -I{} cat /etc/{}", Decision::Ask),
        ("find found | xargs -n1 wc -l", Decision::Allow),
        ("find found | xargs -d x cat", Decision::Ask),
        ("find() { echo /etc/passwd; }; find found | xargs cat", Decision::Ask),
        ("find() { echo /etc/passwd; }; cat $(find found)", Decision::Ask),
        ("IFS=/; cat $(find found -type f)", Decision::Ask),
        ("cat x$(find found)", Decision::Ask),
        ("find found | xargs", Decision::Allow),
        ("find found | xargs grep", Decision::Allow),
        ("find found | xargs uniq", Decision::Ask),
        ("find found | xargs look", Decision::Ask),
        ("find found | xargs sed -n 1p", Decision::Allow),
        ("find found | xargs sed -i s/a/b/", Decision::Ask),
        ("find found | xargs rm", Decision::Ask),
        ("find found | xargs bash", Decision::Ask),
        ("find found | xargs", Decision::Allow),
    ] {
        assert_eq!(decision(&fixture, command), expected, "{command}");
    }
}

#[test]
fn what_is_left_out_for_sure_is_not_decided() {
    let fixture = with_files(&["a.rs", "target/.env", "deep/target/.env", ".env"]);
    for (expression, expected) in [
        ("-name '*.rs'", Decision::Allow),
        ("-iname '*.RS'", Decision::Allow),
        ("! -name '.env'", Decision::Allow),
        ("-path found/target -prune -o -name '*.rs' -print", Decision::Allow),
        ("-name target -prune -o -type f ! -name .env -print", Decision::Allow),
        ("-name target -prune -o -type f -print", Decision::Ask),
        ("-type f -not -path '*/.env'", Decision::Allow),
        ("-type f -not -path '*target*'", Decision::Ask),
        ("-type f -size +1k", Decision::Ask),
        ("-name '[.]env'", Decision::Ask),
        ("-name .en? -o -name '*.rs'", Decision::Ask),
        ("\\( -name '*.rs' -o -name x \\) -type f", Decision::Allow),
        ("-maxdepth 1 -type f -name '.e*'", Decision::Ask),
        ("-mindepth 3 -type f -name '.e*'", Decision::Ask),
        ("-newer notes.txt -name '*.rs'", Decision::Allow),
        // The entries of a directory come before it, so that none is left out.
        ("-depth -name target -prune -o -type f ! -path found/.env -print", Decision::Ask),
    ] {
        let command = format!("find found {expression} | xargs cat");
        let command =
            if expression.contains("-print") { command } else { command.replace(" | ", " -type f | ") };
        assert_eq!(decision(&fixture, &command), expected, "{command}");
    }
}
