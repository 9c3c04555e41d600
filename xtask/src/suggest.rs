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
        .map(|candidate| (strsim::levenshtein(name, candidate), candidate))
        .filter(|(distance, candidate)| distance * 2 <= candidate.chars().count().max(2))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

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
