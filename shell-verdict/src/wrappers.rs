//! Programs that start the program named by their words.

mod table;
mod xargs;

use crate::class::Class;
use crate::environment::{self, Use};
use crate::options;
use crate::situation::{Access, Decision, Shell};
use crate::state::Variable;
use crate::verdict::Part;
use crate::walk::Judge;
use crate::words::Value;
use table::{OTHER, PLAIN};

/// Judges a wrapper. Whether it was one.
pub(crate) fn judge(judge: &mut Judge<'_>, base: &str, values: &[Value], part: &mut Part) -> bool {
    if let Some((_, line, operands)) = PLAIN.iter().find(|(name, ..)| *name == base) {
        let reasons = part.reasons.len();
        let at = options::before_command(judge, line, values, part) + operands;
        let is_sure = part.reasons.len() == reasons;
        if *operands > 0
            && values.len() <= at
            && !values.iter().any(|value| matches!(value.text(), Some("--help" | "--version" | "-V" | "-h")))
        {
            part.has(Class::Unknown, format!("{base} names no command"));
        }
        unknown_before(&values[..at.min(values.len())], base, part);
        // All of these that take an operand before the command take a number.
        if *operands > 0 {
            let number = at.checked_sub(1).and_then(|at| values.get(at));
            if !number.and_then(Value::text).is_some_and(is_number) {
                part.has(Class::Unknown, format!("{base} gets a word where a number is expected"));
                forbidden_in(judge, line, values, 0, part);
            }
        }
        judge.nested(values.get(at..).unwrap_or_default(), part);
        if !is_sure {
            forbidden_in(judge, line, values, *operands, part);
        }
        return true;
    }
    if let Some((_, line, operands)) = OTHER.iter().find(|(name, ..)| *name == base) {
        part.is(Class::Unknown, format!("{base} runs a command in another way"));
        let at = options::before_command(judge, line, values, part) + operands;
        judge.nested(values.get(at..).unwrap_or_default(), part);
        // A text for a shell.
        let payload = values.iter().position(|value| matches!(value.text(), Some("-c" | "--command")));
        if let Some(text) = payload.and_then(|at| values.get(at + 1)).and_then(Value::text).map(str::to_owned)
        {
            judge.payload(&text, Shell::Sh, part);
        }
        forbidden_in(judge, line, values, *operands, part);
        crate::never::hidden(values, part);
        return true;
    }
    match base {
        "env" => env(judge, values, part),
        "xargs" => xargs::xargs(judge, values, part),
        "parallel" => parallel(judge, values, part),
        "watch" => watch(judge, values, part),
        "script" => script(judge, values, part),
        _ => return false,
    }
    true
}

/// A duration, a priority, or a mask or list of processors.
fn is_number(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_hexdigit())
        && text.bytes().all(|byte| byte.is_ascii_hexdigit() || b".,-:xsmh".contains(&byte))
}

/// Maximum number of positions at which a command is judged that only possibly begins there.
const MAX_TRIES: usize = 64;
/// Maximum number of the command's words that are examined then.
const MAX_TRIED: usize = 256;

/// Judges a forbidden command at each position at which it may begin, since the options of a wrapper do not determine it.
fn forbidden_in(
    judge: &mut Judge<'_>,
    line: &'static str,
    values: &[Value],
    operands: usize,
    part: &mut Part,
) {
    for at in options::starts(line, values, operands) {
        forbidden_from(judge, &values[at..], part);
    }
}

/// Judges a command that possibly runs, for forbidden effects only.
pub(crate) fn forbidden_from(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    if judge.tries >= MAX_TRIES || part.decision == Decision::Deny {
        return;
    }
    judge.tries += 1;
    let mut tried = Part::new(part.span.clone(), "");
    judge.nested(&values[..values.len().min(MAX_TRIED)], &mut tried);
    denied(tried, part);
}

/// The same of a text.
pub(crate) fn forbidden_text(judge: &mut Judge<'_>, text: &str, shell: Shell, part: &mut Part) {
    if judge.tries >= MAX_TRIES || part.decision == Decision::Deny {
        return;
    }
    judge.tries += 1;
    let mut tried = Part::new(part.span.clone(), "");
    judge.apart(|judge| judge.payload(text, shell, &mut tried));
    denied(tried, part);
}

