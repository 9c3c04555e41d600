//! A workspace to judge commands in, and the tables of what must come of them.

#![allow(dead_code, clippy::unwrap_used, reason = "each test uses a part of it, and may panic")]

pub(crate) mod altered;
pub(crate) mod index;

use shell_verdict::{Access, Decision, Programs, Shell, Situation, Verdict, judge};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::OnceLock;
use tempfile::TempDir;

/// A program that, with all it starts, gets five seconds of a processor each: what goes on for ever must not when the test is
/// ended in the middle.
pub(crate) fn limited(program: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "ulimit -t 5; exec \"$0\" \"$@\"", program]);
    command
}

/// Ends a process that was started in a group of its own, with all that it started.
#[cfg(unix)]
pub(crate) fn end_group(child: &mut Child) {
    let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
    let _ = child.wait();
}

/// A workspace with some files, some of them secret.
pub(crate) struct Fixture {
    _directory: TempDir,
    pub(crate) workspace: PathBuf,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) programs: Programs,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let workspace = directory.path().canonicalize().unwrap().join("W");
        for (name, text) in [
            ("README.md", "# A project\n"),
            ("Cargo.toml", "[package]\n"),
            ("src/main.rs", "fn main() {}\n"),
            ("src/lib.rs", "//! A library.\n"),
            ("src/deep/mod.rs", "\n"),
            ("docs/a.md", "a\n"),
            ("docs/b.md", "b\n"),
            ("data/x.csv", "1,2\n"),
            ("data/y.csv", "3,4\n"),
            ("notes.txt", "notes\n"),
            ("build.sh", "#!/bin/sh\n"),
            ("Makefile", "all:\n"),
            ("package.json", "{}\n"),
            ("dir with space/file one.txt", "one\n"),
            ("secret/.env", "KEY=1\n"),
            ("secret/key.pem", "key\n"),
            (".git/HEAD", "ref: refs/heads/main\n"),
            (
                ".git/config",
                "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[user]\n\tname = u\n\
                 [remote \"origin\"]\n\turl = https://example.org/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
            ),
            (".git/index", "DIRC\0\0\0\u{2}\0\0\0\0"),
            (".git/objects/info/packs", "\n"),
            (".git/refs/heads/main", "0123456789012345678901234567890123456789\n"),
        ] {
            let path = workspace.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::{PermissionsExt as _, symlink};
            fs::set_permissions(workspace.join("build.sh"), fs::Permissions::from_mode(0o755)).unwrap();
            symlink("/etc/passwd", workspace.join("link")).unwrap();
            fs::create_dir(workspace.join("links")).unwrap();
            symlink("/etc/passwd", workspace.join("links/one")).unwrap();
        }
        let env = [
            ("HOME", "/home/u"),
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("LANG", "C.UTF-8"),
            ("USER", "u"),
            ("TERM", "dumb"),
        ];
        let env = env.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let programs = Programs::of_path("/usr/local/bin:/usr/bin:/bin");
        Self { _directory: directory, workspace, env, programs }
    }

    /// One that all cases of a test share.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<Fixture> = OnceLock::new();
        SHARED.get_or_init(Self::new)
    }

    pub(crate) fn judge(&self, command: &str) -> Verdict {
        self.judge_as(command, Shell::Bash)
    }

    pub(crate) fn judge_as(&self, command: &str, shell: Shell) -> Verdict {
        self.judge_in(command, shell, false)
    }

    /// Judges a command as for a host that contains it.
    pub(crate) fn judge_contained(&self, command: &str) -> Verdict {
        self.judge_in(command, Shell::Bash, true)
    }

    fn judge_in(&self, command: &str, shell: Shell, contained: bool) -> Verdict {
        judge(
            command,
            &Situation {
                cwd: &self.workspace,
                workspace: &self.workspace,
                env: &self.env,
                programs: &self.programs,
                shell,
                decide: &|path, access| decide(&self.workspace, path, access),
                search: None,
                contained,
            },
        )
    }
}

/// Returns a host's decision about a path, by both of its names if it is a symlink.
pub(crate) fn decide(workspace: &Path, path: &Path, access: Access) -> Decision {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let own = decide_name(workspace, path, access);
    own.max(decide_name(workspace, &real, access))
}

fn decide_name(workspace: &Path, path: &Path, access: Access) -> Decision {
    if path.starts_with("/w-denied") && access == Access::Write {
        return Decision::Deny;
    }
    let Ok(inside) = path.strip_prefix(workspace) else { return Decision::Ask };
    if inside.starts_with("denied") {
        return Decision::Deny;
    }
    if access == Access::Write {
        return Decision::Ask;
    }
    let is_sensitive = |path: &Path| {
        path.file_name().is_some_and(|name| name == ".env")
            || path.extension().is_some_and(|extension| extension == "pem")
    };
    match access {
        Access::ReadTree { follows_links } => below(path, follows_links, &|path| {
            if path.starts_with(workspace.join("denied")) {
                Decision::Deny
            } else if is_sensitive(path) || !path.starts_with(workspace) {
                Decision::Ask
            } else {
                Decision::Allow
            }
        }),
        _ if is_sensitive(path) => Decision::Ask,
        _ => Decision::Allow,
    }
}

fn below(path: &Path, follows_links: bool, of: &dyn Fn(&Path) -> Decision) -> Decision {
    let is_link = path.is_symlink();
    let mut decision = if is_link && !follows_links {
        Decision::Allow
    } else {
        of(&path.canonicalize().unwrap_or_else(|_| path.to_owned()))
    };
    if path.is_dir() && (!is_link || follows_links) {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            decision = decision.max(below(&entry.path(), follows_links, of));
        }
    }
    decision
}

/// A row of the tables.
pub(crate) struct Row {
    pub(crate) place: String,
    pub(crate) decision: String,
    pub(crate) class: String,
    /// True if the row holds only where the host contains the command: `contained` after the class.
    pub(crate) contained: bool,
    /// True if the row holds only where `secret/.env` is tracked: `tracked` after the class.
    pub(crate) tracked: bool,
    pub(crate) command: String,
}

impl Row {
    pub(crate) fn judge(&self, fixture: &Fixture) -> Verdict {
        fixture.judge_in(&self.command, Shell::Bash, self.contained)
    }
}

/// All rows of the tables.
pub(crate) fn rows() -> Vec<Row> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/table");
    let mut files: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut rows = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        for (number, line) in fs::read_to_string(&file).unwrap().lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let place = format!("{name}:{}", number + 1);
            let (expected, command) = line.split_once(" | ").unwrap_or_else(|| panic!("{place}: no command"));
            let (decision, class) =
                expected.trim().split_once(' ').unwrap_or_else(|| panic!("{place}: no class"));
            let mut words = class.split_whitespace();
            let class = words.next().unwrap_or_else(|| panic!("{place}: no class"));
            let (mut contained, mut tracked) = (false, false);
            for word in words {
                match word {
                    "contained" => contained = true,
                    "tracked" => tracked = true,
                    other => panic!("{place}: {other:?} is no condition of a row"),
                }
            }
            rows.push(Row {
                place,
                decision: decision.to_owned(),
                class: class.to_owned(),
                contained,
                tracked,
                command: unescaped(command),
            });
        }
    }
    rows
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('\\') => out.push('\\'),
                other => panic!("{text}: `\\{other:?}` is no escape"),
            },
            c => out.push(c),
        }
    }
    out
}
