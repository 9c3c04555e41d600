//! Where the home is in the workspace, the files of programs in it are anybody's; and so is what a file of the workspace chooses.

use crate::common;

use common::Fixture;
use shell_verdict::Decision;
use std::fs;

#[test]
fn what_runs_as_the_home_says_is_asked_about() {
    let mut fixture = Fixture::new();
    let commands = ["tput init", "tput -S", "curl --version"];
    for command in commands {
        assert_eq!(fixture.judge(command).decision, Decision::Allow, "{command}");
    }
    let home = fixture.workspace.join("home");
    fs::create_dir_all(&home).unwrap();
    fixture.env.insert("HOME".to_owned(), home.to_str().unwrap().to_owned());
    for command in commands {
        assert_eq!(fixture.judge(command).decision, Decision::Ask, "{command}");
    }
}

#[test]
fn what_says_which_toolchain_starts_is_asked_about() {
    let fixture = Fixture::new();
    let commands = ["rustup --version", "cargo --version", "rustc --version", "rustfmt --version"];
    for command in commands {
        assert_eq!(fixture.judge(command).decision, Decision::Allow, "{command}");
    }
    let file = fixture.workspace.join("rust-toolchain.toml");
    fs::write(file, "[toolchain]\npath = \"evil\"\n").unwrap();
    for command in commands {
        assert_eq!(fixture.judge(command).decision, Decision::Ask, "{command}");
    }
}