/// Takes over denials, and nothing else.
fn denied(mut tried: Part, part: &mut Part) {
    if tried.decision == Decision::Deny {
        part.parts.append(&mut tried.parts);
        part.decision = Decision::Deny;
        part.class = part.class.max(tried.class);
    }
}

/// Records that unknown words before the command determine its beginning.
fn unknown_before(values: &[Value], base: &str, part: &mut Part) {
    if values.iter().any(Value::may_split) {
        part.has(Class::Code, format!("which command {base} runs is not known before it does"));
    }
}

fn env(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    const LINE: &str = "env | i0v u: C: S: a: P: | --ignore-environment --null --debug --unset: --chdir: --split-string: --argv0: \
                        --block-signal? --default-signal? --ignore-signal? --list-signal-handling --help --version | text";
    let mut at = 0;
    let mut is_sure = true;
    let state = judge.state.clone();
    let loses_env = judge.loses_env;
    while let Some(value) = values.get(at) {
        let Some(text) = value.text().map(str::to_owned) else {
            part.has(Class::Code, "which command env runs is not known before it does");
            break;
        };
        let next = values.get(at + 1);
        match text.as_str() {
            "-" | "-i" | "--ignore-environment" => {
                judge.loses_env = true;
                at += 1;
            }
            "-0" | "--null" | "-v" | "--debug" | "--help" | "--version" => at += 1,
            "--" => {
                at += 1;
                // Assignments may still follow.
            }
            "-u" | "--unset" => {
                judge.loses_env = true;
                match next.and_then(Value::text) {
                    Some(name) => judge.state.assign(name.to_owned(), Variable::Unknown),
                    None => part.has(Class::Unknown, "env unsets a variable that is not known"),
                }
                at += 2;
            }
            "-C" | "--chdir" => {
                let to = next.and_then(Value::text).and_then(|to| judge.absolute(to));
                judge.state.cwd = to.filter(|path| path.is_dir());
                at += 2;
            }
            "-S" | "--split-string" => {
                split_string(judge, next.and_then(Value::text), part);
                at += 2;
            }
            text if text.starts_with("-S") || text.starts_with("--split-string=") => {
                let text = text.strip_prefix("--split-string=").unwrap_or_else(|| &text[2..]).to_owned();
                split_string(judge, Some(&text), part);
                at += 1;
            }
            text if text.starts_with("-u") || text.starts_with("--unset=") => {
                judge.loses_env = true;
                let name = text.strip_prefix("--unset=").unwrap_or_else(|| &text[2..]);
                judge.state.assign(name.to_owned(), Variable::Unknown);
                at += 1;
            }
            text if text.starts_with("-C") || text.starts_with("--chdir=") => {
                let to = text.strip_prefix("--chdir=").unwrap_or_else(|| &text[2..]);
                let to = judge.absolute(to);
                judge.state.cwd = to.filter(|path| path.is_dir());
                at += 1;
            }
            text if text.starts_with('-') => {
                part.has(Class::Unknown, format!("env {text} is not known to only read"));
                is_sure = false;
                at += 1;
            }
            text => match text.split_once('=') {
                Some((name, value)) => {
                    if let Some(why) = environment::assignment(name, Some(value), Use::Program) {
                        part.has(Class::Code, why);
                    }
                    // A shell that it starts knows it by this value.
                    judge.state.assign(name.to_owned(), Variable::Text(value.to_owned()));
                    at += 1;
                }
                None => break,
            },
        }
    }
    judge.nested(values.get(at..).unwrap_or_default(), part);
    if !is_sure {
        forbidden_in(judge, LINE, values, 0, part);
    }
    judge.state = state;
    judge.loses_env = loses_env;
}

