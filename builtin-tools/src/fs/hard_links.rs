//! What is said of a file with several names: only the one that is written under has the new content.

use toolkit::Ask;

/// What a result says of a file that had other names when it was replaced.
pub(super) fn note(shown: &str, other_names: u64) -> Option<String> {
    let (count, keep) = words(other_names)?;
    Some(format!(
        "{shown} had {count} (hard links), which {keep} the old content: it is a file of its own from now on"
    ))
}

/// Adds to a question what the answer would do to the other names of a file.
pub(super) fn with_warning(ask: Ask, shown: &str, other_names: u64) -> Ask {
    match words(other_names) {
        Some((count, keep)) => {
            ask.with_text("hard links", format!("{shown} is one of several: {count} {keep} the old content"))
        }
        None => ask,
    }
}

fn words(other_names: u64) -> Option<(String, &'static str)> {
    match other_names {
        0 => None,
        1 => Some(("1 other name".to_owned(), "keeps")),
        several => Some((format!("{several} other names"), "keep")),
    }
}
