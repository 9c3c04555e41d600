//! Tracked files that the words of a git command may match. In doubt a file matches.

use std::path::{Component, Path};

/// The files that pathspecs select.
#[derive(Debug, Default)]
pub(super) struct Pathspecs {
    /// `None` if all files match except the excluded ones.
    meant: Option<Vec<Pattern>>,
    excluded: Vec<Pattern>,
}

#[derive(Debug)]
struct Pattern {
    /// Path relative to the work tree, without a final slash.
    text: String,
    /// True if `*` and `?` are wildcards.
    has_wildcards: bool,
}

impl Pathspecs {
    /// Reads pathspecs. `prefix` is where git runs, from the beginning of the work tree. A word that is not known may mean all.
    pub(super) fn read<'w>(words: impl IntoIterator<Item = Option<&'w str>>, prefix: &Path) -> Self {
        let (mut meant, mut all, mut excluded) = (Vec::new(), false, Vec::new());
        for word in words {
            match word.map(|word| Spec::read(word, prefix)) {
                Some(Spec { is_excluded: true, pattern: Some(pattern), is_exact: true }) => {
                    excluded.push(pattern);
                }
                Some(Spec { is_excluded: true, .. }) => {}
                Some(Spec { pattern: Some(pattern), .. }) => meant.push(pattern),
                Some(Spec { pattern: None, .. }) | None => all = true,
            }
        }
        Self { meant: (!all && !meant.is_empty()).then_some(meant), excluded }
    }

    /// Returns true if a tracked file may be meant.
    pub(super) fn may_mean(&self, name: &str) -> bool {
        let meant =
            self.meant.as_ref().is_none_or(|meant| meant.iter().any(|pattern| pattern.may_mean(name)));
        meant && !self.excluded.iter().any(|pattern| pattern.surely_means(name))
    }
}

impl Pattern {
    fn may_mean(&self, name: &str) -> bool {
        let (text, name) = (self.text.to_lowercase(), name.to_lowercase());
        if text.contains(['[', '\\']) {
            return true;
        }
        // A directory matches everything in it.
        let mut ends = name.match_indices('/').map(|(at, _)| at).chain([name.len()]);
        text.is_empty()
            || ends.any(|end| {
                let part = &name[..end];
                part == text || self.has_wildcards && matches(text.as_bytes(), part.as_bytes())
            })
    }

    fn surely_means(&self, name: &str) -> bool {
        if self.has_wildcards {
            return !self.text.contains(['[', '\\']) && matches(self.text.as_bytes(), name.as_bytes());
        }
        let below = name.strip_prefix(&self.text);
        self.text.is_empty() || below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    }
}

/// A pathspec with its magic.
struct Spec {
    is_excluded: bool,
    /// `None` if it may match anything.
    pattern: Option<Pattern>,
    /// True if the pathspec matches exactly what the pattern matches.
    is_exact: bool,
}

impl Spec {
    fn read(word: &str, prefix: &Path) -> Self {
        let (mut is_excluded, mut is_from_top, mut is_exact, mut is_literal) = (false, false, true, false);
        let mut rest = word;
        if let Some(long) = word.strip_prefix(":(") {
            let Some((magic, path)) = long.split_once(')') else {
                return Self { is_excluded: false, pattern: None, is_exact: false };
            };
            rest = path;
            for magic in magic.split(',') {
                match magic {
                    "exclude" => is_excluded = true,
                    "top" => is_from_top = true,
                    "literal" => is_literal = true,
                    _ => is_exact = false,
                }
            }
        } else if let Some(short) = word.strip_prefix(':') {
            rest = short.trim_start_matches(['!', '^', '/']);
            let magic = &short[..short.len() - rest.len()];
            is_excluded = magic.contains(['!', '^']);
            is_from_top = magic.contains('/');
            rest = rest.strip_prefix(':').unwrap_or(rest);
        }
        let has_wildcards = !is_literal && rest.contains(['*', '?', '[', '\\']);
        let pattern = whole(if is_from_top { Path::new("") } else { prefix }, rest)
            .map(|text| Pattern { text, has_wildcards });
        Self { is_excluded, pattern, is_exact }
    }
}

/// Returns a path relative to the work tree, in git's form. `None` for one that leads out of it.
fn whole(prefix: &Path, rest: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for component in prefix.components().chain(Path::new(rest).components()) {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::Normal(name) => parts.push(name.to_str()?),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

/// Returns true if a pattern describes a whole text, with `*` for any text and `?` for one byte.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while seen < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, seen));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == text[seen] => {
                at += 1;
                seen += 1;
            }
            _ => match star {
                Some((begun, taken)) => {
                    star = Some((begun, taken + 1));
                    (at, seen) = (begun + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_left_out_only_where_that_is_certain() {
        for (words, prefix, name, expected) in [
            (&["src"][..], "", "src/.env", true),
            (&["src/"], "", "src/.env", true),
            (&["src"], "", ".env", false),
            (&["src"], "", "srcs/.env", false),
            (&["."], "", ".env", true),
            (&["."], "a", "a/.env", true),
            (&["."], "a", ".env", false),
            (&[".."], "a", ".env", true),
            (&["../.."], "a", ".env", true),
            (&["SRC"], "", "src/.env", true),
            (&["*.rs"], "", ".env", false),
            (&["*env"], "", "a/.env", true),
            (&["s*"], "", "src/.env", true),
            (&["[s]rc"], "", ".env", true),
            (&[":/"], "a", ".env", true),
            (&[":/src"], "a", ".env", false),
            (&[":(top)src"], "a", "src/.env", true),
            (&[":(attr:x)src"], "", ".env", false),
            (&[":(x"], "", ".env", true),
            (&[":!.env"], "", ".env", false),
            (&[".", ":!.env"], "", ".env", false),
            (&[".", ":^.env"], "", "a/.env", true),
            (&[".", ":(exclude)*.env"], "", "a/.env", false),
            (&[".", ":(exclude,glob)*.env"], "", ".env", true),
            (&[".", ":(exclude,attr:x).env"], "", ".env", true),
            (&[".", ":!a"], "", "a/.env", false),
            (&[".", ":!/.env"], "a", ".env", false),
            (&[".", ":!.ENV"], "", ".env", true),
            (&[".", ":!.en?"], "", ".env", false),
            (&[".", ":(exclude,literal).en?"], "", ".env", true),
            (&[], "", ".env", true),
        ] {
            let read = Pathspecs::read(words.iter().map(|word| Some(*word)), Path::new(prefix));
            assert_eq!(read.may_mean(name), expected, "{words:?} in {prefix:?}: {name}");
        }
        let unknown = Pathspecs::read([Some("src"), None, Some(":!a")], Path::new(""));
        assert!(unknown.may_mean(".env") && !unknown.may_mean("a/.env"));
    }
}
