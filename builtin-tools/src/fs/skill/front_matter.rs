//! The head of a `SKILL.md`: a small part of YAML between two lines of `---`.
//!
//! Only two values of the document are needed, so its events are processed one by one and no tree is built: no anchor
//! is followed, and nothing can grow beyond the text itself.

use saphyr_parser::{Event, Parser, ScalarStyle};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The longest head, in bytes.
const MAX_BYTES: usize = 16 * 1024;
/// The longest name, in characters.
const LONGEST_NAME: usize = 64;
/// The longest description, in characters.
const LONGEST_DESCRIPTION: usize = 1_024;

/// A parsed head, and the text that follows it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parsed<'a> {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) body: &'a str,
}

/// Takes a `SKILL.md` apart.
pub(super) fn parse(text: &str) -> Result<Parsed<'_>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (head, body) = split(text)?;
    if head.len() > MAX_BYTES {
        return Err(format!("its front matter has more than {MAX_BYTES} bytes"));
    }
    // If the parser panics on a malicious text, the other skills must stay available.
    let read = catch_unwind(AssertUnwindSafe(|| values(head)));
    let (name, description) = read.unwrap_or_else(|_| Err("its front matter cannot be parsed".to_owned()))?;
    let name = name.ok_or("its front matter has no `name`")?.trim().to_owned();
    let description = description.ok_or("its front matter has no `description`")?.trim().to_owned();
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_plain) || name.starts_with('.') {
        return Err(format!(
            "its `name` is not valid: it takes letters, digits, `-`, `_` and `.`, not first, at most {LONGEST_NAME}"
        ));
    }
    if description.is_empty() {
        return Err("its `description` is empty".to_owned());
    }
    if description.chars().count() > LONGEST_DESCRIPTION {
        return Err(format!("its `description` has more than {LONGEST_DESCRIPTION} characters"));
    }
    // A model reads it as one item of a list.
    let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(Parsed { name, description: description.replace(char::is_control, " "), body })
}

/// Returns the text between the two lines of `---`, and the text after them.
fn split(text: &str) -> Result<(&str, &str), String> {
    let mut lines = text.split_inclusive('\n');
    let is_mark = |line: &str| line.trim_end() == "---";
    let first = lines.next().filter(|line| is_mark(line));
    let start = first.ok_or("it does not begin with front matter, a line of `---`")?.len();
    let mut end = start;
    for line in lines {
        if is_mark(line) {
            return Ok((&text[start..end], text[end + line.len()..].trim_start_matches(['\r', '\n'])));
        }
        end += line.len();
    }
    Err("its front matter has no end, a second line of `---`".to_owned())
}

/// The values of `name` and `description`.
fn values(head: &str) -> Result<(Option<String>, Option<String>), String> {
    let (mut name, mut description) = (None, None);
    let (mut depth, mut is_key, mut key) = (0_usize, true, None);
    for event in Parser::new_from_str(head) {
        let (event, span) = event.map_err(|error| format!("its front matter is not YAML: {error}"))?;
        // The head begins in the second line of the file.
        let line = span.start.line() + 1;
        match event {
            Event::Alias(_) => return Err(format!("an alias in line {line}; write the value itself")),
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                let is_sequence = matches!(event, Event::SequenceStart(..));
                if depth == 0 && is_sequence {
                    return Err("its front matter is a list, not `name: …` and `description: …`".to_owned());
                }
                if depth == 1 && is_key {
                    return Err(format!("a key in line {line} that is not text"));
                }
                if let (1, Some(key)) = (depth, key.take()) {
                    wants_text(key, line)?;
                    is_key = true;
                }
                depth += 1;
            }
            Event::SequenceEnd | Event::MappingEnd => depth = depth.saturating_sub(1),
            Event::Scalar(..) if depth == 0 => {
                return Err(
                    "its front matter is not a mapping with `name: …` and `description: …`".to_owned()
                );
            }
            Event::Scalar(value, ..) if depth == 1 && is_key => {
                key = match &*value {
                    "name" => Some("name"),
                    "description" => Some("description"),
                    _ => Some(""),
                };
                is_key = false;
            }
            Event::Scalar(value, style, ..) if depth == 1 => {
                is_key = true;
                let place = match key.take() {
                    Some("name") => &mut name,
                    Some("description") => &mut description,
                    _ => continue,
                };
                let is_null = style == ScalarStyle::Plain && matches!(&*value, "" | "~" | "null");
                if place.is_some() {
                    return Err(format!("a key for the second time in line {line}"));
                }
                if !is_null {
                    *place = Some(value.into_owned());
                }
            }
            _ => {}
        }
    }
    Ok((name, description))
}

