//! `toolkit mcp install` and `toolkit mcp uninstall`: what clients read of it, and what stays of their files.

#![cfg(all(target_os = "linux", feature = "mcp"))]

use crate::fixture::person::Person;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

/// A client, its file, one as people have it, and what comes of that.
struct Case {
    client: &'static str,
    file: &'static str,
    project: Option<&'static str>,
    before: &'static str,
    /// `PROGRAM` and `WORK` stand for what is different each time.
    after: &'static str,
}

const CASES: &[Case] = &[
    Case {
        client: "claude",
        file: ".config/Claude/claude_desktop_config.json",
        project: None,
        before: "{\n  \"mcpServers\": {},\n  \"theme\": \"dark\"\n}\n",
        after: "{\n  \"mcpServers\": {\n    \"toolkit\": {\n      \"command\": \"PROGRAM\",\n      \"args\": [\"mcp\", \"serve\", \"--workspace\", \"WORK\"]\n    }\n  },\n  \"theme\": \"dark\"\n}\n",
    },
    Case {
        client: "codex",
        file: ".codex/config.toml",
        project: Some(".codex/config.toml"),
        before: "# My settings.\nmodel = \"gpt\" # the large one\r\n\n[mcp_servers.docs] # of the team\ncommand = \"npx\"\nargs = [\"-y\", \"docs\"]\n\n[mcp_servers.docs.env]\nKEY = \"1\"\n\n# Trusted.\n[projects.\"/srv/é\"]\ntrust_level = \"trusted\"\n",
        after: "",
    },
    Case {
        client: "cursor",
        file: ".cursor/mcp.json",
        project: Some(".cursor/mcp.json"),
        before: "{\"mcpServers\":{\"other\":{\"command\":\"x\"}}}",
        after: "",
    },
    Case {
        client: "gemini-cli",
        file: ".gemini/settings.json",
        project: Some(".gemini/settings.json"),
        before: "{\n\t\"theme\": \"Dracula\", // dark\n\t\"mcpServers\": {\n\t\t/* of the team */\n\t\t\"git\": { \"command\": \"uvx\", \"args\": [\"mcp-server-git\"] }\n\t}\n}\n",
        after: "",
    },
    Case {
        client: "goose",
        file: ".config/goose/config.yaml",
        project: None,
        before: "# Mine.\nGOOSE_MODE: \"smart_approve\"\nextensions:\n  developer: # builtin\n    bundled: true\n    enabled: true\n    name: developer\n    timeout: 300\n    type: builtin\n\n  docs:\n    type: stdio\n    cmd: npx\n    args: [\"-y\", \"docs\"]\n\n# Paths.\nGOOSE_SEARCH_PATHS:\n  - \"/usr/local/bin\"\n",
        after: "# Mine.\nGOOSE_MODE: \"smart_approve\"\nextensions:\n  developer: # builtin\n    bundled: true\n    enabled: true\n    name: developer\n    timeout: 300\n    type: builtin\n\n  docs:\n    type: stdio\n    cmd: npx\n    args: [\"-y\", \"docs\"]\n  toolkit:\n    enabled: true\n    type: stdio\n    name: toolkit\n    cmd: PROGRAM\n    args: [\"mcp\", \"serve\", \"--workspace\", \"WORK\"]\n    envs: {}\n    env_keys: []\n    timeout: 300\n\n# Paths.\nGOOSE_SEARCH_PATHS:\n  - \"/usr/local/bin\"\n",
    },
    Case {
        client: "opencode",
        file: ".config/opencode/opencode.json",
        project: Some("opencode.json"),
        before: "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": {\n    \"docs\": {\n      \"type\": \"local\",\n      \"command\": [\"npx\", \"docs\"]\n    },\n  },\n}\n",
        after: "",
    },
    Case {
        client: "vscode",
        file: ".config/Code/User/mcp.json",
        project: Some(".vscode/mcp.json"),
        before: "{\n    \"inputs\": [],\n    \"servers\": {\n        \"other\": { \"url\": \"https://example.org/mcp\" }\n    }\n}\n",
        after: "",
    },
    Case {
        client: "windsurf",
        file: ".codeium/windsurf/mcp_config.json",
        project: None,
        before: "{\n  \"mcpServers\": {\n    \"other\": {\n      \"serverUrl\": \"https://example.org/mcp\"\n    }\n  }\n}\n",
        after: "",
    },
    Case {
        client: "zed",
        file: ".config/zed/settings.json",
        project: Some(".zed/settings.json"),
        before: "// Zed settings\n//\n// See the docs.\n{\n  \"theme\": \"One Dark\",\n  // Servers.\n  \"context_servers\": {\n    \"docs\": {\n      \"command\": \"npx\", // found by PATH\n      \"args\": []\n    }\n  },\n  \"vim_mode\": true,\n}\n",
        after: "// Zed settings\n//\n// See the docs.\n{\n  \"theme\": \"One Dark\",\n  // Servers.\n  \"context_servers\": {\n    \"docs\": {\n      \"command\": \"npx\", // found by PATH\n      \"args\": []\n    },\n    \"toolkit\": {\n      \"command\": \"PROGRAM\",\n      \"args\": [\"mcp\", \"serve\", \"--workspace\", \"WORK\"],\n      \"env\": {}\n    }\n  },\n  \"vim_mode\": true,\n}\n",
    },
];

#[test]
fn what_a_file_has_stays_and_uninstalling_gives_it_back() {
    for case in CASES {
        let person = Person::new();
        let path = person.path("home").join(case.file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, case.before).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let dry = person.fine(&["mcp", "install", case.client, "--dry-run"]);
        assert!(dry.out.contains("+++") && dry.out.contains("--workspace"), "{}", dry.out);
        assert_eq!(fs::read_to_string(&path).unwrap(), case.before, "{}", case.client);
        person.fine(&["mcp", "install", case.client, "--yes"]);
        let after = fs::read_to_string(&path).unwrap();
        let work = person.work();
        if !case.after.is_empty() {
            let expected =
                case.after.replace("PROGRAM", env!("CARGO_BIN_EXE_toolkit")).replace("WORK", &work);
            assert_eq!(after, expected, "{}", case.client);
        }
        for line in case.before.lines().filter(|line| line.trim().len() > 3 && !line.contains('{')) {
            assert!(after.contains(line.trim_end_matches(',')), "{}: {line}\n{after}", case.client);
        }
        assert!(after.contains(&work) && after.contains(env!("CARGO_BIN_EXE_toolkit")), "{after}");
        let again = person.fine(&["mcp", "install", "--client", case.client, "--yes"]);
        assert!(again.err.contains("already has this entry"), "{}: {}", case.client, again.err);
        assert_eq!(fs::read_to_string(&path).unwrap(), after, "{}", case.client);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        // With another profile it is the same entry.
        person.fine(&["mcp", "install", case.client, "--yes", "--profile", "coding"]);
        let changed = fs::read_to_string(&path).unwrap();
        assert!(changed.contains("coding") && changed.matches("--workspace").count() == 1, "{changed}");
        let dry = person.fine(&["mcp", "uninstall", case.client, "--dry-run"]);
        assert!(dry.out.contains('-') && fs::read_to_string(&path).unwrap() == changed, "{}", dry.out);
        person.fine(&["mcp", "uninstall", case.client]);
        assert_eq!(fs::read_to_string(&path).unwrap(), case.before, "{}", case.client);
        let over = person.fine(&["mcp", "uninstall", case.client]);
        assert!(over.err.contains("has no `toolkit`"), "{}", over.err);
        assert_eq!(fs::read_to_string(&path).unwrap(), case.before, "{}", case.client);
    }
}

#[test]
fn a_file_that_is_not_there_is_made_and_removed_again() {
    for case in CASES {
        let person = Person::new();
        let path = person.path("home").join(case.file);
        let missing = person.fails(&["mcp", "install", case.client, "--yes"]);
        assert!(missing.contains("the client is probably not installed"), "{}: {missing}", case.client);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        person.fine(&["mcp", "install", case.client, "--yes", "--name", "my tools"]);
        let made = fs::read_to_string(&path).unwrap();
        assert!(made.contains("my tools"), "{}: {made}", case.client);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        person.fine(&["mcp", "uninstall", case.client, "--name", "my tools"]);
        assert!(!path.exists(), "{}: {:?}", case.client, fs::read_to_string(&path));
        // One that was there stays, whatever is in it.
        fs::write(&path, "").unwrap();
        person.fine(&["mcp", "install", case.client, "--yes"]);
        person.fine(&["mcp", "uninstall", case.client]);
        assert!(path.exists(), "{}", case.client);
    }
}

#[test]
fn a_project_has_a_file_of_its_own() {
    for case in CASES {
        let person = Person::new();
        let Some(file) = case.project else {
            let none = person.fails(&["mcp", "install", case.client, "--project", "--yes"]);
            assert!(none.contains("no configuration of a project"), "{}: {none}", case.client);
            continue;
        };
        person.fine(&["mcp", "install", case.client, "--project", "--yes"]);
        let path = person.path("work").join(file);
        assert!(fs::read_to_string(&path).unwrap().contains("--workspace"), "{}", case.client);
        person.fine(&["mcp", "uninstall", case.client, "--project"]);
        assert!(!path.exists(), "{}", case.client);
    }
    let person = Person::new();
    person.fine(&["mcp", "install", "claude-code", "--yes"]);
    assert!(person.path("work/.mcp.json").exists());
}

#[test]
fn an_entry_of_somebody_else_stays() {
    for case in CASES {
        let person = Person::new();
        let path = person.path("home").join(case.file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let others = match path.extension().unwrap().to_str().unwrap() {
            "toml" => "[mcp_servers.toolkit]\ncommand = \"npx\"\nargs = [\"toolkit\"]\n".to_owned(),
            "yaml" => {
                "extensions:\n  toolkit:\n    type: stdio\n    cmd: npx\n    args: [toolkit]\n".to_owned()
            }
            _ => {
                let key = match case.client {
                    "opencode" => "mcp",
                    "vscode" => "servers",
                    "zed" => "context_servers",
                    _ => "mcpServers",
                };
                format!(
                    "{{\n  \"{key}\": {{\n    \"toolkit\": {{ \"command\": \"npx\", \"args\": [\"toolkit\"] }}\n  }}\n}}\n"
                )
            }
        };
        fs::write(&path, &others).unwrap();
        for args in [&["mcp", "install", case.client, "--yes"][..], &["mcp", "uninstall", case.client]] {
            let error = person.fails(args);
            assert!(
                error.contains("starts something else") && error.contains("--force"),
                "{args:?}: {error}"
            );
            assert_eq!(fs::read_to_string(&path).unwrap(), others, "{args:?}");
        }
        person.fine(&["mcp", "install", case.client, "--yes", "--force"]);
        let forced = fs::read_to_string(&path).unwrap();
        assert!(forced.contains("--workspace") && !forced.contains("npx"), "{forced}");
        fs::write(&path, &others).unwrap();
        person.fine(&["mcp", "uninstall", case.client, "--force"]);
        assert!(!fs::read_to_string(&path).unwrap().contains("npx"));
    }
}

#[test]
fn a_file_that_is_not_understood_is_left_and_its_line_named() {
    for case in CASES {
        let person = Person::new();
        let path = person.path("home").join(case.file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let broken = match path.extension().unwrap().to_str().unwrap() {
            "toml" => "a = 1\nb = [\nc = 2\n",
            "yaml" => "a: 1\nb: [1, 2\nc: 3\n",
            _ => "{\n  \"a\": 1,\n  \"b\": [1,\n}\n",
        };
        fs::write(&path, broken).unwrap();
        for args in [&["mcp", "install", case.client, "--yes"][..], &["mcp", "uninstall", case.client]] {
            let error = person.fails(args);
            assert!(error.contains("was not changed") && error.contains("line "), "{args:?}: {error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), broken, "{args:?}");
        }
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
    }
}

#[test]
fn a_link_stays_one() {
    let person = Person::new();
    fs::create_dir_all(person.path("home/.codex")).unwrap();
    fs::write(person.path("dotfile"), "model = \"x\"\n").unwrap();
    symlink(person.path("dotfile"), person.path("home/.codex/config.toml")).unwrap();
    person.fine(&["mcp", "install", "codex", "--yes"]);
    assert!(fs::symlink_metadata(person.path("home/.codex/config.toml")).unwrap().is_symlink());
    assert!(fs::read_to_string(person.path("dotfile")).unwrap().contains("[mcp_servers.toolkit]"));
    person.fine(&["mcp", "uninstall", "codex"]);
    assert!(fs::symlink_metadata(person.path("home/.codex/config.toml")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(person.path("dotfile")).unwrap(), "model = \"x\"\n");
}

#[test]
fn any_other_client_gets_the_entry_to_copy() {
    let person = Person::new();
    let printed = person.fine(&["mcp", "install", "json", "--profile", "coding"]);
    let value: serde_json::Value = serde_json::from_str(&printed.out).unwrap();
    let entry = &value["mcpServers"]["toolkit"];
    assert_eq!(entry["command"], env!("CARGO_BIN_EXE_toolkit"));
    assert_eq!(
        entry["args"],
        serde_json::json!(["mcp", "serve", "--workspace", person.work(), "--profile", "coding"])
    );
    let file = person.path("servers.json").display().to_string();
    person.fine(&["mcp", "install", "json", "--file", &file, "--yes"]);
    let written: serde_json::Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(written["mcpServers"]["toolkit"]["args"][1], "serve");
    person.fine(&["mcp", "uninstall", "json", "--file", &file]);
    assert!(!person.path("servers.json").exists());
    assert!(person.fails(&["mcp", "uninstall", "json"]).contains("--file"));
}

#[test]
fn opencode_of_the_second_version_has_its_servers_one_level_below() {
    let person = Person::new();
    let directory = person.path("home/.config/opencode");
    fs::create_dir_all(&directory).unwrap();
    let before = "{\n  \"mcp\": {\n    // Mine.\n    \"servers\": {\n      \"docs\": { \"type\": \"local\", \"command\": [\"docs\"] }\n    }\n  }\n}\n";
    fs::write(directory.join("opencode.jsonc"), before).unwrap();
    person.fine(&["mcp", "install", "opencode", "--yes"]);
    let after = fs::read_to_string(directory.join("opencode.jsonc")).unwrap();
    let value: serde_json::Value = serde_json::from_str(&after.replace("// Mine.", "")).unwrap();
    assert_eq!(value["mcp"]["servers"]["toolkit"]["type"], "local", "{after}");
    assert_eq!(value["mcp"]["servers"]["toolkit"]["command"][1], "mcp", "{after}");
    person.fine(&["mcp", "uninstall", "opencode"]);
    assert_eq!(fs::read_to_string(directory.join("opencode.jsonc")).unwrap(), before);
}

#[test]
fn an_unknown_client_is_answered_with_those_that_are_known() {
    let person = Person::new();
    let error = person.fails(&["mcp", "install", "emacs"]);
    assert!(error.contains("gemini-cli") && error.contains("windsurf"), "{error}");
    assert!(person.fails(&["mcp", "install"]).contains("CLIENT"));
}
