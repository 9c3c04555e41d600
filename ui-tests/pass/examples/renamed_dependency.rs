//! Tools of a crate in which `toolkit` has another name, so that a path that ignores `crate = …` does not compile.
fn main() {
    assert_eq!(ui_tests_renamed::NAMES.len(), 4);
    assert_eq!(ui_tests::text("renamed_read", r#"{"path": "p", "mode": "Fast"}"#), "p5Fast");
    assert_eq!(ui_tests::text("renamed_taken", "{}"), "3");
    assert_eq!(ui_tests::text("renamed_found", r#"{"text": "t"}"#), "t");
    assert_eq!(ui_tests::text("renamed_counted", r#"{"text": "a b"}"#), "2");
    let toolkit = toolkit::Toolkit::builder().without_asking_first().build().unwrap();
    let tools = toolkit.tools();
    let names: Vec<&str> = tools.iter().map(toolkit::Tool::name).collect();
    assert_eq!(names, ui_tests_renamed::NAMES);
}
