//! `sed`: whether a script only prints.

use crate::class::Class;
use crate::situation::Access;
use crate::verdict::Part;
use crate::walk::{Judge, is_no_file};
use crate::words::Value;

/// The effect of a script.
enum Script {
    Prints,
    /// The script also reads and writes these files.
    Uses {
        read: Vec<String>,
        written: Vec<String>,
    },
    /// The script also has this effect.
    Does(Class, &'static str),
}

pub(super) fn judge(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    let mut scripts: Vec<Option<String>> = Vec::new();
    let mut operands = Vec::new();
    let mut at = 0;
    while let Some(value) = values.get(at) {
        at += 1;
        let Some(text) = value.text() else {
            if value.may_be_option() {
                part.has(
                    Class::Unknown,
                    "sed gets a word that may be an option, and is not known before it runs",
                );
            }
            operands.push(value);
            continue;
        };
        let mut next = || {
            at += 1;
            values.get(at - 1)
        };
        match text {
            "-n" | "-E" | "-r" | "-u" | "-z" | "-s" | "--quiet" | "--silent" | "--regexp-extended"
            | "--separate" | "--null-data" | "--zero-terminated" | "--unbuffered" | "--posix"
            | "--sandbox" | "--debug" | "--help" | "--version" | "-nE" | "-En" | "-nr" | "-rn" | "-nz"
            | "-zn" | "-zE" | "-Ez" => {}
            "-e" | "--expression" | "-ne" | "-Ee" | "-re" | "-nEe" | "-nre" => {
                let script = next();
                scripts.push(script.and_then(Value::text).map(str::to_owned));
            }
            "-f" | "--file" => {
                let file = next().cloned().unwrap_or_else(Value::unknown);
                judge.path(&file, Access::Read, part);
                part.has(Class::Code, "sed runs a script that it reads");
            }
            "-l" | "--line-length" => {
                next();
            }
            "--" => {
                operands.extend(&values[at..]);
                break;
            }
            text if text.starts_with("--e") && text.contains('=') => {
                scripts.push(text.split_once('=').map(|(_, script)| script.to_owned()));
            }
            text if text.starts_with("-e") => scripts.push(Some(text[2..].to_owned())),
            text if text.starts_with("--line-length=") => {}
            text if text.starts_with("--i")
                || (text.starts_with('-') && !text.starts_with("--") && text.contains('i')) =>
            {
                part.has(Class::Write, "sed -i changes files in their place");
                // Which word is the script then depends on the letters.
                writes(judge, &values[at..], part);
            }
            text if text.starts_with('-') && text.len() > 1 => {
                part.has(Class::Unknown, format!("sed {text} is not known to only read"));
            }
            _ => operands.push(value),
        }
    }
    if scripts.is_empty() && !operands.is_empty() {
        scripts.push(operands.remove(0).text().map(str::to_owned));
    }
    for script in scripts {
        match script.as_deref().map(read) {
            None => part.has(Class::Code, "sed runs a script that is not known before it runs"),
            Some(Script::Prints) => {}
            Some(Script::Uses { read, written }) => {
                for file in read {
                    judge.path(&Value::Text(file), Access::Read, part);
                }
                for file in written {
                    if !is_no_file(&file, Access::Write) {
                        part.has(Class::Write, "the script of sed writes a file");
                        judge.path(&Value::Text(file), Access::Write, part);
                    }
                }
            }
            Some(Script::Does(class, what)) => part.has(class, what),
        }
    }
    for operand in operands {
        if operand.text() != Some("-") {
            judge.path(operand, Access::Read, part);
        }
    }
}

/// Judges the operands of a script that edits files in place; without an expression option, the first operand is the script.
fn writes(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    let has_expression = values
        .iter()
        .any(|value| value.text().is_some_and(|text| text.starts_with("-e") || text.starts_with("--e")));
    let operands = values.iter().filter(|value| !value.text().is_some_and(|text| text.starts_with('-')));
    for operand in operands.skip(usize::from(!has_expression)) {
        judge.path(operand, Access::Write, part);
    }
}

const UNCLEAR: Script = Script::Does(Class::Unknown, "the script of sed is not understood");

/// Parses a script; one that is not understood completely is not proved harmless.
fn read(script: &str) -> Script {
    let text: Vec<char> = script.chars().collect();
    let mut at = 0;
    let (mut files, mut written) = (Vec::new(), Vec::new());
    while at < text.len() {
        match text[at] {
            c if c.is_whitespace()
                || matches!(c, ';' | '{' | '}' | '!' | ',' | '+' | '~' | '0'..='9' | '$') =>
            {
                at += 1;
            }
            '#' => at = line_end(&text, at),
            '/' => match delimited(&text, at + 1, '/') {
                Some(end) => at = flags(&text, end, "IM"),
                None => return UNCLEAR,
            },
            '\\' => match text.get(at + 1).copied().and_then(|delimiter| delimited(&text, at + 2, delimiter))
            {
                Some(end) => at = flags(&text, end, "IM"),
                None => return UNCLEAR,
            },
            // After the last four a number may follow.
            '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' | 'l' | 'L'
            | 'q' | 'Q' => at += 1,
            'a' | 'i' | 'c' => at = text_end(&text, at),
            ':' | 'b' | 't' | 'T' => match label_end(&text, at + 1) {
                Some(end) => at = end,
                None => return UNCLEAR,
            },
            'r' | 'R' => {
                let end = line_end(&text, at);
                files.push(text[at + 1..end].iter().collect::<String>().trim_start().to_owned());
                at = end;
            }
            'w' | 'W' => {
                let end = line_end(&text, at);
                written.push(text[at + 1..end].iter().collect::<String>().trim_start().to_owned());
                at = end;
            }
            'e' => return Script::Does(Class::Code, "the script of sed runs a command"),
            's' | 'y' => match substitute(&text, at) {
                Ok(end) => at = end,
                Err(script) => return script,
            },
            _ => return UNCLEAR,
        }
    }
    if files.is_empty() && written.is_empty() {
        Script::Prints
    } else {
        Script::Uses { read: files, written }
    }
}

fn line_end(text: &[char], at: usize) -> usize {
    text[at..].iter().position(|c| *c == '\n').map_or(text.len(), |end| at + end)
}

/// Returns the end of a label: the end of the line, or a semicolon or brace. In a label with a blank, the text after it may
/// be a command.
fn label_end(text: &[char], at: usize) -> Option<usize> {
    let begin = at + text[at..].iter().take_while(|c| matches!(c, ' ' | '\t')).count();
    let end = text[begin..]
        .iter()
        .position(|c| matches!(c, '\n' | ';' | '}'))
        .map_or(text.len(), |end| begin + end);
    text[begin..end].iter().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')).then_some(end)
}

/// The text of `a`, `i` and `c`: to the end of the line, and of each line that a backslash continues.
fn text_end(text: &[char], mut at: usize) -> usize {
    while at < text.len() {
        match text[at] {
            '\\' => at += 2,
            '\n' => return at,
            _ => at += 1,
        }
    }
    text.len()
}

/// Returns the position after the closing delimiter. Within brackets the delimiter is an ordinary character.
fn delimited(text: &[char], at: usize, delimiter: char) -> Option<usize> {
    closing(text, at, delimiter, true)
}

/// The same, of a text in which brackets may mean nothing.
fn closing(text: &[char], mut at: usize, delimiter: char, has_brackets: bool) -> Option<usize> {
    if matches!(delimiter, '\\' | '\n') {
        return None;
    }
    while at < text.len() {
        match text[at] {
            '\\' => at += 1,
            '\n' => return None,
            c if c == delimiter => return Some(at + 1),
            '[' if has_brackets => at = bracket(text, at)?,
            _ => {}
        }
        at += 1;
    }
    None
}

/// The bracket that closes the one at `at`.
fn bracket(text: &[char], mut at: usize) -> Option<usize> {
    at += 1;
    at += usize::from(text.get(at) == Some(&'^'));
    at += usize::from(text.get(at) == Some(&']'));
    loop {
        match text.get(at)? {
            ']' => return Some(at),
            '\n' => return None,
            '[' if matches!(text.get(at + 1), Some(':' | '.' | '=')) => {
                let kind = text[at + 1];
                at += 2;
                let name = text[at..].iter().take_while(|c| c.is_ascii_alphanumeric()).count();
                at += name;
                // The end of others is specific to sed.
                if name == 0 || text.get(at)? != &kind || text.get(at + 1)? != &']' {
                    return None;
                }
                at += 2;
            }
            _ => at += 1,
        }
    }
}

fn flags(text: &[char], mut at: usize, flags: &str) -> usize {
    while text.get(at).is_some_and(|c| flags.contains(*c)) {
        at += 1;
    }
    at
}

fn substitute(text: &[char], at: usize) -> Result<usize, Script> {
    let delimiter = *text.get(at + 1).ok_or(UNCLEAR)?;
    let middle = closing(text, at + 2, delimiter, text[at] == 's').ok_or(UNCLEAR)?;
    // A replacement may go on in the next line after a backslash.
    let mut end = middle;
    loop {
        match text.get(end) {
            None | Some('\n') => return Err(UNCLEAR),
            Some('\\') => end += 2,
            Some(c) if *c == delimiter => break,
            Some(_) => end += 1,
        }
    }
    end += 1;
    if text[at] == 'y' {
        return Ok(end);
    }
    while let Some(c) = text.get(end) {
        match c {
            'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => end += 1,
            'e' => return Err(Script::Does(Class::Code, "the script of sed runs what it replaced")),
            'w' => return Err(Script::Does(Class::Write, "the script of sed writes a file")),
            ' ' | '\t' | ';' | '\n' | '}' | '#' => break,
            _ => return Err(UNCLEAR),
        }
    }
    Ok(end)
}
