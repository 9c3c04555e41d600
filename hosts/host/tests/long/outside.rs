//! The program of `docs/hosting.md`, outside this workspace, has models, MCP servers, an agent and clean-up.

use crate::bench::{Bench, TideServer, call, done, model};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};
use toolkit_tests::{forget_package, repository, run};

/// The text of the first block of a language after a heading.
fn block<'a>(page: &'a str, heading: &str, language: &str) -> &'a str {
    let (_, section) = page.split_once(heading).unwrap();
    let (_, block) = section.split_once(&format!("```{language}\n")).unwrap();
    block.split_once("\n```").unwrap().0
}

/// Writes the program of the guide, as a package that is no part of this workspace.
fn write(directory: &Path) {
    let page = fs::read_to_string(repository().join("docs/hosting.md")).unwrap();
    let heading = "### A host with all parts";
    let manifest = block(&page, heading, "toml").replace("../toolkit", repository().to_str().unwrap());
    let program = block(&page, heading, "rust,no_run");
    let (_, body) = program.split_once("fn main()").unwrap();
    let statements = body.lines().skip(1).filter(|line| !line.contains("Ok(())") && *line != "}");
    assert_eq!(statements.count(), 5, "{program}");
    for part in ["src", ".cargo"] {
        fs::create_dir_all(directory.join(part)).unwrap();
    }
    fs::write(directory.join("Cargo.toml"), format!("{manifest}\n\n[workspace]\n")).unwrap();
    fs::write(directory.join("src/main.rs"), program).unwrap();
    // Nothing is fetched, and what the program has in common with this workspace is not built again.
    fs::copy(repository().join("Cargo.lock"), directory.join("Cargo.lock")).unwrap();
    let manifest = fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    let (start, end) = (manifest.find("[profile.dev]").unwrap(), manifest.find("[profile.release]").unwrap());
    fs::write(directory.join(".cargo/config.toml"), &manifest[start..end]).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs minutes to build a program outside this workspace: cargo xtask long"]
async fn five_lines_are_a_host_with_all_parts() {
    let server = TideServer::start().await;
    let model = model([call("1", "tides__tide", &json!({"harbour": "Bergen"})), done("It is high.")]).await;
    let local = json!({"baseUrl": format!("{}/v1", model.url()), "model": "m"});
    let bench = Bench::new(&json!({
        "models": {"local": local}, "mcp": {"tides": server.settings()}, "permission": {"mcp": "allow"},
    }));
    let old = bench.path("data/tool-output/s").join(format!("{:016}.txt", 1));
    fs::create_dir_all(old.parent().unwrap()).unwrap();
    fs::write(&old, "old").unwrap();
    let week = SystemTime::now() - Duration::from_hours(8 * 24);
    fs::File::options().write(true).open(&old).unwrap().set_modified(week).unwrap();

    let program = tempfile::tempdir().unwrap();
    write(program.path());
    // Beside the products of this test.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--offline", "--quiet"]).current_dir(program.path());
    build.env("CARGO_TARGET_DIR", target).env_remove("RUSTFLAGS");
    let mut command = Command::new(target.join("debug/tides"));
    command
        .current_dir(bench.path("work"))
        .env("TOOLKIT_CONFIG_DIR", bench.path("user"))
        .env("TOOLKIT_DATA_DIR", bench.path("data"));
    let ran = tokio::task::spawn_blocking(move || {
        run(forget_package(&mut build)).success();
        run(&mut command)
    })
    .await
    .unwrap();
    assert_eq!(ran.success(), "It is high.\n");

    let asked = model.requests();
    assert!(asked[1].json().to_string().contains("Bergen: high"), "{:?}", asked[1].json());
    assert!(!old.exists(), "the old output is still there");
    assert!(fs::read_to_string(bench.path("data/history/calls.jsonl")).unwrap().contains("tides__tide"));
    assert_eq!(fs::read_dir(bench.path("data/agents")).unwrap().count(), 1);
}
