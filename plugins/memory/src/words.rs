//! The words of a text, for indexing and searching.
//!
//! SQLite's own tokenizers fall short of three things: `unicode61` takes a whole sentence of Chinese for one word, and knows neither
//! symbols nor the letters of later versions of Unicode; `trigram` finds no word of two characters. So texts are folded and split
//! here; `ascii` only parts at the spaces between, and takes all that is not ASCII for a part of a word.

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Maximum number of terms of a query that count.
const MAX_TERMS: usize = 64;
/// Minimum length in characters of a word that also matches as a prefix. Korean particles follow words of two characters.
const SHORTEST_PREFIX: usize = 3;
const SHORTEST_KOREAN_PREFIX: usize = 2;

/// Returns a text in the form for the index: its words, separated by spaces.
pub(crate) fn indexed(text: &str) -> String {
    let mut indexed = String::with_capacity(text.len());
    for run in runs(text) {
        for word in run.words() {
            if !indexed.is_empty() {
                indexed.push(' ');
            }
            indexed.push_str(&word);
        }
    }
    indexed
}

/// Returns an FTS5 query that finds any of the words; `None` if there is none. Each word is quoted, and none contains a quote, since
/// only letters, digits and their marks are kept.
pub(crate) fn query(text: &str) -> Option<String> {
    let terms: Vec<String> = runs(text).flat_map(Run::terms).take(MAX_TERMS).collect();
    (!terms.is_empty()).then(|| terms.join(" OR "))
}

/// Characters that belong together.
#[derive(Debug, PartialEq, Eq)]
enum Run {
    /// A word of a script with spaces.
    Word(String),
    /// Characters of a script without.
    Characters(Vec<char>),
}

impl Run {
    fn words(self) -> Vec<String> {
        match self {
            Self::Word(word) => vec![word],
            Self::Characters(characters) => characters.into_iter().map(String::from).collect(),
        }
    }

    fn terms(self) -> Vec<String> {
        match self {
            // A whole word matches both terms, so it ranks before a prefix.
            Self::Word(word) if is_prefix(&word) => {
                vec![format!("\"{word}\""), format!("\"{word}\" *")]
            }
            Self::Word(word) => vec![format!("\"{word}\"")],
            Self::Characters(characters) => match characters.as_slice() {
                [one] => vec![format!("\"{one}\"")],
                more => more.windows(2).map(|pair| format!("\"{} {}\"", pair[0], pair[1])).collect(),
            },
        }
    }
}

fn runs(text: &str) -> impl Iterator<Item = Run> {
    let folded = text.nfkd().filter(|char| !is_left_out(*char)).nfc();
    let mut characters = folded.flat_map(char::to_lowercase).peekable();
    std::iter::from_fn(move || {
        let first = characters.find(|char| is_of_word(*char) || is_symbol(*char))?;
        if is_symbol(first) {
            return Some(Run::Characters(vec![first]));
        }
        let has_spaces = !is_without_spaces(first);
        let mut run = vec![first];
        while let Some(next) =
            characters.next_if(|char| is_of_word(*char) && is_without_spaces(*char) != has_spaces)
        {
            run.push(next);
        }
        Some(if has_spaces { Run::Word(run.into_iter().collect()) } else { Run::Characters(run) })
    })
}

/// Returns true for marks of Latin, Greek and Cyrillic letters, which are dropped; those of other scripts are part of their words.
/// Selectors for emoji presentation and enclosing keycaps are dropped too.
fn is_left_out(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}' | '\u{fe00}'..='\u{fe0f}' | '\u{20e3}')
}

fn is_prefix(word: &str) -> bool {
    let is_korean = word.starts_with(|char| matches!(char, '\u{ac00}'..='\u{d7a3}'));
    word.chars().count() >= if is_korean { SHORTEST_KOREAN_PREFIX } else { SHORTEST_PREFIX }
}

fn is_of_word(char: char) -> bool {
    (char.is_alphanumeric() || is_combining_mark(char)) && !is_symbol(char) || is_of_flag(char)
}

/// Returns true if the character is a pictograph or another symbol with a meaning of its own: not a box-drawing character, nor a
/// replacement for lost characters.
fn is_symbol(char: char) -> bool {
    !char.is_ascii()
        && !matches!(char, '\u{2500}'..='\u{259f}' | '\u{fffc}' | '\u{fffd}')
        && !is_of_flag(char)
        && get_general_category(char) == GeneralCategory::OtherSymbol
}

