//! The outcomes as the tables of `MUTANTS.md` show them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::listed::Mutant;

const COLUMNS: [&str; 5] = ["caught", "unviable", "timed out", "survived", "no place"];

pub(crate) fn table(package: &str, mutants: &[Mutant], outcomes: &BTreeMap<String, String>) -> String {
    let mut text = String::from("| File | Mutants | Caught | Unviable | Timed out | Survived | Not tried |\n");
    text.push_str("| --- | --: | --: | --: | --: | --: | --: |\n");
    let mut all = [0; COLUMNS.len()];
    let prefix = format!("{package}/src/");
    let mut survivors = String::new();
    let mut files = crate::files(mutants);
    files.sort_unstable();
    for file in files {
        let mut counts = [0; COLUMNS.len()];
        let mut of_functions: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for mutant in mutants.iter().filter(|mutant| mutant.file == file) {
            let outcome = outcomes.get(&mutant.key()).map_or("no place", String::as_str);
            let column = COLUMNS.iter().position(|column| *column == outcome).unwrap_or(COLUMNS.len() - 1);
            counts[column] += 1;
            if outcome == "survived" {
                let what = mutant.name.split_once(": ").map_or(mutant.name.as_str(), |(_, what)| what);
                let what = what.rsplit_once(" in ").map_or(what, |(what, _)| what);
                let place = format!("{}:{} {what}", mutant.start.0, mutant.start.1);
                of_functions.entry(&mutant.function).or_default().push(place);
            }
        }
        let short = file.strip_prefix(&prefix).unwrap_or(file);
        row(&mut text, &format!("`{short}`"), &counts);
        for (sum, count) in all.iter_mut().zip(counts) {
            *sum += count;
        }
        if !of_functions.is_empty() {
            let _ = writeln!(survivors, "\n### `{short}`\n");
            for (function, places) in of_functions {
                let _ = writeln!(survivors, "* `{function}`: {}.", places.join("; "));
            }
        }
    }
    row(&mut text, "all", &all);
    text + "\nSurvived:\n" + &survivors
}

fn row(text: &mut String, name: &str, counts: &[usize; COLUMNS.len()]) {
    let sum: usize = counts.iter().sum();
    let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
    let _ = writeln!(text, "| {name} | {sum} | {} |", counts.join(" | "));
}
