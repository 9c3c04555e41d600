//! Expensive analyses are asked about instead.

use crate::common;

use common::Fixture;
use shell_verdict::Decision;
use std::fmt::Write as _;

#[test]
fn what_grows_without_end_is_asked_about() {
    let fixture = Fixture::new();
    let mut grows = "a=0123456789".to_owned();
    for (from, to) in ('a'..='p').zip('b'..='q') {
        let _ = write!(grows, ";{to}={}", format!("${from}").repeat(8));
    }
    let commands = [
        format!("{grows};cat $q"),
        format!("cat {}", "{a,b}".repeat(20)),
        format!("cat {}", "/*".repeat(30)),
        format!("echo {}", "( ".repeat(5_000)),
        format!("{}ls{}", "$(".repeat(5_000), ")".repeat(5_000)),
        format!("{}ls", "if true; then ".repeat(5_000)),
        // Each of these doubles what the parser does.
        format!("{}i=1", "(".repeat(38)),
        format!("{}i=1", "( ".repeat(38)),
        "case x in x) ".repeat(38),
        format!("{}{}", "(".repeat(8), "case x in x) ".repeat(8)),
        format!("$({}x);", "(".repeat(11)).repeat(3_000),
        format!("{}x{}", "a[${b".repeat(6), "}]".repeat(6)),
        format!("echo {}x{}", "a[${b[".repeat(3), "]}]".repeat(3)),
        "a[${b[${c}]}]=1;".repeat(3_000),
        format!(
            "for i in 1 2 3 4 5 6; do for j in 1 2 3 4 5 6; do eval '{}'; done; done",
            "true x;".repeat(5_000)
        ),
        "ls;".repeat(30_000),
        "xargs -a f ".repeat(5_000),
        format!("nice {}id", "-z ".repeat(200)),
        format!("nice {}id", "--unknown ".repeat(50)),
        format!("{}id", "env -a x A=1 ".repeat(5_000)),
        format!("echo '{}' | sh", "ls;".repeat(20_000)),
        "echo x | sh;".repeat(3_000),
    ];
    for command in commands {
        let verdict = fixture.judge(&command);
        assert_eq!(verdict.decision, Decision::Ask, "{}…", &command[..40]);
    }
    // Stars in a row are as one.
    assert_eq!(fixture.judge(&format!("ls docs/{}", "*".repeat(10_000))).decision, Decision::Allow);
}

#[test]
fn what_is_within_the_limits_is_judged_and_one_more_is_asked_about() {
    type Check<'a> = (&'a str, &'a dyn Fn(usize) -> String, usize);
    let fixture = Fixture::new();
    let nested =
        |open: &str, close: &str, times: usize| format!("{}ls{}", open.repeat(times), close.repeat(times));
    let nested_in = |open: &str, what: &str, close: &str, times: usize| {
        format!("{}{what}{}", open.repeat(times), close.repeat(times))
    };
    let loop_of = |turns: usize| format!("for f in {}; do cat docs/$f.md; done", "a ".repeat(turns));
    let expansions = |what: &str, times: usize| nested_in("${a:-", what, "}", times);
    let subscripts = "echo \"[${a:-[${b}]}]\";";
    let checks: [Check<'_>; 18] = [
        ("the longest", &|length| format!(": {}", "a".repeat(length - 2)), 64 * 1024),
        ("commands", &|count| "ls;".repeat(count), 2_000),
        ("commands in commands", &|depth| format!("{}ls", "eval ".repeat(depth)), 10),
        ("brackets", &|depth| nested("( ", " )", depth), 12),
        ("cases", &|depth| nested("case a in a) ", " ;; esac", depth), 12),
        ("braces", &|depth| nested("{ ", "; }", depth), 40),
        ("keywords", &|depth| nested("if ls; then ", "; fi", depth), 60),
        ("turns", &loop_of, 16),
        // An assignment alone is no command that counts.
        ("assignments in assignments", &|depth| nested_in("a=$(", "b=1", ")", depth), 12),
        ("expansions", &|depth| format!("echo {}", expansions("x", depth)), 25),
        ("a command in expansions", &|depth| format!("echo $(echo {})", expansions("$(ls)", depth)), 23),
        ("quotes in expansions", &|depth| format!("echo {}", expansions("\"${b}\"", depth)), 23),
        (
            "quotes in a command in expansions",
            &|depth| format!("echo $(echo {})", expansions("$(echo \"${b}\")", depth)),
            21,
        ),
        (
            "brackets in a command in expansions",
            &|depth| format!("echo $(echo {})", expansions(&format!("$({})", nested("( ", " )", depth)), 20)),
            3,
        ),
        (
            "brackets that run in turn",
            &|count| format!("eval '{}';", nested("( ", " )", 12)).repeat(count),
            8,
        ),
        ("subscripts", &|count| subscripts.repeat(count), 582),
        ("words of braces", &|count| format!("echo {{1..{count}}}"), 256),
        (
            "a word",
            &|length| format!("a={};cat $a${{a}}{}", "x".repeat(32_000), "x".repeat(length - 64_000)),
            64 * 1024,
        ),
    ];
    for (what, command, most) in checks {
        assert_eq!(fixture.judge(&command(most)).decision, Decision::Allow, "{what}");
        assert_eq!(fixture.judge(&command(most + 1)).decision, Decision::Ask, "one more: {what}");
    }
    // Functions that have ended count no more.
    for one in
        ["{ ls; };", "( ls );", "if ls; then ls; fi;", "case a in a) ls;; esac;", "eval ls;", "f() { ls; };"]
    {
        let times = if one.starts_with('f') { 1 } else { 130 };
        assert_eq!(fixture.judge(&one.repeat(times)).decision, Decision::Allow, "{one}");
    }
}

#[test]
fn what_is_long_but_cheap_is_judged() {
    let fixture = Fixture::new();
    let long = "x".repeat(32_000);
    for command in [
        // A short text costs nothing, however many there are.
        format!("echo $(: {});", "x".repeat(58)).repeat(400),
        format!("echo {{a,b}}{}", "x".repeat(600)),
        // A text that is too long to be known is one word, if it is quoted.
        format!("a={long};[ \"$a$a$a\" = x ]"),
    ] {
        assert_eq!(fixture.judge(&command).decision, Decision::Allow, "{}…", &command[..40]);
    }
}

#[test]
fn a_pattern_that_matches_many_names_is_asked_about() {
    let fixture = Fixture::new();
    let many = fixture.workspace.join("many");
    std::fs::create_dir(&many).unwrap();
    for number in 0..2_000 {
        std::fs::write(many.join(number.to_string()), "").unwrap();
    }
    assert_eq!(fixture.judge("cat many/*").decision, Decision::Allow);
    std::fs::write(many.join("2000"), "").unwrap();
    assert_eq!(fixture.judge("cat many/*").decision, Decision::Ask);
}

#[test]
fn so_often_is_looked_where_a_command_may_begin_and_then_asked() {
    let fixture = Fixture::new();
    // Each of the first has one place where its command may begin, and the last has two.
    for again in ["env -Z ls;", "parallel -Z ls;"] {
        for last in ["env -Z x sudo id", "parallel -Z x sudo id"] {
            for (times, expected) in [(62, Decision::Deny), (63, Decision::Ask)] {
                let command = format!("{}{last}", again.repeat(times));
                assert_eq!(fixture.judge(&command).decision, expected, "{times} times {again} {last}");
            }
        }
    }
}
