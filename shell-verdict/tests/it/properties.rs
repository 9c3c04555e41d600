//! Properties of all verdicts.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::common;

use common::{Fixture, Row, rows};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use shell_verdict::{Decision, Shell, Verdict};
use std::process::{Command, Stdio};

/// Ways to put a command into another that runs it.
const AROUND: &[(&str, &str)] = &[
    ("( ", "\n)"),
    // The parser takes these for arithmetic.
    ("( ( ", "\n))"),
    ("( ( ", "))"),
    ("((:; ", "\n) )"),
    ("((:; ", ") )"),
    ("{ ", "\n}"),
    ("if true; then ", "\nfi"),
    ("if ", "\nthen :; fi"),
    ("while ", "\ndo break; done"),
    ("until ! ", "\ndo break; done"),
    ("for i in 1 2; do ", "\ndone"),
    ("case a in a) ", "\n;; esac"),
    ("true && ", ""),
    ("true || ", ""),
    ("true; ", ""),
    ("", "\ntrue"),
    ("! ", ""),
    ("time ", ""),
    ("f() { ", "\n}; f"),
    ("f() ( ", "\n); true && f"),
    ("echo \"$( ", "\n)\""),
    ("x=$( ", "\n)"),
    ("cat < <( ", "\n)"),
    ("[[ -n $( ", "\n) ]]"),
    ("echo ${x:-$( ", "\n)}"),
    ("cat <<END\n$( ", "\n)\nEND\n"),
    ("{ ", "\n} | cat"),
    ("{ ", "\n} &"),
    ("{ ", "\n} 2>/dev/null"),
];

/// Programs and builtins that run the command that follows, which has to be a simple one.
const BEFORE: &[&str] = &[
    "env",
    "env -i",
    "env LC_ALL=C",
    "nice",
    "nice -n 5",
    "nohup",
    "timeout 5",
    "timeout -k 1 5",
    "stdbuf -oL",
    "setsid",
    "command",
    "exec",
    "ionice -c 3",
    "env nice timeout 9",
    "LC_ALL=C",
    "</dev/null",
    "2>/dev/null",
    "time -p",
    "xargs",
    "busybox",
    "strace",
    "command -p",
    "\\env",
];

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Returns true if a command is a single one of plain words, so that something may stand before it.
fn is_plain(command: &str) -> bool {
    let keywords = [
        "if", "for", "while", "until", "case", "time", "!", "{", "[[", "function", "select", "coproc", "do",
        "then",
    ];
    let builtins = [
        "cd",
        "export",
        "declare",
        "typeset",
        "local",
        "readonly",
        "read",
        "set",
        "unset",
        "shift",
        "source",
        ".",
        "eval",
        "exec",
        "trap",
        "alias",
        "shopt",
        "let",
        "test",
        "[",
        "printf",
        "mapfile",
        "readarray",
        "getopts",
        "wait",
        "jobs",
        "kill",
        "history",
        "builtin",
        "command",
        "pushd",
        "popd",
        "hash",
        "type",
        "bind",
        "compgen",
        "complete",
        "enable",
        "fc",
        "ulimit",
        "return",
        "exit",
        "break",
        "continue",
        "compopt",
        "disown",
        "fg",
        "bg",
        "suspend",
        "umask",
        "dirs",
        "help",
        "caller",
        "logout",
        "times",
        "unalias",
        "echo",
        "pwd",
        "true",
        "false",
        ":",
    ];
    let first = command.split(' ').next().unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " ./_-~:,%+@".contains(c);
    !command.starts_with('-')
        && command.chars().all(is_plain)
        && !keywords.contains(&first)
        && !builtins.contains(&first)
        && !first.contains('~')
        && !command.contains('~')
}

fn is_parsed(verdict: &Verdict) -> bool {
    !verdict.reasons.iter().any(|reason| reason.text.contains("parsed") || reason.text.contains("deep"))
}