fn wants_text(key: &str, line: usize) -> Result<(), String> {
    match key {
        "" => Ok(()),
        key => Err(format!("its `{key}` in line {line} is not text")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn check(text: &str) -> String {
        match parse(text) {
            Ok(Parsed { name, description, body }) => format!("{name} | {description} | {body}"),
            Err(error) => format!("error: {error}"),
        }
    }

    #[test]
    fn heads() {
        for (text, expected) in [
            ("---\nname: a\ndescription: b\n---\nbody\n", "a | b | body\n"),
            ("\u{feff}---\r\nname: a\r\ndescription: b\r\n---\r\n\r\nbody", "a | b | body"),
            ("---\nname: ' a-b.c_1 '\ndescription: \"x: \\\"y\\\"\"\n---", "a-b.c_1 | x: \"y\" | "),
            (
                "---\nname: a\ndescription: >\n  one\n  two\nother: [1, {x: 2}]\nmore:\n  name: z\n---\n",
                "a | one two | ",
            ),
            (
                "---\nname: a\ndescription: |\n  one\n  two\n---\nname: c\n---\n",
                "a | one two | name: c\n---\n",
            ),
            ("---\ndescription: b # why\nname: 12\n---\n", "12 | b | "),
            ("name: a", "error: it does not begin with front matter, a line of `---`"),
            ("", "error: it does not begin with front matter, a line of `---`"),
            ("---\nname: a\n", "error: its front matter has no end, a second line of `---`"),
            ("---\n---\nbody", "error: its front matter has no `name`"),
            ("---\nname: a\n---\n", "error: its front matter has no `description`"),
            ("---\nname: ~\ndescription: b\n---\n", "error: its front matter has no `name`"),
            ("---\nname: a\ndescription: ''\n---\n", "error: its `description` is empty"),
            ("---\nname: a\nname: b\ndescription: c\n---\n", "error: a key for the second time in line 3"),
            ("---\nname: [a]\ndescription: c\n---\n", "error: its `name` in line 2 is not text"),
            ("---\n- a\n---\n", "error: its front matter is a list, not `name: …` and `description: …`"),
            (
                "---\nabc\n---\n",
                "error: its front matter is not a mapping with `name: …` and `description: …`",
            ),
            ("---\nname: &x a\ndescription: *x\n---\n", "error: an alias in line 3; write the value itself"),
            (
                "---\nname: a/../b\ndescription: b\n---\n",
                "error: its `name` is not valid: it takes letters, digits, `-`, `_` and `.`, not first, at most 64",
            ),
            (
                "---\nname: ..\ndescription: b\n---\n",
                "error: its `name` is not valid: it takes letters, digits, `-`, `_` and `.`, not first, at most 64",
            ),
        ] {
            assert_eq!(check(text), expected, "{text:?}");
        }
        assert!(
            check("---\nname: a: b\ndescription: c\n---\n")
                .starts_with("error: its front matter is not YAML: ")
        );
    }

    #[test]
    fn a_hostile_head_takes_no_time() {
        let start = Instant::now();
        let billion = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n";
        for head in [
            billion.to_owned(),
            "[".repeat(MAX_BYTES - 8),
            "{".repeat(MAX_BYTES - 8),
            "? ".repeat(MAX_BYTES / 2 - 8),
            "- ".repeat(MAX_BYTES / 2 - 8),
            "a: ".repeat(MAX_BYTES / 3 - 8),
            "\t".repeat(MAX_BYTES - 8),
            "!".repeat(MAX_BYTES - 8),
            "\"\\x".repeat(MAX_BYTES / 3 - 8),
            "x".repeat(MAX_BYTES + 1),
        ] {
            assert!(parse(&format!("---\n{head}\n---\n")).is_err());
        }
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    }
}
