//! `toolkit mcp add`, `list`, `test`, `remove` and `install`, and calls of servers' tools.

#![cfg(all(target_os = "linux", feature = "mcp"))]

use crate::fixture::person::Person;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with};
use serde_json::{Value, json};
use std::fs;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::unix::fs::PermissionsExt as _;

/// This very command as a server: what it serves are its own tools.
const ITSELF: [&str; 4] = ["--", env!("CARGO_BIN_EXE_toolkit"), "mcp", "serve"];

#[test]
fn a_server_is_added_tried_called_and_removed() {
    let person = Person::new();
    fs::write(person.path("work/notes.txt"), "one\ntwo\n").unwrap();
    let added = person
        .fine(&[&["mcp", "add", "own", "--env", "HOME", "--timeout-ms", "90000"], &ITSELF[..]].concat())
        .out;
    assert!(added.starts_with("Added `own` in ") && added.ends_with("user/toolkit.json5\n"), "{added}");
    assert_eq!(fs::metadata(person.path("user/toolkit.json5")).unwrap().permissions().mode() & 0o777, 0o600);
    let listed: Value = serde_json::from_str(&person.fine(&["mcp", "list", "-o", "json"]).out).unwrap();
    assert_eq!(listed[0]["name"], "own");
    assert_eq!(listed[0]["settings"]["timeoutMs"], 90_000);
    assert!(!listed.to_string().contains(&person.path("home").display().to_string()), "{listed}");
    assert!(person.fine(&["mcp", "list"]).out.contains("mcp serve  ("), "one a line");

    // The server that it serves in turn is itself again, and not for ever.
    fs::rename(person.path("user/toolkit.json5"), person.path("own.json5")).unwrap();
    let own = person.path("own.json5").display().to_string();
    let with = |args: &[&str]| person.run(&[&["--config", &own], args].concat());
    let tested = with(&["mcp", "test"]);
    assert!(tested.code == 0 && tested.out.starts_with("own: "), "{}{}", tested.out, tested.err);
    assert!(tested.out.contains("tools (toolkit "), "{}", tested.out);
    let read = with(&["--set", "permission.mcp=allow", "call", "own__read", "--file-path", "notes.txt"]);
    assert!(read.code == 0 && read.out.contains("two"), "{}{}", read.out, read.err);
    let asked = with(&["call", "own__read", "--file-path", "notes.txt"]);
    assert_eq!(asked.code, 5, "what it says of itself allows nothing: {}", asked.err);
    let denied =
        with(&["--set", "tools.deny=[\"mcp:own\"]", "call", "own__read", "--file-path", "notes.txt"]);
    assert_eq!(denied.code, 5, "{}", denied.err);
    // A list waits for 5 seconds, which may be too few on a busy machine.
    let is_listed = || with(&["list"]).out.lines().any(|line| line.starts_with("own__read"));
    assert!((0..6).any(|_| is_listed()), "it is listed");
    fs::rename(person.path("own.json5"), person.path("user/toolkit.json5")).unwrap();

    assert!(person.fails(&["mcp", "remove", "other"]).contains("has no server `other`"));
    person.fine(&["mcp", "remove", "own"]);
    assert!(!person.file().contains("own"), "{}", person.file());
    assert!(person.run(&["mcp", "list"]).err.contains("No server is configured"));
}

#[test]
fn a_tool_that_a_server_does_not_bring_is_told_of_with_the_reason() {
    let person = Person::new();
    let settings = json!({"mcp": {
        "down": {"command": "/no/such/program"},
        "own": {"command": env!("CARGO_BIN_EXE_toolkit"), "args": ["mcp", "serve"], "env": {"HOME": "${env:HOME}"}},
        "off": {"command": "x", "enabled": false},
    }});
    fs::write(person.path("user/toolkit.json5"), settings.to_string()).unwrap();
    for (name, reason) in [
        ("down__echo", "the MCP server `down` cannot be reached: "),
        ("own__reed", "the MCP server `own` offers no tool of this name"),
        ("off__echo", "the MCP server `off` is switched off in the configuration"),
    ] {
        for args in [&["call", name][..], &["describe", name], &["schema", name]] {
            let ran = person.run(args);
            assert_eq!(ran.code, 3, "{args:?}: {}{}", ran.out, ran.err);
            assert!(ran.err.contains(reason) && !ran.err.contains("link!"), "{args:?}: {}", ran.err);
        }
        let explained = person.run(&["explain", "tool", name]);
        assert_eq!(explained.code, 3, "{}{}", explained.out, explained.err);
        assert!(explained.out.starts_with(&format!("{name} is not there: {reason}")), "{}", explained.out);
    }
    // Of a name that nothing knows, it is said what may be missing.
    let unknown = person.fails(&["describe", "reed"]);
    assert!(unknown.contains("did you mean `read`?") && unknown.contains("link!"), "{unknown}");
}

