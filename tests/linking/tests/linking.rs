//! Programs of three lines around `toolkit_cli::main`: which tools each has, and which start is refused.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use std::fs;
use std::path::Path;
use std::process::Command;
use toolkit_tests::{Ran, cargo, repository, run};

fn run_program(program: &str, arguments: &[&str]) -> Ran {
    let own = Path::new(env!("CARGO_BIN_EXE_own"));
    run(Command::new(own.with_file_name(program)).args(arguments))
}

/// Copies a directory, build products left out.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let source = entry.unwrap().path();
        let target = to.join(source.file_name().unwrap());
        if source.is_dir() {
            copy(&source, &target);
        } else {
            fs::copy(source, target).unwrap();
        }
    }
}

#[test]
fn own_tool() {
    let list = run_program("own", &["list"]).success();
    assert!(list.contains("double") && list.contains("Doubles a number."), "{list}");
    assert!(list.contains("read"), "the command's own tools are there too: {list}");
    let described = run_program("own", &["describe", "double"]).success();
    for expected in
        ["Doubles a number.", "n", "The number.", "integer", "toolkit-linking", "0.1.0", "src/bin/own.rs"]
    {
        assert!(described.contains(expected), "{expected}: {described}");
    }
    assert_eq!(run_program("own", &["call", "double", "--n", "21"]).success(), "42\n");
    assert_eq!(run_program("own", &["call", "--args", r#"{"n": -4}"#, "double"]).success(), "-8\n");
}

#[test]
fn linked_tool() {
    greets("linked");
    let unlinked = run_program("unlinked", &["call", "greet", "--name", "Ada"]);
    assert_ne!(unlinked.code, Some(0));
    assert!(unlinked.stderr.contains("no tool `greet`"), "{}", unlinked.stderr);
    assert!(unlinked.stderr.contains("toolkit::link!"), "{}", unlinked.stderr);
}

/// The linked crate's tool is listed, described and called.
fn greets(program: &str) {
    assert!(run_program(program, &["list"]).success().contains("greet"), "{program}");
    let described = run_program(program, &["describe", "greet"]).success();
    assert!(described.contains("second") && described.contains("3.2.1"), "{described}");
    let called = run_program(program, &["call", "greet", "--name", "Ada", "--tone", "loud"]);
    assert_eq!(called.success(), "HELLO, Ada\n", "{program}");
}

/// A crate that has no more than the definitions of tools becomes whole in a program that has the runtime.
#[test]
fn linked_without_the_runtime() {
    let tidy = |options: &[&str], thing: &str| {
        let arguments = format!(r#"{{"thing": {thing}}}"#);
        run_program("linked", &[options, &["call", "tidy", "--args", &arguments]].concat())
    };
    let cups = r#"{"kind": "cups", "count": 3}"#;
    let asked = tidy(&[], cups);
    assert!(asked.stderr.contains("Put 3 cups away"), "{}", asked.stderr);
    let allowed = ["--set", "permission.tidy=allow"];
    assert_eq!(tidy(&allowed, cups).success(), "tidied 3 cups\n");
    let set = ["--set", "plugins.lean.word=stowed", "--set", "plugins.lean.key=abcd"];
    assert_eq!(tidy(&[&allowed[..], &set].concat(), cups).success(), "stowed 3 cups with a key\n");
    let refused = tidy(&allowed, r#"{"kind": "book", "title": "emma"}"#);
    assert!(
        refused.stderr.contains("/thing/title") && refused.stderr.contains("^[A-Z]"),
        "{}",
        refused.stderr
    );
    assert_eq!(run_program("linked", &["call", "count_drawer"]).success(), "0\n");
}

/// A plugin whose `reqwest` has no TLS gets that of the command, or of the MCP server, and with it a provider of cryptography.
#[test]
fn linked_with_a_client_of_its_own() {
    assert_eq!(run_program("linked", &["call", "prepare_request"]).success().trim_end(), "http://localhost/");
    assert_eq!(run_program("own_host", &[]).success(), "http://localhost/");
}

#[test]
fn precedence() {
    assert_eq!(run_program("shadows", &["call", "greet", "--name", "Ada"]).success(), "hello, Ada\n");
    let read = run_program("shadows", &["call", "read"]);
    assert!(read.stderr.contains("/file_path"), "the core tool goes first: {}", read.stderr);
    let diagnostics = run_program("shadows", &["list", "--diagnostics"]).success();
    for tool in ["greet", "read"] {
        assert!(
            diagnostics.contains(&format!("the tool `{tool}` of the crate `shadows` is left out")),
            "{diagnostics}"
        );
    }
}

/// The program's list decides, whatever the crates in it list themselves.
#[test]
fn order_of_lists() {
    assert_eq!(run_program("ordered", &["call", "greet", "--name", "Ada"]).success(), "hello, Ada\n");
    let diagnostics = run_program("ordered", &["list", "--diagnostics"]).success();
    assert!(
        diagnostics.contains("`core: third` in the `toolkit::link!` of `claims` has no effect"),
        "{diagnostics}"
    );
}

#[test]
fn refused_starts() {
    let silent = run_program("links_silent", &["list"]);
    assert_ne!(silent.code, Some(0));
    assert!(
        silent.stderr.contains("`silent` in `toolkit::link!` at tests/linking/src/bin/links_silent.rs:3"),
        "{}",
        silent.stderr
    );
    assert!(silent.stderr.contains("or it has no tools (then take it out of `link!`)"), "{}", silent.stderr);
    assert!(!silent.stderr.contains("`second` in"), "{}", silent.stderr);

    let renamed = run_program("links_renamed", &["list"]);
    assert!(renamed.stderr.contains("link!(renamed as its_own_name)"), "{}", renamed.stderr);

    let twice = run_program("twice", &["list"]);
    assert_ne!(twice.code, Some(0));
    for (name, lines) in [("same", [7, 11]), ("other", [15, 19])] {
        let line = twice.stderr.lines().find(|line| line.contains(&format!("`{name}`"))).unwrap_or_default();
        for number in lines {
            assert!(line.contains(&format!("src/bin/twice.rs:{number}")), "{name}: {}", twice.stderr);
        }
    }
}

#[test]
fn linked_through_another_crate() {
    greets("through_umbrella");
}

#[test]
fn linked_under_another_name() {
    assert_eq!(run_program("links_renamed_as", &["call", "own_name"]).success(), "original\n");
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
             toolkit = {{ package = \"agent-toolkit\", path = \"{}/toolkit\" }}\n{second}",
            repository().display()
        )
    };
    let check = |second: &str| {
        fs::write(user.join("Cargo.toml"), manifest(second)).unwrap();
        fs::copy(repository().join("Cargo.lock"), user.join("Cargo.lock")).unwrap();
        // Unlike `cargo metadata`, it reads no crates of other platforms, which nothing may have downloaded yet.
        run(cargo(&user).args(["tree", "--offline"]))
    };
    check("").success();
    let two = check("older = { path = \"../older/toolkit\", package = \"agent-toolkit\" }\n");
    assert_ne!(two.code, Some(0), "{}", two.stderr);
    assert!(two.stderr.contains("links to") && two.stderr.contains("agent-toolkit v0.0.9"), "{}", two.stderr);
}

/// A program around `main` learns where it can provide a service; one around `run` provides it.
#[test]
fn service_that_nobody_provides() {
    let refused = run_program("needs_service", &["list"]);
    assert_eq!(refused.code, Some(6), "{}", refused.stderr);
    for expected in [
        "the tool `count` (",
        "takes `State<needs_service::Database>`, which is not provided: call `.service(value)`",
        "write a `#[toolkit::service]` function that returns it",
        "help: `toolkit_cli::main()` provides no services: call `toolkit_cli::run(Toolkit::builder().service(value), \
         std::env::args_os())` in its place, or write a `#[toolkit::service]` function that returns the service",
    ] {
        assert!(refused.stderr.contains(expected), "{expected}: {}", refused.stderr);
    }
    assert_eq!(run_program("needs_service", &["--provided", "call", "count"]).success(), "0\n");
}
