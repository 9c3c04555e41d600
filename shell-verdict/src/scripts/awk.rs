//! `awk`: whether a program only prints.

use crate::class::Class;
use crate::situation::Access;
use crate::verdict::Part;
use crate::walk::Judge;
use crate::words::Value;

pub(super) fn judge(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    let mut at = 0;
    while let Some(value) = values.get(at) {
        let Some(text) = value.text() else {
            if value.may_be_option() {
                return part.has(
                    Class::Code,
                    "awk gets a word that may be an option, and is not known before it runs",
                );
            }
            break;
        };
        match text {
            "-F" | "-v" => {
                if values.get(at + 1).is_some_and(Value::may_split) {
                    return part.has(Class::Code, "awk gets words that are not known before it runs");
                }
                at += 2;
            }
            "--" => {
                at += 1;
                break;
            }
            "--version" | "-V" if values.len() == 1 => return,
            "-f" => {
                let file = values.get(at + 1).cloned().unwrap_or_else(Value::unknown);
                judge.path(&file, Access::Read, part);
                return part.has(Class::Code, "awk runs a program that it reads");
            }
            text if text.starts_with("-F") || text.starts_with("-v") => at += 1,
            text if text.starts_with('-') => {
                part.has(Class::Code, format!("awk {text} is not known to only read"));
                at += 1;
            }
            _ => break,
        }
    }
    match values.get(at) {
        None => {}
        Some(value) => match value.text().map(read) {
            None => part.has(Class::Code, "awk runs a program that is not known before it runs"),
            Some(Ok(())) => {}
            Some(Err((class, why))) => part.has(class, why),
        },
    }
    for operand in values.iter().skip(at + 1) {
        let is_assignment = operand
            .text()
            .is_some_and(|text| text.split_once('=').is_some_and(|(name, _)| crate::walk::is_name(name)));
        if !is_assignment && operand.text() != Some("-") {
            judge.path(operand, Access::Read, part);
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Text,
    Sign(char),
}

const UNCLEAR: (Class, &str) = (Class::Code, "the program of awk is not understood");

/// Returns true if a program contains one of the words without which it can only print its input, however it is parsed.
fn may_do_more(program: &str) -> bool {
    const MORE: &[&str] =
        &["system", "getline", "|", "@", "`", "ARGV", "ARGC", "PROCINFO", "SYMTAB", "FUNCTAB"];
    MORE.iter().any(|more| program.contains(more)) || (program.contains("print") && program.contains('>'))
}

fn read(program: &str) -> Result<(), (Class, &'static str)> {
    if !may_do_more(program) {
        return Ok(());
    }
    let tokens = tokens(program).ok_or(UNCLEAR)?;
    let reads_files = program.contains("getline") && program.contains('<');
    // From a print to the end of its statement, `>` is a redirection.
    let mut is_printing = false;
    for (index, token) in tokens.iter().enumerate() {
        let next = tokens.get(index + 1);
        match token {
            Token::Word(word) => match word.as_str() {
                "system" => return Err((Class::Code, "the program of awk runs commands")),
                // Without a file it reads the next line of the input, which is read anyway.
                "getline" if reads_files => {
                    return Err((Class::Code, "the program of awk reads what its text names"));
                }
                "ARGV" | "ARGC" | "PROCINFO" | "SYMTAB" | "FUNCTAB" | "LINT" => {
                    return Err((Class::Code, "the program of awk may change which files it reads"));
                }
                "print" | "printf" => is_printing = true,
                _ => {}
            },
            Token::Sign('|') => {
                let is_or =
                    next == Some(&Token::Sign('|')) || (index > 0 && tokens[index - 1] == Token::Sign('|'));
                if !is_or {
                    return Err((Class::Code, "the program of awk runs commands"));
                }
            }
            Token::Sign('>') if is_printing => {
                return Err((Class::Write, "the program of awk writes files"));
            }
            // A line feed does not always end it.
            Token::Sign(';' | '}') => is_printing = false,
            Token::Sign('@') => return Err((Class::Code, "the program of awk calls what its text names")),
            Token::Sign(_) | Token::Text => {}
        }
    }
    Ok(())
}

/// Returns the tokens of the program. `None` if they are uncertain.
fn tokens(program: &str) -> Option<Vec<Token>> {
    let text: Vec<char> = program.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let c = text[at];
        match c {
            '"' => {
                at = closed(&text, at + 1, '"')?;
                tokens.push(Token::Text);
                continue;
            }
            '/' => {
                // It is only certain to be a pattern if it cannot be a division.
                let begins_pattern = match tokens.last() {
                    None => true,
                    Some(Token::Sign(sign)) => {
                        matches!(sign, '(' | ',' | '!' | '~' | '&' | '|' | '{' | '}' | ';' | '\n')
                    }
                    Some(_) => false,
                };
                if !begins_pattern {
                    return None;
                }
                at = closed(&text, at + 1, '/')?;
                tokens.push(Token::Text);
                continue;
            }
            '#' => {
                while at < text.len() && text[at] != '\n' {
                    at += 1;
                }
                continue;
            }
            '\\' if text.get(at + 1) == Some(&'\n') => at += 1,
            '\\' => return None,
            c if c.is_ascii_alphabetic() || c == '_' => {
                let end = text[at..]
                    .iter()
                    .position(|c| !(c.is_ascii_alphanumeric() || *c == '_'))
                    .map_or(text.len(), |end| at + end);
                tokens.push(Token::Word(text[at..end].iter().collect()));
                at = end;
                continue;
            }
            ' ' | '\t' | '\r' => {}
            c if c.is_ascii() && !c.is_control() || c == '\n' => tokens.push(Token::Sign(c)),
            _ => return None,
        }
        at += 1;
    }
    Some(tokens)
}

/// After the quote or slash that closes. Of a pattern with brackets programs differ about where it ends.
fn closed(text: &[char], mut at: usize, quote: char) -> Option<usize> {
    while at < text.len() {
        match text[at] {
            '\\' => at += 1,
            '\n' => return None,
            '[' if quote == '/' => return None,
            c if c == quote => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
    None
}
