//! `grep` and `glob` beside ripgrep, over the sources in cargo's registry.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Case;
use crate::Result;

const AIM: Option<f64> = Some(1.1);

/// The patterns, rare enough that no program stops early.
const PATTERNS: &[(&str, &str)] = &[
    ("a rare word", "MAX_LINE_CHARACTERS"),
    ("a word that is nowhere", "zqxjkvbnwq"),
    ("a rare pattern", r"fn \w+_to_\w+_unchecked\("),
    ("a pattern without a literal", r"\b[A-Z]{3}\d{5}[a-z]{4}\b"),
];

pub(super) fn cases(toolkit: &Path, _: &Path) -> Result<Vec<Case>> {
    let sources = sources()?;
    let command = |program: &Path, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&sources);
        command
    };
    let rg = Path::new("rg");
    let mut cases: Vec<Case> = PATTERNS
        .iter()
        .map(|(what, pattern)| Case {
            name: format!("grep: {what}"),
            ours: command(toolkit, &["call", "grep", "--pattern", pattern, "--limit", "1000"]),
            // In the same order, and with binary files searched to their first match.
            peer: command(rg, &["--no-config", "--sort=path", "--binary", "-n", "-e", pattern, "./"]),
            aim: AIM,
        })
        .collect();
    for (what, pattern) in [("every source", "*.rs"), ("all manifests", "**/Cargo.toml")] {
        let glob = format!("--glob={pattern}");
        cases.push(Case {
            name: format!("glob: {what}"),
            ours: command(toolkit, &["call", "glob", "--pattern", pattern, "--limit", "1000"]),
            peer: command(rg, &["--no-config", "--files", "--sortr=modified", &glob, "./"]),
            aim: AIM,
        });
    }
    Ok(cases)
}

fn sources() -> Result<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let sources = home.ok_or("neither CARGO_HOME nor HOME is set")?.join("registry/src");
    if sources.is_dir() { Ok(sources) } else { Err(format!("{} is not there", sources.display()).into()) }
}
