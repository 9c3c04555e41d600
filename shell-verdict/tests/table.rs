//! What must come of each command of the tables in `tests/table`: one file a subject, a row a command.

mod common;

use common::Fixture;
use shell_verdict::{Class, Decision};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

struct Row {
    place: String,
    decision: String,
    class: String,
    command: String,
}

fn rows() -> Vec<Row> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/table");
    let mut files: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut rows = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        for (number, line) in fs::read_to_string(&file).unwrap().lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let place = format!("{name}:{}", number + 1);
            let (expected, command) = line.split_once(" | ").unwrap_or_else(|| panic!("{place}: no command"));
            let (decision, class) = expected.trim().split_once(' ').unwrap_or_else(|| panic!("{place}: no class"));
            rows.push(Row {
                place,
                decision: decision.to_owned(),
                class: class.trim().to_owned(),
                command: unescaped(command),
            });
        }
    }
    rows
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('\\') => out.push('\\'),
                other => panic!("{text}: `\\{other:?}` is no escape"),
            },
            c => out.push(c),
        }
    }
    out
}

#[test]
fn each_command_gets_its_verdict() {
    let fixture = Fixture::new();
    let rows = rows();
    assert!(rows.len() >= 600, "only {} rows", rows.len());
    let mut wrong = Vec::new();
    let mut by_file: BTreeMap<String, usize> = BTreeMap::new();
    for row in &rows {
        let verdict = fixture.judge(&row.command);
        let fits = match row.decision.as_str() {
            ">=ask" => verdict.decision >= Decision::Ask,
            expected => verdict.decision.as_str() == expected,
        };
        if !fits || (row.class != "-" && verdict.class.as_str() != row.class) {
            *by_file.entry(row.place.split(':').next().unwrap().to_owned()).or_default() += 1;
            let mut why: Vec<String> = verdict.reasons.iter().map(|reason| reason.text.clone()).collect();
            why.extend(verdict.each_part().flat_map(|part| part.reasons.iter().map(|reason| reason.text.clone())));
            wrong.push(format!(
                "{}: {:?}\n    expected {} {}, is {} {}: {}",
                row.place,
                row.command,
                row.decision,
                row.class,
                verdict.decision.as_str(),
                verdict.class.as_str(),
                why.join("; ")
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows\n{}\n{by_file:?}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn a_row_that_is_wrong_is_noticed() {
    let fixture = Fixture::new();
    assert_eq!(fixture.judge("rm -rf build").class, Class::Dangerous);
    assert_ne!(fixture.judge("rm -rf build").decision, Decision::Allow);
}
