//! The meaning of the keys of rules and lists, and sections that only lack a secret.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::fixture::{Run, command, finish};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A user with a workspace, and this configuration.
struct User {
    root: TempDir,
}

impl User {
    fn new(configuration: &str) -> Self {
        let user = Self { root: tempfile::tempdir().unwrap() };
        for directory in ["work", "user"] {
            fs::create_dir(user.path(directory)).unwrap();
        }
        fs::write(user.path("user/toolkit.json5"), configuration).unwrap();
        user
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(path)
    }

    fn run(&self, args: &[&str]) -> Run {
        let mut command = command(args);
        command.current_dir(self.path("work")).env_remove("TOK");
        command.env("TOOLKIT_CONFIG_DIR", self.path("user")).env("TOOLKIT_DATA_DIR", self.path("data"));
        finish(&mut command)
    }
}

#[test]
fn a_key_that_means_nothing_stops_every_command_with_its_line() {
    let user = User::new("{\n  permission: {\n    edti: 'deny',\n  },\n}");
    for args in [
        &["list"][..],
        &["call", "repeat", "--text", "a"],
        &["describe", "repeat"],
        &["schema"],
        &["explain", "tool", "repeat"],
        &["permission", "list"],
        &["config", "check"],
        &["config", "show"],
    ] {
        let error = user.run(args).fails(6);
        assert!(error.contains("user/toolkit.json5:3:11: permission.edti: "), "{args:?}: {error}");
        assert!(error.contains("did you mean `edit`?"), "{args:?}: {error}");
    }
    // A tool of a plugin that is not linked is named.
    let error = User::new("{ permission: { acme_deploy: 'deny' } }").run(&["list"]).fails(6);
    assert!(error.contains("there is no permission kind, tool or server `acme_deploy`"), "{error}");
}

#[test]
fn a_pattern_that_cannot_be_parsed_stops_every_command_with_its_line() {
    let user = User::new("{\n  permission: { edit: [\n    { match: 'src/[ab', do: 'deny' },\n  ] },\n}");
    for args in [&["list"][..], &["config", "check"], &["config", "show"]] {
        let error = user.run(args).fails(6);
        assert!(
            error.contains("user/toolkit.json5:3:14: ") && error.contains("a `[` without a `]`"),
            "{error}"
        );
    }
}

#[test]
fn rules_of_a_tool_and_of_a_path_hold_for_a_call() {
    let user = User::new(
        "{ permission: { edit: 'allow', fill: [{ match: '*.{cfg,rs}', do: 'deny' }, { match: 'src/**/gen.txt', do: 'deny' }] } }",
    );
    fs::create_dir(user.path("work/src")).unwrap();
    for (path, code) in [("a.txt", 0), ("a.cfg", 5), ("src/gen.txt", 5), ("src/a.rs", 5), ("src/a.txt", 0)] {
        let run = user.run(&["call", "fill", "--path", path]);
        assert_eq!((run.code, user.path("work").join(path).exists()), (code, code == 0), "{path}: {run:?}");
    }
    let user = User::new("{ permission: { mirror: 'deny' } }");
    user.run(&["call", "repeat", "--text", "a"]).fails(5);
}

#[test]
fn a_server_without_its_variable_is_unavailable_and_nothing_else() {
    let user =
        User::new("{ mcp: { far: { url: 'http://127.0.0.1:9/', headers: { Key: 'Bearer ${env:TOK}' } } } }");
    let reason = "the variable `TOK` of the environment is not set";
    for args in [&["call", "repeat", "--text", "a"][..], &["describe", "repeat"], &["config", "show"]] {
        let run = user.run(args);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{args:?}: {run:?}");
    }
    for args in [&["list"][..], &["config", "check"], &["list", "--diagnostics"]] {
        let run = user.run(args);
        assert_eq!(run.code, 0, "{args:?}: {run:?}");
        assert!(format!("{}{}", run.out, run.err).contains(reason), "{args:?}: {run:?}");
    }
    assert!(user.run(&["mcp", "list"]).ok().contains("far  unavailable: "));
    assert!(user.run(&["mcp", "list", "-o", "json"]).ok().contains(reason));
    let run = user.run(&["mcp", "test"]);
    assert!(run.code == 1 && run.out.contains(reason), "{run:?}");
    assert!(user.run(&["mcp", "login", "far"]).fails(1).contains(reason));
    // Another server can be added and taken away.
    user.run(&["mcp", "add", "other", "--header", "Key=${env:TOK}", "--url", "http://127.0.0.1:9/"]).ok();
    user.run(&["mcp", "remove", "other"]).ok();
}

