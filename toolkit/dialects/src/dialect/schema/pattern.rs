//! Patterns that every regular expression engine supports.

/// Returns true if a pattern uses only features that every engine supports: no look-around and no
/// back-references.
pub(super) fn is_plain_pattern(pattern: &str) -> bool {
    let mut escaped = false;
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        match (escaped, c) {
            (true, '1'..='9' | 'k' | 'p' | 'P' | 'b' | 'B') => return false,
            (true, _) => escaped = false,
            (false, '\\') => escaped = true,
            (false, '(') if rest.peek() == Some(&'?') => {
                let mut ahead = rest.clone();
                ahead.next();
                if ahead.next() != Some(':') {
                    return false;
                }
            }
            _ => {}
        }
    }
    !escaped
}
