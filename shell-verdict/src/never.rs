//! Search for forbidden commands in text that cannot be parsed.

use super::{is_never, is_recursive};
use crate::class::Class;
use crate::command::base;
use crate::names;
use crate::verdict::Part;

/// First of the characters that stand for quoted separators: a private use area, which commands do not contain.
const QUOTED: u32 = 0xE000;

/// Searches a text that cannot be parsed for forbidden commands.
pub(crate) fn look(text: &str, part: &mut Part) {
    let bare: String = text.chars().filter(|c| !matches!(c, '\\' | '\'' | '"')).collect();
    if bare.split_whitespace().collect::<String>().contains(":(){:|:&};:") {
        part.is(Class::Forbidden, "it starts itself again and again");
    }
    look_at_segments(&without_quotes(text).unwrap_or(bare), part);
}

/// Searches the substitutions of a word that cannot be parsed for forbidden commands. The rest of the word is only text.
pub(crate) fn look_in_word(word: &str, part: &mut Part) {
    let begins = ["$(", "`", "<(", ">("].iter().filter_map(|sign| Some(word.find(sign)? + sign.len()));
    if let Some(at) = begins.min() {
        look(&word[at..], part);
    }
}

fn look_at_segments(plain: &str, part: &mut Part) {
    for segment in plain.split([';', '|', '&', '\n', '(', ')', '{', '}', '`']) {
        let goes_before = |word: &str| {
            word.contains('=')
                || word.starts_with('-')
                || word.starts_with(|c: char| c.is_ascii_digit())
                || names::is("before-a-command", base(word))
        };
        let all: Vec<&str> = segment.split_whitespace().collect();
        let before = all.iter().take_while(|word| goes_before(word)).count();
        let Some((first, rest)) = all[before..].split_first() else { continue };
        // A quoted text is one word, but the words before it may run it.
        if before > 0 && first.contains(is_quoted_separator) {
            look_at_segments(&first.chars().map(restored).collect::<String>(), part);
        }
        let name = base(first.trim_start_matches('$'));
        if is_never(name) {
            part.is(Class::Forbidden, format!("{name} is never run here"));
        }
        if name == "rm"
            && is_recursive(rest)
            && rest.iter().any(|word| matches!(*word, "/" | "/*" | "~" | "~/" | "$HOME" | "//"))
        {
            part.is(Class::Forbidden, "it deletes the root directory, or the home");
        }
    }
}

/// Returns the text without quotes, in which quoted separators are replaced. `None` if the quoting is unclear: a quote is not
/// closed, a here-document follows, or a substitution is within double quotes.
fn without_quotes(text: &str) -> Option<String> {
    if text.contains("<<") {
        return None;
    }
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next().map(quoted)),
            '\'' | '"' => {
                let rest = chars.as_str();
                let inner = &rest[..rest.find(c)?];
                if c == '"' && inner.contains(['\\', '`', '$']) {
                    return None;
                }
                out.extend(inner.chars().map(quoted));
                chars = rest[inner.len() + 1..].chars();
            }
            c => out.push(c),
        }
    }
    Some(out)
}

fn quoted(c: char) -> char {
    let is_separator = c.is_ascii_whitespace() || ";|&(){}`".contains(c);
    if is_separator { char::from_u32(QUOTED + u32::from(c)).unwrap_or(c) } else { c }
}

fn restored(c: char) -> char {
    if is_quoted_separator(c) { char::from_u32(u32::from(c) - QUOTED).unwrap_or(c) } else { c }
}

fn is_quoted_separator(c: char) -> bool {
    (QUOTED..QUOTED + 128).contains(&u32::from(c))
}
