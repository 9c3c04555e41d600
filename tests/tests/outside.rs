//! Programs outside this workspace: an annotated function in a crate that depends on `toolkit` by path is listed,
//! described and called by its `main` of three lines, in every build profile.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use toolkit_tests::{Ran, cargo, repository, run};

/// The fixture's programs, built with one profile: those that are named, or all of them.
struct Programs {
    directory: PathBuf,
}

impl Programs {
    fn build(profile: &str, programs: &[&str]) -> Self {
        // Under the repository's target directory, so that a second run finds what the first one built.
        let workspace = repository().join("target/outside").join(profile);
        copy(&repository().join("tests/fixtures/outside"), &workspace);
        fs::copy(repository().join("Cargo.lock"), workspace.join("Cargo.lock")).unwrap();
        let mut build = cargo(&workspace);
        build
            .args(["build", "--offline", "--profile", profile])
            .arg("--target-dir")
            .arg(workspace.join("built"));
        for program in programs {
            build.args(["--bin", program]);
        }
        run(&mut build).success();
        let folder = if profile == "dev" { "debug" } else { profile };
        Self { directory: workspace.join("built").join(folder) }
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Ran {
        run(Command::new(self.directory.join(program)).args(arguments))
    }
}

/// Copies the fixture, with the repository's place filled in.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let source = entry.unwrap().path();
        let name = source.file_name().unwrap().to_str().unwrap();
        if source.is_dir() {
            copy(&source, &to.join(name));
            continue;
        }
        let text =
            fs::read_to_string(&source).unwrap().replace("{{repository}}", repository().to_str().unwrap());
        let target = to.join(name.trim_end_matches(".in"));
        // Unchanged files keep their time, so that nothing is built again for them.
        if fs::read_to_string(&target).ok().as_ref() != Some(&text) {
            fs::write(target, text).unwrap();
        }
    }
}

/// What every build profile must give.
const ESSENTIAL: [&str; 3] = ["own", "linked", "unlinked"];

fn essential(profile: &str) {
    let programs = Programs::build(profile, &ESSENTIAL);
    own_tool(&programs);
    linked_tool(&programs);
}

