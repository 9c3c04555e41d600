//! System calls of the allowed commands, in a repository whose owner means harm: traced by the system, they write nothing, connect
//! to nobody, open no secret, and start no program but those that their verdicts list.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::common;

use common::{Fixture, rows};
use shell_verdict::{Decision, Verdict};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const CALLS: &str = "execve,execveat,open,openat,openat2,creat,connect,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,linkat,\
                     symlink,symlinkat,chmod,fchmod,fchmodat,chown,fchown,fchownat,lchown,truncate,ftruncate,mknod,mknodat,setxattr,fsetxattr,\
                     utimensat,utime,utimes,mount,kill";

/// Further commands of git, of which each looks at what is configured.
const OF_GIT: &[&str] = &[
    "git status",
    "git status --short",
    "git diff",
    "git diff HEAD",
    "git diff --stat",
    "git diff --cached",
    "git log -p",
    "git log --stat -3",
    "git show",
    "git show HEAD:README.md",
    "git blame README.md",
    "git describe --always --dirty",
    "git ls-files -m",
    "git stash list",
    "git grep Project",
    "git diff-index HEAD",
    "git cat-file -p HEAD:README.md",
    "git log --oneline --graph --all",
    "git branch -a",
    "git tag -l",
    "git rev-parse HEAD",
    "git config --list",
    "git remote -v",
    "git shortlog -sn HEAD",
    "git ls-tree -r HEAD",
    "git diff-files",
    "git reflog",
    "git for-each-ref",
    "git worktree list",
];

/// A repository in which everything that git would run leaves a mark.
fn hostile(fixture: &Fixture, configuration: &[(&str, &str)], attributes: &str) -> PathBuf {
    let workspace = &fixture.workspace;
    fs::remove_dir_all(workspace.join(".git")).unwrap();
    let mark = workspace.parent().unwrap().join("mark");
    let evil = workspace.join("evil.sh");
    fs::write(&evil, format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", mark.display())).unwrap();
    fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).unwrap();
    let git = |words: &[&str]| {
        let status = Command::new("git")
            .args(["-c", "user.name=u", "-c", "user.email=u@example.org", "-c", "init.defaultBranch=main"])
            .args(words)
            .current_dir(workspace)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", "/nonexistent")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(status.unwrap().success(), "{words:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "README.md", "src", "docs", "notes.txt", "link"]);
    git(&["commit", "-qm", "one"]);
    fs::write(workspace.join(".gitattributes"), attributes).unwrap();
    fs::write(workspace.join("README.md"), "# A Project, changed\n").unwrap();
    for hook in
        ["post-index-change", "fsmonitor-watchman", "pre-commit", "post-checkout", "reference-transaction"]
    {
        fs::copy(&evil, workspace.join(".git/hooks").join(hook)).unwrap();
    }
    for (key, value) in configuration {
        git(&["config", key, &value.replace("EVIL", evil.to_str().unwrap())]);
    }
    for (name, text) in [
        (".ripgreprc", "--pre=./evil.sh\n"),
        (".inputrc", "set editing-mode vi\n"),
        (".bashrc", "touch canary\n"),
        (".gitconfig", "[core]\n\tfsmonitor = ./evil.sh\n"),
        (".npmrc", "script-shell=./evil.sh\n"),
        ("--output=canary", "x\n"),
        ("-delete", "x\n"),
        ("cat", "#!/bin/sh\ntouch canary\n"),
    ] {
        fs::write(workspace.join(name), text).unwrap();
    }
    mark
}

/// Returns the system calls of a command that its verdict does not cover.
fn faults(fixture: &Fixture, verdict: &Verdict, command: &str, log: &Path) -> Vec<String> {
    let mut traced = common::limited("strace")
        .args(["-ff", "--seccomp-bpf", "-qq", "-y", "-s", "4096", "-e", &format!("trace={CALLS}"), "-o"])
        .arg(log)
        .args(["/bin/bash", "--noprofile", "--norc", "-c", "--", command])
        .current_dir(&fixture.workspace)
        .env_clear()
        .envs(&fixture.env)
        .envs(verdict.env.iter().cloned())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    // Some go on for ever: what they did so far counts.
    let until = Instant::now() + Duration::from_secs(4);
    while traced.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            let _ = Command::new("kill").arg(traced.id().to_string()).status();
            std::thread::sleep(Duration::from_millis(50));
            // The traced processes go on without a tracer.
            common::end_group(&mut traced);
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut programs: BTreeSet<String> =
        verdict.each_part().filter_map(|part| part.program.clone()).collect();
    programs.extend(verdict.each_part().flat_map(|part| part.starts.clone()));
    programs.insert("bash".to_owned());
    let workspace = fixture.workspace.to_str().unwrap();
    // One file a process, so that no call is written in two parts.
    let mut faults = Vec::new();
    for entry in fs::read_dir(log.parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        faults.extend(text.lines().filter_map(|line| fault(line, &programs, workspace)));
        fs::remove_file(path).unwrap();
    }
    faults
}

