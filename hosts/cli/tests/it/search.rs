//! `glob`, `grep` and `skill` by the command, on this very repository and on workspaces of their own.

#![cfg(feature = "fs")]

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// The command, with a configuration of its own.
fn toolkit(directory: &Path, config: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_toolkit"))
        .args(args)
        .current_dir(directory)
        .env("TOOLKIT_CONFIG_DIR", config)
        .env("TOOLKIT_DATA_DIR", config.join("data"))
        .output()
        .expect("it starts")
}

#[track_caller]
fn ok(directory: &Path, config: &Path, args: &[&str]) -> String {
    let output = toolkit(directory, config, args);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn grep_searches_the_repository() {
    let (here, config) = (repository(), tempfile::tempdir().unwrap());
    let ok = |args: &[&str]| ok(&here, config.path(), args);
    // In two parts, so that this file is none of those that hold it.
    let needle = concat!("Grep searches ", "itself by the command");
    let manifest = "name = \"toolkit-cli\"";
    let text = ok(&["call", "grep", "--pattern", manifest, "--glob", "Cargo.toml"]);
    assert_eq!(text, format!("hosts/cli/Cargo.toml:2:{manifest}\n"));
    let text = ok(&["call", "grep", "--pattern", needle, "--path", "hosts/cli", "--literal"]);
    assert!(text.starts_with("(no matches; "), "{text}");
    let text = ok(&[
        "call",
        "-o",
        "json",
        "grep",
        "--pattern",
        "fn grep",
        "--type",
        "rust",
        "--output-mode",
        "files",
    ]);
    let result: Value = serde_json::from_str(&text).unwrap();
    let files = result["details"]["results"].as_array().unwrap();
    assert!(files.iter().any(|file| file["path"] == "builtin-tools/src/fs/grep.rs"), "{text}");
    // Build products are ignored here.
    assert!(files.iter().all(|file| !file["path"].as_str().unwrap().starts_with("target/")), "{text}");
    let output = toolkit(&here, config.path(), &["call", "grep", "--pattern", "fn ("]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
}

#[test]
fn glob_finds_files_of_the_repository() {
    let (here, config) = (repository(), tempfile::tempdir().unwrap());
    let text = ok(&here, config.path(), &["call", "glob", "--pattern", "/hosts/*/Cargo.toml"]);
    let mut found: Vec<&str> = text.lines().collect();
    found.sort_unstable();
    let entries = fs::read_dir(here.join("hosts")).unwrap().map(|entry| entry.unwrap().file_name());
    let manifests = entries.map(|host| format!("hosts/{}/Cargo.toml", host.to_str().unwrap()));
    let mut manifests: Vec<String> = manifests.filter(|path| here.join(path).exists()).collect();
    manifests.sort_unstable();
    assert!(manifests.contains(&"hosts/cli/Cargo.toml".to_owned()), "{manifests:?}");
    assert_eq!(found, manifests);
    let text = ok(&here, config.path(), &["call", "-o", "json", "glob", "--pattern", "*.rs", "--limit", "3"]);
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(result["details"]["files"].as_array().unwrap().len(), 3, "{text}");
    assert_eq!(result["details"]["truncated"], true, "{text}");
    assert!(result["metadata"]["count"].as_u64().unwrap() > 100, "{text}");
}

#[test]
fn a_skill_of_the_workspace_is_there_once_it_is_trusted() {
    let (workspace, config) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let skill = workspace.path().join("skills/greet");
    fs::create_dir_all(&skill).unwrap();
    fs::write(skill.join("SKILL.md"), "---\nname: greet\ndescription: How to greet\n---\nSay hello.\n")
        .unwrap();
    fs::write(workspace.path().join("toolkit.json5"), "{}").unwrap();
    let call = ["call", "skill", "--skill", "greet"];
    let before = toolkit(workspace.path(), config.path(), &call);
    assert_ne!(before.status.code(), Some(0), "{before:?}");
    ok(workspace.path(), config.path(), &["trust", "--yes"]);
    let text = ok(workspace.path(), config.path(), &call);
    assert!(text.contains("Base directory, which paths in the skill belong to: skills/greet\n"), "{text}");
    assert!(text.ends_with("\nSay hello.\n"), "{text}");
}
