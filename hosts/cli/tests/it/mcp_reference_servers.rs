//! The reference servers of the Model Context Protocol, through the command.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use toolkit_tests::{Ran, repository, run};

/// A person who has configured the reference servers.
struct Person {
    directory: TempDir,
}

impl Person {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["work", "user", "data"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        fs::write(directory.path().join("work/notes.txt"), "one\ntwo\n").unwrap();
        let person = Self { directory };
        let work = person.directory.path().join("work").display().to_string();
        let node = repository().join("target/tools/python/bin/node").display().to_string();
        for (name, script, more) in [
            ("everything", "server-everything/dist/index.js", &[][..]),
            ("filesystem", "server-filesystem/dist/index.js", &[work.as_str()]),
            ("memory", "server-memory/dist/index.js", &[]),
        ] {
            let packages = repository().join("target/tools/node_modules/@modelcontextprotocol");
            let script = packages.join(script).display().to_string();
            let memory = format!("MEMORY_FILE_PATH={work}/memory.jsonl");
            let args = [&["mcp", "add", name, "--env", &memory, "--", &node, &script], more].concat();
            run(&mut person.toolkit(&args)).success();
        }
        person
    }

    fn toolkit(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolkit"));
        let path = |name: &str| -> PathBuf { self.directory.path().join(name) };
        command.args(args).current_dir(path("work")).stdin(Stdio::null());
        command.env("TOOLKIT_CONFIG_DIR", path("user")).env("TOOLKIT_DATA_DIR", path("data"));
        command
    }

    fn call(&self, tool: &str, arguments: &Value) -> Ran {
        let arguments = arguments.to_string();
        let permission = "permission.mcp=allow";
        run(&mut self.toolkit(&["--set", permission, "call", "--args", &arguments, tool]))
    }
}

#[test]
#[ignore = "needs the reference servers of MCP: cargo xtask test"]
fn tools_of_the_reference_servers_are_called_by_the_command() {
    let person = Person::new();
    let tested = run(&mut person.toolkit(&["mcp", "test"])).success();
    for name in ["everything", "filesystem", "memory"] {
        assert!(tested.lines().any(|line| line.starts_with(name) && line.contains(" tools (")), "{tested}");
    }
    let notes = person.directory.path().join("work/notes.txt");
    for (tool, arguments, expected) in [
        ("everything__echo", json!({"message": "hello"}), "Echo: hello"),
        ("everything__get_sum", json!({"a": 2, "b": 3}), "5"),
        ("everything__get_tiny_image", json!({}), "image/png"),
        ("everything__get_structured_content", json!({"location": "Chicago"}), "temperature"),
        ("filesystem__read_text_file", json!({"path": notes}), "two"),
        (
            "memory__create_entities",
            json!({"entities": [{"name": "a", "entityType": "b", "observations": ["c"]}]}),
            "\"c\"",
        ),
        ("memory__read_graph", json!({}), "\"a\""),
    ] {
        let said = person.call(tool, &arguments).success();
        assert!(said.contains(expected), "{tool}: {said}");
    }
    let denied = run(&mut person.toolkit(&["call", "everything__echo", "--message", "hello"]));
    assert_eq!(denied.code, Some(5), "{denied:#?}");
}

#[test]
#[ignore = "needs the reference servers of MCP: cargo xtask test"]
fn a_server_killed_in_a_call_is_told_and_the_next_call_works() {
    let person = Person::new();
    let expected = "the connection to the MCP server `everything` ended during the call";
    let mut told = Vec::new();
    // Node is started by a script, and takes a moment to answer: on a busy machine, a longer one.
    let is_told = [3, 10, 30].into_iter().any(|seconds| {
        let (code, said) = killed_after(&person, Duration::from_secs(seconds));
        let is_told = code == Some(1) && said.contains(expected);
        told.push((code, said));
        is_told
    });
    assert!(is_told, "{told:?}");
    person.call("everything__echo", &json!({"message": "hello"})).success();
}

/// Kills the server some time after a long call began to start it. Returns the exit code of the call, and what it said.
fn killed_after(person: &Person, time: Duration) -> (Option<i32>, String) {
    let arguments = json!({"duration": 600, "steps": 600}).to_string();
    let tool = "everything__trigger_long_running_operation";
    let mut command = person.toolkit(&["--set", "permission.mcp=allow", "call", "--args", &arguments, tool]);
    let calling = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while server_below(calling.id()).is_empty() {
        assert!(begun.elapsed() < Duration::from_mins(1), "it does not start");
        std::thread::sleep(Duration::from_millis(200));
    }
    std::thread::sleep(time);
    run(Command::new("kill").arg("-KILL").args(server_below(calling.id()))).success();
    let output = calling.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The processes of the server, wherever they stand below a process.
fn server_below(ancestor: u32) -> Vec<String> {
    let parent = |pid: &str| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1).map(str::to_owned)
    };
    let is_below = |pid: &str| {
        let mut at = Some(pid.to_owned());
        while let Some(pid) = at {
            if pid == ancestor.to_string() {
                return true;
            }
            at = parent(&pid).filter(|pid| pid != "0");
        }
        false
    };
    let entries = fs::read_dir("/proc").unwrap();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    pids.filter(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let is_server = String::from_utf8_lossy(&line).contains("server-everything");
        is_server && is_below(pid)
    })
    .collect()
}
