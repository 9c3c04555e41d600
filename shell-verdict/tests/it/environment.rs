//! The existing environment also decides: it tells programs what to do.

use crate::common;

use common::Fixture;
use shell_verdict::{Decision, Programs};

#[test]
fn what_tells_a_program_what_to_do_is_asked_about_with_that_program_only() {
    let asked = [
        ("LD_PRELOAD", "ls"),
        ("LD_LIBRARY_PATH", "ls"),
        ("DYLD_INSERT_LIBRARIES", "ls"),
        ("GCONV_PATH", "ls"),
        ("GLIBC_TUNABLES", "ls"),
        ("BASH_ENV", "ls"),
        ("BASH_FUNC_ls%%", "ls"),
        ("RIPGREP_CONFIG_PATH", "rg -n x README.md"),
        ("GREP_OPTIONS", "grep x README.md"),
        ("GREP_OPTIONS", "fgrep x README.md"),
        ("TAR_OPTIONS", "tar -tf notes.txt"),
        ("MAGIC", "file README.md"),
        ("LESS", "less README.md"),
        ("LESSOPEN", "less README.md"),
        ("GZIP", "zcat notes.txt"),
        ("BZIP2", "bzcat notes.txt"),
        ("BZIP", "bzcat notes.txt"),
        ("XZ_OPT", "xzcat notes.txt"),
        ("XZ_DEFAULTS", "lzcat notes.txt"),
        ("UNZIP", "unzip -l notes.txt"),
        ("ZIPINFO", "zipinfo notes.txt"),
        ("AWKPATH", "awk '{ print }' README.md"),
        ("WHINY_USERS", "mawk '{ print }' README.md"),
        ("BC_ENV_ARGS", "bc README.md"),
        ("DEBUGINFOD_URLS", "nm README.md"),
        ("DEBUGINFOD_URLS", "size README.md"),
        ("PS_FORMAT", "ps"),
        ("TERMINFO", "tput cols"),
    ];
    for (name, command) in asked {
        let mut fixture = Fixture::new();
        assert_eq!(fixture.judge(command).decision, Decision::Allow, "{command}");
        fixture.env.insert(name.to_owned(), "x".to_owned());
        assert_eq!(fixture.judge(command).decision, Decision::Ask, "{name}: {command}");
    }
    for (name, command) in [
        ("RIPGREP_CONFIG_PATH", "ls"),
        ("GREP_OPTIONS", "cat README.md"),
        ("LS_COLORS", "ls"),
        ("EDITOR", "cat README.md"),
        ("GIT_COMMITTER_NAME", "git log"),
    ] {
        let mut fixture = Fixture::new();
        fixture.env.insert(name.to_owned(), "x".to_owned());
        assert_eq!(fixture.judge(command).decision, Decision::Allow, "{name}: {command}");
    }
}

#[test]
#[cfg(unix)]
fn a_program_is_foreign_where_it_stands_in_the_workspace_or_leads_there() {
    use std::os::unix::fs::symlink;
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    let directory = directory.path().canonicalize().unwrap();
    let (workspace, outside) = (directory.join("W"), directory.join("bin"));
    std::fs::create_dir_all(workspace.join("bin")).unwrap();
    std::fs::create_dir(&outside).unwrap();
    let cat = std::fs::canonicalize("/bin/cat").unwrap();
    std::fs::copy(&cat, workspace.join("tool")).unwrap();
    symlink(&cat, workspace.join("bin/cat")).unwrap();
    symlink(workspace.join("tool"), outside.join("tac")).unwrap();
    symlink(&cat, outside.join("head")).unwrap();
    let foreign = "a program in the workspace";
    for (path, command, expected) in [
        (workspace.join("bin"), "cat", foreign),
        (outside.clone(), "tac", foreign),
        (outside.clone(), "head", "a program in a directory that everybody writes to"),
    ] {
        let mut fixture = Fixture::new();
        fixture.programs = Programs::new([path]);
        fixture.workspace = workspace.clone();
        let verdict = fixture.judge(command);
        let reasons = &verdict.parts[0].reasons;
        assert!(reasons.iter().any(|reason| reason.text.contains(expected)), "{command}: {reasons:?}");
    }
}

/// Texts that bash evaluates as a part of an arithmetic expression.
const EVALUATED: &str = "a[$(ls /)]";

