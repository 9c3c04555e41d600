//! Escapes text for a person who decides by it: everything in the text is visible, and it can show nothing that is not in
//! it.

mod hidden;

pub use hidden::escape_hidden;
pub use hidden::first_escaped;

use std::borrow::Cow;
use std::fmt::Write as _;
use unicode_general_category::{GeneralCategory as Category, get_general_category};

/// The most characters of a line that [`escape_line`] shows.
pub const MAX_LINE_CHARS: usize = 1_000;
/// The most lines that [`escape_block`] shows.
pub const MAX_BLOCK_LINES: usize = 2_000;
/// The most characters that [`escape_block`] shows.
pub const MAX_BLOCK_CHARS: usize = 100_000;

/// The most combining marks on one character; further ones are escaped, because many stacked marks paint over other lines.
/// The scripts that stack most need at most four.
const MAX_MARKS: u32 = 4;

/// Makes text safe to show in one line.
///
/// These characters are written as `\u{…}`, with the code point in hexadecimal, because a person could not see them, or
/// would see them elsewhere or as something else: control characters (escape, carriage return, newline and tab included),
/// all format characters (bidirectional controls, zero-width characters, tags, …), variation selectors, fillers, every space
/// but the plain one, line and paragraph separators, private and unassigned code points, combining marks that come first or
/// follow four others. All other text is unchanged.
///
/// A backslash is unchanged, except directly before `u{` or an escaped character, where it is doubled. So two different
/// texts never look the same, and paths and regular expressions stay readable.
///
/// Of a text longer than 1,000 characters ([`MAX_LINE_CHARS`]), the first and the last 500 are shown, and between them the
/// number of characters left out.
///
/// ```
/// use toolkit::text::escape_line;
///
/// assert_eq!(escape_line("naïve 🦀 C:\\temp"), "naïve 🦀 C:\\temp");
/// assert_eq!(escape_line("rm x\r\u{1b}[2Kls"), r"rm x\u{d}\u{1b}[2Kls");
/// assert_eq!(escape_line(r"a literal \u{d}"), r"a literal \\u{d}");
/// ```
pub fn escape_line(text: &str) -> Cow<'_, str> {
    let Some(cut) = Cut::of(text, MAX_LINE_CHARS, usize::MAX) else { return escape(text, Form::Line) };
    let (head, tail) = (escape(cut.head, Form::Line), escape(cut.tail, Form::Line));
    Cow::Owned(format!("{head} {} {tail}", cut.statement()))
}

/// Makes text safe to show in several lines: as [`escape_line`], but newlines and tabs stay.
///
/// Show it in a box of its own, or put a prefix before every line, so that it cannot be mistaken for the text around it.
///
/// Of a text with more than 2,000 lines or 100,000 characters ([`MAX_BLOCK_LINES`], [`MAX_BLOCK_CHARS`]), the beginning and
/// the end are shown, each up to half of that, and between them, on a line of its own, how much was left out.
pub fn escape_block(text: &str) -> Cow<'_, str> {
    let Some(cut) = Cut::of(text, MAX_BLOCK_CHARS, MAX_BLOCK_LINES) else { return escape(text, Form::Block) };
    let (head, tail) = (escape(cut.head, Form::Block), escape(cut.tail, Form::Block));
    Cow::Owned(format!("{}\n{}\n{tail}", head.strip_suffix('\n').unwrap_or(&head), cut.statement()))
}

/// Escapes a line as [`escape_line`] does, if it was put together from parts of which some are escaped already: no backslash
/// is doubled, and nothing is left out.
#[doc(hidden)]
pub fn escape_rest(text: &str) -> Cow<'_, str> {
    escape_alone(text, Form::Line)
}

/// Makes text of several lines safe for a terminal, and keeps all of it: control characters, and characters that change how
/// others are shown, are escaped; newlines and tabs stay, no backslash is doubled, and nothing is left out. Different texts
/// may look the same; to ask a person about a text, use [`escape_block`].
///
/// ```
/// use toolkit::text::escape_terminal;
///
/// assert_eq!(escape_terminal("C:\\temp\tnaïve 🦀\n"), "C:\\temp\tnaïve 🦀\n");
/// assert_eq!(escape_terminal("\u{1b}]0;title\u{7}\n"), "\\u{1b}]0;title\\u{7}\n");
/// ```
pub fn escape_terminal(text: &str) -> Cow<'_, str> {
    escape_alone(text, Form::Block)
}

