//! Commands of git that read are allowed only where the repository cannot make them run something, or read elsewhere.

#![cfg(unix)]

use crate::common;

use common::Fixture;
use shell_verdict::{Access, Class, Decision, Shell, Situation, judge};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Component, Path};
use std::process::Command;

fn decision(fixture: &Fixture, command: &str) -> Decision {
    fixture.judge(command).decision
}

#[test]
fn what_is_configured_decides() {
    let asked = [
        "[diff]\n\texternal = ./x\n",
        "[DIFF]\nEXTERNAL = ./x\n",
        "[diff \"x\"]\n\ttextconv = ./x\n",
        "[diff.x]\n\ttextconv = ./x\n",
        "[diff \"a]b\"]\n\tcommand = ./x\n",
        "[include]\n\tpath = ../x\n",
        "[includeIf \"gitdir:/\"]\n\tpath = ../x\n",
        "[core]\n\tworktree = /etc\n",
        "[core]\n\tattributesFile = /etc/passwd\n",
        "[core] alternateRefsCommand = ./x\n",
        "[gpg]\n\tprogram = ./x\n",
        "[format]\n\tpretty = %G?\n",
        "[pretty]\n\tx = %G?\n",
        "[remote \"origin\"]\n\tpromisor = true\n",
        "[remote \"origin\"]\n\tuploadpack = ./x\n",
        "[extensions]\n\tpartialClone = origin\n",
        "[diff]\n\tsubmodule = diff\n",
        "[status]\n\tsubmoduleSummary = true\n",
        "[mailmap]\n\tfile = /etc/passwd\n",
        "[blame]\n\tignoreRevsFile = /etc/passwd\n",
        "[branch]\n\tsort = signature\n",
        "[tag]\n\tsort = \\\n\tsignature:grade\n",
        "[extensions]\n\trefStorage = reftable:///var/lib/other\n",
        "[lfs \"extension.x\"]\n\tclean = ./x\n",
        "[lfs]\n\tstorage = /tmp/x\n",
        "[submodule]\n\trecurse = true\n",
        "[log]\n\tdiffMerges = remerge\n",
        // A comment that ends with a backslash goes on nowhere, so the next line counts.
        "[user]\n\tname = a ; \\\n[diff \"x\"]\n\ttextconv = ./x\n",
        "[user]\n\tname = a # \\\n[diff]\n\texternal = ./x\n",
        "[remote \"o\"]\n\turl = a\\\nb # c \\\n[diff \"x\"] textconv = ./x\n",
        // Two of them are one that is meant.
        "[user]\n\tname = a\\\\\n[diff]\n\texternal = ./x\n",
        "[diff \"a\\\"]b\"]\n\ttextconv = ./x\n",
        "[tag]\n\tsort = -signature:grade\n",
        "[log]\n\tdiffMerges = remerge\n",
        // A line that continues the one before is no key.
        "[user]\n\tname = \\\n[diff]\n\texternal = ./x\n",
        "external = ./x\n",
        "[user\n\tname = x\n",
        "\u{feff}[diff]\n\texternal = ./x\n",
        "[core\\]\n\tbare = false\n",
        "[remote \"a\"b]\n\turl = x\n",
        "[my-own]\n\tx = y\n",
    ];
    for configuration in asked {
        let fixture = Fixture::new();
        fs::write(fixture.workspace.join(".git/config"), configuration).unwrap();
        for command in ["git log -p", "git status", "git show"] {
            let verdict = fixture.judge(command);
            // One long value, which is harmless.
            let is_value = configuration.contains("= \\\n[diff]");
            assert!(verdict.decision == Decision::Ask || is_value, "{command}: {configuration:?}");
        }
    }
    let allowed = [
        "",
        "[core]\n\tbare = false\n\tfsmonitor = ./x\n\thooksPath = .husky\n\tpager = less\n",
        "[branch \"a.b\"]\n\tremote = origin\n\tmerge = refs/heads/a\n",
        "[remote \"a]b\"]\n\turl = x\n",
        "[remote \"a\\\"]b\"]\n\turl = x\n",
        "[user]\n\tname = a\\\n[diff] external = ./x\n",
        "[user]\n\tname = a\\\\\\\n[diff] external = ./x\n",
        "; a comment\n# another\n[user] name = \"A; B\"\n",
        "[alias]\n\tst = status\n\tx = !./x\n",
        "[credential]\n\thelper = store\n",
        "[user]\n\tname = a \\\n external = ./x\n",
        "[tag]\n\tsort = -version:refname\n",
        "[log]\n\tdiffMerges = off\n",
        "[branch]\n\tsort = -committerdate\n[extensions]\n\trefstorage = reftable\n",
        "[lfs]\n\trepositoryformatversion = 0\n[lfs \"https://example.org/x.git/info/lfs\"]\n\taccess = basic\n",
    ];
    for configuration in allowed {
        let fixture = Fixture::new();
        fs::write(fixture.workspace.join(".git/config"), configuration).unwrap();
        let verdict = fixture.judge("git log -p");
        assert_eq!((verdict.decision, verdict.class), (Decision::Allow, Class::GitRead), "{configuration:?}");
        // Programs that git would run by itself are taken away.
        let env: Vec<&str> = verdict.env.iter().map(|(name, _)| name.as_str()).collect();
        assert!(
            env.contains(&"GIT_CONFIG_KEY_0")
                && env.contains(&"GIT_OPTIONAL_LOCKS")
                && env.contains(&"GIT_PAGER")
        );
    }
}

