//! Where the parts of a command stand.

use crate::common;

use common::Fixture;
use shell_verdict::Access;

#[test]
fn a_part_is_all_that_belongs_to_it() {
    let fixture = Fixture::new();
    for (command, parts) in [
        ("cat a > b", &["cat a > b"][..]),
        ("> a cat b | 2>/dev/null rm x", &["> a cat b", "2>/dev/null rm x"]),
        ("a=1 >|b touch c; &>> x ls", &["a=1 >|b touch c", "&>> x ls"]),
        ("cat <<< x | cat <(ls x) > é; wc é <y", &["cat <<< x", "cat <(ls x) > é", "wc é <y"]),
        ("cat <<E > x && ls\na\nE\n", &["cat <<E > x", "ls"]),
        ("echo;>x", &["echo", ">x"]),
        ("(ls; { pwd; })", &["ls", "pwd"]),
    ] {
        let verdict = fixture.judge(command);
        let found: Vec<&str> = verdict.parts.iter().map(|part| &*part.text).collect();
        assert_eq!(found, parts, "{command}");
        for part in &verdict.parts {
            assert_eq!(command.get(part.span.clone()), Some(&*part.text), "{command}");
        }
    }
}

#[test]
fn a_path_is_told_once_for_each_thing_that_is_done_with_it() {
    let fixture = Fixture::new();
    for (command, expected) in [
        (
            "cat README.md README.md src/lib.rs",
            &[("README.md", Access::Read), ("src/lib.rs", Access::Read)][..],
        ),
        ("cat <> README.md", &[("README.md", Access::Read), ("README.md", Access::Write)]),
        ("cat README.md > README.md", &[("README.md", Access::Read), ("README.md", Access::Write)]),
        // A dash alone is the name of a file, and no option.
        ("rm -f - x", &[("-", Access::Write), ("x", Access::Write)]),
        ("cp -p - x", &[("-", Access::ReadTree { follows_links: false }), ("x", Access::Write)]),
    ] {
        let verdict = fixture.judge(command);
        let mut found = verdict.parts[0].paths.clone();
        found.sort();
        let expected: Vec<_> =
            expected.iter().map(|(path, access)| (fixture.workspace.join(path), *access)).collect();
        assert_eq!(found, expected, "{command}");
    }
}

#[test]
fn a_reason_says_what_is_done_with_what() {
    let fixture = Fixture::new();
    let long = format!("x\u{e9}{}", "y".repeat(100));
    for (command, expected) in [
        ("cat /etc/hostname".to_owned(), "it reads /etc/hostname".to_owned()),
        ("ls -R /etc".to_owned(), "it lists all below /etc".to_owned()),
        ("grep -r x /etc".to_owned(), "it reads all below /etc".to_owned()),
        ("ls > /etc/x".to_owned(), "it writes /etc/x".to_owned()),
        ("make all".to_owned(), "make can change files and run what they say".to_owned()),
        // Of what never runs the command behind it is told as well.
        ("sudo -n cat /etc/hostname".to_owned(), "it reads /etc/hostname".to_owned()),
        ("doas -n -s -a x -L cat /etc/hostname".to_owned(), "x is not known to only read".to_owned()),
        // Of what is long it tells the beginning.
        (format!("cat ${{{long}}}"), format!("`${{x\u{e9}{}…` is not understood", "y".repeat(56))),
    ] {
        let verdict = fixture.judge(&command);
        let mut reasons = verdict.reasons.iter().chain(verdict.each_part().flat_map(|part| &part.reasons));
        assert!(reasons.any(|reason| reason.text.starts_with(&expected)), "{command}: {verdict:?}");
    }
}

#[test]
fn what_fails_while_it_is_expanded_ends_its_line_and_the_next_goes_on() {
    let fixture = Fixture::new();
    for fails in [": $((1/0))", ": $[1/0]", "let 1/0", ": ${HOME:1/0}"] {
        let command = format!("{fails}; x=src\ncat $x/main.rs");
        assert_eq!(fixture.judge(&command).decision, shell_verdict::Decision::Ask, "{command}");
    }
}
