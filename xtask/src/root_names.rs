//! The number of names at the root of the library that tools and hosts use.

use std::collections::BTreeSet;

use crate::source::{Fault, SourceFile};

/// Limit of the names: modules, re-exports and exported macros. A further name belongs in the module of its subject.
const MAX_NAMES: usize = 60;
const ROOT: &str = "toolkit/src/lib.rs";
const SOURCES: &str = "toolkit/src/";

/// A reader finds a name in a short list; a long one is divided by subject.
pub(crate) fn root_is_short(files: &[SourceFile]) -> Vec<Fault> {
    let Some(root) = files.iter().find(|file| file.path == ROOT) else {
        return Vec::new();
    };
    let mut names = names_of(&root.text);
    let sources = files.iter().filter(|file| file.path.starts_with(SOURCES));
    names.extend(sources.flat_map(|file| macros_of(&file.text)));
    if names.len() <= MAX_NAMES {
        return Vec::new();
    }
    let message = format!(
        "{} names at the root, where {MAX_NAMES} are the most: move one to the module of its subject",
        names.len()
    );
    vec![Fault { path: root.path.clone(), line: 1, message }]
}

/// Returns the public modules and re-exports, as rustfmt writes them: each begins at the start of a line and ends with a semicolon.
fn names_of(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let (mut statement, mut hidden) = (String::new(), false);
    for line in text.lines().map(|line| line.split("//").next().unwrap_or_default().trim_end()) {
        if statement.is_empty() {
            if line == "#[doc(hidden)]" {
                hidden = true;
            }
            if !line.starts_with("pub ") {
                hidden &= line.starts_with("#[");
                continue;
            }
        }
        statement.push_str(line);
        if statement.ends_with(';') {
            if !hidden {
                names.extend(named(&statement));
            }
            statement.clear();
            hidden = false;
        }
    }
    names
}

/// Returns the names that a `pub mod` or `pub use` brings.
fn named(statement: &str) -> Vec<String> {
    let statement = statement.trim_end_matches(';');
    let list = statement.split_once('{').map_or(statement, |(_, list)| list.trim_end_matches('}'));
    list.split(',')
        .filter_map(|path| path.trim().rsplit([' ', ':']).next())
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns the exported macros that the documentation shows.
fn macros_of(text: &str) -> Vec<String> {
    let (mut exported, mut hidden, mut names) = (false, false, Vec::new());
    for line in text.lines() {
        exported |= line == "#[macro_export]";
        hidden |= line == "#[doc(hidden)]";
        if let Some(rest) = line.strip_prefix("macro_rules! ")
            && exported
            && !hidden
        {
            names.push(rest.trim_end_matches(['{', ' ']).to_owned());
        }
        if !line.starts_with("#[") && !line.starts_with("//") {
            (exported, hidden) = (false, false);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: String) -> SourceFile {
        SourceFile { path: path.to_owned(), text }
    }

    #[test]
    fn the_sixty_first_name_is_a_fault() {
        let uses = |count: usize| {
            let names: Vec<String> = (0..count).map(|number| format!("Name{number}")).collect();
            format!(
                "//! Root.\n\nmod inner;\npub mod outer;\npub use inner::{{\n    {},\n}};\n",
                names.join(", ")
            )
        };
        let hidden = "#[doc(hidden)]\npub mod __private;\n";
        let macros =
            || file("toolkit/src/macros.rs", "/// A.\n#[macro_export]\nmacro_rules! link {\n}\n".to_owned());
        let of = |count| root_is_short(&[file(ROOT, uses(count) + hidden), macros()]);
        assert!(of(58).is_empty());
        let faults = of(59);
        assert_eq!(faults.len(), 1);
        assert!(faults[0].message.starts_with("61 names"), "{}", faults[0].message);
    }

    #[test]
    fn a_name_counts_once_and_hidden_ones_do_not() {
        let root = "pub use a::skills;\npub mod skills;\npub use b::{C as D, e::F};\n#[doc(hidden)]\npub use g::H;\n";
        let names: Vec<String> = names_of(root).into_iter().collect();
        assert_eq!(names, ["D", "F", "skills"]);
        assert!(macros_of("#[doc(hidden)]\n#[macro_export]\nmacro_rules! own {\n").is_empty());
    }
}
