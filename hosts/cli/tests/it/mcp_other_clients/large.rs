//! Large results: they arrive whole, or a resource that the result links to has them, at clients in several languages.

use super::person::{Person, Served, client, tools, until};
use serde_json::{Value, json};
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
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

/// Pictures of this size, three of which are more than 10 MiB as Base64: some clients read no message of that size over standard streams.
const PICTURE: u64 = 2_790_000;

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

/// Files of these sizes, and a server that makes results of them. It is at an address, so that no call waits for its start.
pub(crate) struct Files {
    pub(crate) person: Person,
    port: u16,
    _server: Served,
}

impl Files {
    pub(crate) fn new(sizes: &[u64]) -> Self {
        let (person, python) = (Person::new(), tools().join("python/bin/python"));
        let mut command = Command::new(&python);
        command.arg(client("large_files.py")).arg(person.path("work")).args(sizes.iter().map(u64::to_string));
        run(&mut command).success();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(python);
        command.arg(client("large_server.py")).arg(person.path("work")).arg(port.to_string());
        let server = Served(command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        until("the server's start", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        let files = Self { person, port, _server: server };
        fs::write(files.person.path("user/toolkit.json5"), files.settings().to_string()).unwrap();
        files
    }

    /// A configuration with the server.
    pub(crate) fn settings(&self) -> Value {
        let server = json!({"url": format!("http://127.0.0.1:{}/mcp", self.port)});
        json!({"mcp": {"large": server}, "permission": {"mcp": "allow", "exec": "allow"}})
    }
}

/// Has each client get results of these sizes, over HTTP or standard streams.
pub(super) fn arrive(clients: &[(Client, bool)], sizes: &[u64]) {
    let files = Files::new(&[sizes, &[PICTURE]].concat());
    let person = &files.person;
    let (_served, address) = person.serve();
    let mut rows: Vec<Value> = sizes.iter().flat_map(|size| rows(*size)).collect();
    let picture = format!("{PICTURE}.png");
    rows.push(json!(["large__pictures", {"file": picture, "count": 3}, picture]));
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