fn escape_alone(text: &str, form: Form) -> Cow<'_, str> {
    let is_plain =
        |byte: u8| matches!(byte, b' '..=b'~') || form == Form::Block && matches!(byte, b'\n' | b'\t');
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut marks = MAX_MARKS;
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_kept(character, form, &mut marks) {
            escaped.push(character);
        } else {
            let _ = write!(escaped, "\\u{{{:x}}}", u32::from(character));
        }
    }
    Cow::Owned(escaped)
}

/// A line of a block: escaped text, or the note about the lines left out.
pub(crate) enum BlockLine {
    Text(String),
    LeftOut(String),
}

/// Returns the lines of [`escape_block`], for callers that must distinguish text from the note.
pub(crate) fn block_lines(text: &str) -> Vec<BlockLine> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let lines = |part: &str| -> Vec<BlockLine> {
        let part = escape(part.strip_suffix('\n').unwrap_or(part), Form::Block);
        part.split('\n').map(|line| BlockLine::Text(line.to_owned())).collect()
    };
    let Some(cut) = Cut::of(text, MAX_BLOCK_CHARS, MAX_BLOCK_LINES) else { return lines(text) };
    let mut all = lines(cut.head);
    all.push(BlockLine::LeftOut(cut.statement()));
    all.extend(lines(cut.tail));
    all
}

/// Returns the lines of a text as [`block_lines`] does, with nothing left out.
pub(crate) fn whole_lines(text: &str) -> Vec<String> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    escape(text, Form::Block).split('\n').map(str::to_owned).collect()
}

/// Escapes a line as [`escape_line`] does, with nothing left out.
pub(crate) fn whole_line(text: &str) -> Cow<'_, str> {
    escape(text, Form::Line)
}

/// Both ends of a text that is too long. The end is shown too, because harmful content is often placed there.
struct Cut<'a> {
    head: &'a str,
    left_out: &'a str,
    tail: &'a str,
}

impl<'a> Cut<'a> {
    fn of(text: &'a str, most_chars: usize, most_lines: usize) -> Option<Self> {
        let newlines = || text.bytes().filter(|byte| *byte == b'\n').count();
        // A text has at most as many characters as bytes.
        let is_long = text.len() > most_chars && text.chars().count() > most_chars;
        if !is_long && (most_lines == usize::MAX || newlines() < most_lines) {
            return None;
        }
        let (chars, lines) = (most_chars / 2, most_lines / 2);
        let by_chars = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
        let by_lines =
            text.match_indices('\n').nth(lines.saturating_sub(1)).map_or(text.len(), |(at, _)| at + 1);
        let head = by_chars.min(by_lines);
        let by_chars = text.char_indices().rev().nth(chars.saturating_sub(1)).map_or(0, |(at, _)| at);
        let by_lines = text.rmatch_indices('\n').nth(lines.saturating_sub(1)).map_or(0, |(at, _)| at + 1);
        let tail = by_chars.max(by_lines).max(head);
        Some(Self { head: &text[..head], left_out: &text[head..tail], tail: &text[tail..] })
    }

