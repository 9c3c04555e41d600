//! From the flags of a tool to its arguments.

use crate::fixture;

use fixture::{Run, fixture, fixture_reading};
use serde_json::{Value, json};

/// Calls the tool that repeats its arguments.
fn repeat(flags: &[&str]) -> Run {
    fixture([&["call", "repeat"], flags].concat())
}

#[test]
fn flags_become_arguments() {
    for (flags, expected) in [
        (&[][..], json!({})),
        (&["--text", "hi"], json!({"text": "hi"})),
        (&["--text=hi"], json!({"text": "hi"})),
        (&["--text", ""], json!({"text": ""})),
        (&["--text="], json!({"text": ""})),
        (&["--text", "5"], json!({"text": "5"})),
        (&["--text", "true"], json!({"text": "true"})),
        (&["--text", "-"], json!({"text": "-"})),
        (&["--text", "--"], json!({"text": "--"})),
        (&["--text", "-x"], json!({"text": "-x"})),
        (&["--text", "--loud"], json!({"text": "--loud"})),
        (&["--text", "a=b c\n\"ü\""], json!({"text": "a=b c\n\"ü\""})),
        (&["--words", "hi"], json!({"text": "hi"})),
        (&["--line-count", "5"], json!({"line_count": 5})),
        (&["--line_count", "5"], json!({"line_count": 5})),
        (&["--line-count", "-5"], json!({"line_count": -5})),
        (&["--line-count=-5"], json!({"line_count": -5})),
        (&["--line-count", "5.0"], json!({"line_count": 5})),
        (&["--ratio", "0.5"], json!({"ratio": 0.5})),
        (&["--ratio", "-2"], json!({"ratio": -2.0})),
        (&["--ratio", "1e3"], json!({"ratio": 1000.0})),
        (&["--loud"], json!({"loud": true})),
        (&["--loud", "--text", "x"], json!({"loud": true, "text": "x"})),
        (&["--loud=true"], json!({"loud": true})),
        (&["--loud=false"], json!({"loud": false})),
        (&["--loud", "false"], json!({"loud": false})),
        (&["--speed", "fast"], json!({"speed": "fast"})),
        (&["--tags", "a"], json!({"tags": ["a"]})),
        (&["--tags", "a", "--tags", "-b", "--tags=3"], json!({"tags": ["a", "-b", "3"]})),
        (&["--tags", "a", "--text", "x", "--tags", "b"], json!({"tags": ["a", "b"], "text": "x"})),
        (&["--tags", r#"["a", "b"]"#], json!({"tags": ["a", "b"]})),
        (&["--tags", "[]"], json!({"tags": []})),
        (&["--numbers", "1", "--numbers", "-2"], json!({"numbers": [1, -2]})),
        (&["--numbers", "[1, 2]"], json!({"numbers": [1, 2]})),
        (&["--grid", "[1]", "--grid", "[2,3]"], json!({"grid": [[1], [2, 3]]})),
        (&["--grid", "[1]"], json!({"grid": [[1]]})),
        (&["--grid", "[[1],[2]]"], json!({"grid": [[1], [2]]})),
        (&["--at", r#"{"x": 1, "y": -2.5}"#], json!({"at": {"x": 1.0, "y": -2.5}})),
        (
            &["--path", r#"{"x":0,"y":0}"#, "--path", r#"{"x":1,"y":1}"#],
            json!({"path": [{"x": 0.0, "y": 0.0}, {"x": 1.0, "y": 1.0}]}),
        ),
        (&["--sizes", r#"{"a": 1}"#], json!({"sizes": {"a": 1}})),
        (&["--amount", "5"], json!({"amount": 5})),
        (&["--depth"], json!({"depth": true})),
        (&["--depth", "--loud"], json!({"depth": true, "loud": true})),
        (&["--depth", "3"], json!({"depth": 3})),
        (&["--depth", "-3"], json!({"depth": -3})),
        (&["--depth=false"], json!({"depth": false})),
        (&["--amount", "many"], json!({"amount": "many"})),
        (
            &["--tree", r#"{"value":1,"children":[{"value":2}]}"#],
            json!({"tree": {"value": 1, "children": [{"value": 2, "children": []}]}}),
        ),
        (&["--anything", "5"], json!({"anything": 5})),
        (&["--anything", "[1,{}]"], json!({"anything": [1, {}]})),
        (&["--anything", "\"5\""], json!({"anything": "5"})),
        (&["--anything", "plain words"], json!({"anything": "plain words"})),
        (&["--camelCase", "x"], json!({"camelCase": "x"})),
        (&["--camel-case", "x"], json!({"camelCase": "x"})),
        (&["--camel_case", "x"], json!({"camelCase": "x"})),
        // An option of the command has the same name, and stands before the tool's name.
        (&["--model", "x"], json!({"model": "x"})),
    ] {
        assert_eq!(repeat(flags).json(), expected, "{flags:?}");
    }
}

#[test]
fn the_toolbox_reports_what_does_not_fit_and_all_of_it_at_once() {
    for (flags, expected) in [
        (&["--line-count", "five"][..], &["/line_count", "integer", "\"five\""][..]),
        (&["--line-count", "5.5"], &["/line_count", "5.5"]),
        (&["--line-count", "101"], &["/line_count", "100", "101"]),
        (&["--loud=maybe"], &["/loud", "boolean", "\"maybe\""]),
        (&["--speed", "fats"], &["/speed", "slow", "fast"]),
        (&["--numbers", "1", "--numbers", "two"], &["/numbers/1", "\"two\""]),
        (&["--at", "{x:1}"], &["/at", "object"]),
        (&["--at", r#"{"x":1}"#], &["/at", "y"]),
        (&["--at", r#"{"x":1,"x":2,"y":3}"#], &["\"x\"", "repeated"]),
        (&["--line-count", "x", "--ratio", "y", "--speed", "z"], &["/line_count", "/ratio", "/speed"]),
    ] {
        let error = repeat(flags).fails(4);
        assert!(error.starts_with("error: "), "{flags:?}: {error}");
        for part in expected {
            assert!(error.contains(part), "{flags:?}: {part} in {error}");
        }
    }
    let error = fixture(["call", "greet", "--times", "0"]).fails(4);
    assert!(error.contains("name") && error.contains("/times"), "required flags too: {error}");
}

#[test]
fn wrong_flags_are_wrong_usage() {
    for (flags, expected) in [
        (
            &["--line-cuont", "5"][..],
            &["`--line-cuont`", "did you mean `--line-count`?", "It has: --text, --line-count"][..],
        ),
        (&["--lineCount=5"], &["did you mean `--line-count`?"]),
        (&["-t"], &["no flag `-t`", "It has: --text"]),
        (&["README.md"], &["`README.md`", "flags", "It has: --text"]),
        (&["--", "--text", "x"], &["It has: --text"]),
        (&["-o", "json"], &["before the tool's name", "It has: --text"]),
        (&["--text"], &["a value is required", "--text"]),
        (&["--text", "a", "--text", "b"], &["--text", "multiple times"]),
        (&["--text", "a", "--words", "b"], &["--text", "multiple times"]),
    ] {
        let error = repeat(flags).fails(2);
        for part in expected {
            assert!(error.contains(part), "{flags:?}: {part} in {error}");
        }
    }
    let error = fixture(["call", "draw", "--size", "5"]).fails(2);
    assert!(error.contains("It has no flags."), "{error}");
}

#[test]
fn all_arguments_as_json() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("args.json");
    std::fs::write(&file, "{ \"text\": \"from a file\" }\n").unwrap();
    let from_file = format!("@{}", file.display());
    for (before, after, expected) in [
        (r#"{"text": "x", "loud": true}"#, &[][..], json!({"text": "x", "loud": true})),
        (r#"{"words": "x"}"#, &[], json!({"text": "x"})),
        ("null", &[], json!({})),
        ("{}", &["--loud"], json!({"loud": true})),
        (r#"{"text": "x"}"#, &["--line-count", "3"], json!({"text": "x", "line_count": 3})),
        (&from_file, &["--loud"], json!({"text": "from a file", "loud": true})),
    ] {
        let run = fixture([&["call", "--args", before, "repeat"], after].concat());
        assert_eq!(run.json(), expected, "{before} {after:?}");
    }
    let run = fixture_reading("{\"text\": \"piped\"}", ["call", "--args", "-", "repeat", "--loud"]);
    assert_eq!(run.json(), json!({"text": "piped", "loud": true}));
}

#[test]
fn wrong_json_arguments() {
    for (given, flags, code, expected) in [
        ("{", &[][..], 4, "a whole JSON object"),
        ("{", &["--loud"], 4, "a whole JSON object"),
        ("[1]", &["--loud"], 4, "object"),
        (r#"{"text": "a", "text": "b"}"#, &[], 4, "is repeated"),
        (r#"{"text": "a", "text": "b"}"#, &["--loud"], 4, "is repeated"),
        (r#"{"words": "a"}"#, &["--text", "b"], 4, "words"),
        (r#"{"txet": "a"}"#, &[], 4, "text"),
        (r#"{"text": "a"}"#, &["--text", "b"], 2, "`text` is given in `--args` and as a flag"),
        (r#"{"line_count": null}"#, &["--line-count", "1"], 2, "`line_count`"),
        ("@no/such/file", &[], 2, "no/such/file"),
    ] {
        let error = fixture([&["call", "--args", given, "repeat"], flags].concat()).fails(code);
        assert!(error.contains(expected), "{given} {flags:?}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn bytes_that_are_no_text_are_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let bytes = OsStr::from_bytes(b"\xff");
    let words: [&OsStr; 4] = ["call".as_ref(), "say".as_ref(), "--text".as_ref(), bytes];
    assert!(fixture(words).fails(2).contains("UTF-8"));
    assert!(fixture([OsStr::new("call"), bytes]).fails(3).contains("there is no tool"));
}

#[test]
fn a_struct_of_arguments_has_flags_too() {
    let run = fixture(["-o", "json", "call", "place", "--x", "1.5", "--y", "-2"]);
    assert_eq!(run.json()["details"], json!({"x": 1.5, "y": -2.0}));
}

#[test]
fn help_of_a_tool() {
    let help = fixture(["call", "repeat", "--text", "x", "--help"]).ok();
    for part in [
        "Repeats its arguments as JSON. It is there for tests.",
        "Usage: fixture call [OPTIONS] repeat [FLAGS]",
        "--line-count <INTEGER>",
        "A number of lines. [at most 100]",
        "--loud [<true|false>]",
        "--speed <slow|fast>",
        "--tags <STRING>",
        "Labels. [may be repeated]",
        "--at <JSON>",
        "`fixture call --help`",
    ] {
        assert!(help.contains(part), "{part} in {help}");
    }
    // Aliases are accepted, not advertised.
    assert!(!help.contains("--words"), "{help}");
    assert!(!help.contains("--line_count"), "{help}");
    assert_eq!(fixture(["call", "repeat", "-h"]).ok(), help);
}

#[test]
fn a_parameter_called_help_is_no_request_for_help() {
    let run = fixture(["call", "greet", "--name", "Ada", "--help", "Good day", "--times", "2"]);
    assert_eq!(run.ok(), "Good day, Ada!\nGood day, Ada!\n");
    let help = fixture(["call", "greet", "-h"]).ok();
    for part in [
        "Usage: fixture call [OPTIONS] greet --name <STRING> [FLAGS]",
        "Whom to greet. [required, 1 to 19 characters, for instance \"Ada\"]",
        "How often. [at least 1, default 1]",
        "--help <STRING>",
    ] {
        assert!(help.contains(part), "{part} in {help}");
    }
}

#[test]
fn names_that_resemble_each_other() {
    let flags = ["--file_path=1", "--file-path=2", "--filePath=3", "--a_b.c=4", "--Help=5"];
    let run = fixture([&["call", "--args", r#"{"-x": 6}"#, "names"], &flags[..]].concat());
    assert_eq!(run.json(), json!([1, 2, 3, 4, 5, 6]));
    let help = fixture(["call", "names", "--help"]).ok();
    for part in [
        "--file_path <",
        "--file-path <",
        "--filePath <",
        "--a-b.c <",
        "--Help <",
        "-h, --help",
        "Only in `--args`: -x",
    ] {
        assert!(help.contains(part), "{part} in {help}");
    }
}

#[test]
fn an_alias_is_as_good_as_the_name() {
    let value: Value = fixture(["call", "mirror", "--text", "x"]).json();
    assert_eq!(value, json!({"text": "x"}));
}
