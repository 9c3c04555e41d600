//! The text that a terminal would show for an output, line by line: without control sequences and overwritten text.

use std::iter::Peekable;
use std::str::Chars;

/// Returns the text without control sequences of terminals. It never becomes longer, and gets no additional line feed.
///
/// A line is processed as by a terminal: a carriage return goes to its beginning, a backspace goes back, and erasing
/// sequences erase it. Sequences that move between lines are removed, since only the printed text can be shown.
pub(super) fn clean(text: &str) -> String {
    let is_plain = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    if text.chars().all(is_plain) {
        return text.to_owned();
    }
    let mut line = Line::default();
    let mut cleaned = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => line.end(&mut cleaned),
            '\r' => line.at = 0,
            '\u{8}' => line.at = line.at.saturating_sub(1),
            '\t' => line.put('\t'),
            '\u{1b}' => escape(&mut chars, &mut line),
            '\u{9b}' => control_sequence(&mut chars, &mut line),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => control_string(&mut chars),
            c if c.is_control() => {}
            c => line.put(c),
        }
    }
    cleaned.extend(line.text);
    cleaned
}

#[derive(Default)]
struct Line {
    text: Vec<char>,
    /// Position of the next character; never beyond the end.
    at: usize,
}

impl Line {
    fn put(&mut self, c: char) {
        match self.text.get_mut(self.at) {
            Some(there) => *there = c,
            None => self.text.push(c),
        }
        self.at += 1;
    }

    fn end(&mut self, into: &mut String) {
        into.extend(self.text.drain(..));
        into.push('\n');
        self.at = 0;
    }

    fn erase(&mut self, what: usize) {
        match what {
            0 => self.text.truncate(self.at),
            1 => {
                let end = self.text.len().min(self.at + 1);
                self.text[..end].fill(' ');
            }
            2 => {
                self.text.clear();
                self.at = 0;
            }
            _ => {}
        }
    }
}

/// Behind an escape character.
fn escape(chars: &mut Peekable<Chars<'_>>, line: &mut Line) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            control_sequence(chars, line);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            chars.next();
            control_string(chars);
        }
        Some(' '..='/') => {
            while chars.next_if(|c| (' '..='/').contains(c)).is_some() {}
            chars.next_if(|c| ('0'..='~').contains(c));
        }
        Some('0'..='~') => {
            chars.next();
        }
        _ => {}
    }
}

/// Processes a control sequence after its introducer: the parameters and the action.
fn control_sequence(chars: &mut Peekable<Chars<'_>>, line: &mut Line) {
    let mut number: Option<usize> = None;
    let mut is_plain = true;
    while let Some(c) = chars.next_if(|c| (' '..='?').contains(c)) {
        match c.to_digit(10) {
            Some(digit) => number = Some((number.unwrap_or(0) * 10 + digit as usize).min(100_000)),
            None => is_plain = false,
        }
    }
    let Some(what) = chars.next_if(|c| ('@'..='~').contains(c)) else { return };
    if !is_plain {
        return;
    }
    let count = number.unwrap_or(1).max(1);
    match what {
        'K' => line.erase(number.unwrap_or(0)),
        'G' => line.at = (count - 1).min(line.text.len()),
        'C' => line.at = (line.at + count).min(line.text.len()),
        'D' => line.at = line.at.saturating_sub(count),
        'P' => {
            let end = line.text.len().min(line.at + count);
            line.text.drain(line.at..end);
        }
        _ => {}
    }
}

/// Skips a control string, such as a terminal title, after its introducer. An unterminated one extends to the end of the
/// line.
fn control_string(chars: &mut Peekable<Chars<'_>>) {
    while let Some(c) = chars.next_if(|c| *c != '\n') {
        match c {
            '\u{7}' | '\u{9c}' | '\u{18}' | '\u{1a}' => return,
            '\u{1b}' => {
                chars.next_if(|c| *c == '\\');
                return;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_terminal_would_show() {
        for (text, expected) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("a\r\nb\r\n", "a\nb\n"),
            ("\u{1b}[1;31mred\u{1b}[0m\n", "red\n"),
            ("\u{1b}]0;title\u{7}text", "text"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]never ended\nnext\n", "\nnext\n"),
            ("10%\r50%\r100%\n", "100%\n"),
            ("long line\rshort\n", "shortline\n"),
            ("long line\r\u{1b}[Kshort\n", "short\n"),
            ("long line\u{1b}[2K\rnew\n", "new\n"),
            ("abc\u{8}\u{8}X", "aXc"),
            ("\u{8}\u{8}a", "a"),
            ("abc\u{1b}[2Dx", "axc"),
            ("abc\u{1b}[1Gx", "xbc"),
            ("a\u{1b}[99999Gx", "ax"),
            ("a\u{1b}[99999999999999999999Cx", "ax"),
            ("abcdef\u{1b}[1G\u{1b}[2P", "cdef"),
            ("\u{1b}(B\u{1b}[mtext\u{1b}=\u{1b}7", "text"),
            ("\u{1b}[?25ltext\u{1b}[?25h", "text"),
            ("bell\u{7}\u{0}\u{7f}\u{9b}31mx", "bellx"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
            ("größe\r\u{1b}[31m日本", "日本öße"),
        ] {
            assert_eq!(clean(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_grows_and_lines_stay(
            text in "([a\u{1b}\\[\\]0-9;KGCDP\r\n\t\u{8}\u{7}é ]|\u{1b}\\[[0-9]{0,3}[KGCDPm])*"
        ) {
            let cleaned = clean(&text);
            prop_assert!(cleaned.len() <= text.len());
            prop_assert_eq!(cleaned.matches('\n').count(), text.matches('\n').count());
            let only_shown = |c: char| !c.is_control() || c == '\n' || c == '\t';
            prop_assert!(cleaned.chars().all(only_shown));
            prop_assert_eq!(clean(&cleaned), cleaned);
        }
    }
}
