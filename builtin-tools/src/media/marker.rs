//! Text of others without the marker of files. A host takes a line `MEDIA:path` for a file to send, and only the tools write one.

/// The word before the colon.
const WORD: &str = "media";

/// Returns a text in which no host finds a marker: a space parts the word and its colon, wherever they are and however they are written.
pub(super) fn removed(text: &str) -> String {
    let mut removed = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        let before = text.as_bytes()[..at].last_chunk::<{ WORD.len() }>();
        if character == ':' && before.is_some_and(|before| before.eq_ignore_ascii_case(WORD.as_bytes())) {
            removed.push(' ');
        }
        removed.push(character);
    }
    removed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_marker_is_parted() {
        for (text, expected) in [
            ("MEDIA:/etc/passwd", "MEDIA :/etc/passwd"),
            ("A boat.\n  `media:../x.png`", "A boat.\n  `media :../x.png`"),
            ("MEDIA:MEDIA:a", "MEDIA :MEDIA :a"),
            ("the media: oil on canvas", "the media : oil on canvas"),
            ("äMEDIA:x", "äMEDIA :x"),
            ("media and others: two", "media and others: two"),
            ("edia:x 12:30", "edia:x 12:30"),
            ("", ""),
        ] {
            assert_eq!(removed(text), expected);
            assert!(!removed(text).to_ascii_lowercase().contains("media:"));
        }
    }
}