fn own_tool(programs: &Programs) {
    let list = programs.run("own", &["list"]).success();
    assert!(list.contains("double") && list.contains("Doubles a number."), "{list}");
    assert!(list.contains("read"), "the command's own tools are there too: {list}");
    let described = programs.run("own", &["describe", "double"]).success();
    for expected in ["Doubles a number.", "n", "The number.", "integer", "outside", "0.1.0", "src/bin/own.rs"]
    {
        assert!(described.contains(expected), "{expected}: {described}");
    }
    assert_eq!(programs.run("own", &["call", "double", "--n", "21"]).success(), "42\n");
    assert_eq!(programs.run("own", &["call", "--args", r#"{"n": -4}"#, "double"]).success(), "-8\n");
}

fn linked_tool(programs: &Programs) {
    greets(programs, "linked");
    let unlinked = programs.run("unlinked", &["call", "greet", "--name", "Ada"]);
    assert_ne!(unlinked.code, Some(0));
    assert!(unlinked.stderr.contains("no tool `greet`"), "{}", unlinked.stderr);
    assert!(unlinked.stderr.contains("toolkit::link!"), "{}", unlinked.stderr);
}

/// The linked crate's tool is listed, described and called.
fn greets(programs: &Programs, program: &str) {
    assert!(programs.run(program, &["list"]).success().contains("greet"), "{program}");
    let described = programs.run(program, &["describe", "greet"]).success();
    assert!(described.contains("second") && described.contains("3.2.1"), "{described}");
    let called = programs.run(program, &["call", "greet", "--name", "Ada", "--tone", "loud"]);
    assert_eq!(called.success(), "HELLO, Ada\n", "{program}");
}

fn precedence(programs: &Programs) {
    assert_eq!(programs.run("shadows", &["call", "greet", "--name", "Ada"]).success(), "hello, Ada\n");
    let read = programs.run("shadows", &["call", "read"]);
    assert!(read.stderr.contains("/file_path"), "the core tool goes first: {}", read.stderr);
    let diagnostics = programs.run("shadows", &["list", "--diagnostics"]).success();
    for tool in ["greet", "read"] {
        assert!(
            diagnostics.contains(&format!("the tool `{tool}` of the crate `shadows` is left out")),
            "{diagnostics}"
        );
    }
}

/// The program's list decides, whatever the crates in it list themselves.
fn order_of_lists(programs: &Programs) {
    assert_eq!(programs.run("ordered", &["call", "greet", "--name", "Ada"]).success(), "hello, Ada\n");
    let diagnostics = programs.run("ordered", &["list", "--diagnostics"]).success();
    assert!(
        diagnostics.contains("`core: third` in the `toolkit::link!` of `claims` does not count"),
        "{diagnostics}"
    );
}

fn refused_starts(programs: &Programs) {
    let silent = programs.run("links_silent", &["list"]);
    assert_ne!(silent.code, Some(0));
    assert!(
        silent.stderr.contains("`silent` in `toolkit::link!` at src/bin/links_silent.rs:1"),
        "{}",
        silent.stderr
    );
    assert!(!silent.stderr.contains("`second` in"), "{}", silent.stderr);

    let renamed = programs.run("links_renamed", &["list"]);
    assert!(renamed.stderr.contains("link!(renamed as its_own_name)"), "{}", renamed.stderr);

    let twice = programs.run("twice", &["list"]);
    assert_ne!(twice.code, Some(0));
    for (name, lines) in [("same", [5, 9]), ("other", [13, 17])] {
        let line = twice.stderr.lines().find(|line| line.contains(&format!("`{name}`"))).unwrap_or_default();
        for number in lines {
            assert!(line.contains(&format!("src/bin/twice.rs:{number}")), "{name}: {}", twice.stderr);
        }
    }
}

#[test]
fn debug() {
    let programs = Programs::build("dev", &[]);
    own_tool(&programs);
    linked_tool(&programs);
    greets(&programs, "through_umbrella");
    assert_eq!(programs.run("links_renamed_as", &["call", "own_name"]).success(), "original\n");
    precedence(&programs);
    order_of_lists(&programs);
    refused_starts(&programs);
}

#[test]
#[ignore = "builds everything with optimisation, which takes minutes: cargo xtask test"]
fn release() {
    essential("release");
}

#[test]
#[ignore = "builds everything with fat LTO, which takes minutes: cargo xtask test"]
fn fat_lto() {
    essential("fat");
}

/// Each of two versions would know only its own tools: cargo must refuse to build such a program.
#[test]
fn two_versions_do_not_build() {
    let directory = tempfile::tempdir().unwrap();
    let (older, user) = (directory.path().join("older"), directory.path().join("user"));
    for folder in ["toolkit", "toolkit-macros"] {
        copy(&repository().join(folder), &older.join(folder));
    }
    let top = fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    let (_, rest) = top.split_once("[workspace.package]").unwrap();
    let version = concat!("\"", env!("CARGO_PKG_VERSION"), "\"");
    let rest = rest.replace(version, "\"0.0.9\"");
    fs::write(
        older.join("Cargo.toml"),
        format!("[workspace]\nmembers = [\"toolkit\", \"toolkit-macros\"]\n[workspace.package]{rest}"),
    )
    .unwrap();
    fs::create_dir_all(user.join("src")).unwrap();
    fs::write(user.join("src/main.rs"), "fn main() {}\n").unwrap();
    let manifest = |second: &str| {
        format!(
            "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
             toolkit = {{ path = \"{}/toolkit\" }}\n{second}",
            repository().display()
        )
    };
    let check = |second: &str| {
        fs::write(user.join("Cargo.toml"), manifest(second)).unwrap();
        fs::copy(repository().join("Cargo.lock"), user.join("Cargo.lock")).unwrap();
        run(cargo(&user).args(["metadata", "--offline", "--format-version", "1"]))
    };
    check("").success();
    let two = check("older = { path = \"../older/toolkit\", package = \"toolkit\" }\n");
    assert_ne!(two.code, Some(0), "{}", two.stderr);
    assert!(two.stderr.contains("links to") && two.stderr.contains("toolkit v0.0.9"), "{}", two.stderr);
}
