//! Where the parts of a command stand.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod common;

use common::Fixture;

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