#[test]
fn a_call_waits_for_a_server_that_is_slow_to_start() {
    let person = Person::new();
    // More than the seconds that a list of tools waits.
    let slow = "sleep 6; exec \"$0\" mcp serve";
    let settings = json!({
        "mcp": {"own": {"command": "sh", "args": ["-c", slow, env!("CARGO_BIN_EXE_toolkit")], "env": {"HOME": "${env:HOME}"}}},
        "permission": {"mcp": "allow"},
    });
    fs::write(person.path("user/toolkit.json5"), settings.to_string()).unwrap();
    fs::write(person.path("work/notes.txt"), "one\ntwo\n").unwrap();
    let read = person.run(&["call", "own__read", "--file-path", "notes.txt"]);
    assert!(read.code == 0 && read.out.contains("two"), "{}{}", read.out, read.err);
    assert!(read.err.contains("waiting for the MCP server `own`"), "{}", read.err);
}

#[test]
fn what_is_written_by_hand_stays() {
    let person = Person::new();
    let before = "// Mine.\n{\n  tools: { deny: ['exec'] }, // no commands\n  mcp: {\n    // The first.\n    a: { command: 'a' },\n  },\n}\n";
    fs::write(person.path("user/toolkit.json5"), before).unwrap();
    person.fine(&[
        "mcp",
        "add",
        "far",
        "--url",
        "https://example.org/mcp",
        "--header",
        "Authorization=${env:TOKEN_OF_FAR}",
        "--force",
    ]);
    let after = person.file();
    assert!(after.starts_with(before.split_once("\n  },").unwrap().0), "{after}");
    assert!(after.contains("https://example.org/mcp") && !after.contains("a-token"), "{after}");
    let taken = person.fails(&["mcp", "add", "a", "--", "b"]);
    assert!(taken.contains("has a server `a` already; `--force` replaces it"), "{taken}");
    person.fine(&["mcp", "remove", "far"]);
    assert_eq!(person.file(), before);
}

#[test]
fn what_cannot_be_used_is_not_written() {
    let person = Person::new();
    for (args, expected) in [
        (&["mcp", "add", "x", "--url", "ftp://x"][..], "mcp.x.url"),
        (&["mcp", "add", "x"], "required"),
        (&["mcp", "add", "x", "--url", "http://x", "--", "y"], "cannot be used with"),
        (&["mcp", "add", "x", "--header", "A", "--url", "http://x"], "has no `=`"),
        (&["mcp", "add", "x", "--sandbox", "strong", "--", "y"], "invalid value"),
    ] {
        let error = person.fails(args);
        assert!(error.contains(expected), "{args:?}: {error}");
        assert!(!person.path("user/toolkit.json5").exists(), "{args:?}");
    }
    assert_eq!(fs::read_dir(person.path("user")).unwrap().count(), 0, "nothing is left of the trial");
    fs::write(person.path("user/toolkit.json5"), "{ mcp: [").unwrap();
    let error = person.fails(&["mcp", "add", "x", "--", "y"]);
    assert!(error.contains("was not changed"), "{error}");
    assert_eq!(person.file(), "{ mcp: [");
}

