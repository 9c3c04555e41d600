//! Every key of `#[arg]`, on owned, borrowed and optional parameters.
use toolkit::prelude::*;

const MOST: u32 = 100;

fn home() -> String {
    "/home".to_owned()
}

/// Searches.
#[tool]
async fn search(
    #[arg(rename = "search-for", alias = ["query", "q"], example = "fn main")] wanted: String,
    #[arg(default = 10, range(1..=MOST))] limit: u32,
    #[arg(default = -1.5, range(-2.0..2.0))] weight: f64,
    #[arg(default = 3)] factor: f64,
    #[arg(default = true)] case: bool,
    #[arg(default = '-')] separator: char,
    #[arg(default = "a", length(1..=3), pattern = "^[a-z]+$")] word: &str,
    #[arg(default = "src", example = "tests")] folder: &Path,
    #[arg(default = ["a", "b"], length(..5))] words: &[String],
    #[arg(default = [1, 2])] numbers: Vec<u8>,
    #[arg(default)] flags: Vec<String>,
    #[arg(default = home())] base: String,
    #[arg(range(1..), example = 5)] depth: Option<u16>,
    #[arg(length(4))] code: Option<&str>,
    #[arg(secret)] token: Option<String>,
) -> String {
    format!(
        "{wanted} {limit} {weight} {factor} {case} {separator} {word} {} {words:?} {numbers:?} {flags:?} {base} {depth:?} {code:?} {token:?}",
        folder.display()
    )
}

fn main() {
    assert_eq!(
        ui_tests::text("search", r#"{"q": "x"}"#),
        r#"x 10 -1.5 3 true - a src ["a", "b"] [1, 2] [] /home None None None"#
    );
    let schema = ui_tests::schema("search");
    for part in [
        r#""search-for""#,
        r#""examples":["fn main"]"#,
        r#""minimum":1"#,
        r#""maximum":100"#,
        r#""exclusiveMaximum":2"#,
        r#""minLength":1"#,
        r#""maxLength":3"#,
        r#""pattern":"^[a-z]+$""#,
        r#""maxItems":4"#,
        r#""default":["a","b"]"#,
        r#""default":"/home""#,
        r#""default":"-""#,
        r#""required":["search-for"]"#,
    ] {
        assert!(schema.contains(part), "{part} is not in {schema}");
    }
    assert!(!schema.contains("query"), "an alias is not advertised");
    for wrong in [
        r#"{"q": "x", "limit": 101}"#,
        r#"{"q": "x", "limit": 0}"#,
        r#"{"q": "x", "weight": 2.0}"#,
        r#"{"q": "x", "word": "abcd"}"#,
        r#"{"q": "x", "word": "A"}"#,
        r#"{"q": "x", "words": ["1", "2", "3", "4", "5"]}"#,
        r#"{"q": "x", "depth": 0}"#,
        r#"{"q": "x", "code": "abc"}"#,
        r#"{"q": "x", "other": 1}"#,
        "{}",
    ] {
        assert!(ui_tests::call("search", wrong).is_error(), "{wrong}");
    }
}
