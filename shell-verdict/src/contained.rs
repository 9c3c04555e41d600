//! Programs whose answer differs where the host contains them: some only read there, and some answer wrongly or fail.

use crate::class::Class;
use crate::guards;
use crate::names;
use crate::options;
use crate::scripts::{is_interpreter, is_shell};
use crate::situation::Access;
use crate::special::has_own_home;
use crate::verdict::Part;
use crate::walk::Judge;
use crate::words::Value;
use std::path::Path;

/// Judges a program that only reads if it is contained. Returns true if it is one.
pub(crate) fn judge(judge: &mut Judge<'_>, base: &str, values: &[Value], part: &mut Part) -> bool {
    if !judge.situation().contained {
        return false;
    }
    let words: Option<Vec<&str>> = values.iter().map(Value::text).collect();
    let Some(words) = words else { return false };
    if part.executable.is_some() && tells_version(base, &words) {
        return true;
    }
    match base {
        "sqlite3" if has_own_home(judge) => sqlite(judge, &words, part),
        "apt" if apt(&words) => {
            judge.needs(guards::APT, part);
            true
        }
        // Its first word may be a command.
        "bat" | "batcat" if !words.contains(&"cache") => {
            judge.needs(guards::BAT, part);
            options::judge(judge, "bat", values, part)
        }
        _ => false,
    }
}

/// Returns true if a program is only asked for its version. Shells and interpreters are not among these: some ignore the option, and read
/// a program from their input.
fn tells_version(base: &str, words: &[&str]) -> bool {
    match words {
        ["--version" | "-V"] => !is_shell(base) && !is_interpreter(base),
        ["version"] => names::is("says-version", base),
        _ => false,
    }
}

fn apt(words: &[&str]) -> bool {
    const OPTIONS: &[&str] =
        &["--installed", "--upgradable", "--upgradeable", "--all-versions", "-a", "-q", "-qq"];
    matches!(words.first(), Some(&("list" | "show" | "policy")))
        && words[1..]
            .iter()
            .all(|word| OPTIONS.contains(word) || !word.starts_with('-') && !word.contains('/'))
}

/// Judges `sqlite3` with a database that it may not write, and commands among its words.
fn sqlite(judge: &mut Judge<'_>, words: &[&str], part: &mut Part) -> bool {
    const PLAIN: &[&str] = &[
        "readonly", "safe", "header", "noheader", "csv", "json", "column", "line", "list", "table",
        "markdown", "box", "batch", "bail", "tabs", "quote",
    ];
    let mut operands = Vec::new();
    let (mut is_readonly, mut rest) = (false, words.iter());
    while let Some(word) = rest.next() {
        let Some(option) = word.strip_prefix('-') else {
            operands.push(*word);
            continue;
        };
        let option = option.strip_prefix('-').unwrap_or(option);
        is_readonly |= option == "readonly";
        match option {
            "separator" | "nullvalue" if rest.next().is_some() => {}
            option if PLAIN.contains(&option) => {}
            _ => return false,
        }
    }
    let Some((database, commands)) = operands.split_first() else { return false };
    // Without one it reads commands from its input.
    let is_read =
        is_readonly && !commands.is_empty() && commands.iter().all(|command| reads_database(command));
    if !is_read || database.contains(':') {
        return false;
    }
    judge.path(&Value::Text((*database).to_owned()), Access::Read, part);
    true
}

/// Returns true if SQL, or commands of the program, use nothing but the database.
fn reads_database(text: &str) -> bool {
    /// Parts of the names of functions, statements and tables that read or write other files, or run something.
    const OTHERS: &[&str] =
        &["file", "edit", "load_extension", "attach", "vacuum", "dir", "virtual", "tokenizer", "zip"];
    const COMMANDS: &[&str] = &[
        ".tables",
        ".schema",
        ".indexes",
        ".databases",
        ".headers",
        ".mode",
        ".width",
        ".nullvalue",
        ".fullschema",
    ];
    let text = text.to_ascii_lowercase();
    let is_known = |line: &str| {
        let command = line.split_whitespace().next().unwrap_or_default();
        !line.trim_start().starts_with('.') || COMMANDS.contains(&command)
    };
    !OTHERS.iter().any(|other| text.contains(other)) && text.lines().all(is_known)
}

/// Records that a program needs a socket to ask about the network, and asks about one that answers wrongly or fails if it is contained.
pub(crate) fn warn(judge: &Judge<'_>, base: &str, values: &[Value], part: &mut Part) {
    let has = |is: &dyn Fn(&str) -> bool| values.iter().any(|value| value.text().is_none_or(is));
    let asks_addresses = base == "hostname"
        && has(&|word| {
            word.starts_with("--a") || word.starts_with('-') && !word.starts_with("--") && word.contains('I')
        });
    part.queries_network_state = names::is("network-state", base) || asks_addresses;
    if !judge.situation().contained {
        return;
    }
    let is_of_processes = |word: &str| {
        word.starts_with("--p") || word.starts_with('-') && !word.starts_with("--") && word.contains('p')
    };
    if names::is("asks-service", base) {
        part.is(Class::Unknown, format!("{base} asks a service that a contained command cannot reach"));
    } else if names::is("reads-processes", base) || matches!(base, "ss" | "netstat") && has(&is_of_processes)
    {
        part.is(
            Class::Unknown,
            format!("{base} reads of other processes what a contained command cannot read"),
        );
    } else if names::is("needs-more", base) {
        part.is(
            Class::Unknown,
            format!("{base} needs a socket or rights that a contained command does not get"),
        );
    } else if part.executable.as_deref().is_some_and(has_other_rights) {
        part.is(
            Class::Unknown,
            format!("{base} needs the rights of another user, which a contained command does not get"),
        );
    }
}

/// Returns true if a program gets the rights of its owner or group.
// No test covers it: such a program would have to be installed outside of temporary directories.
#[cfg(unix)]
fn has_other_rights(program: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    program.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o6000 != 0)
}

#[cfg(not(unix))]
fn has_other_rights(_program: &Path) -> bool {
    false
}