#[test]
fn a_number_that_the_environment_says_otherwise_is_none() {
    for name in ["COLUMNS", "LINES", "UID", "EUID", "SECONDS", "RANDOM", "HISTCMD", "OPTIND", "SHLVL"] {
        for command in [
            format!("echo $(({name}))"),
            format!("echo $(({name} - 1))"),
            format!("echo $((${name}))"),
            format!("echo $[{name}]"),
            format!("(({name} > 1))"),
            format!("let {name}"),
            format!("[[ {name} -gt 1 ]]"),
            format!("[[ ${name} -gt 1 ]]"),
            format!("for ((i = 0; i < {name}; i++)); do echo; done"),
            format!("x=abc; echo ${{x:{name}}}"),
            format!("echo ${{x[{name}]}}"),
        ] {
            let mut fixture = Fixture::new();
            assert_eq!(fixture.judge(&command).decision, Decision::Allow, "{command}");
            for (value, expected) in [
                ("80", Decision::Allow),
                (EVALUATED, Decision::Ask),
                ("80 ", Decision::Ask),
                ("", Decision::Ask),
            ] {
                fixture.env.insert(name.to_owned(), value.to_owned());
                assert_eq!(fixture.judge(&command).decision, expected, "{name}={value}: {command}");
            }
        }
    }
}

/// bash says which of the variables that count as numbers it takes from its environment.
#[test]
#[cfg(unix)]
fn no_variable_of_the_environment_is_evaluated_in_an_allowed_command() {
    let directory = tempfile::tempdir().unwrap();
    let names = include_str!("../../src/names.txt");
    let kinds = ["[variables-numbers]", "[variables-others]", "[variables-evaluated]"];
    let mut seen = 0;
    for kind in kinds {
        let (_, kind) = names.split_once(kind).unwrap();
        let names =
            kind.lines().take_while(|line| !line.starts_with('[')).filter(|line| !line.starts_with('#'));
        for name in names.flat_map(str::split_whitespace).filter(|name| *name != "PATH" && *name != "_") {
            let marker = directory.path().join(name);
            let mut fixture = Fixture::new();
            let value = format!("a[$(echo > {})]", marker.display());
            fixture.env.insert(name.to_owned(), value);
            let command = format!("echo $(({name})) ${{x:{name}}}; [[ {name} -gt 1 ]]");
            let allowed = fixture.judge(&command).decision == Decision::Allow;
            let mut bash = common::limited("/bin/bash");
            bash.args(["--noprofile", "--norc", "-c", &command]).env_clear().envs(&fixture.env);
            bash.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).status().unwrap();
            assert!(!(allowed && marker.exists()), "{name} is evaluated, and allowed");
            seen += usize::from(marker.exists());
        }
    }
    assert!(seen >= 2, "bash evaluates none of them");
}

#[test]
fn a_variable_that_is_not_as_the_verdict_takes_it_is_asked_about() {
    let fixture = Fixture::new();
    let cwd = fixture.workspace.to_str().unwrap().to_owned();
    let inside = fixture.workspace.join("conf").to_str().unwrap().to_owned();
    for (name, value, command, expected) in [
        ("PWD", cwd.as_str(), "ls", Decision::Allow),
        ("PWD", "/elsewhere", "ls", Decision::Ask),
        ("HOME", "home", "git status", Decision::Ask),
        ("XDG_CONFIG_HOME", "conf", "git status", Decision::Ask),
        ("XDG_CONFIG_HOME", inside.as_str(), "git status", Decision::Ask),
        ("XDG_CONFIG_HOME", "/home/u/conf", "git status", Decision::Allow),
        ("LC_ALL", "zh_CN.GBK", "echo a", Decision::Allow),
        ("LC_ALL", "zh_CN.GBK", "echo ä", Decision::Ask),
        ("LC_CTYPE", "ja_JP.SJIS", "echo ä", Decision::Ask),
        ("LANG", "zh_TW", "echo ä", Decision::Ask),
        ("LANG", "zh_TW.UTF-8", "echo ä", Decision::Allow),
        ("LANG", "de_DE@euro", "echo ä", Decision::Allow),
        ("LC_ALL", "C", "echo ä", Decision::Allow),
        ("LC_ALL", "en_US.utf8", "echo ä", Decision::Allow),
    ] {
        let mut fixture = Fixture::new();
        fixture.workspace.clone_from(&std::path::PathBuf::from(&cwd));
        fixture.env.insert(name.to_owned(), value.to_owned());
        assert_eq!(fixture.judge(command).decision, expected, "{name}={value}: {command}");
    }
    for (command, expected) in [
        ("LC_ALL=C sort README.md", Decision::Allow),
        ("LC_ALL=en_US.UTF-8 sort README.md", Decision::Allow),
        ("LC_ALL=zh_CN.GBK sort README.md", Decision::Ask),
        ("LANG=ja_JP.SJIS; echo a", Decision::Ask),
    ] {
        assert_eq!(fixture.judge(command).decision, expected, "{command}");
    }
}

