//! Arguments of every shape serde knows: as a whole, in variants, in maps, with secrets.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]
#![expect(clippy::too_many_arguments, reason = "one tool with every kind of argument")]

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::IpAddr;
use toolkit::prelude::*;
use toolkit::{Tool, ToolErrorKind, ToolResult, tool_ref};

async fn call(tool: Tool, arguments: &str) -> ToolResult {
    let name = tool.name().to_owned();
    let toolkit = Toolkit::empty().without_asking_first().tool(tool).build().unwrap();
    toolkit.toolbox(&Caller::new()).await.call(ToolCall::new("1", &name, arguments)).await
}

/// The problems that a call is refused with, one a line.
async fn refusal(tool: Tool, arguments: &str) -> String {
    let result = call(tool, arguments).await;
    let error = result.error().unwrap_or_else(|| panic!("accepted {arguments}: {}", result.text()));
    assert_eq!(error.kind(), ToolErrorKind::InvalidArguments, "{arguments}: {error}");
    let lines: Vec<&str> = error.message().lines().filter(|line| line.starts_with("- ")).collect();
    lines.join("\n")
}

#[toolkit::args]
#[derive(Debug)]
#[serde(tag = "kind")]
enum Internal {
    One {
        /// A number.
        #[arg(alias = "num")]
        n: u8,
    },
    Two {
        s: String,
    },
    Three,
}

#[toolkit::args]
#[derive(Debug)]
#[serde(tag = "kind", content = "data")]
enum Adjacent {
    One(u8),
    Two { s: String },
}

#[toolkit::args]
#[derive(Debug)]
enum External {
    One {
        n: u8,
    },
    New(u8),
    /// Nothing more.
    Unit,
}

#[toolkit::args]
#[derive(Debug)]
#[serde(untagged)]
enum Untagged {
    File {
        #[arg(alias = "path")]
        file: String,
    },
    Url {
        url: String,
        #[arg(alias = "wait")]
        timeout: Option<u8>,
    },
}

#[toolkit::args]
#[derive(Debug)]
struct Flattened {
    name: String,
    #[serde(flatten)]
    kind: Internal,
}

#[toolkit::args]
#[derive(Debug)]
struct OptionalFlattened {
    name: String,
    #[serde(flatten)]
    kind: Option<Internal>,
}

#[toolkit::args]
#[derive(Debug)]
struct UntaggedFlattened {
    name: String,
    #[serde(flatten)]
    kind: Untagged,
}

#[toolkit::args]
#[derive(Debug)]
struct Node {
    name: String,
    #[arg(default)]
    children: Vec<Node>,
}

macro_rules! whole {
    ($($name:ident: $type:ty),* $(,)?) => { $(
        /// Takes it whole.
        #[tool(read_only)]
        async fn $name(#[args] all: $type) -> String {
            format!("{all:?}")
        }
    )* };
}

whole!(
    internal: Internal, adjacent: Adjacent, external: External, untagged: Untagged, flattened: Flattened,
    optional_flattened: OptionalFlattened, untagged_flattened: UntaggedFlattened, node: Node, map: BTreeMap<String, u8>,
);