/// The verdict on a row in another form.
fn told(row: &Row, command: &str, verdict: &Verdict, own: &Verdict) -> String {
    format!("{}: {command:?} is {}, alone {}", row.place, verdict.decision.as_str(), own.decision.as_str())
}

/// Each row in some of the constructs, and each construct around some of the rows: all of both with `SHELL_VERDICT_EVERY=1`.
#[test]
fn what_stands_around_a_command_never_weakens_its_verdict() {
    let every = std::env::var("SHELL_VERDICT_EVERY").ok().and_then(|every| every.parse().ok()).unwrap_or(8);
    let fixture = Fixture::new();
    let mut weaker = Vec::new();
    for (number, row) in rows().into_iter().enumerate() {
        let own = fixture.judge(&row.command);
        // A row that ends in the middle of something takes in the next one.
        let ends_open = row.command.contains("<<")
            || row.command.contains('#')
            || row.command.ends_with('\\')
            || !is_parsed(&own);
        if ends_open {
            continue;
        }
        for (before, after) in AROUND.iter().skip(number % every).step_by(every) {
            // A pipe gives `rg` and others something else to read; a subshell of `exec` or `exit` ends alone.
            let command = format!("{before}{}{after}", row.command);
            let verdict = fixture.judge(&command);
            if verdict.decision < own.decision {
                weaker.push(told(&row, &command, &verdict, &own));
            }
        }
        for command in [
            format!("eval {}", quoted(&row.command)),
            format!("bash -c {}", quoted(&row.command)),
            format!("sh -c {}", quoted(&row.command)),
        ] {
            let verdict = fixture.judge(&command);
            if verdict.decision < own.decision {
                weaker.push(told(&row, &command, &verdict, &own));
            }
        }
        if is_plain(&row.command) {
            for before in BEFORE.iter().skip(number % every).step_by(every) {
                let command = format!("{before} {}", row.command);
                let verdict = fixture.judge(&command);
                if verdict.decision < own.decision {
                    weaker.push(told(&row, &command, &verdict, &own));
                }
            }
        }
    }
    assert!(weaker.is_empty(), "{}\n{}", weaker.len(), weaker.join("\n"));
}

#[test]
fn quotes_and_backslashes_change_nothing() {
    let fixture = Fixture::new();
    let mut others = Vec::new();
    for row in rows().iter().filter(|row| is_plain(&row.command)) {
        let own = fixture.judge(&row.command);
        let (first, rest) = row.command.split_once(' ').unwrap_or((&row.command, ""));
        let split = |text: &str| {
            let (one, other) = text.split_at(1);
            [
                format!("{one}''{other}"),
                format!("\"{text}\""),
                format!("'{one}'{other}"),
                format!("\\{text}"),
                format!("$'{text}'"),
                format!("{one}\"\"{other}"),
            ]
        };
        for first in split(first) {
            // A backslash before what is no word of its own would change it.
            let command = format!("{first} {rest}");
            let verdict = fixture.judge(command.trim_end());
            if verdict.decision != own.decision {
                others.push(told(row, &command, &verdict, &own));
            }
        }
        let words: Vec<String> = rest.split(' ').filter(|word| !word.is_empty()).map(quoted).collect();
        let command = format!("{first} {}", words.join(" "));
        let verdict = fixture.judge(command.trim_end());
        if verdict.decision != own.decision {
            others.push(told(row, &command, &verdict, &own));
        }
    }
    assert!(others.is_empty(), "{}\n{}", others.len(), others.join("\n"));
}

#[test]
fn another_shell_is_never_judged_more_freely() {
    let fixture = Fixture::new();
    for row in rows() {
        let (bash, sh) = (fixture.judge(&row.command), fixture.judge_as(&row.command, Shell::Sh));
        assert!(sh.decision >= bash.decision, "{}: {}", row.place, row.command);
    }
}

