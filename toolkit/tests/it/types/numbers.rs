//! Integers: which bounds a model is shown, and that all are enforced.

use super::{problems, schema, text};
use serde_json::{Value, json};
use toolkit::prelude::*;
use toolkit::tool_ref;

#[toolkit::args]
struct Sizes {
    wide: Vec<u64>,
    #[arg(alias = "n")]
    narrow: Option<u32>,
}

/// Takes numbers of every width.
#[tool(read_only)]
#[expect(clippy::many_single_char_names, clippy::too_many_arguments, reason = "one of each")]
fn numbers(
    a: Option<u8>,
    b: Option<i16>,
    c: Option<u32>,
    d: Option<i32>,
    e: Option<u64>,
    f: Option<i64>,
    g: Option<usize>,
    h: Option<f32>,
    #[arg(range(1..=2000))] limit: Option<u64>,
    #[arg(range(1..))] offset: Option<u64>,
    sizes: Option<Sizes>,
) -> String {
    let sizes = sizes.map(|sizes| (sizes.wide, sizes.narrow));
    format!("{a:?} {b:?} {c:?} {d:?} {e:?} {f:?} {g:?} {h:?} {limit:?} {offset:?} {sizes:?}")
}

#[test]
fn bounds_of_wide_types_are_not_shown() {
    let tool = tool_ref!(numbers);
    for (parameter, expected) in [
        ("a", json!({"type": "integer", "minimum": 0, "maximum": 255})),
        ("b", json!({"type": "integer", "minimum": -32768, "maximum": 32767})),
        ("c", json!({"type": "integer", "minimum": 0})),
        ("d", json!({"type": "integer"})),
        ("e", json!({"type": "integer", "minimum": 0})),
        ("f", json!({"type": "integer"})),
        ("g", json!({"type": "integer", "minimum": 0})),
        ("h", json!({"type": "number"})),
        ("limit", json!({"type": "integer", "minimum": 1, "maximum": 2000})),
        ("offset", json!({"type": "integer", "minimum": 1})),
    ] {
        assert_eq!(schema(&tool, parameter), expected, "{parameter}");
    }
    let nested = schema(&tool, "sizes");
    assert_eq!(nested["properties"]["wide"]["items"], json!({"type": "integer", "minimum": 0}));
    let shown = tool.input_schema().unwrap().to_string();
    for hidden in ["18446744073709551615", "9223372036854775807", "4294967295", "2147483647", "x-toolkit"] {
        assert!(!shown.contains(hidden), "{hidden}: {shown}");
    }
}

#[tokio::test]
async fn bounds_that_are_not_shown_are_enforced() {
    for (arguments, expected) in [
        (r#"{"c": 4294967296}"#, "/c: expected an integer from 0 to 4294967295, got the number 4294967296"),
        (r#"{"c": -1}"#, "/c: expected an integer from 0 to 4294967295, got the number -1"),
        (
            r#"{"d": -2147483649}"#,
            "/d: expected an integer from -2147483648 to 2147483647, got the number -2147483649",
        ),
        (r#"{"e": 1e30}"#, "/e: expected an integer from 0 to 18446744073709551615, got the number 1e+30"),
        (
            r#"{"f": 9223372036854775808}"#,
            "/f: expected an integer of at most 9223372036854775807, got the number 9223372036854775808",
        ),
        (r#"{"h": 1e39}"#, "/h: expected a number of at most 3.4028234663852886e+38, got the number 1e+39"),
        (r#"{"offset": 0}"#, "/offset: expected an integer of at least 1, got the number 0"),
        (
            r#"{"sizes": {"wide": [1, 2e20]}}"#,
            "/sizes/wide/1: expected an integer from 0 to 18446744073709551615, got the number 2e+20",
        ),
        (
            r#"{"sizes": {"wide": [], "n": 4294967296}}"#,
            "/sizes/narrow: expected an integer from 0 to 4294967295, got the number 4294967296",
        ),
    ] {
        assert_eq!(problems(tool_ref!(numbers), arguments).await, expected, "{arguments}");
    }
}

#[tokio::test]
async fn every_value_of_a_type_is_taken() {
    let arguments = r#"{"a": 255, "b": -32768, "c": 4294967295, "d": -2147483648, "e": 18446744073709551615,
        "f": -9223372036854775808, "g": 5.0, "h": 0.5, "sizes": {"wide": [18446744073709551615], "n": 7}}"#;
    assert_eq!(
        text(tool_ref!(numbers), arguments).await,
        "Some(255) Some(-32768) Some(4294967295) Some(-2147483648) Some(18446744073709551615) \
         Some(-9223372036854775808) Some(5) Some(0.5) None None Some(([18446744073709551615], Some(7)))"
    );
}

type Wide = u128;

/// Takes a wide integer, by a name that the macro does not know.
#[tool(read_only)]
fn wide(number: Wide) -> String {
    number.to_string()
}

#[tokio::test]
async fn a_wide_integer_by_another_name_takes_what_json_holds() {
    assert_eq!(schema(&tool_ref!(wide), "number"), json!({"type": "integer", "minimum": 0}));
    assert_eq!(text(tool_ref!(wide), r#"{"number": 18446744073709551615}"#).await, u64::MAX.to_string());
    assert_eq!(
        problems(tool_ref!(wide), r#"{"number": 1e20}"#).await,
        "/number: expected an integer from 0 to 18446744073709551615, got the number 1e+20"
    );
}

#[tokio::test]
async fn what_is_bound_has_bounds_too() {
    let error = tool_ref!(numbers).bind("c", 4_294_967_296_u64).input_schema().unwrap_err().to_string();
    assert!(error.contains("`c` bound to this value"), "{error}");
    let bound = tool_ref!(numbers).bind("c", 4_294_967_295_u64);
    assert_eq!(bound.input_schema().unwrap()["properties"].get("c"), None::<&Value>);
}
