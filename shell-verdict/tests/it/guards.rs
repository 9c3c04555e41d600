//! Variables and options keep a program from running something while it reads: no command that may take them away is allowed.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::common;

use common::altered::{Chance, altered};
use common::{Fixture, rows};
use shell_verdict::{Decision, Part, Verdict};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Command, Stdio};

/// Variables that a verdict sets, and a command that gets them.
const GUARDS: &[(&str, &str)] = &[
    ("GIT_OPTIONAL_LOCKS", "git status"),
    ("GIT_NO_LAZY_FETCH", "git log -1"),
    ("GIT_PAGER", "git log -1"),
    ("GIT_CONFIG_COUNT", "git status"),
    ("GIT_CONFIG_KEY_0", "git status"),
    ("GIT_CONFIG_VALUE_0", "git diff"),
    ("GIT_CONFIG_VALUE_5", "git log -1"),
    ("SYSTEMD_PAGER", "systemctl list-units"),
    ("PAGER", "journalctl -n 5"),
    ("DPKG_PAGER", "dpkg -l"),
    ("LESSSECURE", "less README.md"),
];

/// Commands that may unset, unexport, shadow or retype the variable `V`, with the command `C` that needs it. `true`: with another
/// variable the command is allowed, so that the variable is the reason.
const TAKES: &[(&str, bool)] = &[
    ("declare -a V; C", true),
    ("declare -A V; C", true),
    ("declare -ar V; C", true),
    ("declare -r -a V; C", true),
    ("declare V; C", true),
    ("declare -i V; C", true),
    ("declare -r V; C", true),
    ("declare +x V; C", false),
    ("declare -g -a V; C", true),
    ("declare -ga V; C", true),
    ("declare -- V; C", true),
    ("declare -- -p V; C", true),
    ("declare -a -p V; C", true),
    ("declare V -p; C", true),
    ("declare \"V\"; C", true),
    ("declare 'V'; C", true),
    ("declare $'V'; C", true),
    ("declare -a V=8; C", true),
    ("declare -a V=(7); C", true),
    ("declare V=8; C", true),
    ("typeset -a V; C", true),
    ("typeset V; C", true),
    ("readonly V; C", true),
    ("readonly -a V; C", true),
    ("readonly V=8; C", true),
    ("command declare -a V; C", true),
    ("command typeset -A V; C", true),
    ("builtin declare -a V; C", true),
    ("builtin command declare -a V; C", true),
    ("\\declare -a V; C", true),
    ("'declare' -a V; C", true),
    ("f() { local V; C; }; f", true),
    ("f() { local -a V; C; }; f", true),
    ("f() { local V=8; C; }; f", true),
    ("f() { local -; local V; C; }; f", false),
    ("f() { declare V; C; }; f", true),
    ("f() { declare -ga V; }; f; C", true),
    ("f() { typeset -gA V; }; f && C", true),
    ("f() { C; }; declare -a V; f", true),
    ("for i in 1 2; do C; declare -a V; done", true),
    ("if true; then declare -a V; fi; C", true),
    ("true || declare -a V; C", true),
    ("true && declare -a V && C", true),
    ("{ declare -a V; }; C", true),
    ("(declare -a V; C)", true),
    ("echo $(declare -a V; C)", true),
    ("case a in a) declare -a V;; esac; C", true),
    ("while declare -a V; do C; break; done", true),
    ("! declare -a V; C", true),
    ("time declare -a V; C", true),
    ("eval 'declare -a V'; C", true),
    ("bash -c 'declare -a V; C'", true),
    ("trap 'declare -a V' DEBUG; C", false),
    ("unset V; C", true),
    ("unset -v V; C", true),
    ("unset -n V; C", true),
    ("unset 'V[0]'; C", false),
    ("export -n V; C", false),
    ("V=8 C", false),
    ("V=8; C", true),
    ("V=(7); C", true),
    ("V+=1; C", true),
    ("V[0]=1; C", true),
    ("C; V=8", true),
    ("export V=8; C", false),
    ("read V < README.md; C", true),
    ("read -r x V < README.md; C", true),
    ("read -a V < README.md; C", true),
    ("read -ra V < README.md; C", true),
    ("mapfile V < README.md; C", true),
    ("readarray -t V < README.md; C", true),
    ("getopts ab V; C", true),
    ("printf -v V 1; C", true),
    ("printf -vV 1; C", true),
    ("for V in 1; do C; done", true),
    ("for V; do C; done", true),
    ("select V in a; do C; done", false),
    ("((V=1)); C", false),
    ("((V++)); C", false),
    ("for ((V=0; V<1; V++)); do C; done", false),
    ("echo $((V=1)); C", false),
    ("echo $[V=1]; C", false),
    ("let V=8; C", false),
    ("a[V=1]=1; C", false),
    ("echo ${x:V=1}; C", false),
    ("[[ V=1 -eq 1 ]]; C", false),
    (": ${V:=1}; C", true),
    (": ${V=1}; C", true),
    (": \"${V:=1}\"; C", true),
    ("cat <<E\n${V:=1}\nE\nC", true),
    ("declare -n r=V; unset r; C", false),
    ("f() { local -n r=V; r=(); }; f; C", false),
    ("x=V; declare -a \"$x\"; C", false),
    ("x=V; declare -a $x; C", false),
    ("x=V; unset $x; C", false),
    ("x=V; printf -v $x 1; C", true),
    ("x=V; read $x < README.md; C", true),
    ("x=V; declare -a \"${x}\"; C", false),
    ("declare -a \"$(echo V)\"; C", false),
    ("declare -a V{,x}; C", true),
    ("coproc V { cat; }; C", false),
    ("{V}< README.md C", false),
    ("exec {V}< README.md; C", false),
    ("wait -p V; C", false),
    ("env -u V C", false),
    ("env -uV C", false),
    ("env --unset=V C", false),
    ("env -i C", false),
    ("env - C", false),
    ("env -S '-u V C'", false),
    ("env V=8 C", false),
    ("timeout 5 env -u V C", false),
    ("command env -i C", false),
    ("echo x | xargs env -u V C", false),
    ("xargs --process-slot-var=V C < README.md", false),
    ("exec -c C", false),
    ("exec -cl C", false),
    ("exec -a x -c C", false),
    (". ./build.sh; C", false),
    ("source build.sh; C", false),
    ("set -k; C V=1", false),
    ("shopt -s localvar_inherit; C", false),
];

