//! Compares words in different case styles: `filePath`, `file-path`, `FILE_PATH` and `file_path`.

/// The longest word that is compared, in bytes.
const LONGEST: usize = 256;

/// Returns the one word among `options` that equals `given` apart from the case style; `None` if there are
/// several.
pub(in super::super) fn only_match<'a>(
    given: &str,
    options: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let folded = fold(given)?;
    let mut found = None;
    for option in options {
        if fold(option).as_ref() == Some(&folded)
            && found.replace(option).is_some_and(|other| other != option)
        {
            return None;
        }
    }
    found
}

/// Returns a word in lower case and without the separators between its parts. A separator between digits stays,
/// and so does a sign before them, because they distinguish `1-1` and `-1` from `11` and `1`.
pub(super) fn fold(word: &str) -> Option<String> {
    let word = word.trim();
    if word.is_empty() || word.len() > LONGEST {
        return None;
    }
    let mut folded = String::with_capacity(word.len());
    let mut before: Option<char> = None;
    let mut characters = word.chars().peekable();
    while let Some(character) = characters.next() {
        let after = characters.peek();
        let separates = matches!(character, '_' | '-' | ' ')
            && before.is_some_and(char::is_alphanumeric)
            && after.is_some_and(|after| after.is_alphanumeric())
            && !(before.is_some_and(char::is_numeric) && after.is_some_and(|after| after.is_numeric()));
        if !separates {
            folded.extend(character.to_lowercase());
        }
        before = Some(character);
    }
    Some(folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_in_many_styles() {
        for given in
            ["filePath", "FilePath", "file-path", "FILE_PATH", "file path", "filepath", " file_path\n"]
        {
            assert_eq!(only_match(given, ["file_path", "file"]), Some("file_path"), "{given}");
            assert_eq!(only_match(given, ["path", "filePath"]), Some("filePath"), "{given}");
        }
        assert_eq!(only_match("ÉTÉ", ["été"]), Some("été"));
        assert_eq!(only_match("item 1", ["item_1"]), Some("item_1"));
    }

    #[test]
    fn other_words_are_other_words() {
        for (given, options) in [
            ("-1", &["1"][..]),
            ("1-1", &["11"]),
            ("1_000", &["1000"]),
            ("file__path", &["file_path"]),
            ("_path", &["path"]),
            ("path_", &["path"]),
            ("<", &["<="]),
            ("", &[""]),
            ("AB", &["ab", "a_b"]),
            ("paths", &["path"]),
        ] {
            assert_eq!(only_match(given, options.iter().copied()), None, "{given}");
        }
        let long = "x".repeat(LONGEST + 1);
        assert_eq!(only_match(&long, [long.as_str()]), None);
    }

    #[test]
    fn words_are_compared_up_to_a_length() {
        let longest = "X".repeat(LONGEST);
        assert_eq!(only_match(&longest.to_lowercase(), [longest.as_str()]), Some(longest.as_str()));
        assert_eq!(only_match("", [""]), None);
        assert_eq!(only_match("AB", ["ab", "ab"]), Some("ab"));
    }

    #[test]
    fn separators_count_where_they_do_not_only_separate() {
        for (word, folded) in [
            ("a_b", "ab"),
            ("a-1", "a1"),
            ("1 a", "1a"),
            ("1_1", "1_1"),
            ("_a", "_a"),
            ("a_", "a_"),
            ("a__b", "a__b"),
            ("a_.b", "a_.b"),
            ("a._b", "a._b"),
            ("a.b", "a.b"),
            ("ÀB", "àb"),
        ] {
            assert_eq!(fold(word).as_deref(), Some(folded), "{word}");
        }
    }
}
