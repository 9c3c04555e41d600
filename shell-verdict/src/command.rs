//! Judges a simple command by its words: a function, a builtin of the shell, or a program.

use crate::class::Class;
use crate::lookup::Lookup;
use crate::names::base;
use crate::state::Variable;
use crate::verdict::Part;
use crate::walk::{Judge, Judges, Word};
use crate::words::Value;
use crate::{
    builtin, contained, environment, forbidden, git, never, options, scripts, special, starters, wrappers,
};
use std::path::{Path, PathBuf};

/// Directories of the system, which no workspace makes its own.
const SYSTEM: &[&str] = &[
    "/usr/bin",
    "/bin",
    "/usr/sbin",
    "/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/usr/lib",
    "/usr/libexec",
];

/// Maximum number of variables of the command that a program is judged with.
const MAX_VARIABLES: usize = 256;

/// The judges of commands that a walk needs.
pub(crate) const JUDGES: Judges = Judges { simple: judge, nested };

/// Judges a simple command.
fn judge(judge: &mut Judge<'_>, words: Vec<Word>, part: &mut Part) {
    let Some(first) = words.first() else { return };
    part.words = words.iter().map(|word| word.value.text().map(str::to_owned)).collect();
    part.listed = listed(words.iter().map(|word| &word.value));
    let Some(name) = first.value.text().map(str::to_owned) else {
        let values: Vec<Value> = words.iter().map(|word| word.value.clone()).collect();
        if let Some(text) = judge.guessed(&values) {
            let words: Vec<Value> =
                text.split_whitespace().map(|word| Value::Text(word.to_owned())).collect();
            wrappers::forbidden_from(judge, &words, part);
        }
        return part.has(Class::Code, "which program runs is not known before it does");
    };
    if name.is_empty() {
        return part.has(Class::Unknown, "the name of the program is empty");
    }
    part.program = Some(base(&name).to_owned());
    part.directory.clone_from(&judge.state.cwd);
    if judge.call(&name, part) {
        return;
    }
    if builtin::judge(judge, &name, &words[1..], part) {
        return;
    }
    let values: Vec<Value> = words.into_iter().map(|word| word.value).collect();
    program(judge, &name, &values[1..], part);
}

/// Judges a command of which the values are known, as one that a wrapper starts: no function or builtin.
fn nested(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    let text: Vec<&str> = values.iter().map(|value| value.text().unwrap_or("…")).collect();
    let mut inner = Part::new(part.span.clone(), &text.join(" "));
    inner.words = values.iter().map(|value| value.text().map(str::to_owned)).collect();
    inner.listed = listed(values.iter());
    match values.first() {
        None => return,
        Some(Value::Text(name)) => {
            inner.program = Some(base(name).to_owned());
            // Some give it another input.
            let reads_pipe = std::mem::take(&mut judge.reads_pipe);
            program(judge, name, &values[1..], &mut inner);
            judge.reads_pipe = reads_pipe;
        }
        Some(_) => inner.has(Class::Code, "which program runs is not known before it does"),
    }
    part.add(inner);
}

fn program(judge: &mut Judge<'_>, name: &str, values: &[Value], part: &mut Part) {
    let base = base(name);
    part.says = says(base, values);
    part.directory.clone_from(&judge.state.cwd);
    part.variables = variables(judge);
    if judge.enter() {
        // A forbidden program does not run under any name.
        forbidden::program(judge, base, values, part);
        match identify(judge, name) {
            Identity::Known(path) => {
                part.executable = path;
                known(judge, base, values, part);
            }
            Identity::Other(why) => {
                part.is(Class::Unknown, format!("{name} is {why}"));
                // The effect of the program with this name counts as well, if that is worse.
                known(judge, base, values, part);
            }
        }
    } else {
        part.has(Class::Unknown, "commands are nested too deeply");
    }
    judge.leave();
}

/// Returns the words of the lists among some values.
fn listed<'v>(values: impl Iterator<Item = &'v Value>) -> Vec<String> {
    let lists = values.filter_map(|value| match value {
        Value::Listed(words) => Some(words.iter().cloned()),
        _ => None,
    });
    lists.flatten().collect()
}

/// Returns the variables that the command has set so far, where their values are known.
fn variables(judge: &Judge<'_>) -> Vec<(String, String)> {
    let texts = judge.state.assigned.iter().filter_map(|(name, value)| match value {
        Variable::Text(text) => Some((name.clone(), text.clone())),
        _ => None,
    });
    texts.take(MAX_VARIABLES).collect()
}

fn known(judge: &mut Judge<'_>, base: &str, values: &[Value], part: &mut Part) {
    // Some are no more than a way to start another.
    match base {
        "egrep" | "fgrep" | "rgrep" => part.starts.push("grep".to_owned()),
        "diff3" | "sdiff" => part.starts.push("diff".to_owned()),
        // It runs these to find the ignored files.
        "ag" => part.starts.extend(["sh", "git"].map(str::to_owned)),
        // For its long form.
        "fd" | "fdfind" => part.starts.push("ls".to_owned()),
        _ => {}
    }
    for name in environment::of_program(base) {
        if judge.situation().env.contains_key(*name) {
            part.has(Class::Code, format!("{name} is in the environment, and changes what {base} does"));
        }
    }
    starters::look(base, values, part);
    if contained::judge(judge, base, values, part) {
        return;
    }
    contained::warn(judge, base, values, part);
    let is_handled = wrappers::judge(judge, base, values, part)
        || scripts::judge(judge, base, values, part)
        || git::judge(judge, base, values, part)
        || special::judge(judge, base, values, part)
        || options::judge(judge, base, values, part);
    if !is_handled {
        part.is(Class::Unknown, format!("{base} is not known to only read"));
        never::hidden(values, part);
    }
    // The program searches for these itself.
    for started in part.starts.clone() {
        let is_there = !matches!(judge.situation().programs.find(&started), Lookup::NotThere);
        if let Identity::Other(why) = identify(judge, &started)
            && is_there
        {
            part.is(Class::Unknown, format!("it may start {started}, which is {why}"));
        }
    }
}

