//! Search for the end of quotes, brackets and expansions.

use super::Unclear;

/// Maximum nesting depth.
const DEEPEST: usize = 24;

/// Returns the index of the parenthesis that closes the one at `open`, which begins a command. Constructs that make it hard to find,
/// such as comments and here-documents, are an error, so that the command needs approval.
pub(super) fn closing_parenthesis(text: &str, open: usize) -> Result<usize, Unclear> {
    command(text.as_bytes(), open + 1, 0)
}

/// Returns the end of an arithmetic expansion that contains only numbers, names and operators: the index of the first of the two closing
/// brackets. `at` is after the two opening ones. bash reads such a text in no other way.
pub(crate) fn plain_arithmetic(text: &[u8], at: usize) -> Option<usize> {
    arithmetic(text, at, 0)
}

fn arithmetic(text: &[u8], at: usize, around: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, byte) in text.iter().enumerate().skip(at) {
        match byte {
            b'(' if around + depth > DEEPEST => return None,
            b'(' => depth += 1,
            b')' if depth > 0 => depth -= 1,
            b')' => return (text.get(index + 1) == Some(&b')')).then_some(index),
            byte if byte.is_ascii_alphanumeric() || b" \t_+-*/%<>=!&|^~?:,".contains(byte) => {}
            _ => return None,
        }
    }
    None
}

/// The index of the brace that closes the one at `open`.
pub(super) fn closing_brace(text: &str, open: usize, is_quoted: bool) -> Result<usize, Unclear> {
    // No test covers the 1: the opening brace means nothing to `brace`, so the result is the same.
    brace(text.as_bytes(), open + 1, is_quoted, 0)
}

/// The index of the double quote that closes the one at `open`.
pub(super) fn closing_quote(text: &[u8], open: usize) -> Result<usize, Unclear> {
    double(text, open + 1, 0)
}

fn command(text: &[u8], mut at: usize, depth: usize) -> Result<usize, Unclear> {
    if depth > DEEPEST {
        return Err("commands are nested too deeply");
    }
    let mut begins_word = true;
    while let Some(byte) = text.get(at) {
        let was_beginning = std::mem::replace(
            &mut begins_word,
            matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b'('),
        );
        at = match byte {
            b')' => return Ok(at),
            b'(' => command(text, at + 1, depth + 1)? + 1,
            b'\\' => at + 2,
            b'\'' => single(text, at + 1)? + 1,
            b'"' => double(text, at + 1, depth + 1)? + 1,
            b'`' => back(text, at + 1)? + 1,
            b'$' => dollar(text, at, false, depth)?,
            b'#' if was_beginning => return Err("a substituted command contains a comment"),
            b'<' if text.get(at + 1) == Some(&b'<') && text.get(at + 2) != Some(&b'<') => {
                here_document(text, at + 2)?
            }
            b'<' if text[at..].starts_with(b"<<<") => at + 3,
            b'c' if was_beginning && text[at..].starts_with(b"case") => {
                return Err("a substituted command contains a `case`");
            }
            _ => at + 1,
        };
    }
    Err("a substituted command is not closed")
}

/// Returns the position after a here-document of the simplest form, whose quoted delimiter is the last word of its line; `at` is after
/// the operator.
fn here_document(text: &[u8], at: usize) -> Result<usize, Unclear> {
    const UNCLEAR: Unclear = "a substituted command contains a here-document";
    let quoted = text.get(at..).and_then(|rest| rest.strip_prefix(b"'")).ok_or(UNCLEAR)?;
    let length = quoted.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let end = &quoted[..length];
    let body = quoted[length..].strip_prefix(b"'\n").ok_or(UNCLEAR)?;
    let mut begin = text.len() - body.len();
    for line in body.split(|byte| *byte == b'\n') {
        if !end.is_empty() && line == end {
            return Ok(begin + line.len());
        }
        begin += line.len() + 1;
    }
    Err(UNCLEAR)
}

/// Skips the expansion after the dollar at `at`; returns the position after it.
fn dollar(text: &[u8], at: usize, is_quoted: bool, depth: usize) -> Result<usize, Unclear> {
    match text.get(at + 1) {
        Some(b'(') => match arithmetic_at(text, at + 2, depth + 3) {
            Some(end) => Ok(end + 2),
            None => Ok(command(text, at + 2, depth + 1)? + 1),
        },
        Some(b'{') => Ok(brace(text, at + 2, is_quoted, depth + 1)? + 1),
        Some(b'\'') if !is_quoted => Ok(ansi(text, at + 2)? + 1),
        _ => Ok(at + 1),
    }
}

fn arithmetic_at(text: &[u8], at: usize, around: usize) -> Option<usize> {
    if text.get(at) == Some(&b'(') { arithmetic(text, at + 1, around) } else { None }
}

fn single(text: &[u8], at: usize) -> Result<usize, Unclear> {
    let end = text[at.min(text.len())..].iter().position(|byte| *byte == b'\'');
    end.map(|end| at + end).ok_or("a single quote is not closed")
}

fn ansi(text: &[u8], mut at: usize) -> Result<usize, Unclear> {
    while let Some(byte) = text.get(at) {
        match byte {
            b'\'' => return Ok(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    Err("a single quote is not closed")
}

fn back(text: &[u8], mut at: usize) -> Result<usize, Unclear> {
    while let Some(byte) = text.get(at) {
        match byte {
            b'`' => return Ok(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    Err("a backquote is not closed")
}

fn double(text: &[u8], mut at: usize, depth: usize) -> Result<usize, Unclear> {
    while let Some(byte) = text.get(at) {
        at = match byte {
            b'"' => return Ok(at),
            b'\\' => at + 2,
            b'`' => back(text, at + 1)? + 1,
            b'$' => dollar(text, at, true, depth)?,
            _ => at + 1,
        };
    }
    Err("a double quote is not closed")
}

fn brace(text: &[u8], mut at: usize, is_quoted: bool, depth: usize) -> Result<usize, Unclear> {
    if depth > DEEPEST {
        return Err("expansions are nested too deeply");
    }
    while let Some(byte) = text.get(at) {
        at = match byte {
            b'}' => return Ok(at),
            // No test needs this arm: without it, an escaped brace has the same result, and a word with an
            // escaped quote only needs approval more often.
            b'\\' => at + 2,
            // No test needs this arm: `Scan::within` refuses such quotes, too.
            b'\'' if is_quoted => return Err("an expansion within quotes contains quotes"),
            b'\'' => single(text, at + 1)? + 1,
            b'"' => double(text, at + 1, depth + 1)? + 1,
            b'`' => back(text, at + 1)? + 1,
            b'$' => dollar(text, at, is_quoted, depth)?,
            _ => at + 1,
        };
    }
    Err("an expansion is not closed")
}
