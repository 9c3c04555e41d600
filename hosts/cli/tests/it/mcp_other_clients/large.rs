//! Large results: they arrive whole, or a resource that the result links to has them, at clients in several languages.

use super::person::{Person, client, tools};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;
use std::sync::Mutex;
use toolkit_tests::run;

/// A result of a tool, as large as a file, whose name is its size and this extension.
const KINDS: &[(&str, &str)] = &[
    ("exec", "txt"),
    ("read", "png"),
    ("large__text", "txt"),
    ("large__document", "txt"),
    ("large__data", "zip"),
    ("large__picture", "png"),
    ("large__structured", "json"),
    ("large__summarised", "json"),
    ("resource_read", "txt"),
    ("resource_read", "zip"),
];

/// A client of a library: the program, the script, the library, and its mode of the protocol's version.
pub(super) type Client = [&'static str; 4];

pub(super) const CLIENTS: &[Client] = &[
    ["python", "large_client.py", "mcp", "legacy"],
    ["python", "large_client.py", "mcp", "auto"],
    ["python", "large_client.py", "fastmcp", "legacy"],
    ["python", "large_client.py", "fastmcp", "auto"],
    ["node", "large_client.mjs", "v1", "legacy"],
    ["node", "large_client.mjs", "v2", "legacy"],
    ["node", "large_client.mjs", "v2", "auto"],
];

/// Returns the calls for files of a size. Each is the tool, its arguments and the file.
pub(crate) fn rows(size: u64) -> Vec<Value> {
    let row = |&(tool, extension): &(&str, &str)| {
        let file = format!("{size}.{extension}");
        let arguments = match (tool, extension) {
            ("exec", _) => json!({"command": format!("cat {file}")}),
            ("read", _) => json!({"file_path": file}),
            ("resource_read", "txt") => json!({"server": "large", "uri": format!("large://text/{file}")}),
            ("resource_read", _) => json!({"server": "large", "uri": format!("large://data/{file}")}),
            _ => json!({"file": file}),
        };
        json!([tool, arguments, file])
    };
    KINDS.iter().map(row).collect()
}

/// A person with files of these sizes, and a server that makes results of them.
pub(crate) fn with_files(sizes: &[u64]) -> Person {
    let person = Person::new();
    let mut command = Command::new(tools().join("python/bin/python"));
    command.arg(client("large_files.py")).arg(person.path("work")).args(sizes.iter().map(u64::to_string));
    run(&mut command).success();
    fs::write(person.path("user/toolkit.json5"), settings(&person).to_string()).unwrap();
    person
}

/// A configuration with the server.
pub(crate) fn settings(person: &Person) -> Value {
    let python = tools().join("python/bin/python");
    let server = json!({"command": python, "args": [client("large_server.py"), person.path("work")]});
    json!({"mcp": {"large": server}, "permission": {"mcp": "allow", "exec": "allow"}})
}

/// Has each client get results of these sizes, over HTTP or standard streams.
pub(super) fn arrive(clients: &[(Client, bool)], sizes: &[u64]) {
    let person = with_files(sizes);
    let (_served, address) = person.serve();
    let rows: Vec<Value> = sizes.iter().flat_map(|size| rows(*size)).collect();
    let (clients, wrong) = (Mutex::new(clients.iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let next = clients.lock().unwrap().next();
                    let Some(&([program, script, library, mode], is_http)) = next else { return };
                    let mut command = Command::new(tools().join("python/bin").join(program));
                    command.arg(client(script)).args([library, mode, &json!(rows).to_string()]);
                    command.args(if is_http { address.clone() } else { person.command() });
                    command.env("NODE_PATH", tools().join("node_modules"));
                    let ran = run(person.settled(&mut command));
                    let who =
                        format!("{program} {library} {mode}, {}", if is_http { "HTTP" } else { "streams" });
                    let lines: Vec<&str> = ran.stdout.lines().collect();
                    assert_eq!((ran.code, lines.len()), (Some(0), rows.len()), "{who}: {ran:?}");
                    let is_right = |line: &&&str| line.ends_with(": whole") || line.ends_with(": linked");
                    let others = lines.iter().filter(|line| !is_right(line));
                    wrong.lock().unwrap().extend(others.map(|line| format!("{who}: {line}")));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
