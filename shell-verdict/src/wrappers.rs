//! Programs that start the one that their words name.

use crate::class::Class;
use crate::command;
use crate::environment::{self, Use};
use crate::options;
use crate::situation::{Access, Decision, Shell};
use crate::verdict::Part;
use crate::walk::Judge;
use crate::words::Value;

/// Those that only start it in another way: options as in the table, then how many operands come before it.
const PLAIN: &[(&str, &str, usize)] = &[
    ("nice", "nice | n: 0 1 2 3 4 5 6 7 8 9 | --adjustment: --help --version | text numbers", 0),
    ("setsid", "setsid | cfwhV | --ctty --fork --wait --help --version | text", 0),
    (
        "timeout",
        "timeout | fpk:s:v | --foreground --preserve-status --kill-after: --signal: --verbose --help --version | text",
        1,
    ),
    ("stdbuf", "stdbuf | i:o:e: | --input: --output: --error: --help --version | text", 0),
    (
        "time",
        "time | avpqV o>f: | --append --verbose --portability --quiet --output> --format: --help --version | text",
        0,
    ),
    ("ionice", "ionice | tc:n:p&P&u&hV | --ignore --class: --classdata: --help --version | text", 0),
    (
        "chrt",
        "chrt | abdfiorvRT:P:D:m&p&hV | --batch --fifo --idle --other --rr --help --version --max& --pid& | text",
        1,
    ),
    ("taskset", "taskset | achpV | --all-tasks --cpu-list --help --version --pid& | text", 1),
    ("linux64", "linux64 | R | --addr-no-randomize | text", 0),
    ("linux32", "linux32 | R | --addr-no-randomize | text", 0),
    ("unbuffer", "unbuffer | p | | text", 0),
    ("catchsegv", "catchsegv | | | text", 0),
];

/// Those that let it do more, or record what it does: what they start is looked at, and they are asked about all the same.
const OTHER: &[(&str, &str, usize)] = &[
    ("nohup", "nohup | | --help --version | text", 0),
    (
        "setarch",
        "setarch | BFILRSTXZ3vhV | --uname-2.6 --addr-no-randomize --help --version --verbose | text",
        0,
    ),
    ("strace", "strace | fFcCdhikqrtTvVxyYzZDn a:b:e:E:I:o>O:p&P:s:S:u:U:X: | --output> | text", 0),
    ("ltrace", "ltrace | fcChiLrStTV a:A:b:D:e:F<l:n:o>p&s:u:w:x: | --output> | text", 0),
    ("valgrind", "valgrind | qvdhv | | text", 0),
    ("perf", "perf | | | text", 1),
    ("gdb", "gdb | | --args --batch | text", 0),
    (
        "flock",
        "flock | seonxuFvhV c! w:E: | --shared --exclusive --unlock --nonblock --wait: --close --verbose | text",
        1,
    ),
    (
        "unshare",
        "unshare | imnpuUCTcrf R:w:S:G: | --fork --mount --user --net --pid --map-root-user | text",
        0,
    ),
    ("nsenter", "nsenter | amuinpUCTrwe t: S:G: | | text", 0),
    ("chroot", "chroot | | --groups: --userspec: --skip-chdir | text", 1),
    ("fakeroot", "fakeroot | | | text", 0),
    ("firejail", "firejail | | | text", 0),
    ("bwrap", "bwrap | | | text", 0),
    (
        "systemd-run",
        "systemd-run | tPqdGS p:u:E:H:M: | --user --scope --pty --pipe --wait --unit: --property: | text",
        0,
    ),
    ("daemonize", "daemonize | av c:e:E:l:o:p:u: | | text", 0),
    ("caffeinate", "caffeinate | disumt:w: | | text", 0),
    ("dbus-run-session", "dbus-run-session | | | text", 0),
    ("xvfb-run", "xvfb-run | alenpsw | | text", 0),
    ("ssh-agent", "ssh-agent | csDd a:E:P:t: | | text", 0),
    ("proot", "proot | | | text", 0),
    ("entr", "entr | acdnprsxz | | text", 0),
    ("hyperfine", "hyperfine | | | text", 0),
    ("busybox", "busybox | | | text", 0),
    ("toybox", "toybox | | | text", 0),
    (
        "setpriv",
        "setpriv | dhV | --no-new-privs --clear-groups --keep-groups --init-groups --reuid: --regid: --ruid: --euid: --rgid: --egid: --groups: --inh-caps: --bounding-set: --ambient-caps: --securebits: --pdeathsig: --reset-env --dump --help --version | text",
        0,
    ),
    (
        "prlimit",
        "prlimit | p:o:hV | --pid: --output: --nofile? --nproc? --as? --core? --cpu? --fsize? --help --version | text",
        0,
    ),
    ("choom", "choom | n:p:hV | --adjust: --pid: --help --version | text", 0),
    ("uclampset", "uclampset | m:M:asRp:hvV | | text", 0),
    ("sem", "sem | | | text", 0),
    ("coproc", "coproc | | | text", 0),
];

