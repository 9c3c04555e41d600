//! Tools whose types, rules and texts are fragments that a `macro_rules!` passes on, and types in parentheses.
use std::path::Path;
use toolkit::prelude::*;

macro_rules! rules {
    (
        $function:ident, $name:literal, $description:expr, $key:meta, $range:expr, $length:expr, $default:expr,
        $pattern:expr, $low:expr, $high:literal, $number:expr, $text:ty, $context:ty, $output:ty
    ) => {
        #[tool(name = $name, description = $description, $key, group = [$name, "all"], concurrency = $high)]
        async fn $function(
            ctx: $context,
            #[doc = $description]
            #[arg(range($range), default = $default)]
            number: u32,
            #[arg(length($length), pattern = $pattern, example = $name)] text: $text,
            #[arg(range($low..=$high))] bounded: Option<u8>,
            #[arg(default = $number)] negative: i64,
            #[arg(default = [$number, $default])] list: Vec<i64>,
        ) -> $output {
            Ok(format!("{number} {text} {bounded:?} {negative} {list:?} {}", ctx.is_cancelled()))
        }
    };
}

rules!(
    ruled, "ruled", "Shows rules.", read_only, 1..=10, 1..=5, 5, "^[a-z]+$", 1, 9, -5, &str, &ToolContext,
    Result<String, ToolError>
);

struct Db(u8);

#[toolkit::service]
fn database() -> Db {
    Db(1)
}

#[toolkit::service]
fn shared() -> std::sync::Arc<dyn Send + Sync> {
    std::sync::Arc::new(1)
}

macro_rules! takes {
    ($($function:ident $type:ty,)*) => {
        $(
            /// Takes a value.
            #[tool]
            async fn $function(value: $type) -> &'static str {
                let _ = value;
                stringify!($function)
            }
        )*
    };
}

takes! {
    takes_text &str,
    takes_path &Path,
    takes_list &[u8],
    takes_context &ToolContext,
    takes_option Option<u8>,
    takes_words Vec<String>,
    takes_service State<Db>,
    takes_borrowed_service &State<Db>,
    takes_trait_object State<dyn Send + Sync>,
    takes_optional_text Option<&str>,
    takes_optional_list Option<&[String]>,
    takes_parentheses (&str),
    takes_outer_parentheses (Option<&Path>),
}

macro_rules! within {
    ($function:ident $item:ty) => {
        /// Takes values within other types.
        #[tool]
        fn $function(
            list: &[$item],
            #[arg(length(1..=2), default = [1])] items: Vec<$item>,
            #[arg(range(..=200))] item: Option<$item>,
        ) -> Option<$item> {
            let _ = (list, item);
            items.first().copied()
        }
    };
}

within!(takes_numbers u8);

/// Takes types in parentheses.
#[tool]
fn parenthesised(text: (&str), path: Option<(&Path)>) -> (String) {
    let _ = path;
    text.to_owned()
}

fn main() {
    assert_eq!(ui_tests::text("ruled", r#"{"text": "ab"}"#), "5 ab None -5 [-5, 5] false");
    assert!(ui_tests::call("ruled", r#"{"text": "ab", "number": 11}"#).is_error());
    assert!(ui_tests::call("ruled", r#"{"text": "abcdef"}"#).is_error());
    assert!(ui_tests::call("ruled", r#"{"text": "AB"}"#).is_error());
    assert!(ui_tests::call("ruled", r#"{"text": "ab", "bounded": 10}"#).is_error());
    let schema = ui_tests::schema("ruled");
    assert!(schema.contains(r#""description":"Shows rules.""#), "{schema}");
    assert_eq!(ui_tests::tool("ruled").groups().collect::<Vec<_>>(), ["ruled", "all"]);
    assert_eq!(ui_tests::text("takes_text", r#"{"value": "a"}"#), "takes_text");
    assert_eq!(ui_tests::text("takes_context", "{}"), "takes_context");
    assert_eq!(ui_tests::text("takes_service", "{}"), "takes_service");
    assert_eq!(ui_tests::text("takes_option", "{}"), "takes_option");
    assert_eq!(ui_tests::text("takes_optional_list", "{}"), "takes_optional_list");
    assert_eq!(ui_tests::text("takes_outer_parentheses", r#"{"value": "a"}"#), "takes_outer_parentheses");
    assert_eq!(ui_tests::text("takes_numbers", r#"{"list": [1]}"#), "1");
    assert!(ui_tests::call("takes_numbers", r#"{"list": [1], "items": [1, 2, 3]}"#).is_error());
    assert!(ui_tests::call("takes_numbers", r#"{"list": [1], "item": 201}"#).is_error());
    assert_eq!(ui_tests::text("parenthesised", r#"{"text": "a"}"#), "a");
}
