//! Suggestions for an unknown name.

/// "unknown KIND `NAME`", with the nearest known name if one is near.
pub(crate) fn unknown<'a>(kind: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    match nearest(name, known) {
        Some(nearest) => format!("unknown {kind} `{name}`: did you mean `{nearest}`?"),
        None => format!("unknown {kind} `{name}`"),
    }
}

/// Returns the known name with the smallest edit distance, unless more than half of it would have to be edited.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|candidate| (edit_distance(name, candidate), candidate))
        .filter(|(distance, candidate)| distance * 2 <= candidate.chars().count().max(2))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns the Levenshtein distance: the number of characters to insert, remove or replace.
fn edit_distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, from_char) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to_char) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(from_char != *to_char);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (from, to, distance) in
            [("", "", 0), ("", "ci", 2), ("test", "test", 0), ("tests", "test", 1), ("dosc", "docs", 2)]
        {
            assert_eq!(edit_distance(from, to), distance, "{from} to {to}");
            assert_eq!(edit_distance(to, from), distance, "{to} to {from}");
        }
    }

    #[test]
    fn the_nearest_name_is_suggested() {
        let known = ["test", "ci", "tidy", "docs", "bench"];
        for (name, expected) in [
            ("tests", Some("test")),
            ("doc", Some("docs")),
            ("cii", Some("ci")),
            ("benhc", Some("bench")),
            ("frobnicate", None),
        ] {
            assert_eq!(nearest(name, known.into_iter()), expected, "{name}");
        }
    }

    #[test]
    fn the_message_names_both() {
        assert_eq!(
            unknown("subcommand", "tset", ["test"].into_iter()),
            "unknown subcommand `tset`: did you mean `test`?"
        );
        assert_eq!(unknown("subcommand", "xyz", ["bench"].into_iter()), "unknown subcommand `xyz`");
    }
}
