//! Argument types whose fields have types and rules that a `macro_rules!` passes on, and attributes of serde that concern names.
use toolkit::prelude::*;

macro_rules! arguments {
    ($name:ident, $number:ty, $text:ty, $range:expr, $length:expr, $default:expr) => {
        #[toolkit::args]
        struct $name {
            #[arg(range($range), default = $default)]
            number: $number,
            #[arg(length($length))]
            text: Option<$text>,
            list: Vec<$number>,
        }
    };
}

arguments!(Arguments, u8, String, 1..=10, 1..=5, 5);

/// Shows its arguments.
#[tool]
fn fields(#[args] arguments: Arguments) -> String {
    format!("{} {:?} {:?}", arguments.number, arguments.text, arguments.list)
}

#[toolkit::args]
struct Held<T> {
    value: T,
    #[arg(default = 3)]
    count: u8,
    #[serde(alias = "label")]
    name: Name,
}

#[toolkit::args]
#[derive(PartialEq, Eq, Hash)]
#[serde(rename_all = "kebab-case")]
enum Name {
    FirstName,
    #[serde(rename = "2nd")]
    SecondName,
}

#[toolkit::args]
struct Named {
    #[arg(default = "first-name", example = "2nd")]
    name: Name,
    counts: Option<std::collections::HashMap<Name, u8>>,
}

impl Name {
    fn number(&self) -> u8 {
        match self {
            Self::FirstName => 1,
            Self::SecondName => 2,
        }
    }
}

/// Holds a value.
#[tool]
fn held(held: Held<String>, #[arg(default = "2nd")] other: Name) -> String {
    format!("{} {} {} {}", held.value, held.count, held.name.number(), other.number())
}

/// Names something.
#[tool]
fn named(#[args] named: Named) -> String {
    let counts: Vec<(u8, u8)> =
        named.counts.into_iter().flatten().map(|(name, count)| (name.number(), count)).collect();
    format!("{} {counts:?}", named.name.number())
}

fn main() {
    assert_eq!(ui_tests::text("fields", r#"{"list": [1]}"#), "5 None [1]");
    assert!(ui_tests::call("fields", r#"{"number": 11, "list": []}"#).is_error());
    assert_eq!(ui_tests::text("held", r#"{"held": {"value": "a", "label": "2nd"}}"#), "a 3 2 2");
    assert_eq!(ui_tests::text("named", r#"{"counts": {"2nd": 5}}"#), "1 [(2, 5)]");
}
