//! The commands of `docs/plugins.md` work, and print what stands there.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use toolkit_tests::{Ran, forget_package, repository, run};

/// Commands of the guide, each with what it prints; a line `…` stands for any rest.
fn steps(guide: &str) -> Vec<(String, Vec<String>)> {
    let blocks = guide.split("```console\n").skip(1).filter_map(|rest| Some(rest.split_once("\n```")?.0));
    let mut steps: Vec<(String, Vec<String>)> = Vec::new();
    for line in blocks.flat_map(str::lines) {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push((command.to_owned(), Vec::new())),
            (None, Some((_, printed))) => printed.push(line.to_owned()),
            (None, None) => panic!("`{line}` comes before any command"),
        }
    }
    steps
}

/// Returns true if a command printed what the guide says.
fn is_as_said(expected: &[String], printed: &str) -> bool {
    let printed: Vec<&str> = printed.lines().collect();
    match expected.split_last() {
        Some((rest, before)) if rest == "…" => {
            printed.starts_with(&before.iter().map(String::as_str).collect::<Vec<_>>())
        }
        _ => printed == expected,
    }
}

/// A reader's machine: a directory to work in, an own configuration, and the commands of the guide on the path.
struct Reader {
    home: tempfile::TempDir,
    built: PathBuf,
    path: std::ffi::OsString,
}

impl Reader {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let toolkit = Path::new(env!("CARGO_BIN_EXE_toolkit"));
        // That of this test: what it has in common with the crates of the guide is not built again.
        let built = toolkit.ancestors().nth(2).unwrap().to_owned();
        let programs = home.path().join("bin");
        for directory in [&programs, &home.path().join("work/.cargo")] {
            fs::create_dir_all(directory).unwrap();
        }
        symlink(toolkit, programs.join("toolkit")).unwrap();
        symlink(built.join("debug/desk"), programs.join("desk")).unwrap();
        // The profile of this workspace, without which nothing would be in common.
        let manifest = fs::read_to_string(repository().join("Cargo.toml")).unwrap();
        let (start, end) =
            (manifest.find("[profile.dev]").unwrap(), manifest.find("[profile.release]").unwrap());
        fs::write(home.path().join("work/.cargo/config.toml"), &manifest[start..end]).unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&path))).unwrap();
        Self { home, built, path }
    }

    fn work(&self) -> PathBuf {
        self.home.path().join("work")
    }

    fn types(&self, command: &str) -> Ran {
        run(forget_package(&mut Command::new("sh"))
            .args(["-c", command])
            .current_dir(self.work())
            .env("PATH", &self.path)
            .env("TOOLKIT", repository())
            .env("TOOLKIT_CONFIG_DIR", self.home.path().join("config"))
            .env("TOOLKIT_DATA_DIR", self.home.path().join("data"))
            .env("CARGO_TARGET_DIR", &self.built)
            .env("CARGO_NET_OFFLINE", "true")
            .env_remove("RUSTFLAGS"))
    }

    /// Has new crates use what is downloaded already.
    fn lock(&self) {
        for entry in fs::read_dir(self.work()).unwrap() {
            let lock = entry.unwrap().path().join("Cargo.lock");
            if !lock.exists() {
                fs::copy(repository().join("Cargo.lock"), lock).unwrap();
            }
        }
    }
}

#[test]
#[ignore = "needs minutes to build a plugin and a host outside this workspace: cargo xtask long"]
fn every_command_prints_what_stands_there() {
    let guide = fs::read_to_string(repository().join("docs/plugins.md")).unwrap();
    let steps = steps(&guide);
    assert!(steps.len() >= 20, "{steps:#?}");
    let reader = Reader::new();
    for (command, expected) in &steps {
        let ran = reader.types(command);
        assert!(
            is_as_said(expected, &ran.stdout),
            "$ {command}\n{}\n{}\nand not\n{expected:#?}",
            ran.stdout,
            ran.stderr
        );
        reader.lock();
    }
}

/// Names of other forms build as well as the guide's, with nothing to be put right by `cargo fmt` and clippy.
#[test]
#[ignore = "needs minutes to build plugins outside this workspace: cargo xtask long"]
fn names_of_any_form_make_clean_crates() {
    let reader = Reader::new();
    let longest = format!("x{}", "-abc4".repeat(9));
    for name in ["a", "with-dash_and_2", &longest] {
        assert!(name.len() <= 50);
        for what in ["plugin", "host"] {
            let crate_name = if what == "plugin" { name.to_owned() } else { format!("h{}", &name[1..]) };
            reader.types(&format!("toolkit new {what} {crate_name} --path \"$TOOLKIT\"")).success();
            reader.lock();
            let check = "cargo fmt --check && cargo clippy --quiet --all-targets -- -D warnings";
            reader.types(&format!("cd {crate_name} && {check}")).success();
        }
        let manifest = reader.work().join(name).join("Cargo.toml");
        assert!(Path::new(&manifest).exists());
    }
}
