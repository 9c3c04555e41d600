//! Splits texts into searchable words.

use super::stem::stem;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// The maximum length of a word; the rest is cut off.
const LONGEST: usize = 40;

/// Words without information about a tool. Sorted.
const EMPTY: &[&str] = &[
    "a",
    "able",
    "about",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "being",
    "but",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "each",
    "else",
    "every",
    "for",
    "from",
    "given",
    "had",
    "has",
    "have",
    "he",
    "help",
    "her",
    "here",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "just",
    "kindly",
    "let",
    "like",
    "may",
    "me",
    "might",
    "must",
    "my",
    "need",
    "needs",
    "no",
    "nor",
    "not",
    "of",
    "on",
    "one",
    "onto",
    "or",
    "our",
    "out",
    "over",
    "please",
    "shall",
    "she",
    "should",
    "so",
    "some",
    "somebody",
    "someone",
    "something",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "thing",
    "things",
    "this",
    "those",
    "to",
    "tool",
    "tools",
    "up",
    "us",
    "use",
    "used",
    "uses",
    "using",
    "via",
    "want",
    "wants",
    "was",
    "way",
    "we",
    "were",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "whom",
    "why",
    "will",
    "with",
    "within",
    "without",
    "would",
    "you",
    "your",
];

/// Calls back with each word of a text, in lower case and without accents. Words are separated by characters other than
/// letters and digits, and by the case changes of a `camelCase` name. A character of a script without spaces between
/// words is a word of its own.
pub(super) fn each_word(text: &str, mut each: impl FnMut(&str)) {
    let mut word = String::new();
    let mut before: Option<char> = None;
    let mut chars = text.chars().peekable();
    while let Some(sign) = chars.next() {
        // An apostrophe within a word does not end it: "customer's".
        let is_inner = matches!(sign, '\'' | '’') && chars.peek().is_some_and(|next| next.is_alphabetic());
        if is_inner && !word.is_empty() {
            continue;
        }
        let begins = before.is_some_and(|before| {
            let next_is_small = chars.peek().is_some_and(|next| next.is_lowercase());
            sign.is_uppercase()
                && (before.is_lowercase() || before.is_numeric() || before.is_uppercase() && next_is_small)
        });
        let stands_alone = is_unspaced(sign);
        if begins || stands_alone || !sign.is_alphanumeric() && !is_combining_mark(sign) {
            hand_over(&mut word, &mut each);
        }
        before = None;
        if sign.is_ascii_alphanumeric() {
            word.push(sign.to_ascii_lowercase());
            before = Some(sign);
        } else if sign.is_alphanumeric() {
            let plain = std::iter::once(sign).nfkd().filter(|sign| sign.is_alphanumeric());
            word.extend(plain.flat_map(char::to_lowercase));
            before = Some(sign);
        }
        if stands_alone {
            hand_over(&mut word, &mut each);
        }
    }
    hand_over(&mut word, &mut each);
}

fn hand_over(word: &mut String, each: &mut impl FnMut(&str)) {
    if let Some((end, _)) = word.char_indices().nth(LONGEST) {
        word.truncate(end);
    }
    if !word.is_empty() {
        each(word);
        word.clear();
    }
}

/// Returns true for Chinese characters and the Japanese syllables.
fn is_unspaced(sign: char) -> bool {
    matches!(sign, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// Returns true if a word has no information about a tool.
pub(super) fn is_empty_word(word: &str) -> bool {
    EMPTY.binary_search(&word).is_ok()
}

/// Returns the stem of a word. Two words with the same stem are the same to a search.
pub(super) fn stem_of(word: &str) -> String {
    stem(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(text, |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn names_fall_into_their_words() {
        for (text, expected) in [
            ("create_issue", &["create", "issue"][..]),
            ("createIssue", &["create", "issue"]),
            ("HTTPServerURL", &["http", "server", "url"]),
            ("github__list-pull.requests", &["github", "list", "pull", "requests"]),
            ("s3_listBuckets2", &["s3", "list", "buckets2"]),
            ("Sends the customer's file.", &["sends", "the", "customers", "file"]),
            ("it's ''quoted''", &["its", "quoted"]),
            ("Überprüft Straße café", &["uberpruft", "straße", "cafe"]),
            ("cafe\u{301}", &["cafe"]),
            ("列出文件 list", &["列", "出", "文", "件", "list"]),
            ("", &[]),
            ("  __--__ ", &[]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn a_long_word_is_cut() {
        assert_eq!(words(&"é".repeat(1000)), ["e".repeat(LONGEST)]);
    }

    #[test]
    fn empty_words_are_sorted() {
        assert!(EMPTY.is_sorted());
        assert!(is_empty_word("the") && !is_empty_word("file"));
    }
}
