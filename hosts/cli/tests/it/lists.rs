//! The command's output about tools: `list`, `describe`, `schema`, `completions`, help.

use crate::fixture;

use fixture::{command, finish, fixture};
use serde_json::{Value, json};

#[test]
fn lists() {
    let list = fixture(["list"]).ok();
    for line in [
        "greet text,people Writes a greeting.",
        "repeat mirror Repeats its arguments as JSON.",
        "whoami (deprecated) Tells who calls.",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let is_it = |other: &str| other.split_whitespace().eq(words.iter().copied());
        assert!(list.lines().any(is_it), "{line:?} in {list}");
    }
    let columns: Vec<Option<usize>> = ["Writes a greeting.", "Tells who calls."]
        .map(|text| list.lines().find_map(|line| line.find(text)))
        .into();
    assert_eq!(columns[0].map(|column| column + "(deprecated) ".len()), columns[1], "{list}");
    assert!(!list.contains('\u{1b}'), "colours away from a terminal: {list:?}");
    let names: Vec<&str> = list.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.is_sorted() && names.contains(&"say"), "{names:?}");

    let group = fixture(["list", "--group", "people"]).ok();
    assert_eq!(group, "greet  text,people  Writes a greeting.\n");
    assert!(fixture(["list", "--group", "peolpe"]).fails(2).contains("did you mean `people`?"));
    assert!(fixture(["list", "--group", "zzz"]).fails(2).contains("there are: "));
}

#[test]
fn json_lists_are_definitions() {
    let schema = fixture(["schema"]).json();
    assert_eq!(fixture(["list", "-o", "json"]).json(), schema);
    let names: Vec<&str> =
        schema.as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(names.is_sorted() && names.contains(&"greet"), "{names:?}");

    let group = fixture(["list", "-o", "json", "--group", "people"]).json();
    assert_eq!(group.as_array().unwrap().len(), 1);

    let greet = fixture(["schema", "greet"]).json();
    assert_eq!(group[0], greet);
    assert_eq!((&greet["name"], &greet["title"]), (&json!("greet"), &json!("Greet somebody")));
    assert_eq!(greet["inputSchema"]["properties"]["times"]["default"], 1);
    assert_eq!(greet["annotations"]["idempotentHint"], true);
    assert_eq!(fixture(["schema", "mirror"]).json()["name"], "repeat");
    assert!(fixture(["schema", "place"]).json()["outputSchema"].is_object());
}

#[test]
fn diagnostics() {
    let run = fixture(["list", "--diagnostics"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let left_out = |tool: &str, reason: &str| {
        format!("info: the tool `{tool}` is left out: it is not available to this caller: {reason}")
    };
    let mut expected = vec![left_out("skill", "there are no skills")];
    if cfg!(feature = "gateway") {
        let of_sessions = "this host keeps no sessions; a gateway does";
        expected = vec![
            left_out("agents_list", of_sessions),
            left_out("cron", "this host runs no jobs"),
            left_out("gateway", "this host is no gateway"),
            left_out("message", "this host sends no messages"),
            left_out("nodes", "this host has no nodes"),
            left_out("session_status", of_sessions),
            left_out("sessions_history", of_sessions),
            left_out("sessions_list", of_sessions),
            left_out("sessions_send", of_sessions),
            left_out("sessions_spawn", of_sessions),
            left_out("skill", "there are no skills"),
        ];
    }
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines.len(), expected.len(), "{}", run.out);
    assert!(lines.iter().zip(&expected).all(|(line, start)| line.starts_with(start)), "{}", run.out);
    let told = fixture(["list", "--diagnostics", "-o", "json"]).json();
    assert_eq!(
        (&told[0]["level"], told.as_array().map(Vec::len)),
        (&json!("info"), Some(expected.len())),
        "{told}"
    );
    let run = fixture([
        "--set",
        "tools.deny=['group:sessions','group:automation','group:messaging','group:nodes','skill']",
        "list",
        "--diagnostics",
    ]);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, "", "Nothing to report.\n"));
}

