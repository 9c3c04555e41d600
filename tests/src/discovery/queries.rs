//! Search queries of models, with the expected tools.

/// One query.
#[derive(Debug, Clone)]
pub struct Query {
    /// The difficulty: `plain`, `typo`, `words` or `form`.
    pub kind: String,
    /// The query.
    pub text: String,
    /// The tools of which one should be found.
    pub tools: Vec<String>,
}

/// All queries.
///
/// # Panics
///
/// Where a line of `queries.txt` has no kind, no query or no tool.
pub fn queries() -> Vec<Query> {
    let lines = include_str!("queries.txt").lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| {
            let mut parts = line.split('|').map(|part| part.trim().to_owned());
            let (Some(kind), Some(text)) = (parts.next(), parts.next()) else { panic!("no query: {line}") };
            let tools: Vec<String> = parts.collect();
            assert!(!tools.is_empty(), "{line}");
            Query { kind, text, tools }
        })
        .collect()
}
