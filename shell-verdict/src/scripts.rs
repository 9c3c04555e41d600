//! Programs that run a text: shells, interpreters, `sed` and `awk`.

mod awk;
mod sed;

use crate::class::Class;
use crate::names;
use crate::situation::{Access, Shell};
use crate::special::{has_own_home, packages};
use crate::verdict::Part;
use crate::walk::Judge;
use crate::words::Value;

pub(crate) fn is_shell(base: &str) -> bool {
    names::is("shells", base)
}

pub(crate) fn is_interpreter(base: &str) -> bool {
    let name = base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    names::is("interpreters", base) || (!name.is_empty() && names::is("interpreters", name))
}

pub(crate) fn is_python(base: &str) -> bool {
    let name = base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(name, "python" | "pypy")
}

/// Judges a program that runs a text. Whether it was one.
pub(crate) fn judge(judge: &mut Judge<'_>, base: &str, values: &[Value], part: &mut Part) -> bool {
    if is_shell(base) {
        shell(judge, base, values, part);
        return true;
    }
    match base {
        "sed" => sed::judge(judge, values, part),
        "awk" | "mawk" | "gawk" | "nawk" | "original-awk" => awk::judge(judge, values, part),
        "java" if packages::judge(judge, base, values, part) => {}
        _ if is_interpreter(base) => interpreter(judge, base, values, part),
        _ => return false,
    }
    true
}

fn shell(judge: &mut Judge<'_>, base: &str, values: &[Value], part: &mut Part) {
    let mut at = 0;
    let (mut is_payload, mut reads_input, mut is_login) = (false, false, false);
    let mut is_plain = matches!(base, "sh" | "bash" | "dash" | "ash");
    while let Some(value) = values.get(at) {
        let Some(text) = value.text() else {
            if is_payload {
                break;
            }
            crate::never::look(&part.text.clone(), part);
            return part.has(Class::Code, format!("{base} gets a word that is not known before it runs"));
        };
        match text {
            "--version" | "--help" if values.len() == 1 => return,
            "--norc" | "--noprofile" => {}
            "-" | "--" => {
                at += 1;
                break;
            }
            // A login runs files of the home first, which are the person's own.
            "--login" => {
                is_login = true;
                is_plain &= has_own_home(judge);
            }
            text if text.starts_with("--") => is_plain = false,
            text if text.starts_with(['-', '+']) => {
                is_payload |= text.contains('c') && text.starts_with('-');
                reads_input |= text.contains('s') && text.starts_with('-');
                is_login |= text.contains('l');
                // Others run files first, or read the command elsewhere.
                is_plain &= text[1..].bytes().all(|byte| b"ceuol".contains(&byte));
                is_plain &= !text[1..].contains('l') || text.starts_with('-') && has_own_home(judge);
                if text.contains('o') {
                    is_plain &= matches!(
                        values.get(at + 1).and_then(Value::text),
                        Some("pipefail" | "errexit" | "nounset")
                    );
                    at += 1;
                }
            }
            _ => break,
        }
        at += 1;
    }
    if !is_payload {
        part.is(
            Class::Code,
            match values.get(at) {
                Some(_) => format!("{base} runs a file"),
                None => format!("{base} runs what it reads"),
            },
        );
        let file = values.get(at).filter(|_| !reads_input);
        if let Some(file) = values.get(at) {
            judge.path(file, Access::Read, part);
        }
        if file.is_none_or(|file| file.text().is_some())
            && let Some(text) = judge.text_behind(file.and_then(Value::text))
        {
            begins_anew(judge, |judge| judge.fed(&text, shell_of(base), part));
        }
        return;
    }
    if !is_plain {
        part.has(Class::Code, format!("{base} runs more, or otherwise, than its text says"));
    }
    let Some(text) = values.get(at).and_then(Value::text).map(str::to_owned) else {
        if let Some(text) = values.get(at..=at).and_then(|values| judge.guessed(values)) {
            begins_anew(judge, |judge| {
                crate::wrappers::forbidden_text(judge, &text, shell_of(base), part);
            });
        }
        crate::never::look(&part.text.clone(), part);
        return part.has(Class::Code, format!("{base} runs a text that is not known before it runs"));
    };
    if is_login {
        // The system's startup file, which is read first, runs `id`.
        part.starts.push("id".to_owned());
    }
    begins_anew(judge, |judge| {
        // The files that a login runs may set the variables that guards are.
        let loses_env = judge.loses_env;
        judge.loses_env |= is_login;
        judge.payload(&text, shell_of(base), part);
        judge.loses_env = loses_env;
    });
}

fn shell_of(base: &str) -> Shell {
    if base == "bash" { Shell::Bash } else { Shell::Sh }
}

/// Judges a script that another shell runs.
fn begins_anew(judge: &mut Judge<'_>, run: impl FnOnce(&mut Judge<'_>)) {
    judge.apart(|judge| {
        // The other shell starts with only the exported variables.
        judge.state.functions = std::rc::Rc::default();
        judge.state.plain_patterns = true;
        let mut exported: Vec<String> = judge.state.assigned.keys().cloned().collect();
        if judge.loses_env {
            // Without a `PATH` the shell sets its own default.
            exported.extend(judge.situation().env.keys().cloned().chain(["PATH".to_owned()]));
        }
        for name in exported {
            judge.state.assign(name, crate::state::Variable::Unknown);
        }
        run(judge);
    });
}

fn interpreter(judge: &mut Judge<'_>, base: &str, values: &[Value], part: &mut Part) {
    let words: Vec<Option<&str>> = values.iter().map(Value::text).collect();
    let only_tells = match words[..] {
        [Some("--version")] => !matches!(
            base,
            "tclsh"
                | "wish"
                | "java"
                | "dc"
                | "ed"
                | "swift"
                | "m4"
                | "dotnet-script"
                | "ts-node"
                | "tsx"
                | "elixir"
                | "iex"
        ),
        [Some("-V" | "-VV" | "-h" | "--help")] if is_python(base) => true,
        [Some("--help" | "-h")] => matches!(base, "node" | "nodejs" | "perl" | "ruby"),
        [Some("-v")] => matches!(base, "node" | "nodejs" | "ruby" | "perl" | "lua" | "php"),
        _ => false,
    };
    if only_tells {
        return;
    }
    let inline = [
        "-c", "-e", "-E", "-r", "-p", "-pe", "-ne", "-i", "--eval", "--print", "-ple", "-lne", "-nle", "-pi",
        "-n", "-x",
    ];
    let has_inline = words.iter().flatten().any(|word| {
        inline.contains(word)
            || word.starts_with("--eval=")
            || (word.starts_with("-c") && is_python(base))
            || (word.starts_with("-e") && base == "perl")
    });
    if has_inline {
        part.has(Class::Code, format!("{base} runs a text of the command"));
    }
    part.is(Class::Code, format!("{base} runs a program"));
    if let Some(file) = values.iter().find(|value| !value.text().is_some_and(|text| text.starts_with('-')))
        && !has_inline
        && file.text().is_some()
        && words.first().copied().flatten() != Some("-m")
    {
        judge.path(file, Access::Read, part);
    }
    crate::never::hidden(values, part);
}