/// The identity of a program.
enum Identity {
    /// The program of that name: its file, or `None` if it is not installed.
    Known(Option<PathBuf>),
    /// Another program, as text.
    Other(&'static str),
}

fn identify(judge: &Judge<'_>, name: &str) -> Identity {
    let situation = judge.situation();
    let workspace = situation.workspace;
    let real_workspace = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
    let is_foreign = |path: &Path| {
        let is_inside = path.starts_with(workspace) || path.starts_with(&real_workspace);
        is_inside && !SYSTEM.iter().any(|system| path.starts_with(system) && !workspace.starts_with(system))
    };
    if judge.state.assigned.contains_key("PATH") || judge.state.assigned.contains_key("EXECIGNORE") {
        return Identity::Other("looked for where the command says");
    }
    let directories = situation.programs.directories();
    let (path, real) = if name.contains('/') {
        let path = judge.absolute(name).filter(|_| name.starts_with('/')).filter(|path| {
            path.parent().is_some_and(|parent| directories.iter().any(|directory| directory == parent))
        });
        let Some(path) = path else { return Identity::Other("a program by its path, which may be any") };
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        (path, real)
    } else {
        match situation.programs.find(name) {
            Lookup::Depends => {
                return Identity::Other(
                    "looked for in a directory of the workspace, too, since PATH has one that is relative",
                );
            }
            Lookup::NotThere => {
                return if directories.iter().any(|directory| is_foreign(directory)) {
                    Identity::Other("looked for in a directory of the workspace, too")
                } else {
                    Identity::Known(None)
                };
            }
            Lookup::Found(found) => (found.path, found.real),
        }
    };
    if is_foreign(&path) || is_foreign(&real) {
        return Identity::Other("a program in the workspace");
    }
    let is_temporary =
        |path: &Path| ["/tmp", "/var/tmp", "/dev/shm"].iter().any(|directory| path.starts_with(directory));
    if is_temporary(&path) || is_temporary(&real) {
        return Identity::Other("a program in a directory that everybody writes to");
    }
    // These determine the program to start from files of the current directory.
    if path.components().any(|part| part.as_os_str() == "shims") {
        return Identity::Other("a stand-in that chooses which program to start");
    }
    Identity::Known(Some(path))
}

/// Returns the number of leading words that identify the command's action.
fn says(base: &str, values: &[Value]) -> Option<usize> {
    let words: Vec<Option<&str>> = values.iter().map(Value::text).collect();
    let plain = |at: usize| {
        words.get(at).copied().flatten().is_some_and(|word| !word.is_empty() && !word.starts_with('-'))
    };
    if is_shell_or_interpreter(base) {
        return match words.first().copied().flatten() {
            Some("-m") if scripts::is_python(base) && plain(1) => Some(3),
            _ if plain(0) => Some(2),
            _ => None,
        };
    }
    match base {
        base if runs_others(base) => None,
        "npm" | "pnpm" | "yarn" | "bun" | "uv" | "poetry" | "docker" | "podman" | "kubectl"
            if matches!(
                words.first().copied().flatten(),
                Some("run" | "exec" | "compose" | "x" | "dlx" | "tool")
            ) =>
        {
            plain(1).then_some(3)
        }
        "git" | "cargo" | "npm" | "pnpm" | "yarn" | "bun" | "uv" | "poetry" | "pip" | "pip3" | "go"
        | "docker" | "podman" | "kubectl" | "gh" | "systemctl" | "apt" | "apt-get" | "brew" | "rustup"
        | "dotnet" | "terraform" | "make" | "just" | "npx" | "pnpx" | "bunx" | "uvx" | "helm" | "bundle"
        | "rake" | "mix" | "gem" | "composer" | "mvn" | "gradle" => plain(0).then_some(2),
        _ => Some(1),
    }
}

/// Returns true if the program runs what its words say.
fn runs_others(base: &str) -> bool {
    matches!(
        base,
        "env"
            | "xargs"
            | "find"
            | "parallel"
            | "watch"
            | "ssh"
            | "busybox"
            | "toybox"
            | "nice"
            | "nohup"
            | "timeout"
            | "stdbuf"
            | "time"
            | "setsid"
            | "awk"
            | "gawk"
            | "mawk"
            | "nawk"
            | "sed"
            | "strace"
            | "script"
            | "flock"
            | "unshare"
            | "nsenter"
            | "chroot"
    )
}

impl Part {
    /// Returns true if the command is a program without arguments whose name identifies what it does, such as `make`. A shell or an
    /// interpreter, and a program that runs another, may do anything.
    pub fn is_bare_program(&self) -> bool {
        let program = self.program.as_deref().unwrap_or_default();
        let is_one = matches!(&self.words[..], [Some(_)]) && !program.is_empty();
        is_one && !is_shell_or_interpreter(program) && !runs_others(program)
    }
}

pub(crate) fn is_shell_or_interpreter(base: &str) -> bool {
    scripts::is_shell(base) || scripts::is_interpreter(base)
}
