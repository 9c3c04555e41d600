//! The README's first command does what it says.

use std::fs;
use std::process::Command;
use toolkit_tests::{repository, run};

#[test]
fn its_first_command_reads_it() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let (_, block) = readme.split_once("```sh\n").unwrap();
    let (command, _) = block.split_once("\n```").unwrap();
    assert!(command.starts_with("cargo run"), "{command}");
    let output = run(Command::new("sh").args(["-c", command]).current_dir(repository())).success();
    let numbered = readme.lines().take(5).enumerate();
    let expected: Vec<String> = numbered.map(|(number, line)| format!("{:>6}→{line}", number + 1)).collect();
    let expected = expected.join("\n");
    assert!(output.starts_with(&expected), "{output}");
    assert!(output.contains("continue with offset 6"), "{output}");
}

#[test]
fn its_error_text_is_what_the_command_prints() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let (_, block) = readme.split_once("```text\n").unwrap();
    let (expected, _) = block.split_once("\n```").unwrap();
    let ran = run(Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--bin", "toolkit", "--", "call", "--args"])
        .args([r#"{"file_path": 5, "offset": 0, "limt": 5}"#, "read"])
        .current_dir(repository()));
    assert_ne!(ran.code, Some(0));
    for line in expected.lines() {
        assert!(ran.stderr.contains(line), "{line}\nis not in\n{}", ran.stderr);
    }
}
