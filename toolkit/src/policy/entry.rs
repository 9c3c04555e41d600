//! Entries of lists: parsing and matching.

pub(crate) use toolkit_core::name::folded;

/// The maximum length of an entry, in bytes. No name of a tool, plugin or group is nearly as long.
const MAX_ENTRY_BYTES: usize = 256;

/// The group of every tool that is not a core tool.
pub(crate) const PLUGINS: &str = "plugins";

/// A parsed entry of a list, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A tool by its name or alias, or a plugin by its id.
    Name(String),
    /// `group:<name>`.
    Group(String),
    /// A pattern with `*` for names of tools and ids of plugins.
    NamePattern(String),
    /// A pattern with `*` for groups: `group:<pattern>`.
    GroupPattern(String),
}

impl Entry {
    /// Parses an entry as it was written.
    ///
    /// # Errors
    ///
    /// Returns the reason why it is not valid, as a clause.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let entry = normalised(text);
        if entry.is_empty() {
            return Err("is empty");
        }
        if entry.len() > MAX_ENTRY_BYTES {
            return Err("is longer than 256 bytes");
        }
        if entry.chars().any(char::is_control) {
            return Err("contains a control character");
        }
        if !entry.is_ascii() {
            return Err("contains a character that names cannot have");
        }
        let (name, is_group) = match entry.strip_prefix("group:") {
            Some(name) => (name.trim(), true),
            None => (entry.as_str(), false),
        };
        if name.is_empty() {
            return Err("names no group: write a name after `group:`");
        }
        let mut name = name.to_owned();
        while name.contains("**") {
            // This is the same pattern, and many stars would take long to match.
            name = name.replace("**", "*");
        }
        Ok(match (is_group, name.contains('*')) {
            (false, false) => Self::Name(name),
            (true, false) => Self::Group(name),
            (false, true) => Self::NamePattern(name),
            (true, true) => Self::GroupPattern(name),
        })
    }
}

/// Normalises the name of a tool for comparison: trimmed, in lower case.
pub(crate) fn normalised(text: &str) -> String {
    text.trim().to_ascii_lowercase()
}

/// Returns true if the whole of `text` matches `pattern`, in which `*` matches any text, including the empty text.
///
/// In the worst case, the time is proportional to the product of both lengths.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut place) = (0, 0);
    // The positions at which to retry if the text after the last star does not match: the star then matches one more
    // byte.
    let mut retry: Option<(usize, usize)> = None;
    while place < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                at += 1;
                retry = Some((at, place));
            }
            Some(byte) if *byte == text[place] => {
                at += 1;
                place += 1;
            }
            _ => match &mut retry {
                Some((after_star, from)) => {
                    *from += 1;
                    (at, place) = (*after_star, *from);
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
    fn what_entries_name() {
        let name = |name: &str| Ok(Entry::Name(name.to_owned()));
        let group = |name: &str| Ok(Entry::Group(name.to_owned()));
        for (text, expected) in [
            ("read", name("read")),
            ("  Read\t", name("read")),
            ("acme-tools", name("acme-tools")),
            ("group:fs", group("fs")),
            (" GROUP: FS ", group("fs")),
            ("group", name("group")),
            ("groups:fs", name("groups:fs")),
            ("*", Ok(Entry::NamePattern("*".to_owned()))),
            ("group*", Ok(Entry::NamePattern("group*".to_owned()))),
            ("***a****b*****", Ok(Entry::NamePattern("*a*b*".to_owned()))),
            ("Web_*", Ok(Entry::NamePattern("web_*".to_owned()))),
            ("group:*", Ok(Entry::GroupPattern("*".to_owned()))),
            ("", Err("is empty")),
            (" \n ", Err("is empty")),
            ("group:", Err("names no group: write a name after `group:`")),
            ("group: ", Err("names no group: write a name after `group:`")),
            ("re\u{0}ad", Err("contains a control character")),
            ("re\u{1b}[2Kad", Err("contains a control character")),
            ("réad", Err("contains a character that names cannot have")),
            // A Cyrillic letter that looks like an "a".
            ("re\u{430}d", Err("contains a character that names cannot have")),
            ("\u{200b}read", Err("contains a character that names cannot have")),
            (&"a".repeat(257), Err("is longer than 256 bytes")),
            (&"a".repeat(256), name(&"a".repeat(256))),
        ] {
            assert_eq!(Entry::parse(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_patterns_match() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*", "read", true),
            ("**", "read", true),
            ("r*", "read", true),
            ("r*", "r", true),
            ("r*", "write", false),
            ("*d", "read", true),
            ("*d", "reads", false),
            ("r*d", "rd", true),
            ("r*d", "r", false),
            ("*e*", "read", true),
            ("*ab*ab", "aabab", true),
            ("*ab*ab", "ababa", false),
            ("a*b*c", "abbbbc", true),
            ("a*b*c", "acb", false),
            ("read", "read", true),
            ("read", "rea", false),
            ("rea", "read", false),
            ("*.", "read", false),
            ("r?ad", "read", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_pattern_of_stars_takes_no_time() {
        let (pattern, text) = ("*a".repeat(128) + "b", "a".repeat(64));
        assert!((0..1_000).all(|_| !matches(&pattern, &text)));
    }
}