#[test]
fn pages() {
    let page = fixture(["describe", "greet"]).ok();
    for part in [
        "greet: Greet somebody\n\nWrites a greeting.\n\nIt knows whom it greets.\n\n",
        "Groups:     text, people\n",
        "Permission: talk\n",
        "Hints:      idempotent\n",
        "Timeout:    5s\n",
        "Crate:      fixture of toolkit-cli 0.1.0\n",
        "examples/fixture.rs:",
        "  name  string, required, 1 to 19 characters, for instance \"Ada\"\n      Whom to greet.\n",
        "  times  integer, optional, at least 1, default 1\n",
        "  help  string, optional, default \"Hello\"\n",
    ] {
        assert!(page.contains(part), "{part:?} in {page}");
    }
    let page = fixture(["describe", "mirror"]).ok();
    for part in
        ["repeat\n\n", "Aliases:    mirror\n", "speed  slow|fast, optional", "tags  list of string, optional"]
    {
        assert!(page.contains(part), "{part:?} in {page}");
    }
    assert!(fixture(["describe", "draw"]).ok().contains("It takes no arguments."));
    assert!(fixture(["describe", "whoami"]).ok().contains("Deprecated: use nothing"));
}

#[test]
fn json_pages() {
    let page = fixture(["-o", "json", "describe", "greet"]).json();
    let Value::Object(definition) = fixture(["schema", "greet"]).json() else { panic!("an object") };
    for (key, value) in definition {
        assert_eq!(page[&key], value, "{key}");
    }
    for (key, expected) in [
        ("groups", json!(["text", "people"])),
        ("aliases", json!([])),
        ("permission", json!("talk")),
        ("services", json!([])),
        ("timeoutSeconds", json!(5.0)),
    ] {
        assert_eq!(page[key], expected, "{key}");
    }
    let location = &page["location"];
    assert_eq!((&location["crate"], &location["package"]), (&json!("fixture"), &json!("toolkit-cli")));
    assert!(location["line"].as_u64().is_some_and(|line| line > 1), "{location}");
}