/// Two of them are the flag of a country.
fn is_of_flag(char: char) -> bool {
    matches!(char, '\u{1f1e6}'..='\u{1f1ff}')
}

/// Returns true if the character belongs to a script without spaces between words.
fn is_without_spaces(char: char) -> bool {
    matches!(char,
        '\u{0e00}'..='\u{0eff}'         // Thai, Lao
        | '\u{1000}'..='\u{109f}'       // Burmese
        | '\u{1780}'..='\u{17ff}'       // Khmer
        | '\u{3005}'..='\u{3007}'       // signs that stand for Chinese characters
        | '\u{3040}'..='\u{312f}'       // Japanese, Bopomofo
        | '\u{31a0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'       // Chinese characters
        | '\u{4e00}'..='\u{9fff}'
        | '\u{a9e0}'..='\u{a9ff}'
        | '\u{aa60}'..='\u{aa7f}'
        | '\u{f900}'..='\u{faff}'
        | '\u{1b000}'..='\u{1b16f}'
        | '\u{20000}'..='\u{3ffff}')
        || is_of_flag(char)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_indexed_and_sought() {
        for (text, expected_index, expected_query) in [
            ("", "", None),
            ("*** -- \"' \u{0} ^ $ + │ \u{fffd}", "", None),
            ("🎂 12 May", "🎂 12 may", Some("\"🎂\" OR \"12\" OR \"may\" OR \"may\" *")),
            ("a🎂b❤️", "a 🎂 b ❤", Some("\"a\" OR \"🎂\" OR \"b\" OR \"❤\"")),
            ("👍🏽👩\u{200d}🚀", "👍 👩 🚀", Some("\"👍\" OR \"👩\" OR \"🚀\"")),
            ("🇩🇪🇫", "🇩 🇪 🇫", Some("\"🇩 🇪\" OR \"🇪 🇫\"")),
            ("1\u{fe0f}\u{20e3}", "1", Some("\"1\"")),
            ("Ⓐ🅐☎", "a 🅐 ☎", Some("\"a\" OR \"🅐\" OR \"☎\"")),
            (
                "我的生日是5月",
                "我 的 生 日 是 5 月",
                Some("\"我 的\" OR \"的 生\" OR \"生 日\" OR \"日 是\" OR \"5\" OR \"月\""),
            ),
            ("a", "a", Some("\"a\"")),
            ("Ab, cde!", "ab cde", Some("\"ab\" OR \"cde\" OR \"cde\" *")),
            ("Crème BRÛLÉE", "creme brulee", Some("\"creme\" OR \"creme\" * OR \"brulee\" OR \"brulee\" *")),
            ("cafe\u{301}", "cafe", Some("\"cafe\" OR \"cafe\" *")),
            ("ＡＢ①", "ab1", Some("\"ab1\" OR \"ab1\" *")),
            ("東京", "東 京", Some("\"東 京\"")),
            ("京", "京", Some("\"京\"")),
            ("東京都 v2", "東 京 都 v2", Some("\"東 京\" OR \"京 都\" OR \"v2\"")),
            ("ガ", "ガ", Some("\"ガ\"")),
            ("ｶﾞ", "ガ", Some("\"ガ\"")),
            ("हिन्दी", "हिन्दी", Some("\"हिन्दी\" OR \"हिन्दी\" *")),
            ("한국어", "한국어", Some("\"한국어\" OR \"한국어\" *")),
            (
                "NEAR(a b) AND text:x*",
                "near a b and text x",
                Some(
                    "\"near\" OR \"near\" * OR \"a\" OR \"b\" OR \"and\" OR \"and\" * OR \"text\" OR \"text\" * OR \"x\"",
                ),
            ),
        ] {
            assert_eq!(indexed(text), expected_index, "{text:?}");
            assert_eq!(query(text).as_deref(), expected_query, "{text:?}");
        }
    }

    #[test]
    fn a_query_is_bounded() {
        let long = "word ".repeat(1_000);
        assert_eq!(query(&long).unwrap().matches(" OR ").count(), MAX_TERMS - 1);
    }
}
