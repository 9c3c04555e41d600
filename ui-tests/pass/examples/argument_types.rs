//! Structs and enums as arguments, with every rule, from a crate that depends on nothing but `toolkit`.
use std::collections::{BTreeMap, BTreeSet, HashMap};
use toolkit::prelude::*;

/// How fast.
#[toolkit::args]
#[derive(Debug, Default, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Speed {
    /// Takes its time.
    #[default]
    Slow,
    /// Hurries.
    Fast,
}

/// A place.
#[toolkit::args]
#[derive(Debug)]
enum Place {
    /// A line.
    Line {
        #[arg(range(1..=MOST))]
        number: u32,
        #[arg(default = 2, range(1..))]
        count: u32,
    },
    /// The end.
    End,
    /// A mark.
    Mark(#[arg(length(1..=3))] String),
}

const MOST: u32 = 9;

/// A newtype.
#[toolkit::args]
#[derive(Debug)]
struct Name(#[arg(pattern = "^[a-z]+$")] String);

#[toolkit::args]
#[derive(Debug)]
struct Pair(u8, u8);

#[toolkit::args]
#[derive(Debug)]
struct Nothing;

#[toolkit::args]
#[derive(Debug)]
struct Generic<T> {
    inner: T,
}

#[toolkit::args(allow_unknown_fields)]
#[derive(Debug)]
struct Open {
    #[arg(default = "x", length(1..=4), example = "y")]
    text: String,
    #[arg(default = 0.5, range(0.0..1.0))]
    weight: f64,
    #[arg(default = 1)]
    factor: f32,
    #[arg(default = '-')]
    separator: char,
    #[arg(default = Speed::Fast)]
    speed: Speed,
    #[arg(default = "slow")]
    other: Speed,
    #[arg(default = [1, 2])]
    numbers: Vec<u8>,
    #[arg(default)]
    words: Vec<String>,
    #[arg(secret, alias = "key")]
    token: Option<String>,
}

/// Takes them all.
#[tool]
fn all(
    speed: Option<Speed>,
    #[arg(default = "fast")] other: Speed,
    #[arg(default = Speed::Slow)] third: Speed,
    places: Vec<Place>,
    name: Name,
    pair: Pair,
    nothing: Option<Nothing>,
    generic: Generic<Generic<u8>>,
    open: Open,
    map: HashMap<String, Pair>,
    ordered: BTreeMap<String, BTreeSet<u8>>,
    array: [u8; 2],
    tuple: (u8, String),
    boxed: Box<str>,
    optional_items: Vec<Option<u8>>,
) -> String {
    format!(
        "{speed:?} {other:?} {third:?} {places:?} {name:?} {pair:?} {nothing:?} {generic:?} {open:?} {map:?} {ordered:?} {array:?} {tuple:?} {boxed} {optional_items:?}"
    )
}

fn with(places: &str, name: &str) -> toolkit::ToolResult {
    let arguments = format!(
        r#"{{"places": {places}, "name": "{name}", "pair": [1, 2], "generic": {{"inner": {{"inner": 5}}}}, "open": {{"extra": 1}},
        "map": {{"a": [3, 4]}}, "ordered": {{"b": [5]}}, "array": [6, 7], "tuple": [8, "t"], "boxed": "b", "optional_items": [null, 9]}}"#
    );
    ui_tests::call("all", &arguments)
}

fn main() {
    let result = with(r#"[{"Line": {"number": 3}}, "End", {"Mark": "m"}]"#, "abc");
    assert_eq!(
        result.text(),
        r#"None Fast Slow [Line { number: 3, count: 2 }, End, Mark("m")] Name("abc") Pair(1, 2) None Generic { inner: Generic { inner: 5 } } Open { text: "x", weight: 0.5, factor: 1.0, separator: '-', speed: Fast, other: Slow, numbers: [1, 2], words: [], token: None } {"a": Pair(3, 4)} {"b": {5}} [6, 7] (8, "t") b [None, Some(9)]"#
    );
    for (places, name) in [
        (r#"[{"Line": {"number": 10}}]"#, "abc"),
        (r#"[{"Line": {"number": 3, "count": 0}}]"#, "abc"),
        (r#"[{"Line": {"number": 3, "extra": 0}}]"#, "abc"),
        (r#"[{"Mark": "long"}]"#, "abc"),
        (r#"["Start"]"#, "abc"),
        ("[]", "ABC"),
    ] {
        assert!(with(places, name).is_error(), "{places} {name}");
    }
    assert!(ui_tests::schema("all").contains("Hurries."));
}
