//! Calls and their results: output, exit codes, files.

use crate::fixture;

use fixture::{command, finish, fixture};
use serde_json::json;
use std::fs;
use std::process::Stdio;

#[test]
fn text_goes_out_exactly_with_one_newline_at_the_end() {
    for (text, expected) in
        [("hi", "hi\n"), ("hi\n", "hi\n"), ("hi\n\n", "hi\n\n"), (" a\r\n\tb ", " a\r\n\tb \n"), ("", "")]
    {
        let run = fixture(["call", "say", "--text", text]);
        assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, expected, ""), "{text:?}");
    }
    assert_eq!(
        fixture(["call", "blocks"]).ok(),
        "first\n[audio/wav, 3 bytes; --save FILE writes it]\nlast\n"
    );
    assert_eq!(fixture(["call", "draw"]).ok(), "a dot\n[image/png, 6 bytes; --save FILE writes it]\n");
}

#[test]
fn exit_codes_and_messages() {
    for (args, code, message) in [
        (&["call", "end", "--kind", "failed"][..], 1, "error: as you wish\n"),
        (&["call", "end", "--kind", "not_found"], 1, "error: as you wish\n"),
        (&["call", "end", "--kind", "unavailable"], 1, "error: as you wish\n"),
        (&["call", "end", "--kind", "interrupted"], 1, "error: as you wish\n"),
        (&["call", "end", "--kind", "denied"], 5, "error: as you wish\n"),
        (&["call", "end", "--kind", "timed_out"], 124, "error: as you wish\n"),
        (&["call", "end", "--kind", "aborted"], 130, "error: as you wish\n"),
        (&["call", "panic"], 1, "error: the tool `panic` stopped on an internal error (on purpose)"),
        (&["call", "say"], 4, "error: "),
        (&["call", "ssay", "--text", "x"], 3, "did you mean `say`?"),
        (&["call", "ssay", "--help"], 3, "`toolkit::link!`"),
        (&["describe", "ssay"], 3, "did you mean `say`?"),
        (&["schema", "ssay"], 3, "did you mean `say`?"),
        (&["call"], 2, "<NAME>"),
        (&["call", "--agrs", "{}", "say"], 2, "--args"),
        (&["calll", "say"], 2, "'call'"),
        (&["say", "--text", "x"], 2, "`say` is a tool, not a subcommand; call it with `fixture call say`"),
        (&["list", "--gruop", "x"], 2, "--group"),
        (&["-o", "jsno", "list"], 2, "'json'"),
        (&["completions", "bsh"], 2, "'bash'"),
        (&["--workspace", "no/such/directory", "list"], 2, "no/such/directory"),
        (&["--workspace", "Cargo.toml", "list"], 2, "is not a directory"),
        (&[], 2, "Usage"),
    ] {
        let error = fixture(args).fails(code);
        assert!(error.contains(message), "{args:?}: {error}");
    }
}

#[test]
fn a_toolkit_that_cannot_start() {
    for args in [&["list"][..], &["call", "say", "--text", "x"]] {
        let error = finish(command(args).env("FIXTURE_IS_BROKEN", "1")).fails(6);
        assert!(
            error.contains("error: the toolkit cannot start:") && error.contains("Not A Name"),
            "{error}"
        );
    }
    // Help is there all the same.
    finish(command(["--help"]).env("FIXTURE_IS_BROKEN", "1")).ok();
}

#[test]
fn json_output_is_the_whole_result() {
    let result = fixture(["call", "-o", "json", "say", "--text", "hi"]).json();
    assert_eq!(
        result,
        json!({"id": "1", "name": "say", "isError": false, "content": [{"type": "text", "text": "hi"}]})
    );
    let run = fixture(["call", "--output=json", "end", "--kind", "denied"]);
    assert_eq!((run.code, run.err.as_str()), (5, "error: as you wish\n"));
    let result: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(result["error"], json!({"kind": "denied", "message": "as you wish"}));

    let run = fixture(["call", "-o", "json", "nothing"]);
    let result: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((run.code, &result["error"]["kind"]), (3, &json!("unknown_tool")));
}

#[test]
fn options_of_the_command_stand_before_or_after_the_subcommand() {
    for args in [
        &["-o", "json", "call", "draw"][..],
        &["call", "-o", "json", "draw"],
        &["-o", "text", "call", "-o", "json", "draw"],
    ] {
        assert_eq!(fixture(args).json()["name"], "draw", "{args:?}");
    }
}

#[test]
fn the_caller_is_as_the_options_say() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path().canonicalize().unwrap();
    fs::create_dir(here.join("inner")).unwrap();
    let args = ["--agent", "ada", "call", "--channel", "irc", "--model", "m", "--session", "s", "whoami"];
    let caller = finish(command(args).current_dir(&here)).json();
    for (key, expected) in
        [("agent", json!("ada")), ("channel", json!("irc")), ("model", json!("m")), ("sessionId", json!("s"))]
    {
        assert_eq!(caller[key], expected, "{key}");
    }
    assert_eq!(caller["workspace"], json!(here));

    let caller = finish(command(["--workspace", "inner", "call", "whoami"]).current_dir(&here)).json();
    assert_eq!((&caller["workspace"], &caller["agent"]), (&json!(here.join("inner")), &json!(null)));
}

#[test]
fn answers_are_saved() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("saved");
    for (args, content, out) in [
        (&["draw"][..], &[0x89, b'P', b'N', b'G', 0, 255][..], "a dot\n[image/png, 6 bytes]\n"),
        (&["blocks"], &[1, 2, 3], "first\n[audio/wav, 3 bytes]\nlast\n"),
        (&["say", "--text", "no newline"], b"no newline", "no newline\n"),
    ] {
        let run = fixture([&["call", "--save", path.to_str().unwrap()], args].concat());
        assert_eq!(run.err, format!("saved {} bytes to {}\n", content.len(), path.display()), "{args:?}");
        assert_eq!(run.ok(), out, "{args:?}");
        assert_eq!(fs::read(&path).unwrap(), content, "{args:?}");
    }

    // After the name, too, but not twice.
    let late = directory.path().join("late");
    let run = fixture(["call", "say", "--args", r#"{"text": "late"}"#, "--save", late.to_str().unwrap()]);
    assert_eq!(run.ok(), "late\n");
    assert_eq!(fs::read(&late).unwrap(), b"late");
    let error = fixture(["call", "--save", "a", "say", "--text", "x", "--save", "b"]).fails(2);
    assert!(
        error.contains("`--save` is given both before and after the tool's name; give it once"),
        "{error}"
    );

    let error = fixture(["call", "--save", path.to_str().unwrap(), "end", "--kind", "failed"]).fails(1);
    assert_eq!(error, "error: as you wish\n");
    assert_eq!(fs::read(&path).unwrap(), b"no newline", "a failed call saves nothing");

    let run = fixture(["call", "--save", "no/such/directory/file", "say", "--text", "kept"]);
    assert_eq!((run.code, run.out.as_str()), (1, "kept\n"));
    assert!(run.err.contains("no/such/directory/file cannot be written"), "{}", run.err);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let long = "x".repeat(1 << 20);
    for (args, code) in [
        (&["list"][..], 0),
        (&["schema"], 0),
        (&["--help"], 0),
        (&["completions", "zsh"], 0),
        (&["call", "say", "--text", &long[..100_000]], 0),
        (&["call", "-o", "json", "end", "--kind", "denied"], 5),
    ] {
        let mut child = command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Closed before anything is written to it.
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {error}");
        assert!(!error.contains("panicked") && !error.contains("pipe"), "{args:?}: {error}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command(["list"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write to standard output"));
}
