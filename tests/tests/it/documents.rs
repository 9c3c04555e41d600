//! The documents of this repository name files, tests and pages that exist.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use std::fs;
use std::path::{Path, PathBuf};
use toolkit_tests::repository;

/// The root's documents and everything in `docs/`.
fn documents() -> Vec<PathBuf> {
    let root = repository();
    let mut documents = Vec::new();
    for directory in [root.clone(), root.join("docs"), root.join("docs/decisions")] {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                documents.push(path);
            }
        }
    }
    documents.sort();
    documents
}

/// Returns the text without its code blocks.
fn prose(text: &str) -> String {
    let mut in_code = false;
    let mut is_prose = |line: &&str| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    };
    text.lines().filter(|line| is_prose(line)).collect::<Vec<_>>().join("\n")
}

/// Returns the anchor that a heading has on the usual hosts of repositories.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = heading.chars().filter(|char| char.is_alphanumeric() || matches!(char, '-' | '_' | ' '));
    kept.map(|char| if char == ' ' { '-' } else { char }).collect()
}

/// Returns what is wrong with the link `target` of the document.
fn broken(document: &Path, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, wanted) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() { document.to_owned() } else { document.parent().unwrap().join(file) };
    if !path.exists() {
        return Some(format!("{}: there is no {target}", document.display()));
    }
    let is_page = path.extension().is_some_and(|extension| extension == "md");
    let has_heading = || {
        let text = prose(&fs::read_to_string(&path).unwrap());
        text.lines().any(|line| line.starts_with('#') && anchor(line) == wanted)
    };
    let is_missing = is_page && !wanted.is_empty() && !has_heading();
    is_missing.then(|| format!("{}: {file} has no heading #{wanted}", document.display()))
}

#[test]
fn links_lead_to_files_and_headings() {
    let documents = documents();
    assert!(documents.len() >= 12, "{documents:?}");
    let mut problems = Vec::new();
    let mut links = 0;
    for document in &documents {
        let text = prose(&fs::read_to_string(document).unwrap());
        for rest in text.split("](").skip(1) {
            let target = rest.split(')').next().unwrap_or_default();
            links += 1;
            problems.extend(broken(document, target));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(links >= 50, "{links}");
}

/// A reference is `path/to/file.rs`, `path/to/directory` or `path/to/file.rs: name_of_a_test`, in code.
#[test]
fn invariants_name_tests_that_exist() {
    let root = repository();
    let document = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let (_, section) = document.split_once("\n## Invariants\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let mut problems = Vec::new();
    let mut found = 0;
    for reference in section.split('`').skip(1).step_by(2).filter(|code| code.contains('/')) {
        let (path, test) = reference.split_once(": ").unwrap_or((reference, ""));
        match fs::read_to_string(root.join(path)) {
            _ if !root.join(path).exists() => problems.push(format!("there is no {path}")),
            Ok(source) if !test.is_empty() && !source.contains(&format!("fn {test}(")) => {
                problems.push(format!("{path} has no test {test}"));
            }
            _ => found += usize::from(!test.is_empty()),
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(found >= 30, "{found}");
}
