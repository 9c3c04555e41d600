//! Commands that the shell runs itself.

mod test;
mod variables;

use crate::class::Class;
use crate::situation::{Access, Shell};
use crate::state::Variable;
use crate::verdict::Part;
use crate::walk::{Judge, Word, is_name};
use crate::words::Value;

/// Judges a builtin. Whether it was one.
pub(crate) fn judge(judge: &mut Judge<'_>, name: &str, words: &[Word], part: &mut Part) -> bool {
    match name {
        ":" | "true" | "false" | "echo" | "pwd" | "times" | "dirs" | "exit" | "caller" | "logout"
        | "unalias" => {}
        "break" | "continue" | "return" => judge.state.tangle(),
        // `wait -p` evaluates a subscript, `jobs -x` runs a command.
        "wait" | "jobs" => {
            if words.iter().any(|word| word.value.text().is_none_or(|text| text.contains(['p', 'x']))) {
                part.has(Class::Code, format!("{name} gets a word by which it may run something"));
            }
        }
        "shift" | "umask" if words.iter().all(|word| word.value.text().is_some()) => {}
        "printf" => printf(judge, words, part),
        "cd" => cd(judge, words),
        "pushd" => match words {
            [word] if word.value.text().is_some_and(|text| !text.starts_with(['-', '+'])) => cd(judge, words),
            _ => lose_directory(judge),
        },
        // Changes of the directory stack by `dirs` and its variable are not tracked.
        "popd" => lose_directory(judge),
        "test" | "[" => test::test(judge, name, words, part),
        "export" | "declare" | "typeset" | "local" | "readonly" => {
            variables::declare(judge, name, words, part);
        }
        "let" => {
            for word in words {
                match word.value.text() {
                    Some(text) => judge.arithmetic(text, part),
                    None => part.has(Class::Code, "let evaluates a value that is not known"),
                }
            }
        }
        "read" | "mapfile" | "readarray" | "getopts" => variables::reads(judge, name, words, part),
        "unset" => {
            judge.state.tangle();
            judge.state.seen.borrow_mut().loses_functions = true;
            for word in options_end(words) {
                match word.value.text() {
                    Some(name) if is_name(name) => judge.assign(name, Variable::Unknown, part),
                    _ => part.has(Class::Code, "the subscript of a variable that is unset is evaluated"),
                }
            }
        }
        "set" => set(judge, words, part),
        "shopt" => shopt(judge, words, part),
        "type" | "help" if words.iter().all(is_harmless_query) => {}
        "ulimit" if words.iter().all(|word| word.value.text().is_some_and(|text| text.starts_with('-'))) => {}
        "hash" if words.is_empty() => {}
        "alias"
            if words.iter().all(|word| {
                word.assigned.is_none() && word.value.text().is_some_and(|text| !text.contains('='))
            }) => {}
        "command" => return with_program(judge, words, part),
        "builtin" => {
            if let Some((first, rest)) = words.split_first() {
                match first.value.text().map(str::to_owned) {
                    Some(name) if self::judge(judge, &name, rest, part) => {}
                    _ => part.has(Class::Unknown, "builtin runs an unknown command"),
                }
            }
        }
        "exec" => exec(judge, words, part),
        "eval" => eval(judge, words, part),
        "source" | "." => {
            part.is(Class::Code, "it runs a file as a part of the command");
            part.says = None;
            if let Some(file) = words.first().map(|word| word.value.clone()) {
                judge.path(&file, Access::Read, part);
                if let Some(text) = file.text().and_then(|file| judge.text_behind(Some(file))) {
                    judge.fed(&text, Shell::Bash, part);
                }
            }
        }
        "trap" => trap(judge, words, part),
        "kill" => kill(words, part),
        "history" => {
            let is_reading = words.iter().all(|word| {
                word.value.text().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
            });
            if !is_reading {
                part.is(Class::Write, "it changes the history");
            }
        }
        "compgen" => {
            part.is(Class::Unknown, "compgen can run more than it shows");
            // It completes names as a pattern does, in the directory before the last slash.
            for text in words.iter().filter_map(|word| word.value.text()) {
                if let Some(at) = text.rfind('/') {
                    judge.path(&Value::Text(text[..=at].to_owned()), Access::Read, part);
                }
            }
        }
        // No test needs this arm: without it, each counts as an unknown program, which needs approval, too.
        "shift" | "umask" | "alias" | "enable" | "bind" | "complete" | "compopt" | "fc" | "hash" | "type"
        | "help" | "ulimit" | "disown" | "fg" | "bg" | "suspend" => {
            part.is(Class::Unknown, format!("{name} can change or run more than it shows"));
        }
        _ => return false,
    }
    true
}