fn fault(line: &str, programs: &BTreeSet<String>, workspace: &str) -> Option<String> {
    let call = line;
    let (name, rest) = call.split_once('(')?;
    // A failed call did nothing, except for a look at a secret.
    let failed = rest.contains(" = -1 ");
    let path = rest.split('"').nth(1).unwrap_or_default();
    let is_fault = match name {
        "execve" | "execveat" => !failed && !programs.contains(path.rsplit('/').next().unwrap_or(path)),
        "open" | "openat" | "openat2" | "creat" => {
            let writes = rest.contains("O_WRONLY")
                || rest.contains("O_RDWR")
                || rest.contains("O_CREAT")
                || name == "creat";
            // A machine of java says so what of its own memory is kept when it ends.
            let is_own = path == "/proc/self/coredump_filter";
            let is_stream = is_own
                || ["/dev/null", "/dev/tty", "/dev/stdout", "/dev/stderr", "/dev/full", "/dev/ptmx"]
                    .contains(&path)
                || path.starts_with("/dev/fd/")
                || path.starts_with("/proc/self/fd/");
            let is_secret = path.ends_with("/.env")
                // The certificates of the system are none.
                || path.rsplit('.').next() == Some("pem") && !path.starts_with("/usr/lib/ssl/")
                || path == ".env"
                || path.contains("shadow");
            !failed && ((writes && !is_stream) || is_secret)
        }
        // The service that keeps names of users is asked by many programs.
        "connect" => !rest.contains("nscd") && !rest.contains("AF_NETLINK"),
        "kill" => false,
        _ => !failed,
    };
    is_fault.then(|| call.replace(workspace, "W"))
}

fn check(fixture: &Fixture, mark: &Path, commands: &[String]) -> usize {
    let directory = tempfile::tempdir().unwrap();
    let (mut allowed, mut wrong) = (0, Vec::new());
    for command in commands {
        let verdict = fixture.judge(command);
        if verdict.decision != Decision::Allow {
            continue;
        }
        allowed += 1;
        let found = faults(fixture, &verdict, command, &directory.path().join("log"));
        if !found.is_empty() {
            wrong.push(format!("{command:?}\n    {}", found.join("\n    ")));
        }
        if mark.exists() {
            wrong.push(format!("{command:?} ran {}", fs::read_to_string(mark).unwrap()));
            fs::remove_file(mark).unwrap();
        }
        if fixture.workspace.join("canary").exists() {
            wrong.push(format!("{command:?} made the canary"));
            fs::remove_file(fixture.workspace.join("canary")).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{} of {allowed}\n{}", wrong.len(), wrong.join("\n"));
    allowed
}

#[test]
#[ignore = "needs strace and git: cargo xtask test"]
fn what_is_allowed_does_only_what_its_verdict_says() {
    let fixture = Fixture::new();
    let mark = hostile(
        &fixture,
        &[
            ("core.fsmonitor", "EVIL"),
            ("core.pager", "EVIL"),
            ("core.hooksPath", "."),
            ("core.editor", "EVIL"),
        ],
        "",
    );
    let mut commands: Vec<String> = rows().into_iter().map(|row| row.command).collect();
    commands.extend(OF_GIT.iter().map(|command| (*command).to_owned()));
    let allowed = check(&fixture, &mark, &commands);
    assert!(allowed > 1_000, "only {allowed} were allowed");
}

#[test]
#[ignore = "needs strace and git: cargo xtask test"]
fn what_git_would_run_is_taken_away_or_asked_about() {
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[("diff.external", "EVIL")], ""),
        (&[("diff.evil.textconv", "EVIL")], "* diff=evil\n"),
        (&[("diff.evil.command", "EVIL")], "* diff=evil\n"),
        (&[("filter.evil.clean", "EVIL"), ("filter.evil.smudge", "EVIL")], "* filter=evil\n"),
        (&[("filter.evil.process", "EVIL")], "* filter=evil\n"),
        (&[("log.showSignature", "true"), ("gpg.program", "EVIL")], ""),
        (&[("format.pretty", "%G? %h"), ("gpg.program", "EVIL")], ""),
        (&[("core.fsmonitor", "EVIL"), ("core.untrackedCache", "true")], ""),
        (&[("pager.log", "EVIL"), ("core.pager", "EVIL"), ("pager.status", "true")], ""),
        (&[("alias.status", "!./evil.sh"), ("alias.st", "!./evil.sh")], ""),
        (&[("core.worktree", "/etc")], ""),
        (&[("include.path", "../evil.config")], ""),
        (&[("core.sshCommand", "EVIL"), ("core.gitProxy", "EVIL"), ("credential.helper", "!EVIL")], ""),
        (&[("merge.evil.driver", "EVIL")], "* merge=evil\n"),
    ];
    for (configuration, attributes) in cases {
        let fixture = Fixture::new();
        fs::write(
            fixture.workspace.join("evil.config"),
            "[core]\n\tfsmonitor = ./evil.sh\n[diff]\n\texternal = ./evil.sh\n",
        )
        .unwrap();
        let mark = hostile(&fixture, configuration, attributes);
        let commands: Vec<String> = OF_GIT.iter().map(|command| (*command).to_owned()).collect();
        check(&fixture, &mark, &commands);
    }
}
