//! The output of git about tracked files is decided as for a program that reads them.

#![cfg(unix)]

use crate::common::Fixture;
use crate::common::index::{of_files as index, tracking};
use shell_verdict::{Access, Decision};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;

fn decision(fixture: &Fixture, command: &str) -> Decision {
    fixture.judge(command).decision
}

/// All of these show the content of files.
const SHOWING: &[&str] = &[
    "git log -p",
    "git log -pw -3",
    "git log -u",
    "git log -U5",
    "git log --patch",
    "git log --pat",
    "git log -p --stat",
    "git log --cc",
    "git log -p --all -- secret",
    "git log -p -- secret/.env",
    "git log -p --author src",
    "git log -p --author -- src",
    "git log -p $x -- src; git log -p -- $x",
    "git reflog -p",
    "git stash list -p",
    "git show",
    "git show HEAD~3",
    "git show abc1234 --stat",
    "git show --stat -p",
    "git show HEAD -- secret",
    "git show HEAD -- '*.env'",
    "git show HEAD -- ':!src'",
    "git show HEAD -- ':(exclude,glob)**/.env'",
    "git stash show",
    "git stash show -p",
    "git stash show -p stash@{1}",
    "git diff",
    "git diff HEAD",
    "git diff --cached",
    "git diff main..HEAD",
    "git diff main HEAD -- .",
    "git diff --word-diff",
    "git diff --check",
    "git diff --stat -p",
    "git diff-tree -p HEAD",
    "git diff-index -p HEAD",
    "git diff-files -p",
    "git range-diff main...HEAD",
    "git status -v",
    "git status -vv",
    "git status -sv",
    "git grep KEY HEAD",
    "git grep KEY HEAD -- secret",
    "git grep --cached KEY",
    "git grep -n KEY main",
    "git grep KEY",
    "git grep --untracked KEY -- ':!x'",
    "git grep KEY -- ':!x'",
    "git cat-file --batch",
    "git cat-file -p abc1234",
    "git cat-file blob abc1234",
    "git archive HEAD",
    "git archive HEAD secret",
    "git difftool",
    "git difftool HEAD",
    "git format-patch -1",
    "git format-patch -1 --stdout",
    "git fast-export HEAD",
    "git bundle create - HEAD",
    "git -C src log -p",
    "git --no-pager log -p",
    "git --literal-pathspecs show HEAD -- ':!secret'",
    "cd src && git show",
];

/// These show no content, or none of what is secret.
const NOT_SHOWING: &[&str] = &[
    "git log",
    "git log --oneline -20",
    "git log --stat",
    "git log --name-only",
    "git log --format='%h %s' --author=p",
    "git log -n 5 --graph --all",
    "git log -Spassword --oneline",
    "git log --color",
    "git log -p -- src",
    "git log -p src",
    "git log -p -- . ':!secret'",
    "git log -p -- ':(exclude)secret/*'",
    "git log -p -- '*.rs'",
    "git log -p -- ':!secret/.env'",
    "git diff HEAD -- ':(exclude)*.env' ':!*.pem'",
    "git grep x -- src ':!*.env'",
    "git reflog",
    "git show --stat",
    "git show -s HEAD",
    "git show --name-only HEAD~2",
    "git show HEAD -- src",
    "git show HEAD:src/main.rs",
    "git show :src/main.rs",
    "git diff --stat",
    "git diff --name-only main",
    "git diff -- src",
    "git diff src/main.rs",
    "git diff --color src",
    "git diff HEAD -- src docs",
    "git diff-tree HEAD",
    "git diff-index HEAD",
    "git stash list",
    "git status",
    "git status -sb",
    "git status -uno",
    "git status --porcelain",
    "git cat-file -t abc1234",
    "git cat-file -p HEAD",
    "git cat-file -p HEAD:src/main.rs",
    "git cat-file -p 'HEAD^{tree}'",
    "git cat-file commit abc1234",
    "git cat-file --batch-check",
    "git ls-files",
    "git ls-tree -r HEAD",
    "git rev-parse HEAD:secret/.env",
    "git rev-list --count HEAD",
    "git shortlog -sn",
    "git branch -a",
    "git blame src/main.rs",
    "git -C src log",
    "cd src && git show HEAD -- .",
];