fn texts(of: &str, variable: &str, command: &str) -> String {
    let mut text = String::new();
    let mut rest = of;
    while let Some(at) = rest.find(['V', 'C']) {
        text.push_str(&rest[..at]);
        text.push_str(if rest[at..].starts_with('V') { variable } else { command });
        rest = &rest[at + 1..];
    }
    text + rest
}

/// The command, in which the names of files stay as they are.
fn of(take: &str, variable: &str, command: &str) -> String {
    texts(&take.replace("README.md", "\u{1}"), variable, command).replace('\u{1}', "README.md")
}

#[test]
fn a_command_that_may_take_a_guard_away_is_asked_about() {
    let fixture = Fixture::new();
    let mut wrong = Vec::new();
    for (variable, command) in GUARDS {
        assert_eq!(fixture.judge(command).decision, Decision::Allow, "{command}");
        for (take, is_the_reason) in TAKES {
            let text = of(take, variable, command);
            if fixture.judge(&text).decision == Decision::Allow {
                wrong.push(text);
            }
            let other = of(take, "other", command);
            if *is_the_reason && fixture.judge(&other).decision != Decision::Allow {
                wrong.push(format!("not allowed: {other}: {:?}", fixture.judge(&other).reasons));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

/// The value that a guard has anyway takes it away as well, where it comes with other attributes or another scope.
#[test]
fn a_guard_that_is_declared_anew_with_its_own_value_is_asked_about() {
    let fixture = Fixture::new();
    for (variable, command) in GUARDS {
        let verdict = fixture.judge(command);
        let (_, value) = verdict.env.iter().find(|(name, _)| name == variable).unwrap();
        for take in [
            "declare -a V=W; C",
            "declare -A V=W; C",
            "declare -i V=W; C",
            "declare V=W; C",
            "typeset -a V=W; C",
            "readonly V=W; C",
            "command declare -a V=W; C",
            "f() { local V=W; C; }; f",
            "f() { declare -ga V=W; }; f; C",
        ] {
            let text = of(&take.replace('W', "\u{2}"), variable, command).replace('\u{2}', value);
            assert_eq!(fixture.judge(&text).decision, Decision::Ask, "{text}");
        }
        let text = format!("{variable}={value}; {command}");
        assert_eq!(fixture.judge(&text).decision, Decision::Allow, "{text}");
    }
}

#[test]
fn a_command_that_leaves_a_guard_as_it_is_is_allowed() {
    let fixture = Fixture::new();
    for command in [
        "GIT_PAGER=cat git log -1",
        "export GIT_PAGER=cat; git log -1",
        "PAGER=cat systemctl list-units",
        "GIT_OPTIONAL_LOCKS=0 git status",
        "declare -p GIT_CONFIG_COUNT; git status",
        "declare -a files; git status",
        "local dir=src; git status",
        "declare -f; git status",
        "echo $PAGER; git status",
        "[[ -v GIT_CONFIG_COUNT ]]; git status",
        "unset other; git status",
    ] {
        let verdict = fixture.judge(command);
        assert_eq!(verdict.decision, Decision::Allow, "{command}: {verdict:?}");
    }
}

/// A variable of a loop that is declared in the loop no longer has the words of the loop.
#[test]
fn a_declaration_takes_the_values_of_a_loop_away() {
    let fixture = Fixture::new();
    for (declaration, decision) in
        [("true", Decision::Allow), ("local X", Decision::Ask), ("declare X", Decision::Ask)]
    {
        let text = format!("f() {{ for X in docs src; do {declaration}; cat $X/etc/shadow; done; }}; f");
        let verdict = fixture.judge(&text);
        assert_eq!(verdict.decision, decision, "{text}: {verdict:?}");
    }
}

/// A program that notes its name, its words and its environment in a file of its own.
const RECORDER: &str = "#!/bin/sh\n/usr/bin/env -0 \"NAME=${0##*/}\" \"WORDS=$*\" > \"${RECORD:?}/$$\"\n";
const RECORDED: &[&str] =
    &["git", "systemctl", "journalctl", "timedatectl", "loginctl", "dpkg", "dpkg-query", "dmesg", "less"];

/// The environments of the programs that bash starts for a text.
fn environments(fixture: &Fixture, verdict: &Verdict, text: &str) -> Vec<BTreeMap<String, String>> {
    let directory = tempfile::tempdir().unwrap();
    let (bin, record) = (directory.path().join("bin"), directory.path().join("record"));
    fs::create_dir(&bin).unwrap();
    fs::create_dir(&record).unwrap();
    fs::write(directory.path().join("recorder"), RECORDER).unwrap();
    fs::set_permissions(directory.path().join("recorder"), fs::Permissions::from_mode(0o755)).unwrap();
    for name in RECORDED {
        symlink(directory.path().join("recorder"), bin.join(name)).unwrap();
    }
    let status = common::limited("/bin/bash")
        .args(["--noprofile", "--norc", "-c", "--", text])
        .current_dir(&fixture.workspace)
        .env_clear()
        .envs(&fixture.env)
        .envs(verdict.env.iter().cloned())
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .env("RECORD", &record)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.unwrap();
    let records = fs::read_dir(record).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    records
        .map(|record| {
            let text = String::from_utf8_lossy(&record).into_owned();
            let variables = text.split('\0').filter_map(|variable| variable.split_once('='));
            variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
        })
        .collect()
}

/// The tables say what is allowed; bash says what the programs get.
#[test]
fn programs_of_allowed_commands_get_their_guards() {
    let fixture = Fixture::new();
    let others = [
        "f() { local x=1; git status; }; f",
        "declare -a x; git status",
        "read x < README.md; less README.md",
    ];
    let commands = rows().into_iter().map(|row| row.command).chain(others.map(str::to_owned));
    let (mut seen, mut wrong) = (0, Vec::new());
    for command in commands {
        if !RECORDED.iter().any(|name| command.contains(name)) || command.contains("while") {
            continue;
        }
        let verdict = fixture.judge(&command);
        if verdict.decision != Decision::Allow || verdict.env.is_empty() {
            continue;
        }
        for environment in environments(&fixture, &verdict, &command) {
            seen += 1;
            for (name, value) in &verdict.env {
                if environment.get(name) != Some(value) {
                    wrong.push(format!("{command:?}: {name} is {:?}", environment.get(name)));
                }
            }
        }
    }
    assert!(seen > 150, "only {seen} programs were seen");
    assert!(wrong.is_empty(), "{} of {seen}\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns the programs and arguments of a verdict's parts, without those that were added.
fn calls(verdict: &Verdict, added: &[(usize, String)]) -> Vec<Vec<Option<String>>> {
    let added: Vec<Vec<&str>> = added.iter().map(|(_, text)| text.split(' ').collect()).collect();
    let words = |part: &Part| {
        let mut words = part.words.clone();
        for added in &added {
            let is_same = |(word, added): (&Option<String>, &&str)| word.as_deref() == Some(*added);
            if words.len() > added.len()
                && words[1..].iter().zip(added).filter(|pair| is_same(*pair)).count() == added.len()
            {
                words.drain(1..=added.len());
                break;
            }
        }
        words
    };
    verdict.each_part().map(words).collect()
}

#[test]
fn arguments_that_guard_change_nothing_else() {
    let fixture = Fixture::new();
    let mut chance = Chance::of("arguments");
    let (mut seen, mut wrong) = (0, Vec::new());
    let rows: Vec<String> =
        rows().into_iter().map(|row| row.command).filter(|text| text.contains("git ")).collect();
    let others = rows.iter().flat_map(|row| (0..6).map(|_| altered(row, &mut chance)).collect::<Vec<_>>());
    let others: Vec<String> = others.collect();
    for command in rows.iter().chain(&others) {
        let verdict = fixture.judge(command);
        if verdict.decision != Decision::Allow || verdict.arguments.is_empty() {
            continue;
        }
        seen += 1;
        let guarded = verdict.guarded(command);
        let again = fixture.judge(&guarded);
        if again.decision != Decision::Allow || calls(&again, &verdict.arguments) != calls(&verdict, &[]) {
            wrong.push(format!("{command:?} became {guarded:?}"));
        }
    }
    assert!(seen > 200, "only {seen}");
    assert!(wrong.is_empty(), "{} of {seen}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_program_gets_its_guards_as_arguments_where_it_stands_as_such() {
    let fixture = Fixture::new();
    let git = "git --no-optional-locks --no-pager -c core.fsmonitor=false";
    for (command, begins, times) in [
        ("git status", git, 1),
        ("cat README.md; git status && git log", git, 2),
        ("echo äö; git status", git, 1),
        ("for i in 1 2; do git status; done", git, 1),
        ("(cd src && git status)", git, 1),
        ("git", "git", 1),
        ("git config --list", "git config", 1),
        ("'git' status", "'git' status", 1),
        ("timeout 5 git status", "timeout 5 git status", 1),
        ("f() { git status; }; f", "git status", 1),
        ("echo git status", "echo git status", 1),
        ("cat <<'E'\ngit status\nE\ngit status", "\ngit status\n", 1),
        ("systemctl list-units", "systemctl --no-pager list-units", 1),
        ("journalctl -n 5", "journalctl --no-pager -n 5", 1),
    ] {
        let verdict = fixture.judge(command);
        assert_eq!(verdict.decision, Decision::Allow, "{command}: {verdict:?}");
        let guarded = verdict.guarded(command);
        assert_eq!(guarded.matches(begins).count(), times, "{command}: {guarded}");
    }
}

/// Git takes the arguments, and runs nothing that the repository configures although the variables are gone.
#[test]
fn git_keeps_to_its_verdict_without_the_variables() {
    let directory = tempfile::tempdir().unwrap();
    let repository = directory.path().join("repository");
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C")
            .arg(&repository)
            .args(arguments)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", directory.path());
        git.stdout(Stdio::null()).stderr(Stdio::null());
        git
    };
    fs::create_dir(&repository).unwrap();
    if git(&["init", "-q"]).status().is_err() {
        return;
    }
    let marker = directory.path().join("marker");
    fs::write(directory.path().join("monitor"), format!("#!/bin/sh\ntouch {}\n", marker.display())).unwrap();
    fs::set_permissions(directory.path().join("monitor"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(repository.join("a"), "a").unwrap();
    git(&["add", "a"]).status().unwrap();
    git(&["config", "core.fsmonitor", directory.path().join("monitor").to_str().unwrap()]).status().unwrap();
    git(&["status"]).status().unwrap();
    assert!(marker.exists(), "the repository runs nothing by itself");
    fs::remove_file(&marker).unwrap();
    let guarded = Fixture::new().judge("git status").guarded("git status");
    let arguments: Vec<&str> = guarded.split(' ').skip(1).collect();
    assert!(git(&arguments).status().unwrap().success(), "{guarded}");
    assert!(!marker.exists(), "{guarded}");
}
