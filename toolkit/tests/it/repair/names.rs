//! Names and allowed values in other spellings.

use super::{Case, got, refused};

pub(crate) const CASES: &[Case] = &[
    got(
        "read",
        r#"{"filePath":"a.rs"}"#,
        r#"{"file_path":"a.rs","offset":1}"#,
        &["/file_path name_spelling: `filePath` was taken for `file_path`"],
    ),
    got(
        "read",
        r#"{"FilePath":"a.rs"}"#,
        r#"{"file_path":"a.rs","offset":1}"#,
        &["/file_path name_spelling: `FilePath` was taken for `file_path`"],
    ),
    got(
        "read",
        r#"{"file-path":"a.rs"}"#,
        r#"{"file_path":"a.rs","offset":1}"#,
        &["/file_path name_spelling: `file-path` was taken for `file_path`"],
    ),
    got(
        "read",
        r#"{"FILE_PATH":"a.rs"}"#,
        r#"{"file_path":"a.rs","offset":1}"#,
        &["/file_path name_spelling: `FILE_PATH` was taken for `file_path`"],
    ),
    got(
        "read",
        r#"{"file path":"a.rs"}"#,
        r#"{"file_path":"a.rs","offset":1}"#,
        &["/file_path name_spelling: `file path` was taken for `file_path`"],
    ),
    got(
        "read",
        r#"{"filepath":"a.rs"}"#,
        r#"{"file_path":"a.rs","offset":1}"#,
        &["/file_path name_spelling: `filepath` was taken for `file_path`"],
    ),
    got(
        "read",
        r#"{"Path":"a.rs"}"#,
        r#"{"file_path":"a.rs","offset":1}"#,
        &["/file_path name_spelling: `Path` was taken for `file_path`"],
    ),
    got("read", r#"{"path":"a.rs"}"#, r#"{"file_path":"a.rs","offset":1}"#, &[]),
    refused(
        "read",
        r#"{"path":"a.rs","file_path":"b.rs"}"#,
        &["/path: expected one value for `file_path`, got a second one: `path` is an alias of it"],
    ),
    refused(
        "read",
        r#"{"path":"a.rs","filePath":"b.rs"}"#,
        &[
            "/filePath: expected one value for `file_path`, got a second one: `filePath` is another spelling of it",
        ],
    ),
    refused(
        "read",
        r#"{"filePath":"a.rs","file_path":"b.rs"}"#,
        &[
            "/filePath: expected one value for `file_path`, got a second one: `filePath` is another spelling of it",
        ],
    ),
    refused(
        "read",
        r#"{"filePath":"a.rs","file-path":"a.rs"}"#,
        &[
            "/filePath: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `filePath`; did you mean `file_path`?",
            "/file-path: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `file-path`; did you mean `file_path`?",
            "/file_path: expected a string (required), got nothing",
        ],
    ),
    got("read", r#"{"path":null,"file_path":"a.rs"}"#, r#"{"file_path":"a.rs","offset":1}"#, &[]),
    refused(
        "read",
        r#"{"file":"a.rs"}"#,
        &[
            "/file: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `file`; did you mean `file_path`?",
            "/file_path: expected a string (required), got nothing",
        ],
    ),
    refused(
        "read",
        r#"{"filename":"a.rs"}"#,
        &[
            "/filename: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `filename`",
            "/file_path: expected a string (required), got nothing",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","line":5}"#,
        &["/line: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `line`"],
    ),
    got(
        "read",
        r#"{"file_path":"a.rs","Offset":"5","LIMIT":"7"}"#,
        r#"{"file_path":"a.rs","offset":5,"limit":7}"#,
        &[
            "/offset name_spelling: `Offset` was taken for `offset`",
            "/limit name_spelling: `LIMIT` was taken for `limit`",
            r#"/offset string_to_number: the string "5" was read as a number"#,
            r#"/limit string_to_number: the string "7" was read as a number"#,
        ],
    ),
    refused(
        "read",
        r#"{"files_path":"a.rs"}"#,
        &[
            "/files_path: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `files_path`; did you mean `file_path`?",
            "/file_path: expected a string (required), got nothing",
        ],
    ),
    refused(
        "read",
        r#"{"_file_path":"a.rs"}"#,
        &[
            "/_file_path: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `_file_path`; did you mean `file_path`?",
            "/file_path: expected a string (required), got nothing",
        ],
    ),
    refused(
        "read",
        r#"{"datei":"a.rs"}"#,
        &[
            "/datei: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `datei`",
            "/file_path: expected a string (required), got nothing",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","filеPath":"b"}"#,
        &[
            "/filеPath: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `filеPath`",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","description":"Read the file"}"#,
        &[
            "/description: expected one of the arguments `file_path`, `offset`, `limit`, got the unknown `description`",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","file_path":"b.rs"}"#,
        &[
            r#"the arguments: expected each key once in an object, got text in which the key "file_path" is repeated in one object at line 1 column 31"#,
        ],
    ),
    got(
        "search",
        r#"{"query":"x","maxResults":5,"caseSensitive":true}"#,
        r#"{"query":"x","max_results":5,"case_sensitive":true}"#,
        &[
            "/max_results name_spelling: `maxResults` was taken for `max_results`",
            "/case_sensitive name_spelling: `caseSensitive` was taken for `case_sensitive`",
        ],
    ),
    got(
        "search",
        r#"{"Query":"x","MaxResults":"5"}"#,
        r#"{"query":"x","max_results":5}"#,
        &[
            "/query name_spelling: `Query` was taken for `query`",
            "/max_results name_spelling: `MaxResults` was taken for `max_results`",
            r#"/max_results string_to_number: the string "5" was read as a number"#,
        ],
    ),
    refused(
        "search",
        r#"{"q":"x"}"#,
        &[
            "/q: expected one of the arguments `query`, `paths`, `max_results`, `case_sensitive`, `mode`, `since`, got the unknown `q`",
            "/query: expected a string of 1 to 80 characters (required), got nothing",
        ],
    ),
    refused(
        "search",
        r#"{"query":"x","max":5}"#,
        &[
            "/max: expected one of the arguments `query`, `paths`, `max_results`, `case_sensitive`, `mode`, `since`, got the unknown `max`",
        ],
    ),
    got(
        "search",
        r#"{"query":"x","mode":"PLAIN"}"#,
        r#"{"query":"x","mode":"plain"}"#,
        &[r#"/mode value_spelling: the string "PLAIN" was taken for "plain""#],
    ),
    got(
        "search",
        r#"{"query":"x","mode":"WholeWord"}"#,
        r#"{"query":"x","mode":"whole_word"}"#,
        &[r#"/mode value_spelling: the string "WholeWord" was taken for "whole_word""#],
    ),
    got(
        "search",
        r#"{"query":"x","mode":"whole-word"}"#,
        r#"{"query":"x","mode":"whole_word"}"#,
        &[r#"/mode value_spelling: the string "whole-word" was taken for "whole_word""#],
    ),
    refused(
        "search",
        r#"{"query":"x","mode":"regexp"}"#,
        &[
            r#"/mode: expected one of "plain", "regex", "whole_word", got the string "regexp"; did you mean `regex`?"#,
        ],
    ),
    refused(
        "search",
        r#"{"query":"x","mode":"fuzzy"}"#,
        &[r#"/mode: expected one of "plain", "regex", "whole_word", got the string "fuzzy""#],
    ),
    refused(
        "search",
        r#"{"query":"x","mode":1}"#,
        &[r#"/mode: expected one of "plain", "regex", "whole_word", got the number 1"#],
    ),
    refused(
        "search",
        r#"{"query":"x","mode":["plain"]}"#,
        &[r#"/mode: expected one of "plain", "regex", "whole_word", got the list ["plain"]"#],
    ),
    got(
        "search",
        r#"{"query":"x","mode":"plain "}"#,
        r#"{"query":"x","mode":"plain"}"#,
        &[r#"/mode value_spelling: the string "plain " was taken for "plain""#],
    ),
    refused(
        "search",
        r#"{"query":"x","case_sensitive":"true","caseSensitive":"false"}"#,
        &[
            "/caseSensitive: expected one value for `case_sensitive`, got a second one: `caseSensitive` is another spelling of it",
        ],
    ),
    got(
        "open",
        r#"{"userName":"a"}"#,
        r#"{"user_name":"a"}"#,
        &["/user_name name_spelling: `userName` was taken for `user_name`"],
    ),
    got("open", r#"{"userName":"a","user_name":"b"}"#, r#"{"user_name":"b"}"#, &[]),
    got("open", r#"{"user_name":"a","Age":5}"#, r#"{"user_name":"a"}"#, &[]),
    got(
        "open",
        r#"{"username":"a","age":"7"}"#,
        r#"{"user_name":"a","age":7}"#,
        &[
            "/user_name name_spelling: `username` was taken for `user_name`",
            r#"/age string_to_number: the string "7" was read as a number"#,
        ],
    ),
    refused("open", r#"{"age":7}"#, &["/user_name: expected a string (required), got nothing"]),
];