#[test]
fn help() {
    for args in [&["--help"][..], &["-h"], &["help"], &["call", "--help"], &["help", "call"]] {
        let help = fixture(args).ok();
        for part in ["Exit codes:", "3    there is no such tool", "--workspace", "--output <FORMAT>"] {
            assert!(help.contains(part), "{args:?}: {part} in {help}");
        }
    }
    let help = fixture(["call", "-h"]).ok();
    for part in ["Usage: fixture call [OPTIONS] <NAME> [--FLAG <VALUE>]...", "--args <JSON>", "--save <FILE>"]
    {
        assert!(help.contains(part), "{part} in {help}");
    }
    assert_eq!(fixture(["--version"]).ok(), format!("fixture {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_options_of_the_caller_are_listed_once() {
    const CALLER: [&str; 9] = [
        "--workspace <DIR>",
        "--agent <AGENT>",
        "--channel <CHANNEL>",
        "--conversation <ID>",
        "--model <MODEL>",
        "--provider <PROVIDER>",
        "--sandboxed ",
        "--depth <NUMBER>",
        "--session <SESSION>",
    ];
    for args in [&["--help"][..], &["-h"], &["help"]] {
        let help = fixture(args).ok();
        for option in CALLER {
            assert_eq!(help.matches(option).count(), 1, "{option} in {help}");
        }
    }
    for args in
        [&["list", "--help"][..], &["call", "--help"], &["permission", "revoke", "-h"], &["help", "describe"]]
    {
        let help = fixture(args).ok();
        assert!(!CALLER.iter().any(|option| help.contains(option)), "{help}");
        assert!(
            help.contains("Caller options, such as --workspace and --session: `fixture --help` lists them."),
            "{help}"
        );
    }
    // They are taken everywhere all the same.
    let whoami = fixture(["call", "--agent", "ada", "whoami"]).ok();
    assert!(whoami.contains("\"agent\":\"ada\""), "{whoami}");
}

#[test]
fn what_stands_within_a_value_is_described() {
    let page = fixture(["describe", "look"]).ok();
    let arguments = page.split_once("Arguments\n").expect("arguments").1;
    assert_eq!(
        arguments,
        "  target  string|object, required\n      The thing to look at.\n      - all\n          Everything.\n      - { place: object }\n          \
         One place.\n          name  string, required\n              Its name.\n          within  integer, optional, at least 0\n              \
         How near, in metres.\n  label  [string, integer], required, exactly 2 items\n      The name of a label, and how often it may \
         stand there at most before it is left out of what is shown.\n      item 1  string\n      item 2  integer, 0 to 255\n  from  \
         list of object, optional\n      From where.\n      each item:\n        x  number, required\n            Across.\n        y  \
         number, required\n            Up.\n  address  string (ip), optional\n      The address of who looks.\n"
    );
    let help = fixture(["call", "look", "--help"]).ok();
    for part in [
        "- { place: object }",
        "within  integer, optional, at least 0",
        "item 2  integer, 0 to 255",
        "--label <JSON>",
    ] {
        assert!(help.contains(part), "{part} in {help}");
    }
    let page = fixture(["describe", "repeat"]).ok();
    for part in [
        "  sizes  map of integer, optional\n",
        "  tree  object, optional\n      A tree: its schema refers to itself.\n      value  integer, required\n      children  list of object",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
}

#[test]
fn lines_are_wrapped_at_words() {
    for args in [&["describe", "look"][..], &["call", "look", "--help"], &["--help"], &["call", "--help"]] {
        let page = finish(command(args).env("COLUMNS", "60")).ok();
        let is_long = |line: &str| line.chars().count() > 60 && line.trim_start().contains(' ');
        let usage = |line: &str| line.starts_with("Usage: ");
        let long: Vec<&str> = page.lines().filter(|line| is_long(line) && !usage(line)).collect();
        assert_eq!(long, [""; 0], "{args:?}");
    }
    // The second column of a help text stays aligned.
    let help = finish(command(["--help"]).env("COLUMNS", "60")).ok();
    for (indent, line) in [(7, "or something could not be read or written"), (29, "the current directory]")] {
        let line = format!("\n{}{line}\n", " ".repeat(indent));
        assert!(help.contains(&line), "{line:?} in {help}");
    }
    let words = |columns: &str| {
        let page = finish(command(["describe", "look"]).env("COLUMNS", columns)).ok();
        page.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(words("40"), words("100"));
}

#[test]
fn completions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = fixture(["completions", shell]).ok();
        // In fish a flag has no dashes.
        for part in ["fixture", "describe", "greet", "whoami", "line-count", "diagnostics", "save"] {
            assert!(script.contains(part), "{shell}: {part}");
        }
    }
}

/// Asks bash for what it would offer at the end of these words.
#[cfg(unix)]
#[test]
fn bash_completes() {
    use std::process::Command;
    let offered = |words: &[&str]| {
        let script = fixture(["completions", "bash"]).ok();
        let ask = format!(
            "{script}\nCOMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _fixture fixture \"${{@: -1}}\" \"${{@: -2:1}}\"; echo \"${{COMPREPLY[*]}}\""
        );
        // It may be longer than an argument can be.
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), ask).unwrap();
        let output = Command::new("bash").arg(file.path()).args(words).output().unwrap();
        String::from_utf8(output.stdout).unwrap().split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let has = |words: &[&str], expected: &[&str], missing: &[&str]| {
        let offered = offered(words);
        for word in expected {
            assert!(offered.iter().any(|other| other == word), "{words:?}: {word} in {offered:?}");
        }
        for word in missing {
            assert!(!offered.iter().any(|other| other == word), "{words:?}: {word} in {offered:?}");
        }
    };
    has(&["fixture", ""], &["list", "call", "completions"], &["greet"]);
    has(&["fixture", "call", ""], &["greet", "repeat", "--args", "--workspace"], &["help", "list"]);
    has(&["fixture", "call", "greet", "--"], &["--name", "--times"], &["--workspace", "--args", "--text"]);
    has(&["fixture", "call", "repeat", "--speed", ""], &["slow", "fast"], &[]);
    has(&["fixture", "describe", ""], &["greet", "repeat"], &[]);
}
