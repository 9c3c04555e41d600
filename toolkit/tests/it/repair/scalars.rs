//! Numbers, booleans and strings.

use super::{Case, got, refused};

pub(crate) const CASES: &[Case] = &[
    got(
        "read",
        r#"{"file_path":"a.rs","offset":"5"}"#,
        r#"{"file_path":"a.rs","offset":5}"#,
        &[r#"/offset string_to_number: the string "5" was read as a number"#],
    ),
    got(
        "read",
        r#"{"file_path":"a.rs","limit":"100","offset":"10"}"#,
        r#"{"file_path":"a.rs","offset":10,"limit":100}"#,
        &[
            r#"/limit string_to_number: the string "100" was read as a number"#,
            r#"/offset string_to_number: the string "10" was read as a number"#,
        ],
    ),
    got(
        "read",
        r#"{"file_path":"a.rs","limit":" 100 "}"#,
        r#"{"file_path":"a.rs","offset":1,"limit":100}"#,
        &[r#"/limit string_to_number: the string " 100 " was read as a number"#],
    ),
    got(
        "read",
        r#"{"file_path":"a.rs","limit":"5.0"}"#,
        r#"{"file_path":"a.rs","offset":1,"limit":5}"#,
        &[r#"/limit string_to_number: the string "5.0" was read as a number"#],
    ),
    got("read", r#"{"file_path":"a.rs","limit":5.0}"#, r#"{"file_path":"a.rs","offset":1,"limit":5}"#, &[]),
    refused(
        "read",
        r#"{"file_path":"a.rs","limit":"5.5"}"#,
        &[r#"/limit: expected an integer from 1 to 2000, got the string "5.5""#],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","limit":5.5}"#,
        &["/limit: expected an integer from 1 to 2000, got the number 5.5"],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","offset":"-3"}"#,
        &[r#"/offset: expected an integer of at least 1, got the string "-3""#],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","offset":"0"}"#,
        &[r#"/offset: expected an integer of at least 1, got the string "0""#],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","limit":"5000"}"#,
        &[r#"/limit: expected an integer from 1 to 2000, got the string "5000""#],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","offset":"1,000"}"#,
        &[r#"/offset: expected an integer of at least 1, got the string "1,000""#],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","offset":"0x10"}"#,
        &[r#"/offset: expected an integer of at least 1, got the string "0x10""#],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","offset":"ten"}"#,
        &[r#"/offset: expected an integer of at least 1, got the string "ten""#],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","offset":""}"#,
        &[r#"/offset: expected an integer of at least 1, got the string """#],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","limit":"none"}"#,
        &[r#"/limit: expected an integer from 1 to 2000, got the string "none""#],
    ),
    got(
        "read",
        r#"{"file_path":"a.rs","limit":"None"}"#,
        r#"{"file_path":"a.rs","offset":1}"#,
        &[r#"/limit null_to_absent: the string "None" was read as an absent value"#],
    ),
    got(
        "read",
        r#"{"file_path":"a.rs","limit":"null"}"#,
        r#"{"file_path":"a.rs","offset":1}"#,
        &[r#"/limit null_to_absent: the string "null" was read as an absent value"#],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","offset":"10 lines"}"#,
        &[r#"/offset: expected an integer of at least 1, got the string "10 lines""#],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","offset":true}"#,
        &["/offset: expected an integer of at least 1, got the boolean true"],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","offset":[5]}"#,
        &["/offset: expected an integer of at least 1, got the list [5]"],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","offset":{"value":5}}"#,
        &[r#"/offset: expected an integer of at least 1, got the object {"value":5}"#],
    ),
    got(
        "read",
        r#"{"file_path":"a.rs","offset":"1e2"}"#,
        r#"{"file_path":"a.rs","offset":100}"#,
        &[r#"/offset string_to_number: the string "1e2" was read as a number"#],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","offset":"99999999999999999999"}"#,
        &[r#"/offset: expected an integer of at least 1, got the string "99999999999999999999""#],
    ),
    got(
        "read",
        r#"{"file_path":"a.rs","offset":"18446744073709551615"}"#,
        r#"{"file_path":"a.rs","offset":18446744073709551615}"#,
        &[r#"/offset string_to_number: the string "18446744073709551615" was read as a number"#],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","offset":99999999999999999999}"#,
        &[
            "the arguments: expected integers of at most 64 bits, and any greater number with a decimal point or an exponent, got a longer integer at line 1 column 30",
        ],
    ),
    refused(
        "read",
        r#"{"file_path":"a.rs","offset":1e30}"#,
        &["/offset: expected an integer from 1 to 18446744073709551615, got the number 1e+30"],
    ),
    refused("read", r#"{"file_path":42}"#, &["/file_path: expected a string, got the number 42"]),
    refused("read", r#"{"file_path":null}"#, &["/file_path: expected a string, got null"]),
    refused(
        "read",
        r#"{"file_path":["a.rs"]}"#,
        &[r#"/file_path: expected a string, got the list ["a.rs"]"#],
    ),
    refused(
        "read",
        r#"{"file_path":{"path":"a.rs"}}"#,
        &[r#"/file_path: expected a string, got the object {"path":"a.rs"}"#],
    ),
    refused("read", r#"{"file_path":true}"#, &["/file_path: expected a string, got the boolean true"]),
    got(
        "search",
        r#"{"query":"x","case_sensitive":"true"}"#,
        r#"{"query":"x","case_sensitive":true}"#,
        &[r#"/case_sensitive string_to_boolean: the string "true" was read as a boolean"#],
    ),
    got(
        "search",
        r#"{"query":"x","case_sensitive":"False"}"#,
        r#"{"query":"x","case_sensitive":false}"#,
        &[r#"/case_sensitive string_to_boolean: the string "False" was read as a boolean"#],
    ),
    got(
        "search",
        r#"{"query":"x","case_sensitive":"TRUE"}"#,
        r#"{"query":"x","case_sensitive":true}"#,
        &[r#"/case_sensitive string_to_boolean: the string "TRUE" was read as a boolean"#],
    ),
    refused(
        "search",
        r#"{"query":"x","case_sensitive":"yes"}"#,
        &[r#"/case_sensitive: expected a boolean, got the string "yes""#],
    ),
    refused(
        "search",
        r#"{"query":"x","case_sensitive":1}"#,
        &["/case_sensitive: expected a boolean, got the number 1"],
    ),
    refused(
        "search",
        r#"{"query":"x","case_sensitive":"1"}"#,
        &[r#"/case_sensitive: expected a boolean, got the string "1""#],
    ),
    got(
        "search",
        r#"{"query":"x","since":"-86400"}"#,
        r#"{"query":"x","since":-86400}"#,
        &[r#"/since string_to_number: the string "-86400" was read as a number"#],
    ),
    got(
        "search",
        r#"{"query":"x","max_results":"50"}"#,
        r#"{"query":"x","max_results":50}"#,
        &[r#"/max_results string_to_number: the string "50" was read as a number"#],
    ),
    refused(
        "search",
        r#"{"query":"x","max_results":"51"}"#,
        &[r#"/max_results: expected an integer from 1 to 50, got the string "51""#],
    ),
    refused(
        "search",
        r#"{"query":"x","max_results":300}"#,
        &["/max_results: expected an integer from 1 to 50, got the number 300"],
    ),
    refused(
        "search",
        r#"{"query":"x","max_results":-1}"#,
        &["/max_results: expected an integer from 1 to 50, got the number -1"],
    ),
    refused(
        "search",
        r#"{"query":""}"#,
        &[r#"/query: expected a string of 1 to 80 characters, got the string """#],
    ),
    refused(
        "search",
        r#"{"query":5}"#,
        &["/query: expected a string of 1 to 80 characters, got the number 5"],
    ),
    refused(
        "search",
        r#"{"query":"x","since":"2024-01-01"}"#,
        &[r#"/since: expected an integer, got the string "2024-01-01""#],
    ),
    refused(
        "search",
        r#"{"query":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}"#,
        &[
            r#"/query: expected a string of 1 to 80 characters, got the string "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… (100 bytes)"#,
        ],
    ),
    got(
        "measure",
        r#"{"value":"3.14"}"#,
        r#"{"value":3.14,"samples":[]}"#,
        &[r#"/value string_to_number: the string "3.14" was read as a number"#],
    ),
    got(
        "measure",
        r#"{"value":"-2.5e-3"}"#,
        r#"{"value":-0.0025,"samples":[]}"#,
        &[r#"/value string_to_number: the string "-2.5e-3" was read as a number"#],
    ),
    refused("measure", r#"{"value":"NaN"}"#, &[r#"/value: expected a number, got the string "NaN""#]),
    refused(
        "measure",
        r#"{"value":"Infinity"}"#,
        &[r#"/value: expected a number, got the string "Infinity""#],
    ),
    refused("measure", r#"{"value":"3,14"}"#, &[r#"/value: expected a number, got the string "3,14""#]),
    refused("measure", r#"{"value":"50%"}"#, &[r#"/value: expected a number, got the string "50%""#]),
    refused("measure", r#"{"value":"1/2"}"#, &[r#"/value: expected a number, got the string "1/2""#]),
    got(
        "measure",
        r#"{"value":1,"ratio":"0.5"}"#,
        r#"{"value":1.0,"samples":[],"ratio":0.5}"#,
        &[r#"/ratio string_to_number: the string "0.5" was read as a number"#],
    ),
    refused(
        "measure",
        r#"{"value":1,"ratio":"1.0"}"#,
        &[r#"/ratio: expected a number of at least 0.0 below 1.0, got the string "1.0""#],
    ),
    refused(
        "measure",
        r#"{"value":1,"ratio":50}"#,
        &["/ratio: expected a number of at least 0.0 below 1.0, got the number 50"],
    ),
    refused("measure", r#"{"value":".5"}"#, &[r#"/value: expected a number, got the string ".5""#]),
    got(
        "list_files",
        r#"{"depth":"2","hidden":"true"}"#,
        r#"{"depth":2,"hidden":true}"#,
        &[
            r#"/depth string_to_number: the string "2" was read as a number"#,
            r#"/hidden string_to_boolean: the string "true" was read as a boolean"#,
        ],
    ),
    refused(
        "list_files",
        r#"{"depth":256}"#,
        &["/depth: expected an integer from 0 to 255, got the number 256"],
    ),
    refused(
        "list_files",
        r#"{"depth":"unlimited"}"#,
        &[r#"/depth: expected an integer from 0 to 255, got the string "unlimited""#],
    ),
];
