//! How much a workspace can put before its user: files that anybody may have put there.

use super::Place;
use std::fs;
use std::time::{Duration, Instant};
use toolkit::{Toolkit, config::Configuration};

/// A file in each of so many directories, one within the other; the last is the workspace.
fn nested(count: usize, text: &str) -> (Place, String) {
    let place = Place::new();
    let mut directory = "work".to_owned();
    for _ in 0..count {
        directory.push_str("/d");
        fs::create_dir(place.path(&directory)).unwrap();
        place.write(&format!("{directory}/toolkit.json5"), text);
    }
    (place, directory)
}

#[test]
fn files_above_the_workspace_are_counted_together() {
    let denies = |count: usize| format!("{{ tools: {{ deny: ['x'{}] }} }}", ",'x'".repeat(count - 1));
    let long_keys = {
        let key = "k".repeat(250);
        let inner = (0..58).fold("[1]".to_owned(), |inner, _| format!("{{{key}: {inner}}}"));
        format!("{{ plugins: {{ other: {{ a: [{}] }} }} }}", format!("{inner},").repeat(4))
    };
    for (count, text, expected) in [
        (16, "{}".to_owned(), None),
        (17, "{}".to_owned(), Some("more than 16 files")),
        (2, format!("{{}}{}", " ".repeat(600_000)), Some("more than 1048576 bytes together")),
        (1, denies(15_000), None),
        (2, denies(15_000), Some("more than 20000 values together")),
        (1, long_keys.clone(), None),
        (16, long_keys, Some("as many values under long keys")),
    ] {
        let (place, directory) = nested(count, &text);
        let loaded = Configuration::load(place.options().workspace(place.path(&directory)));
        match expected {
            None => drop(loaded.unwrap()),
            Some(expected) => {
                let error = loaded.unwrap_err();
                assert_eq!(error.problems.len(), 1, "{error}");
                let error = place.shown(&error);
                assert!(
                    error.contains(expected) && error.contains("/d/toolkit.json5: with this one"),
                    "{error}"
                );
            }
        }
    }
}

fn list(count: usize, each: impl FnMut(usize) -> String) -> String {
    (0..count).map(each).collect::<Vec<_>>().join(",")
}

#[test]
fn many_patterns_of_a_file_that_nobody_trusts_cost_little_and_are_told_in_few_words() {
    let place = Place::new();
    let entries = list(19_990, |number| format!("'*{number}q*'"));
    place.write("work/toolkit.json5", &format!("{{ tools: {{ deny: [{entries}] }} }}"));
    let start = Instant::now();
    let error = Toolkit::empty().leave_out_incomplete().configuration(place.load()).build().unwrap_err();
    // Without an optimiser on a busy machine it takes a second; a search among all for each takes far longer.
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    assert_eq!(error.problems.len(), 20);
    // All of these match something.
    let entries = list(19_990, |number| format!("'*{}*'", "*".repeat(number % 10)));
    place.write("work/toolkit.json5", &format!("{{ tools: {{ deny: [{entries}] }} }}"));
    let start = Instant::now();
    let toolkit = Toolkit::empty().leave_out_incomplete().configuration(place.load()).build().unwrap();
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    assert!(toolkit.diagnostics().len() < 150, "{}", toolkit.diagnostics().len());
}

#[test]
fn many_names_that_there_are_not_are_told_in_few_words() {
    let place = Place::new();
    let entries = list(6_000, |number| format!("'reed{number}'"));
    let agents = list(2_000, |number| format!("a{number}: {{ tools: {{ profile: 'codin{number}' }} }}"));
    let text = format!("{{ tools: {{ allow: [{entries}] }}, agents: {{ {agents} }} }}");
    place.write("work/toolkit.json5", &text);
    let start = Instant::now();
    let toolkit = Toolkit::empty().leave_out_incomplete().configuration(place.load()).build().unwrap();
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    let said: Vec<String> = toolkit.diagnostics().iter().map(ToString::to_string).collect();
    assert!(said.len() < 250, "{}", said.len());
    let counted = said.iter().filter(|line| line.contains(" more like these")).count();
    assert_eq!(counted, 1, "{:#?}", said.last());
}
