//! A long text in pieces that end where sentences do.

/// Splits a text into pieces of at most `most` characters: at the end of a paragraph or a sentence, else between two words, else
/// anywhere. Nothing but white space between pieces is lost.
pub(super) fn pieces(text: &str, most: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = end(rest, most.max(1));
        let (piece, after) = rest.split_at(end);
        let piece = piece.trim_end();
        if !piece.is_empty() {
            pieces.push(piece);
        }
        rest = after.trim_start();
    }
    pieces
}

/// Returns the end of the first piece, in bytes.
fn end(text: &str, most: usize) -> usize {
    let Some((limit, _)) = text.char_indices().nth(most) else { return text.len() };
    let within = &text[..limit];
    // A piece that is much too short is worse than one that ends within a paragraph.
    let least = limit / 3;
    let after = |found: Option<usize>| found.filter(|end| *end >= least);
    after(within.rfind("\n\n").map(|at| at + 2))
        .or_else(|| after(sentence_end(text, within)))
        .or_else(|| text[limit..].starts_with(char::is_whitespace).then_some(limit))
        .or_else(|| within.rfind(char::is_whitespace).filter(|at| *at > 0))
        .unwrap_or(limit)
}

/// Returns the end of the last sentence within a part of a text.
fn sentence_end(text: &str, within: &str) -> Option<usize> {
    let mut last = None;
    for (at, character) in within.char_indices() {
        let next = at + character.len_utf8();
        let is_end = match character {
            '。' | '！' | '？' | '\n' => true,
            '.' | '!' | '?' | '…' | ':' | ';' => {
                let follows =
                    text[next..].chars().find(|next| !matches!(next, '"' | '\'' | ')' | '”' | '’' | '»'));
                follows.is_none_or(char::is_whitespace)
            }
            _ => false,
        };
        if is_end {
            let closing = text[next..].find(|next| !matches!(next, '"' | '\'' | ')' | '”' | '’' | '»'));
            last = Some((next + closing.unwrap_or(0)).min(within.len()));
        }
    }
    last.filter(|end| text.is_char_boundary(*end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_are_split_at_sentences() {
        for (text, most, expected) in [
            ("One. Two. Three.", 100, vec!["One. Two. Three."]),
            ("One. Two. Three.", 10, vec!["One. Two.", "Three."]),
            ("He said \"No.\" Then he left.", 16, vec!["He said \"No.\"", "Then he left."]),
            ("Version 1.5 is out now. Get it.", 25, vec!["Version 1.5 is out now.", "Get it."]),
            ("First part\n\nSecond part here", 20, vec!["First part", "Second part here"]),
            ("no end of any sentence here", 12, vec!["no end of", "any sentence", "here"]),
            ("一句话。又一句话。", 5, vec!["一句话。", "又一句话。"]),
            ("abcdefghij", 4, vec!["abcd", "efgh", "ij"]),
            ("  \n ", 4, vec![]),
            ("ääää öööö.", 5, vec!["ääää", "öööö."]),
        ] {
            assert_eq!(pieces(text, most), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_no_piece_is_too_long(text in "[a-z.!?\"\\n äß。😀]{0,200}", most in 1usize..40) {
            let found = pieces(&text, most);
            prop_assert!(found.iter().all(|piece| piece.chars().count() <= most && !piece.is_empty()));
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(bare(&found.concat()), bare(&text));
        }
    }
}