#[test]
#[cfg(unix)]
fn a_program_behind_a_relative_directory_is_unknown_wherever_it_runs() {
    use std::os::unix::fs::PermissionsExt as _;
    let plant = |path: std::path::PathBuf| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    let link = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/proc/self/cwd", link.path().join("here")).unwrap();
    let link = link.path().join("here").to_str().unwrap().to_owned();
    for relative in [
        ".",
        "",
        "node_modules/.bin",
        "./bin",
        "..",
        "~/bin",
        "/proc/self/cwd",
        "/proc/thread-self/cwd/x",
        &link,
    ] {
        for (path, knows) in [
            (format!("{relative}:/usr/bin:/bin"), false),
            (format!("/nonexistent:{relative}:/usr/bin:/bin"), false),
            (format!("/usr/bin:/bin:{relative}"), true),
        ] {
            let mut fixture = Fixture::new();
            for directory in ["src", "src/bin", "src/node_modules/.bin"] {
                plant(fixture.workspace.join(directory).join("ls"));
            }
            fixture.programs = Programs::of_path(&path);
            fixture.env.insert("PATH".to_owned(), path.clone());
            for command in [
                "ls",
                "cd src && ls",
                "cd src; ls",
                "(cd src && ls)",
                "cd src && echo $(ls)",
                "pushd src && ls",
                "env -C src ls",
                "env --chdir=src ls",
                "for i in 1; do cd src; ls; done",
                "cd src && timeout 5 ls",
                "cd src && find . -exec ls {} +",
            ] {
                let expected = if knows { Decision::Allow } else { Decision::Ask };
                let found = fixture.judge(command);
                // The input of some of these is not known either.
                if found.decision != expected
                    && !(knows && (command.starts_with("pushd") || command.starts_with("for")))
                {
                    panic!("PATH={path}: {command}: {found:?}");
                }
            }
            // Builtins are no programs.
            assert_eq!(fixture.judge("cd src && echo a").decision, Decision::Allow, "PATH={path}");
            // Behind the relative directory there may be one.
            assert_eq!(fixture.judge("no-such-program").decision, Decision::Ask, "PATH={path}");
        }
    }
}

#[test]
#[cfg(unix)]
fn a_program_that_another_starts_is_looked_for_as_well() {
    use std::os::unix::fs::PermissionsExt as _;
    let own = tempfile::tempdir_in("/var").or_else(|_| tempfile::tempdir_in("/root"));
    // Neither the workspace nor a directory that everybody writes to.
    let Ok(own) = own else { return };
    for name in ["egrep", "tar"] {
        std::fs::write(own.path().join(name), "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(own.path().join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let own = own.path().canonicalize().unwrap().to_str().unwrap().to_owned();
    for (path, expected) in [
        (format!("{own}:/usr/bin:/bin"), Decision::Allow),
        (format!("{own}:.:/usr/bin:/bin"), Decision::Ask),
        (format!("{own}:/usr/bin:/bin:."), Decision::Allow),
    ] {
        let mut fixture = Fixture::new();
        fixture.programs = Programs::of_path(&path);
        assert_eq!(fixture.judge("egrep x README.md").decision, expected, "PATH={path}");
    }
}

#[test]
fn a_shell_that_gets_other_variables_is_judged_by_those() {
    for command in [
        "env CI='a[$(ls>x)]' bash -c 'echo $((CI))'",
        "env CI=--pre=x bash -c 'rg $CI README.md'",
        "env -S 'CI=--pre=x' bash -c 'rg $CI README.md'",
        "timeout 5 env CI=--pre=x bash -c 'rg $CI README.md'",
        "CI=--pre=x bash -c 'rg $CI README.md'",
        "env -u CI bash -c 'cat $CI/passwd'",
        "env --unset=CI bash -c 'cat $CI/passwd'",
        "env -uCI bash -c 'cat $CI/passwd'",
        "env -i bash -c 'cat $CI/passwd'",
        "exec -c bash -c 'cat $CI/passwd'",
        "env -i bash -c ls",
    ] {
        let mut fixture = Fixture::new();
        fixture.env.insert("CI".to_owned(), "1".to_owned());
        assert!(fixture.judge(command).decision > Decision::Allow, "{command}");
    }
    let mut fixture = Fixture::new();
    fixture.env.insert("CI".to_owned(), "1".to_owned());
    for command in
        ["bash -c 'echo $((CI))'", "env CI=2 bash -c ls", "env CI=1 ls", "env -u CI ls", "env -i ls"]
    {
        assert_eq!(fixture.judge(command).decision, Decision::Allow, "{command}");
    }
}