#[tokio::test]
async fn every_enum_can_be_all_the_arguments() {
    for (tool, arguments, expected) in [
        (tool_ref!(internal), r#"{"kind":"One","n":1.0}"#, "One { n: 1 }"),
        (tool_ref!(internal), r#"{"kind":"One","num":1}"#, "One { n: 1 }"),
        (tool_ref!(internal), r#"{"kind":"Three"}"#, "Three"),
        (tool_ref!(adjacent), r#"{"kind":"One","data":1}"#, "One(1)"),
        (tool_ref!(adjacent), r#"{"kind":"Two","data":{"s":"x"}}"#, r#"Two { s: "x" }"#),
        (tool_ref!(external), r#"{"One":{"n":1}}"#, "One { n: 1 }"),
        (tool_ref!(external), r#"{"New":1}"#, "New(1)"),
        (tool_ref!(external), r#"{"Unit":null}"#, "Unit"),
        (tool_ref!(untagged), r#"{"file":"a"}"#, r#"File { file: "a" }"#),
        (tool_ref!(untagged), r#"{"path":"a"}"#, r#"File { file: "a" }"#),
        (tool_ref!(untagged), r#"{"url":"a","wait":3}"#, r#"Url { url: "a", timeout: Some(3) }"#),
        (
            tool_ref!(flattened),
            r#"{"name":"a","kind":"One","n":1}"#,
            r#"Flattened { name: "a", kind: One { n: 1 } }"#,
        ),
        (
            tool_ref!(optional_flattened),
            r#"{"name":"a","kind":"One","num":2.0}"#,
            r#"OptionalFlattened { name: "a", kind: Some(One { n: 2 }) }"#,
        ),
        (tool_ref!(optional_flattened), r#"{"name":"a"}"#, r#"OptionalFlattened { name: "a", kind: None }"#),
        (
            tool_ref!(untagged_flattened),
            r#"{"name":"a","url":"b","wait":2.0}"#,
            r#"UntaggedFlattened { name: "a", kind: Url { url: "b", timeout: Some(2) } }"#,
        ),
        (
            tool_ref!(untagged_flattened),
            r#"{"name":"a","path":"b"}"#,
            r#"UntaggedFlattened { name: "a", kind: File { file: "b" } }"#,
        ),
        (
            tool_ref!(node),
            r#"{"name":"a","children":[{"name":"b"}]}"#,
            r#"Node { name: "a", children: [Node { name: "b", children: [] }] }"#,
        ),
        (tool_ref!(map), r#"{"x":1,"y":2}"#, r#"{"x": 1, "y": 2}"#),
    ] {
        let schema = tool.input_schema().unwrap().clone();
        assert_eq!(schema["type"], "object", "{schema}");
        assert_eq!(call(tool, arguments).await.text(), expected, "{arguments} {schema}");
    }
}

#[tokio::test]
async fn a_wrong_variant_is_explained() {
    for (tool, arguments, expected) in [
        (
            tool_ref!(internal),
            r#"{"kind":"Oen","n":1}"#,
            r#"- /kind: expected one of "One", "Two", "Three", got the string "Oen"; did you mean `One`?"#,
        ),
        (
            tool_ref!(internal),
            "{}",
            r#"- /kind: expected one of "One", "Two", "Three" (required), got nothing"#,
        ),
        (
            tool_ref!(internal),
            r#"{"kind":"One","n":1,"s":"x"}"#,
            "- /s: expected one of the arguments `kind`, `n`, got the unknown `s`",
        ),
        (tool_ref!(internal), "[]", "- the arguments: expected an object, got an empty list"),
        (
            tool_ref!(adjacent),
            r#"{"kind":"One","data":"x"}"#,
            r#"- /data: expected an integer from 0 to 255, got the string "x""#,
        ),
        (
            tool_ref!(external),
            r#"{"Nwe":1}"#,
            r#"- the arguments: expected one of {"One": …}, {"New": …}, {"Unit": …}, got the object {"Nwe":1}; did you mean `{"New": …}`?"#,
        ),
        (
            tool_ref!(external),
            r#"{"One":{"n":1,"m":2}}"#,
            "- /One/m: expected one of the fields `n`, got the unknown `m`",
        ),
        (
            tool_ref!(flattened),
            r#"{"name":"a","kind":"One","n":1,"sort":1}"#,
            "- /sort: expected one of the arguments `name`, `kind`, `n`, got the unknown `sort`",
        ),
        (
            tool_ref!(flattened),
            r#"{"name":"a","kind":"Four"}"#,
            r#"- /kind: expected one of "One", "Two", "Three", got the string "Four""#,
        ),
        (
            tool_ref!(optional_flattened),
            r#"{"name":"a","kind":"Oen"}"#,
            r#"- /kind: expected one of "One", "Two", "Three", got the string "Oen"; did you mean `One`?"#,
        ),
        (
            tool_ref!(optional_flattened),
            r#"{"name":"a","kind":"One","n":"x"}"#,
            r#"- /n: expected an integer from 0 to 255, got the string "x""#,
        ),
        (
            tool_ref!(optional_flattened),
            r#"{"name":"a","kind":"One"}"#,
            "- /n: expected an integer from 0 to 255 (required), got nothing",
        ),
        (tool_ref!(map), r#"{"x":-1}"#, "- /x: expected an integer from 0 to 255, got the number -1"),
    ] {
        assert_eq!(refusal(tool, arguments).await, expected, "{arguments}");
    }
}

/// Takes values of many shapes.
#[tool(read_only)]
async fn shapes(
    external: Option<External>,
    big: Option<u64>,
    small: Option<i64>,
    any: Option<Value>,
    float: Option<f64>,
    address: Option<IpAddr>,
    numbered: Option<BTreeMap<u8, bool>>,
    words: Option<Vec<Mode>>,
    ratio: Option<f32>,
    #[arg(alias = "file_path")] path: Option<String>,
    #[arg(length(4..=4))] four: Option<Vec<u8>>,
) -> String {
    format!(
        "{external:?} {big:?} {small:?} {any:?} {float:?} {address:?} {numbered:?} {words:?} {ratio:?} {path:?} {four:?}"
    )
}

/// A mode.
#[toolkit::args]
#[derive(Debug)]
enum Mode {
    /// Slowly, as slowly
    /// as can be.
    Slow,
    /// Fast.
    Fast,
}

#[tokio::test]
async fn values_are_explained() {
    for (arguments, expected) in [
        (
            r#"{"external":"Nwe"}"#,
            r#"- /external: expected one of {"One": …}, {"New": …}, "Unit", got the string "Nwe"; did you mean `{"New": …}`?"#,
        ),
        (
            r#"{"big":1e30}"#,
            "- /big: expected an integer from 0 to 18446744073709551615, got the number 1e+30",
        ),
        (
            r#"{"big":18446744073709551616}"#,
            "- the arguments: expected integers of at most 64 bits, and any greater number with a decimal point or an exponent, got a longer integer at line 1 column 8",
        ),
        (
            r#"{"small":-9223372036854775809}"#,
            "- the arguments: expected integers of at most 64 bits, and any greater number with a decimal point or an exponent, got a longer integer at line 1 column 10",
        ),
        (
            r#"{"address":"here"}"#,
            "- /address: expected a string in the format `ip`, got a value that does not decode: invalid IP address syntax",
        ),
        (
            r#"{"numbered":{"x":true}}"#,
            "- /numbered/x: expected a name that matches the pattern ^\\d+$, got the unknown `x`",
        ),
        (
            r#"{"ratio":1e300}"#,
            "- /ratio: expected a number of at most 3.4028234663852886e+38, got the number 1e+300",
        ),
        (r#"{"four":[1]}"#, "- /four: expected an array of exactly 4 items, got the list [1]"),
        (
            r#"{"path":"a","path":"b"}"#,
            "- the arguments: expected each key once in an object, got text in which the key \"path\" is repeated in one object at line 1 column 18",
        ),
    ] {
        assert_eq!(refusal(tool_ref!(shapes), arguments).await, expected, "{arguments}");
    }
    let text = refusal(tool_ref!(shapes), r#"{"numbered":{"256":true}}"#).await;
    assert!(
        text.starts_with("- /numbered: expected an object")
            && text.contains(", got a value that does not decode: "),
        "{text}"
    );
}

#[tokio::test]
async fn what_does_not_decode_is_reported_beside_the_rest() {
    for (arguments, expected) in [
        (
            r#"{"address":"here","four":[1],"small":"x"}"#,
            &[
                "- /four: expected an array of exactly 4 items",
                "- /small: expected an integer",
                "- /address: expected a string in the format `ip`, got a value that does not decode: invalid IP address syntax",
            ][..],
        ),
        // The schema takes both.
        (
            r#"{"address":"here","numbered":{"256":true}}"#,
            &["- /address: expected a string in the format `ip`", "- /numbered: expected an object"],
        ),
        // A secret is not repeated, whatever stands beside it.
        (
            r#"{"address":"here","unknown":1}"#,
            &["- /unknown: expected ", "- /address: expected a string in the format `ip`"],
        ),
    ] {
        let text = refusal(tool_ref!(shapes), arguments).await;
        for problem in expected {
            assert!(text.contains(problem), "{problem} in {text}");
        }
        assert_eq!(text.matches("- /").count(), expected.len(), "{text}");
    }
    let text = refusal(tool_ref!(login), r#"{"token":"x","from":"hunter2"}"#).await;
    assert!(
        text.contains("- /from: expected a string in the format `ip`, got a value that is kept secret"),
        "{text}"
    );
    assert!(!text.contains("hunter2"), "{text}");
}

#[tokio::test]
async fn whole_floats_and_nulls_change_nothing_beside_them() {
    for (arguments, expected) in [
        (r#"{"any":5.0,"big":1.0,"float":2.0}"#, "None Some(1) None Some(Number(5.0)) Some(2.0)"),
        (r#"{"path":null,"file_path":"a"}"#, r#"Some("a") None"#),
        (r#"{"file_path":null,"path":"a"}"#, r#"Some("a") None"#),
    ] {
        let text = call(tool_ref!(shapes), arguments).await.text();
        assert!(text.contains(expected), "{arguments}: {text}");
    }
}

#[tokio::test]
async fn schemas_say_it_simply() {
    let schema = tool_ref!(shapes).input_schema().unwrap().clone();
    assert_eq!(schema["properties"]["float"], json!({"type": "number"}));
    assert_eq!(
        schema["properties"]["words"]["items"],
        json!({
            "type": "string",
            "description": "A mode.\n- `Slow`: Slowly, as slowly as can be.\n- `Fast`: Fast.",
            "enum": ["Slow", "Fast"],
        })
    );
    let usage = call(tool_ref!(shapes), "[]").await.text();
    assert!(usage.contains(r#"words?: ("Slow" | "Fast")[]"#), "{usage}");
}

#[tokio::test]
async fn an_error_stays_short() {
    let many: Vec<String> = (0..5000).map(|n| format!("\"{n}{}\":[1]", "x".repeat(500))).collect();
    let result = call(tool_ref!(shapes), &format!("{{{}}}", many.join(","))).await;
    let problems = result.error().unwrap().problems().unwrap();
    assert_eq!(problems.problems.len(), 20);
    assert!(problems.more);
    assert!(result.text().contains("- … and more\nUsage:"), "{}", result.text());
    assert!(result.text().len() < 20_000, "{}", result.text().len());
}

#[toolkit::args]
#[derive(Debug)]
struct Login {
    user: String,
    #[arg(secret, length(8..))]
    password: String,
    #[arg(secret)]
    address: Option<IpAddr>,
}

/// Logs in.
#[tool(read_only)]
async fn login(
    #[arg(secret)] token: Option<u32>,
    #[arg(secret)] from: Option<IpAddr>,
    login: Option<Login>,
) -> String {
    format!("{token:?} {from:?} {login:?}")
}

/// Logs in too.
#[tool(read_only)]
async fn login_whole(#[args] login: Login) -> String {
    format!("{login:?}")
}

#[tokio::test]
async fn a_secret_is_never_repeated() {
    for (tool, arguments, expected) in [
        (
            tool_ref!(login),
            r#"{"token":"hunter2"}"#,
            "- /token: expected an integer from 0 to 4294967295, got a value that is kept secret",
        ),
        (
            tool_ref!(login),
            r#"{"from":"hunter2"}"#,
            "- /from: expected a string in the format `ip`, got a value that is kept secret",
        ),
        (
            tool_ref!(login),
            r#"{"login":{"user":"a","password":"hunter2"}}"#,
            "- /login/password: expected a string of at least 8 characters, got a value that is kept secret",
        ),
        (
            tool_ref!(login),
            r#"{"login":["hunter2"]}"#,
            "- /login: expected an object, got a value that is kept secret",
        ),
        (
            tool_ref!(login_whole),
            r#"{"user":"a","password":"hunter22","address":"hunter2"}"#,
            "- the arguments: expected a value that its type accepts, got a value that is kept secret",
        ),
        (
            tool_ref!(login_whole),
            r#"["hunter2"]"#,
            "- the arguments: expected an object, got a value that is kept secret",
        ),
    ] {
        assert_eq!(refusal(tool, arguments).await, expected, "{arguments}");
    }
    let text = refusal(tool_ref!(login), r#"{"token":"hunter2" "#).await;
    assert!(!text.contains("hunter2"), "{text}");
}

/// Has a default that its own rule refuses.
#[tool(read_only)]
async fn bad_default(#[arg(default, length(1..))] s: String) -> String {
    s
}

#[test]
fn a_default_must_fit_its_own_rules() {
    let error =
        Toolkit::empty().without_asking_first().tool(tool_ref!(bad_default)).build().unwrap_err().to_string();
    assert!(error.contains("the default of the parameter `s`"), "{error}");
    assert!(error.contains("its rules ask for a string of at least 1 character, and it is \"\""), "{error}");
    let error = tool_ref!(bad_default).input_schema().unwrap_err().to_string();
    assert!(
        error.ends_with(
            "the default of `s` does not fit its own rules, which ask for a string of at least 1 character, and it is \"\""
        ),
        "{error}"
    );
}

#[toolkit::args]
#[derive(Debug)]
#[serde(untagged)]
enum Again {
    Text(String),
    Again(Box<Again>),
}

/// Goes round.
#[tool(read_only)]
async fn again(again: Again) -> String {
    format!("{again:?}")
}

#[test]
fn a_type_that_never_ends_is_refused() {
    let error = tool_ref!(again).input_schema().unwrap_err().to_string();
    assert!(error.contains("the type `Again` refers to itself"), "{error}");
}
