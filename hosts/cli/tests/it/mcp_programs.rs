//! The programs and scripts of servers: who may change them, and what is started after a change.

#![cfg(all(target_os = "linux", feature = "mcp"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::fixture::person::Person;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

/// A server that leaves a mark and does not answer.
const LEAVES_A_MARK: &str = "#!/bin/sh\ntouch \"$HOME/mark\"\n. ./lib/part.sh\n";

fn write(person: &Person, name: &str, text: &str) {
    let path = person.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Returns true if a command of the person starts the server, and what the command says.
fn starts(person: &Person) -> (bool, String) {
    let _ = fs::remove_file(person.path("home/mark"));
    let ran = person.run(&["list"]);
    (person.path("home/mark").exists(), ran.err)
}

#[test]
fn a_changed_script_of_a_projects_server_is_not_started_until_it_is_trusted() {
    let person = Person::new();
    write(&person, "work/tracker.sh", LEAVES_A_MARK);
    write(&person, "work/lib/part.sh", "true\n");
    write(&person, "work/toolkit.json5", "{ mcp: { rel: { command: './tracker.sh' } } }");
    assert!(!starts(&person).0, "an untrusted file starts nothing");
    let shown = person.fine(&["trust", "--yes"]).out;
    for name in ["tracker.sh", "lib/part.sh"] {
        assert!(shown.contains(&format!("  + {}/{name} (MCP server rel)\n", person.work())), "{shown}");
    }
    let (started, said) = starts(&person);
    assert!(started, "{said}");
    assert!(person.fine(&["trust", "--yes"]).out.contains("It is trusted already."));

    for (name, text) in
        [("tracker.sh", LEAVES_A_MARK.to_owned() + "# more\n"), ("lib/part.sh", "false\n".to_owned())]
    {
        write(&person, &format!("work/{name}"), &text);
        let (started, said) = starts(&person);
        assert!(!started, "{name}: {said}");
        let why = format!("{}/{name} has changed since `toolkit trust`", person.work());
        assert!(said.contains(&why) && said.contains("then run `toolkit trust`"), "{name}: {said}");
        let shown = person.fine(&["trust", "--yes"]).out;
        assert!(shown.contains(&format!("changed: {}/{name} (MCP server rel)", person.work())), "{shown}");
        let (started, said) = starts(&person);
        assert!(started, "{name}: {said}");
    }
    // A script that the server did not have when it was trusted.
    write(&person, "work/more.sh", "true\n");
    write(&person, "work/lib/part.sh", "./more.sh\n");
    person.fine(&["trust", "--yes"]);
    write(&person, "work/more.sh", "false\n");
    assert!(!starts(&person).0);
}

#[test]
fn a_project_that_was_trusted_without_its_scripts_starts_none() {
    let person = Person::new();
    write(&person, "work/tracker.sh", LEAVES_A_MARK);
    write(&person, "work/lib/part.sh", "true\n");
    write(&person, "work/toolkit.json5", "{ mcp: { rel: { command: './tracker.sh' } } }");
    person.fine(&["trust", "--yes"]);
    let store = person.path("data/trust.json");
    let mut stored: serde_json::Value = serde_json::from_str(&fs::read_to_string(&store).unwrap()).unwrap();
    assert!(stored["files"][0].as_object_mut().unwrap().shift_remove("programs").is_some());
    fs::write(&store, stored.to_string()).unwrap();
    let (started, said) = starts(&person);
    assert!(!started && said.contains("run `toolkit trust`"), "{said}");
}

#[test]
fn the_programs_of_the_users_servers_are_protected_and_start_as_they_are() {
    let person = Person::new();
    write(&person, "work/tracker.sh", LEAVES_A_MARK);
    write(&person, "work/lib/part.sh", "true\n");
    write(&person, "work/server.py", "import helper\n");
    write(&person, "work/helper.py", "");
    write(&person, "work/other.py", "");
    let settings = serde_json::json!({
        "permission": { "edit": "allow" },
        "mcp": {
            "docs": { "command": "python3", "args": [format!("{}/server.py", person.work())], "enabled": false },
            "rel": { "command": "./tracker.sh" }
        }
    });
    fs::write(person.path("user/toolkit.json5"), settings.to_string()).unwrap();
    for (name, is_protected) in [
        ("server.py", true),
        ("helper.py", true),
        ("tracker.sh", true),
        ("lib/part.sh", true),
        ("other.py", false),
    ] {
        let path = format!("{}/{name}", person.work());
        let before = fs::read_to_string(&path).unwrap();
        let ran = person.run(&["call", "write", "--file-path", &path, "--content", "changed\n"]);
        assert_eq!(
            (ran.code == 5, ran.err.contains("protected")),
            (is_protected, is_protected),
            "{name}: {ran:?}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap() == before, is_protected, "{name}");
    }
    // Nothing is recorded: whoever may change the file has decided.
    write(&person, "work/lib/part.sh", "false\n");
    let (started, said) = starts(&person);
    assert!(started, "{said}");
}
