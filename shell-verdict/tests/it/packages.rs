//! Package managers that are only asked run unasked where no file of the workspace can make them run something.

use crate::common;

use common::Fixture;
use shell_verdict::{Decision, Programs};
use std::fs;

fn decision(fixture: &Fixture, command: &str) -> Decision {
    fixture.judge(command).decision
}

#[test]
fn a_file_that_names_a_program_or_a_toolchain_is_asked_about() {
    let asked = [
        (".cargo/config.toml", "[build]\nrustc = \"./x\"\n", "cargo tree --locked"),
        (".cargo/config.toml", "[build]\nrustc-wrapper = \"./x\"\n", "cargo metadata --no-deps"),
        (".cargo/config.toml", "build.rustc = \"./x\"\n", "cargo tree --locked"),
        (
            ".cargo/config.toml",
            "[alias]\nx = \"\"\"\n[build]\nrustc = \"./x\"\n\"\"\"\n",
            "cargo tree --locked",
        ),
        (".cargo/config.toml", "[alias]\nx = [\n\"a\"\n]\n", "cargo tree --locked"),
        (".cargo/config.toml", "[\"build\"]\nrustc = \"./x\"\n", "cargo tree --locked"),
        (".cargo/config.toml", "[env]\nRUSTC = \"./x\"\n", "cargo tree --locked"),
        (".cargo/config.toml", "[target.x]\nrunner = \"./x\"\n", "cargo tree --locked"),
        (".cargo/config.toml", "include = \"x.toml\"\n", "cargo tree --locked"),
        (".cargo/config", "[build]\nrustc = \"./x\"\n", "cargo tree --locked"),
        ("rust-toolchain", "nightly\n", "cargo tree --locked"),
        ("rust-toolchain.toml", "[toolchain]\npath = \"./x\"\n", "cargo metadata --no-deps"),
        ("rust-toolchain.toml", "[toolchain]\npath = \"./x\"\n", "rustup show"),
        (".npmrc", "cache = ./x\n", "npm ls"),
    ];
    for (name, text, command) in asked {
        let fixture = Fixture::new();
        assert_eq!(decision(&fixture, command), Decision::Allow, "{command}");
        let path = fixture.workspace.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        assert_eq!(decision(&fixture, command), Decision::Ask, "{command}: {text:?}");
        // It counts in the directories below, too.
        assert_eq!(decision(&fixture, &format!("cd src && {command}")), Decision::Ask, "{command}: {text:?}");
    }
    for text in [
        "[alias]\nxtask = \"run --package xtask --\"\n",
        "# x\n[build]\ntarget-dir = \"target\"\njobs = 2\n",
        "",
    ] {
        let fixture = Fixture::new();
        fs::create_dir_all(fixture.workspace.join(".cargo")).unwrap();
        fs::write(fixture.workspace.join(".cargo/config.toml"), text).unwrap();
        assert_eq!(decision(&fixture, "cargo tree --locked"), Decision::Allow, "{text:?}");
    }
}

#[test]
fn what_the_environment_says_counts() {
    for (name, value, command) in [
        ("RUSTC", "./x", "cargo tree --locked"),
        ("CARGO_BUILD_RUSTC", "./x", "cargo metadata --no-deps"),
        ("RUSTUP_TOOLCHAIN", "./x", "rustup show"),
        ("NPM_CONFIG_CACHE", "./x", "npm ls"),
        ("npm_config_prefix", "./x", "npm ls"),
        ("NODE_OPTIONS", "--require ./x", "npm ls"),
        ("PIP_PYTHON", "./x", "pip list"),
        ("PYTHONPATH", ".", "pip list"),
        ("GOFLAGS", "-toolexec=./x", "go list ./..."),
        ("GH_PATH", "./x", "gh --version"),
        ("MANOPT", "-P ./x", "man ls"),
        ("JAVA_TOOL_OPTIONS", "-javaagent:x.jar", "java -version"),
        ("JDK_JAVA_OPTIONS", "-javaagent:x.jar", "java -version"),
    ] {
        let mut fixture = Fixture::new();
        assert_eq!(decision(&fixture, command), Decision::Allow, "{command}");
        assert!(
            decision(&fixture, &format!("{name}='{value}' {command}")) >= Decision::Ask,
            "{name} {command}"
        );
        fixture.env.insert(name.to_owned(), value.to_owned());
        assert_eq!(decision(&fixture, command), Decision::Ask, "{name} {command}");
    }
    // These look for programs in `PATH`, and for their configuration in the home directory.
    for command in ["cargo tree --locked", "npm ls", "pip list", "go list ./...", "man ls", "gh --version"] {
        let mut fixture = Fixture::new();
        let bin = fixture.workspace.join("bin");
        fixture.programs = Programs::new(["/usr/bin".into(), bin]);
        assert_eq!(decision(&fixture, command), Decision::Ask, "{command}");
        let mut fixture = Fixture::new();
        fixture.env.insert("HOME".to_owned(), fixture.workspace.to_str().unwrap().to_owned());
        assert_eq!(decision(&fixture, command), Decision::Ask, "{command}");
    }
}

#[test]
fn what_keeps_them_from_writing_and_fetching_goes_with_them() {
    let fixture = Fixture::new();
    for (command, name, value) in [
        ("cargo tree --locked", "CARGO_NET_OFFLINE", "true"),
        ("cargo tree --locked", "RUSTC_WRAPPER", ""),
        ("npm ls", "npm_config_update_notifier", "false"),
        ("npm ls", "npm_config_logs_dir", "/dev/null"),
        ("pip list", "PIP_DISABLE_PIP_VERSION_CHECK", "1"),
        ("go list ./...", "GOPROXY", "off"),
        ("go list ./...", "GOFLAGS", "-buildvcs=false"),
        ("man ls", "MANWIDTH", "100"),
    ] {
        let env = fixture.judge(command).env;
        assert!(env.contains(&(name.to_owned(), value.to_owned())), "{command}: {env:?}");
        // Without them it is not what was judged.
        assert_eq!(decision(&fixture, &format!("env -i {command}")), Decision::Ask, "{command}");
    }
}
