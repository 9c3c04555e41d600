//! Explanations for the model why nothing changed.

use super::frame::Frame;
use super::locate::Miss;
use super::plan::{Part, PlanError, Problem};
use super::replacement::Replacement;
use crate::fs::fold::{self, Looseness};
use crate::fs::nearest::{nearest, numbered};
use crate::fs::splice::LineNumbers;
use std::fmt::Write as _;

/// Maximum number of listed replacements with a looser match.
const MAX_NAMED: usize = 10;

/// The names of a replacement's arguments.
struct Named {
    old: String,
    new: String,
}

impl Named {
    fn of(index: usize, count: usize) -> Self {
        match count {
            1 => Self { old: "old_string".to_owned(), new: "new_string".to_owned() },
            _ => {
                Self { old: format!("edits[{index}].old_string"), new: format!("edits[{index}].new_string") }
            }
        }
    }
}

/// Explains why nothing changed in the file `path`, with a part of its `content` if that helps and may be read.
pub(super) fn explain(
    path: &str,
    content: Option<&[u8]>,
    replacements: &[Replacement<'_>],
    error: &PlanError,
) -> String {
    let Named { old, new } = Named::of(error.index, replacements.len());
    let replacement = &replacements[error.index];
    match &error.problem {
        Problem::Empty => format!(
            "{old} is empty, and {path} exists: name the text to replace, or use `write` to replace the whole file"
        ),
        Problem::Identical => format!("{old} and {new} are identical, so nothing would change"),
        Problem::Miss(Miss::Absent) => absent(path, content, replacement, &old, &new),
        Problem::Miss(Miss::Several { looseness, count, lines }) => {
            several(path, *looseness, *count, lines, replacement.all, &old)
        }
        Problem::NotIndented { line, new_line } => {
            let mut text = format!(
                "{old} is in {path} on line {line} with another indentation, and it is not clear how to indent line \
                 {new_line} of {new}; nothing was changed. Copy the indentation of the file, tabs or spaces, into both"
            );
            if let Some(content) = content {
                let _ = write!(text, "\n{}", numbered(content, *line, replacement.old.lines().count()));
            }
            text
        }
        Problem::Overlaps { other, line } => {
            let other = Named::of(*other, replacements.len()).old;
            format!("{other} and {old} share text on line {line} of {path}; make one edit of the two")
        }
        Problem::TooLarge => format!(
            "{path} would become too large, or too many places would change, for one edit; replace less at once, or use \
             another tool"
        ),
        Problem::NothingChanges => {
            format!("{path} already has {new}, except for white space or the like; nothing would change")
        }
    }
}

fn absent(
    path: &str,
    content: Option<&[u8]>,
    replacement: &Replacement<'_>,
    old_name: &str,
    new_name: &str,
) -> String {
    let mut text = format!("{old_name} is not in {path}, nor is it in a looser form; nothing was changed");
    if is_numbered(replacement.old) {
        let _ = write!(
            text,
            "\nits lines begin with line numbers as `read` shows them, which the file does not have"
        );
    }
    let Some(content) = content else {
        let _ = write!(text, "\nthe file's content is not shown, because reading it needs approval");
        return text;
    };
    if content.is_empty() {
        let _ = write!(text, "\nthe file is empty");
        return text;
    }
    let new = replacement.new;
    let is_telling = new.trim().len() > 3 && !replacement.old.contains(new);
    if is_telling && let Some(line) = line_of(content, new) {
        let _ =
            write!(text, "\n{new_name} is already in the file, on line {line}: was this edit made before?");
    }
    match nearest(content, replacement.old) {
        Some(nearest) => {
            let _ = write!(text, "\n{nearest}");
        }
        None => text.push_str("\nthere is no similar text in the file; read the file again"),
    }
    text
}

/// Returns the line on which a text begins, ignoring line endings.
fn line_of(content: &[u8], text: &str) -> Option<usize> {
    let content = fold::fold_file(content, Looseness::Endings);
    let at = memchr::memmem::find(&content, fold::with_plain_endings(text).as_bytes())?;
    Some(LineNumbers::new(&content).of(at))
}

/// Returns true if all lines begin as `read` shows them.
fn is_numbered(text: &str) -> bool {
    let is_numbered = |line: &str| {
        line.split_once(['→', '\t']).is_some_and(|(number, _)| {
            let number = number.trim_start();
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some() && lines.all(is_numbered)
}

fn several(path: &str, looseness: Looseness, count: usize, lines: &[usize], all: bool, old: &str) -> String {
    let shown: Vec<String> = lines.iter().map(usize::to_string).collect();
    let more = if count > lines.len() && lines.len() >= MAX_NAMED { ", …" } else { "" };
    let on = match lines {
        [line] => format!("on line {line}"),
        _ => format!("on lines {}{more}", shown.join(", ")),
    };
    let how = match looseness {
        Looseness::Exact => String::new(),
        looseness => format!(", ignoring {}", looseness.words()),
    };
    let what_to_do = if all {
        "to replace all of them, give each with its exact text"
    } else if looseness > Looseness::Endings {
        "give the exact text, with more of the lines around it, until it is in one place"
    } else {
        "add lines around it until it is in one place, or set `replace_all`"
    };
    format!("{old} is in {count} places of {path}{how}: {on}; {what_to_do}")
}

/// Reports the replacements to the model: where they are, and what the comparison ignored.
pub(super) fn report(parts: &[Part]) -> String {
    let mut text = String::new();
    let loose = parts.iter().enumerate().filter(|(_, part)| part.looseness != Looseness::Exact);
    for (index, part) in loose.clone().take(MAX_NAMED) {
        let Named { old, .. } = Named::of(index, parts.len());
        let _ = write!(
            text,
            "\n{old} is not in the file as it was given; found on line {} ignoring {}",
            part.line,
            part.looseness.words()
        );
        if part.is_minimal {
            text.push_str(", and only the differing text was changed");
        }
        match part.frame {
            Some(Frame::Asked) => {
                text.push_str("; the new lines were indented by the same rule as the old ones");
            }
            Some(Frame::File) => text.push_str("; the new lines have the indentation of the file already"),
            None => {}
        }
    }
    let more = loose.count().saturating_sub(MAX_NAMED);
    if more > 0 {
        let _ = write!(text, "\n{more} more were found in a looser form");
    }
    text
}

#[cfg(test)]
mod tests;
