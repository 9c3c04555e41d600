//! Descriptions from doc attributes that only the compiler can evaluate.
use toolkit::prelude::*;

#[doc = include_str!("../texts/lookup.md")]
#[tool]
async fn lookup(
    #[doc = include_str!("../texts/word.md")] word: &str,
    /// How many.
    ///
    #[doc = concat!("At most ", 9, ".")]
    limit: Option<u8>,
) -> String {
    let _ = limit;
    word.to_owned()
}

/// Looks twice.
///   Indented.
#[doc = concat!("And ", "more.\n", "# Errors\n", "For people.")]
/// For people, too.
#[tool]
fn look_twice() {}

struct Words;

#[toolkit::service]
fn words() -> Words {
    Words
}

#[toolkit::tools]
impl Words {
    #[doc = include_str!("../texts/lookup.md")]
    #[tool(name = "lookup_by_method")]
    async fn lookup(&self, #[doc = include_str!("../texts/word.md")] word: &str) -> String {
        word.to_owned()
    }
}

fn main() {
    for tool in [toolkit::tool_ref!(lookup), toolkit::tool_ref!(Words::lookup)] {
        assert_eq!(tool.description(), "Looks a word up.\n\n```text\n# not a heading\n```");
        let schema = tool.input_schema().unwrap().to_string();
        assert!(schema.contains(r#""description":"The word to look for.""#), "{schema}");
    }
    let schema = ui_tests::schema("lookup");
    assert!(schema.contains(r#""description":"How many.\n\nAt most 9.""#), "{schema}");
    assert_eq!(ui_tests::tool("look_twice").description(), "Looks twice.\n  Indented.\nAnd more.");
}