#[test]
fn lists_and_rules_may_name_a_server_that_is_configured() {
    let user = User::new(
        "{ mcp: { demo: { command: 'x', enabled: false }, 'My Server': { command: 'x', enabled: false } }, \
         tools: { deny: ['mcp:demo', 'demo', 'demo__wipe', 'demo__*', 'my_server__x', 'MCP:My Server'], \
         settings: { demo__x: { enabled: false } } }, \
         agents: { kid: { tools: { deny: ['mcp:demo'] } } }, permission: { 'mcp:demo': 'deny', my_server__y: 'ask' } }",
    );
    for args in
        [&["list"][..], &["call", "repeat", "--text", "a"], &["config", "check"], &["list", "--diagnostics"]]
    {
        let run = user.run(args);
        assert_eq!(
            (run.code, run.err.replace("Nothing to report.\n", "").as_str()),
            (0, ""),
            "{args:?}: {run:?}"
        );
        assert!(!run.out.contains("has the name"), "{args:?}: {run:?}");
    }
    let run = User::new("{ mcp: { demo: { command: 'x', enabled: false } }, tools: { deny: ['mcp:dmeo'] } }")
        .run(&["list"]);
    let error = run.fails(6);
    assert!(
        error.contains("there is no tool, plugin or group `mcp:dmeo`; did you mean `mcp:demo`?"),
        "{error}"
    );
}

#[test]
fn the_caller_of_a_command_has_a_conversation_and_a_sender() {
    let user = User::new(
        "{ channels: { mail: { groups: { g1: { tools: { deny: ['repeat'] } } }, senders: { ada: { tools: { deny: ['greet'] } } } }, \
         chat: { groups: { '-100*': { tools: { deny: ['repeat'] } } }, senders: { '-7': { tools: { deny: ['greet'] } } } } } }",
    );
    for (args, absent) in [
        (&["--channel", "mail"][..], &[][..]),
        (&["--channel", "mail", "--conversation", "g1"], &["repeat"]),
        (&["--channel", "mail", "--sender", "ada"], &["greet"]),
        (&["--channel", "mail", "--conversation", "g1", "--sender", "ada"], &["repeat", "greet"]),
        (&["--sender", "ada"], &[]),
        // Ids that are negative numbers are no options.
        (&["--channel", "chat", "--conversation", "-1005"], &["repeat"]),
        (&["--channel", "chat", "--sender", "-7", "--conversation=-5"], &["greet"]),
    ] {
        let listed = user.run(&[&["list"], args].concat()).ok();
        for tool in ["repeat", "greet"] {
            let is_there = listed.lines().any(|line| line.starts_with(&format!("{tool} ")));
            assert_eq!(is_there, !absent.contains(&tool), "{args:?} {tool}: {listed}");
        }
    }
    let run = user.run(&["explain", "tool", "repeat", "--channel", "mail", "--conversation", "g1"]);
    assert!(run.out.contains("the rules of conversation `g1` in channel `mail`"), "{run:?}");
}

#[test]
fn auto_execute_that_changes_nothing_is_told() {
    let user = User::new(
        "{ mcp: { demo: { command: 'x', enabled: false } }, tools: { settings: { demo__x: { autoExecute: true }, exec: { autoExecute: true },
           process: { autoExecute: true }, edit: { autoExecute: true } } } }",
    );
    let told = user.run(&["list", "--diagnostics"]).ok();
    for line in [
        "`tools.settings.demo__x.autoExecute` has no effect: tools of MCP servers need approval",
        "`tools.settings.exec.autoExecute` has no effect: `tools.exec.security` decides whether it asks",
        "`tools.settings.process.autoExecute` has no effect: typing into a running command always needs approval",
    ] {
        assert!(told.contains(line), "{told}");
    }
    assert!(!told.contains("tools.settings.edit"), "{told}");
}