#[test]
fn what_is_tracked_is_asked_about_where_its_content_is_shown() {
    let plain = tracking(&["README.md", "src/main.rs"]);
    let secret = tracking(&["README.md", "secret/.env", "src/main.rs"]);
    for command in SHOWING {
        let verdict = secret.judge(command);
        assert_eq!(verdict.decision, Decision::Ask, "{command}");
        let names_it = |part: &shell_verdict::Part| {
            part.paths.iter().any(|(path, access)| path.ends_with("secret/.env") && *access == Access::Read)
        };
        let is_told = verdict.each_part().any(names_it);
        assert!(is_told, "{command}: {:?}", verdict.parts);
    }
    for command in NOT_SHOWING {
        assert_eq!(decision(&secret, command), Decision::Allow, "{command}: {:?}", secret.judge(command));
        assert_eq!(decision(&plain, command), Decision::Allow, "{command}");
    }
    // Where nothing secret is tracked, what is only read goes on without a question.
    for command in
        ["git log -p", "git show", "git diff", "git diff HEAD~3", "git stash show -p", "git status -v"]
    {
        assert_eq!(decision(&plain, command), Decision::Allow, "{command}");
    }
}

#[test]
fn a_path_in_a_revision_is_decided_by_its_name() {
    let fixture = tracking(&["README.md"]);
    fs::write(fixture.workspace.join(".env"), "KEY=1\n").unwrap();
    for command in [
        "git show HEAD:.env",
        "git show :.env",
        "git show :0:.env",
        "git show HEAD~3:secret/.env",
        "cd src && git show HEAD:./../.env",
        "cd src && git show HEAD:.env",
        "git show --stat HEAD:.env",
        "git show \"HEAD:$x\"",
        "git cat-file -p HEAD:.env",
        "git cat-file blob HEAD:.env",
        "git cat-file -p :.env",
        "git diff HEAD:.env HEAD~1:.env",
        "git log -L 1,5:.env",
        "git log -L1,5:secret/.env",
        "git log -L :main:.env",
        "git log -L '/a:b/,+3:.env'",
        "git log --oneline -L \"1,5:$x\"",
        "git blame .env",
        "git blame HEAD~1 -- .env",
        "git annotate .env",
        "git grep KEY HEAD -- .env",
        "git grep -e KEY HEAD:.env",
    ] {
        assert_eq!(decision(&fixture, command), Decision::Ask, "{command}");
    }
    for command in ["git log -L 1,5:src/main.rs", "git show HEAD:README.md", "git log -L :main:src/main.rs"] {
        assert_eq!(decision(&fixture, command), Decision::Allow, "{command}");
    }
    // A file that must not be read is not shown either, also by a command that is asked about anyway.
    let denied = tracking(&["denied/x", "src/main.rs"]);
    for command in ["git log -p", "git show HEAD:denied/x", "git archive HEAD", "git format-patch -1"] {
        assert_eq!(decision(&denied, command), Decision::Deny, "{command}");
    }
    assert_eq!(decision(&denied, "git log -p -- src"), Decision::Allow);
}