#[test]
fn keys_with_an_effect_make_a_contained_command_ask() {
    let asked = [
        "[diff]\n\texternal = ./x\n",
        "[diff \"x\"]\n\ttextconv = ./x\n",
        "[diff.x]\n\tcommand = ./x\n",
        "[filter \"x\"]\n\tclean = ./x\n",
        "[filter \"x\"]\n\tprocess = ./x\n",
        "[core]\n\tworktree = /etc\n",
        "[core]\n\tattributesFile = /etc/passwd\n",
        "[core]\n\texcludesFile = secret/.env\n",
        "[core]\n\texcludesFile = ~/x\n",
        "[core]\n\texcludesFile = \"secret/.env\"\n",
        "[core]\n\texcludesFile = none/../secret/.env\n",
        "[core]\n\talternateRefsCommand = ./x\n",
        "[mailmap]\n\tfile = link\n",
        "[mailmap]\n\tblob = HEAD:secret/.env\n",
        "[blame]\n\tignoreRevsFile = secret/.env\n",
        "[fsck]\n\tskipList = secret/.env\n",
        "[diff]\n\torderFile = secret/.env\n",
        "[diff]\n\tsubmodule = diff\n",
        "[submodule]\n\trecurse = true\n",
        "[format]\n\tpretty = %G?\n",
        "[pretty]\n\tx = \"%\"G?\n",
        "[pretty]\n\tx = \\\n%G?\n",
        "[branch]\n\tsort = signature\n",
        "[log]\n\tdiffMerges = remerge\n",
        "[extensions]\n\trefStorage = reftable:///var/lib/other\n",
        "[include]\n\tpath = ../evil\n",
        "[include]\n\tpath = ../again\n",
        "[includeIf \"gitdir:/\"]\n\tpath = ../evil\n",
        "[include]\n\tpath = ../itself\n",
        "[include]\n\tpath = /etc/passwd\n",
        "[include]\n\tpath = ~/evil\n",
        "external = ./x\n",
    ];
    let allowed = [
        "",
        "[remote \"o\"]\n\tpromisor = true\n\tpartialCloneFilter = blob:none\n[extensions]\n\tpartialClone = o\n",
        "[remote \"o\"]\n\tuploadpack = ./x\n\tvcs = x\n",
        "[mailmap]\n\tfile = notes.txt\n[blame]\n\tignoreRevsFile = .git-blame-ignore-revs\n",
        "[core]\n\tfsmonitor = ./x\n\thooksPath = .husky\n\tsplitIndex = true\n\texcludesFile = src/../notes.txt\n",
        "[commit]\n\ttemplate = /etc/passwd\n",
        "[include]\n\tpath = ../good\n[includeIf \"onbranch:x\"]\n\tpath = ../none\n",
        "[format]\n\tpretty = %h\n[pretty]\n\tx = \"%h %s\"\n",
        "[diff]\n\tsubmodule = log\n[status]\n\tsubmoduleSummary = true\n",
        "[my-own]\n\tx = y\n[gpg]\n\tprogram = ./x\n[merge \"x\"]\n\tdriver = ./x\n[pager]\n\tlog = ./x\n",
    ];
    for (configurations, expected) in [(&asked[..], Decision::Ask), (&allowed[..], Decision::Allow)] {
        for configuration in configurations {
            let fixture = Fixture::new();
            for (name, text) in [
                ("evil", "[diff]\n\texternal = ./x\n"),
                ("again", "[include]\n\tpath = evil\n"),
                ("itself", "[include]\n\tpath = itself\n"),
                ("good", "[user]\n\tname = x\n"),
                (".git/config", configuration),
            ] {
                fs::write(fixture.workspace.join(name), text).unwrap();
            }
            for command in ["git diff -p", "git status", "git -C src status"] {
                let verdict = fixture.judge_contained(command);
                assert_eq!(verdict.decision, expected, "{command}: {configuration:?}");
            }
            let strict = decision(&fixture, "git status");
            assert!(strict == Decision::Ask || expected == Decision::Allow, "{configuration:?}");
        }
    }
}

