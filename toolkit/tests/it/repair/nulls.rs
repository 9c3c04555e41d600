//! `null`, nothing, and what stands for it.

use super::{Case, got, refused};

pub(crate) const CASES: &[Case] = &[
    got(
        "read",
        r#"{"file_path":"a.rs","offset":null,"limit":null}"#,
        r#"{"file_path":"a.rs","offset":1}"#,
        &[
            "/offset null_to_absent: null was read as an absent value",
            "/limit null_to_absent: null was read as an absent value",
        ],
    ),
    got(
        "read",
        r#"{"filePath":"a.rs","limit":null}"#,
        r#"{"file_path":"a.rs","offset":1}"#,
        &[
            "/limit null_to_absent: null was read as an absent value",
            "/file_path name_spelling: `filePath` was taken for `file_path`",
        ],
    ),
    got(
        "read",
        r#"{"file_path":"a.rs","Limit":null}"#,
        r#"{"file_path":"a.rs","offset":1}"#,
        &[
            "/limit name_spelling: `Limit` was taken for `limit`",
            "/limit null_to_absent: null was read as an absent value",
        ],
    ),
    got("ping", "", "{}", &[" nothing_to_object: an empty text was read as a call without arguments"]),
    got("ping", "   \n", "{}", &[" nothing_to_object: an empty text was read as a call without arguments"]),
    got("ping", "null", "{}", &[" nothing_to_object: null was read as a call without arguments"]),
    got("ping", "{}", "{}", &[]),
    got(
        "ping",
        r#""""#,
        "{}",
        &[" nothing_to_object: a string with nothing in it was read as a call without arguments"],
    ),
    got("ping", r#""{}""#, "{}", &[r#" string_to_object: the string "{}" was read as an object"#]),
    refused("ping", "[]", &["the arguments: expected an object, got an empty list"]),
    refused("ping", r#"{"message":"hi"}"#, &["/message: expected no arguments, got the unknown `message`"]),
    refused("ping", r#"{"":""}"#, &["/: expected no arguments, got the unknown ``"]),
    got("list_files", "", "{}", &[" nothing_to_object: an empty text was read as a call without arguments"]),
    got("list_files", "null", "{}", &[" nothing_to_object: null was read as a call without arguments"]),
    got(
        "list_files",
        r#"{"depth":null}"#,
        "{}",
        &["/depth null_to_absent: null was read as an absent value"],
    ),
    got(
        "list_files",
        r#"{"depth":"null","hidden":"None"}"#,
        "{}",
        &[
            r#"/depth null_to_absent: the string "null" was read as an absent value"#,
            r#"/hidden null_to_absent: the string "None" was read as an absent value"#,
        ],
    ),
    got(
        "list_files",
        r#""null""#,
        "{}",
        &[" nothing_to_object: a string with nothing in it was read as a call without arguments"],
    ),
    refused("read", "", &["/file_path: expected a string (required), got nothing"]),
    refused("read", "null", &["/file_path: expected a string (required), got nothing"]),
    refused("read", r#""""#, &["/file_path: expected a string (required), got nothing"]),
    refused("read", "{}", &["/file_path: expected a string (required), got nothing"]),
    got(
        "configure",
        r#"{"verbose":true,"limits":null,"labels":null,"steps":null}"#,
        r#"{"verbose":true,"steps":[]}"#,
        &[
            "/limits null_to_absent: null was read as an absent value",
            "/labels null_to_absent: null was read as an absent value",
            "/steps null_to_absent: null was read as an absent value",
        ],
    ),
    got(
        "configure",
        r#"{"verbose":true,"limits":{"maxRetries":1,"dryRun":null}}"#,
        r#"{"verbose":true,"limits":{"maxRetries":1},"steps":[]}"#,
        &["/limits/dryRun null_to_absent: null was read as an absent value"],
    ),
    refused("configure", r#"{"verbose":null}"#, &["/verbose: expected a boolean, got null"]),
    refused(
        "configure",
        r#"{"verbose":true,"labels":{"a":null}}"#,
        &["/labels/a: expected an integer, got null"],
    ),
    refused("search", r#"{"query":"x","paths":[null]}"#, &["/paths/0: expected a string, got null"]),
    got(
        "search",
        r#"{"query":"x","mode":null}"#,
        r#"{"query":"x"}"#,
        &["/mode null_to_absent: null was read as an absent value"],
    ),
    got(
        "search",
        r#"{"query":"x","mode":"null"}"#,
        r#"{"query":"x"}"#,
        &[r#"/mode null_to_absent: the string "null" was read as an absent value"#],
    ),
    refused(
        "search",
        r#"{"query":"x","mode":""}"#,
        &[r#"/mode: expected one of "plain", "regex", "whole_word", got the string """#],
    ),
];
