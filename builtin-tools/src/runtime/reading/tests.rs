//! The containment alone, with a verdict that allows everything: a generator of repositories that plant programs, and commands of git.

use super::*;
use crate::runtime::masks::Masking;
use shell_verdict::{Decision, Programs, Shell, Situation, judge};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Once};
use tempfile::TempDir;
use toolkit_sandbox::Output;

/// Tries to have an effect, does as a filter should, and says so.
const PLANTED: &str = "#!/bin/sh\n\
    touch \"MARKS/touched\"; echo x >> a.txt; mkdir made; chmod 644 \"MARKS/mode\"; touch -d 2001-01-01 \"MARKS/mode\"\n\
    cat .env WORK/.env sub/id_rsa >&2; git show HEAD:tracked/id_rsa >&2; git cat-file -p HEAD:tracked/id_rsa\n\
    echo x > /dev/tcp/127.0.0.1/PORT; cat\n";

/// Ways to name it in a configuration.
const WAYS: &[&str] =
    &["MARKS/planted", "WORK/planted", "sh MARKS/planted", "sh -c '. MARKS/planted'", "bash"];

/// Keys that make git run something.
const KEYS: &[&str] = &[
    "filter.z.clean",
    "filter.z.smudge",
    "filter.z.process",
    "diff.z.textconv",
    "diff.z.command",
    "diff.external",
    "core.fsmonitor",
    "core.pager",
    "core.editor",
    "core.askpass",
    "core.sshCommand",
    "core.gitProxy",
    "credential.helper",
    "gpg.program",
    "merge.z.driver",
    "interactive.diffFilter",
    "sequence.editor",
    "alias.st",
    "trailer.z.command",
    "uploadpack.packObjectsHook",
];

/// Shapes of a repository, each as a script in a new one with a commit.
const SHAPES: &[(&str, &str)] = &[
    ("plain", "true"),
    ("index version 3", "git update-index --index-version 3; touch n; git add -N n"),
    ("index version 4", "git update-index --index-version 4"),
    ("split index", "git update-index --split-index"),
    ("sparse index", "git sparse-checkout init --cone --sparse-index; git sparse-checkout set other"),
    (
        "linked work tree",
        "git worktree add -q ../linked -b linked; mv ../linked linked; git worktree repair linked",
    ),
    (
        "embedded repository",
        "git init -q sub/emb; (cd sub/emb; echo x > f.txt; git add -A; git commit -qm e); git add sub/emb 2> /dev/null; \
         git commit -qm emb; git -C sub/emb config filter.z.clean MARKS/planted; echo '*.txt filter=z' > sub/emb/.gitattributes; \
         echo y > sub/emb/f.txt",
    ),
    (
        "submodule",
        "git init -q ../origin; (cd ../origin; echo x > f.txt; git add -A; git commit -qm o); \
         git -c protocol.file.allow=always submodule add -q ../origin module; git commit -qm module; \
         git -C module config filter.z.clean MARKS/planted; echo '*.txt filter=z' > module/.gitattributes; echo y > module/f.txt",
    ),
    (
        "hooks",
        "for hook in post-index-change fsmonitor-watchman pre-commit reference-transaction post-checkout; do cp MARKS/planted .git/hooks/$hook; done; git config core.fsmonitor .git/hooks/fsmonitor-watchman",
    ),
    (
        "included configuration",
        "printf '[filter \"z\"]\\n\\tclean = MARKS/planted\\n[core]\\n\\tfsmonitor = MARKS/planted\\n' > evil.config; git config include.path ../evil.config",
    ),
    (
        "modes without rights",
        "chmod 000 .git/objects; git init -q sub/inner; chmod 000 sub/inner/.git/objects",
    ),
    ("packed", "git gc -q; git pack-refs --all"),
];

const COMMANDS: &[&str] = &[
    "git status",
    "git status --short --ignored",
    "git status -uall",
    "git diff --stat",
    "git diff -- a.txt",
    "git diff --cached --name-only",
    "git diff HEAD --numstat",
    "git log --oneline",
    "git log --stat -2",
    "git log -p -- a.txt",
    "git log --format='%G? %h %s'",
    "git show --stat",
    "git show HEAD:a.txt",
    "git blame a.txt",
    "git describe --always --dirty",
    "git ls-files -m",
    "git ls-files -s --others",
    "git ls-files --eol",
    "git stash list",
    "git grep mine -- a.txt",
    "git diff-index HEAD",
    "git diff-files",
    "git diff-tree HEAD",
    "git cat-file -p HEAD:a.txt",
    "git cat-file --textconv HEAD:a.txt",
    "git cat-file --filters HEAD:a.txt",
    "git branch -a",
    "git tag -l",
    "git rev-parse HEAD",
    "git config --list",
    "git remote -v",
    "git shortlog -sn HEAD",
    "git ls-tree -r --name-only HEAD",
    "git reflog",
    "git for-each-ref",
    "git worktree list",
    "git check-attr -a a.txt",
    "git check-ignore a.txt",
    "git -C sub/emb status",
    "git -C module diff --stat",
    "git -C sub/inner status",
    "git submodule status",
    "git add a.txt",
    "git commit -qam two",
    "git checkout -q HEAD~0 -- a.txt",
    "git stash",
    "git gc -q",
    "git fetch",
    "git st",
];

