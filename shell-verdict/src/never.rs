//! Programs that never run, and the search for them where a command cannot be judged.

use crate::class::Class;
use crate::names::{self, base};
use crate::verdict::Part;
use crate::words::Value;

/// First of the characters that stand for quoted separators: a private use area, which commands do not contain.
const QUOTED: u32 = 0xE000;

/// Returns true for a program that never runs.
pub(crate) fn is_never(base: &str) -> bool {
    names::is("never", base) || is_maker(base)
}

/// Returns true for a program that makes file systems: each kind has one of its own, on some systems by another name.
pub(crate) fn is_maker(base: &str) -> bool {
    ["mkfs", "newfs"].iter().any(|maker| {
        base.strip_prefix(maker).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '_']))
    })
}

/// Warns of forbidden programs among the words of an unknown program.
pub(crate) fn hidden(values: &[Value], part: &mut Part) {
    let mut words = values.iter().filter_map(Value::text);
    if let Some(name) = words.find(|word| is_never(base(word))) {
        part.has(Class::Dangerous, format!("it may run {}", base(name)));
    }
}

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

/// Returns true if the words of a command have it act on all below a directory.
pub(crate) fn is_recursive(words: &[&str]) -> bool {
    words.iter().take_while(|word| **word != "--").any(|word| {
        let is_long = word.starts_with("--r") && "--recursive".starts_with(word);
        is_long || is_flag(word, 'r') || is_flag(word, 'R')
    })
}

/// Returns true if a word is of options of one letter, this one among them.
pub(crate) fn is_flag(word: &str, flag: char) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains(flag)
}
