//! Recorded tries to get around the containment of commands: `tests/table/containment.txt`.

use crate::commands::house::{House, fact, is_whole};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use toolkit::approval::Answer;

const SECRET: &str = "TOPSEC";

/// A workspace, and the commands that are tried in it.
#[derive(Default)]
struct Section {
    line: usize,
    config: String,
    says_yes: bool,
    setup: Vec<String>,
    rows: Vec<(usize, String, String)>,
}

fn sections(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for (at, line) in text.lines().enumerate().map(|(at, line)| (at + 1, line)) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let begun = line.strip_prefix("== ").map(|config| (config, false));
        if let Some((config, says_yes)) = begun.or_else(|| Some((line.strip_prefix("=+ ")?, true))) {
            let config = config.to_owned();
            sections.push(Section { line: at, config, says_yes, ..Section::default() });
            continue;
        }
        let section = sections.last_mut().unwrap();
        if let Some(setup) = line.strip_prefix("$ ") {
            section.setup.push(setup.to_owned());
        } else {
            let (expected, command) = line.split_once(" | ").unwrap_or_else(|| panic!("line {at}: {line}"));
            section.rows.push((at, expected.to_owned(), command.to_owned()));
        }
    }
    sections
}

async fn house(section: &Section) -> House {
    let config: Value = serde_json::from_str(&section.config).unwrap();
    let says = if section.says_yes { |_: &_| Answer::allow() } else { |_: &_| Answer::deny() };
    let house = House::with(config, says).await;
    for name in [".env", "a.txt"] {
        fs::remove_file(house.path(name)).unwrap();
    }
    for setup in &section.setup {
        let made = Command::new("bash")
            .args(["-ec", setup])
            .current_dir(house.path("."))
            .envs([("GIT_AUTHOR_NAME", "a"), ("GIT_COMMITTER_NAME", "a"), ("GIT_CONFIG_NOSYSTEM", "1")])
            .envs([("GIT_AUTHOR_EMAIL", "a@example.org"), ("GIT_COMMITTER_EMAIL", "a@example.org")])
            .envs([("GIT_CONFIG_GLOBAL", "/dev/null")])
            .output()
            .unwrap();
        assert!(made.status.success(), "line {}: {}", section.line, String::from_utf8_lossy(&made.stderr));
    }
    house
}

/// Returns the way in which a row is not as expected.
async fn wrong(house: &House, expected: &str, command: &str) -> Option<String> {
    let content = |path: &Path| fs::read(path).ok();
    let kept = expected.strip_prefix("keeps ").map(|path| house.path(path));
    let before = kept.as_deref().map(content);
    let result = house.exec(command).await;
    let (text, asked) = (result.text(), !house.asked().is_empty());
    // In any of these forms, also with other text before it.
    let forms = [SECRET, "VE9QU0VD", "9QU0VD", "RPUFNFQ", "UT1BTRU", "CESPOT"];
    if forms.iter().any(|form| text.contains(form)) {
        return Some(format!("it tells the secret: {text}"));
    }
    match expected {
        "asks" if !asked => Some(format!("it does not ask: {text}")),
        "runs" if asked || fact(&result, "exitCode") != 0 => Some(format!("it does not run: {text}")),
        _ if kept.as_deref().map(content) != before => Some(format!("the file is another: {text}")),
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_recorded_try_gets_around_the_containment() {
    if !is_whole() {
        return;
    }
    let sections = sections(include_str!("../../table/containment.txt"));
    let (mut wrongs, mut count) = (Vec::new(), 0);
    for section in &sections {
        let first = house(section).await;
        for (line, expected, command) in &section.rows {
            // A try that may change something begins with the workspace as it was.
            let own = if expected.starts_with("keeps") || section.says_yes {
                Some(house(section).await)
            } else {
                None
            };
            count += 1;
            if let Some(why) = wrong(own.as_ref().unwrap_or(&first), expected, command).await {
                wrongs.push(format!("line {line}: {command}\n  {why}"));
            }
        }
    }
    assert!(wrongs.is_empty(), "{} of {count}:\n{}", wrongs.len(), wrongs.join("\n"));
    assert!(count > 100, "only {count} rows");
}
