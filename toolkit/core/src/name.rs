//! Names of tools, groups and permissions.

/// The maximum length of a tool's name, in bytes: the limit that OpenAI, Anthropic and Gemini share.
pub const MAX_NAME_BYTES: usize = 64;

/// Returns true if `name` is `[a-z][a-z0-9_]*` and at most [`MAX_NAME_BYTES`] long.
///
/// Usable in constants; `#[tool]` checks names that are constant expressions with it.
///
/// ```
/// assert!(toolkit::text::is_valid_name("web_search"));
/// assert!(!toolkit::text::is_valid_name("WebSearch"));
/// ```
pub const fn is_valid_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes.len() > MAX_NAME_BYTES || !bytes[0].is_ascii_lowercase() {
        return false;
    }
    let mut at = 1;
    while at < bytes.len() {
        let byte = bytes[at];
        if !(byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_') {
            return false;
        }
        at += 1;
    }
    true
}

/// The maximum length of a name that is compared with others, in bytes.
const LONGEST_COMPARED: usize = 256;

/// Returns the candidates nearest to `name` by edit distance, best first, at most three. Returns none if no candidate
/// is near, or if `name` is longer than 256 bytes.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // Computing the distance takes time and space in proportion to the product of both lengths.
    if name.len() > LONGEST_COMPARED {
        return Vec::new();
    }
    let wanted = fold(name);
    let limit = (wanted.chars().count() / 3).max(1);
    let mut near: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST_COMPARED)
        .filter_map(|candidate| {
            let folded = fold(candidate);
            let distance = strsim::damerau_levenshtein(&wanted, &folded);
            let contained = wanted.len() >= 4 && folded.contains(&wanted)
                || folded.len() >= 4 && wanted.contains(&folded);
            (distance <= limit || contained).then_some((distance, candidate))
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    near.truncate(3);
    near.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Folds a name to lower case without separators, so that `filePath`, `file-path` and `file_path` are the same name.
fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

/// Normalises a name given by a host (an agent, a channel or a model) for comparison: trimmed, in lower case.
#[doc(hidden)]
pub fn folded(text: &str) -> String {
    text.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for good in ["a", "read", "web_search", "a1", &"a".repeat(64)] {
            assert!(is_valid_name(good), "{good}");
        }
        for bad in ["", "1a", "_a", "Read", "read-file", "a b", "é", &"a".repeat(65)] {
            assert!(!is_valid_name(bad), "{bad}");
        }
    }

    #[test]
    fn nearest_names() {
        let all = ["read", "write", "edit", "file_path", "offset"];
        assert_eq!(nearest("raed", all), ["read"]);
        assert_eq!(nearest("filePath", all), ["file_path"]);
        assert_eq!(nearest("path", all), ["file_path"]);
        assert!(nearest("zzzzzz", all).is_empty());
        assert!(nearest(&"read".repeat(65), all).is_empty());
    }
}
