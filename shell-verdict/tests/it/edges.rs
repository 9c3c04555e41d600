//! Verdicts that depend on more than the words of a command: other directories, other programs, names and words of the judged command.

#![cfg(unix)]

use crate::common;

use common::Fixture;
use shell_verdict::{Access, Class, Decision, Programs, Shell, Situation, judge};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

#[test]
fn a_directory_counts_where_the_shell_certainly_is_in_it() {
    let fixture = Fixture::new();
    let workspace = fixture.workspace.display();
    fs::create_dir(fixture.workspace.join("+1")).unwrap();
    symlink("src/deep", fixture.workspace.join("deep")).unwrap();
    for (command, expected) in [
        ("pushd +1; cat link".to_owned(), Decision::Ask),
        ("pushd ./+1; cat ../README.md".to_owned(), Decision::Allow),
        (format!("cd {workspace}/src; cat main.rs"), Decision::Allow),
        // The function comes back before it goes there.
        (format!("f() {{ return; cd {workspace}/src; }}; f; cat link"), Decision::Ask),
        // An expansion that fails ends its line, and the next goes on.
        ("echo $((1/0)); cd src\ncat link".to_owned(), Decision::Ask),
        ("echo ${x?}; cd src\ncat link".to_owned(), Decision::Ask),
        // The shell goes back to where the link is, and the system to what holds the directory.
        ("cd deep/..; cat lib.rs".to_owned(), Decision::Ask),
        ("cd src/deep/..; cat lib.rs".to_owned(), Decision::Allow),
        ("cd -P src/deep/..; cat lib.rs".to_owned(), Decision::Allow),
    ] {
        assert_eq!(fixture.judge(&command).decision, expected, "{command}");
    }
}

/// Returns the reason of the verdict on `ls`, where everything may be read, in this workspace, with these programs. Empty if it is allowed.
fn said(workspace: &Path, programs: &Programs) -> String {
    let fixture = Fixture::shared();
    let situation = Situation {
        cwd: workspace,
        workspace,
        env: &fixture.env,
        programs,
        shell: Shell::Bash,
        decide: &|_, _| Decision::Allow,
        search: None,
        contained: false,
    };
    let verdict = judge("ls", &situation);
    let said: Vec<String> =
        verdict.parts.iter().flat_map(|part| &part.reasons).map(|reason| reason.text.clone()).collect();
    assert_eq!(said.is_empty(), verdict.decision == Decision::Allow);
    said.join("; ")
}

