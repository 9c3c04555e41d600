//! Splits a Rust source into tokens, as far as paths and braces need it.

use std::iter::Peekable;
use std::str::Chars;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Text(String),
    /// `::`.
    Separator,
    Sign(char),
}

/// Splits a source into tokens, each with its line. Comments, numbers' digits and lifetimes mean nothing here.
pub(super) fn tokens(text: &str) -> Vec<(usize, Token)> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut characters = text.chars().peekable();
    while let Some(next) = characters.next() {
        match next {
            '\n' => line += 1,
            '/' if characters.peek() == Some(&'/') => {
                while characters.next_if(|next| *next != '\n').is_some() {}
            }
            '/' if characters.peek() == Some(&'*') => line += skip_block_comment(&mut characters),
            '"' => {
                let text = string(&mut characters);
                let start = line;
                line += text.matches('\n').count();
                tokens.push((start, Token::Text(text)));
            }
            '\'' => skip_character_or_lifetime(&mut characters),
            ':' if characters.next_if_eq(&':').is_some() => tokens.push((line, Token::Separator)),
            _ if next == '_' || next.is_alphanumeric() => {
                let mut word = String::from(next);
                while let Some(more) = characters.next_if(|next| *next == '_' || next.is_alphanumeric()) {
                    word.push(more);
                }
                let is_raw = matches!(word.as_str(), "r" | "br" | "cr");
                if is_raw && matches!(characters.peek(), Some('"' | '#')) {
                    match raw_string(&mut characters) {
                        Some(text) => {
                            let start = line;
                            line += text.matches('\n').count();
                            tokens.push((start, Token::Text(text)));
                        }
                        None => tokens.push((line, Token::Word(raw_identifier(&mut characters)))),
                    }
                } else if !matches!(word.as_str(), "b" | "c")
                    || !matches!(characters.peek(), Some('"' | '\''))
                {
                    tokens.push((line, Token::Word(word)));
                }
            }
            _ if next.is_whitespace() => {}
            _ => tokens.push((line, Token::Sign(next))),
        }
    }
    tokens
}

/// Skips a comment after its slash, with those in it, and returns how many lines it ends.
fn skip_block_comment(characters: &mut Peekable<Chars<'_>>) -> usize {
    let (mut depth, mut lines, mut before) = (0_usize, 0, '/');
    for next in characters.by_ref() {
        lines += usize::from(next == '\n');
        match (before, next) {
            ('/', '*') => {
                depth += 1;
                before = ' ';
            }
            ('*', '/') => {
                depth -= 1;
                before = ' ';
            }
            _ => before = next,
        }
        if depth == 0 {
            break;
        }
    }
    lines
}

/// Reads a string after its first quote.
fn string(characters: &mut Peekable<Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(next) = characters.next() {
        match next {
            '"' => break,
            '\\' => text.extend(characters.next()),
            _ => text.push(next),
        }
    }
    text
}

/// Reads a raw string after its `r`; a raw identifier is none.
fn raw_string(characters: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut hashes = String::new();
    while characters.next_if_eq(&'#').is_some() {
        hashes.push('#');
    }
    characters.next_if_eq(&'"')?;
    let end = format!("\"{hashes}");
    let mut text = String::new();
    for next in characters.by_ref() {
        text.push(next);
        if text.ends_with(&end) {
            text.truncate(text.len() - end.len());
            break;
        }
    }
    Some(text)
}

/// Reads a raw identifier after `r#`; it is no keyword.
fn raw_identifier(characters: &mut Peekable<Chars<'_>>) -> String {
    let mut name = "r#".to_owned();
    while let Some(next) = characters.next_if(|next| *next == '_' || next.is_alphanumeric()) {
        name.push(next);
    }
    name
}

fn skip_character_or_lifetime(characters: &mut Peekable<Chars<'_>>) {
    match characters.next() {
        Some('\\') => {
            characters.next();
            while characters.next().is_some_and(|next| next != '\'') {}
        }
        Some(_) => {
            characters.next_if_eq(&'\'');
        }
        None => {}
    }
}