#[test]
fn a_client_is_told_how_to_start_it_and_keeps_what_it_has() {
    let person = Person::new();
    for (client, file, key) in [
        ("claude", ".config/Claude/claude_desktop_config.json", "mcpServers"),
        ("cursor", ".cursor/mcp.json", "mcpServers"),
        ("vscode", ".config/Code/User/mcp.json", "servers"),
    ] {
        let path = person.path("home").join(file);
        let missing = person.fails(&["mcp", "install", "--client", client, "--yes"]);
        assert!(missing.contains("the client is probably not installed"), "{missing}");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let before = format!(
            "{{\n  // Mine.\n  \"theme\": \"dark\",\n  \"{key}\": {{\n    \"other\": {{ \"command\": \"x\" }}\n  }}\n}}\n"
        );
        fs::write(&path, &before).unwrap();
        // Nobody says yes.
        let shown = person.run(&["mcp", "install", "--client", client]);
        assert!(shown.out.contains('+') && shown.out.contains("\"toolkit\""), "{}", shown.out);
        assert_eq!((shown.code, fs::read_to_string(&path).unwrap()), (1, before.clone()), "{}", shown.err);
        person.fine(&["mcp", "install", "--client", client, "--yes", "--profile", "coding"]);
        let after = fs::read_to_string(&path).unwrap();
        assert!(after.contains("// Mine.") && after.contains("\"other\": { \"command\": \"x\" }"), "{after}");
        let value: Value = serde_json::from_str(&after.replace("// Mine.", "")).unwrap();
        let entry = &value[key]["toolkit"];
        assert_eq!(entry["command"], env!("CARGO_BIN_EXE_toolkit"));
        let work = person.path("work").canonicalize().unwrap();
        assert_eq!(entry["args"], json!(["mcp", "serve", "--workspace", work, "--profile", "coding"]));
        let again = person.run(&["mcp", "install", "--client", client, "--yes", "--profile", "coding"]);
        assert!(again.err.contains("already has this entry"), "{}", again.err);
        fs::write(&path, "{ \"broken\": ").unwrap();
        let broken = person.fails(&["mcp", "install", "--client", client, "--yes"]);
        assert!(broken.contains("was not changed"), "{broken}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "{ \"broken\": ");
    }
}

#[test]
fn a_project_brings_no_server_before_it_is_trusted() {
    let person = Person::new();
    let started = person.path("started");
    let command = json!({"mcp": {"evil": {"command": "touch", "args": [started]}}});
    fs::write(person.path("work/toolkit.json5"), command.to_string()).unwrap();
    for args in [&["list"][..], &["mcp", "test"], &["mcp", "list"], &["call", "evil__x"]] {
        let ran = person.run(args);
        assert!(ran.err.contains("mcp.evil") || args == ["mcp", "test"], "{args:?}: {}", ran.err);
        assert!(!started.exists(), "{args:?}");
    }
}

#[test]
fn servers_may_stand_under_a_key_of_their_own() {
    let person = Person::new();
    let write = |text: &str| fs::write(person.path("user/toolkit.json5"), text).unwrap();
    write("{\n  mcp: {\n    servers: {\n      own: { command: \"x\", args: [\"y\"] },\n    },\n  },\n}\n");
    let listed = person.fine(&["mcp", "list"]).out;
    assert!(listed.starts_with("own  x y  (") && listed.contains("toolkit.json5:4:"), "{listed}");
    assert!(person.fails(&["mcp", "add", "own", "--", "z"]).contains("has a server `own` already"));
    person.fine(&["mcp", "add", "own", "--force", "--", "z"]);
    assert!(person.fine(&["mcp", "list"]).out.starts_with("own  z  ("));
    person.fine(&["mcp", "remove", "own"]);
    assert!(!person.file().contains("own"), "{}", person.file());
    write("{ mcp: { servers: {\n own: { comand: \"x\" } } } }");
    let error = person.fails(&["mcp", "list"]);
    assert!(error.contains("toolkit.json5:2:") && error.contains("mcp.own.comand"), "{error}");
    // An untrusted file is ignored here too.
    write("{}");
    fs::write(person.path("work/toolkit.json5"), "{ mcp: { servers: { evil: { command: \"x\" } } } }")
        .unwrap();
    let ran = person.run(&["mcp", "list"]);
    assert!(ran.out.is_empty() && ran.err.contains("mcp.evil"), "{}{}", ran.out, ran.err);
}

/// A server with one tool that hides something, and one that cannot be had for what it hides.
const HIDING: &str = r#"
while read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case $line in
    *initialize\"*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"h","version":"1"}}}\n' "$id";;
    *tools/list*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"a","description":"Reads a \342\200\256 file.","inputSchema":{"type":"object","properties":{"x":{"type":"string"}}}},{"name":"b","description":"d","inputSchema":{"type":"object","properties":{"\342\200\256":{}}}}]}}\n' "$id";;
    *\"id\"*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id";;
  esac
done
"#;

#[test]
fn lint_looks_at_tools_of_servers_too() {
    let person = Person::new();
    fs::write(person.path("work/hiding.sh"), HIDING).unwrap();
    person.fine(&["mcp", "add", "hiding", "--", "/bin/sh", "hiding.sh"]);
    let ran = person.run(&["lint"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for expected in [
        "hiding__a description: it contains the invisible character U+202E; remove it [unprintable] (the MCP server `hiding`)",
        "hiding__a /properties/x: it has no description",
    ] {
        assert!(ran.out.contains(expected), "{expected}: {}{}", ran.out, ran.err);
    }
    assert!(ran.err.contains("its tool \"b\" is left out: its schema has hidden characters"), "{}", ran.err);
    assert_eq!(person.run(&["lint", "--deny"]).code, 1);
    let without = person.run(&["lint", "--deny", "--no-servers"]);
    assert_eq!((without.code, without.out.as_str()), (0, ""), "{}", without.err);
}

#[test]
fn a_server_that_is_gone_is_told_with_its_address() {
    let person = Person::new();
    // Its port stays taken, and nobody listens there.
    let silent = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
    bind(&silent, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = SocketAddrV4::try_from(getsockname(&silent).unwrap()).unwrap();
    person.fine(&["mcp", "add", "gone", "--url", &format!("http://{address}/mcp"), "--type", "sse"]);
    let ran = person.run(&["mcp", "test"]);
    assert_eq!(
        ran.out,
        format!("gone: cannot be reached: connection refused (http://{address}/mcp)\n"),
        "{}",
        ran.err
    );
}
