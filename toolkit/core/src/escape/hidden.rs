//! Escapes foreign text for a model: characters that a person cannot see, but a model reads, become visible.

use std::borrow::Cow;
use std::fmt::Write as _;
use unicode_general_category::{GeneralCategory as Category, get_general_category};

/// The flags of regions within countries: the only sequences of tag characters with a visible form.
const FLAGS: [&str; 3] = [
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

/// Makes hidden characters of a text visible, as `\u{…}`, and keeps all of it: for text from other programs that a model will read.
///
/// It escapes control characters except newline and tab (a carriage return before a newline also stays), bidirectional controls, tag
/// characters, zero-width characters and invisible fillers. Joiners and variation selectors stay if they are part of an emoji or of a
/// script that needs them. No backslash is doubled, so text that is escaped already is unchanged.
///
/// ```
/// use toolkit::text::escape_hidden;
///
/// assert_eq!(escape_hidden("naïve 👩‍🚒 C:\\temp\n"), "naïve 👩‍🚒 C:\\temp\n");
/// assert_eq!(escape_hidden("a\u{202e}b \u{e0041}\u{1b}[2J"), "a\\u{202e}b \\u{e0041}\\u{1b}[2J");
/// ```
pub fn escape_hidden(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::new();
    // `escaped` contains the text up to `copied`, once anything was escaped.
    let mut copied = 0;
    let mut before = None;
    let mut at = 0;
    while let Some(character) = text[at..].chars().next() {
        if let Some(flag) = FLAGS.into_iter().find(|flag| text[at..].starts_with(flag)) {
            at += flag.len();
            before = Some('\u{1f3f4}');
            continue;
        }
        let next = at + character.len_utf8();
        if is_hidden(before, character, text[next..].chars().next()) {
            escaped.push_str(&text[copied..at]);
            let _ = write!(escaped, "\\u{{{:x}}}", u32::from(character));
            copied = next;
        }
        before = Some(character);
        at = next;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    escaped.push_str(&text[copied..]);
    Cow::Owned(escaped)
}

/// Returns the first hidden character that [`escape_hidden`] has escaped in a text.
#[doc(hidden)]
pub fn first_escaped(text: &str) -> Option<char> {
    text.match_indices("\\u{").find_map(|(at, opening)| {
        let (code, _) = text[at + opening.len()..].split_once('}')?;
        let character = char::from_u32(u32::from_str_radix(code, 16).ok()?)?;
        is_hidden(None, character, None).then_some(character)
    })
}

fn is_hidden(before: Option<char>, character: char, after: Option<char>) -> bool {
    match character {
        '\n' | '\t' | ' '..='~' => false,
        '\r' => after != Some('\n'),
        // A soft hyphen.
        '\u{ad}' => !(is_letter(before) && is_letter(after)),
        // Bidirectional controls, including those of older versions of Unicode; fillers, annotations, tags, and the reserved code points
        // beside them.
        '\u{61c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{34f}'
        | '\u{180e}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e00ff}'
        | '\u{e01f0}'..='\u{e0fff}' => true,
        '\u{115f}' | '\u{1160}' => {
            !(is_in(before, '\u{1100}', '\u{11ff}') || is_in(after, '\u{1100}', '\u{11ff}'))
        }
        '\u{17b4}' | '\u{17b5}' => !is_in(before, '\u{1780}', '\u{17b3}'),
        '\u{200b}' => !(separates(before) && separates(after)),
        '\u{200c}' | '\u{200d}' => !joins(before) || after.is_some_and(is_zero_width),
        '\u{180b}'..='\u{180d}' | '\u{180f}' => !is_in(before, '\u{1820}', '\u{18aa}'),
        '\u{fe00}'..='\u{fe0f}' => !before.is_some_and(takes_selector),
        '\u{e0100}'..='\u{e01ef}' => {
            !before.is_some_and(|before| before.is_alphabetic() && !before.is_ascii())
        }
        character => character.is_control(),
    }
}

fn is_in(character: Option<char>, first: char, last: char) -> bool {
    character.is_some_and(|character| (first..=last).contains(&character))
}

fn is_letter(character: Option<char>) -> bool {
    character.is_some_and(char::is_alphabetic)
}

/// Returns true for scripts written without spaces, in which a zero-width space marks a possible line break.
fn separates(character: Option<char>) -> bool {
    is_in(character, '\u{e00}', '\u{eff}')
        || is_in(character, '\u{1000}', '\u{109f}')
        || is_in(character, '\u{1780}', '\u{17ff}')
}

/// Returns true if a joiner may follow: a letter or mark of a script that needs it, or a part of an emoji.
fn joins(character: Option<char>) -> bool {
    let Some(character) = character.filter(|character| !character.is_ascii()) else { return false };
    let category = get_general_category(character);
    is_pictogram(character)
        || character == '\u{fe0f}'
        // Latin, Greek and Cyrillic letters need no joiners.
        || character >= '\u{600}'
            && !is_zero_width(character)
            && (character.is_alphabetic()
                || matches!(category, Category::NonspacingMark | Category::SpacingMark))
}

fn is_pictogram(character: char) -> bool {
    matches!(
        get_general_category(character),
        Category::OtherSymbol | Category::MathSymbol | Category::ModifierSymbol
    ) && !character.is_ascii()
}

fn takes_selector(character: char) -> bool {
    match character {
        '0'..='9' | '#' | '*' => true,
        character if character.is_ascii() || is_zero_width(character) => false,
        character => !character.is_whitespace() && !character.is_control(),
    }
}

fn is_zero_width(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_shown() {
        for (text, expected) in [
            ("\0\u{1b}[2J\u{7f}\u{9b}\u{85}", r"\u{0}\u{1b}[2J\u{7f}\u{9b}\u{85}"),
            ("safe\rrm", r"safe\u{d}rm"),
            (
                "a\u{202a}b\u{202e}c\u{2066}d\u{2069}e\u{200e}f\u{200f}g\u{61c}",
                r"a\u{202a}b\u{202e}c\u{2066}d\u{2069}e\u{200e}f\u{200f}g\u{61c}",
            ),
            ("x\u{e0001}\u{e0049}\u{e007f}", r"x\u{e0001}\u{e0049}\u{e007f}"),
            ("\u{1f3f4}\u{e0049}\u{e007f}", "\u{1f3f4}\\u{e0049}\\u{e007f}"),
            (
                "p\u{200d}a\u{200c}s\u{200b}s\u{2060}w\u{feff}",
                r"p\u{200d}a\u{200c}s\u{200b}s\u{2060}w\u{feff}",
            ),
            ("👩\u{200d}\u{200d}\u{200c}", "👩\\u{200d}\\u{200d}\\u{200c}"),
            ("☺\u{fe0f}\u{fe01}\u{e0100}", "☺\u{fe0f}\\u{fe01}\\u{e0100}"),
            ("a\u{fe0f}\u{e0155}", r"a\u{fe0f}\u{e0155}"),
            ("\u{ad}\u{3164}\u{115f}", r"\u{ad}\u{3164}\u{115f}"),
        ] {
            let escaped = escape_hidden(text);
            assert_eq!(escaped, expected, "{text:?}");
            assert_eq!(escape_hidden(&escaped), expected);
            assert!(first_escaped(&escaped).is_some(), "{escaped}");
        }
    }

    #[test]
    fn what_people_write_stays() {
        for text in [
            "plain\ttext\r\n  with \\u{41} and \\ and [brackets]",
            "Grüße, 世界, привет, עברית, العربية, ไทยที่",
            "👩‍🚒 👨‍👩‍👧 🏳️‍🌈 👁️‍🗨️ 🐻‍❄️ 🙂‍↔️ 🧑🏽‍🚀 ❤️ ☺️ 1️⃣ #️⃣ ©️",
            "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} \u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
            // Persian, Hindi and Malayalam need joiners; Thai separates words; a hyphen of a long word.
            "می\u{200c}خواهم क्\u{200d}ष ന്\u{200d} ไทย\u{200b}ไทย Donau\u{ad}dampf 葛\u{e0100}",
            "\u{e0b0} a private sign of a font",
        ] {
            assert_eq!(escape_hidden(text), text);
            assert!(matches!(escape_hidden(text), Cow::Borrowed(_)), "{text}");
            assert_eq!(first_escaped(text), None);
        }
    }

    #[test]
    fn no_hidden_character_slips_through() {
        let hidden = |code: u32| {
            matches!(code, 0..=8 | 0xb..=0x1f | 0x7f..=0x9f | 0x61c | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f
                | 0xfeff | 0xe0000..=0xe0fff)
        };
        for character in (0..=0x10_ffff).filter_map(char::from_u32) {
            let text = format!("a{character}b");
            let is_escaped = escape_hidden(&text) != text;
            assert!(is_escaped || !hidden(u32::from(character)), "{:x}", u32::from(character));
            assert!(
                !is_escaped
                    || !character.is_alphanumeric()
                    || matches!(character, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'),
                "{:x}",
                u32::from(character)
            );
        }
    }
}
