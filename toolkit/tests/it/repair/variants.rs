//! Variants of enums.

use super::{Case, got, refused};

pub(crate) const CASES: &[Case] = &[
    got(
        "draw",
        r#"{"shapes":[{"kind":"circle","radius":"2"}]}"#,
        r#"{"shapes":[{"kind":"circle","radius":2.0}]}"#,
        &[r#"/shapes/0/radius string_to_number: the string "2" was read as a number"#],
    ),
    got(
        "draw",
        r#"{"shapes":{"kind":"circle","radius":2}}"#,
        r#"{"shapes":[{"kind":"circle","radius":2.0}]}"#,
        &[
            r#"/shapes value_to_list: the object {"kind":"circle","radius":2} was read as a list with this one item"#,
        ],
    ),
    got(
        "draw",
        r#"{"shapes":[{"kind":"Circle","radius":2}]}"#,
        r#"{"shapes":[{"kind":"circle","radius":2.0}]}"#,
        &[r#"/shapes/0/kind value_spelling: the string "Circle" was taken for "circle""#],
    ),
    got(
        "draw",
        r#"{"shapes":[{"Kind":"circle","radius":2}]}"#,
        r#"{"shapes":[{"kind":"circle","radius":2.0}]}"#,
        &["/shapes/0/kind name_spelling: `Kind` was taken for `kind`"],
    ),
    refused(
        "draw",
        r#"{"shapes":[{"type":"circle","radius":2}]}"#,
        &[
            r#"/shapes/0/kind: expected one of "circle", "rect" (required), got nothing; its value is under `type`"#,
        ],
    ),
    refused(
        "draw",
        r#"{"shapes":[{"kind":"square","width":2}]}"#,
        &[r#"/shapes/0/kind: expected one of "circle", "rect", got the string "square""#],
    ),
    refused(
        "draw",
        r#"{"shapes":[{"kind":"circle"}]}"#,
        &["/shapes/0/radius: expected a number of at least 0.0 (required), got nothing"],
    ),
    refused(
        "draw",
        r#"{"shapes":[{"kind":"circle","radius":-1}]}"#,
        &["/shapes/0/radius: expected a number of at least 0.0, got the number -1"],
    ),
    got(
        "draw",
        r#"{"shapes":[{"kind":"rect","width":"2","Height":3.0}]}"#,
        r#"{"shapes":[{"kind":"rect","width":2,"height":3}]}"#,
        &[
            "/shapes/0/height name_spelling: `Height` was taken for `height`",
            r#"/shapes/0/width string_to_number: the string "2" was read as a number"#,
        ],
    ),
    refused(
        "draw",
        r#"{"shapes":[{"kind":"rect","radius":2}]}"#,
        &[
            "/shapes/0/width: expected an integer from 0 to 4294967295 (required), got nothing",
            "/shapes/0/height: expected an integer from 0 to 4294967295 (required), got nothing",
            "/shapes/0/radius: expected one of the fields `kind`, `width`, `height`, got the unknown `radius`",
        ],
    ),
    refused(
        "draw",
        r#"{"shapes":[{"radius":2}]}"#,
        &[r#"/shapes/0/kind: expected one of "circle", "rect" (required), got nothing"#],
    ),
    refused(
        "draw",
        r#"{"shapes":["circle"]}"#,
        &[r#"/shapes/0: expected an object, got the string "circle""#],
    ),
    refused(
        "draw",
        r#"{"shapes":[{"circle":{"radius":2}}]}"#,
        &[r#"/shapes/0/kind: expected one of "circle", "rect" (required), got nothing"#],
    ),
    got(
        "draw",
        r#"{"shapes":"{\"kind\":\"circle\",\"radius\":1}"}"#,
        r#"{"shapes":[{"kind":"circle","radius":1.0}]}"#,
        &[
            r#"/shapes value_to_list: the string "{\"kind\":\"circle\",\"radius\":1}" was read as a list with this one item"#,
            r#"/shapes/0 string_to_object: the string "{\"kind\":\"circle\",\"radius\":1}" was read as an object"#,
        ],
    ),
    refused(
        "draw",
        r#"{"shapes":[],"background":"{\"kind\":\"circle\",\"radius\":\"x\"}"}"#,
        &[r#"/background/radius: expected a number of at least 0.0, got the string "x""#],
    ),
    refused(
        "draw",
        r#"{"shapes":[{"kind":"RECT","width":2,"height":"tall"}]}"#,
        &[r#"/shapes/0/height: expected an integer from 0 to 4294967295, got the string "tall""#],
    ),
    refused(
        "draw",
        r#"{"shapes":[{"kind":null,"radius":2}]}"#,
        &[r#"/shapes/0/kind: expected one of "circle", "rect", got null"#],
    ),
    got(
        "send",
        r#"{"target":{"user_id":"7"},"body":"hi"}"#,
        r#"{"target":{"user_id":7},"body":"hi"}"#,
        &[r#"/target/user_id string_to_number: the string "7" was read as a number"#],
    ),
    got(
        "send",
        r#"{"target":{"userId":7},"body":"hi"}"#,
        r#"{"target":{"user_id":7},"body":"hi"}"#,
        &["/target/user_id name_spelling: `userId` was taken for `user_id`"],
    ),
    refused(
        "send",
        r#"{"target":{"channel":5},"body":"hi"}"#,
        &["/target/channel: expected a string, got the number 5"],
    ),
    refused(
        "send",
        r#"{"target":"general","body":"hi"}"#,
        &[r#"/target: expected one of {"user_id": …}, {"channel": …}, got the string "general""#],
    ),
    got(
        "send",
        r#"{"target":{"user_id":7,"channel":"x"},"body":"hi"}"#,
        r#"{"target":{"user_id":7},"body":"hi"}"#,
        &[],
    ),
    refused(
        "send",
        r#"{"target":{},"body":"hi"}"#,
        &[r#"/target: expected one of {"user_id": …}, {"channel": …}, got an empty object"#],
    ),
    got(
        "send",
        r#"{"target":"{\"channel\":\"x\"}","body":"hi"}"#,
        r#"{"target":{"channel":"x"},"body":"hi"}"#,
        &[r#"/target string_to_object: the string "{\"channel\":\"x\"}" was read as an object"#],
    ),
    refused(
        "send",
        r#"{"target":[{"channel":"x"}],"body":"hi"}"#,
        &[r#"/target: expected one of {"user_id": …}, {"channel": …}, got the list [{"channel":"x"}]"#],
    ),
    got(
        "send",
        r#"{"target":{"channel":"x"},"body":"hi","token":"123"}"#,
        r#"{"target":{"channel":"x"},"body":"hi","token":123}"#,
        &["/token string_to_number: a value that is kept secret was read as a number"],
    ),
    refused(
        "send",
        r#"{"target":{"channel":"x"},"body":"hi","token":"hunter2"}"#,
        &["/token: expected an integer from 0 to 4294967295, got a value that is kept secret"],
    ),
    got(
        "send",
        r#"{"target":{"channel":"x"},"body":"hi","Token":"123"}"#,
        r#"{"target":{"channel":"x"},"body":"hi","token":123}"#,
        &[
            "/token name_spelling: another spelling was taken for `token`",
            "/token string_to_number: a value that is kept secret was read as a number",
        ],
    ),
    got(
        "store",
        r#"{"action":"Stop"}"#,
        r#"{"action":"stop"}"#,
        &[r#"/action value_spelling: the string "Stop" was taken for "stop""#],
    ),
    got("store", r#"{"action":"stop"}"#, r#"{"action":"stop"}"#, &[]),
    refused(
        "store",
        r#"{"action":{"stop":{}}}"#,
        &[r#"/action: expected one of "stop", {"start": …}, {"set_speed": …}, got the object {"stop":{}}"#],
    ),
    got(
        "store",
        r#"{"action":{"Start":{"delay":"3"}}}"#,
        r#"{"action":{"start":{"delay":3}}}"#,
        &[
            "/action/start name_spelling: `Start` was taken for `start`",
            r#"/action/start/delay string_to_number: the string "3" was read as a number"#,
        ],
    ),
    got(
        "store",
        r#"{"action":{"setSpeed":"4"}}"#,
        r#"{"action":{"set_speed":4}}"#,
        &[
            "/action/set_speed name_spelling: `setSpeed` was taken for `set_speed`",
            r#"/action/set_speed string_to_number: the string "4" was read as a number"#,
        ],
    ),
    refused(
        "store",
        r#"{"action":"start"}"#,
        &[r#"/action: expected one of "stop", {"start": …}, {"set_speed": …}, got the string "start""#],
    ),
    refused(
        "store",
        r#"{"action":{"start":{"delay":999}}}"#,
        &["/action/start/delay: expected an integer from 0 to 255, got the number 999"],
    ),
    refused(
        "store",
        r#"{"action":"go"}"#,
        &[r#"/action: expected one of "stop", {"start": …}, {"set_speed": …}, got the string "go""#],
    ),
    refused(
        "store",
        r#"{"action":{"start":{"delay":1},"stop":null}}"#,
        &["/action/stop: expected one of the fields `start`, got the unknown `stop`"],
    ),
    got(
        "store",
        r#"{"event":{"type":"key","data":"a"}}"#,
        r#"{"event":{"type":"Key","data":"a"}}"#,
        &[r#"/event/type value_spelling: the string "key" was taken for "Key""#],
    ),
    got(
        "store",
        r#"{"event":{"type":"Click","data":{"x":"1","y":2}}}"#,
        r#"{"event":{"type":"Click","data":{"x":1,"y":2}}}"#,
        &[r#"/event/data/x string_to_number: the string "1" was read as a number"#],
    ),
    refused(
        "store",
        r#"{"event":{"type":"Click","x":1,"y":2}}"#,
        &[
            "/event/data: expected an object (required), got nothing",
            "/event/x: expected one of the fields `type`, `data`, got the unknown `x`; did you mean `/event/data/x`?",
            "/event/y: expected one of the fields `type`, `data`, got the unknown `y`; did you mean `/event/data/y`?",
        ],
    ),
    refused(
        "store",
        r#"{"event":{"type":"Klick","data":1}}"#,
        &[r#"/event/type: expected one of "Key", "Click", got the string "Klick"; did you mean `Click`?"#],
    ),
    got(
        "store",
        r#"{"event":"{\"type\":\"Key\",\"data\":\"a\"}"}"#,
        r#"{"event":{"type":"Key","data":"a"}}"#,
        &[r#"/event string_to_object: the string "{\"type\":\"Key\",\"data\":\"a\"}" was read as an object"#],
    ),
];