#[test]
fn a_file_that_the_configuration_names_is_a_path_of_the_command() {
    let fixture = Fixture::new();
    fs::write(fixture.workspace.join(".git/config"), "[mailmap]\n\tfile = notes.txt\n").unwrap();
    let verdict = fixture.judge_contained("git log");
    let named = (fixture.workspace.join("notes.txt"), Access::Read);
    assert!(verdict.parts[0].paths.contains(&named), "{:?}", verdict.parts[0].paths);
}

#[test]
fn a_repository_that_git_does_not_take_leaves_the_next_one_above() {
    let change = |git_dir: &Path, name: &str| match name {
        "objects, a file" => {
            fs::remove_dir_all(git_dir.join("objects")).unwrap();
            fs::write(git_dir.join("objects"), "").unwrap();
        }
        "HEAD, a directory" => {
            fs::remove_file(git_dir.join("HEAD")).unwrap();
            fs::create_dir(git_dir.join("HEAD")).unwrap();
        }
        "HEAD without a reference" => fs::write(git_dir.join("HEAD"), "x").unwrap(),
        "no refs" => fs::remove_dir(git_dir.join("refs")).unwrap(),
        unsearchable => {
            let directory = unsearchable.split(',').next().unwrap();
            fs::set_permissions(git_dir.join(directory), fs::Permissions::from_mode(0o600)).unwrap();
        }
    };
    for name in [
        "objects, a file",
        "HEAD, a directory",
        "HEAD without a reference",
        "no refs",
        "objects, unsearchable",
        "refs, unsearchable",
    ] {
        let fixture = Fixture::new();
        fs::write(fixture.workspace.join(".git/config"), "[diff]\n\texternal = ./x\n").unwrap();
        let git_dir = fixture.workspace.join("sub/.git");
        for directory in ["objects", "refs"] {
            fs::create_dir_all(git_dir.join(directory)).unwrap();
        }
        fs::write(git_dir.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(decision(&fixture, "git -C sub status"), Decision::Allow, "{name}");
        change(&git_dir, name);
        // A superuser searches any directory, and git as well.
        let searches_any = name.ends_with("unsearchable")
            && git_dir.join("objects/.").exists()
            && git_dir.join("refs/.").exists();
        let expected = if searches_any { Decision::Allow } else { Decision::Ask };
        assert_eq!(decision(&fixture, "git -C sub status"), expected, "{name}");
        for directory in ["objects", "refs"] {
            let _ = fs::set_permissions(git_dir.join(directory), fs::Permissions::from_mode(0o700));
        }
    }
}

#[test]
fn a_repository_above_or_behind_a_link_counts() {
    let fixture = Fixture::new();
    let evil = "[diff]\n\texternal = ./x\n";
    let workspace = &fixture.workspace;
    fs::create_dir_all(workspace.join("b/.git")).unwrap();
    fs::create_dir_all(workspace.join("b/c")).unwrap();
    fs::write(workspace.join("b/.git/config"), evil).unwrap();
    symlink("b/c", workspace.join("to")).unwrap();
    for command in
        ["cd b/c && git show", "git -C b/c show", "cd to && git show", "git -C to show", "cd b && git log"]
    {
        assert_eq!(decision(&fixture, command), Decision::Ask, "{command}");
    }
    assert_eq!(decision(&fixture, "cd src && git log"), Decision::Allow);
    assert_eq!(decision(&fixture, "cd .git && git log"), Decision::Ask);
    assert_eq!(decision(&fixture, "git -C .git/objects log"), Decision::Ask);
    // A directory that looks like a repository without a work tree.
    for name in ["bare/objects", "bare/refs"] {
        fs::create_dir_all(workspace.join(name)).unwrap();
    }
    fs::write(workspace.join("bare/HEAD"), "ref: refs/heads/main\n").unwrap();
    assert_eq!(decision(&fixture, "cd bare && git log"), Decision::Ask);
}

#[test]
fn where_a_file_says_it_is_counts() {
    for (file, expected) in [
        ("gitdir: ../real\n", Decision::Allow),
        ("gitdir: ../evil\n", Decision::Ask),
        // Blanks belong to the name.
        ("gitdir: ../real \n", Decision::Ask),
        ("gitdir:../real\n", Decision::Ask),
        ("nonsense\n", Decision::Ask),
    ] {
        let fixture = Fixture::new();
        let workspace = &fixture.workspace;
        for (name, configuration) in
            [("real", ""), ("evil", "[diff]\n\texternal = x\n"), ("real ", "[diff]\n\texternal = x\n")]
        {
            fs::create_dir_all(workspace.join(name)).unwrap();
            fs::write(workspace.join(name).join("config"), configuration).unwrap();
        }
        fs::create_dir(workspace.join("sub")).unwrap();
        fs::write(workspace.join("sub/.git"), file).unwrap();
        assert_eq!(decision(&fixture, "cd sub && git log"), expected, "{file:?}");
    }
    // One that is elsewhere is read elsewhere.
    let fixture = Fixture::new();
    fs::create_dir(fixture.workspace.join("sub")).unwrap();
    fs::write(fixture.workspace.join("sub/.git"), "gitdir: /var/lib/other.git\n").unwrap();
    assert_eq!(decision(&fixture, "git -C sub log"), Decision::Ask);
    fs::create_dir_all(fixture.workspace.join(".git/objects/info")).unwrap();
    fs::write(fixture.workspace.join(".git/objects/info/alternates"), "/var/lib/other.git/objects\n")
        .unwrap();
    assert_eq!(decision(&fixture, "git log"), Decision::Ask);
}

#[test]
fn a_repository_that_leads_elsewhere_is_asked_about() {
    let names = [
        "objects",
        "objects/ab",
        "objects/info",
        "objects/info/packs",
        "objects/pack",
        "objects/pack/pack-1.pack",
        "refs",
        "refs/tags",
        "HEAD",
        "packed-refs",
        "index",
        "info",
        "info/exclude",
        "logs/HEAD",
    ];
    // On some systems a name that is not ASCII is another's, so that nothing can be told from what a directory lists.
    for beside in [None, Some("\u{17f}")] {
        for name in names {
            let fixture = Fixture::new();
            let path = fixture.workspace.join(".git").join(name);
            let directory = path.parent().unwrap();
            fs::create_dir_all(directory).unwrap();
            for directory in [directory, &fixture.workspace.join(".git")] {
                beside.map_or(Ok(()), |beside| fs::write(directory.join(beside), "")).unwrap();
            }
            assert_eq!(decision(&fixture, "git log"), Decision::Allow, "{name} {beside:?}");
            let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
            symlink("/var/lib/other.git", &path).unwrap();
            assert_eq!(decision(&fixture, "git log"), Decision::Ask, "{name} {beside:?}");
        }
    }
    // Paths that git does not look at may lead anywhere.
    let fixture = Fixture::new();
    symlink("/var/lib/other.git", fixture.workspace.join(".git/hooks")).unwrap();
    assert_eq!(decision(&fixture, "git log"), Decision::Allow);
}

#[test]
fn what_a_worktree_shares_counts_as_its_own_does() {
    let evil = "[diff]\n\texternal = ./x\n";
    for (file, text, expected) in [
        ("description", "", Decision::Allow),
        ("config", evil, Decision::Ask),
        ("config.worktree", evil, Decision::Ask),
        ("worktrees/w/config.worktree", evil, Decision::Ask),
        // Of a worktree this is not read.
        ("worktrees/w/config", evil, Decision::Allow),
        ("objects/info/alternates", "/var/lib/other.git/objects\n", Decision::Ask),
        ("objects/info/http-alternates", "/var/lib/other.git/objects\n", Decision::Ask),
    ] {
        let fixture = Fixture::new();
        let workspace = &fixture.workspace;
        fs::create_dir_all(workspace.join("tree")).unwrap();
        fs::create_dir_all(workspace.join(".git/worktrees/w")).unwrap();
        fs::write(workspace.join(".git/worktrees/w/commondir"), "../..\n").unwrap();
        fs::rename(workspace.join(".git"), workspace.join("main.git")).unwrap();
        fs::write(workspace.join("tree/.git"), "gitdir: ../main.git/worktrees/w\n").unwrap();
        fs::write(workspace.join("main.git").join(file), text).unwrap();
        assert_eq!(decision(&fixture, "git -C tree log"), expected, "{file}");
        for name in ["refs", "packed-refs", "worktrees/w/HEAD", "worktrees/w/logs"] {
            let path = workspace.join("main.git").join(name);
            let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
            symlink("/var/lib/other.git", &path).unwrap();
            assert_eq!(decision(&fixture, "git -C tree log"), Decision::Ask, "{name}");
            fs::remove_file(&path).unwrap();
        }
    }
    // One that is elsewhere is read there.
    let fixture = Fixture::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(fixture.workspace.join(".git/commondir"), outside.path().to_str().unwrap()).unwrap();
    assert_eq!(decision(&fixture, "git log"), Decision::Ask);
}

#[test]
fn who_decides_about_a_repository_gets_the_path_where_it_is() {
    let fixture = Fixture::new();
    let workspace = &fixture.workspace;
    for (name, text) in
        [("sub/.git", "gitdir: ../real/worktrees/w\n"), ("real/worktrees/w/commondir", "../../../shared/\n")]
    {
        fs::create_dir_all(workspace.join(name).parent().unwrap()).unwrap();
        fs::write(workspace.join(name), text).unwrap();
    }
    fs::create_dir(workspace.join("there")).unwrap();
    symlink("there", workspace.join("shared")).unwrap();
    symlink("sub", workspace.join("to")).unwrap();
    for (command, expected) in [
        ("git log", vec![".git"]),
        // Git looks no further up than the file that names one.
        ("git -C sub log", vec!["real/worktrees/w", "there"]),
        ("git -C to log", vec![".git", "real/worktrees/w", "there"]),
    ] {
        let asked = RefCell::new(BTreeSet::new());
        let decide = |path: &Path, _| {
            asked.borrow_mut().insert(path.to_owned());
            Decision::Allow
        };
        let situation = Situation {
            cwd: workspace,
            workspace,
            env: &fixture.env,
            programs: &fixture.programs,
            shell: Shell::Bash,
            decide: &decide,
            search: None,
            contained: false,
        };
        assert_eq!(judge(command, &situation).decision, Decision::Allow, "{command}");
        let asked = asked.into_inner();
        for name in expected {
            assert!(asked.contains(&workspace.join(name)), "{command}: {name} of {asked:?}");
        }
        for path in &asked {
            assert!(path.components().all(|part| part != Component::ParentDir), "{command}: {path:?}");
        }
    }
}

#[test]
fn what_is_no_plain_file_of_a_repository_is_asked_about_at_once() {
    for (name, without) in [("index", Decision::Allow), ("config", Decision::Allow)] {
        let fixture = Fixture::new();
        let path = fixture.workspace.join(".git").join(name);
        fs::remove_file(&path).unwrap();
        assert_eq!(decision(&fixture, "git status"), without, "{name}");
        // Nobody writes to it, so whoever reads it waits.
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert_eq!(decision(&fixture, "git status"), Decision::Ask, "{name}");
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&path, &path).unwrap();
        assert_eq!(decision(&fixture, "git status"), Decision::Ask, "{name}");
    }
    let fixture = Fixture::new();
    let path = fixture.workspace.join(".git/config");
    let line = "# what is said of it\n";
    let largest = line.repeat((1 << 20) / line.len() + 1)[..1 << 20].to_owned();
    for (text, expected) in [(largest.clone(), Decision::Allow), (largest + " ", Decision::Ask)] {
        fs::write(&path, text).unwrap();
        assert_eq!(decision(&fixture, "git status"), expected);
    }
}

