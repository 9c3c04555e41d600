//! Lists, tuples and sets.

use super::{Case, got, refused};

pub(crate) const CASES: &[Case] = &[
    got(
        "search",
        r#"{"query":"x","paths":"src"}"#,
        r#"{"query":"x","paths":["src"]}"#,
        &[r#"/paths value_to_list: the string "src" was read as a list with this one item"#],
    ),
    got(
        "search",
        r#"{"query":"x","paths":"[\"src\",\"tests\"]"}"#,
        r#"{"query":"x","paths":["src","tests"]}"#,
        &[r#"/paths string_to_list: the string "[\"src\",\"tests\"]" was read as a list"#],
    ),
    refused(
        "search",
        r#"{"query":"x","paths":"src,tests"}"#,
        &[r#"/paths: expected an array, got the string "src,tests""#],
    ),
    refused(
        "search",
        r#"{"query":"x","paths":"src\ntests"}"#,
        &[r#"/paths: expected an array, got the string "src\ntests""#],
    ),
    refused(
        "search",
        r#"{"query":"x","paths":"['src', 'tests']"}"#,
        &[r#"/paths: expected an array, got the string "['src', 'tests']""#],
    ),
    refused(
        "search",
        r#"{"query":"x","paths":"[src]"}"#,
        &[r#"/paths: expected an array, got the string "[src]""#],
    ),
    refused(
        "search",
        r#"{"query":"x","paths":"[\"src\""}"#,
        &[r#"/paths: expected an array, got the string "[\"src\"""#],
    ),
    got(
        "search",
        r#"{"query":"x","paths":"5"}"#,
        r#"{"query":"x","paths":["5"]}"#,
        &[r#"/paths value_to_list: the string "5" was read as a list with this one item"#],
    ),
    refused("search", r#"{"query":"x","paths":""}"#, &[r#"/paths: expected an array, got the string """#]),
    refused("search", r#"{"query":"x","paths":5}"#, &["/paths: expected an array, got the number 5"]),
    refused("search", r#"{"query":"x","paths":[5]}"#, &["/paths/0: expected a string, got the number 5"]),
    refused(
        "search",
        r#"{"query":"x","paths":{"path":"src"}}"#,
        &[r#"/paths: expected an array, got the object {"path":"src"}"#],
    ),
    refused(
        "search",
        r#"{"query":"x","paths":"[1,2]"}"#,
        &["/paths/0: expected a string, got the number 1", "/paths/1: expected a string, got the number 2"],
    ),
    got(
        "search",
        r#"{"query":"x","paths":"my folder"}"#,
        r#"{"query":"x","paths":["my folder"]}"#,
        &[r#"/paths value_to_list: the string "my folder" was read as a list with this one item"#],
    ),
    refused(
        "search",
        r#"{"query":"x","paths":["src",["tests"]]}"#,
        &[r#"/paths/1: expected a string, got the list ["tests"]"#],
    ),
    got(
        "measure",
        r#"{"value":1,"samples":["1","2.5"]}"#,
        r#"{"value":1.0,"samples":[1.0,2.5]}"#,
        &[
            r#"/samples/0 string_to_number: the string "1" was read as a number"#,
            r#"/samples/1 string_to_number: the string "2.5" was read as a number"#,
        ],
    ),
    got(
        "measure",
        r#"{"value":1,"samples":3}"#,
        r#"{"value":1.0,"samples":[3.0]}"#,
        &["/samples value_to_list: the number 3 was read as a list with this one item"],
    ),
    got(
        "measure",
        r#"{"value":1,"samples":"3"}"#,
        r#"{"value":1.0,"samples":[3.0]}"#,
        &[
            r#"/samples value_to_list: the string "3" was read as a list with this one item"#,
            r#"/samples/0 string_to_number: the string "3" was read as a number"#,
        ],
    ),
    got(
        "measure",
        r#"{"value":1,"samples":"[1,2]"}"#,
        r#"{"value":1.0,"samples":[1.0,2.0]}"#,
        &[r#"/samples string_to_list: the string "[1,2]" was read as a list"#],
    ),
    got(
        "measure",
        r#"{"value":1,"samples":"[\"1\",2]"}"#,
        r#"{"value":1.0,"samples":[1.0,2.0]}"#,
        &[
            r#"/samples string_to_list: the string "[\"1\",2]" was read as a list"#,
            r#"/samples/0 string_to_number: the string "1" was read as a number"#,
        ],
    ),
    refused(
        "measure",
        r#"{"value":1,"samples":"1 2 3"}"#,
        &[r#"/samples: expected an array, got the string "1 2 3""#],
    ),
    refused(
        "measure",
        r#"{"value":1,"samples":["1","x"]}"#,
        &[r#"/samples/1: expected a number, got the string "x""#],
    ),
    got(
        "measure",
        r#"{"value":1,"counts":["1","2"]}"#,
        r#"{"value":1.0,"samples":[],"counts":[1,2]}"#,
        &[
            r#"/counts/0 string_to_number: the string "1" was read as a number"#,
            r#"/counts/1 string_to_number: the string "2" was read as a number"#,
        ],
    ),
    refused(
        "measure",
        r#"{"value":1,"counts":[1]}"#,
        &["/counts: expected an array of exactly 2 items, got the list [1]"],
    ),
    refused(
        "measure",
        r#"{"value":1,"counts":[1,2,3]}"#,
        &["/counts: expected an array of exactly 2 items, got the list [1,2,3]"],
    ),
    refused(
        "measure",
        r#"{"value":1,"counts":[1,256]}"#,
        &["/counts/1: expected an integer from 0 to 255, got the number 256"],
    ),
    got(
        "measure",
        r#"{"value":1,"samples":["0","1","2","3","4","5","6","7","8","9","10","11"]}"#,
        r#"{"value":1.0,"samples":[0.0,1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0,9.0,10.0,11.0]}"#,
        &[r#"/samples string_to_number: 12 times within, first at /0: the string "0" was read as a number"#],
    ),
    got(
        "store",
        r#"{"ids":"5"}"#,
        r#"{"ids":5}"#,
        &[r#"/ids string_to_number: the string "5" was read as a number"#],
    ),
    got(
        "store",
        r#"{"ids":"[5,6]"}"#,
        r#"{"ids":[5,6]}"#,
        &[r#"/ids string_to_list: the string "[5,6]" was read as a list"#],
    ),
    got(
        "store",
        r#"{"ids":["5","6"]}"#,
        r#"{"ids":[5,6]}"#,
        &[
            r#"/ids/0 string_to_number: the string "5" was read as a number"#,
            r#"/ids/1 string_to_number: the string "6" was read as a number"#,
        ],
    ),
    refused(
        "store",
        r#"{"ids":"five"}"#,
        &[r#"/ids: expected an integer or an array, got the string "five""#],
    ),
    refused(
        "store",
        r#"{"rows":[1,2]}"#,
        &["/rows/0: expected an array, got the number 1", "/rows/1: expected an array, got the number 2"],
    ),
    got(
        "store",
        r#"{"rows":[["1","2"],[3]]}"#,
        r#"{"rows":[[1,2],[3]]}"#,
        &[
            r#"/rows/0/0 string_to_number: the string "1" was read as a number"#,
            r#"/rows/0/1 string_to_number: the string "2" was read as a number"#,
        ],
    ),
    got(
        "store",
        r#"{"rows":"[[1,2],[3]]"}"#,
        r#"{"rows":[[1,2],[3]]}"#,
        &[r#"/rows string_to_list: the string "[[1,2],[3]]" was read as a list"#],
    ),
    refused("store", r#"{"rows":5}"#, &["/rows: expected an array, got the number 5"]),
    got(
        "store",
        r#"{"rows":[[1],2]}"#,
        r#"{"rows":[[1],[2]]}"#,
        &["/rows/1 value_to_list: the number 2 was read as a list with this one item"],
    ),
    got(
        "store",
        r#"{"points":[1,2]}"#,
        r#"{"points":[[1.0,2.0]]}"#,
        &["/points value_to_list: the list [1,2] was read as a list with this one item"],
    ),
    got(
        "store",
        r#"{"points":["1","2"]}"#,
        r#"{"points":[[1.0,2.0]]}"#,
        &[
            r#"/points value_to_list: the list ["1","2"] was read as a list with this one item"#,
            r#"/points/0/0 string_to_number: the string "1" was read as a number"#,
            r#"/points/0/1 string_to_number: the string "2" was read as a number"#,
        ],
    ),
    refused(
        "store",
        r#"{"points":[1,2,3]}"#,
        &[
            "/points/0: expected an array of exactly 2 items, got the number 1",
            "/points/1: expected an array of exactly 2 items, got the number 2",
            "/points/2: expected an array of exactly 2 items, got the number 3",
        ],
    ),
    refused(
        "store",
        r#"{"tags":["a","a"]}"#,
        &[r#"/tags: expected an array without repeated items, got the list ["a","a"]"#],
    ),
    got(
        "store",
        r#"{"tags":"a"}"#,
        r#"{"tags":["a"]}"#,
        &[r#"/tags value_to_list: the string "a" was read as a list with this one item"#],
    ),
    got(
        "store",
        r#"{"pair":["1","x"]}"#,
        r#"{"pair":[1,"x"]}"#,
        &[r#"/pair/0 string_to_number: the string "1" was read as a number"#],
    ),
    refused("store", r#"{"pair":[1]}"#, &["/pair: expected an array of exactly 2 items, got the list [1]"]),
    got(
        "store",
        r#"{"pair":"[1,\"x\"]"}"#,
        r#"{"pair":[1,"x"]}"#,
        &[r#"/pair string_to_list: the string "[1,\"x\"]" was read as a list"#],
    ),
    refused(
        "store",
        r#"{"letter":"ab"}"#,
        &[r#"/letter: expected a string of exactly 1 character, got the string "ab""#],
    ),
    refused(
        "store",
        r#"{"letter":""}"#,
        &[r#"/letter: expected a string of exactly 1 character, got the string """#],
    ),
    got("store", r#"{"any":"5"}"#, r#"{"any":"5"}"#, &[]),
];
