//! `xargs`, which starts a command with words from its input.

use super::{denied, forbidden_from, forbidden_in};
use crate::class::Class;
use crate::listed::{self, Split};
use crate::options;
use crate::situation::Decision;
use crate::verdict::Part;
use crate::walk::Judge;
use crate::words::Value;

/// The words of `xargs` before its command, in one of the usual forms.
struct Before {
    /// Number of words before the command.
    length: usize,
    /// The placeholder for the words from the input.
    mark: Option<String>,
    /// Splitting of the input; `None` if it is split in another way.
    split: Option<Split>,
}

fn before_xargs(values: &[Value]) -> Option<Before> {
    let (mut at, mut mark, mut is_counted) = (0, None, false);
    let mut split = Some(Split::Blanks);
    while let Some(value) = values.get(at) {
        let next = || values.get(at + 1).and_then(Value::text);
        match value.text()? {
            "-0" | "-0r" | "-r0" | "--null" => split = Some(Split::Nul),
            text if text.starts_with("-d") => split = None,
            _ => {}
        }
        at += match value.text()? {
            "-0" | "-r" | "-t" | "-0r" | "-r0" | "--null" | "--no-run-if-empty" | "--verbose" => 1,
            "-n" | "-P" | "-L" | "-d" | "-s" => {
                is_counted |= matches!(value.text(), Some("-n" | "-L"));
                next()?;
                2
            }
            "-I" => {
                mark = Some(next()?.to_owned());
                2
            }
            text if text.starts_with("-I") => {
                mark = Some(text[2..].to_owned());
                1
            }
            text if ["-n", "-P", "-L", "-s"].iter().any(|option| {
                text.strip_prefix(option).is_some_and(|number| {
                    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
                })
            }) =>
            {
                is_counted |= text.starts_with("-n") || text.starts_with("-L");
                1
            }
            text if text.starts_with('-') => return None,
            _ => break,
        };
    }
    // The last of them counts, and others write it otherwise.
    if mark.is_some() && split == Some(Split::Blanks) {
        split = Some(Split::Lines);
    }
    (mark.is_none() || !is_counted).then_some(Before { length: at.min(values.len()), mark, split })
}

pub(super) fn xargs(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    const LINE: &str = "xargs | 0rtpxo a: d: E: e? I: i? L: l? n: P: s: | --null --no-run-if-empty --verbose --interactive --exit \
                        --open-tty --arg-file: --delimiter: --eof? --replace? --max-lines? --max-args: --max-procs: --max-chars: \
                        --process-slot-var: --show-limits --help --version | text";
    // The command that it starts gets no input.
    let listed = judge.listed_input.take();
    let Some(Before { length, mark, split }) = before_xargs(values) else {
        part.has(Class::Unknown, "xargs gets options by which it may run something else");
        // As a warning, with all that may be its command.
        let begins = options::starts(LINE, values, 0);
        if let Some(begins) = begins.first() {
            judge.nested(&values[*begins..], part);
        }
        forbidden_in(judge, LINE, values, 0, part);
        return crate::never::hidden(values, part);
    };
    let rest = &values[length..];
    let words = listed.zip(split).and_then(|(listed, split)| listed::words_of(&listed, split));
    let read = words.map_or_else(Value::unknown, Value::Listed);
    let is_known = read != Value::unknown();
    let inner: Vec<Value> = match (&mark, rest) {
        (_, []) => {
            part.starts.push("echo".to_owned());
            return;
        }
        (None, rest) => rest.iter().cloned().chain([read]).collect(),
        (Some(mark), rest) => {
            let replaced = |value: &Value| match value {
                Value::Text(text) if text == mark && is_known => read.clone(),
                Value::Text(text) => match text.find(mark.as_str()) {
                    Some(at) => Value::Unknown { prefix: text[..at].to_owned(), splits: false },
                    None => value.clone(),
                },
                value => value.clone(),
            };
            rest.iter().map(replaced).collect()
        }
    };
    judge.nested(&inner, part);
    // A forbidden command is forbidden with any further words.
    let mut alone = Part::new(part.span.clone(), "");
    judge.nested(rest, &mut alone);
    // If it reads nothing, the command runs without.
    if is_known && mark.is_none() && alone.decision == Decision::Ask {
        part.has(Class::Unknown, "xargs runs the command without a word if it reads none");
    }
    denied(alone, part);
    let Some(input) = judge.input.clone() else { return };
    // The words of its input, if they are known.
    let lines: Vec<&str> = input.lines().take(MAX_LINES).collect();
    match mark {
        None => {
            let words = lines.iter().flat_map(|line| line.split_whitespace()).take(MAX_WORDS);
            let words = words.map(|word| Value::Text(word.to_owned()));
            let whole: Vec<Value> = rest.iter().cloned().chain(words).collect();
            forbidden_from(judge, &whole, part);
        }
        Some(mark) if !mark.is_empty() => {
            for line in lines {
                let replaced = |value: &Value| match value {
                    Value::Text(text) => Value::Text(text.replace(&mark, line.trim())),
                    value => value.clone(),
                };
                forbidden_from(judge, &rest.iter().map(replaced).collect::<Vec<_>>(), part);
            }
        }
        Some(_) => {}
    }
}

/// Maximum number of lines and words of the input of `xargs` that are examined.
const MAX_LINES: usize = 16;
const MAX_WORDS: usize = 256;