#[test]
fn what_is_missing_is_nothing_and_what_is_broken_is_asked_about() {
    let fixture = Fixture::new();
    let git_dir = fixture.workspace.join(".git");
    // With a name that may be another elsewhere, each file is looked for by itself.
    fs::write(git_dir.join("\u{e9}"), "").unwrap();
    for name in ["index", "config"] {
        fs::remove_file(git_dir.join(name)).unwrap();
        assert_eq!(decision(&fixture, "git status"), Decision::Allow, "without {name}");
    }
    for name in ["index", "config", "config.worktree", "commondir"] {
        symlink(name, git_dir.join(name)).unwrap();
        assert_eq!(decision(&fixture, "git status"), Decision::Ask, "{name} leads to itself");
        fs::remove_file(git_dir.join(name)).unwrap();
    }
}

#[test]
fn an_archive_that_names_files_elsewhere_is_asked_about() {
    let fixture = Fixture::new();
    fs::write(fixture.workspace.join("thin.a"), "!<thin>\n/etc/x").unwrap();
    fs::write(fixture.workspace.join("whole.a"), "!<arch>\n").unwrap();
    for command in ["nm", "size", "objdump -d", "readelf -h", "ar t"] {
        assert_eq!(decision(&fixture, &format!("{command} thin.a")), Decision::Ask, "{command}");
        assert_eq!(decision(&fixture, &format!("{command} whole.a")), Decision::Allow, "{command}");
    }
}