/// Judges a wrapper. Whether it was one.
pub(crate) fn judge(judge: &mut Judge<'_>, base: &str, values: &[Value], part: &mut Part) -> bool {
    if let Some((_, line, operands)) = PLAIN.iter().find(|(name, ..)| *name == base) {
        let at = options::before_command(judge, line, values, part) + operands;
        if *operands > 0
            && values.len() <= at
            && !values.iter().any(|value| matches!(value.text(), Some("--help" | "--version" | "-V" | "-h")))
        {
            part.has(Class::Unknown, format!("{base} names no command"));
        }
        unknown_before(&values[..at.min(values.len())], base, part);
        command::nested(judge, values.get(at..).unwrap_or_default(), part);
        return true;
    }
    if let Some((_, line, operands)) = OTHER.iter().find(|(name, ..)| *name == base) {
        part.is(Class::Unknown, format!("{base} runs a command in another way"));
        let at = options::before_command(judge, line, values, part) + operands;
        command::nested(judge, values.get(at..).unwrap_or_default(), part);
        // A text for a shell.
        let payload = values.iter().position(|value| matches!(value.text(), Some("-c" | "--command")));
        if let Some(text) = payload.and_then(|at| values.get(at + 1)).and_then(Value::text).map(str::to_owned)
        {
            judge.payload(&text, Shell::Sh, part);
        }
        crate::forbidden::hidden(values, part);
        return true;
    }
    match base {
        "env" => env(judge, values, part),
        "xargs" => xargs(judge, values, part),
        "parallel" => parallel(judge, values, part),
        "watch" => watch(judge, values, part),
        "script" => script(judge, values, part),
        _ => return false,
    }
    true
}

/// What comes before the command decides where it begins.
fn unknown_before(values: &[Value], base: &str, part: &mut Part) {
    if values.iter().any(|value| matches!(value, Value::Unknown { splits: true, .. })) {
        part.has(Class::Code, format!("which command {base} runs is not known before it does"));
    }
}

fn env(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    let mut at = 0;
    let state = judge.state.clone();
    let loses_env = judge.loses_env;
    while let Some(value) = values.get(at) {
        let Some(text) = value.text().map(str::to_owned) else {
            if value.may_be_option() || matches!(value, Value::Unknown { .. }) {
                part.has(Class::Code, "which command env runs is not known before it does");
            }
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
                if next.is_none_or(|value| value.text().is_none()) {
                    part.has(Class::Unknown, "env unsets a variable that is not known");
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
                at += 1;
            }
            text => match text.split_once('=') {
                Some((name, value)) => {
                    if let Some(why) = environment::assignment(name, Some(value), Use::Program) {
                        part.has(Class::Code, why);
                    }
                    at += 1;
                }
                None => break,
            },
        }
    }
    command::nested(judge, values.get(at..).unwrap_or_default(), part);
    judge.state = state;
    judge.loses_env = loses_env;
}

/// `env -S` takes a text apart in a way of its own.
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
            command::nested(judge, &words[begins..], part);
        }
        None => {
            part.has(Class::Code, "env takes a text apart into a command, in a way of its own");
            if let Some(text) = text {
                crate::forbidden::look(text, part);
            }
        }
    }
}

/// What `xargs` does before its command, where that is one of the usual ways.
struct Before {
    /// How many words it is.
    length: usize,
    /// What stands for the words that it reads.
    mark: Option<String>,
}

fn before_xargs(values: &[Value]) -> Option<Before> {
    let (mut at, mut mark, mut is_counted) = (0, None, false);
    while let Some(value) = values.get(at) {
        let next = || values.get(at + 1).and_then(Value::text);
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
            text if text.len() > 2 && text.starts_with("-I") => {
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
    (mark.is_none() || !is_counted).then_some(Before { length: at.min(values.len()), mark })
}

fn xargs(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    let Some(Before { length, mark }) = before_xargs(values) else {
        part.has(Class::Unknown, "xargs gets options by which it may run something else");
        // As a warning, with all that may be its command.
        let begins = values.iter().position(|value| value.text().is_some_and(|text| !text.starts_with('-')));
        if let Some(begins) = begins {
            command::nested(judge, &values[begins..], part);
        }
        return crate::forbidden::hidden(values, part);
    };
    let rest = &values[length..];
    let inner: Vec<Value> = match (&mark, rest) {
        (_, []) => {
            part.starts.push("echo".to_owned());
            return;
        }
        (None, rest) => rest.iter().cloned().chain([Value::unknown()]).collect(),
        (Some(mark), rest) => {
            let replaced = |value: &Value| match value {
                Value::Text(text) => match text.find(mark.as_str()) {
                    Some(at) => Value::Unknown { prefix: text[..at].to_owned(), splits: false },
                    None => value.clone(),
                },
                value => value.clone(),
            };
            rest.iter().map(replaced).collect()
        }
    };
    command::nested(judge, &inner, part);
    // What must not run does not whatever words come.
    let mut alone = Part::new(part.span.clone(), "");
    command::nested(judge, rest, &mut alone);
    if alone.decision == Decision::Deny {
        part.parts.append(&mut alone.parts);
        part.decision = Decision::Deny;
        part.class = part.class.max(alone.class);
    }
}

fn parallel(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
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
}

fn watch(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    const LINE: &str = "watch | bcdeghptwxC n:q: | --beep --color --no-color --differences? --errexit --chgexit --interval: \
                        --precise --no-title --exec --equexit: --no-wrap --help --version | text";
    part.is(Class::Unknown, "watch runs a command again and again");
    let at = options::before_command(judge, LINE, values, part);
    let is_direct = values[..at].iter().filter_map(Value::text).any(|text| {
        text == "--exec" || (text.starts_with('-') && !text.starts_with("--") && text.contains('x'))
    });
    let rest = values.get(at..).unwrap_or_default();
    if is_direct {
        return command::nested(judge, rest, part);
    }
    let words: Option<Vec<&str>> = rest.iter().map(Value::text).collect();
    match words {
        Some(words) => judge.payload(&words.join(" "), Shell::Sh, part),
        None => part.has(Class::Code, "watch runs a text that is not known before it runs"),
    }
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
}

/// Looks at the command behind a program that never runs itself, so that the verdict shows it.
pub(crate) fn look_through(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    let at = values
        .iter()
        .position(|value| value.text().is_some_and(|text| !text.starts_with('-')))
        .unwrap_or(values.len());
    if at < values.len() && at < 4 {
        command::nested(judge, &values[at..], part);
    }
}
