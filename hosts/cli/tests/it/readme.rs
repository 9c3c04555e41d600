//! The commands of the README and of `docs/tour.md` print the output that these pages show.

#![cfg(all(unix, feature = "fs"))]

use std::fs;
use std::process::Command;
use toolkit_tests::{repository, run};

/// The first command, without cargo in front: that it builds is what `cargo xtask ci` finds out by typing it.
#[test]
fn its_first_command_reads_it() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let (_, block) = readme.split_once("```sh\n").unwrap();
    let (command, _) = block.split_once("\n```").unwrap();
    let (cargo, arguments) = command.split_once(" -- ").unwrap();
    assert!(cargo.starts_with("cargo run") && cargo.ends_with("--bin toolkit"), "{command}");
    let command = format!("exec '{}' {arguments}", env!("CARGO_BIN_EXE_toolkit"));
    let output = run(Command::new("sh").args(["-c", &command]).current_dir(repository())).success();
    let numbered = readme.lines().take(5).enumerate();
    let expected: Vec<String> = numbered.map(|(number, line)| format!("{:>6}→{line}", number + 1)).collect();
    let expected = expected.join("\n");
    assert!(output.starts_with(&expected), "{output}");
    assert!(output.contains("continue with offset 6"), "{output}");
}

/// The size of the installed command depends on these keys; how large it is takes a build of ten minutes to know.
#[test]
fn its_install_command_builds_a_small_program() {
    let manifest = fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    let (_, profile) = manifest.split_once("[profile.release]\n").unwrap();
    let (profile, _) = profile.split_once("\n[").unwrap();
    for key in ["lto = \"fat\"", "codegen-units = 1", "opt-level = \"s\"", "strip = true"] {
        assert!(profile.lines().any(|line| line == key), "{key} in {profile}");
    }
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    assert!(readme.contains("\ncargo install --locked --path hosts/cli\n"));
}

#[test]
fn its_error_text_is_what_the_command_prints() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let (_, block) = readme.split_once("```text\n").unwrap();
    let (expected, _) = block.split_once("\n```").unwrap();
    let ran = run(Command::new(env!("CARGO_BIN_EXE_toolkit"))
        .args(["call", "--args", r#"{"file_path": 5, "offset": 0, "limt": 5}"#, "read"])
        .current_dir(repository()));
    assert_ne!(ran.code, Some(0));
    for line in expected.lines() {
        assert!(ran.stderr.contains(line), "{line}\nis not in\n{}", ran.stderr);
    }
}

/// The commands of the page's `console` blocks, each with the output that the page shows, in the order of the page.
fn tour(page: &str) -> Vec<(String, String)> {
    let blocks = page.split("```console\n").skip(1).filter_map(|rest| Some(rest.split_once("\n```")?.0));
    let mut steps: Vec<(String, String)> = Vec::new();
    for line in blocks.flat_map(str::lines) {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push((command.to_owned(), String::new())),
            (None, Some((_, printed))) => {
                printed.push_str(line);
                printed.push('\n');
            }
            (None, None) => panic!("`{line}` comes before any command"),
        }
    }
    steps
}

#[test]
fn the_tour_is_what_the_command_prints() {
    let page = fs::read_to_string(repository().join("docs/tour.md")).unwrap();
    let steps = tour(&page);
    assert!(steps.len() >= 10, "{steps:#?}");
    for tool in ["read", "write", "edit", "apply_patch", "glob", "grep", "skill"] {
        let is_called = |(command, _): &(String, String)| command.contains("call") && command.contains(tool);
        assert!(steps.iter().any(is_called), "`{tool}` is not in the tour");
    }
    let (workspace, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let programs = user.path().join("bin");
    fs::create_dir(&programs).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_toolkit"), programs.join("toolkit")).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&path))).unwrap();
    for (command, expected) in &steps {
        let ran = run(Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{command}")])
            .env("PATH", &path)
            .current_dir(&workspace)
            .env("TOOLKIT_CONFIG_DIR", user.path())
            .env("TOOLKIT_DATA_DIR", user.path().join("data")));
        assert_eq!(ran.stdout.trim_end(), expected.trim_end(), "$ {command}");
    }
}
