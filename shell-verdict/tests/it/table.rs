//! Expected verdicts on the commands of the tables in `tests/table`: one file a subject, a row a command.

use crate::common;

use common::index::tracking;
use common::{Fixture, rows};
use shell_verdict::{Class, Decision};
use std::collections::BTreeMap;

#[test]
fn each_command_gets_its_verdict() {
    let plain = Fixture::new();
    let tracking = tracking(&["README.md", "a.txt", "secret/.env", "src/main.rs"]);
    let rows = rows();
    assert!(rows.len() >= 600, "only {} rows", rows.len());
    let mut wrong = Vec::new();
    let mut by_file: BTreeMap<String, usize> = BTreeMap::new();
    for row in &rows {
        let verdict = row.judge(if row.tracked { &tracking } else { &plain });
        let fits = match row.decision.as_str() {
            ">=ask" => verdict.decision >= Decision::Ask,
            expected => verdict.decision.as_str() == expected,
        };
        if !fits || (row.class != "-" && verdict.class.as_str() != row.class) {
            *by_file.entry(row.place.split(':').next().unwrap().to_owned()).or_default() += 1;
            let mut why: Vec<String> = verdict.reasons.iter().map(|reason| reason.text.clone()).collect();
            why.extend(
                verdict.each_part().flat_map(|part| part.reasons.iter().map(|reason| reason.text.clone())),
            );
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
