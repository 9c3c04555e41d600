//! What costs much is asked about, rather than worked out.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod common;

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
    let loop_of = |turns: usize| format!("for f in {}; do cat docs/$f.md; done", "a ".repeat(turns));
    let checks: [Check<'_>; 8] = [
        ("the longest", &|length| format!(": {}", "a".repeat(length - 2)), 64 * 1024),
        ("commands", &|count| "ls;".repeat(count), 2_000),
        ("commands in commands", &|depth| format!("{}ls", "eval ".repeat(depth)), 10),
        ("brackets", &|depth| nested("( ", " )", depth), 12),
        ("cases", &|depth| nested("case a in a) ", " ;; esac", depth), 12),
        ("braces", &|depth| nested("{ ", "; }", depth), 40),
        ("keywords", &|depth| nested("if ls; then ", "; fi", depth), 60),
        ("turns", &loop_of, 16),
    ];
    for (what, command, most) in checks {
        assert_eq!(fixture.judge(&command(most)).decision, Decision::Allow, "{what}");
        assert_eq!(fixture.judge(&command(most + 1)).decision, Decision::Ask, "one more: {what}");
    }
    // What has ended counts no more.
    for one in
        ["{ ls; };", "( ls );", "if ls; then ls; fi;", "case a in a) ls;; esac;", "eval ls;", "f() { ls; };"]
    {
        let times = if one.starts_with('f') { 1 } else { 130 };
        assert_eq!(fixture.judge(&one.repeat(times)).decision, Decision::Allow, "{one}");
    }
}
