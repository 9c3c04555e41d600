//! Patterns that curl expands by itself, in URLs and in the names of files to upload: `{a,b}` and `[a-z]`.

/// Maximum number of texts that a pattern expands to.
const MAX_EXPANSIONS: usize = 256;

/// Returns the texts that a word with patterns expands to; none if it has no pattern, and `None` if there are too many.
pub(super) fn expansions(word: &str) -> Option<Vec<String>> {
    let mut texts = vec![String::new()];
    let mut rest = word;
    let mut has_pattern = false;
    while let Some(at) = rest.find(['{', '[']) {
        let (before, pattern) = rest.split_at(at);
        let close = if pattern.starts_with('{') { '}' } else { ']' };
        let end = pattern.find(close);
        let alternatives = end.and_then(|end| alternatives(pattern.get(..1)?, pattern.get(1..end)?));
        // Without an alternative the bracket stands for itself.
        let (alternatives, length) = match (alternatives, end) {
            (Some(alternatives), Some(end)) => (alternatives, end + 1),
            _ => (vec![pattern[..1].to_owned()], 1),
        };
        has_pattern |= length > 1;
        if alternatives.len() > MAX_EXPANSIONS / texts.len() {
            return None;
        }
        let with = |text: &String| {
            let each = alternatives.iter().map(|alternative| format!("{text}{before}{alternative}"));
            each.collect::<Vec<_>>()
        };
        texts = texts.iter().flat_map(with).collect();
        rest = &pattern[length..];
    }
    if !has_pattern {
        return Some(Vec::new());
    }
    for text in &mut texts {
        text.push_str(rest);
    }
    Some(texts)
}

/// Returns the alternatives of a pattern: those of a list, or the characters or numbers of a range.
fn alternatives(open: &str, inner: &str) -> Option<Vec<String>> {
    if open == "{" {
        return Some(inner.split(',').map(str::to_owned).collect());
    }
    let (range, step) = inner.split_once(':').unwrap_or((inner, "1"));
    let (first, last) = range.split_once('-')?;
    let step: usize = step.parse().ok().filter(|step| *step > 0)?;
    let character = |text: &str| {
        let mut characters = text.chars();
        characters.next().filter(|c| c.is_ascii_alphabetic() && characters.next().is_none())
    };
    if let Some((first, last)) = character(first).zip(character(last)) {
        return Some((first..=last).step_by(step).map(String::from).collect());
    }
    let (low, high): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    // A number keeps the leading zeros of the first.
    let numbers = (low..=high).step_by(step).take(MAX_EXPANSIONS + 1);
    Some(numbers.map(|number| format!("{number:0width$}", width = first.len())).collect())
}