struct Yard {
    directory: TempDir,
    port: std::net::TcpListener,
    variables: BTreeMap<String, String>,
    masking: Arc<Masking>,
}

impl Yard {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let toolkit = toolkit::Toolkit::builder().build().unwrap();
        let caller = toolkit::Caller::new().with_session("s").with_workspace(directory.path().join("work"));
        fs::create_dir(directory.path().join("work")).unwrap();
        let masking = Masking::new(&toolkit.toolbox(&caller).await.context("exec").unwrap());
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        port.set_nonblocking(true).unwrap();
        let variables = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("HOME", "/nonexistent"),
            ("LANG", "C.UTF-8"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "a"),
            ("GIT_AUTHOR_EMAIL", "a@example.org"),
            ("GIT_COMMITTER_NAME", "a"),
            ("GIT_COMMITTER_EMAIL", "a@example.org"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let yard = Self { directory, port, variables, masking: Arc::new(masking) };
        for directory in ["work/sub", "work/tracked", "work/other", "marks", "scratch"] {
            fs::create_dir_all(yard.path(directory)).unwrap();
        }
        for (name, text) in [
            ("work/a.txt", "mine\n"),
            ("work/.env", "SECRET=1\n"),
            ("work/sub/id_rsa", "PRIVATE\n"),
            ("work/tracked/id_rsa", "PRIVATE\n"),
            ("work/other/o.txt", "other\n"),
            ("work/.gitattributes", "*.txt filter=z diff=z merge=z\n"),
            ("marks/mode", "m"),
        ] {
            fs::write(yard.path(name), text).unwrap();
        }
        fs::set_permissions(yard.path("marks/mode"), fs::Permissions::from_mode(0o600)).unwrap();
        for name in ["marks/planted", "work/planted"] {
            fs::write(yard.path(name), yard.filled(PLANTED)).unwrap();
            fs::set_permissions(yard.path(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        // A filter that is the shell itself executes the file. It may run git, which reads the repository: so the verdict is strict where a
        // secret is tracked.
        let script =
            PLANTED.replace("git show HEAD:tracked/id_rsa >&2; git cat-file -p HEAD:tracked/id_rsa", "true");
        fs::write(yard.path("work/script.txt"), yard.filled(&script)).unwrap();
        yard
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    fn filled(&self, text: &str) -> String {
        text.replace("MARKS", self.path("marks").to_str().unwrap())
            .replace("WORK", self.path("work").to_str().unwrap())
            .replace("PORT", &self.port.local_addr().unwrap().port().to_string())
    }

    /// Makes the repository with this shape.
    fn make(&self, shape: &str) {
        let script = format!(
            "git init -q -b main .; git add a.txt other script.txt .gitattributes; git add -f tracked; git commit -qm one; \
             {}; echo more >> a.txt; touch -d 2030-01-01 a.txt script.txt",
            self.filled(shape)
        );
        self.sh(&script);
    }

    fn sh(&self, script: &str) {
        let made = std::process::Command::new("bash")
            .args(["-ec", script])
            .current_dir(self.path("work"))
            .env_clear()
            .envs(&self.variables)
            .output()
            .unwrap();
        assert!(made.status.success(), "{script}: {}", String::from_utf8_lossy(&made.stderr));
    }

    /// Runs a command as one whose verdict is that it only reads, and returns its output.
    async fn run(&self, text: &str) -> String {
        let command = Command {
            text: text.to_owned(),
            cwd: self.path("work"),
            workspace: self.path("work"),
            within: None,
            variables: self.variables.clone(),
            shell: PathBuf::from("/bin/bash"),
            kind: Shell::Bash,
        };
        let judged = allowed(&command, &self.masking);
        let roots = [command.workspace.clone()];
        let needs = Needs::of(&command, &judged, &roots, None);
        let (sandbox, _) = sandbox(&command, &judged, &needs, &roots, &OwnPaths::default());
        let output = self.path("output");
        let file = fs::File::options().create(true).append(true).open(&output).unwrap();
        file.set_len(0).unwrap();
        let job = toolkit_sandbox::Command::new("/bin/bash")
            .args(["--noprofile", "--norc", "-c", "--", text])
            .envs(self.variables.clone())
            .env("TMPDIR", self.path("scratch"))
            .current_dir(&command.cwd)
            .output(Output::File(file))
            .sandbox(sandbox.with_tmp(self.path("scratch")))
            .spawn()
            .await
            .unwrap();
        let _ = tokio::time::timeout(std::time::Duration::from_secs(10), job.exited()).await;
        job.stop(std::time::Duration::ZERO).await;
        String::from_utf8_lossy(&fs::read(output).unwrap()).into_owned()
    }

    /// Names, modes, times and content of everything that a command could change.
    fn state(&self) -> String {
        let mut all = String::new();
        for root in ["work", "marks"] {
            list(&self.path(root), &mut all);
        }
        all
    }
}

/// A verdict with the fault that it allows everything.
fn allowed(command: &Command, masking: &Arc<Masking>) -> Judged {
    let programs = Programs::of_path(&command.variables["PATH"]);
    let situation = Situation {
        cwd: &command.cwd,
        workspace: &command.workspace,
        env: &command.variables,
        programs: &programs,
        shell: Shell::Bash,
        decide: &|_, _| Decision::Allow,
        search: None,
        contained: true,
    };
    let mut verdict = judge(&command.text, &situation);
    verdict.decision = Decision::Allow;
    Judged {
        verdict,
        is_proved: true,
        paths: BTreeSet::new(),
        denied_by: None,
        asked_by: BTreeSet::new(),
        relies_on_sandbox: false,
        named: BTreeSet::new(),
        possible: BTreeSet::new(),
        masking: Arc::clone(masking),
    }
}

fn list(path: &Path, all: &mut String) {
    use std::fmt::Write as _;
    use std::os::unix::fs::MetadataExt as _;
    let stat = fs::symlink_metadata(path).unwrap();
    let text = if stat.is_file() { fs::read(path).unwrap() } else { Vec::new() };
    writeln!(all, "{} {:o} {} {} {text:?}", path.display(), stat.mode(), stat.mtime(), stat.mtime_nsec())
        .unwrap();
    if stat.is_dir() {
        let mut entries: Vec<_> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for entry in entries {
            list(&entry, all);
        }
    }
}

fn supervise() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let test = std::env::current_exe().unwrap();
        let supervisor = test.parent().unwrap().parent().unwrap().join("examples/supervisor");
        assert!(supervisor.exists(), "{} is not built", supervisor.display());
        toolkit_sandbox::supervise_with(supervisor);
    });
}

/// Runs every command in one repository, and adds the effects.
async fn try_all(yard: &Yard, what: &str, wrong: &mut Vec<String>) -> usize {
    let before = yard.state();
    let mut ran = 0;
    for command in COMMANDS {
        let text = yard.run(command).await;
        ran += usize::from(!text.contains("error while loading"));
        let now = yard.state();
        if now != before {
            wrong.push(format!("{what}: {command} changed something: {text}"));
            return ran;
        }
        if text.contains("SECRET=1") || text.contains("PRIVATE") {
            wrong.push(format!("{what}: {command} printed a secret: {text}"));
        }
    }
    if yard.port.accept().is_ok() {
        wrong.push(format!("{what}: a connection came"));
    }
    ran
}

#[tokio::test]
async fn no_repository_makes_git_do_more_than_read_if_the_verdict_allows_everything() {
    supervise();
    let mut wrong = Vec::new();
    let mut ran = 0;
    for (number, (name, shape)) in SHAPES.iter().enumerate() {
        let yard = Yard::new().await;
        yard.make(shape);
        // Each shape with another way to name the program, in every key that makes git run one.
        let way = yard.filled(WAYS[number % WAYS.len()]);
        // Git would wait for ever for a shell that does not speak its protocol.
        let keys = KEYS.iter().filter(|key| way != "bash" || **key != "filter.z.process");
        for key in keys {
            let value = if *key == "alias.st" { format!("!{way}") } else { way.clone() };
            yard.sh(&format!("git config {key} \"$(cat <<'END'\n{value}\nEND\n)\""));
        }
        ran += try_all(&yard, name, &mut wrong).await;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert_eq!(ran, SHAPES.len() * COMMANDS.len());
}

#[tokio::test]
async fn a_program_that_only_reads_may_execute_others_and_git_none() {
    supervise();
    let yard = Yard::new().await;
    yard.make("true");
    for (command, expected) in [
        ("sh -c 'echo ran'", true),
        ("git --version; sh -c 'echo ran'", true),
        ("git -c alias.x='!echo r$((0))an | tr -d 0' x", false),
        ("ls | xargs -n 99 echo ran", true),
    ] {
        assert_eq!(yard.run(command).await.contains("ran"), expected, "{command}");
    }
}