#[test]
fn a_home_in_the_workspace_is_anybodys() {
    let mut fixture = Fixture::new();
    let home = fixture.workspace.join("home");
    fs::create_dir_all(home.join(".config/git")).unwrap();
    fixture.env.insert("HOME".to_owned(), home.to_str().unwrap().to_owned());
    assert_eq!(decision(&fixture, "git log"), Decision::Allow);
    fs::write(home.join(".gitconfig"), "[diff]\n\texternal = x\n").unwrap();
    assert_eq!(decision(&fixture, "git log"), Decision::Ask);
    fs::remove_file(home.join(".gitconfig")).unwrap();
    fs::write(home.join(".config/git/config"), "[diff]\n\texternal = x\n").unwrap();
    assert_eq!(decision(&fixture, "git log"), Decision::Ask);
}

#[test]
fn the_environment_counts() {
    for name in [
        "GIT_DIR",
        "GIT_EXTERNAL_DIFF",
        "GIT_CONFIG_COUNT",
        "GIT_WORK_TREE",
        "GIT_SSH_COMMAND",
        "LD_PRELOAD",
        "BASH_ENV",
        "BASH_FUNC_git%%",
    ] {
        let mut fixture = Fixture::new();
        fixture.env.insert(name.to_owned(), "x".to_owned());
        assert_eq!(decision(&fixture, "git log"), Decision::Ask, "{name}");
    }
    let mut fixture = Fixture::new();
    fixture.env.insert("GIT_AUTHOR_NAME".to_owned(), "x".to_owned());
    assert_eq!(decision(&fixture, "git log"), Decision::Allow);
}
