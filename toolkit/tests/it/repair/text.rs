//! Text that is not quite JSON.

use super::{Case, got, refused};

pub(crate) const CASES: &[Case] = &[
    got(
        "read",
        "```json\n{\"file_path\":\"a.rs\"}\n```",
        r#"{"file_path":"a.rs","offset":1}"#,
        &[" text_unwrapped: text around the JSON was left out"],
    ),
    got(
        "read",
        "```\n{\"file_path\":\"a.rs\"}\n```",
        r#"{"file_path":"a.rs","offset":1}"#,
        &[" text_unwrapped: text around the JSON was left out"],
    ),
    got(
        "read",
        "\u{FEFF}{\"file_path\":\"a.rs\"}",
        r#"{"file_path":"a.rs","offset":1}"#,
        &[" text_unwrapped: text around the JSON was left out"],
    ),
    got("read", "{\"file_path\":\"a.rs\"}\n\n", r#"{"file_path":"a.rs","offset":1}"#, &[]),
    refused(
        "read",
        "```json\n{\"file_path\":\"a.rs\",}\n```",
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: trailing comma at line 1 column 21",
        ],
    ),
    refused(
        "read",
        "```json\n{\"file_path\":\"a.rs\"",
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: expected value at line 1 column 1; send the JSON object alone",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs""#,
        &[
            "the arguments: expected a whole JSON object, got JSON text that ends too early, at line 1 column 19; it may have been cut off: send all of it again",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"a.r"#,
        &[
            "the arguments: expected a whole JSON object, got JSON text that ends too early, at line 1 column 17; it may have been cut off: send all of it again",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"#,
        &[
            "the arguments: expected a whole JSON object, got JSON text that ends too early, at line 1 column 13; it may have been cut off: send all of it again",
        ],
    ),
    refused(
        "read",
        "{",
        &[
            "the arguments: expected a whole JSON object, got JSON text that ends too early, at line 1 column 1; it may have been cut off: send all of it again",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs",}"#,
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: trailing comma at line 1 column 21",
        ],
    ),
    refused(
        "read",
        "{'file_path': 'a.rs'}",
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: key must be a string at line 1 column 2; JSON has double quotes around strings and keys",
        ],
    ),
    refused(
        "read",
        r#"{file_path: "a.rs"}"#,
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: key must be a string at line 1 column 2; JSON has double quotes around keys",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","limit":None}"#,
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: expected value at line 1 column 29; JSON writes `true`, `false` and `null`",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","limit":True}"#,
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: expected value at line 1 column 29; JSON writes `true`, `false` and `null`",
        ],
    ),
    refused(
        "search",
        r#"{"query":"a","case_sensitive":False}"#,
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: expected value at line 1 column 31; JSON writes `true`, `false` and `null`",
        ],
    ),
    refused(
        "measure",
        r#"{"value":Infinity}"#,
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: expected value at line 1 column 10; JSON has no such number",
        ],
    ),
    refused(
        "measure",
        r#"{"value":-Infinity}"#,
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: invalid number at line 1 column 11; JSON has no such number",
        ],
    ),
    refused(
        "read",
        "{\"file_path\":\"a\tb\"}",
        &[
            r"the arguments: expected a JSON object, got text that is not valid JSON: control character (\u0000-\u001F) found while parsing a string at line 1 column 16; write a line break in a string as \n and a tab as \t",
        ],
    ),
    refused(
        "read",
        "{\"file_path\":\"a\u{1}b\"}",
        &[
            r"the arguments: expected a JSON object, got text that is not valid JSON: control character (\u0000-\u001F) found while parsing a string at line 1 column 16",
        ],
    ),
    refused(
        "read",
        "{\"file_path\":\"a.rs\"\n\n\t\"limit\":5}",
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: expected `,` or `}` at line 3 column 2",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","limit":NaN}"#,
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: expected value at line 1 column 29; JSON has no such number",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs"}}"#,
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: trailing characters at line 1 column 21; nothing may follow the object",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs"}{"file_path":"b.rs"}"#,
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: trailing characters at line 1 column 21; nothing may follow the object",
        ],
    ),
    refused(
        "read",
        r#"Here you go: {"file_path":"a.rs"}"#,
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: expected value at line 1 column 1; send the JSON object alone",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs"} // done"#,
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: trailing characters at line 1 column 22; nothing may follow the object",
        ],
    ),
    refused(
        "read",
        r#"{"file_path" "a.rs"}"#,
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: expected `:` at line 1 column 14",
        ],
    ),
    refused(
        "read",
        "{\"file_path\":\"a\nb\"}",
        &[
            r"the arguments: expected a JSON object, got text that is not valid JSON: control character (\u0000-\u001F) found while parsing a string at line 2 column 0; write a line break in a string as \n and a tab as \t",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"C:\dir"}"#,
        &[
            r"the arguments: expected a JSON object, got text that is not valid JSON: invalid escape at line 1 column 18; write a backslash in a string as \\",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","limit":05}"#,
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: invalid number at line 1 column 30",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","limit":+5}"#,
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: expected value at line 1 column 29",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs" "limit":5}"#,
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: expected `,` or `}` at line 1 column 21",
        ],
    ),
    refused(
        "read",
        "<file_path>a.rs</file_path>",
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: expected value at line 1 column 1; send the JSON object alone",
        ],
    ),
    refused(
        "read",
        "file_path=a.rs",
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: expected ident at line 1 column 2; send the JSON object alone",
        ],
    ),
    refused(
        "read",
        "a.rs",
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: expected value at line 1 column 1; send the JSON object alone",
        ],
    ),
    refused(
        "read",
        "undefined",
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: expected value at line 1 column 1; send the JSON object alone",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"\ud800"}"#,
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: unexpected end of hex escape at line 1 column 21",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"日本語.txt","LIMIT":"３"}"#,
        &[r#"/limit: expected an integer from 1 to 2000, got the string "３""#],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs"}</tool_call>"#,
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: trailing characters at line 1 column 21; nothing may follow the object",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","limit":5,"limit":5}"#,
        &[
            r#"the arguments: expected each key once in an object, got text in which the key "limit" is repeated in one object at line 1 column 37"#,
        ],
    ),
    refused(
        "read",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: recursion limit exceeded at line 1 column 128; lists and objects may nest at most 127 deep",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","limit":1e999}"#,
        &[
            "the arguments: expected a JSON object, got text that is not valid JSON: number out of range at line 1 column 33",
        ],
    ),
];