fn is_harmless_query(word: &Word) -> bool {
    word.value
        .text()
        .is_some_and(|text| matches!(text, "-a" | "-t" | "-p" | "-P" | "-f" | "-l") || !text.starts_with('-'))
}

/// Returns the words after the options.
fn options_end(words: &[Word]) -> &[Word] {
    let is_option =
        |word: &Word| word.value.text().is_some_and(|text| text.len() > 1 && text.starts_with('-'));
    let end = words.iter().position(|word| !is_option(word)).unwrap_or(words.len());
    &words[end..]
}

fn values(words: &[Word]) -> Vec<Value> {
    words.iter().map(|word| word.value.clone()).collect()
}

fn printf(judge: &mut Judge<'_>, words: &[Word], part: &mut Part) {
    // `%n` assigns how much was written so far to the variable that the next word names.
    let assigns = |text: &str| {
        text.split('%').skip(1).any(|rest| {
            rest.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #'.*hlLqjzt".contains(c))
                .starts_with('n')
        })
    };
    if words.iter().any(|word| word.value.text().is_some_and(assigns)) {
        part.has(Class::Code, "printf may assign a variable");
    }
    let mut values = words.iter().map(|word| &word.value).peekable();
    if let Some(named) = values.next_if(|value| value.text().is_some_and(|text| text.starts_with("-v"))) {
        let attached = named.text().and_then(|text| text.strip_prefix("-v")).filter(|name| !name.is_empty());
        match attached.or_else(|| values.next().and_then(Value::text)) {
            Some(name) if is_name(name) => judge.assign(name, Variable::Unknown, part),
            _ => part.has(Class::Code, "printf -v evaluates the subscript of a variable"),
        }
    }
    let is_ended = values.next_if(|value| value.text() == Some("--")).is_some();
    match values.next() {
        Some(format) if format.text().is_none() => {
            part.has(
                Class::Code,
                "printf gets a format that is not known before it runs, and may assign a variable",
            );
        }
        Some(format) if !is_ended && format.may_be_option() => {
            part.has(Class::Code, "printf gets an option that is not known");
        }
        _ => {}
    }
}

fn cd(judge: &mut Judge<'_>, words: &[Word]) {
    let mut is_physical = false;
    let mut words = words;
    while let [first, rest @ ..] = words {
        match first.value.text() {
            Some("-L" | "--") => words = rest,
            Some("-P" | "-e" | "-Pe" | "-eP") => (is_physical, words) = (true, rest),
            _ => break,
        }
    }
    let to = match words {
        [] => judge.situation().home().map(|home| home.to_string_lossy().into_owned()),
        [word] => word.value.text().map(str::to_owned),
        _ => None,
    };
    let to = to.filter(|_| !words.iter().any(|word| word.value.may_be_option()));
    judge.state.seen.borrow_mut().changes_directory = true;
    let written = to.as_deref().and_then(|to| judge.directory(to));
    let real = to.as_deref().and_then(|to| judge.absolute(to));
    // For a symlink before a `..`, the shell and the system resolve the path differently.
    let is_same = match (&written, &real) {
        (Some(written), Some(real)) => {
            written.canonicalize().is_ok_and(|written| real.canonicalize().is_ok_and(|real| written == real))
        }
        _ => false,
    };
    // If the directory does not exist or cannot be entered, `cd` fails, and the next command runs in the old directory.
    let is_there = real
        .as_deref()
        .is_some_and(|path| path.join(".").symlink_metadata().is_ok_and(|metadata| metadata.is_dir()));
    let stays_known = is_there && is_same && !judge.state.facts.is_tangled;
    judge.state.cwd =
        if is_physical { real } else { written }.filter(|_| stays_known || judge.state.is_lenient);
}

fn lose_directory(judge: &mut Judge<'_>) {
    judge.state.seen.borrow_mut().changes_directory = true;
    judge.state.cwd = None;
}

fn set(judge: &mut Judge<'_>, words: &[Word], part: &mut Part) {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.value.text() {
            Some("--" | "-") => return,
            None if word.value.may_be_option() => {
                judge.state.plain_patterns = false;
                return part.has(Class::Unknown, "set gets a word that may be an option");
            }
            Some("-o" | "+o") => match words.next().and_then(|word| word.value.text()) {
                None
                | Some(
                    "pipefail" | "errexit" | "nounset" | "errtrace" | "functrace" | "noclobber" | "monitor"
                    | "physical",
                ) => {}
                Some(_) => {
                    judge.state.plain_patterns = false;
                    part.has(Class::Unknown, "set changes how the shell works");
                }
            },
            Some(option) if option.starts_with(['-', '+']) => {
                if option[1..].contains('o') {
                    // `-euo pipefail`.
                    match words.next().and_then(|word| word.value.text()) {
                        None | Some("pipefail" | "errexit" | "nounset") => {}
                        Some(_) => part.has(Class::Unknown, "set changes how the shell works"),
                    }
                }
                if !option[1..].bytes().all(|byte| b"euoEThmbC".contains(&byte)) {
                    judge.state.plain_patterns = false;
                    part.has(Class::Unknown, format!("set {option} changes how the shell works"));
                }
            }
            _ => return,
        }
    }
}

