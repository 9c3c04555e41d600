//! Earlier commits: whether git may show the content of a file whose name is not known.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::common::Fixture;
use shell_verdict::Decision;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

fn git(fixture: &Fixture, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(&fixture.workspace)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

/// A repository with three versions of a long file and of a directory with so many names, of which git stores two as differences to others, and a tag of a file.
fn repository(init: &[&str], names: usize) -> Fixture {
    let fixture = Fixture::new();
    fs::remove_dir_all(fixture.workspace.join(".git")).unwrap();
    git(&fixture, &[&["init", "-q"], init].concat());
    let lines: Vec<String> = (0..400).map(|line| format!("line {line} {}", line * 7919 % 10_007)).collect();
    for name in 0..names {
        fs::write(fixture.workspace.join(format!("data/{}", name * 7919 % 10_007)), name.to_string())
            .unwrap();
    }
    git(&fixture, &["add", "data"]);
    for version in 0..3 {
        let mut lines = lines.clone();
        lines[version * 100] = format!("version {version}");
        fs::write(fixture.workspace.join("long.txt"), lines.join("\n")).unwrap();
        fs::write(fixture.workspace.join("data/x.csv"), version.to_string()).unwrap();
        git(&fixture, &["add", "long.txt", "data/x.csv"]);
        git(&fixture, &["commit", "-qm", "version"]);
    }
    let file = git(&fixture, &["rev-parse", "HEAD:long.txt"]);
    git(&fixture, &["tag", "-a", "-m", "a file", "named", &file]);
    git(&fixture, &["tag", "light", &file]);
    git(&fixture, &["tag", "directory", "HEAD:data"]);
    git(&fixture, &["tag", "-a", "-m", "a commit", "released", "HEAD~1"]);
    fixture
}

/// Asserts that an object is asked about if it is a file, and a directory where the names in it are all that is known.
#[track_caller]
fn assert_told_apart(fixture: &Fixture, of: &str) {
    use Decision::{Allow, Ask};
    for (object, shown, compared) in [
        ("HEAD:long.txt", Ask, Ask),
        ("HEAD~1:long.txt", Ask, Ask),
        ("HEAD~2:long.txt", Ask, Ask),
        ("named", Ask, Ask),
        ("HEAD", Allow, Allow),
        ("HEAD~1", Allow, Allow),
        ("HEAD~2", Allow, Allow),
        ("released", Allow, Allow),
        ("HEAD~2^{tree}", Allow, Ask),
        ("HEAD:data", Allow, Ask),
        ("HEAD~1:data", Allow, Ask),
        ("HEAD~2:data", Allow, Ask),
    ] {
        let hash = git(fixture, &["rev-parse", object]);
        for name in
            [hash.clone(), hash[..12].to_owned(), hash.to_uppercase(), format!("x-1-g{}", &hash[..10])]
        {
            let named_in_it = if compared == Ask { Ask } else { Allow };
            for (command, expected) in [
                (format!("git show {name}"), shown),
                (format!("git diff {name} HEAD"), compared),
                (format!("git diff HEAD..{name}"), compared),
                (format!("git grep x {name}"), compared),
                (format!("git show {name}:x.csv"), named_in_it),
            ] {
                assert_eq!(fixture.judge(&command).decision, expected, "{of}: {object}: {command}");
            }
        }
        let printed = fixture.judge(&format!("git cat-file -p {hash}")).decision;
        assert_eq!(printed, shown, "{of}: {object}");
    }
    for (command, expected) in [
        ("git show light", Ask),
        ("git show refs/tags/light", Ask),
        ("git diff light HEAD:long.txt", Ask),
        ("git grep x light", Ask),
        ("git cat-file -p light", Ask),
        ("git show named", Ask),
        ("git show released", Allow),
        ("git show released~1", Allow),
        ("git show main", Allow),
        ("git diff main HEAD", Allow),
        ("git show --tags", Ask),
        ("git show --all", Ask),
        ("git show directory:x.csv", Ask),
        ("git show directory", Allow),
        ("git grep x HEAD:", Ask),
        ("git grep x 'HEAD^{tree}'", Ask),
        ("git grep x directory", Ask),
        ("git grep x HEAD", Allow),
    ] {
        assert_eq!(fixture.judge(command).decision, expected, "{of}: {command}");
    }
    for name in ["0123456789", "feed", "deadbeef", "cafe~2"] {
        assert_eq!(fixture.judge(&format!("git show {name}")).decision, Allow, "{of}: {name}");
    }
}

fn packs(fixture: &Fixture, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(fixture.workspace.join(".git/objects/pack")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
}

#[test]
fn a_hash_of_a_file_is_told_from_that_of_a_commit() {
    let fixture = repository(&[], 300);
    assert_told_apart(&fixture, "a file for each object");
    git(&fixture, &["pack-refs", "--all"]);
    git(&fixture, &["repack", "-adfq", "--depth=50", "--window=50"]);
    git(&fixture, &["prune-packed"]);
    assert!(
        git(&fixture, &["verify-pack", "-v", packs(&fixture, "idx")[0].to_str().unwrap()])
            .contains("chain length")
    );
    assert_told_apart(&fixture, "distances");
    git(&fixture, &["-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq", "--depth=50", "--window=50"]);
    assert_told_apart(&fixture, "names");
}

#[test]
fn a_hash_is_asked_about_where_its_object_is_not_understood() {
    let fixture = repository(&["--object-format=sha256"], 1);
    let commit = git(&fixture, &["rev-parse", "HEAD"]);
    assert_eq!(fixture.judge(&format!("git show {commit}")).decision, Decision::Ask);
    for (extension, content) in
        [("idx", b"\xfftOc\0\0\0\x03".repeat(200)), ("idx", Vec::new()), ("pack", Vec::new())]
    {
        let fixture = repository(&[], 1);
        git(&fixture, &["repack", "-adq"]);
        let commit = git(&fixture, &["rev-parse", "HEAD"]);
        assert_eq!(fixture.judge(&format!("git show {commit}")).decision, Decision::Allow);
        for path in packs(&fixture, extension) {
            fs::remove_file(&path).unwrap();
            fs::write(path, &content).unwrap();
        }
        assert_eq!(fixture.judge(&format!("git show {commit}")).decision, Decision::Ask, "{extension}");
    }
}

#[test]
fn options_that_show_binary_files_count_for_earlier_commits_alone() {
    let fixture = repository(&[], 1);
    for (command, expected) in [
        ("git diff --text", Decision::Allow),
        ("git diff -a -- long.txt", Decision::Allow),
        ("git grep -a x -- long.txt", Decision::Allow),
        ("git grep -a x HEAD", Decision::Ask),
        ("git grep -na x HEAD", Decision::Ask),
        ("git grep -Ina x HEAD", Decision::Ask),
        ("git grep -ea HEAD", Decision::Allow),
        ("git grep -A2 x HEAD", Decision::Allow),
        ("git diff --text HEAD~1", Decision::Ask),
        ("git diff --cached --text", Decision::Ask),
        ("git diff --te HEAD~1", Decision::Ask),
        ("git log -p --text", Decision::Ask),
        ("git log -pa", Decision::Ask),
        ("git log -p -SaA", Decision::Allow),
        ("git log -p --abbrev", Decision::Allow),
        ("git log -p -n3", Decision::Allow),
        ("git show --binary", Decision::Ask),
    ] {
        let verdict = fixture.judge(command);
        assert_eq!(verdict.decision, expected, "{command}: {verdict:?}");
    }
}

#[test]
fn attributes_that_show_guarded_files_are_asked_about() {
    for (file, line, expected) in [
        (".gitattributes", "* diff", Decision::Ask),
        (".gitattributes", "** diff", Decision::Ask),
        (".gitattributes", "*.env diff=x", Decision::Ask),
        (".gitattributes", ".env diff", Decision::Ask),
        (".gitattributes", "\".env\" diff", Decision::Ask),
        (".gitattributes", "  conf/.env\ttext diff", Decision::Ask),
        (".gitattributes", "[attr]shown diff", Decision::Ask),
        (".git/info/attributes", ".env diff", Decision::Ask),
        (".gitattributes", ".env !diff", Decision::Ask),
        (".gitattributes", "\".\\145nv\" diff", Decision::Ask),
        (".gitattributes", ".e?v diff", Decision::Ask),
        (".gitattributes", "*env diff", Decision::Ask),
        (".gitattributes", "id_* diff", Decision::Ask),
        (".gitattributes", "*.p?m diff", Decision::Ask),
        (".gitattributes", "*.pem diff", Decision::Ask),
        (".gitattributes", "*.rs diff=rust", Decision::Allow),
        (".gitattributes", "src/*.md diff=markdown", Decision::Allow),
        (".gitattributes", "*.png -diff", Decision::Allow),
        (".gitattributes", ".env -diff", Decision::Allow),
        (".gitattributes", ".env binary", Decision::Allow),
        (".gitattributes", "* text=auto", Decision::Allow),
        (".gitattributes", "# .env diff", Decision::Allow),
    ] {
        let fixture = repository(&[], 1);
        fs::create_dir_all(fixture.workspace.join(file).parent().unwrap()).unwrap();
        fs::write(fixture.workspace.join(file), format!("*.png binary\n{line}\n")).unwrap();
        assert_eq!(fixture.judge("git log -p").decision, expected, "{file}: {line}");
        assert_eq!(fixture.judge("git log --stat").decision, Decision::Allow, "{file}: {line}");
    }
}
