//! A newtype of one's own behind `range`, `length` and `pattern`.
use toolkit::descriptor::{LengthArg, PatternArg, RangeArg};
use toolkit::prelude::*;

#[toolkit::args]
struct Line(u32);

impl RangeArg for Line {}

#[toolkit::args]
struct Word(String);

impl LengthArg for Word {}
impl PatternArg for Word {}

type Count = u8;

/// Takes them.
#[tool]
fn bounded(
    #[arg(range(1..=9))] line: Line,
    #[arg(length(1..=3), pattern = "^[a-z]+$")] word: Option<Word>,
    #[arg(range(1..=3), default = 2)] count: Count,
) -> String {
    format!("{}{:?}{count}", line.0, word.map(|word| word.0))
}

fn main() {
    assert_eq!(ui_tests::text("bounded", r#"{"line": 5}"#), "5None2");
    for wrong in [
        r#"{"line": 10}"#,
        r#"{"line": 5, "word": "abcd"}"#,
        r#"{"line": 5, "word": "A"}"#,
        r#"{"line": 5, "count": 4}"#,
    ] {
        assert!(ui_tests::call("bounded", wrong).is_error(), "{wrong}");
    }
}
