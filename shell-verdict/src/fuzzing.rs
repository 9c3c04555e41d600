//! Properties that hold for any command: the fuzzer checks them.

use crate::{Access, Decision, Programs, Shell, Situation, Verdict, judge};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// Checks one command.
///
/// # Panics
///
/// If a property does not hold.
pub fn verdict(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let own = judged(text, Shell::Bash);
    assert!(judged(text, Shell::Sh).decision >= own.decision, "sh is judged more freely");
    if own.decision == Decision::Allow {
        assert!(bash_takes(text), "bash does not take what is allowed");
    }
    let is_parsed = own.reasons.is_empty();
    // A text that ends with one of these continues in the next one.
    let goes_on = text.contains("<<") || text.contains('#') || text.ends_with('\\');
    if is_parsed && !goes_on && !text.trim().is_empty() {
        for (before, after) in [
            ("{ ", "\n}"),
            ("( ", "\n)"),
            ("( ( ", "\n))"),
            ("((:; ", "\n) )"),
            ("true && ", ""),
            ("if true; then ", "\nfi"),
        ] {
            let around = judged(&format!("{before}{text}{after}"), Shell::Bash);
            // If bash rejects a text, its first lines may still run, but not if all of it is in brackets.
            let is_weaker = around.decision < own.decision && bash_takes(text);
            assert!(!is_weaker, "{before}…{after} weakens it");
        }
    }
}

fn judged(text: &str, shell: Shell) -> Verdict {
    let env = BTreeMap::from([("HOME".to_owned(), "/home/u".to_owned())]);
    let workspace = Path::new("/nonexistent/workspace");
    let decide = |path: &Path, access: Access| match access {
        Access::Write => Decision::Ask,
        _ if path.starts_with(workspace) => Decision::Allow,
        _ => Decision::Ask,
    };
    let programs = Programs::default();
    judge(
        text,
        &Situation {
            cwd: workspace,
            workspace,
            env: &env,
            programs: &programs,
            shell,
            decide: &decide,
            search: None,
            contained: false,
        },
    )
}

/// Returns true if bash can read a command, without running it.
fn bash_takes(text: &str) -> bool {
    let status = Command::new("/bin/bash")
        .args(["--noprofile", "--norc", "-n", "-c", "--", text])
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    // Without bash, the check is skipped.
    status.map_or(true, |status| status.success())
}