fn shopt(judge: &mut Judge<'_>, words: &[Word], part: &mut Part) {
    let is_query = words.iter().all(|word| {
        word.value.text().is_some_and(|text| !text.starts_with('-') || matches!(text, "-p" | "-q"))
    });
    if !is_query {
        judge.state.plain_patterns = false;
        part.has(Class::Unknown, "shopt changes how the shell works");
    }
}

fn with_program(judge: &mut Judge<'_>, words: &[Word], part: &mut Part) -> bool {
    let mut words = words;
    while let [first, rest @ ..] = words {
        match first.value.text() {
            // It only describes the command.
            Some("-v" | "-V" | "-pv" | "-pV") => return true,
            Some("-p" | "--") => words = rest,
            _ => break,
        }
    }
    let Some((first, rest)) = words.split_first() else { return true };
    if let Some(name) = first.value.text().map(str::to_owned)
        && self::judge(judge, &name, rest, part)
    {
        return true;
    }
    if first.value.may_be_option() {
        part.has(Class::Unknown, "command gets an option that is not known");
        return true;
    }
    judge.nested(&values(words), part);
    true
}

fn exec(judge: &mut Judge<'_>, words: &[Word], part: &mut Part) {
    let mut words = words;
    let loses_env = judge.loses_env;
    while let [first, rest @ ..] = words {
        match first.value.text() {
            Some("-c" | "-cl" | "-lc") => {
                judge.loses_env = true;
                words = rest;
            }
            Some("-l" | "--") => words = rest,
            Some("-a") => words = rest.get(1..).unwrap_or_default(),
            _ => break,
        }
    }
    if words.first().is_some_and(|word| word.value.may_be_option()) {
        part.has(Class::Unknown, "exec gets an option that is not known");
    }
    judge.nested(&values(words), part);
    judge.loses_env = loses_env;
}

fn eval(judge: &mut Judge<'_>, words: &[Word], part: &mut Part) {
    let texts: Option<Vec<&str>> = words.iter().map(|word| word.value.text()).collect();
    part.says = None;
    judge.state.tangle();
    match texts {
        Some(texts) => {
            let text = texts.join(" ");
            judge.payload(text.trim_start_matches("-- "), Shell::Bash, part);
        }
        None => {
            part.has(Class::Code, "eval runs a text that is not known before it runs");
            crate::never::look(&part.text.clone(), part);
            if let Some(text) = judge.guessed(&values(words)) {
                crate::wrappers::forbidden_text(judge, &text, Shell::Bash, part);
            }
        }
    }
}

fn trap(judge: &mut Judge<'_>, words: &[Word], part: &mut Part) {
    let words = match words {
        [first, rest @ ..] if first.value.text() == Some("--") => rest,
        words => words,
    };
    match words {
        [] => {}
        [first, ..] => match first.value.text() {
            Some("-p" | "-l" | "-" | "") => {}
            Some(text) if words.len() > 1 => {
                let text = text.to_owned();
                judge.state.tangle();
                judge.state.seen.borrow_mut().loses_functions = true;
                // The command runs at any time, and its changes take effect then.
                let says_only = |text: &str| {
                    ["echo ", "printf ", "exit", ":", "true"]
                        .iter()
                        .any(|harmless| text.starts_with(harmless))
                        && !text.contains(['$', '`', '=', '(', '{', '<', '>', '&', '|', ';', '\n'])
                };
                if !says_only(&text) {
                    part.has(Class::Code, "trap runs a command later, when the state may be different");
                }
                judge.apart(|judge| judge.payload(&text, Shell::Bash, part));
            }
            Some(_) => {}
            None => part.has(Class::Code, "trap runs a text that is not known before it runs"),
        },
    }
}

fn kill(words: &[Word], part: &mut Part) {
    let is_list =
        words.first().and_then(|word| word.value.text()).is_some_and(|text| matches!(text, "-l" | "-L"));
    let is_probe = words.first().and_then(|word| word.value.text()) == Some("-0");
    if is_list || is_probe {
        return;
    }
    // The first may be the number of a signal.
    let has_signal =
        words.first().and_then(|word| word.value.text()).is_some_and(|text| text.starts_with('-'));
    let mut ended = words.iter().skip(usize::from(has_signal));
    if ended.any(|word| matches!(word.value.text(), Some("-1" | "1"))) {
        part.is(Class::Dangerous, "it ends every process, or the first");
    } else {
        part.is(Class::Unknown, "it ends a process");
    }
}
