//! The note on a file with several names: only the one that is written under has the new content.

use toolkit::Ask;

/// Returns the note on a file that had other names when it was replaced.
pub(crate) fn note(shown: &str, other_names: u64) -> Option<String> {
    let had = match other_names {
        0 => return None,
        1 => "1 other name, a hard link, which keeps".to_owned(),
        several => format!("{several} other names, hard links, which keep"),
    };
    Some(format!("{shown} had {had} the old content: it is a separate file now"))
}

/// Adds to a question the consequence for the other names of a file.
pub(crate) fn with_warning(ask: Ask, shown: &str, other_names: u64) -> Ask {
    let keep = match other_names {
        0 => return ask,
        1 => "1 other name keeps".to_owned(),
        several => format!("{several} other names keep"),
    };
    ask.with_text("hard links", format!("{shown} is one of several: {keep} the old content"))
}