#[test]
fn what_is_lifted_is_only_what_a_program_does_as_such() {
    let fixture = Fixture::new();
    let lifted = |command: &str| {
        let mut verdict = fixture.judge(command);
        verdict.lift(&mut |part| part.says.is_some());
        verdict.decision
    };
    for (command, expected) in [
        ("cargo test", Decision::Allow),
        ("cargo test && npm run build", Decision::Allow),
        ("cargo test > /dev/null", Decision::Allow),
        ("cargo test > out", Decision::Ask),
        ("cargo test; rm -rf build", Decision::Ask),
        ("cargo test; sudo id", Decision::Deny),
        ("systemctl restart x", Decision::Ask),
        ("LD_PRELOAD=x cargo test", Decision::Ask),
        ("bash -c 'cargo test'", Decision::Allow),
        ("bash build.sh", Decision::Allow),
        ("python3 -c 'print(1)'", Decision::Ask),
        ("python3", Decision::Ask),
        ("sort -o out notes.txt", Decision::Ask),
        ("cat secret/.env", Decision::Ask),
        ("$x", Decision::Ask),
    ] {
        assert_eq!(lifted(command), expected, "{command}");
    }
}

/// Returns true if bash accepts a command, without running it.
fn bash_takes(command: &str) -> bool {
    let status = Command::new("bash")
        .args(["--noprofile", "--norc", "-n", "-c", "--", command])
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.unwrap().success()
}

/// Texts made of what shells give a meaning to.
fn shell_text() -> impl Strategy<Value = String> {
    let pieces = [
        "ls",
        "cat",
        "README.md",
        "src",
        "echo",
        "a",
        "x=1",
        "$x",
        "\"$x\"",
        "${x:-a}",
        "$(ls)",
        "`ls`",
        "'a b'",
        "\"a",
        "'",
        "\"",
        "\\",
        "\\\n",
        "|",
        "||",
        "&",
        "&&",
        ";",
        ";;",
        "\n",
        "(",
        ")",
        "{",
        "}",
        "<",
        ">",
        "<<",
        "<<<",
        "2>&1",
        ">&2",
        "&>",
        "<(",
        ">(",
        "$((",
        "))",
        "1+1",
        "[[",
        "]]",
        "[",
        "]",
        "if",
        "then",
        "fi",
        "else",
        "for",
        "in",
        "do",
        "done",
        "while",
        "case",
        "esac",
        "a)",
        "f()",
        "!",
        "*",
        "?",
        "~",
        "{a,b}",
        "{1..3}",
        "#",
        "$'a'",
        "$\"a\"",
        "-n",
        "=",
        "==",
        "END\n",
        "time",
        "coproc",
        "function",
        "select",
        "|&",
        "+=",
        "-",
        "--",
        "$",
        "${",
        "$[1]",
        "<>",
        ">|",
        "((",
        "EOF",
    ];
    prop::collection::vec(
        (prop::sample::select(pieces.to_vec()), prop::sample::select(vec!["", " ", " ", " "])),
        1..14,
    )
    .prop_map(|parts| parts.into_iter().flat_map(|(piece, blank)| [piece, blank]).collect())
}

/// The same cases each time, since a further difference between two parsers is news and no fault of a change. With
/// `SHELL_VERDICT_CASES` so many others.
fn config() -> ProptestConfig {
    let cases = std::env::var("SHELL_VERDICT_CASES").ok().and_then(|cases| cases.parse().ok());
    let rng_seed = if cases.is_some() { RngSeed::Random } else { RngSeed::Fixed(20_261_122) };
    ProptestConfig {
        cases: cases.unwrap_or(4_000),
        rng_seed,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn nothing_is_allowed_that_bash_does_not_take(text in shell_text()) {
        let fixture = Fixture::shared();
        if fixture.judge(&text).decision == Decision::Allow {
            prop_assert!(bash_takes(&text), "allowed: {text:?}");
        }
    }

    #[test]
    fn no_text_stops_the_judge(text in "\\PC{0,80}") {
        Fixture::shared().judge(&text);
    }
}