/// Judges `env -S`, which splits a text by its own rules.
fn split_string(judge: &mut Judge<'_>, text: Option<&str>, part: &mut Part) {
    match text.filter(|text| !text.contains(['\\', '\'', '"', '$', '#'])) {
        Some(text) => {
            let words: Vec<Value> =
                text.split_whitespace().map(|word| Value::Text(word.to_owned())).collect();
            let begins = words
                .iter()
                .position(|word| word.text().is_some_and(|text| !text.contains('=')))
                .unwrap_or(words.len());
            if begins > 0 {
                part.has(Class::Code, "env sets variables for the command");
            }
            judge.nested(&words[begins..], part);
        }
        None => {
            part.has(Class::Code, "env takes a text apart into a command, in a way of its own");
            if let Some(text) = text {
                crate::never::look(text, part);
            }
        }
    }
}

fn parallel(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    const LINE: &str = "parallel | XmkuvtpqrxhVDgkMo0 j: P: n: N: L: l? I: i? U: a: S: d: C: E: e? s: B: z | --jobs: --max-procs: --max-args: \
                        --max-replace-args: --arg-file: --sshlogin: --sshloginfile: --joblog: --results: --timeout: --delay: --colsep: \
                        --delimiter: --tmpdir: --workdir: --wd: --retries: --load: --memfree: --halt: --nice: --env: --tagstring: --block: \
                        --recstart: --recend: --basefile: --return: --transfer --trc: --cleanup --tag --keep-order --group --ungroup \
                        --line-buffer --lb --dry-run --verbose --null --no-run-if-empty --progress --bar --eta --pipe --pipepart --xargs \
                        --will-cite --no-notice --quote --resume --resume-failed --plus --link --shuf --trim: --header: --color --help --version | text";
    part.is(Class::Unknown, "parallel runs commands that it makes of its input");
    let at = values
        .iter()
        .position(|value| value.text().is_some_and(|text| !text.starts_with('-')))
        .unwrap_or(values.len());
    let end = values
        .iter()
        .position(|value| value.text().is_some_and(|text| text.starts_with(":::")))
        .unwrap_or(values.len());
    let words: Vec<&str> = values[at.min(end)..end].iter().filter_map(Value::text).collect();
    judge.payload(&words.join(" "), Shell::Bash, part);
    // Without a command each line that it reads is one.
    if words.is_empty()
        && let Some(input) = judge.input.clone()
    {
        judge.fed(&input, Shell::Bash, part);
    }
    for at in options::starts(LINE, &values[..end], 0) {
        let words: Vec<&str> = values[at..end].iter().filter_map(Value::text).collect();
        forbidden_text(judge, &words.join(" "), Shell::Bash, part);
    }
}

fn watch(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    const LINE: &str = "watch | bcd?efghprtvwxC n:q:s: | --beep --color --no-color --differences? --errexit --chgexit --interval: \
                        --precise --no-title --exec --equexit: --no-wrap --follow --shotsdir: --no-rerun --help --version | text";
    part.is(Class::Unknown, "watch runs a command again and again");
    let at = options::before_command(judge, LINE, values, part);
    let is_direct = values[..at].iter().filter_map(Value::text).any(|text| {
        text == "--exec" || (text.starts_with('-') && !text.starts_with("--") && text.contains('x'))
    });
    let rest = values.get(at..).unwrap_or_default();
    if is_direct {
        judge.nested(rest, part);
        return forbidden_in(judge, LINE, values, 0, part);
    }
    let words: Option<Vec<&str>> = rest.iter().map(Value::text).collect();
    match words {
        Some(words) => judge.payload(&words.join(" "), Shell::Sh, part),
        None => part.has(Class::Code, "watch runs a text that is not known before it runs"),
    }
    forbidden_in(judge, LINE, values, 0, part);
}

fn script(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    part.is(Class::Write, "script writes what it records");
    for (index, value) in values.iter().enumerate() {
        let Some(text) = value.text() else { continue };
        let payload = match text {
            "-c" | "--command" | "-qc" | "-qec" | "-ec" | "-eqc" => {
                values.get(index + 1).and_then(Value::text)
            }
            text => text.strip_prefix("--command="),
        };
        if let Some(payload) = payload.map(str::to_owned) {
            judge.payload(&payload, Shell::Sh, part);
        } else if !text.starts_with('-') {
            judge.path(value, Access::Write, part);
        }
    }
    // Some read the words after the file, or after `--`, as a command.
    for operands in 0..2 {
        forbidden_in(judge, "script | aefqE:I:O:B:T:m:o:c: | --command: | text", values, operands, part);
    }
}
