//! Objects and maps, deep ones too.

use super::{Case, got, refused};

pub(crate) const CASES: &[Case] = &[
    got(
        "configure",
        r#"{"verbose":true,"limits":"{\"maxRetries\":3}"}"#,
        r#"{"verbose":true,"limits":{"maxRetries":3},"steps":[]}"#,
        &[r#"/limits string_to_object: the string "{\"maxRetries\":3}" was read as an object"#],
    ),
    got(
        "configure",
        r#"{"verbose":"true","limits":"{\"maxRetries\":\"3\"}"}"#,
        r#"{"verbose":true,"limits":{"maxRetries":3},"steps":[]}"#,
        &[
            r#"/verbose string_to_boolean: the string "true" was read as a boolean"#,
            r#"/limits string_to_object: the string "{\"maxRetries\":\"3\"}" was read as an object"#,
            r#"/limits/maxRetries string_to_number: the string "3" was read as a number"#,
        ],
    ),
    got(
        "configure",
        r#"{"verbose":true,"limits":"{\"max_retries\":3,\"dry-run\":\"false\"}"}"#,
        r#"{"verbose":true,"limits":{"maxRetries":3,"dryRun":false},"steps":[]}"#,
        &[
            r#"/limits string_to_object: the string "{\"max_retries\":3,\"dry-run\":\"false\"}" was read as an object"#,
            "/limits/maxRetries name_spelling: `max_retries` was taken for `maxRetries`",
            "/limits/dryRun name_spelling: `dry-run` was taken for `dryRun`",
            r#"/limits/dryRun string_to_boolean: the string "false" was read as a boolean"#,
        ],
    ),
    refused(
        "configure",
        r#"{"verbose":true,"limits":"{'maxRetries': 3}"}"#,
        &[r#"/limits: expected an object, got the string "{'maxRetries': 3}""#],
    ),
    refused(
        "configure",
        r#"{"verbose":true,"limits":"{\"maxRetries\":3,\"maxRetries\":4}"}"#,
        &[r#"/limits: expected an object, got the string "{\"maxRetries\":3,\"maxRetries\":4}""#],
    ),
    refused(
        "configure",
        r#"{"verbose":true,"limits":"{\"maxRetries\":"}"#,
        &[r#"/limits: expected an object, got the string "{\"maxRetries\":""#],
    ),
    refused(
        "configure",
        r#"{"verbose":true,"limits":"{\"maxRetries\":300}"}"#,
        &["/limits/maxRetries: expected an integer from 0 to 255, got the number 300"],
    ),
    got(
        "configure",
        r#"{"verbose":true,"limits":"```json\n{\"maxRetries\":3}\n```"}"#,
        r#"{"verbose":true,"limits":{"maxRetries":3},"steps":[]}"#,
        &[r#"/limits string_to_object: the string "```json\n{\"maxRetries\":3}\n```" was read as an object"#],
    ),
    refused(
        "configure",
        r#"{"verbose":true,"limits":[]}"#,
        &["/limits: expected an object, got an empty list"],
    ),
    refused(
        "configure",
        r#"{"verbose":true,"limits":[{"maxRetries":3}]}"#,
        &[r#"/limits: expected an object, got the list [{"maxRetries":3}]"#],
    ),
    refused(
        "configure",
        r#"{"verbose":true,"limits":""}"#,
        &[r#"/limits: expected an object, got the string """#],
    ),
    refused(
        "configure",
        r#"{"verbose":true,"limits":"default"}"#,
        &[r#"/limits: expected an object, got the string "default""#],
    ),
    refused(
        "configure",
        r#"{"verbose":true,"maxRetries":3}"#,
        &[
            "/maxRetries: expected one of the arguments `verbose`, `limits`, `labels`, `steps`, got the unknown `maxRetries`",
        ],
    ),
    refused(
        "configure",
        r#"{"verbose":true,"limits":{"maxRetries":3,"timeout":5}}"#,
        &["/limits/timeout: expected one of the fields `maxRetries`, `dryRun`, got the unknown `timeout`"],
    ),
    refused(
        "configure",
        r#"{"verbose":true,"limits":{}}"#,
        &["/limits/maxRetries: expected an integer from 0 to 255 (required), got nothing"],
    ),
    got(
        "configure",
        r#"{"verbose":true,"labels":{"a":"1","b":2}}"#,
        r#"{"verbose":true,"labels":{"a":1,"b":2},"steps":[]}"#,
        &[r#"/labels/a string_to_number: the string "1" was read as a number"#],
    ),
    got(
        "configure",
        r#"{"verbose":true,"labels":"{\"a\":1}"}"#,
        r#"{"verbose":true,"labels":{"a":1},"steps":[]}"#,
        &[r#"/labels string_to_object: the string "{\"a\":1}" was read as an object"#],
    ),
    refused(
        "configure",
        r#"{"verbose":true,"labels":{"a":"one"}}"#,
        &[r#"/labels/a: expected an integer, got the string "one""#],
    ),
    refused(
        "configure",
        r#"{"verbose":true,"labels":[["a",1]]}"#,
        &[r#"/labels: expected an object, got the list [["a",1]]"#],
    ),
    got(
        "configure",
        r#"{"verbose":true,"steps":{"maxRetries":1}}"#,
        r#"{"verbose":true,"steps":[{"maxRetries":1}]}"#,
        &[r#"/steps value_to_list: the object {"maxRetries":1} was read as a list with this one item"#],
    ),
    got(
        "configure",
        r#"{"verbose":true,"steps":"[{\"maxRetries\":1}]"}"#,
        r#"{"verbose":true,"steps":[{"maxRetries":1}]}"#,
        &[r#"/steps string_to_list: the string "[{\"maxRetries\":1}]" was read as a list"#],
    ),
    got(
        "configure",
        r#"{"verbose":true,"steps":"{\"maxRetries\":1}"}"#,
        r#"{"verbose":true,"steps":[{"maxRetries":1}]}"#,
        &[
            r#"/steps value_to_list: the string "{\"maxRetries\":1}" was read as a list with this one item"#,
            r#"/steps/0 string_to_object: the string "{\"maxRetries\":1}" was read as an object"#,
        ],
    ),
    got(
        "configure",
        r#"{"verbose":true,"steps":["{\"maxRetries\":1}"]}"#,
        r#"{"verbose":true,"steps":[{"maxRetries":1}]}"#,
        &[r#"/steps/0 string_to_object: the string "{\"maxRetries\":1}" was read as an object"#],
    ),
    refused(
        "configure",
        r#"{"verbose":true,"steps":[{"maxRetries":"1"},{"maxRetries":"x"}]}"#,
        &[r#"/steps/1/maxRetries: expected an integer from 0 to 255, got the string "x""#],
    ),
    got(
        "edit_file",
        r#"{"file_path":"a","edits":[{"oldText":"a","newText":"b"}]}"#,
        r#"{"file_path":"a","edits":[{"old_text":"a","new_text":"b"}]}"#,
        &[
            "/edits/0/old_text name_spelling: `oldText` was taken for `old_text`",
            "/edits/0/new_text name_spelling: `newText` was taken for `new_text`",
        ],
    ),
    got(
        "edit_file",
        r#"{"file_path":"a","edits":{"old_text":"a","new_text":"b","replace_all":"true"}}"#,
        r#"{"file_path":"a","edits":[{"old_text":"a","new_text":"b","replace_all":true}]}"#,
        &[
            r#"/edits value_to_list: the object {"old_text":"a","new_text":"b","replace_all":"true"} was read as a list with this one item"#,
            r#"/edits/0/replace_all string_to_boolean: the string "true" was read as a boolean"#,
        ],
    ),
    got(
        "edit_file",
        r#"{"file_path":"a","edits":"[{\"old_text\":\"a,[b\",\"new_text\":\"\"}]"}"#,
        r#"{"file_path":"a","edits":[{"old_text":"a,[b","new_text":""}]}"#,
        &[
            r#"/edits string_to_list: the string "[{\"old_text\":\"a,[b\",\"new_text\":\"\"}]" was read as a list"#,
        ],
    ),
    refused(
        "edit_file",
        r#"{"file_path":"a","edits":[{"old_string":"a","new_string":"b"}]}"#,
        &[
            "/edits/0/old_text: expected a string (required), got nothing",
            "/edits/0/new_text: expected a string (required), got nothing",
            "/edits/0/old_string: expected one of the fields `old_text`, `new_text`, `replace_all`, got the unknown `old_string`",
            "/edits/0/new_string: expected one of the fields `old_text`, `new_text`, `replace_all`, got the unknown `new_string`",
        ],
    ),
    refused(
        "edit_file",
        r#"{"file_path":"a","old_text":"a","new_text":"b"}"#,
        &[
            "/edits: expected an array (required), got nothing",
            "/old_text: expected one of the arguments `file_path`, `edits`, got the unknown `old_text`; did you mean `/edits/0/old_text`?",
            "/new_text: expected one of the arguments `file_path`, `edits`, got the unknown `new_text`; did you mean `/edits/0/new_text`?",
        ],
    ),
    refused(
        "edit_file",
        r#"{"file_path":"a","edits":["a","b"]}"#,
        &[
            r#"/edits/0: expected an object, got the string "a""#,
            r#"/edits/1: expected an object, got the string "b""#,
        ],
    ),
    refused(
        "edit_file",
        r#"{"file_path":"a","edits":[{"old_text":"a"}]}"#,
        &["/edits/0/new_text: expected a string (required), got nothing"],
    ),
    got("edit_file", r#"{"file_path":"a","edits":[]}"#, r#"{"file_path":"a","edits":[]}"#, &[]),
    got(
        "tree",
        r#"{"name":"a","children":[{"name":"b","children":[{"Name":"c","children":"[]"}]}]}"#,
        r#"{"name":"a","children":[{"name":"b","children":[{"name":"c","children":[]}]}]}"#,
        &[
            "/children/0/children/0/name name_spelling: `Name` was taken for `name`",
            r#"/children/0/children/0/children string_to_list: the string "[]" was read as a list"#,
        ],
    ),
    got(
        "tree",
        r#"{"name":"a","children":{"name":"b","children":{"name":"c"}}}"#,
        r#"{"name":"a","children":[{"name":"b","children":[{"name":"c","children":[]}]}]}"#,
        &[
            r#"/children value_to_list: the object {"name":"b","children":{"name":"c"}} was read as a list with this one item"#,
            r#"/children/0/children value_to_list: the object {"name":"c"} was read as a list with this one item"#,
        ],
    ),
    refused(
        "tree",
        r#"{"name":"a","children":["b"]}"#,
        &[r#"/children/0: expected an object, got the string "b""#],
    ),
    refused(
        "tree",
        r#"{"name":"a","children":[{"name":"b","children":[{"name":5}]}]}"#,
        &["/children/0/children/0/name: expected a string, got the number 5"],
    ),
];