    fn statement(&self) -> String {
        let chars = self.left_out.chars().count();
        match self.left_out.matches('\n').count() {
            0 => format!("[… {chars} characters left out …]"),
            lines => format!("[… {lines} lines, {chars} characters left out …]"),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Line,
    Block,
}

fn escape(text: &str, form: Form) -> Cow<'_, str> {
    let is_clear = |byte: u8| {
        matches!(byte, b' '..=b'[' | b']'..=b'~') || (form == Form::Block && matches!(byte, b'\n' | b'\t'))
    };
    if text.bytes().all(is_clear) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    let mut rest = text;
    let mut marks = MAX_MARKS;
    while let Some(character) = rest.chars().next() {
        if character == '\\' {
            let run = rest.len() - rest.trim_start_matches('\\').len();
            let (backslashes, after) = rest.split_at(run);
            escaped.push_str(backslashes);
            let is_hidden = |next: char| !is_kept(next, form, &mut 0);
            if after.starts_with("u{") || after.chars().next().is_some_and(is_hidden) {
                escaped.push_str(backslashes);
            }
            (rest, marks) = (after, 0);
            continue;
        }
        if is_kept(character, form, &mut marks) {
            escaped.push(character);
        } else {
            let _ = write!(escaped, "\\u{{{:x}}}", u32::from(character));
        }
        rest = &rest[character.len_utf8()..];
    }
    if escaped == text { Cow::Borrowed(text) } else { Cow::Owned(escaped) }
}

/// Returns true if a character is shown unescaped. `marks` counts the combining marks up to here; none is allowed at the
/// start of a line.
fn is_kept(character: char, form: Form, marks: &mut u32) -> bool {
    match character {
        '\n' | '\t' if form == Form::Block => {
            *marks = MAX_MARKS;
            return true;
        }
        ' '..='~' => {
            *marks = 0;
            return true;
        }
        _ => {}
    }
    let category = get_general_category(character);
    if matches!(category, Category::NonspacingMark | Category::EnclosingMark) {
        let is_few = *marks < MAX_MARKS;
        *marks += u32::from(is_few);
        return is_few && !is_blank(character);
    }
    *marks = 0;
    let is_unseen = matches!(
        category,
        Category::Control
            | Category::Format
            | Category::Surrogate
            | Category::PrivateUse
            | Category::Unassigned
            | Category::SpaceSeparator
            | Category::LineSeparator
            | Category::ParagraphSeparator
    );
    !is_unseen && !is_blank(character)
}

/// Returns true for letters, marks and symbols (by category) that are invisible: those of Unicode's
/// `Default_Ignorable_Code_Point` whose category does not show it, and those with an empty glyph.
fn is_blank(character: char) -> bool {
    matches!(
        character,
        '\u{34f}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{ffa0}'
            | '\u{1d159}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_shown() {
        for (text, expected) in [
            ("plain text, with [brackets] {} ~", "plain text, with [brackets] {} ~"),
            ("Grüße, 世界, привет, עברית, ไทยที่, 🦀👍🏽", "Grüße, 世界, привет, עברית, ไทยที่, 🦀👍🏽"),
            ("e\u{301}", "e\u{301}"),
            ("a\nb\tc", r"a\u{a}b\u{9}c"),
            ("safe\rrm -rf", r"safe\u{d}rm -rf"),
            ("\u{1b}]0;title\u{7}", r"\u{1b}]0;title\u{7}"),
            ("\u{7f}\u{9b}31m\u{85}", r"\u{7f}\u{9b}31m\u{85}"),
            ("a\u{202e}b\u{2066}c\u{200f}d\u{61c}", r"a\u{202e}b\u{2066}c\u{200f}d\u{61c}"),
            ("p\u{200b}a\u{200d}s\u{2060}s\u{feff}\u{ad}", r"p\u{200b}a\u{200d}s\u{2060}s\u{feff}\u{ad}"),
            ("\u{e0041}\u{e0001}\u{fe0f}\u{e0100}", r"\u{e0041}\u{e0001}\u{fe0f}\u{e0100}"),
            ("\u{115f}\u{1160}\u{3164}\u{ffa0}\u{2800}", r"\u{115f}\u{1160}\u{3164}\u{ffa0}\u{2800}"),
            ("a\u{2028}b\u{2029}c", r"a\u{2028}b\u{2029}c"),
            ("rm\u{a0}-rf\u{3000}x\u{2003}", r"rm\u{a0}-rf\u{3000}x\u{2003}"),
            ("\u{fff9}a\u{fffb}\u{e000}\u{378}\u{10ffff}", r"\u{fff9}a\u{fffb}\u{e000}\u{378}\u{10ffff}"),
            ("\u{301}first", r"\u{301}first"),
            ("z\u{301}\u{301}\u{301}\u{301}\u{301}", "z\u{301}\u{301}\u{301}\u{301}\\u{301}"),
            (r"C:\temp\users \d+ \\host", r"C:\temp\users \d+ \\host"),
            (r"\u{41} \\u{41} \u41", r"\\u{41} \\\\u{41} \u41"),
            ("\\\u{200b}", r"\\\u{200b}"),
        ] {
            assert_eq!(escape_line(text), expected, "{text:?}");
        }
        for (text, expected) in [
            (r"as it \u{41} is", r"as it \u{41} is"),
            ("\u{301}\u{1b}[2J \u{202e}\n", r"\u{301}\u{1b}[2J \u{202e}\u{a}"),
            ("\\\u{200b} Grüße", r"\\u{200b} Grüße"),
        ] {
            assert_eq!(escape_rest(text), expected, "{text:?}");
            assert_eq!(escape_rest(expected), expected);
        }
        assert!(matches!(escape_line("as it is"), Cow::Borrowed(_)));
        assert!(matches!(escape_line("Grüße"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_block_keeps_its_lines() {
        assert_eq!(escape_block("a\n\tb\r\n\u{301}c\n"), "a\n\tb\\u{d}\n\\u{301}c\n");
    }

    /// Returns random texts of relevant characters, the same at each run.
    fn random_texts(count: usize) -> impl Iterator<Item = String> {
        let interesting: Vec<char> = "aZ9 \\\\u{}é世🦀\n\t\r\u{1b}\u{7f}\u{85}\u{200b}\u{202e}\u{301}\u{fe0f}\u{e0041}\u{3164}\u{a0}\u{2028}"
            .chars()
            .collect();
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state >> 33).unwrap()
        };
        (0..count).map(move |_| {
            let length = next() % 24;
            (0..length)
                .map(|_| match next() % 4 {
                    0 => char::from_u32(u32::try_from(next() % 0x11_0000).unwrap()).unwrap_or('\\'),
                    _ => interesting[next() % interesting.len()],
                })
                .collect()
        })
    }

    /// Reverses the escaping, by the documented rule alone.
    fn unescape(text: &str) -> String {
        let mut original = String::new();
        let mut rest = text;
        while let Some(character) = rest.chars().next() {
            let run = rest.len() - rest.trim_start_matches('\\').len();
            let after = &rest[run..];
            if run > 0 && after.starts_with("u{") {
                original.push_str(&"\\".repeat(run / 2));
                rest = after;
                if run % 2 == 1 {
                    let end = after.find('}').unwrap();
                    let code = u32::from_str_radix(&after[2..end], 16).unwrap();
                    original.push(char::from_u32(code).unwrap());
                    rest = &after[end + 1..];
                }
            } else if run > 0 {
                original.push_str(&rest[..run]);
                rest = after;
            } else {
                original.push(character);
                rest = &rest[character.len_utf8()..];
            }
        }
        original
    }

    #[test]
    fn nothing_hidden_remains_and_nothing_is_confused() {
        for text in random_texts(50_000) {
            for (form, escaped) in [(Form::Line, escape_line(&text)), (Form::Block, escape_block(&text))] {
                let mut marks = MAX_MARKS;
                let hidden = escaped.chars().find(|character| !is_kept(*character, form, &mut marks));
                assert_eq!(hidden, None, "{text:?}");
                assert_eq!(unescape(&escaped), text, "{escaped}");
            }
        }
    }

    /// Compares with the standard library and the relevant ranges, not with the function under test.
    #[test]
    fn no_character_slips_through() {
        let hidden = |code: u32| {
            matches!(code, 0..=0x1f | 0x7f..=0xa0 | 0xad | 0x61c | 0x115f..=0x1160 | 0x180b..=0x180e | 0x2000..=0x200f
                | 0x2028..=0x202f | 0x205f..=0x206f | 0x3000 | 0x3164 | 0xe000..=0xf8ff | 0xfe00..=0xfe0f | 0xfeff
                | 0xffa0 | 0xfff0..=0xfffb | 0xe0000..=0xe0fff | 0xf_0000..=0x10_ffff)
        };
        for character in (0..=0x10_ffff).filter_map(char::from_u32) {
            let text = format!("a{character}");
            let is_escaped = escape_line(&text) != text;
            if hidden(u32::from(character)) {
                assert!(is_escaped, "{:x}", u32::from(character));
            }
            // The standard library may know a later Unicode.
            let is_known = get_general_category(character) != Category::Unassigned;
            if character.is_alphanumeric() && is_known && !is_blank(character) {
                assert!(!is_escaped, "{:x}", u32::from(character));
            }
        }
    }

    #[test]
    fn long_text_shows_both_ends_and_says_what_is_missing() {
        let line = format!("begin{}rm -rf /", "x".repeat(2_000));
        let shown = escape_line(&line);
        assert!(shown.starts_with("beginxx") && shown.ends_with("xxrm -rf /"), "{shown}");
        assert!(shown.contains(" [… 1013 characters left out …] "), "{shown}");
        assert_eq!(escape_line(&"é".repeat(MAX_LINE_CHARS)).chars().count(), MAX_LINE_CHARS);

        let numbered =
            |count: usize| (1..=count).flat_map(|n| [n.to_string(), "\n".to_owned()]).collect::<String>();
        let all = numbered(MAX_BLOCK_LINES - 1);
        assert_eq!(escape_block(&all), all);
        let shown = escape_block(&numbered(5_000)).into_owned();
        assert!(shown.starts_with("1\n2\n") && shown.ends_with("\n4999\n5000\n"));
        assert!(shown.contains("\n1000\n[… 3001 lines, 15005 characters left out …]\n4002\n"), "{shown}");

        let wide = "y".repeat(300_000);
        assert!(escape_block(&wide).contains("y\n[… 200000 characters left out …]\ny"));
    }
}
