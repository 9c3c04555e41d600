//! Borrowed forms take from an owned value that lives as long as the call.
use toolkit::prelude::*;

/// Joins words.
#[tool]
async fn join(
    words: &[String],
    base: &Path,
    sep: &str,
    more: Option<&[u8]>,
    root: Option<&Path>,
    end: Option<&str>,
) -> String {
    format!(
        "{}{}{}{:?}{:?}{:?}",
        base.display(),
        sep,
        words.join(sep),
        more,
        root.map(|root| root.display().to_string()),
        end
    )
}

fn main() {
    let answer = ui_tests::text("join", r#"{"words": ["a", "b"], "base": "/x", "sep": "-", "end": "!"}"#);
    assert_eq!(answer, r#"/x-a-bNoneNoneSome("!")"#);
    let answer = ui_tests::text("join", r#"{"words": [], "base": "/", "sep": "", "more": [1], "root": "r"}"#);
    assert_eq!(answer, r#"/Some([1])Some("r")None"#);
}
