//! Arguments within something else.

use super::{Case, got, refused};

pub(crate) const CASES: &[Case] = &[
    got(
        "read",
        r#"{"arguments":{"file_path":"a.rs"}}"#,
        r#"{"file_path":"a.rs","offset":1}"#,
        &[" arguments_unwrapped: the arguments were nested under `arguments`"],
    ),
    got(
        "read",
        r#"{"input":{"filePath":"a.rs","limit":"5"}}"#,
        r#"{"file_path":"a.rs","offset":1,"limit":5}"#,
        &[
            " arguments_unwrapped: the arguments were nested under `input`",
            "/file_path name_spelling: `filePath` was taken for `file_path`",
            r#"/limit string_to_number: the string "5" was read as a number"#,
        ],
    ),
    got(
        "read",
        r#"{"parameters":"{\"file_path\":\"a.rs\"}"}"#,
        r#"{"file_path":"a.rs","offset":1}"#,
        &[
            " arguments_unwrapped: the arguments were nested under `parameters`",
            r#" string_to_object: the string "{\"file_path\":\"a.rs\"}" was read as an object"#,
        ],
    ),
    got(
        "read",
        r#"{"name":"read","arguments":{"file_path":"a.rs"}}"#,
        r#"{"file_path":"a.rs","offset":1}"#,
        &[" arguments_unwrapped: the arguments were nested under `arguments`"],
    ),
    refused(
        "read",
        r#"{"name":"write","arguments":{"file_path":"a.rs"}}"#,
        &[
            "/name: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `name`",
            "/arguments: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `arguments`",
            "/file_path: expected a string (required), got nothing",
        ],
    ),
    refused(
        "read",
        r#"{"params":{"file":"a.rs"}}"#,
        &[
            "/params: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `params`",
            "/file_path: expected a string (required), got nothing",
        ],
    ),
    refused(
        "read",
        r#"{"input":"a.rs"}"#,
        &[
            "/input: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `input`",
            "/file_path: expected a string (required), got nothing",
        ],
    ),
    refused(
        "read",
        r#"{"args":["a.rs"]}"#,
        &[
            "/args: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `args`",
            "/file_path: expected a string (required), got nothing",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","kwargs":{"limit":5}}"#,
        &["/kwargs: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `kwargs`"],
    ),
    refused(
        "read",
        r#"{"read":{"file_path":"a.rs"}}"#,
        &[
            "/read: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `read`",
            "/file_path: expected a string (required), got nothing",
        ],
    ),
    refused(
        "read",
        r#"{"arguments":{"arguments":{"file_path":"a.rs"}}}"#,
        &[
            "/arguments: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `arguments`",
            "/file_path: expected a string (required), got nothing",
        ],
    ),
    got(
        "read",
        r#""{\"file_path\":\"a.rs\"}""#,
        r#"{"file_path":"a.rs","offset":1}"#,
        &[r#" string_to_object: the string "{\"file_path\":\"a.rs\"}" was read as an object"#],
    ),
    got(
        "read",
        r#""{\"file_path\":\"a.rs\",\"limit\":\"5\"}""#,
        r#"{"file_path":"a.rs","offset":1,"limit":5}"#,
        &[
            r#" string_to_object: the string "{\"file_path\":\"a.rs\",\"limit\":\"5\"}" was read as an object"#,
            r#"/limit string_to_number: the string "5" was read as a number"#,
        ],
    ),
    refused(
        "read",
        r#""{\"file_path\":\"a.rs\",\"file_path\":\"b.rs\"}""#,
        &[
            r#"the arguments: expected each key once in an object, got text in which the key "file_path" is repeated in one object at line 1 column 31"#,
        ],
    ),
    refused("read", r#""a.rs""#, &[r#"the arguments: expected an object, got the string "a.rs""#]),
    refused(
        "read",
        r#"[{"file_path":"a.rs"}]"#,
        &[r#"the arguments: expected an object, got the list [{"file_path":"a.rs"}]"#],
    ),
    refused("read", r#"["a.rs",5]"#, &[r#"the arguments: expected an object, got the list ["a.rs",5]"#]),
    refused(
        "read",
        r#""\"{\\\"file_path\\\":\\\"a.rs\\\"}\"""#,
        &[r#"the arguments: expected an object, got the string "\"{\\\"file_path\\\":\\\"a.rs\\\"}\"""#],
    ),
    refused("read", "5", &["the arguments: expected an object, got the number 5"]),
    refused("read", "true", &["the arguments: expected an object, got the boolean true"]),
    refused(
        "open",
        r#"{"arguments":{"user_name":"a"}}"#,
        &["/user_name: expected a string (required), got nothing"],
    ),
    got(
        "ping",
        r#"{"arguments":{}}"#,
        "{}",
        &[" arguments_unwrapped: the arguments were nested under `arguments`"],
    ),
    got("ping", r#"{"input":""}"#, "{}", &[" arguments_unwrapped: the arguments were nested under `input`"]),
    refused(
        "read",
        r#"{"name":"read","tool":"read","arguments":{"file_path":"a.rs"}}"#,
        &[
            "/name: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `name`",
            "/tool: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `tool`",
            "/arguments: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `arguments`",
            "/file_path: expected a string (required), got nothing",
        ],
    ),
    refused(
        "read",
        r#"{"input":{"file_path":"a.rs"},"arguments":{"file_path":"b.rs"}}"#,
        &[
            "/input: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `input`",
            "/arguments: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `arguments`",
            "/file_path: expected a string (required), got nothing",
        ],
    ),
    // It has an argument of that name.
    refused(
        "tree",
        r#"{"name":"tree","arguments":{"name":"a"}}"#,
        &["/arguments: expected one of the arguments `name`, `children`, got the unknown `arguments`"],
    ),
    refused(
        "ping",
        r#"{"input":"{}","title":"ping"}"#,
        &[
            "/input: expected no arguments, got the unknown `input`",
            "/title: expected no arguments, got the unknown `title`",
        ],
    ),
    got(
        "ping",
        r#"{"input":"null"}"#,
        "{}",
        &[" arguments_unwrapped: the arguments were nested under `input`"],
    ),
    got(
        "ping",
        r#"{"input":" None "}"#,
        "{}",
        &[" arguments_unwrapped: the arguments were nested under `input`"],
    ),
    got(
        "ping",
        r#"{"input":null}"#,
        "{}",
        &[" arguments_unwrapped: the arguments were nested under `input`"],
    ),
];
