//! `mut` parameters are the function's own.
use toolkit::prelude::*;

/// Appends.
#[tool]
async fn append(
    mut words: Vec<String>,
    mut count: u8,
    mut end: Option<&str>,
    mut store: State<String>,
) -> String {
    words.push("end".to_owned());
    count += 1;
    end.get_or_insert("!");
    store = State(format!("{}?", *store).into());
    format!("{words:?}{count}{end:?}{}", *store)
}

fn main() {
    let toolkit = Toolkit::builder().without_asking_first().service("s".to_owned()).build().unwrap();
    let answer = ui_tests::call_in(&toolkit, "append", r#"{"words": ["a"], "count": 1}"#);
    assert_eq!(answer.text(), r#"["a", "end"]2Some("!")s?"#);
}