#[test]
fn a_program_counts_where_nobody_in_the_workspace_can_stand_in_for_it() {
    const THERE: &str = "a program in the workspace";
    const MAY_BE: &str = "looked for in a directory of the workspace";
    let directory = tempfile::tempdir().unwrap();
    let real = directory.path().canonicalize().unwrap();
    let (workspace, link) = (real.join("w"), real.join("link"));
    for name in ["w/bin", "w/empty", "w/plain", "w/directory/ls", "links", "late"] {
        fs::create_dir_all(real.join(name)).unwrap();
    }
    symlink(&workspace, &link).unwrap();
    fs::write(workspace.join("bin/ls"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(workspace.join("bin/ls"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink(workspace.join("bin/ls"), real.join("links/ls")).unwrap();
    // Nobody can run these.
    fs::write(workspace.join("plain/ls"), "").unwrap();
    fs::set_permissions(workspace.join("plain/ls"), fs::Permissions::from_mode(0o644)).unwrap();
    for (directory, workspace, expected) in [
        ("w/bin", &workspace, THERE),
        // By the name of the link, and by the other.
        ("w/bin", &link, THERE),
        ("link/bin", &link, THERE),
        ("link/bin", &workspace, THERE),
        // It is one in the workspace.
        ("links", &workspace, THERE),
        // It is not there yet.
        ("w/empty", &workspace, MAY_BE),
        ("w/empty", &link, MAY_BE),
        ("link/empty", &link, MAY_BE),
        ("w/plain", &workspace, MAY_BE),
        ("w/directory", &workspace, MAY_BE),
        ("nowhere", &workspace, ""),
    ] {
        let programs = Programs::of_path(real.join(directory).to_str().unwrap());
        let said = said(workspace, &programs);
        let place = format!("{directory} for {}: {said}", workspace.display());
        assert!(said.contains(expected) && said.is_empty() == expected.is_empty(), "{place}");
    }
    for (path, expected) in [(":/nowhere", MAY_BE), ("here:/nowhere", MAY_BE), ("/nowhere", "")] {
        let said = said(&workspace, &Programs::of_path(path));
        assert!(said.contains(expected) && said.is_empty() == expected.is_empty(), "{path}: {said}");
    }
    // Programs that were found before are searched for again after a change of directory.
    let late = Programs::of_path(real.join("late").to_str().unwrap());
    assert_eq!(said(&workspace, &late), "");
    symlink(workspace.join("bin/ls"), real.join("late/ls")).unwrap();
    let changed = fs::File::open(real.join("late")).unwrap();
    changed.set_modified(std::time::UNIX_EPOCH).unwrap();
    assert!(said(&workspace, &late).contains(THERE));
    let system = Programs::of_path("/usr/bin:/bin");
    for (workspace, expected) in [("/", ""), ("/usr", ""), ("/usr/bin", THERE), ("/srv", "")] {
        let said = said(Path::new(workspace), &system);
        assert!(said.contains(expected) && said.is_empty() == expected.is_empty(), "{workspace}: {said}");
    }
}

#[test]
fn a_program_that_is_looked_for_elsewhere_is_not_the_one_of_its_name() {
    let fixture = Fixture::shared();
    for (command, expected) in
        [("x=1; ls", Decision::Allow), ("PATH=/w; ls", Decision::Ask), ("EXECIGNORE=x; ls", Decision::Ask)]
    {
        let verdict = fixture.judge(command);
        assert_eq!(verdict.parts[1].decision, expected, "{command}");
    }
}

#[test]
fn what_is_no_more_than_another_program_says_which() {
    let fixture = Fixture::shared();
    for (command, other) in [
        ("egrep x README.md", "grep"),
        ("fgrep x README.md", "grep"),
        ("ag x docs", "git"),
        ("ag x docs", "sh"),
        ("fd x docs", "ls"),
        ("sdiff README.md notes.txt", "diff"),
        ("diff3 a b c", "diff"),
        ("zcat a.gz", "gzip"),
        ("gunzip -c a.gz", "gzip"),
        ("tar -tf a.tar", "xz"),
    ] {
        assert!(fixture.judge(command).parts[0].starts.contains(&other.to_owned()), "{command}");
    }
    for command in ["grep x README.md", "gzip -dc a.gz", "xz -l a.xz", "unzip -l a.zip"] {
        assert!(fixture.judge(command).parts[0].starts.is_empty(), "{command}");
    }
}

#[test]
fn what_find_hands_on_may_be_a_link_where_it_does_not_look_for_files_first() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.workspace.join("found")).unwrap();
    for name in ["link", "f"] {
        symlink("/etc/passwd", fixture.workspace.join("found").join(name)).unwrap();
    }
    for (command, expected) in [
        ("find found -type f -exec cat {} +", Decision::Allow),
        ("find found -name x -type f -exec cat {} \\;", Decision::Allow),
        ("find found -exec cat {} +", Decision::Ask),
        ("find found -type l -exec cat {} +", Decision::Ask),
        ("find found -name f -exec cat {} +", Decision::Ask),
        ("find found -exec cat {} + -type f", Decision::Ask),
        ("find found -exec cat {} + -type f -exec cat {} +", Decision::Ask),
        ("find found -type f -o -exec cat {} +", Decision::Ask),
        ("find found ! -type f -exec cat {} +", Decision::Ask),
    ] {
        assert_eq!(fixture.judge(command).decision, expected, "{command}");
    }
}

#[test]
fn each_class_has_its_decision_and_its_words() {
    let classes = [
        (Class::ReadOnly, Decision::Allow, "only reads"),
        (Class::GitRead, Decision::Allow, "only reads the repository"),
        (Class::Unknown, Decision::Ask, "is not known to only read"),
        (Class::Write, Decision::Ask, "changes files"),
        (Class::GitWrite, Decision::Ask, "changes the repository"),
        (Class::Network, Decision::Ask, "speaks with other machines"),
        (Class::Code, Decision::Ask, "runs a text as a program"),
        (Class::Dangerous, Decision::Ask, "can destroy data or reveal secrets"),
        (Class::Forbidden, Decision::Deny, "never runs here"),
    ];
    for (class, decision, words) in classes {
        assert_eq!((class.decision(), class.words()), (decision, words), "{class:?}");
    }
    assert!(classes.is_sorted_by_key(|(class, ..)| *class), "the worse the later");
}

#[test]
fn so_many_words_say_what_is_run() {
    let fixture = Fixture::shared();
    for (command, expected) in [
        ("ls src", Some(1)),
        ("ls", Some(1)),
        ("cargo test --all", Some(2)),
        ("cargo", None),
        ("cargo --list", None),
        ("git status", Some(2)),
        ("git -C src status", None),
        ("python3 x.py", Some(2)),
        ("python3 -m http.server", Some(3)),
        ("python3 -m", None),
        ("python3 -m -x", None),
        ("python3 ''", None),
        ("python3", None),
        ("bash -m x", None),
        ("bash x.sh", Some(2)),
        ("perl -m x", None),
        ("env ls", None),
        ("sed p", None),
        ("sed -n p", None),
        ("make test", Some(2)),
        ("make -j test", None),
        ("npm run build", Some(3)),
        ("npm run", None),
        ("npm run -x", None),
        ("npm test", Some(2)),
        ("npm --version", None),
        ("docker compose up", Some(3)),
        ("docker ps", Some(2)),
        ("docker", None),
        ("npx tsc", Some(2)),
        ("npx -y tsc", None),
    ] {
        assert_eq!(fixture.judge(command).parts[0].says, expected, "{command}");
    }
}

#[test]
fn what_changes_by_itself_is_not_known() {
    let mut fixture = Fixture::new();
    for name in ["OLDPWD", "_", "PLACE"] {
        fixture.env.insert(name.to_owned(), "README.md".to_owned());
    }
    for (command, expected) in [
        ("cat \"$PLACE\"", Decision::Allow),
        ("cat \"$OLDPWD\"", Decision::Ask),
        ("cat \"$_\"", Decision::Ask),
    ] {
        assert_eq!(fixture.judge(command).decision, expected, "{command}");
    }
}

#[test]
fn so_much_is_judged_and_no_more() {
    let fixture = Fixture::shared();
    for (command, expected) in [
        (":;".repeat(2_000), Decision::Allow),
        (":;".repeat(2_001), Decision::Ask),
        ("echo {1..200};".repeat(40), Decision::Allow),
        ("echo {1..200};".repeat(200), Decision::Ask),
    ] {
        assert_eq!(fixture.judge(&command).decision, expected, "{} bytes", command.len());
    }
}

#[test]
fn a_word_that_is_not_understood_is_named() {
    let verdict = Fixture::shared().judge("echo ${x!y}");
    assert!(verdict.parts[0].reasons[0].text.contains("`${x!y}`"), "{:?}", verdict.parts[0].reasons);
    let long = format!("echo ${{x!{}}}", "é".repeat(100));
    let verdict = Fixture::shared().judge(&long);
    assert!(
        verdict.parts[0].reasons[0].text.contains(&format!("`${{x!{}…`", "é".repeat(56))),
        "{:?}",
        verdict.parts[0].reasons
    );
}

#[test]
fn what_a_branch_writes_is_looked_through_where_a_shell_reads_it() {
    // Within a substitution a `case` is not understood, so this is no row.
    let verdict = Fixture::shared().judge("case a in a) echo 'sudo id' ;; esac | sh");
    assert_eq!((verdict.decision, verdict.class), (Decision::Deny, Class::Forbidden));
}

#[test]
fn a_sequence_in_braces_keeps_its_order() {
    let fixture = Fixture::shared();
    let decide = |path: &Path, access| {
        if access == Access::Write && path.ends_with("1") { Decision::Deny } else { Decision::Allow }
    };
    for (command, expected) in
        [("cp {2..1}", Decision::Deny), ("cp {1..2}", Decision::Ask), ("cp 2 {1..1}", Decision::Deny)]
    {
        let situation = Situation {
            cwd: &fixture.workspace,
            workspace: &fixture.workspace,
            env: &fixture.env,
            programs: &fixture.programs,
            shell: Shell::Bash,
            decide: &decide,
            search: None,
            contained: false,
        };
        assert_eq!(judge(command, &situation).decision, expected, "{command}");
    }
}

#[test]
#[cfg(unix)]
fn a_pattern_that_may_match_nothing_may_stand_for_itself() {
    let fixture = Fixture::new();
    std::fs::write(fixture.workspace.join("xc"), "c\n").unwrap();
    assert_eq!(fixture.judge("cat x[ab]").decision, Decision::Allow);
    std::os::unix::fs::symlink("/etc/passwd", fixture.workspace.join("x[ab]")).unwrap();
    assert_eq!(fixture.judge("cat x[ab]").decision, Decision::Ask);
}

#[test]
fn what_a_pattern_matches_is_what_is_read() {
    let fixture = Fixture::new();
    for name in ["plain/.a", "plain/b1", "named/é1"] {
        let path = fixture.workspace.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x\n").unwrap();
    }
    for (pattern, expected) in [
        ("plain/b*", &["plain/b1"][..]),
        ("./plain/b*", &["./plain/b1"]),
        ("plain/../plain/b*", &["plain/../plain/b1"]),
        // With a bracket, or where another locale has other letters, it may stand for itself.
        ("plain/[b]1", &["plain/b1", "plain/[b]1"]),
        ("named/*1", &["named/é1", "named/*1"]),
        // Older shells match the directory itself and the one above it.
        ("plain/.*", &["plain/.", "plain/..", "plain/.a", "plain/.*"]),
    ] {
        let verdict = fixture.judge(&format!("echo {pattern}"));
        let words: Vec<&str> = verdict.parts[0].words.iter().skip(1).flatten().map(String::as_str).collect();
        assert_eq!(words, expected, "{pattern}");
    }
}