#[test]
fn files_that_did_not_change_are_in_no_difference_of_the_work_tree() {
    let fixture = Fixture::new();
    let file = fixture.workspace.join("secret/.env");
    let index_file = fixture.workspace.join(".git/index");
    let written = |size: u32, moved: u32| {
        let found = file.metadata().unwrap();
        let mut bytes = index(2, &["secret/.env"]);
        let number = |value: i64| u32::try_from(value).unwrap();
        bytes[20..24].copy_from_slice(&(number(found.mtime()) + moved).to_be_bytes());
        bytes[24..28].copy_from_slice(&number(found.mtime_nsec()).to_be_bytes());
        bytes[48..52].copy_from_slice(&size.to_be_bytes());
        bytes
    };
    let old = std::time::SystemTime::now() - std::time::Duration::from_mins(1);
    fs::File::options().write(true).open(&file).unwrap().set_modified(old).unwrap();
    let size = u32::try_from(file.metadata().unwrap().len()).unwrap();
    fs::write(&index_file, written(size, 0)).unwrap();
    for command in ["git diff", "git diff -w", "git diff secret", "git diff-files -p", "git diff -- ."] {
        assert_eq!(decision(&fixture, command), Decision::Allow, "{command}");
    }
    for command in
        ["git diff HEAD", "git diff --cached", "git diff --staged", "git diff main", "git diff -S x"]
    {
        assert_eq!(decision(&fixture, command), Decision::Ask, "{command}");
    }
    for bytes in [written(size + 1, 0), written(size, 1)] {
        fs::write(&index_file, bytes).unwrap();
        assert_eq!(decision(&fixture, "git diff"), Decision::Ask);
    }
    // In a conflict, or changed in the moment when the index was written.
    let mut conflict = written(size, 0);
    conflict[72] |= 0x10;
    fs::write(&index_file, conflict).unwrap();
    assert_eq!(decision(&fixture, "git diff"), Decision::Ask);
    fs::write(&index_file, written(size, 0)).unwrap();
    let index_handle = fs::File::options().write(true).open(&index_file).unwrap();
    index_handle.set_modified(old).unwrap();
    assert_eq!(decision(&fixture, "git diff"), Decision::Ask);
    fs::remove_file(&file).unwrap();
    assert_eq!(decision(&fixture, "git diff"), Decision::Ask);
}

#[test]
fn an_index_that_is_not_understood_is_asked_about() {
    let whole = index(2, &["a", "secret/.env"]);
    let mut sparse = index(2, &["a/"]);
    sparse[36..40].copy_from_slice(&0o040_000_u32.to_be_bytes());
    let link = [&index(2, &["a"])[..76], b"link\0\0\0\x04abcd", &[9; 20]].concat();
    for bytes in [sparse, link, whole[..90].to_vec(), b"DIRC".to_vec()] {
        let fixture = Fixture::new();
        fs::write(fixture.workspace.join(".git/index"), bytes).unwrap();
        assert_eq!(decision(&fixture, "git show"), Decision::Ask);
        assert_eq!(decision(&fixture, "git log -p"), Decision::Ask);
        assert_eq!(decision(&fixture, "git branch"), Decision::Allow);
    }
}

#[test]
fn the_index_that_git_writes_is_read() {
    for version in ["2", "4"] {
        let fixture = Fixture::new();
        let workspace = fixture.workspace.as_path();
        fs::remove_dir_all(workspace.join(".git")).unwrap();
        let git = |arguments: &[&str]| {
            let done = Command::new("git").args(arguments).current_dir(workspace).output().unwrap();
            assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        };
        git(&["init", "-q"]);
        git(&["config", "index.version", version]);
        git(&["add", "src", "docs", "README.md"]);
        assert_eq!(decision(&fixture, "git diff HEAD"), Decision::Allow, "{version}");
        git(&["add", "-f", "secret/.env"]);
        assert_eq!(decision(&fixture, "git diff HEAD"), Decision::Ask, "{version}");
        assert_eq!(decision(&fixture, "git diff HEAD -- src docs"), Decision::Allow, "{version}");
        git(&["rm", "-q", "--cached", "secret/.env"]);
        git(&["add", "-f", "secret/key.pem"]);
        assert_eq!(decision(&fixture, "git show"), Decision::Ask, "{version}");
        // A work tree of the same repository has an index of its own.
        let other = workspace.join("other");
        fs::create_dir(&other).unwrap();
        let own = Path::new(".git/worktrees/other");
        fs::create_dir_all(workspace.join(own)).unwrap();
        fs::write(other.join(".git"), "gitdir: ../.git/worktrees/other\n").unwrap();
        fs::write(workspace.join(own).join("commondir"), "../..\n").unwrap();
        fs::write(workspace.join(own).join("HEAD"), "ref: refs/heads/x\n").unwrap();
        fs::write(workspace.join(own).join("index"), index(2, &["src/main.rs"])).unwrap();
        let verdict = fixture.judge("git -C other show");
        assert!(
            verdict.each_part().all(|part| part.paths.iter().all(|(path, _)| !path.ends_with("key.pem")))
        );
    }
}
